// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver. It binds only to functions whose driver_override names it: usually i915 drives
 * the GPU. Documentation/gen9.md says how to bind.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <ghyvi/export.h>
#include <ghyvi/gen9_ids.h>
#include "gen9.h"

#define ADDRESS_BITS 39
#define GEN9_DRIVER "ghyvi_gen9"

static void gen9_resources(struct ghyvi_pgpu_device *pgpu, struct ghyvi_pgpu_resources *resources)
{
	const struct gen9 *gpu = gen9_of(pgpu);

	*resources = (struct ghyvi_pgpu_resources){
		.engines = BIT(GHYVI_ENGINES) - 1,
		.gens = BIT(9),
		.ggtt_bytes = gpu->ggtt_bytes,
		.aperture_bytes = pci_resource_len(gpu->pdev, GFXMEM_BAR),
		.reserved = { { .start = 0, .bytes = GHYVI_PAGE_BYTES },
			      { .start = gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES,
				.bytes = GEN9_HOST_GGTT_BYTES } },
		.nr_reserved = 2,
		.timestamp_hz = GEN9_TIMESTAMP_HZ,
		.jobs_per_engine = GEN9_PORTS,
		.audit_enforced = true,
		.audit_user_engines = BIT(GHYVI_BCS), /* checks no register */
	};
}

static const struct ghyvi_pgpu_ops gen9_ops = {
	.name = "gen9",
	.job_bytes = sizeof(struct gen9_job),
	.resources = gen9_resources,
	.client_create = gen9_client_create,
	.client_destroy = gen9_client_destroy,
	.client_reset = gen9_client_reset,
	.client_set_ggtt = gen9_client_set_ggtt,
	.context_create = gen9_context_create,
	.context_destroy = gen9_context_destroy,
	.context_unmap = gen9_context_unmap,
	.context_map = gen9_context_map,
	.map_page = gen9_map_page,
	.unmap_page = gen9_unmap_page,
	.ggtt_write = gen9_ggtt_write,
	.ggtt_read = gen9_ggtt_read,
	.invalidate = gen9_invalidate,
	.prepare = gen9_prepare,
	.unprepare = gen9_unprepare,
	.run = gen9_run,
	.update_tail = gen9_update_tail,
	.preempt = gen9_preempt,
	.cancel = gen9_cancel,
	.timestamp = gen9_timestamp,
};

/* ---- the function ---- */

/* A framebuffer of the firmware has the aperture, or a part of it. */
static int map_function(struct gen9 *gpu)
{
	struct pci_dev *pdev = gpu->pdev;
	int err;

	err = pci_request_regions(pdev, GEN9_DRIVER);
	if (err) {
		dev_err(&pdev->dev,
			"in use, probably by a framebuffer; see Documentation/gen9.md\n");
		return err;
	}
	gpu->regs = ioremap(pci_resource_start(pdev, GTTMMADR_BAR), GEN9_REGISTERS_BYTES);
	if (gpu->regs)
		return 0;
	pci_release_regions(pdev);
	return -ENOMEM;
}

static void unmap_function(struct gen9 *gpu)
{
	iounmap(gpu->regs);
	pci_release_regions(gpu->pdev);
}

/* The GPU would access copies of guests' pages, because they stay mapped and are never synced. */
static int check_bounce_buffers(struct gen9 *gpu)
{
	struct device *dev = &gpu->pdev->dev;

	if (dma_max_mapping_size(dev) == SIZE_MAX)
		return 0;
	dev_err(dev, "DMA needs bounce buffers (swiotlb); see Documentation/gen9.md\n");
	return -EOPNOTSUPP;
}

static int enable_function(struct gen9 *gpu)
{
	struct pci_dev *pdev = gpu->pdev;
	int err = pci_enable_device(pdev);

	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(ADDRESS_BITS));
	if (!err)
		err = check_bounce_buffers(gpu);
	if (!err)
		err = map_function(gpu);
	if (err) {
		pci_disable_device(pdev);
		return err;
	}
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;
}

