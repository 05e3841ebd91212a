// SPDX-License-Identifier: GPL-2.0
/* What can be said of any align device by its description. */
#include <stdlib.h>
#include <string.h>

#include "ledger/dm_align.h"

void dm_align_free(struct dm_align *device)
{
	free(device->name);
	free(device->uuid);
	targets_free(device->target, device->nr_targets);
	memset(device, 0, sizeof(*device));
}

const struct align_target *dm_align_gone(const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++)
		if (device->target[i].device_gone)
			return &device->target[i];
	return NULL;
}

const struct align_target *dm_align_smaller(const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++)
		if (target_offers_smaller(&device->target[i], device->logical))
			return &device->target[i];
	return NULL;
}
