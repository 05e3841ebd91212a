// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounds.h"
#include "machine.h"

/* Bytes of memory that belong to one object. */
#define GRAIN		32U
#define GRAINS		(MACHINE_ARENA_BYTES / GRAIN)
#define MOST_OBJECTS	(1U << 22)
#define MOST_KINDS	64U
#define MOST_SECTIONS	(3 * MACHINE_CPUS)
#define MOST_ROWS	512U
#define SLOTS		(1U << 13)

/* An object: the kind of memory, and where it begins. */
struct object {
	unsigned int kind;
	uintptr_t at;
};

/**
 * struct section - a thread with locks held and interrupts off
 * @thread: the thread; NULL: the section has ended
 * @place: where the first lock was taken
 * @nr: visited objects, by kind
 * @walker: code that visited the first object too many
 * @slot: the visited objects, where @step is @steps
 */
struct section {
	const struct thread *thread;
	const void *place;
	unsigned int nr[MOST_KINDS];
	const void *walker[MOST_KINDS];
	unsigned int slot[SLOTS];
	unsigned int step[SLOTS], steps;
};

/* The most objects of a kind that a walker has visited in a section. */
struct row {
	const char *kind, *place, *walker;
	unsigned int most;
};

/* The object at a grain of memory; 0: none. */
static unsigned int *grains;
static struct object objects[MOST_OBJECTS];
static unsigned int nr_objects;
static const char *kinds[MOST_KINDS];
static unsigned int nr_kinds;
static struct section sections[MOST_SECTIONS];
static unsigned int nr_sections;
static struct row rows[MOST_ROWS];
static unsigned int nr_rows;

/* A function of this program. */
struct symbol {
	uintptr_t from, to;
	const char *name;
};

static struct symbol *symbols;
static size_t nr_symbols;

static void fail(const char *what)
{
	fprintf(stderr, "sim: bounds: %s\n", what);
	exit(2);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/* Keep the functions of a table, by address. */
static void keep_symbols(const char *file, const Elf64_Shdr *table,
			 const char *names)
{
	const Elf64_Sym *symbol = (const Elf64_Sym *)(file + table->sh_offset);
	size_t nr = table->sh_size / sizeof(*symbol), i;

	symbols = calloc(nr, sizeof(*symbols));
	for (i = 0; i < nr; i++)
		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC)
			symbols[nr_symbols++] = (struct symbol) {
				symbol[i].st_value,
				symbol[i].st_value + symbol[i].st_size,
				names + symbol[i].st_name,
			};
	qsort(symbols, nr_symbols, sizeof(*symbols), compare_symbols);
}

/* Read the functions of this program. */
static void read_symbols(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat about;
	const char *file;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *section;
	unsigned int i;

	if (fd < 0 || fstat(fd, &about))
		fail("/proc/self/exe cannot be read");
	file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		fail("/proc/self/exe cannot be read");
	close(fd);
	head = (const Elf64_Ehdr *)file;
	section = (const Elf64_Shdr *)(file + head->e_shoff);
	for (i = 0; i < head->e_shnum; i++)
		if (section[i].sh_type == SHT_SYMTAB)
			keep_symbols(file, &section[i], file +
				     section[section[i].sh_link].sh_offset);
}

/* Return the name of the function around a return address. */
static const char *name_of(const void *within)
{
	uintptr_t at = (uintptr_t)within - 1;
	size_t low = 0, high;

	if (!symbols)
		read_symbols();
	high = nr_symbols;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (symbols[middle].from <= at)
			low = middle;
		else
			high = middle;
	}
	return high && at < symbols[low].to ? symbols[low].name : "unknown";
}