static void disable_function(struct gen9 *gpu)
{
	pci_clear_master(gpu->pdev);
	unmap_function(gpu);
	pci_disable_device(gpu->pdev);
}

/* No domain has to be awake for this register. */
static int check_present(struct gen9 *gpu)
{
	if (gen9_read(gpu, FORCEWAKE_ACK_RENDER_GEN9) != ~0u)
		return 0;
	dev_err(&gpu->pdev->dev,
		"registers read as all ones: the function is powered off or lost\n");
	return -ENODEV;
}

/* Whatever was accessed before is not the driver's. */
static void clear_unclaimed(struct gen9 *gpu)
{
	if (gen9_read(gpu, FPGA_DBG) & FPGA_DBG_RM_NOCLAIM)
		gen9_write(gpu, FPGA_DBG, FPGA_DBG_RM_NOCLAIM);
}

static int check_guc(struct gen9 *gpu)
{
	if (!(gen9_read(gpu, GUC_WOPCM_SIZE) & GUC_WOPCM_SIZE_LOCKED))
		return 0;
	dev_err(&gpu->pdev->dev,
		"the GuC was loaded since the last cold boot; power the machine off\n");
	return -EBUSY;
}

/* ---- the hardware, from a full reset to the default states ---- */

static void engines_block(struct gen9 *gpu, bool blocked)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		spin_lock_irq(&gpu->engines[i].lock);
		gpu->engines[i].blocked = blocked;
		spin_unlock_irq(&gpu->engines[i].lock);
	}
}

/* Afterwards no engine executes anything, and no interrupt comes. */
static int hardware_reset(struct gen9 *gpu)
{
	int err;

	gen9_irq_stop(gpu);
	err = gen9_reset_all(gpu);
	if (err)
		dev_err(&gpu->pdev->dev, "the GPU cannot be reset\n");
	return err;
}

