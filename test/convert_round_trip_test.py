#!/usr/bin/env python3
"""schedsim convert there and back: random Policies and configurations of each release, converted to each other release
and back, decide the pods of random clusters as before, or a line on standard error names the rule that makes the
difference."""
import collections
import json
import os
import random

import harness
from harness import node, pod, schedsim, write_file, write_objects

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
MINOR = {release: int(release[2:]) for release in RELEASES}
SEEDS = range(
    int(os.environ.get("FIRST_SEED", "1")), int(os.environ.get("FIRST_SEED", "1")) + int(os.environ.get("SEEDS", "2"))
)

# The names of Policies, with the releases from which on and before which they are there, and the plugin of the same
# rule.
PREDICATES = {
    "GeneralPredicates": (8, 99, "NodeResourcesFit NodeName NodePorts NodeAffinity"),
    "PodFitsResources": (8, 99, "NodeResourcesFit"),
    "HostName": (8, 99, "NodeName"),
    "PodFitsHostPorts": (8, 99, "NodePorts"),
    "MatchNodeSelector": (8, 99, "NodeAffinity"),
    "NoDiskConflict": (8, 99, "VolumeRestrictions"),
    "PodToleratesNodeTaints": (8, 99, "TaintToleration"),
    "MaxEBSVolumeCount": (8, 99, "EBSLimits"),
    "MaxGCEPDVolumeCount": (8, 99, "GCEPDLimits"),
    "NoVolumeZoneConflict": (8, 99, "VolumeZone"),
    "MatchInterPodAffinity": (8, 99, "InterPodAffinity"),
    "CheckNodeCondition": (8, 12, ""),
    "CheckNodeMemoryPressure": (8, 12, ""),
    "CheckNodeDiskPressure": (8, 12, ""),
    "NoVolumeNodeConflict": (8, 9, "VolumeBinding"),
    "CheckVolumeBinding": (9, 99, "VolumeBinding"),
    "CheckNodeUnschedulable": (12, 99, "NodeUnschedulable"),
    "EvenPodsSpread": (16, 99, "PodTopologySpread"),
}
PRIORITIES = {
    "BalancedResourceAllocation": (8, 99, "NodeResourcesBalancedAllocation"),
    "ImageLocalityPriority": (8, 99, "ImageLocality"),
    "InterPodAffinityPriority": (8, 99, "InterPodAffinity"),
    "LeastRequestedPriority": (8, 99, "NodeResourcesLeastAllocated"),
    "MostRequestedPriority": (8, 99, "NodeResourcesMostAllocated"),
    "NodeAffinityPriority": (8, 99, "NodeAffinity"),
    "NodePreferAvoidPodsPriority": (8, 99, "NodePreferAvoidPods"),
    "SelectorSpreadPriority": (8, 99, "SelectorSpread"),
    "TaintTolerationPriority": (8, 99, "TaintToleration"),
    "EqualPriority": (8, 99, ""),
    "EvenPodsSpreadPriority": (16, 99, "PodTopologySpread"),
}
VERSIONS = {"1.19": ("v1beta1",), "1.29": ("v1beta3", "v1"), "1.36": ("v1",)}
FILTERS = (
    "NodeResourcesFit",
    "NodeName",
    "NodePorts",
    "NodeAffinity",
    "VolumeRestrictions",
    "TaintToleration",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeUnschedulable",
)
SCORES = (
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "PodTopologySpread",
    "TaintToleration",
)


