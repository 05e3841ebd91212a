// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's overlay.c. */
#include <string.h>

#include "inside.h"

static void unpin(struct align_io *io, u8 b)
{
	if (io->pin[b] == PIN_BLOCK) {
		S.block[b].pins--;
	} else {
		struct zombie *zombie = &S.zombie[io->pin[b] - PIN_ZOMBIE];

		if (!--zombie->pins) {
			memset(zombie, 0, sizeof(*zombie));
			block_release();
		}
	}
	io->pin[b] = PIN_NONE;
}

void pins_end(u8 r, bool ok)
{
	struct align_io *io = &S.io[r];
	u8 b, i;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		const u8 *buffer = io->pin[b] < PIN_ZOMBIE ? S.block[b].buffer :
				   S.zombie[io->pin[b] - PIN_ZOMBIE].buffer;
		u8 mask = io->pin_kept[b] & part(r, b);

		if (broken(READ_NOT_PINNED) && ok && S.block[b].exists &&
		    S.block[b].held) {
			/* Looks for what is held only now. */
			buffer = S.block[b].buffer;
			mask = S.block[b].kept & part(r, b);
		} else if (io->pin[b] == PIN_NONE) {
			continue;
		}
		if (broken(PIN_NOT_KEPT))
			mask = S.block[b].exists ?
			       mask & S.block[b].kept : 0;
		for (i = 0; i < MODEL_PER_BLOCK && ok; i++)
			if (mask & 1 << i)
				io->data[b * MODEL_PER_BLOCK + i] = buffer[i];
		if (io->pin[b] != PIN_NONE)
			unpin(io, b);
	}
}

void overlay_map_read(u8 r)
{
	struct align_io *io = &S.io[r];
	u8 sectors = 0;
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S.block[b];

		observe_meeting(r, b);
		if (!block->exists || !block->held ||
		    !(block->kept & part(r, b)) || broken(READ_NOT_PINNED))
			continue;
		io->pin[b] = PIN_BLOCK;
		io->pin_kept[b] = block->kept;
		block->pins++;
		sectors += bits(block->kept & part(r, b));
	}
	if (sectors < kind_of(r)->end - kind_of(r)->start) {
		io->io = IO_FLIGHT;
		return;
	}
	pins_end(r, true);
	request_end(r);
}
