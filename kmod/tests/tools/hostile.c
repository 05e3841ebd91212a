// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hostile.h"
#include "sector.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

uint64_t hostile_random(uint64_t *rng)
{
	*rng += 0x9e3779b97f4a7c15ULL;
	return sector_mix(*rng);
}

static uint64_t below(uint64_t *rng, uint64_t n)
{
	return hostile_random(rng) % n;
}

/* The words of a line: two positional ones, then the features. */
struct draft {
	char device[512], offset[64];
	char feature[16][128];
	unsigned int features;
	char count[64];		/* the number of feature arguments */
	uint64_t length;
	const char *why;
};

__attribute__((format(printf, 2, 3)))
static void add_feature(struct draft *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->feature[d->features++], sizeof(d->feature[0]), format,
		  args);
	va_end(args);
}

/* Draw compatible features, each pair once and in any order. */
static void lawful_draft(uint64_t *rng, const struct hostile_device *dev,
			 struct draft *d)
{
	static const char *const modes[] = { "report", "pad", "coalesce" };
	const char *mode = "report";
	unsigned int i;
	uint64_t offset;

	memset(d, 0, sizeof(*d));
	d->why = "";
	d->length = (1 + below(rng, dev->sectors / 16)) & ~7ULL;
	if (!d->length)
		d->length = 8;
	offset = below(rng, dev->sectors - d->length) & ~7ULL;
	snprintf(d->device, sizeof(d->device), "%s", dev->path);
	snprintf(d->offset, sizeof(d->offset), "%" PRIu64, offset);
	if (below(rng, 2)) {
		mode = modes[below(rng, COUNT(modes))];
		add_feature(d, "mode %s", mode);
	}
	if (below(rng, 2)) {
		uint32_t physical = dev->logical;

		while (physical < 65536 && below(rng, 4))
			physical *= 2;
		add_feature(d, "physical_block_size %u", physical);
		add_feature(d, "alignment_offset %" PRIu64,
			    below(rng, physical / dev->logical) * dev->logical);
	}
	if (below(rng, 2))
		add_feature(d, "max_blocks %" PRIu64, 1 + below(rng, 4096));
	if (below(rng, 2))
		add_feature(d, "hold_ms %" PRIu64, 1 + below(rng, 600000));
	/* coalesce advertises a cache, which excludes "off" */
	if (below(rng, 4) == 0)
		add_feature(d, "write_cache %s",
			    strcmp(mode, "coalesce") && below(rng, 2) ? "off" :
			    "on");
	for (i = d->features; i > 1; i--) {
		unsigned int j = below(rng, i);
		char swap[sizeof(d->feature[0])];

		memcpy(swap, d->feature[i - 1], sizeof(swap));
		memcpy(d->feature[i - 1], d->feature[j], sizeof(swap));
		memcpy(d->feature[j], swap, sizeof(swap));
	}
	snprintf(d->count, sizeof(d->count), "%u", d->features * 2);
}

static void drop_features(struct draft *d, const char *key)
{
	unsigned int i, kept = 0;
	size_t len = strlen(key);

	for (i = 0; i < d->features; i++) {
		if (!strncmp(d->feature[i], key, len) &&
		    d->feature[i][len] == ' ')
			continue;
		if (kept != i)
			memcpy(d->feature[kept], d->feature[i],
			       sizeof(d->feature[0]));
		kept++;
	}
	d->features = kept;
}

static void set_feature(struct draft *d, const char *key, const char *value)
{
	drop_features(d, key);
	add_feature(d, "%s %s", key, value);
	snprintf(d->count, sizeof(d->count), "%u", d->features * 2);
}

/* Draw a value that is wrong for every number of a line. */
static const char *bad_number(uint64_t *rng)
{
	static const char *const bad[] = {
		"", "-1", "x", "4096x", "0x", "1e3", "99999999999999999999999",
		"18446744073709551616", "4 096", "4096.0", "+", "%s", "\xff",
	};

	return bad[below(rng, COUNT(bad))];
}

/* Spoil exactly one part of a draft. */
static void spoil(uint64_t *rng, const struct hostile_device *dev,
		  struct draft *d)
{
	static const char *const modes[] = {
		"coalesc", "padd", "pa", "0", "report,pad", "reportpad",
	};
	static const char *const sizes[] = {
		"0", "1", "3", "256", "1000", "4095", "4097", "2097152",
		"4294967296", "4294971392", "18446744073709551615",
	};
	static const char *const odd_offsets[] = {
		"1", "100", "511", "513", "4095", "4294967808",
	};
	/* the ends of these, in bytes, exceed 64 bits */
	static const uint64_t lengths[] = {
		(1ULL << 54), (1ULL << 55) - 8, 1ULL << 55, (1ULL << 55) + 8,
		1ULL << 63, UINT64_MAX - 7, UINT64_MAX,
	};
	static const char *const times[] = { "0", "600001", "4294967297", };
	static const char *const unknown[] = {
		"colour red", "hold 5", "hold_s 5", "modes pad", "mode_ pad",
		"block_size 4096", "# 1", "mode= pad",
	};
	static const char *const devices[] = {
		"/dev/no-such-device", "0:0", "999:999", "/dev/null", "/",
		"/dev/mapper/control", "-", "4096", "8:", ":8",
		"/proc/self/mem",
	};
	char text[64];

