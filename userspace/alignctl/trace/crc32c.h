/* SPDX-License-Identifier: GPL-2.0 */
/* CRC-32C (Castagnoli), as used by iSCSI, ext4 and Btrfs. */
#ifndef ALIGNCTL_TRACE_CRC32C_H
#define ALIGNCTL_TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Return the checksum of bytes after those of checksum @crc; 0 at the start. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
