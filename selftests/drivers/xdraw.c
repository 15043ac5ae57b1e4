// SPDX-License-Identifier: GPL-2.0-only
/*
 * xdraw - draws 2D operations of the X protocol into a window and a pixmap, reads both back, and
 * compares them with what its own model drew. Prints the number of operations of each kind.
 * "xdraw ROUNDS SEED [each|gpu]": a round is 40 operations and a comparison. "each" compares after
 * each operation and prints the one that differs. "gpu" draws only what the server does not draw
 * with the CPU.
 */
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 400
#define HEIGHT 300
#define TILE 8
#define OPERATIONS 40
#define RGB 0xffffff

struct surface {
	Drawable drawable;
	uint32_t pixels[HEIGHT][WIDTH];
};

struct area {
	int x, y, width, height;
};

static Display *display;
static GC gc;
static int depth;
static Visual *visual;
static struct surface surfaces[2];
static Pixmap tile, stipple;
static uint32_t tile_pixels[TILE][TILE];
static bool stipple_bits[TILE][TILE];
static uint64_t state;
static struct area last;

static uint32_t random_below(uint32_t limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % limit;
}

static uint32_t random_rgb(void)
{
	return random_below(RGB + 1);
}

static struct area random_area(void)
{
	struct area area = { random_below(WIDTH), random_below(HEIGHT), 1, 1 };

	area.width += random_below(WIDTH - area.x);
	area.height += random_below(HEIGHT - area.y);
	last = area;
	return area;
}

static uint32_t combine(int function, uint32_t source, uint32_t destination)
{
	switch (function) {
	case GXcopy:
		return source;
	case GXxor:
		return source ^ destination;
	case GXand:
		return source & destination;
	case GXor:
		return source | destination;
	case GXinvert:
		return ~destination & RGB;
	case GXcopyInverted:
		return ~source & RGB;
	case GXequiv:
		return ~(source ^ destination) & RGB;
	}
	abort();
}

static int random_function(void)
{
	static const int functions[] = { GXcopy, GXcopy,   GXcopy,	   GXxor,  GXand,
					 GXor,	 GXinvert, GXcopyInverted, GXequiv };

	return functions[random_below(sizeof(functions) / sizeof(functions[0]))];
}

static void plot(struct surface *to, int x, int y, int function, uint32_t source)
{
	to->pixels[y][x] = combine(function, source, to->pixels[y][x]);
}

static void fill(struct surface *to, int function)
{
	struct area area = random_area();
	uint32_t rgb = random_rgb();

	XSetForeground(display, gc, rgb);
	XSetFillStyle(display, gc, FillSolid);
	XFillRectangle(display, to->drawable, gc, area.x, area.y, area.width, area.height);
	for (int y = area.y; y < area.y + area.height; y++)
		for (int x = area.x; x < area.x + area.width; x++)
			plot(to, x, y, function, rgb);
}

static void fill_tiled(struct surface *to, int function)
{
	struct area area = random_area();

	XSetFillStyle(display, gc, FillTiled);
	XSetTile(display, gc, tile);
	XFillRectangle(display, to->drawable, gc, area.x, area.y, area.width, area.height);
	for (int y = area.y; y < area.y + area.height; y++)
		for (int x = area.x; x < area.x + area.width; x++)
			plot(to, x, y, function, tile_pixels[y % TILE][x % TILE]);
}

static void fill_stippled(struct surface *to, int function)
{
	struct area area = random_area();
	uint32_t foreground = random_rgb(), background = random_rgb();
	bool opaque = random_below(2);

	XSetForeground(display, gc, foreground);
	XSetBackground(display, gc, background);
	XSetStipple(display, gc, stipple);
	XSetFillStyle(display, gc, opaque ? FillOpaqueStippled : FillStippled);
	XFillRectangle(display, to->drawable, gc, area.x, area.y, area.width, area.height);
	for (int y = area.y; y < area.y + area.height; y++)
		for (int x = area.x; x < area.x + area.width; x++)
			if (opaque || stipple_bits[y % TILE][x % TILE])
				plot(to, x, y, function,
				     stipple_bits[y % TILE][x % TILE] ? foreground : background);
}

static void draw_line(struct surface *to, int function)
{
	struct area area = random_area();
	uint32_t rgb = random_rgb();

	if (random_below(2))
		area.width = 1;
	else
		area.height = 1;
	XSetForeground(display, gc, rgb);
	XSetFillStyle(display, gc, FillSolid);
	XDrawLine(display, to->drawable, gc, area.x, area.y, area.x + area.width - 1,
		  area.y + area.height - 1);
	for (int y = area.y; y < area.y + area.height; y++)
		for (int x = area.x; x < area.x + area.width; x++)
			plot(to, x, y, function, rgb);
}

/* The source and the destination may overlap. */
static void copy(struct surface *to, int function)
{
	static uint32_t before[HEIGHT][WIDTH];
	struct surface *from = &surfaces[random_below(2)];
	struct area area = random_area();
	int to_x = random_below(WIDTH - area.width + 1);
	int to_y = random_below(HEIGHT - area.height + 1);

	memcpy(before, from->pixels, sizeof(before));
	XCopyArea(display, from->drawable, to->drawable, gc, area.x, area.y, area.width,
		  area.height, to_x, to_y);
	for (int y = 0; y < area.height; y++)
		for (int x = 0; x < area.width; x++)
			plot(to, to_x + x, to_y + y, function, before[area.y + y][area.x + x]);
}

