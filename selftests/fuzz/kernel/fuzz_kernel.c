// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU of the running kernel, guided by the coverage of the modules. libFuzzer mutates the
 * inputs; what the modules execute meanwhile is given to it as extra counters.
 *
 * An input is a life of the vGPU: the class of attacks whose start it has, then moves. A move is a
 * trial of that class, as the hostile guest makes it, or a call of the VMM: an ioctl, an access to
 * any region, a mapping, a screen, a migration to itself with a changed stream, also in the middle
 * of a workload, a setting of the administrator. All choices of the attacks are taken from the
 * input. Some lives have the self-check: those in which all stores to tables trap.
 *
 * GHYVI_FUZZ_VGPU is the vGPU's UUID, GHYVI_FUZZ_GROUP the file of its VFIO group.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attack.h"
#include "choices.h"
#include "commands.h"
#include "counters.h"
#include "machine_vfio.h"
#include "work.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MOVES_MAX 24u
#define STREAM_BYTES (64u << 20)
#define BUFFER_BYTES 4096u
#define MODES_MORE 10u
#define WINDOW_BYTES (4u << 20) /* of the GGTT: enough for each attack */
#define SLOWNESS 15u /* of a debug kernel that records what it executes */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Commands of the auditor's tables, of a user or of the guest's kernel, on any engine. */
static void any_commands(struct random *random)
{
	struct context *context = &fixture.contexts[below(ENGINES)];
	bool user = below(2);

	(void)random;
	context_fill(context, &fixture.tables);
	batch_compose(context->engine, page_at(fixture.batch));
	emit_batch(context, user, user ? FIXTURE_BATCH : fixture.batch_address);
	context_run(context, BATCH_LIMIT_US);
}

static const struct attack attack_any_commands = { .begin = fixture_setup, .trial = any_commands };

static void any_dispatch(struct random *random)
{
	(void)random;
	work_dispatch();
}

static const struct attack attack_dispatch = { .begin = fixture_setup, .trial = any_dispatch };

/*
 * Those with many tables, or with a second thread, are left to test-hostile: they take long. In the
 * first CHECKED classes nothing but the guest's CPU stores to tables.
 */
#define CHECKED 9u
static const struct attack *const attacks[] = {
	&attack_commands,    &attack_user,     &attack_port,	     &attack_to_absent,
	&attack_split_entry, &attack_schedule, &attack_any_commands, &attack_any_commands,
	&attack_dispatch,    &attack_dispatch, &attack_registers,    &attack_image,
	&attack_ring,	     &attack_foreign,  &attack_aliasing,     &attack_unmap,
};

static jmp_buf end;

/* An attack cannot go on, because the move of a VMM has taken what it needs. */
void give_up(const char *format, ...)
{
	(void)format;
	longjmp(end, 1);
}

/* ---- moves of the VMM and of the administrator ---- */

static uint8_t buffer[BUFFER_BYTES];

static uint64_t somewhere(void)
{
	static const uint32_t near[] = {
		0,	  0x04,	      0x10,	  0x18,	    0x40,
		0xac,	  0xf8,	      0x100,	  0x2230,   0x2358,
		0x44400,  0x60000,    0x64000,	  0x70000,  0x70180,
		0x78000,  0x78818,    0x1ffff8,	  0x200000, GGTT_TABLE_OFFSET,
		0xfffff8, 0xffffff00, 0x10000000,
	};
	uint64_t offset = region_offset(below(14));

	if (!below(16))
		return take(8);
	return offset + near[below(COUNT(near))] + below(256);
}

static void access_region(void)
{
	static const uint16_t sizes[] = { 4, 4, 4, 8, 1, 2, 3, 16, 64, 256, 4096, 0 };
	uint64_t offset = somewhere();
	size_t bytes = sizes[below(COUNT(sizes))];

	if (below(2)) {
		random_fill(NULL, buffer, bytes < 16 ? bytes : 16);
		(void)!pwrite(device_fd, buffer, bytes, offset);
	} else {
		(void)!pread(device_fd, buffer, bytes, offset);
	}
}

