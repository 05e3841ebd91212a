// SPDX-License-Identifier: GPL-2.0
/*
 * Fill in a stack: walk sysfs from a device up and down, join the tables of mounts
 * and swap, and ask the kernel, libblkid and the drive about each layer.
 */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libmount.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "audit/collect.h"
#include "audit/content.h"
#include "audit/header.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "ledger/ledger.h"
#include "sysfs/device.h"
#include "sysfs/file_disk.h"
#include "sysfs/sysfs.h"
#include "unit/ata.h"
#include "unit/unit.h"
#include "geometry.h"

#define DEPTH_MAX	16	/* deepest stack; ends a loop of devices */
#define NOT_THERE	SIZE_MAX /* index of a device that is gone */
/* libblkid's signature of a swap area ends a page. */
#define SWAP_MAGIC	10
/* Type of a SCSI device with CDs. */
#define SCSI_TYPE_ROM	5

/**
 * struct part - a part of an open device or image
 * @fd: the device
 * @start: first byte of the part
 * @logical: logical block of an image; 0: the device knows its own
 * @error: of the last read that failed, for strerror(); 0: none did
 */
struct part {
	int fd;
	uint64_t start;
	uint32_t logical;
	int error;
};

static bool read_part(void *context, uint64_t offset, void *buffer,
		      size_t length)
{
	struct part *part = context;
	ssize_t got = pread(part->fd, buffer, length,
			    (off_t)(part->start + offset));

	if (got >= 0 && (size_t)got == length)
		return true;
	part->error = got < 0 ? errno : ENODATA;
	return false;
}

/* Return a value of libblkid, owned by the probe, or NULL. */
static const char *get_value(blkid_probe probe, const char *name)
{
	const char *text;

	return blkid_probe_lookup_value(probe, name, &text, NULL) ? NULL : text;
}

static struct maybe parse_number(const char *text)
{
	uint64_t found;

	if (!text || !decimal_read(&text, INT64_MAX, &found) || *text)
		return MAYBE_UNKNOWN;
	return maybe_of((int64_t)found);
}

/*
 * Take a block that libblkid has read, which it need not have checked. Return:
 * false if it is no size.
 */
static bool take_block(struct stack_content *content, const char *text)
{
	int64_t block;

	if (!text)
		return true;
	if (!maybe_get(parse_number(text), &block) || block < ALIGN_SECTOR_SIZE ||
	    block % ALIGN_SECTOR_SIZE)
		return false;
	content->block = maybe_of(block);
	return true;
}

/*
 * Say where the GPT is behind a protective MBR that hides all partitions from
 * libblkid: it is for other sectors, or not valid.
 */
static void take_protective(struct stack_content *content,
			    const struct header_source *source,
			    uint32_t logical)
{
	if (header_gpt(source, logical, content) || content->type)
		return;
	if (header_gpt_room(source, logical, content) &&
	    maybe_above(content->table_end, (int64_t)source->size))
		stack_not_read(content, UNREAD_CUT, message_format(
			"its GPT is for at least %" PRId64
			" bytes, and there are %" PRIu64,
			maybe_or(content->table_end, 0), source->size));
	else
		stack_not_read(content, UNREAD_DAMAGED, message_format(
			"no valid GPT behind the protective MBR"));
}

/* Take what libblkid has found, and the figures of the header. */
static void take_content(struct stack_content *content, blkid_probe probe,
			 const struct header_source *source)
{
	const struct part *part = source->context;
	const char *type = get_value(probe, "TYPE");
	const struct content_type *row = content_type_of(type);
	const char *table = get_value(probe, "PTTYPE");
	int64_t magic;

	if (type)
		content->type = memory_or_exit(strdup(type));
	if (table) {
		content->table = memory_or_exit(strdup(table));
		/* a protective MBR, and no GPT where the sectors say */
		if (!strcmp(table, "PMBR"))
			take_protective(content, source,
					blkid_probe_get_sectorsize(probe));
		if (!strcmp(table, "gpt")) {
			header_gpt_room(source,
					blkid_probe_get_sectorsize(probe),
					content);
			content->hybrid = header_is_hybrid(source);
		}
	}
	if (!type || !row)
		return;
	/* what has a reader may have its sector there */
	if (row->rule == CONTENT_BLOCK && !row->read &&
	    !take_block(content, get_value(probe, "BLOCK_SIZE"))) {
		stack_not_read(content, UNREAD_DAMAGED, message_format(
			"no valid header of %s", type));
		return;
	}
	if (!strncmp(type, "sw", 2) &&
	    maybe_get(parse_number(get_value(probe, "SBMAGIC_OFFSET")), &magic))
		content->block = maybe_of(magic + SWAP_MAGIC);
	if (!row->read || row->read(source, content))
		return;
	if (part->error)
		stack_not_read(content, UNREAD_FAILED, message_format(
			"a read of the header of %s failed: %s", type,
			strerror(part->error)));
	else
		stack_not_read(content, UNREAD_DAMAGED, message_format(
			"no valid header of %s", type));
}

