// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of a vfio-user client. Not offered: mappable regions, because each access to
 * registers and the GGTT has an effect, and migration.
 */
#include <unistd.h>
#include <linux/vfio.h>
#include <linux/string.h>
#include "emu.h"
#include "vfio_user.h"

#define CONFIG_ACCESS_MAX 4 /* bytes */
#define BAR_ACCESS_MAX 8
#define DMA_MAPS_TOLD 65535 /* QEMU refuses more, but does not count its maps */

/* ---- version ---- */

/*
 * The reply has only capabilities that the client has proposed. What it leaves out has a default,
 * and a client that goes beyond our limits gets errors.
 */
static int version(struct emu_vfio_user *server, struct vfio_user_request *request,
		   struct vfio_user_reply *reply)
{
	static const struct {
		const char *name;
		unsigned int value;
	} limits[] = {
		{ "max_msg_fds", VFIO_USER_FDS_MAX },
		{ "max_data_xfer_size", VFIO_USER_TRANSFER_MAX },
		{ "max_dma_maps", DMA_MAPS_TOLD },
		{ "pgsizes", GHYVI_PAGE_BYTES },
	};
	const struct vfio_user_version *proposed = (const void *)request->body;
	struct vfio_user_version *accepted = (void *)reply->body;
	const char *separator = "";
	char *at = accepted->capabilities, name[32];
	unsigned int i;

	if (proposed->major != VFIO_USER_MAJOR)
		return -EPROTO;
	server->negotiated = true;
	accepted->major = VFIO_USER_MAJOR;
	accepted->minor = VFIO_USER_MINOR;
	at += sprintf(at, "{\"capabilities\":{");
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		snprintf(name, sizeof(name), "\"%s\"", limits[i].name);
		if (!strstr(proposed->capabilities, name))
			continue;
		at += sprintf(at, "%s%s:%u", separator, name, limits[i].value);
		separator = ",";
	}
	at += sprintf(at, "}}") + 1;
	reply->bytes = at - (char *)accepted;
	return 0;
}

/* ---- memory ---- */

/*
 * Memory without a file cannot be reached, because the engines keep pointers. Neither can memory
 * that is not to be written: it is that of firmware.
 */
static int dma_map(struct emu_vfio_user *server, struct vfio_user_request *request,
		   struct vfio_user_reply *reply)
{
	const u32 both = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
	const struct vfio_user_dma_map *map = (const void *)request->body;
	struct emu_ram_region region = { .start = map->address, .bytes = map->bytes };
	bool shared = request->nr_fds && (map->flags & both) == both;
	int fd = shared ? request->fds[0] : -1;

	if ((map->address | map->bytes | map->offset) & (GHYVI_PAGE_BYTES - 1) ||
	    request->nr_fds > 1)
		return -EINVAL;
	if (!request->nr_fds && (map->flags & both) == both && !server->told_unshared) {
		emu_log(server->emu,
			"memory at %#llx is not shared: if it is RAM, the client needs share=on",
			(unsigned long long)map->address);
		server->told_unshared = true;
	}
	if (shared)
		request->fds[0] = -1;
	return emu_ram_add(server->emu, &region, fd, map->offset);
}

/* As in the kernel, a range can have several regions, or none: QEMU's IOMMUs ask for that. */
static int dma_unmap(struct emu_vfio_user *server, struct vfio_user_request *request,
		     struct vfio_user_reply *reply)
{
	const struct vfio_user_dma_unmap *map = (const void *)request->body;
	struct vfio_user_dma_unmap *unmapped = (void *)reply->body;

	*unmapped = *map;
	reply->bytes = sizeof(*unmapped);
	if (map->flags & VFIO_DMA_UNMAP_FLAG_ALL)
		return emu_ram_remove(server->emu, 0, U64_MAX, &unmapped->bytes);
	if (!map->bytes)
		return -EINVAL;
	return emu_ram_remove(server->emu, map->address, map->address + (map->bytes - 1),
			      &unmapped->bytes);
}

/* ---- information ---- */

static int device_info(struct emu_vfio_user *server, struct vfio_user_request *request,
		       struct vfio_user_reply *reply)
{
	static const struct {
		u32 argsz, flags, nr_regions, nr_irqs;
	} info = { sizeof(info), VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		   VFIO_PCI_NUM_REGIONS, VFIO_USER_IRQS };

	memcpy(reply->body, &info, sizeof(info));
	reply->bytes = sizeof(info);
	return 0;
}

