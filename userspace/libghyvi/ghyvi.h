/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libghyvi: the vGPUs of this host, for programs in C.
 *
 * A thin layer over libudev, which finds devices, and sysfs (Documentation/ABI/testing/sysfs-bus-mdev-ghyvi): it keeps
 * no state of its own, starts no threads, prints nothing, and needs root only where the kernel does (whatever writes,
 * and the dumps). No udev daemon need run.
 *
 * All functions that can fail return 0 or a negative errno; those every one of them can return:
 *	-ENOMEM		no memory
 *	-EIO, -EACCES	the kernel refused a read; a write without root
 * Objects are snapshots. An object is used by one thread at a time; different objects may be used at once.
 * Strings that accessors return belong to the object, are never NULL, and may hold whatever bytes sysfs gave.
 *
 * The ABI is stable: functions are added (with a new symbol version), never changed.
 */
#ifndef GHYVI_H
#define GHYVI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As long as any attribute's value can be, with its NUL. */
#define GHYVI_VALUE_BYTES 4097
#define GHYVI_UUID_CHARS 36

/* ---- a host ---- */

struct ghyvi;

/**
 * ghyvi_open - start here
 * @ghyvi: the new object
 * @sysfs: NULL or "/sys", where sysfs is: libudev knows no other
 *
 * Return: 0, or -ENOENT: sysfs is not there.
 */
int ghyvi_open(struct ghyvi **ghyvi, const char *sysfs);

/* Objects made from @ghyvi stay usable. NULL is allowed, as in all functions that free. */
void ghyvi_close(struct ghyvi *ghyvi);

/* Where sysfs is: "/sys". */
const char *ghyvi_sysfs(const struct ghyvi *ghyvi);

/* ---- types: what can be created ---- */

struct ghyvi_types;
struct ghyvi_type;

/**
 * ghyvi_types_read - all ghyvi types of all parents (PCI devices), sorted by parent, then as the kernel's numbers go
 *
 * Return: 0, also where there are none.
 */
int ghyvi_types_read(struct ghyvi *ghyvi, struct ghyvi_types **types);
void ghyvi_types_free(struct ghyvi_types *types);
size_t ghyvi_types_count(const struct ghyvi_types *types);
/* @index is less than the count; valid until @types is freed. */
const struct ghyvi_type *ghyvi_types_at(const struct ghyvi_types *types, size_t index);

/* "ghyvi_softgpu-gen9_4", what create and mdevctl take */
const char *ghyvi_type_id(const struct ghyvi_type *type);
/* "ghyvi-gen9_4", the same for every backend */
const char *ghyvi_type_name(const struct ghyvi_type *type);
/* "1000:00:00.0" */
const char *ghyvi_type_parent(const struct ghyvi_type *type);
/* "device=8086:1912, aperture=64M, ..." */
const char *ghyvi_type_description(const struct ghyvi_type *type);
/* How many could have been created when it was read, all vGPUs considered. */
unsigned int ghyvi_type_available(const struct ghyvi_type *type);
/* Whether @word names it: by id, by name, or by what follows the "-" in either. */
bool ghyvi_type_is(const struct ghyvi_type *type, const char *word);

/* ---- vGPUs ---- */

struct ghyvi_vgpus;
struct ghyvi_vgpu;

/**
 * ghyvi_vgpus_read - all vGPUs of this host, sorted by UUID
 *
 * Other vendors' mdevs are left out.
 *
 * Return: 0, also where there are none.
 */
int ghyvi_vgpus_read(struct ghyvi *ghyvi, struct ghyvi_vgpus **vgpus);
void ghyvi_vgpus_free(struct ghyvi_vgpus *vgpus);
size_t ghyvi_vgpus_count(const struct ghyvi_vgpus *vgpus);
/* @index is less than the count; valid until @vgpus is freed. */
struct ghyvi_vgpu *ghyvi_vgpus_at(const struct ghyvi_vgpus *vgpus, size_t index);

