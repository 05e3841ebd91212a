// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "mode.h"

const char mode_needs_coalesce[] =
	"needs mode coalesce, which this version does not have";

const char *mode_refusal(const char *mode)
{
	if (!strcmp(mode, "report") || !strcmp(mode, "pad"))
		return NULL;
	if (!strcmp(mode, "coalesce"))
		return "this version does not have mode coalesce; it has report and pad";
	return "no such mode; there are report and pad";
}

bool mode_rewrites(const char *mode)
{
	return !strcmp(mode, "pad");
}
