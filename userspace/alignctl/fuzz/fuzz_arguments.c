// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of every verb, an argument in each line. Devices are made up
 * and nothing is opened; what would be sent to the kernel is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "fleet/reader.h"
#include "forecast/part.h"
#include "ledger/mode.h"
#include "mapped/dm.h"
#include "mapped/module.h"
#include "mapped/online.h"
#include "mapped/resize.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "top/counting.h"
#include "top/disks.h"
#include "trace/convert.h"
#include "trace/trace.h"
#include "verbs/verbs.h"
#include "workload/plan.h"
#include "fuzz.h"

#define WORDS_MAX	32
#define ROOT		"/nothing"	/* of a machine without devices */

int alignctl_main(int argc, char **argv);

/* Only while alignctl runs are calls wrapped: libFuzzer opens files, too. */
static bool running;

/* Make up a device with a geometry by its name: /dev/4k, or any other. */
int __wrap_device_open(struct device *device, const char *path);

int __wrap_device_open(struct device *device, const char *path)
{
	bool large = strstr(path, "4k");

	if (!*path)
		return ALIGNCTL_USAGE;
	*device = (struct device) {
		.path = path, .block = !strstr(path, "file"), .devno = 0x801,
		.sys = { .devno = 0x801, .name = strdup("sda1"),
			 .dir = strdup("/sys/nothing/sda/sda1"),
			 .disk_dir = strdup("/sys/nothing/sda"),
			 .partition = true },
		.sectors = 1 << 20, .logical = large ? 4096 : 512,
		.physical = large ? 16384 : 4096, .io_min = 65536,
	};
	return ALIGNCTL_FINE;
}

int __wrap_device_open_devno(struct device *device, dev_t devno,
			     const char *path);

int __wrap_device_open_devno(struct device *device, dev_t devno,
			     const char *path)
{
	(void)devno;
	return __wrap_device_open(device, path);
}

/* Skip the figures of large workloads, which take seconds; fuzz_plan.c. */
int __wrap_plan_figures(const struct plan *plan,
			const struct align_geometry *g, uint32_t cache_block,
			struct plan_figures *figures);

int __wrap_plan_figures(const struct plan *plan,
			const struct align_geometry *g, uint32_t cache_block,
			struct plan_figures *figures)
{
	(void)g;
	(void)cache_block;
	*figures = (struct plan_figures) { .requests = plan_requests(plan) };
	return ALIGNCTL_FINE;
}

int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);

/* Let devices look free for the check with O_EXCL, and busy for I/O. */
int __wrap_open(const char *path, int flags, ...)
{
	if (!running)
		return __real_open(path, flags, 0666);
	/* the machine has no aligntab */
	if (!strncmp(path, ROOT, strlen(ROOT))) {
		errno = ENOENT;
		return -1;
	}
	if (flags & O_DIRECT) {
		errno = EBUSY;
		return -1;
	}
	return dup(STDERR_FILENO);
}

int __wrap_execvp(const char *file, char *const argv[]);

/* Check the arguments of the program that verify and probe become. */
int __wrap_execvp(const char *file, char *const argv[])
{
	size_t i;

	FUZZ_CHECK(!strcmp(file, argv[0]));
	for (i = 0; argv[i]; i++)
		FUZZ_CHECK(strlen(argv[i]) < SIZE_MAX);
	FUZZ_CHECK(i > 3);
	errno = ENOENT;
	return -1;
}

bool __wrap_reader_start(struct reader *reader);

/* Start no process: fuzz_members.c. */
bool __wrap_reader_start(struct reader *reader)
{
	*reader = (struct reader) { .requests = 3, .answers = 4, .process = 5 };
	return true;
}

int __wrap_stat(const char *path, struct stat *found);
int __real_stat(const char *path, struct stat *found);

int __wrap_stat(const char *path, struct stat *found)
{
	if (!running)
		return __real_stat(path, found);
	errno = ENOENT;
	return -1;
}

struct json_object *__wrap_json_object_from_file(const char *path);

struct json_object *__wrap_json_object_from_file(const char *path)
{
	(void)path;
	return NULL;
}

