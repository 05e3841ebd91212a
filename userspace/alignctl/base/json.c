// SPDX-License-Identifier: GPL-2.0
/*
 * Wrappers of json-c: build objects and arrays, read typed members, print a
 * document.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/output.h"
#include "base/utf8.h"

struct json_object *json_new(void)
{
	return memory_or_exit(json_object_new_object());
}

struct json_object *json_new_document(unsigned int format)
{
	struct json_object *document = json_new();

	json_add_number(document, "format", format);
	return document;
}

struct json_object *json_new_array(void)
{
	return memory_or_exit(json_object_new_array());
}

void json_add(struct json_object *object, const char *key,
	      struct json_object *value)
{
	json_object_object_add(object, key, value);
}

struct json_object *json_from_number(uint64_t n)
{
	return memory_or_exit(json_object_new_uint64(n));
}

struct json_object *json_from_real(double n)
{
	CLEANUP_FREE char *text = message_format("%.6f", n);

	return memory_or_exit(json_object_new_double_s(n, text));
}

struct json_object *json_from_bool(bool b)
{
	return memory_or_exit(json_object_new_boolean(b));
}

struct json_object *json_from_text(const char *text)
{
	CLEANUP_FREE char *mended = text ? utf8_mend(text) : NULL;

	return text ? memory_or_exit(json_object_new_string(mended)) : NULL;
}

void json_add_number(struct json_object *object, const char *key, uint64_t n)
{
	json_add(object, key, json_from_number(n));
}

void json_add_real(struct json_object *object, const char *key, double n)
{
	json_add(object, key, json_from_real(n));
}

void json_add_bool(struct json_object *object, const char *key, bool b)
{
	json_add(object, key, json_from_bool(b));
}

void json_add_text(struct json_object *object, const char *key,
		   const char *text)
{
	json_add(object, key, json_from_text(text));
}

void json_add_bytes(struct json_object *object, const char *key,
		    const char *text)
{
	json_add(object, key, memory_or_exit(json_object_new_string(text)));
}

void json_add_null(struct json_object *object, const char *key)
{
	json_add(object, key, NULL);
}

void json_append(struct json_object *array, struct json_object *value)
{
	json_object_array_add(array, value);
}

void json_append_number(struct json_object *array, uint64_t n)
{
	json_append(array, json_from_number(n));
}

void json_append_bin(struct json_object *array, double bound, uint64_t count)
{
	/* print only the digits that a bound needs: 512, or 1.28 */
	CLEANUP_FREE char *text = message_format("%.10g", bound);
	struct json_object *bin = json_new_array();

	json_append(bin, memory_or_exit(json_object_new_double_s(bound, text)));
	json_append_number(bin, count);
	json_append(array, bin);
}

/**
 * struct lazy - elements of an array that are made when it is printed
 * @nr: number of elements
 * @make: makes the element of an index
 * @context: for @make
 */
struct lazy {
	size_t nr;
	struct json_object *(*make)(void *context, size_t index);
	void *context;
};

/* Print an array of elements that are made one at a time, as json-c asks for it. */
static int print_lazy(struct json_object *array, struct printbuf *out,
		      int level, int flags)
{
	const struct lazy *lazy = json_object_get_userdata(array);
	bool fits = printbuf_memappend(out, "[", 1) >= 0;
	size_t i;

	(void)level;
	for (i = 0; fits && i < lazy->nr; i++) {
		struct json_object *element = lazy->make(lazy->context, i);
		const char *text = json_object_to_json_string_ext(element,
			flags & ~JSON_C_TO_STRING_PRETTY);

		fits = printbuf_memappend(out, i ? ",\n" : "\n",
					  i ? 2 : 1) >= 0 && text &&
		       printbuf_memappend(out, text, (int)strlen(text)) >= 0;
		json_object_put(element);
	}
	return fits && printbuf_memappend(out, "\n]", 2) >= 0 ? 0 : -1;
}

struct json_object *
json_new_lazy_array(size_t nr,
		    struct json_object *(*make)(void *context, size_t index),
		    void *context)
{
	struct json_object *array = json_new_array();
	struct lazy *lazy = memory_or_exit(malloc(sizeof(*lazy)));

	*lazy = (struct lazy) { nr, make, context };
	json_object_set_serializer(array, print_lazy, lazy,
				   json_object_free_userdata);
	return array;
}

const char *json_text(struct json_object *object, int flags)
{
	const char *text = json_object_to_json_string_ext(object, flags);

	if (text)
		return text;
	message_error("the JSON document has more than 2 GiB; ask for less at a time");
	exit(ALIGNCTL_IO);
}

/*
 * Print a JSON text. Escape DEL and U+0080 to U+009F, which json-c leaves unmodified, and
 * which a terminal obeys.
 */
static void put_text(const char *text)
{
	for (;;) {
		size_t plain = strcspn(text, "\x7f\xc2");
		unsigned char byte;

		fwrite(text, 1, plain, stdout);
		text += plain;
		if (!*text)
			return;
		/* the second byte of U+0080 to U+00BF is its number */
		byte = (unsigned char)(*text == 0x7f ? *text : text[1]);
		if (*text == 0x7f || (byte >= 0x80 && byte <= 0x9f)) {
			printf("\\u%04x", byte);
			text += *text == 0x7f ? 1 : 2;
		} else {
			putchar(*text++);
		}
	}
}

void json_print(struct json_object *object, bool one_line)
{
	put_text(json_text(object, JSON_C_TO_STRING_NOSLASHESCAPE |
			   (one_line ? 0 : JSON_C_TO_STRING_PRETTY |
					   JSON_C_TO_STRING_SPACED)));
	putchar('\n');
	output_flush();
	json_object_put(object);
}

char *json_parse(struct json_object **document, const char *text,
		 size_t length)
{
	struct json_tokener *tokener = memory_or_exit(json_tokener_new());
	enum json_tokener_error state;
	size_t end;

	*document = json_tokener_parse_ex(tokener, text, (int)length);
	state = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (state != json_tokener_success)
		return message_format("no JSON: %s",
				      state == json_tokener_continue ?
				      "it ends too early" :
				      json_tokener_error_desc(state));
	while (end < length && strchr(" \n\t\r", text[end]) && text[end])
		end++;
	if (end == length)
		return NULL;
	json_object_put(*document);
	*document = NULL;
	return message_format("more than one document; keep one");
}

static bool get_number(struct json_object *value, uint64_t *n)
{
	/* json-c would return 0 for a negative number */
	if (!json_object_is_type(value, json_type_int) ||
	    json_object_get_int64(value) < 0)
		return false;
	*n = json_object_get_uint64(value);
	return true;
}

bool json_get_number(struct json_object *object, const char *key, uint64_t *n)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       get_number(value, n);
}

bool json_get_bool(struct json_object *object, const char *key, bool *b)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_boolean))
		return false;
	*b = json_object_get_boolean(value);
	return true;
}

bool json_get_numbers(struct json_object *object, const char *key,
		      uint64_t *numbers, size_t max, size_t *nr)
{
	struct json_object *array;
	size_t length, i;

	if (!json_object_object_get_ex(object, key, &array) ||
	    !json_object_is_type(array, json_type_array) ||
	    json_object_array_length(array) > max)
		return false;
	length = json_object_array_length(array);
	for (i = 0; i < length; i++)
		if (!get_number(json_object_array_get_idx(array, i),
				&numbers[i]))
			return false;
	*nr = length;
	return true;
}

const char *json_get_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}
