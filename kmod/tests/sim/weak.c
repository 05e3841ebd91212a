// SPDX-License-Identifier: GPL-2.0
/*
 * Store buffers and early loads, by exchange: while a CPU runs, memory is as that
 * CPU sees it, and when it is left, memory has the content again that all have agreed
 * on. So the code itself is compiled as it is, and reads and writes memory as ever; a
 * hook only notes the bytes that a store is about to change.
 *
 * A cell is a part of an aligned word that a CPU sees otherwise than the others: its
 * own store that is not visible yet, or an older value that it still sees. A CPU
 * never goes back in time: an older value is noted when a newer one becomes visible,
 * and only dropped afterwards.
 *
 * No more is modelled than the kernel's memory model allows. Stores are visible to
 * all other CPUs at once but for their early loads. No load is late, so that no store
 * comes before an earlier load, but for those of a copy: its second half may wait for
 * the next barrier or release. A load through a pointer is no older than the pointer:
 * see note_pointer(). An index instead of a pointer keeps no such order.
 */
#include <stdint.h>
#include <string.h>

#include "machine.h"

#define MOST_CELLS	48	/* of a kind, of a CPU; a full buffer is drained */
#define MOST_COPY	64	/* longer copies are buffered at their ends only */
#define STAMPS		(1U << 14)
/* Of so many plain accesses one is a point where other threads may go on. */
#define PLAIN_POINT	8

extern char __start_sim_data[], __stop_sim_data[];

/**
 * struct cell - bytes of a word that a CPU sees otherwise
 * @word: the word
 * @mask: its bytes
 * @mine: the value that the CPU sees, or adds, while it does not run
 * @others: the value that all other CPUs see, while the CPU runs
 * @turn: of a store: number of the barriers for stores before it
 * @since: of an older value: when the newer one became visible
 * @adds: the store adds @mine
 * @release: all stores before it become visible first
 * @released: a lock has been released after it
 */
struct cell {
	sim_u64 *word;
	sim_u64 mask, mine, others;
	unsigned int turn;
	sim_u64 since;
	bool adds, release, released;
};

/**
 * struct late_copy - the second half of a copy, whose loads are late
 * @to: where it goes to
 * @from: from where
 * @bytes: how much; 0: nothing is late
 */
struct late_copy {
	uintptr_t to, from;
	unsigned long bytes;
};

/**
 * struct view - memory as a CPU sees it
 * @store: its stores that are not visible to others, oldest first
 * @older: older values that it sees
 * @turn: number of its barriers for stores
 * @next_releases: its next store is a release
 * @late: copy of which a part has not been done
 */
struct view {
	struct cell store[MOST_CELLS], older[MOST_CELLS];
	unsigned int nr_stores, nr_older;
	unsigned int turn;
	bool next_releases;
	struct late_copy late;
};

static struct view views[MACHINE_CPUS];
static unsigned int nr_views, tick;
/* The view that memory shows, or NULL. */
static struct view *now;
/* Chances of this run: a store becomes visible, an older value stays, or goes. */
static unsigned int drain_one_in, early_one_in, forget_one_in;

/* When a word last became visible, and whose store that was. */
static struct {
	const sim_u64 *word;
	sim_u64 at;
	const struct view *by;
} stamps[STAMPS];
static sim_u64 clock_now;

static unsigned int stamp_of(const sim_u64 *word)
{
	return (unsigned int)((uintptr_t)word >> 3) * 0x9e3779b1U >> 18;
}

/* The whole bytes of which any bit is set. */
static sim_u64 whole_bytes(sim_u64 bits)
{
	bits |= bits >> 4;
	bits |= bits >> 2;
	bits |= bits >> 1;
	return (bits & 0x0101010101010101ULL) * 0xff;
}

static sim_u64 bytes_mask(unsigned int first, unsigned int bytes)
{
	return (bytes == 8 ? ~0ULL : (1ULL << 8 * bytes) - 1) << 8 * first;
}

static sim_u64 merged(sim_u64 word, sim_u64 mask, sim_u64 value)
{
	return (word & ~mask) | (value & mask);
}

static sim_u64 applied(const struct cell *cell, sim_u64 word)
{
	return merged(word, cell->mask, cell->adds ?
		      (word & cell->mask) + cell->mine : cell->mine);
}

static void remove_cell(struct cell *cells, unsigned int *nr, unsigned int at)
{
	memmove(&cells[at], &cells[at + 1], (--*nr - at) * sizeof(*cells));
}

