# SPDX-License-Identifier: GPL-2.0
"""Devices of /etc/aligntab are there again after each reboot, and what is stacked on them is on them and not beside them,
whichever disk is late."""

import pytest

from followed import command_of
from lab.images import filesystem, project
from lab.images.image import Image

pytestmark = [pytest.mark.check_all("test_boot.py of the guests plays udev and systemd for one device"),
              pytest.mark.timeout(3600)]
# Each align device and its disk: of a file system, LVM, two md members, LUKS.
DISKS = {"fs": "vdb", "pv": "vdc", "m0": "vdd", "m1": "vde", "luks": "vdf"}
# Each mount, with the align devices that it must be on.
MOUNTS = {"/mnt/fs": ["fs"], "/mnt/lv": ["pv"], "/mnt/md": ["m0", "m1"], "/mnt/secret": ["luks"]}
# Seconds by which udev takes longer for a disk, in each of the reboots.
DELAYS: tuple[dict[str, int], ...] = ({}, {"vdb": 4}, {"vdc": 4, "vdf": 1}, {"vdd": 5}, {"vde": 2, "vdb": 1, "vdf": 5})
REBOOTS = len(DELAYS)
# From this reboot on the initramfs attaches; in those before it, it only hides, and systemd's units attach.
FROM_INITRAMFS = 3
# Seconds of the reference machine for an initramfs and for file systems, under emulation.
SET_UP_SECONDS = 300

# Sleeps for a disk as the kernel's command line says; in the initramfs, too, which has no more than a shell, cat and sleep.
DELAY = """\
#!/bin/sh
for word in $(cat /proc/cmdline); do
	[ "${word#lab.delay=}" != "$word" ] || continue
	IFS=,
	for pair in ${word#lab.delay=}; do
		[ "${pair%:*}" != "$1" ] || sleep "${pair#*:}"
	done
done
exit 0
"""
HOOK = """\
#!/bin/sh
[ "$1" != prereqs ] || exit 0
. /usr/share/initramfs-tools/hook-functions
mkdir -p "$DESTDIR/lib/udev/rules.d" "$DESTDIR/usr/lib/lab"
cp /etc/udev/rules.d/10-delay.rules "$DESTDIR/lib/udev/rules.d/"
cp /usr/lib/lab/delay "$DESTDIR/usr/lib/lab/"
"""
# Takes the disk of the root away, before anything looks for it, and brings it back behind the back of all scripts: only what
# looks for the root, which asks no udev, then finds it.
TAKE = """\
#!/bin/sh
[ "$1" != prereqs ] || { echo udev; exit 0; }
grep -q lab.late /proc/cmdline || exit 0
device=$(readlink /sys/block/vda/device)
echo "${device##*/}" >/run/late
cat /run/late >/sys/bus/virtio/drivers/virtio_blk/unbind
"""
GIVE = """\
#!/bin/sh
[ "$1" != prereqs ] || { echo align mdadm; exit 0; }
[ -e /run/late ] || exit 0
mv /run/late /run/late.back
cat /run/late.back >/sys/bus/virtio/drivers/virtio_blk/bind
"""
RULE = 'SUBSYSTEM=="block", KERNEL=="vd?", ACTION=="add|change", PROGRAM="/usr/lib/lab/delay %k"\n'

SET_UP = f"""\
set -e
install -m 755 /mnt/project/delay /usr/lib/lab/delay
install -m 755 /mnt/project/hook /etc/initramfs-tools/hooks/delay
cp /mnt/project/rule /etc/udev/rules.d/10-delay.rules
udevadm control --reload
sed -i 's:^devices {{:devices {{ global_filter = [ "r|^/dev/align/below/|" ]:' /etc/lvm/lvm.conf
echo 'DEVICE /dev/mapper/*' >>/etc/mdadm/mdadm.conf
for pair in {' '.join(f"{name}:{index}" for index, name in enumerate(DISKS))}; do
	alignctl attach /dev/disk/by-id/virtio-drive${{pair#*:}} --name ${{pair%:*}} --mode pad --persist
done
mkdir -p {' '.join(MOUNTS)}
uuid() {{
	echo UUID=$(blkid -p -s UUID -o value $1)
}}
# format DEVICE MOUNT [uuid]: by its UUID, or by its path
format() {{
	mkfs.ext4 -q $1
	echo "$([ "$3" ] && uuid $1 || echo $1) $2 ext4 defaults 0 2" >>/etc/fstab
}}
format /dev/mapper/fs /mnt/fs uuid
pvcreate -q /dev/mapper/pv
vgcreate -q vg /dev/mapper/pv
lvcreate -q -W y -y -l 100%FREE -n lv vg
format /dev/vg/lv /mnt/lv
mdadm --create /dev/md0 --run --metadata=1.2 --level=1 --raid-devices=2 /dev/mapper/m0 /dev/mapper/m1
mdadm --detail --scan >>/etc/mdadm/mdadm.conf
format /dev/md0 /mnt/md uuid
head -c 64 /dev/urandom >/root/key
chmod 600 /root/key
cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/mapper/luks /root/key
echo "secret $(uuid /dev/mapper/luks) /root/key luks" >>/etc/crypttab
cryptsetup open --key-file /root/key /dev/mapper/luks secret
format /dev/mapper/secret /mnt/secret
systemctl daemon-reload
mount -a
for folder in init-premount local-block local-premount; do
	mv /usr/share/initramfs-tools/scripts/$folder/align /root/$folder
done
update-initramfs -u -k all 2>&1
cat /etc/aligntab /etc/fstab /etc/crypttab
"""


