#!/usr/bin/env python3
"""Tests schedsim explain, capacity and extenders: schedsim run then does what they claim."""
import copy
import json
import os
import subprocess
import tempfile

import harness
from harness import ExtenderServer, items, node, schedsim

SCHEDSIM = os.path.join(harness.BIN, "schedsim")


def pod(name, cpu="1", **more):
    return harness.pod(name, cpu, memory="64Mi", namespace="ns", **more)


def explain(objects, name, *flags):
    code, out, err = schedsim("explain", "-", "--pod", "ns/" + name, "-o", "json", *flags, feed=items(*objects))
    assert code == 0, ("explain %s" % name, err)
    return json.loads(out)


def host(objects, name):
    code, out, err = schedsim("run", "-", "-o", "placements", feed=items(*objects))
    return dict(line.split() for line in out.splitlines()).get("ns/" + name)


GPU = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]


def test_ways_to_fit():
    """Each change that explain suggests makes the pod fit there."""
    cluster = [
        node("full"),
        node("tainted", taints=GPU),
        node("cordoned", unschedulable=True),
        node("sick", ready="False"),
        node("unlabelled"),
        node("taken"),
        node("small", cpu="1"),
        node("crowded", pods="1"),
    ]
    for n in cluster:
        if n["metadata"]["name"] != "unlabelled":
            n["metadata"]["labels"]["disk"] = "ssd"
    others = [pod("a", "3500m", on="full"), pod("b", "100m", on="taken", port=80), pod("c", "100m", on="crowded")]
    want = pod("p", "2", port=80, nodeSelector={"disk": "ssd"})
    e = explain(cluster + others + [want], "p")
    assert e["host"] == "" and e["nodesFeasible"] == 0, ("it does not fit", e["host"])
    ways = {w["nodes"][0]: w for w in e["waysToFit"]}
    expected = {
        "full": ["free 1500m cpu"],
        "tainted": ["tolerate dedicated=gpu:NoSchedule"],
        "cordoned": ["uncordon"],
        "sick": ["wait for Ready"],
        "unlabelled": ["label disk=ssd (or drop it from nodeSelector)"],
        "taken": ["free host port 80/TCP"],
        "crowded": ["move away 1 pod"],
        "small": ["ask for less cpu (2, more than the 1 there is)"],
    }
    order = [w["changes"][0].split()[0] for w in e["waysToFit"]]
    assert order == ["tolerate", "uncordon", "label", "free", "move", "free", "wait", "ask"] or (
        sorted(order[:2]) == ["tolerate", "uncordon"]
        and order[2] == "label"
        and sorted(order[3:6]) == ["free", "free", "move"]
        and order[6:] == ["wait", "ask"]
    ), "the cheapest first: what the pod or a cordon needs, labels, moves, what is broken, what cannot be"
    moves = {w["nodes"][0]: w.get("moves") for w in e["waysToFit"]}
    assert (moves["full"], moves["taken"], moves["crowded"], moves["tainted"]) == (
        ["ns/a"],
        ["ns/b"],
        ["ns/c"],
        None,
    ), "who would have to move"
    for name, changes in expected.items():
        assert ways.get(name, {}).get("changes") == changes, ("way for " + name, ways.get(name))
        assert ways[name]["possible"] == (name != "small"), name + " is possible or not"
    assert e["waysToFit"][-1]["nodes"] == ["small"], ("the impossible is last", e["waysToFit"][-1])

    def after(change):
        objects = copy.deepcopy(cluster + others + [want])
        by_name = {o["metadata"]["name"]: o for o in objects}
        change(by_name, objects)
        return host(objects, "p")

    def shrink(by_name, _):
        by_name["a"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"

    def shrink_too_little(by_name, _):
        by_name["a"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2001m"

    def tolerate(by_name, _):
        by_name["p"]["spec"]["tolerations"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]

    assert after(shrink) == "full", "freeing 1500m opens full"
    assert after(shrink_too_little) == "-", "freeing 1499m does not"
    assert after(tolerate) == "tainted", "tolerating opens tainted"
    assert (
        after(lambda n, _: n["cordoned"]["spec"].update(unschedulable=False)) == "cordoned"
    ), "uncordoning opens cordoned"
    assert after(lambda n, _: n["sick"]["status"]["conditions"][0].update(status="True")) == "sick", "Ready opens sick"
    assert (
        after(lambda n, _: n["unlabelled"]["metadata"]["labels"].update(disk="ssd")) == "unlabelled"
    ), "the label opens unlabelled"
    assert after(lambda n, all_: all_.remove(n["b"])) == "taken", "the port opens taken"
    assert after(lambda n, all_: all_.remove(n["c"])) == "crowded", "one pod less opens crowded"


def test_moves():
    """Moving the pods that explain names is enough, none of them is needless, and they have the lowest priority."""

    def bound(name, cpu, priority=0, owner=None):
        p = pod(name, cpu, on="n1", labels={"app": name})
        p["spec"]["priority"] = priority
        if owner:
            p["metadata"]["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}
            ]
        return p

    def moves(others, want, nodes=(node("n1"),)):
        ways = explain(list(nodes) + others + [want], "p")["waysToFit"]
        gone = ways[0].get("moves", [])
        left = [o for o in others if "ns/" + o["metadata"]["name"] not in gone]
        assert host(list(nodes) + left + [want], "p") == ways[0]["nodes"][0], ("without them it fits", gone, ways)
        for name in gone:
            assert (
                host(list(nodes) + left + [o for o in others if "ns/" + o["metadata"]["name"] == name] + [want], "p")
                != ways[0]["nodes"][0]
            ), ("with %s it does not" % name, gone)
        return gone

    four = [bound("a", "500m"), bound("b", "1"), bound("c", "1500m"), bound("d", "1")]
    assert moves(four, pod("p", "1500m")) == ["ns/c"], "one that is just large enough"
    assert len(moves(four, pod("p", "2300m"))) == 2, "two where one is not enough"
    four[2]["spec"]["priority"] = 5
    assert moves(four, pod("p", "1")) in (["ns/b"], ["ns/d"]), "low priorities first"
    assert moves([bound("a", "2", owner="DaemonSet"), bound("b", "2")], pod("p", "2")) == [
        "ns/b"
    ], "pods of DaemonSets last"
    keeps_off = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    x = bound("x", "100m")
    assert moves([x, bound("y", "100m")], pod("p", affinity=keeps_off)) == [
        "ns/x"
    ], "whom the pod's anti-affinity names"
    y = bound("y", "100m")
    y["spec"]["affinity"] = keeps_off
    assert moves([bound("z", "100m"), y], pod("p", labels={"app": "x"})) == [
        "ns/y"
    ], "whose anti-affinity names the pod"


def test_explain_page():
    """What people see: the winner comes first, equal rows are folded, common parts are on one line, and no line exceeds
    the width."""
    gpu = [
        dict(
            node("g%d" % i),
            status={
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": "8"},
                "conditions": [],
            },
        )
        for i in range(30)
    ]
    cluster = [node("n%02d" % i, cpu="4" if i % 3 else "8") for i in range(60)] + gpu

    def page(objects, *flags, columns="80"):
        run = subprocess.run(
            [SCHEDSIM, "explain", "-", "--pod", "ns/p", *flags],
            input=json.dumps(items(*objects)),
            capture_output=True,
            text=True,
            env=dict(os.environ, COLUMNS=columns),
        )
        assert run.returncode == 0, ("explain", run.stderr)
        lines = run.stdout.splitlines()
        assert max(map(len, lines)) <= int(columns), ("no line is wider than %s columns" % columns, run.stdout)
        assert "\033" not in run.stdout, "no colour into a pipe"
        return lines

    lines = page(cluster + [pod("p")])
    rows = lines[lines.index("Scores of 0 to 10, times their weight:") + 1 :]
    winner = json.loads(schedsim("explain", "-", "--pod", "ns/p", "-o", "json", feed=items(*cluster, pod("p")))[1])[
        "host"
    ]
    assert rows[0].startswith("NODE") and rows[1].startswith(winner + " "), "the winner's row is the first"
    assert any(r.startswith("19 more nodes ") for r in rows) and any(
        r.startswith("70 more nodes ") for r in rows
    ), "equal rows are one"
    assert (
        "BalancedResourceAllocation" in rows[0]
        and "LeastRequested" not in rows[0]
        and "The same on every node: InterPodAffinityPriority 0, LeastRequestedPriority 8"
        in " ".join(" ".join(rows).split())
    ), "columns that say the same are no columns"
    wide = page(cluster + [pod("p")], columns="200")
    assert max(map(len, wide)) > 80, "a wide screen is used"
    lines = page(cluster + [pod("w", "1", on="n01"), pod("p", "3500m", nodeSelector={"disk": "ssd"})])
    text = " ".join(" ".join(lines).split())
    assert (
        "89 node(s) didn't match node selector (GeneralPredicates): g0, g1 and 87 more" in text
    ), "what stopped it first"
    assert "No node has the label disk=ssd, nor any other value of it." in text, "a label that no node has"
    want = pod("p")
    want["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    text = " ".join(page(cluster + [want]))
    assert (
        "No node has example.com/gpu; there is nvidia.com/gpu on 30 nodes." in text
    ), "what no node has, and what there is instead"
    assert (
        "do without example.com/gpu on" in text and "choose a node with example.com/gpu" not in text
    ), "no other node is recommended for it"
    full = [node("n%d" % i, cpu="4") for i in range(5)] + [
        pod("b%d" % i, "%dm" % (3100 + 200 * i), on="n%d" % i) for i in range(5)
    ]
    text = " ".join(" ".join(page(full + [pod("p")])).split())
    assert (
        "free 100m cpu on n0; median 500m; 5 nodes for n0 these would have to move: ns/b0" in text
    ), "one line a kind with the nearest node, the median and how many"


def test_explain_shows_all():
    cluster = [node("n1", taints=GPU), node("n2"), node("n3"), node("n4")]
    e = explain(cluster + [pod("first"), pod("p", "5"), pod("q")], "p")
    by_node = {n["node"]: n["predicates"] for n in e["nodes"]}
    assert (
        by_node["n1"]["GeneralPredicates"] == {"fits": False, "reasons": ["Insufficient cpu"]}
        and by_node["n1"]["PodToleratesNodeTaints"]["fits"] is False
        and by_node["n1"]["MatchInterPodAffinity"]["fits"] is True
    ), ("every predicate on every node, no short circuit", by_node["n1"])
    assert e["placedBefore"] == 1, ("pods before it were placed", e["placedBefore"])
    assert (
        e["error"].startswith("0/4 nodes are available: ") and e["reasons"]["Insufficient cpu"] == 4
    ), "the summary is the scheduler's"
    e = explain(cluster + [pod("first"), pod("p", "5"), pod("q")], "q")
    assert e["tie"] == {"nodes": 2, "roundRobin": 1} and e["host"] == "n2", ("a tie is explained", e["tie"], e["host"])
    for s in e["scores"]:
        total = sum(p["weighted"] for p in s["priorities"].values())
        assert total == s["total"] and all(
            p["score"] * p["weight"] == p["weighted"] for p in s["priorities"].values()
        ), "weighted scores add up"
    totals = [s["total"] for s in e["scores"]]
    assert totals == sorted(totals, reverse=True) and len(totals) == 3, "best first"
    e = explain(cluster + [pod("old", "3", on="n3")], "old")
    assert e["nowOn"] == "n3" and e["host"] in ("n2", "n3", "n4") and e["nodesFeasible"] == 3, (
        "a bound pod is evaluated as if it were new",
        e["host"],
    )

    code, out, err = schedsim(
        "explain", "-", "--pod", "ns/q", "-o", "wide", feed=items(*cluster, pod("first"), pod("q"))
    )
    assert (
        code == 0
        and "goes to n2" in out
        and "of 2 nodes with the highest total" in out
        and "had taints that the pod didn't tolerate" in out
        and "LeastRequestedPriority x1" in out
    ), "-o wide names host, tie and reasons"
    many = [node("m%03d" % i) for i in range(200)] + [pod("p", "9")]
    code, out, err = schedsim("explain", "-", "--pod", "ns/p", "-o", "wide", feed=items(*many))
    assert "200 nodes (m000, m001 and 198 more)" in out and len(out.splitlines()) < 20, (
        "nodes alike share a line",
        out[:500],
    )
    code, out, err = schedsim("explain", "-", "--pod", "ns/nobody", feed=items(*cluster, pod("p")))
    assert code == 1 and 'no pod "ns/nobody"' in err and "ns/p" in err, "an unknown pod is named"
    code, out, err = schedsim("explain", "-", "--pod", "ns/p", "-o", "yaml", feed=items(*cluster, pod("p")))
    assert code == 0 and 'pod: ns/p\n' in out, ("YAML", out[:200])

    high = pod("high", "3")
    high["spec"]["priority"] = 100
    e = explain([node("only"), pod("low", "2", on="only"), high], "high", "--feature-gates=PodPriority=true")
    assert e["preemption"] == {"node": "only", "victims": ["ns/low"]}, ("preemption is shown", e.get("preemption"))

    scenarios = "\n".join(
        json.dumps(
            {
                "apiVersion": "schedsim/v1",
                "kind": "Scenario",
                "name": "s%d" % i,
                "algorithmProvider": "DefaultProvider",
                "cluster": items(node("n%d" % i)),
                "pods": [pod("p")],
            }
        )
        for i in range(2)
    )
    code, out, _ = schedsim("explain", "-", "--pod", "ns/p", "-o", "json", feed=scenarios)
    assert [json.loads(line)["host"] for line in out.splitlines()] == ["n0", "n1"], "each Scenario that has it"


def capacity(objects, *specs, flags=()):
    with tempfile.TemporaryDirectory() as d:
        files = []
        for i, s in enumerate(specs):
            files += ["--pod-spec", os.path.join(d, "%d.json" % i)]
            with open(files[-1], "w") as f:
                json.dump(s, f)
        code, out, err = schedsim("capacity", "-", *files, "-o", "json", *flags, feed=items(*objects))
    assert code == 0, ("capacity runs", err)
    return json.loads(out)["answers"]


def test_capacity():
    cluster = [node("n1"), node("n2", cpu="2"), node("n3", taints=GPU)]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"resources": {"limits": {"cpu": "1"}}}],
                    "affinity": {
                        "podAntiAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "labelSelector": {"matchLabels": {"app": "web"}},
                                    "topologyKey": "kubernetes.io/hostname",
                                }
                            ]
                        }
                    },
                },
            }
        },
    }
    a, b = capacity(cluster + [pod("bound", "1", on="n1"), pod("waits", "500m")], pod("x", "700m"), deployment)
    assert a["replicas"] == 6 and sum(a["nodes"].values()) == 6, "replicas"
    # Tries out the claim: that many fit, and one more does not.
    many = cluster + [pod("bound", "1", on="n1"), pod("waits", "500m")] + [pod("x%d" % i, "700m") for i in range(7)]
    code, out, _ = schedsim("run", "-", "-o", "placements", feed=items(*many))
    placed = [line.split()[1] for line in out.splitlines()][1:]
    assert placed.count("-") == 1 and placed[-1] == "-", "run agrees"
    assert {n: placed.count(n) for n in set(placed) - {"-"}} == a["nodes"], ("and so do the nodes", placed, a["nodes"])
    assert "Insufficient cpu" in a["next"]["error"] and a["next"]["failures"]["n3"] == [
        "node(s) had taints that the pod didn't tolerate"
    ], ("what stops the next", a["next"])
    assert any(w["changes"] == ["tolerate dedicated=gpu:NoSchedule"] for w in a["next"]["waysToFit"]), (
        "what would help",
        a["next"]["waysToFit"],
    )
    assert b["pod"] == "shop/web" and b["replicas"] == 2, "a Deployment's template"
    limited = capacity(cluster, pod("x", "100m"), flags=("--max", "3"))[0]
    assert limited["replicas"] == 3 and limited["limited"] and "next" not in limited, "--max"
    code, out, err = schedsim("capacity", "-", "--pod-spec", "/nowhere", feed=items(*cluster))
    assert code == 1 and "/nowhere: No such file" in err, "a spec that is not there"
    with tempfile.NamedTemporaryFile("w") as f:
        json.dump(node("x"), f)
        f.flush()
        code, out, err = schedsim("capacity", "-", "--pod-spec", f.name, feed=items(*cluster))
        assert code == 1 and 'no pod in it, but Node: a Pod, or a workload' in err, "a spec that is no pod"
        f.seek(0)
        json.dump(pod("x", "1"), f)
        f.truncate()
        f.flush()
        code, out, err = schedsim("capacity", "-", "--pod-spec", f.name, feed=items(*cluster))
        assert code == 0 and "ns/x: 6 more fit, on 2 nodes" in out and "The next one: 0/3 nodes" in out, "the table"


