// SPDX-License-Identifier: GPL-2.0-only
/* Pages, works, interrupts and the PCI function for kernel/gen9 in user space. */
#include <sys/mman.h>
#include <unistd.h>
#include "gen9_shim.h"
#include "emu.h"

#define ARENA ((u8 *)0x20000000ull) /* below the shadow of the sanitizer */
#define ARENA_PAGES 65536u
#define REGS ((u8 *)0x7000000000ull) /* not mapped: accesses go to the emulator */
#define WORKS 64

struct emu gen9_shim_emu;
/* The function is off the bus: reads return all ones, writes are lost, nothing runs. */
bool gen9_shim_lost;
void (*gen9_shim_written)(u32 offset, u32 value);
struct pci_driver *gen9_shim_driver;
void (*gen9_shim_preempted)(void);
void (*gen9_shim_waiting)(void);
static int arena_fd;
static unsigned int next_page, nr_free;
static struct page *free_pages[ARENA_PAGES];
static struct work_struct *works[WORKS];
static struct gen9_shim_delayed *delayed[WORKS];
static irqreturn_t (*irq_handler)(int irq, void *data);
static void *irq_data;
static bool irq_raised;

static void raise_irq(struct emu *emu, u64 address, u32 data)
{
	irq_raised = true;
}

static const struct emu_transport_ops transport = { .msi = raise_irq };

void gen9_shim_init(void)
{
	struct emu *emu = &gen9_shim_emu;

	arena_fd = memfd_create("arena", 0);
	if (arena_fd < 0 || ftruncate(arena_fd, ARENA_PAGES * 4096ull) ||
	    mmap(ARENA, ARENA_PAGES * 4096ull, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED_NOREPLACE, arena_fd, 0) != ARENA)
		abort();
	emu_adversary_seed(&emu->adversary, 1);
	if (emu_init(emu) || gen9_shim_module_init())
		abort();
	emu->transport = &transport;
	if (emu_ram_insert(emu, &(struct emu_ram_region){ .start = (uintptr_t)ARENA,
							  .bytes = ARENA_PAGES * 4096ull,
							  .memory = ARENA }))
		abort();
}

/* ---- pages ---- */

static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;

struct page *gen9_shim_page_alloc(void)
{
	struct page *page;

	pthread_mutex_lock(&pages_lock);
	page = nr_free ? free_pages[--nr_free] : (struct page *)ARENA + next_page++;
	pthread_mutex_unlock(&pages_lock);
	if (next_page >= ARENA_PAGES)
		abort();
	memset(page, 0, sizeof(*page));
	return page;
}

/* What the write to GFX_FLSH_CNTL invalidates may still be used until a read returns. */
static bool flush_posted;
size_t gen9_shim_dma_max = SIZE_MAX;
int gen9_shim_regions_error;
bool gen9_shim_freed_early;
void (*gen9_shim_freed)(struct page *page);

void gen9_shim_page_free(struct page *page)
{
	gen9_shim_freed_early |= flush_posted;
	if (gen9_shim_freed)
		gen9_shim_freed(page);
	memset(page, 0xee, sizeof(*page));
	pthread_mutex_lock(&pages_lock);
	free_pages[nr_free++] = page;
	pthread_mutex_unlock(&pages_lock);
}

#define MAPS 4096
static struct {
	void *at;
	size_t bytes;
} maps[MAPS];

void *gen9_shim_vmap(struct page **pages, unsigned int count)
{
	u8 *at = mmap(NULL, count * 4096ull, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (mmap(at + i * 4096ull, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 arena_fd, (u8 *)pages[i] - ARENA) == MAP_FAILED)
			abort();
	for (i = 0; i < MAPS && maps[i].at; i++)
		;
	if (i == MAPS)
		abort();
	maps[i].at = at;
	maps[i].bytes = count * 4096ull;
	return at;
}

void gen9_shim_vunmap(void *at)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		if (maps[i].at == at) {
			munmap(at, maps[i].bytes);
			maps[i].at = NULL;
		}
}

/* ---- bits ---- */

unsigned long find_next_bit(const unsigned long *map, unsigned long size, unsigned long start)
{
	while (start < size && !test_bit(start, map))
		start++;
	return min(start, size);
}

unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size, unsigned long start)
{
	while (start < size && test_bit(start, map))
		start++;
	return min(start, size);
}

unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size,
					 unsigned long start, unsigned int count,
					 unsigned long mask)
{
	unsigned long i, run = 0;

	for (i = start; i < size; i++) {
		run = test_bit(i, map) ? 0 : run + 1;
		if (run == count)
			return i + 1 - count;
	}
	return size;
}

void bitmap_set(unsigned long *map, unsigned int start, unsigned int count)
{
	for (; count; start++, count--)
		set_bit(start, map);
}

void bitmap_clear(unsigned long *map, unsigned int start, unsigned int count)
{
	for (; count; start++, count--)
		map[start / 64] &= ~(1UL << start % 64);
}

/* ---- registers ---- */

void *gen9_shim_remap(u64 start)
{
	return REGS + (start & (EMU_GTTMMADR_BYTES - 1));
}

u32 gen9_shim_readl(const volatile void *at)
{
	flush_posted = false; /* nothing is posted any more if the function is lost */
	if (gen9_shim_lost)
		return ~0u;
	return emu_reg_read(&gen9_shim_emu, (const u8 *)at - REGS, EMU_CPU);
}

void gen9_shim_writel(u32 value, volatile void *at)
{
	if (gen9_shim_lost)
		return;
	emu_reg_write(&gen9_shim_emu, (u8 *)at - REGS, value, EMU_CPU);
	flush_posted |= (u8 *)at - REGS == GFX_FLSH_CNTL_GEN6;
	if (gen9_shim_written)
		gen9_shim_written((u8 *)at - REGS, value);
}

