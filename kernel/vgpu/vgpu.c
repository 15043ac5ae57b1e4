// SPDX-License-Identifier: GPL-2.0-only
/* Creation and destruction of a vGPU, the aperture, and the debugfs dump. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "vgpu_types.h"

/* Fill in the parts of the partition that are not empty. Returns their number. */
static unsigned int partition_ranges(const struct ghyvi_range *mappable,
				     const struct ghyvi_range *hidden, struct ghyvi_range ranges[2])
{
	unsigned int n = 0;

	if (mappable->bytes)
		ranges[n++] = *mappable;
	if (hidden->bytes)
		ranges[n++] = *hidden;
	return n;
}

static int create_client(struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_vgpu_params *p = &vgpu->params;
	struct ghyvi_client_params params = {
		.registers = vgpu->registers,
		.registers_bytes = GHYVI_REGISTERS_BYTES,
		.shown = vgpu->shown,
		.gen = p->profile->gen,
		.reporter = p->reporter,
		.stats = p->stats,
		.ggtt_table = vgpu->ggtt_table,
		.owner = &vgpu->client_owner,
		.clock_offset_ns = &vgpu->clock_offset_ns,
	};

	params.nr_ggtt = partition_ranges(&p->mappable, &p->hidden, params.ggtt);
	vgpu->client = p->pgpu->ops->client_create(p->pgpu, &params);
	return IS_ERR(vgpu->client) ? (int)PTR_ERR(vgpu->client) : 0;
}

static int create_gtt(struct ghyvi_vgpu *vgpu, bool nested)
{
	const struct ghyvi_vgpu_params *p = &vgpu->params;
	struct ghyvi_gtt_params params = {
		.hv = p->hv,
		.pgpu_ops = p->pgpu->ops,
		.client = vgpu->client,
		.ggtt = vgpu->ggtt_table,
		.nested = nested,
		.pages_64k = p->profile->gen >= 9,
		.aperture_user = vgpu->params.aperture_user,
		.aperture_copied = vgpu->params.aperture_copied,
		.ggtt_user = vgpu->params.ggtt_user,
		.untracked = vgpu->params.untracked,
		.untracked_ggtt = vgpu->params.untracked_ggtt,
		.reporter = p->reporter,
		.stats = p->stats,
	};

	params.nr_ggtt_ranges = partition_ranges(&p->mappable, &p->hidden, params.ggtt_ranges);
	vgpu->gtt = ghyvi_gtt_create(&params);
	return IS_ERR(vgpu->gtt) ? (int)PTR_ERR(vgpu->gtt) : 0;
}

static int read_commands(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
			 void *buffer, size_t bytes)
{
	struct ghyvi_vgpu *vgpu = container_of(owner, struct ghyvi_vgpu, audit_owner);

	return root ? ghyvi_gtt_ppgtt_read(root, address, buffer, bytes) :
		      ghyvi_gtt_ggtt_read(vgpu->gtt, address, buffer, bytes);
}

static void update_ggtt(struct ghyvi_audit_owner *owner, u64 index, u64 entry)
{
	struct ghyvi_vgpu *vgpu = container_of(owner, struct ghyvi_vgpu, audit_owner);

	ghyvi_gtt_ggtt_store(vgpu->gtt, index, entry);
}

static int create_audit(struct ghyvi_vgpu *vgpu, const struct ghyvi_pgpu_resources *resources)
{
	const struct ghyvi_vgpu_params *p = &vgpu->params;
	struct ghyvi_audit_params params = {
		.gen = p->profile->gen,
		.enforced = resources->audit_enforced,
		.user_engines = resources->audit_user_engines,
		.owner = &vgpu->audit_owner,
		.reporter = p->reporter,
		.stats = p->stats,
	};

	vgpu->audit_owner.read = read_commands;
	vgpu->audit_owner.update_ggtt = update_ggtt;
	params.nr_ggtt = partition_ranges(&p->mappable, &p->hidden, params.ggtt);
	vgpu->audit = ghyvi_audit_create(&params);
	return IS_ERR(vgpu->audit) ? (int)PTR_ERR(vgpu->audit) : 0;
}

static void init_engines(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct vgpu_engine *engine = &vgpu->engines[i];

		engine->vgpu = vgpu;
		engine->id = i;
		engine->base = ghyvi_engine_base(i);
		ghyvi_register_slots(i, engine->slots);
	}
}

/* Everything that allocates nothing. */
static void init_members(struct ghyvi_vgpu *vgpu, const struct ghyvi_vgpu_params *params)
{
	vgpu->params = *params;
	vgpu->bar0 = GHYVI_BAR_UNMAPPED;
	mutex_init(&vgpu->lock);
	spin_lock_init(&vgpu->irq_lock);
	INIT_LIST_HEAD(&vgpu->context_handles);
	vgpu_display_init(vgpu);
	init_engines(vgpu);
	vgpu_containment_init(vgpu);
}

