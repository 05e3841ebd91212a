# SPDX-License-Identifier: GPL-2.0
"""What the tests in the guest are made of: exact I/O, device-mapper devices, witnesses, and an oracle of the ledger."""