def test_extenders():
    """The extenders of a Policy that is given by a flag are called; those of one in a Scenario are not."""
    cluster = items(node("n1"), node("n2"), node("n3"), *[pod("p%d" % i, "100m") for i in range(4)])
    server = ExtenderServer()
    for path, want in (("even", None), ("refuse", ["-"] * 4)):
        policy = {
            "extenders": [
                {
                    "urlPrefix": server.url + "/" + path,
                    "filterVerb": "filter",
                    "nodeCacheCapable": path == "refuse",
                    "httpTimeout": 60_000_000_000,
                }
            ]
        }
        with tempfile.NamedTemporaryFile("w") as f:
            json.dump(policy, f)
            f.flush()
            code, out, err = schedsim("run", "-", "-o", "json", "--policy-config-file", f.name, feed=cluster)
        decisions = json.loads(out)["decisions"]
        if want is None:
            assert code == 0 and all(len(d.get("totals", {"x": 0})) < 3 and d["host"] for d in decisions), (
                "the extender halves the nodes",
                out,
            )
        else:
            assert all(d["host"] == "" and "code 500" in d["error"] for d in decisions), (
                "the extender's error is the pod's",
                out,
            )
    scenario = {
        "apiVersion": "schedsim/v1",
        "kind": "Scenario",
        "name": "s",
        "policy": policy,
        "cluster": items(node("n1")),
        "pods": [pod("p")],
    }
    code, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    assert code == 1 and "a Scenario cannot call extenders" in out, "a Scenario calls nobody"


harness.main(globals())
