// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vfio-user server (tools/pgpu-emu/vfio_user*.c) from the side of its client: a process of its
 * own has the emulated GPU, and the test does what a VMM and a driver in it do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include "emu_fixture.h"
#include "transport.h"
#include "vfio_user.h"

#define BAR0 VFIO_PCI_BAR0_REGION_INDEX
#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX
#define MSI_CAP 0xac
#define WAIT_MS 20000
#define QUIET_MS 50
#define READ_WRITE (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)
#define XY_COLOR_BLT (2u << 29 | 0x50u << 22 | 3u << 20 | 5)
#define BLT_32BPP (3u << 24)
#define ROP_FILL (0xf0u << 16)
#define BLITTER_USER_INTERRUPT (1u << 16)
#define COLOUR 0xc0ffee11u

static char directory[] = "/tmp/emu-vfio-user.XXXXXX", path[64];
static pid_t server;
static int client = -1, memory = -1;
static struct vfio_user_request last; /* the last reply */

/* ---- the server ---- */

static volatile sig_atomic_t ending;

static void on_signal(int signal)
{
	ending = 1;
}

static void run_server(void)
{
	static struct emu device;
	static struct emu_vfio_user service;
	sigset_t blocked, waiting;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	signal(SIGTERM, on_signal);
	device.log = fopen("/dev/null", "w");
	emu_adversary_seed(&device.adversary, 1);
	if (emu_init(&device) || emu_vfio_user_start(&service, &device, path))
		_exit(1);
	emu_serve(&device, &ending, &waiting);
	_exit(emu_vfio_user_stop(&service));
}

static void connect_client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	unsigned int i;

	strcpy(address.sun_path, path);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	for (i = 0; connect(client, (struct sockaddr *)&address, sizeof(address)); i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
}

/* ---- messages ---- */

static void send_message(u16 command, u32 flags, const void *body, size_t bytes, int fd)
{
	struct vfio_user_header header = {
		.id = 0x1234, .command = command, .bytes = sizeof(header) + bytes, .flags = flags
	};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov[] = { { &header, sizeof(header) }, { (void *)body, bytes } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
							 .cmsg_type = SCM_RIGHTS,
							 .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	assert_int_equal(sendmsg(client, &msg, MSG_NOSIGNAL), header.bytes);
}

static void receive_reply(u16 command)
{
	struct pollfd polled = { .fd = client, .events = POLLIN };

	assert_int_equal(poll(&polled, 1, WAIT_MS), 1);
	assert_int_equal(recv(client, &last.header, sizeof(last.header), MSG_WAITALL),
			 sizeof(last.header));
	assert_int_equal(last.header.id, 0x1234);
	assert_int_equal(last.header.command, command);
	assert_int_equal(last.header.flags & VFIO_USER_TYPE_MASK, VFIO_USER_REPLY);
	last.bytes = last.header.bytes - sizeof(last.header);
	assert_in_range(last.bytes, 0, sizeof(last.body));
	if (last.bytes)
		assert_int_equal(recv(client, last.body, last.bytes, MSG_WAITALL), last.bytes);
}

/* Returns the error of the reply. */
static u32 ask(u16 command, const void *body, size_t bytes, int fd)
{
	send_message(command, 0, body, bytes, fd);
	receive_reply(command);
	assert_int_equal(!!(last.header.flags & VFIO_USER_ERROR), !!last.header.error);
	if (last.header.error)
		assert_int_equal(last.bytes, 0);
	return last.header.error;
}

static bool connection_has_ended(void)
{
	struct pollfd polled = { .fd = client, .events = POLLIN };
	char byte;

	return poll(&polled, 1, WAIT_MS) == 1 && recv(client, &byte, 1, 0) <= 0;
}

static u32 propose(u16 major, const char *capabilities)
{
	struct {
		struct vfio_user_version version;
		char capabilities[256];
	} body = { .version = { .major = major, .minor = 3 } };

	strcpy(body.capabilities, capabilities);
	return ask(VFIO_USER_VERSION, &body, sizeof(body.version) + strlen(capabilities) + 1, -1);
}

/* ---- the device ---- */

static u64 region_read(u32 region, u64 offset, u32 bytes)
{
	struct vfio_user_access access = { .offset = offset, .region = region, .bytes = bytes };
	u64 value = 0;

	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), 0);
	assert_int_equal(last.bytes, sizeof(access) + bytes);
	memcpy(&value, last.body + sizeof(access), bytes);
	return value;
}

