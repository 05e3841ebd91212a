// SPDX-License-Identifier: GPL-2.0
/* Read ledgers back from a document that stats --json printed. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "ledger/ledger_file.h"

#define FORMAT		1
/* A device's text has some 10 KiB: room for all that a machine may have. */
#define MAX_BYTES	(64U * MIB)
#define MAX_TARGETS	1024U

/* Counters that ledger_compare.c needs. */
static const enum ledger_counter needed[] = {
	LEDGER_rmw_expected, LEDGER_rmw_avoided, LEDGER_rmw_host,
	LEDGER_rmw_drive, LEDGER_rmw_lost, LEDGER_pad_reads, LEDGER_writes,
	LEDGER_write_bytes, LEDGER_writes_misaligned, LEDGER_write_block_bytes,
	LEDGER_sent_block_bytes,
};

/* Read the counters; return NULL, or the error, for free(). */
static char *read_counters(struct ledger *ledger, struct json_object *device)
{
	struct json_object *counters;
	size_t i;

	if (!json_object_object_get_ex(device, "counters", &counters))
		return message_format("no member counters");
	for (i = 0; i < LEDGER_NR; i++)
		json_get_number(counters, ledger_rows[i].name,
				&ledger->raw[i]);
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const char *name = ledger_rows[needed[i]].name;

		if (!json_get_number(counters, name, &ledger->raw[needed[i]]))
			return message_format("counters.%s is missing or no number",
					      name);
	}
	return NULL;
}

/* Find a bin by its bound; false if no bin has the bound. */
static bool find_bin(const struct ledger *ledger,
		     enum ledger_histogram histogram, double bound,
		     unsigned int *bin)
{
	for (*bin = 0; *bin < ledger_histograms[histogram].bins; ++*bin)
		/* the document has ten digits; bins are a fifth apart */
		if (fabs(ledger_bin_bound(ledger, histogram, *bin) - bound) <=
		    1e-9 * bound)
			return true;
	return false;
}

/*
 * Read the pair of a bin. The last bin of times has the bound of the one before,
 * and is told from that by @open, its count. Return: false if it is malformed.
 */
static bool read_bin(struct ledger *ledger, enum ledger_histogram histogram,
		     struct json_object *pair, uint64_t open)
{
	unsigned int bin, last = ledger_histograms[histogram].bins - 1;
	uint64_t *bins = ledger->bins[histogram];
	struct json_object *bound, *count;
	uint64_t n;

	if (!json_object_is_type(pair, json_type_array) ||
	    json_object_array_length(pair) != 2)
		return false;
	bound = json_object_array_get_idx(pair, 0);
	count = json_object_array_get_idx(pair, 1);
	if (!json_object_is_type(count, json_type_int) ||
	    json_object_get_int64(count) < 0 ||
	    !(json_object_is_type(bound, json_type_int) ||
	      json_object_is_type(bound, json_type_double)) ||
	    !find_bin(ledger, histogram, json_object_get_double(bound), &bin))
		return false;
	n = json_object_get_uint64(count);
	if (ledger_histograms[histogram].of_times && bin == last - 1 && open &&
	    n == open && !bins[last])
		bin = last;
	if (bins[bin])
		return false;
	bins[bin] = n;
	return true;
}

/* Read the histograms; return NULL, or the error, for free(). */
static char *read_histograms(struct ledger *ledger, struct json_object *device)
{
	struct json_object *all, *one, *bins;
	uint64_t open;
	unsigned int i;
	size_t k;

	if (!json_object_object_get_ex(device, "histograms", &all))
		return message_format("no member histograms");
	for (i = 0; i < HISTOGRAM_NR; i++) {
		const char *name = ledger_histograms[i].name;

		if (!json_object_object_get_ex(all, name, &one) ||
		    !json_object_object_get_ex(one, "bins", &bins) ||
		    !json_object_is_type(bins, json_type_array))
			return message_format("histograms.%s has no bins",
					      name);
		open = 0;
		json_get_number(one, "open", &open);
		for (k = 0; k < json_object_array_length(bins); k++)
			if (!read_bin(ledger, i,
				      json_object_array_get_idx(bins, k),
				      open))
				return message_format("histograms.%s: bin %zu does not match the target's bins",
						      name, k);
	}
	return NULL;
}

static bool read_target(struct align_target *target,
			struct json_object *object)
{
	const char *mode = json_get_text(object, "mode");
	const char *device = json_get_text(object, "device");
	uint64_t physical, index;

