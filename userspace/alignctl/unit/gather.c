// SPDX-License-Identifier: GPL-2.0
/* Gather the claims about the unit of a disk. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/nvme.h"
#include "sysfs/probed.h"
#include "unit/ata.h"
#include "unit/decode.h"
#include "unit/hwdb.h"
#include "unit/scsi.h"
#include "unit/unit.h"

/* Linux's number for SPC-2: later disks have READ CAPACITY(16). */
#define SCSI_SPC_2	5

/* Return an attribute, which is there and no negative number, or unknown. */
static struct maybe read_attribute(const char *dir, const char *file)
{
	int64_t found;

	return sysfs_number(dir, file, &found) && found >= 0 ?
		maybe_of(found) : MAYBE_UNKNOWN;
}

/* Add what a drive says of itself, if it does or could not be asked. */
static void drive_says(struct unit *unit, const char *figure,
		       struct maybe bytes, enum unit_confidence confidence)
{
	if (maybe_known(bytes))
		unit_claim(unit, UNIT_DRIVE, figure, bytes, confidence, NULL);
}

static void drive_is_silent(struct unit *unit, const char *figure, char *why)
{
	unit_claim(unit, UNIT_DRIVE, figure, MAYBE_UNKNOWN, UNIT_LOW, why);
}

/* Return why a page was not read, for free(); NULL: it was. */
static char *nvme_failure(enum nvme_result result, char *error)
{
	switch (result) {
	case NVME_DONE:
		return NULL;
	case NVME_NOT_SUPPORTED:
		return message_format("the drive does not support the page");
	case NVME_NOT_PERMITTED:
		return message_format("not permitted, needs root");
	case NVME_FAILED:
		break;
	}
	return error;
}

/*
 * Ask an NVMe drive. NPWG is what a controller wants writes to be multiples of,
 * which is the indirection unit where there is one. NOWS is a size for
 * throughput, of a stripe on many drives with TLC, NPDG is about deallocation,
 * and the atomic units say what a power failure may tear: they are hints.
 */
static void ask_nvme(struct unit *unit, const char *disk, dev_t devno)
{
	uint8_t page[DECODE_NVME_BYTES];
	struct decoded_nvme nvme;
	enum nvme_result result;
	char *error, *why;
	int64_t nsid;

	if (!sysfs_number(disk, "nsid", &nsid) || nsid <= 0 ||
	    nsid > UINT32_MAX) {
		drive_is_silent(unit, "NPWG", message_format(
			"sysfs does not say the number of the namespace"));
		return;
	}
	result = nvme_identify(strrchr(disk, '/') + 1, devno,
			       (uint32_t)nsid, NVME_NAMESPACE, page, &error);
	why = nvme_failure(result, error);
	if (!why && !decode_nvme_namespace(page, sizeof(page), &nvme))
		why = message_format("Identify Namespace gives no possible logical block");
	if (why) {
		drive_is_silent(unit, "NPWG", why);
		return;
	}
	drive_says(unit, "NPWG", nvme.npwg, UNIT_MEDIUM);
	drive_says(unit, "NPDG", nvme.npdg, UNIT_LOW);
	drive_says(unit, "NOWS", nvme.nows, UNIT_LOW);
	if (maybe_known(nvme.nawupf)) {
		drive_says(unit, "NAWUPF", nvme.nawupf, UNIT_LOW);
		return;
	}
	result = nvme_identify(strrchr(disk, '/') + 1, devno, 0,
			       NVME_CONTROLLER, page, &error);
	why = nvme_failure(result, error);
	if (why)
		drive_is_silent(unit, "AWUPF", why);
	else
		drive_says(unit, "AWUPF",
			   decode_nvme_awupf(page, sizeof(page), nvme.logical),
			   UNIT_LOW);
}

/* Ask a SCSI disk, whose bridge may be another one's than ATA's. */
static void ask_scsi(struct unit *unit, const char *disk, dev_t devno)
{
	uint8_t data[DECODE_CAPACITY_BYTES];
	struct decoded_sectors sectors;
	char *why = NULL;

	if (strstr(disk, "/usb"))
		why = message_format("not asked, as some USB bridges hang then");
	else if (!maybe_above(read_attribute(disk, "device/scsi_level"),
			      SCSI_SPC_2))
		why = message_format("not asked, as the disk is older than the command");
	else
		why = scsi_capacity(strrchr(disk, '/') + 1, devno,
				    data);
	if (!why && !decode_capacity(data, sizeof(data), &sectors))
		why = message_format("READ CAPACITY(16) gives no possible logical block");
	if (why)
		drive_is_silent(unit, "READ CAPACITY(16)", why);
	else
		drive_says(unit, "READ CAPACITY(16)", sectors.physical,
			   UNIT_MEDIUM);
}

/*
 * Add what sysfs has. An SSD's block above its physical one is advertised as
 * minimum_io_size only, so that it is what states the unit then.
 */
static void ask_kernel(struct unit *unit, const char *disk,
		       const char *subsystem)
{
	bool nvme = !strncmp(subsystem, "nvme", strlen("nvme"));
	struct maybe io_min = read_attribute(disk, "queue/minimum_io_size");
	bool larger = maybe_is(read_attribute(disk, "queue/rotational"), 0) &&
		decode_is_block(io_min) &&
		maybe_above(io_min, maybe_or(unit->physical, INT64_MAX));
	struct unit_claim *physical, *least;

	physical = unit_claim(unit, UNIT_KERNEL, "physical_block_size",
			      unit->physical, larger ? UNIT_LOW : UNIT_MEDIUM,
			      NULL);
	least = unit_claim(unit, UNIT_KERNEL, "minimum_io_size", io_min,
			   larger ? UNIT_MEDIUM : UNIT_LOW, NULL);
	if (nvme) {
		physical->origin = "NPWG, but at most what is written atomically";
		least->origin = "NPWG";
	} else if (!strcmp(subsystem, "scsi")) {
		physical->origin = "READ CAPACITY(16)";
		least->origin = "the Block Limits page, or the physical block";
	}
}

