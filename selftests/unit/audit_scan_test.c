// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan finds each command once, copies it and hands the copy to the engine, within limits, and
 * independent of concurrent stores of the guest.
 */
#include "audit_fixture.h"
#include "audit/audit.h"

#define SKIP 0x70000000u /* a media packet of any length */
#define BAD_LOAD LOAD_IMM(1), 0x2230, 1 /* the submit port: refused in a privileged batch */

static int setup_privileged(void **state)
{
	make_audit(9, GHYVI_RCS, "privileged");
	return 0;
}

static u32 fetched(enum ghyvi_fetch_source source, u64 at, u32 ring_head)
{
	u32 dword = 0xdeadbeef;

	assert_int_equal(fetch(source, at, ring_head, &dword), 1);
	return dword;
}

static void audited_commands_are_the_ones_fetched(void **state)
{
	put(USER_BATCH, STORE, LO(USER_START), HI(USER_START), 1, BATCH_END);
	assert_user_batch_passes();
	/* The guest overwrites all commands after the audit. */
	put(USER_BATCH, START_KERNEL, KERNEL_BATCH, 0, BAD, BAD);
	guest.ggtt[0] = BAD;
	assert_int_equal(fetched(GHYVI_FETCH_RING, 0, 0), START_USER);
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH, 12), STORE);
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH + 16, 12), BATCH_END);
}

static void each_dword_is_read_once(void **state)
{
	unsigned int i, seen = 0;

	put(USER_BATCH, START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2), START_USER, LO(USER_BATCH),
	    HI(USER_BATCH));
	put(USER_BATCH2, STORE, LO(USER_START), HI(USER_START), 1, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), START_USER, LO(USER_BATCH2),
	     HI(USER_BATCH2), NOOP, NOOP);
	assert_submit_passes();
	for (i = 0; i < ARRAY_SIZE(guest.user_reads); i++) {
		assert_true(guest.user_reads[i] <= 1);
		seen += guest.user_reads[i];
	}
	assert_int_equal(seen, 2 * (PAGE_SIZE / 4));
	for (i = 0; i < ARRAY_SIZE(guest.ggtt_reads); i++)
		assert_true(guest.ggtt_reads[i] == (i < 8));
}

static void privileged_mode_does_not_audit_user_batches(void **state)
{
	u32 dword;

	put(USER_BATCH, BAD);
	assert_user_batch_passes();
	/* The engine fetches user batches from guest memory. */
	assert_int_equal(fetch(GHYVI_FETCH_PPGTT, USER_BATCH, 12, &dword), 0);
	/* Batches of the guest's kernel are audited. */
	fresh();
	put(KERNEL_BATCH, BAD_LOAD, BATCH_END);
	ring(START_KERNEL, KERNEL_BATCH, 0, NOOP);
	assert_submit_refused("register");
	fresh();
	put(KERNEL_BATCH, LOAD_IMM(1), 0x2600, 1, BATCH_END);
	ring(START_KERNEL, KERNEL_BATCH, 0, NOOP);
	assert_submit_passes();
	assert_int_equal(fetched(GHYVI_FETCH_GGTT, KERNEL_BATCH, 12), LOAD_IMM(1));
	assert_int_equal(fetch(GHYVI_FETCH_GGTT, KERNEL_DATA, 12, &dword), -EFAULT);
}

static void nothing_unaudited_is_fetched_in_full_mode(void **state)
{
	u32 dword;

	put(USER_BATCH, BATCH_END);
	assert_user_batch_passes();
	assert_int_equal(fetch(GHYVI_FETCH_PPGTT, USER_BATCH2, 12, &dword), -EFAULT);
	assert_int_equal(fetch(GHYVI_FETCH_GGTT, RING, 12, &dword), -EFAULT);
	assert_int_equal(fetch(GHYVI_FETCH_INDIRECT, RING, 0, &dword), -EFAULT);
	assert_int_equal(fetch(GHYVI_FETCH_RING, 0x100, 0, &dword), -EFAULT);
}

static void log_mode_reports_and_lets_pass(void **state)
{
	u32 dword;

	put(USER_BATCH, NOOP, BAD, BATCH_END);
	assert_user_batch_passes();
	assert_non_null(strstr(last(), "unknown-command"));
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 1);
	assert_int_equal(fetch(GHYVI_FETCH_PPGTT, USER_BATCH2, 12, &dword), 0);
}

