/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two VMs on one software pGPU with the whole core except KVM and VFIO. This file simulates the
 * hypervisor, which removes and restores pages, and the clock. For reproducible results engines run
 * only on request, in the thread of the caller. A separate thread completes cancelled jobs, because
 * a reset waits for them.
 *
 * The memory of a guest is mapped twice: for the guest, and for the host. In the mapping of the
 * host all pages that are not pinned are poisoned, so ASan reports an access of the core without a
 * pin like a use after free.
 */
#ifndef FUZZ_WHOLE_H
#define FUZZ_WHOLE_H

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <ghyvi/audit.h>
#include <linux/err.h>
#include "../unit/rule.h"
#include "input.h"
#include "softgpu/engine.h"
#include "softgpu/softgpu.h"
#include <ghyvi/gen8_regs.h>
#include "vgpu/vgpu.h"

#define VMS 2
#define RAM_GPA 0x1000000ull
#define RAM_PAGES 1024u
#define RAM_BYTES (RAM_PAGES * (size_t)GHYVI_PAGE_BYTES)
#define BAR0_GPA 0xc0000000ull
#define BAR_GFN ((BAR0_GPA + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT)
#define BAR_PAGES (GHYVI_GGTT_TABLE_BYTES >> GHYVI_PAGE_SHIFT)
#define REGISTERS_GFN (BAR0_GPA >> GHYVI_PAGE_SHIFT)
#define WINDOW_BYTES (2u << 20) /* the vGPU's partition of the GGTT; one page of the table */
#define WINDOW (256u << 20) /* the same for each vGPU */

struct vm {
	struct ghyvi_hv hv;
	unsigned int number;
	bool gen9;
	struct ghyvi_vgpu *vgpu;
	struct ghyvi_gtt *gtt;
	struct ghyvi_stats stats;
	struct ghyvi_reporter reporter;
	struct device dev;
	u8 *ram, *host; /* the mappings of the memory for the guest and for the host */
	int file; /* the file of the memory */
	bool hidden[RAM_PAGES]; /* removed from the VM */
	bool protected[RAM_PAGES], bar_protected[BAR_PAGES];
	bool registers_protected[GHYVI_REGISTER_PAGES];
	unsigned int pins[RAM_PAGES];
	u64 generation;
	/* State of the input, see fuzz_whole.c. */
	u32 tails[4];
	u32 batch_at[2];
	bool bar_off;
};

static struct {
	struct vm vms[VMS];
	struct softgpu *gpu;
	struct ghyvi_sched *sched;
	_Atomic u64 now, due[GHYVI_ENGINES];
	struct softgpu_engine *executing; /* NULL: no engine runs in the thread of the input */
	struct {
		pthread_t thread;
		pthread_mutex_t lock;
		pthread_cond_t changed;
		unsigned int wanted; /* mask of engines with a cancelled job */
		bool busy, stop;
	} courier;
} world = { .courier = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER } };

/*
 * The hypervisor. The courier thread calls these functions as well, but not while a move of the
 * input changes @hidden.
 */

static bool is_ram(u64 gfn)
{
	return gfn - (RAM_GPA >> GHYVI_PAGE_SHIFT) < RAM_PAGES;
}

static unsigned int page_of(u64 gfn)
{
	return gfn - (RAM_GPA >> GHYVI_PAGE_SHIFT);
}

static bool *protection_of(struct vm *vm, u64 gfn)
{
	if (is_ram(gfn))
		return vm->hidden[page_of(gfn)] ? NULL : &vm->protected[page_of(gfn)];
	if (vm->bar_off)
		return NULL;
	if (gfn >= BAR_GFN && gfn - BAR_GFN < BAR_PAGES)
		return &vm->bar_protected[gfn - BAR_GFN];
	if (gfn >= REGISTERS_GFN && gfn - REGISTERS_GFN < GHYVI_REGISTER_PAGES)
		return &vm->registers_protected[gfn - REGISTERS_GFN];
	return NULL;
}

