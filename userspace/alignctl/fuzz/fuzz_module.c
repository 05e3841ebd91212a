// SPDX-License-Identifier: GPL-2.0
/* Output of modprobe, and /sys/kernel/security/lockdown. */
#include "mapped/module.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	char *lockdown = fuzz_take_line(&bytes);
	char *output = fuzz_text(bytes.at, bytes.left);
	bool root = size & 1;
	enum module_failure with = module_sort_failure(output, lockdown, root);
	enum module_failure without = module_sort_failure(output, NULL, root);

	FUZZ_CHECK(with <= MODULE_OTHER && without <= MODULE_OTHER);
	/* lockdown decides only between these two */
	if (with == MODULE_LOCKDOWN || with == MODULE_PERMISSION)
		FUZZ_CHECK(without == (root ? MODULE_LOCKDOWN :
					      MODULE_PERMISSION));
	else
		FUZZ_CHECK(with == without);
	if (!strchr(lockdown, '['))
		FUZZ_CHECK(with != MODULE_LOCKDOWN);
	free(lockdown);
	free(output);
	return 0;
}