struct ghyvi_vgpu *ghyvi_vgpu_create(const struct ghyvi_vgpu_params *params)
{
	struct ghyvi_pgpu_resources resources;
	struct ghyvi_vgpu *vgpu = kvzalloc(sizeof(*vgpu), GFP_KERNEL);
	int err = -ENOMEM;

	if (!vgpu)
		return ERR_PTR(-ENOMEM);
	init_members(vgpu, params);
	params->pgpu->ops->resources(params->pgpu, &resources);
	vgpu->timestamp_hz = resources.timestamp_hz;

	vgpu->registers = vmalloc_user(GHYVI_REGISTERS_BYTES);
	if (!vgpu->registers)
		goto err_vgpu;
	err = vgpu_mirror_create(vgpu);
	if (err)
		goto err_registers;
	vgpu->ggtt_table = vmalloc_user(GHYVI_GGTT_TABLE_BYTES);
	err = -ENOMEM;
	if (!vgpu->ggtt_table)
		goto err_mirror;
	err = vgpu_faults_init(vgpu);
	if (err)
		goto err_table;
	err = create_client(vgpu);
	if (err)
		goto err_faults;
	err = create_gtt(vgpu, resources.nested);
	if (err)
		goto err_client;
	err = create_audit(vgpu, &resources);
	if (err)
		goto err_gtt;
	err = -ENOMEM;
	vgpu->sched_entity =
		ghyvi_sched_entity_create(params->sched, params->stats, params->reporter);
	if (!vgpu->sched_entity)
		goto err_audit;
	vgpu_registers_init(vgpu);
	mutex_lock(&vgpu->lock);
	vgpu_power_on(vgpu);
	mutex_unlock(&vgpu->lock);
	return vgpu;

err_audit:
	ghyvi_audit_destroy(vgpu->audit);
err_gtt:
	ghyvi_gtt_destroy(vgpu->gtt);
err_client:
	params->pgpu->ops->client_destroy(vgpu->client);
err_faults:
	vgpu_faults_fini(vgpu);
err_table:
	vfree(vgpu->ggtt_table);
err_mirror:
	vgpu_mirror_destroy(vgpu);
err_registers:
	vfree(vgpu->registers);
err_vgpu:
	mutex_destroy(&vgpu->lock);
	kvfree(vgpu);
	return ERR_PTR(err);
}

void ghyvi_vgpu_destroy(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	mutex_lock(&vgpu->lock); /* a job that fails meanwhile calls vgpu_event() */
	vgpu->params.event = NULL;
	mutex_unlock(&vgpu->lock);
	ghyvi_vgpu_reset(vgpu);
	vgpu_display_fini(vgpu);
	vgpu_faults_fini(vgpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		if (vgpu->engines[i].spare)
			vgpu_workload_free(vgpu->engines[i].spare);
	WARN_ON(vgpu->nr_context_handles);
	kfree(vgpu->loaded_settings);
	kfree(vgpu->error_state);
	ghyvi_sched_entity_destroy(vgpu->sched_entity);
	ghyvi_audit_destroy(vgpu->audit);
	ghyvi_gtt_destroy(vgpu->gtt);
	vgpu->params.pgpu->ops->client_destroy(vgpu->client);
	vfree(vgpu->ggtt_table);
	vgpu_mirror_destroy(vgpu);
	vfree(vgpu->registers);
	mutex_destroy(&vgpu->lock);
	kvfree(vgpu);
}

int ghyvi_vgpu_move_ggtt(struct ghyvi_vgpu *vgpu, const struct ghyvi_range *mappable,
			 const struct ghyvi_range *hidden,
			 const struct ghyvi_range *aperture_copied)
{
	struct ghyvi_range ranges[2];
	unsigned int nr_ranges;
	int err;

	mutex_lock(&vgpu->lock);
	nr_ranges = partition_ranges(mappable, hidden, ranges);
	ghyvi_gtt_reset(vgpu->gtt);
	err = ghyvi_gtt_move_ggtt(vgpu->gtt, ranges, nr_ranges, aperture_copied);
	if (!err) {
		ghyvi_audit_set_ggtt(vgpu->audit, ranges, nr_ranges);
		vgpu->params.mappable = *mappable;
		vgpu->params.hidden = *hidden;
		vgpu->params.aperture_copied = *aperture_copied;
		vgpu_pvinfo_reset(vgpu);
	}
	mutex_unlock(&vgpu->lock);
	return err;
}

/*
 * Length of the longest access at @offset within one page and the aperture; 0 outside the aperture.
 */
static size_t aperture_piece(const struct ghyvi_vgpu *vgpu, u64 offset, size_t bytes)
{
	u64 in_page = GHYVI_PAGE_BYTES - (offset & (GHYVI_PAGE_BYTES - 1));

	if (offset >= vgpu->params.aperture_bytes)
		return 0;
	return min_t(u64, min_t(u64, bytes, in_page), vgpu->params.aperture_bytes - offset);
}

void ghyvi_vgpu_aperture_read(struct ghyvi_vgpu *vgpu, u64 offset, void *buffer, size_t bytes)
{
	char *to = buffer;
	size_t piece;

	ghyvi_count(vgpu->params.stats, aperture_accesses);
	if (vgpu_access_is_refused(vgpu)) {
		memset(buffer, 0xff, bytes);
		return;
	}
	memset(buffer, 0, bytes);
	for (; (piece = aperture_piece(vgpu, offset, bytes));
	     offset += piece, to += piece, bytes -= piece)
		if (ghyvi_gtt_ggtt_read(vgpu->gtt, offset, to, piece))
			memset(to, 0, piece);
	vgpu_unpin_if_failsafe(vgpu); /* a completion may have caused it */
}

void ghyvi_vgpu_aperture_write(struct ghyvi_vgpu *vgpu, u64 offset, const void *buffer,
			       size_t bytes)
{
	const char *from = buffer;
	size_t piece;

	ghyvi_count(vgpu->params.stats, aperture_accesses);
	if (vgpu_access_is_refused(vgpu))
		return;
	for (; (piece = aperture_piece(vgpu, offset, bytes));
	     offset += piece, from += piece, bytes -= piece)
		(void)ghyvi_gtt_ggtt_write(vgpu->gtt, offset, from, piece); /* unmapped: dropped */
	vgpu_unpin_if_failsafe(vgpu); /* a completion may have caused it */
}

void *ghyvi_vgpu_ggtt_table(struct ghyvi_vgpu *vgpu)
{
	return vgpu->ggtt_table;
}

struct ghyvi_gtt *ghyvi_vgpu_gtt(struct ghyvi_vgpu *vgpu)
{
	return vgpu->gtt;
}

int ghyvi_vgpu_set_policy(struct ghyvi_vgpu *vgpu, const char *name)
{
	struct ghyvi_hv_charge charge;
	int err;

	vgpu_charge(vgpu, &charge);
	err = ghyvi_gtt_set_policy(vgpu->gtt, name);
	vgpu_uncharge(vgpu, &charge);
	return err;
}

struct ghyvi_audit *ghyvi_vgpu_audit(struct ghyvi_vgpu *vgpu)
{
	return vgpu->audit;
}

struct ghyvi_sched_entity *ghyvi_vgpu_sched_entity(struct ghyvi_vgpu *vgpu)
{
	return vgpu->sched_entity;
}

void ghyvi_vgpu_set_multicall(struct ghyvi_vgpu *vgpu, bool on)
{
	mutex_lock(&vgpu->lock);
	WRITE_ONCE(vgpu->multicall, on);
	vgpu_pvinfo_reset(vgpu);
	mutex_unlock(&vgpu->lock);
}

bool ghyvi_vgpu_get_multicall(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->multicall);
}

