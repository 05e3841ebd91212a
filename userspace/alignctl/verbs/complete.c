// SPDX-License-Identifier: GPL-2.0
/*
 * Offer verbs, options and operands that begin with a word, from the verbs' own
 * tables.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "mapped/dm.h"
#include "sysfs/sysfs.h"
#include "verbs/complete.h"
#include "verbs/help.h"
#include "verbs/verbs.h"
#include "workload/method.h"
#include "workload/workload.h"

/**
 * struct asker - the word to complete
 * @word: the beginning of the word
 * @list: length of the finished part of a list, up to its last comma; 0 if the
 *	word is no list
 * @verb: the verb before the word; NULL: the word is the verb
 */
struct asker {
	const char *word;
	size_t list;
	const struct verb *verb;
};

/* Check whether a name is in the finished part of the list. */
static bool in_list(const struct asker *asker, const char *name)
{
	size_t length = strlen(name);
	const char *at = asker->word;

	while (at < asker->word + asker->list) {
		size_t part = strcspn(at, ",");

		if (part == length && !strncmp(at, name, length))
			return true;
		at += part + 1;
	}
	return false;
}

/* Print a name if the word to complete is its beginning. */
static void offer_word(const char *name, void *context)
{
	const struct asker *asker = context;
	const char *begun = asker->word + asker->list;

	if (!strncmp(name, begun, strlen(begun)) && !in_list(asker, name))
		printf("%.*s%s\n", (int)asker->list, asker->word, name);
}

static void offer_files(struct asker *asker)
{
	(void)asker;
	puts("/");
}

/*
 * Offer a block device by its usual path: of device-mapper, /dev/mapper/NAME.
 */
static void offer_block_device(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s/dm", name);
	CLEANUP_FREE char *mapped = sysfs_text(dir, "name");
	CLEANUP_FREE char *path = mapped ?
		message_format("/dev/mapper/%s", mapped) :
		message_format("/dev/%s", name);
	char *mark;

	/* sysfs writes '!' for '/' in a device's name */
	while (!mapped && (mark = strchr(path, '!')))
		*mark = '/';
	offer_word(path, context);
}

static void offer_block_devices(struct asker *asker)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");

	sysfs_each(dir, offer_block_device, asker);
}

static void offer_devices_and_files(struct asker *asker)
{
	offer_block_devices(asker);
	offer_files(asker);
}

static void offer_align_devices(struct asker *asker)
{
	struct dm_align *devices;
	size_t nr, i;

	dm_align_list(&devices, &nr);
	for (i = 0; i < nr; i++)
		offer_word(devices[i].name, asker);
	dm_align_list_free(devices, nr);
}

static void offer_lines(struct asker *asker)
{
	struct aligntab tab;
	size_t i;

	if (aligntab_read(&tab, true))
		return;
	for (i = 0; i < tab.nr; i++)
		offer_word(tab.line[i].name, asker);
	aligntab_free(&tab);
}

static void offer_workloads(struct asker *asker)
{
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++)
		offer_word(w->name, asker);
}

static void offer_methods(struct asker *asker)
{
	const struct method *m;
	size_t i;

	for (i = 0; (m = method_at(i)); i++)
		offer_word(m->name, asker);
}

static void offer_sources(struct asker *asker)
{
	offer_workloads(asker);
	offer_files(asker);
}

/**
 * struct kind - a kind of operand, named in --help
 * @name: the word in --help
 * @offer: offer all words of this kind
 */
struct kind {
	const char *name;
	void (*offer)(struct asker *asker);
};

static const struct kind operand_kinds[] = {
	{ "DEV", offer_block_devices },
	{ "FILE|DIR", offer_files },
	{ "IN", offer_files },
	{ "METHOD", offer_methods },
	{ "NAME", offer_align_devices },
	{ "SOURCE", offer_sources },
	{ "WORKLOAD", offer_workloads },
	{ NULL, NULL },
};

