# SPDX-License-Identifier: GPL-2.0
"""The packages of `make deb` and `make rpm` hold what make install puts in place, say what they need, and build alike."""

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from lab import kept
from lab.linux import kernels, modules
from lab.pace import Limit, patience
from lab.paths import CACHE, OUT, REPO, locked
from lab.processes import killed_at_end
from lab.program import output as run, version

# Other workers would only wait for the build.
pytestmark = pytest.mark.xdist_group("packages")
BUILD = REPO / "scripts/packaging/build"
DEBIAN = REPO / "scripts/packaging/debian"
VERSION = version()
# Each program and the package that has what its "make install" puts in place.
PROGRAMS = {"alignctl": "alignctl", "drive512e": "nbdkit-drive512e-plugin"}
PACKAGES = {"alignctl", "dm-align-dkms", "nbdkit-drive512e-plugin"}
# What the packages of both kinds give to make install, but for the Python, which would be that of the checkout's program.
ARGUMENTS = ["PREFIX=/usr"]
DEB_ARGUMENTS = [*ARGUMENTS, "ZSH_FUNCTIONS=/usr/share/zsh/vendor-completions"]
# The same folder for all checkouts, so that ccache knows what is compiled in it.
WHERE = CACHE / "packaging-tests"
# What a build does not read.
NOT_COPIED = {".git", "out", "__pycache__", ".pytest_cache"}
# Folders that are in the source package only; of Documentation, files that no package names.
OF_SOURCES = ("kmod/tests", "kunit", "scripts/lab", "scripts/tests", "Documentation/tests")


def files_of_tree():
    found = []
    for where, folders, names in os.walk(REPO):
        folders[:] = sorted(name for name in folders if name not in NOT_COPIED)
        found += [Path(where) / name for name in sorted(names) if name != ".git" and not name.endswith((".ko", ".pyc"))]
    return found


@functools.cache
def documents():
    """Return the documents that packages hold."""
    return {line for path in DEBIAN.glob("*.docs") for line in path.read_text().split()}


def only_in_sources(name):
    """Return whether a file of the tree is in the source package and in no other, so that only its name matters here."""
    parts = Path(name).parts
    return (name.startswith(tuple(f"{folder}/" for folder in OF_SOURCES)) or parts[0] == "userspace" and "tests" in parts
            or parts[0] == "Documentation" and parts[1] not in ("ABI", "man") and name not in documents())


@pytest.fixture(scope="session")
def packages():
    """The folder that `make deb` fills; kept, as the packages depend only on the tree and on the tools."""
    tools = run("dpkg-query", "-W")
    files = {str(path.relative_to(REPO)): path for path in files_of_tree()}
    key = kept.digest(tools, *files, *(path for name, path in files.items() if not only_in_sources(name)))

    def make(folder):
        built = WHERE / "deb"
        with locked(WHERE.name):
            run(BUILD, "deb", built)
            shutil.copytree(built, folder, dirs_exist_ok=True)
    return kept.result("packages", key, make)


@pytest.fixture(scope="session")
def unpacked(packages, tmp_path_factory):
    """{package: folder with its files, and with its control files in DEBIAN/}"""
    found = {}
    for path in packages.glob("*.deb"):
        name = path.name.partition("_")[0]
        found[name] = tmp_path_factory.mktemp(name) / "root"
        run("dpkg-deb", "-R", path, found[name])
    return found


def files(folder):
    """The files below a folder, by their paths in the system; without a package's control files."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if not path.is_dir() and path.relative_to(folder).parts[0] != "DEBIAN"}


def control(folder):
    """{field: value} of an unpacked package."""
    text = re.sub(r"\n[ \t]+", " ", (folder / "DEBIAN/control").read_text())
    return dict(line.split(": ", 1) for line in text.splitlines())


def installed(program, folder, arguments):
    """The files that a program's "make install" puts in place, with the man pages compressed, as in a package."""
    run("make", "-s", "-C", REPO / "userspace" / program, f"OUT={OUT}", f"DESTDIR={folder}", *arguments, "install")
    found = {re.sub(r"(/man/man\d/.*)", r"\1.gz", path) for path in files(folder)}
    assert len(found) > 1
    return found


