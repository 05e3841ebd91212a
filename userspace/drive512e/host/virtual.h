/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of the drive model on a virtual clock: the host of drive512e-clock and
 * of the unit tests.
 */
#ifndef DRIVE512E_VIRTUAL_H
#define DRIVE512E_VIRTUAL_H

#include "lines.h"

/* The host: its clock, and how well it measures. */
struct clock {
	struct host host;
	struct model *model;
	int64_t now;
	double noise;		/* standard deviation of a factor */
	uint64_t seed;		/* state of the generator */
};

/* Start a clock at 0, without noise, for a client of @model. */
void clock_init(struct clock *clock, struct model *model);

#endif
