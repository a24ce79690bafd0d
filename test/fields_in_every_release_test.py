#!/usr/bin/env python3
"""Tests in every release that each field of a pod's spec that uses or demands something counts, blocks the pod, or says
why not: also where the field is newer than the release. No release overcommits a node, evicts or binds because it does
not know a field."""
import json

import harness
from harness import items, node, pod, schedsim

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
SELECTOR = {"matchLabels": {"app": "a"}}


def sidecar(cpu=None, port=None):
    return {
        "name": "s",
        "image": "i",
        "restartPolicy": "Always",
        **({"resources": {"requests": {"cpu": cpu}}} if cpu else {}),
        **({"ports": [{"containerPort": port, "hostPort": port}]} if port else {}),
    }


def with_spec(name, on="", cpu=None, **spec):
    p = pod(name, labels={"app": "a"}, on=on, cpu=cpu)
    p["spec"].update(spec)
    return p


def with_port(name, on=""):
    p = with_spec(name, on)
    p["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return p


def with_status(p, **status):
    p["status"] = {"phase": "Running", **status}
    return p


def resized(name, given, where="containerStatuses", container="c0", **amounts):
    return {
        where: [
            {
                "name": container,
                "image": "i",
                "imageID": "i",
                "ready": True,
                "restartCount": 0,
                "resources": {"requests": {"cpu": given}},
                "allocatedResources": {"cpu": given},
            }
        ],
        **amounts,
    }


def outcome(release, objects, *flags):
    """Returns the node of the pod p, or why it has none."""
    status, out, err = schedsim("run", "-", "-o", "json", "--emulated-version=" + release, *flags, feed=items(*objects))
    assert status == 0, err
    [d] = [d for d in json.loads(out)["decisions"] if d["pod"] == "default/p"]
    return d.get("host") or d.get("error") or d["notAttempted"], d.get("preemption") or {}


def test_what_uses_a_node_counts():
    """A node has 8 cpu. p asks for 4 unless something else is said."""
    first = pod("x")["spec"]["containers"][0]["name"]
    takes = {
        "a sidecar on the node": with_spec("x", "a", initContainers=[sidecar("6")]),
        "overhead on the node": with_spec("x", "a", overhead={"cpu": "6"}),
        "pod-level requests on the node": with_spec("x", "a", resources={"requests": {"cpu": "6"}}),
        "a container that shrinks": with_status(with_spec("x", "a", "1"), **resized("x", "6", container=first)),
        "a sidecar that shrinks": with_status(
            with_spec("x", "a", "1", initContainers=[sidecar("1")]), **resized("x", "6", "initContainerStatuses", "s")
        ),
        "a pod that shrinks": with_status(
            with_spec("x", "a", resources={"requests": {"cpu": "1"}}),
            allocatedResources={"cpu": "6"},
            resources={"requests": {"cpu": "6"}},
        ),
    }
    for release in RELEASES:
        for what, placed in takes.items():
            why, _ = outcome(release, [node("a", cpu="8"), placed, with_spec("p", cpu="4")])
            assert "Insufficient cpu" in why, "%s in release %s" % (what, release)
        for what, wants in (
            ("a sidecar", with_spec("p", cpu="5", initContainers=[sidecar("4")])),
            ("overhead", with_spec("p", cpu="5", overhead={"cpu": "4"})),
            ("pod-level requests", with_spec("p", resources={"requests": {"cpu": "9"}})),
        ):
            why, _ = outcome(release, [node("a", cpu="8"), wants], "--ignore-unknown-fields")
            assert "Insufficient cpu" in why, "%s of the pod in release %s" % (what, release)
        # Release 1.29 knows sidecars, and their ports are free there.
        for what, placed, wants in (
            ("a sidecar", with_spec("x", "a", initContainers=[sidecar(port=80)]), with_port("p")),
            ("the pod's sidecar", with_port("x", "a"), with_spec("p", initContainers=[sidecar(port=80)])),
        ):
            why, _ = outcome(release, [node("a", cpu="8"), placed, wants])
            assert (why == "a") == (release == "1.29"), "the host port of %s in release %s" % (what, release)


def constraint(**more):
    return [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR, **more}
    ]


def test_what_is_demanded_is_met_or_waited_for():
    term = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": SELECTOR, "namespaceSelector": {}}]
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    restart = with_spec("p")
    restart["spec"]["containers"][0].update(
        restartPolicy="Never", restartPolicyRules=[{"action": "RestartAllContainers"}]
    )
    # What is demanded, and the first release that meets it on node a; none for what nothing meets here.
    demands = {
        "a gate": (with_spec("p", schedulingGates=[{"name": "e.com/hold"}]), None),
        "few pod-level requests": (with_spec("p", resources={"requests": {"cpu": "1"}}), "1.36"),
        "many pod-level requests": (with_spec("p", resources={"requests": {"cpu": "9"}}), None),
        "a resource claim": (with_spec("p", resourceClaims=[{"name": "x", "resourceClaimName": "none"}]), None),
        "a group": (with_spec("p", schedulingGroup={"podGroupName": "g"}), "1.36"),
        "users of its own on the host's network": (with_spec("p", hostNetwork=True, hostUsers=False), None),
        "the restart of all containers": (restart, None),
        "an ephemeral volume": (
            with_spec("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}]),
            None,
        ),
        "to be away from pods of all namespaces": (
            with_spec("p", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}),
            None,
        ),
        "more domains than there are": (with_spec("p", topologySpreadConstraints=constraint(minDomains=2)), None),
        "a taint above a number": (
            with_spec("p", nodeSelector={"tainted": "yes"}, tolerations=[{"key": "k", "operator": "Gt", "value": "3"}]),
            None,
        ),
        "even spreading": (with_spec("p", cpu="1", topologySpreadConstraints=constraint()), None),
    }
    for release in RELEASES:
        for what, (wants, since) in demands.items():
            objects = [node("a", cpu="8", labels={"zone": "1", "kubernetes.io/hostname": "a"}), with_spec("x", "a")]
            if since is None and "spreading" in what:
                objects.append(node("b", cpu="0", labels={"zone": "2"}))
            if "taint" in what:
                objects = [
                    node("a", labels={"tainted": "yes"}, taints=[{"key": "k", "value": "5", "effect": "NoSchedule"}])
                ]
            where, _ = outcome(release, [*objects, wants])
            meets = since is not None and RELEASES.index(release) >= RELEASES.index(since)
            assert (where == "a") == meets, "%s in release %s" % (what, release)


def test_nobody_is_evicted_who_must_not_be():
    low = with_status(with_spec("x", "a", "8", priority=1))
    for release in RELEASES:
        gate = ["--feature-gates=PodPriority=true"] if release in ("1.8", "1.9", "1.10") else []
        for policy, evicts in (("PreemptLowerPriority", True), ("Never", False)):
            _, preemption = outcome(
                release,
                [node("a", cpu="8"), low, with_spec("p", cpu="4", priority=100, preemptionPolicy=policy)],
                "--preempt",
                *gate
            )
            assert preemption.get("victims", []) == (["default/x"] if evicts else []), "%s in release %s" % (
                policy,
                release,
            )


harness.main(globals())
