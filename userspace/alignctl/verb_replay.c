// SPDX-License-Identifier: GPL-2.0
/* alignctl replay: arguments, guards, and the order of the phases. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "device.h"
#include "exit_codes.h"
#include "guard.h"
#include "message.h"
#include "progress.h"
#include "replay.h"
#include "replay_report.h"
#include "verbs.h"

enum phase { PHASE_ALL, PHASE_PREPARE, PHASE_RUN, PHASE_CHECK };

struct replay_options {
	const char *on;
	const char *force;
	const char *state;
	uint64_t count;
	uint32_t physical;
	uint32_t offset;
	bool offset_given;
	enum phase phase;
	bool json;
};

enum row { ROW_ON, ROW_COUNT, ROW_PHASE, ROW_STATE, ROW_PHYSICAL, ROW_OFFSET,
	   ROW_FORCE, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_ON] = { "on", "DEV", "write to this device or regular file" },
	[ROW_COUNT] = { "count", "N", "repetitions (default: as published)" },
	[ROW_PHASE] = { "phase", "PHASE",
			"only prepare, run or check (default: all three)" },
	[ROW_STATE] = { "state", "FILE",
			"what one phase leaves for the next" },
	[ROW_PHYSICAL] = { "physical", "N",
			   "physical block, bytes, if DEV does not tell" },
	[ROW_OFFSET] = { "offset", "N",
			 "alignment offset, bytes, if DEV does not tell" },
	[ROW_FORCE] = { "force", "DEV",
			"write to DEV although it is in use or holds data" },
	[ROW_JSON] = { "json", NULL, "print one JSON object" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	static const char *const phases[] = { "all", "prepare", "run",
					      "check" };
	struct replay_options *options = context;
	size_t i;

	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		return 0;
	case ROW_COUNT:
		if (parse_number(argument, &options->count))
			return 0;
		break;
	case ROW_PHASE:
		for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
			if (strcmp(argument, phases[i]))
				continue;
			options->phase = i;
			return 0;
		}
		return options_refuse("phase", argument,
				      "must be prepare, run, check or all");
	case ROW_STATE:
		options->state = argument;
		return 0;
	case ROW_PHYSICAL:
		if (parse_bytes(argument, &options->physical) &&
		    options->physical)
			return 0;
		break;
	case ROW_OFFSET:
		options->offset_given = true;
		if (parse_bytes(argument, &options->offset))
			return 0;
		break;
	case ROW_FORCE:
		options->force = argument;
		return 0;
	case ROW_JSON:
		options->json = true;
		return 0;
	}
	return options_refuse(rows[row].name, argument,
			      "must be a number of bytes or times, e.g. 4096 or 4K");
}

static void list_workloads(void)
{
	const struct workload *w;
	size_t i;

	puts("\nWorkloads (with the default count):");
	for (i = 0; (w = workload_at(i)); i++)
		printf(" %-10s %6" PRIu32 " x %s\n", w->name, w->default_count,
		       w->summary);
}

/* Do two paths mean the same device or file? */
static bool same_device(const struct device *device, const char *path)
{
	struct device other;
	bool same;

	if (device_open(&other, path))
		return false;
	same = other.block == device->block && other.devno == device->devno &&
	       other.inode == device->inode;
	device_close(&other);
	return same;
}

/*
 * Refuses a device that is in use or holds data, unless --force names it.
 * Return: enum alignctl_exit.
 */
static int guard(const struct replay_options *options,
		 const struct device *device, uint64_t end)
{
	struct guard_report report = { 0 };
	int result;

	if (options->force && !same_device(device, options->force)) {
		message_error("--force names %s, but --on is %s; name the same device",
			      options->force, device->path);
		return ALIGNCTL_USAGE;
	}
	guard_usage(&report, device);
	/* What was prepared holds no data; do_phases() sees if it still is. */
	if (options->phase == PHASE_RUN)
		result = ALIGNCTL_FINE;
	else if (device->block)
		result = guard_signatures(&report, device);
	else
		result = guard_file_data(&report, device, end);
	guard_print(&report, device);
	if (report.nr && !options->force) {
		message_error("%s: refused, because replay would overwrite that; another device, or --force %s if nothing on it matters",
			      device->path, device->path);
		result = ALIGNCTL_BUSY;
	} else if (report.nr || (result && options->force)) {
		message_warning("%s: going on, because of --force",
				device->path);
		result = ALIGNCTL_FINE;
	}
	guard_free(&report);
	return result;
}

/* Opens for O_DIRECT; a block device for ourselves alone. */
static int open_target(struct replay *replay,
		       const struct replay_options *options)
{
	const struct device *device = replay->device;
	int flags = O_DIRECT | O_CLOEXEC;

	flags |= options->phase == PHASE_CHECK ? O_RDONLY : O_RDWR;
	if (device->block && options->phase != PHASE_CHECK && !options->force)
		flags |= O_EXCL;
	replay->fd = open(device->path, flags);
	if (replay->fd >= 0)
		return ALIGNCTL_FINE;
	if (errno == EBUSY) {
		message_error("%s: in use by the kernel or by a program that holds it exclusively; --force %s if nothing on it matters",
			      device->path, device->path);
		return ALIGNCTL_BUSY;
	}
	if (errno == EINVAL)
		message_error("%s: cannot be opened with O_DIRECT; take a block device, or a file on ext4, XFS or Btrfs",
			      device->path);
	else
		message_error("%s: %s", device->path, strerror(errno));
	return ALIGNCTL_IO;
}

