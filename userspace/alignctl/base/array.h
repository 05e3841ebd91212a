/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow by an element at a time. */
#ifndef ALIGNCTL_ARRAY_H
#define ALIGNCTL_ARRAY_H

#include <stdlib.h>

#include "base/message.h"

/*
 * Append an element to @array of @nr elements, both of which are evaluated
 * several times and changed; the array may move. Return: the new element, whose
 * content is undefined.
 */
#define ARRAY_APPEND(array, nr)						\
	((array) = memory_or_exit(reallocarray((array), (nr) + 1,	\
					       sizeof(*(array)))),	\
	 &(array)[(nr)++])

#endif