int __wrap_trace_open_as(struct trace **trace, const char *path,
			 const struct trace_choice *choice);

/* Refuse all traces: they have targets of their own, and "-" would block. */
int __wrap_trace_open_as(struct trace **trace, const char *path,
			 const struct trace_choice *choice)
{
	FUZZ_CHECK(path && choice->from <= TRACE_NR_READABLE);
	FUZZ_CHECK(!choice->columns || choice->from == TRACE_NR_READABLE);
	*trace = NULL;
	return ALIGNCTL_USAGE;
}

void __wrap_guard_usage(struct guard_report *report,
			const struct device *device);

void __wrap_guard_usage(struct guard_report *report,
			const struct device *device)
{
	(void)report;
	(void)device;
}

char *__wrap_guard_loop(const struct device *device);

char *__wrap_guard_loop(const struct device *device)
{
	(void)device;
	return NULL;
}

void __wrap_guard_writers(struct guard_report *report,
			  const struct device *device);

void __wrap_guard_writers(struct guard_report *report,
			  const struct device *device)
{
	(void)report;
	(void)device;
}

int __wrap_guard_signatures(struct guard_report *report,
			    const struct device *device);

int __wrap_guard_signatures(struct guard_report *report,
			    const struct device *device)
{
	(void)report;
	(void)device;
	return ALIGNCTL_FINE;
}

bool __wrap_guard_partition_table(const struct device *device);

bool __wrap_guard_partition_table(const struct device *device)
{
	return strlen(device->path) % 2;
}

char *__wrap_guard_member(const struct device *device, const char *type,
			  int64_t *partition);

char *__wrap_guard_member(const struct device *device, const char *type,
			  int64_t *partition)
{
	(void)type;
	*partition = strlen(device->path) % 3;
	return strstr(device->path, "4k") ? strdup(device->path) : NULL;
}

int __wrap_guard_file_data(struct guard_report *report,
			   const struct device *device, uint64_t end);

int __wrap_guard_file_data(struct guard_report *report,
			   const struct device *device, uint64_t end)
{
	(void)report;
	/* the range to overwrite ends inside the device, or just behind it */
	FUZZ_CHECK(end <= (device->sectors << 9) + 2 * 65536);
	return ALIGNCTL_FINE;
}

int __wrap_trace_convert(const struct trace_conversion *conversion,
			 struct trace_converted *done);

int __wrap_trace_convert(const struct trace_conversion *conversion,
			 struct trace_converted *done)
{
	FUZZ_CHECK(conversion->source && conversion->output);
	FUZZ_CHECK(conversion->choice.from <= TRACE_NR_READABLE &&
		   conversion->to < TRACE_NR_WRITTEN);
	*done = (struct trace_converted) { .format = "csv" };
	return ALIGNCTL_FINE;
}

int __wrap_part_read(struct tallies *tallies, const char *path);

/* Read no partial plan: fuzz_part.c; it has no disks, or is wrong. */
int __wrap_part_read(struct tallies *tallies, const char *path)
{
	FUZZ_CHECK(!tallies->nr && tallies->most_bytes);
	return *path == '!' ? ALIGNCTL_USAGE : ALIGNCTL_FINE;
}

int __wrap_part_write(const struct tallies *tallies, const char *path);

/* Write no file. */
int __wrap_part_write(const struct tallies *tallies, const char *path)
{
	FUZZ_CHECK(path && !tallies->nr);
	return ALIGNCTL_FINE;
}

int __wrap_top_open(struct top **top, const struct top_options *options);

/* Load no programs into the kernel. */
int __wrap_top_open(struct top **top, const struct top_options *options)
{
	FUZZ_CHECK(options->device->block && !options->drive);
	FUZZ_CHECK(options->rows && options->rows <= TOP_MAX_ROWS);
	*top = NULL;
	return ALIGNCTL_IO;
}

int __wrap_disks_open(struct disks **disks, uint32_t cgroups);

