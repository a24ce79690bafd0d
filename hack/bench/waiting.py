#!/usr/bin/env python3
"""Measures what pods that wait for ever cost in simulated time, over their number.

Usage: hack/bench/waiting.py [--bin FOLDER] [--releases 1.10,1.29,1.36] [--kinds N]

For an hour, 600 pods come and go on 500 nodes, while others wait that need more than any node has. The slope is the
logarithm, base 2, of how much more twice as many cost, less what the pods cost that come and go: 1 is linear."""
import argparse
import json
import math
import os
import subprocess
import tempfile

NUMBERS = (5_000, 10_000, 20_000)
RELEASES = ("1.10", "1.29", "1.36")
GOAL = 3  # seconds of CPU for the most of them


def node(i):
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    conditions = [{"type": "Ready", "status": "True"}]
    metadata = {"name": "n%d" % i, "labels": {"kubernetes.io/hostname": "n%d" % i}}
    status = {"capacity": resources, "allocatable": resources, "conditions": conditions}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def cost(binaries, release, number, kinds, folder):
    """Returns the seconds of CPU with so many pods that wait, and the number of attempts."""
    cluster, rows = os.path.join(folder, "nodes.json"), os.path.join(folder, "waiting.csv")
    with open(cluster, "w") as f:
        f.write("\n".join(json.dumps(node(i)) for i in range(500)))
    with open(rows, "w") as f:
        f.write("time,duration,name,cpu,count\n")
        for k in range(min(kinds, number)):
            f.write("0,,waits-%d,%d,%d\n" % (k, 64 + k, number // kinds))
    done = subprocess.run(
        [
            os.path.join(binaries, "schedsim"),
            "simulate",
            cluster,
            "--arrivals",
            rows,
            "--generate",
            "rate=600/h,for=1h,duration=10m,cpu=500m,memory=1Gi",
            "--emulated-version=" + release,
            "--validate=off",
            "--stats",
            "-o",
            "json",
        ],
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(done.stderr.strip().splitlines()[-1])["cpuSeconds"], json.loads(done.stdout)["attempts"]


def measure(binaries, releases=RELEASES, kinds=1):
    """Returns for each release [(number of pods, seconds, attempts)] and the slope."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for release in releases:
            alone = cost(binaries, release, 1, 1, folder)[0]
            points = [(n, *cost(binaries, release, n, kinds, folder)) for n in NUMBERS]
            own = [max(seconds - alone, 1e-3) for _, seconds, _ in points]
            out[release] = {"points": points, "slope": math.log2(own[-1] / own[-2])}
    return out


def rows(results):
    """Returns the lines of a table."""
    out = [("release", *("{:,} pods".format(n) for n in NUMBERS), "an attempt", "slope", "goal", "")]
    for release, r in results.items():
        seconds, attempts = r["points"][-1][1:]
        out.append(
            (
                release,
                *("%.2f s" % s for _, s, _ in r["points"]),
                "%.2f us" % (seconds * 1e6 / attempts),
                "%.2f" % r["slope"],
                "%d s" % GOAL,
                "missed" if seconds > GOAL else "",
            )
        )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--bin", default=os.path.join(root, "_output/bin"), metavar="FOLDER")
    parser.add_argument("--releases", default=",".join(RELEASES), metavar="LIST")
    parser.add_argument("--kinds", type=int, default=1, metavar="N", help="of how many kinds the pods are")
    args = parser.parse_args()
    table = rows(measure(args.bin, args.releases.split(","), args.kinds))
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