/* Make a probe of a part that looks for file systems and partition tables. */
static blkid_probe new_probe(const struct part *part, uint64_t size)
{
	blkid_probe probe = memory_or_exit(blkid_new_probe());

	if (blkid_probe_set_device(probe, part->fd, (blkid_loff_t)part->start,
				   (blkid_loff_t)size)) {
		blkid_free_probe(probe);
		return NULL;
	}
	if (part->logical)
		blkid_probe_set_sectorsize(probe, part->logical);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE |
					  BLKID_SUBLKS_MAGIC);
	blkid_probe_enable_partitions(probe, 1);
	return probe;
}

static void read_content(struct stack_content *content, struct part *part,
			 uint64_t size)
{
	struct header_source source = { read_part, part, size };
	uint8_t sector[ALIGN_SECTOR_SIZE];
	blkid_probe probe = new_probe(part, size);

	switch (probe ? blkid_do_safeprobe(probe) : -1) {
	case 0:
		take_content(content, probe, &source);
		break;
	case 1:
		break;
	case -2:
		stack_not_read(content, UNREAD_SEVERAL, message_format(
			"libblkid finds several signatures"));
		break;
	default:
		read_part(part, 0, sector, sizeof(sector));
		stack_not_read(content, UNREAD_FAILED, message_format(
			"libblkid cannot read the device%s%s", part->error ? ": " : "",
			part->error ? strerror(part->error) : ""));
	}
	if (probe)
		blkid_free_probe(probe);
}

static void ask_libblkid(struct stack_view *view, int fd)
{
	const struct part all = { .fd = fd };
	blkid_probe probe = new_probe(&all, 0);
	blkid_topology found;

	if (!probe)
		return;
	found = blkid_probe_get_topology(probe);
	if (found) {
		view->figure[STACK_LOGICAL] = maybe_of((int64_t)
			blkid_topology_get_logical_sector_size(found));
		view->figure[STACK_PHYSICAL] = maybe_of((int64_t)
			blkid_topology_get_physical_sector_size(found));
		view->figure[STACK_IO_MIN] = maybe_of((int64_t)
			blkid_topology_get_minimum_io_size(found));
		view->figure[STACK_OFFSET] = maybe_of((int64_t)
			blkid_topology_get_alignment_offset(found));
	}
	blkid_free_probe(probe);
}

static void ask_kernel(struct stack_view *view, int fd)
{
	unsigned int size;
	int figure;

	if (!ioctl(fd, BLKSSZGET, &figure))
		view->figure[STACK_LOGICAL] = maybe_of(figure);
	if (!ioctl(fd, BLKPBSZGET, &size))
		view->figure[STACK_PHYSICAL] = maybe_of(size);
	if (!ioctl(fd, BLKIOMIN, &size))
		view->figure[STACK_IO_MIN] = maybe_of(size);
	if (!ioctl(fd, BLKALIGNOFF, &figure))
		view->figure[STACK_OFFSET] = maybe_of(figure);
}

/* Take what an ATA drive says of its sectors. */
static void ask_drive(struct stack_view *view, const char *dir)
{
	struct ata_identity ata;

	ata_identify(dir, &ata);
	view->figure[STACK_LOGICAL] = ata.sectors.logical;
	view->figure[STACK_PHYSICAL] = ata.sectors.physical;
	view->figure[STACK_OFFSET] = ata.sectors.offset;
	free(ata.model);
	free(ata.firmware);
}

