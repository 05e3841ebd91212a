/* SPDX-License-Identifier: GPL-2.0 */
/* Bios and block devices. */
#ifndef SHIM_BLK_TYPES_H
#define SHIM_BLK_TYPES_H

#include <linux/bvec.h>
#include <linux/types.h>

#define SECTOR_SHIFT	9
#define SECTOR_SIZE	512
#define BIO_MAX_VECS	256U
#define BIO_POOL_SIZE	2

typedef u8 blk_status_t;
#define BLK_STS_OK	0
#define BLK_STS_AGAIN	12
#define BLK_STS_NOTSUPP	1
#define BLK_STS_RESOURCE	9
#define BLK_STS_IOERR	10

typedef u32 blk_opf_t;
enum req_op {
	REQ_OP_READ = 0,
	REQ_OP_WRITE = 1,
	REQ_OP_FLUSH = 2,
	REQ_OP_DISCARD = 3,
	REQ_OP_SECURE_ERASE = 5,
	REQ_OP_WRITE_ZEROES = 9,
};

#define REQ_OP_MASK	0xffU
#define REQ_SYNC	(1U << 8)
#define REQ_META	(1U << 9)
#define REQ_PRIO	(1U << 10)
#define REQ_NOMERGE	(1U << 11)
#define REQ_IDLE	(1U << 12)
#define REQ_FUA		(1U << 13)
#define REQ_PREFLUSH	(1U << 14)
#define REQ_RAHEAD	(1U << 15)
#define REQ_BACKGROUND	(1U << 16)
#define REQ_NOWAIT	(1U << 17)
#define REQ_POLLED	(1U << 18)
#define REQ_ALLOC_CACHE	(1U << 19)
#define REQ_SWAP	(1U << 20)
#define REQ_ATOMIC	(1U << 21)

struct bio;
struct bio_set;
struct block_device;
struct gendisk;
struct request_queue;

typedef void (bio_end_io_t)(struct bio *bio);

/**
 * struct bio - a request, as the kernel's
 * @nobodys: charged to the root cgroup
 * @kept: the bio's flush was left out, as its disk had no volatile cache
 * @cloned: its memory is that of another bio
 * @cgroup: number of the cgroup that is charged; 0: none
 */
struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	blk_opf_t bi_opf;
	u8 bi_write_hint;
	u8 bi_write_stream;
	blk_status_t bi_status;
	unsigned short bi_ioprio;
	bool nobodys;
	bool kept;
	bool cloned;
	unsigned char cgroup;
	struct bvec_iter bi_iter;
	bio_end_io_t *bi_end_io;
	void *bi_private;
	unsigned short bi_vcnt;
	unsigned short bi_max_vecs;
	struct bio_vec *bi_io_vec;
	struct bio_set *bi_pool;
};

static inline enum req_op bio_op(const struct bio *bio)
{
	return bio->bi_opf & REQ_OP_MASK;
}

#endif
