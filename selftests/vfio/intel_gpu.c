// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter of Intel's integrated GPUs from Skylake to Comet Lake. Each operation is one context,
 * submitted by execlists: its ring copies with XY_SRC_COPY_BLT, between two windows of a page table
 * that map source and destination.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/pci_ids.h>
#include <linux/sizes.h>

#include <libvfio.h>

/* BAR 0: registers, then the entries of the global GTT. */
#define GGTT_ENTRIES SZ_8M

#define FORCEWAKE_RENDER 0xa278
#define FORCEWAKE_RENDER_ACK 0xd84
#define FORCEWAKE_MEDIA 0xa270
#define FORCEWAKE_MEDIA_ACK 0xd88
#define FORCEWAKE_GT 0xa188
#define FORCEWAKE_GT_ACK 0x130044

#define GDRST 0x941c
#define GDRST_BLITTER BIT(3)
#define GFX_FLSH_CNTL 0x101008
#define PRIVATE_PAT_LOW 0x40e0
#define PRIVATE_PAT_HIGH 0x40e4
#define PRIVATE_PAT_WRITE_BACK 0x07070707 /* of four indices: write-back, in the last level cache */
#define RING_FAULT 0x4094

/* Settings that the hardware needs before work is submitted. */
#define GAM_ECOCHK 0x4090
#define ECOCHK_DISABLE_TLB BIT(8)
#define ECOCHK_DISABLE_HDC_INVALIDATION BIT(25)
#define GAMT_ECO 0x4ab0
#define GAMT_ECO_DECOMPRESS_IN_PLACE BIT(18)
#define MMCD_MISC_CTRL 0x4ddc
#define MMCD_PCLA BIT(31)
#define MMCD_HOTSPOT BIT(27)
#define UCGCTL4 0x940c
#define UCGCTL4_NO_GAUNIT_CLOCK_GATING BIT(14)

#define MASTER_IRQ 0x44200
#define MASTER_IRQ_ENABLE BIT(31)
#define GT_IMR 0x44304
#define GT_IIR 0x44308
#define GT_IER 0x4430c
#define BLITTER_USER_INTERRUPT BIT(16)

/* Registers of the blitter's command streamer. */
#define BCS(_offset) (0x22000 + (_offset))
#define RING_TAIL 0x30
#define RING_HEAD 0x34
#define RING_START 0x38
#define RING_CTL 0x3c
#define RING_CTL_ENABLE BIT(0)
#define RING_ACTHD 0x74
#define RING_HWS_PGA 0x80
#define RING_HWSTAM 0x98
#define RING_MI_MODE 0x9c
#define MI_MODE_STOP BIT(8)
#define MI_MODE_IDLE BIT(9)
#define RING_IMR 0xa8
#define RING_RESET_CTL 0xd0
#define RESET_CTL_REQUEST BIT(0)
#define RESET_CTL_READY BIT(1)
#define RING_ELSP 0x230
#define RING_CONTEXT_CONTROL 0x244
#define CONTEXT_RESTORE_INHIBIT BIT(0)
#define CONTEXT_NO_SYNC_SWITCH BIT(3)
#define RING_PDP0_LOW 0x270
#define RING_MODE 0x29c
#define RING_MODE_EXECLISTS BIT(15)
#define RING_CSB_POINTERS 0x3a0
#define MASKED_SET(_bits) ((_bits) << 16 | (_bits))
#define MASKED_CLEAR(_bits) ((_bits) << 16)

/* The context status buffer, in the hardware status page. */
#define CSB_ENTRIES 6
#define CSB_FIRST_DWORD 0x10
#define CSB_WRITE_POINTER_DWORD 0x1f
#define CSB_ACTIVE_TO_IDLE BIT(3)

#define CONTEXT_VALID BIT(0)
#define CONTEXT_FORCE_RESTORE BIT(2)
#define CONTEXT_48_BIT (3 << 3)
#define CONTEXT_PRIVILEGED BIT(8)
#define CONTEXT_ID BIT(5) /* in the upper dword */

#define MI_USER_INTERRUPT (0x02 << 23)
#define MI_LOAD_REGISTERS(_n) ((0x22 << 23 | BIT(12)) - 1 + 2 * (_n))
#define MI_FLUSH_DW (0x26 << 23 | 2)
#define MI_FLUSH_STORE_DWORD BIT(14)
#define MI_FLUSH_INVALIDATE_TLB BIT(18)
#define MI_FLUSH_GGTT BIT(2) /* in the address */
#define XY_SRC_COPY_BLT (2 << 29 | 0x53 << 22 | 8)
#define XY_WRITE_ALL_CHANNELS (3 << 20)
#define BLT_32_BITS (3 << 24)
#define BLT_ROP_COPY (0xcc << 16)

