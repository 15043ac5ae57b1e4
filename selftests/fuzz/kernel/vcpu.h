/* SPDX-License-Identifier: GPL-2.0-only */
/* A vCPU of the fuzzer's VM that makes stores, so that those to table pages trap. */
#ifndef FUZZ_VCPU_H
#define FUZZ_VCPU_H

#include <stdbool.h>
#include <stdint.h>

#define VCPU_GPA 0x1000ull /* of its page tables and its code */
#define VCPU_BYTES 0x4000u

/* @memory: VCPU_BYTES, which are at VCPU_GPA of the VM */
bool vcpu_begin(int kvm_fd, int vm_fd, void *memory);
/* Stores 4 or 8 bytes, below 1 GiB. */
bool vcpu_store(uint64_t gpa, uint64_t value, unsigned int bytes);

#endif