/* Reads and writes by the kernel fail with EFAULT where this program would get SIGBUS. */
static void map_region(void)
{
	uint64_t offset = somewhere() & ~4095ull;
	size_t bytes = 4096ull << below(12);
	uint8_t *at = mmap(NULL, bytes, below(4) ? PROT_READ | PROT_WRITE : PROT_READ,
			   below(8) ? MAP_SHARED : MAP_PRIVATE, device_fd, offset);
	int pipes[2];

	if (at == MAP_FAILED)
		return;
	if (!pipe(pipes)) {
		for (unsigned int n = below(4); n; n--) {
			uint8_t *word = at + (take(4) % bytes & ~7ull);

			if (write(pipes[1], word, 8) == 8 && below(2))
				(void)!read(pipes[0], word, 8);
		}
		close(pipes[0]);
		close(pipes[1]);
	}
	munmap(at, bytes);
}

static void ask(void)
{
	static const unsigned long requests[] = {
		VFIO_DEVICE_GET_INFO,	    VFIO_DEVICE_GET_REGION_INFO,
		VFIO_DEVICE_GET_IRQ_INFO,   VFIO_DEVICE_SET_IRQS,
		VFIO_DEVICE_FEATURE,	    VFIO_DEVICE_QUERY_GFX_PLANE,
		VFIO_DEVICE_GET_GFX_DMABUF, VFIO_DEVICE_RESET,
		VFIO_DEVICE_IOEVENTFD,	    VFIO_DEVICE_GET_PCI_HOT_RESET_INFO,
	};
	unsigned long request = requests[below(COUNT(requests))];
	uint32_t argsz = below(96);

	random_fill(NULL, buffer, 96);
	memcpy(buffer, &argsz, 4);
	if (!below(8))
		request = take(4);
	ioctl(device_fd, request, buffer);
}

static void set_irqs(void)
{
	struct vfio_irq_set *set = (void *)buffer;
	int fd = below(2) ? eventfd(0, EFD_NONBLOCK) : -1;

	*set = (struct vfio_irq_set){
		.argsz = sizeof(*set) + 4,
		.flags = 1u << below(3) | 8u << below(3),
		.index = below(6),
		.start = below(3),
		.count = below(3),
	};
	memcpy(set->data, &fd, 4);
	ioctl(device_fd, VFIO_DEVICE_SET_IRQS, set);
	if (fd >= 0)
		close(fd);
}

/* Returns the file of the transfer that begins, or -1. */
static int go_to(uint32_t state)
{
	static uint64_t request[2];
	struct vfio_device_feature *feature = (void *)request;
	struct vfio_device_feature_mig_state *to = (void *)feature->data;

	*feature = (struct vfio_device_feature){
		sizeof(request), VFIO_DEVICE_FEATURE_SET | VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE
	};
	*to = (struct vfio_device_feature_mig_state){ state, -1 };
	return ioctl(device_fd, VFIO_DEVICE_FEATURE, request) ? -1 : to->data_fd;
}

static void wander(void)
{
	int fd = go_to(below(9));

	if (fd < 0)
		return;
	if (read(fd, buffer, below(BUFFER_BYTES)) < 0)
		(void)!write(fd, buffer, below(256));
	close(fd);
}

/* Saves the vGPU, changes some bytes of the stream, and loads it again. */
static void migrate_to_itself(void)
{
	static uint8_t *stream;
	ssize_t bytes = 0, part;
	int fd = go_to(VFIO_DEVICE_STATE_STOP_COPY);

	if (fd < 0)
		return;
	if (!stream)
		stream = malloc(STREAM_BYTES);
	while (bytes < STREAM_BYTES && (part = read(fd, stream + bytes, STREAM_BYTES - bytes)) > 0)
		bytes += part;
	close(fd);
	go_to(VFIO_DEVICE_STATE_STOP);
	/* Near the end is what engines have. */
	for (unsigned int n = bytes ? below(4) : 0; n; n--) {
		size_t at = (below(4) ? take(2) : take(4)) % bytes;

		stream[below(2) ? at : bytes - 1 - at] = take(1);
	}
	if (bytes && !below(4))
		bytes = take(4) % bytes;
	fd = go_to(VFIO_DEVICE_STATE_RESUMING);
	if (fd < 0)
		return;
	for (ssize_t at = 0; at < bytes; at += part)
		if ((part = write(fd, stream + at, bytes - at)) <= 0)
			break;
	close(fd);
	go_to(VFIO_DEVICE_STATE_STOP);
	go_to(VFIO_DEVICE_STATE_RUNNING);
}

