// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Cached blocks
 *
 * A block that has been written stays cached for 500 ms, so that a log of
 * 512-byte appends costs one read a block and not eight. The content comes only
 * from buffers that the engine copied and wrote itself, never from a user's
 * pages, which may change while they are written. A block is evicted by any
 * range that overlaps it, by any error on it, on suspend, on a change of the
 * mode, and, oldest first, when max_blocks or the ceiling of all targets is
 * reached, or the kernel is short of memory.
 */

/**
 * DOC: Allocation
 *
 * A block is its content and its state, allocated without waiting and without
 * touching emergency reserves, one page at a time, for each touch before a lock is
 * taken: with interrupts off, the page allocator may refill its own lists. Most
 * touches find their block in memory. A block that was not needed waits for the
 * next touch, in one of eight places, until nothing is cached, and does not count
 * for max_blocks. If there is no memory, or max_blocks blocks are in use, or the
 * ceiling of all targets is reached, the oldest cached block is evicted; if no
 * block is cached, the touch goes down unmodified, and held blocks are written to
 * make room for the next one. The last piece of a remainder
 * lies in the per-bio data; the pieces before it come from a mempool whose
 * elements return without new I/O.
 */

/*
 * Blocks in memory: how many there may be, where they are found, and how long they
 * stay when they serve nothing.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "block_state.h"
#include "hold.h"

/* How long an area stays busy behind its last block: longer than one is cached. */
#define ALIGN_BUSY_MS		1000

/* Account for allocated memory, or freed memory where @bytes is negative. */
void block_charge(struct align_target *at, s64 bytes)
{
	struct align_blocks *blocks = &at->engine.blocks;
	s64 now = atomic64_add_return(bytes, &blocks->bytes);
	s64 high = atomic64_read(&blocks->bytes_high);

	while (now > high &&
	       !atomic64_try_cmpxchg(&blocks->bytes_high, &high, now))
		;
}

/* Return the bytes of a block without its buffer. */
static size_t block_own_bytes(const struct align_target *at)
{
	return struct_size((struct align_block *)NULL, maps,
			   BLOCK_MAPS * block_map_longs(at)) +
	       buffer_nr_vecs(at) * sizeof(struct bio_vec);
}

/* Return the bytes of memory that a block occupies. */
static s64 block_bytes(const struct align_block *block)
{
	return ksize(block) + block->single.at->geometry.physical;
}

/* Release the slot of a block, and its memory below the ceiling. */
void blocks_put_slot(struct align_target *at)
{
	quota_give(&at->engine.blocks.quota);
	atomic_dec(&at->engine.blocks.nr);
}

static void block_free(struct align_block *block)
{
	struct align_target *at = block->single.at;

	block_charge(at, -block_bytes(block));
	buffer_free(at, block->vecs);
	kfree(block);
}

/* Put the reserve back where the next touch finds it. */
static void block_put_reserve(struct align_block *block)
{
	struct align_blocks *blocks = &block->single.at->engine.blocks;
	unsigned long flags;

	spin_lock_irqsave(&blocks->lock, flags);
	blocks->reserve = block;
	blocks_serve_starved(block->single.at);
	spin_unlock_irqrestore(&blocks->lock, flags);
}

/* Free a block and release its slot. */
void block_release(struct align_block *block)
{
	struct align_target *at = block->single.at;

	if (block->reserved) {
		block_put_reserve(block);
		return;
	}
	block_free(block);
	blocks_put_slot(at);
	blocks_serve_starved(at);
}

/* Allocate a block, without a slot. Return: NULL without memory. */
struct align_block *block_alloc(struct align_target *at, gfp_t gfp)
{
	struct align_block *block = kzalloc(block_own_bytes(at), gfp);

	if (!block)
		return NULL;
	block->single.at = at;
	block->vecs = (struct bio_vec *)(block->maps +
					 BLOCK_MAPS * block_map_longs(at));
	if (!buffer_alloc(at, block->vecs, gfp)) {
		kfree(block);
		return NULL;
	}
	block_charge(at, block_bytes(block));
	return block;
}

