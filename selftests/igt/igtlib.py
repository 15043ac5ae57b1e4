# SPDX-License-Identifier: GPL-2.0-only
"""What is expected of IGT's subtests, the output of its programs, and the judgement of what was
found.

The list is kept as drm/ci keeps its: failures, flakes with their rate, and what is not run, with
what differs under a policy."""

import collections
import re

DEFECTS = ("check_differences", "oracle_violations", "failsafes", "kernel", "host")
ORDER = ("pass", "skip", "fail", "timeout", "lost", "invalid")
LISTED = (*ORDER, "flake", "slow", "omit", "?")
# A flake may do this.
FLAKY = ("pass", "fail", "timeout")
RATE = re.compile(r"(\d+)/(\d+) \S")
FLAKE_RUNS = 5  # after as many without one that passed, it is no flake
SLOW = re.compile(r"(\d+) s, \S")  # passes, but may run out of a limit below that
# Under nested TCG a program needs seconds to start; most subtests take 2 to 20 s.
LIMIT_S = 60
# Exit statuses of IGT (lib/igt_core.h), and the results that it prints.
STATUSES = {0: "pass", 77: "skip", 98: "fail", 79: "invalid"}
WORDS = {"SUCCESS": "pass", "SKIP": "skip"}
OUTPUT_CHARS = 6000


class ListError(Exception):
    pass


class Output:
    """Divides the output of a program of IGT among the subtests that it was asked to run."""

    BEGIN = re.compile(r"Starting subtest: (\S+)$")
    END = re.compile(r"Subtest (\S+): (\w+) \(([\d.]+)s\)$")
    REASON = re.compile(r"Test requirement not met.*|Test requirement:.*|Test assertion failure.*|"
                        r"Failed assertion:.*|Last errno:.*|SKIP: .*|.*CRITICAL: .*")

    def __init__(self, subtests):
        self.waiting = list(subtests)
        self.running = None
        self.text = ""
        self.reason_before = ""

    def feed(self, line):
        """Returns (subtest, status, reason) if the line is the end of a subtest that was asked for."""
        line = line.rstrip()
        begin, end = self.BEGIN.match(line), self.END.match(line)
        if begin:
            self.running, self.text = begin.group(1), ""
        elif not end:
            self.text = f"{self.text}{line}\n"[-OUTPUT_CHARS:]
        elif end.group(1) in self.waiting:
            return self.result(end.group(1), WORDS.get(end.group(2), "fail"))
        return None

    def result(self, name, status):
        self.waiting.remove(name)
        reason = self.reason() if status != "pass" else ""
        self.running, self.text = None, ""
        return name, status, reason

    def reason(self):
        """What the text since the last result says; without text, the reason of the last result.

        A requirement that is not met outside of subtests is printed once, and all subtests that
        follow are skipped."""
        found = "; ".join(dict.fromkeys(line.strip() for line in self.REASON.findall(self.text)))
        self.reason_before = (found or self.text.strip()[-200:] or self.reason_before or "no output")[:400]
        return self.reason_before

    def end(self, status):
        """The result of the subtest that ran when the program ended with an exit status, or was ended
        because of "timeout" or "lost"; None if all results are known."""
        if not self.waiting:
            return None
        name = self.running if self.running in self.waiting else self.waiting[0]
        if isinstance(status, int):
            if status not in STATUSES:
                self.text += f"ended with status {status}\n"
            status = STATUSES.get(status, "fail")
            if name and status in ("pass", "skip"):  # a program prints a result for each of its subtests
                status = "invalid"
        return self.result(name, status)


def to_run(names, results, limit_s):
    """The names without a result, or with a time-out at a lower limit."""
    def final(result):
        return result["status"] != "timeout" or result["limit_s"] >= limit_s

    return [name for name in names if name not in results or not final(results[name])]


def why_bad(words, section, of_section, expected):
    """What is wrong with a line of the list, or None."""
    name, status, reason = (*words, "", "")[:3]
    if status not in LISTED or name in of_section:
        return "not a new NAME with a status"
    if status not in ("pass", "?") and not reason:
        return f"{status} without a reason"
    if section and (name not in expected or status == "?"):
        return f"[{section}] says what differs from the rows above"
    rate = RATE.match(reason)
    if status == "flake" and not (rate and 0 < int(rate[1]) < int(rate[2])):
        return "flake without FAILED/RUNS and a reason"
    if status == "slow" and not (SLOW.match(reason) and int(SLOW.match(reason)[1]) > LIMIT_S):
        return f"slow without SECONDS above {LIMIT_S}, and a reason"
    return None