/* Take all claims about a disk's unit, and what probe has kept of it. */
static void ask_unit(struct stack_layer *layer)
{
	struct stack_view *view = &layer->view[STACK_PROBED];
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	size_t i;

	if (layer->kind != STACK_DISK ||
	    !sysfs_device_open(&sys, layer->devno))
		return;
	unit_ask(&layer->unit, &sys);
	for (i = 0; i < layer->unit.nr_rotations; i++)
		if (layer->unit.rotation[i].unread)
			message_warning("%s; this result is not used",
					layer->unit.rotation[i].unread);
	for (i = 0; i < layer->unit.nr; i++) {
		const struct unit_claim *claim = &layer->unit.claim[i];

		if (claim->source == UNIT_MEASURED && claim->unread)
			message_warning("%s; this result is not used", claim->unread);
	}
	view->figure[STACK_PHYSICAL] = unit_claimed(&layer->unit, UNIT_MEASURED);
	view->figure[STACK_OFFSET] = layer->unit.offset;
}

/* Return why a device cannot be opened. */
static enum stack_unread why_closed(int error)
{
	if (error == EACCES || error == EPERM)
		return geteuid() ? UNREAD_ORDINARY : UNREAD_FORBIDDEN;
	return error == ENOENT || error == ENXIO || error == ENODEV ?
		UNREAD_GONE : UNREAD_FAILED;
}

/* Check whether a read of a device may wait for ever. */
static bool waits(const struct stack_layer *layer)
{
	return layer->suspended || layer->no_path;
}

/* Open the device and add what that shows. */
static void look_inside(struct stack_layer *layer)
{
	CLEANUP_FREE char *path = sysfs_path("%s", layer->path);
	CLEANUP_CLOSE int fd = -1;
	struct part part;
	struct stat found;

	if (waits(layer)) {
		stack_not_read(&layer->content, UNREAD_SUSPENDED,
			       message_format("%s", layer->no_path ?
					      "no path to the disk is up" :
					      "the device is suspended"));
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	part = (struct part) { .fd = fd };
	if (fd < 0 || fstat(fd, &found)) {
		stack_not_read(&layer->content, why_closed(errno),
			       message_format("%s: %s", path, strerror(errno)));
		return;
	}
	if (S_ISBLK(found.st_mode)) {
		/* a node may be left from another device */
		if (found.st_rdev != layer->devno) {
			stack_not_read(&layer->content, UNREAD_REPLACED,
				       message_format("%s is another device",
						      path));
			return;
		}
		ask_kernel(&layer->view[STACK_IOCTL], fd);
		ask_libblkid(&layer->view[STACK_LIBBLKID], fd);
	}
	read_content(&layer->content, &part,
		     (uint64_t)maybe_or(layer->bytes, 0));
}

/**
 * struct collection - the stack being collected
 * @stack: the stack
 * @depth: depth of the device being added
 * @below: indices of the devices below it
 * @nr_below: number of them
 */
struct collection {
	struct stack *stack;
	unsigned int depth;
	size_t *below;
	size_t nr_below;
};

static size_t add_device(struct collection *collection, dev_t devno);

static void add_below(struct collection *collection, dev_t devno)
{
	size_t index = add_device(collection, devno);

	if (index == NOT_THERE)
		return;
	*ARRAY_APPEND(collection->below, collection->nr_below) = index;
}

static void visit_named(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	dev_t devno;

	if (sysfs_devno(dir, "dev", &devno))
		add_below(context, devno);
}

/* Add the devices that a device lies on. */
static void collect_below(struct collection *collection,
			  const struct sysfs_device *sys)
{
	CLEANUP_FREE char *slaves = message_format("%s/slaves", sys->dir);
	CLEANUP_FREE char *backing = sysfs_text(sys->dir, "loop/backing_file");
	struct stat file;
	dev_t devno;

	if (sys->partition) {
		if (sysfs_devno(sys->disk_dir, "dev", &devno))
			add_below(collection, devno);
	} else if (backing) {
		CLEANUP_FREE char *path = sysfs_path("%s", backing);

		if (!stat(path, &file))
			add_below(collection, S_ISBLK(file.st_mode) ?
				  file.st_rdev : file_disk(path, file.st_dev));
	} else {
		sysfs_each(slaves, visit_named, collection);
	}
}

static enum stack_kind kind_of(const struct sysfs_device *sys)
{
	static const struct {
		const char *file;
		enum stack_kind kind;
	} kinds[] = {
		{ "loop/backing_file", STACK_LOOP },
		{ "md/level", STACK_MD },
		{ "align/target0_mode", STACK_ALIGN },
	};
	static const struct {
		const char *uuid;
		enum stack_kind kind;
	} types[] = {
		{ "LVM-", STACK_LVM },
		{ "CRYPT-", STACK_CRYPT },
		{ "mpath-", STACK_MULTIPATH },
		{ "", STACK_DM },
	};
	CLEANUP_FREE char *uuid = sysfs_text(sys->dir, "dm/uuid");
	size_t i;

	if (sys->partition)
		return STACK_PARTITION;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		CLEANUP_FREE char *text = sysfs_text(sys->dir, kinds[i].file);

		if (text)
			return kinds[i].kind;
	}
	for (i = 0; uuid && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strncmp(uuid, types[i].uuid, strlen(types[i].uuid)))
			return types[i].kind;
	return STACK_DISK;
}

