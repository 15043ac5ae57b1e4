// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of a command's operands. Commands of privileged streams may access only the vGPU's
 * partition of the GGTT and the listed registers. Forbidden accesses by commands of user streams
 * are dropped by the engine, as on hardware. User commands are refused here only if hardware would
 * stop at them, or if they start commands that are not audited.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <ghyvi/gen8_cmds.h>
#include "audit.h"

/* Is the address in the GGTT? Not for post-sync addresses, which have checks of their own. */
static bool is_global(const struct ghyvi_command_address *address, const u32 *packet)
{
	switch (address->space) {
	case GHYVI_ADDRESS_BIT22:
		return packet[0] & BIT(22);
	case GHYVI_ADDRESS_BIT21:
		return packet[0] & BIT(21);
	case GHYVI_ADDRESS_DWORD1_BIT0:
		return packet[1] & BIT(0);
	default:
		return false;
	}
}

static int check_addresses(struct audit_scan *scan, const u32 *packet)
{
	const struct ghyvi_command_address *address = scan->command->addresses;
	const struct ghyvi_command_address *end = address + ARRAY_SIZE(scan->command->addresses);
	u32 bytes;

	/* The engine drops accesses of user streams to the GGTT. */
	for (; scan->privileged && address < end && address->space; address++) {
		if (!is_global(address, packet))
			continue;
		bytes = address->bytes ?: 4 * (scan->dwords - address->dword - 2);
		if (!ghyvi_audit_owns_ggtt(scan, gen8_cmd_address(packet + address->dword), bytes))
			return ghyvi_audit_refuse(scan, AUDIT_GGTT_RANGE);
	}
	return 0;
}

static int check_register_write(struct audit_scan *scan, u32 field, bool bytes)
{
	u32 offset = field & GHYVI_REGISTER_MASK;
	const struct ghyvi_register_rule *rule;

	if (offset >= GHYVI_REGISTERS_END)
		return ghyvi_audit_refuse(scan, AUDIT_REGISTER_FILE);
	/* The engine drops forbidden writes of user streams. */
	if (!scan->privileged && !bytes)
		return 0;
	rule = ghyvi_register_find(scan->engine, offset);
	if (ghyvi_register_write_rule(scan->engine, rule, offset, scan->privileged, bytes, false) !=
	    GHYVI_REFUSED)
		return 0;
	return ghyvi_audit_refuse(scan, rule ? AUDIT_REGISTER_BYTES : AUDIT_REGISTER);
}

static int check_registers(struct audit_scan *scan, const u32 *packet)
{
	const struct ghyvi_command *command = scan->command;

	if (command->reads_register &&
	    (packet[command->reads_register] & GHYVI_REGISTER_MASK) >= GHYVI_REGISTERS_END)
		return ghyvi_audit_refuse(scan, AUDIT_REGISTER_FILE);
	if (!command->writes_register)
		return 0;
	return check_register_write(scan, packet[command->writes_register], false);
}

static int check_load_imm(struct audit_scan *scan, const u32 *packet)
{
	unsigned int i;
	int err = 0;

	if (!(scan->dwords & 1))
		return ghyvi_audit_refuse(scan, AUDIT_LENGTH);
	for (i = 1; i < scan->dwords && !err; i += 2)
		err = check_register_write(scan, packet[i], MI_LRI_BYTE_DISABLES(packet[0]));
	return err;
}

