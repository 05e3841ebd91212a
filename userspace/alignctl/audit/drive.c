// SPDX-License-Identifier: GPL-2.0
/*
 * Find the drive at the bottom of each stack, and read the count of misaligned
 * writes from its NVMe OCP log page.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/collect.h"
#include "audit/drive.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/nvme.h"
#include "sysfs/sysfs.h"

int drives_open(struct drives *drives)
{
	int result;

	memset(drives, 0, sizeof(*drives));
	result = collect_stack(&drives->stack);
	drives->drive = memory_or_exit(calloc(drives->stack.nr + 1,
					      sizeof(*drives->drive)));
	return result;
}

void drives_close(struct drives *drives)
{
	size_t i;

	for (i = 0; i < drives->stack.nr; i++) {
		free(drives->drive[i].name);
		free(drives->drive[i].kind);
		free(drives->drive[i].error);
	}
	free(drives->drive);
	stack_free(&drives->stack);
}

/*
 * Return the transport of a disk, for people and for free(). @nvme: set to whether
 * it is NVMe.
 */
static char *find_transport(const char *dir, bool *nvme)
{
	static const struct {
		const char *subsystem, *kind;
		bool nvme;
	} kinds[] = {
		{ "nvme", "NVMe", true },
		/* the one namespace of several paths */
		{ "nvme-subsystem", "NVMe", true },
		{ "scsi", "SCSI", false },
		{ "mmc", "MMC", false },
	};
	CLEANUP_FREE char *subsystem = sysfs_subsystem(dir);
	CLEANUP_FREE char *vendor = sysfs_text(dir, "device/vendor");
	size_t i;

	*nvme = false;
	if (!subsystem)
		return message_format("virtual");
	if (!strcmp(subsystem, "scsi") && vendor && !strcmp(vendor, "ATA"))
		return message_format("ATA");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(subsystem, kinds[i].subsystem)) {
			*nvme = kinds[i].nvme;
			return message_format("%s", kinds[i].kind);
		}
	return message_format("%s", subsystem);
}

/* Read the count of an NVMe drive. */
static enum drive_reason ask_nvme(struct drive *drive, dev_t devno)
{
	uint8_t page[DRIVE_LOG_BYTES];

	switch (nvme_log_page(drive->name, devno, DRIVE_LOG_ID, page,
			      sizeof(page), &drive->error)) {
	case NVME_DONE:
		break;
	case NVME_NOT_SUPPORTED:
		return DRIVE_NOT_SUPPORTED;
	case NVME_NOT_PERMITTED:
		return DRIVE_NOT_PERMITTED;
	case NVME_FAILED:
		return DRIVE_FAILED;
	}
	switch (drive_log_read(page, sizeof(page), &drive->log)) {
	case DRIVE_LOG_FINE:
		return DRIVE_SAYS;
	case DRIVE_LOG_EMPTY:
		return DRIVE_EMPTY_PAGE;
	case DRIVE_LOG_VERSION:
		return DRIVE_UNKNOWN_VERSION;
	case DRIVE_LOG_SHORT:
	case DRIVE_LOG_OTHER:
		break;
	}
	return DRIVE_OTHER_PAGE;
}

/* Ask the lowest device of a stack for its count. */
static void ask_drive(struct drive *drive, const struct stack_layer *layer)
{
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	bool nvme;

	drive->name = message_format("%s", layer->name);
	if (layer->kind != STACK_DISK ||
	    !sysfs_device_open(&sys, layer->devno)) {
		drive->kind = message_format("%s",
					     stack_kind_name(layer->kind));
		drive->reason = DRIVE_NONE;
		return;
	}
	drive->kind = find_transport(sys.dir, &nvme);
	drive->reason = nvme ? ask_nvme(drive, layer->devno) : DRIVE_NOT_NVME;
}

void drives_below(struct drives *drives, dev_t devno,
		  void (*visit)(const struct drive *drive, void *context),
		  void *context)
{
	const struct stack *stack = &drives->stack;
	CLEANUP_FREE bool *below = memory_or_exit(calloc(stack->nr + 1,
							 sizeof(*below)));
	size_t i, k;

	/* down: each device is behind those that it lies on */
	for (i = stack->nr; i-- > 0;) {
		const struct stack_layer *layer = &stack->layer[i];

		below[i] |= layer->devno == devno;
		for (k = 0; k < layer->nr_below && below[i]; k++)
			below[layer->below[k]] = true;
	}
	for (i = 0; i < stack->nr; i++) {
		if (!below[i] || stack->layer[i].nr_below)
			continue;
		if (!drives->drive[i].name)
			ask_drive(&drives->drive[i], &stack->layer[i]);
		visit(&drives->drive[i], context);
	}
}

const char *drive_reason_name(enum drive_reason reason)
{
	static const char *const names[] = {
		[DRIVE_SAYS] = NULL,
		[DRIVE_NONE] = "no-drive",
		[DRIVE_NOT_NVME] = "not-nvme",
		[DRIVE_NOT_SUPPORTED] = "not-supported",
		[DRIVE_NOT_PERMITTED] = "not-permitted",
		[DRIVE_FAILED] = "failed",
		[DRIVE_EMPTY_PAGE] = "empty-page",
		[DRIVE_OTHER_PAGE] = "other-page",
		[DRIVE_UNKNOWN_VERSION] = "unknown-version",
	};

	return names[reason];
}

char *drive_explanation(const struct drive *drive)
{
	static const char *const sentences[] = {
		[DRIVE_NONE] = "no drive was found below it",
		[DRIVE_NOT_NVME] = "only NVMe drives have such a count",
		[DRIVE_NOT_SUPPORTED] = "log page C0h is not supported",
		[DRIVE_NOT_PERMITTED] = "not permitted, needs root",
		[DRIVE_EMPTY_PAGE] = "its log page C0h is empty",
		[DRIVE_OTHER_PAGE] = "its log page C0h is not that of OCP",
	};
	CLEANUP_FREE char *version = message_format(
		"its log page C0h has the unknown version %u",
		drive->log.version);
	const char *why;

	switch (drive->reason) {
	case DRIVE_SAYS:
		return NULL;
	case DRIVE_FAILED:
		why = drive->error;
		break;
	case DRIVE_UNKNOWN_VERSION:
		why = version;
		break;
	default:
		why = sentences[drive->reason];
	}
	return message_format("this drive does not say: %s", why);
}
