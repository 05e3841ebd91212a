/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace that is sent to a device, each request at its time, and the ledger at the
 * end; the interface for the host's side.
 */
#ifndef SIM_TRACED_H
#define SIM_TRACED_H

#include "world.h"

enum traced_pace {
	PACE_SETTLED,		/* the last one has ended, and no block is in flight */
	PACE_ENDED,		/* the last one has ended */
	PACE_NONE,
};

/**
 * struct traced - a trace and its world
 * @plan: the drive, the device and the requests; no events, no faults
 * @ns: time of each request, since the start
 * @pace: end that a request waits for, beside its time
 * @ledger: receives the counters, in the order of ledger_table.h
 */
struct traced {
	struct world_plan plan;
	sim_u64 ns[WORLD_OPS];
	enum traced_pace pace;
	sim_u64 ledger[128];
};

/* The first task of a machine; @traced is a struct traced. Stops as "done". */
void traced_main(void *traced);

#endif
