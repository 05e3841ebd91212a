/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_HRTIMER_H
#define SHIM_HRTIMER_H

#include <linux/ktime.h>

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_REL };
#define CLOCK_MONOTONIC	1

struct hrtimer {
	struct machine_timer timer;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
};

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t in, enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *timer);

#endif
