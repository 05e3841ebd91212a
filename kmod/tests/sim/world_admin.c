// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator of a world: makes its devices, and suspends, reloads, changes and
 * reboots while the users go on.
 */
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "drive.h"
#include "hold.h"
#include "shim.h"
#include "stage.h"
#include "story.h"
#include "world_own.h"

/* The target's notifier takes so long at most to have everything written. */
#define REBOOT_NS	29000000000ULL
/* And stays quiet for a second behind that, which ends at the tick of a jiffy. */
#define REBOOT_QUIET_NS	996000000ULL
/* Arguments of a target. */
#define WORLD_MOST_ARGS	11U

static const char * const mode_names[] = { "report", "pad", "coalesce" };

static int put_number(char *text, unsigned int number)
{
	return scnprintf(text, 16, "%u", number);
}

/* Load a table of two targets, the first with these arguments. Return as load(). */
static const char *load_two(char **argv, unsigned int argc)
{
	const struct world_plan *plan = world.plan;
	char at[16], *more[WORLD_MOST_ARGS], *error = NULL;
	const struct shim_target target[] = {
		{ .sectors = plan->border, .argc = argc, .argv = argv },
		{
			.linear = plan->linear,
			.sectors = plan->sectors - plan->border,
			.argc = plan->linear ? 2 : argc, .argv = more,
		},
	};

	memcpy(more, argv, argc * sizeof(*argv));
	put_number(at, plan->start + plan->border);
	more[1] = at;
	return shim_md_load_targets(world.md, target, ARRAY_SIZE(target),
				    &error) ? error : NULL;
}

/* Load a table of a device: @mode, on @below. Return: NULL, or why not. */
static const char *load(struct mapped_device *md, const char *below,
			unsigned int start, unsigned int sectors,
			unsigned int mode)
{
	const struct world_plan *plan = world.plan;
	char at[16], max[16], ms[16], *error = NULL;
	char *argv[] = { (char *)below, at, plan->logical ? "10" : "8", "mode",
			 (char *)mode_names[mode], "max_blocks", max,
			 "hold_ms", ms, "write_cache", "on",
			 "logical_block_size", "512" };
	unsigned int argc = ARRAY_SIZE(argv) - (plan->logical ? 0 : 2);

	put_number(at, start);
	put_number(max, plan->max_blocks);
	put_number(ms, plan->hold_ms);
	if (md == world.md && plan->border)
		return load_two(argv, argc);
	return shim_md_load(md, sectors, argc, argv, &error) ?
		error : NULL;
}

void admin_start_device(struct mapped_device *md, const char *below,
			unsigned int start, unsigned int sectors)
{
	const struct world_plan *plan = world.plan;
	const char *error;

	shim_faults.nth = plan->nth;
	error = load(md, below, start, sectors, plan->mode);
	shim_faults.nth = 0;
	if (error && plan->nth)
		error = load(md, below, start, sectors, plan->mode);
	if (error)
		machine_fail("a table is refused: %s", error);
	if (shim_md_resume(md))
		machine_fail("a device is not resumed");
}

/* The second target of a device's table, if that is the module's. */
const struct align_target *admin_second_of(struct mapped_device *md)
{
	const struct world_plan *plan = world.plan;

	return md == world.md && plan->border && !plan->linear ?
		shim_md_target_of(md, plan->border)->private : NULL;
}

int admin_send_message(struct mapped_device *md, char *name, char *value)
{
	char *argv[] = { name, value };
	unsigned int argc = value ? 2 : 1;
	int ret = shim_md_message(md, 0, argc, argv);

	if (!ret && admin_second_of(md))
		ret = shim_md_message(md, world.plan->border, argc, argv);
	return ret;
}

static void send_number(struct mapped_device *md, char *name,
			unsigned int number)
{
	char text[16];

	put_number(text, number);
	if (number > world.figures.most_blocks && strcmp(name, "hold_ms"))
		world.figures.most_blocks = number;
	if (admin_send_message(md, name, text))
		machine_fail("message %s %s is refused", name, text);
	if (md != world.md)
		return;
	if (!strcmp(name, "hold_ms"))
		world.figures.hold_ms = number;
	else
		world.figures.max_blocks = number;
}

void admin_pause(unsigned int most_us)
{
	if (machine_is_search()) {
		machine_yield();
		return;
	}
	machine_sleep("a while", machine_now() +
		      1000ULL * (1 + machine_choose(most_us)));
}

static unsigned int count_held(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;
	const struct align_target *second = admin_second_of(md);

	return at->engine.held.nr + (second ? second->engine.held.nr : 0);
}

/* Blocks in memory that hold nothing. */
static unsigned int count_cached(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;

	/* No machine_point(): other threads do not go on meanwhile. */
	return at->engine.blocks.nr.counter - at->engine.held.nr;
}

