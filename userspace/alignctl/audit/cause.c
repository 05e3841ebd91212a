// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/cause.h"
#include "audit/position.h"
#include "base/message.h"
#include "base/mix.h"
#include "geometry.h"

#define ENDS		65536U	/* last blocks of writes that are remembered */
#define NAMES		64U	/* processes that are told apart */
#define PHASES		(AUDIT_BLOCK_MAX / ALIGN_SECTOR_SIZE)
/* Share of the writes, in per cent, below which nothing needs a cause. */
#define FEW_PER_CENT	1
/* Touches below which a recording is too short for a verdict. */
#define ENOUGH		100
/* Share of the touches, in per cent, that a cause must explain. */
#define MOST_PER_CENT	70
/* Writes after which one that goes on at the same place is another stream's. */
#define SOON		64U
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
	LOOK_SPLIT,
	NR_LOOKS,
};

/**
 * struct end - a write that ended inside a block
 * @block: number of the block; the entry is free if @used is not set
 * @at: end of the write, bytes
 * @bytes: length of the write
 * @phase: start of the write inside its block, sectors
 * @index: number of the write
 * @name: index of the process
 * @look: look of the touch at its end
 * @used: the entry holds a write
 */
struct end {
	uint64_t block;
	uint64_t at;
	uint64_t bytes;
	uint64_t index;
	uint32_t phase;
	uint32_t name;
	enum look look;
	bool used;
};

/**
 * struct cause_search - a search for a cause
 * @place: the recorded device
 * @cause: counts so far
 * @looks: number of touches by look
 * @whole: touches of LOOK_WHOLE by phase
 * @joined: touches of @whole at which another write goes on
 * @small: touches of LOOK_SMALL by process
 * @names: names of the processes
 * @nr_names: number of names
 * @ends: the ends of writes, by block
 */
struct cause_search {
	struct cause_place place;
	struct cause cause;
	uint64_t looks[NR_LOOKS];
	uint64_t whole[PHASES];
	uint64_t joined[PHASES];
	uint64_t small[NAMES];
	char names[NAMES][TRACE_COMM_BYTES];
	uint32_t nr_names;
	struct end ends[ENDS];
};

struct cause_search *cause_new(const struct cause_place *place)
{
	struct cause_search *search = memory_or_exit(calloc(1,
							    sizeof(*search)));

	search->place = *place;
	return search;
}

