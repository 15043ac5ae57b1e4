// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of auditing compared with copying. The same run audits user batches of one kind of
 * command, and copies as many bytes by memcpy(), both from memory that is in no cache. One JSON
 * object on standard output; a row for each kind. ns_per_command of the whole is that of the mix
 * "draw" without the copy. memcpy_fraction is that of 16 dwords per command. Fails when a goal is
 * missed.
 */
#include <ghyvi_shim.h>
#include <ghyvi/audit.h>
#include <linux/err.h>

#define RING 0x10000000u
#define RING_BYTES 4096u
#define BATCH 0x100000000ull
#define BATCH_BYTES (512u << 10)
#define BATCH_DWORDS (BATCH_BYTES / 4)
#define BATCHES 128 /* 64 MiB: what another CPU wrote is not in this one's caches */
#define TRIES (2 * BATCHES)

#define NS_PER_COMMAND_GOAL 3.5
#define MEMCPY_FRACTION_GOAL 0.5
#define FRACTION_GOAL_DWORDS 16

#define BATCH_END 0x05000000u
#define MEDIA_OBJECT 0x71000000u
#define STATE_POINTERS 0x780e0000u /* 3DSTATE_CC_STATE_POINTERS */

static u32 ring[RING_BYTES / 4] = { 0x18800101, (u32)BATCH, (u32)(BATCH >> 32), 0 };
static u32 batches[BATCHES][BATCH_DWORDS] __aligned(4096);
static u32 *batch = batches[0]; /* the one that the guest's address means now */
static u8 copied[BATCH_BYTES] __aligned(4096);
static u64 bytes_read;

/* As in the kernel, one memcpy() a page. */
static int read_commands(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
			 void *buffer, size_t bytes)
{
	if (!root)
		memcpy(buffer, (u8 *)ring + (address - RING), bytes);
	else
		memcpy(buffer, (u8 *)batch + (address - BATCH), bytes);
	bytes_read += bytes;
	return 0;
}

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

struct kind {
	const char *name;
	unsigned int dwords; /* of a packet; 0: a mix */
	u32 packet[4]; /* the rest is 0 */
};

static const struct kind kinds[] = {
	{ "noop", 1, { 0 } },
	{ "state", 2, { STATE_POINTERS } },
	{ "load_register_imm", 3, { 0x11000001, 0x2600, 1 } },
	{ "store_data_imm", 4, { 0x10000002, (u32)BATCH, (u32)(BATCH >> 32), 1 } },
	{ "media_object", 8, { MEDIA_OBJECT | 6 } },
	{ "media_object", 16, { MEDIA_OBJECT | 14 } },
	{ "media_object", 64, { MEDIA_OBJECT | 62 } },
	{ "draw", 0, { 0 } },
};

/*
 * The packets that a 3D driver emits for a draw: state, constants, buffers, a flush, a register,
 * the primitive.
 */
static const u32 draw[] = {
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	STATE_POINTERS,
	0,
	0x78150009,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0, /* 3DSTATE_CONSTANT_VS */
	0x78170009,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0, /* 3DSTATE_CONSTANT_PS */
	0x78080003,
	0,
	0,
	0,
	0, /* 3DSTATE_VERTEX_BUFFERS */
	0x780a0003,
	0,
	0,
	0,
	0, /* 3DSTATE_INDEX_BUFFER */
	0x7a000004,
	1 << 20,
	0,
	0,
	0,
	0, /* PIPE_CONTROL */
	0x11000001,
	0x2600,
	1, /* MI_LOAD_REGISTER_IMM */
	0x7b000005,
	0,
	0,
	0,
	0,
	0,
	0, /* 3DPRIMITIVE */
};
#define DRAW_COMMANDS 17

