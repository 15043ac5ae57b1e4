/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated GPU (tools/pgpu-emu) without a virtual machine. RAM is an array, and all GGTT
 * entries map the page of their own number unless a test says otherwise.
 */
#ifndef EMU_FIXTURE_H
#define EMU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <ghyvi/gen8_cmds.h>
#include "emu.h"

#define RAM_BYTES (16u << 20)
#define HWSP 0x10000u
#define RING 0x20000u
#define CONTEXT 0x100000u /* image of context n: + n * CONTEXT_STRIDE */
#define CONTEXT_STRIDE 0x40000u
#define RING_STRIDE 0x1000u
#define TABLES 0x400000u /* PML4, PDP, PD, PT: one page each */
#define DATA 0x800000u /* physical page of the data */
#define DATA_VA 0x200000000ull /* where the PPGTT maps it */
#define BATCH 0x801000u /* physical page of a batch */
#define BATCH_VA (DATA_VA + 0x1000)
#define GGTT_DATA 0x900000u

#define NOOP 0u
#define BATCH_END (0x0au << 23)
#define ARB_CHECK (0x05u << 23)
#define STORE_GGTT (0x20u << 23 | 1u << 22 | 2)
#define STORE_PPGTT (0x20u << 23 | 2)
#define LRI (0x22u << 23 | 1)
#define BATCH_START (0x31u << 23 | MI_BATCH_PPGTT_HSW | 1)
#define SEMAPHORE (0x1cu << 23 | 1u << 15 | 4u << 12 | 2) /* PPGTT, equal */
#define FLUSH_DW (0x26u << 23 | 2)
#define USER_INTERRUPT (0x02u << 23)
#define PIPE_CONTROL 0x7a000004u
#define GPGPU_WALKER 0x7105000du
#define SET_PREDICATE (0x01u << 23) /* off */
#define SET_PREDICATE_ALWAYS (SET_PREDICATE | 15)

extern struct emu *emu;
extern u8 *ram;
/* Number of interrupts that were sent. */
extern unsigned int messages;

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int set_up(void **state);
int tear_down(void **state);
/* All of a driver's first steps, on a device with any history. */
void set_up_again(void);
void enable_engine(u32 base);
void apply_workarounds(void);
void build_tables(void);

/* Access a register as a CPU does. */
u32 rd(u32 offset);
void wr(u32 offset, u32 value);
/* Memory at a physical address: a dword, and an entry of a table. */
u32 *word(u32 physical);
u64 *entry(u32 physical);

/* The image of context @n for the engine at @base, with restore-inhibit as at a first use. */
void make_context(unsigned int n, u32 base);
/* The register state of the image, and the ring, of context @n. */
u32 *image(unsigned int n);
u32 *ring(unsigned int n);
/* Append to the ring. */
void emit(unsigned int n, const u32 *commands, unsigned int dwords);

#define EMIT(n, ...) \
	emit(n, (const u32[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u32[]){ __VA_ARGS__ })))

u64 descriptor(unsigned int n);
void submit_to(u32 base, u64 first, u64 second);
/* To the render engine. */
void submit(u64 first, u64 second);
void run_all(void);
/* Submit context @n to the render engine, and execute all that can be. */
void run_context(unsigned int n);
/* Context 0 waits for DATA to become 1. */
void start_waiting(void);
/* Dword of event @i of the context status buffer. */
u32 csb(unsigned int i);

void expect_violations(enum emu_violation kind, u64 count);
void expect_no_violation(void);

#endif
