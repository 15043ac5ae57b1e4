// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU that moves to another host: the guest sees the same registers and tables, and what was
 * running ends with the same bytes.
 */
#include <string.h>
#include <time.h>
#include <ghyvi/shadow_policy.h>
#include "audit/audit.h"
#include "compute_kernels.h"
#include "move_pair.h"
#include "vgpu/state_io.h"

static void running_workloads_end_on_the_other_host(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		move_begin_waiting(&from, i, false);
	pair_move();
	for (i = 0; i < GHYVI_ENGINES; i++)
		move_end_waiting(&to, i);
	/* The context status of each: promoted, complete. */
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_int_equal(READ_ONCE(move_page(MOVE_STATUS + i)[HWSP_CSB_WRITE / 4]), 1);
	assert_true(to.interrupts);
}

/* What the commands were at the audit counts, not what memory says at the target. */
static void audited_commands_travel(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, false);
	ghyvi_vgpu_pause(from.vgpu);
	memset(move_page(MOVE_BATCHES), 0xff, GHYVI_PAGE_BYTES);
	memset(move_page(MOVE_RINGS), 0xff, GHYVI_PAGE_BYTES);
	pair_move();
	move_end_waiting(&to, GHYVI_RCS);
}

static void user_batches_travel_in_each_mode(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, true);
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "full"), 0);
	move_begin_waiting(&from, GHYVI_BCS, true);
	pair_move();
	move_end_waiting(&to, GHYVI_RCS);
	move_end_waiting(&to, GHYVI_BCS);
}

static void a_loaded_context_can_get_a_new_tail(void **state)
{
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "full"), 0);
	move_begin_waiting(&from, GHYVI_RCS, true);
	ghyvi_vgpu_pause(from.vgpu);
	MOVE_RING(0, MOVE_CALL_USER(1));
	MOVE_BATCH(1, MOVE_STORE(0, 9, 9), MOVE_BATCH_END);
	move_submit(&from, GHYVI_RCS, 0);
	pair_move();
	move_end_waiting(&to, GHYVI_RCS);
	move_await(move_data(0, 9), 9);
}

/* Registers of contexts that wait, submissions that are pending, half a submission. */
static void ports_travel(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, false);
	MOVE_RING(1, MOVE_STORE(1, 1, 77));
	move_submit(&from, GHYVI_RCS, 1);
	move_wr(&from, GHYVI_BLITTER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_BLITTER_BASE + RING_ELSP, 0);
	pair_move();
	assert_int_equal(READ_ONCE(*move_data(1, 1)), 0);
	move_end_waiting(&to, GHYVI_RCS);
	move_await(move_data(1, 1), 77);
	MOVE_RING(2, MOVE_STORE(2, 1, 78));
	move_wr(&to, GHYVI_BLITTER_BASE + RING_ELSP, upper_32_bits(move_descriptor(2)));
	move_wr(&to, GHYVI_BLITTER_BASE + RING_ELSP, lower_32_bits(move_descriptor(2)));
	move_await(move_data(2, 1), 78);
}

static void the_guest_sees_the_same_device(void **state)
{
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu), *other = ghyvi_vgpu_ggtt_table(to.vgpu);
	u32 offset, i, differences = 0;
	u32 *before = malloc(GHYVI_REGISTERS_BYTES);
	size_t bytes;
	void *saved;

	srand(3);
	for (i = 0; i < 3000; i++) {
		move_wr(&from, (rand() % (GHYVI_REGISTERS_BYTES / 4)) * 4 % 0x100000 + 0x80000,
			rand());
		table[rand() % (GHYVI_GGTT_TABLE_BYTES / 8)] = rand();
	}
	for (i = 0; i < 5000; i++)
		table[100000 + i] = 0x1234567000001; /* i915's scratch entries */
	move_wr(&from, GEN8_MASTER_IRQ, 0);
	ghyvi_vgpu_pause(from.vgpu);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		before[offset / 4] = move_rd(&from, offset);
	for (i = 0; i < GHYVI_GGTT_TABLE_BYTES / 8; i++)
		other[i] = ~0ull;
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	free(saved);
	assert_memory_equal(table, other, GHYVI_GGTT_TABLE_BYTES);
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	ghyvi_vgpu_resume(to.vgpu);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4) {
		/* clocks */
		if ((offset & 0xfff) == RING_TIMESTAMP || (offset & 0xfff) == RING_TIMESTAMP_UDW)
			continue;
		differences += before[offset / 4] != move_rd(&to, offset);
	}
	assert_int_equal(differences, 0);
	free(before);
}

