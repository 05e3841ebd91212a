// SPDX-License-Identifier: GPL-2.0
/*
 * sysfsread: read all files of /sys/block/dm-N/align as an ordinary user, again
 * and again, in random order, until SIGTERM, while another process changes the
 * device. A file may be gone; otherwise its content must have the right form.
 * Each file that exists at the start must be read at least once.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOBODY		65534
#define FILES_MAX	512
#define TEXT_MAX	4096
#define REPORTS		20

enum { EXIT_CLEAN, EXIT_FINDINGS, EXIT_USAGE, EXIT_IO };

static struct file {
	char name[256];
	uint64_t reads;
} files[FILES_MAX];

static unsigned int nr_files, findings;
static uint64_t gone;
static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static void found(const char *name, const char *what, const char *detail)
{
	if (++findings <= REPORTS)
		fprintf(stderr, "FINDING: %s: %s%s\n", name, what, detail);
}

static bool ends(const char *name, const char *with)
{
	size_t length = strlen(name), tail = strlen(with);

	return length >= tail && !strcmp(name + length - tail, with);
}

/* Step over a decimal number of at most 20 digits, if there is one. */
static bool number(const char **at)
{
	size_t digits = strspn(*at, "0123456789");

	*at += digits;
	return digits && digits <= 20;
}

/* Return whether @text, one complete line, has the form for file @name. */
static bool good(const char *name, const char *text)
{
	const char *at = text;

	if (!strncmp(name, "target", 6) && ends(name, "_mode"))
		return !strcmp(text, "report") || !strcmp(text, "pad") ||
		       !strcmp(text, "coalesce");
	if (ends(name, "_alignment_offset") && !strcmp(text, "unknown"))
		return true;
	if (!number(&at))
		return false;
	if (ends(name, "_histogram"))
		while (*at == ' ' && (at++, number(&at)))
			;
	else if (!strncmp(name, "target", 6) && ends(name, "_device"))
		return *at++ == ':' && number(&at) && !*at;
	return !*at;
}

/* Read an open file once; return false if it is gone. */
static bool check(struct file *file, int fd)
{
	char text[TEXT_MAX + 1];
	ssize_t got = pread(fd, text, TEXT_MAX, 0);

	if (got < 0) {
		if (errno == ENODEV)
			gone++;
		else
			found(file->name, "reading: ", strerror(errno));
		return false;
	}
	text[got] = '\0';
	if (!got || text[got - 1] != '\n' || strlen(text) != (size_t)got) {
		found(file->name, "is not one line: ", text);
		return true;
	}
	text[got - 1] = '\0';
	if (good(file->name, text))
		file->reads++;
	else
		found(file->name, "holds: ", text);
	return true;
}

static void read_file(const char *folder, struct file *file)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT || errno == ENODEV)
			gone++;
		else
			found(file->name, "opening: ", strerror(errno));
		return;
	}
	/* the second read is of a file that may have been removed meanwhile */
	if (check(file, fd))
		check(file, fd);
	close(fd);
}

static void list_files(const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)) && nr_files < FILES_MAX)
		if (entry->d_name[0] != '.')
			snprintf(files[nr_files++].name, sizeof(files[0].name),
				 "%s", entry->d_name);
	if (!nr_files) {
		fprintf(stderr, "%s: no files: %s\n", folder, strerror(errno));
		exit(EXIT_IO);
	}
	closedir(dir);
}

static void shuffle(unsigned int *order)
{
	unsigned int i;

	for (i = nr_files; i > 1; i--) {
		unsigned int j = (unsigned int)rand() % i, swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
}

int main(int argc, char **argv)
{
	unsigned int order[FILES_MAX], i;
	uint64_t reads = 0, rounds = 0, fewest;
	const char *folder;

	if (argc != 2) {
		fputs("usage: sysfsread FOLDER\n", stderr);
		return EXIT_USAGE;
	}
	folder = argv[1];
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)) {
		fprintf(stderr, "cannot become an ordinary user: %s; run it as root\n",
			strerror(errno));
		return EXIT_IO;
	}
	list_files(folder);
	for (i = 0; i < nr_files; i++)
		order[i] = i;
	signal(SIGTERM, end);
	while (!over) {
		shuffle(order);
		for (i = 0; i < nr_files; i++)
			read_file(folder, &files[order[i]]);
		rounds++;
	}
	fewest = files[0].reads;
	for (i = 0; i < nr_files; i++) {
		reads += files[i].reads;
		if (files[i].reads < fewest)
			fewest = files[i].reads;
		if (!files[i].reads)
			found(files[i].name, "was never read", "");
	}
	printf("files=%u rounds=%" PRIu64 " reads=%" PRIu64 " fewest=%" PRIu64
	       " gone=%" PRIu64 " findings=%u\n", nr_files, rounds, reads,
	       fewest, gone, findings);
	return findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
