// SPDX-License-Identifier: GPL-2.0
/*
 * The nbdkit plugin: parameters and callbacks only.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "control.h"
#include "drive.h"
#include "plugin.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#define PHYSICAL_DEFAULT 4096u
#define PHYSICAL_MAX 1048576u
/* The inner tracks of a disk hold few more bytes than this. */
#define DISK_PHYSICAL_MAX 65536u
#define REQUEST_MAX (32u << 20)		/* nbdkit's limit */
#define LATENCY_MAX_US 60000000u	/* a minute */

enum given { CACHE_DEFAULT, CACHE_ON, CACHE_OFF };

/* The parameters as given. */
static struct {
	uint64_t size;			/* 0: not given */
	bool physical_given;
	uint32_t physical;
	bool alignment_given;
	uint32_t alignment;
	enum given cache;
	const struct profile *profile;	/* NULL: not given */
	bool latency_given;
	uint32_t latency_us;
	bool depth_given;
	uint32_t depth;
	char *file;
	char *control;
	char *log;
} params = { .physical = PHYSICAL_DEFAULT };

static struct drive *drive;
static struct control *control;

static int bad(const char *key, const char *value, const char *way_out)
{
	nbdkit_error("%s=%s: %s", key, value, way_out);
	return -1;
}

/* Parse a whole decimal number of at most @max, and nothing else. */
static bool parse_number(const char *value, uint32_t max, uint32_t *number)
{
	unsigned long long n;
	char *end;

	if (*value < '0' || *value > '9')
		return false;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno || *end || n > max)
		return false;
	*number = (uint32_t)n;
	return true;
}

static int config_size(const char *key, const char *value)
{
	int64_t size = nbdkit_parse_size(value);

	if (size <= 0 || size % SECTOR_SIZE)
		return bad(key, value,
			   "give a positive multiple of 512 bytes, as a number "
			   "or with K, M, G or T behind it, such as 1G");
	params.size = (uint64_t)size;
	return 0;
}

static int config_physical(const char *key, const char *value)
{
	uint32_t n;

	if (!parse_number(value, PHYSICAL_MAX, &n) || n < SECTOR_SIZE ||
	    n & (n - 1))
		return bad(key, value,
			   "give a power of two from 512 to 1048576 (bytes)");
	params.physical = n;
	params.physical_given = true;
	return 0;
}

static int config_alignment(const char *key, const char *value)
{
	uint32_t n;

	if (!parse_number(value, PHYSICAL_MAX, &n) || n % SECTOR_SIZE)
		return bad(key, value,
			   "give a multiple of 512 (bytes) below physical=");
	params.alignment = n;
	params.alignment_given = true;
	return 0;
}

static int config_cache(const char *key, const char *value)
{
	if (strcmp(value, "on") == 0)
		params.cache = CACHE_ON;
	else if (strcmp(value, "off") == 0)
		params.cache = CACHE_OFF;
	else
		return bad(key, value, "give on or off");
	return 0;
}

static int config_profile(const char *key, const char *value)
{
	params.profile = profile_find(value);
	if (params.profile)
		return 0;
	nbdkit_error("%s=%s: no such profile; give %s", key, value,
		     profile_names());
	return -1;
}

static int config_latency(const char *key, const char *value)
{
	if (!parse_number(value, LATENCY_MAX_US, &params.latency_us))
		return bad(key, value,
			   "give a whole number of microseconds from 0 to 60000000");
	params.latency_given = true;
	return 0;
}

static int config_depth(const char *key, const char *value)
{
	params.depth_given = true;
	if (strcmp(value, "unlimited") == 0) {
		params.depth = 0;
		return 0;
	}
	if (!parse_number(value, MODEL_DEPTH_MAX, &params.depth) ||
	    params.depth == 0)
		return bad(key, value,
			   "give a number from 1 to 1024, or unlimited");
	return 0;
}

/* Store an absolute path: nbdkit changes its directory in the background. */
static int set_path(const char *key, char **path, const char *value)
{
	if (!*value)
		return bad(key, value, "give a path");
	free(*path);
	*path = nbdkit_absolute_path(value);
	return *path ? 0 : -1;
}

