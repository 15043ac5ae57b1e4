// SPDX-License-Identifier: GPL-2.0-only
/* screenshot: writes the picture of a vGPU's display to a PNG file. */
#define _GNU_SOURCE
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uapi/linux/ghyvi.h>
#include "ctl.h"

/* More than any monitor of a vGPU has. */
#define SIDE_MAX 16384u

struct screenshot_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	const char *output;
};

static error_t parse_screenshot(int key, char *argument, struct argp_state *state)
{
	struct screenshot_options *options = state->input;

	if (key != 'o')
		return parse_uuids(key, argument, state);
	options->output = argument;
	return 0;
}

static const struct argp_option screenshot_argp_options[] = { { "output", 'o', "FILE", 0,
								"Write the PNG file FILE", 0 },
							      {} };

static const struct argp screenshot_argp = {
	.options = screenshot_argp_options,
	.parser = parse_screenshot,
	.args_doc = "UUID",
	.doc = "Write what the guest's screen shows to a PNG file, as root. The vGPU needs "
	       "display/enabled.",
	.children = ctl_children,
};

static int complain_screen(const struct ghyvi_vgpu *vgpu, const char *path)
{
	switch (errno) {
	case ENODATA:
		complain(
			"%s: the screen is off; set display/enabled before the VM starts, and load "
			"the guest's driver",
			ghyvi_vgpu_uuid(vgpu));
		return STATUS_ERROR;
	case EBUSY:
		complain("%s: the VM is paused; resume it", ghyvi_vgpu_uuid(vgpu));
		return STATUS_BUSY;
	default:
		return complain_debugfs(vgpu, path);
	}
}

/* Returns red, green and blue of each pixel, or NULL with errno set. The caller frees them. */
static unsigned char *read_pixels(const char *path, struct ghyvi_screen_header *header)
{
	unsigned char *pixels = NULL, *row = NULL, *to;
	FILE *file = fopen(path, "rbe");
	unsigned int x, y;

	if (!file)
		return NULL;
	errno = 0;
	if (fread(header, sizeof(*header), 1, file) != 1)
		goto fail;
	if (header->format != GHYVI_SCREEN_FORMAT || !header->width || header->width > SIDE_MAX ||
	    !header->height || header->height > SIDE_MAX || header->stride < 4 * header->width ||
	    header->stride > 4 * SIDE_MAX)
		goto fail;
	row = malloc(header->stride);
	pixels = malloc(3 * (size_t)header->width * header->height);
	if (!row || !pixels)
		abort();
	for (to = pixels, y = 0; y < header->height; y++) {
		if (fread(row, header->stride, 1, file) != 1)
			goto fail;
		for (x = 0; x < header->width; x++, to += 3) {
			to[0] = row[4 * x + 2];
			to[1] = row[4 * x + 1];
			to[2] = row[4 * x];
		}
	}
	free(row);
	fclose(file);
	return pixels;

fail:
	if (!errno)
		errno = EPROTO; /* another version of ghyvi */
	free(pixels);
	free(row);
	fclose(file);
	return NULL;
}

static int write_png(const char *path, const struct ghyvi_screen_header *header,
		     const unsigned char *pixels)
{
	png_image image = { .version = PNG_IMAGE_VERSION,
			    .width = header->width,
			    .height = header->height,
			    .format = PNG_FORMAT_RGB,
			    .flags = PNG_IMAGE_FLAG_FAST };

	if (png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
		return STATUS_OK;
	complain("%s: %s", path, image.message);
	return STATUS_ERROR;
}

static int take(const struct ctl *ctl, const struct ghyvi_vgpu *vgpu, const char *output)
{
	struct ghyvi_screen_header header;
	unsigned char *pixels;
	char *path;
	int status;

	if (asprintf(&path, "%s/screen", ghyvi_vgpu_debugfs(vgpu)) < 0)
		abort();
	pixels = read_pixels(path, &header);
	status = pixels ? write_png(output, &header, pixels) : complain_screen(vgpu, path);
	free(pixels);
	free(path);
	if (status || !ctl->json)
		return status;
	return json_print(json_pack("{s:o, s:o, s:i, s:i}", "uuid",
				    json_text(ghyvi_vgpu_uuid(vgpu)), "file", json_text(output),
				    "width", (int)header.width, "height", (int)header.height),
			  JSON_INDENT(2));
}

int cmd_screenshot(struct ctl *ctl, int argc, char **argv)
{
	struct screenshot_options options = { .uuids = { .ctl = ctl } };
	struct ghyvi_vgpu *vgpu;
	int status;

	status = parse_options(&screenshot_argp, argc, argv, &options);
	if (status)
		return status;
	if (options.uuids.count != 1 || !options.output) {
		complain("give one UUID and -o FILE; see ghyvictl screenshot --help");
		return STATUS_USAGE;
	}
	vgpu = need_vgpu(ctl, options.uuids.uuids[0], &status);
	if (vgpu)
		status = take(ctl, vgpu, options.output);
	ghyvi_vgpu_free(vgpu);
	return status;
}
