// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auditor and the engine agree. Each command of the tables, and each register, goes through
 * both, in a ring and in a user batch: what the auditor refuses ends the job, what it passes does
 * not, and what the tables drop changes no memory. Both skip the same number of dwords.
 */
#include "softgpu_audited.h"
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>

#define TYPE(header) ((header) >> 29)
#define TYPE_3 3
#define FILL 0x05000000u /* MI_BATCH_BUFFER_END; also a value above that of any semaphore */

static struct rig *rig;
static struct ghyvi_audit *auditor;
static u32 *zero_page, *ggtt_zero_page;
static unsigned int runs, entries_updated;

/* In place of a GGTT: counts what the auditor stores on behalf of the guest. */
static void update_ggtt(struct ghyvi_audit_owner *owner, u64 index, u64 entry)
{
	entries_updated++;
}

static void fill_pages(void)
{
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / 4; i++)
		zero_page[i] = ggtt_zero_page[i] = FILL;
	*(u32 *)rig->indirect = rig->batch2[0] = FILL;
}

static bool pages_are_unchanged(void)
{
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / 4; i++)
		if (zero_page[i] != FILL || ggtt_zero_page[i] != FILL)
			return false;
	return true;
}

static void emit(const u32 *packet, unsigned int dwords, bool user)
{
	rig_reset(rig);
	memset(&rig->backend, 0, sizeof(rig->backend));
	if (!user) {
		ring_emit(rig, packet, dwords);
		ring_pad(rig);
		return;
	}
	memcpy(rig->batch, packet, 4 * dwords);
	rig->batch[dwords] = FILL;
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), 0);
}

static bool auditor_passes(void)
{
	s64 rejects = atomic64_read(&rig->stats.audit_rejects);

	audit(rig, auditor);
	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
	return atomic64_read(&rig->stats.audit_rejects) == rejects;
}

/* Returns whether the packet passes both. */
static bool compare(enum ghyvi_engine_id engine, const u32 *packet, unsigned int dwords, bool user,
		    const char *name)
{
	bool passes, completes;

	rig->job.engine = engine;
	fill_pages();
	emit(packet, dwords, user);
	passes = auditor_passes();
	completes = rig_run(rig) == GHYVI_JOB_COMPLETE;
	runs++;
	if (passes != completes)
		fail_msg("%s %#010x %#x of %u dwords on %s in a %s: auditor %s, engine %s: %s",
			 name, packet[0], packet[1], dwords, ghyvi_engine_name(engine),
			 user ? "batch" : "ring", passes ? "passes" : "refuses",
			 completes ? "completes" : "stops", rig_reason(rig));
	return passes;
}

/*
 * A command that the engine skips. Its operands are headers of no command, so a command that begins
 * too early is an error, and the store that follows is missing if one begins too late.
 */
static void compare_skipped(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
			    u32 header, unsigned int length, bool user)
{
	const u32 store[] = { MI_STORE_DATA_IMM_OP << 23 | 2, 0, 0, ~FILL };
	u32 packet[GHYVI_PACKET_DWORDS_MAX + 1 + ARRAY_SIZE(store)];

	memset(packet, 0xff, sizeof(packet));
	packet[0] = header;
	memcpy(packet + length, store, sizeof(store));
	if (compare(engine, packet, length + ARRAY_SIZE(store), user, command->name) &&
	    zero_page[0] != ~FILL)
		fail_msg("%s %#010x in a %s: the engine skips more than %u dwords", command->name,
			 header, user ? "batch" : "ring", length);
}

/* The auditor executes MI_UPDATE_GTT, and the engine drops it. */
static void compare_update(enum ghyvi_engine_id engine, const u32 *packet, unsigned int length,
			   bool user)
{
	/* Some flags are bits of its length, and the packet does not fit then. */
	bool valid = !user && length >= 4 && !(length & 1) && (packet[0] & 0x3ff) == length - 2;
	unsigned int expected = valid ? (length - 2) / 2 : 0;

	entries_updated = 0;
	if (compare(engine, packet, length, user, "MI_UPDATE_GTT") != valid)
		fail_msg("MI_UPDATE_GTT of %u dwords in a %s: %s", length, user ? "batch" : "ring",
			 rig_reason(rig));
	assert_int_equal(entries_updated, expected);
	assert_true(pages_are_unchanged());
}

/* Operands that are valid whatever the command is: addresses of 0 are mapped. */
static void set_operands(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
			 u32 *packet, bool user)
{
	u32 gpr = ghyvi_engine_base(engine) + 0x600;

	if (command->reads_register)
		packet[command->reads_register] = gpr;
	if (command->writes_register)
		packet[command->writes_register] = gpr;
	switch (command->check) {
	case GHYVI_CHECK_LOAD_IMM:
		packet[1] = gpr;
		break;
	case GHYVI_CHECK_BATCH_START:
		packet[1] = user || packet[0] & 1 << 8 ? (u32)BATCH2 : INDIRECT_GGTT;
		break;
	default:
		break;
	}
}

