# SPDX-License-Identifier: GPL-2.0
"""Which share of each part's full length has been run, on the sources that the part concerns as they are now; and which
part goes on.

out/proof/shares.json keeps the shares by part and digest of its sources, so other sources begin at nothing, and those that
come back go on. Only a clean run adds to a share; where a part counts things, its figures add up, too. publish() moves all
into Documentation/target/proof-shares.json, so that another checkout and another machine go on.
"""

import json
import re
import subprocess
from decimal import Decimal

from .. import kept, source_text
from ..paths import OUT, REPO, write_whole

FILE = OUT / "proof" / "shares.json"
PUBLISHED = REPO / "Documentation" / "target" / "proof-shares.json"
# Share of the first run of a part whose speed is not known, and the least that is worth a run.
FIRST, LEAST = 0.02, 0.005
NOTHING = {"share": 0.0, "seconds": 0.0, "runs": 0, "figures": ""}
# A number that is a word of its own, maybe negative, unlike those of a version or a name.
NUMBER = r"(?<![\w.=-])-?\d+(?:\.\d+)?(?![\w.=-])"


def added(figures):
    """Return lines in which those that differ in numbers only are one, with the sums of the numbers."""
    sums = {}
    for line in figures.splitlines():
        numbers = [Decimal(number) for number in re.findall(NUMBER, line)]
        words = re.sub(NUMBER, "{}", line.replace("{", "{{").replace("}", "}}"))
        sums[words] = [one + other for one, other in zip(sums[words], numbers, strict=True)] if words in sums else numbers
    return "\n".join(words.format(*numbers) for words, numbers in sums.items())


def key(part):
    """Return a digest of the files that a part concerns, without comments and docstrings, which were not tried."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *part.concerns], cwd=REPO,
                            stdout=subprocess.PIPE, text=True, check=True)
    names = sorted(name for name in listed.stdout.splitlines() if (REPO / name).is_file())
    return kept.digest(*(each for name in names for each in (name, source_text.code(REPO / name))))


def read(file):
    return json.loads(file.read_text()) if file.exists() else {}


def write(file, everything):
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(everything, indent=1, sort_keys=True).encode() + b"\n")


def together(one, other):
    """Return the record of all runs of two records."""
    return {"share": round(one["share"] + other["share"], 6), "seconds": one["seconds"] + other["seconds"],
            "runs": one["runs"] + other["runs"],
            "figures": added(f"{one['figures']}\n{other['figures']}") if one["figures"] else other["figures"]}


def recorded():
    """Return {part: {digest: record}}: the published shares, and those of this checkout since."""
    everything = read(PUBLISHED)
    for name, records in read(FILE).items():
        part = everything.setdefault(name, {})
        for digest, record in records.items():
            part[digest] = together(part.get(digest, NOTHING), record)
    return everything


def of(part):
    """Return the record of a part on the sources as they are."""
    return recorded().get(part.name, {}).get(key(part), NOTHING)


def add(part, share, seconds, figures=""):
    """Add a clean run of a part, with its figures if they add up; return the record of all its runs."""
    everything, now = read(FILE), key(part)
    records = everything.setdefault(part.name, {})
    records[now] = together(records.get(now, NOTHING), {"share": share, "seconds": seconds, "runs": 1, "figures": figures})
    write(FILE, everything)
    return of(part)


def publish(parts):
    """
    Move this checkout's shares into the published file.

    Of each of `parts` it keeps the sources as they are now. If these were not run, what was run of others stays, as it tells
    how long the part takes.
    """
    everything = recorded()
    for part in parts:
        now, records = key(part), everything.get(part.name, {})
        if now in records:
            everything[part.name] = {now: records[now]}
    write(PUBLISHED, everything)
    FILE.unlink(missing_ok=True)


def seconds_of_all(part):
    """Return how long the full length takes, as all runs of the part were, on any sources; or None."""
    runs = recorded().get(part.name, {}).values()
    share = sum(each["share"] for each in runs)
    return sum(each["seconds"] for each in runs) / share if share else None


def scale_in(part, left):
    """Return the share of a part's full length that is missing and fits into `left` seconds; or None."""
    whole = seconds_of_all(part)
    if not part.scaled:
        return 1 if whole is None or whole <= left else None
    fits = FIRST if whole is None else left / whole
    scale = min(1 - of(part)["share"], fits)
    return scale if scale >= min(LEAST, 1 - of(part)["share"]) > 0 else None


def furthest(parts, left):
    """Return the part that is furthest from its full length of those that fit into `left` seconds, and the share to run."""
    for part in sorted(parts, key=lambda part: of(part)["share"]):
        scale = scale_in(part, left) if of(part)["share"] < 1 else None
        if scale:
            return part, scale
    return None, 0
