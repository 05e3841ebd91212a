// SPDX-License-Identifier: GPL-2.0
/* Write tallies as lines of a partial plan, and parse and check such a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/replace.h"
#include "forecast/part.h"
#include "forecast/what_if.h"
#include "trace/crc32c.h"
#include "trace/names.h"
#include "trace/percent.h"

/* The first line; the number rises when older programs would misread a file. */
#define TITLE	"alignctl partial plan 1"

/* Bytes of a line: an encoded name is the longest part of one. */
#define LINE_BYTES	(3 * TRACE_MAX_NAME + 256)

/* Digits of a digest's word, and of the checksum. */
#define WORD_DIGITS	16
#define CRC_DIGITS	8

/* Writing */

static void put_operations(FILE *out, const char *word, const uint64_t *count)
{
	unsigned int op;

	fputs(word, out);
	for (op = 0; op < TRACE_NR_OPS; op++)
		fprintf(out, " %" PRIu64, count[op]);
	fputc('\n', out);
}

static void put_tally(FILE *out, const struct tally *tally)
{
	CLEANUP_FREE struct write_kind *kind = tally_kinds(tally);
	CLEANUP_FREE char *name = percent_encode(tally->disk);
	uint32_t i;

	fprintf(out, "disk %016" PRIx64 " %016" PRIx64 " %u %" PRIu64 " %"
		PRIu64 " %" PRIu64 " %s\n", tally->digest[0], tally->digest[1],
		tally->timed, tally->first_ns, tally->last_ns, tally->nr, name);
	put_operations(out, "requests", tally->requests);
	put_operations(out, "bytes", tally->bytes);
	if (tally->modes_known)
		fprintf(out, "left %" PRIu64 " %" PRIu64 "\n", tally->pad_left,
			tally->coalesce_left);
	for (i = 0; i < tally->nr_kinds; i++)
		fprintf(out, "kind %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
			kind[i].start, kind[i].length, kind[i].nr);
}

int part_write(const struct tallies *tallies, const char *path)
{
	const struct tallies_question *q = &tallies->question;
	CLEANUP_FREE char *text = NULL;
	FILE *out;
	size_t bytes;
	uint32_t i;

	out = memory_or_exit(open_memstream(&text, &bytes));
	fprintf(out, TITLE "\nblocks %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %"
		PRIu64 "\nmodes %s\n", (uint32_t)q->geometry.physical,
		(uint32_t)q->geometry.logical, (uint32_t)q->geometry.offset,
		(uint64_t)q->geometry.end_sector, q->shift,
		q->touches_only ? "no" : "yes");
	for (i = 0; i < tallies->nr; i++)
		put_tally(out, &tallies->tally[i]);
	fflush(out);
	fprintf(out, "end %" PRIu32 " %08" PRIx32 "\n", tallies->nr,
		crc32c(0, text, bytes));
	if (fclose(out))
		memory_or_exit(NULL);
	return replace_file("partial", path, text, bytes);
}

/* Reading */

/**
 * struct part - a file that is being read
 * @path: its path
 * @in: the file
 * @line: the current line, without its end
 * @number: number of the line
 * @crc: checksum of the lines before the current one
 * @next_crc: checksum up to the current one
 * @tallies: the tallies go here
 */
struct part {
	const char *path;
	FILE *in;
	char line[LINE_BYTES];
	uint64_t number;
	uint32_t crc;
	uint32_t next_crc;
	struct tallies *tallies;
};

static int refuse_part(const struct part *part, const char *reason)
{
	message_error("%s: line %" PRIu64 ": %s", part->path, part->number,
		      reason);
	return ALIGNCTL_USAGE;
}

/* Read a line that must be there. Return: enum alignctl_exit; reported. */
static int read_line(struct part *part)
{
	size_t length;

	part->number++;
	part->crc = part->next_crc;
	if (!fgets(part->line, sizeof(part->line), part->in)) {
		if (!ferror(part->in))
			return refuse_part(part, "the file ends before its last line; make it again");
		message_error("%s: %s", part->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	length = strlen(part->line);
	if (!length || part->line[length - 1] != '\n')
		return refuse_part(part, feof(part->in) ?
				   "the file ends before its last line; make it again" :
				   "has a byte 0, or is longer than any line of a partial plan");
	part->next_crc = crc32c(part->crc, part->line, length);
	part->line[length - 1] = '\0';
	return ALIGNCTL_FINE;
}

/* Advance past a word and the blank behind it. Return: false if it is not there. */
static bool skip_word(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length) || (*at)[length] != ' ')
		return false;
	*at += length + 1;
	return true;
}

