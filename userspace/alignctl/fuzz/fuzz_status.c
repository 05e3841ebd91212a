// SPDX-License-Identifier: GPL-2.0
/* Status and table lines of the kernel. */
#include <sys/sysmacros.h>

#include "ledger/status.h"
#include "fuzz.h"

/* Return the value of the first "name:value" of the line, or NULL. */
static const char *value(const char *line, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s:", name);
	at = strstr(line, key);
	return at ? at + strlen(key) : NULL;
}

static bool says(const char *line, const char *name, uint64_t number)
{
	const char *at = value(line, name);

	return at && fuzz_is_number(at, strcspn(at, " "), number);
}

static bool lacks(const char *line, const char *name, uint64_t number)
{
	return !number && !value(line, name);
}

static bool fits(const char *line, const char *name, uint64_t max)
{
	const char *at = value(line, name);

	return at && fuzz_is_at_most(at, strcspn(at, " "), max);
}

static bool fits_or_lacks(const char *line, const char *name)
{
	return fits(line, name, UINT64_MAX) || lacks(line, name, 0);
}

static bool lawful(const char *line)
{
	const char *offset = value(line, "alignment_offset");

	return strcspn(line, " ") && strcspn(line, " ") < STATUS_MODE_MAX &&
	       offset && (fits(line, "alignment_offset", INT64_MAX) ||
			  (strcspn(offset, " ") == 7 &&
			   !strncmp(offset, "unknown", 7))) &&
	       fits(line, "physical_block_size", UINT32_MAX) &&
	       fits_or_lacks(line, "max_blocks") &&
	       fits_or_lacks(line, "blocks") &&
	       fits_or_lacks(line, "memory_bytes") &&
	       fits(line, "epoch", UINT64_MAX) &&
	       fits_or_lacks(line, "held_blocks") &&
	       fits_or_lacks(line, "degraded") &&
	       (fits(line, "held_bytes", INT64_MAX) ||
		!value(line, "held_bytes"));
}

static void check_status(const char *line)
{
	struct align_status status, untouched, again;
	struct align_state state, state_untouched, state_again;
	char printed[512];

	memset(&status, 0x5a, sizeof(status));
	untouched = status;
	memset(&state, 0x5a, sizeof(state));
	state_untouched = state;
	if (!status_parse(line, &status, &state)) {
		FUZZ_CHECK(!lawful(line));
		FUZZ_CHECK(!memcmp(&status, &untouched, sizeof(status)));
		FUZZ_CHECK(!memcmp(&state, &state_untouched, sizeof(state)));
		return;
	}
	FUZZ_CHECK(says(line, "physical_block_size", status.physical));
	FUZZ_CHECK(says(line, "max_blocks", status.max_blocks) ||
		   lacks(line, "max_blocks", status.max_blocks));
	FUZZ_CHECK(says(line, "blocks", status.blocks) ||
		   lacks(line, "blocks", status.blocks));
	FUZZ_CHECK(says(line, "memory_bytes", status.memory_bytes) ||
		   lacks(line, "memory_bytes", status.memory_bytes));
	FUZZ_CHECK(says(line, "epoch", state.epoch));
	FUZZ_CHECK(says(line, "held_blocks", state.held_blocks) ||
		   lacks(line, "held_blocks", state.held_blocks));
	FUZZ_CHECK(says(line, "degraded", state.degraded) ||
		   lacks(line, "degraded", state.degraded));
	FUZZ_CHECK(!maybe_known(state.held_bytes) ?
		   !value(line, "held_bytes") :
		   says(line, "held_bytes",
			(uint64_t)maybe_or(state.held_bytes, 0)));
	FUZZ_CHECK(!maybe_known(status.offset) ||
		   says(line, "alignment_offset",
			(uint64_t)maybe_or(status.offset, 0)));
	FUZZ_CHECK(strlen(status.mode) == strcspn(line, " ") &&
		   !strncmp(line, status.mode, strlen(status.mode)));

	snprintf(printed, sizeof(printed),
		 !maybe_known(status.offset) ?
		 "%s physical_block_size:%" PRIu32 " alignment_offset:unknown%.0" PRId64 :
		 "%s physical_block_size:%" PRIu32 " alignment_offset:%" PRId64,
		 status.mode, status.physical, maybe_or(status.offset, 0));
	snprintf(printed + strlen(printed), sizeof(printed) - strlen(printed),
		 " max_blocks:%" PRIu64 " blocks:%" PRIu64 " memory_bytes:%"
		 PRIu64 " epoch:%" PRIu64 " held_blocks:%" PRIu64
		 " degraded:%" PRIu64, status.max_blocks, status.blocks,
		 status.memory_bytes, state.epoch, state.held_blocks,
		 state.degraded);
	if (maybe_known(state.held_bytes))
		snprintf(printed + strlen(printed),
			 sizeof(printed) - strlen(printed),
			 " held_bytes:%" PRId64,
			 maybe_or(state.held_bytes, 0));
	memset(&again, 0x5a, sizeof(again));
	FUZZ_CHECK(status_parse(printed, &again, &state_again));
	FUZZ_CHECK(!strcmp(again.mode, status.mode) &&
		   again.physical == status.physical &&
		   maybe_equal(again.offset, status.offset) &&
		   again.max_blocks == status.max_blocks &&
		   again.blocks == status.blocks &&
		   again.memory_bytes == status.memory_bytes &&
		   state_again.epoch == state.epoch &&
		   state_again.held_blocks == state.held_blocks &&
		   state_again.degraded == state.degraded &&
		   maybe_equal(state_again.held_bytes, state.held_bytes));
}

static void check_table(const char *line)
{
	struct align_table table, untouched;
	size_t colon = strcspn(line, ":"), blank = strcspn(line, " ");

	memset(&table, 0x5a, sizeof(table));
	untouched = table;
	if (!status_parse_table(line, &table)) {
		FUZZ_CHECK(!memcmp(&table, &untouched, sizeof(table)));
		return;
	}
	FUZZ_CHECK(colon < blank && line[blank]);
	FUZZ_CHECK(fuzz_is_number(line, colon, major(table.device)));
	FUZZ_CHECK(fuzz_is_number(line + colon + 1, blank - colon - 1,
				  minor(table.device)));
	line += blank + 1;
	FUZZ_CHECK(fuzz_is_number(line, strcspn(line, " "), table.start));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = fuzz_text(data, size);

	check_status(line);
	check_table(line);
	free(line);
	return 0;
}
