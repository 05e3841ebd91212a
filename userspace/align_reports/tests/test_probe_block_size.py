# SPDX-License-Identifier: GPL-2.0
"""block-size finds the block of every drive model exactly, or says that it cannot tell; it is never wrong."""

import random
import re
import subprocess

import pytest

from align_reports.probe import block_size
from align_reports.probe.block_size import Block
from align_reports.probe.target import Says
from lab.drive.block_size_truth import AREA, NOISE, OTHERS, PROFILES, look
from lab.drive.target import CLOCK, ClockTarget

SSDS = [truth for truth in PROFILES if truth.penalty < 1000]
RUNS = 100
PENALTY = 0.1
LIMIT_S = 120


def check(row, cannot_tell=0):
    assert not row.wrong and row.cannot_tell <= cannot_tell, row
    assert max(map(abs, row.deviations)) <= PENALTY and row.longest_s < LIMIT_S, row
    assert set(row.caches) <= {row.truth.cache, None}, row


def test_the_truth_is_told_of_every_profile():
    said = subprocess.run([CLOCK, "size=1M", "profile=none"], capture_output=True, text=True).stderr
    names = set(re.split(", | or ", re.search(r"no such profile; give (.*)", said)[1]))
    # All but those that are no model of a drive.
    assert {truth.profile for truth in PROFILES} == names - {"instant", "fixed"}


@pytest.mark.parametrize("truth", PROFILES, ids=str)
def test_block_offset_penalty_and_cache_are_found_on_every_profile(truth):
    """Without noise: each figure is that of the model."""
    row = look(truth, [1], noise=0)
    check(row)
    assert row.caches == {truth.cache: 1}, row


@pytest.mark.parametrize("truth", random.Random(3).sample(PROFILES, 3) + random.Random(4).sample(OTHERS, 5), ids=str)
def test_noise_does_not_deceive(truth):
    check(look(truth, [7]))


@pytest.mark.check_all("test_noise_does_not_deceive has some of these drives, once")
@pytest.mark.parametrize("truth", PROFILES, ids=str)
def test_no_run_of_a_hundred_with_noise_is_wrong(truth):
    row = look(truth, range(RUNS))
    check(row, cannot_tell=5)
    # Of intervals that hold the truth in 95 % of all cases, fewer than 89 of 100 do so in 1 % of all cases.
    assert row.held >= 0.89 * row.right, row


@pytest.mark.check_all("test_noise_does_not_deceive has some of these drives")
@pytest.mark.parametrize("truth", OTHERS, ids=str)
def test_any_other_block_is_found_with_noise(truth):
    check(look(truth, [11, 12, 13]))


@pytest.mark.parametrize("profile, rotational", [("hdd5400", False), ("nvme-512e", True), ("qlc-16k", True)])
def test_a_bridge_that_is_wrong_about_rotation_does_not_deceive(profile, rotational):
    truth = next(truth for truth in PROFILES if truth.profile == profile)
    with ClockTarget(profile=profile, size="4G", noise=NOISE, seed=5) as clock:
        assert clock.says.rotational != rotational
        clock.says = clock.says._replace(rotational=rotational)
        finding = block_size.probe(clock, AREA, None, 5, lambda words: None)
    assert finding.block == truth.block and finding.elapsed_s < LIMIT_S


def cannot_tell(area=AREA, span=None, **parameters):
    """Search on a model whose block cannot be found; return the finding."""
    with ClockTarget(size="4G", **parameters) as clock:
        finding = block_size.probe(clock, area, span, 1, lambda words: None)
    assert finding.block is finding.penalty is finding.reads is None
    return finding


@pytest.mark.parametrize("noise", [0, NOISE])
@pytest.mark.parametrize("parameters", [
    {"profile": "hdd-nocache", "physical": 512}, {"profile": "st1000dm003", "physical": 512},
    {"profile": "nvme-512e", "physical": 512}, {"profile": "fixed", "latency_us": 100}, {"profile": "fixed", "latency_us": 9000}],
    ids=str)
def test_where_no_write_is_slower_there_is_no_block_to_tell(parameters, noise):
    finding = cannot_tell(**parameters, noise=noise, seed=3)
    assert "writes take as long at all offsets" in finding.why or "would explain most times, but" in finding.why


def test_a_disk_that_may_not_be_written_to_tells_nothing_and_is_left_alone():
    finding = cannot_tell(area=None, profile="hdd7200")
    assert "reads do not show a block" in finding.why and "--write" in finding.why and not finding.requests


def reads_of(profile, seed, noise=NOISE):
    with ClockTarget(profile=profile, size="4G", noise=noise, seed=seed) as clock:
        finding = block_size.probe(clock, None, 1 << 30, seed, lambda words: None)
    assert finding.block is None and "not what it rewrites" in finding.why and finding.elapsed_s < LIMIT_S
    return finding.reads


@pytest.mark.parametrize("truth", SSDS, ids=str)
def test_reads_across_a_boundary_show_what_an_ssd_looks_up_at_once_but_no_block(truth):
    assert reads_of(truth.profile, 1, noise=0) == truth.block


def test_two_parts_of_a_hundred_are_found_in_noise_of_ten():
    assert reads_of(SSDS[0].profile, 3) == SSDS[0].block


