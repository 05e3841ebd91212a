// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/claim.h"
#include "tests/tap.h"
#include "tests/tree.h"

static void parse(struct aligntab *tab, const char *text)
{
	memset(tab, 0, sizeof(*tab));
	aligntab_parse(tab, "tab", text, strlen(text), true);
}

static void good_lines(void)
{
	static const struct {
		const char *text, *name, *device, *value;
		enum aligntab_by by;
	} rows[] = {
		{ "a /dev/sdb", "a", "/dev/sdb", "/dev/sdb", ALIGNTAB_PATH },
		{ " a\t/dev/sdb  -\n", "a", "/dev/sdb", "/dev/sdb",
		  ALIGNTAB_PATH },
		{ "a UUID=AB-1", "a", "UUID=AB-1", "AB-1", ALIGNTAB_UUID },
		{ "a UUID=\"ab\"", "a", "UUID=ab", "ab", ALIGNTAB_UUID },
		{ "a LABEL=my\\040disk", "a", "LABEL=my disk",
		  "my\\x20disk", ALIGNTAB_LABEL },
		{ "a PARTUUID=1-01", "a", "PARTUUID=1-01", "1-01",
		  ALIGNTAB_PARTUUID },
		{ "a PARTLABEL=x", "a", "PARTLABEL=x", "x",
		  ALIGNTAB_PARTLABEL },
		{ "a ID=wwn-0x5", "a", "ID=wwn-0x5", "wwn-0x5", ALIGNTAB_ID },
		/* these links are taken from the device that the line hides */
		{ "a /dev/disk/by-uuid/ab", "a", "/dev/disk/by-uuid/ab", "ab",
		  ALIGNTAB_UUID },
		{ "a /dev/disk/by-label/my\\134x20disk", "a",
		  "/dev/disk/by-label/my\\x20disk", "my\\x20disk",
		  ALIGNTAB_LABEL },
		{ "a /dev/disk/by-path/p", "a", "/dev/disk/by-path/p",
		  "/dev/disk/by-path/p", ALIGNTAB_PATH },
		{ "my\\040disk /dev/a\\011b", NULL, NULL, NULL, 0 },
		{ "control /dev/b", NULL, NULL, NULL, 0 },
		{ ".. /dev/b", NULL, NULL, NULL, 0 },
		{ "controls /dev/b", "controls", "/dev/b", "/dev/b",
		  ALIGNTAB_PATH },
		{ "my\\040disk /dev/a\\134b", "my disk", "/dev/a\\b",
		  "/dev/a\\b", ALIGNTAB_PATH },
		{ "a\\9\\40 /dev/b", "a\\9\\40", "/dev/b", "/dev/b",
		  ALIGNTAB_PATH },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct aligntab tab;

		parse(&tab, rows[i].text);
		if (!rows[i].name) {
			CHECK(!tab.nr && tab.nr_wrong == 1, "%s", rows[i].text);
		} else if (tab.nr != 1) {
			CHECK(0, "%s: no line", rows[i].text);
		} else {
			CHECK(!strcmp(tab.line->name, rows[i].name), "%s: %s",
			      rows[i].text, tab.line->name);
			CHECK(!strcmp(tab.line->device, rows[i].device),
			      "%s: %s", rows[i].text, tab.line->device);
			CHECK(!strcmp(tab.line->value, rows[i].value), "%s: %s",
			      rows[i].text, tab.line->value);
			CHECK(tab.line->by == rows[i].by, "%s: by %d",
			      rows[i].text, tab.line->by);
			CHECK(tab.line->timeout == 90, "%s: timeout %u",
			      rows[i].text, tab.line->timeout);
		}
		aligntab_free(&tab);
	}
}

