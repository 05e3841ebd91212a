/* SPDX-License-Identifier: GPL-2.0 */
/* For lib/bitmap.c: bitmaps of a device's life, which the engine has none of. */
#ifndef SHIM_DEVICE_H
#define SHIM_DEVICE_H
#include <linux/slab.h>
struct device;
#define devm_add_action_or_reset(device, action, data) \
	((void)(device), (void)(action), (void)(data), -EINVAL)
#endif
