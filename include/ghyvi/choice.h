/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes whose value is one of several names: policies and modes.
 */
#ifndef GHYVI_CHOICE_H
#define GHYVI_CHOICE_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

/**
 * struct ghyvi_choices - the names that an attribute accepts, in the order in which it lists them
 */
struct ghyvi_choices {
	/** @name: returns name number @i */
	const char *(*name)(unsigned int i);
	/** @count: number of names */
	unsigned int count;
};

/**
 * ghyvi_choice_find() - find a name, as sysfs_match_string() does in an array of strings.
 * @choices: the names
 * @name: the name to find
 *
 * Context: any.
 * Return: its number, or -EINVAL.
 */
static inline int ghyvi_choice_find(const struct ghyvi_choices *choices, const char *name)
{
	unsigned int i;

	for (i = 0; i < choices->count; i++)
		if (!strcmp(choices->name(i), name))
			return i;
	return -EINVAL;
}

/**
 * ghyvi_choice_list() - list all names in one line, the active one in brackets.
 * @choices: the names
 * @active: number of the active name
 * @buffer: receives the line, which ends in a newline, and a NUL
 * @bytes: size of @buffer in bytes, at least 1
 *
 * Context: any.
 * Return: the length of the line in bytes, without the NUL.
 */
static inline int ghyvi_choice_list(const struct ghyvi_choices *choices, unsigned int active,
				    char *buffer, size_t bytes)
{
	unsigned int i;
	int at = 0;

	for (i = 0; i < choices->count; i++)
		at += scnprintf(buffer + at, bytes - at, i == active ? "%s[%s]" : "%s%s",
				i ? " " : "", choices->name(i));
	return at + scnprintf(buffer + at, bytes - at, "\n");
}

#endif
