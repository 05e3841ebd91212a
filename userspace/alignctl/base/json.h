/* SPDX-License-Identifier: GPL-2.0 */
/* Short names for what alignctl does with json-c; memory never runs out. */
#ifndef ALIGNCTL_JSON_H
#define ALIGNCTL_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct json_object *json_new(void);
/*
 * Begin a document to be printed, with its member "format": @format, a number of
 * its own for each kind of document, which rises when a member goes, or means
 * something else; a new member leaves it.
 */
struct json_object *json_new_document(unsigned int format);
struct json_object *json_new_array(void);

/* Values: a number; one with six digits after the point; null for a text NULL. */
struct json_object *json_from_number(uint64_t n);
struct json_object *json_from_real(double n);
struct json_object *json_from_bool(bool b);
struct json_object *json_from_text(const char *text);

void json_add(struct json_object *object, const char *key,
	      struct json_object *value);
void json_add_number(struct json_object *object, const char *key, uint64_t n);
/* With six digits after the point. */
void json_add_real(struct json_object *object, const char *key, double n);
void json_add_bool(struct json_object *object, const char *key, bool b);
/* NULL becomes null. */
void json_add_text(struct json_object *object, const char *key,
		   const char *text);
void json_add_null(struct json_object *object, const char *key);
/* Appends a value, a number, or a pair [bound, count] of a histogram. */
void json_append(struct json_object *array, struct json_object *value);
void json_append_number(struct json_object *array, uint64_t n);
void json_append_bin(struct json_object *array, double bound, uint64_t count);

/* Prints on standard output, in many lines or in one, and frees. */
void json_print(struct json_object *object, bool one_line);

/*
 * Each reads a member; false if it is not there, of another type or negative.
 * json-c makes UINT64_MAX of numbers that are larger.
 */
bool json_get_number(struct json_object *object, const char *key, uint64_t *n);
bool json_get_bool(struct json_object *object, const char *key, bool *b);
/* Reads an array of at most @max numbers. */
bool json_get_numbers(struct json_object *object, const char *key,
		      uint64_t *numbers, size_t max, size_t *nr);
const char *json_get_text(struct json_object *object, const char *key);

#endif
