// SPDX-License-Identifier: GPL-2.0-only
/* Two guests on kernel/gen9 and the emulated GPU, with what the core would have around a job. */
#include <unistd.h>
#include "gen9_guest.h"

struct pci_dev pdev = { .vendor = 0x8086, .device = 0x1912, .revision = 6 };
struct ghyvi_pgpu_device *pgpu;
const struct ghyvi_pgpu_ops *ops;

struct ghyvi_pgpu *__ghyvi_pgpu_register(struct module *owner, struct device *parent,
					 struct ghyvi_pgpu_device *device)
{
	pgpu = device;
	ops = device->ops;
	return (struct ghyvi_pgpu *)device;
}

void ghyvi_pgpu_unregister(struct ghyvi_pgpu *handle)
{
}

struct guest guests[2];

#define JOBS_MAX 64

static struct test_job *test_jobs[JOBS_MAX]; /* that exist */

void *guest_page(struct guest *guest, u32 address)
{
	return guest->pages[(address - GUEST_GGTT) / 4096] + address % 4096;
}

u32 at(struct guest *guest, u32 address)
{
	return *(volatile u32 *)guest_page(guest, address);
}

static int read_commands(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
			 void *buffer, size_t bytes)
{
	struct guest *guest = container_of(owner, struct guest, owner);
	unsigned int i;

	if (!root) {
		memcpy(buffer, guest_page(guest, LO(address) - guest->base), bytes);
		return 0;
	}
	for (i = 0; i < 2; i++)
		if (address - guest->user_at[i] < 4096) {
			memcpy(buffer, guest->user[i] + address % 4096, bytes);
			return 0;
		}
	return -EFAULT;
}

static void update_ggtt(struct ghyvi_audit_owner *owner, u64 index, u64 entry)
{
}

u32 *host_memory(u32 address)
{
	return (u32 *)(gen9_shim_emu.ggtt[address >> 12] & EMU_ADDRESS_MASK) + address % 4096 / 4;
}

u32 engine_register(enum ghyvi_engine_id engine, u32 offset)
{
	return *emu_reg(&gen9_shim_emu, ghyvi_engine_base(engine) + offset);
}

/* ---- the isolation oracle ---- */

#define ARENA_PAGES 65536u

static u8 owners[ARENA_PAGES]; /* number of the guest that has mapped the page, from 1; 0: none */

static u64 page_number(u64 address)
{
	return (address - gen9_shim_emu.ram.regions[0].start) >> 12;
}

static void set_owner(const void *page, u8 owner)
{
	owners[page_number((uintptr_t)page)] = owner;
}

/* An engine that has loaded no context since its reset has no tables. */
static u8 owner_of(u64 address)
{
	return page_number(address) < ARENA_PAGES ? owners[page_number(address)] : 0;
}

u64 map(struct guest *guest, void *page, enum ghyvi_page_kind kind)
{
	dma_addr_t dma;

	assert_int_equal(ops->map_page(guest->client, (uintptr_t)page, kind, &dma), 0);
	set_owner(page, guest - guests + 1);
	return dma;
}

/*
 * The tables of a context say whose it is: those of a guest, or the host's (its own context, or the
 * PML4 of one with three levels, which is not judged). Through the GGTT, engines reach pages of the
 * host: copies of commands, images, scratch pages.
 */
static bool may_access(u64 root, bool ggtt, u64 page)
{
	u8 guest = owner_of(root), owner = owner_of(page);

	return guest == owner || !guest || (ggtt && !owner);
}

static void forget_oracle(void)
{
	struct emu_oracle *oracle = &gen9_shim_emu.oracle;

	free(oracle->entries);
	free(oracle->lives);
	oracle->entries = NULL;
	oracle->lives = NULL;
	oracle->size = oracle->used = 0;
	assert_int_equal(ftruncate(fileno(oracle->file), 0), 0);
}

