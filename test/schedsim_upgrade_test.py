#!/usr/bin/env python3
"""The ladder of upgrades: schedsim compare over all releases, as text in 80 columns, as JSON and as a chart."""
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree

import harness
from harness import ROOT, schedsim, scratch

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
LADDER = ["--emulated-version=" + r for r in RELEASES]
DEMO = [os.path.join(ROOT, "test/testdata/demo", name) for name in ("nodes.yaml", "apps.yaml")]


def steps(*inputs):
    status, out, err = schedsim("compare", *inputs, *LADDER, "-o", "json")
    assert status == 0, "status"
    return json.loads(out.splitlines()[-1] if "\n{" in out else out)["steps"]


def test_the_demo_cluster():
    found = steps(*DEMO)
    assert [(s["from"], s["to"]) for s in found] == list(
        zip(RELEASES, RELEASES[1:])
    ), "a step from each release to the next"
    for s in found:
        name = "%s to %s" % (s["from"], s["to"])
        assert s["pods"] == len(s["differences"]), name + ": the pods are those of the differences"
        assert s["elsewhere"] + s["noLongerFit"] + s["newlyFit"] == s["pods"], name + ": kinds"
        assert sum(c["pods"] for c in s["causes"]) == s["pods"], name + ": causes"
        assert all(d["rule"] and d["why"] for d in s["differences"]), (
            name + ": every pod has a rule and a sentence",
            s["differences"][:3],
        )
    assert all(s["pods"] > 0 for s in found[3:]), ("an upgrade moves pods", [s["pods"] for s in found])


def test_text_in_80_columns():
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    text = subprocess.run(
        [os.path.join(harness.BIN, "schedsim"), "compare", *DEMO, *LADDER],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    ).stdout
    long = [line for line in text.splitlines() if len(line) > 80]
    assert not long, ("80 columns", long[:3])
    for word in (
        "The upgrade, step by step",
        "1.8 -> 1.9",
        "1.29 -> 1.36",
        "WHAT IS WORSE",
        "RULE THAT MADE THE DIFFERENCE",
    ):
        assert word in text, ("the text has " + word, text[-1500:])


def test_a_single_step():
    # Two releases have what is worse, and the causes in the order of what hurts, as several have.
    pair = ["--emulated-version=1.13", "--emulated-version=1.19"]
    status, out, err = schedsim("compare", *DEMO, *pair, "-o", "json")
    got = json.loads(out)
    assert status == 0, "status"
    assert [(s["from"], s["to"]) for s in got["steps"]] == [("1.13", "1.19")], "steps"
    assert (got["steps"][0]["pods"], "differences" in got["steps"][0]) == (
        len(got["differences"]),
        False,
    ), "the pods stand beside the step"
    counts = [c["pods"] for c in got["steps"][0]["causes"]]
    assert counts == sorted(counts, reverse=True), "causes by their number of pods"
    text = schedsim("compare", *DEMO, *pair)[1]
    for word in (
        "WHAT IS WORSE",
        "zone skew",
        "1.13 -> 1.19",
        "RULE THAT MADE THE DIFFERENCE",
        "more (-o json lists all)",
    ):
        assert word in text, ("the text has " + word, text[-1500:])


def test_chart():
    path = scratch("upgrade.svg")
    assert schedsim("compare", *DEMO, *LADDER, "--svg", path)[0] == 0, "status"
    texts = [e.text for e in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    for a, b in zip(RELEASES, RELEASES[1:]):
        assert "%s \u2192 %s" % (a, b) in texts, "a bar of %s" % b
    for s in steps(*DEMO):
        assert str(s["pods"]) in texts, "the number of pods of %s" % s["to"]
    if shutil.which("rsvg-convert"):
        subprocess.run(["rsvg-convert", "-o", scratch("upgrade.png"), path], check=True)


harness.main(globals())
