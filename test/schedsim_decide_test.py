#!/usr/bin/env python3
"""Tests schedsim compare, capacity and tune on generated clusters: their figures equal those of schedsim run."""
import csv
import functools
import io
import itertools
import json
import os
import xml.etree.ElementTree as xml

import harness
from harness import ROOT, scratch, write_file, write_objects

OPENB = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")

node = functools.partial(harness.node, zone="a")
pod = functools.partial(harness.pod, memory="64Mi", namespace="ns")


def schedsim(*words):
    """Returns what schedsim prints."""
    code, out, err = harness.schedsim(*words)
    assert code == 0, (words, err)
    return out


def policy(name, priority):
    return write_file(
        name + ".json", {"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": priority, "weight": 1}]}
    )


def placements(objects, *flags):
    """Returns the node of each pending pod by its name, or "-"."""
    file = write_objects("placed.json", objects)
    return dict(line.split() for line in schedsim("run", file, "-o", "placements", *flags).splitlines())


def pending(objects):
    return list(placements(objects).values()).count("-")


def new_nodes(template, count):
    """Returns the nodes that capacity adds for a template."""
    names = ["%s-new-%d" % (template["metadata"]["name"], i + 1) for i in range(count)]
    return [
        {**template, "metadata": {"name": n, "labels": {**template["metadata"]["labels"], "kubernetes.io/hostname": n}}}
        for n in names
    ]


def answer(objects, *flags):
    """Returns the only answer of capacity."""
    (found,) = json.loads(schedsim("capacity", write_objects("asked.json", objects), *flags, "-o", "json"))["answers"]
    return found


def test_compare():
    requests = [300 + 170 * (i % 7) for i in range(40)]
    objects = [node("n%d" % i, zone="ab"[i % 2], cpu=str(2 + i % 3)) for i in range(8)]
    objects += [pod("p%02d" % i, "%dm" % request) for i, request in enumerate(requests)]
    file, svg = write_objects("cluster.json", objects), scratch("load.svg")
    pack, even = policy("pack", "MostRequestedPriority"), policy("even", "LeastRequestedPriority")
    flags = ["--policy", pack, "--algorithm-provider", "DefaultProvider", "--policy", even]
    out = schedsim("compare", file, *flags, "-o", "csv", "--svg", svg)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [r["policy"] for r in rows] == ["pack", "DefaultProvider", "even"]
    ways = ["--policy-config-file", pack], [], ["--policy-config-file", even]
    first = placements(objects, *ways[0])
    for r, way in zip(rows, ways):
        hosts = placements(objects, *way)
        used = sum(request for request, h in zip(requests, hosts.values()) if h != "-")
        assert int(r["pending"]) == list(hosts.values()).count("-"), r["policy"]
        assert int(r["placed"]) == len(hosts) - int(r["pending"]), r["policy"]
        assert int(r["moves"]) == sum(hosts[p] != first[p] for p in hosts), r["policy"]
        assert int(r["nodes_in_use"]) == len(set(hosts.values()) - {"-"}), r["policy"]
        assert 0 < int(r["compaction"]) <= int(r["nodes_in_use"]), r["policy"]
        assert abs(float(r["alloc_cpu"]) - used / (1000 * sum(2 + i % 3 for i in range(8)))) < 1e-5, r["policy"]
        assert all(0 <= float(v) <= 1 for k, v in r.items() if k.startswith(("alloc_", "frag_"))), "shares"
    assert schedsim("compare", file, *flags, "-o", "csv") == out, "again, the same bytes"
    data = json.loads(schedsim("compare", file, *flags, "-o", "json"))
    assert [str(p["placed"]) for p in data["policies"]] == [r["placed"] for r in rows], "JSON agrees"
    assert data.get("differences", []) == [], "no pod is listed without --changes"
    data = json.loads(schedsim("compare", file, *flags, "--changes=2", "-o", "json"))
    for p in data["policies"][1:]:
        moves = [x for x in data["differences"] if x["policy"] == p["policy"]]
        assert len(moves) == p["moves"] and all(x["before"] != x["after"] for x in moves), "each move is listed"
    lines = [e for e in xml.parse(svg).iter() if e.tag.endswith("polyline")]
    assert [len(e.get("points").split()) for e in lines] == [40] * 6, "two panels with a line a policy, a point a pod"


