// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a vGPU, to be saved and to be loaded by another vGPU, maybe on another host.
 *
 * DOC: what is state, and what is rebuilt
 *
 * State is what the guest can see or has set: registers, its GGTT table, submit ports, parked
 * workloads, pending interrupts, the clock, what containment has counted, and the administrator's
 * settings. Shadow tables, pins, write protection and the contents of the mirror are rebuilt from
 * it. Counters are the host's and stay.
 *
 * DOC: trust
 *
 * A state comes from user space. It can do no more than a guest and its administrator could:
 * registers have any value a guest could give them, settings only restrict the vGPU further, and
 * parked workloads are checked as described in state_engine.c.
 */
#include <linux/ctype.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <ghyvi/shadow_policy.h>
#include "state_io.h"

bool ghyvi_vgpu_can_move(const struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_pgpu_ops *ops = vgpu->params.pgpu->ops;

	return ops->job_save && ops->job_load && !ops->context_create;
}

void ghyvi_vgpu_get_identity(struct ghyvi_vgpu *vgpu, void *state)
{
	const struct ghyvi_vgpu_params *p = &vgpu->params;
	struct state_identity *identity = state;

	BUILD_BUG_ON(sizeof(*identity) != GHYVI_STATE_IDENTITY_BYTES);
	*identity = (struct state_identity){
		.magic = STATE_MAGIC,
		.major = STATE_MAJOR,
		.minor = STATE_MINOR,
		.device_id = p->profile->device_id,
		.revision = p->profile->revision,
		.gen = p->profile->gen,
		.caps = vgpu_get(vgpu, PVINFO_CAPS),
		.job_bytes = (u32)p->pgpu->ops->job_state_bytes,
		.mappable_start = p->mappable.bytes ? p->mappable.start : 0,
		.mappable_bytes = p->mappable.bytes,
		.hidden_start = p->hidden.start,
		.hidden_bytes = p->hidden.bytes,
		.aperture_bytes = p->aperture_bytes,
	};
	strscpy(identity->type, p->type ?: "", sizeof(identity->type));
	strscpy(identity->backend, p->pgpu->ops->name, sizeof(identity->backend));
}

/* Make a string of the state fit for the log. */
static void make_printable(char *text, size_t bytes)
{
	size_t i;

	text[bytes - 1] = '\0';
	for (i = 0; text[i]; i++)
		if (!isalnum(text[i]) && text[i] != '-' && text[i] != '_')
			text[i] = '?';
}

static void report_mismatch(struct ghyvi_vgpu *vgpu, const struct state_identity *theirs,
			    const struct state_identity *ours)
{
	ghyvi_report(
		vgpu->params.reporter,
		"migration: refused: the state is of %s/%s %04x rev %u caps 0x%x GGTT 0x%llx+0x%llx, this vGPU is %s/%s %04x rev %u caps 0x%x GGTT 0x%llx+0x%llx",
		theirs->backend, theirs->type, theirs->device_id, theirs->revision, theirs->caps,
		(unsigned long long)theirs->hidden_start, (unsigned long long)theirs->hidden_bytes,
		ours->backend, ours->type, ours->device_id, ours->revision, ours->caps,
		(unsigned long long)ours->hidden_start, (unsigned long long)ours->hidden_bytes);
}

int ghyvi_vgpu_check_identity(struct ghyvi_vgpu *vgpu, const void *state)
{
	struct state_identity theirs, ours;

	memcpy(&theirs, state, sizeof(theirs));
	ghyvi_vgpu_get_identity(vgpu, &ours);
	if (theirs.magic != ours.magic) {
		ghyvi_report(
			vgpu->params.reporter,
			"migration: refused: not the state of a ghyvi vGPU (0x%llx, not 0x%llx)",
			(unsigned long long)theirs.magic, (unsigned long long)ours.magic);
		return -EINVAL;
	}
	if (theirs.major != ours.major) {
		ghyvi_report(
			vgpu->params.reporter,
			"migration: refused: the state has format %u, this ghyvi reads format %u",
			theirs.major, ours.major);
		return -EINVAL;
	}
	make_printable(theirs.type, sizeof(theirs.type));
	make_printable(theirs.backend, sizeof(theirs.backend));
	theirs.minor = ours.minor;
	if (!memcmp(&theirs, &ours, sizeof(ours)))
		return 0;
	report_mismatch(vgpu, &theirs, &ours);
	return -EINVAL;
}