static void region_write(u32 region, u64 offset, u64 value, u32 bytes)
{
	struct {
		struct vfio_user_access access;
		u64 value;
	} body = { .access = { .offset = offset, .region = region, .bytes = bytes },
		   .value = value };

	assert_int_equal(ask(VFIO_USER_REGION_WRITE, &body, sizeof(body.access) + bytes, -1), 0);
}

static void write_register(u32 offset, u32 value)
{
	region_write(BAR0, offset, value, 4);
}

static u32 map(u64 address, u64 bytes, u64 offset, u32 flags, int fd)
{
	struct vfio_user_dma_map body = { sizeof(body), flags, offset, address, bytes };

	return ask(VFIO_USER_DMA_MAP, &body, sizeof(body), fd);
}

static u32 unmap(u64 address, u64 bytes)
{
	struct vfio_user_dma_unmap body = { sizeof(body), 0, address, bytes };

	return ask(VFIO_USER_DMA_UNMAP, &body, sizeof(body), -1);
}

static u32 set_irqs(u32 index, u32 flags, u32 count, int fd)
{
	struct vfio_irq_set body = { sizeof(body), flags, index, 0, count };

	return ask(VFIO_USER_DEVICE_SET_IRQS, &body, sizeof(body), fd);
}

static int listen_to(u32 index)
{
	int event = eventfd(0, EFD_NONBLOCK);

	assert_int_equal(set_irqs(index, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 1,
				  event),
			 0);
	return event;
}

static bool signalled(int event, int wait_ms)
{
	struct pollfd polled = { .fd = event, .events = POLLIN };
	u64 count;

	return poll(&polled, 1, wait_ms) == 1 && read(event, &count, sizeof(count)) > 0;
}

/* ---- a driver ---- */

