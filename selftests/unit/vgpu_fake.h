/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device model stands on, played by the test: an mm over flat memory, a pGPU that keeps
 * each job until the test finishes it, an interrupt that is counted. Included by one file per
 * program.
 */
#ifndef VGPU_FAKE_H
#define VGPU_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include <ghyvi/gen8_regs.h>
#include "vgpu/vgpu.h"

#define HIDDEN_START (256u << 20)
#define HIDDEN_BYTES (2u << 20)
#define FAKE_HZ 10000000u

/* mm */

struct ghyvi_root {
	u64 gpa;
	unsigned int levels;
	int refs;
};

/* Is the calling thread's memory charged to the guest? */
static __thread int charged;

static struct {
	pthread_mutex_t lock;
	/* Calls that may allocate, by threads whose memory is not charged. */
	_Atomic int uncharged, uncharged_writes;
	_Alignas(8) u8 memory[HIDDEN_BYTES]; /* what the hidden window maps */
	u64 unmapped_page; /* GGTT address of a page that is not mapped, or 0 */
	int live; /* created and not destroyed */
	int roots_live;
	int root_error;
	int syncs, flushes, lives, forgets, forgets_all, resets, traps, losses;
	struct ghyvi_root *last_sync;
	void (*after_sync)(void); /* what another vCPU does right after a scan */
	void (*after_write)(u64 address,
			    /* what another CPU sees of the device model's writes, in their order */
			    size_t bytes);
	u64 ggtt_gfn;
	u64 last_root;
	unsigned int last_levels;
} gtt = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct ghyvi_gtt *ghyvi_gtt_create(const struct ghyvi_gtt_params *params)
{
	if (shim_alloc_fails(GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	gtt.live++;
	return (struct ghyvi_gtt *)&gtt;
}

void ghyvi_gtt_destroy(struct ghyvi_gtt *m)
{
	gtt.live--;
}

void ghyvi_gtt_reset(struct ghyvi_gtt *m)
{
	gtt.resets++;
}

void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *m, u64 gfn)
{
	gtt.ggtt_gfn = gfn;
}

void ghyvi_gtt_ggtt_live(struct ghyvi_gtt *m)
{
	gtt.lives++;
}

void ghyvi_gtt_trap(struct ghyvi_gtt *m, u64 gpa, unsigned int bytes)
{
	u64 table = gtt.ggtt_gfn << GHYVI_PAGE_SHIFT;

	assert_true(gpa >= table && gpa + bytes <= table + GHYVI_GGTT_TABLE_BYTES);
	gtt.traps++;
}

void ghyvi_gtt_protection_lost(struct ghyvi_gtt *m, u64 gfn, u64 count)
{
	gtt.losses++;
}

struct ghyvi_root *ghyvi_gtt_get_root(struct ghyvi_gtt *m, const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root;

	gtt.uncharged += !charged;
	if (gtt.root_error || shim_alloc_fails(GFP_KERNEL))
		return ERR_PTR(gtt.root_error ?: -ENOMEM);
	root = calloc(1, sizeof(*root));
	root->gpa = gpa4[0];
	root->levels = levels;
	pthread_mutex_lock(&gtt.lock);
	gtt.last_root = gpa4[0];
	gtt.last_levels = levels;
	gtt.roots_live++;
	pthread_mutex_unlock(&gtt.lock);
	return root;
}

void ghyvi_gtt_put_root(struct ghyvi_root *root)
{
	pthread_mutex_lock(&gtt.lock);
	gtt.roots_live--;
	pthread_mutex_unlock(&gtt.lock);
	free(root);
}

void ghyvi_gtt_forget_roots(struct ghyvi_gtt *m)
{
	gtt.forgets_all++;
}

void ghyvi_gtt_forget_root(struct ghyvi_gtt *m, const u64 *gpa4, unsigned int levels)
{
	gtt.last_root = gpa4[0];
	gtt.last_levels = levels;
	gtt.forgets++;
}

int ghyvi_gtt_fault(struct ghyvi_gtt *m, u64 gfn)
{
	gtt.uncharged += !charged;
	return -EFAULT;
}

void ghyvi_root_job(const struct ghyvi_root *root, struct ghyvi_job *job)
{
	job->root = ghyvi_root_bus(root);
	job->levels = root->levels;
}

u64 ghyvi_root_bus(const struct ghyvi_root *root)
{
	return root->gpa;
}

void ghyvi_gtt_sync(struct ghyvi_gtt *m, struct ghyvi_root *root)
{
	gtt.uncharged += !charged;
	pthread_mutex_lock(&gtt.lock);
	gtt.syncs++;
	gtt.last_sync = root;
	pthread_mutex_unlock(&gtt.lock);
	if (gtt.after_sync)
		gtt.after_sync();
}

void ghyvi_gtt_flush(struct ghyvi_gtt *m)
{
	gtt.flushes++;
}

unsigned int ghyvi_gtt_check(struct ghyvi_gtt *m, struct ghyvi_root *root)
{
	return 0;
}

static u8 *fake_memory(u64 address, size_t bytes)
{
	if (address < HIDDEN_START || address - HIDDEN_START + bytes > HIDDEN_BYTES ||
	    (gtt.unmapped_page && address >> 12 == gtt.unmapped_page >> 12))
		return NULL;
	return gtt.memory + (address - HIDDEN_START);
}

int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *m, u64 address, void *buffer, size_t bytes)
{
	u8 *p;

	pthread_mutex_lock(&gtt.lock);
	p = fake_memory(address, bytes);
	if (p)
		memcpy(buffer, p, bytes);
	pthread_mutex_unlock(&gtt.lock);
	return p ? 0 : -EFAULT;
}

