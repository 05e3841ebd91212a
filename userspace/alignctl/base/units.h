/* SPDX-License-Identifier: GPL-2.0 */
/* Units that several rooms count in; sectors are those of kmod/geometry.h. */
#ifndef ALIGNCTL_UNITS_H
#define ALIGNCTL_UNITS_H

#include <stdint.h>

#define NS_PER_US	UINT64_C(1000)
#define NS_PER_MS	UINT64_C(1000000)
#define NS_PER_S	UINT64_C(1000000000)

#define KIB		1024U
#define MIB		(1U << 20)
#define MB		1e6	/* the unit of rates */
/* Bits of the minor number in a dev_t inside the kernel: linux/kdev_t.h, no uapi header. */
#define KERNEL_MINOR_BITS	20
#define PAGE_BYTES	4096U	/* a page; also the alignment of direct I/O */

static inline double ns_to_us(double ns)
{
	return ns / 1e3;
}

static inline double ns_to_s(double ns)
{
	return ns / 1e9;
}

#endif
