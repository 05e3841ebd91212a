// SPDX-License-Identifier: GPL-2.0
/*
 * The table of remedies, and the commands that are made from it by filling in and
 * quoting words.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "remedy/remedy.h"

#define IMAGE_SECTOR	512	/* that tools take a regular file to have */

/* See remedy.h. Each row has a test that runs it: tests/remedy. */
static const struct remedy remedies[] = {
	[REMEDY_MOVE_PARTITION] = {
		.name = "move-partition",
		.when = "the table is DOS, or GPT without a hybrid MBR, and all that the disk carries, the partition is no logical one and holds no partitions, and the free sectors beside it suffice",
		.unmount = true,
		.command = "echo '{step},' | sfdisk --move-data {device} -N {number}",
	},
	[REMEDY_MOVE_MAPPED] = {
		.name = "move-mapped-partition",
		.when = "as move-partition, of a partition that kpartx has mapped",
		.unmount = true,
		.command = "kpartx -d {device} && echo '{step},' | sfdisk --move-data {device} -N {number} && kpartx -a {device}",
	},
	[REMEDY_SHRINK_PARTITION] = {
		.name = "shrink-partition",
		.when = "the table is DOS, or GPT without a hybrid MBR, and all that the disk carries, and the partition has no content",
		.unmount = true,
		.command = "echo ',{size}' | sfdisk {device} -N {number}",
	},
	[REMEDY_SHRINK_MAPPED] = {
		.name = "shrink-mapped-partition",
		.when = "as shrink-partition, of a partition that kpartx has mapped",
		.unmount = true,
		.command = "kpartx -d {device} && echo ',{size}' | sfdisk {device} -N {number} && kpartx -a {device}",
	},
	[REMEDY_LOOP_SECTORS] = {
		.name = "loop-sectors",
		.when = "the loop device has no partition table and nothing above it, and no content or a file system whose smallest write is a whole block of the disk",
		.unmount = true,
		.command = "losetup --sector-size {size} {device}",
	},
	[REMEDY_LUKS_SECTORS] = {
		.name = "luks-sectors",
		.when = "LUKS 2 that is open, with a file system in it that has no smaller blocks; cryptsetup refuses a closed one",
		.unmount = true,
		.command = "cryptsetup reencrypt --sector-size 4096 {device}",
	},
	[REMEDY_LUKS_REMAKE] = {
		.name = "luks-remake",
		.when = "LUKS 1, whose sectors have always 512 bytes",
		.harm = REMEDY_DESTROYS,
		.unmount = true,
		.command = "cryptsetup luksFormat --type luks2 --sector-size 4096 {device}",
		.text = "LUKS 1 has no larger ones: back up, {command}, restore",
	},
	[REMEDY_LUKS_DATA] = {
		.name = "luks-data",
		.when = "LUKS whose data begin inside a physical block",
		.harm = REMEDY_DESTROYS,
		.unmount = true,
		.command = "cryptsetup luksFormat --type luks2 --offset 32768 {device}",
		.text = "all data would move: back up, {command}, restore",
	},
	[REMEDY_LVM_EXTENT] = {
		.name = "lvm-extent",
		.when = "all physical and logical volumes of the group are multiples of the physical block, or vgchange refuses",
		.command = "vgchange --physicalextentsize {size}b $(pvs --noheadings -o vg_name {device})",
		.text = "if all volumes of the group, physical ones too, are whole blocks: {command}; else make a new group",
	},
	[REMEDY_MKFS_XFS] = {
		.name = "mkfs-xfs",
		.when = "XFS with sectors below a physical block of at most a page",
		.harm = REMEDY_DESTROYS,
		.unmount = true,
		.command = "mkfs.xfs -f -s size={size} {device}",
		.text = "fixed when the file system is made: back up, {command}, restore",
	},
	[REMEDY_MKFS_EXT] = {
		.name = "mkfs-ext",
		.when = "ext2, ext3 or ext4 with blocks below a physical block of at most a page",
		.harm = REMEDY_DESTROYS,
		.unmount = true,
		.command = "mkfs.{type} -b {size} {device}",
		.text = "fixed when the file system is made: back up, {command}, restore",
	},
	[REMEDY_ATTACH_BLOCKS] = {
		.name = "attach-blocks",
		.when = "the drive was measured, is published or says itself to have other blocks than the kernel knows",
		.unmount = true,
		.command = "alignctl attach {device} --physical {size} --offset {offset}",
	},
	[REMEDY_ATTACH_UNIT] = {
		.name = "attach-unit",
		.when = "an SSD whose minimum I/O size is above its physical block",
		.unmount = true,
		.command = "alignctl attach {device} --physical auto",
	},
	[REMEDY_ATTACH_LOGICAL] = {
		.name = "attach-logical",
		.when = "a GPT or file system made for sectors of 512 bytes is on a device of larger ones that is not zoned",
		.unmount = true,
		.command = "alignctl attach {device} --logical 512",
	},
	[REMEDY_LARGEST_REQUEST] = {
		.name = "largest-request",
		.when = "writes are cut inside a physical block, as the largest request is no multiple of one",
		.command = "echo {size} > {device}",
	},
	[REMEDY_MAP_PARTITIONS] = {
		.name = "map-partitions",
		.message = "attach",
		.when = "a device that has partitions was attached",
		.command = "kpartx -a {device}",
	},
	[REMEDY_MAKE_LOOP] = {
		.name = "make-loop",
		.message = "attach",
		.when = "a regular file was given, with sectors of 512 bytes",
		.command = "losetup -f --show {device}",
	},
	[REMEDY_SET_MODE] = {
		.name = "set-mode",
		.message = "attach --tab, verify --live",
		.when = "an align device is in another mode than it should be",
		.command = "alignctl set {name} --mode {mode}",
	},
	[REMEDY_DROP_FAILED] = {
		.name = "drop-failed",
		.message = "a degraded device",
		.when = "the device below cannot be repaired",
		.harm = REMEDY_DROPS,
		.command = "alignctl set {name} --drop-failed",
		.text = "drop the writes with '{command}'",
	},
	[REMEDY_DETACH] = {
		.name = "detach",
		.message = "set --mode coalesce, set --resize",
		.when = "an align device has to be made with other features, or what it maps has to change",
		.unmount = true,
		.command = "alignctl detach {name}",
	},
	[REMEDY_DETACH_GONE] = {
		.name = "detach-gone",
		.message = "a device whose device below is gone",
		.when = "the device below does not come back",
		.harm = REMEDY_DROPS,
		.unmount = true,
		.command = "alignctl detach {name} --force",
		.text = "'{command}', which drops what is held",
	},
	[REMEDY_ATTACH] = {
		.name = "attach",
		.message = "attach --online",
		.when = "the device in use is no linear one, and lies on a device that is none",
		.unmount = true,
		.command = "alignctl attach {device}",
	},
	[REMEDY_ATTACH_ONLINE] = {
		.name = "attach-online",
		.message = "attach --online, verify --live, set --resize",
		.when = "a device in use is linear",
		.command = "alignctl attach --online {device}",
	},
	[REMEDY_ATTACH_TAB] = {
		.name = "attach-tab",
		.message = "the kernel log, from udev",
		.when = "the device of a line of aligntab is back, and its align device was detached",
		.command = "alignctl attach --tab {name}",
	},
	[REMEDY_DM_RESUME] = {
		.name = "dm-resume",
		.message = "attach --online, detach, verify --live",
		.when = "a device is suspended, and the program that did so is gone",
		.command = "dmsetup resume {name}",
	},
	[REMEDY_DM_CLEAR] = {
		.name = "dm-clear",
		.message = "attach --online, detach",
		.when = "a table was loaded and not resumed, by a program that is gone",
		.command = "dmsetup clear {name}",
	},
	[REMEDY_MOUNT_TRACEFS] = {
		.name = "mount-tracefs",
		.message = "record, top",
		.when = "tracefs is not mounted",
		.command = "mount -t tracefs tracefs {device}",
	},
	[REMEDY_FIND_USERS] = {
		.name = "find-users",
		.message = "detach",
		.when = "a program has the device open",
		.command = "fuser -v {device}",
	},
	[REMEDY_INITRAMFS] = {
		.name = "initramfs",
		.message = "attach --persist, attach --tab, detach --persist",
		.when = "a line of aligntab has changed, and initramfs-tools is installed",
		.command = "update-initramfs -u -k all",
	},
	[REMEDY_PROBE] = {
		.name = "probe-method",
		.message = "replay, check --layout",
		.when = "a method was given to replay, with a device, or no source but the kernel states the unit of a drive",
		.command = "alignctl probe {type} {device}",
	},
	[REMEDY_REPLAY] = {
		.name = "replay-workload",
		.message = "probe",
		.when = "a workload was given to probe, with a device",
		.harm = REMEDY_DESTROYS,
		.unmount = true,
		.command = "alignctl replay {type} --on {device}",
		.text = "a workload overwrites the device; back up, then: {command}",
	},
	[REMEDY_CONVERT] = {
		.name = "convert-trace",
		.message = "record --convert",
		.when = "the former option was given, with --output",
		.command = "alignctl convert {device} --output {name} --to {type}",
	},
	[REMEDY_CONFORM_AFTER] = {
		.name = "conform-after",
		.message = "conform --prepare",
		.when = "the requests have ended, and the power is cut",
		.command = "alignctl conform {device} --after {name}",
	},
	[REMEDY_CONFORM_RESTORE] = {
		.name = "conform-after-save",
		.message = "conform --prepare --save",
		.when = "the same, and the area is to be restored",
		.command = "alignctl conform {device} --after {name} --save {file}",
	},
	[REMEDY_RESTORE_AREA] = {
		.name = "restore-area",
		.message = "conform --save",
		.when = "conform was killed, or could not restore what it had saved",
		.unmount = true,
		.command = "dd if={file} of={device} bs=1M seek={offset} oflag=seek_bytes conv=notrunc,fsync",
	},
};

