# SPDX-License-Identifier: GPL-2.0
"""Debian's archive: the packages of each generation, and their contents.

Kernels and compilers of several Debian generations are unpacked side by side and never installed, so apt gets a
separate configuration for each generation, in the cache: the machine's lists, status and downloads stay unmodified.
The mirror is the one in the machine's own sources.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from ..paths import CACHE, locked, say

# Suites of a generation at the mirror, and at the mirror of security updates.
GENERATIONS = {
    "bookworm": (("bookworm", "bookworm-updates"), ("bookworm-security",)),
    "trixie": (("trixie", "trixie-updates"), ("trixie-security",)),
    "forky": (("forky",), ()),
}
MIRROR, SECURITY = "http://deb.debian.org/debian", "http://deb.debian.org/debian-security"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCES = Path("/etc/apt")
REFRESH_SECONDS = 86400

# Read after the machine's own configuration, for its proxies; its hooks are cleared, as they would change the machine's lists.
CONFIGURATION = """\
#clear APT::Update;
Dir::State "{folder}";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Cache::archives "archives";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Install-Recommends "false";
// apt's own download user cannot enter a private home folder.
APT::Sandbox::User "root";
"""


class Unreachable(Exception):
    """A generation's lists or packages cannot be read; the text is one line with the reason."""


class Missing(Exception):
    """A generation does not have a package; the text is one line."""


def own_generation():
    """Return the generation of this machine, or None."""
    try:
        codename = platform.freedesktop_os_release().get("VERSION_CODENAME")
    except OSError:
        return None
    return codename if codename in GENERATIONS else None


