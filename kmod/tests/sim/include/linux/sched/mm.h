/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations that must not start I/O. */
#ifndef SHIM_SCHED_MM_H
#define SHIM_SCHED_MM_H
#include <linux/sched.h>

static inline unsigned int memalloc_noio_save(void)
{
	unsigned int flags = current->flags & PF_MEMALLOC_NOIO;

	current->flags |= PF_MEMALLOC_NOIO;
	return flags;
}

static inline void memalloc_noio_restore(unsigned int flags)
{
	current->flags = (current->flags & ~PF_MEMALLOC_NOIO) | flags;
}
#endif