static void options(void)
{
	struct aligntab tab;
	const struct aligntab_line *line;

	parse(&tab, "a /dev/b mode=coalesce,physical=4K,offset=512,hold-ms=7,"
	      "max-blocks=9,write-cache=on,nofail,noauto,_netdev,"
	      "x-initrd.attach,timeout=0\n"
	      "c /dev/d physical=auto\n"
	      "e /dev/f logical=512\n"
	      "g /dev/h logical=512,mode=coalesce\n");
	CHECK(tab.nr == 4, "%zu lines", tab.nr);
	if (tab.nr == 4) {
		line = &tab.line[0];
		CHECK(!strcmp(line->options.mode, "coalesce"), "%s",
		      line->options.mode);
		CHECK(line->options.physical == 4096 &&
		      line->options.offset == 512 &&
		      line->options.offset_given &&
		      line->options.hold_ms == 7 &&
		      line->options.max_blocks == 9 &&
		      !strcmp(line->options.write_cache, "on"), "settings");
		CHECK(line->nofail && line->noauto && line->netdev &&
		      line->initrd && !line->timeout, "flags");
		CHECK(tab.line[1].options.physical_auto &&
		      !tab.line[1].nofail, "the other line");
		line = &tab.line[2];
		CHECK(line->options.logical == 512 &&
		      !strcmp(line->options.mode, "pad") &&
		      !line->options.given[ATTACH_MODE],
		      "smaller logical blocks mean mode pad");
		CHECK(!strcmp(tab.line[3].options.mode, "coalesce"),
		      "unless the line has another one");
		line = &tab.line[0];
		CHECK(!strcmp(line->options.given[ATTACH_PHYSICAL], "4K"),
		      "given: %s", line->options.given[ATTACH_PHYSICAL]);
	}
	aligntab_free(&tab);
}

static void wrong_lines(void)
{
	static const char *const rows[] = {
		"a", "a /dev/b - x", "a sdb", "a UUID=", "a /dev/disk/by-id/",
		"a/b /dev/c", "a\\057b /dev/c", "a\\001b /dev/c",
		"\\000 /dev/c", "a /dev/c\\000d",
		"a /dev/b mode=fast", "a /dev/b mode", "a /dev/b hold-ms=0",
		"a /dev/b physical=x", "a /dev/b logical=4096", "a /dev/b write-cache=yes",
		"a /dev/b nofail=1", "a /dev/b nofial", "a /dev/b timeout=x",
		"a /dev/b timeout=86401", "a /dev/b timeout=", "a /dev/b a,,b",
		"a /dev/b ,", "a /dev/b\r", "a\001 /dev/b", "a /dev/b\177",
		"a /dev/b name=x", "a /dev/b modes=pad",
		"a /dev/b claimed=", "a /dev/b claimed=0+0",
		"a /dev/b claimed=4096+", "a /dev/b claimed=4096+x",
		"a /dev/b claimed=4096-1", "a /dev/b claimed=4096+0+0",
		"a /dev/b claimed=4294967296+0", "a /dev/b claimed",
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format(
			"# comment\nx /dev/x\n%s\n\n  # y\ny /dev/y", rows[i]);
		struct aligntab tab;

		parse(&tab, text);
		CHECK(tab.nr == 2 && tab.nr_wrong == 1 &&
		      tab.line[0].number == 2 && tab.line[1].number == 6,
		      "%s: %zu good, %zu wrong", rows[i], tab.nr, tab.nr_wrong);
		aligntab_free(&tab);
	}
}

static void bounds(void)
{
	CLEANUP_FREE char *blanks = memory_or_exit(malloc(8192));
	CLEANUP_FREE char *name = memory_or_exit(malloc(200));
	struct aligntab tab = { 0 };
	char text[32];
	size_t i;

	memset(blanks, ' ', 8192);
	memcpy(blanks, "a /dev/b", strlen("a /dev/b"));
	aligntab_parse(&tab, "tab", blanks, ALIGNTAB_LINE_MAX, true);
	CHECK(tab.nr == 1 && !tab.nr_wrong, "as long as can be");
	aligntab_free(&tab);
	aligntab_parse(&tab, "tab", blanks, ALIGNTAB_LINE_MAX + 1, true);
	CHECK(!tab.nr && tab.nr_wrong == 1, "one byte too long");
	aligntab_free(&tab);
	aligntab_parse(&tab, "tab", "a /dev/b\0c /dev/d", 17, true);
	CHECK(!tab.nr && tab.nr_wrong == 1, "a NUL");
	aligntab_free(&tab);
	memset(name, 'n', 200);
	memcpy(name + 128, " /dev/b", sizeof(" /dev/b"));
	parse(&tab, name);
	CHECK(!tab.nr && tab.nr_wrong == 1, "a name of 128 bytes");
	aligntab_free(&tab);
	parse(&tab, name + 1);
	CHECK(tab.nr == 1, "a name of 127 bytes");
	aligntab_free(&tab);
	for (i = 0; i < ALIGNTAB_LINES_MAX + 1; i++) {
		snprintf(text, sizeof(text), "n%zu /dev/d%zu\n", i, i);
		aligntab_parse(&tab, "tab", text, strlen(text), true);
	}
	CHECK(tab.nr == ALIGNTAB_LINES_MAX && tab.nr_wrong == 1,
	      "%zu lines", tab.nr);
	aligntab_free(&tab);
}

