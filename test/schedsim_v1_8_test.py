#!/usr/bin/env python3
"""Releases 1.8 and 1.9: one test for each statement about how they decide otherwise than 1.10."""
import csv
import json

import harness
from harness import check, check_equal, node, pod, schedsim, write_file, write_objects

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
    scenario = {"apiVersion": "schedsim/v1", "kind": "Scenario", "emulatedVersion": release,
                "cluster": {"kind": "List", "apiVersion": "v1", "items": [stored(o) for o in cluster]}, "pods": [stored(p) for p in pods], **how}
    got, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    check_equal("status of release " + release, (got, err if got != status else ""), (status, ""))
    return json.loads(out)["decisions"] if got == 0 else err + out


def policy(predicates=(), priorities=(), **more):
    return dict(kind="Policy", apiVersion="v1", predicates=[{"name": p} for p in predicates],
                priorities=[{"name": p, "weight": 1} for p in priorities], **more)


def claim(name, volume=None):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **({"volumeName": volume} if volume else {})},
            "status": {"phase": "Bound" if volume else "Pending"}}


def volume(name, **spec):
    annotations = spec.pop("annotations", {})
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "annotations": annotations},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec}}


def uses(*claims):
    return [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]


def test_text_of_an_error():
    nodes = [node("n%d" % i, cpu="1") for i in range(3)] + [node("t", taints=[{"key": "k", "effect": "NoSchedule"}])]
    want = {"1.8": "No nodes are available that match all of the predicates: Insufficient cpu (3), PodToleratesNodeTaints (1).",
            "1.9": "0/4 nodes are available: 1 PodToleratesNodeTaints, 3 Insufficient cpu.",
            "1.10": "0/4 nodes are available: 1 node(s) had taints that the pod didn't tolerate, 3 Insufficient cpu."}
    for release in RELEASES:
        check_equal(release, decide(release, nodes, [pod(cpu="2")])[0]["error"], want[release])


def test_reasons_are_names():
    cases = [(node(unschedulable=True), pod(), "NodeUnschedulable"), (node(ready="False"), pod(), "NodeNotReady"),
             (node(), pod(nodeSelector={"a": "b"}), "MatchNodeSelector"), (node(), pod(nodeName="other"), "HostName"),
             (node(status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "OutOfDisk", "status": "True"}]}), pod(), "NodeOutOfDisk"),
             (node(status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "NetworkUnavailable", "status": "True"}]}), pod(),
              "NodeNetworkUnavailable"),
             (node(status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}]}), pod(),
              "NodeUnderDiskPressure"),
             (node(status={"conditions": [{"type": "Ready", "status": "True"}, {"type": "MemoryPressure", "status": "True"}]}), pod(cpu=None),
              "NodeUnderMemoryPressure")]
    for release in ("1.8", "1.9"):
        for n, p, reason in cases:
            check_equal(release, decide(release, [n], [p])[0]["failures"], {"n1": [reason]})


def test_inter_pod_affinity_reasons():
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
    wants = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    avoids = pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    there = pod("there", on="n1", labels={"a": "b"})
    for p, cluster, second in ((wants, [node()], "PodAffinityRulesNotMatch"), (avoids, [node(), there], "PodAntiAffinityRulesNotMatch")):
        check_equal("1.8", decide("1.8", cluster, [p])[0]["failures"], {"n1": ["MatchInterPodAffinity"]})
        check_equal("1.9", decide("1.9", cluster, [p])[0]["failures"], {"n1": ["MatchInterPodAffinity", second]})


def test_bad_affinity_terms():
    # An empty topologyKey is an error from 1.9 on; 1.8 logs it, and the node does not fit.
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": ""}]
    p = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    check_equal("1.8", decide("1.8", [node()], [p])[0]["failures"], {"n1": ["MatchInterPodAffinity"]})
    for release in ("1.9", "1.10"):
        check(release, "empty topologyKey" in decide(release, [node()], [p])[0]["error"])


def test_a_group_that_exists_is_looked_for_in_the_whole_cluster():
    # Bug B-09 came with 1.10: with host names, only pods of the node itself made the group exist.
    term = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
    p = pod(labels={"a": "b"}, affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})
    cluster = [node("n1", cpu="1"), node("n2"), pod("there", on="n1", labels={"a": "b"}, cpu="1")]
    for release, host in (("1.8", ""), ("1.9", ""), ("1.10", "n2")):
        check_equal(release, decide(release, cluster, [p])[0]["host"], host)