unsigned int oracle_violations(void)
{
	unsigned long long root, page;
	char engine[8], space[8], access[8];
	unsigned int count = 0, judged = 0;
	FILE *file = gen9_shim_emu.oracle.file;

	emu_oracle_write(&gen9_shim_emu);
	rewind(file);
	while (fscanf(file, "%7s %*x %*u %llx %7s %llx %7s", engine, &root, space, &page, access) ==
	       5) {
		judged++;
		if (may_access(root, !strcmp(space, "ggtt"), page))
			continue;
		print_error("oracle: %s %s of guest %u: page %#llx of guest %u (%s)\n", engine,
			    space, owner_of(root), page, owner_of(page), access);
		count++;
	}
	assert_int_equal(judged, gen9_shim_emu.oracle.used);
	forget_oracle();
	return count;
}

/* ---- guests ---- */

/* As in a shadow, an address without an entry is that of a scratch page. */
static void make_tables(struct guest *guest)
{
	u64 scratch = map(guest, gen9_shim_page_alloc(), GHYVI_PAGE_SCRATCH) | 1;
	unsigned int i, entry;

	for (i = 4; i-- > 0;) {
		u64 *table = (u64 *)gen9_shim_page_alloc();

		guest->tables[i] = (u64 *)gen9_shim_page_alloc();
		for (entry = 0; entry < 512; entry++)
			guest->tables[i][entry] = table[entry] = scratch;
		scratch = map(guest, table, GHYVI_PAGE_TABLE) | 3;
	}
	map(guest, guest->tables[0], GHYVI_PAGE_TABLE);
	for (i = 0; i < 3; i++)
		guest->tables[i][USER_BATCH >> (39 - 9 * i) & 511] =
			map(guest, guest->tables[i + 1], GHYVI_PAGE_TABLE) | 3;
	for (i = 0; i < 2; i++) {
		guest->user[i] = (u8 *)gen9_shim_page_alloc();
		guest->user_at[i] = USER_BATCH + i * 4096;
		guest->tables[3][i] = map(guest, guest->user[i], GHYVI_PAGE_DATA) | 3;
	}
}

/* As the core does it: with what the backend needs. */
static void make_auditor(struct guest *guest, const struct ghyvi_range *ggtt)
{
	struct ghyvi_audit_params params = {
		.gen = 9,
		.ggtt = { *ggtt },
		.nr_ggtt = 1,
		.owner = &guest->owner,
		.reporter = &guest->reporter,
		.stats = &guest->stats,
	};
	struct ghyvi_pgpu_resources resources = {};

	ops->resources(pgpu, &resources);
	params.enforced = resources.audit_enforced;
	params.user_engines = resources.audit_user_engines;
	guest->owner.read = read_commands;
	guest->owner.update_ggtt = update_ggtt;
	guest->audit = ghyvi_audit_create(&params);
}

static void make_guest(struct guest *guest, unsigned int number)
{
	struct ghyvi_client_params params = {
		.ggtt = { { GUEST_GGTT + number * GUEST_PAGES * 4096u, GUEST_PAGES * 4096u } },
		.nr_ggtt = 1,
		.registers_bytes = 0x200000,
		.gen = 9,
		.reporter = &guest->reporter,
		.stats = &guest->stats,
	};
	unsigned int i;

	memset(guest, 0, sizeof(*guest));
	guest->base = number * GUEST_PAGES * 4096u;
	ghyvi_reporter_init(&guest->reporter, &pdev.dev);
	guest->registers = calloc(1, 0x200000);
	params.registers = guest->registers;
	guest->client = ops->client_create(pgpu, &params);
	assert_false(IS_ERR(guest->client));
	for (i = 0; i < GUEST_PAGES; i++) {
		u64 entry;

		guest->pages[i] = (u8 *)gen9_shim_page_alloc();
		entry = map(guest, guest->pages[i], GHYVI_PAGE_DATA) | 1;
		ops->ggtt_write(guest->client, (params.ggtt[0].start >> 12) + i, &entry, 1);
	}
	make_tables(guest);
	make_auditor(guest, &params.ggtt[0]);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		guest->registers[(ghyvi_engine_base(i) + RING_HWS_PGA) / 4] =
			HWSP_PAGE + guest->base;
		guest->context[i] = ops->context_create(guest->client, i, IMAGE(i) + guest->base);
		assert_false(IS_ERR(guest->context[i]));
	}
}

