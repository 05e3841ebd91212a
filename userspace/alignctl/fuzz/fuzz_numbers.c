// SPDX-License-Identifier: GPL-2.0
/* Arguments of options: numbers with and without a unit, and their range. */
#include "base/options.h"
#include "fuzz.h"

#include <strings.h>

#define MARK	0x5a5a5a5a5a5a5a5aULL
#define MOST	600000U

static const struct option_row row = OPTION("n", ARG_NUMBER(1, MOST), "");

/* Parse by the same rules, in arithmetic that cannot wrap; false: refused. */
static bool expected(const char *text, uint64_t *number)
{
	size_t digits = strspn(text, "0123456789");
	unsigned __int128 value = 0;
	size_t i;

	for (i = 0; i < digits; i++) {
		value = value * 10 + (unsigned int)(text[i] - '0');
		if (value > UINT64_MAX)
			return false;
	}
	if (!digits || !value ||
	    (strlen(text) > digits + 1 && strcasecmp(text + digits + 1, "iB")))
		return false;
	switch (text[digits]) {
	case 'P': case 'p':
		value <<= 10;	/* fall through */
	case 'T': case 't':
		value <<= 10;	/* fall through */
	case 'G': case 'g':
		value <<= 10;	/* fall through */
	case 'M': case 'm':
		value <<= 10;	/* fall through */
	case 'K': case 'k':
		value <<= 10;	/* fall through */
	case '\0':
		break;
	default:
		return false;
	}
	*number = (uint64_t)value;
	return value <= UINT64_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), printed[24];
	uint64_t want = 0, number = MARK, again;
	bool lawful = expected(text, &want), zero = !strcmp(text, "0");

	FUZZ_CHECK(parse_number(text, &number) == lawful);
	FUZZ_CHECK(number == (lawful ? want : MARK));
	if (lawful) {
		snprintf(printed, sizeof(printed), "%" PRIu64, number);
		FUZZ_CHECK(parse_number(printed, &again) && again == number);
	}

	number = MARK;
	FUZZ_CHECK(parse_position(text, &number) == (lawful || zero));
	FUZZ_CHECK(number == (lawful ? want : zero ? 0 : MARK));

	FUZZ_CHECK(!options_wrong(&row, text) ==
		   (lawful && want <= MOST));
	FUZZ_CHECK(options_number(text) == (lawful ? want : 0));
	free(text);
	return 0;
}
