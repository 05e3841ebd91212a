/* SPDX-License-Identifier: GPL-2.0 */
/* The plugin in real time, through NBD, against the model on a virtual clock. */
#ifndef DRIVE512E_BENCH_LIVE_H
#define DRIVE512E_BENCH_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Allowed deviation of a disk; the transport's time is in it. */
#define LIVE_TOLERANCE 0.15

struct live {
	const char *profile;
	double virtual_us;		/* mean of a request */
	double measured_us;
	uint64_t touches, expected_touches;	/* as the plugin counted */
	bool judged;
	bool holds;
};

/*
 * Ask for a real-time priority, for this program and the servers that it
 * starts; say so if it is refused.
 */
void live_priority(void);

/* Run a profile's plugin.  A failure ends the program. */
struct live live_run(const char *plugin, const char *profile);

#endif
