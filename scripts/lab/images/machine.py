# SPDX-License-Identifier: GPL-2.0
"""A machine that boots a copy of a system image again and again, and keeps its disks, its console and its journal.

    with Image("bookworm").machine("sample", disks=["64M"]) as machine:
        machine.boot()                                   # /dev/disk/by-id/virtio-drive0 is the disk
        status, output = machine.run("systemctl list-units")
        machine.reboot()                                 # shuts down, and boots the newest kernel that is installed now
        machine.poweroff()
        data = machine.disk(0).read_bytes()              # what is on the disk

Everything lies in out/images/<name>/: root.img, disk<i>.raw, console.log, and journal.txt for people.
"""

import contextlib
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .. import pace
from ..machines import accel, remote, vm
from ..machines.findings import excerpt, faults
from ..paths import OUT, locked
from ..processes import die_with_parent
from . import filesystem

# Seconds of the reference machine.
BOOT_SECONDS = 90
END_SECONDS = 120
COMMAND_SECONDS = 60
CONNECT_SECONDS = 20

# Time limits of the system itself, in seconds of the reference machine, by the words of the kernel's command line. They are
# fixed when a boot begins, and other work may begin afterwards; what hangs is ended by the limit of the boot.
LIMITS = {"udev.event_timeout": 300, "systemd.default_timeout_start_sec": 300, "systemd.default_device_timeout_sec": 300}
# What a boot needs to find the root; a test adds words, or names another root.
ROOT = "root=UUID={uuid} ro"
# Units that only take time under emulation: no user logs in, systemctl needs no logind for root, and no test uses the mounts.
MASKED = ("systemd-logind.service", "systemd-user-sessions.service", "systemd-update-utmp.service",
          "systemd-update-utmp-runlevel.service", "systemd-binfmt.service", "systemd-random-seed.service",
          "kexec.service", "kexec-load.service", "modprobe@efi_pstore.service", "sys-fs-fuse-connections.mount",
          "dev-hugepages.mount", "dev-mqueue.mount", "proc-sys-fs-binfmt_misc.automount")
# The kernel's last words before it leaves the machine.
RESTARTED, POWERED_OFF = "reboot: Restarting system", "reboot: Power down"
# The kernel's first words.
BEGUN = "Linux version "


class MachineError(Exception):
    """A machine did not do what a test relies on; the text names it, and shows the end of its console where that helps."""


