/* SPDX-License-Identifier: GPL-2.0 */
/* What a SCSI disk says of itself; nothing is written. */
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

/*
 * Return the serial number in the page that sysfs has of a disk, for free(); no
 * device is opened. NULL: it has none, or is no SCSI disk.
 */
char *scsi_serial(const char *disk_dir);

/*
 * Return the revolutions a minute in the page that sysfs has of a disk since
 * Linux 5.19, as decode_scsi_rpm() has them; no device is opened.
 */
struct maybe scsi_rpm(const char *disk_dir);

#endif
