/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endings: events that wait until no target holds anything.
 */
#ifndef DM_ALIGN_ENDING_H
#define DM_ALIGN_ENDING_H

#include "hold.h"

#ifdef CONFIG_DM_ALIGN_COALESCE

bool ending_begin(enum align_ending which, struct list_head *targets);
long ending_wait(enum align_ending which, unsigned int ms);
bool ending_withdraw(enum align_ending which, struct align_target *at);
void ending_sleep_wait(void);
void ending_sleep_withdraw(struct align_target *at);
void ending_sleep_report(struct align_target *at);
void ending_sleep_undo(struct list_head *targets);
void ending_add(struct align_target *at);

static inline void ending_sleep_begin(struct list_head *targets)
{
	ending_begin(ALIGN_SLEEP, targets);
}

#else

static inline void ending_sleep_begin(struct list_head *targets)
{
}

static inline void ending_sleep_wait(void)
{
}

static inline void ending_sleep_withdraw(struct align_target *at)
{
}

static inline void ending_sleep_report(struct align_target *at)
{
}

static inline void ending_sleep_undo(struct list_head *targets)
{
}

static inline void ending_add(struct align_target *at)
{
}

#endif

#endif