static void compare_lengths(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
			    u32 header)
{
	const unsigned int shortest = command->least == 1 ? 1 : 2;
	unsigned int dwords = command->least, longest, user, length;
	u32 packet[GHYVI_PACKET_DWORDS_MAX + 1];
	enum ghyvi_command_rule rule;

	longest = (1u << command->length_bits) - 1 + shortest;
	for (length = dwords - 1; length <= dwords + 2 && length <= longest; length++) {
		if (length < shortest)
			continue;
		memset(packet, 0, sizeof(packet));
		packet[0] = header | (length - shortest);
		for (user = 0; user < 2; user++) {
			set_operands(engine, command, packet, user);
			if (TYPE(header) == TYPE_3 && command->plain) {
				compare_skipped(engine, command, packet[0], length, user);
				continue;
			}
			/* The engine adds a register, which the auditor cannot know. */
			if (command->check == GHYVI_CHECK_BATCH_START && user && header & 1 << 16)
				continue;
			if (command->check == GHYVI_CHECK_UPDATE_GTT) {
				compare_update(engine, packet, length, user);
				continue;
			}
			compare(engine, packet, length, user, command->name);
			rule = ghyvi_command_rule(command, packet[0], !user);
			if (rule == GHYVI_DROPPED && !pages_are_unchanged())
				fail_msg("%s %#010x is dropped and changes memory", command->name,
					 packet[0]);
		}
	}
}

/* Bits between the opcode and the length that have a meaning in some command. */
static const u32 flags[] = { 0,	       1u << 22,	   1u << 21, 1u << 8,  1u << 8 | 1u << 22,
			     1u << 16, 1u << 8 | 1u << 15, 5u << 8,  2u << 14, 1u << 19 };

static void commands_of_an_engine(enum ghyvi_engine_id engine)
{
	const struct ghyvi_command *command, *before = NULL;
	u32 name, opcode, packet[2] = {};
	unsigned int i, user;

	for (name = 0; name < 0x10000; name++) {
		command = ghyvi_command_find(engine, name << 16);
		if (command && command == before)
			continue; /* the same with other flags */
		before = command;
		opcode = name << 16;
		for (i = 0; command && i < ARRAY_SIZE(flags); i++)
			if (TYPE(opcode) == 0 || !i)
				compare_lengths(engine, command, opcode | flags[i]);
		packet[0] = opcode;
		/* Of unknown commands a part, for speed: 7 meets all values of all fields. */
		if (name % (TYPE(opcode) == TYPE_3 ? 7 : 64))
			continue;
		for (user = 0; !command && user < 2; user++)
			compare(engine, packet, 1, user, "nothing");
	}
}

static void registers_of_an_engine(enum ghyvi_engine_id engine)
{
	u32 offset, packet[4] = {};
	unsigned int user;

	for (offset = 0; offset < GHYVI_REGISTERS_END + 0x20000; offset += 4) {
		if (!ghyvi_register_find(engine, offset) && offset % 0x1ffc)
			continue;
		for (user = 0; user < 2; user++) {
			packet[0] = MI_LRI(1);
			packet[1] = offset;
			compare(engine, packet, 3, user, "a register");
			packet[0] |= 1 << 8; /* all but one byte */
			compare(engine, packet, 3, user, "a register");
			packet[0] = MI_SRM;
			compare(engine, packet, 4, user, "a register");
		}
	}
}

static void setup_rig(unsigned int gen)
{
	rig = rig_new(gen);
	zero_page = (u32 *)rig_ppgtt(rig, 0, 1, GHYVI_ENTRY_WRITE);
	ggtt_zero_page = (u32 *)rig_ggtt(rig, 0, 1);
	rig->audit_owner.update_ggtt = update_ggtt;
	auditor = make_audit(rig, "full");
}

static void drop_rig(void)
{
	ghyvi_audit_destroy(auditor);
	rig_free(rig);
}

static void auditor_and_engine_agree_on_commands(void **state)
{
	unsigned int gen, engine;

	for (gen = 8; gen <= 9; gen++) {
		setup_rig(gen);
		runs = 0;
		for (engine = 0; engine < GHYVI_ENGINES; engine++)
			commands_of_an_engine(engine);
		assert_true(runs > 1000);
		drop_rig();
	}
}

static void auditor_and_engine_agree_on_registers(void **state)
{
	unsigned int engine;

	setup_rig(9);
	runs = 0;
	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		registers_of_an_engine(engine);
	assert_true(runs > 1000);
	drop_rig();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auditor_and_engine_agree_on_commands),
		cmocka_unit_test(auditor_and_engine_agree_on_registers),
	};

	return cmocka_run_group_tests_name("one truth", tests, NULL, NULL);
}
