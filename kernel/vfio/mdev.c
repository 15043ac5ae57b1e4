// SPDX-License-Identifier: GPL-2.0-only
/*
 * pGPUs as mdev parents, and creation and removal of vGPUs, through the mdev core.
 */
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <ghyvi/backend.h>
#include <ghyvi/export.h>
#include <ghyvi/sched.h>
#include "kvm/kvm.h"
#include "vgpu/vgpu.h"
#include "device.h"
#include "parent.h"
#include "vfio.h"

static DEFINE_IDA(vgpu_ids);

static bool untracked_ggtt;
module_param(untracked_ggtt, bool, 0444);
MODULE_PARM_DESC(
	untracked_ggtt,
	"compare the whole GGTT at each submission instead of write-protecting it (a baseline for measurements)");

static struct ghyvi_vgpu *create_vgpu(struct ghyvi_device *device)
{
	const struct ghyvi_pgpu *pgpu = device->pgpu;
	const struct ghyvi_vgpu_params params = {
		.profile = device->type->profile,
		.pgpu = pgpu->pgpu,
		.sched = pgpu->sched,
		.hv = ghyvi_kvm_hv(device->gvm),
		.mappable = ghyvi_bar2_range(&device->partition, &pgpu->resources),
		.hidden = ghyvi_partition_hidden(&device->partition, &pgpu->resources),
		.aperture_bytes = pgpu->resources.aperture_bytes,
		.aperture_user = &device->aperture_user,
		.aperture_copied = ghyvi_bar2_copied(&device->partition, &pgpu->resources),
		.ggtt_user = &device->ggtt_user,
		.untracked = !ghyvi_kvm_can_track(),
		.untracked_ggtt = untracked_ggtt,
		.type = device->type->pretty_name,
		.reporter = &device->reporter,
		.stats = &device->stats,
		.event = ghyvi_event,
	};

	return ghyvi_vgpu_create(&params);
}

/* Set up everything except the registration with VFIO. */
static int setup_device(struct ghyvi_device *device, struct mdev_device *mdev)
{
	int err;

	device->pgpu = ghyvi_pgpu_of(mdev->type);
	device->type = ghyvi_type_of(mdev->type);
	device->bar0 = GHYVI_BAR_UNMAPPED;
	mutex_init(&device->lock);
	spin_lock_init(&device->request_lock);
	ghyvi_reporter_init(&device->reporter, mdev_dev(mdev));
	ghyvi_events_init(device);
	ghyvi_bar0_init(device);
	ghyvi_bar2_init(device);
	ghyvi_remap_init(device);
	ghyvi_config_reset(&device->config, device->type->profile,
			   device->pgpu->resources.aperture_bytes);

	err = ghyvi_pgpu_alloc_vgpu(device->pgpu, device->type, &device->partition);
	if (err)
		return err;
	device->id = ida_alloc_min(&vgpu_ids, 1, GFP_KERNEL);
	err = device->id;
	if (err < 0)
		goto give_partition;
	device->gvm = ghyvi_kvm_create(&device->vdev, &device->reporter);
	err = PTR_ERR_OR_ZERO(device->gvm);
	if (err)
		goto free_id;
	device->vgpu = create_vgpu(device);
	err = PTR_ERR_OR_ZERO(device->vgpu);
	if (err)
		goto destroy_kvm;
	ghyvi_pgpu_init_knobs(device->pgpu, device->type, ghyvi_vgpu_sched_entity(device->vgpu));
	ghyvi_unmap_init(&device->unmap, ghyvi_vgpu_gtt(device->vgpu),
			 ghyvi_vgpu_workers(device->vgpu));
	return 0;

destroy_kvm:
	ghyvi_kvm_destroy(device->gvm);
free_id:
	ida_free(&vgpu_ids, device->id);
give_partition:
	ghyvi_pgpu_free_vgpu(device->pgpu, &device->partition);
	return err;
}

static void teardown_device(struct ghyvi_device *device)
{
	ghyvi_unmap_fini(&device->unmap);
	ghyvi_remap_fini(device);
	ghyvi_events_fini(device);
	ghyvi_vgpu_destroy(device->vgpu);
	ghyvi_kvm_destroy(device->gvm);
	ida_free(&vgpu_ids, device->id);
	ghyvi_pgpu_free_vgpu(device->pgpu, &device->partition);
}

static int ghyvi_probe(struct mdev_device *mdev)
{
	struct ghyvi_device *device;
	int err;

	device = vfio_alloc_device(ghyvi_device, vdev, mdev_dev(mdev), &ghyvi_device_ops);
	if (IS_ERR(device))
		return PTR_ERR(device);
	err = setup_device(device, mdev);
	if (err)
		goto put_device;
	ghyvi_migration_init(device);
	dev_set_drvdata(mdev_dev(mdev), device);
	ghyvi_debugfs_add(device);
	err = vfio_register_emulated_iommu_dev(&device->vdev);
	if (err)
		goto teardown;
	return 0;

teardown:
	ghyvi_debugfs_remove(device);
	teardown_device(device);
put_device:
	vfio_put_device(&device->vdev);
	return err;
}