void gen9_shim_writeq(u64 value, volatile void *at)
{
	if (gen9_shim_lost)
		return;
	emu_ggtt_write(&gen9_shim_emu, (u8 *)at - REGS, value, 8);
}

u16 gen9_shim_config(unsigned int at)
{
	if (gen9_shim_lost)
		return 0xffff;
	return emu_config_read(&gen9_shim_emu, at, 2);
}

void gen9_shim_set_master(bool on)
{
	emu_config_write(&gen9_shim_emu, 0x04, on ? 7 : 3, 2);
}

/* ---- memory cgroups ---- */

unsigned int gen9_shim_charged;

void gen9_shim_charge(gfp_t flags)
{
	if (gen9_shim_in_work && flags & __GFP_ACCOUNT)
		gen9_shim_charged++;
}

/* ---- parameters ---- */

int param_set_uint_minmax(const char *value, const struct kernel_param *param, unsigned int low,
			  unsigned int high)
{
	unsigned long long number;
	char *end;

	number = strtoull(value, &end, 0);
	if (end == value || *end || number < low || number > high)
		return -EINVAL;
	*(unsigned int *)param->arg = (unsigned int)number;
	return 0;
}

/* ---- interrupts and works ---- */

int gen9_shim_alloc_irq(struct pci_dev *pdev)
{
	emu_config_write(&gen9_shim_emu, 0xb0, 0xfee00000, 4);
	emu_config_write(&gen9_shim_emu, 0xae, 1, 2);
	pdev->msi_enabled = true;
	return 1;
}

int request_irq(unsigned int irq, irqreturn_t (*handler)(int irq, void *data), unsigned long flags,
		const char *name, void *data)
{
	irq_handler = handler;
	irq_data = data;
	return 0;
}

void free_irq(unsigned int irq, void *data)
{
	irq_handler = NULL;
}

bool gen9_shim_in_work;
unsigned int gen9_shim_waits;

void (*gen9_shim_queued)(struct work_struct *work);

bool gen9_shim_queue(struct work_struct *work)
{
	unsigned int i;

	if (gen9_shim_queued)
		gen9_shim_queued(work);
	if (work->queued)
		return false;
	for (i = 0; i < WORKS && works[i]; i++)
		;
	works[i] = work;
	work->queued = true;
	return true;
}

static void run_work(struct work_struct *work)
{
	bool nested = gen9_shim_in_work;

	work->queued = false;
	gen9_shim_in_work = true;
	work->fn(work);
	gen9_shim_in_work = nested;
}

bool gen9_shim_delay(struct gen9_shim_delayed *work, unsigned long ticks)
{
	unsigned int i;

	work->at_ns = ktime_get_ns() + ticks * (NSEC_PER_SEC / HZ);
	for (i = 0; i < WORKS && delayed[i] && delayed[i] != work; i++)
		;
	delayed[i] = work;
	return true;
}

void gen9_shim_cancel(struct work_struct *work)
{
	unsigned int i;

	work->queued = false;
	for (i = 0; i < WORKS; i++)
		if (works[i] == work)
			works[i] = NULL;
}

void gen9_shim_flush(struct work_struct *work)
{
	bool queued = work->queued;

	gen9_shim_cancel(work);
	if (queued)
		run_work(work);
}

void gen9_shim_cancel_delayed(struct gen9_shim_delayed *work)
{
	unsigned int i;

	for (i = 0; i < WORKS; i++)
		if (delayed[i] == work)
			delayed[i] = NULL;
	work->at_ns = 0;
}

bool gen9_shim_delayed_in_drain;

void gen9_shim_drain(void)
{
	unsigned int i;

	for (i = 0; i < WORKS; i++)
		gen9_shim_delayed_in_drain |= delayed[i] && delayed[i]->at_ns;
	gen9_shim_pump();
}

void gen9_shim_step(void)
{
	emu_run_engines(&gen9_shim_emu);
	emu_irq_spurious(&gen9_shim_emu);
}

void gen9_shim_interrupt(void)
{
	gen9_shim_step();
	if (gen9_shim_waiting)
		gen9_shim_waiting();
	if (irq_raised && irq_handler) {
		irq_raised = false;
		irq_handler(1, irq_data);
	}
}

/* Called from works as well, which wait: a work that runs is not started again. */
void gen9_shim_pump(void)
{
	static unsigned int depth;
	unsigned int i;

	gen9_shim_interrupt();
	if (depth++)
		goto out;
	for (i = 0; i < WORKS; i++) {
		struct work_struct *work = works[i];

		works[i] = NULL;
		if (work && work->queued)
			run_work(work);
	}
	for (i = 0; i < WORKS; i++)
		if (delayed[i] && delayed[i]->at_ns && ktime_get_ns() >= delayed[i]->at_ns) {
			delayed[i]->at_ns = 0;
			run_work(&delayed[i]->work);
		}
out:
	depth--;
}

struct gen9;

/* kernel/gen9/debugfs.c: keep the text of the last probe. */
char *gen9_shim_report;

void gen9_debugfs_init(void)
{
}

void gen9_debugfs_exit(void)
{
}

char *gen9_report_text(const struct gen9 *gpu, int err, size_t *bytes);

void gen9_report_publish(const struct gen9 *gpu, int err)
{
	size_t bytes;

	kvfree(gen9_shim_report);
	gen9_shim_report = gen9_report_text(gpu, err, &bytes);
	if (gen9_shim_report && bytes != strlen(gen9_shim_report))
		abort();
}

/* kernel/gen9/sysfs.c: the lab has a sysfs. */
int gen9_sysfs_create(struct gen9 *gpu)
{
	return 0;
}

void gen9_sysfs_remove(struct gen9 *gpu)
{
}
