# SPDX-License-Identifier: GPL-2.0
"""Run a command in a virtual machine that boots a stock Debian kernel on this machine's own root file system.

The guest sees this machine's files at the same paths, read-only (writes under /etc and /var stay in the guest; /tmp,
/run and /mnt are empty there), plus writable folders named by --rwdir. Guests use KVM where it works; else QEMU emulates
the processor (TCG), and a boot takes about four seconds. See accel.py.

    scripts/vm [--kernel 6.12|7.2|RELEASE|debug|debug-7.2|kcsan|irqsoff] [--memory 1G] [--cpus 2]
               [--drive SOCK[:opt=value,...]]... [--rwdir DIR]... [--load MODULE]... [--append ARGS] [--icount]
               [--name NAME] --timeout SECONDS -- COMMAND [ARG...]

COMMAND runs as root under sh with the caller's working directory; its standard output and error are this program's.
One argument is a shell line, several are quoted. Exit status: the command's; 124 after the time limit; 125 if the guest
died; 126 if the command succeeded and the kernel log holds a fault (BUG, WARNING, lockdep, hung task, ...), which is
then printed. The console and dmesg are left in out/vm/<name>/.

A drive is an NBD server's socket. Its options: bus=virtio|scsi, physical=<bytes> (4096), logical=<bytes> (512),
write-cache=on|off, queue-size=<n> (virtio; a request has at most n-2 segments), rotational=on|off, product=<model> (scsi only).
Drive i has serial "drive<i>"; virtio drives appear as /dev/vda, /dev/vdb, ... in order, scsi ones as /dev/sda, ...
"""

import argparse
import contextlib
import dataclasses
import hashlib
import lzma
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from .. import machines, pace
from ..linux import kernels
from ..paths import OUT, fail, locked, write_whole
from ..processes import die_with_parent, killed_at_end
from . import accel
from .findings import emulator_fault, excerpt, faults

INITS = Path(__file__).resolve().parent / "inits"
TIMED_OUT, DIED, FAULTY = 124, 125, 126
# The debug kernels, {name here: name in debug_kernels.py}.
OWN = {"debug": "x86_64", "kcsan": "kcsan", "debug-7.2": "x86_64-7.2", "irqsoff": "irqsoff"}

# Modules that the initramfs loads to reach the root file system and the channels; all others come from the root.
EARLY_MODULES = ("virtio_pci", "9p", "9pnet_virtio", "virtio_console", "virtio_blk", "overlay")


@dataclasses.dataclass(frozen=True)
class Drive:
    """A disk of the guest: an NBD server's socket and its presentation by QEMU."""
    socket: str
    bus: str = "virtio"
    physical: int = 4096
    logical: int = 512
    write_cache: str = "on"
    queue_size: int = 0
    rotational: str = "off"
    product: str = ""

    @classmethod
    def parse(cls, text):
        socket, _, options = text.partition(":")
        values = {}
        kinds = {field.name: field.type for field in dataclasses.fields(cls)}
        for option in filter(None, options.split(",")):
            name, _, value = option.partition("=")
            name = name.replace("-", "_")
            if name not in kinds or name == "socket":
                fail(f"--drive {text}: unknown option {name!r}; see scripts/vm --help")
            values[name] = int(value) if kinds[name] is int else value
        return cls(socket, **values)

    @property
    def source(self):
        return f"nbd:unix:{self.socket}"

    def arguments(self, index):
        size = f"logical_block_size={self.logical},physical_block_size={self.physical}"
        common = f"drive=d{index},serial=drive{index},write-cache={self.write_cache},{size}"
        backend = f"file={self.source},if=none,id=d{index},format=raw,cache=none,discard=unmap"
        if self.bus == "virtio":
            # QEMU would otherwise merge neighbouring requests, despite the settings of the guest's queue.
            device = f"virtio-blk-pci,{common},request-merging=off,num-queues=1"
            if self.queue_size:
                device += f",queue-size={self.queue_size}"
        elif self.bus == "scsi":
            rate = 7200 if self.rotational == "on" else 1
            device = f"scsi-hd,{common},rotation_rate={rate},dpofua=on,bus=scsi{index}.0"
            if self.product:
                device += f",product={self.product}"
        else:
            fail(f"drive bus {self.bus!r} is not virtio or scsi")
        extra = ["-device", f"virtio-scsi-pci,id=scsi{index}"] if self.bus == "scsi" else []
        return ["-drive", backend, *extra, "-device", device]


