// SPDX-License-Identifier: GPL-2.0
/*
 * sim: runs the engine in simulated worlds, one seed after the other.
 *
 * A seed is a life: a plan, a world that runs it, maybe a cut of the power, and
 * the next world on the same medium, a few times. What a life must keep is judged
 * by the oracle while it runs, at each cut and at its end.
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "media.h"
#include "oracle.h"
#include "world.h"

#define MOST_WORLDS	4U	/* of one life */

struct world_count world_count;

/* All static data of the engine and of the shim, as they were at the start. */
extern char __start_sim_data[], __stop_sim_data[];
static char *pristine;

/* Lines of the story to print of each world; 0: all. */
static size_t story_lines;

/*
 * Copy all of it. ASan keeps zones between variables that nobody may touch, a copy of
 * which does no harm.
 */
static void __attribute__((no_sanitize("address", "undefined"), noinline))
copy_data(char *to, const char *from)
{
	size_t bytes = (size_t)(__stop_sim_data - __start_sim_data);

#ifdef SIM_ASAN
	while (bytes--)
		((volatile char *)to)[bytes] = from[bytes];
#else
	memcpy(to, from, bytes);
#endif
}

/* Chance of the plans, apart from that of the machine. */
static sim_u64 plan_state;

static unsigned int below(unsigned int n)
{
	sim_u64 z = plan_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (unsigned int)((z >> 32) * n >> 32);
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

/* Have a request go to the twin; its first blocks are used most. */
static void plan_twin_op(const struct world_plan *plan, struct world_op *op,
			 unsigned int block)
{
	op->twin = true;
	op->first = (unsigned short)below(plan->twin < 3 * block ?
					  plan->twin : 3 * block);
	if (op->nr > plan->twin - op->first)
		op->nr = (unsigned short)(plan->twin - op->first);
}

static void plan_op(const struct world_plan *plan, struct world_op *op,
		    unsigned int hot, unsigned int block)
{
	/* Writes are most of it; a few blocks are used by all. */
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE,
		OP_READ, OP_READ, OP_READ, OP_FUA, OP_FLUSH, OP_FLUSH_FUA,
		OP_DISCARD, OP_ZEROES,
	};
	unsigned int lead = (plan->start + block -
			     (plan->offset >> 9)) % block;
	const struct world_op *last = NULL, *other;

	memset(op, 0, sizeof(*op));
	op->thread = (unsigned char)below(plan->threads);
	for (other = op; other-- > plan->op && !last;)
		if (other->thread == op->thread && other->kind != OP_FLUSH)
			last = other;
	op->kind = kinds[below(sizeof(kinds))];
	if (op->kind == OP_ZEROES && !plan->zeroes)
		op->kind = OP_WRITE;
	op->pieces = (unsigned char)(one_in(3) ? 1 + below(4) : 1);
	op->plug = one_in(4);
	op->wait = one_in(4);
	op->nowait = one_in(20);
	if (op->kind == OP_FLUSH)
		return;
	op->first = (unsigned short)(hot + below(3 * block));
	switch (below(8)) {
	case 0:		/* whole blocks */
		op->first = (unsigned short)(op->first -
					     (op->first + lead) % block);
		op->nr = (unsigned short)(block * (1 + below(3)));
		break;
	case 1:
		op->nr = (unsigned short)(1 + below(4 * block));
		break;
	default:
		op->nr = (unsigned short)(1 + below(block));
		break;
	}
	/* A stream goes on where it has ended. */
	if (plan->streams && last && !one_in(5)) {
		op->first = (unsigned short)(last->first + last->nr);
		op->kind = last->kind;
	}
	if (op->first > plan->sectors - 1)
		op->first = (unsigned short)below(plan->sectors);
	if (op->nr > plan->sectors - op->first)
		op->nr = (unsigned short)(plan->sectors - op->first);
	if (op->kind == OP_ZEROES && op->nr > plan->zeroes)
		op->nr = (unsigned short)plan->zeroes;
	if (plan->has_twin && one_in(3))
		plan_twin_op(plan, op, block);
}

