# SPDX-License-Identifier: GPL-2.0
"""Recorded samples: the study's tables are read, and what is none is refused with its line and value."""

import pytest

from align_reports.probe import samples
from align_reports.probe.samples import BadSamples, Sample, read_samples

PAIRS = "base_offset\toffset\tabsdelta\tprobe_length\tmillis\n"


@pytest.fixture
def read(tmp_path):
    def run(text, *needed):
        path = tmp_path / "x.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_samples(path, needed)
    return run


@pytest.mark.parametrize("text, sample", [
    (PAIRS + "8192\t4096\t4096\t512\t29.939500\n", Sample(29939.5, 4096, 8192, 512)),
    ("offset\tprobe_length\tmillis\n4096\t512\t0.5\n", Sample(500, 4096, None, 512)),
    # columns in any order, and others beside them
    ("millis\tnote\toffset\r\n2\tx y\t0\r\n\r\n", Sample(2000, 0)),
    ("8192\t4096\t4096\t512\t3\n", Sample(3000, 4096, 8192, 512)),
    ("4096\t512\t3", Sample(3000, 4096, None, 512)),
    ("4096\t3\n", Sample(3000, 4096)),
])
def test_columns_are_known_by_header_or_order(read, text, sample):
    assert read(text) == [sample]


@pytest.mark.parametrize("text, needed, words", [
    ("", (), "x.tsv: no samples"),
    (PAIRS, (), "x.tsv: no samples"),
    ("4096\n", (), "x.tsv:1: 1 columns without a header; give 2, 3, 5 of them"),
    ("a\tb\n1\t2\n", (), "x.tsv:1: no column offset, which is needed; the header has 'a', 'b'"),
    ("offset\tmillis\toffset\n", (), "x.tsv:1: column 'offset': is there twice"),
    ("1\t2\n", ("base_offset",), "x.tsv:1: no column base_offset, which is needed; 2 columns without a header are 'offset'"),
    ("1\t2\n1\t2\t3\n", (), "x.tsv:2: 3 columns, the first line has 2"),
    ("1\t2\n-1\t2\n", (), "x.tsv:2: offset '-1': must be a whole number of bytes"),
    ("1\t2\n9223372036854775808\t2\n", (), "x.tsv:2: offset '9223372036854775808': must be"),
    ("1\t2\n1\t0\n", (), "x.tsv:2: millis '0': must be milliseconds, more than 0"),
    ("1\t2\n1\tnan\n", (), "x.tsv:2: millis 'nan': must be"),
    ("1\t2\n1\t1e3\n", (), "x.tsv:2: millis '1e3': must be"),
    ("1\t2\n1\t3600001\n", (), "x.tsv:2: millis '3600001': must be"),
    ("1\t2\n1\t1_0\n", (), "x.tsv:2: millis '1_0': must be"),
    (b"1\t2\n1\t\xd9\xa3\n", (), "x.tsv:2: byte 0xd9: is no text"),
    (b"\0" * 5000, (), "x.tsv:1: longer than 1000 bytes"),
    ("1\t2\n" + "1" * 2000, (), "x.tsv:2: longer than 1000 bytes"),
])
def test_what_is_no_sample_is_refused_with_line_and_value(read, text, needed, words):
    with pytest.raises(BadSamples) as refused:
        read(text, *needed)
    assert words in str(refused.value) and len(str(refused.value)) < 250


def test_too_many_lines_are_refused(read, monkeypatch):
    monkeypatch.setattr(samples, "LINES", 3)
    assert len(read("1\t2\n" * 3)) == 3
    with pytest.raises(BadSamples, match="x.tsv:4: more than 3 lines"):
        read("1\t2\n" * 4)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BadSamples, match="No such file"):
        read_samples(tmp_path / "none")
    with pytest.raises(BadSamples, match="Is a directory"):
        read_samples(tmp_path)