static bool is_weak(uintptr_t at)
{
	return (at >= (uintptr_t)MACHINE_ARENA_AT &&
		at < (uintptr_t)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES) ||
	       (at >= (uintptr_t)__start_sim_data &&
		at < (uintptr_t)__stop_sim_data);
}

static struct cell *own_store(struct view *view, const sim_u64 *word)
{
	unsigned int i;

	for (i = 0; i < view->nr_stores; i++)
		if (view->store[i].word == word)
			return &view->store[i];
	return NULL;
}

static void drop_older(struct view *view, unsigned int at)
{
	const struct cell *cell = &view->older[at];

	if (view == now)
		*cell->word = merged(*cell->word, cell->mask, cell->others);
	remove_cell(view->older, &view->nr_older, at);
}

static void drop_all_older(struct view *view)
{
	while (view->nr_older)
		drop_older(view, view->nr_older - 1);
}

/* See the newest value of a word that the CPU is about to write or to change. */
static void drop_older_of(struct view *view, const sim_u64 *word)
{
	unsigned int i = view->nr_older;

	while (i--)
		if (view->older[i].word == word)
			drop_older(view, i);
}

/* Let a CPU go on to see @old in those bytes of a word that it has not stored to. */
static void see_older(struct view *view, sim_u64 *word, sim_u64 mask, sim_u64 old)
{
	const struct cell *own = own_store(view, word);
	unsigned int i;

	if (own)
		mask &= ~own->mask;
	for (i = 0; i < view->nr_older; i++)
		if (view->older[i].word == word)
			mask &= ~view->older[i].mask;
	if (!mask || view->nr_older == MOST_CELLS)
		return;
	view->older[view->nr_older++] = (struct cell) {
		.word = word, .mask = mask, .mine = old & mask,
		.since = clock_now,
	};
}

/* Bytes of a word, which were @old, are visible to all from now on. */
static void became_visible(struct view *by, sim_u64 *word, sim_u64 mask,
			   sim_u64 old)
{
	unsigned int i, slot = stamp_of(word);

	stamps[slot].word = word;
	stamps[slot].at = ++clock_now;
	stamps[slot].by = by;
	mask &= whole_bytes((*word ^ old) & mask);
	if (!mask)
		return;
	for (i = 0; i < nr_views; i++)
		if (&views[i] != by && machine_chance(early_one_in))
			see_older(&views[i], word, mask, old);
}

/* Make a store visible. */
static void commit(struct view *view, unsigned int at)
{
	struct cell cell = view->store[at];

	remove_cell(view->store, &view->nr_stores, at);
	if (view != now) {
		cell.others = *cell.word & cell.mask;
		*cell.word = applied(&cell, *cell.word);
	}
	became_visible(view, cell.word, cell.mask, cell.others);
}

static void drain(struct view *view)
{
	while (view->nr_stores)
		commit(view, 0);
}

/* Whether a store may become visible before those that are older. */
static bool may_drain(const struct view *view, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < at; i++)
		if (view->store[i].turn != view->store[at].turn ||
		    view->store[at].release)
			return false;
	return true;
}

static void show(struct view *view)
{
	unsigned int i;

	for (i = 0; i < view->nr_stores; i++) {
		struct cell *cell = &view->store[i];

		cell->others = *cell->word & cell->mask;
		*cell->word = applied(cell, *cell->word);
	}
	for (i = 0; i < view->nr_older; i++) {
		struct cell *cell = &view->older[i];

		cell->others = *cell->word & cell->mask;
		*cell->word = merged(*cell->word, cell->mask, cell->mine);
	}
	now = view;
}

static void hide(void)
{
	struct view *view = now;
	unsigned int i;

	now = NULL;
	for (i = 0; i < view->nr_stores; i++) {
		struct cell *cell = &view->store[i];

		if (!cell->adds)
			cell->mine = *cell->word & cell->mask;
		*cell->word = merged(*cell->word, cell->mask, cell->others);
	}
	for (i = view->nr_older; i--;) {
		struct cell *cell = &view->older[i];
		/* All CPUs see the bytes that the shim has stored there meanwhile. */
		sim_u64 stored = whole_bytes((*cell->word ^ cell->mine) &
					     cell->mask);

		*cell->word = merged(*cell->word, cell->mask & ~stored,
				     cell->others);
		if (stored)
			remove_cell(view->older, &view->nr_older, i);
	}
}

static void note_long_store(uintptr_t to, unsigned long bytes);

