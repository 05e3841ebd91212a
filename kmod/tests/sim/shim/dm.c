// SPDX-License-Identifier: GPL-2.0
/*
 * device-mapper: devices, their tables, and bios on their way through them, in the
 * order of calls of drivers/md/dm.c and dm-ioctl.c.
 */
#include <linux/percpu.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/suspend.h>

#include "node.h"
#include "../shim.h"
#include "../turns.h"

#define MOST_DISKS	16

/**
 * struct mapped_device - a device
 * @blocked: bios wait in @deferred for the end of a suspend
 * @readers: submitters that may not have seen @blocked
 * @in_flight: bios that have not ended
 * @work: submits @deferred
 */
struct mapped_device {
	char name[16];
	struct gendisk disk;
	struct block_device part;
	struct request_queue queue;
	struct dm_table *live, *inactive;
	bool suspended;
	bool blocked;
	unsigned int readers;
	unsigned int in_flight;
	struct bio_list deferred;
	wait_queue_head_t wait;
	struct workqueue_struct *wq;
	struct work_struct work;
};

/**
 * struct dm_io - a bio on its way
 * @count: clones that have not ended, one of them the submitter's own
 */
struct dm_io {
	struct mapped_device *md;
	struct bio *bio;
	unsigned int count;
	blk_status_t status;
};

/**
 * struct dm_target_io - a clone; the target's own data are in front of it
 * @taken: where the submitter keeps how much the target accepts, while it maps
 * @ended: where the submitter of a NOWAIT bio keeps whether that has ended, while the
 *	target maps it
 * @accounted: the accounting of the device has begun
 */
struct dm_target_io {
	struct dm_io *io;
	struct dm_target *ti;
	void *memory;
	unsigned int *taken;
	bool *ended;
	bool accounted;
	struct bio clone;
};

static const struct target_type *align_type;
unsigned int shim_nr_partial, shim_nr_events;
static struct notifier_block *reboot_notifier, *pm_notifier;
static struct shrinker *the_shrinker;
static struct {
	const char *name;
	struct gendisk *disk;
} disks[MOST_DISKS];
static unsigned int nr_disks;

int dm_register_target(struct target_type *type)
{
	align_type = type;
	return 0;
}

void dm_unregister_target(struct target_type *type)
{
	align_type = NULL;
}

int register_reboot_notifier(struct notifier_block *notifier)
{
	reboot_notifier = notifier;
	return 0;
}

int unregister_reboot_notifier(struct notifier_block *notifier)
{
	reboot_notifier = NULL;
	return 0;
}

int register_pm_notifier(struct notifier_block *notifier)
{
	pm_notifier = notifier;
	return 0;
}

int unregister_pm_notifier(struct notifier_block *notifier)
{
	pm_notifier = NULL;
	return 0;
}

static wait_queue_head_t shrunk = __WAIT_QUEUE_HEAD_INITIALIZER(shrunk);

struct shrinker *shrinker_alloc(unsigned int flags, const char *format, ...)
{
	return kzalloc(sizeof(struct shrinker), GFP_KERNEL);
}

void shrinker_register(struct shrinker *shrinker)
{
	shrinker->registered = true;
	the_shrinker = shrinker;
}

/* Wait for running scans, after which none begins. */
void shrinker_free(struct shrinker *shrinker)
{
	might_sleep();
	machine_point();
	if (shrinker == the_shrinker)
		the_shrinker = NULL;
	wait_event(shrunk, !shrinker->running);
	kfree(shrinker);
}

unsigned long shim_shrink(unsigned long nr, unsigned long *counted)
{
	struct shrink_control sc = {
		.gfp_mask = GFP_NOIO, .nr_to_scan = nr, .nr_scanned = nr };
	struct shrinker *shrinker = the_shrinker;
	unsigned long freed = 0;

	*counted = 0;
	if (!shrinker)
		return 0;
	shrinker->running++;
	*counted = shrinker->count_objects(shrinker, &sc);
	if (*counted == SHRINK_EMPTY)
		*counted = 0;
	if (*counted)
		freed = shrinker->scan_objects(shrinker, &sc);
	if (freed == SHRINK_STOP)
		freed = 0;
	if (freed > nr)
		machine_fail("a shrinker frees %lu of %lu", freed, nr);
	shrinker->running--;
	wake_up(&shrunk);
	return freed;
}