def test_host_ports():
    # By number alone in 1.8; by protocol, address and number afterwards.
    other = pod("there", on="n1", port=80)
    other["spec"]["containers"][0]["ports"][0].update(protocol="UDP", hostIP="10.0.0.1")
    mine = pod(port=80)
    mine["spec"]["containers"][0]["ports"][0].update(protocol="TCP", hostIP="10.0.0.2")
    for release, host in (("1.8", ""), ("1.9", "n1"), ("1.10", "n1")):
        check_equal(release, decide(release, [node(), other], [mine])[0]["host"], host)


def test_all_predicates_are_evaluated():
    cluster = [node(cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}])]
    want = {"1.8": ["Insufficient cpu", "PodToleratesNodeTaints"], "1.9": ["Insufficient cpu", "PodToleratesNodeTaints"],
            "1.10": ["Insufficient cpu"]}
    for release in RELEASES:
        check_equal(release, decide(release, cluster, [pod(cpu="2")])[0]["failures"], {"n1": want[release]})


def test_volume_limits():
    # 1.8: an unbound claim is an error, and after a missing volume the pod's later volumes are not looked at.
    rules = policy(["MaxEBSVolumeCount"])
    check_equal("1.8", decide("1.8", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["error"],
                'PersistentVolumeClaim is not bound: "c"')
    check_equal("1.9", decide("1.9", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["host"], "n1")
    disks = [{"name": "d%d" % i, "awsElasticBlockStore": {"volumeID": "d%d" % i}} for i in range(40)]
    missing = [claim("gone", "gone"), node()]
    p = pod(volumes=uses("gone") + disks)
    check_equal("1.8", decide("1.8", missing, [p], policy=rules)[0]["host"], "n1")
    check_equal("1.9", decide("1.9", missing, [p], policy=rules)[0]["failures"], {"n1": ["MaxVolumeCount"]})


def test_rbd_monitors():
    def rbd(*monitors):
        return [{"name": "v", "rbd": {"monitors": list(monitors), "image": "i", "pool": "p"}}]
    cluster = [node(), pod("there", on="n1", volumes=rbd("a", "a"))]
    for release, host in (("1.8", ""), ("1.9", "n1"), ("1.10", "n1")):
        check_equal(release, decide(release, cluster, [pod(volumes=rbd("b"))], policy=policy(["NoDiskConflict"]))[0]["host"], host)


def test_a_single_node_is_scored_and_moves_the_counter():
    cluster = [node("a"), node("b"), node("c")]
    pods = [pod("first", cpu="0", nodeSelector={"kubernetes.io/hostname": "a"}), pod("second", cpu="0")]
    rules = policy(["GeneralPredicates"], ["EqualPriority"])
    for release, totals, host in (("1.8", {"a": 1}, "b"), ("1.9", None, "c"), ("1.10", None, "c")):
        first, second = decide(release, cluster, pods, policy=rules)
        check_equal(release + " totals", first.get("totals"), totals)
        check_equal(release + " next node", second["host"], host)


def test_scores_by_fractions():
    # (1.0 - 1/3) * 10.0: 1.8 truncates the product, later releases divide whole numbers. 10.0 * (29/50) is 5 in both.
    taints = [{"key": "k%d" % i, "effect": "PreferNoSchedule"} for i in range(3)]
    cluster = [node("a", taints=taints[:1]), node("b", taints=taints)]
    for release, score in (("1.8", 6), ("1.9", 7), ("1.10", 7)):
        rules = policy(["GeneralPredicates"], ["TaintTolerationPriority"])
        check_equal(release, decide(release, cluster, [pod()], policy=rules)[0]["scores"]["a"], {"TaintTolerationPriority": score})
    terms = [{"weight": w, "preference": {"matchExpressions": [{"key": k, "operator": "Exists"}]}} for k, w in (("x", 29), ("y", 21))]
    cluster = [node("a", labels={"x": ""}), node("b", labels={"x": "", "y": ""})]
    p = pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    for release in RELEASES:
        rules = policy(["GeneralPredicates"], ["NodeAffinityPriority"])
        check_equal(release, decide(release, cluster, [p], policy=rules)[0]["totals"], {"a": 5, "b": 10})


def test_first_image_entry_counts():
    images = [{"names": ["busybox"], "sizeBytes": 500 << 20}, {"names": ["busybox"], "sizeBytes": 1 << 20}]
    cluster = [node("a", status={"images": images}), node("b")]
    for release, score in (("1.8", 5), ("1.9", 0), ("1.10", 0)):
        rules = policy(["GeneralPredicates"], ["ImageLocalityPriority"])
        check_equal(release, decide(release, cluster, [pod()], policy=rules)[0]["totals"]["a"], score)


def test_anti_affinity_of_services_counts_all_pods():
    # Pods on nodes that do not fit count for the total, up to 1.9.
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"a": "b"}}}
    cluster = [service, node("a", labels={"r": "1"}), node("b", labels={"r": "2"}), node("full", labels={"r": "3"}, cpu="1"),
               pod("p-a", on="a", labels={"a": "b"}, cpu="0")] + [pod("p%d" % i, on="full", labels={"a": "b"}, cpu="333m") for i in range(3)]
    rules = policy(["GeneralPredicates"])
    rules["priorities"] = [{"name": "spread", "weight": 1, "argument": {"serviceAntiAffinity": {"label": "r"}}}]
    p = pod("new", labels={"a": "b"})
    for release, totals in (("1.8", {"a": 7, "b": 10}), ("1.9", {"a": 7, "b": 10}), ("1.10", {"a": 0, "b": 10})):
        check_equal(release, decide(release, cluster, [p], policy=rules)[0]["totals"], totals)