/*
 * The page of the copy was used by an earlier submission, whose commands must not run again.
 */
static void no_command_of_an_unreadable_ring_runs_in_any_mode(void **state)
{
	unsigned int i;

	fresh();
	ring(STORE, LO(USER_START), HI(USER_START), 1);
	submit();
	assert_int_equal(fetched(GHYVI_FETCH_RING, 0, 0), STORE);
	guest.unmapped_ggtt = RING;
	submit();
	assert_non_null(strstr(last(), "would be refused: unmapped"));
	for (i = 0; i < guest.tail; i += 4)
		assert_int_equal(fetched(GHYVI_FETCH_RING, i, 0), NOOP);
	guest.unmapped_ggtt = 0;
}

/* Submit a ring that wraps in its first page, after one with other commands in that page. */
static void submit_after_stores(u32 ring_bytes)
{
	unsigned int i;

	guest.submission.ring_bytes = RING_BYTES;
	guest.submission.head = 0;
	fresh();
	for (i = 0; i < 0x400; i += 16)
		ring(STORE, LO(USER_START), HI(USER_START), 1);
	submit();
	guest.submission.ring_bytes = ring_bytes;
	guest.submission.head = 0x800;
	submit();
}

/* The page of the ring that is copied first has the ring's last part, too. */
static void what_follows_an_unreadable_part_does_not_run_in_any_mode(void **state)
{
	struct ghyvi_audit_budget budget;
	unsigned int i;

	guest.unmapped_ggtt = RING + 0x1000;
	submit_after_stores(2 * GHYVI_PAGE_BYTES);
	assert_non_null(strstr(last(), "would be refused: unmapped"));
	for (i = 0; i < guest.tail; i += 4)
		assert_int_equal(fetched(GHYVI_FETCH_RING, i, 0), NOOP);
	guest.unmapped_ggtt = 0;

	ghyvi_audit_get_budget(guest.audit, &budget);
	budget.budget_bytes = GHYVI_AUDIT_BYTES_MIN;
	assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
	submit_after_stores(2 * GHYVI_AUDIT_BYTES_MIN);
	assert_non_null(strstr(last(), "would be refused: budget-bytes"));
	for (i = 0; i < guest.tail; i += 4)
		assert_int_equal(fetched(GHYVI_FETCH_RING, i, 0), NOOP);
}

static void chains_calls_and_loops_are_followed(void **state)
{
	static const struct {
		const char *what;
		u32 start;
		bool refused;
	} cases[] = {
		{ "chained", START_USER, true },
		{ "called", START_SECOND, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		put(USER_BATCH, cases[i].start, LO(USER_BATCH2), HI(USER_BATCH2), BATCH_END);
		put(USER_BATCH2, NOOP, BAD, BATCH_END);
		assert_user_batch_refused("unknown-command");
		put(USER_BATCH2, NOOP, BATCH_END, BAD);
		assert_user_batch_passes();
	}
	/* Commands after a jump do not run; commands after a call do. */
	put(USER_BATCH2, BATCH_END);
	put(USER_BATCH, START_USER, LO(USER_BATCH2), HI(USER_BATCH2), BAD);
	assert_user_batch_passes();
	put(USER_BATCH, START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2), BAD);
	assert_user_batch_refused("unknown-command");
	/* Commands after a predicated start of a batch may run, too. */
	put(USER_BATCH, START_USER | BIT(15), LO(USER_BATCH2), HI(USER_BATCH2), BAD);
	assert_user_batch_refused("unknown-command");
	put(USER_BATCH, START_USER | BIT(15), LO(USER_BATCH2), HI(USER_BATCH2), BATCH_END);
	put(USER_BATCH2, BAD);
	assert_user_batch_refused("unknown-command");
	put(USER_BATCH2, BATCH_END);
	/* Commands after a conditional end may run, too. */
	put(USER_BATCH, MI(0x36, 2), 0, LO(USER_START), HI(USER_START), BAD);
	assert_user_batch_refused("unknown-command");
	/* A loop of valid commands passes. */
	put(USER_BATCH, NOOP, NOOP, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	assert_user_batch_passes();
	put(USER_BATCH, START_USER, LO(USER_BATCH2), HI(USER_BATCH2));
	put(USER_BATCH2, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	assert_user_batch_passes();
}

/* As the engines, the auditor stays in the PPGTT. At the same addresses are other batches. */
static void batches_that_a_user_batch_starts_are_user_batches(void **state)
{
	unsigned int second;

	for (second = 0; second <= 1; second++) {
		put(USER_BATCH, START_KERNEL | (second ? BIT(22) : 0), LO(USER_BATCH2),
		    HI(USER_BATCH2), BATCH_END);
		put(USER_BATCH2, MI(0x20, 2) | BIT(22), 0x7ffff000, 0, 1, BATCH_END);
		assert_user_batch_passes();
		put(USER_BATCH2, NOOP, BAD, BATCH_END);
		assert_user_batch_refused("unknown-command");
	}
	/* This one is in the GGTT only. */
	put(KERNEL_BATCH, BATCH_END);
	put(USER_BATCH, START_KERNEL, KERNEL_BATCH, 0);
	assert_user_batch_refused("unmapped");
	assert_int_equal(guest.ggtt_reads[(KERNEL_BATCH - GGTT_START) / 4], 0);
}

static void commands_inside_the_operands_of_others_are_found(void **state)
{
	/* A jump into the data of a store. */
	put(USER_BATCH, MI(0x20, 4), LO(USER_START), HI(USER_START), BAD, NOOP, BATCH_END,
	    START_USER, LO(USER_BATCH + 12), HI(USER_BATCH));
	assert_user_batch_refused("unknown-command");
	put(USER_BATCH, MI(0x20, 4), LO(USER_START), HI(USER_START), NOOP, NOOP, BATCH_END,
	    START_USER, LO(USER_BATCH + 12), HI(USER_BATCH));
	assert_user_batch_passes();
}

static void the_same_batch_is_checked_on_both_levels(void **state)
{
	/* The same command may call on the first level, but not on the second. */
	put(USER_BATCH2, START_SECOND, LO(USER_BATCH2 + 0x100), HI(USER_BATCH2), BATCH_END);
	put(USER_BATCH2 + 0x100, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH2), HI(USER_BATCH2), NOOP);
	assert_submit_passes();
	put(USER_BATCH, START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2), BATCH_END);
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	assert_submit_refused("batch-level");
}

