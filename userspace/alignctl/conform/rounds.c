// SPDX-License-Identifier: GPL-2.0
/*
 * Drive many cells at once: write anew, send the requests when they are due, read,
 * judge, count.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/content.h"
#include "conform/rounds.h"
#include "engine/io_queue.h"

/* Rounds on a place of the device, until the cell moves on. */
#define ROUNDS_A_PLACE	64U
/* Until a first request has been seen to end, the time that one takes. */
#define TYPICAL_NS	(100 * NS_PER_US)
/* A shorter wait is spent awake. */
#define SLEEP_NS	(200 * NS_PER_US)
/* Where a fault is looked for again, in times that a request takes. */
#define AGAIN_TIMES	4U

enum cell_state {
	CELL_WRITES,	/* all of the cell is written anew */
	CELL_MEETS,	/* the requests of the round are sent, or in flight */
	CELL_READS,	/* the cell is read */
	CELL_READS_AGAIN,	/* because of a fault */
};

/**
 * struct known - what a logical block is known to have
 * @sequence: sequence of the write; 0: zeroes
 * @anything: a discard has left any content, which may change until a write
 */
struct known {
	uint64_t sequence;
	bool anything;
};

/**
 * struct verdict - what is wrong with what a read has found
 * @wrong: the read has found a fault; else nothing else is set
 * @fault: kind of fault
 * @reader: index of the read among the requests; their number: the one afterwards
 * @block: the first wrong logical block, counted from the cell's first
 * @looks: the contents of the round that it looks like
 * @text: expected and found content, for people; for free()
 */
struct verdict {
	bool wrong;
	enum fault fault;
	size_t reader;
	uint32_t block;
	uint32_t looks;
	char *text;
};

/**
 * struct cell_request - a request in flight, or one that waits
 * @io: the request
 * @memory: its memory, with room to move in it
 * @cell: the cell that it is of
 * @due_ns: when it is to be sent
 * @sent: the request has been sent
 */
struct cell_request {
	struct io_request io;
	char *memory;
	struct cell *cell;
	uint64_t due_ns;
	bool sent;
};

/**
 * struct cell - four physical blocks, and the round on them
 * @state: step of the round
 * @first: first logical block on the device
 * @left: rounds until it moves on
 * @anew: the cell has to be written before the next round
 * @known: what each of its logical blocks has
 * @kind: kind of the round
 * @method: how its requests are sent
 * @round: number of the round
 * @random: number that its choices are made from
 * @sequence: sequence of its first request; that of request i is i more
 * @request: its requests
 * @shape: logical blocks that they cover
 * @lawful: the requests with their effects and times
 * @nr: number of requests
 * @in_flight: number of requests in flight
 * @waiting: number of requests that have not been sent
 * @whole: the request on all of the cell
 * @whole_began_ns: when that was sent
 * @found: the first fault of this round
 */
struct cell {
	enum cell_state state;
	uint64_t first;
	unsigned int left;
	bool anew;
	struct known *known;
	size_t kind;
	enum round_method method;
	uint64_t round;
	uint64_t random;
	uint64_t sequence;
	struct cell_request request[KIND_PARTS];
	struct kind_shape shape[KIND_PARTS];
	struct lawful_request lawful[KIND_PARTS];
	size_t nr;
	unsigned int in_flight;
	unsigned int waiting;
	struct cell_request whole;
	uint64_t whole_began_ns;
	struct verdict found;
};

/**
 * struct rounds - the work
 * @options: options of the rounds
 * @result: counts and faults so far
 * @queue: the requests in flight
 * @only: the only method; METHOD_NR: both in turn
 * @run: run number of the content
 * @per_block: logical blocks in a physical one
 * @blocks: logical blocks in a cell
 * @places: places for each cell
 * @begun: number of rounds begun
 * @sequence: the next sequence
 * @typical_ns: time that a request takes by each method, a sliding mean
 * @status: enum alignctl_exit
 * @progress: progress line
 */
