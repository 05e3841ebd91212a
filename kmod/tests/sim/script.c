// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

const char *const script_kinds[OP_KINDS] = {
	[OP_READ] = "read", [OP_WRITE] = "write", [OP_FUA] = "fua",
	[OP_FLUSH] = "flush", [OP_FLUSH_FUA] = "flush-fua",
	[OP_DISCARD] = "discard", [OP_ZEROES] = "zeroes",
};

const char *const script_events[EVENT_KINDS] = {
	[EVENT_SUSPEND] = "suspend", [EVENT_RELOAD] = "reload",
	[EVENT_MODE] = "mode", [EVENT_FLUSH] = "flush",
	[EVENT_MAX_BLOCKS] = "max_blocks", [EVENT_HOLD_MS] = "hold_ms",
	[EVENT_DROP_FAILED] = "drop_failed", [EVENT_SLEEP] = "sleep",
	[EVENT_LIMITS] = "limits", [EVENT_CACHE] = "cache",
};

static const char *const cuts[CUT_KINDS] = {
	[CUT_NONE] = "none", [CUT_ALL] = "all", [CUT_SECTORS] = "sectors",
	[CUT_BLOCKS] = "blocks", [CUT_MASK] = "mask",
};

static const char *const strategies[] = { "random", "pct" };

/* The numbers and switches of a plan, by name. */
#define NUMBER(name, least, most) \
	{ #name, offsetof(struct world_plan, name), false, least, most }
#define SWITCH(name)	{ #name, offsetof(struct world_plan, name), true, 0, 1 }

static const struct setting {
	const char *name;
	size_t at;
	bool is_switch;
	sim_u64 least, most;
} settings[] = {
	NUMBER(physical, 1024, 262144), NUMBER(offset, 0, 262144),
	NUMBER(base, 0, 1U << 30), NUMBER(start, 0, 1U << 31),
	NUMBER(sectors, 1, MEDIA_SECTORS),
	NUMBER(mode, 0, 2), NUMBER(max_blocks, 1, 1 << 20),
	NUMBER(hold_ms, 1, 1000000), NUMBER(max_sectors, 1, 1 << 20),
	NUMBER(zeroes, 0, 1 << 20), NUMBER(workers, 1, 16), SWITCH(stacked),
	SWITCH(tables), SWITCH(layer), SWITCH(scenes),
	NUMBER(nowait_one_in, 0, 1 << 20), NUMBER(nowait_nth, 0, 1 << 20),
	NUMBER(nth, 0, 1 << 20),
	NUMBER(error_one_in, 0, 1 << 20), NUMBER(bad_first, 0, 1U << 31),
	NUMBER(bad_nr, 0, MEDIA_SECTORS), SWITCH(inline_end),
	NUMBER(slow_one_in, 0, 1 << 20), NUMBER(tags, 1, 1 << 20),
	NUMBER(cut_after, 0, 1 << 20), NUMBER(cut_late, 0, 1 << 20),
	SWITCH(reboot),
	NUMBER(threads, 1, WORLD_THREADS), NUMBER(depth, 1, 64),
	SWITCH(streams), SWITCH(power), SWITCH(flood), SWITCH(has_twin),
	NUMBER(twin, 0, MEDIA_SECTORS), NUMBER(border, 0, MEDIA_SECTORS),
	SWITCH(linear), SWITCH(files), SWITCH(reclaims),
	NUMBER(ceiling, 0, 1 << 20), NUMBER(granule, 0, 1 << 16),
	NUMBER(logical, 0, 128), SWITCH(gapless), SWITCH(large_memory), NUMBER(hang_at, 0, 1 << 20),
	NUMBER(hang_ms, 0, 1000000), SWITCH(limited),
};

#define NR_SETTINGS	(sizeof(settings) / sizeof(settings[0]))

static sim_u64 get(const struct world_plan *plan, const struct setting *setting)
{
	const char *at = (const char *)plan + setting->at;

	return setting->is_switch ? *(const bool *)at : *(const unsigned int *)at;
}

static void set(struct world_plan *plan, const struct setting *setting,
		sim_u64 value)
{
	char *at = (char *)plan + setting->at;

	if (setting->is_switch)
		*(bool *)at = value;
	else
		*(unsigned int *)at = (unsigned int)value;
}

static void write_op(FILE *file, const struct world_op *op)
{
	fprintf(file, "op %u %s %u %u", op->thread, script_kinds[op->kind],
		op->first, op->nr);
	if (op->pieces > 1)
		fprintf(file, " pieces %u", op->pieces);
	fprintf(file, "%s%s%s%s\n", op->plug ? " plug" : "",
		op->wait ? " wait" : "", op->nowait ? " nowait" : "",
		op->twin ? " twin" : "");
}

static void write_world(FILE *file, const struct life_world *world)
{
	const struct world_plan *plan = &world->plan;
	const struct machine_options *machine = &world->machine;
	unsigned int i;

	fprintf(file, "world\nmachine %llu %u %s %u %u %u\n", machine->seed,
		machine->cpus, strategies[machine->strategy], machine->mean,
		machine->depth, machine->steps);
	fprintf(file, "cut %s %llu\n", cuts[world->cut], world->cut_seed);
	for (i = 0; i < NR_SETTINGS; i++)
		fprintf(file, "%s %llu\n", settings[i].name,
			get(plan, &settings[i]));
	for (i = 0; i < plan->nr_events; i++)
		fprintf(file, "event %s\n", script_events[plan->event[i]]);
	for (i = 0; i < plan->nr_ops; i++)
		write_op(file, &plan->op[i]);
}

void script_write(FILE *file, const struct life_script *script)
{
	unsigned int i;

	for (i = 0; i < script->nr; i++)
		write_world(file, &script->world[i]);
}

/* The words of a line that are still to be read. */
static const char *next_word(char **rest)
{
	const char *word = strtok_r(NULL, " \t\n", rest);

	return word ? word : "";
}

static bool read_number(char **rest, sim_u64 least, sim_u64 most,
			sim_u64 *number)
{
	const char *word = next_word(rest);
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 10);
	return *word && !*end && !errno && *number >= least && *number <= most;
}

