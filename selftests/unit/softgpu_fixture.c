// SPDX-License-Identifier: GPL-2.0-only
#include "softgpu_fixture.h"

u8 *rig_alloc(struct rig *rig, unsigned int pages)
{
	u8 *p = shim_page_alloc(pages * PAGE_SIZE, __GFP_ZERO | __GFP_NOFAIL);

	assert_non_null(p);
	assert_true(rig->nr_blocks < ARRAY_SIZE(rig->blocks));
	rig->blocks[rig->nr_blocks++] = p;
	return p;
}

int rig_map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind)
{
	dma_addr_t dma = 0;
	int err = softgpu_ops.map_page(client, hpa, kind, &dma);

	assert_true(err || dma == hpa);
	return err;
}

static void rig_own(struct rig *rig, void *p, unsigned int pages, enum ghyvi_page_kind kind)
{
	unsigned int i;

	for (i = 0; i < pages; i++) {
		u64 bus = virt_to_phys((u8 *)p + i * PAGE_SIZE);

		assert_int_equal(rig_map_page(rig->client, bus, kind), 0);
		assert_true(rig->nr_owned < MAX_PAGES);
		rig->owned[rig->nr_owned++] = bus;
	}
}

static u64 *rig_table(struct rig *rig)
{
	u64 *table = (u64 *)rig_alloc(rig, 1);

	rig_own(rig, table, 1, GHYVI_PAGE_TABLE);
	return table;
}

u64 *rig_entry(struct rig *rig, u64 address)
{
	u64 *table = rig->pml4;
	unsigned int level;

	for (level = 4; level > 1; level--) {
		u64 *entry = &table[address >> (12 + 9 * (level - 1)) & 511];

		if (!*entry)
			*entry = virt_to_phys(rig_table(rig)) | GHYVI_ENTRY_PRESENT |
				 GHYVI_ENTRY_WRITE;
		table = phys_to_virt(*entry & GHYVI_SHADOW_ADDRESS_MASK);
	}
	return &table[address >> 12 & 511];
}

void rig_map(struct rig *rig, u64 address, void *p, unsigned int pages, u64 flags)
{
	unsigned int i;

	for (i = 0; i < pages; i++)
		*rig_entry(rig, address + i * PAGE_SIZE) = virt_to_phys((u8 *)p + i * PAGE_SIZE) |
							   GHYVI_ENTRY_PRESENT | flags;
}

u8 *rig_ppgtt(struct rig *rig, u64 address, unsigned int pages, u64 flags)
{
	u8 *p = rig_alloc(rig, pages);

	rig_own(rig, p, pages, GHYVI_PAGE_DATA);
	rig_map(rig, address, p, pages, flags);
	return p;
}

u64 *rig_directory_entry(struct rig *rig, u64 address)
{
	u64 *table = rig->pml4;
	unsigned int level;

	rig_entry(rig, address);
	for (level = 4; level > 2; level--)
		table = phys_to_virt(table[address >> (12 + 9 * (level - 1)) & 511] &
				     GHYVI_SHADOW_ADDRESS_MASK);
	return &table[address >> 21 & 511];
}

u8 *rig_large(struct rig *rig, u64 address, u64 flags)
{
	u8 *p = rig_alloc(rig, 2 * GHYVI_ENTRIES);

	p += -(uintptr_t)p & (GHYVI_LARGE_BYTES - 1);
	rig_own(rig, p, GHYVI_ENTRIES, GHYVI_PAGE_DATA);
	*rig_directory_entry(rig, address) = virt_to_phys(p) | GHYVI_ENTRY_PRESENT |
					     GHYVI_ENTRY_LARGE | flags;
	return p;
}

u8 *rig_ggtt(struct rig *rig, u64 address, unsigned int pages)
{
	u8 *p = rig_alloc(rig, pages);
	unsigned int i;

	rig_own(rig, p, pages, GHYVI_PAGE_DATA);
	for (i = 0; i < pages; i++) {
		u64 entry = virt_to_phys(p + i * PAGE_SIZE) | GHYVI_ENTRY_PRESENT;

		softgpu_ops.ggtt_write(rig->client, (address >> 12) + i, &entry, 1);
	}
	return p;
}

