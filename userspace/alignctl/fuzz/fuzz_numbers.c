// SPDX-License-Identifier: GPL-2.0
/* Arguments of options: numbers with and without a unit, switches, times. */
#include "base/options.h"
#include "ledger/mode.h"
#include "fuzz.h"

#include <strings.h>

#define MARK	0x5a5a5a5a5a5a5a5aULL

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
	uint32_t bytes = (uint32_t)MARK;
	bool lawful = expected(text, &want), zero = !strcmp(text, "0"), on;

	FUZZ_CHECK(parse_number(text, &number) == lawful);
	FUZZ_CHECK(number == (lawful ? want : MARK));
	if (lawful) {
		snprintf(printed, sizeof(printed), "%" PRIu64, number);
		FUZZ_CHECK(parse_number(printed, &again) && again == number);
	}

	number = MARK;
	FUZZ_CHECK(parse_position(text, &number) == (lawful || zero));
	FUZZ_CHECK(number == (lawful ? want : zero ? 0 : MARK));

	if (parse_bytes(text, &bytes))
		FUZZ_CHECK(bytes == (zero ? 0 : want) && (lawful || zero));
	else
		FUZZ_CHECK(bytes == (uint32_t)MARK &&
			   (!(lawful || zero) || want > UINT32_MAX));

	number = MARK;
	if (mode_hold_ms(text, &number))
		FUZZ_CHECK(number == MARK &&
			   (!lawful || want > MODE_MAX_HOLD_MS));
	else
		FUZZ_CHECK(number == want && want && want <= MODE_MAX_HOLD_MS);

	on = size & 1;
	if (parse_switch(text, &on))
		FUZZ_CHECK(!strcmp(text, on ? "on" : "off"));
	else
		FUZZ_CHECK(on == (size & 1));
	free(text);
	return 0;
}
