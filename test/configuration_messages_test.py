#!/usr/bin/env python3
"""What kube-scheduler of releases 1.19 and 1.36 says about mistakes in configurations, Policies and gates: the words of
the release, which may be followed by what would be right."""
import json

import harness
from harness import BIN, run, schedsim, write_file

GROUP = "kubescheduler.config.k8s.io/"
# The command ends before it looks for a server.
NOWHERE = write_file("kubeconfig", "not a kubeconfig: [")
CREATING = "initializing profiles: creating profile for scheduler name default-scheduler: "


def of(version, **members):
    return dict(apiVersion=GROUP + version, kind="KubeSchedulerConfiguration", **members)


def said(release, *flags):
    status, _, err = run(f"{BIN}/kube-scheduler", "--emulated-version=" + release, "--kubeconfig=" + NOWHERE, *flags)
    assert status == 1, (status, err)
    return err


def expect(release, document, *texts, absent=()):
    err = said(
        release, "--config=" + write_file("given.json", document if isinstance(document, str) else json.dumps(document))
    )
    for text in texts:
        assert text in err, "%s\ndoes not contain\n%s" % (err, text)
    for text in absent:
        assert text not in err, err


def profile(**members):
    return {"profiles": [dict(schedulerName="default-scheduler", **members)]}


def arguments(plugin, enabled=False, **args):
    plugins = {"plugins": {"score": {"enabled": [{"name": plugin}]}}} if enabled else {}
    return profile(pluginConfig=[{"name": plugin, "args": args}], **plugins)


def test_values_of_1_36():
    sort = {"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}}
    at = "profiles[0].pluginConfig[0].args."
    shape = [{"utilization": 0, "score": 1}]
    cases = [
        (
            {"profiles": [{"schedulerName": "a"}, dict(sort, schedulerName="b")]},
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":0}],'
            '"Disabled":null}: must be the same for all profiles',
        ),
        (
            {
                "profiles": [
                    dict(sort, schedulerName="a", pluginConfig=[{"name": "PrioritySort", "args": {"a": 1}}]),
                    dict(sort, schedulerName="b", pluginConfig=[{"name": "PrioritySort", "args": {"a": 2}}]),
                ]
            },
            'profiles[1].pluginConfig.args: Invalid value: {"a":2}: queueSort must be the same for all profiles',
        ),
        (
            arguments("VolumeBinding", shape=shape),
            at + 'shape: Invalid value: [{"Utilization":0,"Score":1}]: unexpected field `shape`, remove it or turn on '
            "the feature gate StorageCapacityScoring",
        ),
        (
            {"leaderElection": {"leaseDuration": "5s"}},
            'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        (
            {"leaderElection": {"retryPeriod": "-1s"}},
            'leaderElection.retryPeriod: Invalid value: "-1s": must be greater than zero',
        ),
        (
            arguments("DynamicResources", filterTimeout="-1s"),
            at + 'filterTimeout: Invalid value: "-1s": must be zero or positive',
        ),
        (
            arguments("DynamicResources", bindingTimeout="500ms"),
            at + 'bindingTimeout: Invalid value: "500ms": must be at least 1 second',
        ),
        (
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
            "profiles[1].schedulerName: Duplicate value: ",
        ),
        ({"healthzBindAddress": "x"}, 'strict decoding error: unknown field "healthzBindAddress"'),
        (
            arguments(
                "NodeAffinity",
                addedAffinity={
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}
                        ]
                    }
                },
            ),
            'Invalid value: ["a","b"]: must have one element',
        ),
    ]
    for members, text in cases:
        expect("1.36", of("v1", **members), text)


