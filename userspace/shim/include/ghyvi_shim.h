/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel services that kernel/{gtt,shadow,audit,sched,softgpu,vgpu} use, implemented on libc
 * and Judy arrays, so that the same sources build in user space. The kernel tree does the same in
 * tools/testing/radix-tree. Every shim header <linux/x.h> includes this file.
 */
#ifndef GHYVI_SHIM_H
#define GHYVI_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sched.h>
#include <Judy.h>
#include <linux/types.h>

#define MODULE_LICENSE(s)
#define IS_ENABLED(option) 0
#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)
#define S64_MAX ((s64)(U64_MAX >> 1))
#define __aligned(n) __attribute__((aligned(n)))
#define __printf(a, b) __attribute__((format(printf, a, b)))
#define __user
#define __iomem
#define __init
#define __exit
#define __maybe_unused __attribute__((unused))
#define __releases(l) /* for sparse */
#define fallthrough __attribute__((fallthrough))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#ifdef __SANITIZE_THREAD__ /* TSan accepts only atomics as intended races and models no fences. */
static int shim_fence __attribute__((unused));
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_mb() ((void)__atomic_fetch_add(&shim_fence, 0, __ATOMIC_SEQ_CST))
#define smp_wmb() smp_mb()
#define smp_rmb() smp_mb()
#else
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define barrier() __asm__ volatile("" ::: "memory")
#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define cmpxchg(p, o, n)                                                           \
	({                                                                         \
		typeof(*(p)) __old = (o);                                          \
		__atomic_compare_exchange_n(p, &__old, n, false, __ATOMIC_SEQ_CST, \
					    __ATOMIC_SEQ_CST);                     \
		__old;                                                             \
	})
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BUILD_BUG_ON(c) _Static_assert(!(c), #c)
#define static_assert _Static_assert
#define __packed __attribute__((packed))
#define WARN_ON(c)                                                                     \
	({                                                                             \
		bool __w = (c);                                                        \
		if (__w) {                                                             \
			fprintf(stderr, "WARN_ON %s %s:%d\n", #c, __FILE__, __LINE__); \
			abort();                                                       \
		}                                                                      \
		__w;                                                                   \
	})
#define WARN_ON_ONCE WARN_ON

#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK(h, l) ((~0UL << (l)) & (~0UL >> (63 - (h))))
#define GENMASK_ULL(h, l) ((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define FIELD_GET(mask, value) (((value) & (mask)) >> __builtin_ctzl(mask))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))
#define clamp_t(t, a, low, high) min_t(t, max_t(t, a, low), high)
#define swap(a, b)                   \
	do {                         \
		typeof(a) __t = (a); \
		(a) = (b);           \
		(b) = __t;           \
	} while (0)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d)) /* of unsigned numbers */
#define round_up(x, y) ((((x)-1) | ((typeof(x))(y)-1)) + 1)
#define rounddown_pow_of_two(n) (1UL << (63 - __builtin_clzl(n)))
#define is_power_of_2(n) ((n) != 0 && ((n) & ((n)-1)) == 0)
#define round_down(x, y) ((x) & ~((typeof(x))(y)-1))
#define IS_ALIGNED(x, a) (((x) & ((typeof(x))(a)-1)) == 0)
static inline void *memset64(u64 *to, u64 value, size_t count)
{
	while (count--)
		to[count] = value;
	return to;
}
#define container_of(p, t, m) ((t *)((char *)(p)-offsetof(t, m)))
#define lower_32_bits(n) ((u32)((n)&0xffffffff))
#define upper_32_bits(n) ((u32)(((u64)(n)) >> 32))
#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 div)
{
	return (u64)((unsigned __int128)a * mul / div);
}
static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}
static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

/* errors in pointers */
#define MAX_ERRNO 4095
static inline void *ERR_PTR(long e)
{
	return (void *)e;
}
static inline long PTR_ERR(const void *p)
{
	return (long)p;
}
static inline bool IS_ERR(const void *p)
{
	return (unsigned long)p >= (unsigned long)-MAX_ERRNO;
}
static inline bool IS_ERR_OR_NULL(const void *p)
{
	return !p || IS_ERR(p);
}
#define ERR_CAST(p) ((void *)(p))
#define PTR_ERR_OR_ZERO(p) (IS_ERR(p) ? PTR_ERR(p) : 0)

#include "shim_alloc.h"

/* lists, as in the kernel's list.h */
struct list_head {
	struct list_head *next, *prev;
};
#define LIST_HEAD_INIT(n)  \
	{                  \
		&(n), &(n) \
	}