/* Engines stay in the PPGTT when a user batch starts another, whatever bit 8 says. */
static int check_batch_start(struct audit_scan *scan, const u32 *packet)
{
	bool user = packet[0] & MI_BATCH_PPGTT_HSW || !scan->privileged;
	unsigned int level = scan->level ?: 1;
	int err;

	if (scan->source == GHYVI_FETCH_INDIRECT)
		return ghyvi_audit_refuse(scan, AUDIT_BATCH_PLACE);
	if (packet[0] & MI_BATCH_SECOND_LEVEL) {
		if (scan->level != 1)
			return ghyvi_audit_refuse(scan, AUDIT_BATCH_LEVEL);
		level = 2;
	}
	/* BB_OFFSET has its value only when the command runs. */
	if (packet[0] & MI_BATCH_ADD_OFFSET &&
	    (!user || scan->commands->mode != GHYVI_AUDIT_PRIVILEGED))
		return ghyvi_audit_refuse(scan, AUDIT_BATCH_OFFSET);
	err = ghyvi_audit_scan_target(scan, gen8_cmd_address(packet + 1),
				      user ? GHYVI_FETCH_PPGTT : GHYVI_FETCH_GGTT, level);
	/*
	 * A jump within a level does not return; a call of a second-level batch does. A predicated
	 * jump may not be taken.
	 */
	if (level == scan->level && !(packet[0] & MI_BATCH_PREDICATE))
		scan->left = 0;
	return err;
}

static int check_batch_end(struct audit_scan *scan)
{
	if (!scan->level)
		return ghyvi_audit_refuse(scan, AUDIT_BATCH_PLACE);
	if (scan->command->check == GHYVI_CHECK_BATCH_END)
		scan->left = 0;
	return 0;
}

/*
 * Hardware cannot preempt the load of a context, of which the indirect context batch is a part. No
 * driver waits there.
 */
static int check_semaphore_wait(struct audit_scan *scan, const u32 *packet)
{
	if (scan->source == GHYVI_FETCH_INDIRECT)
		return ghyvi_audit_refuse(scan, AUDIT_WAIT_PLACE);
	if (packet[0] & MI_SEMAPHORE_REGISTER_POLL ||
	    MI_SEMAPHORE_COMPARE(packet[0]) > MI_SEMAPHORE_COMPARE_LAST)
		return ghyvi_audit_refuse(scan, AUDIT_SEMAPHORE);
	return 0;
}

/*
 * A write to memory after a flush. With GEN8_POST_STORE_INDEX, the address is an offset in a page
 * that the engine chooses.
 */
static int check_post(struct audit_scan *scan, u32 flags, bool ggtt, u64 address)
{
	if (!scan->privileged || !ggtt || !GEN8_POST_SYNC(flags) || flags & GEN8_POST_STORE_INDEX ||
	    ghyvi_audit_owns_ggtt(scan, address, sizeof(u64)))
		return 0;
	return ghyvi_audit_refuse(scan, AUDIT_GGTT_RANGE);
}

/* Dwords that a short packet omits are 0 to the engine. */
static int check_flush_dw(struct audit_scan *scan, const u32 *packet)
{
	const u32 address[2] = { packet[1], scan->dwords > 2 ? packet[2] : 0 };

	if (GEN8_POST_SYNC(packet[0]) == MI_FLUSH_DW_POST_RESERVED)
		return ghyvi_audit_refuse(scan, AUDIT_POST);
	return check_post(scan, packet[0], packet[1] & MI_FLUSH_DW_USE_GTT,
			  gen8_cmd_qword_address(address));
}

static int check_pipe_control(struct audit_scan *scan, const u32 *packet)
{
	if (packet[1] & PIPE_CONTROL_MMIO_WRITE)
		return scan->privileged ? ghyvi_audit_refuse(scan, AUDIT_MMIO_WRITE) : 0;
	return check_post(scan, packet[1], packet[1] & PIPE_CONTROL_GLOBAL_GTT_IVB,
			  gen8_cmd_qword_address(packet + 2));
}

/*
 * Is it the first command of the submission, so that all commands before it are complete? In the
 * same unit of the ring's tail there can be one before, of one dword, which accesses no memory.
 */
static bool is_first(const struct audit_scan *scan)
{
	return scan->source == GHYVI_FETCH_RING && !scan->commands->newest &&
	       audit_ring_distance(&scan->commands->submission, scan->segment->from,
				   (u32)scan->pos) < AUDIT_TAIL_BYTES;
}

