/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decode what drives say of their blocks and of their rotation, from the bytes that they send. The
 * functions are pure and trust no figure: one that a standard does not allow is
 * unknown.
 */
#ifndef ALIGNCTL_DECODE_H
#define ALIGNCTL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/maybe.h"

#define DECODE_NVME_BYTES	4096U	/* Identify data structures */
#define DECODE_CAPACITY_BYTES	32U	/* READ CAPACITY(16) */
/* The largest physical block that a drive is believed to have, bytes. */
#define DECODE_BLOCK_MAX	(1U << 20)

/* Check for a physical block: a power of two from 512 to DECODE_BLOCK_MAX. */
bool decode_is_block(struct maybe bytes);

/**
 * struct decoded_nvme - sizes of writes that an NVMe namespace gives, bytes
 * @logical: logical block, of the LBA format in use
 * @npwg: preferred write granularity
 * @npdg: preferred deallocate granularity
 * @nows: optimal write size, a figure of throughput
 * @nawupf: atomic write unit at a power failure, if the namespace has its own
 */
struct decoded_nvme {
	struct maybe logical;
	struct maybe npwg;
	struct maybe npdg;
	struct maybe nows;
	struct maybe nawupf;
};

/*
 * Decode Identify Namespace, NVM command set. Return: false, with nothing set,
 * unless the page gives a logical block.
 */
bool decode_nvme_namespace(const uint8_t *page, size_t length,
			   struct decoded_nvme *nvme);

/*
 * Return the atomic write unit at a power failure of Identify Controller, bytes,
 * for namespaces that have none of their own.
 */
struct maybe decode_nvme_awupf(const uint8_t *page, size_t length,
			       struct maybe logical);

/**
 * struct decoded_sectors - the sectors of a disk, bytes
 * @logical: logical sector
 * @physical: physical sector
 * @offset: alignment offset: where the first physical sector begins
 */
struct decoded_sectors {
	struct maybe logical;
	struct maybe physical;
	struct maybe offset;
};

/*
 * Decode words 106, 117 and 209 of ATA Identify, from the SCSI page 89h that
 * the kernel has kept. Return: false, with nothing set, if it does not say.
 */
bool decode_ata(const uint8_t *page, size_t length,
		struct decoded_sectors *sectors);

/*
 * Return model and firmware in the same page, for free(), with blanks around
 * removed. Return: NULL if the page has none.
 */
char *decode_ata_model(const uint8_t *page, size_t length);
char *decode_ata_firmware(const uint8_t *page, size_t length);

/*
 * Return the rotation rate in word 217 of ATA Identify, in the same page, or in
 * the SCSI page B1h: revolutions a minute; 0: the drive does not rotate; unknown:
 * it does not say.
 */
struct maybe decode_ata_rpm(const uint8_t *page, size_t length);
struct maybe decode_scsi_rpm(const uint8_t *page, size_t length);

/*
 * Return the serial number in the SCSI page 80h, for free(), with blanks around
 * removed. Return: NULL if the page has none.
 */
char *decode_scsi_serial(const uint8_t *page, size_t length);

/*
 * Decode the parameter data of SCSI READ CAPACITY(16). Return: false, with
 * nothing set, if they have no possible logical block.
 */
bool decode_capacity(const uint8_t *data, size_t length,
		     struct decoded_sectors *sectors);

#endif
