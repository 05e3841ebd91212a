# SPDX-License-Identifier: GPL-2.0
"""aligntab as the program reads it: systemd's units, udev's question, and the verbs that take lines."""

import os
import re
import shutil
import stat
import subprocess
import time

import pytest

from alignctl_program import ALIGNCTL, alignctl
from lab.pace import patience
from lab.paths import OUT, REPO

FINE, FINDINGS, USAGE, IO = range(4)
UNITS = "/usr/lib/systemd/system"
TEMPLATE = f"{UNITS}/align@.service"


class Tree:
    """A made-up machine below a folder: block devices in sysfs, and files of /etc, /proc and /dev."""

    def __init__(self, root):
        self.root = root
        self.environment = {"PATH": os.environ["PATH"], "ALIGNCTL_SYSROOT": str(root)}
        self.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
        self.mounts("")
        self.file("dev/kmsg", "")

    def file(self, path, text):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def aligntab(self, text):
        self.file("etc/aligntab", text)

    def mounts(self, text):
        self.file("proc/self/mountinfo", text)

    def disk(self, name, devno, *, partition_of=None, dm=None):
        """Add a device; dm: its name and UUID."""
        folder = f"sys/devices/pci0/block/{partition_of}/{name}" if partition_of else f"sys/devices/pci0/block/{name}"
        self.file(f"{folder}/dev", f"{devno}\n")
        self.file(f"{folder}/size", "8192\n")
        if partition_of:
            self.file(f"{folder}/partition", f"{name[-1]}\n")
        if dm:
            self.file(f"{folder}/dm/name", f"{dm[0]}\n")
            self.file(f"{folder}/dm/uuid", f"{dm[1]}\n")
        for link in (f"sys/dev/block/{devno}", f"sys/class/block/{name}"):
            place = self.root / link
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(self.root / folder)

    def hold(self, below, above):
        """Let one device be held by the other."""
        self.file(f"sys/devices/pci0/block/{below}/holders/{above}", "")

    def ask(self, name="sdb", devno="8:16", **properties):
        """Put udev's question for a device; return the answer, and what the kernel log got."""
        major, minor = devno.split(":")
        done = subprocess.run([ALIGNCTL, "boot", "lower"], text=True, capture_output=True, timeout=patience(60), check=True,
                              env={**self.environment, "DEVNAME": f"/dev/{name}", "MAJOR": major, "MINOR": minor, **properties})
        assert not done.stderr
        return dict(line.split("=", 1) for line in done.stdout.splitlines()), (self.root / "dev/kmsg").read_text()

    def generate(self, tmp_path):
        """Run the generator; return the finished process and the files, {path: content, or "-> target" of a link}."""
        folder = tmp_path / "generated"
        folder.mkdir()
        done = subprocess.run([ALIGNCTL, "boot", "generator", folder, UNITS], text=True, capture_output=True,
                              timeout=patience(60), check=False, env=self.environment)
        return done, {str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
                      for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()}


@pytest.fixture
def tree(tmp_path):
    made = Tree(tmp_path / "root")
    made.disk("sdb", "8:16")
    made.disk("sdb1", "8:17", partition_of="sdb")
    return made


# systemd's units

def test_a_machine_without_lines_gets_no_units(tree, tmp_path):
    assert tree.generate(tmp_path)[1] == {}
    tree.aligntab("# nothing\n\n")
    shutil.rmtree(tmp_path / "generated")
    done, files = tree.generate(tmp_path)
    assert (done.returncode, done.stderr, files) == (FINE, "", {})


def test_each_line_gets_its_unit(tree, tmp_path):
    tree.aligntab("data UUID=1\nmy\\040disk /dev/sdb nofail,timeout=300\nlate UUID=2 noauto\nroot UUID=3 x-initrd.attach\n")
    done, files = tree.generate(tmp_path)
    assert (done.returncode, done.stderr) == (FINE, "")
    assert {path: text for path, text in files.items() if text.startswith("->")} == {
        "align.target.requires/align@data.service": f"-> {TEMPLATE}",
        "align.target.wants/align@my\\x20disk.service": f"-> {TEMPLATE}",
        "align.target.requires/align@root.service": f"-> {TEMPLATE}",
        "sysinit.target.wants/align.target": f"-> {UNITS}/align.target"}
    data, disk, late, root = (set(files[f"align@{name}.service.d/50-aligntab.conf"].splitlines())
                              for name in ("data", "my\\x20disk", "late", "root"))
    before = {f"{word}={target}" for word in ("Wants", "Before") for target in ("local-fs-pre.target", "cryptsetup-pre.target")}
    before |= {"Before=align.target"}
    assert before | {"Conflicts=umount.target"} <= data
    # What may fail delays nothing, and no boot.
    assert not before & disk and "Conflicts=umount.target" in disk
    assert not before & late and "Conflicts=umount.target" in late
    assert before <= root and "Conflicts=umount.target" not in root
    # The wait that the line says, and the time to attach.
    assert "TimeoutStartSec=390" in data and "TimeoutStartSec=600" in disk


