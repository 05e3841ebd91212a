# SPDX-License-Identifier: GPL-2.0
"""What is published about drives, and how the model is asked for the same figure: one table.

A source is a letter of userspace/drive512e/profiles/profiles.h; "by hand" is the table of hdd-nocache in
Documentation/develop/drive512e.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from . import measures
from .measures import BLOCK, EXISTING, FRESH, GB, KIB, MIB, Drive

# Percent.
TOLERANCE = 10


class Row(NamedTuple):
    """
    A figure that is published, or has a reason for not being so.

    unclaimed   why the model does not claim to meet it; None: it meets it
    measure     asks a drive for it; None: cannot be
    cached      the drive's write cache is on, if it has one
    """

    profile: str
    name: str
    source: str
    unit: str | None
    published: float | None
    measure: Callable[[Drive], float] | None
    unclaimed: str | None = None
    cached: bool = True

    def measured(self) -> float | None:
        """Ask the model."""
        return self.measure(Drive(self.profile, self.cached)) if self.measure else None

    def deviation(self, measured: float | None) -> float | None:
        """Return how far a figure is from the published one, in percent; None: there is only one of the two."""
        return None if measured is None or not self.published else (measured / self.published - 1) * 100

    def holds(self, measured: float | None) -> bool:
        """Check that a figure keeps what the model claims."""
        off = self.deviation(measured)
        return bool(self.unclaimed) or (off is not None and abs(off) <= TOLERANCE)


class Published(NamedTuple):
    """Of a workload: the mean latency of each write of a round, and the time of all rounds."""

    mean_us: tuple[int, ...]
    wall_s: float


# Measured on an ST1000DM003-1ER162 (7200 rpm, 512-byte sectors in 4096-byte blocks, write cache on, Linux 5.0), each with one
# write at a time; Documentation/develop/drive512e.rst derives the model from these measurements. [A]
WORKLOADS = {
    "w512": Published((532,), 11.799), "w4096": Published((272,), 5.902), "w4096_512": Published((718,), 15.536),
    "w136k": Published((551,), 3.166), "w4k_132k": Published((1925, 2133), 21.262),
}


def host_us(workload: str) -> float:
    """Return the host's own time between an answer and the next write: the published wall time less the latencies."""
    means, wall_s = WORKLOADS[workload]
    return (wall_s / measures.BY_NAME[workload].published_count * 1e6 - sum(means)) / len(means)


def play(drive: Drive, workload: str) -> measures.Played:
    return measures.played(drive, workload, host_us(workload))


def mean_us(drive: Drive, workload: str, part: int) -> float:
    return play(drive, workload).mean_us[part]


def wall_s(drive: Drive, workload: str) -> float:
    return play(drive, workload).wall_s


def round_ms(drive: Drive, workload: str) -> float:
    """Return the time from one round to the next."""
    return wall_s(drive, workload) / measures.BY_NAME[workload].published_count * 1e3


def wall_ratio(drive: Drive, workload: str, other: str) -> float:
    return wall_s(drive, workload) / wall_s(drive, other)


def mean_ratio(drive: Drive, workload: str, other: str) -> float:
    return sum(play(drive, workload).mean_us) / sum(play(drive, other).mean_us)


DISK, NOCACHE, FAST, STUDY, EARS, LIAR, NVME = (
    "st1000dm003", "hdd-nocache", "hdd7200", "hdd5400", "wd20ears", "usb-liar", "nvme-512e")
# A cylinder outside, or a little less.
TRACK_7200, TRACK_5400 = 7 * MIB // 2, 9 * MIB // 8
SAME_REQUESTS = "the same requests as of the 4000, in the same order: the disk took 1.434 for those"
ODD_TURNS = "the misaligned write takes 1.4 turns more; the model's takes 2, one for each block"
SHORT_SEEKS = ("short seeks follow from track to track and the mean, and the file has no extents; the disk's are slower, or the "
               "file's lie apart")
NO_FIGURE = "there is no published figure"

def mean(workload: str, part: int = 0, write: str = "") -> Row:
    return Row(DISK, f"{workload}, {write}mean", "A", "us", WORKLOADS[workload].mean_us[part],
               partial(mean_us, workload=workload, part=part))


def wall(workload: str) -> Row:
    return Row(DISK, f"{workload}, wall", "A", "s", WORKLOADS[workload].wall_s, partial(wall_s, workload=workload))


def uncached(workload: str, published: float) -> Row:
    return Row(NOCACHE, f"{workload}, round", "by hand", "ms", published, partial(round_ms, workload=workload))


def strided(measure: Callable[..., float], offset: int = 0) -> Callable[[Drive], float]:
    """Return a measure of 32768 writes of a block."""
    return partial(measure, count=32768, size=BLOCK, offset=offset)


def copied(measure: Callable[..., float], **where: int) -> Callable[[Drive], float]:
    """Return a measure of writes of 120 KiB, as USB has them."""
    return partial(measure, count=8192, size=240 * 512, **where)


