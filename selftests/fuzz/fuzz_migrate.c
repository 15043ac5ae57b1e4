// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU loads an arbitrary state, and goes on with it. The first byte of the input chooses: the
 * rest is the state, or the rest edits a state that a guest with running workloads had, or one in
 * the middle of a thread group.
 */
#include <sys/mman.h>
#include <ghyvi/shadow_policy.h>
#include "../unit/compute_unit.h"
#include "../unit/move_fixture.h"
#include "../unit/rule.h"
#include "input.h"

#define BASES 3
#define GROUP_BASE 0xff /* of the input's first byte */
#define GROUP_BYTES 512u
#define OWNER_BYTES 16
#define EDITS_MAX 64
/* Inputs after which the memory of the vGPU's tables is given back */
#define TRIM_INPUTS 4096

static struct move_host host;
static struct {
	u8 *state;
	size_t bytes;
} bases[BASES + 1]; /* the last one: in a thread group */

/* The settings of the vGPU, which loads restrict. */
static struct settings {
	struct ghyvi_shadow_tuning tuning;
	struct ghyvi_sched_knobs knobs;
	struct ghyvi_audit_budget budget;
	struct ghyvi_containment containment;
} settings;

static void get_settings(struct settings *to)
{
	memset(to, 0, sizeof(*to));
	ghyvi_gtt_get_tuning(ghyvi_vgpu_gtt(host.vgpu), &to->tuning);
	to->tuning.trap_ns = 0; /* measured */
	to->tuning.scan_ns = 0;
	to->tuning.protect_ns = 0;
	ghyvi_sched_get_knobs(ghyvi_vgpu_sched_entity(host.vgpu), &to->knobs);
	ghyvi_audit_get_budget(ghyvi_vgpu_audit(host.vgpu), &to->budget);
	ghyvi_vgpu_get_containment(host.vgpu, &to->containment);
}

static void init_settings(void)
{
	ASSERT(!ghyvi_audit_set_mode(ghyvi_vgpu_audit(host.vgpu), "privileged"));
	get_settings(&settings);
}

/* They are what they were before the load. */
static void require_settings(void)
{
	struct settings now;

	get_settings(&now);
	ASSERT(!memcmp(&now, &settings, sizeof(now)));
}

/* A state loosens no limit. */
static void check_settings(void)
{
	struct settings now;

	get_settings(&now);
	ASSERT(now.tuning.idle_pins <= settings.tuning.idle_pins);
	ASSERT(now.tuning.tables_max <= settings.tuning.tables_max);
	ASSERT(now.knobs.weight <= settings.knobs.weight);
	ASSERT(now.knobs.priority <= settings.knobs.priority);
	ASSERT(now.budget.budget_bytes <= settings.budget.budget_bytes);
	ASSERT(now.containment.budget_ms &&
	       now.containment.budget_ms <= settings.containment.budget_ms);
	ASSERT(now.containment.points_max &&
	       now.containment.points_max <= settings.containment.points_max);
}

static void give_way(struct unit *unit, struct ghyvi_eu_next *next)
{
	while (READ_ONCE(unit->worker->control->yield) != next->number)
		usleep_range(10, 20);
	unit_yield(unit, next, GROUP_BYTES, 0x5a);
}

static void begin_group(struct unit *unit)
{
	unit_start(unit, give_way);
	MOVE_RING(0, 0x7105000d, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 1, 1, 1, 0);
	move_submit(&host, GHYVI_RCS, 0);
	while (!unit->dispatches)
		usleep_range(10, 20);
}

