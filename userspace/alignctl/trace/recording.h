/* SPDX-License-Identifier: GPL-2.0 */
/*
 * alignctl's own recordings. All numbers are little-endian.
 *
 * A header of 256 bytes, then chunks up to the end of the file. A chunk is
 *
 *   byte 0  bytes of its body, from 1 to 65536
 *   byte 4  requests in it
 *   byte 8  CRC-32C of bytes 0 to 7 and of the body
 *   byte 12 the body: items, none of which goes over its end
 *
 * An item begins with a byte, its tag. V is a number of up to 64 bits in groups
 * of seven, the lowest first, each in a byte with bit 7 set if more follow.
 *
 *   bits 0-2 of the tag
 *   0-4  a request: enum trace_op. Then
 *          bit 3  preflush
 *          bit 4  FUA
 *          bit 5  it has another context than the request before
 *          bit 6  it has the length of the request before
 *          bit 7  distance and length are in sectors of 512 bytes
 *        V time since the request before, ns
 *        V context, from 0 to 255		if bit 5
 *        V distance from the end of the request before: its magnitude times 2,
 *          plus 1 if it goes back		unless it is a flush
 *        V length				unless it is a flush, or bit 6
 *   6    defines a context, and makes it that of the next request:
 *        V context, V process, V file, V length of its name, the name
 *   7    names a file, before the first request to it: V file, V length of its name, the name
 *
 * The request before the first one is of time 0, ends at byte 0, has no length,
 * and has context 0, which is file 0, no process and no name until it is
 * defined. A flush is no request before, but for its time and context.
 */
#ifndef ALIGNCTL_TRACE_RECORDING_H
#define ALIGNCTL_TRACE_RECORDING_H

#include <stdint.h>

#include "trace/trace.h"

#define RECORDING_MAGIC		"\x89" "align\r\n"
#define RECORDING_VERSION	1U
#define RECORDING_BODY		65536U
#define RECORDING_CONTEXTS	256U
#define RECORDING_DEVICE	176U

/**
 * struct recording_header - what stands at byte 0
 * @magic: RECORDING_MAGIC
 * @version: of the format
 * @bytes: of the header
 * @start_ns: as in struct trace_origin
 * @nr: number of requests
 * @end: byte after the last one that any of them reaches
 * @logical: as in struct trace_origin
 * @physical: as in struct trace_origin
 * @device: name of the device, then zeroes, at least one; what is too long is cut
 * @last_ns: time of the last request, if it is not complete; else 0
 * @lost: as in struct trace_origin
 * @offset: as in struct trace_origin
 * @offset_known: 1, or 0; likewise
 * @complete: 1, written last; 0: it was never finished, and @nr, @end and @last_ns
 *	are those of the chunks that were in the file when the header was last written
 * @crc: CRC-32C of what stands before it
 */
struct recording_header {
	char magic[8];
	uint32_t version;
	uint32_t bytes;
	uint64_t start_ns;
	uint64_t nr;
	uint64_t end;
	uint32_t logical;
	uint32_t physical;
	char device[RECORDING_DEVICE];
	uint64_t last_ns;
	uint64_t lost;
	uint32_t offset;
	uint32_t offset_known;
	uint32_t complete;
	uint32_t crc;
};

/**
 * struct recording_chunk - what stands before each body
 * @bytes: of the body
 * @nr: requests in it
 * @crc: of both and the body
 */
struct recording_chunk {
	uint32_t bytes;
	uint32_t nr;
	uint32_t crc;
};

#define RECORDING_TAG_OP	0x07U
#define RECORDING_TAG_PREFLUSH	0x08U
#define RECORDING_TAG_FUA	0x10U
#define RECORDING_TAG_CONTEXT	0x20U
#define RECORDING_TAG_LENGTH	0x40U
#define RECORDING_TAG_SECTORS	0x80U

#define RECORDING_DEFINE	6U
#define RECORDING_FILE		7U

/**
 * struct recording_context - who made a request, and where
 * @pid: as in struct trace_request
 * @file: as in struct trace_request
 * @comm: as in struct trace_request
 */
struct recording_context {
	uint32_t pid;
	uint32_t file;
	char comm[TRACE_COMM_BYTES];
};

#endif