/* Which workload, and how often: as asked for, or as the state file says. */
static int choose_workload(struct replay_state *state,
			   const struct replay_options *options,
			   const char *name)
{
	const struct workload *w = workload_find(name);
	int result;

	if (!w) {
		message_error("no workload '%s'; 'alignctl replay --help' lists them",
			      name);
		return ALIGNCTL_USAGE;
	}
	if (options->phase != PHASE_ALL && !options->state) {
		message_error("--phase needs --state FILE, which carries what one phase leaves for the next");
		return ALIGNCTL_USAGE;
	}
	if (options->phase == PHASE_ALL || options->phase == PHASE_PREPARE) {
		state->workload = w;
		state->count = options->count ? options->count :
						w->default_count;
		return ALIGNCTL_FINE;
	}
	result = replay_state_load(state, options->state);
	if (result)
		return result;
	if (state->workload != w ||
	    (options->count && options->count != state->count)) {
		message_error("%s: is for %s with --count %" PRIu64
			      "; --phase prepare starts anew", options->state,
			      state->workload->name, state->count);
		return ALIGNCTL_USAGE;
	}
	if (options->phase == PHASE_RUN && (state->done || state->uncertain)) {
		message_error("%s: was run already, and a second run could not be told from the first; --phase prepare starts anew",
			      options->state);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* The blocks that the expected figures are for, and what the device allows. */
static int choose_geometry(struct replay *replay,
			   const struct replay_options *options,
			   bool *offset_known)
{
	const struct device *device = replay->device;
	const struct workload *w = replay->state.workload;
	uint32_t granularity = workload_granularity(w);
	uint32_t physical = device->physical, offset = 0;
	uint64_t need = workload_end(w, replay->state.count);
	uint64_t have = device->sectors << ALIGN_SECTOR_SHIFT;
	const char *wrong;

	if (options->physical)
		physical = options->physical;
	*offset_known = options->offset_given ||
			device_offset_for(device, physical, &offset);
	if (options->offset_given)
		offset = options->offset;

	wrong = align_geometry_init(&replay->geometry, physical,
				    device->logical, offset, 0,
				    device->sectors);
	if (wrong) {
		message_error("%s: physical block %" PRIu32
			      ", logical block %" PRIu32
			      ", alignment offset %" PRIu32
			      ": %s; set --physical and --offset",
			      device->path, physical, device->logical, offset,
			      wrong);
		return ALIGNCTL_USAGE;
	}
	if (granularity < device->logical) {
		message_error("%s: %s writes in units of %" PRIu32
			      " bytes, and the smallest direct write here is %"
			      PRIu32 "; take another workload or a 512-byte device",
			      device->path, w->name, granularity,
			      device->logical);
		return ALIGNCTL_USAGE;
	}
	if (have < need) {
		message_error("%s: too small: %s with --count %" PRIu64
			      " needs %" PRIu64 " bytes, the device has %" PRIu64
			      "; give a smaller --count", device->path,
			      w->name, replay->state.count, need, have);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* The phases that were asked for, and the report. */
static int do_phases(struct replay *replay,
		     const struct replay_options *options, bool offset_known)
{
	struct replay_report report = {
		.replay = replay, .offset_known = offset_known,
	};
	enum phase phase = options->phase;
	struct replay_check check;
	struct replay_run run;
	int result = ALIGNCTL_FINE, saved;

	workload_figures(replay->state.workload, replay->state.count,
			 &replay->geometry, &report.figures);
	interrupt_catch();
	if (phase == PHASE_ALL || phase == PHASE_PREPARE) {
		result = replay_prepare(replay);
		if (result || interrupt_seen()) {
			/* half a preparation is good for nothing */
			interrupt_obey();
			return result;
		}
	}
	if (phase == PHASE_RUN) {
		result = replay_still_prepared(replay);
		if (result)
			return result;
	}
	if (phase == PHASE_ALL || phase == PHASE_RUN) {
		result = replay_run(replay, &run);
		report.run = &run;
		if (result)
			report.stopped = "error";
	}
	if (phase != PHASE_CHECK && options->state) {
		saved = replay_state_save(&replay->state, options->state);
		if (saved)
			return saved;
	}
	if (!result && !interrupt_seen() &&
	    (phase == PHASE_ALL || phase == PHASE_CHECK)) {
		result = replay_check(replay, &check);
		report.check = &check;
		if (!result && check.mismatches)
			result = ALIGNCTL_FINDINGS;
	}
	if (interrupt_seen())
		report.stopped = "signal";
	if (options->json)
		replay_report_json(&report);
	else
		replay_report_text(&report);
	interrupt_obey();
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct replay_options options = { 0 };
	struct replay replay = { .fd = -1 };
	struct device device;
	bool offset_known;
	int first, result;

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (!options.on) {
		message_error("replay: needs --on DEV, the device to write to");
		return ALIGNCTL_USAGE;
	}
	result = choose_workload(&replay.state, &options, argv[first]);
	if (result)
		return result;
	result = device_open(&device, options.on);
	if (result)
		return result;
	replay.device = &device;
	result = choose_geometry(&replay, &options, &offset_known);
	if (!result && options.phase != PHASE_CHECK)
		result = guard(&options, &device,
			       workload_end(replay.state.workload,
					    replay.state.count) +
			       2 * replay.geometry.physical);
	if (!result)
		result = open_target(&replay, &options);
	if (!result)
		result = do_phases(&replay, &options, offset_known);
	cleanup_close(&replay.fd);
	device_close(&device);
	return result;
}

const struct verb verb_replay = {
	"replay", "WORKLOAD", 1, 1,
	"Do a known workload on a device, measure it, and check every sector",
	rows, list_workloads, run,
};
