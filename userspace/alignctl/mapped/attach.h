/* SPDX-License-Identifier: GPL-2.0 */
/* Create an align device: its settings, the checks before, what to say. */
#ifndef ALIGNCTL_ATTACH_H
#define ALIGNCTL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "ledger/mode.h"
#include "sysfs/device.h"
#include "geometry.h"

/* What can be set when a device is created. */
enum attach_setting {
	ATTACH_MODE, ATTACH_PHYSICAL, ATTACH_OFFSET, ATTACH_LOGICAL,
	ATTACH_HOLD_MS, ATTACH_MAX_BLOCKS, ATTACH_WRITE_CACHE,
	ATTACH_NR_SETTINGS,
};

/* The rows of the settings, for a table of options. */
#define ATTACH_SETTING_ROWS						\
	[ATTACH_MODE] = OPTION("mode", ARG_NAME("MODE", mode_names),	\
			       MODES(MODES_DEFAULT, MODES_OR)),	\
	[ATTACH_PHYSICAL] = OPTION("physical",				\
				   ARG_NUMBER_AS("N|auto", ALIGN_SECTOR_SIZE, \
						 ALIGN_MAX_BLOCK_SIZE,	\
						 .power = true, .also = "auto"), \
				   "physical block size, bytes; auto: io_min of an SSD"), \
	[ATTACH_OFFSET] = OPTION("offset", ARG_OFFSET, "alignment offset, bytes"), \
	[ATTACH_LOGICAL] = OPTION("logical",				\
				  ARG_NUMBER_AS("512", ALIGN_SECTOR_SIZE, \
						ALIGN_SECTOR_SIZE),	\
				  "offer logical blocks of 512 bytes (mode: pad)"), \
	[ATTACH_HOLD_MS] = MODE_ROW_HOLD_MS,				\
	[ATTACH_MAX_BLOCKS] = MODE_ROW_MAX_BLOCKS,			\
	[ATTACH_WRITE_CACHE] = MODE_ROW_WRITE_CACHE

/* The same rows as a table: a setting is its index. */
extern const struct option_row attach_settings[];

/* The names of the settings in a table line. */
extern const char *const attach_arguments[ATTACH_NR_SETTINGS];

/**
 * struct attach_options - the settings of a device to create
 * @given: argument of each setting as it was written, or NULL
 * @mode: mode, or NULL for the default
 * @write_cache: "on" or "off", or NULL for the default
 * @hold_ms: longest time to hold a block, ms; 0: the default
 * @max_blocks: limit of blocks in memory; 0: the default
 * @physical: physical block, bytes; 0: the device's own
 * @offset: alignment offset, bytes, if @offset_given
 * @logical: logical block to offer, bytes; 0: the device's own
 * @physical_auto: take the physical block from io_min
 * @offset_given: @offset is set
 * @persistent: the caller keeps the device for good, and deals with LVM
 * @unattended: create the device without notes for a person
 */
struct attach_options {
	const char *given[ATTACH_NR_SETTINGS];
	const char *mode;
	const char *write_cache;
	uint64_t hold_ms;
	uint64_t max_blocks;
	uint32_t physical;
	uint32_t offset;
	uint32_t logical;
	bool physical_auto;
	bool offset_given;
	bool persistent;
	bool unattended;
};

/*
 * Take the argument of a setting, which must outlive @options. Return: NULL, or
 * what the argument must be.
 */
const char *attach_setting(enum attach_setting setting, const char *argument,
			   struct attach_options *options);

/*
 * Set what other settings imply: --logical means mode pad unless a mode is given.
 * Return: whether there was something to set.
 */
bool attach_complete(struct attach_options *options);

/* Open a device to attach; refuse files. Return: as device_open(). */
int attach_open(struct device *device, const char *path);

/* Return the default name, made from the device's, for free(). */
char *attach_default_name(const struct device *device);

/*
 * Check by O_EXCL, the kernel's own test, that the device is not in use.
 * Return: enum alignctl_exit; errors have been reported, with the users.
 */
int attach_check_free(const struct device *device);

/*
 * Create an align device called @name, of at most DM_MAX_NAME bytes, over all
 * of @device, and print its figures. Return: enum alignctl_exit; errors have
 * been reported.
 */
int attach_create(struct attach_options *options, const char *name,
		  const struct device *device);

/*
 * Turn a mapped device whose table is all linear into an align device while it
 * is in use. @name: the name that was given, which is refused; NULL: none.
 * Return: enum alignctl_exit; errors have been reported.
 */
int attach_online(const struct attach_options *options, const char *name,
		  const struct device *device);

#endif
