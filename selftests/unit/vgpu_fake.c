// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hrtimer.h>
#include "vgpu/display_regs.h"
#include "vgpu/vgpu_types.h"
#include "vgpu_fake.h"

__thread int charged;

struct fake_gtt gtt = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

int ghyvi_gtt_move_ggtt(struct ghyvi_gtt *m, const struct ghyvi_range *ranges,
			unsigned int nr_ranges, const struct ghyvi_range *aperture_copied)
{
	assert_in_range(nr_ranges, 1, ARRAY_SIZE(gtt.partition));
	if (!gtt.move_error)
		memcpy(gtt.partition, ranges, nr_ranges * sizeof(*ranges));
	return gtt.move_error;
}

void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *m, u64 gfn)
{
	gtt.ggtt_gfn = gfn;
}

void ghyvi_gtt_ggtt_live(struct ghyvi_gtt *m)
{
	gtt.uncharged += !charged;
	gtt.lives++;
}

bool ghyvi_gtt_can_log(const struct ghyvi_gtt *m)
{
	return true;
}

int ghyvi_gtt_log_start(struct ghyvi_gtt *m)
{
	gtt.logging++;
	return gtt.logging > 1 ? -EBUSY : 0;
}

void ghyvi_gtt_log_stop(struct ghyvi_gtt *m)
{
	gtt.logging = 0;
}

int ghyvi_gtt_log_read(struct ghyvi_gtt *m, u64 gfn, u64 count, void (*dirty)(void *data, u64 gfn),
		       void *data)
{
	if (!gtt.logging)
		return -EINVAL;
	if (gtt.written >= gfn && gtt.written - gfn < count)
		dirty(data, gtt.written);
	return 0;
}

int ghyvi_gtt_ggtt_map(struct ghyvi_gtt *m, u64 page, int (*map)(void *data), void *data)
{
	return page < GHYVI_GGTT_TABLE_BYTES / GHYVI_PAGE_BYTES ? map(data) : -EINVAL;
}

int ghyvi_gtt_policy_list(struct ghyvi_gtt *m, char *buffer, size_t bytes)
{
	return snprintf(buffer, bytes, "strict [adaptive]\n");
}

int ghyvi_gtt_set_policy(struct ghyvi_gtt *m, const char *name)
{
	gtt.uncharged += !charged;
	return strcmp(name, "adaptive") ? -EINVAL : 0;
}

void ghyvi_gtt_get_tuning(struct ghyvi_gtt *m, struct ghyvi_shadow_tuning *tuning)
{
	memset(tuning, 0, sizeof(*tuning));
}

int ghyvi_gtt_set_tuning(struct ghyvi_gtt *m, const struct ghyvi_shadow_tuning *tuning)
{
	return 0;
}

void ghyvi_gtt_aperture_close(struct ghyvi_gtt *m)
{
	gtt.closes++;
}

void ghyvi_gtt_trap(struct ghyvi_gtt *m, u64 gpa, unsigned int bytes)
{
	u64 table = gtt.ggtt_gfn << GHYVI_PAGE_SHIFT;

	assert_true(gpa >= table && gpa + bytes <= table + GHYVI_GGTT_TABLE_BYTES);
	gtt.traps++;
}

int ghyvi_gtt_multicall(struct ghyvi_gtt *m, u64 gpa, u32 count, u32 *applied)
{
	gtt.multicalls++;
	gtt.last_records = gpa;
	gtt.last_count = count;
	*applied = gtt.multicall_error ? 0 : count;
	return gtt.multicall_error;
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
	gtt.faults++;
	if (gtt.in_fault)
		gtt.in_fault(gfn);
	return -EFAULT;
}

void ghyvi_root_job(const struct ghyvi_root *root, struct ghyvi_job *job)
{
	job->root = ghyvi_root_dma(root);
	job->levels = root->levels;
}

dma_addr_t ghyvi_root_dma(const struct ghyvi_root *root)
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

void ghyvi_gtt_forget_guest(struct ghyvi_gtt *m)
{
	gtt.forgotten++;
}

void ghyvi_gtt_flush(struct ghyvi_gtt *m)
{
	gtt.uncharged += !charged;
	gtt.flushes++;
	if (gtt.in_flush)
		gtt.in_flush();
}

