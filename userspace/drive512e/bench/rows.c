// SPDX-License-Identifier: GPL-2.0
#include "rows.h"

#include <math.h>
#include <stdlib.h>

#include "player.h"
#include "workloads.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GB UINT64_C(1000000000)
#define US 1e3
#define MS 1e6
#define S 1e9
#define BLOCK UINT64_C(4096)

static void start(struct player *p, const struct bench_row *row)
{
	player_start(p, row->profile, !row->nocache);
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- part A: five workloads ---- */

struct played {
	double mean_us[PARTS_MAX];
	double wall_s;
};

static struct played play_workload(const struct bench_row *row)
{
	const struct workload *w = &workloads[row->n];
	struct played played = { 0 };
	struct player p;
	int64_t began;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < w->count; i++) {
		uint64_t offset = w->first + i * w->stride;

		for (unsigned int part = 0; part < w->parts; part++) {
			played.mean_us[part] += (double)player_send(&p,
				OP_WRITE, offset, w->bytes[part]) / US /
				w->count;
			player_pause(&p, (int64_t)(workload_host_us(w) * US));
			offset += w->bytes[part];
		}
	}
	played.wall_s = (double)(p.now - began) / S;
	player_stop(&p);
	return played;
}

/* Return the mean time of part row->offset of a round. */
static double mean_us(const struct bench_row *row)
{
	return play_workload(row).mean_us[row->offset];
}

static double wall_s(const struct bench_row *row)
{
	return play_workload(row).wall_s;
}

static double wall_ratio(const struct bench_row *row)
{
	struct bench_row other = *row;

	other.n = (unsigned int)row->offset;
	return wall_s(row) / wall_s(&other);
}

static double mean_ratio(const struct bench_row *row)
{
	struct bench_row other = *row;
	struct played a = play_workload(row), b;

	other.n = (unsigned int)row->offset;
	b = play_workload(&other);
	return (a.mean_us[0] + a.mean_us[1]) / (b.mean_us[0] + b.mean_us[1]);
}

/* Return the time from one round to the next. */
static double round_ms(const struct bench_row *row)
{
	return wall_s(row) / workloads[row->n].count * 1e3;
}

/* ---- part B: 2 MiB writes, each as several requests at once ---- */

/* How one write of 2 MiB reaches the drive. */
static const uint64_t split_existing[] = { 688128, 688128, 688128, 32768, 0 };
static const uint64_t split_fresh[] = { 512, 687616, 688128, 688128, 33280, 0 };

static double series_s(const struct bench_row *row, uint64_t offset,
		       const uint64_t *split)
{
	struct player p;
	int64_t began;
	double s;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < row->n; i++) {
		uint64_t at = offset + i * 2 * MIB;
		int64_t sent = p.now, done = sent;

		for (const uint64_t *bytes = split; *bytes; bytes++) {
			p.now = sent;
			player_send(&p, OP_WRITE, at, *bytes);
			if (p.now > done)
				done = p.now;
			at += *bytes;
		}
		p.now = done;
	}
	s = (double)(p.now - began) / S;
	player_stop(&p);
	return s;
}

static double series_aligned_s(const struct bench_row *row)
{
	return series_s(row, 0, split_existing);
}

static double series_fresh_ratio(const struct bench_row *row)
{
	return series_s(row, 3584, split_fresh) /
	       series_s(row, 0, split_existing);
}

static double series_existing_ratio(const struct bench_row *row)
{
	return series_s(row, 3584, split_existing) /
	       series_s(row, 0, split_existing);
}

/* ---- part C: the study's methods ---- */

/* Return the mean time of random requests of row->bytes, one at a time. */
static double random_ns(const struct bench_row *row, enum op op)
{
	struct player p;
	int64_t began;
	double mean;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < row->n; i++)
		player_send(&p, op, player_place(&p, p.config.size, row->bytes,
						 BLOCK), row->bytes);
	mean = (double)(p.now - began) / row->n;
	player_stop(&p);
	return mean;
}

static double random_read_ms(const struct bench_row *row)
{
	return random_ns(row, OP_READ) / MS;
}

