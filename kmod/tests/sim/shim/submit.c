// SPDX-License-Identifier: GPL-2.0
/*
 * Submission. A bio that is submitted while another one of the same task is on its
 * way down waits until that has returned: the lowest first. A bio for a drive waits
 * for the end of the task's plug.
 */
#include <linux/blkdev.h>
#include <linux/sched.h>

static void send(struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	struct blk_plug *plug = current->plug;

	if (plug && disk->queue->mq)
		bio_list_add(&plug->requests, bio);
	else
		disk->submit(bio);
}

/* Take the bios that lie lowest, in the order in which they came. */
static struct bio *take_lowest(struct bio_list *list)
{
	unsigned int least = ~0U;
	struct bio_list rest = BIO_EMPTY_LIST;
	struct bio *bio, *found = NULL;

	for (bio = list->head; bio; bio = bio->bi_next)
		if (bio->bi_bdev->bd_disk->depth < least)
			least = bio->bi_bdev->bd_disk->depth;
	while ((bio = bio_list_pop(list))) {
		if (!found && bio->bi_bdev->bd_disk->depth == least)
			found = bio;
		else
			bio_list_add(&rest, bio);
	}
	*list = rest;
	return found;
}

/* A disk without a volatile cache has nothing to flush. Return: all is done. */
static bool needs_no_flush(struct bio *bio)
{
	if (!(bio->bi_opf & (REQ_PREFLUSH | REQ_FUA)) ||
	    bio->bi_bdev->bd_disk->write_cache)
		return false;
	bio->bi_opf &= ~(REQ_PREFLUSH | REQ_FUA);
	bio->kept = true;
	return !bio_sectors(bio);
}

void submit_bio_noacct(struct bio *bio)
{
	struct bio_list list = BIO_EMPTY_LIST;

	if (current->context == CONTEXT_DEVICE)
		machine_fail("a device submits a bio");
	if (bio->bi_vcnt > bio->bi_max_vecs)
		machine_fail("a bio with room for %u bvecs has %u",
			     bio->bi_max_vecs, bio->bi_vcnt);
	machine_point();
	if (needs_no_flush(bio)) {
		bio_endio(bio);
		return;
	}
	if (current->bio_list) {
		bio_list_add(current->bio_list, bio);
		return;
	}
	might_sleep();
	current->bio_list = &list;
	do {
		send(bio);
		bio = take_lowest(&list);
	} while (bio);
	current->bio_list = NULL;
}

void submit_bio(struct bio *bio)
{
	submit_bio_noacct(bio);
}

void blk_start_plug(struct blk_plug *plug)
{
	if (current->plug)
		return;
	INIT_LIST_HEAD(&plug->callbacks);
	plug->requests = (struct bio_list)BIO_EMPTY_LIST;
	current->plug = plug;
}

void shim_flush_plug(bool from_schedule)
{
	struct blk_plug *plug = current->plug;
	struct bio_list *outer = current->bio_list;
	struct bio *bio;

	if (!plug)
		return;
	while (!list_empty(&plug->callbacks)) {
		LIST_HEAD(callbacks);

		list_splice_init(&plug->callbacks, &callbacks);
		while (!list_empty(&callbacks)) {
			struct blk_plug_cb *cb =
				list_first_entry(&callbacks, struct blk_plug_cb,
						 list);

			list_del(&cb->list);
			cb->callback(cb, from_schedule);
		}
	}
	/* Without a plug: the drive may have the task sleep for a tag. */
	current->plug = NULL;
	current->bio_list = NULL;
	current->unplugs = from_schedule;
	while ((bio = bio_list_pop(&plug->requests)))
		bio->bi_bdev->bd_disk->submit(bio);
	current->unplugs = false;
	current->bio_list = outer;
	current->plug = plug;
}

void blk_finish_plug(struct blk_plug *plug)
{
	if (current->plug != plug)
		return;
	shim_flush_plug(false);
	current->plug = NULL;
}

struct blk_plug_cb *blk_check_plugged(blk_plug_cb_fn callback, void *data,
				      int size)
{
	struct blk_plug *plug = current->plug;
	struct blk_plug_cb *cb;

	if (!plug)
		return NULL;
	list_for_each_entry(cb, &plug->callbacks, list)
		if (cb->callback == callback && cb->data == data)
			return cb;
	cb = kzalloc(size, GFP_ATOMIC);
	if (cb) {
		cb->callback = callback;
		cb->data = data;
		list_add(&cb->list, &plug->callbacks);
	}
	return cb;
}
