// SPDX-License-Identifier: GPL-2.0
/* Count a request in its class, with its touches. */
#include "counters.h"

void count_request(struct host_counters *c, const struct request *req,
		   const struct touch *touch)
{
	c->fua += req->fua;
	switch (req->op) {
	case OP_READ:
		c->reads++;
		c->read_bytes += req->count;
		break;
	case OP_WRITE:
		c->writes++;
		c->write_bytes += req->count;
		c->touches += touch->partial;
		c->write_touches += touch->partial;
		c->writes_misaligned += touch->partial > 0;
		break;
	case OP_FLUSH:
		c->flushes++;
		break;
	case OP_TRIM:
		c->trims++;
		c->trim_bytes += req->count;
		c->partial_trims += touch->partial;
		break;
	case OP_ZERO:
		c->zeroes++;
		c->zero_bytes += req->count;
		c->touches += touch->partial;
		c->zero_touches += touch->partial;
		c->zeroes_misaligned += touch->partial > 0;
		break;
	}
}
