/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device model of a vGPU as the guest sees it. kernel/vfio drives it. It is independent of VFIO
 * and KVM.
 */
#ifndef GHYVI_VGPU_H
#define GHYVI_VGPU_H

#include <ghyvi/audit.h>
#include <ghyvi/hv.h>
#include <ghyvi/gtt.h>
#include <ghyvi/pgpu.h>
#include <ghyvi/sched.h>
#include <ghyvi/settings.h>

#define GHYVI_BAR0_BYTES (16u << 20)
#define GHYVI_REGISTERS_BYTES (2u << 20)
#define GHYVI_GGTT_OFFSET (8u << 20) /* the GGTT half of BAR0 */
#define GHYVI_GGTT_TABLE_BYTES (8u << 20)
#define GHYVI_REGISTER_PAGES (GHYVI_REGISTERS_BYTES >> GHYVI_PAGE_SHIFT)

/**
 * enum ghyvi_bar_class - how the guest accesses a page of registers.
 * @GHYVI_BAR_TRAPPED: every access goes through ghyvi_vgpu_register_read() and
 *	ghyvi_vgpu_register_write()
 * @GHYVI_BAR_TRACKED: memory that the guest maps (the mirror). Loads cause no exit; stores are
 *	reported through ghyvi_vgpu_route_store().
 * @GHYVI_BAR_DIRECT: memory that the guest maps: the register file itself. Nothing reports
 *	accesses.
 */
enum ghyvi_bar_class {
	GHYVI_BAR_TRAPPED,
	GHYVI_BAR_TRACKED,
	GHYVI_BAR_DIRECT,
};

/**
 * ghyvi_bar_class() - get the class of a page of registers.
 * @offset: byte offset in BAR 0, below GHYVI_REGISTERS_BYTES
 *
 * Return: the class of the page that contains @offset.
 */
enum ghyvi_bar_class ghyvi_bar_class(u32 offset);

/*
 * The kind of GPU that the guest sees. The profiles are in kernel/vgpu/profiles.c. They hold
 * everything that differs between Skylake and Broadwell.
 */
struct ghyvi_device_profile;
extern const struct ghyvi_device_profile ghyvi_profile_gen8; /* 8086:1612 rev 9 */
extern const struct ghyvi_device_profile ghyvi_profile_gen9; /* 8086:1912 rev 6 */
/**
 * ghyvi_profile_gen() - get the hardware generation of a profile.
 * @profile: device profile
 *
 * Return: 8 or 9.
 */
unsigned int ghyvi_profile_gen(const struct ghyvi_device_profile *profile);
/**
 * ghyvi_profile_device_id() - get the PCI device ID of a profile.
 * @profile: device profile
 *
 * Return: the PCI device ID; the vendor is Intel (0x8086).
 */
u16 ghyvi_profile_device_id(const struct ghyvi_device_profile *profile);
/**
 * ghyvi_profile_revision() - get the PCI revision ID of a profile.
 * @profile: device profile
 *
 * Return: the PCI revision ID.
 */
u8 ghyvi_profile_revision(const struct ghyvi_device_profile *profile);

/**
 * struct ghyvi_vgpu_params - parameters of ghyvi_vgpu_create(), which copies them.
 * @profile: kind of GPU that the guest sees
 * @pgpu: the pGPU
 * @sched: the pGPU's scheduler
 * @hv: the guest's hypervisor
 * @mappable: the CPU-visible part of the vGPU's partition of the GGTT; may be empty
 * @hidden: the rest of the vGPU's partition of the GGTT
 * @aperture_bytes: size of BAR 2 in bytes
 * @aperture_user: maps pages of BAR 2; NULL: nothing does
 * @aperture_copied: see struct ghyvi_gtt_params
 * @ggtt_user: see struct ghyvi_gtt_params
 * @untracked: see struct ghyvi_gtt_params
 * @untracked_ggtt: see struct ghyvi_gtt_params
 * @type: name of the type, which must be that of a saved state; at most GHYVI_TYPE_BYTES with its
 *	NUL; NULL: ""
 * @reporter: target of messages about the guest; outlives the vGPU
 * @stats: counters of the vGPU; outlive the vGPU
 * @event: one of the counters failsafes, violations, budget_overruns and device_resets may have
 *	changed; gets @reporter. Called in any context but NMI, but not by ghyvi_vgpu_destroy();
 *	must not sleep. May be NULL.
 */
