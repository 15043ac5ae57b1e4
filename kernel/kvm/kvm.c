// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding of a vGPU to its VM, and the guest's interrupt.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <ghyvi/compat.h>
#include <ghyvi/memcg.h>
#include "internal.h"

static void kvm_interrupt(struct ghyvi_hv *hv)
{
	ghyvi_kvm_interrupt(ghyvi_vm_of(hv));
}

/* What a host thread allocates for a guest is charged to the guest's process. */
static void kvm_charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	/*
	 * The VM stays bound until kvm_uncharge(): the caller works for a vGPU that is open,
	 * or holds the lock under which it is opened and closed.
	 */
	struct kvm *kvm = READ_ONCE(gvm->kvm);

	charge->group = kvm ? ghyvi_memcg_get(kvm->mm) : NULL;
	charge->before = ghyvi_memcg_use(charge->group);
}

static void kvm_uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
	ghyvi_memcg_use(charge->before);
	ghyvi_memcg_put(charge->group);
}

static const struct ghyvi_hv_ops kvm_hv_ops = {
	.pin = ghyvi_kvm_pin,
	.unpin = ghyvi_kvm_unpin,
	.memory_generation = ghyvi_kvm_memory_generation,
	.protect = ghyvi_kvm_protect,
	.unprotect = ghyvi_kvm_unprotect,
	.charge = kvm_charge,
	.uncharge = kvm_uncharge,
	.interrupt = kvm_interrupt,
};

struct ghyvi_vm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter)
{
	struct ghyvi_vm *gvm = kzalloc(sizeof(*gvm), GFP_KERNEL);

	if (!gvm)
		return ERR_PTR(-ENOMEM);
	gvm->base.ops = &kvm_hv_ops;
	gvm->vdev = vdev;
	gvm->reporter = reporter;
	ghyvi_tracked_init(&gvm->tracked);
	spin_lock_init(&gvm->trigger_lock);
	spin_lock_init(&gvm->vm_lock);
	ratelimit_default_init(&gvm->memlock_resumes);
	ratelimit_set_flags(&gvm->memlock_resumes, RATELIMIT_MSG_ON_RELEASE);
	return gvm;
}

struct ghyvi_hv *ghyvi_kvm_hv(struct ghyvi_vm *gvm)
{
	return &gvm->base;
}

void ghyvi_kvm_destroy(struct ghyvi_vm *gvm)
{
	WARN_ON(gvm->kvm);
	ghyvi_kvm_set_trigger(gvm, NULL);
	ghyvi_tracked_fini(&gvm->tracked);
	kfree(gvm);
}

int ghyvi_kvm_bind(struct ghyvi_vm *gvm, struct ghyvi_kvm_events *events)
{
	struct kvm *kvm = gvm->vdev->kvm;
	int err;

	if (!kvm) {
		ghyvi_report(
			gvm->reporter,
			"opened without KVM: the VFIO group must be added to a VM first (QEMU: accel=kvm)");
		return -EOPNOTSUPP;
	}
	gvm->events = events;
	gvm->memlock_until = 0;
	atomic_set(&gvm->strange_pins, 0);
	err = ghyvi_kvm_track_start(gvm, kvm);
	if (err) {
		ghyvi_report(gvm->reporter, "KVM refused write tracking of this VM's memory (%d%s)",
			     err,
			     err == -ESRCH ? ": opened by a process that does not own the VM" : "");
		return err;
	}
	ghyvi_guard_open(&gvm->guard, kvm->mm);
	WRITE_ONCE(gvm->kvm, kvm);
	return 0;
}

void ghyvi_kvm_refuse_pins(struct ghyvi_vm *gvm)
{
	ghyvi_guard_close(&gvm->guard);
}

void ghyvi_kvm_unbind(struct ghyvi_vm *gvm)
{
	ghyvi_kvm_track_stop(gvm);
	gvm->events = NULL;
}

void ghyvi_kvm_set_trigger(struct ghyvi_vm *gvm, struct eventfd_ctx *trigger)
{
	unsigned long flags;

	spin_lock_irqsave(&gvm->trigger_lock, flags);
	swap(gvm->trigger, trigger);
	spin_unlock_irqrestore(&gvm->trigger_lock, flags);
	if (trigger)
		eventfd_ctx_put(trigger);
}

void ghyvi_kvm_interrupt(struct ghyvi_vm *gvm)
{
	unsigned long flags;

	spin_lock_irqsave(&gvm->trigger_lock, flags);
	if (gvm->trigger)
		ghyvi_eventfd_signal(gvm->trigger);
	spin_unlock_irqrestore(&gvm->trigger_lock, flags);
}
