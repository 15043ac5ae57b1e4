/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_H
#define GHYVI_EU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * DOC: What execution units do
 *
 * This library executes the kernels that a Gen9 GPU (Skylake to Comet Lake) would execute on its
 * execution units (EUs): all threads of one GPGPU_WALKER or MEDIA_OBJECT command. It has no global
 * state and no access to memory of its own: the caller maps each page of GPU memory, or refuses.
 *
 * The way through it: eu_state.h turns commands into a struct eu_dispatch. eu_run_begin() makes a
 * run of it. eu_run() executes a number of instructions and is called until it says that the run
 * is done. Between two calls, a run can be saved, and goes on elsewhere.
 *
 * A kernel is the enemy. What it does costs at most its own run: an access that the caller refuses,
 * an instruction that does not exist, a register past the last one end the run as an error that
 * names the instruction. What the library does not know is an error, too, never a wrong number.
 * Documentation/results/eu.md lists what it knows.
 *
 * Contexts: nothing here is for signal handlers. A run and a cache belong to one thread at a time,
 * but different threads may use the same cache for different runs.
 */

#define EU_PAGE_BYTES 4096u
/** EU_INLINE_DWORDS: the most dwords of data that a MEDIA_OBJECT command carries */
#define EU_INLINE_DWORDS 128u

/**
 * enum eu_access - why a page is mapped
 * @EU_ACCESS_READ: a kernel loads data, or samples an image
 * @EU_ACCESS_WRITE: a kernel stores data, or does an atomic operation; the page is read, too
 * @EU_ACCESS_EXECUTE: an instruction is fetched
 * @EU_ACCESS_STATE: the hardware itself reads: payload, descriptors of interfaces, surfaces,
 *	samplers
 */
enum eu_access {
	EU_ACCESS_READ,
	EU_ACCESS_WRITE,
	EU_ACCESS_EXECUTE,
	EU_ACCESS_STATE,
};

/**
 * struct eu_memory_ops - the memory of the execution units
 * @map: Returns where the page of EU_PAGE_BYTES bytes at GPU address @address is in this process,
 *	or NULL if the page may not be accessed that way: the run then ends as EU_FAULT. @address is
 *	a multiple of EU_PAGE_BYTES and has 48 bits. The pointer is used until the call of the
 *	library in which @map was called returns, and asked for again in the next. If a run uses
 *	more than one thread, @map is called by all of them at the same time.
 */
struct eu_memory_ops {
	void *(*map)(void *context, uint64_t address, enum eu_access access);
};

/**
 * struct eu_memory - memory as one context of the GPU sees it
 * @ops: how to map it
 * @context: handed to @ops
 */
struct eu_memory {
	const struct eu_memory_ops *ops;
	void *context;
};

/**
 * enum eu_status - how a call ended
 * @EU_DONE: all threads have ended
 * @EU_AGAIN: the budget is used up; call again to go on
 * @EU_FAULT: a page that was needed is not mapped
 * @EU_UNSUPPORTED: an instruction, a message, or a form of one that this library does not know
 * @EU_ILLEGAL: what no kernel may do: a register region past r127, a message without payload, a
 *	descriptor with fields out of range
 * @EU_STUCK: no thread of a group can go on: a barrier never completes
 * @EU_NO_MEMORY: this process has no memory left
 *
 * All but the first two are final. Hardware would hang or go on with undefined data; a caller
 * treats them as a hang of the engine.
 */
enum eu_status {
	EU_DONE,
	EU_AGAIN,
	EU_FAULT,
	EU_UNSUPPORTED,
	EU_ILLEGAL,
	EU_STUCK,
	EU_NO_MEMORY,
};

/**
 * struct eu_error - what went wrong
 * @status: as returned
 * @access: for EU_FAULT, the kind of access
 * @address: for EU_FAULT, the GPU address
 * @ip: GPU address of the instruction, 0 if none was involved
 * @instruction: its 16 bytes, after decompression
 * @group: the thread group
 * @thread: the thread in it
 * @text: one line without a newline that names the instruction or message and says what is wrong
 */
struct eu_error {
	enum eu_status status;
	enum eu_access access;
	uint64_t address;
	uint64_t ip;
	uint32_t instruction[4];
	uint32_t group[3];
	uint32_t thread;
	char text[160];
};

