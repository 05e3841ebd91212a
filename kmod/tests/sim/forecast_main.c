// SPDX-License-Identifier: GPL-2.0
/*
 * sim-forecast: compares alignctl's forecast of a trace with the ledger of the engine
 * that gets the trace, for one trace after the other.
 *
 *     sim-forecast [--seed N] [--traces N] [--first N] [--show]
 *
 * --first leaves out all but the first requests of each trace; --show prints the
 * trace, and the story in each mode.
 *
 * Where the forecast is exact, each of its figures must be the ledger's: the requests
 * come one at a time; the blocks are not so many that it depends on timing which of
 * them leave; and no block is as old as a limit of the engine, give or take APART_NS.
 * While a block that a touch has completed is in flight, another touch of it is
 * written once more, in pad_writes alone. Otherwise the figures must be within the
 * bounds that are claimed of any requests.
 *
 * Exit status 1 if a figure differs, 2 if the arguments are bad.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "forecast/coverage.h"
#include "forecast/fixing.h"
#include "media.h"
#include "traced.h"

/* All static data of the simulated kernel, as they were at the start. */
extern char __start_sim_data[], __stop_sim_data[];
static char *pristine;

struct world_count world_count;

/* All that the forecast needs of the rest of alignctl. */
void *memory_or_exit(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

#define LEDGER_COUNTER(name, ...) LEDGER_##name,
enum ledger_counter {
#include "ledger_table.h"
};
#undef LEDGER_COUNTER

#define NS_OF_MS	1000000ULL
/* Ages of blocks that decide something are multiples of this. */
#define AGES_NS		(250 * NS_OF_MS)
/* Distance of all ages from such multiples: some jiffies, in which timers come late. */
#define APART_NS	(16 * NS_OF_MS)
/* So many bursts have times that are apart. */
#define MOST_BURSTS	15U
#define OPS		120U

/* Ways to send a trace; the claims of the forecast depend on them. */
enum way {
	WAY_UNTIMED,		/* without pauses */
	WAY_TIMED,		/* at times that are apart */
	WAY_ENDED,		/* as UNTIMED, while completed blocks are written */
	WAY_ROUGH,		/* at any times */
	WAY_TOGETHER,		/* several requests in flight */
	WAYS,
};

static const char * const way_names[WAYS] = {
	"untimed", "timed", "ended", "rough", "together",
};

static sim_u64 chance_state;

static unsigned int chance(unsigned int n)
{
	sim_u64 z = chance_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (unsigned int)((z >> 32) * n >> 32);
}

static unsigned int block_sectors(const struct world_plan *plan)
{
	return plan->physical / ALIGN_SECTOR_SIZE;
}

static void make_device(struct world_plan *plan)
{
	unsigned int sectors;

	memset(plan, 0, sizeof(*plan));
	plan->physical = 1024U << chance(5);
	sectors = block_sectors(plan);
	plan->offset = chance(sectors) * ALIGN_SECTOR_SIZE;
	/* A border of two regions may be inside the device. */
	if (!chance(4))
		plan->base = world_region_sectors - 8 * sectors;
	plan->start = plan->base + chance(3 * sectors);
	plan->sectors = 4 * sectors + chance(24 * sectors);
	plan->max_blocks = chance(3) ? 1U << (3 + chance(4)) : 4096;
	/* Neighbours always go together, and runs are cut elsewhere, or not. */
	plan->max_sectors = chance(2) ? 8192 : 64 * sectors;
	plan->zeroes = 8192;
	plan->workers = 1 + chance(4);
	plan->tags = 256;
	plan->inline_end = chance(2);
}

/* A shape of a trace: where its requests lie. */
enum shape {
	SHAPE_STREAM,		/* each goes on where one has ended */
	SHAPE_SCATTERED,
	SHAPE_HOT,		/* all in a few blocks */
	SHAPE_REWRITTEN,	/* whole blocks, and parts of them */
	SHAPES,
};

static void make_op(const struct world_plan *plan, struct world_op *op,
		    enum shape shape, unsigned int *end)
{
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE,
		OP_WRITE, OP_WRITE, OP_READ, OP_FUA, OP_FLUSH, OP_FLUSH_FUA,
		OP_DISCARD, OP_ZEROES, OP_ZEROES,
	};
	unsigned int sectors = block_sectors(plan);
	/* Most streams are of writes alone. */
	bool plain = shape == SHAPE_STREAM && chance(8);
	unsigned int lead = (plan->start + sectors -
			     plan->offset / ALIGN_SECTOR_SIZE) % sectors;

	memset(op, 0, sizeof(*op));
	op->pieces = 1;
	op->kind = plain ? OP_WRITE : kinds[chance(sizeof(kinds))];
	if (op->kind == OP_FLUSH)
		return;
	op->nr = (unsigned short)(1 + chance(chance(4) ? sectors : 3 * sectors));
	op->first = (unsigned short)chance(shape == SHAPE_HOT ? 4 * sectors :
					   plan->sectors);
	if (shape == SHAPE_STREAM && chance(10))
		op->first = (unsigned short)*end;
	if (shape == SHAPE_REWRITTEN && chance(2)) {
		op->first = (unsigned short)(op->first / sectors * sectors +
					     (sectors - lead) % sectors);
		op->nr = (unsigned short)(sectors * (1 + chance(2)));
	}
	if (op->first >= plan->sectors)
		op->first = (unsigned short)chance(plan->sectors);
	if (op->nr > plan->sectors - op->first)
		op->nr = (unsigned short)(plan->sectors - op->first);
	*end = op->first + op->nr;
}

