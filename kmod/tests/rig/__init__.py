# SPDX-License-Identifier: GPL-2.0
"""Parts of the tests in guests: exact I/O, device-mapper devices, witnesses, and an oracle of the ledger."""