struct ghyvi_vgpu_params {
	const struct ghyvi_device_profile *profile;
	struct ghyvi_pgpu_device *pgpu;
	struct ghyvi_sched *sched;
	struct ghyvi_hv *hv;
	struct ghyvi_range mappable;
	struct ghyvi_range hidden;
	u64 aperture_bytes;
	struct ghyvi_aperture_user *aperture_user;
	struct ghyvi_range aperture_copied;
	struct ghyvi_ggtt_user *ggtt_user;
	bool untracked;
	bool untracked_ggtt;
	const char *type;
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
	void (*event)(struct ghyvi_reporter *reporter);
};

struct ghyvi_vgpu;
struct workqueue_struct;

/**
 * ghyvi_vgpu_create() - create a vGPU in its power-on state.
 * @params: copied
 *
 * Context: may sleep.
 * Return: the vGPU; ERR_PTR(-ENOMEM); ERR_PTR(-EINVAL) when the partition is not aligned to 2 MiB.
 */
struct ghyvi_vgpu *ghyvi_vgpu_create(const struct ghyvi_vgpu_params *params);
/**
 * ghyvi_vgpu_move_ggtt() - replace the vGPU's partition of the GGTT by another one.
 * @vgpu: vGPU whose device is not open
 * @mappable: as in struct ghyvi_vgpu_params
 * @hidden: as in struct ghyvi_vgpu_params
 * @aperture_copied: as in struct ghyvi_vgpu_params
 *
 * For a pGPU whose clients share one GGTT.
 *
 * Context: may sleep; takes vgpu->lock.
 * Return: 0; -ENOMEM or -EINVAL (not aligned to 2 MiB) with nothing changed.
 */
int ghyvi_vgpu_move_ggtt(struct ghyvi_vgpu *vgpu, const struct ghyvi_range *mappable,
			 const struct ghyvi_range *hidden,
			 const struct ghyvi_range *aperture_copied);
/**
 * ghyvi_vgpu_destroy() - reset and free a vGPU.
 * @vgpu: no other call for it is in progress or follows
 *
 * Context: may sleep, as ghyvi_vgpu_reset().
 */
