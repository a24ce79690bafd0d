#!/usr/bin/env python3
"""Releases 1.8 and 1.9: one test for each statement about how they decide otherwise than 1.10."""
import csv
import json

import harness
from harness import node, pod, schedsim, write_file, write_objects

# Each statement is held against these releases: the oldest two, and the one after them.
RELEASES = ("1.8", "1.9", "1.10")


def stored(o):
    """Gives an object what it has when it is stored, as Scenarios take objects as they are."""
    o["metadata"].setdefault("uid", o["metadata"]["name"])
    if o["kind"] not in ("Node", "PersistentVolume", "StorageClass"):
        o["metadata"].setdefault("namespace", "default")
    return o


def decide(release, cluster, pods, status=0, **how):
    """Returns the decisions about the pods."""
    scenario = {
        "apiVersion": "schedsim/v1",
        "kind": "Scenario",
        "emulatedVersion": release,
        "cluster": {"kind": "List", "apiVersion": "v1", "items": [stored(o) for o in cluster]},
        "pods": [stored(p) for p in pods],
        **how,
    }
    got, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    assert (got, err if got != status else "") == (status, ""), "status of release " + release
    return json.loads(out)["decisions"] if got == 0 else err + out


def policy(predicates=(), priorities=(), **more):
    return dict(
        kind="Policy",
        apiVersion="v1",
        predicates=[{"name": p} for p in predicates],
        priorities=[{"name": p, "weight": 1} for p in priorities],
        **more
    )


def claim(name, volume=None):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            **({"volumeName": volume} if volume else {}),
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }


def volume(name, **spec):
    annotations = spec.pop("annotations", {})
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec},
    }


def uses(*claims):
    return [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]


def nominate(p, node_name, release):
    """Nominates a pod where the release looks: up to 1.9 in an annotation. What the other place says does not count."""
    annotated = release != "1.10"
    annotations = {"NominatedNodeName": node_name if annotated else "elsewhere"}
    p = dict(p, metadata=dict(p["metadata"], annotations=annotations))
    return dict(p, status={"nominatedNodeName": "elsewhere" if annotated else node_name})


def test_text_of_an_error():
    nodes = [node("n%d" % i, cpu="1") for i in range(3)] + [node("t", taints=[{"key": "k", "effect": "NoSchedule"}])]
    want = {
        "1.8": "No nodes are available that match all of the predicates: Insufficient cpu (3), "
        "PodToleratesNodeTaints (1).",
        "1.9": "0/4 nodes are available: 1 PodToleratesNodeTaints, 3 Insufficient cpu.",
        "1.10": "0/4 nodes are available: 1 node(s) had taints that the pod didn't tolerate, 3 Insufficient cpu.",
    }
    for release in RELEASES:
        assert decide(release, nodes, [pod(cpu="2")])[0]["error"] == want[release], release


def test_daemons_pass_over_cordons_and_conditions():
    """Their controller binds them, in the words of each release for what it passes over."""
    daemons = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }
    for release in RELEASES:
        for cluster in ([node("a", unschedulable=True)], [node("a", ready="False")]):
            _, out, _ = schedsim(
                "run",
                write_objects("daemons.json", [*cluster, daemons]),
                "-o",
                "placements",
                "--emulated-version=" + release,
            )
            assert out == "default/d-a a\n", "release %s, %s" % (
                release,
                cluster[0]["spec"] or "a node that is not ready",
            )


def test_reasons_are_names():
    cases = [
        (node(unschedulable=True), pod(), "NodeUnschedulable"),
        (node(ready="False"), pod(), "NodeNotReady"),
        (node(), pod(nodeSelector={"a": "b"}), "MatchNodeSelector"),
        (node(), pod(nodeName="other"), "HostName"),
        (
            node(status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "OutOfDisk", "status": "True"}]}),
            pod(),
            "NodeOutOfDisk",
        ),
        (
            node(
                status={
                    "conditions": [
                        {"type": "Ready", "status": "True"},
                        {"type": "NetworkUnavailable", "status": "True"},
                    ]
                }
            ),
            pod(),
            "NodeNetworkUnavailable",
        ),
        (
            node(
                status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}]}
            ),
            pod(),
            "NodeUnderDiskPressure",
        ),
        (
            node(
                status={
                    "conditions": [{"type": "Ready", "status": "True"}, {"type": "MemoryPressure", "status": "True"}]
                }
            ),
            pod(cpu=None),
            "NodeUnderMemoryPressure",
        ),
    ]
    for release in ("1.8", "1.9"):
        for n, p, reason in cases:
            assert decide(release, [n], [p])[0]["failures"] == {"n1": [reason]}, release


