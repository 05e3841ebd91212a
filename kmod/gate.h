/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gate through which changes of data pass, so that the mode can change
 * when no such change is in flight.
 */
#ifndef DM_ALIGN_GATE_H
#define DM_ALIGN_GATE_H

#include "align.h"

int gate_init(struct align_gate *gate);
void gate_exit(struct align_gate *gate);
void gate_close(struct align_gate *gate);
int gate_close_killable(struct align_gate *gate);
void gate_open(struct align_gate *gate, struct bio_list *deferred);
int gate_wait(struct align_gate *gate, struct align_io *io);

/* Enter a gate, if it is open. */
static inline bool gate_try(struct align_gate *gate)
{
	if (!percpu_ref_tryget_live(&gate->users))
		return false;
	/*
	 * Pairs with the release in percpu_ref_resurrect(): the mode that was set
	 * before is seen after.
	 */
	smp_rmb();
	return true;
}

/**
 * gate_enter - pass the gate, or wait in front of it
 * @gate: the gate
 * @io: the write
 *
 * Return: 0 inside, -EAGAIN if the gate is closed and the bio is REQ_NOWAIT,
 * -EINPROGRESS if it is closed and the bio is in its list and must not be
 * touched any more.
 */
static inline int gate_enter(struct align_gate *gate, struct align_io *io)
{
	if (!gate_try(gate))
		return gate_wait(gate, io);
	io->write.entered = true;
	return 0;
}

static inline void gate_leave(struct align_gate *gate)
{
	percpu_ref_put(&gate->users);
}

#endif
