// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "tests/printed.h"

static FILE *usual;
static char *text;
static size_t size;

void printed_begin(void)
{
	usual = stdout;
	stdout = memory_or_exit(open_memstream(&text, &size));
}

char *printed_end(void)
{
	fclose(stdout);
	stdout = usual;
	return text;
}
