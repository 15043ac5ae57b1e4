// SPDX-License-Identifier: GPL-2.0-only
/*
 * The display that user space sees: a plane in a region, and captures of the picture.
 *
 * QEMU refuses display=on, and with it ramfb=on, if the device supports neither kind of plane.
 * While the plane is off, QEMU shows the frame buffer of the guest's firmware (ramfb) instead.
 * Without a display (display/enabled) it is always off, and there is no region.
 *
 * DOC: the region
 *
 * The region holds the picture as linear pixels. It has memory of its own: the guest's pages are
 * never mapped. The memory is allocated when it is used first, charged to the user's cgroup, and
 * freed when the device is closed, when no mapping is left. So no user sees another one's picture.
 * It is mapped as device memory, as BAR 0 is.
 *
 * DOC: refreshing
 *
 * QEMU queries the plane at each refresh of its own, about 30 times per second. Nothing tells when
 * a guest's CPU changes pixels, so a query looks for changes: it draws bands of the picture and
 * compares them with the region. It goes through the whole picture if the registers have changed
 * (a flip, the cursor moved) or after it has found a change. Otherwise it may use 1/IDLE_SHARE of
 * the time that passes, and goes on where the last one has stopped. A screen that has changed
 * within ACTIVE_NS gets 1/ACTIVE_SHARE.
 *
 * A guest can make it take long to read its pages. So a query that has taken QUERY_NS leaves the
 * rest of the picture to the next one, and a band ends in time by itself.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <uapi/linux/ghyvi.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"

#define IDLE_SHARE 256
#define ACTIVE_SHARE 64
#define ACTIVE_NS NSEC_PER_SEC
#define QUERY_NS NSEC_PER_SEC
/* No band of a capture begins later: what holds device->lock keeps administrators waiting. */
#define CAPTURE_NS (10 * NSEC_PER_SEC)

#define PIXEL_BYTES 4u

/* Follows the region's memory. */
struct scratch {
	u32 band[GHYVI_BAND_PIXELS];
	u8 page[GHYVI_PAGE_BYTES];
};

u64 ghyvi_display_bytes(const struct ghyvi_device *device)
{
	if (!ghyvi_vgpu_has_display(device->vgpu))
		return 0;
	return PAGE_ALIGN(PIXEL_BYTES * (u64)ghyvi_vgpu_picture_pixels(device->vgpu));
}

/*
 * mmap() holds mmap_lock, which a holder of device->lock may take to pin pages. So this takes no
 * lock.
 */
void *ghyvi_display_memory(struct ghyvi_device *device)
{
	void *memory = READ_ONCE(device->screen.memory), *other;

	if (memory)
		return memory;
	memory = __vmalloc(ghyvi_display_bytes(device) + sizeof(struct scratch),
			   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!memory)
		return NULL;
	other = cmpxchg(&device->screen.memory, NULL, memory);
	if (!other)
		return memory;
	vfree(memory);
	return other;
}

int ghyvi_display_mmap(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset)
{
	u64 bytes = vma->vm_end - vma->vm_start, whole = ghyvi_display_bytes(device);
	unsigned long address;
	void *memory;
	int err = 0;

	if (offset >= whole || bytes > whole - offset)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	memory = ghyvi_display_memory(device);
	if (!memory)
		return -ENOMEM;
	vm_flags_clear(vma, VM_MAYWRITE);
	for (address = vma->vm_start; address < vma->vm_end && !err;
	     address += PAGE_SIZE, offset += PAGE_SIZE)
		err = remap_pfn_range(vma, address, vmalloc_to_pfn(memory + offset), PAGE_SIZE,
				      vma->vm_page_prot);
	return err;
}

void ghyvi_display_close(struct ghyvi_device *device)
{
	lockdep_assert_held(&device->lock);
	vfree(device->screen.memory);
	memset(&device->screen, 0, sizeof(device->screen));
}

/* Draw the band from row @first on. Returns true if it has changed in @memory. */
static bool draw_band(struct ghyvi_device *device, const struct ghyvi_picture *picture, u32 first,
		      void *memory)
{
	struct scratch *scratch = memory + ghyvi_display_bytes(device);
	u32 rows = min(ghyvi_picture_band(picture), picture->height - first);
	size_t offset = (size_t)first * picture->width * PIXEL_BYTES;
	size_t bytes = (size_t)rows * picture->width * PIXEL_BYTES;

	ghyvi_vgpu_draw(device->vgpu, picture, first, rows, scratch->band, scratch->page);
	if (!memcmp(memory + offset, scratch->band, bytes))
		return false;
	memcpy(memory + offset, scratch->band, bytes);
	return true;
}

