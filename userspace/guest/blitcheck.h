/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_GUEST_BLITCHECK_H
#define GHYVI_GUEST_BLITCHECK_H

enum {
	EXIT_RIGHT = 0,
	EXIT_MISMATCH = 1,
	EXIT_TROUBLE = 2, /* a call failed, a batch did not come back */
	EXIT_NO_DEVICE = 77,
};

/** bad_batch() - submit what no correct program does and see the driver recover; an exit status */
int bad_batch(const char *kind);
extern const char bad_batch_kinds[];

#endif
