/* SPDX-License-Identifier: GPL-2.0 */
/* Commands that target.c names: the simulation sends none, they only differ. */
#ifndef SHIM_IOCTLS_H
#define SHIM_IOCTLS_H
#define HDIO_GET_IDENTITY		0x030d
#define NVME_IOCTL_ID			0x4e40
#define SCSI_IOCTL_GET_IDLUN		0x5382
#define SCSI_IOCTL_GET_BUS_NUMBER	0x5386
#define SCSI_IOCTL_PROBE_HOST		0x5385
#define SG_EMULATED_HOST		0x2203
#define SG_GET_RESERVED_SIZE		0x2272
#define SG_GET_TIMEOUT			0x2202
#define SG_GET_VERSION_NUM		0x2282
#define SG_SET_RESERVED_SIZE		0x2275
#define SG_SET_TIMEOUT			0x2201
#endif