/* No second target. */
static void plan_alone(struct world_plan *plan)
{
	unsigned int i;

	plan->stacked = false;
	plan->has_twin = false;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		op->twin = false;
		if (op->kind == OP_FLUSH)
			continue;
		op->first = (unsigned short)(op->first % plan->sectors);
		if (op->nr > plan->sectors - op->first)
			op->nr = (unsigned short)(plan->sectors - op->first);
	}
}

/*
 * Writes over a boundary with a bad block in front of it, and an administrator who
 * gives up what failed, again and again: what is held of a write fails while its
 * other part is in flight.
 */
static void plan_drops(struct world_plan *plan, unsigned int block)
{
	unsigned int lead = (plan->start + block - (plan->offset >> 9)) % block;
	unsigned int edge = 2 * block - lead % block, i;

	if (plan->sectors < 4 * block)
		return;
	plan->mode = 2;
	plan->hold_ms = 1;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->bad_first = plan->start + edge - block;
	plan->bad_nr = block;
	plan->slow_one_in = 2;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		if (op->kind != OP_WRITE && op->kind != OP_READ)
			continue;
		op->first = (unsigned short)(edge - 1 - below(block - 1));
		op->nr = (unsigned short)(edge - op->first + 1 +
					  below(block - 1));
		op->nowait = false;
	}
	plan->nr_events = sizeof(plan->event);
	memset(plan->event, EVENT_DROP_FAILED, sizeof(plan->event));
}

/*
 * Reads across many held blocks, and hardly any memory: a read is taken in part.
 * Nothing else goes wrong, so that the ledger must be exact at the end.
 */
static void plan_memory(struct world_plan *plan)
{
	unsigned int i;

	plan->mode = 2;
	plan->hold_ms = 500;
	plan->max_blocks = 64;
	plan->nowait_one_in = 3;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan->cut_after = 0;
	plan->reboot = false;
	plan->nr_events = 0;
	for (i = 0; i < plan->nr_ops; i++)
		plan->op[i].nowait = false;
}

/*
 * Reads and writes of two blocks, and many flushes: reads are in flight below
 * while what they have pinned is written, and written again.
 */
static void plan_reads(struct world_plan *plan, unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_READ, OP_READ, OP_READ, OP_WRITE, OP_WRITE, OP_FUA, OP_FLUSH,
	};
	unsigned int lead = (plan->start + block - (plan->offset >> 9)) % block;
	unsigned int edge = 2 * block - lead % block, i;

	if (plan->sectors < 4 * block)
		return;
	plan->mode = 2;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan->slow_one_in = 2;
	plan->nr_events = 0;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		bool whole = one_in(8);

		op->kind = kinds[below(sizeof(kinds))];
		op->nowait = false;
		op->plug = false;
		op->first = (unsigned short)(edge - (whole ? block :
						     below(block)));
		op->nr = (unsigned short)(whole ? block : 1 + below(block));
		if (op->kind == OP_FLUSH) {
			op->first = 0;
			op->nr = 0;
		}
	}
}

/*
 * Writers without end on blocks that are soon too many to be held, whole blocks
 * among them, against one thread that writes a part of a block and flushes it.
 */
