// SPDX-License-Identifier: GPL-2.0-only
/*
 * MI commands, which all engines have: batches, stores, register access, waiting, and access to
 * state that vGPUs share. Commands of the last kind are refused or dropped, each with its reason.
 *
 * gen8.xml differs in two places, and the sources that are named here agree on the contrary: there,
 * the address does not fit into MI_CONDITIONAL_BATCH_BUFFER_END, and MI_MATH has six bits of
 * length.
 *
 * Of MI_REPORT_HEAD and MI_STORE_DATA_INDEX hardware stores to a status page, which is the host's.
 */
#include "tables.h"

#define ADDRESS(_dword, _space, _access, _bytes)                    \
	{                                                           \
		.dword = _dword, .space = GHYVI_ADDRESS_##_space,   \
		.access = GHYVI_ADDRESS_##_access, .bytes = _bytes, \
	}
#define GEN(_gen, _opcode, _name, _source, _least, _most, _bits, _kernel, _user, _hardware, ...) \
	[_opcode] = { .name = _name,                                                             \
		      .source = GHYVI_SOURCE_##_source,                                          \
		      .least = _least,                                                           \
		      .most = _most,                                                             \
		      .engines = GHYVI_ALL_ENGINES,                                              \
		      .length_bits = _bits,                                                      \
		      .kernel = GHYVI_##_kernel,                                                 \
		      .user = GHYVI_##_user,                                                     \
		      .hardware = GHYVI_HARDWARE_##_hardware,                                    \
		      .gen = _gen,                                                               \
		      __VA_ARGS__ }
#define C(...) GEN(8, __VA_ARGS__)
#define P(_opcode, _name, _source, _least, _most, _bits, _hardware) \
	[_opcode] =                                                 \
		GHYVI_PLAIN(_name, _source, _least, _most, _bits, 8, GHYVI_ALL_ENGINES, _hardware)
#define ANY GHYVI_ANY_LENGTH

