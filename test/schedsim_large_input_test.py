#!/usr/bin/env python3
"""Large input to schedsim: files are read piece by piece, with the same messages and decisions as small ones, and
output is written as decisions are made."""
import gzip
import json
import os
import subprocess

import harness
from harness import BIN, ROOT, node, pod, schedsim, scratch, write_file

POD = json.dumps(pod("p1"))


def test_large_output_needs_little_memory():
    """2 GB of JSON about a production trace. What its parent holds does not count, which Linux counts as the child's
    when it starts."""
    held = bytearray(b"x" * (300 << 20))
    trace = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")
    with open(scratch("stats"), "w+") as stats:
        words = [os.path.join(BIN, "schedsim"), "run", trace, "-o", "json", "--stats"]
        status = subprocess.call(words, stdout=subprocess.DEVNULL, stderr=stats)
        stats.seek(0)
        assert status == 0 and json.load(stats)["peakRSSBytes"] < 200 << 20, "under 200 MiB"
    assert len(held) == 300 << 20


def large_list(*last):
    """Returns a list of more than 64 MiB, one object a line, that ends with the given lines, and the number of lines
    before them. Files of this size are read piece by piece."""
    filler = json.dumps({**node("NAME"), "metadata": {"name": "NAME", "annotations": {"filler": "y" * 7500}}})
    lines = ['{"kind": "List", "apiVersion": "v1", "items": [']
    lines += [filler.replace("NAME", "n%d" % i) + "," for i in range(9000)]
    return "\n".join(lines + [",\n".join(last), "]}"]), len(lines)


def refused(text, error):
    """Checks that the text is refused with one short message that says `error` of its place, as a file and as a
    pipe."""
    path = write_file("x.json", text)
    for name, done in (path, schedsim("run", path)), ("standard input", schedsim("run", "-", feed=text)):
        code, _, err = done
        assert code == 1 and error.replace("FILE", name) in err, (name, err[-600:])
        assert err.count("\n") <= 3 and len(err) < 4000, ("short", err[:500])


def test_a_wrong_value():
    bad = json.dumps(pod("p2", requests={"cpu": ["late"]}))
    text, lines = large_list(POD, bad)
    refused(text, "FILE: line %d, column %d" % (lines + 2, bad.index('["late"') + 1))


def test_no_valid_json():
    text, lines = large_list(POD, "{]")
    refused(text, "FILE: line %d, column 2" % (lines + 2))


def test_a_name_twice():
    text, lines = large_list(POD, json.dumps(node("n7")))
    refused(text, 'Node "n7" occurs twice: FILE:9 and FILE:%d' % (lines + 2))


def test_a_second_document():
    text, lines = large_list(POD, json.dumps(pod("p2")))
    refused(text + '\n{"kind": "List", "items": [\n3]}', "FILE: line %d, column 1" % (lines + 5))


def test_a_file_decides_as_a_gzip_file_and_as_a_pipe():
    text, _ = large_list(POD, json.dumps(pod("p2")))
    file, zipped = write_file("x.json", text), write_file("x.json.gz", gzip.compress(text.encode(), 1))
    decided = schedsim("run", file, "-o", "placements")
    assert decided[0] == 0 and len(decided[1].splitlines()) == 2, decided
    assert schedsim("run", zipped, "-o", "placements") == decided
    assert schedsim("run", "-", "-o", "placements", feed=text) == decided


harness.main(globals())