def test_inter_pod_affinity_reasons():
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
    wants = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    avoids = pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    there = pod("there", on="n1", labels={"a": "b"})
    for p, cluster, second in (
        (wants, [node()], "PodAffinityRulesNotMatch"),
        (avoids, [node(), there], "PodAntiAffinityRulesNotMatch"),
    ):
        assert decide("1.8", cluster, [p])[0]["failures"] == {"n1": ["MatchInterPodAffinity"]}, "1.8"
        assert decide("1.9", cluster, [p])[0]["failures"] == {"n1": ["MatchInterPodAffinity", second]}, "1.9"


def test_bad_affinity_terms():
    # An empty topologyKey is an error from 1.9 on; 1.8 logs it, and the node does not fit.
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": ""}]
    p = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    assert decide("1.8", [node()], [p])[0]["failures"] == {"n1": ["MatchInterPodAffinity"]}, "1.8"
    for release in ("1.9", "1.10"):
        assert "empty topologyKey" in decide(release, [node()], [p])[0]["error"], release


def test_a_group_that_exists_is_looked_for_in_the_whole_cluster():
    # Bug B-09 came with 1.10: with host names, only pods of the node itself made the group exist.
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
    p = pod(labels={"a": "b"}, affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    cluster = [node("n1", cpu="1"), node("n2"), pod("there", on="n1", labels={"a": "b"}, cpu="1")]
    for release, host in (("1.8", ""), ("1.9", ""), ("1.10", "n2")):
        assert decide(release, cluster, [p])[0]["host"] == host, release


def test_host_ports():
    # By number alone in 1.8; by protocol, address and number afterwards.
    other = pod("there", on="n1", port=80)
    other["spec"]["containers"][0]["ports"][0].update(protocol="UDP", hostIP="10.0.0.1")
    mine = pod(port=80)
    mine["spec"]["containers"][0]["ports"][0].update(protocol="TCP", hostIP="10.0.0.2")
    for release, host in (("1.8", ""), ("1.9", "n1"), ("1.10", "n1")):
        assert decide(release, [node(), other], [mine])[0]["host"] == host, release


def test_all_predicates_are_evaluated():
    cluster = [node(cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}])]
    want = {
        "1.8": ["Insufficient cpu", "PodToleratesNodeTaints"],
        "1.9": ["Insufficient cpu", "PodToleratesNodeTaints"],
        "1.10": ["Insufficient cpu"],
    }
    for release in RELEASES:
        assert decide(release, cluster, [pod(cpu="2")])[0]["failures"] == {"n1": want[release]}, release