unsigned int ghyvi_gtt_check(struct ghyvi_gtt *m, struct ghyvi_root *root)
{
	return 0;
}

u8 *fake_memory(u64 address, size_t bytes)
{
	if (address < HIDDEN_START || address - HIDDEN_START + bytes > HIDDEN_BYTES ||
	    (gtt.unmapped_page && address >> 12 == gtt.unmapped_page >> 12))
		return NULL;
	return gtt.memory + (address - HIDDEN_START);
}

int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *m, u64 address, void *buffer, size_t bytes)
{
	u8 *p;

	gtt.uncharged_reads += !charged;
	if (gtt.in_access)
		gtt.in_access();
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
	if (gtt.in_access)
		gtt.in_access();
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

u32 peek(u64 address)
{
	u32 value = 0;

	assert_int_equal(ghyvi_gtt_ggtt_read(NULL, address, &value, 4), 0);
	return value;
}

void poke(u64 address, u32 value)
{
	assert_int_equal(ghyvi_gtt_ggtt_write(NULL, address, &value, 4), 0);
}

struct fake_gpu gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void fake_resources(struct ghyvi_pgpu_device *pgpu, struct ghyvi_pgpu_resources *r)
{
	*r = (struct ghyvi_pgpu_resources){ .engines = 15,
					    .ggtt_bytes = 4ull << 30,
					    .timestamp_hz = FAKE_HZ,
					    .jobs_per_engine = 1 };
}

struct ghyvi_client_params client;

static struct ghyvi_pgpu_client *fake_client_create(struct ghyvi_pgpu_device *pgpu,
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

static struct ghyvi_pgpu_context *fake_context_create(struct ghyvi_pgpu_client *client,
						      enum ghyvi_engine_id engine, u32 lrca)
{
	struct fake_context *context;

	gtt.uncharged += !charged;
	if (gpu.contexts_max && gpu.contexts_mapped >= gpu.contexts_max)
		return ERR_PTR(-ENOMEM);
	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return ERR_PTR(-ENOMEM);
	context->base = (struct ghyvi_pgpu_context){ client, engine, lrca };
	context->mapped = true;
	gpu.contexts++;
	gpu.contexts_mapped++;
	gpu.contexts_created++;
	return &context->base;
}

static void fake_context_unmap(struct ghyvi_pgpu_context *base)
{
	struct fake_context *context = container_of(base, struct fake_context, base);

	assert_true(context->mapped);
	context->mapped = false;
	gpu.contexts_mapped--;
}

static int fake_context_map(struct ghyvi_pgpu_context *base)
{
	struct fake_context *context = container_of(base, struct fake_context, base);

	assert_false(context->mapped);
	if (gpu.contexts_max && gpu.contexts_mapped >= gpu.contexts_max)
		return -ENOMEM;
	context->mapped = true;
	gpu.contexts_mapped++;
	return 0;
}

static void fake_context_destroy(struct ghyvi_pgpu_context *base)
{
	struct fake_context *context = container_of(base, struct fake_context, base);

	gpu.contexts--;
	gpu.contexts_mapped -= context->mapped;
	free(context);
}

struct fake_job *fake_job(const struct ghyvi_job *job)
{
	return job->backend;
}

static int fake_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.runs++;
	if (job->client) { /* not a job of the test itself */
		assert_true(container_of(job->pgpu_context, struct fake_context, base)->mapped);
		assert_int_equal(job->pgpu_context->engine, job->engine);
		assert_int_equal(job->pgpu_context->lrca, job->lrca);
		assert_ptr_equal(job->pgpu_context->client, job->client);
		container_of(job->pgpu_context, struct fake_context, base)->jobs++;
	}
	if (gpu.dead) {
		pthread_mutex_unlock(&gpu.lock);
		return -EIO;
	}
	assert_null(gpu.running[job->engine]);
	gpu.running[job->engine] = job;
	if (job->backend && !pgpu->ops->prepare)
		fake_job(job)->tail = job->context[GHYVI_CTX_RING_TAIL];
	pthread_mutex_unlock(&gpu.lock);
	return 0;
}

static int fake_prepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	might_sleep();
	gtt.uncharged += !charged;
	gpu.prepares++;
	fake_job(job)->tail = job->context[GHYVI_CTX_RING_TAIL];
	if (gpu.in_prepare)
		gpu.in_prepare(job);
	return gpu.prepare_error;
}

