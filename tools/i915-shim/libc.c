// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of the C library that this library stands in front of. Each goes to the library's
 * own code for DRM nodes and their paths, and to the C library for everything else.
 *
 * Names ending in 64 are those of programs built with _FILE_OFFSET_BITS=64, where both are the same
 * here; __xstat and its like those of programs built before glibc 2.33.
 */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "shim.h"

#define EXPORT __attribute__((visibility("default")))
#define DRM_MAJOR 226

/* NEXT(name)(...) calls the C library's function, which is looked up once. */
#define NEXT(name)                                      \
	({                                              \
		static _Atomic(void *) next;            \
		if (!next)                              \
			next = dlsym(RTLD_NEXT, #name); \
		(__typeof__(&name))(void *)next;        \
	})

/* Functions that <sys/stat.h> does not declare any more. */
int __xstat(int version, const char *path, struct stat *buffer);
int __lxstat(int version, const char *path, struct stat *buffer);
int __fxstat(int version, int fd, struct stat *buffer);
int __xstat64(int version, const char *path, struct stat64 *buffer);
int __lxstat64(int version, const char *path, struct stat64 *buffer);
int __fxstat64(int version, int fd, struct stat64 *buffer);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

void *real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return NEXT(mmap)(address, bytes, protection, flags, fd, offset);
}

int real_munmap(void *address, size_t bytes)
{
	return NEXT(munmap)(address, bytes);
}

/* ---- open ---- */

static int fd_minor(int fd)
{
	void *what;

	return fd_find(fd, &what) == FD_DRM ? (int)((struct file *)what)->minor : -1;
}

/* The minor if @path names a node's file again, as IGT does to have another one; or -1. */
static int reopened_minor(const char *path)
{
	int fd;

	return path && sscanf(path, "/proc/self/fd/%d", &fd) == 1 ? fd_minor(fd) : -1;
}

static int open_path(int directory, const char *path, int flags, mode_t mode)
{
	char buffer[PATH_MAX];
	int minor;

	path = path_redirect(path, buffer);
	minor = path == buffer ? path_minor(path) : reopened_minor(path);
	if (minor >= 0)
		return file_open(minor, flags);
	return NEXT(openat)(directory, path, flags, mode);
}

#define OPEN(name, parameters, directory)                                \
	EXPORT int name parameters                                       \
	{                                                                \
		mode_t mode = 0;                                         \
		va_list args;                                            \
                                                                         \
		va_start(args, flags);                                   \
		if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) \
			mode = va_arg(args, mode_t);                     \
		va_end(args);                                            \
		return open_path(directory, path, flags, mode);          \
	}

OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int directory, const char *path, int flags, ...), directory)
OPEN(openat64, (int directory, const char *path, int flags, ...), directory)

EXPORT int __open_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	char buffer[PATH_MAX];

	return NEXT(fopen)(path_redirect(path, buffer), mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	char buffer[PATH_MAX];

	return NEXT(fopen64)(path_redirect(path, buffer), mode);
}

EXPORT DIR *opendir(const char *path)
{
	char buffer[PATH_MAX];

	return NEXT(opendir)(path_redirect(path, buffer));
}

EXPORT int scandir(const char *path, struct dirent ***list,
		   int (*filter)(const struct dirent *entry),
		   int (*compare)(const struct dirent **a, const struct dirent **b))
{
	char buffer[PATH_MAX];

	return NEXT(scandir)(path_redirect(path, buffer), list, filter, compare);
}

EXPORT int scandir64(const char *path, struct dirent64 ***list,
		     int (*filter)(const struct dirent64 *entry),
		     int (*compare)(const struct dirent64 **a, const struct dirent64 **b))
{
	char buffer[PATH_MAX];

	return NEXT(scandir64)(path_redirect(path, buffer), list, filter, compare);
}

EXPORT int access(const char *path, int mode)
{
	char buffer[PATH_MAX];

	return NEXT(access)(path_redirect(path, buffer), mode);
}

EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
	char buffer[PATH_MAX];

	return NEXT(faccessat)(directory, path_redirect(path, buffer), mode, flags);
}

EXPORT ssize_t readlink(const char *path, char *result, size_t bytes)
{
	char buffer[PATH_MAX];

	return NEXT(readlink)(path_redirect(path, buffer), result, bytes);
}

EXPORT ssize_t readlinkat(int directory, const char *path, char *result, size_t bytes)
{
	char buffer[PATH_MAX];

	return NEXT(readlinkat)(directory, path_redirect(path, buffer), result, bytes);
}

static char *without_root(char *path)
{
	const char *rest = path ? path_without_root(path) : NULL;

	if (rest != path)
		memmove(path, rest, strlen(rest) + 1);
	return path;
}

EXPORT char *realpath(const char *path, char *resolved)
{
	char buffer[PATH_MAX];

	return without_root(NEXT(realpath)(path_redirect(path, buffer), resolved));
}

EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

/* ---- stat ---- */

/* The nodes in the tree are ordinary files, and so is what is behind a fd. */
#define SHOW_NODE(buffer, minor)                               \
	do {                                                   \
		(buffer)->st_mode = S_IFCHR | 0666;            \
		(buffer)->st_rdev = makedev(DRM_MAJOR, minor); \
	} while (0)

