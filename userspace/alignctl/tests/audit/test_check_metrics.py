# SPDX-License-Identifier: GPL-2.0
"""check --format prometheus: each series follows from the JSON of the same check, within a budget, and promtool is silent."""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl, man_section
from audited import BRIDGE, MIB, SECTOR, Machine, keep_probed, rates, run
from lab.bench.check import make
from lab.pace import patience

FINE, FINDINGS, USAGE, IO = 0, 1, 2, 3
PREFIX = "alignctl_check_"
MARK = "# alignctl check --format prometheus\n"
# What a disk and a finding may cost a Prometheus, and the host besides.
PER_DISK, PER_FINDING, PER_HOST = 6, 2, 2
# Figures of a disk that could not be read, of which each has a series.
MOST_UNREAD = 2
# Findings about the start of a layer: which of its shifts they are about.
STARTS = {"partition-start": "shift_bytes", "loop-start": "shift_bytes", "mapped-start": "shift_bytes",
          "data-start": "data_shift_bytes"}
# How the JSON says what to do where headers were not read, and the reason in the metric.
REASONS = {"root may open the device": "not-root", "this system denies the device": "forbidden",
           "the device or its node is missing": "gone", "the node is left": "replaced", "a read would wait": "suspended",
           "one signature is left": "several-signatures", "check the content with the tools": "damaged",
           "the image is shorter": "cut", "the device fails to read": "failed"}
# A type of partitions that nothing writes to in use.
BIOS_BOOT = "21686148-6449-6E6F-744E-656564454649"
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\[\\"n])*",?)+)\})? (\d+(?:\.\d+)?)')
HELP = re.compile(r"^ (alignctl_check_\w+)\n     (.*)$", re.M)


def told(*arguments, root=None, program=ALIGNCTL, **options):
    """What check prints, as bytes decoded strictly: an exposition is UTF-8."""
    environment = {**os.environ, **({"ALIGNCTL_SYSROOT": str(root)} if root else {})}
    done = subprocess.run([program, "check", *map(str, arguments)], capture_output=True, timeout=patience(60), check=False,
                          env=environment, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def metrics(*arguments, **options):
    status, out, err = told("--format", "prometheus", *arguments, **options)
    assert (status, err) == (FINE, "")
    return out


def document(*arguments, **options):
    status, out, err = told("--json", *arguments, **options)
    assert status in (FINE, FINDINGS) and not err
    return json.loads(out)


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def parsed(text):
    """[(name, {label: value}, number)] in their order, by the rules of the text format."""
    found = []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        pairs = re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or "")
        found.append((name.removeprefix(PREFIX), {key: unescaped(text) for key, text in pairs},
                      int(value) if value.isdigit() else float(value)))
    return found


