#!/usr/bin/env python3
"""Tests schedsim anonymise: whatever text is in the input, it is renamed or left out, or the command fails and writes
nothing; and the result decides the same."""
import copy
import gzip
import json
import os
import random

import harness
from harness import ROOT, node, pod, schedsim, write_file

MARKER = "hunter2-acme"


def leaves(value, path=()):
    """Yields the paths of all texts and of all names of members."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield path + ((k,),)
            yield from leaves(v, path + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from leaves(v, path + (i,))
    elif isinstance(value, str):
        yield path


def marked(value, path):
    """Returns a copy with the marker in one text, or in the name of a member if the path ends with a tuple."""
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    if isinstance(path[-1], tuple):
        at[path[-1][0] + MARKER] = at.pop(path[-1][0])
    else:
        at[path[-1]] += MARKER
    return value


def check_clean(what, text, name="input.json"):
    status, out, _ = schedsim("anonymise", write_file(name, text))
    assert MARKER not in out and "hunter2" not in out, (what, next(l for l in out.splitlines() if "hunter2" in l)[:500])
    assert status == 0 or not out, (what, "failed after it had written")
    return status


CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False, "resourceNamespace": "ns", "resourceName": "lock"},
    "clientConnection": {"kubeconfig": "/k"},
    "profiles": [
        {
            "schedulerName": "mine",
            "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}},
            "pluginConfig": [
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "acme/tier", "operator": "In", "values": ["gold"]}]}
                                ]
                            }
                        }
                    },
                },
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": "acme/rack", "whenUnsatisfiable": "ScheduleAnyway"}
                        ],
                    },
                },
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "ignoredResources": ["acme.io/a"],
                        "ignoredResourceGroups": ["acme.io"],
                        "scoringStrategy": {
                            "type": "LeastAllocated",
                            "resources": [{"name": "acme.io/b", "weight": 1}],
                        },
                    },
                },
                {"name": "RackSpread", "args": {"label": "acme/rack"}},
            ],
        }
    ],
}
POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [
        {"name": "GeneralPredicates"},
        {"name": "Mine", "argument": {"labelsPresence": {"labels": ["acme/rack"], "presence": True}}},
    ],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    "extenders": [
        {
            "urlPrefix": "http://user:pw@host.acme:1/p",
            "filterVerb": "filter",
            "httpTimeout": 1000000000,
            "tlsConfig": {"serverName": "x"},
            "managedResources": [{"name": "acme.io/gpu", "ignoredByScheduler": True}],
        }
    ],
}


def rich_objects():
    n = node("n1", labels={"acme/tier": "gold", "kubernetes.io/hostname": "n1"})
    n["spec"] = {"taints": [{"key": "node.kubernetes.io/acme", "value": "v", "effect": "NoSchedule"}]}
    n["metadata"].update(
        annotations={
            "scheduler.alpha.kubernetes.io/preferAvoidPods": json.dumps(
                {
                    "preferAvoidPods": [
                        {
                            "podSignature": {
                                "podController": {
                                    "apiVersion": "v1",
                                    "kind": "ReplicationController",
                                    "name": "rc",
                                    "uid": "u",
                                }
                            }
                        }
                    ]
                }
            )
        }
    )
    n["status"]["allocatable"].update(
        {"acme.io/gpu": "2", "attachable-volumes-csi-disk.acme": "3", "hugepages-2Mi": "4Mi"}
    )
    n["status"]["images"] = [{"names": ["acme.io/app:1"], "sizeBytes": 5}]
    term = {
        "labelSelector": {
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
        },
        "topologyKey": "acme/rack",
        "namespaces": ["ns"],
        "namespaceSelector": {"matchLabels": {"t": "u"}},
    }
    p = pod(
        "p",
        cpu="1",
        nodeSelector={"acme/tier": "gold"},
        tolerations=[{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}],
        affinity={
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            },
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                    ]
                }
            },
        },
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        resources={"requests": {"cpu": "1"}},
        resourceClaims=[{"name": "gpu"}],
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}],
    )
    p["metadata"].update(
        ownerReferences=[{"apiVersion": "acme.io/v1", "kind": "AcmeJob", "name": "o", "uid": "u", "controller": True}]
    )
    p["spec"]["containers"][0].update(
        ports=[{"containerPort": 1, "hostPort": 1, "hostIP": "10.1.2.3", "protocol": "TCP"}],
        env=[{"name": "PASSWORD", "value": "x"}],
        restartPolicyRules=[{"action": "Restart"}],
    )
    p["status"] = {
        "phase": "Pending",
        "nominatedNodeName": "n1",
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulerError",
                "message": "Post http://host.acme:8888/f: dial tcp 10.7.6.5",
            }
        ],
        "containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}
        ],
    }
    return [
        n,
        p,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "v"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": "disk.acme", "volumeHandle": "h"},
                "storageClassName": "s",
                "claimRef": {"namespace": "default", "name": "c", "uid": "u"},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {
                "volumeName": "v",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "s"},
            "provisioner": "disk.acme",
            "volumeBindingMode": "Immediate",
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {
                "name": "n1",
                "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,disk.acme"},
            },
            "spec": {"drivers": [{"name": "disk.acme"}]},
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}},
            "status": {"disruptionsAllowed": 1, "disruptedPods": {"p": "2026-01-01T00:00:00Z"}},
        },
    ]


def test_no_text_of_objects_and_scenarios_is_published():
    objects = {"apiVersion": "v1", "kind": "List", "items": rich_objects()}
    scenarios = [
        {
            "kind": "Scenario",
            "apiVersion": "schedsim/v1",
            "name": "t",
            "description": "d",
            "emulatedVersion": release,
            "cluster": {"items": [node("n1")]},
            "pods": [pod("p")],
            **more,
        }
        for release, more in (
            ("1.29", {"configuration": CONFIGURATION}),
            ("1.10", {"policy": POLICY, "featureGates": {"PodPriority": True}}),
        )
    ]
    for value in [objects, *scenarios]:
        assert check_clean("as it is", value) == 0
        for path in leaves(value):
            check_clean(path, marked(value, path))


def test_what_has_nothing_to_anonymise_is_refused():
    for value in (CONFIGURATION, POLICY, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": MARKER}}):
        assert check_clean("no objects", value) == 1


def test_what_would_lack_pods_is_refused():
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("p", cpu="1")["spec"]}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]},
    }
    plain = pod("p", cpu="1")
    plain["spec"]["containers"][0].pop("resources")
    for objects, status in (([plain], 0), ([pod("p", cpu="1"), web], 1), ([plain, limits], 1)):
        path = write_file("objects.json", {"kind": "List", "apiVersion": "v1", "items": [node("n"), *objects]})
        got, out, err = schedsim("anonymise", path)
        assert got == status and (got == 0 or (not out and "kubectl get pods" in err)), (objects, out, err)


def test_a_scenario_decides_the_same():
    nodes = [
        node(n, labels={"acme/tier": tier, "acme/rack": n}, cpu=cpu)
        for n, tier, cpu in (("a", "gold", "4"), ("b", "lead", "64"))
    ]
    scenario = {
        "kind": "Scenario",
        "apiVersion": "schedsim/v1",
        "name": "t",
        "emulatedVersion": "1.29",
        "cluster": {"items": nodes},
        "pods": [pod("p", cpu="1", schedulerName="mine"), pod("q", cpu="1", schedulerName="mine", resources=None)],
        "configuration": CONFIGURATION,
    }
    for p in scenario["pods"]:
        p["spec"].pop("resources", None)
    path = write_file("scenario.json", scenario)
    status, out, err = schedsim("anonymise", path)
    assert status == 0, err
    was, now = (
        schedsim("run", p, "-o", "placements")[1].split() for p in (path, write_file("renamed.json", json.loads(out)))
    )
    assert was[1::2] == ["a", "a"] and now[1] == now[3] != "-", (was, now)


def recordings():
    folder = os.path.join(ROOT, "test/testdata/recordings")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl.gz"):
            with gzip.open(os.path.join(folder, name), "rt") as f:
                yield name, [json.loads(line) for line in f]


def test_no_text_of_recordings_is_published():
    for name, lines in recordings():
        draw = random.Random(name)
        seen = {}
        for i, line in enumerate(lines):
            for path in leaves(line):
                # One of each kind of text: of this path, without indices and names of maps.
                seen.setdefault(tuple(str(s) for s in path if not isinstance(s, int)), []).append((i, path))
        for where in seen.values():
            i, path = draw.choice(where)
            text = "".join(json.dumps(l) + "\n" for l in [*lines[:i], marked(lines[i], path), *lines[i + 1 :]])
            check_clean((name, i, path), text, "recording.jsonl")
        status, out, err = schedsim("anonymise", os.path.join(ROOT, "test/testdata/recordings", name))
        assert status == 0, (name, err)
        status, _, err = schedsim("replay", write_file("result.jsonl", out), "--check")
        assert status == 0, (name, err)


harness.main(globals())