static void plan_flood(struct world_plan *plan, unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_FLUSH,
	};
	unsigned int lead = (plan->start + block - (plan->offset >> 9)) % block;
	unsigned int edge = block - lead % block, i;

	if (plan->sectors < 16 * block)
		return;
	plan->mode = 2;
	plan->max_blocks = 8 + below(24);
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_first = plan->start + edge + 6 * block;
	plan->bad_nr = one_in(2) ? 6 * block : 0;
	plan->slow_one_in = 0;
	plan->tags = 256;
	plan->cut_after = 0;
	plan->reboot = false;
	plan->nr_events = 0;
	plan->threads = WORLD_THREADS;
	plan->depth = 16;
	plan->flood = true;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		memset(op, 0, sizeof(*op));
		op->pieces = 1;
		/* Each has some: nobody repeats nothing. */
		op->thread = (unsigned char)(i % plan->threads);
		op->kind = kinds[below(sizeof(kinds))];
		op->first = (unsigned short)(edge + block * (1 + below(12)));
		op->nr = (unsigned short)block;
		if (one_in(2)) {
			op->first = (unsigned short)(op->first +
						     below(block - 1));
			op->nr = 1;
		}
		if (!op->thread) {
			op->kind = i / plan->threads % 2 ? OP_FLUSH : OP_WRITE;
			op->first = (unsigned short)edge;
			op->nr = 1;
			op->wait = true;
		}
		if (op->kind == OP_FLUSH) {
			op->first = 0;
			op->nr = 0;
		}
	}
}

/*
 * Lives that differ only in which allocation fails: one of all that may not sleep,
 * and one in so many lives none.
 */
#define ALLOCATIONS	256U

static void plan_allocation(struct world_plan *plan, sim_u64 seed)
{
	plan->nowait_one_in = 0;
	plan->nowait_nth = (unsigned int)(seed % ALLOCATIONS);
	plan->nr_ops = plan->nr_ops < 60 ? plan->nr_ops : 60;
}

/* Small writes and reads to a few blocks, and one event after the other. */
static void plan_few_blocks(struct world_plan *plan, unsigned int block,
			    enum world_event event)
{
	unsigned int blocks = plan->sectors / block < 5 ?
			      plan->sectors / block - 1 : 4, i;

	plan->hold_ms = 1;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan_alone(plan);
	plan->cut_after = 0;
	plan->reboot = false;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		op->kind = one_in(4) ? OP_READ : OP_WRITE;
		op->nowait = false;
		op->first = (unsigned short)below(blocks * block);
		op->nr = (unsigned short)(1 + below(block));
	}
	plan->nr_events = sizeof(plan->event);
	memset(plan->event, event, sizeof(plan->event));
}

/* The mode changes again and again: writes meet the gate while it closes and opens. */
static void plan_gate(struct world_plan *plan, unsigned int block)
{
	plan_few_blocks(plan, block, EVENT_MODE);
	plan->threads = WORLD_THREADS;
	plan->depth = 1 + below(3);
}

/* Suspends, while some held blocks fail and are tried again, and others are in flight. */
static void plan_quiet(struct world_plan *plan, unsigned int block)
{
	unsigned int lead = (plan->start + block - (plan->offset >> 9)) % block;

	plan_few_blocks(plan, block, EVENT_SUSPEND);
	plan->mode = 2;
	plan->slow_one_in = 2;
	plan->bad_first = plan->start + block - lead % block;
	plan->bad_nr = block * (1 + below(2));
}

/* What all lives are about, if one thing is asked for. */
enum focus {
	FOCUS_NONE,
	FOCUS_DROPS,
	FOCUS_MEMORY,
	FOCUS_READS,
	FOCUS_FLOOD,
	FOCUS_ALLOCATIONS,
	FOCUS_GATE,
	FOCUS_QUIET,
	FOCUS_KINDS,
};

static const char *const focus_names[] = { "none", "drops", "memory", "reads",
					   "flood", "allocations", "gate",
					   "quiet" };
static enum focus focus;

/* What decides all of a life but the allocation that fails. */
static sim_u64 life_of(sim_u64 seed)
{
	return focus == FOCUS_ALLOCATIONS ? seed / ALLOCATIONS : seed;
}

