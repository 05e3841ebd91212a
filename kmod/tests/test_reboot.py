# SPDX-License-Identifier: GPL-2.0
"""An orderly reboot suspends nobody: what is held is written all the same, by a notifier."""

import json
import shlex

import pytest
from uml_reboot import PLACES

from dmalign import drives, kernels, modules, reboot, uml, vm
from dmalign.batch import BOOT_SECONDS
from dmalign.paths import REPO
from rig.direct import Disk, pattern
from rig.dm import Align


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


def assert_written(path):
    with open(path, "rb") as data:
        for tag, (sector, sectors) in enumerate(PLACES, 1):
            data.seek(sector * 512)
            assert data.read(sectors * 512) == pattern(tag, sector, sectors), f"sector {sector} is not on the drive"


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
    assert_written(tmp_path / "data")


@pytest.mark.timeout(0)
def test_an_orderly_reboot_gives_up_on_disks_that_fail_or_do_not_answer(tmp_path):
    """Not before it has written what it can; and each says so."""
    data = tmp_path / "data"
    run = reboot.run(uml.module(), data, "reboot")
    text = (run.folder / "output").read_text()
    assert text == f"{[len(PLACES)] * 3}\n", f"not all was held: {text}"
    said = [line for line in run.console.splitlines() if "held blocks are not written at the end" in line]
    assert [line.split("error ")[1] for line in said] == ["-5", "-110"], run.console[-3000:]
    assert not run.faults
    assert_written(data)