#define STAT_PATH(call)                                                          \
	char redirect_buffer[PATH_MAX];                                          \
	const char *redirected = path_redirect(path, redirect_buffer);           \
	int minor = redirected == redirect_buffer ? path_minor(redirected) : -1; \
	int err = call;                                                          \
                                                                                 \
	if (!err && minor >= 0)                                                  \
		SHOW_NODE(buffer, minor);                                        \
	return err

#define STAT_FD(call)                     \
	int minor = fd_minor(fd);         \
	int err = call;                   \
                                          \
	if (!err && minor >= 0)           \
		SHOW_NODE(buffer, minor); \
	return err

EXPORT int stat(const char *path, struct stat *buffer)
{
	STAT_PATH(NEXT(stat)(redirected, buffer));
}

EXPORT int stat64(const char *path, struct stat64 *buffer)
{
	STAT_PATH(NEXT(stat64)(redirected, buffer));
}

EXPORT int lstat(const char *path, struct stat *buffer)
{
	STAT_PATH(NEXT(lstat)(redirected, buffer));
}

EXPORT int lstat64(const char *path, struct stat64 *buffer)
{
	STAT_PATH(NEXT(lstat64)(redirected, buffer));
}

EXPORT int __xstat(int version, const char *path, struct stat *buffer)
{
	STAT_PATH(NEXT(__xstat)(version, redirected, buffer));
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *buffer)
{
	STAT_PATH(NEXT(__xstat64)(version, redirected, buffer));
}

EXPORT int __lxstat(int version, const char *path, struct stat *buffer)
{
	STAT_PATH(NEXT(__lxstat)(version, redirected, buffer));
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *buffer)
{
	STAT_PATH(NEXT(__lxstat64)(version, redirected, buffer));
}

EXPORT int fstat(int fd, struct stat *buffer)
{
	STAT_FD(NEXT(fstat)(fd, buffer));
}

EXPORT int fstat64(int fd, struct stat64 *buffer)
{
	STAT_FD(NEXT(fstat64)(fd, buffer));
}

EXPORT int __fxstat(int version, int fd, struct stat *buffer)
{
	STAT_FD(NEXT(__fxstat)(version, fd, buffer));
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *buffer)
{
	STAT_FD(NEXT(__fxstat64)(version, fd, buffer));
}

EXPORT int fstatat(int fd, const char *path, struct stat *buffer, int flags)
{
	if (flags & AT_EMPTY_PATH && !*path)
		return fstat(fd, buffer);
	STAT_PATH(NEXT(fstatat)(fd, redirected, buffer, flags));
}

EXPORT int fstatat64(int fd, const char *path, struct stat64 *buffer, int flags)
{
	if (flags & AT_EMPTY_PATH && !*path)
		return fstat64(fd, buffer);
	STAT_PATH(NEXT(fstatat64)(fd, redirected, buffer, flags));
}

EXPORT int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *buffer)
{
	char redirect_buffer[PATH_MAX];
	const char *redirected = path_redirect(path, redirect_buffer);
	int minor = redirected == redirect_buffer ? path_minor(redirected) : -1;
	int err = NEXT(statx)(fd, redirected, flags, mask, buffer);

	if (flags & AT_EMPTY_PATH && !*path)
		minor = fd_minor(fd);
	if (!err && minor >= 0) {
		buffer->stx_mode = S_IFCHR | 0666;
		buffer->stx_rdev_major = DRM_MAJOR;
		buffer->stx_rdev_minor = minor;
	}
	return err;
}

/* ---- file descriptors ---- */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *what;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd_find(fd, &what) == FD_DRM)
		return file_ioctl(what, request, arg);
	return NEXT(ioctl)(fd, request, arg);
}

static void *map(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *what;

	if (!(flags & MAP_ANONYMOUS))
		switch (fd_find(fd, &what)) {
		case FD_DRM:
			return object_mmap(address, bytes, protection, flags, offset);
		case FD_BUFFER:
			return object_mmap(address, bytes, protection, flags,
					   ((struct object *)what)->offset + offset);
		default:
			break;
		}
	return real_mmap(address, bytes, protection, flags, fd, offset);
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return map(address, bytes, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return map(address, bytes, protection, flags, fd, offset);
}

EXPORT int munmap(void *address, size_t bytes)
{
	int err = real_munmap(address, bytes);

	if (!err)
		object_munmap(address, bytes);
	return err;
}

EXPORT int close(int fd)
{
	fd_forget(fd);
	return NEXT(close)(fd);
}

static int copied(int from, int to)
{
	if (to >= 0 && to != from)
		fd_copy(from, to);
	return to;
}

EXPORT int dup(int fd)
{
	return copied(fd, NEXT(dup)(fd));
}

EXPORT int dup2(int fd, int to)
{
	return copied(fd, NEXT(dup2)(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
	return copied(fd, NEXT(dup3)(fd, to, flags));
}

static int control(int fd, int command, void *arg, int (*next)(int fd, int command, ...))
{
	int result = next(fd, command, arg);

	return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}

#define FCNTL(name)                                           \
	EXPORT int name(int fd, int command, ...)             \
	{                                                     \
		va_list args;                                 \
		void *arg;                                    \
                                                              \
		va_start(args, command);                      \
		arg = va_arg(args, void *);                   \
		va_end(args);                                 \
		return control(fd, command, arg, NEXT(name)); \
	}

FCNTL(fcntl)
FCNTL(fcntl64)
