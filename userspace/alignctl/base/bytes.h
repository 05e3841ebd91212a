/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in a header or a page, at any address, in a fixed byte order. */
#ifndef ALIGNCTL_BYTES_H
#define ALIGNCTL_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define BYTES_AT(order, bits)						\
	static inline uint##bits##_t order##bits##_at(const uint8_t *at) \
	{								\
		uint##bits##_t value;					\
									\
		memcpy(&value, at, sizeof(value));			\
		return order##bits##toh(value);				\
	}

BYTES_AT(le, 16)
BYTES_AT(le, 32)
BYTES_AT(le, 64)
BYTES_AT(be, 16)
BYTES_AT(be, 32)
BYTES_AT(be, 64)
#undef BYTES_AT

#endif
