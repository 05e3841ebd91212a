// SPDX-License-Identifier: GPL-2.0
/* alignctl attach: create an align device over a block device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/bring_up.h"
#include "boot/persist.h"
#include "mapped/attach.h"
#include "mapped/dm.h"
#include "verbs/unit_note.h"
#include "verbs/verbs.h"

enum row { ROW_NAME = ATTACH_NR_SETTINGS, ROW_PERSIST, ROW_ALL, ROW_TAB,
	   ROW_TIMEOUT, ROW_ONLINE };

static const struct option_row rows[] = {
	ATTACH_SETTING_ROWS,
	[ROW_NAME] = OPTION("name", ARG_TEXT("NAME"),
			    "name below /dev/mapper (default: align-DEV)"),
	[ROW_PERSIST] = OPTION("persist", ARG_NONE,
			       "attach at each boot, too: add a line to " ALIGNTAB_FILE,
			       .excludes = "online",
			       .because = "as DEV becomes linear with its next table"),
	[ROW_ALL] = OPTION("all", ARG_NONE, "attach the lines of " ALIGNTAB_FILE,
			   .only_with = "", .operands = "",
			   .because = "whose settings are those of " ALIGNTAB_FILE),
	[ROW_TAB] = OPTION("tab", ARG_LINE, "attach one line, by its name",
			   .only_with = "timeout", .operands = "",
			   .because = "whose settings are those of " ALIGNTAB_FILE),
	[ROW_TIMEOUT] = OPTION("timeout",
			       ARG_NUMBER_AS("SECONDS", 0, ALIGNTAB_TIMEOUT_MAX,
					     .unit = "seconds"),
			       "--tab: longest wait (default: as the line says)",
			       .needs = "tab",
			       .because = "as only --tab waits for a device"),
	[ROW_ONLINE] = OPTION("online", ARG_NONE,
			      "turn a device-mapper device in use into an align device"),
	{ 0 },
};

struct attach_arguments {
	struct attach_options options;
	const char *name;
	const char *tab;
	uint64_t timeout;
	bool timeout_given;
	bool persist;
	bool all;
	bool online;
};

/* Check the length of a device's name; false after reporting an error. */
static bool name_fits(const char *name)
{
	if (strlen(name) <= DM_MAX_NAME)
		return true;
	message_error("--name %s: has %zu bytes; give a name of at most %u",
		      name, strlen(name), DM_MAX_NAME);
	return false;
}

/* Take an option that is no setting. Return: NULL, or what it must be. */
static const char *take_other(enum row row, const char *argument,
			      struct attach_arguments *arguments)
{
	switch (row) {
	case ROW_NAME:
		arguments->name = argument;
		if (dm_name_reserved(argument))
			return "is not a device's in /dev/mapper; give another name";
		return *argument && !strchr(argument, '/') ?
			NULL : "must be a name without '/'";
	case ROW_PERSIST:
		arguments->persist = true;
		break;
	case ROW_ALL:
		arguments->all = true;
		break;
	case ROW_TAB:
		arguments->tab = argument;
		break;
	case ROW_ONLINE:
		arguments->online = true;
		break;
	case ROW_TIMEOUT:
		arguments->timeout_given = true;
		arguments->timeout = options_number(argument);
		break;
	}
	return NULL;
}

static int take_option(size_t row, const char *argument, void *context)
{
	struct attach_arguments *arguments = context;
	const char *refusal;

	refusal = row < ATTACH_NR_SETTINGS ?
		attach_setting(row, argument, &arguments->options) :
		take_other(row, argument, arguments);
	if (refusal)
		return options_refuse(rows[row].name, argument, refusal);
	return row == ROW_NAME && !name_fits(argument) ? -1 : 0;
}

/* Attach one line of aligntab, or all. Return: enum alignctl_exit. */
static int attach_lines(const struct attach_arguments *arguments)
{
	const struct aligntab_line *line;
	struct aligntab tab;
	unsigned int timeout;
	bool missing = false;
	/* the units of all lines name the wrong ones otherwise, each */
	int result = aligntab_read(&tab, arguments->tab);

	if (result)
		return result;
	line = arguments->tab ? aligntab_find(&tab, arguments->tab) : NULL;
	if (arguments->all) {
		result = bring_up_all(&tab, true, false);
		if (!result && tab.nr_wrong)
			result = ALIGNCTL_USAGE;
	} else if (!line) {
		aligntab_free(&tab);
		aligntab_read(&tab, false);
		message_error("--tab %s: " ALIGNTAB_FILE " has no valid line of this name",
			      arguments->tab);
		result = ALIGNCTL_USAGE;
	} else {
		timeout = arguments->timeout_given ? arguments->timeout :
						     line->timeout;
		result = bring_up(line, timeout, &missing);
		if (missing)
			bring_up_report_missing(line, timeout);
	}
	aligntab_free(&tab);
	return result;
}

/* Say if the block that a device gets unasked, or by auto, is not its unit. */
static void note_unit(const struct attach_options *options,
		      const struct device *device)
{
	uint32_t suggested = options->physical_auto ?
		device_suggested_physical(device) : 0;

	if (!options->physical)
		unit_note(device, suggested ? suggested : device->physical,
			  true);
}

/* Say which mode --logical means, and if the device has such blocks itself. */
static void note_logical(struct attach_options *options,
			 const struct device *device)
{
	if (attach_complete(options))
		printf("%s: mode %s, as --logical needs one that fixes writes, pad or coalesce\n",
		       device->path, options->mode);
	if (options->logical == device->logical)
		printf("%s: has logical blocks of %" PRIu32
		       " bytes itself; --logical changes nothing\n",
		       device->path, device->logical);
}

/* Attach a device that is given by its path. Return: enum alignctl_exit. */
static int attach_path(struct attach_arguments *arguments, const char *path)
{
	CLEANUP_FREE char *own_name = NULL;
	const char *name;
	struct device device;
	int result = attach_open(&device, path);

	if (result)
		return result;
	note_logical(&arguments->options, &device);
	note_unit(&arguments->options, &device);
	own_name = attach_default_name(&device);
	name = arguments->name ? arguments->name : own_name;
	if (arguments->online)
		result = attach_online(&arguments->options, arguments->name,
				       &device);
	/* the default name may be too long, too */
	else if (!name_fits(name))
		result = ALIGNCTL_USAGE;
	else if (arguments->persist)
		result = persist_attach(&arguments->options, name, &device);
	else
		result = attach_create(&arguments->options, name, &device);
	device_close(&device);
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct attach_arguments arguments = { 0 };
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &arguments, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	return first < argc ? attach_path(&arguments, argv[first]) :
			      attach_lines(&arguments);
}

static const char *const forms[] = {
	"DEV [options]",
	"--all",
	"--tab LINE [--timeout SECONDS]",
	NULL,
};

const struct verb verb_attach = {
	"attach", "DEV", 1, 1,
	"Create an align device on top of a block device",
	rows, NULL, run, forms, NULL,
};
