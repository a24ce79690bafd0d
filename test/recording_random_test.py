#!/usr/bin/env python3
"""Random simulations of every release, with everything that their inputs may have, write recordings that replay
reproduces: volumes of each binding mode, host ports, nodes that only say their capacity, workloads, budgets,
priorities, drains, failures and nodes that come and go. `SEEDS=FIRST..LAST` tries others than the usual ones."""
import json
import os
import random

import harness
from harness import node, pod, schedsim, scratch, write_file

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
FIRST, LAST = (int(n) for n in os.environ.get("SEEDS", "1..3").split(".."))


def random_node(r, i):
    zone = "z%d" % r.randrange(3)
    labels = {"topology.kubernetes.io/zone": zone, "disk": r.choice(("ssd", "hdd"))}
    n = node("n%d" % i, cpu=str(r.choice((2, 4, 8))), zone=zone, labels=labels)
    if r.random() < 0.4:
        del n["status"]["allocatable"]
    elif r.random() < 0.2:
        n["status"]["allocatable"] = {}
    if r.random() < 0.3:
        n["status"]["capacity"]["example.com/gpu"] = "2"
        if n["status"].get("allocatable"):
            n["status"]["allocatable"]["example.com/gpu"] = "2"
    if r.random() < 0.2:
        n["spec"]["taints"] = [
            {"key": "own", "value": "x", "effect": r.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))}
        ]
    if r.random() < 0.5:
        n["metadata"]["uid"] = "uid-%d" % i
    return n


def storage(r, release):
    """Returns classes of both binding modes, volumes of several kinds, and claims for them."""
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    later = {"volumeBindingMode": "WaitForFirstConsumer"}
    objects = [
        {**kind, "metadata": {"name": "later"}, "provisioner": "example.com/p", **later},
        {**kind, "metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", **later},
        {**kind, "metadata": {"name": "at-once"}, "provisioner": "example.com/p"},
        {
            **kind,
            "metadata": {"name": "zonal"},
            "provisioner": "example.com/p",
            **later,
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["z0", "z1"]}]}
            ],
        },
    ]
    for i in range(r.randrange(2, 8)):
        where = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n%d" % r.randrange(6)]}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv%d" % i, "labels": {"failure-domain.beta.kubernetes.io/zone": "z%d" % (i % 3)}},
            "spec": {
                "capacity": {"storage": "%dGi" % r.randrange(1, 20)},
                "accessModes": [r.choice(("ReadWriteOnce", "ReadOnlyMany"))],
                "storageClassName": r.choice(("local", "later", "at-once", "")),
                **r.choice(
                    (
                        {"local": {"path": "/d"}},
                        {"csi": {"driver": "example.com/p", "volumeHandle": "h%d" % i}},
                        {"gcePersistentDisk": {"pdName": "d%d" % i}},
                    )
                ),
            },
        }
        if r.random() < 0.6:
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}}
        if r.random() < 0.3:
            volume["metadata"]["uid"] = "uid-pv%d" % i
        if r.random() < 0.3:
            volume["spec"]["volumeMode"] = r.choice(("Filesystem", "Block"))
        objects.append(volume)
    for i in range(8):
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c%d" % i, **({"namespace": "default"} if r.random() < 0.5 else {})},
            "spec": {
                "accessModes": [r.choice(("ReadWriteOnce", "ReadOnlyMany"))],
                "storageClassName": r.choice(("later", "local", "at-once", "zonal")),
                "resources": {"requests": {"storage": "%dGi" % r.randrange(1, 12)}},
            },
        }
        if r.random() < 0.2:
            claim["spec"]["volumeName"] = "pv%d" % r.randrange(8)
            claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        if r.random() < 0.2:
            claim["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "later"}
        objects.append(claim)
    if release in ("1.19", "1.29", "1.36"):
        for i in range(3):
            objects.append(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {"name": "n%d" % i},
                    "spec": {"drivers": [{"name": "example.com/p", "nodeID": "n", "allocatable": {"count": 2}}]},
                }
            )
    return objects


