// SPDX-License-Identifier: GPL-2.0-only
#include "audit_fixture.h"

u32 guest_ggtt_bytes = GGTT_BYTES, guest_user_bytes = USER_BYTES;

struct audit_guest guest;

static int fixture_read(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
			void *buffer, size_t bytes)
{
	u64 start = root ? USER_START : GGTT_START;
	u64 size = root ? guest_user_bytes : guest_ggtt_bytes;
	u32 *memory = root ? guest.user : guest.ggtt;
	u8 *reads = root ? guest.user_reads : guest.ggtt_reads;
	size_t i;

	assert_true(address % PAGE_SIZE + bytes <= PAGE_SIZE);
	if (address < start || address - start + bytes > size)
		return -EFAULT;
	if (root && guest.unmapped_page && address >> 12 == guest.unmapped_page >> 12)
		return -EFAULT;
	if (!root && guest.unmapped_ggtt && address >> 12 == guest.unmapped_ggtt >> 12)
		return -EFAULT;
	for (i = 0; i < bytes / 4; i++) {
		((u32 *)buffer)[i] = READ_ONCE(memory[(address - start) / 4 + i]);
		reads[(address - start) / 4 + i]++;
	}
	return 0;
}

static void fixture_update(struct ghyvi_audit_owner *owner, u64 index, u64 entry)
{
	guest.updated_index = index;
	guest.updated_entry = entry;
	guest.updates++;
	if (guest.update_us)
		usleep_range(guest.update_us, guest.update_us);
}

struct ghyvi_audit_owner fixture_owner = {
	.read = fixture_read,
	.update_ggtt = fixture_update,
};

static bool fixture_enforced;
static u32 fixture_user_engines;

void make_audit(unsigned int gen, enum ghyvi_engine_id engine, const char *mode)
{
	const struct ghyvi_audit_params params = {
		.gen = gen,
		.ggtt = { { GGTT_START, guest_ggtt_bytes } },
		.nr_ggtt = 1,
		.enforced = fixture_enforced,
		.user_engines = fixture_user_engines,
		.owner = &fixture_owner,
		.reporter = &guest.reporter,
		.stats = &guest.stats,
	};

	memset(&guest, 0, offsetof(struct audit_guest, ggtt));
	memset(guest.ggtt, 0, guest_ggtt_bytes);
	memset(guest.user, 0, guest_user_bytes);
	memset(guest.ggtt_reads, 0, guest_ggtt_bytes / 4);
	memset(guest.user_reads, 0, guest_user_bytes / 4);
	shim_quiet = true;
	guest.device.name = "test";
	ghyvi_reporter_init(&guest.reporter, &guest.device);
	guest.audit = ghyvi_audit_create(&params);
	assert_false(IS_ERR(guest.audit));
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, mode), 0);
	guest.submission = (struct ghyvi_submission){
		.engine = engine,
		.root = (struct ghyvi_root *)&guest,
		.ppgtt_mask = GENMASK_ULL(47, 0),
		.lrca = 0x10100000,
		.ring_start = RING,
		.ring_bytes = RING_BYTES,
	};
}

void make_hardware_audit(enum ghyvi_engine_id engine, const char *mode)
{
	fixture_enforced = true;
	fixture_user_engines = BIT(GHYVI_BCS);
	make_audit(9, engine, mode);
	fixture_enforced = false;
	fixture_user_engines = 0;
}

void drop_commands(void)
{
	ghyvi_commands_free(guest.commands);
	guest.commands = NULL;
}

void drop_audit(void)
{
	drop_commands();
	ghyvi_audit_destroy(guest.audit);
}

int setup(void **state)
{
	make_audit(9, GHYVI_RCS, "full");
	return 0;
}

int setup_log(void **state)
{
	make_audit(9, GHYVI_RCS, "log");
	return 0;
}

int teardown(void **state)
{
	drop_audit();
	return 0;
}

void fresh(void)
{
	drop_commands();
	memset(guest.ggtt_reads, 0, guest_ggtt_bytes / 4);
	memset(guest.user_reads, 0, guest_user_bytes / 4);
	guest.tail = guest.submission.head;
}

void put_ring_dwords(const u32 *dwords, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		guest.ggtt[(RING - GGTT_START + guest.tail) / 4] = dwords[i];
		guest.tail = (guest.tail + 4) % RING_BYTES;
	}
}

void put_dwords(u64 address, const u32 *dwords, unsigned int count)
{
	if (address >= USER_START)
		memcpy(guest.user + (address - USER_START) / 4, dwords, 4 * count);
	else
		memcpy(guest.ggtt + (address - GGTT_START) / 4, dwords, 4 * count);
}

const char *last(void)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&guest.reporter, text, sizeof(text));
	return text;
}

void submit(void)
{
	drop_commands();
	guest.submission.tail = guest.tail;
	guest.commands = ghyvi_audit_submission(guest.audit, &guest.submission);
	assert_false(IS_ERR(guest.commands));
}

int fetch(enum ghyvi_fetch_source source, u64 at, u32 ring_head, u32 *dword)
{
	struct ghyvi_cmd_prefetch window;
	int ret = ghyvi_commands_fetch(guest.commands, source, 0, at, ring_head, &window);

	if (ret <= 0)
		return ret;
	*dword = window.dwords[0];
	return 1;
}

bool begins(enum ghyvi_fetch_source source, unsigned int level, u64 at, u32 ring_head)
{
	struct ghyvi_cmd_prefetch window;

	return ghyvi_commands_fetch(guest.commands, source, level, at, ring_head, &window) > 0 &&
	       window.starts & 1;
}

u32 stops_at(void)
{
	u32 at = guest.submission.head, dword;
	int ret;

	for (; at != ghyvi_commands_tail(guest.commands); at = (at + 4) % RING_BYTES) {
		ret = fetch(GHYVI_FETCH_RING, at, 0, &dword);
		if (ret == -EACCES)
			break;
		assert_int_equal(ret, 1);
	}
	return at;
}

void run_user_batch(void)
{
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
}