struct rounds {
	const struct rounds_options *options;
	struct rounds_result *result;
	struct io_queue *queue;
	enum round_method only;
	uint64_t run;
	uint32_t per_block;
	uint32_t blocks;
	uint64_t places;
	uint64_t begun;
	uint64_t sequence;
	uint64_t typical_ns[METHOD_NR];
	int status;
	struct progress progress;
};

const char *const fault_names[FAULT_NR] = {
	[FAULT_LOST] = "lost-update",
	[FAULT_STALE] = "stale-read",
	[FAULT_TORN] = "torn-block",
	[FAULT_NEIGHBOUR] = "neighbour",
	[FAULT_FOREIGN] = "foreign",
};

const char *const round_methods[METHOD_NR] = {
	[METHOD_URING] = "io_uring",
	[METHOD_SYNC] = "sync",
};

uint64_t rounds_sum(const struct rounds_result *result)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < KIND_NR; i++)
		sum += result->rounds[i];
	return sum;
}

static uint64_t byte_of(const struct rounds *rounds, const struct cell *cell,
			uint32_t block)
{
	return (cell->first + block) * rounds->options->logical;
}

/* Content */

/* Return all contents, of those that a block may have, that look like this. */
static uint32_t looks_like(const struct cell *cell, uint32_t block,
			   enum content content, uint64_t sequence)
{
	const struct known *known = &cell->known[block];
	uint32_t set = known->anything ? LAWFUL_BEFORE : 0;
	size_t i;

	if (content == CONTENT_LABEL) {
		if (sequence == known->sequence)
			return LAWFUL_BEFORE;
		return sequence - cell->sequence < cell->nr ?
		       set | UINT32_C(1) << (sequence - cell->sequence) : set;
	}
	if (content != CONTENT_ZEROES)
		return set;
	if (!known->sequence)
		set |= LAWFUL_BEFORE;
	for (i = 0; i < cell->nr; i++)
		if (cell->lawful[i].effect == LAWFUL_ZEROES)
			set |= UINT32_C(1) << i;
	return set;
}

/* Faults */

/* Return words for a set of contents, for free(). */
static char *contents_text(const struct cell *cell, uint32_t set)
{
	char *text = NULL;
	size_t i;

	if (set & LAWFUL_BEFORE)
		text = message_format("the content before the round");
	for (i = 0; i < cell->nr; i++) {
		char *longer;

		if (!(set & UINT32_C(1) << i))
			continue;
		longer = message_format("%s%sthat of request %zu (%s)",
					text ? text : "", text ? " or " : "",
					i + 1,
					kind_part_name(cell->shape[i].part));
		free(text);
		text = longer;
	}
	return text;
}

/* Return words for what a logical block has, for free(). */
static char *found_text(const struct cell *cell, enum content content,
			uint64_t sequence, uint32_t looks)
{
	if (looks)
		return contents_text(cell, looks);
	switch (content) {
	case CONTENT_ZEROES:
		return message_format("zeroes");
	case CONTENT_TORN:
		return message_format("parts of different contents");
	case CONTENT_FOREIGN:
		return message_format("no content that was written to it");
	case CONTENT_LABEL:
		break;
	}
	return message_format("the content of write %" PRIu64
			      ", %" PRIu64 " writes before the round",
			      sequence, cell->sequence - sequence);
}