@pytest.mark.parametrize("device", ["/dev/mapper/secret", "/dev/dm-0", "/dev/group/volume", "ID=dm-name-secret"])
def test_a_line_whose_device_cryptsetup_may_make_is_not_ordered_before_it(tree, tmp_path, device):
    """Or the two would wait for each other, as long as the line says."""
    tree.aligntab(f"data {device}\n")
    text = tree.generate(tmp_path)[1]["align@data.service.d/50-aligntab.conf"]
    assert "Before=local-fs-pre.target" in text and "cryptsetup" not in text


@pytest.mark.parametrize("device", ["/dev/sdb", "/dev/disk/by-path/x", "/dev/md/0", "ID=wwn-1"])
def test_a_line_of_another_device_is_ordered_before_cryptsetup(tree, tmp_path, device):
    tree.aligntab(f"data {device}\n")
    assert "Before=cryptsetup-pre.target" in tree.generate(tmp_path)[1]["align@data.service.d/50-aligntab.conf"]


def test_a_line_that_needs_the_network_comes_with_the_remote_file_systems(tree, tmp_path):
    tree.aligntab("data UUID=1 _netdev\n")
    _, files = tree.generate(tmp_path)
    [text] = [text for path, text in files.items() if path.endswith(".conf")]
    assert "network-online.target" in text and "Before=remote-fs.target\n" in text and "local-fs" not in text
    tree.aligntab("data UUID=1 _netdev,nofail\n")
    shutil.rmtree(tmp_path / "generated")
    assert "Before=remote-fs.target" not in tree.generate(tmp_path)[1]["align@data.service.d/50-aligntab.conf"]
    assert [path for path, text in files.items() if text.startswith("->")] == ["remote-fs.target.requires/align@data.service"]


def test_a_wrong_line_is_named_and_keeps_no_other_from_its_unit(tree, tmp_path):
    tree.aligntab("bad UUID=1 mode=fast\ngood UUID=2\ngood UUID=3\nlast UUID=5\n")
    done, files = tree.generate(tmp_path)
    assert done.returncode == FINE
    said = done.stderr.splitlines()
    assert len(said) == 2 and re.search(r"aligntab:1: mode=fast: must be", said[0])
    assert re.search(r"aligntab:3: good: already in line 2; the line is ignored", said[1])
    assert {path for path in files if path.startswith("align.target.requires/")} >= {
        "align.target.requires/align@good.service", "align.target.requires/align@last.service"}


def test_a_name_that_no_unit_can_have_is_named(tree, tmp_path):
    tree.aligntab(f"{'-' * 100} UUID=1\nlast UUID=5\n")
    done, files = tree.generate(tmp_path)
    assert done.returncode == USAGE and "too long for a unit" in done.stderr
    assert "align.target.requires/align@last.service" in files


def test_nothing_happens_with_aligntab_no_on_the_command_line(tree, tmp_path):
    tree.aligntab("data UUID=1\n")
    tree.file("proc/cmdline", "root=/dev/sda1 aligntab=no\n")
    assert tree.generate(tmp_path)[1] == {}
    assert tree.ask(ID_FS_UUID_ENC="1")[0] == {}


@pytest.mark.parametrize("name", ["data", "align-sdb", "my disk", "ä", ".x", "a\\b", "x:y_z@1"])
def test_units_are_named_as_systemd_escapes_names(tree, tmp_path, name):
    if not shutil.which("systemd-escape"):
        pytest.skip("systemd is not installed")
    escaped = subprocess.run(["systemd-escape", "--template=align@.service", "--", name], text=True, capture_output=True,
                             check=True).stdout.strip()
    tree.aligntab(name.replace("\\", "\\134").replace(" ", "\\040") + " UUID=1\n")
    assert f"align.target.requires/{escaped}" in tree.generate(tmp_path)[1]