def test_volume_limits():
    # 1.8: an unbound claim is an error, and after a missing volume the pod's later volumes are not looked at.
    rules = policy(["MaxEBSVolumeCount"])
    assert (
        decide("1.8", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["error"]
        == 'PersistentVolumeClaim is not bound: "c"'
    ), "1.8"
    assert decide("1.9", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["host"] == "n1", "1.9"
    disks = [{"name": "d%d" % i, "awsElasticBlockStore": {"volumeID": "d%d" % i}} for i in range(40)]
    missing = [claim("gone", "gone"), node()]
    p = pod(volumes=uses("gone") + disks)
    assert decide("1.8", missing, [p], policy=rules)[0]["host"] == "n1", "1.8"
    for release, volumes in (("1.8", disks), ("1.9", disks), ("1.9", uses("gone") + disks)):
        got = decide(release, missing, [pod(volumes=volumes)], policy=rules)[0]
        assert got["failures"] == {"n1": ["MaxVolumeCount"]}, release


def test_rbd_monitors():
    def rbd(*monitors):
        return [{"name": "v", "rbd": {"monitors": list(monitors), "image": "i", "pool": "p"}}]

    cluster = [node(), pod("there", on="n1", volumes=rbd("a", "a"))]
    for release, host in (("1.8", ""), ("1.9", "n1"), ("1.10", "n1")):
        assert (
            decide(release, cluster, [pod(volumes=rbd("b"))], policy=policy(["NoDiskConflict"]))[0]["host"] == host
        ), release


def test_a_single_node_is_scored_and_moves_the_counter():
    cluster = [node("a"), node("b"), node("c")]
    pods = [pod("first", cpu="0", nodeSelector={"kubernetes.io/hostname": "a"}), pod("second", cpu="0")]
    rules = policy(["GeneralPredicates"], ["EqualPriority"])
    for release, totals, host in (("1.8", {"a": 1}, "b"), ("1.9", None, "c"), ("1.10", None, "c")):
        first, second = decide(release, cluster, pods, policy=rules)
        assert first.get("totals") == totals, release + " totals"
        assert second["host"] == host, release + " next node"


def test_scores_by_fractions():
    # (1.0 - 1/3) * 10.0: 1.8 truncates the product, later releases divide whole numbers. 10.0 * (29/50) is 5 in both.
    taints = [{"key": "k%d" % i, "effect": "PreferNoSchedule"} for i in range(3)]
    cluster = [node("a", taints=taints[:1]), node("b", taints=taints)]
    for release, score in (("1.8", 6), ("1.9", 7), ("1.10", 7)):
        rules = policy(["GeneralPredicates"], ["TaintTolerationPriority"])
        assert decide(release, cluster, [pod()], policy=rules)[0]["scores"]["a"] == {
            "TaintTolerationPriority": score
        }, release
    terms = [
        {"weight": w, "preference": {"matchExpressions": [{"key": k, "operator": "Exists"}]}}
        for k, w in (("x", 29), ("y", 21))
    ]
    cluster = [node("a", labels={"x": ""}), node("b", labels={"x": "", "y": ""})]
    p = pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    for release in RELEASES:
        rules = policy(["GeneralPredicates"], ["NodeAffinityPriority"])
        assert decide(release, cluster, [p], policy=rules)[0]["totals"] == {"a": 5, "b": 10}, release


def test_first_image_entry_counts():
    images = [{"names": ["busybox"], "sizeBytes": 500 << 20}, {"names": ["busybox"], "sizeBytes": 1 << 20}]
    cluster = [node("a", status={"images": images}), node("b")]
    for release, score in (("1.8", 5), ("1.9", 0), ("1.10", 0)):
        rules = policy(["GeneralPredicates"], ["ImageLocalityPriority"])
        assert decide(release, cluster, [pod()], policy=rules)[0]["totals"]["a"] == score, release


def test_anti_affinity_of_services_counts_all_pods():
    # Pods on nodes that do not fit count for the total, up to 1.9.
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"a": "b"}},
    }
    cluster = [
        service,
        node("a", labels={"r": "1"}),
        node("b", labels={"r": "2"}),
        node("full", labels={"r": "3"}, cpu="1"),
        pod("p-a", on="a", labels={"a": "b"}, cpu="0"),
    ] + [pod("p%d" % i, on="full", labels={"a": "b"}, cpu="333m") for i in range(3)]
    rules = policy(["GeneralPredicates"])
    rules["priorities"] = [{"name": "spread", "weight": 1, "argument": {"serviceAntiAffinity": {"label": "r"}}}]
    p = pod("new", labels={"a": "b"})
    for release, totals in (("1.8", {"a": 7, "b": 10}), ("1.9", {"a": 7, "b": 10}), ("1.10", {"a": 0, "b": 10})):
        assert decide(release, cluster, [p], policy=rules)[0]["totals"] == totals, release
    # So do pods that are ending, in 1.8 and 1.9.
    ending = pod(
        "p-a",
        on="a",
        labels={"a": "b"},
        cpu="0",
        meta={"deletionTimestamp": "2018-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30},
    )
    cluster = [service, node("a", labels={"r": "1"}), node("b", labels={"r": "2"}), ending]
    for release in ("1.8", "1.9"):
        got = decide(release, cluster, [p], policy=rules)[0]
        assert got["totals"] == {"a": 0, "b": 10}, release + " with a pod that is ending"


def test_lists_that_a_policy_lacks():
    # Up to 1.9 they are empty, so that only mandatory predicates run; from 1.10 on they are those of DefaultProvider.
    cluster = [node(cpu="1")]
    for release, host in (("1.8", "n1"), ("1.9", "n1"), ("1.10", "")):
        assert (
            decide(release, cluster, [pod(cpu="2")], policy={"kind": "Policy", "apiVersion": "v1"})[0]["host"] == host
        ), release


def test_volume_predicates_by_name():
    # NoVolumeNodeConflict is in 1.8 alone, and passes unless PersistentLocalVolumes is on; CheckVolumeBinding came with
    # 1.9.
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "h", "operator": "In", "values": ["x"]}]}]
        }
    }
    local = volume("v", annotations={"volume.alpha.kubernetes.io/node-affinity": json.dumps(affinity)})
    cluster, p = [node(), local, claim("c", "v")], pod(volumes=uses("c"))
    rules = policy(["NoVolumeNodeConflict"])
    assert decide("1.8", cluster, [p], policy=rules)[0]["host"] == "n1", "gate off"
    on = {"PersistentLocalVolumes": True}
    assert decide("1.8", cluster, [p], policy=rules, featureGates=on)[0]["failures"] == {
        "n1": ["NoVolumeNodeConflict"]
    }, "gate on"
    assert (
        decide("1.8", [node(), claim("c")], [p], policy=rules, featureGates=on)[0]["error"]
        == 'PersistentVolumeClaim is not bound: "c"'
    ), "unbound"
    assert "NoVolumeNodeConflict" in decide("1.9", cluster, [p], status=1, policy=rules), "1.9"
    assert "CheckVolumeBinding" in decide("1.8", cluster, [p], status=1, policy=policy(["CheckVolumeBinding"])), "1.8"


