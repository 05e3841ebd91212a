// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "record/shapes_report.h"
#include "tests/printed.h"
#include "tests/tap.h"

/* The device: a partition from this sector of its disk on, of 64 MiB. */
#define START	1000U
#define SECTORS	(64U << 11)

static void begin(struct followed *followed)
{
	struct shapes *shapes = &followed->shapes;

	memset(followed, 0, sizeof(*followed));
	align_geometry_init(&shapes->geometry, 4096, 512, 0, 0, SECTORS);
	shapes->range = (struct observed_range) { .start = START,
						  .end = START + SECTORS };
}

/* An event with sectors of the device, where the kernel has those of the disk. */
static void plant(struct followed *followed, enum follow_kind kind,
		  uint64_t number, uint64_t sector, uint64_t bytes)
{
	const struct follow_event event = {
		.kind = kind, .number = number, .sector = START + sector,
		.bytes = (uint32_t)bytes, .pid = 42, .comm = "dd",
	};

	shapes_take(&followed->shapes, &event);
}

/* A part of a write in a request. */
static void plant_part(struct followed *followed, uint64_t number,
		       const struct follow_event *event)
{
	struct follow_event moved = *event;

	moved.kind = FOLLOW_REQUEST;
	moved.number = number;
	moved.sector += START;
	moved.request_sector += START;
	shapes_take(&followed->shapes, &moved);
}

/* A request with nothing but one bio of one write. */
static void plant_alone(struct followed *followed, uint64_t number,
			uint64_t sector, uint32_t bytes, bool split)
{
	static uint64_t last;
	const struct follow_event event = {
		.sector = sector, .bytes = bytes, .request = ++last,
		.request_sector = sector, .request_bytes = bytes, .first = 1,
		.split = split,
	};

	plant_part(followed, number, &event);
}

static void plant_request(struct followed *followed, uint64_t number,
			  uint64_t sector, uint32_t bytes)
{
	plant_alone(followed, number, sector, bytes, false);
}

/* The same with a part that was split off. */
static void plant_split(struct followed *followed, uint64_t number,
			uint64_t sector, uint32_t bytes)
{
	plant_alone(followed, number, sector, bytes, true);
}

static void check_json(struct json_object *object, const char *key,
		       const char *wanted)
{
	struct json_object *value = NULL;
	const char *text;

	json_object_object_get_ex(object, key, &value);
	text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	CHECK(!strcmp(text, wanted), "%s: %s", key, text);
}

/* 2 MiB at 3584, as a file system sent them through a controller of 688128. */
static void plant_published(struct followed *followed, uint64_t number,
			    uint64_t block)
{
	static const uint32_t bytes[] = { 512, 687616, 688128, 688128, 32768 };
	uint64_t sector = 8 * block + 7;
	size_t i;

	plant(followed, FOLLOW_WRITE, number, sector, 2 << 20);
	for (i = 0; i < 5; i++) {
		if (i < 4)
			plant_split(followed, number, sector, bytes[i]);
		else
			plant_request(followed, number, sector, bytes[i]);
		sector += bytes[i] / 512;
	}
	plant(followed, FOLLOW_END, number, 0, 0);
}