def test_lists_that_a_policy_lacks():
    # Up to 1.9 they are empty, so that only mandatory predicates run; from 1.10 on they are those of DefaultProvider.
    cluster = [node(cpu="1")]
    for release, host in (("1.8", "n1"), ("1.9", "n1"), ("1.10", "")):
        check_equal(release, decide(release, cluster, [pod(cpu="2")], policy={"kind": "Policy", "apiVersion": "v1"})[0]["host"], host)


def test_volume_predicates_by_name():
    # NoVolumeNodeConflict is in 1.8 alone, and passes unless PersistentLocalVolumes is on; CheckVolumeBinding came with 1.9.
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "h", "operator": "In", "values": ["x"]}]}]}}
    local = volume("v", annotations={"volume.alpha.kubernetes.io/node-affinity": json.dumps(affinity)})
    cluster, p = [node(), local, claim("c", "v")], pod(volumes=uses("c"))
    rules = policy(["NoVolumeNodeConflict"])
    check_equal("gate off", decide("1.8", cluster, [p], policy=rules)[0]["host"], "n1")
    on = {"PersistentLocalVolumes": True}
    check_equal("gate on", decide("1.8", cluster, [p], policy=rules, featureGates=on)[0]["failures"], {"n1": ["NoVolumeNodeConflict"]})
    check_equal("unbound", decide("1.8", [node(), claim("c")], [p], policy=rules, featureGates=on)[0]["error"],
                'PersistentVolumeClaim is not bound: "c"')
    check("1.9", "NoVolumeNodeConflict" in decide("1.9", cluster, [p], status=1, policy=rules))
    check("1.8", "CheckVolumeBinding" in decide("1.8", cluster, [p], status=1, policy=policy(["CheckVolumeBinding"])))


def test_volume_scheduling_is_off():
    # An unbound claim whose class waits is nothing that 1.9 knows of, unless the gate VolumeScheduling is on.
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "x",
               "volumeBindingMode": "WaitForFirstConsumer"}
    c = claim("c")
    c["spec"]["storageClassName"] = "s"
    cluster, p, rules = [node(), storage, c], pod(volumes=uses("c")), policy(["CheckVolumeBinding"])
    check_equal("1.9", decide("1.9", cluster, [p], policy=rules)[0]["host"], "n1")
    check_equal("1.9 with the gate", decide("1.9", cluster, [p], policy=rules, featureGates={"VolumeScheduling": True})[0]["failures"],
                {"n1": ["VolumeBindingNoMatch"]})
    check_equal("1.10", decide("1.10", cluster, [p], policy=rules)[0]["host"], "")


def test_names_of_resources():
    # Opaque integer resources count in 1.8; names that 1.10 no longer takes for extended resources count up to 1.9.
    opaque, request = "pod.alpha.kubernetes.io/opaque-int-resource-foo", "requests.example.com/foo"
    for name, hosts in ((opaque, ("", "n1", "n1")), (request, ("", "", "n1"))):
        for release, host in zip(RELEASES, hosts):
            check_equal("%s in %s" % (name, release), decide(release, [node()], [pod(requests={name: "1"})])[0]["host"], host)


