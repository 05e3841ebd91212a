# SPDX-License-Identifier: GPL-2.0
"""The statistics of probe: published examples, distributions that are known, and that no interval is too narrow."""

import math
import random
import statistics as plain

import pytest

from align_reports.probe import fits, statistics
from align_reports.probe.found import Task
from align_reports.probe.methods import METHODS
from align_reports.probe.rotation import LONG, NEXT, FullStroke, Read
from align_reports.probe.statistics import CannotTell

TURN = 8333.3


def uniform(count, low=0.0, high=1.0, seed=1):
    draw = random.Random(seed)
    return [draw.uniform(low, high) for _ in range(count)]


def test_mad_is_a_quarter_of_a_uniform_range():
    assert statistics.mad([1, 1, 2, 2, 4, 6, 9]) == 1
    assert statistics.mad(uniform(5000)) == pytest.approx(0.25, abs=0.01)


def test_two_mads_keep_what_is_uniform_and_drop_what_is_far():
    kept = statistics.without_outliers([*range(101), -500, 1000, 2000])
    assert (kept.below, kept.above) == (1, 2) and kept.values == list(range(101))
    assert statistics.without_outliers([5.0] * 9).values == [5.0] * 9


@pytest.mark.parametrize("a2, chance", [(1.933, 0.10), (2.492, 0.05), (3.070, 0.025), (3.878, 0.01), (6.000, 0.001)])
def test_the_distribution_has_the_published_points(a2, chance):
    """The points of a distribution that is known in full, as in M. A. Stephens' tables (1974, case 0; 1986, table 4.2)."""
    assert statistics.chance_of(a2) == pytest.approx(chance, rel=0.05)


def test_the_distribution_is_that_of_uniform_samples_whose_ends_are_not_known():
    """By simulation: least and greatest value stand for the ends, and A\u00b2 of the others has the known distribution."""
    draw = random.Random(7)
    found = sorted(statistics.anderson_darling([draw.uniform(3, 11) for _ in range(100)]) for _ in range(4000))
    for share in (0.5, 0.9, 0.95, 0.99):
        # within four deviations of a share of 4000
        assert statistics.chance_of(found[int(share * 4000)]) == pytest.approx(
            1 - share, abs=4 * math.sqrt(share * (1 - share) / 4000))


def test_the_study_s_limit_lets_a_uniform_sample_fail_once_in_a_thousand_draws():
    assert statistics.chance_of(statistics.LIMIT) == pytest.approx(0.001, rel=0.05)
    assert statistics.chance_of(0) == 1 and statistics.chance_of(50) < 1e-9


@pytest.mark.parametrize("values, against", [
    (uniform(5000, 22000, 33000), None),
    ([math.sqrt(value) for value in uniform(5000)], "the times are not uniform: A\u00b2 is "),
    ([*uniform(400, 0, 1), *uniform(60, 5, 6)], "13% of the times are outliers on one side, and 10% may be"),
    ([7.0] * 500, "the times are not uniform: A\u00b2 is inf"),
])
def test_what_is_uniform_passes_and_what_is_not_does_not(values, against):
    found = statistics.uniformity(values)
    assert found.against is None if against is None else found.against.startswith(against)


@pytest.mark.parametrize("values, p90", [([25] * 10, 25), ([5, 45] * 5, 45), ([5] * 9 + [205], 5)])
def test_lists_of_the_same_mean_have_other_percentiles(values, p90):
    """As published: three lists of the mean 25."""
    assert plain.fmean(values) == 25 and fits.percentile(values, 90) == p90


def test_an_interval_of_a_percentile_holds_it_as_often_as_it_says():
    draw = random.Random(3)
    truth = -math.log(0.1)
    held = 0
    for _ in range(400):
        low, high = statistics.percentile_interval([draw.expovariate(1) for _ in range(200)], 90)
        held += low <= truth <= high
    # at least 95 %, less three deviations of a share of 400
    assert held / 400 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)


