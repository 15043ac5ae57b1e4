// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module of the software pGPU. It creates the PCI functions, and registers a pGPU for each of
 * them.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <ghyvi/backend.h>
#include <ghyvi/export.h>
#include <uapi/linux/ghyvi.h>
#include "eu_dev.h"
#include "pci.h"
#include "softgpu.h"

static unsigned int pgpus = 1;
module_param(pgpus, uint, 0444);
MODULE_PARM_DESC(pgpus, "Number of software pGPUs (1 to 32, default 1)");

static atomic_t registered = ATOMIC_INIT(0);

struct softgpu_function {
	struct softgpu *gpu;
	struct ghyvi_pgpu *pgpu;
};

static int softgpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct softgpu_function *function;
	int err;

	function = devm_kzalloc(&pdev->dev, sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	function->gpu = softgpu_create();
	if (IS_ERR(function->gpu))
		return PTR_ERR(function->gpu);
	pci_set_drvdata(pdev, function);
	function->pgpu = ghyvi_pgpu_register(&pdev->dev, softgpu_device(function->gpu));
	if (IS_ERR(function->pgpu)) {
		err = PTR_ERR(function->pgpu);
		dev_err(&pdev->dev, "cannot be registered as pGPU (%d)\n", err);
		softgpu_destroy(function->gpu);
		return err;
	}
	atomic_inc(&registered);
	return 0;
}

static void softgpu_remove(struct pci_dev *pdev)
{
	struct softgpu_function *function = pci_get_drvdata(pdev);

	ghyvi_pgpu_unregister(function->pgpu);
	softgpu_destroy(function->gpu);
	atomic_dec(&registered);
}

static const struct pci_device_id softgpu_ids[] = { { PCI_DEVICE(GHYVI_SOFTGPU_PCI_VENDOR,
								 GHYVI_SOFTGPU_PCI_DEVICE) },
						    {} };

/* The driver's name is part of the type ids (ghyvi_softgpu-gen9_4). */
static struct pci_driver softgpu_driver = {
	.name = "ghyvi_softgpu",
	.id_table = softgpu_ids,
	.probe = softgpu_probe,
	.remove = softgpu_remove,
};

static int __init softgpu_init(void)
{
	int err;

	if (!pgpus || pgpus > SOFTGPU_PCI_SLOTS) {
		pr_err("ghyvi-softgpu: pgpus=%u, must be 1 to %u\n", pgpus, SOFTGPU_PCI_SLOTS);
		return -EINVAL;
	}
	err = softgpu_eu_dev_init();
	if (err)
		return err;
	err = pci_register_driver(&softgpu_driver);
	if (err)
		goto remove;
	err = softgpu_bus_create(pgpus);
	if (err)
		goto unregister;
	if (atomic_read(&registered) != pgpus) {
		pr_err("ghyvi-softgpu: only %d of %u pGPUs were registered\n",
		       atomic_read(&registered), pgpus);
		err = -ENODEV;
		goto destroy;
	}
	return 0;

destroy:
	softgpu_bus_destroy();
unregister:
	pci_unregister_driver(&softgpu_driver);
remove:
	softgpu_eu_dev_exit();
	return err;
}

static void __exit softgpu_exit(void)
{
	softgpu_bus_destroy();
	pci_unregister_driver(&softgpu_driver);
	softgpu_eu_dev_exit();
}

module_init(softgpu_init);
module_exit(softgpu_exit);

MODULE_DESCRIPTION("Software pGPU for ghyvi");
MODULE_LICENSE("GPL");
GHYVI_IMPORT_NS();
