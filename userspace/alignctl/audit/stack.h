/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The description of a stack of block devices: what the audit collects, and all
 * that its judgement reads. It can be made up without any device.
 */
#ifndef ALIGNCTL_STACK_H
#define ALIGNCTL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/cause.h"
#include "base/maybe.h"
#include "unit/unit.h"

enum stack_kind {
	STACK_DISK,
	STACK_FILE,		/* an image of a disk */
	STACK_PARTITION,
	STACK_LOOP,
	STACK_MD,
	STACK_LVM,
	STACK_CRYPT,
	STACK_MULTIPATH,
	STACK_ALIGN,
	STACK_DM,		/* any other device-mapper device */
};

/* Who says what the geometry of a device is. */
enum stack_source {
	STACK_SYSFS,		/* of an image, what it is taken to have */
	STACK_IOCTL,
	STACK_LIBBLKID,
	STACK_IDENTIFY,		/* the ATA drive itself */
	STACK_PROBED,		/* what probe has measured: block and offset */
	STACK_NR_SOURCES,
};

enum stack_figure {
	STACK_LOGICAL,
	STACK_PHYSICAL,
	STACK_IO_MIN,
	STACK_OFFSET,		/* alignment offset; -1: misaligned */
	STACK_NR_FIGURES,
};

/**
 * struct stack_view - geometry of a device according to one source
 * @figure: the figures in bytes, by enum stack_figure
 */
struct stack_view {
	struct maybe figure[STACK_NR_FIGURES];
};

/* Why the headers of a device were not read. */
enum stack_unread {
	UNREAD_NOT,		/* they were read, or not asked for */
	UNREAD_ORDINARY,	/* the user may not open it, and is not root */
	UNREAD_FORBIDDEN,	/* nor may root, here */
	UNREAD_GONE,		/* the node or the device is not there */
	UNREAD_REPLACED,	/* the node is of another device */
	UNREAD_SUSPENDED,
	UNREAD_SEVERAL,		/* signatures of several types */
	UNREAD_DAMAGED,		/* a header that its type does not allow */
	UNREAD_CUT,		/* an image ends before the header */
	UNREAD_FAILED,		/* reads fail */
	UNREAD_NR,
};

/**
 * struct stack_content - what a device carries, as its header says
 * @type: libblkid's name of the type, "xfs"; NULL: none, or not read
 * @table: libblkid's name of the partition table, "gpt"; NULL as above
 * @table_sector: sector of a GPT that was made for another one than the disk's
 * @table_start: first byte that a GPT has for partitions
 * @table_end: byte behind the last one that it has for them
 * @parts: number of partitions in the table of a device that is no image, without
 *	extended ones
 * @hybrid: an MBR in front of a GPT has partitions, too
 * @unread: why the headers were not read, for people; NULL: they were
 * @why: reason for @unread; UNREAD_NOT if that is NULL
 * @version: version of a LUKS header; 0: none
 * @start: first byte of the data: pe_start of LVM, data offset of LUKS, md and
 *	bcache, first cluster of FAT and exFAT
 * @sector: smallest unit of a write: XFS sectsz, LUKS sector, superblock of md
 * @block: block of the file system or cache, cluster, page of the swap area
 * @extent: extent of LVM
 * @chunk: chunk of md; 0: the level has none
 * @logical: logical block that md keeps in its superblock since Linux 6.19
 * @bytes: size of the file system
 *
 * Figures are in bytes.
 */
struct stack_content {
	char *type;
	char *table;
	struct maybe table_sector;
	struct maybe table_start;
	struct maybe table_end;
	int parts;
	bool hybrid;
	char *unread;
	enum stack_unread why;
	unsigned int version;
	struct maybe start;
	struct maybe sector;
	struct maybe block;
	struct maybe extent;
	struct maybe chunk;
	struct maybe logical;
	struct maybe bytes;
};

