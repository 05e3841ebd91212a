// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the control socket, one in a line, on a small drive, with a
 * request after each: the drive must answer in JSON and go on.
 */
#include "command.h"
#include "fuzz.h"
#include "nbdkit_stand_in.h"

#define DRIVE_BYTES	(1u << 14)
#define COMMANDS_MAX	16

/* Check that an answer is a line of printable ASCII, with an object. */
FUZZ_CHECKER
static void check_answer(const char *command, const char *answer)
{
	bool ok = strcmp(answer, "{\"ok\":true}") == 0;
	const char *error = "{\"ok\":false,\"error\":\"";
	const char *c;

	for (c = answer; *c; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~' && *c != '\\');
	if (strncmp(answer, "{\"profile\":", 11) == 0) {
		FUZZ_CHECK(strstr(command, "stats") && c[-1] == '}');
	} else if (!ok) {
		FUZZ_CHECK(strncmp(answer, error, strlen(error)) == 0);
		/* the only quote left is the one that ends the text */
		FUZZ_CHECK(strcmp(strchr(answer + strlen(error), '"'),
				  "\"}") == 0);
	}
}

/* Check whether a word is an option of "power cut" with a valid value. */
FUZZ_CHECKER
static bool is_option(const char *word, size_t length)
{
	static const char *const numbers[] = { "at=", "after=", "seed=" };
	static const char *const tears[] = { "tear=none", "tear=sector",
					     "tear=block" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t name = strlen(numbers[i]);

		if (length > name && strncmp(word, numbers[i], name) == 0)
			return fuzz_is_at_most(word + name, length - name,
					       UINT64_MAX);
	}
	for (size_t i = 0; i < sizeof(tears) / sizeof(tears[0]); i++)
		if (length == strlen(tears[i]) &&
		    strncmp(word, tears[i], length) == 0)
			return true;
	return false;
}

/*
 * Check that accepted commands were valid: "power cut" with options only, and
 * "fail" with sectors that are possible.
 */
FUZZ_CHECKER
static void check_verdict(const char *command, bool ok)
{
	const char *at = command + strspn(command, " ");

	if (ok && strncmp(at, "fail", 4) == 0) {
		for (int word = 0; word < 4; word++) {
			size_t length = strcspn(at, " ");

			FUZZ_CHECK(word < 2 ||
				   fuzz_is_at_most(at, length, UINT64_MAX /
							       SECTOR_SIZE));
			at += length + strspn(at + length, " ");
		}
		FUZZ_CHECK(!*at);
	}
	if (!ok || strncmp(at, "power", 5) != 0)
		return;
	at += 5 + strspn(at + 5, " ");
	if (strncmp(at, "cut", 3) != 0)
		return;
	at += 3;
	while (at += strspn(at, " "), *at) {
		size_t length = strcspn(at, " ");

		FUZZ_CHECK(is_option(at, length));
		at += length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct drive *drive;
	struct fuzz_bytes bytes = { data, size };
	struct request request = { .op = OP_READ, .count = SECTOR_SIZE };
	unsigned char sector[SECTOR_SIZE];
	const char *what;
	int commands = 0;

	if (!drive) {
		struct drive_config config = {
			.model = {
				.profile = profile_find("instant"),
				.map = { .physical = 1024, .alignment = 512 },
				.size = DRIVE_BYTES, .cache = true,
			},
		};

		drive = drive_new(&config, &what);
		FUZZ_CHECK(drive);
	}
	drive_power_on(drive);
	drive_heal(drive);
	while (bytes.left && commands++ < COMMANDS_MAX) {
		char *command = fuzz_take_line(&bytes);
		char *answer = command_run(drive, command);

		FUZZ_CHECK(answer);
		check_answer(command, answer);
		check_verdict(command, strcmp(answer, "{\"ok\":true}") == 0);
		request.offset = (request.offset + 7 * SECTOR_SIZE) % DRIVE_BYTES;
		request.op = commands % 2 ? OP_WRITE : OP_READ;
		memset(sector, commands, sizeof(sector));
		drive_request(drive, &request, sector);
		free(answer);
		free(command);
	}
	/* the drive can always be made to work again */
	char *answer = command_run(drive, "power on");

	FUZZ_CHECK(answer && strcmp(answer, "{\"ok\":true}") == 0);
	free(answer);
	drive_power_on(drive);
	drive_heal(drive);
	request = (struct request) { .op = OP_WRITE, .count = DRIVE_BYTES };
	static unsigned char all[DRIVE_BYTES];
	FUZZ_CHECK(drive_request(drive, &request, all) == 0);
	request.op = OP_READ;
	FUZZ_CHECK(drive_request(drive, &request, all) == 0);
	return 0;
}