/* Load no programs into the kernel. */
int __wrap_disks_open(struct disks **disks, uint32_t cgroups)
{
	FUZZ_CHECK(cgroups <= TOP_MAX_ROWS);
	*disks = NULL;
	return ALIGNCTL_IO;
}

int __wrap_program_run(char *const argv[], char **output);

/* Run no other program; kpartx and lvm print nothing, and fail at random. */
int __wrap_program_run(char *const argv[], char **output)
{
	size_t i;

	for (i = 0; argv[i]; i++)
		FUZZ_CHECK(strlen(argv[i]) < SIZE_MAX);
	*output = strdup("");
	return i % 2;
}

int __wrap_module_ensure(void);

int __wrap_module_ensure(void)
{
	return ALIGNCTL_FINE;
}

int __wrap_dm_align_find(struct dm_align *device, const char *wanted);

int __wrap_dm_align_find(struct dm_align *device, const char *wanted)
{
	memset(device, 0, sizeof(*device));
	if (!*wanted)
		return ALIGNCTL_USAGE;
	device->name = strdup(wanted);
	device->uuid = strdup(strlen(wanted) % 2 ? "ALIGN-1" : "LVM-1");
	device->nr_targets = 1;
	device->target = calloc(1, sizeof(*device->target));
	device->target->device = strdup("sda1");
	strcpy(device->target->status.mode, "report");
	return ALIGNCTL_FINE;
}

int __wrap_dm_align_list(struct dm_align **devices, size_t *nr);

int __wrap_dm_align_list(struct dm_align **devices, size_t *nr)
{
	*devices = calloc(1, sizeof(**devices));
	*nr = 1;
	return __wrap_dm_align_find(*devices, "align-sda1");
}

bool __wrap_dm_name_taken(const char *name);

bool __wrap_dm_name_taken(const char *name)
{
	FUZZ_CHECK(*name && !strchr(name, '/') &&
		   strlen(name) <= DM_MAX_NAME);
	return *name == '!';
}

/* Check that a feature's value is in range. */
static void check_feature(const char *name, const char *value)
{
	size_t length = strlen(value);

	if (!strcmp(name, "mode"))
		FUZZ_CHECK(mode_find(value));
	else if (!strcmp(name, "write_cache"))
		FUZZ_CHECK(!strcmp(value, "on") || !strcmp(value, "off"));
	else if (!strcmp(name, "hold_ms"))
		FUZZ_CHECK(fuzz_is_at_most(value, length, MODE_MAX_HOLD_MS) &&
			   strcmp(value, "0"));
	else if (!strcmp(name, "max_blocks"))
		FUZZ_CHECK(fuzz_is_at_most(value, length, UINT64_MAX) &&
			   strcmp(value, "0"));
	else if (!strcmp(name, "physical_block_size") ||
		 !strcmp(name, "alignment_offset"))
		FUZZ_CHECK(fuzz_is_at_most(value, length, 65536));
	else
		FUZZ_CHECK(!"a feature that the target has");
}

int __wrap_dm_align_create(const char *name, uint64_t sectors,
			   const char *params);

/* Check that a table line has as many arguments as it says, all in range. */
int __wrap_dm_align_create(const char *name, uint64_t sectors,
			   const char *params)
{
	char *copy = strdup(params), *rest = copy, *word = strsep(&rest, " ");
	unsigned int nr = 0;

	FUZZ_CHECK(*name && sectors == 1 << 20);
	FUZZ_CHECK(!strcmp(word, "8:1") && !strcmp(strsep(&rest, " "), "0"));
	word = strsep(&rest, " ");
	while (rest) {
		const char *feature = strsep(&rest, " ");

		FUZZ_CHECK(rest);
		check_feature(feature, strsep(&rest, " "));
		nr += 2;
	}
	FUZZ_CHECK(word ? nr && fuzz_is_number(word, strlen(word), nr) : !nr);
	free(copy);
	return ALIGNCTL_FINE;
}

int __wrap_dm_align_remove(const struct dm_align *device);

int __wrap_dm_align_remove(const struct dm_align *device)
{
	FUZZ_CHECK(*device->name);
	return ALIGNCTL_FINE;
}

bool __wrap_dm_align_open(const struct dm_align *device);

