// SPDX-License-Identifier: GPL-2.0
/* Find align devices by device-mapper or by sysfs, and send them messages. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/signals.h"
#include "ledger/ledger.h"
#include "mapped/dm.h"
#include "mapped/kernel_log.h"
#include "mapped/task.h"
#include "sysfs/dm_name.h"
#include "sysfs/sysfs.h"

#define TARGET_TYPE	"align"
#define UUID_PREFIX	"ALIGN-"

static_assert(DM_MAX_NAME + 1 == DM_NAME_LEN, "the kernel's limit");

/* Visit the targets of type align that a status or table task has read. */
static void each_target(struct dm_task *task,
			void (*visit)(unsigned int index, uint64_t start,
				      uint64_t length, const char *params,
				      void *context),
			void *context)
{
	uint64_t start, length;
	unsigned int index = 0;
	char *type, *params;
	void *next = NULL;

	do {
		next = dm_get_next_target(task, next, &start, &length, &type,
					  &params);
		if (type && !strcmp(type, TARGET_TYPE))
			visit(index, start, length, params, context);
		index++;
	} while (next);
}

static void take_status(unsigned int index, uint64_t start, uint64_t length,
			const char *params, void *context)
{
	struct dm_align *device = context;
	struct align_target target = {
		.index = index, .start = start, .length = length,
	};

	if (status_parse(params, &target.status, &device->state))
		*ARRAY_APPEND(device->target, device->nr_targets) = target;
	else
		message_warning("%s: unknown status line: %s", device->name,
				params);
}

static void take_table(unsigned int index, uint64_t start, uint64_t length,
		       const char *params, void *context)
{
	struct dm_align *device = context;
	size_t i;

	(void)index;
	(void)length;
	for (i = 0; i < device->nr_targets; i++) {
		struct align_target *target = &device->target[i];

		if (target->start == start)
			status_parse_table(params, &target->table);
	}
}

/* Read the members of the targets that only sysfs has. */
static void read_sysfs(struct dm_align *device)
{
	CLEANUP_FREE char *dir = NULL;
	CLEANUP_SYSFS struct sysfs_device self = { 0 };
	int64_t oldest;
	size_t i;

	device->held_oldest_ms = MAYBE_UNKNOWN;
	for (i = 0; i < device->nr_targets; i++)
		target_read_below(&device->target[i]);
	if (!sysfs_device_open(&self, device->devno))
		return;
	device->logical = sysfs_logical(self.disk_dir);
	dir = message_format("%s/align", self.dir);
	if (sysfs_number(dir, "held_oldest_ms", &oldest))
		device->held_oldest_ms = maybe_of(oldest);
	for (i = 0; i < device->nr_targets; i++)
		target_read_holding(&device->target[i], dir);
}

/* Read a device; false if it is gone or has no align target. */
static bool read_device(struct dm_align *device, const char *name)
{
	CLEANUP_TASK struct dm_task *status = NULL;
	CLEANUP_TASK struct dm_task *table = NULL;
	struct dm_info info;
	const char *uuid;

	memset(device, 0, sizeof(*device));
	table = task_query(DM_DEVICE_TABLE, name, &info);
	status = task_query(DM_DEVICE_STATUS, name, &info);
	if (!status || !table)
		return false;
	device->name = memory_or_exit(strdup(name));
	uuid = dm_task_get_uuid(status);
	device->uuid = memory_or_exit(strdup(uuid ? uuid : ""));
	device->devno = makedev(info.major, info.minor);
	device->open_count = info.open_count;
	device->suspended = info.suspended;
	each_target(status, take_status, device);
	each_target(table, take_table, device);
	read_sysfs(device);
	if (device->nr_targets)
		return true;
	dm_align_free(device);
	return false;
}

void dm_align_list_free(struct dm_align *devices, size_t nr)
{
	while (nr)
		dm_align_free(&devices[--nr]);
	free(devices);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct dm_align *)a)->name,
		      ((const struct dm_align *)b)->name);
}

static int report_no_dm(struct dm_task *task)
{
	if (geteuid())
		message_error("device-mapper needs root; run alignctl as root");
	else
		message_error("device-mapper is missing: %s; does the kernel have its module, dm-mod?",
			      task_error(task));
	return ALIGNCTL_IO;
}

