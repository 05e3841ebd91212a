// SPDX-License-Identifier: GPL-2.0
/*
 * sectorstress: threads that write, read, zero and discard random ranges of
 * sectors in one small region of a block device, with O_DIRECT, never two on
 * the same sector at once but freely on the same physical block, with a model
 * of each sector's lawful content. Every read is checked, and at the end the
 * whole region, through the device and, if requested, on the device beneath.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sector_states.h"
#include "sector.h"

#define MAX_PARTS	8	/* iovecs of one request */
#define PAGE		4096
#define FINAL_CHUNK	128	/* sectors read at once at start and end */
#define RETRIES		6	/* of failures at start and end, if tolerated */

enum { EXIT_CLEAN, EXIT_MISMATCH, EXIT_USAGE, EXIT_IO };

static struct {
	const char *device, *beneath;
	uint64_t offset, beneath_offset, region, max_run;
	uint64_t seed, seconds, ops, stall;
	uint64_t physical, alignment, border, memory_align;
	unsigned int threads, reads, zeroes, discard, flush, fua;
	bool tolerate_errors, torn_reads;
} opt = {
	.region = 2048, .max_run = 300, .seconds = 10, .stall = 120,
	.physical = 4096, .memory_align = 512, .threads = 16, .reads = 25,
};

struct totals {
	uint64_t ops, reads, writes, zeroes, discards, flushes, fua;
	uint64_t touches, zero_touches;
	uint64_t read_errors, write_errors, unread, slowest_us;
};

struct worker {
	pthread_t thread;
	int number;
	uint64_t rng;
	char *arena;
	uint64_t *versions;	/* one per sector of a run */
	const void **data;
	atomic_uint_fast64_t busy_since;	/* us; 0: between operations */
	atomic_uint_fast64_t ops;
	struct totals t;
};

static struct model model;
static int device_fd;
static uint64_t unit;		/* sectors of a logical block */
static uint64_t deadline_us;
static atomic_bool stop;
static atomic_bool enough;	/* SIGTERM: stop early, and check */
static atomic_int failed;	/* exit status of the worst failure */

static uint64_t next(uint64_t *rng)
{
	*rng += 0x9e3779b97f4a7c15ULL;
	return sector_mix(*rng);
}

static uint64_t below(uint64_t *rng, uint64_t n)
{
	return next(rng) % n;
}

static bool chance(uint64_t *rng, unsigned int percent)
{
	return below(rng, 100) < percent;
}

/* Record a failure: stop all threads, keep the worst exit status. */
static void fail(int status)
{
	int none = EXIT_CLEAN;

	atomic_compare_exchange_strong(&failed, &none, status);
	atomic_store(&stop, true);
}

static void io_failed(const char *what, uint64_t first, uint64_t count,
		      int error)
{
	fprintf(stderr, "\n%s: %s of %" PRIu64 " sectors at sector %" PRIu64
		": %s\n", opt.device, what, count, opt.offset + first,
		strerror(error));
	fail(EXIT_IO);
}

/* Return whether an error may be a faulty medium's, which can be tolerated. */
static bool medium_error(int error)
{
	return error == EIO || error == ENODATA || error == EREMOTEIO ||
	       error == EILSEQ;
}

/*
 * Lay out @count sectors over one to MAX_PARTS pieces of the arena, each at an
 * odd address; set @w->data. Return the number of pieces.
 */
static int lay_out(struct worker *w, uint64_t count, struct iovec *iov)
{
	uint64_t units = count / unit;
	int parts = 1, i;
	char *at = w->arena;
	uint64_t sector = 0;

	if (chance(&w->rng, 50))
		parts += below(&w->rng, units < MAX_PARTS ? units : MAX_PARTS);
	for (i = 0; i < parts; i++) {
		uint64_t spare = units - (parts - 1 - i);
		uint64_t n = i == parts - 1 ? units :
			     1 + below(&w->rng, spare);
		uint64_t k;

		at += below(&w->rng, PAGE / opt.memory_align) *
		      opt.memory_align;
		iov[i].iov_base = at;
		iov[i].iov_len = n * unit * SECTOR_SIZE;
		for (k = 0; k < n * unit; k++)
			w->data[sector++] = at + k * SECTOR_SIZE;
		at += iov[i].iov_len;
		units -= n;
	}
	return parts;
}

