/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel services that only kernel/gen9 uses, on the emulated GPU in the same process. There is
 * one thread: interrupts come when the code waits, and works run, too, when a test calls
 * gen9_shim_pump(). The code may wait with a mutex that works need. Only clients and contexts may
 * be created by several threads.
 * Pages are in an arena whose addresses fit into table entries, so an address for the GPU equals
 * the pointer.
 */
#ifndef GEN9_SHIM_H
#define GEN9_SHIM_H

#include <ghyvi_shim.h>

struct module;

#define struct_size(p, member, count) (sizeof(*(p)) + sizeof(*(p)->member) * (count))
#define roundup_pow_of_two(n) ((n) < 2 ? 1u : 1u << (32 - __builtin_clz((unsigned int)(n)-1)))
#define ALIGN(x, a) round_up(x, a)
#define ffz(x) __builtin_ctzl(~(unsigned long)(x))
#define wmb() smp_mb()
#define rmb() smp_mb()

/* time */
#define jiffies ((unsigned long)(ktime_get_ns() / (NSEC_PER_SEC / HZ)))
#define nsecs_to_jiffies(ns) ((unsigned long)((ns) / (NSEC_PER_SEC / HZ)))
#define time_before(a, b) ((long)((a) - (b)) < 0)
void gen9_shim_interrupt(void);
void gen9_shim_pump(void);
#undef usleep_range
#define usleep_range(low, high) gen9_shim_interrupt()
#define atomic_add atomic64_add
#define schedule_timeout_uninterruptible(ticks)          \
	do {                                             \
		unsigned long __end = jiffies + (ticks); \
                                                         \
		while (time_before(jiffies, __end))      \
			gen9_shim_interrupt();           \
	} while (0)
#define udelay(us) ((void)(us))
/* Called again and again while something waits for the hardware, if set. */
extern void (*gen9_shim_waiting)(void);
/* Called where the code can be preempted, if set. */
extern void (*gen9_shim_preempted)(void);
#undef cond_resched
#define cond_resched() (gen9_shim_preempted ? gen9_shim_preempted() : (void)0)
#undef cpu_relax
#define cpu_relax() ((void)0)
#undef wait_event_timeout
#define wait_event_timeout(queue, condition, ticks)                           \
	({                                                                    \
		unsigned long __end = jiffies + (ticks) + 1;                  \
		bool __met;                                                   \
                                                                              \
		gen9_shim_waits += !gen9_shim_in_work;                        \
		while (!(__met = (condition)) && time_before(jiffies, __end)) \
			gen9_shim_interrupt();                                \
		__met;                                                        \
	})

/* works */
extern bool gen9_shim_in_work;
extern unsigned int gen9_shim_waits; /* outside of works */
struct gen9_shim_delayed {
	struct work_struct work;
	u64 at_ns; /* 0: not queued */
};
#define delayed_work gen9_shim_delayed
#define to_delayed_work(w) container_of(w, struct gen9_shim_delayed, work)
#undef INIT_DELAYED_WORK
#define INIT_DELAYED_WORK(w, f) (*(w) = (struct gen9_shim_delayed){ .work = { .fn = (f) } })
typedef void (*work_func_t)(struct work_struct *work);
#define INIT_WORK_ONSTACK INIT_WORK
#define destroy_work_on_stack(w) ((void)(w))
#define queue_work(queue, w) gen9_shim_queue(w)
#define flush_work(w) gen9_shim_flush(w)
#define mod_delayed_work(queue, w, ticks) gen9_shim_delay(w, ticks)
#define queue_delayed_work(queue, w, ticks) ((w)->at_ns ? false : gen9_shim_delay(w, ticks))
#define cancel_delayed_work_sync(w) gen9_shim_cancel_delayed(w)
#undef cancel_work_sync
#define cancel_work_sync(w) gen9_shim_cancel(w)
#define drain_workqueue(queue) gen9_shim_drain()
/* A delayed work was queued when the queue was drained: the kernel warns if it becomes due then. */
extern bool gen9_shim_delayed_in_drain;
void gen9_shim_drain(void);
#define alloc_workqueue(...) ((struct workqueue_struct *)calloc(1, sizeof(struct workqueue_struct)))
#define destroy_workqueue(queue) free(queue)
#define WQ_HIGHPRI 0
bool gen9_shim_queue(struct work_struct *work);
/* Called for each work that is queued, if set. */
extern void (*gen9_shim_queued)(struct work_struct *work);
void gen9_shim_flush(struct work_struct *work);
void gen9_shim_cancel(struct work_struct *work);
void gen9_shim_cancel_delayed(struct gen9_shim_delayed *work);
bool gen9_shim_delay(struct gen9_shim_delayed *work, unsigned long ticks);

