// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auditor's tables as a grammar. Each command has a length that they allow, mostly; operands
 * that they say are addresses are addresses of the fixture's data, mostly.
 */
#include <linux/kernel.h>
#include <audit/tables.h>

#include "choices.h"
#include "commands.h"

#define TRIES 8 /* most numbers are no command */

static const struct ghyvi_command *find(unsigned int engine, u32 *header)
{
	static const u8 types[] = { GHYVI_TYPE_MI, GHYVI_TYPE_3D, GHYVI_TYPE_3D };
	const struct ghyvi_command *command = NULL;

	for (int i = 0; i < TRIES && !(command && command->name); i++) {
		u32 type = engine == GHYVI_BCS ? (below(2) ? GHYVI_TYPE_2D : GHYVI_TYPE_MI) :
						 types[below(ARRAY_SIZE(types))];

		switch (type) {
		case GHYVI_TYPE_MI:
			*header = below(GHYVI_MI_OPCODES) << 23;
			break;
		case GHYVI_TYPE_2D:
			*header = type << 29 | below(GHYVI_2D_OPCODES) << 22;
			break;
		default: {
			u32 block = take(1);

			/* Go on to the next block that the engine has. */
			for (int j = 0; j < GHYVI_BLOCKS; j++, block++)
				if (ghyvi_command_blocks[engine][block % GHYVI_BLOCKS])
					break;
			*header = type << 29 | block % GHYVI_BLOCKS << 21 |
				  below(GHYVI_BLOCK_COMMANDS) << 16;
		}
		}
		command = ghyvi_command_find(engine, *header);
	}
	return command && command->name ? command : NULL;
}

unsigned int command_any(unsigned int engine, uint32_t *dw)
{
	u32 header, length, i;
	const struct ghyvi_command *command = find(engine, &header);

	if (!command) {
		dw[0] = take(4);
		return 1 + below(8);
	}
	length = command->most == GHYVI_ANY_LENGTH ?
			 command->least + below(8) :
			 command->least + below(command->most - command->least + 1);
	length = min(length, COMMAND_DWORDS);
	for (i = 1; i < length; i++)
		dw[i] = any_dword();
	for (i = 0; i < ARRAY_SIZE(command->addresses); i++) {
		u32 at = command->addresses[i].dword;

		if (at && at + 1 < length && below(WILD)) {
			dw[at] = any_address();
			dw[at + 1] = 0;
		}
	}
	dw[0] = header;
	if (command->length_bits)
		dw[0] |= length - (command->least == 1 ? 1 : 2);
	/* Flags of MI commands and of blits, but in general not the address space GGTT. */
	if (!below(4))
		dw[0] |= take(4) & 0x003fff00 & ~(below(WILD) ? 1u << 22 : 0) &
			 ~((1u << command->length_bits) - 1) &
			 (header >> 29 == GHYVI_TYPE_3D ? 0 : ~0u);
	if (!below(2 * WILD))
		dw[0] ^= 1u << below(8);
	return length;
}
