# SPDX-License-Identifier: GPL-2.0
"""The unit of a drive by udev's hwdb: the entries that are installed, overrides, contradictions, and what verbs say of them."""

import json
import os
import re
import subprocess

import pytest

from alignctl_program import alignctl
from audited import BRIDGE, Machine, check, keep_probed
from lab.pace import patience
from lab.paths import REPO

FINE, BUSY = 0, 4
SHIPPED = REPO / "scripts/packaging/udev/60-alignctl-unit.hwdb"
MODEL = "SAMSUNG HD204UI"
FIRMWARE = "1AQ10001"
TB = 10**12


def records(text):
    """[(comment above, match lines, properties)] of a file of hwdb but for its head."""
    found = []
    for paragraph in text.split("\n\n")[1:]:
        lines = paragraph.strip().split("\n")
        found.append(([line for line in lines if line.startswith("#")], [line for line in lines if line[0] not in "# "],
                      dict(line.strip().split("=") for line in lines if line.startswith(" "))))
    return found


class Database:
    """The compiled hwdb of a root of its own, which programs find in place of the system's."""

    def __init__(self, root):
        self.root = root
        root.mkdir()
        (root / "lib").symlink_to("usr/lib")

    def compile(self, **own):
        """Compile the file that is installed, and files below /etc by their names."""
        for folder, files in {"usr/lib/udev/hwdb.d": {SHIPPED.stem: SHIPPED.read_text()}, "etc/udev/hwdb.d": own}.items():
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (self.root / folder / f"{name}.hwdb").write_text(text)
        done = subprocess.run(["systemd-hwdb", "--root", self.root, "--strict", "update"],
                              capture_output=True, text=True, timeout=patience(30), check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def run(self, machine, *arguments):
        """Run alignctl on a made-up machine, in a mount namespace with this database."""
        return alignctl(*arguments, under=["unshare", "--map-root-user", "--mount", "sh", "-c",
                                           f'mount --bind "{self.root}/etc/udev" /etc/udev && exec "$@"', "sh"],
                        env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root)})

    def check(self, machine, *arguments):
        """(Faults, notes, devices), as check() of audited.py has them."""
        return check(*arguments, by=lambda *words, **_: self.run(machine, *words))


@pytest.fixture
def database(tmp_path):
    found = Database(tmp_path / "hwdb")
    found.compile()
    return found


@pytest.fixture
def machine(tmp_path):
    """A disk that says 512, but whose model is known to have 4096."""
    made = Machine(tmp_path / "machine")
    made.disk("sde", (8, 64), physical=512, device__wwid=BRIDGE, device__model=MODEL, device__rev=FIRMWARE)
    return made


def claims(device):
    return {claim["source"]: claim for claim in device["unit"]["claims"] if claim["states"]}


def test_a_disk_of_which_nothing_can_be_read_stays_in_the_budget_of_series(tmp_path):
    """Neither the result of probe nor the entry of the hwdb is any use, and a drive is asked in vain."""
    machine, database = Machine(tmp_path / "machine"), Database(tmp_path / "hwdb")
    disk = machine.disk("nvme0n1", (259, 0), rotational=0, wwid=BRIDGE, nsid=1, device__model="Any")
    keep_probed(machine.root, block_size=4097)
    (machine.root / "sys/class/nvme").mkdir(parents=True)
    (disk / "device/subsystem").symlink_to(machine.root / "sys/class/nvme")
    database.compile(own="alignctl-unit:model:Any:*\n ALIGNCTL_UNIT=many\n")
    claims = database.check(machine)[2]["nvme0n1"]["unit"]["claims"]
    assert [claim["figure"] for claim in claims if claim["unread"]] == ["probe block-size", "ALIGNCTL_UNIT", "NPWG"]
    lines = database.run(machine, "check", "--format", "prometheus").stdout.splitlines()
    series = [line for line in lines if 'device="nvme0n1"' in line and "_findings" not in line and 'what="headers"' not in line]
    assert [re.match(r"alignctl_check_(\w+)", line)[1] for line in series] == \
        ["disk_info", "physical_block_bytes", "revolution_seconds", "shift_bytes", "unread", "unread"]


def test_each_entry_names_its_source():
    found = records(SHIPPED.read_text())
    assert len(found) >= 10 and sum(len(matches) for _, matches, _ in found) >= 15
    for comment, matches, properties in found:
        assert re.fullmatch(r"# https://\S+", comment[-1]) and len(comment) > 1, matches
        assert properties and set(properties) <= {"ALIGNCTL_UNIT", "ALIGNCTL_RATED_TBW"}
        assert matches and all(re.fullmatch(r"alignctl-unit:model:[^:]{6,}\*:firmware:[^:]*\*", match) for match in matches)
    every = [match for _, matches, _ in found for match in matches]
    assert len(set(every)) == len(every)


