// SPDX-License-Identifier: GPL-2.0
/*
 * Read the source again to model each block, read the device in stretches, and
 * compare.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "engine/io_queue.h"
#include "replay/content.h"

#define BLOCK_SECTORS	8U
#define BLOCK_BYTES	(BLOCK_SECTORS * PATTERN_SECTOR)
#define READ_BLOCKS	64U		/* 256 KiB, as prepare.c writes at once */
#define READ_DEPTH	16U
#define MAX_BLOCKS	((16U << 20) / sizeof(struct block))
#define MISMATCHES_SHOWN	5U

/* A piece per sector, but enough for each byte of two blocks, and a change. */
#define MIN_PIECES	(2 * BLOCK_BYTES + CHANGE_PIECES)
/* A piece that the start or the end of a request cuts becomes up to three. */
#define CHANGE_PIECES	6U

/* What a sector must hold: the number of a request, from 1, or one of these. */
#define ANYTHING	0U
#define ZEROES		UINT64_MAX
#define PREPARED	(UINT64_C(1) << 62)
/* Flag: the request was not whole sectors, its bytes are of pattern_stream(). */
#define STREAM		(UINT64_C(1) << 63)

/**
 * struct block - a block of 8 sectors with known content
 * @number: number of the block
 * @holds: required content of each sector, or index of its first piece
 * @durable: last durable content of each sector; ANYTHING: none that counts
 * @zeroed: bits of sectors that a request since then zeroed
 * @cut: bits of sectors that are in pieces
 * @doubtful: bits of sectors that a failed request may have changed, or not
 * @doubtful_zeroes: bits of sectors that a failed request may have zeroed
 */
struct block {
	uint64_t number;
	uint64_t holds[BLOCK_SECTORS];
	uint64_t durable[BLOCK_SECTORS];
	uint8_t zeroed;
	uint8_t cut;
	uint8_t doubtful;
	uint8_t doubtful_zeroes;
};

/**
 * struct piece - a part of a sector, from the end of the piece before
 * @holds: required content of the piece
 * @next: index of the next piece; 0: none
 * @end: byte of the sector after the piece
 */
struct piece {
	uint64_t holds;
	uint32_t next;
	uint16_t end;
};

/**
 * struct model - what the blocks of one pass must hold
 * @content: parameters of the comparison
 * @first: first block of the pass
 * @end: block after the pass; falls when more blocks are known than fit
 * @max: size of @block, blocks
 * @nr: number of blocks in @block
 * @block: blocks with known content
 * @slots: length of @slot, a power of two
 * @slot: hash table of indices into @block, from 1; 0: free slot
 * @piece: pieces of cut sectors, from index 1
 * @max_pieces: size of @piece, pieces
 * @touched_pieces: number of pieces that were ever used
 * @free_piece: head of the list of free pieces; 0: empty
 * @nr_free: number of free pieces
 */
struct model {
	const struct content *content;
	uint64_t first;
	uint64_t end;
	uint32_t max;
	uint32_t nr;
	struct block *block;
	uint32_t slots;
	uint32_t *slot;
	struct piece *piece;
	uint32_t max_pieces;
	uint32_t touched_pieces;
	uint32_t free_piece;
	uint32_t nr_free;
};

/* Allocate a piece; the caller knows that one is free. */
static uint32_t take_piece(struct model *m)
{
	uint32_t taken = m->free_piece;

	m->nr_free--;
	if (!taken)
		return ++m->touched_pieces;
	m->free_piece = m->piece[taken].next;
	return taken;
}

/* Free the pieces of a sector. */
static void give_pieces(struct model *m, struct block *block, uint32_t sector)
{
	uint32_t piece = block->holds[sector];

	if (!(block->cut >> sector & 1))
		return;
	block->cut &= ~(1U << sector);
	while (piece) {
		uint32_t next = m->piece[piece].next;

		m->piece[piece].next = m->free_piece;
		m->free_piece = piece;
		m->nr_free++;
		piece = next;
	}
}

/* Return the slot of block @number, or the free slot where it belongs. */
static uint32_t *find_slot(const struct model *m, uint64_t number)
{
	uint32_t at = mix64(number) & (m->slots - 1);

	while (m->slot[at] && m->block[m->slot[at] - 1].number != number)
		at = (at + 1) & (m->slots - 1);
	return &m->slot[at];
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct block *)a)->number;
	uint64_t y = ((const struct block *)b)->number;

	return (x > y) - (x < y);
}

