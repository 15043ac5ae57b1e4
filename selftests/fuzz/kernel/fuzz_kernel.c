// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU of the running kernel, guided by the coverage of the modules (KCOV). libFuzzer mutates the
 * inputs; what the kernel executes for one in this thread is given to it as extra counters.
 *
 * An input is a life of the vGPU: the class of attacks whose start it has, then moves. A move is a
 * trial of that class, as the hostile guest makes it, or a call of the VMM: an ioctl, an access to
 * any region, a mapping, a migration to itself with a changed stream, a setting of the
 * administrator. All choices of the attacks are taken from the input.
 *
 * GHYVI_FUZZ_VGPU is the vGPU's UUID, GHYVI_FUZZ_GROUP the file of its VFIO group, GHYVI_FUZZ_PCS
 * the file to which the program counters that were seen are written at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/kcov.h>
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
#include "machine_vfio.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MOVES_MAX 24u
#define KCOV_WORDS (1ul << 20)
#define PCS_MAX (1u << 18)
#define STREAM_BYTES (64u << 20)
#define BUFFER_BYTES 4096u
#define WINDOW_BYTES (4u << 20) /* of the GGTT: enough for each attack */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Those with many tables, or with a second thread, are left to test-hostile: they take long. */
static const struct attack *const attacks[] = {
	&attack_commands, &attack_user,	     &attack_registers,	  &attack_port,
	&attack_image,	  &attack_ring,	     &attack_foreign,	  &attack_aliasing,
	&attack_unmap,	  &attack_to_absent, &attack_split_entry, &attack_schedule,
};

/* ---- the choices of an input ---- */

static struct {
	const uint8_t *data;
	size_t left;
	struct random after; /* an attack may need more choices than the input has */
	jmp_buf end;
} input;

static uint64_t take(unsigned int bytes)
{
	uint64_t value = 0;

	if (bytes > input.left) {
		input.left = 0;
		input.after.state ^= input.after.state << 13;
		input.after.state ^= input.after.state >> 7;
		input.after.state ^= input.after.state << 17;
		return input.after.state;
	}
	memcpy(&value, input.data, bytes);
	input.data += bytes;
	input.left -= bytes;
	return value;
}

void random_seed(struct random *r, uint64_t seed)
{
	r->state = seed;
}

uint64_t random_next(struct random *r)
{
	(void)r;
	return take(8);
}

unsigned int random_range(struct random *r, unsigned int low, unsigned int high)
{
	unsigned int range = high - low;

	(void)r;
	return low + take(range > 0xffff ? 4 : range > 0xff ? 2 : 1) % (range + 1ull);
}

void random_fill(struct random *r, void *buffer, size_t bytes)
{
	(void)r;
	for (uint8_t *p = buffer; bytes; bytes--)
		*p++ = take(1);
}

/* An attack cannot go on, because the move of a VMM has taken what it needs. */
void give_up(const char *format, ...)
{
	(void)format;
	longjmp(input.end, 1);
}

static uint32_t below(uint32_t n)
{
	return take(n > 0x100 ? 4 : 1) % n;
}

/* ---- coverage ---- */

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[1u << 16];
static uint64_t *kcov;
static uint64_t pcs[PCS_MAX]; /* a hash table */

static void kcov_begin(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR);

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, KCOV_WORDS)) {
		fprintf(stderr, "fuzz_kernel: KCOV: %s\n", strerror(errno));
		_exit(3);
	}
	kcov = mmap(NULL, KCOV_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (kcov == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
		fprintf(stderr, "fuzz_kernel: KCOV: %s\n", strerror(errno));
		_exit(3);
	}
}

static void pc_seen(uint64_t pc)
{
	uint32_t i = pc * 0x9e3779b97f4a7c15ull >> 46;

	while (pcs[i] && pcs[i] != pc)
		i = (i + 1) % PCS_MAX;
	pcs[i] = pc;
}