static void fake_unprepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	gpu.unprepares++;
	if (gpu.in_unprepare)
		gpu.in_unprepare(job);
}

static int fake_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	int err = -ESTALE;

	pthread_mutex_lock(&gpu.lock);
	gpu.tails++;
	if (gpu.in_update)
		gpu.in_update(job);
	/* A job that was prepared and is not on the engine yet is extended, too. */
	if (!gpu.stale && (pgpu->ops->prepare || gpu.running[job->engine] == job)) {
		fake_job(job)->tail = tail;
		err = 0;
	}
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

/* As the interface says: the last tail is in the context of a job that may be run again. */
static void return_tail(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	if (job->backend &&
	    (status == GHYVI_JOB_PREEMPTED || (status == GHYVI_JOB_CANCELLED && !job->busy_ns)))
		job->context[GHYVI_CTX_RING_TAIL] = fake_job(job)->tail;
}

static void *deliver_cancelled(void *of)
{
	struct ghyvi_job *job = of;

	if (gpu.on_return)
		gpu.on_return();
	return_tail(job, GHYVI_JOB_CANCELLED);
	job->done(job, GHYVI_JOB_CANCELLED);
	return NULL;
}

static void fake_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
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

static u64 fake_timestamp(struct ghyvi_pgpu_device *pgpu)
{
	return gpu.clock;
}

static struct ghyvi_pgpu_ops fake_pgpu_ops = {
	.name = "fake",
	.job_bytes = sizeof(struct fake_job),
	.resources = fake_resources,
	.client_create = fake_client_create,
	.client_destroy = fake_client_destroy,
	.context_create = fake_context_create,
	.context_destroy = fake_context_destroy,
	.context_unmap = fake_context_unmap,
	.context_map = fake_context_map,
	.run = fake_run,
	.update_tail = fake_update_tail,
	.cancel = fake_cancel,
	.timestamp = fake_timestamp,
};
struct ghyvi_pgpu_device fake_pgpu = { .ops = &fake_pgpu_ops };

void fake_prepares_jobs(bool on)
{
	fake_pgpu_ops.prepare = on ? fake_prepare : NULL;
	fake_pgpu_ops.unprepare = on ? fake_unprepare : NULL;
}

void settle(void)
{
	unsigned int i;

	for (i = 0; i < gpu.nr_threads; i++)
		pthread_join(gpu.threads[i], NULL);
	gpu.nr_threads = 0;
}

struct ghyvi_job *take_job(enum ghyvi_engine_id engine)
{
	struct ghyvi_job *job;

	pthread_mutex_lock(&gpu.lock);
	job = gpu.running[engine];
	gpu.running[engine] = NULL;
	pthread_mutex_unlock(&gpu.lock);
	return job;
}

bool gpu_busy(enum ghyvi_engine_id engine)
{
	bool busy;

	pthread_mutex_lock(&gpu.lock);
	busy = gpu.running[engine];
	pthread_mutex_unlock(&gpu.lock);
	return busy;
}

void finish_job(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	if (status == GHYVI_JOB_COMPLETE)
		job->context[GHYVI_CTX_RING_HEAD] =
			job->backend ? fake_job(job)->tail : job->context[GHYVI_CTX_RING_TAIL];
	job->context[GHYVI_CTX_TIMESTAMP] += 7;
	if (job->client)
		assert_int_equal(job->pgpu_context->lrca, job->lrca);
	WRITE_ONCE(job->busy_ns, 1);
	return_tail(job, status);
	job->done(job, status);
}

void finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = take_job(engine);

	assert_non_null(job);
	finish_job(job, status);
}

struct ghyvi_stats stats;
struct ghyvi_reporter reporter;
struct device device = { "test" };
atomic_t interrupts;
struct ghyvi_sched *sched;
struct ghyvi_vgpu *vgpu;

bool sched_threads;
u64 calm_ahead_ns;

static u64 calm_now(struct ghyvi_sched_clock *clock)
{
	return ktime_get_ns() + calm_ahead_ns;
}

static void calm_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
}

static struct ghyvi_sched_clock calm_clock = { .now = calm_now, .arm = calm_arm };

struct host_bar host_bar;