@dataclasses.dataclass(frozen=True)
class FileDrive(Drive):
    """A disk whose content is a raw file; `socket` is its path."""

    @property
    def source(self):
        return self.socket


@dataclasses.dataclass
class Result:
    """The end of a guest: the command's status (or TIMED_OUT, DIED), faults in the kernel log, the folder of the logs,
    whether the command had begun, and why the guest was killed, if it was."""
    status: int
    faults: list
    folder: Path
    seconds: float
    begun: bool = True
    killed: str = ""

    @property
    def console(self):
        console = self.folder / "console.log"
        return console.read_text(errors="replace") if console.exists() else ""

    @property
    def complaint(self):
        """Return the messages of the emulator itself."""
        errors = self.folder / "qemu.log"
        return errors.read_text(errors="replace").strip() if errors.exists() else ""

    @property
    def ok(self):
        return self.status == 0 and not self.faults

    @property
    def exit_status(self):
        return FAULTY if self.status == 0 and self.faults else self.status


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel to boot: image, the folder with lib/modules, and the modules to reach the root file system."""
    release: str
    image: Path
    root: Path
    early: tuple


def kernel(series):
    """Return the Kernel of a stock series or release, or of one of OWN: "debug" and "debug-7.2" have KUnit and KASAN."""
    if series in OWN:
        from ..linux import debug_kernels
        build = debug_kernels.base(OWN[series])
        release = (build / "include/config/kernel.release").read_text().strip()
        return Kernel(release, build / "arch/x86/boot/bzImage", build / "root", ())
    release = kernels.release(series)
    return Kernel(release, kernels.image(release), kernels.root(release), EARLY_MODULES)


def initramfs(booted):
    """Return the initramfs of a kernel, made once: busybox, the modules to reach the root, and an init."""
    init = (INITS / "initramfs-init").read_bytes()
    key = hashlib.sha256(init + " ".join(booted.early).encode()).hexdigest()[:12]
    target = booted.root / f"initramfs-{key}.img"
    with locked(f"initramfs-{booted.release}"):
        if target.exists():
            return target
        scratch = booted.root / "initramfs.part"
        shutil.rmtree(scratch, ignore_errors=True)
        for name in ("bin", "dev", "proc", "newroot", "modules"):
            (scratch / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", scratch / "bin/busybox")
        for tool in ("sh", "mount", "umount", "insmod", "cat", "switch_root", "poweroff"):
            (scratch / "bin" / tool).symlink_to("busybox")
        (scratch / "init").write_bytes(init)
        (scratch / "init").chmod(0o755)
        (scratch / "modules/order").write_text("\n".join(unpack_modules(booted, scratch / "modules")) + "\n")
        write_whole(target, pack(scratch))
        shutil.rmtree(scratch)
    return target


def pack(folder):
    """Return the content of a folder as an initramfs."""
    names = "\0".join(sorted(str(path.relative_to(folder)) for path in folder.rglob("*")))
    return subprocess.run(["cpio", "--quiet", "-0", "-o", "-H", "newc"], cwd=folder, input=names.encode(),
                          capture_output=True, check=True).stdout


def unpack_modules(booted, folder):
    """Copy the early modules with their dependencies into `folder`; return their names in loading order."""
    order = []
    for module in booted.early:
        shown = subprocess.run(["/sbin/modprobe", "-d", booted.root, "-S", booted.release, "--show-depends", module],
                               capture_output=True, text=True, check=True).stdout
        for line in shown.splitlines():
            path = Path(line.split()[-1])
            name = path.name.removesuffix(".xz")
            if line.startswith("insmod") and name not in order:
                data = path.read_bytes()
                (folder / name).write_bytes(lzma.decompress(data) if path.suffix == ".xz" else data)
                order.append(name)
    return order


# Under TCG one processor boots alone, and inits/init brings the others online afterwards. The kernel patches its own code
# mostly during boot, and QEMU before 8.1 may keep an intermediate state if another processor is about to execute that code
# (see findings.emulator_fault). noreplace-smp: keep the kernel from patching itself for a single processor.
ONE_AFTER_THE_OTHER = ("maxcpus=1", "noreplace-smp")


def accelerator():
    """Return the guests' accelerator, accel.KVM or accel.TCG."""
    machines.require("qemu")
    return accel.choose(_boot_with_kvm)


