// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/block/dm-N/align/, a group on the disk's own kobject. The files are
 * described in Documentation/ABI/testing/sysfs-block-dm-align.
 *
 * Files are removed before the node is freed, and removing waits for readers, so a
 * reader may use the node. A reader takes node->lock, the ledger's, or node->leave_lock
 * and inside that the lock of one shard after the other; none of them is held
 * while files are removed, or a request is waited for.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "hold.h"
#include "node.h"

static const char group_name[] = "align";

/**
 * struct align_file - one file
 * @attr: attribute of the file
 * @node: node that the file belongs to
 * @which: counter, histogram or row of target_files that the file shows
 * @target: index of the target, for files of a target
 */
struct align_file {
	struct device_attribute attr;
	struct align_node *node;
	unsigned int which;
	unsigned int target;
};

/**
 * struct align_files - files that come and go together
 * @nr: number of entries of @file that are in use
 * @file: the files
 */
struct align_files {
	unsigned int nr;
	struct align_file file[];
};

typedef ssize_t (*file_show)(struct device *dev, struct device_attribute *attr,
			     char *buf);

static const struct align_file *to_file(struct device_attribute *attr)
{
	return container_of(attr, struct align_file, attr);
}

static ssize_t counter_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	const struct align_file *file = to_file(attr);

	return sysfs_emit(buf, "%llu\n",
			  ledger_read(&file->node->ledger, file->which));
}

static ssize_t counter_baseline_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	const struct align_file *file = to_file(attr);

	return sysfs_emit(buf, "%llu\n",
			  ledger_read_baseline(&file->node->ledger,
					       file->which));
}

static ssize_t histogram_show(struct device *dev,
			      struct device_attribute *attr, char *buf)
{
	const struct align_file *file = to_file(attr);

	return ledger_print_histogram(&file->node->ledger, file->which, false,
				      buf, PAGE_SIZE);
}

static ssize_t histogram_baseline_show(struct device *dev,
				       struct device_attribute *attr, char *buf)
{
	const struct align_file *file = to_file(attr);

	return ledger_print_histogram(&file->node->ledger, file->which, true,
				      buf, PAGE_SIZE);
}

static ssize_t epoch_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct align_node *node = to_file(attr)->node;
	u64 epoch;

	spin_lock(&node->lock);
	epoch = node->epoch;
	spin_unlock(&node->lock);
	return sysfs_emit(buf, "%llu\n", epoch);
}

/* The live target at one place, or NULL. node->lock held. */
static struct align_target *live_target(struct align_node *node,
					unsigned int index)
{
	struct align_target *at;

	lockdep_assert_held(&node->lock);
	list_for_each_entry(at, &node->targets, node_list)
		if (at->ti->table == node->live && at->index == index)
			return at;
	return NULL;
}

static ssize_t suggested_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	struct align_node *node = to_file(attr)->node;
	unsigned int suggested = 0;
	struct align_target *at;

	spin_lock(&node->lock);
	list_for_each_entry(at, &node->targets, node_list)
		if (at->ti->table == node->live)
			suggested = max(suggested, at->suggested);
	spin_unlock(&node->lock);
	return sysfs_emit(buf, "%u\n", suggested);
}

static ssize_t print_physical_block_size(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%u\n", at->geometry.physical);
}

static ssize_t print_alignment_offset(struct align_target *at, char *buf)
{
	if (at->offset_unknown)
		return sysfs_emit(buf, "unknown\n");
	return sysfs_emit(buf, "%u\n", at->geometry.offset);
}

static ssize_t print_mode(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%s\n", align_mode_name(READ_ONCE(at->mode)));
}

static ssize_t print_device(struct align_target *at, char *buf)
{
	dev_t devt = at->dev->bdev->bd_dev;

	return sysfs_emit(buf, "%u:%u\n", MAJOR(devt), MINOR(devt));
}

#ifdef CONFIG_DM_ALIGN_PAD
static ssize_t print_max_blocks(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(at->engine.blocks.max));
}

static ssize_t print_blocks(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%u\n", atomic_read(&at->engine.blocks.nr));
}

