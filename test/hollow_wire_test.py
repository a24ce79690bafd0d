#!/usr/bin/env python3
"""Replays recorded exchanges with a real API server 1.10 against hollow-apiserver: the answers must be the same.

wire/ has the recordings and the tool. Four exchanges cannot agree, each for a reason that pkg/apiserver/README.md gives;
they must be exactly these.
"""
import glob, os, re, subprocess, sys
from hollow_harness import HERE, Server, check, finish

# file -> exchanges that differ: two protobuf answers, an age in a table, a YAML text with times
DIFFERENT = {"07-errors.json": {101, 106, 107, 111}}

files = sorted(f for f in glob.glob(os.path.join(HERE, "wire", "*.json")) if not os.path.basename(f).startswith("14"))
with Server() as s:
    status, _ = s.request("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})
    check("namespace wire", status, 201)
    run = subprocess.run([sys.executable, os.path.join(HERE, "wire", "replay.py"), "--clean", "--server", "127.0.0.1:%d" % s.port, *files],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    print(run.stdout)
    exchanges, differ, seen = 0, set(), 0
    for line in run.stdout.splitlines():
        if m := re.match(r"\s+\[(\d+)\] .*: DIFF$", line):
            differ.add(int(m.group(1)))
        elif m := re.match(r"(\S+\.json): (\d+) exchanges, (\d+) different", line):
            check(m.group(1), differ, DIFFERENT.get(m.group(1), set()))
            exchanges += int(m.group(2))
            seen += 1
            differ = set()
    check("files replayed", seen, len(files))
    check("exchanges replayed", exchanges, 630)
    check("exit on SIGTERM", s.stop()[0], 0)
finish()