bool shim_is_registered(void)
{
	return align_type || reboot_notifier || pm_notifier || the_shrinker;
}

void shim_reboot(void)
{
	reboot_notifier->notifier_call(reboot_notifier, 1, NULL);
}

void shim_sleep_event(unsigned long event)
{
	pm_notifier->notifier_call(pm_notifier, event, NULL);
}

void shim_disk_add(const char *name, struct gendisk *disk)
{
	if (nr_disks == MOST_DISKS)
		machine_fail("more than %d disks", MOST_DISKS);
	disks[nr_disks].name = name;
	disks[nr_disks++].disk = disk;
}

void shim_disk_remove(struct gendisk *disk)
{
	unsigned int i;

	for (i = 0; disks[i].disk != disk; i++)
		;
	disks[i] = disks[--nr_disks];
}

int dm_get_device(struct dm_target *ti, const char *path, fmode_t mode,
		  struct dm_dev **dev)
{
	unsigned int i;

	for (i = 0; i < nr_disks && strcmp(disks[i].name, path); i++)
		;
	if (i == nr_disks)
		return -ENODEV;
	*dev = kzalloc(sizeof(**dev), GFP_KERNEL);
	if (!*dev)
		return -ENOMEM;
	(*dev)->bdev = disks[i].disk->part0;
	memcpy((*dev)->name, path, strlen(path) + 1);
	disks[i].disk->openers++;
	return 0;
}

void dm_put_device(struct dm_target *ti, struct dm_dev *dev)
{
	dev->bdev->bd_disk->openers--;
	kfree(dev);
}

const char *dm_shift_arg(struct dm_arg_set *set)
{
	if (!set->argc)
		return NULL;
	set->argc--;
	return *set->argv++;
}

int dm_read_arg_group(const struct dm_arg *arg, struct dm_arg_set *set,
		      unsigned int *nr, char **error)
{
	if (kstrtouint(dm_shift_arg(set), 10, nr) || *nr > arg->max ||
	    *nr > set->argc) {
		*error = arg->error;
		return -EINVAL;
	}
	return 0;
}

struct mapped_device *dm_table_get_md(struct dm_table *table)
{
	return table->md;
}

fmode_t dm_table_get_mode(struct dm_table *table)
{
	return 3;
}

sector_t dm_table_get_size(struct dm_table *table)
{
	return table->sectors;
}

struct gendisk *dm_disk(struct mapped_device *md)
{
	return &md->disk;
}

const char *dm_device_name(struct mapped_device *md)
{
	return md->name;
}

void dm_table_event(struct dm_table *table)
{
	shim_nr_events++;
	machine_say("event %llu", table->md->disk.dev, 0, 0, 0);
}

/* dm-linear, as far as one is needed beside the module's targets. */
struct linear {
	struct dm_dev *dev;
	unsigned int start;
};

static int linear_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct linear *linear = kzalloc(sizeof(*linear), GFP_NOIO);

	ti->private = linear;
	if (argc != 2 || kstrtouint(argv[1], 10, &linear->start) ||
	    dm_get_device(ti, argv[0], 3, &linear->dev))
		machine_fail("a linear target is not made");
	return 0;
}

static void linear_dtr(struct dm_target *ti)
{
	struct linear *linear = ti->private;

	dm_put_device(ti, linear->dev);
	kfree(linear);
}

static int linear_map(struct dm_target *ti, struct bio *bio)
{
	const struct linear *linear = ti->private;

	bio_set_dev(bio, linear->dev->bdev);
	bio->bi_iter.bi_sector = linear->start +
				 dm_target_offset(ti, bio->bi_iter.bi_sector);
	return DM_MAPIO_REMAPPED;
}

