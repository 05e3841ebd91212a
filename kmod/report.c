// SPDX-License-Identifier: GPL-2.0
/*
 * Mode report: writes go down as they came, and are counted.
 */
#include "account.h"
#include "report.h"

/* Map a change of data that is no write of whole blocks, and count it. */
static noinline int map_counted(struct align_io *io)
{
	struct align_target *at = io->at;
	const struct align_geometry *g = &at->geometry;
	struct bio *bio = io->bio;
	bool write = bio_op(bio) == REQ_OP_WRITE;
	struct align_split split;
	unsigned int i;

	if (!write && !align_io_is_zeroes(io)) {
		align_io_count(io, NULL, false);
		return DM_MAPIO_REMAPPED;
	}
	align_split_write(g, bio->bi_iter.bi_sector, bio_sectors(bio), &split);
	align_io_count(io, &split, write && align_over_limits(io));
	if (write)
		ledger_add(at->ledger, sent_block_bytes,
			   align_blocks_bytes(g, split.first_block,
					      split.last_block));
	io->write.nr_touches = split.nr_touches;
	for (i = 0; i < split.nr_touches; i++)
		touch_passes(&io->write.touch[i], &split.touch[i],
			     RMW_DRIVE_REPORT);
	return DM_MAPIO_REMAPPED;
}

/**
 * report_map - map a write, discard or write-zeroes that goes down as it came
 * @io: the bio
 *
 * Return: DM_MAPIO_REMAPPED.
 */
int report_map(struct align_io *io)
{
	if (!report_is_whole(io))
		return map_counted(io);
	align_io_count_whole(io);
	return DM_MAPIO_REMAPPED;
}