static ssize_t print_memory_bytes(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  (u64)atomic64_read(&at->engine.blocks.bytes));
}

static ssize_t print_memory_high_water_bytes(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  (u64)atomic64_read(&at->engine.blocks.bytes_high));
}
#endif

#ifdef CONFIG_DM_ALIGN_COALESCE
/*
 * The age of the oldest block that the gauge held_blocks counts: of targets of all
 * tables, as a replaced table may still hold blocks that could not be written.
 */
static ssize_t held_oldest_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct align_node *node = to_file(attr)->node;
	struct align_target *at;
	u64 oldest = U64_MAX;

	mutex_lock(&node->leave_lock);
	list_for_each_entry(at, &node->targets, node_list)
		oldest = min(oldest, hold_oldest_ns(at));
	mutex_unlock(&node->leave_lock);
	if (oldest == U64_MAX)
		return sysfs_emit(buf, "0\n");
	/* Rounded up: 0 says that nothing is held. */
	return sysfs_emit(buf, "%llu\n",
			  div_u64(ktime_get_ns() - oldest, NSEC_PER_MSEC) + 1);
}

static ssize_t print_hold_ms(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(at->engine.held.hold_ms));
}

static ssize_t print_holding(struct align_target *at, char *buf)
{
	return sysfs_emit(buf, "%u\n", node_is_flushed(at->node) &&
			  READ_ONCE(at->engine.held.holding));
}
#endif

/* Files of each target, "target<N>_" before the name; node->lock held. */
static const struct {
	const char *name;
	ssize_t (*print)(struct align_target *at, char *buf);
} target_files[] = {
	{ "physical_block_size", print_physical_block_size },
	{ "alignment_offset", print_alignment_offset },
	{ "mode", print_mode },
	{ "device", print_device },
#ifdef CONFIG_DM_ALIGN_PAD
	{ "max_blocks", print_max_blocks },
	{ "blocks", print_blocks },
	{ "memory_bytes", print_memory_bytes },
	{ "memory_high_water_bytes", print_memory_high_water_bytes },
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	{ "hold_ms", print_hold_ms },
	{ "holding", print_holding },
#endif
};

static ssize_t target_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	const struct align_file *file = to_file(attr);
	struct align_target *at;
	ssize_t ret = -ENODEV;

	spin_lock(&file->node->lock);
	at = live_target(file->node, file->target);
	if (at)
		ret = target_files[file->which].print(at, buf);
	spin_unlock(&file->node->lock);
	return ret;
}

/* The names of the files of counters' baselines, by enum ledger_counter. */
static const char * const baseline_names[LEDGER_NR] = {
#define LEDGER_COUNTER(name, ...) "baseline_" #name,
#include "ledger_table.h"
#undef LEDGER_COUNTER
};

static const struct {
	const char *name;
	const char *baseline;
} histogram_names[LEDGER_HISTOGRAMS] = {
#define HISTOGRAM(name)	{ #name "_histogram", "baseline_" #name "_histogram" }
	[LEDGER_PHASE] = HISTOGRAM(phase),
	[LEDGER_SIZE] = HISTOGRAM(size),
	[LEDGER_LATENCY_ALIGNED] = HISTOGRAM(latency_aligned),
	[LEDGER_LATENCY_MISALIGNED] = HISTOGRAM(latency_misaligned),
	[LEDGER_HOLD_TIME] = HISTOGRAM(hold_time),
#undef HISTOGRAM
};

static struct align_files *files_new(unsigned int nr)
{
	struct align_files *files;

	files = kzalloc(struct_size(files, file, nr), GFP_KERNEL);
	return files;
}

/* Add a file. @name stays where it is as long as the files. */
static struct align_file *files_add(struct align_files *files,
				    struct align_node *node, file_show show,
				    unsigned int which, const char *name)
{
	struct align_file *file = &files->file[files->nr++];

	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = name;
	file->attr.attr.mode = 0444;
	file->attr.show = show;
	file->node = node;
	file->which = which;
	return file;
}

/* Free the files of a target, whose names are their own. */
static void target_files_free(struct align_files *files)
{
	if (!files)
		return;
	while (files->nr)
		kfree(files->file[--files->nr].attr.attr.name);
	kfree(files);
}

