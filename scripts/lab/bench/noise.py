# SPDX-License-Identifier: GPL-2.0
"""The load of the machine and of the guest, from /proc/stat and /proc/loadavg."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """Processor time, in ticks over all processors, since boot or in an interval."""

    total: int
    idle: int
    steal: int

    @classmethod
    def parse(cls, stat: str) -> Usage:
        """Parse the first line of /proc/stat: user nice system idle iowait irq softirq steal ..."""
        name, *ticks = stat.splitlines()[0].split()
        if name != "cpu" or len(ticks) < 8:
            raise ValueError(f"/proc/stat begins with {stat.splitlines()[0]!r}, expected 'cpu' "
                             "and at least eight figures")
        figures = [int(tick) for tick in ticks[:8]]
        return cls(sum(figures), figures[3] + figures[4], figures[7])

    @classmethod
    def of_host(cls) -> Usage:
        return cls.parse(Path("/proc/stat").read_text())

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(self.total - earlier.total, self.idle - earlier.idle,
                     self.steal - earlier.steal)

    @property
    def busy_share(self) -> float:
        return (self.total - self.idle) / self.total if self.total else 0.0

    @property
    def steal_share(self) -> float:
        return self.steal / self.total if self.total else 0.0


def host_load() -> float:
    """Return the load average of the last minute."""
    return float(Path("/proc/loadavg").read_text().split()[0])
