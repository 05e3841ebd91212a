// SPDX-License-Identifier: GPL-2.0
/* The file that tells after a power cut what was sent: whole, cut off, damaged. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/mix.h"
#include "base/units.h"
#include "conform/cut_state.h"
#include "tests/tap.h"

#define RECORDS		11U
#define WHOLE		(CUT_STATE_HEADER + RECORDS * CUT_STATE_RECORD)

static const struct cut_header header = {
	.area = {
		.start = MIB, .bytes = 64 * PAGE_BYTES, .logical = 512,
		.block = PAGE_BYTES, .seed = 7, .run = 0x8181818181818181,
	},
	.device_bytes = 8 * MIB, .since_ns = 123, .path = "/dev/a",
};

/* The records, in the order of the file. */
static const struct { enum cut_record kind; uint64_t number; } records[] = {
	{ CUT_READY, 0 }, { CUT_MAY_SEND, 8 }, { CUT_BEGAN, 0 },
	{ CUT_BEGAN, 1 }, { CUT_ENDED, 1 },
	{ CUT_UNTRIED, (uint64_t)95 << 8 | PART_DISCARD }, { CUT_BEGAN, 4 },
	{ CUT_ENDED, 0 }, { CUT_MAY_SEND, 12 }, { CUT_ENDED, 4 },
	{ CUT_STOPPED, CUT_STOP_SIGNAL },
};

_Static_assert(sizeof(records) / sizeof(records[0]) == RECORDS, "as many");

/* Make a file with all records; set its path, which the caller removes. */
static void make(char *path)
{
	struct cut_log *log;
	size_t i;

	strcpy(path, "alignctl-state-XXXXXX");
	close(mkstemp(path));
	unlink(path);
	CHECK(!cut_log_create(&log, path, &header, NULL), "not made");
	for (i = 0; i < RECORDS; i++) {
		cut_log_add(log, records[i].kind, records[i].number);
		if (i == 1)
			CHECK(!cut_log_wait(log) && cut_log_may_send(log) == 8,
			      "may send %" PRIu64, cut_log_may_send(log));
	}
	CHECK(!cut_log_close(log), "not written");
}

static size_t read_back(const char *path, uint8_t *bytes, size_t room)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, bytes, room);

	return got > 0 ? (size_t)got : 0;
}

static void write_back(const char *path, const uint8_t *bytes, size_t nr)
{
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC |
				    O_CLOEXEC, 0600);

	CHECK(write(fd, bytes, nr) == (ssize_t)nr, "%zu bytes", nr);
}

/* Compare with what the first @nr records say, worked out one by one. */
static void check_prefix(const struct cut_state *state, size_t nr)
{
	uint64_t may_send = 0, last = 0;
	size_t began = 0, ended = 0, have = 0, i;
	bool ready = false, untried = false, stopped = false;

	for (i = 0; i < nr; i++) {
		began += records[i].kind == CUT_BEGAN;
		ended += records[i].kind == CUT_ENDED;
		if (records[i].kind == CUT_MAY_SEND)
			may_send = records[i].number;
		ready |= records[i].kind == CUT_READY;
		untried |= records[i].kind == CUT_UNTRIED;
		stopped |= records[i].kind == CUT_STOPPED;
	}
	CHECK(state->nr == began && state->may_send == may_send &&
	      state->ready == ready && (state->untried[PART_DISCARD] == 95) ==
	      untried && (state->stop == CUT_STOP_SIGNAL) == stopped,
	      "%zu records: %zu sent, up to %" PRIu64, nr, state->nr,
	      state->may_send);
	for (i = 0; i < state->nr; i++) {
		CHECK(state->sent[i].began_ns > last, "not in order");
		last = state->sent[i].began_ns;
		have += state->sent[i].ended_ns != UINT64_MAX;
	}
	CHECK(have == ended, "%zu records: %zu have ended, not %zu", nr, have,
	      ended);
	CHECK(!memcmp(&state->header.area, &header.area, sizeof(header.area)) &&
	      state->header.device_bytes == header.device_bytes &&
	      state->header.since_ns == header.since_ns &&
	      !strcmp(state->header.path, header.path), "another header");
}

static void what_is_whole_counts(void)
{
	uint8_t bytes[WHOLE + 1];
	struct cut_state state;
	char path[32];
	size_t size, nr;

	make(path);
	size = read_back(path, bytes, sizeof(bytes));
	CHECK(size == WHOLE, "%zu bytes", size);
	for (nr = CUT_STATE_HEADER; nr <= size; nr++) {
		write_back(path, bytes, nr);
		CHECK(!cut_state_load(&state, path), "%zu bytes", nr);
		check_prefix(&state, (nr - CUT_STATE_HEADER) /
				     CUT_STATE_RECORD);
		CHECK(state.left_out == (nr - CUT_STATE_HEADER) %
					CUT_STATE_RECORD, "%zu bytes", nr);
		cut_state_free(&state);
	}
	unlink(path);
}

