#!/usr/bin/env python3
"""Takes the picture in pkg/ui/README.md: the page as Chromium shows it for the demo cluster.

usage: page-picture.py [FILE.png]     (default: pkg/ui/page.png; needs chromium, and the programs in OUT/bin)
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test"))
from harness import BIN, stop_all, start, write_file  # noqa: E402
from harness.browser import Browser  # noqa: E402

DEMO = "test/testdata/demo/"


def main(picture="pkg/ui/page.png"):
    picture = os.path.abspath(picture)
    cluster = "".join(open(DEMO + name).read() + "\n---\n" for name in ("nodes.yaml", "apps.yaml"))
    server = start(
        f"{BIN}/schedsim",
        "serve",
        write_file("cluster.yaml", cluster),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = server.stdout.readline().split()[2]  # Serving on ADDRESS until interrupted
        with Browser() as browser:
            page = browser.open(address + "#/nodes", width=1200)
            page.wait("document.body.dataset.nodes === '300'")
            page.screenshot(picture)
    finally:
        stop_all()


main(*sys.argv[1:])
