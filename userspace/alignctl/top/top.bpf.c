// SPDX-License-Identifier: GPL-2.0
/*
 * The part of alignctl top that runs in the kernel, as BPF programs: counts, at
 * the tracepoints of the block layer, the writes of one device by process,
 * cgroup and file, and the times of its requests.
 *
 * Nothing is sent to userspace: the programs add to maps, which userspace reads
 * and replaces, so that nothing is lost for being read late. What finds no room
 * in a map is counted in struct top_events. How a write lies on the physical
 * blocks is decided by kmod/geometry.h, as in the target itself.
 *
 * The structures of the kernel are those members that are used here. Where they
 * are is found when the program is loaded, from the BTF of the running kernel;
 * a name with ___ stands for the type as some kernels have it.
 */
#include "observe/block.bpf.h"
#include "observe/cgroup.bpf.h"
#include "observe/geometry.bpf.h"
#include "top/shared.h"

/* As those of observe/block.bpf.h. */
#define TASK_IS_KTHREAD		0x00200000U
#define MAPPING_FLAGS		3UL	/* anonymous memory, and others */
#define CALL_WRITES_DIRECTLY	0x11U	/* IOMAP_WRITE | IOMAP_DIRECT */
#define BDEVFS_MAGIC		0x62646576UL

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
} KERNEL_TYPE;

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
} KERNEL_TYPE;

struct address_space {
	struct inode *host;
} KERNEL_TYPE;

struct page {
	unsigned long flags;
	unsigned long compound_head;
	struct address_space *mapping;
} KERNEL_TYPE;

/* Linux 6.18: flags is a structure. */
struct page___memdesc {
	struct {
		unsigned long f;
	} flags;
} KERNEL_TYPE;

/* Linux 7.0: a tail page has a mask that makes the head's address of its own. */
struct page___info {
	unsigned long compound_info;
} KERNEL_TYPE;

enum pageflags {
	PG_writeback = 1,
};

struct bio_vec {
	struct page *bv_page;
} KERNEL_TYPE;

struct iomap_iter {
	struct inode *inode;
	unsigned int flags;
} KERNEL_TYPE;

/* The file of a direct write that a task has begun and not ended. */
struct call {
	__u64 inode;
	__u64 device;
};

/* Filled in before the programs are loaded, as range is. */
const volatile struct top_config config SEC(".rodata.config");

/*
 * Maps in maps: userspace puts a new map in the place of the old one, and the
 * kernel waits until no program uses that any more. The inner maps are made by
 * userspace, too: of struct top_key and struct top_count, and of struct top_class.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} rows SEC(".maps"), classes SEC(".maps");

/* How much room these two have, userspace says. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct top_issued);
} issued SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_events);
} events SEC(".maps");

/* Count an event in a member of struct top_events. */
#define count_event(member)						\
	do {								\
		__u32 first_ = 0;					\
		struct top_events *e_ = bpf_map_lookup_elem(&events,	\
							    &first_);	\
		if (e_)							\
			add(e_->member, 1);				\
	} while (0)

/* How a write to the device lies on its physical blocks. */
struct place {
	__u64 bytes;
	__u32 size_bin;
	__u32 phase;
	__u32 touches;
};

/*
 * Find the place of a range of the disk, cut to the device; false if no part of
 * it is on the device.
 */
static __always_inline bool find_place(__u64 sector, __u64 sectors,
				       struct place *place)
{
	const struct align_geometry g = {
		.physical = config.geometry.physical,
		.logical = config.geometry.logical,
		.block_shift = config.geometry.block_shift,
		.lead = config.geometry.lead,
	};
	struct align_split split;

	if (!cut_to_device(&sector, &sectors))
		return false;
	sector -= range.start;
	align_split_write(&g, sector, sectors, &split);
	place->bytes = sectors << ALIGN_SECTOR_SHIFT;
	place->size_bin = align_size_bin(sectors);
	place->phase = align_phase_bin(&g, sector);
	place->touches = split.nr_touches;
	return true;
}

static __always_inline struct page *head_of(struct page *page)
{
	struct page___info *info = (void *)page;
	__u64 word = 0;

	if (bpf_core_field_exists(page->compound_head)) {
		bpf_core_read(&word, sizeof(word), &page->compound_head);
		return word & 1 ? (void *)(word - 1) : page;
	}
	if (!bpf_core_field_exists(info->compound_info))
		return page;
	bpf_core_read(&word, sizeof(word), &info->compound_info);
	if (!(word & 1))
		return page;
	/* an address only where a mask would not do */
	if (bpf_core_type_size(struct page) &
	    (bpf_core_type_size(struct page) - 1))
		return (void *)(word - 1);
	return (void *)((__u64)page & word);
}

