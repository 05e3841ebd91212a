// SPDX-License-Identifier: GPL-2.0
/* Print ledgers beside the counts of their drives, once or by intervals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/drive_interval.h"
#include "audit/drive_report.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "ledger/ledger_interval.h"
#include "ledger/ledger_report.h"
#include "ledger/ledger_select.h"
#include "sysfs/sysfs.h"
#include "verbs/stats_drives.h"

/**
 * struct others - the named devices that are no align devices
 * @nr: number of devices
 * @devno: device numbers
 */
struct others {
	size_t nr;
	dev_t *devno;
};

/*
 * Find a block device that is no align device. Return: enum alignctl_exit,
 * reported.
 */
static int find_other(const char *word, dev_t *devno)
{
	struct stat found = { 0 };

	if (sysfs_named(word, devno))
		return ALIGNCTL_FINE;
	if (stat(word, &found) && errno != ENOENT) {
		message_error("%s: %s", word, strerror(errno));
		return ALIGNCTL_IO;
	}
	*devno = found.st_rdev;
	if (S_ISBLK(found.st_mode))
		return ALIGNCTL_FINE;
	message_error("%s: neither an align device nor a block device; see 'alignctl list' and lsblk",
		      word);
	return ALIGNCTL_USAGE;
}

/*
 * Find the align devices and the other block devices that are named; without
 * names, all align devices. Return: enum alignctl_exit, reported.
 */
static int find_all(struct ledger_selection *selection, struct others *others,
		    char *const *names, size_t nr_names)
{
	CLEANUP_FREE bool *found = memory_or_exit(calloc(nr_names + 1,
							 sizeof(*found)));
	int result = ALIGNCTL_FINE, one;
	size_t i;

	others->nr = 0;
	others->devno = memory_or_exit(calloc(nr_names + 1,
					      sizeof(*others->devno)));
	ledger_select_known(selection, names, nr_names, found);
	for (i = 0; i < nr_names; i++) {
		if (found[i])
			continue;
		one = find_other(names[i], &others->devno[others->nr++]);
		if (one > result)
			result = one;
	}
	return result;
}

static void print_json(const struct ledger_selection *selection,
		       const struct others *others, struct drives *drives)
{
	struct json_object *document = ledger_report_document(
		selection->ledger, selection->nr, 0);
	struct json_object *array = json_new_array(), *devices, *object;
	size_t i;

	json_object_object_get_ex(document, "devices", &devices);
	for (i = 0; i < selection->nr; i++)
		json_add(json_object_array_get_idx(devices, i), "drives",
			 drive_report_json(drives,
					   selection->ledger[i].device.devno));
	for (i = 0; i < others->nr; i++) {
		CLEANUP_FREE char *name = sysfs_name(others->devno[i]);

		object = json_new();
		json_add_text(object, "name", name);
		json_add(object, "drives",
			 drive_report_json(drives, others->devno[i]));
		json_append(array, object);
	}
	json_add(document, "others", array);
	json_print(document, false);
}

static void print_text(const struct ledger_selection *selection,
		       const struct others *others, struct drives *drives)
{
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		ledger_report_text(&selection->ledger[i], 1);
		drive_report_text(drives, selection->ledger[i].device.devno);
	}
	for (i = 0; i < others->nr; i++) {
		CLEANUP_FREE char *name = sysfs_name(others->devno[i]);

		puts(name);
		drive_report_text(drives, others->devno[i]);
	}
}

int stats_drives(bool json, char *const *names, size_t nr_names)
{
	struct ledger_selection selection;
	struct drives drives = { 0 };
	struct others others;
	int result = find_all(&selection, &others, names, nr_names), opened;

	if (!result && !nr_names && !selection.nr && !json)
		message_error("no align devices; name a block device, or 'alignctl attach DEV' makes one");
	if (!result)
		result = ledger_select_read(&selection);
	if (result < ALIGNCTL_USAGE && selection.nr + others.nr) {
		opened = drives_open(&drives);
		if (opened)
			result = opened;
	}
	if (result < ALIGNCTL_USAGE && json)
		print_json(&selection, &others, &drives);
	else if (result < ALIGNCTL_USAGE)
		print_text(&selection, &others, &drives);
	output_flush();
	drives_close(&drives);
	ledger_select_free(&selection);
	free(others.devno);
	return result;
}

void stats_drives_interval(bool json, uint64_t seconds,
			   const struct ledger_selection *devices,
			   struct drives *before, struct drives *now)
{
	struct json_object *document, *array;
	size_t i;

	if (!json) {
		ledger_interval_text(devices->ledger, devices->nr, true);
		for (i = 0; i < devices->nr; i++)
			drive_interval_text(before, now, &devices->ledger[i]);
		return;
	}
	document = ledger_report_document(devices->ledger, devices->nr,
					  seconds);
	json_object_object_get_ex(document, "devices", &array);
	for (i = 0; i < devices->nr; i++)
		json_add(json_object_array_get_idx(array, i), "drives",
			 drive_interval_json(before, now,
					     &devices->ledger[i]));
	json_print(document, true);
}