#define LIST_HEAD(n) struct list_head n = LIST_HEAD_INIT(n)
static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l->prev = l;
}
static inline void shim_list_insert(struct list_head *n, struct list_head *p, struct list_head *x)
{
	x->prev = n;
	n->next = x;
	n->prev = p;
	p->next = n;
}
static inline void list_add(struct list_head *n, struct list_head *h)
{
	shim_list_insert(n, h, h->next);
}
static inline void list_add_tail(struct list_head *n, struct list_head *h)
{
	shim_list_insert(n, h->prev, h);
}
static inline void list_del(struct list_head *e)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
	e->next = e->prev = NULL;
}
static inline void list_del_init(struct list_head *e)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
	INIT_LIST_HEAD(e);
}
static inline void list_move(struct list_head *e, struct list_head *h)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
	list_add(e, h);
}
static inline void list_move_tail(struct list_head *e, struct list_head *h)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
	list_add_tail(e, h);
}
static inline int list_empty(const struct list_head *h)
{
	return h->next == h;
}
static inline void list_splice_init(struct list_head *l, struct list_head *h)
{
	if (list_empty(l))
		return;
	l->next->prev = h;
	l->prev->next = h->next;
	h->next->prev = l->prev;
	h->next = l->next;
	INIT_LIST_HEAD(l);
}
#define list_entry(p, t, m) container_of(p, t, m)
#define list_first_entry(h, t, m) list_entry((h)->next, t, m)
#define list_first_entry_or_null(h, t, m) (list_empty(h) ? NULL : list_first_entry(h, t, m))
#define list_for_each_entry(p, h, m)                                 \
	for (p = list_entry((h)->next, typeof(*p), m); &p->m != (h); \
	     p = list_entry(p->m.next, typeof(*p), m))
#define list_for_each_entry_reverse(p, h, m)                         \
	for (p = list_entry((h)->prev, typeof(*p), m); &p->m != (h); \
	     p = list_entry(p->m.prev, typeof(*p), m))
#define list_for_each_entry_safe(p, n, h, m)                                                     \
	for (p = list_entry((h)->next, typeof(*p), m), n = list_entry(p->m.next, typeof(*p), m); \
	     &p->m != (h); p = n, n = list_entry(n->m.next, typeof(*n), m))
#define list_for_each_entry_safe_reverse(p, n, h, m)                                             \
	for (p = list_entry((h)->prev, typeof(*p), m), n = list_entry(p->m.prev, typeof(*p), m); \
	     &p->m != (h); p = n, n = list_entry(n->m.prev, typeof(*n), m))

/* hash tables, as in the kernel's hashtable.h */
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct hlist_head {
	struct hlist_node *first;
};
static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	n->pprev = &h->first;
	if (n->next)
		n->next->pprev = &n->next;
	h->first = n;
}
static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}
static inline bool hlist_empty(const struct hlist_head *h)
{
	return !h->first;
}
static inline void hlist_del_init(struct hlist_node *n)
{
	if (hlist_unhashed(n))
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	*n = (struct hlist_node){};
}
#define hash_del hlist_del_init
#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define shim_hash_bucket(name, key) \
	(&(name)[(u64)(key)*0x61C8864680B583EBULL / (U64_MAX / ARRAY_SIZE(name) + 1)])
#define hash_add(name, node, key) hlist_add_head(node, shim_hash_bucket(name, key))
#define hlist_entry_safe(n, t, m)                     \
	({                                            \
		struct hlist_node *__n = (n);         \
		__n ? container_of(__n, t, m) : NULL; \
	})
#define hlist_for_each_entry(p, h, m)                            \
	for (p = hlist_entry_safe((h)->first, typeof(*p), m); p; \
	     p = hlist_entry_safe(p->m.next, typeof(*p), m))
#define hlist_for_each_entry_safe(p, n, h, m)                                          \
	for (p = hlist_entry_safe((h)->first, typeof(*p), m); p && (n = p->m.next, 1); \
	     p = hlist_entry_safe(n, typeof(*p), m))
#define hash_for_each_possible(name, p, m, key) \
	hlist_for_each_entry(p, shim_hash_bucket(name, key), m)

/*
 * rbtree: only the first node is ever looked up, so a pairing heap replaces the tree. Nodes that
 * compare equal keep their order of insertion.
 */