def test_the_query_of_each_model_gives_what_the_file_says(database, tmp_path):
    made, wanted = Machine(tmp_path / "machine"), {}
    for _, matches, properties in records(SHIPPED.read_text()):
        for match in matches:
            name = f"sd{len(wanted)}"
            made.disk(name, (8, len(wanted)), device__model=match.split(":")[2].rstrip("*"), device__rev="1")
            wanted[name] = (int(properties.get("ALIGNCTL_UNIT", 0)), int(properties.get("ALIGNCTL_RATED_TBW", 0)))
    devices = database.check(made)[2]
    assert {name: (claims(device).get("hwdb", {"bytes": 0})["bytes"], (device["unit"]["rated_writes"] or {"bytes": 0})["bytes"])
            for name, device in devices.items()} == {name: (unit, rated * TB) for name, (unit, rated) in wanted.items()}
    assert {device["unit"]["bytes"] for device in devices.values()} >= {unit for unit, _ in wanted.values() if unit}
    assert any(rated for _, rated in wanted.values()) and any(unit > 16384 for unit, _ in wanted.values())


def test_without_an_entry_nothing_changes(database, machine):
    machine.write(machine.root / "sys/devices/pci0/sde", device__model="Unknown")
    faults, notes, devices = database.check(machine)
    assert (faults, notes, list(claims(devices["sde"]))) == ({}, {}, ["kernel"])
    unit = devices["sde"]["unit"]
    assert (unit["bytes"], unit["source"], unit["confidence"], unit["contradicted"]) == (512, "kernel", "medium", False)
    assert (devices["sde"]["model"], unit["firmware"], unit["disk"]) == ("Unknown", FIRMWARE, BRIDGE)


def test_a_disk_is_judged_by_the_document_and_the_contradiction_is_a_note(database, machine):
    machine.device("sde1", (8, 65), parent="pci0/sde", bytes_=1 << 20, partition=1, start=63)
    faults, notes, devices = database.check(machine)
    assert devices["sde"]["unit"]["bytes"] == devices["sde"]["disk_physical_block_size"] == 4096
    assert (devices["sde"]["unit"]["source"], devices["sde"]["unit"]["contradicted"]) == ("hwdb", True)
    assert devices["sde1"]["unit"] is None
    assert set(faults) == {"sde1"} and set(faults["sde1"]) == {"partition-start"}
    row = notes["sde"]["unit"]
    assert row["text"] == ("sources disagree about its unit: hwdb (ALIGNCTL_UNIT) 4096, kernel (physical_block_size) 512; "
                           "check judges by 4096")
    assert row["command"] == "alignctl attach /dev/sde --physical 4096 --offset 0"


def test_what_was_probed_comes_before_the_document(database, machine):
    keep_probed(machine.root, block_size=8192, offset=0)
    _, notes, devices = database.check(machine)
    assert (devices["sde"]["unit"]["bytes"], devices["sde"]["unit"]["source"]) == (8192, "measured")
    assert devices["sde"]["disk_physical_block_size"] == 8192
    assert "measured (probe block-size) 8192, hwdb (ALIGNCTL_UNIT) 4096" in notes["sde"]["unit"]["text"]


@pytest.mark.parametrize("match", [f"model:{MODEL}:*", "model:*:firmware:*:disk:t10.Made up bridge/1:*"])
def test_an_override_comes_before_all(database, machine, match):
    keep_probed(machine.root)
    database.compile(own=f"alignctl-unit:{match}\n ALIGNCTL_UNIT_OVERRIDE=16384\n")
    _, _, devices = database.check(machine)
    assert (devices["sde"]["unit"]["bytes"], devices["sde"]["unit"]["source"]) == (16384, "override")
    assert devices["sde"]["disk_physical_block_size"] == 16384


def test_the_option_comes_before_an_override(database, machine):
    database.compile(own=f"alignctl-unit:model:{MODEL}:*\n ALIGNCTL_UNIT_OVERRIDE=16384\n")
    _, notes, devices = database.check(machine, "sde", "--physical", "512")
    assert (devices["sde"]["unit"]["bytes"], devices["sde"]["disk_physical_block_size"], notes) == (512, 512, {})


def test_an_own_file_replaces_an_entry_and_a_wrong_one_is_said_so(database, machine):
    database.compile(**{"70-own": f"alignctl-unit:model:{MODEL}:*\n ALIGNCTL_UNIT=512\n"})
    assert claims(database.check(machine)[2]["sde"])["hwdb"]["bytes"] == 512
    database.compile(**{"70-own": f"alignctl-unit:model:{MODEL}:*\n ALIGNCTL_UNIT=4K\n"})
    unit = database.check(machine)[2]["sde"]["unit"]
    assert unit["source"] == "kernel"
    assert [claim["unread"] for claim in unit["claims"] if claim["source"] == "hwdb"] == \
        ["ALIGNCTL_UNIT=4K in udev's hwdb is no power of two from 512 to 1048576"]


