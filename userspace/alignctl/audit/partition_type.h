/* SPDX-License-Identifier: GPL-2.0 */
/* Partitions that nothing writes while a system is in use, by their type. */
#ifndef ALIGNCTL_PARTITION_TYPE_H
#define ALIGNCTL_PARTITION_TYPE_H

#include <stdbool.h>

/**
 * struct partition_type - a type of partition that is not written in use
 * @type: its GUID in a GPT, as libblkid writes it, or its number in a DOS table
 * @name: its name for people
 * @written: the programs that write there, and when they do, in words
 */
struct partition_type {
	const char *type;
	const char *name;
	const char *written;
};

/*
 * Return the row of a type, or NULL for NULL and for a type that may be written
 * in use.
 */
const struct partition_type *partition_type_unused(const char *type);

/* Check for an EFI system partition, to which only updates write. */
bool partition_type_is_efi(const char *type);

/* Check for an extended partition of a DOS table. */
bool partition_type_is_extended(const char *type);

#endif