/* Count the fault of a round, and keep it with its requests if there is room. */
static void record_fault(struct rounds *rounds, struct cell *cell)
{
	struct rounds_result *result = rounds->result;
	const struct verdict *found = &cell->found;
	uint64_t first_ns = UINT64_MAX;
	struct round_fault *kept;
	size_t i;

	result->faulty[cell->kind]++;
	result->method[cell->method].faulty++;
	result->faults[found->fault]++;
	if (result->nr == ROUNDS_FAULTS) {
		free(found->text);
		return;
	}
	kept = &result->fault[result->nr++];
	*kept = (struct round_fault) {
		.fault = found->fault, .kind = cell->kind,
		.method = cell->method, .round = cell->round, .random = cell->random,
		.nr = cell->nr, .reader = found->reader,
		.at = byte_of(rounds, cell, found->block),
		.found = cell->nr, .text = found->text,
	};
	for (i = 0; i < cell->nr; i++) {
		if (found->looks == UINT32_C(1) << i)
			kept->found = i;
		if (cell->lawful[i].began_ns < first_ns)
			first_ns = cell->lawful[i].began_ns;
	}
	for (i = 0; i < cell->nr; i++)
		kept->request[i] = (struct round_request) {
			.part = cell->shape[i].part,
			.start = byte_of(rounds, cell, cell->shape[i].first),
			.bytes = cell->request[i].io.bytes,
			.memory = (uintptr_t)cell->request[i].io.buffer %
				  PAGE_BYTES,
			.began_ns = cell->lawful[i].began_ns - first_ns,
			.ended_ns = cell->lawful[i].ended_ns - first_ns,
		};
}

static bool is_covered(const struct cell *cell, uint64_t block)
{
	size_t i;

	for (i = 0; i < cell->nr; i++)
		if (lawful_covers(&cell->lawful[i], block))
			return true;
	return false;
}

/* Name the fault of a logical block, which has none of the lawful contents. */
static enum fault name_fault(const struct cell *cell, uint32_t block,
			     enum content content, size_t reader)
{
	if (content == CONTENT_TORN)
		return FAULT_TORN;
	/* of an earlier round it has older content of its own */
	if (!is_covered(cell, cell->first + block))
		return reader < cell->nr && content == CONTENT_LABEL ?
		       FAULT_STALE : FAULT_NEIGHBOUR;
	if (content == CONTENT_FOREIGN)
		return FAULT_FOREIGN;
	return reader < cell->nr ? FAULT_STALE : FAULT_LOST;
}

/**
 * judge - compare what a read has found with what it may find
 * @rounds: the work
 * @cell: the cell, whose requests have all ended
 * @reader: index of the read among the requests; cell->nr: the one afterwards
 * @buffer: what it has read
 * @first: first logical block that it has read, counted from the cell's
 * @nr: number of logical blocks
 * @began_ns: when it was sent
 * @ended_ns: when it had ended; UINT64_MAX: all requests had ended before
 *
 * Return: the first thing that is wrong; what else is follows from it as a rule.
 */
static struct verdict judge_read(const struct rounds *rounds,
				 const struct cell *cell, size_t reader,
				 const char *buffer, uint32_t first, uint32_t nr,
				 uint64_t began_ns, uint64_t ended_ns)
{
	uint32_t logical = rounds->options->logical, i;

	for (i = 0; i < nr; i++) {
		uint32_t block = first + i, lawful, looks;
		CLEANUP_FREE char *may = NULL, *has = NULL;
		uint64_t sequence = 0;
		enum content content = content_recognize(
			buffer + (size_t)i * logical, logical,
			byte_of(rounds, cell, block), rounds->run, &sequence);

		lawful = lawful_contents(cell->lawful, cell->nr,
					 cell->first + block, began_ns,
					 ended_ns);
		looks = looks_like(cell, block, content, sequence);
		if (lawful & LAWFUL_ANYTHING || lawful & looks)
			continue;
		may = contents_text(cell, lawful);
		has = found_text(cell, content, sequence, looks);
		return (struct verdict) {
			.wrong = true, .reader = reader, .block = block,
			.fault = name_fault(cell, block, content, reader),
			.looks = looks,
			.text = message_format("must have %s, has %s", may,
					       has),
		};
	}
	return (struct verdict) { 0 };
}

/* Sending */

static void end_with(struct rounds *rounds, int status)
{
	if (status > rounds->status)
		rounds->status = status;
}

static void send_request(struct rounds *rounds, struct cell_request *request)
{
	struct cell *cell = request->cell;

	request->sent = true;
	cell->in_flight++;
	if (request == &cell->whole) {
		cell->whole_began_ns = clock_ns();
	} else {
		cell->waiting--;
		cell->lawful[request - cell->request].began_ns = clock_ns();
	}
	io_queue_start(rounds->queue, &request->io);
}

