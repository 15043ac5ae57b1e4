/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vfio-user protocol, version 0.0 (QEMU: docs/interop/vfio-user.rst): messages that VFIO's
 * ioctls became, on a socket. vfio_user.c has the connection, vfio_user_commands.c what the
 * client can ask for.
 */
#ifndef PGPU_EMU_VFIO_USER_H
#define PGPU_EMU_VFIO_USER_H

#include <linux/types.h>
#include "transport.h"

struct emu;

enum vfio_user_command {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP,
	VFIO_USER_DMA_UNMAP,
	VFIO_USER_DEVICE_GET_INFO,
	VFIO_USER_DEVICE_GET_REGION_INFO,
	VFIO_USER_DEVICE_GET_REGION_IO_FDS,
	VFIO_USER_DEVICE_GET_IRQ_INFO,
	VFIO_USER_DEVICE_SET_IRQS,
	VFIO_USER_REGION_READ,
	VFIO_USER_REGION_WRITE,
	VFIO_USER_DMA_READ,
	VFIO_USER_DMA_WRITE,
	VFIO_USER_DEVICE_RESET,
};

#define VFIO_USER_MAJOR 0
#define VFIO_USER_MINOR 0

/* Flags of the header. */
#define VFIO_USER_TYPE_MASK 0xfu
#define VFIO_USER_REPLY 0x1u
#define VFIO_USER_NO_REPLY 0x10u
#define VFIO_USER_ERROR 0x20u

/* Limits that the server tells the client. */
#define VFIO_USER_FDS_MAX 8
#define VFIO_USER_TRANSFER_MAX 4096

struct vfio_user_header {
	u16 id;
	u16 command;
	u32 bytes; /* of the whole message */
	u32 flags;
	u32 error;
};

struct vfio_user_version {
	u16 major, minor;
	char capabilities[]; /* JSON, optional */
};

struct vfio_user_dma_map {
	u32 argsz;
	u32 flags; /* VFIO_DMA_MAP_FLAG_ */
	u64 offset; /* in the file */
	u64 address;
	u64 bytes;
};

struct vfio_user_dma_unmap {
	u32 argsz;
	u32 flags;
	u64 address;
	u64 bytes;
};

struct vfio_user_access {
	u64 offset;
	u32 region;
	u32 bytes;
	u8 data[];
};

#define VFIO_USER_BODY_MAX (sizeof(struct vfio_user_access) + VFIO_USER_TRANSFER_MAX)

/* A message from the client. A handler that keeps a descriptor sets it to -1. */
struct vfio_user_request {
	struct vfio_user_header header;
	u8 body[VFIO_USER_BODY_MAX + 1] __aligned(8); /* and a 0 byte */
	size_t bytes; /* of the body */
	int fds[VFIO_USER_FDS_MAX];
	unsigned int nr_fds;
};

struct vfio_user_reply {
	struct vfio_user_header header;
	u8 body[VFIO_USER_BODY_MAX] __aligned(8);
	size_t bytes; /* of the body */
};

/*
 * Execute a command. Returns 0 or a negative errno, which the client gets; -EPROTO: the connection
 * must be closed.
 */
int emu_vfio_user_execute(struct emu_vfio_user *server, struct vfio_user_request *request,
			  struct vfio_user_reply *reply);
/* The interrupt pin may have changed. */
void emu_vfio_user_update_intx(struct emu_vfio_user *server, bool level);
/* Write 1 to an eventfd; -1: none. */
void emu_vfio_user_signal(struct emu_vfio_user *server, int eventfd);

#endif