static void shapes(void)
{
	struct followed followed;
	const struct shapes *found = &followed.shapes;
	struct json_object *object, *list, *tree;
	CLEANUP_FREE char *said = NULL;
	static const char wanted[] =
		"4 writes became 16 requests, 0 of them merged; 6 partial touches before, 24 after; lost nothing\n"
		"How the writes became requests, most touches first:\n"
		"  OPERATION     LENGTH  START  COUNT  TOUCHES  REQUESTS  THEIR-TOUCHES  BECAME\n"
		"  write          2 MiB   3584      3        2         5              8  512 + 687616 + 2x688128 + 32768\n"
		"  write-zeroes   4 KiB      0      1        0         1              0  4096\n";

	begin(&followed);
	plant_published(&followed, 1, 0);
	plant_published(&followed, 2, 1000);
	plant_published(&followed, 3, 0);
	shapes_take(&followed.shapes, &(struct follow_event){
		.kind = FOLLOW_WRITE, .number = 4, .sector = START,
		.bytes = 4096, .zeroes = 1 });
	plant_request(&followed, 4, 0, 4096);
	shapes_finish(&followed.shapes);
	CHECK(found->nr == 2 && found->writes == 4 && found->requests == 16,
	      "%zu shapes", found->nr);
	printed_begin();
	shapes_report_text(&followed);
	said = printed_end();
	CHECK(!strncmp(said, wanted, strlen(wanted)), "\n%s", said);
	CHECK(strstr(said, "The one with most touches added, of dd (42):\n"
		     "  NODE         SECTOR    BYTES  START  TOUCHES  OF-THE-WRITE\n"
		     "  write             7  2097152   3584        2             -\n"
		     "    split           7      512   3584        1             -\n"
		     "      request       7      512   3584        1           512\n"
		     "    split           8   687616      0        1             -\n"),
	      "\n%s", said);
	CHECK(strstr(said, "Starts within the physical block:\n"
		     "  START  WRITES  BAR                   REQUESTS  BAR\n"
		     "      0       1  #                            4  ######\n"
		     "   3584       3  #####                       12  ####################\n"),
	      "\n%s", said);
	object = shapes_report_json(&followed);
	json_object_object_get_ex(object, "shapes", &list);
	list = json_object_array_get_idx(list, 0);
	check_json(list, "became",
		   "[{\"bytes\":512,\"merged\":false},{\"bytes\":687616,\"merged\":false},"
		   "{\"bytes\":688128,\"merged\":false},{\"bytes\":688128,\"merged\":false},"
		   "{\"bytes\":32768,\"merged\":false}]");
	check_json(list, "count", "3");
	check_json(list, "bytes", "2097152");
	json_object_object_get_ex(object, "tree", &tree);
	check_json(tree, "process", "\"dd\"");
	json_object_object_get_ex(tree, "nodes", &tree);
	CHECK(json_object_array_length(tree) == 1 + 4 + 5, "%zu nodes",
	      json_object_array_length(tree));
	check_json(json_object_array_get_idx(tree, 2), "depth", "2");
	check_json(json_object_array_get_idx(tree, 9), "depth", "1");
	check_json(json_object_array_get_idx(tree, 9), "part_bytes", "32768");
	json_object_put(object);
	followed_free(&followed);
}

/* The write with most touches added is told, not the longest one. */
static void tree(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;

	begin(&followed);
	/* two touches of its own, none added by three cuts at boundaries */
	plant(&followed, FOLLOW_WRITE, 1, 1, 8 * 4096);
	plant_request(&followed, 1, 1, 3584);
	plant_request(&followed, 1, 8, 4096);
	plant_request(&followed, 1, 16, 4096);
	plant_request(&followed, 1, 24, 20992);
	plant(&followed, FOLLOW_END, 1, 0, 0);
	/* aligned, and cut inside a block */
	plant(&followed, FOLLOW_WRITE, 2, 64, 2 * 4096);
	plant_request(&followed, 2, 64, 512);
	plant_request(&followed, 2, 65, 7680);
	plant(&followed, FOLLOW_END, 2, 0, 0);
	shapes_finish(found);
	CHECK(found->best.number == 2 && found->best.touches_after == 2,
	      "%" PRIu64, found->best.number);
	CHECK(found->touches_before == 2 && found->touches_after == 4,
	      "%" PRIu64 " %" PRIu64, found->touches_before,
	      found->touches_after);
	/* equal in touches and in number: by length */
	CHECK(found->nr == 2 && found->shape[0]->bytes == 2 * 4096, "%" PRIu64,
	      found->shape[0]->bytes);
	CHECK(found->write_starts[0] == 1 && found->write_starts[1] == 1 &&
	      found->request_starts[0] == 4 && found->request_starts[1] == 2,
	      "%" PRIu64, found->request_starts[0]);
	followed_free(&followed);
}