/* List the align devices of device-mapper, by name. */
static int list_dm(struct dm_align **devices, size_t *nr)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_LIST);
	struct dm_names *names;
	uint32_t next = 0;

	*devices = NULL;
	*nr = 0;
	if (!task || !dm_task_run(task))
		return report_no_dm(task);
	names = dm_task_get_names(task);
	if (!names || !names->dev)
		return ALIGNCTL_FINE;
	do {
		struct dm_align device;

		names = (struct dm_names *)((char *)names + next);
		if (read_device(&device, names->name)) {
			*ARRAY_APPEND(*devices, *nr) = device;
		}
		next = names->next;
	} while (next);
	if (*nr)
		qsort(*devices, *nr, sizeof(**devices), by_name);
	return ALIGNCTL_FINE;
}

struct sysfs_list {
	struct dm_align *device;
	size_t nr;
	int result;
};

/* Add a block device to the list if it is an align device. */
static void visit_block(const char *name, void *context)
{
	CLEANUP_FREE char *error = NULL;
	struct sysfs_list *list = context;
	struct ledger ledger = { 0 };

	if (!dm_align_from_sysfs(&ledger.device, name))
		return;
	error = ledger_read(&ledger, ledger.device.dir);
	if (error && !dm_align_ended(&ledger.device)) {
		message_error("%s", error);
		list->result = ALIGNCTL_IO;
	}
	if (error || !ledger.device.nr_targets) {
		ledger_free(&ledger);
		return;
	}
	*ARRAY_APPEND(list->device, list->nr) = ledger.device;
}

static int list_sysfs(struct dm_align **devices, size_t *nr)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");
	struct sysfs_list list = { .result = ALIGNCTL_FINE };

	sysfs_each(dir, visit_block, &list);
	*devices = list.device;
	*nr = list.nr;
	if (list.nr)
		qsort(list.device, list.nr, sizeof(*list.device), by_name);
	return list.result;
}

/* Check whether we may use device-mapper, on the machine that sysfs is of. */
static bool may_use_dm(void)
{
	CLEANUP_TASK struct dm_task *task = NULL;

	if (sysfs_elsewhere())
		return false;
	task = task_new(DM_DEVICE_LIST);
	return task && dm_task_run(task);
}

int dm_align_list(struct dm_align **devices, size_t *nr)
{
	return may_use_dm() ? list_dm(devices, nr) : list_sysfs(devices, nr);
}

/* Return the name below /dev/mapper of what the user wrote, for free(). */
static char *resolve_name(const char *wanted)
{
	CLEANUP_FREE char *node = sysfs_path("/sys/class/block/%s", wanted);
	struct stat found;
	char *name;

	if (!strchr(wanted, '/')) {
		name = strncmp(wanted, "dm-", 3) ? NULL :
						   sysfs_text(node, "dm/name");
		return name ? name : memory_or_exit(strdup(wanted));
	}
	if (stat(wanted, &found) || !S_ISBLK(found.st_mode))
		return NULL;
	return dm_name_of(found.st_rdev);
}

/* Print the name of the align device above the device that the user named. */
static void suggest_above(const char *wanted, const struct dm_align *devices,
			  size_t nr)
{
	struct stat found;
	size_t i;

	if (stat(wanted, &found) || !S_ISBLK(found.st_mode))
		return;
	for (i = 0; i < nr; i++)
		if (devices[i].target[0].table.device == found.st_rdev)
			message_error("%s is below the align device %s; name %s",
				      wanted, devices[i].name, devices[i].name);
}

int dm_align_find(struct dm_align *device, const char *wanted)
{
	CLEANUP_FREE char *name = resolve_name(wanted);
	struct dm_align *devices;
	size_t nr;

	if (name && read_device(device, name))
		return ALIGNCTL_FINE;
	if (list_dm(&devices, &nr))
		return ALIGNCTL_IO;
	message_error("%s: not an align device; 'alignctl list' shows them",
		      wanted);
	suggest_above(wanted, devices, nr);
	dm_align_list_free(devices, nr);
	return ALIGNCTL_USAGE;
}

bool dm_align_again(struct dm_align *now, const struct dm_align *device)
{
	CLEANUP_FREE char *name = dm_name_of(device->devno);

	if (!name || !read_device(now, name))
		return false;
	if (!strcmp(now->uuid, device->uuid))
		return true;
	dm_align_free(now);
	return false;
}

bool dm_align_attached(const struct dm_align *device)
{
	return dm_uuid_attached(device->uuid);
}