/* Set the time of each burst so that all ages of blocks are apart from AGES_NS. */
static void make_times(struct traced *traced, enum way way)
{
	unsigned int phase[MOST_BURSTS], i, burst = 0;
	sim_u64 ages = 0;

	for (i = 0; i < MOST_BURSTS; i++) {
		unsigned int other = chance(i + 1);

		phase[i] = phase[other];
		phase[other] = i;
	}
	for (i = 0; i < traced->plan.nr_ops; i++) {
		sim_u64 last = i ? traced->ns[i - 1] : 0;

		if (way != WAY_TIMED && way != WAY_ROUGH) {
			traced->ns[i] = 0;
		} else if (way == WAY_ROUGH) {
			traced->ns[i] = last + chance(3) * chance(300) * NS_OF_MS;
		} else if (i && (chance(3) || burst + 1 == MOST_BURSTS)) {
			traced->ns[i] = last;
		} else {
			burst += !!i;
			ages += chance(4);
			if (ages * AGES_NS + phase[burst] * APART_NS < last)
				ages++;
			traced->ns[i] = ages * AGES_NS + phase[burst] * APART_NS;
		}
	}
}

static void make_trace(struct traced *traced, sim_u64 seed, enum way way)
{
	enum shape shape;
	unsigned int end = 0, i;

	chance_state = seed * WAYS + way;
	make_device(&traced->plan);
	/*
	 * A touch that waits for a block in flight leaves the row in front of it
	 * held, so the engine may have too many held blocks before the forecast does.
	 */
	if (way == WAY_ENDED)
		traced->plan.max_blocks = 4096;
	shape = chance(SHAPES);
	traced->pace = way == WAY_TOGETHER ? PACE_NONE :
		       way == WAY_ENDED ? PACE_ENDED : PACE_SETTLED;
	traced->plan.nr_ops = 1 + chance(OPS);
	for (i = 0; i < traced->plan.nr_ops; i++)
		make_op(&traced->plan, &traced->plan.op[i], shape, &end);
	make_times(traced, way);
}

/* Have the engine do a trace. Return: why it could not, or NULL. */
static const char *run(struct traced *traced, sim_u64 seed, bool tells)
{
	struct machine_options options = {
		.seed = seed, .cpus = 1 + seed % MACHINE_CPUS,
		.mean = 1U << seed % 6, .calm = true, .keep_story = tells,
	};
	struct machine_result result;

	memcpy(__start_sim_data, pristine,
	       (size_t)(__stop_sim_data - __start_sim_data));
	media_reset();
	machine_reset(&options);
	result = machine_run(traced_main, traced);
	if (tells)
		machine_tell(stdout, 0);
	if (!result.failure && !result.why)
		return MACHINE_HANGS;
	return result.failure;
}