static bool read_name(char **rest, const char *const *names, unsigned int nr,
		      unsigned int *which)
{
	const char *word = next_word(rest);

	for (*which = 0; *which < nr; ++*which)
		if (!strcmp(word, names[*which]))
			return true;
	return false;
}

static const char *read_machine(char **rest, struct machine_options *machine)
{
	sim_u64 cpus, mean, depth, steps;
	unsigned int strategy;

	if (!read_number(rest, 0, ~0ULL, &machine->seed) ||
	    !read_number(rest, 1, MACHINE_CPUS, &cpus) ||
	    !read_name(rest, strategies, 2, &strategy) ||
	    !read_number(rest, 1, 1 << 20, &mean) ||
	    !read_number(rest, 1, 1 << 20, &depth) ||
	    !read_number(rest, 1, 1 << 30, &steps))
		return "must be: machine SEED CPUS random|pct MEAN DEPTH STEPS";
	machine->cpus = (unsigned int)cpus;
	machine->strategy = (enum machine_strategy)strategy;
	machine->mean = (unsigned int)mean;
	machine->depth = (unsigned int)depth;
	machine->steps = (unsigned int)steps;
	return NULL;
}

static const char *read_op(char **rest, struct world_plan *plan)
{
	struct world_op *op = &plan->op[plan->nr_ops];
	sim_u64 thread, first, nr, pieces = 1;
	unsigned int kind;
	const char *word;

	if (plan->nr_ops == WORLD_OPS)
		return "a world cannot have so many requests";
	if (!read_number(rest, 0, WORLD_THREADS - 1, &thread) ||
	    !read_name(rest, script_kinds, OP_KINDS, &kind) ||
	    !read_number(rest, 0, MEDIA_SECTORS - 1, &first) ||
	    !read_number(rest, 0, MEDIA_SECTORS, &nr))
		return "must be: op THREAD KIND FIRST SECTORS [pieces N] [plug] [wait] [nowait] [twin]";
	memset(op, 0, sizeof(*op));
	for (word = next_word(rest); *word; word = next_word(rest)) {
		if (!strcmp(word, "plug"))
			op->plug = true;
		else if (!strcmp(word, "wait"))
			op->wait = true;
		else if (!strcmp(word, "nowait"))
			op->nowait = true;
		else if (!strcmp(word, "twin"))
			op->twin = true;
		else if (strcmp(word, "pieces") ||
			 !read_number(rest, 1, 8, &pieces))
			return "must be one of pieces N, plug, wait, nowait, twin";
	}
	op->thread = (unsigned char)thread;
	op->kind = (unsigned char)kind;
	op->first = (unsigned short)first;
	op->nr = (unsigned short)nr;
	op->pieces = (unsigned char)pieces;
	plan->nr_ops++;
	return NULL;
}

