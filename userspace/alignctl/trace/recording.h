/* SPDX-License-Identifier: GPL-2.0 */
/*
 * alignctl's own recordings. All numbers are little-endian.
 *
 * A header of 256 bytes, then chunks up to the end of the file. A chunk is
 *
 *   byte 0  bytes of its body, from 1 to 65536
 *   byte 4  requests in the body
 *   byte 8  CRC-32C of bytes 0 to 7 and of the body
 *   byte 12 the body: items, none of which crosses its end
 *
 * An item begins with a byte, its tag. V is a number of up to 64 bits in groups
 * of seven, the lowest first, each in a byte with bit 7 set if more follow.
 *
 *   bits 0-2 of the tag
 *   0-4  a request: enum trace_op. Then
 *          bit 3  preflush
 *          bit 4  FUA
 *          bit 5  the context differs from the previous request's
 *          bit 6  the length equals the previous request's
 *          bit 7  distance and length are in sectors of 512 bytes
 *        V time since the previous request, ns
 *        V context, from 0 to 255		if bit 5
 *        V distance from the end of the previous request: its magnitude times
 *          2, plus 1 if it is negative		unless a flush
 *        V length				unless a flush, or bit 6
 *   6    defines a context, which becomes the next request's:
 *        V context, V process, V file, V length of its name, the name
 *   7    names a file, before the file's first request: V file, V length of the
 *        name, the name
 *
 * Before the first request, the previous one counts as of time 0, ended at byte
 * 0, without length, and of context 0, which is file 0, no process and no name
 * until it is defined. A flush changes only the previous time and context.
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
 * struct recording_header - the header at byte 0
 * @magic: RECORDING_MAGIC
 * @version: version of the format
 * @bytes: size of the header
 * @start_ns: start of the recording, ns since 1970; 0: not known
 * @nr: number of requests
 * @end: byte after the last byte that any request reaches
 * @logical: logical block, bytes; 0: not known
 * @physical: physical block, bytes; 0: not known
 * @device: name of the device, truncated, padded with at least one zero
 * @last_ns: time of the last request, if the recording is not complete; else 0
 * @lost: number of requests that are missing
 * @offset: alignment offset, bytes
 * @offset_known: 1 if @offset is known, else 0
 * @complete: 1, written last; 0: the recording is unfinished, and @nr, @end and
 *	@last_ns cover the chunks in the file when the header was last written
 * @crc: CRC-32C of the members above
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
 * struct recording_chunk - the head of a chunk, before its body
 * @bytes: size of the body
 * @nr: number of requests in the body
 * @crc: CRC-32C of the members above and the body
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
 * struct recording_context - process and file of a request
 * @pid: number of the process or thread; 0: not known
 * @file: number of the file, see trace_file()
 * @comm: name of the process or thread; "": not known
 */
struct recording_context {
	uint32_t pid;
	uint32_t file;
	char comm[TRACE_COMM_BYTES];
};

#endif
