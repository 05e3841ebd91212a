# SPDX-License-Identifier: GPL-2.0
"""Exit status of the programs, with one meaning for all verbs: alignctl's, of alignctl/base/exit_codes.h."""

FINE = 0
FINDINGS = 1  # done, and a check found a fault
USAGE = 2     # bad arguments or input
IO = 3        # a device, file or system call failed
BUSY = 4      # a device is in use, or not as it was left