static int hv_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	struct vm *vm = container_of(hv, struct vm, hv);
	u8 *page;

	if (!is_ram(gfn) || vm->hidden[page_of(gfn)])
		return -EFAULT;
	page = vm->host + page_of(gfn) * (size_t)GHYVI_PAGE_BYTES;
	if (!vm->pins[page_of(gfn)]++)
		ASAN_UNPOISON_MEMORY_REGION(page, GHYVI_PAGE_BYTES);
	*hpa = virt_to_phys(page);
	return 0;
}

static void hv_unpin(struct ghyvi_hv *hv, u64 gfn)
{
	struct vm *vm = container_of(hv, struct vm, hv);

	ASSERT(is_ram(gfn) && vm->pins[page_of(gfn)]);
	if (!--vm->pins[page_of(gfn)])
		ASAN_POISON_MEMORY_REGION(vm->host + page_of(gfn) * (size_t)GHYVI_PAGE_BYTES,
					  GHYVI_PAGE_BYTES);
}

static u64 hv_memory_generation(struct ghyvi_hv *hv)
{
	return container_of(hv, struct vm, hv)->generation;
}

static unsigned int hv_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;
	bool *protection;

	for (i = 0; i < count; i++) {
		protection = protection_of(container_of(hv, struct vm, hv), gfns[i]);
		if (!protection)
			break;
		*protection = true;
	}
	return i;
}

static void hv_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;
	bool *protection;

	for (i = 0; i < count; i++) {
		protection = protection_of(container_of(hv, struct vm, hv), gfns[i]);
		if (protection)
			*protection = false;
	}
}

static void on_interrupt(struct ghyvi_hv *hv);

static const struct ghyvi_hv_ops hv_ops = {
	.pin = hv_pin,
	.unpin = hv_unpin,
	.memory_generation = hv_memory_generation,
	.protect = hv_protect,
	.unprotect = hv_unprotect,
	.interrupt = on_interrupt,
};

/* First KVM drops the protection, then VFIO requires that all pages of the range are unpinned. */
static void take_pages(struct vm *vm, unsigned int first, unsigned int count)
{
	u64 gfn = (RAM_GPA >> GHYVI_PAGE_SHIFT) + first;
	unsigned int i;

	for (i = first; i < first + count; i++) {
		vm->hidden[i] = true;
		vm->protected[i] = false;
	}
	ghyvi_vgpu_protection_lost(vm->vgpu, gfn, count);
	ghyvi_gtt_unmap(vm->gtt, gfn, count);
	for (i = first; i < first + count; i++)
		ASSERT(!vm->pins[i]);
}

static void give_pages(struct vm *vm)
{
	memset(vm->hidden, 0, sizeof(vm->hidden));
	vm->generation++;
}

static void move_bar(struct vm *vm, bool off)
{
	if (off != vm->bar_off) {
		vm->bar_off = off;
		memset(vm->bar_protected, 0, sizeof(vm->bar_protected));
		memset(vm->registers_protected, 0, sizeof(vm->registers_protected));
		ghyvi_vgpu_protection_lost(vm->vgpu, BAR_GFN, BAR_PAGES);
	}
	ghyvi_vgpu_set_bar0(vm->vgpu, off ? GHYVI_BAR_UNMAPPED : BAR0_GPA);
}

/* the guest's CPU */

static u8 *ram(struct vm *vm, unsigned int page)
{
	return vm->ram + page * (size_t)GHYVI_PAGE_BYTES;
}

static void store_ram(struct vm *vm, unsigned int page, unsigned int offset, u64 value)
{
	memcpy(ram(vm, page) + offset, &value, sizeof(value));
	if (vm->protected[page])
		ghyvi_vgpu_route_store(vm->vgpu, RAM_GPA + page * (u64)GHYVI_PAGE_BYTES + offset,
				       &value, sizeof(value));
}

