/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The target's answers to table lines, messages and ioctls, and its limits as layers
 * above see them. No request is sent.
 */
#ifndef SIM_ANSWERS_H
#define SIM_ANSWERS_H

#include <linux/blkdev.h>

/* Ask for tables above @drive, whose limits are changed for that, and for more. */
void answers_ask(struct gendisk *drive);

#endif
