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

/**
 * struct ghyvi_vm - a vGPU's tie to its VM
 * @kvm: the VM while bound, with a reference; written by bind and unbind only, cleared under @vm_lock
 * @events, @owner: valid while bound
 * @node: in the VM's list of page trackers while bound
 * @tracked: the pages that we have KVM track, so that KVM's counts stay balanced, and other
 *	trackers' stores are told apart without a lock
 * @trigger: protected by @trigger_lock
 * @guard: refuses pins of memory that is being taken away
 * @strange_pins: pages in a row that VFIO could pin, and for which KVM has no memory
 * @memlock_until: no pin is tried before this moment (jiffies), 0 for none; protected by @vm_lock
 * @memlock_resumes: how often it may be earlier, because something was unpinned: each time may cost a line in the log
 */
struct ghyvi_vm {
	struct vfio_device *vdev;
	struct ghyvi_reporter *reporter;
	struct kvm *kvm;
	const struct ghyvi_kvm_events *events;
	void *owner;
	struct kvm_page_track_notifier_node node;
	struct ghyvi_tracked tracked;
	spinlock_t trigger_lock;
	struct eventfd_ctx *trigger;
	spinlock_t vm_lock;
	struct ghyvi_guard guard;
	atomic_t strange_pins;
	unsigned long memlock_until;
	struct ratelimit_state memlock_resumes;
};

/* memory.c */
int ghyvi_kvm_pin(void *hv, u64 gfn, u64 *bus);
void ghyvi_kvm_unpin(void *hv, u64 gfn);
u64 ghyvi_kvm_memory_generation(void *hv);

/* charge.c */
void ghyvi_kvm_charge(void *hv, struct ghyvi_hv_charge *charge);
void ghyvi_kvm_uncharge(void *hv, const struct ghyvi_hv_charge *charge);

/* write_track.c */
int ghyvi_kvm_track_start(struct ghyvi_vm *gvm, struct kvm *kvm);
void ghyvi_kvm_track_stop(struct ghyvi_vm *gvm);
unsigned int ghyvi_kvm_protect(void *hv, const u64 *gfns, unsigned int count);
void ghyvi_kvm_unprotect(void *hv, const u64 *gfns, unsigned int count);

#endif