static void refresh_picture(struct ghyvi_device *device, const struct ghyvi_picture *picture,
			    void *memory)
{
	struct ghyvi_screen *screen = &device->screen;
	u64 now = ktime_get_ns();
	u32 share = now - screen->changed_ns < ACTIVE_NS ? ACTIVE_SHARE : IDLE_SHARE;
	u32 rows = ghyvi_picture_band(picture), bands = DIV_ROUND_UP(picture->height, rows), i;

	if (memcmp(picture, &screen->picture, sizeof(*picture)))
		screen->due = bands;
	screen->picture = *picture;
	screen->credit_ns += (s64)div_u64(now - screen->queried_ns, share);
	screen->queried_ns = now;
	for (i = 0; i < bands && (screen->due || screen->credit_ns > 0); i++) {
		u64 begun = ktime_get_ns();
		bool due = screen->due;

		if (begun - now >= QUERY_NS)
			return;
		if (screen->next >= picture->height)
			screen->next = 0;
		if (draw_band(device, picture, screen->next, memory)) {
			screen->due = max(screen->due, bands - i);
			screen->changed_ns = now;
		}
		screen->due -= !!screen->due;
		screen->next += rows;
		if (!due)
			screen->credit_ns -= (s64)(ktime_get_ns() - begun);
		else if (!screen->due)
			screen->credit_ns = 0; /* the picture is complete */
		cond_resched();
	}
	if (i == bands) /* what is left over is lost */
		screen->credit_ns = 0;
}

/* QEMU may still show the region of a display that is off: it must not show the old picture. */
static void blank_region(struct ghyvi_device *device)
{
	struct ghyvi_screen *screen = &device->screen;

	if (screen->picture.height)
		memset(screen->memory, 0, ghyvi_display_bytes(device));
	memset(&screen->picture, 0, sizeof(screen->picture));
	screen->next = 0;
	screen->due = 0;
}

/* While the vGPU is paused, the plane is what it was. */
static int update_picture(struct ghyvi_device *device)
{
	struct ghyvi_picture picture;
	void *memory;
	int err = ghyvi_vgpu_get_picture(device->vgpu, &picture);

	lockdep_assert_held(&device->lock);
	if (err == -EBUSY)
		return 0;
	if (err || !picture.height) {
		blank_region(device);
		return 0;
	}
	memory = ghyvi_display_memory(device);
	if (!memory)
		return -ENOMEM;
	if (picture.width != device->screen.picture.width)
		blank_region(device);
	refresh_picture(device, &picture, memory);
	return 0;
}

static int show_plane(struct ghyvi_device *device, struct vfio_device_gfx_plane_info *plane)
{
	const struct ghyvi_picture *picture = &device->screen.picture;
	int err;

	mutex_lock(&device->lock);
	err = update_picture(device);
	if (!err && picture->height) {
		plane->drm_format = GHYVI_SCREEN_FORMAT;
		plane->width = picture->width;
		plane->height = picture->height;
		plane->stride = picture->width * PIXEL_BYTES;
		plane->size = plane->stride * plane->height;
		plane->region_index = GHYVI_DISPLAY_REGION_INDEX;
	}
	mutex_unlock(&device->lock);
	return err;
}

int ghyvi_display_query(struct ghyvi_device *device, struct vfio_device_gfx_plane_info *plane)
{
	const struct vfio_device_gfx_plane_info off = {
		.argsz = plane->argsz,
		.flags = plane->flags,
		.drm_plane_type = plane->drm_plane_type,
	};

	switch (plane->flags) {
	case VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION:
		return 0;
	case VFIO_GFX_PLANE_TYPE_REGION:
		*plane = off;
		return ghyvi_vgpu_has_display(device->vgpu) ? show_plane(device, plane) : 0;
	default:
		return -EINVAL;
	}
}

/* Returns the number of bytes. Caller holds device->lock. */
static ssize_t capture_locked(struct ghyvi_device *device, void **frame)
{
	struct ghyvi_screen_header *header;
	struct ghyvi_picture picture;
	int err = ghyvi_vgpu_get_picture(device->vgpu, &picture);
	u64 end_ns = ktime_get_ns() + CAPTURE_NS;
	u32 y, rows, *pixels;
	size_t bytes;
	void *page;

	lockdep_assert_held(&device->lock);
	if (!err && !picture.height)
		err = -ENODATA;
	if (err)
		return err;
	bytes = sizeof(*header) + (size_t)picture.width * picture.height * PIXEL_BYTES;
	header = __vmalloc(bytes, GFP_KERNEL_ACCOUNT);
	page = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!header || !page) {
		vfree(header);
		free_page((unsigned long)page);
		return -ENOMEM;
	}
	*header = (struct ghyvi_screen_header){
		.format = GHYVI_SCREEN_FORMAT,
		.width = picture.width,
		.height = picture.height,
		.stride = picture.width * PIXEL_BYTES,
	};
	pixels = (u32 *)(header + 1);
	for (y = 0; y < picture.height && ktime_get_ns() < end_ns; y += rows) {
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
		rows = min(GHYVI_BAND_ROWS, picture.height - y);
		ghyvi_vgpu_draw(device->vgpu, &picture, y, rows, pixels, page);
		pixels += (size_t)rows * picture.width;
		cond_resched();
	}
	free_page((unsigned long)page);
	if (err) {
		vfree(header);
		return err;
	}
	memset(pixels, 0, (void *)header + bytes - (void *)pixels);
	*frame = header;
	return (ssize_t)bytes;
}

ssize_t ghyvi_display_capture(struct ghyvi_device *device, void **frame)
{
	ssize_t bytes;

	mutex_lock(&device->lock);
	bytes = capture_locked(device, frame);
	mutex_unlock(&device->lock);
	return bytes;
}