static u64 timestamp(struct move_host *host)
{
	u32 base = GHYVI_RENDER_BASE + RING_TIMESTAMP;

	return move_rd(host, base) | (u64)move_rd(host, base + 4) << 32;
}

/* Read by the guest's CPU and by commands; the target's clock is behind the source's. */
static void the_clock_goes_on(void **state)
{
	u64 before, after;

	from.vgpu->clock_offset_ns = 5000000ull * GHYVI_CLOCK_STEP_NS;
	before = timestamp(&from);
	pair_move();
	after = timestamp(&to);
	assert_true(after >= before && after - before < 12000000ull * 10);
	MOVE_RING(0, MOVE_SAVE(GHYVI_RENDER_BASE + RING_TIMESTAMP, 0, 1), MOVE_STORE(0, 4, 4));
	move_submit(&to, GHYVI_RCS, 0);
	move_await(move_data(0, 4), 4);
	assert_true(READ_ONCE(*move_data(0, 1)) >= (u32)after &&
		    READ_ONCE(*move_data(0, 1)) <= (u32)timestamp(&to));
	move_await_idle(&to, GHYVI_RCS);
}

struct settings {
	const char *policy, *audit;
	struct ghyvi_shadow_tuning tuning;
	struct ghyvi_sched_knobs knobs;
	struct ghyvi_audit_budget budget;
	struct ghyvi_containment containment;
};

static const struct settings strict = {
	.policy = "segmented",
	.audit = "full",
	.tuning = { 0, 0, 0, 100, 3, 50, 300 },
	.knobs = { 50, 20, 1 },
	.budget = { 1 << 16, 2000, 10 },
	.containment = { 1000, 50, 120000, 30 },
};

static const struct settings loose = {
	.policy = "nested",
	.audit = "log",
	.tuning = { 0, 0, 0, 200, 4, 100, 400 },
	.knobs = { 300, 0, 7 },
	.budget = { 1 << 20, 20000, 100 },
	.containment = { 0, 0, 5000, 0 },
};

static void set_all(struct move_host *host, const struct settings *settings)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host->vgpu);
	struct ghyvi_audit *audit = ghyvi_vgpu_audit(host->vgpu);

	assert_int_equal(ghyvi_gtt_set_policy(gtt, settings->policy), 0);
	assert_int_equal(ghyvi_gtt_set_tuning(gtt, &settings->tuning), 0);
	assert_int_equal(ghyvi_audit_set_mode(audit, settings->audit), 0);
	assert_int_equal(ghyvi_audit_set_budget(audit, &settings->budget), 0);
	assert_int_equal(
		ghyvi_sched_set_knobs(ghyvi_vgpu_sched_entity(host->vgpu), &settings->knobs), 0);
	assert_int_equal(ghyvi_vgpu_set_containment(host->vgpu, &settings->containment), 0);
}

static void has_all(struct move_host *host, const struct settings *settings)
{
	struct ghyvi_audit *audit = ghyvi_vgpu_audit(host->vgpu);
	struct settings got;
	char line[256], name[32];

	ghyvi_gtt_policy_list(ghyvi_vgpu_gtt(host->vgpu), line, sizeof(line));
	snprintf(name, sizeof(name), "[%s]", settings->policy);
	assert_non_null(strstr(line, name));
	ghyvi_audit_mode_list(audit, line, sizeof(line));
	snprintf(name, sizeof(name), "[%s]", settings->audit);
	assert_non_null(strstr(line, name));
	ghyvi_gtt_get_tuning(ghyvi_vgpu_gtt(host->vgpu), &got.tuning);
	assert_int_equal(got.tuning.idle_pins, settings->tuning.idle_pins);
	assert_int_equal(got.tuning.tables_max, settings->tuning.tables_max);
	ghyvi_sched_get_knobs(ghyvi_vgpu_sched_entity(host->vgpu), &got.knobs);
	assert_memory_equal(&got.knobs, &settings->knobs, sizeof(got.knobs));
	ghyvi_audit_get_budget(audit, &got.budget);
	assert_memory_equal(&got.budget, &settings->budget, sizeof(got.budget));
	ghyvi_vgpu_get_containment(host->vgpu, &got.containment);
	assert_memory_equal(&got.containment, &settings->containment, sizeof(got.containment));
}

