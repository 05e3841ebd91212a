// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of the control socket: however it is cut into pieces, each line
 * gets its answer in its turn, and what is no line ends the connection.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "fuzz.h"
#include "nbdkit_stand_in.h"

#define LINE_MAX_BYTES	256
#define ANSWERS_MAX	(1u << 20)
/* More answers than the socket holds end a connection that does not read. */
#define LINES_MAX	32

static char path[64];

static void make_drive(void)
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
	struct control *control;

	FUZZ_CHECK(drive);
	snprintf(path, sizeof(path), "/tmp/fuzz-control-%d", getpid());
	control = control_new(path, drive);
	FUZZ_CHECK(control && control_start(control) == 0);
}

static void remove_socket(void)
{
	unlink(path);
}

static int connect_client(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 10 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* As much of the input as LINES_MAX lines, and one that is not ended. */
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
 * Answers that are due: one a line, until one is too long. Sets how many of
 * them must be refusals: of lines that hold a byte 0, which ends no command.
 */
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
	static bool made;
	static char answers[ANSWERS_MAX];
	unsigned int lines = 0, refusals = 0, want, refused;
	const char *line, *end;
	size_t sent = 0, got = 0, piece;
	bool dropped;
	ssize_t n;
	int fd;

	if (!made) {
		make_drive();
		atexit(remove_socket);
	}
	made = true;
	if (!size)
		return 0;
	fd = connect_client();
	/* the first byte says how large the pieces are */
	piece = data[0] + 1u;
	data++;
	size = few_lines(data, size - 1);
	want = expected(data, size, &dropped, &refused);
	while (sent < size) {
		size_t count = size - sent < piece ? size - sent : piece;

		n = send(fd, data + sent, count, MSG_NOSIGNAL);
		if (n <= 0)
			break;		/* it has hung up, as it may */
		sent += (size_t)n;
	}
	FUZZ_CHECK(sent == size || dropped);
	shutdown(fd, SHUT_WR);
	while ((n = recv(fd, answers + got, sizeof(answers) - got, 0)) > 0)
		got += (size_t)n;
	/* what it hangs up on with bytes unread is a reset */
	FUZZ_CHECK(n == 0 || dropped);
	for (line = answers; (end = memchr(line, '\n',
					   got - (size_t)(line - answers)));
	     line = end + 1) {
		lines++;
		refusals += strncmp(line, "{\"ok\":false", 11) == 0;
	}
	FUZZ_CHECK(n < 0 ? lines <= want : lines == want);
	FUZZ_CHECK(n < 0 || refusals >= refused);
	FUZZ_CHECK(!got || answers[got - 1] == '\n' || n < 0);
	close(fd);
	return 0;
}