static void migrate_at_work(void)
{
	struct context *context = work_begin();

	migrate_to_itself();
	work_end(context);
}

/* What an attribute takes, mostly: the words of the first whose name is in @path. */
static const char *setting_of(const char *path)
{
	static const struct {
		const char *name, *words[12];
	} settings[] = {
		{ "policy/mode",
		  { "strict", "relaxed", "full", "static", "dynamic", "oos", "segmented", "nested",
		    "adaptive" } },
		{ "audit/mode", { "privileged", "full", "log" } },
		{ "/resolution", { "1024x768", "1280x720", "1920x1080" } },
		{ "",
		  { "0", "1", "2", "16", "100", "1000", "4096", "100000", "-1", "on", "off", "" } },
	};
	size_t i = 0, words = 0;

	while (!strstr(path, settings[i].name))
		i++;
	if (!below(8))
		i = below(COUNT(settings));
	while (words < COUNT(settings[i].words) && settings[i].words[words])
		words++;
	return below(16) ? settings[i].words[below(words)] : "99999999999999999999";
}

/* A cap of the scheduler would slow down all later lives. */
static void administrate(void)
{
	static glob_t attributes;
	char pattern[128];
	int fd;

	if (!attributes.gl_pathc) {
		snprintf(pattern, sizeof(pattern), "/sys/bus/mdev/devices/%s/{*,[!s]*/*}",
			 getenv("GHYVI_FUZZ_VGPU"));
		if (glob(pattern, GLOB_BRACE, NULL, &attributes))
			return;
		snprintf(pattern, sizeof(pattern), "/sys/bus/mdev/devices/%s/{policy,audit}/mode",
			 getenv("GHYVI_FUZZ_VGPU"));
		/* They change the most. */
		for (unsigned int i = 0; i < MODES_MORE; i++)
			glob(pattern, GLOB_BRACE | GLOB_APPEND, NULL, &attributes);
	}
	const char *path = attributes.gl_pathv[take(2) % attributes.gl_pathc];
	const char *value = setting_of(path);

	if (strstr(path, "/remove") || strstr(path, "/power/") || strstr(path, "/driver") ||
	    strstr(path, "/self_check"))
		return;
	fd = open(path, below(2) ? O_RDONLY : O_WRONLY);
	if (fd < 0)
		return;
	if (read(fd, buffer, BUFFER_BYTES) < 0)
		(void)!write(fd, value, strlen(value));
	close(fd);
}