/*
 * Blocks that wait for touches
 * ----------------------------
 * A place of blocks->fresh changes by xchg() alone, without a lock, in any context; so
 * a block that was in it belongs to one thread from then on. The block that touch->fresh
 * names is the submitter's, under the locks of its shards block_new()'s, and if block_new()
 * leaves the block there, the submitter's again, which takes it out before the locks are
 * released: the write may end then.
 */

static struct align_block **find_fresh_place(struct align_target *at, u64 number)
{
	return &at->engine.blocks.fresh[number % ALIGN_FRESH_BLOCKS];
}

/**
 * blocks_get_fresh - allocate a block for a touch, before a lock is taken
 * @at: the target
 * @number: number of the block that the touch is of
 *
 * Return: a block for touch->fresh, or NULL without memory.
 */
struct align_block *blocks_get_fresh(struct align_target *at, u64 number)
{
	struct align_block **fresh = find_fresh_place(at, number);
	struct align_block *block = NULL;

	if (READ_ONCE(*fresh))
		block = xchg(fresh, NULL);
	return block ? block : block_alloc(at, BUFFER_GFP);
}

/**
 * blocks_put_fresh - leave a block that was not needed for the next touch
 * @at: the target
 * @number: as for blocks_get_fresh()
 * @block: the block that blocks_get_fresh() returned; NULL if it was needed
 *
 * Called with the lock of the shard of @number held, under which the touch was refused:
 * behind it the write may end and the target be removed, and the work queued here with it.
 */
void blocks_put_fresh(struct align_target *at, u64 number,
		      struct align_block *block)
{
	lockdep_assert_held(&shard_of(at, number)->lock);
	if (!block)
		return;
	block = xchg(find_fresh_place(at, number), block);
	if (block)
		block_free(block);
	/* The block is freed when nothing is cached. */
	queue_delayed_work(at->engine.jobs.wq, &at->engine.blocks.expire,
			   msecs_to_jiffies(ALIGN_CACHED_MS));
}

/* Free the blocks that wait for touches; others may come. */
static void blocks_free_fresh(struct align_blocks *blocks)
{
	unsigned int i;

	for (i = 0; i < ALIGN_FRESH_BLOCKS; i++) {
		struct align_block *block = xchg(&blocks->fresh[i], NULL);

		if (block)
			block_free(block);
	}
}

/* Initialise a block that is zeroed, but for its memory and its target. */
static void block_init(struct align_block *block, u64 number)
{
	block->number = number;
	INIT_LIST_HEAD(&block->touches);
	INIT_LIST_HEAD(&block->next);
	INIT_LIST_HEAD(&block->list);
	INIT_LIST_HEAD(&block->queue);
	block->single.nr = 1;
	INIT_LIST_HEAD(&block->single.blocks);
}

/*
 * Make the block that was allocated for a touch one of a reserved slot. Return: NULL if
 * there was no memory. Lock of the block's shard held.
 */
struct align_block *block_new(struct align_touch *touch, u64 number)
{
	struct align_block *block = touch->fresh;

	lockdep_assert_held(&shard_of(touch->io->at, number)->lock);
	touch->fresh = NULL;
	if (!block)
		return NULL;
	block_init(block, number);
	return block;
}

/* Take the reserve, which has a slot of its own. Return: NULL if it is in use. */
struct align_block *block_take_reserve(struct align_target *at, u64 number)
{
	struct align_blocks *blocks = &at->engine.blocks;
	struct align_block *block;
	struct bio_vec *vecs;
	unsigned long flags;

	spin_lock_irqsave(&blocks->lock, flags);
	block = blocks->reserve;
	blocks->reserve = NULL;
	spin_unlock_irqrestore(&blocks->lock, flags);
	if (!block)
		return NULL;
	vecs = block->vecs;
	memset(block, 0, (void *)vecs - (void *)block);
	block->vecs = vecs;
	block->single.at = at;
	block->reserved = true;
	block_init(block, number);
	return block;
}

/* Insert a block into its shard's tree, under the shard's lock. */
void block_insert(struct align_block *block)
{
	struct rb_root *tree = &block_shard(block)->tree;
	struct rb_node **link = &tree->rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&block_shard(block)->lock);
	while (*link) {
		parent = *link;
		if (block->number <
		    rb_entry(parent, struct align_block, rb)->number)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&block->rb, parent, link);
	rb_insert_color(&block->rb, tree);
	block_area(block)->nr++;
}