static double random_read_us(const struct bench_row *row)
{
	return random_ns(row, OP_READ) / US;
}

static double random_write_ms(const struct bench_row *row)
{
	return random_ns(row, OP_WRITE) / MS;
}

#define TIMES 5000

/* The times of accesses that differ in the angle only, in ascending order. */
struct turns {
	int64_t times[TIMES];
	double mean;
};

static void sort_turns(struct turns *t)
{
	t->mean = 0;
	for (unsigned int i = 0; i < TIMES; i++)
		t->mean += (double)t->times[i] / TIMES;
	qsort(t->times, TIMES, sizeof(*t->times), compare_times);
}

/* Read by turns in the first and in the last percent of the drive. */
static void full_stroke(const struct bench_row *row, struct turns *t)
{
	struct player p;

	start(&p, row);
	player_send(&p, OP_READ, p.config.size - BLOCK, BLOCK);
	for (unsigned int i = 0; i < TIMES; i++) {
		uint64_t percent = p.config.size / 100 / BLOCK * BLOCK;
		uint64_t at = player_place(&p, percent, BLOCK, BLOCK);

		if (i % 2)
			at += p.config.size / BLOCK * BLOCK - percent;
		t->times[i] = player_send(&p, OP_READ, at, BLOCK);
	}
	player_stop(&p);
	sort_turns(t);
}

/* Read at random, and then, which is timed, at most two cylinders on. */
static void track_to_track(const struct bench_row *row, struct turns *t)
{
	struct player p;

	start(&p, row);
	for (unsigned int i = 0; i < TIMES; i++) {
		uint64_t at = player_place(&p, p.config.size - 2 * row->bytes,
					   BLOCK, BLOCK);
		uint64_t on = row->bytes + player_place(&p, row->bytes, BLOCK,
							BLOCK);

		player_send(&p, OP_READ, at, BLOCK);
		t->times[i] = player_send(&p, OP_READ, at + on, BLOCK);
	}
	player_stop(&p);
	sort_turns(t);
}

static double seek_ms(const struct turns *t)
{
	return (double)t->times[0] / MS;
}

static double turn_ms(const struct turns *t)
{
	return (double)(t->times[TIMES - 1] - t->times[0]) / MS;
}

/* Return what a read takes beside seek and rotation: a buffered one's time. */
static double buffered_ms(const struct bench_row *row)
{
	struct player p;
	double ms;

	start(&p, row);
	player_send(&p, OP_READ, 0, BLOCK);
	ms = (double)player_send(&p, OP_READ, 0, BLOCK) / MS;
	player_stop(&p);
	return ms;
}

static double full_stroke_seek_ms(const struct bench_row *row)
{
	struct turns t;

	full_stroke(row, &t);
	return seek_ms(&t);
}

static double full_stroke_turn_ms(const struct bench_row *row)
{
	struct turns t;

	full_stroke(row, &t);
	return turn_ms(&t);
}

static double half_turn_ms(const struct bench_row *row)
{
	struct turns t;

	full_stroke(row, &t);
	return (t.mean - (double)t.times[0]) / MS;
}

static double next_track_seek_ms(const struct bench_row *row)
{
	struct turns t;

	track_to_track(row, &t);
	return seek_ms(&t);
}

static double next_track_turn_ms(const struct bench_row *row)
{
	struct turns t;

	track_to_track(row, &t);
	return turn_ms(&t);
}

/* Read 128 MiB at place number @i of 100 evenly spaced ones, in 1 MiB pieces. */
static double probe_mb_s(const struct bench_row *row, unsigned int i)
{
	uint64_t bytes = 128 * MIB;
	struct player p;
	int64_t took = 0;
	uint64_t at;

	start(&p, row);
	at = (p.config.size - bytes) / 99 * i / BLOCK * BLOCK;
	for (uint64_t done = 0; done < bytes; done += MIB)
		took += player_send(&p, OP_READ, at + done, MIB);
	player_stop(&p);
	return (double)bytes / (double)took * 1e3;
}

/* Return the seek without command, block and interface, as data sheets do. */
static double next_track_alone_ms(const struct bench_row *row)
{
	return next_track_seek_ms(row) - buffered_ms(row) -
	       (double)BLOCK / probe_mb_s(row, 0) / 1e3;
}

