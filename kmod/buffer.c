// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer of a block: its memory, and the bytes of touches that come to it.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "buffer.h"

/**
 * buffer_alloc - allocate room for the content of a block
 * @at: the target
 * @vecs: receives the pieces
 * @gfp: how
 *
 * Return: false without memory.
 */
bool buffer_alloc(const struct align_target *at, struct bio_vec *vecs,
		  gfp_t gfp)
{
	unsigned int size = buffer_vec_size(at);
	unsigned int i;

	memset(vecs, 0, buffer_nr_vecs(at) * sizeof(*vecs));
	for (i = 0; i < buffer_nr_vecs(at); i++) {
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

/**
 * buffer_free - free the content of a block
 * @at: the target
 * @vecs: the pieces, maybe only the first of them
 */
void buffer_free(const struct align_target *at, struct bio_vec *vecs)
{
	unsigned int i;

	for (i = 0; i < buffer_nr_vecs(at) && vecs[i].bv_page; i++) {
		if (buffer_vec_size(at) < PAGE_SIZE)
			kfree(bvec_virt(&vecs[i]));
		else
			__free_pages(vecs[i].bv_page,
				     get_order(buffer_vec_size(at)));
		vecs[i].bv_page = NULL;
	}
}

/* Zero a part of a buffer, in bytes. */
static void buffer_zero(const struct align_target *at, struct bio_vec *vecs,
			unsigned int byte, unsigned int bytes)
{
	unsigned int size = buffer_vec_size(at);

	while (bytes) {
		unsigned int n = min(size - byte % size, bytes);

		memset(buffer_at(at, vecs, byte), 0, n);
		byte += n;
		bytes -= n;
	}
}

/**
 * buffer_copy - copy bytes of a bio to a buffer
 * @at: the target
 * @vecs: the buffer, which is the caller's
 * @byte: position of the bytes in the buffer
 * @bio: the bio
 * @from: the bytes
 */
void buffer_copy(const struct align_target *at, struct bio_vec *vecs,
		 unsigned int byte, struct bio *bio, struct bvec_iter from)
{
	unsigned int size = buffer_vec_size(at);
	struct bvec_iter iter;
	struct bio_vec bv;

	__bio_for_each_segment(bv, bio, iter, from) {
		void *data = bvec_kmap_local(&bv);
		unsigned int done = 0;

		while (done < bv.bv_len) {
			unsigned int room = size - byte % size;
			unsigned int n = min(room, bv.bv_len - done);

			memcpy(buffer_at(at, vecs, byte), data + done, n);
			done += n;
			byte += n;
		}
		kunmap_local(data);
	}
}

/**
 * buffer_copy_touch - copy the bytes of a touch, or its zeroes, to a buffer
 * @at: the target
 * @vecs: the buffer, which is the caller's
 * @touch: the touch, whose bio has not ended
 */
void buffer_copy_touch(const struct align_target *at, struct bio_vec *vecs,
		       const struct align_touch *touch)
{
	unsigned int byte = touch->part.first << SECTOR_SHIFT;

	if (align_io_is_zeroes(touch->io))
		buffer_zero(at, vecs, byte, touch->part.count << SECTOR_SHIFT);
	else
		buffer_copy(at, vecs, byte, touch->io->bio, touch_iter(touch));
}

/**
 * buffer_complete - copy the sectors that a buffer lacks from another one
 * @at: the target
 * @vecs: the buffer, which is the caller's
 * @from: the other buffer
 * @kept: sectors that are not copied
 */
void buffer_complete(const struct align_target *at, struct bio_vec *vecs,
		     const struct bio_vec *from, const unsigned long *kept)
{
	unsigned int sector;

	for_each_clear_bit(sector, kept, align_block_sectors(&at->geometry)) {
		unsigned int byte = sector << SECTOR_SHIFT;

		memcpy(buffer_at(at, vecs, byte), buffer_at(at, from, byte),
		       SECTOR_SIZE);
	}
}

/**
 * buffer_add_to_bio - add sectors of a buffer to a bio
 * @at: the target
 * @vecs: the buffer
 * @first: first sector
 * @end: the sector after the last one
 * @bio: the bio, with room for buffer_nr_vecs()
 */
void buffer_add_to_bio(const struct align_target *at, struct bio_vec *vecs,
		       unsigned int first, unsigned int end, struct bio *bio)
{
	unsigned int size = buffer_vec_size(at);
	unsigned int byte = first << SECTOR_SHIFT;
	unsigned int stop = end << SECTOR_SHIFT;

	while (byte < stop) {
		struct bio_vec *vec = &vecs[byte / size];
		unsigned int n = min(stop - byte, size - byte % size);

		__bio_add_page(bio, vec->bv_page, n,
			       vec->bv_offset + byte % size);
		byte += n;
	}
}