/* Ask udev's hwdb about the drive, if it has a name to ask by. */
static void ask_hwdb(struct unit *unit)
{
	CLEANUP_FREE char *key = NULL;
	struct hwdb_answer answer;

	if (!unit->model && !unit->disk)
		return;
	key = hwdb_key(unit->model, unit->firmware, unit->disk);
	hwdb_ask(key, &answer);
	if (maybe_known(answer.override))
		unit_claim(unit, UNIT_OVERRIDE, HWDB_OVERRIDE, answer.override,
			   UNIT_HIGH, NULL);
	if (maybe_known(answer.unit) || answer.wrong)
		unit_claim(unit, UNIT_HWDB, HWDB_UNIT, answer.unit,
			   UNIT_HIGH, answer.wrong);
	if (maybe_known(answer.rated_override))
		unit->rated = (struct unit_rated) {
			answer.rated_override, UNIT_OVERRIDE,
			HWDB_RATED_OVERRIDE,
		};
	else if (maybe_known(answer.rated))
		unit->rated = (struct unit_rated) {
			answer.rated, UNIT_HWDB, HWDB_RATED,
		};
}

/* Take what was measured of this disk, which is never of another one. */
static void ask_probed(struct unit *unit, const char *disk)
{
	struct probed probed;
	char *wrong;
	bool found = probed_read(&probed, disk, &wrong);

	if (found)
		unit->offset = maybe_of(probed.offset);
	if (found || wrong)
		unit_claim(unit, UNIT_MEASURED, "probe block-size",
			   found ? maybe_of(probed.block) : MAYBE_UNKNOWN,
			   UNIT_HIGH, wrong);
}

/* Add the rotation that a source states, if it states one. */
static void add_rotation(struct unit *unit, enum unit_source source,
			 const char *figure, struct maybe rpm)
{
	if (maybe_known(rpm))
		unit->rotation[unit->nr_rotations++] = (struct unit_rotation) {
			rpm, rpm, rpm, source, figure, NULL,
		};
}

/* Take the rotation that was measured of this disk. */
static void ask_probed_rotation(struct unit *unit, const char *disk)
{
	struct unit_rotation *rotation =
		&unit->rotation[unit->nr_rotations];
	struct probed_rotation probed;
	char *wrong;
	bool found = probed_rotation_read(&probed, disk, &wrong);

	if (!found && !wrong)
		return;
	unit->nr_rotations++;
	*rotation = (struct unit_rotation) {
		.source = UNIT_MEASURED, .figure = "probe rotation",
		.unread = wrong,
	};
	if (!found)
		return;
	rotation->rpm = maybe_of(probed.rpm);
	rotation->least = maybe_of(probed.least);
	rotation->most = maybe_of(probed.most);
}

/*
 * Ask how fast a disk rotates. Of a disk that does rotate the kernel does not
 * know how fast, and it takes one that says nothing for such a disk.
 */
static void ask_rotation(struct unit *unit, const char *disk,
			 struct maybe ata_rpm)
{
	struct maybe kernel = read_attribute(disk, "queue/rotational");

	ask_probed_rotation(unit, disk);
	add_rotation(unit, UNIT_DRIVE, "IDENTIFY word 217", ata_rpm);
	add_rotation(unit, UNIT_DRIVE, "VPD page B1h", scsi_rpm(disk));
	if (maybe_is(kernel, 0))
		add_rotation(unit, UNIT_KERNEL, "rotational", kernel);
}

/* Return the text of an attribute, for free(), or NULL if it has none. */
static char *text_of(const char *dir, const char *file)
{
	char *text = sysfs_text(dir, file);

	if (text && *text)
		return text;
	free(text);
	return NULL;
}

void unit_ask(struct unit *unit, const struct sysfs_device *sys)
{
	const char *disk = sys->disk_dir;
	CLEANUP_FREE char *subsystem = sysfs_subsystem(disk);
	struct ata_identity ata;
	dev_t devno = sys->devno;

	sysfs_devno(disk, "dev", &devno);
	memset(unit, 0, sizeof(*unit));
	unit->logical = read_attribute(disk, "queue/logical_block_size");
	unit->physical = read_attribute(disk, "queue/physical_block_size");
	unit->disk = probed_disk_name(disk);
	unit->serial = probed_disk_serial(disk);
	if (!unit->serial)
		unit->serial = scsi_serial(disk);
	ata_identify(disk, &ata);
	unit->model = ata.model;
	unit->firmware = ata.firmware;
	ask_rotation(unit, disk, ata.rpm);
	/* SCSI has cut them; NVMe has other names */
	if (!unit->model)
		unit->model = text_of(disk, "device/model");
	if (!unit->firmware)
		unit->firmware = text_of(disk, "device/firmware_rev");
	if (!unit->firmware)
		unit->firmware = text_of(disk, "device/rev");
	ask_hwdb(unit);
	ask_probed(unit, disk);
	drive_says(unit, UNIT_IDENTIFY, ata.sectors.physical,
		   UNIT_MEDIUM);
	if (!subsystem)
		subsystem = message_format("virtual");
	if (!strncmp(subsystem, "nvme", strlen("nvme")))
		ask_nvme(unit, disk, devno);
	else if (!strcmp(subsystem, "scsi") &&
		 !maybe_known(ata.sectors.physical))
		ask_scsi(unit, disk, devno);
	ask_kernel(unit, disk, subsystem);
	unit_judge(unit);
}
