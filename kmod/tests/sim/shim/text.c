// SPDX-License-Identifier: GPL-2.0
/* Text, log lines and trace events. */
#include <stdarg.h>

#include <linux/kernel.h>
#include <linux/sched.h>

#include "mode.h"
#include "trace.h"
#include "../shim.h"
#include "../story.h"

int vsnprintf(char *buffer, size_t size, const char *format, va_list list);

/* Log lines that are kept, and the length of one. */
#define LOGGED		16U
#define LOGGED_BYTES	160U

unsigned int shim_nr_logged;
static char logged[LOGGED][LOGGED_BYTES];
struct shim_traced shim_traced[SHIM_DEVICES];
unsigned int shim_most_resolved;

int kstrtoull(const char *text, unsigned int base, unsigned long long *number)
{
	unsigned long long value = 0;
	const char *first;

	if (base != 10)
		machine_fail("the shim reads numbers of base 10 only");
	if (*text == '+')
		text++;
	for (first = text; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	if (text == first)
		return -EINVAL;
	if (*text == '\n')
		text++;
	if (*text)
		return -EINVAL;
	*number = value;
	return 0;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *number)
{
	unsigned long long large;
	int ret = kstrtoull(text, base, &large);

	if (ret)
		return ret;
	if (large > UINT_MAX)
		return -ERANGE;
	*number = large;
	return 0;
}

int scnprintf(char *buffer, size_t size, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(buffer, size, format, list);
	va_end(list);
	return length < (int)size ? length : size ? (int)size - 1 : 0;
}

void shim_log(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(logged[shim_nr_logged++ % LOGGED], LOGGED_BYTES, format, list);
	va_end(list);
	machine_say("log", 0, 0, 0, 0);
}

const char *shim_logged(unsigned int nr)
{
	return nr < shim_nr_logged && shim_nr_logged - nr <= LOGGED ?
	       logged[nr % LOGGED] : "";
}

void trace_align_write(dev_t dev, sector_t sector, unsigned int sectors,
		       unsigned int class, unsigned int touches,
		       unsigned int zeroes)
{
	struct shim_traced *traced = &shim_traced[dev % SHIM_DEVICES];

	if (zeroes)
		traced->zeroes++;
	else
		traced->writes++;
	traced->sectors += sectors;
	traced->touches += touches;
	machine_say("write %llu + %llu, %llu touches", sector, sectors, touches,
		    0);
}

/* Count the events of this interrupt; events of other ones may come between. */
static void count_resolved(void)
{
	static unsigned int interrupt, nr;

	if (current->id != interrupt)
		nr = 0;
	interrupt = current->id;
	shim_most_resolved = max(shim_most_resolved, ++nr);
}

/* Count touches of the lowest or highest block, if it is that or @beyond the last one. */
static void count_outermost(struct shim_read_block *most, u64 block,
			    unsigned int touches, bool beyond)
{
	if (!most->touches || beyond)
		*most = (struct shim_read_block) { .block = block };
	if (most->block == block)
		most->touches += touches;
}

void trace_align_rmw(dev_t dev, u64 block, unsigned int how,
		     unsigned int touches, u64 ns)
{
	struct shim_traced *traced = &shim_traced[dev % SHIM_DEVICES];

	if (how >= RMW_HOW_NR)
		machine_fail("a touch is traced as resolved in way %u", how);
	traced->how[how] += touches;
	if (how == RMW_HOST) {
		count_outermost(&traced->lowest, block, touches,
				block < traced->lowest.block);
		count_outermost(&traced->highest, block, touches,
				block > traced->highest.block);
	}
	if (current->context == CONTEXT_HARDIRQ)
		count_resolved();
	if (how == RMW_LOST)
		world_lost(dev, block);
	machine_say(STORY_RESOLVED, block, touches, how, 0);
}