static struct maybe read_attribute(const char *dir, const char *file)
{
	int64_t found;

	return sysfs_number(dir, file, &found) ? maybe_of(found) :
						 MAYBE_UNKNOWN;
}

/* Return a count of @unit bytes in bytes. */
static struct maybe bytes_of(struct maybe number, int64_t unit)
{
	int64_t bytes, count;

	if (!maybe_get(number, &count) || count < 0 ||
	    __builtin_mul_overflow(count, unit, &bytes))
		return MAYBE_UNKNOWN;
	return maybe_of(bytes);
}

/* Return the counters of an align device that bear on a cause, or NULL. */
static struct cause_ledger *read_ledger(const char *dir)
{
	struct cause_ledger *found = NULL;
	struct ledger ledger = { 0 };
	CLEANUP_FREE char *fault = ledger_read(&ledger, dir);

	if (fault)
		return NULL;
	/* all targets of one device have one mode, or nothing is said of it */
	if (ledger.device.nr_targets == 1) {
		const char *mode = ledger.device.target[0].status.mode;

		found = memory_or_exit(calloc(1, sizeof(*found)));
		found->coalesce = !strcmp(mode, "coalesce");
		found->report = !strcmp(mode, "report");
		found->bin_bytes = (uint32_t)
			ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 1);
		found->writes = ledger_value(&ledger, LEDGER_writes) +
			ledger_value(&ledger, LEDGER_write_zeroes);
		found->misaligned =
			ledger_value(&ledger, LEDGER_writes_misaligned) +
			ledger_value(&ledger, LEDGER_write_zeroes_misaligned);
		found->touches = ledger_value(&ledger, LEDGER_rmw_expected);
		found->drive = ledger_value(&ledger, LEDGER_rmw_drive);
		found->completed = ledger_value(&ledger,
						LEDGER_rmw_avoided_complete);
		ledger_histogram(&ledger, HISTOGRAM_PHASE, found->phase);
	}
	ledger_free(&ledger);
	return found;
}

/* Return the number that kpartx has in its UUID of a partition; 0: none. */
static int64_t mapped_number(const char *dir)
{
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");
	const char *at = uuid;
	uint64_t number;

	if (!at || strncmp(at, "part", strlen("part")))
		return 0;
	at += strlen("part");
	return decimal_read(&at, INT32_MAX, &number) && *at == '-' ?
		(int64_t)number : 0;
}

/* Return the block of an align device with one target. */
static struct maybe align_block(const char *dir)
{
	int64_t block, other;

	if (!sysfs_number(dir, "align/target0_physical_block_size", &block) ||
	    sysfs_number(dir, "align/target1_physical_block_size", &other))
		return MAYBE_UNKNOWN;
	return maybe_of(block);
}

