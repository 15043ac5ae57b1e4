/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypervisor interface. The core reaches guest memory and write protection only through this table,
 * so that it also runs in user space, where a test acts as the hypervisor.
 */
#ifndef GHYVI_HV_H
#define GHYVI_HV_H

#include <ghyvi/types.h>

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
 * The first argument of each operation is the opaque pointer that was passed together with the
 * table. Operations may sleep and must not call back into the core.
 */
struct ghyvi_hv_ops {
	/**
	 * @pin: Pin guest page @gfn for reading and writing by the pGPU until @unpin, and store its
	 * bus address in @bus (page aligned; phys_to_virt() gives the kernel's mapping). Pins are
	 * counted. Returns 0, or a negative errno: %-EFAULT if the page is not guest memory, which
	 * remains so until @memory_generation changes; %-ENOMEM if RLIMIT_MEMLOCK is reached. Any
	 * other error may pass: %-EAGAIN (the page is being removed from the guest), %-EINTR (the
	 * calling thread is being killed), %-EPERM (not mapped for writing), and more.
	 */
	int (*pin)(void *hv, u64 gfn, u64 *bus);
	/** @unpin: Release one pin of @gfn. */
	void (*unpin)(void *hv, u64 gfn);
	/**
	 * @memory_generation: Returns a number that changes whenever memory is added to the guest.
	 * Until then it is no use to retry a pin that failed with %-EFAULT.
	 */
	u64 (*memory_generation)(void *hv);
	/**
	 * @protect: Write-protect the @count guest pages in @gfns: from now on every guest store to
	 * one of them is reported through ghyvi_gtt_trap() (for pages of the gtt). Returns the
	 * number of pages that are protected now, counted from the first. The next page, if there
	 * is one, is not guest memory (yet), or tracking is not available.
	 */
	unsigned int (*protect)(void *hv, const u64 *gfns, unsigned int count);
	/**
	 * @unprotect: Remove the protection of the @count guest pages in @gfns. Pages that are not
	 * protected are ignored.
	 */
	void (*unprotect)(void *hv, const u64 *gfns, unsigned int count);
	/**
	 * @charge: Until @uncharge, charge the calling thread's allocations with GFP_KERNEL_ACCOUNT
	 * to the guest's memory cgroup, even in a kernel thread. Calls nest. Optional: @charge and
	 * @uncharge are both set or both NULL.
	 */
	void (*charge)(void *hv, struct ghyvi_hv_charge *charge);
	/** @uncharge: End the effect of the @charge call that filled its argument. */
	void (*uncharge)(void *hv, const struct ghyvi_hv_charge *charge);
};

#endif
