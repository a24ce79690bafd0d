"""Measures what drawn shapes cost, and whether the memory of a scheduler grows in a day of churn (test/churn)."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What hack/draw-shape draws, with its arguments and the goal for the median of the shapes in microseconds.
DRAWN = [
    ("own", "1,000 different nodes, each of 1,500 pods a template of its own", ["1..5", "like=own"], 60),
    ("teams", "500 nodes, 60 kinds of pods, up to 10 preferred terms", ["1..5", "like=teams"], 40),
    ("drawn", "5,000 nodes, everything drawn", ["1..40"], 300),
]
MOST_GROWTH = 0.05


def drawn(releases=("1.10", "1.29")):
    """Returns for each kind of shapes and release the distribution of the CPU time of a decision in microseconds."""
    results = []
    for name, what, arguments, goal in DRAWN:
        for release in releases:
            done = subprocess.run(
                [os.path.join(ROOT, "hack", "draw-shape"), "measure", *arguments, "release=" + release],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            median, p90, most = re.search(
                r"CPU us a decision over .*: median ([\d.]+), p90 ([\d.]+), most ([\d.]+)", done.stdout
            ).groups()
            results.append(
                {
                    "name": name,
                    "what": what,
                    "release": release,
                    "median": float(median),
                    "p90": float(p90),
                    "most": float(most),
                    "goal": goal,
                }
            )
    return results


def day(out):
    """Returns the last line of `churn day`: the resident memory after a fifth of the day and at its end."""
    done = subprocess.run([os.path.join(out, "test", "churn"), "day"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"bench: churn day ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])
