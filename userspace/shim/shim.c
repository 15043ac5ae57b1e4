// SPDX-License-Identifier: GPL-2.0-only
/* The parts of the user-space stand-ins that are not inline. */
#include <ghyvi_shim.h>

__thread struct task_struct *shim_current;
bool shim_quiet;

static void *shim_thread(void *data)
{
	struct task_struct *t = data;

	shim_current = t;
	t->fn(t->data);
	return NULL;
}

struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *name, ...)
{
	struct task_struct *t = calloc(1, sizeof(*t));

	(void)name;
	t->fn = fn;
	t->data = data;
	pthread_create(&t->thread, NULL, shim_thread, t);
	return t;
}

/* The kernel's version wakes the thread; here the caller wakes the queue the thread sleeps on, in a loop. */
int kthread_stop(struct task_struct *t)
{
	t->stop = true;
	while (t->wake && pthread_tryjoin_np(t->thread, NULL)) {
		wake_up_all(t->wake);
		sched_yield();
	}
	if (!t->wake)
		pthread_join(t->thread, NULL);
	free(t);
	return 0;
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

/* Two by two from the left, then all of that from the right. */
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