static void store_ggtt(struct vm *vm, u64 index, u64 entry)
{
	u64 *table = ghyvi_vgpu_ggtt_table(vm->vgpu);

	WRITE_ONCE(table[index], entry);
	if (vm->bar_protected[index / GHYVI_ENTRIES])
		ghyvi_vgpu_route_store(vm->vgpu, BAR0_GPA + GHYVI_GGTT_OFFSET + 8 * index, &entry,
				       sizeof(entry));
}

static void wr(struct vm *vm, u32 offset, u32 value)
{
	ghyvi_vgpu_register_write(vm->vgpu, offset, value, 4);
}

/* time */

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return world.now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	world.due[engine] = at;
}

static struct ghyvi_sched_clock whole_clock = { .now = clock_now, .arm = clock_arm };

static void pass_time(u64 ns)
{
	unsigned int i;

	world.now += ns;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (world.due[i] > world.now)
			continue;
		world.due[i] = GHYVI_SCHED_NEVER;
		ghyvi_sched_timer(world.sched, i);
	}
}

/* engines */

static void *deliver_cancelled(void *unused)
{
	unsigned int engine;

	pthread_mutex_lock(&world.courier.lock);
	while (!world.courier.stop) {
		if (!world.courier.wanted) {
			pthread_cond_wait(&world.courier.changed, &world.courier.lock);
			continue;
		}
		engine = __builtin_ctz(world.courier.wanted);
		world.courier.wanted &= ~(1u << engine);
		world.courier.busy = true;
		pthread_mutex_unlock(&world.courier.lock);
		softgpu_engine_work(&world.gpu->engines[engine]);
		pthread_mutex_lock(&world.courier.lock);
		world.courier.busy = false;
		pthread_cond_broadcast(&world.courier.changed);
	}
	pthread_mutex_unlock(&world.courier.lock);
	return NULL;
}

/* Waits until all cancelled jobs have completed. */
static void settle(void)
{
	pthread_mutex_lock(&world.courier.lock);
	while (world.courier.wanted || world.courier.busy)
		pthread_cond_wait(&world.courier.changed, &world.courier.lock);
	pthread_mutex_unlock(&world.courier.lock);
}

static void cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	softgpu_ops.cancel(pgpu, job);
	if (READ_ONCE(world.gpu->engines[job->engine].job) != job)
		return;
	pthread_mutex_lock(&world.courier.lock);
	world.courier.wanted |= 1u << job->engine;
	pthread_cond_broadcast(&world.courier.changed);
	pthread_mutex_unlock(&world.courier.lock);
}

static void check_job(struct ghyvi_job *job);

static int run_job(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	check_job(job);
	return softgpu_ops.run(pgpu, job);
}

/* The operations of the software pGPU, with other @run and @cancel, which is @stop, too. */
static struct ghyvi_pgpu_ops whole_ops;

static void drop_threads(void)
{
	unsigned int i;

	/*
	 * The threads would run @job. softgpu_run() requires a thread, so set a dummy
	 * pointer.
	 */
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct softgpu_engine *engine = &world.gpu->engines[i];

		kthread_stop(engine->thread);
		engine->thread = (void *)&whole_ops;
	}
}

/* creation and destruction */