static double fastest_probe(const struct bench_row *row)
{
	double best = 0;

	for (unsigned int i = 0; i < 100; i++)
		best = fmax(best, probe_mb_s(row, i));
	return best;
}

static double slowest_probe(const struct bench_row *row)
{
	double worst = INFINITY;

	for (unsigned int i = 0; i < 100; i++)
		worst = fmin(worst, probe_mb_s(row, i));
	return worst;
}

double bench_chunk_mb_s(const char *profile, uint64_t bytes)
{
	struct bench_row row = { .profile = profile, .n = 1000, .bytes = bytes };

	return (double)bytes / random_ns(&row, OP_READ) * 1e3;
}

/* Find the smallest request with nine tenths of the best throughput. */
static double saturates_mib(const struct bench_row *row)
{
	double best = bench_chunk_mb_s(row->profile, BENCH_CHUNK_MAX);
	uint64_t bytes = BENCH_CHUNK_MIN;

	while (bench_chunk_mb_s(row->profile, bytes) < 0.9 * best)
		bytes *= 2;
	return (double)bytes / (double)MIB;
}

static int compare_places(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Time 1000 random reads in row->bytes, sorted in windows of row->n. */
static double sorted_s(const struct bench_row *row)
{
	uint64_t places[1000];
	struct player p;
	double s;

	start(&p, row);
	s = (double)p.now;
	for (unsigned int i = 0; i < 1000; i++)
		places[i] = player_place(&p, row->bytes, BLOCK, BLOCK);
	for (unsigned int i = 0; i < 1000; i += row->n)
		qsort(places + i, i + row->n < 1000 ? row->n : 1000 - i,
		      sizeof(*places), compare_places);
	for (unsigned int i = 0; i < 1000; i++)
		player_send(&p, OP_READ, places[i], BLOCK);
	s = ((double)p.now - s) / S;
	player_stop(&p);
	return s;
}

/* ---- several at once ---- */

/* Make a request in a job's own file of 1 GiB, 8 KiB after 8 KiB. */
static struct request file_8k(enum op op, unsigned int job, unsigned int i)
{
	return (struct request){ op, job * 1024 * MIB + i * 8 * KIB, 8 * KIB,
				 false };
}

static struct request read_8k(struct player *p, unsigned int job, unsigned int i)
{
	(void)p;
	return file_8k(OP_READ, job, i);
}

static struct request write_8k(struct player *p, unsigned int job, unsigned int i)
{
	(void)p;
	return file_8k(OP_WRITE, job, i);
}

static struct request read_128k(struct player *p, unsigned int job, unsigned int i)
{
	(void)p;
	(void)job;
	return (struct request){ OP_READ, (i * 32 + job) * 128 * KIB, 128 * KIB,
				 false };
}

static struct request write_128k(struct player *p, unsigned int job, unsigned int i)
{
	struct request req = read_128k(p, job, i);

	req.op = OP_WRITE;
	return req;
}

/* Return the requests a second of row->n jobs with one in flight each. */
static double iops(const struct bench_row *row, player_next *next)
{
	unsigned int count = (unsigned int)row->bytes;
	struct player p;
	int64_t took;

	start(&p, row);
	took = player_together(&p, row->n, count, next);
	player_stop(&p);
	return count / (double)took * S;
}

static double random_iops(const struct bench_row *row)
{
	return iops(row, player_read_random);
}

static double read_8k_iops(const struct bench_row *row)
{
	return iops(row, read_8k);
}

static double write_8k_iops(const struct bench_row *row)
{
	return iops(row, write_8k);
}

static double read_128k_mb_s(const struct bench_row *row)
{
	return iops(row, read_128k) * 131072 / 1e6;
}

static double write_128k_mb_s(const struct bench_row *row)
{
	return iops(row, write_128k) * 131072 / 1e6;
}

/* Compare the requests a second of row->n jobs with those of one. */
static double speedup(const struct bench_row *row)
{
	struct bench_row one = *row;

	one.n = 1;
	return random_iops(row) / random_iops(&one);
}

/* ---- part E: commits ---- */

/* Time 100 rounds of a block written and flushed, at row->n places. */
static double commits_s(const struct bench_row *row)
{
	struct player p;
	int64_t began;
	double s;

	start(&p, row);
	player_send(&p, OP_WRITE, MIB, BLOCK);
	player_send(&p, OP_FLUSH, 0, 0);
	began = p.now;
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int j = 0; j < row->n; j++) {
			player_send(&p, OP_WRITE, MIB + j * row->bytes, BLOCK);
			player_send(&p, OP_FLUSH, 0, 0);
		}
	}
	s = (double)(p.now - began) / S;
	player_stop(&p);
	return s;
}

