// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a world, when all users have ended: held blocks are written in time,
 * nothing stays in memory, the ledger has all requests, and each sector its content.
 */
#include "drive.h"
#include "ledger.h"
#include "shim.h"
#include "world_own.h"

static void note_ledger(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++)
		world_note_outcome((1ULL << 60) + i, ledger_read(at->ledger, i));
}

#define CHECK(name, expected) \
	do { \
		u64 _is = ledger_read(ledger, LEDGER_##name); \
		u64 _must = (expected); \
		if (_is != _must) \
			machine_fail("the ledger has %s %llu, and there were %llu", \
				     #name, _is, _must); \
	} while (0)
#define READ(name) ledger_read(ledger, LEDGER_##name)

/* Compare a count of the drive with the sum of all targets on it. */
static void check_drive_count(const char *name, unsigned int which, u64 is)
{
	struct mapped_device *md[] = { world.md, world.twin };
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(md); i++) {
		const struct align_target *at;

		if (!md[i])
			continue;
		at = shim_md_target(md[i])->private;
		sum += ledger_read(at->ledger, which);
	}
	if (sum != is)
		machine_fail("the ledgers above the drive have %s %llu, and the drive counts %llu",
			     name, sum, is);
}

/* The ledger, when nothing is in flight and nothing held. */
static void check_ledger(void)
{
	struct align_target *at = shim_md_target(world.md)->private;
	u64 bounced;
	const struct ledger *ledger = at->ledger;
	const struct sent *sent = &world.sent;
	const struct drive_count *drive = drive_count();

	CHECK(rmw_pending, 0);
	CHECK(held_blocks, 0);
	CHECK(held_bytes, 0);
	CHECK(degraded, 0);
	CHECK(rmw_expected, READ(rmw_avoided) + READ(rmw_host) +
	      READ(rmw_drive) + READ(rmw_lost));
	CHECK(writes, sent->writes);
	CHECK(write_bytes, sent->write_bytes);
	CHECK(reads, sent->reads);
	CHECK(read_bytes, sent->read_bytes);
	CHECK(fua, sent->fua);
	CHECK(discards, sent->discards);
	CHECK(write_zeroes, sent->zeroes);
	CHECK(rmw_expected, sent->touches);
	figures_check(&world.figures, at, world.lower, world.twin);
	if (world.lower)
		return;
	bounced = READ(bounce_reads);
	check_drive_count("pad_reads", LEDGER_pad_reads,
			  drive->reads - bounced);
	check_drive_count("pad_read_bytes", LEDGER_pad_read_bytes,
			  drive->read_bytes -
			  bounced * world.plan->logical * SECTOR_SIZE);
	if (!world.plan->error_one_in && !world.plan->bad_nr &&
	    !READ(uncut) && !READ(rmw_drive_read_error))
		check_drive_count("rmw_drive", LEDGER_rmw_drive,
				  drive->partial);
}

/* Read all of a device, as a user. */
static void read_all(struct user *user, unsigned int sectors, bool twin)
{
	unsigned int at = 0;

	while (at < sectors) {
		unsigned int left = sectors - at;
		struct world_op op = {
			.kind = OP_READ, .first = at, .twin = twin,
			.nr = 1 + machine_choose(min(left, 64U)), .pieces = 1,
		};

		wait_event(user->wait, user->in_flight < 8);
		at += op.nr;
		user_send(user, &op);
	}
	wait_event(user->wait, !user->in_flight);
}

/*
 * Held blocks, failed ones too, are written without any flush. Time may go on while
 * other threads could run, so a second here may be none for them: many seconds.
 */
static void wait_unasked(const struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < 300 && READ_ONCE(at->engine.held.nr); i++)
		machine_sleep("hold_ms", machine_now() + 1000000000ULL);
	if (at->engine.held.nr)
		machine_fail("%u blocks are held for 300 s",
			     at->engine.held.nr);
}

/* Without any request, cached blocks are evicted by themselves. */
static void wait_unknown(const struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < 300 && atomic_read(&at->engine.blocks.nr); i++)
		machine_sleep("cached blocks", machine_now() + 1000000000ULL);
	if (atomic_read(&at->engine.blocks.nr))
		machine_fail("%d blocks are in memory for 300 s, and no request is in flight",
			     atomic_read(&at->engine.blocks.nr));
}

static void check_forgotten(const struct align_target *at)
{
	if (atomic_read(&at->engine.blocks.nr))
		machine_fail("%d blocks are in memory behind the message flush",
			     atomic_read(&at->engine.blocks.nr));
}

/* Behind the message flush no block is held, and no written one cached. */
static void forget(struct user *user)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	const struct align_target *second = admin_second_of(world.md);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct world_op op = {
			.kind = OP_WRITE, .pieces = 1, .nr = 1,
			.first = machine_choose(world.plan->sectors),
		};

		if (!user_has_no_room(user, &op))
			user_send(user, &op);
	}
	wait_event(user->wait, !user->in_flight);
	if (admin_send_message(world.md, "flush", NULL))
		machine_fail("held blocks cannot be written to a good drive");
	check_forgotten(at);
	if (second)
		check_forgotten(second);
}

static void wait_idle(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;
	const struct align_target *second = admin_second_of(md);

	wait_unasked(at);
	wait_unknown(at);
	if (!second)
		return;
	wait_unasked(second);
	wait_unknown(second);
}

/* All requests have ended: the last words of a world. */
void world_finish(void)
{
	struct user *user = &world.user[0];

	machine_explore(false);
	drive_mend();
	wait_idle(world.md);
	if (world.lower)
		wait_idle(world.lower);
	if (world.twin)
		wait_unasked(shim_md_target(world.twin)->private);
	forget(user);
	if (world.lower && admin_send_message(world.lower, "flush", NULL))
		machine_fail("held blocks below cannot be written to a good drive");
	if (world.twin && admin_send_message(world.twin, "flush", NULL))
		machine_fail("held blocks of the twin cannot be written to a good drive");
	note_ledger();
	/* Requests that the drive sent back were counted, unknown to their senders. */
	if (world.exact && !drive_count()->again)
		check_ledger();
	read_all(user, world.plan->sectors, false);
	user_flush(user, false);
	if (world.twin) {
		read_all(user, world.plan->twin, true);
		user_flush(user, true);
	}
	wait_event(user->wait, !user->in_flight);
}