static void merged(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;
	static const uint64_t sectors[] = { 1, 9, 17 };
	struct follow_event event = {
		.bytes = 4096, .request = 1000, .request_sector = 1,
		.request_bytes = 3 * 4096, .first = 1,
	};
	size_t i;

	begin(&followed);
	for (i = 0; i < 3; i++)
		plant(&followed, FOLLOW_WRITE, i + 1, sectors[i], 4096);
	for (i = 0; i < 3; i++) {
		event.sector = sectors[i];
		plant_part(&followed, i + 1, &event);
		event.first = 0;
	}
	for (i = 0; i < 3; i++)
		plant(&followed, FOLLOW_END, i + 1, 0, 0);
	shapes_finish(found);
	CHECK(found->writes == 3 && found->requests == 1 && found->merged == 1,
	      "%" PRIu64 " requests", found->requests);
	/* six touches become the two of one request: at its ends */
	CHECK(found->touches_before == 6 && found->touches_after == 2,
	      "%" PRIu64, found->touches_after);
	CHECK(found->nr == 2 && found->shape[0]->count == 2 &&
	      found->shape[0]->touches_after == 1 &&
	      found->shape[1]->touches_after == 0 &&
	      found->shape[0]->piece[0].merged, "%zu shapes", found->nr);
	followed_free(&followed);
}

/* Two parts of a write that were split and merged again are in one request. */
static void merged_again(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;
	struct follow_event event = {
		.sector = 9, .bytes = 4096, .request = 1000, .request_sector = 1,
		.request_bytes = 8192, .split = 1,
	};

	begin(&followed);
	plant(&followed, FOLLOW_WRITE, 1, 1, 12288);
	plant_request(&followed, 1, 17, 4096);
	plant_part(&followed, 1, &event);
	event.sector = 1;
	event.first = 1;
	plant_part(&followed, 1, &event);
	plant(&followed, FOLLOW_END, 1, 0, 0);
	shapes_finish(found);
	CHECK(found->nr == 1 && found->requests == 2 && found->merged == 1,
	      "%" PRIu64 " requests", found->requests);
	CHECK(found->shape[0]->nr == 2 &&
	      found->shape[0]->piece[0].bytes == 8192 &&
	      !found->shape[0]->piece[0].merged &&
	      found->shape[0]->touches_after == 4 && found->touches_after == 4,
	      "%zu requests", found->shape[0]->nr);
	followed_free(&followed);
}

/* Writes to the same sectors, in flight together, in any order. */
static void rewritten(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;

	begin(&followed);
	plant(&followed, FOLLOW_WRITE, 1, 0, 8192);
	plant(&followed, FOLLOW_WRITE, 2, 0, 4096);
	plant_request(&followed, 2, 0, 4096);
	plant_request(&followed, 1, 0, 4096);
	plant_request(&followed, 1, 8, 4096);
	plant(&followed, FOLLOW_END, 2, 0, 0);
	plant(&followed, FOLLOW_END, 1, 0, 0);
	shapes_finish(found);
	CHECK(found->nr == 2 && !found->incomplete && !found->again &&
	      found->requests == 3, "%zu shapes", found->nr);
	followed_free(&followed);
}

/* What cannot be tied, or is not whole, is in no shape and is counted. */
static void left_out(void)
{
	struct followed followed = { 0 };
	struct shapes *found = &followed.shapes;
	CLEANUP_FREE char *said = NULL;

	begin(&followed);
	plant_request(&followed, 0, 0, 4096);	/* arrived before */
	plant_request(&followed, 99, 8, 512);	/* its arrival was lost */
	plant(&followed, FOLLOW_WRITE, 1, 0, 8192);	/* a request was lost */
	plant_request(&followed, 1, 0, 4096);
	plant(&followed, FOLLOW_END, 1, 0, 0);
	plant(&followed, FOLLOW_WRITE, 2, 0, 8192);	/* in the driver's queue */
	plant(&followed, FOLLOW_WRITE, 3, 0, 8192);	/* not completed, but whole */
	plant_request(&followed, 3, 0, 8192);
	plant(&followed, FOLLOW_WRITE, 4, 1, 512);	/* sent back */
	shapes_take(found, &(struct follow_event){
		.kind = FOLLOW_END, .number = 4, .sent_back = 1 });
	plant(&followed, FOLLOW_WRITE, 5, 1, 512);	/* issued twice */
	plant_request(&followed, 5, 1, 512);
	plant_request(&followed, 5, 1, 512);
	plant(&followed, FOLLOW_END, 5, 0, 0);
	shapes_finish(found);
	CHECK(found->untied == 2 && found->untied_bytes == 4608 &&
	      found->incomplete == 1 && found->unfinished == 1 &&
	      found->in_flight == 2 &&
	      found->sent_back == 1 && found->again == 1, "%" PRIu64 " untied",
	      found->untied);
	CHECK(found->writes == 4 && found->requests == 5 && found->nr == 2 &&
	      found->touches_before == 1 && found->touches_after == 2,
	      "%" PRIu64 " writes, %" PRIu64 " requests", found->writes,
	      found->requests);
	followed.lost.kind[FOLLOW_REQUEST] = 1;
	followed.lost.map_full = 2;
	followed.lost.long_requests = 3;
	followed.skipped = 4;
	followed.skipped_ends = 5;
	CHECK(followed_lost(&followed) == 10, "%" PRIu64,
	      followed_lost(&followed));
	printed_begin();
	shapes_report_text(&followed);
	said = printed_end();
	CHECK(strstr(said, "; lost 10\n"
		     "  1 writes had not been issued as a whole at the end\n"
		     "  1 writes have ended without requests for all of their bytes\n"
		     "  2 parts of requests are of no write that arrived during the recording\n"
		     "  1 writes would have had to wait; followed once they were sent again\n"
		     "  1 parts were issued again, as the driver gave them back\n"),
	      "\n%s", said);
	followed_free(&followed);
}