/* Do the late part of a copy. The CPU runs. */
static void finish_copy(void)
{
	struct late_copy late = now->late;

	if (!late.bytes)
		return;
	now->late.bytes = 0;
	note_long_store(late.to, late.bytes);
	memmove((void *)late.to, (const void *)late.from, late.bytes);
}

static void finish_copy_of(struct view *view)
{
	if (!view->late.bytes)
		return;
	show(view);
	finish_copy();
	hide();
}

/* A CPU cannot but see its own copy, and must not store to bytes not copied yet. */
static void meet_copy(uintptr_t at, unsigned long bytes, bool stores)
{
	const struct late_copy *late = &now->late;

	if ((at < late->to + late->bytes && late->to < at + bytes) ||
	    (stores && at < late->from + late->bytes && late->from < at + bytes))
		finish_copy();
}

void weak_enter(int cpu)
{
	if (cpu >= 0)
		show(&views[cpu]);
}

void weak_leave(void)
{
	unsigned int i, j;

	if (now && now->late.bytes && machine_choose(2))
		finish_copy();
	if (now)
		hide();
	for (i = 0; i < nr_views; i++) {
		struct view *view = &views[i];

		for (j = 0; j < view->nr_stores;)
			if (may_drain(view, j) && machine_chance(drain_one_in))
				commit(view, j);
			else
				j++;
		for (j = view->nr_older; j--;)
			if (machine_chance(forget_one_in))
				drop_older(view, j);
	}
}

void weak_settle(unsigned int cpu)
{
	finish_copy_of(&views[cpu]);
	drain(&views[cpu]);
	drop_all_older(&views[cpu]);
}

void weak_mb(void)
{
	if (!now)
		return;
	finish_copy();
	drop_all_older(now);
	drain(now);
}

void weak_rmb(void)
{
	if (!now)
		return;
	finish_copy();
	drop_all_older(now);
}

void weak_wmb(void)
{
	if (!now)
		return;
	finish_copy();
	now->turn++;
}

void weak_release(void)
{
	unsigned int i;

	if (!now)
		return;
	finish_copy();
	for (i = 0; i < now->nr_stores; i++)
		now->store[i].released = true;
}

void weak_acquire(void)
{
	struct view *me = now;
	unsigned int i;

	if (!me)
		return;
	finish_copy();
	/* An unlock and a lock of one CPU order its stores, also of two locks. */
	if (me->nr_stores && me->store[0].released)
		me->turn++;
	drop_all_older(me);
	hide();
	for (i = 0; i < nr_views; i++)
		while (&views[i] != me && views[i].nr_stores &&
		       views[i].store[0].released)
			commit(&views[i], 0);
	drop_all_older(me);
	show(me);
}

void weak_store_release(void)
{
	if (!now)
		return;
	finish_copy();
	now->next_releases = true;
}

void weak_mb_all(void)
{
	struct view *me = now;
	unsigned int i;

	if (me)
		hide();
	for (i = 0; i < nr_views; i++)
		finish_copy_of(&views[i]);
	for (i = 0; i < nr_views; i++)
		drain(&views[i]);
	for (i = 0; i < nr_views; i++)
		drop_all_older(&views[i]);
	if (me)
		show(me);
}

/* Memory is freed: a buffered store to it would land in its next user. */
void weak_free(void *memory, unsigned long bytes)
{
	uintptr_t from = (uintptr_t)memory, to = from + bytes, at;
	unsigned int i, j;

	for (i = 0; i < nr_views; i++) {
		struct view *view = &views[i];

		for (j = view->nr_older; j--;)
			if ((uintptr_t)view->older[j].word - from < bytes)
				drop_older(view, j);
		for (j = view->nr_stores; j--;) {
			if ((uintptr_t)view->store[j].word - from >= bytes)
				continue;
			if (view != now)
				machine_fail("memory is freed to which a store of CPU %u is on its way",
					     i);
			remove_cell(view->store, &view->nr_stores, j);
		}
	}
	for (at = from; at < to; at += 8)
		if (stamps[stamp_of((sim_u64 *)at)].word == (sim_u64 *)at)
			stamps[stamp_of((sim_u64 *)at)].word = NULL;
}

void weak_reset(unsigned int cpus)
{
	static const unsigned int often[] = { 2, 3, 8, 32 };

	memset(views, 0, sizeof(views));
	memset(stamps, 0, sizeof(stamps));
	nr_views = cpus;
	now = NULL;
	tick = 0;
	clock_now = 0;
	drain_one_in = often[machine_choose(4)];
	early_one_in = machine_choose(4);
	forget_one_in = often[machine_choose(4)];
}