/* settings */

/* The name in brackets of a line that lists all. */
static void active_name(const char *line, char *name)
{
	const char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;

	memset(name, 0, STATE_NAME_BYTES);
	if (end && end - begin - 1 < STATE_NAME_BYTES)
		memcpy(name, begin + 1, end - begin - 1);
}

static void get_settings(struct ghyvi_vgpu *vgpu, struct state_settings *settings)
{
	struct ghyvi_shadow_tuning tuning;
	char line[256];

	lockdep_assert_held(&vgpu->lock);
	memset(settings, 0, sizeof(*settings));
	ghyvi_gtt_policy_list(vgpu->gtt, line, sizeof(line));
	active_name(line, settings->policy);
	ghyvi_audit_mode_list(vgpu->audit, line, sizeof(line));
	active_name(line, settings->audit);
	ghyvi_gtt_get_tuning(vgpu->gtt, &tuning);
	settings->static_pages = tuning.static_pages;
	settings->oos_threshold = tuning.oos_threshold;
	settings->idle_pins = tuning.idle_pins;
	settings->tables_max = tuning.tables_max;
	ghyvi_sched_get_knobs(vgpu->sched_entity, &settings->knobs);
	ghyvi_audit_get_budget(vgpu->audit, &settings->budget);
	settings->budget_us = STATE_BUDGET_US;
	settings->containment.budget_ms = vgpu->containment.budget_ms;
	settings->containment.points_max = vgpu->containment.points_max;
	settings->containment.window_ms = vgpu->containment.window_ms;
	settings->budget_minsn = vgpu->containment.budget_minsn;
	settings->self_check = ghyvi_vgpu_get_check(vgpu);
}

/* Returns 0, or -EINVAL when a setting is out of range; then some have changed. */
static int set_settings(struct ghyvi_vgpu *vgpu, const struct state_settings *settings)
{
	const struct ghyvi_containment containment = {
		.budget_ms = settings->containment.budget_ms,
		.points_max = settings->containment.points_max,
		.window_ms = settings->containment.window_ms,
		.budget_minsn = settings->budget_minsn,
	};
	struct ghyvi_shadow_tuning tuning;

	ghyvi_gtt_get_tuning(vgpu->gtt, &tuning);
	tuning.static_pages = settings->static_pages;
	tuning.oos_threshold = settings->oos_threshold;
	tuning.idle_pins = settings->idle_pins;
	tuning.tables_max = settings->tables_max;
	if (ghyvi_vgpu_set_containment(vgpu, &containment) ||
	    ghyvi_gtt_set_tuning(vgpu->gtt, &tuning) ||
	    ghyvi_vgpu_set_policy(vgpu, settings->policy) ||
	    ghyvi_sched_set_knobs(vgpu->sched_entity, &settings->knobs) ||
	    ghyvi_audit_set_budget(vgpu->audit, &settings->budget) ||
	    ghyvi_audit_set_mode(vgpu->audit, settings->audit))
		return -EINVAL;
	ghyvi_vgpu_set_check(vgpu, settings->self_check);
	return 0;
}

static void read_settings(struct ghyvi_vgpu *vgpu, struct state_settings *settings)
{
	mutex_lock(&vgpu->lock);
	get_settings(vgpu, settings);
	mutex_unlock(&vgpu->lock);
}

/* The settings before a load, and what it has made of them. */
struct vgpu_loaded_settings {
	struct state_settings before;
	struct state_settings loaded;
};