static unsigned int fill(const struct kind *kind)
{
	unsigned int dwords = kind->dwords ?: ARRAY_SIZE(draw);
	unsigned int at, commands = 0;

	batch = batches[0];
	memset(batch, 0, BATCH_BYTES);
	for (at = 0; at + dwords < BATCH_DWORDS; at += dwords) {
		if (kind->dwords)
			memcpy(batch + at, kind->packet, 4 * min(dwords, 4u));
		else
			memcpy(batch + at, draw, sizeof(draw));
		commands += kind->dwords ? 1 : DRAW_COMMANDS;
	}
	batch[at] = BATCH_END;
	for (at = 1; at < BATCHES; at++)
		memcpy(batches[at], batch, BATCH_BYTES);
	return commands + 1;
}

static u64 time_memcpy(void)
{
	u64 begin = cpu_ns();
	unsigned int at;

	for (at = 0; at < BATCH_BYTES; at += 4096)
		memcpy(copied + at, (u8 *)batch + at, 4096);
	return cpu_ns() - begin;
}

static u64 time_audit(struct ghyvi_audit *audit, const struct ghyvi_submission *submission)
{
	u64 begin = cpu_ns();
	struct ghyvi_commands *commands = ghyvi_audit_submission(audit, submission);
	u64 end = cpu_ns();

	if (IS_ERR(commands))
		abort();
	ghyvi_commands_free(commands);
	return end - begin;
}

int main(void)
{
	static struct ghyvi_reporter reporter;
	static struct ghyvi_stats stats;
	static struct device device = { "bench" };
	struct ghyvi_audit_owner owner = { .read = read_commands };
	const struct ghyvi_audit_params params = {
		.gen = 9,
		.ggtt = { { RING, RING_BYTES } },
		.nr_ggtt = 1,
		.owner = &owner,
		.reporter = &reporter,
		.stats = &stats,
	};
	const struct ghyvi_submission submission = {
		.engine = GHYVI_RCS,
		.root = (struct ghyvi_root *)&ring,
		.ppgtt_mask = GENMASK_ULL(47, 0),
		.ring_start = RING,
		.ring_bytes = RING_BYTES,
		.tail = 16,
	};
	struct ghyvi_audit *audit = ghyvi_audit_create(&params);
	double mix_ns = 0, fraction_at_goal = 0;
	unsigned int k, try;

	ghyvi_reporter_init(&reporter, &device);
	ghyvi_audit_set_mode(audit, "full");
	printf("{\n  \"rows\": [\n");
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		unsigned int commands = fill(&kinds[k]);
		u64 audited = U64_MAX, plain = U64_MAX, took;
		double ns, fraction;

		bytes_read = 0;
		for (try = 0; try < TRIES; try++) {
			batch = batches[try % BATCHES];
			took = time_memcpy();
			plain = min(plain, took);
			batch = batches[(try + BATCHES / 2) % BATCHES];
			took = time_audit(audit, &submission);
			audited = min(audited, took);
		}
		/* 16 bytes of the ring, and each page of the batch once. */
		if (bytes_read != TRIES * (16ull + BATCH_BYTES) ||
		    atomic64_read(&stats.audit_rejects))
			abort();
		ns = (double)(audited - plain) / commands;
		fraction = (double)plain / audited;
		if (!kinds[k].dwords)
			mix_ns = ns;
		if (kinds[k].dwords == FRACTION_GOAL_DWORDS)
			fraction_at_goal = fraction;
		printf("    {\"command\": \"%s\", \"dwords\": %u, \"ns_per_command\": %.2f, \"ns_per_command_with_copy\": %.2f, \"memcpy_fraction\": %.3f}%s\n",
		       kinds[k].name, kinds[k].dwords, ns, (double)audited / commands, fraction,
		       k + 1 < ARRAY_SIZE(kinds) ? "," : "");
	}
	printf("  ],\n  \"ns_per_command\": %.2f,\n  \"memcpy_fraction\": %.3f,\n  \"reads_of_guest_memory\": 1\n}\n",
	       mix_ns, fraction_at_goal);
	ghyvi_audit_destroy(audit);
	return mix_ns <= NS_PER_COMMAND_GOAL && fraction_at_goal >= MEMCPY_FRACTION_GOAL ? 0 : 1;
}
