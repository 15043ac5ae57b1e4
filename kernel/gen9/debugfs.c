// SPDX-License-Identifier: GPL-2.0-only
/*
 * ghyvi-gen9/<PCI address> in debugfs: what the self-test of the last probe has found. A GPU that
 * fails the test has no driver, but the file stays until the next probe or the end of the module.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include "gen9.h"

struct report {
	struct debugfs_blob_wrapper blob;
	struct dentry *file;
};

static struct dentry *root;
static struct report *shown; /* exchanged, so that each one is freed once */

static void replace_report(struct report *report)
{
	report = xchg(&shown, report);
	if (!report)
		return;
	debugfs_remove(report->file); /* waits for readers */
	kvfree(report->blob.data);
	kfree(report);
}

void gen9_report_publish(const struct gen9 *gpu, int err)
{
	struct report *report = kzalloc(sizeof(*report), GFP_KERNEL);
	size_t bytes;

	replace_report(NULL); /* it may have the same name */
	if (!report)
		return;
	report->blob.data = gen9_report_text(gpu, err, &bytes);
	if (!report->blob.data) {
		kfree(report);
		return;
	}
	report->blob.size = bytes;
	report->file = debugfs_create_blob(pci_name(gpu->pdev), 0400, root, &report->blob);
	replace_report(report);
}

void gen9_debugfs_init(void)
{
	root = debugfs_create_dir("ghyvi-gen9", NULL);
}

void gen9_debugfs_exit(void)
{
	replace_report(NULL);
	debugfs_remove(root);
}
