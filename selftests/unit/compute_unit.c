// SPDX-License-Identifier: GPL-2.0-only
#include "compute_unit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <linux/slab.h>
#include <linux/string.h>

static void take_pages(void *private)
{
	atomic_inc(&((struct unit *)private)->taken);
}

static void end_process(void *private)
{
	atomic_inc(&((struct unit *)private)->killed);
}

static const struct softgpu_worker_ops ops = { .take_pages = take_pages, .kill = end_process };

static void *unit_thread(void *data)
{
	struct unit *unit = data;
	void (*execute)(struct unit * unit, struct ghyvi_eu_next * next);
	struct ghyvi_eu_next next = { .status = GHYVI_EU_NONE };
	struct ghyvi_eu_client name;

	shim_current = &unit->task;
	unit->end = softgpu_worker_accept(unit->worker, &name);
	while (!unit->end) {
		shim_killed = READ_ONCE(unit->killed_next);
		unit->end = softgpu_worker_next(unit->worker, &next, &unit->group);
		if (unit->end)
			break;
		unit->seen = next;
		unit->dispatches++;
		next.status = GHYVI_EU_DONE;
		execute = READ_ONCE(unit->execute);
		if (execute)
			execute(unit, &next);
		if (next.status != GHYVI_EU_YIELDED) {
			kvfree(unit->group);
			unit->group = NULL;
		}
	}
	kvfree(unit->group);
	return NULL;
}

void unit_start(struct unit *unit, void (*execute)(struct unit *, struct ghyvi_eu_next *))
{
	memset(unit, 0, sizeof(*unit));
	unit->execute = execute;
	sem_init(&unit->go, 0, 0);
	unit->worker = softgpu_worker_create(&ops, unit);
	assert_non_null(unit->worker);
	assert_int_equal(pthread_create(&unit->thread, NULL, unit_thread, unit), 0);
}

void unit_stop(struct unit *unit)
{
	softgpu_worker_close(unit->worker);
	sem_post(&unit->go);
	pthread_join(unit->thread, NULL);
	softgpu_worker_put(unit->worker);
}

void unit_join(struct unit *unit)
{
	pthread_join(unit->thread, NULL);
	softgpu_worker_close(unit->worker);
	softgpu_worker_put(unit->worker);
}

void unit_yield(struct unit *unit, struct ghyvi_eu_next *next, size_t bytes, u8 value)
{
	kvfree(unit->group);
	unit->group = softgpu_worker_group(unit->worker, bytes);
	assert_non_null(unit->group);
	memset(unit->group->data, value, bytes);
	next->status = GHYVI_EU_YIELDED;
}
