// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the openers of a mapped device know of its volatile write cache: only openers
 * that know of the cache send flushes.
 */
#include "node.h"

/* Note whether a device has a write cache by the table that it has now. */
void node_note_cache(struct align_node *node)
{
	node->has_cache = bdev_write_cache(node->disk->part0);
}

/**
 * node_look_for_openers - note whether a device gains a write cache by its next table
 * @node: the device, about to be resumed with that table's limits
 *
 * Openers so far do not know of it then.
 */
void node_look_for_openers(struct align_node *node)
{
	bool has_cache = bdev_write_cache(node->disk->part0);

	if (has_cache && !node->has_cache)
		WRITE_ONCE(node->unflushed, true);
	node->has_cache = has_cache;
}

/**
 * node_misses_cache - remember that the live queue has no write cache
 * @node: the device, of which that was seen
 *
 * Root can switch the write cache of a live queue off and on again (queue/
 * write_cache). A layer above that opens the device in between asks once and
 * sends no flushes, also when the cache is back. No callback tells the target of
 * either change or of an open, so the target checks whenever one of these comes by:
 * at each bio in pad and coalesce, at each misaligned write in report, whose other
 * bios must stay cheap, when target<N>_holding is read, at the message "mode
 * coalesce", and at resume. A layer that was made while none of these came by is
 * not noticed. In pad and coalesce the reads of its own set-up come by, of udev,
 * of a mount.
 *
 * Any context.
 *
 * Return: false, as node_sees_cache() does then.
 */
bool node_misses_cache(struct align_node *node)
{
	if (!READ_ONCE(node->unflushed) && disk_openers(node->disk))
		WRITE_ONCE(node->unflushed, true);
	return false;
}

/**
 * node_is_flushed - whether all openers of a device know its write cache
 * @node: the device
 *
 * Return: false if an opener may have looked while the device had no volatile
 * write cache. A call of this function while the device has no opener ends that.
 */
bool node_is_flushed(struct align_node *node)
{
	node_sees_cache(node);
	if (READ_ONCE(node->unflushed) && !disk_openers(node->disk)) {
		WRITE_ONCE(node->unflushed, false);
		/*
		 * An opener that came since the look at the openers may have
		 * seen it set, and have set nothing: it is seen here.
		 */
		smp_mb();
		if (disk_openers(node->disk))
			WRITE_ONCE(node->unflushed, true);
	}
	return !READ_ONCE(node->unflushed);
}
