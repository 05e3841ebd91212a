/* SPDX-License-Identifier: GPL-2.0 */
/* A command to a SCSI disk, which writes nothing. */
#ifndef ALIGNCTL_SCSI_H
#define ALIGNCTL_SCSI_H

#include <stdint.h>
#include <sys/types.h>

#include "unit/decode.h"

/*
 * Send READ CAPACITY(16) to the disk called @name by the kernel, of number
 * @devno. May sleep for as long as the kernel waits for the command. Return:
 * NULL with @data filled; else why not, for free().
 */
char *scsi_capacity(const char *name, dev_t devno,
		    uint8_t data[DECODE_CAPACITY_BYTES]);

#endif
