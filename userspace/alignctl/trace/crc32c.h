/* SPDX-License-Identifier: GPL-2.0 */
/* CRC-32C (Castagnoli), as iSCSI, ext4 and Btrfs have it. */
#ifndef ALIGNCTL_TRACE_CRC32C_H
#define ALIGNCTL_TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of some bytes that follow those whose sum is @crc; 0: they are the first. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
