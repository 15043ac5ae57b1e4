/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_GUEST_BLITCHECK_H
#define GHYVI_GUEST_BLITCHECK_H

enum {
	EXIT_RIGHT = 0,
	EXIT_MISMATCH = 1,
	EXIT_TROUBLE = 2, /* a call failed, or a batch did not complete */
	EXIT_NO_DEVICE = 77,
};

/**
 * bad_batch() - Submit an invalid batch and check that the driver recovers.
 * @kind: one of bad_batch_kinds
 *
 * Return: an exit status.
 */
int bad_batch(const char *kind);
extern const char bad_batch_kinds[];

#endif