def test_the_interval_of_a_median_of_ten_has_the_known_ranks():
    """Ranks 2 and 9: 1 - 2 (1 + 10) / 1024 = 97.9 %, and ranks 3 and 8 would have 89 %."""
    assert statistics.percentile_interval(range(1, 11), 50) == (2, 9)
    # no value is beyond the p98 of ten values with any confidence
    assert statistics.percentile_interval(range(1, 11), 98) is None
    assert statistics.percentile_interval([], 50) is None


def test_a_range_bounds_the_width_that_it_came_from():
    draw = random.Random(5)
    held = 0
    for _ in range(600):
        values = [draw.uniform(4, 12) for _ in range(50)]
        width = statistics.uniform_width(min(values), max(values), 50)
        held += width.low <= 8 <= width.high
    assert held / 600 == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 600))


@pytest.mark.parametrize("rpm, revolution, half", [(5400, 11.11, 5.56), (7200, 8.33, 4.17), (15000, 4.0, 2.0)])
def test_whole_and_half_revolutions_are_found_again(rpm, revolution, half):
    """As published by speed: a read waits up to a revolution, and half of one on average."""
    times = [1000 * value for value in uniform(5000, 3, 3 + fits.revolution_ms(rpm))]
    found = statistics.mechanics(times)
    assert found.revolution.low < revolution * 1000 < found.revolution.high
    assert found.study_revolution / 1000 == pytest.approx(revolution, rel=0.03)
    assert plain.fmean(times) / 1000 - 3 == pytest.approx(half, rel=0.05)
    assert found.seek.low <= 3000 <= found.seek.high


def test_the_study_s_figures_of_its_full_stroke_come_from_its_least_and_greatest_time():
    """As published: seek 22.051 ms, revolution 10.666 ms, 5625 rpm; the two times are 0.98 of the seek, and their sum."""
    times = [*uniform(4998, 21611, 32716), 21609.98, 32717.0]
    found = statistics.mechanics(times, 0.98)
    kept = statistics.without_outliers(times).values
    assert found.study_seek == kept[0] / 0.98 and found.study_revolution == kept[-1] - kept[0] / 0.98
    assert found.study_seek / 1000 == pytest.approx(22.051, rel=0.02)
    assert 60e6 / found.study_revolution == pytest.approx(5625, rel=0.05)
    # the disk's 5400 rpm
    assert found.revolution.low < 60e6 / 5400 < found.revolution.high


@pytest.mark.parametrize("values", [[1.0, 2.0, 2.0, 2.0, 3.0], [5.0] * 100, [float(at) for at in range(40)]])
def test_times_that_are_few_or_the_same_tell_nothing(values):
    with pytest.raises(CannotTell, match="too few, or half of them are the same|A\u00b2 is inf"):
        statistics.mechanics(values)


def test_blurred_ends_are_told_apart_from_a_revolution():
    draw = random.Random(2)
    with pytest.raises(CannotTell, match="not uniform|ends of the times are blurred|outliers"):
        statistics.mechanics([draw.uniform(17000, 17000 + TURN) * draw.gauss(1, 0.1) for _ in range(5000)])


def turning(count, seek, late=0.0, jitter=0.0, seed=1):
    """Model pairs of reads there and back on a disk: the angle between the places is any, each pair's own."""
    draw = random.Random(seed)
    there, back = [], []
    for _ in range(count):
        angle = draw.uniform(0, TURN)
        for times, way in ((there, angle), (back, -angle)):
            way -= draw.expovariate(1 / late) if late else 0
            times.append((way - seek) % TURN + seek + (draw.gauss(0, jitter) if jitter else 0))
    return there, back


@pytest.mark.parametrize("seek", [500, 3000, 7000, 21000])
@pytest.mark.parametrize("late, jitter", [(0, 0), (30, 20), (100, 60)])
def test_a_revolution_is_found_from_reads_there_and_back(seek, late, jitter):
    found = statistics.whole_turns(*turning(2000, seek, late, jitter))
    assert found.low <= TURN <= found.high and found.value == pytest.approx(TURN, rel=0.01)
    assert found.half_width <= statistics.SURE + statistics.LATE


