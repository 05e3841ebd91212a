// SPDX-License-Identifier: GPL-2.0
/*
 * mapperhook: a library for LD_PRELOAD in place of libdevmapper, on a machine where
 * device-mapper has the target align and no devices. It takes what makes a device,
 * dm-0, and appends each request as a line to the file MAPPERHOOK. Anything else
 * fails. If MAPPERHOOK_OPEN is set, dm-0 is an align device that attach has made, and
 * is open so many times until there is the file MAPPERHOOK_CLOSED, and dm-1 as
 * MAPPERHOOK_OPEN_1 says. If MAPPERHOOK_MADE is set, the device is there once it is made.
 */
#include <libdevmapper.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dm_task {
	int type;
	int minor;
	bool secure;
};

/* A table may have a key: only a task whose copies are wiped may see it. */
static void refuse_copies(const struct dm_task *task)
{
	if (!task->secure && (task->type == DM_DEVICE_TABLE ||
			      task->type == DM_DEVICE_RELOAD))
		abort();
}

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
	static bool made;
	const size_t nr = sizeof(names) / sizeof(names[0]);
	const char *log = getenv("MAPPERHOOK");
	FILE *file;

	refuse_copies(task);
	if (task->type == DM_DEVICE_INFO ||
	    task->type == DM_DEVICE_LIST_VERSIONS)
		return 1;
	if (task->type == DM_DEVICE_STATUS || task->type == DM_DEVICE_TABLE)
		return made || getenv("MAPPERHOOK_OPEN");
	if ((size_t)task->type >= nr || !names[task->type])
		return 0;
	file = log ? fopen(log, "a") : NULL;
	if (!file)
		abort();
	made |= getenv("MAPPERHOOK_MADE") && task->type == DM_DEVICE_RESUME;
	fprintf(file, "%s\n", names[task->type]);
	fclose(file);
	return 1;
}

int dm_task_get_info(struct dm_task *task, struct dm_info *info)
{
	const char *open = getenv("MAPPERHOOK_OPEN");
	const char *count = task->minor ? getenv("MAPPERHOOK_OPEN_1") : open;
	const char *closed = getenv("MAPPERHOOK_CLOSED");

	memset(info, 0, sizeof(*info));
	info->exists = open || task->type == DM_DEVICE_CREATE ||
		       task->type == DM_DEVICE_STATUS ||
		       task->type == DM_DEVICE_TABLE;
	info->open_count = count ? atoi(count) : 0;
	if (!task->minor && closed && !access(closed, F_OK))
		info->open_count = 0;
	info->major = 253;
	return 1;
}

const char *dm_task_get_uuid(const struct dm_task *task)
{
	return task ? "ALIGN-1" : NULL;
}

void *dm_get_next_target(struct dm_task *task, void *next, uint64_t *start,
			 uint64_t *length, char **type, char **params)
{
	static char align[] = "align", table[] = "8:0 0",
		status[] = "report physical_block_size:4096 alignment_offset:0 epoch:0";

	(void)next;
	*start = 0;
	*length = 65536;
	*type = align;
	*params = task->type == DM_DEVICE_TABLE ? table : status;
	return NULL;
}

int dm_task_secure_data(struct dm_task *task)
{
	task->secure = true;
	return 1;
}

int dm_task_no_flush(struct dm_task *task)
{
	return !!task;
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

int dm_task_set_major(struct dm_task *task, int major)
{
	return task && major == 253;
}

int dm_task_set_minor(struct dm_task *task, int minor)
{
	task->minor = minor;
	return 1;
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
