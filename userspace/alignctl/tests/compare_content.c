// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>

#include "base/cleanup.h"
#include "tests/compare_content.h"
#include "tests/tap.h"

struct content_check compare_content(const char *path, struct content content)
{
	CLEANUP_CLOSE int fd = open(content.device->path, O_RDONLY | O_DIRECT);
	struct content_check check = { 0 };
	struct source source;

	content.source = &source;
	content.fd = fd;
	if (source_open(&source, path))
		CHECK(false, "%s: cannot be opened", path);
	else
		CHECK(!content_check(&content, &check), "%s: fails", path);
	source_close(&source);
	return check;
}