/* Where @now is still as it was loaded, go back to what was before. */
static void unload_settings(const struct vgpu_loaded_settings *saved, struct state_settings *now)
{
	const u32 *before = (const u32 *)&saved->before, *loaded = (const u32 *)&saved->loaded;
	u32 *word = (u32 *)now;
	size_t i;

	BUILD_BUG_ON(sizeof(*now) % sizeof(u32));
	if (!strcmp(now->policy, saved->loaded.policy))
		memcpy(now->policy, saved->before.policy, sizeof(now->policy));
	if (!strcmp(now->audit, saved->loaded.audit))
		memcpy(now->audit, saved->before.audit, sizeof(now->audit));
	/* The others are numbers of 32 bits. */
	for (i = offsetof(struct state_settings, static_pages); i < sizeof(*now); i += sizeof(u32))
		if (word[i / sizeof(u32)] == loaded[i / sizeof(u32)])
			word[i / sizeof(u32)] = before[i / sizeof(u32)];
}

void ghyvi_vgpu_unload_settings(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_loaded_settings *saved = vgpu->loaded_settings;
	struct state_settings settings;

	if (!saved)
		return;
	read_settings(vgpu, &settings);
	unload_settings(saved, &settings);
	WARN_ON_ONCE(set_settings(vgpu, &settings));
	vgpu->loaded_settings = NULL;
	kfree(saved);
}

static void save_settings(struct ghyvi_vgpu *vgpu, struct state_writer *writer)
{
	struct state_settings settings;

	get_settings(vgpu, &settings);
	state_section(writer, STATE_SETTINGS, &settings, sizeof(settings));
}

/* The lower of two limits of which 0 is none. */
static u32 lower_limit(u32 a, u32 b)
{
	return a && b ? min(a, b) : a ?: b;
}

static bool is_nested(const char *policy)
{
	const struct ghyvi_shadow_policy *found = ghyvi_shadow_policy_find(policy);

	return found && found->nested;
}

static unsigned int audit_strictness(const char *mode)
{
	return !strcmp(mode, "log") ? 0 : !strcmp(mode, "privileged") ? 1 : 2;
}

/*
 * The administrator of this host has set @ours. The program that has opened the vGPU supplies
 * @settings, and is not trusted. So the stricter value applies for each setting that protects the
 * host or other vGPUs. Shadowing policies differ in speed only, except "nested", which has no
 * shadow: it is never taken over.
 */
static void limit_settings(struct state_settings *settings, const struct state_settings *ours)
{
	if (is_nested(settings->policy))
		memcpy(settings->policy, ours->policy, sizeof(settings->policy));
	if (audit_strictness(settings->audit) < audit_strictness(ours->audit))
		memcpy(settings->audit, ours->audit, sizeof(settings->audit));
	settings->idle_pins = min(settings->idle_pins, ours->idle_pins);
	settings->tables_max = min(settings->tables_max, ours->tables_max);
	settings->knobs.weight = min(settings->knobs.weight, ours->knobs.weight);
	settings->knobs.cap = lower_limit(settings->knobs.cap, ours->knobs.cap);
	settings->knobs.priority = min(settings->knobs.priority, ours->knobs.priority);
	settings->budget.budget_bytes =
		min(settings->budget.budget_bytes, ours->budget.budget_bytes);
	settings->budget.budget_commands =
		min(settings->budget.budget_commands, ours->budget.budget_commands);
	settings->budget.budget_batches =
		min(settings->budget.budget_batches, ours->budget.budget_batches);
	settings->containment.budget_ms =
		lower_limit(settings->containment.budget_ms, ours->containment.budget_ms);
	settings->budget_minsn = lower_limit(settings->budget_minsn, ours->budget_minsn);
	settings->containment.points_max =
		lower_limit(settings->containment.points_max, ours->containment.points_max);
	settings->containment.window_ms =
		max(settings->containment.window_ms, ours->containment.window_ms);
	settings->self_check = ours->self_check; /* costs the host time at each submission */
}

