/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mutexes, spinlocks, rwlocks and wait queues on pthreads; ghyvi_shim.h includes this file. Each
 * mutex and spinlock records its owner, for checks like those of lockdep and
 * CONFIG_DEBUG_ATOMIC_SLEEP. The program aborts on: the use of a lock that is not initialized, a
 * recursive lock, an unlock by a thread that is not the owner, lockdep_assert_held() without the
 * lock, the destruction of a held mutex, and a sleep under a spinlock or rwlock. Of an rwlock's
 * readers, only the number is known. SHIM_UNCHECKED removes the checks; benchmarks set it.
 */
#ifndef SHIM_LOCKS_H
#define SHIM_LOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct shim_lock {
	pthread_mutex_t m;
#ifndef SHIM_UNCHECKED
	_Atomic(pthread_t) owner; /* 0: free */
	const void *self; /* address of this lock; NULL: static initializer */
	int kind; /* SHIM_MUTEX or SHIM_SPINLOCK once initialized */
#endif
};
#define SHIM_MUTEX 0x4d55
#define SHIM_SPINLOCK 0x5350

struct mutex {
	struct shim_lock lock;
};
typedef struct {
	struct shim_lock lock;
} spinlock_t;
/* A waiting writer holds up later readers, as in the kernel. */
typedef struct {
	pthread_rwlock_t m;
} rwlock_t;

#ifdef SHIM_UNCHECKED
#define SHIM_LOCK_INITIALIZER(k)          \
	{                                 \
		PTHREAD_MUTEX_INITIALIZER \
	}
#define shim_lock_init(l, k) ((void)pthread_mutex_init(&(l)->m, NULL))
#define shim_lock_destroy(l, w) ((void)pthread_mutex_destroy(&(l)->m))
#define shim_lock_take(l, w) ((void)pthread_mutex_lock(&(l)->m))
#define shim_lock_try(l, w) (!pthread_mutex_trylock(&(l)->m))
#define shim_lock_release(l, w) ((void)pthread_mutex_unlock(&(l)->m))
#define shim_rwlock_take(l, take, w) ((void)take(&(l)->m))
#define shim_rwlock_release(l, w) ((void)pthread_rwlock_unlock(&(l)->m))
#define lockdep_assert_held(l) ((void)(l))
#define might_sleep() ((void)0)
#else
#define SHIM_LOCK_INITIALIZER(k)                        \
	{                                               \
		PTHREAD_MUTEX_INITIALIZER, 0, NULL, (k) \
	}