const struct remedy *remedy_of(enum remedy_id id)
{
	return id == REMEDY_NONE ? NULL : &remedies[id];
}

const char *remedy_harm_name(enum remedy_harm harm)
{
	static const char *const names[] = {
		[REMEDY_KEEPS] = "nothing",
		[REMEDY_DESTROYS] = "the content",
		[REMEDY_DROPS] =
			"acknowledged writes that cannot be written",
	};

	return names[harm];
}

/* Return @word as a shell and a program read it, which is no option. */
static char *quote_operand(const char *word)
{
	CLEANUP_FREE char *path = message_format("%s%s",
						 *word == '-' ? "./" : "",
						 word);

	return message_shell_word(path);
}

/* Print the name of a device-mapper device, which may have any characters. */
static void print_name(FILE *file, const char *name)
{
	CLEANUP_FREE char *word = message_shell_word(name);

	fputs(word, file);
}

static bool is_word(const char *name, size_t length, const char *wanted)
{
	return strlen(wanted) == length && !strncmp(name, wanted, length);
}

/* Print the word of a name in braces; @device is what {device} stands for. */
static void print_word(FILE *file, const char *name, size_t length,
		       const struct remedy_words *words, const char *device)
{
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = {
		{ "number", words->number }, { "size", words->size },
		{ "offset", words->offset },
	};
	size_t i;

	if (is_word(name, length, "device"))
		fputs(device, file);
	else if (is_word(name, length, "type"))
		fputs(words->type, file);
	else if (is_word(name, length, "mode"))
		fputs(words->mode, file);
	else if (is_word(name, length, "name"))
		print_name(file, words->name);
	else if (is_word(name, length, "file"))
		print_name(file, words->file);
	else if (is_word(name, length, "step"))
		fprintf(file, "%+" PRId64, words->step);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (is_word(name, length, numbers[i].name))
			fprintf(file, "%" PRId64, numbers[i].value);
}

