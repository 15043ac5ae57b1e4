// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lengths of commands: kernel/audit/{commands,shortcuts}*.c.
 *
 * Bounds: none. All headers, all commands of the tables.
 */
#include "prove.h"
#include <audit/tables.h>
#include <audit/commands_mi.c>
#undef ADDRESS
#undef C
#undef P
#undef ANY
#include <audit/commands_2d.c>
#undef ROW
#undef REFUSED
#undef ANY
#include <audit/commands_render.c>
#undef ROW
#undef ANY
#include <audit/commands_video.c>
#include <audit/commands.c>
#include <audit/shortcuts.c>

/* What tables() proves of each command, and lengths() assumes: shortcuts ignore @least. */
static bool is_sound(const struct ghyvi_command *command)
{
	u8 bits = command->length_bits;

	if (command->least < 1 || command->least > command->most || bits > 16)
		return false;
	if (!bits)
		return command->least == 1;
	return command->least > 1 || (bits != 8 && bits != 12 && bits != 16);
}

/*
 * Packets of any command: an engine that skips one makes progress. The fast path takes one for as
 * long as the tables do, or leaves it to them.
 */
void lengths(void)
{
	struct ghyvi_command command = { .least = (u16)any_bits(16), .most = (u16)any_bits(16) };
	struct audit_shortcut shortcut;
	u32 header = nondet_u32();
	unsigned int dwords, fast;

	command.length_bits = (u8)any_bits(5);
	assume(is_sound(&command));
	dwords = ghyvi_command_dwords(GHYVI_RCS, &command, header);
	prove(dwords >= 1 && dwords <= 0xffff + 2);
	shortcut = (struct audit_shortcut){ command.least, command.most, command.length_bits };
	fast = audit_shortcut_length(&shortcut, header);
	if (fast >= shortcut.least && fast <= shortcut.most)
		prove(fast == dwords);
}

/* The shortest packet has all operands that check.c reads. */
static void check_command(const struct ghyvi_command *command)
{
	const struct ghyvi_command_address *address = command->addresses;
	unsigned int i;

	if (!command->engines)
		return;
	prove(is_sound(command));
	prove(command->reads_register < command->least);
	prove(command->writes_register < command->least);
	for (i = 0; i < ARRAY_SIZE(command->addresses); i++, address++)
		if (address->space == GHYVI_ADDRESS_BIT22 ||
		    address->space == GHYVI_ADDRESS_BIT21 ||
		    address->space == GHYVI_ADDRESS_DWORD1_BIT0)
			prove(address->dword + 2 <= command->least);
}

static void check_blocks(const struct ghyvi_command *const *blocks)
{
	unsigned int block, i;

	for (block = 0; block < GHYVI_BLOCKS; block++)
		for (i = 0; blocks[block] && i < GHYVI_BLOCK_COMMANDS; i++)
			check_command(&blocks[block][i]);
}

void tables(void)
{
	unsigned int i;

	for (i = 0; i < GHYVI_MI_OPCODES; i++)
		check_command(&ghyvi_mi_commands[i]);
	for (i = 0; i < GHYVI_2D_OPCODES; i++)
		check_command(&ghyvi_2d_commands[i]);
	check_blocks(ghyvi_render_blocks);
	check_blocks(ghyvi_video_blocks);
	check_blocks(ghyvi_enhance_blocks);
}

/* Only of a packet that no engine has, the length is 0; and no shortcut accepts an unknown one. */
void unknown(void)
{
	enum ghyvi_engine_id engine = any_in(0, GHYVI_ENGINES - 1);
	u32 header = nondet_u32();
	unsigned int dwords = ghyvi_command_dwords(engine, NULL, header);

	prove(dwords <= 0xffff + 2);
	prove(dwords || GHYVI_PACKET_TYPE(header) != GHYVI_TYPE_MI);
	dwords = audit_shortcut_length(&none, header);
	prove(dwords < none.least || dwords > none.most);
}