def shown(text):
    """A text of the JSON as a label has it: control characters as \\xNN, but for line breaks."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode()),
                  text or "")


def disks_below(devices, name):
    below = devices[name]["lies_on"]
    return {name} if not below else {disk for each in below for disk in disks_below(devices, each)}


def source_of(disk):
    """(source, figure) of the block by which a disk is judged."""
    block, unit = disk["disk_physical_block_size"], disk["unit"]
    if not unit or block is None:
        return "", ""
    for claim in unit["claims"]:
        if claim["states"] and claim["bytes"] == block:
            return claim["source"], claim["figure"]
    return "kernel", ""


def expected(document, names):
    """The samples that follow from a document of check but for the host's, as {name: [(labels, value)]}, sorted; @names are the
    names below /dev/mapper, which the document has as paths."""
    devices = {device["name"]: device for device in document["devices"]}
    disks = [name for name, device in devices.items() if not device["lies_on"]]
    found = {name: [] for name in ("disk_info", "physical_block_bytes", "revolution_seconds", "rated_writes_bytes",
                                "shift_bytes", "findings", "unread")}

    def layer_of(name):
        return {"layer": shown(name), "name": names.get(name, "")}

    def disk_of(name):
        below = disks_below(devices, name)
        return {"device": shown(below.pop()) if len(below) == 1 else "several"}

    for name in disks:
        disk, unit = devices[name], devices[name]["unit"] or {"claims": []}
        block, word = disk["disk_physical_block_size"], unit.get("disk") or ""
        source, figure = source_of(disk)
        found["disk_info"].append(({
            "device": shown(name), "kind": disk["kind"], "model": shown(disk["model"]), "firmware": shown(unit.get("firmware")),
            "wwn": word if word.startswith(("naa.", "eui.", "uuid.")) else "",
            "logical_block_size": str(disk["logical_block_size"]), "physical_block_size": "" if block is None else str(block),
            "source": source, "figure": figure}, 1))
        if block is not None:
            found["physical_block_bytes"].append(({"device": shown(name)}, block))
        rotation = unit.get("rotation") or {"rpm": None, "claims": []}
        if (rpm := rotation["rpm"]) is not None:
            found["revolution_seconds"].append(({"device": shown(name), "source": rotation["source"]},
                                                float(f"{60 / rpm:.15g}") if rpm else 0))
        rated = unit.get("rated_writes")
        if rated:
            found["rated_writes_bytes"].append(({"device": shown(name), "source": rated["source"]}, rated["bytes"]))
        unread = [claim for claim in [*unit["claims"], *rotation["claims"]] if claim["unread"]]
        for claim in unread[:MOST_UNREAD - bool(rated)]:
            found["unread"].append(({"device": shown(name), **layer_of(name), "what": claim["figure"],
                                     "reason": shown(claim["unread"])}, 1))
        on = [other for other in devices if name in disks_below(devices, other)]
        worst, layer = 0, name
        for finding in document["findings"]:
            key = STARTS.get(finding["finding"])
            if finding["device"] in on and key and not finding["note"] and (devices[finding["device"]][key] or 0) > worst:
                worst, layer = devices[finding["device"]][key], finding["device"]
        if worst or all(devices[other]["shift_bytes"] is not None for other in on):
            found["shift_bytes"].append(({"device": shown(name), **layer_of(layer)}, worst))
    counts = Counter((finding["device"], finding["finding"], finding["note"]) for finding in document["findings"])
    for (name, code, note), count in counts.items():
        found["findings"].append(({**disk_of(name), **layer_of(name), "finding": code, "note": str(note).lower()}, count))
    for finding in document["findings"]:
        if finding["finding"] == "unread":
            [reason] = [word for begins, word in REASONS.items() if finding["not_in_place"].startswith(begins)]
            found["unread"].append(({**disk_of(finding["device"]), **layer_of(finding["device"]), "what": "headers",
                                     "reason": reason}, 1))
    return {name: sorted(every, key=repr) for name, every in found.items() if every}


def ours(text):
    found = {}
    for name, labels, value in parsed(text):
        if name not in ("build_info", "timestamp_seconds"):
            found.setdefault(name, []).append((labels, value))
    return {name: sorted(every, key=repr) for name, every in found.items()}


def promtool(text):
    """What promtool says of an exposition."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=patience(30),
                          check=False)
    return done.returncode, done.stdout, done.stderr


def in_budget(text, document):
    disks = sum(not device["lies_on"] for device in document["devices"])
    series = len(parsed(text))
    per_device = Counter(labels["device"] for name, labels, _ in parsed(text)
                         if name != "findings" and labels.get("what") != "headers" and "device" in labels)
    assert max(per_device.values()) <= PER_DISK, per_device
    assert series <= PER_DISK * disks + PER_FINDING * len(document["findings"]) + PER_HOST
    return series


def partition(machine, disk, number, devno, start, sectors=2048, **files):
    folder = machine.root / "sys/class/block" / disk
    return machine.device(f"{disk}{number}", devno, parent=str(folder.resolve().relative_to(machine.root / "sys/devices")),
                          bytes_=sectors * SECTOR, partition=number, start=start, **files)