	if (!mode || !device || !json_get_number(object, "index", &index) ||
	    index > UINT_MAX ||
	    !json_get_number(object, "physical_block_size", &physical) ||
	    physical > UINT32_MAX)
		return false;
	target->index = (unsigned int)index;
	target->status.physical = (uint32_t)physical;
	snprintf(target->status.mode, sizeof(target->status.mode), "%s", mode);
	target->device = message_format("%s", device);
	return true;
}

/* Read the targets; return NULL, or the error, for free(). */
static char *read_targets(struct ledger *ledger, struct json_object *device)
{
	struct json_object *array;
	size_t nr, i;

	if (!json_object_object_get_ex(device, "targets", &array) ||
	    !json_object_is_type(array, json_type_array) ||
	    json_object_array_length(array) > MAX_TARGETS)
		return message_format("no array targets");
	nr = json_object_array_length(array);
	ledger->device.target = memory_or_exit(calloc(nr + 1,
					       sizeof(*ledger->device.target)));
	for (i = 0; i < nr; i++) {
		if (!read_target(&ledger->device.target[i],
				 json_object_array_get_idx(array, i)))
			return message_format("target %zu lacks index, mode, device or physical_block_size",
					      i);
		ledger->device.nr_targets++;
	}
	return NULL;
}

/* Read a device; return NULL, or the error, for free(). */
static char *read_device(struct ledger *ledger, struct json_object *object)
{
	const char *name = json_get_text(object, "name");
	const char *dm = json_get_text(object, "dm");
	char *error;

	if (!name || !dm)
		return message_format("a device without name or dm");
	ledger->device.name = message_format("%s", name);
	ledger->device.dm = message_format("%s", dm);
	error = read_counters(ledger, object);
	/* the bins of phases depend on the targets' blocks */
	if (!error)
		error = read_targets(ledger, object);
	if (!error)
		error = read_histograms(ledger, object);
	return error;
}

/* Read the whole document; return NULL, or the error, for free(). */
static char *read_document(struct ledger_selection *selection,
			   struct json_object *document)
{
	struct json_object *devices;
	uint64_t format;
	size_t nr, i;

	if (!json_get_number(document, "format", &format) ||
	    !json_object_object_get_ex(document, "devices", &devices) ||
	    !json_object_is_type(devices, json_type_array))
		return message_format("no document of 'alignctl stats --json'");
	if (format != FORMAT)
		return message_format("format %" PRIu64 " is not known; this alignctl reads format %u",
				      format, FORMAT);
	nr = json_object_array_length(devices);
	selection->ledger = memory_or_exit(
		calloc(nr + 1, sizeof(*selection->ledger)));
	for (i = 0; i < nr; i++) {
		struct ledger *ledger = &selection->ledger[i];
		CLEANUP_FREE char *error = NULL;

		selection->nr++;
		error = read_device(ledger, json_object_array_get_idx(devices,
								      i));
		if (error)
			return message_format("%s: %s", ledger->device.name ?
					      ledger->device.name : "device",
					      error);
	}
	return NULL;
}

char *ledger_file_parse(struct ledger_selection *selection, const char *text,
			size_t length)
{
	struct json_object *document;
	char *error;

	memset(selection, 0, sizeof(*selection));
	error = json_parse(&document, text,
			   length > MAX_BYTES ? MAX_BYTES : length);
	if (!error)
		error = read_document(selection, document);
	json_object_put(document);
	if (error)
		ledger_select_free(selection);
	return error;
}

/* Read a file of at most MAX_BYTES; NULL with errno, EFBIG if it is longer. */
static char *read_text(const char *path, size_t *length)
{
	CLEANUP_FCLOSE FILE *file = fopen(path, "re");
	size_t room = 0, got;
	char *text = NULL;

	*length = 0;
	if (!file)
		return NULL;
	do {
		room = room ? 2 * room : 64 * KIB;
		text = memory_or_exit(realloc(text, room + 1));
		got = fread(text + *length, 1, room - *length, file);
		*length += got;
	} while (*length == room && room < MAX_BYTES);
	if (!ferror(file) && *length < MAX_BYTES) {
		text[*length] = '\0';
		return text;
	}
	errno = ferror(file) ? EIO : EFBIG;
	free(text);
	return NULL;
}

int ledger_file_read(struct ledger_selection *selection, const char *path)
{
	CLEANUP_FREE char *error = NULL;
	size_t length;
	CLEANUP_FREE char *text = read_text(path, &length);

	memset(selection, 0, sizeof(*selection));
	if (!text) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	error = ledger_file_parse(selection, text, length);
	if (!error)
		return ALIGNCTL_FINE;
	message_error("%s: %s", path, error);
	return ALIGNCTL_USAGE;
}
