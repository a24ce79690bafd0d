#!/usr/bin/env python3
"""Tests schedsim check and schedsim schema with good and bad Policies and configurations, and the schemas that editors
use."""
import functools
import glob
import json
import os
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:  # Debian's package belongs to Debian's python3, which may not be the first in PATH.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import harness
from harness import ROOT, check_equal, schedsim, write_file

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
    check_equal(
        "plugins that score",
        [(p["name"], p["weight"]) for p in profile["plugins"]["score"]],
        [
            ("TaintToleration", 3),
            ("NodeAffinity", 2),
            ("NodeResourcesFit", 1),
            ("VolumeBinding", 1),
            ("PodTopologySpread", 2),
            ("InterPodAffinity", 2),
            ("NodeResourcesBalancedAllocation", 1),
            ("ImageLocality", 1),
        ],
    )


def test_the_table_names_all_extension_points_in_80_columns():
    status, out, err = schedsim("check", "-", feed=HEAD + "percentageOfNodesToScore: 10\n")
    assert status == 0, err
    assert max(map(len, out.splitlines())) <= 80, out
    for part in (
        "a good KubeSchedulerConfiguration",
        "Profile default-scheduler",
        "queueSort   PrioritySort",
        "TaintToleration x3, NodeAffinity x2",
        "permit      none",
        "percentageOfNodesToScore has no effect",
    ):
        assert part in out, out


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
    text = json.dumps(configuration(rack_profile("a", {"maxSkew": 0, "nonsense": True})))
    status, r = report(text)
    assert status == 1 and r["errors"] == [
        "line 1, column %d: profiles[0].pluginConfig[0].args.maxSkew: 0: must be a whole number from 1 to 1000"
        % (text.index('0, "nonsense"') + 1),
        "line 1, column %d: profiles[0].pluginConfig[0].args.nonsense: there is no such argument"
        % (text.index("true}") + 1),
    ], r["errors"]
    for wrong, says in (
        ([1], "must be an object"),
        ("x", "must be an object"),
        ({"label": {"a": 1}}, "label: {\"a\":1}: must be a text"),
    ):
        status, r = report(json.dumps(configuration(rack_profile("a", wrong))))
        assert status == 1 and says in r["errors"][0], (wrong, r)
    plain = {
        "plugins": {"filter": {"enabled": [{"name": "MaxReplicasPerNodePlain"}]}},
        "pluginConfig": [{"name": "MaxReplicasPerNodePlain", "args": {"a": 1}}],
    }
    status, r = report(json.dumps(configuration(plain)))
    assert status == 1 and "takes no arguments" in r["errors"][0], r
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


def test_own_rules_with_arguments_are_not_called_built_in():
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": "RackSpread", "argument": {"maxSkew": 2}}],
        "priorities": [{"name": "EqualPriority", "weight": 1}],
    }
    for name, argument, expected in (
        ("RackSpread", {"maxSkew": 2}, 0),
        ("PodFitsPorts", {"labelsPresence": {"labels": ["x"], "presence": True}}, 1),
    ):
        policy["predicates"] = [{"name": name, "argument": argument}]
        status, out, err = schedsim("check", "-", feed=json.dumps(policy))
        check_equal("%s: exit status" % name, status, 0)
        check_equal("%s: notes that it never runs" % name, out.count("never runs"), expected)


def test_all_mistakes_at_once_with_their_places():
    text = json.dumps(
        configuration({"plugins": {"filter": {"enabled": [{"name": "NodePort"}]}}}, parallelism=0, parallelsm=3),
        indent=1,
    )
    status, out, err = schedsim("check", "-", feed=text)
    assert (status, out) == (1, ""), (status, out)
    lines = err.splitlines()
    assert len(lines) == 3, err
    assert re.search(
        r'^standard input: line \d+, column \d+: unknown field "parallelsm" \(did you mean "parallelism"\?\)$', lines[0]
    ), lines[0]
    assert "parallelism: Invalid value: 0: should be an integer value greater than zero" in lines[1], lines[1]
    assert (
        'FilterPlugin "NodePort" does not exist (did you mean "NodePorts"? there are: AzureDiskLimits' in lines[2]
    ), lines[2]


