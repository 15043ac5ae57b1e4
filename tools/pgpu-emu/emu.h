/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated physical GPU: a GT2 of Gen9 as its driver sees it. Documentation/pgpu-emu.md says
 * what is emulated, and which driver or page of the manuals each behaviour comes from.
 *
 * One thread does everything: it answers the accesses of the virtual machine, and executes the
 * engines in slices between them. So nothing here needs a lock, and a seed determines every random
 * choice.
 */
#ifndef PGPU_EMU_H
#define PGPU_EMU_H

#include <stdio.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <ghyvi/engines.h>
#include <ghyvi/gen8_regs.h>
#include <ghyvi/types.h>
#include <softgpu/engine.h>
#include "adversary.h"
#include "compute.h"
#include "context.h"
#include "hw_regs.h"

#define EMU_REGISTERS_BYTES 0x200000u
#define EMU_GTTMMADR_BYTES (16u << 20) /* BAR 0 */
#define EMU_GGTT_OFFSET 0x800000u
#define EMU_GMADR_BYTES (512u << 20) /* BAR 2, the aperture */
#define EMU_CONFIG_BYTES 4096
#define EMU_RAM_FILES 64
#define EMU_RAM_REGIONS (1u << 20) /* behind an IOMMU each page can be one */
#define EMU_STOLEN_BYTES (4u << 20)

/* Addresses in table entries have 39 bits (PRM vol. 5, "Per-Process GTT Entries"). */
#define EMU_ADDRESS_MASK GENMASK_ULL(38, 12)

struct emu;

/*
 * struct emu_transport_ops - how the device reaches the virtual machine.
 */
struct emu_transport_ops {
	/** @msi: write @data to the guest-physical @address, as a message-signalled interrupt. */
	void (*msi)(struct emu *emu, u64 address, u32 data);
	/** @intx: the interrupt pin has changed to @level. NULL: there is no pin. */
	void (*intx)(struct emu *emu, bool level);
	/** @fds: store the descriptors to poll, at most EMU_TRANSPORT_FDS. Returns their number. */
	int (*fds)(struct emu *emu, int *fds);
	/** @handle: handle what has arrived on @fd. Returns false at the end of the service. */
	bool (*handle)(struct emu *emu, int fd);
};

#define EMU_TRANSPORT_FDS 4

/*
 * struct emu_platform - one of the GPUs that the emulator can be.
 */
struct emu_platform {
	const char *name; /* of --platform */
	u16 device; /* PCI id */
	u8 revision;
	u32 rp_state_cap;
	u32 ecochk; /* bits of GAM_ECOCHK that i915 sets before it submits */
	bool slots_have_rights; /* FORCE_TO_NONPRIV slots may be for reads only, or a range */
};

/* Rules that hardware enforces silently. The names in the log are in log.c. */
enum emu_violation {
	EMU_SUSPENDED, /* a BAR was accessed while the function was not in D0 */
	EMU_ASLEEP, /* a register was accessed in a forcewake domain that is not awake */
	EMU_ELSP_EARLY, /* ELSP was written before the previous write was promoted */
	EMU_SAME_TAIL, /* a context was resubmitted with its tail, without force restore */
	EMU_NO_RESTORE, /* the last context again, with a changed image, without force restore */
	EMU_IDLE_PROMOTION, /* the second context began with its head at its tail */
	EMU_RESET_RUNNING, /* a reset of an engine that was neither stopped nor ready */
	EMU_CSB_POINTER, /* the first status event since a reset, without a preset pointer */
	EMU_GGTT_STALE, /* a GGTT entry was changed and used without a write to GFX_FLSH_CNTL */
	EMU_PPGTT_STALE, /* a PPGTT entry was used after a change without a TLB invalidation */
	EMU_GTT_CACHE, /* a PPGTT entry of 2 MiB was used with the GTT cache on */
	EMU_WORKAROUND, /* a workaround register lacked its bits at a submission */
	EMU_BBSTATE, /* software wrote the batch state of a context image */
	EMU_HWSP, /* the status page is outside of the range that --hwsp allows */
	EMU_RUN_LIST_OFF, /* ELSP was written while RING_MODE did not enable run lists */
	EMU_EU_STATE, /* a context ran threads on execution units with the state of another one */
	EMU_INVALID_CONTEXT, /* a submitted descriptor or its image cannot be loaded */
	EMU_GGTT_NOT_PRESENT, /* an engine used a GGTT address whose entry is not present */
	EMU_NOT_PRESENT, /* an engine used a PPGTT address without a valid table entry */
	EMU_NOT_RAM, /* an engine used an address that is not RAM */
	EMU_VIOLATIONS,
};

