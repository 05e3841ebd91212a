/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM align

#if !defined(DM_ALIGN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DM_ALIGN_TRACE_H

#include <linux/blkdev.h>
#include <linux/tracepoint.h>

/*
 * A write or write-zeroes was classified. class: enum align_class; sector: on
 * the device below; zeroes: 1 of write-zeroes, 0 of a write.
 */
TRACE_EVENT(align_write,
	    TP_PROTO(dev_t dev, sector_t sector, unsigned int sectors,
		     unsigned int class, unsigned int touches,
		     unsigned int zeroes),
	    TP_ARGS(dev, sector, sectors, class, touches, zeroes),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(sector_t, sector)
			     __field(unsigned int, sectors)
			     __field(unsigned int, class)
			     __field(unsigned int, touches)
			     __field(unsigned int, zeroes)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->sector = sector;
			   __entry->sectors = sectors;
			   __entry->class = class;
			   __entry->touches = touches;
			   __entry->zeroes = zeroes;),
	    TP_printk("%d,%d %llu + %u class=%u touches=%u%s",
		      MAJOR(__entry->dev), MINOR(__entry->dev),
		      (unsigned long long)__entry->sector, __entry->sectors,
		      __entry->class, __entry->touches,
		      __entry->zeroes ? " zeroes" : "")
);

/*
 * Partial touches of a block were resolved in the same way. how: enum rmw_how;
 * touches: their number; ns: from the arrival of the first one's write to the end
 * of it. The held touches of a block make at most two events, however many they are:
 * the first touch may be resolved in another way than the others.
 */
TRACE_EVENT(align_rmw,
	    TP_PROTO(dev_t dev, u64 block, unsigned int how,
		     unsigned int touches, u64 ns),
	    TP_ARGS(dev, block, how, touches, ns),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u64, block)
			     __field(unsigned int, how)
			     __field(unsigned int, touches)
			     __field(u64, ns)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->block = block;
			   __entry->how = how;
			   __entry->touches = touches;
			   __entry->ns = ns;),
	    TP_printk("%d,%d block=%llu how=%u touches=%u ns=%llu",
		      MAJOR(__entry->dev), MINOR(__entry->dev),
		      (unsigned long long)__entry->block, __entry->how,
		      __entry->touches, (unsigned long long)__entry->ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
