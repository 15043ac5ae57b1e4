// SPDX-License-Identifier: GPL-2.0-only
/* The cost of shadowing without a hypervisor, in nanoseconds, as one JSON object. */
#include <assert.h>

#include "gtt_fake.h"

#define ROUNDS 2000u
#define SURFACES 3u
#define SURFACE_PAGES 765u /* 1080p */

static double per_round(u64 start, u32 rounds)
{
	return (double)(ktime_get_ns() - start) / rounds;
}

static double sync_rounds(void)
{
	u64 start = ktime_get_ns();
	u32 i;

	for (i = 0; i < ROUNDS / 10; i++)
		ghyvi_gtt_sync(fake.gtt, NULL);
	return per_round(start, ROUNDS / 10);
}

static void bind_surface(u32 number)
{
	u32 e;

	for (e = 0; e < SURFACE_PAGES; e++)
		guest_page(PT_GFN + e / 512)[e % 512] = pte(DATA + (number % SURFACES) * 1024 + e);
}

/* Bind surfaces, whose pages are pinned already, in place of others: nanoseconds per entry. */
static double rebind_rounds(u64 flags)
{
	u64 start = 0;
	u32 i;

	write_pte(PD_GFN, 0, pte(PT_GFN) | flags);
	write_pte(PD_GFN, 1, pte(PT2_GFN) | flags);
	for (i = 0; i < SURFACES; i++) {
		bind_surface(i);
		ghyvi_gtt_flush(fake.gtt);
	}
	for (i = 0; i < ROUNDS / 10; i++) {
		bind_surface(i);
		start -= ktime_get_ns();
		ghyvi_gtt_flush(fake.gtt);
		start += ktime_get_ns();
	}
	return (double)start / (ROUNDS / 10) / SURFACE_PAGES;
}

/* Write entries without memory, different ones each time: nanoseconds per entry. */
static double reject_rounds(void)
{
	u64 start = 0;
	u32 i, e;

	for (i = 0; i < ROUNDS / 10; i++) {
		for (e = 0; e < 512; e++)
			guest_page(PT_GFN)[e] = pte(RAM_PAGES + 512 * i + e);
		start -= ktime_get_ns();
		ghyvi_gtt_flush(fake.gtt);
		start += ktime_get_ns();
	}
	return (double)start / (ROUNDS / 10) / 512;
}

/* As memcmp() of the kernel (lib/string.c): word by word, without vector registers. */
static bool words_differ(const u64 *a, const u64 *b, u32 bytes)
{
	for (; bytes >= sizeof(*a); bytes -= sizeof(*a), a++, b++)
		if (READ_ONCE(*a) != READ_ONCE(*b))
			return true;
	return false;
}

/* What a scan of an unchanged page is measured by: a comparison of the page with a copy. */
static double memcmp_rounds(void)
{
	static u64 copy[512];
	bool differs = false;
	u64 start;
	u32 i;

	memcpy(copy, guest_page(PT_GFN), sizeof(copy));
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++) {
		differs |= words_differ(copy, guest_page(PT_GFN), sizeof(copy));
		barrier();
	}
	assert(!differs);
	return per_round(start, ROUNDS);
}

int main(void)
{
	double trap, resync, clean, memcmp_ns, full, idle, ggtt, relaxed, rebind, rebind_64k,
		reject;
	u64 start;
	u32 i, e;

	fake_init(1918);
	fake.unchecked = true;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		write_pte(PT_GFN, i % 512, pte(DATA + i % 64));
	trap = per_round(start, ROUNDS);
	idle = sync_rounds();

	ghyvi_gtt_set_policy(fake.gtt, "segmented");
	ghyvi_gtt_sync(fake.gtt, NULL);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++) {
		write_pte(PT_GFN, i % 512, pte(DATA + (i + 1) % 64));
		ghyvi_gtt_sync(fake.gtt, NULL);
	}
	resync = per_round(start, ROUNDS);

	write_pte(PT_GFN, 0, 0);
	start = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		ghyvi_gtt_flush(fake.gtt); /* scans, does not protect */
	clean = per_round(start, ROUNDS);
	memcmp_ns = memcmp_rounds();
	start = 0;
	for (i = 0; i < ROUNDS / 10; i++) {
		for (e = 0; e < 512; e++)
			guest_page(PT_GFN)[e] = pte(DATA + (e + i) % 600);
		start -= ktime_get_ns();
		ghyvi_gtt_flush(fake.gtt);
		start += ktime_get_ns();
	}
	full = (double)start / (ROUNDS / 10);
	ghyvi_gtt_set_policy(fake.gtt, "full");
	rebind = rebind_rounds(0);
	rebind_64k = rebind_rounds(GHYVI_ENTRY_64K);
	write_pte(PD_GFN, 0, pte(PT_GFN));
	reject = reject_rounds();

	ghyvi_gtt_set_ggtt_gfn(fake.gtt, 0x10000);
	ggtt = sync_rounds();
	ghyvi_gtt_set_policy(fake.gtt, "relaxed");
	ghyvi_gtt_ggtt_live(fake.gtt);
	for (i = 0; i < 100; i++) /* until all pages are unmapped */
		ghyvi_gtt_sync(fake.gtt, NULL);
	relaxed = sync_rounds();
	printf("{\"strict_trap_ns\": %.0f, \"segmented_trap_and_resync_ns\": %.0f, \"scan_clean_ns\": %.0f, \"memcmp_page_ns\": %.0f, "
	       "\"scan_512_changed_ns\": %.0f, \"rebind_entry_ns\": %.1f, \"rebind_64k_entry_ns\": %.1f, \"reject_entry_ns\": %.1f, \"sync_ns\": %.0f, \"sync_1918_ggtt_pages_ns\": %.0f, "
	       "\"relaxed_sync_1918_ggtt_pages_ns\": %.0f}\n",
	       trap, resync, clean, memcmp_ns, full, rebind, rebind_64k, reject, idle, ggtt,
	       relaxed);
	fake_fini();
	return 0;
}