static void settings_and_containment_travel(void **state)
{
	struct ghyvi_shadow_tuning tuning;

	set_all(&from, &strict);
	set_all(&to, &loose);
	ghyvi_vgpu_set_check(to.vgpu, true);
	from.vgpu->violation_points = 17;
	pair_move();
	assert_true(ghyvi_vgpu_get_check(to.vgpu));
	has_all(&to, &strict);
	ghyvi_gtt_get_tuning(ghyvi_vgpu_gtt(to.vgpu), &tuning);
	assert_int_equal(tuning.static_pages, strict.tuning.static_pages);
	assert_int_equal(tuning.oos_threshold, strict.tuning.oos_threshold);
	assert_int_equal(to.vgpu->violation_points, 17);
}

/* The program that loads a state is not the administrator. */
static void a_state_loosens_no_limit(void **state)
{
	set_all(&from, &loose);
	set_all(&to, &strict);
	ghyvi_vgpu_set_check(from.vgpu, true); /* a check of the host takes its time */
	pair_move();
	has_all(&to, &strict);
	assert_false(ghyvi_vgpu_get_check(to.vgpu));
}

/* The next user of the vGPU is another one. */
static void loaded_settings_end_with_their_user(void **state)
{
	struct ghyvi_sched_entity *entity = ghyvi_vgpu_sched_entity(to.vgpu);
	struct ghyvi_sched_knobs knobs;
	struct settings expected = loose;
	size_t bytes;
	void *saved;

	set_all(&from, &strict);
	set_all(&to, &loose);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	has_all(&to, &strict);
	assert_int_equal(pair_load(&to, saved, bytes),
			 0); /* the first one is not what was before */
	/* The administrator changes a setting. */
	ghyvi_sched_get_knobs(entity, &knobs);
	knobs.cap = 33;
	expected.knobs.cap = knobs.cap;
	assert_int_equal(ghyvi_sched_set_knobs(entity, &knobs), 0);
	ghyvi_vgpu_unload_settings(to.vgpu);
	has_all(&to, &expected);
	set_all(&to, &strict);
	ghyvi_vgpu_unload_settings(to.vgpu);
	has_all(&to, &strict);
	/* A second state is restricted by the administrator only. */
	set_all(&to, &loose);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	free(saved);
	set_all(&from, &loose);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	has_all(&to, &loose);
	free(saved);
}

static void a_refused_state_changes_no_setting(void **state)
{
	size_t bytes;
	void *saved;

	set_all(&from, &strict);
	set_all(&to, &loose);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes - sizeof(struct state_header)), -EINVAL);
	has_all(&to, &loose);
	free(saved);
}

/* Commands that "log" let pass run only where the administrator has set that mode. */
static void commands_are_audited_again_without_log(void **state)
{
	struct vgpu_workload *workload;
	size_t bytes;
	void *saved;

	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "log"), 0);
	move_begin_waiting(&from, GHYVI_RCS, true);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	workload = to.vgpu->engines[GHYVI_RCS].workload;
	assert_int_equal(workload->base.job.commands->mode, GHYVI_AUDIT_FULL);
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(to.vgpu), "log"), 0);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	workload = to.vgpu->engines[GHYVI_RCS].workload;
	assert_int_equal(workload->base.job.commands->mode, GHYVI_AUDIT_LOG);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

static void an_interrupt_that_is_pending_is_sent_again(void **state)
{
	u32 before;

	MOVE_RING(0, MOVE_INTERRUPT);
	move_submit(&from, GHYVI_RCS, 0);
	move_await_idle(&from, GHYVI_RCS);
	before = from.interrupts;
	assert_int_equal(before, 1); /* the line stays high until the guest acknowledges */
	pair_move();
	assert_int_equal(to.interrupts, 1);
}

/*
 * The guest waits for the interrupt: its handler accesses only the mirror, which does not trap. So
 * the pending bits are there when the VM runs, without an access to other registers.
 */
static void the_mirror_shows_a_pending_interrupt(void **state)
{
	const u32 *master;
	size_t bytes;
	void *saved;

	MOVE_RING(0, MOVE_INTERRUPT);
	move_submit(&from, GHYVI_RCS, 0);
	move_await_idle(&from, GHYVI_RCS);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	master = ghyvi_vgpu_register_page(to.vgpu, GEN8_MASTER_IRQ) +
		 GEN8_MASTER_IRQ % GHYVI_PAGE_BYTES;
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	/* The VMM has not mapped BAR 0 yet: stores could be missed. */
	ghyvi_vgpu_resume(to.vgpu);
	assert_int_equal(READ_ONCE(*master), GEN8_MASTER_IRQ_CONTROL);
	ghyvi_vgpu_pause(to.vgpu);
	to.protects = true;
	ghyvi_vgpu_resume(to.vgpu);
	assert_int_equal(READ_ONCE(*master), GEN8_MASTER_IRQ_CONTROL | GEN8_GT_RCS_IRQ);
	/* One for each resume, and one when the bits are shown. */
	assert_int_equal(to.interrupts, 3);
	free(saved);
}