const struct ghyvi_command ghyvi_mi_commands[GHYVI_MI_OPCODES] = {
	/*
	 * MI_NOOP can write NOPID. Nothing ends MI_SET_PREDICATE in a ring, so it might turn
	 * commands of other contexts into NOOPs. No manual says that it spares the end of a batch.
	 */
	P(0x00, "MI_NOOP", XML, 1, 1, 0, OPERANDS),
	P(0x01, "MI_SET_PREDICATE", XML, 1, 1, 0, SHARED),
	P(0x02, "MI_USER_INTERRUPT", XML, 1, 1, 0, CONTEXT),
	/* The next, the scan line commands and the flip act on the display, which no vGPU has. */
	C(0x03, "MI_WAIT_FOR_EVENT", XML, 1, 1, 0, DROPPED, DROPPED, SHARED),
	P(0x04, "MI_FLUSH", I915, 1, 1, 0, CONTEXT), P(0x05, "MI_ARB_CHECK", XML, 1, 1, 0, CONTEXT),
	P(0x06, "MI_RS_CONTROL", XML, 1, 1, 0, SHARED),
	P(0x07, "MI_REPORT_HEAD", XML, 1, 1, 0, SHARED),
	/*
	 * A guest on a vGPU turns preemption off around each batch, because it expects none.
	 * Without it a batch can be preempted.
	 */
	C(0x08, "MI_ARB_ON_OFF", XML, 1, 1, 0, ALLOWED, DROPPED, SHARED),
	P(0x09, "MI_URB_ATOMIC_ALLOC", XML, 1, 1, 0, SHARED),
	C(0x0a, "MI_BATCH_BUFFER_END", XML, 1, 1, 0, ALLOWED, ALLOWED, CONTEXT,
	  .check = GHYVI_CHECK_BATCH_END),
	C(0x0b, "MI_SUSPEND_FLUSH", XML, 1, 1, 0, ALLOWED, DROPPED, SHARED),
	P(0x0c, "MI_PREDICATE", XML, 1, 1, 0, CONTEXT),
	P(0x0d, "MI_TOPOLOGY_FILTER", XML, 1, 1, 0, SHARED),
	P(0x0e, "MI_SET_APPID", I915, 1, 1, 0, SHARED),
	P(0x0f, "MI_RS_CONTEXT", XML, 1, 1, 0, SHARED),
	C(0x12, "MI_LOAD_SCAN_LINES_INCL", XML, 2, ANY, 6, DROPPED, DROPPED, SHARED),
	C(0x13, "MI_LOAD_SCAN_LINES_EXCL", XML, 2, ANY, 6, DROPPED, DROPPED, SHARED),
	C(0x14, "MI_DISPLAY_FLIP", I915, 2, ANY, 8, DROPPED, DROPPED, SHARED),
	P(0x19, "MI_URB_CLEAR", XML8, 2, ANY, 8, CONTEXT),
	P(0x1a, "MI_MATH", MHW_MI, 2, ANY, 8, CONTEXT),
	/*
	 * Addresses a context by an id, which may be in use by another vGPU, too. Waiters poll
	 * memory, so they do not depend on the signal.
	 */
	C(0x1b, "MI_SEMAPHORE_SIGNAL", XML, 2, 2, 8, DROPPED, DROPPED, SHARED),
	C(0x1c, "MI_SEMAPHORE_WAIT", XML, 4, 4, 8, ALLOWED, PPGTT_ONLY_REJECT, CONTEXT,
	  .check = GHYVI_CHECK_SEMAPHORE_WAIT, .addresses = { ADDRESS(2, BIT22, READ, 4) }),
	/* Gen9: keeps power wells awake, which is the host's business. */
	GEN(9, 0x1d, "MI_FORCE_WAKEUP", XML9, 2, 2, 8, DROPPED, DROPPED, SHARED),
	C(0x20, "MI_STORE_DATA_IMM", XML, 4, ANY, 10, ALLOWED, PPGTT_ONLY_DROP, CONTEXT,
	  .check = GHYVI_CHECK_STORE_DATA, .addresses = { ADDRESS(1, BIT22, WRITE, 0) }),
	/* Stores to the status page of the context or the engine, which are the guest kernel's. */
	C(0x21, "MI_STORE_DATA_INDEX", XML, 3, 4, 8, ALLOWED, DROPPED, SHARED),
	C(0x22, "MI_LOAD_REGISTER_IMM", XML, 3, ANY, 8, ALLOWED, ALLOWED, OPERANDS,
	  .check = GHYVI_CHECK_LOAD_IMM),
	/*
	 * The auditor executes it on the guest's own table; see check_update_gtt(). i915 knows the
	 * opcode, but not the length.
	 */
	C(0x23, "MI_UPDATE_GTT", GVT, 4, ANY, 10, DROPPED, REFUSED, SHARED,
	  .check = GHYVI_CHECK_UPDATE_GTT),
	C(0x24, "MI_STORE_REGISTER_MEM", XML, 4, 4, 8, ALLOWED, PPGTT_ONLY_DROP, OPERANDS,
	  .reads_register = 1, .addresses = { ADDRESS(2, BIT22, WRITE, 4) }),
	C(0x26, "MI_FLUSH_DW", XML, 2, 5, 6, ALLOWED, ALLOWED, OPERANDS,
	  .check = GHYVI_CHECK_FLUSH_DW, .addresses = { ADDRESS(1, POST, WRITE, 8) }),
	/* Flushes lines of the host's last-level cache by address. */
	C(0x27, "MI_CLFLUSH", XML, 3, ANY, 10, REFUSED, REFUSED, SHARED,
	  .addresses = { ADDRESS(1, BIT22, WRITE, 64) }),
	/*
	 * Hardware's counters include the work of other vGPUs. The software pGPU writes a report
	 * without counts; a backend of hardware must drop the command.
	 */
	C(0x28, "MI_REPORT_PERF_COUNT", XML, 4, 4, 6, ALLOWED, ALLOWED, SHARED,
	  .addresses = { ADDRESS(1, DWORD1_BIT0, WRITE, 4 * MI_REPORT_DWORDS) }),
	C(0x29, "MI_LOAD_REGISTER_MEM", XML, 4, 4, 8, ALLOWED, PPGTT_ONLY_DROP, OPERANDS,
	  .writes_register = 1, .addresses = { ADDRESS(2, BIT22, READ, 4) }),
	C(0x2a, "MI_LOAD_REGISTER_REG", XML, 3, 3, 8, ALLOWED, ALLOWED, OPERANDS,
	  .reads_register = 1, .writes_register = 2),
	/* No pGPU has a resource streamer or URB memory; no driver emits the next three. */
	C(0x2b, "MI_RS_STORE_DATA_IMM", XML, 2, ANY, 8, REFUSED, DROPPED, SHARED,
	  .addresses = { ADDRESS(1, PPGTT, WRITE, 4) }),
	C(0x2c, "MI_LOAD_URB_MEM", XML, 2, ANY, 8, REFUSED, DROPPED, SHARED,
	  .addresses = { ADDRESS(2, PPGTT, READ, 4) }),
	C(0x2d, "MI_STORE_URB_MEM", XML, 2, ANY, 8, REFUSED, DROPPED, SHARED,
	  .addresses = { ADDRESS(2, PPGTT, WRITE, 4) }),
	C(0x2e, "MI_COPY_MEM_MEM", XML, 5, 5, 8, ALLOWED, PPGTT_ONLY_DROP, CONTEXT,
	  .addresses = { ADDRESS(1, BIT21, WRITE, 4), ADDRESS(3, BIT22, READ, 4) }),
	C(0x2f, "MI_ATOMIC", XML, 3, 11, 8, ALLOWED, PPGTT_ONLY_DROP, CONTEXT,
	  .check = GHYVI_CHECK_ATOMIC, .addresses = { ADDRESS(1, BIT22, WRITE, 16) }),
	C(0x31, "MI_BATCH_BUFFER_START", XML, 3, 3, 8, ALLOWED, ALLOWED, OPERANDS,
	  .check = GHYVI_CHECK_BATCH_START),
	C(0x36, "MI_CONDITIONAL_BATCH_BUFFER_END", XML9, 4, 4, 8, ALLOWED, PPGTT_ONLY_DROP, CONTEXT,
	  .check = GHYVI_CHECK_BATCH_MAY_END, .addresses = { ADDRESS(2, BIT22, READ, 4) }),
	/* Unknown: MI_SEMAPHORE_MBOX and MI_SET_CONTEXT, which predate execlists. */
};
