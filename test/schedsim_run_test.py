#!/usr/bin/env python3
"""Tests schedsim run: all formats show the same decisions, nothing in the input is ignored silently, and output is
written as decisions are made."""
import csv
import functools
import io
import json
import os
import subprocess
import tempfile

import harness
from harness import ROOT, items, schedsim

SCHEDSIM = os.path.join(harness.BIN, "schedsim")
DEMO = os.path.join(ROOT, "test/testdata/demo")
node = functools.partial(harness.node, zone="a")


def pod(name="p1", cpu="1", **more):
    return harness.pod(name, cpu, namespace="ns", **more)


CLUSTER = items(node("n1"), node("n2", zone="b"), *[pod("p%d" % i) for i in range(10)])


def test_formats_agree():
    _, text, _ = schedsim("run", "-", "-o", "placements", feed=CLUSTER)
    placements = [line.split() for line in text.splitlines()]
    assert sum(h == "-" for _, h in placements) == 2, ("two pods do not fit", text)
    hosts = {p: "" if h == "-" else h for p, h in placements}
    decisions = json.loads(schedsim("run", "-", "-o", "json", feed=CLUSTER)[1])["decisions"]
    assert {d["pod"]: d["host"] for d in decisions} == hosts, "json"
    lines = [json.loads(line) for line in schedsim("run", "-", "-o", "jsonl", feed=CLUSTER)[1].splitlines()]
    assert lines == decisions, "jsonl is json, a decision a line"
    rows = list(csv.DictReader(io.StringIO(schedsim("run", "-", "-o", "csv", feed=CLUSTER)[1])))
    assert {r["namespace"] + "/" + r["name"]: r["node"] for r in rows} == hosts, "csv"
    assert rows[-1]["error"] == decisions[-1]["error"] and "," not in rows[0]["error"], (
        "csv has the error whole",
        rows[-1],
    )
    for o in "table", "wide":
        out = schedsim("run", "-", "-o", o, feed=CLUSTER)[1]
        assert all(any(line.startswith(p + " ") for line in out.splitlines()) for p in hosts), o + " lists every pod"
        assert "8 of 10 pods placed" in out, o + " counts"
    out = schedsim("run", "-", "-o", "summary", feed=CLUSTER)[1]
    assert "ns/p0" not in out and out.startswith("8 of 10 pods placed\n"), "the summary lists no pod that was placed"
    assert (
        "2         pods of ns without a controller   0/2 nodes are available: 2 Insufficient cpu." in out
    ), "the summary has reason and owner"
    assert (
        "b              1       100.0%" in out and "all            2       100.0%" in out
    ), "the summary has use by zone"


def test_ties():
    """--ties says which of several best nodes is taken; equal seeds give equal results."""
    alike = items(*[node("n%d" % i) for i in range(5)], *[pod("p%d" % i, "100m") for i in range(20)])

    def hosts(*flags):
        code, out, err = schedsim("run", "-", "-o", "placements", *flags, feed=alike)
        assert code == 0, ("ties %s" % (flags,), err)
        return [line.split()[1] for line in out.splitlines()]

    for release in "1.10", "1.13", "1.29":
        flag = "--emulated-version=" + release
        turn, first = hosts(flag), hosts(flag, "--ties=first")
        assert turn == hosts(flag, "--ties", "turn"), "turn is the default"
        assert hosts(flag, "--ties=random:7") == hosts(flag, "--ties=random:7") != hosts(flag, "--ties=random:8"), (
            "random by seed",
            release,
        )
        # Each pod goes to the first of the tied nodes of the decision, which the reference scheduler names.
        code, out, _ = schedsim("run", "-", "-o", "json", "--ties=first", "--check-decisions", flag, feed=alike)
        decisions = json.loads(out)["decisions"]
        if "ties" in decisions[0]:
            assert all(d["host"] == d["ties"][0] for d in decisions if d.get("ties")), (
                "the first of the tied",
                decisions[:2],
            )
        assert first != turn and code == 0, "first differs from turn"
    out = schedsim("explain", "-", "--pod", "ns/p0", "--ties=first", feed=alike)[1]
    assert "number 1 of 5 nodes with the highest total" in out and "--ties first" in out, "explain says how"
    for bad in "last", "random", "random:x", "random:-1":
        code, _, err = schedsim("run", "-", "--ties", bad, feed=alike)
        assert code == 2 and "must be turn, first or random:SEED" in err, "--ties %s is refused" % bad


