#!/usr/bin/env python3
"""The ladder of upgrades: schedsim compare over all releases, as text in 80 columns, as JSON and as a chart."""
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree

import harness
from harness import ROOT, check, check_equal, node, pod, schedsim, scratch, write_objects

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
LADDER = ["--emulated-version=" + r for r in RELEASES]
DEMO = [os.path.join(ROOT, "test/testdata/demo", name) for name in ("nodes.yaml", "apps.yaml")]


def steps(*inputs):
    status, out, err = schedsim("compare", *inputs, *LADDER, "-o", "json")
    check_equal("status", status, 0)
    return json.loads(out.splitlines()[-1] if "\n{" in out else out)["steps"]


def test_the_demo_cluster():
    found = steps(*DEMO)
    check_equal(
        "a step from each release to the next", [(s["from"], s["to"]) for s in found], list(zip(RELEASES, RELEASES[1:]))
    )
    for s in found:
        name = "%s to %s" % (s["from"], s["to"])
        check_equal(name + ": the pods are those of the differences", s["pods"], len(s["differences"]))
        check_equal(name + ": kinds", s["elsewhere"] + s["noLongerFit"] + s["newlyFit"], s["pods"])
        check_equal(name + ": causes", sum(c["pods"] for c in s["causes"]), s["pods"])
        check(
            name + ": every pod has a rule and a sentence",
            all(d["rule"] and d["why"] for d in s["differences"]),
            s["differences"][:3],
        )
    check("an upgrade moves pods", all(s["pods"] > 0 for s in found[3:]), [s["pods"] for s in found])


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
    check("80 columns", not long, long[:3])
    for word in (
        "The upgrade, step by step",
        "1.8 -> 1.9",
        "1.29 -> 1.36",
        "WHAT IS WORSE",
        "RULE THAT MADE THE DIFFERENCE",
    ):
        check("the text has " + word, word in text, text[-1500:])


def test_a_single_step():
    # Two releases have what is worse, and the causes in the order of what hurts, as several have.
    pair = ["--emulated-version=1.13", "--emulated-version=1.19"]
    status, out, err = schedsim("compare", *DEMO, *pair, "-o", "json")
    got = json.loads(out)
    check_equal("status", status, 0)
    check_equal("steps", [(s["from"], s["to"]) for s in got["steps"]], [("1.13", "1.19")])
    check_equal(
        "the pods stand beside the step",
        (got["steps"][0]["pods"], "differences" in got["steps"][0]),
        (len(got["differences"]), False),
    )
    counts = [c["pods"] for c in got["steps"][0]["causes"]]
    check_equal("causes by their number of pods", counts, sorted(counts, reverse=True))
    text = schedsim("compare", *DEMO, *pair)[1]
    for word in (
        "WHAT IS WORSE",
        "zone skew",
        "1.13 -> 1.19",
        "RULE THAT MADE THE DIFFERENCE",
        "more (-o json lists all)",
    ):
        check("the text has " + word, word in text, text[-1500:])


def test_chart():
    path = scratch("upgrade.svg")
    check_equal("status", schedsim("compare", *DEMO, *LADDER, "--svg", path)[0], 0)
    texts = [e.text for e in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    for a, b in zip(RELEASES, RELEASES[1:]):
        check("a bar of %s" % b, "%s \u2192 %s" % (a, b) in texts, texts)
    for s in steps(*DEMO):
        check("the number of pods of %s" % s["to"], str(s["pods"]) in texts, texts)
    if shutil.which("rsvg-convert"):
        subprocess.run(["rsvg-convert", "-o", scratch("upgrade.png"), path], check=True)


def test_what_hurts_comes_first():
    # Two pods with one number on other protocols share a node from 1.9 on; an overcommitted node takes what asks for
    # nothing of it from 1.29 on.
    udp = pod("udp", on="n1", port=80)
    udp["spec"]["containers"][0]["ports"][0]["protocol"] = "UDP"
    full = [
        node("full", cpu="1"),
        pod("a", on="full", cpu="2"),
        pod("light", cpu=None, nodeSelector={"kubernetes.io/hostname": "full"}),
    ]
    light = full[2]["spec"]["containers"][0]
    light["resources"] = {"requests": {"memory": "1Mi"}}
    found = {
        s["to"]: s
        for s in steps(
            write_objects(
                "c.json", [node("n1"), udp, pod("tcp", port=80, nodeSelector={"kubernetes.io/hostname": "n1"}), *full]
            )
        )
    }
    check_equal(
        "1.9 places the port",
        [(d["pod"], d["change"]) for d in found["1.9"]["differences"]],
        [("default/tcp", "newly fits")],
    )
    check(
        "by its rule",
        found["1.9"]["differences"][0]["rule"] in ("GeneralPredicates", "PodFitsHostPorts"),
        found["1.9"]["differences"],
    )
    check_equal(
        "1.29 overlooks what is not requested",
        [(d["pod"], d["rule"]) for d in found["1.29"]["differences"]],
        [("default/light", "NodeResourcesFit")],
    )


harness.main(globals())
