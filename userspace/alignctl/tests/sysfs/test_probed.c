// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/probed.h"
#include "sysfs/sysfs.h"
#include "tests/tap.h"
#include "tests/tree.h"

#define BYTES	"1048576000"
#define GOOD							\
	"{\"format\": 1, \"device\": \"/dev/sdb\", \"wwid\": \"naa.5\","	\
	" \"size_bytes\": " BYTES ", \"block_size\": 4096,"		\
	" \"offset\": 3584, \"method\": \"timed writes\","		\
	" \"confidence\": 0.95, \"time\": \"2026-11-26T10:00:00Z\"}"

/* A record of a disk, without the words that it lacks. */
static char *record(const char *format, const char *wwid, const char *bytes,
		    const char *block, const char *offset)
{
	return message_format("{\"format\": %s, \"wwid\": %s,"
			      " \"size_bytes\": %s, \"block_size\": %s,"
			      " \"offset\": %s}\n", format, wwid, bytes, block,
			      offset);
}

static const struct probed_disk disk = { "naa.5", 1048576000, 512 };

static void taken(void)
{
	struct probed probed = { 0 };
	CLEANUP_FREE char *wrong = probed_parse(&probed, GOOD, strlen(GOOD),
						&disk);

	CHECK(!wrong, "%s", wrong);
	CHECK(probed.block == 4096 && probed.offset == 3584,
	      "block %u, offset %u", probed.block, probed.offset);
}

/* Check that a text is refused with these words, and leaves no trace. */
static void refused(const char *text, const struct probed_disk *of,
		    const char *words)
{
	struct probed probed = { 7, 7 };
	CLEANUP_FREE char *wrong = probed_parse(&probed, text, strlen(text),
						of);

	CHECK(wrong && strstr(wrong, words), "'%s', not '%s': %s", wrong,
	      words, text);
	CHECK(probed.block == 7 && probed.offset == 7, "block %u, offset %u",
	      probed.block, probed.offset);
}

static void no_record(void)
{
	static const struct { const char *text, *words; } rows[] = {
		{ "", "it ends too early" },
		{ "null\n", "no result of" },
		{ "[4096]", "no result of" },
		{ "\"format\"", "no result of" },
		{ "{}", "no result of" },
		{ "{\"format\": 1}", "lacks wwid" },
		{ "{\"format\": \"1\"}", "no result of" },
		{ "{\"format\": 1", "it ends too early" },
		{ GOOD GOOD, "more than one document" },
		{ "\xff\xfe{", "no JSON" },
	};
	CLEANUP_FREE char *deep = memory_or_exit(calloc(1, 5001));
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(rows[i].text, &disk, rows[i].words);
	memset(deep, '[', 5000);
	refused(deep, &disk, "no JSON");
}

