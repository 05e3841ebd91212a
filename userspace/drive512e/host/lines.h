/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A drive that is driven by lines of text, by drive512e-clock on a virtual clock
 * and by drive512e-nbd in real time.
 *
 * The parameters of these programs are the plugin's; file=, control= and log=
 * have no effect. The first line of output is what the drive says of itself:
 *
 *   SIZE LOGICAL PHYSICAL OFFSET ROTATIONAL CACHE
 *
 * in bytes; ROTATIONAL and CACHE, a volatile write cache, are 0 or 1. Each line
 * of input is a command and has a line of output, times in ns:
 *
 *   R OFFSET BYTES   read; its service time. Sent when the last one was answered
 *   W OFFSET BYTES   write, likewise
 *   F                flush, likewise
 *   wait NS          let the drive be idle; NS
 *   depth N          requests in flight in a batch (1 at first); N
 *   batch K          K lines (at most 524288) with R, W or F follow, and then are
 *                    sent with at most N in flight; their response times, in
 *                    K lines
 *   jobs K           as batch, for N jobs with one request in flight each, on the
 *                    virtual clock only. The lines are rounds of a line for
 *                    each job, in order. The i-th request belongs to round
 *                    i / N, and to the job whose answer it follows. Times in
 *                    the order in which the requests were sent
 *   time             the time since the start
 *   count NAME       the counter NAME of the media (counters.h), such as rmws;
 *                    on the virtual clock only
 */
#ifndef DRIVE512E_LINES_H
#define DRIVE512E_LINES_H

#include "../model.h"

#define BATCH_MAX	(1u << 19)

/* What sends the requests to the drive.  All times are in ns. */
struct host {
	uint64_t size;		/* of the drive, bytes */
	uint64_t request_max;	/* longest request, bytes */

	/* Send a request, and return its service time once it is answered. */
	int64_t (*send)(struct host *host, const struct request *req);
	/*
	 * Send @nr requests in order with at most @depth in flight; @ns takes
	 * the response time of each.
	 */
	void (*batch)(struct host *host, const struct request *req,
		      unsigned int nr, unsigned int depth, int64_t *ns);
	/*
	 * Likewise for as many jobs as @depth, of which @nr is a multiple; NULL:
	 * cannot. Each answer is followed by a request of the same job, from
	 * the round of @depth requests that is being sent.
	 */
	void (*jobs)(struct host *host, const struct request *req,
		     unsigned int nr, unsigned int depth, int64_t *ns);
	void (*wait)(struct host *host, int64_t ns);
	int64_t (*time)(struct host *host);
	/* Read a counter of the media by its name; NULL: there are none. */
	bool (*count)(struct host *host, const char *name, uint64_t *n);
};

/* End the program with a message and status 2; its name comes first. */
_Noreturn void lines_die(const char *what, const char *why);

/*
 * Take parameters, "NAME=VALUE", and return the model that they describe; a bad
 * one ends the program. @take returns whether one is the program's own; NULL:
 * all are the plugin's.
 */
struct model_config lines_configure(char **parameters,
				    bool (*take)(const char *name,
						 const char *value));

/* Parse a whole decimal number of at most @max at @text, and step over it. */
bool lines_take_number(const char **text, uint64_t max, uint64_t *number);

/* Print what the drive says of itself, and obey all lines of standard input. */
void lines_obey(struct host *host, const struct model_config *config);

#endif