static size_t arena_size(uint64_t sectors)
{
	return sectors * SECTOR_SIZE + MAX_PARTS * PAGE;
}

/* Choose a random range; short ones as often as long ones. */
static void choose(struct worker *w, uint64_t *first, uint64_t *count)
{
	uint64_t max = opt.max_run / unit;
	uint64_t units = opt.region / unit;

	if (chance(&w->rng, 50))
		max = max < 16 ? max : 16;
	*first = below(&w->rng, units);
	*count = 1 + below(&w->rng, max);
	if (*count > units - *first)
		*count = units - *first;
	*first *= unit;
	*count *= unit;
}

/* Count the partial touches of one bio, by arithmetic of this program only. */
static uint64_t bio_touches(uint64_t first, uint64_t count)
{
	uint64_t start = first * SECTOR_SIZE - opt.alignment;
	uint64_t end = start + count * SECTOR_SIZE;
	bool head = start % opt.physical, tail = end % opt.physical;

	/* one block before the device may be needed: keep it positive */
	start += opt.physical;
	end += opt.physical;
	if (start / opt.physical == (end - 1) / opt.physical)
		return head || tail;
	return head + tail;
}

/* Count the touches of a write, which device-mapper splits at the border. */
static uint64_t touches(uint64_t first, uint64_t count)
{
	uint64_t before;

	first += opt.offset;
	if (opt.border <= first || opt.border >= first + count)
		return bio_touches(first, count);
	before = opt.border - first;
	return bio_touches(first, before) +
	       bio_touches(opt.border, count - before);
}

static off_t byte_of(uint64_t sector)
{
	return (opt.offset + sector) * SECTOR_SIZE;
}

static void do_read(struct worker *w)
{
	struct iovec iov[MAX_PARTS];
	uint64_t first, count;
	ssize_t got;
	int parts;

	choose(w, &first, &count);
	parts = lay_out(w, count, iov);
	model_read_begin(&model, first, count, w->versions);
	got = preadv(device_fd, iov, parts, byte_of(first));
	if (got == (ssize_t)(count * SECTOR_SIZE)) {
		w->t.reads++;
		if (model_read_end(&model, first, count, w->versions, w->data,
				   "a read under load"))
			fail(EXIT_MISMATCH);
		return;
	}
	w->t.read_errors++;
	if (!opt.tolerate_errors || (got < 0 && !medium_error(errno)))
		io_failed("read", first, count, got < 0 ? errno : EIO);
}

static void do_write(struct worker *w)
{
	struct iovec iov[MAX_PARTS];
	uint64_t first, count, record, good, i;
	bool fua = chance(&w->rng, opt.fua);
	int parts, error = 0;
	ssize_t done;

	choose(w, &first, &count);
	count = model_issue(&model, OP_WRITE, w->number, first, count, unit,
			    w->versions, &record);
	if (!count)
		return;
	parts = lay_out(w, count, iov);
	for (i = 0; i < count; i++)
		sector_fill((void *)w->data[i], opt.seed,
			    opt.offset + first + i, w->versions[i], w->number);

	done = pwritev2(device_fd, iov, parts, byte_of(first),
			fua ? RWF_DSYNC : 0);
	if (done < 0)
		error = errno;
	else if (done != (ssize_t)(count * SECTOR_SIZE))
		error = EIO;
	good = done < 0 ? 0 : done / SECTOR_SIZE;
	model_end(&model, OP_WRITE, first, count, good, error, record);

	w->t.writes++;
	w->t.fua += fua;
	w->t.touches += touches(first, count);
	if (error) {
		w->t.write_errors++;
		if (!opt.tolerate_errors || !medium_error(error))
			io_failed("write", first, count, error);
	}
}

