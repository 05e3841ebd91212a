/* SPDX-License-Identifier: GPL-2.0 */
/* The interface of device-mapper to a target; dm.c. */
#ifndef SHIM_DEVICE_MAPPER_H
#define SHIM_DEVICE_MAPPER_H

#include <linux/blkdev.h>
#include <linux/math64.h>
#include <linux/workqueue.h>

#define DM_NAME	"device-mapper"
#define DM_MAPIO_SUBMITTED	0
#define DM_MAPIO_REMAPPED	1
#define DM_ENDIO_DONE		0
#define DM_TARGET_NOWAIT	1
#define DM_TARGET_ZONED_HM	2
#define DM_TARGET_ATOMIC_WRITES	4

typedef enum {
	STATUSTYPE_INFO, STATUSTYPE_TABLE, STATUSTYPE_IMA
} status_type_t;

struct mapped_device;
struct dm_target;

struct dm_dev {
	struct block_device *bdev;
	char name[16];
};

typedef int (*iterate_devices_callout_fn)(struct dm_target *ti,
					  struct dm_dev *dev, sector_t start,
					  sector_t len, void *data);

struct target_type {
	u64 features;
	const char *name;
	void *module;
	unsigned int version[3];
	int (*ctr)(struct dm_target *ti, unsigned int argc, char **argv);
	void (*dtr)(struct dm_target *ti);
	int (*map)(struct dm_target *ti, struct bio *bio);
	int (*end_io)(struct dm_target *ti, struct bio *bio,
		      blk_status_t *error);
	void (*presuspend)(struct dm_target *ti);
	void (*presuspend_undo)(struct dm_target *ti);
	void (*postsuspend)(struct dm_target *ti);
	int (*preresume)(struct dm_target *ti);
	void (*resume)(struct dm_target *ti);
	void (*status)(struct dm_target *ti, status_type_t type,
		       unsigned int flags, char *result, unsigned int maxlen);
	int (*message)(struct dm_target *ti, unsigned int argc, char **argv,
		       char *result, unsigned int maxlen);
	int (*prepare_ioctl)(struct dm_target *ti, struct block_device **bdev,
			     unsigned int cmd, unsigned long arg, bool *forward);
	void *report_zones;
	int (*iterate_devices)(struct dm_target *ti,
			       iterate_devices_callout_fn fn, void *data);
	void (*io_hints)(struct dm_target *ti, struct queue_limits *limits);
};

struct dm_target {
	struct dm_table *table;
	const struct target_type *type;
	sector_t begin;
	sector_t len;
	unsigned int num_flush_bios;
	unsigned int num_discard_bios;
	unsigned int num_secure_erase_bios;
	unsigned int num_write_zeroes_bios;
	unsigned int per_io_data_size;
	void *private;
	char *error;
	bool flush_supported;
	bool accounts_remapped_io;
};

#define SHIM_MOST_TARGETS	2

/**
 * struct dm_table - a table
 * @md: its device
 * @target: its targets, in the order of their sectors; NULL behind the last one
 * @sectors: size of the device
 */
struct dm_table {
	struct mapped_device *md;
	struct dm_target *target[SHIM_MOST_TARGETS];
	sector_t sectors;
};

#define dm_target_offset(ti, sector)	((sector) - (ti)->begin)

struct dm_arg_set {
	unsigned int argc;
	char **argv;
};

struct dm_arg {
	unsigned int min;
	unsigned int max;
	char *error;
};

int dm_read_arg_group(const struct dm_arg *arg, struct dm_arg_set *set,
		      unsigned int *nr, char **error);
const char *dm_shift_arg(struct dm_arg_set *set);

int dm_get_device(struct dm_target *ti, const char *path, fmode_t mode,
		  struct dm_dev **dev);
void dm_put_device(struct dm_target *ti, struct dm_dev *dev);
struct mapped_device *dm_table_get_md(struct dm_table *table);
fmode_t dm_table_get_mode(struct dm_table *table);
sector_t dm_table_get_size(struct dm_table *table);
struct gendisk *dm_disk(struct mapped_device *md);
const char *dm_device_name(struct mapped_device *md);
void dm_table_event(struct dm_table *table);
int dm_register_target(struct target_type *type);
void dm_unregister_target(struct target_type *type);

void *dm_per_bio_data(struct bio *bio, size_t bytes);
void dm_accept_partial_bio(struct bio *bio, unsigned int sectors);
void dm_submit_bio_remap(struct bio *clone, struct bio *bio);

#define DMERR(...)		shim_log(__VA_ARGS__)
#define DMWARN(...)		shim_log(__VA_ARGS__)
#define DMERR_LIMIT(...)	shim_log(__VA_ARGS__)
#define DMWARN_LIMIT(...)	shim_log(__VA_ARGS__)
#define DMEMIT(...) \
	(sz += scnprintf(result + sz, maxlen > sz ? maxlen - sz : 0, \
			 __VA_ARGS__))
#define DMEMIT_TARGET_NAME_VERSION(type) DMEMIT("%s", (type)->name)

#endif