def _one_line_entries(text):
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<parts>[^#]+)", line)
        if found:
            signed = re.search(r"signed-by=(\S+)", found["options"] or "", re.I)
            yield found["uri"], found["suite"], found["parts"].split(), signed[1] if signed else ""


def _deb822_entries(text):
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", text):
        fields = {name.lower(): " ".join(value.split())
                  for name, value in re.findall(r"^([\w-]+):(.*(?:\n[ \t].*)*)", stanza, re.M)}
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield uri, suite, fields.get("components", "").split(), fields.get("signed-by", "")


def mirrors(folder=SOURCES):
    """Return the mirror and the security mirror that apt's sources below `folder` name, else Debian's own."""
    files = [folder / "sources.list", folder / "sources.list.d/debian.sources",
             *sorted((folder / "sources.list.d").glob("*"))]
    plain = {suite for suites, _ in GENERATIONS.values() for suite in suites} | {"stable", "testing", "sid", "unstable"}
    security = {suite for _, suites in GENERATIONS.values() for suite in suites} | {"stable-security"}
    found = {}
    for path in files:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        read = _deb822_entries if path.suffix == ".sources" else _one_line_entries
        for uri, suite, parts, signed in read(path.read_text(errors="replace")):
            # Other archives may use Debian's suite names, but sign with their own keys.
            if "main" not in parts or uri.startswith("cdrom:") or signed and "debian-archive" not in signed:
                continue
            for kind, suites in (("plain", plain), ("security", security)):
                if suite in suites:
                    found.setdefault(kind, uri.rstrip("/"))
    return found.get("plain", MIRROR), found.get("security", SECURITY)


def sources(generation, at):
    """Return the text of a generation's sources.list; `at` as from mirrors()."""
    lines = []
    for uri, suites in zip(at, GENERATIONS[generation]):
        # target=Packages: no translations, no metadata for software centres.
        lines += [f"deb [arch=amd64 signed-by={KEYRING} target=Packages] {uri} {suite} main\n" for suite in suites]
    return "".join(lines)


def version_key(name):
    """Return a sort key of releases, and of packages named after releases."""
    return [int(part) for part in re.findall(r"\d+", name)]


class Generation:
    """The packages of one generation, through a configuration of apt in the cache; the lists are at most a day old."""

    def __init__(self, name):
        self.name = name
        self.folder = CACHE / "apt" / name
        self._fresh = False

    def _run(self, program, *arguments, **options):
        # Messages must not depend on the user's language.
        try:
            return subprocess.run([program, "-c", self.folder / "apt.conf", *arguments], capture_output=True, text=True,
                                  env={**os.environ, "LC_ALL": "C"}, **options)
        except FileNotFoundError:
            raise Unreachable(f"Debian {self.name} cannot be read: this machine has no {program}") from None

    def _refresh(self):
        """Fetch the lists if they are more than a day old. Raises Unreachable."""
        stamp = self.folder / "refreshed"
        if self._fresh:
            return
        with locked(f"apt-{self.name}"):
            text = sources(self.name, mirrors())
            known = self.folder / "sources.list"
            same = known.exists() and known.read_text() == text
            if not same or not stamp.exists() or not 0 <= time.time() - stamp.stat().st_mtime < REFRESH_SECONDS:
                say(f"reading the package lists of Debian {self.name}")
                for name in ("lists/partial", "cache/archives/partial"):
                    (self.folder / name).mkdir(parents=True, exist_ok=True)
                # In this configuration no package is installed.
                (self.folder / "status").write_text("")
                known.write_text(text)
                (self.folder / "apt.conf").write_text(CONFIGURATION.format(folder=self.folder))
                stamp.unlink(missing_ok=True)
                done = self._run("apt-get", "-qq", "--error-on=any", "update")
                if done.returncode:
                    raise Unreachable(f"Debian {self.name} at {mirrors()[0]} cannot be read: {first_error(done.stderr)}")
                stamp.touch()
        self._fresh = True

    def names(self, prefix):
        """Return the packages whose names begin with `prefix`."""
        self._refresh()
        return self._run("apt-cache", "pkgnames", prefix).stdout.split()

    def _fields(self, package):
        self._refresh()
        shown = self._run("apt-cache", "show", "--no-all-versions", package).stdout
        fields = dict(re.findall(r"^([\w-]+): (.*)$", shown, re.M))
        if "Version" not in fields:
            raise Missing(f"Debian {self.name} has no package {package}")
        return fields

    def version(self, package):
        return self._fields(package)["Version"]

    def depends(self, package):
        """Return the packages on which `package` depends, first alternatives only."""
        entries = self._fields(package).get("Depends", "")
        return [re.split(r"[ :|]", entry.strip())[0] for entry in entries.split(",") if entry.strip()]

    def unpack(self, packages, into):
        """Unpack the packages under `into`, without their dependencies. Raises Unreachable."""
        self._refresh()
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            done = self._run("apt-get", "-qq", "download", *packages, cwd=scratch)
            if done.returncode:
                raise Unreachable(f"{' '.join(packages)} of Debian {self.name} cannot be fetched: {first_error(done.stderr)}")
            for deb in sorted(Path(scratch).glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", deb, into], check=True)

    @contextlib.contextmanager
    def _downloaded(self, packages):
        """Yield a folder with the packages and all their dependencies. Raises Unreachable."""
        self._refresh()
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            (Path(scratch) / "partial").mkdir()
            done = self._run("apt-get", "-qq", "-y", "-o", f"Dir::Cache::archives={scratch}", "--download-only", "install",
                             *packages)
            if done.returncode:
                raise Unreachable(f"{' '.join(packages)} of Debian {self.name} cannot be fetched: {first_error(done.stderr)}")
            yield Path(scratch)

    def unpack_all(self, packages, into):
        """Unpack the packages with all their dependencies into `into`, a root with merged /usr. Raises Unreachable."""
        with self._downloaded(packages) as folder:
            for name in ("bin", "sbin", "lib", "lib64"):
                (into / "usr" / name).mkdir(parents=True)
                (into / name).symlink_to(f"usr/{name}")
            for deb in sorted(folder.glob("*.deb")):
                with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as archive:
                    # Some packages ship /bin and /lib as folders; those are links here.
                    subprocess.run(["tar", "-x", "--no-same-owner", "--keep-directory-symlink", "-C", into],
                                   stdin=archive.stdout, check=True)
                if archive.returncode:
                    raise Unreachable(f"{deb.name} of Debian {self.name} is damaged")

    def repository(self, packages, folder):
        """Fill `folder`, made if missing, with the packages and all their dependencies, as a source of apt without signature:
        deb [trusted=yes] file:FOLDER ./
        Packages that lie there already stay. Return the folder. Raises Unreachable."""
        folder.mkdir(parents=True, exist_ok=True)
        with self._downloaded(packages) as downloads:
            for deb in downloads.glob("*.deb"):
                shutil.move(deb, folder / deb.name)
        with open(folder / "Packages", "w") as index:
            subprocess.run(["dpkg-scanpackages", "--multiversion", "."], cwd=folder, stdout=index, stderr=subprocess.DEVNULL,
                           check=True)
        return folder


def first_error(text):
    """Return the line of apt's output that has the reason."""
    lines = [line.removeprefix("E: ").strip() for line in text.splitlines() if line.startswith("E: ")]
    return lines[0] if lines else (text.strip().splitlines() or ["apt-get gave no reason"])[-1]
