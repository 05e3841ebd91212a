// SPDX-License-Identifier: GPL-2.0
/*
 * Write the claim of a device as options of its line, and warn where the device
 * disagrees with it later.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "boot/claim.h"

struct aligntab_claim claim_of(const struct device *device)
{
	struct aligntab_claim claim = {
		.physical = maybe_of(device->physical),
	};
	uint32_t offset;

	if (device_offset_for(device, device->physical, &offset))
		claim.offset = maybe_of(offset);
	return claim;
}

char *claim_option(const struct aligntab_claim *claim)
{
	int64_t physical = maybe_or(claim->physical, 0), offset;

	return maybe_get(claim->offset, &offset) ?
		message_format("claimed=%" PRId64 "+%" PRId64, physical,
			       offset) :
		message_format("claimed=%" PRId64, physical);
}

void claim_warn(const struct aligntab_line *line, dev_t devno)
{
	CLEANUP_FREE char *was = NULL, *is = NULL;
	struct aligntab_claim claim;
	struct device device;

	if (!maybe_known(line->claim.physical) ||
	    device_open_devno(&device, devno, line->name))
		return;
	claim = claim_of(&device);
	if (!maybe_equal(claim.physical, line->claim.physical) ||
	    !maybe_equal(claim.offset, line->claim.offset)) {
		was = claim_option(&line->claim);
		is = claim_option(&claim);
		message_warning("%s: /dev/%s says other blocks now than when line %u of " ALIGNTAB_FILE " was written, %s and not %s; set physical= and offset= in the line to the drive's true blocks, and claimed= to the blocks that it says now",
				line->name, device.sys.name, line->number, is,
				was);
	}
	device_close(&device);
}
