// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that a submission passes in the thread that stores to the submit port, from KVM's
 * callback to the start of an idle engine of the software GPU and back, with the registers mapped
 * (policy/bar_remap). kernel/ is built with -finstrument-functions; prints one line for each entry
 * (+) and exit (-) with the address of the function. `walk` makes files and counts of it.
 */
#include "move_one.h"

#define EVENTS_MAX 20000

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static __thread bool submits, walking; /* walking: since KVM's callback */
static struct {
	char step;
	void *function;
} events[EVENTS_MAX];
static unsigned int count;

static void record(char step, void *function)
{
	if (!walking)
		return;
	if (count == EVENTS_MAX)
		abort();
	events[count].step = step;
	events[count++].function = function;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	walking |= submits && function == (void *)ghyvi_vgpu_route_store;
	record('+', function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	record('-', function);
}

static void submit(void)
{
	u64 descriptor = move_descriptor(GHYVI_RCS);
	u32 port = GHYVI_RENDER_BASE + RING_ELSP;

	move_store(&host, port, 0);
	move_store(&host, port, 0);
	move_store(&host, port, upper_32_bits(descriptor));
	submits = true;
	move_store(&host, port, lower_32_bits(descriptor));
	submits = false;
	walking = false;
}

int main(void)
{
	unsigned int i;

	one_setup(NULL);
	host.protects = true;
	assert_true(ghyvi_vgpu_try_remap(host.vgpu));
	/* The first one shadows the tree of the context and pins its image. */
	for (i = 1; i <= 2; i++) {
		MOVE_RING(GHYVI_RCS, MOVE_STORE(0, 5, i));
		count = 0;
		submit();
		move_await(move_data(0, 5), i);
		move_await_idle(&host, GHYVI_RCS);
	}
	for (i = 0; i < count; i++)
		printf("%c %p\n", events[i].step, events[i].function);
	one_teardown(NULL);
	return 0;
}
