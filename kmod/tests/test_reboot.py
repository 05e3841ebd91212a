# SPDX-License-Identifier: GPL-2.0
"""An orderly reboot suspends nobody: what is held is written all the same, by a notifier."""

import json
import shlex

import pytest

from dmalign import drives, kernels, modules, vm
from dmalign.batch import BOOT_SECONDS
from dmalign.paths import REPO
from rig.direct import Disk, pattern
from rig.dm import Align

PLACES = [(81, 2), (803, 1), (88, 1)]


def in_guest():
    """Holds what is to be found on the drive later, and reboots without a word to it."""
    import ctypes

    device = Align("/dev/vda", mode="coalesce", hold_ms=600000)
    device.__enter__()
    with Disk(device.path) as upper:
        for tag, (sector, sectors) in enumerate(PLACES, 1):
            upper.write(sector, pattern(tag, sector, sectors))
    print(json.dumps(device.ledger()), flush=True)
    ctypes.CDLL(None).reboot(0x01234567)


@pytest.mark.parametrize("series", kernels.SERIES)
@pytest.mark.timeout(0)
def test_an_orderly_reboot_writes_what_is_held(series, tmp_path):
    module = modules.build_for(kernels.release(series))[0] / "dm-align.ko"
    program = f"import sys; sys.path[:0] = {[str(REPO / 'kmod/tests'), str(REPO / 'scripts')]}; " \
        "from test_reboot import in_guest; in_guest()"
    command = f"modprobe dm_mod && insmod {shlex.quote(str(module))} && " \
        f"exec {shlex.quote(str(REPO / 'scripts/python'))} -c {shlex.quote(program)}"
    served = {"reboot": drives.Server(size="64M", options=(f"file={tmp_path}/data",))}
    with drives.serve(served, tmp_path) as served, open(tmp_path / "said", "w") as said:
        run = vm.run(command, timeout=BOOT_SECONDS, series=series, name=f"reboot-{series}", stdout=said,
                     drives=[served["reboot"].attached()])
    text = (tmp_path / "said").read_text()
    assert text.startswith("{"), f"{text}\n{(run.folder / 'console.log').read_text()[-3000:]}"
    ledger = json.loads(text)
    assert ledger["held_blocks"] == ledger["touches_held"] == len(PLACES), "nothing was held: the test proves nothing"
    assert not run.faults
    with open(tmp_path / "data", "rb") as data:
        for tag, (sector, sectors) in enumerate(PLACES, 1):
            data.seek(sector * 512)
            assert data.read(sectors * 512) == pattern(tag, sector, sectors), f"sector {sector} is not on the drive"
