// SPDX-License-Identifier: GPL-2.0-only
/*
 * Installs audited commands where the hardware fetches them: copies of the ring in the context's
 * ring window; copies of batches in windows of their own.
 *
 * DOC: rewriting
 *
 * The auditor lets commands pass that a pGPU in software would drop or restrict itself. Hardware
 * does neither in a ring. So each command of a copy is visited once, and rewritten to what the
 * rules say: dropped commands become NOOPs, addresses of copied batches become those of their
 * copies, writes to registers that contexts do not save are dropped, so that no register carries
 * anything from one context to another.
 *
 * Copied user batches (those of the blitter, and all in the audit mode "full") run from the GGTT,
 * where hardware does not restrict them. Here they get the rules of user batches.
 *
 * A rewritten command has the length of the original. Commands that overlap, because a batch jumps
 * into another command, are refused: the rewritten one would change the other.
 */
#include <linux/bitops.h>
#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <ghyvi/commands.h>
#include "gen9.h"

#define PAGE_DWORDS (GHYVI_PAGE_BYTES / sizeof(u32))
#define MAX_BATCH_PAGES 4096u

#define MI_INDEX_MASK GENMASK(11, 3)

/* A page of a batch, and where its copy is. */
struct batch_page {
	struct ghyvi_commands_page page;
	unsigned int place; /* index of the page in the window */
};

/* One call of gen9_install_commands(). */
struct install {
	struct gen9_engine *engine;
	struct ghyvi_job *job;
	struct gen9_context *context;
	struct gen9_copies *copies;
	struct batch_page *batches; /* of @copies; sorted by source and address */
	unsigned int nr_batches;
	struct gen9_window *window; /* of @batches; NULL: there are none */
	/* The part of the ring that was copied, and the place of the copy. */
	u32 from, stop, place;
	u32 end; /* of the segments that were installed, in the guest's ring */
	bool refused, any_ring;
	bool first; /* the segment is that of the submission */
	bool any_page;
};

/* Commands in the copies: a page, or the ring. */
struct stream {
	const struct install *install;
	enum ghyvi_fetch_source source;
	u64 pos; /* address of the current command, or its place in the ring's copy */
	bool privileged;
	const struct ghyvi_command *command;
	unsigned int dwords;
};

/* ---- where copies are ---- */

static int compare_pages(const void *a, const void *b)
{
	const struct ghyvi_commands_page *left = &((const struct batch_page *)a)->page;
	const struct ghyvi_commands_page *right = &((const struct batch_page *)b)->page;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->pos < right->pos ? -1 : left->pos > right->pos;
}

static const struct batch_page *find_page(const struct install *install,
					  enum ghyvi_fetch_source source, u64 address)
{
	const struct batch_page key = {
		.page = { .source = source, .pos = address & GHYVI_PAGE_MASK },
	};

	return bsearch(&key, install->batches, install->nr_batches, sizeof(key), compare_pages);
}

static u32 address_of_copy(const struct install *install, const struct batch_page *page, u64 pos)
{
	return install->window->ggtt + page->place * GHYVI_PAGE_BYTES +
	       (u32)(pos & (GHYVI_PAGE_BYTES - 1));
}

/* The dword @index of the current command in its copy; NULL: it was not copied. */
static u32 *dword_of(const struct stream *stream, unsigned int index)
{
	const struct install *install = stream->install;
	u64 pos = stream->pos + 4 * index;
	const struct batch_page *page;

	if (stream->source == GHYVI_FETCH_RING)
		return install->context->ring->cpu + pos / sizeof(u32);
	page = find_page(install, stream->source, pos);
	if (!page)
		return NULL;
	return install->window->cpu + page->place * PAGE_DWORDS + pos / sizeof(u32) % PAGE_DWORDS;
}

static bool starts_at(const struct stream *stream, u64 pos)
{
	const struct batch_page *page = find_page(stream->install, stream->source, pos);
	unsigned int index = pos / sizeof(u32) % PAGE_DWORDS;

	return page &&
	       (test_bit(index, page->page.starts[0]) || test_bit(index, page->page.starts[1]));
}

