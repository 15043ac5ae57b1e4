// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory cgroup charging: memory that a host thread allocates on behalf of a guest is charged to
 * the memory cgroup of the guest's process.
 */
#include <ghyvi/memcg.h>
#include "internal.h"

void ghyvi_kvm_charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	/*
	 * The VM stays bound until ghyvi_kvm_uncharge(): the caller works for a vGPU that is open,
	 * or holds the lock under which it is opened and closed.
	 */
	struct kvm *kvm = READ_ONCE(gvm->kvm);

	charge->group = kvm ? ghyvi_memcg_get(kvm->mm) : NULL;
	charge->before = ghyvi_memcg_use(charge->group);
}

void ghyvi_kvm_uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
	ghyvi_memcg_use(charge->before);
	ghyvi_memcg_put(charge->group);
}