static void drop_guest(struct guest *guest)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		ops->context_destroy(guest->context[i]);
	ops->invalidate(&guest->client, 1);
	ops->client_destroy(guest->client);
	ghyvi_audit_destroy(guest->audit);
	for (i = 0; i < GUEST_PAGES; i++) {
		set_owner(guest->pages[i], 0);
		gen9_shim_page_free((struct page *)guest->pages[i]);
	}
	free(guest->registers);
}

void make_guests(void)
{
	make_guest(&guests[0], 0);
	make_guest(&guests[1], 1);
}

struct ghyvi_pgpu_client *client_of(u64 first, u64 bytes)
{
	struct ghyvi_client_params params = guests[0].client->params;
	struct ghyvi_pgpu_client *client;

	params.ggtt[0] = (struct ghyvi_range){ first, bytes };
	client = ops->client_create(pgpu, &params);
	assert_false(IS_ERR(client));
	return client;
}

static bool leaked; /* the oracle has reported an access */

void drop_guests(void)
{
	leaked |= oracle_violations();
	drop_guest(&guests[1]);
	drop_guest(&guests[0]);
}

u64 violations(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < EMU_VIOLATIONS; i++) {
		if (gen9_shim_emu.violations[i])
			print_error("%llu violations of rule %u\n",
				    (unsigned long long)gen9_shim_emu.violations[i], i);
		sum += gen9_shim_emu.violations[i];
	}
	return sum;
}

static void end_jobs_of_a_failed_test(void);
static u64 hangs_before; /* the test */
static bool was_lost; /* the GPU, at the end of the test before */
static bool broken; /* something that concerns the tests that follow, too */

int set_up(void **state)
{
	static const struct pci_device_id *id;

	for (id = gen9_shim_driver->id_table; id->device != pdev.device; id++)
		;
	memset(gen9_shim_emu.violations, 0, sizeof(gen9_shim_emu.violations));
	hangs_before = gen9_shim_emu.hangs;
	if (gen9_shim_driver->probe(&pdev, id))
		return -1;
	if (was_lost)
		forget_oracle(); /* the engines went on until the reset by the probe */
	make_guests();
	return 0;
}

/* Whatever a hang has hit, each engine works afterwards. */
static bool engines_work(void)
{
	unsigned int i, tries;
	u64 hangs;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		bool complete = false;

		for (tries = 0; tries < 5 && !complete; tries++) {
			struct test_job *job = job_new(&guests[0], i);

			hangs = gen9_shim_emu.hangs;
			RINGS(job, STORE_GGTT, DATA, 0, i);
			start(job);
			waits(job);
			complete = job->status == GHYVI_JOB_COMPLETE;
			job_free(job);
			if (!complete && hangs == gen9_shim_emu.hangs)
				return false;
		}
		if (!complete)
			return false;
	}
	return true;
}

int tear_down(void **state)
{
	bool hit = gen9_shim_emu.hangs != hangs_before;

	end_jobs_of_a_failed_test();
	broken |= hit && !gen9_shim_lost && !engines_work();
	drop_guests();
	gen9_shim_driver->remove(&pdev);
	was_lost = gen9_shim_lost;
	gen9_shim_lost = false;
	if (gen9_shim_freed_early)
		print_error("a page was freed after a posted flush\n");
	if (gen9_shim_delayed_in_drain)
		print_error("a delayed work was queued while the queue was drained\n");
	broken |= gen9_shim_freed_early || gen9_shim_delayed_in_drain;
	gen9_shim_freed_early = false;
	gen9_shim_delayed_in_drain = false;
	broken |= leaked;
	return broken || violations() ? -1 : 0;
}

