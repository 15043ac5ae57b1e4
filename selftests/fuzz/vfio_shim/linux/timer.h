/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of this name: a member of structs. */
struct timer_list {
	int unused;
};