void ghyvi_vgpu_destroy(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_reset() - reset the whole device (VFIO reset, first open, last close).
 * @vgpu: vGPU to reset
 *
 * Stops the engines, drops all workloads and translation state, sets the registers to their reset
 * values, clears the GGTT table and ends failsafe state. The guest can cause it, so its points of
 * containment stay, and the workloads that are stopped add theirs: above points_max, failsafe state
 * ends with the first access that traps, or store to a tracked page, after they have drained. After
 * an alarm of the isolation oracle it does not end.
 *
 * Context: may sleep; waits until the scheduler has returned every workload. The caller holds no
 * lock that prepare() or complete() of a workload takes.
 */
void ghyvi_vgpu_reset(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_close() - reset the whole device, and accept no work until the next reset.
 * @vgpu: vGPU whose device is being closed
 *
 * The guest may still run, and vCPUs may be executing stores that trapped before the reset. Its
 * points of containment are forgotten.
 *
 * Context: may sleep, as ghyvi_vgpu_reset().
 */
void ghyvi_vgpu_close(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_reset_under_driver() - reset a vGPU that a guest driver uses (the `reset` attribute).
 * @vgpu: vGPU to reset
 *
 * Stops the engines and drops all workloads. Each engine that had work reports an error, and the
 * guest driver then resets the engine by GDRST, as after a hang. All translations are rebuilt from
 * the guest's tables. Failsafe state and the points of containment end. Registers, interrupts and
 * the GGTT table keep their contents: a guest driver writes them when it is loaded, but not after a
 * hang.
 *
 * Context: may sleep, as ghyvi_vgpu_reset().
 */
void ghyvi_vgpu_reset_under_driver(struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_pause() - stop a vGPU so that it can go on later as if nothing had happened.
 * @vgpu: vGPU to pause
 *
 * Running workloads are preempted, between two commands, and kept. One that does not yield within
 * preempt_timeout_us of struct ghyvi_sched_settings (its default, if that is 0) and a timeslice is
 * stopped with an error. Submissions stay pending. On return no engine executes commands of the
 * vGPU, and the host writes nothing to the guest's memory on its behalf until ghyvi_vgpu_resume(),
 * except for accesses through the aperture and stores that the guest declares (multicall), which a
 * CPU makes. Registers can be accessed meanwhile.
 *
 * May be called for a vGPU that is paused. ghyvi_vgpu_reset() ends the pause.
 *
 * Context: may sleep, as ghyvi_vgpu_reset(). The caller serialises it with ghyvi_vgpu_resume(),
 * ghyvi_vgpu_reset() and ghyvi_vgpu_reset_under_driver().
 */
void ghyvi_vgpu_pause(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_resume() - let a paused vGPU go on.
 * @vgpu: vGPU that may be paused
 *
 * Context: may sleep, as ghyvi_vgpu_pause().
 */
void ghyvi_vgpu_resume(struct ghyvi_vgpu *vgpu);

#define GHYVI_TYPE_BYTES 24
/* Maximum size of a saved state. */
#define GHYVI_STATE_BYTES_MAX (12u << 20)
/* Size of the beginning of a saved state, which says what kind of vGPU it is the state of. */
#define GHYVI_STATE_IDENTITY_BYTES 104u

/**
 * ghyvi_vgpu_can_move() - test whether the state of a vGPU can be saved and loaded.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: false if the backend keeps state in the hardware that it cannot save.
 */
bool ghyvi_vgpu_can_move(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_get_identity() - write the beginning of a saved state.
 * @vgpu: vGPU of the state
 * @state: filled with GHYVI_STATE_IDENTITY_BYTES bytes
 *
 * Context: any.
 */
void ghyvi_vgpu_get_identity(struct ghyvi_vgpu *vgpu, void *state);
/**
 * ghyvi_vgpu_check_identity() - test whether a vGPU can take a state.
 * @vgpu: vGPU to test
 * @state: the first GHYVI_STATE_IDENTITY_BYTES bytes of the state, from an untrusted source
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL, which is reported with what differs.
 */
int ghyvi_vgpu_check_identity(struct ghyvi_vgpu *vgpu, const void *state);
/**
 * ghyvi_vgpu_save() - save the state of a paused vGPU.
 * @vgpu: vGPU to save; paused, and stays so during the call
 * @device: state of the vGPU's owner
 * @device_bytes: size of @device, a multiple of 8
 * @state: set to the state, to be freed with kvfree(); it begins with the identity
 * @bytes: set to its size, at most GHYVI_STATE_BYTES_MAX
 *
 * A workload whose commands do not fit is left out; the loaded vGPU reports an error for it. The
 * saved vGPU does not change, and can be resumed.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ghyvi_vgpu_save(struct ghyvi_vgpu *vgpu, const void *device, u32 device_bytes, void **state,
		    size_t *bytes);
/**
 * ghyvi_vgpu_state_bytes() - estimate the size of a saved state.
 * @vgpu: vGPU, which may run
 * @device_bytes: size of the state of its owner
 *
 * Context: may sleep.
 * Return: the size that ghyvi_vgpu_save() would have now, in bytes. While the vGPU is not paused,
 * the part of the registers and the GGTT table in it is up to 1 s old.
 */
size_t ghyvi_vgpu_state_bytes(struct ghyvi_vgpu *vgpu, u32 device_bytes);
/**
 * ghyvi_vgpu_load() - replace the state of a vGPU by a saved one.
 * @vgpu: vGPU to load; it is reset first, and left paused
 * @state: the state, from an untrusted source; aligned to 8
 * @bytes: size of @state
 * @device: filled with the state of the owner, which has not been checked
 * @device_bytes: size of @device
 *
 * Does not access the guest's memory, which may not be there yet. BAR 0 is unmapped, whatever it
 * was before. ghyvi_vgpu_resume() lets the vGPU go on, after the owner has set the address of BAR
 * 0. Settings are restricted until ghyvi_vgpu_unload_settings(), or the next load.
 *
 * Context: may sleep, as ghyvi_vgpu_reset().
 * Return: 0; -EINVAL, which is reported; or -ENOMEM. After an error the vGPU is reset and paused.
 */
int ghyvi_vgpu_load(struct ghyvi_vgpu *vgpu, const void *state, size_t bytes, void *device,
		    u32 device_bytes);

/**
 * ghyvi_vgpu_unload_settings() - end the effect of ghyvi_vgpu_load() on the settings.
 * @vgpu: vGPU that may have loaded a state
 *
 * Each setting gets the value that it had before, unless it has changed since it was loaded. The
 * caller serialises it with ghyvi_vgpu_load() and changes of settings.
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_unload_settings(struct ghyvi_vgpu *vgpu);

#define GHYVI_BAR_UNMAPPED (~0ULL)
/**
 * ghyvi_vgpu_set_bar0() - set the guest-physical address of BAR 0.
 * @vgpu: vGPU of the BAR
 * @gpa: guest-physical address, aligned to the size of the BAR; GHYVI_BAR_UNMAPPED when memory
 *	decoding is disabled
 *
 * The next register access is taken as proof that the guest has mapped the BAR at @gpa. In failsafe
 * state the address is recorded, and the GGTT table is placed there when failsafe state ends.
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_bar0(struct ghyvi_vgpu *vgpu, u64 gpa);

/**
 * ghyvi_vgpu_set_remap() - let the guest map registers, or trap all accesses to them.
 * @vgpu: vGPU to set; nothing has mapped its BAR 0
 * @on: true: pages are what ghyvi_bar_class() says; false, as after ghyvi_vgpu_create(): all are
 *	trapped. As memory, TIMESTAMP does not always tick between two reads: see pages.c.
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_remap(struct ghyvi_vgpu *vgpu, bool on);
/**
 * ghyvi_vgpu_get_remap() - test whether the guest may map registers.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: what ghyvi_vgpu_set_remap() has set.
 */
bool ghyvi_vgpu_get_remap(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_set_multicall() - offer multicall to the guest, or not.
 * @vgpu: vGPU to set; nothing has opened it
 * @on: true: PVINFO has GHYVI_CAPS_MULTICALL, see ghyvi/multicall.h; false, as after
 *	ghyvi_vgpu_create(): the notification is unknown
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_multicall(struct ghyvi_vgpu *vgpu, bool on);
/**
 * ghyvi_vgpu_get_multicall() - test whether multicall is offered.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: what ghyvi_vgpu_set_multicall() has set.
 */
bool ghyvi_vgpu_get_multicall(const struct ghyvi_vgpu *vgpu);
/* Number of resolutions that a monitor can have, and the one that it has first. */
#define GHYVI_RESOLUTIONS 10u
#define GHYVI_RESOLUTION_DEFAULT 7u
/* Size of a block of an EDID, and of the longest EDID. */
#define GHYVI_EDID_BYTES 128u
#define GHYVI_EDID_BYTES_MAX 256u
/**
 * ghyvi_display_resolution() - get the name of a resolution of monitors.
 * @i: number of the resolution
 *
 * Return: its name, such as "1920x1080"; NULL if @i is not below GHYVI_RESOLUTIONS.
 */
const char *ghyvi_display_resolution(unsigned int i);
/**
 * ghyvi_vgpu_set_display() - give a vGPU a display with a monitor, or none.
 * @vgpu: vGPU to set; nothing has opened it
 * @on: true: the guest sees pipe A (a Broadwell also pipe B), and a monitor at the DisplayPort of
 *	DDI B; false, as after ghyvi_vgpu_create(): the display is fused off
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_display(struct ghyvi_vgpu *vgpu, bool on);
/**
 * ghyvi_vgpu_has_display() - test whether a vGPU has a display.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: what ghyvi_vgpu_set_display() has set.
 */
bool ghyvi_vgpu_has_display(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_set_connected() - plug the monitor of a vGPU in, or out.
 * @vgpu: vGPU of the monitor, which a guest may use
 * @connected: true, as after ghyvi_vgpu_create(): the monitor answers
 *
 * A guest is told by an interrupt. Its pipe stays on. A vGPU that is loaded from a state gets what
 * its source had.
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_connected(struct ghyvi_vgpu *vgpu, bool connected);
/**
 * ghyvi_vgpu_is_connected() - test whether the monitor of a vGPU is plugged in.
 * @vgpu: vGPU of the monitor
 *
 * Context: any.
 * Return: what ghyvi_vgpu_set_connected() or a loaded state has set.
 */
bool ghyvi_vgpu_is_connected(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_traps_page() - test whether the guest may not map a page of registers.
 * @vgpu: vGPU of the registers
 * @offset: byte offset in BAR 0, below GHYVI_REGISTERS_BYTES
 *
 * Context: any.
 * Return: true if the display makes the page GHYVI_BAR_TRAPPED, whatever ghyvi_bar_class() says.
 */
bool ghyvi_vgpu_traps_page(const struct ghyvi_vgpu *vgpu, u32 offset);
/**
 * ghyvi_vgpu_set_resolution() - replace the monitor of a vGPU.
 * @vgpu: vGPU to set; nothing has opened it
 * @resolution: number of the resolution, below GHYVI_RESOLUTIONS; at first
 *	GHYVI_RESOLUTION_DEFAULT
 *
 * Ends the effect of ghyvi_vgpu_set_edid().
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_set_resolution(struct ghyvi_vgpu *vgpu, unsigned int resolution);
/**
 * ghyvi_vgpu_get_resolution() - get the resolution of a vGPU's monitor.
 * @vgpu: vGPU of the monitor
 *
 * Context: any.
 * Return: what ghyvi_vgpu_set_resolution() has set.
 */
unsigned int ghyvi_vgpu_get_resolution(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_set_edid() - replace the EDID that ghyvi has made for the resolution.
 * @vgpu: vGPU to set; nothing has opened it
 * @edid: copied
 * @bytes: size of @edid
 *
 * Context: may sleep.
 * Return: NULL; or what is wrong with @edid (its size, header, a checksum, the number of blocks),
 * as an English phrase, with nothing changed.
 */
const char *ghyvi_vgpu_set_edid(struct ghyvi_vgpu *vgpu, const u8 *edid, size_t bytes);
/**
 * ghyvi_vgpu_get_edid() - get the EDID of a vGPU's monitor, also while there is no display.
 * @vgpu: vGPU of the monitor
 * @edid: filled with the EDID; has GHYVI_EDID_BYTES_MAX bytes
 *
 * A guest that has moved here reads that of its first host, until the vGPU is reset.
 *
 * Context: any.
 * Return: its size in bytes, a multiple of GHYVI_EDID_BYTES.
 */
size_t ghyvi_vgpu_get_edid(struct ghyvi_vgpu *vgpu, u8 *edid);
/**
 * ghyvi_vgpu_has_edid() - test whether ghyvi_vgpu_set_edid() has set the EDID.
 * @vgpu: vGPU of the monitor
 *
 * Context: any.
 * Return: false if the EDID is that of the resolution.
 */
bool ghyvi_vgpu_has_edid(const struct ghyvi_vgpu *vgpu);

/* Maximum width of a picture, in pixels. */
#define GHYVI_PICTURE_WIDTH_MAX 8192u
/* Planes of a picture, without the cursor. */
#define GHYVI_PLANES 3u
/**
 * struct ghyvi_plane - a plane of a picture: registers of a Skylake.
 * @control: PLANE_CTL
 * @stride: PLANE_STRIDE
 * @position: PLANE_POS
 * @size: PLANE_SIZE
 * @surface: PLANE_SURF
 * @offset: PLANE_OFFSET
 * @key_mask: PLANE_KEYMSK
 * @key_max: PLANE_KEYMAX
 */
struct ghyvi_plane {
	u32 control, stride, position, size, surface, offset, key_mask, key_max;
};

/**
 * struct ghyvi_picture - what the display of a vGPU shows.
 * @width: width in pixels, 1..GHYVI_PICTURE_WIDTH_MAX
 * @height: height in pixels
 * @planes: the lowest one first
 * @cursor_control: the guest's register CURCNTR
 * @cursor_base: CURBASE
 * @cursor_position: CURPOS
 * @cursor_fbc: CUR_FBC_CTL
 *
 * Two equal structures are the same picture, unless the guest has changed pixels.
 */
struct ghyvi_picture {
	u32 width, height;
	struct ghyvi_plane planes[GHYVI_PLANES];
	u32 cursor_control, cursor_base, cursor_position, cursor_fbc;
};

/**
 * ghyvi_vgpu_picture_pixels() - get the maximum size of a vGPU's picture.
 * @vgpu: vGPU of the picture
 *
 * Context: any.
 * Return: the number of pixels of its resolution, or of the largest detailed timing of its EDID. A
 * picture that has more is cut off at the bottom.
 */
u32 ghyvi_vgpu_picture_pixels(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_get_picture() - get what the display of a vGPU shows now.
 * @vgpu: vGPU of the display
 * @picture: filled in, with zeros on error
 *
 * Context: may sleep.
 * Return: 0; -ENODATA if the vGPU has no display, or the guest has not switched it on; -EBUSY if
 * the vGPU is paused, so that the guest's memory may not be there.
 */
int ghyvi_vgpu_get_picture(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture);
/* Maximum number of pixels, and of rows, of a band. */
#define GHYVI_BAND_PIXELS 65536u
#define GHYVI_BAND_ROWS 32u
/**
 * ghyvi_picture_band() - get the number of rows of a picture to draw at a time.
 * @picture: a picture
 *
 * Context: any.
 * Return: a power of two up to GHYVI_BAND_ROWS, so that bands begin where rows of tiles do. So many
 * rows have at most GHYVI_BAND_PIXELS.
 */
u32 ghyvi_picture_band(const struct ghyvi_picture *picture);
/**
 * ghyvi_vgpu_draw() - read rows of a picture from the guest's memory.
 * @vgpu: vGPU of the picture
 * @picture: what ghyvi_vgpu_get_picture() returned, now or before
 * @first: first row, below the height
 * @rows: number of rows, not beyond the height. Multiples of 32 are cheapest.
 * @pixels: filled with @rows times the width of pixels, 0x00RRGGBB
 * @page: GHYVI_PAGE_BYTES of scratch memory, aligned to 8
 *
 * The guest may change the pixels meanwhile. Pages that are none of its memory are shown as black,
 * and counted (display_faults).
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_draw(struct ghyvi_vgpu *vgpu, const struct ghyvi_picture *picture, u32 first,
		     u32 rows, u32 *pixels, void *page);
/**
 * ghyvi_vgpu_try_remap() - protect the tracked pages if BAR 0 is mapped.
 * @vgpu: vGPU of the pages
 *
 * Call it after BAR 0 has moved or lost its protection, until it returns true: a guest that only
 * accesses pages that are memory gives no other sign that BAR 0 is mapped.
 *
 * Context: may sleep.
 * Return: true when all tracked pages are protected, or need not be.
 */
bool ghyvi_vgpu_try_remap(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_tick() - bring the timestamps up to date that the guest reads as memory.
 * @vgpu: vGPU of the registers
 *
 * Context: any but NMI.
 * Return: true if the guest used its registers, or got an interrupt, since the last call.
 */
bool ghyvi_vgpu_tick(struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_register_page() - get the memory of a page of registers.
 * @vgpu: vGPU of the registers
 * @offset: byte offset in BAR 0, below GHYVI_REGISTERS_BYTES
 *
 * Return: one page of vmalloc_user() memory, for the guest to map, which shows the current values
 * of the registers; NULL if the page is GHYVI_BAR_TRAPPED.
 */
void *ghyvi_vgpu_register_page(struct ghyvi_vgpu *vgpu, u32 offset);
/**
 * ghyvi_vgpu_route_store() - handle a guest store to a write-protected page.
 * @vgpu: vGPU that protected the page
 * @gpa: guest-physical address of the store
 * @data: the stored bytes; guest memory already contains them
 * @bytes: length of the store, any value
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_route_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes);
/**
 * ghyvi_vgpu_protection_lost() - handle pages whose protection the hypervisor dropped (memslot
 * removed).
 * @vgpu: vGPU that protected the pages
 * @gfn: first page
 * @count: number of pages
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_protection_lost(struct ghyvi_vgpu *vgpu, u64 gfn, u64 count);

/**
 * ghyvi_access_bytes() - get the size of the next naturally aligned access.
 * @offset: offset of the access in bytes
 * @left: bytes that remain to be accessed; at least 1
 *
 * Return: the largest of 1, 2, 4 and 8 that divides @offset and does not exceed @left.
 */
static inline unsigned int ghyvi_access_bytes(u64 offset, size_t left)
{
	unsigned int bytes = 8;

	while (bytes > left || offset & (bytes - 1))
		bytes /= 2;
	return bytes;
}

/**
 * ghyvi_vgpu_register_read() - read a register on behalf of the guest.
 * @vgpu: vGPU to access
 * @offset: byte offset in BAR 0, below GHYVI_REGISTERS_BYTES, a multiple of @bytes
 * @bytes: 1, 2, 4 or 8; the caller splits other accesses
 *
 * Context: may sleep.
 * Return: the value; 0 for an invalid @offset or @bytes. In failsafe state all ones, or 0 for the
 * interrupt registers.
 */
u64 ghyvi_vgpu_register_read(struct ghyvi_vgpu *vgpu, u32 offset, unsigned int bytes);
/**
 * ghyvi_vgpu_register_write() - write a register on behalf of the guest.
 * @vgpu: vGPU to access
 * @offset: byte offset in BAR 0, below GHYVI_REGISTERS_BYTES, a multiple of @bytes
 * @value: value to write
 * @bytes: 1, 2, 4 or 8; the caller splits other accesses
 *
 * A write in failsafe state, or with an invalid @offset or @bytes, is dropped.
 *
 * Context: may sleep; may prepare and start a workload in the calling thread.
 */
void ghyvi_vgpu_register_write(struct ghyvi_vgpu *vgpu, u32 offset, u64 value, unsigned int bytes);

/**
 * ghyvi_vgpu_aperture_read() - read through the aperture (BAR 2) and the GGTT.
 * @vgpu: vGPU to access
 * @offset: byte offset in the aperture
 * @buffer: filled with zeros where nothing is mapped, with ones in failsafe state
 * @bytes: length
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_aperture_read(struct ghyvi_vgpu *vgpu, u64 offset, void *buffer, size_t bytes);
/**
 * ghyvi_vgpu_aperture_write() - write through the aperture (BAR 2) and the GGTT.
 * @vgpu: vGPU to access
 * @offset: byte offset in the aperture
 * @buffer: source
 * @bytes: length
 *
 * Bytes are dropped where nothing is mapped, and all of them in failsafe state.
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_aperture_write(struct ghyvi_vgpu *vgpu, u64 offset, const void *buffer,
			       size_t bytes);

/**
 * ghyvi_vgpu_ggtt_table() - get the memory of the guest's GGTT table.
 * @vgpu: vGPU of the table
 *
 * Return: GHYVI_GGTT_TABLE_BYTES of vmalloc_user() memory, for mmap and trapped accesses.
 */
void *ghyvi_vgpu_ggtt_table(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_gtt() - get the translation state of a vGPU.
 * @vgpu: owner of the translation state
 *
 * Return: the translation state; valid as long as @vgpu.
 */
struct ghyvi_gtt *ghyvi_vgpu_gtt(struct ghyvi_vgpu *vgpu);

/* Number of work items that the owner of a vGPU may queue in ghyvi_vgpu_workers(). */
#define GHYVI_VGPU_OWNER_WORKS 2
/**
 * ghyvi_vgpu_workers() - get the workqueue for items that may wait for a vGPU's guest memory.
 * @vgpu: owner of the workqueue
 *
 * A program of the user can supply that memory, and take any time. Each vGPU has a workqueue of its
 * own, which runs all its items at a time: one for each engine (faults of nested jobs), and
 * GHYVI_VGPU_OWNER_WORKS of the caller. So no item waits for another one to end, and none at all
 * for those of another vGPU.
 *
 * Return: the workqueue; valid as long as @vgpu. The caller's items must have ended before
 * ghyvi_vgpu_destroy().
 */
struct workqueue_struct *ghyvi_vgpu_workers(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_set_policy() - select the shadowing policy.
 * @vgpu: vGPU of the policy
 * @name: as for ghyvi_gtt_set_policy()
 *
 * The sync of all trees that this takes is charged to the guest, whichever thread calls.
 *
 * Context: may sleep.
 * Return: what ghyvi_gtt_set_policy() returns.
 */
int ghyvi_vgpu_set_policy(struct ghyvi_vgpu *vgpu, const char *name);
/**
 * ghyvi_vgpu_audit() - get the auditor of a vGPU.
 * @vgpu: owner of the auditor
 *
 * Return: the auditor; valid as long as @vgpu.
 */
struct ghyvi_audit *ghyvi_vgpu_audit(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_sched_entity() - get the scheduler entity of a vGPU.
 * @vgpu: owner of the entity
 *
 * Return: the entity; valid as long as @vgpu.
 */
struct ghyvi_sched_entity *ghyvi_vgpu_sched_entity(struct ghyvi_vgpu *vgpu);

#define GHYVI_MALFORMED_POINTS 32u
/* A workload that yields its engine so much too late costs points, one for each unit. */
#define GHYVI_OVERSTAY_FREE_MS 100u
#define GHYVI_OVERSTAY_POINT_MS 50u

/**
 * struct ghyvi_containment - limits on what a misbehaving guest may do.
 * @budget_ms: GPU time that a workload may use, in ms; then the workload is stopped with an error.
 *	Each lite restore starts a new budget for the commands that it adds. 0..GHYVI_BUDGET_MAX_MS;
 *	0: no limit.
 * @points_max: points that the vGPU may have; more points put it into failsafe state. A workload
 *	that was stopped with an error counts 1 point. A workload with an invalid descriptor,
 *	context or ring counts GHYVI_MALFORMED_POINTS. A workload that kept its engine for
 *	GHYVI_OVERSTAY_FREE_MS after it had to yield to others counts 1 point for each
 *	GHYVI_OVERSTAY_POINT_MS of that time, however it ended. So others lose @points_max times
 *	GHYVI_OVERSTAY_POINT_MS, as much again per @window_ms, and what one workload may take.
 *	0..GHYVI_POINTS_MAX; 0: no limit. In failsafe state at most twice as many are kept.
 * @window_ms: time in ms in which @points_max points drain, at an even rate;
 *	GHYVI_VIOLATION_WINDOW_MIN_MS..GHYVI_VIOLATION_WINDOW_MAX_MS
 * @budget_minsn: millions of instructions that kernels of a workload may execute, where the pGPU
 *	counts them; as @budget_ms. 0..GHYVI_BUDGET_MAX_MINSN; 0: no limit
 */
struct ghyvi_containment {
	u32 budget_ms;
	u32 points_max;
	u32 window_ms;
	u32 budget_minsn;
};

#define GHYVI_CONTAINMENT_DEFAULT                                         \
	{                                                                 \
		.budget_ms = 60000, .points_max = 256, .window_ms = 60000 \
	}

/**
 * ghyvi_vgpu_get_containment() - get the current limits.
 * @vgpu: vGPU of the limits
 * @containment: filled in
 *
 * Context: any. Takes no lock: during a change, some limits are old and some are new.
 */
void ghyvi_vgpu_get_containment(struct ghyvi_vgpu *vgpu, struct ghyvi_containment *containment);
/**
 * ghyvi_vgpu_set_containment() - set the limits.
 * @vgpu: vGPU of the limits
 * @containment: new limits
 *
 * May be called at any time. Budgets apply to workloads that are submitted afterwards.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL when a member is out of range, and then no limit changes.
 */
int ghyvi_vgpu_set_containment(struct ghyvi_vgpu *vgpu,
			       const struct ghyvi_containment *containment);
/**
 * ghyvi_vgpu_is_failsafe() - test whether the vGPU is in failsafe state.
 * @vgpu: vGPU to test
 *
 * The guest broke the rules too often, or the isolation oracle stopped an access to memory that is
 * not the vGPU's. Registers and aperture read as all ones (interrupt registers: 0), writes are
 * dropped, and no page is pinned or tracked for it. ghyvi_vgpu_close() and
 * ghyvi_vgpu_reset_under_driver() end this state, and ghyvi_vgpu_reset() under conditions.
 *
 * Context: any.
 * Return: true in failsafe state, unless the guest's next access will end it.
 */
bool ghyvi_vgpu_is_failsafe(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_set_check() - switch the self-check at each submission on or off.
 * @vgpu: vGPU to check
 * @on: true to run ghyvi_gtt_check() at each submission, which is slow
 *
 * Context: any.
 */
void ghyvi_vgpu_set_check(struct ghyvi_vgpu *vgpu, bool on);
/**
 * ghyvi_vgpu_get_check() - test whether the self-check is on.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: true when ghyvi_gtt_check() runs at each submission.
 */
bool ghyvi_vgpu_get_check(const struct ghyvi_vgpu *vgpu);

/**
 * ghyvi_vgpu_dump() - print engines, submit ports, rings and interrupts (debugfs).
 * @vgpu: vGPU to print
 * @m: output
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_dump(struct ghyvi_vgpu *vgpu, struct seq_file *m);

/**
 * ghyvi_vgpu_error_show() - print the error state (debugfs).
 * @vgpu: vGPU to print
 * @m: output
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_error_show(struct ghyvi_vgpu *vgpu, struct seq_file *m);
/**
 * ghyvi_vgpu_error_clear() - discard the error state, so that the next error is kept.
 * @vgpu: vGPU to clear
 *
 * Context: may sleep.
 */
void ghyvi_vgpu_error_clear(struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_has_error() - test whether there is an error state.
 * @vgpu: vGPU to test
 *
 * Context: any.
 * Return: true if an engine has stopped since the last ghyvi_vgpu_error_clear(), maybe of a former
 * user of the vGPU.
 */
bool ghyvi_vgpu_has_error(const struct ghyvi_vgpu *vgpu);
/**
 * ghyvi_vgpu_errors_with_commands() - get the switch for commands in error states.
 * @vgpu: vGPU that has the switch
 *
 * Context: any.
 * Return: where to store, with WRITE_ONCE(), whether the next error state has the guest's audited
 * commands.
 */
bool *ghyvi_vgpu_errors_with_commands(struct ghyvi_vgpu *vgpu);

#endif
