// SPDX-License-Identifier: GPL-2.0
/* Exchange the table of a device under its users, and go back if that fails. */
#include <errno.h>
#include <inttypes.h>
#include <libdevmapper.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "ledger/status.h"
#include "mapped/kernel_log.h"
#include "mapped/online.h"
#include "mapped/task.h"
#include "remedy/remedy.h"
#include "sysfs/dm_name.h"
#include "sysfs/sysfs.h"

/* Read the lines of a table task. */
static void take_lines(struct dm_task *task, struct mapping *mapping)
{
	uint64_t start, length;
	char *type, *params;
	void *next = NULL;

	do {
		next = dm_get_next_target(task, next, &start, &length, &type,
					  &params);
		if (type)
			mapping_add(mapping, start, length, type, params);
	} while (next);
}

int online_open(struct online *device, const char *name)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query(DM_DEVICE_TABLE, name,
						       &info);
	CLEANUP_FREE char *resume = remedy_of_name(REMEDY_DM_RESUME, name);
	CLEANUP_FREE char *clear = remedy_of_name(REMEDY_DM_CLEAR, name);
	int result = ALIGNCTL_BUSY;
	const char *uuid;

	memset(device, 0, sizeof(*device));
	if (!task) {
		if (geteuid())
			message_error("device-mapper needs root; run alignctl as root");
		else
			message_error("%s: device-mapper has no device of this name; was it removed?",
				      name);
		return ALIGNCTL_IO;
	}
	take_lines(task, &device->mapping);
	uuid = dm_task_get_uuid(task);
	device->uuid = memory_or_exit(strdup(uuid ? uuid : ""));
	device->name = memory_or_exit(strdup(name));
	device->devno = makedev(info.major, info.minor);
	device->read_only = info.read_only;
	/* a resume alone would put the loaded table in the old one's place, unchecked */
	if (info.suspended && info.inactive_table)
		message_error("%s: is suspended by another program, which has loaded a table, too; if that program is gone: %s && %s",
			      name, clear, resume);
	else if (info.suspended)
		message_error("%s: is suspended by another program; if that program is gone: %s",
			      name, resume);
	else if (info.inactive_table)
		message_error("%s: a table was loaded and not resumed, perhaps by an alignctl that was killed; to drop that table: %s",
			      name, clear);
	else if (!device->mapping.nr)
		message_error("%s: has no table, so nothing can use it yet",
			      name);
	else
		result = ALIGNCTL_FINE;
	if (result)
		online_close(device);
	return result;
}

void online_close(struct online *device)
{
	free(device->name);
	free(device->uuid);
	mapping_free(&device->mapping);
	memset(device, 0, sizeof(*device));
}

/*
 * Make a task that loads a table; NULL if that fails. Tasks that change the device
 * name it by its number: another program may rename it meanwhile, and a resume by
 * the old name would leave it suspended.
 */
static struct dm_task *load_task(const struct online *device,
				 const struct mapping *mapping)
{
	struct dm_task *task = task_new(DM_DEVICE_RELOAD);
	bool good = task && task_set_devno(task, device->devno) &&
		    (!device->read_only || dm_task_set_ro(task));
	size_t i;

	for (i = 0; good && i < mapping->nr; i++)
		good = dm_task_add_target(task, mapping->line[i].start,
					  mapping->line[i].length,
					  mapping->line[i].type,
					  mapping->line[i].params);
	if (good)
		return task;
	if (task)
		dm_task_destroy(task);
	return NULL;
}

/*
 * Resume the device. Return: 0, or an error number.
 *
 * There is no cookie: the udev rules take an event without one like those of
 * 'udevadm trigger', and keep the flags that the device's maker has set (a
 * hidden volume of LVM stays hidden). With a cookie they would take ours.
 */
static int resume(const struct online *device)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_RESUME);
	int error = 0;

	if (!task || !task_set_devno(task, device->devno) ||
	    !dm_task_set_add_node(task, DM_ADD_NODE_ON_CREATE))
		return ENOMEM;
	/* else the library makes a cookie that tells udev to stay away */
	dm_udev_set_sync_support(0);
	if (!dm_task_run(task))
		error = dm_task_get_errno(task);
	dm_udev_set_sync_support(task_udev_runs());
	return error;
}

enum which { LIVE, LOADED };

/*
 * Check that a device's live or loaded table is @mapping; @same compares lines.
 * Allocate nothing that memory_or_exit() guards: the device may be suspended.
 */
