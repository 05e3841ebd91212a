// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "replay/trace.h"

/* In flight as fast as possible, if nothing is said: as other tools do. */
#define FAST_DEPTH	32U

int replay_trace_open(struct replay_trace *trace, const char *path)
{
	return source_open(&trace->source, path);
}

void replay_trace_close(struct replay_trace *trace)
{
	source_close(&trace->source);
}

static void count(struct trace_scan *scan, const struct trace_request *request)
{
	scan->requests[request->op]++;
	scan->bytes[request->op] += request->bytes;
	scan->last_ns = request->time_ns;
	if (request->offset + request->bytes > scan->end)
		scan->end = request->offset + request->bytes;
	if (request->op != TRACE_DISCARD && request->bytes > scan->longest)
		scan->longest = request->bytes;
}

/*
 * Read the trace from its start: into its scan, or, after that, to see whether all
 * fits and what has to be moved for it.
 */
static int read_all(struct replay_trace *trace, bool place)
{
	struct trace_scan *scan = &trace->scan;
	struct trace_request request;
	enum trace_next next;
	uint64_t offset;

	while ((next = source_next(&trace->source, &request)) == TRACE_GOT) {
		CLEANUP_FREE char *wrong = NULL;
		CLEANUP_FREE char *position = NULL;

		if (interrupt_seen())
			interrupt_obey();
		if (!place) {
			count(scan, &request);
			continue;
		}
		offset = request.offset;
		wrong = placement_apply(&trace->placement, &request);
		scan->moved += request.offset != offset;
		if (!wrong)
			continue;
		position = source_position(&trace->source);
		message_error("%s: %s", position, wrong);
		return ALIGNCTL_USAGE;
	}
	if (next != TRACE_END)
		return trace_next_status(next);
	return source_rewind(&trace->source);
}

static int scan(struct replay_trace *trace)
{
	int result = read_all(trace, false);

	if (result)
		return result;
	trace->scanned = true;
	trace->placement.end = trace->scan.end;
	trace->placement.longest = trace->scan.longest;
	return read_all(trace, true);
}

static int choose_timing(struct replay_trace *trace)
{
	const struct replay_trace_options *options = trace->options;
	bool timed = source_facts(&trace->source).timed;

	trace->timing = options->timing;
	if (trace->timing == ENGINE_NR_TIMINGS)
		trace->timing = timed ? ENGINE_OPEN : ENGINE_CLOSED;
	if (trace->timing == ENGINE_OPEN && !timed) {
		message_error("--timing open: %s has no times; closed or fast",
			      trace->source.name);
		return ALIGNCTL_USAGE;
	}
	if (options->speed > 0 && trace->timing != ENGINE_OPEN) {
		message_error("--speed: is for --timing open, not for %s",
			      engine_timing_names[trace->timing]);
		return ALIGNCTL_USAGE;
	}
	trace->speed = options->speed > 0 ? options->speed : 1;
	trace->threads = options->threads ? options->threads : 1;
	trace->depth = options->depth;
	if (!trace->depth && trace->timing == ENGINE_CLOSED)
		trace->depth = 1;
	else if (!trace->depth)
		trace->depth = ENGINE_MAX_DEPTH / trace->threads;
	if (!options->depth && trace->timing == ENGINE_FAST &&
	    trace->depth > FAST_DEPTH)
		trace->depth = FAST_DEPTH;
	return engine_check_depth(trace->threads, trace->depth);
}

/* Will it be read more than once? */
static bool is_read_again(const struct replay_trace_options *options,
			  const struct source *source)
{
	return options->scan || options->dry_run ||
	       options->how == PLACEMENT_SCALE ||
	       (!options->no_check && !source_reads(source));
}

/* Said before a request is made, not when all have been. */
static int check_way_back(const struct replay_trace *trace)
{
	const struct source *source = &trace->source;

	if (source_has_way_back(source) ||
	    !is_read_again(trace->options, source))
		return ALIGNCTL_FINE;
	message_error("%s: a pipe can be read once; the check of the data reads the trace again, and so do --scan, --scale and --dry-run: save it to a file, or --no-check",
		      source->name);
	return ALIGNCTL_USAGE;
}

