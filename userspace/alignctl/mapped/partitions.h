/* SPDX-License-Identifier: GPL-2.0 */
/* Partitions on an align device, which kpartx maps. */
#ifndef ALIGNCTL_PARTITIONS_H
#define ALIGNCTL_PARTITIONS_H

#include "mapped/dm.h"

/*
 * Map the partitions of a device that has a partition table; those that are
 * mapped stay. None is mapped where one is open or an align device by itself, as
 * kpartx maps them all anew; a warning says so if some are not mapped yet. Return: enum alignctl_exit; errors have been reported.
 */
int partitions_map(const struct dm_align *device);

/*
 * Remove the maps of partitions that nothing has open. They are known by the UUID
 * that kpartx makes from the device's. None is removed where one is open or an align
 * device by itself. Return: whether maps may have been removed.
 */
bool partitions_unmap(const struct dm_align *device);

/* Map the partitions again that partitions_unmap() has unmapped. */
void partitions_remap(const struct dm_align *device);

#endif
