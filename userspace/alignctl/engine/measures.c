// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms and time slices of a run; slices are joined two by two when they are
 * full.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "engine/measures.h"

const char *const measures_class_names[MEASURES_CLASSES] = {
	[ALIGN_WHOLE] = "whole", [ALIGN_SUB_BLOCK] = "sub-block",
	[ALIGN_HEAD] = "head", [ALIGN_TAIL] = "tail", [ALIGN_BOTH] = "both",
};

static struct histogram *histogram_new(void)
{
	return memory_or_exit(calloc(1, sizeof(struct histogram)));
}

void measures_begin(struct measures *m, const struct align_geometry *geometry,
		    uint64_t warmup_ns, bool clocked)
{
	memset(m, 0, sizeof(*m));
	m->geometry = geometry;
	if (clocked) {
		m->response = histogram_new();
		m->lag = histogram_new();
	}
	m->per_slice = 1;
	m->begin_ns = clock_ns() + warmup_ns;
	m->end_ns = m->begin_ns;
}

void measures_free(struct measures *m)
{
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		free(m->service[i]);
	free(m->added);
	free(m->response);
	free(m->lag);
	for (i = 0; i < m->nr_sizes; i++)
		free(m->by_size[i].service);
	for (i = 0; i < MEASURES_CLASSES; i++)
		free(m->by_class[i]);
	for (i = 0; i < ALIGN_PHASE_BINS; i++)
		free(m->by_phase[i]);
}

/* Add @ns to a histogram that is allocated when it is first needed. */
static void add_to(struct histogram **h, uint64_t ns)
{
	if (!*h)
		*h = histogram_new();
	histogram_add(*h, ns);
}

static void end_second(struct measures_samples *s)
{
	if (!s->requests) {
		s->idle++;
	} else {
		if (!s->busy || s->requests < s->min)
			s->min = s->requests;
		if (s->requests > s->max)
			s->max = s->requests;
		s->busy++;
		s->sum += s->requests;
		s->squares += (double)s->requests * s->requests;
		s->sum_bytes += s->bytes;
	}
	s->second++;
	s->requests = 0;
	s->bytes = 0;
}

static void take_sample(struct measures *m, uint64_t bytes)
{
	struct measures_samples *s = &m->samples;
	uint64_t second = (m->end_ns - m->begin_ns) / NS_PER_S;

	while (s->second < second)
		end_second(s);
	s->requests++;
	s->bytes += bytes;
}

/* Join neighbouring slices, so that half of them are free again. */
static void join_slices(struct measures *m)
{
	uint32_t i;

	for (i = 0; i < m->nr_slices / 2; i++) {
		const struct measures_slice *a = &m->slice[2 * i], *b = a + 1;

		m->slice[i] = (struct measures_slice) {
			.end_ns = b->end_ns, .count = a->count + b->count,
			.sum_ns = a->sum_ns + b->sum_ns,
			.max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns,
		};
	}
	m->nr_slices /= 2;
	m->per_slice *= 2;
}

/* Add a request that took @ns, and ended last, to the slices. */
static void show_in_time(struct measures *m, uint64_t ns)
{
	struct measures_slice *slice;

	if (!m->nr_slices || m->slice[m->nr_slices - 1].count == m->per_slice) {
		if (m->nr_slices == 2 * MEASURES_SLICES)
			join_slices(m);
		m->slice[m->nr_slices++] = (struct measures_slice) { 0 };
	}
	slice = &m->slice[m->nr_slices - 1];
	slice->end_ns = m->end_ns - m->begin_ns;
	slice->count++;
	slice->sum_ns += ns;
	if (ns > slice->max_ns)
		slice->max_ns = ns;
}

static struct measures_size *size_of(struct measures *m, uint64_t bytes)
{
	uint32_t i;

	for (i = 0; i < m->nr_sizes && i < MEASURES_SIZES; i++)
		if (m->by_size[i].bytes == bytes)
			return &m->by_size[i];
	if (i == m->nr_sizes)
		m->by_size[m->nr_sizes++].bytes = i < MEASURES_SIZES ? bytes :
								       0;
	return &m->by_size[i];
}

