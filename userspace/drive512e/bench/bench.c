// SPDX-License-Identifier: GPL-2.0
/*
 * Hold each profile of the emulated drive against what was published, on a
 * virtual clock, and print published and measured figures side by side. With a
 * plugin, also run it once for each profile, in real time.
 *
 * Exit status: 0 if all that is claimed is within the tolerance, 1 if something
 * is not, 2 for bad usage, 3 if the plugin could not be run.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile.h"
#include "live.h"
#include "rows.h"

#define EXIT_OFF 1
#define EXIT_USAGE 2

/* Columns of a line. */
#define WIDTH 80

struct options {
	const char *plugin;		/* NULL: nothing in real time */
	const char *json;		/* path, NULL: none */
	const char *only;		/* profile, NULL: all */
};

static bool wanted(const struct options *o, const char *profile)
{
	return !o->only || strcmp(o->only, profile) == 0;
}

/*
 * The document of --json: "format" (1), "tolerance_percent", "profiles", "live"
 * and "within" (all that is claimed holds).
 *
 * A profile has "name", "about", for a disk "chunks" (throughput "mb_s" of random
 * reads of "bytes"), and "rows": "name", "source", "unit" (or null), "cache" (on
 * or off), "published", "measured" and "deviation_percent" (each a number or
 * null), "not_claimed" (the reason, or null) and "holds".
 *
 * A run in real time has "profile", "model_us" and "plugin_us" (mean of a
 * request), "touches" and "expected_touches", "claimed" and "holds".
 */

/* Return the digits behind the point with which a figure has four in all. */
static int digits(double figure)
{
	return figure < 10 ? 3 : figure < 100 ? 2 : figure < 1000 ? 1 : 0;
}

/* Print a figure in @width columns, or a dash if there is none. */
static void print_figure(double figure, bool there)
{
	if (there)
		printf(" %11.*f", digits(figure), figure);
	else
		printf(" %11s", "-");
}

/* Print why a row is not claimed, in lines that fit. */
static void print_reason(const char *reason)
{
	size_t column = (size_t)printf("    not claimed:");

	while (*reason) {
		size_t word = strcspn(reason, " ");

		if (column + 1 + word > WIDTH)
			column = (size_t)printf("\n     ") - 1;
		column += (size_t)printf(" %.*s", (int)word, reason);
		reason += word;
		reason += strspn(reason, " ");
	}
	putchar('\n');
}

/* Print one row; true if it keeps what the model claims. */
static bool print_row(const struct bench_row *row, double measured)
{
	const char *unit = row->unit ? row->unit : "";
	bool holds = bench_holds(row, measured);

	printf("  %-31s %-7s", row->name, row->source);
	print_figure(row->published, row->published > 0);
	print_figure(measured, row->measure);
	if (row->published > 0 && row->measure)
		printf(" %-4s %+7.1f %%%s\n", unit,
		       bench_deviation(row, measured) * 100,
		       holds ? "" : "   outside 10 %");
	else
		printf("%s%s\n", *unit ? " " : "", unit);
	if (row->unclaimed)
		print_reason(row->unclaimed);
	return holds;
}

