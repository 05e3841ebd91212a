/* SPDX-License-Identifier: GPL-2.0 */
/* Short names for json-c. Running out of memory ends the program. */
#ifndef ALIGNCTL_JSON_H
#define ALIGNCTL_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object *json_new(void);
/*
 * Return a new document whose member "format" is @format. Each kind of document
 * counts its formats: the number rises when a member is removed or changes its
 * meaning, not when one is added.
 */
struct json_object *json_new_document(unsigned int format);
struct json_object *json_new_array(void);

/*
 * Return a value: a number, one with six digits after the point, a boolean, or a
 * text, as utf8_mend() makes it, which becomes null if it is NULL.
 */
struct json_object *json_from_number(uint64_t n);
struct json_object *json_from_real(double n);
struct json_object *json_from_bool(bool b);
struct json_object *json_from_text(const char *text);

/* Add a member; @object takes over the reference to @value. */
void json_add(struct json_object *object, const char *key,
	      struct json_object *value);
void json_add_number(struct json_object *object, const char *key, uint64_t n);
/* Add a number with six digits after the point. */
void json_add_real(struct json_object *object, const char *key, double n);
void json_add_bool(struct json_object *object, const char *key, bool b);
/* Add a text, or null if @text is NULL. */
void json_add_text(struct json_object *object, const char *key,
		   const char *text);
/*
 * Add a text as it is, for a file that is read back here: a name in it must stay
 * the one of its file, with any bytes.
 */
void json_add_bytes(struct json_object *object, const char *key,
		    const char *text);
void json_add_null(struct json_object *object, const char *key);
/* Append a value; @array takes over the reference to @value. */
void json_append(struct json_object *array, struct json_object *value);
void json_append_number(struct json_object *array, uint64_t n);
/* Append a histogram's bin, the pair [bound, count]. */
void json_append_bin(struct json_object *array, double bound, uint64_t count);

/*
 * Make an array of @nr elements, of which each is made by @make when the array is
 * printed, on a line of its own, and freed then: for arrays that are too long to be
 * in memory as objects. @context is for @make, and is there as long as the array.
 */
struct json_object *
json_new_lazy_array(size_t nr,
		    struct json_object *(*make)(void *context, size_t index),
		    void *context);

/*
 * Return the text of a document, which belongs to it, as json-c's @flags have it. End
 * the program with ALIGNCTL_IO if it has more than 2 GiB, json-c's limit.
 */
const char *json_text(struct json_object *object, int flags);

/* Print @object on standard output, indented or on one line, and free it. */
void json_print(struct json_object *object, bool one_line);

/*
 * Parse a text of at most INT_MAX bytes that is one document; the caller puts
 * it. Return: NULL, or what is wrong, for free(), and then @document is NULL.
 */
char *json_parse(struct json_object **document, const char *text,
		 size_t length);

/*
 * Read a member. Return false if it is missing, negative or of another type.
 * json-c returns UINT64_MAX for a larger number.
 */
bool json_get_number(struct json_object *object, const char *key, uint64_t *n);
bool json_get_bool(struct json_object *object, const char *key, bool *b);
/* Read an array of at most @max numbers, and set *@nr to their number. */
bool json_get_numbers(struct json_object *object, const char *key,
		      uint64_t *numbers, size_t max, size_t *nr);
/* Return a member's text, owned by @object, or NULL if it has none. */
const char *json_get_text(struct json_object *object, const char *key);

#endif
