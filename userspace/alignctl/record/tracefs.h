/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance of the kernel's tracing: buffers, events and filters of our own,
 * that no other tracer sees or disturbs.
 */
#ifndef ALIGNCTL_TRACEFS_H
#define ALIGNCTL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tracefs_cpu - the buffer of one processor
 * @number: the processor's
 * @fd: trace_pipe_raw, does not block
 * @dir: its folder
 */
struct tracefs_cpu {
	unsigned int number;
	int fd;
	char *dir;
};

/**
 * struct tracefs - an instance
 * @root: where tracefs is mounted
 * @dir: the instance's folder below it; NULL: there is none
 * @nr_cpus: processors that may be, whether they run or not
 * @cpu: by number
 */
struct tracefs {
	char *root;
	char *dir;
	unsigned int nr_cpus;
	struct tracefs_cpu *cpu;
};

/*
 * Makes the instance alignctl-PID, after those of processes that are gone have
 * been removed. Return: enum alignctl_exit; errors have been reported, and
 * leave nothing behind. @tracefs must stay where it is until tracefs_close(),
 * which is called by exit() too, should it come to that.
 */
int tracefs_open(struct tracefs *tracefs);
void tracefs_close(struct tracefs *tracefs);

/* Opens the buffers of all processors. Return: as above. */
int tracefs_open_cpus(struct tracefs *tracefs);

/* A file's text, of the root or of the instance, for free(). NULL: reported. */
char *tracefs_read(const char *dir, const char *file);

/*
 * Writes a control file of the instance. Return: enum alignctl_exit; reported,
 * with what is said when the kernel refuses the value.
 */
int tracefs_write(const struct tracefs *tracefs, const char *file,
		  const char *text);

/*
 * Events that found no room in a processor's buffer, by per_cpu/cpuN/stats.
 * False: that cannot be told, which has been reported.
 */
bool tracefs_lost(const struct tracefs_cpu *cpu, uint64_t *lost);

/* The same of the text of such a file. */
bool tracefs_parse_lost(const char *stats, uint64_t *lost);

#endif
