/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load programs of ours into the kernel, as BPF, that observe the block layer's
 * events of one device; an object file of them is in the program.
 */
#ifndef ALIGNCTL_PROGRAMS_H
#define ALIGNCTL_PROGRAMS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/range.h"
#include "sysfs/device.h"
#include "geometry.h"

#define PROGRAMS_MAX_LINKS	32
#define PROGRAMS_FURTHER	"_again"
#define PROGRAMS_PROBE		"_probe"

/* Take an object file into the program, from @name to @name_end. */
#define PROGRAMS_OBJECT(name, path)				\
	__asm__(".section .rodata\n"				\
		".balign 8\n"					\
		".local " #name "\n"				\
		#name ": .incbin \"" path "\"\n"		\
		".local " #name "_end\n"			\
		#name "_end:\n"					\
		".previous\n");					\
	extern const char (name)[], name##_end[]

/**
 * struct programs - programs of an object file; all 0: none
 * @object: the object file; NULL: not open
 * @link: their attachments
 * @nr_links: number of attachments
 * @turns: an event has several programs, which take turns
 */
struct programs {
	struct bpf_object *object;
	struct bpf_link *link[PROGRAMS_MAX_LINKS];
	size_t nr_links;
	bool turns;
};

/* Check that a device is no regular file. Return: enum alignctl_exit, reported. */
int programs_check_block(const struct device *device);

/*
 * Check that a device has requests of its own, which one that is made of others
 * has not. Return: enum alignctl_exit, reported with @option, to be left out.
 */
int programs_check_disk(const struct device *device, const char *option);

/*
 * Check for BTF and rights. Return: enum alignctl_exit, reported, with the verb,
 * @what needs them, and @else_where, what does not need BTF.
 */
int programs_check_kernel(const char *verb, const char *what,
			  const char *else_where);

/* Fill in what programs must know of the kernel, and of no device. */
void programs_find_kernel(struct observed_range *range);

/*
 * Find the device's place on its disk, and its physical blocks. Return: enum
 * alignctl_exit, reported.
 */
int programs_find_range(const struct device *device,
			struct observed_range *range,
			struct align_geometry *geometry);

/*
 * Open an object file, and fill in @range. Further programs of an event, whose
 * names end in PROGRAMS_FURTHER or PROGRAMS_PROBE, are left out where events have
 * one. Return: false, with errno set, if libbpf refuses it. What has been opened is closed with
 * programs_close().
 */
bool programs_open(struct programs *programs, const char *name,
		   const void *object, size_t bytes,
		   const struct observed_range *range);
void programs_close(struct programs *programs);

/*
 * Attach all programs that have been loaded, kprobes where the kernel has them. The one that sees bios arrive comes
 * first in its file and is attached last, so that what it needs is there.
 * Return: as programs_open().
 */
bool programs_attach(struct programs *programs);

/* Detach them; their maps can still be read. */
void programs_detach(struct programs *programs);

/*
 * Report what the kernel, or libbpf, has refused, by errno and by the first
 * complaint of libbpf since programs_open(). Return: ALIGNCTL_IO.
 */
int programs_refuse(const char *verb, const char *what);

/* Return the descriptor of a map. */
int programs_map_fd(const struct programs *programs, const char *name);

/* Set the number of entries of a map that has not been loaded. */
void programs_set_room(const struct programs *programs, const char *map,
		       uint32_t room);

/* Return how often a program did not run because it was running already. */
uint64_t programs_skipped(const struct programs *programs, const char *name);

/*
 * Return how many events, of any device, none of their programs has seen. @name is
 * the first of them. One that is between its programs may be among them, so
 * the number falls again: see programs_raise().
 */
uint64_t programs_missed(const struct programs *programs, const char *name,
			 enum observed_event event);

/*
 * Raise the most events that have been missing so far, if @now are more. Return: how many
 * more. What is taken for missing for a while is not missing again and again.
 */
uint64_t programs_raise(uint64_t *most, uint64_t now);

/*
 * Return how many events neither of two programs has seen, at most: each may have
 * missed other ones. For events without turns; @second may be left out.
 */
uint64_t programs_missed_by_both(const struct programs *programs,
				 const char *first, const char *second);

#endif
