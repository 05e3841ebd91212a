// SPDX-License-Identifier: GPL-2.0
/*
 * The part of alignctl top that runs in the kernel for --format prometheus, as
 * BPF programs: counts the writes that each disk has completed.
 *
 * A completed request is counted, and not a bio that arrives: the disk pays for
 * what it gets after splits and merges, and a counter never has to take back
 * what the kernel sends again. What the programs count by, userspace replaces as
 * a whole map, so that no program sees the half of a change.
 */
#include "observe/block.bpf.h"
#include "observe/cgroup.bpf.h"
#include "observe/geometry.bpf.h"
#include "top/disks_shared.h"

/* Filled in before the programs are loaded, as range is. */
const volatile struct disks_config config SEC(".rodata.config");

/* The map in it is of struct disks_rule, by the diskseq that the request's queue has. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} rules SEC(".maps");

/* By diskseq. Userspace adds and removes the disks. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct disks_count);
} disks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct disks_cgroup);
	__type(value, __u64);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct disks_events);
} events SEC(".maps");

/* Add to the touches of the cgroup that a request's first bio is for. */
static __always_inline void add_to_cgroup(struct request *rq, __u64 diskseq,
					  __u64 touches)
{
	struct disks_cgroup key = { .diskseq = diskseq };
	struct bio *bio = rq->bio;
	struct disks_events *event;
	struct blkcg_gq *group = NULL;
	__u64 *count, none = 0;
	__u32 first = 0;

	if (bio && bpf_core_field_exists(bio->bi_blkg))
		group = bio->bi_blkg;
	if (group)
		key.cgroup = cgroup_of_group(group);
	count = bpf_map_lookup_elem(&cgroups, &key);
	if (!count) {
		/* fails if another processor was first, too */
		bpf_map_update_elem(&cgroups, &key, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&cgroups, &key);
	}
	if (count) {
		add(*count, touches);
		return;
	}
	event = bpf_map_lookup_elem(&events, &first);
	if (event)
		add(event->no_room, 1);
}

/* Add how a write lies on the disk's physical blocks. */
static __always_inline void add_place(struct request *rq,
				      const struct disks_rule *rule,
				      struct disks_count *count, __u64 sectors)
{
	const struct align_geometry g = {
		.physical = rule->geometry.physical,
		.logical = rule->geometry.logical,
		.block_shift = rule->geometry.block_shift & 31,
		.lead = rule->geometry.lead,
	};
	struct align_split split;

	align_split_write(&g, rq->__sector, sectors, &split);
	add(count->block_bytes,
	    align_blocks_bytes(&g, split.first_block, split.last_block));
	if (align_sector_in_block(&g, rq->__sector))
		add(count->inside, 1);
	if (!split.nr_touches)
		return;
	add(count->misaligned, 1);
	add(count->touches, split.nr_touches);
	if (config.by_cgroup)
		add_to_cgroup(rq, rule->diskseq, split.nr_touches);
}

/* Count a request when its last part is completed. */
static __always_inline void complete(struct request *rq, __u32 bytes)
{
	__u64 sectors = rq->__data_len >> ALIGN_SECTOR_SHIFT;
	const struct disks_rule *rule;
	struct disks_count *count;
	__u32 first = 0;
	__u64 diskseq;
	void *map;

	if (!is_write(rq->cmd_flags) || bytes < rq->__data_len || !sectors)
		return;
	diskseq = rq->q->disk->diskseq;
	map = bpf_map_lookup_elem(&rules, &first);
	rule = map ? bpf_map_lookup_elem(map, &diskseq) : NULL;
	if (!rule)
		return;
	diskseq = rule->diskseq;
	count = bpf_map_lookup_elem(&disks, &diskseq);
	if (!count)
		return;
	add(count->writes, 1);
	add(count->bytes, sectors << ALIGN_SECTOR_SHIFT);
	if (rule->judged)
		add_place(rq, rule, count, sectors);
}

COMPLETION_PROGRAMS