def load_expected(path, policy=""):
    """Maps "program@subtest" to (status or "?", reason) under a policy, in the order of the file."""
    expected, section, of_section = {}, "", set()
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split(None, 2)
            if not words or words[0].startswith("#"):
                continue
            if re.fullmatch(r"\[\w+\]", line.strip()):
                section, of_section = line.strip()[1:-1], set()
                continue
            why = why_bad(words, section, of_section, expected)
            if why:
                raise ListError(f"{path}:{number}: {why}: {line.strip()}")
            of_section.add(words[0])
            if section in ("", policy):
                expected[words[0]] = (words[1], words[2].strip() if len(words) > 2 else "")
    return expected


def wanted(expected, words):
    """The names that contain one of the words, or all; of those that are omitted, whole names only."""
    return [name for name, (status, _) in expected.items()
            if name in words or (status != "omit" and (not words or any(word in name for word in words)))]


def count(tally, run, result):
    """Adds a result to the tally of all runs: name -> status -> count. @run: what the present run has added, by name;
    a later result for the same subtest replaces it. A time-out at a limit below the default says nothing."""
    if result["status"] == "timeout" and result.get("limit_s", LIMIT_S) < LIMIT_S:
        return
    counts = tally.setdefault(result["name"], collections.Counter())
    if result["name"] in run:
        counts[run[result["name"]]] -= 1
    counts[result["status"]] = counts.get(result["status"], 0) + 1
    run[result["name"]] = result["status"]


def rate(counts):
    """(runs that did not pass, runs)"""
    runs = sum(counts.values())
    return runs - counts.get("pass", 0), runs


def is_flaky(counts):
    return 0 < counts.get("pass", 0) < sum(counts.values())


def flakes(tally, expected):
    """Yields (name, what its runs did, why it counts as failed or None): flakes of the list, and others whose results
    vary."""
    for name, counts in tally.items():
        status, reason = expected.get(name, ("?", ""))
        failed, runs = rate(counts)
        if status == "flake":
            why = "never passes, so it is no flake" if failed == runs >= FLAKE_RUNS else None
            yield name, f"failed in {failed} of {runs} runs, listed with {reason.split()[0]}", why
        elif is_flaky(counts):
            yield name, f"failed in {failed} of {runs} runs, listed as {status}", None


def update_expected(path, results, tally):
    """Writes what was found for subtests with "?", but no time-out at a limit below the default; and for each time-out that
    passes with more time, twice that."""
    with open(path) as file:
        lines = file.read().splitlines()
    for index, line in enumerate(lines):
        words = line.split(None, 2)
        if words[1:2] == ["timeout"] and results.get(words[0], {}).get("status") == "pass" and results[words[0]]["seconds"] > LIMIT_S:
            lines[index] = f"{words[0]} slow {-(-2 * results[words[0]]['seconds'] // 60) * 60:.0f} s, {words[2]}"
        if len(words) == 2 and words[1] == "?" and words[0] in results:
            found = results[words[0]]
            if found["status"] == "timeout" and found["limit_s"] < LIMIT_S:
                continue
            reason = " ".join(found.get("reason", "").split())
            counts = tally.get(words[0], {})
            status = "flake {}/{}".format(*rate(counts)) if is_flaky(counts) else found["status"]
            lines[index] = f"{words[0]} {status} {reason}".rstrip()
            if is_flaky(counts) and not reason:
                lines[index] += " not explained"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def judge(result, expected):
    """Returns why a result counts as failed, or None."""
    for name in DEFECTS:
        if result.get(name):
            return f"{name}: {result[name]} {result.get('last_error', '')}"
    listed, reason = expected.get(result["name"], ("?", ""))
    if listed in ("?", "omit", result["status"]) or (result["status"] == "pass" and listed != "skip"):
        return None
    if listed == "flake" and result["status"] in FLAKY:
        return None
    if listed == "slow" and result["status"] == "timeout" and result["limit_s"] < int(SLOW.match(reason)[1]):
        return None
    return f"expected {listed}: {result.get('reason', '')}"


def table(results, expected):
    """Prints the number of subtests of each program by status."""
    rows = collections.defaultdict(collections.Counter)
    for name, result in results.items():
        rows[name.partition("@")[0]][result["status"]] += 1
        rows["all"][result["status"]] += 1
    rows["all"] = rows.pop("all", collections.Counter())
    print(f"{'program':32}" + "".join(f"{status:>9}" for status in ORDER))
    for program, counts in rows.items():
        print(f"{program:32}" + "".join(f"{counts[status] or '-':>9}" for status in ORDER))
    checks = sum(result.get("checks", 0) for result in results.values())
    differences = sum(result.get("check_differences", 0) for result in results.values())
    violations = sum(result.get("oracle_violations", 0) for result in results.values())
    rejects = sum(result.get("audit_rejects", 0) for result in results.values())
    print(f"{checks} checks, {differences} differences; {violations} violations; {rejects} commands rejected; "
          f"{sum(name not in results for name in expected)} subtests of the list not run")
