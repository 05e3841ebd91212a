/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one table of ledger counters. It makes the kernel's enum, the pairs of
 * "dmsetup status", the files in sysfs, the keys of alignctl's JSON and the
 * tables in the documents. Append only: the order is part of the interface.
 *
 * To use it, define LEDGER_COUNTER(name, kind, unit, help), include this file
 * (as often as needed, it has no guard), and undefine it again.
 *
 *   name   status key, sysfs file name and JSON key
 *   kind   COUNTER  monotonic, 64 bits, never set back by the kernel
 *          GAUGE    a level, which can fall
 *   unit   "touches", "bios", "bytes", "requests", "blocks" or "events"
 *   help   one sentence for documents and for "alignctl stats --help"
 *
 * A partial touch is one write, or write-zeroes, and one physical block that it
 * covers in part. Counters of "writes" are about writes alone. Balance, exact
 * whenever no write is in flight:
 *
 *   rmw_expected = rmw_avoided + rmw_host + rmw_drive + rmw_lost + rmw_pending
 *
 * rmw_avoided and rmw_drive are the sums of the reasons listed below them.
 */

LEDGER_COUNTER(rmw_expected, COUNTER, "touches",
	       "partial touches that arrived; an uncached drive does one RMW each")
LEDGER_COUNTER(rmw_avoided, COUNTER, "touches",
	       "partial touches resolved here without a read of their own")
LEDGER_COUNTER(rmw_host, COUNTER, "touches",
	       "blocks read here and written back whole, one touch each")
LEDGER_COUNTER(rmw_drive, COUNTER, "touches",
	       "partial touches sent to the drive as they came")
LEDGER_COUNTER(rmw_lost, COUNTER, "touches",
	       "partial touches that failed before they were resolved")
LEDGER_COUNTER(rmw_pending, GAUGE, "touches",
	       "partial touches in flight or held now")
LEDGER_COUNTER(rmw_avoided_merged, COUNTER, "touches",
	       "avoided: joined a write that another touch had read for")
LEDGER_COUNTER(rmw_avoided_complete, COUNTER, "touches",
	       "avoided: the touches in flight or held covered the whole block")
LEDGER_COUNTER(rmw_avoided_known, COUNTER, "touches",
	       "avoided: the rest of the block was known from the last write")
LEDGER_COUNTER(rmw_drive_report, COUNTER, "touches",
	       "to the drive: mode report changes nothing")
LEDGER_COUNTER(rmw_drive_edge, COUNTER, "touches",
	       "to the drive: the block lies only partly inside the target")
LEDGER_COUNTER(rmw_drive_no_memory, COUNTER, "touches",
	       "to the drive: no memory for a block at that moment")
LEDGER_COUNTER(rmw_drive_max_blocks, COUNTER, "touches",
	       "to the drive: max_blocks, or the ceiling of all targets, was reached")
LEDGER_COUNTER(rmw_drive_read_error, COUNTER, "touches",
	       "to the drive: the block could not be read")
LEDGER_COUNTER(rmw_drive_limits, COUNTER, "touches",
	       "to the drive: its limits fell below a physical block")
LEDGER_COUNTER(pad_reads, COUNTER, "requests",
	       "reads sent to the drive to complete a block or a run of neighbours")
LEDGER_COUNTER(pad_read_bytes, COUNTER, "bytes",
	       "bytes read from the drive to complete blocks")
LEDGER_COUNTER(pad_writes, COUNTER, "blocks",
	       "whole blocks written from the engine's own buffers")
LEDGER_COUNTER(writes, COUNTER, "bios", "writes that arrived")
LEDGER_COUNTER(write_bytes, COUNTER, "bytes",
	       "bytes of the writes that arrived")
LEDGER_COUNTER(writes_misaligned, COUNTER, "bios",
	       "writes with one partial touch or two; sum of the four classes below")
LEDGER_COUNTER(writes_sub_block, COUNTER, "bios",
	       "misaligned writes that lie inside one block")
LEDGER_COUNTER(writes_head_only, COUNTER, "bios",
	       "misaligned writes that only start inside a block")