/* Print a command with its words in place. */
static void print_command(FILE *file, const char *command,
			  const struct remedy_words *words, const char *device)
{
	const char *at = command, *open, *close;

	while ((open = strchr(at, '{')) && (close = strchr(open, '}'))) {
		fwrite(at, 1, (size_t)(open - at), file);
		print_word(file, open + 1, (size_t)(close - open - 1), words,
			   device);
		at = close + 1;
	}
	fputs(at, file);
}

/* Print what makes a loop device of the file, or of a part of it, for a while. */
static void print_losetup(FILE *file, const struct remedy_words *words,
			  const char *device)
{
	fputs("(loop=$(losetup --find --show", file);
	if (words->image_sector > IMAGE_SECTOR)
		fprintf(file, " --sector-size %" PRId64, words->image_sector);
	if (words->image_bytes)
		fprintf(file, " --offset %" PRId64 " --sizelimit %" PRId64,
			words->image_start, words->image_bytes);
	fprintf(file, " %s) && trap 'losetup --detach \"$loop\"' EXIT && ",
		device);
}

/* Check for a file that the command cannot be run on as it is. */
static bool needs_loop(const struct remedy_words *words)
{
	return words->image &&
	       (words->block_device || words->image_bytes ||
		words->image_sector > IMAGE_SECTOR);
}

char *remedy_fill(const char *command, const struct remedy_words *words)
{
	CLEANUP_FREE char *device = quote_operand(words->device ? words->device : "");
	char *text = NULL;
	size_t length;
	FILE *file = memory_or_exit(open_memstream(&text, &length));

	if (needs_loop(words)) {
		print_losetup(file, words, device);
		print_command(file, command, words, "\"$loop\"");
		fputs(")", file);
	} else {
		print_command(file, command, words, device);
	}
	fclose(file);
	return memory_or_exit(text);
}

static char *complete_command(enum remedy_id id, const struct remedy_words *words)
{
	return remedy_fill(remedies[id].command, words);
}

char *remedy_of_words(enum remedy_id id, const struct remedy_words *words)
{
	return complete_command(id, words);
}

char *remedy_of_device(enum remedy_id id, const char *device)
{
	return complete_command(id, &(struct remedy_words) { .device = device });
}

char *remedy_of_machine(enum remedy_id id)
{
	return complete_command(id, &(struct remedy_words) { 0 });
}

char *remedy_of_name(enum remedy_id id, const char *name)
{
	return complete_command(id, &(struct remedy_words) { .name = name });
}

char *remedy_of_mode(const char *name, const char *mode)
{
	return complete_command(REMEDY_SET_MODE, &(struct remedy_words) {
		.name = name, .mode = mode,
	});
}

char *remedy_command(enum remedy_id id, const struct remedy_words *words)
{
	char *text = complete_command(id, words);
	CLEANUP_FREE char *visible = message_visible(text);

	if (strcmp(visible, text)) {
		free(text);
		return NULL;
	}
	return text;
}
