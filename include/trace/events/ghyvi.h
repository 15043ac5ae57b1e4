/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ghyvi

#if !defined(GHYVI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GHYVI_TRACE_H

#include <linux/tracepoint.h>
#include <ghyvi-features.h>
#include <ghyvi/report.h>

/* If __assign_str() has one parameter, the source of __string() is used. */
#undef GHYVI_ASSIGN_STR
#if GHYVI_HAVE_ASSIGN_STR_ONE
#define GHYVI_ASSIGN_STR(to, from) __assign_str(to)
#else
#define GHYVI_ASSIGN_STR(to, from) __assign_str(to, from)
#endif

/*
 * ghyvi_relax_change and ghyvi_relax_sync mean what oos_change and oos_sync of GVT-g mean
 * (i915/gvt/trace.h). A page that is out of sync (oos) with its shadow is a relaxed page.
 */

/* The arguments of TRACE_EVENT() are not expressions. */
/* clang-format off */

/* A guest store to a write-protected table page. */
TRACE_EVENT(ghyvi_trap,
	TP_PROTO(struct ghyvi_reporter *vgpu, const char *policy, u64 gpa, u32 bytes),
	TP_ARGS(vgpu, policy, gpa, bytes),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __string(policy, policy)
			 __field(u64, gpa) __field(u32, bytes)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev));
		       GHYVI_ASSIGN_STR(policy, policy); __entry->gpa = gpa;
		       __entry->bytes = bytes;),
	TP_printk("vgpu=%s gpa=0x%llx bytes=%u policy=%s", __get_str(vgpu), __entry->gpa,
		  __entry->bytes, __get_str(policy)));

/* A table page was relaxed (tag "relax") or write-protected (tag "protect"). */
TRACE_EVENT(ghyvi_relax_change,
	TP_PROTO(struct ghyvi_reporter *vgpu, const char *tag, u64 gfn),
	TP_ARGS(vgpu, tag, gfn),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __string(tag, tag) __field(u64, gfn)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); GHYVI_ASSIGN_STR(tag, tag);
		       __entry->gfn = gfn;),
	TP_printk("vgpu=%s tag=%s gfn=0x%llx", __get_str(vgpu), __get_str(tag), __entry->gfn));

/*
 * A page directory entry points to a last-level table page now. tree: number of the root, 0 if
 * several roots reach the table page.
 */
TRACE_EVENT(ghyvi_table_link,
	TP_PROTO(struct ghyvi_reporter *vgpu, u64 gfn, u64 tree, u64 parent, u32 index),
	TP_ARGS(vgpu, gfn, tree, parent, index),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u64, gfn) __field(u64, tree)
			 __field(u64, parent) __field(u32, index)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->gfn = gfn;
		       __entry->tree = tree; __entry->parent = parent; __entry->index = index;),
	TP_printk("vgpu=%s gfn=0x%llx tree=%llu parent=0x%llx index=%u", __get_str(vgpu),
		  __entry->gfn,
		  __entry->tree, __entry->parent, __entry->index));

/* A guest page is no longer shadowed as a table page. */
TRACE_EVENT(ghyvi_table_free,
	TP_PROTO(struct ghyvi_reporter *vgpu, u64 gfn),
	TP_ARGS(vgpu, gfn),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u64, gfn)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->gfn = gfn;),
	TP_printk("vgpu=%s gfn=0x%llx", __get_str(vgpu), __entry->gfn));

/* A sync begins. tree: number of the root that it is for, 0 for a sync of all trees. */
TRACE_EVENT(ghyvi_sync,
	TP_PROTO(struct ghyvi_reporter *vgpu, u64 tree),
	TP_ARGS(vgpu, tree),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u64, tree)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->tree = tree;),
	TP_printk("vgpu=%s tree=%llu", __get_str(vgpu), __entry->tree));

/* A relaxed page was synced. compared, changed: numbers of entries. */
TRACE_EVENT(ghyvi_relax_sync,
	TP_PROTO(struct ghyvi_reporter *vgpu, const char *policy, u64 gfn, u32 compared,
		 u32 changed),
	TP_ARGS(vgpu, policy, gfn, compared, changed),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __string(policy, policy)
			 __field(u64, gfn) __field(u32, compared) __field(u32, changed)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev));
		       GHYVI_ASSIGN_STR(policy, policy); __entry->gfn = gfn;
		       __entry->compared = compared; __entry->changed = changed;),
	TP_printk("vgpu=%s gfn=0x%llx compared=%u changed=%u policy=%s", __get_str(vgpu),
		  __entry->gfn, __entry->compared, __entry->changed, __get_str(policy)));

