// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command channel of the lab: one static program for both ends.
 *
 *   agent serve PORT...           in a VM; runs shell commands that arrive on virtio-serial ports
 *   agent hold                    in the host VM; keeps an idle KVM guest (see hold_kvm())
 *   agent call [options] SOCKET SHELL-COMMAND
 *                                 outside; SOCKET.0, SOCKET.1, ... are QEMU's ends of the ports
 *
 * Frames: type (1 byte), three zero bytes, length (32 bits, little endian), data.
 *
 *   H nonce   both ways: starts a session; the command of an older session is killed
 *   X rows cols flags command   starts the command; I data: its input; W rows cols: window size
 *   B                           from a VM that has just booted: an older session is lost
 *   O data, E data              output of the command;  R status: its end, always the last frame
 *
 * A port carries one session at a time. If the client disconnects, its command is killed, except
 * for processes that the command moved to other sessions.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define HEADER_BYTES 8
#define NONCE_BYTES 16
#define DATA_BYTES_MAX 16384
#define EXEC_HEADER_BYTES 5
#define EXEC_FLAG_TTY 1
#define EXEC_FLAG_STDIN 2
#define PORTS_MAX 16

/* How long to wait for output after the command has ended, if children keep its pipe open. */
#define DRAIN_MS 200
#define RETRY_MS 20
#define HELLO_AGAIN_MS 1000

#define EXIT_TIMEOUT 124
#define EXIT_LOST 125

/* What becomes process 1 in its place when that gets SIGUSR1. */
#define OTHER_INIT "/run/ghyvi/init"

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void sleep_ms(int ms)
{
	poll(NULL, 0, ms);
}

static void die(int status, const char *fmt, ...)
{
	va_list args;

	fputs("lab: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/* Returns 0, or -1 if the other side has disconnected. */
static int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n > 0) {
			p += n;
			len -= n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			poll(&pfd, 1, -1);
			if ((pfd.revents & (POLLHUP | POLLERR)) && !(pfd.revents & POLLOUT))
				return -1;
			continue;
		}
		return -1;
	}
	return 0;
}

static int send_frame(int fd, char type, const void *data, uint32_t len)
{
	static char frame[HEADER_BYTES + DATA_BYTES_MAX];

	if (len > DATA_BYTES_MAX)
		return -1;
	memset(frame, 0, HEADER_BYTES);
	frame[0] = type;
	memcpy(frame + 4, &len, sizeof(len));
	if (len)
		memcpy(frame + HEADER_BYTES, data, len);
	return write_all(fd, frame, HEADER_BYTES + len);
}

struct stream {
	char buf[2 * (HEADER_BYTES + DATA_BYTES_MAX)];
	size_t len;
};

/* Returns the type of the frame with data and len set, 0 for incomplete, -1 for invalid input. */
static int next_frame(struct stream *s, char **data, uint32_t *len)
{
	if (s->len < HEADER_BYTES)
		return 0;
	memcpy(len, s->buf + 4, sizeof(*len));
	if (*len > DATA_BYTES_MAX || s->buf[1] || s->buf[2] || s->buf[3])
		return -1;
	if (s->len < HEADER_BYTES + *len)
		return 0;
	*data = s->buf + HEADER_BYTES;
	return s->buf[0];
}

static void drop_frame(struct stream *s)
{
	uint32_t len;

	memcpy(&len, s->buf + 4, sizeof(len));
	len += HEADER_BYTES;
	s->len -= len;
	memmove(s->buf, s->buf + len, s->len);
}

/* ---- server, in the VM ---- */

struct session {
	int port;
	int sigchld;
	struct stream in;
	char nonce[NONCE_BYTES];
	pid_t child; /* 0: no running command */
	bool exited;
	int status;
	long long exited_ms;
	bool tty;
	int out, err, stdin_fd; /* -1: closed; with a tty, out is also the input */
};

