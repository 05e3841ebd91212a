# SPDX-License-Identifier: GPL-2.0
"""Stock Debian kernels in the cache: images to boot, headers to build against, sources to configure differently.

Nothing is installed: an installed kernel would become the boot loader's default on the user's machine. A series
("6.1", "6.12") names what a test asks for; a release ("6.1.0-56-amd64") is what the archive offers for it today, and
is asked of the archive's meta package.

    scripts/python -m dmalign.kernels fetch             images and headers of both series
    scripts/python -m dmalign.kernels release 6.12      the cached release of a series
    scripts/python -m dmalign.kernels headers [RELEASE] the folder to build modules in (default: see default_release)
    scripts/python -m dmalign.kernels source 6.12       the unpacked source of a series, fetched when missing
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .paths import CACHE, fail, locked, say, whole

# The meta packages of a series: image, headers, source.
META = {
    "6.1": ("linux-image-amd64", "linux-headers-amd64", "linux-source-6.1"),
    "6.12": ("linux-image-6.12-amd64", "linux-headers-6.12-amd64", "linux-source-6.12"),
}
SERIES = tuple(META)


def depends(package):
    """The packages that the archive's newest `package` depends on, first alternatives only."""
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", package], capture_output=True, text=True)
    found = re.search(r"^Depends: (.*)$", shown.stdout, re.M)
    if not found:
        fail(f"the archive does not know {package}: run apt-get update (needs the main and security parts of Debian 12)")
    return [re.split(r"[ :|]", entry.strip())[0] for entry in found[1].split(",")]


