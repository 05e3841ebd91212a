// SPDX-License-Identifier: GPL-2.0
/* The steps of a replay: settle and check the settings, prepare, run, compare. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "engine/io_queue.h"
#include "replay/phases.h"
#include "replay/replay.h"

/* In flight as fast as possible, if nothing is said: as other tools do. */
#define FAST_DEPTH	32U

static void count_request(struct replay_scan *scan, const struct trace_request *request)
{
	if (!scan->end && !scan->requests[TRACE_FLUSH])
		scan->first_ns = request->time_ns;
	scan->requests[request->op]++;
	scan->bytes[request->op] += request->bytes;
	scan->last_ns = request->time_ns;
	if (request->offset + request->bytes > scan->end)
		scan->end = request->offset + request->bytes;
	if (request->op != TRACE_DISCARD && request->bytes > scan->longest)
		scan->longest = request->bytes;
}

/*
 * Read the source from its start: into the scan, or, after that, to see whether
 * all requests fit and which of them have to be moved for it.
 */
static int read_all(struct replay *replay, bool place)
{
	struct replay_scan *scan = &replay->scan;
	struct trace_request request;
	enum trace_next next;
	uint64_t offset;

	while ((next = source_next(&replay->source, &request)) == TRACE_GOT) {
		CLEANUP_FREE char *wrong = NULL;
		CLEANUP_FREE char *position = NULL;

		if (interrupt_seen())
			interrupt_obey();
		if (!place) {
			count_request(scan, &request);
			continue;
		}
		if (request.file)
			return source_refuse_disks(&replay->source);
		offset = request.offset;
		wrong = placement_apply(&replay->placement, &request);
		scan->moved += request.offset != offset;
		if (!wrong)
			continue;
		position = source_position(&replay->source);
		message_error("%s: %s", position, wrong);
		return ALIGNCTL_USAGE;
	}
	if (next != TRACE_END)
		return trace_next_status(next);
	return source_rewind(&replay->source);
}

static int scan_source(struct replay *replay)
{
	int result = read_all(replay, false);

	if (result)
		return result;
	replay->scanned = true;
	replay->placement.end = replay->scan.end;
	replay->placement.longest = replay->scan.longest;
	return read_all(replay, true);
}

static int choose_timing(struct replay *replay)
{
	const struct replay_options *options = replay->options;
	bool timed = source_facts(&replay->source).timed;

	replay->timing = options->timing;
	if (replay->timing == ENGINE_NR_TIMINGS)
		replay->timing = timed ? ENGINE_OPEN : ENGINE_CLOSED;
	if (replay->timing == ENGINE_OPEN && !timed) {
		message_error("--timing open: %s has no times; closed or fast",
			      replay->source.name);
		return ALIGNCTL_USAGE;
	}
	if (options->speed > 0 && replay->timing != ENGINE_OPEN) {
		message_error("--speed: does not apply to --timing %s, only to open",
			      engine_timing_names[replay->timing]);
		return ALIGNCTL_USAGE;
	}
	replay->speed = options->speed > 0 ? options->speed : 1;
	replay->threads = options->threads ? options->threads : 1;
	replay->depth = options->depth;
	if (!replay->depth && replay->timing == ENGINE_CLOSED)
		replay->depth = 1;
	else if (!replay->depth)
		replay->depth = ENGINE_MAX_DEPTH / replay->threads;
	if (!options->depth && replay->timing == ENGINE_FAST &&
	    replay->depth > FAST_DEPTH)
		replay->depth = FAST_DEPTH;
	return engine_check_depth(replay->threads, replay->depth);
}

/* Return whether the source will be read more than once. */
static bool is_read_again(const struct replay *replay)
{
	const struct replay_options *options = replay->options;

	return options->scan || options->dry_run ||
	       options->how == PLACEMENT_SCALE ||
	       (!options->no_check && !source_reads(&replay->source));
}

/* Refuse a pipe that would be read twice, before any request is made. */
static int check_way_back(const struct replay *replay)
{
	const struct source *source = &replay->source;

	if (source_has_way_back(source) || !is_read_again(replay))
		return ALIGNCTL_FINE;
	message_error("%s: a pipe can be read once; the check of the data reads the trace again, and so do --scan, --scale and --dry-run: save the trace to a file, or give --no-check",
		      source->name);
	return ALIGNCTL_USAGE;
}

/* Check that all that is written can be looked for on the device below. */
static int check_below(const struct replay *replay)
{
	const char *path = replay->options->verify_below;
	const struct device *device = replay->device;
	struct device below;
	int result;

	if (!path)
		return ALIGNCTL_FINE;
	result = device_open(&below, path);
	if (result)
		return result;
	if (below.block == device->block && below.devno == device->devno &&
	    below.inode == device->inode) {
		message_error("--verify-below %s: is %s itself, which is compared anyway; leave it out",
			      path, device->path);
		result = ALIGNCTL_USAGE;
	} else if (below.sectors < device->sectors) {
		message_error("--verify-below %s: smaller than %s, so it cannot hold all of its sectors",
			      path, device->path);
		result = ALIGNCTL_USAGE;
	}
	device_close(&below);
	return result;
}