static struct fixing_request request_of(const struct world_plan *plan,
					const struct world_op *op, sim_u64 ns)
{
	static const enum trace_op ops[OP_KINDS] = {
		[OP_READ] = TRACE_READ, [OP_WRITE] = TRACE_WRITE,
		[OP_FUA] = TRACE_WRITE, [OP_FLUSH] = TRACE_FLUSH,
		[OP_FLUSH_FUA] = TRACE_WRITE, [OP_DISCARD] = TRACE_DISCARD,
		[OP_ZEROES] = TRACE_WRITE_ZEROES,
	};

	return (struct fixing_request) {
		.time_ns = ns, .op = ops[op->kind],
		.preflush = op->kind == OP_FLUSH_FUA,
		.fua = op->kind == OP_FUA || op->kind == OP_FLUSH_FUA,
		.first = plan->start + op->first,
		.end = plan->start + op->first + op->nr,
	};
}

/* The forecast of a trace. */
struct said {
	struct fixing_figures fixing;
	uint64_t distinct;
	uint64_t rmin;
};

static struct said forecast(const struct traced *traced, bool timed)
{
	const struct world_plan *plan = &traced->plan;
	struct align_geometry g;
	struct said said = { .rmin = 0 };
	struct coverage_count count, *counts[] = { &count };
	struct coverage *coverage;
	struct fixing *fixing;
	unsigned int i;

	/* As the target has it: sectors of the device below. */
	align_geometry_init(&g, plan->physical, ALIGN_SECTOR_SIZE, plan->offset,
			    plan->start, plan->sectors);
	fixing = fixing_new(&g, timed, plan->max_blocks);
	count = coverage_count_of(&g);
	coverage = coverage_new(64);
	for (i = 0; i < plan->nr_ops; i++) {
		const struct world_op *op = &plan->op[i];
		struct fixing_request request = request_of(plan, op,
							   traced->ns[i]);

		fixing_do(fixing, &request, 1);
		if (request.op == TRACE_WRITE ||
		    request.op == TRACE_WRITE_ZEROES)
			coverage_add(coverage, request.first, request.end);
	}
	fixing_flush(fixing);
	said.fixing = fixing_figures(fixing, plan->mode == 2 ? FIXING_COALESCE :
							       FIXING_PAD);
	if (!coverage_end_pass(coverage, counts, 1)) {
		said.distinct = count.distinct;
		said.rmin = count.rmin;
	}
	coverage_free(coverage);
	fixing_free(fixing);
	return said;
}

static struct {
	sim_u64 traces, requests, exact, bounds, differences;
	sim_u64 of_way[WAYS];
} count;

/* A compared trace, for the messages about differences. */
struct compared {
	const struct traced *traced;
	sim_u64 seed;
	enum way way;
	bool differs;
};

static void differ(struct compared *compared, const char *name, sim_u64 is,
		   sim_u64 from, sim_u64 to)
{
	compared->differs = true;
	count.differences++;
	if (from == to)
		printf("seed %llu, %s, %s: the ledger has %s %llu, and the forecast says %llu\n",
		       compared->seed, way_names[compared->way],
		       compared->traced->plan.mode == 2 ? "coalesce" : "pad",
		       name, is, from);
	else
		printf("seed %llu, %s, %s: the ledger has %s %llu, and the forecast says %llu to %llu\n",
		       compared->seed, way_names[compared->way],
		       compared->traced->plan.mode == 2 ? "coalesce" : "pad",
		       name, is, from, to);
}

static void must_be(struct compared *compared, const char *name, sim_u64 is,
		    sim_u64 from, sim_u64 to)
{
	if (from == to)
		count.exact++;
	else
		count.bounds++;
	if (is < from || is > to)
		differ(compared, name, is, from, to);
}