/* Add a block to the cached ones of its shard, under the shard's lock. */
void block_add_cached(struct align_block *block)
{
	struct align_shard *shard = block_shard(block);

	lockdep_assert_held(&shard->lock);
	list_add_tail(&block->list, &shard->cached);
	WRITE_ONCE(shard->nr_cached, shard->nr_cached + 1);
}

/* Take a block from the cached ones of its shard, under the shard's lock. */
void block_remove_cached(struct align_block *block)
{
	struct align_shard *shard = block_shard(block);

	lockdep_assert_held(&shard->lock);
	list_del_init(&block->list);
	WRITE_ONCE(shard->nr_cached, shard->nr_cached - 1);
}

/*
 * Take a block without touches, of which no request is in flight, out of its
 * shard, and free it unless it is pinned. Lock of the shard held.
 */
void block_remove(struct align_block *block)
{
	struct align_area *area = block_area(block);

	lockdep_assert_held(&block_shard(block)->lock);
	WARN_ON_ONCE(!list_empty(&block->touches) ||
		     !list_empty(&block->next) || block->held ||
		     block->waiting);
	if (block->state == BLOCK_IS_CACHED)
		block_remove_cached(block);
	else
		list_del(&block->list);
	rb_erase(&block->rb, &block_shard(block)->tree);
	area->nr--;
	area->since = jiffies;
	block->gone = true;
	if (!block->pins)
		block_release(block);
}

