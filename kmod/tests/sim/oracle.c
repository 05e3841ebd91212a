// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "oracle.h"

#define MOST_VERSIONS	40U
/* Writers that ask for room, and have not begun yet. */
#define MOST_ASKING	16U
#define MOST_READS	512U
#define NEVER		(~0ULL)

/**
 * struct version - a content that a sector may have
 * @tag: the content
 * @began: when its write began
 * @ended: when it had ended well; NEVER: it has not, or it failed
 * @found: when a read had ended that found it; NEVER: none has
 * @over: when a read had ended that found something newer; NEVER: none has
 * @durable: its write was FUA
 * @maybe: the version is the zeroes of a discard, which the drive may ignore
 * @whole: that discard has the sector's whole block
 * @write: number of the write, plus 1; 0: it was there at the begin
 */
struct version {
	sim_u64 tag, began, ended, found, over;
	bool durable, maybe, whole;
	unsigned int write;
};

/* Most have one version: it shares a line of the processor's cache with @nr. */
struct sector {
	unsigned int nr;
	struct version version[MOST_VERSIONS];
} __attribute__((aligned(64)));

bool oracle_gives_up;

static struct sector sectors[ORACLE_SECTORS];
/* All from here on have never been written, read or judged. */
static unsigned int untouched = ORACLE_SECTORS;
/* The device of a sector: in front of @border, or behind it. */
static unsigned int border;
static sim_u64 flushed[2], clock;
/* The last event was an end. */
static bool was_end;
/* When the reads in flight began. */
static sim_u64 reads[MOST_READS];
static unsigned int nr_reads;

static void set_only(struct sector *sector, sim_u64 tag)
{
	sector->version[0] = (struct version) {
		.tag = tag, .found = NEVER, .over = NEVER,
	};
	sector->nr = 1;
}

static void touch(unsigned int first, unsigned int nr)
{
	if (first + nr > untouched)
		untouched = first + nr;
}

void oracle_reset(unsigned int at)
{
	unsigned int i;

	border = at;
	clock = 0;
	was_end = true;
	nr_reads = 0;
	flushed[0] = 0;
	flushed[1] = 0;
	for (i = 0; i < untouched; i++)
		set_only(&sectors[i], 0);
	untouched = 0;
}

sim_u64 oracle_tag(sim_u64 write, unsigned int sector)
{
	return (write + 1) << 16 | sector;
}

/*
 * Return the moment of a begin or an end. Begins behind the same end have one moment,
 * and so have ends behind the same begin: only a begin and an end are ever compared.
 */
static sim_u64 moment_of(bool end)
{
	clock += end != was_end;
	was_end = end;
	return clock;
}

sim_u64 oracle_now(void)
{
	return moment_of(false);
}

sim_u64 oracle_read_begin(void)
{
	if (nr_reads == MOST_READS)
		machine_fail("more than %u reads are in flight", MOST_READS);
	return reads[nr_reads++] = moment_of(false);
}

void oracle_read_end(sim_u64 began)
{
	unsigned int i;

	for (i = 0; reads[i] != began; i++)
		;
	reads[i] = reads[--nr_reads];
}