def test_systemd_has_nothing_to_say_about_the_units(tree, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    installed = tmp_path / "installed"
    subprocess.run(["make", "-s", "-C", REPO / "userspace/alignctl", f"OUT={OUT}", "install", f"DESTDIR={installed}",
                    "PREFIX=/usr"], capture_output=True, timeout=patience(120), check=True)
    tree.aligntab("data UUID=1\nusb UUID=2 nofail\nnet UUID=3 _netdev\nlate UUID=4 noauto\n")
    _, files = tree.generate(tmp_path)
    for unit in ("align.target", "align@.service"):
        text = (installed / "usr/lib/systemd/system" / unit).read_text()
        # the program and the pages need not be installed on this machine
        text = re.sub("^Documentation=.*\n", "", text.replace("/usr/sbin/alignctl", str(ALIGNCTL)), flags=re.M)
        (tmp_path / "generated" / unit).write_text(text)
    names = [path for path in files if path.count("/") == 1 and path.endswith(".service")]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "align.target", *(name.split("/")[1] for name in names)],
                          text=True, capture_output=True, timeout=patience(120), check=False,
                          env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path / 'generated'}:"})
    assert len(names) == 3 and done.returncode == 0
    assert not [line for line in done.stderr.splitlines() if "align" in line]


def test_a_line_that_counts_once_another_one_is_removed_is_named(tree):
    """It was ignored before, as a second one of its name or device: the next boot attaches what was detached for good."""
    tree.aligntab("late UUID=1\nother UUID=2\nlate UUID=3\nagain UUID=1\nwrong\n")
    done = subprocess.run([ALIGNCTL, "detach", "late", "--persist"], text=True, capture_output=True, timeout=patience(60),
                          check=True, env=tree.environment)
    said = [line.split(": ", 3)[-1] for line in done.stderr.splitlines() if "counts now" in line]
    assert [line.split()[-6:] for line in said] == [f"UUID={n} is not to be attached".split() for n in (3, 1)]
    assert re.findall(r"aligntab:(\d+): (\w+): this line was ignored", done.stderr) == [("2", "late"), ("3", "again")]
    again = subprocess.run([ALIGNCTL, "detach", "other", "--persist"], text=True, capture_output=True, timeout=patience(60),
                           check=True, env=tree.environment)
    assert "counts now" not in again.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="nodes of devices need root")
def test_a_device_without_a_size_is_waited_for(tree, tmp_path):
    """As an array before it is assembled, and a loop device before it is set up: their nodes are there early."""
    node = tmp_path / "node"
    os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(8, 16))
    size = "sys/devices/pci0/block/sdb/size"
    tree.file(size, "0\n")
    tree.aligntab(f"late {node} timeout=600\n")
    for arguments, said in ((["--all"], "has no size;"), (["--tab", "late", "--timeout", "1"], "had no size within 1 s;")):
        now = subprocess.run([ALIGNCTL, "attach", *arguments], text=True, capture_output=True, timeout=patience(60), check=False,
                             env=tree.environment)
        assert (now.returncode, now.stderr.startswith(f"alignctl: late: {node} {said}")) == (IO, True), now.stderr
    with subprocess.Popen([ALIGNCTL, "attach", "--tab", "late"], stderr=subprocess.PIPE, text=True,
                          env=tree.environment) as waiting:
        time.sleep(0.5)
        assert waiting.poll() is None
        tree.file(size, "8192\n")
        # the made-up disk cannot be opened
        assert str(node) in waiting.communicate(timeout=patience(60))[1]


# udev's question

def test_a_device_of_no_line_is_left_alone(tree):
    assert tree.ask()[0] == {}
    tree.aligntab("data UUID=1\n")
    assert tree.ask(ID_FS_UUID_ENC="2") == ({}, "")


LINKS = "/dev/disk/by-id/wwn-1 /dev/disk/by-uuid/1 /dev/disk/by-label/x /dev/disk/by-partuuid/p /dev/disk/by-path/q"


