// SPDX-License-Identifier: GPL-2.0
/* alignctl stats: the ledger of align devices, from sysfs, for any user. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "base/progress.h"
#include "device/ledger_report.h"
#include "device/mode.h"
#include "device/sysfs.h"
#include "verbs/verbs.h"

#define BALANCE_TRIES	5
#define BALANCE_WAIT_NS	20000000L	/* 20 ms */

struct stats_options {
	bool json;
	uint64_t interval;
};

enum row { ROW_JSON, ROW_INTERVAL };

static const struct option_row rows[] = {
	[ROW_JSON] = { "json", NULL,
		       "print JSON; with --interval, one line each time" },
	[ROW_INTERVAL] = { "interval", "N",
			   "every N seconds what happened since" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	struct stats_options *options = context;

	if (row == ROW_JSON) {
		options->json = true;
		return 0;
	}
	if (parse_number(argument, &options->interval) &&
	    options->interval <= UINT32_MAX)
		return 0;
	return options_refuse("interval", argument,
			      "must be a number of seconds, at least 1");
}

static void list_counters(void)
{
	puts("\nCounters, since the last --reset-stats:");
	ledger_report_counters();
}

/* The devices to read, found in sysfs. */
struct selection {
	char *const *wanted;	/* what the user named; all if there are none */
	size_t nr_wanted;
	bool *found;		/* which of them exist */
	size_t nr;
	struct ledger_device *device;
};

/* Return whether an operand names this device. */
static bool means(const char *wanted, const struct ledger_device *device)
{
	struct stat found;

	if (!strcmp(wanted, device->name) || !strcmp(wanted, device->dm))
		return true;
	return strchr(wanted, '/') && !stat(wanted, &found) &&
	       S_ISBLK(found.st_mode) && found.st_rdev == device->devno;
}

static void visit_block(const char *name, void *context)
{
	struct selection *selection = context;
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *epoch = sysfs_text(dir, "align/epoch");
	struct ledger_device device = { 0 };
	bool wanted = !selection->nr_wanted;
	size_t i;

	if (!epoch)
		return;
	device.name = sysfs_text(dir, "dm/name");
	if (!device.name || !sysfs_devno(dir, "dev", &device.devno)) {
		free(device.name);
		return;
	}
	device.dm = message_format("%s", name);
	device.dir = message_format("%s", dir);
	for (i = 0; i < selection->nr_wanted; i++) {
		if (!means(selection->wanted[i], &device))
			continue;
		selection->found[i] = true;
		wanted = true;
	}
	if (!wanted) {
		ledger_device_free(&device);
		return;
	}
	selection->device = memory_or_exit(
		reallocarray(selection->device, selection->nr + 1,
			     sizeof(*selection->device)));
	selection->device[selection->nr++] = device;
}

static int select_devices(struct selection *selection)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");
	int result = ALIGNCTL_FINE;
	size_t i;

	selection->found = memory_or_exit(calloc(selection->nr_wanted + 1,
						 sizeof(bool)));
	sysfs_each(dir, visit_block, selection);
	for (i = 0; i < selection->nr_wanted; i++) {
		if (selection->found[i])
			continue;
		message_error("%s: not an align device; 'alignctl list' shows them",
			      selection->wanted[i]);
		result = ALIGNCTL_USAGE;
	}
	return result;
}

/* Return whether no write is in flight: else the ledger need not balance now. */
static bool idle(const struct ledger_device *device)
{
	CLEANUP_FREE char *text = sysfs_text(device->dir, "inflight");
	unsigned int reads, writes;

	return text && sscanf(text, "%u %u", &reads, &writes) == 2 && !writes;
}

/*
 * Reads a device's ledger, again if it does not balance because touches moved
 * while it was read. Return: enum alignctl_exit; ALIGNCTL_FINDINGS if it does
 * not balance although nothing is in flight, if the device is degraded, or if a
 * device below is gone.
 */
static int read_ledger(struct ledger_device *device)
{
	const struct timespec pause = { .tv_nsec = BALANCE_WAIT_NS };
	int result = ALIGNCTL_FINE;
	bool was_idle;
	int tries;

	for (tries = 0; ; tries++) {
		CLEANUP_FREE char *error = NULL;

		was_idle = idle(device);
		error = ledger_read(&device->ledger, device->dir);
		if (error) {
			message_error("%s", error);
			ledger_free(&device->ledger);
			return ALIGNCTL_IO;
		}
		if (ledger_balanced(&device->ledger) || tries == BALANCE_TRIES)
			break;
		ledger_free(&device->ledger);
		nanosleep(&pause, NULL);
	}
	if (!ledger_balanced(&device->ledger) && was_idle && idle(device)) {
		message_error("%s: the ledger does not balance, and no write is in flight",
			      device->name);
		result = ALIGNCTL_FINDINGS;
	}
	if (ledger_gone(&device->ledger)) {
		mode_report_gone(device->name,
				 ledger_gone(&device->ledger)->device);
		result = ALIGNCTL_FINDINGS;
	}
	if (ledger_degraded(&device->ledger)) {
		mode_report_degraded(device->name,
				     ledger_degraded(&device->ledger));
		result = ALIGNCTL_FINDINGS;
	}
	return result;
}

static int read_all(struct selection *selection)
{
	int result = ALIGNCTL_FINE, one;
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		one = read_ledger(&selection->device[i]);
		if (one > result)
			result = one;
	}
	return result;
}

static void print(const struct selection *selection,
		  const struct stats_options *options)
{
	if (options->json)
		ledger_report_json(selection->device, selection->nr,
				   options->interval);
	else
		ledger_report_text(selection->device, selection->nr);
}

/* Reports what happens in each interval, until Ctrl-C. */
static int watch(struct selection *selection,
		 const struct stats_options *options)
{
	const struct timespec pause = { .tv_sec = options->interval };
	struct ledger *before = memory_or_exit(calloc(selection->nr + 1,
						      sizeof(*before)));
	int result = read_all(selection);
	size_t i;

	interrupt_catch();
	while (result < ALIGNCTL_USAGE && !nanosleep(&pause, NULL) &&
	       !interrupt_seen()) {
		for (i = 0; i < selection->nr; i++)
			before[i] = selection->device[i].ledger;
		result = read_all(selection);
		for (i = 0; i < selection->nr; i++) {
			ledger_count_from(&selection->device[i].ledger,
					  &before[i]);
			ledger_free(&before[i]);
		}
		if (result < ALIGNCTL_USAGE)
			print(selection, options);
		if (!output_flush())
			break;
	}
	free(before);
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct stats_options options = { 0 };
	struct selection selection = { 0 };
	int first, result;
	size_t i;

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	selection.wanted = argv + first;
	selection.nr_wanted = argc - first;
	result = select_devices(&selection);
	if (!result && !selection.nr && !options.json)
		message_error("no align devices; 'alignctl attach DEV' makes one");
	if (!result && options.interval && selection.nr) {
		result = watch(&selection, &options);
	} else if (!result) {
		result = read_all(&selection);
		if (result < ALIGNCTL_USAGE)
			print(&selection, &options);
	}
	for (i = 0; i < selection.nr; i++)
		ledger_device_free(&selection.device[i]);
	free(selection.device);
	free(selection.found);
	interrupt_obey();
	return result;
}

const struct verb verb_stats = {
	"stats", "[NAME...]", 0, 64,
	"Show the ledger of align devices: read-modify-writes and their fate",
	rows, list_counters, run,
};
