# SPDX-License-Identifier: GPL-2.0
"""
alignctl check on real stacks: partition, align device, LVM, LUKS, md, file system. The drive is the witness: its log says
where a request to the top of the stack arrives, and its count of touches whether the request was misaligned there.
"""

import json
from pathlib import Path

import pytest

from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.direct import Disk
from rig.dm import run
from rig.filesystem import make, mounted
from rig.stacks import SHIFT, Stack

ALIGNCTL = OUT / "bin" / "alignctl"
FINDINGS = 1
SECTOR, PHYSICAL = 512, 4096
SECTORS = 1 << 17
# layers of rig.stacks: the kinds of device above the partition, or the align device, and the signature of such a device
LAYERS = {"plain": ([], "ext4"), "lvm": (["lvm"], "LVM2_member"), "luks": (["crypt"], "crypto_LUKS"),
          "raid1": (["md"], "linux_raid_member")}
STACKS = [(layer, through) for layer in LAYERS for through in ("raw", "pad")]
# In make check a shift that is seen through align, and one that LVM has made good.
SLICE = [("plain", "pad"), ("lvm", "raw")]


def audit(device):
    done = run(ALIGNCTL, "check", device, "--json", ok=False)
    assert done.returncode == FINDINGS, f"{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def lsblk(path):
    """Return the sizes of a device as lsblk prints them, by the audit's names."""
    [device] = json.loads(run("lsblk", "-dbJo", "ALIGNMENT,MIN-IO,PHY-SEC,LOG-SEC", path).stdout)["blockdevices"]
    return {"alignment_offset": device["alignment"], "minimum_io_size": device["min-io"],
            "physical_block_size": device["phy-sec"], "logical_block_size": device["log-sec"]}


def arrives(drive, top):
    """Return how many bytes inside a physical block the drive gets the first byte of the top of a stack."""
    drive.reset()
    with Disk(top) as disk:
        disk.read(0, 3)
    [at] = [request.sector for request in drive.log() if (request.op, request.sectors) == ("R", 3)]
    return at * SECTOR % PHYSICAL


@pytest.mark.parametrize("layer, through", [
    stack if stack in SLICE else only_all("it does so with the other layers", *stack) for stack in STACKS])
def test_a_stack_is_walked_to_its_file_system_and_judged_by_where_its_data_lies(rig, layer, through):
    above, content = LAYERS[layer]
    drive = rig.drive("p4096")
    with Stack(rig, drive, layer, through, SECTORS).assembled(fresh=True) as top:
        make("ext4", top)
        drive.reset()
        with mounted("ext4", top) as folder:
            found = audit(drive.path)
        shift = arrives(drive, top)

        devices = {device["name"]: device for device in found["devices"]}
        [last] = [device for device in devices.values() if device["path"] == top]
        assert last["mounted_on"] == [str(folder)]
        assert last["content"]["type"] == "ext4" and last["content"]["block_size"] == 1024
        chain = [last]
        while chain[0]["lies_on"]:
            chain.insert(0, devices[chain[0]["lies_on"][0]])
        assert [device["kind"] for device in chain] == ["disk", "part", *(["align"] if through == "pad" else []), *above]
        for device in devices.values():
            assert {name: device[name] for name in lsblk(device["path"])} == lsblk(device["path"]), device["name"]

        part = chain[1]
        assert part["start_bytes"] % PHYSICAL == part["shift_bytes"] == SHIFT * SECTOR
        assert part["content"]["type"] == content
        assert last["shift_bytes"] == shift, "the drive got the first byte elsewhere"
        if above:
            assert part["data_shift_bytes"] == shift
        # LVM and cryptsetup lay their data on a boundary, md does not.
        assert shift == (0 if layer in ("lvm", "luks") else SHIFT * SECTOR)
        if layer == "raid1":
            # Linux 6.19 and later keep the array's logical block where earlier kernels demand 0.
            keeps = Path(f"/sys/class/block/{last['name']}/md/logical_block_size").exists()
            assert keeps == (chain[-2]["name"] in {finding["device"] for finding in found["findings"]
                                              if finding["finding"] == "md-logical"})
        judged = {(finding["device"], finding["finding"]) for finding in found["findings"] if not finding["note"]}
        parts = {device["name"] for device in devices.values() if device["kind"] == "part"}
        assert judged == {(last["name"], "fs-block"), *((name, "partition-start") for name in parts if shift)}


def test_what_align_keeps_from_the_drive_is_not_said_to_cost_it(rig):
    drive = rig.drive("p4096")
    with Stack(rig, drive, "plain", "pad", SECTORS).assembled(fresh=True) as top:
        drive.reset()
        with Disk(top) as disk:
            for block in range(200):
                disk.write(8 * block + 1, bytes(PHYSICAL))
        [cause] = [finding for finding in audit(drive.path)["findings"] if finding["finding"] == "cause"]
        touches = drive.stats()["touches"]
        # The first block begins before the partition, so align may not read and write all of it.
        assert cause["note"] and touches == 1
        assert cause["cost"] == f"200 of 200 writes had 400 touches; {touches} went to the drive, each an RMW there"
