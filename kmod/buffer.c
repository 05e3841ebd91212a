// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer of a block: its memory, and the bytes of touches that come to it.
 */
#include <linux/slab.h>

#include "block_state.h"
#include "buffer.h"

/* Allocate room for the content of a block. Return: false without memory. */
bool buffer_alloc(const struct align_target *at, struct bio_vec *vecs,
		  gfp_t gfp)
{
	unsigned int size = block_vec_size(at);
	unsigned int i;

	memset(vecs, 0, block_nr_vecs(at) * sizeof(*vecs));
	for (i = 0; i < block_nr_vecs(at); i++) {
		if (size < PAGE_SIZE) {
			void *data = kmalloc(size, gfp);

			if (!data)
				goto no_memory;
			bvec_set_page(&vecs[i], virt_to_page(data), size,
				      offset_in_page(data));
		} else {
			struct page *page = alloc_pages(gfp | __GFP_COMP,
							get_order(size));

			if (!page)
				goto no_memory;
			bvec_set_page(&vecs[i], page, size, 0);
		}
	}
	return true;

no_memory:
	buffer_free(at, vecs);
	return false;
}

/* Free the content of a block, a partial one of buffer_alloc() too. */
void buffer_free(const struct align_target *at, struct bio_vec *vecs)
{
	unsigned int i;

	for (i = 0; i < block_nr_vecs(at) && vecs[i].bv_page; i++) {
		if (block_vec_size(at) < PAGE_SIZE)
			kfree(bvec_virt(&vecs[i]));
		else
			__free_pages(vecs[i].bv_page,
				     get_order(block_vec_size(at)));
		vecs[i].bv_page = NULL;
	}
}

/* Zero a part of the buffer, in bytes. */
static void block_zero(struct align_block *block, unsigned int at,
		       unsigned int bytes)
{
	unsigned int size = block_vec_size(block->single.at);

	while (bytes) {
		unsigned int n = min(size - at % size, bytes);

		memset(bvec_virt(&block->vecs[at / size]) + at % size, 0, n);
		at += n;
		bytes -= n;
	}
}

/**
 * block_copy_touch - copy the bytes of a touch, or its zeroes, to the buffer
 * @block: its block, whose buffer is the caller's
 * @touch: the touch, whose bio has not ended
 */
void block_copy_touch(struct align_block *block,
		      const struct align_touch *touch)
{
	unsigned int size = block_vec_size(block->single.at);
	unsigned int at = touch->part.first << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec from;

	if (align_io_is_zeroes(touch->io)) {
		block_zero(block, at, touch->part.count << SECTOR_SHIFT);
		return;
	}
	__bio_for_each_segment(from, touch->io->bio, iter, touch->iter) {
		void *data = bvec_kmap_local(&from);
		unsigned int done = 0;

		while (done < from.bv_len) {
			unsigned int room = size - at % size;
			unsigned int n = min(room, from.bv_len - done);

			memcpy(bvec_virt(&block->vecs[at / size]) + at % size,
			       data + done, n);
			done += n;
			at += n;
		}
		kunmap_local(data);
	}
}
