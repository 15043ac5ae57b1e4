// SPDX-License-Identifier: GPL-2.0-only
/* Creation and removal of a vGPU by the mdev core, and each failure of the creation. */
#include "vgpu_fake.h"

/* functions of the kernel */

#include <linux/mdev.h>

#define KBUILD_MODNAME "ghyvi"
#define module_param(name, type, mode) extern int vfio_create_unused
#define MODULE_PARM_DESC(name, text) extern int vfio_create_unused
#define DEFINE_IDA(name) unsigned int name
#define ida_alloc_min(ida, least, flags) \
	(shim_alloc_fails(flags) ? -ENOMEM : (int)(++*(ida) + (least)-1))
#define ida_free(ida, id) ((void)--*(ida))
#define ida_destroy(ida) ((void)(ida))

struct mdev_device {
	struct device dev;
	struct mdev_type *type;
	void *drvdata;
};
#define mdev_dev(mdev) (&(mdev)->dev)
#define dev_set_drvdata(d, data) (container_of(d, struct mdev_device, dev)->drvdata = (data))
#define dev_get_drvdata(d) (container_of(d, struct mdev_device, dev)->drvdata)

struct mdev_driver {
	const char *device_api;
	int (*probe)(struct mdev_device *mdev);
	void (*remove)(struct mdev_device *mdev);
	unsigned int (*get_available)(struct mdev_type *mdev);
	ssize_t (*show_description)(struct mdev_type *mdev, char *buffer);
	struct {
		const char *name;
		struct module *owner;
		const char *mod_name;
		const struct attribute_group **dev_groups;
	} driver;
};
#define mdev_register_driver(driver) ((void)(driver), 0)
#define mdev_unregister_driver(driver) ((void)(driver))

/* What exists now. */
static struct {
	int devices, registered, partitions, vms, events, remaps, debugfs;
} live;

static bool vfio_refuses;

#define vfio_alloc_device(type, member, device, operations)                     \
	({                                                                      \
		struct type *__device = kzalloc(sizeof(*__device), GFP_KERNEL); \
                                                                                \
		if (__device)                                                   \
			__device->member.dev = (device);                        \
		live.devices += !!__device;                                     \
		__device ? __device : (struct type *)ERR_PTR(-ENOMEM);          \
	})
#define vfio_put_device(device_vdev) \
	(live.devices--, free(container_of(device_vdev, struct ghyvi_device, vdev)))
#define vfio_register_emulated_iommu_dev(vdev) \
	((void)(vdev), vfio_refuses ? -EBUSY : (live.registered++, 0))
#define vfio_unregister_group_dev(vdev) ((void)(vdev), live.registered--)

#include "../../kernel/vfio/config.c"
#define create_vgpu create_vgpu_of /* vgpu_fake.h has another function of this name */
#include "../../kernel/vfio/mdev.c"

/* functions of kernel/vfio */

const struct vfio_device_ops ghyvi_device_ops;
const struct attribute_group *ghyvi_device_groups[1];

int ghyvi_pgpu_alloc_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			  struct ghyvi_partition *partition)
{
	live.partitions++;
	return 0;
}

void ghyvi_pgpu_free_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_partition *partition)
{
	live.partitions--;
}

void ghyvi_pgpu_init_knobs(const struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			   struct ghyvi_sched_entity *entity)
{
	assert_non_null(entity);
}

unsigned int ghyvi_type_available(struct mdev_type *mdev)
{
	return 1;
}

ssize_t ghyvi_type_describe(struct mdev_type *mdev, char *buffer)
{
	return 0;
}

struct ghyvi_range ghyvi_bar2_range(const struct ghyvi_partition *partition,
				    const struct ghyvi_pgpu_resources *resources)
{
	return (struct ghyvi_range){};
}

struct ghyvi_range ghyvi_bar2_copied(const struct ghyvi_partition *partition,
				     const struct ghyvi_pgpu_resources *resources)
{
	return (struct ghyvi_range){};
}

void ghyvi_bar0_init(struct ghyvi_device *device)
{
}

void ghyvi_bar2_init(struct ghyvi_device *device)
{
}

void ghyvi_events_init(struct ghyvi_device *device)
{
}

/* They use the vGPU, so both end before it. */
void ghyvi_events_fini(struct ghyvi_device *device)
{
	assert_int_equal(ghyvi_vgpu_check(device->vgpu), 0);
	live.events--;
}

void ghyvi_event(struct ghyvi_reporter *reporter)
{
}

void ghyvi_remap_init(struct ghyvi_device *device)
{
}

void ghyvi_remap_fini(struct ghyvi_device *device)
{
	assert_int_equal(ghyvi_vgpu_check(device->vgpu), 0);
	live.remaps--;
}

