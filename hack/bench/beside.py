#!/usr/bin/env python3
"""Compares what two builds of kube-scheduler take for pods that arrive one at a time (steady.py).

Usage: hack/bench/beside.py OLD NEW [--release 1.36] [--rounds 8] [--pods 300]

OLD and NEW are folders of builds, such as _output. Both schedulers run at the same time, each with a hollow-apiserver
of NEW, and get their pods in turn. So whatever else the machine does affects both: the rounds of a build beside
itself differ by about 5 percent, while two runs after one another may differ by a third."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import steady

RATE = 50  # pods a second for each of the two
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Side:
    """One of the two schedulers, with its server."""

    def __init__(self, build, new_build, folder, release, cluster):
        os.makedirs(folder)
        steady.make_authority(folder)
        # Its own copy, because programs of one file would find each other's code in the processor's caches.
        shutil.copy(os.path.join(build, "bin/kube-scheduler"), folder)
        self.server = steady.Server(os.path.join(new_build, "bin"), folder, cluster, release)
        self.scheduler = steady.start_scheduler(folder, folder, self.server, [], release)

    def micros(self):
        return steady.Use(self.scheduler.pid).run / 1e3

    def end(self):
        for process in (self.scheduler, self.server.process):
            process.terminate()
            process.wait()


def arrive(sides, first, count):
    """Applies pods to the sides in turn, and waits until all events are written."""
    begin, applied = time.monotonic(), 0
    for number in range(first, first + count):
        for side in sides if number % 2 else sides[::-1]:
            time.sleep(max(0, begin + applied / RATE / len(sides) - time.monotonic()))
            steady.apply(side.server, number)
            applied += 1
    for side in sides:
        steady.await_events(side.server, first + count)


def compare(old, new, folder, args):
    cluster = os.path.join(folder, "cluster.json")
    size = ["--nodes", "1000", "--pods", "0", "--preload", "10"]
    subprocess.run([os.path.join(ROOT, "hack/gen-workload"), *size, "-o", cluster], check=True)
    sides, rounds = [], []
    try:
        for name, build in (("old", old), ("new", new)):
            release = "--emulated-version=" + args.release
            sides.append(Side(build, new, os.path.join(folder, name), release, cluster))
        arrive(sides, 0, args.pods)
        for r in range(1, args.rounds + 1):
            before = [s.micros() for s in sides]
            arrive(sides, r * args.pods, args.pods)
            rounds.append([(s.micros() - b) / args.pods for s, b in zip(sides, before)])
            print("round %d: %.0f us, %.0f us of CPU a pod" % (r, *rounds[-1]), flush=True)
    finally:
        for side in sides:
            side.end()
    changes = [100 * (b / a - 1) for a, b in rounds]
    medians = [statistics.median(column) for column in zip(*rounds)]
    print(
        "old %.0f us, new %.0f us: %+.0f %% (rounds: %+.0f to %+.0f %%)"
        % (*medians, statistics.median(changes), min(changes), max(changes))
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--release", default="1.36", help="the release that both emulate")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--pods", type=int, default=300, help="pods of a round, for each of the two")
    args = parser.parse_args()
    for build, programs in ((args.old, ["kube-scheduler"]), (args.new, ["kube-scheduler", "hollow-apiserver"])):
        for program in programs:
            if not os.path.exists(os.path.join(build, "bin", program)):
                sys.exit("beside.py: %s: there is no bin/%s, so it is not the folder of a build" % (build, program))
    if args.rounds < 1 or args.pods < 1:
        sys.exit("beside.py: --rounds and --pods must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        compare(args.old, args.new, folder, args)


if __name__ == "__main__":
    main()
