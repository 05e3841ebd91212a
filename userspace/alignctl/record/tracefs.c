// SPDX-License-Identifier: GPL-2.0
/*
 * Why not libtracefs (1.6.4 of Debian 12, 1.8.1 of Debian 13): this file would
 * be no shorter, as the library neither reports errors nor removes instances of
 * killed processes. It mounts tracefs unasked and takes over an instance that
 * exists. Its tracefs_cpu_open() sets no O_CLOEXEC, so a command that outlives
 * a killed recorder keeps the instance busy. It counts lost events from 1.8 on.
 * Reading pages through it costs more: see Documentation/develop/benchmarks.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "record/tracefs.h"
#include "remedy/remedy.h"
#include "sysfs/sysfs.h"

#define PREFIX	"alignctl-"

/* For exit(): an instance left behind would go on filling its buffers. */
static struct tracefs *live;

static void close_live(void)
{
	if (live)
		tracefs_close(live);
}

static int refuse_file(const char *path, const char *what)
{
	if (errno == EACCES || errno == EPERM)
		message_error("%s: %s: %s; recording needs root (CAP_DAC_OVERRIDE for tracefs) and a lockdown that allows tracing",
			      path, what, strerror(errno));
	else
		message_error("%s: %s: %s", path, what, strerror(errno));
	return ALIGNCTL_IO;
}

/* Find where tracefs is mounted. Return: enum alignctl_exit; reported. */
static int find_root(struct tracefs *tracefs)
{
	static const char *const places[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	CLEANUP_FREE char *usual = sysfs_path("%s", places[0]);
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		CLEANUP_FREE char *root = sysfs_path("%s", places[i]);
		CLEANUP_FREE char *dir = message_format("%s/instances", root);

		if (!access(dir, F_OK)) {
			tracefs->root = message_format("%s", root);
			return ALIGNCTL_FINE;
		}
		if (errno == EACCES || errno == EPERM)
			return refuse_file(dir, "no access to tracefs");
	}
	CLEANUP_FREE char *mount = remedy_of_device(REMEDY_MOUNT_TRACEFS,
						    usual);

	message_error("%s: no tracefs; mount it with '%s' (needs CONFIG_FTRACE)",
		      usual, mount);
	return ALIGNCTL_USAGE;
}

/* Remove an instance whose process is dead; warn if it is still open. */
static void remove_stale(const char *name, void *context)
{
	const struct tracefs *tracefs = context;
	const char *at = name + strlen(PREFIX);
	CLEANUP_FREE char *dir = NULL;
	uint64_t pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)) ||
	    !decimal_read(&at, INT32_MAX, &pid) || *at)
		return;
	/* an instance with our own number is of an earlier process */
	if ((pid_t)pid != getpid() && (!kill((pid_t)pid, 0) || errno != ESRCH))
		return;
	dir = message_format("%s/instances/%s", tracefs->root, name);
	if (rmdir(dir))
		message_warning("%s: left by a dead process; cannot be removed: %s",
				dir, strerror(errno));
}

int tracefs_open(struct tracefs *tracefs)
{
	CLEANUP_FREE char *instances = NULL;
	static bool at_exit;
	int result;

	memset(tracefs, 0, sizeof(*tracefs));
	result = find_root(tracefs);
	if (result)
		return result;
	instances = message_format("%s/instances", tracefs->root);
	sysfs_each(instances, remove_stale, tracefs);
	tracefs->dir = message_format("%s/" PREFIX "%d", instances, getpid());
	if (mkdir(tracefs->dir, 0700)) {
		result = refuse_file(tracefs->dir, "cannot be created");
		free(tracefs->dir);
		tracefs->dir = NULL;
		tracefs_close(tracefs);
		return result;
	}
	live = tracefs;
	if (!at_exit)
		atexit(close_live);
	at_exit = true;
	return ALIGNCTL_FINE;
}

