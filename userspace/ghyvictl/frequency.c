// SPDX-License-Identifier: GPL-2.0-only
/* The frequencies of pGPUs. Only some backends tell them. */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

static bool read_mhz(const struct ghyvi_parent *parent, const char *attribute, unsigned long *mhz)
{
	char value[GHYVI_VALUE_BYTES];
	bool is_read = !ghyvi_parent_read(parent, attribute, value, sizeof(value));

	if (is_read)
		*mhz = strtoul(value, NULL, 10);
	return is_read;
}

static bool read_frequencies(const struct ghyvi_parent *parent, struct frequencies *frequencies)
{
	return read_mhz(parent, "ghyvi/freq_act", &frequencies->act_mhz) &&
	       read_mhz(parent, "ghyvi/freq_min", &frequencies->min_mhz) &&
	       read_mhz(parent, "ghyvi/freq_max", &frequencies->max_mhz);
}

void each_frequency(struct ctl *ctl, const struct ghyvi_types *types,
		    void (*each)(const struct frequencies *frequencies, void *data), void *data)
{
	struct frequencies frequencies;
	struct ghyvi_parent *parent;
	const char *last = "";
	size_t i;

	for (i = 0; i < ghyvi_types_count(types); i++) {
		frequencies.parent = ghyvi_type_parent(ghyvi_types_at(types, i));
		if (!strcmp(frequencies.parent, last))
			continue;
		last = frequencies.parent;
		if (ghyvi_parent_find(ctl->ghyvi, frequencies.parent, &parent))
			continue;
		if (read_frequencies(parent, &frequencies))
			each(&frequencies, data);
		ghyvi_parent_free(parent);
	}
}