static void do_ioctl(struct worker *w, enum op_kind kind)
{
	uint64_t first, count, record, range[2];
	int error;

	choose(w, &first, &count);
	count = model_issue(&model, kind, w->number, first, count, unit,
			    w->versions, &record);
	if (!count)
		return;
	range[0] = byte_of(first);
	range[1] = count * SECTOR_SIZE;
	error = ioctl(device_fd, kind == OP_ZEROES ? BLKZEROOUT : BLKDISCARD,
		      range) ? errno : 0;
	model_end(&model, kind, first, count, error ? 0 : count, error, record);

	if (kind == OP_ZEROES) {
		w->t.zeroes++;
		w->t.zero_touches += touches(first, count);
	} else {
		w->t.discards++;
	}
	if (error) {
		w->t.write_errors++;
		if (!opt.tolerate_errors || !medium_error(error))
			io_failed(kind == OP_ZEROES ? "write-zeroes" :
				  "discard", first, count, error);
	}
}

static void do_flush(struct worker *w)
{
	w->t.flushes++;
	if (!fdatasync(device_fd))
		return;
	w->t.write_errors++;
	if (!opt.tolerate_errors || !medium_error(errno))
		io_failed("flush", 0, opt.region, errno);
}

static bool is_over(uint64_t ops)
{
	if (atomic_load(&enough))
		return true;
	return opt.ops ? ops >= opt.ops : now_us() >= deadline_us;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load(&stop) && !is_over(w->t.ops)) {
		uint64_t began = now_us(), us;

		atomic_store(&w->busy_since, began);
		if (chance(&w->rng, opt.flush))
			do_flush(w);
		else if (chance(&w->rng, opt.reads))
			do_read(w);
		else if (chance(&w->rng, opt.zeroes))
			do_ioctl(w, OP_ZEROES);
		else if (chance(&w->rng, opt.discard))
			do_ioctl(w, OP_DISCARD);
		else
			do_write(w);
		atomic_store(&w->busy_since, 0);
		us = now_us() - began;
		if (us > w->t.slowest_us)
			w->t.slowest_us = us;
		atomic_store(&w->ops, ++w->t.ops);
	}
	return NULL;
}

static int write_chunk(struct worker *w, uint64_t first, uint64_t count)
{
	struct iovec iov = { .iov_base = w->arena,
			     .iov_len = count * SECTOR_SIZE };
	uint64_t record, i;
	int error = 0;

	model_issue(&model, OP_WRITE, w->number, first, count, unit,
		    w->versions, &record);
	for (i = 0; i < count; i++)
		sector_fill(w->arena + i * SECTOR_SIZE, opt.seed,
			    opt.offset + first + i, w->versions[i], w->number);
	errno = 0;
	if (pwritev(device_fd, &iov, 1, byte_of(first)) != (ssize_t)iov.iov_len)
		error = errno ? errno : EIO;
	model_end(&model, OP_WRITE, first, count, error ? 0 : count, error,
		  record);
	w->t.writes++;
	w->t.touches += touches(first, count);
	return error;
}

/*
 * Write version 1 everywhere, so that every read is checked. A sector that
 * cannot be written even alone stays unknown, if errors are tolerated.
 */
static bool fill_region(struct worker *w)
{
	uint64_t first, count;

	for (first = 0; first < opt.region; first += count) {
		int tries, error;

		count = opt.region - first;
		if (count > FINAL_CHUNK)
			count = FINAL_CHUNK;
		error = write_chunk(w, first, count);
		if (error && opt.tolerate_errors)
			count = unit;
		for (tries = 0; error && opt.tolerate_errors && tries < RETRIES;
		     tries++)
			error = write_chunk(w, first, count);
		if (error && (!opt.tolerate_errors || !medium_error(error))) {
			io_failed("first write", first, count, error);
			return false;
		}
	}
	return true;
}

