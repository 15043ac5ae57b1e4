// SPDX-License-Identifier: GPL-2.0-only
/*
 * flips: sets a mode, shows a known pattern, and flips between two buffers. Each flip is requested
 * when the event of the last one has come, whose number of the vertical blank must not go back.
 * Drivers without vertical blanks (virtio-gpu, bochs) have the number 0.
 *
 * The pattern of buffer b: the pixel in column x of row y is, modulo 2^24,
 * b << 23 | (x & 0xfff) << 12 | (y & 0xfff).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <drm_fourcc.h>
#include <xf86drm.h>
#include <xf86drmMode.h>
#include "options.h"

#define BUFFERS 2u
#define FLIPS_MAX 1000000u
#define HOLD_MAX_S 3600u
#define EVENT_TIMEOUT_MS 10000
#define EXIT_WRONG 1
#define EXIT_NO_MONITOR 2

struct buffer {
	uint32_t handle, fb, pitch;
	uint64_t bytes;
	uint32_t *map;
};

struct screen {
	int fd;
	uint32_t crtc, connector;
	drmModeModeInfo mode;
	drmModeCrtc *before;
	struct buffer buffers[BUFFERS];
};

/* A row of a tile, and the number of rows; the linear layout has none. */
static const struct tiling {
	const char *name;
	uint64_t modifier;
	uint32_t bytes, rows;
} tilings[] = {
	{ "linear", DRM_FORMAT_MOD_LINEAR, 0, 0 },
	{ "x", I915_FORMAT_MOD_X_TILED, 512, 8 },
	{ "y", I915_FORMAT_MOD_Y_TILED, 128, 32 },
};

static unsigned int flips = 60, hold_s;
static const struct tiling *tiling = tilings;

static const struct argp_option options[] = {
	{ "flips", 'n', "N", 0, "Number of flips, 0 to 1000000 (default 60)", 0 },
	{ "hold", 'h', "S", 0, "Show the last buffer for S seconds, 0 to 3600 (default 0)", 0 },
	{ "tiling", 't', "NAME", 0, "Layout of the buffers: linear (default), x or y", 0 },
	{ 0 },
};

static const struct tiling *parse_tiling(struct argp_state *state, const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(tilings) / sizeof(tilings[0]); i++)
		if (!strcmp(name, tilings[i].name))
			return &tilings[i];
	argp_error(state, "there is no tiling \"%s\"", name);
	return NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'n':
		flips = parse_number(state, argument, 0, FLIPS_MAX);
		return 0;
	case 'h':
		hold_s = parse_number(state, argument, 0, HOLD_MAX_S);
		return 0;
	case 't':
		tiling = parse_tiling(state, argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "flips: %s: %s\n", what, strerror(errno));
	exit(EXIT_WRONG);
}

/* Take the first connector with a monitor, its preferred mode, and a CRTC that can drive it. */
static int find_monitor(struct screen *screen)
{
	drmModeRes *resources = drmModeGetResources(screen->fd);
	drmModeConnector *connector = NULL;
	drmModeEncoder *encoder;
	int i;

	if (!resources)
		return -1;
	for (i = 0; i < resources->count_connectors; i++) {
		connector = drmModeGetConnector(screen->fd, resources->connectors[i]);
		if (connector && connector->connection == DRM_MODE_CONNECTED &&
		    connector->count_modes)
			break;
		drmModeFreeConnector(connector);
		connector = NULL;
	}
	encoder = connector ? drmModeGetEncoder(screen->fd, connector->encoders[0]) : NULL;
	for (i = 0; encoder && i < resources->count_crtcs; i++)
		if (encoder->possible_crtcs & 1u << i && !screen->crtc)
			screen->crtc = resources->crtcs[i];
	if (connector) {
		screen->connector = connector->connector_id;
		screen->mode = connector->modes[0];
	}
	drmModeFreeEncoder(encoder);
	drmModeFreeConnector(connector);
	drmModeFreeResources(resources);
	return screen->crtc ? 0 : -1;
}

/* The dword of a pixel. A tile is a page; a Y tile has columns of 16 bytes. */
static uint32_t place(uint32_t pitch, uint32_t x, uint32_t y)
{
	uint32_t byte = 4 * x, tile, in_tile;

	if (!tiling->rows)
		return (y * pitch + byte) / 4;
	tile = y / tiling->rows * (pitch / tiling->bytes) + byte / tiling->bytes;
	byte %= tiling->bytes;
	y %= tiling->rows;
	in_tile = tiling->bytes == 512 ? y * 512 + byte : byte / 16 * 512 + y * 16 + byte % 16;
	return (tile * 4096 + in_tile) / 4;
}

static void add_fb(struct screen *screen, struct buffer *buffer)
{
	const uint32_t handles[4] = { buffer->handle }, pitches[4] = { buffer->pitch };
	const uint64_t modifiers[4] = { tiling->modifier };
	const uint32_t offsets[4] = {};

	if (tiling->rows ? drmModeAddFB2WithModifiers(screen->fd, screen->mode.hdisplay,
						      screen->mode.vdisplay, DRM_FORMAT_XRGB8888,
						      handles, pitches, offsets, modifiers,
						      &buffer->fb, DRM_MODE_FB_MODIFIERS) :
			   drmModeAddFB(screen->fd, screen->mode.hdisplay, screen->mode.vdisplay,
					24, 32, buffer->pitch, buffer->handle, &buffer->fb))
		fail("DRM_IOCTL_MODE_ADDFB");
}