def test_volume_scheduling_is_off():
    # An unbound claim whose class waits is nothing that 1.9 knows of, unless the gate VolumeScheduling is on.
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "s"},
        "provisioner": "x",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    c = claim("c")
    c["spec"]["storageClassName"] = "s"
    cluster, p, rules = [node(), storage, c], pod(volumes=uses("c")), policy(["CheckVolumeBinding"])
    assert decide("1.9", cluster, [p], policy=rules)[0]["host"] == "n1", "1.9"
    assert decide("1.9", cluster, [p], policy=rules, featureGates={"VolumeScheduling": True})[0]["failures"] == {
        "n1": ["VolumeBindingNoMatch"]
    }, "1.9 with the gate"
    assert decide("1.10", cluster, [p], policy=rules)[0]["host"] == "", "1.10"


def test_names_of_resources():
    # Opaque integer resources count in 1.8; names that 1.10 no longer takes for extended resources count up to 1.9.
    opaque, request = "pod.alpha.kubernetes.io/opaque-int-resource-foo", "requests.example.com/foo"
    for name, hosts in ((opaque, ("", "n1", "n1")), (request, ("", "", "n1"))):
        for release, host in zip(RELEASES, hosts):
            assert decide(release, [node()], [pod(requests={name: "1"})])[0]["host"] == host, "%s in %s" % (
                name,
                release,
            )


def test_preemption():
    gate = {"PodPriority": True}

    def important(name, priority, **more):
        return pod(name, priority=priority, cpu="4", **more)

    budget = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
        "status": {"disruptionsAllowed": 0},
    }
    cluster = [
        node("n1"),
        node("n2"),
        budget,
        important("low", 1, on="n1", labels={"a": "b"}),
        important("higher", 2, on="n2"),
    ]
    # Budgets do not count in 1.8, so the node with the least important victim wins.
    for release, victim in (("1.8", "default/low"), ("1.9", "default/higher"), ("1.10", "default/higher")):
        got = decide(release, cluster, [important("new", 9)], featureGates=gate, preempt=True)[0]["preemption"]
        assert got["victims"] == [victim], release
    # Nor do they in the choice of victims on a node: 1.8 spares the more important pod, later releases the one with the
    # budget.
    half = [pod("plain", on="n1", cpu="2", priority=2), pod("kept", on="n1", cpu="2", priority=1, labels={"a": "b"})]
    new = pod("new", cpu="2", priority=9)
    for release, victim in (("1.8", "default/kept"), ("1.9", "default/plain"), ("1.10", "default/plain")):
        got = decide(release, [node("n1"), budget, *half], [new], featureGates=gate, preempt=True)[0]
        assert got["preemption"]["victims"] == [victim], release
    # Nominated pods are no part of a decision in 1.8.
    for release, host in (("1.8", "n1"), ("1.9", ""), ("1.10", "")):
        nominated = nominate(important("nominated", 8), "n1", release)
        assert (
            decide(release, [node()], [important("new", 7), nominated], featureGates=gate)[0]["host"] == host
        ), release


