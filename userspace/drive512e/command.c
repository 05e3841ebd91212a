// SPDX-License-Identifier: GPL-2.0
/* Split a command into words, call the drive, and format the answer. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 8
#define LINE_MAX_BYTES 256

/* A command, split into words; missing words are "". */
struct words {
	char text[LINE_MAX_BYTES];
	const char *word[WORDS_MAX];
	unsigned int count;
};

static char *done(void)
{
	return strdup("{\"ok\":true}");
}

/* Return an error as JSON; characters that could end the string become "?". */
__attribute__((format(printf, 1, 2)))
static char *refused(const char *format, ...)
{
	char *reason, *line;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&reason, format, args);
	va_end(args);
	if (len < 0)
		return NULL;
	for (char *c = reason; *c; c++) {
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ' ||
		    (unsigned char)*c > '~')
			*c = '?';
	}
	len = asprintf(&line, "{\"ok\":false,\"error\":\"%s\"}", reason);
	free(reason);
	return len < 0 ? NULL : line;
}

static bool parse_number(const char *text, uint64_t *number)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*number = n;
	return true;
}

/* Return the value of "@name=...", or NULL if @word is another option. */
static const char *value_of(const char *word, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(word, name, len) != 0 || word[len] != '=')
		return NULL;
	return word + len + 1;
}

static bool parse_tear(const char *text, enum tear *tear)
{
	static const char *const names[] = {
		[TEAR_NONE] = "none", [TEAR_SECTOR] = "sector",
		[TEAR_BLOCK] = "block",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*tear = (enum tear)i;
			return true;
		}
	}
	return false;
}

static char *cut_power(struct drive *drive, const struct words *w)
{
	struct power_cut how = { .tear = TEAR_NONE };

	for (unsigned int i = 2; i < w->count; i++) {
		const char *word = w->word[i], *value;

		if ((value = value_of(word, "at"))) {
			if (!parse_number(value, &how.at) || how.at == 0)
				return refused("%s: give the number of the "
					       "request at which power fails: "
					       "1 for the next one", word);
		} else if ((value = value_of(word, "after"))) {
			if (!parse_number(value, &how.after) || how.after == 0)
				return refused("%s: give the number of "
					       "requests that end before power "
					       "fails: 1 for the next that ends",
					       word);
		} else if ((value = value_of(word, "tear"))) {
			if (!parse_tear(value, &how.tear))
				return refused("%s: give none, sector or block",
					       word);
		} else if ((value = value_of(word, "seed"))) {
			if (!parse_number(value, &how.seed))
				return refused("%s: give a whole number", word);
		} else {
			return refused("%s: unknown; power cut takes at=, after=, "
				       "tear= and seed=", word);
		}
	}
	if (!drive_cut_power(drive, &how))
		return refused("the power is off; send power on first");
	return done();
}

static char *power(struct drive *drive, const struct words *w)
{
	if (strcmp(w->word[1], "cut") == 0)
		return cut_power(drive, w);
	if (strcmp(w->word[1], "on") != 0 || w->count != 2)
		return refused("power %s: give power cut or power on",
			       w->word[1]);
	drive_power_on(drive);
	return done();
}

static char *fail(struct drive *drive, const struct words *w)
{
	bool read = strcmp(w->word[1], "read") == 0;
	uint64_t first, count, last = drive_size(drive) / SECTOR_SIZE - 1;

	if (w->count != 4 || (!read && strcmp(w->word[1], "write") != 0) ||
	    !parse_number(w->word[2], &first) ||
	    !parse_number(w->word[3], &count) || count == 0 ||
	    count > UINT64_MAX / SECTOR_SIZE ||
	    first > UINT64_MAX / SECTOR_SIZE - count)
		return refused("fail %s %s %s: give read or write, the first "
			       "sector and the number of sectors, such as "
			       "fail write 64 8",
			       w->word[1], w->word[2], w->word[3]);
	if (first > last)
		return refused("fail %s %s %s: no request would fail, as the "
			       "last sector of the drive is %" PRIu64 "; give "
			       "sectors of 512 bytes, the first at most that",
			       w->word[1], w->word[2], w->word[3], last);
	if (drive_fail(drive, read ? OP_READ : OP_WRITE, first, count) < 0)
		return refused("no memory for this range of sectors");
	return done();
}

static char *heal(struct drive *drive, const struct words *w)
{
	(void)w;
	drive_heal(drive);
	return done();
}

static char *ping(struct drive *drive, const struct words *w)
{
	(void)drive;
	(void)w;
	return done();
}

static char *reset(struct drive *drive, const struct words *w)
{
	(void)w;
	drive_reset(drive);
	return done();
}

static char *stats(struct drive *drive, const struct words *w)
{
	(void)w;
	return drive_stats_json(drive);
}

static const struct {
	const char *name;
	bool alone;			/* takes no argument */
	char *(*run)(struct drive *drive, const struct words *w);
} commands[] = {
	{ "stats", true, stats },
	{ "reset", true, reset },
	{ "ping", true, ping },
	{ "power", false, power },
	{ "fail", false, fail },
	{ "heal", true, heal },
};

char *command_run(struct drive *drive, const char *line)
{
	struct words w = { .count = 0 };
	char *rest = w.text;

	for (unsigned int i = 0; i < WORDS_MAX; i++)
		w.word[i] = "";
	if (strlen(line) >= sizeof(w.text))
		return refused("line too long");
	strcpy(w.text, line);
	for (char *word; (word = strsep(&rest, " "));) {
		if (!*word)
			continue;
		if (w.count == WORDS_MAX)
			return refused("%s: a command has at most %u words",
				       word, WORDS_MAX);
		w.word[w.count++] = word;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(w.word[0], commands[i].name) != 0)
			continue;
		if (commands[i].alone && w.count > 1)
			return refused("%s: takes no arguments, such as %s",
				       w.word[0], w.word[1]);
		return commands[i].run(drive, &w);
	}
	return refused("%s: unknown command; known are stats, reset, ping, "
		       "power, fail and heal", w.word[0]);
}
