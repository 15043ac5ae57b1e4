// SPDX-License-Identifier: GPL-2.0-only
/* Module glue of ghyvi.ko. pGPU backends are modules of their own. */
#include <linux/module.h>
#include <linux/preempt.h>
#include "kvm/kvm.h"
#include "vfio/vfio.h"

static int __init ghyvi_init(void)
{
	int err;

	if (!ghyvi_kvm_can_track())
		pr_warn("ghyvi: no write tracking (CONFIG_KVM_EXTERNAL_WRITE_TRACKING, write_tracking=0); the policy is relaxed\n");
	preempt_notifier_inc(); /* for ghyvi_cpu_time_begin() */
	err = ghyvi_vfio_init();
	if (err)
		preempt_notifier_dec();
	return err;
}

static void __exit ghyvi_exit(void)
{
	ghyvi_vfio_exit();
	preempt_notifier_dec();
}

module_init(ghyvi_init);
module_exit(ghyvi_exit);

MODULE_DESCRIPTION("GPU sharing by mediated pass-through with hybrid shadow page tables");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: kvm mdev post: vfio_iommu_type1");