def test_ratios_of_1_36():
    """As upstream, the arguments of NodeResourcesFit are checked when the plugin is made."""
    begins = CREATING + 'initializing plugin "NodeResourcesFit": scoringStrategy.'
    resources = [{"name": "cpu", "weight": 1}]
    for strategy, text in (
        (
            {"type": "RequestedToCapacityRatio"},
            "requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
        ),
        (
            {"type": "LeastAllocated", "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}]}},
            "requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
        ),
        (
            {
                "type": "RequestedToCapacityRatio",
                "requestedToCapacityRatio": {"shape": [{"utilization": 9, "score": 0}, {"utilization": 9, "score": 0}]},
            },
            "requestedToCapacityRatio.shape[1].utilization: Invalid value: 9: values must be sorted in "
            "increasing order",
        ),
        (
            {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": []}},
            "requestedToCapacityRatio.shape: Required value: at least one point must be specified",
        ),
    ):
        expect(
            "1.36",
            of("v1", **arguments("NodeResourcesFit", scoringStrategy=dict(strategy, resources=resources))),
            begins + text,
        )
    # 1.29 takes a block that its strategy does not use.
    status, _, err = schedsim(
        "check",
        write_file(
            "older.json",
            json.dumps(
                of(
                    "v1",
                    **arguments(
                        "NodeResourcesFit",
                        scoringStrategy={
                            "type": "LeastAllocated",
                            "resources": resources,
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}]},
                        },
                    ),
                )
            ),
        ),
        "--emulated-version=1.29",
    )
    assert status == 0, err


def test_groups_of_pods_in_1_36():
    for point, word in (("placementGenerate", "PlacementGeneratePlugin"), ("placementScore", "PlacementScorePlugin")):
        expect(
            "1.36",
            of("v1", **profile(plugins={point: {"enabled": [{"name": "Nope"}]}})),
            CREATING + '%s "Nope" does not exist' % word,
        )
        expect(
            "1.29",
            of("v1", **profile(plugins={point: {}})),
            'strict decoding error: unknown field "profiles[0].plugins.%s"' % point,
        )
    status, _, err = schedsim(
        "check",
        write_file(
            "empty.json", json.dumps(of("v1", **profile(plugins={"placementScore": {"disabled": [{"name": "*"}]}})))
        ),
        "--emulated-version=1.36",
    )
    assert status == 0, err