int ghyvi_gtt_ggtt_write(struct ghyvi_gtt *m, u64 address, const void *buffer, size_t bytes)
{
	u8 *p;

	gtt.uncharged_writes += !charged;
	pthread_mutex_lock(&gtt.lock);
	p = fake_memory(address, bytes);
	if (p)
		memcpy(p, buffer, bytes);
	pthread_mutex_unlock(&gtt.lock);
	if (p && gtt.after_write)
		gtt.after_write(address, bytes);
	return p ? 0 : -EFAULT;
}

int ghyvi_gtt_ppgtt_read(struct ghyvi_root *root, u64 address, void *buffer, size_t bytes)
{
	return -EFAULT;
}

void ghyvi_gtt_ggtt_store(struct ghyvi_gtt *m, u64 index, u64 entry)
{
}

static u32 __maybe_unused peek(u64 address)
{
	u32 value = 0;

	assert_int_equal(ghyvi_gtt_ggtt_read(NULL, address, &value, 4), 0);
	return value;
}

static void __maybe_unused poke(u64 address, u32 value)
{
	assert_int_equal(ghyvi_gtt_ggtt_write(NULL, address, &value, 4), 0);
}

/* pGPU */

#define FAKE_THREADS 64

static struct {
	pthread_mutex_t lock;
	struct ghyvi_job *running[GHYVI_ENGINES];
	u64 clock;
	int runs, cancels;
	int clients;
	bool stale; /* update_tail() comes too late */
	bool dead; /* run() fails */
	pthread_t threads[FAKE_THREADS]; /* of cancelled jobs on their way back */
	unsigned int nr_threads;
	void (*on_return)(void); /* what another vCPU does before a cancelled job is back */
} gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void fake_resources(void *pgpu, struct ghyvi_pgpu_resources *r)
{
	*r = (struct ghyvi_pgpu_resources){ .engines = 15,
					    .ggtt_bytes = 4ull << 30,
					    .timestamp_hz = FAKE_HZ };
}

static struct ghyvi_client_params client;

