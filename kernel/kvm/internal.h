/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_KVM_INTERNAL_H
#define GHYVI_KVM_INTERNAL_H

#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/vfio.h>
#include "guard.h"
#include "kvm.h"
#include "page_track.h"
#include "tracked.h"

/*
 * struct ghyvi_vm - the binding of a vGPU to its VM.
 * @kvm: the VM while bound, with a reference. Written only by bind and unbind; cleared under
 *	@vm_lock.
 * @node: in the VM's list of page trackers while bound
 * @tracked: pages for which this vGPU uses KVM's write tracking. Keeps KVM's counts balanced, and
 *	tells stores to these pages from those to pages of other trackers without a lock.
 * @guard: refuses pins of memory that is being unmapped, and of a vGPU that is being closed
 * @strange_pins: number of consecutive pages that VFIO pinned, but for which KVM has no memory slot
 * @memlock_until: no pin is tried before this time (jiffies); 0: no limit. Also read without the
 *	lock.
 * @memlock_resumes: limits how often an unpin may end that pause early, because each pin that fails
 *	then may write a line to the log
 */
struct ghyvi_vm {
	struct ghyvi_hv base; /* the hypervisor as the core sees it */
	struct vfio_device *vdev; /* VFIO device of the vGPU */
	struct ghyvi_reporter *reporter; /* target of messages about the guest */
	struct kvm *kvm;
	struct ghyvi_kvm_events *events; /* callbacks; valid while bound */
	struct kvm_page_track_notifier_node node;
	struct ghyvi_tracked tracked;
	spinlock_t trigger_lock; /* protects @trigger; irq-safe */
	struct eventfd_ctx *trigger; /* eventfd of the guest's interrupt, or NULL */
	spinlock_t vm_lock; /* protects clearing of @kvm, and @memlock_until */
	struct ghyvi_guard guard;
	atomic_t strange_pins;
	unsigned long memlock_until;
	struct ratelimit_state memlock_resumes;
};

static inline struct ghyvi_vm *ghyvi_vm_of(struct ghyvi_hv *hv)
{
	return container_of(hv, struct ghyvi_vm, base);
}

/* memory.c: operations of struct ghyvi_hv_ops */
int ghyvi_kvm_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa);
void ghyvi_kvm_unpin(struct ghyvi_hv *hv, u64 gfn);
u64 ghyvi_kvm_memory_generation(struct ghyvi_hv *hv);

/* write_track.c */
/*
 * Register with @kvm and take a reference on it. Returns 0, -ESRCH or -EOPNOTSUPP; see
 * ghyvi_kvm_bind().
 */
int ghyvi_kvm_track_start(struct ghyvi_vm *gvm, struct kvm *kvm);
/* Untrack all pages, unregister, and drop the reference. Waits for callbacks in progress. */
void ghyvi_kvm_track_stop(struct ghyvi_vm *gvm);
/* Operations of struct ghyvi_hv_ops. */
unsigned int ghyvi_kvm_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count);
void ghyvi_kvm_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count);

#endif
