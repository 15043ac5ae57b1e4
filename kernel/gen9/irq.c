// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: one message for all engines. Only the banks of the GT are enabled. Firmware or
 * another driver may have left others enabled, whose events nothing would clear.
 *
 * A batch can raise one interrupt after the other. When a guest's jobs on an engine have raised too
 * many in a tick, the events of guests are masked until the next one, or until the engine executes
 * the job of another guest. What was masked meanwhile is lost; instead, all events are delivered
 * then, and when a job ends. Guests tolerate interrupts without a reason.
 *
 * The register does not say whose events it has. All jobs that the engine may have executed since
 * it was read get them; if they are of several guests, none counts the interrupt. A job that waits
 * gets no more when those of its own time on the engine must have come.
 */
#include <linux/interrupt.h>
#include "gen9.h"

#define ENGINE_SOURCES 0xffffu
#define IRQ_CLEAR_TRIES 4

static const struct {
	u8 bank, shift;
	u32 summary;
} wiring[GHYVI_ENGINES] = {
	[GHYVI_RCS] = { 0, 0, GEN8_GT_RCS_IRQ },
	[GHYVI_BCS] = { 0, 16, GEN8_GT_BCS_IRQ },
	[GHYVI_VCS] = { 1, 0, GEN8_GT_VCS0_IRQ },
	[GHYVI_VECS] = { 3, 0, GEN8_GT_VECS_IRQ },
};

#define GUEST_SOURCES (GT_RENDER_USER_INTERRUPT | GT_RENDER_PIPECTL_NOTIFY_INTERRUPT)

/* What is enabled in the banks, per engine. */
#define SOURCES_USED (GUEST_SOURCES | GT_CS_MASTER_ERROR_INTERRUPT | GT_CONTEXT_SWITCH_INTERRUPT)

static u32 bank_register(unsigned int number, u32 which)
{
	return GEN8_GT_ISR0 + number * GEN8_IRQ_BANK_SIZE + which;
}

/* The bits of an engine have the same places in its own mask register as in the bank. */
static void set_sources(struct gen9_engine *engine, u32 sources)
{
	gen9_engine_write(engine, RING_IMR, ~(sources << wiring[engine->id].shift));
}

void gen9_irq_unmask(struct gen9_engine *engine)
{
	engine->muted = false;
	set_sources(engine, SOURCES_USED);
}

void gen9_irq_unmute(struct work_struct *work)
{
	struct gen9_engine *engine =
		container_of(to_delayed_work(work), struct gen9_engine, unmute_work);

	spin_lock_irq(&engine->lock);
	if (engine->muted && !engine->blocked) {
		gen9_irq_unmask(engine);
		gen9_irq_deliver(engine, GUEST_SOURCES);
	}
	spin_unlock_irq(&engine->lock);
}

/* The interrupts that are counted for the job. */
static struct gen9_irqs *irqs_of(const struct gen9_engine *engine, const struct ghyvi_job *job)
{
	lockdep_assert_held(&engine->lock);
	return &gen9_client(job->client)->irqs[engine->id];
}

void gen9_irq_job_runs(struct gen9_engine *engine, const struct ghyvi_job *job)
{
	const struct gen9_irqs *irqs = irqs_of(engine, job);
	unsigned long tick = jiffies;

	if (!engine->muted || engine->blocked ||
	    (irqs->tick == tick && irqs->count >= GEN9_IRQS_PER_TICK))
		return;
	gen9_irq_unmask(engine);
	gen9_irq_deliver(engine, GUEST_SOURCES);
}

/* Test whether the interrupt may be that of another client, whose job the engine has executed. */
static bool may_be_of_another(const struct gen9_engine *engine, const struct ghyvi_job *job)
{
	unsigned int i;

	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (engine->jobs[i]->client != job->client && gen9_job(engine->jobs[i])->irq_turns)
			return true;
	return false;
}