/* A part of the virtual machine's RAM. Mappings of files are kept until emu_ram_release(). */
struct emu_ram_region {
	u64 start;
	u64 bytes;
	u8 *memory; /* NULL: the virtual machine does not share it */
};

struct emu_ram_file {
	u64 device, inode;
	u64 bytes;
	u8 *memory;
};

struct emu_ram {
	struct emu_ram_region *regions; /* sorted */
	unsigned int count, allocated;
	struct emu_ram_file files[EMU_RAM_FILES];
	unsigned int nr_files;
	volatile bool lost; /* a file has lost pages: zeros are in its place */
};

/* A translation that the hardware's TLB may hold. Valid while @generation is the engine's. */
struct emu_tlb_entry {
	u64 page; /* graphics page number */
	u64 generation;
	u64 address; /* of the physical page */
	bool writable;
};

#define EMU_TLB_ENTRIES 4096

/* oracle.c: what a TLB slot was used for since it was filled */
#define EMU_ACCESS_READ BIT(0)
#define EMU_ACCESS_WRITE BIT(1)
#define EMU_ACCESS_TABLE BIT(2)

struct emu_slot_note {
	u64 address; /* of the physical page */
	u8 access;
};

/* adversary: a store that has not reached memory yet */
#define EMU_LATE_WRITES 64
struct emu_late_write {
	u8 *memory;
	u64 value;
	bool qword;
};

/* adversary: an event that has not reached memory yet, and the head that was saved before it */
#define EMU_LATE_EVENTS 64
struct emu_late_event {
	u64 at_ns;
	u8 *hwsp; /* NULL: there is none */
	u64 event;
	unsigned int entry;
	u32 *head; /* NULL: no context was saved */
	u32 head_value;
};

struct emu_oracle_entry;

struct emu_oracle {
	FILE *file; /* NULL: nothing is recorded */
	struct emu_oracle_entry *entries;
	unsigned int size, used;
	u32 *lives; /* by the page of the image in the GGTT */
	u32 last_life;
};

enum emu_engine_state {
	EMU_IDLE, /* no context is loaded */
	EMU_RUNNING,
	EMU_WAITING, /* for a semaphore */
	EMU_HUNG, /* by a bad command or address, or an adversary */
};

struct emu_engine {
	struct softgpu_engine cs;
	struct softgpu_client client;
	struct ghyvi_job job;
	struct softgpu_job softgpu_job; /* backend part of @job */
	struct emu *emu;
	enum emu_engine_state state;

	/* Execution lists (execlist.c). An element is a context descriptor; 0: none. */
	u32 elsp[4];
	unsigned int elsp_words;
	u64 pending[2];
	bool has_pending;
	u64 active[2];
	unsigned int port; /* index of the context on the engine in @active */

	/* Context status buffer. */
	u64 csb[GEN8_CSB_ENTRIES];
	unsigned int csb_write; /* index of the last entry that was written */
	bool csb_preset; /* software has set the pointer since the last reset */

	/* Engine state that images do not hold. */
	bool arbitration; /* MI_ARB_ON_OFF */
	bool arbitration_point; /* the last command was one */
	bool moved_much; /* the slice has moved SOFTGPU_SLICE_BYTES */
	bool predicated; /* MI_SET_PREDICATE: commands are MI_NOOP */
	bool eu_used; /* threads have left registers and local memory in the execution units */
	bool eu_foreign; /* so have those of another context */
	bool faulted; /* the last command did; nothing tells but RING_FAULT */
	u32 csr_base[2]; /* GPGPU_CSR_BASE_ADDRESS */
	u64 poll_at_ns; /* EMU_WAITING: time of the next poll */
	u64 spins_until_ns; /* the emulator does not sleep between polls until then */
	u64 refuses_until_ns; /* adversary: no preemption until then */
	u64 draws_until_ns; /* adversary: a draw that takes long; 0: none */
	u64 pauses_until_ns; /* adversary: a slow clock */
	struct emu_late_event late_events[EMU_LATE_EVENTS]; /* adversary; in order */
	unsigned int nr_late_events;
	u32 *saved_head; /* adversary: the head of the context that was saved last, not in memory */
	u32 saved_head_value;
	u64 hangs_at; /* adversary: number of commands until the engine hangs; 0: never */
	struct emu_late_write late_writes[EMU_LATE_WRITES]; /* adversary; in order */
	unsigned int nr_late_writes;