/* Compare the whole region on @fd, where it starts at byte @base. */
static void read_back(struct worker *w, int fd, uint64_t base,
		      const char *where)
{
	uint64_t first, count, i;

	for (first = 0; first < opt.region; first += count) {
		int tries = 0;
		ssize_t got;

		count = opt.region - first;
		/* an unreadable sector must not hide its neighbours */
		if (count > FINAL_CHUNK)
			count = FINAL_CHUNK;
		for (i = 0; i < count; i++)
			w->data[i] = w->arena + i * SECTOR_SIZE;
		model_read_begin(&model, first, count, w->versions);
		do {
			got = pread(fd, w->arena, count * SECTOR_SIZE,
				    base + first * SECTOR_SIZE);
			if (got < 0 && opt.tolerate_errors)
				count = unit;
		} while (got < 0 && opt.tolerate_errors &&
			 ++tries < RETRIES);
		if (got != (ssize_t)(count * SECTOR_SIZE)) {
			if (!opt.tolerate_errors) {
				io_failed("last read", first, count,
					  got < 0 ? errno : EIO);
				return;
			}
			w->t.unread += count;
			continue;
		}
		if (model_read_end(&model, first, count, w->versions, w->data,
				   where))
			fail(EXIT_MISMATCH);
	}
}

/* Watch the threads until they end; report a stuck one. */
static void supervise(struct worker *workers, uint64_t started)
{
	bool terminal = isatty(STDERR_FILENO);
	bool working = true;

	while (working && !atomic_load(&stop)) {
		uint64_t now, ops = 0;
		unsigned int i;

		usleep(opt.ops ? 20000 : 200000);
		now = now_us();
		working = opt.ops ? false : !is_over(0);
		for (i = 0; i < opt.threads; i++) {
			uint64_t since = atomic_load(&workers[i].busy_since);
			uint64_t done = atomic_load(&workers[i].ops);

			ops += done;
			if (opt.ops && !is_over(done))
				working = true;
			if (since && now > since &&
			    now - since > opt.stall * 1000000) {
				fprintf(stderr, "\n%s: thread %u has waited for "
					"its request for %" PRIu64 " s\n",
					opt.device, i, (now - since) / 1000000);
				/* a stuck thread cannot be joined */
				_exit(EXIT_IO);
			}
		}
		if (terminal)
			fprintf(stderr, "\r%s: %" PRIu64 "/%" PRIu64 " s, %" PRIu64
				" operations, %" PRIu64 " mismatches ",
				opt.device, (now - started) / 1000000,
				opt.seconds, ops, model.mismatches);
	}
	if (terminal)
		fprintf(stderr, "\n");
}

/* Join the threads with a limit: a stuck request would block pthread_join(). */
static void join_all(struct worker *workers)
{
	unsigned int i;

	for (i = 0; i < opt.threads; i++) {
		struct timespec until;
		int r;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += opt.stall;
		r = pthread_timedjoin_np(workers[i].thread, NULL, &until);
		if (!r)
			continue;
		fprintf(stderr, "\n%s: thread %u has waited for its request "
			"for more than %" PRIu64 " s\n", opt.device, i, opt.stall);
		_exit(EXIT_IO);
	}
}

static void add(struct totals *sum, const struct totals *t)
{
	sum->ops += t->ops;
	sum->reads += t->reads;
	sum->writes += t->writes;
	sum->zeroes += t->zeroes;
	sum->discards += t->discards;
	sum->flushes += t->flushes;
	sum->fua += t->fua;
	sum->touches += t->touches;
	sum->zero_touches += t->zero_touches;
	sum->read_errors += t->read_errors;
	sum->write_errors += t->write_errors;
	sum->unread += t->unread;
	if (t->slowest_us > sum->slowest_us)
		sum->slowest_us = t->slowest_us;
}

