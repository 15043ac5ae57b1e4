// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of the software GPU fails once, one per run. The error is -ENOMEM, nothing leaks
 * (ASan), and a page that could not be owned or mapped is not.
 */
#include "softgpu_fixture.h"

static void creation_without_memory_leaves_nothing(void **state)
{
	struct softgpu *gpu;
	unsigned long n;

	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		gpu = softgpu_create();
		if (!shim_failed_allocs())
			break;
		assert_int_equal(PTR_ERR(gpu), -ENOMEM);
	}
	shim_fail_allocs(0, 0);
	assert_in_range(n, 2 + GHYVI_ENGINES, 20);
	softgpu_destroy(gpu);
}

/* A client that owns and maps a page. */
static int use_a_client(struct rig *rig, void *page)
{
	struct ghyvi_pgpu_client *client =
		softgpu_ops.client_create(softgpu_device(rig->gpu), &rig->params);
	u64 bus = virt_to_phys(page);
	int err;

	if (IS_ERR(client))
		return PTR_ERR(client);
	err = rig_map_page(client, bus, GHYVI_PAGE_DATA);
	if (err) {
		assert_int_equal(
			softgpu_owners_kind(softgpu_owners_find(softgpu_client(client), bus), bus),
			-ENOENT);
		goto out;
	}
	err = softgpu_ops.map_guest(client, 7, bus);
	if (err)
		assert_null(xa_load(&softgpu_client(client)->guest, 7 / SOFTGPU_OWNER_PAGES));
	else
		softgpu_ops.unmap_guest(client, 7);
	softgpu_ops.unmap_page(client, bus);
out:
	softgpu_ops.client_destroy(client);
	return err;
}

static void any_allocation_of_a_client_may_fail(void **state)
{
	void *page = shim_page_alloc(PAGE_SIZE, __GFP_ZERO | __GFP_NOFAIL);
	unsigned long n;
	int err;

	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		err = use_a_client(*state, page);
		if (!shim_failed_allocs())
			break;
		assert_int_equal(err, -ENOMEM);
	}
	shim_fail_allocs(0, 0);
	assert_int_equal(err, 0);
	assert_in_range(n, 7, 20);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(creation_without_memory_leaves_nothing),
		RIG_TEST(any_allocation_of_a_client_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
