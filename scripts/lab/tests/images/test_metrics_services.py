# SPDX-License-Identifier: GPL-2.0
"""The services of metrics, locked up by systemd as they are, write what the same commands tell root outside."""

import re

import pytest

from lab.images import project
from lab.images.image import Image

pytestmark = [pytest.mark.check_all("test_units.py looks into the units, without a systemd to run them"),
              pytest.mark.timeout(1800)]
FOLDER = "/var/lib/prometheus/node-exporter"
# Of each service: the verb, and its file.
SERVICES = {"align-metrics": ("stats", "align.prom"), "align-check-metrics": ("check", "align-check.prom")}
# A shifted partition with blocks that are too small, which only its header says.
SET_UP = f"""\
set -e
mkdir -p {FOLDER}
echo 'start=63, type=83' | sfdisk --quiet --label dos /dev/vdb
udevadm settle
mkfs.ext4 -q -b 1024 /dev/vdb1
udevadm settle
systemctl daemon-reload
"""


@pytest.fixture(scope="module", params=project.generations())
def system(request, tmp_path_factory):
    image = Image(request.param)
    return image, project.tree(image.release(), tmp_path_factory.mktemp("project"))


def without_time(text):
    return re.sub(r"(?<=timestamp_seconds) \d+", "", text)


def test_what_is_written_in_the_sandbox_is_what_root_is_told(system):
    image, shared = system
    with image.machine(f"metrics-{image.generation}", disks=["64M"], project=shared) as machine:
        machine.boot()
        machine.check(project.COPY)
        machine.check(SET_UP)
        for name, (verb, file) in SERVICES.items():
            machine.check(f"systemctl start {name}.service")
            written = machine.check(f"cat {FOLDER}/{file}")
            assert machine.check(f"stat -c '%a %U' {FOLDER}/{file}").split() == ["644", "root"]
            assert without_time(written) == without_time(machine.check(f"alignctl {verb} --format prometheus"))
        assert 'finding="fs-block"' in written and 'layer="vdb1"' in written and "unread" not in written
        # the timers begin at once
        machine.check(f"rm {FOLDER}/*.prom; systemctl enable --now {' '.join(f'{name}.timer' for name in SERVICES)}")
        machine.check(f"for i in $(seq 300); do [ -e {FOLDER}/align.prom ] && [ -e {FOLDER}/align-check.prom ] && exit 0; "
                      "sleep 1; done; exit 1", 400)
        machine.poweroff()
