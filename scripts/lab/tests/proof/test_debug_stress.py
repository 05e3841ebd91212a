# SPDX-License-Identifier: GPL-2.0
"""The stress gets the arguments that its script takes."""

import re
import shlex

from lab.plugins import extent
from lab.proof import debug_stress


def test_the_command_has_an_argument_for_each_that_the_script_reads():
    read = re.search(r"^(?:\w+=\$\d ?)+$", debug_stress.SCRIPT.read_text(), re.M)[0].split()
    given = shlex.split(debug_stress.command("align.ko", 17))[2:]
    assert len(given) == len(read) == 4
    assert given[1:3] == ["align.ko", "17"] and int(given[3]) == extent.LENGTHS["DM_ALIGN_KMEMLEAK_LINES"][1]


def test_the_number_of_hostile_lines_is_the_callers():
    assert shlex.split(debug_stress.command("align.ko", 17, 60))[-1] == "60"