struct rig *rig_of(struct ghyvi_job *job)
{
	return container_of(job, struct rig, job);
}

static void rig_event(struct ghyvi_job *job, u32 events)
{
	if (events & GHYVI_EVENT_USER_INTERRUPT)
		atomic_inc(&rig_of(job)->interrupts);
	if (events & GHYVI_EVENT_FLUSH_NOTIFY)
		atomic_inc(&rig_of(job)->notifies);
}

static void rig_done(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	rig_of(job)->status = status;
	rig_event(job, job->events);
	sem_post(&rig_of(job)->done);
}

void rig_unmap_guest(struct rig *rig, u64 gfn)
{
	if (!rig->mapped[gfn])
		return;
	softgpu_ops.unmap_guest(rig->client, gfn);
	softgpu_ops.invalidate(&rig->client, 1);
	softgpu_ops.unmap_page(rig->client, rig->guest_bus[gfn]);
	rig->mapped[gfn] = 0;
	rig->nr_mapped--;
}

static u64 rig_oldest_mapped(struct rig *rig)
{
	u64 gfn, oldest = 0;

	for (gfn = 1; gfn < GUEST_PAGES; gfn++)
		if (rig->mapped[gfn] && (!oldest || rig->mapped[gfn] < rig->mapped[oldest]))
			oldest = gfn;
	return oldest;
}

static void rig_fault(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine, u64 gfn)
{
	struct rig *rig = container_of(owner, struct rig, owner);
	int err = 0;

	rig->fault_status = -EINPROGRESS;
	atomic_inc(&rig->faults);
	if (rig->fault_is_slow)
		return;
	if (rig->in_fault)
		rig->in_fault(rig, gfn);
	pthread_mutex_lock(&rig->gtt);
	if (gfn >= GUEST_PAGES || !rig->guest_bus[gfn]) {
		err = -EFAULT;
	} else if (!rig->mapped[gfn]) {
		if (rig->nr_mapped >= rig->map_limit)
			rig_unmap_guest(rig, rig_oldest_mapped(rig));
		assert_int_equal(rig_map_page(rig->client, rig->guest_bus[gfn], GHYVI_PAGE_DATA),
				 0);
		assert_int_equal(softgpu_ops.map_guest(rig->client, gfn, rig->guest_bus[gfn]), 0);
		rig->mapped[gfn] = (u32)atomic_read(&rig->faults);
		rig->nr_mapped++;
	}
	pthread_mutex_unlock(&rig->gtt);
	rig->fault_status = err;
}

static int rig_fault_status(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine)
{
	return container_of(owner, struct rig, owner)->fault_status;
}

u64 rig_gfn(struct rig *rig, const void *p)
{
	u64 bus = virt_to_phys((void *)p) & GHYVI_PAGE_MASK;
	void *known = xa_load(&rig->guest_of, bus >> 12);

	if (known)
		return xa_to_value(known);
	rig->nr_guest++;
	assert_true(rig->nr_guest < GUEST_PAGES);
	rig->guest_bus[rig->nr_guest] = bus;
	xa_store(&rig->guest_of, bus >> 12, xa_mk_value(rig->nr_guest), __GFP_NOFAIL);
	return rig->nr_guest;
}

static u64 rig_guest_entry(struct rig *rig, u64 entry)
{
	return rig_gfn(rig, phys_to_virt(entry & GHYVI_SHADOW_ADDRESS_MASK)) << 12 |
	       (entry & 0xfff);
}

static void rig_nest_table(struct rig *rig, u64 *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!table[i])
			continue;
		if (level > 1)
			rig_nest_table(rig, phys_to_virt(table[i] & GHYVI_SHADOW_ADDRESS_MASK),
				       level - 1);
		table[i] = rig_guest_entry(rig, table[i]);
	}
}

