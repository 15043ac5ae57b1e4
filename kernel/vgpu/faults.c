// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of nested jobs: mapping the guest pages that a job needs.
 *
 * Pinning a page waits for the gtt's lock, and for the guest's memory. A program of the user can
 * supply that memory (FUSE, userfaultfd) and take any time, so a thread that vGPUs share must not
 * pin. A work item does, in a workqueue of the vGPU: items that wait in a shared one could use up
 * the number that it runs at a time. The engine waits for it only until the scheduler cancels the
 * job. The work item then goes on, because pinning cannot be interrupted, and a reset waits for its
 * end.
 */
#include <linux/errno.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "vgpu_types.h"

static struct ghyvi_vgpu *vgpu_of(struct ghyvi_client_owner *owner)
{
	return container_of(owner, struct ghyvi_vgpu, client_owner);
}

static int map_page(struct ghyvi_vgpu *vgpu, u64 gfn)
{
	struct ghyvi_hv_charge charge;
	int err;

	vgpu_charge(vgpu, &charge);
	err = ghyvi_gtt_fault(vgpu->gtt, gfn);
	vgpu_unpin_if_failsafe(vgpu); /* which does not wait for this thread */
	vgpu_uncharge(vgpu, &charge);
	return err;
}

static void fault_work(struct work_struct *work)
{
	struct vgpu_fault *fault = container_of(work, struct vgpu_fault, work);
	struct ghyvi_vgpu *vgpu = fault->vgpu;
	u64 gfn;
	int err;

	spin_lock(&vgpu->fault_lock);
	while (fault->wanted) {
		gfn = fault->gfn;
		fault->wanted = false;
		spin_unlock(&vgpu->fault_lock);
		err = map_page(vgpu, gfn);
		spin_lock(&vgpu->fault_lock);
		fault->status = err;
	}
	fault->busy = false;
	spin_unlock(&vgpu->fault_lock);
	wake_up_all(&vgpu->client_owner.faulted);
	vgpu_work_put(vgpu);
}

/* The job holds a reference until it is done, so @outstanding is not 0 here. */
static void guest_fault(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine, u64 gfn)
{
	struct ghyvi_vgpu *vgpu = vgpu_of(owner);
	struct vgpu_fault *fault = &vgpu->faults[engine];
	bool queue;

	spin_lock(&vgpu->fault_lock);
	fault->gfn = gfn;
	fault->wanted = true;
	queue = !fault->busy;
	fault->busy = true;
	spin_unlock(&vgpu->fault_lock);
	if (!queue)
		return;
	vgpu_work_get(vgpu);
	queue_work(vgpu->workers, &fault->work);
}

static int guest_fault_status(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine)
{
	struct ghyvi_vgpu *vgpu = vgpu_of(owner);
	const struct vgpu_fault *fault = &vgpu->faults[engine];
	int status;

	spin_lock(&vgpu->fault_lock);
	status = fault->busy ? -EINPROGRESS : fault->status;
	spin_unlock(&vgpu->fault_lock);
	return status;
}

struct workqueue_struct *ghyvi_vgpu_workers(struct ghyvi_vgpu *vgpu)
{
	return vgpu->workers;
}

int vgpu_faults_init(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	vgpu->workers =
		alloc_workqueue("ghyvi-vgpu", WQ_UNBOUND, GHYVI_ENGINES + GHYVI_VGPU_OWNER_WORKS);
	if (!vgpu->workers)
		return -ENOMEM;
	spin_lock_init(&vgpu->fault_lock);
	init_waitqueue_head(&vgpu->client_owner.faulted);
	vgpu->client_owner.fault = guest_fault;
	vgpu->client_owner.fault_status = guest_fault_status;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		vgpu->faults[i].vgpu = vgpu;
		INIT_WORK(&vgpu->faults[i].work, fault_work);
	}
	return 0;
}

void vgpu_faults_fini(struct ghyvi_vgpu *vgpu)
{
	destroy_workqueue(vgpu->workers);
}
