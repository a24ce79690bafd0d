#!/usr/bin/env python3
"""Tests schedsim compare, tune, what-if and capacity --add-node: their figures equal those of schedsim run."""
import copy
import csv
import functools
import io
import json
import os
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml

import harness
from harness import ROOT, items, schedsim

OPENB = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")


node = functools.partial(harness.node, zone="a")


def pod(name, cpu="1", **more):
    return harness.pod(name, cpu, memory="64Mi", namespace="ns", **more)


def policy(folder, name, **weights):
    path = os.path.join(folder, name + ".json")
    with open(path, "w") as f:
        json.dump(
            {
                "kind": "Policy",
                "apiVersion": "v1",
                "priorities": [{"name": n, "weight": w} for n, w in weights.items()],
            },
            f,
        )
    return path


def placements(feed, *flags):
    code, out, err = schedsim("run", "-", "-o", "placements", *flags, feed=feed)
    assert code == 0, ("run", err)
    return dict(line.split() for line in out.splitlines())


CLUSTER = items(
    *[node("n%d" % i, zone="ab"[i % 2], cpu=str(2 + i % 3)) for i in range(8)],
    *[pod("p%02d" % i, "%dm" % (300 + 170 * (i % 7))) for i in range(40)]
)


def test_compare():
    with tempfile.TemporaryDirectory() as d:
        pack, even = policy(d, "pack", MostRequestedPriority=1), policy(d, "even", LeastRequestedPriority=1)
        svg = os.path.join(d, "load.svg")
        flags = ["--policy", pack, "--algorithm-provider", "DefaultProvider", "--policy", even]
        code, out, err = schedsim("compare", "-", *flags, "-o", "csv", "--svg", svg, feed=CLUSTER)
        rows = list(csv.DictReader(io.StringIO(out)))
        assert code == 0 and [r["policy"] for r in rows] == ["pack", "DefaultProvider", "even"], (
            "a line a policy, in order",
            out,
            err,
        )
        first = placements(CLUSTER, "--policy-config-file", pack)
        for r, how in zip(rows, (["--policy-config-file", pack], [], ["--policy-config-file", even])):
            hosts = placements(CLUSTER, *how)
            placed = sum(h != "-" for h in hosts.values())
            assert (int(r["placed"]), int(r["pending"])) == (placed, len(hosts) - placed), (
                "placed as run does: " + r["policy"]
            )
            assert int(r["moves"]) == sum(hosts[p] != first[p] for p in hosts), "moves"
            assert int(r["nodes_in_use"]) == len(set(hosts.values()) - {"-"}), "nodes in use"
            assert 0 < int(r["compaction"]) <= int(r["nodes_in_use"]), "compaction"
            used = sum(300 + 170 * (int(p[4:]) % 7) for p, h in hosts.items() if h != "-")
            total = 1000 * sum(2 + i % 3 for i in range(8))
            assert abs(float(r["alloc_cpu"]) - used / total) < 1e-5, "allocation"
            assert all(0 <= float(v) <= 1 for k, v in r.items() if k.startswith(("alloc_", "frag_"))), "shares"
        assert schedsim("compare", "-", *flags, "-o", "csv", feed=CLUSTER)[1] == out, "again, the same bytes"
        data = json.loads(schedsim("compare", "-", *flags, "-o", "json", feed=CLUSTER)[1])
        assert [str(p["placed"]) for p in data["policies"]] == [r["placed"] for r in rows], "json agrees"
        lines = [e for e in xml.parse(svg).iter() if e.tag.endswith("polyline")]
        assert len(lines) == 6 and all(len(e.get("points").split()) == 40 for e in lines), (
            "two panels with a line a policy",
            len(lines),
        )
        code, out, _ = schedsim("compare", "-", "--policy", even, "-o", "csv", feed=CLUSTER)
        assert [r["policy"] for r in csv.DictReader(io.StringIO(out))] == [
            "DefaultProvider",
            "even",
        ], "one alone is compared with the default"
        out = schedsim("compare", "-", *flags, feed=CLUSTER, env={"COLUMNS": "80"})[1]
        assert max(len(line) for line in out.splitlines()) <= 80, "80 columns"
        heading = next(line for line in out.splitlines() if line.startswith("POLICY") and "MOVES" in line)
        assert len(heading) <= 80, "the heading is one line of 80 columns"
        listed = data.get("differences", [])
        assert listed == [], "no pod is listed without --changes"
        moves = json.loads(schedsim("compare", "-", *flags, "--changes=2", "-o", "json", feed=CLUSTER)[1])
        for p in moves["policies"][1:]:
            of = [x for x in moves["differences"] if x["policy"] == p["policy"]]
            assert len(of) == p["moves"] and all(x["before"] != x["after"] for x in of), "each move is listed"
        out = schedsim("compare", "-", *flags, "--changes=2", feed=CLUSTER)[1]
        assert "RULE THAT MADE THE DIFFERENCE" in out and " more (-o json lists all)" in out, "changes in the table"
        out = schedsim("compare", "-", *flags, "-o", "wide", feed=CLUSTER, env={"COLUMNS": "80"})[1]
        assert (
            "ALLOC / FRAG" in out and "memory" in out.split("ALLOC / FRAG")[1].splitlines()[0]
        ), "wide has every resource"
        assert schedsim("compare", "-", *flags, "--changes=-1", feed=CLUSTER)[0] == 2, "--changes below 0"
        configuration = os.path.join(ROOT, "test/testdata/demo/scheduler-configuration.yaml")
        out = schedsim("compare", "-", "--config", configuration, "-o", "csv", feed=CLUSTER)[1]
        assert [r["policy"] for r in csv.DictReader(io.StringIO(out))] == [
            "1.29",
            "scheduler-configuration",
        ], "a configuration alone is compared with its release"
        code, out, err = schedsim(
            "compare", "-", "--policy", policy(d, "bad", NoSuchPriority=1), "-o", "csv", feed=CLUSTER
        )
        assert code == 1 and "bad" in err and "NoSuchPriority" in err, "a bad policy is named"
    assert schedsim("compare", "-", feed=CLUSTER)[0] == 2, "nothing to compare"


