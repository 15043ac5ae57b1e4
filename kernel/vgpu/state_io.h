/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a vGPU as a stream: its layout, and bounded reading and writing of it.
 *
 * A stream is an identity, then sections. Each section has a header and a payload whose size is a
 * multiple of 8. Numbers are in the byte order of the CPU: KVM's write tracking, and the pGPUs of
 * which vGPUs can move, are x86 only. Documentation/migration.md describes the format.
 */
#ifndef GHYVI_VGPU_STATE_IO_H
#define GHYVI_VGPU_STATE_IO_H

#include <linux/string.h>
#include "vgpu_types.h"

/*
 * DOC: how the format grows
 *
 * A structure of a section never changes. What is new gets a section of its own, after those that
 * are there, and the next STATE_MINOR. Without STATE_OPTIONAL, a ghyvi that does not know the
 * section refuses the state, and says which minor version it has: so for what the guest would
 * miss. A load must not need the section: a state of a lower minor version has none, and the vGPU
 * keeps what its reset has set. STATE_MAJOR changes when that is impossible. A state of each
 * version is in selftests/unit/states.
 */
#define STATE_MAGIC 0x47494d4956594847ULL /* "GHYVIMIG" */
#define STATE_MAJOR 1
#define STATE_MINOR 4

/* Part of a type: a ghyvi that does not know the section skips it. */
#define STATE_OPTIONAL 0x80000000u

/* Section types, in their order. */
enum state_section {
	STATE_DEVICE = 1, /* of the owner of the vGPU */
	STATE_SETTINGS,
	STATE_MACHINE,
	STATE_REGISTERS,
	STATE_GGTT,
	STATE_ENGINE, /* once per engine */
	STATE_WORKLOAD, /* after its engine */
	STATE_END,
	/* minor version 1, before the end: */
	STATE_DISPLAY, /* if the vGPU has one */
	/* minor version 2, after STATE_MACHINE: */
	STATE_FAILSAFE = STATE_OPTIONAL | 10,
	/* minor version 3, after STATE_DISPLAY: */
	STATE_EDID = 11, /* if the monitor's has two blocks: the second one */
	/* minor version 4, after STATE_WORKLOAD: */
	STATE_GROUP, /* if the workload is in a thread group: what that has reached */
};

struct state_header {
	u32 type;
	u32 bytes; /* of the payload */
};

struct state_identity {
	u64 magic;
	u16 major;
	u16 minor;
	u16 device_id;
	u8 revision;
	u8 gen;
	u32 caps; /* of PVINFO */
	u32 job_bytes; /* of the backend */
	u64 mappable_start;
	u64 mappable_bytes;
	u64 hidden_start;
	u64 hidden_bytes;
	u64 aperture_bytes;
	char type[24];
	char backend[16];
};

#define STATE_NAME_BYTES 32

#define STATE_BUDGET_US 500000u

struct state_settings {
	char policy[STATE_NAME_BYTES];
	char audit[STATE_NAME_BYTES];
	u32 static_pages;
	u32 oos_threshold;
	u32 idle_pins;
	u32 tables_max;
	struct ghyvi_sched_knobs knobs;
	struct ghyvi_audit_budget budget;
	u32 budget_us; /* STATE_BUDGET_US; was a limit of auditing, which is ignored */
	struct {
		u32 budget_ms;
		u32 points_max;
		u32 window_ms;
	} containment;
	u32 self_check;
	u32 budget_minsn; /* of containment; 0 in older states: no limit */
};

struct state_machine {
	u64 clock_ns; /* of TIMESTAMP */
	u64 undrained_ns; /* for how long @violation_points have not drained */
	u32 violation_points;
	u32 failsafe;
};

struct state_failsafe {
	u32 drains; /* failsafe state ends when the points have drained */
	u32 reserved;
};

/*
 * A piece of a table of 64-bit words: @count words from number @first on. With STATE_REPEAT one
 * word follows, else all. Words that are not mentioned are 0.
 */
struct state_run {
	u32 first;
	u32 count;
};

#define STATE_REPEAT 0x80000000u

struct state_engine {
	u32 id;
	u32 elsp_count;
	u32 elsp[4];
	u64 active[2];
	u64 pending[2];
	u32 nr_active;
	u32 has_pending;
	u32 halted;
	u32 csb;
	u32 workload; /* a section STATE_WORKLOAD follows */
	u32 dropped; /* the workload did not fit, and the engine stops with an error */
};

