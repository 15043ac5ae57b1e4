// SPDX-License-Identifier: GPL-2.0-only
/* kernel/gen9 on the emulated GPU: rings and batches of random commands. */
#include "gen9_guest.h"

/* ---- hostile rings and batches ---- */

#define HOSTILE_TRIALS 400

static u32 some(u32 limit)
{
	return (u32)random() % limit;
}

static u32 some_register(enum ghyvi_engine_id engine)
{
	static const u32 offsets[] = { 0x2080,	0x22080, 0x24d0, 0xb118, 0xc800, 0x2270,  0x22274,
				       0x44200, 0x9c,	 0x29c,	 0x230,	 0x600,	 0x2580,  0x7004,
				       0x7304,	0x22200, 0x2358, 0x941c, 0x4090, 0x101008 };
	u32 offset = offsets[some(ARRAY_SIZE(offsets))];

	return offset < 0x1000 ? ghyvi_engine_base(engine) + offset : offset;
}

static u32 some_address(void)
{
	static const u32 addresses[] = {
		DATA,	      HWSP_PAGE,  IMAGE(0), IMAGE(1) + 0x1000,
		KERNEL_BATCH, 0xf8000000, 0x1000,   GUEST_GGTT + 0x400000,
	};
	/* Mostly its own, or most rings would be refused at once. */
	return (some(8) ? DATA : addresses[some(ARRAY_SIZE(addresses))]) + 8 * some(256);
}

/* Append one command. Returns the number of dwords. */
static unsigned int some_command(enum ghyvi_engine_id engine, u32 *at)
{
	static const u8 single[] = { 0x00, 0x02, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0c, 0x0f };
	u32 ggtt = some(2) ? BIT(22) : 0;
	u64 address = ggtt ? some_address() : USER_DATA + 8 * some(256);

	switch (some(11)) {
	case 0:
		at[0] = LRI(1);
		at[1] = some_register(engine);
		at[2] = random();
		return 3;
	case 1:
		at[0] = MI(0x24, 2) | ggtt;
		at[1] = some_register(engine);
		at[2] = LO(address);
		at[3] = HI(address);
		return 4;
	case 2:
		at[0] = MI(0x29, 2) | ggtt;
		at[1] = some_register(engine);
		at[2] = LO(address);
		at[3] = HI(address);
		return 4;
	case 3:
		at[0] = MI(0x2a, 1);
		at[1] = some_register(engine);
		at[2] = some_register(engine);
		return 3;
	case 4:
		at[0] = MI(0x20, 2) | ggtt;
		at[1] = LO(address);
		at[2] = HI(address);
		at[3] = random();
		return 4;
	case 5:
		at[0] = MI(0x26, 2) | (some(2) ? BIT(14) : 0) | (some(2) ? BIT(21) : 0) |
			(some(2) ? BIT(18) : 0) | (some(2) ? BIT(8) : 0);
		at[1] = LO(address) | (ggtt ? BIT(2) : 0);
		at[2] = HI(address);
		at[3] = random();
		return 4;
	case 6:
		at[0] = MI(0x21, 1) | (some(2) ? BIT(21) : 0);
		at[1] = 8 * some(512);
		at[2] = random();
		return 3;
	case 7:
		at[0] = MI(0x23, 2);
		at[1] = some_address() & ~0xfffu;
		at[2] = random();
		at[3] = 0;
		return 4;
	case 8:
		if (engine != GHYVI_RCS)
			break;
		at[0] = 0x7a000004;
		at[1] = (u32)random() & (BIT(24) | BIT(23) | BIT(21) | BIT(14) | BIT(8) | BIT(18));
		at[2] = LO(address);
		at[3] = HI(address);
		at[4] = random();
		at[5] = 0;
		return 6;
	case 9:
		at[0] = MI(0x2e, 3) | ggtt | (some(2) ? BIT(21) : 0);
		at[1] = LO(address);
		at[2] = HI(address);
		at[3] = LO(address);
		at[4] = HI(address);
		return 5;
	}
	at[0] = MI(single[some(ARRAY_SIZE(single))], 0);
	return 1;
}

static void hostile_commands_stay_in_their_guest(void **state)
{
	u32 registers = host_registers(), commands[64], packet[8];
	unsigned int i, j, trial, count, good = 0;

	for (trial = 0; trial < HOSTILE_TRIALS; trial++) {
		enum ghyvi_engine_id engine = some(GHYVI_ENGINES);
		struct test_job *job = job_new(&guests[0], engine);

		job->base.budget_ns = 200 * NSEC_PER_MSEC;
		for (count = 0; count < 40;) {
			unsigned int dwords = some_command(engine, packet);

			memcpy(commands + count, packet, 4 * dwords);
			count += dwords;
		}
		commands[count++] = BATCH_END;
		if (trial % 3)
			add(job, commands, count - 1);
		else
			put(guests[0].user[0], commands, count);
		RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
		if (trial % 3)
			USER(&guests[0], BATCH_END);
		start(job);
		assert_false(waits(job));
		good += job->status == GHYVI_JOB_COMPLETE;
		assert_int_equal(host_registers(), registers);
		job_free(job);
	}
	assert_true(good > HOSTILE_TRIALS / 20);
	for (i = 0; i < GUEST_PAGES; i++)
		for (j = 0; j < 4096; j++)
			assert_int_equal(guests[1].pages[i][j], 0);
	expect_working_engines();
}

/* gen9_hostile_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(hostile_commands_stay_in_their_guest),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
