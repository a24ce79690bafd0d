#!/usr/bin/env python3
"""No list in a pod, a node, a Policy, a configuration or a recording takes memory with the square of its length, and
none ends the program. hack/cost-slopes makes the inputs; what is asserted is bytes, as the clock depends on the
machine. And decisions of one release cost what those of another do."""
import importlib.machinery
import importlib.util
import json
import os

import harness
from harness import BIN, ROOT, schedsim

RELEASES = ("1.8", "1.10", "1.19", "1.29", "1.36")  # those between differ in no list
# Entries of a list, and what a run may take at most: 25 MB without them, and some 10 KB an entry (a container of each
# pod, its resource and its image). Quadratic constraints and labels took 400 MB to 5 GB.
ENTRIES, MOST_BYTES = 3000, 64 << 20


def generator():
    loader = importlib.machinery.SourceFileLoader("cost_slopes", os.path.join(ROOT, "hack/cost-slopes"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_memory_is_linear():
    binary, tried = os.path.join(BIN, "schedsim"), set()
    slopes = generator()
    for i, release in enumerate(RELEASES):
        for j, (name, job) in enumerate(slopes.jobs(release)):
            # Every list of objects in one release, documents in each.
            if ":" not in name and (i + j) % len(RELEASES) > 0:
                continue
            tried.add(name)
            seconds, most = job(binary, ENTRIES)
            assert most < MOST_BYTES, ("%s in release %s: bytes" % (name, release), most, seconds)
            assert seconds < slopes.LIMIT, "%s in release %s is decided" % (name, release)
    assert len(tried) > 80, ("every kind of list was tried", len(tried))


def test_pairs():
    slopes = generator()
    pairs = list(slopes.pairs())
    assert len(pairs) > 1000, ("there are pairs", len(pairs))
    for pair in pairs[::83]:
        _, most = slopes.pair_cost(os.path.join(BIN, "schedsim"), "1.29", pair, ENTRIES)
        assert most < 2 * MOST_BYTES, " + ".join(pair) + ": bytes"


def test_pairs_that_were_quadratic():
    """What took time with the product of two lengths costs about what both lists cost alone: by the same clock, far
    from the fifty times that it was."""
    slopes, binary = generator(), os.path.join(BIN, "schedsim")
    jobs = dict(slopes.jobs("1.29"))
    for pair in (
        ("sidecars", "amounts of a ResourceQuota"),
        ("sidecars and init containers", "amounts of a ResourceQuota"),
    ):
        both, alone = slopes.pair_cost(binary, "1.29", pair, 10000)[0], sum(
            jobs[name](binary, 5000)[0] for name in pair
        )
        assert both < 10 * alone, " with ".join(pair) + ": seconds"


def test_decisions_of_1_36_cost_what_those_of_1_29_cost():
    """A rule that fits a pod on every node, as DynamicResources does without claims, must not make every node be looked
    at; that took five times as long. The shortest of several runs counts."""

    def cost(release):
        err = schedsim(
            "run",
            "test/testdata/workloads/w1-n1000.json.gz",
            "--emulated-version=" + release,
            "--stats",
            "-o",
            "placements",
        )[2]
        return json.loads(err[err.index("{") :])["cpuSeconds"]

    least = {release: min(cost(release) for _ in range(4)) for release in ("1.29", "1.36")}
    assert least["1.36"] < 2 * least["1.29"], "1.36 takes no longer"


harness.main(globals())