static void make_plan(struct world_plan *plan, sim_u64 seed, bool first)
{
	static const unsigned int physical[] = { 4096, 4096, 4096, 1024, 2048,
						 8192, 16384 };
	unsigned int block, i, hot;

	if (first) {
		memset(plan, 0, sizeof(*plan));
		plan->physical = physical[below(7)];
		plan->offset = one_in(4) ? 512 * below(plan->physical / 512) : 0;
		plan->start = one_in(2) ? below(64) : 0;
		plan->sectors = 64 + below(MEDIA_SECTORS - 64 - plan->start);
		if (one_in(6) && plan->sectors > 128) {
			plan->twin = 16 + below(plan->sectors / 2);
			plan->sectors -= plan->twin;
		}
	}
	block = plan->physical / 512;
	plan->mode = one_in(8) ? 0 : one_in(3) ? 1 : 2;
	plan->max_blocks = one_in(3) ? 1 + below(8) : 64;
	plan->hold_ms = one_in(2) ? 1 + below(20) : 500;
	plan->max_sectors = one_in(4) ? block * (2 + below(4)) : 2048;
	plan->zeroes = one_in(3) ? 0 : one_in(3) ? block + below(block) : 1024;
	plan->workers = 1 + below(6);
	plan->stacked = one_in(8);
	plan->has_twin = plan->twin && !plan->stacked;
	plan->flood = false;
	plan->nowait_one_in = one_in(3) ? 2 + below(30) : 0;
	plan->nth = one_in(16) ? 1 + below(12) : 0;
	plan->error_one_in = one_in(4) ? 5 + below(100) : 0;
	plan->bad_nr = one_in(6) ? 1 + below(3 * block) : 0;
	plan->bad_first = below(MEDIA_SECTORS);
	plan->inline_end = one_in(4);
	plan->slow_one_in = one_in(2) ? 0 : 1 + below(100);
	plan->hang_at = one_in(16) ? 1 + below(100) : 0;
	plan->hang_ms = 1000 * (1 + below(60));
	plan->tags = one_in(4) ? 1 + below(4) : 256;
	plan->threads = 1 + below(WORLD_THREADS);
	plan->depth = 1 + below(16);
	plan->streams = one_in(3);
	plan->nr_ops = 20 + below(WORLD_OPS - 20);
	plan->cut_after = one_in(2) ? 1 + below(plan->nr_ops) : 0;
	plan->reboot = !plan->cut_after && one_in(8);
	plan->nr_events = plan->bad_nr ? 4 + below(12) : one_in(2) ? below(12) : 0;
	for (i = 0; i < plan->nr_events; i++)
		plan->event[i] = plan->bad_nr && one_in(2) ?
				 EVENT_DROP_FAILED :
				 (unsigned char)below(EVENT_KINDS);
	hot = below(plan->sectors);
	for (i = 0; i < plan->nr_ops; i++) {
		if (one_in(50))
			hot = below(plan->sectors);
		plan_op(plan, &plan->op[i], hot, block);
	}
	if (plan->bad_nr)
		plan->bad_first = plan->start + hot;
	if (focus == FOCUS_GATE)
		plan_gate(plan, block);
	else if (focus == FOCUS_QUIET)
		plan_quiet(plan, block);
	else if (focus == FOCUS_DROPS || one_in(16))
		plan_drops(plan, block);
	else if (focus == FOCUS_MEMORY || one_in(16))
		plan_memory(plan);
	else if (focus == FOCUS_READS || one_in(16))
		plan_reads(plan, block);
	else if (focus == FOCUS_FLOOD || one_in(64))
		plan_flood(plan, block);
	if (focus == FOCUS_ALLOCATIONS)
		plan_allocation(plan, seed);
}

/**
 * struct life - what came of a seed
 * @failure: the violation, or NULL
 * @hash: of the whole story
 * @cuts: cuts of the power
 */
struct life {
	const char *failure;
	sim_u64 hash;
	unsigned int cuts;
};

/* What is on the medium must be what the oracle allows. */
static void judge_medium(void *argument)
{
	const struct world_plan *plan = argument;
	unsigned int i;

	for (i = 0; i < MEDIA_SECTORS; i++) {
		sim_u64 tag = media_read(i);

		if (i >= plan->start &&
		    i < plan->start + plan->sectors + plan->twin)
			oracle_survived(i - plan->start, tag);
		else if (tag)
			machine_fail("sector %u of the drive, which is not the target's, has %#llx",
				     i, tag);
	}
	machine_stop("judged");
}

