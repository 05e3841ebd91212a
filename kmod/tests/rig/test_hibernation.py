# SPDX-License-Identifier: GPL-2.0
"""
A machine that hibernates (ACPI S4), loses the power with its drives, and is resumed; swap and image lie on the target, on
misaligned blocks, in mode coalesce.

The risk: two kernels have the target's tables over the same drives, one after the other, and each has memory that
the other does not know.

- The held data of the first kernel are acknowledged, and not on the drive. They are in the image as well, but it may never be
  resumed. So they are written before the image is made, and the target in the image holds nothing that the drive lacks.
- The image is written through the first kernel's target, after its memory was copied. Any part of the image that the target held
  would be lost with the power, as no reboot notifier is called.
- The resuming kernel puts swap's own signature in place of the image's before it calls the notifiers, through its own target,
  which holds that write. Its memory is gone when the image is loaded. If the write is gone, too, the next boot resumes once
  more, over file systems that have changed since.

guest/test_sleep.py tests that no content is cached meanwhile, which a sleep of more than half a second cannot show.
"""

import dataclasses
import re
from pathlib import Path

import pytest

from lab.linux import gates
from lab.machines import again, alone, drives, vm
from lab.paths import REPO
from lab.plugins.batch import BOOT_SECONDS
from lab.plugins.extent import one_kernel
from rig.direct import SECTOR, check, pattern

# Where the devices begin on their drives.
START = 63
# Sectors of the data device: held before the machine is off, and written afterwards to the same blocks.
HELD = [(1, 2), (80, 1), (801, 3)]
LATER = [(4, 1), (78, 1), (805, 2)]
# The last bytes of a page at the begin of swap, with an image and without one.
IMAGE, SWAP = b"S1SUSPEND\0", b"SWAPSPACE2"
TOKEN = "only-in-memory"


def contents(tag, places):
    return {sector: pattern(tag, sector, sectors) for sector, sectors in places}


@dataclasses.dataclass
class Content:
    """The content of a drive at one moment."""
    data: bytes

    @classmethod
    def of(cls, path):
        return cls(Path(path).read_bytes())

    def check(self, tag, places, when):
        for sector, want in contents(tag, places).items():
            at = (START + sector) * SECTOR
            check(sector, want, self.data[at:at + len(want)], when)

    @property
    def signature(self):
        return self.data[START * SECTOR + 4086:START * SECTOR + 4096]


@dataclasses.dataclass
class Boot:
    """A boot of the machine: its run, its messages, and its drives after their power was cut."""
    run: vm.Result
    swap: Content
    data: Content
    counters: dict

    @property
    def told(self):
        return dict(re.findall(r"\] hibernation: (\w+) (\S+)$", self.run.console, re.M))

    @property
    def end(self):
        return self.run.console[-2000:]


def boot(which, series, suffix, booted, initrd, served, folder):
    """Boot the machine until it powers off, cut the drives' power as well, and give it back; return a Boot."""
    words = [f"lab.boot={which}", *([f"lab.token={TOKEN}"] if which == "first" else [])]
    for drive in served.values():
        drive.control("reset")
    run = alone.run(booted, initrd, name=f"hibernation-{series}-{which}{suffix}", timeout=BOOT_SECONDS, words=words,
                    drives=[served[name].attached() for name in ("swap", "data")])
    counters = {name: drive.control("stats") for name, drive in served.items()}
    for drive in served.values():
        drive.control("power cut")
        drive.control("power on")
    print(f"{which} boot: {run.seconds:.1f} s;", {name: {key: stats[key] for key in ("writes", "touches", "rmws", "flushes")}
                                                  for name, stats in counters.items()})
    return Boot(run, Content.of(folder / "swap"), Content.of(folder / "data"), counters)


@pytest.fixture(scope="module", params=one_kernel("the notifier is the same on each kernel"))
def boots(request, tmp_path_factory):
    """Hibernate and resume; return both boots."""
    series, folder = request.param, tmp_path_factory.mktemp("hibernation")
    booted = alone.kernel(series, "virtio_scsi", "sd_mod", "dm_mod")
    files = {"dm-align.ko": gates.module(series).read_bytes()}
    for name, tag, places in (("held", 1, HELD), ("later", 2, LATER)):
        files.update({f"{name}/{sector}": data for sector, data in contents(tag, places).items()})
    alone.initramfs(booted, folder / "initrd", REPO / "kmod/tests/rig/hibernation.sh", programs=["dmsetup"], files=files)
    # On SCSI, as the kernel flushes the caches of these disks before it cuts the power.
    servers = {name: drives.Server(size=size, options=(f"file={folder / name}",), presented={"bus": "scsi"})
               for name, size in (("swap", "320M"), ("data", "16M"))}
    made = []

    def pair(suffix):
        """Make both boots on new drives, the second one if the first one ended well; return the last one's result."""
        made.clear()
        for name in servers:
            (folder / name).unlink(missing_ok=True)
        with drives.serve(servers, folder / f"drives{suffix}") as served:
            for which in ("first", "second"):
                made.append(boot(which, series, suffix, booted, folder / "initrd", served, folder))
                if made[-1].run.status or made[-1].run.faults:
                    break
        return made[-1].run

    last = again.run(pair)
    assert last.status == 0 and not last.faults, vm.explain(last)
    return tuple(made)


# One worker: another one would boot once more, under the same name.
one_hibernation = pytest.mark.xdist_group("hibernation")
pytestmark = [one_hibernation, pytest.mark.timeout(0)]


def resumed(boots):
    """Return the second boot. Fails if it did not resume the first one's system."""
    second = boots[1]
    assert second.told.get("resumed") == TOKEN, f"the image was not resumed: {second.end}"
    return second


def test_what_is_held_is_on_the_drive_when_a_hibernated_machine_has_no_power(boots):
    first = boots[0]
    assert "Preparing to enter system sleep state S4" in first.run.console, first.end
    assert first.told["held"] == str(len(HELD)), "not all was held: the test proves nothing"
    assert "resumed" not in first.told, first.end
    first.data.check(1, HELD, "on the drive, while the machine is off")
    assert first.counters["data"]["touches"] == 0, "what was held was not written as whole blocks"


def test_an_image_on_misaligned_blocks_is_resumed_with_swap_and_memory(boots):
    assert boots[0].swap.signature == IMAGE, f"there is no image on the drive, but {boots[0].swap.signature}"
    second = resumed(boots)
    assert int(second.told["swapped"]) > 0, "nothing was swapped out: the test proves little"
    assert second.told["memory"] == "same" and "differs" not in second.told, second.end
    assert second.told["removed"] == "both", second.end


def test_the_target_of_a_resumed_machine_holds_nothing_from_before_and_holds_again(boots):
    second = resumed(boots)
    assert (second.told["held_after"], second.told["held_again"]) == ("0", str(len(LATER)))
    second.data.check(1, HELD, "written before the machine was off")
    second.data.check(2, LATER, "written after it was resumed")


def test_the_signature_of_an_image_is_gone_from_the_drive_when_it_has_been_resumed(boots):
    second = resumed(boots)
    assert second.swap.signature == SWAP, f"the next boot would resume once more: {second.swap.signature}"
