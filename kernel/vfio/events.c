// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uevents of a vGPU: one "change" event for each kind of incident since the last one, with
 *
 *	GHYVI_EVENT	failsafe, budget or reset
 *	GHYVI_COUNT	the counter of that kind (failsafes, budget_overruns, device_resets)
 *	GHYVI_STATE	the attribute state
 *	GHYVI_REASON	the attribute last_error
 *	GHYVI_ERROR_STATE	the file with the error state, if there is one
 *
 * A guest can cause incidents at any rate, so they are collected for EVENT_DELAY.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include "vgpu/vgpu.h"
#include "device.h"

#define EVENT_DELAY HZ

struct event_text {
	char event[32], count[40], state[32];
	char reason[GHYVI_REPORT_BYTES + 16];
	char error_state[128];
};

static void send_event(struct ghyvi_device *device, const char *event, s64 count)
{
	struct event_text *text = kzalloc(sizeof(*text), GFP_KERNEL);
	char error[GHYVI_REPORT_BYTES];
	char *environment[6] = {};

	if (!text)
		return;
	environment[0] = text->event;
	environment[1] = text->count;
	environment[2] = text->state;
	environment[3] = text->reason;
	ghyvi_report_last(&device->reporter, error, sizeof(error));
	snprintf(text->event, sizeof(text->event), "GHYVI_EVENT=%s", event);
	snprintf(text->count, sizeof(text->count), "GHYVI_COUNT=%lld", count);
	snprintf(text->state, sizeof(text->state), "GHYVI_STATE=%s", ghyvi_device_state(device));
	snprintf(text->reason, sizeof(text->reason), "GHYVI_REASON=%s", error);
	if (ghyvi_vgpu_has_error(device->vgpu)) {
		environment[4] = text->error_state;
		snprintf(text->error_state, sizeof(text->error_state),
			 "GHYVI_ERROR_STATE=/sys/kernel/debug/ghyvi/%s/error_state",
			 dev_name(device->vdev.dev));
	}
	kobject_uevent_env(&device->reporter.dev->kobj, KOBJ_CHANGE, environment);
	kfree(text);
}

static void report_increase(struct ghyvi_device *device, const char *event, atomic64_t *counter,
			    s64 *reported)
{
	const s64 count = atomic64_read(counter);

	if (count == *reported)
		return;
	*reported = count;
	send_event(device, event, count);
}

static void send_events(struct work_struct *work)
{
	struct ghyvi_events *events = container_of(work, struct ghyvi_events, work.work);
	struct ghyvi_device *device = container_of(events, struct ghyvi_device, events);

	report_increase(device, "failsafe", &device->stats.failsafes, &events->failsafes);
	report_increase(device, "budget", &device->stats.budget_overruns, &events->budget_overruns);
	report_increase(device, "reset", &device->stats.device_resets, &events->device_resets);
}

void ghyvi_events_init(struct ghyvi_device *device)
{
	INIT_DELAYED_WORK(&device->events.work, send_events);
}

void ghyvi_events_fini(struct ghyvi_device *device)
{
	cancel_delayed_work_sync(&device->events.work);
}

void ghyvi_event(struct ghyvi_reporter *reporter)
{
	struct ghyvi_device *device = container_of(reporter, struct ghyvi_device, reporter);

	schedule_delayed_work(&device->events.work, EVENT_DELAY);
}