/* Arguments of other kinds are one of the row's values, numbers or new names. */
static void (*const offer_kinds[OPTION_NR_KINDS])(struct asker *asker) = {
	[OPTION_PATH] = offer_files, [OPTION_DEVICE] = offer_devices_and_files,
	[OPTION_LINE] = offer_lines,
};

/* Offer the kind of operand that --help's words, as "WORKLOAD...", name. */
static void offer_operand(struct asker *asker, const char *words)
{
	const struct kind *kinds = operand_kinds;
	/* "DEV [-- COMMAND...]", "[NAME...]" */
	const char *begin = words + strspn(words, "[");
	size_t length = strcspn(begin, " .]");

	for (; kinds->name; kinds++) {
		if (strlen(kinds->name) != length ||
		    strncmp(kinds->name, begin, length))
			continue;
		kinds->offer(asker);
		return;
	}
}

static void offer_argument(struct asker *asker, const struct option_row *row)
{
	const char *comma = strrchr(asker->word, ',');
	size_t i;

	if (offer_kinds[row->kind])
		offer_kinds[row->kind](asker);
	if (row->kind == OPTION_LIST && comma)
		asker->list = (size_t)(comma + 1 - asker->word);
	if (row->also)
		offer_word(row->also, asker);
	for (i = 0; i < row->nr_values; i++)
		offer_word(row->values[i], asker);
}

static void offer_options(struct asker *asker)
{
	const struct option_row *row;

	for (row = asker->verb->options; row->name; row++) {
		CLEANUP_FREE char *option = message_format("--%s", row->name);

		if (row->help)
			offer_word(option, asker);
	}
	offer_word("--help", asker);
	offer_word("--version", asker);
}

/* Find the option that a word names; NULL: it names none. */
static const struct option_row *find_option(const struct verb *verb,
					    const char *word)
{
	const struct option_row *row;

	if (strncmp(word, "--", 2))
		return NULL;
	for (row = verb->options; row->name; row++)
		if (!strcmp(row->name, word + 2))
			return row;
	return NULL;
}

/*
 * Return the words of --help for the next operand: "METHOD DEV" has one for
 * each operand, "NAME..." one for all.
 */
static const char *operand_words(const char *words, int operands)
{
	const char *next;

	while (operands-- > 0 && (next = strchr(words, ' ')) &&
	       isupper((unsigned char)next[1]))
		words = next + 1;
	return words;
}

/* Offer the words that can follow a verb and its arguments so far. */
static void offer_behind(struct asker *asker, int nr, char **words)
{
	const char *kinds = asker->verb->operands;
	const struct option_row *row;
	int operands = 0, i;

	for (i = 0; i < nr; i++) {
		/* after "--" come operands or a command, no options */
		if (!strcmp(words[i], "--")) {
			offer_files(asker);
			return;
		}
		row = find_option(asker->verb, words[i]);
		if (row && row->operands)
			kinds = row->operands;
		if (row && row->kind == OPTION_NONE)
			continue;
		if (row && i + 1 < nr && !strcmp(words[i + 1], "="))
			i++;
		if (row && ++i >= nr) {
			if (!strcmp(asker->word, "="))
				asker->word = "";
			offer_argument(asker, row);
			return;
		}
		operands += !row && *words[i] != '-';
	}
	offer_options(asker);
	if (operands < asker->verb->max_operands && *asker->word != '-')
		offer_operand(asker, operand_words(kinds, operands));
}

int complete(const struct verb *const *verbs, size_t nr, int argc, char **argv)
{
	struct asker asker = { .word = argc ? argv[argc - 1] : "" };
	size_t i;

	for (i = 0; i < nr; i++) {
		if (argc <= 1 || (argc == 2 && !strcmp(argv[0], HELP_WORD))) {
			offer_word(verbs[i]->name, &asker);
		} else if (!strcmp(argv[0], verbs[i]->name)) {
			asker.verb = verbs[i];
			offer_behind(&asker, argc - 2, argv + 1);
		}
	}
	if (argc <= 1) {
		offer_word(HELP_WORD, &asker);
		offer_word("--help", &asker);
		offer_word("--version", &asker);
	}
	return ALIGNCTL_FINE;
}