/* ---- jobs ---- */

static void done(struct ghyvi_job *base, enum ghyvi_job_status status)
{
	struct test_job *job = container_of(base, struct test_job, base);

	assert_int_equal(job->status, -1);
	if (status != GHYVI_JOB_PREEMPTED)
		ops->unprepare(pgpu, base);
	job->status = status;
}

static void event(struct ghyvi_job *base, u32 events)
{
	container_of(base, struct test_job, base)->events |= events;
}

struct test_job *job_new(struct guest *guest, enum ghyvi_engine_id engine)
{
	struct test_job *job = calloc(1, sizeof(*job));
	unsigned int i;

	for (i = 0; test_jobs[i]; i++)
		assert_in_range(i, 0, JOBS_MAX - 2);
	test_jobs[i] = job;
	job->guest = guest;
	job->base.client = guest->client;
	job->base.engine = engine;
	job->base.root = (uintptr_t)guest->tables[0];
	job->base.levels = 4;
	job->base.context = job->context;
	job->base.pgpu_context = guest->context[engine];
	job->base.lrca = IMAGE(engine) + guest->base;
	job->base.restore = true;
	job->base.done = done;
	job->base.event = event;
	job->base.backend = calloc(1, ops->job_bytes);
	job->context[GHYVI_CTX_RING_START] = RING + guest->base;
	job->context[GHYVI_CTX_RING_CTL] = (RING_BYTES - 4096) | 1;
	job->status = -1;
	return job;
}

void put(u8 *page, const u32 *dwords, unsigned int count)
{
	memcpy(page, dwords, 4 * count);
}

void add(struct test_job *job, const u32 *dwords, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count + count % 2; i++) {
		*(u32 *)guest_page(job->guest, RING + job->tail) = i < count ? dwords[i] : NOOP;
		job->tail = (job->tail + 4) % RING_BYTES;
	}
}

void audit(struct test_job *job)
{
	u32 indirect = job->context[GHYVI_CTX_INDIRECT];
	struct ghyvi_submission submission = {
		.engine = job->base.engine,
		.root = (struct ghyvi_root *)job->guest,
		.ppgtt_mask = GENMASK_ULL(47, 0),
		.lrca = job->base.lrca,
		.ring_start = RING + job->guest->base,
		.ring_bytes = RING_BYTES,
		.head = job->context[GHYVI_CTX_RING_HEAD],
		.tail = job->tail,
		.indirect = indirect & (u32)GHYVI_INDIRECT_ADDRESS,
		.indirect_bytes = (indirect & GHYVI_INDIRECT_LINES) * GHYVI_INDIRECT_LINE_BYTES,
	};

	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	job->base.commands = ghyvi_audit_submission(job->guest->audit, &submission);
	assert_false(IS_ERR(job->base.commands));
}

void start(struct test_job *job)
{
	if (!job->base.commands)
		audit(job);
	job->status = -1;
	if (ops->prepare(pgpu, &job->base)) {
		ops->unprepare(pgpu, &job->base);
		job->status = GHYVI_JOB_ERROR; /* as the core says of a job that does not run */
		return;
	}
	assert_int_equal(ops->run(pgpu, &job->base), 0);
	job->started = true;
}

/* By the adversary: a command that is wrong has an error in ESR, too. */
static bool hangs(const struct test_job *job)
{
	const struct emu_engine *engine = &gen9_shim_emu.engines[job->base.engine];

	return emu_adversary_has(&gen9_shim_emu.adversary, EMU_HANG) && engine->state == EMU_HUNG &&
	       !*emu_reg(&gen9_shim_emu, engine->cs.base + RING_ESR);
}

