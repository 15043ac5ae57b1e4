// SPDX-License-Identifier: GPL-2.0-only
/* The end of the program; selftests/fuzz/kernel ends a life of the vGPU instead. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest_env.h"

void give_up(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(2);
}