/* Send a read or a write of all of the cell. */
static void send_whole(struct rounds *rounds, struct cell *cell, enum io_op op,
		       uint64_t due_ns)
{
	struct cell_request *whole = &cell->whole;

	whole->io = (struct io_request) {
		.op = op, .by_thread = cell->method == METHOD_SYNC,
		.buffer = whole->memory,
		.bytes = (uint64_t)rounds->blocks * rounds->options->logical,
		.offset = byte_of(rounds, cell, 0),
	};
	whole->sent = false;
	whole->due_ns = due_ns;
	if (!due_ns)
		send_request(rounds, whole);
}

static void write_anew(struct rounds *rounds, struct cell *cell)
{
	uint32_t i;

	cell->state = CELL_WRITES;
	cell->anew = false;
	for (i = 0; i < rounds->blocks; i++)
		cell->known[i] = (struct known) { .sequence = rounds->sequence };
	content_fill(cell->whole.memory, byte_of(rounds, cell, 0),
		     (uint64_t)rounds->blocks * rounds->options->logical,
		     rounds->run, rounds->sequence++);
	send_whole(rounds, cell, IO_WRITE, 0);
}

/* Choose the kind of the next round: in turn, without those that cannot be. */
static bool next_kind(struct rounds *rounds, size_t *number)
{
	const struct rounds_options *options = rounds->options;
	size_t tries, i;

	for (tries = 0; tries < KIND_NR; tries++) {
		struct kind kind;
		bool can = true;

		*number = options->kind < KIND_NR ? options->kind :
			  (rounds->begun + tries) % KIND_NR;
		kind = kind_at(*number);
		for (i = 0; i < kind.nr; i++)
			can &= !rounds->result->untried[kind.part[i]];
		if (can)
			return true;
	}
	return false;
}

/* Make the requests of a round ready; they are sent when they are due. */
static void prepare_round(struct rounds *rounds, struct cell *cell)
{
	const struct rounds_options *options = rounds->options;
	uint64_t now_ns = clock_ns();
	uint32_t logical = options->logical;
	struct kind kind = kind_at(cell->kind);
	size_t i;

	kind_shapes(&kind, rounds->per_block, cell->random, cell->shape);
	cell->state = CELL_MEETS;
	cell->nr = kind.nr;
	cell->waiting = kind.nr;
	cell->sequence = rounds->sequence;
	rounds->sequence += KIND_PARTS;
	cell->found = (struct verdict) { 0 };
	for (i = 0; i < cell->nr; i++) {
		const struct kind_shape *shape = &cell->shape[i];
		struct cell_request *request = &cell->request[i];
		uint32_t moves = PAGE_BYTES / options->memory;
		uint64_t bytes = (uint64_t)shape->nr * logical;

		request->io = (struct io_request) {
			.op = kind_op(shape->part),
			.dsync = shape->part == PART_FUA,
			.by_thread = cell->method == METHOD_SYNC,
			.buffer = request->memory + options->memory *
				  (mix64(cell->random + i) % moves),
			.bytes = bytes,
			.offset = shape->nr ?
				  byte_of(rounds, cell, shape->first) : 0,
		};
		if (request->io.op == IO_WRITE)
			content_fill(request->io.buffer, request->io.offset,
				     bytes, rounds->run, cell->sequence + i);
		cell->lawful[i] = (struct lawful_request) {
			.effect = kind_effect(shape->part),
			.first = cell->first + shape->first, .nr = shape->nr,
			.ended_ns = UINT64_MAX,
		};
		request->sent = false;
		request->due_ns = now_ns +
				  shape->wait *
				  rounds->typical_ns[cell->method] / 256;
	}
}

/*
 * Choose the method of a round: they take turns, and of a kind, too, of which
 * there is an even number.
 */
static enum round_method next_method(const struct rounds *rounds,
				     uint64_t round)
{
	return rounds->only < METHOD_NR ? rounds->only :
	       (round + round / KIND_NR) % METHOD_NR;
}

