// SPDX-License-Identifier: GPL-2.0
#include "mapped/module.h"
#include "tests/tap.h"

static void failures(void)
{
	static const char denied[] =
		"modprobe: ERROR: could not insert 'dm_align': Operation not permitted";
	static const struct {
		const char *output, *lockdown;
		bool root;
		enum module_failure failure;
	} rows[] = {
		{ "modprobe: FATAL: Module dm-align not found in directory /lib/modules/6.12",
		  NULL, true, MODULE_MISSING },
		{ "modprobe: ERROR: could not insert 'dm_align': Key was rejected by service",
		  "none [integrity] confidentiality", true, MODULE_KEY },
		{ "modprobe: ERROR: could not insert 'dm_align': Required key not available",
		  NULL, true, MODULE_KEY },
		{ denied, "none [integrity] confidentiality", true, MODULE_LOCKDOWN },
		{ denied, "none integrity [confidentiality]", true, MODULE_LOCKDOWN },
		{ denied, "[none] integrity confidentiality",
		  true, MODULE_PERMISSION },
		/* without securityfs, only root knows what it means */
		{ denied, NULL, true, MODULE_LOCKDOWN },
		{ denied, NULL, false, MODULE_PERMISSION },
		{ "modprobe: ERROR: could not insert 'dm_align': Exec format error",
		  NULL, true, MODULE_OTHER },
		{ "", NULL, true, MODULE_OTHER },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum module_failure got = module_sort_failure(rows[i].output,
							      rows[i].lockdown,
							      rows[i].root);

		CHECK(got == rows[i].failure, "row %zu: %d", i, got);
	}
}

const struct tap_test module_tests[] = {
	{ "a missing module is told from one that Secure Boot refuses",
	  failures },
	{ 0 },
};
