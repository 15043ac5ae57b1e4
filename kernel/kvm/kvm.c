// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of the tie between a vGPU and its VM, and the interrupt.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <ghyvi/compat.h>
#include "internal.h"

const struct ghyvi_hv_ops ghyvi_kvm_hv_ops = {
	.pin = ghyvi_kvm_pin,
	.unpin = ghyvi_kvm_unpin,
	.memory_generation = ghyvi_kvm_memory_generation,
	.protect = ghyvi_kvm_protect,
	.unprotect = ghyvi_kvm_unprotect,
	.charge = ghyvi_kvm_charge,
	.uncharge = ghyvi_kvm_uncharge,
};

struct ghyvi_kvm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter)
{
	struct ghyvi_kvm *kvm = kzalloc(sizeof(*kvm), GFP_KERNEL);

	if (!kvm)
		return ERR_PTR(-ENOMEM);
	kvm->vdev = vdev;
	kvm->reporter = reporter;
	ghyvi_tracked_init(&kvm->tracked);
	spin_lock_init(&kvm->trigger_lock);
	spin_lock_init(&kvm->vm_lock);
	ratelimit_default_init(&kvm->memlock_resumes);
	ratelimit_set_flags(&kvm->memlock_resumes, RATELIMIT_MSG_ON_RELEASE);
	return kvm;
}

void ghyvi_kvm_destroy(struct ghyvi_kvm *kvm)
{
	WARN_ON(kvm->vm);
	ghyvi_kvm_set_trigger(kvm, NULL);
	ghyvi_tracked_fini(&kvm->tracked);
	kfree(kvm);
}

int ghyvi_kvm_bind(struct ghyvi_kvm *kvm, const struct ghyvi_kvm_events *events, void *owner)
{
	struct kvm *vm = kvm->vdev->kvm;
	int ret;

	if (!vm) {
		ghyvi_report(kvm->reporter,
			     "opened without KVM: the VFIO group must be added to a VM first (QEMU: accel=kvm)");
		return -EOPNOTSUPP;
	}
	kvm->events = events;
	kvm->owner = owner;
	kvm->memlock_until = 0;
	atomic_set(&kvm->strange_pins, 0);
	ret = ghyvi_kvm_track_start(kvm, vm);
	if (ret) {
		ghyvi_report(kvm->reporter, "KVM refused write tracking of this VM's memory (%d%s)", ret,
			     ret == -ESRCH ? ": opened by a process that does not own the VM" : "");
		return ret;
	}
	ghyvi_guard_open(&kvm->guard, vm->mm);
	WRITE_ONCE(kvm->vm, vm);
	return 0;
}

void ghyvi_kvm_unbind(struct ghyvi_kvm *kvm)
{
	ghyvi_guard_close(&kvm->guard);
	ghyvi_kvm_track_stop(kvm);
	kvm->events = NULL;
}

void ghyvi_kvm_set_trigger(struct ghyvi_kvm *kvm, struct eventfd_ctx *trigger)
{
	unsigned long flags;

	spin_lock_irqsave(&kvm->trigger_lock, flags);
	swap(kvm->trigger, trigger);
	spin_unlock_irqrestore(&kvm->trigger_lock, flags);
	if (trigger)
		eventfd_ctx_put(trigger);
}

void ghyvi_kvm_interrupt(void *hv)
{
	struct ghyvi_kvm *kvm = hv;
	unsigned long flags;

	spin_lock_irqsave(&kvm->trigger_lock, flags);
	if (kvm->trigger)
		ghyvi_eventfd_signal(kvm->trigger);
	spin_unlock_irqrestore(&kvm->trigger_lock, flags);
}