/**
 * struct eu_base - a base address of STATE_BASE_ADDRESS
 * @address: GPU address, a multiple of EU_PAGE_BYTES
 * @bytes: accesses relative to @address must be below it; UINT64_MAX: no bound
 */
struct eu_base {
	uint64_t address;
	uint64_t bytes;
};

/**
 * struct eu_dispatch - one walk over thread groups, or one media object
 * @media: MEDIA_OBJECT: one thread, @inline_data or indirect data behind its constants
 * @general: base of stateless accesses and of scratch
 * @surface: base of binding tables and surface states
 * @dynamic: base of sampler states
 * @indirect: base of indirect data
 * @instruction: base of kernels
 * @kernel: offset of the first instruction from @instruction, a multiple of 64
 * @simd: lanes of a thread: 8, 16 or 32
 * @start: the first thread group in x, y, z
 * @end: one past the last one
 * @skip: the number of groups, in the walker's order, that are not executed: they have been before
 * @threads: threads of a group in x, y, z; each 1 to 64, the product at most 64
 * @right_mask: lanes of the last thread in x, bit 0 is lane 0
 * @bottom_mask: lanes of the last thread in y
 * @indirect_data: offset of the payload from @indirect, used if @indirect_bytes is not 0
 * @indirect_bytes: bytes of it: cross-thread data once, then each thread's; or of a media object's
 * @per_thread_registers: registers of 32 bytes of constant data that each thread has for itself
 * @cross_thread_registers: registers of constant data that all threads have
 * @constants: constant data that MEDIA_CURBE_LOAD took, of a media object or if @indirect_bytes is
 *	0; the memory belongs to the caller and stays valid until eu_run_begin() returns
 * @constants_bytes: its size
 * @slm_bytes: shared local memory of a group: 0 or 1024 to 65536, a power of two
 * @barrier: groups use barriers
 * @binding_table: offset of the binding table from @surface
 * @samplers: offset of the sampler states from @dynamic
 * @scratch: offset of scratch space from @general
 * @scratch_bytes: scratch space per thread, 0 or a power of two, 1024 to 2 MiB
 * @float_mode_alternate: the alternate floating-point mode (not supported: an error)
 * @single_flow: single program flow: no lane branches on its own (only jmpi is supported)
 * @rounding: rounding mode that threads start with: 0 nearest even, 1 up, 2 down, 3 to zero
 * @descriptor: the interface descriptor's index, for the header of a media object
 * @inline_dwords: dwords of @inline_data
 * @inline_data: data of MEDIA_OBJECT
 */
struct eu_dispatch {
	bool media;
	struct eu_base general;
	struct eu_base surface;
	struct eu_base dynamic;
	struct eu_base indirect;
	struct eu_base instruction;
	uint64_t kernel;
	uint32_t simd;
	uint32_t start[3];
	uint32_t end[3];
	uint64_t skip;
	uint32_t threads[3];
	uint32_t right_mask;
	uint32_t bottom_mask;
	uint32_t indirect_data;
	uint32_t indirect_bytes;
	uint32_t per_thread_registers;
	uint32_t cross_thread_registers;
	const void *constants;
	uint32_t constants_bytes;
	uint32_t slm_bytes;
	bool barrier;
	uint32_t binding_table;
	uint32_t samplers;
	uint64_t scratch;
	uint32_t scratch_bytes;
	bool float_mode_alternate;
	bool single_flow;
	uint32_t rounding;
	uint32_t descriptor;
	uint32_t inline_dwords;
	uint32_t inline_data[EU_INLINE_DWORDS];
};

/**
 * struct eu_counters - what a run has done so far
 * @instructions: instructions of threads
 * @lanes: lane operations: each instruction counts the lanes that it was executed for
 * @messages: SEND and SENDS among the instructions
 * @groups: thread groups that have ended
 */
struct eu_counters {
	uint64_t instructions;
	uint64_t lanes;
	uint64_t messages;
	uint64_t groups;
};

/**
 * struct eu_cache_counters - what a cache has
 * @bytes: memory of decoded instructions
 * @evicted: pages of instructions that were dropped to make room, so far
 */
struct eu_cache_counters {
	uint64_t bytes;
	uint64_t evicted;
};