	/* TLBs as software may observe them (gtt.c). */
	struct emu_tlb_entry ppgtt_tlb[EMU_TLB_ENTRIES];
	u64 tlb_generation;
	struct emu_slot_note ppgtt_notes[SOFTGPU_TLB_PPGTT];
	struct emu_slot_note ggtt_notes[SOFTGPU_TLB_GGTT];
	u64 pdp[4]; /* roots of the loaded context */
	bool four_levels;

	struct emu_image image; /* the loaded context */
	struct emu_compute *compute; /* of the render engine */
	u64 commands; /* executed, for statistics */
	u64 submissions;
	u64 idles; /* times that it became idle after a context, for statistics */
	u64 idle_since_ns; /* 0: it has not been submitted to since its reset, or is busy */
	u64 idle_ns; /* time between becoming idle and the next submission's promotion */
};

/*
 * struct emu - the device
 */
struct emu {
	const struct emu_transport_ops *transport;
	void *transport_data;

	const struct emu_platform *platform; /* set before emu_init(); NULL: Skylake */
	u8 config[EMU_CONFIG_BYTES];
	u32 stolen_base;
	bool display; /* pipes are not fused off */
	u32 *regs; /* EMU_REGISTERS_BYTES / 4; storage of registers without a handler */
	u32 iir_second[GEN8_GT_IRQ_BANKS]; /* adversary: events behind those in IIR */
	bool irq_line; /* master enable and a summary bit */
	u32 last_write; /* the last register that the CPU wrote, but for forcewake requests */
	u16 min_freq[256]; /* of the CPU and the ring, by the GPU's frequency */
	u64 rc6_ns; /* time in RC6 */
	u64 rc6_since_ns; /* up to here; 0: it is not in RC6 */

	u64 *ggtt; /* SOFTGPU_GGTT_ENTRIES, as the CPU reads them */
	u64 *ggtt_live; /* as the engines' TLBs may still see them: changes at GFX_FLSH_CNTL */
	u32 *ggtt_dirty; /* indices of the entries that may differ, each of them once */
	unsigned int nr_ggtt_dirty;
	bool *ggtt_is_dirty; /* by index: whether it is in @ggtt_dirty */

	struct emu_ram ram;
	struct emu_engine engines[GHYVI_ENGINES];
	struct emu_adversary adversary;
	struct emu_image_notes images;
	struct emu_oracle oracle;

	/* Log, trace and statistics (log.c). */
	FILE *log;
	u64 log_paid_ns; /* lines have been written for the time up to here */
	u64 log_left_out; /* lines since the last one that was written */
	FILE *trace;
	u64 violations[EMU_VIOLATIONS];
	u64 reads, writes, ggtt_writes, aperture_accesses, interrupts, resets;
	u64 hangs; /* adversary */
	unsigned int slow_resets; /* adversary: in a row */
	u64 hwsp_start, hwsp_end; /* allowed addresses of status pages; 0, 0: all */
};

/* platform.c */
/* Find a platform by its name; @name NULL: the default one. NULL: there is none. */
const struct emu_platform *emu_platform_find(const char *name);

/* log.c */
/* Write a line, unless there are too many of them. */
__printf(2, 3) void emu_log(struct emu *emu, const char *format, ...);
/* Report that software broke a rule. The test that runs the emulator fails. */
__printf(3, 4) void emu_violation(struct emu *emu, enum emu_violation kind, const char *format,
				  ...);