static int config_control(const char *key, const char *value)
{
	if (set_path(key, &params.control, value) < 0)
		return -1;
	if (strlen(params.control) > CONTROL_PATH_MAX)
		return bad(key, params.control,
			   "too long for a local socket; give a path of at most "
			   "107 bytes");
	return 0;
}

static int config_file(const char *key, const char *value)
{
	return set_path(key, &params.file, value);
}

static int config_log(const char *key, const char *value)
{
	return set_path(key, &params.log, value);
}

static const struct {
	const char *key;
	int (*set)(const char *key, const char *value);
} parameters[] = {
	{ "size", config_size },
	{ "physical", config_physical },
	{ "alignment", config_alignment },
	{ "cache", config_cache },
	{ "profile", config_profile },
	{ "latency_us", config_latency },
	{ "depth", config_depth },
	{ "file", config_file },
	{ "control", config_control },
	{ "log", config_log },
};

static int drive512e_config(const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		if (strcmp(parameters[i].key, key) == 0)
			return parameters[i].set(key, value);
	}
	return bad(key, value,
		   "unknown parameter; known are size, physical, alignment, "
		   "cache, profile, latency_us, depth, file, control and log");
}

/* Set the size to an existing file's, or check that the file fits into it. */
static int check_size(void)
{
	struct stat st;

	if (params.file && stat(params.file, &st) == 0 && st.st_size > 0) {
		uint64_t there = (uint64_t)st.st_size;

		if (params.size == 0 && there % SECTOR_SIZE) {
			nbdkit_error("file=%s: has %" PRIu64 " bytes, which are "
				     "not whole sectors; give size=%" PRIu64
				     " or more, or another file", params.file,
				     there, there / SECTOR_SIZE * SECTOR_SIZE +
					    SECTOR_SIZE);
			return -1;
		}
		if (params.size == 0)
			params.size = there;
		if (params.size < there) {
			nbdkit_error("file=%s: has %" PRIu64 " bytes, size= says %"
				     PRIu64 "; give its size rounded up to 512 "
				     "bytes, or another file",
				     params.file, there, params.size);
			return -1;
		}
	}
	if (params.size == 0) {
		nbdkit_error("size= is missing: give the drive's size in bytes, "
			     "such as size=1G");
		return -1;
	}
	return 0;
}

/* Check that opening the log does not empty the drive. */
static int check_log(void)
{
	struct stat log, file;

	if (!params.log || !params.file)
		return 0;
	if (strcmp(params.log, params.file) != 0 &&
	    (stat(params.log, &log) < 0 || stat(params.file, &file) < 0 ||
	     log.st_dev != file.st_dev || log.st_ino != file.st_ino))
		return 0;
	return bad("log", params.log, "is the file of file=, whose data it would "
				      "replace; give another path");
}

static int check_profile(void)
{
	const struct profile *profile = params.profile;
	bool fixed = profile->kind == PROFILE_FIXED;

	if (fixed && !params.latency_given) {
		nbdkit_error("profile=fixed: latency_us= is missing: give the "
			     "time that each request takes, such as "
			     "latency_us=2000");
		return -1;
	}
	if (!fixed && (params.latency_given || params.depth_given)) {
		nbdkit_error("%s= goes with profile=fixed only, not with "
			     "profile=%s: leave it out",
			     params.latency_given ? "latency_us" : "depth",
			     profile->name);
		return -1;
	}
	if (params.cache == CACHE_ON && !profile->cache_allowed) {
		nbdkit_error("cache=on: profile=%s is a drive without a write "
			     "cache; leave cache= out, or take "
			     "profile=st1000dm003", profile->name);
		return -1;
	}
	if (profile->capacity && params.size > profile->capacity) {
		nbdkit_error("size=%" PRIu64 ": profile=%s has room for %" PRIu64
			     " bytes; give at most that", params.size,
			     profile->name, profile->capacity);
		return -1;
	}
	return 0;
}