static void vm_create(struct vm *vm, unsigned int number, bool gen8)
{
	struct ghyvi_vgpu_params params = {
		.profile = gen8 ? &ghyvi_profile_gen8 : &ghyvi_profile_gen9,
		.pgpu = softgpu_device(world.gpu),
		.sched = world.sched,
		.hv = &vm->hv,
		.aperture_bytes = 256u << 20,
		.reporter = &vm->reporter,
		.stats = &vm->stats,
	};

	vm->hv.ops = &hv_ops;
	memset(&vm->stats, 0, sizeof(vm->stats));
	vm->number = number;
	vm->gen9 = !gen8;
	if (!vm->ram) {
		vm->file = memfd_create("ram", 0);
		ASSERT(vm->file >= 0 && !ftruncate(vm->file, RAM_BYTES));
		vm->ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, vm->file, 0);
		/*
		 * At an aligned address, so that pages of 2 MiB of the guest are aligned in the
		 * host.
		 */
		vm->host = mmap((void *)(0x200000000000ul + number * (1ul << 30)), RAM_BYTES,
				PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, vm->file,
				0);
		ASSERT(vm->ram != MAP_FAILED && vm->host != MAP_FAILED);
		ASAN_POISON_MEMORY_REGION(vm->host, RAM_BYTES);
	}
	params.hidden = (struct ghyvi_range){ WINDOW, WINDOW_BYTES };
	vm->dev.name = "whole";
	ghyvi_reporter_init(&vm->reporter, &vm->dev);
	vm->bar_off = true;
	vm->vgpu = ghyvi_vgpu_create(&params);
	ASSERT(!IS_ERR(vm->vgpu));
	ghyvi_vgpu_set_remap(vm->vgpu, true);
	ghyvi_vgpu_set_multicall(vm->vgpu, true);
	vm->gtt = ghyvi_vgpu_gtt(vm->vgpu);
}

static void world_create(unsigned int gen8)
{
	unsigned int i;

	shim_quiet = true;
	whole_ops = softgpu_ops;
	whole_ops.run = run_job;
	whole_ops.cancel = cancel;
	whole_ops.stop = NULL;
	world.now = 1;
	for (i = 0; i < GHYVI_ENGINES; i++)
		world.due[i] = GHYVI_SCHED_NEVER;
	world.gpu = softgpu_create();
	ASSERT(!IS_ERR(world.gpu));
	drop_threads();
	softgpu_device(world.gpu)->ops = &whole_ops;
	world.sched = ghyvi_sched_create_on(softgpu_device(world.gpu), &whole_clock);
	ASSERT(!IS_ERR(world.sched));
	world.courier.stop = false;
	pthread_create(&world.courier.thread, NULL, deliver_cancelled, NULL);
	for (i = 0; i < VMS; i++)
		vm_create(&world.vms[i], i, gen8 >> i & 1);
}

/* No page may be pinned or protected, regardless of the guest's actions. */
static void assert_nothing_held(const struct vm *vm)
{
	unsigned int i;

	for (i = 0; i < RAM_PAGES; i++)
		ASSERT(!vm->pins[i] && !vm->protected[i]);
	for (i = 0; i < BAR_PAGES; i++)
		ASSERT(!vm->bar_protected[i]);
	for (i = 0; i < GHYVI_REGISTER_PAGES; i++)
		ASSERT(!vm->registers_protected[i]);
	ASSERT(!atomic64_read(&vm->stats.tables_now) && !atomic64_read(&vm->stats.relaxed_now));
	ASSERT(!atomic64_read(&vm->stats.protected_now) &&
	       !atomic64_read(&vm->stats.pinned_pages_now));
}

static void world_destroy(void)
{
	unsigned int i;

	for (i = 0; i < VMS; i++)
		ghyvi_vgpu_destroy(world.vms[i].vgpu);
	settle();
	ghyvi_sched_destroy(world.sched);
	pthread_mutex_lock(&world.courier.lock);
	world.courier.stop = true;
	pthread_cond_broadcast(&world.courier.changed);
	pthread_mutex_unlock(&world.courier.lock);
	pthread_join(world.courier.thread, NULL);
	for (i = 0; i < GHYVI_ENGINES; i++)
		world.gpu->engines[i].thread = NULL;
	softgpu_destroy(world.gpu);
	world.gpu = NULL;
	for (i = 0; i < VMS; i++)
		assert_nothing_held(&world.vms[i]);
}

/* Resets a VM to its initial state, which is cheaper than creating a new one. */
static void vm_reset(struct vm *vm)
{
	move_bar(vm, true);
	ghyvi_vgpu_reset(vm->vgpu);
	settle();
	assert_nothing_held(vm);
	give_pages(vm);
	ASSERT(!fallocate(vm->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, RAM_BYTES));
}

#endif
