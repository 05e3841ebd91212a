// SPDX-License-Identifier: GPL-2.0
/*
 * swaphook: a library for LD_PRELOAD in place of libdevmapper, on a machine whose only
 * device of device-mapper is dm-0, 253:0, a linear one called "first" on 8:0. It takes
 * what replaces a table, and appends each such request as a line to the file SWAPHOOK;
 * at the end, the file has the state of the device. Another program renames the device
 * to "second" while it is being suspended. If SWAPHOOK_LEFT is set, a program that was
 * killed has left the device with a loaded table, and suspended if it is "suspended".
 * If SWAPHOOK_ALIGN is set, it is an align device, which is renamed once its status was
 * read. If SWAPHOOK_NO_RESUME is set, no resume is made.
 */
#include <errno.h>
#include <libdevmapper.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	uint64_t length;
	char type[16];
	char params[256];
};

struct dm_task {
	int type;
	int error;
	bool addressed;		/* by a name or number that is the device's now */
	bool loaded;		/* about the table that is not live */
	bool secure;		/* copies of its tables are wiped */
	struct table table;
};

static struct {
	const char *name;
	bool suspended;
	struct table live, loaded;
} device = {
	.name = "first",
	.live = { 65536, "linear", "8:0 0" },
};

static void note(const char *text)
{
	const char *log = getenv("SWAPHOOK");
	FILE *file = log ? fopen(log, "a") : NULL;

	if (!file)
		abort();
	fprintf(file, "%s\n", text);
	fclose(file);
}

__attribute__((constructor))
static void be_left(void)
{
	const char *left = getenv("SWAPHOOK_LEFT");

	if (getenv("SWAPHOOK_ALIGN"))
		strcpy(device.live.type, "align");
	if (!left)
		return;
	device.suspended = !strcmp(left, "suspended");
	device.loaded = device.live;
}

__attribute__((destructor))
static void note_state(void)
{
	note(device.suspended ? "(suspended)" : "(live)");
	note(device.live.type);
}

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

int dm_task_set_name(struct dm_task *task, const char *name)
{
	task->addressed = !strcmp(name, device.name);
	return 1;
}

int dm_task_set_major(struct dm_task *task, int major)
{
	task->addressed = major == 253;
	return 1;
}

int dm_task_set_minor(struct dm_task *task, int minor)
{
	task->addressed &= !minor;
	return 1;
}

int dm_task_run(struct dm_task *task)
{
	if (task->type == DM_DEVICE_LIST_VERSIONS)
		return 1;
	/* a table may have a key */
	if (!task->secure && (task->type == DM_DEVICE_TABLE ||
			      task->type == DM_DEVICE_RELOAD))
		abort();
	if (!task->addressed) {
		task->error = ENXIO;
		return 0;
	}
	switch (task->type) {
	case DM_DEVICE_STATUS:
		if (getenv("SWAPHOOK_ALIGN"))
			device.name = "second";
		break;
	case DM_DEVICE_TARGET_MSG:
		note("message");
		break;
	case DM_DEVICE_RELOAD:
		note("load");
		device.loaded = task->table;
		break;
	case DM_DEVICE_SUSPEND:
		note("suspend");
		device.suspended = true;
		device.name = "second";
		break;
	case DM_DEVICE_RESUME:
		note("resume");
		if (getenv("SWAPHOOK_NO_RESUME")) {
			task->error = ENOMEM;
			return 0;
		}
		if (device.loaded.length)
			device.live = device.loaded;
		device.loaded.length = 0;
		device.suspended = false;
		break;
	case DM_DEVICE_CLEAR:
		note("clear");
		device.loaded.length = 0;
		break;
	}
	return 1;
}

int dm_task_get_info(struct dm_task *task, struct dm_info *info)
{
	memset(info, 0, sizeof(*info));
	info->exists = task->addressed;
	info->suspended = device.suspended;
	info->inactive_table = !!device.loaded.length;
	info->major = 253;
	return 1;
}

void *dm_get_next_target(struct dm_task *task, void *next, uint64_t *start,
			 uint64_t *length, char **type, char **params)
{
	static char status[] = "report physical_block_size:4096 alignment_offset:0 epoch:1";
	struct table *table = task->loaded ? &device.loaded : &device.live;

	(void)next;
	*start = 0;
	*length = table->length;
	*type = table->length ? table->type : NULL;
	*params = task->type == DM_DEVICE_STATUS ? status : table->params;
	return NULL;
}

int dm_task_add_target(struct dm_task *task, uint64_t start, uint64_t size,
		       const char *type, const char *params)
{
	task->table.length = start + size;
	snprintf(task->table.type, sizeof(task->table.type), "%s", type);
	snprintf(task->table.params, sizeof(task->table.params), "%s", params);
	return 1;
}

int dm_task_query_inactive_table(struct dm_task *task)
{
	task->loaded = true;
	return 1;
}

int dm_task_get_errno(struct dm_task *task)
{
	return task->error;
}

const char *dm_task_get_uuid(const struct dm_task *task)
{
	return task ? "" : NULL;
}

int dm_task_set_sector(struct dm_task *task, uint64_t sector)
{
	return task && !sector;
}

int dm_task_set_message(struct dm_task *task, const char *message)
{
	return task && message;
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

int dm_task_set_add_node(struct dm_task *task, dm_add_node_t add_node)
{
	(void)add_node;
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