def test_summary_by_decisive_reason():
    """The reason that decides comes first, and what mending nodes would do is tried out."""
    cluster = [node("n%d" % i, cpu="1") for i in range(3)] + [node("c%d" % i, unschedulable=True) for i in range(4)]
    full = [pod("b%d" % i, "1", on="n%d" % i) for i in range(3)]
    waits = [pod("w%d" % i, "1") for i in range(6)] + [pod("big%d" % i, "64") for i in range(9)]
    out = " ".join(schedsim("run", "-", "-o", "summary", feed=items(*cluster, *full, *waits))[1].split())
    assert "REASON THAT DECIDES 15 Insufficient cpu" in out, "cpu decides, though most nodes are cordoned"
    assert "uncordoning 4 nodes places 6 of 15" in out, "uncordoning is counted"


def test_detail():
    def decisions(detail):
        code, out, err = schedsim("run", "-", "-o", "json", "--detail", detail, feed=CLUSTER)
        assert code == 0, ("--detail " + detail, err)
        return json.loads(out)["decisions"]

    whole = decisions("all")

    def strip(d, *keys):
        return {k: v for k, v in d.items() if k not in keys}

    assert decisions("none") == [strip(d, "failures", "scores", "totals") for d in whole], "none"
    assert decisions("pending") == [
        strip(d, "scores", "totals", *([] if d["host"] == "" else ["failures"])) for d in whole
    ], "pending"
    top = decisions("top=1")
    assert all(list(d["totals"]) == [d["host"]] for d in top if "totals" in d), ("top=1 has the winner", top[:3])
    assert all(
        d["totals"][d["host"]] == w["totals"][d["host"]] for d, w in zip(top, whole) if "totals" in d
    ), "top=1 has its score"
    for bad in "some", "top=0", "top=x", "top":
        code, out, err = schedsim("run", "-", "-o", "json", "--detail", bad, feed=CLUSTER)
        assert code == 2 and "should be none, pending, top=N or all" in err, "--detail %s is refused" % bad


