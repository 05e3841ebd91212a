// SPDX-License-Identifier: GPL-2.0
/*
 * mapperhook: a library for LD_PRELOAD in place of libdevmapper, on a machine where
 * device-mapper has no devices and the target align. It takes what makes a device,
 * dm-0, and appends each request as a line to the file MAPPERHOOK. Anything else
 * fails.
 */
#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dm_task {
	int type;
};

static const char *const names[] = {
	[DM_DEVICE_CREATE] = "create", [DM_DEVICE_RELOAD] = "load",
	[DM_DEVICE_RESUME] = "resume", [DM_DEVICE_REMOVE] = "remove",
};

struct dm_task *dm_task_create(int type)
{
	struct dm_task *task = calloc(1, sizeof(*task));

	if (task)
		task->type = type;
	return task;
}

void dm_task_destroy(struct dm_task *task)
{
	free(task);
}

int dm_task_run(struct dm_task *task)
{
	const size_t nr = sizeof(names) / sizeof(names[0]);
	const char *log = getenv("MAPPERHOOK");
	FILE *file;

	if (task->type == DM_DEVICE_INFO ||
	    task->type == DM_DEVICE_LIST_VERSIONS)
		return 1;
	if ((size_t)task->type >= nr || !names[task->type])
		return 0;
	file = log ? fopen(log, "a") : NULL;
	if (!file)
		abort();
	fprintf(file, "%s\n", names[task->type]);
	fclose(file);
	return 1;
}

/* Only what has just been made exists, and nobody asks for its information. */
int dm_task_get_info(struct dm_task *task, struct dm_info *info)
{
	memset(info, 0, sizeof(*info));
	info->exists = task->type == DM_DEVICE_CREATE;
	info->major = 253;
	return 1;
}

struct dm_versions *dm_task_get_versions(struct dm_task *task)
{
	static union {
		struct dm_versions versions;
		char room[64];
	} found;

	(void)task;
	strcpy(found.versions.name, "align");
	return &found.versions;
}

int dm_task_set_name(struct dm_task *task, const char *name)
{
	return task && name;
}

int dm_task_set_uuid(struct dm_task *task, const char *uuid)
{
	return task && uuid;
}

int dm_task_add_target(struct dm_task *task, uint64_t start, uint64_t size,
		       const char *type, const char *params)
{
	return task && !start && size && type && params;
}

int dm_task_set_add_node(struct dm_task *task, dm_add_node_t add_node)
{
	(void)add_node;
	return !!task;
}

int dm_task_set_cookie(struct dm_task *task, uint32_t *cookie, uint16_t flags)
{
	(void)flags;
	*cookie = 0;
	return !!task;
}

int dm_udev_wait(uint32_t cookie)
{
	return !cookie;
}

void dm_task_update_nodes(void)
{
}

int dm_mknodes(const char *name)
{
	return !!name;
}