/* Drop the upper half of the blocks; a later pass takes them. */
static void shrink_model(struct model *m)
{
	uint32_t i, k;

	qsort(m->block, m->nr, sizeof(*m->block), by_number);
	for (i = m->nr / 2; i < m->nr; i++)
		for (k = 0; k < BLOCK_SECTORS; k++)
			give_pieces(m, &m->block[i], k);
	m->nr /= 2;
	m->end = m->block[m->nr].number;
	memset(m->slot, 0, m->slots * sizeof(*m->slot));
	for (i = 0; i < m->nr; i++)
		*find_slot(m, m->block[i].number) = i + 1;
}

/* Return the entry of block @number, maybe a new one; NULL: a later pass takes it. */
static struct block *want_block(struct model *m, uint64_t number)
{
	uint32_t *slot = find_slot(m, number);

	if (*slot)
		return &m->block[*slot - 1];
	if (m->nr == m->max) {
		shrink_model(m);
		if (number >= m->end)
			return NULL;
		slot = find_slot(m, number);
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): max > 0 */
	m->block[m->nr] = (struct block) { .number = number };
	*slot = ++m->nr;
	return &m->block[m->nr - 1];
}

/**
 * struct change - what a request does to a range of bytes
 * @first: first byte of the range
 * @end: byte after the range
 * @what: content of the range after the request
 * @durable: the request was durable
 * @doubtful: the request failed, so the bytes may hold this or what they held
 */
struct change {
	uint64_t first;
	uint64_t end;
	uint64_t what;
	bool durable;
	bool doubtful;
};

/* Make room for the pieces of a change; the pieces of one block always fit. */
static void want_pieces(struct model *m)
{
	while (m->nr_free < CHANGE_PIECES && m->nr > 1)
		shrink_model(m);
}

/* Append a piece that ends at @end to the list at @link, if it is not empty. */
static uint32_t *add_piece(struct model *m, uint32_t *link, uint32_t from,
			   uint32_t end, uint64_t holds)
{
	uint32_t piece;

	if (from >= end)
		return link;
	piece = take_piece(m);
	m->piece[piece] = (struct piece) { .holds = holds, .end = end };
	*link = piece;
	return &m->piece[piece].next;
}

/* Note that bytes @from to @to of a sector hold @what. */
static void cut_sector(struct model *m, struct block *block, uint32_t sector,
		       uint32_t from, uint32_t to, uint64_t what)
{
	const struct piece whole = {
		.holds = block->holds[sector], .end = PATTERN_SECTOR,
	};
	bool was_cut = block->cut >> sector & 1, done = false;
	uint32_t old = block->holds[sector], start = 0, first = 0;
	uint32_t *link = &first;

	do {
		const struct piece was = was_cut ? m->piece[old] : whole;

		if (was_cut) {
			m->piece[old].next = m->free_piece;
			m->free_piece = old;
			m->nr_free++;
		}
		link = add_piece(m, link, start,
				 was.end < from ? was.end : from, was.holds);
		if (!done && was.end > from) {
			link = add_piece(m, link, from, to, what);
			done = true;
		}
		link = add_piece(m, link, start > to ? start : to, was.end,
				 was.holds);
		start = was.end;
		old = was.next;
	} while (old);
	block->cut |= 1U << sector;
	block->holds[sector] = first;
}

/* Note that a request which failed may have put @what into a sector. */
static void doubt_sector(struct model *m, struct block *block, uint32_t sector,
			 uint64_t what)
{
	/* of parts of a sector nothing can be told any more */
	if (block->cut >> sector & 1) {
		give_pieces(m, block, sector);
		block->holds[sector] = ANYTHING;
	}
	block->doubtful |= 1U << sector;
	if (what == ZEROES) {
		block->doubtful_zeroes |= 1U << sector;
		block->zeroed |= 1U << sector;
	}
}

/* Forget the expected content of a doubtful sector, a part of which changes now. */
static void end_doubt(struct model *m, struct block *block, uint32_t sector)
{
	if (!(block->doubtful >> sector & 1))
		return;
	give_pieces(m, block, sector);
	block->doubtful &= ~(1U << sector);
	block->doubtful_zeroes &= ~(1U << sector);
	block->holds[sector] = ANYTHING;
}

