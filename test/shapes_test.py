#!/usr/bin/env python3
"""Tests clusters of many shapes (hack/gen-shape, hack/draw-shape): the incremental and the reference scheduler place
the same."""
import json
import os

import harness
from harness import ROOT, run, schedsim, scratch

GENERATOR = os.path.join(ROOT, "hack", "gen-shape")

# Settings that make a shape effective with few nodes: more domains than groups allow, and fewer kinds than pods, so
# that kinds repeat.
KEYS = {
    "aff-zone": ["zones=33"],
    "pref-zone": ["zones=20"],
    "w1": ["zones=20"],
    "rs-many": ["T=30"],
    "infeasible": ["T=20"],
    "infeasible-sel": ["T=20"],
    "image": ["T=20"],
    "avoid": ["T=20"],
    "anti-terms": ["T=40"],
    "nominated": ["K=30"],
    "preempt": ["pdbs=20"],
    "wffc-any": ["K=60"],
    "wffc-local": ["V=2"],
    "unlike": ["T=30"],
    "terms": ["T=50"],
}
MORE = [("preempt", ["anti=1"]), ("preempt", []), ("wffc-local", ["V=1"]), ("w1", []), ("pref10", ["zones=30"])]


def shapes():
    return run(GENERATOR)[2].split("Shapes: ")[1].split()


def decide(path, *words):
    status, out, err = schedsim("run", path, *words)
    assert status in (0, 1) and out, ("schedsim run %s" % " ".join(words), status, err[-1000:])
    return out


def compare(shape, keys, nodes=40, pods=120):
    """Returns how many decisions were compared."""
    path = scratch("in.json")
    status, _, err = run(GENERATOR, shape, str(nodes), str(pods), "o=" + path, *keys)
    assert status == 0, ("gen-shape " + shape, err)
    incremental = [line.split() for line in decide(path, "-o", "placements").splitlines() if not line.startswith("#")]
    decisions = json.loads(decide(path, "-o", "json") or "{}").get("decisions", [])
    reference = [[d["pod"], d["host"] or "-"] for d in decisions]
    different = next((a for a in zip(incremental, reference) if a[0] != a[1]), (len(incremental), len(reference)))
    assert reference and incremental == reference, (
        "%s: both schedulers place the same" % " ".join([shape, str(nodes), str(pods), *keys]),
        different,
    )
    return len(reference)


def test_shapes():
    cases = [(s, KEYS.get(s, [])) for s in shapes()] + MORE
    decided = sum(compare(shape, keys) for shape, keys in cases)
    assert len(cases) >= 35 and decided >= 100 * len(cases), (
        "enough was compared",
        "%d decisions in %d shapes" % (decided, len(cases)),
    )


def check_drawn(shapes, *options):
    """Decides so many drawn shapes. Whether decisions from kept answers and others agree is checked by the program
    itself, which fails when they do not."""
    status, out, err = run(os.path.join(ROOT, "hack", "draw-shape"), "measure", "1..%d" % shapes, *options, "check=1")
    assert status == 0 and "over %d shapes" % shapes in out, (
        "draw-shape " + " ".join(options),
        status,
        out[-300:],
        err[-1000:],
    )


def test_drawn_shapes():
    for release in ("1.10", "1.13", "1.19", "1.29", "1.36"):
        small = ("release=" + release, "nodes=60", "pods=90")
        check_drawn(6, *small)
        for like in ("own", "teams"):
            check_drawn(2, *small, "like=" + like, "changes=2")


def test_drawn_shapes_that_change():
    """Before each decision nodes come, go and change, and bound pods end."""
    for release in ("1.10", "1.13", "1.29"):
        check_drawn(8, "release=" + release, "nodes=80", "pods=200", "changes=6")


def test_drawn_shapes_by_a_sample():
    """With 160 nodes a search ends after 100; `evaluated` is compared, too."""
    for release in ("1.13", "1.19", "1.29", "1.36"):
        check_drawn(6, "release=" + release, "nodes=160", "pods=150", "percentage=20")
    for release in ("1.13", "1.29"):
        check_drawn(2, "release=" + release, "nodes=160", "pods=150", "percentage=20", "like=teams", "changes=2")


harness.main(globals())