def test_capacity():
    """Tests capacity by group, for a mix of pods, and for missing nodes; each claim is tried out with run."""
    cluster = [
        node("n%d" % i, zone="ab"[i % 2], cpu=str(2 + i % 3), labels={"disk": "ssd" if i < 3 else "hdd"})
        for i in range(6)
    ]
    with tempfile.TemporaryDirectory() as d:

        def spec(name, *more, **kind):
            path = os.path.join(d, name + ".json")
            with open(path, "w") as f:
                json.dump(dict(pod(name, *more), **kind), f)
            return path

        def answer(*flags, objects=tuple(cluster)):
            code, out, err = schedsim("capacity", "-", *flags, "-o", "json", feed=items(*objects))
            assert code == 0, ("capacity %s" % (flags,), err)
            return json.loads(out)["answers"]

        (a,) = answer("--pod-spec", spec("x", "700m"))
        groups = {g["value"]: g for g in a["groups"]}
        assert set(groups) == {"a", "b"} and sum(g["replicas"] for g in groups.values()) == a["replicas"] == sum(
            a["nodes"].values()
        ), "by zone"
        for zone, names in ("a", ["n0", "n2", "n4"]), ("b", ["n1", "n3", "n5"]):
            counts = sorted(a["nodes"].get(n, 0) for n in names)
            assert groups[zone]["quantiles"] == [counts[0], counts[0], counts[1], counts[1], counts[2]], (
                "quantiles",
                groups[zone],
                counts,
            )
        groups = {g["value"]: g["nodes"] for g in answer("--pod-spec", spec("x", "700m"), "--by", "disk")[0]["groups"]}
        assert groups == {"ssd": 3, "hdd": 3}, "--by a label"
        out = schedsim("capacity", "-", "--pod-spec", spec("x", "700m"), feed=items(*cluster), env={"COLUMNS": "80"})[1]
        assert (
            "ZONE" in out and "MEDIAN" in out and "all " in out and max(map(len, out.splitlines())) <= 80
        ), "the table"

        (mix,) = answer("--pod-spec", spec("web", "300m") + "=3", "--pod-spec", spec("db", "900m") + "=1")
        order = []
        while len(order) < 60:
            order += [pod("web-%d" % len(order), "300m") for _ in range(1)] + [
                pod("web-%d" % (len(order) + 1), "300m"),
                pod("web-%d" % (len(order) + 2), "300m"),
                pod("db-%d" % len(order), "900m"),
            ]
        hosts = list(placements(items(*cluster, *order)).values())
        fit = hosts.index("-")
        assert sum(p["replicas"] for p in mix["pods"]) == fit and mix["rounds"] == fit // 4, (
            "a mix fills as run does",
            mix["rounds"],
            mix["pods"],
            fit,
        )

        waiting = [pod("w%02d" % i, "%dm" % (600 + 100 * (i % 9))) for i in range(40)]
        for flags, objects, extra in (
            (["--add-node", "n1"], cluster + waiting, []),
            (
                ["--add-node", "n1", "--pod-spec", spec("y", "1500m"), "--replicas", "20"],
                cluster,
                [pod("y-%d" % (i + 1), "1500m") for i in range(20)],
            ),
        ):
            (a,) = answer(*flags, objects=tuple(objects))

            def pending(more):
                new = []
                for i in range(more):
                    n = copy.deepcopy(cluster[1])
                    n["metadata"]["name"] = n["metadata"]["labels"]["kubernetes.io/hostname"] = "n1-new-%d" % (i + 1)
                    new.append(n)
                return sum(h == "-" for h in placements(items(*objects, *new, *extra)).values())

            assert a["enough"] and a["nodes"] > 0 and pending(a["nodes"]) == 0, "%d nodes are enough" % a["nodes"]
            assert pending(a["nodes"] - 1) == a["pendingWithOneFewer"] > 0, "one fewer is not"
            assert pending(0) == a["pendingWithout"], "and without any"
        (a,) = answer("--add-node", "n1", objects=tuple(cluster + [pod("huge", "64")]))
        assert (
            not a["enough"] and a["firstPending"] == "ns/huge" and "Insufficient cpu" in a["error"]
        ), "no number is enough for a pod that is too large"
        assert (
            a["cannotFit"] == [{"pod": "ns/huge", "pods": 1, "error": "Insufficient cpu"}] and a["nodes"] == 0
        ), "and it is named"
        (a,) = answer("--add-node", "n1", objects=tuple(cluster + waiting + [pod("huge", "64")]))
        assert (
            a["enoughForOthers"] and a["nodes"] > 0 and [c["pod"] for c in a["cannotFit"]] == ["ns/huge"]
        ), "the others are answered for"
        before = time.monotonic()
        (a,) = answer("--add-node", "n1", "--pod-spec", spec("never", "9"), "--replicas", "3000")
        assert (
            not a["enough"] and a["cannotFit"][0]["pods"] == 3000 and time.monotonic() - before < 20
        ), "what is impossible is answered at once"
        assert a["bound"] == 0 and a["nodes"] == 0, "below the bound no number is enough"
        (a,) = answer("--add-node", "n1", objects=tuple(cluster + [pod("p")]))
        assert a["enough"] and a["nodes"] == 0, "none is needed"
        big = os.path.join(d, "big.json")
        with open(big, "w") as f:
            json.dump(node("big", cpu="64"), f)
        (a,) = answer("--add-node", big, objects=tuple(cluster + [pod("huge", "63")]))
        assert a["enough"] and a["nodes"] == 1, "a template from a file"
        for flags, text, status in (
            (["--add-node", "nx"], "neither a file nor a node", 1),
            (["--pod-spec", big + "=x"], "should be FILE or FILE=RATIO", 2),
            (["--pod-spec", big + "=0"], "should be FILE or FILE=RATIO", 2),
            ([], "--pod-spec FILE is needed", 2),
        ):
            code, _, err = schedsim("capacity", "-", *flags, feed=items(*cluster))
            assert code == status and text in err, "%s is refused" % flags