def host_of_everything(root):
    """A host with what there is: shifted partitions, one where that is no matter, an array over two disks, volumes, a measured
    disk, one that says nothing possible, an SSD that contradicts itself, and devices that cannot be read; returns (machine,
    names below /dev/mapper)."""
    machine = Machine(root)
    machine.disk("sda", (8, 0), device__model="ST16000NM001G", device__rev="SN03", device__wwid="naa.5000c500a1b2c3d4")
    partition(machine, "sda", 1, (8, 1), 63)
    partition(machine, "sda", 2, (8, 2), 4097)
    partition(machine, "sda", 3, (8, 3), 8192, sectors=2043)
    machine.disk("sdb", (8, 16), physical=4096, device__model="t", device__wwid="t10.ATA     made up     S1D9ABC")
    partition(machine, "sdb", 1, (8, 17), 2048)
    machine.disk("sdc", (8, 32), physical=512, offset=0, device__serial="S1D9DEF")
    partition(machine, "sdc", 1, (8, 33), 2048)
    machine.device("md0", (9, 0), parent="virtual/block", slaves=("sdb1", "sdc1"), md__level="raid1",
                   queue__logical_block_size=512, queue__physical_block_size=4096, queue__minimum_io_size=4096)
    names = {}
    for number, below in enumerate(["md0", "sda2", "sda3"]):
        names[f"dm-{number}"] = f"vg-lv{number}"
        machine.device(f"dm-{number}", (253, number), parent="virtual/block", slaves=(below,), dm__name=f"vg-lv{number}",
                       dm__uuid=f"LVM-{number}", dm__suspended=int(number == 1), queue__logical_block_size=512,
                       queue__physical_block_size=4096, queue__minimum_io_size=4096,
                       offset=(3584, 0, 0)[number])
    machine.disk("sde", (8, 64), physical=512, device__wwid=BRIDGE)
    keep_probed(machine.root)
    partition(machine, "sde", 1, (8, 65), 2048)
    machine.disk("sdf", (8, 80))
    partition(machine, "sdf", 1, (8, 81), 34, sectors=2014)
    run("sfdisk", "--quiet", machine.root / "dev/sdf",
        input=f"label: gpt\nfirst-lba: 34\nstart=34, size=2014, type={BIOS_BOOT}\n")
    machine.disk("zd0", (230, 0), physical=3072, io_min=3072, rotational=0)
    partition(machine, "zd0", 1, (230, 1), 63)
    machine.disk("nvme0n1", (259, 0), rotational=0, physical=512, io_min=16384, device__model="Made up", nsid=1,
                 wwid="eui.0025385b")
    rates(machine.root / "sys/class/block/sda", page=7200)
    rates(machine.root / "sys/class/block/sdb", word=5400)
    (machine.root / "dev/sda3").unlink()
    (machine.root / "sys/class/nvme").mkdir(parents=True)
    (machine.root / "sys/class/block/nvme0n1/device").mkdir(exist_ok=True)
    (machine.root / "sys/class/block/nvme0n1/device/subsystem").symlink_to(machine.root / "sys/class/nvme")
    return machine, names


@pytest.fixture
def rich(tmp_path):
    return host_of_everything(tmp_path / "host")


