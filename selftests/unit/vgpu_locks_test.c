// SPDX-License-Identifier: GPL-2.0-only
/*
 * Concurrent vCPUs. The test holds the lock while another thread blocks on it, changes the state
 * and releases the lock. The other thread must see the change: it may not read or write before.
 */
#include "vgpu_guest.h"

static struct {
	u32 offset, value; /* of a register access */
	u32 result;
	void (*call)(void);
	_Atomic bool began;
} other;

static void *other_thread(void *unused)
{
	other.began = true;
	other.call();
	return NULL;
}

static void other_writes(void)
{
	wr(other.offset, other.value);
}

static void other_reads(void)
{
	other.result = (u32)ghyvi_vgpu_register_read(vgpu, other.offset, 4);
}

/*
 * Returns when @call has probably blocked on the lock that the test holds. If it has not, the test
 * checks less, but does not fail.
 */
static pthread_t start_other(void (*call)(void))
{
	pthread_t thread;

	other.call = call;
	other.began = false;
	pthread_create(&thread, NULL, other_thread, NULL);
	while (!other.began)
		usleep_range(100, 200);
	usleep_range(10000, 11000);
	return thread;
}

/* @changed is set while @call of the other thread waits for vgpu->lock. */
static void meanwhile(void (*call)(void), u32 offset, u32 value, u32 changed, u32 changed_value)
{
	pthread_t thread;

	other.offset = offset;
	other.value = value;
	mutex_lock(&vgpu->lock);
	thread = start_other(call);
	vgpu_set(vgpu, changed, changed_value);
	mutex_unlock(&vgpu->lock);
	pthread_join(thread, NULL);
}

static void masked_stores_during_another_store_lose_no_bits(void **state)
{
	meanwhile(other_writes, 0x7300, 0x00010001, 0x7300, 0x80);
	assert_int_equal(rd(0x7300), 0x81);
	meanwhile(other_writes, guest.base + RING_MI_MODE, 0x00200020, guest.base + RING_MI_MODE,
		  0x40);
	assert_int_equal(rd(guest.base + RING_MI_MODE) & 0xff, 0x60);
	meanwhile(other_writes, guest.base + RING_RESET_CTL, 0x00100010,
		  guest.base + RING_RESET_CTL, 0x20);
	assert_int_equal(rd(guest.base + RING_RESET_CTL), 0x30);
	meanwhile(other_writes, guest.base + RING_CSB_POINTER, 0x02000200,
		  guest.base + RING_CSB_POINTER, 0x100);
	assert_int_equal(rd(guest.base + RING_CSB_POINTER), 0x0305);
	meanwhile(other_writes, guest.base + RING_EIR, 1, guest.base + RING_EIR, 3);
	assert_int_equal(rd(guest.base + RING_EIR), 2);
}

/* A guest that reads registers as memory takes no lock either. */
static void reads_do_not_wait_for_the_lock(void **state)
{
	static const u32 registers[] = { RING_CSB_POINTER, RING_MI_MODE, RING_EXECLIST_STATUS_HI };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		other.offset = guest.base + registers[i];
		mutex_lock(&vgpu->lock);
		vgpu_set(vgpu, other.offset, 0x305 + i);
		pthread_join(start_other(other_reads), NULL);
		assert_int_equal(other.result, 0x305 + i);
		mutex_unlock(&vgpu->lock);
	}
}

/* A write of the submit port waits for the lock. */
static void a_submission_waits_for_the_lock(void **state)
{
	struct vgpu_engine *engine = &vgpu->engines[guest.id];
	pthread_t thread;

	other.offset = guest.base + RING_ELSP;
	other.value = 0x1234;
	mutex_lock(&vgpu->lock);
	thread = start_other(other_writes);
	assert_int_equal(engine->elsp_count, 0);
	assert_int_equal(engine->elsp[0], 0);
	engine->elsp_count = 1;
	mutex_unlock(&vgpu->lock);
	pthread_join(thread, NULL);
	assert_int_equal(engine->elsp_count, 2);
	assert_int_equal(engine->elsp[1], 0x1234);
	engine->elsp_count = 0;
}

static void other_reminds(void)
{
	vgpu_irq_remind(vgpu);
}

