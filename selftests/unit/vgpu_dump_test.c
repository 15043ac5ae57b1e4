// SPDX-License-Identifier: GPL-2.0-only
/* The debugfs dump of a vGPU, word for word. */
#include "vgpu_guest.h"

static const char *dumped(void)
{
	static char text[8192];
	struct seq_file m = { fmemopen(text, sizeof(text), "w") };

	ghyvi_vgpu_dump(vgpu, &m);
	fclose(m.f);
	return text;
}

static void a_vgpu_without_a_driver_is_idle(void **state)
{
	static const char interrupts_and_engines[] =
		"gen9: 8086:1912 revision 6, 0 workloads outstanding\n"
		"rcs: idle csb=5 hwsp=0x0 imr=0xffffffff eir=0x0\n"
		"bcs: idle csb=5 hwsp=0x0 imr=0xffffffff eir=0x0\n"
		"vcs: idle csb=5 hwsp=0x0 imr=0xffffffff eir=0x0\n"
		"vecs: idle csb=5 hwsp=0x0 imr=0xffffffff eir=0x0\n"
		"interrupts: master=0x00000000 line=0\n"
		"  bank 0: imr=0xffffffff iir=0x00000000 ier=0x00000000\n"
		"  bank 1: imr=0xffffffff iir=0x00000000 ier=0x00000000\n"
		"  bank 2: imr=0xffffffff iir=0x00000000 ier=0x00000000\n"
		"  bank 3: imr=0xffffffff iir=0x00000000 ier=0x00000000\n";
	size_t bytes = strlen(interrupts_and_engines);
	const char *text = dumped();

	assert_memory_equal(text, interrupts_and_engines, bytes);
	assert_ptr_equal(strstr(text, "registers: bar_remap=on, 0 of 22 tracked pages are "
				      "protected\n"
				      "  0x002000-0x002fff tracked: render engine\n"),
			 text + bytes);
	assert_non_null(strstr(text, "  0x009000-0x009fff trapped: GDRST waits for engines\n"));
}

static void the_dump_shows_that_registers_are_protected(void **state)
{
	ghyvi_vgpu_set_bar0(vgpu, 0xf0000000);
	rd(PVINFO_MAGIC_LO);
	assert_non_null(strstr(dumped(), "bar_remap=on, 22 of 22 tracked"));
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	ghyvi_vgpu_set_remap(vgpu, false);
	assert_non_null(strstr(dumped(), "bar_remap=off, 0 of 22 tracked"));
}

static void the_dump_shows_running_and_waiting_workloads(void **state)
{
	const char *text;

	guest.tails[0] = 0x40;
	poke(STATE(0, GHYVI_CTX_RING_HEAD), 8);
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 0x40);
	move_tail(1);
	submit(0, 1);
	consume();
	submit(2, 3);
	text = dumped();
	assert_non_null(strstr(text, "revision 6, 1 workloads outstanding\n"
				     "rcs: busy csb=0 hwsp=0x10001000 imr=0x0 eir=0x0\n"
				     "  active 0: 0x0000002010100119\n"
				     "  active 1: 0x0000004010104119\n"
				     "  pending 0: 0x0000006010108119\n"
				     "  pending 1: 0x000000801010c119\n"
				     "  ring: start=0x10180000 ctl=0x1 head=0x8 tail=0x40\n"
				     "bcs: idle"));
	assert_non_null(strstr(text, "interrupts: master=0x80000001 line=1\n"
				     "  bank 0: imr=0x00000000 iir=0x00000100 ier=0xffffffff\n"));
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_non_null(strstr(dumped(), "rcs: halted csb=0 hwsp=0x10001000 imr=0x0 eir=0x1\n"));
}

static void the_dump_shows_a_workload_that_is_resubmitted(void **state)
{
	submit(0, -1);
	consume();
	consume();
	submit_work(0);
	assert_null(strstr(dumped(), "runs again"));
	gpu.stale = true;
	move_tail(0);
	elsp(descriptor(0), 0);
	assert_non_null(strstr(dumped(), " (runs again)\n"));
	finish(guest.id, GHYVI_JOB_COMPLETE);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void *raise_interrupt(void *unused)
{
	vgpu_irq_raise(&vgpu->engines[guest.id], 1);
	return NULL;
}

/* A dump does not wait for interrupts. TSan reports an access that is not meant to race. */
static void the_dump_is_made_while_interrupts_are_sent(void **state)
{
	pthread_t thread;

	pthread_create(&thread, NULL, raise_interrupt, NULL);
	assert_non_null(strstr(dumped(), "interrupts: master=0x"));
	pthread_join(thread, NULL);
	assert_non_null(strstr(dumped(), " line=1\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_vgpu_without_a_driver_is_idle, setup_gen9,
						teardown),
		RCS(the_dump_shows_that_registers_are_protected),
		RCS(the_dump_shows_running_and_waiting_workloads),
		RCS(the_dump_shows_a_workload_that_is_resubmitted),
		RCS(the_dump_is_made_while_interrupts_are_sent),
	};

	return cmocka_run_group_tests_name("vgpu dump", tests, NULL, NULL);
}
