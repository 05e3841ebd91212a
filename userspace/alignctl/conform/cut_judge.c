// SPDX-License-Identifier: GPL-2.0
/*
 * Read the area after the cut, and name the fault of each block that STATE does
 * not allow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/content.h"
#include "conform/cut_judge.h"
#include "conform/saved.h"
#include "engine/io_queue.h"

/**
 * struct judged - a request that may have been sent
 * @sent: its number and times
 * @shape: what it covers
 */
struct judged {
	struct cut_sent sent;
	struct cut_shape shape;
};

/**
 * struct judge - the comparison
 * @fd: the device
 * @state: what STATE tells
 * @verdict: what was found so far
 * @requests: the requests that may have been sent, by cell and number
 * @lawful: requests for the rules, in the order of @requests
 * @cell_first: for each cell the index of its first request; one more at the end
 * @flushed_ns: what had ended before is durable by a flush
 * @flush: the flushes that have ended, by number
 * @nr_flushes: number of these
 * @wanted: a logical block as it should be
 */
struct judge {
	int fd;
	const struct cut_state *state;
	struct cut_verdict *verdict;
	struct judged *requests;
	struct lawful_request *lawful;
	size_t *cell_first;
	uint64_t flushed_ns;
	struct cut_sent *flush;
	size_t nr_flushes;
	char *wanted;
};

const char *const cut_fault_names[CUT_FAULT_NR] = {
	[CUT_LOST] = "lost-write",
	[CUT_TORN] = "torn-block",
	[CUT_NEIGHBOUR] = "neighbour",
	[CUT_FOREIGN] = "foreign",
	[CUT_UNREADABLE] = "unreadable",
};

uint64_t cut_faulty(const struct cut_verdict *verdict)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < CUT_FAULT_NR; i++)
		sum += verdict->faults[i];
	return sum;
}

/* Requests */

static struct lawful_request lawful_of(const struct judged *request)
{
	return (struct lawful_request) {
		.effect = kind_effect(request->shape.part),
		.first = request->shape.first, .nr = request->shape.nr,
		.began_ns = request->sent.began_ns,
		.ended_ns = request->sent.ended_ns,
		.flush = request->shape.part == PART_FLUSH,
		.fua = request->shape.part == PART_FUA,
	};
}

/*
 * Put the requests into the order of their cells. Flushes, which have no cell of
 * their own, go to a list.
 */
static void sort_requests(struct judge *judge)
{
	const struct cut_state *state = judge->state;
	const struct cut_area *area = &state->header.area;
	uint64_t next = state->nr ? state->sent[state->nr - 1].number + 1 : 0;
	size_t nr = state->nr + (size_t)(state->may_send > next ?
					 state->may_send - next : 0);
	CLEANUP_FREE struct judged *by_number =
		memory_or_exit(calloc(nr + 1, sizeof(*by_number)));
	size_t cells = (size_t)cut_cells(area), i;
	CLEANUP_FREE size_t *place =
		memory_or_exit(calloc(cells + 1, sizeof(*place)));

	judge->requests = memory_or_exit(calloc(nr + 1, sizeof(struct judged)));
	judge->lawful = memory_or_exit(calloc(nr + 1, sizeof(*judge->lawful)));
	judge->flush = memory_or_exit(calloc(nr + 1, sizeof(*judge->flush)));
	judge->cell_first = memory_or_exit(calloc(cells + 1,
						  sizeof(*place)));
	for (i = 0; i < nr; i++) {
		struct judged *request = &by_number[i];

		/* of the last ones STATE may not know whether they were sent */
		request->sent = i < state->nr ? state->sent[i] :
			(struct cut_sent) { next + (i - state->nr),
					    UINT64_MAX, UINT64_MAX };
		request->shape = cut_shape(area, request->sent.number);
		if (request->shape.part != PART_FLUSH)
			judge->cell_first[request->shape.cell + 1]++;
		else if (request->sent.ended_ns != UINT64_MAX)
			judge->flush[judge->nr_flushes++] = request->sent;
	}
	for (i = 0; i < cells; i++)
		judge->cell_first[i + 1] += judge->cell_first[i];
	memcpy(place, judge->cell_first, cells * sizeof(*place));
	for (i = 0; i < nr; i++) {
		struct lawful_request one = lawful_of(&by_number[i]);
		uint64_t flushed = lawful_flushed(&one, 1);
		size_t to;

		if (flushed > judge->flushed_ns)
			judge->flushed_ns = flushed;
		if (one.flush)
			continue;
		to = place[by_number[i].shape.cell]++;
		judge->requests[to] = by_number[i];
		judge->lawful[to] = one;
	}
}