def test_gates_of_1_36():
    for gates, text in (
        (
            "SchedulerQueueingHints=false",
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
        (
            "kube:SidecarContainers=false",
            "cannot set feature gate SidecarContainers to false, feature is locked to true",
        ),
        ("VolumeCapacityPriority=true", "unrecognized feature gate: VolumeCapacityPriority"),
        ("kube:Nope=true", "unrecognized feature gate: Nope"),
        ("wardle:Nope=true", "unrecognized feature gate: wardle:Nope"),
        (
            "GangScheduling=true",
            "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
    ):
        assert text in said("1.36", "--feature-gates=" + gates), gates
        assert text in said("1.36", "--feature-gates=" + gates, "--emulated-version=1.36"), gates
        status, _, err = schedsim(
            "run", "-", "--emulated-version=1.36", "--feature-gates=" + gates, feed=harness.items()
        )
        assert status != 0 and text in err, (gates, err)
    taken = (
        "kube:SchedulerQueueingHints=true,GangScheduling=true,GenericWorkload=true,DRASchedulerFilterTimeout=false,"
        "APIServerIdentity=false"
    )
    status, _, err = schedsim(
        "run",
        "-",
        "--emulated-version=1.36",
        "--feature-gates=" + taken,
        feed=harness.items(harness.node("n"), harness.pod("p")),
    )
    assert status == 0, err
    err = said("1.36", "--feature-gates=" + taken)
    assert "locked" not in err and "unrecognized" not in err, err
    assert (
        "feature gate GangScheduling=true has no effect: decisions are those with false" in err
        and "APIServerIdentity=false has no" not in err
    ), err
    for gate, field, text in (
        (
            "DRASchedulerFilterTimeout",
            "filterTimeout",
            "filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled",
        ),
        (
            "DRADeviceBindingConditions",
            "bindingTimeout",
            "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate "
            "is disabled",
        ),
        (
            "DRAResourceClaimDeviceStatus",
            "bindingTimeout",
            "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate "
            "is disabled",
        ),
    ):
        given = write_file("devices.json", json.dumps(of("v1", **arguments("DynamicResources", **{field: "3s"}))))
        assert text in said("1.36", "--config=" + given, "--feature-gates=%s=false" % gate), gate


def test_configurations_of_1_19():
    begins = 'couldn\'t create scheduler using provider "DefaultProvider": ' + CREATING
    cases = [
        (profile(plugins={"filter": {"enabled": [{"name": "Nope"}]}}), begins + 'FilterPlugin "Nope" does not exist'),
        (
            profile(plugins={"score": {"enabled": [{"name": "ImageLocality"}]}}),
            begins + 'plugin "ImageLocality" already registered as "ScorePlugin"',
        ),
        (profile(plugins={"bind": {"disabled": [{"name": "*"}]}}), begins + "at least one bind plugin is needed"),
        (
            arguments("VolumeBinding", bindTimeoutSeconds=0),
            begins + 'error initializing plugin "VolumeBinding": invalid BindTimeoutSeconds: 0, must be positive',
        ),
        (
            arguments("RequestedToCapacityRatio", enabled=True),
            begins + 'error initializing plugin "RequestedToCapacityRatio": at least one point must be specified',
        ),
        (
            arguments("NodeResourcesFit", apiVersion=GROUP + "v1beta1", kind="InterPodAffinityArgs"),
            "decoding .profiles[0].pluginConfig[0]: args for plugin NodeResourcesFit were not of type "
            "NodeResourcesFitArgs.kubescheduler.config.k8s.io, got "
            "InterPodAffinityArgs.kubescheduler.config.k8s.io",
        ),
        (
            {"metricsBindAddress": "0.0.0.0:123456"},
            'metricsBindAddress: Invalid value: "0.0.0.0:123456": must be between 1 and 65535, inclusive',
        ),
        (
            {"healthzBindAddress": ":0"},
            'healthzBindAddress: Invalid value: ":0": must be between 1 and 65535, inclusive',
        ),
        ({"leaderElection": {"resourceLock": "nope"}}, "couldn't create resource lock: Invalid lock-type nope"),
    ]
    for members, text in cases:
        expect("1.19", of("v1beta1", **members), text)
    expect(
        "1.19",
        {"kind": "Policy", "apiVersion": "v1"},
        "couldn't decode as KubeSchedulerConfiguration, got /v1, Kind=Policy: ",
    )
    expect(
        "1.19",
        of("v1alpha2"),
        'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1alpha2" '
        'in scheme '
        '"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:30"',
        absent=["of kubescheduler.config.k8s.io/v1;"],
    )


def test_policies_of_1_19():
    def by(**policy):
        return [
            "--policy-config-file="
            + write_file("policy.json", json.dumps(dict(kind="Policy", apiVersion="v1", **policy)))
        ]

    scoring, binding = {"urlPrefix": "http://x", "prioritizeVerb": "p"}, {"urlPrefix": "http://x", "bindVerb": "b"}
    for policy, text in (
        ({"extenders": [scoring]}, "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"),
        (
            {"extenders": [dict(scoring, weight=-1)]},
            "extenders[0].weight: Invalid value: -1: must have a positive weight applied to it",
        ),
        (
            {"extenders": [binding, binding]},
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
        ),
        (
            {"extenders": [dict(binding, managedResources=[{"name": "cpu"}])]},
            'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
        ),
    ):
        status, _, err = schedsim(
            "run",
            "-",
            "--emulated-version=1.19",
            *by(**policy),
            feed=harness.items(harness.node("n"), harness.pod("p")),
        )
        assert status == 1 and text in err, err


def test_flags_by_release():
    for release, word in (
        ("1.13", "unrecognized key: Nope"),
        ("1.19", "unrecognized feature gate: Nope"),
        ("1.29", "unrecognized feature gate: Nope"),
    ):
        assert 'invalid argument "Nope=true" for "--feature-gates" flag: ' + word in said(
            release, "--feature-gates=Nope=true"
        )
    for release in ("1.13", "1.19"):
        assert "policyConfigFile: Required value: required when --use-legacy-policy-config is true" in said(
            release, "--use-legacy-policy-config"
        )


harness.main(globals())
