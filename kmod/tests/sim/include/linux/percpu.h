/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data of each CPU: copies that lie a fixed distance apart. An operation on the
 * copy of this CPU is one step: an interrupt on the CPU comes before or after it.
 */
#ifndef SHIM_PERCPU_H
#define SHIM_PERCPU_H

#include <linux/kernel.h>

#define SHIM_PERCPU_BYTES	2048UL

void *shim_alloc_percpu(size_t bytes);
void free_percpu(void *data);

#define alloc_percpu(type)	((type *)shim_alloc_percpu(sizeof(type)))
#define per_cpu_ptr(p, cpu) \
	((typeof(p))((char *)(p) + (cpu) * SHIM_PERCPU_BYTES))
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < MACHINE_CPUS; (cpu)++)

#define shim_this_cpu(cell) \
	(*(typeof(cell) *)((char *)&(cell) + \
			   machine_current->cpu * SHIM_PERCPU_BYTES))
#ifdef SIM_WEAK
#define shim_add_this_cpu(cell, n) \
	weak_add_this_cpu(&(cell), SHIM_PERCPU_BYTES, sizeof(cell), (u64)(n))
#else
#define shim_add_this_cpu(cell, n)	((void)(shim_this_cpu(cell) += (n)))
#endif
#define this_cpu_add(cell, n) \
	do { machine_bare_point(); shim_add_this_cpu(cell, n); } while (0)
#define this_cpu_read(cell)	shim_this_cpu(cell)
#define this_cpu_ptr(p)		per_cpu_ptr(p, machine_current->cpu)
#define this_cpu_sub(cell, n)	this_cpu_add(cell, -(typeof(cell))(n))
#define this_cpu_inc(cell)	this_cpu_add(cell, 1)
#define this_cpu_dec(cell)	this_cpu_sub(cell, 1)

#endif
