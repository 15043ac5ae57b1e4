/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private types and functions of the device model, for the files of this folder only.
 */
#ifndef GHYVI_VGPU_TYPES_H
#define GHYVI_VGPU_TYPES_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <ghyvi/commands.h>
#include <ghyvi/gen8_regs.h>
#include "vgpu.h"

/* The reset value of one register. */
struct ghyvi_register_value {
	u32 offset;
	u32 value;
};

/*
 * struct ghyvi_device_profile - the kind of GPU that a guest sees.
 * @context_has_gprs: the context image contains the engine's general purpose registers
 * @values: reset values other than 0 that are specific to this profile; offset 0 ends the list
 */
struct ghyvi_device_profile {
	const char *name; /* short name, for debugfs */
	u16 device_id; /* PCI device ID */
	u8 revision; /* PCI revision ID */
	u8 gen; /* hardware generation, 8 or 9 */
	u32 timestamp_hz; /* frequency of the TIMESTAMP register that the guest driver assumes */
	bool context_has_gprs;
	const struct ghyvi_register_value *values;
	const struct vgpu_display_kind *display; /* kind of its display */
};

/* The reset value of one register, if there is a display, and if there is none. */
struct vgpu_display_value {
	u32 offset;
	u32 on;
	u32 off;
};

/*
 * struct vgpu_display_kind - what differs between the displays of generations.
 * @values: reset values that are specific to this kind; offset 0 ends the list
 * @symbol_khz: returns the rate of symbols on the link of the monitor's port; 0: unknown
 * @get_plane: gets a plane from the registers; any context
 */
struct vgpu_display_kind {
	const struct vgpu_display_value *values;
	u32 flip_done; /* the interrupt of a flip of the first plane */
	u32 crc_source_mask; /* where PIPE_CRC_CTL has the source */
	u32 crc_of_pipe; /* the source that has all planes */
	u32 crc_of_plane[GHYVI_PLANES]; /* the source that has only this plane */
	u32 (*symbol_khz)(struct ghyvi_vgpu *vgpu);
	void (*get_plane)(struct ghyvi_vgpu *vgpu, unsigned int number, struct ghyvi_plane *plane);
};

extern const struct vgpu_display_kind vgpu_display_bdw;
extern const struct vgpu_display_kind vgpu_display_skl;

/* Number of submissions that are remembered for the error state. */
#define VGPU_SUBMISSIONS 16

enum vgpu_submission_status {
	VGPU_SUBMISSION_QUEUED, /* or running */
	VGPU_SUBMISSION_EXTENDED, /* by the next one of the same context: a lite restore */
	VGPU_SUBMISSION_COMPLETE,
	VGPU_SUBMISSION_FAILED,
	VGPU_SUBMISSION_DROPPED, /* by a reset, or a failsafe state */
};

/* struct vgpu_submission - one of the last submissions, as the error state shows it. */
struct vgpu_submission {
	u64 at_ns; /* when its context was loaded, ns of ktime_get_ns() */
	u64 descriptor; /* descriptor of the context */
	u32 tail; /* ring tail, if @loaded */
	bool loaded; /* the context had a valid ring */
	u8 engine; /* enum ghyvi_engine_id */
	u8 status; /* enum vgpu_submission_status */
};

struct vgpu_engine;
struct vgpu_context_handle;
struct vgpu_error_state;

/*
 * struct vgpu_workload - one run of the context in port 0, as passed to the scheduler.
 * @runs_again: the context runs again after the workload, which ends before the guest's tail,
 *	because a lite restore could not move the tail in time, or the auditor split the submission
 * @abandoned: a reset dropped the workload when the pGPU had it. Its completion only accounts a
 *	failure and frees it.
 * @submission: number of its last submission, see vgpu_submission_begin(); 0: it has ended
 * @root: page table tree of the context, with a reference; NULL before the context was loaded, and
 *	when the workload came from another host and did not run here
 * @handle: the backend's state of the context, with a reference; NULL as @root
 *
 * vgpu->lock protects all members but @base.
 */