static int linear_iterate_devices(struct dm_target *ti,
				  iterate_devices_callout_fn fn, void *data)
{
	const struct linear *linear = ti->private;

	return fn(ti, linear->dev, linear->start, ti->len, data);
}

static const struct target_type linear_type = {
	.name = "linear", .ctr = linear_ctr, .dtr = linear_dtr,
	.map = linear_map, .iterate_devices = linear_iterate_devices,
};

static struct dm_target_io *tio_of(struct bio *bio)
{
	return container_of(bio, struct dm_target_io, clone);
}

void *dm_per_bio_data(struct bio *bio, size_t bytes)
{
	return tio_of(bio)->memory;
}

void dm_accept_partial_bio(struct bio *bio, unsigned int sectors)
{
	struct dm_target_io *tio = tio_of(bio);

	if (!sectors || sectors > bio_sectors(bio))
		machine_fail("a target accepts %u sectors of %u", sectors,
			     bio_sectors(bio));
	*tio->taken = sectors;
	shim_nr_partial++;
	bio->bi_iter.bi_size = sectors << SECTOR_SHIFT;
}

void dm_submit_bio_remap(struct bio *clone, struct bio *bio)
{
	struct dm_target_io *tio = tio_of(clone);
	struct bio *sent = bio ? bio : clone;

	tio->accounted = true;
	/* As 6.12.117 and other kernels: charge the cgroup of the device's bio. */
	bio_clone_blkg_association(sent, tio->io->bio);
	submit_bio_noacct(sent);
}

/* Wake the thread that suspends the device; a search wakes no thread in vain. */
static void wake_suspend(struct mapped_device *md)
{
	if (!machine_is_search() || !(md->in_flight || md->readers))
		wake_up(&md->wait);
}

static void io_put(struct dm_io *io)
{
	struct mapped_device *md = io->md;
	struct bio *bio = io->bio;
	blk_status_t status;

	machine_point();
	if (--io->count)
		return;
	status = io->status;
	kfree(io);
	/* As the kernel does: behind the end of its last bio a device may be freed. */
	md->in_flight--;
	wake_suspend(md);
	if (bio->bi_opf & REQ_PREFLUSH && bio->bi_iter.bi_size && !status) {
		/* The flush is done: now the data. */
		bio->bi_opf &= ~REQ_PREFLUSH;
		bio_list_add(&md->deferred, bio);
		queue_work(md->wq, &md->work);
	} else {
		bio->bi_status = status;
		bio_endio(bio);
	}
}

static void clone_end(struct bio *bio)
{
	struct dm_target_io *tio = tio_of(bio);
	struct dm_io *io = tio->io;
	blk_status_t error = bio->bi_status;

	if (tio->ti->type->end_io)
		tio->ti->type->end_io(tio->ti, bio, &error);
	if (tio->ended)
		*tio->ended = true;
	if (bio->bi_opf & REQ_PREFLUSH && !error && !tio->accounted &&
	    tio->ti->len == tio->ti->table->sectors)
		machine_fail("a flush of a device of one target is accounted at its end only");
	if (error)
		io->status = error;
	if (!(bio->bi_opf & REQ_PREFLUSH))
		world_target_ended(io->bio);
	kfree(tio->memory);
	io_put(io);
}

bool shim_is_clone(const struct bio *bio)
{
	return bio->bi_end_io == clone_end || bio->cloned;
}

