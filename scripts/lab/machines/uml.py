# SPDX-License-Identifier: GPL-2.0
"""Run a command in User Mode Linux: a kernel with KASAN, lockdep and KUnit that boots on this machine's own files in a
second and runs the real device-mapper stack at native speed, on one processor.

    scripts/uml [--memory 1G] [--rwdir DIR]... [--name NAME] --timeout SECONDS -- COMMAND [ARG...]

COMMAND runs as root under sh; this machine's files are read-only, except folders named by --rwdir; /run and $TMPDIR are
writable and empty. null_blk, scsi_debug and brd are modules (modprobe), ext4, xfs and the dm targets are
built in. The target: `scripts/uml ... -- 'insmod $DM_ALIGN_KO; ...'`, built for this kernel before it starts.
Exit status and logs as scripts/vm; the logs lie in out/uml/<name>/.
"""

import argparse
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .. import machines, pace
from ..linux import debug_kernels
from ..paths import OUT, fail, locked
from ..processes import die_with_parent, killed_at_end
from .findings import faults
from .vm import INITS, Result, explain, slowness_word, tell_end, wait

# For the kernel's command line: look for leaked memory.
KMEMLEAK = "kmemleak=on"


def run(command, *, timeout, name=None, **options):
    """Boot User Mode Linux, run a shell line and return a Result; the command's output is in <folder>/output.

    timeout   seconds of the reference machine for boot and command together, or a pace.Limit
    name      of the folder under out/uml for the logs; a second run of that name waits for the first to end
    memory    of the kernel ("1G")
    rwdirs    folders that the command may write to, besides the run's own folder
    append    further words for the kernel's command line
    kernel    the name that debug_kernels.py has for it ("um")
    cwd       the command's working directory, else this process's
    """
    machines.require("uml")
    name = name or f"uml-{os.getpid()}"
    with locked(f"uml-{name}", OUT):
        return _run(command, OUT / "uml" / name, timeout, **options)


def _run(command, folder, timeout, memory="1G", rwdirs=(), append="", kernel="um", cwd=None):
    build = debug_kernels.base(kernel)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "command").write_text(command + "\n")
    (folder / "output").write_text("")
    shares = [folder, *(Path(path).resolve() for path in rwdirs)]
    arguments = [str(build / "linux"), f"mem={memory}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
                 f"init={INITS / 'uml-init'}", "con=null", "con0=null,fd:1", "panic=-1", "oops=panic",
                 slowness_word(), f"lab.run={folder}", f"lab.modules={build / 'root'}", f"lab.cwd={cwd or os.getcwd()}",
                 *(f"lab.share={share}" for share in shares), *shlex.split(append)]
    began = time.monotonic()
    with open(folder / "console.log", "w") as console, killed_at_end(subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=console, stderr=console, preexec_fn=die_with_parent)) as running:
        try:
            status, killed = wait(running, folder, timeout)
        finally:
            # The kernel's processes are processes of this machine, in one group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    log = (folder / "console.log").read_text(errors="replace")
    return Result(status, faults(log), folder, time.monotonic() - began, (folder / "begun").exists(), killed)


def module(gcov=False, kernel="um"):
    """Build the target for a kernel; return the module's path. gcov: count the executions of each line."""
    machines.require("uml")
    return debug_kernels.build_part(kernel, "kmod", gcov) / "dm-align.ko"


def main(argv):
    parser = argparse.ArgumentParser(prog="scripts/uml", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--rwdir", action="append", default=[])
    parser.add_argument("--append", default="")
    parser.add_argument("--name")
    parser.add_argument("--timeout", type=float, required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(argv)
    command = given.command[0] if len(given.command) == 1 else shlex.join(given.command)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        result = run(f"export DM_ALIGN_KO={shlex.quote(str(module()))}\n{command}", timeout=pace.Limit(given.timeout, exact=True),
                     memory=given.memory, rwdirs=given.rwdir, name=given.name, append=given.append)
    except machines.LeftOut as reason:
        fail(reason)
    except OSError as error:
        fail(machines.line("uml", error))
    sys.stdout.write((result.folder / "output").read_text(errors="replace"))
    sys.stdout.flush()
    why = explain(result)
    tell_end("uml", "uml", result, why and why.replace("guest", "kernel"))


if __name__ == "__main__":
    main(sys.argv[1:])
