# SPDX-License-Identifier: GPL-2.0
"""The device-mapper ioctl itself: running dmsetup would take longer than most tests."""

import contextlib
import ctypes
import os
import struct

HEAD = struct.Struct("=3I I I I i I I I Q 128s 129s 7s")
SPEC = struct.Struct("=Q Q i I 16s")
SIZE = 64 * 1024

CREATE, REMOVE, SUSPEND, DEV_STATUS, DEV_WAIT, LOAD, STATUS, MESSAGE = 3, 4, 6, 7, 8, 9, 12, 14

SUSPEND_FLAG = 1 << 1
STATUS_TABLE_FLAG = 1 << 4
INACTIVE_PRESENT_FLAG = 1 << 6
SKIP_LOCKFS_FLAG = 1 << 10
NOFLUSH_FLAG = 1 << 11

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]


class Refused(OSError):
    """device-mapper has refused a request; the kernel log has the reason."""


def _asking(what, name, payload=b"", targets=0, flags=0, event=0, size=SIZE):
    """Make a request for the device `name`, again for each next(); yield the answer's head and the data behind it."""
    request = HEAD.pack(4, 0, 0, size, HEAD.size, targets, 0, flags, event, 0, 0, name.encode(), b"", b"") + payload
    buffer = ctypes.create_string_buffer(request, size)
    fd = os.open("/dev/mapper/control", os.O_RDWR | os.O_CLOEXEC)
    try:
        while True:
            ctypes.memmove(buffer, request, len(request))
            if _libc.ioctl(fd, 0xC138FD00 | what, buffer):
                error = ctypes.get_errno()
                raise Refused(error, f"{name}: {os.strerror(error)}")
            told = HEAD.unpack_from(buffer)
            yield told, ctypes.string_at(ctypes.addressof(buffer) + told[4], max(told[3] - told[4], 0))
    finally:
        os.close(fd)


def _ask(*request, **more):
    """Make one request; return the answer."""
    with contextlib.closing(_asking(*request, **more)) as answers:
        return next(answers)


def call(what, name, payload=b"", targets=0, flags=0):
    """Make one request; return (device number, number of targets, the data behind the answer's head)."""
    told, data = _ask(what, name, payload, targets, flags)
    return told[10], told[5], data


def create(name):
    """Create the device and its node."""
    number, _, _ = call(CREATE, name)
    path = f"/dev/mapper/{name}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    os.mknod(path, 0o600 | 0o060000, os.makedev(major, minor))


def remove(name):
    call(REMOVE, name)
    os.unlink(f"/dev/mapper/{name}")


def load(name, lines):
    """Load table lines "<start> <length> <target> <arguments>" into the inactive slot."""
    payload = b""
    for line in lines:
        start, length, target, *arguments = line.split(None, 3)
        text = (arguments[0] if arguments else "").encode() + b"\0"
        text += bytes(-len(text) % 8)
        # when the kernel reads it, `next` counts from this target
        payload += SPEC.pack(int(start), int(length), 0, SPEC.size + len(text), target.encode()) + text
    call(LOAD, name, payload, len(lines))


def suspend(name, flags=0):
    call(SUSPEND, name, flags=SUSPEND_FLAG | flags)


def resume(name):
    call(SUSPEND, name)


def events(name):
    """Return the number of events that the device has raised."""
    return _ask(DEV_STATUS, name)[0][8]


def state(name):
    """Return those of SUSPEND_FLAG and INACTIVE_PRESENT_FLAG, a table is loaded and not resumed, that the device has."""
    return _ask(DEV_STATUS, name)[0][7] & (SUSPEND_FLAG | INACTIVE_PRESENT_FLAG)


def wait(name, seen):
    """Sleep until the device's number of events differs from `seen`; return the number."""
    return _ask(DEV_WAIT, name, event=seen)[0][8]


def message(name, text, sector=0):
    """Send a message to the target that has the device's `sector`."""
    call(MESSAGE, name, struct.pack("=Q", sector) + text.encode() + b"\0")


def status(name, table=False):
    """Return the lines of status, or of the table, as dmsetup prints them."""
    return _lines(_ask(STATUS, name, flags=STATUS_TABLE_FLAG if table else 0))


def tables_while(name, condition):
    """Read the table again and again while condition(); return the lines of each one."""
    answers = []
    # room for twenty lines only: the kernel copies the whole buffer each time
    with contextlib.closing(_asking(STATUS, name, flags=STATUS_TABLE_FLAG, size=4096)) as asking:
        while condition():
            answers.append(next(asking))
    return [_lines(answer) for answer in answers]


def _lines(answer):
    told, data = answer
    lines, at = [], 0
    for _ in range(told[5]):
        start, length, _, following, target = SPEC.unpack_from(data, at)
        text = data[at + SPEC.size:data.index(b"\0", at + SPEC.size)].decode()
        lines.append(f"{start} {length} {target.rstrip(bytes(1)).decode()} {text}".rstrip())
        at = following  # in the kernel's answer, it counts from the first target
    return lines
