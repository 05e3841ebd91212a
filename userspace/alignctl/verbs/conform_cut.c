// SPDX-License-Identifier: GPL-2.0
/*
 * The two phases around a power cut: prepare an area with STATE, and judge it
 * afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/cut_judge.h"
#include "conform/cut_prepare.h"
#include "conform/cut_report.h"
#include "conform/cut_state.h"
#include "conform/saved.h"
#include "sysfs/file_disk.h"
#include "sysfs/same_disk.h"
#include "verbs/conform_cut.h"
#include "verbs/overwrite.h"
#include "geometry.h"

/*
 * Check that a new file is where the power cut of the device leaves it alone. Return:
 * enum alignctl_exit, reported.
 */
static int check_place(const char *option, const char *path,
		       const struct device *device)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(path));
	const char *folder = dirname(copy);
	struct stat found;

	if (stat(folder, &found)) {
		message_error("--%s %s: %s", option, path, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	if (same_disk(device, file_disk(folder, found.st_dev))) {
		message_error("--%s %s: lies on the disk of %s, and must survive its power cut; name a file on another disk or machine",
			      option, path, device->path);
		return ALIGNCTL_USAGE;
	}
	if (saved_in_memory(folder))
		message_warning("--%s %s: is in this machine's memory, and survives only if %s alone loses power",
				option, path, device->path);
	return ALIGNCTL_FINE;
}

int conform_cut_place(const struct conform_cut *cut,
		      const struct device *device)
{
	int result = check_place("prepare", cut->prepare, device);

	/* before FILE is made, which would have what an earlier --prepare has written */
	if (!result && !access(cut->prepare, F_OK)) {
		errno = EEXIST;
		cut_log_refuse(cut->prepare);
		return ALIGNCTL_USAGE;
	}
	if (!result && cut->save)
		result = check_place("save", cut->save, device);
	return result;
}

int conform_cut_prepare(const struct conform_cut *cut,
			const struct device *device,
			const struct rounds_options *rounds)
{
	const struct cut_options options = {
		.fd = rounds->fd, .path = device->path, .state = cut->prepare,
		.area = {
			.start = rounds->start,
			.bytes = rounds->bytes - rounds->bytes %
				 ((uint64_t)CELL_BLOCKS * rounds->block),
			.logical = rounds->logical, .block = rounds->block,
			.seed = rounds->seed,
		},
		.device_bytes = device->sectors << ALIGN_SECTOR_SHIFT,
		.memory = rounds->memory, .depth = rounds->cells,
		.requests = rounds->rounds, .seconds = cut->seconds,
	};
	struct cut_prepared prepared = { 0 };
	uint64_t began_ns, end = options.area.start + options.area.bytes - 1;
	CLEANUP_CLOSE int saved = -1;
	double seconds;
	int status = ALIGNCTL_FINE;

	interrupt_catch();
	if (cut->save)
		status = saved_make(options.fd, device->path,
				    options.area.start, options.area.bytes,
				    cut->save, &saved);
	if (status)
		return status;
	if (cut->save)
		message_warning("%s: bytes %" PRIu64 " to %" PRIu64 " are saved in %s; conform --after with --save restores them",
				device->path, options.area.start, end,
				cut->save);
	else
		message_warning("%s: what bytes %" PRIu64 " to %" PRIu64 " hold is lost",
				device->path, options.area.start, end);
	began_ns = clock_ns();
	status = cut_prepare(&options, &prepared);
	seconds = ns_to_s((double)(clock_ns() - began_ns));
	if (status && !prepared.stop)
		return status;
	if (cut->json)
		cut_prepared_json(&options, &prepared, seconds, cut->save);
	else
		cut_prepared_text(&options, &prepared, seconds, cut->save);
	return status;
}

/* Check that STATE is of this device. Return: enum alignctl_exit, reported. */
static int check_device(const struct conform_cut *cut,
			const struct device *device,
			const struct cut_state *state)
{
	uint64_t bytes = device->sectors << ALIGN_SECTOR_SHIFT;

	if (state->header.device_bytes != bytes) {
		message_error("--after %s: is of a device of %" PRIu64 " bytes, %s; %s has %" PRIu64,
			      cut->after, state->header.device_bytes,
			      state->header.path, device->path, bytes);
		return ALIGNCTL_USAGE;
	}
	if (state->header.area.logical % device->logical) {
		message_error("--after %s: is of logical blocks of %" PRIu32 " bytes; %s has %" PRIu32,
			      cut->after, state->header.area.logical,
			      device->path, device->logical);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/*
 * Compare the device with STATE, and say whether that knows enough for a verdict.
 * Return: enum alignctl_exit, reported.
 */
static int compare_area(const struct conform_cut *cut, const struct device *device,
			const struct cut_state *state, int fd,
			struct cut_verdict *verdict)
{
	int status = cut_judge(fd, state, verdict);

	if (!state->ready) {
		message_error("--after %s: ends before %s had its first content, so nothing was promised; prepare again",
			      cut->after, state->header.path);
		return ALIGNCTL_USAGE;
	}
	if (status || !verdict->beyond)
		return status;
	message_error("--after %s: has lost what was synced to it, as %s has later writes; its disk does not keep its word",
		      cut->after, device->path);
	return ALIGNCTL_IO;
}

/*
 * Restore the area, unless this may be another device: after a cut, disks of one size
 * may have changed their names. Return: enum alignctl_exit, reported.
 */
static int restore_area(const struct conform_cut *cut, const struct device *device,
			const struct cut_area *area, int fd, int saved,
			const struct cut_verdict *verdict)
{
	CLEANUP_FREE char *word = message_shell_word(device->path);

	if (verdict->own || cut->force ||
	    saved_is_there(fd, area->start, area->bytes, saved))
		return saved_restore(fd, device->path, area->start, area->bytes,
				     cut->save, saved);
	message_error("%s: is not restored, as it has nothing of %s, and may be another device; name the right one, or --force %s",
		      device->path, cut->after, word);
	return ALIGNCTL_BUSY;
}

/* Judge, restore and report. Return: enum alignctl_exit, reported. */
static int judge_area(const struct conform_cut *cut, const struct device *device,
		      const struct cut_state *state, int fd, int saved)
{
	const struct cut_area *area = &state->header.area;
	struct cut_verdict *verdict = memory_or_exit(calloc(1,
							    sizeof(*verdict)));
	struct cut_report report = {
		.path = device->path, .file = cut->after, .state = state,
		.verdict = verdict,
	};
	int status, restored = ALIGNCTL_FINE;

	interrupt_catch();
	status = compare_area(cut, device, state, fd, verdict);
	if (cut->save && !interrupt_seen())
		restored = restore_area(cut, device, area, fd, saved, verdict);
	if (!status && !interrupt_seen()) {
		report.restored = cut->save && !restored;
		if (cut->json)
			cut_report_json(&report);
		else
			cut_report_text(&report);
		if (cut_faulty(verdict))
			status = ALIGNCTL_FINDINGS;
	}
	free(verdict);
	return restored > status ? restored : status;
}

int conform_cut_after(const struct conform_cut *cut,
		      const struct device *device)
{
	struct overwrite overwrite = {
		.device = device, .verb = "conform", .named_by = "DEV is",
		.force = cut->force, .ask = true, .keeps = true,
	};
	struct cut_state state;
	CLEANUP_CLOSE int fd = -1, saved = -1;
	int result = cut_state_load(&state, cut->after);

	if (result)
		return result;
	result = check_device(cut, device, &state);
	if (!result && cut->save)
		result = saved_open(cut->save, state.header.area.bytes, &saved);
	if (!result && cut->save)
		result = overwrite_guard(&overwrite);
	if (!result)
		result = overwrite_open(device, O_DIRECT |
					(cut->save ? O_RDWR : O_RDONLY),
					!overwrite.force, "", &fd);
	if (!result)
		result = judge_area(cut, device, &state, fd, saved);
	cut_state_free(&state);
	return result;
}