/* Fill in what sysfs says of the device. */
static void describe_layer(struct stack_layer *layer, const struct sysfs_device *sys)
{
	struct stack_view *view = &layer->view[STACK_SYSFS];
	const char *disk = sys->disk_dir;
	CLEANUP_FREE char *zoned = sysfs_text(disk, "queue/zoned");

	layer->devno = sys->devno;
	layer->label = sysfs_text(sys->dir, "dm/name");
	if (layer->label) {
		free(layer->path);
		layer->path = message_format("/dev/mapper/%s", layer->label);
	}
	view->figure[STACK_LOGICAL] = read_attribute(disk, "queue/logical_block_size");
	view->figure[STACK_PHYSICAL] = read_attribute(disk,
						      "queue/physical_block_size");
	view->figure[STACK_IO_MIN] = read_attribute(disk, "queue/minimum_io_size");
	view->figure[STACK_OFFSET] = read_attribute(sys->dir, "alignment_offset");
	layer->io_opt = read_attribute(disk, "queue/optimal_io_size");
	layer->max_io = bytes_of(read_attribute(disk, "queue/max_sectors_kb"), KIB);
	if (layer->kind == STACK_ALIGN) {
		layer->ledger = read_ledger(sys->dir);
		layer->align_block = align_block(sys->dir);
	}
	layer->suspended = maybe_is(read_attribute(sys->dir, "dm/suspended"), 1);
	layer->rotational = !maybe_is(read_attribute(disk, "queue/rotational"), 0);
	layer->zoned = zoned && strcmp(zoned, "none");
	layer->bytes = bytes_of(read_attribute(sys->dir, "size"), ALIGN_SECTOR_SIZE);
	if (sys->partition) {
		layer->partition = maybe_or(read_attribute(sys->dir, "partition"),
					     0);
		layer->start = bytes_of(read_attribute(sys->dir, "start"),
					ALIGN_SECTOR_SIZE);
	} else if (layer->kind == STACK_LOOP) {
		layer->file = sysfs_text(sys->dir, "loop/backing_file");
		layer->start = read_attribute(sys->dir, "loop/offset");
	} else {
		if (layer->kind == STACK_DM)
			layer->partition = mapped_number(sys->dir);
		ask_drive(&layer->view[STACK_IDENTIFY], sys->dir);
	}
}

/**
 * struct reach - search for what reaches a disk
 * @dir: folder of the disk's device
 * @known: something there has a state
 * @up: in one of these it takes requests
 */
struct reach {
	const char *dir;
	bool known;
	bool up;
};

/* Look at the state of a disk's device, or of a controller in its folder. */
static void visit_state(const char *name, void *context)
{
	/* of SCSI and of NVMe; other drivers have other words, as "Connected" of Xen */
	static const char *const down[] = {
		"blocked", "created-blocked", "offline", "quiesce",
		"transport-offline", "connecting", "dead", "deleting",
		"resetting",
	};
	struct reach *reach = context;
	CLEANUP_FREE char *dir = message_format("%s/%s", reach->dir, name);
	CLEANUP_FREE char *state = sysfs_text(dir, "state");
	bool is_up = true;
	size_t i;

	if (!state)
		return;
	for (i = 0; i < sizeof(down) / sizeof(down[0]); i++)
		is_up &= strcmp(state, down[i]) != 0;
	reach->known = true;
	reach->up |= is_up;
}

/*
 * Check for a disk that its transport has lost: it has given up, or waits for the
 * way back. Of an NVMe namespace of several paths, each controller has its state.
 */
static bool is_down(const struct sysfs_device *sys)
{
	CLEANUP_FREE char *dir = message_format("%s/device", sys->dir);
	struct reach reach = { .dir = dir };

	visit_state(".", &reach);
	if (!reach.known)
		sysfs_each(dir, visit_state, &reach);
	return reach.known && !reach.up;
}

/*
 * Check whether nothing reaches a device. A multipath device may be set to queue
 * requests as long as that lasts; any other one needs all that it lies on.
 */
static bool has_no_path(const struct stack *stack,
			const struct stack_layer *layer,
			const struct sysfs_device *sys)
{
	size_t i, down = 0;

	for (i = 0; i < layer->nr_below; i++)
		down += stack->layer[layer->below[i]].no_path;
	if (layer->kind == STACK_MULTIPATH)
		return down == layer->nr_below;
	return down || (layer->kind == STACK_DISK && is_down(sys));
}

/*
 * Add a device behind those that it lies on, once. Return: its index, or
 * NOT_THERE.
 */
static size_t add_device(struct collection *collection, dev_t devno)
{
	struct collection inner = {
		collection->stack, collection->depth + 1, NULL, 0,
	};
	CLEANUP_FREE char *path = NULL;
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < collection->stack->nr; i++)
		if (collection->stack->layer[i].devno == devno)
			return i;
	if (inner.depth > DEPTH_MAX || !sysfs_device_open(&sys, devno))
		return NOT_THERE;
	/* a loop device without a file, a drive without a medium */
	if (!maybe_above(read_attribute(sys.dir, "size"), 0))
		return NOT_THERE;
	collect_below(&inner, &sys);
	/* a partition may outlive its medium, as while it is mounted */
	if (sys.partition && !inner.nr_below)
		return NOT_THERE;
	path = message_format("/dev/%s", sys.name);
	layer = stack_add(collection->stack, kind_of(&sys), sys.name, path);
	describe_layer(layer, &sys);
	for (i = 0; i < inner.nr_below; i++) {
		layer->suspended |=
			collection->stack->layer[inner.below[i]].suspended;
		stack_lies_on(collection->stack, inner.below[i]);
	}
	free(inner.below);
	layer->no_path = has_no_path(collection->stack, layer, &sys);
	return collection->stack->nr - 1;
}