static struct ghyvi_pgpu_client *fake_client_create(void *pgpu,
						    const struct ghyvi_client_params *params)
{
	if (shim_alloc_fails(GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	gpu.clients++;
	client = *params;
	return (struct ghyvi_pgpu_client *)&gpu;
}

static void fake_client_destroy(struct ghyvi_pgpu_client *client)
{
	gpu.clients--;
}

static int fake_run(void *pgpu, struct ghyvi_job *job)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.runs++;
	if (gpu.dead) {
		pthread_mutex_unlock(&gpu.lock);
		return -EIO;
	}
	assert_null(gpu.running[job->engine]);
	gpu.running[job->engine] = job;
	pthread_mutex_unlock(&gpu.lock);
	return 0;
}

static int fake_update_tail(void *pgpu, struct ghyvi_job *job, u32 tail)
{
	int err = -ESTALE;

	pthread_mutex_lock(&gpu.lock);
	if (!gpu.stale && gpu.running[job->engine] == job) {
		job->context[GHYVI_CTX_RING_TAIL] = tail;
		err = 0;
	}
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

static void *deliver_cancelled(void *job)
{
	if (gpu.on_return)
		gpu.on_return();
	((struct ghyvi_job *)job)->done(job, GHYVI_JOB_CANCELLED);
	return NULL;
}

static void fake_cancel(void *pgpu, struct ghyvi_job *job)
{
	pthread_mutex_lock(&gpu.lock);
	if (gpu.running[job->engine] == job) {
		gpu.running[job->engine] = NULL;
		gpu.cancels++;
		assert_true(gpu.nr_threads < FAKE_THREADS);
		pthread_create(&gpu.threads[gpu.nr_threads++], NULL, deliver_cancelled, job);
	}
	pthread_mutex_unlock(&gpu.lock);
}

static u64 fake_timestamp(void *pgpu)
{
	return gpu.clock;
}

/* The fake's part of a job: the core must keep it across preemptions and clear it for a new job. */
struct fake_job {
	unsigned int level;
};

static inline struct fake_job *fake_job(const struct ghyvi_job *job)
{
	return job->backend;
}

static const struct ghyvi_pgpu_ops fake_pgpu_ops = {
	.name = "fake",
	.job_bytes = sizeof(struct fake_job),
	.resources = fake_resources,
	.client_create = fake_client_create,
	.client_destroy = fake_client_destroy,
	.run = fake_run,
	.update_tail = fake_update_tail,
	.cancel = fake_cancel,
	.timestamp = fake_timestamp,
};

/* Until cancelled jobs are back. */
static void settle(void)
{
	unsigned int i;

	for (i = 0; i < gpu.nr_threads; i++)
		pthread_join(gpu.threads[i], NULL);
	gpu.nr_threads = 0;
}

static struct ghyvi_job *take_job(enum ghyvi_engine_id engine)
{
	struct ghyvi_job *job;

	pthread_mutex_lock(&gpu.lock);
	job = gpu.running[engine];
	gpu.running[engine] = NULL;
	pthread_mutex_unlock(&gpu.lock);
	return job;
}

static bool __maybe_unused gpu_busy(enum ghyvi_engine_id engine)
{
	bool busy;

	pthread_mutex_lock(&gpu.lock);
	busy = gpu.running[engine];
	pthread_mutex_unlock(&gpu.lock);
	return busy;
}

/* The engine comes to the end of what runs. */
static void __maybe_unused finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = take_job(engine);

	assert_non_null(job);
	if (status == GHYVI_JOB_COMPLETE)
		job->context[GHYVI_CTX_RING_HEAD] = job->context[GHYVI_CTX_RING_TAIL];
	job->context[GHYVI_CTX_TIMESTAMP] += 7;
	WRITE_ONCE(job->busy_ns, 1);
	job->done(job, status);
}

/* the vGPU */

static struct ghyvi_stats stats;
static struct ghyvi_reporter reporter;
static struct device device = { "test" };
static atomic_t interrupts;
static struct ghyvi_sched *sched;
static struct ghyvi_vgpu *vgpu;

/*
 * The scheduler's own threads (timeouts, look-ahead, completions) take part; else all happens in
 * the test's.
 */
static bool sched_threads;

static u64 calm_now(void *clock)
{
	return ktime_get_ns();
}

static void calm_arm(void *clock, enum ghyvi_engine_id engine, u64 at)
{
}

static const struct ghyvi_sched_clock calm_clock = { .now = calm_now, .arm = calm_arm };

/* The only page that the device model protects itself. */
static struct {
	u64 gfn;
	bool protected;
	bool refuse;
	u32 users; /* of the protection */
} host_page;

static unsigned int fake_protect(void *hv, const u64 *gfns, unsigned int count)
{
	assert_int_equal(count, 1);
	if (host_page.refuse)
		return 0;
	assert_true(!host_page.protected || host_page.gfn == *gfns);
	host_page.gfn = *gfns;
	host_page.protected = true;
	host_page.users++;
	return 1;
}

static void fake_unprotect(void *hv, const u64 *gfns, unsigned int count)
{
	assert_int_equal(count, 1);
	assert_true(!host_page.protected || host_page.gfn == *gfns);
	if (host_page.users)
		host_page.users--;
	host_page.protected = host_page.users;
}

static void fake_charge(void *hv, struct ghyvi_hv_charge *charge)
{
	charge->before = (void *)(long)charged;
	charged = 1;
}

static void fake_uncharge(void *hv, const struct ghyvi_hv_charge *charge)
{
	charged = (long)charge->before;
}

static const struct ghyvi_hv_ops fake_hv_ops = {
	.protect = fake_protect,
	.unprotect = fake_unprotect,
	.charge = fake_charge,
	.uncharge = fake_uncharge,
};

/* What the guest does in its handler. The device model's mutex may be held. */
static void (*on_interrupt)(void);

static void count_interrupt(void *hv)
{
	atomic_inc(&interrupts);
	if (on_interrupt)
		on_interrupt();
}

/* Of vGPUs that are made from now on. */
static struct ghyvi_range mappable;

static struct ghyvi_vgpu *create_vgpu(const struct ghyvi_device_profile *profile)
{
	struct ghyvi_vgpu_params params = {
		.profile = profile,
		.pgpu_ops = &fake_pgpu_ops,
		.sched = sched,
		.hv_ops = &fake_hv_ops,
		.mappable = mappable,
		.hidden = { HIDDEN_START, HIDDEN_BYTES },
		.aperture_bytes = HIDDEN_START,
		.id = 5,
		.reporter = &reporter,
		.stats = &stats,
		.interrupt = count_interrupt,
	};

	return ghyvi_vgpu_create(&params);
}

static int make_vgpu(const struct ghyvi_device_profile *profile)
{
	/* Tests about something else break rules as often as they like. */
	const struct ghyvi_containment unlimited = { .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };

	shim_quiet = true;
	memset(&stats, 0, sizeof(stats));
	memset(gtt.memory, 0, sizeof(gtt.memory));
	gtt.uncharged = gtt.uncharged_writes = 0;
	gtt.unmapped_page = 0;
	gtt.after_sync = NULL;
	gtt.after_write = NULL;
	on_interrupt = NULL;
	gtt.roots_live = gtt.root_error = gtt.syncs = gtt.flushes = gtt.lives = gtt.forgets =
		gtt.forgets_all = gtt.resets = gtt.traps = gtt.losses = 0;
	memset(&host_page, 0, sizeof(host_page));
	gpu.runs = gpu.cancels = 0;
	gpu.stale = gpu.dead = false;
	gpu.clock = 0;
	atomic_set(&interrupts, 0);
	ghyvi_reporter_init(&reporter, &device);
	sched = sched_threads ? ghyvi_sched_create(&fake_pgpu_ops, NULL) :
				ghyvi_sched_create_on(&fake_pgpu_ops, NULL, &calm_clock, NULL);
	vgpu = create_vgpu(profile);
	return IS_ERR(vgpu) ? -1 : ghyvi_vgpu_set_containment(vgpu, &unlimited);
}

static int __maybe_unused setup_gen9(void **state)
{
	return make_vgpu(&ghyvi_profile_gen9);
}

static int __maybe_unused setup_gen8(void **state)
{
	return make_vgpu(&ghyvi_profile_gen8);
}

static int __maybe_unused teardown(void **state)
{
	ghyvi_vgpu_destroy(vgpu);
	settle();
	ghyvi_sched_destroy(sched);
	return gtt.roots_live || gtt.live || gpu.clients; /* 0, or something leaked */
}

static u32 __maybe_unused shown(u32 offset)
{
	return ((u32 *)ghyvi_vgpu_mirror(vgpu))[(offset - GHYVI_MIRROR_OFFSET) / 4];
}

/* The mirror shows the value of a trapped read, while the page is protected. */
static u32 rd(u32 offset)
{
	u32 value = (u32)ghyvi_vgpu_register_read(vgpu, offset, 4);

	if (offset - GHYVI_MIRROR_OFFSET < GHYVI_MIRROR_BYTES && host_page.protected)
		assert_int_equal(value, shown(offset));
	return value;
}

static void wr(u32 offset, u32 value)
{
	ghyvi_vgpu_register_write(vgpu, offset, value, 4);
}

static __maybe_unused const char *last_report(void)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&reporter, text, sizeof(text));
	return text;
}

#endif