static bool name_ok(const char *name)
{
	return strnlen(name, STATE_NAME_BYTES) < STATE_NAME_BYTES;
}

/* @ours: the settings of this vGPU before the load */
static int load_settings(struct ghyvi_vgpu *vgpu, const struct state_settings *ours,
			 struct state_reader *reader)
{
	const struct state_settings *state = state_take(reader, sizeof(*state));
	struct state_settings settings;

	if (!state || reader->left || !name_ok(state->policy) || !name_ok(state->audit) ||
	    state->self_check > 1)
		return -EINVAL;
	settings = *state;
	limit_settings(&settings, ours);
	return set_settings(vgpu, &settings);
}

/* the rest of the machine */

static void save_machine(struct ghyvi_vgpu *vgpu, struct state_writer *writer)
{
	u64 now = ktime_get_ns();
	const struct state_machine state = {
		.clock_ns = now + vgpu->clock_offset_ns,
		.undrained_ns = vgpu->violation_points ? now - vgpu->points_drained_ns : 0,
		.violation_points = vgpu->violation_points,
		.failsafe = vgpu->failsafe,
	};
	const struct state_failsafe failsafe = { .drains = vgpu->failsafe_drains };

	state_section(writer, STATE_MACHINE, &state, sizeof(state));
	state_section(writer, STATE_FAILSAFE, &failsafe, sizeof(failsafe));
}

/* The clock must never go back, so round up. */
static u64 clock_offset(u64 clock_ns, u64 now)
{
	s64 ahead = (s64)(clock_ns - now);
	s64 steps = ahead / GHYVI_CLOCK_STEP_NS;

	if (ahead > 0 && ahead % GHYVI_CLOCK_STEP_NS)
		steps++;
	return (u64)(steps * GHYVI_CLOCK_STEP_NS);
}

static int load_machine(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	const struct state_machine *state = state_take(reader, sizeof(*state));
	u64 now = ktime_get_ns();

	if (!state || reader->left || state->failsafe > 1 || state->clock_ns > S64_MAX / 2)
		return -EINVAL;
	WRITE_ONCE(vgpu->clock_offset_ns, clock_offset(state->clock_ns, now));
	vgpu_containment_load(vgpu, state->violation_points, state->undrained_ns);
	WRITE_ONCE(vgpu->failsafe, state->failsafe);
	return 0;
}

static int load_failsafe(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	const struct state_failsafe *state = state_take(reader, sizeof(*state));

	if (!state || reader->left || state->drains > vgpu->failsafe)
		return -EINVAL;
	WRITE_ONCE(vgpu->failsafe_drains, state->drains);
	return 0;
}

/*
 * PVINFO is not taken from the state: the identity was checked, so this vGPU has the same values.
 * Only the number of the vGPU is not in the identity, and is kept as the guest knows it.
 */
static int load_registers(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	u32 id;
	int err;

	vgpu_table_clear((u64 *)vgpu->registers, GHYVI_REGISTERS_BYTES / 8);
	err = vgpu_table_load(reader, (u64 *)vgpu->registers, GHYVI_REGISTERS_BYTES / 8);
	id = vgpu_get(vgpu, PVINFO_ID);
	vgpu_pvinfo_reset(vgpu);
	vgpu_set(vgpu, PVINFO_ID, id);
	vgpu_irq_restore(vgpu);
	vgpu_mirror_show_all(vgpu);
	return err;
}

/* The reset before the load has cleared the table. */
static int load_ggtt(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	return vgpu_table_load(reader, vgpu->ggtt_table, GHYVI_GGTT_TABLE_BYTES / 8);
}

static void save_table(struct state_writer *writer, u32 type, const void *table, u32 bytes)
{
	state_section_begin(writer, type);
	vgpu_table_save(writer, table, bytes / 8);
	state_section_end(writer);
}

