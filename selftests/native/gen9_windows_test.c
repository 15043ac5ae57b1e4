// SPDX-License-Identifier: GPL-2.0-only
/* kernel/gen9 on the emulated GPU: windows, which clients divide, and which jobs keep. */
#include <unistd.h>
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

#define CONTEXTS_MAX 4096

static struct ghyvi_pgpu_client *client_with(u64 first)
{
	return client_of(first, SHARE_BYTES);
}

/* Create contexts until there is no room. Returns how many. */
static unsigned int fill(struct ghyvi_pgpu_client *client, struct ghyvi_pgpu_context **contexts)
{
	unsigned int count;

	for (count = 0; count < CONTEXTS_MAX; count++) {
		contexts[count] = ops->context_create(client, GHYVI_RCS, count << 12);
		if (IS_ERR(contexts[count])) {
			assert_int_equal(PTR_ERR(contexts[count]), -ENOMEM);
			return count;
		}
	}
	fail_msg("%u contexts", count);
	return 0;
}

/* What is reserved for the host is divided, too. */
static void greedy_client_leaves_others_their_share(void **state)
{
	static struct ghyvi_pgpu_context *greedy[CONTEXTS_MAX], *modest[CONTEXTS_MAX];
	struct ghyvi_pgpu_client *first = client_with(0x40000000), *second;
	unsigned int share = GEN9_HOST_GGTT_PAGES / ((4ull << 30) / SHARE_BYTES);
	unsigned int alone = fill(first, greedy), count, left;

	assert_true(alone * GEN9_LR_CONTEXT_RENDER_PAGES > GEN9_HOST_GGTT_PAGES / 2);
	ops->context_destroy(greedy[--alone]);
	for (left = alone; left > alone / 2; left--)
		ops->context_destroy(greedy[left - 1]);
	second = client_with(0x50000000);
	while (left < CONTEXTS_MAX) {
		greedy[left] = ops->context_create(first, GHYVI_RCS, left << 12);
		if (IS_ERR(greedy[left]))
			break;
		left++;
	}
	count = fill(second, modest);
	assert_true(count * GEN9_LR_CONTEXT_RENDER_PAGES > share / 3);
	expect_working_engines(); /* of a third client */
	while (left)
		ops->context_destroy(greedy[--left]);
	while (count)
		ops->context_destroy(modest[--count]);
	ops->client_destroy(second);
	ops->client_destroy(first);
}

#define WINDOWS_MAX 2048

/* Windows of a client, as its contexts and batches have them. */
struct windows {
	struct gen9_client *client;
	struct gen9_window *taken[WINDOWS_MAX];
	unsigned int count;
};

static bool take_window(struct windows *windows, unsigned int pages)
{
	struct gen9_window *window = gen9_window_get(gen9_of(pgpu), windows->client, pages);

	assert_in_range(windows->count, 0, WINDOWS_MAX - 1);
	if (window)
		windows->taken[windows->count++] = window;
	return window;
}

static void take_windows(struct windows *windows, unsigned int pages)
{
	while (take_window(windows, pages))
		;
}

/* Put every @step-th window, from the first one on. */
static void put_windows(struct windows *windows, unsigned int step)
{
	unsigned int i, left = 0;

	for (i = 0; i < windows->count; i++)
		if (i % step)
			windows->taken[left++] = windows->taken[i];
		else
			gen9_window_put(gen9_of(pgpu), windows->taken[i]);
	windows->count = left;
}

/* Also if the shares are overdrawn: a client came when most pages were taken. */
static void greedy_client_takes_no_more_when_others_use_their_share(void **state)
{
	static struct windows greedy, modest;

	greedy.client = gen9_client(client_with(0x40000000));
	take_windows(&greedy, 32);
	modest.client = gen9_client(client_with(0x50000000));
	assert_true(take_window(&modest, 512));
	assert_false(take_window(&greedy, 32));
	put_windows(&modest, 1);
	put_windows(&greedy, 1);
	ops->client_destroy(&modest.client->base);
	ops->client_destroy(&greedy.client->base);
}

/* Leave holes that are shorter than a long batch everywhere: each step fills what is longer. */
static void fragment(struct windows *windows)
{
	unsigned int pages;

	for (pages = 16; pages <= 64; pages *= 2) {
		take_windows(windows, pages);
		put_windows(windows, 2);
	}
}

