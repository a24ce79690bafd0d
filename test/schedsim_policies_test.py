#!/usr/bin/env python3
"""Tests that each Policy in policies/ is valid, has its section in the README, and does what that says on small
clusters."""
import csv
import glob
import io
import json
import os

import harness
from harness import ROOT, check, items, node, schedsim

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
    check("%s runs" % policy, status == 0, err)
    return [line.split()[1] for line in out.splitlines()]


def report(policy):
    status, out, err = schedsim("check-policy", os.path.join(POLICIES, policy), "-o", "json")
    check("%s is good" % policy, status == 0, out + err)
    return json.loads(out)


def texts():
    """Returns the names of the Policy files, and their README."""
    with open(os.path.join(POLICIES, "README.md")) as f:
        return sorted(os.path.basename(f) for f in glob.glob(os.path.join(POLICIES, "*.json"))), f.read()


def test_files():
    files, readme = texts()
    check("there are policies", len(files) >= 5, files)
    reports = {}
    for f in files:
        reports[f] = report(f)
    for f in files:
        check("%s has a section" % f, "\n## %s\n" % f in readme)
        check("%s has no warnings" % f, not reports[f]["warnings"], reports[f]["warnings"])
        check("%s adds no mandatory predicate" % f, not reports[f]["mandatoryAdded"])
        check(
            "%s has the default predicates" % f,
            reports[f]["predicates"] == reports["default-provider.json"]["predicates"],
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
    check(
        "default-provider.json equals DefaultProvider",
        hosts("default-provider.json", NODES, mixed, [service]) == hosts("DefaultProvider", NODES, mixed, [service]),
    )


def test_gpu_nodes():
    # Pods that need no GPU stay away from the GPU node until nothing else is left.
    gpus = [node("gpu-1", cpu="16", labels={"gpu-model": "v100"}), node("plain-1"), node("plain-2")]
    where = hosts("gpu-allocation.json", gpus, [pod("p%d" % i) for i in range(18)])
    check("GPU nodes are filled last", where[:16].count("gpu-1") == 0 and where[16:] == ["gpu-1", "gpu-1"], where)
    for f in ("most-pods.json", "least-fragmentation.json"):
        where = hosts(f, gpus, [pod("p%d" % i) for i in range(4)])
        check("%s keeps GPU nodes free" % f, "gpu-1" not in where, where)


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
    check("a line for each policy", set(table) == set(rows), (set(table), set(rows)))
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
        check("the figures of %s" % name, table.get(name) == said, (table.get(name), said))
        if name != "default-provider":
            check(
                "%s is better at something" % name,
                any(sign * (float(r[k]) - float(rows["default-provider"][k])) > 0 for k, sign in better.items()),
                r,
            )


def test_extender():
    extended = json.loads(schedsim("check", os.path.join(ROOT, "plugin/examples/with-extender.json"), "-o", "json")[1])[
        "extenders"
    ]
    check("with-extender.json has one extender", len(extended) == 1 and len(extended[0]["verbs"]) == 2, extended)
    # The extender is called only for pods with its resource; others are placed although nothing listens there.
    check(
        "pods without the resource are not the extender's",
        hosts("../plugin/examples/with-extender.json", NODES, [pod("p")]) != ["-"],
    )


harness.main(globals())