static void dump_engine(const struct vgpu_engine *engine, struct seq_file *m)
{
	const struct vgpu_workload *workload = engine->workload;
	unsigned int i;

	seq_printf(m, "%s: %s csb=%u hwsp=0x%x imr=0x%x eir=0x%x\n", ghyvi_engine_name(engine->id),
		   engine->halted    ? "halted" :
		   engine->nr_active ? "busy" :
				       "idle",
		   engine->csb, engine_get(engine, RING_HWS_PGA), engine_get(engine, RING_IMR),
		   engine_get(engine, RING_EIR));
	for (i = 0; i < engine->nr_active; i++)
		seq_printf(m, "  active %u: 0x%016llx\n", i, (unsigned long long)engine->active[i]);
	for (i = 0; engine->has_pending && i < ARRAY_SIZE(engine->pending); i++)
		seq_printf(m, "  pending %u: 0x%016llx\n", i,
			   (unsigned long long)engine->pending[i]);
	if (workload)
		seq_printf(m, "  ring: start=0x%x ctl=0x%x head=0x%x tail=0x%x%s\n",
			   workload->context[GHYVI_CTX_RING_START],
			   workload->context[GHYVI_CTX_RING_CTL], workload->head, workload->tail,
			   workload->runs_again ? " (runs again)" : "");
}

void ghyvi_vgpu_dump(struct ghyvi_vgpu *vgpu, struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "%s: 8086:%04x revision %u, %u workloads outstanding\n",
		   vgpu->params.profile->name, vgpu->params.profile->device_id,
		   vgpu->params.profile->revision, atomic_read(&vgpu->outstanding));
	mutex_lock(&vgpu->lock);
	for (i = 0; i < GHYVI_ENGINES; i++)
		dump_engine(&vgpu->engines[i], m);
	mutex_unlock(&vgpu->lock);
	seq_printf(m, "interrupts: master=0x%08x line=%d\n", vgpu_get(vgpu, GEN8_MASTER_IRQ),
		   READ_ONCE(vgpu->line));
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++) {
		u32 base = GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE;

		seq_printf(m, "  bank %u: imr=0x%08x iir=0x%08x ier=0x%08x\n", i,
			   vgpu_get(vgpu, base + IRQ_IMR), vgpu_get(vgpu, base + IRQ_IIR),
			   vgpu_get(vgpu, base + IRQ_IER));
	}
	mutex_lock(&vgpu->lock);
	vgpu_pages_dump(vgpu, m);
	mutex_unlock(&vgpu->lock);
}
