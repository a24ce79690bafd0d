#!/usr/bin/env python3
"""Tests schedsim check and schedsim schema with good and bad Policies and configurations, and the schemas that editors
use."""
import functools
import glob
import json
import os
import subprocess
import sys

try:
    import jsonschema
except ImportError:  # Debian's package belongs to Debian's python3, which may not be the first in PATH.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import harness
from harness import ROOT, schedsim, write_file

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def report(text, *flags):
    """Returns exit status and report of `schedsim check` for a text."""
    status, out, _ = schedsim("check", "-", "-o", "json", *flags, feed=text)
    return status, json.loads(out)


def configuration(profile=None, **members):
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **({"profiles": [profile]} if profile is not None else {}),
        **members,
    }


def args(plugin, **members):
    return configuration({"pluginConfig": [{"name": plugin, "args": members}]})


def test_the_default_profile():
    status, r = report(HEAD)
    assert (status, r["good"], r["errors"]) == (0, True, []), (status, r["good"], r["errors"])
    (profile,) = r["profiles"]
    assert profile["schedulerName"] == "default-scheduler", profile["schedulerName"]
    assert [(p["name"], p["weight"]) for p in profile["plugins"]["score"]] == [
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ], "plugins that score"


RACKS = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": n, "labels": {"rack": n, "zone": "z"}},
        "status": {"allocatable": {"cpu": cpu, "memory": "100Gi", "pods": "110"}},
    }
    for n, cpu in (("r1", "100"), ("r2", "1"))
]


def racks(profiles):
    """Returns how many of ten pods of one app are placed on two racks, of which one has room for a single pod, by
    scheduler."""
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "%s-%d" % (p["schedulerName"], i), "labels": {"app": p["schedulerName"]}},
            "spec": {
                "schedulerName": p["schedulerName"],
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}],
            },
        }
        for p in profiles
        for i in range(10)
    ]
    file = write_file("racks.json", {**configuration(), "profiles": profiles})
    feed = json.dumps({"apiVersion": "v1", "kind": "List", "items": RACKS + pods})
    status, out, err = schedsim("run", "-", "--config", file, "-o", "json", "--check-decisions", feed=feed)
    assert status == 0, err
    placed = [d["pod"].split("/")[1].rsplit("-", 1)[0] for d in json.loads(out)["decisions"] if d.get("host") == "r1"]
    return {p["schedulerName"]: placed.count(p["schedulerName"]) for p in profiles}


def rack_profile(name, args=None, point="filter"):
    return {
        "schedulerName": name,
        "plugins": {point: {"enabled": [{"name": "RackSpread"}]}, "score": {"disabled": [{"name": "*"}]}},
        "pluginConfig": [] if args is None else [{"name": "RackSpread", "args": args}],
    }