	switch (below(rng, 19)) {
	case 0:
		d->why = "mode";
		set_feature(d, "mode", modes[below(rng, COUNT(modes))]);
		break;
	case 1:
		d->why = "physical_block_size";
		set_feature(d, "alignment_offset", "0");
		set_feature(d, "physical_block_size",
			    sizes[below(rng, COUNT(sizes))]);
		break;
	case 2:
		d->why = "physical_block_size is no number";
		set_feature(d, "alignment_offset", "0");
		set_feature(d, "physical_block_size", bad_number(rng));
		break;
	case 3:
		d->why = "alignment_offset not less than physical_block_size";
		set_feature(d, "physical_block_size", "4096");
		set_feature(d, "alignment_offset", below(rng, 2) ? "4096" :
			    "65536");
		break;
	case 4:
		d->why = "alignment_offset not a multiple of a sector";
		set_feature(d, "physical_block_size", "65536");
		set_feature(d, "alignment_offset",
			    odd_offsets[below(rng, COUNT(odd_offsets))]);
		break;
	case 5:
		d->why = "max_blocks is no number";
		set_feature(d, "max_blocks", bad_number(rng));
		break;
	case 6:
		d->why = "write_cache";
		set_feature(d, "write_cache", below(rng, 2) ? "maybe" : "1");
		break;
	case 7:
		d->why = "unknown feature";
		add_feature(d, "%s", unknown[below(rng, COUNT(unknown))]);
		snprintf(d->count, sizeof(d->count), "%u", d->features * 2);
		break;
	case 8:
		d->why = "more feature arguments promised than given";
		snprintf(d->count, sizeof(d->count), "%u",
			 d->features * 2 + 1 + (unsigned int)below(rng, 9));
		break;
	case 9:
		d->why = "fewer feature arguments promised than given";
		set_feature(d, "max_blocks", "16");
		snprintf(d->count, sizeof(d->count), "%" PRIu64,
			 below(rng, d->features * 2));
		break;
	case 10:
		d->why = "the number of feature arguments is none";
		snprintf(d->count, sizeof(d->count), "%s",
			 below(rng, 2) ? "many" : "-2");
		break;
	case 11:
		d->why = "no such device";
		snprintf(d->device, sizeof(d->device), "%s",
			 devices[below(rng, COUNT(devices))]);
		break;
	case 12:
		d->why = "offset is no number";
		/* not the empty word, which would shift the next one */
		snprintf(d->offset, sizeof(d->offset), "%s",
			 below(rng, 2) ? "x" : "-8");
		break;
	case 13:
		d->why = "ends behind the device";
		snprintf(d->offset, sizeof(d->offset), "%" PRIu64,
			 dev->sectors - d->length + 8);
		break;
	case 14:
		d->why = "offset overflows";
		snprintf(d->offset, sizeof(d->offset), "%s", below(rng, 2) ?
			 "18446744073709551608" : "9223372036854775800");
		break;
	case 15:
		d->why = "a feature without its value";
		set_feature(d, "max_blocks", "16");
		snprintf(text, sizeof(text), "%u", d->features * 2 - 1);
		snprintf(d->feature[d->features - 1],
			 sizeof(d->feature[0]), "max_blocks");
		snprintf(d->count, sizeof(d->count), "%s", text);
		break;
	case 16:
		d->why = "hold_ms";
		set_feature(d, "hold_ms", below(rng, 2) ? bad_number(rng) :
			    times[below(rng, COUNT(times))]);
		break;
	case 17:
		d->why = "longer than any device";
		d->length = lengths[below(rng, COUNT(lengths))];
		break;
	case 18:
		d->why = "logical_block_size";
		set_feature(d, "logical_block_size", below(rng, 2) ?
			    bad_number(rng) : sizes[below(rng, COUNT(sizes))]);
		break;
	}
}

static void print_draft(const struct draft *d, char *to, size_t size)
{
	unsigned int i;
	int at;

	at = snprintf(to, size, "%s %s", d->device, d->offset);
	if (!d->features && !strcmp(d->count, "0"))
		return;
	at += snprintf(to + at, size - at, " %s", d->count);
	for (i = 0; i < d->features; i++)
		at += snprintf(to + at, size - at, " %s", d->feature[i]);
}