@pytest.mark.check_all("test_two_parts_of_a_hundred_are_found_in_noise_of_ten has one run")
@pytest.mark.parametrize("truth", SSDS, ids=str)
def test_no_reads_in_noise_are_misread(truth):
    found = [reads_of(truth.profile, seed) for seed in range(20)]
    assert set(found) <= {truth.block, None} and found.count(None) <= 1, found


def test_an_area_that_a_buffer_may_hold_is_too_small():
    finding = cannot_tell(area=(0, 128 << 20), profile="hdd7200")
    assert "give 256M or more" in finding.why and not finding.requests


class Late:
    """A model whose clock shows so many seconds more from some request on."""

    def __init__(self, clock, after):
        self.says, self._clock, self._after, self.made = clock.says, clock, after, 0

    def each(self, requests, flushed=False):
        self.made += len(requests)
        return self._clock.each(requests, flushed)

    def flush(self):
        return self._clock.flush()

    def elapsed_s(self):
        return self._clock.elapsed_s() + (1000 if self.made >= self._after else 0)


# The first writes, the scan and its verification; then those for the penalty.
@pytest.mark.parametrize("after, block", [(0, None), (32, None), (32 + 96, None), (32 + 96 + 150, Block(4096, 0)),
                                          (32 + 96 + 150 + 1000, Block(4096, 0))])
def test_when_the_time_is_over_what_is_certain_is_told(after, block):
    with ClockTarget(profile="hdd7200", size="4G") as clock:
        late = Late(clock, after)
        finding = block_size.probe(late, AREA, None, 1, lambda words: None)
    assert finding.requests == late.made
    assert finding.block == block and finding.penalty is finding.cache is None
    assert finding.why == f"{block_size.LIMIT_S} s did not suffice"


class StandIn:
    """A drive that takes for a request what one() says, in microseconds, and nothing for a flush."""

    def __init__(self, says, seed):
        self.says, self._random, self._us = says, random.Random(seed), 0.0

    def one(self, request):
        raise NotImplementedError

    def each(self, requests, flushed=False):
        times = [self.one(request) for request in requests]
        self._us += sum(times)
        return times

    def flush(self):
        return 0.0

    def elapsed_s(self):
        return self._us / 1e6


class Card(StandIn):
    """A card that reads a page for each page that a request meets; answers within `noise` of the truth."""

    def __init__(self, page, offset, noise=0.1):
        super().__init__(Says(1 << 30, 512, 512, 0, False), 5)
        self._page, self._offset, self._noise = page, offset, noise

    def one(self, request):
        assert not request.write
        pages = ((request.offset + request.bytes - 1 - self._offset) // self._page
                 - (request.offset - self._offset) // self._page + 1)
        return (50 + 60 * pages) * self._random.gauss(1, self._noise)


@pytest.mark.parametrize("page, offset", [(2048, 512), (4096, 3584), (131072, 65536)])
def test_reads_show_what_is_read_at_once_but_no_block(page, offset):
    finding = block_size.probe(Card(page, offset), None, None, 1, lambda words: None)
    assert finding.reads == Block(page, offset) and finding.block is None and "not what it rewrites" in finding.why


def test_a_cache_that_is_on_although_the_drive_says_off_is_told():
    """And one that is off although it says on."""
    for parameters, is_on in (({}, "on"), ({"cache": "off"}, "off")):
        with ClockTarget(profile="hdd5400", size="4G", **parameters) as clock:
            clock.says = clock.says._replace(write_cache=is_on == "off")
            assert block_size.probe(clock, AREA, None, 1, lambda words: None).cache == is_on


class Restless(StandIn):
    """A drive without blocks, whose times vary with anything else, as `how` says."""

    def __init__(self, how, seed):
        super().__init__(Says(4 << 30, 512, 4096, 0, False, True), seed)
        self._how, self._made, self._load = how, 0, 0.0

    def one(self, request):
        draw, us = self._random, 100 + request.bytes / 2000
        self._made += 1
        if self._how == "outliers":
            us *= draw.lognormvariate(0, 1.5)
        elif self._how == "modes":
            us += draw.choice((0, 0, 500, 3000))
        elif self._how == "zones":
            us += request.offset / (1 << 30) * 300
        elif self._how == "load":
            self._load = 0.98 * self._load + draw.gauss(0, 20)
            us += abs(self._load)
        elif self._how == "bursts":
            us += 2000 if self._made % 64 < 5 else 0
        elif self._how == "drift":
            us += self._made / 10
        return us * draw.gauss(1, 0.1)


RESTLESS = ["outliers", "modes", "zones", "load", "bursts", "drift"]


def no_block(how, seed):
    for area in (AREA, None):
        finding = block_size.probe(Restless(how, seed), area, None, seed, lambda words: None)
        assert finding.block is finding.reads is None and finding.why, (how, seed, area, finding.block, finding.reads)


@pytest.mark.parametrize("how", RESTLESS)
def test_times_that_vary_with_anything_but_the_offset_are_no_block(how):
    no_block(how, 1)


@pytest.mark.check_all("test_times_that_vary_with_anything_but_the_offset_are_no_block has one run")
@pytest.mark.parametrize("how", RESTLESS)
def test_no_run_of_twenty_takes_a_varying_time_for_a_block(how):
    for seed in range(2, 22):
        no_block(how, seed)
