// SPDX-License-Identifier: GPL-2.0
/*
 * dmioctl: send table lines and messages to the target "align" through the
 * device-mapper ioctl, all from one process. A lawful line must be accepted,
 * an unlawful one refused with a reason in the kernel log, and at the end there
 * must be no leak: no device, no reference on the module, no claim on the
 * device below, no memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"

#define NAME		"align-hostile"
#define BUFFER		(64 * 1024)
#define REASON_MIN	8	/* characters of the shortest useful reason */
#define WARM_UP		64	/* lines before the first look at memory */
#define SETTLE_SECONDS	3	/* for memory freed after an RCU grace period */
#define REPORTS		20

enum { EXIT_CLEAN, EXIT_FINDINGS, EXIT_USAGE, EXIT_IO };

static union {
	struct dm_ioctl head;
	char bytes[BUFFER];
} request;

static int control_fd, kmsg_fd;
static unsigned int findings;
static bool created;	/* the device exists and has no table */
static struct {
	uint64_t lines, accepted, refused, messages, messages_refused, reasons;
} count;

__attribute__((format(printf, 1, 2)))
static void found(const char *format, ...)
{
	va_list args;

	if (++findings > REPORTS)
		return;
	va_start(args, format);
	fputs("FINDING: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static void begin_request(void)
{
	memset(&request, 0, sizeof(request.head) + 4096);
	request.head.version[0] = DM_VERSION_MAJOR;
	request.head.data_size = sizeof(request);
	request.head.data_start = sizeof(request.head);
	strcpy(request.head.name, NAME);
}

/* Make a device-mapper ioctl. Return 0 or an errno. */
static int call(unsigned long what)
{
	return ioctl(control_fd, what, &request) ? errno : 0;
}

static int create_device(void)
{
	begin_request();
	return call(DM_DEV_CREATE);
}

/* Remove the device; retry, as a prober of new disks may have it open. */
static int remove_device(void)
{
	int tries, error = 0;

	for (tries = 0; tries < 12000; tries++) {
		begin_request();
		error = call(DM_DEV_REMOVE);
		if (error != EBUSY)
			break;
		usleep(10000);
	}
	return error;
}

static int load_table(uint64_t start, uint64_t length, const char *params)
{
	struct dm_target_spec *spec;

	begin_request();
	request.head.target_count = 1;
	spec = (void *)(request.bytes + request.head.data_start);
	memset(spec, 0, sizeof(*spec));
	spec->sector_start = start;
	spec->length = length;
	strcpy(spec->target_type, "align");
	strcpy((char *)(spec + 1), params);
	spec->next = (sizeof(*spec) + strlen(params) + 1 + 7) & ~7UL;
	return call(DM_TABLE_LOAD);
}

static int resume_device(void)
{
	begin_request();
	return call(DM_DEV_SUSPEND);
}

static int table_status(uint32_t flags)
{
	begin_request();
	request.head.flags = flags;
	return call(DM_TABLE_STATUS);
}

/* Send a message in a request of its length, so that no later byte ends it. */
static int send_message(const struct hostile_message *message)
{
	struct dm_target_msg *msg;

	begin_request();
	msg = (void *)(request.bytes + request.head.data_start);
	msg->sector = 0;
	memcpy(msg->message, message->text, message->length);
	request.head.data_size = msg->message + message->length - request.bytes;
	return call(DM_TARGET_MSG);
}

/* Copy the current table line; "" if it cannot be read. */
static void copy_table(char *to, size_t size)
{
	struct dm_target_spec *spec;

	to[0] = '\0';
	if (table_status(DM_STATUS_TABLE_FLAG))
		return;
	spec = (void *)(request.bytes + request.head.data_start);
	snprintf(to, size, "%s", (char *)(spec + 1));
}

/* Count the devices of device-mapper, without this program's own. */
static unsigned int count_devices(void)
{
	const struct dm_name_list *name;
	unsigned int devices = 0;
	int error;

	begin_request();
	request.head.name[0] = '\0';
	error = call(DM_LIST_DEVICES);
	if (error) {
		fprintf(stderr, "cannot list the devices: %s\n",
			strerror(error));
		exit(EXIT_IO);
	}
	name = (void *)(request.bytes + request.head.data_start);
	if (!name->dev)
		return 0;
	for (;;) {
		devices += !!strcmp(name->name, NAME);
		if (!name->next)
			return devices;
		name = (void *)((const char *)name + name->next);
	}
}

static void skip_log(void)
{
	if (lseek(kmsg_fd, 0, SEEK_END) < 0) {
		fprintf(stderr, "/dev/kmsg: cannot seek: %s\n",
			strerror(errno));
		exit(EXIT_IO);
	}
}

/*
 * Copy the last message of the target or device-mapper since skip_log(),
 * without its prefix, to @reason; the empty string if there is none.
 */
static void read_reason(char *reason, size_t size)
{
	char line[8192];
	ssize_t got;

	reason[0] = '\0';
	while ((got = read(kmsg_fd, line, sizeof(line) - 1)) > 0 ||
	       (got < 0 && errno == EPIPE)) {
		const char *text;
		char *end;

		if (got < 0)
			continue;	/* records were overwritten */
		line[got] = '\0';
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		text = strstr(line, "device-mapper: ");
		if (!text)
			continue;
		text = strstr(text, "align: ") ? strstr(text, "align: ") + 7 :
		       text + 15;
		snprintf(reason, size, "%s", text);
	}
}

/*
 * Check that a refusal has a reason. A message that begins with '@' is for
 * device-mapper itself, whose reason may be any text.
 */
static void check_reason(const char *what, const char *text)
{
	bool ours = text[strspn(text, " \t\n")] != '@';
	char reason[2048];

	read_reason(reason, sizeof(reason));
	if (!strcmp(what, "message") && ours && !strstr(reason, "must be") &&
	    !strstr(reason, "Invalid") && !strstr(reason, " need") &&
	    !strstr(reason, "not possible"))
		found("the log does not say what is wrong with message \"%.80s\": \"%.300s\"",
		      text, reason);
	if (strlen(reason) < REASON_MIN || strstr(reason, "(null)") ||
	    strstr(reason, "Unknown error"))
		found("%s \"%.200s\" was refused without a reason (the log says \"%s\")",
		      what, text, reason);
	else
		count.reasons++;
}

static void try_messages(uint64_t *rng)
{
	unsigned int n = 1 + hostile_random(rng) % 4;

	while (n--) {
		static struct hostile_message message;
		char before[512], after[512];
		int error;

		hostile_make_message(rng, &message);
		copy_table(before, sizeof(before));
		skip_log();
		error = send_message(&message);
		count.messages++;
		if (error) {
			count.messages_refused++;
			/* terminate it for the reports */
			message.text[message.length - 1] = '\0';
			if (message.verdict == LAWFUL)
				found("message \"%.200s\" was refused: %s",
				      message.text, strerror(error));
			else if (strspn(message.text, " \t\n") !=
				 strlen(message.text))
				check_reason("message", message.text);
			copy_table(after, sizeof(after));
			if (strcmp(before, after))
				found("message \"%.200s\" was refused, but changed \"%s\" to \"%s\"",
				      message.text, before, after);
		} else if (message.verdict == UNLAWFUL) {
			found("message \"%.200s\" was accepted", message.text);
		}
	}
}

static void drop_device(void)
{
	int error = created ? remove_device() : 0;

	if (error) {
		fprintf(stderr, "cannot remove the device %s: %s\n", NAME,
			strerror(error));
		exit(EXIT_IO);
	}
	created = false;
}

static void try_line(uint64_t *rng, const struct hostile_device *dev)
{
	struct hostile_line line;
	int error;

	hostile_make_line(rng, dev, &line);
	/* a refused line leaves the device unmodified, fit for the next one */
	error = created ? 0 : create_device();
	if (error) {
		fprintf(stderr, "cannot create the device %s: %s\n", NAME,
			strerror(error));
		exit(EXIT_IO);
	}
	created = true;
	skip_log();
	error = load_table(0, line.length, line.params);
	count.lines++;
	if (error) {
		count.refused++;
		if (line.verdict == LAWFUL) {
			char reason[512];

			read_reason(reason, sizeof(reason));
			found("line \"0 %" PRIu64 " align %s\" was refused: %s (%s)",
			      line.length, line.params, strerror(error),
			      reason);
		} else {
			check_reason("line", line.params);
		}
		return;
	}
	count.accepted++;
	if (line.verdict == UNLAWFUL)
		found("line \"0 %" PRIu64 " align %s\" was accepted: %s",
		      line.length, line.params, line.why);
	error = resume_device();
	if (error)
		found("line \"0 %" PRIu64 " align %s\" was accepted, then could not be resumed: %s",
		      line.length, line.params, strerror(error));
	else
		try_messages(rng);
	error = table_status(0);
	if (!error)
		error = table_status(DM_STATUS_TABLE_FLAG);
	if (error)
		found("status of \"%s\": %s", line.params, strerror(error));
	drop_device();
}

static uint64_t read_number(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	uint64_t n = 0;
	char line[256];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, strlen(key))) {
			n = strtoull(line + strlen(key), NULL, 10);
			break;
		}
	}
	fclose(f);
	return n;
}

