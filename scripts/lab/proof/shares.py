# SPDX-License-Identifier: GPL-2.0
"""Which share of each part's full length has been run, on the sources that the part concerns as they are now; and which
part goes on.

out/proof/shares.json keeps the shares by part and digest of its sources, so other sources begin at nothing, and those that
come back go on. Only a clean run adds to a share.
"""

import json
import subprocess

from .. import kept
from ..paths import OUT, REPO

FILE = OUT / "proof" / "shares.json"
# Share of the first run of a part whose speed is not known, and the least that is worth a run.
FIRST, LEAST = 0.02, 0.005
NOTHING = {"share": 0.0, "seconds": 0.0, "runs": 0}


def key(part):
    """Return a digest of the files that a part concerns."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *part.concerns], cwd=REPO,
                            stdout=subprocess.PIPE, text=True, check=True)
    names = sorted(name for name in listed.stdout.splitlines() if (REPO / name).is_file())
    return kept.digest(*(each for name in names for each in (name, REPO / name)))


def recorded():
    """Return {part: {digest: record}}."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def of(part):
    """Return the record of a part on the sources as they are."""
    return recorded().get(part.name, {}).get(key(part), NOTHING)


def add(part, share, seconds):
    """Add a clean run of a part; return the record."""
    everything, now = recorded(), key(part)
    record = everything.setdefault(part.name, {}).get(now, NOTHING)
    record = {"share": round(record["share"] + share, 6), "seconds": record["seconds"] + seconds, "runs": record["runs"] + 1}
    everything[part.name][now] = record
    FILE.parent.mkdir(parents=True, exist_ok=True)
    scratch = FILE.with_suffix(".new")
    scratch.write_text(json.dumps(everything, indent=1) + "\n")
    scratch.replace(FILE)
    return record


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
