// SPDX-License-Identifier: GPL-2.0
/*
 * Parse, encode and edit aligntab, under a lock and by replacing the file as a
 * whole.
 */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "mapped/dm.h"
#include "sysfs/dm_name.h"
#include "sysfs/sysfs.h"

#define BLANKS	" \t"

/* The ways to name a device but by its path, and the folders of udev's links. */
static const struct {
	const char *tag;
	const char *folder;
} ways[ALIGNTAB_PATH] = {
	[ALIGNTAB_UUID] = { "UUID=", "/dev/disk/by-uuid/" },
	[ALIGNTAB_LABEL] = { "LABEL=", "/dev/disk/by-label/" },
	[ALIGNTAB_PARTUUID] = { "PARTUUID=", "/dev/disk/by-partuuid/" },
	[ALIGNTAB_PARTLABEL] = { "PARTLABEL=", "/dev/disk/by-partlabel/" },
	[ALIGNTAB_ID] = { "ID=", "/dev/disk/by-id/" },
};

char *aligntab_path(void)
{
	return sysfs_path(ALIGNTAB_FILE);
}

bool aligntab_off(void)
{
	CLEANUP_FREE char *dir = sysfs_path("/proc");
	CLEANUP_FREE char *words = sysfs_text(dir, "cmdline");
	char *rest = words, *word;
	bool off = false;

	while (rest && (word = strsep(&rest, " \n")))
		if (!strncmp(word, "aligntab=", strlen("aligntab=")))
			off = !strcmp(word + strlen("aligntab="), "no");
	return off;
}

static void free_line(struct aligntab_line *line)
{
	free(line->name);
	free(line->kernel_name);
	free(line->device);
	free(line->value);
	free(line->text);
}

void aligntab_free(struct aligntab *tab)
{
	while (tab->nr)
		free_line(&tab->line[--tab->nr]);
	free(tab->line);
	memset(tab, 0, sizeof(*tab));
}

