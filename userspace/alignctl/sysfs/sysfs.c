// SPDX-License-Identifier: GPL-2.0
/*
 * Read files and links of /sys and /proc, below ALIGNCTL_SYSROOT if it is set.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/message.h"
#include "sysfs/sysfs.h"

#define TEXT_MAX	8192	/* longer than any file of a histogram */

/* Return the folder to read /sys from, or NULL for this machine's. */
static const char *sysfs_root(void)
{
	return secure_getenv("ALIGNCTL_SYSROOT");
}

bool sysfs_elsewhere(void)
{
	return sysfs_root();
}

char *sysfs_path(const char *format, ...)
{
	const char *root = sysfs_root();
	CLEANUP_FREE char *rest = NULL;
	va_list args;

	va_start(args, format);
	rest = message_format_list(format, args);
	va_end(args);
	return message_format("%s%s", root ? root : "", rest);
}

char *sysfs_text(const char *dir, const char *file)
{
	CLEANUP_FREE char *path = message_format("%s/%s", dir, file);
	CLEANUP_FCLOSE FILE *stream = fopen(path, "re");
	char *text;
	size_t got;

	if (!stream)
		return NULL;
	text = memory_or_exit(malloc(TEXT_MAX));
	got = fread(text, 1, TEXT_MAX - 1, stream);
	if (ferror(stream)) {
		free(text);
		return NULL;
	}
	while (got && strchr(" \n\t", text[got - 1]))
		got--;
	text[got] = '\0';
	return text;
}

bool sysfs_number(const char *dir, const char *file, int64_t *number)
{
	CLEANUP_FREE char *text = sysfs_text(dir, file);
	const char *at = text;
	uint64_t magnitude;
	bool negative;

	if (!text)
		return false;
	negative = *at == '-';
	at += negative;
	/* -INT64_MIN exceeds INT64_MAX by one */
	if (!decimal_read(&at, (uint64_t)INT64_MAX + negative, &magnitude) ||
	    *at)
		return false;
	*number = (int64_t)(negative ? -magnitude : magnitude);
	return true;
}

uint32_t sysfs_logical(const char *disk_dir)
{
	int64_t bytes;

	if (!sysfs_number(disk_dir, "queue/logical_block_size", &bytes) ||
	    bytes < 0 || bytes > UINT32_MAX)
		return 0;
	return (uint32_t)bytes;
}

char *sysfs_subsystem(const char *disk_dir)
{
	CLEANUP_FREE char *link = message_format("%s/device/subsystem",
						 disk_dir);
	CLEANUP_FREE char *place = realpath(link, NULL);

	return place ? message_format("%s", strrchr(place, '/') + 1) : NULL;
}

bool sysfs_devno(const char *dir, const char *file, dev_t *devno)
{
	CLEANUP_FREE char *text = sysfs_text(dir, file);
	const char *at = text;
	dev_t found;

	if (!text || !decimal_read_devno(&at, &found) || *at)
		return false;
	*devno = found;
	return true;
}

bool sysfs_device_open(struct sysfs_device *device, dev_t devno)
{
	CLEANUP_FREE char *link = sysfs_path("/sys/dev/block/%u:%u",
					     major(devno), minor(devno));
	char *slash;
	int64_t number;

	memset(device, 0, sizeof(*device));
	device->dir = realpath(link, NULL);
	if (!device->dir)
		return false;
	device->devno = devno;
	slash = strrchr(device->dir, '/');
	device->name = memory_or_exit(strdup(slash + 1));
	device->partition = sysfs_number(device->dir, "partition", &number);
	device->disk_dir = memory_or_exit(device->partition ?
		strndup(device->dir, slash - device->dir) :
		strdup(device->dir));
	/* sysfs writes cciss!c0d0 for cciss/c0d0 */
	for (slash = device->name; *slash; slash++)
		if (*slash == '!')
			*slash = '/';
	return true;
}

void sysfs_device_close(struct sysfs_device *device)
{
	free(device->name);
	free(device->dir);
	free(device->disk_dir);
	memset(device, 0, sizeof(*device));
}

char *sysfs_name(dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };

	if (!sysfs_device_open(&device, devno))
		return message_format("%u:%u", major(devno), minor(devno));
	return message_format("%s", device.name);
}

bool sysfs_named(const char *word, dev_t *devno)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s",
					    !strncmp(word, "/dev/", 5) ?
					    word + 5 : word);

	return (sysfs_elsewhere() || !strchr(word, '/')) &&
	       sysfs_devno(dir, "dev", devno);
}

bool sysfs_device_gone(dev_t devno)
{
	CLEANUP_FREE char *all = sysfs_path("/sys/dev/block");
	CLEANUP_FREE char *link = sysfs_path("/sys/dev/block/%u:%u",
					     major(devno), minor(devno));

	return !access(all, F_OK) && access(link, F_OK) && errno == ENOENT;
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

void sysfs_each(const char *dir, void (*visit)(const char *name, void *context),
		void *context)
{
	struct dirent **entries;
	int i, count = scandir(dir, &entries, is_entry, versionsort);

	if (count < 0)
		return;
	for (i = 0; i < count; i++) {
		visit(entries[i]->d_name, context);
		free(entries[i]);
	}
	free(entries);
}