/*
 * ghyvi_submit: a submitted context is ready to run, audited and synced. ghyvi_complete: its job
 * has ended. status: enum ghyvi_job_status.
 */
TRACE_EVENT(ghyvi_submit,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engine, u32 lrca, u32 ring_head, u32 ring_tail),
	TP_ARGS(vgpu, engine, lrca, ring_head, ring_tail),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)
			 __field(u32, lrca) __field(u32, head) __field(u32, tail)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;
		       __entry->lrca = lrca; __entry->head = ring_head; __entry->tail = ring_tail;),
	TP_printk("vgpu=%s engine=%u lrca=0x%x head=0x%x tail=0x%x", __get_str(vgpu),
		  __entry->engine, __entry->lrca, __entry->head, __entry->tail));
TRACE_EVENT(ghyvi_complete,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engine, u32 lrca, u32 status, u64 busy_ns),
	TP_ARGS(vgpu, engine, lrca, status, busy_ns),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)
			 __field(u32, lrca) __field(u32, status) __field(u64, busy_ns)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;
		       __entry->lrca = lrca; __entry->status = status; __entry->busy_ns = busy_ns;),
	TP_printk("vgpu=%s engine=%u lrca=0x%x status=%u busy_ns=%llu", __get_str(vgpu),
		  __entry->engine, __entry->lrca, __entry->status, __entry->busy_ns));

/* An engine switches to another vGPU. from: the vGPU before, "-" if none or destroyed. */
TRACE_EVENT(ghyvi_switch,
	TP_PROTO(struct ghyvi_reporter *from, struct ghyvi_reporter *vgpu, u32 engine),
	TP_ARGS(from, vgpu, engine),
	TP_STRUCT__entry(__string(from, from ? dev_name(from->dev) : "-")
			 __string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)),
	TP_fast_assign(GHYVI_ASSIGN_STR(from, from ? dev_name(from->dev) : "-");
		       GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;),
	TP_printk("vgpu=%s from=%s engine=%u", __get_str(vgpu), __get_str(from), __entry->engine));

/*
 * ghyvi_start: a workload starts on its engine after waiting. ghyvi_preempt: its preemption is
 * requested after running.
 */
TRACE_EVENT(ghyvi_start,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engine, u64 waited_ns),
	TP_ARGS(vgpu, engine, waited_ns),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)
			 __field(u64, waited_ns)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;
		       __entry->waited_ns = waited_ns;),
	TP_printk("vgpu=%s engine=%u waited_ns=%llu", __get_str(vgpu), __entry->engine,
		  __entry->waited_ns));
TRACE_EVENT(ghyvi_preempt,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engine, u64 ran_ns),
	TP_ARGS(vgpu, engine, ran_ns),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)
			 __field(u64, ran_ns)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;
		       __entry->ran_ns = ran_ns;),
	TP_printk("vgpu=%s engine=%u ran_ns=%llu", __get_str(vgpu), __entry->engine,
		  __entry->ran_ns));

/* The auditor rejected a command. source: enum ghyvi_fetch_source; at: ring offset or address. */
TRACE_EVENT(ghyvi_reject,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engine, u32 lrca, u32 source, u64 at, u32 header,
		 const char *rule),
	TP_ARGS(vgpu, engine, lrca, source, at, header, rule),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engine)
			 __field(u32, lrca) __field(u32, source) __field(u64, at)
			 __field(u32, header) __string(rule, rule)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engine = engine;
		       __entry->lrca = lrca; __entry->source = source; __entry->at = at;
		       __entry->header = header; GHYVI_ASSIGN_STR(rule, rule);),
	TP_printk("vgpu=%s engine=%u lrca=0x%x source=%u at=0x%llx header=0x%08x rule=%s",
		  __get_str(vgpu), __entry->engine, __entry->lrca, __entry->source, __entry->at,
		  __entry->header, __get_str(rule)));

/* Engines of a vGPU were reset. engines: bit mask; 0x1f: the whole device. */
TRACE_EVENT(ghyvi_reset,
	TP_PROTO(struct ghyvi_reporter *vgpu, u32 engines),
	TP_ARGS(vgpu, engines),
	TP_STRUCT__entry(__string(vgpu, dev_name(vgpu->dev)) __field(u32, engines)),
	TP_fast_assign(GHYVI_ASSIGN_STR(vgpu, dev_name(vgpu->dev)); __entry->engines = engines;),
	TP_printk("vgpu=%s engines=0x%x", __get_str(vgpu), __entry->engines));

#endif

#include <trace/define_trace.h>
