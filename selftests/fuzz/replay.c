// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a fuzz target on files without a fuzzer, by default on the files of its corpus: past
 * findings, and inputs with high coverage. Prints TAP. A file that triggers a defect ends the
 * program.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bounded.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int play(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long bytes;

	if (!file || fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 0) {
		perror(path);
		return 1;
	}
	rewind(file);
	/* Allocate the exact size, so that ASan detects reads beyond the input. */
	data = malloc(bytes ?: 1);
	if (!data || fread(data, 1, bytes, file) != (size_t)bytes) {
		perror(path);
		return 1;
	}
	fclose(file);
	fprintf(stderr, "# %s\n", path);
	bound_case(path);
	LLVMFuzzerTestOneInput(data, bytes);
	bound_case(NULL);
	free(data);
	return 0;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	struct dirent **entries;
	char corpus[2048], path[4096];
	int count, i;

	if (argc > 1) {
		for (i = 1; i < argc; i++)
			if (play(argv[i]))
				return 1;
		return 0;
	}
	name = name ? name + 1 : argv[0];
	if (!strncmp(name, "fuzz_", 5))
		name += 5;
	snprintf(corpus, sizeof(corpus), "%s/%s", CORPORA, name);
	count = scandir(corpus, &entries, visible, alphasort);
	if (count <= 0) {
		fprintf(stderr, "%s: no corpus\n", corpus);
		return 1;
	}
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", corpus, entries[i]->d_name);
		printf("%s %d - %s\n", play(path) ? "not ok" : "ok", i + 1, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