void rig_nest(struct rig *rig)
{
	unsigned int i;
	u64 entry;

	rig_nest_table(rig, rig->pml4, 4);
	for (i = 0; i < GGTT_BYTES >> 12; i++) {
		entry = softgpu_ops.ggtt_read(rig->client, i);
		rig->guest_ggtt[i] = entry ? rig_guest_entry(rig, entry) : 0;
		entry = 0;
		softgpu_ops.ggtt_write(rig->client, i, &entry, 1);
	}
	for (i = 0; i < rig->nr_owned; i++)
		softgpu_ops.unmap_page(rig->client, rig->owned[i]);
	rig->nr_owned = 0;
	rig->job.nested = true;
	rig->job.root = 0;
	rig->job.guest_root[0] = rig_gfn(rig, rig->pml4) << 12;
}

struct rig *rig_new(unsigned int gen)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	shim_quiet = true;
	rig->dev.name = "rig";
	ghyvi_reporter_init(&rig->reporter, &rig->dev);
	rig->registers = calloc(1, REGISTERS_BYTES);
	rig->guest_ggtt =
		calloc(GGTT_BYTES >> 12, sizeof(u64)); /* engines do not look outside the ranges */
	rig->map_limit = GUEST_PAGES;
	xa_init(&rig->guest_of);
	pthread_mutex_init(&rig->gtt, NULL);
	rig->gpu = softgpu_create();
	assert_false(IS_ERR(rig->gpu));
	rig->owner.fault = rig_fault;
	rig->owner.fault_status = rig_fault_status;
	init_waitqueue_head(&rig->owner.faulted);
	rig->params = (struct ghyvi_client_params){
		.ggtt = { { 0, GGTT_BYTES } },
		.nr_ggtt = 1,
		.registers = rig->registers,
		.registers_bytes = REGISTERS_BYTES,
		.gen = gen,
		.reporter = &rig->reporter,
		.stats = &rig->stats,
		.ggtt_table = rig->guest_ggtt,
		.owner = &rig->owner,
	};
	rig->client = softgpu_ops.client_create(softgpu_device(rig->gpu), &rig->params);
	assert_false(IS_ERR(rig->client));

	rig->pml4 = rig_table(rig);
	rig->ring = rig_ggtt(rig, RING_GGTT, RING_BYTES / PAGE_SIZE);
	rig->pphwsp = rig_ggtt(rig, CONTEXT_GGTT, 2);
	rig->hwsp = rig_ggtt(rig, HWSP_GGTT, 1);
	rig->ggtt_data = rig_ggtt(rig, DATA_GGTT, 1);
	rig->indirect = rig_ggtt(rig, INDIRECT_GGTT, 1);
	rig->batch = (u32 *)rig_ppgtt(rig, BATCH, BATCH_PAGES, GHYVI_ENTRY_WRITE);
	rig->batch2 = rig->batch + (BATCH2 - BATCH) / 4;
	rig->batch3 = rig->batch + (BATCH3 - BATCH) / 4;
	rig->data = rig_ppgtt(rig, DATA, DATA_PAGES, GHYVI_ENTRY_WRITE);
	rig->read_only = rig_ppgtt(rig, READ_ONLY, 1, 0);
	rig->scratch = rig_alloc(rig, 1);
	rig_own(rig, rig->scratch, 1, GHYVI_PAGE_SCRATCH);
	rig_map(rig, SCRATCH, rig->scratch, 1, GHYVI_ENTRY_WRITE);

	rig->context[GHYVI_CTX_RING_START] = RING_GGTT;
	rig->context[GHYVI_CTX_RING_CTL] = (RING_BYTES - 4096) | 1;
	rig->job = (struct ghyvi_job){
		.client = rig->client,
		.engine = GHYVI_RCS,
		.root = virt_to_phys(rig->pml4),
		.levels = 4,
		.context = rig->context,
		.lrca = CONTEXT_GGTT,
		.restore = true,
		.done = rig_done,
		.event = rig_event,
		.backend = &rig->backend,
	};
	sem_init(&rig->done, 0, 0);
	return rig;
}