def test_arguments_of_own_plugins():
    placed = racks(
        [
            rack_profile("a", {"maxSkew": 8}),
            rack_profile("b"),
            rack_profile("c", {"maxSkew": 2, "label": "zone"}, "multiPoint"),
        ]
    )
    assert placed["a"] >= placed["b"] and placed["c"] >= 9, placed
    bad = write_file("bad.json", configuration(rack_profile("default-scheduler", {"maxSkew": 0})))
    status, _, err = schedsim(
        "run", "-", "--config", bad, feed=json.dumps({"apiVersion": "v1", "kind": "List", "items": RACKS})
    )
    assert status == 1 and "plugin RackSpread: args: maxSkew: 0" in err, err
    run = subprocess.run(
        [
            os.path.join(harness.BIN, "kube-scheduler"),
            "--config",
            bad,
            "--master=http://127.0.0.1:1",
            "--leader-elect=false",
            "--secure-port=0",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1 and "plugin RackSpread: args: maxSkew: 0" in run.stderr, run.stderr


def test_gates_change_the_profile():
    status, r = report(HEAD, "--feature-gates=PodSchedulingReadiness=false")
    assert status == 0, r
    assert r["profiles"][0]["plugins"]["preEnqueue"] == [], r["profiles"][0]["plugins"]["preEnqueue"]


def test_the_old_name_works():
    status, out, err = schedsim("check-policy", os.path.join(ROOT, "policies", "most-pods.json"))
    assert status == 0, err
    assert "a good Policy" in out, out


@functools.cache
def validator(kind, release=None):
    status, out, err = schedsim("schema", kind, *(["--emulated-version=" + release] if release else []))
    assert status == 0, err
    schema = json.loads(out)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


# `check` accepts what a schema accepts, and a schema rejects what `check` rejects because of its form.
def good(kind, document, release=None):
    assert [e.message for e in validator(kind, release).iter_errors(document)] == [], (release, document)
    status, r = report(json.dumps(document), *(["--emulated-version=" + release] if release else []))
    assert (status, r["errors"]) == (0, []), (release, document, r)


def bad(kind, document, release=None):
    assert list(validator(kind, release).iter_errors(document)), (release, document)
    status, r = report(json.dumps(document), *(["--emulated-version=" + release] if release else []))
    assert status == 1 or r["warnings"], (release, document)


def test_policies_of_each_release():
    for release in ("1.8", "1.9", "1.10", "1.13", "1.19"):
        good(
            "policy",
            {
                "kind": "Policy",
                "apiVersion": "v1",
                "predicates": [{"name": "GeneralPredicates"}],
                "priorities": [{"name": "ImageLocalityPriority", "weight": 2}],
            },
            release,
        )
        bad("policy", {"predicates": [{"name": "Nope"}]}, release)
        bad("policy", {"priorities": [{"name": "ImageLocalityPriority", "weight": "2"}]}, release)
        ratio = {"requestedToCapacityRatioArguments": {"shape": [{"utilization": 0, "score": 1}]}}
        policy = {"priorities": [{"name": "Packed", "weight": 1, "argument": ratio}]}
        if int(release.split(".")[1]) >= 12:
            good("policy", policy, release)
        else:
            status, r = report(json.dumps(policy), "--emulated-version=" + release)
            assert "Exactly 1 priority argument is required, numArgs: 0, Priority: Packed" in r["errors"][0], r
            assert "requestedToCapacityRatioArguments: a field of 1.12 or later, ignored" in r["warnings"][0], r
        # What came with one release, or went with one.
        for since, until, name in ((9, 99, "CheckVolumeBinding"), (0, 9, "NoVolumeNodeConflict")):
            (good if since <= int(release.split(".")[1]) < until else bad)(
                "policy", {"predicates": [{"name": name}]}, release
            )


def test_configurations_of_1_19():
    def of(**members):
        return {"apiVersion": "kubescheduler.config.k8s.io/v1beta1", "kind": "KubeSchedulerConfiguration", **members}

    for document in (
        of(),
        of(podInitialBackoffSeconds=2, podMaxBackoffSeconds=30),
        of(healthzBindAddress=":1234", metricsBindAddress=""),
        of(leaderElection={"resourceLock": "configmapsleases"}),
        of(percentageOfNodesToScore=30, enableContentionProfiling=False),
        of(
            profiles=[
                {
                    "schedulerName": "a",
                    "plugins": {
                        "score": {
                            "disabled": [{"name": "*"}],
                            "enabled": [{"name": "NodeResourcesMostAllocated", "weight": 3}],
                        }
                    },
                    "pluginConfig": [
                        {"name": "NodeResourcesMostAllocated", "args": {"resources": [{"name": "cpu", "weight": 2}]}}
                    ],
                }
            ]
        ),
    ):
        good("configuration", document, "1.19")
    for document in (
        of(podInitialBackoffSeconds="2s"),
        of(podMaxBackoffSeconds=1.5),
        of(podInitialBackoffSeconds=0),
        of(podMaxBackoffSeconds=-1),
        of(parallelism=16),
        of(delayCacheUntilActive=True),
        of(percentageOfNodesToScore=101),
        of(algorithmSource={}),
        of(profiles=[{"percentageOfNodesToScore": 30}]),
        of(profiles=[{"plugins": {"multiPoint": {}}}]),
        of(profiles=[{"plugins": {"score": {"enabled": [{"name": "NodeResourcesFit"}]}}}]),
    ):
        bad("configuration", document, "1.19")


def test_configurations_without_profiles():
    versions = {
        "1.9": "componentconfig/v1alpha1",
        "1.10": "componentconfig/v1alpha1",
        "1.13": "kubescheduler.config.k8s.io/v1alpha1",
    }
    for release, version in versions.items():

        def of(**members):
            return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", **members}

        for document in (
            of(),
            of(schedulerName="mine", algorithmSource={"provider": "ClusterAutoscalerProvider"}),
            of(leaderElection={"leaderElect": True, "leaseDuration": "20s", "resourceLock": "leases"}),
            of(clientConnection={"qps": 1.5, "burst": 9}, healthzBindAddress="127.0.0.1:1234"),
            of(percentageOfNodesToScore=-1, hardPodAffinitySymmetricWeight=7, disablePreemption=True),
            of(profiles=[{"schedulerName": "a", "algorithmSource": {"provider": "DefaultProvider"}}]),
        ):
            good("configuration", document, release)
        for document in (
            of(leaderElection={"leaseDuration": 15}),
            of(leaderElection={"leaderElect": 1}),
            of(clientConnection={"qps": "fast"}),
            of(clientConnection=[1]),
            of(enableProfiling="yes"),
            of(podMaxBackoffSeconds=-1),
            of(profiles=[{}]),
            of(schedulername={}),
            of(algorithmSource={"policy": {"file": "f"}}),
            of(leaderElect=True),
        ):
            bad("configuration", document, release)


def test_mistakes_in_configurations_without_profiles():
    head = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    lock = "leaderElection: {leaseDuration: 15, resourceLock: endpoints}\n"
    status, r = report(head + lock + "enableProfiling: 1\ntypo: 2\n")
    assert (status, r["errors"], r["warnings"]) == (
        1,
        [
            'line 3, column 33: leaderElection.leaseDuration: invalid value 15: must be a string such as "15s"',
            "line 4, column 18: enableProfiling: invalid value 1: must be true or false",
        ],
        ['unknown field "typo" is ignored'],
    ), "all mistakes, with their lines"
    assert (
        report(head + "leaderElection:\n  resourceLock: stone\n  leaseDuration: 5s\npodMaxBackoffSeconds: -1\n")[1][
            "errors"
        ]
    ) == [
        "line 4, column 17: couldn't create resource lock: Invalid lock-type stone (leaderElection.resourceLock must "
        "be endpoints, configmaps or leases)",
        "line 4, column 3: couldn't create leader elector: leaseDuration must be greater than renewDeadline",
        "line 6, column 23: podMaxBackoffSeconds: invalid value -1: must be greater than or equal to "
        "podInitialBackoffSeconds",
    ], "what the daemon finds when it starts"
    assert report(head + "algorithmSource: {provider: Nope}\n")[1]["errors"] == [
        'line 3, column 29: algorithmSource.provider: plugin "Nope" has not been registered'
    ], "a provider that does not exist"
    status, r = report(head + "algorithmSource: {provider: ClusterAutoscalerProvider}\n")
    (scheduler,) = r["schedulers"]
    assert (r["emulatedVersion"], scheduler["source"]) == ("1.13", "provider ClusterAutoscalerProvider"), r
    assert "MostRequestedPriority" in scheduler["priorities"] and "GeneralPredicates" in scheduler["predicates"], r


def test_the_policy_that_a_configuration_names():
    policy = harness.scratch("policy-of-a-configuration.json")
    head = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    text = head + "algorithmSource: {policy: {file: {path: %s}}}\n" % policy
    status, r = report(text)
    assert status == 0 and "its Policy is not checked" in r["warnings"][0], r
    write_file("policy-of-a-configuration.json", '{"predicates": [{"name": "HostName"}], "priorities": []}')
    status, r = report(text)
    assert (status, "HostName" in r["schedulers"][0]["predicates"]) == (0, True), "predicates"
    write_file("policy-of-a-configuration.json", '{"predicates": [{"name": "Nope"}]}')
    status, r = report(text)
    assert (status, r["errors"]) == (
        1,
        [
            "line 3, column 41: %s: line 1, column 17: predicates[0]: Invalid configuration: Predicate type not "
            "found for Nope" % policy
        ],
    ), "the mistake of the Policy"


def test_all_shipped_policies_are_good():
    files = glob.glob(os.path.join(ROOT, "policies", "*.json"))
    assert len(files) >= 5, len(files)
    for name in files:
        with open(name) as f:
            good("policy", json.load(f))


def test_good_policies():
    for policy in (
        {},
        {"kind": "Policy", "apiVersion": "v1", "predicates": [], "priorities": []},
        {"predicates": [{"name": "Mine", "argument": {"labelsPresence": {"labels": ["a"]}}}]},
        {
            "extenders": [
                {
                    "urlPrefix": "http://x",
                    "filterVerb": "f",
                    "httpTimeout": 1000000000,
                    "BindVerb": "b",
                    "tlsConfig": {"Insecure": True},
                    "managedResources": [{"name": "example.com/x"}],
                }
            ]
        },
    ):
        good("policy", policy)


def test_bad_policies():
    for policy in (
        {"kind": "Policies"},
        {"predicate": []},
        {"predicates": {}},
        {"predicates": [{"name": "Nope"}]},
        {"predicates": [{}]},
        {"priorities": [{"name": "EqualPriority"}]},
        {"priorities": [{"name": "EqualPriority", "weight": 0}]},
        {"priorities": [{"name": "EqualPriority", "weight": "1"}]},
        {"predicates": [{"name": "Mine", "argument": {}}]},
        {"extenders": [{"urlPrefix": "http://x", "httpTimeout": "5s"}]},
        {"hardPodAffinitySymmetricWeight": 101},
        {"alwaysCheckAllPredicates": "yes"},
    ):
        bad("policy", policy)


def test_good_configurations():
    for document in (
        configuration(),
        configuration(
            {
                "plugins": {
                    "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality", "weight": 2}]},
                    "multiPoint": {"enabled": [{"name": "CinderLimits"}]},
                }
            }
        ),
        configuration(leaderElection={"leaseDuration": "1m30s", "leaderElect": False}, parallelism=1),
        args(
            "NodeResourcesFit",
            kind="NodeResourcesFitArgs",
            apiVersion="kubescheduler.config.k8s.io/v1",
            scoringStrategy={
                "type": "RequestedToCapacityRatio",
                "resources": [{"name": "cpu", "weight": 3}],
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
                },
            },
        ),
        args(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        ),
        args(
            "NodeAffinity",
            addedAffinity={
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            },
        ),
        args("SomebodysPlugin", anything=[1, 2]),
        configuration(
            extenders=[
                {
                    "urlPrefix": "http://x",
                    "prioritizeVerb": "p",
                    "weight": 1,
                    "httpTimeout": "100ms",
                    "enableHTTPS": False,
                }
            ]
        ),
    ):
        good("configuration", document)


def test_bad_configurations():
    for document in (
        {"kind": "KubeSchedulerConfiguration"},
        {"apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": "KubeSchedulerConfiguration"},
        configuration(algorithmSource={}),
        configuration(parallelism=0),
        configuration(parallelism="16"),
        configuration(percentageOfNodesToScore=101),
        configuration(leaderElection={"leaseDuration": 15}),
        configuration({"plugins": {"filter": {"enabled": [{"name": "ImageLocality"}]}}}),
        configuration({"plugins": {"multiPoint": {"enabled": [{"name": "Nope"}]}}}),
        configuration({"plugins": {"filters": {}}}),
        args("NodeResourcesFit", bogus=1),
        args("InterPodAffinity", hardPodAffinityWeight=101),
        args("PodTopologySpread", defaultingType="Lists"),
        args(
            "NodeAffinity",
            addedAffinity={
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Foo"}]}]
                }
            },
        ),
        args(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=[
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
            ],
        ),
        configuration(extenders=[{"httpTimeout": 5}]),
    ):
        bad("configuration", document)


harness.main(globals())