struct vgpu_workload {
	struct ghyvi_workload base; /* the scheduler's part */
	struct vgpu_engine *engine; /* the engine that it was submitted to */
	u64 descriptor; /* the context descriptor that the guest submitted */
	bool runs_again;
	bool parked; /* withdrawn from the scheduler while the vGPU is paused, to be queued again */
	bool abandoned;
	int error; /* why it could not be prepared, or 0 */
	u64 submission;
	bool loaded; /* @head and @tail are valid */
	u32 head; /* ring head as loaded */
	u32 tail; /* ring tail as loaded, or as last moved by a lite restore */
	u32 control; /* CONTEXT_CONTROL as loaded */
	u32 gprs[2 * CONTEXT_GPRS]; /* general purpose registers as loaded */
	u32 registers[GHYVI_CONTEXT_SLOTS]; /* the context's other registers as loaded, by slot */
	bool registers_new; /* the image does not have their list yet */
	struct ghyvi_root *root;
	struct vgpu_context_handle *handle;
	u32 *context; /* the host's copy of the context's register state, one page */
	u64 backend[]; /* the backend's part of the job, @job_bytes of struct ghyvi_pgpu_ops */
};

/*
 * struct vgpu_engine - execlist state of one engine.
 * @elsp: dwords written to the submit port so far; the fourth one latches the submission
 * @active: elements that were promoted and are not complete; [0] is on the engine or queued for it
 * @workload: workload of active[0], loaded; NULL without one, when @halted, when the vGPU was
 *	paused before the context was loaded, or while @abandoned
 * @spare: a workload object to use next, so that the common case allocates no memory
 * @abandoned: the scheduler has not returned a workload yet that a reset has dropped. No other one
 *	is loaded until then.
 * @slots: offsets of the registers that a context saves, see ghyvi_register_slots(); constant
 *
 * vgpu->lock protects all members that are not constant.
 */
struct vgpu_engine {
	struct ghyvi_vgpu *vgpu; /* the vGPU that it belongs to; constant */
	enum ghyvi_engine_id id; /* engine number; constant */
	u32 base; /* byte offset of the engine's registers in BAR 0; constant */
	u32 elsp[4];
	unsigned int elsp_count; /* number of valid dwords in @elsp, 0..3 */
	u64 active[2];
	unsigned int nr_active; /* number of elements in @active */
	u64 pending[2]; /* elements of a submission that was latched and not promoted yet */
	bool has_pending; /* @pending is valid */
	struct vgpu_workload *workload;
	struct vgpu_workload *spare;
	bool abandoned;
	bool halted; /* stopped by an error; nothing is promoted or completed until a reset */
	u32 csb; /* index of the last context status entry written, 0..GEN8_CSB_ENTRIES - 1 */
	u32 events; /* GHYVI_EVENT_* to raise together, when the state is consistent */
	u64 charged_ns; /* CPU time of the host that was charged as preparation so far */
	u64 unpaid_ns; /* that of completions that is not charged yet, see charge_rest() */
	u32 slots[GHYVI_CONTEXT_SLOTS];
};

/*
 * struct vgpu_fault - a fault of a nested job of one engine; see faults.c
 *
 * vgpu->fault_lock protects all members that are not constant.
 */
struct vgpu_fault {
	struct ghyvi_vgpu *vgpu; /* the vGPU; constant */
	struct work_struct work; /* maps @gfn */
	u64 gfn; /* guest page that the job needs */
	bool wanted; /* the work item has not read @gfn yet */
	bool busy; /* the work item is queued or running */
	int status; /* 0 or the errno of the last page */
};

#define AUX_BYTES 20 /* of the longest message */

/* struct vgpu_monitor - the monitor at the DisplayPort. */
struct vgpu_monitor {
	u8 edid[GHYVI_EDID_BYTES_MAX]; /* its EDID */
	u16 edid_bytes; /* size of @edid, a multiple of GHYVI_EDID_BYTES; not 0 */
	u8 edid_offset; /* offset of the byte of it that is read next, modulo @edid_bytes */
	u8 link[16]; /* DPCD 0x100 to 0x10f, which the guest sets when it trains the link */
	u8 power; /* DPCD 0x600 */
};