/* One page of the GGTT for each page of RAM, as in emu_fixture.c. */
static void start_driver(bool msi)
{
	u32 i, base = GHYVI_BLITTER_BASE;

	if (msi) {
		region_write(CONFIG, MSI_CAP + PCI_MSI_ADDRESS_LO, 0xfee00000, 4);
		region_write(CONFIG, MSI_CAP + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE, 2);
	}
	region_write(CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	write_register(FORCEWAKE_GT_GEN9, 0x00010001);
	for (i = 0; i < RAM_BYTES >> GHYVI_PAGE_SHIFT; i++)
		region_write(BAR0, EMU_GGTT_OFFSET + 8 * i, (u64)i << GHYVI_PAGE_SHIFT | 1, 8);
	write_register(GFX_FLSH_CNTL_GEN6, 1);
	write_register(base + RING_HWS_PGA, HWSP);
	write_register(base + RING_MODE,
		       RING_MODE_RUN_LIST_ENABLE << 16 | RING_MODE_RUN_LIST_ENABLE);
	write_register(base + RING_CSB_POINTER, 0xffff0505);
	write_register(base + RING_IMR, ~BLITTER_USER_INTERRUPT);
	write_register(GEN8_GT_ISR0 + IRQ_IMR, 0);
	write_register(GEN8_GT_ISR0 + IRQ_IER, ~0u);
	write_register(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
}

static void submit_blitter(u64 first)
{
	u32 base = GHYVI_BLITTER_BASE;

	write_register(base + RING_ELSP, 0);
	write_register(base + RING_ELSP, 0);
	write_register(base + RING_ELSP, first >> 32);
	write_register(base + RING_ELSP, first);
}

/* A context of the blitter fills 16 pixels in its PPGTT, and interrupts. */
static void submit_fill(void)
{
	build_tables();
	make_context(0, GHYVI_BLITTER_BASE);
	EMIT(0, XY_COLOR_BLT, BLT_32BPP | ROP_FILL | 64, 0, 1u << 16 | 16, (u32)DATA_VA,
	     DATA_VA >> 32, COLOUR, USER_INTERRUPT);
	submit_blitter(descriptor(0));
}

static void expect_filled(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		assert_int_equal(*word(DATA + 4 * i), COLOUR);
	assert_int_equal(*word(DATA + 64), 0);
}

/* ---- set-up ---- */

static int begin(void **state)
{
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/socket", directory);
	server = fork();
	if (!server)
		run_server();
	connect_client();
	memory = memfd_create("ram", MFD_CLOEXEC);
	assert_int_equal(ftruncate(memory, RAM_BYTES), 0);
	ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	assert_true(ram != MAP_FAILED);
	return 0;
}

static int begin_negotiated(void **state)
{
	begin(state);
	return propose(VFIO_USER_MAJOR, "");
}

/* The sanitizers' verdict on the server is its exit status. */
static int end(void **state)
{
	int status;

	close(client);
	munmap(ram, RAM_BYTES);
	close(memory);
	kill(server, SIGTERM);
	waitpid(server, &status, 0);
	unlink(path);
	rmdir(directory);
	return status;
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin_negotiated, end)

/* ---- cases ---- */

static void version_has_the_capabilities_that_the_client_proposes(void **state)
{
	const struct vfio_user_version *answer = (const void *)last.body;

	assert_int_equal(propose(VFIO_USER_MAJOR,
				 "{\"capabilities\":{\"max_dma_maps\":9,\"pgsizes\":4096}}"),
			 0);
	assert_int_equal(answer->major, VFIO_USER_MAJOR);
	assert_true(answer->minor <= 3);
	assert_string_equal(answer->capabilities,
			    "{\"capabilities\":{\"max_dma_maps\":65535,\"pgsizes\":4096}}");
}

static void connection_ends_at_another_major_version(void **state)
{
	struct vfio_user_version body = { .major = VFIO_USER_MAJOR + 1 };

	send_message(VFIO_USER_VERSION, 0, &body, sizeof(body), -1);
	assert_true(connection_has_ended());
}

static void connection_ends_at_a_command_before_the_version(void **state)
{
	send_message(VFIO_USER_DEVICE_RESET, 0, NULL, 0, -1);
	assert_true(connection_has_ended());
}

static void device_has_two_bars_and_two_interrupts(void **state)
{
	static const u64 sizes[VFIO_PCI_NUM_REGIONS] = {
		[BAR0] = EMU_GTTMMADR_BYTES, [BAR2] = EMU_GMADR_BYTES, [CONFIG] = EMU_CONFIG_BYTES
	};
	static const u32 counts[] = { 1, 1, 0 };
	const u32 *info = (const u32 *)last.body;
	struct vfio_region_info region = { .argsz = sizeof(region) };
	struct vfio_irq_info irq = { .argsz = sizeof(irq) };
	u32 device[4] = { sizeof(device) };

	assert_int_equal(ask(VFIO_USER_DEVICE_GET_INFO, device, sizeof(device), -1), 0);
	assert_int_equal(info[1], VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
	assert_int_equal(info[2], VFIO_PCI_NUM_REGIONS);
	assert_int_equal(info[3], ARRAY_SIZE(counts));
	for (region.index = 0; region.index < VFIO_PCI_NUM_REGIONS; region.index++) {
		assert_int_equal(ask(VFIO_USER_DEVICE_GET_REGION_INFO, &region, sizeof(region), -1),
				 0);
		assert_int_equal(((const struct vfio_region_info *)last.body)->size,
				 sizes[region.index]);
	}
	assert_int_equal(ask(VFIO_USER_DEVICE_GET_REGION_INFO, &region, sizeof(region), -1),
			 EINVAL);
	for (irq.index = 0; irq.index < ARRAY_SIZE(counts); irq.index++) {
		assert_int_equal(ask(VFIO_USER_DEVICE_GET_IRQ_INFO, &irq, sizeof(irq), -1), 0);
		assert_int_equal(info[3], counts[irq.index]);
	}
	assert_int_equal(ask(VFIO_USER_DEVICE_GET_IRQ_INFO, &irq, sizeof(irq), -1), EINVAL);
}

static void configuration_space_is_read_as_a_whole(void **state)
{
	struct vfio_user_access access = { .region = CONFIG, .bytes = EMU_CONFIG_BYTES };
	const u8 *config = last.body + sizeof(access);

	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), 0);
	assert_int_equal(last.bytes, sizeof(access) + EMU_CONFIG_BYTES);
	assert_int_equal(config[0] | config[1] << 8, 0x8086);
	assert_int_equal(config[2] | config[3] << 8, 0x1912);
	assert_int_equal(config[0x101], 0); /* PASID, 0x001b, beyond the first 256 bytes */
	assert_int_equal(config[0x100], PCI_EXT_CAP_ID_PASID);
	region_write(CONFIG, PCI_BASE_ADDRESS_0, ~0u, 4);
	assert_int_equal(region_read(CONFIG, PCI_BASE_ADDRESS_0, 4), -EMU_GTTMMADR_BYTES);
}

static void accesses_outside_of_a_region_are_refused(void **state)
{
	struct vfio_user_access access = { .offset = EMU_GTTMMADR_BYTES - 4, .bytes = 8 };

	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access.offset = ~7ull;
	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfio_user_access){ .region = 1, .bytes = 4 };
	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfio_user_access){ .bytes = VFIO_USER_TRANSFER_MAX + 8 };
	assert_int_equal(ask(VFIO_USER_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfio_user_access){ .bytes = 8 }; /* without its data */
	assert_int_equal(ask(VFIO_USER_REGION_WRITE, &access, sizeof(access), -1), EINVAL);
}

