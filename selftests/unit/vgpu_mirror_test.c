// SPDX-License-Identifier: GPL-2.0-only
/* The mirror: registers that the guest reads as memory and stores to under write protection. */
#include "vgpu_fake.h"
#include "vgpu/vgpu_types.h"

#define BAR0 0xf0000000ull
#define BAR0_ELSEWHERE 0xe0000000ull
#define BANK(n, reg) (GEN8_GT_ISR0 + (n)*GEN8_IRQ_BANK_SIZE + (reg))
#define EVENT 0x100u
#define PAGE 0x44000u /* of the interrupt registers */

static int setup_mapped(void **state)
{
	int err = setup_gen9(state);

	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	rd(PVINFO_MAGIC_LO);
	return err;
}

static void raise_event(void)
{
	vgpu_irq_raise(&vgpu->engines[GHYVI_RCS], EVENT);
}

static void unmask(void)
{
	wr(GHYVI_RENDER_BASE + RING_IMR, ~EVENT);
	guest_stores(BANK(0, IRQ_IMR), ~EVENT, 4);
	guest_stores(BANK(0, IRQ_IER), EVENT, 4);
	guest_stores(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL, 4);
}

static void the_mirror_is_protected_at_the_address_of_bar_0(void **state)
{
	assert_true(host_protects(PAGE));
	assert_true(host_bar.gfn == BAR0 >> GHYVI_PAGE_SHIFT);
	ghyvi_vgpu_set_bar0(vgpu, BAR0_ELSEWHERE);
	assert_false(host_protects(PAGE)); /* nothing says that it is mapped there already */
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(PAGE));
	assert_true(host_bar.gfn == BAR0_ELSEWHERE >> GHYVI_PAGE_SHIFT);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	assert_false(host_protects(PAGE));
	rd(PVINFO_MAGIC_LO);
	assert_false(host_protects(PAGE));
}

/* Before the page is protected only bits that a store of themselves clears are hidden. */
static void the_mirror_shows_all_but_events_before_protection(void **state)
{
	unsigned int i;

	assert_false(host_protects(PAGE));
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++) {
		wr(BANK(i, IRQ_IMR), 0x1000 + i);
		wr(BANK(i, IRQ_IER), 0x2000 + i);
		assert_int_equal(shown(BANK(i, IRQ_IMR)), 0x1000 + i);
		assert_int_equal(shown(BANK(i, IRQ_IER)), 0x2000 + i);
	}
	wr(BANK(0, IRQ_IMR), 0);
	wr(GHYVI_RENDER_BASE + RING_IMR, ~EVENT);
	raise_event();
	assert_int_equal(rd(BANK(0, IRQ_IIR)), EVENT);
	assert_int_equal(shown(BANK(0, IRQ_IIR)), 0);
	wr(BANK(0, IRQ_IER), EVENT);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_GT_RCS_IRQ);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
	/* Storage beside the banks, at the same place of 16 bytes. */
	wr(GEN8_GT_ISR0 - GEN8_IRQ_BANK_SIZE + IRQ_IIR, 0x77);
	assert_int_equal(shown(GEN8_GT_ISR0 - GEN8_IRQ_BANK_SIZE + IRQ_IIR), 0x77);
	wr(GEN8_GT_IER3 + 4 + IRQ_IIR, 0x78);
	assert_int_equal(shown(GEN8_GT_IER3 + 4 + IRQ_IIR), 0x78);
	/* Then everything. */
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(PAGE));
	assert_int_equal(shown(BANK(0, IRQ_IIR)), EVENT);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_GT_RCS_IRQ);
}

static void an_interrupt_as_i915_handles_it(void **state)
{
	unmask();
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 1);
	guest_stores(GEN8_MASTER_IRQ, 0, 4);
	assert_int_equal(shown(GEN8_MASTER_IRQ), BIT(0));
	assert_int_equal(shown(BANK(0, IRQ_IIR)), EVENT);
	guest_stores(BANK(0, IRQ_IIR), EVENT, 4);
	assert_int_equal(shown(BANK(0, IRQ_IIR)), 0);
	assert_int_equal(shown(GEN8_MASTER_IRQ), 0);
	guest_stores(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL, 4);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(atomic_read(&interrupts), 1);
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 2);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | BIT(0));
}

static void the_mirror_does_not_show_bits_that_a_register_drops(void **state)
{
	unmask();
	guest_stores(BANK(0, IRQ_ISR), ~0u, 4);
	assert_int_equal(shown(BANK(0, IRQ_ISR)), 0);
	guest_stores(BANK(0, IRQ_IIR), ~0u, 4); /* clears what is not set */
	assert_int_equal(shown(BANK(0, IRQ_IIR)), 0);
	guest_stores(GEN8_MASTER_IRQ, ~0u, 4);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
}

