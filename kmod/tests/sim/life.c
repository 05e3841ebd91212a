// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "life.h"
#include "oracle.h"
#include "plan.h"

/* Measured: points that a world has for each of its requests, about. */
#define POINTS_OF_OP	140U

struct world_count world_count;
enum life_strategy life_strategy;
void (*life_told)(void);

/* All static data of the engine and of the shim, as they were at the start. */
extern char __start_sim_data[], __stop_sim_data[];
static char *pristine;

/*
 * Copy all static data, with the zones between variables that ASan forbids to touch: a copy
 * of them does no harm.
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

void life_init(void)
{
	pristine = malloc((size_t)(__stop_sim_data - __start_sim_data));
	copy_data(pristine, __start_sim_data);
}

/* Check that the oracle allows the content of the medium. */
static void judge_medium(void *argument)
{
	const struct world_plan *plan = argument;
	unsigned int first = plan->start - plan->base, i;

	for (i = 0; i < MEDIA_SECTORS; i++) {
		sim_u64 tag = media_read(i);

		if (i >= first && i < first + plan->sectors + plan->twin)
			oracle_survived(i - first, tag);
		else if (tag)
			machine_fail("sector %u of the drive, which is not the target's, has %#llx",
				     plan->base + i, tag);
	}
	machine_stop("judged");
}

/* A reboot has written all held blocks: judge the medium as if it were read now. */
static void judge_reboot(void *argument)
{
	const struct world_plan *plan = argument;
	sim_u64 now = oracle_now();
	unsigned int i;

	oracle_stopped();
	for (i = 0; i < plan->sectors + plan->twin; i++)
		oracle_found(i, now, media_read(plan->start - plan->base + i));
	machine_stop("judged");
}

static bool has_priorities(sim_u64 seed)
{
	return life_strategy == LIFE_PCT ||
	       (life_strategy == LIFE_MIXED && seed % 2);
}

/* The machine of a world has ended. */
static struct machine_result end_of(struct life_world *world,
				    struct machine_result result)
{
	if (world->machine.keep_story && life_told)
		life_told();
	if (!result.failure && !result.why)
		result.failure = MACHINE_HANGS ", and requests have not ended";
	return result;
}

/* Run a machine for a world, from its first task on. */
static struct machine_result run(void (*first)(void *argument),
				 struct life_world *world)
{
	machine_reset(&world->machine);
	return end_of(world, machine_run(first, &world->plan));
}

/* Run a world on static data as they were at the start. The judges need none of them. */
static struct machine_result run_world(struct life_world *world)
{
	copy_data(__start_sim_data, pristine);
	return run(world_main, world);
}

static void make_world(struct life_script *script, unsigned int i, sim_u64 seed)
{
	struct life_world *world = &script->world[i];
	sim_u64 own = plan_life(seed) * LIFE_WORLDS + i;

	if (i)
		world->plan = script->world[i - 1].plan;
	plan_make(&world->plan, seed, !i);
	world->machine = (struct machine_options) {
		.seed = own, .cpus = 1 + (plan_life(seed) + i) % MACHINE_CPUS,
		/* By priorities a flood keeps the drain from running, lawfully. */
		.strategy = has_priorities(plan_life(seed)) && !world->plan.flood ?
			    STRATEGY_PCT : STRATEGY_RANDOM,
		.mean = 1U << (own >> 8) % 6,
		.depth = 2 + (1U << (own >> 4) % 6),
		.steps = POINTS_OF_OP * world->plan.nr_ops,
	};
	script->nr = i + 1;
}

static void cut_power(enum media_cut how, const struct life_world *world)
{
	const struct world_plan *plan = &world->plan;
	unsigned int block = plan->physical / 512;
	unsigned int lead = (block - plan->offset / 512 + plan->base) % block;

	media_cut(how, world->cut_seed, block, lead);
}

/* Judge the state that a world leaves. Return: the violation, or NULL. */
static const char *judge(struct life_script *script, unsigned int i, bool made,
			 sim_u64 seed, struct machine_result result,
			 struct life *life)
{
	struct life_world *world = &script->world[i];
	bool errors = world->plan.error_one_in || world->plan.bad_nr;

	life->hash = life->hash * 31 + result.hash;
	life->choices += result.choices;
	if (result.failure || !strcmp(result.why, "given up"))
		return result.failure;
	/* Scenes check their writes themselves. */
	if (world->plan.scenes)
		return NULL;
	if (made) {
		world->cut = !strcmp(result.why, "done") ? CUT_ALL :
			     (enum media_cut)plan_chance(CUT_KINDS);
		world->cut_seed = plan_life(seed) + i;
	}
	if (!strcmp(result.why, "reboot") && !errors) {
		struct machine_result judged = run(judge_reboot, world);

		if (judged.failure)
			return judged.failure;
	}
	life->cuts++;
	cut_power(!strcmp(result.why, "done") ? CUT_ALL : world->cut, world);
	return run(judge_medium, world).failure;
}

/* Run a world and judge it. Return: the violation, or NULL. */
static const char *live(struct life_script *script, unsigned int i, bool made,
			sim_u64 seed, struct life *life)
{
	struct life_world *world = &script->world[i];

	if (!i)
		oracle_reset(world->plan.sectors);
	/* Once a life has errors, the content of its sectors may be due to them. */
	oracle_gives_up |= world->plan.error_one_in || world->plan.bad_nr;
	life->worlds = i + 1;
	return judge(script, i, made, seed, run_world(world), life);
}

static void begin(void)
{
	media_reset();
	oracle_gives_up = false;
	world_count.writes = 0;
}

struct life life_of_seed(sim_u64 seed, struct life_script *script,
			 bool keep_story)
{
	struct life life = { 0 };
	unsigned int i;

	begin();
	plan_begin(seed);
	for (i = 0; i < LIFE_WORLDS; i++) {
		make_world(script, i, seed);
		script->world[i].machine.keep_story = keep_story;
		life.failure = live(script, i, true, seed, &life);
		if (life.failure || !plan_chance(3))
			break;
	}
	return life;
}

struct life life_of_script(struct life_script *script, bool keep_story)
{
	struct life life = { 0 };
	unsigned int i;

	begin();
	for (i = 0; i < script->nr && !life.failure; i++) {
		script->world[i].machine.keep_story = keep_story;
		life.failure = live(script, i, false, 0, &life);
	}
	return life;
}

struct life life_go_on(struct life_script *script)
{
	struct life_world *world = &script->world[0];
	struct life life = { .worlds = 1 };

	life.failure = judge(script, 0, false, 0,
			     end_of(world, machine_go_on()), &life);
	return life;
}

void life_parts(const struct world_plan *plan, void (*part)(void *at, size_t bytes))
{
	part(__start_sim_data, (size_t)(__stop_sim_data - __start_sim_data));
	part(&world_count, sizeof(world_count));
	media_parts(plan->sectors, part);
	oracle_parts(plan->sectors, part);
	machine_parts(part);
}
