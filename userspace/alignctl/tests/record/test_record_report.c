// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "record/record.h"
#include "sysfs/device.h"
#include "tests/printed.h"
#include "tests/tap.h"

static const struct record recorded = {
	.count = { [TRACE_READ] = 1, [TRACE_WRITE] = 1234567,
		   [TRACE_FLUSH] = 3, [TRACE_WRITE_ZEROES] = 4 },
	.bytes = { [TRACE_READ] = 512, [TRACE_WRITE] = 5056786432,
		   [TRACE_WRITE_ZEROES] = 16384 },
	.geometry = { .physical = 4096 },
	.misaligned = 1000000, .zeroes_misaligned = 2, .touches = 2000003,
	.zero_touches = 3, .wall_s = 1.5, .stopped = RECORD_STOP_SIGNAL,
};

/* The report, of blocks that are known or not, for people or not; for free(). */
static char *report(bool blocks_known, bool json)
{
	struct device device = { .path = "/dev/sdx" };
	struct record_options options = { .device = &device, .output = "x" };
	struct record record = recorded;

	record.blocks_known = blocks_known;
	printed_begin();
	if (json)
		record_report_json(&record, &options);
	else
		record_report_text(&record, &options);
	return printed_end();
}

static void text(void)
{
	CLEANUP_FREE char *known = report(true, false);
	CLEANUP_FREE char *unknown = report(false, false);
	static const char wanted[] =
		"/dev/sdx: 1.23 M requests in 1.5 s, in x (recording), until interrupted\n"
		"  OPERATION     REQUESTS      SIZE  MISALIGNED  TOUCHES\n"
		"  read                 1     512 B           -        -\n"
		"  write           1.23 M  4.71 GiB         1 M      2 M\n"
		"  flush                3         -           -        -\n"
		"  write-zeroes         4    16 KiB           2        3\n"
		"  blocks        of 4 KiB; 2 M partial touches\n"
		"  lost          nothing\n";

	CHECK(!strcmp(known, wanted), "\n%s", known);
	CHECK(strstr(unknown, "\n  write           1.23 M  4.71 GiB           -        -\n"),
	      "\n%s", unknown);
	CHECK(strstr(unknown, "  blocks        not known"), "\n%s", unknown);
}

static uint64_t number(struct json_object *object, const char *key)
{
	uint64_t n = 0;

	CHECK(json_get_number(object, key, &n), "%s is no number", key);
	return n;
}

static void document(void)
{
	CLEANUP_FREE char *known = report(true, true);
	CLEANUP_FREE char *unknown = report(false, true);
	struct json_object *object = json_tokener_parse(known), *part;

	CHECK(number(object, "misaligned_writes") == 1000000 &&
	      number(object, "misaligned_write_zeroes") == 2 &&
	      number(object, "touches") == 2000003 &&
	      number(object, "write_touches") == 2000000 &&
	      number(object, "zero_touches") == 3, "%s", known);
	json_object_object_get_ex(object, "operations", &part);
	CHECK(!strcmp(json_object_to_json_string_ext(part,
						     JSON_C_TO_STRING_PLAIN),
		      "{\"read\":{\"count\":1,\"bytes\":512},"
		      "\"write\":{\"count\":1234567,\"bytes\":5056786432},"
		      "\"flush\":{\"count\":3,\"bytes\":0},"
		      "\"discard\":{\"count\":0,\"bytes\":0},"
		      "\"write-zeroes\":{\"count\":4,\"bytes\":16384}}"),
	      "%s", known);
	json_object_put(object);
	object = json_tokener_parse(unknown);
	CHECK(json_object_object_get_ex(object, "write_touches", &part) &&
	      !part, "%s", unknown);
	json_object_put(object);
}

const struct tap_test record_report_tests[] = {
	{ "what was recorded is shown by what it does, and how it lies on blocks",
	  text },
	{ "the document of a recording has the raw numbers, null where not known",
	  document },
	{ 0 },
};