#define LONG_BATCH_PAGES (GHYVI_AUDIT_BYTES_DEFAULT >> GHYVI_PAGE_SHIFT)

/* The share consists of consecutive addresses. */
static void fragmenting_client_leaves_others_their_long_windows(void **state)
{
	static struct windows hostile, modest;
	unsigned int round;

	hostile.client = gen9_client(client_with(0x40000000));
	modest.client = gen9_client(client_with(0x50000000));
	for (round = 0; round < 2; round++) {
		fragment(&hostile);
		assert_true(take_window(&modest, LONG_BATCH_PAGES));
		assert_true(take_window(&modest, LONG_BATCH_PAGES / 2));
		fragment(&hostile); /* while there are some */
		put_windows(&modest, 1);
	}
	expect_working_engines(); /* of a third client */
	put_windows(&hostile, 1);
	ops->client_destroy(&modest.client->base);
	ops->client_destroy(&hostile.client->base);
}

static struct windows given_back;

static void give_back_as_windows_are_freed(struct page *page)
{
	if (!gen9_shim_in_work)
		return;
	gen9_shim_freed = NULL;
	put_windows(&given_back, 1);
}

/* By another thread of the client, which needs the addresses. */
static void nothing_is_cached_while_windows_are_freed_for_their_addresses(void **state)
{
	static struct windows hostile, long_ones;

	hostile.client = gen9_client(client_with(0x40000000));
	long_ones.client = given_back.client = gen9_client(client_with(0x50000000));
	fragment(&hostile);
	assert_true(take_window(&long_ones, 1024));
	assert_true(take_window(&given_back, 512));
	put_windows(&long_ones, 1);
	gen9_shim_freed = give_back_as_windows_are_freed;
	assert_true(take_window(&long_ones, 1100));
	assert_null(gen9_shim_freed);
	put_windows(&long_ones, 1);
	put_windows(&hostile, 1);
	ops->client_destroy(&long_ones.client->base);
	ops->client_destroy(&hostile.client->base);
}

/* Returns the address of a window that the client gets, and gives back again. */
static u32 address_for(struct ghyvi_pgpu_client *client, unsigned int pages)
{
	struct gen9_window *window = gen9_window_get(gen9_of(pgpu), gen9_client(client), pages);
	u32 address;

	assert_non_null(window);
	address = window->ggtt;
	gen9_window_put(gen9_of(pgpu), window);
	return address;
}

static void cached_window_in_a_client_range_is_its_clients(void **state)
{
	struct ghyvi_pgpu_client *first = client_with(0x40000000);
	struct ghyvi_pgpu_client *second = client_with(0x50000000);
	u32 address = address_for(first, 600);

	assert_int_not_equal(address_for(second, 600), address);
	assert_int_equal(address_for(first, 600), address);
	ops->client_destroy(second);
	ops->client_destroy(first);
}

static unsigned int freed_by_works, freed_by_others;

static void note_freed(struct page *page)
{
	freed_by_works += gen9_shim_in_work;
	freed_by_others += !gen9_shim_in_work;
}

/* One that gives back all that it can get, again and again. */
static void greedy_client_leaves_others_their_cached_windows(void **state)
{
	struct ghyvi_pgpu_client *greedy = client_with(0x40000000);
	struct ghyvi_pgpu_client *modest = client_with(0x50000000);
	static struct windows windows;
	unsigned int i, round;

	windows.client = gen9_client(greedy);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 70; i++)
			assert_true(take_window(&windows, 32));
		put_windows(&windows, 1);
		freed_by_works = freed_by_others = 0;
		gen9_shim_freed = note_freed;
		address_for(modest, 64);
		address_for(modest, 256);
		gen9_shim_freed = NULL;
		assert_int_equal(freed_by_works + freed_by_others, 0);
	}
	assert_in_range(gen9_client(greedy)->cached, 1, 1024);
	ops->client_destroy(modest);
	ops->client_destroy(greedy);
	assert_true(list_empty(&gen9_of(pgpu)->window_cache));
}

/* Its share, too. Its former range is that of the next client there. */
static void moved_client_has_its_range_at_its_new_place(void **state)
{
	const struct ghyvi_range half = { 0x50000000, SHARE_BYTES / 2 };
	struct ghyvi_pgpu_client *moved = client_with(0x40000000), *next;
	unsigned int share = gen9_client(moved)->share;
	u32 address = address_for(moved, 600);

	ops->client_set_ggtt(moved, &half, 1);
	assert_in_range(gen9_client(moved)->share, share / 2 - 1, share / 2 + 1);
	next = client_with(0x40000000);
	assert_int_equal(gen9_client(next)->share, share);
	assert_in_range(address_for(moved, 600), address + 600 * 4096, UINT_MAX);
	assert_int_equal(address_for(next, 600), address);
	ops->client_destroy(next);
	ops->client_destroy(moved);
}

