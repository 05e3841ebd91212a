// SPDX-License-Identifier: GPL-2.0
/* Make the key of a drive, query udev's database, and check the values. */
#include <ctype.h>
#include <libudev.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/message.h"
#include "unit/decode.h"
#include "unit/hwdb.h"

#define TERABYTE	INT64_C(1000000000000)
/* More than any drive is rated for, terabytes. */
#define RATED_MAX	1000000U

/* Return a name as a part of a key, for free(). */
static char *format_key_part(const char *name)
{
	char *text = message_format("%s", name ? name : ""), *at;

	for (at = text; *at; at++)
		if (*at == ':' || !isascii(*at) || !isprint(*at))
			*at = '_';
	return text;
}

char *hwdb_key(const char *model, const char *firmware, const char *disk)
{
	CLEANUP_FREE char *of_model = format_key_part(model);
	CLEANUP_FREE char *of_firmware = format_key_part(firmware);
	CLEANUP_FREE char *of_disk = format_key_part(disk);

	return message_format("alignctl-unit:model:%s:firmware:%s:disk:%s:",
			      of_model, of_firmware, of_disk);
}

char *hwdb_value(const char *name, const char *value, struct maybe *bytes)
{
	const char *at = value;
	struct maybe found;
	uint64_t number;

	if (at && decimal_read(&at, DECODE_BLOCK_MAX, &number) && !*at) {
		found = maybe_of((int64_t)number);
		if (decode_is_block(found)) {
			*bytes = found;
			return NULL;
		}
	}
	return message_format("%s=%s in udev's hwdb is no power of two from 512 to %u",
			      name, value ? value : "", DECODE_BLOCK_MAX);
}

char *hwdb_rated_value(const char *name, const char *value,
		       struct maybe *bytes)
{
	const char *at = value;
	uint64_t number;

	if (at && decimal_read(&at, RATED_MAX, &number) && !*at && number) {
		*bytes = maybe_of((int64_t)number * TERABYTE);
		return NULL;
	}
	return message_format("%s=%s in udev's hwdb is no number of terabytes from 1 to %u",
			      name, value ? value : "", RATED_MAX);
}

/* Take one property. */
static void take_property(struct hwdb_answer *answer, const char *name,
			  const char *value)
{
	const struct {
		const char *name;
		struct maybe *bytes;
		char *(*read)(const char *name, const char *value,
			      struct maybe *bytes);
	} properties[] = {
		{ HWDB_UNIT, &answer->unit, hwdb_value },
		{ HWDB_OVERRIDE, &answer->override, hwdb_value },
		{ HWDB_RATED, &answer->rated, hwdb_rated_value },
		{ HWDB_RATED_OVERRIDE, &answer->rated_override,
		  hwdb_rated_value },
	};
	size_t i;

	for (i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		char *wrong;

		if (strcmp(name, properties[i].name))
			continue;
		wrong = properties[i].read(name, value, properties[i].bytes);
		if (!wrong)
			continue;
		free(answer->wrong);
		answer->wrong = wrong;
	}
}

void hwdb_ask(const char *key, struct hwdb_answer *answer)
{
	struct udev *udev = udev_new();
	struct udev_hwdb *hwdb = udev ? udev_hwdb_new(udev) : NULL;
	struct udev_list_entry *entry;

	memset(answer, 0, sizeof(*answer));
	if (!hwdb)
		answer->wrong = message_format("udev's hwdb cannot be read; 'systemd-hwdb update' makes it");
	for (entry = hwdb ? udev_hwdb_get_properties_list_entry(hwdb, key, 0) :
			    NULL;
	     entry; entry = udev_list_entry_get_next(entry))
		take_property(answer, udev_list_entry_get_name(entry),
			      udev_list_entry_get_value(entry));
	udev_hwdb_unref(hwdb);
	udev_unref(udev);
}