static void ghyvi_remove(struct mdev_device *mdev)
{
	struct ghyvi_device *device = dev_get_drvdata(mdev_dev(mdev));

	vfio_unregister_group_dev(&device->vdev);
	ghyvi_debugfs_remove(device);
	teardown_device(device);
	vfio_put_device(&device->vdev);
}

static struct mdev_driver ghyvi_mdev_driver = {
	.device_api = VFIO_DEVICE_API_PCI_STRING,
	.probe = ghyvi_probe,
	.remove = ghyvi_remove,
	.get_available = ghyvi_type_available,
	.show_description = ghyvi_type_describe,
	.driver = {
		.name = "ghyvi_mdev",
		.owner = THIS_MODULE,
		.mod_name = KBUILD_MODNAME,
		.dev_groups = ghyvi_device_groups,
	},
};

static const unsigned int divisors[] = { 1, 2, 4, 8, 16, 32 };

/* Returns how many types the pGPU offers. */
static unsigned int make_types(struct ghyvi_pgpu *pgpu)
{
	static const struct ghyvi_device_profile *const profiles[] = { &ghyvi_profile_gen9,
								       &ghyvi_profile_gen8 };
	unsigned int i, n = 0;

	BUILD_BUG_ON(ARRAY_SIZE(profiles) * ARRAY_SIZE(divisors) != GHYVI_TYPES);
	for (i = 0; i < GHYVI_TYPES; i++) {
		struct ghyvi_type *type = &pgpu->types[i];

		type->profile = profiles[i / ARRAY_SIZE(divisors)];
		type->divisor = divisors[i % ARRAY_SIZE(divisors)];
		scnprintf(type->sysfs_name, sizeof(type->sysfs_name), "gen%u_%u",
			  ghyvi_profile_gen(type->profile), type->divisor);
		scnprintf(type->pretty_name, sizeof(type->pretty_name), "ghyvi-%s",
			  type->sysfs_name);
		type->mdev.sysfs_name = type->sysfs_name;
		type->mdev.pretty_name = type->pretty_name;
		if (pgpu->resources.gens & BIT(ghyvi_profile_gen(type->profile)))
			pgpu->type_list[n++] = &type->mdev;
	}
	return n;
}

struct ghyvi_pgpu *__ghyvi_pgpu_register(struct module *owner, struct device *parent,
					 struct ghyvi_pgpu_device *device)
{
	struct ghyvi_pgpu *pgpu;
	int err;

	pgpu = kzalloc(sizeof(*pgpu), GFP_KERNEL);
	if (!pgpu)
		return ERR_PTR(-ENOMEM);
	pgpu->dev = parent;
	pgpu->owner = owner;
	pgpu->pgpu = device;
	mutex_init(&pgpu->lock);
	ghyvi_reporter_init(&pgpu->reporter, parent);
	device->ops->resources(device, &pgpu->resources);
	pgpu->used.private_ggtt = pgpu->resources.private_ggtt;
	err = -EINVAL;
	if (!ghyvi_partition_possible(&pgpu->resources) || !pgpu->resources.jobs_per_engine)
		goto free_pgpu;

	pgpu->sched = ghyvi_sched_create(device);
	err = IS_ERR(pgpu->sched) ? PTR_ERR(pgpu->sched) : -ENOMEM;
	if (IS_ERR_OR_NULL(pgpu->sched))
		goto free_pgpu;

	err = ghyvi_pgpu_add_attributes(pgpu);
	if (err)
		goto destroy_sched;
	err = mdev_register_parent(&pgpu->parent, parent, &ghyvi_mdev_driver, pgpu->type_list,
				   make_types(pgpu));
	if (err)
		goto remove_attributes;
	return pgpu;

remove_attributes:
	ghyvi_pgpu_remove_attributes(pgpu);
destroy_sched:
	ghyvi_sched_destroy(pgpu->sched);
free_pgpu:
	kfree(pgpu);
	return ERR_PTR(err);
}
GHYVI_EXPORT(__ghyvi_pgpu_register);

void ghyvi_pgpu_unregister(struct ghyvi_pgpu *pgpu)
{
	mdev_unregister_parent(&pgpu->parent);
	ghyvi_pgpu_remove_attributes(pgpu);
	WARN_ON(pgpu->used.count);
	ghyvi_sched_destroy(pgpu->sched);
	kfree(pgpu);
}
GHYVI_EXPORT(ghyvi_pgpu_unregister);

int ghyvi_vfio_init(void)
{
	int err;

	ghyvi_debugfs_init();
	err = mdev_register_driver(&ghyvi_mdev_driver);
	if (err)
		ghyvi_debugfs_exit();
	return err;
}

void ghyvi_vfio_exit(void)
{
	mdev_unregister_driver(&ghyvi_mdev_driver);
	ghyvi_debugfs_exit();
	ida_destroy(&vgpu_ids);
}