bool host_protects(u32 offset)
{
	return host_bar.users[offset >> GHYVI_PAGE_SHIFT];
}

/* BAR 0 is aligned to its size. */
static u32 *users_of(u64 gfn)
{
	u64 in_bar = gfn % (GHYVI_BAR0_BYTES >> GHYVI_PAGE_SHIFT);
	unsigned int i;

	assert_true(in_bar < GHYVI_REGISTER_PAGES);
	for (i = 0; i < GHYVI_REGISTER_PAGES; i++)
		assert_true(!host_bar.users[i] || host_bar.gfn == gfn - in_bar);
	host_bar.gfn = gfn - in_bar;
	return &host_bar.users[in_bar];
}

static unsigned int fake_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	assert_int_equal(count, 1);
	if (host_bar.refuse)
		return 0;
	++*users_of(*gfns);
	return 1;
}

static void fake_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	u32 *users = users_of(*gfns);

	assert_int_equal(count, 1);
	if (*users)
		--*users;
}

static void fake_charge(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
	charge->before = (void *)(long)charged;
	charged = 1;
}

static void fake_uncharge(struct ghyvi_hv *hv, const struct ghyvi_hv_charge *charge)
{
	charged = (long)charge->before;
}

void (*on_interrupt)(void);

atomic_t events;
s64 failsafes_at_event;

static void count_event(struct ghyvi_reporter *of)
{
	assert_ptr_equal(of, &reporter);
	atomic_inc(&events);
	failsafes_at_event = atomic64_read(&stats.failsafes);
}

static void count_interrupt(struct ghyvi_hv *hv)
{
	atomic_inc(&interrupts);
	if (on_interrupt)
		on_interrupt();
}

static const struct ghyvi_hv_ops fake_hv_ops = {
	.protect = fake_protect,
	.unprotect = fake_unprotect,
	.charge = fake_charge,
	.uncharge = fake_uncharge,
	.interrupt = count_interrupt,
};
static struct ghyvi_hv fake_hv = { .ops = &fake_hv_ops };

struct ghyvi_range mappable;

struct ghyvi_vgpu *create_vgpu(const struct ghyvi_device_profile *profile)
{
	struct ghyvi_vgpu_params params = {
		.profile = profile,
		.pgpu = &fake_pgpu,
		.sched = sched,
		.hv = &fake_hv,
		.mappable = mappable,
		.hidden = { HIDDEN_START, HIDDEN_BYTES },
		.aperture_bytes = HIDDEN_START,
		.reporter = &reporter,
		.stats = &stats,
		.event = count_event,
	};
	struct ghyvi_vgpu *created = ghyvi_vgpu_create(&params);

	if (!IS_ERR(created))
		ghyvi_vgpu_set_remap(created, true);
	return created;
}

int make_vgpu(const struct ghyvi_device_profile *profile)
{
	/* Tests of other subjects may cause any number of violations. */
	const struct ghyvi_containment unlimited = { .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };

	shim_quiet = true;
	memset(&stats, 0, sizeof(stats));
	memset(gtt.memory, 0, sizeof(gtt.memory));
	gtt.uncharged = gtt.uncharged_reads = gtt.uncharged_writes = 0;
	gtt.unmapped_page = 0;
	gtt.after_sync = NULL;
	gtt.in_flush = NULL;
	gtt.after_write = NULL;
	on_interrupt = NULL;
	gtt.roots_live = gtt.root_error = gtt.syncs = gtt.flushes = gtt.lives = gtt.forgets =
		gtt.forgets_all = gtt.resets = gtt.traps = gtt.losses = gtt.closes = gtt.forgotten =
			0;
	gtt.multicalls = gtt.multicall_error = 0;
	memset(&host_bar, 0, sizeof(host_bar));
	gpu.runs = gpu.cancels = gpu.contexts_created = 0;
	gpu.stale = gpu.dead = false;
	gpu.clock = 0;
	calm_ahead_ns = 0;
	atomic_set(&interrupts, 0);
	ghyvi_reporter_init(&reporter, &device);
	sched = sched_threads ? ghyvi_sched_create(&fake_pgpu) :
				ghyvi_sched_create_on(&fake_pgpu, &calm_clock);
	vgpu = create_vgpu(profile);
	return IS_ERR(vgpu) ? -1 : ghyvi_vgpu_set_containment(vgpu, &unlimited);
}

