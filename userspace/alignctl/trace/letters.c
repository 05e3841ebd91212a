// SPDX-License-Identifier: GPL-2.0
/* The table of letters, and the flags that may follow the operation. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "trace/letters.h"

/*
 * The operations of blk_fill_rwbs() in Linux 6.1 to 7.2 and of fill_rwbs() in
 * blkparse; what begins with another one precedes that.
 */
static const struct {
	const char *letters;
	enum trace_letters kind;
	enum trace_op op;
} operations[] = {
	{ "R", LETTERS_REQUEST, TRACE_READ },
	{ "WZ", LETTERS_REQUEST, TRACE_WRITE_ZEROES },
	{ "W", LETTERS_REQUEST, TRACE_WRITE },
	{ "DE", LETTERS_SECURE_ERASE, TRACE_DISCARD },
	{ "D", LETTERS_REQUEST, TRACE_DISCARD },
	{ "F", LETTERS_REQUEST, TRACE_FLUSH },
	{ "ZRA", LETTERS_ZONE, TRACE_NR_OPS },
	{ "ZA", LETTERS_ZONE, TRACE_NR_OPS },
	{ "ZR", LETTERS_ZONE, TRACE_NR_OPS },
	{ "ZF", LETTERS_ZONE, TRACE_NR_OPS },
	{ "ZO", LETTERS_ZONE, TRACE_NR_OPS },
	{ "ZC", LETTERS_ZONE, TRACE_NR_OPS },
	{ "N", LETTERS_OTHER, TRACE_NR_OPS },
};

#define NR_OPERATIONS	(sizeof(operations) / sizeof(operations[0]))

/*
 * Readahead, synchronous, metadata and atomic; B, the barrier of kernels before
 * 2.6.37, and V, of some bcc tools.
 */
#define HINTS	"ASMUBVasmubv"

/* Return the index of the operation that text begins with, or NR_OPERATIONS. */
static size_t find_operation(const char *text)
{
	size_t i;

	for (i = 0; i < NR_OPERATIONS; i++)
		if (!strncasecmp(text, operations[i].letters,
				 strlen(operations[i].letters)))
			break;
	return i;
}

static bool is_f(char c)
{
	return c == 'F' || c == 'f';
}

enum trace_letters trace_letters_take(const char **at,
				      struct trace_request *request)
{
	const char *text = *at;
	/* F before an operation is a preflush, else it is one itself */
	bool preflush = is_f(*text) &&
			find_operation(text + 1) < NR_OPERATIONS;
	size_t found = find_operation(text + preflush);
	bool fua;

	if (found == NR_OPERATIONS)
		return LETTERS_INVALID;
	text += preflush + strlen(operations[found].letters);
	fua = is_f(*text);
	text += fua;
	*at = text + strspn(text, HINTS);
	request->op = operations[found].op;
	if (request->op != TRACE_FLUSH) {
		request->preflush |= preflush;
		request->fua |= fua;
	}
	return operations[found].kind;
}
