# SPDX-License-Identifier: GPL-2.0-only
"""The faults that selftests/mutate plants: which statements it swaps."""

import os
import sys

from ktap import test
from toolslib import require

sys.path.append(f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/mutate")
import faults  # noqa: E402

FUNCTION = """
static unsigned int shared;

static int function(struct thing *thing, struct thing *other, u64 at)
{
	static unsigned int kept;
	unsigned int count = 0, index = 1, passed;
	u32 words[4], *pointer = words;
	bool any;

	change(&passed);
	if (at) {
		%s
		%s
	}
	return count;
}
"""
# Nothing but a statement that names such a variable can access it.
INDEPENDENT = (
    ("any = true;", "evict(thing);"),
    ("count++;", "thing->size = 1;"),
    ("count = index + 1;", "any = false;"),
    ("index = (u32)at;", "words[2] = evict(thing);"),
    ("count = SOME_LIMIT;", "*pointer = thing->size;"),
    ("thing->size = 1;", "other->limit = count;"),
    ("INIT_LIST_HEAD(&thing->list);", "thing->size = 0;"),
    ("count = thing->size;", "other->limit = 3;"),
    ("ghyvi_count(thing->stats, traps);", "ghyvi_count_add(thing->stats, bytes, count);"),
    ("atomic64_inc(&thing->now);", "atomic64_add(count, &thing->now);"),
    ("ghyvi_count(thing->stats, traps);", "any = true;"),
)
DEPENDENT = (
    ("count = 1;", "count += 2;"),
    ("count = index;", "index = 2;"),
    ("count = index;", "use(count);"),
    ("count = index;", "swap(index, count);"),
    ("count = index;", "swap(any, index);"),  # a macro
    ("passed = 1;", "evict(thing);"),  # its address is known
    ("kept = 1;", "evict(thing);"),
    ("shared = 1;", "evict(thing);"),
    ("count = shared;", "evict(thing);"),
    ("count = kept;", "evict(thing);"),
    ("count = thing->size;", "evict(other);"),
    ("count = thing->size;", "other->size = 3;"),  # may be the same thing
    ("thing->size = 1;", "other->size = 2;"),
    ("thing->size = 1;", "other->limit = thing->size;"),
    ("thing->part = 1;", "thing->part.size = 2;"),
    ("thing->size = 1;", "*pointer = 2;"),
    ("words[at] = 1;", "words[index] = 2;"),
    ("count = words[at];", "words[index] = 2;"),
    ("thing->size = 1;", "evict(thing);"),
    ("thing->size = read(other);", "thing->limit = 2;"),
    ("ghyvi_count(thing->stats, traps);", "evict(thing);"),
    ("ghyvi_count_add(thing->stats, bytes, count);", "count = 0;"),
    ("ghyvi_count(thing->stats, traps);", "thing->stats = 0;"),
    ("ghyvi_count(thing->stats, traps);", "count = other->traps;"),
    ("WRITE_ONCE(thing->size, 1);", "thing->limit = 2;"),
    ("count = index++;", "evict(index);"),
    ("mutex_lock(&thing->lock);", "count = thing->size;"),
)


def swapped(*statements):
    return any(fault.operator == "swap" and statements[0] in fault.text for fault in faults.faults_in(FUNCTION % statements))


@test
def swaps_of_independent_statements_are_no_faults():
    for statements in INDEPENDENT:
        require(not swapped(*statements) and not swapped(*reversed(statements)), f"{statements}: swapped")


@test
def statements_that_may_depend_on_each_other_are_swapped():
    for statements in DEPENDENT:
        require(swapped(*statements) and swapped(*reversed(statements)), f"{statements}: not swapped")


@test
def variables_that_others_can_access_are_not_own():
    source = faults.Source(FUNCTION % ("use(at);", "use(any);"))
    found = []
    source.parse_block = lambda i: found.append(set(source.own))
    source.parse()
    require(found == [{"thing", "other", "at", "count", "index", "pointer", "any"}], f"{found}")
