/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device model's own types, shared by the files of this folder only.
 */
#ifndef GHYVI_VGPU_TYPES_H
#define GHYVI_VGPU_TYPES_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "registers.h"
#include "vgpu.h"

struct ghyvi_register_value {
	u32 offset;
	u32 value;
};

/**
 * struct ghyvi_device_profile
 * @timestamp_hz: what the guest believes TIMESTAMP ticks at
 * @context_has_gprs: the context image holds the engine's general purpose registers
 * @values: reset values that differ from 0, besides those every profile has; ends with offset 0
 */
struct ghyvi_device_profile {
	const char *name;
	u16 device_id;
	u8 revision;
	u8 gen;
	u32 timestamp_hz;
	bool context_has_gprs;
	const struct ghyvi_register_value *values;
};

struct vgpu_engine;

/**
 * struct vgpu_workload - the context in port 0, on its way through the scheduler
 * @prepared: the image was read; from now on a new tail must be told to the pGPU, also while a preempted workload waits
 * @empty: there was nothing between head and tail; it never goes to the pGPU
 * @behind: its tail was moved too late; when it completes the context runs again
 * @error: what loading it returned
 * @abandoned: reset took it away while it could not be taken back; whoever returns it only notes whether it had failed
 * @head, @tail, @control, @gprs: as loaded
 * @root: tree of the context, counted, or NULL
 * @context: host's copy of the register state, one page
 * All but @base is protected by vgpu->lock.
 */
struct vgpu_workload {
	struct ghyvi_workload base;
	struct vgpu_engine *engine;
	u64 descriptor;
	bool prepared;
	bool empty;
	bool behind;
	bool abandoned;
	int error;
	u32 head;
	u32 tail;
	u32 control;
	u32 gprs[2 * CONTEXT_GPRS];
	struct ghyvi_root *root;
	u32 *context;
};

/**
 * struct vgpu_engine - execlist state of one engine
 * @elsp, @elsp_count: dwords of a submission under way; the fourth one latches
 * @active, @nr_active: elements promoted and not completed; [0] is on (or queued for) the engine
 * @pending, @has_pending: latched, not promoted yet
 * @workload: of active[0]; NULL without one, or when @halted
 * @spare: a workload object to use next, so that the common case allocates nothing
 * @halted: stopped by an error; until reset nothing is promoted or completed
 * @csb: index of the last status entry written
 * All protected by vgpu->lock.
 */
struct vgpu_engine {
	struct ghyvi_vgpu *vgpu;
	enum ghyvi_engine_id id;
	u32 base;
	u32 elsp[4];
	unsigned int elsp_count;
	u64 active[2];
	unsigned int nr_active;
	u64 pending[2];
	bool has_pending;
	struct vgpu_workload *workload;
	struct vgpu_workload *spare;
	bool halted;
	u32 csb;
};

/*
 * Lock order: lock > { the scheduler's, mm's, irq_lock }. The scheduler is kicked without lock.
 */
struct ghyvi_vgpu {
	struct ghyvi_vgpu_params params;
	struct ghyvi_pgpu_client *client;
	struct ghyvi_gtt *gtt;
	struct ghyvi_audit *audit;
	struct ghyvi_sched_entity *sched_entity;
	u32 timestamp_hz; /* of the pGPU */
	u32 *registers; /* by offset / 4; command streamers access them, too: READ_ONCE, WRITE_ONCE */
	void *ggtt_table;
	bool check;
	/* 1: BAR 0 moved to a new place of the guest, and nothing has proved it mapped there yet. */
	int bar_moved;

	u32 *mirror; /* what the guest sees of the registers there */
	u64 bar0; /* where BAR 0 is, or GHYVI_BAR_UNMAPPED; under lock */
	u64 mirror_gfn; /* where, GHYVI_INVALID_GFN while BAR 0 is unmapped; written under lock */
	bool mirror_protected; /* under lock */
	int mirror_lost; /* 1: the protection went away; the next user of mirror_protected is to see it */
	bool mirror_caught_up; /* all stores to the mirror so far have been seen; under irq_lock */

