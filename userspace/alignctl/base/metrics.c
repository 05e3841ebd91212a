// SPDX-License-Identifier: GPL-2.0
/* Print HELP, TYPE, labels and values, with the escapes of Prometheus' text format. */
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/metrics.h"
#include "base/replace.h"
#include "base/utf8.h"

const char *const metrics_formats[1] = { "prometheus" };

void metrics_family(FILE *out, const char *prefix, const char *name,
		    const char *type, const char *help, const char *more)
{
	fprintf(out, "# HELP %s%s %s%s\n# TYPE %s%s %s\n", prefix, name, help,
		more, prefix, name, type);
}

/*
 * Return the number of bytes of a control character of UTF-8 at @text: one of
 * ASCII, or U+0080 to U+009F; 0: it is another character.
 */
static size_t control_length(const char *text)
{
	unsigned char first = (unsigned char)text[0];

	if (first < ' ' || first == 0x7f)
		return 1;
	return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 2 : 0;
}

void metrics_label(FILE *out, bool first, const char *name, const char *value)
{
	CLEANUP_FREE char *mended = utf8_mend(value);
	const char *at;
	size_t left = 0;

	fprintf(out, "%s%s=\"", first ? "" : ",", name);
	for (at = mended; *at; at++) {
		if (!left && *at != '\n')
			left = control_length(at);
		if (left) {
			fprintf(out, "\\\\x%02x", (unsigned char)*at);
			left--;
		} else if (*at == '\n') {
			fputs("\\n", out);
		} else {
			if (*at == '"' || *at == '\\')
				fputc('\\', out);
			fputc(*at, out);
		}
	}
	fputc('"', out);
}

int metrics_put(const char *file, const char *text, size_t length)
{
	if (file)
		return replace_file("output", file, text, length);
	fwrite(text, 1, length, stdout);
	return ALIGNCTL_FINE;
}
