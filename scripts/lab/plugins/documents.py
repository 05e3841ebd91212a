# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that judges each JSON document of alignctl by the schema of its verb, when subprocess.run() or
Popen.communicate() of a test brings it back from `alignctl VERB ... --json`.

A member that no table of the sources has, or one of another type, ends the test with an AssertionError where it ran the command.

What no test prints is told after a run with a folder for what the tests have seen:

    ALIGNCTL_DOCUMENTS_SEEN=/tmp/seen scripts/python -m pytest userspace
    scripts/python -m lab.plugins.documents /tmp/seen
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

from ..paths import OUT

ALIGNCTL = OUT / "bin" / "alignctl"
SCHEMA = "--json-schema"
FOLDER = os.environ.get("ALIGNCTL_DOCUMENTS_SEEN")
# Members of documents that this process has seen, each after the title of its kind.
_seen: set[str] = set()
_communicate = subprocess.Popen.communicate


def pytest_configure():
    subprocess.Popen.communicate = _judging


def pytest_unconfigure():
    subprocess.Popen.communicate = _communicate
    if FOLDER and _seen:
        Path(FOLDER).mkdir(exist_ok=True)
        Path(FOLDER, f"{os.getpid()}.json").write_text(json.dumps(sorted(_seen)))


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
        nearest = [each for each, unlike in zip(kinds(verb), likeness, strict=True) if unlike == min(likeness)]
        found = [[f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document)]
                 for _, validator in nearest]
        for kind, validator in nearest if FOLDER else []:
            _seen.update(members(kind, validator.schema["$defs"], [document], kind["title"]))
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


def members(schema, definitions, values, path):
    """Yield each member of a schema by its path, and again with "null" if it may be null; `values`: only if one of these has it,
    or is null there; None: in any case."""
    def inside(kind, of):
        return None if values is None else [inner for value in values if isinstance(value, kind) for inner in of(value)]

    for part in schema.get("anyOf", [schema]):
        if "$ref" in part:
            part = definitions[part["$ref"].rsplit("/", 1)[1]]
        if part == {"type": "null"} and (values is None or None in values):
            yield f"{path} null"
        if isinstance(part.get("items"), dict):
            yield from members(part["items"], definitions, inside(list, list), f"{path}[]")
        if isinstance(part.get("additionalProperties"), dict):
            yield from members(part["additionalProperties"], definitions, inside(dict, dict.values), f"{path}.*")
        for name, member in part.get("properties", {}).items():
            found = inside(dict, lambda value, name=name: [value[name]] if name in value else [])
            if found is None or found:
                inner = f"{path}{': ' if 'title' in schema else '.'}{name}"
                yield inner
                yield from members(member, definitions, found, inner)


def unseen(folder):
    """The members of all schemas that are not in what the tests of a run have seen."""
    seen = {member for path in Path(folder).glob("*.json") for member in json.loads(path.read_text())}
    verbs = json.loads(subprocess.run([ALIGNCTL, "help", "--json"], stdout=subprocess.PIPE, check=True).stdout)["verbs"]
    printing = [verb["verb"] for verb in verbs if any(row["option"] == SCHEMA[2:] for row in verb["options"])]
    known = {member: None for verb in [*printing, "help"] for kind, validator in kinds(verb)
             for member in members(kind, validator.schema["$defs"], None, kind["title"])}
    return [member for member in known if member not in seen]


if __name__ == "__main__":
    print("\n".join(unseen(sys.argv[1])))