void ghyvi_migration_init(struct ghyvi_device *device)
{
	/* Nothing fails from here on but the registration. */
	live.events++;
	live.remaps++;
}

void ghyvi_debugfs_init(void)
{
}

void ghyvi_debugfs_exit(void)
{
}

void ghyvi_debugfs_add(struct ghyvi_device *device)
{
	live.debugfs++;
}

void ghyvi_debugfs_remove(struct ghyvi_device *device)
{
	live.debugfs--;
}

/* functions of kernel/kvm */

static void charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
}

static void uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
}

static const struct ghyvi_hv_ops hv_ops = { .charge = charge, .uncharge = uncharge };
static struct ghyvi_hv hv = { .ops = &hv_ops };

struct ghyvi_vm *ghyvi_kvm_create(struct vfio_device *vdev, struct ghyvi_reporter *reporter)
{
	if (shim_alloc_fails(GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	live.vms++;
	return (struct ghyvi_vm *)&hv;
}

struct ghyvi_hv *ghyvi_kvm_hv(struct ghyvi_vm *gvm)
{
	return &hv;
}

void ghyvi_kvm_destroy(struct ghyvi_vm *gvm)
{
	live.vms--;
}

bool ghyvi_kvm_can_track(void)
{
	return true;
}

/* functions of the gtt */

void ghyvi_gtt_unmap(struct ghyvi_gtt *m, u64 gfn, u64 count)
{
	fail_msg("VFIO unmaps nothing");
}

/* the tests */

static struct ghyvi_pgpu_ops ops;
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };
static struct ghyvi_pgpu pgpu = {
	.pgpu = &gpu_device,
	.resources = {
		.aperture_bytes = HIDDEN_START,
		.ggtt_bytes = 1ull << 32,
	},
};
static struct ghyvi_type type = { .mdev.parent = &pgpu.parent, .profile = &ghyvi_profile_gen8 };
static struct mdev_device mdev = { .dev.name = "mdev", .type = &type.mdev };

static int set_up(void **state)
{
	shim_quiet = true;
	ops = *fake_pgpu.ops;
	pgpu.sched = ghyvi_sched_create(&gpu_device);
	memset(&live, 0, sizeof(live));
	vfio_refuses = false;
	return IS_ERR_OR_NULL(pgpu.sched);
}

static int tear_down(void **state)
{
	ghyvi_sched_destroy(pgpu.sched);
	return 0;
}

static void expect_nothing_left(void)
{
	assert_int_equal(live.devices, 0);
	assert_int_equal(live.registered, 0);
	assert_int_equal(live.partitions, 0);
	assert_int_equal(live.vms, 0);
	assert_int_equal(live.events, 0);
	assert_int_equal(live.remaps, 0);
	assert_int_equal(live.debugfs, 0);
	assert_int_equal(vgpu_ids, 0);
}

static void a_new_vgpu_maps_no_registers(void **state)
{
	struct ghyvi_device *device;

	assert_int_equal(ghyvi_mdev_driver.probe(&mdev), 0);
	device = mdev.drvdata;
	assert_int_equal(live.registered, 1);
	assert_false(ghyvi_vgpu_remap(device->vgpu)); /* policy/bar_remap is off */
	ghyvi_mdev_driver.remove(&mdev);
	expect_nothing_left();
}

static struct ghyvi_pgpu_client *refuse(struct ghyvi_pgpu_device *pgpu,
					const struct ghyvi_client_params *params)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* As ghyvi-gen9 refuses vGPUs of generation 8. */
static void a_vgpu_that_the_backend_refuses_is_not_created(void **state)
{
	ops.client_create = refuse;
	assert_int_equal(ghyvi_mdev_driver.probe(&mdev), -EOPNOTSUPP);
	expect_nothing_left();
}

static void a_vgpu_that_vfio_refuses_is_not_created(void **state)
{
	vfio_refuses = true;
	assert_int_equal(ghyvi_mdev_driver.probe(&mdev), -EBUSY);
	expect_nothing_left();
}

static void a_creation_without_memory_leaves_nothing(void **state)
{
	unsigned long first, failed;
	int ret;

	for (first = 1, failed = 1; failed; first++) {
		shim_fail_allocs(first, 1);
		ret = ghyvi_mdev_driver.probe(&mdev);
		failed = shim_failed_allocs();
		shim_fail_allocs(0, 0);
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		if (!failed)
			ghyvi_mdev_driver.remove(&mdev);
		expect_nothing_left();
	}
	assert_true(first > 8);
}

#define CREATE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CREATE_TEST(a_new_vgpu_maps_no_registers),
		CREATE_TEST(a_vgpu_that_the_backend_refuses_is_not_created),
		CREATE_TEST(a_vgpu_that_vfio_refuses_is_not_created),
		CREATE_TEST(a_creation_without_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