bool waits(struct test_job *job)
{
	u64 end = ktime_get_ns() + TEST_S * NSEC_PER_SEC;

	while (job->status < 0 && ktime_get_ns() < end) {
		gen9_shim_pump();
		/* As the scheduler when time is up. Jobs with a budget do not need it. */
		if (job->status < 0 && !job->base.budget_ns && hangs(job))
			ops->cancel(pgpu, &job->base);
	}
	return job->status < 0;
}

void finish(struct test_job *job, enum ghyvi_job_status status)
{
	assert_false(waits(job));
	assert_int_equal(job->status, status);
}

void job_free(struct test_job *job)
{
	unsigned int i;

	for (i = 0; test_jobs[i] != job; i++)
		assert_in_range(i, 0, JOBS_MAX - 2);
	test_jobs[i] = NULL;
	ghyvi_commands_free(job->base.commands);
	free(job->base.backend);
	free(job);
}

/* Contexts are destroyed without jobs, or the report of the failure would be a crash. */
static void end_jobs_of_a_failed_test(void)
{
	unsigned int i;

	for (i = 0; i < JOBS_MAX; i++) {
		if (!test_jobs[i])
			continue;
		if (test_jobs[i]->started && test_jobs[i]->status < 0) {
			ops->cancel(pgpu, &test_jobs[i]->base);
			waits(test_jobs[i]);
		}
		job_free(test_jobs[i]);
	}
}

void run_once(struct test_job *job)
{
	start(job);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
}

void expect_working(enum ghyvi_engine_id id)
{
	struct test_job *job = job_new(&guests[0], id);

	*(u32 *)guest_page(&guests[0], DATA) = 0;
	RINGS(job, STORE_GGTT, DATA, 0, 0x55);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 0x55);
	job_free(job);
}

void expect_working_engines(void)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = job_new(&guests[0], i);

		RINGS(job, STORE_GGTT, DATA + 4 * i, 0, 0x100 + i, USER_INTERRUPT);
		run_once(job);
		assert_int_equal(at(&guests[0], DATA + 4 * i), 0x100 + i);
		assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
		assert_true(job->base.busy_ns);
		job_free(job);
	}
}

void run_everywhere(enum ghyvi_engine_id engine, const u32 *commands, unsigned int count)
{
	u32 batch[16] = {};
	unsigned int place;

	memcpy(batch, commands, 4 * count);
	batch[15] = BATCH_END;
	put(guest_page(&guests[0], KERNEL_BATCH), batch, ARRAY_SIZE(batch));
	put(guests[0].user[0], batch, ARRAY_SIZE(batch));
	for (place = 0; place < 3; place++) {
		struct test_job *job = job_new(&guests[0], engine);

		if (place == 0)
			add(job, commands, count);
		else if (place == 1)
			RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
		else
			RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
		start(job);
		assert_false(waits(job));
		job_free(job);
	}
}

void pump(unsigned int times)
{
	while (times--)
		gen9_shim_pump();
}

void start_and_pump(struct test_job *job)
{
	start(job);
	pump(20);
}

void pump_events(unsigned int times)
{
	const struct emu_engine *engines = gen9_shim_emu.engines;
	unsigned int i, late;

	do {
		pump(times);
		times = 1;
		for (i = late = 0; i < GHYVI_ENGINES; i++)
			late += engines[i].nr_late_events;
	} while (late);
	pump(2);
}

/* A batch that waits until memory becomes 1, then stores 2 next to it. */
struct test_job *waiting_job(struct guest *guest, enum ghyvi_engine_id engine)
{
	struct test_job *job = job_new(guest, engine);

	*(u32 *)guest->user[1] = 0;
	USER(guest, WAIT_PPGTT, 1, LO(USER_DATA), HI(USER_DATA), STORE_PPGTT, LO(USER_DATA + 4),
	     HI(USER_DATA), 2, BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	return job;
}

/* A batch that jumps to itself has no arbitration point: only a reset ends it. */
struct test_job *endless_job(struct guest *guest, enum ghyvi_engine_id engine)
{
	struct test_job *job = job_new(guest, engine);