/* ---- rewriting ---- */

static void make_noop(const struct stream *stream)
{
	unsigned int i;

	for (i = 0; i < stream->dwords; i++)
		*dword_of(stream, i) = MI_NOOP;
}

static bool may_write(const struct stream *stream, u32 field)
{
	const struct gen9_engine *engine = stream->install->engine;
	u32 offset = field & GHYVI_REGISTER_MASK;
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);
	bool listed = engine->id == GHYVI_RCS && gen9_is_whitelisted(engine->gpu, offset);

	return rule && rule->right != GHYVI_REGISTER_CONTROL &&
	       ghyvi_register_write_rule(engine->id, rule, offset, stream->privileged, false,
					 listed) == GHYVI_ALLOWED &&
	       gen9_saved_find(engine, offset);
}

/* What contexts save, and what commands only read, such as clocks. Other registers read as 0. */
static bool may_read(const struct stream *stream, u32 field)
{
	const struct gen9_engine *engine = stream->install->engine;
	u32 offset = field & GHYVI_REGISTER_MASK;
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);

	if (!rule || rule->right == GHYVI_REGISTER_CONTROL)
		return false;
	return rule->right == GHYVI_REGISTER_READ_ONLY || gen9_saved_find(engine, offset);
}

/* A write that has no effect: no bit of a masked register. */
static u32 harmless_register(const struct stream *stream)
{
	return stream->install->engine->base + RING_INSTPM;
}

static void rewrite_load_imm(const struct stream *stream)
{
	unsigned int i;

	for (i = 1; i + 1 < stream->dwords; i += 2) {
		if (may_write(stream, *dword_of(stream, i)))
			continue;
		*dword_of(stream, i) = harmless_register(stream);
		*dword_of(stream, i + 1) = 0;
	}
}

static void rewrite_load_mem(const struct stream *stream)
{
	if (!may_write(stream, *dword_of(stream, 1)))
		make_noop(stream);
}

static void rewrite_load_reg(const struct stream *stream)
{
	u32 target = *dword_of(stream, 2);

	if (!may_write(stream, target)) {
		make_noop(stream);
	} else if (!may_read(stream, *dword_of(stream, 1))) {
		*dword_of(stream, 0) = MI_LOAD_REGISTER_IMM(1);
		*dword_of(stream, 1) = target;
		*dword_of(stream, 2) = 0;
	}
}

static void rewrite_store_register(const struct stream *stream)
{
	u32 *header = dword_of(stream, 0);

	if (may_read(stream, *dword_of(stream, 1)))
		return;
	*header = *header & MI_USE_GGTT ? MI_STORE_DWORD_IMM_GGTT : MI_STORE_DWORD_IMM_PPGTT;
	*dword_of(stream, 1) = *dword_of(stream, 2);
	*dword_of(stream, 2) = *dword_of(stream, 3);
	*dword_of(stream, 3) = 0;
}

/*
 * The copy of a user batch has privilege, so that hardware would go on with it in the GGTT. Where
 * the guest's batch would go on, bit 8 must say so.
 */
static int rewrite_batch_start(const struct stream *stream)
{
	const struct install *install = stream->install;
	u32 *header = dword_of(stream, 0);
	bool user = *header & MI_BATCH_PPGTT_HSW || !stream->privileged;
	const struct batch_page *page;
	u32 packet[3];
	u64 target;

	packet[1] = *dword_of(stream, 1);
	packet[2] = *dword_of(stream, 2);
	target = gen8_cmd_address(packet + 1);
	page = find_page(install, user ? GHYVI_FETCH_PPGTT : GHYVI_FETCH_GGTT, target);
	if (!page && (!user || install->engine->id == GHYVI_BCS))
		return -EACCES;
	if (!page) {
		*header |= MI_BATCH_PPGTT_HSW;
		return 0;
	}
	*header &= ~(u32)MI_BATCH_PPGTT_HSW;
	*dword_of(stream, 1) = address_of_copy(install, page, target);
	*dword_of(stream, 2) = 0;
	return 0;
}