/* The backend's part of the job follows, then the commands. */
struct state_workload {
	u64 descriptor;
	u32 runs_again;
	u32 head;
	u32 tail;
	u32 control;
	u32 registers_new;
	u32 reserved;
	u32 gprs[2 * CONTEXT_GPRS];
	u32 registers[GHYVI_CONTEXT_SLOTS];
	u32 context[GHYVI_CTX_DWORDS];
};

/* @flip: whether a flip is not done yet; the others as in struct vgpu_display and its monitor */
struct state_display {
	u64 phase_ns;
	u32 frame;
	u8 flip;
	u8 power;
	u8 edid_offset;
	u8 reserved;
	u8 link[16];
	u8 edid[128];
};

/* struct state_writer - a stream that is being written. */
struct state_writer {
	u8 *to; /* the buffer; NULL: nothing is written, only @bytes counts */
	size_t bytes; /* number of bytes written */
	size_t size; /* size of @to */
	size_t section; /* offset of the header of the current section */
	bool full; /* @to was too small */
};

/* Returns the next @bytes bytes of the stream, or NULL if there is no room. */
static inline void *state_reserve(struct state_writer *writer, size_t bytes)
{
	void *to = writer->to ? writer->to + writer->bytes : NULL;

	if (writer->full || bytes > writer->size - writer->bytes) {
		writer->full = true;
		return NULL;
	}
	writer->bytes += bytes;
	return to;
}

static inline void state_put(struct state_writer *writer, const void *from, size_t bytes)
{
	void *to = state_reserve(writer, bytes);

	if (to)
		memcpy(to, from, bytes);
}

static inline void state_section_begin(struct state_writer *writer, u32 type)
{
	const struct state_header header = { .type = type };

	writer->section = writer->bytes;
	state_put(writer, &header, sizeof(header));
}

static inline void state_section_end(struct state_writer *writer)
{
	struct state_header *header = (void *)(writer->to + writer->section);

	if (writer->to && !writer->full)
		header->bytes = writer->bytes - writer->section - sizeof(*header);
}

static inline void state_section(struct state_writer *writer, u32 type, const void *from,
				 size_t bytes)
{
	state_section_begin(writer, type);
	state_put(writer, from, bytes);
	state_section_end(writer);
}

/* struct state_reader - a part of a stream that is being read. */
struct state_reader {
	const u8 *from; /* the next byte; aligned to 8 */
	size_t left; /* number of bytes left */
};

/* Returns the next @bytes bytes, or NULL if there are not so many. */
static inline const void *state_take(struct state_reader *reader, size_t bytes)
{
	const void *from = reader->from;

	if (bytes > reader->left)
		return NULL;
	reader->from += bytes;
	reader->left -= bytes;
	return from;
}

/*
 * state_tables.c: sparse tables of whole pages of words. A table is loaded over words that are 0.
 * Loading returns 0 or -EINVAL.
 */
void vgpu_table_save(struct state_writer *writer, const u64 *table, u32 words);
int vgpu_table_load(struct state_reader *reader, u64 *table, u32 words);

/* state_display.c: called with vgpu->lock held, while the vGPU is paused */
void vgpu_display_save(struct ghyvi_vgpu *vgpu, struct state_writer *writer);
/* Load a section STATE_DISPLAY after the registers. Returns 0 or -EINVAL. */
int vgpu_display_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader);
/* Load a section STATE_EDID after that. Returns 0 or -EINVAL. */
int vgpu_edid_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader);

/* state_engine.c: called with vgpu->lock held, while the vGPU is paused */
void vgpu_engine_save(struct vgpu_engine *engine, struct state_writer *writer);
/*
 * Load the sections STATE_ENGINE, STATE_WORKLOAD and STATE_GROUP. @engine: set to the engine of the
 * section, or the engine of the last STATE_ENGINE. Returns 0, -EINVAL or -ENOMEM; of a workload 1,
 * if its group must follow.
 */
int vgpu_engine_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader,
		     struct vgpu_engine **engine);
int vgpu_workload_load(struct vgpu_engine *engine, struct state_reader *reader);
int vgpu_group_load(struct vgpu_engine *engine, struct state_reader *reader);

#endif