def random_policy(r, release):
    def names(table):
        return [
            name for name, (since, until, _) in table.items() if since <= MINOR[release] < until and r.random() < 0.5
        ]

    predicates = [{"name": name} for name in names(PREDICATES)]
    # Where these are plugins, a Policy that names a part of GeneralPredicates besides is an error.
    if MINOR[release] >= 19 and {"name": "GeneralPredicates"} in predicates:
        predicates = [
            p
            for p in predicates
            if p["name"] not in ("PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector")
        ]
    priorities = [{"name": name, "weight": r.randrange(1, 9)} for name in names(PRIORITIES)]
    if r.random() < 0.3:
        predicates.append(
            {
                "name": "CheckNodeLabelPresence",
                "argument": {"labelsPresence": {"labels": ["disk"], "presence": r.random() < 0.5}},
            }
        )
    if r.random() < 0.15:
        predicates.append({"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["rack"]}}})
    if r.random() < 0.3:
        priorities.append(
            {
                "name": "Fast",
                "weight": r.randrange(1, 9),
                "argument": {"labelPreference": {"label": "fast", "presence": r.random() < 0.5}},
            }
        )
    if r.random() < 0.2:
        priorities.append(
            {"name": "Racks", "weight": r.randrange(1, 9), "argument": {"serviceAntiAffinity": {"label": "rack"}}}
        )
    if MINOR[release] >= 13 and r.random() < 0.3:
        shape = [{"utilization": 0, "score": r.randrange(11)}, {"utilization": 100, "score": r.randrange(11)}]
        priorities.append(
            {
                "name": "Ratio",
                "weight": r.randrange(1, 9),
                "argument": {"requestedToCapacityRatioArguments": {"shape": shape}},
            }
        )
    out = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": predicates,
        "priorities": priorities,
        "hardPodAffinitySymmetricWeight": r.randrange(1, 101),
    }
    if r.random() < 0.1:
        out.pop(r.choice(("predicates", "priorities")))
    return out


def random_configuration(r, release):
    version = "kubescheduler.config.k8s.io/" + r.choice(VERSIONS[release])
    off = [{"name": name} for name in FILTERS if r.random() < 0.2]
    scores = SCORES + (
        ("NodeResourcesFit",) if MINOR[release] > 19 else ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated")
    )
    on = [{"name": name, "weight": r.randrange(1, 9)} for name in scores if r.random() < 0.6]
    plugins = {"filter": {"disabled": off}, "score": {"disabled": [{"name": "*"}], "enabled": on}}
    arguments = [("InterPodAffinity", {"hardPodAffinityWeight": r.randrange(101)})]
    resources = [{"name": "cpu", "weight": r.randrange(1, 5)}, {"name": "memory", "weight": r.randrange(1, 5)}]
    shape = [{"utilization": 0, "score": r.randrange(11)}, {"utilization": 100, "score": r.randrange(11)}]
    if MINOR[release] > 19:
        kind = r.choice(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))
        strategy = {"type": kind, "resources": resources}
        if kind == "RequestedToCapacityRatio":
            strategy[kind[0].lower() + kind[1:]] = {"shape": shape}
        arguments.append(("NodeResourcesFit", {"scoringStrategy": strategy}))
        term = {"matchExpressions": [{"key": "disk", "operator": r.choice(("Exists", "DoesNotExist"))}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        preferred = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 3, "preference": {"matchExpressions": [{"key": "fast", "operator": "Exists"}]}}
            ]
        }
        arguments.append(("NodeAffinity", {"addedAffinity": r.choice((required, preferred))}))
        arguments.append(("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu", "weight": 1}]}))
    else:
        arguments += [
            ("NodeResourcesLeastAllocated", {"resources": resources}),
            ("NodeResourcesMostAllocated", {"resources": resources}),
            ("NodeLabel", {"presentLabels": ["disk"], "presentLabelsPreference": ["fast"]}),
        ]
        plugins["filter"]["enabled"] = [{"name": "NodeLabel"}] if r.random() < 0.3 else []
        if r.random() < 0.3:
            on.append({"name": "NodeLabel", "weight": r.randrange(1, 9)})
    spread = {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}]}
    arguments.append(("PodTopologySpread", {**spread, **({"defaultingType": "List"} if MINOR[release] > 19 else {})}))
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": plugins,
        "pluginConfig": [{"name": name, "args": args} for name, args in arguments if r.random() < 0.4],
    }
    return {"kind": "KubeSchedulerConfiguration", "apiVersion": version, "profiles": [profile]}