static struct kobject *node_kobj(struct align_node *node)
{
	return &disk_to_dev(node->disk)->kobj;
}

/* All files of the device itself. */
static struct align_files *device_files(struct align_node *node)
{
	struct align_files *files =
		files_new(2 * LEDGER_NR + 2 * LEDGER_HISTOGRAMS + 3);
	unsigned int i;

	if (!files)
		return NULL;
	files_add(files, node, epoch_show, 0, "epoch");
	files_add(files, node, suggested_show, 0,
		  "suggested_physical_block_size");
#ifdef CONFIG_DM_ALIGN_COALESCE
	files_add(files, node, held_oldest_show, 0, "held_oldest_ms");
#endif
	for (i = 0; i < LEDGER_NR; i++) {
		files_add(files, node, counter_show, i, ledger_name(i));
		if (!ledger_is_gauge(i))
			files_add(files, node, counter_baseline_show, i,
				  baseline_names[i]);
	}
	for (i = 0; i < LEDGER_HISTOGRAMS; i++) {
		files_add(files, node, histogram_show, i,
			  histogram_names[i].name);
		files_add(files, node, histogram_baseline_show, i,
			  histogram_names[i].baseline);
	}
	return files;
}

static int publish_device(struct align_node *node)
{
	struct align_files *files = device_files(node);
	struct attribute_group group = { .name = group_name };
	unsigned int i;
	int ret;

	if (!files)
		return -ENOMEM;
	group.attrs = kcalloc(files->nr + 1, sizeof(*group.attrs), GFP_KERNEL);
	if (!group.attrs) {
		kfree(files);
		return -ENOMEM;
	}
	for (i = 0; i < files->nr; i++)
		group.attrs[i] = &files->file[i].attr.attr;
	ret = sysfs_create_group(node_kobj(node), &group);
	kfree(group.attrs);
	if (ret)
		kfree(files);
	else
		node->files = files;
	return ret;
}

static int publish_target(struct align_node *node, unsigned int index)
{
	struct align_files *files = files_new(ARRAY_SIZE(target_files));
	unsigned int i;
	int ret = 0;

	if (!files)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(target_files) && !ret; i++) {
		const char *name = kasprintf(GFP_KERNEL, "target%u_%s", index,
					     target_files[i].name);
		struct align_file *file;

		if (!name) {
			ret = -ENOMEM;
			break;
		}
		file = files_add(files, node, target_show, i, name);
		file->target = index;
		ret = sysfs_add_file_to_group(node_kobj(node), &file->attr.attr,
					      group_name);
	}
	/* Files that could be made stay, and are removed with the group. */
	node->slots[index].files = files;
	return ret;
}

/**
 * sysfs_publish - make the files of a device and of one of its targets
 * @node: the device
 * @index: the target's index
 *
 * Files that exist already stay as they are.
 */
void sysfs_publish(struct align_node *node, unsigned int index)
{
	unsigned int noio;
	int ret = 0;

	mutex_lock(&node->publish_lock);
	/*
	 * Memory must not be had by writing to a device that is suspended: the
	 * task that resumes it may wait for the lock.
	 */
	noio = memalloc_noio_save();
	if (!node->files)
		ret = publish_device(node);
	if (!ret && index < ALIGN_NODE_SLOTS && !node->slots[index].files)
		ret = publish_target(node, index);
	memalloc_noio_restore(noio);
	mutex_unlock(&node->publish_lock);
	if (ret)
		DMWARN("%s: cannot create all sysfs files: error %d",
		       dm_device_name(node->md), ret);
}

/* Remove all files; returns when the last reader has gone. */
void sysfs_withdraw(struct align_node *node)
{
	struct attribute *none = NULL;
	const struct attribute_group group = {
		.name = group_name, .attrs = &none };
	unsigned int i;

	if (!node->files)
		return;
	sysfs_remove_group(node_kobj(node), &group);
	kfree(node->files);
	for (i = 0; i < ALIGN_NODE_SLOTS; i++)
		target_files_free(node->slots[i].files);
}
