/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two guests on kernel/gen9 and the emulated GPU in one process, with the real auditor and a small
 * stand-in for the rest of the core. Seeds and rule violations are those of the emulator.
 */
#ifndef GEN9_GUEST_H
#define GEN9_GUEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ghyvi/audit.h>
#include <ghyvi/backend.h>
#include "emu.h"

extern struct emu gen9_shim_emu;
extern bool gen9_shim_lost;
void gen9_shim_init(void);
void gen9_shim_interrupt(void);

#define GUEST_GGTT 0x20000000u
#define GUEST_PAGES 1024u
#define RING GUEST_GGTT
#define RING_BYTES 0x4000u
#define IMAGE(n) (GUEST_GGTT + 0x10000u + (n)*0x20000u)
#define HWSP_PAGE (GUEST_GGTT + 0x100000u)
#define DATA (GUEST_GGTT + 0x101000u)
#define KERNEL_BATCH (GUEST_GGTT + 0x102000u)
#define USER_BATCH 0x200000000ull /* in the PPGTT */
#define USER_DATA (USER_BATCH + 0x1000)
#define TEST_S 20

#define MI(opcode, length) ((u32)(opcode) << 23 | (length))
#define NOOP 0u
#define ARB_CHECK MI(0x05, 0)
#define BATCH_END MI(0x0a, 0)
#define USER_INTERRUPT MI(0x02, 0)
#define SET_PREDICATE(enable) (MI(0x01, 0) | (enable))
#define PREDICATE_ALWAYS 15
#define STORE_GGTT (MI(0x20, 2) | BIT(22))
#define STORE_PPGTT MI(0x20, 2)
#define LRI(n) MI(0x22, 2 * (n)-1)
#define SRM_GGTT (MI(0x24, 2) | BIT(22))
#define SRM_PPGTT MI(0x24, 2)
#define START_KERNEL MI(0x31, 1)
#define START_USER (MI(0x31, 1) | BIT(8))
#define WAIT_PPGTT (MI(0x1c, 2) | BIT(15) | 4u << 12) /* until memory equals the value */
#define FLUSH_INDEX (MI(0x26, 2) | BIT(14) | BIT(21))
#define LO(a) ((u32)(a))
#define HI(a) ((u32)((u64)(a) >> 32))

#define HOST_GGTT 0xf8000000u /* from there on */

#define COPY_MEM MI(0x2e, 3)
#define COPY_MEM_DST_GGTT BIT(21)
#define COPY_MEM_SRC_GGTT BIT(22)
#define ATOMIC_INCREMENT_GGTT (MI(0x2f, 1) | BIT(22) | 5u << 8)
#define LRM_PPGTT MI(0x29, 2)
#define LRR MI(0x2a, 1)
#define UPDATE_GTT MI(0x23, 2)
#define STORE_INDEX MI(0x21, 1)
#define REPORT_HEAD MI(0x07, 0)
#define FLUSH_GGTT (MI(0x26, 2) | BIT(14))
#define FLUSH_USE_GGTT BIT(2) /* of the address */
#define PIPE_CONTROL 0x7a000004u
#define GPGPU_WALKER 0x7105000du
#define PIPE_CONTROL_INDEX (BIT(21) | BIT(14))
#define PIPE_CONTROL_MMIO (BIT(23) | BIT(14))
#define GPR(engine, n) (ghyvi_engine_base(engine) + 0x600 + 8 * (n))

/* A guest: its pages, its tables, and one context per engine. */
struct guest {
	struct ghyvi_pgpu_client *client;
	struct ghyvi_audit *audit;
	struct ghyvi_audit_owner owner;
	struct ghyvi_reporter reporter;
	struct ghyvi_stats stats;
	u32 *registers;
	u8 *pages[GUEST_PAGES];
	u64 *tables[4]; /* PML4, PDP, PD, PT */
	u8 *user[2];
	u64 user_at[2]; /* where the auditor finds them in the PPGTT */
	struct ghyvi_pgpu_context *context[GHYVI_ENGINES];
	u32 base; /* of its GGTT range, from GUEST_GGTT on */
};