def test_capacity_by_zone():
    """The quantiles are those of the counts by node, and a mix of pods fills the cluster as run does."""
    cluster = [node("n%d" % i, zone="ab"[i % 2], cpu=str(2 + i % 3)) for i in range(6)]
    web, db = (write_file(name + ".json", pod(name, cpu)) for name, cpu in (("web", "300m"), ("db", "900m")))
    a = answer(cluster, "--pod-spec", write_file("x.json", pod("x", "700m")))
    groups = {g["value"]: g for g in a["groups"]}
    assert sum(g["replicas"] for g in groups.values()) == a["replicas"] == sum(a["nodes"].values())
    for zone, names in {"a": ["n0", "n2", "n4"], "b": ["n1", "n3", "n5"]}.items():
        low, middle, high = sorted(a["nodes"].get(n, 0) for n in names)
        assert groups[zone]["quantiles"] == [low, low, middle, middle, high], zone
    a = answer(cluster, "--pod-spec", web + "=3", "--pod-spec", db + "=1")
    order = [pod("p%d" % i, "900m" if i % 4 == 3 else "300m") for i in range(60)]
    fit = list(placements(cluster + order).values()).index("-")
    assert (sum(p["replicas"] for p in a["pods"]), a["rounds"]) == (fit, fit // 4)


def test_new_nodes():
    """As many nodes as capacity says are enough, and one fewer is not."""
    cluster = [node("n%d" % i, cpu=str(2 + i % 3)) for i in range(6)]
    waiting = [pod("w%02d" % i, "%dm" % (600 + 100 * (i % 9))) for i in range(40)]
    spec = write_file("y.json", pod("y", "1500m"))
    for objects, flags, extra in (
        (cluster + waiting, [], []),
        (cluster, ["--pod-spec", spec, "--replicas", "20"], [pod("y-%d" % (i + 1), "1500m") for i in range(20)]),
    ):
        a = answer(objects, "--add-node", "n1", *flags)
        enough, one_fewer = (pending(objects + new_nodes(cluster[1], a["nodes"] - n) + extra) for n in (0, 1))
        assert a["enough"] and a["nodes"] > 0 and enough == 0, flags
        assert a["pendingWithOneFewer"] == one_fewer > 0, flags
        assert a["pendingWithout"] == pending(objects + extra), flags


def test_mix():
    """Several templates with prices give a mix that is enough, and none below the bound is."""
    templates = [node("small", cpu="4"), node("big", cpu="16", labels={"disk": "ssd"})]
    small, big = (write_file(t["metadata"]["name"] + ".json", t) for t in templates)
    waiting = [pod("w%02d" % i, "1500m") for i in range(20)]
    waiting += [pod("s%d" % i, "6", nodeSelector={"disk": "ssd"}) for i in range(3)]
    objects = [node("n0", cpu="1"), *waiting]

    def pending_with(counts):
        return pending(objects + sum(map(new_nodes, templates, counts), []))

    for prices in (0.2, 0.35), (0.1, 0.5), (1, 3.9):
        a = answer(objects, "--add-node", "%s=%s" % (small, prices[0]), "--add-node", "%s=%s" % (big, prices[1]))
        counts = [m["nodes"] for m in a["mix"]]
        cost = sum(n * p for n, p in zip(counts, prices))
        assert a["enough"] and pending_with(counts) == 0, counts
        assert abs(a["price"] - cost) < 1e-6 and a["bound"] <= a["price"] + 1e-6, counts
        for fewer in itertools.product(range(14), range(6)):
            if sum(n * p for n, p in zip(fewer, prices)) < a["bound"] - 1e-6:
                assert pending_with(fewer) > 0, (fewer, a)


def test_tune():
    flags = ["tune", OPENB, "--objective", "pending", "--budget", "60", "--seed", "3", "-o", "json"]
    folder = scratch("tuned")
    os.makedirs(folder)
    out = schedsim(*flags, "--out", folder)
    front = [json.loads(line) for line in out.splitlines()]
    best = front[0]
    assert best["placed"] >= 8105 and best["default"]["placed"] == 7948, "at least 8,105 placed"
    assert all({"fragmentation", "imbalance", "nodesInUse"} <= set(t) for t in front), "what it costs stands beside it"
    assert all("placed" in t["heldBack"] for t in front), "and how it does on pods that it did not see"
    assert sorted(os.listdir(folder)) == sorted(t["name"] + ".json" for t in front), "a file each"
    rows = schedsim("compare", OPENB, "--policy", os.path.join(folder, best["name"] + ".json"), "-o", "csv")
    assert int(list(csv.DictReader(io.StringIO(rows)))[1]["placed"]) == best["placed"], "compare agrees"
    keys = ("pending", "fragmentation", "nodesInUse", "imbalance")
    for a, b in itertools.permutations(front, 2):
        assert any(a[k] < b[k] for k in keys), "none dominates another"
    assert schedsim(*flags) == out, "equal seeds, equal bytes"


harness.main(globals())
