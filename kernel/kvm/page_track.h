/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One interface to KVM's page tracking, which takes memory slots (6.1) or gfns (6.6 and later).
 */
#ifndef GHYVI_KVM_PAGE_TRACK_H
#define GHYVI_KVM_PAGE_TRACK_H

#include <linux/kvm_host.h>
#include <asm/kvm_page_track.h>
#include <ghyvi-features.h>

/* Kernels without this option do not declare page tracking, or declare it and never call back. */
#define GHYVI_CAN_TRACK IS_ENABLED(CONFIG_KVM_EXTERNAL_WRITE_TRACKING)
#define GHYVI_TRACK_BY_SLOT (!GHYVI_HAVE_KVM_TRACK_BY_GFN)

#if GHYVI_CAN_TRACK

#if GHYVI_TRACK_BY_SLOT
#define GHYVI_TRACK_WRITE_ARGS                                        \
	struct kvm_vcpu *vcpu, gpa_t gpa, const u8 *value, int bytes, \
		struct kvm_page_track_notifier_node *node
#else
#define GHYVI_TRACK_WRITE_ARGS \
	gpa_t gpa, const u8 *value, int bytes, struct kvm_page_track_notifier_node *node
#endif

/*
 * Register @node and take a reference on @kvm. Returns 0, -ESRCH (the VM belongs to another
 * process), or an errno of KVM (-EOPNOTSUPP: the VM's memory cannot be tracked).
 */
static inline int ghyvi_track_register(struct kvm *kvm, struct kvm_page_track_notifier_node *node)
{
	if (kvm->mm != current->mm)
		return -ESRCH;
#if GHYVI_TRACK_BY_SLOT
	kvm_get_kvm(kvm);
	kvm_page_track_register_notifier(kvm, node);
	return 0;
#else
	return kvm_page_track_register_notifier(kvm, node);
#endif
}

/*
 * Unregister @node and drop the reference on @kvm. Waits for callbacks in progress, so the caller
 * must not hold a lock that they take.
 */
static inline void ghyvi_track_unregister(struct kvm *kvm,
					  struct kvm_page_track_notifier_node *node)
{
	kvm_page_track_unregister_notifier(kvm, node);
#if GHYVI_TRACK_BY_SLOT
	kvm_put_kvm(kvm);
#endif
}

#endif /* GHYVI_CAN_TRACK */

#endif
