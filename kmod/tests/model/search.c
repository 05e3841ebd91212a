// SPDX-License-Identifier: GPL-2.0
/*
 * Visits every state of the model (see engine.c), breadth first, so that the path
 * to the first violation is a shortest one.
 *
 * A state that was seen is remembered by 64 bits of hash and the event that led
 * there; a path is found by going through its events again. Two states of n may
 * share a hash with a probability below n * n / 2^65, which is printed; then one
 * of them would be taken for visited.
 *
 * Whether a state comes to rest by itself is told afterwards, from the ends of
 * all paths back.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "search.h"

void *renew(void *memory, size_t nr, size_t size)
{
	const size_t huge = 2 << 20;
	uintptr_t from;

	memory = reallocarray(memory, nr, size);
	if (!memory) {
		fprintf(stderr, "engine_model: no memory for %zu times %zu bytes: set --max-states lower\n",
			nr, size);
		exit(EXIT_LIMIT);
	}
	/* States are looked for all over it, each time with a miss of the TLB. */
	from = ((uintptr_t)memory + huge - 1) & ~(huge - 1);
	if ((uintptr_t)memory + nr * size >= from + huge)
		madvise((void *)from, (uintptr_t)memory + nr * size - from, MADV_HUGEPAGE);
	return memory;
}

/* A state that was seen. */
struct seen {
	uint64_t hash;
	uint32_t parent;
	struct event event;
	bool quiet;	/* or comes to rest by itself */
};

/* A successor of the state that is expanded. */
struct found {
	uint64_t hash;
	struct event event;
	bool environment;
	struct state state;
};

struct queue {
	struct state *states;
	uint32_t *numbers;
	size_t nr;
	size_t room;
};

static struct {
	struct seen *seen;
	size_t nr;
	size_t room;
	uint32_t *table;	/* numbers of seen states and 1, by hash */
	size_t table_size;
	/* Successors that need nobody outside, state by state. */
	uint32_t *edges;
	size_t nr_edges;
	size_t edges_room;
	uint64_t *first_edge;
	size_t first_edge_room;
	struct queue now;
	struct queue later;
	struct found *found;
	size_t nr_found;
	size_t found_room;
	uint64_t transitions;
} s;

/*
 * NH, as in UMAC: for keys drawn at random two states share the sum of products
 * with a probability of 2^-64. Each product stands alone, so that the processor
 * works on many at once.
 */
static uint64_t hash_state(const struct state *state)
{
	enum { WORDS = sizeof(*state) / sizeof(uint64_t) };
	static uint64_t keys[WORDS];
	unsigned __int128 sum = 0;
	uint64_t words[WORDS], hash;
	size_t i;

	_Static_assert(sizeof(*state) % (2 * sizeof(*words)) == 0, "pairs of whole words");
	for (i = 0, hash = 0; !keys[WORDS - 1]; i++) {
		hash += 0x9e3779b97f4a7c15;
		keys[i] = mix(hash);
	}
	memcpy(words, state, sizeof(words));
	for (i = 0; i < WORDS; i += 2)
		sum += (unsigned __int128)(words[i] + keys[i]) * (words[i + 1] + keys[i + 1]);
	return mix(mix(sum) ^ (uint64_t)(sum >> 64));
}

static void grow_table(void)
{
	size_t size = s.table_size ? 2 * s.table_size : 1 << 16;
	size_t i, at;

	free(s.table);
	s.table = renew(NULL, size, sizeof(*s.table));
	memset(s.table, 0, size * sizeof(*s.table));
	s.table_size = size;
	for (i = 0; i < s.nr; i++) {
		for (at = s.seen[i].hash & (size - 1); s.table[at];)
			at = (at + 1) & (size - 1);
		s.table[at] = i + 1;
	}
}

static void enqueue(struct queue *queue, const struct state *state, uint32_t number)
{
	if (queue->nr == queue->room) {
		queue->room = queue->room ? 2 * queue->room : 1024;
		queue->states = renew(queue->states, queue->room, sizeof(*queue->states));
		queue->numbers = renew(queue->numbers, queue->room, sizeof(*queue->numbers));
	}
	queue->states[queue->nr] = *state;
	queue->numbers[queue->nr++] = number;
}

/* Return: the number of a state, which is queued if it is new. */
static uint32_t visit(const struct state *state, uint64_t hash, uint32_t parent, struct event event)
{
	size_t at;

	if (2 * s.nr >= s.table_size)
		grow_table();
	for (at = hash & (s.table_size - 1); s.table[at]; at = (at + 1) & (s.table_size - 1))
		if (s.seen[s.table[at] - 1].hash == hash)
			return s.table[at] - 1;
	if (s.nr == s.room) {
		s.room = s.room ? 2 * s.room : 1024;
		s.seen = renew(s.seen, s.room, sizeof(*s.seen));
	}
	s.seen[s.nr] = (struct seen) {
		.hash = hash, .parent = parent, .event = event, .quiet = model_is_quiet(state) };
	s.table[at] = ++s.nr;
	enqueue(&s.later, state, s.nr - 1);
	return s.nr - 1;
}

static void add_edge(uint32_t to)
{
	if (s.nr_edges == s.edges_room) {
		s.edges_room = s.edges_room ? 2 * s.edges_room : 4096;
		s.edges = renew(s.edges, s.edges_room, sizeof(*s.edges));
	}
	s.edges[s.nr_edges++] = to;
}

/* Looked for only when all are there, so that the memory of each has the time of the others to come. */
static void successor(const struct state *next, struct event event, bool environment)
{
	struct found *found;

	if (s.nr_found == s.found_room) {
		s.found_room = s.found_room ? 2 * s.found_room : 64;
		s.found = renew(s.found, s.found_room, sizeof(*s.found));
	}
	found = &s.found[s.nr_found++];
	found->hash = hash_state(next);
	found->event = event;
	found->environment = environment;
	found->state = *next;
	__builtin_prefetch(&s.table[found->hash & (s.table_size - 1)]);
}