static void make_buffer(struct screen *screen, unsigned int number)
{
	struct buffer *buffer = &screen->buffers[number];
	uint32_t width = screen->mode.hdisplay, height = screen->mode.vdisplay, x, y;
	uint64_t offset;

	/* Whole tiles of each kind. */
	if (drmModeCreateDumbBuffer(screen->fd, (width + 127) / 128 * 128, (height + 31) / 32 * 32,
				    32, 0, &buffer->handle, &buffer->pitch, &buffer->bytes))
		fail("DRM_IOCTL_MODE_CREATE_DUMB");
	if (drmModeMapDumbBuffer(screen->fd, buffer->handle, &offset))
		fail("DRM_IOCTL_MODE_MAP_DUMB");
	buffer->map = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, screen->fd,
			   (off_t)offset);
	if (buffer->map == MAP_FAILED)
		fail("mmap");
	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++)
			buffer->map[place(buffer->pitch, x, y)] =
				(number << 23 | (x & 0xfff) << 12 | (y & 0xfff)) & 0xffffff;
	add_fb(screen, buffer);
}

struct flipped {
	unsigned int count, last;
};

static void on_flip(int fd, unsigned int sequence, unsigned int s, unsigned int us, void *data)
{
	struct flipped *flipped = data;

	(void)fd;
	(void)s;
	(void)us;
	if (flipped->count && (int)(sequence - flipped->last) < 0) {
		fprintf(stderr, "flips: vertical blank %u comes after %u\n", sequence,
			flipped->last);
		exit(EXIT_WRONG);
	}
	flipped->last = sequence;
	flipped->count++;
}

static void wait_for_flip(struct screen *screen, struct flipped *flipped)
{
	drmEventContext events = { .version = 2, .page_flip_handler = on_flip };
	struct pollfd poll_fd = { .fd = screen->fd, .events = POLLIN };
	unsigned int before = flipped->count;

	while (flipped->count == before) {
		if (poll(&poll_fd, 1, EVENT_TIMEOUT_MS) <= 0) {
			fprintf(stderr, "flips: flip %u has not ended\n", before);
			exit(EXIT_WRONG);
		}
		if (drmHandleEvent(screen->fd, &events))
			fail("drmHandleEvent");
	}
}

static uint32_t blank_number(struct screen *screen)
{
	drmVBlank blank = { .request = { .type = DRM_VBLANK_RELATIVE } };

	if (drmWaitVBlank(screen->fd, &blank)) {
		if (errno == EOPNOTSUPP)
			return 0;
		fail("DRM_IOCTL_WAIT_VBLANK");
	}
	return blank.reply.sequence;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_flips(struct screen *screen)
{
	struct flipped flipped = {};
	uint32_t first = blank_number(screen), end;
	double began = now_s(), seconds;
	unsigned int i;

	for (i = 0; i < flips; i++) {
		if (drmModePageFlip(screen->fd, screen->crtc, screen->buffers[(i + 1) % BUFFERS].fb,
				    DRM_MODE_PAGE_FLIP_EVENT, &flipped))
			fail("DRM_IOCTL_MODE_PAGE_FLIP");
		wait_for_flip(screen, &flipped);
	}
	seconds = now_s() - began;
	end = blank_number(screen);
	if ((int32_t)(end - first) < 0 || (flips && (int32_t)(flipped.last - first) < 0)) {
		fprintf(stderr, "flips: vertical blank %u comes after %u\n", end, first);
		exit(EXIT_WRONG);
	}
	printf("%u flips in %.2f s, vertical blanks %u to %u, buffer %u\n", flipped.count, seconds,
	       first, end, flips % BUFFERS);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .options = options,
					  .parser = parse,
					  .doc = "Set a mode and flip between two buffers." };
	struct screen screen = {};
	unsigned int i;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	screen.fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	if (screen.fd < 0 || find_monitor(&screen)) {
		fprintf(stderr, "flips: there is no monitor\n");
		return EXIT_NO_MONITOR;
	}
	screen.before = drmModeGetCrtc(screen.fd, screen.crtc);
	for (i = 0; i < BUFFERS; i++)
		make_buffer(&screen, i);
	if (drmModeSetCrtc(screen.fd, screen.crtc, screen.buffers[0].fb, 0, 0, &screen.connector, 1,
			   &screen.mode))
		fail("DRM_IOCTL_MODE_SETCRTC");
	printf("%ux%u at %u Hz\n", screen.mode.hdisplay, screen.mode.vdisplay,
	       screen.mode.vrefresh);
	fflush(stdout);
	run_flips(&screen);
	sleep(hold_s);
	if (screen.before && screen.before->mode_valid)
		drmModeSetCrtc(screen.fd, screen.crtc, screen.before->buffer_id, 0, 0,
			       &screen.connector, 1, &screen.before->mode);
	return 0;
}
