// SPDX-License-Identifier: GPL-2.0
/*
 * Read each disk of a trace, write or merge partial plans, and print or page the
 * sum.
 */
#include <inttypes.h>

#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "forecast/disks_report.h"
#include "forecast/each_disk.h"
#include "forecast/lanes.h"
#include "forecast/tallies.h"
#include "forecast/part.h"
#include "verbs/plan_disks.h"
#include "verbs/reports.h"

bool plan_disks_asked(const struct plan_disks *options)
{
	return options->each || options->partial;
}

static uint64_t memory_limit(const struct plan_disks *options)
{
	return options->memory ? options->memory : TALLIES_MEMORY;
}

/*
 * Check that the page of --html can be written, or write it if there is a document,
 * which is freed. Return: enum alignctl_exit; reported.
 */
static int put_page(const struct plan_disks *options,
		    struct json_object *document)
{
	struct json_object *members;
	int result;

	if (!options->html)
		return ALIGNCTL_FINE;
	members = json_new();
	json_add_bytes(members, "html", options->html);
	result = reports_run("disks", "plan", members, document ?
			     json_text(document, JSON_C_TO_STRING_PLAIN) : NULL);
	json_object_put(document);
	return result;
}

/* Write or print tallies. Return: enum alignctl_exit; reported. */
static int write_tallies(const struct plan_disks *options, struct tallies *tallies, bool json)
{
	uint32_t twice = tallies_sort(tallies);
	int result = tallies_check(tallies), page = ALIGNCTL_FINE;
	struct disks_report *report;

	if (!result && twice)
		message_warning("%" PRIu32 " part%s of a disk's requests came twice, and %s counted once",
				twice, PLURAL_OF(twice),
				twice == 1 ? "is" : "are");
	if (!result && options->partial)
		return part_write(tallies, options->partial);
	if (!result)
		result = tallies_add_up(tallies);
	if (result)
		return result;
	report = disks_report_new(tallies);
	if (options->html)
		page = put_page(options, disks_report_json(report));
	if (json)
		json_print(disks_report_json(report), false);
	else
		disks_report_text(report);
	disks_report_free(report);
	return page;
}

int plan_disks_trace(const struct plan_disks *options, struct source *source,
		     const struct align_geometry *g, uint64_t shift,
		     bool touches_only, bool json)
{
	struct tallies tallies;
	int result = put_page(options, NULL);

	if (result)
		return result;
	tallies_begin(&tallies, g, shift, touches_only, memory_limit(options));
	result = each_disk_read(&tallies, source, options->jobs ?
				options->jobs : lanes_processors());
	if (!result)
		result = write_tallies(options, &tallies, json);
	tallies_free(&tallies);
	return result;
}

int plan_disks_merge(const struct plan_disks *options, char *const *paths,
		     int nr, bool json)
{
	struct tallies tallies = { .most_bytes = memory_limit(options) };
	int result = put_page(options, NULL), i;

	for (i = 0; !result && i < nr; i++)
		result = part_read(&tallies, paths[i]);
	if (!result)
		result = write_tallies(options, &tallies, json);
	tallies_free(&tallies);
	return result;
}