def decorate(r, spec, release):
    """Adds to a pod's spec some of what scheduling reads."""
    container = spec["containers"][0]
    chance = r.random
    if chance() < 0.3:
        container["ports"] = [{"containerPort": r.choice((80, 81)), "hostPort": r.choice((0, 8080, 8081))}]
        spec["hostNetwork"] = chance() < 0.3
    if chance() < 0.3:
        container["resources"] = {"limits": {"cpu": "%dm" % r.randrange(100, 2500), "memory": "64Mi"}}
    if chance() < 0.15:
        container["resources"] = {w: {"example.com/gpu": "1", "cpu": "100m"} for w in ("requests", "limits")}
    if chance() < 0.2:
        spec["initContainers"] = [{"name": "i", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
    if chance() < 0.3:
        spec["tolerations"] = [{"key": "own", "operator": "Exists"}]
    if chance() < 0.2:
        spec["nodeSelector"] = {"disk": r.choice(("ssd", "hdd"))}
    if chance() < 0.4:
        spec["priority"] = r.choice((-5, 0, 1, 10, 1000))
    if chance() < 0.3:
        volume = r.choice(
            (
                {"persistentVolumeClaim": {"claimName": "c%d" % r.randrange(9)}},
                {"persistentVolumeClaim": {"claimName": "c%d" % r.randrange(9), "readOnly": True}},
                {"gcePersistentDisk": {"pdName": "disk%d" % r.randrange(2)}},
                {"rbd": {"image": "i", "monitors": ["m"]}},
                {"configMap": {"name": "m"}},
                {"emptyDir": {}},
            )
        )
        spec["volumes"] = [{"name": "v", **volume}]
    term = {"labelSelector": {"matchLabels": {"app": r.choice("ab")}}, "topologyKey": "kubernetes.io/hostname"}
    if chance() < 0.25:
        spec["affinity"] = {
            r.choice(("podAffinity", "podAntiAffinity")): r.choice(
                (
                    {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
                    {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": r.randrange(1, 100), "podAffinityTerm": term}
                        ]
                    },
                )
            )
        }
    if release in ("1.19", "1.29", "1.36") and chance() < 0.2:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": r.choice(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": {"matchLabels": {"app": "a"}},
            }
        ]
    if release in ("1.29", "1.36") and chance() < 0.1:
        spec["volumes"] = [
            {
                "name": "e",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "storageClassName": "later",
                            "resources": {"requests": {"storage": "1Gi"}},
                        }
                    }
                },
            }
        ]
    if release == "1.36" and chance() < 0.2:
        spec["resources"] = r.choice(({"limits": {"cpu": "1"}}, {"requests": {"memory": "64Mi"}}))
    if release in ("1.29", "1.36") and chance() < 0.05:
        spec["schedulingGates"] = [{"name": "example.com/g"}]


def random_pod(r, name, release):
    labels = {"app": r.choice("ab")}
    p = pod(name, cpu="%dm" % r.randrange(50, 2500), labels=labels)
    decorate(r, p["spec"], release)
    if r.random() < 0.3:
        del p["metadata"]["namespace"]
    if r.random() < 0.3:
        p["metadata"]["uid"] = "uid-" + name
    annotations = {"schedsim/time": "%ds" % r.randrange(600)}
    if r.random() < 0.7:
        annotations["schedsim/duration"] = "%ds" % r.randrange(10, 900)
    p["metadata"]["annotations"] = annotations
    return p


def random_workload(r, i, release):
    kind = r.choice(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"))
    labels = {"app": r.choice("ab"), "of": "w%d" % i}
    inner = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "200m"}}}]}
    decorate(r, inner, release)
    template = {"metadata": {"labels": labels}, "spec": inner}
    spec = {"template": template}
    version = "batch/v1" if kind == "Job" else "v1" if kind == "ReplicationController" else "apps/v1"
    if kind == "Job":
        inner["restartPolicy"] = "Never"
        spec.update(parallelism=2, completions=2)
    elif kind == "ReplicationController":
        spec["replicas"] = r.randrange(1, 5)
        if r.random() < 0.5:
            spec["selector"] = labels
    else:
        spec["selector"] = {"matchLabels": labels}
        if kind != "DaemonSet":
            spec["replicas"] = r.randrange(1, 5)
        if kind == "StatefulSet":
            spec["serviceName"] = "w"
            claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
            claim["storageClassName"] = r.choice(("later", "at-once", "zonal"))
            spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w%d" % i}, "spec": spec}


