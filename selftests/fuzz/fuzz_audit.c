// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auditor with arbitrary rings and batches, in every mode, for all engines. After the audit the
 * guest's memory is overwritten. A simple executor, which knows little more than the lengths of
 * commands, then runs the copies. All commands that it reaches must have been copied and audited,
 * and their effects must be limited to the vGPU.
 *
 * Input: two bytes of choices; then a number of dwords and these dwords for each of: the ring, the
 * ring after a tail update, a batch in the GGTT, a batch in the PPGTT. The rest is a second batch
 * in the PPGTT.
 */
#include "../unit/audit_fixture.h"
#include "input.h"

/* As little memory as the input can fill. */
#define FUZZ_USER_BYTES 0x12000u
#define FUZZ_GGTT_BYTES 0x22000u
#define STEPS_MAX 20000
#define PACKET_DWORDS 5 /* number of dwords that the executor checks */
#define INDIRECT (GGTT_START + 0x10000)
#define INDIRECT_BYTES 256
#define USER_BATCH_ACROSS (USER_BATCH2 - 16) /* crosses a page boundary */
#define PAGE_COMMANDS (PAGE_SIZE / 4)
#define OPCODE_MI(header) ((header) >> 23)
#define BATCH_PPGTT BIT(8)
#define BATCH_SECOND_LEVEL BIT(22)

static struct {
	enum ghyvi_audit_mode mode;
	unsigned int gen;
	unsigned int steps; /* remaining */
	u32 ggtt[FUZZ_GGTT_BYTES / 4],
		user[FUZZ_USER_BYTES / 4]; /* original content of the guest's memory */
} run;

static void take_dwords(u64 address, unsigned int dwords)
{
	u32 dword;

	for (; dwords && input.left; dwords--, address += 4) {
		dword = __builtin_bswap32(input_take(4)); /* the input has the guest's byte order */
		put_dwords(address, &dword, 1);
	}
}

static void take_ring(void)
{
	unsigned int dwords = rnd(256);

	ring(NOOP);
	for (; dwords && input.left; dwords--)
		ring(__builtin_bswap32(input_take(4)));
	if (guest.tail % 8)
		ring(NOOP);
}

/*
 * Each dword must be read at most once per copy that contains it: the ring, the context's indirect
 * batch and a batch.
 */
static unsigned int take_most_reads(u8 *reads, size_t dwords)
{
	unsigned int most = 0;
	size_t i;

	for (i = 0; i < dwords; i++)
		most = max_t(unsigned int, most, reads[i]);
	memset(reads, 0, dwords);
	return most;
}

static void assert_read_once(void)
{
	assert_true(take_most_reads(guest.user_reads, FUZZ_USER_BYTES / 4) <= 1);
	assert_true(take_most_reads(guest.ggtt_reads, FUZZ_GGTT_BYTES / 4) <= 3);
}

/*
 * The auditor counts commands at the end of each page, so the budget may be exceeded by one page.
 */
static void assert_within_budget(const struct ghyvi_audit_budget *budget, unsigned int submissions)
{
	assert_true((u64)atomic64_read(&guest.stats.audited_bytes) <= budget->budget_bytes);
	assert_true((u64)atomic64_read(&guest.stats.audited_commands) <=
		    submissions * ((u64)budget->budget_commands + PAGE_COMMANDS));
}

static void assert_own(const u32 *address)
{
	u64 at = ((u64)address[1] << 32 | address[0]) & GENMASK_ULL(47, 2);

	assert_true(at >= GGTT_START && at < GGTT_START + FUZZ_GGTT_BYTES);
}

static u64 next_dword(enum ghyvi_fetch_source source, u64 at)
{
	return source == GHYVI_FETCH_RING ? (at + 4) % RING_BYTES : at + 4;
}

static void assert_registers(enum ghyvi_fetch_source source, u64 at, u32 ring_head,
			     unsigned int dwords)
{
	unsigned int i;
	u32 field = 0;

	for (i = 0; i < dwords; i++, at = next_dword(source, at)) {
		if (i % 2 == 0)
			continue;
		assert_int_equal(fetch(source, at, ring_head, &field), 1);
		field &= GHYVI_REGISTER_MASK;
		assert_true(field < GHYVI_REGISTERS_END);
		if (source != GHYVI_FETCH_PPGTT)
			assert_non_null(ghyvi_register_find(guest.submission.engine, field));
	}
}