static sim_u64 mix(sim_u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static sim_u64 hash_version(const struct version *version)
{
	sim_u64 hash = mix(version->tag + 1);

	hash = mix(hash ^ version->began);
	hash = mix(hash ^ version->ended);
	hash = mix(hash ^ version->found);
	hash = mix(hash ^ version->over);
	return mix(hash ^ (version->durable | version->maybe << 1 |
			   version->whole << 2));
}

void oracle_state(unsigned int nr, void (*word)(sim_u64 word))
{
	sim_u64 sum = 0;
	unsigned int i, j;

	word(clock << 1 | was_end);
	word(flushed[0]);
	word(flushed[1]);
	for (i = 0; i < nr_reads; i++)
		sum += mix(reads[i]);
	word(sum);
	for (i = 0; i < nr; i++) {
		sum = 0;
		for (j = 0; j < sectors[i].nr; j++)
			sum += hash_version(&sectors[i].version[j]);
		word(sum);
	}
}

void oracle_parts(unsigned int nr, void (*part)(void *at, size_t bytes))
{
	unsigned int i;

	part(&clock, sizeof(clock));
	part(&was_end, sizeof(was_end));
	part(flushed, sizeof(flushed));
	part(&untouched, sizeof(untouched));
	part(&nr_reads, sizeof(nr_reads));
	part(reads, nr_reads * sizeof(*reads));
	for (i = 0; i < nr; i++) {
		part(&sectors[i].nr, sizeof(sectors[i].nr));
		part(sectors[i].version,
		     sectors[i].nr * sizeof(*sectors[i].version));
	}
}

static bool is_durable(const struct sector *sector,
		       const struct version *version)
{
	return version->ended != NEVER &&
	       (version->durable ||
		version->ended < flushed[sector - sectors >= border]);
}

/* Whether a durable version surely came after another one. */
static bool is_gone(const struct sector *sector, const struct version *version)
{
	unsigned int i;

	for (i = 0; i < sector->nr; i++)
		if (version->ended < sector->version[i].began &&
		    is_durable(sector, &sector->version[i]))
			return true;
	return false;
}

/* Whether something surely replaced a version before @at. */
static bool is_replaced(const struct sector *sector,
			const struct version *version, sim_u64 at)
{
	unsigned int i;

	if (version->over < at)
		return true;
	for (i = 0; i < sector->nr; i++)
		if (version->ended < sector->version[i].began &&
		    sector->version[i].ended < at)
			return true;
	return false;
}

/* Whether no read in flight can find a version any more. */
static bool is_unread(const struct sector *sector, const struct version *version)
{
	unsigned int i;

	for (i = 0; i < nr_reads; i++)
		if (!is_replaced(sector, version, reads[i]))
			return false;
	return true;
}

/* Forget versions that neither a read nor a cut can show any more. */
static void prune(struct sector *sector)
{
	unsigned int i, kept = 0;
	bool gone[MOST_VERSIONS];

	for (i = 0; i < sector->nr; i++)
		gone[i] = is_gone(sector, &sector->version[i]) &&
			  is_unread(sector, &sector->version[i]);
	for (i = 0; i < sector->nr; i++)
		if (!gone[i])
			sector->version[kept++] = sector->version[i];
	sector->nr = kept;
}

bool oracle_has_room(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		struct sector *sector = &sectors[i];

		if (sector->nr > MOST_VERSIONS / 2)
			prune(sector);
		if (sector->nr >= MOST_VERSIONS - MOST_ASKING)
			return false;
	}
	return true;
}

void oracle_begin(struct oracle_write *write, unsigned int first,
		  unsigned int nr, enum oracle_effect effect, sim_u64 number)
{
	unsigned int i;

	*write = (struct oracle_write) { first, nr, (unsigned int)number };
	touch(first, nr);
	moment_of(false);
	for (i = first; i < first + nr; i++) {
		struct sector *sector = &sectors[i];

		if (sector->nr == MOST_VERSIONS)
			machine_fail("more than %u writes may be in sector %u",
				     MOST_VERSIONS, i);
		sector->version[sector->nr++] = (struct version) {
			.tag = effect == ORACLE_WRITE ? oracle_tag(number, i) : 0,
			.began = clock, .ended = NEVER, .found = NEVER,
			.over = NEVER, .maybe = effect == ORACLE_DISCARD,
			.write = write->number + 1,
		};
	}
}

static struct version *find_write(struct sector *sector,
				  const struct oracle_write *write)
{
	unsigned int i;

	for (i = 0; i < sector->nr; i++)
		if (sector->version[i].write == write->number + 1)
			return &sector->version[i];
	return NULL;
}

void oracle_whole(const struct oracle_write *write, unsigned int first,
		  unsigned int end)
{
	for (; first < end; first++)
		find_write(&sectors[first], write)->whole = true;
}

