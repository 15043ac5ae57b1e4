/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An auditor over a guest of flat memory: a partition of the GGTT with a ring in it, and a PPGTT
 * that maps little. It counts how often each dword is read.
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
#define GGTT_BYTES 0x40000u
#define RING GGTT_START
#define RING_BYTES 0x4000u
#define BAD MI(0x16, 0) /* no command */
#define KERNEL_BATCH (GGTT_START + 0x8000)
#define KERNEL_DATA (GGTT_START + 0x20000)
#define USER_START 0x7fff00000000ull
#define USER_BYTES 0x800000u
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

/*
 * The sizes of the guest's memory from the next make_audit() on, at most GGTT_BYTES and
 * USER_BYTES.
 */
extern u32 guest_ggtt_bytes, guest_user_bytes;

struct audit_guest {
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
	/* Memory, and how often each dword was read. */
	u32 ggtt[GGTT_BYTES / 4];
	u32 user[USER_BYTES / 4];
	u8 ggtt_reads[GGTT_BYTES / 4];
	u8 user_reads[USER_BYTES / 4];
};
extern struct audit_guest guest;
/* Reads the guest's memory and counts its GGTT updates. */
extern struct ghyvi_audit_owner fixture_owner;

void make_audit(unsigned int gen, enum ghyvi_engine_id engine, const char *mode);
/* For a pGPU whose engines execute everything, and whose blitter does not restrict user batches. */
void make_hardware_audit(enum ghyvi_engine_id engine, const char *mode);
void drop_commands(void);
void drop_audit(void);
int setup(void **state);
int setup_log(void **state);
int teardown(void **state);

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, setup_log, teardown)

/* Begin a new submission, ring empty. */
void fresh(void);
void put_ring_dwords(const u32 *dwords, unsigned int count);

#define DWORDS(...) ((const u32[]){ __VA_ARGS__ }), (sizeof((const u32[]){ __VA_ARGS__ }) / 4)
#define ring(...) put_ring_dwords(DWORDS(__VA_ARGS__))

void put_dwords(u64 address, const u32 *dwords, unsigned int count);

#define put(address, ...) put_dwords(address, DWORDS(__VA_ARGS__))

const char *last(void);

/* Audit what is in the ring. */
void submit(void);
int fetch(enum ghyvi_fetch_source source, u64 at, u32 ring_head, u32 *dword);

/* May a command begin there? */
bool begins(enum ghyvi_fetch_source source, unsigned int level, u64 at, u32 ring_head);

/* Where in the ring the engine would be stopped; the tail when nowhere. */
u32 stops_at(void);

/* The ring starts USER_BATCH and is audited. */
void run_user_batch(void);

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

#define assert_passes(run)       \
	do {                     \
		run();           \
		assert_passed(); \
	} while (0)
#define assert_refuses(run, rule)     \
	do {                          \
		run();                \
		assert_refused(rule); \
	} while (0)
#define assert_submit_passes() assert_passes(submit)
#define assert_submit_refused(rule) assert_refuses(submit, rule)
#define assert_user_batch_passes() assert_passes(run_user_batch)
#define assert_user_batch_refused(rule) assert_refuses(run_user_batch, rule)

#endif
