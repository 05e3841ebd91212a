# SPDX-License-Identifier: GPL-2.0
"""The statistics of measured times: what a disk's rotation leaves in them, and how sure each figure is.

"The study" is the study of file systems and disks that the methods come from, and its tool, drvperf 1.9. Its rules
are here as the tool has them. What they give is near the truth; the intervals here are what can be said for sure.
"""

from __future__ import annotations

import cmath
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# The study's: a value further than so many MADs from the median is an outlier.
MADS = 2
# The study's: the test is the median of so many draws of so many of the values ...
DRAWS, DRAWN = 9, 250
# ... against this limit, and of the values no more than this share may be outliers, on either side.
LIMIT, MOST_OUTLIERS = 6.0, 0.1
# Two-sided quantiles of the normal distribution: NIST/SEMATECH e-Handbook, table 1.3.6.7.1.
NORMAL_95, NORMAL_99 = 1.960, 2.576


class CannotTell(Exception):
    """A figure does not follow from the times; the text is the reason."""


@dataclass(frozen=True)
class Estimate:
    """A figure, and the interval that holds the truth in 95 % of all cases."""

    value: float
    low: float
    high: float

    def over(self, figure: float) -> Estimate:
        """Return `figure` divided by this one: a rate from a time."""
        return Estimate(figure / self.value, figure / self.high, figure / self.low)

    @property
    def half_width(self) -> float:
        """Return half of the interval's length, as a share of the figure."""
        return (self.high - self.low) / 2 / self.value


def mad(values: Sequence[float]) -> float:
    """Return the median absolute deviation from the median."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


@dataclass(frozen=True)
class Kept:
    """Sorted values without outliers, and the number of outliers below and above them."""

    values: list[float]
    below: int
    above: int


def without_outliers(values: Sequence[float], mads: float = MADS) -> Kept:
    """Drop the values further than `mads` MADs from the median: the study's two keep what a uniform distribution has."""
    middle, reach = statistics.median(values), mads * mad(values)
    kept = sorted(value for value in values if abs(value - middle) <= reach)
    return Kept(kept, sum(value < kept[0] for value in values), sum(value > kept[-1] for value in values))


def anderson_darling(values: Sequence[float]) -> float:
    """Return Anderson's and Darling's A\u00b2 of the values between the least and the greatest, if uniform between these.

    Given its least and greatest value, the others of a uniform sample are uniform between these two, wherever the
    distribution ends. So A\u00b2 has the distribution of a sample from a distribution that is known in full. Infinite
    for fewer than three different values.
    """
    low, high = min(values), max(values)
    inside = sorted((value - low) / (high - low) for value in values if low < value < high)
    count = len(inside)
    if not count:
        return math.inf
    return -count - sum((2 * at + 1) * (math.log(inside[at]) + math.log1p(-inside[-1 - at]))
                        for at in range(count)) / count


def chance_of(a2: float) -> float:
    """Return the probability of a greater A\u00b2 from a distribution that is known in full.

    G. and J. Marsaglia, Evaluating the Anderson-Darling Distribution, Journal of Statistical Software 9 (2), 2004:
    the function adinf, which is for many values, and off by less than 0.000002.
    """
    if a2 <= 0:
        return 1.0
    if a2 < 2:
        return 1 - math.exp(-1.2337141 / a2) / math.sqrt(a2) * (2.00012 + (0.247105 - (0.0649821 - (
            0.0347962 - (0.011672 - 0.00168691 * a2) * a2) * a2) * a2) * a2)
    return 1 - math.exp(-math.exp(1.0776 - (2.30695 - (0.43424 - (0.082433 - (
        0.008056 - 0.0003146 * a2) * a2) * a2) * a2) * a2))


@dataclass(frozen=True)
class Uniformity:
    """The study's test of times: kept, those that are no outliers; a2, of small draws of those."""

    kept: Kept
    a2: float

    @property
    def against(self) -> str | None:
        """Return why the times are not uniform, or None."""
        share = max(self.kept.below, self.kept.above) / (len(self.kept.values) + self.kept.below + self.kept.above)
        if self.a2 > LIMIT:
            return f"the times are not uniform: A\u00b2 is {self.a2:.1f}, and may be {LIMIT:.1f}"
        if share > MOST_OUTLIERS:
            return f"{share:.0%} of the times are outliers on one side, and {MOST_OUTLIERS:.0%} may be"
        return None