/* Note what a change does to the sectors of one block. */
static void note_in_block(struct model *m, struct block *block,
			  const struct change *change)
{
	uint32_t i;

	for (i = 0; i < BLOCK_SECTORS; i++) {
		uint64_t start = block->number * BLOCK_BYTES +
				 i * PATTERN_SECTOR;
		uint64_t end = start + PATTERN_SECTOR;

		if (end <= change->first || start >= change->end)
			continue;
		if (start < change->first || end > change->end) {
			end_doubt(m, block, i);
			cut_sector(m, block, i, start < change->first ?
				   change->first - start : 0,
				   (end > change->end ? change->end : end) - start,
				   change->doubtful ? ANYTHING : change->what);
			continue;
		}
		if (change->doubtful) {
			doubt_sector(m, block, i, change->what);
			continue;
		}
		give_pieces(m, block, i);
		block->doubtful &= ~(1U << i);
		block->doubtful_zeroes &= ~(1U << i);
		block->holds[i] = change->what;
		/* once forgotten, durable content is no promise any more */
		if (change->durable || change->what == ANYTHING) {
			block->durable[i] = change->what;
			block->zeroed &= ~(1U << i);
		}
		if (change->what == ZEROES)
			block->zeroed |= 1U << i;
	}
}

/* Change those blocks that are in the model, and add none. */
static void change_known(struct model *m, const struct change *change)
{
	uint64_t number = change->first / BLOCK_BYTES;
	uint64_t last = (change->end - 1) / BLOCK_BYTES;
	uint32_t i;

	want_pieces(m);
	if (last - number >= m->nr) {
		for (i = 0; i < m->nr; i++)
			note_in_block(m, &m->block[i], change);
		return;
	}
	for (; number <= last; number++) {
		i = *find_slot(m, number);
		if (i)
			note_in_block(m, &m->block[i - 1], change);
	}
}

/* Apply a change to all of its blocks that belong to this pass. */
static void note_change(struct model *m, const struct change *change)
{
	uint64_t number = change->first / BLOCK_BYTES;
	uint64_t last = (change->end - 1) / BLOCK_BYTES;

	want_pieces(m);
	if (number < m->first)
		number = m->first;
	for (; number <= last && number < m->end; number++) {
		struct block *block = want_block(m, number);

		if (block)
			note_in_block(m, block, change);
	}
}

/* Return whether request @number of the source failed. */
static bool has_failed(const struct engine_done *done, uint64_t number)
{
	uint32_t i;

	for (i = 0; i < done->nr_failed; i++)
		if (done->failed[i] == number)
			return true;
	return false;
}

/* Note the sectors that were prepared before the first request. */
static void note_prepared(struct model *m)
{
	const struct content *content = m->content;
	size_t i;

	for (i = 0; i < content->nr_prepared; i++)
		note_change(m, &(struct change) {
			    .first = content->prepared[i].first * PATTERN_SECTOR,
			    .end = content->prepared[i].end * PATTERN_SECTOR,
			    .what = PREPARED, .durable = true });
}

/* Read the source, as far as its requests were made, into the model. */
static int read_trace(struct model *m)
{
	const struct content *content = m->content;
	struct source *source = content->source;
	struct trace_request request;
	int result = source_rewind(source);

	if (result)
		return result;
	while (source->issued < content->done->issued) {
		CLEANUP_FREE char *wrong = NULL;
		uint64_t number = source->issued;
		enum trace_next next;
		struct change change;

		if (interrupt_seen())
			return ALIGNCTL_FINE;
		next = source_next(source, &request);
		if (next == TRACE_FAILED)
			return trace_next_status(next);
		if (next == TRACE_GOT)
			wrong = placement_apply(content->placement, &request);
		else
			wrong = message_format("ended");
		/* where the run ended too, if it came that far */
		if (wrong && content->done->issued == UINT64_MAX)
			return ALIGNCTL_FINE;
		if (wrong) {
			message_error("%s: is no longer the trace that was replayed: request %"
				      PRIu64 ": %s", source->name,
				      number + 1, wrong);
			return ALIGNCTL_USAGE;
		}
		if (request.op == TRACE_READ || request.op == TRACE_FLUSH)
			continue;
		change.first = request.offset;
		change.end = change.first + request.bytes;
		change.durable = number < content->durable;
		change.doubtful = has_failed(content->done, number);
		change.what = request.op == TRACE_WRITE ? number + 1 : ZEROES;
		if (request.op == TRACE_WRITE &&
		    !pattern_has_labels(request.offset, request.bytes))
			change.what |= STREAM;
		if (request.op == TRACE_DISCARD ||
		    (change.doubtful && change.what != ZEROES &&
		     change.what & STREAM)) {
			change.what = ANYTHING;
			change.doubtful = false;
		}
		/* what may be anything needs no place in the model */
		if (change.what == ANYTHING || change.doubtful)
			change_known(m, &change);
		else
			note_change(m, &change);
	}
	return ALIGNCTL_FINE;
}