/* An idle guest; one with two workloads in batches; one whose user batches are audited. */
static void make_base(unsigned int number)
{
	const u64 owner[OWNER_BYTES / 8] = { number };
	struct unit unit;
	void *state;

	ghyvi_vgpu_reset(host.vgpu);
	move_guest_begin(&host);
	ASSERT(!ghyvi_audit_set_mode(ghyvi_vgpu_audit(host.vgpu),
				     number == 2 ? "full" : "privileged"));
	if (number == BASES) {
		begin_group(&unit);
	} else if (number) {
		move_begin_waiting(&host, GHYVI_RCS, number == 2);
		move_begin_waiting(&host, GHYVI_BCS, true);
	}
	ghyvi_vgpu_pause(host.vgpu);
	ASSERT(!ghyvi_vgpu_save(host.vgpu, owner, sizeof(owner), &state, &bases[number].bytes));
	bases[number].state = state;
	if (number == BASES)
		unit_stop(&unit);
}

static size_t edit(u8 *state, size_t bytes)
{
	unsigned int i;
	u32 at;

	for (i = 0; i < EDITS_MAX && input.left >= 4; i++) {
		at = input_take(2) << 3 | input_take(1) >> 5;
		if (at & 0x40000)
			return at % bytes;
		state[at % bytes] ^= input_take(1);
	}
	return bytes;
}

static void use(void)
{
	unsigned int i;

	ghyvi_vgpu_set_bar0(host.vgpu, MOVE_BAR0_GPA);
	ghyvi_vgpu_resume(host.vgpu);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		WRITE_ONCE(*move_page(MOVE_DATA + i), 1);
		move_wr(&host, ghyvi_engine_base(i) + RING_ELSP, 0);
		move_rd(&host, ghyvi_engine_base(i) + RING_CSB_POINTER);
	}
	ghyvi_vgpu_pause(host.vgpu);
}

static void load(const u8 *state, size_t bytes)
{
	u64 owner[OWNER_BYTES / 8];
	void *saved;
	int err;

	err = ghyvi_vgpu_load(host.vgpu, state, bytes, owner, sizeof(owner));
	/* A state that is refused leaves the vGPU reset. One that is loaded touches no memory. */
	ASSERT(!atomic64_read(&host.stats.pinned_pages_now));
	if (err) {
		require_settings();
		return;
	}
	check_settings();
	use();
	ASSERT(!ghyvi_vgpu_save(host.vgpu, owner, sizeof(owner), &saved, &bytes));
	ASSERT(bytes <= GHYVI_STATE_BYTES_MAX);
	kvfree(saved);
	ghyvi_vgpu_reset(host.vgpu);
	ghyvi_vgpu_unload_settings(host.vgpu);
	require_settings();
	ASSERT(!atomic64_read(&host.stats.pinned_pages_now));
}

/*
 * A reset leaves the table of the GGTT empty. Without its memory the table is a page of zeros, and
 * a scan of it is fast until inputs have filled it.
 */
static void trim(void)
{
	void *table = ghyvi_vgpu_ggtt_table(host.vgpu);
	static unsigned int inputs;

	if (inputs++ % TRIM_INPUTS)
		return;
	ASSERT(!memchr_inv(table, 0, GHYVI_GGTT_TABLE_BYTES));
	ASSERT(!madvise(table, GHYVI_GGTT_TABLE_BYTES, MADV_DONTNEED));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	unsigned int i, base;
	u8 *state;

	if (!host.vgpu) {
		move_host_begin(&host, NULL);
		for (i = 0; i <= BASES; i++)
			make_base(i);
		ghyvi_vgpu_reset(host.vgpu);
		init_settings();
	}
	trim();
	input_init(data, bytes);
	base = input_take(1);
	base = base == GROUP_BASE ? BASES + 1 : base % (BASES + 1);
	if (base == BASES) {
		state = malloc(bytes);
		memcpy(state, data + 1, bytes - 1);
		load(state, bytes - 1);
	} else {
		base = min_t(unsigned int, base, BASES);
		state = malloc(bases[base].bytes);
		memcpy(state, bases[base].state, bases[base].bytes);
		load(state, edit(state, bases[base].bytes));
	}
	free(state);
	ASSERT(!atomic64_read(&host.stats.oracle_violations));
	return 0;
}