def random_events(r, nodes, workloads):
    rows = ["time,event,object,value"]
    for _ in range(r.randrange(6)):
        t, n = r.randrange(700), "n%d" % r.randrange(nodes)
        rows.append(
            r.choice(
                (
                    "%d,drain,%s,2m" % (t, n),
                    "%d,drain,%s," % (t, n),
                    "%d,fail,%s,1m" % (t, n),
                    "%d,fail,%s," % (t, n),
                    "%d,leave,%s," % (t, n),
                    "%d,roll,disk=ssd,30s" % t,
                )
            )
        )
    rows.append("%d,join,new,n0" % r.randrange(700))
    for w in workloads:
        if w["kind"] in ("Deployment", "ReplicaSet", "StatefulSet") and w["spec"]["replicas"] and r.random() < 0.5:
            rows.append(
                "%d,scale,%s default/%s,%d" % (r.randrange(700), w["kind"], w["metadata"]["name"], r.randrange(6))
            )
    return "\n".join(rows) + "\n"


def random_simulation(r, name, release):
    """Returns the arguments of a simulation, whose files are written."""
    nodes = r.randrange(4, 9)
    objects = [random_node(r, i) for i in range(nodes)]
    if not any(n["metadata"]["labels"]["disk"] == "ssd" for n in objects):
        objects[0]["metadata"]["labels"]["disk"] = "ssd"
    objects += storage(r, release)
    workloads = [random_workload(r, i, release) for i in range(r.randrange(4))]
    objects += workloads
    objects += [random_pod(r, "p%d" % i, release) for i in range(r.randrange(10, 40))]
    for i in range(r.randrange(3)):
        on = pod("on%d" % i, cpu="300m", on="n%d" % i, labels={"app": "a"}, owner="ReplicaSet")
        objects.append(on)
    policy = "policy/v1" if release in ("1.29", "1.36") else "policy/v1beta1"
    if r.random() < 0.6:
        spec = {"selector": {"matchLabels": {"app": "a"}}, "maxUnavailable": r.choice((0, 1))}
        objects.append({"apiVersion": policy, "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec})
    objects.append(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"app": "a"}}}
    )
    arguments = [
        write_file(name + ".json", "\n".join(json.dumps(o) for o in objects)),
        "--events",
        write_file(name + "-events.csv", random_events(r, nodes, workloads)),
        "--generate",
        "count=%d,for=10m,duration=2m,cpu=%dm,priority=%d" % (r.randrange(1, 40), r.randrange(50, 900), r.randrange(3)),
        "--seed",
        str(r.randrange(1000)),
        "--emulated-version=" + release,
        "--validate=off",
        "--until=2h",
    ]
    for flag, most in (("bind", 3), ("start", 20), ("end", 20), ("eviction", 300)):
        if r.random() < 0.5:
            arguments.append("--%s-delay=%ds" % (flag, r.randrange(most)))
    gates = [g for g in ("PodPriority", "VolumeScheduling", "BlockVolume") if r.random() < 0.6]
    if release in ("1.8", "1.9", "1.10"):
        known = ("PodPriority",) if release == "1.8" else ("PodPriority", "VolumeScheduling")
        gates = [g + "=true" for g in gates if g in known]
        if gates:
            arguments.append("--feature-gates=" + ",".join(gates))
    return arguments


def test_random_recordings_replay():
    for release in RELEASES:
        for seed in range(FIRST, LAST + 1):
            name = "random-%s-%d" % (release, seed)
            arguments = random_simulation(random.Random("%s/%d" % (release, seed)), name, release)
            folder = scratch(name)
            code, out, err = schedsim("simulate", *arguments, "-o", "json", "--record-dir", folder)
            assert code == 0, (name + ": is simulated", "schedsim simulate " + " ".join(arguments) + "\n" + err[-800:])
            if code != 0:
                continue
            code, text, err = schedsim("replay", folder, "--check")
            assert code == 0, (name + ": replays", "schedsim simulate %s\n%s%s" % (arguments, text[-900:], err[-500:]))
            plain = schedsim("simulate", *arguments, "-o", "json")[1]
            assert plain == out, name + ": a recording changes nothing"


harness.main(globals())
