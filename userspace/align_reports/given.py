# SPDX-License-Identifier: GPL-2.0
"""The arguments of a command, which alignctl has parsed and checked: a JSON document (alignctl/verbs/given.h) as a dataclass.

Each command has its own, named Given: a field for each option that it takes, in which the default says that the option was not
given, and one for each thing that alignctl always adds.
"""

from __future__ import annotations

import json
import os
from dataclasses import field, fields
from typing import Any, TypeVar

Given = TypeVar("Given")


def member(by: Any, **default: Any) -> Any:
    """Return a field whose value `by` makes of the document's."""
    return field(**default, metadata={"by": by})


def of(kind: type[Given], members: dict[str, Any]) -> Given:
    """Return the arguments; raise TypeError for a member without a field, and for a field that has to be there and is not."""
    values = {name.replace("-", "_"): value for name, value in members.items()}
    for each in fields(kind):   # type: ignore[arg-type]
        if "by" in each.metadata and each.name in values:
            values[each.name] = each.metadata["by"](values[each.name])
    return kind(**values)


def read(kind: type[Given], descriptor: int) -> Given:
    """Return the arguments that alignctl has left in a file in memory; close it."""
    with open(descriptor, "rb") as file:
        # Names of files keep their bytes, as those of a command line do.
        return of(kind, json.loads(os.fsdecode(file.read())))
