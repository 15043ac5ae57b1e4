// SPDX-License-Identifier: GPL-2.0-only
/* The functions of the user-space stand-ins that are not inline. */
#include <ghyvi_shim.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <ghyvi/cpu_time.h>

__thread struct task_struct *shim_current;
__thread bool shim_killed;
__thread unsigned long shim_rescheds;
__thread void (*shim_on_resched)(void);
__thread void (*shim_interrupt)(void);
bool shim_quiet;
u64 (*shim_clock)(void);
struct shim_vars shim_vars = { .m = PTHREAD_MUTEX_INITIALIZER, .c = PTHREAD_COND_INITIALIZER };

static u64 thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

void ghyvi_cpu_time_begin(struct ghyvi_cpu_time *time)
{
	time->began_ns = thread_cpu_ns();
}

u64 ghyvi_cpu_time_end(struct ghyvi_cpu_time *time)
{
	return thread_cpu_ns() - time->began_ns;
}

/* Allocations @first to @last since shim_fail_allocs() fail; none while @last is 0. */
static struct {
	_Atomic unsigned long first, last, made, failed;
} allocs;

void shim_fail_allocs(unsigned long first, unsigned long count)
{
	allocs.last = 0;
	allocs.made = 0;
	allocs.failed = 0;
	allocs.first = first;
	allocs.last = count ? first + min(count - 1, ~0UL - first) : 0;
}

unsigned long shim_made_allocs(void)
{
	return allocs.made;
}

unsigned long shim_failed_allocs(void)
{
	return allocs.failed;
}

bool shim_alloc_fails(gfp_t flags)
{
	unsigned long number;

	if (!atomic_load_explicit(&allocs.last, memory_order_relaxed) || flags & __GFP_NOFAIL)
		return false;
	number = atomic_fetch_add(&allocs.made, 1) + 1;
	if (number < allocs.first || number > allocs.last)
		return false;
	allocs.failed++;
	return true;
}

#ifndef SHIM_UNCHECKED
static __thread unsigned int shim_spinlocks; /* held by this thread */

static void shim_lock_defect(const char *what, const char *where)
{
	fprintf(stderr, "%s: %s\n", where, what);
	abort();
}

void shim_may_sleep(const char *where)
{
	if (shim_spinlocks)
		shim_lock_defect("may sleep, but the thread holds a spinlock", where);
}

void shim_lock_init(struct shim_lock *l, int kind)
{
	pthread_mutex_init(&l->m, NULL);
	atomic_store_explicit(&l->owner, 0, memory_order_relaxed);
	l->self = l;
	l->kind = kind;
}

static bool shim_lock_mine(struct shim_lock *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) == pthread_self();
}

static void shim_lock_check(struct shim_lock *l, const char *where)
{
	if ((l->kind != SHIM_MUTEX && l->kind != SHIM_SPINLOCK) || (l->self && l->self != l))
		shim_lock_defect("the lock is not initialized", where);
	if (l->kind == SHIM_MUTEX)
		shim_may_sleep(where);
	if (shim_lock_mine(l))
		shim_lock_defect("its owner takes a lock a second time", where);
}

static void shim_lock_taken(struct shim_lock *l)
{
	atomic_store_explicit(&l->owner, pthread_self(), memory_order_relaxed);
	if (l->kind == SHIM_SPINLOCK)
		shim_spinlocks++;
}

void shim_lock_take(struct shim_lock *l, const char *where)
{
	shim_lock_check(l, where);
	pthread_mutex_lock(&l->m);
	shim_lock_taken(l);
}

bool shim_lock_try(struct shim_lock *l, const char *where)
{
	shim_lock_check(l, where);
	if (pthread_mutex_trylock(&l->m))
		return false;
	shim_lock_taken(l);
	return true;
}

void shim_lock_release(struct shim_lock *l, const char *where)
{
	if (!shim_lock_mine(l))
		shim_lock_defect("unlocks a lock that the thread does not hold", where);
	if (l->kind == SHIM_SPINLOCK)
		shim_spinlocks--;
	atomic_store_explicit(&l->owner, 0, memory_order_relaxed);
	pthread_mutex_unlock(&l->m);
}

void shim_rwlock_take(rwlock_t *l, int (*take)(pthread_rwlock_t *m), const char *where)
{
	if (take(&l->m))
		shim_lock_defect("its owner takes a lock a second time", where);
	shim_spinlocks++;
}

