#!/usr/bin/env python3
"""Holds schedsim's decisions against recorded ones of Kubernetes.

golden/ (1.10) and golden-X.Y/ have scenarios with what the real scheduler decided (failures, scores, totals,
preemption), traces/ and workloads/ have longer runs with the placements of each pod, in order: NAME.placements.gz of
1.10, and placements-X.Y/NAME.placements.gz. Traces: a production cluster (openb), and synthetic clusters of 1,000
nodes: w3 required anti-affinity by host, w4 preferred affinity by zone, w5 mixed services and taints.
"""
import glob
import gzip
import json
import os

import harness
from harness import ROOT, schedsim

DATA = os.path.join(ROOT, "test", "testdata")


def preemption(p):
    return (
        None
        if p is None
        else {
            "node": p.get("node", ""),
            "victims": sorted(p.get("victims") or []),
            "nominatedToClear": sorted(p.get("nominatedToClear") or []),
        }
    )


def difference(want, got):
    """Returns what differs, the expected and the actual value, or None if everything that was recorded agrees."""
    if want["pod"] != got.get("pod"):
        return "pod", want["pod"], got.get("pod")
    if want.get("host", "") != got.get("host", ""):
        return "host", want.get("host", ""), (got.get("host"), got.get("error"))
    if "errorParts" in want:
        if not all(part in got.get("error", "") for part in want["errorParts"]):
            return "error", want["errorParts"], got.get("error", "")
    elif want.get("error", "") != got.get("error", ""):
        return "error", want.get("error", ""), got.get("error", "")
    if want.get("notAttempted", "") != got.get("notAttempted", ""):
        return "notAttempted", want.get("notAttempted", ""), got.get("notAttempted", "")
    if want.get("preemptionError", "") != got.get("preemptionError", ""):
        return "preemptionError", want.get("preemptionError", ""), got.get("preemptionError", "")
    if "ties" in want and sorted(want["ties"]) != sorted(got.get("ties") or []):
        return "ties", want["ties"], got.get("ties")
    for key in ("failures", "rejections", "scores", "totals"):
        if want.get(key) is None:
            continue
        w, g = want[key], got.get(key) or {}
        if key == "failures":
            w = {node: sorted(reasons) for node, reasons in w.items()}
        if key == "scores":  # a plugin that is missing scores 0
            w, g = ({node: {p: n for p, n in of.items() if n} for node, of in nodes.items()} for nodes in (w, g))
        for node in sorted(set(w) | set(g)):
            if w.get(node) != g.get(node):
                return key + " of " + node, w.get(node), g.get(node)
    allowed = want.get("preemptionOneOf", [want["preemption"]] if want.get("preemption") is not None else None)
    if allowed is not None and preemption(got.get("preemption")) not in [preemption(p) for p in allowed]:
        return "preemption", allowed, got.get("preemption")
    return None


def check_scenarios(path):
    with gzip.open(path, "rt") as f:
        lines = [json.loads(line) for line in f if line.strip()]
    feed = "".join(json.dumps(dict(line["scenario"], name=line["name"])) + "\n" for line in lines)
    status, out, err = schedsim("run", "-", "-o", "json", "--check-decisions", feed=feed)
    assert status == 0, ("%s runs" % path, err[-500:])
    results = [json.loads(line) for line in out.splitlines() if line.strip()]
    different = []
    for i, line in enumerate(lines):
        want = line["want"]["decisions"]
        got = results[i].get("decisions", []) if i < len(results) else []
        found = None if len(want) == len(got) else ("number of decisions", len(want), len(got))
        for w, g in zip(want, got):
            found = found or difference(w, g)
        if found:
            different.append(
                "%s: %s: want %s, got %s"
                % (line["name"], found[0], json.dumps(found[1])[:400], json.dumps(found[2])[:400])
            )
    assert lines, "%s has scenarios" % path
    assert not different, (
        os.path.relpath(path, DATA),
        "%d of %d scenarios differ:\n%s" % (len(different), len(lines), "\n".join(different[:3])),
    )


def check_placements(path, release):
    """`path` has the placements of all or of the first pods; the objects are in NAME.json.gz of the folder, or of the
    one above."""
    with gzip.open(path, "rt") as f:
        want = f.read().splitlines()
    folder = os.path.dirname(path) if release == "1.10" else os.path.dirname(os.path.dirname(path))
    with open(os.path.join(folder, os.path.basename(path).replace(".placements.gz", ".json.gz")), "rb") as f:
        _, out, err = schedsim("run", "-", "-o", "placements", "--emulated-version=" + release, feed=f.read())
    got = out.splitlines()
    different = [
        "pod %d: want %s, got %s" % (i, w, got[i] if i < len(got) else err[-500:])
        for i, w in enumerate(want)
        if i >= len(got) or got[i] != w
    ]
    assert want, "%s has placements" % path
    assert want == got[: len(want)], (
        os.path.relpath(path, DATA),
        "%d of %d placements differ:\n%s" % (len(different), len(want), "\n".join(different[:3])),
    )


def files(pattern):
    found = sorted(glob.glob(os.path.join(DATA, pattern)))
    assert found, "there are files " + pattern
    return found


def releases(pattern):
    """Returns the releases that have a folder of this name, such as "golden-*"."""
    return sorted(path.rsplit("-", 1)[1] for path in files(pattern))


def test_scenarios_of_1_10():
    for path in files("golden/*.jsonl.gz"):
        check_scenarios(path)


def test_scenarios_of_later_releases():
    for release in releases("golden-*"):
        for path in files("golden-%s/*.jsonl.gz" % release):
            check_scenarios(path)


def test_placements_of_1_10():
    for path in files("traces/*.placements.gz"):
        check_placements(path, "1.10")


def test_placements_of_later_releases():
    for folder in ("traces", "workloads"):
        for release in releases(folder + "/placements-*"):
            for path in files("%s/placements-%s/*.placements.gz" % (folder, release)):
                check_placements(path, release)


harness.main(globals())