/*
 * No command that passed the audit may be forbidden for the guest's kernel or for its user space.
 */
static void assert_harmless(const u32 *packet, bool privileged)
{
	switch (OPCODE_MI(packet[0])) {
	case 0x27: /* CLFLUSH */
		fail_msg("%#x", packet[0]);
		break;
	case 0x28: /* REPORT_PERF_COUNT */
		if (privileged && packet[1] & 1)
			assert_own(packet + 1);
		break;
	case 0x23: /* UPDATE_GTT */
		assert_true(privileged);
		break;
	case 0x20: /* STORE_DATA_IMM */
	case 0x2f: /* ATOMIC */
		if (privileged && packet[0] & GLOBAL)
			assert_own(packet + 1);
		break;
	case 0x24: /* STORE_REGISTER_MEM */
	case 0x29: /* LOAD_REGISTER_MEM */
	case 0x36: /* CONDITIONAL_BATCH_BUFFER_END */
		if (privileged && packet[0] & GLOBAL)
			assert_own(packet + 2);
		break;
	}
}

/* Fetches a dword of a copy, which must equal the original content of the guest's memory. */
static int fetch_copied(enum ghyvi_fetch_source source, u64 at, u32 ring_head, u32 *dword)
{
	int ret = fetch(source, at, ring_head, dword);

	if (ret != 1)
		return ret;
	if (source == GHYVI_FETCH_PPGTT)
		assert_int_equal(*dword, run.user[(at - USER_START) / 4]);
	else if (source == GHYVI_FETCH_RING)
		assert_int_equal(*dword, run.ggtt[(RING - GGTT_START + at) / 4]);
	else
		assert_int_equal(*dword, run.ggtt[(at - GGTT_START) / 4]);
	return ret;
}

/*
 * Fetches a command and advances @at. Returns false if the engine stops or the address was not
 * audited.
 */
static bool fetch_packet(enum ghyvi_fetch_source source, unsigned int level, u64 *at, u32 ring_head,
			 u32 *packet)
{
	const struct ghyvi_command *command;
	unsigned int dwords, i;
	u64 first = *at;
	u32 dword;
	int ret;

	if (!run.steps--)
		return false;
	ret = fetch_copied(source, *at, ring_head, packet);
	if (ret == -EACCES)
		return false;
	assert_int_equal(ret, 1);
	assert_true(begins(source, level, *at, ring_head));
	command = ghyvi_command_find(guest.submission.engine, packet[0]);
	assert_non_null(command);
	assert_true(command->gen <= run.gen);
	assert_int_not_equal(ghyvi_command_rule(command, packet[0], source != GHYVI_FETCH_PPGTT),
			     GHYVI_REFUSED);
	dwords = ghyvi_command_dwords(guest.submission.engine, command, packet[0]);
	*at = next_dword(source, *at);
	for (i = 1; i < dwords; i++, *at = next_dword(source, *at)) {
		assert_int_equal(fetch_copied(source, *at, ring_head, &dword), 1);
		if (i < PACKET_DWORDS)
			packet[i] = dword;
	}
	assert_harmless(packet, source != GHYVI_FETCH_PPGTT);
	if (OPCODE_MI(packet[0]) == 0x22)
		assert_registers(source, first, ring_head, dwords);
	return true;
}

/* @from: where @start is. Returns false if the engine has stopped. */
static bool execute_batch(enum ghyvi_fetch_source from, const u32 *start, unsigned int level,
			  u32 ring_head)
{
	enum ghyvi_fetch_source source = from;
	u32 packet[PACKET_DWORDS] = { 0 };
	u64 at;

jump:
	if (source != GHYVI_FETCH_PPGTT) /* else it stays there */
		source = start[0] & BATCH_PPGTT ? GHYVI_FETCH_PPGTT : GHYVI_FETCH_GGTT;
	at = ((u64)start[2] << 32 | start[1]) & GENMASK_ULL(47, 2);
	if (source == GHYVI_FETCH_PPGTT && run.mode == GHYVI_AUDIT_PRIVILEGED)
		return true;
	while (fetch_packet(source, level, &at, ring_head, packet)) {
		switch (OPCODE_MI(packet[0])) {
		case 0x0a: /* BATCH_BUFFER_END */
			return true;
		case 0x36: /* CONDITIONAL_BATCH_BUFFER_END: take both outcomes */
			if (run.steps & 1)
				return true;
			break;
		case 0x31: /* BATCH_BUFFER_START */
			if (packet[0] & BATCH_SECOND_LEVEL) {
				assert_int_equal(level, 1);
				if (!execute_batch(source, packet, 2, ring_head))
					return false;
				break;
			}
			start = packet;
			goto jump;
		}
	}
	return false;
}