def test_preemption():
    gate = {"PodPriority": True}

    def important(name, priority, **more):
        return pod(name, priority=priority, cpu="4", **more)
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}, "status": {"disruptionsAllowed": 0}}
    cluster = [node("n1"), node("n2"), budget, important("low", 1, on="n1", labels={"a": "b"}), important("higher", 2, on="n2")]
    # Budgets do not count in 1.8, so the node with the least important victim wins.
    for release, victim in (("1.8", "default/low"), ("1.9", "default/higher"), ("1.10", "default/higher")):
        got = decide(release, cluster, [important("new", 9)], featureGates=gate, preempt=True)[0]["preemption"]
        check_equal(release, got["victims"], [victim])
    # Nominated pods are no part of a decision in 1.8.
    nominated = important("nominated", 8)
    nominated["status"] = {"nominatedNodeName": "n1"}
    for release, host in (("1.8", "n1"), ("1.9", ""), ("1.10", "")):
        check_equal(release, decide(release, [node()], [important("new", 7), nominated], featureGates=gate)[0]["host"], host)


def test_zone_conflicts_can_be_resolved():
    # Evictions are tried against conflicts of volumes in 1.8, where later releases give up.
    zone = "failure-domain.beta.kubernetes.io/zone"
    v = volume("v", awsElasticBlockStore={"volumeID": "x"})
    v["metadata"]["labels"] = {zone: "b"}
    cluster = [node(zone="a", cpu="1"), v, claim("c", "v"), pod("low", on="n1", cpu="1", priority=1)]
    p = pod("new", cpu="1", priority=9, volumes=uses("c"))
    for release in ("1.8", "1.9"):
        got = decide(release, cluster, [p], featureGates={"PodPriority": True}, preempt=True)[0]
        check_equal(release + " pods that may be cleared", got["preemption"]["nominatedToClear"], [] if release == "1.8" else ["default/new"])


def test_predicates_under_any_name():
    # Upstream evaluates them under any name up to 1.9 (02 of the rules); here they always are.
    wants_label = {"kind": "Policy", "apiVersion": "v1", "priorities": [], "predicates": [
        {"name": "Mine", "argument": {"labelsPresence": {"labels": ["x"], "presence": True}}}]}
    there = pod("there", on="n1", port=80)
    for release in ("1.8", "1.9"):
        check_equal(release, decide(release, [node()], [pod()], policy=wants_label)[0]["failures"], {"n1": ["CheckNodeLabelPresence"]})
        got = decide(release, [node(), there], [pod(port=80)], policy=policy(["PodFitsPorts"]))[0]
        check_equal(release + " alias", got["failures"], {"n1": ["PodFitsHostPorts"]})


def test_extenders_need_a_weight():
    # In 1.8 also without prioritizeVerb.
    extender = {"urlPrefix": "http://127.0.0.1:1/x", "filterVerb": "f"}
    for release, refused in (("1.8", True), ("1.9", False), ("1.10", False)):
        for more, bad in (({}, refused), ({"weight": 1}, False)):
            file = write_file("policy.json", policy(["HostName"], extenders=[dict(extender, **more)]))
            status, out, err = schedsim("run", "-", "-o", "json", "--emulated-version", release, "--policy-config-file", file,
                                        feed={"kind": "List", "apiVersion": "v1", "items": [node(), pod()]})
            check_equal(release + " is refused", status != 0, bad)
            check_equal(release, "should have a positive weight applied to it" in err, bad)
            check_equal(release + " asks", "connection refused" in out, not bad)


def test_queue():
    # With PodPriority the more important pod comes first from 1.9 on; 1.8 keeps the order of arrival.
    low, high = pod("low", cpu="1", priority=1), pod("high", cpu="1", priority=9)
    cluster = write_objects("queue.json", [node("a"), node("b"), low, high])
    for release, nodes in (("1.8", {"low": "b", "high": "a"}), ("1.9", {"low": "a", "high": "b"}), ("1.10", {"low": "a", "high": "b"})):
        status, out, err = schedsim("simulate", cluster, "-o", "csv", "--emulated-version", release, "--feature-gates=PodPriority=true")
        check_equal("status of " + release, status, 0)
        rows = csv.DictReader(out.splitlines())
        check_equal(release, {r["pod"].split("/")[-1]: r["node"] for r in rows}, nodes)


def test_gates_and_names():
    status, out, err = schedsim("run", "-", "--emulated-version=1.7", feed=node())
    check("names of releases", status == 2 and "must be 1.8, 1.9, 1.10" in err, err)
    for release in ("1.8", "1.9"):
        status, out, err = schedsim("run", "-", "--emulated-version", release, "-o", "placements", "--check-decisions",
                                    feed={"kind": "List", "apiVersion": "v1", "items": [node("a"), node("b"), pod("p"), pod("q")]})
        check_equal(release, (status, out), (0, "default/p b\ndefault/q a\n"))


harness.main(globals())