/* Draw random bytes of a C string, words and separators among them. */
static void garbage(uint64_t *rng, char *to, size_t size)
{
	static const char *const words[] = {
		" ", " ", "\t", "mode", "pad", "report", "4096", "0", "8", "2",
		"physical_block_size", "alignment_offset", "max_blocks", "-",
		"logical_block_size", "512",
		"\\", "\\ ", "\"", "write_cache", "on", "hold_ms", "\n",
	};
	size_t want = below(rng, below(rng, 8) ? 80 : size - 64), at = 0;

	while (at < want) {
		const char *word = words[below(rng, COUNT(words))];

		if (below(rng, 4))
			at += snprintf(to + at, size - at, "%s", word);
		else
			to[at++] = 1 + below(rng, 255);
	}
	to[at] = '\0';
}

void hostile_make_line(uint64_t *rng, const struct hostile_device *dev,
		       struct hostile_line *line)
{
	struct draft d;

	lawful_draft(rng, dev, &d);
	line->verdict = LAWFUL;
	switch (below(rng, 8)) {
	case 0:
	case 1:
		break;
	case 2:
		line->verdict = EITHER;
		d.why = "random bytes";
		break;
	default:
		line->verdict = UNLAWFUL;
		spoil(rng, dev, &d);
		break;
	}
	line->why = d.why;
	line->length = d.length;
	print_draft(&d, line->params, sizeof(line->params));
	if (line->verdict == EITHER) {
		size_t keep = below(rng, strlen(line->params) + 1);

		garbage(rng, line->params + keep, sizeof(line->params) - keep);
	}
}

/* Draw a lawful beginning with far too many digits, a long word, or many. */
static void overlong(uint64_t *rng, struct hostile_message *message)
{
	static const char *const begins[] = {
		"hold_ms ", "max_blocks ", "mode ", "flush ", "reset_stats ",
	};
	static const char *const fillers[] = { "9", "x", "1 ", "pad ", "\x01" };
	const char *filler = fillers[below(rng, COUNT(fillers))];
	size_t most = sizeof(message->text) - 8;
	size_t want = 64 + below(rng, most - 64), at;

	strcpy(message->text, begins[below(rng, COUNT(begins))]);
	for (at = strlen(message->text); at < want; at += strlen(filler))
		strcpy(message->text + at, filler);
	message->length = at + 1;
}

void hostile_make_message(uint64_t *rng, struct hostile_message *message)
{
	static const char *const good[] = {
		"mode report", "mode report", "max_blocks 1", "max_blocks 64",
		"reset_stats", "flush", "drop_failed", "hold_ms 1",
		"hold_ms 600000",
	};
	/* depends on the device and its queue */
	static const char *const perhaps[] = { "mode coalesce", "mode pad" };
	static const char *const bad[] = {
		"mode", "mode coalescent", "mode pad now", "mode 1", "hold_ms",
		"hold_ms 0", "hold_ms 600001", "hold_ms x", "hold_ms -1",
		"hold_ms 5 5", "drop_failed now", "max_blocks", "max_blocks x",
		"max_blocks -1", "max_blocks 1 2",
		"max_blocks 99999999999999999999", "reset_stats now",
		"flush all", "modes pad", "help", "physical_block_size 4096",
		"write_cache on", "alignment_offset 0", "max_blocks 262145",
		"max_blocks 4294967297", "max_blocks 18446744073709551617",
		"max_blocks 0", "max_blocks 0x10", "max_blocks 1K",
		"max_blocks -9223372036854775808", "hold_ms 4294967297",
		"hold_ms 18446744073709551617", "hold_ms 1.5", "hold_ms \x7f",
		"mode \x1b[2J", "\xff\xfe", "mode\xc2\xa0pad", "%s%n",
	};
	const char *text = "";

	switch (below(rng, 12)) {
	case 0:
	case 1:
		message->verdict = LAWFUL;
		text = good[below(rng, COUNT(good))];
		break;
	case 2:
		message->verdict = EITHER;
		text = perhaps[below(rng, COUNT(perhaps))];
		break;
	case 3:
		message->verdict = EITHER;
		garbage(rng, message->text, sizeof(message->text));
		message->length = strlen(message->text) + 1;
		return;
	case 4:
		message->verdict = UNLAWFUL;
		overlong(rng, message);
		return;
	case 5:		/* bytes behind a byte 0 are ignored */
		message->verdict = LAWFUL;
		text = good[below(rng, COUNT(good))];
		strcpy(message->text, text);
		message->length = strlen(text) + 1;
		message->length += (size_t)snprintf(
			message->text + message->length, 64, " %s",
			bad[below(rng, COUNT(bad))]) + 1;
		return;
	case 6:		/* no byte 0 at all */
		message->verdict = UNLAWFUL;
		text = good[below(rng, COUNT(good))];
		message->length = strlen(text);
		memcpy(message->text, text, message->length);
		return;
	default:
		message->verdict = UNLAWFUL;
		text = bad[below(rng, COUNT(bad))];
		break;
	}
	strcpy(message->text, text);
	message->length = strlen(text) + 1;
}