/**
 * struct part - bytes of a sector that one request left
 * @from: first byte of the part, from the start of the sector
 * @to: byte after the part
 * @holds: required content of the part
 */
struct part {
	uint32_t from;
	uint32_t to;
	uint64_t holds;
};

/* Return the sequence number in the label of the request that left @holds. */
static uint64_t get_sequence(uint64_t holds)
{
	return holds == PREPARED ? 0 : holds & ~STREAM;
}

/* Return whether a sector holds the label of @holds, or zeroes for ZEROES. */
static bool is_right(const struct model *m, const char *bytes, uint64_t sector,
		     uint64_t holds)
{
	static const char zeroes[PATTERN_SECTOR];
	struct pattern_label label;

	if (holds == ZEROES)
		return !memcmp(bytes, zeroes, PATTERN_SECTOR);
	return pattern_read(bytes, &label) == PATTERN_WHOLE &&
	       label.sector == sector && label.sequence == get_sequence(holds) &&
	       label.run == m->content->run;
}

/* Return whether a part of a sector holds what it must. */
static bool part_right(const struct model *m, const char *bytes,
		       uint64_t sector, const struct part *part)
{
	char wanted[PATTERN_SECTOR] = { 0 };
	uint64_t run = m->content->run;

	if (part->holds != ZEROES && part->holds & STREAM) {
		pattern_stream(wanted, sector * PATTERN_SECTOR, sizeof(wanted),
			       get_sequence(part->holds), run);
	} else if (part->holds != ZEROES) {
		pattern_fill(wanted, 1);
		pattern_label(wanted, &(struct pattern_label) {
				      sector, get_sequence(part->holds), run }, 1);
	}
	return !memcmp(bytes + part->from, wanted + part->from,
		       part->to - part->from);
}

static char *describe_sequence(uint64_t sequence)
{
	return sequence ? message_format("request %" PRIu64, sequence) :
			  message_format("what was prepared");
}

static char *describe_holder(uint64_t holds)
{
	return holds == ZEROES ? message_format("zeroes") :
				 describe_sequence(get_sequence(holds));
}

static void show_part(const struct model *m, uint64_t sector,
		      const struct part *part)
{
	CLEANUP_FREE char *wanted = describe_holder(part->holds);

	message_error("%s: sector %" PRIu64 ", bytes %u to %u: expected %s, found others",
		      m->content->device->path, sector, part->from,
		      part->to - 1, wanted);
}

static void show_mismatch(const struct model *m, const char *bytes,
			  uint64_t sector, uint64_t holds)
{
	struct pattern_label found = { 0 };
	enum pattern_state kind = pattern_read(bytes, &found);
	CLEANUP_FREE char *wanted = describe_holder(holds);
	CLEANUP_FREE char *which = describe_sequence(found.sequence);
	CLEANUP_FREE char *got = kind == PATTERN_ABSENT ?
		message_format("bytes that no replay wrote") :
		message_format("%s%s of sector %" PRIu64 "%s",
			       kind == PATTERN_TORN ? "damaged bytes of " : "",
			       which, found.sector,
			       found.run == m->content->run ? "" :
			       " of another run");

	message_error("%s: sector %" PRIu64 ": expected %s, found %s",
		      m->content->device->path, sector, wanted, got);
}

/**
 * struct stretch - neighbouring blocks that are read by one request
 * @request: request of whole logical blocks; must be the first member
 * @block: the blocks
 * @sector: first sector of @block
 * @sectors: number of sectors of @block that the device has
 */