/* Return the kind of the objects that a function allocates. */
static const char *content_of(const char *maker)
{
	static const char *const contents[][2] = {
		{ "block_alloc", "blocks" },
		/* A bio of device-mapper's, with the target's data of it. */
		{ "map", "requests" },
		{ "request_send", "bios" },
	};
	size_t i;

	for (i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
		if (!strcmp(maker, contents[i][0]))
			return contents[i][1];
	return maker;
}

static unsigned int kind_of(const void *maker)
{
	const char *name = content_of(name_of(maker));
	unsigned int i;

	for (i = 0; i < nr_kinds; i++)
		if (kinds[i] == name)
			return i;
	if (nr_kinds == MOST_KINDS)
		fail("too many functions allocate memory");
	kinds[nr_kinds] = name;
	return nr_kinds++;
}

static unsigned int *grain_of(const void *memory)
{
	uintptr_t at = (uintptr_t)memory - (uintptr_t)MACHINE_ARENA_AT;

	return at < MACHINE_ARENA_BYTES ? &grains[at / GRAIN] : NULL;
}

/* Objects that were freed keep their numbers, as a section may have visited them. */
void bounds_allocated(const void *memory, size_t bytes, const void *maker)
{
	unsigned int *grain = grain_of(memory);
	size_t i;

	if (++nr_objects == MOST_OBJECTS)
		fail("too many objects");
	objects[nr_objects] = (struct object) {
		kind_of(maker), (uintptr_t)memory,
	};
	for (i = 0; i * GRAIN < bytes; i++)
		grain[i] = nr_objects;
}

void bounds_freed(const void *memory)
{
	unsigned int *grain = grain_of(memory);
	unsigned int object = *grain;

	for (; object && *grain == object; grain++)
		*grain = 0;
}

void bounds_reset(void)
{
	if (!grains)
		grains = mmap(NULL, GRAINS * sizeof(*grains),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	else if (madvise(grains, GRAINS * sizeof(*grains), MADV_DONTNEED))
		fail("memory cannot be dropped");
	if (grains == MAP_FAILED)
		fail("there is no memory");
	nr_objects = 0;
	memset(sections, 0, sizeof(sections));
	nr_sections = 0;
}

static struct section *section_of(const struct thread *thread)
{
	unsigned int i;

	for (i = 0; i < nr_sections; i++)
		if (sections[i].thread == thread)
			return &sections[i];
	return NULL;
}

void bounds_begin(const void *place)
{
	struct section *section;

	if ((!machine_current->irqs_off &&
	     machine_current->context != CONTEXT_HARDIRQ) ||
	    section_of(machine_current))
		return;
	section = section_of(NULL);
	if (!section) {
		if (nr_sections == MOST_SECTIONS)
			machine_fail("more than %u threads hold locks",
				     MOST_SECTIONS);
		section = &sections[nr_sections++];
	}
	section->thread = machine_current;
	section->place = place;
	memset(section->nr, 0, sizeof(section->nr));
	section->steps++;
}

/* Find or add the row of a kind, a place and a walker. */
static struct row *row_of(const char *kind, const char *place,
			  const char *walker)
{
	unsigned int i;

	for (i = 0; i < nr_rows; i++)
		if (rows[i].kind == kind && rows[i].place == place &&
		    rows[i].walker == walker)
			return &rows[i];
	if (nr_rows == MOST_ROWS)
		fail("too many places");
	rows[nr_rows] = (struct row) { kind, place, walker, 0 };
	return &rows[nr_rows++];
}

void bounds_end(void)
{
	struct section *section = section_of(machine_current);
	unsigned int i;

	if (!section)
		return;
	section->thread = NULL;
	for (i = 0; i < nr_kinds; i++) {
		struct row *row;

		if (section->nr[i] <= BOUNDS_MOST)
			continue;
		row = row_of(kinds[i], name_of(section->place),
			     name_of(section->walker[i]));
		if (section->nr[i] > row->most)
			row->most = section->nr[i];
	}
}

static bool is_link(const struct object *object, uintptr_t at)
{
	const struct bounds_link *link;

	if (strcmp(kinds[object->kind], "blocks"))
		return false;
	for (link = bounds_links; link->to; link++)
		if (at - object->at >= link->from && at - object->at < link->to)
			return true;
	return false;
}

static void visit(struct section *section, unsigned int object,
		  const void *walker)
{
	unsigned int kind = objects[object].kind;
	unsigned int at = object * 0x9e3779b1U % SLOTS;

	while (section->step[at] == section->steps) {
		if (section->slot[at] == object)
			return;
		at = (at + 1) % SLOTS;
	}
	section->step[at] = section->steps;
	section->slot[at] = object;
	if (++section->nr[kind] == BOUNDS_MOST + 1)
		section->walker[kind] = walker;
	if (section->nr[kind] == SLOTS / 2)
		fail("too many objects are visited");
}

static void note(const void *memory, const void *walker)
{
	struct section *section;
	unsigned int *grain;

	if (!nr_sections)
		return;
	grain = grain_of(memory);
	if (!grain || !*grain)
		return;
	section = section_of(machine_current);
	if (section && !is_link(&objects[*grain], (uintptr_t)memory))
		visit(section, *grain, walker);
}

void bounds_tell(void)
{
	unsigned int i;

	for (i = 0; i < nr_rows; i++)
		printf("bounds: in %s, %s visits %u %s\n", rows[i].place,
		       rows[i].walker, rows[i].most, rows[i].kind);
}

/* The hooks that the compiler calls. */
#define ACCESS(name) \
	void __tsan_##name(const void *at); \
	void __tsan_##name(const void *at) \
	{ \
		note(at, __builtin_return_address(0)); \
	}

ACCESS(read1)
ACCESS(read2)
ACCESS(read4)
ACCESS(read8)
ACCESS(read16)
ACCESS(write1)
ACCESS(write2)
ACCESS(write4)
ACCESS(write8)
ACCESS(write16)
ACCESS(unaligned_read2)
ACCESS(unaligned_read4)
ACCESS(unaligned_read8)
ACCESS(unaligned_read16)
ACCESS(unaligned_write2)
ACCESS(unaligned_write4)
ACCESS(unaligned_write8)
ACCESS(unaligned_write16)

void __tsan_init(void);
void __tsan_init(void)
{
}

#define RANGE(name) \
	void __tsan_##name(const void *at, size_t bytes); \
	void __tsan_##name(const void *at, size_t bytes) \
	{ \
		(void)bytes; \
		note(at, __builtin_return_address(0)); \
	}

RANGE(read_range)
RANGE(write_range)