/* A job with everything that the core would have around it. */
struct test_job {
	struct ghyvi_job base;
	struct guest *guest;
	u32 context[GHYVI_CTX_DWORDS];
	u32 tail;
	bool started;
	int status; /* -1: not given back */
	u32 events;
};

extern struct pci_dev pdev;
extern struct ghyvi_pgpu_device *pgpu;
extern const struct ghyvi_pgpu_ops *ops;
extern struct guest guests[2];

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* [MODES SEED]: adversary modes of the emulator. Returns false if they cannot be parsed. */
bool parse_options(int argc, char **argv);
/* Returns the number of tests that failed. */
int run_all_tests(const struct CMUnitTest *tests, size_t count);
int set_up(void **state);
/* Fails if the emulator has reported a violation. */
int tear_down(void **state);

/* Both guests, as before and after each test. No job exists. */
void make_guests(void);
void drop_guests(void);

/* A client with a part of the GGTT, beside the guests. */
#define SHARE_BYTES (256u << 20)
struct ghyvi_pgpu_client *client_of(u64 first, u64 bytes);

void *guest_page(struct guest *guest, u32 address);
u32 at(struct guest *guest, u32 address);
u64 map(struct guest *guest, void *page, enum ghyvi_page_kind kind);
/* Memory of the host at a GGTT address: addresses for the GPU are pointers. */
u32 *host_memory(u32 address);
u32 engine_register(enum ghyvi_engine_id engine, u32 offset);
u64 violations(void);
/*
 * What the emulator has seen since the last call: the number of pages that a context of a guest has
 * accessed, and that another one, or through the PPGTT the host, has. No job runs.
 */
unsigned int oracle_violations(void);
/* A sum of registers that no guest may change, on all engines. */
u32 host_registers(void);

/* A job on the guest's context of @engine, with an empty ring. */
struct test_job *job_new(struct guest *guest, enum ghyvi_engine_id engine);
void job_free(struct test_job *job);
void put(u8 *page, const u32 *dwords, unsigned int count);
/* Append to the guest's ring. */
void add(struct test_job *job, const u32 *dwords, unsigned int count);

#define DWORDS(...) ((const u32[]){ __VA_ARGS__ }), (sizeof((const u32[]){ __VA_ARGS__ }) / 4)
#define RINGS(job, ...) add(job, DWORDS(__VA_ARGS__))
#define USER(guest, ...) put((guest)->user[0], DWORDS(__VA_ARGS__))

void audit(struct test_job *job);
void start(struct test_job *job);
/* The engine has begun it afterwards. */
void start_and_pump(struct test_job *job);
/* Wait for the end of the job. Returns true if it does not come. */
bool waits(struct test_job *job);
void finish(struct test_job *job, enum ghyvi_job_status status);
void run_once(struct test_job *job);
/* The engine executes a ring with a store. */
void expect_working(enum ghyvi_engine_id id);
/* Each engine executes a ring with a store and an interrupt. */
void expect_working_engines(void);
/* Each command in a ring, in a batch of the GGTT, and in a user batch of which there is a copy. */
void run_everywhere(enum ghyvi_engine_id engine, const u32 *commands, unsigned int count);
/* Let engines, interrupts and works run. */
void pump(unsigned int times);
/* Until no event of the adversary is late, too. */
void pump_events(unsigned int times);

/* A batch that waits until memory becomes 1, then stores 2 next to it. */
struct test_job *waiting_job(struct guest *guest, enum ghyvi_engine_id engine);
/* Complete a waiting job's wait. */
void release_guest(struct guest *guest);
void complete_waiting(struct guest *guest, struct test_job *job);
/* A batch that jumps to itself has no arbitration point: only a reset ends it. */
struct test_job *endless_job(struct guest *guest, enum ghyvi_engine_id engine);

#endif
