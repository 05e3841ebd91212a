# SPDX-License-Identifier: GPL-2.0
"""No command is put together outside the tables of room remedy: the literals of the program's sources are looked through."""

import re

from lab.paths import REPO

TOP = REPO / "userspace/alignctl"
# A program, and the beginning of its arguments or the device that it is to work on.
COMMAND = re.compile(r"\b(?:sfdisk|losetup|cryptsetup|mdadm|pvcreate|zpool create|vgchange|pvmove|kpartx|dmsetup|modprobe|"
                     r"mkswap|fuser|udevadm|mkfs\.\w+|mkfs\.%s|mount|umount|alignctl (?:attach|detach|set)) +(?:-(?!-help)|%s|/)|"
                     r"(?<!/)\balignctl (?!of)[a-z]+ +%s|\bmodprobe dm|\bdmsetup \w+ +%s|\bmount -t|\budevadm trigger|"
                     r"\bupdate-initramfs -|\becho .*[|>]")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Another program's own command, of which a message says what it will undo.
OTHERS = {"LVM ('lvchange --refresh', lvextend, the next activation)", "kpartx ('kpartx -u', the next 'kpartx -a')"}


def commands(source):
    """The literals of a source that hold a command."""
    return [text for text in LITERAL.findall(source) if COMMAND.search(text) and text not in OTHERS]


def test_a_command_is_seen():
    assert commands('x("workaround: losetup --sector-size 4096 %s");') and commands('"try \'dmsetup resume %s\'"')
    assert not commands('"attach the file with losetup"')


def test_every_printed_command_is_of_the_table():
    found = {path.relative_to(TOP).as_posix(): texts for path in sorted(TOP.glob("*/*.[ch]"))
             if path.parent.name not in ("tests", "fuzz", "remedy") and (texts := commands(path.read_text()))}
    assert not found
