/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/ghyvi-eu: execution units of the software pGPU, in user space.
 *
 * The kernel executes the commands of guests, but never their kernels. A process that has opened
 * the device and called GHYVI_EU_ACCEPT is the execution units of one vGPU. GHYVI_EU_NEXT hands it
 * one dispatch (GPGPU_WALKER or MEDIA_OBJECT) after the other. It sees the vGPU's memory by mmap():
 * file offset = GPU address, below 2^48. A page that it touches is translated through the shadow
 * tables of the context whose dispatch it executes, and mapped. A store to a page that the guest
 * may not write goes to a copy: it has no effect for the guest, but the process may read it back.
 * SIGBUS: the address is not mapped in the context, or no dispatch is being executed. The kernel
 * takes all pages away when the guest changes its tables, and at GHYVI_EU_NEXT.
 *
 * A dispatch that is to give way within a thread group leaves what the group has reached with the
 * kernel, which keeps it with the job, moves it with the vGPU, and hands it to whichever process
 * gets the rest of the dispatch. The kernel does not look into it, and it may come from a program
 * of the host that has loaded the vGPU's state: the process must not trust it.
 *
 * A process that ends, or answers nonsense, costs its vGPU the job whose dispatch it executes (as a
 * hang of the engine), and no other. No process: the commands have no effect.
 */
#ifndef _UAPI_LINUX_GHYVI_EU_H
#define _UAPI_LINUX_GHYVI_EU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* File offset of the page with struct ghyvi_eu_control; read only. */
#define GHYVI_EU_CONTROL_OFFSET (1ULL << 48)

/* The most dwords of a command that is a dispatch. */
#define GHYVI_EU_COMMAND_DWORDS 144

/* The most bytes of a thread group in progress: 64 threads and 64 KiB of shared memory. */
#define GHYVI_EU_GROUP_BYTES (448u << 10)

/* Instructions of a slice, the unit in which they are counted. */
#define GHYVI_EU_SLICE_INSTRUCTIONS 4096

/**
 * struct ghyvi_eu_control - what the kernel asks of a dispatch that is being executed
 * @yield: number of the dispatch that is to stop soon, and to be answered with GHYVI_EU_YIELDED
 * @abort: number of the dispatch that has been given up: its answer is ignored. A process that has
 *	not ended it a second later gets SIGKILL
 */
struct ghyvi_eu_control {
	__u32 yield;
	__u32 abort;
};

/**
 * struct ghyvi_eu_client - whose execution units the caller is
 * @name: the vGPU's UUID, as mdev has it, and a 0
 */
struct ghyvi_eu_client {
	char name[40];
};

enum ghyvi_eu_status {
	GHYVI_EU_NONE, /* first call: there was no dispatch */
	GHYVI_EU_DONE, /* all thread groups have ended */
	GHYVI_EU_YIELDED, /* as asked; @groups of them have ended, and @group is in progress */
	GHYVI_EU_ERROR, /* @text says what the kernel did wrong */
};

/**
 * struct ghyvi_eu_next - the answer to a dispatch, and the next one
 * @status: in: enum ghyvi_eu_status of dispatch @number
 * @number: in: the dispatch that @status is about; out: the next one, not 0
 * @groups: in, GHYVI_EU_YIELDED: thread groups of the command that have ended, in the walker's
 *	order, those of @skip included; out: @skip, groups that have ended before
 * @group: in: address of a buffer of GHYVI_EU_GROUP_BYTES; GHYVI_EU_YIELDED: with the thread group
 *	in progress; out: the buffer has the one that the dispatch goes on with
 * @group_bytes: in, GHYVI_EU_YIELDED, and out: bytes of @group, a multiple of 8; 0: none is in
 *	progress
 * @slices: out: slices that the dispatch may execute, 0: any number; in: those of them that are
 *	left. The answer without any left, GHYVI_EU_YIELDED at the latest, costs the job
 * @text: in, GHYVI_EU_ERROR: one line, ends with a 0
 * @base: out: STATE_BASE_ADDRESS, as the context has it; a header of 0: the context had none.
 *	So with the next three, of the last command of each kind
 * @vfe: out: MEDIA_VFE_STATE
 * @constants: out: MEDIA_CURBE_LOAD
 * @descriptors: out: MEDIA_INTERFACE_DESCRIPTOR_LOAD
 * @dispatch_dim: out: GPGPU_DISPATCHDIMX, Y, Z
 * @dwords: out: dwords of @command
 * @command: out: the dispatch
 */
struct ghyvi_eu_next {
	__u32 status;
	__u32 number;
	__u64 groups;
	__u64 group;
	__u32 group_bytes;
	__u32 slices;
	char text[120];
	__u32 base[19];
	__u32 vfe[9];
	__u32 constants[4];
	__u32 descriptors[4];
	__u32 dispatch_dim[3];
	__u32 dwords;
	__u32 command[GHYVI_EU_COMMAND_DWORDS];
};

/*
 * GHYVI_EU_ACCEPT: wait until a vGPU without execution units dispatches; the caller's file is its
 * execution units from then on. EBUSY: this file has, or had, a vGPU. ENODEV: that vGPU has gone
 * meanwhile. EINTR: a signal came.
 */
#define GHYVI_EU_ACCEPT _IOR('g', 0xe0, struct ghyvi_eu_client)
/*
 * GHYVI_EU_NEXT: answer the last dispatch, and wait for the next. EINVAL: no vGPU was accepted, or
 * a field is out of range. ENOMEM: the memory cgroup of the VM has no room for @group; the answer
 * is not taken. ENODEV: the vGPU is gone. EINTR: a signal came; the answer is taken.
 */
#define GHYVI_EU_NEXT _IOWR('g', 0xe1, struct ghyvi_eu_next)

#endif
