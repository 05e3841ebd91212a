// SPDX-License-Identifier: GPL-2.0
/* Values in sysfs: a text, a number, a device number. */
#include <sys/sysmacros.h>

#include "sysfs/sysfs.h"
#include "fake_files.h"

#define MARK	0x5a5a5a5a5a5a5a5aLL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *got, *digits;
	int64_t number = MARK;
	dev_t devno = MARK;

	fake_file_add(strdup("value"), text);
	got = sysfs_text("/sys", "value");
	FUZZ_CHECK(got && !strncmp(got, text, strlen(got)));
	FUZZ_CHECK(!*got || !strchr(" \n\t", got[strlen(got) - 1]));
	FUZZ_CHECK(!sysfs_text("/sys", "another"));

	digits = got + (*got == '-');
	if (sysfs_number("/sys", "value", &number))
		FUZZ_CHECK(fuzz_is_number(digits, strlen(digits),
			*got == '-' ? -(uint64_t)number : (uint64_t)number) &&
			(number < 0) <= (*got == '-'));
	else
		FUZZ_CHECK(number == MARK &&
			   !fuzz_is_at_most(digits, strlen(digits), INT64_MAX));

	if (sysfs_devno("/sys", "value", &devno)) {
		size_t colon = strcspn(got, ":");

		FUZZ_CHECK(got[colon]);
		FUZZ_CHECK(fuzz_is_number(got, colon, major(devno)));
		FUZZ_CHECK(fuzz_is_number(got + colon + 1,
					  strlen(got) - colon - 1,
					  minor(devno)));
	} else {
		FUZZ_CHECK(devno == (dev_t)MARK);
	}
	free(got);
	fake_files_close();
	free(text);
	return 0;
}
