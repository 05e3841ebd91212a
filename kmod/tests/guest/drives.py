# SPDX-License-Identifier: GPL-2.0
"""The emulated drives that a guest of these tests has."""

from lab.machines.drives import Server
from lab.pace import slowness

# Once for all of them: a drive keeps the latency with which it was started.
SLOWNESS = slowness()

DRIVES = {
    # A file system of a gigabyte fits; memory is taken as it is written.
    "p4096": Server(size="1G"),
    "p16384": Server(physical=16384),
    # QEMU cannot tell the guest of the offset; the tests give it as an argument of the table line.
    "offset3584": Server(alignment=3584),
    "claims512": Server(size="1G", presented={"physical": 512}),
    "segments126": Server(presented={"queue_size": 128}),
    "segments254": Server(presented={"queue_size": 256}),
    "segments126offset3584": Server(alignment=3584, presented={"queue_size": 128}),
    "segments254offset3584": Server(alignment=3584, presented={"queue_size": 256}),
    # Larger than the largest request of any kind; takes no memory for what is zeroed.
    "huge": Server(size="10G"),
    "slow4ms": Server(profile="fixed", options=("latency_us=4000",)),
    "slow300ms": Server(profile="fixed", options=(f"latency_us={round(300_000 * SLOWNESS)}",), stretched=SLOWNESS),
    # Two ways to one medium: what is asked of the first answers late with what was there when it was asked.
    "media_late": Server(profile="fixed", options=(f"latency_us={round(600_000 * SLOWNESS)}", "file={folder}/media"),
                         stretched=SLOWNESS),
    "media": Server(options=("file={folder}/media",)),
    # Slow enough that some requests are under way when the power goes.
    "power4096": Server(profile="fixed", options=("latency_us=1000",)),
    "power16384": Server(physical=16384, alignment=512, profile="fixed", options=("latency_us=1000",)),
    "errors": Server(filters=("error",), filter_options=("error=EIO", "error-pread-rate=1%", "error-pwrite-rate=1%")),
}
