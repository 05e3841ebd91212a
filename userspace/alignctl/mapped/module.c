// SPDX-License-Identifier: GPL-2.0
/* Load the kernel module dm-align, and say why the kernel does not take it. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "mapped/dm.h"
#include "mapped/module.h"
#include "sysfs/sysfs.h"

#define MODULE_NAME	"dm-align"

/* Check for a lockdown, as in "none [integrity] confidentiality". */
static bool locked_down(const char *lockdown)
{
	return strstr(lockdown, "[integrity]") ||
	       strstr(lockdown, "[confidentiality]");
}

enum module_failure module_sort_failure(const char *output,
					const char *lockdown, bool root)
{
	/* strerror() of EKEYREJECTED and ENOKEY in the C locale */
	if (strstr(output, "Key was rejected by service") ||
	    strstr(output, "Required key not available"))
		return MODULE_KEY;
	if (strstr(output, "Operation not permitted"))
		return (lockdown ? locked_down(lockdown) : root) ?
			MODULE_LOCKDOWN : MODULE_PERMISSION;
	if (strstr(output, "not found"))
		return MODULE_MISSING;
	return MODULE_OTHER;
}

static void report(const char *output)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/kernel/security");
	CLEANUP_FREE char *lockdown = sysfs_text(dir, "lockdown");
	struct utsname kernel;

	uname(&kernel);
	switch (module_sort_failure(output, lockdown, !geteuid())) {
	case MODULE_MISSING:
		message_error("the module " MODULE_NAME " is not installed for kernel %s; build and install it: 'make modules install KVER=%s' (needs linux-headers-%s)",
			      kernel.release, kernel.release, kernel.release);
		break;
	case MODULE_KEY:
		message_error("Secure Boot: kernel %s does not trust the signature of " MODULE_NAME "; sign it with a key that is enrolled ('mokutil --import KEY.der', then reboot), or switch Secure Boot off in the firmware",
			      kernel.release);
		break;
	case MODULE_LOCKDOWN:
		message_error("Secure Boot: kernel %s is locked down and loads no unsigned module; sign " MODULE_NAME " with a key that is enrolled ('mokutil --import KEY.der', then reboot), or switch Secure Boot off in the firmware",
			      kernel.release);
		break;
	case MODULE_PERMISSION:
		message_error("the module " MODULE_NAME " may not be loaded by this user; run alignctl as root, and outside of a container");
		break;
	case MODULE_OTHER:
		message_error("the module " MODULE_NAME " cannot be loaded: %s",
			      *output ? output : "modprobe did not say why");
		break;
	}
}

int module_ensure(void)
{
	char *modprobe[] = { "modprobe", MODULE_NAME, NULL };
	CLEANUP_FREE char *output = NULL;

	if (dm_align_available())
		return ALIGNCTL_FINE;
	if (program_run(modprobe, &output)) {
		report(output);
		return ALIGNCTL_IO;
	}
	if (dm_align_available())
		return ALIGNCTL_FINE;
	message_error("modprobe succeeded, but no 'align' target is registered; is another " MODULE_NAME " installed? See 'modinfo " MODULE_NAME "'");
	return ALIGNCTL_IO;
}