static bool make_worker(struct worker *w, int number)
{
	uint64_t run = opt.max_run > FINAL_CHUNK ? opt.max_run : FINAL_CHUNK;

	w->number = number;
	w->rng = sector_mix(opt.seed ^ sector_mix(number + 1));
	w->arena = mmap(NULL, arena_size(run), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->versions = calloc(run, sizeof(*w->versions));
	w->data = calloc(run, sizeof(*w->data));
	return w->arena != MAP_FAILED && w->versions && w->data;
}

static void free_worker(struct worker *w)
{
	uint64_t run = opt.max_run > FINAL_CHUNK ? opt.max_run : FINAL_CHUNK;

	munmap(w->arena, arena_size(run));
	free(w->versions);
	free(w->data);
}

/* Flush, so that all acknowledged writes are on the device beneath. */
static void flush_all(void)
{
	int tries = 0;

	while (fsync(device_fd)) {
		if (opt.tolerate_errors && medium_error(errno) &&
		    ++tries < RETRIES)
			continue;
		io_failed("last flush", 0, opt.region, errno);
		return;
	}
}

static int run(struct worker *workers, int beneath_fd)
{
	struct totals sum = { 0 };
	uint64_t started, elapsed;
	unsigned int i;

	if (!fill_region(&workers[0]))
		return EXIT_IO;
	started = now_us();
	deadline_us = started + opt.seconds * 1000000;
	for (i = 0; i < opt.threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, work,
				   &workers[i])) {
			fprintf(stderr, "cannot start thread %u of %u: %s\n",
				i, opt.threads, strerror(errno));
			_exit(EXIT_IO);
		}
	}
	supervise(workers, started);
	join_all(workers);
	elapsed = now_us() - started;

	read_back(&workers[0], device_fd, byte_of(0), "the last read back");
	if (beneath_fd >= 0) {
		flush_all();
		read_back(&workers[0], beneath_fd,
			  byte_of(0) + opt.beneath_offset * SECTOR_SIZE,
			  "the last read back from beneath");
	}
	for (i = 0; i < opt.threads; i++)
		add(&sum, &workers[i].t);
	printf("seed=%" PRIu64 " seconds=%.1f operations=%" PRIu64
	       " reads=%" PRIu64 " writes=%" PRIu64 " touches=%" PRIu64
	       " zeroes=%" PRIu64 " zero_touches=%" PRIu64 " discards=%" PRIu64
	       " flushes=%" PRIu64 " fua=%" PRIu64 " read_errors=%" PRIu64 " write_errors=%" PRIu64
	       " unread_sectors=%" PRIu64 " slowest_ms=%" PRIu64
	       " mismatches=%" PRIu64 "\n",
	       opt.seed, elapsed / 1e6, sum.ops, sum.reads, sum.writes,
	       sum.touches, sum.zeroes, sum.zero_touches, sum.discards,
	       sum.flushes, sum.fua, sum.read_errors, sum.write_errors, sum.unread,
	       sum.slowest_us / 1000, model.mismatches);
	return atomic_load(&failed);
}

static void usage(FILE *to)
{
	fputs("usage: sectorstress [options] DEVICE\n"
	      "Overwrites the region of DEVICE, a block device or a file, that it tests.\n"
	      "  --seed N            for all choices and contents (default: random, printed)\n"
	      "  --seconds N         how long (default 10)\n"
	      "  --ops N             operations per thread, instead of --seconds\n"
	      "  --threads N         requests in flight (default 16)\n"
	      "  --offset SECTORS    where the region starts (default 0)\n"
	      "  --region SECTORS    its length (default 2048)\n"
	      "  --max-run SECTORS   longest request (default 300)\n"
	      "  --reads PCT         share of reads (default 25)\n"
	      "  --zeroes PCT        share of write-zeroes in the rest (default 0)\n"
	      "  --discard PCT       share of discards in the rest (default 0)\n"
	      "  --flush PCT         share of flushes (default 0)\n"
	      "  --fua PCT           share of the writes that ask for FUA (default 0)\n"
	      "  --memory-align N    buffers start at multiples of N bytes (default 512)\n"
	      "  --physical BYTES    block size for the count of touches (default 4096)\n"
	      "  --alignment BYTES   first boundary on DEVICE, for the same (default 0)\n"
	      "  --border SECTOR     for the same: DEVICE splits requests there\n"
	      "  --tolerate-errors   after an I/O error a sector may be old or new\n"
	      "  --torn-reads        a read beside a write may mix both inside a sector,\n"
	      "                      as memory-backed disks do\n"
	      "  --beneath DEVICE    compare there too at the end\n"
	      "  --beneath-offset SECTORS  where sector 0 of DEVICE is beneath (default 0)\n"
	      "  --stall SECONDS     a request that takes longer is a failure (default 120)\n"
	      "SIGTERM ends the run early; all is checked and counted as usual.\n"
	      "Exit status: 0 clean, 1 mismatch, 2 usage, 3 I/O error or stall.\n", to);
}

