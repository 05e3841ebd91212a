// SPDX-License-Identifier: GPL-2.0
/* The one recommendation of a forecast: its name, its gain, and the sentence for it. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/figure.h"
#include "base/message.h"
#include "forecast/forecast.h"

const char *forecast_remedy_name(enum forecast_remedy remedy)
{
	static const char *const names[] = {
		[FORECAST_NOTHING] = "nothing", [FORECAST_MOVE] = "move",
		[FORECAST_PAD] = "pad", [FORECAST_COALESCE] = "coalesce",
	};

	return names[remedy];
}

double forecast_gain_percent(const struct forecast *f, uint64_t left)
{
	uint64_t touches = f->figures.touches;

	return touches ? 100.0 * (double)(touches - left) / (double)touches : 0;
}

char *forecast_advice_text(const struct forecast *f)
{
	const struct forecast_advice advice = forecast_advise(f);
	uint32_t sectors = forecast_best_shift(f);
	CLEANUP_FREE char *what = NULL;

	if (advice.remedy == FORECAST_NOTHING)
		return message_format("nothing; no move saves %u %%, and no mode %u %%",
				      FORECAST_WORTH_PERCENT, FORECAST_GAIN_PERCENT);
	if (advice.remedy == FORECAST_MOVE)
		what = message_format("move the start by %" PRIu32 " sector%s",
				      sectors, PLURAL_OF(sectors));
	else
		what = message_format("mode %s",
				      forecast_remedy_name(advice.remedy));
	return message_format("%s; it leaves %s of %s read-modify-writes, %.0f %% less",
			      what, FIGURE_OF(advice.left),
			      FIGURE_OF(f->figures.touches),
			      forecast_gain_percent(f, advice.left));
}
