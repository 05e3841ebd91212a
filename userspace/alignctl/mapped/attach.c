// SPDX-License-Identifier: GPL-2.0
/*
 * Make an align device: take the settings, refuse what the target would, create
 * it, warn.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "mapped/attach.h"
#include "mapped/dm.h"
#include "mapped/lvm.h"
#include "mapped/module.h"
#include "mapped/online.h"
#include "remedy/remedy.h"
#include "sysfs/dm_name.h"
#include "sysfs/guard.h"
#include "sysfs/probed.h"
#include "geometry.h"

const struct option_row attach_settings[] = {
	ATTACH_SETTING_ROWS,
	{ 0 },
};

const char *const attach_arguments[ATTACH_NR_SETTINGS] = {
	[ATTACH_MODE] = "mode",
	[ATTACH_PHYSICAL] = "physical_block_size",
	[ATTACH_OFFSET] = "alignment_offset",
	[ATTACH_LOGICAL] = "logical_block_size",
	[ATTACH_HOLD_MS] = "hold_ms",
	[ATTACH_MAX_BLOCKS] = "max_blocks",
	[ATTACH_WRITE_CACHE] = "write_cache",
};

const char *attach_setting(enum attach_setting setting, const char *argument,
			   struct attach_options *options)
{
	const char *refusal = options_wrong(&attach_settings[setting], argument);

	if (refusal)
		return refusal;
	switch (setting) {
	case ATTACH_MODE:
		options->mode = mode_find(argument);
		break;
	case ATTACH_PHYSICAL:
		options->physical_auto = !strcmp(argument, "auto");
		if (!options->physical_auto)
			options->physical = options_number(argument);
		break;
	case ATTACH_OFFSET:
		options->offset_given = true;
		options->offset = options_number(argument);
		break;
	case ATTACH_LOGICAL:
		options->logical = options_number(argument);
		break;
	case ATTACH_HOLD_MS:
		options->hold_ms = options_number(argument);
		break;
	case ATTACH_MAX_BLOCKS:
		options->max_blocks = options_number(argument);
		break;
	case ATTACH_WRITE_CACHE:
		options->write_cache = argument;
		break;
	case ATTACH_NR_SETTINGS:
		break;
	}
	options->given[setting] = argument;
	return NULL;
}

bool attach_complete(struct attach_options *options)
{
	if (options->mode || !options->logical)
		return false;
	options->mode = "pad";
	return true;
}

char *attach_default_name(const struct device *device)
{
	CLEANUP_FREE char *dm = sysfs_text(device->sys.dir, "dm/name");
	char *name = message_format("align-%s", dm ? dm : device->sys.name);
	char *at;

	for (at = name; *at; at++)
		if (*at == '/')
			*at = '-';
	return name;
}

/* Check whether a device's logical block is larger than the one to offer. */
static bool offers_smaller(const struct attach_options *options,
			   const struct device *device)
{
	return options->logical && options->logical < device->logical;
}

/*
 * Check that smaller logical blocks can be offered over a device, if the options
 * say so, in a mode and on a device that fixes writes. Return: enum
 * alignctl_exit; errors have been reported.
 */