bool dm_uuid_attached(const char *uuid)
{
	return uuid && !strncmp(uuid, UUID_PREFIX, strlen(UUID_PREFIX));
}

bool dm_uuid_partition(const char *uuid)
{
	const char *at = uuid;
	uint64_t number;

	/* as kpartx makes it: part1-ALIGN-... */
	if (!at || strncmp(at, "part", strlen("part")))
		return false;
	at += strlen("part");
	return decimal_read(&at, UINT32_MAX, &number) && *at == '-' &&
	       dm_uuid_attached(at + 1);
}

bool dm_align_open(const struct dm_align *device)
{
	struct dm_align now;
	bool open;

	if (!read_device(&now, device->name))
		return false;
	open = now.open_count;
	dm_align_free(&now);
	return open;
}

uint64_t dm_align_degraded(const struct dm_align *device)
{
	struct dm_align now;
	uint64_t blocks;

	if (!read_device(&now, device->name))
		return 0;
	blocks = now.state.degraded;
	dm_align_free(&now);
	return blocks;
}

bool dm_align_available(void)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_LIST_VERSIONS);
	struct dm_versions *version;
	uint32_t next = 0;

	if (!task || !dm_task_run(task))
		return false;
	version = dm_task_get_versions(task);
	do {
		version = (struct dm_versions *)((char *)version + next);
		if (!strcmp(version->name, TARGET_TYPE))
			return true;
		next = version->next;
	} while (next);
	return false;
}

bool dm_name_taken(const char *name)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_INFO);
	struct dm_info info;

	return task && dm_task_set_name(task, name) && dm_task_run(task) &&
	       dm_task_get_info(task, &info) && info.exists;
}

bool dm_name_reserved(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") ||
	       !strcmp(name, "control");
}

bool dm_name_lost(const char *name)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query(DM_DEVICE_DEPS, name,
						       &info);
	const struct dm_deps *deps = task ? dm_task_get_deps(task) : NULL;
	uint32_t i;

	for (i = 0; deps && i < deps->count; i++)
		if (sysfs_device_gone(deps->device[i]))
			return true;
	return false;
}

/**
 * struct holders - search for other users of a device below
 * @self: the kernel's name of the device that is none of them
 * @other: a holder that is another device, or NULL
 */
struct holders {
	const char *self;
	char *other;
};

static void visit_holder(const char *name, void *context)
{
	struct holders *holders = context;

	if (!holders->other && strcmp(name, holders->self))
		holders->other = memory_or_exit(strdup(name));
}

char *dm_other_holder(unsigned int number, dev_t below)
{
	CLEANUP_FREE char *self = message_format("dm-%u", number);
	CLEANUP_FREE char *dir = sysfs_path("/sys/dev/block/%u:%u/holders",
					    major(below), minor(below));
	struct holders holders = { .self = self };

	sysfs_each(dir, visit_holder, &holders);
	return holders.other;
}

/*
 * Refuse to go on with a device that was made by @create, if another one maps the
 * device below: the check by O_EXCL came before the table, which holds the device
 * below for all of device-mapper, so that LVM may have activated a volume there
 * between the two. Return: enum alignctl_exit; errors have been reported.
 */
static int refuse_other_holder(struct dm_task *create, const char *name,
			       const char *params)
{
	CLEANUP_FREE char *other = NULL, *dir = NULL, *dm = NULL;
	struct align_table table;
	struct dm_info info;

	if (!dm_task_get_info(create, &info) ||
	    !status_parse_table(params, &table))
		return ALIGNCTL_FINE;
	other = dm_other_holder(info.minor, table.device);
	if (!other)
		return ALIGNCTL_FINE;
	dir = sysfs_path("/sys/class/block/%s", other);
	dm = sysfs_text(dir, "dm/name");
	message_error("%s: not made, as %s%s%s%s uses the device below, too, since just now; close that one first",
		      name, other, dm ? " (" : "", dm ? dm : "", dm ? ")" : "");
	return ALIGNCTL_BUSY;
}

/* Remove a device whose table could not be loaded or resumed. */
static void undo_create(const char *name)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_REMOVE);

	if (!task || !dm_task_set_name(task, name) ||
	    !task_run_and_settle(task))
		message_warning("/dev/mapper/%s is left without a table: %s; remove it before the next attach",
				name, task_error(task));
}

/*
 * Return a UUID for a new device, for free(). It is random, not made from the
 * name: another device may have had the name and live on under a new one.
 */