/* @where: source position and call, for the message */
void shim_lock_init(struct shim_lock *l, int kind);
void shim_lock_destroy(struct shim_lock *l, const char *where);
void shim_lock_take(struct shim_lock *l, const char *where);
bool shim_lock_try(struct shim_lock *l, const char *where);
void shim_lock_release(struct shim_lock *l, const char *where);
/* @take: pthread_rwlock_rdlock or pthread_rwlock_wrlock */
void shim_rwlock_take(rwlock_t *l, int (*take)(pthread_rwlock_t *m), const char *where);
void shim_rwlock_release(rwlock_t *l, const char *where);
void shim_assert_held(struct shim_lock *l, const char *where);
void shim_may_sleep(const char *where);
#define lockdep_assert_held(l) \
	shim_assert_held(&(l)->lock, SHIM_WHERE "lockdep_assert_held(" #l ")")
#define might_sleep() shim_may_sleep(SHIM_WHERE "might_sleep()")
#endif

#define SHIM_LINE(n) #n
#define SHIM_LINE_OF(n) SHIM_LINE(n)
#define SHIM_WHERE __FILE__ ":" SHIM_LINE_OF(__LINE__) ": "

#define DEFINE_MUTEX(n) struct mutex n = { SHIM_LOCK_INITIALIZER(SHIM_MUTEX) }
#define mutex_init(l) shim_lock_init(&(l)->lock, SHIM_MUTEX)
#define mutex_destroy(l) shim_lock_destroy(&(l)->lock, SHIM_WHERE "mutex_destroy(" #l ")")
#define mutex_lock(l) shim_lock_take(&(l)->lock, SHIM_WHERE "mutex_lock(" #l ")")
#define mutex_trylock(l) shim_lock_try(&(l)->lock, SHIM_WHERE "mutex_trylock(" #l ")")
#define mutex_unlock(l) shim_lock_release(&(l)->lock, SHIM_WHERE "mutex_unlock(" #l ")")
#define DEFINE_SPINLOCK(n) spinlock_t n = { SHIM_LOCK_INITIALIZER(SHIM_SPINLOCK) }
#define spin_lock_init(l) shim_lock_init(&(l)->lock, SHIM_SPINLOCK)
/*
 * Tests simulate an interrupt with it: spin_lock() calls it with the lock held, since an interrupt
 * can arrive there. spin_lock_irq() and spin_lock_irqsave() do not call it.
 */
extern __thread void (*shim_interrupt)(void);
#define spin_lock(l)                                                        \
	do {                                                                \
		shim_lock_take(&(l)->lock, SHIM_WHERE "spin_lock(" #l ")"); \
		if (shim_interrupt)                                         \
			shim_interrupt();                                   \
	} while (0)
#define spin_lock_nested(l, n) \
	do {                   \
		(void)(n);     \
		spin_lock(l);  \
	} while (0)
#define spin_unlock(l) shim_lock_release(&(l)->lock, SHIM_WHERE "spin_unlock(" #l ")")
#define spin_lock_irq(l) shim_lock_take(&(l)->lock, SHIM_WHERE "spin_lock_irq(" #l ")")
#define spin_unlock_irq spin_unlock
#define spin_lock_irqsave(l, f) ((void)((f) = 0), spin_lock_irq(l))
#define spin_unlock_irqrestore(l, f) ((void)(f), spin_unlock(l))
#define DEFINE_RWLOCK(n) rwlock_t n = { PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP }
#define read_lock(l) shim_rwlock_take(l, pthread_rwlock_rdlock, SHIM_WHERE "read_lock(" #l ")")
#define read_unlock(l) shim_rwlock_release(l, SHIM_WHERE "read_unlock(" #l ")")
#define write_lock(l) shim_rwlock_take(l, pthread_rwlock_wrlock, SHIM_WHERE "write_lock(" #l ")")
#define write_unlock(l) shim_rwlock_release(l, SHIM_WHERE "write_unlock(" #l ")")

/* waiting */
typedef struct {
	pthread_mutex_t m;
	pthread_cond_t c;
	const void *self; /* the address of this queue once it is initialized */
} wait_queue_head_t;

static inline void init_waitqueue_head(wait_queue_head_t *w)
{
	pthread_mutex_init(&w->m, NULL);
	pthread_cond_init(&w->c, NULL);
	w->self = w;
}

static inline void shim_queue_check(const wait_queue_head_t *w)
{
	if (w->self == w)
		return;
	fprintf(stderr, "the wait queue is not initialized\n");
	abort();
}

static inline void wake_up_all(wait_queue_head_t *w)
{
	shim_queue_check(w);
	pthread_mutex_lock(&w->m);
	pthread_cond_broadcast(&w->c);
	pthread_mutex_unlock(&w->m);
}

#define wake_up wake_up_all

/*
 * All variables share one queue. As in the kernel, wake_up_var() uses only the address of @var, and
 * does little if no thread waits: the waiter counts itself before it tests its condition.
 */
extern struct shim_vars {
	pthread_mutex_t m;
	pthread_cond_t c;
	_Atomic unsigned int waiters;
} shim_vars;

static inline void wake_up_var(const void *var)
{
	(void)var;
	if (!atomic_load(&shim_vars.waiters))
		return;
	pthread_mutex_lock(&shim_vars.m);
	pthread_cond_broadcast(&shim_vars.c);
	pthread_mutex_unlock(&shim_vars.m);
}

#define wait_var_event(var, cond)                                      \
	do {                                                           \
		might_sleep();                                         \
		pthread_mutex_lock(&shim_vars.m);                      \
		atomic_fetch_add(&shim_vars.waiters, 1);               \
		while (!(cond))                                        \
			pthread_cond_wait(&shim_vars.c, &shim_vars.m); \
		atomic_fetch_sub(&shim_vars.waiters, 1);               \
		pthread_mutex_unlock(&shim_vars.m);                    \
	} while (0)
#define HZ 100
#define usecs_to_jiffies(us) (((us) + 1000000u / HZ - 1) / (1000000u / HZ))
#define msecs_to_jiffies(ms) usecs_to_jiffies((ms)*1000u)
#define wait_var_event_timeout(var, cond, ticks)                                  \
	({                                                                        \
		struct timespec __t;                                              \
		bool __c;                                                         \
                                                                                  \
		might_sleep();                                                    \
		clock_gettime(CLOCK_REALTIME, &__t);                              \
		__t.tv_nsec += (long)(ticks) % HZ * (NSEC_PER_SEC / HZ);          \
		__t.tv_sec += (ticks) / HZ + __t.tv_nsec / NSEC_PER_SEC;          \
		__t.tv_nsec %= NSEC_PER_SEC;                                      \
		pthread_mutex_lock(&shim_vars.m);                                 \
		atomic_fetch_add(&shim_vars.waiters, 1);                          \
		while (!(__c = (cond)) &&                                         \
		       !pthread_cond_timedwait(&shim_vars.c, &shim_vars.m, &__t)) \
			;                                                         \
		atomic_fetch_sub(&shim_vars.waiters, 1);                          \
		pthread_mutex_unlock(&shim_vars.m);                               \
		__c;                                                              \
	})
/*
 * kthread_stop() wakes the queue that a kernel thread sleeps on. The queue is known before the
 * thread tests its condition, in which it may ask kthread_should_stop().
 */
#define shim_sleeps_on(queue)                              \
	do {                                               \
		if (shim_current)                          \
			shim_current->sleeps_on = (queue); \
	} while (0)
#define wait_event(w, cond)                                \
	do {                                               \
		might_sleep();                             \
		shim_queue_check(&(w));                    \
		shim_sleeps_on(&(w));                      \
		pthread_mutex_lock(&(w).m);                \
		while (!(cond))                            \
			pthread_cond_wait(&(w).c, &(w).m); \
		pthread_mutex_unlock(&(w).m);              \
		shim_sleeps_on(NULL);                      \
	} while (0)
#define wait_event_idle wait_event
#define wait_event_timeout(w, cond, ticks)                                               \
	({                                                                               \
		struct timespec __t;                                                     \
		bool __c;                                                                \
                                                                                         \
		might_sleep();                                                           \
		shim_queue_check(&(w));                                                  \
		clock_gettime(CLOCK_REALTIME, &__t);                                     \
		__t.tv_nsec += (long)(ticks) % HZ * (NSEC_PER_SEC / HZ);                 \
		__t.tv_sec += (ticks) / HZ + __t.tv_nsec / NSEC_PER_SEC;                 \
		__t.tv_nsec %= NSEC_PER_SEC;                                             \
		pthread_mutex_lock(&(w).m);                                              \
		while (!(__c = (cond)) && !pthread_cond_timedwait(&(w).c, &(w).m, &__t)) \
			;                                                                \
		pthread_mutex_unlock(&(w).m);                                            \
		__c;                                                                     \
	})
/* Waits once, for at most @ns; always returns 0, so the caller must test @cond again. */
#define wait_event_interruptible_hrtimeout(w, cond, ns)               \
	({                                                            \
		struct timespec __t;                                  \
		u64 __ns = (ns);                                      \
                                                                      \
		might_sleep();                                        \
		shim_queue_check(&(w));                               \
		shim_sleeps_on(&(w));                                 \
		clock_gettime(CLOCK_REALTIME, &__t);                  \
		__ns += (u64)__t.tv_nsec;                             \
		__t.tv_sec += (time_t)(__ns / NSEC_PER_SEC);          \
		__t.tv_nsec = (long)(__ns % NSEC_PER_SEC);            \
		pthread_mutex_lock(&(w).m);                           \
		if (!(cond))                                          \
			pthread_cond_timedwait(&(w).c, &(w).m, &__t); \
		pthread_mutex_unlock(&(w).m);                         \
		shim_sleeps_on(NULL);                                 \
		0;                                                    \
	})
#define wait_event_hrtimeout wait_event_interruptible_hrtimeout
#define wait_event_idle_timeout wait_event_timeout
#define wait_event_killable wait_event_interruptible
#define wait_event_interruptible(w, cond) \
	({                                \
		wait_event(w, cond);      \
		0;                        \
	})

#endif
