/* SPDX-License-Identifier: GPL-2.0 */
/* A JSON text reduced to the members of a few names, at the speed of a scan. */
#ifndef ALIGNCTL_MEMBERS_H
#define ALIGNCTL_MEMBERS_H

#include <stddef.h>

struct members;

/* Return the set of @nr @names, which stay the caller's, for free(). */
struct members *members_new(char *const *names, size_t nr);

/*
 * Copy a JSON text of @length bytes, behind which a NUL stands, to @to, without
 * white space and without the members of objects whose name is not among
 * @names; all that is in such a member is left out. A member
 * whose name has an escape is copied. @to has room for @length bytes.
 * Return: length of the copy; 0: the text is refused, as it is no JSON by the
 * strict rules of RFC 8259, more than one document, or has numbers or a depth
 * that other readers may refuse.
 */
size_t members_copy(const struct members *names, const char *text,
		    size_t length, char *to);

#endif