LEDGER_COUNTER(writes_tail_only, COUNTER, "bios",
	       "misaligned writes that only end inside a block")
LEDGER_COUNTER(writes_both_ends, COUNTER, "bios",
	       "misaligned writes that start and end inside different blocks")
LEDGER_COUNTER(writes_over_limits, COUNTER, "bios",
	       "writes larger than one request of the device below")
LEDGER_COUNTER(write_block_bytes, COUNTER, "bytes",
	       "whole physical blocks touched by the writes that arrived")
LEDGER_COUNTER(sent_block_bytes, COUNTER, "bytes",
	       "whole physical blocks sent with bytes of the writes that arrived")
LEDGER_COUNTER(fua, COUNTER, "bios", "writes that arrived with FUA")
LEDGER_COUNTER(flushes, COUNTER, "bios", "flushes that arrived")
LEDGER_COUNTER(reads, COUNTER, "bios", "reads that arrived")
LEDGER_COUNTER(read_bytes, COUNTER, "bytes", "bytes of the reads that arrived")
LEDGER_COUNTER(discards, COUNTER, "bios",
	       "discards and secure erases that arrived")
LEDGER_COUNTER(discard_bytes, COUNTER, "bytes",
	       "bytes of the discards that arrived")
LEDGER_COUNTER(write_zeroes, COUNTER, "bios", "write-zeroes that arrived")
LEDGER_COUNTER(write_zeroes_bytes, COUNTER, "bytes",
	       "bytes of the write-zeroes that arrived")
LEDGER_COUNTER(waits, COUNTER, "bios",
	       "writes of whole blocks, discards and write-zeroes that waited for a block")
LEDGER_COUNTER(cuts, COUNTER, "requests",
	       "extra requests made by cutting at physical boundaries")
LEDGER_COUNTER(uncut, COUNTER, "blocks",
	       "blocks that the device below splits, because no boundary fits its limits")
LEDGER_COUNTER(nowait_again, COUNTER, "bios",
	       "REQ_NOWAIT bios sent back to be tried again; counted nowhere else")
LEDGER_COUNTER(rmw_avoided_superseded, COUNTER, "touches",
	       "avoided: overwritten or discarded as a whole while held")
LEDGER_COUNTER(touches_held, COUNTER, "touches",
	       "partial touches acknowledged as soon as they were copied")
LEDGER_COUNTER(reads_overlaid, COUNTER, "bios",
	       "reads, or parts of reads, that took bytes that were held")
LEDGER_COUNTER(blocks_delayed, COUNTER, "blocks",
	       "blocks whose read waited for a write that was on its way")
LEDGER_COUNTER(flushes_failed, COUNTER, "bios",
	       "flushes that failed because held blocks could not be written")
LEDGER_COUNTER(times_degraded, COUNTER, "events",
	       "times that a target became degraded")
LEDGER_COUNTER(held_blocks, GAUGE, "blocks",
	       "blocks with acknowledged touches that are not on the drive yet")
LEDGER_COUNTER(degraded, GAUGE, "blocks",
	       "held blocks that could not be written; degraded while it is not 0")
LEDGER_COUNTER(rmw_expected_zeroes, COUNTER, "touches",
	       "the part of rmw_expected that write-zeroes brought")
LEDGER_COUNTER(write_zeroes_misaligned, COUNTER, "bios",
	       "write-zeroes with one partial touch or two")
LEDGER_COUNTER(rmw_drive_atomic, COUNTER, "touches",
	       "to the drive: the write is atomic, and may not be cut")
LEDGER_COUNTER(held_bytes, GAUGE, "bytes",
	       "acknowledged bytes in held blocks that are not on the drive yet")
LEDGER_COUNTER(reads_bounced, COUNTER, "bios",
	       "reads, or parts of reads, with ends inside a logical block of the device below")
LEDGER_COUNTER(bounce_reads, COUNTER, "requests",
	       "reads of logical blocks of the device below for these")
LEDGER_COUNTER(touches_starved, COUNTER, "touches",
	       "partial touches that waited for memory, as they could not go as they came")
