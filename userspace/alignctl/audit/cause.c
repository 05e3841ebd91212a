// SPDX-License-Identifier: GPL-2.0
/*
 * Which sequence of touches is which cause, by what the next write to the block
 * of a touch does:
 *
 *   it goes on where the touch ended, or completes the block: a stream
 *	a log of small records, alone or several in turn; a circular log, also
 *	one of a few blocks; a log whose long commits begin with its last block
 *   it writes again what the touch wrote, and leaves a part: a rewrite
 *	a log sector written at each commit; a log block that grows from its
 *	start by small commits; a superblock, or a few of them in turn
 *   there is none, or it comes much later: random
 *	pages below a block, some of which meet a block twice by chance
 *
 * The measure of a rewrite is the share of a touch that its process wrote into
 * the block before: at least half. "Much later" is when the block is no longer
 * among the last FEW_BLOCKS that the process was in. If writes are random over
 * N blocks, no more than 1 - (1 - 1/N)^(2 * FEW_BLOCKS) of the touches come that
 * soon after, or before, another one in their block: 64 % of 16 blocks, and less
 * of more. That is below MOST_PER_CENT, even if all writes to a block hit the
 * same sectors.
 *
 * Flushes do not decide between causes. Whether the writes of a rewrite were
 * made durable one by one is said beside it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/cause.h"
#include "audit/position.h"
#include "base/message.h"
#include "base/mix.h"
#include "geometry.h"

#define TOUCHES		65536U	/* blocks whose last touch is remembered */
#define NAMES		64U	/* processes that are told apart */
#define PHASES		(AUDIT_BLOCK_MAX / ALIGN_SECTOR_SIZE)
#define UNITS		64U	/* parts of a block that are told apart */
/* Share of the writes, in per cent, below which nothing needs a cause. */
#define FEW_PER_CENT	1
/* Touches below which a recording is too short for a verdict. */
#define ENOUGH		100
/* Share of the touches, in per cent, that a cause must explain. */
#define MOST_PER_CENT	70
/* Writes after which one that goes on at the same place is another stream's. */
#define SOON		64U
/* The last blocks that a process was in, which it can rewrite. */
#define FEW_BLOCKS	8U
/*
 * Share of the whole-block writes at one phase, in per cent, that must not go
 * on where another write ended: one stream has none, a shifted partition has
 * some.
 */
#define APART_PER_CENT	5

/* What a touch looks like when it comes; a later write explains some. */
enum look {
	LOOK_WHOLE,		/* of a write of whole blocks' length */
	LOOK_SMALL,		/* of a write shorter than a block */
	LOOK_KERNEL,	/* of a kernel thread, in the file system's unit */
	LOOK_OTHER,
	LOOK_STREAM,
	LOOK_REWRITE,
	LOOK_SPLIT,
	NR_LOOKS,
};

/**
 * struct touch - a touch, the last one of its block
 * @block: number of the block; the entry is free if @used is not set
 * @start: start of the write, bytes
 * @end: end of the touch, bytes
 * @bytes: length of the write
 * @index: number of the write
 * @visit: number of the process's visit to a block
 * @flushes: number of flushes before the write
 * @own: units of the block that the touch wrote
 * @written: units that its process wrote, while it rewrote the block or went on
 * @phase: start of the write inside its block, sectors
 * @name: index of the process
 * @look: look of the touch
 * @fua: the write was durable when it ended
 * @used: the entry holds a touch
 */
struct touch {
	uint64_t block;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
	uint64_t index;
	uint64_t visit;
	uint64_t flushes;
	uint64_t own;
	uint64_t written;
	uint32_t phase;
	uint32_t name;
	enum look look;
	bool fua;
	bool used;
};

/**
 * struct writer - the processes of a name
 * @name: the name
 * @small: number of touches of LOOK_SMALL
 * @rewritten: number of touches of LOOK_REWRITE
 * @visits: number of visits to blocks; consecutive touches of a block are one
 * @block: block of the last touch
 * @end: end of the last write with a touch, bytes
 */