static void malformed_commands_are_refused_and_the_next_one_works(void **state)
{
	assert_int_equal(ask(VFIO_USER_DMA_MAP, &(u32){ 4 }, 4, -1), EINVAL);
	assert_int_equal(ask(VFIO_USER_DMA_READ, &(u64[]){ 0, 4 }, 16, -1), EOPNOTSUPP);
	assert_int_equal(ask(200, NULL, 0, -1), EOPNOTSUPP);
	assert_int_equal(set_irqs(1, VFIO_IRQ_SET_ACTION_TRIGGER, 2, -1), EINVAL);
	assert_int_equal(set_irqs(3, VFIO_IRQ_SET_ACTION_TRIGGER, 0, -1), EINVAL);
	assert_int_equal(region_read(CONFIG, PCI_VENDOR_ID, 2), 0x8086);
}

static void connection_ends_at_a_message_that_is_too_long(void **state)
{
	struct vfio_user_header header = { .command = VFIO_USER_REGION_WRITE, .bytes = 1u << 30 };

	assert_int_equal(send(client, &header, sizeof(header), 0), sizeof(header));
	assert_true(connection_has_ended());
}

static void posted_writes_take_effect_in_order_without_replies(void **state)
{
	struct {
		struct vfio_user_access access;
		u32 value;
	} body = { .access = { .offset = 0x44200, .region = BAR0, .bytes = 4 } };

	body.access.offset = EMU_GGTT_OFFSET;
	for (body.value = 1; body.value <= 100; body.value++)
		send_message(VFIO_USER_REGION_WRITE, VFIO_USER_NO_REPLY, &body, sizeof(body), -1);
	assert_int_equal(region_read(BAR0, EMU_GGTT_OFFSET, 4), 100);
}

static void maps_must_not_overlap_and_unmaps_must_match(void **state)
{
	assert_int_equal(map(0, 0x100000, 0, READ_WRITE, memory), 0);
	assert_int_equal(map(0xff000, 0x1000, 0, READ_WRITE, memory), EEXIST);
	assert_int_equal(map(0x100000, RAM_BYTES, 0x1000, READ_WRITE, memory), EINVAL);
	assert_int_equal(map(0x100000, 0x800, 0, READ_WRITE, memory), EINVAL);
	assert_int_equal(map(~0ull - 0xfff, 0x2000, 0, READ_WRITE, memory), EINVAL);
	assert_int_equal(map(0x100000, 0x1000, 0, VFIO_DMA_MAP_FLAG_READ, -1), 0);
	assert_int_equal(unmap(0, 0x1000), ENOENT);
	assert_int_equal(unmap(0, 0x100000), 0);
	assert_int_equal(((const struct vfio_user_dma_unmap *)last.body)->bytes, 0x100000);
	assert_int_equal(unmap(0, 0x100000), 0);
	assert_int_equal(((const struct vfio_user_dma_unmap *)last.body)->bytes, 0);
	assert_int_equal(map(0xff000, 0x1000, 0, READ_WRITE, memory), 0);
}

static void one_unmap_removes_the_regions_in_its_range(void **state)
{
	unsigned int i;

	for (i = 0; i < 300; i++) /* with gaps, in no order */
		assert_int_equal(map(i * 7 % 300 * 0x2000, 0x1000, 0x1000, READ_WRITE, memory), 0);
	assert_int_equal(unmap(0x2000, 0), EINVAL);
	assert_int_equal(unmap(0, 0), EINVAL);
	assert_int_equal(map(0x2000, 0x1000, 0, READ_WRITE, memory), EEXIST);
	assert_int_equal(unmap(0x1000, 0x100 * 0x2000), 0);
	assert_int_equal(((const struct vfio_user_dma_unmap *)last.body)->bytes, 0x100 * 0x1000);
	assert_int_equal(map(0, 0x1000, 0, READ_WRITE, memory), EEXIST);
	assert_int_equal(map(0x101 * 0x2000, 0x1000, 0, READ_WRITE, memory), EEXIST);
	assert_int_equal(map(0x1000, 0x100 * 0x2000, 0, READ_WRITE, memory), 0);
}