static void duplicates(void)
{
	struct aligntab tab;

	parse(&tab, "a UUID=1\nb /dev/c\na /dev/d\n"
	      "e /dev/disk/by-uuid/1\nf UUID=2\nb UUID=3\n");
	CHECK(tab.nr == 3 && tab.nr_wrong == 3, "%zu good, %zu wrong", tab.nr,
	      tab.nr_wrong);
	CHECK(aligntab_find(&tab, "a") && aligntab_find(&tab, "a")->number == 1,
	      "the first line of a name counts");
	CHECK(!aligntab_find(&tab, "e"), "the device is that of line 1");
	aligntab_free(&tab);
	parse(&tab, "a UUID=AB-CD\nb UUID=ab-cd\nc LABEL=x\nd LABEL=X\n");
	CHECK(tab.nr == 3 && !aligntab_find(&tab, "b"),
	      "UUIDs are the same in capitals, labels are not: %zu good",
	      tab.nr);
	aligntab_free(&tab);
	parse(&tab, "my\\040disk UUID=1\nmy\\134x20disk UUID=2\nmy\\134x2 UUID=3\n");
	CHECK(tab.nr == 2 && aligntab_find(&tab, "my disk") &&
	      aligntab_find(&tab, "my\\x20disk") == &tab.line[0],
	      "a name is the same as the kernel has it: %zu good", tab.nr);
	aligntab_free(&tab);
}

/* Check that lines can be added and removed with nothing else changed. */
static void text_edited(void)
{
	static const char *const befores[] = {
		"", "# only a comment\n", "x /dev/x\n",
		"wrong line here /dev/x y\n\n\tx   /dev/x -\n# end without newline",
		"\0binary\r\n",
	};
	size_t i;

	for (i = 0; i < sizeof(befores) / sizeof(befores[0]); i++) {
		size_t before = i == 4 ? 9 : strlen(befores[i]);
		bool newline = before && befores[i][before - 1] != '\n';
		size_t length = before;
		CLEANUP_FREE char *with = aligntab_with(
			"tab", befores[i], &length, "my disk",
			"LABEL=a b#\\c", "mode=pad");
		CLEANUP_FREE char *without = NULL;
		struct aligntab tab = { 0 };
		const struct aligntab_line *line;

		CHECK(with, "row %zu", i);
		if (!with)
			continue;
		CHECK(!memcmp(with, befores[i], before), "row %zu: changed", i);
		CHECK(length == before + newline +
		      strlen("my\\040disk LABEL=a\\040b\\043\\134c mode=pad\n"),
		      "row %zu: %s", i, with + before);
		aligntab_parse(&tab, "tab", with, length, true);
		line = aligntab_find(&tab, "my disk");
		CHECK(line && !strcmp(line->device, "LABEL=a b#\\c"),
		      "row %zu: not read back", i);
		if (line)
			without = aligntab_without(with, &length, line->number);
		CHECK(without && length == before + newline &&
		      !memcmp(without, befores[i], before),
		      "row %zu: not as before", i);
		aligntab_free(&tab);
	}
}

static void text_not_edited(void)
{
	static const char *const names[][2] = {
		{ "x", "/dev/new" }, { "new", "/dev/x" }, { "a\nb", "/dev/new" },
		{ "new", "relative" }, { "", "/dev/new" },
	};
	size_t i, length;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CLEANUP_FREE char *with = NULL;

		length = strlen("x /dev/x\n");
		with = aligntab_with("tab", "x /dev/x\n", &length, names[i][0],
				     names[i][1], "");
		CHECK(!with, "row %zu: %s", i, with);
	}
	for (i = 0; i < 2; i++) {
		/* the line has nine bytes */
		CLEANUP_FREE char *with = NULL, *full = memory_or_exit(
			malloc(ALIGNTAB_BYTES_MAX));

		length = ALIGNTAB_BYTES_MAX - 9 + i;
		memset(full, '#', length);
		full[length - 1] = '\n';
		with = aligntab_with("tab", full, &length, "x", "/dev/x", "");
		CHECK((i == 0) == (with != NULL), "a file of the largest size and %zu bytes", i);
	}
}