void emu_trace(struct emu *emu, char operation, u32 offset, u64 value);
void emu_trace_register(struct emu *emu, char operation, u32 offset, u32 value);
void emu_log_summary(struct emu *emu);

/* device.c: the device as the transport sees it */
int emu_init(struct emu *emu);
void emu_device_reset(struct emu *emu);
/* Access BAR @bar at @offset. */
u64 emu_region_read(struct emu *emu, unsigned int bar, u32 offset, unsigned int bytes);
void emu_region_write(struct emu *emu, unsigned int bar, u32 offset, u64 value, unsigned int bytes);
/* The same by the address that software has given the BAR. */
u64 emu_bar_read(struct emu *emu, u64 address, unsigned int bytes);
void emu_bar_write(struct emu *emu, u64 address, u64 value, unsigned int bytes);

/* config.c */
void emu_config_init(struct emu *emu);
u32 emu_config_read(struct emu *emu, u32 offset, unsigned int bytes);
void emu_config_write(struct emu *emu, u32 offset, u32 value, unsigned int bytes);
u32 emu_config_bar(const struct emu *emu, unsigned int bar);
/* Test whether the function is in D0. */
bool emu_config_powered(const struct emu *emu);
/* Get the MSI message. Returns false if MSI or bus mastering is off. */
bool emu_config_msi(const struct emu *emu, u64 *address, u32 *data);
/* Test whether the function signals interrupts by its pin. */
bool emu_config_intx(const struct emu *emu);

/* ram.c */
/*
 * Add a region; maps file @fd from @offset on, -1: the region is not shared. Takes the descriptor.
 * Returns 0 or a negative errno.
 */
int emu_ram_add(struct emu *emu, struct emu_ram_region *region, int fd, u64 offset);
/* Add a region whose memory is mapped. Returns 0 or a negative errno. */
int emu_ram_insert(struct emu *emu, const struct emu_ram_region *region);
/*
 * Remove the regions from @start to @last, if any, and set @removed to the sum of their bytes. No
 * translation into them is left. Returns 0 or a negative errno.
 */
int emu_ram_remove(struct emu *emu, u64 start, u64 last, u64 *removed);
/* From now on, an access to what a file has lost only sets @lost, and does not end the process. */
void emu_ram_guard(struct emu *emu);
/* Unmap everything. The engines are idle. */
void emu_ram_release(struct emu *emu);
/* Get a pointer to @bytes bytes of RAM at @address; NULL: not RAM. */
u8 *emu_ram_at(struct emu *emu, u64 address, u64 bytes);

/* gtt.c */
u64 emu_ggtt_read(struct emu *emu, u32 offset, unsigned int bytes);
void emu_ggtt_write(struct emu *emu, u32 offset, u64 value, unsigned int bytes);
/* GFX_FLSH_CNTL was written. */
void emu_ggtt_flush(struct emu *emu);
/* Drop all translations of an engine. */
void emu_tlb_invalidate(struct emu_engine *engine);
/* Let the stores that the adversary holds back reach memory. */
void emu_late_writes_drain(struct emu_engine *engine);
/* Translate for an access by the CPU through the aperture; NULL: no page. */
u8 *emu_aperture_at(struct emu *emu, u32 offset);
/* Translate a GGTT address for an engine; NULL: not present. */
u8 *emu_engine_ggtt(struct emu_engine *engine, u64 address, bool write);

/* oracle.c */
/* A context is being loaded; @begins: its registers are not restored. */
void emu_oracle_context(struct emu_engine *engine, bool begins);
void emu_oracle_note(struct emu_engine *engine, bool ggtt, u64 address, u8 access);
/* @slot now maps the page at the physical @address. */
void emu_oracle_filled(struct emu_engine *engine, const struct softgpu_tlb_entry *slot,
		       u64 address);
void emu_oracle_write(struct emu *emu);