/**
 * eu_cache_create() - make a cache of decoded kernels
 * @bytes: the most memory of decoded instructions; the page fetched longest ago goes first. Each
 *	thread of a run keeps at least the page that it executes, up to 1 MiB, whatever @bytes is.
 *
 * A page of a kernel is mapped and compared when a run first executes an instruction there, and
 * again if it has executed many others since. A kernel that was changed is decoded again in the
 * next run, at the latest.
 *
 * Return: the cache, NULL without memory.
 */
struct eu_cache *eu_cache_create(size_t bytes);

/** eu_cache_counters() - what the cache has now */
void eu_cache_counters(struct eu_cache *cache, struct eu_cache_counters *counters);

/**
 * eu_cache_destroy() - free a cache
 * @cache: no run uses it any more; may be NULL
 */
void eu_cache_destroy(struct eu_cache *cache);

/**
 * eu_run_begin() - prepare a dispatch
 * @cache: where its kernel is looked up; longer-lived than the run
 * @memory: the memory it sees; copied
 * @dispatch: what is executed; copied
 * @error: says what is wrong, if the dispatch is refused
 *
 * Nothing is executed yet and no page is mapped.
 *
 * Return: the run, NULL if @dispatch has fields out of range, or without memory.
 */
struct eu_run *eu_run_begin(struct eu_cache *cache, const struct eu_memory *memory,
			    const struct eu_dispatch *dispatch, struct eu_error *error);

/**
 * eu_run_threads() - let a run use more than one core
 * @run: a run
 * @threads: threads of this process, 1 to 64; eu_run_begin() sets 1
 *
 * Each executes thread groups of its own. Results are the same but for the order of atomic
 * operations. With more than one, eu_run() stops at boundaries of groups only and may exceed its
 * budget by what one group of each thread takes.
 */
void eu_run_threads(struct eu_run *run, unsigned int threads);

/**
 * eu_run() - execute for a while
 * @run: a run
 * @budget: instructions; with one thread, a multiple of it is never exceeded by more than 64
 * @error: says what is wrong for any status but EU_DONE and EU_AGAIN
 *
 * Groups are executed in the order of the hardware's walker (x first), each to its end, so the same
 * run does the same accesses in the same order whatever the budgets are (with one thread).
 *
 * Context: calls @memory's map, nothing else. With more than one thread, creates threads and
 * waits for them.
 *
 * Return: a status; after EU_AGAIN, call again.
 */
enum eu_status eu_run(struct eu_run *run, uint64_t budget, struct eu_error *error);

/**
 * eu_run_at_boundary() - whether no thread group has been started and not ended
 * @run: a run
 *
 * Then eu_run_save() needs few bytes. eu_run_to_boundary() gets there.
 */
bool eu_run_at_boundary(const struct eu_run *run);

/**
 * eu_run_to_boundary() - as eu_run(), but stops once at a boundary of thread groups
 * @run: a run
 * @budget: instructions at most
 * @error: as eu_run()
 *
 * Return: EU_DONE, EU_AGAIN (see eu_run_at_boundary() for which of both reasons), or an error.
 */
enum eu_status eu_run_to_boundary(struct eu_run *run, uint64_t budget, struct eu_error *error);

/**
 * eu_run_save() - save what a run has reached
 * @run: a run for which eu_run() did not return an error
 * @buffer: where to; may be NULL
 * @bytes: its size
 *
 * The format belongs to this version of the library, has no pointers, and is the same on all hosts
 * of one byte order. At a boundary it is below 4096 bytes, else 6 KiB for each thread of the group
 * and its SLM.
 *
 * Return: the bytes needed; nothing is written if it is more than @bytes.
 */
size_t eu_run_save(const struct eu_run *run, void *buffer, size_t bytes);

/**
 * eu_run_restore() - go on where a run was saved
 * @run: fresh from eu_run_begin(), with the same dispatch, and after eu_run_threads() with at least
 *	as many threads: a saved run does not decide how many this process has
 * @buffer: what eu_run_save() wrote; need not be trusted
 * @bytes: its size
 *
 * Return: 0, or -EINVAL if @buffer cannot be the state of this dispatch; @run is then as before.
 */
int eu_run_restore(struct eu_run *run, const void *buffer, size_t bytes);

/** eu_run_counters() - what the run has done so far, restored runs included */
void eu_run_counters(const struct eu_run *run, struct eu_counters *counters);

/** eu_run_end() - free a run, whether it is done or not; @run may be NULL */
void eu_run_end(struct eu_run *run);

#endif
