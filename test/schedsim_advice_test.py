#!/usr/bin/env python3
"""Tests that advice is true: each way to make a pod fit that schedsim explain names, made by hand in the input, lets
the pod be placed. Clusters are random, in the releases that decide differently."""
import copy
import functools
import json
import os
import random
import re

import harness
from harness import items, schedsim

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
CLUSTERS = int(os.environ.get("ADVICE_CLUSTERS", "8"))
ZONE = dict.fromkeys(("1.8", "1.9", "1.10"), "failure-domain.beta.kubernetes.io/zone")
pod = functools.partial(harness.pod, memory="64Mi", namespace="ns")


OF_STATES = "node.kubernetes.io/"


def without_taint(node, state):
    node["spec"]["taints"] = [t for t in node["spec"].get("taints", []) if t["key"] != OF_STATES + state]


def zone_key(release):
    return ZONE.get(release, "topology.kubernetes.io/zone")


def random_node(r, i, release):
    labels = {"disk": r.choice(["ssd", "hdd"])}
    if r.random() < 0.9:
        labels[zone_key(release)] = r.choice("abc")
    n = harness.node(
        "n%d" % i,
        cpu=r.choice(["1", "2", "4"]),
        pods=r.choice(["3", "110"]),
        labels=labels,
        ready=r.choice(["True"] * 7 + ["False"]),
    )
    if r.random() < 0.25:
        n["spec"]["taints"] = [{"key": "dedicated", "value": r.choice(["gpu", "db"]), "effect": "NoSchedule"}]
    if r.random() < 0.2:
        n["spec"]["unschedulable"] = True
    # Since 1.12 a node has taints for its cordon and its conditions, which go with them.
    if release not in ("1.8", "1.9", "1.10") and r.random() < 0.8:
        states = {
            "unschedulable": n["spec"].get("unschedulable"),
            "not-ready": n["status"]["conditions"][0]["status"] != "True",
        }
        n["spec"]["taints"] = n["spec"].get("taints", []) + [
            {"key": OF_STATES + state, "effect": "NoSchedule"} for state, there in states.items() if there
        ]
    if r.random() < 0.2:
        for amounts in n["status"]["allocatable"], n["status"]["capacity"]:
            amounts["example.com/gpu"] = "2"
    return n


def affinity(r, release):
    term = {
        "labelSelector": {"matchLabels": {"app": r.choice(["web", "db"])}},
        "topologyKey": r.choice([zone_key(release), "kubernetes.io/hostname", "rack"]),
    }
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def random_pod(r, name, release, on=None):
    p = pod(
        name,
        r.choice(["100m", "500m", "1", "2"]),
        on=on,
        labels={"app": r.choice(["web", "db", "other"])},
        port=r.choice([None] * 5 + [80]),
    )
    spec = p["spec"]
    if r.random() < 0.3:
        spec["nodeSelector"] = {"disk": r.choice(["ssd", "nvme"])}
    if r.random() < 0.3:
        spec["affinity"] = {r.choice(["podAffinity", "podAntiAffinity"]): affinity(r, release)}
    elif r.random() < 0.2:
        spec["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": "disk",
                                    "operator": r.choice(["In", "NotIn"]),
                                    "values": [r.choice(["ssd", "hdd"])],
                                }
                            ]
                        }
                    ]
                }
            }
        }
    if r.random() < 0.15:
        spec["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    if release in ("1.19", "1.29", "1.36") and r.random() < 0.4:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": zone_key(release),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": p["metadata"]["labels"]["app"]}},
            }
        ]
    return p


def without(resource, p):
    for c in p["spec"]["containers"]:
        c["resources"]["requests"].pop(resource, None)
        c["resources"].get("limits", {}).pop(resource, None)


def labels_of(text):
    return dict(part.split("=", 1) for part in text.split(","))