static struct cut_request request_of(const struct judge *judge,
				     const struct judged *request)
{
	const struct cut_area *area = &judge->state->header.area;

	return (struct cut_request) {
		.known = true, .number = request->sent.number,
		.part = request->shape.part,
		.start = area->start + request->shape.first * area->logical,
		.bytes = (uint64_t)request->shape.nr * area->logical,
		.began_ns = request->sent.began_ns,
		.ended_ns = request->sent.ended_ns,
	};
}

/* Return the first flush that made a request durable. */
static struct cut_request promise_of(const struct judge *judge,
				     const struct judged *request)
{
	struct cut_request promise = { .part = PART_FLUSH };
	size_t i;

	if (request->shape.part == PART_FUA)
		return promise;
	for (i = 0; i < judge->nr_flushes; i++) {
		const struct cut_sent *flush = &judge->flush[i];

		if (flush->began_ns <= request->sent.ended_ns ||
		    (promise.known && flush->ended_ns >= promise.ended_ns))
			continue;
		promise.known = true;
		promise.number = flush->number;
		promise.began_ns = flush->began_ns;
		promise.ended_ns = flush->ended_ns;
	}
	return promise;
}

/* Blocks */

/**
 * struct block - a logical block that is judged
 * @number: number of the block in the area
 * @byte: its first byte on the device
 * @found: its content; NULL: it cannot be read
 * @error: errno of reading it
 * @content: what that looks like; CONTENT_FOREIGN if it cannot be read
 * @sequence: sequence in it, of CONTENT_LABEL
 * @first: index of the first request to its cell
 * @end: index behind the last one
 * @settled_ns: when the last durable request to it began; 0: none
 */
struct block {
	uint64_t number;
	uint64_t byte;
	const char *found;
	int error;
	enum content content;
	uint64_t sequence;
	size_t first;
	size_t end;
	uint64_t settled_ns;
};

/* Check that a request's content is in the block, or looks the same. */
static bool has_content_of(const struct judge *judge, const struct block *block,
			   size_t i)
{
	if (block->content == CONTENT_ZEROES)
		return judge->lawful[i].effect == LAWFUL_ZEROES;
	return block->content == CONTENT_LABEL &&
	       judge->lawful[i].effect == LAWFUL_WRITES &&
	       block->sequence == judge->requests[i].sent.number + 1;
}

/*
 * Check that the block has a content that is not replaced by a request that began at
 * @settled_ns. @anything: set to whether that may be any.
 */
static bool may_have(const struct judge *judge, const struct block *block,
		     uint64_t settled_ns, bool *anything)
{
	bool good = block->content == CONTENT_LABEL && !block->sequence &&
		    !settled_ns;
	size_t i;

	*anything = false;
	for (i = block->first; i < block->end; i++) {
		const struct lawful_request *request = &judge->lawful[i];

		if (!lawful_covers(request, block->number) ||
		    !lawful_survives(request, settled_ns))
			continue;
		*anything |= request->effect == LAWFUL_DISCARDS;
		good |= has_content_of(judge, block, i);
	}
	return block->found && (good || *anything);
}

/* Judge by the rules; false: the block has what it must not have. */
static bool is_lawful(struct judge *judge, const struct block *block)
{
	struct cut_verdict *verdict = judge->verdict;
	/* when the last request began that had ended, durable or not */
	uint64_t last_ns = lawful_settled(judge->lawful + block->first,
					  block->end - block->first,
					  block->number, UINT64_MAX);
	bool anything, newest = may_have(judge, block, last_ns, &anything);
	bool good = may_have(judge, block, block->settled_ns, &anything);

	verdict->promised += block->settled_ns > 0;
	verdict->anything += anything;
	if (last_ns > block->settled_ns && !anything) {
		verdict->open++;
		verdict->open_lost += !newest;
	}
	return good;
}

/* Find the durable request whose content must be there at least; NULL: none. */
static const struct judged *find_expected(const struct judge *judge,
					  const struct block *block)
{
	size_t i;

	for (i = block->first; i < block->end; i++)
		if (block->settled_ns &&
		    lawful_covers(&judge->lawful[i], block->number) &&
		    lawful_durable(&judge->lawful[i], judge->flushed_ns) &&
		    judge->lawful[i].began_ns == block->settled_ns)
			return &judge->requests[i];
	return NULL;
}

