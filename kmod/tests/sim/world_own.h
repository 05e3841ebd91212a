/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common declarations of a world's files: state, users, administrator.
 */
#ifndef SIM_WORLD_OWN_H
#define SIM_WORLD_OWN_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>

#include "align.h"
#include "figures.h"
#include "world.h"

/**
 * struct user - a thread that sends requests
 * @number: its number in the plan
 * @in_flight: its requests that have not ended
 * @requests: requests of the drive when it sent its last one
 * @wait: woken when one ends
 */
struct user {
	unsigned int number;
	unsigned int in_flight;
	u64 requests;
	wait_queue_head_t wait;
};

/* Requests of a world that is searched. */
#define NOTED	16U

/* Counts of the users' requests, as the ledger should have them. */
struct sent {
	u64 writes, write_bytes, reads, read_bytes, fua, discards, zeroes;
	u64 touches;
};

/* A world: of a life, which there is one of. */
struct world_state {
	const struct world_plan *plan;
	struct mapped_device *md, *lower, *twin;
	struct user user[WORLD_THREADS];
	unsigned int users;
	unsigned int parts;	/* users, and the administrator */
	wait_queue_head_t wait;
	struct gendisk *disk[3];	/* with files */
	unsigned int nr_disks, readers, reclaims;
	bool removed, unloaded;
	bool drops;		/* held data may be given up now */
	unsigned int times;	/* how often that has begun */
	bool suspended;
	bool calm;		/* the first thread is done: no flood any more */
	/* Begin and end of each request, as a search sees them. */
	u64 times_of[2][NOTED];
	unsigned int held;	/* blocks, as the story has last said */
	bool exact;		/* the ledger has seen all, and no table changed */
	struct sent sent;
	struct figures figures;	/* of the device that the users have */
};

extern struct world_state world;

/* world.c */
void world_begin_drops(void);
void world_end_drops(void);
void world_part_ends(void);

/* world_requests.c */
void world_note_outcome(u64 of, u64 value);
void user_send(struct user *user, const struct world_op *op);
void user_flush(struct user *user, bool twin);
bool user_has_no_room(struct user *user, const struct world_op *op);
void user_main(void *argument);

/* world_admin.c */
void admin_start_device(struct mapped_device *md, const char *below,
			unsigned int start, unsigned int sectors);
const struct align_target *admin_second_of(struct mapped_device *md);
int admin_send_message(struct mapped_device *md, char *name, char *value);
void admin_pause(unsigned int most_us);
void admin_do_event(enum world_event event);
void admin_reboot(void);

/* world_checks.c */
void world_finish(void);

#endif
