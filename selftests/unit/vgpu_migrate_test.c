// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU's state that another host loads: the guest sees the same registers and tables, and what
 * was running ends with the same bytes. And states that were truncated, changed, or are foreign.
 */
#include <string.h>
#include <time.h>
#include <ghyvi/multicall.h>
#include <ghyvi/shadow_policy.h>
#include "audit/audit.h"
#include "bounded.h"
#include "move_fixture.h"
#include "vgpu/state_io.h"

static struct move_host from, to;
static const u64 owner_state[2] = { 0x1122334455667788, 42 };

static int setup(void **state)
{
	move_host_begin(&from, NULL);
	move_host_begin(&to, NULL);
	move_guest_begin(&from);
	return 0;
}

static int teardown(void **state)
{
	move_host_end(&from);
	move_host_end(&to);
	return 0;
}

static void *save(struct move_host *host, size_t *bytes)
{
	void *state;

	ghyvi_vgpu_pause(host->vgpu);
	assert_int_equal(
		ghyvi_vgpu_save(host->vgpu, owner_state, sizeof(owner_state), &state, bytes), 0);
	assert_true(*bytes <= GHYVI_STATE_BYTES_MAX);
	return state;
}

static int load(struct move_host *host, const void *state, size_t bytes)
{
	u64 owner[2] = {};
	void *copy = malloc(bytes ?: 1); /* so that ASan sees reads beyond its end */
	int err;

	memcpy(copy, state, bytes);
	err = ghyvi_vgpu_load(host->vgpu, copy, bytes, owner, sizeof(owner));
	free(copy);
	if (!err)
		assert_memory_equal(owner, owner_state, sizeof(owner));
	return err;
}

static void move(void)
{
	u32 pinned = to.pinned;
	size_t bytes;
	void *state = save(&from, &bytes);

	assert_int_equal(load(&to, state, bytes), 0);
	free(state);
	ghyvi_vgpu_reset(from.vgpu);
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	assert_int_equal(to.pinned, pinned); /* guest memory may not be there yet */
	ghyvi_vgpu_resume(to.vgpu);
}

static void test_running_workloads_end_on_the_other_host(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		move_begin_waiting(&from, i, false);
	move();
	for (i = 0; i < GHYVI_ENGINES; i++)
		move_end_waiting(&to, i);
	/* The context status of each: promoted, complete. */
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_int_equal(READ_ONCE(move_page(MOVE_STATUS + i)[HWSP_CSB_WRITE / 4]), 1);
	assert_true(to.interrupts);
}

/* What the commands were at the audit counts, not what memory says at the target. */
static void test_audited_commands_travel(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, false);
	ghyvi_vgpu_pause(from.vgpu);
	memset(move_page(MOVE_BATCHES), 0xff, GHYVI_PAGE_BYTES);
	memset(move_page(MOVE_RINGS), 0xff, GHYVI_PAGE_BYTES);
	move();
	move_end_waiting(&to, GHYVI_RCS);
}

static void test_user_batches_travel_in_each_mode(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, true);
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "full"), 0);
	move_begin_waiting(&from, GHYVI_BCS, true);
	move();
	move_end_waiting(&to, GHYVI_RCS);
	move_end_waiting(&to, GHYVI_BCS);
}

static void test_a_loaded_context_can_get_a_new_tail(void **state)
{
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "full"), 0);
	move_begin_waiting(&from, GHYVI_RCS, true);
	ghyvi_vgpu_pause(from.vgpu);
	MOVE_RING(0, MOVE_CALL_USER(1));
	MOVE_BATCH(1, MOVE_STORE(0, 9, 9), MOVE_BATCH_END);
	move_submit(&from, GHYVI_RCS, 0);
	move();
	move_end_waiting(&to, GHYVI_RCS);
	move_await(move_data(0, 9), 9);
}