/* Send @sectors of a bio from @from on. Return: the sectors that the target took. */
static unsigned int map(struct dm_io *io, struct dm_target *ti,
			unsigned int from, unsigned int sectors, blk_opf_t opf)
{
	size_t data = round_up(ti->per_io_data_size, 64);
	struct dm_target_io *tio;
	struct bio *bio = io->bio;
	void *memory = kmalloc(data + sizeof(*tio), GFP_NOIO);
	unsigned int taken = sectors;
	bool ended = false;
	struct turns turns;
	int where;

	tio = (struct dm_target_io *)((char *)memory + data);
	tio->memory = memory;
	tio->io = io;
	tio->ti = ti;
	tio->taken = &taken;
	tio->ended = opf & REQ_NOWAIT ? &ended : NULL;
	tio->accounted = false;
	bio_init(&tio->clone, bio->bi_bdev, bio->bi_io_vec, 0, opf);
	tio->clone.bi_iter = bio->bi_iter;
	bio_advance_iter(bio, &tio->clone.bi_iter, from << SECTOR_SHIFT);
	tio->clone.bi_iter.bi_size = sectors << SECTOR_SHIFT;
	tio->clone.bi_ioprio = bio->bi_ioprio;
	tio->clone.bi_write_hint = bio->bi_write_hint;
	tio->clone.bi_write_stream = bio->bi_write_stream;
	/* The clone is charged to its sender until it is sent on. */
	if (!(current->flags & PF_KTHREAD))
		bio_clone_blkg_association(&tio->clone, bio);
	tio->clone.bi_end_io = clone_end;
	io->count++;
	machine_say("map op %llu at %llu + %llu, flags %#llx", opf & REQ_OP_MASK,
		    tio->clone.bi_iter.bi_sector, sectors, opf >> 8);
	turns_look(ti, &tio->clone, &turns);
	/* May be gone as soon as the target has it. */
	where = ti->type->map(ti, &tio->clone);
	turns_check(ti, &tio->clone, &turns);
	switch (where) {
	case DM_MAPIO_REMAPPED:
		tio->ended = NULL;
		dm_submit_bio_remap(&tio->clone, NULL);
		return taken;
	case DM_MAPIO_SUBMITTED:
		if (opf & REQ_NOWAIT && !ended)
			machine_fail("a request that must not wait, op %u at %llu, does",
				     opf & REQ_OP_MASK, bio->bi_iter.bi_sector);
		return taken;
	}
	machine_fail("map returns what it must not");
}

/* The target of a sector of the device. */
static struct dm_target *find_target(struct dm_table *table, sector_t sector)
{
	unsigned int i = 0;

	while (sector >= table->target[i]->begin + table->target[i]->len)
		i++;
	return table->target[i];
}

/* Send a flush to each target. */
static void map_flush(struct dm_io *io, struct dm_table *table)
{
	unsigned int i;

	for (i = 0; i < SHIM_MOST_TARGETS && table->target[i]; i++)
		map(io, table->target[i], 0, 0,
		    REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC);
}

static void process(struct mapped_device *md, struct bio *bio)
{
	sector_t sector = bio->bi_iter.bi_sector;
	struct dm_io *io = kmalloc(sizeof(*io), GFP_NOIO);
	unsigned int left = bio_sectors(bio), from = 0;

	io->md = md;
	io->bio = bio;
	io->count = 1;
	io->status = BLK_STS_OK;
	if (bio->bi_opf & REQ_PREFLUSH) {
		map_flush(io, md->live);
	} else {
		while (left) {
			struct dm_target *ti = find_target(md->live,
							   sector + from);
			unsigned int taken = ti->begin + ti->len - sector - from;

			taken = map(io, ti, from, min(taken, left),
				    bio->bi_opf);
			from += taken;
			left -= taken;
		}
	}
	io_put(io);
}

static void dm_submit(struct bio *bio)
{
	struct mapped_device *md = bio->bi_bdev->bd_disk->private;

	machine_point();
	machine_say("submit to device %llu", md->disk.dev, 0, 0, 0);
	md->readers++;
	if (md->blocked) {
		md->readers--;
		if (bio->bi_opf & REQ_NOWAIT)
			bio_wouldblock_error(bio);
		else
			bio_list_add(&md->deferred, bio);
		return;
	}
	md->in_flight++;
	process(md, bio);
	md->readers--;
	wake_suspend(md);
}

