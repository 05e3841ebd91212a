// SPDX-License-Identifier: GPL-2.0
/*
 * Names of device-mapper as the kernel has them, where libdevmapper writes
 * \xNN.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "sysfs/dm_name.h"
#include "sysfs/sysfs.h"

/* Check whether libdevmapper has named a byte by "\xNN" already. */
static bool is_mangled(const char *at)
{
	return at[0] == '\\' && at[1] == 'x' &&
	       isxdigit((unsigned char)at[2]) && isxdigit((unsigned char)at[3]);
}

char *dm_kernel_name(const char *name)
{
	char *text = memory_or_exit(malloc(4 * strlen(name) + 1)), *to = text;

	for (; *name; name++) {
		/* as _is_whitelisted_char() in libdm-string.c */
		bool plain = isalnum((unsigned char)*name) ||
			     strchr("#+-.:=@_", *name) || is_mangled(name);

		to += sprintf(to, plain ? "%c" : "\\x%02x",
			      (unsigned char)*name);
	}
	*to = '\0';
	return text;
}

char *dm_name_of(dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };

	return sysfs_device_open(&device, devno) ?
	       sysfs_text(device.dir, "dm/name") : NULL;
}
