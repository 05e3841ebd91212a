// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a write, all of which end before the write does.
 */
#include <linux/rcupdate.h>

#include "hold.h"
#include "parts.h"

/**
 * align_io_put - end a part of a write
 * @io: the write
 * @status: result of the part; the first error is that of the write
 */
void align_io_put(struct align_io *io, blk_status_t status)
{
	if (status)
		cmpxchg(&io->write.status, BLK_STS_OK, status);
	if (atomic_dec_and_test(&io->write.parts)) {
		/* hold_drop_failed() waits for a write that ends well here. */
		rcu_read_lock();
		if (!io->write.status && hold_was_dropped(io))
			io->write.status = BLK_STS_IOERR;
		io->bio->bi_status = io->write.status;
		bio_endio(io->bio);
		rcu_read_unlock();
	}
}

/* Send a REQ_NOWAIT bio back. Return: what map returns. */
int align_refuse_nowait(struct align_io *io)
{
	ledger_inc(io->at->ledger, nowait_again);
	bio_wouldblock_error(io->bio);
	return DM_MAPIO_SUBMITTED;
}
