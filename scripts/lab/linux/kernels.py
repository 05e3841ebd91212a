# SPDX-License-Identifier: GPL-2.0
"""Stock Debian kernels in the cache: images to boot, headers to build against, sources to configure differently.

Nothing is installed: an installed kernel would become the boot loader's default on the user's machine. A test asks for a
series ("6.1", "6.12", "7.2"), and gets its newest release in the archive ("6.1.0-56-amd64"). DM_ALIGN_KERNELS names the
series of a run.

    scripts/python -m lab.linux.kernels fetch             images and headers of the run's series
    scripts/python -m lab.linux.kernels chosen            the run's series
    scripts/python -m lab.linux.kernels usual             the series that demo and benchmarks boot
    scripts/python -m lab.linux.kernels release 6.12      the cached release of a series
    scripts/python -m lab.linux.kernels headers [RELEASE] the folder to build modules against (default: see default_release)
    scripts/python -m lab.linux.kernels source 6.12       the unpacked source of a series or release, fetched when missing
"""

import dataclasses
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ..paths import CACHE, fail, locked, say, whole, write_whole
from . import archive
from .archive import REFRESH_SECONDS, version_key

# The Debian generations that have a series; a machine prefers its own generation.
ORIGINS = {"6.1": ("bookworm",), "6.12": ("bookworm", "trixie"), "7.2": ("forky",)}
SERIES = tuple(ORIGINS)
# The series of all tests, of the demo and of the benchmarks: Debian 12 and 13 both have it. The Makefile reads this line.
USUAL = "6.12"
VARIABLE = "DM_ALIGN_KERNELS"
# Without flavours, debugging symbols and unsigned twins: -rt-amd64, -amd64-dbg, -amd64-unsigned.
RELEASE = r"\d+\.\d+\.\d+(?:-\d+)?(?:\+\w+)?-amd64"
STAMP = CACHE / "kernels.fetched"


def chosen():
    """Return the series of this run, all unless DM_ALIGN_KERNELS names some. Raises ValueError, with a line that lists the
    known ones."""
    words = os.environ.get(VARIABLE, "").replace(",", " ").split()
    unknown = [word for word in words if word not in SERIES]
    if unknown:
        raise ValueError(f"{VARIABLE}={os.environ[VARIABLE]}: unknown kernel {unknown[0]}; name some of {' '.join(SERIES)}")
    return tuple(series for series in SERIES if not words or series in words)


def main_series():
    """Return the one of the run's series on which every test runs."""
    return USUAL if USUAL in chosen() else chosen()[-1]


def series_of(release):
    """Return the series of a release, known or not: "6.12" of "6.12.117+deb12-amd64"."""
    return ".".join(release.split(".")[:2])


def newest(series, images, headers):
    """Return the newest release of a series with packages of both image and headers, or None."""
    def releases(kind, names):
        return {found[1] for name in names
                if (found := re.fullmatch(rf"linux-{kind}-({RELEASE})", name)) and series_of(found[1]) == series}

    return max(releases("image", images) & releases("headers", headers), key=version_key, default=None)


@functools.cache
def generation(name):
    return archive.Generation(name)


def _series_origin(series):
    own = archive.own_generation()
    return generation(own if own in ORIGINS[series] else ORIGINS[series][0])


@functools.cache
def origin(release):
    """Return the generation that has a release. Raises archive.Missing or Unreachable."""
    why, likely, own = None, ORIGINS.get(series_of(release), ()), archive.own_generation()
    # Likely generations first: each one costs a download of its lists.
    for name in sorted(archive.GENERATIONS, key=lambda name: (name not in likely, name != own)):
        try:
            if f"linux-headers-{release}" in generation(name).names(f"linux-headers-{release}"):
                return generation(name)
        except archive.Unreachable as error:
            why = error
    raise why or archive.Missing(f"Debian's archive ({', '.join(archive.GENERATIONS)}) has no kernel {release}")


def _offered(release):
    """Return whether the archive still has a release."""
    try:
        return bool(origin(release))
    except archive.Missing:
        return False


