# SPDX-License-Identifier: GPL-2.0
"""A wrong argument is refused with what is wrong and what to do, before anything is done."""

import shlex

import pytest

from alignctl_program import METHODS, ONE_AT_A_TIME, WORKLOADS_TOO, alignctl

FINE, FINDINGS, USAGE = range(3)


@pytest.mark.parametrize("arguments, words", [
    ([], ["no verb given", "--help"]),
    (["fly"], ["no verb 'fly'; ", "--help"]),
    (["lst"], ["no verb 'lst'; did you mean 'list'? ", "--help"]),
    (["replay", "w4k-132k", "--on", "x"], ["no workload 'w4k-132k' either; did you mean 'w4k_132k'? 'alignctl w"]),
    (["replay", "cncreed", "--on", "x"], ["did you mean 'cncread'?"]),
    (["plan", "w4k132k"], ["did you mean 'w4k_132k'?"]),
    (["verify", "w4k-132k", "--on", "x"], ["no workload 'w4k-132k'; did you mean 'w4k_132k'? 'alignctl workloads'"]),
    (["verify", "w5", "--on", "x"], ["no workload 'w5'; 'alignctl workloads'"]),
    (["verify", "w512", "--on", "x", "--modes", "raw,paad"],
     ["--modes paad: must be raw, report, pad or coalesce; did you mean 'pad'?"]),
    (["verify", "w512", "--on", "x", "--modes", "raw,pad,raw"], ["--modes raw,pad,raw: names raw twice\n"]),
    *((["verify", "x", "--live", *option], [f"{option[0]}: does not apply to --live", "leave it out"])
      for option in (["--on", "y"], ["--vs", "y"], ["--force", "y"], ["--count", "3"], ["--hold-ms", "5"], ["--threads", "2"],
                     ["--write-cache", "on"], ["--drive-control", "s"], ["--direct"], ["--timing", "open"])),
    *((["verify", "w512", "--on", "x", *option], [f"{option[0]}: needs --live; add it"])
      for option in (["--seconds", "9"], ["--period", "3-4"])),
    (["verify", "x", "y", "--live"], ["y: does not apply to --live, which takes only NAME; leave it out\n"]),
    (["verify", "--live"], ["--live: needs NAME; add it\n"]),
    (["verify", "x", "--live", "--modes", "raw,pad"], ["--modes raw,pad: raw is the device without dm-align"]),
    (["verify", "x", "--live", "--modes", "pad"], ["--modes pad", "name two or three"]),
    (["verify", "x", "--live", "--repeat", "3", "--seconds", "60"], ["--seconds, --repeat: exclude each other; leave one out"]),
    (["verify", "x", "--live", "--repeat", "1001"], ["--repeat 1001: must be a whole number from 1 to 1000\n"]),
    (["probe", "rndread", "x", "--count", "1000001"], ["--count 1000001: must be a whole number from 1 to 1000000\n"]),
    *((["verify", "x", "--live", "--period", period], [f"--period {period}: must be whole seconds, MIN-MAX or N"])
      for period in ("0", "30-10", "10-", "-10", "1.5", "10-30x", "86401")),
    (["replay", "t", "--on", "x", "--timing", "fsat"], ["--timing fsat: must be ", "open", "did you mean 'fast'?"]),
    (["record", "x", "--output", "y", "--format", "cvs"],
     ["--format cvs: must be recording, fio or csv; did you mean 'csv'?"]),
    (["fleet"], ["fleet: needs FILE|DIR", "alignctl fleet --help"]),
    (["fleet", "x", "--by", "hosts"], ["--by hosts: must be host, device, model or finding; did you mean 'host'?"]),
    (["fleet", "x", "--by", "model", "--json"], ["--by, --json: exclude each other, as JSON has all rows"]),
    (["fleet", "x", "--host", ""], ["--host : must be the name of a host"]),
    (["fleet", "x", "--html", "/dev/null"], ["--html /dev/null: is a character device"]),
    (["attach"], ["attach: needs DEV, --all or --tab LINE\n", "alignctl attach --help"]),
    (["attach", "/dev/null", "x"], ["unexpected argument 'x'"]),
    (["list", "--jsn"], ["alignctl list", "--jsn"]),
    (["attach", "/dev/none"], ["/dev/none", "No such file"]),
    (["attach", "/dev/null"], ["/dev/null", "neither a block device nor a regular file"]),
    (["attach", "/etc/passwd"], ["/etc/passwd", "regular file", "losetup"]),
    (["attach", "/dev/none", "--mode", "fast"], ["--mode fast: must be report, pad or coalesce\n"]),
    (["attach", "/dev/none", "--hold-ms", "0"], ["--hold-ms 0", "from 1 to 600000"]),
    (["attach", "/dev/none", "--hold-ms", "600001"], ["--hold-ms 600001", "from 1 to 600000"]),
    (["attach", "/dev/none", "--physical", "4x"], ["--physical 4x", "unknown unit 'x'", "K, M, G, T or P"]),
    (["plan", "w512", "--size", "1TB"], ["--size 1TB", "unknown unit 'TB'", "K, M, G, T or P", "4KiB", "1024"]),
    (["record", "/dev/none", "--buffer", "1m1"], ["--buffer 1m1", "unknown unit 'm1'"]),
    (["replay", "rand4k", "--on", "x", "--span", "5bytes"], ["--span 5bytes", "unknown unit 'bytes'"]),
    (["verify", "w512", "--on", "x", "--physical", "4KB"], ["--physical 4KB", "unknown unit 'KB'"]),
    *((["attach", "/dev/none", "--physical", size], [f"--physical {size}: must be a power of two from 512 to 1048576, or auto\n"])
      for size in ("0", "256", "1000", "2M")),
    *(([*command, "--physical", "1000"], ["--physical 1000: must be a power of two from 512 to 1048576\n"])
      for command in (["plan", "/none"], ["plan", "w512", "--on", "/dev/none"], ["replay", "w512", "--on", "/dev/none"],
                      ["verify", "w512", "--on", "/dev/none"])),
    *(([*command, "--offset", offset], [f"--offset {offset}: must be a multiple of 512 from 0 to 1048064\n"])
      for offset in ("-512", "100", "1M")
      for command in (["attach", "/dev/none"], ["plan", "/none"], ["replay", "w512", "--on", "/dev/none"])),
    (["plan", "/none", "--logical", "131072"], ["--logical 131072: must be a power of two from 512 to 65536\n"]),
    (["attach", "/dev/none", "--logical", "4096"], ["--logical 4096: must be 512, or left out"]),
    (["attach", "/dev/none", "--logical", "0"], ["--logical 0: must be 512"]),
    (["attach", "/dev/none", "--max-blocks", "0"], ["--max-blocks 0", "at least 1"]),
    (["attach", "/dev/none", "--write-cache", "yes"], ["--write-cache yes", "on or off"]),
    (["attach", "/dev/none", "--name", "a/b"], ["--name a/b", "'/'"]),
    *((["attach", "/dev/none", "--name", name], [f"--name {name}: is not a device's in /dev/mapper; give another name\n"])
      for name in (".", "..", "control")),
    (["attach", "/dev/none", "--name", "a" * 128], ["--name " + "a" * 128, "has 128 bytes", "at most 127"]),
    (["attach", "/dev/none", "--name", "a" * 127], ["/dev/none: No such file"]),
    (["set", "x"], ["nothing to change", "--help"]),
    (["set", "x", "--mode", "Coalesce"], ["--mode Coalesce: must be report, pad or coalesce; did you mean 'coalesce'?"]),
    (["set", "x", "--hold-ms", "never"], ["--hold-ms never", "from 1 to 600000"]),
    (["set", "x", "--max-blocks", "0"], ["--max-blocks 0", "at least 1"]),
    (["stats", "--interval", "0"], ["--interval 0", "seconds"]),
    (["stats", "--interval", "1", "0"], ["--interval", "COUNT is 0", "at least 1"]),
    (["stats", "--histograms", "--json"],
     ["--histograms, --json: exclude each other, as JSON has all histograms; leave one out"]),
    (["stats", "--format", "promethius"], ["--format promethius: must be prometheus", "did you mean 'prometheus'?"]),
    (["stats", "--format", "prometheus", "--interval", "1"], ["--format, --interval: exclude each other"]),
    (["stats", "--output", "x"], ["--output: needs --format prometheus"]),
    (["stats", "--drive", "--compare", "x"], ["--drive, --compare: exclude each other"]),
    (["stats", "--drive", "--format", "prometheus"], ["--drive, --format: exclude each other"]),
    (["stats", "--drive", "--histograms"], ["--drive, --histograms: exclude each other"]),
    *((["stats", "--counters", f"writes,{name}"], [f"--counters {shlex.quote(name)}: is the name of no counter", "stats --help"])
      for name in ("write", "RMW_HOST", "")),
    (["stats", "--after", "x"], ["--after: needs --compare FILE; add it"]),
    (["stats", "--compare", "x", "--interval", "1"], ["--compare, --interval: exclude each other"]),
    (["stats", "name", "--compare", "x", "--after", "y"],
     ["name: does not apply to --after, which takes no operand; leave it out\n"]),
    (["replay", "w512"], ["--on DEV"]),
    (["replay", "w5", "--on", "x"], ["no workload 'w5'", "'alignctl workloads'"]),
    (["replay", "w512", "--on", "/dev/none"], ["/dev/none", "No such file"]),
    *((["verify", method, "--on", "x"], [f"{method}: is a method, which 'alignctl probe' runs"])
      for method in METHODS if method not in WORKLOADS_TOO),
    (["replay", "w512", "--on", "x", "--count", "0"], ["--count 0"]),
    (["replay", "w512", "--on", "x", "--depth", "0"], ["--depth 0", "1 to 256"]),
    (["replay", "w512", "--on", "x", "--depth", "257"], ["--depth 257", "1 to 256"]),
    *((["replay", name, "--on", "x", "--depth", "2"], ["--depth 2", name, "follow each other"])
      for name in ONE_AT_A_TIME),
    (["replay", "w512", "--on", "x", "--seed", "2"], ["--seed", "rand512 and rand4k", "w512"]),
    (["replay", "w512", "--on", "x", "--span", "1M"], ["--span", "rand512 and rand4k", "w512"]),
    (["replay", "rand512", "--on", "x", "--areas", "2"], ["--areas", "areasync", "rand512"]),
    (["replay", "w512", "--on", "x", "--start", "1x"], ["--start 1x"]),
    (["replay", "w512", "--on", "x", "--phase", "read"], ["--phase read", "all, prepare, run or check"]),
    (["replay", "w512", "--on", "x", "--phase", "run"], ["--phase", "--state FILE"]),
    (["replay", "w512", "--on", "x", "--phase", "run", "--state", "/none"], ["/none", "--phase prepare"]),
])
def test_a_wrong_argument_is_named_with_the_way_out(arguments, words):
    failed = alignctl(*arguments)
    assert failed.returncode == USAGE, failed.stderr
    assert not failed.stdout
    for word in words:
        assert word in failed.stderr