/* Read @nr numbers of at most @max, one blank apart, and the blank behind. */
static bool read_numbers(const char **at, uint64_t max, uint64_t *number,
			 size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!decimal_read(at, max, &number[i]))
			return false;
		if (**at == ' ')
			++*at;
		else if (i + 1 < nr)
			return false;
	}
	return true;
}

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Read @digits hexadecimal digits, and the blank behind. */
static bool read_hex(const char **at, unsigned int digits, uint64_t *number)
{
	for (*number = 0; digits; digits--, ++*at) {
		int digit = digit_of(**at);

		if (digit < 0)
			return false;
		*number = *number << 4 | (uint64_t)digit;
	}
	if (**at == ' ')
		++*at;
	return true;
}

static bool same_question(const struct tallies_question *a,
			  const struct tallies_question *b)
{
	return a->geometry.physical == b->geometry.physical &&
	       a->geometry.logical == b->geometry.logical &&
	       a->geometry.offset == b->geometry.offset &&
	       a->geometry.end_sector == b->geometry.end_sector &&
	       a->shift == b->shift && a->touches_only == b->touches_only;
}

/* Read the question, which is that of all files. Return: enum alignctl_exit. */
static int read_question(struct part *part)
{
	enum { PHYSICAL, LOGICAL, OFFSET, SECTORS, SHIFT, NR };
	struct tallies *tallies = part->tallies;
	const char *at, *wrong = NULL;
	struct align_geometry g;
	uint64_t number[NR];
	struct tallies asked;
	bool touches_only;
	int result;

	result = read_line(part);
	if (result)
		return result;
	if (strcmp(part->line, TITLE))
		return refuse_part(part, "is no partial plan of this version; make one with plan --partial");
	result = read_line(part);
	if (result)
		return result;
	at = part->line;
	if (!skip_word(&at, "blocks") ||
	    !read_numbers(&at, UINT64_MAX, number, NR) || *at ||
	    number[PHYSICAL] > UINT32_MAX || number[LOGICAL] > UINT32_MAX ||
	    number[OFFSET] > UINT32_MAX)
		wrong = "must be \"blocks\" and five numbers";
	if (!wrong)
		wrong = align_geometry_init(&g, (uint32_t)number[PHYSICAL],
					    (uint32_t)number[LOGICAL],
					    (uint32_t)number[OFFSET], 0,
					    number[SECTORS]);
	if (wrong)
		return refuse_part(part, wrong);
	result = read_line(part);
	if (result)
		return result;
	touches_only = !strcmp(part->line, "modes no");
	if (!touches_only && strcmp(part->line, "modes yes"))
		return refuse_part(part, "must be \"modes yes\" or \"modes no\"");
	tallies_begin(&asked, &g, number[SHIFT], touches_only, tallies->most_bytes);
	if (!tallies->question.sectors)
		tallies->question = asked.question;
	if (!same_question(&tallies->question, &asked.question))
		return refuse_part(part, "answers for other blocks, size, shift or extent than the files before; make all with the same options");
	return ALIGNCTL_FINE;
}

static int read_operations(struct part *part, const char *word,
			   uint64_t *count)
{
	const char *at;
	int result = read_line(part);

	if (result)
		return result;
	at = part->line;
	if (skip_word(&at, word) &&
	    read_numbers(&at, UINT64_MAX, count, TRACE_NR_OPS) && !*at)
		return ALIGNCTL_FINE;
	return refuse_part(part, "must be the numbers of the disk's operations");
}

/* Tell whether the numbers of operations are those of all requests. */
static bool adds_up(const struct tally *tally)
{
	uint64_t nr = 0, written;
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++)
		if (__builtin_add_overflow(nr, tally->requests[op], &nr))
			return false;
	return nr == tally->nr &&
	       !__builtin_add_overflow(tally->bytes[TRACE_WRITE],
				       tally->bytes[TRACE_WRITE_ZEROES],
				       &written);
}

