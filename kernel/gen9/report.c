// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the self-test has found, as a text that a person can attach to a report: each value that was
 * compared, which registers images save, and the images themselves. No guest has run yet, so it has
 * no data of guests.
 */
#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "gen9.h"

#define LINE_DWORDS 8

/* A text, or only its length: @to is NULL. */
struct text {
	char *to;
	size_t bytes, used; /* without the 0 at its end */
};

static __printf(2, 3) void put(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->used += vsnprintf(text->to ? text->to + text->used : NULL,
				text->to ? text->bytes - text->used : 0, format, arguments);
	va_end(arguments);
}

void gen9_note(struct gen9 *gpu, const struct gen9_finding *finding)
{
	if (gpu->nr_findings < GEN9_FINDINGS_MAX)
		gpu->findings[gpu->nr_findings++] = *finding;
}

static void put_findings(struct text *text, const struct gen9 *gpu)
{
	const struct gen9_finding *finding;
	unsigned int i;

	for (i = 0; i < gpu->nr_findings; i++) {
		finding = &gpu->findings[i];
		if (finding->what)
			put(text, "%s: %s", ghyvi_engine_name(finding->engine), finding->what);
		else
			put(text, "register 0x%x", finding->offset);
		put(text, ": 0x%08x, expected 0x%08x: %s\n", finding->value, finding->expected,
		    finding->ok ? "ok" : "wrong");
	}
}

/* Lines of zeros are left out. */
static void put_image(struct text *text, const u32 *state, unsigned int dwords)
{
	unsigned int first, i;

	for (first = 0; first < dwords; first += LINE_DWORDS) {
		if (!memchr_inv(state + first, 0, LINE_DWORDS * sizeof(u32)))
			continue;
		put(text, "%04x", first);
		for (i = first; i < first + LINE_DWORDS; i++)
			put(text, " %08x", state[i]);
		put(text, "\n");
	}
}

static void put_engine(struct text *text, const struct gen9_engine *engine)
{
	const char *name = ghyvi_engine_name(engine->id);
	unsigned int i;
	u32 offset;

	put(text, "\n%s: the default image, in dwords", name);
	if (!engine->default_state) {
		put(text, ": the test has not come to it\n");
		return;
	}
	put(text, "; %u registers, up to dword 0x%x: 0x%08x\n", engine->nr_saved, engine->saved_end,
	    engine->default_state[engine->saved_end]);
	for (i = 0; (offset = gen9_needed_register(engine, i)); i++)
		if (!gen9_saved_find(engine, offset))
			put(text, "register 0x%x is not saved\n", offset);
	put_image(text, engine->default_state, gen9_state_dwords(engine));
}

static void put_all(struct text *text, const struct gen9 *gpu, int err)
{
	const struct pci_dev *pdev = gpu->pdev;
	unsigned int i;

	put(text, "GPU %04x:%04x, revision %u; self-test: %d\n", pdev->vendor, pdev->device,
	    pdev->revision, err);
	put_findings(text, gpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		put_engine(text, &gpu->engines[i]);
}

char *gen9_report_text(const struct gen9 *gpu, int err, size_t *bytes)
{
	struct text text = { .used = 0 };

	put_all(&text, gpu, err);
	text.bytes = text.used + 1;
	text.to = kvmalloc(text.bytes, GFP_KERNEL);
	if (!text.to)
		return NULL;
	text.used = 0;
	put_all(&text, gpu, err);
	*bytes = text.used;
	return text.to;
}
