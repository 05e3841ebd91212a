// SPDX-License-Identifier: GPL-2.0
/* The drive below, and what of its requests is on the medium when. */
#include "inside.h"

static void drive_write_sector(u8 sector, u8 version, bool fua)
{
	if (version == GARBAGE)
		wrong("memory that nobody wrote reaches the drive");
	S.medium[sector] = version;
	S.stable[sector] = fua ? 0 : S.stable[sector];
	S.stable[sector] |= 1 << version;
}

/* Whether an outcome is one of a request over [start, end). */
bool drive_may(enum outcome outcome, enum request_op op, u8 start, u8 end)
{
	bool parts = start % MODEL_PER_BLOCK || end % MODEL_PER_BLOCK;

	switch (outcome) {
	case OUTCOME_OK:
		return true;
	case OUTCOME_OK_ALL:
		return op == OP_DISCARD && parts;
	case OUTCOME_OK_IGNORED:
		return op == OP_DISCARD;
	case OUTCOME_FAILED:
		return S.failures;
	case OUTCOME_FAILED_DONE:
		return S.failures && (op == OP_WRITE || op == OP_DISCARD);
	case OUTCOME_FAILED_FIRST:
		return S.failures && op == OP_WRITE &&
		       start / MODEL_PER_BLOCK != (end - 1) / MODEL_PER_BLOCK;
	case OUTCOMES:
		break;
	}
	return false;
}

/* Sectors of [start, end) that a write with that outcome reaches: up to which. */
static u8 drive_reach(enum outcome outcome, u8 start, u8 end)
{
	if (outcome == OUTCOME_FAILED || outcome == OUTCOME_OK_IGNORED)
		return start;
	if (outcome == OUTCOME_FAILED_FIRST)
		return (start / MODEL_PER_BLOCK + 1) * MODEL_PER_BLOCK;
	return end;
}

static bool drive_fails(enum outcome outcome)
{
	if (outcome < OUTCOME_FAILED)
		return false;
	S.failures--;
	return true;
}

static void drive_error_at(u8 start, u8 end)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (part_of(b, start, end))
			S.touched_error |= 1 << b;
}

void drive_own(u8 r, enum outcome outcome)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S.io[r];
	u8 end = drive_reach(outcome, own_start(io), io->end);
	bool fua = kind->fua || io->joined_fua;
	u8 i;

	switch (kind->op) {
	case OP_READ:
		for (i = kind->start; i < kind->end; i++)
			io->data[i] = outcome == OUTCOME_OK ? S.medium[i] : GARBAGE;
		break;
	case OP_FLUSH:
		for (i = 0; i < MODEL_SECTORS && outcome == OUTCOME_OK; i++)
			S.stable[i] = 1 << S.medium[i];
		break;
	case OP_WRITE:
		for (i = own_start(io); i < io->start && i < end; i++)
			drive_write_sector(i, S.block[i / MODEL_PER_BLOCK].buffer[i % MODEL_PER_BLOCK],
					   fua);
		for (i = io->start; i < end; i++)
			drive_write_sector(i, r + 1, fua);
		break;
	case OP_DISCARD:
		for (i = io->start; i < end; i++)
			if (outcome == OUTCOME_OK_ALL ||
			    part_of(i / MODEL_PER_BLOCK, io->start, end) == WHOLE)
				drive_write_sector(i, r + 1, false);
		break;
	}
	io->io = IO_DONE;
	io->io_status = drive_fails(outcome);
	if (!io->io_status)
		return;
	if (kind->op == OP_FLUSH)
		S.touched_error |= DRIVE_FLUSH_ERROR;
	else if (kind->op == OP_READ)
		drive_error_at(kind->start, kind->end);
	else if (!io->joined)
		drive_error_at(io->start, io->end);
}

void drive_run(u8 b, enum outcome outcome)
{
	struct block_run *run = &S.run[b];
	u8 start = b * MODEL_PER_BLOCK;
	u8 end = start + run->nr * MODEL_PER_BLOCK;
	u8 i;

	if (run->write) {
		end = drive_reach(outcome, start, end);
		for (i = start; i < end; i++)
			drive_write_sector(i, S.block[i / MODEL_PER_BLOCK].buffer[i % MODEL_PER_BLOCK],
					   run->fua);
	}
	for (i = start; i < end && !run->write; i++) {
		struct align_block *block = &S.block[i / MODEL_PER_BLOCK];
		u8 version = outcome == OUTCOME_OK ? S.medium[i] : GARBAGE;

		if (run->spare & 1 << (i / MODEL_PER_BLOCK))
			run->data[i] = version;
		else
			block->buffer[i % MODEL_PER_BLOCK] = version;
	}
	run->phase = RUN_DONE;
	run->status = drive_fails(outcome);
	if (run->status && run->nr == 1)
		S.touched_error |= 1 << b;
}

void drive_pass(u8 r, u8 b, enum outcome outcome)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (part(r, b) & 1 << i && outcome != OUTCOME_FAILED)
			drive_write_sector(b * MODEL_PER_BLOCK + i, r + 1,
					   kind_of(r)->fua);
	S.io[r].pass[b] = IO_DONE;
	S.io[r].pass_status[b] = drive_fails(outcome);
	if (S.io[r].pass_status[b])
		S.touched_error |= 1 << b;
}

void drive_held_pass(u8 b, enum outcome outcome)
{
	struct align_block *block = &S.block[b];
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (block->covered & 1 << i && outcome != OUTCOME_FAILED)
			drive_write_sector(b * MODEL_PER_BLOCK + i,
					   block->buffer[i], S.run[b].fua);
	block->pass = IO_DONE;
	block->pass_status = drive_fails(outcome);
	if (block->pass_status)
		S.touched_error |= 1 << b;
}
