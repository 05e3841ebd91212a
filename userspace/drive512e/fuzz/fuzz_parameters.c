// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters of the plugin, "name=value" in each line, up to the point where
 * files would be opened.
 */
#include "fuzz.h"
#include "nbdkit_stand_in.h"
/* For its variables, which begin anew with each input. */
#include "plugin.c"

/* Check the settings that an accepted set of parameters has made. */
static void check(void)
{
	FUZZ_CHECK(params.size && params.size % SECTOR_SIZE == 0);
	FUZZ_CHECK(params.size <= INT64_MAX);
	FUZZ_CHECK(params.physical >= SECTOR_SIZE &&
		   params.physical <= PHYSICAL_MAX &&
		   (params.physical & (params.physical - 1)) == 0);
	FUZZ_CHECK(params.alignment < params.physical &&
		   params.alignment % SECTOR_SIZE == 0);
	FUZZ_CHECK(params.latency_us <= LATENCY_MAX_US &&
		   params.depth <= MODEL_DEPTH_MAX);
	FUZZ_CHECK(!params.profile->capacity ||
		   params.size <= params.profile->capacity);
	FUZZ_CHECK(!params.control ||
		   strlen(params.control) <= CONTROL_PATH_MAX);
}

/* Check that an accepted number is the number that was given. */
static void check_number(const char *key, const char *value)
{
	static const struct {
		const char *key;
		const uint32_t *number;
	} numbers[] = {
		{ "physical", &params.physical },
		{ "alignment", &params.alignment },
		{ "latency_us", &params.latency_us },
		{ "depth", &params.depth },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key) == 0 &&
		    strcmp(value, "unlimited") != 0)
			FUZZ_CHECK(fuzz_is_number(value, strlen(value),
						  *numbers[i].number));
	}
	if (strcmp(key, "size") == 0)
		FUZZ_CHECK(nbdkit_parse_size(value) == (int64_t)params.size);
}

static void begin(void)
{
	memset(&params, 0, sizeof(params));
	params.physical = PHYSICAL_DEFAULT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	bool good = true;

	begin();
	FUZZ_CHECK(plugin.config("size", "1M") == 0 &&
		   plugin.config("alignment", "3584") == 0 &&
		   plugin.config_complete() == 0);
	begin();
	while (bytes.left && good) {
		char *line = fuzz_take_line(&bytes), *value = strchr(line, '=');

		if (value) {
			*value++ = '\0';
			*nbdkit_said = '\0';
			good = plugin.config(line, value) == 0;
			/* a refusal names the parameter */
			if (good)
				check_number(line, value);
			else
				FUZZ_CHECK(strncmp(nbdkit_said, line,
						   strlen(line)) == 0);
		}
		free(line);
	}
	*nbdkit_said = '\0';
	if (good && plugin.config_complete() == 0)
		check();
	else if (good)
		FUZZ_CHECK(*nbdkit_said);
	/* as in a server that ends before serving */
	plugin.unload();
	return 0;
}
