/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypervisor seam on KVM and VFIO: guest memory through VFIO, write protection through KVM page
 * tracking, the interrupt through an eventfd. No other folder knows KVM's structures.
 */
#ifndef GHYVI_KVM_H
#define GHYVI_KVM_H

#include <ghyvi/hv.h>
#include <ghyvi/report.h>

struct eventfd_ctx;
struct ghyvi_vm;
struct vfio_device;

/**
 * struct ghyvi_kvm_events - what KVM tells of protected pages, on any of the VM's threads; both may
 * sleep
 * @store: the guest stored @bytes (any length) of @data at @gpa; memory has them. kvm->srcu is
 *	held.
 * @lost: these pages are protected no longer: their memory slot goes away. kvm->slots_lock is held.
 */
struct ghyvi_kvm_events {
	void (*store)(void *owner, u64 gpa, const void *data, unsigned int bytes);
	void (*lost)(void *owner, u64 gfn, u64 count);
};

extern const struct ghyvi_hv_ops ghyvi_kvm_hv_ops; /* first argument: struct ghyvi_vm */

/** ghyvi_kvm_can_track() - false where the kernel is built without page tracking for modules. */
bool ghyvi_kvm_can_track(void);

/**
 * ghyvi_kvm_create() - unbound: no guest memory, nothing can be pinned or protected.
 * ERR_PTR(-ENOMEM) on failure.
 */
struct ghyvi_vm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter);
void ghyvi_kvm_destroy(struct ghyvi_vm *gvm);

/**
 * ghyvi_kvm_bind() - join the VM that opens the device (vdev->kvm); from now on @events are for
 * @owner. Returns 0; -EOPNOTSUPP (opened without KVM, or a VM that cannot be tracked); -ESRCH
 * (another process's VM). Failures are reported. Called from .open_device.
 */
int ghyvi_kvm_bind(struct ghyvi_vm *gvm, const struct ghyvi_kvm_events *events, void *owner);
/** ghyvi_kvm_unbind() - leave it. The owner has been reset; what is still protected is unprotected (a bug, reported). */
void ghyvi_kvm_unbind(struct ghyvi_vm *gvm);

/**
 * ghyvi_kvm_unmapping() - vfio_iommu_type1 takes guest pages away: to be called before
 * ghyvi_gtt_unmap().
 * @gvm: of the vGPU that is asked
 * @gfn: first page
 * @count: number of pages
 *
 * Pins of these pages fail with -EAGAIN until the system call that the calling thread is in has
 * returned (guard.c).
 *
 * Context: may sleep.
 */
void ghyvi_kvm_unmapping(struct ghyvi_vm *gvm, u64 gfn, u64 count);
/**
 * ghyvi_kvm_may_give_up() - may the caller return from .dma_unmap() with pages still pinned, and be
 * asked again? True a few times in each system call, over all vGPUs. Only after
 * ghyvi_kvm_unmapping() in the same system call.
 */
bool ghyvi_kvm_may_give_up(void);

/** ghyvi_kvm_set_trigger() - where interrupts go; NULL for nowhere. Takes over @trigger, drops the former one. */
void ghyvi_kvm_set_trigger(struct ghyvi_vm *gvm, struct eventfd_ctx *trigger);
/** ghyvi_kvm_interrupt() - send the guest its interrupt. Any context but NMI. @hv: struct ghyvi_vm */
void ghyvi_kvm_interrupt(void *hv);

#endif