static __always_inline bool is_written_back(struct page *page)
{
	struct page___memdesc *memdesc = (void *)page;
	__u64 flags = 0;

	if (bpf_core_field_exists(memdesc->flags.f))
		bpf_core_read(&flags, sizeof(flags), &memdesc->flags.f);
	else
		bpf_core_read(&flags, sizeof(flags), &page->flags);
	return flags >> bpf_core_enum_value(enum pageflags, PG_writeback) & 1;
}

/*
 * Take the file from the first page of a bio; return whether the page is one of
 * the page cache that is being written back. The memory of a direct write may be
 * a mapping of another file, but that is not being written back then.
 */
static __always_inline bool take_cached(struct bio *bio, struct top_key *key)
{
	struct address_space *mapping;
	struct page *page = NULL;
	struct inode *inode;
	__u64 vec = 0;

	/* read as a number: the verifier knows no arithmetic on such pointers */
	bpf_core_read(&vec, sizeof(vec), &bio->bi_io_vec);
	if (!vec)
		return false;
	vec += bio->bi_iter.bi_idx * bpf_core_type_size(struct bio_vec);
	bpf_core_read(&page, sizeof(page), &((struct bio_vec *)vec)->bv_page);
	if (!page)
		return false;
	page = head_of(page);
	mapping = BPF_CORE_READ(page, mapping);
	if (!mapping || (__u64)mapping & MAPPING_FLAGS)
		return false;
	inode = BPF_CORE_READ(mapping, host);
	if (!inode)
		return false;
	/* the page cache of a device, metadata of a file system among it */
	if (BPF_CORE_READ(inode, i_sb, s_magic) == BDEVFS_MAGIC)
		return true;
	if (!is_written_back(page))
		return false;
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->inode = BPF_CORE_READ(inode, i_ino);
	return true;
}

/* Take the file of the direct write that the current task is in, if any. */
static __always_inline void take_called(struct top_key *key)
{
	__u64 task = bpf_get_current_pid_tgid();
	struct call *call = bpf_map_lookup_elem(&calls, &task);

	if (!call)
		return;
	key->device = call->device;
	key->inode = call->inode;
}

/*
 * Return the cgroup that a bio is for. The bio's own is the nearest above the
 * task's that has the controller io, so it is only used for what a task writes
 * for another: write-back, and the threads of the kernel.
 */
static __always_inline __u64 cgroup_of(struct bio *bio, bool cached,
				       bool kthread)
{
	struct blkcg_gq *group = NULL;

	if (config.by_cgroup && (cached || kthread) &&
	    bpf_core_field_exists(bio->bi_blkg))
		group = bio->bi_blkg;
	if (group)
		return cgroup_of_group(group);
	return kthread ? 0 : bpf_get_current_cgroup_id();
}

static __always_inline void fill_key(struct bio *bio, struct top_key *key)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	bool zeroes = (bio->bi_opf & OP_MASK) == OP_WRITE_ZEROES;
	bool cached = !zeroes && take_cached(bio, key);

	if (!cached)
		take_called(key);
	key->cgroup = cgroup_of(bio, cached, task->flags & TASK_IS_KTHREAD);
	key->tgid = bpf_get_current_pid_tgid() >> 32;
	bpf_core_read_str(key->comm, sizeof(key->comm),
			  &task->group_leader->comm);
}

/* Add a bio to a row, or take it out again. */
static __always_inline void add_to(struct top_count *count, __u32 flags,
				   const struct place *place, __s64 n)
{
	add(count->bytes, n * place->bytes);
	if ((flags & OP_MASK) == OP_WRITE) {
		add(count->writes, n);
		if (!place->touches)
			return;
		add(count->misaligned, n);
		add(count->write_touches, n * place->touches);
	} else {
		add(count->zeroes, n);
		if (!place->touches)
			return;
		add(count->zeroes_misaligned, n);
		add(count->zero_touches, n * place->touches);
	}
}

/* Find the row of a bio in the map of this interval; the map may be full. */
static __always_inline struct top_count *find_row(struct bio *bio, bool make)
{
	const struct top_count none = { 0 };
	struct top_key key = { 0 };
	struct top_count *count;
	__u32 first = 0;
	void *map;

	fill_key(bio, &key);
	map = bpf_map_lookup_elem(&rows, &first);
	if (!map)
		return NULL;
	count = bpf_map_lookup_elem(map, &key);
	if (count || !make)
		return count;
	/* fails if another processor was first, too */
	bpf_map_update_elem(map, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, &key);
}

/* Check whether a bio is a write to the device; find its place if so. */
static __always_inline bool is_counted(struct bio *bio, struct place *place)
{
	if (!is_write(bio->bi_opf) || !is_disk(bio->bi_bdev->bd_disk))
		return false;
	return find_place(bio->bi_iter.bi_sector,
			  bio->bi_iter.bi_size >> ALIGN_SECTOR_SHIFT, place);
}