static bool has_table(const struct online *device, enum which which,
		      const struct mapping *mapping,
		      bool (*same)(const struct mapping_line *a,
				   const struct mapping_line *b))
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_TABLE);
	struct mapping_line found;
	void *next = NULL;
	size_t i = 0;

	/* a flush would block on a suspended device */
	if (!task || !task_set_devno(task, device->devno) ||
	    !dm_task_no_flush(task) ||
	    (which == LOADED && !dm_task_query_inactive_table(task)) ||
	    !dm_task_run(task))
		return false;
	do {
		next = dm_get_next_target(task, next, &found.start,
					  &found.length, &found.type,
					  &found.params);
		if (!found.type || i == mapping->nr ||
		    !same(&found, &mapping->line[i]))
			return false;
		i++;
	} while (next);
	return i == mapping->nr;
}

/*
 * Check that no other program has suspended the device or loaded a table since
 * it was read, nor another device taken its number.
 */
static bool is_untouched(const struct online *device)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query_devno(
		DM_DEVICE_INFO, device->devno, &info);
	const char *uuid = task ? dm_task_get_uuid(task) : NULL;

	return task && !strcmp(uuid ? uuid : "", device->uuid) &&
	       !info.suspended && !info.inactive_table;
}

/* Clear the loaded table, @next, unless another program's has replaced it. */
static void clear(const struct online *device, const struct mapping *next)
{
	CLEANUP_TASK struct dm_task *task = task_new(DM_DEVICE_CLEAR);

	if (has_table(device, LOADED, next, mapping_line_alike) && task &&
	    task_set_devno(task, device->devno))
		dm_task_run(task);
}

/*
 * Read the number of the device's held blocks, and of those that could not be
 * written. Return: false if that fails.
 */
static bool count_held(const struct online *device, uint64_t *held,
		       uint64_t *degraded)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query_devno(
		DM_DEVICE_STATUS, device->devno, &info);
	struct align_status status;
	struct align_state state;
	uint64_t start, length;
	char *type, *params;
	void *next = NULL;

	*held = *degraded = 0;
	if (!task)
		return false;
	do {
		next = dm_get_next_target(task, next, &start, &length, &type,
					  &params);
		if (!type || strcmp(type, "align"))
			continue;
		if (!status_parse(params, &status, &state))
			return false;
		/* each target says the whole device's numbers */
		*held = state.held_blocks;
		*degraded = state.degraded;
	} while (next);
	return true;
}

/* Signals that end a wait for the device while it is being suspended. */
static const int wake_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define NR_WAKE_SIGNALS	(sizeof(wake_signals) / sizeof(wake_signals[0]))

/**
 * struct critical - what is restored when the device is no longer suspended
 * @mask: mask of blocked signals
 * @action: handlers of wake_signals
 */
struct critical {
	sigset_t mask;
	struct sigaction action[NR_WAKE_SIGNALS];
};

static void wake(int number)
{
	(void)number;
}

/*
 * Prepare to suspend a device that this program or its libraries may lie on:
 * nothing may need a page of it, and no signal may end the program while it is
 * suspended, or has a second table. Return: false if memory cannot be locked.
 */
