# SPDX-License-Identifier: GPL-2.0
"""Made-up documents of check, stats and plan, as many hosts would give them, and fleets of them."""

import json
import random

BLOCK = 4096
MODELS = ("ST4000LM024-2AN1", "WDC WD40EFRX-68W", "HGST HUS726040AL")
FIGURES = ("logical_block_size", "physical_block_size", "minimum_io_size", "alignment_offset")
CONTENT = ("type", "partition_table", "unread", "data_start", "sector_size", "block_size", "extent_size", "chunk_size",
           "file_system_bytes", "table_sector_size", "array_logical_block_size")


def unit_of(unit, rpm, rated=None, source="drive"):
    """What check knows of a disk; rpm: 0: it does not rotate; None: unknown; rated: bytes, likewise."""
    return {"bytes": unit, "source": source, "confidence": "medium", "contradicted": False, "firmware": None, "disk": None,
            "rotation": None if rpm is None else {"rpm": rpm, "source": source, "figure": "VPD page B1h"}, "claims": [],
            "rated_writes": None if rated is None else {"bytes": rated, "source": "hwdb", "figure": "ALIGNCTL_RATED_TBW"}}


def device(name, kind, lies_on, model=None, shift=0, unit=None):
    view = dict(zip(FIGURES, (512, BLOCK, BLOCK, 0)))
    return {"name": name, "path": f"/dev/{name}", "devno": "8:0", "partition_type": None, "model": model, "kind": kind, **view,
            "start_bytes": None, "end_bytes": 4000787030016, "shift_bytes": shift, "optimal_io_size": 0,
            "max_io_bytes": 1310720, "disk_physical_block_size": BLOCK, "data_shift_bytes": None, "ioctl": view,
            "libblkid": view, "identify": None, "probed": None, "unit": unit,
            "content": dict.fromkeys(CONTENT), "lies_on": lies_on,
            "mounted_on": [f"/srv/{name}"], "swap": False}


def finding(code, device, note=False):
    return {"finding": code, "device": device, "note": note, "cause": None, "text": f"has a {code}",
            "cost": "a write of whole 4096-byte blocks covers its first and last physical block in part: 2 RMWs instead of none",
            "command": None, "not_in_place": "move it by hand", "remedy": None, "recommendation": None}


def check(findings=(), disks=(("sda", MODELS[0]),), **more):
    """The document of a host whose disks each have one partition. findings: of (code, device) or (code, device, note);
    disks: (name, model), or with unit and rpm besides, and rated writes."""
    devices = [row for name, model, *known in disks for row in (
        device(name, "disk", [], model, unit=unit_of(*known) if known else None), device(f"{name}1", "part", [name]))]
    return {"format": 1, "devices": devices, "findings": [finding(*each) for each in findings], **more}


def stats(devices, seconds=None, **more):
    """The document of a host. devices: {name: (lower device, mode, rmw_host, rmw_drive)}, with write_bytes,
    sent_block_bytes and misaligned writes besides where the module counts them; seconds: of its interval."""
    rows = [{"name": name, "dm": "dm-0", "epoch": 1,
             "targets": [{"index": 0, "mode": mode, "physical_block_size": BLOCK, "alignment_offset": 0, "device": lower,
                          "device_gone": False}],
             "counters": {"rmw_expected": host + drive + 5, "rmw_avoided": 5, "rmw_host": host, "rmw_drive": drive,
                          **dict(zip(("write_bytes", "sent_block_bytes", "writes_misaligned"), bytes_, strict=False))},
             "derived": {"balanced": True, "degraded": False},
             **({} if seconds is None else {"interval": {"time": 1, "seconds": seconds}})}
            for name, (lower, mode, host, drive, *bytes_) in devices.items()]
    return {"format": 1, **({} if seconds is None else {"interval_s": int(seconds)}), "devices": rows, **more}


def plan(touches, seconds=None, writers=(), extra=(), **more):
    """The document of a recording. extra: (block, touches, extra bytes) of what-if."""
    return {"format": 2, "source": "sda.csv", "source_format": "csv", "seconds": seconds, "touches_expected": touches,
            "physical_block_size": BLOCK, "modes": {},
            "what_if": [{"physical_block_size": size, "as_is": {"physical_block_size": size, "touches": n, "extra_bytes": extra}}
                        for size, n, extra in extra],
            "by_process": [{"comm": comm, "writes": n, "misaligned": n, "touches": n} for comm, n in writers],
            **more}


def large(host, disks=12):
    """The document of check of a host with many disks, of which every second host has all partitions shifted."""
    names = [f"sd{chr(ord('a') + index)}" for index in range(disks)]
    return check([("partition-start", f"{name}1") for name in names] if host % 2 else [],
                 [(name, MODELS[host % len(MODELS)]) for name in names])


def save(folder, files):
    """Write {path below the folder: document, text or bytes}."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = json.dumps(content, indent=2)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


CODES = ("partition-start", "fs-sector", "disagree", "data-start", "extent")


def random_host(source):
    """{name of a file in the host's folder: document}, of any kinds, whose figures are small enough to meet often."""
    disks = [(f"sd{letter}", source.choice((*MODELS, None)), source.choice((None, BLOCK, 16384)),
              source.choice((None, 0, 5400, 7200))) for letter in "abc"[:source.randrange(4)]]
    files = {}
    if source.random() < 0.8:
        files["check.json"] = check({(source.choice(CODES), f"{disk}1", source.random() < 0.3) for disk, *_ in disks
                                     for _ in range(source.randrange(3))}, disks)
    if source.random() < 0.5:
        devices = {f"align-{disk}": (f"{disk}1", source.choice(("report", "pad")), source.randrange(3), source.randrange(20),
                                     *source.choice(((), (4096, 8192), (4096, 8192, source.randrange(20)))))
                   for disk, *_ in disks}
        files["stats.json"] = stats(devices, source.choice((None, 7, 60.003251, 1)))
    for disk, *_ in disks:
        if source.random() < 0.3:
            files[f"plan-{disk}.json"] = plan(source.randrange(50), source.choice((None, 3.5, 3600)), [("app", 3)])
    return files


def random_fleet(seed, hosts=25):
    """{path: document} of a fleet."""
    source = random.Random(seed)
    return {f"host{number}/{name}": document for number in range(hosts) for name, document in random_host(source).items()}