bool __wrap_dm_align_open(const struct dm_align *device)
{
	return strlen(device->name) % 3;
}

int __wrap_online_open(struct online *device, const char *name);

/* Make up a live table of two segments, of which the second is of align. */
int __wrap_online_open(struct online *device, const char *name)
{
	*device = (struct online) { .name = strdup(name), .uuid = strdup("") };
	mapping_add(&device->mapping, 0, 8, "linear", "8:1 0");
	mapping_add(&device->mapping, 8, 8, "align", "8:1 8 2 mode pad");
	return ALIGNCTL_FINE;
}

int __wrap_online_replace(const struct online *device,
			  const struct mapping *next, bool drop_held);

/* Check that detach puts back linear, and nothing else. */
int __wrap_online_replace(const struct online *device,
			  const struct mapping *next, bool drop_held)
{
	(void)drop_held;
	FUZZ_CHECK(*device->name && next->nr == 2);
	FUZZ_CHECK(!strcmp(next->line[1].type, "linear") &&
		   !strcmp(next->line[1].params, "8:1 8"));
	return ALIGNCTL_FINE;
}

int __wrap_resize_device(const struct dm_align *device);

int __wrap_resize_device(const struct dm_align *device)
{
	FUZZ_CHECK(*device->name);
	return ALIGNCTL_FINE;
}

uint64_t __wrap_dm_align_degraded(const struct dm_align *device);

uint64_t __wrap_dm_align_degraded(const struct dm_align *device)
{
	return strlen(device->name) % 2;
}

/* Check that the target knows a message, and its number is in range. */
static void check_message(const char *message)
{
	char *copy = strdup(message), *value = copy;
	const char *name = strsep(&value, " ");

	if (value)
		check_feature(name, value);
	else
		FUZZ_CHECK(!strcmp(name, "flush") ||
			   !strcmp(name, "drop_failed") ||
			   !strcmp(name, "reset_stats"));
	free(copy);
}

int __wrap_dm_align_message(const struct dm_align *device, uint64_t sector,
			    const char *message);

int __wrap_dm_align_message(const struct dm_align *device, uint64_t sector,
			    const char *message)
{
	(void)device;
	(void)sector;
	check_message(message);
	return ALIGNCTL_FINE;
}

int __wrap_dm_align_message_all(const struct dm_align *device,
				const char *message);

int __wrap_dm_align_message_all(const struct dm_align *device,
				const char *message)
{
	(void)device;
	check_message(message);
	return ALIGNCTL_FINE;
}

/* Check that valid command lines are taken, and one operand too many is not. */
static void check_known(void)
{
	static char program[] = "alignctl", attach[] = "attach", dev[] = "/dev/x",
		    offset[] = "--offset=512", set[] = "set", flush[] = "--flush";
	char *make[] = { program, attach, offset, dev, NULL };
	char *change[] = { program, set, dev, flush, NULL };
	char *two[] = { program, set, dev, flush, dev, NULL };

	FUZZ_CHECK(alignctl_main(4, make) == ALIGNCTL_FINE);
	FUZZ_CHECK(alignctl_main(4, change) == ALIGNCTL_FINE);
	FUZZ_CHECK(alignctl_main(5, two) == ALIGNCTL_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char program[] = "alignctl";
	struct fuzz_bytes bytes = { data, size };
	char *argv[WORDS_MAX + 2] = { program }, *words[WORDS_MAX];
	int argc = 1, i, result;
	static bool checked;

	setenv("ALIGNCTL_SYSROOT", ROOT, 1);
	while (bytes.left && argc <= WORDS_MAX) {
		words[argc - 1] = fuzz_take_line(&bytes);
		argv[argc] = words[argc - 1];
		argc++;
	}
	running = true;
	if (!checked)
		check_known();
	checked = true;
	result = alignctl_main(argc, argv);
	running = false;
	FUZZ_CHECK(result >= ALIGNCTL_FINE && result <= ALIGNCTL_BUSY);
	for (i = 1; i < argc; i++)
		free(words[i - 1]);
	return 0;
}
