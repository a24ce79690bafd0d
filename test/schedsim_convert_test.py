#!/usr/bin/env python3
"""schedsim convert: what takes more than a command and its output (text/convert.test has the rest)."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess

import harness
from harness import BIN, ROOT, node, pod, schedsim, scratch, write_file, write_objects

POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "GeneralPredicates"}, {"name": "PodToleratesNodeTaints"}],
    "priorities": [{"name": "MostRequestedPriority", "weight": 3}],
}


def cluster():
    """Returns a cluster in which no two nodes are alike, so that no release has to choose among equals."""
    return write_objects(
        "cluster.json", [node("n%d" % i, cpu=str(2 + i)) for i in range(3)] + [pod("p%d" % i) for i in range(4)]
    )


def test_proof_is_about_the_pods_of_the_scheduler():
    # The pods of the input name another scheduler than the configuration: they are decided as if they named it.
    mine = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\nschedulerName: mine\n"
    file = write_file("mine.yaml", mine + "algorithmSource: {provider: ClusterAutoscalerProvider}\n")
    status, out, err = schedsim("convert", file, "--to=1.29", "--prove", cluster(), "-o", "json")
    assert "no profile" not in err and "4 pods of other schedulers, as if of mine." in err, "they are placed"
    # Where some name it, the others are left out.
    both = write_objects("both.json", [node("n0"), pod("mine"), pod("other")])
    with open(both, encoding="utf-8") as f:
        listed = json.load(f)
    for o in listed["items"]:
        if o["metadata"]["name"] == "mine":
            o["spec"]["schedulerName"] = "mine"
    status, out, err = schedsim("convert", file, "--to=1.29", "--prove", write_file("both.json", listed), "-o", "json")
    assert status == 0, "status"
    assert (
        "Without 1 pod of other schedulers." in err and "Both decide the same for 1 pod." in err
    ), "the other is left out"
    # A Policy is for all pods.
    status, out, err = schedsim(
        "convert",
        write_file("policy.json", POLICY),
        "--to=1.29",
        "--prove",
        write_file("both.json", listed),
        "-o",
        "json",
    )
    assert "no profile" not in err and "2 pods" in err, "all pods"


def test_unread_versions_are_recognised_everywhere():
    objects, spec = cluster(), write_objects("spec.json", [pod("spec")])
    recording = os.path.join(ROOT, "test/testdata/recordings/evictions.jsonl.gz")
    for version, readers in (("v1alpha2", "release 1.18"), ("v1beta2", "releases 1.22 to 1.27")):
        file = write_file(
            version + ".yaml",
            "apiVersion: kubescheduler.config.k8s.io/%s\nkind: KubeSchedulerConfiguration\n" % version,
        )
        scenario = write_file(
            "scenario.json",
            {
                "apiVersion": "schedsim/v1",
                "kind": "Scenario",
                "emulatedVersion": "1.29",
                "pods": [],
                "cluster": {"items": [node("n")]},
                "configuration": {
                    "apiVersion": "kubescheduler.config.k8s.io/" + version,
                    "kind": "KubeSchedulerConfiguration",
                },
            },
        )
        texts = [
            subprocess.run(
                [os.path.join(BIN, "kube-scheduler"), *flags, "--config=" + file],
                capture_output=True,
                text=True,
                check=False,
            ).stderr
            for flags in (
                [],
                ["--emulated-version=1.29"],
                ["--emulated-version=1.36"],
                ["--write-config-to=" + scratch("written")],
            )
        ]
        for command in (
            ["run", objects],
            ["explain", objects, "--pod=default/p0"],
            ["simulate", objects],
            ["serve", objects, "--port=1"],
            ["capacity", objects, "--pod-spec", spec],
            ["what-if", objects, "--drain", "n0"],
            ["replay", recording],
        ):
            texts.append(schedsim(*command, "--config", file)[2])
        texts += [
            schedsim("check", file, "--emulated-version=" + r)[2] for r in ("1.8", "1.10", "1.19", "1.29", "1.36")
        ]
        with open(scenario, encoding="utf-8") as f:
            older = dict(json.load(f), emulatedVersion="1.10")
        for given in (scenario, write_file("older.json", older)):
            texts += [
                schedsim(*command)[2]
                for command in (
                    ["run", given],
                    ["compare", given, "--emulated-version=1.29"],
                    ["serve", given, "--port=1"],
                )
            ]
        for i, text in enumerate(texts):
            assert "is read by %s of Kubernetes" % readers in text, (
                "%s, way %d: who reads it" % (version, i),
                text[-600:],
            )
            assert "schedsim convert" in text, ("%s, way %d: what to do" % (version, i), text[-600:])


def test_recorded_policies():
    """What hack/convert-fractions counts does not become worse."""
    loader = importlib.machinery.SourceFileLoader("fractions", os.path.join(ROOT, "hack/convert-fractions"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    for pair, policies, least in (
        ("1.10:1.13", 34, 14),
        ("1.10:1.29", 34, 17),
        ("1.10:1.36", 34, 15),
        ("1.19:1.29", 113, 55),
    ):
        found = module.fractions(os.path.join(BIN, "schedsim"), pair)
        assert sum(found.values()) == policies, "Policies of " + pair
        assert found["same"] >= least, "%s: as many as the manual says decide the same" % pair
        assert not found["other"] and not found["refused"], "%s: the other causes are known" % pair


harness.main(globals())
