// SPDX-License-Identifier: GPL-2.0-only
/* A vCPU in long mode, which sees guest-physical addresses below 1 GiB; its two instructions. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest_env.h"
#include "vcpu.h"

#define PRESENT_WRITE 3ull
#define LARGE (ENTRY_LARGE | PRESENT_WRITE)
#define CR0_PROTECTED_PAGED 0x80000011ull
#define CR4_PAE 0x20ull
#define EFER_LONG 0x500ull /* LME, LMA */
#define EXITS_MAX 8

enum { PML4, PDP, PD, CODE, VCPU_PAGES };

static const uint8_t code[] = {
	0x48, 0x89, 0x07, 0xe6, 0x00, 0, 0, 0, /* mov %rax, (%rdi); out %al, $0 */
	0x89, 0x07, 0xe6, 0x00, /* mov %eax, (%rdi); out %al, $0 */
};
#define CODE_4_BYTES 8u

static int vcpu_fd = -1;
static struct kvm_run *run;

static void write_pages(uint64_t *pages)
{
	pages[PML4 * ENTRIES] = (VCPU_GPA + PDP * PAGE_BYTES) | PRESENT_WRITE;
	pages[PDP * ENTRIES] = (VCPU_GPA + PD * PAGE_BYTES) | PRESENT_WRITE;
	for (uint64_t i = 0; i < ENTRIES; i++)
		pages[PD * ENTRIES + i] = i << 21 | LARGE;
	memcpy(pages + CODE * ENTRIES, code, sizeof(code));
}

static bool set_long_mode(void)
{
	struct kvm_segment data = {
		.limit = ~0u, .selector = 16, .type = 3, .present = 1, .s = 1, .db = 1, .g = 1
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu_fd, KVM_GET_SREGS, &sregs))
		return false;
	sregs.cr3 = VCPU_GPA + PML4 * PAGE_BYTES;
	sregs.cr4 = CR4_PAE;
	sregs.efer = EFER_LONG;
	sregs.cr0 = CR0_PROTECTED_PAGED;
	sregs.ds = sregs.es = sregs.ss = data;
	sregs.cs = data;
	sregs.cs.selector = 8;
	sregs.cs.type = 11;
	sregs.cs.db = 0;
	sregs.cs.l = 1;
	return !ioctl(vcpu_fd, KVM_SET_SREGS, &sregs);
}

bool vcpu_begin(int kvm_fd, int vm_fd, void *memory)
{
	int bytes = ioctl(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);

	write_pages(memory);
	vcpu_fd = ioctl(vm_fd, KVM_CREATE_VCPU, 0);
	if (vcpu_fd < 0 || bytes < 0)
		return false;
	run = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu_fd, 0);
	return run != MAP_FAILED && set_long_mode();
}

bool vcpu_store(uint64_t gpa, uint64_t value, unsigned int bytes)
{
	struct kvm_regs regs = {
		.rax = value,
		.rdi = gpa,
		.rip = VCPU_GPA + CODE * PAGE_BYTES + (bytes == 8 ? 0 : CODE_4_BYTES),
		.rflags = 2,
	};

	if (ioctl(vcpu_fd, KVM_SET_REGS, &regs))
		return false;
	/* A signal ends KVM_RUN, and so does memory that is not there. */
	for (unsigned int i = 0; i < EXITS_MAX; i++) {
		int ret = ioctl(vcpu_fd, KVM_RUN, 0);

		if (ret && errno != EINTR)
			return false;
		if (!ret && run->exit_reason != KVM_EXIT_MMIO)
			return run->exit_reason == KVM_EXIT_IO;
	}
	return false;
}