def test_the_device_of_a_line_loses_the_links_to_its_content(tree):
    tree.aligntab("my\\040disk UUID=1\n")
    answer, _ = tree.ask(ID_FS_UUID_ENC="1", DEVLINKS=LINKS)
    assert answer == {"ALIGN_LOWER": "my\\x20disk", "ALIGN_UNIT": "align@my\\x20disk.service",
                      "ALIGN_LINKS": "align/below/my\\x20disk disk/by-id/wwn-1 disk/by-partuuid/p disk/by-path/q"}


def test_a_device_of_many_long_links_keeps_all_of_them(tree):
    """udev takes 1023 bytes for a list of links, and drops a longer one as a whole, with the link that the line names."""
    rule = (REPO / "scripts/packaging/udev/64-align.rules.in").read_text()
    lists = re.findall(r'^(?:ENV\{(\w+)\}=="\?\*", )?OPTIONS\+="string_escape=none", SYMLINK(\+?)="\$env\{(\w+)\}"$', rule, re.M)
    assert [(condition or name, name, plus) for condition, plus, name in lists] == [
        (name, name, "+" * (number > 0)) for number, name in enumerate(name for *_, name in lists)]
    tree.aligntab("data UUID=1\n")
    for count in (1, 9, 10, 11, 12, 30):
        links = [f"disk/by-id/{'x' * 80}{number}" for number in range(count)]
        answer, said = tree.ask(ID_FS_UUID_ENC="1", DEVLINKS=" ".join(f"/dev/{link}" for link in links))
        found = [answer[name] for *_, name in lists if name in answer]
        assert " ".join(found).split() == ["align/below/data", *links] and not said
        assert max(map(len, found)) <= 1023
    # what is left out is said
    answer, said = tree.ask(ID_FS_UUID_ENC="1", DEVLINKS=" ".join(f"/dev/disk/by-id/{'x' * 80}{number}" for number in range(99)))
    assert "data: /dev/sdb has too many links" in said


@pytest.mark.parametrize("device, properties", [
    ("/dev/sdb", {}), ("ID=wwn-1", {"DEVLINKS": LINKS}), ("/dev/disk/by-path/q", {"DEVLINKS": LINKS}),
    ("PARTUUID=p", {"ID_PART_ENTRY_UUID": "p"}), ("LABEL=x", {"ID_FS_LABEL_ENC": "x"})])
def test_a_line_may_name_its_device_in_any_way(tree, device, properties):
    tree.aligntab(f"data {device}\n")
    assert tree.ask(**properties)[0]["ALIGN_LOWER"] == "data"


def test_a_partition_is_hidden_with_its_disk(tree):
    tree.aligntab("data UUID=1\n")
    answer, _ = tree.ask("sdb1", "8:17", ALIGN_LOWER="data", PARTN="1", DEVLINKS=LINKS)
    assert answer == {"ALIGN_LINKS": "align/below/data-part1 disk/by-id/wwn-1 disk/by-path/q"}


@pytest.mark.parametrize("uuid", ["ALIGN-1", "part1-ALIGN-1"])
def test_the_align_device_with_the_same_content_is_not_hidden(tree, uuid):
    tree.aligntab("data UUID=1\n")
    tree.disk("dm-0", "253:0", dm=("data", uuid))
    assert tree.ask("dm-0", "253:0", ID_FS_UUID_ENC="1", DM_UUID=uuid)[0] == {}


@pytest.mark.parametrize("option, starts", [("", True), ("nofail", True), ("_netdev", True), ("noauto", False)])
def test_the_unit_of_a_late_device_is_started_unless_noauto(tree, option, starts):
    tree.aligntab(f"data UUID=1 {option}\n")
    assert ("ALIGN_UNIT" in tree.ask(ID_FS_UUID_ENC="1")[0]) == starts


def test_a_device_that_is_attached_stays_hidden_and_starts_nothing(tree):
    tree.aligntab("data UUID=1\n")
    tree.disk("dm-0", "253:0", dm=("data", "ALIGN-1"))
    tree.hold("sdb", "dm-0")
    tree.mounts("1 1 253:0 / /mnt rw - ext4 /dev/mapper/data rw\n")
    answer, said = tree.ask(ID_FS_UUID_ENC="1")
    assert answer["ALIGN_LOWER"] == "data" and "ALIGN_UNIT" not in answer and not said


