/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transports: QEMU's x-pci-proxy-dev, with a qtest socket for interrupts, and vfio-user, which
 * other programs speak, too.
 */
#ifndef PGPU_EMU_TRANSPORT_H
#define PGPU_EMU_TRANSPORT_H

#include <signal.h>
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
/* Wait for the end of QEMU. Returns its exit status. */
int emu_proxy_stop(struct emu_proxy *proxy);

/* The kinds of interrupts, with their numbers in VFIO. */
enum { VFIO_USER_INTX, VFIO_USER_MSI, VFIO_USER_MSIX, VFIO_USER_IRQS };

/*
 * struct emu_vfio_user - a vfio-user server
 */
struct emu_vfio_user {
	struct emu *emu;
	const char *path; /* of the socket */
	int listener;
	int client; /* -1: there is none */
	bool negotiated; /* the client has sent its version */
	bool told_unshared; /* that the client has memory without a file */
	bool intx_masked;
	int eventfds[VFIO_USER_IRQS]; /* -1: none */
	pid_t qemu; /* 0: the clients are started by others */
};

/* Listen for a client at the socket @path. Returns 0 or a negative errno. */
int emu_vfio_user_start(struct emu_vfio_user *server, struct emu *emu, const char *path);
/* Start QEMU with the device added to its arguments. The service ends with it. */
int emu_vfio_user_run_qemu(struct emu_vfio_user *server, char **arguments);
/* Remove the socket. Returns the exit status of QEMU, or 0. */
int emu_vfio_user_stop(struct emu_vfio_user *server);

/*
 * serve.c: serve until the transport ends, or a handler of signals sets *@ending. The signals are
 * blocked except for those times when @mask, which leaves them out, is in force.
 */
void emu_serve(struct emu *emu, const volatile sig_atomic_t *ending, const sigset_t *mask);

/* launch.c: the arguments of QEMU */
struct emu_launch {
	const char *socket; /* of vfio-user; NULL: x-pci-proxy-dev */
	int device_fd;
	const char *qtest_path;
};
/* Returns the argument vector for QEMU, or NULL. */
char **emu_launch_arguments(char **arguments, const struct emu_launch *launch);
/* The value of QEMU's -m in MiB; 0: none. */
unsigned long emu_launch_memory_mb(char **arguments);

#endif