/* Return the file's text, for free(). */
static char *file_text(const char *path)
{
	CLEANUP_FCLOSE FILE *file = fopen(path, "r");
	char *text = memory_or_exit(calloc(1, 4096));

	if (file && !fread(text, 1, 4095, file))
		*text = '\0';
	return text;
}

static void file_edited(void)
{
	struct stat before = { 0 }, after = { 0 };
	CLEANUP_FREE char *path = NULL, *text = NULL, *rest = NULL;
	struct aligntab_added added;
	bool removed;

	tree_open();
	path = aligntab_path();
	tree_file("/etc/aligntab", "# mine\nx /dev/x\nwrong\n");
	chmod(path, 0640);
	if (!geteuid())
		CHECK(!chown(path, 12, 34), "chown");
	stat(path, &before);
	CHECK(aligntab_add("y", "/dev/y", "", &added) == ALIGNCTL_FINE, "not added");
	text = file_text(path);
	CHECK(!strcmp(text, "# mine\nx /dev/x\nwrong\ny /dev/y\n"), "%s", text);
	CHECK(aligntab_remove("x", &removed) == ALIGNCTL_FINE && removed,
	      "not removed");
	CHECK(aligntab_remove("z", &removed) == ALIGNCTL_FINE && !removed,
	      "there is no z");
	stat(path, &after);
	CHECK((after.st_mode & 07777) == 0640 && after.st_uid == before.st_uid &&
	      after.st_gid == before.st_gid, "mode or owner changed");
	CHECK(after.st_ino != before.st_ino, "written in place");
	rest = file_text(path);
	CHECK(!strcmp(rest, "# mine\nwrong\ny /dev/y\n"), "%s", rest);
	tree_close();
}

static void link_to_nothing(void)
{
	struct aligntab_added added;
	CLEANUP_FREE char *path = NULL;
	struct stat found;

	tree_open();
	tree_link("/etc/aligntab", "/real/none");
	path = aligntab_path();
	CHECK(aligntab_add("y", "/dev/y", "", &added) == ALIGNCTL_IO, "added");
	CHECK(!lstat(path, &found) && S_ISLNK(found.st_mode),
	      "the link was replaced");
	tree_close();
}

static void link_edited(void)
{
	CLEANUP_FREE char *path = NULL, *text = NULL;
	struct aligntab_added added;
	struct stat found;

	tree_open();
	tree_file("/real/tab", "x /dev/x\n");
	tree_link("/etc/aligntab", "/real/tab");
	path = aligntab_path();
	CHECK(aligntab_add("y", "/dev/y", "nofail", &added) == ALIGNCTL_FINE,
	      "not added");
	CHECK(!lstat(path, &found) && S_ISLNK(found.st_mode),
	      "the link was replaced");
	text = file_text(path);
	CHECK(!strcmp(text, "x /dev/x\ny /dev/y nofail\n"), "%s", text);
	tree_close();
}

/* Add a line and take it back; NULL: there is no file. */
static void add_and_take_back(const char *text)
{
	CLEANUP_FREE char *path = NULL, *left = NULL;
	struct aligntab_added added;

	tree_open();
	tree_file("/etc/other", "");
	if (text)
		tree_file("/etc/aligntab", text);
	path = aligntab_path();
	CHECK(aligntab_add("y", "/dev/y", "", &added) == ALIGNCTL_FINE,
	      "not added");
	CHECK(!access(path, F_OK), "no file");
	aligntab_take_back("y", &added);
	CHECK(!access(path, F_OK) == !!text, "the file %s",
	      text ? "is gone" : "has stayed");
	left = text ? file_text(path) : NULL;
	CHECK(!text || !strcmp(left, text), "'%s', not '%s'", left, text);
	tree_close();
}

static void taken_back(void)
{
	struct aligntab_added added = { .file = true };
	CLEANUP_FREE char *path = NULL, *text = NULL;

	add_and_take_back(NULL);
	add_and_take_back("");
	add_and_take_back("# mine\nx /dev/x\n");
	add_and_take_back("# mine\nx /dev/x");
	/* another line has come meanwhile */
	tree_open();
	tree_file("/etc/aligntab", "# mine\ny /dev/y\nx /dev/x\n");
	path = aligntab_path();
	aligntab_take_back("y", &added);
	text = file_text(path);
	CHECK(!strcmp(text, "# mine\nx /dev/x\n"), "%s", text);
	tree_close();
}