static void deferred_work(struct work_struct *work)
{
	struct mapped_device *md = container_of(work, struct mapped_device, work);
	struct bio *bio;

	while (!md->blocked && (bio = bio_list_pop(&md->deferred)))
		submit_bio_noacct(bio);
}

struct mapped_device *shim_md_new(const char *name, unsigned int number)
{
	struct mapped_device *md = kzalloc(sizeof(*md), GFP_NOIO);

	memcpy(md->name, name, strlen(name) + 1);
	md->disk.part0 = &md->part;
	md->disk.queue = &md->queue;
	md->disk.submit = dm_submit;
	md->disk.private = md;
	md->disk.dev = number;
	md->disk.device.registered = true;
	md->part.bd_disk = &md->disk;
	md->suspended = true;
	md->blocked = true;
	md->wq = alloc_workqueue("kdmflush", WQ_MEM_RECLAIM, 0);
	if (!md->wq)
		machine_fail("no memory for a device of the test");
	shim_init_work(&md->work, deferred_work);
	shim_disk_add(md->name, &md->disk);
	return md;
}

static void table_destroy(struct dm_table *table)
{
	unsigned int i;

	if (!table)
		return;
	for (i = 0; i < SHIM_MOST_TARGETS && table->target[i]; i++) {
		table->target[i]->type->dtr(table->target[i]);
		kfree(table->target[i]);
	}
	kfree(table);
}

static int stack_limits(struct dm_target *ti, struct dm_dev *dev,
			sector_t start, sector_t len, void *data)
{
	struct mapped_device *md = ti->table->md;
	const struct gendisk *disk = dev->bdev->bd_disk;
	struct queue_limits *limits = data;
	int offset = bdev_alignment_offset(dev->bdev);

	*limits = disk->queue->limits;
	limits->alignment_offset =
		(offset - (unsigned int)(start << SECTOR_SHIFT)) &
		(limits->physical_block_size - 1);
	if (disk->depth >= md->disk.depth)
		md->disk.depth = disk->depth + 1;
	return disk->write_cache;
}

int shim_md_load(struct mapped_device *md, sector_t sectors, unsigned int argc,
		 char **argv, char **error)
{
	const struct shim_target target = {
		.sectors = sectors, .argc = argc, .argv = argv,
	};

	return shim_md_load_targets(md, &target, 1, error);
}

int shim_md_load_targets(struct mapped_device *md,
			 const struct shim_target *target, unsigned int nr,
			 char **error)
{
	struct dm_table *table = kzalloc(sizeof(*table), GFP_NOIO), *old;
	sector_t begin = 0;
	unsigned int i;

	table->md = md;
	for (i = 0; i < nr; i++)
		table->sectors += target[i].sectors;
	for (i = 0; i < nr; i++) {
		struct dm_target *ti = kzalloc(sizeof(*ti), GFP_NOIO);
		int ret;

		ti->table = table;
		ti->type = target[i].linear ? &linear_type : align_type;
		ti->begin = begin;
		ti->len = target[i].sectors;
		begin += ti->len;
		ret = ti->type->ctr(ti, target[i].argc, target[i].argv);
		if (ret > 0)
			machine_fail("a table is answered with %d", ret);
		if (ret) {
			*error = ti->error;
			kfree(ti);
			table_destroy(table);
			return ret;
		}
		table->target[i] = ti;
	}
	/* Another may be loaded meanwhile. */
	old = md->inactive;
	md->inactive = table;
	table_destroy(old);
	return 0;
}

/* Tighten @limits by those of another target in the table. */
static void combine(struct queue_limits *limits, const struct queue_limits *more)
{
	limits->max_sectors = min(limits->max_sectors, more->max_sectors);
	limits->max_write_zeroes_sectors = min(limits->max_write_zeroes_sectors,
					       more->max_write_zeroes_sectors);
	limits->max_segments = min(limits->max_segments, more->max_segments);
	limits->io_min = max(limits->io_min, more->io_min);
	limits->physical_block_size = max(limits->physical_block_size,
					  more->physical_block_size);
	limits->dma_alignment = max(limits->dma_alignment,
				    more->dma_alignment);
}