/* Find the last request to the block whose content it has; NULL: there is none. */
static const struct judged *find_writer(const struct judge *judge,
					const struct block *block)
{
	size_t i;

	for (i = block->end; i-- > block->first;)
		if (lawful_covers(&judge->lawful[i], block->number) &&
		    has_content_of(judge, block, i))
			return &judge->requests[i];
	return NULL;
}

/*
 * Check that a request was in flight or not durable in the same physical block or
 * in one beside it, and none was in this logical block.
 */
static bool is_beside(const struct judge *judge, const struct block *block)
{
	const struct cut_area *area = &judge->state->header.area;
	uint64_t per_block = area->block / area->logical;
	uint64_t own = block->number / per_block;
	bool beside = false;
	size_t i;

	for (i = block->first; i < block->end; i++) {
		const struct lawful_request *request = &judge->lawful[i];

		if (!request->nr ||
		    lawful_durable(request, judge->flushed_ns))
			continue;
		if (lawful_covers(request, block->number))
			return false;
		beside |= request->first / per_block <= own + 1 &&
			  (request->first + request->nr - 1) / per_block + 1 >=
			  own;
	}
	return beside;
}

/* Check for the block's own label of another run, as of another STATE. */
static bool is_of_another_run(const struct judge *judge,
			      const struct block *block)
{
	struct pattern_label label;

	return block->found && block->content == CONTENT_FOREIGN &&
	       pattern_read(block->found, &label) == PATTERN_WHOLE &&
	       label.run != judge->state->header.area.run &&
	       label.sector == block->byte / PATTERN_SECTOR;
}

static enum cut_found found_in(const struct judge *judge,
			       const struct block *block,
			       const struct judged *by)
{
	if (!block->found)
		return CUT_FOUND_NOTHING;
	switch (block->content) {
	case CONTENT_ZEROES:
		return CUT_FOUND_ZEROES;
	case CONTENT_TORN:
		return CUT_FOUND_PARTS;
	case CONTENT_LABEL:
		if (!block->sequence)
			return CUT_FOUND_FIRST;
		return by ? CUT_FOUND_WRITE : CUT_FOUND_OTHER;
	case CONTENT_FOREIGN:
		break;
	}
	return is_of_another_run(judge, block) ? CUT_FOUND_ANOTHER :
						 CUT_FOUND_OTHER;
}

static enum cut_fault name_fault(const struct judge *judge,
				 const struct block *block,
				 enum cut_found found)
{
	switch (found) {
	case CUT_FOUND_NOTHING:
		return CUT_UNREADABLE;
	case CUT_FOUND_PARTS:
		return CUT_TORN;
	case CUT_FOUND_FIRST:
	case CUT_FOUND_WRITE:
	case CUT_FOUND_ZEROES:
	case CUT_FOUND_ANOTHER:
		return CUT_LOST;
	case CUT_FOUND_OTHER:
		break;
	}
	return is_beside(judge, block) ? CUT_NEIGHBOUR : CUT_FOREIGN;
}

/* Note the first difference to what must be there. */
static void compare_block(const struct judge *judge, const struct block *block,
			  const struct judged *wanted, struct cut_finding *finding)
{
	const struct cut_area *area = &judge->state->header.area;
	uint32_t at = 0;

	if (wanted && kind_effect(wanted->shape.part) == LAWFUL_ZEROES)
		memset(judge->wanted, 0, area->logical);
	else
		content_fill(judge->wanted, block->byte, area->logical,
			     area->run, wanted ? wanted->sent.number + 1 : 0);
	while (block->found && at < area->logical &&
	       judge->wanted[at] == block->found[at])
		at++;
	if (at > area->logical - CUT_BYTES)
		at = area->logical - CUT_BYTES;
	finding->differs = at;
	memcpy(finding->expected_bytes, judge->wanted + at, CUT_BYTES);
	if (block->found)
		memcpy(finding->found_bytes, block->found + at, CUT_BYTES);
}

static bool same_request(const struct cut_request *one,
			 const struct cut_request *other)
{
	return one->known == other->known && one->number == other->number;
}