static void other_raises(void)
{
	vgpu_irq_raise(&vgpu->engines[guest.id], 1);
}

static void an_interrupt_sees_the_registers_of_its_time(void **state)
{
	unsigned long flags;
	pthread_t thread;

	/* The line rises before the reminder takes the lock. */
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	thread = start_other(other_reminds);
	vgpu->line = true;
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_read(&interrupts), 1);
	vgpu->line = false;

	/* Bits of another event stay; an event that is masked meanwhile is dropped. */
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	thread = start_other(other_raises);
	vgpu_set(vgpu, 0x44308, 0x10);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	pthread_join(thread, NULL);
	assert_int_equal(vgpu_get(vgpu, 0x44308), 0x11);
	assert_int_equal(atomic_read(&interrupts), 2);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	thread = start_other(other_raises);
	vgpu_set(vgpu, 0x44308, 0);
	vgpu_set(vgpu, 0x44304, 1);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	pthread_join(thread, NULL);
	assert_int_equal(vgpu_get(vgpu, 0x44308), 0);
	vgpu_set(vgpu, 0x44304, 0);

	/* An acknowledgement clears its bits in the current value. */
	other.offset = 0x44308;
	other.value = 1;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	thread = start_other(other_writes);
	vgpu_set(vgpu, 0x44308, 3);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	pthread_join(thread, NULL);
	assert_int_equal(rd(0x44308), 2);
}

static void other_sets_containment(void)
{
	const struct ghyvi_containment wanted = { .budget_ms = 3,
						  .points_max = 4,
						  .window_ms = GHYVI_VIOLATION_WINDOW_MIN_MS };

	other.result = ghyvi_vgpu_set_containment(vgpu, &wanted);
}

static void other_gets_containment(void)
{
	struct ghyvi_containment is;

	ghyvi_vgpu_get_containment(vgpu, &is);
	other.result = is.budget_ms;
}

/* A thread that shows them does not wait: see ghyvi_vgpu_get_containment(). */
static void settings_are_set_under_the_lock_and_read_without(void **state)
{
	struct ghyvi_containment before = vgpu->containment;
	pthread_t thread;

	mutex_lock(&vgpu->lock);
	thread = start_other(other_sets_containment);
	assert_memory_equal(&vgpu->containment, &before, sizeof(before));
	mutex_unlock(&vgpu->lock);
	pthread_join(thread, NULL);
	assert_int_equal(vgpu->containment.budget_ms, 3);
	mutex_lock(&vgpu->lock);
	thread = start_other(other_gets_containment);
	pthread_join(thread, NULL);
	mutex_unlock(&vgpu->lock);
	assert_int_equal(other.result, 3);
}

static void other_switches_the_self_check(void)
{
	ghyvi_vgpu_set_check(vgpu, true);
	ghyvi_vgpu_set_check(vgpu, false);
}

/* TSan reports an access to the switch that is not meant to race. */
static void the_self_check_is_switched_while_contexts_are_loaded(void **state)
{
	pthread_t thread = start_other(other_switches_the_self_check);

	submit_work(0);
	consume();
	submit_work(0); /* a lite restore syncs */
	consume();
	finish(guest.id, GHYVI_JOB_COMPLETE);
	pthread_join(thread, NULL);
	assert_false(ghyvi_vgpu_get_check(vgpu));
}

static void other_moves_the_bar(void)
{
	ghyvi_vgpu_set_bar0(vgpu, 0xfd000000);
}

static void a_bar_moves_under_the_lock(void **state)
{
	pthread_t thread;

	mutex_lock(&vgpu->lock);
	thread = start_other(other_moves_the_bar);
	assert_true(vgpu->bar0 == GHYVI_BAR_UNMAPPED);
	mutex_unlock(&vgpu->lock);
	pthread_join(thread, NULL);
	assert_true(vgpu->bar0 == 0xfd000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(masked_stores_during_another_store_lose_no_bits),
		RCS(reads_do_not_wait_for_the_lock),
		RCS(a_submission_waits_for_the_lock),
		RCS(an_interrupt_sees_the_registers_of_its_time),
		RCS(settings_are_set_under_the_lock_and_read_without),
		RCS(the_self_check_is_switched_while_contexts_are_loaded),
		RCS(a_bar_moves_under_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
