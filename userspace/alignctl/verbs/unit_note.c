// SPDX-License-Identifier: GPL-2.0
/* Warn where the claimed units of a drive and the block in use differ. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "unit/unit.h"
#include "verbs/unit_note.h"

static void warn_of_sources(const struct device *device,
			    const struct unit *unit)
{
	CLEANUP_FREE char *claims = unit_claims_text(unit);

	if (unit_contradicted(unit) && unit_has_stranger(unit))
		message_warning("%s: sources disagree about its unit, and the first is taken: %s",
				device->path, claims);
}

void unit_note(const struct device *device, uint32_t block, bool probed)
{
	const struct unit_claim *taken;
	struct unit unit;
	int64_t bytes;

	if (!device->block)
		return;
	unit_ask(&unit, &device->sys);
	taken = unit_taken(&unit);
	if (maybe_get(unit_known_better(&unit), &bytes) && bytes != block &&
	    !(probed && taken->source == UNIT_MEASURED))
		message_warning("%s: its unit is %" PRId64
				" bytes, by %s, not %" PRIu32
				"; --physical %" PRId64 " uses this unit",
				device->path, bytes,
				unit_source_name(taken->source), block, bytes);
	warn_of_sources(device, &unit);
	unit_free(&unit);
}

void unit_note_sources(const struct device *device)
{
	struct unit unit;

	if (!device->block)
		return;
	unit_ask(&unit, &device->sys);
	warn_of_sources(device, &unit);
	unit_free(&unit);
}
