# SPDX-License-Identifier: GPL-2.0
"""A device that delays all requests."""

from . import control
from .dm import Device, sectors_of


class Stuck:
    """A device on `path` that delays all requests until flow()."""

    def __init__(self, path):
        self._device = Device(f"0 {sectors_of(path)} linear {path} 0")
        self.path = self._device.path
        self._stopped = False

    def __enter__(self):
        self._device.__enter__()
        return self

    def __exit__(self, *error):
        self.flow()
        self._device.__exit__(*error)

    def stop(self):
        self._device.suspend(control.SKIP_LOCKFS_FLAG | control.NOFLUSH_FLAG)
        self._stopped = True

    def flow(self):
        if self._stopped:
            self._device.resume()
            self._stopped = False
