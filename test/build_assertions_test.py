#!/usr/bin/env python3
"""Tests what a failed assertion of a Python test says (test/harness/assertions.py)."""
import os
import sys

import harness
from harness import ROOT, run, write_file

SCRIPT = '''
import contextlib, harness

class Cluster:
    nodes = ["a", "b"]
    def count(self):
        return len(self.nodes)
    @property
    def empty(self):
        assert self.count() == 0, ("it is empty", "line 1\\nline 2")

@contextlib.contextmanager
def block():
    yield
    assert sorted([2, 1]) != [1, 2]

def test_property():
    Cluster().empty

def test_wrapped():
    with block():
        pass

def test_variables():
    limit, values = 2, [1, 2]
    assert all(v < limit for v in values), f"up to {limit}"

def test_long():
    text = "a" * 100_000 + "b"
    assert "c" in text or limit == 3 if text else False

def test_that_passes():
    for n in range(3):
        assert n < 3 and not n < 0

def test_error():
    {}["missing"]

harness.main(globals())
'''
EXPECTED = {
    "test_property": """FAILED: test_property: FILE:10: it is empty
    line 1
line 2
    assert self.count() == 0
    self.count() = 2
    self = CLUSTER
    called at FILE:18
""",
    "test_wrapped": """FAILED: test_wrapped: FILE:15: 
    assert sorted([2, 1]) != [1, 2]
    sorted([2, 1]) = [1, 2]
    called at CONTEXTLIB
    called at FILE:21
""",
    "test_variables": """FAILED: test_variables: FILE:26: up to 2
    assert all(v < limit for v in values)
    limit = 2
    values = [1, 2]
""",
    "test_that_passes": "",
}


def printed_by(test):
    path = write_file("script_test.py", SCRIPT)
    status, out, err = run(sys.executable, path, test, env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "test")})
    assert status == (test != "test_that_passes") and not err
    lines = out.replace(os.path.relpath(path), "FILE").split("\n")
    return "\n".join(
        "    self = CLUSTER" if "self = <" in l else "    called at CONTEXTLIB" if "contextlib" in l else l
        for l in lines
    )


def test_what_is_printed():
    for test, expected in EXPECTED.items():
        assert printed_by(test).strip("\n") == expected.strip("\n"), test


def test_long_values_lose_their_middle():
    assert len(printed_by("test_long")) < 3000


def test_other_errors_are_shown_as_python_shows_them():
    assert "KeyError: 'missing'" in printed_by("test_error")


harness.main(globals())