static void save_tables(struct ghyvi_vgpu *vgpu, struct state_writer *writer)
{
	save_table(writer, STATE_REGISTERS, vgpu->registers, GHYVI_REGISTERS_BYTES);
	save_table(writer, STATE_GGTT, vgpu->ggtt_table, GHYVI_GGTT_TABLE_BYTES);
}

/*
 * QEMU asks for the size after each read of the log of written pages. What the guest's CPUs write
 * until it has the answer is sent while the VM is stopped. So the tables, which have 10 MiB, are
 * looked at once in this time. They are always looked at while the vGPU is paused.
 */
#define TABLES_PERIOD_NS NSEC_PER_SEC

static void count_tables(struct ghyvi_vgpu *vgpu, struct state_writer *writer)
{
	struct state_writer tables = { .size = writer->size };
	u64 now = ktime_get_ns();

	lockdep_assert_held(&vgpu->lock);
	if (vgpu->paused || !vgpu->tables_bytes ||
	    now - vgpu->tables_counted_ns >= TABLES_PERIOD_NS) {
		save_tables(vgpu, &tables);
		vgpu->tables_bytes = tables.bytes;
		vgpu->tables_counted_ns = now;
	}
	state_reserve(writer, vgpu->tables_bytes);
}

static void save_all(struct ghyvi_vgpu *vgpu, const void *device, u32 device_bytes,
		     struct state_writer *writer)
{
	void *identity = state_reserve(writer, GHYVI_STATE_IDENTITY_BYTES);
	unsigned int i;

	lockdep_assert_held(&vgpu->lock);
	if (identity)
		ghyvi_vgpu_get_identity(vgpu, identity);
	state_section(writer, STATE_DEVICE, device, device_bytes);
	save_settings(vgpu, writer);
	save_machine(vgpu, writer);
	if (writer->to)
		save_tables(vgpu, writer);
	else
		count_tables(vgpu, writer);
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_engine_save(&vgpu->engines[i], writer);
	vgpu_display_save(vgpu, writer);
	state_section_begin(writer, STATE_END);
	state_section_end(writer);
}

/* Save to a new buffer of writer->size bytes. Returns 0, or -ENOMEM. */
static int save_to_buffer(struct ghyvi_vgpu *vgpu, const void *device, u32 device_bytes,
			  struct state_writer *writer)
{
	writer->to = kvzalloc(writer->size, GFP_KERNEL_ACCOUNT);
	if (!writer->to)
		return -ENOMEM;
	mutex_lock(&vgpu->lock);
	save_all(vgpu, device, device_bytes, writer);
	mutex_unlock(&vgpu->lock);
	return 0;
}

/* Nearly all states fit. The VM is stopped meanwhile, and more memory takes time to clear. */
#define USUAL_BYTES ((size_t)64 << 10)

int ghyvi_vgpu_save(struct ghyvi_vgpu *vgpu, const void *device, u32 device_bytes, void **state,
		    size_t *bytes)
{
	struct state_writer writer = { .size = USUAL_BYTES };
	int err;

	/* Execute the stores to the mirror that were missed, so that the state has their values. */
	if (!vgpu_is_failsafe(vgpu))
		vgpu_bar_is_live(vgpu);
	err = save_to_buffer(vgpu, device, device_bytes, &writer);
	if (!err && writer.full) {
		kvfree(writer.to);
		writer = (struct state_writer){ .size = GHYVI_STATE_BYTES_MAX };
		err = save_to_buffer(vgpu, device, device_bytes, &writer);
	}
	if (err)
		return err;
	WARN_ON_ONCE(writer.full);
	*bytes = writer.bytes;
	*state = kvzalloc(writer.bytes, GFP_KERNEL_ACCOUNT);
	if (*state)
		memcpy(*state, writer.to, writer.bytes);
	kvfree(writer.to);
	return *state ? 0 : -ENOMEM;
}

