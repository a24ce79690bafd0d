#!/usr/bin/env python3
"""Tests that each Policy in policies/ is valid, has its section in the README, and does what that says on small
clusters."""
import csv
import glob
import io
import json
import os

import harness
from harness import ROOT, items, node, schedsim

POLICIES = os.path.join(ROOT, "policies")
NODES = [node("n%d" % i, memory="16Gi", zone="z%d" % (i % 3), allocatable={"example.com/gpu": "0"}) for i in range(6)]


def pod(name, cpu="500m", **more):
    return harness.pod(name, cpu, memory="1Gi", **more)


def hosts(policy, nodes, pods, others=()):
    """Returns the node of each pod, in order."""
    flags = (
        ["--algorithm-provider=" + policy]
        if not policy.endswith(".json")
        else ["--policy-config-file=" + os.path.join(POLICIES, policy)]
    )
    status, out, err = schedsim("run", "-", "-o", "placements", *flags, feed=items(*nodes, *others, *pods))
    assert status == 0, ("%s runs" % policy, err)
    return [line.split()[1] for line in out.splitlines()]


def report(policy):
    status, out, err = schedsim("check-policy", os.path.join(POLICIES, policy), "-o", "json")
    assert status == 0, ("%s is good" % policy, out + err)
    return json.loads(out)


def texts():
    """Returns the names of the Policy files, and their README."""
    with open(os.path.join(POLICIES, "README.md")) as f:
        return sorted(os.path.basename(f) for f in glob.glob(os.path.join(POLICIES, "*.json"))), f.read()


def test_files():
    files, readme = texts()
    assert len(files) >= 5, "there are policies"
    reports = {}
    for f in files:
        reports[f] = report(f)
    for f in files:
        assert "\n## %s\n" % f in readme, "%s has a section" % f
        assert not reports[f]["warnings"], ("%s has no warnings" % f, reports[f]["warnings"])
        assert not reports[f]["mandatoryAdded"], "%s adds no mandatory predicate" % f
        assert reports[f]["predicates"] == reports["default-provider.json"]["predicates"], (
            "%s has the default predicates" % f
        )


def test_default_provider():
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}},
    }
    web = [pod("web-%d" % i, labels={"app": "web"}) for i in range(9)]
    mixed = web + [pod("one-%d" % i, cpu="%dm" % (100 + 150 * i)) for i in range(8)]

    # The Policy that is written out decides as the provider does.
    assert hosts("default-provider.json", NODES, mixed, [service]) == hosts(
        "DefaultProvider", NODES, mixed, [service]
    ), "default-provider.json equals DefaultProvider"


def test_gpu_nodes():
    # Pods that need no GPU stay away from the GPU node until nothing else is left.
    gpus = [node("gpu-1", cpu="16", labels={"gpu-model": "v100"}), node("plain-1"), node("plain-2")]
    where = hosts("gpu-allocation.json", gpus, [pod("p%d" % i) for i in range(18)])
    assert where[:16].count("gpu-1") == 0 and where[16:] == ["gpu-1", "gpu-1"], "GPU nodes are filled last"
    for f in ("most-pods.json", "least-fragmentation.json"):
        where = hosts(f, gpus, [pod("p%d" % i) for i in range(4)])
        assert "gpu-1" not in where, "%s keeps GPU nodes free" % f


def test_figures():
    # The figures in the README are those of compare for the trace, and each policy is better than the default in some
    # respect.
    trace = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")
    files, readme = texts()
    _, out, _ = schedsim(
        "compare",
        trace,
        *[w for f in files for w in ("--policy", os.path.join(POLICIES, f))],
        "--algorithm-provider",
        "ClusterAutoscalerProvider",
        "-o",
        "csv"
    )
    rows = {r["policy"]: r for r in csv.DictReader(io.StringIO(out))}
    table = {
        line.split("|")[1]
        .split("=")[-1]
        .strip(" `")
        .replace(".json", ""): [c.strip(" *").replace(",", "") for c in line.split("|")[2:-1]]
        for line in readme.splitlines()
        if line.startswith("|") and "`" in line
    }
    assert set(table) == set(rows), ("a line for each policy", set(table), set(rows))
    better = {
        "placed": 1,
        "alloc_example_com_gpu_milli": 1,
        "frag_example_com_gpu_milli": -1,
        "imbalance": -1,
        "nodes_in_use": -1,
    }
    for name, r in rows.items():
        said = (
            [r["placed"], r["pending"]]
            + ["%.1f %%" % (100 * float(r[k])) for k in list(better)[1:4]]
            + [r["nodes_in_use"]]
        )
        assert table.get(name) == said, ("the figures of %s" % name, table.get(name), said)
        if name != "default-provider":
            assert any(sign * (float(r[k]) - float(rows["default-provider"][k])) > 0 for k, sign in better.items()), (
                "%s is better at something" % name
            )


def test_extender():
    extended = json.loads(schedsim("check", os.path.join(ROOT, "plugin/examples/with-extender.json"), "-o", "json")[1])[
        "extenders"
    ]
    assert len(extended) == 1 and len(extended[0]["verbs"]) == 2, "with-extender.json has one extender"
    # The extender is called only for pods with its resource; others are placed although nothing listens there.
    assert hosts("../plugin/examples/with-extender.json", NODES, [pod("p")]) != [
        "-"
    ], "pods without the resource are not the extender's"


harness.main(globals())