/* Find the first block of a shard at @number or above it. shard->lock held. */
struct align_block *block_at_or_above(const struct align_shard *shard,
				      u64 number)
{
	struct rb_node *node = shard->tree.rb_node;
	struct align_block *found = NULL;

	lockdep_assert_held(&shard->lock);
	while (node) {
		struct align_block *block =
			rb_entry(node, struct align_block, rb);

		if (block->number >= number) {
			found = block;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* Return the next block of the shard by number, or NULL. Lock of the shard held. */
struct align_block *block_following(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	return rb_entry_safe(rb_next(&block->rb), struct align_block, rb);
}

/* Evict the oldest cached block of a shard. Return: false if none. shard->lock held. */
bool block_evict(struct align_shard *shard)
{
	struct align_block *block =
		list_first_entry_or_null(&shard->cached, struct align_block,
					 list);

	lockdep_assert_held(&shard->lock);
	if (block)
		block_remove(block);
	return block;
}

/* Reserve a slot for a block, and its memory below the ceiling, if both are free. */
static bool blocks_get_slot(struct align_blocks *blocks)
{
	int nr = atomic_read(&blocks->nr);

	do {
		if (nr >= READ_ONCE(blocks->max))
			return false;
	} while (!atomic_try_cmpxchg(&blocks->nr, &nr, nr + 1));
	if (quota_take(&blocks->quota))
		return true;
	atomic_dec(&blocks->nr);
	return false;
}

/*
 * Evict cached blocks of a shard until a slot is reserved, but none that a read has
 * pinned, which would keep its slot; look at most at *@left. Return: whether a slot is
 * reserved. shard->lock held.
 */
static bool shard_make_room(struct align_blocks *blocks,
			    struct align_shard *shard, unsigned int *left)
{
	struct align_block *block, *tmp;

	lockdep_assert_held(&shard->lock);
	list_for_each_entry_safe(block, tmp, &shard->cached, list) {
		if (!*left)
			break;
		--*left;
		if (block->pins)
			continue;
		block_remove(block);
		if (blocks_get_slot(blocks))
			return true;
	}
	return false;
}

/*
 * Reserve a slot for a block of @shard. If none is free, evict a cached block of
 * this shard, or of one whose lock is free; or some, if others take their slots, or
 * there may be fewer blocks than there are. The locks of @span are held.
 */
bool blocks_make_room(struct align_target *at, const struct shard_span *span,
		      struct align_shard *shard)
{
	struct align_blocks *blocks = &at->engine.blocks;
	unsigned int left = EVICT_BLOCKS;
	unsigned int i;

	span_assert_held(at, span);
	if (blocks_get_slot(blocks) ||
	    shard_make_room(blocks, shard, &left))
		return true;
	for (i = 0; i < ALIGN_SHARDS && left; i++) {
		struct align_shard *other = &blocks->shard[i];
		bool locked = shard_in_span(span, i);
		bool taken;

		/* Never waits, so the order of the shards does not matter. */
		if (list_empty(&other->cached) ||
		    (!locked && !shard_trylock(other)))
			continue;
		taken = shard_make_room(blocks, other, &left);
		if (!locked)
			shard_unlock(other);
		if (taken)
			return true;
	}
	hold_make_room(at);
	return false;
}

/**
 * blocks_evict_range - evict the cached blocks of a long range in batches
 * @at: the target
 * @first: first block
 * @last: last block
 *
 * For ranges so long that blocks_add_range(), which evicts again, might have to cut
 * them. Called without the lock.
 */
void blocks_evict_range(struct align_target *at, u64 first, u64 last)
{
	struct shard_span span;
	unsigned int i;

	if (last - first < RANGE_BLOCKS)
		return;
	span = shard_span(at, first, last);
	for (i = shard_first(&span); i < ALIGN_SHARDS;
	     i = shard_next(&span, i)) {
		struct align_shard *shard = &at->engine.blocks.shard[i];
		struct align_block *block, *next;
		unsigned long flags;
		unsigned int seen;
		u64 from = first;

		do {
			seen = 0;
			spin_lock_irqsave(&shard->lock, flags);
			for (block = block_at_or_above(shard, from);
			     block && block->number <= last &&
			     seen < BLOCKS_BATCH; block = next) {
				next = block_following(block);
				from = block->number + 1;
				if (block->state == BLOCK_IS_CACHED)
					block_remove(block);
				seen++;
			}
			spin_unlock_irqrestore(&shard->lock, flags);
		} while (seen == BLOCKS_BATCH);
	}
}

/*
 * Evict blocks cached for too long, at most BLOCKS_BATCH. Return: jiffies until the
 * next is due.
 */
static unsigned long shard_expire(struct align_shard *shard)
{
	unsigned long age = msecs_to_jiffies(ALIGN_CACHED_MS);
	unsigned long now = jiffies;
	unsigned long left = 0;
	unsigned int seen;

	spin_lock_irq(&shard->lock);
	for (seen = 0; seen < BLOCKS_BATCH; seen++) {
		struct align_block *block =
			list_first_entry_or_null(&shard->cached,
						 struct align_block, list);

		if (!block) {
			left = MAX_JIFFY_OFFSET;
			break;
		}
		if (time_before(now, block->since + age)) {
			left = block->since + age - now;
			break;
		}
		block_remove(block);
	}
	spin_unlock_irq(&shard->lock);
	return left;
}

/*
 * Make an area quiet that has had no block for @age. Return: jiffies until that is
 * due.
 */
static unsigned long area_make_quiet(struct align_target *at, unsigned int i,
				     unsigned long age)
{
	struct align_quiet *quiet = &at->engine.quiet;
	struct align_shard *shard = shard_of_area(at, i);
	struct align_area *area = area_at(at, i);
	unsigned long left = MAX_JIFFY_OFFSET;
	unsigned long now = jiffies;

	if (!quiet_is_over(quiet, i))
		return left;
	spin_lock_irq(&shard->lock);
	if (area->nr)
		left = age;
	else if (time_before(now, area->since + age))
		left = area->since + age - now;
	else
		quiet_begin(quiet, i);
	spin_unlock_irq(&shard->lock);
	return left;
}

/* Do so with all areas. Return: jiffies until the next one is due. */
static unsigned long areas_make_quiet(struct align_target *at, unsigned long age)
{
	unsigned long left = MAX_JIFFY_OFFSET;
	unsigned int i;

	for (i = 0; i < ALIGN_AREAS; i++)
		left = min(left, area_make_quiet(at, i, age));
	return left;
}

static void blocks_make_quiet(struct work_struct *work)
{
	struct align_target *at =
		container_of(to_delayed_work(work), struct align_target,
			     engine.blocks.calm);
	unsigned long left = areas_make_quiet(at, msecs_to_jiffies(ALIGN_BUSY_MS));

	/* An area that became busy meanwhile has queued the work, for later. */
	if (left != MAX_JIFFY_OFFSET)
		mod_delayed_work(at->engine.jobs.wq, &at->engine.blocks.calm,
				 left);
}

/* Schedule the work that makes areas quiet again, as an area has become busy. */
void blocks_schedule_quiet(struct align_target *at)
{
	queue_delayed_work(at->engine.jobs.wq, &at->engine.blocks.calm,
			   msecs_to_jiffies(ALIGN_BUSY_MS));
}

static void blocks_expire(struct work_struct *work)
{
	struct align_engine *engine =
		container_of(to_delayed_work(work), struct align_engine,
			     blocks.expire);
	unsigned long left = MAX_JIFFY_OFFSET;
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		left = min(left, shard_expire(&engine->blocks.shard[i]));
	if (left == MAX_JIFFY_OFFSET)
		blocks_free_fresh(&engine->blocks);
	/* A block that became cached meanwhile has queued the work, for later. */
	if (left < MAX_JIFFY_OFFSET)
		mod_delayed_work(engine->jobs.wq, &engine->blocks.expire,
				 left);
}

/*
 * Evict cached blocks of a shard, the oldest first, but none that a read has
 * pinned, which would keep its memory; look at most at @most. Return: how many
 * went.
 */
static unsigned int shard_free_some(struct align_shard *shard,
				    unsigned int most)
{
	struct align_block *block, *tmp;
	unsigned int seen = 0, nr = 0;

	if (!READ_ONCE(shard->nr_cached))
		return 0;
	spin_lock_irq(&shard->lock);
	list_for_each_entry_safe(block, tmp, &shard->cached, list) {
		if (seen++ == most)
			break;
		if (block->pins)
			continue;
		block_remove(block);
		nr++;
	}
	spin_unlock_irq(&shard->lock);
	return nr;
}

/**
 * blocks_free_some - evict cached blocks because memory is wanted elsewhere
 * @at: the target
 * @most: how many, at most BLOCKS_BATCH
 *
 * Process context; takes locks of shards, one at a time, and allocates nothing.
 *
 * Return: how many went, whose memory is free.
 */
unsigned int blocks_free_some(struct align_target *at, unsigned int most)
{
	unsigned int i, nr = 0;

	blocks_free_fresh(&at->engine.blocks);
	for (i = 0; i < ALIGN_SHARDS && nr < most; i++)
		nr += shard_free_some(&at->engine.blocks.shard[i], most - nr);
	return nr;
}

/*
 * Return the number of cached blocks of a target; they may come and go
 * meanwhile.
 */
unsigned long blocks_nr_cached(const struct align_target *at)
{
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		nr += READ_ONCE(at->engine.blocks.shard[i].nr_cached);
	return nr;
}

/* Evict cached blocks, the oldest first, until at most @max blocks are left. */
static void shard_shrink(struct align_blocks *blocks, struct align_shard *shard,
			 unsigned int max)
{
	bool more = true;

	while (more) {
		unsigned int i;

		spin_lock_irq(&shard->lock);
		for (i = 0; i < BLOCKS_BATCH && more; i++)
			more = atomic_read(&blocks->nr) > max &&
			       block_evict(shard);
		spin_unlock_irq(&shard->lock);
		cond_resched();
	}
}

static void blocks_shrink(struct align_blocks *blocks, unsigned int max)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		shard_shrink(blocks, &blocks->shard[i], max);
}

/*
 * Evict the cached sectors around held ones of at most BLOCKS_BATCH blocks from
 * @from on. Return: the number of the block behind the last one, or U64_MAX.
 */
static u64 shard_evict_held(struct align_shard *shard, u64 from)
{
	struct align_block *block;
	unsigned int seen;

	spin_lock_irq(&shard->lock);
	block = block_at_or_above(shard, from);
	for (seen = 0; block && seen < BLOCKS_BATCH; seen++) {
		if (block->state == BLOCK_IS_REST)
			block->valid = false;
		from = block->number + 1;
		block = block_following(block);
	}
	if (seen < BLOCKS_BATCH)
		from = U64_MAX;
	spin_unlock_irq(&shard->lock);
	return from;
}

/**
 * blocks_evict - evict all cached blocks, and the cached content of held blocks
 * @at: the target
 *
 * Areas without blocks are quiet at once, and the blocks that wait for touches are freed.
 */
void blocks_evict(struct align_target *at)
{
	struct align_blocks *blocks = &at->engine.blocks;
	unsigned int i;

	cancel_delayed_work_sync(&blocks->expire);
	cancel_delayed_work_sync(&blocks->calm);
	blocks_shrink(blocks, 0);
	for (i = 0; i < ALIGN_SHARDS; i++) {
		u64 from = 0;

		while ((from = shard_evict_held(&blocks->shard[i], from)) !=
		       U64_MAX)
			cond_resched();
	}
	blocks_free_fresh(blocks);
	if (areas_make_quiet(at, 0) < MAX_JIFFY_OFFSET)
		blocks_schedule_quiet(at);
}

/**
 * blocks_set_max - change the limit of blocks in memory
 * @at: the target
 * @max: most blocks from now on; blocks in use above that end by themselves
 */
void blocks_set_max(struct align_target *at, unsigned int max)
{
	WRITE_ONCE(at->engine.blocks.max, max);
	blocks_shrink(&at->engine.blocks, max);
	hold_limit(at);
}

/**
 * blocks_init - initialise the blocks of a target
 * @at: the target, zeroed
 * @max: most blocks
 *
 * Return: 0 or -ENOMEM.
 */
int blocks_init(struct align_target *at, unsigned int max)
{
	static struct lock_class_key keys[ALIGN_SHARDS];
	struct align_blocks *blocks = &at->engine.blocks;
	unsigned int i;

	blocks->area = kcalloc(ALIGN_AREAS, sizeof(*blocks->area), GFP_KERNEL);
	if (!blocks->area)
		return -ENOMEM;
	if (align_offers_smaller(at)) {
		blocks->reserve = block_alloc(at, GFP_KERNEL);
		if (!blocks->reserve) {
			kfree(blocks->area);
			return -ENOMEM;
		}
	}
	for (i = 0; i < ALIGN_SHARDS; i++) {
		struct align_shard *shard = &blocks->shard[i];

		spin_lock_init(&shard->lock);
		/* Several are taken, by rising index. */
		lockdep_set_class(&shard->lock, &keys[i]);
		shard->tree = RB_ROOT;
		shard->ranges = RB_ROOT_CACHED;
		INIT_LIST_HEAD(&shard->cached);
		shard->resting = RB_ROOT_CACHED;
		INIT_LIST_HEAD(&shard->urgent);
		shard->failed = RB_ROOT_CACHED;
		INIT_LIST_HEAD(&shard->by_age);
		INIT_LIST_HEAD(&shard->crowding);
	}
	for (i = 0; i < ALIGN_AREAS; i++)
		INIT_LIST_HEAD(&blocks->area[i].blocks);
	blocks->long_ranges = RB_ROOT_CACHED;
	spin_lock_init(&blocks->lock);
	INIT_LIST_HEAD(&blocks->passed);
	INIT_LIST_HEAD(&blocks->starved);
	blocks->max = max;
	quota_init(&blocks->quota,
		   kmalloc_size_roundup(block_own_bytes(at)) +
		   at->geometry.physical);
	ceiling_add_target(1);
	INIT_DELAYED_WORK(&blocks->expire, blocks_expire);
	INIT_DELAYED_WORK(&blocks->calm, blocks_make_quiet);
	return 0;
}

/* Free what blocks_init() has allocated; no block is left. */
void blocks_exit(struct align_target *at)
{
	unsigned int i;

	WARN_ON(atomic_read(&at->engine.blocks.nr));
	WARN_ON(areas_make_quiet(at, 0) < MAX_JIFFY_OFFSET);
	WARN_ON(atomic_read(&at->engine.blocks.nr_shown));
	WARN_ON(atomic_read(&at->engine.blocks.nr_over));
	blocks_free_fresh(&at->engine.blocks);
	ceiling_add_target(-1);
	WARN_ON(!list_empty(&at->engine.blocks.starved));
	for (i = 0; i < ALIGN_SHARDS; i++)
		WARN_ON(at->engine.blocks.shard[i].nr_ranges ||
			at->engine.blocks.shard[i].crowded);
	if (at->engine.blocks.reserve)
		block_free(at->engine.blocks.reserve);
	kfree(at->engine.blocks.area);
}