def test_each_series_follows_from_the_document_of_the_same_check(rich):
    machine, names = rich
    said, text = document(root=machine.root), metrics(root=machine.root)
    assert ours(text) == expected(said, names)
    # the host has something of everything
    kinds = {(labels["finding"], labels["note"]) for labels, _ in ours(text)["findings"]}
    assert {("partition-start", "false"), ("partition-start", "true"), ("unread", "true"), ("probed", "false"),
            ("unjudged", "true")} <= kinds
    assert {labels["source"] for labels, _ in ours(text)["disk_info"]} >= {"measured", "kernel"}
    assert {labels["device"] for labels, _ in ours(text)["findings"]} >= {"sda", "several"}
    assert {labels["reason"] for labels, _ in ours(text)["unread"]} >= {"gone", "suspended"}
    assert {labels["what"] for labels, _ in ours(text)["unread"]} >= {"headers", "NPWG"}
    assert {labels["device"]: (labels["source"], value) for labels, value in ours(text)["revolution_seconds"]} == {
        "sda": ("drive", pytest.approx(1 / 120, rel=1e-14)), "sdb": ("drive", pytest.approx(1 / 90, rel=1e-14)),
        "zd0": ("kernel", 0), "nvme0n1": ("kernel", 0)}
    shifts = {labels["device"]: (labels["layer"], value) for labels, value in ours(text)["shift_bytes"]}
    assert shifts["sda"] == ("sda1", 3584) and shifts["sdb"] == shifts["sdc"] == ("dm-0", 512)
    assert shifts["sdf"] == ("sdf", 0) and "zd0" not in shifts


def test_the_answer_of_one_device_is_about_its_stack(rich):
    machine, names = rich
    said, text = document("sda3", root=machine.root), metrics("sda3", root=machine.root)
    assert ours(text) == expected(said, names)
    assert {labels["device"] for labels, _ in ours(text)["disk_info"]} == {"sda"}


def test_what_the_user_gives_is_the_source(rich):
    machine, names = rich
    options = ("sda", "--physical", 16384, "--offset", 512)
    assert ours(metrics(*options, root=machine.root)) == expected(document(*options, root=machine.root), names)
    [(labels, _)] = ours(metrics(*options, root=machine.root))["disk_info"]
    assert (labels["source"], labels["physical_block_size"]) == ("given", "16384")


def test_an_image_has_metrics_too(tmp_path):
    image = tmp_path / "disk"
    with open(image, "wb") as file:
        file.truncate(64 * MIB)
    run("sfdisk", "--quiet", "--label", "dos", image, input="start=63, type=83\n")
    # a disk that is named twice has its series once
    assert ours(metrics(image, image)) == ours(metrics(image)) | {"findings": [
        (labels, 2 * value) for labels, value in ours(metrics(image))["findings"]]}
    assert ours(metrics(image)) == expected(document(image), {})


def test_promtool_has_nothing_to_say(rich):
    text = metrics("--serial", root=rich[0].root)
    assert promtool(text) == (0, "", "")
    # which is no wonder if it says nothing of anything
    assert promtool(text + "a_total{} 1\n# TYPE b gauge\n") != (0, "", "")


def test_disks_and_findings_stay_in_their_budget(rich, tmp_path):
    said = document(root=rich[0].root)
    in_budget(metrics("--serial", root=rich[0].root), said)
    make(tmp_path / "large", 24, 200, b"")
    text, said = metrics(root=tmp_path / "large"), document(root=tmp_path / "large")
    series = in_budget(text, said)
    assert ours(text) == expected(said, {f"dm-{index}": f"vg-lv{index:03}" for index in range(200)})
    # most volumes have no finding, and then no series
    assert series < 200


def test_the_budget_is_seen_to_be_exceeded(rich):
    """By a metric more of each disk, and by one of each layer."""
    said, text = document(root=rich[0].root), metrics(root=rich[0].root)
    more = "".join(f'{PREFIX}more_{letter}{{device="sda"}} 1\n' for letter in "abcdef"[:PER_DISK])
    with pytest.raises(AssertionError):
        in_budget(text + more, said)
    layers = "".join(f'{PREFIX}unread{{layer="dm-{number}"}} 1\n' for number in range(200))
    with pytest.raises(AssertionError):
        in_budget(text + layers, said)