static void a_damaged_file_counts_up_to_the_damage(void)
{
	uint8_t bytes[WHOLE], damaged[WHOLE];
	struct cut_state state;
	char path[32];
	size_t at, nr;
	int result;

	make(path);
	CHECK(read_back(path, bytes, sizeof(bytes)) == WHOLE, "not whole");
	for (at = 0; at < WHOLE; at++) {
		memcpy(damaged, bytes, sizeof(damaged));
		damaged[at] ^= 1 + mix64(at) % 255;
		write_back(path, damaged, sizeof(damaged));
		result = cut_state_load(&state, path);
		if (at < CUT_STATE_HEADER) {
			CHECK(result == ALIGNCTL_USAGE, "byte %zu: %d", at,
			      result);
			continue;
		}
		CHECK(!result, "byte %zu: %d", at, result);
		nr = (at - CUT_STATE_HEADER) / CUT_STATE_RECORD;
		check_prefix(&state, nr);
		CHECK(state.left_out == (RECORDS - nr) * CUT_STATE_RECORD,
		      "byte %zu", at);
		cut_state_free(&state);
	}
	unlink(path);
}

static void garbage_is_refused(void)
{
	uint8_t bytes[WHOLE];
	struct cut_state state;
	char path[32];
	size_t size, i;

	make(path);
	for (size = 0; size < WHOLE; size++) {
		for (i = 0; i < size; i++)
			bytes[i] = (uint8_t)mix64(size * WHOLE + i);
		write_back(path, bytes, size);
		CHECK(cut_state_load(&state, path) == ALIGNCTL_USAGE,
		      "%zu bytes", size);
	}
	unlink(path);
	CHECK(cut_state_load(&state, path) == ALIGNCTL_USAGE, "no file");
	CHECK(cut_state_load(&state, ".") == ALIGNCTL_USAGE, "a folder");
}

/* Records of another file, and ones at another place, must not be believed. */
static void records_belong_to_their_place(void)
{
	uint8_t bytes[WHOLE], other[WHOLE];
	struct cut_state state;
	char path[32];

	make(path);
	CHECK(read_back(path, bytes, sizeof(bytes)) == WHOLE, "not whole");
	memcpy(other, bytes, sizeof(other));
	memcpy(other + WHOLE - CUT_STATE_RECORD,
	       bytes + WHOLE - 2 * CUT_STATE_RECORD, CUT_STATE_RECORD);
	write_back(path, other, sizeof(other));
	CHECK(!cut_state_load(&state, path), "not read");
	check_prefix(&state, RECORDS - 1);
	cut_state_free(&state);
	unlink(path);
}

/*
 * Numbers of requests that the device does not take are skipped, so that more than the
 * requests ahead may lie between the last one sent and the first that must not be.
 */
static void skipped_numbers_may_be_sent_beyond(void)
{
	const uint64_t last = 100, skipped = 20;
	const uint64_t end = last + 1 + skipped + 4 * CUT_MAX_DEPTH;
	struct cut_state state;
	struct cut_log *log;
	char path[32];

	make(path);
	unlink(path);
	CHECK(!cut_log_create(&log, path, &header, NULL), "not made");
	cut_log_add(log, CUT_READY, 0);
	cut_log_add(log, CUT_MAY_SEND, 4 * CUT_MAX_DEPTH);
	cut_log_add(log, CUT_UNTRIED, (uint64_t)95 << 8 | PART_ZEROES);
	cut_log_add(log, CUT_BEGAN, last);
	cut_log_add(log, CUT_MAY_SEND, end);
	CHECK(!cut_log_close(log), "not written");
	CHECK(!cut_state_load(&state, path) && state.may_send == end,
	      "up to %" PRIu64 ", not %" PRIu64, state.may_send, end);
	cut_state_free(&state);
	unlink(path);
	/* but no file says that so many are */
	CHECK(!cut_log_create(&log, path, &header, NULL), "not made");
	cut_log_add(log, CUT_READY, 0);
	cut_log_add(log, CUT_MAY_SEND, UINT64_C(1) << 40);
	CHECK(!cut_log_close(log), "not written");
	CHECK(!cut_state_load(&state, path) &&
	      state.may_send <= 8 * CUT_MAX_DEPTH, "up to %" PRIu64,
	      state.may_send);
	cut_state_free(&state);
	unlink(path);
}

const struct tap_test cut_state_tests[] = {
	{ "of a file that a thread wrote and that was cut off, what is whole counts",
	  what_is_whole_counts },
	{ "a file of a thread's that is damaged counts up to the damage",
	  a_damaged_file_counts_up_to_the_damage },
	{ "garbage is no file of a cut, after a thread's file",
	  garbage_is_refused },
	{ "a record at another place than a thread wrote it to is not believed",
	  records_belong_to_their_place },
	{ "of a thread's file, requests behind numbers that are skipped may be sent",
	  skipped_numbers_may_be_sent_beyond },
	{ 0 }
};