static void off(void)
{
	tree_open();
	CHECK(!aligntab_off(), "without a command line");
	tree_file("/proc/cmdline", "quiet aligntab=no ro\n");
	CHECK(aligntab_off(), "aligntab=no");
	tree_file("/proc/cmdline", "quiet aligntab=none xaligntab=no\n");
	CHECK(!aligntab_off(), "other words");
	tree_close();
}

static void claims(void)
{
	static const struct {
		const char *text;
		int64_t physical, offset;
	} rows[] = {
		{ "a /dev/b", -1, -1 }, { "a /dev/b mode=pad", -1, -1 },
		{ "a /dev/b claimed=4096+0", 4096, 0 },
		{ "a /dev/b mode=pad,claimed=512+0,nofail", 512, 0 },
		{ "a /dev/b claimed=4096+3584", 4096, 3584 },
		{ "a /dev/b claimed=4096", 4096, -1 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *option = NULL;
		struct aligntab tab;

		parse(&tab, rows[i].text);
		CHECK(tab.nr == 1, "%s", rows[i].text);
		if (tab.nr == 1) {
			const struct aligntab_claim *claim = &tab.line[0].claim;

			CHECK(maybe_or(claim->physical, -1) ==
			      rows[i].physical &&
			      maybe_or(claim->offset, -1) == rows[i].offset,
			      "%s", rows[i].text);
			option = claim_option(claim);
			CHECK(rows[i].physical < 0 ||
			      strstr(rows[i].text, option), "%s: %s",
			      rows[i].text, option);
		}
		aligntab_free(&tab);
	}
}

/* Make a disk that says these blocks; return what is kept of it. */
static struct aligntab_claim claim_of_disk(const char *physical,
					   const char *offset)
{
	struct aligntab_claim claim = { 0 };
	struct device device;

	tree_open();
	tree_device("pci/sda", "sda", "8:0", 0);
	tree_file("/sys/dev/block/8:0/size", "2048\n");
	tree_file("/sys/dev/block/8:0/alignment_offset", offset);
	tree_file("/sys/dev/block/8:0/queue/physical_block_size", physical);
	if (!device_open_devno(&device, makedev(8, 0), "/dev/sda")) {
		claim = claim_of(&device);
		device_close(&device);
	}
	tree_close();
	return claim;
}

static void claims_of_devices(void)
{
	struct aligntab_claim claim = claim_of_disk("4096\n", "3584\n");

	CHECK(maybe_is(claim.physical, 4096) && maybe_is(claim.offset, 3584),
	      "a shifted disk");
	/* relative to a larger minimum_io_size */
	claim = claim_of_disk("4096\n", "12288\n");
	CHECK(maybe_is(claim.offset, 0), "an offset of whole blocks");
	claim = claim_of_disk("512\n", "-1\n");
	CHECK(maybe_is(claim.physical, 512) && !maybe_known(claim.offset),
	      "a device that is nowhere aligned");
}

const struct tap_test aligntab_tests[] = {
	{ "a line names its device in any of the ways, with escapes",
	  good_lines },
	{ "the options of a line are attach's, and those of the boot", options },
	{ "a line keeps what its device said, and old lines keep nothing",
	  claims },
	{ "what a device says of its blocks is kept as sysfs has it",
	  claims_of_devices },
	{ "a wrong line keeps no other one from being read", wrong_lines },
	{ "lines, names and the number of lines are bounded", bounds },
	{ "a name or device that an earlier line has is wrong", duplicates },
	{ "a line is added and removed, and all else stays byte for byte",
	  text_edited },
	{ "a line that could not be read back is not written", text_not_edited },
	{ "the file is replaced as a whole, with its mode and owner",
	  file_edited },
	{ "a line that is taken back leaves the file as it was, or none",
	  taken_back },
	{ "a link to the file stays a link", link_edited },
	{ "a link to a file that is not there is not replaced",
	  link_to_nothing },
	{ "aligntab=no on the kernel's command line switches all off", off },
	{ 0 },
};
