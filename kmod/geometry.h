/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on physical blocks: where boundaries lie, which blocks a write
 * covers in part, what one request may be, which histogram bin a value is in.
 *
 * Pure functions on integers.
 *
 * Sectors are 512 bytes and count from the start of the underlying device.
 * Byte x is a boundary iff (x - alignment_offset) mod P == 0. Blocks are
 * numbered from 0; where alignment_offset is not 0, block 0 starts before the
 * device does, by lead = (P - alignment_offset) mod P.
 */
#ifndef DM_ALIGN_GEOMETRY_H
#define DM_ALIGN_GEOMETRY_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/math64.h>
#else	/* the tools in userspace compile this file, too */
#include <stdbool.h>
#include <stddef.h>
#endif

#define ALIGN_SECTOR_SHIFT	9
#define ALIGN_SECTOR_SIZE	512U
#define ALIGN_MAX_LOGICAL	65536U		/* largest L, bytes */
#define ALIGN_MAX_FIXED		262144U		/* largest P of pad and coalesce, bytes */
#define ALIGN_MAX_FIXED_SECTORS	(ALIGN_MAX_FIXED >> ALIGN_SECTOR_SHIFT)
#define ALIGN_MAX_BLOCK_SIZE	1048576U	/* largest P, bytes */
#define ALIGN_MAX_BLOCK_SECTORS	(ALIGN_MAX_BLOCK_SIZE >> ALIGN_SECTOR_SHIFT)
#define ALIGN_MAX_TOUCHES	2	/* partial touches of one write */

/**
 * struct align_geometry - one target's blocks
 * @physical: P, bytes in a physical block
 * @logical: L, bytes in a logical block
 * @offset: alignment_offset, bytes, less than P
 * @block_shift: log2 of the sectors in a block
 * @lead: sectors by which block 0 starts before the device
 * @first_sector: first sector of the target's range on the device
 * @end_sector: first sector after that range
 * @first_whole: first block that lies wholly inside the range
 * @end_whole: block after the last such block; <= @first_whole if none does
 */
struct align_geometry {
	__u32 physical;
	__u32 logical;
	__u32 offset;
	__u32 block_shift;
	__u32 lead;
	__u64 first_sector;
	__u64 end_sector;
	__u64 first_whole;
	__u64 end_whole;
};

static inline bool align_is_power_of_2(__u32 n)
{
	return n && !(n & (n - 1));
}

/* Modulo; a 32-bit kernel has no operator for it. */
static inline __u32 align_mod(__u64 n, __u32 divisor)
{
#ifdef __KERNEL__
	__u32 modulo;

	div_u64_rem(n, divisor, &modulo);
	return modulo;
#else
	return n % divisor;
#endif
}

/* Floor of log2; @n must not be 0. */
static inline unsigned int align_log2(__u64 n)
{
	return 63 - __builtin_clzll(n);
}

static inline __u32 align_block_sectors(const struct align_geometry *g)
{
	return 1U << g->block_shift;
}

/* Sectors from the start of its block to @sector. */
static inline __u32 align_sector_in_block(const struct align_geometry *g,
					  __u64 sector)
{
	return (sector + g->lead) & (align_block_sectors(g) - 1);
}

/* Block that holds @sector. */
static inline __u64 align_block_of(const struct align_geometry *g, __u64 sector)
{
	return (sector + g->lead) >> g->block_shift;
}

/*
 * First sector of @block. If block 0 starts before the device, it is an edge block without
 * one, and the result is less than 0, to which sectors may be added.
 */
static inline __u64 align_block_start(const struct align_geometry *g,
				      __u64 block)
{
	return (block << g->block_shift) - g->lead;
}

/* An edge block lies only partly inside the target's range. */
static inline bool align_is_edge(const struct align_geometry *g, __u64 block)
{
	return block < g->first_whole || block >= g->end_whole;
}

/*
 * Whether writes can be fixed. Writes of logical blocks that are larger than a
 * page, or of a size that no drive has today, are only counted; so are writes of
 * physical blocks that do not fit into one request of a usual drive.
 */
static inline bool align_can_fix(const struct align_geometry *g)
{
	return g->physical <= ALIGN_MAX_FIXED &&
	       (g->logical == 512 || g->logical == 4096 ||
		g->physical == g->logical);
}

