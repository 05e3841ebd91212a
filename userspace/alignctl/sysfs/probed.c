// SPDX-License-Identifier: GPL-2.0
/*
 * Read and check what probe has kept of a disk's physical block and rotation.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "sysfs/probed.h"
#include "sysfs/sysfs.h"
#include "geometry.h"

#define FORMAT		1
#define FOLDER		"/var/lib/alignctl/probed"
/* No name of a disk's file has a slash. */
#define ROTATION	FOLDER "/rotation"
/* The most that a drive can say itself. */
#define RPM_MOST	0xfffeU

/* Return why the blocks of a file cannot be those of the disk, or NULL. */
static char *check_blocks(uint64_t block, uint64_t offset,
			  const struct probed_disk *disk)
{
	struct align_geometry geometry;
	const char *wrong;

	if (block > ALIGN_MAX_BLOCK_SIZE || offset >= block)
		wrong = block > ALIGN_MAX_BLOCK_SIZE ?
			"a block is at most 1048576 bytes" :
			"an offset is less than a block";
	else
		wrong = align_geometry_init(&geometry, (uint32_t)block,
					    disk->logical, (uint32_t)offset, 0,
					    disk->bytes >> ALIGN_SECTOR_SHIFT);
	return wrong ? message_format("block_size %" PRIu64 ", offset %" PRIu64
				      ": %s", block, offset, wrong) : NULL;
}

/*
 * Check that a document is a result of probe, of this disk. @has_figures: it has
 * those of the result, @figures for people. Return: NULL, or why it cannot be used.
 */
static char *check_document(struct json_object *document,
			    const struct probed_disk *disk, bool has_figures,
			    const char *figures)
{
	const char *name = json_get_text(document, "wwid");
	uint64_t format, bytes;

	if (!json_get_number(document, "format", &format))
		return message_format("no result of 'alignctl probe'");
	if (format != FORMAT)
		return message_format("format %" PRIu64 " is not known; this alignctl reads format %u",
				      format, FORMAT);
	if (!name || !json_get_number(document, "size_bytes", &bytes) ||
	    !has_figures)
		return message_format("lacks wwid, size_bytes, %s", figures);
	if (strcmp(name, disk->name))
		return message_format("is of another disk: %s", name);
	if (bytes != disk->bytes)
		return message_format("is of a disk of %" PRIu64
				      " bytes, but this disk has %" PRIu64,
				      bytes, disk->bytes);
	return NULL;
}

/* Take a document. Return: NULL, or why it cannot be used, for free(). */
typedef char *take_fn(void *found, struct json_object *document,
		      const struct probed_disk *disk);

/* Take the blocks, of struct probed. */
static char *take_blocks(void *found, struct json_object *document,
			 const struct probed_disk *disk)
{
	struct probed *probed = found;
	uint64_t block = 0, offset = 0;
	bool has = json_get_number(document, "block_size", &block) &&
		json_get_number(document, "offset", &offset);
	char *wrong = check_document(document, disk, has,
				     "block_size or offset");

	if (!wrong)
		wrong = check_blocks(block, offset, disk);
	if (!wrong)
		*probed = (struct probed) {
			(uint32_t)block, (uint32_t)offset,
		};
	return wrong;
}

/* Take the rotation, of struct probed_rotation. */
static char *take_rotation(void *found, struct json_object *document,
			   const struct probed_disk *disk)
{
	struct probed_rotation *rotation = found;
	uint64_t rpm = 0, least = 0, most = 0;
	bool has = json_get_number(document, "rpm", &rpm) &&
		json_get_number(document, "rpm_least", &least) &&
		json_get_number(document, "rpm_most", &most);
	char *wrong = check_document(document, disk, has,
				     "rpm, rpm_least or rpm_most");

	if (wrong)
		return wrong;
	if (least > rpm || rpm > most || most > RPM_MOST || (!least && most))
		return message_format("rpm %" PRIu64 ", from %" PRIu64 " to %"
				      PRIu64 ": no disk rotates like that",
				      rpm, least, most);
	*rotation = (struct probed_rotation) {
		(uint32_t)rpm, (uint32_t)least, (uint32_t)most,
	};
	return NULL;
}

static char *parse(void *found, take_fn *take, const char *text, size_t length,
		   const struct probed_disk *disk)
{
	struct json_object *document;
	char *wrong = json_parse(&document, text, length);

	if (!wrong)
		wrong = take(found, document, disk);
	json_object_put(document);
	return wrong;
}

char *probed_parse(struct probed *probed, const char *text, size_t length,
		   const struct probed_disk *disk)
{
	return parse(probed, take_blocks, text, length, disk);
}

char *probed_rotation_parse(struct probed_rotation *rotation, const char *text,
			    size_t length, const struct probed_disk *disk)
{
	return parse(rotation, take_rotation, text, length, disk);
}