#define PTE_PRESENT BIT(0)
#define PTE_WRITABLE BIT(1)
#define PAGE_ENTRIES 512
#define ADDRESS_LIMIT BIT_ULL(39)

#define MAX_MEMCPY_SIZE SZ_1M
#define MAX_MEMCPY_COUNT SZ_1K
#define RING_SIZE SZ_128K
#define ROW_BYTES SZ_4K
#define BASE_ALIGNMENT SZ_64

/* Where the global GTT has the driver's memory. Firmware has the screen at its start. */
#define GGTT_BASE SZ_32M

/* A hang is the end of progress for this long. */
#define HANG_MS 500
#define REGISTER_MS 50
#define RESET_TRIES 3

/* In the driver's region. The engine may fetch from the page behind the ring. */
struct intel_gpu {
	u32 ring[RING_SIZE / 4];
	u32 status[SZ_4K / 4];
	u32 context_status[SZ_4K / 4];
	u32 context[SZ_4K / 4];
	u64 pml4[PAGE_ENTRIES];
	u64 pdp[PAGE_ENTRIES];
	u64 pd[PAGE_ENTRIES];
	u64 windows[2][PAGE_ENTRIES];

	/* Not for the device. */
	u32 tail;
	u32 csb_read;
};

/* What the engine stores when all commands are complete. */
#define DONE_DWORD 0x30
#define DONE_VALUE 0x600d600d

static struct intel_gpu *to_intel_gpu(struct vfio_pci_device *device)
{
	return device->driver.region.vaddr;
}

static u32 ggtt(struct intel_gpu *gpu, void *vaddr)
{
	return GGTT_BASE + (vaddr - (void *)gpu);
}

static u32 gpu_read(struct vfio_pci_device *device, u32 offset)
{
	return readl(device->bars[0].vaddr + offset);
}

static void gpu_write(struct vfio_pci_device *device, u32 offset, u32 value)
{
	writel(value, device->bars[0].vaddr + offset);
}

static void gpu_set(struct vfio_pci_device *device, u32 offset, u32 bits)
{
	gpu_write(device, offset, gpu_read(device, offset) | bits);
}

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool gpu_wait(struct vfio_pci_device *device, u32 offset, u32 mask, u32 value)
{
	u64 end = now_ms() + REGISTER_MS;

	while ((gpu_read(device, offset) & mask) != value)
		if (now_ms() > end)
			return false;
	return true;
}