/* A reboot has written all that was held: as if it were read now. */
static void judge_reboot(void *argument)
{
	const struct world_plan *plan = argument;
	sim_u64 now = oracle_now();
	unsigned int i;

	oracle_stopped();
	for (i = 0; i < plan->sectors + plan->twin; i++)
		oracle_found(i, now, media_read(plan->start + i));
	machine_stop("judged");
}

/*
 * How lives choose who goes on: all by chance, all by priorities, or each as its
 * seed has it.
 */
enum strategies {
	ALL_RANDOM,
	ALL_PCT,
	MIXED,
	STRATEGIES,
};

static const char *const strategy_names[] = { "random", "pct", "mixed" };
static enum strategies strategies;
/* Measured: points that a world has for each of its requests, about. */
#define POINTS_OF_OP	140U

static enum machine_strategy strategy_of(sim_u64 seed)
{
	return strategies == ALL_PCT || (strategies == MIXED &&
					 seed / MOST_WORLDS % 2) ?
		STRATEGY_PCT : STRATEGY_RANDOM;
}

static struct machine_result run(void (*first)(void *argument),
				 struct world_plan *plan, sim_u64 seed,
				 bool keep_story)
{
	struct machine_options options = {
		.seed = seed, .cpus = 1 + seed % MACHINE_CPUS,
		/* By priorities a flood keeps the drain from running, lawfully. */
		.strategy = plan->flood ? STRATEGY_RANDOM : strategy_of(seed),
		.mean = 1U << (seed >> 8) % 6,
		.depth = 2 + (1U << (seed >> 4) % 6),
		.steps = POINTS_OF_OP * plan->nr_ops,
		.keep_story = keep_story,
	};
	struct machine_result result;

	copy_data(__start_sim_data, pristine);
	machine_reset(&options);
	result = machine_run(first, plan);
	if (keep_story)
		machine_tell(stdout, story_lines);
	if (!result.failure && !result.why)
		result.failure = "hang: nobody can go on, and requests have not ended";
	return result;
}

/* Live a seed; @last: keep the story of its last world only. */
static struct life live(sim_u64 seed, struct world_plan *plan, bool keep_story)
{
	sim_u64 chance = life_of(seed);
	struct life life = { 0 };
	unsigned int i;

	plan_state = chance;
	media_reset();
	oracle_gives_up = false;
	world_count.writes = 0;
	for (i = 0; i < MOST_WORLDS; i++) {
		struct machine_result result;
		bool errors;

		make_plan(plan, seed, !i);
		if (!i)
			oracle_reset(plan->sectors);
		/* Once a life has errors, what it leaves may be of them. */
		oracle_gives_up |= plan->error_one_in || plan->bad_nr;
		result = run(world_main, plan, chance * MOST_WORLDS + i,
			     keep_story);
		life.hash = life.hash * 31 + result.hash;
		life.failure = result.failure;
		if (life.failure)
			return life;
		errors = plan->error_one_in || plan->bad_nr;
		if (!strcmp(result.why, "reboot") && !errors) {
			result = run(judge_reboot, plan, seed, keep_story);
			life.failure = result.failure;
		}
		if (life.failure)
			return life;
		life.cuts++;
		media_cut(!strcmp(result.why, "done") ? CUT_ALL :
			  (enum media_cut)below(CUT_KINDS), chance + i);
		result = run(judge_medium, plan, seed, keep_story);
		life.failure = result.failure;
		if (life.failure || one_in(3))
			return life;
	}
	return life;
}

/* A second of processor time is enough for a million choices. */
#define WATCH_SECONDS	5

static volatile sim_u64 lives_now;