static int hardware_start(struct gen9 *gpu)
{
	int err = hardware_reset(gpu);
	unsigned int i;

	if (err)
		return err;
	/* Until the reset, engines may execute what a former driver has left. */
	pci_set_master(gpu->pdev);
	gen9_gt_start(gpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		gen9_engine_start(&gpu->engines[i]);
	gen9_irq_start(gpu);
	engines_block(gpu, false);
	return 0;
}

/* The GPU must not access memory that is freed now. */
static void hardware_stop(struct gen9 *gpu)
{
	mutex_lock(&gpu->control);
	engines_block(gpu, true);
	hardware_reset(gpu);
	mutex_unlock(&gpu->control);
	pci_clear_master(gpu->pdev);
	gen9_ggtt_set_scratch(gpu, (gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES) >> GHYVI_PAGE_SHIFT,
			      GEN9_HOST_GGTT_PAGES);
	gen9_ggtt_flush_sync(gpu);
}

static int memory_init(struct gen9 *gpu)
{
	int err = gen9_ggtt_init(gpu);

	if (err)
		return err;
	err = gen9_engines_init(gpu);
	if (!err)
		return 0;
	gen9_ggtt_fini(gpu);
	return err;
}

static void memory_fini(struct gen9 *gpu)
{
	gen9_engines_fini(gpu);
	gen9_parts_free(gpu);
	gen9_ggtt_fini(gpu);
}

static void gpu_stop(struct gen9 *gpu)
{
	hardware_stop(gpu);
	gen9_irq_fini(gpu);
	gen9_engines_cancel_delayed(gpu); /* none may become due while the queue is drained */
	drain_workqueue(gpu->wq);
	memory_fini(gpu);
	gen9_forcewake_put(gpu);
}

static int gpu_start(struct gen9 *gpu)
{
	int err;

	clear_unclaimed(gpu);
	err = gen9_forcewake_get(gpu);
	if (!err)
		err = check_guc(gpu);
	if (!err)
		err = gen9_display_off(gpu);
	if (!err)
		err = memory_init(gpu);
	if (err)
		goto put_forcewake;
	err = gen9_irq_init(gpu);
	if (err)
		goto free_memory;
	err = hardware_start(gpu);
	if (!err) {
		err = gen9_selftest(gpu);
		gen9_report_publish(gpu, err);
	}
	if (err)
		gpu_stop(gpu);
	return err;

free_memory:
	memory_fini(gpu);
put_forcewake:
	gen9_forcewake_put(gpu);
	return err;
}

/* ---- probe and remove ---- */

static struct gen9 *gpu_alloc(struct pci_dev *pdev, enum gen9_platform platform)
{
	struct gen9 *gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);

	if (!gpu)
		return NULL;
	gpu->wq = alloc_workqueue("ghyvi-gen9", WQ_HIGHPRI | WQ_UNBOUND, 0);
	if (!gpu->wq) {
		kfree(gpu);
		return NULL;
	}
	gpu->base.ops = &gen9_ops;
	gpu->pdev = pdev;
	gpu->platform = platform;
	mutex_init(&gpu->control);
	spin_lock_init(&gpu->tlb_lock);
	mutex_init(&gpu->parts_lock);
	mutex_init(&gpu->cache_lock);
	spin_lock_init(&gpu->window_lock);
	spin_lock_init(&gpu->clock_lock);
	spin_lock_init(&gpu->frequency_lock);
	INIT_DELAYED_WORK(&gpu->frequency_work, gen9_frequency_work);
	INIT_LIST_HEAD(&gpu->window_cache);
	INIT_LIST_HEAD(&gpu->unused_parts);
	ratelimit_state_init(&gpu->unreliable, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
	return gpu;
}

static void gpu_free(struct gen9 *gpu)
{
	destroy_workqueue(gpu->wq);
	kfree(gpu);
}

/* With driver_override the kernel binds any function, and passes an id that is not in the table. */
static int check_id(struct pci_dev *pdev, const struct pci_device_id *id)
{
	if (id->vendor == PCI_VENDOR_ID_INTEL)
		return 0;
	dev_err(&pdev->dev,
		"%04x:%04x is not supported: only GT2 of Skylake, Kaby, Coffee, Comet Lake are\n",
		pdev->vendor, pdev->device);
	return -ENODEV;
}

static int gen9_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	static const char *const names[] = {
		[GEN9_SKYLAKE] = "Skylake",
		[GEN9_KABYLAKE] = "Kaby Lake",
		[GEN9_COFFEELAKE] = "Coffee Lake",
		[GEN9_COMETLAKE] = "Comet Lake",
	};
	struct gen9 *gpu;
	int err = check_id(pdev, id);

	if (err)
		return err;
	gpu = gpu_alloc(pdev, id->driver_data);
	if (!gpu)
		return -ENOMEM;
	pci_set_drvdata(pdev, gpu);
	err = enable_function(gpu);
	if (err)
		goto free;
	err = check_present(gpu);
	if (!err)
		err = gpu_start(gpu);
	if (err)
		goto disable;
	gpu->pgpu = ghyvi_pgpu_register(&pdev->dev, &gpu->base);
	err = PTR_ERR_OR_ZERO(gpu->pgpu);
	if (err) {
		dev_err(&pdev->dev, "cannot be registered as pGPU (%d)\n", err);
		goto stop;
	}
	err = gen9_sysfs_create(gpu);
	if (err)
		goto unregister;
	dev_info(&pdev->dev, "%s GT2, revision %u, GGTT of %llu MiB\n", names[gpu->platform],
		 pdev->revision, gpu->ggtt_bytes >> 20);
	return 0;

unregister:
	ghyvi_pgpu_unregister(gpu->pgpu);
stop:
	gpu_stop(gpu);
disable:
	disable_function(gpu);
free:
	gpu_free(gpu);
	return err;
}

static void gen9_remove(struct pci_dev *pdev)
{
	struct gen9 *gpu = pci_get_drvdata(pdev);

	gen9_sysfs_remove(gpu);
	ghyvi_pgpu_unregister(gpu->pgpu);
	gpu_stop(gpu);
	disable_function(gpu);
	gpu_free(gpu);
}