struct writer {
	char name[TRACE_COMM_BYTES];
	uint64_t small;
	uint64_t rewritten;
	uint64_t visits;
	uint64_t block;
	uint64_t end;
};

/**
 * struct cause_search - a search for a cause
 * @place: the recorded device
 * @cause: counts so far
 * @looks: number of touches by look
 * @whole: touches of LOOK_WHOLE by phase
 * @joined: touches of @whole at which another write goes on
 * @flushes: number of flushes
 * @writers: the processes, by name
 * @nr_writers: number of names
 * @touches: the last touches, by block
 */
struct cause_search {
	struct cause_place place;
	struct cause cause;
	uint64_t looks[NR_LOOKS];
	uint64_t whole[PHASES];
	uint64_t joined[PHASES];
	uint64_t flushes;
	struct writer writers[NAMES];
	uint32_t nr_writers;
	struct touch touches[TOUCHES];
};

struct cause_search *cause_new(const struct cause_place *place)
{
	struct cause_search *search = memory_or_exit(calloc(1,
							    sizeof(*search)));

	search->place = *place;
	return search;
}

static bool has_name(const struct writer *writer, const char *comm)
{
	return !strncmp(writer->name, comm, TRACE_COMM_BYTES);
}

/* Return the index of a process's name. */
static uint32_t name_of(struct cause_search *search, const char *comm)
{
	uint32_t i;

	for (i = 0; i < search->nr_writers; i++)
		if (has_name(&search->writers[i], comm))
			return i;
	/* the last one stands for all others, and has no name */
	if (search->nr_writers == NAMES - 1)
		return NAMES - 1;
	memcpy(search->writers[i].name, comm, TRACE_COMM_BYTES);
	search->writers[i].name[TRACE_COMM_BYTES - 1] = '\0';
	search->nr_writers++;
	return i;
}

/* Check for the threads in which file systems write on their own account. */
static bool is_kernel(const char *comm)
{
	static const char *const names[] = { "kworker", "xfsaild", "jbd2" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(comm, names[i], strlen(names[i])))
			return true;
	return false;
}

static enum look look_of(const struct cause_search *search,
			 const struct trace_request *request)
{
	const struct cause_place *place = &search->place;

	if (request->bytes % place->block == 0)
		return LOOK_WHOLE;
	if (place->fs_unit && is_kernel(request->comm) &&
	    request->offset % place->fs_unit == 0 &&
	    request->bytes % place->fs_unit == 0)
		return LOOK_KERNEL;
	return request->bytes < place->block ? LOOK_SMALL : LOOK_OTHER;
}

/* Return the counter of a touch among those of its look, or NULL. */
static uint64_t *counter_of(struct cause_search *search,
			    const struct touch *touch)
{
	switch (touch->look) {
	case LOOK_WHOLE:
		return &search->whole[touch->phase];
	case LOOK_SMALL:
		return &search->writers[touch->name].small;
	case LOOK_REWRITE:
		return &search->writers[touch->name].rewritten;
	default:
		return NULL;
	}
}

static void count_touch(struct cause_search *search, const struct touch *touch)
{
	uint64_t *counter = counter_of(search, touch);

	search->looks[touch->look]++;
	if (counter)
		++*counter;
}

/* Change the look of a touch that has been counted. */
static void change_look(struct cause_search *search, struct touch *touch,
			enum look look)
{
	uint64_t *counter = counter_of(search, touch);

	search->looks[touch->look]--;
	if (counter)
		--*counter;
	touch->look = look;
	count_touch(search, touch);
}