def test_other_versions_are_refused():
    for version, words in (
        ("kubescheduler.config.k8s.io/v1beta2", 'no kind "KubeSchedulerConfiguration"'),
        ("componentconfig/v1alpha1", "kube-scheduler --config"),
    ):
        status, r = report(json.dumps({"apiVersion": version, "kind": "KubeSchedulerConfiguration"}))
        assert status == 1, status
        assert words in r["errors"][0], r["errors"][0]


def test_gates_change_the_profile():
    status, r = report(HEAD, "--feature-gates=PodSchedulingReadiness=false")
    assert status == 0, r
    assert r["profiles"][0]["plugins"]["preEnqueue"] == [], r["profiles"][0]["plugins"]["preEnqueue"]


def test_the_old_name_works():
    status, out, err = schedsim("check-policy", os.path.join(ROOT, "policies", "most-pods.json"))
    assert status == 0, err
    assert "a good Policy" in out, out


def test_a_wrong_duration_hides_no_wrong_name():
    policy = {
        "predicates": [{"name": "PodFitResources"}],
        "priorities": [{"name": "EqualPriority", "weight": 0}],
        "extenders": [{"urlPrefix": "http://127.0.0.1", "httpTimeout": "5s"}],
    }
    status, r = report(json.dumps(policy))
    assert status == 1, status
    assert len(r["errors"]) == 3, r["errors"]
    text = "\n".join(r["errors"])
    for part in ('extenders[0].httpTimeout: "5s"', 'did you mean "PodFitsResources"?', "should have a positive"):
        assert part in text, text
    status, out, err = schedsim("run", "-", "--policy-config-file", write_file("policy.json", policy), feed="{}")
    assert status == 1, status
    for part in ('httpTimeout: "5s"', "PodFitsResources", "should have a positive"):
        assert part in err, err


def test_a_wrong_duration_hides_no_mistake_of_its_extender():
    extender = {"urlPrefix": "ftp://x", "prioritizeVerb": "p", "weight": -2, "managedResources": [{"name": "cpu"}]}
    for duration, message in (("5s", '"5s": a whole number is needed here'), (-5, "-5 is negative")):
        policy = {
            "predicates": [],
            "priorities": [],
            "hardPodAffinitySymmetricWeight": 500,
            "extenders": [{**extender, "httpTimeout": duration}],
        }
        status, r = report(json.dumps(policy))
        assert status == 1, status
        status, out, err = schedsim(
            "run",
            "-",
            "--policy-config-file",
            write_file("policy.json", policy),
            feed='{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p"}}]}',
        )
        assert status == 1, status
        for text in ("\n".join(r["errors"]), err):
            for part in (
                "httpTimeout: " + message,
                "should have a positive weight",
                "cpu is an invalid extended resource name",
                "should begin with http://",
                "hardPodAffinitySymmetricWeight: 500",
            ):
                assert text.count(part) == 1, part + " in\n" + text


def test_flags_commands_and_gates():
    for words, part in (
        (("run", "--polcy-config-file=x"), 'did you mean "--policy-config-file"?'),
        (("chek", "x"), 'did you mean "check"?'),
        (("schema", "polcy"), 'did you mean "policy"?'),
        (("run", "--feature-gates=PodPriorty=true"), 'did you mean "PodPriority"?'),
    ):
        status, out, err = schedsim(*words)
        assert status == 2, err
        assert part in err, err


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
        # What came with one release, or went with one.
        for since, until, name in ((9, 99, "CheckVolumeBinding"), (0, 9, "NoVolumeNodeConflict")):
            (good if since <= int(release.split(".")[1]) < until else bad)(
                "policy", {"predicates": [{"name": name}]}, release
            )
    for release in ("1.29", "1.36"):
        status, _, err = schedsim("schema", "policy", "--emulated-version=" + release)
        assert status == 1 and "release %s has no Policies" % release in err, err
    for release in ("1.8", "1.9", "1.10", "1.13"):
        status, _, err = schedsim("schema", "configuration", "--emulated-version=" + release)
        assert status == 1 and "release %s has no configuration with profiles" % release in err, err


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
