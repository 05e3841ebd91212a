/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stage for scenes: a device on a drive that takes orders, requests that are waited
 * for or not, and checks. Time goes on only when no thread can.
 */
#ifndef SIM_STAGE_H
#define SIM_STAGE_H

#include <linux/device-mapper.h>

#include "align.h"
#include "drive.h"
#include "shim.h"

#define STAGE_MS	1000000ULL	/* ns */
/* Sectors whose content a discard has left open. */
#define STAGE_OPEN	(~0ULL)
/* Orders for requests of one operation. */
#define WRITES		DRIVE_OP(REQ_OP_WRITE)
#define READS		DRIVE_OP(REQ_OP_READ)
/* Microseconds for a request that waits for nothing. */
#define AT_ONCE_US	40

/**
 * struct stage - the stage
 * @block: sectors in a physical block
 * @lead: first sector of the device that begins a block
 * @border: number of the first block of the next region
 * @start: first sector of the device on the drive
 * @sectors: its sectors
 * @smaller: the drive's logical blocks are its physical ones, and smaller are offered
 * @scene: name of the scene
 * @content: contents of the device's sectors, or STAGE_OPEN
 */
struct stage {
	const struct world_plan *plan;
	struct gendisk *drive;
	struct mapped_device *md;
	struct align_target *at;
	unsigned int block, lead, start, sectors, border;
	bool smaller;
	const char *scene;
	struct drive_orders orders;
	u64 *content;
};

extern struct stage stage;

/**
 * struct act - a request
 * @alone: so many of its first sectors are in another page than the rest
 * @ended: the request has ended, with @status
 */
struct act {
	struct bio bio;
	struct bio_vec vec[2];
	unsigned int first, nr, alone;
	u64 *memory;
	bool ended;
	blk_status_t status;
};

/* How an act is to be placed, on whose account, and where it is in memory. */
struct act_place {
	unsigned short ioprio;
	unsigned char hint, stream, cgroup, alone;
};

extern struct act_place act_place;
/* Called when a reboot has stopped the holding, before it looks for held blocks. */
extern void (*stage_when_stopped)(void);

/* Begin and end with scenes on a drive. */
void stage_begin(const struct world_plan *plan, struct gendisk *drive);
void stage_end(void);
/* Make the device: mode 0 to 2. */
void stage_open(unsigned int mode, unsigned int hold_ms,
		unsigned int max_blocks);
/*
 * From now on leave out the ends of the device that are parts of blocks, and offer
 * smaller logical blocks than the drive's; and no longer.
 */
void stage_narrow(void);
void stage_widen(void);
/* Load another table for it, of the same kind. */
void stage_load(unsigned int mode, unsigned int hold_ms,
		unsigned int max_blocks);
/* Compare the device's content with the written data, and remove it. */
void stage_close(void);
/* Remove the device as it is. */
void stage_remove(void);
/* Device sector where block @nr begins, the first whole one being 0. */
unsigned int stage_at(unsigned int nr);
/* Return the content on the drive of a sector of the device. */
u64 stage_medium(unsigned int sector);
/* From now on some sectors may have any content. */
void stage_leave_open(unsigned int first, unsigned int nr);
void stage_rest_us(unsigned int us);
static inline void stage_rest_ms(unsigned int ms)
{
	stage_rest_us(1000 * ms);
}
/*
 * Orders to the drive: operations that wait, from @block on, or in that one;
 * operations that fail, in @nr blocks from there.
 */
void stage_waits(unsigned int ops);
void stage_waits_from(unsigned int ops, unsigned int block);
void stage_waits_at(unsigned int ops, unsigned int block);
void stage_fails(unsigned int ops, unsigned int block, unsigned int nr);
/* Refuse the @nr-th allocation that may fail; and no longer, tell whether it came to that. */
void stage_refuse(unsigned int nr);
bool stage_has_refused(void);
int stage_message(char *name, char *value);
void stage_flush(void);

/* Send a request, and look whether it has ended, or wait for that. */
struct act *act_send(blk_opf_t opf, unsigned int first, unsigned int nr);
blk_status_t act_wait(struct act *act);
/* Write, and wait until that has ended well. */
void act_write(unsigned int first, unsigned int nr);
/* Read, and compare with the written data. */
void act_read(unsigned int first, unsigned int nr);

/* The @nr-th request since the last drive_forget_seen() must be this one. */
const struct drive_seen *must_see(unsigned int nr, enum req_op op,
				  unsigned int first, unsigned int sectors);
/* One of the requests since then must be this one. */
void must_have_seen(enum req_op op, unsigned int first, unsigned int sectors);
void must_see_no(unsigned int nr);
/* A log line must have come that has these words, and only then. */
void must_log(const char *words);
void must_log_nothing(void);
void stage_must(const char *what, u64 is, u64 from, u64 to,
		unsigned int line);
#define MUST(what, must) \
	do { \
		u64 _must = (must); \
		stage_must(#what, what, _must, _must, __LINE__); \
	} while (0)
#define MUST_LIE(what, from, to) stage_must(#what, what, from, to, __LINE__)
/* Blocks that are held now. */
#define HELD		(stage.at->engine.held.nr)
#define COUNT(name)	ledger_read(stage.at->ledger, LEDGER_##name)

#endif