static u64 region_bytes(unsigned int region)
{
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return EMU_GTTMMADR_BYTES;
	case VFIO_PCI_BAR2_REGION_INDEX:
		return EMU_GMADR_BYTES;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return EMU_CONFIG_BYTES;
	default:
		return 0;
	}
}

static int region_info(struct emu_vfio_user *server, struct vfio_user_request *request,
		       struct vfio_user_reply *reply)
{
	const struct vfio_region_info *asked = (const void *)request->body;
	struct vfio_region_info info = { .argsz = sizeof(info), .index = asked->index };

	if (info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info.size = region_bytes(info.index);
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	memcpy(reply->body, &info, sizeof(info));
	reply->bytes = sizeof(info);
	return 0;
}

static unsigned int irq_count(u32 index)
{
	return index == VFIO_PCI_INTX_IRQ_INDEX || index == VFIO_PCI_MSI_IRQ_INDEX;
}

static int irq_info(struct emu_vfio_user *server, struct vfio_user_request *request,
		    struct vfio_user_reply *reply)
{
	const struct vfio_irq_info *asked = (const void *)request->body;
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = asked->index };

	if (info.index >= VFIO_USER_IRQS)
		return -EINVAL;
	info.count = irq_count(info.index);
	info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
	if (info.index == VFIO_PCI_INTX_IRQ_INDEX)
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE |
			     VFIO_IRQ_INFO_AUTOMASKED;
	memcpy(reply->body, &info, sizeof(info));
	reply->bytes = sizeof(info);
	return 0;
}

/* ---- interrupts ---- */

/* The pin masks itself when it signals, and signals again if it is still active when unmasked. */
void emu_vfio_user_update_intx(struct emu_vfio_user *server, bool level)
{
	if (!level || server->intx_masked || !emu_config_intx(server->emu))
		return;
	server->intx_masked = true;
	emu_vfio_user_signal(server, server->eventfds[VFIO_USER_INTX]);
}

/* A write to what else a client may pass can block, or raise SIGPIPE. */
static bool is_eventfd(int fd)
{
	static const char name[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(name)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target)) == sizeof(name) - 1 &&
	       !memcmp(target, name, sizeof(name) - 1);
}

static int set_trigger(struct emu_vfio_user *server, struct vfio_user_request *request,
		       const struct vfio_irq_set *set)
{
	int *eventfd = &server->eventfds[set->index];

	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (set->count) { /* the client tests its handler */
			emu_vfio_user_signal(server, *eventfd);
			return 0;
		}
		break;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		break;
	default:
		return -EINVAL;
	}
	if (request->nr_fds && !is_eventfd(request->fds[0]))
		return -EINVAL;
	if (*eventfd >= 0)
		close(*eventfd);
	*eventfd = -1;
	if (request->nr_fds) {
		*eventfd = request->fds[0];
		request->fds[0] = -1;
	}
	if (set->index == VFIO_USER_INTX) {
		server->intx_masked = false;
		emu_vfio_user_update_intx(server, server->emu->irq_line);
	}
	return 0;
}

static int set_mask(struct emu_vfio_user *server, const struct vfio_irq_set *set, bool mask)
{
	if (set->index != VFIO_USER_INTX ||
	    (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) != VFIO_IRQ_SET_DATA_NONE)
		return -EINVAL;
	server->intx_masked = mask;
	emu_vfio_user_update_intx(server, server->emu->irq_line);
	return 0;
}

static int set_irqs(struct emu_vfio_user *server, struct vfio_user_request *request,
		    struct vfio_user_reply *reply)
{
	const struct vfio_irq_set *set = (const void *)request->body;

	if (set->index >= VFIO_USER_IRQS || set->start > irq_count(set->index) ||
	    set->count > irq_count(set->index) - set->start || request->nr_fds > set->count)
		return -EINVAL;
	switch (set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) {
	case VFIO_IRQ_SET_ACTION_TRIGGER:
		return set_trigger(server, request, set);
	case VFIO_IRQ_SET_ACTION_MASK:
		return set_mask(server, set, true);
	case VFIO_IRQ_SET_ACTION_UNMASK:
		return set_mask(server, set, false);
	default:
		return -EINVAL;
	}
}

/* ---- regions ---- */

