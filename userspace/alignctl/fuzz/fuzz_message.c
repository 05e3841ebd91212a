// SPDX-License-Identifier: GPL-2.0
/* Text of any origin (labels of file systems, paths) for a terminal. */
#include <locale.h>

#include "base/message.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* One with characters that one byte too few or too many makes unreadable. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	FUZZ_CHECK(setlocale(LC_CTYPE, "C.UTF-8"));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *shown = message_visible(text);
	const unsigned char *c = (const unsigned char *)shown;
	const char *from = text;

	for (; *c; c++) {
		/*
		 * no control characters of ASCII, and none of U+0080 to U+009F
		 */
		FUZZ_CHECK(*c >= ' ' && *c != 0x7f);
		FUZZ_CHECK(*c != 0xc2 || c[1] < 0x80 || c[1] > 0x9f);
	}
	FUZZ_CHECK(mbstowcs(NULL, shown, 0) != (size_t)-1);
	/* each character is shown as itself or as its number */
	for (c = (const unsigned char *)shown; *from; from++) {
		if (*c == (unsigned char)*from) {
			c++;
			continue;
		}
		FUZZ_CHECK(c[0] == '\\' && c[1] == 'x');
		FUZZ_CHECK(strtoul((char[]) { c[2], c[3], '\0' }, NULL, 16) ==
			   (unsigned char)*from);
		c += 4;
	}
	FUZZ_CHECK(!*c);
	free(shown);
	free(text);
	return 0;
}