struct rb_node {
	struct rb_node *child, *next, *back; /* first child; sibling; previous sibling or parent */
	unsigned long came;
};
struct rb_root_cached {
	struct rb_node *first;
	bool (*less)(struct rb_node *, const struct rb_node *);
	unsigned long came;
};
#define rb_entry(p, t, m) container_of(p, t, m)
#define rb_first_cached(root) ((root)->first)
void rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
		   bool (*less)(struct rb_node *, const struct rb_node *));
void rb_erase_cached(struct rb_node *node, struct rb_root_cached *root);

/* xarray: index -> pointer, on JudyL */
struct xarray {
	Pvoid_t judy;
	pthread_mutex_t lock;
	const void *self; /* the address of this xarray once it is initialized */
	unsigned int flags;
};
#define XA_ERROR(e) ((void *)(((unsigned long)(e) << 2) | 2UL))
static inline bool xa_is_err(const void *e)
{
	return ((unsigned long)e & 3) == 2 &&
	       (unsigned long)e >= (unsigned long)XA_ERROR(-MAX_ERRNO);
}
static inline int xa_err(void *e)
{
	return xa_is_err(e) ? (int)((long)e >> 2) : 0;
}
#define XA_FLAGS_ACCOUNT 1
static inline void xa_init_flags(struct xarray *xa, unsigned int flags)
{
	xa->judy = NULL;
	pthread_mutex_init(&xa->lock, NULL);
	xa->self = xa;
	xa->flags = flags;
}
static inline void xa_init(struct xarray *xa)
{
	xa_init_flags(xa, 0);
}
static inline void shim_xa_lock(struct xarray *xa)
{
#ifndef SHIM_UNCHECKED
	if (xa->self != xa) {
		fprintf(stderr, "the xarray is not initialized\n");
		abort();
	}
#endif
	pthread_mutex_lock(&xa->lock);
}
static inline void *xa_load(struct xarray *xa, unsigned long index)
{
	PPvoid_t v;
	void *e;

	shim_xa_lock(xa);
	v = JudyLGet(xa->judy, index, NULL);
	e = v ? *v : NULL;
	pthread_mutex_unlock(&xa->lock);
	return e;
}
static inline void *xa_erase(struct xarray *xa, unsigned long index)
{
	PPvoid_t v;
	void *e;

	shim_xa_lock(xa);
	v = JudyLGet(xa->judy, index, NULL);
	e = v ? *v : NULL;
	JudyLDel(&xa->judy, index, NULL);
	pthread_mutex_unlock(&xa->lock);
	return e;
}
static inline void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t f)
{
	PPvoid_t v;
	void *e;

#ifndef SHIM_UNCHECKED
	/* The kernel allocates nodes without @f first. They are charged by the flag only. */
	if (!(f & __GFP_ACCOUNT) != !(xa->flags & XA_FLAGS_ACCOUNT)) {
		fprintf(stderr, "the memory of the xarray is not charged\n");
		abort();
	}
#endif
	if (!entry)
		return xa_erase(xa, index);
	/* Overwriting an entry allocates nothing and cannot fail. */
	if (!xa_load(xa, index) && shim_alloc_fails(f))
		return XA_ERROR(-ENOMEM);
	shim_xa_lock(xa);
	v = JudyLIns(&xa->judy, index, NULL);
	e = *v;
	*v = entry;
	pthread_mutex_unlock(&xa->lock);
	return e;
}
static inline void *xa_find(struct xarray *xa, unsigned long *index, unsigned long last, int f)
{
	Word_t i = *index;
	PPvoid_t v;
	void *e = NULL;

	(void)f;
	shim_xa_lock(xa);
	v = JudyLFirst(xa->judy, &i, NULL);
	if (v && i <= last) {
		*index = i;
		e = *v;
	}
	pthread_mutex_unlock(&xa->lock);
	return e;
}
static inline void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long last,
				  int f)
{
	unsigned long i = *index + 1;
	void *e;

	if (!i)
		return NULL;
	e = xa_find(xa, &i, last, f);
	if (e)
		*index = i;
	return e;
}
#define XA_PRESENT 0
#define xa_for_each(xa, i, e) \
	for (i = 0, e = xa_find(xa, &i, ~0UL, 0); e; e = xa_find_after(xa, &i, ~0UL, 0))
#define xa_for_each_range(xa, i, e, first, last) \
	for (i = (first), e = xa_find(xa, &i, last, 0); e; e = xa_find_after(xa, &i, last, 0))