def fetch_image(release, where=None):
    """Unpack image and modules of a release, if missing; return their folder. Raises archive.Missing or Unreachable."""
    folder = CACHE / "kernels" / release
    with locked(f"image-{release}"):
        if not folder.exists():
            where = where or origin(release)
            package = f"linux-image-{release}"
            # Since 7.x the package is nearly empty, and depends on the packages with the kernel and its modules.
            parts = [name for name in where.depends(package) if re.fullmatch(rf"linux-\w+-{re.escape(release)}", name)]
            say(f"unpacking kernel {release} into {folder}")
            with whole(folder) as scratch:
                where.unpack([package, *parts], scratch)
                # Newer packages ship /usr/lib/modules.
                if (scratch / "usr/lib/modules").exists():
                    (scratch / "lib").mkdir(exist_ok=True)
                    (scratch / "usr/lib/modules").rename(scratch / "lib/modules")
                subprocess.run(["/sbin/depmod", "-b", scratch, release], check=True)
    return folder


def fetch_headers(release, where=None):
    """Unpack the headers of a release, if missing; return their folder. Raises archive.Missing or Unreachable."""
    folder = CACHE / "headers" / release
    with locked(f"headers-{release}"):
        if not folder.exists():
            where = where or origin(release)
            package = f"linux-headers-{release}"
            say(f"unpacking headers {release} into {folder}")
            parts = [name for name in where.depends(package) if re.match(r"linux-(headers|kbuild)-", name)]
            with whole(folder) as scratch:
                where.unpack([package, *parts], scratch)
                _relocate(scratch, release)
    return _cached_headers(release)


def _relocate(folder, release):
    """Make paths in unpacked headers relative: absolute ones would find another version's files, or none."""
    makefile = folder / f"usr/src/linux-headers-{release}/Makefile"
    here = "$(dir $(lastword $(MAKEFILE_LIST)))"
    text = re.sub(r"^include /usr/src/", f"include {here}../", makefile.read_text(), flags=re.M)
    text = re.sub(r"^KBUILD_OUTPUT=/usr/src/", f"KBUILD_OUTPUT := $(abspath {here}..)/", text, flags=re.M)
    makefile.write_text(text)
    for link in folder.glob(f"lib/modules/{release}/*"):
        target = os.readlink(link)
        if target.startswith("/"):
            link.unlink()
            link.symlink_to(f"../../..{target}")


# Changes of User Mode Linux in an unpacked source, {file: ((text, its replacement), ...)}. A text that a kernel does not
# have needs no change there.
CHANGES = {
    # Up to 6.12 it keeps a process's floating-point registers in a buffer of 2696 bytes. A processor with AMX has 11008
    # bytes of them (leaf 0xd of cpuid), ptrace refuses the short buffer, and the first process dies. Later kernels ask the
    # host for the size.
    "arch/x86/um/user-offsets.c": (("DEFINE_LONGS(HOST_FP_SIZE, 2696);", "DEFINE_LONGS(HOST_FP_SIZE, 16384);"),),
    # KASAN and kmemleak save the stack at each allocation. For each word of it the kernel looks through all modules, which
    # took a quarter of the processor time of test_leaks.py, unless the word's range is asked for first.
    "arch/um/kernel/stacktrace.c": (
        ("#include <linux/module.h>\n", "#include <linux/mm.h>\n#include <linux/module.h>\n#include <asm/sections.h>\n"),
        ("if (__kernel_text_address(addr)) {",
         "if (is_kernel_text(addr) || is_kernel_inittext(addr) ||\n"
         "\t\t    (is_vmalloc_or_module_addr((void *)addr) && __kernel_text_address(addr))) {")),
}
# Part of the folder's name, so that a source with other changes is not reused.
CHANGED = hashlib.sha256(repr(CHANGES).encode()).hexdigest()[:8]


def change(source):
    """Make the CHANGES in an unpacked source."""
    for name, pairs in CHANGES.items():
        path = source / name
        if path.exists():
            text = path.read_text()
            for old, new in pairs:
                text = text.replace(old, new)
            path.write_text(text)


