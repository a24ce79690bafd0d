"""Measures what a decision costs that looks at the nodes which its release would look at
(--percentage-of-nodes-to-score=release), beside one that looks at all nodes."""
import json
import subprocess

RELEASES = ("1.13", "1.19", "1.29", "1.36")
WORKLOADS = ("w1", "w2", "w3", "w4", "w5", "w6", "w7")
ARGUMENTS = "--nodes 5000 --pods 1000 --preload 10 --like "
GOAL = 2.0  # times the cost of all nodes


def once(schedsim, path, release, *flags):
    """Returns the CPU time of a decision in microseconds."""
    done = subprocess.run(
        [
            schedsim,
            "run",
            path,
            "-o",
            "placements",
            "--stats",
            "--validate=off",
            "--emulated-version=" + release,
            *flags,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    stats = json.loads(done.stderr.strip().splitlines()[-1])
    return 1e6 * stats["cpuSeconds"] / stats["pods"]


def measure(schedsim, make_input, runs):
    """Returns a row for each workload and release. Runs of both kinds alternate, and the least of each counts, because
    other work on the machine only adds to it."""
    rows = []
    for workload in WORKLOADS:
        path = make_input(workload, ARGUMENTS + workload)
        for release in RELEASES:
            of_all, of_some = [], []
            for _ in range(runs):
                of_all.append(once(schedsim, path, release))
                of_some.append(once(schedsim, path, release, "--percentage-of-nodes-to-score=release"))
            least, sampled = min(of_all), min(of_some)
            rows.append(
                {
                    "work": workload,
                    "release": release,
                    "cpuMicros": least,
                    "sampledMicros": sampled,
                    "ratio": sampled / least,
                }
            )
    return rows
