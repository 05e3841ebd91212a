# SPDX-License-Identifier: GPL-2.0
"""The matrix of kernels and hosts, with the results on each: the table of Documentation/target/kernels.rst.

A run leaves its result in out/matrix/: the module was built for a release, a guest of the release booted, or all tests in
guests passed. A cell of the table has the highest of these levels, and its newest result.

    scripts/python -m lab.linux.matrix            print the table with the results of this checkout's runs
    scripts/python -m lab.linux.matrix update     write the table into Documentation/target/kernels.rst
"""

import json
import platform
import re
import sys
from datetime import UTC, datetime

from ..paths import OUT, REPO, commit, fail, write_whole

PAGE = REPO / "Documentation" / "target" / "kernels.rst"
BEGIN, END = ".. matrix: begin\n", ".. matrix: end\n"
FOUND = OUT / "matrix"
NOT_TRIED, BUILT, BOOTED, ALL_TESTS = "not tried", "built", "booted", "all tests"
# From the lowest to the highest.
LEVELS = (NOT_TRIED, BUILT, BOOTED, ALL_TESTS)
HOSTS = ("Debian 12", "Debian 13")
KERNELS = ("6.1, Debian 12", "6.12, Debian 12", "6.12, Debian 13", "7.2, Debian 14")


def host():
    """Return this machine's distribution, as in the table's head: "Debian 12"."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return platform.system()
    return f"{release.get('NAME', '').removesuffix(' GNU/Linux')} {release.get('VERSION_ID', '')}".strip()


def kernel(release):
    """Return the row of a release: its series, and its Debian release."""
    debian = re.search(r"\+deb(\d+)", release)
    series = ".".join(release.split(".")[:2])
    # Releases of Debian 12's own series do not contain its name.
    return f"{series}, Debian {debian[1] if debian else 12}"


def note(release, level, detail=""):
    """Record a run's result for a release on this host; `detail`: a few words for the table."""
    FOUND.mkdir(parents=True, exist_ok=True)
    entry = {"host": host(), "kernel": kernel(release), "level": level,
             "words": "; ".join(filter(None, [detail, release, f"{datetime.now(UTC):%Y-%m-%d}", commit()]))}
    write_whole(FOUND / f"{level}-{release}.json", json.dumps(entry))


def noted():
    """Return {(kernel, host): (level, words)}: the highest result of this checkout's runs."""
    cells = {}
    for path in sorted(FOUND.glob("*.json"), key=lambda path: path.stat().st_mtime):
        entry = json.loads(path.read_text())
        raise_to(cells, (entry["kernel"], entry["host"]), entry["level"], entry["words"])
    return cells


def raise_to(cells, place, level, words):
    """Enter a result, unless the cell has a higher one."""
    if LEVELS.index(level) >= LEVELS.index(cells.get(place, (NOT_TRIED, ""))[0]):
        cells[place] = level, words


def parse(table):
    """Parse the cells of a table in the format of table()."""
    rows = re.findall(r"^   \* - (.*)\n((?:     - .*\n)+)", table, re.MULTILINE)
    lines = [[first, *re.findall(r"     - (.*)\n", rest)] for first, rest in rows]
    heads = lines[0][1:] if lines else []
    cells = {}
    for name, *fields in lines[1:]:
        for head, field in zip(heads, fields, strict=True):
            level, _, words = field.partition(": ")
            cells[name, head] = level, words
    return cells


def table(cells):
    """Return the list-table: a row for each kernel, a column for each host."""
    kernels = [*KERNELS, *sorted({kernel for kernel, _ in cells} - {*KERNELS})]
    hosts = [*HOSTS, *sorted({host for _, host in cells} - {*HOSTS})]
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - kernel", *(f"     - {name}" for name in hosts)]
    for name in kernels:
        lines.append(f"   * - {name}")
        for where in hosts:
            level, words = cells.get((name, where), (NOT_TRIED, ""))
            lines.append(f"     - {level}{f': {words}' if words else ''}")
    return "".join(f"{line}\n" for line in lines)


def page(text, found):
    """Return the page with new results merged into its table."""
    head, begin, rest = text.partition(BEGIN)
    old, end, tail = rest.partition(END)
    if not begin or not end:
        fail(f"{PAGE} lacks the lines {BEGIN.strip()!r} and {END.strip()!r}: put them back around the table")
    cells = parse(old)
    for place, (level, words) in found.items():
        raise_to(cells, place, level, words)
    return f"{head}{BEGIN}\n{table(cells)}\n{END}{tail}"


def main(argv):
    text = page(PAGE.read_text(), noted())
    if argv == ["update"]:
        PAGE.write_text(text)
    elif argv:
        fail(__doc__.strip())
    else:
        print(text.partition(BEGIN)[2].partition(END)[0].strip())


if __name__ == "__main__":
    main(sys.argv[1:])