static inline bool xa_empty(const struct xarray *xa)
{
	return !xa->judy;
}
static inline void xa_destroy(struct xarray *xa)
{
	JudyLFreeArray(&xa->judy, NULL);
}
static inline void *xa_mk_value(unsigned long v)
{
	return (void *)((v << 1) | 1);
}
static inline unsigned long xa_to_value(const void *e)
{
	return (unsigned long)e >> 1;
}

/* atomics and reference counts */
typedef struct {
	_Atomic long counter;
} atomic64_t;
typedef struct {
	_Atomic int counter;
} atomic_t;
typedef struct {
	_Atomic int refs;
} refcount_t;
#define ATOMIC_INIT(i) \
	{              \
		(i)    \
	}
#define atomic64_read(a) atomic_load_explicit(&(a)->counter, memory_order_relaxed)
#define atomic64_set(a, v) atomic_store(&(a)->counter, (v))
#define atomic64_inc(a) ((void)atomic_fetch_add(&(a)->counter, 1))
#define atomic64_dec(a) ((void)atomic_fetch_sub(&(a)->counter, 1))
#define atomic64_add(n, a) ((void)atomic_fetch_add(&(a)->counter, (n)))
#define atomic64_sub(n, a) ((void)atomic_fetch_sub(&(a)->counter, (n)))
#define atomic64_or(n, a) ((void)atomic_fetch_or(&(a)->counter, (n)))
#define atomic64_fetch_andnot(n, a) atomic_fetch_and(&(a)->counter, ~(n))
#define atomic_read atomic64_read
#define atomic_read_acquire(a) atomic_load_explicit(&(a)->counter, memory_order_acquire)
#define atomic_set atomic64_set
#define atomic_inc atomic64_inc
#define atomic_dec atomic64_dec
#define atomic_inc_return(a) (atomic_fetch_add(&(a)->counter, 1) + 1)
#define atomic_dec_return(a) (atomic_fetch_sub(&(a)->counter, 1) - 1)
#define atomic_dec_and_test(a) (atomic_dec_return(a) == 0)
#define refcount_set(r, v) atomic_store(&(r)->refs, (v))
#define refcount_inc(r) ((void)atomic_fetch_add(&(r)->refs, 1))
#define refcount_dec_and_test(r) (atomic_fetch_sub(&(r)->refs, 1) == 1)
struct kref {
	refcount_t refcount;
};
#define kref_init(k) refcount_set(&(k)->refcount, 1)
#define kref_get(k) refcount_inc(&(k)->refcount)
#define kref_put(k, release) (refcount_dec_and_test(&(k)->refcount) ? (release(k), 1) : 0)

/* time */
typedef s64 ktime_t;
extern u64 (*shim_clock)(void); /* replaces CLOCK_MONOTONIC unless NULL; for tests */
static inline u64 ktime_get_ns(void)
{
	struct timespec t;

	if (shim_clock)
		return shim_clock();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}
struct preempt_notifier {
	struct hlist_node link;
};
/*
 * Threads are preemptible, so cond_resched() only counts its calls, and calls shim_on_resched()
 * unless NULL; for tests.
 */
extern __thread unsigned long shim_rescheds;
extern __thread void (*shim_on_resched)(void);
#define cond_resched() ((void)shim_rescheds++, shim_on_resched ? shim_on_resched() : (void)0)
#define cpu_relax() sched_yield()
static inline void usleep_range(unsigned long lo, unsigned long hi)
{
	struct timespec t = { 0, (long)lo * 1000 };

	(void)hi;
	nanosleep(&t, NULL);
}

/* locks, waiting */
#include <shim_locks.h>

/* threads */
struct task_struct {
	pthread_t thread;
	int (*fn)(void *);
	void *data;
	_Atomic bool stop;
	wait_queue_head_t *_Atomic sleeps_on; /* NULL: none */
	_Atomic unsigned int hurried; /* so many calls of yield_to() */
};
extern __thread struct task_struct *shim_current;
#define current shim_current
/* Threads that a test has not made by kthread_run() have none. */
#define get_task_struct(task) (task)
#define put_task_struct(task) ((void)(task))
#define yield_to(task, preempt) ((void)(preempt), (task)->hurried++)
/* The process of the calling thread is being killed; waits go on, as it may be killed after one. */
extern __thread bool shim_killed;
#define fatal_signal_pending(task) ((void)(task), shim_killed)
struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *name, ...);
int kthread_stop(struct task_struct *t);
static inline bool kthread_should_stop(void)
{
	return shim_current && shim_current->stop;
}

/*
 * work: each queued work item gets a thread of its own if no worker is idle, so an item that sleeps
 * does not delay others. One item never runs on two threads at once.
 */