static void stores_of_any_length(void **state)
{
	guest_stores(0x44f03, 0x55, 1);
	guest_stores(0x44f05, 0xa1a2a3a4a5a6a7a8, 8); /* unaligned */
	assert_int_equal(rd(0x44f00), 0x55000000);
	assert_int_equal(rd(0x44f04), 0xa6a7a800);
	assert_int_equal(rd(0x44f08), 0xa1a2a3a4 << 8 | 0xa5);
	assert_int_equal(rd(0x44f0c), 0xa1);
	guest_stores(0x44ffc, 0x12345678, 4);
	assert_int_equal(rd(0x44ffc), 0x12345678);
	assert_int_equal(gtt.traps, 0);
}

static void stores_before_protection_are_replayed(void **state)
{
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	unmask(); /* its trapped write comes first, and nothing is stored before it */
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	assert_false(host_protects(PAGE));
	guest_stores(BANK(0, IRQ_IER), 0, 4);
	guest_stores(0x44f00, 77, 4);
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 1);
	guest_stores(BANK(0, IRQ_IIR), EVENT | BIT(3), 4);
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(PAGE));
	assert_int_equal(rd(BANK(0, IRQ_IER)), 0);
	assert_int_equal(rd(0x44f00), 77);
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0);
}

static void lost_protection_is_restored(void **state)
{
	u64 gfn = host_bar.gfn + (PAGE >> GHYVI_PAGE_SHIFT);

	ghyvi_vgpu_protection_lost(vgpu, gfn + 1, 100);
	rd(PVINFO_MAGIC_LO);
	memset(host_bar.users, 0, sizeof(host_bar.users));
	ghyvi_vgpu_protection_lost(vgpu, gfn - 3, 4);
	assert_int_equal(gtt.losses, 2);
	guest_stores(0x44f00, 5, 4);
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(PAGE));
	assert_int_equal(rd(0x44f00), 5);
}

/*
 * The memslot of the page is removed and added again: the page is the same, its protection is lost.
 */
static void flap(void)
{
	memset(host_bar.users, 0, sizeof(host_bar.users));
	ghyvi_vgpu_protection_lost(vgpu, host_bar.gfn, GHYVI_REGISTER_PAGES);
}

static void a_write_one_to_clear_during_a_slot_flap_is_replayed(void **state)
{
	unmask();
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 1);
	flap();
	guest_stores(BANK(0, IRQ_IIR), EVENT, 4); /* what the guest read before */
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0);
	assert_true(host_protects(PAGE));
	assert_int_equal(shown(BANK(0, IRQ_IIR)), 0);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 2);
	assert_int_equal(shown(BANK(0, IRQ_IIR)), EVENT);
}

static void an_interrupt_missed_during_a_slot_flap_is_sent_again(void **state)
{
	unmask();
	flap();
	raise_event();
	assert_int_equal(atomic_read(&interrupts), 1);
	/* The handler finds no interrupt, and its stores cancel each other. */
	guest_stores(GEN8_MASTER_IRQ, 0, 4);
	assert_int_equal(shown(GEN8_MASTER_IRQ) | shown(BANK(0, IRQ_IIR)), 0);
	guest_stores(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL, 4);
	rd(PVINFO_MAGIC_LO);
	assert_int_equal(atomic_read(&interrupts), 2);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | BIT(0));
	assert_int_equal(shown(BANK(0, IRQ_IIR)), EVENT);
}

static void a_protection_that_was_lost_is_not_dropped_again(void **state)
{
	flap();
	host_bar.users[PAGE >> GHYVI_PAGE_SHIFT] = 1; /* of another user, in the new slot */
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 1);
	host_bar.users[PAGE >> GHYVI_PAGE_SHIFT] = 0;
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	rd(PVINFO_MAGIC_LO);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 1);
	flap();
	rd(PVINFO_MAGIC_LO);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 1);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 0);
}

/* The slot at the old address is removed while the BAR moves: the new protection is not lost. */
static void a_loss_that_is_reported_after_a_move_is_ignored(void **state)
{
	u64 old = host_bar.gfn;
	unsigned int i;

	ghyvi_vgpu_set_bar0(vgpu, BAR0_ELSEWHERE);
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(PAGE));
	/* as ghyvi_vgpu_protection_lost() does that has read the old address */
	for (i = 0; i < vgpu->nr_tracked; i++)
		vgpu->tracked_lost[i] = old + vgpu->tracked[i];
	vgpu->bar_moved = 1;
	rd(PVINFO_MAGIC_LO);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 1);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	assert_int_equal(host_bar.users[PAGE >> GHYVI_PAGE_SHIFT], 0);
}