/*
 * The engine walks the host's GGTT table. So the auditor updates the guest's table and its shadow
 * now, and the engine drops the command. Commands before it must have run: the submission is split
 * there, and a batch cannot have the command. No driver of these generations uses it. Storing an
 * entry takes longer than checking any command: each entry counts as a command of the budget.
 */
static int check_update_gtt(struct audit_scan *scan, const u32 *packet)
{
	const struct ghyvi_audit_params *params = &scan->audit->params;
	u64 first = (packet[1] & MI_UPDATE_GTT_ADDRESS_MASK) >> GHYVI_PAGE_SHIFT;
	unsigned int count = (scan->dwords - 2) / 2;
	unsigned int i;
	u64 entry;

	if (!gen8_update_gtt_valid(scan->dwords))
		return ghyvi_audit_refuse(scan, AUDIT_LENGTH);
	if (!ghyvi_audit_owns_ggtt(scan, first << GHYVI_PAGE_SHIFT, (u64)count << GHYVI_PAGE_SHIFT))
		return ghyvi_audit_refuse(scan, AUDIT_GGTT_RANGE);
	if (!is_first(scan))
		return ghyvi_audit_refuse(scan, AUDIT_UPDATE_GTT);
	cond_resched();
	scan->commands_left -= count;
	for (i = 0; i < count; i++) {
		memcpy(&entry, packet + 2 + 2 * i, sizeof(entry));
		if (!scan->saved)
			params->owner->update_ggtt(params->owner, first + i, entry);
	}
	return 0;
}

/* What the engine drops is not looked at. */
static int check_atomic(struct audit_scan *scan, const u32 *packet)
{
	if (gen8_atomic_valid(packet, scan->dwords) ||
	    ghyvi_command_rule(scan->command, packet[0], scan->privileged) == GHYVI_DROPPED)
		return 0;
	return ghyvi_audit_refuse(scan, AUDIT_ATOMIC);
}

static int check_special(struct audit_scan *scan, const u32 *packet)
{
	switch (scan->command->check) {
	case GHYVI_CHECK_BATCH_START:
		return check_batch_start(scan, packet);
	case GHYVI_CHECK_BATCH_END:
	case GHYVI_CHECK_BATCH_MAY_END:
		return check_batch_end(scan);
	case GHYVI_CHECK_LOAD_IMM:
		return check_load_imm(scan, packet);
	case GHYVI_CHECK_SEMAPHORE_WAIT:
		return check_semaphore_wait(scan, packet);
	case GHYVI_CHECK_FLUSH_DW:
		return check_flush_dw(scan, packet);
	case GHYVI_CHECK_PIPE_CONTROL:
		return check_pipe_control(scan, packet);
	case GHYVI_CHECK_UPDATE_GTT:
		return check_update_gtt(scan, packet);
	case GHYVI_CHECK_STORE_DATA:
		return gen8_store_data_valid(packet[0], scan->dwords) ?
			       0 :
			       ghyvi_audit_refuse(scan, AUDIT_LENGTH);
	case GHYVI_CHECK_ATOMIC:
		return check_atomic(scan, packet);
	default:
		return 0;
	}
}

int ghyvi_audit_check(struct audit_scan *scan)
{
	const u32 *packet;
	int err = 0;

	if (scan->command->kernel == GHYVI_REFUSED && scan->command->user == GHYVI_REFUSED)
		return ghyvi_audit_refuse(scan, AUDIT_UNSUPPORTED);
	if (ghyvi_command_rule(scan->command, scan->header, scan->privileged) == GHYVI_REFUSED)
		return ghyvi_audit_refuse(scan, AUDIT_DOMAIN);
	packet = audit_scan_packet(scan, &err);
	if (!packet)
		return err;
	err = check_special(scan, packet);
	if (!err)
		err = check_addresses(scan, packet);
	return err ?: check_registers(scan, packet);
}