static void visit_device(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	dev_t devno;

	if (sysfs_devno(dir, "dev", &devno))
		add_device(context, devno);
}

static bool is_source(const struct stack_layer *layer, struct libmnt_fs *fs)
{
	CLEANUP_FREE char *node = message_format("/dev/%s", layer->name);
	const char *source = mnt_fs_get_source(fs);

	return mnt_fs_get_devno(fs) == layer->devno ||
	       (source && (!strcmp(source, node) ||
			   !strcmp(source, layer->path)));
}

/* Take what a mounted file system shows to every user. */
static void take_mounted(struct stack_layer *layer, struct libmnt_fs *fs)
{
	const char *type = mnt_fs_get_fstype(fs);
	struct statvfs found;

	if (!layer->content.unread || layer->content.type || !type)
		return;
	layer->content.type = memory_or_exit(strdup(type));
	if (sysfs_elsewhere() || statvfs(mnt_fs_get_target(fs), &found))
		return;
	if (!strncmp(type, "ext", 3) || !strcmp(type, "xfs") ||
	    !strcmp(type, "btrfs"))
		layer->content.block = maybe_of((int64_t)found.f_bsize);
}

static void add_mounts(struct stack *stack, struct libmnt_table *mounts,
		       struct libmnt_table *swaps)
{
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	struct libmnt_fs *fs;
	size_t i;

	for (i = 0; i < stack->nr; i++) {
		struct stack_layer *layer = &stack->layer[i];

		mnt_reset_iter(iter, MNT_ITER_FORWARD);
		while (!mnt_table_next_fs(mounts, iter, &fs)) {
			if (!mnt_fs_get_target(fs) || !is_source(layer, fs))
				continue;
			stack_add_mount(layer, mnt_fs_get_target(fs));
			take_mounted(layer, fs);
		}
		mnt_reset_iter(iter, MNT_ITER_FORWARD);
		while (!mnt_table_next_fs(swaps, iter, &fs))
			layer->swap |= is_source(layer, fs);
	}
	mnt_free_iter(iter);
}

static void collect_mounts(struct stack *stack)
{
	CLEANUP_FREE char *mountinfo = sysfs_path("/proc/self/mountinfo");
	CLEANUP_FREE char *in_use = sysfs_path("/proc/swaps");
	struct libmnt_table *mounts = memory_or_exit(mnt_new_table());
	struct libmnt_table *swaps = memory_or_exit(mnt_new_table());

	mnt_table_parse_file(mounts, mountinfo);
	mnt_table_parse_swaps(swaps, in_use);
	add_mounts(stack, mounts, swaps);
	mnt_unref_table(mounts);
	mnt_unref_table(swaps);
}

/* Put what the user takes for true in place of what a disk says. */
static void apply_options(struct stack_layer *layer,
			  const struct collect_options *options)
{
	struct stack_view *view = &layer->view[STACK_SYSFS];
	size_t i;

	if (options->physical) {
		unit_give(&layer->unit, maybe_of(options->physical));
		view->figure[STACK_PHYSICAL] = maybe_of(options->physical);
		for (i = STACK_SYSFS + 1; i < STACK_NR_SOURCES; i++)
			layer->view[i].figure[STACK_PHYSICAL] = MAYBE_UNKNOWN;
	}
	if (maybe_known(options->offset)) {
		layer->kernel_offset = view->figure[STACK_OFFSET];
		view->figure[STACK_OFFSET] = options->offset;
		for (i = STACK_SYSFS + 1; i < STACK_NR_SOURCES; i++)
			layer->view[i].figure[STACK_OFFSET] = MAYBE_UNKNOWN;
	}
}