/**
 * align_geometry_init - check the figures and derive the rest
 * @g: filled on success
 * @physical: P, bytes
 * @logical: L, bytes
 * @offset: alignment_offset, bytes
 * @start: first sector of the range
 * @sectors: its length
 *
 * Return: NULL, or which figure is wrong and what it must be.
 */
static inline const char *align_geometry_init(struct align_geometry *g,
					      __u32 physical, __u32 logical,
					      __u32 offset, __u64 start,
					      __u64 sectors)
{
	if (!align_is_power_of_2(logical) || logical < ALIGN_SECTOR_SIZE ||
	    logical > ALIGN_MAX_LOGICAL)
		return "logical block size must be a power of two from 512 to 65536";
	if (!align_is_power_of_2(physical))
		return "physical_block_size must be a power of two";
	if (physical < logical)
		return "physical_block_size must not be less than the logical block size";
	if (physical > ALIGN_MAX_BLOCK_SIZE)
		return "physical_block_size must not be more than 1048576";
	if (offset >= physical)
		return "alignment_offset must be less than physical_block_size";
	if (offset & (logical - 1))
		return "alignment_offset must be a multiple of the logical block size";

	g->physical = physical;
	g->logical = logical;
	g->offset = offset;
	g->block_shift = align_log2(physical >> ALIGN_SECTOR_SHIFT);
	g->lead = ((physical - offset) & (physical - 1)) >> ALIGN_SECTOR_SHIFT;
	g->first_sector = start;
	g->end_sector = start + sectors;
	g->first_whole = align_block_of(g, start + align_block_sectors(g) - 1);
	g->end_whole = align_block_of(g, start + sectors);
	return NULL;
}

/**
 * align_shifted_offset - alignment_offset of a part of a disk
 * @offset: the disk's own alignment_offset, bytes
 * @start: sector at which the part starts
 * @physical: P, bytes
 *
 * Return: (@offset - 512 * @start) mod P, the figure that
 * bdev_alignment_offset() would give if P were the disk's block size.
 */
static inline __u32 align_shifted_offset(__u32 offset, __u64 start,
					 __u32 physical)
{
	return (offset - (__u32)(start << ALIGN_SECTOR_SHIFT)) & (physical - 1);
}

/*
 * How a write lies on the blocks. Only ALIGN_WHOLE has no partial touch;
 * ALIGN_BOTH has two of them, the others one.
 */
enum align_class {
	ALIGN_WHOLE,		/* starts and ends at boundaries */
	ALIGN_SUB_BLOCK,	/* lies inside one block and does not fill it */
	ALIGN_HEAD,		/* only starts inside a block */
	ALIGN_TAIL,		/* only ends inside a block */
	ALIGN_BOTH,		/* starts and ends inside different blocks */
};

/**
 * struct align_part - the part of one block that a write covers
 * @block: the block
 * @first: first sector covered, counted from the start of the block
 * @count: sectors covered, less than a block's
 */
struct align_part {
	__u64 block;
	__u32 first;
	__u32 count;
};

/**
 * struct align_split - a write as partial touches and a remainder of whole blocks
 * @class: how it lies on the blocks
 * @nr_touches: how many of @touch are set
 * @touch: the partial touches, by rising block
 * @remainder_start: first sector of the whole blocks
 * @remainder_sectors: their length, 0 if there are none
 * @first_block: first block that the write touches
 * @last_block: last block that the write touches
 */
struct align_split {
	enum align_class class;
	unsigned int nr_touches;
	struct align_part touch[ALIGN_MAX_TOUCHES];
	__u64 remainder_start;
	__u64 remainder_sectors;
	__u64 first_block;
	__u64 last_block;
};

/* Tell whether a write covers whole blocks. */
static inline int align_is_whole(const struct align_geometry *g, __u64 sector,
				 __u64 sectors)
{
	return !((align_sector_in_block(g, sector) | sectors) &
		 (align_block_sectors(g) - 1));
}

/**
 * align_split_write - take a write apart
 * @g: the blocks
 * @sector: first sector of the write
 * @sectors: its length, not 0
 * @s: the result
 */
static inline void align_split_write(const struct align_geometry *g,
				     __u64 sector, __u64 sectors,
				     struct align_split *s)
{
	__u64 end = sector + sectors;
	__u32 head = align_sector_in_block(g, sector);
	__u32 tail = align_sector_in_block(g, end);