static void failsafe_travels(void **state)
{
	struct ghyvi_containment strict = { .points_max = 1, .window_ms = 60000 };

	assert_int_equal(ghyvi_vgpu_set_containment(from.vgpu, &strict), 0);
	MOVE_RING(0, 0x7fu << 23, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0x40000119); /* not its memory */
	while (!ghyvi_vgpu_is_failsafe(from.vgpu))
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	pair_move();
	assert_true(ghyvi_vgpu_is_failsafe(to.vgpu));
	assert_int_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);
	ghyvi_vgpu_reset_under_driver(to.vgpu);
	assert_int_not_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);

	/* The guest has rebooted: the state ends on the other host as it would have here. */
	ghyvi_vgpu_reset(from.vgpu);
	assert_true(ghyvi_vgpu_is_failsafe(from.vgpu));
	pair_move();
	assert_int_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);
	mutex_lock(&to.vgpu->lock);
	to.vgpu->points_drained_ns -= 60 * NSEC_PER_SEC;
	mutex_unlock(&to.vgpu->lock);
	assert_int_not_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);
}

/* The source's migration was cancelled. */
#define WALKER 0x7105000du
#define GROUP_BYTES 401416u /* of 64 threads and 64 KiB */
#define GROUP_VALUE 0x77

/* Gives way within the sixth group, and then ends it. */
static void execute_group(struct unit *unit, struct ghyvi_eu_next *next)
{
	if (unit->group) {
		assert_int_equal(unit->group->bytes, GROUP_BYTES);
		assert_int_equal(unit->group->data[0], GROUP_VALUE);
		assert_memory_equal(unit->group->data, unit->group->data + 1, GROUP_BYTES - 1);
		return;
	}
	while (READ_ONCE(unit->worker->control->yield) != next->number) {
		if (READ_ONCE(unit->worker->control->abort) == next->number)
			return;
		sched_yield();
	}
	next->groups = 5;
	unit_yield(unit, next, GROUP_BYTES, GROUP_VALUE);
}

static void begin_group(struct unit *unit)
{
	unit_start(unit, execute_group);
	MOVE_RING(0, WALKER, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 1, 1, 1, 0);
	MOVE_RING(0, MOVE_STORE(0, 1, 77));
	move_submit(&from, GHYVI_RCS, 0);
	while (!unit->dispatches)
		sched_yield();
}

static void a_thread_group_travels(void **state)
{
	struct unit here, there;

	begin_group(&here);
	unit_start(&there, execute_group);
	pair_move();
	move_await(move_data(0, 1), 77);
	move_await_idle(&to, GHYVI_RCS);
	assert_int_equal(here.dispatches, 1);
	assert_int_equal(there.dispatches, 1);
	unit_stop(&there);
	unit_stop(&here);
	assert_int_equal(there.seen.groups, 5);
}

static void a_paused_thread_group_goes_on_or_ends_with_a_reset(void **state)
{
	struct unit unit;

	begin_group(&unit);
	ghyvi_vgpu_pause(from.vgpu);
	ghyvi_vgpu_resume(from.vgpu);
	move_await(move_data(0, 1), 77);
	move_await_idle(&from, GHYVI_RCS);
	unit_stop(&unit);
	assert_int_equal(unit.seen.groups, 5);

	begin_group(&unit);
	ghyvi_vgpu_pause(from.vgpu);
	ghyvi_vgpu_reset(from.vgpu); /* ASan sees a group that is lost */
	unit_stop(&unit);
}

/* Offset of the section, or @bytes. */
static size_t find_section(const u8 *saved, size_t bytes, u32 type)
{
	size_t at = GHYVI_STATE_IDENTITY_BYTES;

	while (at < bytes && ((const struct state_header *)(saved + at))->type != type)
		at += sizeof(struct state_header) +
		      ((const struct state_header *)(saved + at))->bytes;
	return at;
}