static int open_port(const char *name)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	int fd = -1;

	while (dir && fd < 0 && (entry = readdir(dir))) {
		char path[300], found[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(found, sizeof(found), file))
			found[strcspn(found, "\n")] = 0;
		fclose(file);
		if (strcmp(found, name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_command(struct session *s, bool by_force)
{
	if (s->child && by_force) {
		kill(-s->child, SIGKILL);
		if (!s->exited)
			waitpid(s->child, NULL, 0);
	}
	s->child = 0;
	s->exited = false;
	close_fd(&s->out);
	close_fd(&s->err);
	close_fd(&s->stdin_fd);
}

static void set_winsize(int fd, const uint8_t *size)
{
	struct winsize ws = { .ws_row = size[0] | size[1] << 8, .ws_col = size[2] | size[3] << 8 };

	ioctl(fd, TIOCSWINSZ, &ws);
}

static void start_command(struct session *s, const char *data, uint32_t len)
{
	int out[2], err[2], in[2], master = -1, slave = -1;
	char *command;
	int flags;

	end_command(s, true);
	if (len < EXEC_HEADER_BYTES)
		return;
	flags = data[4];
	s->tty = flags & EXEC_FLAG_TTY;
	command = strndup(data + EXEC_HEADER_BYTES, len - EXEC_HEADER_BYTES);
	if (s->tty && openpty(&master, &slave, NULL, NULL, NULL) == 0)
		set_winsize(slave, (const uint8_t *)data);
	else if (!s->tty &&
		 (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(in, O_CLOEXEC)))
		die(EXIT_LOST, "agent: no pipes");
	s->child = fork();
	if (s->child == 0) {
		sigset_t none;

		setsid();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		if (s->tty) {
			ioctl(slave, TIOCSCTTY, 0);
			dup2(slave, 0);
			dup2(slave, 1);
			dup2(slave, 2);
			close(master);
			close(slave);
		} else {
			dup2(flags & EXEC_FLAG_STDIN ? in[0] : open("/dev/null", O_RDONLY), 0);
			dup2(out[1], 1);
			dup2(err[1], 2);
		}
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	free(command);
	if (s->tty) {
		close(slave);
		fcntl(master, F_SETFD, FD_CLOEXEC);
		s->out = master;
		return;
	}
	close(out[1]);
	close(err[1]);
	close(in[0]);
	s->out = out[0];
	s->err = err[0];
	s->stdin_fd = in[1];
}

static int handle_frame(struct session *s, int type, char *data, uint32_t len)
{
	int input = s->tty ? s->out : s->stdin_fd;

	switch (type) {
	case 'H':
		if (len != NONCE_BYTES)
			return 0;
		if (memcmp(s->nonce, data, NONCE_BYTES))
			end_command(s, true);
		memcpy(s->nonce, data, NONCE_BYTES);
		return send_frame(s->port, 'H', data, len);
	case 'X':
		start_command(s, data, len);
		return 0;
	case 'I':
		if (!len)
			close_fd(&s->stdin_fd);
		else if (input >= 0)
			write_all(input, data, len);
		return 0;
	case 'W':
		if (s->tty && s->out >= 0 && len == 4)
			set_winsize(s->out, (const uint8_t *)data);
		return 0;
	}
	return 0;
}

static void pump_output(struct session *s, int *fd, char type)
{
	static char buf[DATA_BYTES_MAX];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0)
		send_frame(s->port, type, buf, n);
	else if (n == 0 || errno != EINTR)
		close_fd(fd);
}

static void reap(struct session *s)
{
	struct signalfd_siginfo info;
	int status;

	while (read(s->sigchld, &info, sizeof(info)) > 0)
		;
	if (!s->child || s->exited || waitpid(s->child, &status, WNOHANG) != s->child)
		return;
	s->exited = true;
	s->exited_ms = now_ms();
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Returns an epoll descriptor that tells when data arrives at @port, and when a client opens or
 * closes it. poll() cannot wait for a client, since it returns POLLHUP at once while there is none.
 */
static int changes_of(int port)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int changes = epoll_create1(EPOLL_CLOEXEC);

	if (changes < 0 || epoll_ctl(changes, EPOLL_CTL_ADD, port, &event))
		die(EXIT_LOST, "agent: epoll: %s", strerror(errno));
	return changes;
}

static void serve(const char *name)
{
	static struct session s = { .out = -1, .err = -1, .stdin_fd = -1 };
	struct pollfd first = { .events = POLLOUT };
	struct epoll_event change;
	sigset_t set;
	int changes;

	while ((s.port = open_port(name)) < 0)
		sleep_ms(RETRY_MS);
	changes = changes_of(s.port);
	/* Tell a client from before the reboot that its session is lost. */
	first.fd = s.port;
	if (poll(&first, 1, 0) > 0 && !(first.revents & POLLHUP))
		send_frame(s.port, 'B', NULL, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s.sigchld = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct pollfd pfd[4] = {
			{ .fd = s.port, .events = POLLIN },
			{ .fd = s.sigchld, .events = POLLIN },
			{ .fd = s.out, .events = POLLIN },
			{ .fd = s.err, .events = POLLIN },
		};
		uint32_t len;
		char *data;
		int type;

		poll(pfd, 4, s.exited ? RETRY_MS : -1);
		if (pfd[0].revents & POLLHUP) {
			end_command(&s, true);
			s.in.len = 0;
			epoll_wait(changes, &change, 1, -1);
			continue;
		}
		if (pfd[0].revents & POLLIN) {
			ssize_t n = read(s.port, s.in.buf + s.in.len, sizeof(s.in.buf) - s.in.len);

			if (n > 0)
				s.in.len += n;
			while ((type = next_frame(&s.in, &data, &len)) > 0) {
				handle_frame(&s, type, data, len);
				drop_frame(&s.in);
			}
			if (type < 0)
				s.in.len = 0;
		}
		if (pfd[1].revents)
			reap(&s);
		if (pfd[2].revents && s.out >= 0)
			pump_output(&s, &s.out, 'O');
		if (pfd[3].revents && s.err >= 0)
			pump_output(&s, &s.err, 'E');
		if (s.exited && ((s.out < 0 && s.err < 0) || now_ms() - s.exited_ms > DRAIN_MS)) {
			uint32_t status = s.status;

			end_command(&s, false);
			send_frame(s.port, 'R', &status, sizeof(status));
		}
	}
}

/* The processes that serve go on, as its children. */
static void become_other_init(int sig)
{
	execl(OTHER_INIT, OTHER_INIT, NULL);
}

/* Reaps orphans, so that it can run as process 1. */
static int serve_ports(int count, char **names)
{
	/* Not blocked in the handler: the mask of signals outlives exec. */
	const struct sigaction give_way = { .sa_handler = become_other_init,
					    .sa_flags = SA_NODEFER };
	pid_t pids[PORTS_MAX] = { 0 };
	int i;

	if (getpid() == 1)
		sigaction(SIGUSR1, &give_way, NULL);
	if (count > PORTS_MAX)
		count = PORTS_MAX;
	for (;;) {
		pid_t pid;

		for (i = 0; i < count; i++) {
			if (pids[i])
				continue;
			pids[i] = fork();
			if (pids[i] == 0) {
				serve(names[i]);
				_exit(1);
			}
		}
		pid = wait(NULL);
		for (i = 0; i < count; i++) {
			if (pids[i] == pid) {
				pids[i] = 0;
				sleep_ms(RETRY_MS);
			}
		}
	}
}

/*
 * KVM switches static keys, i.e. patches kernel code, when the first guest is created, when the
 * last one is destroyed, and when a guest's APIC is disabled, as at every reset. QEMU's TCG can
 * miss such a patch on another vCPU, which then hits the stale breakpoint forever: a soft lockup in
 * __apic_accept_irq(). A guest that never runs, and therefore never enables its APIC, keeps the
 * keys constant.
 */
static void hold_kvm(void)
{
	int kvm = open("/dev/kvm", O_RDWR), vm = -1, vcpu = -1;

	if (kvm >= 0)
		vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm >= 0 && ioctl(vm, KVM_CREATE_IRQCHIP, 0) == 0)
		vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (vcpu < 0)
		die(EXIT_LOST, "agent: no KVM: %s", strerror(errno));
	for (;;)
		pause();
}

/* ---- client, outside of the VM ---- */

static struct termios saved_termios;
static volatile sig_atomic_t resized;

static void restore_terminal(void)
{
	tcsetattr(0, TCSANOW, &saved_termios);
}

static void on_resize(int sig)
{
	resized = 1;
}

static void get_winsize(uint8_t *size)
{
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };

	ioctl(0, TIOCGWINSZ, &ws);
	size[0] = ws.ws_row;
	size[1] = ws.ws_row >> 8;
	size[2] = ws.ws_col;
	size[3] = ws.ws_col >> 8;
}

/*
 * Returns a connection to a port that no other client uses, which *claim, a file descriptor, keeps
 * from other clients; or -1 with *missing set if there is none.
 */
static int connect_free_port(const char *base, bool *missing, int *claim)
{
	int i;

	*missing = true;
	for (i = 0; i < PORTS_MAX; i++) {
		struct sockaddr_un addr = { .sun_family = AF_UNIX };
		char path[sizeof(addr.sun_path) + 8];
		int lock, fd;

		snprintf(path, sizeof(path), "%s.%d.lock", base, i);
		if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s.%d", base, i) >=
		    (int)sizeof(addr.sun_path))
			die(EXIT_LOST, "socket path too long: %s", base);
		if (access(addr.sun_path, F_OK))
			return -1;
		lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (lock < 0)
			return -1;
		if (flock(lock, LOCK_EX | LOCK_NB)) {
			*missing = false;
			close(lock);
			continue;
		}
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0) {
			*claim = lock;
			return fd;
		}
		close(fd);
		close(lock);
		return -1;
	}
	return -1;
}