struct stretch {
	struct io_request request;
	const struct block *block;
	uint64_t sector;
	uint64_t sectors;
};

/* Return the bytes of a stretch that has been read. */
static const char *bytes_of(const struct stretch *stretch)
{
	return (const char *)stretch->request.buffer +
	       (stretch->sector * PATTERN_SECTOR - stretch->request.offset);
}

typedef void (*compare_fn)(const struct model *m,
			   const struct stretch *stretch, void *result);

enum found { FOUND_ANYTHING, FOUND_RIGHT, FOUND_OTHER };

/* Compare a part of a sector; report a mismatch if @say. */
static enum found compare_part(const struct model *m, const char *bytes,
			       uint64_t sector, const struct part *part,
			       bool say)
{
	if (part->holds == ANYTHING)
		return FOUND_ANYTHING;
	if (part_right(m, bytes, sector, part))
		return FOUND_RIGHT;
	if (say)
		show_part(m, sector, part);
	return FOUND_OTHER;
}

/* Compare the pieces of a sector, report the first mismatch if @say. Return the worst. */
static enum found compare_pieces(const struct model *m, const char *bytes,
				 uint64_t sector, uint32_t piece, bool say)
{
	enum found worst = FOUND_ANYTHING;
	uint32_t from = 0;

	for (; piece; piece = m->piece[piece].next) {
		const struct part part = {
			from, m->piece[piece].end, m->piece[piece].holds,
		};
		enum found found = compare_part(m, bytes, sector, &part,
						say && worst < FOUND_OTHER);

		if (found > worst)
			worst = found;
		from = part.to;
	}
	return worst;
}

/* Return whether a request that failed left the sector @i of the block so. */
static bool left_by_failed(const struct model *m, const struct block *block,
			   uint32_t i, const char *bytes)
{
	static const char zeroes[PATTERN_SECTOR];
	struct pattern_label label;

	if ((block->doubtful_zeroes >> i & 1) &&
	    !memcmp(bytes, zeroes, PATTERN_SECTOR))
		return true;
	return pattern_read(bytes, &label) == PATTERN_WHOLE &&
	       label.sector == block->number * BLOCK_SECTORS + i &&
	       label.run == m->content->run && label.sequence &&
	       has_failed(m->content->done, label.sequence - 1);
}

static enum found compare_sector(const struct model *m,
				 const struct block *block, uint32_t i,
				 const char *bytes, bool say)
{
	const struct part all = { 0, PATTERN_SECTOR, block->holds[i] };
	uint64_t sector = block->number * BLOCK_SECTORS + i;

	if ((block->doubtful >> i & 1) && block->holds[i] != ANYTHING &&
	    left_by_failed(m, block, i, bytes))
		return FOUND_RIGHT;
	if (block->cut >> i & 1)
		return compare_pieces(m, bytes, sector, block->holds[i], say);
	if (all.holds == ZEROES || !(all.holds & STREAM)) {
		if (all.holds == ANYTHING)
			return FOUND_ANYTHING;
		if (is_right(m, bytes, sector, all.holds))
			return FOUND_RIGHT;
		if (say)
			show_mismatch(m, bytes, sector, all.holds);
		return FOUND_OTHER;
	}
	return compare_part(m, bytes, sector, &all, say);
}

static void compare_stretch(const struct model *m, const struct stretch *stretch,
			    void *result)
{
	struct content_check *check = result;
	uint64_t sector = stretch->sector, end = sector + stretch->sectors, i;
	const char *bytes = bytes_of(stretch);

	for (i = 0; sector < end; i++, sector++, bytes += PATTERN_SECTOR) {
		const struct block *block = &stretch->block[i / BLOCK_SECTORS];
		enum found found = compare_sector(m, block, i % BLOCK_SECTORS,
						  bytes,
						  check->mismatches <
						  MISMATCHES_SHOWN);

		check->sectors += found != FOUND_ANYTHING;
		if (found != FOUND_OTHER)
			continue;
		if (!check->mismatches || sector < check->first_mismatch)
			check->first_mismatch = sector;
		check->mismatches++;
	}
}