def uniformity(values: Sequence[float], seed: int = 1) -> Uniformity:
    """Test times as the study does, with small draws: of many times, none are uniform to the last."""
    kept = without_outliers(values)
    draw = random.Random(seed)
    drawn = [anderson_darling(draw.sample(kept.values, min(DRAWN, len(kept.values)))) for _ in range(DRAWS)]
    return Uniformity(kept, statistics.median(drawn))


def percentile_interval(values: Sequence[float], percent: float,
                        confidence: float = 0.95) -> tuple[float, float] | None:
    """Return two of the values between which the distribution's percentile lies, for any distribution.

    The number of values below the percentile is binomial; so order statistics bound it (H. A. David and H. N.
    Nagaraja, Order Statistics, 3rd edition, section 7.1). None if there are too few values for a bound.
    """
    ordered, share = sorted(values), percent / 100
    count, tail = len(ordered), (1 - confidence) / 2
    if not 0 < share < 1:
        return None
    # ranks from 1: P(fewer than `low` below) <= tail, P(`high` or more below) <= tail
    low = high = None
    below = 0.0
    for rank in range(count + 1):
        at_most = below + math.exp(math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1)
                                   + rank * math.log(share) + (count - rank) * math.log1p(-share))
        if at_most <= tail:
            low = rank + 1
        if high is None and at_most >= 1 - tail:
            high = rank + 1
        below = at_most
    if low is None or high is None or high > count:
        return None
    return ordered[low - 1], ordered[high - 1]


