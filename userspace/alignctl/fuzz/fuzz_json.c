// SPDX-License-Identifier: GPL-2.0
/* Members of any JSON text. */
#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"

#define ROOM	4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	char *text = fuzz_text(data, size), *mended;
	struct json_object *object = json_tokener_parse(text);
	uint64_t number = 77, numbers[ROOM + 1] = { 0 };
	struct json_object *made, *value;
	size_t nr = 77, i;
	bool b = false;

	numbers[ROOM] = 77;
	if (json_get_number(object, "n", &number)) {
		FUZZ_CHECK(json_object_object_get_ex(object, "n", &value));
		const char *shown = json_object_get_string(value);

		FUZZ_CHECK(fuzz_is_number(shown, strlen(shown), number));
	} else {
		FUZZ_CHECK(number == 77);
	}
	if (json_get_numbers(object, "a", numbers, ROOM, &nr)) {
		FUZZ_CHECK(nr <= ROOM);
		FUZZ_CHECK(json_object_object_get_ex(object, "a", &value));
		FUZZ_CHECK(json_object_array_length(value) == nr);
		for (i = 0; i < nr; i++) {
			const char *shown = json_object_get_string(
				json_object_array_get_idx(value, i));

			FUZZ_CHECK(fuzz_is_number(shown, strlen(shown),
						  numbers[i]));
		}
	} else {
		FUZZ_CHECK(nr == 77);
	}
	FUZZ_CHECK(numbers[ROOM] == 77);
	json_get_text(object, "t");
	if (json_get_bool(object, "b", &b)) {
		FUZZ_CHECK(json_object_object_get_ex(object, "b", &value));
		FUZZ_CHECK(!strcmp(json_object_get_string(value),
				   b ? "true" : "false"));
	}
	json_object_put(object);

	/* members that are written are read back */
	number = fuzz_take(&bytes, 8);
	made = json_new();
	json_add_number(made, "n", number);
	json_add_text(made, "t", text);
	json_add_bool(made, "b", number & 1);
	object = json_tokener_parse(json_object_to_json_string(made));
	FUZZ_CHECK(object && json_get_number(object, "n", &numbers[0]) &&
		   numbers[0] == number);
	/* what is no UTF-8 is written as letters */
	mended = utf8_mend(text);
	FUZZ_CHECK(!strcmp(json_get_text(object, "t"), mended));
	free(mended);
	FUZZ_CHECK(json_get_bool(object, "b", &b) && b == (number & 1));
	json_object_put(object);
	json_object_put(made);
	free(text);
	return 0;
}