void rig_free(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < GUEST_PAGES; i++)
		rig_unmap_guest(rig, i);
	for (i = 0; i < rig->nr_owned; i++)
		softgpu_ops.unmap_page(rig->client, rig->owned[i]);
	for (i = 0; i < rig->nr_owned; i++)
		assert_int_equal(
			softgpu_owners_kind(softgpu_owners_find(softgpu_client(rig->client),
								rig->owned[i]),
					    rig->owned[i]),
			-ENOENT);
	softgpu_ops.client_destroy(rig->client);
	softgpu_destroy(rig->gpu);
	for (i = 0; i < rig->nr_blocks; i++)
		free(rig->blocks[i]);
	free(rig->registers);
	free(rig->guest_ggtt);
	xa_destroy(&rig->guest_of);
	pthread_mutex_destroy(&rig->gtt);
	sem_destroy(&rig->done);
	free(rig);
}

int rig_setup(void **state)
{
	*state = rig_new(9);
	return 0;
}

int rig_setup_gen8(void **state)
{
	*state = rig_new(8);
	return 0;
}

int rig_teardown(void **state)
{
	rig_free(*state);
	return 0;
}

void ring_emit(struct rig *rig, const u32 *dwords, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		WRITE_ONCE(*(u32 *)(rig->ring + rig->tail), dwords[i]);
		rig->tail = (rig->tail + 4) % RING_BYTES;
	}
}

void ring_pad(struct rig *rig)
{
	if (rig->tail & 4)
		ring(rig, 0);
}

void ring_walker(struct rig *rig)
{
	u32 walker[WALKER_DWORDS] = { WALKER, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 1, 1, 1 };

	ring_emit(rig, walker, WALKER_DWORDS);
	ring_pad(rig);
}

void rig_start(struct rig *rig)
{
	ring_pad(rig);
	rig->context[GHYVI_CTX_RING_TAIL] = rig->tail;
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
}

void rig_start_endless(struct rig *rig)
{
	batch(rig->batch, MI_LRI(1), GPR(0), 1, MI_SRM, GPR(0), ADDRESS(DATA), MI_BATCH_START,
	      ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	while (!data32(rig, 0))
		sched_yield();
}

enum ghyvi_job_status rig_wait(struct rig *rig)
{
	while (sem_wait(&rig->done))
		;
	return rig->status;
}

enum ghyvi_job_status rig_run(struct rig *rig)
{
	rig_start(rig);
	return rig_wait(rig);
}

void rig_preempt(struct rig *rig)
{
	softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_PREEMPTED);
}

void rig_cancel(struct rig *rig)
{
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
}

void rig_reset(struct rig *rig)
{
	rig->tail = 0;
	rig->context[GHYVI_CTX_RING_HEAD] = 0;
}

u32 *rig_register(struct rig *rig, enum ghyvi_engine_id engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine, offset);
	int slot = rule ? ghyvi_register_slot(engine, rule, offset) : -1;

	return slot < 0 ? &rig->registers[offset / 4] : &rig->context[ghyvi_context_value(slot)];
}

enum ghyvi_job_status rig_run_batch(struct rig *rig)
{
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	return rig_run(rig);
}

enum ghyvi_job_status rig_run_walker(struct rig *rig)
{
	rig_reset(rig);
	ring_walker(rig);
	return rig_run(rig);
}

const char *rig_reason(struct rig *rig)
{
	return rig->reporter.last;
}

u64 gpr(struct rig *rig, unsigned int n)
{
	return (u64)rig->context[GHYVI_CTX_GPR + 4 * n + 2] << 32 |
	       rig->context[GHYVI_CTX_GPR + 4 * n];
}

void load_gpr(struct rig *rig, unsigned int n, u64 value)
{
	ring(rig, MI_LRI(2), GPR(n), LOW(value), GPR(n) + 4, HIGH(value));
}

void assert_error(struct rig *rig, const char *reason)
{
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	if (!strstr(rig_reason(rig), reason))
		fail_msg("%s, not %s", rig_reason(rig), reason);
	rig_reset(rig);
}

void assert_completes(struct rig *rig)
{
	if (rig_run(rig) != GHYVI_JOB_COMPLETE)
		fail_msg("%s", rig_reason(rig));
	rig_reset(rig);
}