/**
 * ghyvi_vgpu_find - the vGPU with this UUID
 *
 * Return: 0; -EINVAL: not a UUID; -ENODEV: there is none, or it is not ghyvi's. Free it with ghyvi_vgpu_free().
 */
int ghyvi_vgpu_find(struct ghyvi *ghyvi, const char *uuid, struct ghyvi_vgpu **vgpu);
void ghyvi_vgpu_free(struct ghyvi_vgpu *vgpu);

/* Lower case. */
const char *ghyvi_vgpu_uuid(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_parent(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_type_id(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_type_name(const struct ghyvi_vgpu *vgpu);
/* Its directory in sysfs, /sys/bus/mdev/devices/<uuid>: what QEMU's sysfsdev= takes. */
const char *ghyvi_vgpu_path(const struct ghyvi_vgpu *vgpu);
/* Its directory in debugfs, which only root can look into. */
const char *ghyvi_vgpu_debugfs(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_read - the value of an attribute, without the newline at its end
 * @attribute: "state", "last_error", "policy/mode", "stats/workloads"
 * @value: at least @bytes; always ends with a NUL when 0 is returned
 *
 * Return: 0; -ENODEV: the vGPU is gone; -ENOENT: no such attribute; -EINVAL: not the name of one;
 * -ENOSPC: @bytes is too small (GHYVI_VALUE_BYTES always suffices).
 */
int ghyvi_vgpu_read(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value,
		    size_t bytes);

/**
 * ghyvi_vgpu_write - set an attribute
 * @attribute: in a group ("policy/mode"): the others are not settings
 *
 * Return: 0; -ENODEV, -ENOENT and -EINVAL (also: a value the kernel refused; nothing changes then) as
 * ghyvi_vgpu_read(); -EROFS: it is read-only; -EPERM: the kernel refused it; -EOPNOTSUPP: not on this pGPU; -E2BIG: too long a value.
 * "last_error" has the reason, if the kernel gave one.
 */
int ghyvi_vgpu_write(const struct ghyvi_vgpu *vgpu, const char *attribute, const char *value);

/**
 * ghyvi_vgpu_policy - the active shadowing policy
 *
 * Return: as ghyvi_vgpu_read(); -EPROTO: the kernel marks none as active.
 */
int ghyvi_vgpu_policy(const struct ghyvi_vgpu *vgpu, char *name, size_t bytes);

/**
 * ghyvi_vgpu_is_open - whether a VM uses it
 *
 * Return: 1 or 0, or as ghyvi_vgpu_read().
 */
int ghyvi_vgpu_is_open(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_each_attribute - call @each for every setting (attributes in groups, but counters), sorted
 * @each: what it returns other than 0 ends the walk
 *
 * Return: 0, what @each returned, or -ENODEV.
 */
int ghyvi_vgpu_each_attribute(const struct ghyvi_vgpu *vgpu,
			      int (*each)(void *data, const char *attribute, bool writable),
			      void *data);

/**
 * ghyvi_vgpu_reset - stop what runs and lift failsafe state; may sleep until it is done
 *
 * A guest's driver sees a GPU hang and recovers, unless the vGPU was in failsafe state: then that
 * driver must be loaded again, or the VM restarted.
 *
 * Return: 0; -ENODEV.
 */
int ghyvi_vgpu_reset(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_unplug - ask the VM that uses it to let go of it; does not wait
 *
 * QEMU asks the guest in turn. When it has let go, ghyvi_vgpu_is_open() returns 0.
 *
 * Return: 0; -ENXIO: no VM uses it; -EOPNOTSUPP: the program that uses it cannot be asked; -ENODEV;
 * -EPROTO: the kernel module is older than this function.
 */
int ghyvi_vgpu_unplug(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_remove - remove it
 * @force: also while a VM uses it. That VM is asked to let go of it, and this call waits until it
 *	has: for ever if it cannot, and no signal ends that. ghyvi_vgpu_unplug() first avoids it.
 *
 * Return: 0; -EBUSY: a VM uses it, and not @force; -ENODEV.
 */
int ghyvi_vgpu_remove(const struct ghyvi_vgpu *vgpu, bool force);

/**
 * ghyvi_create - create a vGPU
 * @type: of ghyvi_types_read()
 * @uuid: not in use; letters of either case
 *
 * Return: 0; -EINVAL: not a UUID; -EEXIST: it is in use; -ENOSPC: no room for this type; -ENODEV: the
 * parent is gone.
 */
int ghyvi_create(struct ghyvi *ghyvi, const struct ghyvi_type *type, const char *uuid);

/* Whether @text is a UUID, 8-4-4-4-12 hexadecimal digits. */
bool ghyvi_is_uuid(const char *text);
/* A random one. @uuid has GHYVI_UUID_CHARS + 1 bytes. */
int ghyvi_new_uuid(char *uuid);

/* ---- vGPUs that come and go ---- */

struct ghyvi_watch;

/**
 * ghyvi_watch_open - from now on, notice vGPUs that are created and removed
 *
 * Return: 0, or the errno of socket(2) or bind(2), where netlink is not allowed.
 */
int ghyvi_watch_open(struct ghyvi_watch **watch);
void ghyvi_watch_close(struct ghyvi_watch *watch);
/* For poll(2), POLLIN. It stays the watch's. */
int ghyvi_watch_fd(const struct ghyvi_watch *watch);
/**
 * ghyvi_watch_take - whether there was anything since the last call; never waits
 *
 * Return: true: ghyvi_vgpus_read() may find others than before. It may also find the same: other vendors' mdevs count, and a
 * vGPU that is created counts more than once, last when all of it is there.
 */
bool ghyvi_watch_take(struct ghyvi_watch *watch);

/* ---- pGPUs: what offers vGPUs ---- */

struct ghyvi_parent;

/**
 * ghyvi_parent_find - the pGPU with this name, such as 1000:00:00.0
 *
 * Return: 0; -ENODEV: there is none, or it is not ghyvi's. Free it with ghyvi_parent_free().
 */
int ghyvi_parent_find(struct ghyvi *ghyvi, const char *name, struct ghyvi_parent **parent);
void ghyvi_parent_free(struct ghyvi_parent *parent);
const char *ghyvi_parent_name(const struct ghyvi_parent *parent);

/* Its settings, such as "ghyvi/scheduler"; otherwise as ghyvi_vgpu_read(), _write() and _each_attribute(). */
int ghyvi_parent_read(const struct ghyvi_parent *parent, const char *attribute, char *value,
		      size_t bytes);
int ghyvi_parent_write(const struct ghyvi_parent *parent, const char *attribute, const char *value);
int ghyvi_parent_each_attribute(const struct ghyvi_parent *parent,
				int (*each)(void *data, const char *attribute, bool writable),
				void *data);

/* ---- counters ---- */

struct ghyvi_stats;

/**
 * ghyvi_stats_read - all counters of a vGPU, in the kernel's order; those unknown here come last
 *
 * Return: 0; -ENODEV.
 */
int ghyvi_stats_read(const struct ghyvi_vgpu *vgpu, struct ghyvi_stats **stats);
void ghyvi_stats_free(struct ghyvi_stats *stats);
size_t ghyvi_stats_count(const struct ghyvi_stats *stats);
const char *ghyvi_stats_name(const struct ghyvi_stats *stats, size_t index);
uint64_t ghyvi_stats_value(const struct ghyvi_stats *stats, size_t index);
/* 0 for a counter that this kernel does not have. */
uint64_t ghyvi_stats_get(const struct ghyvi_stats *stats, const char *name);
/* When it was read, CLOCK_MONOTONIC. */
uint64_t ghyvi_stats_time_ns(const struct ghyvi_stats *stats);
/* What a counter counts, in English; "" if unknown. */
const char *ghyvi_stat_help(const char *name);
/* Whether it says how many there are now, and so may fall. */
bool ghyvi_stat_is_now(const char *name);

#ifdef __cplusplus
}
#endif

#endif