/* Sends H until the server echoes it; discards the remains of an older session in the channel. */
static bool hello(int fd, struct stream *s, long long deadline)
{
	char want[HEADER_BYTES + NONCE_BYTES] = { 'H', 0, 0, 0, NONCE_BYTES };
	long long again = 0;

	getrandom(want + HEADER_BYTES, NONCE_BYTES, 0);
	s->len = 0;
	while (now_ms() < deadline) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		char *found;
		ssize_t n;

		if (now_ms() >= again) {
			if (write_all(fd, want, sizeof(want)))
				return false;
			again = now_ms() + HELLO_AGAIN_MS;
		}
		if (poll(&pfd, 1, 100) <= 0)
			continue;
		if (s->len == sizeof(s->buf)) {
			memmove(s->buf, s->buf + s->len - sizeof(want), sizeof(want));
			s->len = sizeof(want);
		}
		n = read(fd, s->buf + s->len, sizeof(s->buf) - s->len);
		if (n <= 0)
			return false;
		s->len += n;
		found = memmem(s->buf, s->len, want, sizeof(want));
		if (found) {
			found += sizeof(want);
			s->len = s->buf + s->len - found;
			memmove(s->buf, found, s->len);
			return true;
		}
	}
	return false;
}

static int talk(int fd, struct stream *s, bool use_stdin, bool tty, long long deadline)
{
	bool input = use_stdin || tty;

	for (;;) {
		struct pollfd pfd[2] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = input ? 0 : -1, .events = POLLIN },
		};
		long long left = deadline ? deadline - now_ms() : 1000;
		uint32_t len, status;
		char *data;
		ssize_t n;
		int type;

		while ((type = next_frame(s, &data, &len)) > 0) {
			if (type == 'O')
				write_all(1, data, len);
			else if (type == 'E')
				write_all(2, data, len);
			else if (type == 'R') {
				memcpy(&status, data, sizeof(status));
				return status;
			} else if (type == 'B')
				die(EXIT_LOST, "the virtual machine rebooted");
			drop_frame(s);
		}
		if (type < 0)
			die(EXIT_LOST, "command channel out of step");
		if (left <= 0)
			return EXIT_TIMEOUT;
		if (resized) {
			uint8_t size[4];

			resized = 0;
			get_winsize(size);
			send_frame(fd, 'W', size, sizeof(size));
		}
		if (poll(pfd, 2, left > 1000 ? 1000 : left) <= 0)
			continue;
		if (pfd[1].revents) {
			char buf[4096];

			n = read(0, buf, sizeof(buf));
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				input = false;
			send_frame(fd, 'I', buf, n > 0 ? n : 0);
		}
		if (pfd[0].revents) {
			n = read(fd, s->buf + s->len, sizeof(s->buf) - s->len);
			if (n <= 0)
				die(EXIT_LOST, "the virtual machine has disconnected");
			s->len += n;
		}
	}
}

