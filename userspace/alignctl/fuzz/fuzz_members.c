// SPDX-License-Identifier: GPL-2.0
/*
 * Any text reduced to some members: what json-c reads of the copy is what it
 * reads of the text, without all other members.
 */
#include <json-c/json.h>

#include "fleet/members.h"
#include "fuzz.h"

/* As deep as members_copy() goes, and one more. */
#define DEPTH	102

static char *names[] = { "a", "name", "devices", "\xc3\xa9" };

FUZZ_CHECKER static bool is_named(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], key))
			return true;
	return false;
}

/* Return the value without members of other names. */
FUZZ_CHECKER static struct json_object *reduced(struct json_object *value)
{
	struct json_object *made;
	size_t i;

	if (json_object_is_type(value, json_type_object)) {
		made = json_object_new_object();
		json_object_object_foreach(value, key, inner)
			if (is_named(key))
				json_object_object_add(made, key,
						       reduced(inner));
		return made;
	}
	if (json_object_is_type(value, json_type_array)) {
		made = json_object_new_array();
		for (i = 0; i < json_object_array_length(value); i++)
			json_object_array_add(made, reduced(
				json_object_array_get_idx(value, i)));
		return made;
	}
	return json_object_get(value);
}

FUZZ_CHECKER static struct json_object *parsed(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH);
	struct json_object *value;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT |
			       JSON_TOKENER_VALIDATE_UTF8);
	value = json_tokener_parse_ex(tokener, text, (int)length);
	/* a number may go on */
	if (json_tokener_get_error(tokener) == json_tokener_continue)
		value = json_tokener_parse_ex(tokener, " ", 1);
	FUZZ_CHECK(json_tokener_get_error(tokener) == json_tokener_success);
	json_tokener_free(tokener);
	return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct members *members = members_new(names, sizeof(names) /
						     sizeof(names[0]));
	char *text = fuzz_text(data, size), *copy = malloc(size + !size);
	char *again = malloc(size + 1);
	size_t length = members_copy(members, text, size, copy);

	FUZZ_CHECK(length <= size);
	if (length) {
		struct json_object *whole = parsed(text, size);
		struct json_object *part = parsed(copy, length);
		struct json_object *expected = reduced(whole);
		struct json_object *found = reduced(part);

		FUZZ_CHECK(json_object_equal(expected, found));
		json_object_put(whole);
		json_object_put(part);
		json_object_put(expected);
		json_object_put(found);
		/* a copy is its own copy, and has no lines */
		FUZZ_CHECK(!memchr(copy, '\n', length));
		memcpy(again, copy, length);
		again[length] = '\0';
		FUZZ_CHECK(members_copy(members, again, length, copy) ==
			   length && !memcmp(again, copy, length));
	}
	free(again);
	free(copy);
	free(text);
	free(members);
	return 0;
}