/* The held blocks of a suspended device rest: none is taken to be written. */
static void check_rest(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	int rest = at->engine.held.nr_resting.counter + at->engine.held.nr_idle.counter;

	if (rest != at->engine.held.nr)
		machine_fail("a suspended device holds %u blocks, and %d of them rest",
			     at->engine.held.nr, rest);
}

/* A suspend has ended: nothing of the device goes on. */
static void suspended(void)
{
	world.suspended = true;
	world.figures.suspends++;
	if (!world_is_suspended())
		return;
	if (drive_in_flight())
		machine_fail("a suspend ends, and %u requests are in flight",
			     drive_in_flight());
	if (!machine_is_weak())
		shim_unlocks = check_rest;
}

void admin_do_event(enum world_event event)
{
	struct mapped_device *other = world.lower ? world.lower : world.twin;
	struct mapped_device *md = other && machine_choose(2) ? other : world.md;
	unsigned int mode = event == EVENT_MODE || event == EVENT_RELOAD ?
			    machine_decide(3) : machine_choose(3);

	machine_say(STORY_EVENT, event, mode, 0, 0);
	world_count.events++;
	switch (event) {
	case EVENT_SUSPEND:
		/* A device below one that is suspended may not be the first. */
		if (shim_md_suspend(world.md))
			machine_fail("a suspend fails");
		if (count_cached(world.md))
			machine_fail("%u blocks are cached of a suspended device",
				     count_cached(world.md));
		suspended();
		/* In seconds the target would retry failed blocks. */
		admin_pause(machine_choose(4) ? 1000 : 20000000);
		/* The message has the drain look for blocks to write. */
		send_number(world.md, "hold_ms", 1 + machine_choose(100));
		admin_pause(1000);
		world.suspended = false;
		shim_unlocks = NULL;
		if (shim_md_resume(world.md))
			machine_fail("a resume fails");
		break;
	case EVENT_RELOAD:
		world.exact = false;
		world_begin_drops();
		if (load(world.md, world.lower ? "lower" : "drive",
			 world.lower ? 0 : world.plan->start,
			 world.plan->sectors, mode)) {
			world_end_drops();
			break;
		}
		admin_pause(1000);
		if (shim_md_resume(world.md))
			machine_fail("a resume with a new table fails");
		world_end_drops();
		break;
	case EVENT_MODE:
		if (md == world.md)
			world.figures.modes = true;
		if (admin_send_message(md, "mode", (char *)mode_names[mode]))
			break;
		if (md == world.md)
			world.figures.mode = mode;
		if (mode != 2 && count_held(md))
			machine_fail("in mode %s %u blocks are held",
				     mode_names[mode], count_held(md));
		break;
	case EVENT_FLUSH:
		admin_send_message(md, "flush", NULL);
		break;
	case EVENT_MAX_BLOCKS:
		send_number(md, "max_blocks", 1 + machine_choose(16));
		break;
	case EVENT_HOLD_MS:
		send_number(md, "hold_ms", 1 + machine_choose(1000));
		break;
	case EVENT_DROP_FAILED:
		world_begin_drops();
		admin_send_message(md, "drop_failed", NULL);
		world_end_drops();
		break;
	case EVENT_SLEEP:
		shim_sleep_event(PM_SUSPEND_PREPARE);
		admin_pause(1000);
		shim_sleep_event(PM_POST_SUSPEND);
		break;
	case EVENT_LIMITS:
		world.figures.limits = true;
		drive_change_limits();
		break;
	case EVENT_CACHE:
		drive_change_cache();
		break;
	case EVENT_KINDS:
		break;
	}
}

/* The reboot has found held blocks that are to be written. */
static bool reboot_writes;

bool __real_hold_stop(struct align_target *at, unsigned int why);
bool __wrap_hold_stop(struct align_target *at, unsigned int why);
bool __wrap_hold_stop(struct align_target *at, unsigned int why)
{
	bool frozen = at->engine.held.frozen;
	bool ret = __real_hold_stop(at, why);

	if (why == HOLD_STOPPED_REBOOT && stage_when_stopped)
		stage_when_stopped();
	/* A resume may come in between. */
	if (why == HOLD_STOPPED_REBOOT && at->engine.held.nr && !frozen &&
	    !at->engine.held.frozen)
		reboot_writes = true;
	return ret;
}

/*
 * Reboot while all goes on. Behind its deadline, held data are not promised. In front
 * of it, an array below has a quiet second behind the last write.
 */
void admin_reboot(void)
{
	u64 began;

	admin_pause(500);
	began = machine_now();
	shim_reboot();
	if (reboot_writes && machine_now() - began < REBOOT_QUIET_NS)
		machine_fail("a reboot that writes held blocks ends %llu ns after its begin",
			     machine_now() - began);
	machine_stop(machine_now() - began < REBOOT_NS ? "reboot" :
							 "late reboot");
}
