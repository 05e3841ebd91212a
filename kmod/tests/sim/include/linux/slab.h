/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stdarg.h>

#include <linux/gfp.h>

void *kmalloc(size_t bytes, gfp_t gfp);
void kfree(const void *memory);
size_t ksize(const void *memory);

/* An allocation is as large as asked. */
static inline size_t kmalloc_size_roundup(size_t bytes)
{
	return bytes;
}

static inline void *kzalloc(size_t bytes, gfp_t gfp)
{
	return kmalloc(bytes, gfp | __GFP_ZERO);
}

#define kcalloc(n, bytes, gfp)	kzalloc((n) * (bytes), gfp)
__printf(2, 3) char *kasprintf(gfp_t gfp, const char *format, ...);

static inline void *kmalloc_array(size_t n, size_t bytes, gfp_t gfp)
{
	return kmalloc(n * bytes, gfp);
}

#define kmalloc_array_node(n, bytes, gfp, node) \
	((void)(node), kmalloc_array(n, bytes, gfp))

#endif
