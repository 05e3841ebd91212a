// SPDX-License-Identifier: GPL-2.0
/* alignctl VERB ...: find the verb and run it. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "base/output.h"
#include "boot/words.h"
#include "verbs/complete.h"
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

static void usage(void)
{
	size_t i;

	puts("\nUsage:\n alignctl VERB [arguments]\n\n"
	     "Show and avoid the read-modify-writes of drives with large physical\n"
	     "blocks.\n\nVerbs:");
	for (i = 0; i < NR_VERBS; i++)
		printf(" %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	puts("\nOptions:\n -h, --help     print this help; after a verb, its options\n"
	     " -V, --version  print the version\n\n"
	     "Exit status: 0 success, 1 findings, 2 usage, 3 I/O error, "
	     "4 busy or unsafe.\n\nFor more details see alignctl(8).");
}

static int refuse(const char *word)
{
	struct nearest nearest = { .word = word };
	CLEANUP_FREE char *hint = NULL;
	size_t i;

	for (i = 0; i < NR_VERBS; i++)
		nearest_try(&nearest, verbs[i]->name);
	hint = nearest_hint(&nearest, ";");
	message_error("no verb '%s'%s 'alignctl --help' lists them", word,
		      hint);
	return ALIGNCTL_USAGE;
}

static int run(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		message_error("no verb given; 'alignctl --help' lists them");
		return ALIGNCTL_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		usage();
		return ALIGNCTL_FINE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("alignctl " ALIGNCTL_VERSION);
		return ALIGNCTL_FINE;
	}
	if (!strcmp(argv[1], COMPLETE_WORD))
		return complete(verbs, NR_VERBS, argc - 2, argv + 2);
	if (!strcmp(argv[1], BOOT_WORD))
		return boot_words(argc - 2, argv + 2);
	for (i = 0; i < NR_VERBS; i++)
		if (!strcmp(argv[1], verbs[i]->name))
			return verbs[i]->run(verbs[i], argc - 1, argv + 1);
	return refuse(argv[1]);
}

int main(int argc, char **argv)
{
	/* no other category: figures have a point in each locale */
	setlocale(LC_CTYPE, "");
	output_prepare();
	return output_end(run(argc, argv));
}
