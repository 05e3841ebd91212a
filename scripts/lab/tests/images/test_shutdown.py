# SPDX-License-Identifier: GPL-2.0
"""In each way of a system to go down in order, what coalesce holds is on the disk before the machine is left."""

import json

import pytest

from lab.images import filesystem, project
from lab.images.image import Image

pytestmark = [pytest.mark.check_all("test_reboot.py reboots a guest and User Mode Linux while touches are held"),
              pytest.mark.timeout(1200)]
HELD = "--mode coalesce --hold-ms 600000"
# (sector, sectors) of each write, counted from where a step begins: together TOUCHES partial touches.
WRITES = ((1, 1), (11, 2), (807, 2))
TOUCHES = 4
# Sectors from one step to the next.
STEP = 4096
# First sector of the partition: no multiple of a physical block, so that blocks of its file system have two touches each.
START = 63


def content(step, sector, sectors):
    """Return data that no other write of a test has."""
    return b"".join(f"step {step} sector {sector + i}\n".encode().ljust(512, b".") for i in range(sectors))


@pytest.fixture(scope="module", params=project.generations())
def image(request):
    return Image(request.param)


@pytest.fixture(scope="module")
def shared(image, tmp_path_factory):
    return project.tree(image.release(), tmp_path_factory.mktemp("project"))


def pending(machine, name):
    [device] = json.loads(machine.check(f"alignctl stats {name} --json"))["devices"]
    return device["counters"]["rmw_pending"]


def read(path, sector, sectors):
    with open(path, "rb") as disk:
        disk.seek(sector * 512)
        return disk.read(sectors * 512)


# Writes requests from a file, and keeps the device open until the system ends: after a close udev looks at the content, and
# blkid's ioctls, which pass the device on to its drive, write back what is held.
WRITER = """\
import json, mmap, os, signal
requests = json.load(open("/mnt/project/requests"))
device = os.open("/dev/mapper/held", os.O_WRONLY | os.O_DIRECT)
for sector, text in requests:
    buffer = mmap.mmap(-1, len(text))
    buffer[:] = text.encode()
    assert os.pwrite(device, buffer, sector * 512) == len(text)
open("/run/written", "w").close()
signal.pause()
"""


def hold(machine, step):
    """Write to a device in coalesce so that every write is held."""
    machine.check(f"alignctl attach /dev/disk/by-id/virtio-drive0 {HELD} --name held && udevadm settle && rm -f /run/written")
    requests = [(step * STEP + sector, content(step, sector, sectors).decode()) for sector, sectors in WRITES]
    (machine.project / "requests").write_text(json.dumps(requests))
    (machine.project / "writer").write_text(WRITER)
    machine.check("setsid python3 /mnt/project/writer </dev/null >/run/writer 2>&1 & "
                  "for i in $(seq 300); do [ ! -e /run/written ] || exit 0; sleep 0.1; done; cat /run/writer; exit 1")
    assert pending(machine, "held") == TOUCHES
    assert not any(arrived(machine, step))


def arrived(machine, step):
    """Return of each write whether it is on the disk, as the host sees it."""
    return [read(machine.disk(0), step * STEP + sector, sectors) == content(step, sector, sectors) for sector, sectors in WRITES]


def test_what_is_held_is_on_the_disk_after_every_orderly_end(image, shared):
    with image.machine(f"shutdown-{image.generation}", disks=["64M"], project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        hold(machine, 0)
        machine.reboot()
        assert all(arrived(machine, 0)), "systemctl reboot lost what was held"
        hold(machine, 1)
        machine.kexec()
        assert all(arrived(machine, 1)), "systemctl kexec lost what was held"
        hold(machine, 2)
        machine.kexec("kexec -e")
        assert all(arrived(machine, 2)), "kexec -e lost what was held"
        hold(machine, 3)
        machine.poweroff()
        assert all(arrived(machine, 3)), "poweroff lost what was held"


def test_a_power_cut_loses_what_is_held(image, shared):
    """Or the other tests would not notice a loss."""
    with image.machine(f"cut-{image.generation}", disks=["64M"], project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        hold(machine, 0)
        machine.cut()
        assert not any(arrived(machine, 0))


def test_a_file_system_is_whole_after_every_orderly_end_with_touches_held(image, shared, tmp_path):
    with image.machine(f"shutdown-ext4-{image.generation}", disks=["64M"], project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        machine.check(f"echo {START} | sfdisk --quiet --no-tell-kernel /dev/disk/by-id/virtio-drive0 && "
                      "partx -u /dev/disk/by-id/virtio-drive0 && udevadm settle")
        for step, leave in enumerate((machine.reboot, machine.kexec, machine.poweroff)):
            machine.check(f"alignctl attach /dev/disk/by-id/virtio-drive0-part1 {HELD} --name held")
            if not step:
                machine.check("mkfs.ext4 -q /dev/mapper/held")
            machine.check("mount /dev/mapper/held /mnt/held" if step else "mkdir /mnt/held && mount /dev/mapper/held /mnt/held")
            (shared / "data").write_bytes(content(step, 0, 96))
            # Neither dd nor the kernel flushes: the blocks at both ends of each run are held. But udev, which looks at a
            # device that was made or written, would have them written.
            machine.check(f"udevadm settle && dd if=/mnt/project/data of=/mnt/held/file{step} bs=48K oflag=direct status=none")
            assert pending(machine, "held")
            leave()
            # Written back by the end of the system, not by time.
            place = f"{machine.disk(0)}?offset={START * 512}"
            for each in range(step + 1):
                filesystem.fetch(place, f"/file{each}", tmp_path / "file")
                assert (tmp_path / "file").read_bytes() == content(each, 0, 96)
            assert not filesystem.faults(place)
