// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lengths of unknown commands: kernel/audit/commands.c and shortcuts.h.
 *
 * Bounds: none. All engines, all headers.
 */
#include "prove.h"
#include <audit/commands.c>
#include <audit/shortcuts.c>

/*
 * The length of an unknown packet is bounded. It is not 0 for MI commands, which all engines have.
 * No shortcut accepts a packet without one.
 */
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