def test_zone_conflicts_can_be_resolved():
    # Evictions are tried against conflicts of volumes in 1.8, where later releases give up.
    zone = "failure-domain.beta.kubernetes.io/zone"
    v = volume("v", awsElasticBlockStore={"volumeID": "x"})
    v["metadata"]["labels"] = {zone: "b"}
    cluster = [node(zone="a", cpu="1"), v, claim("c", "v"), pod("low", on="n1", cpu="1", priority=1)]
    p = pod("new", cpu="1", priority=9, volumes=uses("c"))
    for release in ("1.8", "1.9"):
        got = decide(release, cluster, [p], featureGates={"PodPriority": True}, preempt=True)[0]
        assert got["preemption"]["nominatedToClear"] == ([] if release == "1.8" else ["default/new"]), (
            release + " pods that may be cleared"
        )


def test_predicates_under_any_name():
    # Upstream evaluates them under any name up to 1.9 (02 of the rules); here they always are.
    wants_label = {
        "kind": "Policy",
        "apiVersion": "v1",
        "priorities": [],
        "predicates": [{"name": "Mine", "argument": {"labelsPresence": {"labels": ["x"], "presence": True}}}],
    }
    there = pod("there", on="n1", port=80)
    for release in ("1.8", "1.9"):
        assert decide(release, [node()], [pod()], policy=wants_label)[0]["failures"] == {
            "n1": ["CheckNodeLabelPresence"]
        }, release
        got = decide(release, [node(), there], [pod(port=80)], policy=policy(["PodFitsPorts"]))[0]
        assert got["failures"] == {"n1": ["PodFitsHostPorts"]}, release + " alias"


def test_extenders_need_a_weight():
    # In 1.8 also without prioritizeVerb.
    extender = {"urlPrefix": "http://127.0.0.1:1/x", "filterVerb": "f"}
    for release, refused in (("1.8", True), ("1.9", False), ("1.10", False)):
        for more, bad in (({}, refused), ({"weight": 1}, False)):
            file = write_file("policy.json", policy(["HostName"], extenders=[dict(extender, **more)]))
            status, out, err = schedsim(
                "run",
                "-",
                "-o",
                "json",
                "--emulated-version",
                release,
                "--policy-config-file",
                file,
                feed={"kind": "List", "apiVersion": "v1", "items": [node(), pod()]},
            )
            assert (status != 0) == bad, release + " is refused"
            assert ("should have a positive weight applied to it" in err) == bad, release
            assert ("connection refused" in out) == (not bad), release + " asks"


def test_reasons_of_volumes_services_and_other_pods():
    zone = "failure-domain.beta.kubernetes.io/zone"
    disk = [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]
    zoned = volume("v", awsElasticBlockStore={"volumeID": "x"})
    zoned["metadata"]["labels"] = {zone: "b"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"a": "b"}},
    }
    term = [{"labelSelector": {"matchLabels": {"x": "y"}}, "topologyKey": "kubernetes.io/hostname"}]
    hermit = pod(
        "there", on="n1", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    )
    racks = {
        "kind": "Policy",
        "apiVersion": "v1",
        "priorities": [],
        "predicates": [{"name": "Racks", "argument": {"serviceAffinity": {"labels": ["rack"]}}}],
    }
    cases = [
        (
            [node(), pod("there", on="n1", volumes=disk)],
            pod(volumes=disk),
            policy(["NoDiskConflict"]),
            ["NoDiskConflict"],
            None,
        ),
        (
            [node(zone="a"), zoned, claim("c", "v")],
            pod(volumes=uses("c")),
            policy(["NoVolumeZoneConflict"]),
            ["NoVolumeZoneConflict"],
            None,
        ),
        (
            [node(), hermit],
            pod(labels={"x": "y"}),
            policy(["MatchInterPodAffinity"]),
            ["MatchInterPodAffinity"],
            ["ExistingPodsAntiAffinityRulesNotMatch", "MatchInterPodAffinity"],
        ),
        (
            [node(labels={"rack": "1"}), service],
            pod(labels={"a": "b"}, nodeSelector={"rack": "2"}),
            racks,
            ["CheckServiceAffinity"],
            None,
        ),
    ]
    for cluster, p, rules, first, second in cases:
        assert decide("1.8", cluster, [p], policy=rules)[0]["failures"] == {"n1": first}, "1.8"
        assert decide("1.9", cluster, [p], policy=rules)[0]["failures"] == {"n1": second or first}, "1.9"