int collect_stack(struct stack *stack)
{
	CLEANUP_FREE char *all = sysfs_path("/sys/class/block");
	struct collection collection = { .stack = stack };

	if (access(all, R_OK)) {
		message_error("%s: %s (is sysfs mounted?)", all,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	sysfs_each(all, visit_device, &collection);
	return ALIGNCTL_FINE;
}

/*
 * Take a device that kpartx has mapped for the partition that it is, with its
 * place as the table of the disk below has it.
 */
static void find_mapped(struct stack *stack, struct stack_layer *layer,
			int64_t number)
{
	const struct stack_layer *disk = &stack->layer[layer->below[0]];
	CLEANUP_FREE char *path = sysfs_path("%s", disk->path);
	CLEANUP_CLOSE int fd = waits(disk) ? -1 :
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct part all = { .fd = fd };
	blkid_probe probe = fd < 0 ? NULL :
		new_probe(&all, (uint64_t)maybe_or(disk->bytes, 0));
	blkid_partlist list = probe ? blkid_probe_get_partitions(probe) : NULL;
	blkid_partition found = list ?
		blkid_partlist_get_partition_by_partno(list, (int)number) :
		NULL;

	if (found &&
	    maybe_same(bytes_of(maybe_of(blkid_partition_get_size(found)),
				ALIGN_SECTOR_SIZE), layer->bytes)) {
		layer->kind = STACK_PARTITION;
		layer->mapped = true;
		layer->partition = number;
		layer->start = bytes_of(
			maybe_of(blkid_partition_get_start(found)),
			ALIGN_SECTOR_SIZE);
	}
	if (probe)
		blkid_free_probe(probe);
}

/* Take the type of a partition. */
static void take_type(struct stack_layer *layer, blkid_partition partition)
{
	const char *type = blkid_partition_get_type_string(partition);

	free(layer->type);
	layer->type = type ?
		memory_or_exit(strdup(type)) :
		message_format("0x%02x", (unsigned int)
			       blkid_partition_get_type(partition));
}

/* Take the partitions of a disk from its table: their number, and their types. */
static void find_types(struct stack *stack, size_t index)
{
	struct stack_layer *disk = &stack->layer[index];
	CLEANUP_FREE char *path = sysfs_path("%s", disk->path);
	CLEANUP_CLOSE int fd = waits(disk) || !disk->content.table ? -1 :
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct part all = { .fd = fd };
	blkid_probe probe = fd < 0 ? NULL :
		new_probe(&all, (uint64_t)maybe_or(disk->bytes, 0));
	blkid_partlist list = probe ? blkid_probe_get_partitions(probe) : NULL;
	size_t i;
	int k;

	for (k = 0; list && k < blkid_partlist_numof_partitions(list); k++)
		disk->content.parts += !blkid_partition_is_extended(
			blkid_partlist_get_partition(list, k));
	for (i = index + 1; list && i < stack->nr; i++) {
		struct stack_layer *layer = &stack->layer[i];
		blkid_partition found = layer->kind != STACK_PARTITION ||
			layer->below[0] != index ? NULL :
			blkid_partlist_get_partition_by_partno(list,
				(int)layer->partition);

		if (found)
			take_type(layer, found);
	}
	if (probe)
		blkid_free_probe(probe);
}

static void find_all_mapped(struct stack *stack)
{
	size_t i;

	for (i = 0; i < stack->nr; i++) {
		struct stack_layer *layer = &stack->layer[i];

		if (layer->partition && layer->kind == STACK_DM &&
		    layer->nr_below == 1)
			find_mapped(stack, layer, layer->partition);
	}
}

/*
 * Check for a CD or DVD drive. The kernel gives an empty one a size, and what
 * mostly reads has nothing to misalign.
 */
static bool is_optical(const struct stack_layer *layer)
{
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	int64_t type;

	return layer->kind == STACK_DISK &&
	       sysfs_device_open(&sys, layer->devno) &&
	       sysfs_number(sys.dir, "device/type", &type) &&
	       type == SCSI_TYPE_ROM;
}

int collect_devices(struct stack *stack, const dev_t *wanted, size_t nr,
		    const struct collect_options *options)
{
	int result = collect_stack(stack);
	size_t i;

	if (result)
		return result;
	find_all_mapped(stack);
	if (nr)
		stack_select(stack, wanted, nr);
	for (i = 0; i < stack->nr && !nr; i++)
		stack->layer[i].aside = is_optical(&stack->layer[i]);
	for (i = 0; i < stack->nr; i++) {
		if (stack->layer[i].aside)
			continue;
		look_inside(&stack->layer[i]);
		if (stack->layer[i].nr_below)
			continue;
		/* which asks the drive, too */
		if (!stack->layer[i].no_path)
			ask_unit(&stack->layer[i]);
		apply_options(&stack->layer[i], options);
	}
	for (i = 0; i < stack->nr; i++)
		if (!stack->layer[i].aside)
			find_types(stack, i);
	collect_mounts(stack);
	return ALIGNCTL_FINE;
}

/* Add one partition of the image at @image. */
static void add_image_partition(struct stack *stack, size_t image,
				blkid_partition found, struct part part)
{
	int64_t whole = maybe_or(stack->layer[image].bytes, 0);
	CLEANUP_FREE char *name = message_format(
		"%s:%d", stack->layer[image].name,
		blkid_partition_get_partno(found));
	struct stack_layer *layer;
	int64_t start, bytes;

	layer = stack_add(stack, STACK_PARTITION, name, name);
	stack_lies_on(stack, image);
	layer->view[STACK_SYSFS] = stack->layer[image].view[STACK_SYSFS];
	layer->view[STACK_SYSFS].figure[STACK_OFFSET] = MAYBE_UNKNOWN;
	layer->partition = blkid_partition_get_partno(found);
	take_type(layer, found);
	layer->start = bytes_of(maybe_of(blkid_partition_get_start(found)),
				ALIGN_SECTOR_SIZE);
	layer->bytes = bytes_of(maybe_of(blkid_partition_get_size(found)),
				ALIGN_SECTOR_SIZE);
	/* it is only in the way of others */
	layer->extended = blkid_partition_is_extended(found);
	layer->aside = layer->extended;
	if (!maybe_get(layer->start, &start) ||
	    !maybe_get(layer->bytes, &bytes) || start > whole ||
	    bytes > whole - start) {
		/* of those in an extended one, some may not be found */
		stack_not_read(layer->extended ? &stack->layer[image].content :
						 &layer->content,
			       UNREAD_CUT, message_format(
			"the %spartition reaches beyond the end of the image",
			layer->extended ? "extended " : ""));
		return;
	}
	part.start = (uint64_t)start;
	if (bytes && !layer->extended)
		read_content(&layer->content, &part, (uint64_t)bytes);
}

static int add_image_partitions(struct stack *stack, size_t image,
				const struct part *all)
{
	blkid_probe probe = new_probe(all, 0);
	blkid_partlist list;
	int i;

	if (!probe) {
		message_error("%s: libblkid cannot read the image",
			      stack->layer[image].path);
		return ALIGNCTL_IO;
	}
	list = blkid_probe_get_partitions(probe);
	for (i = 0; list && i < blkid_partlist_numof_partitions(list); i++)
		add_image_partition(stack, image,
				    blkid_partlist_get_partition(list, i),
				    *all);
	blkid_free_probe(probe);
	return ALIGNCTL_FINE;
}

int collect_image(struct stack *stack, const char *path,
		  const struct collect_options *options)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t logical = options->logical ? options->logical :
					      ALIGN_SECTOR_SIZE;
	uint32_t physical = options->physical ? options->physical :
						DEVICE_FILE_PHYSICAL;
	struct part all = { .fd = fd, .logical = logical };
	struct stack_layer *layer;
	struct stat found;
	size_t index = stack->nr;

	if (fd < 0 || fstat(fd, &found)) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	/* which must not look like "no findings" */
	if (found.st_size < ALIGN_SECTOR_SIZE) {
		message_error("%s: has %jd bytes, less than a sector; give the image of a disk",
			      path, (intmax_t)found.st_size);
		return ALIGNCTL_USAGE;
	}
	layer = stack_add(stack, STACK_FILE, path, path);
	layer->bytes = maybe_of(found.st_size);
	layer->view[STACK_SYSFS] = (struct stack_view) { {
		[STACK_LOGICAL] = maybe_of(logical),
		[STACK_PHYSICAL] = maybe_of(physical),
		[STACK_IO_MIN] = maybe_of(physical),
		[STACK_OFFSET] = maybe_of(maybe_or(options->offset, 0)),
	} };
	if (options->physical)
		unit_give(&layer->unit, maybe_of(options->physical));
	read_content(&layer->content, &all, (uint64_t)found.st_size);
	return add_image_partitions(stack, index, &all);
}
