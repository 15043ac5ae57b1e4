/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypervisor seam on KVM and VFIO: guest memory through VFIO, write protection through KVM page tracking,
 * the interrupt through an eventfd. No other folder knows KVM's structures.
 */
#ifndef GHYVI_KVM_H
#define GHYVI_KVM_H

#include <ghyvi/hv.h>
#include <ghyvi/report.h>

struct eventfd_ctx;
struct ghyvi_kvm;
struct vfio_device;

/**
 * struct ghyvi_kvm_events - what KVM tells of protected pages, on any of the VM's threads; both may sleep
 * @store: the guest stored @bytes (any length) of @data at @gpa; memory has them. kvm->srcu is held.
 * @lost: these pages are protected no longer: their memory slot goes away. kvm->slots_lock is held.
 */
struct ghyvi_kvm_events {
	void (*store)(void *owner, u64 gpa, const void *data, unsigned int bytes);
	void (*lost)(void *owner, u64 gfn, u64 count);
};

extern const struct ghyvi_hv_ops ghyvi_kvm_hv_ops; /* first argument: struct ghyvi_kvm */

/** ghyvi_kvm_can_track() - false where the kernel is built without page tracking for modules. */
bool ghyvi_kvm_can_track(void);

/**
 * ghyvi_kvm_create() - unbound: no guest memory, nothing can be pinned or protected.
 * ERR_PTR(-ENOMEM) on failure.
 */
struct ghyvi_kvm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter);
void ghyvi_kvm_destroy(struct ghyvi_kvm *kvm);

/**
 * ghyvi_kvm_bind() - join the VM that opens the device (vdev->kvm); from now on @events are for @owner.
 * Returns 0; -EOPNOTSUPP (opened without KVM, or a VM that cannot be tracked); -ESRCH (another process's VM).
 * Failures are reported. Called from .open_device.
 */
int ghyvi_kvm_bind(struct ghyvi_kvm *kvm, const struct ghyvi_kvm_events *events, void *owner);
/** ghyvi_kvm_unbind() - leave it. The owner has been reset; what is still protected is unprotected (a bug, reported). */
void ghyvi_kvm_unbind(struct ghyvi_kvm *kvm);

/** ghyvi_kvm_unmapping(), ghyvi_kvm_unmapped() - VFIO takes guest pages away: to be called around ghyvi_mm_unmap(). */
void ghyvi_kvm_unmapping(struct ghyvi_kvm *kvm, u64 gfn, u64 count);
void ghyvi_kvm_unmapped(struct ghyvi_kvm *kvm);

/** ghyvi_kvm_set_trigger() - where interrupts go; NULL for nowhere. Takes over @trigger, drops the former one. */
void ghyvi_kvm_set_trigger(struct ghyvi_kvm *kvm, struct eventfd_ctx *trigger);
/** ghyvi_kvm_interrupt() - send the guest its interrupt. Any context but NMI. @hv: struct ghyvi_kvm */
void ghyvi_kvm_interrupt(void *hv);

#endif