/* A guest programs a pipe and a plane, and its VMM looks at the screen. */
static void show(void)
{
	/* A value has the bits @set, and any bits of @any. */
	static const struct {
		uint32_t offset, any, set;
	} registers[] = {
		{ 0x6001c, 0x07ff03ff, 0 }, /* PIPEASRC */
		{ 0x60050, 0x70000000, 1u << 31 }, /* PIPE_CRC_CTL_A */
		{ 0x70080, 0x0000803f, 0x20 }, /* CURACNTR */
		{ 0x70084, 0x003fffff, 0 }, /* CURABASE */
		{ 0x70088, 0x87ff87ff, 0 }, /* CURAPOS */
		{ 0x70180, 0x0a109d33, 0x84000000 }, /* PLANE_CTL_1_A */
		{ 0x70188, 0x000003ff, 0 }, /* PLANE_STRIDE_1_A */
		{ 0x7018c, 0x07ff07ff, 0 }, /* PLANE_POS_1_A */
		{ 0x70190, 0x07ff07ff, 0 }, /* PLANE_SIZE_1_A */
		{ 0x701a4, 0x07ff07ff, 0 }, /* PLANE_OFFSET_1_A */
		{ 0x7019c, 0x003fffff, 0 }, /* PLANE_SURF_1_A */
		{ 0x70008, 0, 1u << 31 }, /* PIPEACONF */
	};
	struct vfio_device_gfx_plane_info plane = {
		.argsz = sizeof(plane),
		.flags = VFIO_GFX_PLANE_TYPE_REGION,
	};
	uint32_t pipe = below(4) ? 0 : below(3) * 0x1000, next = below(2) ? 0 : below(3) * 0x100;

	for (unsigned int i = 0; i < COUNT(registers); i++) {
		uint32_t offset = registers[i].offset, value = take(4);
		bool surface = offset == 0x70084 || offset == 0x7019c;

		if (below(8))
			value = (value & registers[i].any) | registers[i].set;
		if (surface)
			value += window_start;
		machine_write(offset + pipe + (offset >= 0x70180 ? next : 0), value, 4);
	}
	if (!ioctl(device_fd, VFIO_DEVICE_QUERY_GFX_PLANE, &plane) && plane.size)
		(void)!pread(device_fd, buffer, BUFFER_BYTES,
			     region_offset(plane.region_index) + take(4) % plane.size);
}

static void change_memory(void)
{
	switch (below(5)) {
	case 0:
		machine_ram(false);
		break;
	case 1:
		machine_hide(below(2), below(2));
		break;
	case 2:
		machine_dma((uint64_t)below(1u << 20) << 12, 4096ull << below(8), NULL);
		break;
	default:
		machine_ram(true);
		break;
	}
}

static void open_again(void)
{
	machine_close();
	machine_open();
	machine_power_on();
}

/* Those of the first UNCHECKED that change tables do so without a trap, or make data tables. */
#define UNCHECKED 2u
static void (*const vmm_moves[])(void) = {
	map_region,	   work_declare,  ask,		 set_irqs,	wander,
	access_region,	   administrate,  change_memory, administrate,	migrate_at_work,
	migrate_to_itself, access_region, open_again,	 access_region, show,
	access_region,
};

/* ---- the life of a vGPU ---- */

static void set_check(bool on)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/policy/self_check",
		 getenv("GHYVI_FUZZ_VGPU"));
	fd = open(path, O_WRONLY);
	(void)!write(fd, on ? "1" : "0", 1);
	close(fd);
}

static void live(struct random *random)
{
	unsigned int class = below(COUNT(attacks));
	const struct attack *attack = attacks[class];
	bool checked = class < CHECKED && !below(2);

	machine_power_on();
	set_check(checked);
	if (machine_read(PVINFO) != PVINFO_MAGIC_LOW) {
		open_again();
		return;
	}
	env_begin();
	attack->begin(random);
	for (unsigned int i = 0; i < MOVES_MAX && choices_left(); i++) {
		uint32_t move = below(3 * COUNT(vmm_moves));

		if (move < COUNT(vmm_moves) && !(checked && move < UNCHECKED))
			vmm_moves[move]();
		else
			attack->trial(random);
	}
	/* The reset at the start of the next life forgets all tables. */
	machine_traps = false;
	env_end();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* Attacks report effects, which mean nothing where stores to tables do not trap. */
	(void)!freopen("/dev/null", "w", stdout);
	window_limit = WINDOW_BYTES;
	slowness = SLOWNESS;
	machine_begin(getenv("GHYVI_FUZZ_VGPU"), getenv("GHYVI_FUZZ_GROUP"));
	counters_map(0, "/dev/points", 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct random random = { 1 };

	choices_begin(data, bytes);
	/* Whatever the last life has left: its state, its memory. */
	go_to(VFIO_DEVICE_STATE_RUNNING);
	machine_traps = true;
	machine_ram(true);
	machine_hide(false, false);
	if (!setjmp(end)) {
		live(&random);
	} else {
		set_check(false);
		machine_traps = false;
		memory_reset();
	}
	return 0;
}
