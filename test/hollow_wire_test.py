#!/usr/bin/env python3
"""Replays recorded exchanges with a real API server 1.10 against hollow-apiserver: the answers must be the same.

wire/ has the recordings and the tool. Four exchanges cannot agree, each for a reason that pkg/apiserver/README.md
gives; they must be exactly these.
"""
import json
import os
import re
import subprocess
import sys

import harness
from harness import ROOT, Api

# file -> exchanges that differ: two protobuf answers, an age in a table, a YAML text with times
DIFFERENT = {"07-errors.json": {101, 106, 107, 111}}


def replay(files, exchanges, *flags):
    # The recorded server had no admission plugin but Priority.
    with Api.start(flags=["--disable-admission-plugins=DefaultTolerationSeconds"]) as s:
        status, _ = s.call("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})
        assert status == 201, "namespace wire"
        run = subprocess.run(
            [
                sys.executable,
                os.path.join(ROOT, "test", "wire", "replay.py"),
                *flags,
                "--server",
                "127.0.0.1:%d" % s.port,
                *[os.path.join(ROOT, "test", "wire", f) for f in files],
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        replayed, differ, seen = 0, set(), []
        for line in run.stdout.splitlines():
            if m := re.match(r"\s+\[(\d+)\] .*: DIFF$", line):
                differ.add(int(m.group(1)))
            elif m := re.match(r"(\S+\.json): (\d+) exchanges, (\d+) different", line):
                assert differ == DIFFERENT.get(m.group(1), set()), (
                    m.group(1),
                    "%s differ\n%s" % (differ, run.stdout[-1500:]),
                )
                replayed += int(m.group(2))
                seen.append(m.group(1))
                differ = set()
        assert seen == files, "files replayed"
        assert replayed == exchanges, "exchanges replayed"
        assert s.stop()[0] == 0, "exit on SIGTERM"


def test_discovery():
    """Everything that is listed equals 10-discovery.json; what is not served here is not listed."""
    with open(os.path.join(ROOT, "test", "wire", "10-discovery.json")) as f:
        exchanges = json.load(f)["exchanges"]
    compared = 0
    with Api.start() as s:
        for e in exchanges[6:14]:
            path, recorded = e["request"]["path"], e["response"]["body"]
            status, got = s.call("GET", path)
            assert (status, {k: v for k, v in got.items() if k != "resources"}) == (
                200,
                {k: v for k, v in recorded.items() if k != "resources"},
            ), path
            known = {r["name"]: r for r in recorded.get("resources", [])}
            for r in got.get("resources", []):
                if r["name"].endswith("/scale"):
                    continue  # autoscaling/v1 in all groups
                want = dict(known[r["name"]])
                if path.startswith("/apis/extensions"):
                    want.pop("shortNames", None)  # those of the group apps are used
                assert r == want, path + " " + r["name"]
                compared += 1
        assert compared == 49, "resources compared"
        for e in exchanges[25:28] + exchanges[33:34]:  # paths that do not exist
            assert s.call("GET", e["request"]["path"])[0] == e["response"]["status"], e["request"]["path"]
        for e in exchanges[34:36]:
            assert s.call(e["request"]["method"], e["request"]["path"])[0] == e["response"]["status"], e["request"][
                "method"
            ]


def test_recordings():
    replay(
        [
            "01-nodes-crud.json",
            "02-pods-crud.json",
            "03-binding.json",
            "04-selectors-paging.json",
            "05-watch.json",
            "07-errors.json",
            "08-other-resources.json",
            "09-defaulting.json",
        ],
        630,
        "--clean",
    )


def test_end_of_watches():
    # Recording 06 continues where 05 ends. Its part after the compaction of etcd is in hollow_watch_end_test.py.
    replay(["05-watch.json", "06-watch-end-and-errors.json"], 31 + 12)


harness.main(globals())