static void other_disk(void)
{
	static const struct {
		const char *format, *wwid, *bytes, *block, *offset, *words;
	} rows[] = {
		{ "2", "\"naa.5\"", BYTES, "4096", "0", "format 2 is not" },
		{ "-1", "\"naa.5\"", BYTES, "4096", "0", "no result of" },
		{ "1", "\"naa.50\"", BYTES, "4096", "0", "another disk: naa.50" },
		{ "1", "\"NAA.5\"", BYTES, "4096", "0", "another disk" },
		{ "1", "5", BYTES, "4096", "0", "lacks wwid" },
		{ "1", "null", BYTES, "4096", "0", "lacks wwid" },
		{ "1", "\"naa.5\"", "1048575488", "4096", "0",
		  "of 1048575488 bytes, but this disk has 1048576000" },
		{ "1", "\"naa.5\"", "-1", "4096", "0", "lacks wwid" },
		{ "1", "\"naa.5\"", BYTES, "4096.0", "0", "lacks wwid" },
		{ "1", "\"naa.5\"", BYTES, "\"4096\"", "0", "lacks wwid" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = record(rows[i].format, rows[i].wwid,
						 rows[i].bytes, rows[i].block,
						 rows[i].offset);

		refused(text, &disk, rows[i].words);
	}
}

static void absurd(void)
{
	static const struct {
		const char *block, *offset, *words;
		uint32_t logical;
	} rows[] = {
		{ "0", "0", "an offset is less than a block", 512 },
		{ "5000", "0", "must be a power of two", 512 },
		{ "2097152", "0", "at most 1048576", 512 },
		/* these wrap to a good figure in 32 bits */
		{ "4294971392", "0", "at most 1048576", 512 },
		{ "4096", "4294967296", "an offset is less than a block", 512 },
		{ "99999999999999999999999", "0", "at most 1048576", 512 },
		{ "4096", "4096", "an offset is less than a block", 512 },
		{ "4096", "100", "must be a multiple of the logical", 512 },
		{ "512", "0", "not be less than the logical", 4096 },
		{ "65536", "512", "must be a multiple of the logical", 4096 },
		{ "256", "0", "not be less than the logical", 512 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct probed_disk of = { "naa.5", 1048576000,
						rows[i].logical };
		CLEANUP_FREE char *text = record("1", "\"naa.5\"", BYTES,
						 rows[i].block,
						 rows[i].offset);

		refused(text, &of, rows[i].words);
	}
}

/* Check what is made of a rotation; @words: NULL: it is taken. */
static void rotates(const char *rpm, const char *least, const char *most,
		    const char *words)
{
	struct probed_rotation rotation = { 7, 7, 7 };
	CLEANUP_FREE char *text = message_format(
		"{\"format\": 1, \"wwid\": \"naa.5\", \"size_bytes\": " BYTES
		", \"rpm\": %s, \"rpm_least\": %s, \"rpm_most\": %s}", rpm,
		least, most);
	CLEANUP_FREE char *wrong = probed_rotation_parse(&rotation, text,
							 strlen(text), &disk);

	CHECK(words ? wrong && strstr(wrong, words) : !wrong,
	      "'%s', not '%s': %s", wrong, words, text);
	CHECK((rotation.rpm == 7 && rotation.least == 7 &&
	       rotation.most == 7) == !!words, "%u, %u to %u", rotation.rpm,
	      rotation.least, rotation.most);
}

static void rotation(void)
{
	static const char absurd[] = "no disk rotates like that";

	rotates("7200", "7199", "7274", NULL);
	rotates("7200", "7200", "7200", NULL);
	rotates("0", "0", "0", NULL);
	rotates("7200", "7201", "7274", absurd);
	rotates("7200", "7199", "7199", absurd);
	rotates("7200", "0", "7274", absurd);
	rotates("0", "0", "1", absurd);
	rotates("65534", "65534", "65534", NULL);
	rotates("65534", "65534", "65535", absurd);
	/* these wrap to a good figure in 32 bits */
	rotates("4294974496", "4294974496", "4294974496", absurd);
	rotates("7200.0", "7199", "7274", "lacks wwid, size_bytes, rpm");
	rotates("-7200", "7199", "7274", "lacks wwid, size_bytes, rpm");
}

/* Make a disk of 2048000 sectors without a name of its own. */
static void make_disk(const char *folder)
{
	tree_open();
	tree_device(folder, "sdb", "8:16", 0);
	tree_file("/sys/dev/block/8:16/size", "2048000\n");
	tree_file("/sys/dev/block/8:16/queue/logical_block_size", "512\n");
}

static bool found(struct probed *probed)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/dev/block/8:16");
	CLEANUP_FREE char *real = memory_or_exit(realpath(dir, NULL));

	*probed = (struct probed) { 0 };
	return probed_read_or_warn(probed, real);
}

static void by_name(void)
{
	static const struct {
		const char *folder, *file, *says, *named, *wwid;
	} rows[] = {
		{ "pci0", "/sys/dev/block/8:16/device/wwid", "naa.5\n",
		  "naa.5.json", "naa.5" },
		{ "pci0", "/sys/dev/block/8:16/wwid", "eui.0a\n",
		  "eui.0a.json", "eui.0a" },
		{ "pci0", "/sys/dev/block/8:16/device/wwid",
		  "t10.ATA   ../x\xe4\n", "t10.ATA___.._x_.json",
		  "t10.ATA   ../x\xe4" },
		{ "virtio0", "/sys/dev/block/8:16/serial", "drive0\n",
		  "serial-drive0.json", "serial-drive0" },
		{ "mmc0", "/sys/dev/block/8:16/device/serial", "0x12\n",
		  "serial-0x12.json", "serial-0x12" },
		{ "usb1/1-2/1-2:1.0/host2", "/sys/devices/usb1/1-2/serial",
		  "A 1\n", "serial-A_1.json", "serial-A 1" },
	};
	struct probed probed;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *wwid = message_format("\"%s\"",
							 rows[i].wwid);
		CLEANUP_FREE char *text = record("1", wwid, BYTES, "4096",
						 "3584");
		CLEANUP_FREE char *path = message_format(
			"/var/lib/alignctl/probed/%s", rows[i].named);

		make_disk(rows[i].folder);
		tree_file("/sys/devices/usb1/idVendor", "1d6b\n");
		tree_file("/sys/devices/usb1/serial", "0000:00:14.0\n");
		tree_file("/sys/devices/usb1/1-2/idVendor", "0781\n");
		tree_file(rows[i].file, rows[i].says);
		CHECK(!found(&probed), "%s: found before it is kept",
		      rows[i].named);
		tree_file(path, text);
		CHECK(found(&probed) && probed.block == 4096 &&
		      probed.offset == 3584, "%s: block %u, offset %u",
		      rows[i].named, probed.block, probed.offset);
		tree_close();
	}
}

