#!/usr/bin/env python3
"""Tests schedsim with release 1.29: what explain and capacity say about rules that 1.10 does not have, profiles of a
KubeSchedulerConfiguration, and the effects of an upgrade."""
import json
import os
import tempfile

import harness
from harness import items

LATER = "--emulated-version=1.29"


def schedsim(*words, feed=None):
    return harness.schedsim(*words, feed=items(*feed) if feed is not None else None)


def node(name, zone, cpu="4"):
    return harness.node(name, cpu, labels={"topology.kubernetes.io/zone": zone})


def pod(name, cpu="1", **more):
    return harness.pod(name, cpu, namespace="ns", **more)


def spread(**more):
    return dict(
        {
            "topologyKey": "topology.kubernetes.io/zone",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        },
        **more
    )


WEB = {"app": "web"}
NODES = [node("n1", "zone-a"), node("n2", "zone-b")]


def explain(objects, name="ns/p"):
    code, out, err = schedsim("explain", LATER, "-", "--pod", name, "-o", "json", feed=objects)
    assert code == 0, ("explain runs", err)
    return out


def test_spread():
    out = explain(NODES + [pod("a", on="n1", labels=WEB), pod("p", labels=WEB, topologySpreadConstraints=[spread()])])
    assert "skew in zone-a would be 2, at most 1 is allowed; it fits in zone-b" in out, "skew"
    out = explain(
        NODES
        + [
            pod("a", on="n1", labels=WEB),
            pod("b", on="n2", labels=WEB),
            pod("p", labels=WEB, topologySpreadConstraints=[spread(minDomains=3)]),
        ]
    )
    assert "minDomains needs 3 zones, there are 2" in out, "minDomains"
    code, out, err = schedsim(
        "explain",
        LATER,
        "-",
        "--pod",
        "ns/p",
        feed=NODES
        + [
            pod("a", on="n1", labels=WEB),
            pod("b", on="n2", labels=WEB),
            pod("p", labels=WEB, topologySpreadConstraints=[spread(minDomains=3)]),
        ],
    )
    assert code == 0 and "minDomains needs 3 zones" in " ".join(out.split()), ("the table has it too", out + err)


def claim(name, volume):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "ns", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {
            "volumeName": volume,
            "storageClassName": "",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound"},
    }


def volume(name):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "csi": {"driver": "csi.example.com", "volumeHandle": name},
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
        },
        "status": {"phase": "Bound"},
    }


def with_claim(name, claim_name, on=None):
    return pod(name, on=on, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}])


def test_attach_limit():
    csi = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "n1"},
        "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "n1", "allocatable": {"count": 1}}]},
    }
    storage = [csi, volume("pv1"), volume("pv2"), claim("c1", "pv1"), claim("c2", "pv2")]
    out = explain(NODES[:1] + storage + [with_claim("a", "c1", on="n1"), with_claim("p", "c2")])
    assert "attach limit of csi driver csi.example.com reached: 1 of 1" in out, "attach limit"
    code, out, err = schedsim(
        "run",
        LATER,
        "-",
        "-o",
        "placements",
        feed=NODES + storage + [with_claim("a", "c1", on="n1"), with_claim("p", "c2")],
    )
    assert "ns/p n2" in out, ("the other node has no limit", out + err)


def test_capacity():
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "pod.json")
        with open(spec, "w") as f:
            json.dump(pod("w", labels=WEB, topologySpreadConstraints=[spread()]), f)
        one_full = [node("n1", "zone-a", cpu="1"), node("n2", "zone-b", cpu="8")]
        code, out, err = schedsim("capacity", LATER, "-", "--pod-spec", spec, "-o", "json", feed=one_full)
        answer = json.loads(out)["answers"][0]
        assert answer["replicas"] == 3, ("capacity counts with the skew", out + err)
        assert (
            "skew in zone-b would be 3, at most 1 is allowed" in out
            or "skew in zone-b would be 2, at most 1 is allowed" in out
        ), "and says what stops the next"


