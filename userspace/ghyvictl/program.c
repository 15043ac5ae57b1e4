// SPDX-License-Identifier: GPL-2.0-only
/* Execution of other programs, never through a shell. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ctl.h"

/*
 * Limit for files and outputs that are read whole: anything larger is not the expected content. The
 * longest is the dump of a vGPU with 1048576 table pages, with a line for each.
 */
#define TEXT_MAX (128 << 20)

void search_sbin(void)
{
	const char *path = getenv("PATH");
	char *all;

	if (asprintf(&all, "%s:/usr/sbin:/sbin", path && *path ? path : "/usr/bin:/bin") < 0)
		abort();
	setenv("PATH", all, 1);
	free(all);
}

bool program_exists(const char *name)
{
	char *all = strdup(getenv("PATH") ?: ""), *directory, *rest, *file;
	bool found = false;

	if (!all)
		return false;
	for (directory = strtok_r(all, ":", &rest); directory && !found;
	     directory = strtok_r(NULL, ":", &rest)) {
		if (asprintf(&file, "%s/%s", directory, name) < 0)
			break;
		found = !access(file, X_OK);
		free(file);
	}
	free(all);
	return found;
}

char *find_helper(const char *name)
{
	static const char *const places[] = { "../libexec/ghyvi", "../tools/sim", "." };
	char self[PATH_MAX], *path, *here;
	ssize_t length;
	size_t i;

	if (program_exists(name))
		return strdup(name);
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return NULL;
	self[length] = '\0';
	here = dirname(self);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&path, "%s/%s/%s", here, places[i], name) < 0)
			return NULL;
		if (!access(path, X_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* $GHYVI_MDEVCTL overrides the name and the check for the program; if it is empty, use none. */
const char *mdevctl_program(const struct ctl *ctl)
{
	const char *other = getenv("GHYVI_MDEVCTL");

	if (ctl->no_mdevctl)
		return NULL;
	if (other)
		return *other ? other : NULL;
	return program_exists("mdevctl") ? "mdevctl" : NULL;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int program_run(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int ret;

	fflush(stdout);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return 127;
	stop_child = child;
	if (stop_asked)
		kill(child, SIGTERM);
	ret = wait_for(child);
	stop_child = 0;
	return ret;
}

static char *read_all(int fd)
{
	size_t used = 0, room = 4096;
	char *text = malloc(room + 1), *bigger;
	ssize_t got;

	while (text) {
		got = read(fd, text + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || used > TEXT_MAX) {
			free(text);
			errno = got < 0 ? errno : EFBIG;
			return NULL;
		}
		used += got;
		if (!got)
			break;
		if (used == room) {
			room *= 2;
			bigger = realloc(text, room + 1);
			if (!bigger)
				free(text);
			text = bigger;
		}
	}
	if (text)
		text[used] = '\0';
	return text;
}

char *read_whole(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	char *text;

	if (fd < 0)
		return NULL;
	text = read_all(fd);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

static char *output_of(const char *const *argv, bool quiet)
{
	posix_spawn_file_actions_t actions;
	char *text = NULL;
	int ends[2], ret;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (quiet)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!ret) {
		text = read_all(ends[0]);
		close(ends[0]);
		if (wait_for(child)) {
			free(text);
			text = NULL;
		}
		return text;
	}
	close(ends[0]);
	return NULL;
}

char *program_output(const char *const *argv)
{
	return output_of(argv, true);
}

char *program_answer(const char *const *argv)
{
	return output_of(argv, false);
}
