# SPDX-License-Identifier: GPL-2.0
"""Boot a copy of a system image, and run shell lines in it.

    scripts/image [--generation bookworm|trixie] [--package NAME]... [--disk 64M]... [--project DIR] [--append WORDS]
                  [--name NAME] [--memory 1G] [--state running] LINE...

Each LINE runs as root in turn, and its output is printed. The lines "reboot", "kexec" and "poweroff" act on the machine:
after a poweroff the next line boots it again. DIR is /mnt/project in the machine, disk i is /dev/disk/by-id/virtio-drive<i>.
Ends with a poweroff; exit status 1 if a line fails. Disks, console and journal are left in out/images/<name>/.
"""

import argparse
import signal
import sys

from .. import machines
from ..machines import vm
from ..paths import fail
from .image import GENERATIONS, Image
from .machine import MachineError


def lines(machine, wanted, state):
    """Run the lines; return the first status that is not 0, else 0."""
    for line in wanted:
        if not machine.up:
            machine.boot(state)
            print(f"booted in {machine.boot_seconds:.1f} s", flush=True)
        if line in ("reboot", "kexec"):
            getattr(machine, line)(state=state)
            print(f"booted in {machine.boot_seconds:.1f} s", flush=True)
        elif line == "poweroff":
            machine.poweroff()
        else:
            status, output = machine.run(line, seconds=600)
            print(output, end="", flush=True)
            if status:
                print(f"{line}: status {status}", file=sys.stderr)
                return 1
    return 0


def main(argv):
    parser = argparse.ArgumentParser(prog="scripts/image", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generation", default="bookworm", choices=GENERATIONS)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--disk", action="append", default=[])
    parser.add_argument("--project")
    parser.add_argument("--append", default="")
    parser.add_argument("--name", default="by-hand")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--state", default="running")
    parser.add_argument("line", nargs="+")
    given = parser.parse_args(argv)
    # Exit on SIGTERM through the clean-up, which kills the machine.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    vm.begin()
    try:
        with Image(given.generation, tuple(given.package)).machine(
                given.name, disks=given.disk, project=given.project, append=given.append, memory=given.memory) as machine:
            status = lines(machine, given.line, given.state)
            if machine.up:
                machine.poweroff()
    except (machines.LeftOut, MachineError) as why:
        fail(why, 1)
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