const struct aligntab_line *aligntab_find(const struct aligntab *tab,
					  const char *name)
{
	CLEANUP_FREE char *kernel_name = dm_kernel_name(name);
	size_t i;

	for (i = 0; i < tab->nr; i++)
		if (!strcmp(tab->line[i].kernel_name, kernel_name))
			return &tab->line[i];
	return NULL;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/*
 * Return a field with each "\NNN" replaced by the byte of that octal number,
 * for free(); NULL: one is 0, which would end the text. Any other backslash
 * stays, as in fstab.
 */
static char *decode_field(const char *field)
{
	char *text = memory_or_exit(malloc(strlen(field) + 1)), *to = text;

	while (*field) {
		if (*field == '\\' && field[1] >= '0' && field[1] <= '3' &&
		    is_octal(field[2]) && is_octal(field[3])) {
			*to++ = (char)((field[1] - '0') << 6 |
				       (field[2] - '0') << 3 |
				       (field[3] - '0'));
			field += 4;
		} else {
			*to++ = *field++;
		}
	}
	*to = '\0';
	if (strlen(text) == (size_t)(to - text))
		return text;
	free(text);
	return NULL;
}

/* Return a word as decode_field() reads it back, for free(). */
static char *encode_word(const char *word)
{
	char *text = memory_or_exit(malloc(4 * strlen(word) + 1)), *to = text;

	for (; *word; word++) {
		unsigned char c = *word;

		if (c <= ' ' || c == 0x7f || c == '\\' || c == '#')
			to += sprintf(to, "\\%03o", c);
		else
			*to++ = *word;
	}
	*to = '\0';
	return text;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* Take a line's name. Return: NULL, or what is wrong with it. */
static const char *take_name(struct aligntab_line *line, const char *field)
{
	line->name = decode_field(field);
	if (!line->name || has_control(line->name))
		return "the name has a control character";
	line->kernel_name = dm_kernel_name(line->name);
	if (strchr(line->name, '/'))
		return "the name has a '/'";
	if (dm_name_reserved(line->name))
		return "the name is not a device's in /dev/mapper";
	return strlen(line->name) > DM_MAX_NAME ?
		"the name is longer than 127 bytes" : NULL;
}

/* Return a value with unusual bytes as udev writes them, for free(). */
static char *as_udev(const char *value)
{
	size_t room = 4 * strlen(value) + 1;
	char *text = memory_or_exit(calloc(1, room));

	blkid_encode_string(value, text, room);
	return text;
}

/* Remove the quotes that blkid prints around a value. */
static void unquote_value(char *value)
{
	size_t length = strlen(value);

	if (length < 2 || value[0] != '"' || value[length - 1] != '"')
		return;
	memmove(value, value + 1, length - 2);
	value[length - 2] = '\0';
}

/* Take a line's device. Return: NULL, or what is wrong with it. */
static const char *take_device(struct aligntab_line *line, const char *field)
{
	char *value;
	size_t i;

	line->device = decode_field(field);
	if (!line->device || has_control(line->device))
		return "the device has a control character";
	for (i = 0; i < ALIGNTAB_PATH; i++) {
		size_t tag = strlen(ways[i].tag);
		size_t folder = strlen(ways[i].folder);

		line->by = i;
		if (!strncmp(line->device, ways[i].tag, tag)) {
			value = line->device + tag;
			unquote_value(value);
			/* a name of a link is in udev's form already */
			line->value = i == ALIGNTAB_ID ?
				memory_or_exit(strdup(value)) : as_udev(value);
			return *value ? NULL : "the device has no value";
		}
		if (!strncmp(line->device, ways[i].folder, folder)) {
			value = line->device + folder;
			line->value = memory_or_exit(strdup(value));
			return *value ? NULL : "the device is a folder";
		}
	}
	line->by = ALIGNTAB_PATH;
	line->value = memory_or_exit(strdup(line->device));
	return *line->device == '/' ? NULL :
		"the device must be a path, UUID=, LABEL=, PARTUUID=, PARTLABEL= or ID=";
}

/* Take an option that has no value; false if there is none of that name. */
static bool take_flag(struct aligntab_line *line, const char *word)
{
	const struct { const char *name; bool *flag; } flags[] = {
		{ "nofail", &line->nofail }, { "noauto", &line->noauto },
		{ "_netdev", &line->netdev },
		{ "x-initrd.attach", &line->initrd },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(word, flags[i].name))
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

/*
 * Take what the device said, "4096+0" or, where it is nowhere aligned, "4096".
 * Return: NULL, or what it must be.
 */
static const char *take_claim(struct aligntab_claim *claim, const char *at)
{
	static const char wrong[] = "must be the physical block size and the alignment offset in bytes, as 4096+0";
	uint64_t physical, offset;

	*claim = (struct aligntab_claim) { 0 };
	if (!decimal_read(&at, UINT32_MAX, &physical) || !physical)
		return wrong;
	if (*at == '+') {
		at++;
		if (!decimal_read(&at, UINT32_MAX, &offset))
			return wrong;
		claim->offset = maybe_of((int64_t)offset);
	}
	claim->physical = maybe_of((int64_t)physical);
	return *at ? wrong : NULL;
}

/* Take one option. Return: NULL, or what is wrong with it. */
static const char *take_option(struct aligntab_line *line, char *word)
{
	char *value = strchr(word, '=');
	const char *at, *refusal;
	uint64_t seconds;
	size_t i;

	if (take_flag(line, word))
		return NULL;
	if (!value)
		return "unknown option";
	at = value + 1;
	if (!strncmp(word, "claimed=", strlen("claimed=")))
		return take_claim(&line->claim, at);
	if (!strncmp(word, "timeout=", strlen("timeout="))) {
		if (!decimal_read(&at, ALIGNTAB_TIMEOUT_MAX, &seconds) || *at)
			return "must be seconds, at most " OPTION_DIGITS(ALIGNTAB_TIMEOUT_MAX);
		line->timeout = seconds;
		return NULL;
	}
	for (i = 0; attach_settings[i].name; i++) {
		if (strncmp(attach_settings[i].name, word, value - word) ||
		    attach_settings[i].name[value - word])
			continue;
		refusal = attach_setting(i, at, &line->options);
		return refusal;
	}
	return "unknown option";
}

/*
 * Take a line's options, from @line->text. Return: NULL, or what is wrong with
 * one, which @wrong is set to.
 */
static const char *take_options(struct aligntab_line *line, const char **wrong)
{
	char *rest = line->text, *word;
	const char *refusal;

	if (!strcmp(rest, "-"))
		return NULL;
	while ((word = strsep(&rest, ","))) {
		refusal = *word ? take_option(line, word) : "empty option";
		*wrong = word;
		if (refusal)
			return refusal;
	}
	return NULL;
}

/* Report a wrong line. @object: what is wrong in it, or NULL */
static void wrong_line(const char *path, unsigned int number,
		       const char *object, const char *what)
{
	if (object && *object)
		message_error("%s:%u: %s: %s; the line is ignored", path,
			      number, object, what);
	else
		message_error("%s:%u: %s; the line is ignored", path, number,
			      what);
}

/* Check whether two lines name one device, as find_means() compares. */
static bool same_value(const struct aligntab_line *a,
		       const struct aligntab_line *b)
{
	return a->by == ALIGNTAB_UUID || a->by == ALIGNTAB_PARTUUID ?
		!strcasecmp(a->value, b->value) : !strcmp(a->value, b->value);
}

/* Find a line that takes the name or the device of @line; NULL: none does. */
static const struct aligntab_line *find_taken(const struct aligntab *tab,
					      const struct aligntab_line *line,
					      const char **what)
{
	size_t i;

	for (i = 0; i < tab->nr; i++) {
		const struct aligntab_line *other = &tab->line[i];

		*what = line->name;
		if (!strcmp(other->kernel_name, line->kernel_name))
			return other;
		*what = line->device;
		if (other->by == line->by && same_value(other, line))
			return other;
	}
	return NULL;
}

/*
 * Take the fields of a line; @text is changed. Return: NULL, or what is wrong
 * with @object; @line then owns what has been taken.
 */
static const char *take_fields(struct aligntab_line *line, char *text,
			       const char **object)
{
	char *rest = text, *field[4] = { NULL }, *word;
	const char *refusal;
	size_t nr = 0;

	*object = NULL;
	while (nr < 4 && (word = strsep(&rest, BLANKS)))
		if (*word)
			field[nr++] = word;
	*object = field[0];
	if (nr < 2)
		return "needs a name and a device";
	if (nr > 3)
		return "has more than three fields";
	refusal = take_name(line, field[0]);
	if (refusal)
		return refusal;
	*object = field[1];
	refusal = take_device(line, field[1]);
	if (refusal)
		return refusal;
	line->text = memory_or_exit(strdup(field[2] ? field[2] : "-"));
	refusal = take_options(line, object);
	attach_complete(&line->options);
	return refusal;
}

static void parse_line(struct aligntab *tab, const char *path, char *text,
		       unsigned int number, bool quiet)
{
	struct aligntab_line line = {
		.number = number, .timeout = ALIGNTAB_TIMEOUT,
		.options = { .unattended = true },
	};
	const struct aligntab_line *taken;
	CLEANUP_FREE char *duplicate = NULL;
	const char *object, *refusal;

	refusal = take_fields(&line, text, &object);
	if (!refusal && (taken = find_taken(tab, &line, &object))) {
		duplicate = message_format("already in line %u",
					   taken->number);
		refusal = duplicate;
	}
	if (!refusal && tab->nr >= ALIGNTAB_LINES_MAX) {
		object = line.name;
		refusal = "too many lines";
	}
	if (refusal) {
		tab->nr_wrong++;
		if (!quiet)
			wrong_line(path, number, object, refusal);
		free_line(&line);
		return;
	}
	*ARRAY_APPEND(tab->line, tab->nr) = line;
}

/* Check for bytes that no line has: NUL, carriage return and the like. */
static bool has_binary(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
		    text[i] == 0x7f)
			return true;
	return false;
}

void aligntab_parse(struct aligntab *tab, const char *path, const char *text,
		    size_t length, bool quiet)
{
	const char *end = text + length, *next;
	unsigned int number = 1;

	for (; text < end; text = next + 1, number++) {
		const char *wrong = NULL;
		size_t size, blank;

		next = memchr(text, '\n', end - text);
		if (!next)
			next = end;
		size = next - text;
		for (blank = 0; blank < size; blank++)
			if (text[blank] != ' ' && text[blank] != '\t')
				break;
		if (blank == size || text[blank] == '#')
			continue;
		if (size > ALIGNTAB_LINE_MAX)
			wrong = "longer than 4096 bytes";
		else if (has_binary(text, size))
			wrong = "has a control character";
		if (wrong) {
			tab->nr_wrong++;
			if (!quiet)
				wrong_line(path, number, NULL, wrong);
			continue;
		}
		CLEANUP_FREE char *copy = memory_or_exit(strndup(text, size));

		parse_line(tab, path, copy, number, quiet);
	}
}

/*
 * Read a file from its start. Return: the text, for free(), with a NUL behind
 * its @length bytes; NULL with errno if that fails or it is too large.
 */
static char *read_file(int fd, size_t *length)
{
	CLEANUP_FREE char *text = memory_or_exit(
		malloc(ALIGNTAB_BYTES_MAX + 2));
	size_t used = 0;
	ssize_t got;
	char *all;

	do {
		got = read(fd, text + used, ALIGNTAB_BYTES_MAX + 1 - used);
		if (got > 0)
			used += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		return NULL;
	if (used > ALIGNTAB_BYTES_MAX) {
		errno = EFBIG;
		return NULL;
	}
	text[used] = '\0';
	*length = used;
	all = text;
	text = NULL;
	return memory_or_exit(realloc(all, used + 1));
}

int aligntab_read(struct aligntab *tab, bool quiet)
{
	CLEANUP_FREE char *path = aligntab_path();
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP_FREE char *text = NULL;
	size_t length;

	memset(tab, 0, sizeof(*tab));
	if (fd < 0 && errno == ENOENT)
		return ALIGNCTL_FINE;
	if (fd >= 0)
		text = read_file(fd, &length);
	if (!text) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	aligntab_parse(tab, path, text, length, quiet);
	return ALIGNCTL_FINE;
}

char *aligntab_with(const char *path, const char *text, size_t *length,
		    const char *name, const char *device, const char *options)
{
	CLEANUP_FREE char *first = encode_word(name);
	CLEANUP_FREE char *second = encode_word(device);
	CLEANUP_FREE char *line = message_format("%s %s%s%s\n", first, second,
						 *options ? " " : "", options);
	bool open_end = *length && text[*length - 1] != '\n';
	size_t size = *length + open_end + strlen(line);
	char *all = memory_or_exit(malloc(size + 1));
	struct aligntab before = { 0 }, after = { 0 };
	bool good;

	memcpy(all, text, *length);
	if (open_end)
		all[*length] = '\n';
	strcpy(all + *length + open_end, line);
	/* no line of a larger file is read */
	if (size > ALIGNTAB_BYTES_MAX) {
		message_error("%s: has no room for another line; shorten the file, of which 1 MiB is read",
			      path);
		free(all);
		return NULL;
	}
	aligntab_parse(&before, path, text, *length, true);
	aligntab_parse(&after, path, all, size, true);
	good = after.nr == before.nr + 1 &&
	       after.nr_wrong == before.nr_wrong &&
	       !strcmp(after.line[after.nr - 1].name, name);
	aligntab_free(&before);
	aligntab_free(&after);
	if (!good) {
		/* once more, with the reason; the other lines were good or not */
		aligntab_parse(&after, path, all, size, false);
		aligntab_free(&after);
		free(all);
		return NULL;
	}
	*length = size;
	return all;
}

char *aligntab_without(const char *text, size_t *length, unsigned int number)
{
	const char *end = text + *length, *from = text, *to, *newline;
	char *all = memory_or_exit(malloc(*length + 1));

	while (--number && from < end) {
		newline = memchr(from, '\n', end - from);
		from = newline ? newline + 1 : end;
	}
	newline = memchr(from, '\n', end - from);
	to = newline ? newline + 1 : end;
	memcpy(all, text, from - text);
	memcpy(all + (from - text), to, end - to);
	*length -= to - from;
	all[*length] = '\0';
	return all;
}

/* A file that is being edited; the folder is locked against other editors. */
struct edit {
	char *path;		/* of the file itself, not of a link to it */
	char *folder;
	int folder_fd;
	bool exists;
	struct stat old;
	char *text;
	size_t length;
};

static void edit_end(struct edit *edit)
{
	if (edit->folder_fd >= 0)
		close(edit->folder_fd);
	free(edit->path);
	free(edit->folder);
	free(edit->text);
}

/* Report why a file cannot be changed. Return: ALIGNCTL_IO. */
static int edit_failed(const char *path)
{
	message_error("%s: cannot be changed: %s; the file stays as it was", path,
		      strerror(errno));
	return ALIGNCTL_IO;
}

/* What a new file begins with. */
static const char heading[] = "# NAME DEVICE [OPTION,...]; see aligntab(5)\n";

/* Lock the file's folder and read the file. Return: as aligntab_add(). */
static int edit_begin(struct edit *edit)
{
	CLEANUP_FREE char *link = aligntab_path();
	CLEANUP_FREE char *copy = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct stat found;

	memset(edit, 0, sizeof(*edit));
	edit->folder_fd = -1;
	edit->path = realpath(link, NULL);
	/* a link to nothing would be replaced by a file */
	if (!edit->path && !lstat(link, &found))
		return edit_failed(link);
	if (!edit->path)
		edit->path = memory_or_exit(strdup(link));
	copy = memory_or_exit(strdup(edit->path));
	edit->folder = memory_or_exit(strdup(dirname(copy)));
	edit->folder_fd = open(edit->folder,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (edit->folder_fd < 0 || flock(edit->folder_fd, LOCK_EX))
		return edit_failed(edit->path);
	fd = open(edit->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return edit_failed(edit->path);
	edit->exists = fd >= 0;
	edit->text = edit->exists ? NULL : memory_or_exit(strdup(heading));
	if (!edit->exists) {
		edit->length = strlen(edit->text);
		return ALIGNCTL_FINE;
	}
	if (!fstat(fd, &edit->old))
		edit->text = read_file(fd, &edit->length);
	return edit->text ? ALIGNCTL_FINE : edit_failed(edit->path);
}

/* Write a new file with the old one's mode and owner; false with errno. */
static bool write_new(const struct edit *edit, int fd, const char *text,
		      size_t length)
{
	size_t done = 0;
	ssize_t put;

	if (fchmod(fd, edit->exists ? edit->old.st_mode & 07777 : 0644))
		return false;
	if (edit->exists && fchown(fd, edit->old.st_uid, edit->old.st_gid))
		return false;
	while (done < length) {
		put = write(fd, text + done, length - done);
		if (put < 0 && errno != EINTR)
			return false;
		if (put > 0)
			done += put;
	}
	return !fsync(fd);
}

/* Replace the file by a new one with this text. Return: as aligntab_add(). */
static int edit_replace(const struct edit *edit, const char *text,
			size_t length)
{
	CLEANUP_FREE char *new = message_format("%s.XXXXXX", edit->path);
	CLEANUP_CLOSE int fd = mkostemp(new, O_CLOEXEC);

	if (fd < 0)
		return edit_failed(edit->path);
	if (!write_new(edit, fd, text, length) || rename(new, edit->path)) {
		int error = errno;

		unlink(new);
		errno = error;
		return edit_failed(edit->path);
	}
	/* the name is on the disk only after this */
	fsync(edit->folder_fd);
	return ALIGNCTL_FINE;
}

int aligntab_add(const char *name, const char *device, const char *options,
		 struct aligntab_added *added)
{
	CLEANUP_FREE char *text = NULL;
	struct edit edit;
	int result = edit_begin(&edit);

	if (!result) {
		added->file = !edit.exists;
		added->newline = edit.length &&
				 edit.text[edit.length - 1] != '\n';
		text = aligntab_with(edit.path, edit.text, &edit.length, name,
				     device, options);
		result = text ? edit_replace(&edit, text, edit.length) :
				ALIGNCTL_USAGE;
	}
	edit_end(&edit);
	return result;
}

/* Put the text without a line in place, and keep it; @added: what else goes, or NULL. */
static int edit_remove(struct edit *edit, unsigned int number,
		       const struct aligntab_added *added)
{
	size_t all = edit->length;
	CLEANUP_FREE char *text = edit->text;
	bool last;

	edit->text = aligntab_without(text, &edit->length, number);
	last = !memcmp(text, edit->text, edit->length);
	if (added && added->file && !strcmp(edit->text, heading)) {
		if (unlink(edit->path))
			return edit_failed(edit->path);
		fsync(edit->folder_fd);
		return ALIGNCTL_FINE;
	}
	if (added && added->newline && last && edit->length &&
	    edit->length < all)
		edit->length--;
	return edit_replace(edit, edit->text, edit->length);
}

static bool has_number(const struct aligntab *tab, unsigned int number)
{
	size_t i;

	for (i = 0; i < tab->nr; i++)
		if (tab->line[i].number == number)
			return true;
	return false;
}

/*
 * Warn of lines that were ignored because of the line @number of @before, which
 * @edit no longer has: they count from now on.
 */
static void warn_of_next(const struct edit *edit, const struct aligntab *before,
			 unsigned int number)
{
	struct aligntab after = { 0 };
	size_t i;

	aligntab_parse(&after, edit->path, edit->text, edit->length, true);
	for (i = 0; i < after.nr; i++) {
		const struct aligntab_line *line = &after.line[i];

		if (!has_number(before, line->number +
					(line->number >= number)))
			message_warning("%s:%u: %s: this line was ignored, and counts now; remove it, too, if %s is not to be attached",
					edit->path, line->number, line->name,
					line->device);
	}
	aligntab_free(&after);
}

/* Remove the line of that name. Return: as aligntab_remove(). */
static int remove_line(const char *name, const struct aligntab_added *added,
		       bool *removed)
{
	const struct aligntab_line *line;
	struct aligntab tab = { 0 };
	struct edit edit;
	int result = edit_begin(&edit);

	*removed = false;
	if (result) {
		edit_end(&edit);
		return result;
	}
	aligntab_parse(&tab, edit.path, edit.text, edit.length, true);
	line = aligntab_find(&tab, name);
	if (line) {
		result = edit_remove(&edit, line->number, added);
		*removed = !result;
		if (*removed)
			warn_of_next(&edit, &tab, line->number);
	}
	aligntab_free(&tab);
	edit_end(&edit);
	return result;
}

int aligntab_remove(const char *name, bool *removed)
{
	return remove_line(name, NULL, removed);
}

void aligntab_take_back(const char *name, const struct aligntab_added *added)
{
	bool removed;

	remove_line(name, added, &removed);
}