bool measures_warming_up(const struct measures *m, uint64_t intended_ns)
{
	return intended_ns < m->begin_ns;
}

void measures_add(struct measures *m, const struct trace_request *request,
		  const struct measures_times *times, bool added)
{
	uint64_t sectors = request->bytes >> ALIGN_SECTOR_SHIFT;
	uint64_t sector = request->offset >> ALIGN_SECTOR_SHIFT;
	uint64_t ns = times->ended_ns - times->issued_ns;
	uint64_t lag = times->issued_ns - times->intended_ns;
	bool transfer = request->op == TRACE_READ || request->op == TRACE_WRITE;
	struct align_split split;

	if (measures_warming_up(m, times->intended_ns)) {
		m->warmup_requests += !added;
		return;
	}
	/* threads do not come in the order in which they looked at the clock */
	if (times->ended_ns > m->end_ns)
		m->end_ns = times->ended_ns;
	if (times->intended_ns - m->begin_ns >= m->last_intended_ns) {
		m->last_intended_ns = times->intended_ns - m->begin_ns;
		m->last_lag_ns = lag;
	}
	add_to(added ? &m->added : &m->service[request->op], ns);
	if (!added) {
		m->requests++;
		show_in_time(m, ns);
	}
	if (m->response) {
		histogram_add(m->response,
			      times->ended_ns - times->intended_ns);
		histogram_add(m->lag, lag);
	}
	take_sample(m, transfer ? request->bytes : 0);
	if (!transfer)
		return;
	m->bytes += request->bytes;
	add_to(&size_of(m, request->bytes)->service, ns);
	/* how a write lies on blocks is said of whole sectors */
	if (request->op != TRACE_WRITE || !m->geometry ||
	    (request->offset | request->bytes) % ALIGN_SECTOR_SIZE)
		return;
	align_split_write(m->geometry, sector, sectors, &split);
	add_to(&m->by_class[split.class], ns);
	add_to(&m->by_phase[align_phase_bin(m->geometry, sector)], ns);
}

void measures_pause(struct measures *m, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns <= m->begin_ns)
		return;
	if (begin_ns < m->begin_ns)
		begin_ns = m->begin_ns;
	m->pauses++;
	m->pause_ns += end_ns - begin_ns;
}

void measures_end(struct measures *m)
{
	uint64_t seconds = (m->end_ns - m->begin_ns) / NS_PER_S;

	while (m->samples.second < seconds)
		end_second(&m->samples);
}

double measures_wall_s(const struct measures *m)
{
	return ns_to_s(m->end_ns - m->begin_ns);
}

struct histogram *measures_service(const struct measures *m)
{
	struct histogram *all = histogram_new();
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (m->service[i])
			histogram_merge(all, m->service[i]);
	return all;
}

int measures_write(const struct measures *m, const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;
	int wrong;

	if (file) {
		fputs("# alignctl histogram 1\n"
		      "# Nanoseconds; 128 bins for each power of two.\n"
		      "# NAME LOW HIGH COUNT: COUNT times, from LOW to HIGH. Add counts of equal\n"
		      "# NAME, LOW and HIGH to merge files.\n", file);
		for (i = 0; i < TRACE_NR_OPS; i++) {
			CLEANUP_FREE char *name =
				message_format("service-%s", trace_op_names[i]);

			if (m->service[i])
				histogram_write(m->service[i], name, file);
		}
		/* lines of the same name are added up */
		if (m->added)
			histogram_write(m->added, "service-flush", file);
		if (m->response) {
			histogram_write(m->response, "response", file);
			histogram_write(m->lag, "lag", file);
		}
		wrong = ferror(file);
		if (!fclose(file) && !wrong)
			return ALIGNCTL_FINE;
	}
	message_error("%s: %s", path, strerror(errno));
	return ALIGNCTL_IO;
}
