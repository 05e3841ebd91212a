// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Writes that are counted
 *
 * Most writes of most devices cover whole blocks, and where no block is in
 * memory nothing has to know where they are. There a write without touches is
 * not registered but counted, on the CPU that sends it; it takes no lock and
 * dirties nothing that CPUs share.
 *
 * For that each region (shard.h) consists of four areas of 16 MiB. An area is
 * quiet until a block of it gets into memory, and busy until none has been
 * there for one to two seconds. In a busy area writes are registered as ranges.
 * The block that makes an area busy waits for the writes that were counted
 * there, as for a range that came before it and overlaps it, and so do all
 * blocks that are made until these have ended; the touches of a block that waits
 * are not held. So the first misaligned writes after a second of aligned ones may
 * wait for those that are in flight, not only of their area, as there are 64
 * counts and areas take turns in them: every 1 GiB is counted together. A write
 * that crosses the border of an area is registered in any case, and so are
 * discards and write-zeroes.
 *
 * A write and a block that makes its area busy look for each other::
 *
 *     quiet_enter()               quiet_end(), under the shard's lock
 *     count the write             set busy
 *     smp_mb()                    smp_mb()
 *     is the area busy?           is a write counted?
 *
 * At least one of the two sees the other. A write that finds the area busy is
 * taken back, on the same CPU: so a sum that has the one has the other or
 * neither, and a write in flight is never hidden by one that was taken back.
 * (With the two on different CPUs, a sum could miss the first and have the
 * second.) A write that was taken back may have been in the sum, however. So in
 * a busy area the end of a write, as the taking back of one, is followed by
 * another sum, under the lock.
 *
 * The underlying device may be memory, which a CPU has written with plain
 * stores before the write ended. So the end of a write orders these before its
 * count, and a sum of zero is ordered before the pad read that follows.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "quiet.h"

/**
 * quiet_init - initialise the counts: all areas are quiet
 * @quiet: the counts, zeroed
 *
 * Return: 0 or -ENOMEM.
 */
int quiet_init(struct align_quiet *quiet)
{
	quiet->cpu = alloc_percpu(struct quiet_counts);
	return quiet->cpu ? 0 : -ENOMEM;
}

void quiet_exit(struct align_quiet *quiet)
{
	free_percpu(quiet->cpu);
}

/**
 * quiet_enter - count a write, if its area is quiet
 * @quiet: the counts
 * @area: the area in which the write lies
 * @left: set if the write was counted and taken back: the caller has to let blocks
 *	go on that wait for counted writes
 *
 * Return: whether the write is counted.
 */
bool quiet_enter(struct align_quiet *quiet, unsigned int area, bool *left)
{
	bool busy = quiet_is_over(quiet, area);

	*left = false;
	if (busy)
		return false;
	preempt_disable();
	this_cpu_inc(quiet->cpu->writes[area]);
	/* Pairs with the one in quiet_end(). */
	smp_mb();
	busy = quiet_is_over(quiet, area);
	if (busy)
		*left = quiet_leave(quiet, area);
	preempt_enable();
	return !busy;
}

/**
 * quiet_leave - end a counted write
 * @quiet: the counts
 * @area: its area
 *
 * Any context.
 *
 * Return: whether blocks may have waited for it.
 */
bool quiet_leave(struct align_quiet *quiet, unsigned int area)
{
	/* Pairs with the barrier in quiet_is_empty(): the written data are seen. */
	smp_wmb();
	this_cpu_dec(quiet->cpu->writes[area]);
	/* Pairs with the one in quiet_end(): it has the sum, or this sees busy. */
	smp_mb();
	return quiet_is_over(quiet, area);
}

/**
 * quiet_is_empty - whether all counted writes of a busy area have ended
 * @quiet: the counts
 * @area: the area
 *
 * Called with the lock of the area's shard held. A write that is being taken back
 * counts, and this is asked again when it has been.
 */
bool quiet_is_empty(const struct align_quiet *quiet, unsigned int area)
{
	unsigned int sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(quiet->cpu, cpu)->writes[area]);
	/* Pairs with the one in quiet_leave(). */
	smp_rmb();
	return !sum;
}

/**
 * quiet_end - make an area busy
 * @quiet: the counts
 * @area: a quiet area
 *
 * Called with the lock of the area's shard held.
 *
 * Return: whether counted writes are in flight.
 */
bool quiet_end(struct align_quiet *quiet, unsigned int area)
{
	WRITE_ONCE(quiet->busy[area], true);
	/* Pairs with those in quiet_enter() and quiet_leave(). */
	smp_mb();
	return !quiet_is_empty(quiet, area);
}

/* Make an area quiet that has no block. Called with its shard's lock held. */
void quiet_begin(struct align_quiet *quiet, unsigned int area)
{
	WRITE_ONCE(quiet->busy[area], false);
}
