/* SPDX-License-Identifier: GPL-2.0 */
/* Memory; memory.c. A struct page is the page: its address is its memory's. */
#ifndef SHIM_GFP_H
#define SHIM_GFP_H

#include <linux/kernel.h>

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

#define __GFP_DIRECT_RECLAIM	1U	/* may sleep; does not fail */
#define __GFP_KSWAPD_RECLAIM	2U
#define __GFP_NORETRY		4U
#define __GFP_NOMEMALLOC	8U
#define __GFP_NOWARN		16U
#define __GFP_COMP		32U
#define __GFP_ZERO		64U
#define __GFP_MAY_FAIL		128U	/* the shim's: as GFP_KERNEL of a set-up */
#define GFP_ATOMIC	__GFP_KSWAPD_RECLAIM
#define GFP_NOWAIT	__GFP_KSWAPD_RECLAIM
#define GFP_NOIO	(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM)
#define GFP_KERNEL	(GFP_NOIO | __GFP_MAY_FAIL)

struct page {
	unsigned char bytes[PAGE_SIZE];
};

struct page *alloc_pages(gfp_t gfp, unsigned int order);
void __free_pages(struct page *page, unsigned int order);
#define alloc_page(gfp)	alloc_pages(gfp, 0)
#define __free_page(page)	__free_pages(page, 0)

static inline unsigned int get_order(unsigned long bytes)
{
	unsigned int order = 0;

	while ((PAGE_SIZE << order) < bytes)
		order++;
	return order;
}

static inline void *page_address(const struct page *page)
{
	return (void *)page;
}

static inline struct page *virt_to_page(const void *address)
{
	return (struct page *)((unsigned long)address & PAGE_MASK);
}

#define offset_in_page(p)	((unsigned long)(p) & ~PAGE_MASK)
#define page_to_phys(page)	((phys_addr_t)(unsigned long)(page))
#define page_to_pfn(page)	((unsigned long)(page) >> PAGE_SHIFT)
#define PFN_PHYS(pfn)		((phys_addr_t)(pfn) << PAGE_SHIFT)
#define PageHighMem(page)	((void)(page), false)

#endif