/* Of a partition, a write to the disk counts as far as it reaches into it. */
static void edges(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;
	struct follow_event event = {
		.kind = FOLLOW_WRITE, .number = 1, .sector = START - 8,
		.bytes = 8192, .request = 1, .request_sector = START - 8,
		.request_bytes = 8192, .first = 1,
	};

	begin(&followed);
	shapes_take(found, &event);
	event.kind = FOLLOW_REQUEST;
	shapes_take(found, &event);
	event.kind = FOLLOW_END;
	shapes_take(found, &event);
	/* the last sector, and one beyond */
	event.kind = FOLLOW_WRITE;
	event.number = 2;
	event.sector = event.request_sector = START + SECTORS - 1;
	event.bytes = event.request_bytes = 1024;
	shapes_take(found, &event);
	event.kind = FOLLOW_REQUEST;
	shapes_take(found, &event);
	/* nothing of it */
	plant(&followed, FOLLOW_WRITE, 3, SECTORS, 512);
	shapes_finish(found);
	CHECK(found->writes == 2 && found->requests == 2 && found->nr == 2 &&
	      !found->merged, "%" PRIu64, found->writes);
	CHECK(found->shape[0]->bytes == 512 && found->shape[0]->start == 3584 &&
	      found->shape[1]->bytes == 4096 && found->shape[1]->start == 0,
	      "%" PRIu64, found->shape[0]->bytes);
	followed_free(&followed);
}

static void many(void)
{
	struct followed followed;
	struct shapes *found = &followed.shapes;
	CLEANUP_FREE char *said = NULL;
	uint64_t i;

	begin(&followed);
	for (i = 1; i <= SHAPES_MAX + 5; i++) {
		plant(&followed, FOLLOW_WRITE, i, 0, 512 * i);
		plant_request(&followed, i, 0, 512 * i);
		plant(&followed, FOLLOW_END, i, 0, 0);
	}
	shapes_finish(found);
	CHECK(found->nr == SHAPES_MAX && found->other_shapes == 5, "%zu",
	      found->nr);
	printed_begin();
	shapes_report_text(&followed);
	said = printed_end();
	CHECK(strstr(said, "\n  and 65516 more, in --json\n  and 5 writes of other shapes\n") &&
	      !strstr(said, "The one"), "\n%.3000s", said);
	followed_free(&followed);
}

const struct tap_test shapes_tests[] = {
	{ "writes that were cut in the same way are one shape, with the requests of each",
	  shapes },
	{ "the write to which most touches were added is told as a tree", tree },
	{ "a merged request is of several writes, and its touches of those at its ends",
	  merged },
	{ "parts that were split off and merged again are in one request",
	  merged_again },
	{ "writes to the same sectors are told apart", rewritten },
	{ "what is not followed as a whole is in no shape, and counted", left_out },
	{ "of a partition, what falls on it is followed", edges },
	{ "shapes without room, and those that are not printed, are counted",
	  many },
	{ 0 },
};
