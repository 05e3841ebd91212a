# SPDX-License-Identifier: GPL-2.0
"""A guest whose root is its initramfs, and which shares nothing with the host but its disks.

Such a guest can hibernate: the next one resumes it from a disk. The other guests (vm.py) have the host's files as their
root, over 9p, and would lose them with QEMU.

    booted = alone.kernel("6.12", "virtio_scsi", "sd_mod", "dm_mod")
    alone.initramfs(booted, target, script, programs=("dmsetup",), files={"name": b"content"})
    alone.run(booted, target, name="first", timeout=120, drives=[...], words=["lab.boot=first"])
"""

import dataclasses
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from ..paths import OUT, locked
from ..processes import die_with_parent, killed_at_end
from . import accel, vm
from .findings import faults


def kernel(series, *modules):
    """Return a stock kernel as a vm.Kernel whose initramfs has these modules and what they depend on."""
    return dataclasses.replace(vm.kernel(series), early=("virtio_pci", *modules))


def initramfs(booted, target, init, programs=(), files=()):
    """Write an initramfs into the file `target`.

    init      the first process: a shell script on the host. It finds busybox as /bin/busybox and /bin/sh, and in
              /modules the kernel's modules, with their names in loading order in /modules/order
    programs  names or paths of programs of the host; they lie in /bin, with the libraries that they need
    files     {path in the initramfs: content}
    """
    with tempfile.TemporaryDirectory(prefix="dm-align-") as scratch:
        root = Path(scratch)
        for name in ("bin", "dev", "proc", "sys", "tmp", "modules"):
            (root / name).mkdir()
        shutil.copy("/bin/busybox", root / "bin/busybox")
        (root / "bin/sh").symlink_to("busybox")
        for program in programs:
            _copy_program(program, root)
        (root / "modules/order").write_text("\n".join(vm.unpack_modules(booted, root / "modules")) + "\n")
        for name, content in dict(files).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        shutil.copy(init, root / "init")
        (root / "init").chmod(0o755)
        Path(target).write_bytes(vm.pack(root))


def _copy_program(name, root):
    program = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    shutil.copy(program, root / "bin")
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(0x", needed):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)


def run(booted, initrd, *, name, timeout, drives=(), words=(), memory="256M"):
    """Boot a guest with one processor and wait until it powers off; return a vm.Result with status 0, or vm.TIMED_OUT.

    The guest says what it found on its console, as there is no other way out; `words` are for its kernel's command line.
    """
    accelerator = vm.accelerator()
    with locked(f"vm-{name}", OUT):
        folder = OUT / "vm" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        arguments = [*vm.bare(memory=memory, cpus=1, accelerator=accelerator, quick=True),
                     "-kernel", str(booted.image), "-initrd", str(initrd), "-serial", f"file:{folder / 'console.log'}"]
        for index, drive in enumerate(drives):
            arguments += drive.arguments(index)
        clock = [vm.QUICK_CLOCK] if accelerator == accel.TCG else []
        arguments += ["-append", " ".join([*vm.COMMON_WORDS, vm.QUICK_KERNEL, *clock, *words])]
        began = time.monotonic()
        with open(folder / "qemu.log", "w") as errors, killed_at_end(subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, preexec_fn=die_with_parent)) as qemu:
            status, killed = vm.wait(qemu, folder, timeout)
            status = qemu.poll() if status == vm.DIED and qemu.poll() is not None else status
        result = vm.Result(status, [], folder, time.monotonic() - began, True, killed)
        result.faults = faults(result.console)
        return result