def random_document(r, release):
    by_policy = release not in VERSIONS or release == "1.19" and r.random() < 0.5
    return random_policy(r, release) if by_policy else random_configuration(r, release)


def random_pod(r, i):
    labels = {"app": r.choice(("web", "db"))}
    term = {
        "labelSelector": {"matchLabels": {"app": r.choice(("web", "db"))}},
        "topologyKey": r.choice(("rack", "kubernetes.io/hostname")),
    }
    affinity = {}
    if r.random() < 0.3:
        affinity[r.choice(("podAffinity", "podAntiAffinity"))] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": r.randrange(1, 101), "podAffinityTerm": term}
            ]
        }
    if r.random() < 0.15:
        affinity.setdefault("podAntiAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = [term]
    if r.random() < 0.3:
        affinity["nodeAffinity"] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": r.randrange(1, 101),
                    "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
                }
            ]
        }
    more = {"affinity": affinity} if affinity else {}
    if r.random() < 0.2:
        more["nodeSelector"] = {"rack": r.choice("xyz")}
    if r.random() < 0.3:
        more["tolerations"] = [{"key": "k", "operator": "Exists"}]
    if r.random() < 0.2:
        more["volumes"] = [{"name": "v", "gcePersistentDisk": {"pdName": "d%d" % r.randrange(3)}}]
    p = pod(
        "p%02d" % i, cpu="%dm" % r.randrange(100, 1500), memory="%dMi" % r.randrange(64, 2048), labels=labels, **more
    )
    p["spec"]["containers"][0]["image"] = "registry/app:%d" % r.randrange(3)
    if r.random() < 0.2:
        p["spec"]["containers"][0]["ports"] = [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]
    return p


def random_cluster(r):
    objects = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s", "namespace": "default"},
            "spec": {"selector": {"app": "web"}},
        }
    ]
    for i in range(r.randrange(4, 10)):
        labels = {
            "rack": r.choice("xyz"),
            "topology.kubernetes.io/zone": "xy"[i % 2],
            **{key: "" for key in ("disk", "fast") if r.random() < 0.5},
        }
        n = node(
            "n%d" % i, cpu=str(r.randrange(2, 6)), memory="%dGi" % r.randrange(4, 9), zone="xy"[i % 2], labels=labels
        )
        if r.random() < 0.4:
            n["spec"]["taints"] = [{"key": "k", "value": "v", "effect": r.choice(("NoSchedule", "PreferNoSchedule"))}]
        n["status"]["images"] = [
            {"names": ["registry/app:%d" % k], "sizeBytes": r.randrange(50, 900) << 20}
            for k in range(3)
            if r.random() < 0.4
        ]
        objects.append(n)
    return objects + [random_pod(r, i) for i in range(r.randrange(10, 30))]


def converted(document, release, to):
    """Returns what a document becomes, and the lines that name what has no equal."""
    path = write_file("source.json", document)
    status, out, err = schedsim("convert", path, "--from", release, "--to", to, "-o", "json")
    assert status == 0, (document, to, err)
    return json.loads(out), [line[len("schedsim: " + path + ": ") :] for line in err.splitlines()]


def decisions(release, cluster, document):
    flag = "--policy-config-file" if document["kind"] == "Policy" else "--config"
    status, out, err = schedsim(
        "run", cluster, "--emulated-version", release, flag, write_file("deciding.json", document), "-o", "json"
    )
    assert status == 0, (document, err)
    return json.loads(out)["decisions"]


# The rules by words of the reasons that they give in any release.
REASONS = {
    "Insufficient": "NodeResourcesFit",
    "Too many pods": "NodeResourcesFit",
    "aint": "TaintToleration",
    "ports": "NodePorts",
    "Ports": "NodePorts",
    "elector": "NodeAffinity",
    "requested labels": "NodeLabel",
    "CheckNodeLabelPresence": "NodeLabel",
    "enforced": "addedAffinity",
    "affinity rules": "InterPodAffinity",
    "pod affinity": "InterPodAffinity",
    "AffinityRules": "InterPodAffinity",
    "MatchInterPodAffinity": "InterPodAffinity",
    "ervice affinity": "ServiceAffinity",
    "CheckServiceAffinity": "ServiceAffinity",
    "disk": "VolumeRestrictions",
    "NoDiskConflict": "VolumeRestrictions",
    "spread": "PodTopologySpread",
}