/* BB_OFFSET is known only when the command runs. */
static void batches_at_a_variable_offset_are_not_audited(void **state)
{
	const u32 offset = 1 << 16;

	put(USER_BATCH2, BATCH_END);
	put(USER_BATCH, START_USER | offset, LO(USER_BATCH2), HI(USER_BATCH2));
	assert_user_batch_refused("batch-offset");
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "privileged"), 0);
	assert_user_batch_passes();
	/* A privileged batch is audited in every mode. */
	fresh();
	put(KERNEL_BATCH, BATCH_END);
	ring(START_KERNEL | offset, KERNEL_BATCH, 0, NOOP);
	assert_submit_refused("batch-offset");
	fresh();
	ring(START_USER | offset, LO(USER_BATCH2), HI(USER_BATCH2), NOOP);
	assert_submit_passes();
}

static void packets_across_pages_are_whole(void **state)
{
	u64 end = USER_BATCH + 0x1000;

	put(end - 8, LOAD_IMM(2), 0x2600, 1, 0x400000, 2, BATCH_END);
	fresh();
	ring(START_USER, LO(end - 8), HI(end), NOOP);
	assert_submit_refused("register-file");
	put(end - 8, LOAD_IMM(2), 0x2600, 1, 0x2604, 2, BATCH_END);
	assert_submit_passes();
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, end, 12), 1);
	/* A command that the engine skips is copied, too. */
	put(USER_BATCH, SKIP | (3 * 1024 - 2));
	put(USER_BATCH + 3 * 4096, BATCH_END);
	assert_user_batch_refused("length"); /* MEDIA_VFE_STATE has 9 dwords */
	put(USER_BATCH, (SKIP | 1 << 24) | (3 * 1024 - 2)); /* MEDIA_OBJECT */
	assert_user_batch_passes();
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH + 2 * 4096 + 16, 12), 0);
}

static void packets_across_the_rings_end_are_whole(void **state)
{
	guest.submission.head = RING_BYTES - 8;
	fresh();
	ring(LOAD_IMM(2), 0x2600, 1, 0x2230, 2, NOOP);
	assert_submit_refused("register");
	fresh();
	ring(LOAD_IMM(2), 0x2600, 1, 0x2604, 2, NOOP);
	assert_submit_passes();
	assert_int_equal(fetched(GHYVI_FETCH_RING, 4, 0), 0x2604);
}

