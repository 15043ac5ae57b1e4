// SPDX-License-Identifier: GPL-2.0-only
/* What shadowing costs without a hypervisor: nanoseconds, one JSON object. */
#include "mm_fake.h"

#define ROUNDS 2000u

static double per_round(u64 start, u32 rounds)
{
	return (double)(ktime_get_ns() - start) / rounds;
}

static double sync_rounds(void)
{
	u64 start = ktime_get_ns();
	u32 i;

	for (i = 0; i < ROUNDS / 10; i++)
		ghyvi_mm_sync(fake.mm, NULL);
	return per_round(start, ROUNDS / 10);
}

int main(void)
{
	double trap, resync, clean, full, idle, ggtt;
	u64 start;
	u32 i, e;

	fake_init(1918);
	fake.unchecked = true;
	ghyvi_mm_set_ggtt_gfn(fake.mm, GHYVI_INVALID_GFN);
	ghyvi_mm_set_policy(fake.mm, "strict");
	plant(1);
	hold4(1);
	ghyvi_mm_sync(fake.mm, NULL);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		set(4, i % 512, to(DATA + i % 64));
	trap = per_round(start, ROUNDS);
	idle = sync_rounds();

	ghyvi_mm_set_policy(fake.mm, "segmented");
	ghyvi_mm_sync(fake.mm, NULL);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++) {
		set(4, i % 512, to(DATA + (i + 1) % 64));
		ghyvi_mm_sync(fake.mm, NULL);
	}
	resync = per_round(start, ROUNDS);

	set(4, 0, 0);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		ghyvi_mm_flush(fake.mm); /* scans, does not protect */
	clean = per_round(start, ROUNDS);
	start = 0;
	for (i = 0; i < ROUNDS / 10; i++) {
		for (e = 0; e < 512; e++)
			page_of(4)[e] = to(DATA + (e + i) % 600);
		start -= ktime_get_ns();
		ghyvi_mm_flush(fake.mm);
		start += ktime_get_ns();
	}
	full = (double)start / (ROUNDS / 10);

	ghyvi_mm_set_ggtt_gfn(fake.mm, 0x10000);
	ggtt = sync_rounds();
	printf("{\"strict_trap_ns\": %.0f, \"segmented_trap_and_resync_ns\": %.0f, \"scan_clean_ns\": %.0f, "
	       "\"scan_512_changed_ns\": %.0f, \"sync_ns\": %.0f, \"sync_1918_ggtt_pages_ns\": %.0f}\n",
	       trap, resync, clean, full, idle, ggtt);
	fake_fini();
	return 0;
}
