# SPDX-License-Identifier: GPL-2.0
"""The emulated drives of a guest of these tests."""

from lab.machines.drives import Server
from lab.pace import slowness

# Measured once, as a drive keeps its initial latency.
SLOWNESS = slowness()

DRIVES = {
    # Large enough for a file system of a gigabyte; memory is allocated on writes.
    "p4096": Server(size="1G"),
    "p16384": Server(physical=16384),
    "p262144": Server(physical=262144, alignment=3584),
    "p1048576": Server(physical=1048576, alignment=3584),
    # QEMU cannot present the offset to the guest; the tests pass it in the table line.
    "offset3584": Server(alignment=3584),
    "claims512": Server(size="1G", presented={"physical": 512}),
    "segments30": Server(presented={"queue_size": 32}),
    "segments126": Server(presented={"queue_size": 128}),
    "segments254": Server(presented={"queue_size": 256}),
    "segments126offset3584": Server(alignment=3584, presented={"queue_size": 128}),
    "segments254offset3584": Server(alignment=3584, presented={"queue_size": 256}),
    # Larger than the largest request of any kind; zeroed blocks take no memory.
    "huge": Server(size="10G"),
    "slow4ms": Server(profile="fixed", options=("latency_us=4000",)),
    "slow300ms": Server(profile="fixed", options=(f"latency_us={round(300_000 * SLOWNESS)}",), stretched=SLOWNESS),
    # Two ways to one medium: the first one answers late, with the content at the request's arrival.
    "media_late": Server(profile="fixed", options=(f"latency_us={round(600_000 * SLOWNESS)}", "file={folder}/media"),
                         stretched=SLOWNESS),
    "media": Server(options=("file={folder}/media",)),
    # Slow enough for requests in flight at a power cut.
    "power4096": Server(profile="fixed", options=("latency_us=1000",)),
    "power4096n": Server(profile="fixed", options=("latency_us=1000",), presented={"logical": 4096}),
    "power16384": Server(physical=16384, alignment=512, profile="fixed", options=("latency_us=1000",)),
    # A drive that says blocks of 512 bytes, and has 4096 from sector 7 on.
    "liar": Server(size="1G", alignment=3584, profile="usb-liar", presented={"physical": 512}),
    "errors": Server(filters=("error",), filter_options=("error=EIO", "error-pread-rate=1%", "error-pwrite-rate=1%")),
}