static __always_inline void count_arrival(struct bio *bio,
					  const struct place *place)
{
	struct top_count *count = find_row(bio, true);

	if (count)
		add_to(count, bio->bi_opf, place, 1);
	else
		count_event(lost);
}

static __always_inline void arrive(struct bio *bio)
{
	struct place place;

	if (is_counted(bio, &place))
		count_arrival(bio, &place);
}

ARRIVAL_PROGRAMS

static __always_inline void take_arrival_back(struct bio *bio,
					      const struct place *place)
{
	struct top_count *count = find_row(bio, false);

	count_event(sent_back);
	/* it is not there if an interval has ended since its arrival */
	if (count && ((bio->bi_opf & OP_MASK) == OP_WRITE ? count->writes :
							    count->zeroes))
		add_to(count, bio->bi_opf, place, -1);
	else
		count_event(counted_twice);
}

/* Take back the bytes of a bio that was sent back. Turns are taken only then, which is rare. */
static __always_inline void end(struct bio *bio, enum turn turn)
{
	struct place place;

	if (bio->bi_status == STATUS_AGAIN && is_counted(bio, &place) &&
	    take_turn(bio, turn, OBSERVED_END))
		take_arrival_back(bio, &place);
}

/*
 * A bio has ended. One with REQ_NOWAIT that would have had to wait is sent back
 * by the call that sent it, so key and row are those of its arrival.
 */
#define END_PROGRAM(name, turn)						\
SEC("tp_btf/block_bio_complete")					\
int BPF_PROG(name, struct request_queue *queue, struct bio *bio)	\
{									\
	end(bio, turn);							\
	return 0;							\
}
EACH_TURN(END_PROGRAM, bio_complete)

static __always_inline void keep_call(struct iomap_iter *iter, int found)
{
	__u64 task = bpf_get_current_pid_tgid();
	struct call call;

	if ((iter->flags & CALL_WRITES_DIRECTLY) != CALL_WRITES_DIRECTLY)
		return;
	if (found <= 0) {
		bpf_map_delete_elem(&calls, &task);
		return;
	}
	call.device = iter->inode->i_sb->s_dev;
	call.inode = iter->inode->i_ino;
	if (bpf_map_update_elem(&calls, &task, &call, BPF_ANY))
		count_event(calls_lost);
}

/*
 * A call that reads or writes a file has found its next extent, or has ended. In
 * direct I/O the bios of an extent are sent until the next one is looked for.
 */
SEC("fexit/iomap_iter")
int BPF_PROG(iomap_next, struct iomap_iter *iter, const void *ops, int found)
{
	keep_call(iter, found);
	return 0;
}

static __always_inline void issue(struct request *rq)
{
	__u64 number = (__u64)rq;
	struct top_issued request;
	struct place place;

	if (!is_write(rq->cmd_flags) || !is_disk(rq->q->disk))
		return;
	if (!find_place(rq->__sector, rq->__data_len >> ALIGN_SECTOR_SHIFT,
			&place))
		return;
	request.bytes = place.bytes;
	request.touches = place.touches;
	request.class = top_class_index(place.size_bin, place.phase,
					config.phases, place.touches);
	request.time_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&issued, &number, &request, BPF_ANY))
		count_event(requests_lost);
}

ISSUE_PROGRAMS

/* The driver gives a request back; it is issued again. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(rq_requeue, struct request *rq)
{
	__u64 number = (__u64)rq;

	if (is_write(rq->cmd_flags) &&
	    !bpf_map_delete_elem(&issued, &number))
		count_event(requeued);
	return 0;
}

/* Return @bin, or the last one, in a way that the verifier can follow. */
static __always_inline __u64 bounded(__u64 bin, __u64 nr)
{
	barrier_var(bin);
	return bin < nr ? bin : nr - 1;
}

static __always_inline void complete(struct request *rq, __u32 bytes)
{
	__u64 number = (__u64)rq, ns;
	struct top_issued *request;
	struct top_class *class;
	__u32 first = 0;
	void *map;

	if (!is_write(rq->cmd_flags) || bytes < rq->__data_len)
		return;
	request = bpf_map_lookup_elem(&issued, &number);
	if (!request)
		return;
	ns = bpf_ktime_get_ns() - request->time_ns;
	map = bpf_map_lookup_elem(&classes, &first);
	class = map ? bpf_map_lookup_elem(map, &request->class) : NULL;
	if (class) {
		add(class->requests, 1);
		add(class->touches, request->touches);
		add(class->bytes, request->bytes);
		add(class->sum_ns, ns);
		add(class->latency[bounded(align_latency_bin(ns),
					   ALIGN_LATENCY_BINS)], 1);
		add(class->linear[bounded(ns / TOP_LINEAR_NS,
					  TOP_LINEAR_BINS)], 1);
	}
	bpf_map_delete_elem(&issued, &number);
}

COMPLETION_PROGRAMS