/* The guest's status page of the engine; 0: it is not in its part of the GGTT. */
static u32 guest_status_page(const struct install *install)
{
	const struct ghyvi_client_params *params = &install->job->client->params;
	u32 address = READ_ONCE(params->registers[(install->engine->base + RING_HWS_PGA) / 4]);

	address &= (u32)GHYVI_PAGE_MASK;
	return ghyvi_ranges_contain(params->ggtt, params->nr_ggtt, address, GHYVI_PAGE_BYTES) ?
		       address :
		       0;
}

/*
 * A store to a status page is an address in the GGTT now: in the guest's pages, because those of
 * the hardware are the host's. Returns 0 if there is no such page.
 */
static u32 status_address(const struct stream *stream, bool of_engine, u32 index)
{
	const struct install *install = stream->install;
	u32 page = of_engine ? guest_status_page(install) :
			       install->job->lrca & (u32)GHYVI_PAGE_MASK;

	return page ? page + (index & (u32)MI_INDEX_MASK) : 0;
}

/* A flush of a user batch stores to the PPGTT only, and raises no interrupt. */
static bool drops_post(const struct stream *stream, bool index, bool ggtt)
{
	return !stream->privileged && (index || ggtt);
}

static void rewrite_flush_dw(const struct stream *stream)
{
	u32 *header = dword_of(stream, 0), *low = dword_of(stream, 1);
	bool index = *header & GEN8_POST_STORE_INDEX, ggtt = *low & MI_FLUSH_DW_USE_GTT;
	u32 address;

	if (!stream->privileged)
		*header &= ~(u32)MI_FLUSH_DW_NOTIFY;
	if (!GEN8_POST_SYNC(*header) || !(index || ggtt))
		return;
	if (drops_post(stream, index, ggtt) || stream->dwords < 3) {
		*header &= ~(u32)(GEN8_POST_SYNC_MASK | GEN8_POST_STORE_INDEX);
		return;
	}
	if (!index)
		return;
	address = status_address(stream, ggtt, *low);
	*header &= ~(u32)(address ? GEN8_POST_STORE_INDEX :
				    GEN8_POST_SYNC_MASK | GEN8_POST_STORE_INDEX);
	*low = address | MI_FLUSH_DW_USE_GTT;
	*dword_of(stream, 2) = 0;
}

static void rewrite_pipe_control(const struct stream *stream)
{
	u32 *flags = dword_of(stream, 1), *low = dword_of(stream, 2);
	bool index = *flags & GEN8_POST_STORE_INDEX, ggtt = *flags & PIPE_CONTROL_GLOBAL_GTT_IVB;
	u32 address;

	if (!stream->privileged)
		*flags &= ~(u32)MI_FLUSH_DW_NOTIFY;
	if (*flags & PIPE_CONTROL_MMIO_WRITE || drops_post(stream, index, ggtt)) {
		*flags &= ~(u32)(PIPE_CONTROL_MMIO_WRITE | GEN8_POST_SYNC_MASK |
				 GEN8_POST_STORE_INDEX);
		return;
	}
	if (!index)
		return;
	address = GEN8_POST_SYNC(*flags) ? status_address(stream, ggtt, *low) : 0;
	*flags &= ~(u32)(address ? GEN8_POST_STORE_INDEX :
				   GEN8_POST_SYNC_MASK | GEN8_POST_STORE_INDEX);
	*flags |= PIPE_CONTROL_GLOBAL_GTT_IVB;
	*low = address;
	*dword_of(stream, 3) = 0;
}