/* The group is left out, there twice, or has another size. */
static void a_workload_is_loaded_with_its_thread_group(void **state)
{
	const u32 sizes[] = { 0, 8, GHYVI_EU_GROUP_BYTES, GHYVI_EU_GROUP_BYTES + 8 };
	const size_t whole = sizeof(struct state_header) + GROUP_BYTES;
	size_t bytes, at, rest, i;
	struct unit unit;
	u8 *saved, *other;

	begin_group(&unit);
	saved = pair_save(&from, &bytes);
	at = find_section(saved, bytes, STATE_GROUP);
	assert_true(at < bytes);
	rest = bytes - at - whole;
	other = calloc(1, bytes + GHYVI_EU_GROUP_BYTES + whole);
	memcpy(other, saved, at);
	memcpy(other + at, saved + at + whole, rest);
	assert_int_equal(pair_load(&to, other, at + rest), -EINVAL);
	memcpy(other + at, saved + at, whole);
	memcpy(other + at + whole, saved + at, whole + rest);
	assert_int_equal(pair_load(&to, other, bytes + whole), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		((struct state_header *)(other + at))->bytes = sizes[i];
		memcpy(other + at + sizeof(struct state_header) + sizes[i], saved + at + whole,
		       rest);
		assert_int_equal(pair_load(&to, other,
					   at + sizeof(struct state_header) + sizes[i] + rest),
				 sizes[i] && sizes[i] <= GHYVI_EU_GROUP_BYTES ? 0 : -EINVAL);
	}
	ghyvi_vgpu_reset(to.vgpu);
	ghyvi_vgpu_reset(from.vgpu);
	unit_stop(&unit);
	free(other);
	free(saved);
}

#define KERNEL_GROUPS 16
#define KERNEL_MOVES 100
#define UNITS_MAX 2000u /* a dispatch has 370 slices, and each move lets one end at least */

/* As ghyvi-eud: there is always a process that has no vGPU yet. */
static struct unit *units;
static unsigned int nr_units;

static void keep_a_unit(void)
{
	if (softgpu_workers_exist())
		return;
	assert_true(nr_units < UNITS_MAX);
	unit_start(&units[nr_units++], kernels_execute);
}

static unsigned int dispatches(void)
{
	unsigned int i, sum = 0;

	for (i = 0; i < nr_units; i++)
		sum += units[i].dispatches;
	return sum;
}

/* Returns whether the guest was in the middle of a thread group. */
static bool move_once(struct move_host *a, struct move_host *b)
{
	size_t bytes;
	u8 *saved = pair_save(a, &bytes);
	bool within = find_section(saved, bytes, STATE_GROUP) < bytes;

	assert_int_equal(pair_load(b, saved, bytes), 0);
	free(saved);
	ghyvi_vgpu_reset(a->vgpu);
	keep_a_unit();
	ghyvi_vgpu_set_bar0(b->vgpu, MOVE_BAR0_GPA);
	ghyvi_vgpu_resume(b->vgpu);
	return within;
}

/* The context is idle, and its ring is used from its begin again. */
static void submit_kernels(struct move_host *host, u32 round)
{
	u32 *image = move_page(MOVE_IMAGES + 1), commands[64] = { 0 };
	unsigned int count;

	image[GHYVI_CTX_RING_HEAD] = 0;
	image[GHYVI_CTX_RING_TAIL] = 0;
	count = kernels_commands(commands, (MOVE_DATA + 1) * GHYVI_PAGE_BYTES,
				 (MOVE_DATA + 2) * GHYVI_PAGE_BYTES,
				 MOVE_BATCHES * GHYVI_PAGE_BYTES, KERNEL_GROUPS);
	move_ring(0, round_up(count, 2), commands);
	MOVE_RING(0, MOVE_STORE(0, 1, round));
	move_submit(host, GHYVI_RCS, 0);
}