/* Make a table live: size, limits, write cache. */
static void bind(struct mapped_device *md)
{
	struct queue_limits limits, more;
	struct dm_target *ti;
	unsigned int i;
	bool cached = false;

	md->live = md->inactive;
	md->inactive = NULL;
	for (i = 0; i < SHIM_MOST_TARGETS && md->live->target[i]; i++) {
		ti = md->live->target[i];
		cached |= ti->type->iterate_devices(ti, stack_limits, &more);
		cached |= ti->flush_supported;
		if (ti->type->io_hints)
			ti->type->io_hints(ti, &more);
		if (i)
			combine(&limits, &more);
		else
			limits = more;
	}
	md->queue.limits = limits;
	md->disk.sectors = md->live->sectors;
	md->part.bd_nr_sectors = md->live->sectors;
	md->disk.write_cache = cached;
}

/* Call a function of each target of the live table that has it. */
#define each_target(md, function) \
	do { \
		unsigned int _i; \
		for (_i = 0; _i < SHIM_MOST_TARGETS; _i++) { \
			struct dm_target *_ti = (md)->live->target[_i]; \
			if (_ti && _ti->type->function) \
				_ti->type->function(_ti); \
		} \
	} while (0)

static void submit_deferred(struct mapped_device *md)
{
	md->blocked = false;
	queue_work(md->wq, &md->work);
}

int shim_md_suspend(struct mapped_device *md)
{
	if (md->suspended)
		return 0;
	each_target(md, presuspend);
	md->blocked = true;
	machine_point();
	while (md->in_flight || md->readers) {
		if (current->killed) {
			submit_deferred(md);
			each_target(md, presuspend_undo);
			return -ERESTARTSYS;
		}
		shim_wait_prepare(&md->wait);
		if (md->in_flight || md->readers)
			shim_wait_sleep(&md->wait, machine_is_search() ? ~0ULL :
					machine_now() + 10000000);
		shim_wait_finish(&md->wait);
	}
	md->suspended = true;
	each_target(md, postsuspend);
	return 0;
}

static int preresume(struct dm_table *table)
{
	unsigned int i;
	int ret;

	for (i = 0; i < SHIM_MOST_TARGETS && table->target[i]; i++) {
		struct dm_target *ti = table->target[i];

		ret = ti->type->preresume ? ti->type->preresume(ti) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

int shim_md_resume(struct mapped_device *md)
{
	struct dm_table *old = NULL;
	int ret;

	if (md->inactive) {
		ret = shim_md_suspend(md);
		if (ret)
			return ret;
		old = md->live;
		bind(md);
	}
	if (md->suspended) {
		ret = preresume(md->live);
		if (ret)
			return ret;
		each_target(md, resume);
		md->suspended = false;
		submit_deferred(md);
	}
	table_destroy(old);
	return 0;
}

void shim_md_remove(struct mapped_device *md)
{
	if (md->live && !md->suspended) {
		each_target(md, presuspend);
		md->suspended = true;
		each_target(md, postsuspend);
	}
	/* Without openers the kernel waits for no bio here. */
	if (md->in_flight)
		machine_fail("a device is removed with a bio in flight");
	table_destroy(md->live);
	table_destroy(md->inactive);
	destroy_workqueue(md->wq);
	shim_disk_remove(&md->disk);
	kfree(md);
}

int shim_md_message(struct mapped_device *md, sector_t sector, unsigned int argc,
		    char **argv)
{
	struct dm_target *ti = find_target(md->live, sector);
	char result[16];

	return ti->type->message(ti, argc, argv, result, sizeof(result));
}

struct dm_target *shim_md_target(struct mapped_device *md)
{
	return md->live->target[0];
}

struct dm_target *shim_md_target_of(struct mapped_device *md, sector_t sector)
{
	return find_target(md->live, sector);
}