	struct mutex lock; /* engines, registers that are more than storage */
	bool resetting; /* under lock: submissions wait */
	bool failsafe; /* written under lock */
	struct ghyvi_containment containment; /* under lock, like all about violations */
	u64 violation_window_ns; /* when the window began */
	u32 violation_points; /* in it */
	u64 oracle_violations; /* when containment was last reset */
	struct vgpu_engine engines[GHYVI_ENGINES];

	spinlock_t irq_lock; /* interrupt registers and line; innermost, taken in hard interrupts */
	bool line;

	/* Workloads that the scheduler has or is about to give back. */
	spinlock_t outstanding_lock;
	unsigned int outstanding;
	wait_queue_head_t all_returned;

	/* Where the special registers of each page are in the rule table. */
	u16 rules_first[GHYVI_REGISTERS_BYTES >> GHYVI_PAGE_SHIFT];
	u16 rules_count[GHYVI_REGISTERS_BYTES >> GHYVI_PAGE_SHIFT];
};

/* mirror.c */
static inline bool vgpu_in_mirror(u32 offset)
{
	return offset - GHYVI_MIRROR_OFFSET < GHYVI_MIRROR_BYTES;
}
/*
 * What a register reads as in failsafe state: all ones, like a device that fell off the bus, but no
 * interrupt. i915 takes the ones for interrupts of engines that it does not have, and the guest's
 * kernel panics.
 */
static inline u32 vgpu_failsafe_value(u32 offset)
{
	return vgpu_in_mirror(offset) ? 0 : ~0u;
}
/* The register may have changed. Interrupt registers: caller holds irq_lock. */
void vgpu_mirror_show(struct ghyvi_vgpu *vgpu, u32 offset);
void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu);
/* BAR 0 is at @gpa now, or GHYVI_BAR_UNMAPPED. Caller holds vgpu->lock. */
void vgpu_mirror_move(struct ghyvi_vgpu *vgpu, u64 gpa);
/* It is mapped there. Caller holds no lock. */
void vgpu_mirror_live(struct ghyvi_vgpu *vgpu);

static inline u32 vgpu_get(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	return READ_ONCE(vgpu->registers[offset / 4]);
}

static inline void vgpu_set(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	WRITE_ONCE(vgpu->registers[offset / 4], value);
	if (vgpu_in_mirror(offset))
		vgpu_mirror_show(vgpu, offset);
}

static inline u32 engine_get(const struct vgpu_engine *engine, u32 offset)
{
	return vgpu_get(engine->vgpu, engine->base + offset);
}

static inline void engine_set(struct vgpu_engine *engine, u32 offset, u32 value)
{
	vgpu_set(engine->vgpu, engine->base + offset, value);
}

/* Is [address, address + bytes) of the global address space the vGPU's? */
static inline bool vgpu_owns_ggtt(const struct ghyvi_vgpu *vgpu, u64 address, u64 bytes)
{
	return ghyvi_range_contains_range(&vgpu->params.mappable, address, bytes) ||
	       ghyvi_range_contains_range(&vgpu->params.hidden, address, bytes);
}

/*
 * Around work for the guest that may be done by a thread of the host: what it allocates is charged
 * to the guest's process.
 */
static inline void vgpu_charge(const struct ghyvi_vgpu *vgpu, struct ghyvi_hv_charge *charge)
{
	if (vgpu->params.hv_ops->charge)
		vgpu->params.hv_ops->charge(vgpu->params.hv, charge);
}

static inline void vgpu_uncharge(const struct ghyvi_vgpu *vgpu,
				 const struct ghyvi_hv_charge *charge)
{
	if (vgpu->params.hv_ops->uncharge)
		vgpu->params.hv_ops->uncharge(vgpu->params.hv, charge);
}

