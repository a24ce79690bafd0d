#!/usr/bin/env python3
"""schedsim convert: Policies and configurations of all versions, for other releases, and the proof."""
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


def test_policy_becomes_configuration():
    policy = write_file("policy.json", POLICY)
    status, out, err = schedsim("convert", policy, "--to", "1.29", "-o", "json")
    assert status == 0, "status"
    assert json.loads(out)["apiVersion"] == "kubescheduler.config.k8s.io/v1", "version"
    assert "predicates: CheckNodeCondition: " in err, "a note"
    assert all(line.startswith("schedsim: %s: " % policy) for line in err.splitlines()), "each line names the file"
    # What was written is read, and decides.
    made = write_file("made.yaml", schedsim("convert", policy, "--to=1.29")[1])
    status, out, err = schedsim("run", cluster(), "--config", made, "-o", "placements")
    assert status == 0, "run"
    assert len({line.split()[1] for line in out.splitlines()}) == 1, "all pods are on one node"


def test_proof():
    policy = write_file("policy.json", POLICY)
    status, out, err = schedsim("convert", policy, "--to=1.13", "--prove", cluster())
    assert status == 0, "equal decisions"
    assert "Both decide the same for 4 pods." in err, "says so"
    assert json.loads(out)["kind"] == "Policy", "the Policy is JSON"
    # Without taints, the Policy places pods that the mandatory predicate of the other release keeps away.
    tainted = write_objects("tainted.json", [node("n0", taints=[{"key": "k", "effect": "NoSchedule"}]), pod("p0")])
    bare = write_file("bare.json", {"kind": "Policy", "predicates": [{"name": "HostName"}], "priorities": []})
    status, out, err = schedsim("convert", bare, "--from=1.10", "--to=1.13", "--prove", tainted)
    assert status == 3, "other decisions"
    assert "default/p0" in err and "PodToleratesNodeTaints" in err, "the pod and the rule"
    status, out, err = schedsim("convert", policy, "--to=1.29", "--prove", cluster())
    assert out.splitlines()[-1].startswith("# "), "in YAML the table is a comment"


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


def test_preemption_that_is_off():
    off = write_file(
        "off.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\ndisablePreemption: true\n",
    )
    for release, text in (
        ("1.10", "unless the feature gate PodPriority is on"),
        ("1.13", "write disablePreemption: true"),
    ):
        err = schedsim("convert", off, "--to", release)[2]
        assert text in err, "to %s: %s" % (release, text)
    # The source itself turned it off, so nothing is lost in later releases.
    for release in ("1.19", "1.29", "1.36"):
        status, out, err = schedsim("convert", off, "--to", release)
        assert "name: DefaultPreemption" in out and "DefaultPreemption: off" not in err, "to " + release


def test_plugins_of_other_schedulers():
    head = (
        "apiVersion: kubescheduler.config.k8s.io/%s\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- schedulerName: default-scheduler\n  plugins:\n"
    )
    own = write_file(
        "own.yaml",
        head % "v1"
        + "    multiPoint: {enabled: [{name: Coscheduling}]}\n    score: {disabled: [{name: ImageLocality}]}\n"
        "  pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 10}}]\n",
    )
    for release in ("1.13", "1.29", "1.36"):
        status, out, err = schedsim("convert", own, "--to", release)
        assert status == 0, "status of " + release
        assert "Coscheduling: the release of the source has no such plugin" in err, "said in " + release
        assert "Coscheduling" not in out, "left out in " + release
    mistake = write_file(
        "mistake.yaml",
        head % "v1" + "    score: {disabled: [{name: ImageLocalty}], enabled: [{name: NodeResourceFit}]}\n",
    )
    status, out, err = schedsim("convert", mistake, "--to=1.36")
    assert status == 1 and "NodeResourceFit" in err, "a mistake"
    # SelectorSpread and others were plugins until a later version: they become what replaced them, or stay.
    spread = write_file(
        "spread.yaml",
        head % "v1beta2" + "    score: {disabled: [{name: '*'}], enabled: [{name: SelectorSpread, weight: 3}]}\n",
    )
    status, out, err = schedsim("convert", spread, "--to=1.29", "-o", "json")
    scores = json.loads(out)["profiles"][0]["plugins"]["score"]["enabled"]
    assert scores == [{"name": "PodTopologySpread", "weight": 3}], "its successor"
    assert "score: SelectorSpread: PodTopologySpread does it by its default constraints" in err, "said"
    status, out, err = schedsim("convert", spread, "--to=1.19", "-o", "json")
    assert '"name":"SelectorSpread","weight":3' in out and "SelectorSpread" not in err, ("it stays", out + err)


def test_unread_versions_are_recognised():
    for version, release, readers in (
        ("v1alpha2", "1.19", "release 1.18"),
        ("v1beta2", "1.29", "releases 1.22 to 1.27"),
    ):
        file = write_file(
            version + ".yaml",
            "apiVersion: kubescheduler.config.k8s.io/%s\nkind: KubeSchedulerConfiguration\n" % version,
        )
        for command in (
            ["run", cluster(), "--config", file],
            ["check", file],
            ["compare", cluster(), "--config", file],
        ):
            status, out, err = schedsim(*command)
            assert status == 1, "status of " + command[0]
            assert "is read by %s of Kubernetes" % readers in err and "schedsim convert" in err, "readers of " + version
        status, out, err = schedsim("convert", file, "--to", release)
        assert status == 0, "converted"
        status, _, err = schedsim(
            "run", cluster(), "--emulated-version", release, "--config", write_file("next.yaml", out)
        )
        assert status == 0, ("the result is read", err)


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


def test_what_has_no_effect_is_said_once():
    file = write_file(
        "part.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 30\n",
    )
    for command in (
        ["run", cluster()],
        ["simulate", cluster()],
        ["compare", cluster()],
        ["what-if", cluster(), "--drain", "n0"],
    ):
        status, _, err = schedsim(*command, "--config", file)
        assert status == 0, "status of " + command[0]
        assert err.count("percentageOfNodesToScore has no effect") == 1, "notices of " + command[0]


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


def test_mistakes():
    policy = write_file("policy.json", POLICY)
    for arguments, want, text in (
        ([policy], 2, "convert: --to RELEASE is needed"),
        ([policy, "--to=1.20"], 2, '--to: invalid value "1.20"'),
        ([policy, policy, "--to=1.29"], 2, "takes one FILE"),
        ([scratch("none"), "--to=1.29"], 1, "none"),
        (
            [write_file("pod.yaml", "kind: Pod\napiVersion: v1\n"), "--to=1.29"],
            1,
            "must be Policy or KubeSchedulerConfiguration",
        ),
    ):
        status, out, err = schedsim("convert", *arguments)
        assert status == want, "status of %s" % arguments
        assert text in err, "message of %s" % arguments


harness.main(globals())