struct workqueue_struct {
	unsigned int pending; /* items that are queued or running */
	unsigned int running, max_active;
};
struct work_struct {
	void (*fn)(struct work_struct *work);
	struct workqueue_struct *queue;
	struct work_struct *next;
	bool queued;
};
struct delayed_work {
	struct work_struct work;
	_Atomic bool pending;
};
#define INIT_WORK(w, f) (*(w) = (struct work_struct){ .fn = (f) })
#define WQ_UNBOUND 0
#define WQ_MAX_ACTIVE 512
#define WQ_DFL_ACTIVE 256
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int max_active, ...);
void destroy_workqueue(struct workqueue_struct *queue);
bool queue_work(struct workqueue_struct *queue, struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
/* A test, not time, ends the delay of a work: shim_expire() runs it, if it is pending. */
#define INIT_DELAYED_WORK(w, f) (*(w) = (struct delayed_work){ .work.fn = (f) })
#define system_wq NULL
static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}
static inline bool mod_delayed_work(struct workqueue_struct *queue __maybe_unused,
				    struct delayed_work *work, unsigned long delay __maybe_unused)
{
	return atomic_exchange(&work->pending, true);
}
static inline bool cancel_delayed_work_sync(struct delayed_work *work)
{
	return atomic_exchange(&work->pending, false);
}
static inline bool shim_expire(struct delayed_work *work)
{
	bool pending = atomic_exchange(&work->pending, false);

	if (pending)
		work->work.fn(&work->work);
	return pending;
}

/* sorting */
#define sort(base, n, size, compare, swap) qsort((base), (n), (size), (compare))

/* devices, log */
struct device {
	const char *name;
};
static inline const char *dev_name(const struct device *dev)
{
	return dev->name ?: "";
}
struct ratelimit_state {
	int unused;
};
#define ratelimit_state_init(r, i, b) ((void)(r))
#define DEFAULT_RATELIMIT_INTERVAL 0
#define DEFAULT_RATELIMIT_BURST 0
#define __ratelimit(r) ((void)(r), 1)
extern bool shim_quiet; /* no messages; for tests that provoke rejections */
#define dev_warn(d, ...)                                                             \
	do {                                                                         \
		if (!shim_quiet) {                                                   \
			fprintf(stderr, "%s: ", (d) && (d)->name ? (d)->name : "?"); \
			fprintf(stderr, __VA_ARGS__);                                \
		}                                                                    \
	} while (0)
#define pr_warn(...) (shim_quiet ? 0 : fprintf(stderr, __VA_ARGS__))
#define scnprintf(b, n, ...) shim_scnprintf(b, n, __VA_ARGS__)
__printf(3, 4) static inline int shim_scnprintf(char *b, size_t n, const char *f, ...)
{
	va_list a;
	int r;

	va_start(a, f);
	r = vsnprintf(b, n, f, a);
	va_end(a);
	return n ? min(r, (int)n - 1) : 0;
}
static inline ssize_t shim_strscpy(char *d, const char *s, size_t n)
{
	size_t l = strnlen(s, n);

	if (l == n) {
		memcpy(d, s, n - 1);
		d[n - 1] = 0;
		return -E2BIG;
	}
	memcpy(d, s, l + 1);
	return (ssize_t)l;
}
#define strscpy shim_strscpy
/*
 * Not instrumented: tables of MiBs are scanned, and what others write meanwhile may be seen or not.
 */
#ifdef __clang__
__attribute__((no_sanitize("address", "thread", "undefined", "coverage"))) static inline void *
#else
__attribute__((no_sanitize("address", "thread", "undefined"))) static inline void *
#endif
memchr_inv(const void *start, int c, size_t bytes)
{
	const u64 value = (u8)c * 0x0101010101010101ULL, *word = start, *end = word + bytes / 8;
	const u8 *byte, *last = (const u8 *)start + bytes;
	u64 differ = 0;
	unsigned int i;

	for (; word + 64 <= end; word += 64) {
		for (i = 0; i < 64; i++)
			differ |= word[i] ^ value;
		if (differ)
			break;
	}
	for (byte = (const u8 *)word; byte < last && *byte == (u8)c; byte++)
		;
	return byte < last ? (void *)byte : NULL;
}
struct seq_file {
	FILE *f;
};
#define seq_printf(m, ...) fprintf((m)->f, __VA_ARGS__)
#define seq_puts(m, s) fputs(s, (m)->f)
#define seq_has_overflowed(m) false

#endif