/* Compare row->n places with one. */
static double commits_ratio(const struct bench_row *row)
{
	struct bench_row one = *row;

	one.n = 1;
	return commits_s(row) / commits_s(&one);
}

/* Return what row->n places add to each round of one. */
static double commit_turn_ms(const struct bench_row *row)
{
	struct bench_row one = *row;

	one.n = 1;
	return (commits_s(row) - commits_s(&one)) * 10;
}

/* ---- part F: aligned against misaligned ---- */

/* Return the mean of row->n writes of row->bytes, four times that apart. */
static double strided_ms(const struct bench_row *row)
{
	struct player p;
	int64_t began;
	double ms;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < row->n; i++)
		player_send(&p, OP_WRITE, p.config.map.alignment + 4 * MIB +
			    row->offset + i * 4 * row->bytes, row->bytes);
	player_send(&p, OP_FLUSH, 0, 0);
	ms = (double)(p.now - began) / row->n / MS;
	player_stop(&p);
	return ms;
}

static double strided_s(const struct bench_row *row)
{
	return strided_ms(row) * row->n / 1e3;
}

static double strided_us(const struct bench_row *row)
{
	return strided_ms(row) * 1e3;
}

static double strided_ratio(const struct bench_row *row)
{
	struct bench_row aligned = *row;

	aligned.offset = 0;
	return strided_ms(row) / strided_ms(&aligned);
}

/* Return the mean of random writes in 4 GB, each durable before the next. */
static double durable_ms(const struct bench_row *row)
{
	struct player p;
	int64_t began;
	double ms;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < row->n; i++) {
		player_send(&p, OP_WRITE, player_place(&p, 4 * GB, row->bytes,
			    BLOCK) + p.config.map.alignment + row->offset,
			    row->bytes);
		player_send(&p, OP_FLUSH, 0, 0);
	}
	ms = (double)(p.now - began) / row->n / MS;
	player_stop(&p);
	return ms;
}

static double durable_ratio(const struct bench_row *row)
{
	struct bench_row aligned = *row;

	aligned.offset = 0;
	return durable_ms(row) / durable_ms(&aligned);
}

/* Return what the offset adds to a random write. */
static double rmw_adds_ms(const struct bench_row *row)
{
	struct bench_row aligned = *row;

	aligned.offset = 0;
	return durable_ms(row) - durable_ms(&aligned);
}

/* Return the rate of writes of row->bytes, one behind the other. */
static double copy_mb_s(const struct bench_row *row)
{
	struct player p;
	int64_t began;
	double mb_s;

	start(&p, row);
	began = p.now;
	for (unsigned int i = 0; i < row->n; i++)
		player_send(&p, OP_WRITE, p.config.map.alignment + row->offset +
			    i * row->bytes, row->bytes);
	mb_s = (double)(row->n * row->bytes) / (double)(p.now - began) * 1e3;
	player_stop(&p);
	return mb_s;
}

static double copy_ratio(const struct bench_row *row)
{
	struct bench_row misaligned = *row;

	misaligned.offset = 512;
	return copy_mb_s(row) / copy_mb_s(&misaligned);
}

/* ---- the table ---- */

#define MEAN(workload, part, figure)					\
	.unit = "us", .published = figure, .measure = mean_us,		\
	.n = workload, .offset = part
#define WALL(workload, figure)						\
	.unit = "s", .published = figure, .measure = wall_s, .n = workload