static int check_logical(const struct attach_options *options,
			 const struct device *device)
{
	CLEANUP_FREE char *zoned = sysfs_text(device->sys.disk_dir,
					      "queue/zoned");

	if (!offers_smaller(options, device))
		return ALIGNCTL_FINE;
	if (!mode_rewrites(options->mode)) {
		message_error("%s: --logical %" PRIu32
			      ": mode %s would pass on requests that the device refuses, as its logical block has %"
			      PRIu32 " bytes; use --mode pad or coalesce",
			      device->path, options->logical, options->mode,
			      device->logical);
		return ALIGNCTL_USAGE;
	}
	if (zoned && strcmp(zoned, "none")) {
		message_error("%s: --logical %" PRIu32
			      ": the device is zoned (%s), where blocks cannot be rewritten; leave out --logical",
			      device->path, options->logical, zoned);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/*
 * Check the blocks over which smaller logical ones are to be offered: no request
 * may go down that is not whole in the device's own, so none of its blocks may
 * be cut by a boundary. Return: as check_logical().
 */
static int check_whole(const struct attach_options *options,
		       const struct device *device, uint32_t physical,
		       uint32_t offset)
{
	if (!offers_smaller(options, device))
		return ALIGNCTL_FINE;
	if (physical < device->logical)
		message_error("%s: --logical %" PRIu32 ": physical block %"
			      PRIu32 " is below the device's logical block (%"
			      PRIu32 "); leave out --physical",
			      device->path, options->logical, physical,
			      device->logical);
	else if (offset & (device->logical - 1))
		message_error("%s: --logical %" PRIu32 ": alignment offset %"
			      PRIu32 " is no multiple of the device's logical block (%"
			      PRIu32 "); correct --offset",
			      device->path, options->logical, offset,
			      device->logical);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

/*
 * Turn --physical auto into a number, and check the options against the rules
 * of kmod/geometry.h. @geometry: the blocks that result. Return: enum
 * alignctl_exit; errors have been reported.
 */
static int choose_geometry(struct attach_options *options,
			   const struct device *device,
			   struct align_geometry *geometry)
{
	uint32_t physical = device->physical, offset = options->offset;
	uint32_t logical = offers_smaller(options, device) ? options->logical :
							     device->logical;
	int result = check_logical(options, device);
	const char *wrong;
	bool known;

	if (result)
		return result;
	if (options->physical_auto) {
		options->physical = device_suggested_physical(device);
		if (!options->physical)
			printf("%s: --physical auto: io_min (%" PRIu32
			       ") suggests no larger block; the device's own %"
			       PRIu32 " is used\n", device->path,
			       device->io_min, device->physical);
	}
	if (options->physical)
		physical = options->physical;
	known = options->offset_given ||
		device_offset_for(device, physical, &offset) ||
		physical == device->physical;
	wrong = align_geometry_init(geometry, physical, logical, offset, 0,
				    device->sectors);
	if (wrong)
		message_error("%s: physical block %" PRIu32 ", logical block %"
			      PRIu32 ", alignment offset %" PRIu32
			      ": %s; see --physical and --offset", device->path,
			      physical, logical, offset, wrong);
	else if (!known)
		message_error("%s: the first boundary of blocks of %" PRIu32
			      " bytes is not known; give --offset, the bytes from the device's start to that boundary",
			      device->path, physical);
	else
		return check_whole(options, device, physical, offset);
	return ALIGNCTL_USAGE;
}

int attach_check_free(const struct device *device)
{
	/* closed at the end, because the table opens it exclusively */
	CLEANUP_FREE char *dm = sysfs_text(device->sys.dir, "dm/name");
	CLEANUP_CLOSE int fd = open(device->path,
				    O_RDONLY | O_EXCL | O_CLOEXEC);
	CLEANUP_FREE char *loop = NULL;
	struct guard_report report = { 0 };

	if (fd >= 0)
		loop = guard_loop(device);
	if (fd >= 0 && !loop)
		return ALIGNCTL_FINE;
	if (fd < 0 && errno != EBUSY) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	guard_usage(&report, device);
	guard_print(&report, device);
	guard_free(&report);
	message_error("%s: in use; unmount it or close it first%s",
		      device->path, dm ? ", or attach it with --online" : "");
	return ALIGNCTL_BUSY;
}

/* Warn if another host may write to the device. */
static void warn_of_sharing(const struct device *device)
{
	CLEANUP_FREE char *shared = device_shared_reason(device);

	if (shared)
		message_warning("%s; pad and coalesce rewrite neighbouring sectors and must be the only writer, on all hosts together",
				shared);
}

/*
 * Print the options to give where the disk's blocks were measured and are not
 * @geometry, unless the user has chosen other ones. Return: whether they were
 * measured.
 */
static bool print_probed(const struct attach_options *options,
			 const struct device *device,
			 const struct align_geometry *geometry)
{
	bool chosen = options->physical && !options->physical_auto;
	struct probed probed;

	if (!probed_find(&probed, device))
		return false;
	if ((probed.block != geometry->physical && !chosen) ||
	    (probed.offset != geometry->offset && !options->offset_given &&
	     probed.block == geometry->physical))
		printf("%s: was probed to have blocks of %" PRIu32
		       " bytes from byte %" PRIu32 ", not %" PRIu32
		       " from byte %" PRIu32 "; attach with --physical %" PRIu32
		       " --offset %" PRIu32 "\n", device->path, probed.block,
		       probed.offset, geometry->physical, geometry->offset,
		       probed.block, probed.offset);
	return true;
}

/*
 * Print what may surprise later, but is no reason to refuse. @probed: the blocks
 * were measured, so that no hint is needed.
 */
static void print_notes(const struct attach_options *options, const char *name,
			const struct device *device, bool probed)
{
	struct guard_report report = { 0 };
	size_t i;

	if (!guard_signatures(&report, device))
		for (i = 0; i < report.nr; i++)
			printf("%s: %s; it stays unmodified; use it through the new device from now on\n",
			       device->path, report.finding[i]);
	guard_free(&report);
	guard_writers(&report, device);
	for (i = 0; i < report.nr; i++)
		message_warning("%s: %s, and bypasses the new device; let it use that device, or end it",
				device->path, report.finding[i]);
	guard_free(&report);
	if (!options->persistent)
		lvm_warn(name, device);
	warn_of_sharing(device);
	if (!probed && !options->physical && device->physical == 512)
		printf("%s: reports 512/512; if that is not true (USB bridges, many SSDs), attach with --physical 4096\n",
		       device->path);
	if (!probed && !options->physical && device_suggested_physical(device))
		printf("%s: io_min hints at physical blocks of %" PRIu32
		       " bytes; --physical auto uses them\n", device->path,
		       device_suggested_physical(device));
	if (!mode_can_hold(device->sys.disk_dir) && !options->write_cache &&
	    (!options->mode || !mode_holds(options->mode)))
		printf("%s: has no volatile write cache; to enter mode coalesce later without unmounting, attach with --write-cache on\n",
		       device->path);
}

/* Return the table line after the offset, for free(): "" or " <n> <arg>...". */
static char *table_features(const struct attach_options *options)
{
	CLEANUP_FREE char *args = message_format("%s", "");
	unsigned int nr = 0;
	size_t i;
	const struct { bool given; char *value; } features[ATTACH_NR_SETTINGS] = {
		[ATTACH_MODE] = { options->mode,
			message_format("%s", options->mode ? options->mode :
							     "") },
		[ATTACH_PHYSICAL] = { options->physical,
			message_format("%" PRIu32, options->physical) },
		[ATTACH_OFFSET] = { options->offset_given,
			message_format("%" PRIu32, options->offset) },
		[ATTACH_LOGICAL] = { options->logical,
			message_format("%" PRIu32, options->logical) },
		[ATTACH_HOLD_MS] = { options->hold_ms,
			message_format("%" PRIu64, options->hold_ms) },
		[ATTACH_MAX_BLOCKS] = { options->max_blocks,
			message_format("%" PRIu64, options->max_blocks) },
		[ATTACH_WRITE_CACHE] = { options->write_cache,
			message_format("%s", options->write_cache ?
					     options->write_cache : "") },
	};

	for (i = 0; i < ATTACH_NR_SETTINGS; i++) {
		char *longer;

		if (features[i].given) {
			longer = message_format("%s %s %s", args,
						attach_arguments[i],
						features[i].value);
			free(args);
			args = longer;
			nr += 2;
		}
		free(features[i].value);
	}
	return nr ? message_format(" %u%s", nr, args) : message_format("%s", "");
}

/*
 * Print how to reach partitions on the new device. The node's name is read from
 * the kernel, because device-mapper encodes some characters of a name.
 */
static void print_way_to_partitions(const struct dm_align *made)
{
	CLEANUP_FREE char *name = dm_name_of(made->devno);
	CLEANUP_FREE char *node = NULL, *map = NULL;

	node = message_format("/dev/mapper/%s", name ? name : made->name);
	map = remedy_of_device(REMEDY_MAP_PARTITIONS, node);
	printf("Partitions on it are reached with: %s\n", map);
}

/* Print a target's figures, as the kernel has them. @below: its device. */
static void print_target(const char *name, const char *below,
			 const struct dm_align *device,
			 const struct align_target *target)
{
	CLEANUP_FREE char *node = dm_node(name, 0);
	const struct align_status *status = &target->status;
	int64_t offset;

	printf("%s: on %s, mode %s, ", node, below, status->mode);
	if (target_offers_smaller(target, device->logical))
		printf("logical block %" PRIu32 " bytes (below: %" PRIu32 "), ",
		       device->logical, target->lower_logical);
	printf("physical block %" PRIu32 " bytes, alignment offset ",
	       status->physical);
	if (maybe_get(status->offset, &offset))
		printf("%" PRId64 " bytes\n", offset);
	else
		puts("unknown (the kernel says the device is misaligned; --offset sets it)");
}

/*
 * Print the new device's figures. @partitions: print how to reach partitions,
 * too.
 */
static int print_result(const char *name, const struct device *device,
			bool partitions)
{
	struct dm_align made;
	const struct align_status *status;
	int result = dm_align_find(&made, name);

	if (result)
		return result;
	status = &made.target[0].status;
	print_target(name, device->path, &made, &made.target[0]);
	if (mode_holds(status->mode))
		mode_print_volatile(name, made.target[0].hold_ms);
	if (partitions && guard_partition_table(device))
		print_way_to_partitions(&made);
	dm_align_free(&made);
	return ALIGNCTL_FINE;
}

int attach_create(struct attach_options *options, const char *name,
		  const struct device *device)
{
	CLEANUP_FREE char *params = NULL, *features = NULL;
	struct align_geometry geometry;
	bool probed = false;
	int result;

	result = choose_geometry(options, device, &geometry);
	if (!result && !options->unattended)
		probed = print_probed(options, device, &geometry);
	if (!result)
		result = attach_check_free(device);
	if (!result)
		result = module_ensure();
	if (result)
		return result;
	if (dm_name_taken(name)) {
		message_error("/dev/mapper/%s exists; detach it, or give another --name",
			      name);
		return ALIGNCTL_BUSY;
	}
	if (!options->unattended)
		print_notes(options, name, device, probed);
	features = table_features(options);
	params = message_format("%u:%u 0%s", major(device->devno),
				minor(device->devno), features);
	result = dm_align_create(name, device->sectors, params);
	return result ? result :
			print_result(name, device, !options->unattended &&
						   !options->persistent);
}

/*
 * Refuse a table that is not all linear: report the place where align belongs,
 * which is below. Return: ALIGNCTL_USAGE.
 */
static int refuse_target(const struct online *online,
			 const struct device *device, const char *type)
{
	CLEANUP_FREE char *below = NULL, *attach = NULL;
	bool in_use;

	if (!strcmp(type, "align")) {
		message_error("%s: is an align device already; the verb set changes it",
			      online->name);
		return ALIGNCTL_USAGE;
	}
	if (!strcmp(type, "multipath")) {
		attach = remedy_of_device(REMEDY_ATTACH, device->path);
		message_error("%s: its table is of target multipath, not linear; close it, then '%s', as its paths must have one align device",
			      online->name, attach);
		return ALIGNCTL_USAGE;
	}
	below = online_below(device->sys.dir, &in_use);
	if (below)
		message_error("%s: its table is of target %s, not linear; align belongs below: %s%s",
			      online->name, type,
			      in_use ? "" : "close it, then ", below);
	else
		message_error("%s: its table is of target %s, not linear; align belongs on devices that store data",
			      online->name, type);
	return ALIGNCTL_USAGE;
}

/* Check whether a segment before @line is on the same device. */
static bool is_known(const struct online *online,
		     const struct mapping_line *line, dev_t device)
{
	const struct mapping_line *other = online->mapping.line;
	struct align_table place;

	for (; other < line; other++)
		if (mapping_place(other, &place) && place.device == device)
			return true;
	return false;
}

/*
 * Append a segment to the table @next, as align, after checking the options
 * against the device below it. Return: enum alignctl_exit; errors have been
 * reported.
 */
static int add_segment(const struct attach_options *given,
		       const struct online *online,
		       const struct mapping_line *line, struct mapping *next)
{
	struct attach_options options = *given;
	CLEANUP_FREE char *path = NULL, *features = NULL;
	struct align_geometry geometry;
	struct align_table place;
	struct device below;
	int result;

	if (!mapping_place(line, &place)) {
		message_error("%s: unknown table line: %s %s", online->name,
			      line->type, line->params);
		return ALIGNCTL_IO;
	}
	path = online_path(place.device);
	result = device_open_devno(&below, place.device, path);
	if (result)
		return result;
	result = choose_geometry(&options, &below, &geometry);
	if (!result && !is_known(online, line, place.device))
		print_probed(&options, &below, &geometry);
	device_close(&below);
	features = table_features(&options);
	if (!result)
		mapping_add_align(next, line, features);
	return result;
}

/* Print what became of a device, and for how long. */
static int print_online(const struct online *online)
{
	CLEANUP_FREE char *maker = online_maker(online);
	/* it may have been renamed meanwhile */
	CLEANUP_FREE char *name = dm_name_of(online->devno);
	struct dm_align made;
	int result = dm_align_find(&made, name ? name : online->name);
	size_t i;

	if (result)
		return result;
	for (i = 0; i < made.nr_targets; i++) {
		CLEANUP_FREE char *below = online_path(
			made.target[i].table.device);

		print_target(made.name, below, &made, &made.target[i]);
	}
	if (mode_holds(made.target[0].status.mode))
		mode_print_volatile(made.name, made.target[0].hold_ms);
	if (maker)
		message_warning("%s: %s makes the table linear again; to keep align, close this device and attach the one below",
				made.name, maker);
	dm_align_free(&made);
	return ALIGNCTL_FINE;
}

/*
 * Refuse a device with an integrity profile, of T10 PI: requests that carry its
 * data may be on their way when a table without one takes their place. Return:
 * enum alignctl_exit; errors have been reported.
 */
static int refuse_integrity(const struct online *online,
			    const struct device *device)
{
	CLEANUP_FREE char *format = sysfs_text(device->sys.dir,
					       "integrity/format");

	if (!format || !strcmp(format, "none"))
		return ALIGNCTL_FINE;
	message_error("%s: passes on integrity metadata (%s), which align does not; unmount it, then attach without --online",
		      online->name, format);
	return ALIGNCTL_USAGE;
}

/*
 * Refuse to offer smaller logical blocks under the users of a device. Device-mapper
 * would do so, but tells none of the users: mounted file systems and devices above
 * keep to the old size, so they gain nothing. The way back would take the small
 * blocks from those that have come since: each table that the device's maker loads is
 * linear. Return: enum alignctl_exit; errors have been reported.
 */
static int refuse_logical(const struct attach_options *options,
			  const struct online *online,
			  const struct device *device)
{
	if (!offers_smaller(options, device))
		return ALIGNCTL_FINE;
	message_error("%s: --logical %" PRIu32
		      ": its users keep to logical blocks of %" PRIu32
		      ", and new users would lose the small ones with its next table of linear; close it and leave out --online",
		      online->name, options->logical, device->logical);
	return ALIGNCTL_USAGE;
}

/* Replace a table of linear by one of align, under the device's users. */
static int replace_online(const struct attach_options *options,
			  const struct online *online,
			  const struct device *device)
{
	struct mapping next = { 0 };
	int result;
	size_t i;

	for (i = 0; i < online->mapping.nr; i++)
		if (!mapping_line_is(&online->mapping.line[i], "linear"))
			return refuse_target(online, device,
					     online->mapping.line[i].type);
	if (options->mode && mode_holds(options->mode) &&
	    !mode_can_hold(device->sys.disk_dir)) {
		message_error("%s: has no volatile write cache, which coalesce needs; use pad, or unmount it and leave out --online",
			      online->name);
		return ALIGNCTL_USAGE;
	}
	result = refuse_logical(options, online, device);
	if (!result)
		result = refuse_integrity(online, device);
	for (i = 0; i < online->mapping.nr && !result; i++)
		result = add_segment(options, online, &online->mapping.line[i],
				     &next);
	if (!result)
		result = module_ensure();
	if (!result) {
		warn_of_sharing(device);
		/* a mode that is entered by a message changes no limit */
		if (options->mode && mode_rewrites(options->mode) &&
		    device->logical > ALIGN_SECTOR_SIZE)
			message_warning("%s: O_DIRECT from buffers aligned to less than %" PRIu32
					" bytes fails in mode %s; a mode entered later by 'alignctl set' does not limit buffers",
					online->name, device->logical,
					options->mode);
		result = online_replace(online, &next, false);
	}
	mapping_free(&next);
	return result ? result : print_online(online);
}

int attach_online(const struct attach_options *options, const char *given,
		  const struct device *device)
{
	CLEANUP_FREE char *name = sysfs_text(device->sys.dir, "dm/name");
	struct online online;
	int result;

	if (given) {
		message_error("--name %s: --online keeps the name of %s; leave out --name",
			      given, device->path);
		return ALIGNCTL_USAGE;
	}
	if (!name) {
		message_error("%s: is no device-mapper device, so it cannot be changed in use; unmount it and leave out --online",
			      device->path);
		return ALIGNCTL_USAGE;
	}
	result = online_open(&online, name);
	if (result)
		return result;
	result = replace_online(options, &online, device);
	online_close(&online);
	return result;
}

int attach_open(struct device *device, const char *path)
{
	int result = device_open(device, path);

	if (result)
		return result;
	if (!device->block) {
		CLEANUP_FREE char *loop = remedy_of_device(REMEDY_MAKE_LOOP,
							   device->path);

		message_error("%s: a regular file; '%s' makes a block device of it",
			      device->path, loop);
		result = ALIGNCTL_USAGE;
		device_close(device);
	}
	return result;
}
