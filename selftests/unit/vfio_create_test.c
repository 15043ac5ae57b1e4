// SPDX-License-Identifier: GPL-2.0-only
/* Types of a pGPU, creation and removal of a vGPU, and each failure of the creation. */
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
#define mdev_register_parent(mdev_parent, dev, driver, list, count) \
	(nr_types = offer_types(mdev_parent, list, count), 0)
#define mdev_unregister_parent(mdev_parent) ((void)(mdev_parent))
#define mdev_register_driver(driver) ((void)(driver), 0)
#define mdev_unregister_driver(driver) ((void)(driver))

static unsigned int nr_types;

static unsigned int offer_types(struct mdev_parent *parent, struct mdev_type **list,
				unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		list[i]->parent = parent;
	return count;
}

/* What exists now. */
static struct {
	int devices, registered, vms, events, remaps, debugfs;
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
#include "../../kernel/vfio/parent.c"

/* functions of kernel/vfio */

const struct vfio_device_ops ghyvi_device_ops;
const struct attribute_group *ghyvi_device_groups[1];

int ghyvi_pgpu_add_attributes(struct ghyvi_pgpu *pgpu)
{
	return 0;
}

void ghyvi_pgpu_remove_attributes(struct ghyvi_pgpu *pgpu)
{
}

void ghyvi_pgpu_init_knobs(const struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			   struct ghyvi_sched_entity *entity)
{
	assert_non_null(entity);
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
	assert_int_equal(ghyvi_vgpu_get_check(device->vgpu), 0);
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
	assert_int_equal(ghyvi_vgpu_get_check(device->vgpu), 0);
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
static struct ghyvi_pgpu_device backend = { .ops = &ops };
static struct device gpu_device = { .name = "gpu" };
static u32 gens;
static struct ghyvi_pgpu *pgpu;
static struct mdev_device mdev = { .dev.name = "mdev" };

static void resources(struct ghyvi_pgpu_device *unused, struct ghyvi_pgpu_resources *resources)
{
	*resources = (struct ghyvi_pgpu_resources){
		.engines = BIT(GHYVI_ENGINES) - 1,
		.gens = gens,
		.ggtt_bytes = 1ull << 32,
		.aperture_bytes = HIDDEN_START,
		.timestamp_hz = FAKE_HZ,
		.jobs_per_engine = 1,
		.private_ggtt = true,
	};
}

static int register_gpu(u32 of_gens)
{
	gens = of_gens;
	pgpu = __ghyvi_pgpu_register(NULL, &gpu_device, &backend);
	return IS_ERR(pgpu);
}

static int set_up(void **state)
{
	shim_quiet = true;
	ops = *fake_pgpu.ops;
	ops.resources = resources;
	memset(&live, 0, sizeof(live));
	vfio_refuses = false;
	if (register_gpu(BIT(8) | BIT(9)))
		return -1;
	mdev.type = pgpu->type_list[0];
	return 0;
}

static int tear_down(void **state)
{
	ghyvi_pgpu_unregister(pgpu);
	return 0;
}

static void only_types_that_the_backend_runs_are_offered(void **state)
{
	unsigned int i;

	assert_int_equal(nr_types, GHYVI_TYPES);
	ghyvi_pgpu_unregister(pgpu);
	assert_int_equal(register_gpu(BIT(9)), 0);
	assert_int_equal(nr_types, GHYVI_TYPES / 2);
	for (i = 0; i < nr_types; i++)
		assert_int_equal(ghyvi_profile_gen(ghyvi_type_of(pgpu->type_list[i])->profile), 9);
}

static void expect_nothing_left(void)
{
	assert_int_equal(live.devices, 0);
	assert_int_equal(live.registered, 0);
	assert_int_equal(pgpu->used.count, 0);
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
	assert_false(ghyvi_vgpu_get_remap(device->vgpu)); /* policy/bar_remap is off */
	ghyvi_mdev_driver.remove(&mdev);
	expect_nothing_left();
}

static struct ghyvi_pgpu_client *refuse(struct ghyvi_pgpu_device *pgpu,
					const struct ghyvi_client_params *params)
{
	return ERR_PTR(-EOPNOTSUPP);
}

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
		CREATE_TEST(only_types_that_the_backend_runs_are_offered),
		CREATE_TEST(a_new_vgpu_maps_no_registers),
		CREATE_TEST(a_vgpu_that_the_backend_refuses_is_not_created),
		CREATE_TEST(a_vgpu_that_vfio_refuses_is_not_created),
		CREATE_TEST(a_creation_without_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