/* registers.c */
void vgpu_registers_init(struct ghyvi_vgpu *vgpu);
void vgpu_registers_reset(struct ghyvi_vgpu *vgpu);
u32 vgpu_masked(u32 old, u32 value);
/* The engine whose register page holds @offset; the rules make sure that there is one. */
struct vgpu_engine *vgpu_engine_at(struct ghyvi_vgpu *vgpu, u32 offset);

/* interrupts.c */
void vgpu_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_irq_reset(struct ghyvi_vgpu *vgpu);
/* Send the message again if the line is high: the guest may have missed the last one. */
void vgpu_irq_remind(struct ghyvi_vgpu *vgpu);
/* Any context but NMI. @events: GHYVI_EVENT_* */
void vgpu_irq_raise(struct vgpu_engine *engine, u32 events);

/* pvinfo.c */
void vgpu_pvinfo_reset(struct ghyvi_vgpu *vgpu);
void vgpu_pvinfo_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);

/* execlist.c */
void vgpu_elsp_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
u32 vgpu_execlist_status_read(struct ghyvi_vgpu *vgpu, u32 offset);
u32 vgpu_csb_pointer_read(struct ghyvi_vgpu *vgpu, u32 offset);
void vgpu_csb_pointer_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/*
 * Stop the engine and forget what was submitted to it, as GDRST does. When it returns nothing of
 * the engine touches guest memory. Caller holds vgpu->lock.
 */
void vgpu_engine_reset(struct vgpu_engine *engine);
/*
 * Stop the engine likewise, but keep what the guest believes is on it: an engine that had work is
 * halted until the guest resets it. Caller holds vgpu->lock.
 */
void vgpu_engine_hold(struct vgpu_engine *engine);
/*
 * After vgpu_engine_hold(), once the vGPU takes work again: a halted engine reports an error, so
 * that the guest's driver resets it at once; any other goes on. Caller holds vgpu->lock, and kicks
 * the scheduler after it dropped it.
 */
void vgpu_engine_release(struct vgpu_engine *engine);
/* Sleeps until the scheduler has given back every workload. Caller holds no lock. */
void vgpu_wait_returned(struct ghyvi_vgpu *vgpu);

/* context.c: all with vgpu->lock held */
struct vgpu_workload *vgpu_workload_alloc(struct vgpu_engine *engine);
void vgpu_workload_free(struct vgpu_workload *workload);
/* Drop what the last run left behind. */
void vgpu_workload_clear(struct vgpu_workload *workload);
/* Synchronise the shadow, read and validate the image. 0 or a negative errno, reported. */
int vgpu_context_load(struct vgpu_workload *workload);
/* Bring the shadow up to date with what the guest wrote since it was loaded. */
void vgpu_context_sync(struct vgpu_workload *workload);
/* In the engine's registers: where it is. */
void vgpu_update_ring_regs(struct vgpu_workload *workload);
/* Write back what the hardware saves when it switches a context out. */
void vgpu_context_save(struct vgpu_workload *workload);
/* The tail in the guest's image; -EFAULT, -EINVAL (not one of @workload's ring). */
int vgpu_context_tail(struct vgpu_workload *workload, u32 *tail);

/* containment.c: with vgpu->lock held, but for the first */
void vgpu_containment_init(struct ghyvi_vgpu *vgpu);
/* A clean slate. */
void vgpu_containment_reset(struct ghyvi_vgpu *vgpu);
/* @workload failed and is no engine's any more: note it, and put the vGPU into failsafe state if that is too much. */
void vgpu_violation(struct vgpu_workload *workload);

/* vgpu.c: with vgpu->lock held */
/* Engine state that the registers show, as after power-on; nothing runs. */
void vgpu_power_on(struct ghyvi_vgpu *vgpu);
/* The GGTT table is where BAR 0 is; the next register access shows that it is mapped there. */
void vgpu_place_ggtt(struct ghyvi_vgpu *vgpu);

/* reset.c */
void vgpu_reset_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_reset_ctl_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);

#endif
