/* SPDX-License-Identifier: GPL-2.0 */
/* What a verb says of a device whose unit is not the block that it goes by. */
#ifndef ALIGNCTL_UNIT_NOTE_H
#define ALIGNCTL_UNIT_NOTE_H

#include "sysfs/device.h"

/*
 * Ask for the unit of the disk that a device is or lies on, and warn if an
 * administrator, a measurement or a document knows another one than @block,
 * bytes; and if sources disagree. @probed: what was measured has been said.
 * A file has no unit.
 */
void unit_note(const struct device *device, uint32_t block, bool probed);

/* Ask for the unit likewise, and warn only if sources disagree. */
void unit_note_sources(const struct device *device);

#endif