/* Return the serial number of the USB device that a disk is in, or NULL. */
static char *usb_serial(const char *disk_dir)
{
	CLEANUP_FREE char *dir = memory_or_exit(strdup(disk_dir));
	char *slash;

	while ((slash = strrchr(dir, '/')) && slash > dir) {
		CLEANUP_FREE char *vendor = NULL;

		*slash = '\0';
		vendor = sysfs_text(dir, "idVendor");
		/* above it lies a hub, whose number is another one */
		if (vendor)
			return sysfs_text(dir, "serial");
	}
	return NULL;
}

char *probed_disk_serial(const char *disk_dir)
{
	/* virtio, and NVMe and MMC */
	static const char *const files[] = { "serial", "device/serial" };
	char *serial = NULL;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		free(serial);
		serial = sysfs_text(disk_dir, files[i]);
		if (serial && *serial)
			return serial;
	}
	free(serial);
	serial = usb_serial(disk_dir);
	if (serial && *serial)
		return serial;
	free(serial);
	return NULL;
}

char *probed_disk_name(const char *disk_dir)
{
	/* NVMe and SCSI */
	static const char *const wwids[] = { "wwid", "device/wwid" };
	CLEANUP_FREE char *serial = NULL;
	size_t i;

	for (i = 0; i < sizeof(wwids) / sizeof(wwids[0]); i++) {
		char *name = sysfs_text(disk_dir, wwids[i]);

		if (name && *name)
			return name;
		free(name);
	}
	serial = probed_disk_serial(disk_dir);
	return serial ? message_format("serial-%s", serial) : NULL;
}

/* Return the name of a disk's file, for free(). */
static char *file_name(const char *name)
{
	char *file = message_format("%s.json", name), *at;

	for (at = file; *at; at++)
		if (!isascii(*at) || (!isalnum(*at) && !strchr("._-", *at)))
			*at = '_';
	return file;
}

/*
 * Read a disk's file, if there is one. Return: NULL, or why it cannot be used,
 * for free(). @text: set to the text, for free(), or NULL.
 */
static char *read_file(char **text, const char *dir, const char *file)
{
	CLEANUP_FREE char *path = message_format("%s/%s", dir, file);
	struct stat found;

	*text = NULL;
	if (stat(path, &found))
		return errno == ENOENT || errno == ENOTDIR ||
		       errno == ENAMETOOLONG ? NULL :
			message_format("%s", strerror(errno));
	if (!S_ISREG(found.st_mode))
		return message_format("no regular file");
	*text = sysfs_text(dir, file);
	return *text ? NULL : message_format("%s", strerror(errno));
}

/* Read a disk's file in @folder. Return: as probed_read(). */
static bool read_kept(void *found, take_fn *take, const char *folder,
		      const char *disk_dir, char **wrong)
{
	CLEANUP_FREE char *name = probed_disk_name(disk_dir);
	CLEANUP_FREE char *file = NULL, *text = NULL, *why = NULL;
	CLEANUP_FREE char *dir = sysfs_path("%s", folder);
	struct probed_disk disk = { .name = name };
	int64_t sectors = 0, logical = 0;

	*wrong = NULL;
	if (!name || !sysfs_number(disk_dir, "size", &sectors) ||
	    sectors < 0 || sectors > INT64_MAX >> ALIGN_SECTOR_SHIFT ||
	    !sysfs_number(disk_dir, "queue/logical_block_size", &logical) ||
	    logical <= 0 || logical > ALIGN_MAX_LOGICAL)
		return false;
	disk.bytes = (uint64_t)sectors << ALIGN_SECTOR_SHIFT;
	disk.logical = (uint32_t)logical;
	file = file_name(name);
	why = read_file(&text, dir, file);
	if (text)
		why = parse(found, take, text, strlen(text), &disk);
	if (why)
		*wrong = message_format("%s/%s: %s", dir, file, why);
	return text && !why;
}

bool probed_read(struct probed *probed, const char *disk_dir, char **wrong)
{
	return read_kept(probed, take_blocks, FOLDER, disk_dir, wrong);
}

bool probed_rotation_read(struct probed_rotation *rotation,
			  const char *disk_dir, char **wrong)
{
	return read_kept(rotation, take_rotation, ROTATION, disk_dir, wrong);
}

bool probed_read_or_warn(struct probed *probed, const char *disk_dir)
{
	CLEANUP_FREE char *wrong = NULL;
	bool found = probed_read(probed, disk_dir, &wrong);

	if (wrong)
		message_warning("%s; this result is not used", wrong);
	return found;
}

bool probed_find(struct probed *probed, const struct device *device)
{
	int64_t start = 0;

	if (!device->block ||
	    !probed_read_or_warn(probed, device->sys.disk_dir) ||
	    (device->sys.partition &&
	     !sysfs_number(device->sys.dir, "start", &start)))
		return false;
	probed->offset = align_shifted_offset(probed->offset, (uint64_t)start,
					      probed->block);
	return true;
}

void probed_apply(struct device *device)
{
	struct probed probed;

	if (!probed_find(&probed, device))
		return;
	device->physical = probed.block;
	device->alignment_offset = maybe_of(probed.offset);
}