static bool critical_enter(struct critical *critical)
{
	struct sigaction action = { .sa_handler = wake };
	sigset_t blocked;
	size_t i;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return false;
	/* allocations do not wait for the device; kernels before 5.6 cannot */
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	sigfillset(&blocked);
	for (i = 0; i < NR_WAKE_SIGNALS; i++) {
		sigdelset(&blocked, wake_signals[i]);
		sigaction(wake_signals[i], NULL, &critical->action[i]);
		if (critical->action[i].sa_handler != SIG_IGN)
			sigaction(wake_signals[i], &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &blocked, &critical->mask);
	return true;
}

static void critical_leave(const struct critical *critical)
{
	size_t i;

	for (i = 0; i < NR_WAKE_SIGNALS; i++)
		sigaction(wake_signals[i], &critical->action[i], NULL);
	sigprocmask(SIG_SETMASK, &critical->mask, NULL);
	prctl(PR_SET_IO_FLUSHER, 0, 0, 0, 0);
	munlockall();
}

enum swap_result {
	SWAP_DONE,
	SWAP_NO_SUSPEND,	/* the device could not be suspended */
	SWAP_CHANGED,		/* another program has changed the device */
	SWAP_HELD,		/* held blocks could not be written */
	SWAP_NO_RESUME,		/* the new table could not be resumed */
	SWAP_SUSPENDED,		/* no table could be resumed */
};

/*
 * Let the device go on with its old table after the new one failed: the kernel
 * has dropped the new table, or it is live and another one must take its place.
 */
static enum swap_result go_back(const struct online *device,
				const struct mapping *next,
				struct dm_task *old)
{
	clear(device, next);
	if (!has_table(device, LIVE, &device->mapping, mapping_line_alike) &&
	    !dm_task_run(old))
		return SWAP_SUSPENDED;
	return resume(device) ? SWAP_SUSPENDED : SWAP_NO_RESUME;
}

/*
 * Suspend the device, look whether the loaded table, @next, may take the live
 * one's place, and resume it with either. The looks come after the suspend,
 * when no write can be on its way. Print nothing: standard error may be a file
 * on the device. @load: the task that has loaded @next. @error: set to the
 * error number if a request failed.
 */
static enum swap_result swap(const struct online *device,
			     const struct mapping *next, struct dm_task *load,
			     struct dm_task *suspend, struct dm_task *old,
			     bool drop_held, int *error)
{
	enum swap_result result = SWAP_DONE;
	struct dm_info info;
	uint64_t held, degraded;

	/*
	 * Only the program that has suspended the device may resume it. One that
	 * does so between the load and the next step is not noticed, as the
	 * kernel does not tell whose suspend it was.
	 */
	if (!dm_task_get_info(load, &info) || info.suspended) {
		clear(device, next);
		return SWAP_CHANGED;
	}
	if (!dm_task_run(suspend)) {
		*error = dm_task_get_errno(suspend);
		clear(device, next);
		return SWAP_NO_SUSPEND;
	}
	if (!has_table(device, LIVE, &device->mapping, mapping_line_same) ||
	    !has_table(device, LOADED, next, mapping_line_alike))
		result = SWAP_CHANGED;
	else if (!drop_held && (!count_held(device, &held, &degraded) || held))
		result = SWAP_HELD;
	if (result)
		clear(device, next);
	*error = resume(device);
	if (!*error)
		return result;
	if (result != SWAP_CHANGED)
		return go_back(device, next, old);
	/* the old table is out of date, and must not come back */
	return resume(device) ? SWAP_SUSPENDED : SWAP_CHANGED;
}

static void report_suspended(const char *name, int error)
{
	CLEANUP_FREE char *resume = remedy_of_name(REMEDY_DM_RESUME, name);

	message_error("%s: stays suspended, no table can be resumed: %s; try '%s'",
		      name, strerror(error), resume);
}

/* Report why the table was not replaced. Return: enum alignctl_exit. */
static int report_swap(const struct online *device, enum swap_result result,
		       int error)
{
	/* it may have been renamed meanwhile */
	CLEANUP_FREE char *now = dm_name_of(device->devno);
	const char *name = now ? now : device->name;
	uint64_t held, degraded;

	switch (result) {
	case SWAP_DONE:
		return ALIGNCTL_FINE;
	case SWAP_NO_SUSPEND:
		message_error("%s: cannot be suspended: %s; the old table stays",
			      name, error == EINTR ? "interrupted" :
						     strerror(error));
		return ALIGNCTL_IO;
	case SWAP_CHANGED:
		message_error("%s: another program has suspended this device or changed its table meanwhile; try again",
			      name);
		return ALIGNCTL_BUSY;
	case SWAP_HELD:
		if (count_held(device, &held, &degraded) && degraded)
			mode_report_degraded(name, degraded);
		message_error("%s: a new table would lose these acknowledged writes; the old table stays",
			      name);
		return ALIGNCTL_BUSY;
	case SWAP_NO_RESUME:
		message_error("%s: the new table cannot be resumed: %s; the old one is back",
			      name, strerror(error));
		return ALIGNCTL_IO;
	case SWAP_SUSPENDED:
		report_suspended(name, error);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_IO;
}

/*
 * Return what the old table passes on and align does not, going by the reason
 * for which the kernel refused to load the new one; NULL: that is not why.
 */
static const char *lost_feature(const char *reason)
{
	if (!strncmp(reason, "Inline encryption ", 18))
		return "inline encryption";
	if (!strncmp(reason, "can't change device type ", 25))
		return "DAX";
	return NULL;
}

/*
 * Report that a table could not be loaded, and close the log. @attaches: the
 * table would have made linear align.
 */
static void report_load(const struct online *device, struct dm_task *load,
			bool attaches, int log)
{
	CLEANUP_FREE char *reason = kernel_log_reason(log);
	const char *lost = reason && attaches ? lost_feature(reason) : NULL;

	if (lost)
		message_error("%s: passes on %s, which align does not; unmount it, then attach without --online",
			      device->name, lost);
	else if (reason)
		message_error("%s: the kernel refused the table: %s; the old one stays",
			      device->name, reason);
	else
		message_error("%s: the kernel refused the table: %s; the old one stays",
			      device->name, task_error(load));
}

int online_replace(const struct online *device, const struct mapping *next,
		   bool drop_held)
{
	CLEANUP_TASK struct dm_task *load = load_task(device, next);
	CLEANUP_TASK struct dm_task *old = load_task(device, &device->mapping);
	CLEANUP_TASK struct dm_task *suspend = task_new(DM_DEVICE_SUSPEND);
	struct critical critical;
	enum swap_result result = SWAP_CHANGED;
	int log, error = 0;
	bool untouched, loaded;

	if (!load || !old || !suspend ||
	    !task_set_devno(suspend, device->devno)) {
		message_error("%s: %s", device->name, task_error(load));
		return ALIGNCTL_IO;
	}
	if (!critical_enter(&critical)) {
		message_error("%s: cannot lock memory: %s; the old table stays",
			      device->name, strerror(errno));
		return ALIGNCTL_IO;
	}
	log = kernel_log_open();
	untouched = is_untouched(device);
	loaded = untouched && dm_task_run(load);
	if (loaded)
		result = swap(device, next, load, suspend, old, drop_held,
			      &error);
	critical_leave(&critical);
	if (untouched && !loaded) {
		report_load(device, load,
			    mapping_line_is(device->mapping.line, "linear") &&
			    mapping_line_is(next->line, "align"), log);
		return task_refusal_status(load);
	}
	if (log >= 0)
		close(log);
	if (!result && !has_table(device, LIVE, next, mapping_line_alike))
		result = SWAP_CHANGED;
	return report_swap(device, result, error);
}

char *online_maker(const struct online *device)
{
	if (!strncmp(device->uuid, "LVM-", 4))
		return message_format("LVM ('lvchange --refresh', lvextend, the next activation)");
	if (!strncmp(device->uuid, "part", 4))
		return message_format("kpartx ('kpartx -u', the next 'kpartx -a')");
	return NULL;
}

char *online_path(dev_t devno)
{
	CLEANUP_FREE char *dm = NULL;
	CLEANUP_SYSFS struct sysfs_device device = { 0 };
	char *path;

	if (!sysfs_device_open(&device, devno))
		return message_format("%u:%u", major(devno), minor(devno));
	dm = sysfs_text(device.dir, "dm/name");
	path = dm ? message_format("/dev/mapper/%s", dm) :
		    message_format("/dev/%s", device.name);
	return path;
}

/* Check whether a device's table is all linear. */
static bool is_linear(const char *name)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query(DM_DEVICE_TABLE, name,
						       &info);
	struct mapping mapping = { 0 };
	bool linear;
	size_t i;

	if (!task)
		return false;
	take_lines(task, &mapping);
	linear = mapping.nr;
	for (i = 0; i < mapping.nr; i++)
		linear &= mapping_line_is(&mapping.line[i], "linear");
	mapping_free(&mapping);
	return linear;
}

#define BELOW_DEPTH_MAX	8

/**
 * struct below - search for the devices where align can be put
 * @commands: the commands found, or NULL
 * @online: all of them are for devices that stay in use
 * @depth: number of devices that the search has passed
 */
struct below {
	char *commands;
	bool online;
	unsigned int depth;
};

static void visit_slave(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *slaves = message_format("%s/slaves", dir);
	CLEANUP_FREE char *dm = sysfs_text(dir, "dm/name");
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");
	struct below *below = context;
	CLEANUP_FREE char *before = NULL, *path = NULL, *command = NULL;
	/* its paths lead to the same blocks, which may have one align device */
	bool multipath = uuid && !strncmp(uuid, "mpath-", strlen("mpath-"));
	bool linear = dm && !multipath && is_linear(dm);
	dev_t devno;

	if (!sysfs_devno(dir, "dev", &devno))
		return;
	if (dm && !linear && !multipath && below->depth < BELOW_DEPTH_MAX) {
		below->depth++;
		sysfs_each(slaves, visit_slave, below);
		below->depth--;
		return;
	}
	before = below->commands;
	path = online_path(devno);
	command = remedy_of_device(linear ? REMEDY_ATTACH_ONLINE :
					    REMEDY_ATTACH, path);
	below->commands = message_format("%s%s'%s'", before ? before : "",
					 before ? ", " : "", command);
	below->online &= linear;
}

char *online_below(const char *dir, bool *online)
{
	CLEANUP_FREE char *slaves = message_format("%s/slaves", dir);
	struct below below = { .online = true };

	sysfs_each(slaves, visit_slave, &below);
	*online = below.online;
	return below.commands;
}