def test_mix():
    """Several templates with prices give a mix that is enough, and none below the bound is."""
    with tempfile.TemporaryDirectory() as d:

        def template(name, **more):
            path = os.path.join(d, name + ".json")
            with open(path, "w") as f:
                json.dump(node(name, **more), f)
            return path

        small, big = template("small", cpu="4"), template("big", cpu="16", labels={"disk": "ssd"})
        cluster = [node("n0", cpu="1")]
        waiting = [pod("w%02d" % i, "1500m") for i in range(20)] + [
            pod("s%d" % i, "6", nodeSelector={"disk": "ssd"}) for i in range(3)
        ]

        def answer(*flags):
            code, out, err = schedsim("capacity", "-", *flags, "-o", "json", feed=items(*cluster, *waiting))
            assert code == 0, ("capacity %s" % (flags,), err)
            return json.loads(out)["answers"][0]

        def pending(counts):
            new = []
            for path, n in counts:
                with open(path) as f:
                    like = json.load(f)
                for i in range(n):
                    c = copy.deepcopy(like)
                    c["metadata"]["name"] = c["metadata"]["labels"]["kubernetes.io/hostname"] = "%s-new-%d" % (
                        like["metadata"]["name"],
                        i + 1,
                    )
                    new.append(c)
            return sum(h == "-" for h in placements(items(*cluster, *waiting, *new)).values())

        for prices in (0.2, 0.35), (0.1, 0.5), (1, 3.9):
            a = answer("--add-node", "%s=%s" % (small, prices[0]), "--add-node", "%s=%s" % (big, prices[1]))
            counts = [m["nodes"] for m in a["mix"]]

            def cost(counts):
                return sum(n * p for n, p in zip(counts, prices))

            assert a["enough"] and pending(zip((small, big), counts)) == 0, "the mix is enough"
            assert abs(a["price"] - cost(counts)) < 1e-6 and a["bound"] <= a["price"] + 1e-6, "its price"
            for s in range(0, 14):
                for b in range(0, 6):
                    if cost((s, b)) < a["bound"] - 1e-6:
                        assert pending(zip((small, big), (s, b))) > 0, ("no mix below the bound is enough", s, b, a)
        out = schedsim(
            "capacity",
            "-",
            "--add-node",
            small + "=0.2",
            "--add-node",
            big + "=0.35",
            "--svg",
            os.path.join(d, "x.svg"),
            feed=items(*cluster, *waiting),
        )[1]
        assert "They cost" in out and "No mix that is enough costs less than" in out, "in words"
        # Two pods of one host port on a node with room for both: no request asks for a node, and one is needed.
        ported = [
            dict(
                pod(n),
                spec={"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
            )
            for n in ("a", "b")
        ]
        out = schedsim(
            "capacity",
            "-",
            "--add-node",
            small + "=0.2",
            "--add-node",
            big + "=0.35",
            "-o",
            "json",
            feed=items(cluster[0], *ported),
        )[1]
        a = json.loads(out)["answers"][0]
        assert (a["price"], a["bound"]) == (0.2, 0.2), "a mix without a bound by requests costs a node at least"
        assert xml.parse(os.path.join(d, "x.svg")).getroot().tag.endswith("svg"), "a picture"
        for bad, text in (
            (["--add-node", small, "--add-node", big + "=1"], "a price for every TEMPLATE"),
            (["--add-node", small + "=0"], "PRICE a number above 0"),
            (["--add-node", small + "=x"], "PRICE a number above 0"),
        ):
            code, _, err = schedsim("capacity", "-", *bad, feed=items(*cluster))
            assert code == 2 and text in err, "%s is refused" % bad


def test_pictures_of_answers():
    """capacity, what-if and tune draw their answers as SVG that a renderer accepts."""
    with tempfile.TemporaryDirectory() as d:
        spec = os.path.join(d, "spec.json")
        with open(spec, "w") as f:
            json.dump(pod("x", "100m"), f)
        for name, command in (
            ("capacity", ["capacity", "-", "--pod-spec", spec]),
            ("what-if", ["what-if", "-", "--drain", "n1"]),
            ("tune", ["tune", "-", "--budget", "8"]),
        ):
            svg, png = os.path.join(d, name + ".svg"), os.path.join(d, name + ".png")
            code, _, err = schedsim(*command, "--svg", svg, feed=CLUSTER)
            assert code == 0, (name, err)
            run = subprocess.run(["rsvg-convert", svg, "-o", png], capture_output=True, text=True)
            assert run.returncode == 0 and not run.stderr and os.path.getsize(png) > 2000, (
                "rsvg-convert renders " + name
            )
            code, _, err = schedsim(*command, "--svg", "/nowhere/x.svg", feed=CLUSTER)
            assert code == 1 and "--svg: cannot write" in err, "a picture that cannot be written"


def test_picture():
    """--svg writes a picture that a renderer accepts, with something drawn on it."""
    with tempfile.TemporaryDirectory() as d:
        svg, png = os.path.join(d, "x.svg"), os.path.join(d, "x.png")
        schedsim("compare", "-", "--algorithm-provider", "ClusterAutoscalerProvider", "--svg", svg, feed=CLUSTER)
        run = subprocess.run(["rsvg-convert", svg, "-o", png], capture_output=True, text=True)
        assert run.returncode == 0 and not run.stderr and os.path.getsize(png) > 5000, "rsvg-convert renders it"


def test_fragmentation():
    """Free cpu in pieces too small for a pod of the workload is fragmented; free cpu that takes it is not."""

    def frag(*free):
        cluster = items(
            *[node("n%d" % i, cpu="4") for i in range(len(free))],
            *[pod("b%d" % i, "%dm" % (4000 - f), on="n%d" % i) for i, f in enumerate(free) if f < 4000],
            pod("p", "1")
        )
        with tempfile.TemporaryDirectory() as d:
            out = schedsim(
                "compare", "-", "--policy", policy(d, "x", LeastRequestedPriority=1), "-o", "csv", feed=cluster
            )[1]
        return float(list(csv.DictReader(io.StringIO(out)))[0]["frag_cpu"])

    assert frag(900, 800, 700) == 1.0, "all of it"
    assert abs(frag(500, 2000) - 0.5 / 1.5) < 1e-5, ("a third", frag(500, 2000))
    assert frag(4000, 4000) == 0.0, "none of it"


def test_what_if():
    bound = [pod("b%d" % i, "500m", on="n%d" % (i % 3), owner="ReplicaSet", labels={"app": "x"}) for i in range(9)]
    agent = pod("agent", "100m", on="n0", owner="DaemonSet")
    pdb = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "x", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 1},
    }
    objects = (
        [node("n%d" % i, labels={"pool": "blue" if i < 2 else "green"}) for i in range(4)]
        + bound[:5]
        + [pod("w1", "3")]
        + bound[5:]
        + [agent, pdb, pod("w2", "3")]
    )
    objects.append(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "o", "namespace": "ns", "uid": "o"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}},
        }
    )

    def edited(drain=(), remove=()):
        out = []
        for o in copy.deepcopy(objects):
            name = o["metadata"]["name"]
            if o["kind"] == "Node" and name in remove:
                continue
            if o["kind"] == "Node" and name in drain:
                o["spec"]["unschedulable"] = True
            on = o.get("spec", {}).get("nodeName")
            if on in drain or on in remove:
                if name == "agent":
                    if on in remove:
                        continue
                else:
                    del o["spec"]["nodeName"]
            out.append(o)
        return items(*out)

    def what_if(*flags):
        code, out, err = schedsim("what-if", "-", *flags, "-o", "json", feed=items(*objects))
        assert code == 0, ("what-if %s" % (flags,), err)
        return json.loads(out)

    for flags, cluster in (
        (["--drain", "n0,n1"], edited(drain=["n0", "n1"])),
        (["--drain", "pool=blue"], edited(drain=["n0", "n1"])),
        (["--remove", "n2"], edited(remove=["n2"])),
        (["--drain", "n0", "--remove", "n1"], edited(["n0"], ["n1"])),
    ):
        answer = what_if(*flags)
        by_hand = placements(cluster)
        assert [(d["pod"], d["host"] or "-") for d in answer["decisions"]] == list(by_hand.items()), (
            "equal to run on the cluster edited by hand: %s" % flags,
            answer["decisions"],
            by_hand,
        )
    answer = what_if("--drain", "n0,n1")
    assert {m["pod"]: m["from"] for m in answer["moves"]} == {
        "ns/b%d" % i: "n%d" % (i % 3) for i in range(9) if i % 3 < 2
    }, ("moves", answer["moves"])
    assert [(b["budget"], b["allowed"], len(b["evicted"])) for b in answer["violatedBudgets"]] == [("ns/x", 1, 6)], (
        "the budget",
        answer["violatedBudgets"],
    )
    assert all("nodes are available" in p["error"] for p in answer["pending"]), (
        "what stays pending has its reason",
        answer["pending"],
    )
    more = what_if("--drain", "n0,n1", "--add-nodes", "n3=2")
    assert more["after"]["pending"] == 0 < answer["after"]["pending"] and more["nodes"]["added"] == 2, (
        "new nodes take the rest",
        more["after"],
    )
    assert what_if()["moves"] == [], "without edits nothing moves"
    for flags, text in (
        (["--drain", "nx"], 'the cluster has no node "nx"'),
        (["--cordon", "pool=red"], "no node has labels that match"),
        (["--add-nodes", "nx=2"], "neither a file nor a node"),
    ):
        code, _, err = schedsim("what-if", "-", *flags, feed=items(*objects))
        assert code == 1 and text in err, "%s is refused" % flags
    assert schedsim("what-if", "-", "--add-nodes", "n0", feed=items(*objects))[0] == 2, "--add-nodes without a number"
    code, out, _ = schedsim("what-if", "-", "--drain", "n0,n1", feed=items(*objects), env={"COLUMNS": "80"})
    assert max(len(line) for line in out.splitlines()) <= 80 and "would be violated" in out, "80 columns"


