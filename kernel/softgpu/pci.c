// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI functions of the software pGPUs. Management software accepts only PCI devices as mdev
 * parents. So each software pGPU has a PCI function on a virtual root bus, without BARs, interrupts
 * or capabilities.
 */
#include <linux/numa.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <ghyvi/compat.h>
#include <uapi/linux/ghyvi.h>
#include "pci.h"

#define LAST_PCI_DOMAIN 0xffff /* some programs do not support domains of more than 16 bits */
#define CONFIG_BYTES 256

/* The only virtual bus. @functions is the number of slots that have a function. */
static struct {
	struct pci_sysdata sysdata;
	struct resource busn;
	struct pci_host_bridge *bridge;
	unsigned int functions;
	u8 config[CONFIG_BYTES];
} softbus;

static bool has_function(unsigned int devfn)
{
	return !PCI_FUNC(devfn) && PCI_SLOT(devfn) < softbus.functions;
}

static int config_read(struct pci_bus *bus, unsigned int devfn, int offset, int bytes, u32 *value)
{
	const u8 *config = softbus.config + offset;

	if (!has_function(devfn)) {
		PCI_SET_ERROR_RESPONSE(value);
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	if (offset < 0 || offset + bytes > CONFIG_BYTES) {
		*value = 0;
		return PCIBIOS_SUCCESSFUL;
	}
	*value = bytes == 4 ? get_unaligned_le32(config) :
		 bytes == 2 ? get_unaligned_le16(config) :
			      *config;
	return PCIBIOS_SUCCESSFUL;
}

/* All configuration registers are read-only: there is no decoding or bus mastering to enable. */
static int config_write(struct pci_bus *bus, unsigned int devfn, int offset, int bytes, u32 value)
{
	return has_function(devfn) ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

static struct pci_ops softbus_ops = {
	.read = config_read,
	.write = config_write,
};

static void fill_config(void)
{
	u8 *config = softbus.config;

	memset(config, 0, CONFIG_BYTES);
	put_unaligned_le16(GHYVI_SOFTGPU_PCI_VENDOR, config + PCI_VENDOR_ID);
	put_unaligned_le16(GHYVI_SOFTGPU_PCI_DEVICE, config + PCI_DEVICE_ID);
	put_unaligned_le32(GHYVI_SOFTGPU_PCI_CLASS << 8 | 1, config + PCI_CLASS_REVISION);
	put_unaligned_le16(GHYVI_SOFTGPU_PCI_VENDOR, config + PCI_SUBSYSTEM_VENDOR_ID);
	put_unaligned_le16(GHYVI_SOFTGPU_PCI_DEVICE, config + PCI_SUBSYSTEM_ID);
}

/* Find a free PCI domain. The caller holds pci_lock_rescan_remove(). */
static int find_domain(void)
{
	int domain;

	for (domain = GHYVI_SOFTGPU_PCI_DOMAIN; domain <= LAST_PCI_DOMAIN; domain++)
		if (!pci_find_bus(domain, 0))
			return domain;
	return -ENOSPC;
}

int softgpu_bus_create(unsigned int count)
{
	struct pci_host_bridge *bridge;
	int domain, err;

	fill_config();
	softbus.functions = count;
	softbus.busn = (struct resource){
		.name = "ghyvi softgpu bus",
		.start = 0,
		.end = 0,
		.flags = IORESOURCE_BUS,
	};

	pci_lock_rescan_remove();
	domain = find_domain();
	err = domain;
	if (domain < 0)
		goto unlock;
	softbus.sysdata = (struct pci_sysdata){ .domain = domain, .node = NUMA_NO_NODE };
	/* Not pci_create_root_bus(), which allocates a bridge that is never freed. */
	bridge = pci_alloc_host_bridge(0);
	err = -ENOMEM;
	if (!bridge)
		goto unlock;
	pci_add_resource(&bridge->windows, &softbus.busn);
	bridge->ops = &softbus_ops;
	bridge->sysdata = &softbus.sysdata;
	err = pci_scan_root_bus_bridge(bridge);
	if (err) {
		pci_free_host_bridge(bridge);
		goto unlock;
	}
	softbus.bridge = bridge;
	pci_bus_add_devices(bridge->bus);
unlock:
	pci_unlock_rescan_remove();
	return err;
}

void softgpu_bus_destroy(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(softbus.bridge->bus);
	pci_remove_root_bus(softbus.bridge->bus);
	pci_free_host_bridge(softbus.bridge);
	softbus.bridge = NULL;
	pci_unlock_rescan_remove();
}