/* A thread that calls nothing of the machine any more ends by this only. */
static void watch(int signal)
{
	static sim_u64 last = ~0ULL;
	char text[80];
	int bytes;

	(void)signal;
	if (machine_choices() != last) {
		last = machine_choices();
		return;
	}
	bytes = snprintf(text, sizeof(text),
			 "seed %llu: a thread goes round without end\n",
			 lives_now);
	if (write(STDOUT_FILENO, text, (size_t)bytes) < 0)
		_exit(2);
	_exit(1);
}

static void start_watch(void)
{
	const struct itimerval every = {
		.it_interval.tv_sec = WATCH_SECONDS,
		.it_value.tv_sec = WATCH_SECONDS,
	};

	signal(SIGVTALRM, watch);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static sim_u64 number(const char *name, const char *text)
{
	char *end;
	sim_u64 found = strtoull(text, &end, 0);

	if (*text && !*end)
		return found;
	fprintf(stderr, "sim: --%s %s: must be a whole number\n", name, text);
	exit(2);
}

static unsigned int name(const char *option, const char *text,
			 const char *const *names, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(text, names[i]))
			return i;
	fprintf(stderr, "sim: --%s %s: must be one of", option, text);
	for (i = 0; i < nr; i++)
		fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "seed", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 's' },
		{ "lives", required_argument, NULL, 'l' },
		{ "story", no_argument, NULL, 't' },
		{ "lines", required_argument, NULL, 'i' },
		{ "hash", no_argument, NULL, 'h' },
		{ "focus", required_argument, NULL, 'f' },
		{ "strategy", required_argument, NULL, 'y' },
		{ NULL, 0, NULL, 0 },
	};
	static struct world_plan plan;
	sim_u64 seed = 1, lives = 0, done, cuts = 0, limit = 0;
	sim_u64 violations = 0;
	bool story = false, hash = false;
	bool progress = isatty(STDERR_FILENO);
	double began = seconds(), told = began, took;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'n':
			seed = number("seed", optarg);
			break;
		case 's':
			limit = number("seconds", optarg);
			break;
		case 'l':
			lives = number("lives", optarg);
			break;
		case 't':
			story = true;
			break;
		case 'i':
			story_lines = (size_t)number("lines", optarg);
			break;
		case 'h':
			hash = true;
			break;
		case 'f':
			focus = name("focus", optarg, focus_names,
				     FOCUS_KINDS);
			break;
		case 'y':
			strategies = name("strategy", optarg, strategy_names,
					  STRATEGIES);
			break;
		default:
			fprintf(stderr, "usage: sim [--seed N] [--seconds N | --lives N] [--story [--lines N]] [--hash] [--focus none|drops|memory|reads|flood|allocations|gate|quiet] [--strategy random|pct|mixed]\n");
			return 2;
		}
	}
	if (!limit && !lives)
		lives = 1;
	pristine = malloc((size_t)(__stop_sim_data - __start_sim_data));
	copy_data(pristine, __start_sim_data);
	start_watch();
	for (done = 0; (!lives || done < lives) &&
	     (!limit || seconds() - began < (double)limit); done++) {
		struct life life;

		if (progress && seconds() - told > 1) {
			told = seconds();
			fprintf(stderr, "\rsim: seed %llu, %llu operations, %llu cuts ",
				seed + done, world_count.ops, cuts);
		}
		lives_now = seed + done;
		life = live(seed + done, &plan, story);

		cuts += life.cuts;
		if (hash)
			printf("%" PRIu64 " %016llx\n", (uint64_t)(seed + done),
			       life.hash);
		if (life.failure) {
			printf("seed %llu: %s\n", seed + done, life.failure);
			violations++;
			break;
		}
	}
	if (progress)
		fputs("\r\033[K", stderr);
	took = seconds() - began;
	printf("sim: %llu operations, %llu cuts, %llu violations, %.0f operations/s\n",
	       world_count.ops, cuts, violations,
	       (double)world_count.ops / (took > 0 ? took : 1));
	return violations ? 1 : 0;
}
