# SPDX-License-Identifier: GPL-2.0
"""What looks for content by itself is kept off the device below an align device, or the device is not attached for good."""

import pytest

from lab.images import project
from lab.images.image import Image

pytestmark = [pytest.mark.check_all("test_alignctl.py of the UML guests does what attach says to do about LVM"),
              pytest.mark.timeout(1800)]
BUSY = 4
# In place of LVM's program: it cannot add an align device to the devices file.
BROKEN = """\
#!/bin/sh
case $* in
*--adddev?/dev/mapper/*) echo "disk full" >&2; exit 5 ;;
esac
exec /usr/sbin/lvm "$@"
"""


@pytest.fixture(scope="module", params=project.generations())
def machine(request, tmp_path_factory):
    image = Image(request.param)
    folder = project.tree(image.release(), tmp_path_factory.mktemp("project"))
    (folder / "broken").write_text(BROKEN)
    with image.machine(f"twins-{image.generation}", disks=["64M"] * 4, project=folder) as machine:
        machine.boot()
        machine.check(project.COPY)
        yield machine
        machine.poweroff()


def refused(machine, command):
    """Run a command that must be refused and leave nothing; return what it said."""
    before = machine.check("cat /etc/aligntab 2>/dev/null || true")
    status, said = machine.run(command)
    assert status == BUSY, f"{command}: status {status}: {said}"
    assert machine.check("cat /etc/aligntab 2>/dev/null || true").splitlines()[1:] == before.splitlines()[1:]
    assert "No devices" in machine.check("dmsetup ls --target align"), "a device was left"
    return said


def listed(machine):
    """Return the nodes in LVM's devices file."""
    return [word.removeprefix("DEVNAME=") for word in machine.check("cat /etc/lvm/devices/system.devices").split()
            if word.startswith("DEVNAME=")]


def test_a_volume_that_lvm_would_find_twice_is_refused(machine):
    machine.check("pvcreate -q /dev/vdb && vgcreate -q one /dev/vdb && lvcreate -q -y -an -Wn -Zn -l 100%FREE -n lv one")
    said = refused(machine, "alignctl attach /dev/vdb --name one --persist")
    assert 'LVM would use both this device and /dev/mapper/one; first add to lvm.conf(5): devices { global_filter = [' in said
    assert machine.check("ls -l /dev/disk/by-id/lvm-pv-uuid-* | grep -c vdb").strip() == "1", "the disk is not hidden any more"
    machine.check("""sed -i 's:^devices {:devices { global_filter = [ "r|^/dev/align/below/|" ]:' /etc/lvm/lvm.conf""")
    machine.check("alignctl attach /dev/vdb --name one --persist")
    assert machine.check("pvs --noheadings -o pv_name").split() == ["/dev/mapper/one"]
    # udev has activated the group, on the align device.
    machine.check("vgchange -q -an one && alignctl detach one --persist")
    assert machine.check("pvs --noheadings -o pv_name").split() == ["/dev/vdb"]


def test_the_devices_file_of_lvm_follows_and_keeps_the_disk_if_it_cannot(machine):
    machine.check("sed -i 's:^devices {:devices { use_devicesfile = 1:' /etc/lvm/lvm.conf && "
                  "pvcreate -q /dev/vdc && lvm lvmdevices -y --adddev /dev/vdc")
    machine.check("install -m 755 /mnt/project/broken /usr/local/sbin/lvm")
    status, said = machine.run("alignctl attach /dev/vdc --name 'my disk' --persist")
    assert status and "cannot be added to /etc/lvm/devices/system.devices: disk full" in said
    assert listed(machine) == ["/dev/vdc"]
    assert "No devices" in machine.check("dmsetup ls --target align") and not machine.check("grep -v '^#' /etc/aligntab || true")
    machine.check("rm /usr/local/sbin/lvm && alignctl attach /dev/vdc --name 'my disk' --persist")
    assert listed(machine) == [r"/dev/mapper/my\x20disk"]
    # It warns that global_filter does not count then.
    assert machine.check("pvs --noheadings -o pv_name 2>/dev/null").split() == [r"/dev/mapper/my\x20disk"]
    machine.check("alignctl detach 'my disk' --persist")
    assert listed(machine) == ["/dev/vdc"]
    # The file alone does not count.
    machine.check("sed -i 's: use_devicesfile = 1::; s: global_filter.*:: ' /etc/lvm/lvm.conf")
    assert "LVM would use both" in refused(machine, "alignctl attach /dev/vdc --name two --persist")


def test_a_member_that_mdadm_would_find_is_refused(machine):
    machine.check("mdadm --create /dev/md7 --run --quiet --level=1 --raid-devices=2 missing /dev/vdd && "
                  "mdadm --quiet --stop /dev/md7")
    # udev assembles it again: what was written to has a new event.
    machine.check("udevadm settle && mdadm --quiet --stop --scan")
    said = refused(machine, "alignctl attach /dev/vdd --name member --persist")
    assert "/dev/vdd: mdadm would use both this device and /dev/mapper/member; first let the DEVICE line of mdadm.conf(5)" in said
    # udev may have assembled it again, now that it is not hidden.
    machine.check("mdadm --quiet --stop --scan; echo 'DEVICE /dev/mapper/*' >>/etc/mdadm/mdadm.conf")
    machine.check("alignctl attach /dev/vdd --name member --persist && mdadm --quiet --stop --scan; "
                  "mdadm --quiet --assemble --scan --run")
    assert "member" in machine.check("lsblk -nrso NAME $(ls /dev/md*[0-9])").split()
    assert "/dev/vdd: mdadm ignores this member; name it in the DEVICE line of mdadm.conf(5)" in \
        machine.check("mdadm --quiet --stop --scan && alignctl detach member --persist 2>&1")


def test_a_disk_that_is_detached_and_comes_back_is_attached_again(machine):
    machine.check("wipefs -q -a /dev/vde; alignctl attach /dev/vde --name back --persist && systemctl daemon-reload && "
                  "systemctl start align@back")
    machine.check("alignctl detach back")
    assert machine.run("systemctl is-active align@back")[1].strip() == "inactive"
    machine.check("device=$(basename $(readlink /sys/block/vde/device)) && cd /sys/bus/virtio/drivers/virtio_blk && "
                  "echo $device >unbind && echo $device >bind && udevadm settle && "
                  "for i in $(seq 60); do [ ! -e /dev/mapper/back ] || exit 0; sleep 1; done; exit 1")
    machine.check("alignctl detach back --persist")