static int intel_gpu_probe(struct vfio_pci_device *device)
{
	static const u16 ids[] = {
		0x1902, 0x1906, 0x190b, 0x1912, 0x1916, 0x191b, 0x191d, 0x191e,
		0x1921, /* Skylake */
		0x5902, 0x5906, 0x590b, 0x5912, 0x5916, 0x591b, 0x591d, 0x591e, /* Kaby Lake */
		0x3e90, 0x3e91, 0x3e92, 0x3e96, 0x3e98, 0x3e9a, 0x3e9b, /* Coffee Lake */
		0x9ba5, 0x9ba8, 0x9bc4, 0x9bc5, 0x9bc6, 0x9bc8, /* Comet Lake */
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		if (vfio_pci_device_match(device, PCI_VENDOR_ID_INTEL, ids[i]))
			return device->bars[0].vaddr ? 0 : -EINVAL;
	return -EINVAL;
}

/* Registers of a part of the GPU that sleeps are read as 0. */
static void stay_awake(struct vfio_pci_device *device, bool awake)
{
	static const u32 domains[][2] = { { FORCEWAKE_RENDER, FORCEWAKE_RENDER_ACK },
					  { FORCEWAKE_MEDIA, FORCEWAKE_MEDIA_ACK },
					  { FORCEWAKE_GT, FORCEWAKE_GT_ACK } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(domains); i++) {
		gpu_write(device, domains[i][0], awake ? MASKED_SET(BIT(0)) : MASKED_CLEAR(BIT(0)));
		VFIO_ASSERT_TRUE(gpu_wait(device, domains[i][1], BIT(0), awake));
	}
}

static void reset_engine(struct vfio_pci_device *device)
{
	unsigned int tries;
	bool reset = false;

	/* An engine that hangs does not become idle. */
	gpu_write(device, BCS(RING_MI_MODE), MASKED_SET(MI_MODE_STOP));
	gpu_wait(device, BCS(RING_MI_MODE), MI_MODE_IDLE, MI_MODE_IDLE);

	gpu_write(device, BCS(RING_RESET_CTL), MASKED_SET(RESET_CTL_REQUEST));
	gpu_wait(device, BCS(RING_RESET_CTL), RESET_CTL_READY, RESET_CTL_READY);
	for (tries = 0; tries < RESET_TRIES && !reset; tries++) {
		gpu_write(device, GDRST, GDRST_BLITTER);
		reset = gpu_wait(device, GDRST, GDRST_BLITTER, 0);
	}
	VFIO_ASSERT_TRUE(reset);
	gpu_write(device, BCS(RING_RESET_CTL), MASKED_CLEAR(RESET_CTL_REQUEST));
	gpu_write(device, RING_FAULT, 0);
}

static void start_engine(struct vfio_pci_device *device)
{
	struct intel_gpu *gpu = to_intel_gpu(device);

	gpu_write(device, BCS(RING_MI_MODE), MASKED_CLEAR(MI_MODE_STOP));
	gpu_write(device, BCS(RING_HWSTAM), ~0u);
	gpu_write(device, BCS(RING_IMR), ~(u32)BLITTER_USER_INTERRUPT);
	gpu_write(device, BCS(RING_MODE), MASKED_SET(RING_MODE_EXECLISTS));
	gpu_write(device, BCS(RING_HWS_PGA), ggtt(gpu, gpu->status));

	/* The first event goes to entry 0. */
	gpu->csb_read = CSB_ENTRIES - 1;
	gpu->status[CSB_WRITE_POINTER_DWORD] = gpu->csb_read;
	gpu_write(device, BCS(RING_CSB_POINTERS), 0xffff0000 | gpu->csb_read << 8 | gpu->csb_read);
}

static void map_global(struct vfio_pci_device *device)
{
	u64 iova = device->driver.region.iova;
	u32 offset;

	VFIO_ASSERT_LE(iova + sizeof(struct intel_gpu), ADDRESS_LIMIT);
	for (offset = 0; offset < sizeof(struct intel_gpu); offset += SZ_4K)
		writeq((iova + offset) | PTE_PRESENT,
		       device->bars[0].vaddr + GGTT_ENTRIES + (GGTT_BASE + offset) / SZ_4K * 8);
	gpu_write(device, GFX_FLSH_CNTL, 1);
}

static void map_windows(struct vfio_pci_device *device)
{
	struct intel_gpu *gpu = to_intel_gpu(device);
	unsigned int i;

	gpu->pml4[0] = to_iova(device, gpu->pdp) | PTE_PRESENT | PTE_WRITABLE;
	gpu->pdp[0] = to_iova(device, gpu->pd) | PTE_PRESENT | PTE_WRITABLE;
	for (i = 0; i < ARRAY_SIZE(gpu->windows); i++)
		gpu->pd[i] = to_iova(device, gpu->windows[i]) | PTE_PRESENT | PTE_WRITABLE;
}

static void intel_gpu_init(struct vfio_pci_device *device)
{
	struct intel_gpu *gpu = to_intel_gpu(device);

	VFIO_ASSERT_GE(device->driver.region.size, sizeof(*gpu));
	memset(gpu, 0, sizeof(*gpu));

	vfio_pci_config_writew(device, PCI_COMMAND,
			       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	stay_awake(device, true);
	gpu_write(device, MASTER_IRQ, 0);
	reset_engine(device);

	gpu_set(device, GAM_ECOCHK, ECOCHK_DISABLE_TLB | ECOCHK_DISABLE_HDC_INVALIDATION);
	gpu_set(device, GAMT_ECO, GAMT_ECO_DECOMPRESS_IN_PLACE);
	gpu_set(device, MMCD_MISC_CTRL, MMCD_PCLA | MMCD_HOTSPOT);
	gpu_set(device, UCGCTL4, UCGCTL4_NO_GAUNIT_CLOCK_GATING);
	gpu_write(device, PRIVATE_PAT_LOW, PRIVATE_PAT_WRITE_BACK);
	gpu_write(device, PRIVATE_PAT_HIGH, PRIVATE_PAT_WRITE_BACK);

	map_global(device);
	map_windows(device);
	start_engine(device);

	vfio_pci_msi_enable(device, 0, 1);
	gpu_write(device, GT_IMR, ~(u32)BLITTER_USER_INTERRUPT);
	gpu_write(device, GT_IIR, ~0u);
	gpu_write(device, GT_IER, BLITTER_USER_INTERRUPT);
	gpu_write(device, MASTER_IRQ, MASTER_IRQ_ENABLE);

	device->driver.msi = 0;
	device->driver.max_memcpy_size = MAX_MEMCPY_SIZE;
	device->driver.max_memcpy_count = MAX_MEMCPY_COUNT;
}

static void intel_gpu_remove(struct vfio_pci_device *device)
{
	gpu_write(device, MASTER_IRQ, 0);
	gpu_write(device, GT_IER, 0);
	reset_engine(device);
	stay_awake(device, false);
	vfio_pci_msi_disable(device);
}

static void emit(struct intel_gpu *gpu, u32 dword)
{
	VFIO_ASSERT_LT(gpu->tail, RING_SIZE - 8);
	gpu->ring[gpu->tail / 4] = dword;
	gpu->tail += 4;
}

static void emit_flush(struct intel_gpu *gpu, u32 flags, u32 *vaddr, u32 value)
{
	emit(gpu, MI_FLUSH_DW | MI_FLUSH_STORE_DWORD | flags);
	emit(gpu, ggtt(gpu, vaddr) | MI_FLUSH_GGTT);
	emit(gpu, 0);
	emit(gpu, value);
}

/* Copy @rows rows of @width bytes, which are contiguous if @width is ROW_BYTES. */
static void emit_blit(struct intel_gpu *gpu, u64 src, u64 dst, u32 width, u32 rows)
{
	u32 src_x = src % BASE_ALIGNMENT, dst_x = dst % BASE_ALIGNMENT;
	u32 pixel = (src_x | dst_x | width) % 4 ? 1 : 4;
	u32 depth = pixel == 4 ? BLT_32_BITS : 0;

	src -= src_x;
	dst -= dst_x;
	emit(gpu, XY_SRC_COPY_BLT | (pixel == 4 ? XY_WRITE_ALL_CHANNELS : 0));
	emit(gpu, depth | BLT_ROP_COPY | ROW_BYTES);
	emit(gpu, dst_x / pixel);
	emit(gpu, rows << 16 | (dst_x + width) / pixel);
	emit(gpu, dst);
	emit(gpu, dst >> 32);
	emit(gpu, src_x / pixel);
	emit(gpu, ROW_BYTES);
	emit(gpu, src);
	emit(gpu, src >> 32);
}

static void emit_copy(struct intel_gpu *gpu, u64 src, u64 dst, u64 size)
{
	u64 rest = size % ROW_BYTES;

	if (size - rest)
		emit_blit(gpu, src, dst, ROW_BYTES, size / ROW_BYTES);
	if (rest)
		emit_blit(gpu, src + size - rest, dst + size - rest, rest, 1);
}

/* Returns the GPU's address of @iova. */
static u64 map_window(struct intel_gpu *gpu, unsigned int window, iova_t iova, u64 size)
{
	u64 first = iova & ~(u64)(SZ_4K - 1), page;

	VFIO_ASSERT_LE(iova + size, ADDRESS_LIMIT);
	for (page = first; page < iova + size; page += SZ_4K)
		gpu->windows[window][(page - first) / SZ_4K] = page | PTE_PRESENT | PTE_WRITABLE;
	return (u64)window * SZ_2M + iova % SZ_4K;
}

static void begin_commands(struct intel_gpu *gpu)
{
	gpu->tail = 0;
	gpu->status[DONE_DWORD] = 0;
	emit_flush(gpu, MI_FLUSH_INVALIDATE_TLB, &gpu->status[DONE_DWORD + 1], 0);
}

/*
 * The context's image: registers as the engine loads and saves them. What is neither of the ring
 * nor of the page table is reset.
 */
static void write_context(struct vfio_pci_device *device)
{
	static const u16 ring_registers[] = {
		RING_CONTEXT_CONTROL,
		RING_HEAD,
		RING_TAIL,
		RING_START,
		RING_CTL, /* then batches */
		0x168,
		0x140,
		0x110,
		0x11c,
		0x114,
		0x118,
		0x1c0,
		0x1c4,
		0x1c8,
	};
	/* The time stamp of the context, then the four roots of a table, of which one is used. */
	static const u16 table_registers[] = {
		0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, RING_PDP0_LOW,
	};
	struct intel_gpu *gpu = to_intel_gpu(device);
	u64 pml4 = to_iova(device, gpu->pml4);
	u32 *ring = &gpu->context[1], *tables = &gpu->context[0x21];
	unsigned int i;

	memset(gpu->context, 0, sizeof(gpu->context));
	*ring++ = MI_LOAD_REGISTERS(ARRAY_SIZE(ring_registers));
	for (i = 0; i < ARRAY_SIZE(ring_registers); i++)
		ring[2 * i] = BCS(ring_registers[i]);
	ring[1] = MASKED_SET(CONTEXT_RESTORE_INHIBIT | CONTEXT_NO_SYNC_SWITCH);
	ring[5] = gpu->tail;
	ring[7] = ggtt(gpu, gpu->ring);
	ring[9] = (RING_SIZE - SZ_4K) | RING_CTL_ENABLE;

	*tables++ = MI_LOAD_REGISTERS(ARRAY_SIZE(table_registers));
	for (i = 0; i < ARRAY_SIZE(table_registers); i++)
		tables[2 * i] = BCS(table_registers[i]);
	tables[15] = pml4 >> 32;
	tables[17] = pml4;
}

static void submit_commands(struct vfio_pci_device *device, bool interrupt)
{
	struct intel_gpu *gpu = to_intel_gpu(device);
	u32 descriptor;

	emit_flush(gpu, 0, &gpu->status[DONE_DWORD], DONE_VALUE);
	emit(gpu, interrupt ? MI_USER_INTERRUPT : 0);
	if (gpu->tail % 8)
		emit(gpu, 0);
	write_context(device);

	descriptor = ggtt(gpu, gpu->context_status) | CONTEXT_VALID | CONTEXT_FORCE_RESTORE |
		     CONTEXT_48_BIT | CONTEXT_PRIVILEGED;
	/* The second element is empty. The last write submits both. */
	gpu_write(device, BCS(RING_ELSP), 0);
	gpu_write(device, BCS(RING_ELSP), 0);
	gpu_write(device, BCS(RING_ELSP), CONTEXT_ID);
	gpu_write(device, BCS(RING_ELSP), descriptor);
}

static void intel_gpu_memcpy_start(struct vfio_pci_device *device, iova_t src, iova_t dst, u64 size,
				   u64 count)
{
	struct intel_gpu *gpu = to_intel_gpu(device);
	u64 from = map_window(gpu, 0, src, size), to = map_window(gpu, 1, dst, size);

	begin_commands(gpu);
	while (count--)
		emit_copy(gpu, from, to, size);
	submit_commands(device, false);
}

/* The engine's event that it is idle follows the last store of the context. */
static bool became_idle(struct intel_gpu *gpu)
{
	u32 write = READ_ONCE(gpu->status[CSB_WRITE_POINTER_DWORD]) % CSB_ENTRIES;
	bool idle = false;

	while (gpu->csb_read != write) {
		gpu->csb_read = (gpu->csb_read + 1) % CSB_ENTRIES;
		idle = READ_ONCE(gpu->status[CSB_FIRST_DWORD + 2 * gpu->csb_read]) &
		       CSB_ACTIVE_TO_IDLE;
	}
	return idle;
}

static int intel_gpu_memcpy_wait(struct vfio_pci_device *device)
{
	struct intel_gpu *gpu = to_intel_gpu(device);
	u64 progress_ms = now_ms();
	u32 last = ~0u, at;

	while (!became_idle(gpu)) {
		usleep(100);
		at = gpu_read(device, BCS(RING_ACTHD));
		if (at != last)
			progress_ms = now_ms();
		last = at;
		if (now_ms() - progress_ms < HANG_MS)
			continue;

		dev_err(device, "intel_gpu: the blitter hangs: ACTHD 0x%x, fault 0x%x\n", at,
			gpu_read(device, RING_FAULT));
		reset_engine(device);
		start_engine(device);
		return -EIO;
	}

	VFIO_ASSERT_EQ(READ_ONCE(gpu->status[DONE_DWORD]), DONE_VALUE);
	return 0;
}

static void intel_gpu_send_msi(struct vfio_pci_device *device)
{
	begin_commands(to_intel_gpu(device));
	submit_commands(device, true);
	VFIO_ASSERT_EQ(intel_gpu_memcpy_wait(device), 0);
	VFIO_ASSERT_TRUE(gpu_wait(device, GT_IIR, BLITTER_USER_INTERRUPT, BLITTER_USER_INTERRUPT));

	/* The next MSI is sent when the master bit and a source are set again. */
	gpu_write(device, MASTER_IRQ, 0);
	gpu_write(device, GT_IIR, BLITTER_USER_INTERRUPT);
	gpu_write(device, MASTER_IRQ, MASTER_IRQ_ENABLE);
}

const struct vfio_pci_driver_ops intel_gpu_ops = {
	.name = "intel_gpu",
	.probe = intel_gpu_probe,
	.init = intel_gpu_init,
	.remove = intel_gpu_remove,
	.memcpy_start = intel_gpu_memcpy_start,
	.memcpy_wait = intel_gpu_memcpy_wait,
	.send_msi = intel_gpu_send_msi,
};