static uint64_t number(const char *name, const char *text, uint64_t min,
		       uint64_t max)
{
	uint64_t n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || n < min ||
	    n > max) {
		fprintf(stderr, "--%s %s: must be a number from %" PRIu64
			" to %" PRIu64 "\n", name, text, min, max);
		exit(EXIT_USAGE);
	}
	return n;
}

static void parse(int argc, char **argv)
{
	enum { SEED, SECONDS, OPS, THREADS, OFFSET, REGION, MAX_RUN, READS,
	       ZEROES, DISCARD, FLUSH, FUA, MEMORY_ALIGN, PHYSICAL, ALIGNMENT,
	       BORDER, TOLERATE, TORN, BENEATH, BENEATH_OFFSET, STALL, HELP };
	static const struct option options[] = {
		{ "seed", 1, NULL, SEED }, { "seconds", 1, NULL, SECONDS },
		{ "ops", 1, NULL, OPS }, { "threads", 1, NULL, THREADS },
		{ "offset", 1, NULL, OFFSET }, { "region", 1, NULL, REGION },
		{ "max-run", 1, NULL, MAX_RUN }, { "reads", 1, NULL, READS },
		{ "zeroes", 1, NULL, ZEROES }, { "discard", 1, NULL, DISCARD },
		{ "flush", 1, NULL, FLUSH }, { "fua", 1, NULL, FUA },
		{ "memory-align", 1, NULL, MEMORY_ALIGN },
		{ "physical", 1, NULL, PHYSICAL },
		{ "alignment", 1, NULL, ALIGNMENT },
		{ "border", 1, NULL, BORDER },
		{ "tolerate-errors", 0, NULL, TOLERATE },
		{ "torn-reads", 0, NULL, TORN },
		{ "beneath", 1, NULL, BENEATH },
		{ "beneath-offset", 1, NULL, BENEATH_OFFSET },
		{ "stall", 1, NULL, STALL }, { "help", 0, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	const uint64_t any = INT64_MAX / SECTOR_SIZE;
	int which, c;

	opt.seed = now_us() ^ (uint64_t)getpid() << 32;
	while ((c = getopt_long(argc, argv, "", options, &which)) != -1) {
		const char *name;

		if (c == '?')
			exit(EXIT_USAGE);
		name = options[which].name;
		switch (c) {
		case SEED:
			opt.seed = number(name, optarg, 0, UINT64_MAX);
			break;
		case SECONDS:
			opt.seconds = number(name, optarg, 1, 1000000);
			break;
		case OPS:
			opt.ops = number(name, optarg, 1, any);
			break;
		case THREADS:
			opt.threads = number(name, optarg, 1, 1024);
			break;
		case OFFSET:
			opt.offset = number(name, optarg, 0, any);
			break;
		case REGION:
			opt.region = number(name, optarg, 1, 1 << 24);
			break;
		case MAX_RUN:
			opt.max_run = number(name, optarg, 1, 65536);
			break;
		case READS:
			opt.reads = number(name, optarg, 0, 100);
			break;
		case ZEROES:
			opt.zeroes = number(name, optarg, 0, 100);
			break;
		case DISCARD:
			opt.discard = number(name, optarg, 0, 100);
			break;
		case FLUSH:
			opt.flush = number(name, optarg, 0, 100);
			break;
		case FUA:
			opt.fua = number(name, optarg, 0, 100);
			break;
		case MEMORY_ALIGN:
			opt.memory_align = number(name, optarg, 1, PAGE);
			break;
		case PHYSICAL:
			opt.physical = number(name, optarg, 512, 65536);
			break;
		case ALIGNMENT:
			opt.alignment = number(name, optarg, 0, 65535);
			break;
		case BORDER:
			opt.border = number(name, optarg, 1, any);
			break;
		case TOLERATE:
			opt.tolerate_errors = true;
			break;
		case TORN:
			opt.torn_reads = true;
			break;
		case BENEATH:
			opt.beneath = optarg;
			break;
		case BENEATH_OFFSET:
			opt.beneath_offset = number(name, optarg, 0, any);
			break;
		case STALL:
			opt.stall = number(name, optarg, 1, 1000000);
			break;
		case HELP:
			usage(stdout);
			exit(EXIT_CLEAN);
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
	opt.device = argv[optind];
	if (PAGE % opt.memory_align) {
		fprintf(stderr, "--memory-align %" PRIu64 ": must divide 4096\n",
			opt.memory_align);
		exit(EXIT_USAGE);
	}
}

static void on_term(int number)
{
	(void)number;
	atomic_store(&enough, true);
}

static int open_device(const char *path, int flags)
{
	int fd = open(path, flags | O_DIRECT | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	fprintf(stderr, "%s: cannot open: %s\n", path, strerror(errno));
	exit(EXIT_IO);
}

/* Check that region and requests fit the device and its logical blocks. */
static void check_device(void)
{
	struct stat st;
	uint64_t bytes;
	int size = SECTOR_SIZE;

	if (fstat(device_fd, &st)) {
		fprintf(stderr, "%s: cannot stat: %s\n", opt.device,
			strerror(errno));
		exit(EXIT_IO);
	}
	bytes = st.st_size;
	if (!S_ISREG(st.st_mode) &&
	    (ioctl(device_fd, BLKSSZGET, &size) ||
	     ioctl(device_fd, BLKGETSIZE64, &bytes))) {
		fprintf(stderr, "%s: neither a block device nor a file: %s\n",
			opt.device, strerror(errno));
		exit(EXIT_IO);
	}
	unit = size / SECTOR_SIZE;
	if (opt.offset % unit || opt.region % unit || opt.max_run < unit) {
		fprintf(stderr, "%s: --offset and --region must be multiples of its "
			"logical block of %" PRIu64 " sectors, and --max-run no less\n",
			opt.device, unit);
		exit(EXIT_USAGE);
	}
	if (opt.offset + opt.region > bytes / SECTOR_SIZE) {
		fprintf(stderr, "%s: has %" PRIu64 " sectors, the region ends at %" PRIu64 "\n",
			opt.device, bytes / SECTOR_SIZE,
			opt.offset + opt.region);
		exit(EXIT_USAGE);
	}
}

int main(int argc, char **argv)
{
	struct worker *workers;
	int beneath_fd = -1;
	unsigned int i;
	int status;

	setvbuf(stderr, NULL, _IOLBF, 0);
	signal(SIGTERM, on_term);
	parse(argc, argv);
	device_fd = open_device(opt.device, O_RDWR);
	check_device();
	if (opt.beneath)
		beneath_fd = open_device(opt.beneath, O_RDONLY);
	fprintf(stderr, "%s: seed %" PRIu64 "\n", opt.device, opt.seed);

	workers = calloc(opt.threads, sizeof(*workers));
	if (!workers || !model_init(&model, opt.region, opt.offset, opt.seed)) {
		fprintf(stderr, "no memory for a region of %" PRIu64
			" sectors\n", opt.region);
		return EXIT_IO;
	}
	model.torn_reads = opt.torn_reads;
	for (i = 0; i < opt.threads; i++) {
		if (!make_worker(&workers[i], i)) {
			fprintf(stderr, "no memory for %u threads\n",
				opt.threads);
			return EXIT_IO;
		}
	}
	status = run(workers, beneath_fd);
	for (i = 0; i < opt.threads; i++)
		free_worker(&workers[i]);
	free(workers);
	model_free(&model);
	return status;
}