static void put(struct surface *to, int function)
{
	static uint32_t pixels[HEIGHT][WIDTH];
	struct area area = random_area();
	XImage *image = XCreateImage(display, visual, depth, ZPixmap, 0, (char *)pixels, WIDTH,
				     HEIGHT, 32, sizeof(pixels[0]));

	for (int y = 0; y < area.height; y++)
		for (int x = 0; x < area.width; x++) {
			pixels[y][x] = random_rgb();
			plot(to, area.x + x, area.y + y, function, pixels[y][x]);
		}
	XPutImage(display, to->drawable, gc, image, 0, 0, area.x, area.y, area.width, area.height);
	XSync(display, False);
	image->data = NULL;
	XDestroyImage(image);
}

/*
 * Tiles and stipples are drawn on the pixmap only: on the window, xf86-video-intel 2.99.917 shows
 * neither if there are no fences. It submits no command for them.
 */
static const struct {
	const char *name;
	void (*draw)(struct surface *to, int function);
	bool on_window, by_gpu;
} kinds[] = {
	{ "fill", fill, true, true },
	{ "tile", fill_tiled, false, false },
	{ "stipple", fill_stippled, false, false },
	{ "line", draw_line, true, true },
	{ "copy", copy, true, true },
	{ "put", put, true, false },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
static unsigned long drawn[KINDS];

static bool equal(struct surface *surface)
{
	XImage *image =
		XGetImage(display, surface->drawable, 0, 0, WIDTH, HEIGHT, AllPlanes, ZPixmap);
	bool same = image;

	for (int y = 0; y < HEIGHT && same; y++)
		for (int x = 0; x < WIDTH && same; x++) {
			uint32_t found = XGetPixel(image, x, y) & RGB;

			same = found == surface->pixels[y][x];
			if (!same)
				printf("%s (%d, %d): 0x%06x, expected 0x%06x\n",
				       surface == surfaces ? "window" : "pixmap", x, y, found,
				       surface->pixels[y][x]);
		}
	if (image)
		XDestroyImage(image);
	return same;
}

static void make_patterns(Window root)
{
	char bits[TILE];
	GC plain;

	tile = XCreatePixmap(display, root, TILE, TILE, depth);
	plain = XCreateGC(display, tile, 0, NULL);
	for (int y = 0; y < TILE; y++) {
		bits[y] = 0;
		for (int x = 0; x < TILE; x++) {
			tile_pixels[y][x] = random_rgb();
			XSetForeground(display, plain, tile_pixels[y][x]);
			XDrawPoint(display, tile, plain, x, y);
			stipple_bits[y][x] = random_below(2);
			bits[y] |= stipple_bits[y][x] << x;
		}
	}
	stipple = XCreateBitmapFromData(display, root, bits, TILE, TILE);
	XFreeGC(display, plain);
}

static void make_surfaces(Window root, int screen)
{
	XSetWindowAttributes attributes = { .override_redirect = True, .background_pixel = 0 };

	surfaces[0].drawable = XCreateWindow(display, root, 16, 24, WIDTH, HEIGHT, 0, depth,
					     InputOutput, visual, CWOverrideRedirect | CWBackPixel,
					     &attributes);
	XMapRaised(display, surfaces[0].drawable);
	surfaces[1].drawable = XCreatePixmap(display, root, WIDTH, HEIGHT, depth);
	gc = XCreateGC(display, surfaces[1].drawable, 0, NULL);
	XSetGraphicsExposures(display, gc, False);
	for (int i = 0; i < 2; i++) {
		XSetForeground(display, gc, BlackPixel(display, screen));
		XFillRectangle(display, surfaces[i].drawable, gc, 0, 0, WIDTH, HEIGHT);
	}
	XSync(display, False);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 10;
	bool each = argc > 3 && !strcmp(argv[3], "each"), gpu = argc > 3 && !each;
	Window root;
	int screen;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	display = XOpenDisplay(NULL);
	if (!display) {
		fprintf(stderr, "xdraw: no display\n");
		return 1;
	}
	screen = DefaultScreen(display);
	root = RootWindow(display, screen);
	depth = DefaultDepth(display, screen);
	visual = DefaultVisual(display, screen);
	if (depth != 24) {
		fprintf(stderr, "xdraw: a screen of depth 24 is needed, not %d\n", depth);
		return 1;
	}
	make_patterns(root);
	make_surfaces(root, screen);
	for (unsigned long round = 0; round < rounds; round++) {
		for (int i = 0; i < OPERATIONS; i++) {
			int kind = random_below(KINDS), function = random_function();
			struct surface *to = &surfaces[!kinds[kind].on_window || random_below(2)];

			if (gpu && !kinds[kind].by_gpu)
				continue;
			XSetFunction(display, gc, function);
			kinds[kind].draw(to, function);
			drawn[kind]++;
			if (each && (!equal(&surfaces[0]) || !equal(&surfaces[1]))) {
				printf("xdraw: %s of function %d on the %s at (%d, %d), %d x %d\n",
				       kinds[kind].name, function,
				       to == surfaces ? "window" : "pixmap", last.x, last.y,
				       last.width, last.height);
				return 1;
			}
		}
		if (!equal(&surfaces[0]) || !equal(&surfaces[1])) {
			printf("xdraw: differs in round %lu\n", round);
			return 1;
		}
	}
	printf("xdraw: %lu rounds equal:", rounds);
	for (size_t i = 0; i < KINDS; i++)
		printf(" %s %lu", kinds[i].name, drawn[i]);
	printf("\n");
	return 0;
}