/* regs.c */
enum emu_source {
	EMU_CPU,
	EMU_CS, /* a command, or the restore of a context */
};
u32 emu_reg_read(struct emu *emu, u32 offset, enum emu_source source);
void emu_reg_write(struct emu *emu, u32 offset, u32 value, enum emu_source source);
void emu_regs_init(struct emu *emu);
/* The frequency of the GPU in units of 50 / 3 MHz. */
u32 emu_frequency(struct emu *emu);
/* The register that invalidates the TLBs of an engine. */
u32 emu_tlb_register(enum ghyvi_engine_id id);
static inline u32 *emu_reg(struct emu *emu, u32 offset)
{
	return &emu->regs[offset / 4];
}
/* Apply a write to a register whose upper half selects bits of the lower half. */
static inline u32 emu_masked(u32 old, u32 value)
{
	return (old & ~(value >> 16) & 0xffff) | (value & (value >> 16));
}

/* forcewake.c */
bool emu_forcewake_write(struct emu *emu, u32 offset, u32 value);
bool emu_forcewake_read(struct emu *emu, u32 offset, u32 *value);
/* Letters of "RMG" (render, media, GT), or "-": the domains that are awake. */
const char *emu_forcewake_held(struct emu *emu);
/* The same: the domains that an access to the register needs. */
const char *emu_forcewake_needed(u32 offset, bool write);
/* Check an access by the CPU. Returns false if the register's domain is asleep. */
bool emu_awake(struct emu *emu, u32 offset, bool write);
/* What keeps the GT out of RC6 may have changed. */
void emu_rc6_settle(struct emu *emu);
/* Time in RC6, in units of RC6_UNIT_NS; wraps around. */
u32 emu_rc6_residency(struct emu *emu);

/* irq.c */
/* Source @bit of the engine's sixteen became active. */
void emu_irq_raise(struct emu_engine *engine, unsigned int bit);
u32 emu_irq_master_read(struct emu *emu);
void emu_irq_master_write(struct emu *emu, u32 value);
void emu_irq_bank_write(struct emu *emu, u32 offset, u32 value);
void emu_irq_spurious(struct emu *emu);

/* reset.c */
u32 emu_gdrst_read(struct emu *emu);
void emu_gdrst_write(struct emu *emu, u32 value);
void emu_engine_reset(struct emu_engine *engine);

/* engine_regs.c: the register page of an engine */
/* Find the engine that has @offset in its page; NULL: none. */
struct emu_engine *emu_engine_of(struct emu *emu, u32 offset);
u32 emu_engine_read(struct emu_engine *engine, u32 offset);
void emu_engine_write(struct emu_engine *engine, u32 offset, u32 value, enum emu_source source);
bool emu_engine_stopped(const struct emu_engine *engine);

/* execlist.c */
void emu_elsp_write(struct emu_engine *engine, u32 value);
/* Take a pending submission if the engine is idle or at an arbitration point. */
void emu_execlist_arbitrate(struct emu_engine *engine);
/* The context on the engine has reached its tail. */
void emu_execlist_complete(struct emu_engine *engine);
/* Let events of the adversary reach memory whose time has come, or @all. */
void emu_late_events_settle(struct emu_engine *engine, bool all);
void emu_csb_pointer_write(struct emu_engine *engine, u32 value);
void emu_execlist_reset(struct emu_engine *engine);

/* engine.c */
int emu_engine_init(struct emu *emu, enum ghyvi_engine_id id);
enum emu_work {
	EMU_WORK_NONE,
	EMU_WORK_LATER, /* a semaphore or an adversary must be polled soon */
	EMU_WORK_NOW,
};
/* Execute one slice of each engine that can run. */
enum emu_work emu_run_engines(struct emu *emu);
/* Execute a batch of the context restore at once, up to @end, or its BATCH_BUFFER_END if 0. */
void emu_run_restore_batch(struct emu_engine *engine, u64 address, u64 end);
/*
 * The engine stops where it is; only a reset gets it out of there. It tells by EIR and the error
 * interrupt, unless it is a fault: that only is in RING_FAULT.
 */
__printf(2, 3) void emu_engine_hang(struct emu_engine *engine, const char *format, ...);

/* cs_commands.c */
int emu_command(struct emu_engine *engine);

static inline struct emu_engine *emu_engine_from(struct softgpu_engine *cs)
{
	return container_of(cs, struct emu_engine, cs);
}

static inline const char *emu_engine_name(const struct emu_engine *engine)
{
	return ghyvi_engine_name(engine->cs.id);
}

#endif