static void the_engine_stops_at_the_command_that_starts_a_rejected_batch(void **state)
{
	put(USER_BATCH, BATCH_END);
	put(USER_BATCH2, START_SECOND, LO(USER_BATCH2 + 0x100), HI(USER_BATCH2), BATCH_END);
	put(USER_BATCH2 + 0x100, BAD);
	fresh();
	ring(NOOP, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	ring(NOOP, NOOP, START_USER, LO(USER_BATCH2), HI(USER_BATCH2), NOOP, NOOP, NOOP);
	ring(BAD, NOOP);
	submit();
	assert_int_equal(stops_at(), 6 * 4);
	/* The first request runs. */
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH, 16), BATCH_END);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 2);
}

static void nothing_behind_an_unaudited_batch_runs(void **state)
{
	struct ghyvi_audit_budget budget;

	ghyvi_audit_get_budget(guest.audit, &budget);
	budget.budget_batches = 2;
	assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
	put(USER_BATCH, START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2), BATCH_END);
	put(USER_BATCH2, BATCH_END);
	put(USER_BATCH2 + 0x100, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	ring(START_USER, LO(USER_BATCH2 + 0x100), HI(USER_BATCH2), NOOP);
	submit();
	/* The first command of the ring starts two batches: it can run alone. */
	assert_int_equal(ghyvi_commands_tail(guest.commands), 16);
	assert_int_equal(stops_at(), 16);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
	/* With a budget of one batch not even the first command runs. */
	budget.budget_batches = 1;
	assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
	submit();
	assert_int_equal(stops_at(), 0);
	assert_refused("budget-batches");
}

static void indirect_batches_end_by_their_size(void **state)
{
	u32 dword;

	guest.submission.indirect = KERNEL_BATCH;
	guest.submission.indirect_bytes = 64;
	put(KERNEL_BATCH, LOAD_IMM(1), 0x7014, 0x00010001);
	put(KERNEL_BATCH + 64, BAD);
	fresh();
	ring(NOOP, NOOP);
	assert_submit_passes();
	assert_int_equal(fetched(GHYVI_FETCH_INDIRECT, KERNEL_BATCH, 0), LOAD_IMM(1));
	/* Addresses of an engine wrap at the end of the GGTT, as in any privileged batch. */
	assert_int_equal(fetched(GHYVI_FETCH_INDIRECT, BIT_ULL(32) | KERNEL_BATCH, 0), LOAD_IMM(1));
	guest.submission.indirect_bytes = 128;
	assert_submit_refused("unknown-command");
	assert_int_equal(fetch(GHYVI_FETCH_INDIRECT, KERNEL_BATCH, 0, &dword), -EACCES);
	put(KERNEL_BATCH + 64, BATCH_END);
	assert_submit_refused("batch-place");
	put(KERNEL_BATCH + 64, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	assert_submit_refused("batch-place");
	guest.submission.indirect = GGTT_START + GGTT_BYTES;
	assert_submit_refused("ggtt-range");
}

static void a_moved_tail_is_audited_before_it_runs(void **state)
{
	u32 dword, before;

	put(USER_BATCH, NOOP, BATCH_END);
	run_user_batch();
	before = guest.tail;
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	assert_int_equal(fetch(GHYVI_FETCH_RING, before, 0, &dword), -EFAULT);
	/*
	 * The guest has rewritten the batch; the engine still runs the copy that the first request
	 * made.
	 */
	put(USER_BATCH, MI(0x05, 0), BATCH_END);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), 0);
	assert_int_equal(fetched(GHYVI_FETCH_RING, before, 0), START_USER);
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH, 12), NOOP);
	assert_int_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH, before + 12), MI(0x05, 0));
	/* A refused command stops the engine, and nothing after it runs. */
	before = guest.tail;
	ring(BAD, NOOP);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), 0);
	assert_int_equal(stops_at(), before);
	ring(NOOP, NOOP);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), -ENOSPC);
}

