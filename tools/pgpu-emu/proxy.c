// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server side of QEMU's multi-process device protocol (QEMU 7.2: hw/remote/proxy.c,
 * mpqemu-link.c), and interrupts by its qtest protocol, because x-pci-proxy-dev has no MSI.
 *
 * QEMU waits for the reply to each access. A change of the memory map sends no region at all
 * between two states, so the regions are replaced only by a message that has some.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emu.h"
#include "transport.h"

enum command {
	SYNC_SYSMEM,
	RETURN,
	CONFIG_WRITE,
	CONFIG_READ,
	BAR_WRITE,
	BAR_READ,
	SET_IRQFD,
	DEVICE_RESET,
};

#define REGIONS_MAX 8
#define BODY_BYTES_MAX 256

struct header {
	s32 command;
	s32 padding;
	u64 bytes; /* of the body */
};

struct sync_body {
	u64 start[REGIONS_MAX];
	u64 bytes[REGIONS_MAX];
	u64 offset[REGIONS_MAX];
};

struct config_body {
	u32 offset;
	u32 value;
	s32 bytes;
};

struct bar_body {
	u64 address;
	u64 value;
	u32 bytes;
	u8 memory;
};

struct message {
	struct header header;
	union {
		struct sync_body sync;
		struct config_body config;
		struct bar_body bar;
		u8 bytes[BODY_BYTES_MAX];
	} body;
	int fds[REGIONS_MAX];
	unsigned int nr_fds;
};

static bool receive_header(int fd, struct message *message)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(REGIONS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { &message->header, sizeof(message->header) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;

	message->nr_fds = 0;
	if (recvmsg(fd, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC) != sizeof(message->header))
		return false;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		message->nr_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(message->fds, CMSG_DATA(cmsg), message->nr_fds * sizeof(int));
	}
	return true;
}

static bool receive(int fd, struct message *message)
{
	if (!receive_header(fd, message) || message->header.bytes > sizeof(message->body))
		return false;
	if (!message->header.bytes)
		return true;
	return recv(fd, &message->body, message->header.bytes, MSG_WAITALL) ==
	       (ssize_t)message->header.bytes;
}

static bool reply(int fd, u64 value)
{
	struct {
		struct header header;
		u64 value;
	} answer = { .header = { .command = RETURN, .bytes = sizeof(value) }, .value = value };

	return send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

static void close_fds(struct message *message)
{
	unsigned int i;

	for (i = 0; i < message->nr_fds; i++)
		close(message->fds[i]);
}

static bool sync_memory(struct emu *emu, struct message *message)
{
	const struct sync_body *body = &message->body.sync;
	unsigned int i;
	int err;

	if (!message->nr_fds)
		return true;
	emu->ram.count = 0;
	for (i = 0; i < message->nr_fds; i++) {
		struct emu_ram_region region = { .start = body->start[i], .bytes = body->bytes[i] };

		err = emu_ram_add(emu, &region, message->fds[i], body->offset[i]);
		if (err)
			emu_log(emu, "memory at %#llx cannot be mapped: error %d",
				(unsigned long long)region.start, -err);
	}
	return true;
}

static bool handle_device(struct emu_proxy *proxy, struct emu *emu)
{
	struct message message;
	const struct config_body *config = &message.body.config;
	const struct bar_body *bar = &message.body.bar;

	if (!receive(proxy->device, &message))
		return false;
	switch (message.header.command) {
	case SYNC_SYSMEM:
		return sync_memory(emu, &message);
	case SET_IRQFD:
		close_fds(&message);
		return true;
	case CONFIG_WRITE:
		emu_config_write(emu, config->offset, config->value, config->bytes);
		return reply(proxy->device, 0);
	case CONFIG_READ:
		return reply(proxy->device, emu_config_read(emu, config->offset, config->bytes));
	case BAR_WRITE:
		emu_bar_write(emu, bar->address, bar->value, bar->bytes);
		return reply(proxy->device, 0);
	case BAR_READ:
		return reply(proxy->device, emu_bar_read(emu, bar->address, bar->bytes));
	case DEVICE_RESET:
		emu_device_reset(emu);
		return reply(proxy->device, 0);
	default:
		emu_log(emu, "unknown message %d of QEMU", message.header.command);
		return false;
	}
}

/* ---- interrupts ---- */

static void proxy_msi(struct emu *emu, u64 address, u32 data)
{
	struct emu_proxy *proxy = emu->transport_data;
	char line[64];
	int length;

	if (proxy->qtest < 0)
		return;
	length = snprintf(line, sizeof(line), "writel 0x%llx 0x%x\n", (unsigned long long)address,
			  data);
	if (send(proxy->qtest, line, length, MSG_NOSIGNAL) != length)
		emu_log(emu, "an interrupt was lost: %s", strerror(errno));
}

/* QEMU answers each line; only its connection matters. */
static bool handle_qtest(struct emu_proxy *proxy)
{
	char answers[4096];

	return recv(proxy->qtest, answers, sizeof(answers), MSG_DONTWAIT) != 0;
}

/* ---- connection ---- */

static int proxy_fds(struct emu *emu, int *fds)
{
	const struct emu_proxy *proxy = emu->transport_data;

	fds[0] = proxy->device;
	fds[1] = proxy->qtest < 0 ? proxy->qtest_listen : proxy->qtest;
	return 2;
}

static bool proxy_handle(struct emu *emu, int fd)
{
	struct emu_proxy *proxy = emu->transport_data;

	if (fd == proxy->device)
		return handle_device(proxy, emu);
	if (fd == proxy->qtest)
		return handle_qtest(proxy);
	proxy->qtest = accept(fd, NULL, NULL);
	return proxy->qtest >= 0;
}

static const struct emu_transport_ops proxy_ops = {
	.msi = proxy_msi,
	.fds = proxy_fds,
	.handle = proxy_handle,
};

static int listen_for_qtest(struct emu_proxy *proxy, char *path, size_t bytes)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(proxy->directory, "/tmp/pgpu-emu.XXXXXX");
	if (!mkdtemp(proxy->directory))
		return -errno;
	snprintf(path, bytes, "%s/qtest", proxy->directory);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	proxy->qtest_listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (proxy->qtest_listen < 0 ||
	    bind(proxy->qtest_listen, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(proxy->qtest_listen, 1))
		return -errno;
	return 0;
}

/* QEMU ends with this process, however it ends. */
static void run_qemu(char **arguments, int unused_fd)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(unused_fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(arguments[0], arguments);
	perror(arguments[0]);
	_exit(127);
}

int emu_proxy_start(struct emu_proxy *proxy, struct emu *emu, char **arguments)
{
	char path[sizeof(proxy->directory) + 16];
	struct emu_launch launch = { .qtest_path = path };
	char **command;
	int pair[2];
	int err = listen_for_qtest(proxy, path, sizeof(path));

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	launch.device_fd = pair[1];
	command = emu_launch_arguments(arguments, &launch);
	if (!command)
		return -ENOMEM;
	proxy->device = pair[0];
	proxy->qtest = -1;
	emu->transport = &proxy_ops;
	emu->transport_data = proxy;
	proxy->qemu = fork();
	if (proxy->qemu < 0)
		return -errno;
	if (!proxy->qemu)
		run_qemu(command, pair[0]);
	close(pair[1]);
	return 0;
}

int emu_proxy_stop(struct emu_proxy *proxy)
{
	char path[sizeof(proxy->directory) + 16];
	int status = 0;

	snprintf(path, sizeof(path), "%s/qtest", proxy->directory);
	unlink(path);
	rmdir(proxy->directory);
	waitpid(proxy->qemu, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