void shim_rwlock_release(rwlock_t *l, const char *where)
{
	if (!shim_spinlocks)
		shim_lock_defect("unlocks a lock that the thread does not hold", where);
	shim_spinlocks--;
	pthread_rwlock_unlock(&l->m);
}

void shim_lock_destroy(struct shim_lock *l, const char *where)
{
	if (l->kind != SHIM_MUTEX || atomic_load_explicit(&l->owner, memory_order_relaxed))
		shim_lock_defect("destroys a mutex that is held or not initialized", where);
	l->kind = 0;
	pthread_mutex_destroy(&l->m);
}

void shim_assert_held(struct shim_lock *l, const char *where)
{
	if (!shim_lock_mine(l))
		shim_lock_defect("the lock is not held", where);
}
#endif

static void *shim_thread(void *data)
{
	struct task_struct *t = data;

	shim_current = t;
	t->fn(t->data);
	return NULL;
}

struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *name, ...)
{
	struct task_struct *t = kzalloc(sizeof(*t), GFP_KERNEL);

	(void)name;
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->fn = fn;
	t->data = data;
	pthread_create(&t->thread, NULL, shim_thread, t);
	return t;
}

/*
 * The kernel's kthread_stop() wakes the thread. This one wakes the queue that the thread sleeps on,
 * repeatedly, until the thread has ended.
 */
int kthread_stop(struct task_struct *t)
{
	wait_queue_head_t *queue;

	t->stop = true;
	while (pthread_tryjoin_np(t->thread, NULL)) {
		queue = t->sleeps_on;
		if (queue)
			wake_up_all(queue);
		usleep_range(50, 50);
	}
	free(t);
	return 0;
}

/* Lives on the stack of the worker thread. */
struct worker {
	struct worker *next;
	struct work_struct *work; /* compared, never dereferenced: fn() may free it */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t came, changed;
	struct work_struct *first;
	struct worker *workers;
	unsigned int queued, idle;
} works = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .came = PTHREAD_COND_INITIALIZER,
	    .changed = PTHREAD_COND_INITIALIZER };

static bool under_way(const struct work_struct *work)
{
	const struct worker *worker;

	for (worker = works.workers; worker && worker->work != work; worker = worker->next)
		;
	return worker;
}

static void unqueue_work(struct work_struct **at)
{
	struct work_struct *work = *at;

	*at = work->next;
	work->queued = false;
	works.queued--;
}

static struct work_struct *take_work(void)
{
	struct work_struct **at = &works.first, *work;

	while (*at && (under_way(*at) || (*at)->queue->running == (*at)->queue->max_active))
		at = &(*at)->next;
	work = *at;
	if (work) {
		unqueue_work(at);
		work->queue->running++;
	}
	return work;
}

static void *work_thread(void *unused)
{
	struct worker worker = { .work = NULL };
	struct workqueue_struct *queue;
	struct work_struct *work;

	pthread_mutex_lock(&works.lock);
	worker.next = works.workers;
	works.workers = &worker;
	for (;;) {
		works.idle++;
		while (!(work = take_work()))
			pthread_cond_wait(&works.came, &works.lock);
		works.idle--;
		worker.work = work;
		queue = work->queue;
		pthread_mutex_unlock(&works.lock);
		work->fn(work);
		pthread_mutex_lock(&works.lock);
		worker.work = NULL;
		queue->running--;
		queue->pending--;
		pthread_cond_broadcast(&works.changed);
	}
	return NULL;
}

bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	struct work_struct **at = &works.first;
	pthread_t thread;
	bool was_queued;

	pthread_mutex_lock(&works.lock);
	was_queued = work->queued;
	if (!was_queued) {
		while (*at)
			at = &(*at)->next;
		*at = work;
		work->next = NULL;
		work->queue = queue;
		work->queued = true;
		queue->pending++;
		works.queued++;
		if (works.queued > works.idle) {
			pthread_create(&thread, NULL, work_thread, NULL);
			pthread_detach(thread);
		} else {
			pthread_cond_signal(&works.came);
		}
	}
	pthread_mutex_unlock(&works.lock);
	return !was_queued;
}