# Priorities have names of their own in Policies, by these beginnings.
OWN = {
    "Fast": "NodeLabel",
    "NodeLabel": "NodeLabel",
    "Racks": "ServiceAffinity",
    "ServiceAntiAffinity": "ServiceAffinity",
    "Ratio": "RequestedToCapacityRatio",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}


def rule_of(name):
    return next((rule for beginning, rule in OWN.items() if name.startswith(beginning)), name)


def differing(before, after):
    """Returns the rules by which two decisions about one pod in one cluster differ: those that reject, or else those
    that score."""
    rejections = set()
    for node_name in {*before.get("failures", {}), *after.get("failures", {})}:
        reasons = [set(d.get("failures", {}).get(node_name, [])) for d in (before, after)]
        for reason in reasons[0] ^ reasons[1]:
            rejections.add(next((rule for words, rule in REASONS.items() if words in reason), reason))
    # Where several rules reject a node, releases from 1.10 on name the first. So one that another hides differs in
    # nothing.
    if rejections:
        return rejections
    scores = set()
    for node_name in {*before.get("scores", {}), *after.get("scores", {})}:
        pair = [
            {rule_of(name): score for name, score in d.get("scores", {}).get(node_name, {}).items()}
            for d in (before, after)
        ]
        for known in pair:
            known.pop("EqualPriority", None)
        scores.update(rule for rule in {*pair[0], *pair[1]} if pair[0].get(rule) != pair[1].get(rule))
    return scores or {"weights"}


def names_of(rule):
    """Returns words for a rule, of which a line that names it has one."""
    names = {rule}
    for table in PREDICATES, PRIORITIES:
        for policy_name, (_, _, plugins) in table.items():
            if policy_name == rule:
                names.update(plugins.split())
            elif rule in plugins.split():
                names.add(policy_name)
    if rule in ("weights", "NodeLabel", "ServiceAffinity"):
        names.add("weight")
    if rule == "NodeResourcesFit":
        names.update(("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"))
    return names


def first_difference(release, cluster, before, after):
    """Returns the first pod that the two documents decide otherwise and the rules, or nothing."""
    for one, two in zip(decisions(release, cluster, before), decisions(release, cluster, after)):
        if one["host"] != two["host"]:
            return one["pod"], differing(one, two)
    return None


def test_the_same_release_decides_the_same():
    for release in RELEASES:
        for seed in SEEDS:
            r = random.Random("%s %s" % (release, seed))
            document, cluster = random_document(r, release), write_objects("cluster.json", random_cluster(r))
            again, notes = converted(document, release, release)
            found = first_difference(release, cluster, document, again)
            assert not found or notes, (
                "release %s, seed %s: the same, or said so (%s)" % (release, seed, notes),
                [document, again, found],
            )


def test_there_and_back():
    told = collections.Counter()
    for release in RELEASES:
        for to in RELEASES:
            if to == release:
                continue
            for seed in SEEDS:
                r = random.Random("%s %s %s" % (release, to, seed))
                document, cluster = random_document(r, release), write_objects("cluster.json", random_cluster(r))
                there, lost = converted(document, release, to)
                back, lost_again = converted(there, to, release)
                found = first_difference(release, cluster, document, back)
                told["differ" if found else "same"] += 1
                text = "\n".join(lost + lost_again)
                for rule in found[1] if found else ():
                    assert any(name in text for name in names_of(rule)), (
                        "%s to %s and back, seed %s: %s, which decides %s otherwise, is named"
                        % (release, to, seed, rule, found[0]),
                        "%s\n%s\n%s\n%s" % (text, document, there, back),
                    )
    assert told["same"] >= told["differ"] / 2 and told["differ"] > 0, "many decide the same, and some do not"


harness.main(globals())