/*
 * struct vgpu_display - the display of a vGPU.
 * @edid: of the monitor after a reset; @monitor may have come with another one from another host.
 *	Written under vgpu->lock and vgpu->irq_lock
 * @next: what the planes and the cursor show from the next vertical blank on
 * @shown: what they show in this frame. Only CRCs are of it, so it is not saved: the first one
 *	after a move may be of @next
 * @crc_wanted: the frame that ends when @timer expires has a CRC; valid while @armed
 * @began_ns: in ns of ktime_get_ns(), maybe in the future; valid while @running and not @stopped
 *
 * vgpu->irq_lock protects what has no other lock.
 */
struct vgpu_display {
	bool on; /* the vGPU has one; written under vgpu->lock, while the vGPU is closed */
	bool connected; /* the cable of the monitor is plugged in; written under vgpu->lock */
	unsigned int resolution; /* of the monitor, see ghyvi_display_resolution(); as @on */
	u8 edid[GHYVI_EDID_BYTES_MAX];
	u16 edid_bytes; /* size of @edid; as @edid */
	bool edid_written; /* by user space, instead of that of @resolution; as @on */
	u32 pixels; /* of the largest picture; as @on */
	struct vgpu_monitor monitor; /* what the guest sees; under vgpu->lock */
	struct hrtimer timer; /* expires at the end of a frame */
	bool armed; /* @timer runs */
	u32 armed_frame; /* number of the frame in which it was started */
	u8 pipe; /* the pipe that is on, or was the last one that was; read without the lock */
	bool running; /* the pipe is on */
	bool stopped; /* the vGPU is paused, and time stands still */
	bool flip; /* the first plane has got another surface since the last vertical blank */
	struct ghyvi_picture next;
	struct ghyvi_picture shown;
	bool crc_wanted;
	bool crc_due; /* the guest has not read the CRC of @crc_picture yet */
	u32 crc_number; /* changes with each picture of which a CRC is due */
	struct ghyvi_picture crc_picture; /* what the frame before has shown, without a size */
	u32 frame; /* number of the frame that began at @began_ns, modulo 2^32 */
	u64 began_ns;
	u64 phase_ns; /* age of the frame when the vGPU was paused */
	u64 frame_ns; /* duration of a frame; not 0 while @running */
	u32 lines; /* of a frame, with the vertical blank; as @frame_ns */
	u32 active_lines; /* of a frame, without it; as @frame_ns */
};

/* Maximum number of tracked pages of registers. */
#define VGPU_TRACKED_MAX 32

/*
 * Lock order: live_lock, then vgpu->lock, then one of: the scheduler's locks, gtt->lock, irq_lock.
 * ghyvi_sched_kick() is called without vgpu->lock, because it may call workload_complete().
 */
struct ghyvi_vgpu {
	struct ghyvi_vgpu_params params;
	struct ghyvi_client_owner client_owner;
	struct ghyvi_audit_owner audit_owner;
	struct ghyvi_pgpu_client *client;
	struct ghyvi_gtt *gtt;
	struct ghyvi_audit *audit;
	struct ghyvi_sched_entity *sched_entity;
	u32 timestamp_hz; /* of the pGPU */
	/* Offset of the guest's clock to ktime_get_ns(), modulo 2^64; under lock, read without. */
	u64 clock_offset_ns;
	/*
	 * Register file, indexed by offset / 4. Command streamers access it: READ_ONCE(),
	 * WRITE_ONCE().
	 */
	u32 *registers;
	void *ggtt_table;
	/* Of both in a saved state, and when they were counted; under lock, see count_tables() */
	size_t tables_bytes;
	u64 tables_counted_ns;
	bool check;
	/*
	 * 1: BAR 0 has a new guest-physical address, and no access has proved yet that it is
	 * mapped.
	 */
	int bar_moved;

