/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An auditor over a guest of flat memory: a partition of the GGTT with a ring in it, and a PPGTT
 * that maps little. Counts how often each dword is read.
 */
#ifndef AUDIT_FIXTURE_H
#define AUDIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <ghyvi/audit.h>
#include <ghyvi/commands.h>
#include <linux/err.h>

#define GGTT_START 0x10000000u
#ifndef GGTT_BYTES
#define GGTT_BYTES 0x40000u
#endif
#define RING GGTT_START
#define RING_BYTES 0x4000u
#define KERNEL_BATCH (GGTT_START + 0x8000)
#define KERNEL_DATA (GGTT_START + 0x20000)
#define USER_START 0x7fff00000000ull
#ifndef USER_BYTES
#define USER_BYTES 0x800000u
#endif
#define USER_BATCH USER_START
#define USER_BATCH2 (USER_START + 0x10000)

/* Commands as i915 writes them. */
#define MI(opcode, length) ((u32)(opcode) << 23 | (length))
#define NOOP 0u
#define BATCH_END MI(0x0a, 0)
#define START_KERNEL MI(0x31, 1)
#define START_USER (MI(0x31, 1) | BIT(8))
#define START_SECOND (MI(0x31, 1) | BIT(8) | BIT(22))
#define STORE MI(0x20, 2)
#define GLOBAL (1u << 22)
#define LOAD_IMM(pairs) MI(0x22, 2 * (pairs)-1)
#define LO(address) ((u32)(address))
#define HI(address) ((u32)((u64)(address) >> 32))

static struct {
	u32 ggtt[GGTT_BYTES / 4];
	u32 user[USER_BYTES / 4];
	u8 ggtt_reads[GGTT_BYTES / 4];
	u8 user_reads[USER_BYTES / 4];
	u64 unmapped_page; /* of the PPGTT */
	u64 unmapped_ggtt; /* a page of the GGTT */
	u64 updated_index, updated_entry;
	unsigned int updates;
	unsigned int update_us; /* each takes at least so long */
	struct ghyvi_reporter reporter;
	struct ghyvi_stats stats;
	struct device device;
	struct ghyvi_audit *audit;
	struct ghyvi_submission submission;
	struct ghyvi_commands *commands;
	u32 tail;
} guest;

static int fixture_read(void *owner, struct ghyvi_root *root, u64 address, void *buffer,
			size_t bytes)
{
	u64 start = root ? USER_START : GGTT_START;
	u64 size = root ? USER_BYTES : GGTT_BYTES;
	u32 *memory = root ? guest.user : guest.ggtt;
	u8 *reads = root ? guest.user_reads : guest.ggtt_reads;
	size_t i;

	assert_true(address % PAGE_SIZE + bytes <= PAGE_SIZE);
	if (address < start || address - start + bytes > size)
		return -EFAULT;
	if (root && guest.unmapped_page && address >> 12 == guest.unmapped_page >> 12)
		return -EFAULT;
	if (!root && guest.unmapped_ggtt && address >> 12 == guest.unmapped_ggtt >> 12)
		return -EFAULT;
	for (i = 0; i < bytes / 4; i++) {
		((u32 *)buffer)[i] = READ_ONCE(memory[(address - start) / 4 + i]);
		reads[(address - start) / 4 + i]++;
	}
	return 0;
}

static void fixture_update(void *owner, u64 index, u64 entry)
{
	guest.updated_index = index;
	guest.updated_entry = entry;
	guest.updates++;
	if (guest.update_us)
		usleep_range(guest.update_us, guest.update_us);
}