void tracefs_close(struct tracefs *tracefs)
{
	unsigned int i;

	live = NULL;
	for (i = 0; i < tracefs->nr_cpus; i++) {
		close(tracefs->cpu[i].fd);
		free(tracefs->cpu[i].dir);
	}
	free(tracefs->cpu);
	/* removing the instance disables its events */
	if (tracefs->dir && rmdir(tracefs->dir))
		message_warning("%s: cannot be removed: %s; use 'rmdir' once it is closed everywhere",
				tracefs->dir, strerror(errno));
	free(tracefs->dir);
	free(tracefs->root);
	memset(tracefs, 0, sizeof(*tracefs));
}

struct opening {
	struct tracefs *tracefs;
	int result;
};

static void open_cpu(const char *name, void *context)
{
	static const char prefix[] = "cpu";
	struct opening *opening = context;
	struct tracefs *tracefs = opening->tracefs;
	const char *at = name + strlen(prefix);
	CLEANUP_FREE char *path = NULL;
	struct tracefs_cpu cpu;
	uint64_t number;

	if (opening->result || strncmp(name, prefix, strlen(prefix)) ||
	    !decimal_read(&at, UINT32_MAX, &number) || *at)
		return;
	path = message_format("%s/per_cpu/%s/trace_pipe_raw", tracefs->dir,
			      name);
	cpu.number = (unsigned int)number;
	cpu.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (cpu.fd < 0) {
		opening->result = refuse_file(path, "cannot be opened");
		return;
	}
	cpu.dir = message_format("%s/per_cpu/%s", tracefs->dir, name);
	*ARRAY_APPEND(tracefs->cpu, tracefs->nr_cpus) = cpu;
}

int tracefs_open_cpus(struct tracefs *tracefs)
{
	CLEANUP_FREE char *dir = message_format("%s/per_cpu", tracefs->dir);
	struct opening opening = { .tracefs = tracefs };

	sysfs_each(dir, open_cpu, &opening);
	if (!opening.result && !tracefs->nr_cpus) {
		message_error("%s: has no processors", dir);
		return ALIGNCTL_IO;
	}
	return opening.result;
}

char *tracefs_read(const char *dir, const char *file)
{
	char *text = sysfs_text(dir, file);

	if (!text)
		message_error("%s/%s: cannot be read: %s", dir, file,
			      strerror(errno));
	return text;
}

int tracefs_write(const struct tracefs *tracefs, const char *file,
		  const char *text)
{
	CLEANUP_FREE char *path = message_format("%s/%s", tracefs->dir, file);
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return refuse_file(path, "cannot be opened");
	if (write(fd, text, strlen(text)) < 0) {
		bool memory = errno == ENOMEM;

		/* only the buffers need much */
		message_error("%s: the kernel refuses '%s': %s%s", path, text,
			      strerror(errno), memory ? "; give a smaller --buffer" : "");
		return memory ? ALIGNCTL_IO : ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Find "KEY: N" at the start of a line; false if there is none. */
static bool find_count(const char *stats, const char *key, uint64_t *count)
{
	size_t length = strlen(key);
	const char *line = stats;

	while (strncmp(line, key, length)) {
		line = strchr(line, '\n');
		if (!line)
			return false;
		line++;
	}
	line += length;
	return decimal_read(&line, UINT64_MAX, count);
}

bool tracefs_parse_lost(const char *stats, uint64_t *lost)
{
	uint64_t overrun, commit, dropped;

	return find_count(stats, "overrun: ", &overrun) &&
	       find_count(stats, "commit overrun: ", &commit) &&
	       find_count(stats, "dropped events: ", &dropped) &&
	       !__builtin_add_overflow(overrun, commit, lost) &&
	       !__builtin_add_overflow(*lost, dropped, lost);
}

bool tracefs_lost(const struct tracefs_cpu *cpu, uint64_t *lost)
{
	CLEANUP_FREE char *stats = tracefs_read(cpu->dir, "stats");

	if (!stats)
		return false;
	if (tracefs_parse_lost(stats, lost))
		return true;
	message_error("%s/stats: does not say how many events were lost: '%s'",
		      cpu->dir, stats);
	return false;
}
