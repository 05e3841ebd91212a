# SPDX-License-Identifier: GPL-2.0
"""Made-up documents of `alignctl stats --interval`, and a made-up device that answers with them."""

from align_reports.live.experiment import Sample, blocks

MODES = ["report", "pad"]
# Of 100 touches, those avoided, those that dm-align reads for, and those left to the drive; and the misaligned mean in us.
FATES = {"report": (0, 0, 100, 9000.0), "pad": (60, 40, 0, 3000.0), "coalesce": (98, 2, 0, 60.0)}
NEAR = (1.0, 1.04, 0.97, 1.02)


def _histogram(mean, count):
    """All of them in one bin, whose end is above the mean."""
    return {"unit": "us, less than", "count": count, "bins": [[mean * 1.1, count]] if count else [], "open": 0,
            "p50_us": mean * 1.1 if count else 0, "p90_us": mean * 1.1 if count else 0, "p99_us": mean * 1.1 if count else 0}


def made_up(mode, seconds=10, pace=1.0, writes=1000, misaligned=True, **counters):
    """Make the document of one device. pace: factor of the latencies"""
    avoided, host, drive, mean = FATES[mode]
    touches = writes // 10 if misaligned else 0
    counted = {"rmw_expected": touches, "rmw_avoided": avoided * touches // 100, "rmw_host": host * touches // 100,
               "rmw_drive": drive * touches // 100, "rmw_lost": 0, "rmw_pending": 0, "writes": writes, **counters}
    few = touches if misaligned else 0
    return {
        "name": "align-x", "dm": "dm-3", "targets": [{"mode": mode}], "counters": counted,
        "histograms": {"latency_aligned": _histogram(50 * pace, writes - few),
                       "latency_misaligned": _histogram(mean * pace, few)},
        "interval": {"seconds": float(seconds), "writes_per_second": writes / seconds, "touches_per_second": touches / seconds,
                     "aligned_mean_us": 50 * pace if writes - few else None,
                     "aligned_p99_us": 55 * pace if writes - few else None,
                     "misaligned_mean_us": mean * pace if few else None,
                     "misaligned_p99_us": mean * 1.1 * pace if few else None}}


def made_up_samples(count=6, modes=("report", "pad"), make=made_up, seed=7):
    """Make the samples of `count` blocks, one after another; no two have the same pace."""
    made, began = [], 0.0
    drawn = blocks(list(modes), 10, 30, seed)
    for block in (next(drawn) for _ in range(count)):
        for period in block:
            made.append(Sample(period, began + 1, make(period.mode, period.seconds, NEAR[period.number % len(NEAR)])))
            began += 1 + period.seconds
    return made


class MadeUpDevice:
    """A device on a clock of its own; `diary` has what was done to it, and `fails` which exception comes at which step."""

    def __init__(self, before="report", fails=None, make=made_up):
        self.mode, self.before, self.now, self.diary, self.fails, self.make = before, before, 0.0, [], fails or {}, make
        self.theirs = None

    def _step(self, *what):
        self.diary.append(what)
        error = self.fails.get(len(self.diary))
        if error:
            raise error

    def clock(self):
        return self.now

    def change(self, mode):
        self._step("change", mode)
        self.mode = mode

    def wait(self, seconds):
        self._step("wait", seconds)
        self.now += seconds

    def measure(self, seconds):
        self._step("measure", seconds)
        self.now += seconds
        return self.make(self.theirs or self.mode, seconds)

    def end(self):
        self.diary.append(("end",))
        if self.theirs:
            return f"in mode {self.theirs}"
        self.mode = self.before
        return None
