/* SPDX-License-Identifier: GPL-2.0 */
/* Units that several rooms count in; sectors are those of kmod/geometry.h. */
#ifndef ALIGNCTL_UNITS_H
#define ALIGNCTL_UNITS_H

#define PAGE_BYTES	4096U	/* of the page cache; direct I/O suits it, too */

#endif