def test_configuration():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.yaml")

        def config(text, version="kubescheduler.config.k8s.io/v1"):
            with open(path, "w") as f:
                f.write("apiVersion: %s\nkind: KubeSchedulerConfiguration\n%s" % (version, text))
            return path

        packs = (
            "profiles:\n- schedulerName: packer\n  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
            "      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}\n"
            "  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n"
            "- schedulerName: default-scheduler\n"
        )
        objects = NODES + [
            pod("there", on="n1"),
            pod("spreads"),
            pod("packs", schedulerName="packer"),
            pod("strange", schedulerName="x"),
        ]
        for version in ("v1", "v1beta3"):
            config(packs, "kubescheduler.config.k8s.io/" + version)
            code, out, err = schedsim("run", "--config", path, "-", "-o", "placements", feed=objects)
            assert out.splitlines() == ["ns/spreads n2", "ns/packs n2", "ns/strange -"] or out.splitlines() == [
                "ns/spreads n2",
                "ns/packs n1",
                "ns/strange -",
            ], ("a profile by its name, " + version, out + err)
        config("profiles:\n- plugins: {filter: {enabled: [{name: NodeAfinity}]}}\n")
        code, _, err = schedsim("run", "--config", path, "-", feed=objects)
        assert code == 2 or code == 1, ("an unknown plugin is refused", err)
        assert "NodeAfinity" in err, "by its name"
        code, _, err = schedsim("run", "--config", config(""), "--emulated-version=1.10", "-", feed=objects)
        assert code == 2 and "contradicts --config" in err, "a release that contradicts"
        config("", "componentconfig/v1alpha1")
        code, _, err = schedsim("run", "--config", path, "-", feed=objects)
        assert (
            code != 0 and "must be a version of kubescheduler.config.k8s.io with profiles" in err
        ), "another kind of file"


def test_provider():
    objects = NODES + [pod("p", topologySpreadConstraints=[spread()], labels=WEB), pod("on-1", on="n1", labels=WEB)]
    plain = schedsim("run", LATER, "-", "-o", "placements", feed=objects)
    for words in (
        ["--algorithm-provider", "DefaultProvider"],
        ["--algorithm-provider=DefaultProvider", "--validate=off"],
    ):
        named = schedsim("run", LATER, *words, "-", "-o", "placements", feed=objects)
        assert named[:2] == plain[:2] and "n2" in named[1], "DefaultProvider is the default profile"
    code, out, err = schedsim("run", LATER, "--algorithm-provider", "ClusterAutoscalerProvider", "-", feed=objects)
    assert (
        code == 2
        and 'release 1.29 has no algorithm provider "ClusterAutoscalerProvider" but only '
        "DefaultProvider: give it a configuration" in err
    ), "no other provider"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(
            {
                "apiVersion": "schedsim/v1",
                "kind": "Scenario",
                "algorithmProvider": "DefaultProvider",
                "emulatedVersion": "1.29",
                "pods": [objects[2]],
                "cluster": {"apiVersion": "v1", "kind": "List", "items": NODES + objects[3:]},
            },
            f,
        )
        f.flush()
        code, out, err = schedsim("run", f.name, "-o", "placements")
        assert code == 0 and out == plain[1], ("a Scenario names it", code, out, err)


def test_upgrade():
    objects = NODES + [
        pod("a", on="n1", labels=WEB),
        pod("b", on="n2", labels=WEB),
        pod("p", labels=WEB, topologySpreadConstraints=[spread(minDomains=3)]),
    ]
    code, out, err = schedsim("compare", "--emulated-version=1.10", LATER, "-", "-o", "json", feed=objects)
    assert code == 0, ("compare runs", err)
    d = json.loads(out)["differences"]
    assert len(d) == 1 and d[0]["change"] == "no longer fits", "the pod fits no longer"
    assert len(d) == 1 and d[0]["rule"] == "PodTopologySpread" and d[0]["after"] == "", "because of the rule"
    code, out, err = schedsim("compare", "--emulated-version=1.10", LATER, "-", feed=objects)
    assert "PodTopologySpread" in out and "no longer fits" in out, ("the table names it", out + err)
    same = NODES + [pod("p", nodeSelector={"kubernetes.io/hostname": "n1"})]
    code, out, err = schedsim("compare", "--emulated-version=1.10", LATER, "-", feed=same)
    assert "Every pod goes to the same node with 1.10 and 1.29." in out, ("no difference", out + err)


harness.main(globals())