static void limit_irqs(struct gen9_engine *engine)
{
	const struct ghyvi_job *job = gen9_present_job(engine);
	struct gen9_irqs *irqs = job ? irqs_of(engine, job) : NULL;
	unsigned long tick = jiffies;

	if (!job || may_be_of_another(engine, job))
		return;
	if (irqs->tick != tick)
		*irqs = (struct gen9_irqs){ .tick = tick };
	if (++irqs->count < GEN9_IRQS_PER_TICK || engine->muted || engine->blocked)
		return;
	engine->muted = true;
	set_sources(engine, SOURCES_USED & ~(u32)GUEST_SOURCES);
	mod_delayed_work(engine->gpu->wq, &engine->unmute_work, 1);
}

/* An interrupt with events has been delivered. */
static void pass_turns(struct gen9_engine *engine)
{
	const struct ghyvi_job *running = gen9_running_job(engine);
	unsigned int i;

	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (engine->jobs[i] != running && gen9_job(engine->jobs[i])->irq_turns)
			gen9_job(engine->jobs[i])->irq_turns--;
}

/* Those of a job that has just left may come late. One that was cancelled gets none any more. */
static bool gets_events(const struct ghyvi_job *base)
{
	const struct gen9_job *job = gen9_job(base);

	return job->irq_turns && !(job->ended && job->status == GHYVI_JOB_CANCELLED);
}

/* Guests tolerate interrupts without a reason. */
void gen9_irq_deliver(struct gen9_engine *engine, u32 sources)
{
	u32 events = 0;
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	if (sources & GT_RENDER_USER_INTERRUPT)
		events |= GHYVI_EVENT_USER_INTERRUPT;
	if (sources & GT_RENDER_PIPECTL_NOTIFY_INTERRUPT)
		events |= GHYVI_EVENT_FLUSH_NOTIFY;
	for (i = 0; events && i < GEN9_PORTS && engine->jobs[i]; i++)
		if (gets_events(engine->jobs[i]))
			engine->jobs[i]->event(engine->jobs[i], events);
}

u32 gen9_irq_take(struct gen9_engine *engine)
{
	u32 offset = bank_register(wiring[engine->id].bank, IRQ_IIR);
	u32 mask = (u32)GUEST_SOURCES << wiring[engine->id].shift;
	u32 masked = engine->muted ? GUEST_SOURCES : 0;
	u32 identity = gen9_read(engine->gpu, offset);

	if (!(identity & mask) || identity == ~0u)
		return masked;
	identity &= mask;
	gen9_write(engine->gpu, offset, identity);
	return identity >> wiring[engine->id].shift | masked;
}

void gen9_irq_synchronize(struct gen9 *gpu)
{
	synchronize_irq(pci_irq_vector(gpu->pdev, 0));
}

/* The source stays active as long as an error is not masked, so all are until the reset. */
static void take_errors(struct gen9_engine *engine)
{
	u32 errors = gen9_engine_read(engine, RING_EIR);

	lockdep_assert_held(&engine->lock);
	if (!(errors & RING_ERRORS) || errors == ~0u)
		return;
	gen9_engine_write(engine, RING_EMR, ~0u);
	gen9_engine_write(engine, RING_EIR, errors & RING_ERRORS);
	engine->errors |= errors & RING_ERRORS;
	gen9_blame_soon(engine);
}

static void engine_irq(struct gen9_engine *engine, u32 sources)
{
	spin_lock(&engine->lock);
	if (sources & GT_CS_MASTER_ERROR_INTERRUPT)
		take_errors(engine);
	gen9_csb_process(engine);
	gen9_deliver_soon(engine, sources & (u32)GUEST_SOURCES);
	if (sources & GUEST_SOURCES) {
		limit_irqs(engine);
		pass_turns(engine);
	}
	gen9_engine_update(engine);
	spin_unlock(&engine->lock);
}

static u32 take_identity(struct gen9 *gpu, unsigned int number)
{
	u32 identity = gen9_read(gpu, bank_register(number, IRQ_IIR));

	if (identity)
		gen9_write(gpu, bank_register(number, IRQ_IIR), identity);
	return identity;
}