const char *const content_verdict_names[CONTENT_NR_VERDICTS] = {
	[CONTENT_LOST] = "lost", [CONTENT_TORN] = "torn",
	[CONTENT_OLD] = "old", [CONTENT_NEW] = "new",
};

/* Judge sector @i of a block; CONTENT_TORN: it has parts of several writes. */
static enum content_verdict judge_sector(const struct model *m,
					 const struct block *block,
					 uint32_t i, const char *bytes)
{
	static const char zeroes[PATTERN_SECTOR];
	uint64_t sector = block->number * BLOCK_SECTORS + i;
	uint64_t durable = block->durable[i];
	struct pattern_label label;
	enum pattern_state kind = pattern_read(bytes, &label);

	if (block->holds[i] == ANYTHING || (block->doubtful >> i & 1) ||
	    is_right(m, bytes, sector, block->holds[i]))
		return CONTENT_NEW;
	if (kind == PATTERN_TORN)
		return CONTENT_TORN;
	if ((block->zeroed >> i & 1) && !memcmp(bytes, zeroes, PATTERN_SECTOR))
		return CONTENT_OLD;
	/* this was never to be here: the write of another sector went astray */
	if (kind == PATTERN_WHOLE && label.run == m->content->run &&
	    label.sector != sector)
		return CONTENT_LOST;
	/* nothing was promised: content from before the run may still be there */
	if (durable == ANYTHING)
		return CONTENT_OLD;
	if (kind == PATTERN_WHOLE && label.sector == sector &&
	    label.run == m->content->run &&
	    (durable == ZEROES ? label.sequence > m->content->durable :
				 label.sequence >= get_sequence(durable)))
		return CONTENT_OLD;
	return CONTENT_LOST;
}

/*
 * Judge a block by the worst of its sectors. A new and an old sector whose last
 * write is the same one make the block torn.
 */
static enum content_verdict judge_block(const struct model *m,
					const struct block *block,
					const char *bytes, uint32_t sectors)
{
	enum content_verdict verdict = CONTENT_NEW, each[BLOCK_SECTORS];
	uint32_t i, k;

	for (i = 0; i < sectors; i++) {
		each[i] = judge_sector(m, block, i, bytes + i * PATTERN_SECTOR);
		if (each[i] < verdict)
			verdict = each[i];
	}
	for (i = 0; verdict == CONTENT_OLD && i < sectors; i++)
		for (k = 0; k < sectors; k++)
			if (block->holds[i] == block->holds[k] &&
			    block->holds[i] != ANYTHING &&
			    !((block->doubtful >> i | block->doubtful >> k) & 1) &&
			    each[i] == CONTENT_NEW && each[k] == CONTENT_OLD)
				return CONTENT_TORN;
	return verdict;
}

static void judge_stretch(const struct model *m, const struct stretch *stretch,
			  void *result)
{
	struct content_crash *crash = result;
	const struct block *block = stretch->block;
	const char *bytes = bytes_of(stretch);
	uint64_t left = stretch->sectors;

	while (left) {
		uint32_t sectors = left < BLOCK_SECTORS ? left : BLOCK_SECTORS;
		enum content_verdict verdict = judge_block(m, block, bytes,
							   sectors);
		uint64_t sector = block->number * BLOCK_SECTORS;

		if (!crash->blocks[verdict]++ || sector < crash->first[verdict])
			crash->first[verdict] = sector;
		left -= sectors;
		bytes += BLOCK_BYTES;
		block++;
	}
}

/* Return the number of neighbouring blocks from @at on, at most one request's. */
static uint32_t count_together(const struct model *m, uint32_t at)
{
	uint32_t nr = 1;

	while (nr < READ_BLOCKS && at + nr < m->nr &&
	       m->block[at + nr].number == m->block[at].number + nr)
		nr++;
	return nr;
}

/*
 * Start to read blocks. Logical blocks may be larger than these, and a pass or a
 * write through the page cache may end inside one.
 */
static void start_read(const struct model *m, struct io_queue *queue,
		       struct stretch *stretch, uint32_t at, uint32_t nr)
{
	const struct device *device = m->content->device;
	uint64_t device_end = device->sectors * PATTERN_SECTOR;
	uint64_t offset = m->block[at].number * BLOCK_BYTES;
	uint64_t end = offset + nr * BLOCK_BYTES, logical = device->logical;

