// SPDX-License-Identifier: GPL-2.0-only
/*
 * The saved state of a vGPU as a VMM reads and supplies it: its size, what it contains of others,
 * and states that were truncated, changed, or are foreign.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi/multicall.h>
#include "bounded.h"
#include "move_pair.h"
#include "vgpu/state_io.h"

static void the_size_is_bounded(void **state)
{
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu);
	size_t bytes, idle;
	unsigned int i;
	void *saved;

	/* i915 fills its part of the table with one entry. */
	for (i = 0; i < GHYVI_GGTT_TABLE_BYTES / 8; i++)
		table[i] = table[i] ?: 0x1234567001;
	free(pair_save(&from, &idle));
	assert_true(idle < 64 << 10);
	ghyvi_vgpu_resume(from.vgpu);
	move_begin_waiting(&from, GHYVI_RCS, false);
	ghyvi_vgpu_pause(from.vgpu);
	for (i = 0; i < GHYVI_GGTT_TABLE_BYTES / 8; i++)
		table[i] = 2 * i + 2;
	for (i = 0; i < GHYVI_REGISTERS_BYTES / 4; i++)
		from.vgpu->registers[i] = i + 1;
	vgpu_pvinfo_reset(from.vgpu);
	saved = pair_save(&from, &bytes);
	assert_true(bytes > 10 << 20 && bytes <= GHYVI_STATE_BYTES_MAX);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	assert_non_null(to.vgpu->engines[GHYVI_RCS].workload);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

static void refused(void *saved, size_t bytes, const char *text, const char *other)
{
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	assert_non_null(strstr(move_report(&to), text));
	assert_non_null(strstr(move_report(&to), other));
	ghyvi_report_forget(&to.reporter);
}