/**
 * struct stack_layer - one device of the stack
 * @kind: kind of the device
 * @name: the kernel's name; of an image, its path; of a partition in one, that
 *	path, ":" and the partition's number
 * @path: path for commands
 * @label: name below /dev/mapper, or NULL
 * @file: backing file of a loop device, or NULL
 * @mapped: a partition that kpartx has mapped
 * @align_block: physical block of an align device's only target
 * @extended: an extended partition of an image, with its true size
 * @devno: device number; 0 for an image
 * @view: geometry by source
 * @kernel_offset: alignment offset that devices above have from the kernel, where
 *	the user gave another one; unknown: it is that of @view
 * @io_opt: optimal I/O size, bytes
 * @max_io: largest request that the kernel sends, bytes
 * @rotational: the disk rotates
 * @zoned: the device has zones, in which blocks cannot be rewritten
 * @partition: number of the partition, of a STACK_DM the one in its UUID; 0: none
 * @type: type of the partition in its table, a GUID or "0x83"; NULL: unknown
 * @start: first byte of a partition on its disk, of a loop device in its file
 * @bytes: size
 * @mounts: mount points; may be NULL if @nr_mounts is 0
 * @nr_mounts: number of mount points
 * @swap: in use as swap
 * @suspended: the device, or one below, is suspended, so that a read waits
 * @no_path: the transport does not reach the disk below now, of several paths all,
 *	so that a read waits, too
 * @aside: the user did not ask about it: a neighbour, whose headers are not
 *	read
 * @content: content that it carries
 * @tab_line: number of the line of aligntab that means the device; 0: none does
 * @claimed_physical: physical block when that line was written, bytes; unknown:
 *	it does not say
 * @claimed_offset: alignment offset then, bytes; unknown: nowhere aligned
 * @unit: unit of a disk, with all claims; no claims: the disk was not asked
 * @ledger: counters of an align device; NULL: of another one, or not readable
 * @below: indices of the devices it lies on, all less than its own index
 * @nr_below: number of the devices it lies on
 */
struct stack_layer {
	enum stack_kind kind;
	char *name;
	char *path;
	char *label;
	char *file;
	bool mapped;
	bool extended;
	struct maybe align_block;
	dev_t devno;
	struct stack_view view[STACK_NR_SOURCES];
	struct maybe kernel_offset;
	struct maybe io_opt;
	struct maybe max_io;
	bool rotational;
	bool zoned;
	int64_t partition;
	char *type;
	struct maybe start;
	struct maybe bytes;
	char **mounts;
	size_t nr_mounts;
	bool swap;
	bool suspended;
	bool no_path;
	bool aside;
	struct stack_content content;
	unsigned int tab_line;
	struct maybe claimed_physical;
	struct maybe claimed_offset;
	struct unit unit;
	struct cause_ledger *ledger;
	size_t *below;
	size_t nr_below;
};

/**
 * struct stack - devices, each behind those that it lies on
 * @nr: number of devices
 * @layer: the devices
 */
struct stack {
	size_t nr;
	struct stack_layer *layer;
};

/* Return a figure of a device as sysfs has it, or as probe has measured it. */
struct maybe stack_sysfs(const struct stack_layer *layer,
			 enum stack_figure figure);
struct maybe stack_probed(const struct stack_layer *layer,
			  enum stack_figure figure);

/* Check for content of a type of libblkid's. */
bool stack_has_type(const struct stack_layer *layer, const char *type);

/* Check for an extended partition, which holds no data of its own. */
bool stack_is_extended(const struct stack_layer *layer);

/* Append a device about which nothing is known; it is valid until the next. */
struct stack_layer *stack_add(struct stack *stack, enum stack_kind kind,
			      const char *name, const char *path);

/* Note that the last device lies on device @below. */
void stack_lies_on(struct stack *stack, size_t below);

/*
 * Return the first device that lies on device @below, with none between, or the next one
 * behind @last, which is such a device; NULL: there is none.
 */
const struct stack_layer *stack_above(const struct stack *stack, size_t below,
				      const struct stack_layer *last);

/*
 * Return the multipath device that a disk is a path of; NULL: it is none. A path
 * is in use by that device alone, and is one of several to the same blocks.
 */
const struct stack_layer *stack_multipath(const struct stack *stack,
					  const struct stack_layer *layer);

void stack_add_mount(struct stack_layer *layer, const char *place);

/* Note why headers were not read. The content owns @text, which is allocated. */
void stack_not_read(struct stack_content *content, enum stack_unread why,
		    char *text);

/*
 * Set aside all devices but those with a number in @wanted and the devices that
 * these lie on, or that lie on them.
 */
void stack_select(struct stack *stack, const dev_t *wanted, size_t nr);

void stack_free(struct stack *stack);

/* Return the word for a kind, "disk". */
const char *stack_kind_name(enum stack_kind kind);

/* Return the name of a source, "sysfs", or the key of a figure. */
const char *stack_source_name(enum stack_source source);
const char *stack_figure_key(enum stack_figure figure);

#endif