	if (end > device_end)
		end = device_end;
	stretch->block = &m->block[at];
	stretch->sector = offset / PATTERN_SECTOR;
	stretch->sectors = (end - offset) / PATTERN_SECTOR;
	stretch->request.op = IO_READ;
	stretch->request.offset = offset - offset % logical;
	end = (end + logical - 1) / logical * logical;
	stretch->request.bytes = (end < device_end ? end : device_end) -
				 stretch->request.offset;
	io_queue_start(queue, &stretch->request);
}

/* Read all blocks of the model, and compare them. */
static int read_blocks(struct model *m, compare_fn compare, void *found)
{
	struct io_queue *queue = io_queue_open(m->content->fd, READ_DEPTH);
	uint32_t logical = m->content->device->logical;
	/* larger logical blocks are read whole at either end */
	size_t room = READ_BLOCKS * BLOCK_BYTES +
		      (logical > BLOCK_BYTES ? 2 * (size_t)logical : 0);
	char *memory = io_memory(READ_DEPTH * room);
	struct stretch all[READ_DEPTH] = { 0 }, *idle[READ_DEPTH];
	uint32_t nr_idle, at = 0, nr;
	struct progress progress;
	int result = ALIGNCTL_FINE;

	for (nr_idle = 0; nr_idle < READ_DEPTH; nr_idle++) {
		all[nr_idle].request.buffer = memory + nr_idle * room;
		idle[nr_idle] = &all[nr_idle];
	}
	qsort(m->block, m->nr, sizeof(*m->block), by_number);
	progress_start(&progress, "checking", m->nr);
	for (;;) {
		struct stretch *stretch;

		while (nr_idle && at < m->nr && !result && !interrupt_seen()) {
			nr = count_together(m, at);
			start_read(m, queue, idle[--nr_idle], at, nr);
			at += nr;
		}
		if (nr_idle == READ_DEPTH)
			break;
		/* the request is the first member */
		stretch = (struct stretch *)io_queue_wait(queue);
		if (io_request_check(&stretch->request,
				     m->content->device->path))
			result = ALIGNCTL_IO;
		else
			compare(m, stretch, found);
		idle[nr_idle++] = stretch;
		progress_step(&progress, at);
	}
	progress_end(&progress);
	free(memory);
	io_queue_close(queue);
	return result;
}

/* Compare pass by pass, until all was compared or an error ends it. */
static int compare_all(const struct content *content, compare_fn compare,
		       void *found, bool *done, uint64_t *passes)
{
	struct model m = {
		.content = content, .slots = 16,
		.max = content->max_blocks ? content->max_blocks : MAX_BLOCKS,
	};
	int result = ALIGNCTL_FINE;

	while (m.slots < 2 * m.max)
		m.slots *= 2;
	m.max_pieces = m.max < MIN_PIECES / BLOCK_SECTORS ? MIN_PIECES :
						m.max * BLOCK_SECTORS;
	m.block = memory_or_exit(calloc(m.max, sizeof(*m.block)));
	/* memory that is not touched costs nothing */
	m.piece = memory_or_exit(calloc(m.max_pieces + 1, sizeof(*m.piece)));
	m.slot = memory_or_exit(calloc(m.slots, sizeof(*m.slot)));
	while (m.end != UINT64_MAX && !result && !interrupt_seen()) {
		m.first = m.end;
		m.end = UINT64_MAX;
		m.nr = 0;
		m.touched_pieces = m.free_piece = 0;
		m.nr_free = m.max_pieces;
		memset(m.slot, 0, m.slots * sizeof(*m.slot));
		note_prepared(&m);
		result = read_trace(&m);
		++*passes;
		if (!result && !interrupt_seen())
			result = read_blocks(&m, compare, found);
	}
	*done = !result && !interrupt_seen();
	free(m.block);
	free(m.piece);
	free(m.slot);
	return result;
}

int content_check(const struct content *content, struct content_check *check)
{
	memset(check, 0, sizeof(*check));
	return compare_all(content, compare_stretch, check, &check->done,
			   &check->passes);
}

int content_crash(const struct content *content, struct content_crash *crash)
{
	uint64_t passes = 0;

	memset(crash, 0, sizeof(*crash));
	return compare_all(content, judge_stretch, crash, &crash->done, &passes);
}