/* Explain a touch by the write that goes on at its end. */
static void explain_touch(struct cause_search *search, struct touch *before,
			  enum look look)
{
	switch (before->look) {
	case LOOK_WHOLE:
		/* which of both it is, only all of them show */
		if (look == LOOK_STREAM) {
			search->joined[before->phase]++;
			return;
		}
		break;
	case LOOK_SMALL:
	case LOOK_OTHER:
		break;
	default:
		return;
	}
	change_look(search, before, look);
}

static struct touch *slot_of(struct cause_search *search, uint64_t block)
{
	return &search->touches[mix64(block) % TOUCHES];
}

/* Return the units of a block that the bytes from @from to @end are in. */
static uint64_t units_of(uint32_t block, uint64_t from, uint64_t end)
{
	const uint32_t unit = block / UNITS > ALIGN_SECTOR_SIZE ?
		block / UNITS : ALIGN_SECTOR_SIZE;
	const uint64_t first = from % block / unit;
	const uint64_t last = (end - 1) % block / unit;

	return UINT64_MAX >> (UNITS - 1 - (last - first)) << first;
}

/* Check for at least half of the units of @part in @all. */
static bool has_half(uint64_t all, uint64_t part)
{
	return 2 * __builtin_popcountll(all & part) >=
	       __builtin_popcountll(part);
}

/* Check for a block among the last that its process was in. */
static bool is_recent(const struct touch *before, const struct touch *touch)
{
	return before->name == touch->name &&
	       touch->visit - before->visit <= FEW_BLOCKS;
}

/* Check for a write that begins in the block, and goes on after @before. */
static bool goes_on(const struct cause_search *search,
		    const struct touch *before, const struct touch *touch)
{
	return touch->index - before->index <= SOON &&
	       touch->start / search->place.block == touch->block &&
	       touch->start <= before->end && touch->end > before->end;
}

/* Check for a touch that can be of a block that is rewritten in part. */
static bool is_part(const struct touch *touch)
{
	return touch->look == LOOK_SMALL || touch->look == LOOK_OTHER ||
	       touch->look == LOOK_STREAM || touch->look == LOOK_REWRITE;
}

/* Check for a touch that writes again what is in the block, and leaves a part. */
static bool rewrites(const struct cause_search *search,
		     const struct touch *before, const struct touch *touch)
{
	const uint32_t block = search->place.block;

	if (!is_part(before) || !is_part(touch) || !is_recent(before, touch) ||
	    touch->start == search->writers[touch->name].end)
		return false;
	if (goes_on(search, before, touch) &&
	    (touch->start == before->end || touch->end % block == 0))
		return false;
	return has_half(before->written, touch->own);
}

/* Take a touch that rewrites its block into account, before it is counted. */
static void count_rewrite(struct cause_search *search, struct touch *before,
			  struct touch *touch)
{
	search->cause.rewrites++;
	search->cause.durable += before->fua ||
				 before->flushes != search->flushes;
	if (before->look != LOOK_REWRITE && has_half(touch->own, before->own))
		change_look(search, before, LOOK_REWRITE);
	touch->look = LOOK_REWRITE;
}

/* Take a touch that goes on after another one into account. */
static void join_touch(struct cause_search *search, struct touch *before,
		       struct touch *touch)
{
	enum look joined = LOOK_STREAM;

	if (touch->start == before->end &&
	    before->bytes == search->place.max_io &&
	    before->name == touch->name)
		joined = LOOK_SPLIT;
	explain_touch(search, before, joined);
	if (touch->look == LOOK_WHOLE && joined == LOOK_STREAM)
		search->joined[touch->phase]++;
	else if (touch->look != LOOK_KERNEL)
		touch->look = joined;
}