static int call(int argc, char **argv)
{
	static struct stream s;
	static char exec[DATA_BYTES_MAX];
	bool tty = false, use_stdin = false, missing;
	double timeout_s = 0, wait_s = 30;
	long long started = now_ms(), deadline;
	int opt, fd, claim, status;
	size_t len;

	while ((opt = getopt(argc, argv, "+t:w:iT")) != -1) {
		switch (opt) {
		case 't':
			timeout_s = atof(optarg);
			break;
		case 'w':
			wait_s = atof(optarg);
			break;
		case 'i':
			use_stdin = true;
			break;
		case 'T':
			tty = isatty(0);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		die(2, "usage: agent call [-t SECONDS] [-w SECONDS] [-i] [-T] SOCKET COMMAND");
	deadline = started + wait_s * 1000;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		fd = connect_free_port(argv[optind], &missing, &claim);
		if (fd >= 0 && hello(fd, &s, deadline))
			break;
		/* Wait if all ports are in use, and if the machine has not booted yet. */
		if (now_ms() >= deadline)
			die(EXIT_LOST, fd < 0 && !missing ? "all command channels are in use" :
				       fd < 0		  ? "the virtual machine does not run" :
							    "no answer from the virtual machine");
		if (fd >= 0) {
			close(fd);
			close(claim);
		}
		sleep_ms(RETRY_MS);
	}
	len = strlen(argv[optind + 1]);
	if (len > sizeof(exec) - EXEC_HEADER_BYTES)
		die(2, "command too long (%zu bytes)", len);
	get_winsize((uint8_t *)exec);
	exec[4] = (tty ? EXEC_FLAG_TTY : 0) | (use_stdin ? EXEC_FLAG_STDIN : 0);
	memcpy(exec + EXEC_HEADER_BYTES, argv[optind + 1], len);
	if (tty) {
		struct sigaction sa = { .sa_handler = on_resize };
		struct termios raw;

		sigaction(SIGWINCH, &sa, NULL);
		tcgetattr(0, &saved_termios);
		atexit(restore_terminal);
		raw = saved_termios;
		cfmakeraw(&raw);
		tcsetattr(0, TCSANOW, &raw);
	}
	send_frame(fd, 'X', exec, EXEC_HEADER_BYTES + len);
	status = talk(fd, &s, use_stdin, tty,
		      timeout_s > 0 ? now_ms() + (long long)(timeout_s * 1000) : 0);
	if (status == EXIT_TIMEOUT && timeout_s > 0 && now_ms() - started >= timeout_s * 1000)
		fprintf(stderr, "lab: no end after %g s\n", timeout_s);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "serve"))
		return serve_ports(argc - 2, argv + 2);
	if (argc == 2 && !strcmp(argv[1], "hold"))
		hold_kvm();
	if (argc > 3 && !strcmp(argv[1], "call"))
		return call(argc - 1, argv + 1);
	die(2, "usage: agent serve PORT... | agent hold | agent call [options] SOCKET COMMAND");
}
