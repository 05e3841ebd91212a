/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_HIGHMEM_H
#define SHIM_HIGHMEM_H
#include <linux/gfp.h>
static inline void *kmap_local_page(struct page *page)
{
	return page_address(page);
}

#define kunmap_local(address)	((void)(address))
/* Data caches do not alias here: calls are counted. */
extern unsigned int shim_nr_pages_flushed;
#define flush_dcache_page(page)	((void)(page), (void)shim_nr_pages_flushed++)

static inline void memcpy_from_page(char *to, struct page *page, size_t offset,
				    size_t bytes)
{
	memcpy(to, (char *)page_address(page) + offset, bytes);
}

static inline void memcpy_to_page(struct page *page, size_t offset,
				  const char *from, size_t bytes)
{
	memcpy((char *)page_address(page) + offset, from, bytes);
}

static inline void memzero_page(struct page *page, size_t offset, size_t bytes)
{
	memset((char *)page_address(page) + offset, 0, bytes);
}

struct folio;
struct page *folio_page(struct folio *folio, unsigned long n);
#endif
