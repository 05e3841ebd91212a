# SPDX-License-Identifier: GPL-2.0
"""The models of a drive's time, and the search for the best depth: arithmetic alone."""

import pytest

from align_reports.probe import depth, fits
from align_reports.probe.depth import Probe
from align_reports.probe.found import Task
from align_reports.probe.methods import chunk_places, chunk_sizes, probe_options, sorted_in_windows

MB = 1_000_000


def test_a_response_is_wait_access_and_transfer():
    assert fits.response_ms(2, 5, 500_000, 100 * MB) == pytest.approx(2 + 5 + 5)


def test_a_balanced_chunk_gives_half_of_the_rate():
    """As published: 5 ms and 100 MB/s make 500 KB, and 50 MB/s."""
    chunk = fits.balanced_chunk(5, 100 * MB)
    assert chunk == pytest.approx(500_000)
    assert fits.rate(5, chunk, 100 * MB) == pytest.approx(50 * MB)
    assert fits.rate(5, chunk / 2, 100 * MB) < 50 * MB < fits.rate(5, chunk * 2, 100 * MB) < 100 * MB


@pytest.mark.parametrize("rpm, revolution, half", [
    (5400, 11.11, 5.56), (7200, 8.33, 4.17), (10000, 6.0, 3.0), (15000, 4.0, 2.0)])
def test_a_revolution_by_speed(rpm, revolution, half):
    assert round(fits.revolution_ms(rpm), 2) == revolution
    assert round(fits.half_revolution_ms(rpm), 2) == half


@pytest.mark.parametrize("values, p90", [([25] * 10, 25), ([5, 45] * 5, 45), ([5] * 9 + [205], 5)])
def test_the_same_mean_hides_what_percentiles_tell(values, p90):
    assert sum(values) / len(values) == 25 and fits.percentile(values, 90) == p90


@pytest.mark.parametrize("percent, value", [(0, 1), (10, 1), (10.1, 2), (50, 5), (90, 9), (99, 10), (100, 10)])
def test_a_percentile_is_one_of_the_values(percent, value):
    assert fits.percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent) == value


def test_a_drive_is_found_again_from_its_times():
    points = [(512 << i, fits.response_ms(0, 8, 512 << i, 150 * MB)) for i in range(16)]
    assert fits.fit(points) == pytest.approx((8, 150 * MB))
    # errors of a tenth, up and down in turn, move the result by no more
    noisy = [(size, ms * (1.1 if i % 2 else 0.9)) for i, (size, ms) in enumerate(points)]
    access, rate = fits.fit(noisy)
    assert access == pytest.approx(8, rel=0.1) and rate == pytest.approx(150 * MB, rel=0.1)


@pytest.mark.parametrize("points", [
    [], [(512, 1), (1024, 2)], [(512, 3), (1024, 2), (2048, 1)], [(512, 1), (1024, 2), (2048, 5)], [(512, 0)] * 4,
    # a drive of 8 ms and 100 MB/s, but one size is split
    [(1 << 20, 18.5), (2 << 20, 29), (4 << 20, 50), (8 << 20, 240)]])
def test_where_there_is_no_such_drive_none_is_found(points):
    assert fits.fit(points) is None


def ssd(at, channels=13, service_us=210):
    """Model an SSD: up to `channels` requests at once take as long as one, further ones wait."""
    iops = 1e6 / service_us * min(at, channels)
    latency = service_us * max(1, at / channels)
    return Probe(at, 5000, iops, latency, 1.1 * latency)


def test_the_search_ends_ten_beyond_the_best():
    """Published for an SSD: depth 13."""
    probes = depth.search(ssd)
    assert depth.best(probes).depth == 13
    assert [probe.depth for probe in probes] == list(range(1, 24))
    assert depth.scores(probes)[12] == pytest.approx(1)


def test_one_at_a_time_is_best_where_nothing_runs_together():
    probes = depth.search(lambda at: ssd(at, channels=1))
    assert depth.best(probes).depth == 1 and len(probes) == 11


def test_a_dip_shorter_than_ten_does_not_end_the_search():
    def dipping(at):
        made = ssd(at, channels=30)
        return Probe(at, 5000, made.iops / 4, made.mean_us, made.p90_us * 2) if 11 <= at <= 19 else made
    probes = depth.search(dipping)
    assert depth.best(probes).depth == 30 and len(probes) == 40


def test_the_search_ends_at_the_most_that_may_be_in_flight():
    assert len(depth.search(lambda at: ssd(at, channels=1000))) == 256
    assert len(depth.search(lambda at: ssd(at, channels=1000), most=5)) == 5


def test_rate_counts_four_times_as_much_as_latency():
    """Half of the best rate costs 0.8 / 0.5 - 0.8, twice the least latency 0.2."""
    probes = [Probe(1, 1, 1000, 100, 100), Probe(2, 1, 500, 100, 100), Probe(3, 1, 1000, 100, 200)]
    assert depth.scores(probes) == pytest.approx([1, 1 / 1.8, 1 / 1.2])


def test_each_depth_has_random_places_of_its_own():
    options = [probe_options(Task("/dev/x", 7, None, 40, None), at) for at in (1, 2)]
    assert options == [("--count", "7", "--depth", str(at), "--seed", str(40 + at)) for at in (1, 2)]
    assert probe_options(Task("/dev/x", 5000, 1 << 20, 1, None), 1) == \
        ("--count", "5000", "--depth", "1", "--seed", "2", "--span", "1048576")


def test_sizes_double_and_two_of_the_largest_have_room():
    assert chunk_sizes(512, 1 << 40) == [512 << i for i in range(16)]
    assert chunk_sizes(4096, 100_000) == [4096, 8192, 16384, 32768]


def test_places_are_multiples_inside_and_none_is_taken_twice():
    places = chunk_places(4096, 1 << 20, 1000, 1)
    assert sorted(places) == [4096 * i for i in range(256)] and places != sorted(places)
    assert chunk_places(4096, 1 << 20, 9, 1) == chunk_places(4096, 1 << 20, 9, 1) != chunk_places(4096, 1 << 20, 9, 2)
    assert len(chunk_places(16 << 20, 1 << 42, 1000, 1)) == 64


@pytest.mark.parametrize("window, places", [
    (1, [5, 3, 9, 1, 7]), (2, [3, 5, 1, 9, 7]), (3, [3, 5, 9, 1, 7]), (1024, [1, 3, 5, 7, 9])])
def test_reads_are_sorted_in_windows(window, places):
    assert sorted_in_windows([5, 3, 9, 1, 7], window) == places
