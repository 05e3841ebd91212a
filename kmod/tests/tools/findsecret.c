// SPDX-License-Identifier: GPL-2.0
/*
 * findsecret: read 16 secret bytes from standard input and search all readable
 * files below the given paths for them: as bytes, as hexadecimal digits in
 * either order of bytes, and as decimal numbers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY		65534
#define SECRET		16
#define FORMS_MAX	16
#define FILE_MAX	(4 << 20)	/* bytes searched per file */

enum { EXIT_NOT_FOUND, EXIT_FOUND, EXIT_USAGE, EXIT_IO };

static struct form {
	char bytes[64];
	size_t length;
} forms[FORMS_MAX];

static unsigned int nr_forms, hits;
static uint64_t nr_files, nr_bytes;
static char content[FILE_MAX];

__attribute__((format(printf, 1, 2)))
static void add_form(const char *format, ...)
{
	struct form *form = &forms[nr_forms++];
	va_list args;

	va_start(args, format);
	form->length = (size_t)vsnprintf(form->bytes, sizeof(form->bytes),
					 format, args);
	va_end(args);
}

static void make_forms(const unsigned char *secret)
{
	unsigned int half, i;

	memcpy(forms[nr_forms].bytes, secret, SECRET / 2);
	forms[nr_forms++].length = SECRET / 2;
	for (half = 0; half < SECRET; half += 8) {
		const unsigned char *b = secret + half;
		uint64_t number = 0;

		for (i = 8; i-- > 0; )
			number = number << 8 | b[i];
		add_form("%02x%02x%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
			 b[3], b[4], b[5], b[6], b[7]);
		add_form("%02X%02X%02X%02X%02X%02X%02X%02X", b[0], b[1], b[2],
			 b[3], b[4], b[5], b[6], b[7]);
		add_form("%02x %02x %02x %02x %02x %02x %02x %02x", b[0], b[1],
			 b[2], b[3], b[4], b[5], b[6], b[7]);
		add_form("%016" PRIx64, number);
		add_form("%" PRIu64, number);
	}
}

static void search(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t used = 0;
	unsigned int i;
	ssize_t got;

	if (fd < 0)
		return;
	/* /dev/kmsg returns one record each time, and EPIPE for a lost one */
	while (used < sizeof(content) &&
	       ((got = read(fd, content + used, sizeof(content) - used)) > 0 ||
		(got < 0 && errno == EPIPE)))
		used += got > 0 ? (size_t)got : 0;
	close(fd);
	nr_files += used > 0;
	nr_bytes += used;
	for (i = 0; i < nr_forms; i++) {
		if (!memmem(content, used, forms[i].bytes, forms[i].length))
			continue;
		printf("FOUND: %s\n", path);
		hits++;
		return;
	}
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)ftw;
	if ((type == FTW_F && (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode))) ||
	    !strcmp(path, "/dev/kmsg"))
		search(path);
	return 0;
}

int main(int argc, char **argv)
{
	bool user = argc > 1 && !strcmp(argv[1], "--user");
	unsigned char secret[SECRET];
	int i;

	if (argc < 2 + user) {
		fputs("usage: findsecret [--user] PATH... <SECRET\n"
		      "--user: as an ordinary user\n"
		      "Exit status: 0 not found, 1 found, 2 usage, 3 I/O error.\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (read(STDIN_FILENO, secret, SECRET) != SECRET) {
		fprintf(stderr, "standard input: needs the secret's %u bytes\n",
			SECRET);
		return EXIT_USAGE;
	}
	if (user && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))) {
		fprintf(stderr, "cannot become an ordinary user: %s; run it as root\n",
			strerror(errno));
		return EXIT_IO;
	}
	make_forms(secret);
	for (i = 1 + user; i < argc; i++)
		nftw(argv[i], visit, 32, FTW_PHYS);
	printf("files=%" PRIu64 " bytes=%" PRIu64 " found=%u\n", nr_files,
	       nr_bytes, hits);
	return hits ? EXIT_FOUND : EXIT_NOT_FOUND;
}
