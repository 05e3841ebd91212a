/* SPDX-License-Identifier: GPL-2.0 */
/* The disks of disks_test.c: in a kernel, and in the simulation. */
#ifndef DISKS_H
#define DISKS_H

#include <linux/blkdev.h>

#include "interfaces.h"

/**
 * struct disk - a disk of the suite's own
 * @gendisk: the kernel's
 * @taken: bios that have come
 * @take: called for each bio of a disk without requests, in place of its end
 * @owner: the case's
 * @shim: @gendisk, in the simulation
 * @part: the whole of @shim
 * @queue: the queue of @shim
 * @tags: the tags of a disk of requests, in a kernel
 */
struct disk {
	struct gendisk *gendisk;
	atomic_t taken;
	void (*take)(struct disk *disk, struct bio *bio);
	void *owner;
#ifdef CONFORM_KUNIT_TEST_H
	struct gendisk shim;
	struct block_device part;
	struct request_queue queue;
#else
	struct blk_mq_tag_set tags;
#endif
};

#define DISK_SECTORS	1024

static inline void disk_takes(struct disk *disk, struct bio *bio)
{
	atomic_inc(&disk->taken);
	if (disk->take)
		disk->take(disk, bio);
	else
		bio_endio(bio);
}

#ifdef CONFORM_KUNIT_TEST_H

static inline void disk_submit(struct bio *bio)
{
	disk_takes(bio->bi_bdev->bd_disk->private, bio);
}

/* Return 0, or an error. @depth: number of disks below it. */
static inline int disk_add(struct disk *disk, bool requests, bool cache,
			   unsigned int depth)
{
	disk->gendisk = &disk->shim;
	disk->shim.part0 = &disk->part;
	disk->shim.queue = &disk->queue;
	disk->shim.write_cache = cache;
	disk->shim.sectors = DISK_SECTORS;
	disk->shim.depth = depth;
	disk->shim.submit = disk_submit;
	disk->shim.private = disk;
	disk->part.bd_disk = &disk->shim;
	disk->part.bd_nr_sectors = DISK_SECTORS;
	disk->queue.mq = requests;
	return 0;
}

static inline void disk_remove(struct disk *disk)
{
}

#else

static inline void disk_submit(struct bio *bio)
{
	disk_takes(bio->bi_bdev->bd_disk->private_data, bio);
}

static inline blk_status_t disk_queue(struct blk_mq_hw_ctx *hctx,
				      const struct blk_mq_queue_data *data)
{
	struct disk *disk = hctx->queue->queuedata;
	struct bio *bio;

	blk_mq_start_request(data->rq);
	__rq_for_each_bio(bio, data->rq)
		atomic_inc(&disk->taken);
	blk_mq_end_request(data->rq, BLK_STS_OK);
	return BLK_STS_OK;
}

static const struct block_device_operations disk_of_bios = {
	.owner = THIS_MODULE,
	.submit_bio = disk_submit,
};

static const struct block_device_operations disk_of_requests = {
	.owner = THIS_MODULE,
};

static const struct blk_mq_ops disk_queues = { .queue_rq = disk_queue };

static inline struct gendisk *disk_alloc(struct disk *disk, bool requests,
					 struct queue_limits *limits)
{
	struct gendisk *gendisk;

	if (!requests)
		return blk_alloc_disk(limits, NUMA_NO_NODE);
	disk->tags.ops = &disk_queues;
	disk->tags.nr_hw_queues = 1;
	disk->tags.queue_depth = 16;
	disk->tags.numa_node = NUMA_NO_NODE;
	if (blk_mq_alloc_tag_set(&disk->tags))
		return ERR_PTR(-ENOMEM);
	gendisk = blk_mq_alloc_disk(&disk->tags, limits, disk);
	if (IS_ERR(gendisk))
		blk_mq_free_tag_set(&disk->tags);
	return gendisk;
}

static inline void disk_free(struct disk *disk)
{
	put_disk(disk->gendisk);
	if (disk->tags.ops)
		blk_mq_free_tag_set(&disk->tags);
}

/* Return 0, or an error. @depth is for the simulation. */
static inline int disk_add(struct disk *disk, bool requests, bool cache,
			   unsigned int depth)
{
	struct queue_limits limits = {
		.features = cache ? BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA : 0,
	};
	struct gendisk *gendisk = disk_alloc(disk, requests, &limits);
	int ret;

	if (IS_ERR(gendisk))
		return PTR_ERR(gendisk);
	disk->gendisk = gendisk;
	gendisk->fops = requests ? &disk_of_requests : &disk_of_bios;
	gendisk->private_data = disk;
	gendisk->flags |= GENHD_FL_NO_PART;
	snprintf(gendisk->disk_name, DISK_NAME_LEN, "suite%u", depth);
	set_capacity(gendisk, DISK_SECTORS);
	ret = add_disk(gendisk);
	if (ret)
		disk_free(disk);
	return ret;
}

static inline void disk_remove(struct disk *disk)
{
	del_gendisk(disk->gendisk);
	disk_free(disk);
}

#endif

#endif
