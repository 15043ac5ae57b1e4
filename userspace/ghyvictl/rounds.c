// SPDX-License-Identifier: GPL-2.0-only
/* Counters over time, waiting for events, and signals. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ctl.h"

#define NS_PER_S 1e9
#define MS_PER_S 1e3

int round_read(struct ctl *ctl, struct round *round)
{
	size_t i;
	int ret;

	*round = (struct round){};
	ret = ghyvi_vgpus_read(ctl->ghyvi, &round->vgpus);
	if (ret)
		return ret;
	round->stats = calloc(ghyvi_vgpus_count(round->vgpus) + 1, sizeof(struct ghyvi_stats *));
	if (!round->stats) {
		round_free(round);
		return -ENOMEM;
	}
	round->count = ghyvi_vgpus_count(round->vgpus);
	for (i = 0; i < round->count; i++)
		if (ghyvi_stats_read(ghyvi_vgpus_at(round->vgpus, i), &round->stats[i]))
			round->stats[i] = NULL;
	return 0;
}

void round_free(struct round *round)
{
	size_t i;

	for (i = 0; i < round->count; i++)
		ghyvi_stats_free(round->stats[i]);
	free(round->stats);
	ghyvi_vgpus_free(round->vgpus);
	*round = (struct round){};
}

const struct ghyvi_stats *round_find(const struct round *round, const char *uuid)
{
	size_t i;

	for (i = 0; i < round->count; i++)
		if (!strcmp(ghyvi_vgpu_uuid(ghyvi_vgpus_at(round->vgpus, i)), uuid))
			return round->stats[i];
	return NULL;
}

double rate(const struct ghyvi_stats *now, const struct ghyvi_stats *before, const char *name)
{
	double seconds;

	if (!before)
		return 0;
	seconds = (ghyvi_stats_time_ns(now) - ghyvi_stats_time_ns(before)) / NS_PER_S;
	/*
	 * If the vGPU was removed and created again with the same UUID, its counters restart at 0.
	 */
	if (seconds <= 0 || ghyvi_stats_get(now, name) < ghyvi_stats_get(before, name))
		return 0;
	return (ghyvi_stats_get(now, name) - ghyvi_stats_get(before, name)) / seconds;
}

void sleep_seconds(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - time.tv_sec) * NS_PER_S);
	nanosleep(&time, NULL);
}

double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / NS_PER_S;
}

enum news wait_for_news(struct ghyvi_watch *watch, int input, double until)
{
	struct pollfd files[] = {
		{ .fd = watch ? ghyvi_watch_fd(watch) : -1, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};

	for (;;) {
		double left_ms = ceil((until - seconds_now()) * MS_PER_S);

		if (left_ms <= 0)
			return NEWS_TIME_IS_UP;
		if (poll(files, sizeof(files) / sizeof(files[0]), (int)left_ms) < 0)
			return NEWS_SIGNAL;
		if (files[1].revents)
			return NEWS_INPUT;
		/* The socket is readable also for events of other devices. */
		if (files[0].revents && ghyvi_watch_take(watch))
			return NEWS_VGPUS;
	}
}

volatile sig_atomic_t stop_asked, stop_child;

/* The terminal sends Ctrl-C to the child as well, but kill(1) may signal this process alone. */
static void ask_stop(int signal)
{
	(void)signal;
	stop_asked = 1;
	if (stop_child)
		kill(stop_child, SIGTERM);
}

void stop_on_signals(void)
{
	/* Without SA_RESTART, so that a signal interrupts a sleep. */
	const struct sigaction action = { .sa_handler = ask_stop };
	struct sigaction old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* The terminal was closed. nohup(1) ignores that. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}