/* Begin the next round of a cell; false: there is none. */
static bool begin_round(struct rounds *rounds, struct cell *cell, size_t index)
{
	const struct rounds_options *options = rounds->options;
	uint64_t place;

	if (rounds->status || interrupt_seen() ||
	    (options->rounds && rounds->begun >= options->rounds) ||
	    (options->until_ns && clock_ns() >= options->until_ns) ||
	    !next_kind(rounds, &cell->kind))
		return false;
	cell->round = rounds->begun++;
	cell->method = next_method(rounds, cell->round);
	cell->random = mix64(options->seed ^ mix64(cell->round + 1));
	if (!cell->left--) {
		cell->left = ROUNDS_A_PLACE - 1;
		place = mix64(cell->random) % rounds->places *
			options->cells + index;
		cell->first = options->start / options->logical +
			      place * rounds->blocks;
		cell->anew = true;
	}
	if (cell->anew || cell->random % 4 == 0)
		write_anew(rounds, cell);
	else
		prepare_round(rounds, cell);
	return true;
}

/*
 * Take over what the cell has now; where that is not known, it is written. A block
 * that was discarded has nothing that would stay until the next write.
 */
static void take_over(struct rounds *rounds, struct cell *cell)
{
	uint32_t logical = rounds->options->logical, i;

	for (i = 0; i < rounds->blocks; i++) {
		struct known *known = &cell->known[i];
		uint64_t sequence = 0;
		uint32_t may = lawful_contents(cell->lawful, cell->nr,
					       cell->first + i,
					       cell->whole_began_ns, UINT64_MAX);

		if (may & LAWFUL_ANYTHING ||
		    (known->anything && may & LAWFUL_BEFORE)) {
			*known = (struct known) { .anything = true };
			continue;
		}
		switch (content_recognize(cell->whole.memory +
					  (size_t)i * logical, logical,
					  byte_of(rounds, cell, i),
					  rounds->run, &sequence)) {
		case CONTENT_ZEROES:
			sequence = 0;
			break;
		case CONTENT_LABEL:
			break;
		default:
			cell->anew = true;
		}
		*known = (struct known) { .sequence = sequence };
	}
}

/* Judge the reads that were in flight with the other requests. */
static void judge_reads(const struct rounds *rounds, struct cell *cell)
{
	size_t i;

	for (i = 0; i < cell->nr && !cell->found.wrong; i++)
		if (cell->shape[i].part == PART_READ)
			cell->found = judge_read(rounds, cell, i,
						 cell->request[i].io.buffer,
						 cell->shape[i].first,
						 cell->shape[i].nr,
						 cell->lawful[i].began_ns,
						 cell->lawful[i].ended_ns);
}

/*
 * Judge a read afterwards. What it finds wrong is looked at again a little later:
 * if it is right then, the device has it, and the read was stale. Return: whether
 * the round is over.
 */
static bool finish_read(struct rounds *rounds, struct cell *cell)
{
	struct verdict now = judge_read(rounds, cell, cell->nr, cell->whole.memory,
					0, rounds->blocks, cell->whole_began_ns,
					UINT64_MAX);

	if (cell->state == CELL_READS_AGAIN) {
		if (!now.wrong)
			cell->found.fault = FAULT_STALE;
		free(now.text);
	} else if (now.wrong && (!cell->found.wrong ||
				 cell->found.fault == FAULT_STALE)) {
		/* a read in flight may have been the first to see a loss */
		free(cell->found.text);
		cell->found = now;
		cell->state = CELL_READS_AGAIN;
		send_whole(rounds, cell, IO_READ, clock_ns() +
			   AGAIN_TIMES * rounds->typical_ns[cell->method]);
		return false;
	} else {
		free(now.text);
	}
	take_over(rounds, cell);
	if (cell->found.wrong) {
		record_fault(rounds, cell);
		cell->anew = true;
	}
	rounds->result->rounds[cell->kind]++;
	rounds->result->method[cell->method].rounds++;
	return true;
}