size_t ghyvi_vgpu_state_bytes(struct ghyvi_vgpu *vgpu, u32 device_bytes)
{
	struct state_writer writer = { .size = GHYVI_STATE_BYTES_MAX };

	mutex_lock(&vgpu->lock);
	save_all(vgpu, NULL, device_bytes, &writer);
	mutex_unlock(&vgpu->lock);
	return writer.bytes;
}

/* Progress of a load. */
struct state_load {
	u32 last; /* type of the last section that was loaded */
	unsigned int engines;
	struct vgpu_engine *engine; /* of the last STATE_ENGINE */
	bool workload; /* a STATE_WORKLOAD must follow */
	bool group; /* a STATE_GROUP must follow */
	bool display; /* there was a STATE_DISPLAY */
	bool reported; /* why the state is refused */
	struct vgpu_loaded_settings *settings;
	void *device;
	u32 device_bytes;
};

static int load_device(struct state_load *load, struct state_reader *reader)
{
	if (reader->left != load->device_bytes)
		return -EINVAL;
	memcpy(load->device, reader->from, load->device_bytes);
	return 0;
}

static int load_engine(struct ghyvi_vgpu *vgpu, struct state_load *load,
		       struct state_reader *reader)
{
	const struct state_engine *state = (const void *)reader->from;
	int err;

	/* Each engine once, in their order. */
	if (reader->left < sizeof(*state) || state->id != load->engines)
		return -EINVAL;
	err = vgpu_engine_load(vgpu, reader, &load->engine);
	if (err)
		return err;
	load->engines++;
	load->workload = state->workload;
	return 0;
}

static int load_workload(struct state_load *load, struct state_reader *reader)
{
	int result = vgpu_workload_load(load->engine, reader);

	load->workload = false;
	load->group = result > 0;
	return min(result, 0);
}

static int refuse_display(struct ghyvi_vgpu *vgpu, struct state_load *load, bool theirs)
{
	load->reported = true;
	ghyvi_report(vgpu->params.reporter,
		     "migration: refused: display/enabled is %d at the source, %d here", theirs,
		     !theirs);
	return -EINVAL;
}

static int load_display(struct ghyvi_vgpu *vgpu, struct state_load *load,
			struct state_reader *reader)
{
	if (!ghyvi_vgpu_has_display(vgpu))
		return refuse_display(vgpu, load, true);
	load->display = true;
	return vgpu_display_load(vgpu, reader);
}

static int load_end(struct ghyvi_vgpu *vgpu, struct state_load *load,
		    const struct state_reader *reader)
{
	if (reader->left || load->engines != GHYVI_ENGINES)
		return -EINVAL;
	return ghyvi_vgpu_has_display(vgpu) && !load->display ? refuse_display(vgpu, load, false) :
								0;
}

static int load_locked(struct ghyvi_vgpu *vgpu, struct state_load *load, u32 type,
		       struct state_reader *reader)
{
	lockdep_assert_held(&vgpu->lock);
	switch (type) {
	case STATE_DEVICE:
		return load_device(load, reader);
	case STATE_MACHINE:
		return load_machine(vgpu, reader);
	case STATE_FAILSAFE:
		return load_failsafe(vgpu, reader);
	case STATE_REGISTERS:
		return load_registers(vgpu, reader);
	case STATE_GGTT:
		return load_ggtt(vgpu, reader);
	case STATE_ENGINE:
		return load_engine(vgpu, load, reader);
	case STATE_WORKLOAD:
		return load_workload(load, reader);
	case STATE_GROUP:
		load->group = false;
		return vgpu_group_load(load->engine, reader);
	case STATE_DISPLAY:
		return load_display(vgpu, load, reader);
	case STATE_EDID:
		return vgpu_edid_load(vgpu, reader);
	case STATE_END:
		return load_end(vgpu, load, reader);
	}
	return -EINVAL;
}

static int load_section(struct ghyvi_vgpu *vgpu, struct state_load *load, u32 type,
			struct state_reader *reader)
{
	int err;