/* Return the index of a process's name. */
static uint32_t name_of(struct cause_search *search, const char *comm)
{
	uint32_t i;

	for (i = 0; i < search->nr_names; i++)
		if (!strncmp(search->names[i], comm, TRACE_COMM_BYTES))
			return i;
	/* the last one stands for all others, and has no name */
	if (search->nr_names == NAMES - 1)
		return NAMES - 1;
	memcpy(search->names[i], comm, TRACE_COMM_BYTES);
	search->names[i][TRACE_COMM_BYTES - 1] = '\0';
	search->nr_names++;
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

static void count(struct cause_search *search, const struct end *end,
		  enum look look)
{
	search->cause.touches++;
	search->looks[look]++;
	if (look == LOOK_WHOLE)
		search->whole[end->phase]++;
	else if (look == LOOK_SMALL)
		search->small[end->name]++;
}

/* Explain the touch at the end of @before by the write that goes on there. */
static void explain(struct cause_search *search, const struct end *before,
		    enum look look)
{
	switch (before->look) {
	case LOOK_WHOLE:
		/* which of both it is, only all of them show */
		if (look == LOOK_STREAM) {
			search->joined[before->phase]++;
			return;
		}
		search->whole[before->phase]--;
		break;
	case LOOK_SMALL:
		search->small[before->name]--;
		break;
	case LOOK_OTHER:
		break;
	default:
		return;
	}
	search->looks[before->look]--;
	search->looks[look]++;
}

static struct end *slot_of(struct cause_search *search, uint64_t block)
{
	return &search->ends[mix64(block) % ENDS];
}

/*
 * Find out whether a write goes on where another one ended, in the same block.
 * Return: LOOK_SPLIT, LOOK_STREAM, or @look if it does not.
 */
static enum look join(struct cause_search *search, const struct end *write,
		      uint64_t start, uint64_t first_block, enum look look)
{
	struct end *before = slot_of(search, first_block);
	enum look joined = LOOK_STREAM;

	if (!before->used || before->block != first_block ||
	    write->index - before->index > SOON ||
	    start > before->at || write->at <= before->at)
		return look;
	if (start == before->at && before->bytes == search->place.max_io &&
	    before->name == write->name)
		joined = LOOK_SPLIT;
	explain(search, before, joined);
	before->used = false;
	if (look == LOOK_KERNEL)
		return look;
	if (look == LOOK_WHOLE && joined == LOOK_STREAM) {
		search->joined[write->phase]++;
		return look;
	}
	return joined;
}

void cause_add(struct cause_search *search,
	       const struct trace_request *request)
{
	const struct cause_place *place = &search->place;
	uint64_t start, end, first_block, last_block;
	struct end write;
	enum look look;

	if ((request->op != TRACE_WRITE &&
	     request->op != TRACE_WRITE_ZEROES) || !request->bytes ||
	    request->offset > INT64_MAX || request->bytes > INT64_MAX)
		return;
	search->cause.writes++;
	/* from the boundary before the device */
	start = request->offset + place->shift;
	end = start + request->bytes;
	if (start % place->block == 0 && end % place->block == 0)
		return;
	search->cause.misaligned++;
	first_block = start / place->block;
	last_block = end / place->block;
	look = look_of(search, request);
	write = (struct end) {
		.block = last_block,
		.at = end,
		.bytes = request->bytes,
		.index = search->cause.writes,
		.phase = (uint32_t)(start % place->block) / ALIGN_SECTOR_SIZE,
		.name = name_of(search, request->comm),
		.look = look,
		.used = true,
	};
	/* one touch in a single block, or one at each end that is inside one */
	if (start % place->block || first_block == last_block) {
		enum look first = join(search, &write, start, first_block,
				       look);

		count(search, &write, first);
		if (first_block == last_block)
			write.look = first;
	}
	if (end % place->block) {
		if (first_block != last_block)
			count(search, &write, look);
		*slot_of(search, last_block) = write;
	}
}

/* Check for at least @per_cent of @all. */
static bool at_least(uint64_t part, uint64_t all, unsigned int per_cent)
{
	return part >= all / 100 * per_cent + all % 100 * per_cent / 100;
}

static uint32_t largest(const uint64_t *counts, uint32_t nr)
{
	uint32_t i, most = 0;

	for (i = 1; i < nr; i++)
		if (counts[i] > counts[most])
			most = i;
	return most;
}

static void decide(const struct cause_search *search, struct cause *cause)
{
	uint32_t phase = largest(search->whole, PHASES);
	uint64_t shifted = search->whole[phase];
	uint64_t explained[CAUSE_UNKNOWN] = {
		[CAUSE_STREAM] = search->looks[LOOK_STREAM],
		[CAUSE_RANDOM] = search->looks[LOOK_SMALL],
		[CAUSE_FS_SECTOR] = search->looks[LOOK_KERNEL],
		[CAUSE_SPLIT] = search->looks[LOOK_SPLIT],
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
	most = largest(explained, CAUSE_UNKNOWN);
	cause->explained = explained[most];
	cause->kind = CAUSE_UNKNOWN;
	if (cause->touches >= ENOUGH &&
	    at_least(explained[most], cause->touches, MOST_PER_CENT))
		cause->kind = (enum cause_kind)most;
	cause->into = phase * ALIGN_SECTOR_SIZE;
	if (cause->kind == CAUSE_RANDOM)
		memcpy(cause->comm,
		       search->names[largest(search->small, NAMES)],
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
		decide(search, cause);
	free(search);
}

void cause_of_ledger(const struct cause_ledger *ledger, uint32_t into,
		     struct cause *cause)
{
	uint32_t bin = ledger->logical ? into / ledger->logical : 0;
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
		[CAUSE_UNKNOWN] = "cannot-tell",
	};

	return names[kind];
}
