// SPDX-License-Identifier: GPL-2.0
/*
 * Names and settings of the target's modes, and what each means for data that
 * is held.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/figure.h"
#include "base/message.h"
#include "base/options.h"
#include "ledger/mode.h"
#include "remedy/remedy.h"
#include "sysfs/sysfs.h"

const char *const mode_names[MODE_NR] = { MODES(MODES_APART, MODES_APART) };

const char *mode_find(const char *name)
{
	size_t i;

	for (i = 0; i < MODE_NR; i++)
		if (!strcmp(name, mode_names[i]))
			return mode_names[i];
	return NULL;
}

bool mode_rewrites(const char *mode)
{
	return strcmp(mode, "report");
}

bool mode_holds(const char *mode)
{
	return !strcmp(mode, "coalesce");
}

struct table_value mode_hold_value(const char *mode, int64_t hold_ms)
{
	struct table_value value = table_number(hold_ms);

	return mode_holds(mode) ? value : table_shown(value, "-");
}

void mode_print_volatile(const char *name, int64_t hold_ms)
{
	printf("%s: volatile: mode coalesce may acknowledge a write that covers a block in part about %" PRId64
	       " ms, or less, before writing it. A power cut or crash in between loses the write, as with a drive's volatile write cache, unless it was flushed (fsync) or had FUA\n",
	       name, hold_ms);
}

void mode_report_degraded(const char *name, uint64_t blocks)
{
	CLEANUP_FREE char *drop = remedy_of_name(REMEDY_DROP_FAILED, name);

	message_error("%s: degraded: acknowledged writes to %" PRIu64
		      " block%s cannot be written, and every flush fails; repair the device below, or drop the writes with '%s'",
		      name, blocks, PLURAL_OF(blocks), drop);
}

void mode_report_gone(const char *name, const char *below)
{
	CLEANUP_FREE char *detach = remedy_of_name(REMEDY_DETACH_GONE, name);

	message_error("%s: the device below, %s, is gone; unmount file systems above, then '%s', which drops the held writes",
		      name, below, detach);
}

bool mode_can_hold(const char *disk_dir)
{
	CLEANUP_FREE char *cache = sysfs_text(disk_dir, "queue/write_cache");

	return !cache || !strcmp(cache, "write back");
}