/* ---- suspend ---- */

/* Jobs wait, with their state in their images. The GGTT and the registers are lost. */
static int gen9_suspend(struct device *dev)
{
	struct gen9 *gpu = dev_get_drvdata(dev);
	unsigned int i;

	mutex_lock(&gpu->control);
	gen9_clock_stop(gpu);
	gen9_frequency_stop(gpu);
	gen9_engines_pause(gpu);
	/* A thread that invalidates a TLB has ended, or sees that the engine is blocked. */
	spin_lock(&gpu->tlb_lock);
	engines_block(gpu, true);
	spin_unlock(&gpu->tlb_lock);
	if (gpu->dead)
		gen9_irq_stop(gpu);
	else
		hardware_reset(gpu);
	/* The reset may have failed. Threads that wait for jobs to leave go on after the next. */
	pci_clear_master(gpu->pdev);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		gen9_ports_clear(&gpu->engines[i]);
		gen9_context_clear_stop(&gpu->engines[i], gpu->engines[i].kernel_context);
	}
	mutex_unlock(&gpu->control);
	gen9_forcewake_put(gpu);
	return 0;
}

static int gen9_resume(struct device *dev)
{
	struct gen9 *gpu = dev_get_drvdata(dev);
	unsigned int i;
	int err;

	mutex_lock(&gpu->control);
	err = gen9_forcewake_get(gpu);
	if (!err)
		err = gen9_display_off(gpu);
	gen9_ggtt_restore(gpu);
	gen9_ggtt_flush(gpu);
	if (!err && !gpu->dead)
		err = hardware_start(gpu);
	if (err)
		gen9_die(gpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		gen9_engine_resume(&gpu->engines[i]);
	mutex_unlock(&gpu->control);
	return err;
}

static SIMPLE_DEV_PM_OPS(gen9_pm_ops, gen9_suspend, gen9_resume);

/*
 * A reset of the function, as by its attribute "reset" in sysfs, loses what a suspend does. Unlike
 * in a suspend, guests run meanwhile. Their entries of the GGTT are in its copy.
 */
static void gen9_reset_prepare(struct pci_dev *pdev)
{
	dev_info(&pdev->dev, "the function is being reset\n");
	gen9_suspend(&pdev->dev);
}

static void gen9_reset_done(struct pci_dev *pdev)
{
	gen9_resume(&pdev->dev);
}

static const struct pci_error_handlers gen9_error_handlers = {
	.reset_prepare = gen9_reset_prepare,
	.reset_done = gen9_reset_done,
};

/* Matched only if driver_override names the driver: there is no contest with i915 at boot. */
#define GPU(_device, _platform, _name)                                               \
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, _device), .driver_data = GEN9_##_platform, \
	  .override_only = 1 },

#define TABLE_END \
	{         \
	}

static const struct pci_device_id gen9_ids[] = { GHYVI_GEN9_IDS(GPU) TABLE_END };

/* The driver's name is part of the type ids (ghyvi_gen9-gen9_4). */
static struct pci_driver gen9_driver = {
	.name = GEN9_DRIVER,
	.id_table = gen9_ids,
	.probe = gen9_probe,
	.remove = gen9_remove,
	.err_handler = &gen9_error_handlers,
	.driver.pm = &gen9_pm_ops,
};

static int __init gen9_init(void)
{
	int err;

	gen9_debugfs_init();
	err = pci_register_driver(&gen9_driver);
	if (err)
		gen9_debugfs_exit();
	return err;
}

static void __exit gen9_exit(void)
{
	pci_unregister_driver(&gen9_driver);
	gen9_debugfs_exit();
}

module_init(gen9_init);
module_exit(gen9_exit);

MODULE_DESCRIPTION("Backend of ghyvi for Intel Gen9 GPUs: Skylake to Comet Lake");
MODULE_LICENSE("GPL");
GHYVI_IMPORT_NS();