#define MEASURED .profile = "st1000dm003"
#define SAME_REQUESTS							\
	"the same requests as of the 4000, in the same order: the disk took "	\
	"1.434 for those"
#define ODD_TURNS							\
	"the misaligned write takes 1.4 turns more; the model's takes 2, one "	\
	"for each block"
#define SHORT_SEEKS							\
	"short seeks follow from track to track and the mean, and the file "	\
	"has no extents; the disk's are slower, or the file's lie apart"
#define NO_FIGURE "there is no published figure"
#define NOCACHE .profile = "hdd-nocache", .source = "by hand", .unit = "ms", \
	.measure = round_ms
#define FAST .profile = "hdd7200"
#define STUDY .profile = "hdd5400"
#define EARS .profile = "wd20ears", .source = "F"
#define LIAR .profile = "usb-liar", .source = "F"
#define NVME .profile = "nvme-512e"

/* A cylinder outside, or a little less. */
#define TRACK_7200 (7 * MIB / 2)
#define TRACK_5400 (9 * MIB / 8)

const struct bench_row bench_rows[] = {
	{ MEASURED, .name = "w512, mean", .source = "A",
	  MEAN(0, 0, 532) },
	{ MEASURED, .name = "w512, wall", .source = "A", WALL(0, 11.799) },
	{ MEASURED, .name = "w4096, mean", .source = "A",
	  MEAN(1, 0, 272) },
	{ MEASURED, .name = "w4096, wall", .source = "A", WALL(1, 5.902) },
	{ MEASURED, .name = "w4096_512, mean", .source = "A",
	  MEAN(2, 0, 718) },
	{ MEASURED, .name = "w4096_512, wall", .source = "A", WALL(2, 15.536) },
	{ MEASURED, .name = "w136k, mean", .source = "A", MEAN(3, 0, 551) },
	{ MEASURED, .name = "w136k, wall", .source = "A", WALL(3, 3.166) },
	{ MEASURED, .name = "w4k_132k, 4 KiB mean", .source = "A",
	  MEAN(4, 0, 1925) },
	{ MEASURED, .name = "w4k_132k, 132 KiB mean", .source = "A",
	  MEAN(4, 1, 2133) },
	{ MEASURED, .name = "w4k_132k, wall", .source = "A", WALL(4, 21.262) },
	{ MEASURED, .name = "w4k_132k / w136k, wall", .source = "A",
	  .published = WALL_RATIO, .measure = wall_ratio, .n = 4, .offset = 3 },
	{ MEASURED, .name = "w4k_132k / w136k, means", .source = "A",
	  .published = MEAN_RATIO, .measure = mean_ratio, .n = 4, .offset = 3 },
	{ MEASURED, .name = "1 touch / aligned", .source = "F",
	  .published = 2.0, .measure = mean_ratio, .n = 0, .offset = 1,
	  .unclaimed = "w512 is 9.7 % short, and w4096 0.8 % long" },
	{ MEASURED, .name = "2 touches / aligned", .source = "F",
	  .published = 2.6, .measure = mean_ratio, .n = 2, .offset = 1 },
	{ MEASURED, .name = "256 KiB, aligned / misaligned", .source = "F",
	  .published = 1, .measure = copy_ratio, .n = 4000, .bytes = 262144 },
	{ MEASURED, .name = "2000 x 2 MiB at 0", .source = "B", .unit = "s",
	  .published = 18.216, .measure = series_aligned_s, .n = 2000 },
	{ MEASURED, .name = "3000 x 2 MiB at 0", .source = "B", .unit = "s",
	  .published = 27.311, .measure = series_aligned_s, .n = 3000 },
	{ MEASURED, .name = "4000 x 2 MiB at 0", .source = "B", .unit = "s",
	  .published = 36.392, .measure = series_aligned_s, .n = 4000 },
	{ MEASURED, .name = "2000 at 3584 / 0, fresh file", .source = "B",
	  .published = 21.299 / 18.216, .measure = series_fresh_ratio,
	  .unclaimed = SAME_REQUESTS,
	  .n = 2000 },
	{ MEASURED, .name = "3000 at 3584 / 0, fresh file", .source = "B",
	  .published = 32.029 / 27.311, .measure = series_fresh_ratio,
	  .unclaimed = SAME_REQUESTS,
	  .n = 3000 },
	{ MEASURED, .name = "3000 at 3584 / 0, existing", .source = "B",
	  .published = 38.954 / 27.311, .measure = series_existing_ratio,
	  .n = 3000 },
	{ MEASURED, .name = "4000 at 3584 / 0, fresh file", .source = "B",
	  .published = 52.200 / 36.392, .measure = series_fresh_ratio,
	  .n = 4000 },

	{ NOCACHE, .name = "w4096, round", .published = 8.371, .n = 1 },
	{ NOCACHE, .name = "w512, round", .published = 16.685, .n = 0 },
	{ NOCACHE, .name = "w4096_512, round", .published = 16.704, .n = 2 },
	{ NOCACHE, .name = "w136k, round", .published = 17.300, .n = 3 },
	{ NOCACHE, .name = "w4k_132k, round", .published = 33.966, .n = 4 },

	{ FAST, .name = "revolution", .source = "C", .unit = "ms",
	  .published = 8.33, .measure = full_stroke_turn_ms },
	{ FAST, .name = "half a revolution", .source = "C", .unit = "ms",
	  .published = 4.17, .measure = half_turn_ms },
	{ FAST, .name = "seek, full stroke", .source = "F", .unit = "ms",
	  .published = 17, .measure = full_stroke_seek_ms },
	{ FAST, .name = "seek, track to track", .source = "F", .unit = "ms",
	  .published = 0.23, .measure = next_track_alone_ms,
	  .bytes = TRACK_7200 },
	{ FAST, .name = "random read: seek, half a turn", .source = "F",
	  .unit = "ms", .published = 7.5 + 4.17, .measure = random_read_ms,
	  .n = 20000, .bytes = 4096 },
	{ FAST, .nocache = true, .name = "random write, uncached", .source = "F",
	  .unit = "ms", .published = 8.5 + 4.17, .measure = random_write_ms,
	  .n = 20000, .bytes = 4096 },
	{ FAST, .name = "100 commits at 1 place", .source = "E", .unit = "s",
	  .published = 0.95, .measure = commits_s, .n = 1,
	  .unclaimed = "100 turns are 0.83 s; each of these runs took some 0.12 s "
		       "more, which is no whole turn for a commit" },
	{ FAST, .name = "2 places / 1, both in a turn", .source = "E",
	  .published = 0.975 / 0.95, .measure = commits_ratio, .n = 2,
	  .bytes = 131072 },
	{ FAST, .name = "2 places / 1, one in a turn", .source = "E",
	  .published = 1.845 / 0.95, .measure = commits_ratio, .n = 2,
	  .bytes = 65536 },
	{ FAST, .name = "one more turn a round", .source = "E", .unit = "ms",
	  .published = (1.845 - 0.95) * 10, .measure = commit_turn_ms, .n = 2,
	  .bytes = 65536 },
	{ FAST, .name = "random reads, 32 at once / 1", .source = "-",
	  .measure = speedup, .n = 32, .bytes = 20000,
	  .unclaimed = NO_FIGURE },
	{ FAST, .nocache = true, .name = "RMW of 2 blocks adds", .source = "F",
	  .unit = "ms", .published = 16, .measure = rmw_adds_ms, .n = 2000,
	  .bytes = 4096, .offset = 512 },

	{ STUDY, .name = "revolution", .source = "C", .unit = "ms",
	  .published = 11.11, .measure = full_stroke_turn_ms },
	{ STUDY, .name = "half a revolution", .source = "C", .unit = "ms",
	  .published = 5.56, .measure = half_turn_ms },
	{ STUDY, .name = "random read", .source = "C", .unit = "ms",
	  .published = 17.958, .measure = random_read_ms, .n = 20000,
	  .bytes = 4096 },
	{ STUDY, .name = "fullstroke, seek", .source = "C", .unit = "ms",
	  .published = 22.051, .measure = full_stroke_seek_ms },
	{ STUDY, .name = "fullstroke, revolution", .source = "C", .unit = "ms",
	  .published = 10.666, .measure = full_stroke_turn_ms },
	{ STUDY, .name = "tracktotrack, seek", .source = "C", .unit = "ms",
	  .published = 1.5, .measure = next_track_seek_ms,
	  .bytes = TRACK_5400 },
	{ STUDY, .name = "tracktotrack, revolution", .source = "C", .unit = "ms",
	  .published = 11.179, .measure = next_track_turn_ms,
	  .bytes = TRACK_5400 },
	{ STUDY, .name = "seqread, fastest", .source = "C", .unit = "MB/s",
	  .published = 51, .measure = fastest_probe },
	{ STUDY, .name = "seqread, slowest", .source = "C", .unit = "MB/s",
	  .published = 22, .measure = slowest_probe },
	{ STUDY, .name = "chunk-size, 90 % of the best", .source = "C", .unit = "MiB",
	  .published = 8, .measure = saturates_mib },
	{ STUDY, .name = "sorted-reads, window 1", .source = "C", .unit = "s",
	  .published = 18.11, .measure = sorted_s, .n = 1, .bytes = 70 * GB },
	{ STUDY, .name = "sorted-reads, window 32", .source = "C", .unit = "s",
	  .published = 12.19, .measure = sorted_s, .n = 32, .bytes = 70 * GB,
	  .unclaimed = SHORT_SEEKS },
	{ STUDY, .name = "sorted-reads, window 1024", .source = "C",
	  .unit = "s", .published = 9.46, .measure = sorted_s, .n = 1024,
	  .bytes = 70 * GB, .unclaimed = SHORT_SEEKS },
	{ STUDY, .nocache = true, .name = "RMW of 2 blocks adds", .source = "F",
	  .unit = "ms", .published = 22, .measure = rmw_adds_ms, .n = 2000,
	  .bytes = 4096, .offset = 512 },

	{ EARS, .name = "4 KiB, stride 16 KiB, aligned", .unit = "ms",
	  .published = 0.595, .measure = strided_ms, .n = 32768, .bytes = 4096 },
	{ EARS, .name = "4 KiB, stride 16 KiB, +512", .unit = "ms",
	  .published = 37.1, .measure = strided_ms, .n = 32768, .bytes = 4096,
	  .offset = 512 },
	{ EARS, .name = "stride, ratio", .published = 62,
	  .measure = strided_ratio, .n = 32768, .bytes = 4096, .offset = 512 },
	{ EARS, .name = "1000 random O_SYNC, aligned", .unit = "ms",
	  .published = 7.5, .measure = durable_ms, .n = 1000, .bytes = 4096 },
	{ EARS, .name = "1000 random O_SYNC, +512", .unit = "ms",
	  .published = 23, .measure = durable_ms, .n = 1000, .bytes = 4096,
	  .offset = 512, .unclaimed = ODD_TURNS },
	{ EARS, .name = "O_SYNC, ratio", .published = 3,
	  .measure = durable_ratio, .n = 1000, .bytes = 4096, .offset = 512,
	  .unclaimed = ODD_TURNS },
	{ EARS, .name = "mke2fs, start at 63 / aligned", .published = 3.5,
	  .unclaimed = "the requests of mke2fs are not published" },

	{ LIAR, .name = "32768 x 4 KiB, aligned", .unit = "s",
	  .published = 28.1, .measure = strided_s, .n = 32768, .bytes = 4096 },
	{ LIAR, .name = "32768 x 4 KiB, +512", .unit = "s",
	  .published = 79.9, .measure = strided_s, .n = 32768, .bytes = 4096,
	  .offset = 512 },
	{ LIAR, .name = "32768 x 4 KiB, ratio", .published = 2.8,
	  .measure = strided_ratio, .n = 32768, .bytes = 4096, .offset = 512 },
	{ LIAR, .name = "copy over USB 3, aligned", .unit = "MB/s",
	  .published = 83, .measure = copy_mb_s, .n = 8192,
	  .bytes = 240 * 512 },
	{ LIAR, .name = "copy over USB 3, +512", .unit = "MB/s",
	  .published = 15.5, .measure = copy_mb_s, .n = 8192,
	  .bytes = 240 * 512, .offset = 512 },
	{ LIAR, .name = "copy over USB 3, ratio", .published = 5.4,
	  .measure = copy_ratio, .n = 8192, .bytes = 240 * 512 },

	{ NVME, .name = "4 KiB write, aligned", .source = "F", .unit = "us",
	  .published = 20, .measure = strided_us, .n = 4000, .bytes = 4096 },
	{ NVME, .name = "4 KiB write, +512", .source = "F", .unit = "us",
	  .published = 150, .measure = strided_us, .n = 4000, .bytes = 4096,
	  .offset = 512 },
	{ NVME, .name = "4 KiB write, ratio", .source = "F", .published = 7.5,
	  .measure = strided_ratio, .n = 4000, .bytes = 4096, .offset = 512 },
	{ NVME, .name = "random 4 KiB read", .source = "C", .unit = "us",
	  .published = 129, .measure = random_read_us, .n = 20000,
	  .bytes = 4096 },
	{ NVME, .name = "best depth, 13 / 1", .source = "C", .published = 8.6,
	  .measure = speedup, .n = 13, .bytes = 20000,
	  .unclaimed = "another SSD, which read 421 MB/s at most" },
	{ NVME, .name = "8 KiB reads, 1 job", .source = "D", .unit = "/s",
	  .published = 7457, .measure = read_8k_iops, .n = 1, .bytes = 20000 },
	{ NVME, .name = "8 KiB reads, 4 jobs", .source = "D", .unit = "/s",
	  .published = 25500, .measure = read_8k_iops, .n = 4, .bytes = 40000 },
	{ NVME, .name = "8 KiB reads, 8 jobs", .source = "D", .unit = "/s",
	  .published = 49000, .measure = read_8k_iops, .n = 8, .bytes = 40000 },
	{ NVME, .name = "8 KiB reads, 16 jobs", .source = "D", .unit = "/s",
	  .published = 84800, .measure = read_8k_iops, .n = 16,
	  .bytes = 80000 },
	{ NVME, .name = "8 KiB reads, 32 jobs", .source = "D", .unit = "/s",
	  .published = 122000, .measure = read_8k_iops, .n = 32,
	  .bytes = 160000 },
	{ NVME, .name = "8 KiB writes, 8 jobs", .source = "D", .unit = "/s",
	  .published = 47200, .measure = write_8k_iops, .n = 8,
	  .bytes = 400000 },
	{ NVME, .name = "8 KiB random writes, 8 jobs", .source = "D",
	  .unit = "/s", .published = 18400,
	  .unclaimed = "garbage collection is not modelled" },

	{ .profile = "qlc-16k", .name = "sequential read", .source = "Q",
	  .unit = "MB/s", .published = 7400, .measure = read_128k_mb_s, .n = 32,
	  .bytes = 40000 },
	{ .profile = "qlc-16k", .name = "sequential write", .source = "Q",
	  .unit = "MB/s", .published = 3200, .measure = write_128k_mb_s,
	  .n = 32, .bytes = 80000 },
	{ .profile = "qlc-16k", .name = "4 KiB random reads, 512 at once",
	  .source = "Q", .unit = "/s", .published = 930000,
	  .measure = random_iops, .n = 512, .bytes = 100000 },
	{ .profile = "qlc-16k", .name = "16 KiB write, +4096 / aligned",
	  .source = "-", .measure = strided_ratio, .n = 2000, .bytes = 16384,
	  .offset = 4096, .unclaimed = NO_FIGURE },
	{ .profile = "qlc-64k", .name = "64 KiB write, +4096 / aligned",
	  .source = "-", .measure = strided_ratio, .n = 2000, .bytes = 65536,
	  .offset = 4096, .unclaimed = NO_FIGURE },
	{ 0 },
};

double bench_deviation(const struct bench_row *row, double measured)
{
	return row->published ? measured / row->published - 1 : 0;
}

bool bench_holds(const struct bench_row *row, double measured)
{
	return row->unclaimed ||
	       fabs(bench_deviation(row, measured)) <= BENCH_TOLERANCE;
}