static void json_string(FILE *f, const char *text)
{
	if (!text) {
		fputs("null", f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void json_figure(FILE *f, const char *key, double figure, bool there)
{
	if (there)
		fprintf(f, ",\"%s\":%.6g", key, figure);
	else
		fprintf(f, ",\"%s\":null", key);
}

static void json_row(FILE *f, const struct bench_row *row, double measured,
		     const char *separator)
{
	bool compared = row->published > 0 && row->measure;

	fprintf(f, "%s\n    {\"name\":", separator);
	json_string(f, row->name);
	fputs(",\"source\":", f);
	json_string(f, row->source);
	fputs(",\"unit\":", f);
	json_string(f, row->unit);
	fprintf(f, ",\"cache\":\"%s\"", row->nocache ? "off" : "on");
	json_figure(f, "published", row->published, row->published > 0);
	json_figure(f, "measured", measured, row->measure);
	json_figure(f, "deviation_percent", bench_deviation(row, measured) * 100,
		    compared);
	fputs(",\"not_claimed\":", f);
	json_string(f, row->unclaimed);
	fprintf(f, ",\"holds\":%s}", bench_holds(row, measured) ? "true"
								: "false");
}

/* Write the chunk-size curve of a disk. */
static void json_chunks(FILE *f, const struct profile *profile)
{
	if (profile->kind != PROFILE_MECHANICAL)
		return;
	fputs(",\"chunks\":[", f);
	for (uint64_t bytes = BENCH_CHUNK_MIN; bytes <= BENCH_CHUNK_MAX;
	     bytes *= 2)
		fprintf(f, "%s{\"bytes\":%" PRIu64 ",\"mb_s\":%.3f}",
			bytes == BENCH_CHUNK_MIN ? "" : ",", bytes,
			bench_chunk_mb_s(profile->name, bytes));
	fputc(']', f);
}

/* Measure and print all rows of a profile; true if they hold. */
static bool run_profile(FILE *json, const struct profile *profile,
			const char *separator)
{
	unsigned int n = 0;
	bool ok = true;

	printf("%s: %s\n", profile->name, profile->about);
	if (json) {
		fprintf(json, "%s\n  {\"name\":\"%s\",\"about\":", separator,
			profile->name);
		json_string(json, profile->about);
		json_chunks(json, profile);
		fputs(",\"rows\":[", json);
	}
	for (const struct bench_row *row = bench_rows; row->profile; row++) {
		double measured;

		if (strcmp(row->profile, profile->name))
			continue;
		measured = row->measure ? row->measure(row) : 0;
		ok &= print_row(row, measured);
		if (json)
			json_row(json, row, measured, n++ ? "," : "");
	}
	if (json)
		fputs("]}", json);
	return ok;
}

/* Check whether the table has rows of a profile. */
static bool has_rows(const struct profile *profile)
{
	for (const struct bench_row *row = bench_rows; row->profile; row++) {
		if (strcmp(row->profile, profile->name) == 0)
			return true;
	}
	return false;
}

static bool run_live(FILE *json, const struct options *o)
{
	const char *separator = "";
	bool ok = true;

	live_priority();
	printf("\n%-41s %11s %11s\n", "The plugin, through NBD in real time",
	       "model, us", "plugin, us");
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		struct live live;
		double percent;

		if (!has_rows(p) || !wanted(o, p->name))
			continue;
		live = live_run(o->plugin, p->name);
		percent = (live.measured_us / live.virtual_us - 1) * 100;
		printf("  %-39s", live.profile);
		print_figure(live.virtual_us, true);
		print_figure(live.measured_us, true);
		printf("      %+7.1f %%%s\n", percent,
		       live.holds ? "" : "   outside 15 %");
		if (live.touches != live.expected_touches)
			printf("    counted %" PRIu64 " touches, not %" PRIu64
			       "\n", live.touches, live.expected_touches);
		if (!live.judged)
			print_reason("the transport takes about as long as the "
				     "drive");
		fflush(stdout);
		ok &= live.holds;
		if (!json)
			continue;
		fprintf(json, "%s\n  {\"profile\":\"%s\",\"model_us\":%.1f,"
			"\"plugin_us\":%.1f,\"touches\":%" PRIu64
			",\"expected_touches\":%" PRIu64
			",\"claimed\":%s,\"holds\":%s}", separator,
			live.profile, live.virtual_us, live.measured_us,
			live.touches, live.expected_touches,
			live.judged ? "true" : "false",
			live.holds ? "true" : "false");
		separator = ",";
	}
	return ok;
}

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: drive512e-bench [options] [PLUGIN]\n"
		"Holds the profiles of the emulated drive against published figures, on a\n"
		"virtual clock; with PLUGIN (drive512e.so) runs that, too, in real time.\n\n"
		"  -o, --only NAME  this profile only\n"
		"  -j, --json PATH  write the figures as JSON too\n"
		"  -h, --help       this text\n");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:j:h", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			if (!profile_find(optarg) ||
			    !has_rows(profile_find(optarg))) {
				fprintf(stderr, "drive512e-bench: --only %s: no "
					"profile with published figures; give "
					"one of those that it prints\n", optarg);
				exit(EXIT_USAGE);
			}
			o->only = optarg;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind + 1 < argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
	o->plugin = argv[optind];
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	const char *separator = "";
	FILE *json = NULL;
	bool ok = true;

	parse_options(argc, argv, &o);
	if (o.json) {
		json = fopen(o.json, "w");
		if (!json) {
			fprintf(stderr, "drive512e-bench: --json %s: %s; give a "
				"path that can be written\n", o.json,
				strerror(errno));
			return EXIT_USAGE;
		}
		fprintf(json, "{\"format\":1,\"tolerance_percent\":%.0f,"
			"\"profiles\":[", BENCH_TOLERANCE * 100);
	}
	printf("%-41s %11s %11s\n", "On the virtual clock", "published",
	       "measured");
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		if (!has_rows(p) || !wanted(&o, p->name))
			continue;
		ok &= run_profile(json, p, separator);
		separator = ",";
	}
	if (json)
		fputs("],\"live\":[", json);
	if (o.plugin)
		ok &= run_live(json, &o);
	if (json) {
		fprintf(json, "],\"within\":%s}\n", ok ? "true" : "false");
		fclose(json);
	}
	printf("\n%s\n", ok ? "all that is claimed is within its tolerance"
			    : "there are claimed figures outside their tolerance");
	return ok ? 0 : EXIT_OFF;
}