static int drive512e_config_complete(void)
{
	if (!params.profile)
		params.profile = profile_find("instant");
	if (params.profile->blocks.physical) {
		const struct block_map *blocks = &params.profile->blocks;

		if (!params.physical_given)
			params.physical = blocks->physical;
		if (!params.alignment_given)
			params.alignment = blocks->alignment;
	}
	if (params.profile->rpm && params.physical > DISK_PHYSICAL_MAX) {
		nbdkit_error("physical=%" PRIu32 ": profile %s is of a disk, "
			     "which has blocks of at most 65536 bytes; give "
			     "such a block, or another profile",
			     params.physical, params.profile->name);
		return -1;
	}
	if (params.alignment >= params.physical) {
		nbdkit_error("alignment=%" PRIu32 ": must be less than "
			     "physical=%" PRIu32 "; give the offset of the first "
			     "block boundary", params.alignment, params.physical);
		return -1;
	}
	if (check_size() < 0 || check_log() < 0)
		return -1;
	return check_profile();
}

#define HELP_BEFORE_PROFILES						\
	"size=<SIZE>            (required) size of the drive.\n"	\
	"physical=<BYTES>       Physical block, 512 to 1048576, of disks 65536.\n" \
	"                       Default: the profile's, or 4096.\n"	\
	"alignment=<BYTES>      Offset of the first block boundary. Default:\n" \
	"                       the profile's, or 0.\n"			\
	"cache=on|off           Volatile write cache. Default: the profile's.\n" \
	"profile=<NAME>         Default instant; one of\n"
#define HELP_BEHIND_PROFILES						\
	"latency_us=<N>         profile=fixed: time of each request.\n"	\
	"depth=<N>|unlimited    profile=fixed: requests served at once.\n" \
	"file=<PATH>            Keep the data in a file. Default: memory.\n" \
	"control=<SOCKET>       Local socket for counters, power cuts, errors.\n" \
	"log=<PATH>             Write a line for every request."

struct model_config plugin_model(void)
{
	return (struct model_config){
		.profile = params.profile,
		.map = {
			.physical = params.physical,
			.alignment = params.alignment,
		},
		.size = params.size,
		.cache = params.profile->cache_allowed &&
			 params.cache != CACHE_OFF,
		.latency_ns = params.latency_us * INT64_C(1000),
		.depth = params.depth,
	};
}

/* Return the help, which lists the profiles. */
static const char *config_help(void)
{
	static char help[4096];
	size_t used = (size_t)snprintf(help, sizeof(help), HELP_BEFORE_PROFILES);

	for (const struct profile *const *at = profiles, *p; (p = *at); at++)
		used += (size_t)snprintf(help + used, sizeof(help) - used,
					 "  %-19s  %s.\n", p->name, p->about);
	snprintf(help + used, sizeof(help) - used, HELP_BEHIND_PROFILES);
	return help;
}

static int drive512e_get_ready(void)
{
	struct drive_config config = {
		.model = plugin_model(),
		.file = params.file,
		.log = params.log,
	};
	const char *what;

	/* First, as a second server must not empty the log of the first one. */
	if (params.control) {
		control = control_new(params.control);
		if (!control) {
			nbdkit_error("control=%s: %m; give a path for a new "
				     "socket in a directory that can be written",
				     params.control);
			return -1;
		}
	}
	drive = drive_new(&config, &what);
	if (!drive) {
		if (strcmp(what, "size") == 0)
			nbdkit_error("size=%" PRIu64 ": %m; give a smaller size, "
				     "or keep the data in a file with file=",
				     params.size);
		else if (errno == EFBIG)
			nbdkit_error("file=%s: %m for size=%" PRIu64 "; give a "
				     "smaller size, or a file on another file "
				     "system", params.file, params.size);
		else
			nbdkit_error("%s=%s: %m; give a path that can be written",
				     what, strcmp(what, "file") ? params.log
								: params.file);
		/* Remove the socket, as nbdkit exits without unload(). */
		control_free(control);
		control = NULL;
		return -1;
	}
	return 0;
}

/* Start the control thread, as threads do not survive nbdkit's fork. */
static int drive512e_after_fork(void)
{
	int err = control ? control_start(control, drive) : 0;

	if (err) {
		errno = err;
		nbdkit_error("control=%s: cannot start the control thread: %m",
			     params.control);
		return -1;
	}
	return 0;
}