/* registers and the GGTT */
u32 gen9_shim_readl(const volatile void *at);
void gen9_shim_writel(u32 value, volatile void *at);
void gen9_shim_writeq(u64 value, volatile void *at);
void gen9_shim_step(void);
/* Called after each write of a register, if set. */
extern void (*gen9_shim_written)(u32 offset, u32 value);
extern char *gen9_shim_report; /* what debugfs would have */
#define readl gen9_shim_readl
#define writel gen9_shim_writel
#define writeq gen9_shim_writeq
#define readl_poll_timeout_atomic(at, value, condition, delay, timeout) \
	({                                                              \
		unsigned int __tries = (timeout) / 2 + 1;               \
		bool __met;                                             \
                                                                        \
		do {                                                    \
			gen9_shim_step();                               \
			(value) = readl(at);                            \
			__met = (condition);                            \
		} while (!__met && --__tries);                          \
		__met ? 0 : -ETIMEDOUT;                                 \
	})

/* pages */
struct page {
	u8 bytes[4096];
};
#define VM_MAP 0
#define PAGE_KERNEL 0
struct page *gen9_shim_page_alloc(void);
void gen9_shim_page_free(struct page *page);
/* A page was freed after a posted flush of the GGTT. */
extern bool gen9_shim_freed_early;
/* Called for each page, if set. */
extern void (*gen9_shim_freed)(struct page *page);
void *gen9_shim_vmap(struct page **pages, unsigned int count);
void gen9_shim_vunmap(void *at);
#define alloc_page(flags) \
	(gen9_shim_charge(flags), shim_alloc_fails(flags) ? NULL : gen9_shim_page_alloc())
#define __free_page(page) gen9_shim_page_free(page)
#define page_address(page) ((void *)(page))
#define pfn_to_page(pfn) ((struct page *)((u64)(pfn) << 12))
#define vmap(pages, count, flags, protection) gen9_shim_vmap(pages, count)
#define vunmap(at) gen9_shim_vunmap(at)
#define vmalloc(n) vzalloc(n)
#define dma_map_page(dev, page, offset, bytes, direction) \
	((void)(dev), (dma_addr_t)(uintptr_t)(page))
#define dma_unmap_page(dev, dma, bytes, direction) ((void)(dma))
#define dma_mapping_error(dev, dma) 0
#define dma_set_mask_and_coherent(dev, mask) 0
extern size_t gen9_shim_dma_max; /* SIZE_MAX: no bounce buffers */
#define dma_max_mapping_size(dev) ((void)(dev), gen9_shim_dma_max)
#define dma_set_max_seg_size(dev, bytes) ((void)(dev))
#define DMA_BIT_MASK(n) ((1ULL << (n)) - 1)

/* memory cgroups: a guest's memory may be used up, and no worker may wait for it */
extern unsigned int gen9_shim_charged; /* pages of guests that works allocate */
void gen9_shim_charge(gfp_t flags);

/* bits */
#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]
#define set_bit(n, map) ((void)(((unsigned long *)(map))[(n) / 64] |= 1UL << (n) % 64))
#define clear_bit(n, map) ((void)(((unsigned long *)(map))[(n) / 64] &= ~(1UL << (n) % 64)))
#define test_bit(n, map) (((const unsigned long *)(map))[(n) / 64] >> (n) % 64 & 1)
unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size,
					 unsigned long start, unsigned int count,
					 unsigned long mask);
unsigned long find_next_bit(const unsigned long *map, unsigned long size, unsigned long start);
unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size, unsigned long start);
void bitmap_set(unsigned long *map, unsigned int start, unsigned int count);
void bitmap_clear(unsigned long *map, unsigned int start, unsigned int count);
#define for_each_set_bit(i, map, size)     \
	for ((i) = 0; (i) < (size); (i)++) \
		if (test_bit(i, map))