/* Take the touch of a write, from byte @from of it on, into account. */
static void add_touch(struct cause_search *search, struct touch touch,
		      uint64_t from)
{
	struct writer *writer = &search->writers[touch.name];
	struct touch *before = slot_of(search, touch.block);

	if (writer->block != touch.block)
		writer->visits++;
	writer->block = touch.block;
	touch.visit = writer->visits;
	touch.own = units_of(search->place.block, from, touch.end);
	touch.written = touch.own;
	if (before->used && before->block == touch.block) {
		if (rewrites(search, before, &touch))
			count_rewrite(search, before, &touch);
		else if (goes_on(search, before, &touch))
			join_touch(search, before, &touch);
		if (is_recent(before, &touch))
			touch.written |= before->written;
	}
	search->cause.touches++;
	count_touch(search, &touch);
	*before = touch;
}

/*
 * Explain the last touch of a block by a write of the same process that covers
 * the block.
 */
static void cover_touch(struct cause_search *search,
			const struct trace_request *request, uint64_t block)
{
	struct touch *before = slot_of(search, block);
	const struct writer *writer = &search->writers[before->name];

	if (!before->used || before->block != block ||
	    !has_name(writer, request->comm))
		return;
	if (before->look != LOOK_WHOLE &&
	    search->cause.writes - before->index <= SOON &&
	    writer->visits - before->visit <= FEW_BLOCKS)
		explain_touch(search, before, LOOK_STREAM);
	before->used = false;
}

void cause_add(struct cause_search *search,
	       const struct trace_request *request)
{
	const uint32_t block = search->place.block;
	uint64_t start, end, first_block, last_block;
	struct touch touch;

	search->flushes += request->op == TRACE_FLUSH || request->preflush;
	if ((request->op != TRACE_WRITE &&
	     request->op != TRACE_WRITE_ZEROES) || !request->bytes ||
	    request->offset > INT64_MAX || request->bytes > INT64_MAX)
		return;
	search->cause.writes++;
	/* from the boundary before the device */
	start = request->offset + search->place.shift;
	end = start + request->bytes;
	first_block = start / block;
	last_block = end / block;
	if (start % block == 0 && first_block != last_block)
		cover_touch(search, request, first_block);
	if (start % block == 0 && end % block == 0)
		return;
	search->cause.misaligned++;
	touch = (struct touch) {
		.block = first_block,
		.start = start,
		.end = first_block == last_block ? end :
						   (first_block + 1) * block,
		.bytes = request->bytes,
		.index = search->cause.writes,
		.flushes = search->flushes,
		.phase = (uint32_t)(start % block) / ALIGN_SECTOR_SIZE,
		.name = name_of(search, request->comm),
		.look = look_of(search, request),
		.fua = request->fua,
		.used = true,
	};
	/* one touch in a single block, or one at each end that is inside one */
	if (start % block || first_block == last_block)
		add_touch(search, touch, start);
	if (end % block && first_block != last_block) {
		touch.block = last_block;
		touch.end = end;
		add_touch(search, touch, last_block * block);
	}
	search->writers[touch.name].end = end;
}

/* Check for at least @per_cent of @all. */
static bool at_least(uint64_t part, uint64_t all, unsigned int per_cent)
{
	return part >= all / 100 * per_cent + all % 100 * per_cent / 100;
}

static uint32_t find_largest(const uint64_t *counts, uint32_t nr)
{
	uint32_t i, most = 0;

	for (i = 1; i < nr; i++)
		if (counts[i] > counts[most])
			most = i;
	return most;
}

/* Return the name of the process with most touches of a cause. */
static const char *find_busiest(const struct cause_search *search,
				enum cause_kind kind)
{
	uint64_t counts[NAMES];
	uint32_t i;

	for (i = 0; i < NAMES; i++)
		counts[i] = kind == CAUSE_REWRITE ?
			search->writers[i].rewritten : search->writers[i].small;
	return search->writers[find_largest(counts, NAMES)].name;
}