def test_there_are_three_packages_of_one_version(unpacked):
    assert set(unpacked) == PACKAGES
    assert {control(folder)["Version"] for folder in unpacked.values()} == {f"{VERSION}-1"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_package_holds_what_make_install_puts_in_place(unpacked, tmp_path, program):
    package = PROGRAMS[program]
    wanted, got = installed(program, tmp_path, DEB_ARGUMENTS), files(unpacked[package])
    assert wanted <= got
    # What packages have besides: documents, overrides, and what compiles Python anew with a new python3.
    assert all(re.match(rf"usr/share/(doc/{package}/|lintian/overrides/|python3/runtime\.d/)", path) for path in got - wanted)


def test_the_module_comes_as_its_sources_without_tests(unpacked):
    sources = {path.name for path in (REPO / "kmod").iterdir() if modules.is_source(path)}
    found = {path for path in files(unpacked["dm-align-dkms"]) if not path.startswith("usr/share/doc/")}
    assert found == {f"usr/src/dm-align-{VERSION}/{name}" for name in {*sources, "dkms.conf"}}


def test_everything_says_the_one_version(unpacked):
    alignctl, plugin = unpacked["alignctl"], unpacked["nbdkit-drive512e-plugin"]
    assert run(alignctl / "usr/sbin/alignctl", "--version") == f"alignctl {VERSION}\n"
    library = next(plugin.rglob("nbdkit-drive512e-plugin.so"))
    assert f"\nversion={VERSION}\n" in run("nbdkit", library, "--dump-plugin")
    for page in (*alignctl.glob("usr/share/man/man*/*.gz"), plugin / "usr/share/man/man1/nbdkit-drive512e-plugin.1.gz"):
        assert re.search(rf'^\.TH \S+ \d \S+ "dm-align {VERSION}" ', run("zcat", page), re.M)
    conf = (unpacked["dm-align-dkms"] / f"usr/src/dm-align-{VERSION}/dkms.conf").read_text()
    assert f'PACKAGE_VERSION="{VERSION}"\n' in conf


def test_the_plugin_is_where_nbdkit_looks_for_names(unpacked):
    where = re.search(r"^plugindir=/(.*)$", run("nbdkit", "--dump-config"), re.M)[1]
    assert (unpacked["nbdkit-drive512e-plugin"] / where / "nbdkit-drive512e-plugin.so").exists()


def test_alignctl_needs_what_its_python_verbs_import(unpacked):
    imported = set()
    for path in unpacked["alignctl"].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - {"align_reports"}
    # Debian has no duckdb: what is done with Parquet says how to get it
    assert {"rich", "duckdb"} <= foreign
    needs = re.split(r",\s*", control(unpacked["alignctl"])["Depends"])
    # Dask is for workers of a cluster
    assert {"dask", "distributed"} <= foreign
    assert {f"python3-{name}" for name in foreign - {"duckdb", "dask", "distributed"}} <= set(needs)
    assert "python3-distributed" in re.split(r",\s*", control(unpacked["alignctl"])["Suggests"])


def test_the_python_verbs_run_with_debians_python(unpacked, tmp_path):
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 97\n")
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run([unpacked["alignctl"] / "usr/sbin/alignctl", "verify", "--help"], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 0 and "Usage" in done.stdout + done.stderr, done.stderr


def test_the_source_package_needs_what_make_programs_needs(packages):
    text = next(packages.glob("*.dsc")).read_text()
    wanted = {name.split(" ")[0] for name in re.split(r",\s*", re.search(r"^Build-Depends: (.*)$", text, re.M)[1])}
    tools = {"debhelper-compat", "dh-sequence-dkms", "dh-sequence-python3", "python3:any"}
    # What every build has: Debian's build-essential.
    assumed = {"gcc", "make", "libc6-dev"}
    assert wanted - tools == set(run(REPO / "scripts/needs", "--packages", "alignctl", "drive512e").split()) - assumed


def test_maintainer_scripts_have_no_findings(unpacked):
    scripts = [path for folder in unpacked.values() for path in sorted((folder / "DEBIAN").iterdir())
               if path.read_bytes().startswith(b"#!")]
    assert {path.name for path in scripts} == {"postinst", "prerm", "postrm"}
    # What debhelper put in: an assignment of its own, a test of its own.
    run("shellcheck", "--shell", "sh", "--severity", "warning", *scripts)


def test_lintian_has_no_findings(packages):
    # Debian's own lintian is older than the policy that the packages follow; and no upload closes a request for packages.
    done = subprocess.run(["lintian", "--no-cfg", "--allow-root", "--pedantic", "--display-info", "--suppress-tags",
                           "newer-standards-version,initial-upload-closes-no-bugs", "--fail-on", "error,warning,info,pedantic",
                           next(packages.glob("*.changes"))], capture_output=True, text=True, timeout=patience(300))
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


def dkms_build(unpacked, release, folder):
    """Build the module of the package with dkms, in trees below a folder; return it."""
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "src"
    shutil.copytree(unpacked["dm-align-dkms"] / "usr/src", source)
    for name in ("tree", "modules"):
        (folder / name).mkdir()
    trees = ["--dkmstree", folder / "tree", "--sourcetree", source, "--installtree", folder / "modules"]
    run("dkms", "add", *trees, f"dm-align/{VERSION}")
    run("dkms", "build", *trees, "-k", release, "--kernelsourcedir", kernels.build_folder(release), f"dm-align/{VERSION}")
    return next((folder / "tree").rglob("dm-align.ko*"))


@pytest.mark.check_all("make modules builds the files that test_the_module_comes_as_its_sources_without_tests finds")
@pytest.mark.parametrize("series", kernels.SERIES)
@pytest.mark.timeout(600)
def test_dkms_builds_the_module(unpacked, series):
    release = kernels.release(series)
    if kernels.usable(kernels.build_folder(release)):
        module = dkms_build(unpacked, release, OUT / "packaging-tests" / f"dkms-{series}")
    else:
        # A root of another generation has a compiler and no dkms: what dkms runs, make with the headers, runs there.
        tree, root = modules.gcc_tree(release)
        module = modules.build(tree, f"dkms-{series}", unpacked["dm-align-dkms"] / "usr/src", part=f"dm-align-{VERSION}",
                               root=root)[0] / "dm-align.ko"
    told = run("/sbin/modinfo", module)
    assert re.search(rf"^version: +{VERSION}$", told, re.M) and re.search(r"^srcversion: +\w{23}$", told, re.M)
    assert re.search(rf"^vermagic: +{re.escape(release)} ", told, re.M)


# A kernel whose headers a fake make: dkms, dpkg and the hooks of kernels are those of this machine, in a copy of its system.
HEADERS = {
    "builds": """modules:
\techo 'char v[] __attribute__((section(".modinfo"))) = "version=1";' | gcc -x c -c -o $(M)/dm-align.ko -
""",
    "does not": """modules:
\t@echo "target.c:7: error: no such interface" >&2; exit 1
"""}
# In a namespace of its own: $1 is an empty folder, $2 a package, and standard input a script for the system.
COPY_OF_SYSTEM = """set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount --rbind /proc "$1/root/proc"
cp "$2" "$1/root/package.deb"
exec chroot "$1/root" env DEBIAN_FRONTEND=noninteractive bash -ex
"""


def headers(release, kind):
    """Return a script that makes the headers of a fake kernel."""
    return (f"mkdir -p /lib/modules/{release}/build/include\n"
            f"echo CONFIG_BLK_DEV_DM=m >/lib/modules/{release}/build/.config\n"
            f"cat >/lib/modules/{release}/build/Makefile <<'END'\nall: modules\nclean: ;\n{HEADERS[kind]}END\n")


def test_a_kernel_without_the_interfaces_stops_neither_the_others_nor_dpkg(packages, tmp_path):
    """Two kernels that are there when the package comes, and two that come later; those without the interfaces come first."""
    script = f"""
{headers("5.0.0-without", "does not")}{headers("6.0.0-with", "builds")}
dpkg --install /package.deb 2>&1
{headers("5.1.0-without", "does not")}{headers("6.1.0-with", "builds")}
for release in 5.1.0-without 6.1.0-with; do
    /etc/kernel/postinst.d/dkms $release 2>&1
done
dkms status dm-align | sed 's/^/status: /'
dpkg --purge dm-align-dkms 2>&1
echo left: /lib/modules/*/updates/dkms/*
"""
    package = next(packages.glob("dm-align-dkms_*.deb"))
    done = subprocess.run(["unshare", "-m", "sh", "-c", COPY_OF_SYSTEM, "sh", tmp_path, package], input=script,
                          capture_output=True, text=True, timeout=patience(300))
    said = done.stdout
    assert done.returncode == 0, said[-4000:] + done.stderr[-4000:]
    for release in ("5.0.0-without", "5.1.0-without"):
        assert f"dm-align: does not build for {release}, which is skipped: target.c:7: error: no such interface\n" in said
    assert re.findall(rf"^status: dm-align/{VERSION}, (\S+), \S+: installed", said, re.M) == ["6.0.0-with", "6.1.0-with"] \
        and said.count("status: ") == 2
    assert said.endswith("left: /lib/modules/*/updates/dkms/*\n")


def test_the_watch_file_finds_the_tarball_of_a_release(packages):
    version, rule = [line for line in (DEBIAN / "watch").read_text().splitlines() if not line.startswith("#")]
    pattern = rule.split()[-1]
    assert version == "version=4" and rule.split()[-2].startswith("https://")
    # What make dist makes is the source package's original.
    original = next(packages.glob("*.orig.tar.gz"))
    assert re.fullmatch(pattern, original.name.replace("_", "-").replace(".orig", ""))[1] == VERSION
    with tarfile.open(original) as tar:
        assert tar.next().name.startswith(f"dm-align-{VERSION}/")


def in_system(folder, loaded, script, *arguments, idle=True, new="NEW"):
    """Run a maintainer script where /sys/module has dm_align with the srcversion `loaded`, which can be removed if `idle`;
    return its output, and whether the module was removed."""
    tools = {"modinfo": f'case $2 in srcversion) echo {new} ;; version) echo 0.2 ;; esac',
             "rmmod": 'rm -r /sys/module/dm_align; touch removed' if idle else "exit 1",
             "systemctl": ":"}
    for name, text in tools.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    setup = "mount -t tmpfs none /sys/module && cd \"$1\" && shift"
    if loaded:
        setup += f" && mkdir /sys/module/dm_align && echo 1 >/sys/module/dm_align/refcnt" \
                 f" && echo {loaded} >/sys/module/dm_align/srcversion && echo 0.1 >/sys/module/dm_align/version"
    said = run("unshare", "-m", "sh", "-c", f'{setup} && exec sh "$@"', "sh", folder, DEBIAN / script, *arguments,
               env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    return said, (folder / "removed").exists()


def test_an_upgrade_says_that_devices_keep_the_old_module(tmp_path):
    said, removed = in_system(tmp_path, "OLD", "dm-align-dkms.postinst", "configure", "0.1", idle=False)
    assert said == "dm-align-dkms: devices keep the module 0.1; 0.2 follows when all are detached: modprobe -r dm-align\n"
    assert not removed


@pytest.mark.parametrize("loaded, removed", [("OLD", True), ("NEW", False), (None, False)])
def test_an_idle_module_makes_room_for_a_new_one(tmp_path, loaded, removed):
    assert in_system(tmp_path, loaded, "dm-align-dkms.postinst", "configure", "0.1") == ("", removed)


def test_a_removal_leaves_the_module_to_its_devices(tmp_path):
    said, _ = in_system(tmp_path, "OLD", "dm-align-dkms.prerm", "remove", idle=False)
    assert said.startswith("dm-align-dkms: devices keep the module") and said.count("\n") == 1


@pytest.mark.parametrize("verb, removed", [("remove", True), ("upgrade", False)])
def test_only_a_removal_unloads_an_idle_module(tmp_path, verb, removed):
    assert in_system(tmp_path, "OLD", "dm-align-dkms.prerm", verb) == ("", removed)


@pytest.mark.parametrize("text, verb, stays", [
    ("# name device options\n\n", "purge", False), ("", "purge", False), ("# x\n  data /dev/sda\n", "purge", True),
    ("data /dev/sda", "purge", True), ("# only a comment\n", "remove", True)])
def test_a_purge_keeps_a_table_that_names_devices(tmp_path, text, verb, stays):
    table = tmp_path / "etc/aligntab"
    table.parent.mkdir()
    table.write_text(text)
    said = run("sh", DEBIAN / "alignctl.postrm", verb, env={**os.environ, "DPKG_ROOT": str(tmp_path)})
    assert table.exists() == stays and (not stays or table.read_text() == text)
    assert bool(said) == (stays and verb == "purge") and said.count("\n") <= 1


def test_a_removal_does_not_wait_for_a_pipe_in_the_place_of_metrics(tmp_path):
    metrics = tmp_path / "var/lib/prometheus/node-exporter"
    metrics.mkdir(parents=True)
    os.mkfifo(metrics / "align.prom")
    (metrics / "align-check.prom").write_text("# alignctl check --format prometheus\n")
    # as on a machine without systemd, which is not what is tested here
    script = (DEBIAN / "alignctl.prerm").read_text().replace("/run/systemd/system", "/nonexistent")
    subprocess.run(["sh", "-c", script, "prerm", "remove"], env={**os.environ, "DPKG_ROOT": str(tmp_path)},
                   timeout=patience(10), check=True)
    assert os.listdir(metrics) == ["align.prom"]


def test_a_purge_without_a_table_says_nothing(tmp_path):
    assert run("sh", DEBIAN / "alignctl.postrm", "purge", env={**os.environ, "DPKG_ROOT": str(tmp_path)}) == ""


@pytest.mark.parametrize("verb, others, left", [
    ("remove", (), ["probed", "probed/sda.json"]), ("purge", (), None), ("purge", ("mine",), ["mine"])])
def test_a_purge_takes_what_was_probed_and_nothing_else(tmp_path, verb, others, left):
    state = tmp_path / "var/lib/alignctl"
    (state / "probed").mkdir(parents=True)
    for name in ("probed/sda.json", *others):
        (state / name).touch()
    assert run("sh", DEBIAN / "alignctl.postrm", verb, env={**os.environ, "DPKG_ROOT": str(tmp_path)}) == ""
    assert (sorted(str(path.relative_to(state)) for path in state.rglob("*")) if state.exists() else None) == left


@pytest.mark.parametrize("kind", ["deb", "rpm"])
@pytest.mark.parametrize("others", [[], ["browser_1.0_amd64.deb", "player-1.0.x86_64.rpm"], ["alignctl_0.1-1_amd64.deb"]])
def test_a_folder_with_other_files_is_not_replaced(tmp_path, kind, others):
    """Nor one with packages of others, as that of a browser's downloads."""
    for name in ("mine", *others):
        (tmp_path / name).touch()
    done = subprocess.run([BUILD, kind, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and str(tmp_path) in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"mine", *others}


def test_a_second_build_waits_for_the_first(tmp_path):
    """And neither leaves anything beside its folder."""
    (tmp_path / "dpkg-buildpackage").write_text("""#!/bin/sh
mkdir "$BEGUN" && until [ -e "$BEGUN/go" ]; do sleep 0.1; done
touch ../alignctl_1.deb
""")
    (tmp_path / "dpkg-buildpackage").chmod(0o755)
    folder, begun = tmp_path / "out/deb", tmp_path / "begun"

    def started():
        return killed_at_end(subprocess.Popen(
            [BUILD, "deb", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "BEGUN": str(begun)}))

    with started() as first:
        try:
            limit = Limit(60)
            while not begun.exists():
                assert first.poll() is None and not limit.over(), first.communicate()
                time.sleep(0.05)
            with started() as second:
                assert "waits for another build" in second.stderr.readline()
                (begun / "go").touch()
                assert second.wait(patience(60)) == first.wait(patience(60)) == 0
        finally:
            (begun / "go").touch()
    assert os.listdir(folder.parent) == ["deb"]


@pytest.mark.check_all("the packages are built once, and each is compared with make install")
@pytest.mark.timeout(900)
def test_two_builds_are_the_same_bytes(packages, tmp_path):
    """In another folder, of files with other times and modes, with another umask, language and time zone."""
    tree = tmp_path / "a folder of another length" / "dm-align"
    shutil.copytree(REPO, tree, ignore=shutil.ignore_patterns(*NOT_COPIED, "*.ko"))
    for path in tree.rglob("*"):
        os.utime(path, (10 ** 9, 10 ** 9))
        path.chmod(path.stat().st_mode & 0o700)
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in tree.rglob("*"))
    second = tmp_path / "second"
    run("sh", "-c", 'umask 077 && exec "$0" deb "$1"', tree / "scripts/packaging/build", second,
        env={**os.environ, "LC_ALL": "C", "LANG": "de_DE.UTF-8", "TZ": "Pacific/Chatham", "CFLAGS": "-O0", "USER": "nobody"})
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in tree.rglob("*")) == before
    # The kept ones may be of an older tree, as far as files matter that are in the source package only.
    original = next(second.glob("*.orig.tar.gz"))
    run(REPO / "scripts/dist", tmp_path / "dist")
    assert next((tmp_path / "dist").glob("*.tar.gz")).read_bytes() == original.read_bytes()
    one, two = ([line for line in next(folder.glob("*.dsc")).read_text().splitlines() if not line.endswith(original.name)]
                for folder in (packages, second))
    assert one == two
    others = [path for pattern in ("*.deb", "*.debian.tar.*") for path in packages.glob(pattern)]
    assert [path.name for path in others if (second / path.name).read_bytes() != path.read_bytes()] == []
    assert len(others) == len(PACKAGES) + 1


@pytest.mark.check_all("the packages are built once")
@pytest.mark.timeout(900)
def test_what_only_the_source_package_has_changes_no_other(packages, tmp_path):
    tree = tmp_path / "dm-align"
    shutil.copytree(REPO, tree, ignore=shutil.ignore_patterns(*NOT_COPIED, "*.ko"))
    emptied = [path for path in tree.rglob("*") if path.is_file() and only_in_sources(str(path.relative_to(tree)))]
    for path in emptied:
        path.write_bytes(b"")
    run(tree / "scripts/packaging/build", "deb", tmp_path / "second")
    assert len(emptied) > 500
    for path in packages.glob("*.deb"):
        assert (tmp_path / "second" / path.name).read_bytes() == path.read_bytes(), path.name


def test_programs_the_module_and_documents_of_packages_matter():
    for name in ("kmod/turn.c", "userspace/alignctl/main.c", "userspace/align_reports/page.py", "Documentation/man/alignctl.8",
                 "Documentation/admin/tutorial.rst", "scripts/packaging/debian/control", "scripts/needs", "kmod/Kbuild"):
        assert (REPO / name).exists() and not only_in_sources(name)
    for name in ("Documentation/develop/testing.rst", "kmod/tests/sim/test_sim.py", "userspace/alignctl/tests/tap.h",
                 "kunit/Kbuild"):
        assert (REPO / name).exists() and only_in_sources(name)


# What Fedora's kmodtool writes, for one kernel, as far as a spec uses it; notes how it was called.
KMODTOOL = """#!/bin/sh
echo "$*" >>"$CALLS"
cat <<END
%global kernel_versions 6.0.0-with___$HEADERS
%global kmodinstdir_prefix /lib/modules
%global kmodinstdir_postfix extra/dm-align
%package -n kmod-dm-align-6.0.0-with
Summary: x
%description -n kmod-dm-align-6.0.0-with
x
%files -n kmod-dm-align-6.0.0-with
/lib/modules/6.0.0-with/extra/dm-align/
END
"""


def filled_in(name, folder):
    path = folder / name
    path.write_text((REPO / "scripts/packaging/rpm" / name).read_text().replace("@VERSION@", VERSION))
    return path


@pytest.mark.parametrize("defines, wanted", [([], "--akmod"), (["--define", "kernels 6.0.0-with"], "--for-kernels 6.0.0-with")])
def test_the_spec_for_akmods_builds_for_the_kernels_of_kmodtool(tmp_path, defines, wanted):
    spec = filled_in("dm-align-kmod.spec", tmp_path)
    (tmp_path / "kmodtool").write_text(KMODTOOL)
    (tmp_path / "kmodtool").chmod(0o755)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/Makefile").write_text(HEADERS["builds"].replace("modules:\n", "modules:\n\ttest -e $(M)/target.c\n"))
    run(REPO / "scripts/dist", tmp_path / "SOURCES")
    run("rpmbuild", "-bb", "--nodeps", "--define", f"_topdir {tmp_path}", *defines, spec,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HEADERS": str(tmp_path / "headers"),
             "CALLS": str(tmp_path / "calls")})
    machine = run("rpm", "--eval", "%{_target_cpu}").strip()
    assert set((tmp_path / "calls").read_text().splitlines()) == {f"--target {machine} --kmodname dm-align-kmod {wanted}"}
    package, = (tmp_path / "RPMS").rglob("*.rpm")
    assert package.name.startswith(f"kmod-dm-align-6.0.0-with-{VERSION}-1")
    assert "/lib/modules/6.0.0-with/extra/dm-align/dm-align.ko" in run("rpm", "-qpl", package).split()


def test_the_rpm_needs_the_libraries_that_the_program_is_linked_with():
    linked = re.search(r"^PACKAGES := (.*)$", (REPO / "userspace/alignctl/Makefile").read_text(), re.M)[1].split()
    needed = re.findall(r"^BuildRequires: pkgconfig\((.*)\)$", (REPO / "scripts/packaging/rpm/dm-align.spec").read_text(), re.M)
    assert sorted(needed) == sorted([*linked, "nbdkit"])


def test_both_specs_have_no_findings_and_fit_each_other(tmp_path):
    kmod, others = (filled_in(name, tmp_path) for name in ("dm-align-kmod.spec", "dm-align.spec"))
    said = run("rpmlint", "-c", REPO / "scripts/packaging/rpm/rpmlint.toml", kmod, others)
    assert "0 packages and 2 specfiles checked; 0 errors, 0 warnings" in said, said
    assert f"dm-align-kmod-common = {VERSION}\n" in run("rpmspec", "-q", "--provides", others)
    facts = [run("rpmspec", "-q", "--srpm", "--qf", "%{version} %{license} [%{changelogtime} %{changelogtext}]", spec)
             for spec in (kmod, others)]
    assert facts[0] == facts[1]


@pytest.fixture(scope="session")
def rpms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rpm") / "rpm"
    run(BUILD, "rpm", folder)
    return folder


@pytest.mark.check_all("the Debian packages, which are made of the same make install")
@pytest.mark.timeout(900)
def test_rpm_packages_hold_what_make_install_puts_in_place(rpms, tmp_path):
    listed = {}
    for path in [path for path in rpms.glob("*.rpm") if not path.name.endswith(".src.rpm")]:
        name, version, *lines = run("rpm", "-qp", "--qf", "%{name}\n%{version}\n[%{filemodes:perms} %{filenames}\n]",
                                    path).splitlines()
        assert version == VERSION
        # Whether man pages are compressed is for the system to say that builds.
        listed[name] = {re.sub(r"(/man/man\d/[^.]*\.\d)$", r"\1.gz", line.partition(" /")[2])
                        for line in lines if not line.startswith("d")}
    assert PACKAGES <= set(listed)
    for program, package in PROGRAMS.items():
        (tmp_path / program).mkdir()
        # Distributions with rpm make their initramfs by dracut.
        wanted = {path for path in installed(program, tmp_path / program, ARGUMENTS) if "/initramfs-tools/" not in path}
        rest = listed[package] - wanted
        assert wanted <= listed[package], wanted - listed[package]
        assert all(re.match(r"usr/share/(doc|licenses)/|usr/lib/\.build-id/", path) for path in rest), rest
    assert {f"usr/src/dm-align-{VERSION}/{name}" for name in ("Kbuild", "dkms.conf", "target.c")} <= listed["dm-align-dkms"]


@pytest.mark.check_all("lintian, on packages with the same files")
@pytest.mark.timeout(900)
def test_rpmlint_has_no_findings(rpms):
    of_kmod = set(rpms.glob("dm-align-kmod-*"))
    assert len(of_kmod) == 1
    # Apart, as rpmlint keeps the first source package's spec in mind.
    for count, paths in ((4, set(rpms.glob("*.rpm")) - of_kmod), (1, of_kmod)):
        said = subprocess.run(["rpmlint", "-c", REPO / "scripts/packaging/rpm/rpmlint.toml", *paths],
                              capture_output=True, text=True, timeout=patience(300)).stdout
        assert f"{count} packages and 0 specfiles checked; 0 errors, 0 warnings" in said, said
