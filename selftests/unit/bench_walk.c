// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that a submission passes in the thread that stores to the submit port, from KVM's
 * callback to the start of an idle engine of the software GPU and back, with the registers mapped
 * (policy/bar_remap). Built with -finstrument-functions; prints one line for each entry (+) and
 * exit (-) with the address of the function. `walk` makes files and counts of it.
 */
#include <pthread.h>
#include "move_one.h"

#define BAR0_GPA 0xe0000000ull
#define EVENTS_MAX 20000
#define PLAIN __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *caller) PLAIN;
void __cyg_profile_func_exit(void *function, void *caller) PLAIN;

static __thread bool walking;
static struct {
	char step;
	void *function;
} events[EVENTS_MAX];
static unsigned int count;

static void PLAIN record(char step, void *function)
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
	record('+', function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	record('-', function);
}

/* A guest's store to a page of registers that KVM tracks. */
static void PLAIN store(u32 offset, u32 value, bool last)
{
	u8 *page = ghyvi_vgpu_register_page(host.vgpu, offset & ~(GHYVI_PAGE_BYTES - 1));

	assert_non_null(page);
	memcpy(page + offset % GHYVI_PAGE_BYTES, &value, sizeof(value));
	walking = last;
	ghyvi_vgpu_route_store(host.vgpu, BAR0_GPA + offset, &value, sizeof(value));
	walking = false;
}

static void PLAIN submit(void)
{
	u64 descriptor = move_descriptor(GHYVI_RCS);
	u32 port = GHYVI_RENDER_BASE + RING_ELSP;

	store(port, 0, false);
	store(port, 0, false);
	store(port, upper_32_bits(descriptor), false);
	store(port, lower_32_bits(descriptor), true);
}

int main(void)
{
	unsigned int i;

	one_setup(NULL);
	host.protects = true;
	ghyvi_vgpu_set_bar0(host.vgpu, BAR0_GPA);
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