/* Drivers set some of it once. The addresses become another window's meanwhile. */
static void context_keeps_its_state_without_addresses(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	struct gen9_context *context = gen9_context(job->base.pgpu_context);
	unsigned int taken = gen9_client(guests[0].client)->taken, pages = context->image->pages;
	static struct windows windows;
	u32 address = context->image->ggtt;
	u64 id = context->descriptor;

	RINGS(job, STORE_GGTT, DATA, 0, 1);
	run_once(job);
	job_free(job);
	context->image->cpu[10 * 1024 + 5] = 0x53544154; /* in the 3D state */
	ops->context_unmap(&context->base);
	assert_true(gen9_client(guests[0].client)->taken < taken);
	windows.client = gen9_client(guests[0].client);
	assert_true(take_window(&windows, pages));
	memset(windows.taken[0]->cpu, 0xff, pages * 4096);
	assert_int_equal(ops->context_map(&context->base), 0);
	assert_int_equal(context->image->cpu[10 * 1024 + 5], 0x53544154);
	assert_ptr_equal(host_memory(context->image->ggtt + 10 * 4096),
			 context->image->backing[10].page);
	if (context->image->ggtt != address)
		assert_int_not_equal(context->descriptor, id);
	job = job_new(&guests[0], GHYVI_RCS);
	RINGS(job, STORE_GGTT, DATA, 0, 2);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 2);
	assert_int_equal(context->image->cpu[10 * 1024 + 5], 0x53544154);
	job_free(job);
	put_windows(&windows, 1);
}

/* What is destroyed without addresses gives back its pages, and no others' are counted. */
static void context_without_addresses_is_destroyed(void **state)
{
	struct ghyvi_pgpu_client *client = client_with(0x40000000);
	struct ghyvi_pgpu_context *context = ops->context_create(client, GHYVI_RCS, 0);

	ops->context_unmap(context);
	assert_int_equal(gen9_client(client)->taken, 0);
	ops->context_destroy(context);
	assert_int_equal(gen9_client(client)->taken, 0);
	ops->client_destroy(client);
}

/* Their clients would have to allocate and map them again. */
static void cached_windows_that_do_not_help_are_kept(void **state)
{
	struct ghyvi_pgpu_client *busy = client_with(0x40000000);
	static struct windows hostile, windows;

	windows.client = gen9_client(client_with(0x50000000));
	hostile.client = gen9_client(client_with(0x60000000));
	address_for(busy, 300); /* cached, in its range */
	fragment(&hostile);
	assert_true(take_window(&windows, 600));
	assert_true(take_window(&windows, 600));
	assert_true(take_window(&windows, 600));
	put_windows(&windows, 1);
	assert_int_equal(windows.client->cached, 600); /* between shorter ones */
	assert_true(take_window(&windows, 1250));
	assert_int_equal(windows.client->cached, 0);
	assert_int_equal(gen9_client(busy)->cached, 300);
	put_windows(&windows, 1);
	put_windows(&hostile, 1);
	ops->client_destroy(&hostile.client->base);
	ops->client_destroy(&windows.client->base);
	ops->client_destroy(busy);
}

/* Which is little if its memory cgroup is small. The addresses would help the client. */
static void client_without_memory_leaves_others_their_cached_windows(void **state)
{
	struct ghyvi_pgpu_client *other = client_with(0x50000000);
	static struct windows busy;

	busy.client = gen9_client(client_with(0x40000000));
	assert_true(take_window(&busy, 1700));
	address_for(&busy.client->base, 600); /* cached, in no client range */
	address_for(other, 64);
	shim_fail_allocs(2, 1); /* a page of the next window */
	address_for(other, 500);
	assert_int_equal(shim_failed_allocs(), 1);
	shim_fail_allocs(0, 0);
	assert_int_equal(busy.client->cached, 600);
	assert_int_equal(gen9_client(other)->cached, 500); /* its own memory might have helped */
	put_windows(&busy, 1);
	ops->client_destroy(other);
	ops->client_destroy(&busy.client->base);
}

