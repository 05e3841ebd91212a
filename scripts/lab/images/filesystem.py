# SPDX-License-Identifier: GPL-2.0
"""Files of an ext4 file system in an image, read and checked without a mount, by debugfs and e2fsck of e2fsprogs.

`file` is an image's path, with "?offset=BYTES" behind it for a file system that begins there.
"""

import re
import subprocess

from ..linux.archive import version_key


def _debugfs(file, request):
    # The place of the programs is not on every user's path.
    done = subprocess.run(["/sbin/debugfs", "-R", request, str(file)], capture_output=True, text=True, errors="replace")
    # debugfs ends with status 0 on errors, too; the first line of its errors is its version.
    errors = done.stderr.splitlines()[1:]
    if done.returncode or errors:
        raise OSError(f"{file}: {' '.join(errors) or done.stderr}")
    return done.stdout


def names(file, folder):
    """Return the names in a folder. Raises OSError."""
    return [name for name in re.findall(r"^/\d+/\d+/\d+/\d+/(.+)/\d*/$", _debugfs(file, f"ls -p {folder}"), re.M)
            if name not in (".", "..")]


def fetch(file, path, target):
    """Copy a file to `target` on the host. Raises OSError."""
    _debugfs(file, f"dump {path} {target}")


def newest_kernel(file):
    """Return the newest release that a root has both kernel and initramfs of. Raises OSError."""
    found = names(file, "/boot")
    complete = [name.removeprefix("vmlinuz-") for name in found
                if name.startswith("vmlinuz-") and name.replace("vmlinuz-", "initrd.img-", 1) in found]
    if not complete:
        raise OSError(f"{file}: no kernel with an initramfs in /boot")
    return max(complete, key=version_key)


def recover(file):
    """Replay the journal, as a mount would, and repair what needs no decision. Raises OSError."""
    done = subprocess.run(["/sbin/e2fsck", "-p", str(file)], capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1):
        raise OSError(f"{file}: {done.stdout.strip()} {done.stderr.strip()}")


def faults(file):
    """Return e2fsck's complaints about a file system that is not in use; changes nothing."""
    done = subprocess.run(["/sbin/e2fsck", "-f", "-n", str(file)], capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else done.stdout + done.stderr
