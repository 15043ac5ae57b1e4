/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libghyvi: a C library for the vGPUs of this host.
 *
 * It is a thin layer over libudev, which finds the devices, and over sysfs
 * (Documentation/ABI/testing/sysfs-bus-mdev-ghyvi). It keeps no state, starts no threads and prints
 * nothing. It needs root only where the kernel does: to write, and to read the dumps in debugfs. It
 * works without a running udev daemon.
 *
 * All functions that can fail return 0 or a negative errno. Each of them can return:
 *	-ENOMEM		out of memory
 *	-EIO, -EACCES	the kernel rejected a read; a write without root
 * Objects are snapshots. Only one thread may use an object at a time; different objects can be used
 * concurrently. Strings returned by accessors belong to the object and are never NULL. They contain
 * the bytes of sysfs, unchecked.
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

/* The size of the longest value of an attribute, including the terminating NUL. */
#define GHYVI_VALUE_BYTES 4097
#define GHYVI_UUID_CHARS 36

/* ---- a host ---- */

struct ghyvi;

/**
 * ghyvi_open() - Create the object that the other functions need.
 * @ghyvi: set to the new object on success
 * @sysfs: where sysfs is mounted: NULL or "/sys", because libudev supports no other place
 *
 * Return: 0, or -ENOENT: sysfs is not mounted there.
 */
int ghyvi_open(struct ghyvi **ghyvi, const char *sysfs);

/**
 * ghyvi_close() - Free an object of ghyvi_open().
 * @ghyvi: may be NULL, as in all functions that free an object
 *
 * Objects that were created from @ghyvi remain usable.
 */
void ghyvi_close(struct ghyvi *ghyvi);

/* The mount point of sysfs: "/sys". */
const char *ghyvi_sysfs(const struct ghyvi *ghyvi);

/* ---- types of vGPUs ---- */

struct ghyvi_types;
struct ghyvi_type;

/**
 * ghyvi_types_read() - Read the ghyvi types of all parents.
 * @ghyvi: of ghyvi_open()
 * @types: set to the new list on success; free it with ghyvi_types_free()
 *
 * A parent is a PCI device. The list is sorted by parent, then by type id; both with numbers in
 * numeric order.
 *
 * Return: 0, also if there are no types.
 */
int ghyvi_types_read(struct ghyvi *ghyvi, struct ghyvi_types **types);
void ghyvi_types_free(struct ghyvi_types *types);
size_t ghyvi_types_count(const struct ghyvi_types *types);
/* @index is less than the count; valid until @types is freed. */
const struct ghyvi_type *ghyvi_types_at(const struct ghyvi_types *types, size_t index);

/* "ghyvi_softgpu-gen9_4": the name that mdevctl uses */
const char *ghyvi_type_id(const struct ghyvi_type *type);
/* "ghyvi-gen9_4", the same for every backend */
const char *ghyvi_type_name(const struct ghyvi_type *type);
/* "1000:00:00.0" */
const char *ghyvi_type_parent(const struct ghyvi_type *type);
/* "device=8086:1912, aperture=64M, ..." */
const char *ghyvi_type_description(const struct ghyvi_type *type);
/* How many more vGPUs of this type the parent could create when @type was read. */
unsigned int ghyvi_type_available(const struct ghyvi_type *type);
/* True if @word is the id, the name, or the part after the "-" of either. */
bool ghyvi_type_is(const struct ghyvi_type *type, const char *word);

/* ---- vGPUs ---- */

struct ghyvi_vgpus;
struct ghyvi_vgpu;

/**
 * ghyvi_vgpus_read() - Read the list of vGPUs of this host.
 * @ghyvi: of ghyvi_open()
 * @vgpus: set to the new list on success; free it with ghyvi_vgpus_free()
 *
 * The list is sorted by UUID. It excludes the mdevs of other drivers.
 *
 * Return: 0, also if there are no vGPUs.
 */