static irqreturn_t gen9_irq(int irq, void *data)
{
	u32 master, identity[GEN8_GT_IRQ_BANKS] = {};
	struct gen9 *gpu = data;
	unsigned int i;

	gen9_write(gpu, GEN8_MASTER_IRQ, 0);
	master = gen9_read(gpu, GEN8_MASTER_IRQ);
	if (master == ~0u) /* the function is powered off or lost */
		return IRQ_NONE;
	master &= ~(u32)GEN8_MASTER_IRQ_CONTROL;
	if (master & (GEN8_GT_RCS_IRQ | GEN8_GT_BCS_IRQ))
		identity[0] = take_identity(gpu, 0);
	if (master & GEN8_GT_VCS0_IRQ)
		identity[1] = take_identity(gpu, 1);
	if (master & GEN8_GT_VECS_IRQ)
		identity[3] = take_identity(gpu, 3);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		u32 sources = identity[wiring[i].bank] >> wiring[i].shift & ENGINE_SOURCES;

		if (sources)
			engine_irq(&gpu->engines[i], sources);
	}
	/* The write makes an edge if something is pending again. */
	gen9_write(gpu, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	return master ? IRQ_HANDLED : IRQ_NONE;
}

/* An identity register holds a second event behind the first. */
static void bank_clear(struct gen9 *gpu, u32 offset)
{
	unsigned int tries = IRQ_CLEAR_TRIES;

	gen9_write(gpu, offset + IRQ_IMR, ~0u);
	gen9_read(gpu, offset + IRQ_IMR);
	gen9_write(gpu, offset + IRQ_IER, 0);
	do
		gen9_write(gpu, offset + IRQ_IIR, ~0u);
	while (gen9_read(gpu, offset + IRQ_IIR) && --tries);
}

static void display_clear(struct gen9 *gpu)
{
	unsigned int pipe;

	if (!gen9_has_display(gpu))
		return;
	for (pipe = 0; pipe < PIPES; pipe++)
		if (gen9_pipe_has_power(gpu, pipe))
			bank_clear(gpu, GEN8_DE_PIPE_ISR_A + pipe * GEN8_IRQ_BANK_SIZE);
	bank_clear(gpu, GEN8_DE_PORT_ISR);
	bank_clear(gpu, GEN8_DE_MISC_ISR);
}

void gen9_irq_stop(struct gen9 *gpu)
{
	unsigned int i;

	gen9_write(gpu, GEN8_MASTER_IRQ, 0);
	gen9_read(gpu, GEN8_MASTER_IRQ);
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++)
		bank_clear(gpu, bank_register(i, IRQ_ISR));
	display_clear(gpu);
	bank_clear(gpu, GEN8_PCU_ISR);
	bank_clear(gpu, SDEISR);
}

void gen9_irq_start(struct gen9 *gpu)
{
	u32 used[GEN8_GT_IRQ_BANKS] = {};
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		used[wiring[i].bank] |= (u32)SOURCES_USED << wiring[i].shift;
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++) {
		gen9_write(gpu, bank_register(i, IRQ_IER), used[i]);
		gen9_write(gpu, bank_register(i, IRQ_IMR), ~used[i]);
		gen9_read(gpu, bank_register(i, IRQ_IMR));
	}
	gen9_write(gpu, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
}

int gen9_irq_init(struct gen9 *gpu)
{
	int err = pci_alloc_irq_vectors(gpu->pdev, 1, 1, PCI_IRQ_ALL_TYPES);

	if (err < 0)
		return err;
	err = request_irq(pci_irq_vector(gpu->pdev, 0), gen9_irq,
			  gpu->pdev->msi_enabled ? 0 : IRQF_SHARED, "ghyvi-gen9", gpu);
	if (err)
		pci_free_irq_vectors(gpu->pdev);
	return err;
}

void gen9_irq_fini(struct gen9 *gpu)
{
	free_irq(pci_irq_vector(gpu->pdev, 0), gpu);
	pci_free_irq_vectors(gpu->pdev);
}