struct footprint {
	uint64_t references, percpu_kib, slab_kib;
	unsigned int devices;
};

static void measure(struct footprint *f)
{
	drop_device();
	sleep(SETTLE_SECONDS);
	f->references = read_number("/sys/module/dm_align/refcnt", "");
	f->percpu_kib = read_number("/proc/meminfo", "Percpu:");
	f->slab_kib = read_number("/proc/meminfo", "SUnreclaim:");
	f->devices = count_devices();
}

/*
 * Compare the footprints. One leak per line of a page or more, or of 256 bytes
 * per CPU, exceeds these bounds from a few hundred lines on; the other activity
 * of the guest does not.
 */
static void compare(const struct footprint *before,
		    const struct footprint *after, const char *path)
{
	int fd;

	if (after->devices != before->devices)
		found("%u devices before, %u after", before->devices,
		      after->devices);
	if (after->references != before->references)
		found("module references: %" PRIu64 " before, %" PRIu64
		      " after", before->references, after->references);
	if (after->percpu_kib > before->percpu_kib + 512)
		found("per-CPU memory grew from %" PRIu64 " to %" PRIu64 " KiB",
		      before->percpu_kib, after->percpu_kib);
	if (after->slab_kib > before->slab_kib + 4096)
		found("slab memory grew from %" PRIu64 " to %" PRIu64 " KiB",
		      before->slab_kib, after->slab_kib);
	fd = open(path, O_RDWR | O_EXCL);
	if (fd < 0)
		found("%s is still held: %s", path, strerror(errno));
	else
		close(fd);
}

