/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gate through which changes of data pass, so that the mode can change
 * when none is in flight.
 */
#ifndef DM_ALIGN_GATE_H
#define DM_ALIGN_GATE_H

#include "align.h"

int gate_init(struct align_gate *gate);
void gate_exit(struct align_gate *gate);
int gate_enter(struct align_gate *gate, struct align_io *io);
void gate_leave(struct align_gate *gate);
void gate_close(struct align_gate *gate);
int gate_close_killable(struct align_gate *gate);
void gate_open(struct align_gate *gate, struct bio_list *deferred);

#endif