static void access_piece(struct emu *emu, u32 region, u32 offset, u8 *data, unsigned int bytes,
			 bool write)
{
	bool config = region == VFIO_PCI_CONFIG_REGION_INDEX;
	u64 value = 0;

	if (write) {
		memcpy(&value, data, bytes);
		if (config)
			emu_config_write(emu, offset, value, bytes);
		else
			emu_region_write(emu, region, offset, value, bytes);
		return;
	}
	value = config ? emu_config_read(emu, offset, bytes) :
			 emu_region_read(emu, region, offset, bytes);
	memcpy(data, &value, bytes);
}

/* The device sees naturally aligned accesses, as large as the region's bus allows. */
static void access_region(struct emu *emu, const struct vfio_user_access *access, u8 *data,
			  bool write)
{
	unsigned int most = access->region == VFIO_PCI_CONFIG_REGION_INDEX ? CONFIG_ACCESS_MAX :
									     BAR_ACCESS_MAX;
	u32 done, bytes;

	for (done = 0; done < access->bytes; done += bytes) {
		u32 offset = access->offset + done;

		for (bytes = most; offset & (bytes - 1) || bytes > access->bytes - done; bytes /= 2)
			;
		access_piece(emu, access->region, offset, data + done, bytes, write);
	}
}

static bool inside(const struct vfio_user_access *access)
{
	u64 bytes = region_bytes(access->region);

	return access->bytes <= VFIO_USER_TRANSFER_MAX && access->offset < bytes &&
	       access->bytes <= bytes - access->offset;
}

static int region_read(struct emu_vfio_user *server, struct vfio_user_request *request,
		       struct vfio_user_reply *reply)
{
	const struct vfio_user_access *access = (const void *)request->body;
	struct vfio_user_access *answer = (void *)reply->body;

	if (!inside(access))
		return -EINVAL;
	*answer = *access;
	access_region(server->emu, access, answer->data, false);
	reply->bytes = sizeof(*answer) + access->bytes;
	return 0;
}

static int region_write(struct emu_vfio_user *server, struct vfio_user_request *request,
			struct vfio_user_reply *reply)
{
	struct vfio_user_access *access = (void *)request->body;

	if (!inside(access) || access->bytes > request->bytes - sizeof(*access))
		return -EINVAL;
	access_region(server->emu, access, access->data, true);
	memcpy(reply->body, access, sizeof(*access));
	reply->bytes = sizeof(*access);
	return 0;
}

static int reset(struct emu_vfio_user *server, struct vfio_user_request *request,
		 struct vfio_user_reply *reply)
{
	emu_device_reset(server->emu);
	return 0;
}

/* ---- all ---- */

int emu_vfio_user_execute(struct emu_vfio_user *server, struct vfio_user_request *request,
			  struct vfio_user_reply *reply)
{
	static const struct {
		int (*run)(struct emu_vfio_user *server, struct vfio_user_request *request,
			   struct vfio_user_reply *reply);
		size_t bytes; /* the least that the body has */
	} commands[] = {
		[VFIO_USER_VERSION] = { version, sizeof(struct vfio_user_version) },
		[VFIO_USER_DMA_MAP] = { dma_map, sizeof(struct vfio_user_dma_map) },
		[VFIO_USER_DMA_UNMAP] = { dma_unmap, sizeof(struct vfio_user_dma_unmap) },
		[VFIO_USER_DEVICE_GET_INFO] = { device_info, sizeof(u32) },
		[VFIO_USER_DEVICE_GET_REGION_INFO] = { region_info,
						       offsetof(struct vfio_region_info,
								cap_offset) },
		[VFIO_USER_DEVICE_GET_IRQ_INFO] = { irq_info,
						    offsetof(struct vfio_irq_info, count) },
		[VFIO_USER_DEVICE_SET_IRQS] = { set_irqs, sizeof(struct vfio_irq_set) },
		[VFIO_USER_REGION_READ] = { region_read, sizeof(struct vfio_user_access) },
		[VFIO_USER_REGION_WRITE] = { region_write, sizeof(struct vfio_user_access) },
		[VFIO_USER_DEVICE_RESET] = { reset, 0 },
	};
	u16 command = request->header.command;

	if (request->header.flags & VFIO_USER_TYPE_MASK ||
	    server->negotiated == (command == VFIO_USER_VERSION))
		return -EPROTO;
	if (command >= ARRAY_SIZE(commands) || !commands[command].run)
		return -EOPNOTSUPP;
	if (request->bytes < commands[command].bytes)
		return -EINVAL;
	return commands[command].run(server, request, reply);
}