@pytest.fixture(scope="module", params=project.generations())
def image(request):
    return Image(request.param)


@pytest.fixture(scope="module")
def shared(image, tmp_path_factory):
    folder = project.tree(image.release(), tmp_path_factory.mktemp("project"))
    for name, text in (("delay", DELAY), ("hook", HOOK), ("rule", RULE), ("set-up", SET_UP), ("take", TAKE), ("give", GIVE)):
        (folder / name).write_text(text)
    return folder


def stack(machine, device):
    """Return the names of a block device and of all that it is on, as the kernel has them."""
    return machine.check(f"lsblk -nrso NAME {device}").split()


def holders(machine, disk):
    """Return the device-mapper names, else the kernel's, of all that holds a disk."""
    return machine.check(f"for holder in $(ls /sys/block/{disk}/holders); do "
                         f"cat /sys/block/$holder/dm/name 2>/dev/null || echo $holder; done").split()


def assert_on_align(machine):
    for disk, name in ((disk, name) for name, disk in DISKS.items()):
        assert holders(machine, disk) == [name], f"{disk} is used beside {name}"
    for mount, names in MOUNTS.items():
        source = machine.check(f"findmnt -nro SOURCE {mount}").strip()
        below = stack(machine, source)
        assert set(names) <= set(below), f"{mount} is on {below}, not on {names}"


def assert_attached_by(machine, initramfs):
    """Fail unless the initramfs, or the units of systemd, have attached the devices."""
    for name in DISKS:
        said = machine.journal(f"-b -u align@{name}.service")
        assert ("attached already" in said) == initramfs, said


def assert_not_waited_for(machine, name):
    """Fail if align.target, for which sysinit.target waits, has waited for a unit that failed."""
    up, failed = (int(machine.check(f"systemctl show -P {what}TimestampMonotonic {unit}"))
                  for what, unit in (("ActiveEnter", "align.target"), ("InactiveEnter", f"align@{name}.service")))
    assert 0 < up < failed, f"align.target came {(up - failed) / 1e6:.1f} s after {name} was given up"


def test_every_stack_is_on_its_device_after_every_reboot(image, shared):
    with image.machine(f"reboots-{image.generation}", disks=["64M"] * len(DISKS), project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        print(machine.check("sh /mnt/project/set-up", SET_UP_SECONDS))
        assert_on_align(machine)
        for number, delays in enumerate(DELAYS, 1):
            for mount in MOUNTS:
                machine.check(f"echo before reboot {number} >{mount}/{number}")
            if number == FROM_INITRAMFS:
                machine.check("for folder in init-premount local-block local-premount; do "
                              "mv /root/$folder /usr/share/initramfs-tools/scripts/$folder/align; done; "
                              + command_of("initramfs"),
                              SET_UP_SECONDS)
            if number == REBOOTS:
                # Named, and in the way of no other.
                machine.check("sed -i '1i broken ID=none mode=fast' /etc/aligntab && "
                              "echo 'absent ID=none nofail,timeout=60' >>/etc/aligntab")
            machine.append = "lab.delay=" + ",".join(f"{disk}:{seconds}" for disk, seconds in delays.items())
            machine.reboot("degraded" if number == REBOOTS else "running")
            assert_on_align(machine)
            assert_attached_by(machine, number >= FROM_INITRAMFS)
            for mount in MOUNTS:
                text = machine.check(f"cat $(ls -v {mount}/[0-9]*)")
                assert text == "".join(f"before reboot {each}\n" for each in range(1, number + 1))
        assert "mode=fast" in machine.journal("-b | grep /etc/aligntab:1:")
        assert "absent: device ID=none did not appear within 60 s" in machine.journal("-b -u align@absent.service")
        assert_not_waited_for(machine, "absent")
        machine.poweroff()


def test_root_is_on_its_device_and_whole_after_the_end(image, shared):
    with image.machine(f"root-{image.generation}", project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        machine.check("echo 'root ID=virtio-root mode=coalesce,hold-ms=600000,x-initrd.attach' >/etc/aligntab && "
                      "install -D -m 755 /mnt/project/take /etc/initramfs-tools/scripts/init-top/late && "
                      "install -D -m 755 /mnt/project/give /etc/initramfs-tools/scripts/local-block/late && "
                      + command_of("initramfs"), SET_UP_SECONDS)
        for append in ("", "lab.late"):
            machine.append = append
            machine.reboot()
            assert holders(machine, "vda") == ["root"]
            assert machine.check("findmnt -nro SOURCE /").strip() == "/dev/mapper/root"
        assert "coalesce" in machine.check("dmsetup status root")
        # Small pieces of a file, of which none is flushed.
        machine.check("for i in $(seq 100); do echo line $i >>/root/lines; done")
        machine.poweroff()
        assert not filesystem.faults(machine.root_file)
        target = machine.folder / "lines"
        filesystem.fetch(machine.root_file, "/root/lines", target)
        assert target.read_text() == "".join(f"line {i}\n" for i in range(1, 101))
