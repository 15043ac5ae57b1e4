/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypervisor interface, implemented on KVM and VFIO. Guest memory is accessed through VFIO,
 * write protection uses KVM page tracking, and the interrupt is an eventfd. No other folder uses
 * KVM's structures.
 */
#ifndef GHYVI_KVM_H
#define GHYVI_KVM_H

#include <ghyvi/hv.h>
#include <ghyvi/report.h>

struct eventfd_ctx;
struct ghyvi_vm;
struct vfio_device;

/**
 * struct ghyvi_kvm_events - callbacks for events of protected pages; the owner of a vGPU embeds it
 *	in a structure of its own.
 * @store: the guest stored @bytes (any length) of @data at @gpa; guest memory already contains
 *	them. Called with kvm->srcu held for reading.
 * @lost: KVM no longer tracks these pages, because their memory slot is removed. Called with
 *	kvm->slots_lock held.
 *
 * Called on any thread of the VM's process. Both may sleep.
 */
struct ghyvi_kvm_events {
	void (*store)(struct ghyvi_kvm_events *events, u64 gpa, const void *data,
		      unsigned int bytes);
	void (*lost)(struct ghyvi_kvm_events *events, u64 gfn, u64 count);
};

/**
 * ghyvi_kvm_can_track() - test whether the kernel offers page tracking to modules.
 *
 * Return: false if it was built without.
 */
bool ghyvi_kvm_can_track(void);

/**
 * ghyvi_kvm_create() - create an unbound hypervisor handle of a vGPU.
 * @vdev: VFIO device of the vGPU
 * @reporter: target of messages about the guest
 *
 * While unbound there is no guest memory, so pages can be neither pinned nor protected.
 *
 * Context: may sleep.
 * Return: the handle, or ERR_PTR(-ENOMEM).
 */
struct ghyvi_vm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter);
/**
 * ghyvi_kvm_hv() - get the hypervisor of a vGPU as the core sees it.
 * @gvm: handle of the vGPU
 *
 * Context: any.
 * Return: the hypervisor, which lives as long as @gvm.
 */
struct ghyvi_hv *ghyvi_kvm_hv(struct ghyvi_vm *gvm);
/**
 * ghyvi_kvm_destroy() - free a handle.
 * @gvm: unbound handle
 *
 * Context: may sleep.
 */
void ghyvi_kvm_destroy(struct ghyvi_vm *gvm);

/**
 * ghyvi_kvm_bind() - bind a vGPU to the VM that opens its device (vdev->kvm).
 * @gvm: unbound handle
 * @events: callbacks, called from now on
 *
 * A failure is reported to the reporter of @gvm.
 *
 * Context: may sleep; called from .open_device.
 * Return: 0; -EOPNOTSUPP (opened without KVM, or KVM cannot track this VM's memory); -ESRCH (the VM
 * belongs to another process).
 */
int ghyvi_kvm_bind(struct ghyvi_vm *gvm, struct ghyvi_kvm_events *events);
/**
 * ghyvi_kvm_refuse_pins() - let no page of the guest be pinned until the vGPU is bound again.
 * @gvm: bound handle
 *
 * Must be called before the owner is reset for ghyvi_kvm_unbind(). A callback or a store that is
 * late could else pin pages that nothing unpins: VFIO finds them when the user unmaps its memory,
 * and has no device left to ask for them.
 *
 * Context: process context.
 */
void ghyvi_kvm_refuse_pins(struct ghyvi_vm *gvm);
/**
 * ghyvi_kvm_unbind() - unbind a vGPU from its VM.
 * @gvm: bound handle, whose owner has been reset
 *
 * Pages that are still protected are a bug. They are reported and unprotected.
 *
 * Context: may sleep; waits for callbacks in progress, so the caller holds no lock that @store or
 * @lost of struct ghyvi_kvm_events take.
 */
void ghyvi_kvm_unbind(struct ghyvi_vm *gvm);

/**
 * ghyvi_kvm_unmapping() - refuse pins of guest pages that vfio_iommu_type1 unmaps.
 * @gvm: handle of the notified vGPU
 * @gfn: first page
 * @count: number of pages
 *
 * Must be called before ghyvi_gtt_unmap(). Pins of these pages fail with -EAGAIN until the system
 * call that the calling thread is in has returned (see guard.c).
 *
 * Context: may sleep.
 */
void ghyvi_kvm_unmapping(struct ghyvi_vm *gvm, u64 gfn, u64 count);
/**
 * ghyvi_kvm_may_give_up() - test whether .dma_unmap() may return with pages still pinned.
 *
 * vfio_iommu_type1 then repeats the call. Allowed only after ghyvi_kvm_unmapping() in the same
 * system call.
 *
 * Context: process context; takes a spinlock.
 * Return: true a limited number of times per system call, over all vGPUs.
 */
bool ghyvi_kvm_may_give_up(void);

/**
 * ghyvi_kvm_set_trigger() - set the eventfd that is signalled for an interrupt.
 * @gvm: handle of the vGPU
 * @trigger: eventfd, whose reference is taken over; NULL to drop interrupts
 *
 * Puts the reference of the previous eventfd.
 *
 * Context: any but NMI.
 */
void ghyvi_kvm_set_trigger(struct ghyvi_vm *gvm, struct eventfd_ctx *trigger);
/**
 * ghyvi_kvm_interrupt() - send the guest its interrupt.
 * @gvm: handle of the vGPU
 *
 * Context: any but NMI.
 */
void ghyvi_kvm_interrupt(struct ghyvi_vm *gvm);

#endif