static void make_audit(unsigned int gen, enum ghyvi_engine_id engine, const char *mode)
{
	const struct ghyvi_audit_params params = {
		.gen = gen,
		.ggtt = { { GGTT_START, GGTT_BYTES } },
		.nr_ggtt = 1,
		.read = fixture_read,
		.update_ggtt = fixture_update,
		.reporter = &guest.reporter,
		.stats = &guest.stats,
	};

	memset(&guest, 0, sizeof(guest));
	shim_quiet = true;
	guest.device.name = "test";
	ghyvi_reporter_init(&guest.reporter, &guest.device);
	guest.audit = ghyvi_audit_create(&params);
	assert_false(IS_ERR(guest.audit));
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, mode), 0);
	guest.submission = (struct ghyvi_submission){
		.engine = engine,
		.root = (struct ghyvi_root *)&guest,
		.ppgtt_mask = GENMASK_ULL(47, 0),
		.lrca = 0x10100000,
		.ring_start = RING,
		.ring_bytes = RING_BYTES,
	};
}

static void drop_commands(void)
{
	ghyvi_commands_free(guest.commands);
	guest.commands = NULL;
}

static void drop_audit(void)
{
	drop_commands();
	ghyvi_audit_destroy(guest.audit);
}

/* Begin a new submission, ring empty. */
static __maybe_unused void fresh(void)
{
	drop_commands();
	memset(guest.ggtt_reads, 0, sizeof(guest.ggtt_reads));
	memset(guest.user_reads, 0, sizeof(guest.user_reads));
	guest.tail = guest.submission.head;
}

static __maybe_unused void put_ring_dwords(const u32 *dwords, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		guest.ggtt[(RING - GGTT_START + guest.tail) / 4] = dwords[i];
		guest.tail = (guest.tail + 4) % RING_BYTES;
	}
}

#define DWORDS(...) ((const u32[]){ __VA_ARGS__ }), (sizeof((const u32[]){ __VA_ARGS__ }) / 4)
#define ring(...) put_ring_dwords(DWORDS(__VA_ARGS__))

static __maybe_unused void put_dwords(u64 address, const u32 *dwords, unsigned int count)
{
	if (address >= USER_START)
		memcpy(guest.user + (address - USER_START) / 4, dwords, 4 * count);
	else
		memcpy(guest.ggtt + (address - GGTT_START) / 4, dwords, 4 * count);
}

#define put(address, ...) put_dwords(address, DWORDS(__VA_ARGS__))

static __maybe_unused const char *last(void)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&guest.reporter, text, sizeof(text));
	return text;
}

/* Audit what is in the ring. */
static __maybe_unused void submit(void)
{
	drop_commands();
	guest.submission.tail = guest.tail;
	guest.commands = ghyvi_audit_submission(guest.audit, &guest.submission);
	assert_false(IS_ERR(guest.commands));
}

static __maybe_unused int fetch(enum ghyvi_fetch_source source, u64 at, u32 ring_head, u32 *dword)
{
	struct ghyvi_cmd_prefetch window;
	int ret = ghyvi_commands_fetch(guest.commands, source, 0, at, ring_head, &window);

	if (ret <= 0)
		return ret;
	*dword = window.dwords[0];
	return 1;
}

/* May a command begin there? */
static __maybe_unused bool begins(enum ghyvi_fetch_source source, unsigned int level, u64 at,
				  u32 ring_head)
{
	struct ghyvi_cmd_prefetch window;

	return ghyvi_commands_fetch(guest.commands, source, level, at, ring_head, &window) > 0 &&
	       window.starts & 1;
}

/* Where in the ring the engine would be stopped; the tail when nowhere. */
static __maybe_unused u32 stops_at(void)
{
	u32 at = guest.submission.head, dword;
	int ret;

	for (; at != guest.tail; at = (at + 4) % RING_BYTES) {
		ret = fetch(GHYVI_FETCH_RING, at, 0, &dword);
		if (ret == -EACCES)
			break;
		assert_int_equal(ret, 1);
	}
	return at;
}

#define assert_passed()                                  \
	do {                                             \
		if (stops_at() != guest.tail)            \
			fail_msg("refused: %s", last()); \
	} while (0)
#define assert_refused(rule)                                           \
	do {                                                           \
		if (stops_at() == guest.tail)                          \
			fail_msg("passed, but %s was expected", rule); \
		if (!strstr(last(), ": " rule " ("))                   \
			fail_msg("not for %s: %s", rule, last());      \
	} while (0)

#endif
