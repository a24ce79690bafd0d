#!/usr/bin/env python3
"""Tests that the memory of a scheduler does not grow with the pods that come and go (test/churn): each pod is one of
many templates, nodes get other labels all the time, and only a few pods are there at once. `make bench` measures the
same with a million pods (`--only day`)."""
import json
import os

import harness
from harness import ROOT, run

CHURN = os.path.join(ROOT, os.environ.get("OUT", "_output"), "test", "churn")
RELEASES = ["1.10", "1.29", "1.36"]


def day(*words):
    return run(CHURN, "day", *words, timeout=600)


def test_memory_returns():
    for release in RELEASES:
        # Small enough that all that is bounded is full after a fifth of the pods.
        small = ["nodes=100", "pods=20000", "templates=1000", "live=500", "kept=4"]
        status, out, err = day("release=" + release, *small)
        last = json.loads(out.splitlines()[-1]) if status in (0, 1) else {}
        assert status == 0, ("%s: memory is what it was" % release, status, out, err[-1000:])
        assert last.get("placed") == 20000, "%s: all pods are placed" % release


def test_growth_is_seen():
    # Every pod stays, so that memory must grow: the program says so.
    status, out, err = day("nodes=100", "pods=5000", "templates=5000", "live=5000")
    assert status == 1 and json.loads(out.splitlines()[-1])["grown"] > 0.5, ("growth is told", status, out, err[-1000:])


harness.main(globals())