/* PCI */
#define PCI_VENDOR_ID_INTEL 0x8086
#define PCI_IRQ_ALL_TYPES 0
#define PCI_DEVICE(v, d) .vendor = (v), .device = (d)
struct pci_device_id {
	u32 vendor, device, override_only;
	unsigned long driver_data;
};
struct pci_dev {
	struct device dev;
	u16 vendor, device;
	u8 revision;
	bool msi_enabled;
	void *drvdata;
};
struct dev_pm_ops {
	int (*suspend)(struct device *dev);
	int (*resume)(struct device *dev);
};
struct pci_error_handlers {
	void (*reset_prepare)(struct pci_dev *pdev);
	void (*reset_done)(struct pci_dev *pdev);
};
struct pci_driver {
	const char *name;
	const struct pci_device_id *id_table;
	int (*probe)(struct pci_dev *pdev, const struct pci_device_id *id);
	void (*remove)(struct pci_dev *pdev);
	const struct pci_error_handlers *err_handler;
	struct {
		const struct dev_pm_ops *pm;
	} driver;
};
#define SIMPLE_DEV_PM_OPS(name, s, r) const struct dev_pm_ops name = { s, r }
#define __init
#define __exit
#define pci_register_driver(d) (gen9_shim_driver = (d), 0)
#define pci_unregister_driver(d) ((void)(d))
#define module_init(f)                  \
	int gen9_shim_module_init(void) \
	{                               \
		return f();             \
	}
#define module_exit(f)                   \
	void gen9_shim_module_exit(void) \
	{                                \
		f();                     \
	}
extern struct pci_driver *gen9_shim_driver; /* since gen9_shim_module_init() */
int gen9_shim_module_init(void);
struct kernel_param {
	const struct kernel_param_ops *ops;
	void *arg;
};
struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};
int param_set_uint_minmax(const char *value, const struct kernel_param *param, unsigned int low,
			  unsigned int high);
#define param_get_uint NULL
#define module_param_cb(name, operations, argument, mode)                                      \
	const struct kernel_param *const gen9_shim_param_##name = &(const struct kernel_param) \
	{                                                                                      \
		.ops = operations, .arg = argument                                             \
	}
extern const struct kernel_param *const gen9_shim_param_preempt_timeout_ms;
#define MODULE_PARM_DESC(name, text)
#define MODULE_DESCRIPTION(s)
#undef MODULE_LICENSE
#define MODULE_LICENSE(s) extern int gen9_shim_unused
#define THIS_MODULE NULL
#define GHYVI_IMPORT_NS() extern int gen9_shim_unused
#define pci_set_drvdata(p, d) ((p)->drvdata = (d))
#define pci_get_drvdata(p) ((p)->drvdata)
#define dev_get_drvdata(d) (container_of(d, struct pci_dev, dev)->drvdata)
extern int gen9_shim_regions_error; /* of a function that something else uses */
#define pci_request_regions(p, name) gen9_shim_regions_error
#define pci_release_regions(p) ((void)(p))
#define pci_enable_device(p) 0
#define pci_disable_device(p) ((void)(p))
void gen9_shim_set_master(bool on);
#define pci_set_master(p) gen9_shim_set_master(true)
#define pci_clear_master(p) gen9_shim_set_master(false)
#define pci_resource_start(p, bar) ((u64)(bar) << 32)
#define pci_resource_len(p, bar) (512ULL << 20)
u16 gen9_shim_config(unsigned int at);
#define pci_read_config_word(p, at, v) (*(v) = gen9_shim_config(at))
#define ioremap(start, bytes) gen9_shim_remap(start)
#define ioremap_wc(start, bytes) gen9_shim_remap(start)
#define iounmap(at) ((void)(at))
void *gen9_shim_remap(u64 start);
#define pci_alloc_irq_vectors(p, low, high, types) gen9_shim_alloc_irq(p)
#define pci_free_irq_vectors(p) ((void)(p))
#define pci_irq_vector(p, n) 1
#define synchronize_irq(irq) ((void)(irq))
int gen9_shim_alloc_irq(struct pci_dev *pdev);

typedef int irqreturn_t;
#define IRQ_NONE 0
#define IRQ_HANDLED 1
#define IRQF_SHARED 0
int request_irq(unsigned int irq, irqreturn_t (*handler)(int irq, void *data), unsigned long flags,
		const char *name, void *data);
void free_irq(unsigned int irq, void *data);

#define dev_err(d, ...) dev_warn(d, __VA_ARGS__)
#define dev_info(d, ...) dev_warn(d, __VA_ARGS__)

#endif