def _boot_with_kvm(seconds):
    """Boot a guest with KVM that ends at once, and kill it after `seconds`; return a Result."""
    # Make the initramfs before, so that making it does not count as a slow boot.
    initramfs(kernel(kernels.USUAL))
    return run("true", timeout=pace.Limit(seconds, exact=True), name="kvm", accelerator=accel.KVM)


def begin():
    """Choose the accelerator and print it, or exit with a line that says why QEMU cannot run."""
    try:
        accelerator()
    except (machines.LeftOut, ValueError) as reason:
        fail(reason)
    except OSError as error:
        fail(machines.line("qemu", error))


# What a quick guest leaves out, as it only takes time. In measurements it counts, as on a user's machine.
# erms: TCG executes a string instruction one byte at a time, and the kernel clears and copies pages with one.
# tsc: TCG's is the host's. On a busy host, or with two processors, Linux takes it for unstable, and then reads the HPET for
# each time of day, which leaves the translated code.
# norandmaps: TCG translates a program anew for each address where it lies: at the same one, alignctl starts in 40 % of the time.
QUICK_CPU, QUICK_KERNEL = ",erms=off", "init_on_alloc=0 norandmaps"
QUICK_CLOCK = "tsc=reliable"


def bare(*, memory, cpus, accelerator, quick=False):
    """Return QEMU's command line for a machine without devices that ends where it would be reset."""
    return [
        # max: all features of the accelerator, with KVM the host's own processor. la57=off: Linux forgets for a moment
        # at boot that it has five-level page tables, and KASAN then reports a wild address. pmu=off: TCG has no event
        # counters, and the ones of a nested virtual machine are unreliable.
        "qemu-system-x86_64", "-machine", f"q35,accel={accelerator}",
        "-cpu", "max,la57=off,pmu=off" + (QUICK_CPU if quick and accelerator == accel.TCG else ""),
        "-m", memory, "-smp", str(cpus),
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-net", "none",
    ]


def machine(booted, folder, *, memory, cpus, icount, drives, channels, accelerator, quick=False):
    """Return QEMU's command line for a kernel and its run folder, without shares and the kernel's own arguments."""
    arguments = [
        *bare(memory=memory, cpus=cpus, accelerator=accelerator, quick=quick),
        "-kernel", str(booted.image), "-initrd", str(initramfs(booted)),
        "-serial", f"file:{folder / 'console.log'}",
        "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
        "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
        "-device", "virtio-serial-pci,max_ports=16",
        "-chardev", "file,id=output,path=/proc/self/fd/1",
        "-device", "virtserialport,chardev=output,name=lab.output",
    ]
    if icount:
        arguments += ["-icount", "shift=0,sleep=off"]
    for index, drive in enumerate(drives):
        arguments += drive.arguments(index)
    for index, (channel, socket) in enumerate(channels):
        arguments += ["-chardev", f"socket,id=channel{index},path={socket}",
                      "-device", f"virtserialport,chardev=channel{index},name={channel}"]
    return arguments


# A log on the console, and no features that only cost time under emulation.
COMMON_WORDS = ("console=ttyS0", "ignore_loglevel", "printk.devkmsg=on", "panic=-1", "oops=panic", "audit=0", "apparmor=0",
                "mitigations=off", "random.trust_cpu=on", "cryptomgr.notests", "no_timer_check")