def test_a_second_device_of_a_line_is_hidden_and_named(tree):
    tree.aligntab("# one\ndata UUID=1\n")
    tree.disk("sdc", "8:32")
    tree.disk("dm-0", "253:0", dm=("data", "ALIGN-1"))
    tree.hold("sdb", "dm-0")
    answer, said = tree.ask("sdc", "8:32", ID_FS_UUID_ENC="1")
    assert answer["ALIGN_LOWER"] == "data" and "ALIGN_UNIT" not in answer
    assert "aligntab:2: data: /dev/sdc is a second device that UUID=1 means" in said


@pytest.mark.parametrize("used", ["8:16 / /mnt", "8:17 / /mnt"])
def test_a_device_in_use_is_not_hidden_and_named(tree, used):
    """Or systemd would unmount it."""
    tree.aligntab("data UUID=1\n")
    tree.mounts(f"1 1 {used} rw - ext4 /dev/x rw\n")
    answer, said = tree.ask(ID_FS_UUID_ENC="1")
    assert answer == {} and "aligntab:1: data: /dev/sdb is in use (" in said and "mounted on /mnt" in said


def test_a_name_with_a_blank_is_known_by_what_the_kernel_calls_it(tree):
    tree.aligntab("my\\040disk UUID=1\n")
    tree.disk("dm-0", "253:0", dm=("my\\x20disk", "ALIGN-1"))
    tree.hold("sdb", "dm-0")
    answer, said = tree.ask(ID_FS_UUID_ENC="1")
    assert answer["ALIGN_LOWER"] == "my\\x20disk" and "ALIGN_UNIT" not in answer and not said


def test_a_device_that_another_device_holds_is_not_hidden(tree):
    tree.aligntab("data UUID=1\n")
    tree.disk("dm-0", "253:0", dm=("vg-lv", "LVM-1"))
    tree.hold("sdb", "dm-0")
    answer, said = tree.ask(ID_FS_UUID_ENC="1")
    assert answer == {} and "is held by dm-0 (vg-lv)" in said


def test_wrong_lines_keep_no_device_from_being_hidden(tree):
    tree.aligntab("bad UUID=1 mode=fast\ndata UUID=1\n")
    assert tree.ask(ID_FS_UUID_ENC="1")[0]["ALIGN_LOWER"] == "data"


# The verbs

def run(tree, *arguments):
    return alignctl(*arguments, env=tree.environment)


@pytest.mark.parametrize("arguments, words", [
    (["attach", "/dev/x", "--all"], "/dev/x: does not apply to --all, which takes no operand; leave it out\n"),
    (["attach", "--all", "--tab", "x"], "--tab: does not apply to --all"),
    (["attach", "--all", "--mode", "pad"],
     "--mode: does not apply to --all, whose settings are those of /etc/aligntab; leave it out"),
    (["attach", "--tab", "x", "--physical", "4K"], "--physical: does not apply to --tab"),
    (["attach", "--tab", "x", "--name", "y"], "--name: does not apply to --tab"),
    (["attach", "--all", "--persist"], "--persist: does not apply to --all"),
    (["attach", "--all", "--timeout", "3"], "--timeout: does not apply to --all"),
    (["attach", "/dev/x", "--timeout", "3"], "--timeout: needs --tab LINE, as only --tab waits for a device; add it"),
    (["attach", "/dev/x", "--online", "--persist"], "--persist, --online: exclude each other, as DEV becomes linear"),
    (["attach", "--tab", "x", "--timeout", "86401"], "--timeout 86401: must be a whole number of seconds from 0 to 86400"),
    (["attach", "--tab", "x"], "--tab x: /etc/aligntab has no valid line of this name"),
    (["boot"], "needs generator"), (["boot", "stop"], "needs generator")])
def test_words_that_do_not_go_together_are_refused(tree, arguments, words):
    refused = run(tree, *arguments)
    assert refused.returncode == USAGE and words in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_a_wrong_line_is_named_where_it_is_the_one_that_is_wanted(tree):
    tree.aligntab("bad UUID=1 mode=fast\n")
    refused = run(tree, "attach", "--tab", "bad")
    assert refused.returncode == USAGE
    assert "aligntab:1: mode=fast: must be" in refused.stderr and "no valid line" in refused.stderr


def test_lines_are_completed_by_their_names(tree):
    tree.aligntab("data UUID=1\ndate UUID=2\nother UUID=3\nbad x\n")
    assert run(tree, "complete", "attach", "--tab", "da").stdout.split() == ["data", "date"]