static void without_name(void)
{
	struct probed probed;

	/* a bridge without a number has not that of the hub above it */
	make_disk("usb1/1-2/1-2:1.0/host2");
	tree_file("/sys/devices/usb1/idVendor", "1d6b\n");
	tree_file("/sys/devices/usb1/serial", "hub\n");
	tree_file("/sys/devices/usb1/1-2/idVendor", "0781\n");
	tree_file("/sys/dev/block/8:16/device/wwid", "\n");
	tree_file("/var/lib/alignctl/probed/serial-hub.json", GOOD);
	tree_file("/var/lib/alignctl/probed/.json", GOOD);
	CHECK(!found(&probed), "block %u", probed.block);
	tree_close();
}

static void unusable(void)
{
	struct probed probed;

	/* each is warned of, and no more */
	make_disk("pci0");
	tree_file("/sys/dev/block/8:16/device/wwid", "naa.5\n");
	tree_file("/var/lib/alignctl/probed/naa.5.json", "{");
	CHECK(!found(&probed), "block %u", probed.block);
	tree_close();
	make_disk("pci0");
	tree_file("/sys/dev/block/8:16/device/wwid", "naa.5\n");
	tree_file("/var/lib/alignctl/probed/naa.5.json/x", "");
	CHECK(!found(&probed), "block %u", probed.block);
	tree_close();
	/* without a size there is nothing to compare with */
	make_disk("pci0");
	tree_file("/sys/dev/block/8:16/device/wwid", "naa.5\n");
	tree_file("/sys/dev/block/8:16/size", "-1\n");
	tree_file("/var/lib/alignctl/probed/naa.5.json", GOOD);
	CHECK(!found(&probed), "block %u", probed.block);
	tree_file("/sys/dev/block/8:16/size", "2048000\n");
	CHECK(found(&probed), "not found with its size");
	tree_close();
}

/* A partition of a disk that says 512, and was measured to have 4096 from 3584. */
static void applied(void)
{
	struct device device;

	make_disk("pci0");
	tree_file("/sys/dev/block/8:16/device/wwid", "naa.5\n");
	tree_file("/sys/dev/block/8:16/queue/physical_block_size", "512\n");
	tree_device("pci0/sdb", "sdb1", "8:17", 1);
	tree_file("/sys/dev/block/8:17/size", "2048\n");
	tree_file("/sys/dev/block/8:17/start", "9\n");
	CHECK(!device_open_devno(&device, makedev(8, 17), "sdb1"), "open");
	probed_apply(&device);
	CHECK(device.physical == 512, "without a file: %u", device.physical);
	tree_file("/var/lib/alignctl/probed/naa.5.json", GOOD);
	probed_apply(&device);
	/* 3584 - 9 * 512 = -1024 */
	CHECK(device.physical == 4096 && maybe_is(device.alignment_offset, 3072),
	      "%u from %d", device.physical,
	      (int)maybe_or(device.alignment_offset, -1));
	device_close(&device);
	tree_close();
}

const struct tap_test probed_tests[] = {
	{ "what probe has kept is taken", taken },
	{ "a file that is no result of probe is refused", no_record },
	{ "a result of another disk, size or format is refused", other_disk },
	{ "blocks that no disk has are refused", absurd },
	{ "a rotation is taken, and one of no disk refused", rotation },
	{ "the file is found by the disk's wwid or serial number", by_name },
	{ "a disk without a name of its own has no file", without_name },
	{ "a file that cannot be used is passed over", unusable },
	{ "what was measured of a disk stands for what it claims", applied },
	{ 0 },
};