	if (type == STATE_SETTINGS) /* may kick the scheduler */
		return load_settings(vgpu, &load->settings->before, reader);
	mutex_lock(&vgpu->lock);
	err = load_locked(vgpu, load, type, reader);
	mutex_unlock(&vgpu->lock);
	return err;
}

/*
 * Sections come in the order of their types, but for the end; none is missing, but for those of a
 * display. A workload follows its engine, and a thread group its workload.
 */
static bool section_follows(const struct state_load *load, u32 type)
{
	if (load->workload)
		return type == STATE_WORKLOAD;
	if (load->group)
		return type == STATE_GROUP;
	if (type == STATE_FAILSAFE)
		return load->last == STATE_MACHINE;
	switch (load->last) {
	case STATE_GGTT:
		return type == STATE_ENGINE;
	case STATE_ENGINE:
	case STATE_WORKLOAD:
	case STATE_GROUP:
		return type == STATE_ENGINE || type == STATE_DISPLAY || type == STATE_END;
	case STATE_DISPLAY:
		return type == STATE_EDID || type == STATE_END;
	case STATE_EDID:
		return type == STATE_END;
	default:
		return type == load->last + 1;
	}
}

static int load_sections(struct ghyvi_vgpu *vgpu, struct state_load *load,
			 struct state_reader *reader)
{
	const struct state_header *header;
	struct state_reader payload;
	int err = -EINVAL;

	while (load->last != STATE_END) {
		header = state_take(reader, sizeof(*header));
		if (!header || header->bytes % 8 || header->bytes > reader->left)
			return -EINVAL;
		payload = (struct state_reader){ reader->from, header->bytes };
		state_take(reader, header->bytes);
		if (header->type & STATE_OPTIONAL && header->type != STATE_FAILSAFE)
			continue;
		if (!section_follows(load, header->type))
			return -EINVAL;
		err = load_section(vgpu, load, header->type, &payload);
		if (err)
			return err;
		if (!(header->type & STATE_OPTIONAL))
			load->last = header->type;
	}
	return reader->left ? -EINVAL : 0;
}

/* Reset the vGPU, and leave it paused with BAR 0 unmapped. */
static void reset_paused(struct ghyvi_vgpu *vgpu)
{
	vgpu_reset_paused(vgpu);
	/* The table is about to change without stores that trap. */
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
}

int ghyvi_vgpu_load(struct ghyvi_vgpu *vgpu, const void *state, size_t bytes, void *device,
		    u32 device_bytes)
{
	struct state_load load = { .device = device, .device_bytes = device_bytes };
	struct state_reader reader = { .from = state, .left = bytes };
	int err = -EINVAL;

	reset_paused(vgpu);
	if (bytes < GHYVI_STATE_IDENTITY_BYTES) {
		ghyvi_report(vgpu->params.reporter,
			     "migration: refused: the state ends after %zu bytes", bytes);
		return -EINVAL;
	}
	if (ghyvi_vgpu_check_identity(vgpu, state))
		return -EINVAL;
	state_take(&reader, GHYVI_STATE_IDENTITY_BYTES);
	ghyvi_vgpu_unload_settings(vgpu);
	load.settings = kzalloc(sizeof(*load.settings), GFP_KERNEL_ACCOUNT);
	if (!load.settings)
		return -ENOMEM;
	read_settings(vgpu, &load.settings->before);
	err = load_sections(vgpu, &load, &reader);
	if (!err) {
		read_settings(vgpu, &load.settings->loaded);
		vgpu->loaded_settings = load.settings;
		return 0;
	}
	if (!load.reported)
		ghyvi_report(
			vgpu->params.reporter,
			"migration: refused: the state is not valid before byte %zu of %zu (section %u, error %d, minor version %u, this ghyvi has %u)",
			bytes - reader.left, bytes, load.last + 1, err,
			((const struct state_identity *)state)->minor, STATE_MINOR);
	WARN_ON_ONCE(set_settings(vgpu, &load.settings->before));
	kfree(load.settings);
	reset_paused(vgpu);
	return err;
}