/* Registers of contexts that wait, submissions that are pending, half a submission. */
static void test_ports_travel(void **state)
{
	move_begin_waiting(&from, GHYVI_RCS, false);
	MOVE_RING(1, MOVE_STORE(1, 1, 77));
	move_submit(&from, GHYVI_RCS, 1);
	move_wr(&from, GHYVI_BLITTER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_BLITTER_BASE + RING_ELSP, 0);
	move();
	assert_int_equal(READ_ONCE(*move_data(1, 1)), 0);
	move_end_waiting(&to, GHYVI_RCS);
	move_await(move_data(1, 1), 77);
	MOVE_RING(2, MOVE_STORE(2, 1, 78));
	move_wr(&to, GHYVI_BLITTER_BASE + RING_ELSP, upper_32_bits(move_descriptor(2)));
	move_wr(&to, GHYVI_BLITTER_BASE + RING_ELSP, lower_32_bits(move_descriptor(2)));
	move_await(move_data(2, 1), 78);
}

static void test_the_guest_sees_the_same_device(void **state)
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
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
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
static void test_the_clock_goes_on(void **state)
{
	u64 before, after;

	from.vgpu->clock_offset_ns = 5000000ull * GHYVI_CLOCK_STEP_NS;
	before = timestamp(&from);
	move();
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
	.budget = { 1 << 16, 2000, 10, 2000 },
	.containment = { 1000, 50, 120000 },
};

static const struct settings loose = {
	.policy = "nested",
	.audit = "log",
	.tuning = { 0, 0, 0, 200, 4, 100, 400 },
	.knobs = { 300, 0, 7 },
	.budget = { 1 << 20, 20000, 100, 20000 },
	.containment = { 0, 0, 5000 },
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
	ghyvi_gtt_tuning(ghyvi_vgpu_gtt(host->vgpu), &got.tuning);
	assert_int_equal(got.tuning.idle_pins, settings->tuning.idle_pins);
	assert_int_equal(got.tuning.tables_max, settings->tuning.tables_max);
	ghyvi_sched_knobs(ghyvi_vgpu_sched_entity(host->vgpu), &got.knobs);
	assert_memory_equal(&got.knobs, &settings->knobs, sizeof(got.knobs));
	ghyvi_audit_budget(audit, &got.budget);
	assert_memory_equal(&got.budget, &settings->budget, sizeof(got.budget));
	ghyvi_vgpu_containment(host->vgpu, &got.containment);
	assert_memory_equal(&got.containment, &settings->containment, sizeof(got.containment));
}

static void test_settings_and_containment_travel(void **state)
{
	struct ghyvi_shadow_tuning tuning;

	set_all(&from, &strict);
	set_all(&to, &loose);
	ghyvi_vgpu_set_check(to.vgpu, true);
	from.vgpu->violation_points = 17;
	move();
	assert_true(ghyvi_vgpu_check(to.vgpu));
	has_all(&to, &strict);
	ghyvi_gtt_tuning(ghyvi_vgpu_gtt(to.vgpu), &tuning);
	assert_int_equal(tuning.static_pages, strict.tuning.static_pages);
	assert_int_equal(tuning.oos_threshold, strict.tuning.oos_threshold);
	assert_int_equal(to.vgpu->violation_points, 17);
}

/* The program that loads a state is not the administrator. */
static void test_a_state_loosens_no_limit(void **state)
{
	set_all(&from, &loose);
	set_all(&to, &strict);
	ghyvi_vgpu_set_check(from.vgpu, true); /* a check of the host takes its time */
	move();
	has_all(&to, &strict);
	assert_false(ghyvi_vgpu_check(to.vgpu));
}

/* The next user of the vGPU is another one. */
static void test_loaded_settings_end_with_their_user(void **state)
{
	struct ghyvi_sched_entity *entity = ghyvi_vgpu_sched_entity(to.vgpu);
	struct ghyvi_sched_knobs knobs;
	struct settings expected = loose;
	size_t bytes;
	void *saved;

	set_all(&from, &strict);
	set_all(&to, &loose);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
	has_all(&to, &strict);
	assert_int_equal(load(&to, saved, bytes), 0); /* the first one is not what was before */
	/* The administrator changes a setting. */
	ghyvi_sched_knobs(entity, &knobs);
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
	assert_int_equal(load(&to, saved, bytes), 0);
	free(saved);
	set_all(&from, &loose);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
	has_all(&to, &loose);
	free(saved);
}

static void test_a_refused_state_changes_no_setting(void **state)
{
	size_t bytes;
	void *saved;

	set_all(&from, &strict);
	set_all(&to, &loose);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes - sizeof(struct state_header)), -EINVAL);
	has_all(&to, &loose);
	free(saved);
}

