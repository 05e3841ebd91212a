# SPDX-License-Identifier: GPL-2.0
"""The memory of a device that does nothing, from the kernel's accounts, and the time to make one."""

import subprocess
from types import SimpleNamespace

import pytest

from lab.bench import idle, report
from lab.bench.figures import IDLE_BYTES, MET, MISSING, NOT_MET, ROWS
from lab.bench.record import Record

SLABINFO = """\
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables
kmalloc-8k            {} 20   8192    4    8 : tunables    0    0    0 : slabdata      5      {}      0
kernfs_node_cache   {} 4000    136   30    1 : tunables    0    0    0 : slabdata     80     80      0
"""
MEMINFO = "MemTotal: 2000 kB\nPercpu: {} kB\nKernelStack: 2000 kB\nSlab: {} kB\n"


def test_the_accounts_of_the_kernel_are_read_by_part():
    assert idle.parse_meminfo(MEMINFO.format(100, 500)) == {"per-CPU memory": 102400, "stacks": 2048000, idle.SLAB: 512000}
    # An object of 136 bytes takes a thirtieth of a page: 136.5.
    assert idle.parse_slabinfo(SLABINFO.format(3, 5, 300)) == ({"kmalloc-8k": 3 * 8192, "kernfs_node_cache": 40960},
                                                            5 * 8 * 4096 + 80 * 4096)


class Guest:
    """A stand-in whose accounts rise with its devices, by a slab and 16 KiB more for coalesce, and whose clock is constant."""

    def __init__(self):
        self.names = []

    def run(self, *argv, **_):
        if argv[0] == "cat":
            own = sum("coalesce" in name for name in self.names)
            if "slabinfo" in argv[1]:
                return SLABINFO.format(3 + own, 5 + own, 300)
            return MEMINFO.format(100 + 4 * len(self.names), 500 + (32 + 16) * own)
        if argv[0] == "blockdev":
            return "8388608"
        if argv[-1].startswith("ls "):
            return f"{idle.MEMORY}/ld-linux.so\n"
        if "--concise" in argv:
            assert argv[3:7] == (f"{idle.MEMORY}/ld-linux.so", "--library-path", idle.MEMORY, f"{idle.MEMORY}/dmsetup")
            self.names += [line.partition(",")[0] for line in argv[-1].split(";")]
            return "2.0" if "coalesce" in argv[-1] else "1.5"
        if "remove" in argv:
            for name in argv[argv.index("remove") + 1:]:
                self.names.remove(name)
            return "1.0"
        return ""


def idlers(guest, devices):
    made = idle.Idlers(guest, devices)
    made.set_up([])
    return made


def test_memory_is_what_there_is_more_for_each_device():
    made = {each.arm: each for each in idlers(Guest(), 50).weigh(64)}
    assert made["linear"].memory == {"per-CPU memory": 4096}
    assert made["coalesce"].memory == {"per-CPU memory": 4096, "kmalloc-8k": 8192, idle.LARGE: 16384}


def test_devices_are_made_and_removed_in_groups_and_the_first_round_is_dropped():
    guest = Guest()
    made = idlers(guest, idle.AT_ONCE + 1).time(2, lambda *_: None)
    assert guest.names == []
    assert [(each.arm, each.made_s, each.removed_s) for each in made] == [("linear", 3.0, 2.0), ("coalesce", 4.0, 2.0)] * 2


def runs(more):
    return [idle.Idle(possible, arm, 500, {"kept": 50.0, "cache": size})
            for possible in idle.POSSIBLE for arm, size in (("linear", 100.0), ("coalesce", 100.0 + more))]


@pytest.mark.parametrize("more, verdict", [(IDLE_BYTES, MET), (IDLE_BYTES + 1, NOT_MET)])
def test_memory_is_compared_with_that_of_linear(more, verdict):
    figure, = ROWS["idle"].figures(Record(idle=runs(more)))
    assert figure.verdict == verdict
    assert figure.value == more and "cache 160.0" in figure.measured


def test_without_runs_of_linear_nothing_is_compared():
    own = [each for each in runs(10) if each.arm != "linear"]
    assert [figure.verdict for figure in ROWS["idle"].figures(Record(idle=own))] == [MISSING]
    assert [figure.verdict for figure in ROWS["devices"].figures(Record(made=[idle.Made("coalesce", 9, 1.0, 1.0)]))] == [MISSING]


@pytest.mark.parametrize("removed, verdict", [(2.0, MET), (2.01, NOT_MET)])
def test_the_time_is_that_to_make_and_to_remove_the_median_of_the_rounds(removed, verdict):
    made = [idle.Made(arm, 1000, 1.0, time) for arm, times in (("linear", (1.0, 1.0, 9.0)), ("coalesce", (removed, 0.1, 9.0)))
            for time in times]
    figure, = ROWS["devices"].figures(Record(made=made))
    assert figure.verdict == verdict and figure.value == (1 + removed) / 2


def test_parts_are_those_beyond_linear_the_largest_first():
    assert idle.beyond({"a": 1.0, "b": 9.0}, {"a": 1.0, "c": 2.0}) == {"b": 9.0, "c": -2.0, "a": 0.0}
    table = report.idle_table(Record(idle=runs(500.0), structures={"align_node": 8384}))
    assert "align_node 8384" in table.title
    assert [list(column.cells) for column in table.columns[:2]] == [["cache", "all"], ["500", "500"]]


def test_sizes_of_structures_are_those_of_the_module(monkeypatch, tmp_path):
    def shown(names):
        return lambda *_, **__: SimpleNamespace(stdout="".join(f"{name}\t{size}\t0\n" for size, name in enumerate(names)))
    monkeypatch.setattr(subprocess, "run", shown(("other", *idle.STRUCTURES, *idle.PER_CPU)))
    assert idle.structures(tmp_path)["align_target"] == 1
    monkeypatch.setattr(subprocess, "run", shown(idle.STRUCTURES))
    with pytest.raises(ValueError, match="no debugging information of ledger_share, quiet_counts"):
        idle.structures(tmp_path)