	u64 bar0; /* guest-physical address of BAR 0, or GHYVI_BAR_UNMAPPED; under lock */
	/*
	 * Pages of class GHYVI_BAR_TRACKED as the guest sees them, see regfile.c: by page number
	 * (NULL for the other pages), and the numbers of those that are not NULL; constant.
	 */
	u32 *shown[GHYVI_REGISTER_PAGES];
	void *shown_memory;
	u16 tracked[VGPU_TRACKED_MAX];
	unsigned int nr_tracked;
	u64 bar0_gfn; /* GHYVI_INVALID_GFN while BAR 0 is unmapped; written under lock */
	bool tracked_protected[VGPU_TRACKED_MAX]; /* by index in tracked[]; under lock */
	/*
	 * The gfn at which the page has lost its protection, for forget_lost(); 0: it has not (the
	 * first page of BAR 0 is not tracked).
	 */
	u64 tracked_lost[VGPU_TRACKED_MAX];
	bool mirror_caught_up; /* no store to the mirror was missed; written under irq_lock */
	struct vgpu_loaded_settings *loaded_settings; /* state.c; the caller serialises accesses */
	bool remap; /* the guest may map registers; written under lock, while it is closed */
	bool multicall; /* offered in PVINFO; written under lock, while it is closed */
	bool clock_used; /* vgpu_show_clock() since the last tick; written under irq_lock */
	/* Serialises replays of missed stores with each other and with resets; taken before lock */
	struct mutex live_lock;

	struct mutex lock; /* protects engines, and registers with side effects */
	bool resetting; /* submissions are held back; under lock */
	bool forgetting; /* as @resetting, and the guest's points are forgotten; under lock */
	bool paused; /* as @resetting, and preempted workloads are parked; under lock */
	bool failsafe; /* written under lock */
	/* It was reset: @failsafe ends with the excess of @violation_points; written under lock */
	bool failsafe_drains;
	struct ghyvi_containment containment; /* this and the next three: under lock */
	u64 points_drained_ns; /* until when @violation_points have drained, ns of ktime_get_ns() */
	u32 violation_points;
	u64 oracle_violations; /* value of the counter when the points were last forgotten */
	struct vgpu_engine engines[GHYVI_ENGINES];
	/* Submission n, from 1 on, is in [n % VGPU_SUBMISSIONS]. This and the next: lock */
	struct vgpu_submission submissions[VGPU_SUBMISSIONS];
	u64 nr_submissions;
	struct vgpu_error_state *error_state; /* of the first error since it was cleared, or NULL */
	u64 nr_errors; /* since then */
	bool errors_with_commands; /* set in debugfs, without a lock */
	struct list_head context_handles; /* under lock; see context_handles.c */
	unsigned int nr_context_handles;

	/* Protects interrupt registers and line. Also taken in hard interrupts. */
	spinlock_t irq_lock;
	bool line;

	/*
	 * Number of workloads that are owned by the scheduler, or in workload_complete(), and of
	 * work items of @faults that are queued or running.
	 */
	atomic_t outstanding;

	struct vgpu_display display;

	spinlock_t fault_lock; /* leaf */
	struct vgpu_fault faults[GHYVI_ENGINES];
	struct workqueue_struct *workers; /* of @faults and of the owner; constant */

	/* For each page of registers: index of its first rule in rules[], and number of rules. */
	u16 rules_first[GHYVI_REGISTER_PAGES];
	u16 rules_count[GHYVI_REGISTER_PAGES];
};

/* Any context. ghyvi_vgpu_is_failsafe() also knows whether the next access will end it. */
static inline bool vgpu_is_failsafe(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->failsafe);
}

/* pages.c */
/* struct vgpu_page_rule - the class of a range of pages of registers. */
struct vgpu_page_rule {
	u32 first; /* offset of the first page */
	u32 last; /* offset of the last page */
	enum ghyvi_bar_class class; /* how the guest accesses them */
	const char *why; /* the reason, for debugfs */
};
/* The rule of the page that contains @offset. */
const struct vgpu_page_rule *vgpu_page_rule(u32 offset);
/* Print the table, and how many pages are protected. Caller holds vgpu->lock. */
void vgpu_pages_dump(struct ghyvi_vgpu *vgpu, struct seq_file *m);

/* regfile.c */
/* Allocate the memory of the tracked pages. Returns 0, -ENOMEM or -EINVAL. */
int vgpu_mirror_create(struct ghyvi_vgpu *vgpu);
void vgpu_mirror_destroy(struct ghyvi_vgpu *vgpu);
/*
 * Value of a register in failsafe state: all ones, as of a device that fell off the bus. Interrupt
 * registers read 0: i915 would take ones for interrupts of engines that it does not have, and the
 * guest kernel would panic.
 */