static unsigned int cache_quota_of(const struct gen9_client *client)
{
	return 2048 * client->share / gen9_of(pgpu)->share_pages;
}

/* The sizes that a client uses change with what it does. */
static void new_window_replaces_the_oldest_cached_ones(void **state)
{
	struct ghyvi_pgpu_client *client = client_with(0x40000000);
	static struct windows windows;
	unsigned int i, part;
	u32 address;

	windows.client = gen9_client(client);
	part = cache_quota_of(windows.client);
	for (i = 0; i < part / 100; i++)
		assert_true(take_window(&windows, 100));
	put_windows(&windows, 1);
	address_for(client, 90);
	assert_true(take_window(&windows, 100)); /* the newest one of them */
	put_windows(&windows, 1);
	address = address_for(client, 80);
	shim_fail_allocs(1, 100);
	for (i = 0; i < 3; i++) {
		assert_int_equal(address_for(client, 80), address);
		address_for(client, 100);
		address_for(client, 90);
	}
	assert_int_equal(shim_made_allocs(), 0);
	shim_fail_allocs(0, 0);
	assert_in_range(windows.client->cached, part - 100, part);
	assert_int_equal(windows.client->taken, 0);
	ops->client_destroy(client);
}

/* Both its part of the pages and its addresses. */
static void new_client_gets_what_others_have_cached_too_much(void **state)
{
	const u32 ranges = HOST_GGTT + (2048 << 12);
	struct ghyvi_pgpu_client *new;
	static struct windows windows;
	unsigned int i, quota;
	u32 address;

	windows.client = gen9_client(client_with(0x40000000));
	do {
		assert_true(take_window(&windows, 500));
		address = windows.taken[windows.count - 1]->ggtt;
	} while (address < ranges || address >= ranges + (1000 << 12));
	gen9_window_put(gen9_of(pgpu), windows.taken[--windows.count]);
	assert_int_equal(windows.client->cached, 500);
	new = client_with(0);
	assert_int_equal(windows.client->cached, 0);
	put_windows(&windows, 1);
	ops->client_destroy(new);

	for (i = 0; i < 20; i++)
		assert_true(take_window(&windows, 90));
	put_windows(&windows, 1);
	assert_int_equal(windows.client->cached, 20 * 90);
	new = client_with(0x50000000);
	quota = cache_quota_of(windows.client);
	assert_in_range(windows.client->cached, quota - 90, quota);
	ops->client_destroy(new);
	ops->client_destroy(&windows.client->base);
}

static void idle_context_keeps_no_batches(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	struct gen9_context *context = gen9_context(job->base.pgpu_context);

	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	start(job);
	assert_false(list_empty(&context->batches));
	finish(job, GHYVI_JOB_COMPLETE);
	assert_true(list_empty(&context->batches));
	job_free(job);
}

static pthread_t neighbour;
static struct ghyvi_pgpu_client *neighbour_client;
static struct ghyvi_pgpu_context *neighbour_context;

static void *create_context(void *unused)
{
	struct ghyvi_pgpu_context *context = ops->context_create(neighbour_client, GHYVI_RCS, 0);

	__atomic_store_n(&neighbour_context, context, __ATOMIC_RELEASE);
	return NULL;
}

