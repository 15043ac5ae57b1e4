// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of a table page: traps and scans are divided into bursts, gaps and runs, which are
 * recorded in the vGPU's experience.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_policy.h>

#define RUNS_MAX 64u /* at this number of runs all counts are halved */

static void gap_ends(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		     const struct ghyvi_shadow_tuning *tuning, u32 clean, bool trapped)
{
	struct ghyvi_histogram *durations = &experience->gaps[history->gap_context];
	struct ghyvi_rent_or_buy rental = ghyvi_gap_rental(tuning);
	u64 best = min(clean * rental.rent_ns, rental.buy_ns), paid;

	if (history->scans) {
		paid = (history->scans - 1) * rental.rent_ns + (trapped ? rental.buy_ns : 0);
		ghyvi_regret_charge(&experience->gap_credit_ns, 2 * best - paid, rental.buy_ns);
	}
	if (history->waited)
		ghyvi_histogram_remove_censored(durations);
	history->waited = false;
	ghyvi_durations_add(durations, clean, &rental);
	history->gap_context = 1 + ghyvi_duration_class(clean);
}

static void burst_begins(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			 const struct ghyvi_shadow_tuning *tuning, u32 now, bool trapped)
{
	if (history->known)
		gap_ends(history, experience, tuning, now - history->burst_at - 1, trapped);
	history->known = true;
	history->burst_at = now;
	history->scans = 0;
	history->in_run = false;
}

/* Only for bursts that begin with a trap: the others involve no decision of the policy. */
static void burst_ends(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		       const struct ghyvi_shadow_tuning *tuning, u32 stores, bool relaxed)
{
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(tuning);
	u64 best = tuning->trap_ns + min((stores - 1) * rental.rent_ns, rental.buy_ns);
	u64 paid = history->writes * rental.rent_ns + (relaxed ? rental.buy_ns : 0);

	ghyvi_regret_charge(&experience->burst_credit_ns, 2 * best - paid, rental.buy_ns);
	ghyvi_durations_add(&experience->bursts[history->start], stores - 1, &rental);
	history->writes = 0;
}

static void burst_ends_unscanned(struct ghyvi_page_history *history,
				 struct ghyvi_experience *experience,
				 const struct ghyvi_shadow_tuning *tuning)
{
	if (history->writes)
		burst_ends(history, experience, tuning, history->writes, false);
}

bool ghyvi_history_trap(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start)
{
	bool begins = !history->known || history->burst_at != now;

	if (begins) {
		burst_ends_unscanned(history, experience, tuning);
		burst_begins(history, experience, tuning, now, true);
		history->start = start;
	}
	history->writes++;
	history->heat++;
	return begins;
}

static void ahead_ends(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		       const struct ghyvi_shadow_tuning *tuning, bool right)
{
	if (history->ahead)
		ghyvi_regret_charge(&experience->ahead_credit_ns,
				    right ? (s64)tuning->trap_ns :
					    -(s64)ghyvi_burst_rental(tuning).buy_ns,
				    tuning->trap_ns);
	history->ahead = false;
}

bool ghyvi_history_scan(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, u32 changed,
			bool taken_back)
{
	bool old = !history->known || history->burst_at != now;
	struct ghyvi_rent_or_buy rental = ghyvi_gap_rental(tuning);

	history->heat += changed;
	ahead_ends(history, experience, tuning, changed);
	if (old)
		burst_ends_unscanned(history, experience, tuning);
	if (old && changed)
		burst_begins(history, experience, tuning, now, false);
	if (history->writes) {
		burst_ends(history, experience, tuning, history->writes + changed, true);
	} else if (taken_back && !changed && history->known && history->scans && !history->waited) {
		history->waited = true;
		ghyvi_histogram_add_censored(&experience->gaps[history->gap_context], &rental);
	}
	history->scans++;
	return old && changed;
}

static void run_reaches(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			unsigned int start, unsigned int index)
{
	u8 *runs = experience->runs[start];
	unsigned int i;

	if (runs[0] == RUNS_MAX && !index)
		for (i = 0; i < GHYVI_RUN_PAGES; i++)
			runs[i] /= 2;
	if (runs[index] < RUNS_MAX)
		runs[index]++;
	history->in_run = true;
	history->run_start = start;
	history->run_index = index;
}

bool ghyvi_history_run(const struct ghyvi_page_history *before, struct ghyvi_page_history *history,
		       struct ghyvi_experience *experience)
{
	if (!history->known || history->in_run)
		return false;
	if (before && before->in_run && before->burst_at == history->burst_at &&
	    before->run_index < GHYVI_RUN_PAGES - 1)
		run_reaches(history, experience, before->run_start, before->run_index + 1);
	else if (history->writes) /* a trap is needed to predict the rest of the run */
		run_reaches(history, experience, history->start, 0);
	return history->in_run;
}