/*
 * Take the result of a request of a round. What the device does not take is not
 * tried again, and may have been done in part. Any other error ends the work.
 */
static void finish_request(struct rounds *rounds, struct cell *cell,
			   struct cell_request *request)
{
	size_t i = request - cell->request;
	uint64_t now_ns = clock_ns();
	enum kind_part part = cell->shape[i].part;
	int result = request->io.result;
	uint64_t *typical_ns = &rounds->typical_ns[cell->method];

	if ((part == PART_DISCARD || part == PART_ZEROES) &&
	    (result == -EOPNOTSUPP || result == -EINVAL)) {
		rounds->result->untried[part] = -result;
		cell->lawful[i].effect = LAWFUL_DISCARDS;
		return;
	}
	if (part == PART_DISCARD || part == PART_ZEROES || part == PART_FLUSH) {
		if (result < 0) {
			message_error("%s: %s of %" PRIu64
				      " bytes at byte %" PRIu64 ": %s",
				      rounds->options->path,
				      kind_part_name(part), request->io.bytes,
				      request->io.offset, strerror(-result));
			end_with(rounds, ALIGNCTL_IO);
		}
	} else {
		end_with(rounds, io_request_check(&request->io,
						  rounds->options->path));
	}
	if (result < 0)
		return;
	cell->lawful[i].ended_ns = now_ns;
	*typical_ns += ((int64_t)(now_ns - cell->lawful[i].began_ns) -
			(int64_t)*typical_ns) / 16;
}

/* Go on with a cell, one of whose requests has ended; false: it has no more. */
static bool go_on(struct rounds *rounds, struct cell *cell, size_t index,
		  struct cell_request *request)
{
	cell->in_flight--;
	if (request != &cell->whole)
		finish_request(rounds, cell, request);
	else
		end_with(rounds, io_request_check(&request->io,
						  rounds->options->path));
	if (cell->in_flight || cell->waiting)
		return true;
	if (rounds->status)
		return false;
	switch (cell->state) {
	case CELL_WRITES:
		prepare_round(rounds, cell);
		return true;
	case CELL_MEETS:
		judge_reads(rounds, cell);
		cell->state = CELL_READS;
		send_whole(rounds, cell, IO_READ, 0);
		return true;
	case CELL_READS:
	case CELL_READS_AGAIN:
		break;
	}
	return !finish_read(rounds, cell) || begin_round(rounds, cell, index);
}

/*
 * Send what is due. Return: when the next request is, UINT64_MAX: none waits.
 */
static uint64_t send_due(struct rounds *rounds, struct cell *cell)
{
	uint64_t now_ns = clock_ns(), next_ns = UINT64_MAX;
	size_t i;

	if (cell->state == CELL_READS_AGAIN && !cell->whole.sent) {
		if (cell->whole.due_ns > now_ns)
			return cell->whole.due_ns;
		send_request(rounds, &cell->whole);
	}
	for (i = 0; cell->state == CELL_MEETS && i < cell->nr; i++) {
		struct cell_request *request = &cell->request[i];

		if (request->sent)
			continue;
		if (request->due_ns <= now_ns)
			send_request(rounds, request);
		else if (request->due_ns < next_ns)
			next_ns = request->due_ns;
	}
	return next_ns;
}

static void cell_open(const struct rounds *rounds, struct cell *cell)
{
	uint64_t bytes = (uint64_t)rounds->blocks * rounds->options->logical;
	size_t i;

	cell->known = memory_or_exit(calloc(rounds->blocks,
					    sizeof(*cell->known)));
	cell->whole.cell = cell;
	cell->whole.memory = io_memory(bytes);
	for (i = 0; i < KIND_PARTS; i++) {
		cell->request[i].cell = cell;
		cell->request[i].memory = io_memory(bytes + PAGE_BYTES);
	}
}

static void cell_close(struct cell *cell)
{
	size_t i;

	free(cell->known);
	free(cell->whole.memory);
	for (i = 0; i < KIND_PARTS; i++)
		free(cell->request[i].memory);
}