/* What each lane adds to memory is added once, wherever its group was executed. */
static void many_moves_within_thread_groups(void **state)
{
	struct move_host *hosts[2] = { &from, &to };
	unsigned int i, before = 0, moves = 0, within = 0, round = 0;

	units = calloc(UNITS_MAX, sizeof(*units));
	kernels_put(move_page(MOVE_BATCHES), move_page(MOVE_DATA + 2), false);
	srand(2);
	keep_a_unit();
	while (moves < KERNEL_MOVES || within < KERNEL_MOVES / 2) {
		submit_kernels(hosts[moves % 2], ++round);
		while (READ_ONCE(*move_data(0, 1)) != round) {
			while (dispatches() == before && READ_ONCE(*move_data(0, 1)) != round)
				sched_yield();
			before = dispatches();
			nanosleep(&(struct timespec){ .tv_nsec = rand() % 1000000 }, NULL);
			within += move_once(hosts[moves % 2], hosts[(moves + 1) % 2]);
			moves++;
		}
		move_await_idle(hosts[moves % 2], GHYVI_RCS);
		ghyvi_vgpu_set_remap(hosts[moves % 2]->vgpu,
				     true); /* its lock: the image is written */
	}
	for (i = 0; i < 8 * KERNEL_GROUPS; i++)
		assert_int_equal(*move_data(1, i), round * kernels_result(i / 8, i % 8));
	assert_int_equal(atomic64_read(&from.stats.engine_errors), 0);
	assert_int_equal(atomic64_read(&to.stats.engine_errors), 0);
	for (i = 0; i < nr_units; i++)
		unit_stop(&units[i]);
	free(units);
	print_message("%u moves, %u within a thread group, %u dispatches\n", moves, within, round);
}

static void the_source_can_go_on(void **state)
{
	size_t bytes;

	move_begin_waiting(&from, GHYVI_RCS, false);
	free(pair_save(&from, &bytes));
	ghyvi_vgpu_resume(from.vgpu);
	move_end_waiting(&from, GHYVI_RCS);
}

/* Back and forth under load, at any moment. */
static void many_moves_under_load(void **state)
{
	struct move_host *hosts[2] = { &from, &to };
	unsigned int round, i, n, moves = 0;

	srand(1);
	for (round = 0; round < 25; round++) {
		ghyvi_vgpu_reset(hosts[round % 2]->vgpu);
		move_guest_begin(hosts[round % 2]);
		for (i = 0; i < GHYVI_ENGINES; i++) {
			MOVE_RING(i, MOVE_CALL(i));
			for (n = 0; n < 150; n++)
				MOVE_BATCH(i, MOVE_STORE(i, 10 + n, round + n));
			MOVE_BATCH(i, MOVE_BATCH_END);
			move_submit(hosts[round % 2], i, i);
		}
		for (n = 0; n < 1; n++, moves++) {
			struct move_host *a = hosts[(round + n) % 2],
					 *b = hosts[(round + n + 1) % 2];
			size_t bytes;
			void *saved;

			nanosleep(&(struct timespec){ .tv_nsec = rand() % 100000 }, NULL);
			saved = pair_save(a, &bytes);
			assert_int_equal(pair_load(b, saved, bytes), 0);
			free(saved);
			ghyvi_vgpu_reset(a->vgpu);
			ghyvi_vgpu_set_bar0(b->vgpu, MOVE_BAR0_GPA);
			ghyvi_vgpu_resume(b->vgpu);
		}
		for (i = 0; i < GHYVI_ENGINES; i++) {
			move_await_idle(hosts[(round + 1) % 2], i);
			for (n = 0; n < 150; n++)
				assert_int_equal(READ_ONCE(*move_data(i, 10 + n)), round + n);
		}
	}
	assert_int_equal(atomic64_read(&from.stats.engine_errors), 0);
	assert_int_equal(atomic64_read(&to.stats.engine_errors), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(running_workloads_end_on_the_other_host),
		PAIR_TEST(audited_commands_travel),
		PAIR_TEST(user_batches_travel_in_each_mode),
		PAIR_TEST(a_loaded_context_can_get_a_new_tail),
		PAIR_TEST(ports_travel),
		PAIR_TEST(the_guest_sees_the_same_device),
		PAIR_TEST(the_clock_goes_on),
		PAIR_TEST(settings_and_containment_travel),
		PAIR_TEST(a_state_loosens_no_limit),
		PAIR_TEST(loaded_settings_end_with_their_user),
		PAIR_TEST(a_refused_state_changes_no_setting),
		PAIR_TEST(commands_are_audited_again_without_log),
		PAIR_TEST(an_interrupt_that_is_pending_is_sent_again),
		PAIR_TEST(the_mirror_shows_a_pending_interrupt),
		PAIR_TEST(failsafe_travels),
		PAIR_TEST(a_thread_group_travels),
		PAIR_TEST(a_paused_thread_group_goes_on_or_ends_with_a_reset),
		PAIR_TEST(a_workload_is_loaded_with_its_thread_group),
		PAIR_TEST(the_source_can_go_on),
		PAIR_TEST(many_moves_under_load),
		PAIR_TEST(many_moves_within_thread_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