def test_lines_are_in_order_and_help_and_type_are_there_once(rich):
    text = metrics(root=rich[0].root)
    assert text.startswith(MARK)
    families, sample_lines = [], {}
    for line in text.splitlines()[1:]:
        if line.startswith("# HELP"):
            families.append(line.split()[2])
        elif line.startswith("# TYPE"):
            assert line.split()[2:] == [families[-1], "gauge"]
        else:
            assert re.match(r"\w+", line)[0] == families[-1]
            sample_lines.setdefault(families[-1], []).append(line)
    assert len(set(families)) == len(families) and set(families) == set(sample_lines)
    for lines in sample_lines.values():
        assert [line.encode() for line in lines] == sorted({line.encode() for line in lines})

    def without_time(printed):
        return re.sub(r"(?<=timestamp_seconds) \d+", "", printed)
    assert without_time(metrics(root=rich[0].root)) == without_time(text)


def test_the_time_is_that_of_the_answer(rich):
    before = int(time.time())
    [value] = [value for name, _, value in parsed(metrics(root=rich[0].root)) if name == "timestamp_seconds"]
    assert before <= value <= time.time()


def test_one_table_has_the_texts_of_help_file_and_manual(rich):
    listed = dict(HELP.findall(alignctl("check", "--help").stdout))
    text = metrics(root=rich[0].root)
    # the hwdb of this system rates none of these disks
    assert "alignctl_check_rated_writes_bytes" in listed
    shown = dict(re.findall(r"^# HELP (\w+) (.*)$", text, re.M))
    assert shown == {name: said for name, said in listed.items() if "rated" not in name} and len(shown) >= 7
    section = man_section("alignctl-check.8", "METRICS OF CHECK")
    # each has an entry, which begins with the text of the table
    entries = dict(re.findall(r"^\.TP\n\.B (\w+)\n(.*)$", section, re.M))
    assert {name: entry.rstrip(".") for name, entry in entries.items()} == listed
    labels = {label for _, labels, _ in parsed(metrics("--serial", root=rich[0].root)) for label in labels}
    assert {label for label in labels if not re.search(rf"\b{label}\b", section)} == set()


@pytest.mark.parametrize("seed", range(4))
def test_no_name_breaks_the_file(tmp_path, seed):
    """Models, versions, serial numbers and names below /dev/mapper of any bytes, as a disk or a program may give itself."""
    bytes_of = random.Random(seed)
    machine, names = Machine(tmp_path / "host"), {}
    nasty = [b'a"b', b"a\\", b'\\"', b"a\nb", b"{}", b'",x="', b"\xff\xfe", b"caf\xc3\xa9", b"\xc2\x85", b"\x1b[31m",
             b"\xed\xa0\x80", b"# HELP x",
             *(bytes(bytes_of.randrange(1, 256) for _ in range(bytes_of.randrange(1, 24))) for _ in range(20))]
    for number, name in enumerate(nasty):
        machine.disk(f"sd{chr(97 + number // 16)}{chr(97 + number % 16)}", (8, number), device__model="x")
        disk = machine.root / "sys/class/block" / f"sd{chr(97 + number // 16)}{chr(97 + number % 16)}"
        for file in ("device/model", "device/rev", "device/serial"):
            (disk / file).write_bytes(name + b"\n")
    dm = machine.device("dm-0", (253, 0), parent="virtual/block", slaves=("sdaa",), dm__name="x", dm__uuid="LVM-1",
                        queue__logical_block_size=512, queue__physical_block_size=4096, offset=512)
    (dm / "dm/name").write_bytes(bytes_of.choice(nasty[:10]))
    text = metrics(root=machine.root)
    assert promtool(text) == promtool(metrics("--serial", root=machine.root)) == (0, "", "")
    said = document(root=machine.root)
    [path] = [device["path"] for device in said["devices"] if device["name"] == "dm-0"]
    names["dm-0"] = shown(path.removeprefix("/dev/mapper/"))
    assert ours(text) == expected(said, names)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_serial_numbers_are_there_only_if_asked_for(tmp_path):
    machine, secret = Machine(tmp_path / "host"), "S1D9ABC"
    machine.disk("sda", (8, 0), device__wwid=f"t10.ATA     ST1000DM003     {secret}", device__model="ST1000DM003")
    page = machine.root / "sys/class/block/sda/device/vpd_pg80"
    page.write_bytes(b"\x00\x80\x00\x0c    " + secret.encode() + b" ")
    machine.disk("vda", (254, 0), serial=secret)
    machine.disk("nvme0n1", (259, 0), device__serial=secret, wwid=f"nvme.144d-{secret.encode().hex()}-00000001")
    machine.disk("sdb", (8, 16), device__wwid="naa.5000c500a1b2c3d4")
    text = metrics(root=machine.root)
    assert secret not in text and secret.encode().hex() not in text and "serial" not in text
    asked = {labels["device"]: labels["serial"] for labels, _ in ours(metrics("--serial", root=machine.root))["disk_info"]}
    assert asked == {"sda": secret, "vda": secret, "nvme0n1": secret, "sdb": ""}
    assert {labels["device"]: labels["wwn"] for labels, _ in ours(text)["disk_info"]} == {
        "sda": "", "vda": "", "nvme0n1": "", "sdb": "naa.5000c500a1b2c3d4"}