	s->nr_touches = 0;
	s->first_block = align_block_of(g, sector);
	s->last_block = align_block_of(g, end - 1);
	s->remainder_start = sector;
	s->remainder_sectors = sectors;

	if (!head && !tail) {
		s->class = ALIGN_WHOLE;
		return;
	}
	if (s->first_block == s->last_block) {
		s->class = ALIGN_SUB_BLOCK;
		s->touch[s->nr_touches++] = (struct align_part) {
			s->first_block, head, (__u32)sectors };
		s->remainder_sectors = 0;
		return;
	}
	if (head) {
		__u32 count = align_block_sectors(g) - head;

		s->touch[s->nr_touches++] = (struct align_part) {
			s->first_block, head, count };
		s->remainder_start += count;
		s->remainder_sectors -= count;
	}
	if (tail) {
		s->touch[s->nr_touches++] = (struct align_part) {
			s->last_block, 0, tail };
		s->remainder_sectors -= tail;
	}
	s->class = head && tail ? ALIGN_BOTH : head ? ALIGN_HEAD : ALIGN_TAIL;
}

/* Bytes of the blocks from @first to @last. */
static inline __u64 align_blocks_bytes(const struct align_geometry *g,
				       __u64 first, __u64 last)
{
	return (last - first + 1) << (g->block_shift + ALIGN_SECTOR_SHIFT);
}

/* Bytes of the whole blocks that [@sector, @sector + @sectors) touches. */
static inline __u64 align_block_bytes(const struct align_geometry *g,
				      __u64 sector, __u64 sectors)
{
	return align_blocks_bytes(g, align_block_of(g, sector),
				  align_block_of(g, sector + sectors - 1));
}

/**
 * align_overlap - which sectors of a block a range covers
 * @g: the blocks
 * @block: a block that the range touches
 * @start: first sector of the range
 * @end: the sector after its last
 * @from: the first sector covered, counted from the start of the block
 * @to: the one after the last
 */
static inline void align_overlap(const struct align_geometry *g, __u64 block,
				 __u64 start, __u64 end, __u32 *from,
				 __u32 *to)
{
	/* Counted from the start of block 0, which may lie before the device. */
	__u64 first = block << g->block_shift;
	__u32 sectors = align_block_sectors(g);

	start += g->lead;
	end += g->lead;
	*from = start > first ? start - first : 0;
	*to = end - first < sectors ? end - first : sectors;
}

/*
 * Which sectors of @block lie inside the target's range: from *@from on, counted from the
 * start of the block, up to the one before *@to. All of them, if it is no edge block.
 */
static inline void align_inside(const struct align_geometry *g, __u64 block,
				__u32 *from, __u32 *to)
{
	align_overlap(g, block, g->first_sector, g->end_sector, from, to);
}

/* The first sector of @block that lies inside the target's range. */
static inline __u64 align_first_inside(const struct align_geometry *g,
				       __u64 block)
{
	__u32 from, to;

	align_inside(g, block, &from, &to);
	return align_block_start(g, block) + from;
}

/**
 * struct align_limits - limits of one request of the device below
 * @stacked: the device below lies on other devices, at places that are not known
 * @start: sector of the whole disk at which the device below starts
 * @max_sectors: largest request
 * @max_zeroes_sectors: largest write-zeroes; 0: the device takes none
 * @chunk_sectors: no request crosses a multiple of this on the disk; 0: none
 * @physical_sectors: sectors in a physical block, as the disk itself claims
 * @logical_sectors: sectors in a logical block
 * @max_segments: most segments of a request
 * @max_segment_size: most bytes of a segment
 * @seg_boundary_mask: no segment crosses an address with these bits all set
 * @virt_boundary_mask: only the first segment may start, only the last one
 *	end, off a multiple of this + 1; 0: no such rule
 */
struct align_limits {
	bool stacked;
	__u64 start;
	__u32 max_sectors;
	__u32 max_zeroes_sectors;
	__u32 chunk_sectors;
	__u32 physical_sectors;
	__u32 logical_sectors;
	__u32 max_segments;
	__u32 max_segment_size;
	__u64 seg_boundary_mask;
	__u64 virt_boundary_mask;
};