static void blitter_fills_shared_memory_and_sends_msi(void **state)
{
	int event = listen_to(VFIO_PCI_MSI_IRQ_INDEX);

	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(true);
	submit_fill();
	assert_true(signalled(event, WAIT_MS));
	expect_filled();
	assert_true(region_read(BAR0, GEN8_GT_ISR0 + IRQ_IIR, 4) >> 16);
	close(event);
}

static void memory_is_found_in_parts_at_other_offsets(void **state)
{
	int event = listen_to(VFIO_PCI_MSI_IRQ_INDEX);
	u32 half = RAM_BYTES / 2;

	assert_int_equal(map(half, half, 0, READ_WRITE, memory), 0);
	assert_int_equal(map(0, half, half, READ_WRITE, memory), 0);
	start_driver(true);
	/* The aperture shows what the halves have: they are swapped. */
	*word(0) = 0x11;
	*word(half) = 0x22;
	assert_int_equal(region_read(BAR2, 0, 4), 0x22);
	assert_int_equal(region_read(BAR2, half, 4), 0x11);
	assert_int_equal(unmap(0, half), 0);
	assert_int_equal(region_read(BAR2, 0, 4), 0);
	close(event);
}

static void engines_do_not_reach_memory_that_was_unmapped(void **state)
{
	int event = listen_to(VFIO_PCI_MSI_IRQ_INDEX);

	assert_int_equal(map(0, DATA, 0, READ_WRITE, memory), 0);
	assert_int_equal(map(DATA, RAM_BYTES - DATA, DATA, READ_WRITE, memory), 0);
	start_driver(true);
	submit_fill();
	assert_true(signalled(event, WAIT_MS));
	expect_filled();
	assert_int_equal(unmap(DATA, RAM_BYTES - DATA), 0);
	memset(ram + DATA, 0, 128);
	submit_fill();
	region_read(BAR0, GEN8_MASTER_IRQ, 4);
	usleep(QUIET_MS * 1000);
	assert_int_equal(*word(DATA), 0);
	close(event);
}

static void pin_masks_itself_until_the_client_unmasks_it(void **state)
{
	int event = listen_to(VFIO_PCI_INTX_IRQ_INDEX);
	u32 unmask = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK;

	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(false);
	submit_fill();
	assert_true(signalled(event, WAIT_MS));
	assert_false(signalled(event, QUIET_MS));
	assert_int_equal(set_irqs(0, unmask, 1, -1), 0); /* still active */
	assert_true(signalled(event, WAIT_MS));
	write_register(GEN8_MASTER_IRQ, 0);
	assert_int_equal(set_irqs(0, unmask, 1, -1), 0);
	assert_false(signalled(event, QUIET_MS));
	write_register(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_true(signalled(event, WAIT_MS));
	close(event);
}

static void client_that_disables_msi_gets_no_more(void **state)
{
	int event = listen_to(VFIO_PCI_MSI_IRQ_INDEX);
	u32 trigger = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;

	assert_int_equal(set_irqs(1, trigger, 1, -1), 0); /* a test of the handler */
	assert_true(signalled(event, WAIT_MS));
	assert_int_equal(set_irqs(1, trigger, 0, -1), 0);
	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(true);
	submit_fill();
	assert_false(signalled(event, QUIET_MS));
	close(event);
}

/* A pipe would end the server when its reader has gone, or block it when it is full. */
static void what_is_no_eventfd_is_refused(void **state)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(set_irqs(VFIO_PCI_MSI_IRQ_INDEX,
				  VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 1,
				  ends[1]),
			 EINVAL);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(set_irqs(VFIO_PCI_MSI_IRQ_INDEX,
				  VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 1, -1),
			 0);
	assert_int_equal(region_read(CONFIG, PCI_VENDOR_ID, 2), 0x8086);
}

static void eventfd_that_is_full_does_not_block_the_server(void **state)
{
	u64 most = ~0ull - 1;
	int event = eventfd(0, 0);

	assert_int_equal(write(event, &most, sizeof(most)), sizeof(most));
	assert_int_equal(set_irqs(VFIO_PCI_MSI_IRQ_INDEX,
				  VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 1,
				  event),
			 0);
	assert_int_equal(set_irqs(VFIO_PCI_MSI_IRQ_INDEX,
				  VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 1, -1),
			 0);
	close(event);
}