/* Read the kinds of writes, which rise, and the line behind them. */
static int read_kinds(struct part *part, struct tally *tally)
{
	enum { START, LENGTH, NUMBER, NR };
	const uint32_t sectors = part->tallies->question.sectors;
	uint64_t number[NR], before = 0, place, writes = 0;
	const char *at;
	int result;

	while (!(result = read_line(part))) {
		at = part->line;
		if (!skip_word(&at, "kind"))
			break;
		if (!read_numbers(&at, UINT64_MAX, number, NR) || *at ||
		    number[START] >= sectors || !number[LENGTH] ||
		    number[LENGTH] >= 2ULL * sectors || !number[NUMBER])
			return refuse_part(part, "must be \"kind\", and start, length and number of writes");
		place = number[START] << 32 | number[LENGTH];
		if (tally->nr_kinds && place <= before)
			return refuse_part(part, "this kind of writes does not rise");
		before = place;
		if (__builtin_add_overflow(writes, number[NUMBER], &writes))
			return refuse_part(part, "more writes than 64 bits have numbers");
		tally_add_kind(tally, (uint32_t)number[START],
			       (uint32_t)number[LENGTH], number[NUMBER]);
	}
	if (!result && (!adds_up(tally) || writes != tally_writes(tally)))
		return refuse_part(part, "the kinds of writes before this line are not all of the disk's writes");
	return result;
}

/*
 * Read the lines of a tally, of which the first is the current one, and the line
 * behind. Return: enum alignctl_exit; reported.
 */
static int read_tally(struct part *part, struct tally *tally)
{
	enum { TIMED, FIRST, LAST, ALL, NR };
	uint64_t number[NR], digest[TALLY_DIGEST_WORDS], left[2];
	CLEANUP_FREE char *name = NULL;
	const char *at = part->line;
	int result;

	if (skip_word(&at, "disk") && read_hex(&at, WORD_DIGITS, &digest[0]) &&
	    read_hex(&at, WORD_DIGITS, &digest[1]) &&
	    read_numbers(&at, UINT64_MAX, number, NR) && number[TIMED] <= 1 &&
	    number[FIRST] <= number[LAST])
		name = percent_decode(at);
	if (!name || !*name)
		return refuse_part(part, "must be \"disk\", and digest, times and name of a disk");
	tally_begin(tally, name, number[TIMED]);
	memcpy(tally->digest, digest, sizeof(digest));
	tally->first_ns = number[FIRST];
	tally->last_ns = number[LAST];
	tally->nr = number[ALL];
	result = read_operations(part, "requests", tally->requests);
	if (!result)
		result = read_operations(part, "bytes", tally->bytes);
	if (!result && !part->tallies->question.touches_only &&
	    align_can_fix(&part->tallies->question.geometry)) {
		result = read_line(part);
		at = part->line;
		if (!result && (!skip_word(&at, "left") ||
				!read_numbers(&at, UINT64_MAX, left, 2) || *at))
			return refuse_part(part, "must be \"left\", and what pad and coalesce leave");
		if (result)
			return result;
		tally->modes_known = true;
		tally->pad_left = left[0];
		tally->coalesce_left = left[1];
	}
	return result ? result : read_kinds(part, tally);
}

/* Check the last line, which is the current one. Return: enum alignctl_exit. */
static int read_end(struct part *part, uint32_t nr)
{
	const char *at = part->line;
	uint64_t number, crc;

	if (!skip_word(&at, "end") || !read_numbers(&at, UINT32_MAX, &number, 1) ||
	    !read_hex(&at, CRC_DIGITS, &crc) || *at)
		return refuse_part(part, "must be \"kind\", \"disk\" or \"end\" with their numbers");
	if (number != nr || crc != part->crc)
		return refuse_part(part, "the lines before are not those that were written: their number or checksum differs; make the file again");
	if (fgetc(part->in) != EOF)
		return refuse_part(part, "something follows the last line");
	return ALIGNCTL_FINE;
}

static int read_tallies(struct part *part)
{
	uint32_t nr = 0;
	int result = read_line(part);

	while (!result && !strncmp(part->line, "disk ", 5)) {
		struct tally tally = { 0 };

		result = read_tally(part, &tally);
		if (result)
			tally_free(&tally);
		else
			result = tallies_take(part->tallies, &tally);
		nr++;
	}
	return result ? result : read_end(part, nr);
}

int part_read(struct tallies *tallies, const char *path)
{
	struct part part = { .path = path, .tallies = tallies };
	int result;

	part.in = fopen(path, "re");
	if (!part.in) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	result = read_question(&part);
	if (!result)
		result = read_tallies(&part);
	fclose(part.in);
	return result;
}