/* A store of an event's bit right after the end of the protection must leave a difference. */
static void events_are_hidden_when_the_page_moves(void **state)
{
	unmask();
	raise_event();
	assert_int_equal(shown(BANK(0, IRQ_IIR)), EVENT);
	ghyvi_vgpu_set_bar0(vgpu, BAR0_ELSEWHERE);
	assert_int_equal(shown(BANK(0, IRQ_IIR)), 0);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
}

static void without_a_mapping_accesses_are_trapped(void **state)
{
	host_bar.refuse = true;
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	rd(PVINFO_MAGIC_LO);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
}

static void the_mirror_shows_no_interrupt_in_failsafe_state(void **state)
{
	const u32 malformed[] = { 0, 0, 0, GEN8_CTX_VALID };
	unsigned int i;

	mutex_lock(&vgpu->lock);
	vgpu->containment.points_max = 1;
	vgpu->containment.window_ms = 1000;
	mutex_unlock(&vgpu->lock);
	unmask();
	for (i = 0; i < ARRAY_SIZE(malformed); i++)
		wr(GHYVI_RENDER_BASE + RING_ELSP, malformed[i]);
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	assert_int_equal(rd(GEN8_MASTER_IRQ), 0);
	guest_stores(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL, 4);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 0);
	raise_event();
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0);
	assert_int_equal(rd(BANK(0, IRQ_IMR)), 0);
	assert_true(ghyvi_vgpu_register_read(vgpu, GEN8_MASTER_IRQ, 8) == 0);
	mutex_lock(&vgpu->lock);
	vgpu->violation_points = 0;
	mutex_unlock(&vgpu->lock);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(shown(GEN8_MASTER_IRQ), 0);
	assert_int_equal(rd(BANK(0, IRQ_IMR)), ~0u);
}

#define FAILSAFE_ROUNDS 200

static _Atomic bool stop_replays;

static void *replay_thread(void *unused)
{
	while (!stop_replays) {
		ghyvi_vgpu_set_bar0(vgpu, BAR0);
		ghyvi_vgpu_try_remap(vgpu);
	}
	return NULL;
}

/* What the mirror shows in failsafe state is no store. */
static void a_replay_at_the_end_of_failsafe_state_executes_no_store(void **state)
{
	void (*const ends[])(struct ghyvi_vgpu * vgpu) = { ghyvi_vgpu_reset_under_driver,
							   ghyvi_vgpu_reset };
	unsigned int i, changed = 0;
	pthread_t thread;

	stop_replays = false;
	pthread_create(&thread, NULL, replay_thread, NULL);
	for (i = 0; i < FAILSAFE_ROUNDS; i++) {
		mutex_lock(&vgpu->lock);
		WRITE_ONCE(vgpu->failsafe, true);
		vgpu_mirror_show_all(vgpu);
		mutex_unlock(&vgpu->lock);
		ends[i % 2](vgpu);
		changed += vgpu_get(vgpu, HSW_PWR_WELL_CTL1) != 0;
		changed += vgpu_get(vgpu, GHYVI_BLITTER_BASE + RING_HWS_PGA) != 0;
	}
	stop_replays = true;
	pthread_join(thread, NULL);
	changed += vgpu_get(vgpu, HSW_PWR_WELL_CTL1) != 0;
	assert_int_equal(changed, 0);
}

static void a_store_to_the_ggtt_reaches_the_gtt(void **state)
{
	u64 value = 1;

	ghyvi_vgpu_route_store(vgpu, BAR0 + GHYVI_GGTT_OFFSET + 8, &value, 8);
	assert_int_equal(gtt.traps, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_mapped, teardown)
		TEST(the_mirror_is_protected_at_the_address_of_bar_0),
		TEST(an_interrupt_as_i915_handles_it),
		cmocka_unit_test_setup_teardown(the_mirror_shows_all_but_events_before_protection,
						setup_gen9, teardown),
		TEST(the_mirror_does_not_show_bits_that_a_register_drops),
		TEST(stores_of_any_length),
		TEST(stores_before_protection_are_replayed),
		TEST(lost_protection_is_restored),
		TEST(a_write_one_to_clear_during_a_slot_flap_is_replayed),
		TEST(an_interrupt_missed_during_a_slot_flap_is_sent_again),
		TEST(a_protection_that_was_lost_is_not_dropped_again),
		TEST(a_loss_that_is_reported_after_a_move_is_ignored),
		TEST(events_are_hidden_when_the_page_moves),
		cmocka_unit_test_setup_teardown(without_a_mapping_accesses_are_trapped, setup_gen9,
						teardown),
		TEST(the_mirror_shows_no_interrupt_in_failsafe_state),
		TEST(a_replay_at_the_end_of_failsafe_state_executes_no_store),
		TEST(a_store_to_the_ggtt_reaches_the_gtt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
