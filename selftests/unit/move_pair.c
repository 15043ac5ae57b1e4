// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "move_pair.h"

struct move_host from, to;
static const u64 owner_state[2] = { 0x1122334455667788, 42 };

int pair_setup(void **state)
{
	move_host_begin(&from, NULL);
	move_host_begin(&to, NULL);
	move_guest_begin(&from);
	return 0;
}

int pair_teardown(void **state)
{
	move_host_end(&from);
	move_host_end(&to);
	return 0;
}

void *pair_save(struct move_host *host, size_t *bytes)
{
	void *state;

	ghyvi_vgpu_pause(host->vgpu);
	assert_int_equal(
		ghyvi_vgpu_save(host->vgpu, owner_state, sizeof(owner_state), &state, bytes), 0);
	assert_true(*bytes <= GHYVI_STATE_BYTES_MAX);
	return state;
}

int pair_load(struct move_host *host, const void *state, size_t bytes)
{
	u64 owner[2] = {};
	void *copy = malloc(bytes ?: 1); /* so that ASan sees reads beyond its end */
	int err;

	memcpy(copy, state, bytes);
	err = ghyvi_vgpu_load(host->vgpu, copy, bytes, owner, sizeof(owner));
	free(copy);
	if (!err)
		assert_memory_equal(owner, owner_state, sizeof(owner));
	return err;
}

void pair_move(void)
{
	u32 pinned = to.pinned;
	size_t bytes;
	void *state = pair_save(&from, &bytes);

	assert_int_equal(pair_load(&to, state, bytes), 0);
	free(state);
	ghyvi_vgpu_reset(from.vgpu);
	ghyvi_vgpu_set_bar0(to.vgpu, MOVE_BAR0_GPA);
	assert_int_equal(to.pinned, pinned); /* guest memory may not be there yet */
	ghyvi_vgpu_resume(to.vgpu);
}