static void visit_found(uint32_t parent)
{
	const struct found *found;
	uint32_t number;
	size_t i;

	for (i = 0; i < s.nr_found; i++) {
		number = s.table[s.found[i].hash & (s.table_size - 1)];
		if (number)
			__builtin_prefetch(&s.seen[number - 1]);
	}
	for (i = 0; i < s.nr_found; i++) {
		found = &s.found[i];
		number = visit(&found->state, found->hash, parent, found->event);
		if (!found->environment)
			add_edge(number);
	}
	s.transitions += s.nr_found;
	s.nr_found = 0;
}

static void set_first_edge(uint32_t number)
{
	if (number + 1 >= s.first_edge_room) {
		s.first_edge_room = s.first_edge_room ? 2 * s.first_edge_room : 4096;
		s.first_edge = renew(s.first_edge, s.first_edge_room, sizeof(*s.first_edge));
	}
	s.first_edge[number] = s.nr_edges;
}

static const char *mode_names[] = { "report", "pad", "coalesce" };

void print_scenario(FILE *out, const struct scenario *scenario)
{
	unsigned int i;

	for (i = 0; i < scenario->nr_requests; i++)
		fprintf(out, "%s%s", i ? " " : "", request_kinds[scenario->kind[i]].name);
	fprintf(out, ", mode");
	for (i = 0; i < scenario->nr_modes; i++)
		fprintf(out, "%s %s", i ? " ->" : "", mode_names[scenario->modes[i]]);
	fprintf(out, ", failures %u, memory changes %u, suspends %u, drops %u, forgets %u, max_blocks %u%s%s",
		scenario->failures, scenario->memory_changes, scenario->suspends, scenario->drops,
		scenario->forgets, scenario->max_blocks, scenario->stream ? ", stream" : "",
		scenario->max_run == 1 ? ", no runs" : "");
}

/* The shortest path to a state, and one event more if @last is one. */
static void print_path(const struct scenario *scenario, uint32_t number, const struct event *last,
		       const char *what)
{
	struct event *path = NULL;
	struct state before, after;
	size_t nr = 0, i;
	uint32_t at;

	for (at = number; at; at = s.seen[at].parent)
		nr++;
	path = renew(path, nr + 1, sizeof(*path));
	for (at = number, i = nr; at; at = s.seen[at].parent)
		path[--i] = s.seen[at].event;
	if (last)
		path[nr++] = *last;

	printf("scenario: ");
	print_scenario(stdout, scenario);
	printf("\nVIOLATION after %zu events: %s\n", nr, what);
	model_init(scenario, &before);
	for (i = 0; i < nr; i++) {
		model_apply(&before, path[i], &after);
		printf("  %2zu  ", i + 1);
		model_print_event(stdout, path[i]);
		printf("\n");
		model_print_state(stdout, &before, &after);
		before = after;
	}
	printf("      => %s\n", what);
	free(path);
}

/* Return: the number of a state that never comes to rest by itself, or s.nr. */
static size_t find_restless(void)
{
	bool changed = true;
	size_t i;
	uint64_t edge;

	/* Most events lead to states that were found later. */
	while (changed) {
		changed = false;
		for (i = s.nr; i-- > 0;) {
			if (s.seen[i].quiet)
				continue;
			for (edge = s.first_edge[i]; edge < s.first_edge[i + 1]; edge++) {
				if (!s.seen[s.edges[edge]].quiet)
					continue;
				s.seen[i].quiet = true;
				changed = true;
				break;
			}
		}
	}
	for (i = 0; i < s.nr && s.seen[i].quiet; i++)
		;
	return i;
}

static void forget_all(void)
{
	s.nr = 0;
	s.nr_edges = 0;
	s.now.nr = 0;
	s.later.nr = 0;
	s.nr_found = 0;
	s.transitions = 0;
	/* Most sets are small: the table of a large one is not cleared for each. */
	s.table_size = 0;
	grow_table();
}

struct result search(const struct scenario *scenario, size_t max_states, bool silent)
{
	struct result result = { .status = EXIT_CLEAN };
	const char *what;
	struct queue swap;
	struct state first;
	size_t i;

	forget_all();
	model_init(scenario, &first);
	visit(&first, hash_state(&first), 0, (struct event) { 0 });
	for (; s.later.nr; result.depth++) {
		swap = s.now;
		s.now = s.later;
		s.later = swap;
		s.later.nr = 0;
		for (i = 0; i < s.now.nr; i++) {
			set_first_edge(s.now.numbers[i]);
			what = model_expand(&s.now.states[i], successor);
			if (what) {
				if (!silent)
					print_path(scenario, s.now.numbers[i],
						   &s.found[s.nr_found - 1].event, what);
				result.status = EXIT_VIOLATION;
				goto out;
			}
			visit_found(s.now.numbers[i]);
			if (s.nr > max_states) {
				result.status = EXIT_LIMIT;
				if (silent)
					goto out;
				fprintf(stderr, "engine_model: more than %zu states (--max-states): ", max_states);
				print_scenario(stderr, scenario);
				fprintf(stderr, "\n");
				goto out;
			}
		}
	}
	set_first_edge(s.nr);
	i = find_restless();
	if (i < s.nr) {
		if (!silent)
			print_path(scenario, i, NULL, "deadlock: by itself this never comes to rest");
		result.status = EXIT_VIOLATION;
	}
out:
	result.states = s.nr;
	result.transitions = s.transitions;
	return result;
}
