# SPDX-License-Identifier: GPL-2.0
"""The drive's unit tests in C, run under ASan and UBSan."""
import os
import re
import subprocess
from pathlib import Path

from lab.pace import patience

FOLDER = Path(__file__).resolve().parents[1]
OUT = Path(os.environ.get("DM_ALIGN_OUT") or FOLDER.parents[1] / "out")


def test_arithmetic_store_and_models_hold():
    result = subprocess.run(["make", "-s", "-C", FOLDER, f"OUT={OUT}", "check"], capture_output=True, text=True,
                            timeout=patience(600))
    assert result.returncode == 0, result.stdout + result.stderr
    summary = re.search(r"^# (\d+) passed, 0 failed$", result.stdout, re.MULTILINE)
    assert summary and int(summary[1]) == len(re.findall(r"^ok \d+ - ", result.stdout, re.MULTILINE)) > 0