	USER(guest, NOOP, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	return job;
}

/* Complete a waiting job's wait. */
void release_guest(struct guest *guest)
{
	*(volatile u32 *)guest->user[1] = 1;
}

void complete_waiting(struct guest *guest, struct test_job *job)
{
	release_guest(guest);
	finish(job, GHYVI_JOB_COMPLETE);
}

u32 host_registers(void)
{
	static const u32 offsets[] = { 0x4090, 0x40e0, 0x40e4, 0x4ab0,	0x4ddc,
				       0x940c, 0xb004, 0xb118, 0xc800,	0xc904,
				       0xcb08, 0xcc0c, 0xa090, 0x44200, 0x4430c };
	static const u32 relative[] = { RING_HWS_PGA, RING_MODE, RING_MI_MODE, RING_IMR, RING_EMR };
	u32 sum = 0;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		sum = sum * 31 + *emu_reg(&gen9_shim_emu, offsets[i]);
	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++)
		sum = sum * 31 + *emu_reg(&gen9_shim_emu, 0x24d0 + 4 * i);
	for (i = 0; i < GHYVI_ENGINES; i++)
		for (j = 0; j < ARRAY_SIZE(relative); j++)
			sum = sum * 31 +
			      *emu_reg(&gen9_shim_emu, ghyvi_engine_base(i) + relative[j]);
	return sum;
}

/* The program's own time, so that time limits do not depend on what else the machine does. */
static u64 cpu_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

/* What the emulator is, and the driver is told. */
static void choose_platform(const char *name)
{
	const struct emu_platform *platform = emu_platform_find(name);

	assert_non_null(platform);
	gen9_shim_emu.platform = platform;
	pdev.device = platform->device;
	pdev.revision = platform->revision;
}

bool parse_options(int argc, char **argv)
{
	shim_clock = cpu_clock;
	choose_platform(getenv("GEN9_PLATFORM"));
	gen9_shim_init();
	srandom(argc > 2 ? strtoul(argv[2], NULL, 0) : 1);
	shim_quiet = true;
	gen9_shim_emu.oracle.file = tmpfile();
	gen9_shim_emu.hwsp_start = HOST_GGTT;
	gen9_shim_emu.hwsp_end = BIT_ULL(32);
	gen9_shim_emu.log = getenv("GEN9_LOG") ? stderr : NULL;
	if (argc > 2) {
		emu_adversary_seed(&gen9_shim_emu.adversary, strtoull(argv[2], NULL, 0));
		if (emu_adversary_parse(&gen9_shim_emu.adversary, argv[1]))
			return false;
	}
	if (getenv("GEN9_TRACE"))
		gen9_shim_emu.trace = fopen(getenv("GEN9_TRACE"), "w");
	if (getenv("GEN9_TEST"))
		cmocka_set_test_filter(getenv("GEN9_TEST"));
	return true;
}

/*
 * A hang ends a job that is right, so a test that is hit may fail. It is repeated, and the engines
 * must work after the hang.
 */
static int run_one(const struct CMUnitTest *test)
{
	unsigned int tries;
	int failed;
	u64 hangs;

	for (tries = 0; tries < 5; tries++) {
		hangs = gen9_shim_emu.hangs;
		failed = _cmocka_run_group_tests(test->name, test, 1, NULL, NULL);
		if (!failed || broken || hangs == gen9_shim_emu.hangs)
			return failed;
		print_message("%s: hit by a hang\n", test->name);
	}
	return failed;
}

int run_all_tests(const struct CMUnitTest *tests, size_t count)
{
	int failed = 0;

	if (!emu_adversary_has(&gen9_shim_emu.adversary, EMU_HANG))
		return _cmocka_run_group_tests("gen9", tests, count, NULL, NULL);
	while (count--)
		failed += run_one(tests++);
	return failed;
}