#define HAS(name)	(compared->traced->ledger[LEDGER_##name])
#define EXACT(name, figure) \
	must_be(compared, #name, HAS(name), (figure), (figure))

static void compare(struct compared *compared, const struct said *said)
{
	const struct fixing_figures *f = &said->fixing;
	const struct world_plan *plan = &compared->traced->plan;
	bool inexact = compared->way == WAY_ROUGH ||
		       compared->way == WAY_TOGETHER || f->crowded ||
		       f->evicted;
	sim_u64 most = f->expected - f->drive;

	EXACT(rmw_expected, f->expected);
	EXACT(rmw_expected_zeroes, f->expected_zeroes);
	EXACT(rmw_drive_edge, f->drive);
	EXACT(rmw_lost, 0);
	EXACT(rmw_pending, 0);
	EXACT(rmw_avoided, HAS(rmw_expected) - HAS(rmw_host) - HAS(rmw_drive));
	if (f->avoided != f->expected - f->host - f->drive)
		differ(compared, "a balance", f->expected, f->avoided,
		       f->host + f->drive);
	EXACT(pad_read_bytes, HAS(rmw_host) * plan->physical);
	if (!inexact) {
		count.of_way[compared->way]++;
		EXACT(rmw_drive, f->drive);
		EXACT(rmw_host, f->host);
		if (compared->way != WAY_ENDED)
			EXACT(pad_writes, f->written);
		must_be(compared, "block reads that nothing avoids", f->host,
			said->rmin, most);
		return;
	}
	/* A touch that finds no room is left to the drive, which reads for it. */
	must_be(compared, "rmw_host + rmw_drive - rmw_drive_edge",
		HAS(rmw_host) + HAS(rmw_drive) - HAS(rmw_drive_edge),
		said->rmin, most);
}

static void show(const struct traced *traced)
{
	const struct world_plan *plan = &traced->plan;
	unsigned int i;

	printf("physical %u, offset %u, start %u, sectors %u, max_blocks %u\ntime_us,op,offset_sectors,sectors\n",
	       plan->physical, plan->offset, plan->start, plan->sectors,
	       plan->max_blocks);
	for (i = 0; i < plan->nr_ops; i++) {
		static const char * const names[OP_KINDS] = {
			"read", "write", "write+fua", "flush", "flush+write+fua",
			"discard", "write-zeroes",
		};
		const struct world_op *op = &plan->op[i];

		printf("%llu,%s,%u,%u\n", traced->ns[i] / 1000, names[op->kind],
		       op->first, op->nr);
	}
}

static void do_seed(sim_u64 seed, unsigned int first, bool shows)
{
	static struct traced traced;
	enum way way = seed % WAYS;
	unsigned int mode;

	make_trace(&traced, seed, way);
	if (traced.plan.nr_ops > first)
		traced.plan.nr_ops = first;
	count.traces++;
	count.requests += traced.plan.nr_ops;
	if (shows)
		show(&traced);
	for (mode = 1; mode <= 2; mode++) {
		struct compared compared = { &traced, seed, way, false };
		const char *failure;
		struct said said;

		traced.plan.mode = mode;
		failure = run(&traced, seed, shows);
		if (failure) {
			printf("seed %llu: %s\n", seed, failure);
			count.differences++;
			return;
		}
		said = forecast(&traced, way == WAY_TIMED ||
					 way == WAY_ROUGH);
		compare(&compared, &said);
	}
}

static sim_u64 number_of(const char *text)
{
	char *end;
	sim_u64 number = strtoull(text, &end, 0);

	if (*text && !*end && *text != '-')
		return number;
	fprintf(stderr, "sim-forecast: not a number: %s\n", text);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 'n' },
		{ "traces", required_argument, NULL, 't' },
		{ "first", required_argument, NULL, 'f' },
		{ "show", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	size_t bytes = (size_t)(__stop_sim_data - __start_sim_data);
	sim_u64 seed = 1, traces = 1000, i;
	unsigned int first = WORLD_OPS;
	bool shows = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			seed = number_of(optarg);
			break;
		case 't':
			traces = number_of(optarg);
			break;
		case 'f':
			first = (unsigned int)number_of(optarg);
			break;
		case 'h':
			shows = true;
			break;
		default:
			fprintf(stderr, "usage: sim-forecast [--seed N] [--traces N] [--first N] [--show]\n");
			return 2;
		}
	}
	pristine = malloc(bytes);
	memcpy(pristine, __start_sim_data, bytes);
	for (i = 0; i < traces && !count.differences; i++)
		do_seed(seed + i, first, shows);
	free(pristine);
	printf("sim-forecast: %llu traces, %llu requests, %llu figures exact, %llu in bounds, %llu differences; %llu runs exact untimed, %llu timed\n",
	       count.traces, count.requests, count.exact, count.bounds,
	       count.differences, count.of_way[WAY_UNTIMED],
	       count.of_way[WAY_TIMED]);
	return !!count.differences;
}
