/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts: what to give to the tools that make something new on a drive, so
 * that it writes whole units. layout.c has the table. The functions are pure:
 * they know a place and nothing of this machine.
 */
#ifndef ALIGNCTL_LAYOUT_H
#define ALIGNCTL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/maybe.h"
#include "remedy/remedy.h"

/**
 * struct layout_place - what a layout is made on
 * @unit: unit of the drive, bytes: a power of two from 512 to 1 MiB
 * @logical: logical block of the device, bytes: 512 to @unit
 * @offset: first byte of the device at which a unit begins; unknown: nothing
 *	says where they begin
 * @bytes: size of the device; unknown: nothing says it
 * @partition: the device is a partition, and gets no table of its own
 */
struct layout_place {
	int64_t unit;
	int64_t logical;
	struct maybe offset;
	struct maybe bytes;
	bool partition;
};

/**
 * struct layout_advice - what to give for a layout
 * @name: the layout's word, "xfs-block"
 * @writes: size of its smallest ordinary writes, bytes
 * @give: the command, or the settings, for free(); NULL: there is none for this
 *	place, as @left says
 * @command: @give is a command for a POSIX shell, which makes the layout
 * @needs: condition for using it, or NULL
 * @left: words for the writes that still cover a unit in part, for free(), or
 *	NULL
 */
struct layout_advice {
	const char *name;
	int64_t writes;
	char *give;
	bool command;
	const char *needs;
	char *left;
};

/* Return the number of rows of the table. */
size_t layout_nr(void);

/*
 * Say what to give for the layout of a row, on the device of @device. Return:
 * false, with nothing set, if the row is not for such a place. The caller frees
 * @give and @left.
 */
bool layout_advise(size_t row, const struct layout_place *place,
		   const struct remedy_words *device,
		   struct layout_advice *advice);

#endif
