#!/usr/bin/env python3
"""Random recordings of every release, from the simulation, pass schedsim anonymise: no name of theirs is in the result,
which replays and decides the same."""
import json
import random
import re

import harness
from harness import node, pod, schedsim, scratch, write_file, write_objects

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
PROFILES = {"1.19": "v1beta1", "1.29": "v1"}  # the versions that choose the release
MARK = "acme"  # in every name of this test


def random_pod(r, name, release):
    labels = {MARK + "/app": r.choice((MARK + "-web", MARK + "-db"))}
    term = {
        "labelSelector": {"matchLabels": labels},
        "topologyKey": r.choice((MARK + "/rack", "kubernetes.io/hostname")),
    }
    more = {}
    if r.random() < 0.3:
        more["affinity"] = {
            r.choice(("podAffinity", "podAntiAffinity")): {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": r.randrange(1, 100), "podAffinityTerm": term}
                ]
            }
        }
    elif r.random() < 0.3:
        more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if r.random() < 0.3:
        more["nodeSelector"] = {MARK + "/disk": r.choice((MARK + "-ssd", MARK + "-hdd"))}
    if r.random() < 0.3:
        more["tolerations"] = [{"key": MARK + "/taint", "operator": "Exists"}]
    if release in ("1.19", "1.29", "1.36") and r.random() < 0.3:
        more["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": MARK + "/rack",
                "whenUnsatisfiable": r.choice(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": {"matchLabels": labels},
            }
        ]
    p = pod(name, cpu="%dm" % r.randrange(100, 3000), labels=labels, namespace=MARK + "-team", **more)
    if r.random() < 0.2:
        p["spec"]["containers"][0]["resources"] = {
            what: {"cpu": "1", MARK + ".io/gpu": "1"} for what in ("requests", "limits")
        }
    p["spec"]["containers"][0]["image"] = "registry.%s.io/app:%d" % (MARK, r.randrange(3))
    p["metadata"]["annotations"] = {
        "schedsim/time": "%ds" % r.randrange(600),
        "schedsim/duration": "%ds" % r.randrange(30, 900),
        MARK + "/note": MARK,
    }
    return p


def random_cluster(r, release):
    nodes = []
    for i in range(r.randrange(3, 9)):
        n = node(
            "%s-n%d" % (MARK, i),
            cpu=str(r.randrange(2, 6)),
            labels={MARK + "/rack": "%s-r%d" % (MARK, i % 3), MARK + "/disk": r.choice((MARK + "-ssd", MARK + "-hdd"))},
        )
        if r.random() < 0.3:
            n["spec"]["taints"] = [
                {"key": MARK + "/taint", "value": MARK, "effect": r.choice(("NoSchedule", "PreferNoSchedule"))}
            ]
        for amounts in n["status"]["allocatable"], n["status"]["capacity"]:
            amounts[MARK + ".io/gpu"] = "1"
        nodes.append(n)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": MARK + "-s", "namespace": MARK + "-team"},
        "spec": {"selector": {MARK + "/app": MARK + "-web"}},
    }
    return nodes + [service] + [random_pod(r, "%s-p%d" % (MARK, i), release) for i in range(r.randrange(10, 40))]


POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [
        {"name": "GeneralPredicates"},
        {"name": MARK + "-labels", "argument": {"labelsPresence": {"labels": [MARK + "/disk"], "presence": True}}},
    ],
    "priorities": [
        {"name": "LeastRequestedPriority", "weight": 2},
        {"name": MARK + "-racks", "weight": 1, "argument": {"serviceAntiAffinity": {"label": MARK + "/rack"}}},
    ],
}
CONSTRAINTS = {
    "defaultConstraints": [{"maxSkew": 1, "topologyKey": MARK + "/rack", "whenUnsatisfiable": "ScheduleAnyway"}]
}


def arguments(r, release):
    """Returns an input and flags, of which half choose rules with names of their own."""
    objects = random_cluster(r, release)
    if release in PROFILES and r.random() < 0.5:
        return [
            write_objects("cluster.json", objects),
            "--config",
            write_file(
                "config.json",
                {
                    "apiVersion": "kubescheduler.config.k8s.io/" + PROFILES[release],
                    "kind": "KubeSchedulerConfiguration",
                    "profiles": [
                        {
                            "pluginConfig": [
                                {
                                    "name": "PodTopologySpread",
                                    "args": {
                                        **CONSTRAINTS,
                                        **({"defaultingType": "List"} if release != "1.19" else {}),
                                    },
                                }
                            ]
                        }
                    ],
                },
            ),
        ]
    if release not in ("1.29", "1.36") and r.random() < 0.5:
        pods = [o for o in objects if o["kind"] == "Pod"]
        for o in objects:
            o["metadata"].setdefault("uid", o["metadata"]["name"])
        return [
            write_file(
                "scenario.json",
                {
                    "apiVersion": "schedsim/v1",
                    "kind": "Scenario",
                    "emulatedVersion": release,
                    "policy": POLICY,
                    "pods": pods,
                    "cluster": {
                        "kind": "List",
                        "apiVersion": "v1",
                        "items": [o for o in objects if o["kind"] != "Pod"],
                    },
                },
            )
        ]
    return [write_objects("cluster.json", objects), "--emulated-version", release]


def decisions(text):
    """Returns what a replay says, without names and places in the file."""
    return re.findall(r"\d+ (?:decisions?|inputs?|requests?|changes?)", text)


def test_random_recordings():
    for release in RELEASES:
        for seed in range(3):
            r = random.Random("%s %d" % (release, seed))
            folder = scratch("recording-%s-%d" % (release, seed))
            status, _, err = schedsim("simulate", *arguments(r, release), "--record-dir", folder)
            assert status == 0, ("recorded in release %s, seed %d" % (release, seed), err[-500:])
            status, first, err = schedsim("replay", folder)
            assert status == 0, ("it replays", first[-300:] + err[-300:])
            status, out, err = schedsim("anonymise", folder)
            assert status == 0, "anonymised in release %s, seed %d: %s" % (release, seed, err[-300:])
            assert MARK not in out, (
                "no name is left in release %s, seed %d" % (release, seed),
                [l for l in out.splitlines() if MARK in l][:1],
            )
            status, second, err = schedsim("replay", write_file("anonymous.jsonl", out))
            assert status == 0, (
                "the result replays in release %s, seed %d" % (release, seed),
                second[-300:] + err[-300:],
            )
            assert decisions(second) == decisions(first), "the same is decided"
            assert json.dumps(decisions(first)) != "[]", ("something was decided", first[-500:])


harness.main(globals())
