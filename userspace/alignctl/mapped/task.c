// SPDX-License-Identifier: GPL-2.0
/* Run tasks of libdevmapper, and keep their errors for our own messages. */
#include <errno.h>
#include <libdevmapper.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "mapped/kernel_log.h"
#include "mapped/task.h"

/* Last error message of libdevmapper. */
static char library_error[256];

__attribute__((format(printf, 5, 6)))
static void keep_error(int level, const char *file, int line,
		       int dm_errno, const char *format, ...)
{
	va_list args;

	(void)file;
	(void)line;
	(void)dm_errno;
	if ((level & 7) > 3)	/* LOG_ERR; drop warnings and less */
		return;
	va_start(args, format);
	vsnprintf(library_error, sizeof(library_error), format, args);
	va_end(args);
}

bool task_udev_runs(void)
{
	return !access("/run/udev/control", F_OK);
}

struct dm_task *task_new(int type)
{
	struct dm_task *task;
	static bool ready;

	if (!ready) {
		dm_log_with_errno_init(keep_error);
		dm_udev_set_sync_support(task_udev_runs());
		ready = true;
	}
	library_error[0] = '\0';
	task = dm_task_create(type);
	/* a line of dm-crypt has its key: the library and the kernel wipe copies */
	if (task && (type == DM_DEVICE_TABLE || type == DM_DEVICE_RELOAD))
		dm_task_secure_data(task);
	return task;
}

static int task_errno(struct dm_task *task)
{
	return task ? dm_task_get_errno(task) : 0;
}

const char *task_error(struct dm_task *task)
{
	if (task_errno(task))
		return strerror(task_errno(task));
	return *library_error ? library_error : "device-mapper failed";
}

bool task_run_and_settle(struct dm_task *task)
{
	uint32_t cookie = 0;
	bool done;

	if (!dm_task_set_cookie(task, &cookie, 0))
		return false;
	done = dm_task_run(task);
	dm_udev_wait(cookie);
	dm_task_update_nodes();
	return done;
}

bool task_set_devno(struct dm_task *task, dev_t devno)
{
	return dm_task_set_major(task, (int)major(devno)) &&
	       dm_task_set_minor(task, (int)minor(devno));
}

/* Run a task if it is @addressed to a device, else destroy it; as task_query(). */
static struct dm_task *run_query(struct dm_task *task, bool addressed,
				 struct dm_info *info)
{
	/* a flush would block on a suspended device */
	if (addressed && dm_task_no_flush(task) && dm_task_run(task) &&
	    dm_task_get_info(task, info) && info->exists)
		return task;
	if (task)
		dm_task_destroy(task);
	return NULL;
}

struct dm_task *task_query(int type, const char *name, struct dm_info *info)
{
	struct dm_task *task = task_new(type);

	return run_query(task, task && dm_task_set_name(task, name), info);
}

struct dm_task *task_query_devno(int type, dev_t devno, struct dm_info *info)
{
	struct dm_task *task = task_new(type);

	return run_query(task, task && task_set_devno(task, devno), info);
}

void task_report_refusal(const char *name, const char *what,
			 struct dm_task *task, int log)
{
	CLEANUP_FREE char *reason = kernel_log_reason(log);

	if (reason)
		message_error("%s: %s: %s", name, what, reason);
	else
		message_error("%s: %s: %s (the kernel log, 'dmesg', may say why)",
			      name, what, task_error(task));
}

int task_refusal_status(struct dm_task *task)
{
	switch (task_errno(task)) {
	case EINVAL:
		return ALIGNCTL_USAGE;
	case EBUSY:
		return ALIGNCTL_BUSY;
	default:
		return ALIGNCTL_IO;
	}
}
