// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces. An object is bound at most once in each VM, as in i915. It stays bound until it
 * is freed, or until another object is pinned to its place.
 */
#include <drm.h>
#include <errno.h>
#include <i915_drm.h>
#include <stdlib.h>
#include <Judy.h>
#include "shim.h"

#define ADDRESS_MASK ((1ull << 48) - 1)
#define PLACES_START (1ull << 20)
#define PLACES_END_LOW (1ull << 32)
#define PLACES_END (1ull << 47)

struct vm *vm_create(void)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	vm->refs = 1;
	vm->next = PLACES_START;
	pthread_rwlock_init(&vm->lock, NULL);
	return vm;
}

void vm_get(struct vm *vm)
{
	vm->refs++;
}

void vm_put(struct vm *vm)
{
	if (--vm->refs)
		return;
	pthread_rwlock_destroy(&vm->lock);
	free(vm);
}

/* The binding with the highest address up to @address, NULL if there is none. */
static struct binding *binding_before(struct vm *vm, uint64_t address)
{
	Word_t index = address;
	PPvoid_t slot = JudyLLast(vm->map, &index, PJE0);

	return slot ? *slot : NULL;
}

/* A binding that overlaps the range. */
static struct binding *binding_in(struct vm *vm, uint64_t address, uint64_t bytes)
{
	struct binding *binding = binding_before(vm, address + bytes - 1);

	return binding && binding->address + binding->bytes > address ? binding : NULL;
}

uint8_t *vm_translate(struct vm *vm, uint64_t address, uint64_t *bytes, bool *writable)
{
	struct binding *binding;
	uint8_t *memory = NULL;

	pthread_rwlock_rdlock(&vm->lock);
	binding = binding_before(vm, address);
	if (binding && address - binding->address < binding->bytes) {
		*bytes = binding->bytes - (address - binding->address);
		*writable = !binding->object->read_only;
		memory = binding->object->memory + (address - binding->address);
	}
	pthread_rwlock_unlock(&vm->lock);
	return memory;
}

static void unbind(struct binding *binding)
{
	struct binding **link = &binding->object->bindings;
	struct vm *vm = binding->vm;

	while (*link != binding)
		link = &(*link)->next;
	*link = binding->next;
	pthread_rwlock_wrlock(&vm->lock);
	JudyLDel(&vm->map, binding->address, PJE0);
	pthread_rwlock_unlock(&vm->lock);
	free(binding);
	vm_put(vm);
}

void vm_unbind_object(struct object *object)
{
	while (object->bindings)
		unbind(object->bindings);
}

static int find_place(struct vm *vm, uint64_t bytes, bool low, uint64_t *address)
{
	uint64_t end = low ? PLACES_END_LOW : PLACES_END;
	uint64_t at = vm->next;
	struct binding *taken;
	bool wrapped = false;

	for (;;) {
		if (at + bytes > end) {
			if (wrapped)
				return -ENOSPC;
			wrapped = true;
			at = PLACES_START;
		}
		taken = binding_in(vm, at, bytes);
		if (!taken)
			break;
		at = taken->address + taken->bytes;
	}
	if (at + bytes <= PLACES_END_LOW)
		vm->next = at + bytes;
	*address = at;
	return 0;
}

/* Unbind what is in the way; this may wait, and release gpu_lock meanwhile. */
static int clear_place(struct vm *vm, uint64_t address, uint64_t bytes)
{
	struct binding *binding;
	int err;

	while ((binding = binding_in(vm, address, bytes))) {
		struct object *object = binding->object;

		if (!object_busy(object, false)) {
			unbind(binding);
			continue;
		}
		object_get(object);
		err = object_wait(object, false, INT64_MAX);
		object_put(object);
		if (err)
			return err;
	}
	return 0;
}

int vm_bind(struct vm *vm, struct object *object, bool anywhere, bool low, uint64_t *address)
{
	struct binding *binding;
	PPvoid_t slot;
	int err;

	for (binding = object->bindings; binding && binding->vm != vm; binding = binding->next)
		;
	if (binding && (anywhere || binding->address == *address)) {
		*address = binding->address;
		return 0;
	}
	if (binding) { /* i915 moves it when it is idle */
		err = object_wait(object, false, INT64_MAX);
		if (err)
			return err;
		for (binding = object->bindings; binding && binding->vm != vm;
		     binding = binding->next)
			;
		if (binding)
			unbind(binding);
	}
	if (*address % PAGE_BYTES || (*address & ~ADDRESS_MASK))
		return -EINVAL;
	err = anywhere ? find_place(vm, object->bytes, low, address) :
			 clear_place(vm, *address, object->bytes);
	if (err)
		return err;
	binding = malloc(sizeof(*binding));
	if (!binding)
		return -ENOMEM;
	*binding = (struct binding){ .next = object->bindings,
				     .vm = vm,
				     .object = object,
				     .address = *address,
				     .bytes = object->bytes };
	pthread_rwlock_wrlock(&vm->lock);
	slot = JudyLIns(&vm->map, *address, PJE0);
	if (slot && slot != PPJERR)
		*slot = binding;
	pthread_rwlock_unlock(&vm->lock);
	if (!slot || slot == PPJERR) {
		free(binding);
		return -ENOMEM;
	}
	object->bindings = binding;
	vm_get(vm);
	return 0;
}

int vms_ioctl(struct file *file, unsigned long request, void *arg)
{
	struct drm_i915_gem_vm_control *control = arg;
	struct vm *vm;
	int id;

	if (request == DRM_IOCTL_I915_GEM_VM_DESTROY) {
		vm = table_remove(&file->vms, control->vm_id);
		if (!vm)
			return -ENOENT;
		vm_put(vm);
		return 0;
	}
	if (control->extensions || control->flags)
		return -EINVAL;
	vm = vm_create();
	if (!vm)
		return -ENOMEM;
	id = table_add(&file->vms, vm);
	if (id < 0) {
		vm_put(vm);
		return id;
	}
	control->vm_id = id;
	return 0;
}