/* Can all that is written be looked for on the device that is to be below? */
static int check_below(const struct replay_trace *trace)
{
	const char *path = trace->options->verify_below;
	const struct device *device = trace->device;
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
		message_error("--verify-below %s: smaller than %s, so it is not below all of that",
			      path, device->path);
		result = ALIGNCTL_USAGE;
	}
	device_close(&below);
	return result;
}

int replay_trace_fit(struct replay_trace *trace)
{
	const struct trace_facts facts = source_facts(&trace->source);
	const struct replay_trace_options *options = trace->options;
	uint64_t bytes = trace->device->sectors << ALIGN_SECTOR_SHIFT;
	int result = choose_timing(trace);

	if (!result)
		result = check_way_back(trace);
	if (!result)
		result = check_below(trace);
	if (result)
		return result;
	trace->placement = (struct placement) {
		.how = options->how, .bytes = bytes,
		.logical = trace->device->logical,
		.physical = trace->geometry->physical,
		.buffered = options->buffered,
		.labelled = options->buffered && options->state,
	};
	if (facts.end_known && facts.end > bytes &&
	    options->how == PLACEMENT_EXACT) {
		message_error("%s: reaches to byte %" PRIu64 ", and %s has %"
			      PRIu64 "; --wrap or --scale",
			      trace->source.name, facts.end,
			      trace->device->path, bytes);
		return ALIGNCTL_USAGE;
	}
	if (options->scan || options->dry_run ||
	    options->how == PLACEMENT_SCALE)
		return scan(trace);
	return ALIGNCTL_FINE;
}

static uint64_t total(const struct replay_trace *trace)
{
	const struct trace_facts facts = source_facts(&trace->source);
	uint64_t requests = 0;
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		requests += trace->scan.requests[i];
	return facts.nr_known ? facts.nr : requests;
}

/*
 * Opens what is to be compared past the page cache, which would say that all is
 * there; but for a file system that has nothing else.
 */
static int open_for_check(const struct replay_trace *trace, const char *path,
			  int fd, int *opened)
{
	*opened = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (*opened < 0 && errno == EINVAL &&
	    !trace->options->verify_below) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		*opened = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	if (*opened >= 0)
		return ALIGNCTL_FINE;
	message_error("%s: %s", path, strerror(errno));
	return ALIGNCTL_IO;
}

/* Compares on the device itself, or on the one below that was named. */
static int check(struct replay_trace *trace, int fd, uint64_t run)
{
	const char *path = trace->options->verify_below;
	CLEANUP_CLOSE int check_fd = -1;
	struct device below = { 0 };
	struct content content = {
		.source = &trace->source, .placement = &trace->placement,
		.run = run, .done = &trace->done, .device = trace->device,
	};
	int result;

	if (path) {
		result = device_open(&below, path);
		if (result)
			return result;
		content.device = &below;
	}
	result = open_for_check(trace, content.device->path, fd, &check_fd);
	content.fd = check_fd;
	if (!result)
		result = content_check(&content, &trace->check);
	if (path)
		device_close(&below);
	if (!result && trace->check.mismatches)
		return ALIGNCTL_FINDINGS;
	return result;
}

static uint64_t mtime_ns(const struct stat *found)
{
	return found->st_mtim.tv_sec * NS_PER_S + found->st_mtim.tv_nsec;
}

/* Makes a state file for the run that is about to begin. */
static int begin_state(const struct replay_trace *trace,
		       struct trace_state *state, uint64_t run)
{
	struct stat found;

	*state = (struct trace_state) {
		.path = trace->options->state, .run = run,
		.placement = trace->placement,
		.trace = realpath(trace->source.name, NULL),
		.device = realpath(trace->device->path, NULL),
	};
	if (!state->trace || !state->device || stat(state->trace, &found)) {
		message_error("--state: %s: %s; a state is for a trace in one file",
			      trace->source.name, strerror(errno));
		trace_state_free(state);
		return ALIGNCTL_USAGE;
	}
	state->trace_bytes = found.st_size;
	state->trace_mtime_ns = mtime_ns(&found);
	/* it is read again with this: whole sectors, see @labelled */
	if (trace->placement.buffered)
		state->placement.logical = PATTERN_SECTOR;
	return trace_state_begin(state);
}

