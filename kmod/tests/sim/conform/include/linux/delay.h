/* SPDX-License-Identifier: GPL-2.0 */
/* A busy wait: here, many places where other threads may go on. */
#ifndef CONFORM_DELAY_H
#define CONFORM_DELAY_H

#include <linux/compiler.h>

#define cpu_relax()	machine_point()

static inline void mdelay(unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < 200 * ms; i++)
		machine_point();
}

#endif
