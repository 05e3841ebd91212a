// SPDX-License-Identifier: GPL-2.0
/* Files of conform --prepare, with right checks: what is in them may be anything. */
#include "conform/cut_state.c"
#include "fuzz.h"
#include "fuzz_files.h"

/* Make the checks right, without which nothing is read. */
static void sign(uint8_t *file, size_t size)
{
	size_t at = CUT_STATE_HEADER, i;
	uint64_t run;

	if (size < CUT_STATE_HEADER)
		return;
	memcpy(file, magic, sizeof(magic) - 1);
	put64(file + AT_VERSION, VERSION);
	put64(file + AT_CHECK, header_check(file));
	run = le64_at(file + AT_RUN);
	for (i = 0; at + CUT_STATE_RECORD <= size;
	     i++, at += CUT_STATE_RECORD)
		put64(file + at + AT_RECORD_CHECK,
		      record_check(run, i, le64_at(file + at + AT_WHAT),
				   le64_at(file + at + AT_TIME)));
}

static void check(const struct cut_state *state, size_t size)
{
	size_t records = (size - CUT_STATE_HEADER) / CUT_STATE_RECORD, i;
	uint64_t next = 0, last = 0;

	FUZZ_CHECK(header_possible(&state->header));
	FUZZ_CHECK(strlen(state->header.path) <= CUT_STATE_PATH);
	FUZZ_CHECK(state->nr <= records && state->stop <= CUT_STOP_STATE);
	FUZZ_CHECK(state->left_out <= size - CUT_STATE_HEADER);
	for (i = 0; i < state->nr; i++) {
		const struct cut_sent *sent = &state->sent[i];

		FUZZ_CHECK(sent->number >= next &&
			   sent->number < state->may_send);
		FUZZ_CHECK(sent->began_ns > last &&
			   sent->ended_ns > sent->began_ns &&
			   (sent->ended_ns <= state->last_ns ||
			    sent->ended_ns == UINT64_MAX));
		FUZZ_CHECK(find_sent(state, sent->number) == sent);
		next = sent->number + 1;
		last = sent->began_ns;
	}
	FUZZ_CHECK(state->may_send <= next + AHEAD_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cut_state state;
	uint8_t *file = malloc(size + 1);

	FUZZ_CHECK(file);
	memcpy(file, data, size);
	sign(file, size);
	if (cut_state_load(&state, fuzz_given(file, size)) == ALIGNCTL_FINE) {
		check(&state, size);
		cut_state_free(&state);
	}
	free(file);
	return 0;
}