static inline u32 vgpu_failsafe_value(u32 offset)
{
	return offset >> GHYVI_PAGE_SHIFT == GEN8_MASTER_IRQ >> GHYVI_PAGE_SHIFT ? 0 : ~0u;
}
/* Copy a register of a tracked page to the mirror, after it has changed. Any context but NMI. */
void vgpu_mirror_show(struct ghyvi_vgpu *vgpu, u32 offset);
/* Copy all registers of tracked pages to the mirror. */
void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu);
/* Does the guest see another value, which it has stored? Then this is @value. */
bool vgpu_mirror_missed(struct ghyvi_vgpu *vgpu, u32 offset, u32 *value);
/*
 * While stores may be missed, bits that a store clears are shown as 0. Callers of (vgpu, true) have
 * executed what was missed, and hold live_lock.
 */
void vgpu_mirror_set_caught_up(struct ghyvi_vgpu *vgpu, bool caught_up);
/*
 * Protect the pages that the guest has mapped and that are not protected. Sets @fresh if it
 * protected any. Returns true if all are, or need not be. Caller holds vgpu->lock.
 */
bool vgpu_mirror_protect(struct ghyvi_vgpu *vgpu, bool *fresh);
/*
 * Set the address of the GGTT table from that of BAR 0. The next register access proves that the
 * guest has mapped it. Caller holds vgpu->lock.
 */
void vgpu_place_ggtt(struct ghyvi_vgpu *vgpu);
/* The engines' clock as the guest sees it. */
u64 vgpu_timestamp(struct ghyvi_vgpu *vgpu);
/* Store the engines' timestamps for guests that map them. Caller holds irq_lock. */
void vgpu_show_clock(struct ghyvi_vgpu *vgpu);
/* New value of a masked register after a write of @value. */
u32 vgpu_masked(u32 old, u32 value);
/* The engine whose register page contains @offset. Only for offsets in ENGINE_RULES(). */
static inline struct vgpu_engine *vgpu_engine_at(struct ghyvi_vgpu *vgpu, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES - 1; i++)
		if (offset - vgpu->engines[i].base < ENGINE_REGISTERS_BYTES)
			break;
	return &vgpu->engines[i];
}

static inline u32 vgpu_get(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	return READ_ONCE(vgpu->registers[offset / 4]);
}