/* Note a store to bytes of a word that comes next. */
static void note_store(sim_u64 *word, sim_u64 mask)
{
	struct view *view = now;
	struct cell *cell;

	drop_older_of(view, word);
	cell = own_store(view, word);
	if (view->nr_stores == MOST_CELLS ||
	    (cell && (cell->adds || cell->turn != view->turn || cell->release ||
		      view->next_releases))) {
		drain(view);
		cell = NULL;
	}
	if (!cell) {
		cell = &view->store[view->nr_stores++];
		*cell = (struct cell) {
			.word = word, .turn = view->turn,
			.release = view->next_releases,
		};
	}
	cell->others |= *word & mask & ~cell->mask;
	cell->mask |= mask;
	view->next_releases = false;
}

/* Stores that are seen at once, behind those that a barrier has put before them. */
static void order_store(void)
{
	while (now->nr_stores && now->store[0].turn != now->turn)
		commit(now, 0);
}

static void note_stores(uintptr_t at, unsigned long bytes)
{
	if (!now)
		return;
	if (now->late.bytes)
		meet_copy(at, bytes, true);
	if (!is_weak(at)) {
		order_store();
		return;
	}
	while (bytes) {
		unsigned int first = at & 7;
		unsigned int n = bytes < 8 - first ? (unsigned int)bytes :
				 8 - first;

		note_store((sim_u64 *)(at - first), bytes_mask(first, n));
		at += n;
		bytes -= n;
	}
}

/*
 * A pointer is about to be read, and its target may be read next: values that became
 * visible before the pointer are seen then. A pointer that this CPU has stored itself
 * orders nothing; of one that comes from the shim the moment is not known.
 */
static void note_pointer(const sim_u64 *word)
{
	unsigned int slot = stamp_of(word), i;

	if (!is_weak(*word) || own_store(now, word))
		return;
	if (stamps[slot].word != word) {
		drop_all_older(now);
		return;
	}
	if (stamps[slot].by == now)
		return;
	for (i = now->nr_older; i--;)
		if (now->older[i].since <= stamps[slot].at)
			drop_older(now, i);
}

static void note_loads(uintptr_t at, unsigned long bytes)
{
	if (now && now->late.bytes)
		meet_copy(at, bytes, false);
	for (; now && now->nr_older && bytes >= 8; at += 8, bytes -= 8)
		note_pointer((const sim_u64 *)(at & ~7UL));
}

void machine_bare_point(void)
{
	if (--machine_budget <= 0)
		machine_switch();
}

/* A plain access: other threads may go on before it. */
static void plain_point(void)
{
	if (now && !(++tick % PLAIN_POINT))
		machine_bare_point();
}

static void load(uintptr_t at, unsigned long bytes)
{
	plain_point();
	note_loads(at, bytes);
}

static void store(uintptr_t at, unsigned long bytes)
{
	plain_point();
	note_stores(at, bytes);
}

static sim_u64 *word_of(void *at, unsigned int bytes, sim_u64 *mask)
{
	unsigned int first = (uintptr_t)at & 7;

	*mask = bytes_mask(first, bytes);
	return (sim_u64 *)((uintptr_t)at - first);
}

static void drain_own(void)
{
	if (!now)
		return;
	finish_copy();
	drain(now);
}

/* Take part in the order of an atomic operation, which is seen at once. */
static void begin_atomic(sim_u64 *word)
{
	if (!now)
		return;
	order_store();
	drop_older_of(now, word);
	if (own_store(now, word))
		drain(now);
}

void weak_add(void *at, unsigned int bytes, unsigned long long n)
{
	sim_u64 mask, *word = word_of(at, bytes, &mask), old;
	struct cell *cell = now ? own_store(now, word) : NULL;
	unsigned int shift = 8 * ((uintptr_t)at & 7);

	if (cell && cell->adds && cell->mask == mask && cell->turn == now->turn) {
		cell->mine += n << shift;
		*word = merged(*word, mask, (*word & mask) + (n << shift));
		return;
	}
	begin_atomic(word);
	old = *word;
	if (!now || machine_choose(2) || now->nr_stores == MOST_CELLS) {
		*word = merged(old, mask, (old & mask) + (n << shift));
		became_visible(now, word, mask, old);
		return;
	}
	now->store[now->nr_stores++] = (struct cell) {
		.word = word, .mask = mask, .mine = n << shift,
		.others = old & mask, .turn = now->turn, .adds = true,
	};
	*word = merged(old, mask, (old & mask) + (n << shift));
}

