/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypervisor interface. The core reaches guest memory and write protection only through this table,
 * so that it also runs in user space, where a test acts as the hypervisor.
 */
#ifndef GHYVI_HV_H
#define GHYVI_HV_H

#include <ghyvi/types.h>

struct ghyvi_hv_ops;

/**
 * struct ghyvi_hv - the hypervisor of one guest as the core sees it
 *
 * The implementation embeds it in a structure of its own.
 */
struct ghyvi_hv {
	/** @ops: operations of the hypervisor */
	const struct ghyvi_hv_ops *ops;
};

/**
 * struct ghyvi_hv_charge - state that ghyvi_hv_ops.charge saves for ghyvi_hv_ops.uncharge
 */
struct ghyvi_hv_charge {
	/** @group: the memory cgroup that allocations are charged to, with a reference */
	void *group;
	/** @before: the memory cgroup that they were charged to before */
	void *before;
};

/**
 * struct ghyvi_hv_ops - operations that the core needs from a hypervisor
 *
 * Operations may sleep, unless stated otherwise, and must not call back into the core.
 */
struct ghyvi_hv_ops {
	/**
	 * @pin: Pin guest page @gfn for reading and writing by the pGPU until @unpin, and store its
	 * host-physical address in @hpa (page aligned; phys_to_virt() gives the kernel's mapping;
	 * @map_page of struct ghyvi_pgpu_ops gives the address for engines). Pins are
	 * counted. Returns 0, or a negative errno: %-EFAULT if the page is not guest memory, which
	 * remains so until @memory_generation changes; %-ENOMEM if RLIMIT_MEMLOCK is reached. Any
	 * other error may pass. Among them are %-EAGAIN (the page is being removed from the guest),
	 * %-EINTR (the calling thread is being killed) and %-EPERM (not mapped for writing).
	 */
	int (*pin)(struct ghyvi_hv *hv, u64 gfn, u64 *hpa);
	/** @unpin: Release one pin of @gfn. */
	void (*unpin)(struct ghyvi_hv *hv, u64 gfn);
	/**
	 * @memory_generation: Returns a number that changes whenever memory is added to the guest.
	 * Until then it is no use to retry a pin that failed with %-EFAULT.
	 */
	u64 (*memory_generation)(struct ghyvi_hv *hv);
	/**
	 * @protect: Write-protect the @count guest pages in @gfns: from now on every guest store to
	 * one of them is reported through ghyvi_gtt_trap() (for pages of the gtt). Returns the
	 * number of pages that are protected now, counted from the first. The next page, if there
	 * is one, is not guest memory (yet), or tracking is not available.
	 */
	unsigned int (*protect)(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count);
	/**
	 * @unprotect: Remove the protection of the @count guest pages in @gfns. Pages that are not
	 * protected are ignored.
	 */
	void (*unprotect)(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count);
	/**
	 * @charge: Until @uncharge, charge the calling thread's allocations with GFP_KERNEL_ACCOUNT
	 * to the guest's memory cgroup, even in a kernel thread. Calls nest. Optional: @charge and
	 * @uncharge are both set or both NULL.
	 */
	void (*charge)(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge);
	/** @uncharge: End the effect of the @charge call that filled its argument. */
	void (*uncharge)(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge);
	/**
	 * @interrupt: Send the guest the only interrupt of its vGPU. Called in any context but NMI;
	 * must not sleep.
	 */
	void (*interrupt)(struct ghyvi_hv *hv);
};

#endif