static int rewrite_mi(const struct stream *stream, u32 header)
{
	switch (MI_OPCODE(header)) {
	case MI_NOOP_OP: /* its bits write NOPID */
		*dword_of(stream, 0) = MI_NOOP;
		break;
	case MI_STORE_REGISTER_MEM_OP:
		rewrite_store_register(stream);
		break;
	case MI_LOAD_REGISTER_MEM_OP:
		rewrite_load_mem(stream);
		break;
	case MI_LOAD_REGISTER_REG_OP:
		rewrite_load_reg(stream);
		break;
	default:
		return -EACCES;
	}
	return 0;
}

/*
 * Hardware drops a command of a user batch that accesses the GGTT, but the copy runs with
 * privilege. The rules of commands know one bit of the header; a copy from memory to memory has
 * two.
 */
static bool is_global(const struct stream *stream, const struct ghyvi_command_address *address)
{
	switch (address->space) {
	case GHYVI_ADDRESS_BIT22:
		return *dword_of(stream, 0) & BIT(22);
	case GHYVI_ADDRESS_BIT21:
		return *dword_of(stream, 0) & BIT(21);
	case GHYVI_ADDRESS_DWORD1_BIT0:
		return *dword_of(stream, 1) & BIT(0);
	default:
		return false;
	}
}

static bool drops_for_ggtt(const struct stream *stream)
{
	const struct ghyvi_command_address *addresses = stream->command->addresses;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stream->command->addresses) && !stream->privileged; i++)
		if (addresses[i].space && is_global(stream, &addresses[i]))
			return true;
	return false;
}

static int rewrite_command(const struct stream *stream)
{
	u32 header = *dword_of(stream, 0);

	switch (ghyvi_command_rule(stream->command, header, stream->privileged)) {
	case GHYVI_ALLOWED:
		if (!drops_for_ggtt(stream))
			break;
		fallthrough;
	case GHYVI_DROPPED:
		make_noop(stream);
		return 0;
	default:
		return -EACCES;
	}
	switch (stream->command->hardware) {
	case GHYVI_HARDWARE_CONTEXT:
		return 0;
	case GHYVI_HARDWARE_OPERANDS:
		break;
	case GHYVI_HARDWARE_SHARED:
		make_noop(stream);
		return 0;
	default:
		return -EACCES;
	}
	switch (stream->command->check) {
	case GHYVI_CHECK_BATCH_START:
		return rewrite_batch_start(stream);
	case GHYVI_CHECK_LOAD_IMM:
		rewrite_load_imm(stream);
		return 0;
	case GHYVI_CHECK_FLUSH_DW:
		rewrite_flush_dw(stream);
		return 0;
	case GHYVI_CHECK_PIPE_CONTROL:
		rewrite_pipe_control(stream);
		return 0;
	}
	return rewrite_mi(stream, header);
}

/* Look up the command at @stream->at. Returns -EACCES if no such command can have passed. */
static int stream_decode(struct stream *stream)
{
	enum ghyvi_engine_id id = stream->install->engine->id;
	const u32 *first = dword_of(stream, 0);
	unsigned int i;

	stream->command = first ? ghyvi_command_find(id, *first) : NULL;
	if (!stream->command)
		return -EACCES;
	stream->dwords = ghyvi_command_dwords(id, stream->command, *first);
	if (!stream->dwords)
		return -EACCES;
	/* Only the operands of commands without a fixed rule are touched. */
	for (i = 1; !stream->command->plain && i < stream->dwords; i++)
		if (!dword_of(stream, i))
			return -EACCES;
	return 0;
}

static int rewrite_page(struct install *install, const struct batch_page *batch)
{
	struct stream stream = {
		.install = install,
		.source = batch->page.source,
		.privileged = batch->page.source != GHYVI_FETCH_PPGTT,
	};
	unsigned int index, i;
	int err = 0;

	for (index = 0; index < PAGE_DWORDS && !err; index++) {
		if (!test_bit(index, batch->page.starts[0]) &&
		    !test_bit(index, batch->page.starts[1]))
			continue;
		stream.pos = batch->page.pos + 4 * index;
		err = stream_decode(&stream);
		for (i = 1; i < stream.dwords && !err; i++)
			if (starts_at(&stream, stream.pos + 4 * i))
				err = -EACCES;
		if (!err)
			err = rewrite_command(&stream);
	}
	return err;
}