unsigned long long weak_add_return(void *at, unsigned int bytes,
				   unsigned long long n, enum weak_order order)
{
	sim_u64 mask, *word = word_of(at, bytes, &mask), old;
	unsigned int shift = 8 * ((uintptr_t)at & 7);

	if (order == WEAK_FULL)
		weak_mb();
	else if (order == WEAK_RELEASE)
		drain_own();
	begin_atomic(word);
	old = *word;
	*word = merged(old, mask, (old & mask) + (n << shift));
	became_visible(now, word, mask, old);
	if (order == WEAK_ACQUIRE)
		weak_rmb();
	return (*word & mask) >> shift;
}

unsigned long long weak_cmpxchg(void *at, unsigned int bytes,
				unsigned long long old, unsigned long long new)
{
	sim_u64 mask, *word = word_of(at, bytes, &mask), was;
	unsigned int shift = 8 * ((uintptr_t)at & 7);

	weak_mb();
	was = *word;
	if ((was & mask) == ((old << shift) & mask)) {
		*word = merged(was, mask, new << shift);
		became_visible(now, word, mask, was);
	}
	return (was & mask) >> shift;
}

void weak_add_this_cpu(void *first, unsigned long distance, unsigned int bytes,
		       unsigned long long n)
{
	char *at = (char *)first + (unsigned int)machine_current->cpu * distance;
	sim_u64 mask, *word = word_of(at, bytes, &mask);
	unsigned int shift = 8 * ((uintptr_t)at & 7);

	note_stores((uintptr_t)at, bytes);
	*word = merged(*word, mask, (*word & mask) + (n << shift));
}

/* Nothing that a CPU sees otherwise lies in memory that is about to be overwritten. */
static void clear_way(struct view *view, uintptr_t from, unsigned long bytes)
{
	unsigned int i;

	for (i = view->nr_older; i--;)
		if ((uintptr_t)view->older[i].word - from < bytes)
			drop_older(view, i);
	for (i = 0; i < view->nr_stores; i++)
		if ((uintptr_t)view->store[i].word - from < bytes) {
			drain(view);
			return;
		}
}

static void note_long_store(uintptr_t to, unsigned long bytes)
{
	if (bytes <= MOST_COPY || !now) {
		note_stores(to, bytes);
		return;
	}
	clear_way(now, to, bytes);
	note_stores(to, 8);
	note_stores(to + bytes - 8, 8);
}

void weak_copy(void *to, const void *from, unsigned long bytes)
{
	unsigned long half = bytes / 2;

	plain_point();
	if (now)
		finish_copy();
	if (!now || half < 8 || machine_choose(4)) {
		plain_point();
	note_long_store((uintptr_t)to, bytes);
		memmove(to, from, bytes);
		return;
	}
	note_long_store((uintptr_t)to, half);
	memmove(to, from, half);
	now->late = (struct late_copy) {
		(uintptr_t)to + half, (uintptr_t)from + half, bytes - half,
	};
}

void weak_fill(void *to, int byte, unsigned long bytes)
{
	plain_point();
	if (now)
		finish_copy();
	note_long_store((uintptr_t)to, bytes);
	memset(to, byte, bytes);
}

/* The hooks. Volatile accesses have had their point. */
#define HOOKS(n) \
	void __tsan_read##n(void *at) { load((uintptr_t)at, n); } \
	void __tsan_unaligned_read##n(void *at) { load((uintptr_t)at, n); } \
	void __tsan_write##n(void *at) { store((uintptr_t)at, n); } \
	void __tsan_unaligned_write##n(void *at) { store((uintptr_t)at, n); } \
	void __tsan_volatile_read##n(void *at) { note_loads((uintptr_t)at, n); } \
	void __tsan_unaligned_volatile_read##n(void *at) \
	{ \
		note_loads((uintptr_t)at, n); \
	} \
	void __tsan_volatile_write##n(void *at) { note_stores((uintptr_t)at, n); } \
	void __tsan_unaligned_volatile_write##n(void *at) \
	{ \
		note_stores((uintptr_t)at, n); \
	}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *at, unsigned long bytes)
{
	load((uintptr_t)at, bytes);
}

void __tsan_write_range(void *at, unsigned long bytes)
{
	store((uintptr_t)at, bytes);
}

void __tsan_init(void)
{
}

/* The shim's functions begin with a full barrier: see the Makefile. */
void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)function;
	(void)caller;
	weak_mb();
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
