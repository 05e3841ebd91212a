// SPDX-License-Identifier: GPL-2.0
/*
 * Write a unit for each line, ordered between the device below and those that use
 * the align device.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/generator.h"
#include "boot/unit_name.h"

#define TEMPLATE	"align@.service"
#define LOCAL_TARGET	"align.target"
#define REMOTE_TARGET	"remote-fs.target"

/* Seconds for what attach does once the device is there; udev may be slow. */
#define ATTACH_SECONDS	300

/* Report a file that cannot be written. Return: ALIGNCTL_IO. */
static int report_failure(const char *path)
{
	message_error("%s: %s", path, strerror(errno));
	return ALIGNCTL_IO;
}

/* Make a folder, or find it there. Return: as generator_run(). */
static int make_folder(const char *path)
{
	return !mkdir(path, 0755) || errno == EEXIST ? ALIGNCTL_FINE :
						       report_failure(path);
}

/* The folders of a generator's units, and of those that are installed. */
struct folders {
	const char *made;
	const char *units;
};

/*
 * Let @target depend on @unit, of which the file is @template. Return: as
 * generator_run().
 */
static int make_link(const struct folders *folders, const char *target,
		     const char *dependency, const char *unit,
		     const char *template)
{
	CLEANUP_FREE char *dir = message_format("%s/%s.%s", folders->made,
						target, dependency);
	CLEANUP_FREE char *path = message_format("%s/%s", dir, unit);
	CLEANUP_FREE char *to = message_format("%s/%s", folders->units,
					       template);

	if (make_folder(dir))
		return ALIGNCTL_IO;
	return !symlink(to, path) || errno == EEXIST ? ALIGNCTL_FINE :
						       report_failure(path);
}

/*
 * Check whether a path may be of a device-mapper device: also /dev/dm-0, and
 * /dev/GROUP/VOLUME of LVM, any folder of /dev that is not known for other ones.
 */
static bool may_be_mapped(const char *path)
{
	static const char *const others[] = { "block/", "cciss/", "disk/", "md/" };
	size_t i;

	if (strncmp(path, "/dev/", strlen("/dev/")))
		return false;
	path += strlen("/dev/");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(path, others[i], strlen(others[i])))
			return false;
	return strchr(path, '/') || !strncmp(path, "dm-", strlen("dm-"));
}

/*
 * Check whether cryptsetup may have to make the device of a line: a unit before
 * it would then wait for itself.
 */
static bool may_need_cryptsetup(const struct aligntab_line *line)
{
	return (line->by == ALIGNTAB_PATH && may_be_mapped(line->value)) ||
	       (line->by == ALIGNTAB_ID &&
		!strncmp(line->value, "dm-", strlen("dm-")));
}

/* Write what waits for a line that the boot needs. */
static void print_before(FILE *file, const struct aligntab_line *line)
{
	fprintf(file, "Before=%s\n", line->netdev ? REMOTE_TARGET :
						    LOCAL_TARGET);
	if (line->netdev)
		return;
	fputs("Wants=local-fs-pre.target\nBefore=local-fs-pre.target\n", file);
	if (!may_need_cryptsetup(line))
		fputs("Wants=cryptsetup-pre.target\n"
		      "Before=cryptsetup-pre.target\n", file);
}

/*
 * Write the part of a unit that depends on the line. Nothing waits for a line
 * that may fail; one that is attached in the initramfs stays at shutdown, as
 * the root file system does.
 */
static void print_unit(FILE *file, const struct aligntab_line *line)
{
	fprintf(file, "# Made by alignctl from " ALIGNTAB_FILE ", line %u.\n"
		"[Unit]\nSourcePath=" ALIGNTAB_FILE "\n", line->number);
	if (line->netdev)
		fputs("Wants=network-online.target\n"
		      "After=network-online.target remote-fs-pre.target\n", file);
	if (!line->noauto && !line->nofail)
		print_before(file, line);
	if (!line->initrd)
		fputs("Conflicts=umount.target\nBefore=umount.target\n", file);
	fprintf(file, "[Service]\nTimeoutStartSec=%u\n",
		line->timeout + ATTACH_SECONDS);
}

/* Write the files of a line. Return: as generator_run(). */
static int write_line(const struct folders *folders,
		      const struct aligntab_line *line)
{
	CLEANUP_FREE char *unit = unit_of(line->name);
	CLEANUP_FREE char *dir = NULL, *path = NULL;
	FILE *file;
	bool bad;

	if (!unit) {
		message_error(ALIGNTAB_FILE ":%u: %s: too long for a unit of systemd; give it a shorter name",
			      line->number, line->name);
		return ALIGNCTL_USAGE;
	}
	dir = message_format("%s/%s.d", folders->made, unit);
	path = message_format("%s/50-aligntab.conf", dir);
	if (make_folder(dir))
		return ALIGNCTL_IO;
	file = fopen(path, "we");
	if (!file)
		return report_failure(path);
	print_unit(file, line);
	bad = ferror(file);
	if (fclose(file) || bad)
		return report_failure(path);
	if (line->noauto)
		return ALIGNCTL_FINE;
	return make_link(folders, line->netdev ? REMOTE_TARGET : LOCAL_TARGET,
			 line->nofail ? "wants" : "requires", unit, TEMPLATE);
}

int generator_run(const char *folder, const char *units)
{
	const struct folders folders = { folder, units };
	struct aligntab tab;
	int worst, result;
	bool local = false;
	size_t i;

	if (aligntab_off())
		return ALIGNCTL_FINE;
	worst = aligntab_read(&tab, false);
	for (i = 0; i < tab.nr; i++) {
		result = write_line(&folders, &tab.line[i]);
		local |= !tab.line[i].noauto && !tab.line[i].netdev;
		if (!worst)
			worst = result;
	}
	if (local) {
		result = make_link(&folders, "sysinit.target", "wants",
				   LOCAL_TARGET, LOCAL_TARGET);
		if (!worst)
			worst = result;
	}
	aligntab_free(&tab);
	return worst;
}