static void execute(void)
{
	u64 at = guest.submission.indirect, end = at + guest.submission.indirect_bytes;
	u32 packet[PACKET_DWORDS] = { 0 };

	while (at < end)
		if (!fetch_packet(GHYVI_FETCH_INDIRECT, 1, &at, 0, packet))
			return;
	assert_int_equal(at, end);
	for (at = guest.submission.head; at != guest.tail;) {
		if (!fetch_packet(GHYVI_FETCH_RING, 0, &at, 0, packet))
			return;
		if (OPCODE_MI(packet[0]) == 0x31 && !execute_batch(GHYVI_FETCH_RING, packet, 1, at))
			return;
	}
}

/* @small: the minimum values, so that inputs can exceed them. */
static struct ghyvi_audit_budget set_budget(bool small)
{
	struct ghyvi_audit_budget budget;

	ghyvi_audit_get_budget(guest.audit, &budget);
	if (small) {
		budget.budget_bytes = GHYVI_AUDIT_BYTES_MIN;
		budget.budget_commands = GHYVI_AUDIT_COMMANDS_MIN;
		budget.budget_batches = GHYVI_AUDIT_BATCHES_MIN + 2;
	}
	assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
	return budget;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static const char *const modes[] = { "privileged", "full", "log" };
	struct ghyvi_audit_budget budget;
	u32 choice, first_tail;

	input_init(data, bytes);
	choice = input_take(2);
	run.mode = choice % ARRAY_SIZE(modes);
	run.gen = choice & 0x100 ? 8 : 9;
	run.steps = STEPS_MAX;
	guest_ggtt_bytes = FUZZ_GGTT_BYTES;
	guest_user_bytes = FUZZ_USER_BYTES;
	make_audit(run.gen, choice >> 9 & 3, modes[run.mode]);
	budget = set_budget(choice & 0x800);
	if (choice & 0x1000) {
		guest.submission.indirect = INDIRECT;
		guest.submission.indirect_bytes = INDIRECT_BYTES;
	}
	if (choice & 0x2000)
		guest.submission.head = guest.tail = RING_BYTES - 64;
	take_ring();
	first_tail = guest.tail;
	take_ring();
	take_dwords(KERNEL_BATCH, rnd(256));
	take_dwords(INDIRECT, choice & 0x1000 ? rnd(64) : 0);
	put(INDIRECT + INDIRECT_BYTES - 8, NOOP, NOOP);
	take_dwords(USER_BATCH, rnd(256));
	put(USER_BATCH_ACROSS - 8, BATCH_END);
	take_dwords(USER_BATCH_ACROSS, input.left / 4);

	memcpy(run.ggtt, guest.ggtt, sizeof(run.ggtt));
	memcpy(run.user, guest.user, sizeof(run.user));

	guest.submission.tail = first_tail;
	guest.commands = ghyvi_audit_submission(guest.audit, &guest.submission);
	assert_false(IS_ERR(guest.commands));
	assert_read_once();
	/* A submission that was split does not reach its tail. */
	if (ghyvi_commands_tail(guest.commands) != first_tail ||
	    ghyvi_audit_extend(guest.commands, guest.tail))
		guest.tail = ghyvi_commands_tail(guest.commands);
	assert_read_once();
	assert_within_budget(&budget, 2);
	memset(guest.ggtt, 0xff, FUZZ_GGTT_BYTES);
	memset(guest.user, 0xff, FUZZ_USER_BYTES);
	if (run.mode != GHYVI_AUDIT_LOG)
		execute();
	drop_audit();
	return 0;
}