def download(packages, into):
    """Unpacks the packages under `into` without installing them."""
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        # apt's own download user cannot enter a private home folder, and warns at length; as root that is harmless.
        done = subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *packages],
                              cwd=scratch, capture_output=True, text=True)
        if done.returncode:
            fail(f"apt-get download {' '.join(packages)}: {done.stderr.strip()}\nrun apt-get update and try again")
        for deb in sorted(Path(scratch).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", deb, into], check=True)


def concrete(meta, pattern):
    """The package that a meta package stands for today."""
    found = [package for package in depends(meta) if re.fullmatch(pattern, package)]
    if not found:
        fail(f"{meta} depends on nothing like {pattern}: {depends(meta)}")
    return found[0]


def fetch_image(series):
    package = concrete(META[series][0], r"linux-image-\d.*-amd64")
    release = package.removeprefix("linux-image-")
    folder = CACHE / "kernels" / release
    if not folder.exists():
        say(f"unpacking kernel {release} into {folder}")
        with whole(folder) as scratch:
            download([package], scratch)
            # Newer packages ship /usr/lib/modules.
            if (scratch / "usr/lib/modules").exists():
                (scratch / "lib").mkdir(exist_ok=True)
                (scratch / "usr/lib/modules").rename(scratch / "lib/modules")
            subprocess.run(["/sbin/depmod", "-b", scratch, release], check=True)
    return release


def fetch_headers(series):
    package = concrete(META[series][1], r"linux-headers-\d.*-amd64")
    release = package.removeprefix("linux-headers-")
    folder = CACHE / "headers" / release
    if not folder.exists():
        say(f"unpacking headers {release} into {folder}")
        parts = [name for name in depends(package) if re.match(r"linux-(headers|kbuild)-", name)]
        with whole(folder) as scratch:
            download([package, *parts], scratch)
            makefile = scratch / f"usr/src/linux-headers-{release}/Makefile"
            # The one absolute path: it would find another version's files, or none.
            text = re.sub(r"^include /usr/src/", "include $(dir $(lastword $(MAKEFILE_LIST)))../", makefile.read_text(),
                          flags=re.M)
            makefile.write_text(text)
            build = scratch / "lib/modules" / release
            for link in ("build", "source"):
                target = os.readlink(build / link)
                (build / link).unlink()
                (build / link).symlink_to(f"../../..{target}")
    return release


# User Mode Linux up to 6.12 keeps a process's floating-point registers in a buffer of 2696 bytes. A processor with AMX has
# 11008 bytes of them (leaf 0xd of cpuid), ptrace refuses the short buffer, and the first process dies. Later kernels ask
# the host for the size.
FP_SIZE_FILE = "arch/x86/um/user-offsets.c"
FP_SIZE_TOO_SMALL = "DEFINE_LONGS(HOST_FP_SIZE, 2696);"
FP_SIZE = "DEFINE_LONGS(HOST_FP_SIZE, 16384);"
# In the folder's name, so that a source unpacked without the change is not taken for one with it.
CHANGED = "fp16384"


def widen_fp_registers(source):
    """Make User Mode Linux of an unpacked source run on processors with AMX."""
    path = source / FP_SIZE_FILE
    if path.exists():
        path.write_text(path.read_text().replace(FP_SIZE_TOO_SMALL, FP_SIZE))


def fetch_source(series):
    """The unpacked source of a series, keyed by the package's version."""
    package = META[series][2]
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", package], capture_output=True, text=True).stdout
    found = re.search(r"^Version: (.*)$", shown, re.M)
    if not found:
        fail(f"the archive does not know {package}: run apt-get update")
    folder = CACHE / "src" / f"{package}-{found[1]}-{CHANGED}"
    with locked(folder.name):
        if not folder.exists():
            say(f"unpacking {package} {found[1]} into {folder} (1.8 GB)")
            with whole(folder) as scratch:
                download([package], scratch)
                tarball = scratch / f"usr/src/{package}.tar.xz"
                subprocess.run(["tar", "-xJf", tarball, "--strip-components=1", "-C", scratch], check=True,
                               env={**os.environ, "XZ_OPT": "-T0"})
                shutil.rmtree(scratch / "usr/src")
                shutil.rmtree(scratch / "usr/share")
                widen_fp_registers(scratch)
    return folder


def fetch():
    """Both series' images and headers. The archive is asked once a day, so that a warm call costs nothing."""
    stamp = CACHE / "kernels.fetched"
    if stamp.exists() and time.time() - stamp.stat().st_mtime < 86400 and all(_known(series) for series in SERIES):
        return
    with locked("kernels"):
        names = {series: (fetch_image(series), fetch_headers(series)) for series in SERIES}
        stamp.write_text("".join(f"{series} {image} {headers}\n" for series, (image, headers) in names.items()))
        _stamp.cache_clear()


@functools.cache
def _stamp():
    try:
        lines = (CACHE / "kernels.fetched").read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {line.split()[0]: line.split()[1:] for line in lines}


def _known(series):
    """The image's and the headers' release of a series, if both are in the cache."""
    names = _stamp().get(series)
    if names and (CACHE / "kernels" / names[0]).exists() and (CACHE / "headers" / names[1]).exists():
        return names
    return None


def release(series):
    """The cached release of a series, fetched when missing."""
    if series not in META:
        fail(f"kernel series {series!r} is not one of {', '.join(SERIES)}")
    if not _known(series):
        fetch()
    return _known(series)[0]


def image(release):
    return CACHE / "kernels" / release / "boot" / f"vmlinuz-{release}"


def version_key(release):
    return [int(part) for part in re.findall(r"\d+", release)]


def headers(release):
    """The folder to build modules for a release in: the system's, else the cached one, else None."""
    for folder in (Path(f"/lib/modules/{release}/build"), Path(f"/usr/src/linux-headers-{release}"),
                   CACHE / "headers" / release / "usr/src" / f"linux-headers-{release}"):
        if (folder / "Makefile").exists():
            return folder
    return None


def default_release():
    """The running kernel's release if it has headers, else the newest release that has."""
    running = os.uname().release
    if headers(running):
        return running
    found = {path.name for path in [*Path("/lib/modules").glob("*"), *(CACHE / "headers").glob("*")]
             if not path.name.endswith(".part") and headers(path.name)}
    if not found:
        fail(f"no kernel headers found, neither for the running {running} nor any other: run scripts/setup kernels, "
             "or apt-get install linux-headers-amd64")
    return max(found, key=version_key)


def main(argv):
    verb, rest = (argv[0], argv[1:]) if argv else ("", [])
    if verb == "fetch" and not rest:
        fetch()
    elif verb == "release" and len(rest) == 1:
        print(release(rest[0]))
    elif verb == "headers" and len(rest) <= 1:
        wanted = rest[0] if rest else default_release()
        folder = headers(wanted)
        if not folder:
            fail(f"no headers for kernel {wanted}: apt-get install linux-headers-{wanted}, or give KVER=<release>")
        print(folder)
    elif verb == "source" and len(rest) == 1 and rest[0] in META:
        print(fetch_source(rest[0]))
    else:
        fail(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