static inline void vgpu_set(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	WRITE_ONCE(vgpu->registers[offset / 4], value);
	if (vgpu->shown[offset >> GHYVI_PAGE_SHIFT])
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

/* Return true when the partition of the vGPU contains [address, address + bytes) of the GGTT. */
static inline bool vgpu_owns_ggtt(const struct ghyvi_vgpu *vgpu, u64 address, u64 bytes)
{
	return ghyvi_range_contains_range(&vgpu->params.mappable, address, bytes) ||
	       ghyvi_range_contains_range(&vgpu->params.hidden, address, bytes);
}

/*
 * Charge allocations of the calling thread to the guest's process until vgpu_uncharge(). Needed
 * where a host thread may work on behalf of the guest.
 */
static inline void vgpu_charge(const struct ghyvi_vgpu *vgpu, struct ghyvi_hv_charge *charge)
{
	if (vgpu->params.hv->ops->charge)
		vgpu->params.hv->ops->charge(vgpu->params.hv, charge);
}

static inline void vgpu_uncharge(const struct ghyvi_vgpu *vgpu,
				 const struct ghyvi_hv_charge *charge)
{
	if (vgpu->params.hv->ops->uncharge)
		vgpu->params.hv->ops->uncharge(vgpu->params.hv, charge);
}

/* interrupts.c: these functions take irq_lock */
/* Update the interrupt line after registers were loaded; vgpu_irq_remind() sends the interrupt. */
void vgpu_irq_restore(struct ghyvi_vgpu *vgpu);
void vgpu_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_irq_reset(struct ghyvi_vgpu *vgpu);
/* Send the interrupt again if the line is high: the guest may have missed the last one. */
void vgpu_irq_remind(struct ghyvi_vgpu *vgpu);
/* Raise interrupts of an engine. @events: GHYVI_EVENT_*. Any context but NMI. */
void vgpu_irq_raise(struct vgpu_engine *engine, u32 events);
/* Raise interrupts of the display. @isr: offset of the bank's first register. Context: the same. */
void vgpu_irq_raise_bank(struct ghyvi_vgpu *vgpu, u32 isr, u32 events);

/* monitor.c */
/* Returns what is wrong with an EDID from user space, or NULL. */
const char *vgpu_monitor_check_edid(const u8 *edid, size_t bytes);
/*
 * Set what is behind the DisplayPort from the next reset on. @edid: a valid one; NULL: that of the
 * resolution.
 */
void vgpu_monitor_choose(struct vgpu_display *display, unsigned int resolution, const u8 *edid,
			 size_t bytes);
/* The cable was plugged in: the link is not trained any more. */
void vgpu_monitor_plug(struct vgpu_monitor *monitor);
void vgpu_monitor_reset(struct vgpu_display *display);
/*
 * Send a message of @bytes on the AUX channel. Both buffers have AUX_BYTES. Returns the size of the
 * reply; 0: there is none.
 */
unsigned int vgpu_monitor_transfer(struct vgpu_monitor *monitor, const u8 *message,
				   unsigned int bytes, u8 *reply);

/* display_kinds.c: get a register of the pipe that is the display, by that of pipe A. */
u32 vgpu_pipe_get(const struct ghyvi_vgpu *vgpu, u32 offset);

/* plane.c: parts of a picture, from the registers; any context. @plane: below GHYVI_PLANES */
void vgpu_get_plane(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture, unsigned int plane);
void vgpu_get_cursor(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture);
/* All planes, and the cursor. */
void vgpu_get_planes(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture);
void vgpu_get_size(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture);

/*
 * crc.c: the CRC of a picture. @control: PIPE_CRC_CTL. May sleep. Caller holds no lock, and is a
 * thread of the guest.
 */
u32 vgpu_crc(struct ghyvi_vgpu *vgpu, const struct ghyvi_picture *shown, u32 control);

/* display.c */
void vgpu_display_init(struct ghyvi_vgpu *vgpu);
void vgpu_display_fini(struct ghyvi_vgpu *vgpu);
/* Set the registers of the display to their reset values. Caller holds vgpu->lock. */
void vgpu_display_reset(struct ghyvi_vgpu *vgpu);
void vgpu_display_pause(struct ghyvi_vgpu *vgpu);
/* Also after failsafe state, in which the timer does not run. */
void vgpu_display_resume(struct ghyvi_vgpu *vgpu);
/*
 * Derive from the registers what runs, in a frame that is @phase_ns old. The vGPU is paused. Caller
 * holds irq_lock.
 */
void vgpu_display_restore(struct ghyvi_vgpu *vgpu, u64 phase_ns);
/* Is the page trapped if there is a display? */
bool vgpu_display_has_page(u32 offset);
/* Also without a display: */
void vgpu_display_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_pll_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/* Handlers of registers that are plain storage if there is no display: not called then. */
u32 vgpu_display_pipe_read(struct ghyvi_vgpu *vgpu, u32 offset);
u32 vgpu_display_crc_read(struct ghyvi_vgpu *vgpu, u32 offset);
void vgpu_display_pipe_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_lcpll_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_sbi_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_port_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_pch_aux_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_hotplug_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
void vgpu_display_gmbus_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/* Execute a command of the PCODE mailbox. Returns its status; 0: success. */
u32 vgpu_display_mailbox(struct ghyvi_vgpu *vgpu, u32 command);

/* faults.c */
/* Returns 0 or -ENOMEM. */
int vgpu_faults_init(struct ghyvi_vgpu *vgpu);
/*
 * Wait for workers that have counted themselves out (vgpu_work_put()) and not left the function
 * yet: the module may be unloaded afterwards. No fault is outstanding.
 */
void vgpu_faults_fini(struct ghyvi_vgpu *vgpu);

/* pvinfo.c */
void vgpu_pvinfo_reset(struct ghyvi_vgpu *vgpu);
void vgpu_pvinfo_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);

/* execlist.c */
void vgpu_elsp_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/* Store the registers that show the state of the submit port. Caller holds vgpu->lock. */
void vgpu_update_port_regs(struct vgpu_engine *engine);
void vgpu_csb_pointer_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/*
 * Stop the engine and drop all its submissions, as GDRST does. On return no job of the engine
 * accesses guest memory. Caller holds vgpu->lock.
 */
