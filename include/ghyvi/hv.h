/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seam 1: the hypervisor. The core reaches guest memory and write protection only through here,
 * so that it also runs in user space, where a test plays the hypervisor.
 */
#ifndef GHYVI_HV_H
#define GHYVI_HV_H

#include <ghyvi/types.h>

/**
 * struct ghyvi_hv_charge - what @uncharge needs
 * @group: the memory cgroup that allocations are charged to, with a reference
 * @before: the one that they were charged to before
 */
struct ghyvi_hv_charge {
	void *group;
	void *before;
};

/**
 * struct ghyvi_hv_ops - what the core asks of a hypervisor
 *
 * Every function takes the opaque pointer that was handed over together with the table.
 * All may sleep and none may call back into the core.
 */
struct ghyvi_hv_ops {
	/**
	 * @pin: pin the guest page @gfn for reading and writing by the pGPU until @unpin and store
	 * its host bus address (page aligned; phys_to_virt() gives the kernel's view) in @bus.
	 * Pinning is counted. Returns 0; -EFAULT: not guest memory until @memory_generation
	 * changes; -ENOMEM: RLIMIT_MEMLOCK reached; another error: not now, for a reason that
	 * passes (-EAGAIN: the page is being taken away from the guest, -EINTR: the calling thread
	 * is being killed, -EPERM: not mapped for writing, and more).
	 */
	int (*pin)(void *hv, u64 gfn, u64 *bus);
	/** @unpin: give back one pin of @gfn. */
	void (*unpin)(void *hv, u64 gfn);
	/**
	 * @memory_generation: a number that changes whenever memory is given to the guest: a page that could not be pinned
	 * with -EFAULT is not worth another try before.
	 */
	u64 (*memory_generation)(void *hv);
	/**
	 * @protect: from now on every guest store to one of the @count pages in @gfns is reported
	 * through ghyvi_gtt_trap() (for pages of the mm). Returns how many, from the first on, are protected now; the page
	 * after those is not (yet) guest memory or tracking is not available.
	 */
	unsigned int (*protect)(void *hv, const u64 *gfns, unsigned int count);
	/** @unprotect: stop reporting. Pages that are not protected are ignored. */
	void (*unprotect)(void *hv, const u64 *gfns, unsigned int count);
	/**
	 * @charge: until @uncharge, what the calling thread allocates with GFP_KERNEL_ACCOUNT is
	 * charged to the guest's memory cgroup, also in a thread of the host. Optional, both or
	 * none. They nest.
	 */
	void (*charge)(void *hv, struct ghyvi_hv_charge *charge);
	void (*uncharge)(void *hv, const struct ghyvi_hv_charge *charge);
};

#endif
