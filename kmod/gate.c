// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The gate
 *
 * Writes in mode report are not registered anywhere, so a pad read could
 * overlap one of them and write its old content back. All changes of data pass
 * a gate, which costs a per-CPU reference. To change the mode the gate is
 * closed, those inside are waited for (they wait for the underlying device and
 * for nothing else), and new ones are queued in order until it opens again.
 */
#include "gate.h"

static void gate_quiesced(struct percpu_ref *users)
{
	complete(&container_of(users, struct align_gate, users)->quiesced);
}

/* Initialise an open gate. Return: 0 or -ENOMEM. */
int gate_init(struct align_gate *gate)
{
	init_completion(&gate->quiesced);
	spin_lock_init(&gate->lock);
	bio_list_init(&gate->deferred);
	return percpu_ref_init(&gate->users, gate_quiesced,
			       PERCPU_REF_ALLOW_REINIT, GFP_KERNEL);
}

/* Release a closed gate. */
void gate_exit(struct align_gate *gate)
{
	/* The last user may still be about to complete a wait given up. */
	if (gate->given_up)
		synchronize_rcu();
	percpu_ref_exit(&gate->users);
}

/**
 * gate_wait - pass a gate that was found closed, or wait in front of it
 * @gate: the gate
 * @io: the write
 *
 * Return: what gate_enter() returns.
 */
int gate_wait(struct align_gate *gate, struct align_io *io)
{
	unsigned long flags;

	do {
		if (io->bio->bi_opf & REQ_NOWAIT)
			return -EAGAIN;

		/* Closed is set before users dies, and cleared after it lives. */
		spin_lock_irqsave(&gate->lock, flags);
		if (gate->closed) {
			bio_list_add(&gate->deferred, io->bio);
			spin_unlock_irqrestore(&gate->lock, flags);
			return -EINPROGRESS;
		}
		spin_unlock_irqrestore(&gate->lock, flags);
	} while (!gate_try(gate));
	io->write.entered = true;
	return 0;
}

/*
 * Begin to close a gate. The completion only wakes a waiter, the reference
 * count decides: a wait that was given up may have left the completion done, with
 * users that came back to life.
 */
static void gate_shut(struct align_gate *gate)
{
	spin_lock_irq(&gate->lock);
	gate->closed = true;
	spin_unlock_irq(&gate->lock);

	percpu_ref_kill(&gate->users);
}

/* Close the gate for good; returns when no user is inside. */
void gate_close(struct align_gate *gate)
{
	gate_shut(gate);
	do {
		wait_for_completion(&gate->quiesced);
	} while (!percpu_ref_is_zero(&gate->users));
}

/**
 * gate_close_killable - close the gate, unless the device below hangs
 * @gate: the gate
 *
 * Return: 0 when no user is inside, or -ERESTARTSYS if a fatal signal came
 * first. Either way the caller has to open the gate again.
 */
int gate_close_killable(struct align_gate *gate)
{
	int ret;

	gate_shut(gate);
	do {
		ret = wait_for_completion_killable(&gate->quiesced);
	} while (!ret && !percpu_ref_is_zero(&gate->users));
	if (ret)
		gate->given_up = true;
	return ret;
}

/**
 * gate_open - let newcomers in again
 * @gate: a closed gate
 * @deferred: receives the bios that waited, for the caller to map
 */
void gate_open(struct align_gate *gate, struct bio_list *deferred)
{
	percpu_ref_resurrect(&gate->users);

	spin_lock_irq(&gate->lock);
	gate->closed = false;
	bio_list_merge(deferred, &gate->deferred);
	bio_list_init(&gate->deferred);
	spin_unlock_irq(&gate->lock);
}