/* Give the neighbour time to get its windows, unless it waits for this thread. */
static void let_neighbour_create_a_context(void)
{
	unsigned int ms;

	gen9_shim_preempted = NULL;
	assert_int_equal(pthread_create(&neighbour, NULL, create_context, NULL), 0);
	for (ms = 0; ms < 500 && !__atomic_load_n(&neighbour_context, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
	assert_non_null(__atomic_load_n(&neighbour_context, __ATOMIC_ACQUIRE));
}

/* A guest's thread that frees windows may get no CPU time for long. */
static void windows_are_taken_while_a_guest_frees_others(void **state)
{
	static struct ghyvi_pgpu_context *contexts[CONTEXTS_MAX];
	struct ghyvi_pgpu_client *client = client_with(0x40000000);
	unsigned int count = fill(client, contexts);

	neighbour_client = client_with(0x50000000);
	neighbour_context = NULL;
	gen9_shim_preempted = let_neighbour_create_a_context;
	while (count)
		ops->context_destroy(contexts[--count]);
	assert_null(gen9_shim_preempted);
	pthread_join(neighbour, NULL);
	assert_false(IS_ERR(neighbour_context));
	ops->context_destroy(neighbour_context);
	ops->client_destroy(neighbour_client);
	ops->client_destroy(client);
}

/* Others need addresses of cached windows, and the guest's thread may be throttled with them. */
static void a_guests_thread_frees_no_cached_window(void **state)
{
	struct ghyvi_pgpu_client *client = client_with(0x40000000);
	struct ghyvi_pgpu_context *context = ops->context_create(client, GHYVI_RCS, 0);

	assert_false(IS_ERR(context));
	ops->context_destroy(context);
	freed_by_works = freed_by_others = 0;
	gen9_shim_freed = note_freed;
	shim_fail_allocs(2, 1); /* the first window */
	context = ops->context_create(client, GHYVI_BCS, 0);
	assert_int_equal(shim_failed_allocs(), 1);
	shim_fail_allocs(0, 0);
	gen9_shim_freed = NULL;
	assert_false(IS_ERR(context));
	assert_in_range(freed_by_works, GEN9_LR_CONTEXT_RENDER_PAGES, UINT_MAX);
	assert_int_equal(freed_by_others, 0);
	ops->context_destroy(context);
	ops->client_destroy(client);
}

/* As if the job ended while update_tail() writes to the ring and to new batches. */
static void job_that_is_being_extended_keeps_its_windows(void **state)
{
	struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	struct gen9_context *context = gen9_context(job->base.pgpu_context);

	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	start(job);
	gen9_job(&job->base)->extending = true;
	while (!READ_ONCE(gen9_job(&job->base)->ended))
		gen9_shim_pump();
	pump(10);
	assert_int_equal(job->status, -1);
	assert_false(list_empty(&context->batches));
	gen9_job(&job->base)->extending = false;
	queue_work(engine->gpu->wq, &engine->done_work);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* Add a batch with a store to a job that waits. The backend does not know yet. */
static void add_batch(struct test_job *job)
{
	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
}

/*
 * A worker copies what the guest adds to its job, which is not given back meanwhile. The memory,
 * for which a guest may wait long, is there before.
 */
static void no_worker_waits_for_memory_of_the_guest(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(10);
	add_batch(job);
	gen9_shim_charged = 0;
	assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), 0);
	assert_int_equal(gen9_shim_charged, 0);
	complete_waiting(&guests[0], job);
	assert_int_equal(at(&guests[0], DATA), 7);
	job_free(job);
}

static void commands_for_which_there_is_no_memory_can_be_added_later(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	unsigned int taken, first;

	start(job);
	pump(10);
	taken = gen9_client(guests[0].client)->taken;
	for (first = 1; first <= 4; first++) { /* of a window; the last one is not */
		add_batch(job);
		shim_fail_allocs(first, 100);
		assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), -ESTALE);
		assert_in_range(shim_failed_allocs(), 1, 100);
		shim_fail_allocs(0, 0);
		assert_int_equal(gen9_client(guests[0].client)->taken, taken);
	}
	assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), 0);
	complete_waiting(&guests[0], job);
	assert_int_equal(at(&guests[0], DATA), 7);
	job_free(job);
}

/* gen9_windows_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(greedy_client_leaves_others_their_share),
		TEST(greedy_client_takes_no_more_when_others_use_their_share),
		TEST(fragmenting_client_leaves_others_their_long_windows),
		TEST(nothing_is_cached_while_windows_are_freed_for_their_addresses),
		TEST(cached_window_in_a_client_range_is_its_clients),
		TEST(greedy_client_leaves_others_their_cached_windows),
		TEST(moved_client_has_its_range_at_its_new_place),
		TEST(windows_are_taken_while_a_guest_frees_others),
		TEST(a_guests_thread_frees_no_cached_window),
		TEST(context_keeps_its_state_without_addresses),
		TEST(context_without_addresses_is_destroyed),
		TEST(cached_windows_that_do_not_help_are_kept),
		TEST(client_without_memory_leaves_others_their_cached_windows),
		TEST(new_window_replaces_the_oldest_cached_ones),
		TEST(new_client_gets_what_others_have_cached_too_much),
		TEST(idle_context_keeps_no_batches),
		TEST(job_that_is_being_extended_keeps_its_windows),
		TEST(no_worker_waits_for_memory_of_the_guest),
		TEST(commands_for_which_there_is_no_memory_can_be_added_later),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
