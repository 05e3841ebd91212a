/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance of the kernel's tracing: our own buffers, events and filters,
 * which no other tracer sees or disturbs.
 */
#ifndef ALIGNCTL_TRACEFS_H
#define ALIGNCTL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tracefs_cpu - the buffer of one processor
 * @number: number of the processor
 * @fd: descriptor of trace_pipe_raw, nonblocking
 * @dir: folder of the processor in the instance
 */
struct tracefs_cpu {
	unsigned int number;
	int fd;
	char *dir;
};

/**
 * struct tracefs - an instance
 * @root: mount point of tracefs
 * @dir: folder of the instance below @root; NULL: no instance
 * @nr_cpus: number of possible processors, offline ones included
 * @cpu: the processors' buffers, by number
 */
struct tracefs {
	char *root;
	char *dir;
	unsigned int nr_cpus;
	struct tracefs_cpu *cpu;
};

/*
 * Create the instance alignctl-PID, and remove those of dead processes. Return:
 * enum alignctl_exit; errors have been reported, and leave nothing behind.
 * @tracefs must stay in its place until tracefs_close(), which exit() calls
 * too.
 */
int tracefs_open(struct tracefs *tracefs);
void tracefs_close(struct tracefs *tracefs);

/* Open the buffers of all processors. Return: as tracefs_open(). */
int tracefs_open_cpus(struct tracefs *tracefs);

/* Read a file of the root or the instance, for free(). NULL: reported. */
char *tracefs_read(const char *dir, const char *file);

/*
 * Write a control file of the instance. Return: enum alignctl_exit; errors have
 * been reported, ALIGNCTL_USAGE if the kernel refuses the value.
 */
int tracefs_write(const struct tracefs *tracefs, const char *file,
		  const char *text);

/*
 * Read from per_cpu/cpuN/stats how many events found no room in a processor's
 * buffer. Return: false after reporting an error.
 */
bool tracefs_lost(const struct tracefs_cpu *cpu, uint64_t *lost);

/* Parse the text of such a file; false if it is unknown. */
bool tracefs_parse_lost(const char *stats, uint64_t *lost);

#endif