/* Commands that "log" let pass run only where the administrator has set that mode. */
static void test_commands_are_audited_again_without_log(void **state)
{
	struct vgpu_workload *workload;
	size_t bytes;
	void *saved;

	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(from.vgpu), "log"), 0);
	move_begin_waiting(&from, GHYVI_RCS, true);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
	workload = to.vgpu->engines[GHYVI_RCS].workload;
	assert_int_equal(workload->base.job.commands->mode, GHYVI_AUDIT_FULL);
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(to.vgpu), "log"), 0);
	assert_int_equal(load(&to, saved, bytes), 0);
	workload = to.vgpu->engines[GHYVI_RCS].workload;
	assert_int_equal(workload->base.job.commands->mode, GHYVI_AUDIT_LOG);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

static void test_an_interrupt_that_is_pending_is_sent_again(void **state)
{
	u32 before;

	MOVE_RING(0, MOVE_INTERRUPT);
	move_submit(&from, GHYVI_RCS, 0);
	move_await_idle(&from, GHYVI_RCS);
	before = from.interrupts;
	assert_int_equal(before, 1); /* the line stays high until the guest acknowledges */
	move();
	assert_int_equal(to.interrupts, 1);
}

/*
 * The guest waits for the interrupt: its handler accesses only the mirror, which does not trap. So
 * the pending bits are there when the VM runs, without an access to other registers.
 */
static void test_the_mirror_shows_a_pending_interrupt(void **state)
{
	const u32 *master;
	size_t bytes;
	void *saved;

	MOVE_RING(0, MOVE_INTERRUPT);
	move_submit(&from, GHYVI_RCS, 0);
	move_await_idle(&from, GHYVI_RCS);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
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

static void test_failsafe_travels(void **state)
{
	struct ghyvi_containment strict = { .points_max = 1, .window_ms = 60000 };

	assert_int_equal(ghyvi_vgpu_set_containment(from.vgpu, &strict), 0);
	MOVE_RING(0, 0x7fu << 23, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0);
	move_wr(&from, GHYVI_RENDER_BASE + RING_ELSP, 0x40000119); /* not its memory */
	while (!ghyvi_vgpu_failsafe(from.vgpu))
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	move();
	assert_true(ghyvi_vgpu_failsafe(to.vgpu));
	assert_int_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);
	ghyvi_vgpu_restart(to.vgpu);
	assert_int_not_equal(move_rd(&to, GHYVI_RENDER_BASE + RING_EIR), ~0u);
}

/* The source's migration was cancelled. */
static void test_the_source_can_go_on(void **state)
{
	size_t bytes;

	move_begin_waiting(&from, GHYVI_RCS, false);
	free(save(&from, &bytes));
	ghyvi_vgpu_resume(from.vgpu);
	move_end_waiting(&from, GHYVI_RCS);
}

static void test_the_size_is_bounded(void **state)
{
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu);
	size_t bytes, idle;
	unsigned int i;
	void *saved;

	/* i915 fills its part of the table with one entry. */
	for (i = 0; i < GHYVI_GGTT_TABLE_BYTES / 8; i++)
		table[i] = table[i] ?: 0x1234567001;
	free(save(&from, &idle));
	assert_true(idle < 64 << 10);
	ghyvi_vgpu_resume(from.vgpu);
	move_begin_waiting(&from, GHYVI_RCS, false);
	ghyvi_vgpu_pause(from.vgpu);
	for (i = 0; i < GHYVI_GGTT_TABLE_BYTES / 8; i++)
		table[i] = 2 * i + 2;
	for (i = 0; i < GHYVI_REGISTERS_BYTES / 4; i++)
		from.vgpu->registers[i] = i + 1;
	vgpu_pvinfo_reset(from.vgpu);
	saved = save(&from, &bytes);
	assert_true(bytes > 10 << 20 && bytes <= GHYVI_STATE_BYTES_MAX);
	assert_int_equal(load(&to, saved, bytes), 0);
	assert_non_null(to.vgpu->engines[GHYVI_RCS].workload);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

static void refused(void *saved, size_t bytes, const char *text, const char *other)
{
	assert_int_equal(load(&to, saved, bytes), -EINVAL);
	assert_non_null(strstr(move_report(&to), text));
	assert_non_null(strstr(move_report(&to), other));
	ghyvi_report_forget(&to.reporter);
}