static void usage(FILE *to)
{
	fputs("usage: dmioctl [--lines N] [--seed N] DEVICE\n"
	      "Puts \"align\" on DEVICE N times (default 500), with table lines and messages\n"
	      "lawful and not. Nothing is written to DEVICE.\n"
	      "Exit status: 0 clean, 1 findings, 2 usage, 3 device-mapper error.\n", to);
}

static bool number(const char *text, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-';
}

static int open_or_exit(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	fprintf(stderr, "%s: cannot open: %s\n", path, strerror(errno));
	exit(EXIT_IO);
}

static void inspect_device(struct hostile_device *dev)
{
	int fd = open_or_exit(dev->path, O_RDONLY);
	uint64_t bytes;
	int size;

	if (ioctl(fd, BLKGETSIZE64, &bytes) || ioctl(fd, BLKSSZGET, &size)) {
		fprintf(stderr, "%s: not a block device: %s\n", dev->path,
			strerror(errno));
		exit(EXIT_IO);
	}
	close(fd);
	dev->sectors = bytes / 512;
	dev->logical = size;
	if (dev->sectors < 4096) {
		fprintf(stderr, "%s: %" PRIu64 " sectors, must be 4096 or more\n",
			dev->path, dev->sectors);
		exit(EXIT_USAGE);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "lines", 1, NULL, 'l' }, { "seed", 1, NULL, 's' },
		{ "help", 0, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	uint64_t lines = 500, seed = time(NULL), rng, i;
	struct hostile_device dev = { 0 };
	struct footprint before, after;
	struct timespec start, end;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return EXIT_CLEAN;
		}
		if (c == '?' || !number(optarg, c == 'l' ? &lines : &seed)) {
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		return EXIT_USAGE;
	}
	dev.path = argv[optind];
	inspect_device(&dev);
	control_fd = open_or_exit("/dev/mapper/control", O_RDWR);
	kmsg_fd = open_or_exit("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	fprintf(stderr, "%s: seed %" PRIu64 "\n", dev.path, seed);

	rng = seed;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < WARM_UP; i++)
		try_line(&rng, &dev);
	measure(&before);
	for (; i < lines; i++) {
		try_line(&rng, &dev);
		if (isatty(STDERR_FILENO) && i % 16 == 0)
			fprintf(stderr, "\r%" PRIu64 "/%" PRIu64 " lines, %u findings ",
				i, lines, findings);
	}
	measure(&after);
	compare(&before, &after, dev.path);
	clock_gettime(CLOCK_MONOTONIC, &end);

	printf("seed=%" PRIu64 " lines=%" PRIu64 " accepted=%" PRIu64
	       " refused=%" PRIu64 " messages=%" PRIu64
	       " messages_refused=%" PRIu64 " reasons=%" PRIu64
	       " seconds=%.1f findings=%u\n", seed, count.lines,
	       count.accepted, count.refused, count.messages,
	       count.messages_refused, count.reasons,
	       end.tv_sec - start.tv_sec +
	       (end.tv_nsec - start.tv_nsec) / 1e9, findings);
	return findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
