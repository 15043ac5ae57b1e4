/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device model as the guest sees it, without VFIO and KVM: what kernel/vfio drives.
 */
#ifndef GHYVI_VGPU_H
#define GHYVI_VGPU_H

#include <ghyvi/audit.h>
#include <ghyvi/hv.h>
#include <ghyvi/gtt.h>
#include <ghyvi/pgpu.h>
#include <ghyvi/sched.h>

#define GHYVI_BAR0_BYTES (16u << 20)
#define GHYVI_REGISTERS_BYTES (2u << 20)
#define GHYVI_GGTT_OFFSET (8u << 20) /* the GGTT half of BAR0 */
#define GHYVI_GGTT_TABLE_BYTES (8u << 20)
/* The mirror: a page of registers whose reads have no side effects. The guest may read it as memory (the interrupt registers). */
#define GHYVI_MIRROR_OFFSET 0x44000u
#define GHYVI_MIRROR_BYTES GHYVI_PAGE_BYTES

/**
 * struct ghyvi_device_profile - what kind of GPU the guest sees
 * One table in kernel/vgpu/profiles.c; everything that differs between Skylake and Broadwell is in it.
 */
struct ghyvi_device_profile;
extern const struct ghyvi_device_profile ghyvi_profile_gen8; /* 8086:1612 rev 9 */
extern const struct ghyvi_device_profile ghyvi_profile_gen9; /* 8086:1912 rev 6 */
unsigned int ghyvi_profile_gen(const struct ghyvi_device_profile *profile);
u16 ghyvi_profile_device_id(const struct ghyvi_device_profile *profile);
u8 ghyvi_profile_revision(const struct ghyvi_device_profile *profile);

/**
 * struct ghyvi_vgpu_params - copied
 * @pgpu_ops, @pgpu: the backend
 * @sched: the pGPU's scheduler
 * @mappable, @hidden: the vGPU's partition of the global address space (mappable.bytes may be 0)
 * @aperture_bytes: size of BAR 2
 * @untracked_ggtt: see struct ghyvi_gtt_params
 * @interrupt: send the guest its (only) interrupt; any context, not sleeping
 */
struct ghyvi_vgpu_params {
	const struct ghyvi_device_profile *profile;
	const struct ghyvi_pgpu_ops *pgpu_ops;
	void *pgpu;
	struct ghyvi_sched *sched;
	const struct ghyvi_hv_ops *hv_ops;
	void *hv;
	struct ghyvi_range mappable;
	struct ghyvi_range hidden;
	u64 aperture_bytes;
	bool untracked_ggtt;
	u32 id; /* small number, unique on the host */
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
	void (*interrupt)(void *hv);
};

struct ghyvi_vgpu;

