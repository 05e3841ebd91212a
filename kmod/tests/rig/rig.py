# SPDX-License-Identifier: GPL-2.0
"""The rig of tests in a guest: drives, tools, other disks, the kernel log, the module."""

import contextlib
import errno
import fcntl
import itertools
import os
import random
import subprocess
import tempfile
import threading
from pathlib import Path

from lab.pace import Limit, patience
from lab.plugins.extent import count, length

from . import libc
from .direct import PAGE
from .dm import block_name, run, sysfs_folder
from .witness import Request, eventually

# Length of one stress; some tests run a part of it.
STRESS_SECONDS = length("DM_ALIGN_STRESS_SECONDS")
# Number of table lines that the hostile test tries.
HOSTILE_LINES = count("DM_ALIGN_HOSTILE_LINES")
# Number of power cuts, in all modes together, and the number of the first cut; a cut's number determines all of it.
POWER_CUTS = count("DM_ALIGN_POWER_CUTS")
POWER_FIRST = int(os.environ.get("DM_ALIGN_POWER_FIRST", "0"))
# Rounds of a test of the lifecycle.
LIFECYCLE_ROUNDS = count("DM_ALIGN_LIFECYCLE_ROUNDS")
# The same in a guest with two processors, where a round takes much longer: as many in the slice, fewer in the proof.
LIFECYCLE_SMP_ROUNDS = min(LIFECYCLE_ROUNDS, 20 + LIFECYCLE_ROUNDS // 10)
# Power cuts of a test of a stack.
STACK_CUTS = count("DM_ALIGN_STACK_CUTS")
# Length of each tool's work on files.
FILES_SECONDS = length("DM_ALIGN_FILES_SECONDS")
# Seed of the times and kinds of power cuts; the requests in flight at a cut still depend on timing.
SEED = int(os.environ.get("DM_ALIGN_SEED", random.randrange(1 << 31)))
# Time limits on the reference machine: see rig/pace.py.
STALL_SECONDS = 120  # for a single request of a stress
STRESS_LIMIT = 120 + 3 * STRESS_SECONDS
# Least steps beside a stress, however long they take.
ENOUGH_STEPS = 5
HOSTILE_LIMIT = 120 + HOSTILE_LINES / 4
LIFECYCLE_LIMIT = 120 + 10 * LIFECYCLE_ROUNDS
STACKS_LIMIT = 120 + 90 * STACK_CUTS
FILES_LIMIT = 240 + 5 * FILES_SECONDS
POWER_LIMIT = 120 + 4 * POWER_CUTS


LOOP_SET_BLOCK_SIZE = 0x4C09

# These tests do not distinguish trims from write-zeroes.
LETTERS = {"T": "D", "Z": "D"}


class Drive:
    """An emulated drive: its path in the guest, its own counts, and the requests that it received."""

    def __init__(self, drive):
        self._drive = drive
        self.path = drive.path
        self.stats = drive.stats
        self.reset = drive.reset
        self.power_on()
        self.heal()

    def log(self):
        """Return the requests since reset(), in the drive's order of arrival."""
        return [self._parse(line.split()) for line in self._drive.log()]

    def cut_power(self, **options):
        """Cut the power, at once or `at` a later request; see nbdkit-drive512e-plugin(1)."""
        self._drive.control(" ".join(["power cut", *(f"{name}={value}" for name, value in options.items())]))

    def under_way_at_cut(self):
        """Return the requests that the drive had received and not answered at the last power cut."""
        return [Request(LETTERS.get(op, op), offset // 512, count // 512)
                for op, offset, count in self.stats()["under_way_at_cut"]]

    def power_on(self):
        self._drive.control("power on")

    def fail(self, what, sector, sectors):
        """Let each "read" or "write" fail that overlaps these sectors, until heal()."""
        self._drive.control(f"fail {what} {sector} {sectors}")

    def heal(self):
        self._drive.control("heal")

    @staticmethod
    def _parse(words):
        _, op, offset, count, fua, touches = words
        return Request(LETTERS.get(op, op), int(offset) // 512, int(count) // 512, fua == "1", int(touches))


def exactly_as_sent(path):
    """Disable merging and reordering in the queue of a disk, which a witness requires."""
    folder = sysfs_folder(path) / "queue"
    # Setting a value stops the queue for a while, so skip values that are set already.
    if (folder / "nomerges").read_text().strip() != "2":
        (folder / "nomerges").write_text("2")
    if "[none]" not in (folder / "scheduler").read_text():
        (folder / "scheduler").write_text("none")


class Stress:
    """sectorstress on a device, in its own process; its counts are available after finish()."""

    def __init__(self, tool, device, seconds, options):
        words = [tool, device]
        options = {**options, "stall": round(patience(options.get("stall", STALL_SECONDS)))}
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(flag)
            elif value is not False:
                words += [flag, str(value)]
        if "ops" not in options:
            words += ["--seconds", str(max(1, round(seconds)))]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._limit = Limit(120 + 10 * seconds)
        self._said = []
        # Read continuously: a full pipe would block the threads that report.
        self._reader = threading.Thread(target=lambda: self._said.extend(self._process.stderr), daemon=True)
        self._reader.start()
        self._counts = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the process, also after another failure, so that the device does not stay in use."""
        if self._process.poll() is None:
            self._process.kill()

    def running(self):
        assert not self._limit.over(), "the stress does not end"
        return self._process.poll() is None

    def end(self):
        """Have the stress end early; finish() checks its writes as usual."""
        self._process.terminate()

    def stop(self):
        self.end()
        self.finish()

    def shake(self, steps, seconds=STRESS_SECONDS):
        """
        Do one step after the other while the stress runs: for `seconds`, and at least ENOUGH_STEPS, since a step may take
        seconds on a busy machine. Then have the stress end; return the number of steps.
        """
        limit = Limit(seconds, exact=True)
        for done, step in enumerate(itertools.cycle(steps)):
            if done >= ENOUGH_STEPS and limit.over():
                self.end()
                return done
            assert self.running(), f"the stress has ended after {done} steps"
            step()

    def finish(self):
        """Wait for the end; fail with the reports if a sector was wrong."""
        out = self._process.stdout.read()
        status = self._process.wait(max(1, self._limit.left()))
        self._reader.join(10)
        assert status == 0, f"sectorstress: exit status {status}: {''.join(self._said)}{out}"
        self._counts = dict(word.split("=") for word in out.split())
        print(out.strip())

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return int(self._counts[name])


class Log:
    """The kernel log of a `with` block; `text` after its end."""

    def __init__(self):
        self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self._fd, 0, os.SEEK_END)
        self.text = ""

    def close(self):
        lines = []
        with contextlib.suppress(BlockingIOError):
            while True:
                lines.append(os.read(self._fd, 8192).decode(errors="replace").partition(";")[2])
        os.close(self._fd)
        self.text = "".join(lines)


FINIT_MODULE, DELETE_MODULE = 313, 176		# of x86_64


class Rig:
    """
    drive: function that returns the drive of a name, with path, stats(), reset() and log(); None without such drives
    tools: folder of the built tools
    module: the module's file
    """

    seconds = STRESS_SECONDS
    hostile_lines = HOSTILE_LINES
    cuts = STACK_CUTS
    files_seconds = FILES_SECONDS
    seed = SEED

    def __init__(self, drive, tools, module):
        self._drive, self._tools, self._module = drive, tools, module
        self.has_drives = drive is not None
        self.rounds = LIFECYCLE_SMP_ROUNDS if self.has_drives else LIFECYCLE_ROUNDS
        # The kernel's name in the figures of promises.rst.
        self.where = f"Linux {os.uname().release}" if self.has_drives else "User Mode Linux"

    def drive(self, name):
        drive = Drive(self._drive(name))
        exactly_as_sent(drive.path)
        return drive

    def tool(self, name, *args, timeout=120):
        done = run(self._tools / name, *args, timeout=timeout)
        print(done.stdout.strip())
        return done.stdout

    @contextlib.contextmanager
    def beside(self, name, *args):
        """
        Run a tool during the `with` block; end it by SIGTERM, and fail unless its exit status is 0. Its hundreds of threads
        leave the processor to the test where both want it.
        """
        with subprocess.Popen([str(word) for word in ("nice", "-n", 19, self._tools / name, *args)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            try:
                yield
            finally:
                process.terminate()
                said = process.communicate(timeout=patience(120))[0]
        assert process.returncode == 0, f"{name}: exit status {process.returncode}: {said}"
        print(said.strip())

    def stress(self, device, seconds=None, **options):
        return Stress(self._tools / "sectorstress", device, self.seconds if seconds is None else seconds, options)

    @staticmethod
    def progress(rounds):
        """Yield the rounds, and log each hundredth on the guest's console, since pytest prints a test's output at its end."""
        for number in rounds:
            if number % 100 == 0:
                Path("/dev/kmsg").write_text(f"dm-align test: round {number}\n")
            yield number

    def load_module(self):
        if Path("/sys/module/dm_align").exists():
            return
        if not Path("/sys/module/dm_bufio").exists():
            run("modprobe", "-a", "dm-mod", "dm-bufio")
        # System calls, not modprobe: a process would take longer than most tests between.
        with open(self._module, "rb") as module:
            libc.call(f"load {self._module}", "syscall", FINIT_MODULE, module.fileno(), b"", 0)

    def unload_module(self):
        libc.call("unload dm_align", "syscall", DELETE_MODULE, b"dm_align", os.O_NONBLOCK)
        assert not Path("/sys/module/dm_align").exists()

    @contextlib.contextmanager
    def brd(self, megabytes=64):
        """Make a RAM disk for the `with` block; yield its path."""
        run("modprobe", "brd", "rd_nr=1", f"rd_size={megabytes * 1024}")
        eventually(Path("/dev/ram0").exists, "brd makes no /dev/ram0")
        try:
            yield "/dev/ram0"
        finally:
            run("rmmod", "brd")

    @contextlib.contextmanager
    def null_blk(self, **options):
        """Make null_blk's disk, which keeps no data; yield its path."""
        # memory_disk() leaves it loaded without a disk, and no parameter would count.
        run("rmmod", "null_blk", ok=False)
        run("modprobe", "null_blk", "nr_devices=1", *(f"{name}={value}" for name, value in options.items()))
        eventually(Path("/dev/nullb0").exists, "null_blk makes no disk")
        try:
            yield "/dev/nullb0"
        finally:
            run("rmmod", "null_blk")

    @contextlib.contextmanager
    def scsi_debug_busy(self, every):
        """Let scsi_debug give back each command of such a number, for the `with` block; the kernel issues it again."""
        settings = Path("/sys/bus/pseudo/drivers/scsi_debug")
        (settings / "every_nth").write_text(f"{every}\n")
        (settings / "opts").write_text("0x8000\n")
        try:
            yield
        finally:
            (settings / "every_nth").write_text("0\n")
            (settings / "opts").write_text("0\n")

    @contextlib.contextmanager
    def scsi_debug(self, megabytes=16, **options):
        """Make scsi_debug's disk, with merging off, so that requests arrive as sent; yield its path."""
        before = set(os.listdir("/sys/block"))
        run("modprobe", "-a", "sd_mod")
        run("modprobe", "scsi_debug", f"dev_size_mb={megabytes}", "delay=0",
            *(f"{name}={value}" for name, value in options.items()))
        new = set()

        def found():
            new.update(name for name in set(os.listdir("/sys/block")) - before if name.startswith("sd"))
            return new and Path("/dev", min(new)).exists()

        try:
            eventually(found, "scsi_debug makes no disk")
            path = f"/dev/{min(new)}"
            exactly_as_sent(path)
            yield path
        finally:
            # The kernel may still probe the disk for partitions.
            eventually(lambda: not run("rmmod", "scsi_debug", ok=False).returncode, "scsi_debug stays in use")

    @contextlib.contextmanager
    def loop(self, block_size, megabytes=8):
        """Make a loop device with logical blocks of that size, by ioctl for old versions of losetup; yield its path or None."""
        run("modprobe", "loop")
        with tempfile.NamedTemporaryFile(dir="/run") as file:
            file.truncate(megabytes << 20)
            path = run("losetup", "--show", "-f", file.name).stdout.strip()
            try:
                with open(path, "rb") as loop:
                    fcntl.ioctl(loop, LOOP_SET_BLOCK_SIZE, block_size)
            except OSError as error:
                # Every kernel supports blocks up to a page.
                if error.errno != errno.EINVAL or block_size <= PAGE:
                    raise
                yield None
            else:
                yield path
            finally:
                run("losetup", "-d", path)
        eventually(lambda: not run("rmmod", "loop", ok=False).returncode, "the loop device stays in use")

    @contextlib.contextmanager
    def partition(self, disk, start, sectors, number=1):
        """Add a partition to the kernel's table only, without a write; yield its path."""
        run("addpart", disk, number, start, sectors)
        path = next(Path("/sys/class/block", block_name(disk)).glob(f"{block_name(disk)}*{number}")).name
        eventually(Path("/dev", path).exists, f"/dev/{path} does not appear")
        try:
            yield f"/dev/{path}"
        finally:
            run("delpart", disk, number)

    @contextlib.contextmanager
    def log(self):
        log = Log()
        try:
            yield log
        finally:
            log.close()
