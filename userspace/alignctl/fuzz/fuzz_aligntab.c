// SPDX-License-Identifier: GPL-2.0
/*
 * /etc/aligntab: any text. Good lines are what they say, adding and removing a
 * line leaves all else as it was, and a line that is written is read back.
 */
#include "boot/aligntab.h"
#include "boot/find.h"
#include "boot/unit_name.h"
#include "ledger/mode.h"
#include "mapped/dm.h"
#include "fuzz.h"

FUZZ_CHECKER
static void check_line(const struct aligntab_line *line)
{
	const struct attach_options *options = &line->options;
	char *escaped;
	size_t i;

	FUZZ_CHECK(*line->name && strlen(line->name) <= DM_MAX_NAME &&
		   !strchr(line->name, '/'));
	FUZZ_CHECK(*line->value && line->by <= ALIGNTAB_PATH);
	FUZZ_CHECK(line->by != ALIGNTAB_PATH || *line->value == '/');
	FUZZ_CHECK(line->timeout <= ALIGNTAB_TIMEOUT_MAX);
	FUZZ_CHECK(!options->mode || mode_find(options->mode));
	FUZZ_CHECK(options->hold_ms <= MODE_MAX_HOLD_MS);
	for (i = 0; line->name[i]; i++)
		FUZZ_CHECK((unsigned char)line->name[i] >= ' ');
	/* nothing that a rule of udev or a unit would take apart */
	escaped = unit_escape(line->name);
	FUZZ_CHECK(!escaped[strcspn(escaped, " \t\n\"'$%/")]);
	free(escaped);
}

/* Return whether the lines of two texts are the same, but for one name. */
FUZZ_CHECKER
static bool same_but(const struct aligntab *few, const struct aligntab *many,
		     const char *name)
{
	size_t i, k = 0;

	for (i = 0; i < many->nr; i++) {
		if (!strcmp(many->line[i].name, name))
			continue;
		if (k >= few->nr ||
		    strcmp(few->line[k].name, many->line[i].name) ||
		    strcmp(few->line[k].device, many->line[i].device))
			return false;
		k++;
	}
	return k == few->nr;
}

static void check_edit(const struct aligntab *before, const char *text,
		       size_t size, const char *name, const char *device)
{
	size_t length = size, shorter;
	struct aligntab after = { 0 };
	const struct aligntab_line *line;
	char *with = aligntab_with("tab", text, &length, name, device, "nofail");
	char *without;

	if (!with)
		return;
	FUZZ_CHECK(length > size && !memcmp(with, text, size));
	aligntab_parse(&after, "tab", with, length, true);
	line = aligntab_find(&after, name);
	FUZZ_CHECK(after.nr == before->nr + 1 && line && line->nofail);
	FUZZ_CHECK(same_but(before, &after, name));
	shorter = length;
	without = aligntab_without(with, &shorter, line->number);
	FUZZ_CHECK(shorter == size ||
		   (shorter == size + 1 && without[size] == '\n'));
	FUZZ_CHECK(!memcmp(without, text, size));
	free(without);
	free(with);
	aligntab_free(&after);
}

static const char *no_property(const char *name, void *context)
{
	return strcmp(name, "DM_UUID") ? "x" : context;
}

/* Take a name and a device to add from the first two lines of the input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	char *name = fuzz_take_line(&bytes), *device = fuzz_take_line(&bytes);
	char *text = fuzz_text(bytes.at, bytes.left);
	struct aligntab tab = { 0 };
	size_t i, k;

	aligntab_parse(&tab, "tab", text, bytes.left, false);
	for (i = 0; i < tab.nr; i++) {
		check_line(&tab.line[i]);
		FUZZ_CHECK(!find_means(&tab.line[i], no_property, "ALIGN-1"));
		find_means(&tab.line[i], no_property, "LVM-1");
		for (k = 0; k < i; k++)
			FUZZ_CHECK(strcmp(tab.line[i].name, tab.line[k].name));
	}
	check_edit(&tab, text, bytes.left, name, device);
	aligntab_free(&tab);
	free(text);
	free(device);
	free(name);
	return 0;
}