static void a_wrapped_ring_is_submitted_again(void **state)
{
	unsigned int i, extensions = 0;
	u32 dword;

	fresh();
	ring(NOOP, NOOP);
	submit();
	for (i = 0; i < RING_BYTES / 1024; i++) {
		guest.tail = (guest.tail + 1024) % RING_BYTES;
		if (ghyvi_audit_extend(guest.commands, guest.tail))
			break;
		extensions++;
	}
	assert_int_equal(extensions, RING_BYTES / 1024 - 1);
	/* A refused extension overwrites no command that an engine may be executing. */
	guest.ggtt[0] = BAD;
	assert_int_equal(ghyvi_audit_extend(guest.commands, 16), -ENOSPC);
	assert_int_equal(fetch(GHYVI_FETCH_RING, 0, 0, &dword), 1);
	assert_int_equal(dword, NOOP);
}

/* If the tail equals the head of the start, a ring that an engine has not begun looks empty. */
static void a_tail_at_the_first_head_is_submitted_again(void **state)
{
	fresh();
	ring(NOOP, NOOP);
	submit();
	assert_int_equal(ghyvi_audit_extend(guest.commands, 0), -ENOSPC);
	assert_int_equal(ghyvi_audit_extend(guest.commands, RING_BYTES - 8), 0);
	assert_int_equal(ghyvi_audit_extend(guest.commands, 0), -ENOSPC);
}

static void extensions_have_a_limit(void **state)
{
	unsigned int i;

	fresh();
	ring(NOOP, NOOP);
	submit();
	for (i = 0; i < RING_BYTES / 8; i++) {
		ring(NOOP, NOOP);
		if (ghyvi_audit_extend(guest.commands, guest.tail))
			break;
	}
	assert_int_equal(i + 1, AUDIT_SEGMENTS_MAX);
}

static unsigned int spare_pages(void)
{
	const struct audit_page *page;
	unsigned int n = 0;

	for (page = guest.audit->spare; page; page = page->next)
		n++;
	return n;
}

/* At most a limited number is kept, and only until another guest's submission. */
static void pages_are_kept_for_the_next_submission(void **state)
{
	put(USER_BATCH + 300 * PAGE_SIZE, BATCH_END);
	assert_user_batch_passes();
	assert_int_equal(spare_pages(), 0);
	drop_commands();
	assert_int_equal(spare_pages(), AUDIT_SPARE_PAGES);
	assert_int_equal(guest.audit->nr_spare, AUDIT_SPARE_PAGES);
	put(USER_BATCH, BATCH_END);
	run_user_batch();
	assert_int_equal(spare_pages(), AUDIT_SPARE_PAGES - 2);
	drop_commands();
	assert_int_equal(spare_pages(), AUDIT_SPARE_PAGES);
	ghyvi_audit_reset(guest.audit);
	assert_int_equal(spare_pages(), 0);
	run_user_batch();
	drop_commands();
	assert_int_equal(spare_pages(), 2);
}

/*
 * The second batch ends where the first began, in the same 64 dwords. The commands before that
 * address may run, too.
 */
static void a_batch_may_run_into_an_audited_one(void **state)
{
	put(USER_BATCH, STORE, LO(USER_START), HI(USER_START), 1, NOOP, NOOP, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH + 16), HI(USER_BATCH), START_USER, LO(USER_BATCH),
	     HI(USER_BATCH), NOOP, NOOP);
	assert_submit_passes();
	assert_true(begins(GHYVI_FETCH_PPGTT, 1, USER_BATCH, 24));
	assert_false(begins(GHYVI_FETCH_PPGTT, 1, USER_BATCH + 4, 24));
	assert_true(begins(GHYVI_FETCH_PPGTT, 1, USER_BATCH + 16, 24));
}

static void modes_are_listed_and_chosen_by_name(void **state)
{
	char text[64];

	ghyvi_audit_mode_list(guest.audit, text, sizeof(text));
	assert_string_equal(text, "privileged [full] log\n");
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "none"), -EINVAL);
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "privileged"), 0);
	ghyvi_audit_mode_list(guest.audit, text, sizeof(text));
	assert_string_equal(text, "[privileged] full log\n");
	/* A workload ends in the mode in which it began. */
	put(USER_BATCH, NOOP, BATCH_END);
	run_user_batch();
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "full"), 0);
	assert_int_equal(fetch(GHYVI_FETCH_PPGTT, USER_BATCH, 12, &(u32){ 0 }), 0);
}

static const char *dumped(void)
{
	static char text[512];
	struct seq_file m = { fmemopen(text, sizeof(text), "w") };

	ghyvi_audit_dump(guest.audit, &m);
	fclose(m.f);
	return text;
}