# Each change in words, and what it does to the objects by name, with the node and the pod. A change that names two is
# two.
def make(change, way, objects, node, p):
    spec = p["spec"]

    def required():
        return spec["affinity"]["nodeAffinity"].pop("requiredDuringSchedulingIgnoredDuringExecution")

    if change == "uncordon":
        node["spec"]["unschedulable"] = False
        without_taint(node, "unschedulable")
    elif m := re.fullmatch(r"tolerate ([^=:]+)(?:=([^:]*))?:(\w+)", change):
        spec.setdefault("tolerations", []).append(
            {"key": m[1], "operator": "Equal", "value": m[2] or "", "effect": m[3]}
        )
    elif m := re.fullmatch(r"label ([^ ]+=[^ ]+)", change):
        node["metadata"]["labels"].update(labels_of(m[1]))
    elif re.fullmatch(r"label .* in \(.*\)", change):
        m = re.fullmatch(r"label (\S+) in \((\w+)\)", change)
        node["metadata"]["labels"][m[1]] = m[2]
    elif m := re.fullmatch(r"label (\S+) notin \(\S+\)", change):
        node["metadata"]["labels"].pop(m[1])
    elif re.fullmatch(r"drop .* from nodeSelector for it", change):
        del spec["nodeSelector"]
    elif change.startswith(("loosen the required node affinity", "correct the required node affinity")):
        required()
    elif re.match(r"free |move away ", change):
        assert way.get("moves"), "somebody moves"
    elif change == "wait for Ready":
        node["status"]["conditions"][0]["status"] = "True"
        without_taint(node, "not-ready")
    elif change.startswith("raise maxSkew"):
        for c in spec["topologySpreadConstraints"]:
            c["maxSkew"] = 1000
    elif change.startswith("set nodeAffinityPolicy: Honor"):
        for c in spec["topologySpreadConstraints"]:
            c["nodeAffinityPolicy"] = "Honor"
    elif m := re.fullmatch(r"label it with (\S+)", change):
        node["metadata"]["labels"][m[1]] = "new"
    elif m := re.fullmatch(r"place pods for the required affinity there: app=(\w+) in one \S+", change):
        objects.append(pod("beside", "0", on=node["metadata"]["name"], labels={"app": m[1]}))
    elif m := re.match(r"ask for less (\S+)|do without (\S+)", change):
        without(m[1] or m[2], p)
    else:
        assert False, ("the advice is known to this test", change)


def alternatives(change):
    """Returns the changes that a text names."""
    if m := re.fullmatch(r"label (.*) \(or drop it from nodeSelector\)", change):
        return ["label " + m[1], "drop %s from nodeSelector for it" % m[1]]
    if m := re.fullmatch(r"(label .*) \(or (loosen the required node affinity)\)", change):
        return [m[1], m[2] + " for it"]
    if m := re.fullmatch(r"(raise maxSkew) or (set nodeAffinityPolicy: Honor) (\(.*\))", change):
        return ["%s %s" % (m[1], m[3]), "%s %s" % (m[2], m[3])]
    return [change]


def host_after(way, objects, choice, release):
    objects = copy.deepcopy(objects)
    moves = way.get("moves", [])
    objects = [o for o in objects if o["kind"] != "Pod" or "ns/" + o["metadata"]["name"] not in moves]
    by_name = {(o["kind"], o["metadata"]["name"]): o for o in objects}
    node, p = by_name["Node", way["nodes"][0]], by_name["Pod", "p"]
    for change in way["changes"]:
        make(alternatives(change)[min(choice, len(alternatives(change)) - 1)], way, objects, node, p)
    code, out, err = schedsim(
        "run", "-", "-o", "placements", "--validate=off", "--emulated-version=" + release, feed=items(*objects)
    )
    assert code == 0, ("the changed cluster can be read", err)
    return dict(line.split() for line in out.splitlines())["ns/p"]


def advice(objects, release):
    code, out, err = schedsim(
        "explain",
        "-",
        "--pod",
        "ns/p",
        "-o",
        "json",
        "--validate=off",
        "--emulated-version=" + release,
        feed=items(*objects),
    )
    assert code == 0, ("explain", err)
    return json.loads(out)


def test_every_way_helps():
    tried = kinds = 0
    seen = set()
    for release in RELEASES:
        for seed in range(CLUSTERS):
            r = random.Random("%s %d" % (release, seed))
            nodes = [random_node(r, i, release) for i in range(6)]
            bound = [random_pod(r, "b%d" % i, release, on="n%d" % r.randrange(6)) for i in range(8)]
            objects = [*nodes, *bound, random_pod(r, "p", release)]
            e = advice(objects, release)
            for way in e.get("waysToFit", []):
                for choice in range(max(len(alternatives(c)) for c in way["changes"])):
                    tried += 1
                    seen.update(c.split()[0] for c in way["changes"])
                    host = host_after(way, objects, choice, release)
                    assert host != "-", ("after it the pod is placed (%s, seed %d)" % (release, seed), way, choice)
    assert tried >= 10 * len(RELEASES) and len(seen) >= 6, "enough was tried, of many kinds"


harness.main(globals())
