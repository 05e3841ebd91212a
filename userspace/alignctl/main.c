// SPDX-License-Identifier: GPL-2.0
/* alignctl VERB ...: find the verb and run it. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "boot/words.h"
#include "verbs/complete.h"
#include "verbs/help.h"
#include "verbs/verbs.h"

static const struct verb *const verbs[] = {
	&verb_check,
	&verb_attach,
	&verb_detach,
	&verb_list,
	&verb_set,
	&verb_stats,
	&verb_top,
	&verb_replay,
	&verb_verify,
	&verb_probe,
	&verb_conform,
	&verb_record,
	&verb_convert,
	&verb_workloads,
	&verb_plan,
	&verb_fleet,
};

#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int run(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2) {
		message_error("no verb given; 'alignctl --help' lists them");
		return ALIGNCTL_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		help_print(verbs, NR_VERBS);
		return ALIGNCTL_FINE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("alignctl " ALIGNCTL_VERSION);
		return ALIGNCTL_FINE;
	}
	if (!strcmp(argv[1], HELP_WORD))
		return help(verbs, NR_VERBS, argc - 2, argv + 2);
	if (!strcmp(argv[1], COMPLETE_WORD))
		return complete(verbs, NR_VERBS, argc - 2, argv + 2);
	if (!strcmp(argv[1], BOOT_WORD))
		return boot_words(argc - 2, argv + 2);
	verb = help_find(verbs, NR_VERBS, argv[1]);
	return verb ? verb->run(verb, argc - 1, argv + 1) : ALIGNCTL_USAGE;
}

int main(int argc, char **argv)
{
	/* no other category: figures have a point in each locale */
	setlocale(LC_CTYPE, "");
	output_prepare();
	return output_end(run(argc, argv));
}