ROWS = (
    mean("w512"), wall("w512"), mean("w4096"), wall("w4096"), mean("w4096_512"), wall("w4096_512"), mean("w136k"), wall("w136k"),
    mean("w4k_132k", 0, "4 KiB "), mean("w4k_132k", 1, "132 KiB "), wall("w4k_132k"),
    Row(DISK, "w4k_132k / w136k, wall", "A", None, 6.7, partial(wall_ratio, workload="w4k_132k", other="w136k")),
    Row(DISK, "w4k_132k / w136k, means", "A", None, 7.4, partial(mean_ratio, workload="w4k_132k", other="w136k")),
    Row(DISK, "1 touch / aligned", "F", None, 2.0, partial(mean_ratio, workload="w512", other="w4096"),
        "w512 is 9.7 % short, and w4096 0.8 % long"),
    Row(DISK, "2 touches / aligned", "F", None, 2.6, partial(mean_ratio, workload="w4096_512", other="w4096")),
    Row(DISK, "256 KiB, aligned / misaligned", "F", None, 1, partial(measures.copy_ratio, count=4000, size=256 * KIB)),
    Row(DISK, "2000 x 2 MiB at 0", "B", "s", 18.216, partial(measures.series_s, count=2000)),
    Row(DISK, "3000 x 2 MiB at 0", "B", "s", 27.311, partial(measures.series_s, count=3000)),
    Row(DISK, "4000 x 2 MiB at 0", "B", "s", 36.392, partial(measures.series_s, count=4000)),
    Row(DISK, "2000 at 3584 / 0, fresh file", "B", None, 21.299 / 18.216,
        partial(measures.series_ratio, count=2000, split=FRESH), SAME_REQUESTS),
    Row(DISK, "3000 at 3584 / 0, fresh file", "B", None, 32.029 / 27.311,
        partial(measures.series_ratio, count=3000, split=FRESH), SAME_REQUESTS),
    Row(DISK, "3000 at 3584 / 0, existing", "B", None, 38.954 / 27.311,
        partial(measures.series_ratio, count=3000, split=EXISTING)),
    Row(DISK, "4000 at 3584 / 0, fresh file", "B", None, 52.200 / 36.392,
        partial(measures.series_ratio, count=4000, split=FRESH)),

    uncached("w4096", 8.371), uncached("w512", 16.685), uncached("w4096_512", 16.704), uncached("w136k", 17.300),
    uncached("w4k_132k", 33.966),

    Row(FAST, "revolution", "C", "ms", 8.33, measures.full_stroke_turn_ms),
    Row(FAST, "half a revolution", "C", "ms", 4.17, measures.half_turn_ms),
    Row(FAST, "seek, full stroke", "F", "ms", 17, measures.full_stroke_seek_ms),
    Row(FAST, "seek, track to track", "F", "ms", 0.23, partial(measures.next_track_alone_ms, cylinder=TRACK_7200)),
    Row(FAST, "random read: seek, half a turn", "F", "ms", 7.5 + 4.17, measures.random_ms),
    Row(FAST, "random write, uncached", "F", "ms", 8.5 + 4.17, partial(measures.random_ms, write=True), cached=False),
    Row(FAST, "100 commits at 1 place", "E", "s", 0.95, partial(measures.commits_s, places=1),
        "100 turns are 0.83 s; each of these runs took some 0.12 s more, which is no whole turn for a commit"),
    Row(FAST, "2 places / 1, both in a turn", "E", None, 0.975 / 0.95, partial(measures.commits_ratio, apart=128 * KIB)),
    Row(FAST, "2 places / 1, one in a turn", "E", None, 1.845 / 0.95, partial(measures.commits_ratio, apart=64 * KIB)),
    Row(FAST, "one more turn a round", "E", "ms", (1.845 - 0.95) * 10, partial(measures.commit_turn_ms, apart=64 * KIB)),
    Row(FAST, "random reads, 32 at once / 1", "-", None, None, partial(measures.speedup, depth=32), NO_FIGURE),
    Row(FAST, "RMW of 2 blocks adds", "F", "ms", 16, partial(measures.rmw_adds_ms, count=2000, offset=512), cached=False),

    Row(STUDY, "revolution", "C", "ms", 11.11, measures.full_stroke_turn_ms),
    Row(STUDY, "half a revolution", "C", "ms", 5.56, measures.half_turn_ms),
    Row(STUDY, "random read", "C", "ms", 17.958, measures.random_ms),
    Row(STUDY, "fullstroke, seek", "C", "ms", 22.051, measures.full_stroke_seek_ms),
    Row(STUDY, "fullstroke, revolution", "C", "ms", 10.666, measures.full_stroke_turn_ms),
    Row(STUDY, "tracktotrack, seek", "C", "ms", 1.5, partial(measures.next_track_seek_ms, cylinder=TRACK_5400)),
    Row(STUDY, "tracktotrack, revolution", "C", "ms", 11.179, partial(measures.next_track_turn_ms, cylinder=TRACK_5400)),
    Row(STUDY, "seqread, fastest", "C", "MB/s", 51, measures.fastest_probe),
    Row(STUDY, "seqread, slowest", "C", "MB/s", 22, measures.slowest_probe),
    Row(STUDY, "chunk-size, 90 % of the best", "C", "MiB", 8, measures.saturates_mib),
    Row(STUDY, "sorted-reads, window 1", "C", "s", 18.11, partial(measures.sorted_s, window=1, span=70 * GB)),
    Row(STUDY, "sorted-reads, window 32", "C", "s", 12.19, partial(measures.sorted_s, window=32, span=70 * GB), SHORT_SEEKS),
    Row(STUDY, "sorted-reads, window 1024", "C", "s", 9.46, partial(measures.sorted_s, window=1024, span=70 * GB), SHORT_SEEKS),
    Row(STUDY, "RMW of 2 blocks adds", "F", "ms", 22, partial(measures.rmw_adds_ms, count=2000, offset=512), cached=False),

    Row(EARS, "4 KiB, stride 16 KiB, aligned", "F", "ms", 0.595, strided(measures.strided_ms)),
    Row(EARS, "4 KiB, stride 16 KiB, +512", "F", "ms", 37.1, strided(measures.strided_ms, 512)),
    Row(EARS, "stride, ratio", "F", None, 62, strided(measures.strided_ratio, 512)),
    Row(EARS, "1000 random O_SYNC, aligned", "F", "ms", 7.5, partial(measures.durable_ms, count=1000)),
    Row(EARS, "1000 random O_SYNC, +512", "F", "ms", 23, partial(measures.durable_ms, count=1000, offset=512), ODD_TURNS),
    Row(EARS, "O_SYNC, ratio", "F", None, 3, partial(measures.durable_ratio, count=1000, offset=512), ODD_TURNS),
    Row(EARS, "mke2fs, start at 63 / aligned", "F", None, 3.5, None, "the requests of mke2fs are not published"),

    Row(LIAR, "32768 x 4 KiB, aligned", "F", "s", 28.1, strided(measures.strided_s)),
    Row(LIAR, "32768 x 4 KiB, +512", "F", "s", 79.9, strided(measures.strided_s, 512)),
    Row(LIAR, "32768 x 4 KiB, ratio", "F", None, 2.8, strided(measures.strided_ratio, 512)),
    Row(LIAR, "copy over USB 3, aligned", "F", "MB/s", 83, copied(measures.copy_mb_s)),
    Row(LIAR, "copy over USB 3, +512", "F", "MB/s", 15.5, copied(measures.copy_mb_s, offset=512)),
    Row(LIAR, "copy over USB 3, ratio", "F", None, 5.4, copied(measures.copy_ratio)),

    Row(NVME, "4 KiB write, aligned", "F", "us", 20, partial(measures.strided_us, count=4000, size=BLOCK)),
    Row(NVME, "4 KiB write, +512", "F", "us", 150, partial(measures.strided_us, count=4000, size=BLOCK, offset=512)),
    Row(NVME, "4 KiB write, ratio", "F", None, 7.5, partial(measures.strided_ratio, count=4000, size=BLOCK, offset=512)),
    Row(NVME, "random 4 KiB read", "C", "us", 129, measures.random_us),
    Row(NVME, "best depth, 13 / 1", "C", None, 8.6, partial(measures.speedup, depth=13),
        "another SSD, which read 421 MB/s at most"),
    Row(NVME, "8 KiB reads, 1 job", "D", "/s", 7457, partial(measures.files_iops, jobs=1, count=20000)),
    Row(NVME, "8 KiB reads, 4 jobs", "D", "/s", 25500, partial(measures.files_iops, jobs=4, count=40000)),
    Row(NVME, "8 KiB reads, 8 jobs", "D", "/s", 49000, partial(measures.files_iops, jobs=8, count=40000)),
    Row(NVME, "8 KiB reads, 16 jobs", "D", "/s", 84800, partial(measures.files_iops, jobs=16, count=80000)),
    Row(NVME, "8 KiB reads, 32 jobs", "D", "/s", 122000, partial(measures.files_iops, jobs=32, count=160000)),
    Row(NVME, "8 KiB writes, 8 jobs", "D", "/s", 47200, partial(measures.files_iops, jobs=8, count=400000, write=True)),
    Row(NVME, "8 KiB random writes, 8 jobs", "D", "/s", 18400, None, "garbage collection is not modelled"),

    Row("qlc-16k", "sequential read", "Q", "MB/s", 7400, partial(measures.stream_mb_s, jobs=32, count=40000)),
    Row("qlc-16k", "sequential write", "Q", "MB/s", 3200, partial(measures.stream_mb_s, jobs=32, count=80000, write=True)),
    Row("qlc-16k", "4 KiB random reads, 512 at once", "Q", "/s", 930000, partial(measures.random_iops, depth=512, count=100000)),
    Row("qlc-16k", "16 KiB write, +4096 / aligned", "-", None, None,
        partial(measures.strided_ratio, count=2000, size=16 * KIB, offset=4096), NO_FIGURE),
    Row("qlc-64k", "64 KiB write, +4096 / aligned", "-", None, None,
        partial(measures.strided_ratio, count=2000, size=64 * KIB, offset=4096), NO_FIGURE),
)