struct ghyvi_vgpu *ghyvi_vgpu_create(const struct ghyvi_vgpu_params *params);
/** ghyvi_vgpu_destroy() - ghyvi_vgpu_reset() and free. No other call is under way. */
void ghyvi_vgpu_destroy(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_reset() - device reset (VFIO reset, first open, last close): engines stopped, workloads gone, translation
 * state gone, registers at their reset values, GGTT table zero, failsafe state lifted. Sleeps until
 * the scheduler has given back every workload.
 */
void ghyvi_vgpu_reset(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_restart() - reset from outside under a guest's driver (the `reset` attribute)
 *
 * Engines are stopped and workloads gone. Each engine that had work reports an error, on which a
 * driver resets it by GDRST as after a hang. All translations are made again from the guest's
 * tables; failsafe state is lifted. Registers, interrupts and the GGTT table stay: a driver writes
 * them when it is loaded, and never after a hang.
 * Sleeps as ghyvi_vgpu_reset().
 */
void ghyvi_vgpu_restart(struct ghyvi_vgpu *vgpu);

#define GHYVI_BAR_UNMAPPED (~0ULL)
/**
 * ghyvi_vgpu_set_bar0() - the guest moved BAR 0 to guest-physical @gpa, or GHYVI_BAR_UNMAPPED: memory decoding is off.
 * The next register access afterwards counts as proof that the BAR is mapped there. Ignored in failsafe state.
 */
void ghyvi_vgpu_set_bar0(struct ghyvi_vgpu *vgpu, u64 gpa);

/** ghyvi_vgpu_mirror() - what the registers there read as, always up to date; vmalloc_user() memory for the guest. */
void *ghyvi_vgpu_mirror(struct ghyvi_vgpu *vgpu);
/** ghyvi_vgpu_store() - the guest stored @bytes (any length) of @data at @gpa on a protected page; memory has them. */
void ghyvi_vgpu_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes);
/** ghyvi_vgpu_protection_lost() - the hypervisor dropped protection of these pages (memslot gone). */
void ghyvi_vgpu_protection_lost(struct ghyvi_vgpu *vgpu, u64 gfn, u64 count);

/** ghyvi_access_bytes() - the largest naturally aligned access that begins at @offset: 1, 2, 4 or 8, and not more than @left. */
static inline unsigned int ghyvi_access_bytes(u64 offset, size_t left)
{
	unsigned int bytes = 8;

	while (bytes > left || offset & (bytes - 1))
		bytes /= 2;
	return bytes;
}

/** ghyvi_vgpu_register_read() - @offset < 2 MiB, @bytes 1, 2, 4 or 8, naturally aligned (others are split by the caller). */
u64 ghyvi_vgpu_register_read(struct ghyvi_vgpu *vgpu, u32 offset, unsigned int bytes);
void ghyvi_vgpu_register_write(struct ghyvi_vgpu *vgpu, u32 offset, u64 value, unsigned int bytes);

/** ghyvi_vgpu_aperture_read() - through the GGTT; zero where nothing is mapped. */
void ghyvi_vgpu_aperture_read(struct ghyvi_vgpu *vgpu, u64 offset, void *buffer, size_t bytes);
void ghyvi_vgpu_aperture_write(struct ghyvi_vgpu *vgpu, u64 offset, const void *buffer, size_t bytes);

/** ghyvi_vgpu_ggtt_table() - the table's memory (vmalloc_user, GHYVI_GGTT_TABLE_BYTES), for mmap and trapped access. */
void *ghyvi_vgpu_ggtt_table(struct ghyvi_vgpu *vgpu);
struct ghyvi_gtt *ghyvi_vgpu_mm(struct ghyvi_vgpu *vgpu);
struct ghyvi_audit *ghyvi_vgpu_audit(struct ghyvi_vgpu *vgpu);
struct ghyvi_sched_entity *ghyvi_vgpu_sched_entity(struct ghyvi_vgpu *vgpu);

#define GHYVI_BUDGET_MAX_MS 3600000u
#define GHYVI_POINTS_MAX 1000000u
#define GHYVI_VIOLATION_WINDOW_MIN_MS 100u
#define GHYVI_VIOLATION_WINDOW_MAX_MS 3600000u
#define GHYVI_MALFORMED_POINTS 32u

/**
 * struct ghyvi_containment - when a vGPU loses its workload, and when itself
 * @budget_ms: GPU time that a workload may use; what a submission adds to it has its own. Then it is
 *	stopped with an error. 0..3600000; 0: no limit
 * @points_max: a workload that was stopped with an error counts 1, one whose descriptor, context or ring makes no
 *	sense GHYVI_MALFORMED_POINTS; more than @points_max in @window_ms put the vGPU into failsafe state.
 *	0..1000000; 0: no limit
 * @window_ms: 100..3600000
 */
struct ghyvi_containment {
	u32 budget_ms;
	u32 points_max;
	u32 window_ms;
};

#define GHYVI_CONTAINMENT_DEFAULT { .budget_ms = 60000, .points_max = 256, .window_ms = 60000 }

void ghyvi_vgpu_containment(struct ghyvi_vgpu *vgpu, struct ghyvi_containment *containment);
/** ghyvi_vgpu_set_containment() - at any time, for workloads that start from now on. -EINVAL: one is out of range. */
int ghyvi_vgpu_set_containment(struct ghyvi_vgpu *vgpu, const struct ghyvi_containment *containment);
/**
 * ghyvi_vgpu_failsafe() - the guest broke the rules too often, or an engine was kept from another's memory. Until
 * ghyvi_vgpu_reset() or ghyvi_vgpu_restart(), registers and aperture read as all
 * ones (interrupt registers: 0), writes are dropped, and nothing is pinned or tracked.
 */
bool ghyvi_vgpu_failsafe(const struct ghyvi_vgpu *vgpu);

/** ghyvi_vgpu_set_check() - run the self-check at every submission (slow). */
void ghyvi_vgpu_set_check(struct ghyvi_vgpu *vgpu, bool on);
bool ghyvi_vgpu_check(const struct ghyvi_vgpu *vgpu);

/** ghyvi_vgpu_dump() - debugfs: engines, ports, rings. */
void ghyvi_vgpu_dump(struct ghyvi_vgpu *vgpu, struct seq_file *m);

#endif
