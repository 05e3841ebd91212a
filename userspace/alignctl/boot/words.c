// SPDX-License-Identifier: GPL-2.0
/* Dispatch the words of "alignctl boot", and bring up what an initramfs has so far. */
#include <string.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/bring_up.h"
#include "boot/generator.h"
#include "boot/lower.h"
#include "boot/words.h"

/* Bring up what is there, for an initramfs that calls again for the rest. */
static int bring_up_early(void)
{
	struct aligntab tab;
	int result;

	if (aligntab_off())
		return ALIGNCTL_FINE;
	result = aligntab_read(&tab, true);
	if (!result)
		result = bring_up_all(&tab, false, true);
	aligntab_free(&tab);
	return result;
}

int boot_words(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[0], "generator"))
		return generator_run(argv[1], argv[2]);
	if (argc == 1 && !strcmp(argv[0], "lower"))
		return lower_print();
	if (argc == 2 && !strcmp(argv[0], "stop"))
		return bring_down(argv[1]);
	if (argc == 1 && !strcmp(argv[0], "initramfs"))
		return bring_up_early();
	if (argc == 2 && !strcmp(argv[0], "above"))
		return lower_print_above(argv[1]);
	message_error("boot: needs generator FOLDER UNITS, lower, stop NAME, initramfs or above NODE");
	return ALIGNCTL_USAGE;
}