@pytest.mark.parametrize("entries, rated", [
    ("", None), (" ALIGNCTL_RATED_TBW=360\n", (360, "hwdb", "ALIGNCTL_RATED_TBW")),
    (" ALIGNCTL_RATED_TBW_OVERRIDE=99\n", (99, "override", "ALIGNCTL_RATED_TBW_OVERRIDE")),
    (" ALIGNCTL_RATED_TBW=360\n ALIGNCTL_RATED_TBW_OVERRIDE=99\n", (99, "override", "ALIGNCTL_RATED_TBW_OVERRIDE")),
    (" ALIGNCTL_RATED_TBW=none\n", None)])
def test_what_an_ssd_is_rated_for_is_told_with_its_source(database, machine, entries, rated):
    database.compile(own=f"alignctl-unit:model:{MODEL}:*\n ALIGNCTL_UNIT=4096\n{entries}")
    unit = database.check(machine)[2]["sde"]["unit"]
    assert unit["rated_writes"] == (rated and {"bytes": rated[0] * TB, "source": rated[1], "figure": rated[2]})
    assert unit["bytes"] == 4096
    lines = [line for line in database.run(machine, "check", "--format", "prometheus").stdout.splitlines()
             if line.startswith("alignctl_check_rated_writes_bytes")]
    assert lines == ([f'alignctl_check_rated_writes_bytes{{device="sde",source="{rated[1]}"}} {rated[0] * TB}'] if rated else [])
    wrong = [claim["unread"] for claim in unit["claims"] if claim["source"] == "hwdb"]
    assert wrong == (["ALIGNCTL_RATED_TBW=none in udev's hwdb is no number of terabytes from 1 to 1000000"]
                     if "none" in entries else [None])


def test_a_rating_takes_the_place_of_a_figure_that_was_not_read(tmp_path):
    machine, database = Machine(tmp_path / "machine"), Database(tmp_path / "hwdb")
    disk = machine.disk("nvme0n1", (259, 0), rotational=0, wwid=BRIDGE, nsid=1, device__model="Any")
    keep_probed(machine.root, block_size=4097)
    (machine.root / "sys/class/nvme").mkdir(parents=True)
    (disk / "device/subsystem").symlink_to(machine.root / "sys/class/nvme")
    database.compile(own="alignctl-unit:model:Any:*\n ALIGNCTL_RATED_TBW=360\n")
    lines = database.run(machine, "check", "--format", "prometheus").stdout.splitlines()
    series = [line for line in lines if 'device="nvme0n1"' in line and "_findings" not in line and 'what="headers"' not in line]
    assert [re.match(r"alignctl_check_(\w+)", line)[1] for line in series] == \
        ["disk_info", "physical_block_bytes", "revolution_seconds", "rated_writes_bytes", "shift_bytes", "unread"]


def test_a_missing_database_is_said_so(database, machine):
    (database.root / "etc/udev/hwdb.bin").write_bytes(b"")
    unit = database.check(machine)[2]["sde"]["unit"]
    assert unit["source"] == "kernel"
    assert [claim["unread"] for claim in unit["claims"] if claim["source"] == "hwdb"] == \
        ["udev's hwdb cannot be read; 'systemd-hwdb update' makes it"]


@pytest.mark.parametrize("arguments, block", [([], 512), (["--physical", "auto"], 512), (["--physical", "8K"], None)])
def test_attach_offers_the_unit(database, machine, loop, arguments, block):
    """Before it does anything, here with a device in use."""
    number = os.stat(loop).st_rdev
    machine.disk("sdf", (os.major(number), os.minor(number)), physical=512, device__model=MODEL, device__rev=FIRMWARE)
    held = os.open(loop, os.O_RDWR | os.O_EXCL)
    try:
        done = database.run(machine, "attach", loop, *arguments)
    finally:
        os.close(held)
    said = (f"alignctl: warning: {loop}: its unit is 4096 bytes, by hwdb, not {block}; --physical 4096 uses this unit\n"
            f"alignctl: warning: {loop}: sources disagree about its unit, and the first is taken: hwdb (ALIGNCTL_UNIT) 4096, "
            f"kernel (physical_block_size) 512\n")
    assert done.returncode == BUSY
    assert done.stderr.startswith(said) if block else "its unit is" not in done.stderr


def test_plan_and_probe_say_that_sources_disagree(database, machine, loop):
    number = os.stat(loop).st_rdev
    machine.disk("sdf", (os.major(number), os.minor(number)), physical=512, device__model=MODEL, device__rev=FIRMWARE)
    said = ("sources disagree about its unit, and the first is taken: hwdb (ALIGNCTL_UNIT) 4096, "
            "kernel (physical_block_size) 512\n")
    done = database.run(machine, "plan", "w512", "--on", loop, "--count", "9", "--json")
    assert done.returncode == FINE and json.loads(done.stdout)["physical_block_size"] == 512
    assert said in done.stderr and "by hwdb, not 512; --physical 4096 uses this unit" in done.stderr
    assert not database.run(machine, "plan", "w512", "--on", loop, "--count", "9", "--physical", "4K", "--offset", "0").stderr
    done = database.run(machine, "probe", "block-size", loop, "--dry-run")
    assert said in done.stderr
