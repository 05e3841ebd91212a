// SPDX-License-Identifier: GPL-2.0
/* alignctl attach: create an align device over a block device. */
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "device/attach.h"
#include "device/dm.h"
#include "verbs/verbs.h"

enum row { ROW_NAME = ATTACH_NR_SETTINGS };

static const struct option_row rows[] = {
	ATTACH_SETTING_ROWS,
	[ROW_NAME] = { "name", "NAME",
		       "name below /dev/mapper (default: align-DEV)" },
	{ 0 },
};

struct attach_arguments {
	struct attach_options options;
	const char *name;
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

static int take(size_t row, const char *argument, void *context)
{
	struct attach_arguments *arguments = context;
	const char *refusal = NULL;

	/* mode_take() also lists the modes for completion, and corrects typos */
	if (row == ATTACH_MODE &&
	    mode_take(argument, &arguments->options.mode))
		return -1;
	if (row < ATTACH_NR_SETTINGS) {
		refusal = attach_setting(row, argument, &arguments->options);
	} else {
		arguments->name = argument;
		if (!*argument || strchr(argument, '/'))
			refusal = "must be a name without '/'";
		else if (!name_fits(argument))
			return -1;
	}
	return refusal ? options_refuse(rows[row].name, argument, refusal) : 0;
}

static int attach(struct attach_arguments *arguments,
		  const struct device *device)
{
	CLEANUP_FREE char *own_name = attach_default_name(device);
	const char *name = arguments->name ? arguments->name : own_name;

	/* the default name may be too long, too */
	if (!name_fits(name))
		return ALIGNCTL_USAGE;
	return attach_create(&arguments->options, name, device);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct attach_arguments arguments = { 0 };
	struct device device;
	int first, result;

	result = options_parse(verb, argc, argv, take, &arguments, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	result = attach_open(&device, argv[first]);
	if (result)
		return result;
	result = attach(&arguments, &device);
	device_close(&device);
	return result;
}

const struct verb verb_attach = {
	"attach", "DEV", 1, 1,
	"Create an align device on top of a block device",
	rows, NULL, run,
};