static void drive512e_unload(void)
{
	control_free(control);
	drive_free(drive);
	free(params.file);
	free(params.control);
	free(params.log);
}

static void *drive512e_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t drive512e_get_size(void *handle)
{
	(void)handle;
	return (int64_t)params.size;
}

/*
 * Report the logical sector as the minimum: with the physical block as minimum
 * a client would do the read-modify-write itself, and hide it.
 */
static int drive512e_block_size(void *handle, uint32_t *minimum,
				uint32_t *preferred, uint32_t *maximum)
{
	struct block_map map = { params.physical, params.alignment };

	(void)handle;
	*minimum = SECTOR_SIZE;
	*preferred = profile_says(params.profile, &map).physical;
	*maximum = REQUEST_MAX;
	return 0;
}

static int drive512e_is_rotational(void *handle)
{
	(void)handle;
	return params.profile->rotational;
}

static int yes(void *handle)
{
	(void)handle;
	return 1;
}

static int drive512e_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

static int request(enum op op, void *buf, uint32_t count, uint64_t offset,
		   uint32_t flags)
{
	struct request req = {
		.op = op,
		.offset = offset,
		.count = count,
		.fua = flags & NBDKIT_FLAG_FUA,
	};

	if (op != OP_FLUSH && (count == 0 || (offset | count) % SECTOR_SIZE)) {
		nbdkit_error("request of %" PRIu32 " bytes at byte %" PRIu64
			     ": not whole sectors; send multiples of 512 bytes",
			     count, offset);
		nbdkit_set_error(EINVAL);
		return -1;
	}
	if (drive_request(drive, &req, buf) == 0)
		return 0;
	nbdkit_set_error(errno);
	nbdkit_error("request of %" PRIu32 " bytes at byte %" PRIu64 ": %m",
		     count, offset);
	return -1;
}

static int drive512e_pread(void *handle, void *buf, uint32_t count,
			   uint64_t offset, uint32_t flags)
{
	(void)handle;
	return request(OP_READ, buf, count, offset, flags);
}

static int drive512e_pwrite(void *handle, const void *buf, uint32_t count,
			    uint64_t offset, uint32_t flags)
{
	(void)handle;
	/* A write only reads from its buffer. */
	return request(OP_WRITE, (void *)(uintptr_t)buf, count, offset, flags);
}

static int drive512e_flush(void *handle, uint32_t flags)
{
	(void)handle;
	return request(OP_FLUSH, NULL, 0, 0, flags);
}

static int drive512e_trim(void *handle, uint32_t count, uint64_t offset,
			  uint32_t flags)
{
	(void)handle;
	return request(OP_TRIM, NULL, count, offset, flags);
}

static int drive512e_zero(void *handle, uint32_t count, uint64_t offset,
			  uint32_t flags)
{
	(void)handle;
	return request(OP_ZERO, NULL, count, offset, flags);
}

static struct nbdkit_plugin plugin = {
	.name = "drive512e",
	.version = DRIVE512E_VERSION,
	.longname = "emulated drive that charges for read-modify-writes",
	.description = "A drive of 512-byte sectors in larger physical blocks",
	.unload = drive512e_unload,
	.config = drive512e_config,
	.config_complete = drive512e_config_complete,
	.get_ready = drive512e_get_ready,
	.after_fork = drive512e_after_fork,
	.open = drive512e_open,
	.get_size = drive512e_get_size,
	.block_size = drive512e_block_size,
	.is_rotational = drive512e_is_rotational,
	.can_write = yes,
	.can_flush = yes,
	.can_trim = yes,
	.can_zero = yes,
	.can_fast_zero = yes,
	.can_multi_conn = yes,
	.can_fua = drive512e_can_fua,
	.pread = drive512e_pread,
	.pwrite = drive512e_pwrite,
	.flush = drive512e_flush,
	.trim = drive512e_trim,
	.zero = drive512e_zero,
	.errno_is_preserved = 1,
};

/* Before nbdkit reads the structure, which cannot have a computed string. */
__attribute__((constructor)) static void set_help(void)
{
	plugin.config_help = config_help();
}

NBDKIT_REGISTER_PLUGIN(plugin)