static void the_dump_tells_what_was_refused_last(void **state)
{
	assert_string_equal(dumped(), "mode: full\nrefused: nothing\n");
	fresh();
	ring(NOOP, NOOP, BAD, NOOP);
	submit();
	assert_string_equal(dumped(),
			    "mode: full\nrefused: engine=rcs context=0x10100000 ring=0x8 ring=0x8 "
			    "command=command header=0x0b000000 rule=unknown-command\n");
	put(USER_BATCH, NOOP, MI(0x23, 2), 0, 0, 0);
	fresh();
	ring(NOOP, NOOP, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "privileged"), 0);
	assert_string_equal(
		dumped(),
		"mode: privileged\nrefused: engine=rcs context=0x10100000 ring=0x8 user batch=0x7fff00000004 "
		"command=MI_UPDATE_GTT header=0x11800002 rule=domain\n");
}

static void unmapped_commands_are_refused(void **state)
{
	guest.unmapped_page = USER_BATCH;
	assert_user_batch_refused("unmapped");
	fresh();
	ring(START_USER, LO(0x1000), 0, NOOP);
	assert_submit_refused("unmapped");
}

static int rewriting; /* no bool: UBSan reads those once */

/* Another vCPU rewrites a good batch into a bad one and back. */
static void *rewrite(void *unused)
{
	volatile u32 *batch = guest.user;

	while (READ_ONCE(rewriting)) {
		WRITE_ONCE(batch[0], START_KERNEL);
		WRITE_ONCE(batch[1], KERNEL_BATCH);
		WRITE_ONCE(batch[0], NOOP);
		WRITE_ONCE(batch[1], NOOP);
	}
	return NULL;
}

static void a_batch_that_changes_during_the_audit_is_its_old_or_new_content(void **state)
{
	unsigned int i, good = 0, refused = 0;
	pthread_t thread;
	u32 dword;

	put(USER_BATCH, NOOP, NOOP, NOOP, BATCH_END);
	rewriting = 1;
	assert_int_equal(pthread_create(&thread, NULL, rewrite, NULL), 0);
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	for (i = 0; i < 1000000 && (i < 10000 || !good || !refused); i++) {
		submit();
		if (fetch(GHYVI_FETCH_RING, 0, 0, &dword) == -EACCES) {
			refused++;
			continue;
		}
		/* If the audit passed, the copy has no dword of the bad batch. */
		assert_int_not_equal(fetched(GHYVI_FETCH_PPGTT, USER_BATCH, 12), START_KERNEL);
		good++;
	}
	WRITE_ONCE(rewriting, 0);
	pthread_join(thread, NULL);
	assert_true(good && refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(audited_commands_are_the_ones_fetched),
		TEST(each_dword_is_read_once),
		cmocka_unit_test_setup_teardown(privileged_mode_does_not_audit_user_batches,
						setup_privileged, teardown),
		TEST(nothing_unaudited_is_fetched_in_full_mode),
		LOG_TEST(log_mode_reports_and_lets_pass),
		LOG_TEST(no_command_of_an_unreadable_ring_runs_in_any_mode),
		LOG_TEST(what_follows_an_unreadable_part_does_not_run_in_any_mode),
		TEST(chains_calls_and_loops_are_followed),
		TEST(batches_that_a_user_batch_starts_are_user_batches),
		TEST(commands_inside_the_operands_of_others_are_found),
		TEST(the_same_batch_is_checked_on_both_levels),
		TEST(batches_at_a_variable_offset_are_not_audited),
		TEST(packets_across_pages_are_whole),
		TEST(packets_across_the_rings_end_are_whole),
		TEST(the_engine_stops_at_the_command_that_starts_a_rejected_batch),
		TEST(nothing_behind_an_unaudited_batch_runs),
		TEST(indirect_batches_end_by_their_size),
		TEST(a_moved_tail_is_audited_before_it_runs),
		TEST(a_wrapped_ring_is_submitted_again),
		TEST(a_tail_at_the_first_head_is_submitted_again),
		TEST(extensions_have_a_limit),
		TEST(pages_are_kept_for_the_next_submission),
		TEST(a_batch_may_run_into_an_audited_one),
		TEST(modes_are_listed_and_chosen_by_name),
		TEST(the_dump_tells_what_was_refused_last),
		TEST(unmapped_commands_are_refused),
		TEST(a_batch_that_changes_during_the_audit_is_its_old_or_new_content),
	};

	return cmocka_run_group_tests_name("audit scan", tests, NULL, NULL);
}