def kernel_words(booted, folder, cwd, load):
    """Return the kernel's command line: COMMON_WORDS and words for inits/init."""
    return [*COMMON_WORDS,
            f"lab.init={INITS / 'init'}", f"lab.run={folder}", f"lab.modules={booted.root / 'lib/modules'}",
            f"lab.cwd={cwd or os.getcwd()}", f"lab.load={','.join(load)}", slowness_word()]


def slowness_word():
    """Return the word that passes this machine's slowness to a guest's init."""
    return f"lab.slowness={pace.slowness():.2f}"


def _stuck(folder):
    """Return a match if QEMU has stopped a guest for good, else None."""
    with contextlib.suppress(FileNotFoundError):
        return re.search(machines.STUCK, (folder / "qemu.log").read_text(errors="replace"))
    return None


def wait(process, folder, timeout):
    """Wait for a kernel's process; return the status that its init wrote, else DIED or TIMED_OUT, and why the time is
    over, or "". The timeout is in seconds of the reference machine, or a pace.Limit."""
    limit = timeout if isinstance(timeout, pace.Limit) else pace.Limit(timeout)
    status, why = DIED, None
    while process.poll() is None:
        why = limit.over()
        if why:
            status = TIMED_OUT
            break
        if _stuck(folder):
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    with contextlib.suppress(FileNotFoundError, ValueError):
        # A kernel that only failed to power off has written the status before.
        status = int((folder / "status").read_text())
    return status, why or ""


def run(command, *, timeout, name=None, **options):
    """Boot a guest, run a shell line in it and return a Result.

    timeout   seconds of the reference machine for boot and command together, or a pace.Limit; the guest is killed then
    name      of the folder under out/vm for the logs; a second run of that name waits for the first to end
    series    a stock series or release, or one of OWN ("6.12")
    memory, cpus   of the machine ("1G", 2; with icount 1)
    offline_cpus   further processors that stay offline: the kernel has per-CPU memory for them, too (0)
    drives    Drive objects
    rwdirs    folders that the guest may write to, at the same path, besides the run's own folder
    load      modules to load before the command
    channels  (name, socket) pairs: a virtio port of that name, connected to a listening unix socket of the host
    append    further words for the kernel's command line
    icount    guest time counts instructions, of all processors, which take turns (TCG): for measurements
    accelerator   accel.KVM or accel.TCG; default: accelerator()
    quick     leave out what only takes time, if the guest measures none: see QUICK_CPU
    stdout    text file for the command's output, else this process's
    cwd       the command's working directory, else this process's
    broken    a module of the guest that is broken on purpose, as the kernel names it, and so may warn (None)
    """
    machines.require("qemu")
    if options.get("icount"):
        options["accelerator"] = accel.TCG
    elif "accelerator" not in options:
        options["accelerator"] = accelerator()
    name = name or f"{options.get('series', kernels.USUAL)}-{os.getpid()}"
    with locked(f"vm-{name}", OUT):
        return _run(command, OUT / "vm" / name, timeout, **options)


def _copy(source, target):
    for piece in iter(lambda: source.read1(65536), b""):
        target.write(piece.decode(errors="replace"))
        target.flush()