int setup_gen9(void **state)
{
	return make_vgpu(&ghyvi_profile_gen9);
}

int setup_gen8(void **state)
{
	return make_vgpu(&ghyvi_profile_gen8);
}

int teardown(void **state)
{
	ghyvi_vgpu_destroy(vgpu);
	settle();
	ghyvi_sched_destroy(sched);
	return gtt.roots_live || gtt.live || gpu.clients ||
	       gpu.contexts; /* 0, or something leaked */
}

u32 shown(u32 offset)
{
	u32 *page = ghyvi_vgpu_register_page(vgpu, offset);

	return READ_ONCE(page[offset % GHYVI_PAGE_BYTES / 4]);
}

void guest_stores(u32 offset, u64 value, unsigned int bytes)
{
	u8 *page = ghyvi_vgpu_register_page(vgpu, offset);

	/* Other threads access the register, too. */
	if (bytes == 4 && !(offset & 3))
		WRITE_ONCE(*(u32 *)(page + offset % GHYVI_PAGE_BYTES), (u32)value);
	else
		memcpy(page + offset % GHYVI_PAGE_BYTES, &value, bytes);
	if (host_protects(offset))
		ghyvi_vgpu_route_store(vgpu, (host_bar.gfn << GHYVI_PAGE_SHIFT) + offset, &value,
				       bytes);
}

u32 rd(u32 offset)
{
	u32 value = (u32)ghyvi_vgpu_register_read(vgpu, offset, 4);

	if (offset < GHYVI_REGISTERS_BYTES && host_protects(offset))
		assert_int_equal(value, shown(offset));
	return value;
}

void wr(u32 offset, u32 value)
{
	ghyvi_vgpu_register_write(vgpu, offset, value, 4);
}

const char *last_report(void)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&reporter, text, sizeof(text));
	return text;
}

u64 now_ns;

static u64 stopped_clock(void)
{
	return now_ns;
}

void stop_clock(void)
{
	now_ns = NSEC_PER_SEC;
	shim_clock = stopped_clock;
}

unsigned int pass(u64 ns)
{
	now_ns += ns;
	return shim_run_timers();
}

static int setup_display(const struct ghyvi_device_profile *profile)
{
	int err;

	stop_clock();
	err = make_vgpu(profile);
	ghyvi_vgpu_set_display(vgpu, true);
	ghyvi_vgpu_reset(vgpu);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	wr(PIPE(IRQ_IMR), ~0u);
	wr(PIPE(IRQ_IER), GEN8_PIPE_VBLANK | GEN9_PIPE_PLANE1_FLIP_DONE);
	wr(GEN8_DE_PORT_ISR + IRQ_IMR, ~0u);
	return err;
}

int setup_gen9_display(void **state)
{
	return setup_display(&ghyvi_profile_gen9);
}

int setup_gen8_display(void **state)
{
	return setup_display(&ghyvi_profile_gen8);
}

int teardown_display(void **state)
{
	int err = teardown(state);

	shim_clock = NULL;
	return err;
}

unsigned int aux_by(u32 control, const u8 *message, unsigned int bytes, u8 *reply)
{
	u32 data = control + 4, status, i;
	u8 padded[AUX_BYTES] = {};

	memcpy(padded, message, bytes);
	for (i = 0; i < AUX_BYTES; i += 4)
		wr(data + i,
		   (u32)padded[i] << 24 | padded[i + 1] << 16 | padded[i + 2] << 8 | padded[i + 3]);
	wr(control, AUX_SEND | bytes << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT);
	status = rd(control);
	assert_false(status & DP_AUX_CH_CTL_SEND_BUSY);
	assert_true(status & DP_AUX_CH_CTL_DONE);
	assert_false(status & DP_AUX_CH_CTL_RECEIVE_ERROR);
	for (i = 0; i < AUX_BYTES; i++)
		reply[i] = rd(data + (i & ~3u)) >> (24 - 8 * (i & 3));
	wr(control, status);
	assert_int_equal(rd(control) & (DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR), 0);
	if (status & DP_AUX_CH_CTL_TIME_OUT_ERROR)
		return 0;
	return (status & DP_AUX_CH_CTL_MESSAGE_SIZE_MASK) >> DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT;
}
