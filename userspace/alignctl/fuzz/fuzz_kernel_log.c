// SPDX-License-Identifier: GPL-2.0
/* Records of /dev/kmsg. */
#include "mapped/kernel_log.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *record = fuzz_text(data, size), *reason, *again;
	const char *text = strchr(record, ';');
	int of_core = 2, of_core_again = 2;

	reason = kernel_log_parse(record, &of_core);
	if (!reason) {
		free(record);
		return 0;
	}
	/* the reason is one line of a device-mapper record */
	FUZZ_CHECK(text && (of_core == 0 || of_core == 1));
	FUZZ_CHECK(!strncmp(text + 1, "device-mapper: ", 15));
	FUZZ_CHECK(!strchr(reason, '\n'));
	FUZZ_CHECK(strlen(reason) < strcspn(text, "\n"));
	FUZZ_CHECK(strstr(text, reason));

	/* any such line is a reason in our own record, too */
	free(record);
	record = malloc(strlen(reason) + 64);
	FUZZ_CHECK(record);
	sprintf(record, "6,1,2,-;device-mapper: align: 1:2: %s\n SUBSYSTEM=x",
		reason);
	again = kernel_log_parse(record, &of_core_again);
	FUZZ_CHECK(again && !of_core_again && !strcmp(again, reason));
	free(again);
	free(reason);
	free(record);
	return 0;
}
