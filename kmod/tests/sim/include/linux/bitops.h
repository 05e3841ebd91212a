/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_BITOPS_H
#define SHIM_BITOPS_H

#include <linux/kernel.h>

#define __LITTLE_ENDIAN		1234	/* the architectures of stack_switch() */
#define BITS_PER_LONG		64
#define BITS_PER_BYTE		8
#define BIT(n)			(1UL << (n))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define BITS_TO_LONGS(n)	DIV_ROUND_UP(n, BITS_PER_LONG)
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (BITS_PER_LONG - 1 - (h))))
#define small_const_nbits(n) \
	(__builtin_constant_p(n) && (n) <= BITS_PER_LONG && (n) > 0)

#define __ffs(word)		((unsigned long)__builtin_ctzl(word))
#define __fls(word)		(63UL - __builtin_clzl(word))
#define ffz(word)		__ffs(~(word))
#define hweight_long(word)	((unsigned long)__builtin_popcountl(word))
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define swab(x)			__builtin_bswap64(x)

#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[BIT_WORD(nr)] & BIT_MASK(nr);
}

static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[BIT_WORD(nr)] |= BIT_MASK(nr);
}

#define set_bit(nr, map)		__set_bit(nr, map)

static inline void __clear_bit(unsigned long nr, unsigned long *map)
{
	map[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline void __assign_bit(unsigned long nr, unsigned long *map, bool on)
{
	if (on)
		__set_bit(nr, map);
	else
		__clear_bit(nr, map);
}

static inline unsigned int fns(unsigned long word, unsigned int n)
{
	while (word && n--)
		word &= word - 1;
	return word ? __ffs(word) : BITS_PER_LONG;
}

#endif
