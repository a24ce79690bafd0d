#!/usr/bin/env python3
"""Rules that plugin/ registers exist in every release: selected by a Policy where the release reads Policies, and by a
profile where it has profiles, they decide what the release's own rules alone would not."""
import json

import harness
from harness import node, pod, schedsim

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
BY_POLICY = ("1.8", "1.9", "1.10", "1.13", "1.19")
BY_PROFILE = {"1.19": "v1beta1", "1.29": "v1", "1.36": "v1"}


def stored(o):
    o["metadata"].setdefault("uid", o["metadata"]["name"])
    if o["kind"] == "Pod":
        o["metadata"].setdefault("namespace", "default")
    return o


def hosts(release, **how):
    """Returns the nodes that three pods get, of which a node may have one, and the reasons of the pod that waits."""
    cheap, dear = node("a-cheap"), node("b-dear")
    cheap["metadata"]["labels"] = {"price-per-hour": "1"}
    dear["metadata"]["labels"] = {"price-per-hour": "9"}
    pods = []
    for name in ("p1", "p2", "p3"):
        p = pod(name)
        p["metadata"]["labels"] = {"app": "web", "max-per-node": "1"}
        pods.append(stored(p))
    scenario = {
        "apiVersion": "schedsim/v1",
        "kind": "Scenario",
        "emulatedVersion": release,
        "cluster": {"kind": "List", "apiVersion": "v1", "items": [stored(cheap), stored(dear)]},
        "pods": pods,
        **how,
    }
    status, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    assert (status, err if status else "") == (0, ""), "status of release " + release
    decisions = json.loads(out)["decisions"]
    return [d["host"] for d in decisions], sorted(set(sum(decisions[-1].get("failures", {}).values(), [])))


def test_a_policy_selects_them():
    for form in ("", "Plain"):
        policy = {
            "kind": "Policy",
            "apiVersion": "v1",
            "predicates": [{"name": "MaxReplicasPerNode" + form}],
            "priorities": [{"name": "CheapestNodePriority" + form, "weight": 1}],
        }
        for release in BY_POLICY:
            got, reasons = hosts(release, policy=policy)
            assert got == ["a-cheap", "b-dear", ""], "nodes by Policy%s in %s" % (form, release)
            assert len(reasons) == 1, "one reason in " + release


def test_a_profile_selects_them():
    for form in ("", "Plain"):
        for release, version in BY_PROFILE.items():
            plugins = {
                "filter": {"enabled": [{"name": "MaxReplicasPerNode" + form}]},
                "score": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "CheapestNodePriority" + form, "weight": 1}],
                },
            }
            got, reasons = hosts(
                release,
                configuration={
                    "apiVersion": "kubescheduler.config.k8s.io/" + version,
                    "kind": "KubeSchedulerConfiguration",
                    "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
                },
            )
            assert got == ["a-cheap", "b-dear", ""], "nodes by profile%s in %s" % (form, release)
            assert len(reasons) == 1, "one reason in " + release


def test_without_them_the_pods_share_nodes():
    for release in RELEASES:
        got, _ = hosts(release)
        assert not ("" in got), "all three placed in " + release


harness.main(globals())