static void kcov_collect(void)
{
	uint64_t count = __atomic_load_n(&kcov[0], __ATOMIC_RELAXED);

	for (uint64_t i = 1; i <= count; i++) {
		uint8_t *counter = &counters[kcov[i] * 0x9e3779b97f4a7c15ull >> 48];

		*counter += *counter < 255;
		pc_seen(kcov[i]);
	}
}

static void pcs_write(void)
{
	const char *path = getenv("GHYVI_FUZZ_PCS");
	FILE *file = path ? fopen(path, "w") : NULL;

	for (unsigned int i = 0; file && i < PCS_MAX; i++)
		if (pcs[i])
			fprintf(file, "%llx\n", (unsigned long long)pcs[i]);
	if (file)
		fclose(file);
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
	for (unsigned int n = bytes ? below(4) : 0; n; n--)
		stream[(below(4) ? take(2) : take(4)) % bytes] = take(1);
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

static void administrate(void)
{
	static const char *const values[] = {
		"strict",   "relaxed",
		"adaptive", "segmented",
		"nested",   "full",
		"static",   "oos",
		"on",	    "off",
		"0",	    "1",
		"2",	    "16",
		"1000",	    "4096",
		"100000",   "-1",
		"fair",	    "1280x720",
		"",	    "99999999999999999999",
	};
	static glob_t attributes;
	const char *value = values[below(COUNT(values))];
	char pattern[128];
	int fd;

	if (!attributes.gl_pathc) {
		snprintf(pattern, sizeof(pattern), "/sys/bus/mdev/devices/%s/{*,[!s]*/*}",
			 getenv("GHYVI_FUZZ_VGPU"));
		if (glob(pattern, GLOB_BRACE, NULL, &attributes))
			return;
	}
	const char *path = attributes.gl_pathv[take(2) % attributes.gl_pathc];

	if (strstr(path, "/remove") || strstr(path, "/power/") || strstr(path, "/driver"))
		return;
	fd = open(path, below(2) ? O_RDONLY : O_WRONLY);
	if (fd < 0)
		return;
	if (read(fd, buffer, BUFFER_BYTES) < 0)
		(void)!write(fd, value, strlen(value));
	close(fd);
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
	close(device_fd);
	machine_open();
	machine_power_on();
}

static void (*const vmm_moves[])(void) = {
	access_region, map_region,    ask,	    set_irqs,	       wander,	      access_region,
	administrate,  change_memory, administrate, migrate_to_itself, access_region, open_again,
};

/* ---- the life of a vGPU ---- */

static void live(struct random *random)
{
	const struct attack *attack = attacks[below(COUNT(attacks))];

	machine_power_on();
	if (machine_read(PVINFO) != PVINFO_MAGIC_LOW) {
		open_again();
		return;
	}
	env_begin();
	attack->begin(random);
	for (unsigned int i = 0; i < MOVES_MAX && input.left; i++) {
		uint32_t move = below(3 * COUNT(vmm_moves));

		if (move < COUNT(vmm_moves))
			vmm_moves[move]();
		else
			attack->trial(random);
	}
	env_end();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* Attacks report effects, which mean nothing where stores to tables do not trap. */
	(void)!freopen("/dev/null", "w", stdout);
	window_limit = WINDOW_BYTES;
	machine_begin(getenv("GHYVI_FUZZ_VGPU"), getenv("GHYVI_FUZZ_GROUP"));
	atexit(pcs_write);
	kcov_begin();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct random random = { 1 };

	input.data = data;
	input.left = bytes;
	input.after.state = 0x2545f4914f6cdd1dull;
	/* Whatever the last life has left: its state, its memory. */
	go_to(VFIO_DEVICE_STATE_RUNNING);
	machine_ram(true);
	machine_hide(false, false);
	__atomic_store_n(&kcov[0], 0, __ATOMIC_RELAXED);
	if (!setjmp(input.end))
		live(&random);
	else
		memory_reset();
	kcov_collect();
	return 0;
}
