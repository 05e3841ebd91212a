/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /etc/aligntab: the align devices that are there after a reboot, one a line,
 * "NAME DEVICE [OPTION,...]"; see aligntab(5). ALIGNCTL_SYSROOT moves the file,
 * too.
 */
#ifndef ALIGNCTL_ALIGNTAB_H
#define ALIGNCTL_ALIGNTAB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/maybe.h"
#include "mapped/attach.h"

#define ALIGNTAB_FILE		"/etc/aligntab"
#define ALIGNTAB_LINE_MAX	4096U	/* bytes, without the newline */
#define ALIGNTAB_LINES_MAX	1024U	/* good lines */
#define ALIGNTAB_BYTES_MAX	(1U << 20)
#define ALIGNTAB_TIMEOUT	90U	/* seconds, by default */
#define ALIGNTAB_TIMEOUT_MAX	86400

/* How a line names its device. */
enum aligntab_by {
	ALIGNTAB_UUID, ALIGNTAB_LABEL, ALIGNTAB_PARTUUID, ALIGNTAB_PARTLABEL,
	ALIGNTAB_ID, ALIGNTAB_PATH,
};

/**
 * struct aligntab_claim - what a device says of its blocks
 * @physical: physical_block_size, bytes; unknown: no line keeps it
 * @offset: alignment_offset, bytes; unknown: the device is nowhere aligned
 */
struct aligntab_claim {
	struct maybe physical;
	struct maybe offset;
};

/**
 * struct aligntab_line - a good line
 * @number: number of the line in the file, from 1
 * @name: name of the align device, as a user writes it
 * @kernel_name: name of the node below /dev/mapper, with unusual bytes as "\xNN"
 * @device: device as the line names it, without escapes
 * @by: how @device names it
 * @value: value that udev must have for it, with unusual bytes as "\xNN"
 * @text: text of the options, which @options points into
 * @options: settings of the align device
 * @claim: physical block and offset that the device had when the line was written
 * @timeout: how long to wait for the device, seconds
 * @nofail: the boot goes on without the device, and does not wait for it
 * @noauto: the device is not attached at boot or by --all
 * @netdev: the device needs the network
 * @initrd: the device is attached in the initramfs and stays until the end
 */
struct aligntab_line {
	unsigned int number;
	char *name;
	char *kernel_name;
	char *device;
	enum aligntab_by by;
	char *value;
	char *text;
	struct attach_options options;
	struct aligntab_claim claim;
	unsigned int timeout;
	bool nofail;
	bool noauto;
	bool netdev;
	bool initrd;
};

/**
 * struct aligntab - the good lines of a file, in its order
 * @nr: number of good lines
 * @nr_wrong: number of wrong lines
 * @line: the good lines
 */
struct aligntab {
	size_t nr;
	size_t nr_wrong;
	struct aligntab_line *line;
};

/* Return the path of the file, for free(). */
char *aligntab_path(void);

/*
 * Read the file; without one there are no lines. Wrong lines are left out, and
 * reported unless @quiet. Return: enum alignctl_exit; that the file cannot be
 * read has been reported, and leaves no lines.
 */
int aligntab_read(struct aligntab *tab, bool quiet);

/* Take lines from a text, as aligntab_read() does; @path is for messages. */
void aligntab_parse(struct aligntab *tab, const char *path, const char *text,
		    size_t length, bool quiet);
void aligntab_free(struct aligntab *tab);

/* Return the line of that name, in either form, or NULL. */
const struct aligntab_line *aligntab_find(const struct aligntab *tab,
					  const char *name);

/*
 * Return the text with a line added, for free(), and its length in @length;
 * everything else stays byte for byte. NULL: the line would not be a good one,
 * which has been reported. @options may be "".
 */
char *aligntab_with(const char *path, const char *text, size_t *length,
		    const char *name, const char *device, const char *options);

/* Return the text without line @number, for free(), as aligntab_with() does. */
char *aligntab_without(const char *text, size_t *length, unsigned int number);

/**
 * struct aligntab_added - what adding a line has made besides the line
 * @file: the file, which was not there
 * @newline: the newline of the line before
 */
struct aligntab_added {
	bool file;
	bool newline;
};

/*
 * Add a line to the file, which is replaced as a whole: after a failure, the old
 * file stays. @added: set, for aligntab_take_back(). Return: enum alignctl_exit;
 * errors have been reported.
 */
int aligntab_add(const char *name, const char *device, const char *options,
		 struct aligntab_added *added);

/*
 * Remove the line that aligntab_add() has added, so that the file is as it was
 * before, and none where there was none; what others have written meanwhile
 * stays. Errors have been reported.
 */
void aligntab_take_back(const char *name, const struct aligntab_added *added);

/*
 * Remove the line of that name, if there is one; @removed: set to whether there
 * was. Return: as aligntab_add().
 */
int aligntab_remove(const char *name, bool *removed);

/*
 * Check whether the kernel's command line says aligntab=no, for a system that
 * does not boot otherwise: then no program acts on the file.
 */
bool aligntab_off(void);

#endif
