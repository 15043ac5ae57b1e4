// SPDX-License-Identifier: GPL-2.0-only
/*
 * Launches what ocloc compiled, as a runtime would: reads the program binary's patch tokens, writes
 * surface states, binding table, cross-thread data and local ids.
 */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void gpu_make(struct gpu *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->host = mmap(NULL, GPU_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (gpu->host == MAP_FAILED)
		abort();
}

void gpu_free(struct gpu *gpu)
{
	munmap(gpu->host, GPU_BYTES);
}

uint64_t gpu_alloc(struct gpu *gpu, size_t bytes, void *host)
{
	uint64_t at = gpu->used;

	gpu->used += (bytes + 4095) / 4096 * 4096;
	if (gpu->used > GPU_BYTES)
		abort();
	if (host)
		*(void **)host = gpu->host + at;
	return GPU_BASE + at;
}

static void *gpu_map(void *context, uint64_t address, enum eu_access access)
{
	struct gpu *gpu = context;

	__atomic_fetch_add(&gpu->maps[access], 1, __ATOMIC_RELAXED);
	if (address < GPU_BASE || address >= GPU_BASE + gpu->used)
		return NULL;
	return gpu->host + (address - GPU_BASE);
}

struct eu_memory gpu_memory(struct gpu *gpu)
{
	static const struct eu_memory_ops ops = { .map = gpu_map };

	return (struct eu_memory){ .ops = &ops, .context = gpu };
}

/* Patch tokens and kinds of parameters that a launch needs. */
enum {
	TOKEN_SAMPLERS = 5,
	TOKEN_BINDING_TABLE = 8,
	TOKEN_IMAGE = 12,
	TOKEN_LOCAL_SURFACE = 15,
	TOKEN_PARAMETER = 17,
	TOKEN_PAYLOAD = 22,
	TOKEN_ENVIRONMENT = 23,
	TOKEN_PARAMETER_STREAM = 25,
	TOKEN_BUFFER = 30,
	PARAMETER_ARGUMENT = 1,
	PARAMETER_LOCAL_SIZE = 2,
	PARAMETER_GLOBAL_SIZE = 3,
	PARAMETER_GROUPS = 4,
	PARAMETER_LOCAL_MEMORY = 8,
	PARAMETER_GLOBAL_OFFSET = 16,
	PARAMETER_ENQUEUED_LOCAL_SIZE = 28,
};

static uint32_t word(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return v;
}

/* Calls visit for each patch: its token, and its data behind token and size. */
static void each_patch(const struct kernel *k,
		       void (*visit)(uint32_t token, const uint8_t *data, void *context),
		       void *context)
{
	uint32_t at = 0;

	while (at + 8 <= k->patches_bytes) {
		uint32_t bytes = word(k->patches + at + 4);

		if (bytes < 8 || bytes > k->patches_bytes - at)
			return;
		visit(word(k->patches + at), k->patches + at + 8, context);
		at += bytes;
	}
}

static void take_fact(uint32_t token, const uint8_t *data, void *context)
{
	struct kernel *k = context;

	switch (token) {
	case TOKEN_SAMPLERS:
		k->samplers = word(data);
		break;
	case TOKEN_BINDING_TABLE:
		k->binding_table = word(data);
		break;
	case TOKEN_LOCAL_SURFACE:
		k->slm_bytes = word(data + 4);
		break;
	case TOKEN_PAYLOAD:
		k->ids = 3;
		break;
	case TOKEN_ENVIRONMENT:
		k->simd = word(data + 12);
		k->barrier = word(data + 32);
		break;
	case TOKEN_PARAMETER_STREAM:
		k->cross_bytes = word(data);
		break;
	}
}

/* The kernel @name, or the @n-th. */
static int load(struct kernel *k, const char *path, const char *name, unsigned int n)
{
	FILE *f = fopen(path, "rb");
	const uint8_t *at;
	uint32_t general, count;

	memset(k, 0, sizeof(*k));
	if (!f)
		return -1;
	k->file = malloc(1 << 20);
	k->file_bytes = fread(k->file, 1, 1 << 20, f);
	fclose(f);
	/* ocloc puts the program into a section of an ELF file. */
	at = memmem(k->file, k->file_bytes, "CTNI", 4);
	if (!at)
		return -1;
	count = word(at + 16);
	at += 28 + word(at + 24);
	for (; count; count--) {
		k->patches_bytes = word(at + 16);
		k->code_bytes = word(at + 20);
		general = word(at + 24);
		k->dynamic_bytes = word(at + 28);
		k->surfaces_bytes = word(at + 32);
		k->code_used = word(at + 36);
		k->code = at + 40 + word(at + 12);
		k->dynamic = k->code + k->code_bytes + general;
		k->surfaces = k->dynamic + k->dynamic_bytes;
		k->patches = k->surfaces + k->surfaces_bytes;
		k->name = (const char *)at + 40;
		if (name ? !strcmp(k->name, name) : !n--)
			break;
		at = k->patches + k->patches_bytes;
	}
	if (!count) {
		free(k->file);
		return -1;
	}
	each_patch(k, take_fact, k);
	return 0;
}

int kernel_load(struct kernel *k, const char *path, const char *name)
{
	return load(k, path, name, 0);
}

int kernel_load_nth(struct kernel *k, const char *path, unsigned int n)
{
	return load(k, path, NULL, n);
}

void kernel_free(struct kernel *k)
{
	free(k->file);
}

struct launch {
	const uint32_t *global, *local;
	const struct argument *arguments;
	uint8_t *cross, *surfaces;
	uint32_t slm;
};

static void buffer_surface(uint8_t *state, uint64_t address, uint64_t bytes)
{
	uint32_t dw[16] = { 0 };

	bytes = (bytes + 3) / 4 * 4 - 1;
	dw[0] = 4u << 29 | 0x1ff << 18;
	dw[2] = (uint32_t)(bytes & 0x7f) | (uint32_t)(bytes >> 7 & 0x3fff) << 16;
	dw[3] = (uint32_t)(bytes >> 21) << 21;
	dw[8] = (uint32_t)address;
	dw[9] = (uint32_t)(address >> 32);
	memcpy(state, dw, sizeof(dw));
}

static void image_surface(uint8_t *state, const struct argument *a)
{
	uint32_t dw[16] = { 0 };

	dw[0] = 1u << 29 | a->format << 18 | 1u << 16 | 1u << 14;
	dw[2] = (a->height - 1) << 16 | (a->width - 1);
	dw[3] = a->pitch - 1;
	dw[7] = 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16;
	dw[8] = (uint32_t)a->buffer;
	dw[9] = (uint32_t)(a->buffer >> 32);
	memcpy(state, dw, sizeof(dw));
}

static void patch(uint32_t token, const uint8_t *data, void *context)
{
	struct launch *l = context;

	if (token == TOKEN_BUFFER) {
		const struct argument *a = &l->arguments[word(data)];

		memcpy(l->cross + word(data + 8), &a->buffer, 8);
		buffer_surface(l->surfaces + word(data + 4), a->buffer, a->bytes);
	} else if (token == TOKEN_IMAGE) {
		image_surface(l->surfaces + word(data + 8), &l->arguments[word(data)]);
	} else if (token == TOKEN_PARAMETER) {
		uint32_t kind = word(data), number = word(data + 4), offset = word(data + 8);
		uint32_t bytes = word(data + 12), source = word(data + 16), value;
		uint32_t n = source / 4 % 3;

		switch (kind) {
		case PARAMETER_ARGUMENT:
			memcpy(l->cross + offset,
			       (const uint8_t *)l->arguments[number].value + source, bytes);
			return;
		case PARAMETER_LOCAL_MEMORY:
			value = l->slm;
			l->slm += (l->arguments[number].local + 15) / 16 * 16;
			break;
		case PARAMETER_LOCAL_SIZE:
		case PARAMETER_ENQUEUED_LOCAL_SIZE:
			value = l->local[n];
			break;
		case PARAMETER_GLOBAL_SIZE:
			value = l->global[n];
			break;
		case PARAMETER_GROUPS:
			value = l->global[n] / l->local[n];
			break;
		default:
			return;
		}
		memcpy(l->cross + offset, &value, 4);
	}
}

void kernel_dispatch(const struct kernel *k, struct gpu *gpu, const uint32_t global[3],
		     const uint32_t local[3], const struct argument *arguments,
		     struct eu_dispatch *d)
{
	uint32_t items = local[0] * local[1] * local[2];
	uint32_t threads = (items + k->simd - 1) / k->simd, last = items % k->simd;
	uint32_t id_bytes = k->simd == 32 ? 64 : 32, thread, lane, n;
	uint32_t cross = (k->cross_bytes + 31) / 32 * 32, slm = 1024;
	uint8_t *code, *dynamic, *surfaces, *payload;
	struct launch l = { .global = global, .local = local, .arguments = arguments };

	memset(d, 0, sizeof(*d));
	d->instruction.address = gpu_alloc(gpu, k->code_bytes + 4096, &code);
	d->instruction.bytes = UINT64_MAX;
	memcpy(code, k->code, k->code_bytes);
	d->surface.address = gpu_alloc(gpu, k->surfaces_bytes, &surfaces);
	memcpy(surfaces, k->surfaces, k->surfaces_bytes);
	d->dynamic.address = gpu_alloc(gpu, k->dynamic_bytes, &dynamic);
	memcpy(dynamic, k->dynamic, k->dynamic_bytes);
	d->samplers = k->samplers;
	d->indirect.address = gpu_alloc(gpu, cross + threads * 3 * id_bytes, &payload);
	d->indirect.bytes = UINT64_MAX;
	d->general.bytes = d->surface.bytes = d->dynamic.bytes = UINT64_MAX;
	d->binding_table = k->binding_table;
	d->indirect_bytes = cross + threads * k->ids * id_bytes;
	d->cross_thread_registers = cross / 32;
	d->per_thread_registers = k->ids * id_bytes / 32;
	l.cross = payload;
	l.surfaces = surfaces;
	l.slm = (k->slm_bytes + 15) / 16 * 16;
	each_patch(k, patch, &l);
	for (thread = 0; thread < threads; thread++) {
		uint8_t *ids = payload + cross + thread * k->ids * id_bytes;

		for (lane = 0; lane < k->simd; lane++) {
			uint32_t item = thread * k->simd + lane;
			uint16_t id[3] = { (uint16_t)(item % local[0]),
					   (uint16_t)(item / local[0] % local[1]),
					   (uint16_t)(item / local[0] / local[1]) };

			for (n = 0; n < k->ids; n++)
				memcpy(ids + n * id_bytes + lane * 2, &id[n], 2);
		}
	}
	while (slm < l.slm)
		slm *= 2;
	d->slm_bytes = l.slm ? slm : 0;
	d->barrier = k->barrier;
	d->simd = k->simd;
	for (n = 0; n < 3; n++) {
		d->end[n] = global[n] / local[n];
		d->threads[n] = 1;
	}
	d->threads[0] = threads;
	d->right_mask = last ? (1u << last) - 1 : k->simd == 32 ? ~0u : (1u << k->simd) - 1;
	d->bottom_mask = ~0u;
}