def test_a_revolution_s_interval_holds_it_as_often_as_it_says():
    held = 0
    for seed in range(30):
        found = statistics.whole_turns(*turning(300, 2500, 20, 60, seed))
        held += found.low + statistics.LATE * found.value <= TURN <= found.high
    # of 99 %; four fail once in 5000 times
    assert held >= 27


@pytest.mark.parametrize("pairs, why", [
    (turning(20, 3000), "20 pairs of reads there and back are too few"),
    # random times, and times of two values, are no rotation although they spread over as much
    ((uniform(1000, 3000, 11000), uniform(1000, 3000, 11000, 2)), "do not take whole revolutions: coherence 0."),
    (([draw * 5000.0 + 10000 for draw in (0, 1)] * 500, [draw * 5000.0 + 10000 for draw in (0, 0, 1, 1)] * 250),
     "reads do not come upon their places at any angle"),
    ((uniform(1000, 90, 110), uniform(1000, 90, 110)), "spread over 0.0198 ms, which is no disk's revolution"),
    (turning(1000, TURN / 2 - 1), "of how many revolutions does not show"),
    (turning(300, 3000, 0, 800), "the times vary too much: they give the revolution to "),
])
def test_what_no_rotation_makes_gives_no_revolution(pairs, why):
    with pytest.raises(CannotTell) as told:
        statistics.whole_turns(*pairs)
    assert why in str(told.value)


def test_a_drive_stands_still_whose_random_reads_are_faster_than_half_a_turn():
    places = [at * (1 << 24) for at in range(1000)]
    assert statistics.stands_still([100.0] * 1000, places).startswith(
        "does not rotate: nine tenths of 1000 random reads took at most 100 \u00b5s")
    # one in ten is of something else, one in five is not
    assert statistics.stands_still([100.0] * 910 + [9000.0] * 90, places)
    assert statistics.stands_still([100.0] * 800 + [9000.0] * 200, places) is None
    assert statistics.stands_still(uniform(1000, 3000, 11000), places) is None


def test_what_a_memory_can_hold_tells_nothing():
    for places in ([at * 4096 for at in range(1000)],
                   # two ends far apart, each small
                   [at * 4096 + (at % 2 << 40) for at in range(1000)]):
        with pytest.raises(CannotTell, match="bytes only, which a drive's memory can hold"):
            statistics.stands_still([100.0] * 1000, places)


def test_a_read_without_a_seek_needs_command_and_passage():
    """A command of 100 us and a passage of 20 us: the next block is read by then; if a passage takes longer, it hides it."""
    assert statistics.without_seek([100.0] * 9, [720.0] * 9, 32) == statistics.Estimate(120, 100, 140)
    assert statistics.without_seek([200.0] * 9, [6400.0] * 9, 32) == statistics.Estimate(200, 200, 400)
    assert statistics.without_seek([], [1.0], 32) is None
    # no time is below 0, and no interval has its ends the wrong way round
    assert statistics.without_seek([100.0] * 9, [90.0] * 9, 32) == statistics.Estimate(100, 100, 100)


@pytest.mark.parametrize("following, known", [(120.0, True), (8453.0, False)])
def test_a_drive_that_reads_nothing_ahead_shows_no_command(following, known):
    """Its reads of the next block wait a turn of 8.333 ms, which is not to be taken from a seek of 5 ms."""
    draw = random.Random(1)
    reads = [Read(at, at + 10**10 + draw.randrange(10**10), 5120 + draw.uniform(0, 8333)) for at in range(800)]
    reads += [Read(each.base, each.base + 1, us, 0, kind) for each in reads[:50]
              for kind, us in ((NEXT, following), (LONG, following + 31 * 20))]
    told = METHODS["fullstroke"].found(Task("x", None, None, 1, None, recorded=True), reads).document
    assert (told["overhead_us"] is not None) == known
    assert told["seek_us"]["low"] <= (5000 if known else 5120) / FullStroke.STROKE <= told["seek_us"]["high"]
    assert 0 < told["seek_us"]["low"] <= told["seek_us"]["value"] <= told["seek_us"]["high"]