def fetch_source(name):
    """Return the unpacked source of a series or release, fetched if missing; keyed by the package's version."""
    series = name if name in SERIES else series_of(name)
    package = f"linux-source-{series}"
    known = _stamp().get(series)
    if known and name in (series, known.image) and known.source and (folder := _source_folder(package, known.source)).exists():
        return folder
    try:
        where = _series_origin(series) if series in SERIES and (name == series or not _offered(name)) else origin(name)
        version = where.version(package)
        folder = _source_folder(package, version)
        with locked(folder.name):
            if not folder.exists():
                say(f"unpacking {package} {version} into {folder} (1.8 GB)")
                with whole(folder) as scratch:
                    where.unpack([package], scratch)
                    tarball = scratch / f"usr/src/{package}.tar.xz"
                    subprocess.run(["tar", "-xJf", tarball, "--strip-components=1", "-C", scratch], check=True,
                                   env={**os.environ, "XZ_OPT": "-T0"})
                    shutil.rmtree(scratch / "usr/src")
                    shutil.rmtree(scratch / "usr/share")
                    change(scratch)
    except (archive.Missing, archive.Unreachable) as why:
        cached = sorted((CACHE / "src").glob(f"{package}-*-{CHANGED}"), key=lambda path: version_key(path.name))
        if not cached:
            fail(f"no source of kernel {name}: {why}")
        folder = cached[-1]
    return folder


def _source_folder(package, version):
    return CACHE / "src" / f"{package}-{version}-{CHANGED}"


@dataclasses.dataclass(frozen=True)
class Known:
    """The cache's content for a series: the release of image and headers, the source's version, and the time of the last
    look into the archive."""
    image: str
    headers: str
    asked: float = 0
    source: str = ""

    @classmethod
    def parse(cls, words):
        return cls(words[0], words[1], float(words[2]) if len(words) > 2 else 0, words[3] if len(words) > 3 else "")

    def __str__(self):
        return f"{self.image} {self.headers} {int(self.asked)} {self.source}"

    @property
    def complete(self):
        return (CACHE / "kernels" / self.image).exists() and (CACHE / "headers" / self.headers).exists()

    @property
    def fresh(self):
        return self.complete and 0 <= time.time() - self.asked < REFRESH_SECONDS


def fetch(wanted):
    """Fetch images and headers of some series. Asks the archive once a day, so that a warm call costs nothing; without the
    archive, the cache serves."""
    if all(series in _stamp() and _stamp()[series].fresh for series in wanted):
        return
    with locked("kernels"):
        _stamp.cache_clear()
        for series in wanted:
            known = _stamp().get(series)
            if known and known.fresh:
                continue
            try:
                found = _ask(series)
            except (archive.Missing, archive.Unreachable) as why:
                if not (known and known.complete):
                    others = " ".join(name for name in SERIES if name != series)
                    fail(f"no kernel {series}: {why}; try again, or do without: {VARIABLE}=\"{others}\"")
                say(f"{why}; kernel {series} stays {known.image}, from the cache")
                found = dataclasses.replace(known, asked=time.time())
            lines = {**_stamp(), series: found}
            write_whole(STAMP, "".join(f"{name} {entry}\n" for name, entry in lines.items()))
            _stamp.cache_clear()


def _ask(series):
    """Return the archive's newest release of a series, unpacked if missing."""
    where = _series_origin(series)
    release = newest(series, where.names(f"linux-image-{series}."), where.names(f"linux-headers-{series}."))
    if not release:
        raise archive.Missing(f"Debian {where.name} has no kernel {series} any more")
    fetch_image(release, where)
    fetch_headers(release, where)
    return Known(release, release, time.time(), where.version(f"linux-source-{series}"))


@functools.cache
def _stamp():
    """Return the file that records the cache's content, by series."""
    try:
        lines = STAMP.read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {words[0]: Known.parse(words[1:]) for words in map(str.split, lines)}


def release(name):
    """Return the cached release of a series, fetched if missing; a release as given."""
    if re.fullmatch(RELEASE, name):
        return name
    if name not in SERIES:
        fail(f"kernel {name!r} is neither one of {', '.join(SERIES)} nor a release such as 6.12.117+deb12-amd64")
    if not (name in _stamp() and _stamp()[name].complete):
        fetch([name])
    return _stamp()[name].image