/* The number of bytes from @from to @to, in a ring. */
static u32 ring_distance(const struct install *install, u32 from, u32 to)
{
	u32 ring_bytes = gen9_job(install->job)->ring_bytes;

	return (to - from + ring_bytes) % ring_bytes;
}

static int rewrite_ring(struct install *install)
{
	u32 left = ring_distance(install, install->from, install->stop);
	struct stream stream = {
		.install = install,
		.source = GHYVI_FETCH_RING,
		.pos = install->place,
		.privileged = true,
	};
	int err = 0;

	while (left && !err) {
		err = stream_decode(&stream);
		if (!err && 4 * stream.dwords > left)
			err = -EACCES;
		if (!err)
			err = rewrite_command(&stream);
		left -= 4 * stream.dwords;
		stream.pos += 4 * stream.dwords;
	}
	return err;
}

/* ---- memory for copies ---- */

/* Get the window for @count pages of batches. */
static int add_window(struct gen9_copies *copies, struct gen9 *gpu, struct gen9_client *client,
		      unsigned int count)
{
	struct gen9_window *window;

	if (!count)
		return 0;
	window = count <= MAX_BATCH_PAGES ?
			 gen9_window_get(gpu, client, roundup_pow_of_two(count)) :
			 NULL;
	if (!window)
		return -ENOMEM;
	list_add_tail(&window->node, &copies->windows);
	return 0;
}

/* The segments are those of install_segments(). */
int gen9_copies_get(struct gen9_copies *copies, const struct ghyvi_job *job)
{
	struct gen9_client *client = gen9_client(job->client);
	struct ghyvi_commands_iter iter = gen9_job(job)->iter;
	unsigned int count = 0, most = 0;
	struct ghyvi_commands_page page;
	u32 segment = 0;
	int err = 0;

	INIT_LIST_HEAD(&copies->windows);
	copies->batches = NULL;
	copies->left = 0;
	while (!err && ghyvi_commands_iter_next(&iter, &page)) {
		if (page.from != segment) {
			err = add_window(copies, client->gpu, client, count);
			count = 0;
		}
		segment = page.from;
		copies->left++;
		count += page.source != GHYVI_FETCH_RING;
		most = max(most, count);
		cond_resched();
	}
	if (!err)
		err = add_window(copies, client->gpu, client, count);
	if (err || !most)
		return err;
	copies->batches = kvmalloc_array(most, sizeof(*copies->batches), GFP_KERNEL);
	return copies->batches ? 0 : -ENOMEM;
}

void gen9_copies_put(struct gen9_copies *copies, struct gen9 *gpu)
{
	struct gen9_window *window, *next;

	list_for_each_entry_safe(window, next, &copies->windows, node)
		gen9_window_put(gpu, window);
	kvfree(copies->batches);
}

/* ---- copying ---- */

/* The first page of the ring says which part of it the segment contains. */
static int begin_ring(struct install *install, const struct ghyvi_commands_page *page)
{
	install->from = page->from;
	install->stop = page->stop;
	install->refused = page->refused;
	install->any_ring = true;
	return gen9_ring_reserve(install->job, page->from,
				 ring_distance(install, page->from, page->stop), &install->place);
}

/* Copy the part of the page that is in [from, stop); the guest's ring may wrap in between. */
static void copy_ring_page(struct install *install, const struct ghyvi_commands_page *page)
{
	u32 *ring = install->context->ring->cpu + install->place / sizeof(u32);
	u32 length = ring_distance(install, page->from, page->stop), distance;
	unsigned int i;

	for (i = 0; i < PAGE_DWORDS; i++) {
		distance = ring_distance(install, page->from, page->pos + 4 * i);
		if (distance < length)
			ring[distance / sizeof(u32)] = page->dwords[i];
	}
}