def _run(command, folder, timeout, accelerator, series=kernels.USUAL, memory="1G", cpus=None, drives=(), rwdirs=(),
         load=(), channels=(), append="", icount=False, stdout=None, cwd=None, quick=False, offline_cpus=0, broken=None):
    booted = kernel(series)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "command").write_text(command + "\n")
    # Load these by name: without udev the guest does not probe its hardware.
    load = [*load, *(("sd_mod", "virtio_scsi") if any(drive.bus == "scsi" for drive in drives) else ())]
    cpus = cpus or (1 if icount else 2)
    words = [*kernel_words(booted, folder, cwd, load), *([QUICK_KERNEL] if quick else [])]
    if quick and accelerator == accel.TCG:
        words.append(QUICK_CLOCK)
    if offline_cpus or cpus > 1 and accelerator == accel.TCG:
        words += [*ONE_AFTER_THE_OTHER, f"lab.cpus={cpus}"]
    arguments = machine(booted, folder, memory=memory, cpus=cpus + offline_cpus, icount=icount, drives=drives, channels=channels,
                        accelerator=accelerator, quick=quick)
    for index, share in enumerate([folder, *(Path(path).resolve() for path in rwdirs)]):
        arguments += ["-fsdev", f"local,id=share{index},path={share},security_model=none,multidevs=remap",
                      "-device", f"virtio-9p-pci,fsdev=share{index},mount_tag=share{index}"]
        words.append(f"lab.share=share{index}:{share}")
    arguments += ["-append", " ".join([*words, append])]
    (folder / "qemu").write_text(shlex.join(arguments) + "\n")

    began = time.monotonic()
    with open(folder / "qemu.log", "w") as errors, killed_at_end(subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            preexec_fn=die_with_parent)) as qemu:
        # Through a pipe: QEMU reopens its output, which would truncate a file, or write at another offset than this process.
        copier = threading.Thread(target=_copy, args=(qemu.stdout, stdout or sys.stdout), daemon=True)
        copier.start()
        status, killed = wait(qemu, folder, timeout)
    copier.join(10)
    result = Result(status, [], folder, time.monotonic() - began, (folder / "begun").exists(), killed)
    result.faults = faults(result.console, broken)
    return result


def explain(result):
    """Return why a run failed, in words, or None."""
    reasons = []
    if result.status == TIMED_OUT:
        reasons.append(f"the guest was killed {result.killed}")
    elif result.status == DIED:
        when = "ended" if result.begun else "began"
        reasons.append(f"the guest died before the command {when}{': ' + result.complaint if result.complaint else ''}")
    elif result.status:
        reasons.append(f"the command ended with status {result.status}")
    if result.faults:
        shown = "\n  ".join(result.faults[:20])
        reasons.append(f"the kernel log holds {len(result.faults)} faults:\n  {shown}")
    proof = result.status in (DIED, TIMED_OUT) and emulator_fault(result.console)
    if proof:
        reasons.append(f"this is the emulator's fault, proven: {proof}")
    if not reasons:
        return None
    why = "; ".join(reasons)
    if result.faults or result.status in (DIED, TIMED_OUT):
        # Where only the tests' output survives, the cause must be in it.
        what = "from the first fault on" if result.faults else "at its end"
        why = "\n  ".join([f"{why}\nthe console, {what}:", *excerpt(result.console)])
    return f"{why}\nconsole: {result.folder / 'console.log'}"


def main(argv):
    parser = argparse.ArgumentParser(prog="scripts/vm", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default=kernels.USUAL, help="a series, a release, or one of our own configuration")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--cpus", type=int)
    parser.add_argument("--drive", action="append", default=[], type=Drive.parse)
    parser.add_argument("--rwdir", action="append", default=[])
    parser.add_argument("--load", action="append", default=[])
    parser.add_argument("--append", default="")
    parser.add_argument("--icount", action="store_true")
    parser.add_argument("--name")
    parser.add_argument("--timeout", type=float, required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(argv)
    command = given.command[0] if len(given.command) == 1 else shlex.join(given.command)
    # Exit on SIGTERM through the clean-up, which kills the machine.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not given.icount:
        begin()
    try:
        result = run(command, timeout=pace.Limit(given.timeout, exact=True), series=given.kernel, memory=given.memory,
                     cpus=given.cpus, drives=given.drive, rwdirs=given.rwdir, load=given.load, append=given.append,
                     icount=given.icount, name=given.name)
    except machines.LeftOut as reason:
        fail(reason)
    except OSError as error:
        fail(machines.line("qemu", error))
    tell_end("vm", "qemu", result, explain(result))


def tell_end(program, machine, result, why):
    """Exit after a command in a machine: print why it failed, first of all if the machine cannot run here."""
    for said in (result.status == DIED and machines.cannot_run(machine, result), why):
        if said:
            print(f"{program}: {said}", file=sys.stderr)
    sys.exit(result.exit_status)


if __name__ == "__main__":
    main(sys.argv[1:])