def root(release):
    """Return the folder with a release's boot and lib/modules, fetched if missing."""
    try:
        return fetch_image(release)
    except (archive.Missing, archive.Unreachable) as why:
        fail(f"no image of kernel {release}: {why}")


def image(release):
    """Return the file to boot of a release in the cache."""
    folder = root(release)
    beside = folder / "lib/modules" / release / "vmlinuz"
    return beside if beside.exists() else folder / "boot" / f"vmlinuz-{release}"


def headers(release):
    """Return the folder to build modules for a release against: the system's, else the cached one, else None."""
    for folder in (Path(f"/lib/modules/{release}/build"), Path(f"/usr/src/linux-headers-{release}"),
                   _cached_headers(release)):
        if (folder / "Makefile").exists():
            return folder
    return None


def _cached_headers(release):
    return CACHE / "headers" / release / "usr/src" / f"linux-headers-{release}"


def _install_headers(release):
    """Return how to install the headers of a release, by family of distributions."""
    return (f"install linux-headers-{release} (Debian), kernel-devel-{release} (Fedora), kernel-default-devel (openSUSE) or "
            "linux-headers (Arch)")


def build_folder(release):
    """Return the folder to build modules for a release against, fetched if missing."""
    folder = headers(release)
    if not folder and re.fullmatch(RELEASE, release):
        try:
            folder = fetch_headers(release)
        except (archive.Missing, archive.Unreachable) as why:
            fail(f"no headers for kernel {release}: {why}; give KVER=<release>, or one of {', '.join(SERIES)}")
    if not folder:
        fail(f"no headers of kernel {release}: {_install_headers(release)}, or give KVER=<release> or one of "
             f"{', '.join(SERIES)}")
    return folder


def compiler(folder):
    """Return the compiler that a folder of headers names: "gcc-12"."""
    try:
        found = re.search(r"^CC\s*[:?]?=.*\b(gcc-\d+)", (folder / ".kernelvariables").read_text(), re.M)
    except FileNotFoundError:
        found = None
    return found[1] if found else "gcc"


def usable(folder):
    """Return whether a folder of headers works on this machine: its compiler is installed, and the C library is new enough
    for its programs."""
    programs = [*folder.glob("scripts/mod/modpost*"), *folder.glob("tools/objtool/objtool*")]
    linked = subprocess.run(["ldd", *(path for path in programs if path.is_file())], capture_output=True, text=True)
    return bool(shutil.which(compiler(folder))) and "not found" not in linked.stdout + linked.stderr


def default_release():
    """Return the running kernel's release if its headers are there, else the newest release whose headers work on this
    machine."""
    running = os.uname().release
    if headers(running):
        return running
    found = {path.name for path in [*Path("/lib/modules").glob("*"), *(CACHE / "headers").glob("*")]
             if not path.name.endswith(".part") and headers(path.name) and usable(headers(path.name))}
    if not found:
        fail(f"no headers of the running kernel {running}: {_install_headers(running)}, or give KVER=<release>, or one of "
             f"{', '.join(SERIES)} to build for Debian's")
    return max(found, key=version_key)


def main(argv):
    verb, rest = (argv[0], argv[1:]) if argv else ("", [])
    try:
        wanted = chosen()
    except ValueError as why:
        fail(why)
    if verb == "fetch" and not rest:
        fetch(wanted)
    elif verb == "chosen" and not rest:
        print(*wanted)
    elif verb == "usual" and not rest:
        print(USUAL)
    elif verb == "release" and len(rest) == 1:
        print(release(rest[0]))
    elif verb == "headers" and len(rest) <= 1:
        print(build_folder(release(rest[0]) if rest and rest[0] in SERIES else rest[0] if rest else default_release()))
    elif verb == "source" and len(rest) == 1:
        print(fetch_source(rest[0] if rest[0] in SERIES else release(rest[0])))
    else:
        fail(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