def test_streaming():
    """Tests that 2 GB of JSON about a production trace need little memory."""
    trace = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")
    run = subprocess.run(
        [SCHEDSIM, "run", trace, "-o", "json", "--stats"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    peak = json.loads(run.stderr)["peakRSSBytes"]
    assert run.returncode == 0 and peak < 200 << 20, "under 200 MiB"


def test_width():
    long = items(node("n-" + "x" * 200), pod("p-" + "y" * 200), pod("q-" + "z" * 100, "100"))
    for width in 40, 80, 120:
        for o in "table", "summary":
            out = schedsim("run", "-", "-o", o, feed=long, env={"COLUMNS": str(width)})[1]
            widest = max(len(line) for line in out.splitlines())
            assert widest <= width, ("COLUMNS=%d -o %s" % (width, o), out)
    out = schedsim("run", "-", "-o", "wide", feed=long, env={"COLUMNS": "80"})[1]
    assert "n-" + "x" * 200 in out and "y" * 200 in out, "-o wide cuts nothing"
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    out = subprocess.run([SCHEDSIM, "run", "-"], input=json.dumps(long), capture_output=True, text=True, env=env).stdout
    assert (
        "n-" + "x" * 200 in out and "0/1 nodes are available: 1 Insufficient cpu." in out
    ), "into a pipe nothing is cut"


def test_places():
    """Errors name file, line and column of the value; an error about a duplicate names both places."""
    with tempfile.TemporaryDirectory() as d:

        def file(name, text):
            with open(os.path.join(d, name), "w") as f:
                f.write(text)
            return os.path.join(d, name)

        good = file(
            "good.yaml",
            "# nodes\napiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n---\napiVersion: v1\nkind: Node\n"
            "metadata: {name: n2}\n",
        )
        bad = file(
            "bad.yaml",
            "apiVersion: v1\nkind: Node\nmetadata: {name: n3}\n---\napiVersion: v1\nkind: Pod\n"
            "metadata: {name: p}\nspec:\n"
            "  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: 1x\n",
        )
        code, _, err = schedsim("run", good, bad)
        assert (
            code == 1
            and bad + ": line 13, column 14: Pod \"p\": spec.containers[0].resources.requests.cpu: \"1x\"" in err
        ), "YAML has the line of the value"
        pretty = file("bad.json", json.dumps(items(node("n1"), pod("p", cpu="1x")), indent=1))
        line = 1 + open(pretty).read().split('"1x"')[0].count("\n")
        code, _, err = schedsim("run", pretty)
        assert code == 1 and "%s: line %d, column " % (pretty, line) in err, "JSON has the line of the value"
        code, _, err = schedsim(
            "run", good, file("again.yaml", "\n\n\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\n")
        )
        assert (
            code == 1 and 'Node "n2" is there twice: %s:7 and %s/again.yaml:4' % (good, d) in err
        ), "a double names both files"


def test_later_fields():
    """Release 1.10 does not place what the daemon does not place, and a Policy may have rules of later releases."""
    spread = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "a"}},
            }
        ]
    }

    def with_spec(name, **spec):
        p = pod(name)
        p["metadata"]["labels"] = {"app": "a"}
        p["spec"].update(spec)
        return p

    nodes = []
    for i, zone in enumerate("aab"):
        nodes.append(node("n%d" % i))
        nodes[-1]["metadata"]["labels"] = {"zone": zone, "kubernetes.io/hostname": "n%d" % i}
    feed = items(
        *nodes, *[with_spec("p%d" % i, **spread) for i in range(4)], with_spec("gated", schedulingGates=[{"name": "x"}])
    )

    def hosts(*flags):
        code, out, err = schedsim("run", "-", "-o", "jsonl", *flags, feed=feed)
        assert code == 0, ("run", err)
        return {d["pod"][3:]: d for d in map(json.loads, out.splitlines())}

    of = hosts()
    assert "DoNotSchedule" in of["p0"]["error"] and "--ignore-unknown-fields" in of["p0"]["error"], "spread waits"
    assert of["gated"]["error"] == "waiting for scheduling gates: [x]", "gated"
    of = hosts("--ignore-unknown-fields")
    assert all(d["host"] for d in of.values()), "ignored"
    names = [
        "GeneralPredicates",
        "EvenPodsSpread",
        "MaxCSIVolumeCountPred",
        "MaxCinderVolumeCount",
        "CheckNodePIDPressure",
        "CheckNodeUnschedulable",
    ]
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": n} for n in names],
        "priorities": [
            {"name": "EvenPodsSpreadPriority", "weight": 1},
            {"name": "LeastRequestedPriority", "weight": 1},
        ],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(policy, f)
        f.flush()
        of = hosts("--policy-config-file", f.name, "--check-decisions")
        assert sorted(of["p%d" % i]["host"] == "n2" for i in range(4)) == [False, False, True, True], "two in each zone"
        out = schedsim("check", f.name)[1]
        assert all(n in out for n in names), "check knows the names"


def workload(kind, name, replicas, group="apps/v1", **spec):
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]},
    }
    spec = dict({"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}, **spec)
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ns", "uid": kind + name},
        "spec": spec,
    }


def test_the_demo_is_expanded():
    code, out, _ = schedsim("run", os.path.join(DEMO, "nodes.yaml"), os.path.join(DEMO, "apps.yaml"), "-o", "summary")
    assert code == 0 and out.startswith("1528 of 1537 pods placed\n"), out


harness.main(globals())