/* Whether a discard may have ended data that the target could not write. */
static bool gives_up(const struct version *version)
{
	return version->maybe && version->whole && oracle_gives_up;
}

void oracle_end(const struct oracle_write *write, bool ok, bool durable)
{
	unsigned int i;

	moment_of(true);
	for (i = write->first; ok && i < write->first + write->nr; i++) {
		struct version *version = find_write(&sectors[i], write);

		if (!version || (version->maybe && !gives_up(version)))
			continue;
		version->ended = clock;
		version->durable = durable;
	}
}

void oracle_lost(unsigned int first, unsigned int nr)
{
	unsigned int i, j;

	for (i = first; i < first + nr && i < ORACLE_SECTORS; i++) {
		struct sector *sector = &sectors[i];

		for (j = 0; j < sector->nr; j++) {
			struct version *version = &sector->version[j];

			/* Content that a read has found may be undone, once. */
			version->found = NEVER;
			version->over = NEVER;
			if (version->began && !is_durable(sector, version))
				version->ended = NEVER;
		}
	}
}

void oracle_stopped(void)
{
	unsigned int i, j;

	for (i = 0; i < untouched; i++)
		for (j = 0; j < sectors[i].nr; j++) {
			sectors[i].version[j].found = NEVER;
			sectors[i].version[j].over = NEVER;
		}
}

void oracle_flushed(unsigned int sector, sim_u64 began)
{
	sim_u64 *last = &flushed[sector >= border];

	if (began > *last)
		*last = began;
}

static void __attribute__((noreturn))
complain(unsigned int at, sim_u64 tag, sim_u64 began,
	 const char *what)
{
	const struct sector *sector = &sectors[at];
	unsigned int i;

	machine_say("sector %llu has %#llx, begun at %lld; its writes:", at, tag,
		    began, 0);
	for (i = 0; i < sector->nr; i++) {
		const struct version *version = &sector->version[i];
		bool gone = began == NEVER ? is_gone(sector, version) :
					     is_replaced(sector, version, began);

		machine_say(gone ? "  not %#llx, begun at %lld, ended at %lld, over at %lld" :
				   "  maybe %#llx, begun at %lld, ended at %lld, over at %lld",
			    version->tag, version->began, version->ended,
			    version->over);
	}
	machine_fail("%s: sector %u has %#llx, of write %lld, sector %llu",
		     what, at, tag, (long long)(tag >> 16) - 1,
		     tag & 0xffff);
}

void oracle_found(unsigned int at, sim_u64 began,
		  sim_u64 tag)
{
	struct sector *sector = &sectors[at];
	struct version *version = NULL;
	unsigned int i, nr = 0;
	bool any = false;

	touch(at, 1);
	moment_of(true);
	for (i = 0; i < sector->nr; i++) {
		struct version *this = &sector->version[i];

		if (is_replaced(sector, this, began))
			continue;
		any |= gives_up(this);
		if (this->tag == tag) {
			version = this;
			nr++;
		}
	}
	if (!version && !any)
		complain(at, tag, began, "a read found what it must not");
	/* Zeroes of several are not told apart. */
	if (nr != 1 || any || oracle_gives_up)
		return;
	for (i = 0; i < sector->nr; i++)
		if (&sector->version[i] != version &&
		    sector->version[i].found < began &&
		    sector->version[i].over == NEVER)
			sector->version[i].over = clock;
	if (version->found == NEVER)
		version->found = clock;
}

void oracle_survived(unsigned int at, sim_u64 tag)
{
	struct sector *sector = &sectors[at];
	bool found = false;
	unsigned int i;

	nr_reads = 0;
	touch(at, 1);
	for (i = 0; i < sector->nr && !found; i++)
		found = (sector->version[i].tag == tag ||
			 gives_up(&sector->version[i])) &&
			!is_gone(sector, &sector->version[i]);
	if (!found)
		complain(at, tag, NEVER,
			 "after a cut, what was promised is not there");
	set_only(sector, tag);
}