static void decide_cause(const struct cause_search *search, struct cause *cause)
{
	uint32_t phase = find_largest(search->whole, PHASES);
	uint64_t shifted = search->whole[phase];
	uint64_t explained[CAUSE_UNKNOWN] = {
		[CAUSE_STREAM] = search->looks[LOOK_STREAM],
		[CAUSE_RANDOM] = search->looks[LOOK_SMALL],
		[CAUSE_FS_SECTOR] = search->looks[LOOK_KERNEL],
		[CAUSE_SPLIT] = search->looks[LOOK_SPLIT],
		[CAUSE_REWRITE] = search->looks[LOOK_REWRITE],
	};
	uint32_t i, most;

	/* whole blocks at other phases are of a stream with any lengths */
	for (i = 0; i < PHASES; i++)
		if (i != phase)
			explained[CAUSE_STREAM] += search->joined[i];
	if (!at_least(shifted, search->looks[LOOK_WHOLE], MOST_PER_CENT))
		explained[CAUSE_STREAM] += search->joined[phase];
	else if (at_least(shifted - search->joined[phase], shifted,
			  APART_PER_CENT))
		explained[CAUSE_SHIFT] = shifted;
	most = find_largest(explained, CAUSE_UNKNOWN);
	cause->explained = explained[most];
	cause->kind = CAUSE_UNKNOWN;
	if (cause->touches >= ENOUGH &&
	    at_least(explained[most], cause->touches, MOST_PER_CENT))
		cause->kind = (enum cause_kind)most;
	cause->into = phase * ALIGN_SECTOR_SIZE;
	if (cause->kind == CAUSE_RANDOM || cause->kind == CAUSE_REWRITE)
		memcpy(cause->comm, find_busiest(search, cause->kind),
		       TRACE_COMM_BYTES);
}

/* Check for so few misaligned writes that they need no cause. */
static bool is_little(const struct cause *cause)
{
	return cause->misaligned < cause->writes / 100 * FEW_PER_CENT +
				   cause->writes % 100 * FEW_PER_CENT / 100;
}

void cause_end(struct cause_search *search, struct cause *cause)
{
	*cause = search->cause;
	/* what was recorded arrived at a device that left all of it to the drive */
	cause->drive = cause->touches;
	if (!cause->touches || is_little(cause))
		cause->kind = CAUSE_NONE;
	else
		decide_cause(search, cause);
	free(search);
}

void cause_of_ledger(const struct cause_ledger *ledger, uint32_t into,
		     struct cause *cause)
{
	uint32_t bin = ledger->bin_bytes ? into / ledger->bin_bytes : 0;
	uint64_t there = bin && bin < ALIGN_PHASE_BINS ? ledger->phase[bin] : 0;

	*cause = (struct cause) {
		.kind = CAUSE_UNKNOWN, .writes = ledger->writes,
		.misaligned = ledger->misaligned, .touches = ledger->touches,
		.drive = ledger->drive, .into = into,
	};
	if (!cause->touches || is_little(cause)) {
		cause->kind = CAUSE_NONE;
	} else if (cause->touches < ENOUGH) {
		return;
	} else if (there && at_least(there, cause->misaligned, MOST_PER_CENT)) {
		cause->kind = CAUSE_SHIFT;
		/* the ledger has no touches by phase */
		cause->of_writes = true;
		cause->explained = there;
	} else if (ledger->coalesce &&
		   at_least(ledger->completed, cause->touches, MOST_PER_CENT)) {
		cause->kind = CAUSE_STREAM;
		cause->explained = ledger->completed;
	}
}

const char *cause_name(enum cause_kind kind)
{
	static const char *const names[] = {
		[CAUSE_NONE] = "none",
		[CAUSE_SHIFT] = "shift",
		[CAUSE_STREAM] = "stream",
		[CAUSE_RANDOM] = "random",
		[CAUSE_FS_SECTOR] = "fs-sector",
		[CAUSE_SPLIT] = "split",
		[CAUSE_REWRITE] = "rewrite",
		[CAUSE_UNKNOWN] = "cannot-tell",
	};

	return names[kind];
}