static const char *read_cut(char **rest, struct life_world *world)
{
	unsigned int cut;

	if (!read_name(rest, cuts, CUT_KINDS, &cut) ||
	    !read_number(rest, 0, ~0ULL, &world->cut_seed))
		return "must be: cut none|all|sectors|blocks|mask SEED";
	world->cut = (enum media_cut)cut;
	return NULL;
}

static const char *read_event(char **rest, struct world_plan *plan)
{
	unsigned int event;

	if (plan->nr_events == sizeof(plan->event))
		return "a world cannot have so many events";
	if (!read_name(rest, script_events, EVENT_KINDS, &event))
		return "there is no such event";
	plan->event[plan->nr_events++] = (unsigned char)event;
	return NULL;
}

static const char *read_setting(const char *word, char **rest,
				struct world_plan *plan)
{
	const struct setting *setting;
	sim_u64 value;

	for (setting = settings; setting < settings + NR_SETTINGS; setting++) {
		if (strcmp(word, setting->name))
			continue;
		if (!read_number(rest, setting->least, setting->most, &value))
			return "its number is missing, too small or too large";
		set(plan, setting, value);
		return NULL;
	}
	return "there is no such word";
}

static const char *read_line(char *text, struct life_script *script)
{
	struct life_world *world = &script->world[script->nr - 1];
	char *rest;
	const char *word = strtok_r(text, " \t\n", &rest), *wrong;

	if (!word || *word == '#')
		return NULL;
	if (!strcmp(word, "world")) {
		if (script->nr == LIFE_WORLDS)
			return "a life cannot have so many worlds";
		memset(&script->world[script->nr++], 0, sizeof(*world));
		return NULL;
	}
	if (!script->nr)
		return "the first line must be: world";
	wrong = !strcmp(word, "machine") ? read_machine(&rest, &world->machine) :
		!strcmp(word, "cut") ? read_cut(&rest, world) :
		!strcmp(word, "event") ? read_event(&rest, &world->plan) :
		!strcmp(word, "op") ? read_op(&rest, &world->plan) :
		read_setting(word, &rest, &world->plan);
	return wrong ? wrong : *next_word(&rest) ? "the line is too long" : NULL;
}

static const char *check_op(const struct world_plan *plan,
			    const struct world_op *op)
{
	if (op->thread >= plan->threads)
		return "a request is of a thread that is not there";
	if ((op->kind == OP_FLUSH) != !op->nr)
		return "a flush has no sectors, and all else has";
	if (op->twin && !plan->has_twin)
		return "a request goes to a twin that is not there";
	if (op->first + op->nr > (op->twin ? plan->twin : plan->sectors))
		return "a request ends behind the end of its device";
	if (op->kind == OP_ZEROES && op->nr > plan->zeroes)
		return "a write-zeroes is too large for the drive";
	return NULL;
}

const char *script_check(const struct world_plan *plan)
{
	const char *wrong = NULL;
	unsigned int i;

	if (plan->physical & (plan->physical - 1) || !plan->physical)
		return "physical must be a power of two";
	if (plan->offset % 512 || plan->offset >= plan->physical)
		return "offset must be a sector of the physical block";
	if (!plan->sectors || !plan->threads || !plan->workers ||
	    !plan->depth || !plan->tags || !plan->max_blocks || !plan->hold_ms)
		return "a setting is missing";
	if (plan->start < plan->base ||
	    plan->start - plan->base + plan->sectors + plan->twin > MEDIA_SECTORS)
		return "the device is not in what can be used of the drive";
	if (plan->border && (plan->border >= plan->sectors || plan->stacked ||
			     plan->has_twin || plan->tables))
		return "border must be inside of a device that is alone";
	if (plan->max_sectors < plan->physical / 512)
		return "max_sectors must be a physical block or more";
	for (i = 0; i < plan->nr_ops && !wrong; i++)
		wrong = check_op(plan, &plan->op[i]);
	return wrong;
}

const char *script_read(FILE *file, struct life_script *script,
			unsigned int *line)
{
	const char *wrong = NULL;
	char text[256];
	unsigned int i;

	script->nr = 0;
	for (*line = 1; !wrong && fgets(text, sizeof(text), file); ++*line)
		wrong = read_line(text, script);
	--*line;
	if (!wrong && !script->nr)
		wrong = "there is no world";
	for (i = 0; i < script->nr && !wrong; i++)
		wrong = script->world[i].machine.cpus ?
			script_check(&script->world[i].plan) :
			"a world has no machine";
	return wrong;
}