static void foreign_states_are_refused_with_both_sides(void **state)
{
	size_t bytes;
	u8 *saved = pair_save(&from, &bytes);
	struct state_identity *identity = (void *)saved;

	identity->major = 2;
	refused(saved, bytes, "format 2,", "reads format 1");
	identity->major = 1;
	identity->minor = 7;
	assert_int_equal(pair_load(&to, saved, bytes), 0);
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
static void multicall_travels_to_a_vgpu_that_offers_it(void **state)
{
	struct ghyvi_multicall_record *record = (void *)move_page(MOVE_DATA + 5);
	u64 *table = (u64 *)move_page(MOVE_PT);
	size_t bytes;
	void *saved;

	ghyvi_vgpu_set_multicall(from.vgpu, true);
	move_wr(&from, PVINFO_MULTICALL_LO, MOVE_RAM_GPA + (MOVE_DATA + 5) * GHYVI_PAGE_BYTES);
	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = pair_save(&from, &bytes);
	refused(saved, bytes, "caps 0x1001c", "caps 0x1c");
	ghyvi_vgpu_set_multicall(to.vgpu, true);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
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

static void truncated_states_are_refused(void **state)
{
	size_t bytes, n;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = pair_save(&from, &bytes);
	for (n = 0; n < bytes; n += n < 400 || n > bytes - 400 ? 1 : 97)
		assert_int_equal(pair_load(&to, saved, n), -EINVAL);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
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

/* A changed byte is refused, or it is what a guest or its administrator could have set. */
static void changed_states_are_harmless(void **state)
{
	unsigned int round, accepted = 0, rejected = 0;
	size_t bytes, at, owner;
	u8 *saved, old;

	srand(5);
	move_begin_waiting(&from, GHYVI_RCS, false);
	move_begin_waiting(&from, GHYVI_BCS, true);
	saved = pair_save(&from, &bytes);
	for (round = 0; round < 1500; round++) {
		if (round % 100 == 0)
			bound_case(__func__); /* there is progress */
		at = rand() % bytes;
		owner = (u8 *)section(saved, STATE_DEVICE) - saved;
		if (at >= owner && at < owner + 16)
			continue; /* pair_load() compares the owner's part */
		old = saved[at];
		saved[at] = round % 2 ? old ^ 1u << rand() % 8 : (u8)rand();
		if (pair_load(&to, saved, bytes)) {
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

/* A VM reads the state of the vGPU that it has opened after another VM. */
static void a_state_has_nothing_of_the_former_user(void **state)
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
	used = pair_save(&from, &bytes);
	new = pair_save(&to, &new_bytes);
	((struct state_machine *)section(used, STATE_MACHINE))->clock_ns = 0;
	((struct state_machine *)section(new, STATE_MACHINE))->clock_ns = 0;
	assert_int_equal(bytes, new_bytes);
	assert_memory_equal(used, new, bytes);
	free(used);
	free(new);
}

/* A save begins with a small buffer, and repeats itself with the largest. */
static void workloads_of_any_size_of_state_are_saved(void **state)
{
	const size_t first_buffer = 64 << 10;
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu) + GHYVI_GGTT_TABLE_BYTES / 2;
	size_t idle, bytes, i, words;
	struct state_engine *engine;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = pair_save(&from, &idle);
	free(saved);
	for (words = (first_buffer - 2 * idle) / 8, i = 0; words * 8 < first_buffer; words += 16) {
		for (; i < words; i++)
			table[i] = 2 * i + 2;
		saved = pair_save(&from, &bytes);
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
static void nothing_of_the_former_tables_is_left(void **state)
{
	u64 *theirs = ghyvi_vgpu_ggtt_table(to.vgpu), *ours = ghyvi_vgpu_ggtt_table(from.vgpu);
	const u32 direct = 0x81234;
	size_t bytes;
	void *saved = pair_save(&from, &bytes);

	memset(theirs, 0xa5, GHYVI_GGTT_TABLE_BYTES);
	to.vgpu->registers[direct / 4] = 0xa5a5a5a5;
	vgpu_set(to.vgpu, GEN8_GT_ISR0 + IRQ_IER, 0xa5a5a5a5);
	vgpu_set(from.vgpu, GEN8_GT_ISR0 + IRQ_IER, 0);
	free(saved);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
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
static void nothing_runs_in_failsafe_state(void **state)
{
	struct state_machine *machine;
	size_t bytes;
	void *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = pair_save(&from, &bytes);
	machine = section(saved, STATE_MACHINE);
	for (machine->failsafe = 1; machine->failsafe <= 3; machine->failsafe++)
		assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	machine->failsafe = 0;
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

/* @saved without its first section of @type */
static size_t cut_section(void *saved, size_t bytes, enum state_section type)
{
	struct state_header *header = (struct state_header *)section(saved, type) - 1;
	size_t cut = sizeof(*header) + header->bytes;
	u8 *at = (u8 *)header;

	memmove(at, at + cut, (u8 *)saved + bytes - at - cut);
	return bytes - cut;
}

/* A ghyvi of version 1.0 refuses a machine with another number, and skips what is optional. */
static void failsafe_state_that_drains_can_go_to_an_older_ghyvi(void **state)
{
	struct ghyvi_containment strict = { .points_max = 1, .window_ms = 60000 };
	struct state_failsafe *failsafe;
	struct state_machine *machine;
	size_t bytes;
	void *saved;

	assert_int_equal(ghyvi_vgpu_set_containment(from.vgpu, &strict), 0);
	mutex_lock(&from.vgpu->lock);
	from.vgpu->failsafe = true;
	from.vgpu->violation_points = 2;
	from.vgpu->points_drained_ns = ktime_get_ns();
	mutex_unlock(&from.vgpu->lock);
	ghyvi_vgpu_reset(from.vgpu);
	saved = pair_save(&from, &bytes);
	machine = section(saved, STATE_MACHINE);
	assert_int_equal(machine->failsafe, 1);
	failsafe = section(saved, STATE_FAILSAFE);
	assert_int_equal(failsafe->drains, 1);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	assert_true(to.vgpu->failsafe_drains);
	failsafe->drains = 2;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	failsafe->drains = 1;
	machine->failsafe = 0;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	machine->failsafe = 1;
	/* As from an older one: it ends with the next reset. */
	bytes = cut_section(saved, bytes, STATE_FAILSAFE);
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	assert_true(to.vgpu->failsafe && !to.vgpu->failsafe_drains);
	free(saved);
}

/* Otherwise failsafe state would outlast all reboots. */
static void points_of_a_state_drain_within_a_window(void **state)
{
	struct ghyvi_containment strict = { .points_max = 7, .window_ms = 60000 };
	struct state_machine *machine;
	size_t bytes;
	void *saved;

	assert_int_equal(ghyvi_vgpu_set_containment(from.vgpu, &strict), 0);
	saved = pair_save(&from, &bytes);
	machine = section(saved, STATE_MACHINE);
	machine->failsafe = 1;
	machine->violation_points = ~0u;
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	assert_int_equal(to.vgpu->violation_points, 2 * 7);
	free(saved);
	ghyvi_vgpu_reset(to.vgpu);
	assert_true(ghyvi_vgpu_is_failsafe(to.vgpu));
	mutex_lock(&to.vgpu->lock);
	to.vgpu->points_drained_ns -= 60 * NSEC_PER_SEC;
	mutex_unlock(&to.vgpu->lock);
	assert_false(ghyvi_vgpu_is_failsafe(to.vgpu));
}

/* Loads a state that has @changed instead of its settings, and @more bytes after them. */
static int load_with(const void *saved, size_t bytes, const struct state_settings *changed,
		     size_t more)
{
	char *state = calloc(1, bytes + more);
	struct state_header *header;
	size_t end;
	int ret;

	memcpy(state, saved, bytes);
	header = (struct state_header *)section(state, STATE_SETTINGS) - 1;
	end = (char *)(header + 1) + header->bytes - state;
	memcpy(header + 1, changed, sizeof(*changed));
	memset(state + end, 0, more);
	memcpy(state + end + more, (const char *)saved + end, bytes - end);
	header->bytes += more;
	ret = pair_load(&to, state, bytes + more);
	free(state);
	return ret;
}

static void a_state_with_one_wrong_setting_is_refused(void **state)
{
	struct state_settings good, changed;
	size_t bytes;
	void *saved = pair_save(&from, &bytes);

	good = *(struct state_settings *)section(saved, STATE_SETTINGS);
	assert_int_equal(load_with(saved, bytes, &good, 0), 0);
	assert_int_equal(load_with(saved, bytes, &good, 8), -EINVAL);
	changed = good;
	changed.self_check = 2;
	assert_int_equal(load_with(saved, bytes, &changed, 0), -EINVAL);
	changed = good;
	memset(changed.policy, 'x', sizeof(changed.policy));
	assert_int_equal(load_with(saved, bytes, &changed, 0), -EINVAL);
	changed = good;
	memset(changed.audit, 'x', sizeof(changed.audit));
	assert_int_equal(load_with(saved, bytes, &changed, 0), -EINVAL);
	changed = good;
	changed.budget_minsn = GHYVI_BUDGET_MAX_MINSN + 1;
	assert_int_equal(load_with(saved, bytes, &changed, 0), -EINVAL);
	free(saved);
}

/* 0 is no limit, and what older states have. */
static void the_lower_budget_of_instructions_applies(void **state)
{
	static const u32 budgets[][3] = { { 0, 0, 0 }, { 0, 5, 5 }, { 5, 0, 5 }, { 5, 7, 5 } };
	struct ghyvi_containment limits = GHYVI_CONTAINMENT_DEFAULT;
	struct state_settings settings;
	size_t bytes;
	unsigned int i;
	void *saved = pair_save(&from, &bytes);

	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		settings = *(struct state_settings *)section(saved, STATE_SETTINGS);
		settings.budget_minsn = budgets[i][0];
		limits.budget_minsn = budgets[i][1];
		assert_int_equal(ghyvi_vgpu_set_containment(to.vgpu, &limits), 0);
		assert_int_equal(load_with(saved, bytes, &settings, 0), 0);
		ghyvi_vgpu_get_containment(to.vgpu, &limits);
		assert_int_equal(limits.budget_minsn, budgets[i][2]);
	}
	limits.budget_minsn = 0;
	assert_int_equal(ghyvi_vgpu_set_containment(to.vgpu, &limits), 0);
	free(saved);
}

/* A command of the batch that the workload is in is changed to one that the audit refuses. */
static void refused_commands_are_not_where_a_workload_is(void **state)
{
	const u32 gpr = GHYVI_RENDER_BASE + GEN8_RING_CS_GPR;
	unsigned int changed = 0;
	size_t bytes, i;
	u32 *saved;

	move_begin_waiting(&from, GHYVI_RCS, false);
	saved = pair_save(&from, &bytes);
	for (i = 0; i + 1 < bytes / 4; i++)
		if (saved[i] == (0x24u << 23 | 2) && saved[i + 1] == gpr) {
			saved[i + 1] = gpr | 0x690000;
			changed++;
		}
	assert_int_equal(changed, 1);
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	free(saved);
	ghyvi_vgpu_reset(from.vgpu);
}

/* @saved with an empty section of @type before its end */
static int load_with_section(const void *saved, size_t bytes, u32 type)
{
	const struct state_header new = { .type = type }, end = { .type = STATE_END };
	u8 *state = malloc(bytes + sizeof(new));
	int ret;

	memcpy(state, saved, bytes);
	((struct state_identity *)state)->minor = STATE_MINOR + 1;
	memcpy(state + bytes - sizeof(end), &new, sizeof(new));
	memcpy(state + bytes, &end, sizeof(end));
	ret = pair_load(&to, state, bytes + sizeof(new));
	free(state);
	return ret;
}

static void what_a_newer_state_has_more_is_optional_or_refused(void **state)
{
	size_t bytes;
	void *saved = pair_save(&from, &bytes);

	assert_int_equal(load_with_section(saved, bytes, STATE_OPTIONAL | 77), 0);
	assert_int_equal(load_with_section(saved, bytes, 77), -EINVAL);
	assert_non_null(strstr(move_report(&to), "minor version 5, this ghyvi has 4"));
	free(saved);
}

#define STATES "states"

/*
 * A guest that ghyvi saved in a former format goes on. The states were saved in the middle of a
 * batch; GHYVI_RENEW=1 writes that of the present format.
 */
static void states_of_all_formats_are_loaded(void **state)
{
	u8 *saved = malloc(GHYVI_STATE_BYTES_MAX);
	struct dirent *entry;
	char path[512];
	size_t bytes;
	DIR *folder;

	move_begin_waiting(&from, GHYVI_RCS, true);
	if (getenv("GHYVI_RENEW")) {
		u8 *now = pair_save(&from, &bytes);
		FILE *file;

		snprintf(path, sizeof(path), STATES "/%u.%u", STATE_MAJOR, STATE_MINOR);
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(now, 1, bytes, file), bytes);
		assert_int_equal(fclose(file), 0);
		free(now);
	}
	ghyvi_vgpu_pause(from.vgpu);
	ghyvi_vgpu_reset(from.vgpu);
	folder = opendir(STATES);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), STATES "/%s", entry->d_name);
		file = fopen(path, "rb");
		assert_non_null(file);
		bytes = fread(saved, 1, GHYVI_STATE_BYTES_MAX, file);
		fclose(file);
		assert_int_equal(pair_load(&to, saved, bytes), 0);
		*move_data(GHYVI_RCS, 0) = 0;
		*move_data(GHYVI_RCS, 3) = 0;
		*move_data(GHYVI_RCS, 4) = 0;
		ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
		ghyvi_vgpu_resume(to.vgpu);
		assert_int_not_equal(atomic64_read(&to.stats.queued_rcs_now), 0);
		move_end_waiting(&to, GHYVI_RCS);
		move_await_idle(&to, GHYVI_RCS);
		ghyvi_vgpu_reset(to.vgpu);
	}
	closedir(folder);
	free(saved);
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
static void no_workload_of_others_gets_into_a_load(void **state)
{
	size_t bytes;
	void *saved;

	move_host_end(&to);
	move_host_begin(&to, watch_resets);
	saved = pair_save(&from, &bytes);
	submit_after_reset = true;
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	assert_false(submit_after_reset);
	free(saved);
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	WRITE_ONCE(*move_data(0, 0), 1);
	ghyvi_vgpu_resume(to.vgpu);
	usleep_range(50000, 51000);
	assert_int_equal(atomic64_read(&to.stats.queued_rcs_now), 0);
	assert_int_equal(atomic64_read(&to.stats.workloads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(multicall_travels_to_a_vgpu_that_offers_it),
		PAIR_TEST(the_size_is_bounded),
		PAIR_TEST(foreign_states_are_refused_with_both_sides),
		PAIR_TEST(truncated_states_are_refused),
		PAIR_TEST(changed_states_are_harmless),
		PAIR_TEST(a_state_has_nothing_of_the_former_user),
		PAIR_TEST(workloads_of_any_size_of_state_are_saved),
		PAIR_TEST(nothing_of_the_former_tables_is_left),
		PAIR_TEST(nothing_runs_in_failsafe_state),
		PAIR_TEST(failsafe_state_that_drains_can_go_to_an_older_ghyvi),
		PAIR_TEST(points_of_a_state_drain_within_a_window),
		PAIR_TEST(a_state_with_one_wrong_setting_is_refused),
		PAIR_TEST(the_lower_budget_of_instructions_applies),
		PAIR_TEST(refused_commands_are_not_where_a_workload_is),
		PAIR_TEST(what_a_newer_state_has_more_is_optional_or_refused),
		PAIR_TEST(states_of_all_formats_are_loaded),
		PAIR_TEST(no_workload_of_others_gets_into_a_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
