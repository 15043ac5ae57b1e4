// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection of a vfio-user server. It serves one client after another: each finds the device
 * as after a reset, and its memory and eventfds are released when it leaves.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emu.h"
#include "vfio_user.h"

/* A client that has begun a message, or is to take one, has so long: others wait meanwhile. */
#define MESSAGE_SECONDS 10
#define NOT_YET ".new" /* is added to a socket's name until it listens */

/* ---- messages ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Descriptors come with the first byte of a message. */
static bool receive_header(int socket, struct vfio_user_request *request)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VFIO_USER_FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { &request->header, sizeof(request->header) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(socket, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	request->nr_fds = 0;
	if (got < 0)
		return false;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		request->nr_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(request->fds, CMSG_DATA(cmsg), request->nr_fds * sizeof(int));
	}
	return got == sizeof(request->header);
}

static bool receive(int socket, struct vfio_user_request *request)
{
	if (!receive_header(socket, request) || request->header.bytes < sizeof(request->header) ||
	    request->header.bytes - sizeof(request->header) > VFIO_USER_BODY_MAX)
		return false;
	request->bytes = request->header.bytes - sizeof(request->header);
	request->body[request->bytes] = 0;
	return !request->bytes ||
	       recv(socket, request->body, request->bytes, MSG_WAITALL) == (ssize_t)request->bytes;
}

static bool send_reply(int socket, const struct vfio_user_request *request,
		       struct vfio_user_reply *reply, int err)
{
	size_t bytes = sizeof(reply->header) + (err ? 0 : reply->bytes);

	if (request->header.flags & VFIO_USER_NO_REPLY)
		return true;
	reply->header = (struct vfio_user_header){
		.id = request->header.id,
		.command = request->header.command,
		.bytes = bytes,
		.flags = VFIO_USER_REPLY | (err ? VFIO_USER_ERROR : 0),
		.error = -err,
	};
	return send(socket, reply, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* Returns false if the connection has ended, or must. */
static bool serve_one(struct emu_vfio_user *server)
{
	struct vfio_user_request request;
	struct vfio_user_reply reply = { .bytes = 0 };
	bool usable = receive(server->client, &request);
	unsigned int i;
	int err;

	if (usable) {
		err = emu_vfio_user_execute(server, &request, &reply);
		usable = err != -EPROTO && send_reply(server->client, &request, &reply, err);
	}
	for (i = 0; i < request.nr_fds; i++)
		close_fd(&request.fds[i]);
	return usable;
}

/* ---- interrupts ---- */

/* An eventfd that has not been read for 2^64 times would block. */
void emu_vfio_user_signal(struct emu_vfio_user *server, int eventfd)
{
	static const u64 one = 1;
	struct pollfd polled = { .fd = eventfd, .events = POLLOUT };

	if (eventfd < 0)
		return;
	if (poll(&polled, 1, 0) != 1 || polled.revents != POLLOUT ||
	    write(eventfd, &one, sizeof(one)) != sizeof(one))
		emu_log(server->emu, "an interrupt was lost");
}

static void vfio_user_msi(struct emu *emu, u64 address, u32 data)
{
	struct emu_vfio_user *server = emu->transport_data;

	emu_vfio_user_signal(server, server->eventfds[VFIO_USER_MSI]);
}

static void vfio_user_intx(struct emu *emu, bool level)
{
	emu_vfio_user_update_intx(emu->transport_data, level);
}

/* ---- connection ---- */

static void disconnect(struct emu_vfio_user *server)
{
	unsigned int i;

	close_fd(&server->client);
	emu_device_reset(server->emu); /* nothing reaches the memory of the client any more */
	emu_ram_release(server->emu);
	for (i = 0; i < VFIO_USER_IRQS; i++)
		close_fd(&server->eventfds[i]);
	server->negotiated = false;
	server->intx_masked = false;
	server->told_unshared = false;
	emu_log(server->emu, "the client has left");
}

/* A client whose memory has gone may send nothing any more. */
static int vfio_user_fds(struct emu *emu, int *fds)
{
	struct emu_vfio_user *server = emu->transport_data;

	if (emu->ram.lost) {
		emu_log(emu, "the memory of the client has lost pages");
		disconnect(server);
	}
	fds[0] = server->client >= 0 ? server->client : server->listener;
	return 1;
}

/* The service ends with the QEMU that was started for it, if there is one. */
static bool vfio_user_handle(struct emu *emu, int fd)
{
	static const struct timeval most = { .tv_sec = MESSAGE_SECONDS };
	struct emu_vfio_user *server = emu->transport_data;

	if (fd == server->listener) {
		server->client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		setsockopt(server->client, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
		setsockopt(server->client, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
		return true;
	}
	if (serve_one(server))
		return true;
	disconnect(server);
	return !server->qemu;
}

static const struct emu_transport_ops vfio_user_ops = {
	.msi = vfio_user_msi,
	.intx = vfio_user_intx,
	.fds = vfio_user_fds,
	.handle = vfio_user_handle,
};

/*
 * A socket of a server that has ended is replaced; that of one that runs is in use, as is any other
 * file. The name appears when clients can connect.
 */
static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat status;
	int err = 0, listener;

	if (strlen(path) + sizeof(NOT_YET) > sizeof(address.sun_path))
		return -ENAMETOOLONG;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -errno;
	strcpy(address.sun_path, path);
	if (!lstat(path, &status) &&
	    (!S_ISSOCK(status.st_mode) ||
	     !connect(listener, (struct sockaddr *)&address, sizeof(address)) ||
	     errno != ECONNREFUSED))
		err = -EADDRINUSE;
	strcat(address.sun_path, NOT_YET);
	if (!err)
		unlink(address.sun_path); /* of a server that was killed */
	if (!err && (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
		     listen(listener, 1) || rename(address.sun_path, path)))
		err = -errno;
	if (!err)
		return listener;
	close(listener);
	return err;
}

int emu_vfio_user_start(struct emu_vfio_user *server, struct emu *emu, const char *path)
{
	unsigned int i;

	*server = (struct emu_vfio_user){ .emu = emu, .path = path, .client = -1 };
	for (i = 0; i < VFIO_USER_IRQS; i++)
		server->eventfds[i] = -1;
	server->listener = listen_at(path);
	if (server->listener < 0)
		return server->listener;
	emu_ram_guard(emu);
	emu->transport = &vfio_user_ops;
	emu->transport_data = server;
	return 0;
}

int emu_vfio_user_run_qemu(struct emu_vfio_user *server, char **arguments)
{
	struct emu_launch launch = { .socket = server->path };
	char **command = emu_launch_arguments(arguments, &launch);
	sigset_t none;

	if (!command)
		return -ENOMEM;
	server->qemu = fork();
	if (server->qemu)
		return server->qemu < 0 ? -errno : 0;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int emu_vfio_user_stop(struct emu_vfio_user *server)
{
	int status = 0;

	close_fd(&server->client);
	close_fd(&server->listener);
	unlink(server->path);
	if (!server->qemu)
		return 0;
	waitpid(server->qemu, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