int replay_fit(struct replay *replay)
{
	const struct trace_facts facts = source_facts(&replay->source);
	const struct replay_options *options = replay->options;
	uint64_t bytes = replay->device->sectors << ALIGN_SECTOR_SHIFT;
	bool buffered = replay->source.plan.buffered;
	int result = choose_timing(replay);

	if (!result)
		result = check_way_back(replay);
	if (!result)
		result = check_below(replay);
	if (result)
		return result;
	source_set_blocks(&replay->source, replay->geometry.physical,
			  replay->geometry.offset);
	replay->placement = (struct placement) {
		.how = options->how, .bytes = bytes,
		.logical = replay->device->logical,
		.physical = replay->geometry.physical,
		.buffered = buffered,
		/* of a trace a crash is to be judged; a workload may have no labels */
		.labelled = buffered && options->state && replay->source.trace,
	};
	if (facts.end_known && facts.end > bytes &&
	    options->how == PLACEMENT_EXACT) {
		message_error("%s: reaches to byte %" PRIu64 ", but %s has %"
			      PRIu64 " bytes; use --wrap or --scale",
			      replay->source.name, facts.end,
			      replay->device->path, bytes);
		return ALIGNCTL_USAGE;
	}
	if (options->scan || options->dry_run ||
	    options->how == PLACEMENT_SCALE)
		return scan_source(replay);
	return ALIGNCTL_FINE;
}

static uint64_t sum_requests(const struct replay *replay)
{
	const struct trace_facts facts = source_facts(&replay->source);
	uint64_t requests = 0;
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		requests += replay->scan.requests[i];
	return facts.nr_known ? facts.nr : requests;
}

/* Check that the kernel keeps as many in flight as were asked for by name. */
static int check_parallel(const struct replay *replay)
{
	struct io_queue *queue;
	bool parallel;

	if (replay->options->depth <= 1)
		return ALIGNCTL_FINE;
	queue = io_queue_open(replay->fd, replay->depth);
	parallel = io_queue_parallel(queue);
	io_queue_close(queue);
	if (parallel)
		return ALIGNCTL_FINE;
	message_error("--depth %u: needs io_uring, which this kernel lacks or forbids (sysctl kernel.io_uring_disabled); leave --depth out, or take --threads in its place",
		      replay->depth);
	return ALIGNCTL_IO;
}

int replay_run(struct replay *replay)
{
	const struct replay_options *options = replay->options;
	const struct workload *w = replay->source.plan.workload;
	struct engine_setup setup = {
		.source = &replay->source, .device = replay->device,
		.fd = replay->fd, .placement = &replay->placement,
		.geometry = &replay->geometry,
		.timing = replay->timing, .speed = replay->speed,
		.depth = replay->depth, .threads = replay->threads,
		.warmup_ns = options->warmup_ns,
		.pause_after = w ? w->think_writes : 0,
		.pause_ns = options->think_s * NS_PER_S,
		.total = sum_requests(replay),
	};
	struct replay_state state;
	uint64_t random;
	int result = check_parallel(replay);

	if (result)
		return result;
	if (!replay->prepared) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			random = clock_ns();
		replay->mark = pattern_run(random);
	}
	setup.run = replay->mark;
	if (options->state) {
		result = replay_begin_state(replay, &state);
		if (result)
			return result;
		setup.durable = replay_state_durable;
		setup.context = &state;
	}
	setup.probes = replay->probes = probes_new(&replay->source.plan);
	setup.each = options->each ? &replay->each : NULL;
	interrupt_catch();
	result = engine_run(&setup, &replay->measures, &replay->done);
	replay->ran = true;
	if (options->state)
		replay->saved = replay_end_state(replay, &state);
	if (result)
		replay->stopped = "error";
	else if (interrupt_seen())
		replay->stopped = "signal";
	if (options->histogram && !replay->saved)
		replay->saved = measures_write(&replay->measures,
					       options->histogram);
	return result;
}

/*
 * Open the device past the page cache for the comparison: the cache would say that all is
 * there; but for a file system that has nothing else.
 */
static int open_for_check(const struct replay *replay,
			  const struct device *device, int *opened)
{
	const char *path = device->path;

	*opened = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (*opened < 0 && errno == EINVAL &&
	    !replay->options->verify_below && replay->fd >= 0) {
		posix_fadvise(replay->fd, 0, 0, POSIX_FADV_DONTNEED);
		*opened = fcntl(replay->fd, F_DUPFD_CLOEXEC, 0);
	}
	if (*opened < 0) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (device_is_open_as(device, *opened))
		return ALIGNCTL_FINE;
	message_error("%s: leads to another device or file than at first; nothing was compared",
		      path);
	return ALIGNCTL_BUSY;
}

int replay_check(struct replay *replay)
{
	const char *path = replay->options->verify_below;
	CLEANUP_FREE struct plan_extent *prepared = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct device below = { 0 };
	struct content content = {
		.source = &replay->source, .placement = &replay->placement,
		.run = replay->mark, .done = &replay->done,
		.device = replay->device,
	};
	int result;

	if (path) {
		result = device_open(&below, path);
		if (result)
			return result;
		content.device = &below;
	}
	if (replay->prepared)
		prepared = plan_extents(&replay->source.plan, &replay->blocks,
					&content.nr_prepared);
	content.prepared = prepared;
	result = open_for_check(replay, content.device, &fd);
	content.fd = fd;
	if (!result)
		result = content_check(&content, &replay->check);
	if (path)
		device_close(&below);
	if (interrupt_seen())
		replay->stopped = "signal";
	if (!result && replay->check.mismatches)
		return ALIGNCTL_FINDINGS;
	return result;
}

void replay_close(struct replay *replay)
{
	if (replay->ran)
		measures_free(&replay->measures);
	probes_free(replay->probes);
	each_free(&replay->each);
	source_close(&replay->source);
}