class Machine:
    """A machine of an image; boots and ends within a `with` block.

    name     of the folder below out/images; a second machine of that name waits for the first to end
    disks    of each disk the size ("64M"), for a raw file with the topology of a 512e disk on virtio-blk, or a vm.Drive, for
             an emulated drive (drives.py) or another presentation
    project  a folder of the host that the machine sees, read-only, at /mnt/project
    memory, cpus   of the machine ("1G", 1)
    root     words of the kernel's command line that name the root
    append   further words for the kernel's command line
    """

    def __init__(self, image, name, *, disks=(), project=None, memory="1G", cpus=1, root=None, append=""):
        self.image, self.name, self.folder = image, name, OUT / "images" / name
        self.project, self.memory, self.cpus, self.append = project, memory, cpus, append
        self.root = root or ROOT.format(uuid=image.uuid)
        self._wanted, self._drives = disks, []
        self._qemu = self._guest = None
        self._boots = 0
        self._resources = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(locked(f"image-{self.name}", OUT))
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            subprocess.run(["cp", "--reflink=auto", "--sparse=always", self.image.file(), self.root_file], check=True)
            self._drives = [self._drive(index, wanted) for index, wanted in enumerate(self._wanted)]
            # Not in the folder: the path of a socket is limited to 107 bytes.
            self._socket = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dm-align-"))) / "commands"
            stack.callback(self._kill)
            self._resources = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._resources.close()
        # The root is as large as a system, and can be made again; the disks are what a test is about.
        self.root_file.unlink(missing_ok=True)

    def _drive(self, index, wanted):
        if isinstance(wanted, vm.Drive):
            return wanted
        subprocess.run(["truncate", "-s", wanted, self.disk(index)], check=True)
        return vm.FileDrive(str(self.disk(index)))

    @property
    def root_file(self):
        return self.folder / "root.img"

    def disk(self, index):
        """Return the raw file of a disk; the host sees what has reached it."""
        return self.folder / f"disk{index}.raw"

    @property
    def console(self):
        console = self.folder / "console.log"
        return console.read_text(errors="replace") if console.exists() else ""

    @property
    def up(self):
        """Whether the machine runs."""
        return self._qemu is not None

    def boot(self, state="running", *, root=None):
        """Boot the newest kernel of the root; return when systemd has started everything.

        state   the one that systemd must then be in ("running", "degraded", "maintenance"), None: any
        root    other words to find the root, from now on
        Raises MachineError.
        """
        self.root = root or self.root
        self._start()
        self._come_up(state)

    def _start(self):
        assert self._qemu is None, f"{self.name} runs already"
        self._boots += 1
        filesystem.recover(self.root_file)
        release = filesystem.newest_kernel(self.root_file)
        for name in ("vmlinuz", "initrd.img"):
            filesystem.fetch(self.root_file, f"/boot/{name}-{release}", self.folder / name)
        with open(self.folder / "journal.txt", "a") as journal:
            journal.write(f"==== boot {self._boots}: {release}\n")
        self._console_before = len(self.console)
        accelerator = vm.accelerator()
        words = [*vm.COMMON_WORDS, vm.QUICK_KERNEL, *(f"systemd.mask={unit}" for unit in MASKED),
                 *(f"{word}={pace.patience(seconds):.0f}" for word, seconds in LIMITS.items()), self.root, self.append]
        if self.cpus > 1 and accelerator == accel.TCG:
            words += vm.ONE_AFTER_THE_OTHER
        arguments = [
            *vm.bare(memory=self.memory, cpus=self.cpus, accelerator=accelerator, quick=True),
            "-kernel", str(self.folder / "vmlinuz"), "-initrd", str(self.folder / "initrd.img"), "-append", " ".join(words),
            "-chardev", f"file,id=console,path={self.folder / 'console.log'},append=on", "-serial", "chardev:console",
            "-drive", f"file={self.root_file},if=none,id=root,format=raw,discard=unmap",
            "-device", "virtio-blk-pci,drive=root,serial=root",
            "-device", "virtio-serial-pci",
            "-chardev", f"file,id=journal,path={self.folder / 'journal.txt'},append=on",
            "-device", "virtconsole,chardev=journal",
            "-chardev", f"socket,id=commands,path={self._socket}",
            "-device", f"virtserialport,chardev=commands,name={remote.CHANNEL}",
        ]
        for index, drive in enumerate(self._drives):
            arguments += drive.arguments(index)
        if self.project:
            arguments += ["-fsdev", f"local,id=project,path={self.project},security_model=none,readonly=on,multidevs=remap",
                          "-device", "virtio-9p-pci,fsdev=project,mount_tag=project"]
        (self.folder / "qemu").write_text(shlex.join(arguments) + "\n")
        with socket.socket(socket.AF_UNIX) as listener, open(self.folder / "qemu.log", "a") as errors:
            listener.bind(str(self._socket))
            listener.listen(1)
            self._began = time.monotonic()
            self._qemu = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                          preexec_fn=die_with_parent)
            listener.settimeout(pace.patience(CONNECT_SECONDS))
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                raise self._error("QEMU does not start") from None
        self._socket.unlink()
        self._connection = connection
        self._guest = remote.Guest(connection)

    def _come_up(self, state):
        found = self.run("systemctl is-system-running --wait", BOOT_SECONDS)[1].strip()
        self.boot_seconds = time.monotonic() - self._began
        if self.project:
            self.check("mountpoint -q /mnt/project || mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=524288 "
                       "project /mnt/project")
        if state and found != state:
            failed = self.run("systemctl --failed --no-pager --plain --no-legend; "
                              "systemctl list-jobs --no-pager --no-legend")[1]
            raise self._error(f"systemd is {found or 'silent'}, not {state}: {failed.strip()}")

    def run(self, command, seconds=COMMAND_SECONDS):
        """Run a shell line as root; return its status and its output, both streams together. `seconds` of the reference
        machine. Raises MachineError if there is no answer."""
        try:
            answer = self._guest.answer(command, {"argv": ["sh", "-c", f"exec 2>&1\n{command}"]}, pace.patience(seconds))
        except remote.GuestError as error:
            raise self._error(str(error)) from None
        return answer["status"], answer["stdout"]

    def check(self, command, seconds=COMMAND_SECONDS):
        """Run a shell line that must succeed; return its output. Raises MachineError."""
        status, output = self.run(command, seconds)
        if status:
            raise MachineError(f"{self.name}: {command}: status {status}: {output.strip()}")
        return output

    def journal(self, arguments="-b"):
        """Return the journal as journalctl prints it."""
        return self.check(f"journalctl --no-pager -o short-monotonic {arguments}")

    def shut_down(self, verb="poweroff"):
        """Shut down with a verb of systemctl, and return when the machine has ended. Raises MachineError, also for faults in
        the kernel's log."""
        self.check(f"systemctl --no-block {verb}")
        self._await_end()
        words = POWERED_OFF if verb == "poweroff" else RESTARTED
        if words not in self.console[self._console_before:]:
            raise self._error(f"the machine ended without the kernel's {words!r}")

    def poweroff(self):
        self.shut_down("poweroff")

    def reboot(self, state="running", **options):
        """Shut down for a reboot, and boot again; arguments as of boot()."""
        self.shut_down("reboot")
        self.boot(state, **options)

    def cut(self):
        """Cut the power: what the disks have is what remains."""
        self._kill()
        self._find_faults()

    def kexec(self, command="systemctl --no-block kexec", state="running"):
        """Load the newest kernel, and have `command` jump into it; return when that system has started. Raises MachineError."""
        release = self.check("ls -v /boot/vmlinuz-* | tail -n 1").strip().removeprefix("/boot/vmlinuz-")
        self.check(f"kexec -l /boot/vmlinuz-{release} --initrd=/boot/initrd.img-{release} --reuse-cmdline")
        begun = self.console.count(BEGUN)
        # Answered before the machine is gone.
        self.check(f"setsid sh -c 'sleep 1; exec {command}' </dev/null >/dev/null 2>&1 &")
        limit = pace.Limit(END_SECONDS)
        while self.console.count(BEGUN) == begun:
            if self._qemu.poll() is not None or limit.over():
                raise self._error(f"{command}: no other kernel has begun")
            time.sleep(0.2)
        self._began = time.monotonic()
        self._come_up(state)

    def _await_end(self):
        limit = pace.Limit(END_SECONDS)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._qemu.wait(0.2)
                break
            if limit.over():
                raise self._error(f"the machine does not end {limit.over()}")
        self._forget()
        self._find_faults()

    def _find_faults(self):
        found = faults(self.console[self._console_before:])
        if found:
            raise self._error(f"the kernel's log holds {len(found)} faults")

    def _kill(self):
        if self._qemu and self._qemu.poll() is None:
            self._qemu.kill()
            self._qemu.wait()
        self._forget()

    def _forget(self):
        if self._guest:
            self._connection.close()
        self._qemu = self._guest = None

    def _error(self, why):
        log = self.folder / "qemu.log"
        said = log.read_text(errors="replace").strip() if log.exists() else ""
        shown = "\n  ".join(excerpt(self.console))
        return MachineError(f"{self.name}: {why}\n{said}\nconsole ({self.folder / 'console.log'}):\n  {shown}")