/* Count a fault; keep it, or make the last finding longer. */
static void add_fault(struct judge *judge, const struct block *block)
{
	const struct cut_area *area = &judge->state->header.area;
	struct cut_verdict *verdict = judge->verdict;
	const struct judged *wanted = find_expected(judge, block);
	/* zeroes may be of write-zeroes, or of a medium that was never written */
	const struct judged *by = block->content == CONTENT_LABEL ?
				  find_writer(judge, block) : NULL;
	struct cut_finding finding = {
		.start = block->byte, .bytes = area->logical,
		.found = found_in(judge, block, by), .error = block->error,
	};
	struct cut_finding *last = verdict->nr ?
				   &verdict->finding[verdict->nr - 1] : NULL;

	if (wanted) {
		finding.expected = request_of(judge, wanted);
		finding.promise = promise_of(judge, wanted);
	}
	if (by)
		finding.found_request = request_of(judge, by);
	finding.fault = name_fault(judge, block, finding.found);
	verdict->faults[finding.fault]++;
	if (last && last->start + last->bytes == finding.start &&
	    last->fault == finding.fault && last->found == finding.found &&
	    same_request(&last->expected, &finding.expected) &&
	    same_request(&last->found_request, &finding.found_request)) {
		last->bytes += finding.bytes;
		return;
	}
	if (verdict->nr == CUT_FAULTS)
		return;
	compare_block(judge, block, wanted, &finding);
	verdict->finding[verdict->nr++] = finding;
}

/* Judge a logical block; @found is NULL if reading has failed with @error. */
static void judge_block(struct judge *judge, uint64_t number,
			const char *found, int error)
{
	const struct cut_area *area = &judge->state->header.area;
	struct cut_verdict *verdict = judge->verdict;
	struct block block = {
		.number = number, .found = found, .error = error,
		.content = CONTENT_FOREIGN,
		.byte = area->start + number * area->logical,
	};
	uint64_t cell = number / cut_cell_blocks(area);

	block.first = judge->cell_first[cell];
	block.end = judge->cell_first[cell + 1];
	block.settled_ns = lawful_settled(judge->lawful + block.first,
					  block.end - block.first, number,
					  judge->flushed_ns);
	verdict->blocks++;
	if (found) {
		block.content = content_recognize(found, area->logical,
						  block.byte, area->run,
						  &block.sequence);
		verdict->own += block.content == CONTENT_LABEL;
		verdict->beyond += block.content == CONTENT_LABEL &&
				   block.sequence > judge->state->may_send;
		verdict->other_runs += is_of_another_run(judge, &block);
	}
	if (!is_lawful(judge, &block))
		add_fault(judge, &block);
}

/* Judge blocks in a row; where they cannot be read together, each alone. */
static void judge_blocks(struct judge *judge, char *buffer, uint64_t first,
			 uint64_t nr)
{
	const struct cut_area *area = &judge->state->header.area;
	size_t logical = area->logical;
	uint64_t byte = area->start + first * logical, i;
	bool all = saved_transfer(judge->fd, buffer, nr * logical, byte, false);

	for (i = 0; i < nr; i++) {
		char *own = buffer + i * logical;
		bool good = all ||
			    saved_transfer(judge->fd, own, logical,
					   byte + i * logical, false);

		judge_block(judge, first + i, good ? own : NULL,
			    good ? 0 : errno);
	}
}

int cut_judge(int fd, const struct cut_state *state,
	      struct cut_verdict *verdict)
{
	const struct cut_area *area = &state->header.area;
	uint64_t blocks = area->bytes / area->logical;
	uint64_t at_once = MIB / area->logical, first;
	CLEANUP_FREE char *buffer = io_memory(MIB);
	CLEANUP_FREE char *wanted = io_memory(area->logical);
	struct judge judge = {
		.fd = fd, .state = state, .verdict = verdict, .wanted = wanted,
	};
	struct progress progress;

	memset(verdict, 0, sizeof(*verdict));
	sort_requests(&judge);
	progress_start(&progress, "conform", blocks);
	for (first = 0; first < blocks && !interrupt_seen(); first += at_once) {
		judge_blocks(&judge, buffer, first,
			     blocks - first < at_once ? blocks - first :
							at_once);
		progress_step(&progress, first);
	}
	progress_end(&progress);
	free(judge.requests);
	free(judge.lawful);
	free(judge.flush);
	free(judge.cell_first);
	return ALIGNCTL_FINE;
}
