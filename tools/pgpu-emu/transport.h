/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transports: QEMU's x-pci-proxy-dev, with a qtest socket for interrupts. Another one (vfio-user)
 * implements the same functions.
 */
#ifndef PGPU_EMU_TRANSPORT_H
#define PGPU_EMU_TRANSPORT_H

#include <stdbool.h>
#include <sys/types.h>

struct emu;

/*
 * struct emu_proxy - a virtual machine behind x-pci-proxy-dev
 */
struct emu_proxy {
	int device; /* our end of the socket pair */
	int qtest_listen; /* QEMU connects there */
	int qtest; /* -1: not connected yet */
	pid_t qemu;
	char directory[64]; /* of the qtest socket */
};

/* Start QEMU with the device added to its arguments. Returns 0 or a negative errno. */
int emu_proxy_start(struct emu_proxy *proxy, struct emu *emu, char **arguments);
/* Descriptors to poll. Returns their number. */
int emu_proxy_fds(const struct emu_proxy *proxy, int *fds);
/* Handle what has arrived on @fd. Returns false when QEMU has closed the connection. */
bool emu_proxy_handle(struct emu_proxy *proxy, struct emu *emu, int fd);
/* Wait for the end of QEMU. Returns its exit status. */
int emu_proxy_stop(struct emu_proxy *proxy);

/* launch.c: the arguments of QEMU */
struct emu_launch {
	int device_fd;
	const char *qtest_path;
};
/* Returns the argument vector for QEMU, or NULL. */
char **emu_launch_arguments(char **arguments, const struct emu_launch *launch);
/* The value of QEMU's -m in MiB; 0: none. */
unsigned long emu_launch_memory_mb(char **arguments);

#endif
