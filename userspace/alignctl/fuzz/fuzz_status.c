// SPDX-License-Identifier: GPL-2.0
/* Status and table lines of the kernel. */
#include <sys/sysmacros.h>

#include "fuzz.h"
#include "status.h"

/* Does the first "name:value" of the line say this number? */
static bool says(const char *line, const char *name, uint64_t number)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s:", name);
	at = strstr(line, key);
	if (!at)
		return false;
	at += strlen(key);
	return fuzz_is_number(at, strcspn(at, " "), number);
}

static bool lacks(const char *line, const char *name, uint64_t number)
{
	char key[32];

	snprintf(key, sizeof(key), " %s:", name);
	return !number && !strstr(line, key);
}

static void check_status(const char *line)
{
	struct align_status status, untouched, again;
	char printed[512];

	memset(&status, 0x5a, sizeof(status));
	untouched = status;
	if (!status_parse(line, &status)) {
		FUZZ_CHECK(!memcmp(&status, &untouched, sizeof(status)));
		return;
	}
	FUZZ_CHECK(says(line, "physical_block_size", status.physical));
	FUZZ_CHECK(says(line, "max_blocks", status.max_blocks));
	FUZZ_CHECK(says(line, "blocks", status.blocks));
	FUZZ_CHECK(says(line, "memory_bytes", status.memory_bytes));
	FUZZ_CHECK(says(line, "epoch", status.epoch));
	FUZZ_CHECK(says(line, "held_blocks", status.held_blocks) ||
		   lacks(line, "held_blocks", status.held_blocks));
	FUZZ_CHECK(says(line, "degraded", status.degraded) ||
		   lacks(line, "degraded", status.degraded));
	FUZZ_CHECK(status.offset >= -1);
	FUZZ_CHECK(status.offset < 0 ||
		   says(line, "alignment_offset", (uint64_t)status.offset));
	FUZZ_CHECK(strlen(status.mode) == strcspn(line, " ") &&
		   !strncmp(line, status.mode, strlen(status.mode)));

	snprintf(printed, sizeof(printed),
		 status.offset < 0 ?
		 "%s physical_block_size:%" PRIu32 " alignment_offset:unknown%.0" PRId64 :
		 "%s physical_block_size:%" PRIu32 " alignment_offset:%" PRId64,
		 status.mode, status.physical, status.offset < 0 ? 0 : status.offset);
	snprintf(printed + strlen(printed), sizeof(printed) - strlen(printed),
		 " max_blocks:%" PRIu64 " blocks:%" PRIu64 " memory_bytes:%"
		 PRIu64 " epoch:%" PRIu64 " held_blocks:%" PRIu64
		 " degraded:%" PRIu64, status.max_blocks, status.blocks,
		 status.memory_bytes, status.epoch, status.held_blocks,
		 status.degraded);
	memset(&again, 0x5a, sizeof(again));
	FUZZ_CHECK(status_parse(printed, &again));
	FUZZ_CHECK(!strcmp(again.mode, status.mode) &&
		   again.physical == status.physical &&
		   again.offset == status.offset &&
		   again.max_blocks == status.max_blocks &&
		   again.blocks == status.blocks &&
		   again.memory_bytes == status.memory_bytes &&
		   again.epoch == status.epoch &&
		   again.held_blocks == status.held_blocks &&
		   again.degraded == status.degraded);
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