def test_volume_affinity_has_another_word_in_each_release():
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "h", "operator": "In", "values": ["x"]}]}]
        }
    }
    local = volume("v", annotations={"volume.alpha.kubernetes.io/node-affinity": json.dumps(affinity)})
    cluster, p = [node(), local, claim("c", "v")], pod(volumes=uses("c"))
    # The rule is one of the default ones of 1.8, and its successor one of those of 1.9.
    for release, gate, word in (
        ("1.8", "PersistentLocalVolumes", "NoVolumeNodeConflict"),
        ("1.9", "VolumeScheduling", "VolumeNodeAffinityConflict"),
    ):
        assert decide(release, cluster, [p])[0]["host"] == "n1", release + " without the gate"
        assert decide(release, cluster, [p], featureGates={gate: True})[0]["failures"] == {"n1": [word]}, release
        important = decide(
            release,
            cluster + [pod("low", on="n1", priority=1)],
            [pod(volumes=uses("c"), priority=9)],
            preempt=True,
            featureGates={gate: True, "PodPriority": True},
        )[0]
        # 1.8 tries evictions, in vain; 1.9 knows that they cannot help, and takes the pod's nomination back.
        assert important["preemption"] == {
            "node": "",
            "victims": [],
            "nominatedToClear": [] if release == "1.8" else ["default/p1"],
        }, (release + " evictions")


def test_claims_that_are_missing_or_leaving():
    # 1.10 looks at the claims before anything else; up to 1.9 only rules about volumes do.
    leaving = claim("leaving", "v")
    leaving["metadata"].update(deletionTimestamp="2018-01-01T00:00:00Z", finalizers=["x"])
    ebs = volume("v", awsElasticBlockStore={"volumeID": "x"})
    for name, error in (
        ("gone", 'persistentvolumeclaim "gone" not found'),
        ("leaving", 'persistentvolumeclaim "leaving" is being deleted'),
    ):
        for release in RELEASES:
            got = decide(release, [node(), leaving, ebs], [pod(volumes=uses(name))])[0]
            assert (got["host"], got.get("error", "")) == (
                ("", error) if release == "1.10" else ("n1", "")
            ), "%s in %s" % (name, release)
        for release in RELEASES if name == "gone" else ():
            got = decide(release, [node(zone="a")], [pod(volumes=uses(name))])[0]
            assert got["error"] == error, "in a zone, " + release


def test_missing_claims_count_once_towards_the_limits():
    disks = [{"name": "d%d" % i, "gcePersistentDisk": {"pdName": "d%d" % i}} for i in range(16)]
    rules = policy(["MaxGCEPDVolumeCount"])
    for release, order, host in (
        ("1.8", uses("gone") + disks, "n1"),
        ("1.8", disks + uses("gone"), ""),
        ("1.8", disks[1:] + uses("gone"), "n1"),
        ("1.9", uses("gone") + disks, ""),
        ("1.9", uses("gone") + disks[1:], "n1"),
    ):
        assert decide(release, [node()], [pod(volumes=order)], policy=rules)[0]["host"] == host, "%s, %d volumes" % (
            release,
            len(order),
        )


def test_volumes_are_looked_at_by_class_and_state():
    # 1.10 lists the volumes of the class in the claim's specification, although an annotation may name another (B-33),
    # and none that is being deleted; 1.9 looks at all.
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "s"},
        "provisioner": "x",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    annotated, plain = claim("c"), claim("c")
    annotated["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "s"}
    plain["spec"]["storageClassName"] = "s"
    free, leaving = volume("v", storageClassName="s"), volume("v", storageClassName="s")
    leaving["metadata"].update(deletionTimestamp="2018-01-01T00:00:00Z", finalizers=["x"])
    for c, v in ((annotated, free), (plain, leaving)):
        for release, host in (("1.9", "n1"), ("1.10", "")):
            got = decide(
                release, [node(), storage, c, v], [pod(volumes=uses("c"))], featureGates={"VolumeScheduling": True}
            )[0]
            assert got["host"] == host, release


def test_selectors_and_nodes_that_are_wrong():
    # A selector that cannot be converted: a node that does not fit in 1.8, an error from 1.9 on.
    term = [
        {
            "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]},
            "topologyKey": "kubernetes.io/hostname",
        }
    ]
    p = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    assert decide("1.8", [node()], [p])[0]["failures"] == {"n1": ["MatchInterPodAffinity"]}, "1.8"
    for release in ("1.9", "1.10"):
        assert "not a valid" in decide(release, [node()], [p])[0]["error"], (release, decide(release, [node()], [p])[0])
    # A pod on a node that is gone matches: it is passed over in every release (B-19).
    good = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
    p = pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": good}})
    for release in RELEASES:
        assert decide(release, [node(), pod("there", on="gone", labels={"a": "b"})], [p])[0]["host"] == "n1", release


def test_host_ports_of_one_number():
    there = pod("there", on="n1", port=80)
    there["spec"]["containers"][0]["ports"][0].update(protocol="TCP", hostIP="10.0.0.1")
    for protocol, address, later in (
        ("TCP", "10.0.0.1", ""),
        ("TCP", "10.0.0.2", "n1"),
        ("UDP", "10.0.0.1", "n1"),
        ("TCP", "0.0.0.0", ""),
        ("TCP", "", ""),
    ):
        mine = pod(port=80)
        mine["spec"]["containers"][0]["ports"][0].update(protocol=protocol, hostIP=address)
        for release, host in (("1.8", ""), ("1.9", later), ("1.10", later)):
            assert decide(release, [node(), there], [mine])[0]["host"] == host, "%s %s %s" % (
                release,
                protocol,
                address,
            )


def test_zones_without_pods_of_the_service():
    # 0/0 in 1.8: the score is that of 1.9 on every machine.
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"a": "b"}},
    }
    cluster = [node("a", zone="x"), node("b", zone="y"), node("c"), service, pod("there", on="c", labels={"a": "b"})]
    for release in RELEASES:
        got = decide(
            release, cluster, [pod(labels={"a": "b"})], policy=policy(["GeneralPredicates"], ["SelectorSpreadPriority"])
        )[0]
        assert got["totals"] == {"a": 10, "b": 10, "c": 0}, release