/**
 * align_max_io_sectors - the most that goes down from here as one request
 * @lim: the limits below
 * @sector: where the request starts, on the device below
 *
 * The block layer ends a request that is too large at a multiple of the
 * physical block size from sector 0, without regard to alignment_offset
 * (get_max_io_size() in block/blk-merge.c); this is the same figure, or the
 * smallest that it can be where the disk's own sectors are not known.
 *
 * Return: the length of that request, in sectors.
 */
static inline __u32 align_max_io_sectors(const struct align_limits *lim,
					 __u64 sector)
{
	__u32 max = lim->max_sectors;
	__u32 into, end;

	sector += lim->start;
	if (lim->chunk_sectors) {
		__u32 left = lim->chunk_sectors -
			     align_mod(sector, lim->chunk_sectors);

		if (left < max)
			max = left;
	}
	if (lim->stacked) {
		__u32 worst = lim->physical_sectors - lim->logical_sectors;

		return max > worst ? max - worst : lim->logical_sectors;
	}
	into = sector & (lim->physical_sectors - 1);
	end = (into + max) & ~(lim->physical_sectors - 1);
	if (end > into)
		return end - into;
	return max & ~(lim->logical_sectors - 1);
}

/**
 * align_segment_bytes - how much of a stretch of memory some segments hold
 * @lim: the limits below
 * @addr: address of the memory
 * @len: its length in bytes
 * @segments: segments left; lowered by those used
 *
 * Return: bytes that fit, at most @len.
 */
static inline __u32 align_segment_bytes(const struct align_limits *lim,
					__u64 addr, __u32 len,
					__u32 *segments)
{
	__u32 done = 0;

	while (done < len && *segments) {
		__u64 room = lim->seg_boundary_mask -
			((addr + done) & lim->seg_boundary_mask);
		__u32 seg = len - done;

		/* one less than the bytes left, so a mask of all ones works */
		if (room < seg - 1)
			seg = room + 1;
		if (seg > lim->max_segment_size)
			seg = lim->max_segment_size;
		done += seg;
		--*segments;
	}
	return done;
}

/*
 * Histogram bins.
 *
 * Phase: bin i counts misaligned writes that start i * L bytes into a block; with
 *        more logical blocks than bins, from i * P / 128 bytes to the next bin's.
 * Size:  bin i counts writes of 2^i sectors or more and less than 2^(i+1);
 *        the last bin has no upper end.
 * Latency: four bins an octave from 1024 ns on, of 256 ns below; the last bin
 *        has no upper end (it starts at 120 s).
 */
#define ALIGN_PHASE_BINS	128
#define ALIGN_SIZE_BINS		24
#define ALIGN_LATENCY_BINS	112
#define ALIGN_LATENCY_SHIFT	8	/* log2 of the finest bin, ns */

/* Bytes of a block that share a bin. */
static inline __u32 align_phase_bin_bytes(const struct align_geometry *g)
{
	__u32 least = g->physical / ALIGN_PHASE_BINS;

	return least > g->logical ? least : g->logical;
}

static inline unsigned int align_phase_bin(const struct align_geometry *g,
					   __u64 sector)
{
	return align_sector_in_block(g, sector) /
		(align_phase_bin_bytes(g) >> ALIGN_SECTOR_SHIFT);
}

static inline unsigned int align_size_bin(__u64 sectors)
{
	unsigned int bin = align_log2(sectors);

	return bin < ALIGN_SIZE_BINS ? bin : ALIGN_SIZE_BINS - 1;
}

static inline unsigned int align_latency_bin(__u64 ns)
{
	__u64 v = ns >> ALIGN_LATENCY_SHIFT;
	unsigned int e, bin;

	if (v < 4)
		return v;
	e = align_log2(v);
	bin = 4 * (e - 1) + ((v >> (e - 2)) & 3);
	return bin < ALIGN_LATENCY_BINS ? bin : ALIGN_LATENCY_BINS - 1;
}

/* First latency, ns, that is too long for @bin; the last bin has none. */
static inline __u64 align_latency_bin_end(unsigned int bin)
{
	if (bin < 4)
		return (__u64)(bin + 1) << ALIGN_LATENCY_SHIFT;
	return (__u64)(5 + bin % 4) << (bin / 4 - 1 + ALIGN_LATENCY_SHIFT);
}

#endif
