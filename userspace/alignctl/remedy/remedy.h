/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The remedies: every command that alignctl tells a person to run. remedy.c has
 * the table; no command is put together elsewhere.
 */
#ifndef ALIGNCTL_REMEDY_H
#define ALIGNCTL_REMEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum remedy_id {
	REMEDY_NONE,		/* words only, which name no command */
	REMEDY_MOVE_PARTITION,
	REMEDY_MOVE_MAPPED,
	REMEDY_SHRINK_PARTITION,
	REMEDY_SHRINK_MAPPED,
	REMEDY_LOOP_SECTORS,
	REMEDY_LUKS_SECTORS,
	REMEDY_LUKS_REMAKE,
	REMEDY_LUKS_DATA,
	REMEDY_LVM_EXTENT,
	REMEDY_MKFS_XFS,
	REMEDY_MKFS_EXT,
	REMEDY_ATTACH_BLOCKS,
	REMEDY_ATTACH_UNIT,
	REMEDY_ATTACH_LOGICAL,
	REMEDY_LARGEST_REQUEST,
	/* of messages */
	REMEDY_MAP_PARTITIONS,
	REMEDY_MAKE_LOOP,
	REMEDY_SET_MODE,
	REMEDY_DROP_FAILED,
	REMEDY_DETACH,
	REMEDY_DETACH_GONE,
	REMEDY_ATTACH,
	REMEDY_ATTACH_ONLINE,
	REMEDY_ATTACH_TAB,
	REMEDY_DM_RESUME,
	REMEDY_DM_CLEAR,
	REMEDY_MOUNT_TRACEFS,
	REMEDY_FIND_USERS,
	REMEDY_INITRAMFS,
	REMEDY_PROBE,
	REMEDY_REPLAY,
	REMEDY_CONVERT,
	REMEDY_CONFORM_AFTER,
	REMEDY_CONFORM_RESTORE,
	REMEDY_RESTORE_AREA,
	REMEDY_NR,
};

/* What a remedy does to what the device carries. */
enum remedy_harm {
	REMEDY_KEEPS,		/* nothing is destroyed */
	REMEDY_DESTROYS,	/* the content is lost: restore it from a backup */
	REMEDY_DROPS,		/* writes that are held and cannot be written */
};

/**
 * struct remedy - one row of the table
 * @name: the remedy's word in documents and tests, "move-partition"
 * @message: the message that it is for, or what prints it; NULL: rules of check have it
 * @when: when it applies, for people
 * @harm: content that the command destroys
 * @unmount: nothing may use the device meanwhile
 * @command: the command, for a POSIX shell, with words of struct remedy_words
 *	in braces: "{device}"
 * @text: words for people, with "{command}" where the command is; NULL: the
 *	command alone mends
 */
struct remedy {
	const char *name;
	const char *message;
	const char *when;
	enum remedy_harm harm;
	bool unmount;
	const char *command;
	const char *text;
};

/**
 * struct remedy_words - the words that a command is completed by
 * @device: {device}, the path of the device, or of an image
 * @name: {name}, the name of a device-mapper device, or of a new file
 * @file: {file}, the path of another file that the command reads
 * @mode: {mode}, a mode of align
 * @type: {type}, a type of file system, a method, a workload or a format
 * @step: {step}, sectors that something moves by, with its sign
 * @number: {number}, the number of a partition, or a size in a unit of its own
 * @size: {size}, bytes
 * @offset: {offset}, bytes
 * @image: @device is a regular file
 * @image_sector: sector that the file is taken to have, bytes; 0: 512
 * @image_start: first byte of a part of the file
 * @image_bytes: size of that part; 0: the whole file
 * @block_device: the command takes no regular file
 *
 * A command for a file whose sectors are not of 512 bytes, for a part of one, or
 * that takes block devices only runs on a loop device made for it.
 */
struct remedy_words {
	const char *device;
	const char *name;
	const char *file;
	const char *mode;
	const char *type;
	int64_t step;
	int64_t number;
	int64_t size;
	int64_t offset;
	bool image;
	int64_t image_sector;
	int64_t image_start;
	int64_t image_bytes;
	bool block_device;
};

/*
 * Return @command with its words in place, for free(), as a shell reads it: of
 * this table, or of the one of layouts (layout.h).
 */
char *remedy_fill(const char *command, const struct remedy_words *words);

/* Return a row of the table, or NULL for REMEDY_NONE. */
const struct remedy *remedy_of(enum remedy_id id);

/*
 * Return the command of a remedy, for free(), as a shell reads it; NULL: a word
 * of it has characters that a terminal does not show as they are.
 */
char *remedy_command(enum remedy_id id, const struct remedy_words *words);

/*
 * Return the command of a message, for free(): as remedy_command(), with any
 * characters, which message_error() makes visible.
 */
char *remedy_of_words(enum remedy_id id, const struct remedy_words *words);
char *remedy_of_device(enum remedy_id id, const char *device);
char *remedy_of_name(enum remedy_id id, const char *name);
char *remedy_of_machine(enum remedy_id id);
char *remedy_of_mode(const char *name, const char *mode);

/* Return "nothing", "the content" and the like. */
const char *remedy_harm_name(enum remedy_harm harm);

#endif