def test_tune():
    flags = ["tune", OPENB, "--objective", "pending", "--budget", "60", "--seed", "3", "-o", "json"]
    with tempfile.TemporaryDirectory() as d:
        code, out, err = schedsim(*flags, "--out", d)
        front = [json.loads(line) for line in out.splitlines()]
        assert code == 0 and front, ("tune", err)
        best = front[0]
        assert best["placed"] >= 8105 and best["default"]["placed"] == 7948, "at least 8,105 placed"
        assert all(
            {"fragmentation", "imbalance", "nodesInUse"} <= set(t) for t in front
        ), "what it costs stands beside it"
        assert all("placed" in t["heldBack"] for t in front), "and how it does on pods that it did not see"
        assert sorted(os.listdir(d)) == sorted(t["name"] + ".json" for t in front), ("a file each", os.listdir(d))
        run = schedsim("compare", OPENB, "--policy", os.path.join(d, best["name"] + ".json"), "-o", "csv")[1]
        assert int(list(csv.DictReader(io.StringIO(run)))[1]["placed"]) == best["placed"], "compare agrees"
        for a in front:
            for b in front:
                keys = ("pending", "fragmentation", "nodesInUse", "imbalance")
                assert a is b or any(a[k] < b[k] for k in keys), "none dominates another"
    assert schedsim(*flags)[1] == out, "equal seeds, equal bytes"
    for flag, value in (("--objective", "speed"), ("--budget", "0"), ("--hold-back", "1")):
        assert schedsim("tune", OPENB, flag, value)[0] == 2, "%s %s is refused" % (flag, value)


harness.main(globals())
