// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts of what a page has cost against what it had to cost. The optimum of a page at traps only
 * is a task system of two states, so its work function is one number: what ending relaxed costs
 * more than ending protected. The work function algorithm follows that number and is 3-competitive
 * (Borodin, Linial and Saks). adaptive follows it on pages whose predictions were bad.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_policy.h>

/* The vGPU may pay 1/STARTUP_RATIO of the cost of segmented more, beside GHYVI_STARTUP_ROUNDS. */
#define STARTUP_RATIO 1024
/* What it paid less than segmented before counts as this many rounds at most. */
#define SAVED_ROUNDS 128
/* One of so many traps that were saved is spent on measuring the cost of traps. */
#define MEASURE_RATIO 1024

static s64 take_back_ns(const struct ghyvi_shadow_tuning *tuning)
{
	return (s64)tuning->scan_ns + tuning->protect_ns;
}

static void regret_add(struct ghyvi_page_account *account, const struct ghyvi_shadow_tuning *tuning,
		       s64 regret_ns)
{
	account->regret_ns = max_t(s64, account->regret_ns + regret_ns,
				   -GHYVI_REGRET_ROUNDS * ghyvi_round_ns(tuning));
}

void ghyvi_account_open(struct ghyvi_page_account *account,
			const struct ghyvi_shadow_tuning *tuning, bool relaxed)
{
	account->offset_ns = relaxed ? -take_back_ns(tuning) : (s64)tuning->trap_ns;
}

void ghyvi_account_stores(struct ghyvi_page_account *account,
			  const struct ghyvi_shadow_tuning *tuning, u32 stores)
{
	s64 before = min_t(s64, account->offset_ns, 0), traps = (s64)stores * tuning->trap_ns;
	s64 offset = min_t(s64, account->offset_ns, tuning->trap_ns) - traps;

	regret_add(account, tuning, -2 * (traps + min_t(s64, offset, 0) - before));
	account->offset_ns = max_t(s64, offset, -take_back_ns(tuning));
}

void ghyvi_account_submissions(struct ghyvi_page_account *account,
			       const struct ghyvi_shadow_tuning *tuning, u32 submissions)
{
	s64 offset = account->offset_ns + (s64)submissions * tuning->scan_ns;

	regret_add(account, tuning,
		   -2 * (min_t(s64, offset, 0) - min_t(s64, account->offset_ns, 0)));
	account->offset_ns = min_t(s64, offset, tuning->trap_ns);
}

void ghyvi_account_settle(struct ghyvi_page_account *account, struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning, bool burst, bool stays)
{
	s64 segmented = (burst ? ghyvi_round_ns(tuning) : 0) + (s64)account->due_ns;

	/* The rent of the gap will be compared with the protection that "segmented" pays now. */
	account->due_ns = burst && stays ? tuning->protect_ns : 0;
	segmented -= account->due_ns;

	regret_add(account, tuning, account->paid_ns);
	experience->balance_ns = min_t(s64,
				       experience->balance_ns + segmented +
					       segmented / STARTUP_RATIO - (s64)account->paid_ns,
				       SAVED_ROUNDS * ghyvi_round_ns(tuning));
	account->paid_ns = 0;
}

bool ghyvi_account_measures(struct ghyvi_experience *experience, bool trapped)
{
	if (!trapped)
		experience->traps_saved++;
	if (!trapped || experience->traps_saved < MEASURE_RATIO)
		return false;
	experience->traps_saved = 0;
	return true;
}

bool ghyvi_account_relaxes(const struct ghyvi_page_account *account,
			   const struct ghyvi_shadow_tuning *tuning, u32 traps)
{
	return min_t(s64, account->offset_ns, tuning->trap_ns) - (s64)traps * tuning->trap_ns <=
	       -take_back_ns(tuning);
}

bool ghyvi_account_protects(const struct ghyvi_page_account *account,
			    const struct ghyvi_shadow_tuning *tuning, u32 scans)
{
	return scans && account->offset_ns + (scans + 1ll) * tuning->scan_ns >= tuning->trap_ns;
}
