# SPDX-License-Identifier: GPL-2.0
"""One stress of the target on a disk that the kernel itself makes, for kernels that have no emulated drive.

    stress.py MODULE TOOLS null_blk|scsi_debug report|pad SECONDS

Every sector is checked through the target and beneath it, the ledger must balance and match what was sent, and the
module must unload afterwards.
"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "kmod" / "tests"))

from rig.dm import Align, run  # noqa: E402  (the path comes first)
from rig.lab import Lab, exactly_as_sent  # noqa: E402

# scsi_debug's disk has its first boundary at its logical block 7; null_blk knows no physical block.
LOWEST = 7


@contextlib.contextmanager
def null_blk(lab):
    """Memory behind a queue that completes in another context, some microseconds later."""
    run("modprobe", "null_blk", "nr_devices=1", "gb=1", "memory_backed=1", "irqmode=2", "completion_nsec=20000",
        "discard=1", "queue_mode=2", "cache_size=16")
    try:
        exactly_as_sent("/dev/nullb0")
        # No write-zeroes: the kernel would write zeroes instead, which the load does not count as touches.
        yield "/dev/nullb0", {"physical_block_size": 4096, "alignment_offset": 0}, {"alignment": 0, "zeroes": 0}
    finally:
        run("rmmod", "null_blk")


@contextlib.contextmanager
def scsi_debug(lab):
    with lab.scsi_debug(megabytes=32, sector_size=512, physblk_exp=3, lowest_aligned=LOWEST, lbpu=1, lbpws=1) as path:
        yield path, {}, {"alignment": LOWEST * 512, "zeroes": 5}


def main(module, tools, disk, mode, seconds):
    lab = Lab(None, Path(tools), module, float(seconds), 0)
    lab.load_module()
    with {"null_blk": null_blk, "scsi_debug": scsi_debug}[disk](lab) as (path, overrides, options):
        with Align(path, mode=mode, **overrides) as device:
            load = lab.stress(device.path, beneath=path, torn_reads=True, flush=1, fua=3, discard=5, **options)
            load.finish()
            ledger = device.balanced()
            print(ledger)
            assert ledger["rmw_expected"] == load.touches, f"{ledger['rmw_expected']} touches, sent {load.touches}"
            assert ledger["rmw_lost"] == 0 and ledger["flushes"] > 0 and ledger["fua"] > 0 and ledger["discards"] > 0
            if mode == "pad":
                assert ledger["rmw_drive"] == ledger["rmw_drive_edge"]
    lab.unload_module()


if __name__ == "__main__":
    main(*sys.argv[1:])