int ghyvi_vgpus_read(struct ghyvi *ghyvi, struct ghyvi_vgpus **vgpus);
void ghyvi_vgpus_free(struct ghyvi_vgpus *vgpus);
size_t ghyvi_vgpus_count(const struct ghyvi_vgpus *vgpus);
/* @index is less than the count; valid until @vgpus is freed. */
struct ghyvi_vgpu *ghyvi_vgpus_at(const struct ghyvi_vgpus *vgpus, size_t index);

/**
 * ghyvi_vgpu_find() - Find a vGPU by its UUID.
 * @ghyvi: of ghyvi_open()
 * @uuid: in upper or lower case
 * @vgpu: set to the new object on success; free it with ghyvi_vgpu_free()
 *
 * Return: 0; -EINVAL: @uuid is not a UUID; -ENODEV: there is no such mdev, or it belongs to another
 * driver.
 */
int ghyvi_vgpu_find(struct ghyvi *ghyvi, const char *uuid, struct ghyvi_vgpu **vgpu);
void ghyvi_vgpu_free(struct ghyvi_vgpu *vgpu);

/* In lower case. */
const char *ghyvi_vgpu_uuid(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_parent(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_type_id(const struct ghyvi_vgpu *vgpu);
const char *ghyvi_vgpu_type_name(const struct ghyvi_vgpu *vgpu);
/* The directory in sysfs, /sys/bus/mdev/devices/<uuid>, as for QEMU's sysfsdev=. */
const char *ghyvi_vgpu_path(const struct ghyvi_vgpu *vgpu);
/* The directory in debugfs, which only root can read. */
const char *ghyvi_vgpu_debugfs(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_read() - Read the value of an attribute.
 * @vgpu: the vGPU
 * @attribute: "state", "last_error", "policy/mode" or "stats/workloads", for example
 * @value: buffer for the value, without the newline at its end; ends with a NUL on success
 * @bytes: size of @value; GHYVI_VALUE_BYTES is always sufficient
 *
 * Return: 0; -ENODEV: the vGPU has been removed; -ENOENT: no such attribute; -EINVAL: @attribute is
 * not of the form "name" or "group/name"; -ENOSPC: @bytes is too small.
 */
int ghyvi_vgpu_read(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value,
		    size_t bytes);

/**
 * ghyvi_vgpu_write() - Change a setting.
 * @vgpu: the vGPU
 * @attribute: an attribute in a group, such as "policy/mode", or "slot"; others are not settings
 * @value: without a newline
 *
 * A value that the kernel rejects changes nothing. The attribute "last_error" has the reason if the
 * kernel gave one.
 *
 * Return: 0; -ENODEV, -ENOENT: as ghyvi_vgpu_read(); -EINVAL: as ghyvi_vgpu_read(), or the kernel
 * rejected the value; -EROFS: the attribute is read-only; -EPERM: the kernel rejected the change;
 * -EBUSY: not now, such as "slot" while a program has the vGPU open;
 * -EOPNOTSUPP: the pGPU does not support it; -E2BIG: @value is too long.
 */
int ghyvi_vgpu_write(const struct ghyvi_vgpu *vgpu, const char *attribute, const char *value);

/**
 * ghyvi_vgpu_policy() - Read the name of the active shadowing policy.
 * @vgpu: the vGPU
 * @name: buffer for the name
 * @bytes: size of @name
 *
 * Return: as ghyvi_vgpu_read(); -EPROTO: the kernel marks no policy as active.
 */
int ghyvi_vgpu_policy(const struct ghyvi_vgpu *vgpu, char *name, size_t bytes);

/**
 * ghyvi_vgpu_is_open() - Check whether a VM uses a vGPU.
 * @vgpu: the vGPU
 *
 * Return: 1 or 0; errors as ghyvi_vgpu_read().
 */
int ghyvi_vgpu_is_open(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_each_attribute() - Call a function for every setting, in sorted order.
 * @vgpu: the vGPU
 * @each: called with @data, the name ("policy/mode") and whether the file is writable; a return
 *	value other than 0 ends the iteration
 * @data: passed to @each
 *
 * Settings are the attributes in groups, except the counters, and "slot" where it exists.
 *
 * Return: 0, the value that @each returned, or -ENODEV.
 */
int ghyvi_vgpu_each_attribute(const struct ghyvi_vgpu *vgpu,
			      int (*each)(void *data, const char *attribute, bool writable),
			      void *data);

/**
 * ghyvi_vgpu_reset() - Stop all jobs of a vGPU and end its failsafe state.
 * @vgpu: the vGPU
 *
 * Sleeps until the reset is complete. The driver in the guest sees a GPU hang and recovers. If the
 * vGPU was in failsafe state, the driver must be reloaded or the VM restarted.
 *
 * Return: 0; -ENODEV: the vGPU has been removed.
 */
int ghyvi_vgpu_reset(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_unplug() - Request that the VM releases a vGPU.
 * @vgpu: the vGPU
 *
 * Does not wait: QEMU forwards the request to the guest. ghyvi_vgpu_is_open() returns 0 once the VM
 * has released the vGPU.
 *
 * Return: 0; -ENXIO: no VM uses it; -EOPNOTSUPP: the program that uses it does not take unplug
 * requests; -ENODEV: the vGPU has been removed; -EPROTO: the kernel module is older than this
 * function.
 */
int ghyvi_vgpu_unplug(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_remove() - Remove a vGPU.
 * @vgpu: the vGPU
 * @force: remove it even if a VM uses it. The kernel then requests that the VM releases it, and
 *	this call sleeps uninterruptibly until the VM has: forever if the VM cannot release it. To
 *	avoid that, call ghyvi_vgpu_unplug() first.
 *
 * Return: 0; -EBUSY: a VM uses it and @force is false; -ENODEV: the vGPU has been removed.
 */
int ghyvi_vgpu_remove(const struct ghyvi_vgpu *vgpu, bool force);

/**
 * ghyvi_create() - Create a vGPU.
 * @ghyvi: of ghyvi_open()
 * @type: of ghyvi_types_read()
 * @uuid: not in use; in upper or lower case
 *
 * Return: 0; -EINVAL: @uuid is not a UUID; -EEXIST: @uuid is in use; -ENOSPC: the parent has no
 * room for this type; -ENODEV: the parent has been removed.
 */
int ghyvi_create(struct ghyvi *ghyvi, const struct ghyvi_type *type, const char *uuid);

/* True if @text is a UUID: 8-4-4-4-12 hexadecimal digits. */
bool ghyvi_is_uuid(const char *text);
/* Generates a random UUID. @uuid has GHYVI_UUID_CHARS + 1 bytes. */
int ghyvi_new_uuid(char *uuid);

/* ---- notification of created and removed vGPUs ---- */

struct ghyvi_watch;

/**
 * ghyvi_watch_open() - Subscribe to the creation and removal of vGPUs.
 * @watch: set to the new object on success; free it with ghyvi_watch_close()
 *
 * Return: 0, or the negative errno of socket(2) or bind(2), where netlink is not permitted.
 */
int ghyvi_watch_open(struct ghyvi_watch **watch);
void ghyvi_watch_close(struct ghyvi_watch *watch);
/* For poll(2), POLLIN. The file descriptor belongs to @watch. */
int ghyvi_watch_fd(const struct ghyvi_watch *watch);
/**
 * ghyvi_watch_take() - Check for events since the last call, without blocking.
 * @watch: of ghyvi_watch_open()
 *
 * An event does not imply that the list of vGPUs has changed: mdevs of other drivers cause events,
 * and a new vGPU causes several, the last of them when it is complete.
 *
 * Return: true if there were events and ghyvi_vgpus_read() may return a different list.
 */
bool ghyvi_watch_take(struct ghyvi_watch *watch);

/* ---- pGPUs, the parents of vGPUs ---- */

struct ghyvi_parent;

/**
 * ghyvi_parent_find() - Find a pGPU by its name.
 * @ghyvi: of ghyvi_open()
 * @name: PCI address, such as "1000:00:00.0"
 * @parent: set to the new object on success; free it with ghyvi_parent_free()
 *
 * Return: 0; -ENODEV: there is no such device, or it offers no ghyvi type.
 */
int ghyvi_parent_find(struct ghyvi *ghyvi, const char *name, struct ghyvi_parent **parent);
void ghyvi_parent_free(struct ghyvi_parent *parent);
const char *ghyvi_parent_name(const struct ghyvi_parent *parent);

/*
 * The settings of a pGPU, such as "ghyvi/scheduler". Otherwise like ghyvi_vgpu_read(),
 * ghyvi_vgpu_write() and ghyvi_vgpu_each_attribute().
 */
int ghyvi_parent_read(const struct ghyvi_parent *parent, const char *attribute, char *value,
		      size_t bytes);
int ghyvi_parent_write(const struct ghyvi_parent *parent, const char *attribute, const char *value);
int ghyvi_parent_each_attribute(const struct ghyvi_parent *parent,
				int (*each)(void *data, const char *attribute, bool writable),
				void *data);

/* ---- values of settings ---- */

/* Sufficient for every message of ghyvi_setting_check() about a short value. */
#define GHYVI_REASON_BYTES 256

/**
 * ghyvi_setting_check() - Check a value of a setting as the kernel would.
 * @attribute: a setting of a vGPU, such as "sched/weight", or of a pGPU, such as "ghyvi/scheduler"
 * @value: without a newline
 * @reason: buffer; set to the reason if the value is not valid, such as "0 is not in 1..1000"
 * @bytes: size of @reason
 *
 * Needs neither the kernel module nor a device. It checks by the ranges as of the build of this
 * library.
 *
 * Return: 0; -EINVAL: the kernel would reject the value; -ENOENT: the library does not know the
 * setting, which may belong to a newer kernel module.
 */
int ghyvi_setting_check(const char *attribute, const char *value, char *reason, size_t bytes);
/**
 * ghyvi_setting_values() - The valid values of a setting.
 * @attribute: as for ghyvi_setting_check()
 * @text: buffer; set to "1..1000", "0 and 1000..60000000" or "none weight cap", for example
 * @bytes: size of @text; GHYVI_REASON_BYTES is sufficient
 *
 * Return: 0; -ENOENT: as ghyvi_setting_check(); -ENOSPC: @bytes is too small.
 */
int ghyvi_setting_values(const char *attribute, char *text, size_t bytes);
/* The names of the settings that the library knows, in no order; NULL after the last one. */
const char *ghyvi_setting_name(size_t index);

/* ---- counters ---- */

struct ghyvi_stats;

/**
 * ghyvi_stats_read() - Read all counters of a vGPU.
 * @vgpu: the vGPU
 * @stats: set to the new object on success; free it with ghyvi_stats_free()
 *
 * The counters are in the order of the kernel's list as of the build of this library. Counters that
 * the library does not know come last.
 *
 * Return: 0; -ENODEV: the vGPU has been removed.
 */
int ghyvi_stats_read(const struct ghyvi_vgpu *vgpu, struct ghyvi_stats **stats);
void ghyvi_stats_free(struct ghyvi_stats *stats);
size_t ghyvi_stats_count(const struct ghyvi_stats *stats);
const char *ghyvi_stats_name(const struct ghyvi_stats *stats, size_t index);
uint64_t ghyvi_stats_value(const struct ghyvi_stats *stats, size_t index);
/* The value of a counter by name; 0 for a counter that this kernel does not have. */
uint64_t ghyvi_stats_get(const struct ghyvi_stats *stats, const char *name);
/* The time at which the counters were read, CLOCK_MONOTONIC. */
uint64_t ghyvi_stats_time_ns(const struct ghyvi_stats *stats);
/* The description of a counter, in English; "" if the counter is unknown. */
const char *ghyvi_stat_help(const char *name);
/* True for a gauge, a current value that can also decrease; false for a monotonic counter. */
bool ghyvi_stat_is_now(const char *name);

#ifdef __cplusplus
}
#endif

#endif