static void connection_ends_if_the_rest_of_a_message_does_not_come(void **state)
{
	struct vfio_user_header header = { .id = 1,
					   .command = VFIO_USER_DEVICE_RESET,
					   .bytes = sizeof(header) };

	assert_int_equal(send(client, &header, 8, MSG_NOSIGNAL), 8);
	assert_true(connection_has_ended());
	close(client);
	connect_client();
	assert_int_equal(propose(VFIO_USER_MAJOR, ""), 0);
}

static void reset_clears_registers_and_configuration_space(void **state)
{
	region_write(CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	region_write(BAR0, EMU_GGTT_OFFSET, 0x1001, 8);
	assert_int_equal(ask(VFIO_USER_DEVICE_RESET, NULL, 0, -1), 0);
	assert_int_equal(region_read(BAR0, EMU_GGTT_OFFSET, 8), 0);
	assert_int_equal(region_read(CONFIG, PCI_COMMAND, 2), 0);
}

static void next_client_finds_nothing_of_the_last_one(void **state)
{
	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(true);
	*word(0) = 0x33;
	assert_int_equal(region_read(BAR2, 0, 4), 0x33);
	close(client);
	connect_client();
	assert_int_equal(propose(VFIO_USER_MAJOR, ""), 0);
	assert_int_equal(region_read(CONFIG, PCI_COMMAND, 2), 0);
	region_write(BAR0, EMU_GGTT_OFFSET, 1, 8);
	assert_int_equal(region_read(BAR2, 0, 4), 0);
	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	assert_int_equal(region_read(BAR2, 0, 4), 0x33);
}

static void next_client_is_served(void)
{
	assert_true(connection_has_ended());
	close(client);
	connect_client();
	assert_int_equal(propose(VFIO_USER_MAJOR, ""), 0);
	assert_int_equal(region_read(CONFIG, PCI_VENDOR_ID, 2), 0x8086);
}

static void client_that_takes_its_memory_away_only_ends_its_connection(void **state)
{
	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(true);
	*word(0) = 0x33;
	assert_int_equal(ftruncate(memory, 0), 0);
	assert_int_equal(region_read(BAR2, 0, 4), 0);
	next_client_is_served();
}

static void memory_may_go_away_under_an_engine(void **state)
{
	assert_int_equal(map(0, RAM_BYTES, 0, READ_WRITE, memory), 0);
	start_driver(true);
	build_tables();
	make_context(0, GHYVI_BLITTER_BASE);
	EMIT(0, SEMAPHORE, 1, (u32)DATA_VA, DATA_VA >> 32);
	submit_blitter(descriptor(0));
	assert_int_equal(ftruncate(memory, 0), 0);
	next_client_is_served();
}

static void socket_of_a_server_that_runs_is_not_taken(void **state)
{
	static struct emu_vfio_user second;

	close(client);
	assert_int_equal(emu_vfio_user_start(&second, NULL, path), -EADDRINUSE);
	connect_client();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			version_has_the_capabilities_that_the_client_proposes, begin, end),
		cmocka_unit_test_setup_teardown(connection_ends_at_another_major_version, begin,
						end),
		cmocka_unit_test_setup_teardown(connection_ends_at_a_command_before_the_version,
						begin, end),
		CASE(device_has_two_bars_and_two_interrupts),
		CASE(configuration_space_is_read_as_a_whole),
		CASE(accesses_outside_of_a_region_are_refused),
		CASE(malformed_commands_are_refused_and_the_next_one_works),
		CASE(connection_ends_at_a_message_that_is_too_long),
		CASE(posted_writes_take_effect_in_order_without_replies),
		CASE(maps_must_not_overlap_and_unmaps_must_match),
		CASE(one_unmap_removes_the_regions_in_its_range),
		CASE(blitter_fills_shared_memory_and_sends_msi),
		CASE(memory_is_found_in_parts_at_other_offsets),
		CASE(engines_do_not_reach_memory_that_was_unmapped),
		CASE(pin_masks_itself_until_the_client_unmasks_it),
		CASE(client_that_disables_msi_gets_no_more),
		CASE(what_is_no_eventfd_is_refused),
		CASE(eventfd_that_is_full_does_not_block_the_server),
		CASE(connection_ends_if_the_rest_of_a_message_does_not_come),
		CASE(reset_clears_registers_and_configuration_space),
		CASE(next_client_finds_nothing_of_the_last_one),
		CASE(client_that_takes_its_memory_away_only_ends_its_connection),
		CASE(memory_may_go_away_under_an_engine),
		CASE(socket_of_a_server_that_runs_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