bool cancel_work_sync(struct work_struct *work)
{
	struct work_struct **at = &works.first;
	bool was_queued;

	pthread_mutex_lock(&works.lock);
	was_queued = work->queued;
	if (was_queued) {
		while (*at != work)
			at = &(*at)->next;
		unqueue_work(at);
		work->queue->pending--;
	}
	while (under_way(work))
		pthread_cond_wait(&works.changed, &works.lock);
	pthread_mutex_unlock(&works.lock);
	return was_queued;
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int max_active, ...)
{
	struct workqueue_struct *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	(void)name;
	(void)flags;
	if (queue)
		queue->max_active = max_active ?: WQ_DFL_ACTIVE;
	return queue;
}

void destroy_workqueue(struct workqueue_struct *queue)
{
	pthread_mutex_lock(&works.lock);
	while (queue->pending)
		pthread_cond_wait(&works.changed, &works.lock);
	pthread_mutex_unlock(&works.lock);
	free(queue);
}

static struct rb_node *rb_meld(struct rb_root_cached *root, struct rb_node *a, struct rb_node *b)
{
	if (!a || !b)
		return a ?: b;
	if (root->less(b, a) || (!root->less(a, b) && b->came < a->came)) {
		struct rb_node *t = a;

		a = b;
		b = t;
	}
	b->back = a;
	b->next = a->child;
	if (a->child)
		a->child->back = b;
	a->child = b;
	return a;
}

/*
 * The two passes of a pairing heap: meld pairs from left to right, then the pairs from right to
 * left.
 */
static struct rb_node *rb_meld_all(struct rb_root_cached *root, struct rb_node *list)
{
	struct rb_node *pairs = NULL, *first = NULL;

	while (list) {
		struct rb_node *a = list, *b = list->next, *pair;

		list = b ? b->next : NULL;
		a->next = a->back = NULL;
		if (b)
			b->next = b->back = NULL;
		pair = rb_meld(root, a, b);
		pair->next = pairs;
		pairs = pair;
	}
	while (pairs) {
		struct rb_node *pair = pairs;

		pairs = pair->next;
		pair->next = NULL;
		first = rb_meld(root, first, pair);
	}
	return first;
}

void rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
		   bool (*less)(struct rb_node *, const struct rb_node *))
{
	root->less = less;
	*node = (struct rb_node){ .came = ++root->came };
	root->first = rb_meld(root, root->first, node);
}

void rb_erase_cached(struct rb_node *node, struct rb_root_cached *root)
{
	struct rb_node *rest = rb_meld_all(root, node->child);

	if (node == root->first) {
		root->first = rest;
		return;
	}
	if (node->back->child == node)
		node->back->child = node->next;
	else
		node->back->next = node->next;
	if (node->next)
		node->next->back = node->back;
	root->first = rb_meld(root, root->first, rest);
}

/* timers */
static pthread_mutex_t timers_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the next */
static LIST_HEAD(timers);

static bool stop_timer(struct hrtimer *timer)
{
	bool ran = timer->node.next;

	if (ran)
		list_del(&timer->node);
	timer->node.next = NULL;
	return ran;
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, enum hrtimer_mode mode)
{
	(void)mode;
	pthread_mutex_lock(&timers_lock);
	stop_timer(timer);
	timer->expires_ns = (u64)expires;
	list_add_tail(&timer->node, &timers);
	pthread_mutex_unlock(&timers_lock);
}

int hrtimer_cancel(struct hrtimer *timer)
{
	bool ran;

	pthread_mutex_lock(&timers_lock);
	ran = stop_timer(timer);
	pthread_mutex_unlock(&timers_lock);
	return ran;
}

static struct hrtimer *take_expired(u64 now)
{
	struct hrtimer *timer, *found = NULL;

	pthread_mutex_lock(&timers_lock);
	list_for_each_entry(timer, &timers, node)
		if (timer->expires_ns <= now && (!found || timer->expires_ns < found->expires_ns))
			found = timer;
	if (found)
		stop_timer(found);
	pthread_mutex_unlock(&timers_lock);
	return found;
}

unsigned int shim_run_timers(void)
{
	u64 now = ktime_get_ns();
	struct hrtimer *timer;
	unsigned int count = 0;

	while ((timer = take_expired(now))) {
		if (timer->function(timer) == HRTIMER_RESTART)
			hrtimer_start(timer, (ktime_t)timer->expires_ns, HRTIMER_MODE_ABS_SOFT);
		count++;
	}
	return count;
}
