# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that judges each JSON document of alignctl by the schema of its verb: whatever subprocess.run() or
Popen.communicate() of a test brings back from `alignctl VERB ... --json`.

A member that no table of the sources has, or one of another type, ends the test with an AssertionError where it ran the command.
"""

import functools
import json
import os
import subprocess

from ..paths import OUT

ALIGNCTL = OUT / "bin" / "alignctl"
SCHEMA = "--json-schema"
_communicate = subprocess.Popen.communicate


def pytest_configure():
    subprocess.Popen.communicate = _judging


def pytest_unconfigure():
    subprocess.Popen.communicate = _communicate


def _judging(process, *arguments, **options):
    """As Popen.communicate(), and judge what was printed."""
    out, err = _communicate(process, *arguments, **options)
    if out and (verb := verb_of(process.args)):
        judge(verb, out)
    return out, err


def verb_of(command):
    """The verb of which a command prints documents; None if it is none of alignctl with --json."""
    words = [] if isinstance(command, str | bytes | os.PathLike) else [os.fsdecode(word) for word in command]
    if "--json" not in words or str(ALIGNCTL) not in words:
        return None
    words = words[words.index(str(ALIGNCTL)) + 1:]
    words = words[:words.index("--")] if "--" in words else words
    return words[0] if "--json" in words and SCHEMA not in words else None


@functools.cache
def kinds(verb):
    """For each kind of document of a verb its schema, and what validates by it; compiled once for each worker."""
    from jsonschema import Draft202012Validator  # many tests run no alignctl

    schema = json.loads(subprocess.run([ALIGNCTL, verb, SCHEMA], stdout=subprocess.PIPE, check=True).stdout)
    common = {key: schema[key] for key in ("$schema", "$defs")}
    return [(kind, Draft202012Validator({**common, **kind})) for kind in schema["anyOf"]]


def _unlike(kind, document):
    """How many members of an object are not of the kind, or are missing."""
    return len(set(kind["required"]) - document.keys()) + len(document.keys() - kind["properties"].keys())


def judge(verb, text):
    """Check all documents of a text, one after another, by the schema of the verb. Raises AssertionError."""
    for document in documents(text):
        likeness = [_unlike(kind, document) for kind, _ in kinds(verb)]
        nearest = [validator for (_, validator), unlike in zip(kinds(verb), likeness, strict=True) if unlike == min(likeness)]
        found = [[f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document)]
                 for validator in nearest]
        if all(found):
            raise AssertionError(f"alignctl {verb} --json is not what its table, and so alignctl {verb} {SCHEMA}, says:\n" +
                                 "\n".join(min(found, key=len)))


def documents(text):
    """The objects in a text, up to the first that is none or is cut off."""
    text = (text if isinstance(text, str) else text.decode("utf-8", "replace")).lstrip()
    decoder = json.JSONDecoder()
    while text:
        try:
            document, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            return
        if not isinstance(document, dict):
            return
        yield document
        text = text[end:].lstrip()