def test_scores_where_nothing_is_to_count():
    # No preference holds and no taint is there: 0 of 0 is 0 for node affinity, and no taint is the best.
    terms = [{"weight": 5, "preference": {"matchExpressions": [{"key": "none", "operator": "Exists"}]}}]
    p = pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    for release in RELEASES:
        for rule, score in (("NodeAffinityPriority", 0), ("TaintTolerationPriority", 10)):
            assert decide(release, [node("a"), node("b")], [p], policy=policy(["GeneralPredicates"], [rule]))[0][
                "totals"
            ] == {"a": score, "b": score}, "%s %s" % (release, rule)


def test_nominations_are_cleared_from_1_9_on():
    cluster = [node(), pod("low", on="n1", cpu="4", priority=1)]
    for release, cleared in (("1.8", []), ("1.9", ["default/lower"]), ("1.10", ["default/lower"])):
        nominated = nominate(pod("lower", cpu="4", priority=2), "n1", release)
        got = decide(
            release,
            cluster,
            [pod("new", cpu="4", priority=9), nominated],
            featureGates={"PodPriority": True},
            preempt=True,
        )[0]
        assert got["preemption"] == {"node": "n1", "victims": ["default/low"], "nominatedToClear": cleared}, release


def test_gates_change_the_rules():
    # TaintNodesByCondition: a node that is not ready takes pods unless it has the taint. A flag comes too late for it
    # in 1.8; here it counts.
    gate = {"TaintNodesByCondition": True}
    for release in RELEASES:
        assert decide(release, [node(ready="False")], [pod()])[0]["host"] == "", release
        assert decide(release, [node(ready="False")], [pod()], featureGates=gate)[0]["host"] == "n1", (
            release + " with the gate"
        )
        tainted = node(ready="False", taints=[{"key": "k", "effect": "NoSchedule"}])
        assert decide(release, [tainted], [pod()], featureGates=gate, policy=policy(["HostName"]))[0]["host"] == "", (
            release + " tainted"
        )
        assert "CheckNodeCondition" in decide(
            release, [node()], [pod()], 1, featureGates=gate, policy=policy(["CheckNodeCondition"])
        ), (release + " named")
    # ResourceLimitsPriority came with 1.9, for those who turn its gate on.
    limits = policy([], ["ResourceLimitsPriority"])
    on = {"ResourceLimitsPriorityFunction": True}
    p = pod()
    p["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1", "memory": "1Gi"}
    for release in ("1.9", "1.10"):
        assert (
            decide(release, [node("a"), node("b", cpu="500m", memory="1Mi")], [p], policy=limits, featureGates=on)[0][
                "totals"
            ]
        ) == {"a": 1, "b": 0}, release
        assert "ResourceLimitsPriority" in decide(release, [node()], [p], 1, policy=limits), (
            release + " without the gate"
        )
    assert "ResourceLimitsPriority" in decide("1.8", [node()], [p], 1, policy=limits), "1.8"


