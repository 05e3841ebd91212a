/* SPDX-License-Identifier: GPL-2.0 */
/* Block devices, their limits, submission and plugs; submit.c. */
#ifndef SHIM_BLKDEV_H
#define SHIM_BLKDEV_H

#include <linux/bio.h>
#include <linux/bitops.h>
#include <linux/list.h>

#define BLK_FLAG_MISALIGNED	2

struct queue_limits {
	unsigned int max_sectors;
	unsigned int discard_granularity;
	unsigned int discard_alignment;
	unsigned int max_write_zeroes_sectors;
	unsigned int max_hw_wzeroes_unmap_sectors;
	unsigned int chunk_sectors;
	unsigned int physical_block_size;
	unsigned int logical_block_size;
	unsigned int io_min;
	unsigned int io_opt;
	unsigned int alignment_offset;
	unsigned int dma_alignment;
	unsigned int max_segment_size;
	unsigned short max_segments;
	unsigned long seg_boundary_mask;
	unsigned long virt_boundary_mask;
	unsigned int flags;
};

struct throtl_data;

/* @td: a cgroup has a limit of the disk */
struct request_queue {
	struct queue_limits limits;
	struct throtl_data *td;
	bool mq;
	bool flash;
	bool zoned;
};

/* Objects are told apart by their address. */
struct kobject {
};

struct device {
	struct device *parent;
	bool registered;
	struct kobject kobj;
};

/**
 * struct gendisk - a disk
 * @part0: the whole of it
 * @queue: its queue
 * @device: its entry in the tree of devices
 * @write_cache: the disk has a volatile write cache
 * @openers: number of openers
 * @sectors: its size
 * @depth: how many disks lie below each other, for submit_bio_noacct()
 * @submit: takes a bio; may sleep
 * @private: the driver's
 * @dev: its number
 */
struct gendisk {
	struct block_device *part0;
	struct request_queue *queue;
	struct device device;
	bool write_cache;
	unsigned int openers;
	sector_t sectors;
	unsigned int depth;
	void (*submit)(struct bio *bio);
	void *private;
	dev_t dev;
};

struct block_device {
	struct gendisk *bd_disk;
	sector_t bd_start_sect;
	sector_t bd_nr_sectors;
};

#define bd_dev		bd_disk->dev
#define MAJOR(dev)	((unsigned int)((dev) >> 20))
#define MINOR(dev)	((unsigned int)((dev) & 0xfffff))

static inline struct request_queue *bdev_get_queue(struct block_device *bdev)
{
	return bdev->bd_disk->queue;
}

static inline bool queue_is_mq(struct request_queue *queue)
{
	return queue->mq;
}

static inline sector_t get_start_sect(struct block_device *bdev)
{
	return bdev->bd_start_sect;
}

static inline sector_t bdev_nr_sectors(struct block_device *bdev)
{
	return bdev->bd_nr_sectors;
}

static inline sector_t get_capacity(struct gendisk *disk)
{
	return disk->sectors;
}

static inline unsigned int bdev_physical_block_size(struct block_device *bdev)
{
	return bdev_get_queue(bdev)->limits.physical_block_size;
}

static inline unsigned int bdev_logical_block_size(struct block_device *bdev)
{
	return bdev_get_queue(bdev)->limits.logical_block_size;
}

static inline unsigned int bdev_io_min(struct block_device *bdev)
{
	return bdev_get_queue(bdev)->limits.io_min;
}

static inline int bdev_alignment_offset(struct block_device *bdev)
{
	const struct queue_limits *limits = &bdev_get_queue(bdev)->limits;

	if (limits->flags & BLK_FLAG_MISALIGNED)
		return -1;
	return (limits->alignment_offset -
		(unsigned int)(bdev->bd_start_sect << SECTOR_SHIFT)) &
	       (limits->physical_block_size - 1);
}

static inline bool bdev_write_cache(struct block_device *bdev)
{
	machine_point();
	return bdev->bd_disk->write_cache;
}

static inline unsigned int disk_openers(struct gendisk *disk)
{
	machine_point();
	return disk->openers;
}

static inline dev_t disk_devt(struct gendisk *disk)
{
	return disk->dev;
}

#define bdev_is_zoned(bdev)	(bdev_get_queue(bdev)->zoned)
#define bdev_rot(bdev)		(!bdev_get_queue(bdev)->flash)
#define disk_to_dev(disk)	(&(disk)->device)
#define device_is_registered(d)	((d)->registered)

void submit_bio_noacct(struct bio *bio);
void submit_bio(struct bio *bio);

struct blk_plug_cb;
typedef void (*blk_plug_cb_fn)(struct blk_plug_cb *cb, bool from_schedule);

struct blk_plug_cb {
	struct list_head list;
	blk_plug_cb_fn callback;
	void *data;
};

/**
 * struct blk_plug - requests that a task is about to send
 * @callbacks: called at the end
 * @requests: bios for drives
 */
struct blk_plug {
	struct list_head callbacks;
	struct bio_list requests;
};

struct blk_plug_cb *blk_check_plugged(blk_plug_cb_fn callback, void *data,
				      int size);
void blk_start_plug(struct blk_plug *plug);
void blk_finish_plug(struct blk_plug *plug);
void shim_flush_plug(bool from_schedule);

#endif