def uniform_width(least: float, greatest: float, count: int) -> Estimate:
    """Return the length of the interval from which `count` uniform values came, by the least and greatest of them.

    The range, as a share of that length, has the Beta distribution with count - 1 and 2, whose distribution function
    is count x^(count-1) - (count-1) x^count.
    """
    def share(of: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(100):
            x = (low + high) / 2
            low, high = (x, high) if count * x ** (count - 1) - (count - 1) * x ** count < of else (low, x)
        return low
    width = greatest - least
    return Estimate(width * (count + 1) / (count - 1), width / share(0.975), width / share(0.025))


# Shares left out on either side for the width of the middle of a distribution.
MIDDLE, INNER = 0.15, 0.25
# Fewer times tell no width.
FEWEST_TIMES = 50
# Outliers of that: the ends may be blurred, and are wanted.
FAR_MADS = 3
# By how much the width that leaves such a share out may be beside that of INNER, or else the ends are too blurred: more than
# in any of the published samples below, less than with a tenth of noise on the models of disks.
BLURRED = {0.05: 1.1, 0.01: 1.29}
# Real ends are blurred a little, too. In the study's published samples of three disks of known speed (drvperf, data/) the
# truth is never further than this beyond what the study's rule, the range and the width of the middle say.
BESIDE = 0.04


def width_of_middle(ordered: Sequence[float], share: float) -> float:
    """Return the length of a uniform distribution by its quantiles `share` and 1 - share: blurred ends do not move it."""
    low = ordered[int(share * len(ordered))]
    return (ordered[int((1 - share) * len(ordered))] - low) / (1 - 2 * share)


@dataclass(frozen=True)
class Mechanics:
    """
    study_seek         the study's seek: the least time, of the whole stroke
    study_revolution   the study's: the greatest time less the seek
    revolution, seek   what can be said for sure
    """

    study_seek: float
    study_revolution: float
    revolution: Estimate
    seek: Estimate


def mechanics(values: Sequence[float], stroke: float = 1.0, revolution: Estimate | None = None,
              overhead: Estimate | None = None) -> Mechanics:
    """Return seek and revolution from times that have one seek and then any share of a revolution.

    stroke: the shortest distance of the times as a share of the one whose seek is asked for
    revolution: if known better than by these times
    overhead: the part of each time that is neither, nor of the seek
    Raises CannotTell.
    """
    found = uniformity(values)
    if found.against:
        raise CannotTell(found.against)
    low, high = found.kept.values[0], found.kept.values[-1]
    seek = low / stroke
    far = without_outliers(values, FAR_MADS).values
    middle, inner = (width_of_middle(far, share) for share in (MIDDLE, INNER))
    if len(far) < FEWEST_TIMES or not inner:
        raise CannotTell(f"{len(far)} times are too few, or half of them are the same")
    for share, most in BLURRED.items():
        outer = width_of_middle(far, share)
        if not 1 / most <= outer / inner <= most:
            raise CannotTell(f"the ends of the times are blurred: by {1 - 2 * share:.0%} in their middle a revolution is "
                             f"{outer / 1000:.2f} ms, by half of them {inner / 1000:.2f} ms")
    if revolution is None:
        whole = uniform_width(low, high, len(found.kept.values))
        # the deviation of the middle's quantiles: of shares a and 1 - a, 2 a (1 - 2 a) / n
        deviation = math.sqrt(2 * MIDDLE * (1 - 2 * MIDDLE) / len(far)) / (1 - 2 * MIDDLE) * middle
        all_of_them = (high - seek, whole.low, whole.high, middle - NORMAL_95 * deviation,
                       middle + NORMAL_95 * deviation)
        revolution = Estimate(middle, min(all_of_them) * (1 - BESIDE), max(all_of_them) * (1 + BESIDE))
    # By the values of the lowest ranks, each of which is on average as far above the one before: where they begin, give or
    # take three deviations. Not by the least of them, which may have come from the drive's memory.
    rank = 1 + len(far) // 4000
    step = revolution.value / len(far)
    begin, around = far[rank - 1] - rank * step, 3 * math.sqrt(rank) * step
    value = begin if stroke == 1 else seek
    least, rest = min(begin - around, low), overhead or Estimate(0, 0, 0)
    return Mechanics(seek, high - seek, revolution, Estimate(
        value - rest.value, least - rest.high, max(value, seek, low + around) - rest.low))


def without_seek(one: Sequence[float], many: Sequence[float], blocks: int) -> Estimate | None:
    """Return the time of a read but for seek and rotation: of the command, and of the block's passage under the head.

    one, many: times of reads of the next block, and of the next `blocks` blocks, behind the one that was just read
    These wait for the command or the passage, the longer one, while the others need both. None without times.
    """
    if not one or not many:
        return None
    longer = statistics.median(one)
    # below 0 by chance, where a block passes faster than the times scatter
    passage = max((statistics.median(many) - longer) / (blocks - 1), 0.0)
    if passage < 0.9 * longer:
        return Estimate(longer + passage, longer, longer + 2 * passage)
    return Estimate(longer, longer, 2 * longer)


# A revolution that a disk can have: 16 500 to 3000 a minute.
FASTEST_US, SLOWEST_US = 60e6 / 16500, 60e6 / 3000
# Sums of times that are whole revolutions: their coherence, 1 if exactly, 0 if not at all.
COHERENT = 0.7
# Fewer pairs of times, or fewer sums of a number of revolutions, fix no revolution.
FEWEST_PAIRS, FEWEST_SUMS = 50, 10
# The interval of a speed that is told is no wider than this to either side, but for LATE.
SURE = 0.01
# What a time may be off, however many there are.
TIMER_US = 1.0
# A machine that has waited for longer may wake up later, so a revolution can look longer by this share: through NBD on a
# virtual machine it was 0.003 to 0.009.
LATE = 0.01
# Periods that are tried lie so far apart, as a share, and so far around the first guess.
STEP, AROUND = 0.002, 0.2


def _coherence(sums: Sequence[float], period: float) -> complex:
    """Return the mean of the sums' directions, if `period` is a full turn."""
    return sum(cmath.exp(2j * math.pi * each / period) for each in sums) / len(sums)


def whole_turns(there: Sequence[float], back: Sequence[float]) -> Estimate:
    """Return the revolution from times of reads from one place to another and, elsewhere in the run, back.

    A disk turns on from the one place to the other in the one time, and in the other time from there to the one
    place: together whole revolutions, n or n + 1, although each time alone is any share of one. Nothing but rotation
    does that. The longer the read there, the sooner the read back needs one revolution more: up to some time there all
    sums have n, from some time on all have n + 1, and the revolution is by how much these are longer. In between, a
    host that is late decides which; leaving those sums out makes its lateness the same in both, but for LATE.
    The interval has 99 %, and LATE at its lower end. Raises CannotTell.
    """
    if len(there) < FEWEST_PAIRS:
        raise CannotTell(f"{len(there)} pairs of reads there and back are too few")
    far = without_outliers([*there, *back], FAR_MADS).values
    guess = width_of_middle(far, MIDDLE)
    if not FASTEST_US * (1 - AROUND) <= guess <= SLOWEST_US * (1 + AROUND):
        raise CannotTell(f"the times spread over {guess / 1000:.3g} ms, which is no disk's revolution")
    pairs = sorted((one, one + other) for one, other in zip(there, back, strict=True)
                   if far[0] <= one <= far[-1] and far[0] <= other <= far[-1])
    sums = [total for _, total in pairs]
    best = max((guess * (1 - AROUND) * (1 + STEP) ** at
                for at in range(int(math.log((1 + AROUND) / (1 - AROUND)) / math.log1p(STEP)) + 1)),
               key=lambda period: abs(_coherence(sums, period)))
    if (coherence := abs(_coherence(sums, best))) < COHERENT:
        raise CannotTell("reads there and back do not take whole revolutions: coherence "
                         f"{coherence:.2f}, and {COHERENT} is needed")
    if abs(_coherence([*there, *back], best)) > COHERENT / 2:
        raise CannotTell("reads do not come upon their places at any angle")
    late = cmath.phase(_coherence(sums, best)) / (2 * math.pi) * best
    turns = [round((total - late) / best) for total in sums]
    fewer = min(turns, key=lambda turn: -turns.count(turn) - turns.count(turn + 1))
    less = [(one, total) for (one, total), turn in zip(pairs, turns, strict=True) if turn == fewer]
    more = [(one, total) for (one, total), turn in zip(pairs, turns, strict=True) if turn == fewer + 1]
    if min(len(less), len(more)) >= FEWEST_SUMS:
        from_here, to_here = more[0][0], less[-1][0]
        less = [pair for pair in less if pair[0] < from_here]
        more = [pair for pair in more if pair[0] > to_here]
    if min(len(less), len(more)) < FEWEST_SUMS:
        raise CannotTell(f"nearly all reads there and back take {statistics.median(sums) / 1000:.2f} ms: "
                         "of how many revolutions does not show")
    short, long = ([total for _, total in each] for each in (less, more))
    value = statistics.fmean(long) - statistics.fmean(short)
    error = TIMER_US + NORMAL_99 * math.sqrt(sum(statistics.variance(each) / len(each) for each in (short, long)))
    found = Estimate(value, value - error, value + error)
    if found.half_width > SURE:
        raise CannotTell(f"the times vary too much: they give the revolution to {found.half_width:.1%}, and {SURE:.0%} is "
                         "needed")
    return Estimate(value, found.low - LATE * value, found.high)


# Half of a revolution at 15 000 a minute, the fastest disks made: what a random read needs on average, without seek.
HALF_TURN_US = 2000.0
# No memory of a drive holds as much of it, so that reads spread over this come from the media.
MEMORY = 1 << 30


def stands_still(times: Sequence[float], places: Sequence[int]) -> str | None:
    """Return, in words, why a drive with such times of reads at random places does not rotate, or None.

    Raises CannotTell if the drive may have read all of that into its memory.
    """
    nine_tenths = sorted(times)[int(0.9 * len(times))]
    if nine_tenths >= HALF_TURN_US:
        return None
    ordered = sorted(places)
    # the gap between the two ends of the device, if the places lie at these
    gap = max((after - before for before, after in zip(ordered, ordered[1:], strict=False)), default=0)
    if (spread := ordered[-1] - ordered[0] - gap) < MEMORY:
        raise CannotTell(f"nine tenths of the reads took at most {nine_tenths:.0f} \u00b5s, but they spread over "
                         f"{spread} bytes only, which a drive's memory can hold")
    return (f"does not rotate: nine tenths of {len(times)} random reads took at most {nine_tenths:.0f} \u00b5s, and half a "
            f"turn of the fastest disks, 15000 rpm, takes {HALF_TURN_US:.0f} \u00b5s")