void vgpu_engine_reset(struct vgpu_engine *engine);
/*
 * Stop the engine in the same way, but keep the execlist state that the guest relies on. An engine
 * that had work stays halted until the guest resets it. Caller holds vgpu->lock.
 */
void vgpu_engine_hold(struct vgpu_engine *engine);
/*
 * Undo vgpu_engine_hold() when the vGPU accepts work again. A halted engine reports an error, so
 * that the guest driver resets it at once; other engines promote pending submissions. Caller holds
 * vgpu->lock, and kicks the scheduler after dropping it.
 */
void vgpu_engine_release(struct vgpu_engine *engine);
/*
 * Stop the engine at its current position, report an error, and keep an error state. Only a reset
 * resumes the engine. @workload: the one that failed, or NULL.
 */
void vgpu_engine_halt(struct vgpu_engine *engine, struct vgpu_workload *workload);
/* A workload for the first active element, or NULL. Caller holds vgpu->lock. */
struct vgpu_workload *vgpu_engine_workload(struct vgpu_engine *engine);
/* It is no engine's workload. Also called without the lock, by ghyvi_vgpu_destroy(). */
void vgpu_workload_free(struct vgpu_workload *workload);
/* Withdraw the engine's workload, or request that it stops. Caller holds vgpu->lock. */
void vgpu_engine_park(struct vgpu_engine *engine);
/* Stop a workload that did not follow vgpu_engine_park() in time. Caller holds vgpu->lock. */
void vgpu_engine_stop(struct vgpu_engine *engine);
/*
 * Undo vgpu_engine_park() when the vGPU is not paused any more. Caller holds vgpu->lock, and kicks
 * the scheduler after dropping it.
 */
void vgpu_engine_unpark(struct vgpu_engine *engine);
/* Count a thread of the host that works for the vGPU: vgpu_wait_returned() waits for it. */
void vgpu_work_get(struct ghyvi_vgpu *vgpu);
/* Its end. The vGPU may be freed as soon as this returns. */
void vgpu_work_put(struct ghyvi_vgpu *vgpu);
/*
 * Sleep until the scheduler has returned every workload, and no page is being mapped for nested
 * jobs. Caller does not hold vgpu->lock.
 */
void vgpu_wait_returned(struct ghyvi_vgpu *vgpu);
/* Do so for at most @us microseconds. Returns false if that was too short. */
bool vgpu_wait_returned_timeout(struct ghyvi_vgpu *vgpu, u32 us);

/* context.c: called with vgpu->lock held */
/*
 * Read the context image, sync the shadow, validate the image and audit the commands. Returns 0 or
 * a negative errno. Every error but -ENOMEM of the auditor has been reported.
 */
int vgpu_context_load(struct vgpu_workload *workload);
/* Sync the shadow with the table entries that the guest wrote since the context was loaded. */
void vgpu_context_sync(struct vgpu_workload *workload);
/* Describe the commands between head and tail of the context's copy. */
void vgpu_context_submission(const struct vgpu_workload *workload,
			     struct ghyvi_submission *submission);
/*
 * Check the descriptor and the copy of the context of a workload whose state was saved, which are
 * not trusted, and set the job up. The page tables are not looked up. Returns false if they are not
 * valid.
 */
bool vgpu_context_restore(struct vgpu_workload *workload);
/* Are ring head and tail of that workload in its audited commands? */
bool vgpu_context_in_commands(const struct vgpu_workload *workload);
/*
 * Look up the page tables of such a workload, unless that was done. Returns 0 or a negative errno,
 * which has been reported.
 */
int vgpu_context_attach(struct vgpu_workload *workload);
/* Show the context's position in the engine's registers. */
void vgpu_update_ring_regs(struct vgpu_workload *workload);
/* Write the state that hardware saves on a context switch back to the guest's image. */
void vgpu_context_save(struct vgpu_workload *workload);
/*
 * Read the ring tail from the guest's image. Returns 0, -EFAULT (the image is not mapped), or
 * -EINVAL (not a valid offset in the ring of @workload).
 */
int vgpu_context_tail(struct vgpu_workload *workload, u32 *tail);

/* context_handles.c: called with vgpu->lock held */
#define VGPU_CONTEXT_HANDLES_MAX 512
/*
 * Give the workload the backend's state of its context, which is created if necessary, unless the
 * backend keeps none. Returns 0 or -ENOMEM, which has been reported.
 */