static void test_foreign_states_are_refused_with_both_sides(void **state)
{
	size_t bytes;
	u8 *saved = save(&from, &bytes);
	struct state_identity *identity = (void *)saved;

	identity->major = 2;
	refused(saved, bytes, "format 2,", "reads format 1");
	identity->major = 1;
	identity->minor = 7;
	assert_int_equal(load(&to, saved, bytes), 0);
	identity->hidden_bytes = 0x5550000;
	refused(saved, bytes, "0x5550000", "0x400000");
	identity->hidden_bytes = MOVE_WINDOW_BYTES;
	strcpy(identity->type, "gen9\n_77");
	refused(saved, bytes, "gen9?_77", "this vGPU is");
	identity->type[0] = 0;
	identity->magic++;
	refused(saved, bytes, "not the state of a ghyvi", "0x");
	free(saved);
}

/* A driver that has read the capability uses it on the other host, or does not get there. */
static void test_multicall_travels_to_a_vgpu_that_offers_it(void **state)
{
	struct ghyvi_multicall_record *record = (void *)move_page(MOVE_DATA + 5);
	u64 *table = (u64 *)move_page(MOVE_PT);
	size_t bytes;
	void *saved;

	ghyvi_vgpu_set_multicall(from.vgpu, true);
	move_wr(&from, PVINFO_MULTICALL_LO, MOVE_RAM_GPA + (MOVE_DATA + 5) * GHYVI_PAGE_BYTES);
	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = save(&from, &bytes);
	refused(saved, bytes, "caps 0x1001c", "caps 0x1c");
	ghyvi_vgpu_set_multicall(to.vgpu, true);
	assert_int_equal(load(&to, saved, bytes), 0);
	ghyvi_vgpu_resume(to.vgpu);
	WRITE_ONCE(*move_data(0, 0), 1);
	move_await_idle(&to, GHYVI_RCS);
	record->address = MOVE_RAM_GPA + MOVE_PT * GHYVI_PAGE_BYTES + 8 * 63;
	record->value = 0;
	assert_true(table[63]);
	move_wr(&to, PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 1);
	assert_true(record->address == (GHYVI_MULTICALL_DONE | 1));
	assert_false(table[63]);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

/* The loaded vGPU runs, and is reset. Nothing may happen to the host. */
static void use(struct move_host *host)
{
	unsigned int i;

	ghyvi_vgpu_set_bar0(host->vgpu, MOVE_BAR0_GPA);
	ghyvi_vgpu_resume(host->vgpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		WRITE_ONCE(*move_data(i, 0), 1);
	ghyvi_vgpu_pause(host->vgpu);
	for (i = 0; i < 0x100; i += 4)
		move_rd(host, GHYVI_RENDER_BASE + 0x200 + i);
}

static void test_truncated_states_are_refused(void **state)
{
	size_t bytes, n;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = save(&from, &bytes);
	for (n = 0; n < bytes; n += n < 400 || n > bytes - 400 ? 1 : 97)
		assert_int_equal(load(&to, saved, n), -EINVAL);
	assert_int_equal(load(&to, saved, bytes), 0);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

/* A changed byte is refused, or it is what a guest or its administrator could have set. */
static void test_changed_states_are_harmless(void **state)
{
	unsigned int round, accepted = 0, rejected = 0;
	size_t bytes, at;
	u8 *saved, old;

	srand(5);
	move_begin_waiting(&from, GHYVI_RCS, false);
	move_begin_waiting(&from, GHYVI_BCS, true);
	saved = save(&from, &bytes);
	for (round = 0; round < 1500; round++) {
		if (round % 100 == 0)
			bound_case(__func__); /* there is progress */
		at = rand() % bytes;
		old = saved[at];
		saved[at] = round % 2 ? old ^ 1u << rand() % 8 : (u8)rand();
		if (load(&to, saved, bytes)) {
			rejected++;
		} else {
			accepted++;
			use(&to);
		}
		saved[at] = old;
		assert_int_equal(atomic64_read(&to.stats.oracle_violations), 0);
	}
	assert_true(accepted && rejected);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
	ghyvi_vgpu_reset(to.vgpu);
}

/* The payload of the first section of this type. */
static void *section(void *saved, enum state_section type)
{
	struct state_header *header = saved + GHYVI_STATE_IDENTITY_BYTES;

	while (header->type != type) {
		assert_int_not_equal(header->type, STATE_END);
		header = (void *)(header + 1) + header->bytes;
	}
	return header + 1;
}

/* A VM reads the state of the vGPU that it has opened after another VM. */
static void test_a_state_has_nothing_of_the_former_user(void **state)
{
	size_t bytes, new_bytes;
	void *used, *new;
	unsigned int i;

	move_begin_waiting(&from, GHYVI_RCS, false);
	MOVE_RING(1, MOVE_STORE(1, 1, 77));
	move_submit(&from, GHYVI_RCS, 1);
	for (i = 0; i < 3; i++)
		move_wr(&from, GHYVI_BLITTER_BASE + RING_ELSP, 0x1234567);
	move_wr(&from, PVINFO_PDP0_LO, 0x89abc000);
	ghyvi_vgpu_reset(from.vgpu);
	used = save(&from, &bytes);
	new = save(&to, &new_bytes);
	((struct state_machine *)section(used, STATE_MACHINE))->clock_ns = 0;
	((struct state_machine *)section(new, STATE_MACHINE))->clock_ns = 0;
	assert_int_equal(bytes, new_bytes);
	assert_memory_equal(used, new, bytes);
	free(used);
	free(new);
}

/* A save begins with a small buffer, and repeats itself with the largest. */
static void test_workloads_of_any_size_of_state_are_saved(void **state)
{
	const size_t first_buffer = 64 << 10;
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu) + GHYVI_GGTT_TABLE_BYTES / 2;
	size_t idle, bytes, i, words;
	struct state_engine *engine;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = save(&from, &idle);
	free(saved);
	for (words = (first_buffer - 2 * idle) / 8, i = 0; words * 8 < first_buffer; words += 16) {
		for (; i < words; i++)
			table[i] = 2 * i + 2;
		saved = save(&from, &bytes);
		assert_int_equal(bytes, idle + sizeof(struct state_run) + 8 * words);
		engine = section(saved, STATE_ENGINE);
		assert_int_equal(engine->id, GHYVI_RCS);
		assert_int_equal(engine->workload, 1);
		free(saved);
	}
	memset(table, 0, 8 * i);
	ghyvi_vgpu_resume(from.vgpu);
	move_end_waiting(&from, GHYVI_RCS);
}

/* Tables are loaded over words that are 0. */
static void test_nothing_of_the_former_tables_is_left(void **state)
{
	u64 *theirs = ghyvi_vgpu_ggtt_table(to.vgpu), *ours = ghyvi_vgpu_ggtt_table(from.vgpu);
	const u32 direct = 0x81234;
	size_t bytes;
	void *saved = save(&from, &bytes);

	memset(theirs, 0xa5, GHYVI_GGTT_TABLE_BYTES);
	to.vgpu->registers[direct / 4] = 0xa5a5a5a5;
	vgpu_set(to.vgpu, GEN8_GT_ISR0 + IRQ_IER, 0xa5a5a5a5);
	vgpu_set(from.vgpu, GEN8_GT_ISR0 + IRQ_IER, 0);
	free(saved);
	saved = save(&from, &bytes);
	assert_int_equal(load(&to, saved, bytes), 0);
	free(saved);
	assert_memory_equal(theirs, ours, GHYVI_GGTT_TABLE_BYTES);
	assert_int_equal(move_rd(&to, direct), 0);
	assert_int_equal(move_rd(&to, GEN8_GT_ISR0 + IRQ_IER), 0);
	assert_int_equal(*(u32 *)(ghyvi_vgpu_register_page(to.vgpu, GEN8_GT_ISR0) +
				  (GEN8_GT_ISR0 + IRQ_IER) % GHYVI_PAGE_BYTES),
			 0);
	memset(theirs, 0xa5, GHYVI_GGTT_TABLE_BYTES);
	ghyvi_vgpu_reset(to.vgpu);
	for (bytes = 0; bytes < GHYVI_GGTT_TABLE_BYTES / 8; bytes++)
		assert_true(!theirs[bytes]);
	ghyvi_vgpu_reset(from.vgpu);
}

/* Failsafe state drops all workloads. A state that has both must not make one run. */
static void test_nothing_runs_in_failsafe_state(void **state)
{
	struct state_machine *machine;
	size_t bytes;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = save(&from, &bytes);
	machine = section(saved, STATE_MACHINE);
	machine->failsafe = 1;
	assert_int_equal(load(&to, saved, bytes), -EINVAL);
	machine->failsafe = 0;
	assert_int_equal(load(&to, saved, bytes), 0);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

/* A command of the batch that the workload is in is changed to one that the audit refuses. */
static void test_refused_commands_are_not_where_a_workload_is(void **state)
{
	const u32 gpr = GHYVI_RENDER_BASE + GEN8_RING_CS_GPR;
	unsigned int changed = 0;
	size_t bytes, i;
	u32 *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = save(&from, &bytes);
	for (i = 0; i + 1 < bytes / 4; i++)
		if (saved[i] == (0x24u << 23 | 2) && saved[i + 1] == gpr) {
			saved[i + 1] = gpr | 0x690000;
			changed++;
		}
	assert_int_equal(changed, 1);
	assert_int_equal(load(&to, saved, bytes), -EINVAL);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

static bool submit_after_reset;

/* Another thread of the VMM, as soon as the load has reset the vGPU. */
static void another_thread(struct ghyvi_reporter *reporter)
{
	unsigned int i;

	if (!submit_after_reset)
		return;
	submit_after_reset = false;
	move_guest_begin(&to);
	MOVE_RING(0, MOVE_CALL(0));
	MOVE_BATCH(0, MOVE_STORE(0, 2, 2), MOVE_AWAIT(0, 0, 1), MOVE_BATCH_END);
	move_submit(&to, GHYVI_RCS, 0);
	for (i = 0; i < 100 && READ_ONCE(*move_data(0, 2)) != 2; i++)
		usleep_range(1000, 1100);
}

static void watch_resets(struct ghyvi_vgpu_params *params)
{
	params->event = another_thread;
}

/* A workload that the state does not know would complete an element that is not there. */
static void test_no_workload_of_others_gets_into_a_load(void **state)
{
	size_t bytes;
	void *saved;

	move_host_end(&to);
	move_host_begin(&to, watch_resets);
	saved = save(&from, &bytes);
	submit_after_reset = true;
	assert_int_equal(load(&to, saved, bytes), 0);
	assert_false(submit_after_reset);
	free(saved);
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	WRITE_ONCE(*move_data(0, 0), 1);
	ghyvi_vgpu_resume(to.vgpu);
	usleep_range(50000, 51000);
	assert_int_equal(atomic64_read(&to.stats.queued_rcs_now), 0);
	assert_int_equal(atomic64_read(&to.stats.workloads), 0);
}

/* Back and forth under load, at any moment. */
static void test_many_moves_under_load(void **state)
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
			saved = save(a, &bytes);
			assert_int_equal(load(b, saved, bytes), 0);
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_running_workloads_end_on_the_other_host),
		TEST(test_audited_commands_travel),
		TEST(test_user_batches_travel_in_each_mode),
		TEST(test_a_loaded_context_can_get_a_new_tail),
		TEST(test_ports_travel),
		TEST(test_the_guest_sees_the_same_device),
		TEST(test_multicall_travels_to_a_vgpu_that_offers_it),
		TEST(test_the_clock_goes_on),
		TEST(test_settings_and_containment_travel),
		TEST(test_a_state_loosens_no_limit),
		TEST(test_loaded_settings_end_with_their_user),
		TEST(test_a_refused_state_changes_no_setting),
		TEST(test_commands_are_audited_again_without_log),
		TEST(test_an_interrupt_that_is_pending_is_sent_again),
		TEST(test_the_mirror_shows_a_pending_interrupt),
		TEST(test_failsafe_travels),
		TEST(test_the_source_can_go_on),
		TEST(test_the_size_is_bounded),
		TEST(test_foreign_states_are_refused_with_both_sides),
		TEST(test_truncated_states_are_refused),
		TEST(test_changed_states_are_harmless),
		TEST(test_a_state_has_nothing_of_the_former_user),
		TEST(test_workloads_of_any_size_of_state_are_saved),
		TEST(test_nothing_of_the_former_tables_is_left),
		TEST(test_nothing_runs_in_failsafe_state),
		TEST(test_refused_commands_are_not_where_a_workload_is),
		TEST(test_no_workload_of_others_gets_into_a_load),
		TEST(test_many_moves_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