static void show_progress(struct rounds *rounds)
{
	const struct rounds_result *result = rounds->result;
	uint64_t faults = 0;
	size_t i;

	for (i = 0; i < FAULT_NR; i++)
		faults += result->faults[i];
	CLEANUP_FREE char *text = message_format(
		"conform: %" PRIu64 " rounds, %" PRIu64 " with a fault",
		rounds_sum(result), faults);
	progress_text(&rounds->progress, text);
}

/* Let all cells do rounds until none has one left. */
static void run_cells(struct rounds *rounds, struct cell *cell, size_t nr)
{
	CLEANUP_FREE bool *on = memory_or_exit(calloc(nr + 1, sizeof(*on)));
	size_t left = 0, i;
	unsigned int turn = 0;

	for (i = 0; i < nr; i++) {
		on[i] = begin_round(rounds, &cell[i], i);
		left += on[i];
	}
	while (left) {
		uint64_t next_ns = UINT64_MAX, due_ns;
		struct io_request *ended;
		bool busy = false;

		for (i = 0; i < nr; i++) {
			if (!on[i])
				continue;
			due_ns = send_due(rounds, &cell[i]);
			if (due_ns < next_ns)
				next_ns = due_ns;
			busy |= cell[i].in_flight > 0;
		}
		ended = io_queue_poll(rounds->queue);
		if (!ended && (next_ns == UINT64_MAX ||
			       next_ns > clock_ns() + SLEEP_NS))
			io_queue_sleep(rounds->queue, next_ns, busy);
		if (!(++turn % 256))
			show_progress(rounds);
		if (!ended)
			continue;
		struct cell_request *request = (struct cell_request *)ended;

		i = request->cell - cell;
		on[i] = go_on(rounds, &cell[i], i, request);
		left -= !on[i];
	}
}

/* Open the queue for the methods that are asked for. */
static void open_queue(struct rounds *rounds)
{
	const struct rounds_options *options = rounds->options;
	unsigned int methods = options->method == METHOD_SYNC ? IO_BY_THREADS :
			       options->method == METHOD_URING ? IO_BY_RING :
			       IO_BY_RING | IO_BY_THREADS;

	rounds->queue = io_queue_open_by(options->fd,
					 options->cells * (KIND_PARTS + 1),
					 methods);
	rounds->only = options->method;
	if (io_queue_has_ring(rounds->queue))
		return;
	if (options->method == METHOD_URING) {
		message_error("%s: this kernel or container forbids io_uring; take --method sync",
			      options->path);
		end_with(rounds, ALIGNCTL_IO);
	}
	rounds->only = METHOD_SYNC;
}

int rounds_run(const struct rounds_options *options,
	       struct rounds_result *result)
{
	struct rounds rounds = {
		.options = options, .result = result,
		.run = pattern_run(options->seed ^ clock_ns()),
		.per_block = options->block / options->logical,
		.blocks = CELL_BLOCKS * (options->block / options->logical),
		.sequence = 1, .typical_ns = { TYPICAL_NS, TYPICAL_NS },
	};
	struct cell *cell = memory_or_exit(calloc(options->cells,
						  sizeof(*cell)));
	unsigned int i;

	memset(result, 0, sizeof(*result));
	rounds.places = options->bytes / options->cells /
			((uint64_t)CELL_BLOCKS * options->block);
	open_queue(&rounds);
	progress_start(&rounds.progress, "conform", options->rounds);
	for (i = 0; i < options->cells; i++)
		cell_open(&rounds, &cell[i]);
	run_cells(&rounds, cell, options->cells);
	progress_end(&rounds.progress);
	io_queue_close(rounds.queue);
	for (i = 0; i < options->cells; i++)
		cell_close(&cell[i]);
	free(cell);
	return rounds.status;
}

void rounds_free(struct rounds_result *result)
{
	size_t i;

	for (i = 0; i < result->nr; i++)
		free(result->fault[i].text);
	result->nr = 0;
}