int vgpu_context_handle_get(struct vgpu_workload *workload);
/* Release what vgpu_context_handle_get() has given, if anything. */
void vgpu_context_handle_put(struct vgpu_workload *workload);
/* Destroy the states of all contexts; that of a workload in progress when it is released. */
void vgpu_context_handles_forget(struct ghyvi_vgpu *vgpu);

/* containment.c: called with vgpu->lock held, unless stated otherwise */
/* Needs no lock. */
void vgpu_containment_init(struct ghyvi_vgpu *vgpu);
/*
 * End failsafe state; with too many points, as soon as they have drained; after an alarm of the
 * isolation oracle, not at all. @forget: at once; a guest must not be able to cause that.
 */
void vgpu_containment_reset(struct ghyvi_vgpu *vgpu, bool forget);
/*
 * Take over the points of a state, which may be any number, and have not drained for @undrained_ns.
 * The limits of the state have been set.
 */
void vgpu_containment_load(struct ghyvi_vgpu *vgpu, u32 points, u64 undrained_ns);
/*
 * Notify the owner of the vGPU that a counter of incidents may have changed. Needs vgpu->lock, or a
 * caller that the vGPU outlives.
 */
void vgpu_event(const struct ghyvi_vgpu *vgpu);
/*
 * Account a failed @workload, which its engine has completed. Returns why the vGPU must enter
 * failsafe state, or NULL.
 */
const char *vgpu_violation(struct vgpu_workload *workload);
/* The same for a @workload that has not failed, but may have yielded its engine too late. */
const char *vgpu_overstay(struct vgpu_workload *workload);
/*
 * To be called after guest memory was pinned without vgpu->lock: in failsafe state, which may have
 * begun meanwhile, none may remain pinned. Caller does not hold vgpu->lock.
 */
void vgpu_unpin_if_failsafe(struct ghyvi_vgpu *vgpu);

/* error_state.c: called with vgpu->lock held */
/* Remember a submission of @workload. */
void vgpu_submission_begin(struct vgpu_workload *workload);
/* Note how its last submission ended, unless that was done. */
void vgpu_submission_end(struct vgpu_workload *workload, enum vgpu_submission_status status);
/*
 * Count an error of @engine, and keep an error state if there is none. @workload: the one that it
 * had, or NULL. @reason: NULL: what ghyvi_report_stop() has reported.
 */
void vgpu_error_keep(struct vgpu_engine *engine, struct vgpu_workload *workload,
		     const char *reason);
/* Forget the submissions: the vGPU gets another user. */
void vgpu_submissions_forget(struct ghyvi_vgpu *vgpu);
/* Count an error, and so on, if the guest resets an engine that works. */
void vgpu_error_reset(struct vgpu_engine *engine);
/* A workload that was dropped has left its engine: add its position to that error state. */
void vgpu_error_stopped(const struct vgpu_workload *workload);

/* mmio.c */
void vgpu_registers_init(struct ghyvi_vgpu *vgpu);
/* The first trapped access after a move of BAR 0 proves that the BAR is mapped. */
void vgpu_bar_is_live(struct ghyvi_vgpu *vgpu);

/* state_tables.c: set whole pages of words to 0; those that are 0 already cost only a read */
void vgpu_table_clear(u64 *table, u32 words);

/* reset.c */
/*
 * Set registers and engines to their power-on state. No workload is outstanding. Caller holds
 * vgpu->lock.
 */
void vgpu_power_on(struct ghyvi_vgpu *vgpu);
void vgpu_reset_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
/*
 * As ghyvi_vgpu_reset(), but the vGPU is paused afterwards. No submission is accepted in between,
 * so the vGPU has no workload. Caller does not hold vgpu->lock.
 */
void vgpu_reset_paused(struct ghyvi_vgpu *vgpu);
/*
 * Is the vGPU in failsafe state? To be called for each access that traps: the first one after the
 * points have drained ends it, if the vGPU was reset. Caller holds neither live_lock nor lock.
 */
bool vgpu_access_is_refused(struct ghyvi_vgpu *vgpu);
void vgpu_reset_ctl_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);

#endif