def test_an_ordinary_user_gets_what_sysfs_says_and_what_was_not_readable():
    """In a place that another user can reach, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        machine, names = host_of_everything(Path(folder) / "host")
        for path in (machine.root / "dev").rglob("*"):
            if path.is_file():
                path.chmod(0)
        user = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        asked = {"root": machine.root, "program": shutil.copy(ALIGNCTL, folder), **user}
        said, text = document(**asked), metrics(**asked)
    found = ours(text)
    assert found == expected(said, names)
    assert Counter(labels["reason"] for labels, _ in found["unread"] if labels["what"] == "headers")["not-root"] > 8
    # every user may read a partition's start
    assert ({"device": "sda", "layer": "sda1", "name": ""}, 3584) in found["shift_bytes"]
    in_budget(text, said)
    assert promtool(text) == (0, "", "")


def test_a_file_is_replaced_as_a_whole_and_readable_by_everyone(rich, tmp_path):
    root, file = rich[0].root, tmp_path / "align-check.prom"
    assert metrics("--output", file, root=root) == ""
    with open(file) as reader:
        rich[0].write(root / "sys/class/block/sda/device", model="Another")
        assert metrics("--output", file, root=root) == ""
        # who has begun to read the old one reads it to its end
        assert "ST16000NM001G" in reader.read()
    assert 'model="Another"' in file.read_text() and file.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.glob("*.prom*")] == ["align-check.prom"]


def test_a_file_of_stats_is_not_replaced(rich, tmp_path):
    file = tmp_path / "align.prom"
    file.write_text("# alignctl stats --format prometheus\n")
    status, out, err = told("--format", "prometheus", "--output", file, root=rich[0].root)
    assert (status, out) == (USAGE, "") and "exists with other content" in err
    assert file.read_text() == "# alignctl stats --format prometheus\n"


def test_a_host_that_cannot_be_asked_leaves_the_old_file(tmp_path):
    file = tmp_path / "align-check.prom"
    file.write_text(MARK)
    status, _, err = told("--format", "prometheus", "--output", file, root=tmp_path / "none")
    assert status == IO and "sysfs" in err and file.read_text() == MARK


@pytest.mark.parametrize("options, words", [
    (["--format", "prometheus", "--json"], "--format, --json: exclude each other"),
    (["--format", "prometheus", "--remedies"], "--format, --remedies: exclude each other"),
    (["--output", "x.prom"], "--output: needs --format prometheus"), (["--serial"], "--serial: needs --format prometheus"),
    (["--format", "csv"], "must be prometheus")])
def test_options_that_do_not_go_together_are_refused(options, words):
    status, out, err = told(*options)
    assert (status, out) == (USAGE, "") and words in err
