// SPDX-License-Identifier: GPL-2.0-only
/* Module glue of ghyvi.ko. pGPU backends are modules of their own. */
#include <linux/module.h>
#include "kvm/kvm.h"
#include "vfio/vfio.h"

static int __init ghyvi_init(void)
{
	if (!ghyvi_kvm_can_track())
		pr_warn("ghyvi: no write tracking (CONFIG_KVM_EXTERNAL_WRITE_TRACKING, write_tracking=0); the policy is relaxed\n");
	return ghyvi_vfio_init();
}

static void __exit ghyvi_exit(void)
{
	ghyvi_vfio_exit();
}

module_init(ghyvi_init);
module_exit(ghyvi_exit);

MODULE_DESCRIPTION("GPU sharing by mediated pass-through with hybrid shadow page tables");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: kvm mdev post: vfio_iommu_type1");
