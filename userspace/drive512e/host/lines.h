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
 *   batch K          K lines (at most 65536) with R, W or F follow, and then are
 *                    sent with at most N in flight; their response times, in
 *                    K lines
 *   time             the time since the start
 */
#ifndef DRIVE512E_LINES_H
#define DRIVE512E_LINES_H

#include "../model.h"

#define BATCH_MAX	(1u << 16)
#define REQUEST_MAX	(32u << 20)	/* the plugin's limit; bytes */

/* What sends the requests to the drive.  All times are in ns. */
struct host {
	uint64_t size;		/* of the drive, bytes */

	/* Send a request, and return its service time once it is answered. */
	int64_t (*send)(struct host *host, const struct request *req);
	/*
	 * Send @nr requests in order with at most @depth in flight; @ns takes
	 * the response time of each.
	 */
	void (*batch)(struct host *host, const struct request *req,
		      unsigned int nr, unsigned int depth, int64_t *ns);
	void (*wait)(struct host *host, int64_t ns);
	int64_t (*time)(struct host *host);
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