int replay_trace_run(struct replay_trace *trace, int fd)
{
	struct engine_setup setup = {
		.source = &trace->source, .device = trace->device, .fd = fd,
		.placement = &trace->placement, .geometry = trace->geometry,
		.timing = trace->timing, .speed = trace->speed,
		.depth = trace->depth, .threads = trace->threads,
		.warmup_ns = trace->options->warmup_ns,
		.total = total(trace),
	};
	const struct workload *w = trace->source.plan.workload;
	struct trace_state state;
	uint64_t random;
	int result, saved = ALIGNCTL_FINE;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_ns();
	setup.run = pattern_run(random);
	setup.pause_after = w ? w->think_writes : 0;
	setup.pause_ns = trace->options->think_s * NS_PER_S;
	if (trace->options->state) {
		result = begin_state(trace, &state, setup.run);
		if (result)
			return result;
		setup.durable = trace_state_durable;
		setup.context = &state;
	}
	setup.probes = trace->probes = probes_new(&trace->source.plan);
	interrupt_catch();
	result = engine_run(&setup, &trace->measures, &trace->done);
	if (trace->options->state) {
		saved = trace_state_end(&state, &trace->done);
		trace_state_free(&state);
	}
	if (result)
		trace->stopped = "error";
	else if (interrupt_seen())
		trace->stopped = "signal";
	if (trace->options->histogram && !saved)
		saved = measures_write(&trace->measures,
				       trace->options->histogram);
	if (!trace->stopped && !trace->options->no_check &&
	    !source_reads(&trace->source))
		result = check(trace, fd, setup.run);
	trace_report(trace);
	measures_free(&trace->measures);
	probes_free(trace->probes);
	interrupt_obey();
	return result ? result : saved;
}

/* Looks at the device that a state is about. */
static int look(const struct trace_state *state, struct source *source,
		const struct device *device, struct content_crash *crash)
{
	CLEANUP_CLOSE int fd = open(device->path,
				    O_RDONLY | O_DIRECT | O_CLOEXEC);
	const struct content content = {
		.source = source, .placement = &state->placement,
		.run = state->run, .done = &state->done,
		.durable = state->durable, .device = device, .fd = fd,
	};

	if (fd < 0) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (device->sectors << ALIGN_SECTOR_SHIFT < state->placement.bytes) {
		message_error("%s: has %" PRIu64 " bytes, and the trace was replayed on %"
			      PRIu64, device->path,
			      device->sectors << ALIGN_SECTOR_SHIFT,
			      state->placement.bytes);
		return ALIGNCTL_USAGE;
	}
	return content_crash(&content, crash);
}

int replay_trace_crash(const char *path, const char *on, bool json)
{
	struct source source = { 0 };
	struct content_crash crash;
	struct trace_state state;
	struct device device;
	struct stat found;
	int result = trace_state_load(&state, path);

	if (result)
		return result;
	if (stat(state.trace, &found) ||
	    (uint64_t)found.st_size != state.trace_bytes ||
	    mtime_ns(&found) != state.trace_mtime_ns) {
		message_error("%s: is for %s with %" PRIu64
			      " bytes, and that is not there any more, or was changed since",
			      path, state.trace, state.trace_bytes);
		result = ALIGNCTL_USAGE;
	}
	if (!result)
		result = source_open(&source, state.trace);
	if (!result)
		result = device_open(&device, on ? on : state.device);
	if (!result) {
		interrupt_catch();
		result = look(&state, &source, &device, &crash);
		if (!result) {
			trace_report_crash(&state, &device, &crash, json);
			if (crash.blocks[CONTENT_LOST] ||
			    crash.blocks[CONTENT_TORN])
				result = ALIGNCTL_FINDINGS;
		}
		device_close(&device);
	}
	source_close(&source);
	trace_state_free(&state);
	interrupt_obey();
	return result;
}
