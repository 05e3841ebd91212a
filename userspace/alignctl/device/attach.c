// SPDX-License-Identifier: GPL-2.0
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
#include "device/attach.h"
#include "device/dm.h"
#include "device/guard.h"
#include "device/lvm.h"
#include "device/module.h"
#include "geometry.h"

const struct option_row attach_settings[] = {
	ATTACH_SETTING_ROWS,
	{ 0 },
};

const char *attach_setting(enum attach_setting setting, const char *argument,
			   struct attach_options *options)
{
	const char *refusal = NULL;
	size_t i;

	switch (setting) {
	case ATTACH_MODE:
		for (i = 0; i < MODE_NR; i++)
			if (!strcmp(argument, mode_names[i]))
				options->mode = mode_names[i];
		if (!options->mode || strcmp(options->mode, argument))
			refusal = "must be a mode, see alignctl(8)";
		break;
	case ATTACH_PHYSICAL:
		options->physical_auto = !strcmp(argument, "auto");
		if (!options->physical_auto &&
		    (!parse_bytes(argument, &options->physical) ||
		     !options->physical))
			refusal = "must be bytes, e.g. 4096 or 4K, or auto";
		break;
	case ATTACH_OFFSET:
		options->offset_given = true;
		if (!parse_bytes(argument, &options->offset))
			refusal = "must be bytes";
		break;
	case ATTACH_HOLD_MS:
		refusal = mode_hold_ms(argument, &options->hold_ms);
		break;
	case ATTACH_MAX_BLOCKS:
		refusal = mode_max_blocks(argument, &options->max_blocks);
		break;
	case ATTACH_WRITE_CACHE:
		options->write_cache = argument;
		refusal = mode_write_cache_refusal(argument);
		break;
	case ATTACH_NR_SETTINGS:
		break;
	}
	options->given[setting] = argument;
	return refusal;
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

/*
 * Turn --physical auto into a number, and check the options against the rules
 * of kmod/geometry.h. Return: enum alignctl_exit; errors have been reported.
 */
static int choose_geometry(struct attach_options *options,
			   const struct device *device)
{
	struct align_geometry geometry;
	uint32_t physical = device->physical, offset = options->offset;
	const char *wrong;
	bool known;

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
	wrong = align_geometry_init(&geometry, physical, device->logical,
				    offset, 0, device->sectors);
	if (wrong)
		message_error("%s: physical block %" PRIu32 ", logical block %"
			      PRIu32 ", alignment offset %" PRIu32
			      ": %s; see --physical and --offset", device->path,
			      physical, device->logical, offset, wrong);
	else if (!known)
		message_error("%s: it is not known where blocks of %" PRIu32
			      " bytes begin; give --offset, the bytes from its start to the first boundary",
			      device->path, physical);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

int attach_check_free(const struct device *device)
{
	/* closed at the end, because the table opens it exclusively */
	CLEANUP_FREE char *dm = sysfs_text(device->sys.dir, "dm/name");
	CLEANUP_CLOSE int fd = open(device->path,
				    O_RDONLY | O_EXCL | O_CLOEXEC);
	struct guard_report report = { 0 };

	if (fd >= 0)
		return ALIGNCTL_FINE;
	if (errno != EBUSY) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	guard_usage(&report, device);
	guard_print(&report, device);
	guard_free(&report);
	message_error("%s: in use; unmount it or close it first%s",
		      device->path, dm ? ", or reload its table with align in place of linear" :
					 "");
	return ALIGNCTL_BUSY;
}

/* Print what may surprise later, but is no reason to refuse. */
static void print_notes(const struct attach_options *options, const char *name,
			const struct device *device)
{
	CLEANUP_FREE char *shared = device_shared_reason(device);
	struct guard_report report = { 0 };
	size_t i;

	if (!guard_signatures(&report, device))
		for (i = 0; i < report.nr; i++)
			printf("%s: %s; it stays unmodified; use it through the new device from now on\n",
			       device->path, report.finding[i]);
	guard_free(&report);
	if (!options->persistent)
		lvm_warn(name, device);
	if (shared)
		message_warning("%s; pad and coalesce rewrite neighbouring sectors and must be the only writer, on all hosts together",
				shared);
	if (!options->physical && device->physical == 512)
		printf("%s: reports 512/512; if that is not true (USB bridges, many SSDs), attach with --physical 4096\n",
		       device->path);
	if (!options->physical && device_suggested_physical(device))
		printf("%s: io_min hints at physical blocks of %" PRIu32
		       " bytes; --physical auto uses them\n", device->path,
		       device_suggested_physical(device));
	if (!mode_can_hold(device->sys.disk_dir) && !options->write_cache &&
	    (!options->mode || !mode_holds(options->mode)))
		printf("%s: has no volatile write cache; to enter mode coalesce later without unmounting, attach with --write-cache on\n",
		       device->path);
}

/* Return the table line after "align", for free(). */
static char *table_params(const struct attach_options *options,
			  const struct device *device)
{
	CLEANUP_FREE char *args = message_format("%s", "");
	unsigned int nr = 0;
	size_t i;
	const struct { bool given; const char *name; char *value; } features[] = {
		{ options->mode, "mode",
		  message_format("%s", options->mode ? options->mode : "") },
		{ options->physical, "physical_block_size",
		  message_format("%" PRIu32, options->physical) },
		{ options->offset_given, "alignment_offset",
		  message_format("%" PRIu32, options->offset) },
		{ options->hold_ms, "hold_ms",
		  message_format("%" PRIu64, options->hold_ms) },
		{ options->max_blocks, "max_blocks",
		  message_format("%" PRIu64, options->max_blocks) },
		{ options->write_cache, "write_cache",
		  message_format("%s", options->write_cache ?
				       options->write_cache : "") },
	};

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		char *longer;

		if (features[i].given) {
			longer = message_format("%s %s %s", args,
						features[i].name,
						features[i].value);
			free(args);
			args = longer;
			nr += 2;
		}
		free(features[i].value);
	}
	return nr ? message_format("%u:%u 0 %u%s", major(device->devno),
				   minor(device->devno), nr, args) :
		    message_format("%u:%u 0", major(device->devno),
				   minor(device->devno));
}

/*
 * Print how to reach partitions on the new device. The node's name is read from
 * the kernel, because device-mapper encodes some characters of a name.
 */
static void print_way_to_partitions(const struct dm_align *made)
{
	CLEANUP_FREE char *node = NULL, *word = NULL, *name = NULL;
	struct sysfs_device self;

	if (sysfs_device_open(&self, made->devno)) {
		name = sysfs_text(self.dir, "dm/name");
		sysfs_device_close(&self);
	}
	node = message_format("/dev/mapper/%s", name ? name : made->name);
	word = message_shell_word(node);
	printf("Partitions on it are reached with: kpartx -a %s\n", word);
}

/*
 * Print the new device's figures, as the kernel has them. @partitions: print how
 * to reach partitions, too.
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
	printf("/dev/mapper/%s: on %s, mode %s, physical block %" PRIu32
	       " bytes, alignment offset ", name, device->path, status->mode,
	       status->physical);
	if (status->offset < 0)
		puts("unknown (the kernel says the device is misaligned; --offset sets it)");
	else
		printf("%" PRId64 " bytes\n", status->offset);
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
	CLEANUP_FREE char *params = NULL;
	int result;

	result = choose_geometry(options, device);
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
		print_notes(options, name, device);
	params = table_params(options, device);
	result = dm_align_create(name, device->sectors, params);
	return result ? result :
			print_result(name, device, !options->unattended &&
						   !options->persistent);
}

int attach_open(struct device *device, const char *path)
{
	int result = device_open(device, path);

	if (result)
		return result;
	if (!device->block) {
		message_error("%s: a regular file; 'losetup -f --show %s' makes a block device of it",
			      device->path, device->path);
		result = ALIGNCTL_USAGE;
	} else if (!device->sectors) {
		message_error("%s: has no size; is a medium in the drive?",
			      device->path);
		result = ALIGNCTL_IO;
	}
	if (result)
		device_close(device);
	return result;
}