def test_the_switch_for_all_predicates_came_with_1_10():
    cluster = [node(cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}])]
    for switch in (True, False):
        rules = policy(["GeneralPredicates", "PodToleratesNodeTaints"], alwaysCheckAllPredicates=switch)
        for release in RELEASES:
            got = decide(release, cluster, [pod(cpu="2")], policy=rules)[0]["failures"]["n1"]
            assert len(got) == (1 if release == "1.10" and not switch else 2), "%s, %s" % (release, switch)


def test_extenders_are_asked_about_every_pod():
    # managedResources came with 1.10. The extender cannot be reached, so that a pod it is asked about is not placed.
    extender = {
        "urlPrefix": "http://127.0.0.1:1/x",
        "filterVerb": "f",
        "weight": 1,
        "managedResources": [{"name": "example.com/gpu"}],
    }
    file = write_file("managed.json", policy(["HostName"], extenders=[extender]))
    for release in RELEASES:
        status, out, err = schedsim(
            "run",
            "-",
            "-o",
            "json",
            "--emulated-version",
            release,
            "--policy-config-file",
            file,
            feed={"kind": "List", "apiVersion": "v1", "items": [node(), pod()]},
        )
        assert ("connection refused" in out) == (release != "1.10"), release + " asks"


def test_names_that_policies_may_have():
    # All names of Policies since 1.0 are accepted.
    predicates = [
        "MatchNodeSelector",
        "PodFitsResources",
        "PodFitsPorts",
        "NoDiskConflict",
        "PodFitsHostPorts",
        "HostName",
        "NoVolumeZoneConflict",
        "MaxEBSVolumeCount",
        "MaxGCEPDVolumeCount",
        "MaxAzureDiskVolumeCount",
        "PodToleratesNodeTaints",
        "CheckNodeMemoryPressure",
        "MatchInterPodAffinity",
        "GeneralPredicates",
        "CheckNodeDiskPressure",
        "CheckNodeCondition",
    ]
    priorities = [
        "LeastRequestedPriority",
        "ServiceSpreadingPriority",
        "EqualPriority",
        "BalancedResourceAllocation",
        "SelectorSpreadPriority",
        "NodeAffinityPriority",
        "ImageLocalityPriority",
        "TaintTolerationPriority",
        "InterPodAffinityPriority",
        "NodePreferAvoidPodsPriority",
        "MostRequestedPriority",
    ]
    for release, own in (
        ("1.8", "NoVolumeNodeConflict"),
        ("1.9", "CheckVolumeBinding"),
        ("1.10", "CheckVolumeBinding"),
    ):
        assert (
            decide(release, [node("a"), node("b")], [pod()], policy=policy(predicates + [own], priorities))[0]["host"]
            == "b"
        ), release
    for release in RELEASES:
        for provider, host in (("DefaultProvider", "b"), ("ClusterAutoscalerProvider", "a")):
            got = decide(
                release,
                [node("a"), node("b"), pod("there", on="a", cpu="2", memory="4Gi")],
                [pod(cpu="1", memory="2Gi")],
                algorithmProvider=provider,
            )[0]
            assert got["host"] == host, "%s of %s" % (provider, release)


def test_queue():
    # With PodPriority the more important pod comes first from 1.9 on; 1.8 keeps the order of arrival.
    low, high = pod("low", cpu="1", priority=1), pod("high", cpu="1", priority=9)
    cluster = write_objects("queue.json", [node("a"), node("b"), low, high])
    for release, nodes in (
        ("1.8", {"low": "b", "high": "a"}),
        ("1.9", {"low": "a", "high": "b"}),
        ("1.10", {"low": "a", "high": "b"}),
    ):
        status, out, err = schedsim(
            "simulate", cluster, "-o", "csv", "--emulated-version", release, "--feature-gates=PodPriority=true"
        )
        assert status == 0, "status of " + release
        rows = csv.DictReader(out.splitlines())
        assert {r["pod"].split("/")[-1]: r["node"] for r in rows} == nodes, release


def test_gates_and_names():
    status, out, err = schedsim("run", "-", "--emulated-version=1.7", feed=node())
    assert status == 2 and "must be 1.8, 1.9, 1.10" in err, "names of releases"
    for release in ("1.8", "1.9"):
        status, out, err = schedsim(
            "run",
            "-",
            "--emulated-version",
            release,
            "-o",
            "placements",
            "--check-decisions",
            feed={"kind": "List", "apiVersion": "v1", "items": [node("a"), node("b"), pod("p"), pod("q")]},
        )
        assert (status, out) == (0, "default/p b\ndefault/q a\n"), release


harness.main(globals())
