// SPDX-License-Identifier: GPL-2.0
/* The table of partition types: of boot loaders, and reserved ones. */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "audit/partition_type.h"

#define BOOT_LOADER	"only the installation of a boot loader writes there"
#define RESERVED	"nothing writes there"

const struct partition_type *partition_type_unused(const char *type)
{
	static const struct partition_type types[] = {
		{ "21686148-6449-6e6f-744e-656564454649", "BIOS boot", BOOT_LOADER },
		{ "9e1a2d38-c612-4316-aa26-8b49521e5a8b", "PowerPC PReP boot",
		  BOOT_LOADER },
		{ "0x41", "PowerPC PReP boot", BOOT_LOADER },
		{ "83bd6b9d-7f41-11dc-be0b-001560b84f0f", "FreeBSD boot",
		  BOOT_LOADER },
		{ "85d5e45e-237c-11e1-b4b3-e89a8f7fc3a7", "MidnightBSD boot",
		  BOOT_LOADER },
		{ "6a82cb45-1dd2-11b2-99a6-080020736631", "Solaris boot",
		  BOOT_LOADER },
		{ "e3c9e316-0b5c-4db8-817d-f92df00215ae", "Microsoft reserved",
		  RESERVED },
		{ "8da63339-0007-60c0-c436-083ac8230908", "Linux reserved",
		  RESERVED },
		{ "2e0a753d-9e48-43b0-8337-b15192cb1b5e", "ChromeOS reserved",
		  RESERVED },
		{ "9198effc-31c0-11db-8f78-000c2911d1b8", "VMware reserved",
		  RESERVED },
		{ "6a945a3b-1dd2-11b2-99a6-080020736631", "Solaris reserved 1",
		  RESERVED },
		{ "6a9630d1-1dd2-11b2-99a6-080020736631", "Solaris reserved 2",
		  RESERVED },
		{ "6a980767-1dd2-11b2-99a6-080020736631", "Solaris reserved 3",
		  RESERVED },
		{ "6a96237f-1dd2-11b2-99a6-080020736631", "Solaris reserved 4",
		  RESERVED },
		{ "6a8d2ac7-1dd2-11b2-99a6-080020736631", "Solaris reserved 5",
		  RESERVED },
	};
	size_t i;

	for (i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcasecmp(type, types[i].type))
			return &types[i];
	return NULL;
}

bool partition_type_is_efi(const char *type)
{
	return type &&
	       (!strcasecmp(type, "c12a7328-f81f-11d2-ba4b-00c04fc93ec9") ||
		!strcasecmp(type, "0xef"));
}

bool partition_type_is_extended(const char *type)
{
	return !strcmp(type, "0x05") || !strcmp(type, "0x0f") ||
	       !strcmp(type, "0x85");
}
