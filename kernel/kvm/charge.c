// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory cgroup charging: memory that a host thread allocates on behalf of a guest is charged to
 * the memory cgroup of the guest's process.
 */
#include <ghyvi/compat.h>
#if GHYVI_HAVE_ACTIVE_MEMCG
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#endif
#include "internal.h"

#if GHYVI_HAVE_ACTIVE_MEMCG

void ghyvi_kvm_charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	/*
	 * The VM stays bound until ghyvi_kvm_uncharge(): the caller works for a vGPU that is open,
	 * or holds the lock under which it is opened and closed.
	 */
	struct kvm *kvm = READ_ONCE(gvm->kvm);

	charge->group = kvm ? get_mem_cgroup_from_mm(kvm->mm) : NULL;
	charge->before = set_active_memcg(charge->group);
}

void ghyvi_kvm_uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
	set_active_memcg(charge->before);
	mem_cgroup_put(charge->group);
}

#else

void ghyvi_kvm_charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
}

void ghyvi_kvm_uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
}

#endif
