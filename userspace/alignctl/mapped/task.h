/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks of libdevmapper, each of which is one request to the kernel. */
#ifndef ALIGNCTL_TASK_H
#define ALIGNCTL_TASK_H

#include <libdevmapper.h>
#include <stdbool.h>
#include <sys/types.h>

/* Create a task; NULL without device-mapper or permission to use it. */
struct dm_task *task_new(int type);

static inline void task_cleanup(struct dm_task **task)
{
	if (*task)
		dm_task_destroy(*task);
}

#define CLEANUP_TASK	__attribute__((cleanup(task_cleanup)))

/* Check for udev; without udev the library makes the nodes itself. */
bool task_udev_runs(void);

/* Run a task of @type on a device; NULL if that fails. */
struct dm_task *task_query(int type, const char *name, struct dm_info *info);
struct dm_task *task_query_devno(int type, dev_t devno, struct dm_info *info);

/* Address a task by a device's number. Return: false if that fails. */
bool task_set_devno(struct dm_task *task, dev_t devno);

/* Run a task that changes devices, and wait for udev to update the nodes. */
bool task_run_and_settle(struct dm_task *task);

/* Return the error of the task that has just failed; @task may be NULL. */
const char *task_error(struct dm_task *task);

/* Return the enum alignctl_exit for a task that failed; @task may be NULL. */
int task_refusal_status(struct dm_task *task);

/* Report a refusal with the kernel's reason, and close the log. */
void task_report_refusal(const char *name, const char *what,
			 struct dm_task *task, int log);

#endif
