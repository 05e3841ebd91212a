// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of the control socket, in pieces of any size: each line gets its
 * answer in turn, and an overlong line ends the connection.
 */
#include <sys/ioctl.h>

#include "fuzz.h"
#include "nbdkit_stand_in.h"
/* For serve_client(), which is called here rather than by a thread. */
#include "control.c"

#define ANSWERS_MAX	(1u << 16)
/* More answers than the socket holds end a connection that does not read. */
#define LINES_MAX	32

static struct drive *make_drive(void)
{
	struct drive_config config = {
		.model = {
			.profile = profile_find("instant"),
			.map = { .physical = 4096 },
			.size = 1 << 20,
		},
	};
	const char *what;
	struct drive *drive = drive_new(&config, &what);

	FUZZ_CHECK(drive);
	return drive;
}

/* Let the drive receive all that was sent.  False: it has hung up. */
static bool serve_all(struct control *control)
{
	struct client *client = &control->clients[0];
	int waiting;

	do {
		if (!serve_client(control, client))
			return false;
		FUZZ_CHECK(ioctl(client->fd, FIONREAD, &waiting) == 0);
	} while (waiting);
	return true;
}

/* Return the length of LINES_MAX lines of the input, or of all of it. */
FUZZ_CHECKER
static size_t few_lines(const uint8_t *data, size_t size)
{
	unsigned int lines = 0;
	size_t i;

	for (i = 0; i < size; i++)
		if (data[i] == '\n' && ++lines == LINES_MAX)
			break;
	return i;
}

/*
 * Return the number of answers that are due: one for each line, until a line is
 * too long.  Set @refused to the number of lines with a NUL byte, which must be
 * refused.
 */
FUZZ_CHECKER
static unsigned int expected(const uint8_t *data, size_t size, bool *dropped,
			     unsigned int *refused)
{
	unsigned int lines = 0;
	size_t begin = 0, i;

	*dropped = false;
	*refused = 0;
	for (i = 0; i < size; i++) {
		if (i - begin >= LINE_MAX_BYTES) {
			*dropped = true;
			return lines + 1;
		}
		if (data[i] != '\n')
			continue;
		lines++;
		*refused += memchr(data + begin, 0, i - begin) != NULL;
		begin = i + 1;
	}
	*dropped = size - begin >= LINE_MAX_BYTES;
	return lines + *dropped;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct control control;
	static char answers[ANSWERS_MAX];
	unsigned int lines = 0, refusals = 0, want, refused;
	bool dropped, hung_up = false;
	const char *line, *end;
	size_t sent = 0, got = 0, piece;
	int fd[2];
	ssize_t n;

	if (!control.drive)
		control.drive = make_drive();
	if (!size)
		return 0;
	drive_power_on(control.drive);
	drive_heal(control.drive);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	control.clients[0] = (struct client) { .fd = fd[1] };
	/* the first byte says how large the pieces are */
	piece = data[0] + 1u;
	data++;
	size = few_lines(data, size - 1);
	want = expected(data, size, &dropped, &refused);
	while (sent < size && !hung_up) {
		size_t count = size - sent < piece ? size - sent : piece;

		FUZZ_CHECK(send(fd[0], data + sent, count, 0) == (ssize_t)count);
		sent += count;
		hung_up = !serve_all(&control);
	}
	FUZZ_CHECK(hung_up == dropped);
	while ((n = recv(fd[0], answers + got, sizeof(answers) - got,
			 MSG_DONTWAIT)) > 0)
		got += (size_t)n;
	FUZZ_CHECK(n < 0 && errno == EAGAIN);
	/* the end of the stream ends the connection */
	shutdown(fd[0], SHUT_WR);
	FUZZ_CHECK(hung_up || !serve_client(&control, &control.clients[0]));
	for (line = answers; (end = memchr(line, '\n',
					   got - (size_t)(line - answers)));
	     line = end + 1) {
		lines++;
		refusals += strncmp(line, "{\"ok\":false", 11) == 0;
	}
	FUZZ_CHECK(lines == want && refusals >= refused);
	FUZZ_CHECK(!got || answers[got - 1] == '\n');
	close(fd[0]);
	close(fd[1]);
	return 0;
}