static int add_page(struct install *install, const struct ghyvi_commands_page *page)
{
	int err = 0;

	if (page->source != GHYVI_FETCH_RING) {
		install->batches[install->nr_batches++].page = *page;
		return 0;
	}
	if (!install->any_ring)
		err = begin_ring(install, page);
	if (!err)
		copy_ring_page(install, page);
	return err;
}

static void copy_batches(struct install *install)
{
	unsigned int i;

	if (!install->nr_batches)
		return;
	install->window = list_first_entry(&install->copies->windows, struct gen9_window, node);
	list_move_tail(&install->window->node, &install->context->batches);
	sort(install->batches, install->nr_batches, sizeof(*install->batches), compare_pages, NULL);
	for (i = 0; i < install->nr_batches; i++) {
		install->batches[i].place = i;
		memcpy(install->window->cpu + i * PAGE_DWORDS, install->batches[i].page.dwords,
		       GHYVI_PAGE_BYTES);
		cond_resched();
	}
}

static int install_rewrite(struct install *install)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < install->nr_batches && !err; i++) {
		err = rewrite_page(install, &install->batches[i]);
		cond_resched();
	}
	return err ?: install->any_ring ? rewrite_ring(install) : 0;
}

/* ---- the job ---- */

/* The pages of the batch, up to two, are next to each other in the window, too. */
static int append_indirect(const struct install *install)
{
	u32 value = install->job->context[GHYVI_CTX_INDIRECT], lines = value & GHYVI_INDIRECT_LINES;
	u64 address = value & GHYVI_INDIRECT_ADDRESS;
	const struct batch_page *page = find_page(install, GHYVI_FETCH_INDIRECT, address);
	u32 offset;

	if (!page || !lines || install->stop == install->from)
		return 0;
	if (!find_page(install, GHYVI_FETCH_INDIRECT,
		       address + lines * GHYVI_INDIRECT_LINE_BYTES - 1))
		return -EACCES;
	offset = address_of_copy(install, page, address) - install->window->ggtt;
	return gen9_context_set_restore(install->engine, install->context,
					install->window->cpu + offset / sizeof(u32), lines);
}

/*
 * The pages of one submission or extension: the same batch may be in several of them, with other
 * contents, so each is installed by itself.
 */
static int install_segment(struct install *install)
{
	int err;

	copy_batches(install);
	err = install_rewrite(install);
	if (!err && install->first)
		err = append_indirect(install);
	install->first = false;
	install->any_ring = false;
	install->nr_batches = 0;
	install->window = NULL;
	return err;
}

static int install_segments(struct install *install)
{
	struct ghyvi_commands_page page;
	u32 segment = 0;
	int err = 0;

	while (!err && install->copies->left &&
	       ghyvi_commands_iter_next(&gen9_job(install->job)->iter, &page)) {
		install->copies->left--;
		if (install->any_page && page.from != segment)
			err = install_segment(install);
		segment = page.from;
		install->end = page.to;
		install->any_page = true;
		if (!err)
			err = add_page(install, &page);
		cond_resched();
	}
	return err || !install->any_page ? err : install_segment(install);
}

int gen9_install_begin(struct gen9_engine *engine, struct ghyvi_job *job)
{
	struct gen9 *gpu = engine->gpu;
	int err;

	gen9_context_put_batches(gen9_context(job->pgpu_context), gpu);
	err = gen9_ring_begin(gpu, job);
	return err ?: gen9_context_load(engine, job);
}

int gen9_install_commands(struct gen9_engine *engine, struct ghyvi_job *base,
			  struct gen9_copies *copies, u32 *tail, bool *refused)
{
	struct install install = {
		.engine = engine,
		.job = base,
		.context = gen9_context(base->pgpu_context),
		.copies = copies,
		.batches = copies->batches,
		.first = !gen9_job(base)->prepared,
	};
	int err = install_segments(&install);

	if (install.refused)
		*tail = install.stop;
	else if (install.any_page && !err)
		*tail = install.end;
	*refused = install.refused;
	if (err)
		gen9_job(base)->sealed = true;
	return err;
}