static char *new_uuid(void)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return NULL;
	return message_format(UUID_PREFIX "%016" PRIx64 "%016" PRIx64,
			      random[0], random[1]);
}

char *dm_node(const char *name, int64_t partition)
{
	CLEANUP_FREE char *text = dm_kernel_name(name);
	size_t length = strlen(text);
	/* kpartx puts a "p" between a digit and the number */
	bool digit = length && isdigit((unsigned char)text[length - 1]);

	return partition ? message_format("%s/%s%s%" PRId64, dm_dir(), text,
					  digit ? "p" : "", partition) :
			   message_format("%s/%s", dm_dir(), text);
}

/*
 * Create, load and resume are separate tasks: the library's one-step form loses
 * the error of the step that failed. A device without a table would be in the
 * way of the next try.
 */
int dm_align_create(const char *name, uint64_t sectors, const char *params)
{
	CLEANUP_SIGNALS sigset_t before = signals_block();
	CLEANUP_TASK struct dm_task *create = task_new(DM_DEVICE_CREATE);
	CLEANUP_TASK struct dm_task *load = task_new(DM_DEVICE_RELOAD);
	CLEANUP_TASK struct dm_task *resume = task_new(DM_DEVICE_RESUME);
	CLEANUP_FREE char *node = dm_node(name, 0);
	CLEANUP_FREE char *uuid = new_uuid();
	int log = kernel_log_open();

	if (!create || !load || !resume || !uuid ||
	    !dm_task_set_name(create, name) ||
	    !dm_task_set_uuid(create, uuid) || !dm_task_run(create)) {
		task_report_refusal(name, "cannot be created", create, log);
		return task_refusal_status(create);
	}
	if (!dm_task_set_name(load, name) ||
	    !dm_task_add_target(load, 0, sectors, TARGET_TYPE, params) ||
	    !dm_task_run(load)) {
		task_report_refusal(name, "the kernel refused the table", load,
				    log);
		undo_create(name);
		return task_refusal_status(load);
	}
	if (refuse_other_holder(create, name, params)) {
		if (log >= 0)
			close(log);
		undo_create(name);
		return ALIGNCTL_BUSY;
	}
	if (!dm_task_set_name(resume, name) ||
	    !dm_task_set_add_node(resume, DM_ADD_NODE_ON_RESUME) ||
	    !task_run_and_settle(resume)) {
		task_report_refusal(name, "cannot be resumed", resume, log);
		undo_create(name);
		return task_refusal_status(resume);
	}
	if (log >= 0)
		close(log);
	if (access(node, F_OK))
		dm_mknodes(name);
	return ALIGNCTL_FINE;
}

/*
 * Address a task by the device's UUID if attach made the device, else by its number:
 * it may have been renamed since it was read, and its name be another's.
 */
static bool set_device(struct dm_task *task, const struct dm_align *device)
{
	return dm_align_attached(device) ?
		dm_task_set_uuid(task, device->uuid) :
		task_set_devno(task, device->devno);
}

int dm_align_remove(const struct dm_align *device)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_REMOVE);

	/* retry, because udev may have the device open for a moment */
	if (task && set_device(task, device) &&
	    (!task_udev_runs() || dm_task_retry_remove(task)) &&
	    task_run_and_settle(task)) {
		/* without udev, the library removes the node of a name only */
		if (!task_udev_runs())
			dm_mknodes(device->name);
		return ALIGNCTL_FINE;
	}
	message_error("%s: cannot be removed: %s", device->name,
		      task_error(task));
	return task_refusal_status(task);
}

int dm_align_message(const struct dm_align *device, uint64_t sector,
		     const char *message)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_TARGET_MSG);
	int log = kernel_log_open();

	if (task && set_device(task, device) &&
	    dm_task_set_sector(task, sector) &&
	    dm_task_set_message(task, message) && dm_task_run(task)) {
		if (log >= 0)
			close(log);
		return ALIGNCTL_FINE;
	}
	task_report_refusal(device->name, "the kernel refused", task, log);
	return task_refusal_status(task);
}

int dm_align_message_all(const struct dm_align *device, const char *message)
{
	int result = ALIGNCTL_FINE;
	size_t i;

	for (i = 0; i < device->nr_targets && !result; i++)
		result = dm_align_message(device, device->target[i].start,
					  message);
	return result;
}
