#!/usr/bin/env python3
"""Tests schedsim simulate: equal arguments give equal bytes, first attempts are those of run, recordings replay, a
trace of months takes a second, and bad input is named with its place."""
import csv
import gzip
import io
import json
import os
import random
import re
import signal
import subprocess
import time

import harness
from harness import ROOT, node, pod, schedsim, scratch, write_file, write_objects

SCHEDSIM = os.path.join(harness.BIN, "schedsim")
TRACES = os.path.join(ROOT, "test/testdata/traces")
OPENB, OPENB_PODS = os.path.join(TRACES, "openb.json.gz"), os.path.join(TRACES, "openb-pods.csv.gz")
RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
NODES = [node("n%d" % i, zone="z%d" % (i % 3)) for i in range(12)]


def arrivals(rows=400, seed=5, length=600):
    """Returns a CSV of pods that arrive at random and do not all fit at once."""
    chance = random.Random(seed)
    times = sorted(chance.randrange(length) for _ in range(rows))
    lines = ["time,duration,name,cpu,memory,priority,namespace"]
    for i, t in enumerate(times):
        lines.append(
            "%d,%d,p%d,%dm,256Mi,%d,team-%d" % (t, chance.randrange(5, 90), i, chance.randrange(100, 3000), 0, i % 3)
        )
    return "\n".join(lines) + "\n"


def simulate(*words, ok=True):
    code, out, err = schedsim("simulate", *words)
    assert (code == 0) == ok, ("simulate %s: exit status" % " ".join(words), err[-600:])
    return out, err


def placements(*words):
    return list(csv.DictReader(io.StringIO(simulate(*words, "-o", "csv")[0])))


def test_equal_arguments_give_equal_bytes():
    cluster, table = write_objects("same.json", NODES), write_file("same.csv", arrivals())
    for output in "summary", "json", "csv":
        words = [
            cluster,
            "--arrivals",
            table,
            "-o",
            output,
            "--generate",
            "count=50,for=5m,duration=1m,cpu=1",
            "--seed",
            "7",
            "--emulated-version=1.10",
            "--emulated-version=1.29",
        ]
        first = simulate(*words)[0]
        assert first and first == simulate(*words)[0], "equal bytes of -o " + output
    words[words.index("7")] = "8"
    assert simulate(*words)[0] != first, "another seed gives other bytes"


def test_outputs_agree():
    cluster, table = write_objects("agree.json", NODES), write_file("agree.csv", arrivals())
    result = json.loads(simulate(cluster, "--arrivals", table, "-o", "json")[0])
    rows = placements(cluster, "--arrivals", table)
    assert (result["apiVersion"], result["kind"]) == ("schedsim/v1", "Simulation"), "kind"
    assert (result["pods"], result["placed"], result["neverPlaced"]) == (400, 400, 0), "pods"
    waits = sorted(float(r["waited"]) for r in rows)
    assert len(waits) == 400, "waits"
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert result["waitSeconds"][name] == waits[int(-(-share * len(waits) // 1)) - 1], name
    assert result["waitSeconds"]["max"] == waits[-1], "max"
    assert waits[-1] > 0, ("some pods wait", waits[-5:])
    assert sorted(result["waitSecondsByNamespace"]) == ["team-0", "team-1", "team-2"], "namespaces"
    ends = max(float(r["placed"]) + 0 for r in rows)
    assert result["makespanSeconds"] >= ends - 1, ("makespan", result["makespanSeconds"], ends)
    assert result["series"] and result["series"][-1]["untilSeconds"] == result["endSeconds"], (
        "series",
        result["series"][-1:],
    )
    assert 0 < result["mean"]["utilisation"]["cpu"] <= 1, ("utilisation", result["mean"])
    several = [
        json.loads(line)
        for line in simulate(
            cluster, "--arrivals", table, "-o", "json", *["--emulated-version=" + r for r in RELEASES]
        )[0].splitlines()
    ]
    assert [r["release"] for r in several] == list(RELEASES), "a line a release"
    assert dict(several[RELEASES.index("1.10")], policy="") == dict(
        result, policy=""
    ), "the default release gives the same"
    svg = scratch("simulate.svg")
    out, _ = simulate(cluster, "--arrivals", table, "--svg", svg, "--algorithm-provider", "DefaultProvider")
    assert "WAIT P50" in out and "DefaultProvider" in out, "a summary"
    with open(svg) as f:
        assert f.read().startswith("<svg "), "a picture"


def test_axes_have_round_times():
    """The times at the axes of --svg are such as people count in."""
    cluster = write_objects("axes.json", NODES[:1])
    rows = ["0,8000,first,3", "0,10000,second,3"]
    table = write_file("axes.csv", "\n".join(["time,duration,name,cpu", *rows]) + "\n")
    drawn = scratch("axes.svg")
    simulate(cluster, "--arrivals", table, "--svg", drawn, "--emulated-version=1.29")
    labels = re.findall(r'text-anchor="(middle|end)">([^<]*)<', open(drawn).read())
    time, waits = [t for _, t in labels if re.fullmatch(r"\d+h", t)], [t for _, t in labels]
    assert {"1h", "2h", "3h"} <= set(time), "whole hours: %s" % labels
    assert not any(re.fullmatch(r"\d+h\d+m.*|\d+m\d+s", t) for t in waits), "no odd times: %s" % labels
    few = write_file("few.csv", "time,duration,name,cpu\n0,8000,first,10m\n")
    simulate(cluster, "--arrivals", few, "--svg", drawn, "--emulated-version=1.29")
    shares = re.findall(r'text-anchor="end">([^<]*%)<', open(drawn).read())
    assert len(shares) > 2 and len(set(shares)) == len(shares), "shares below 1 %% differ: %s" % shares


def first_attempts_of(rows):
    """Returns where first attempts placed pods: the pods that are placed at another one were not."""
    return {r["pod"]: r["node"] if r["attempts"] == "1" and r["node"] else "-" for r in rows}


def test_first_attempts_are_those_of_run():
    chance = random.Random(3)
    apps = [pod("a%d" % i, cpu="%dm" % chance.randrange(100, 900), labels={"app": "w%d" % (i % 5)}) for i in range(120)]
    cluster = write_objects("first.json", NODES + apps)
    for release in RELEASES:
        _, want, err = schedsim("run", cluster, "-o", "placements", "--emulated-version=" + release)
        want = dict(line.split() for line in want.splitlines())
        assert first_attempts_of(placements(cluster, "--emulated-version=" + release)) == want, (
            "first attempts of " + release
        )


# Several profiles take one of several best nodes in turn; pods with gates that their profile does not hold.
PROFILES = "g-s1291-004", "g-s1291-006", "i-s1291-001"


def is_comparable(line):
    """Whether priorities are equal, no pod has a node, and nothing is preempted or chosen otherwise than by the
    daemon's defaults."""
    if line["name"] in PROFILES:
        return False
    s, text = line["scenario"], json.dumps(line["scenario"])

    def plain(p):
        return (
            not any(p["spec"].get(k) for k in ("nodeName", "priority", "volumes", "schedulingGates", "resourceClaims"))
            and p["spec"].get("schedulerName", "default-scheduler") == "default-scheduler"
        )

    pods = s.get("pods") or []
    names = {p["metadata"].get("namespace", "") + "/" + p["metadata"]["name"] for p in pods}
    return (
        len(pods) > 1
        and len(names) == len(pods)
        and all(map(plain, pods))
        and not any(word in text for word in ('"preempt":', '"extenders"', '"nominatedNodeName"', '"featureGates"'))
    )


def test_first_attempts_of_recorded_scenarios():
    for release in RELEASES[2:]:  # of older ones nothing was recorded
        folder = os.path.join(ROOT, "test/testdata/golden" + ("" if release == "1.10" else "-" + release))
        compared = 0
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".gz"):
                continue
            with gzip.open(os.path.join(folder, name), "rt") as f:
                lines = [json.loads(line) for line in f if line.strip()]
            for line in [line for line in lines if line["name"] in PROFILES] + [
                line for line in lines if is_comparable(line)
            ][:4]:
                want = {d["pod"]: d.get("host") or "-" for d in line["want"]["decisions"]}
                rows = placements(write_file("golden.json", json.dumps(dict(line["scenario"], name=line["name"]))))
                assert first_attempts_of(rows) == want, "%s %s" % (release, line["name"])
                compared += 1
        assert compared > 3, "scenarios of release " + release


def test_a_part_of_the_nodes():
    # As in run, a release that looks at a part of the nodes does so on request.
    cluster = write_objects(
        "part.json", [node("n%d" % i) for i in range(300)] + [pod("p%d" % i, cpu="100m") for i in range(20)]
    )
    for release in "1.13", "1.19", "1.29":
        flags = ["--emulated-version=" + release, "--percentage-of-nodes-to-score=20"]
        want = dict(line.split() for line in schedsim("run", cluster, "-o", "placements", *flags)[1].splitlines())
        assert first_attempts_of(placements(cluster, *flags)) == want, "as run of " + release
    out, err = simulate(cluster, "--percentage-of-nodes-to-score=many", ok=False)
    assert "must be a number or release" in err, "a number or release"
    out, err = simulate(cluster, "--emulated-version=1.10", "--percentage-of-nodes-to-score=20", ok=False)
    assert "looks at all nodes" in err, "1.10 looks at all"


def test_recordings_replay():
    cluster, table = write_objects("recorded.json", NODES), write_file(
        "recorded.csv", arrivals(300).replace(",0,team", ",%d,team")
    )
    lines = open(table).read().splitlines()
    write_file("recorded.csv", "\n".join([lines[0]] + [l % (i % 3) for i, l in enumerate(lines[1:])]) + "\n")
    for release in RELEASES:
        folder = scratch("recording-" + release)
        out = json.loads(
            simulate(
                cluster, "--arrivals", table, "-o", "json", "--emulated-version=" + release, "--record-dir", folder
            )[0]
        )
        code, text, err = schedsim("replay", folder)
        assert code == 0, ("replay of release " + release, text[-500:] + err[-500:])
        plain = json.loads(simulate(cluster, "--arrivals", table, "-o", "json", "--emulated-version=" + release)[0])
        assert out == plain, "a recording changes nothing in " + release


def test_recordings_of_workloads_replay():
    """The pods of DaemonSets, StatefulSets and indexed Jobs, which differ in more than their names."""

    def workload(kind, version, name, **spec):
        template = {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "100m"}}}]},
        }
        if kind == "Job":
            template["spec"]["restartPolicy"] = "Never"
        else:
            spec["selector"] = {"matchLabels": {"app": name}}
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": {**spec, "template": template}}

    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "later", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "example.com/p",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    objects = NODES + [
        storage,
        workload("DaemonSet", "apps/v1", "agent"),
        workload("StatefulSet", "apps/v1", "db", replicas=3, serviceName="db", volumeClaimTemplates=[claim]),
        workload("Job", "batch/v1", "indexed", completions=3, parallelism=3, completionMode="Indexed"),
    ]
    # Pods that were never stored: the namespace and what they request are filled in.
    for i in range(4):
        limits = {"name": "c", "image": "x", "resources": {"limits": {"cpu": "3"}}}
        objects.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d" % i}, "spec": {"containers": [limits]}}
        )
    cluster = write_file("workloads.json", "\n".join(json.dumps(o) for o in objects))
    for release in RELEASES:
        folder = scratch("workloads-" + release)
        flags = [cluster, "--emulated-version=" + release, "--record-dir", folder]
        placed = json.loads(simulate(*flags, "-o", "json")[0])["placed"]
        code, text, err = schedsim("replay", folder)
        assert code == 0, ("replay of %d pods of workloads, release %s" % (placed, release), text[-700:] + err[-300:])


def test_openb_in_a_second():
    for release in "1.10", "1.29":
        out, err = simulate(OPENB, "--arrivals", OPENB_PODS, "-o", "json", "--stats", "--emulated-version=" + release)
        result, stats = json.loads(out), json.loads([l for l in err.splitlines() if l.startswith("{")][0])
        assert (result["pods"], result["placed"]) == (8152, 8152), "pods of " + release
        assert 12902960 <= result["makespanSeconds"] < 12903100, ("makespan of " + release, result["makespanSeconds"])
        # A second on an idle machine; tests run beside others, and with sanitizers.
        assert stats["cpuSeconds"] < 10, "CPU of " + release


def test_steps():
    cluster = write_objects(
        "steps.json", NODES[:3] + [pod("web-%d" % i, cpu="1", owner="ReplicaSet") for i in range(6)]
    )
    steps = write_file(
        "steps.csv",
        "time,event,object,value\n1h,roll,*,5m\n3h,scale,ReplicaSet default/o,9\n4h,fail,n1,1h\n6h,join,n9,n1\n"
        "7h,leave,n2,\n",
    )
    result = json.loads(simulate(cluster, "--events", steps, "-o", "json", "--start-delay", "10s")[0])
    assert [d["node"] for d in result["drains"]] == ["n0", "n1", "n2"], "drained"
    assert all("emptySeconds" in d for d in result["drains"]), ("all empty", result["drains"])
    assert (result["pods"], result["placed"], result["lost"]) == (9, 9, 0), "pods"
    assert result["nodes"] == 3, "nodes"
    assert result["evictions"] >= 6, ("evictions", result["evictions"])


def test_steps_with_nothing_to_do_are_said():
    cluster = write_objects("idle.json", NODES[:3])
    for events, said in (
        ("1h,leave,n1,\n2h,drain,n1,\n3h,fail,n1,\n", "2, the first at 2h: drain n1: the node is not there"),
        ("1h,leave,n1,\n2h,leave,*,\n", "1, the first at 2h: leave n1: the node is not there"),
        ("1h,fail,n1,\n2h,fail,n1,1h\n", "1, the first at 2h: fail n1: the node has failed already"),
        ("1h,leave,n1,\n2h,roll,*,1m\n", "1, the first at 2h1m: roll n1: the node is not there"),
        ("1h,fail,n1,30m\n2h,fail,n1,1h\n2h,leave,n0,\n", ""),
    ):
        out, err = simulate(cluster, "--events", write_file("idle.csv", "time,event,object,value\n" + events))
        assert ("steps of --events with nothing to do: " + said if said else "") in err and bool(said) == (
            "nothing to do" in err
        ), events


def test_pods_that_evict_each_other_do_not_stop_the_clock():
    # A nomination does not keep a pod away whose own rules do not apply until the nominated pod is there, so that the
    # evicted pod comes back to the node first. 1.36 then tries the other one before its back-off ends.
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "b"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster = write_objects(
        "apart.json",
        [
            node("n1"),
            pod("low", cpu="1", labels={"app": "b"}),
            pod("high", cpu="1", labels={"app": "b"}, priority=10, affinity=apart),
        ],
    )
    rows = write_file("apart.csv", "time,name,namespace,duration\n0s,low,default,1h\n60s,high,default,1h\n")
    words = (cluster, "--arrivals", rows, "--only-arrivals", "--until", "2h", "-o", "json")
    for release in ("1.29", "1.36"):
        result = json.loads(simulate(*words, "--emulated-version=" + release)[0])
        assert 5 < result["evictions"] < 1000, (release + ": evictions", result["evictions"])
    # Nobody says when to end: for as long as they do nothing else, that is an error.
    words = (cluster, "--arrivals", rows, "--only-arrivals", "--emulated-version=1.29", "-o", "json")
    out, err = simulate(*words, ok=False)
    assert "pods evict one another for ever: since 1m" in err and '"default/low"' in err and "--until" in err, err


def test_a_deployment_is_scaled():
    # It is the Deployment that people name, whose ReplicaSet was made for its pods.
    d = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }
    cluster = write_file("deployment.json", json.dumps(node("n0")) + "\n" + json.dumps(d))
    for replicas in 5, 1:
        events = "1h,scale,Deployment default/web,%d\n2h,scale,Deployment default/web,%d\n" % (replicas, replicas)
        steps = write_file("scale.csv", "time,event,object,value\n" + events)
        series = json.loads(simulate(cluster, "--events", steps, "-o", "json", "--emulated-version=1.29")[0])["series"]
        assert round(series[-1]["utilisation"]["pods"] * 110) == replicas, "pods on the node at the end"


def test_a_node_that_joins_has_the_pods_of_daemon_sets():
    d = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]},
            },
        },
    }
    cluster = write_file("daemons.json", json.dumps(node("n0")) + "\n" + json.dumps(d))
    steps = write_file("join.csv", "time,event,object,value\n1h,join,n1,n0\n2h,leave,n1,\n3h,join,n1,\n")
    table = write_file("large.csv", "time,duration,name,cpu\n4h,1h,large,2\n4h,1h,small,1\n")
    for release in "1.10", "1.29":
        rows = placements(cluster, "--events", steps, "--arrivals", table, "--emulated-version=" + release)
        assert {r["pod"]: bool(r["node"]) for r in rows if "agent" not in r["pod"]} == {
            "default/large": False,
            "default/small": True,
        }, ("only what is left of it, in " + release)


def test_bad_input():
    cluster = write_objects("bad.json", NODES[:1])
    for text, message in (
        ("time,duration,name\n0,-5,a\n", ':2: column duration: "-5" is not a time'),
        ("time,name\n0,a\n", ':1: there is no column "duration"'),
        ("time,duration,name,cpu\n0,1,a,3Q\n", ':2: column cpu: "3Q" is not a quantity'),
        ("time,duration,name\n0,1,a\n1,5parsecs,b\n", ':3: column duration: "5parsecs" is not a time: the units are'),
        (
            "name,cpu_milli,memory_mib,creation_time,deletion_time\na,1,1,9,8\n",
            ":2: column deletion_time: \"8\": the pod ends before it arrives",
        ),
    ):
        out, err = simulate(cluster, "--arrivals", write_file("bad.csv", text), ok=False)
        assert message in err and "bad.csv" in err and not out, message
    for text, message in (
        ("time,event,object,value\n0,leave,nowhere,\n", ':2: column object: "nowhere" is no node of the input'),
        ("time,event,object,value\n0,explode,n0,\n", ':2: column event: "explode" is no event'),
        ("time,event,object,value\n-1,leave,n0,\n", ':2: column time: "-1" is not a time: it must not be negative'),
        (
            "time,event,object,value\n0,scale,Deployment default/x,3\n",
            ':2: column object: "Deployment default/x" is no workload',
        ),
        ("time,event,object\n", ":1: there is no column value"),
    ):
        out, err = simulate(cluster, "--events", write_file("bad.csv", text), ok=False)
        assert message in err and not out, message
    out, err = simulate(
        write_objects("bad.json", [node("n0"), pod("p", meta={"annotations": {"schedsim/time": "-4"}})]), ok=False
    )
    assert 'Pod "default/p": metadata.annotations[schedsim/time]: "-4" is not a time' in err, "an annotation"
    cluster = write_objects("bad.json", NODES[:1])
    out, err = simulate(
        cluster, "--arrivals", write_file("late.csv", "time,duration,name\n5,1,a\n3,1,b\n"), "-o", "csv"
    )
    assert "1 of 2 pods arrive earlier" in err and out.index("/b,") < out.index("/a,"), "sorted, and said"
    for rows, said in (("2h,drain,n0,\n1h,roll,n0,1m\n", True), ("1h,roll,n0,1m\n2h,drain,n0,\n", False)):
        _, err = simulate(cluster, "--events", write_file("late.csv", "time,event,object,value\n" + rows))
        assert ("late.csv: 1 of 2 events are earlier than the one before them" in err) == said, "events, too"


# For each column of --arrivals, values that it must refuse, and what is said about them. A row is in place otherwise.
BAD_ARRIVALS = {
    "time": (
        ("-1", "must not be negative"),
        ("soon", "is not a time"),
        ("5 minutes", "is not a time"),
        ("", "not a time"),
    ),
    "duration": (("-5", "must not be negative"), ("5parsecs", "the units are"), ("1e9", "is not a time")),
    "name": (
        ("Bad_Name!", "is no name: a DNS-1123 subdomain must consist of lower case"),
        ("-a", "is no name"),
        ("a" * 254, "must be no more than 253 characters"),
        ("", "a name is needed"),
    ),
    "namespace": (("Team", "is no namespace"), ("a.b", "without dots"), ("a" * 64, "no more than 63 characters")),
    "priority": (("high", "is not an integer of 32 bits"), ("1.5", "is not an integer"), ("2147483648", "32 bits")),
    "count": (("0", "is not a number from 1 to 100000000"), ("many", "is not a number"), ("100000001", "not a number")),
    "template": (("nothing", "is no pod and no workload with pods in the input"),),
    "cpu": (("3Q", "is not a quantity"), ("-1", "is negative"), ("one", "is not a quantity")),
    "memory": (("1GB", "is not a quantity"), ("-1Gi", "is negative")),
    "hugepages-2Mi": (("x", "is not a quantity"),),
    "example.com/gpu": (("0.5", "is not a whole number"), ("500m", "is not a whole number"), ("-1", "is negative")),
}
BAD_OPENB = {
    "name": (("A", "is no name"),),
    "creation_time": (("-1", "must not be negative"), ("x", "is not a time")),
    "deletion_time": (("4", "the pod ends before it arrives, at 5"), ("x", "is not a time")),
    "scheduled_time": (("soon", "is not a time"),),
    "cpu_milli": (("-1", "is negative"), ("x", "is not a quantity"), ("1Gi", "is not a quantity")),
    "memory_mib": (("-1", "is negative"), ("1Gi", "is not a quantity")),
    "num_gpu": (("-1", "is not a number of 0 or more"), ("0.5", "is not a number of 0 or more")),
    "gpu_milli": (("1001", "is more than 1000"), ("x", "is not a number")),
    "gpu_spec": (("V100|A 10", "is no value of a label"),),
    "qos": (("best effort", "is no value of a label"),),
}
BAD_EVENTS = {
    "time": (("-1", "must not be negative"), ("noon", "is not a time"), ("", "is not a time")),
    "event": (("explode", "is no event: they are join"), ("", "is no event")),
    "object": (("nowhere", "is no node of the input"), ("a=b", "selects no node"), ("x in", ""), ("", "names nothing")),
    "value": (("-1", "must not be negative"), ("later", "is not a time")),
}


def test_every_column_refuses_what_it_cannot_mean():
    """Says file, line, column and value, and what would be right, and prints nothing."""
    cluster = write_objects("columns.json", NODES[:1] + [pod("waits", cpu="1")])
    good = {
        "arrivals": {"time": "5", "duration": "1", "name": "a"},
        "openb": {"name": "a", "creation_time": "5", "deletion_time": "9", "cpu_milli": "1", "memory_mib": "1"},
        "events": {"time": "5", "event": "drain", "object": "n0", "value": ""},
    }
    for flag, row, table in (
        ("arrivals", good["arrivals"], BAD_ARRIVALS),
        ("arrivals", good["openb"], BAD_OPENB),
        ("events", good["events"], BAD_EVENTS),
    ):
        for column, values in table.items():
            for value, said in values:
                bad = {**row, column: value}
                lines = [",".join(bad), ",".join({column: "", **row}[c] for c in bad), ",".join(bad.values())]
                path = write_file("columns.csv", "\n".join(lines) + "\n")
                out, err = simulate(cluster, "--" + flag, path, ok=False)
                where = "columns.csv:3: column %s: " % column
                shown = '"%s"' % value.split("|")[-1] if value else ""
                assert (
                    where in err and shown in err and said in err and not out and len(err.splitlines()) == 1
                ), "%s=%r" % (column, value)
    for value, said in (("Bad_Node", "is no name"), ("n0", "is a node of the input already")):
        path = write_file("join.csv", "time,event,object,value\n1,join,%s,n0\n" % value)
        _, err = simulate(cluster, "--events", path, ok=False)
        assert 'join.csv:2: column object: "%s" %s' % (value, said) in err, "joins " + value
    scaled = write_objects("scaled.json", NODES[:1] + [pod("web-1", cpu="1", owner="ReplicaSet")])
    for value in ("-1", "few", "100000001"):
        path = write_file("scale.csv", "time,event,object,value\n1,scale,ReplicaSet default/o,%s\n" % value)
        _, err = simulate(scaled, "--events", path, ok=False)
        assert 'scale.csv:2: column value: "%s" is not a number from 0' % value in err, "scaled to " + value
    for header, said in (
        ("time,duration,name,exa mple/x", 'column "exa mple/x": is no name of a resource'),
        ("time,duration,name,colour", 'column "colour": neither a column of arrivals'),
        ("time,duration,name,name", "column name: there are two"),
    ):
        _, err = simulate(cluster, "--arrivals", write_file("header.csv", header + "\n"), ok=False)
        assert "header.csv:1: " + said in err, "header " + header
    for spec, said in (
        ("count=5,for=1h,name=Bad_Name!", 'name=Bad_Name!: "Bad_Name!" is no name'),
        ("count=0,for=1h", "is not a number from 1"),
        ("rate=1000000000/s,for=30d", "more than 10000000000 pods"),
        ("count=5,for=-1h", "must not be negative"),
        ("count=5,for=1h,cpu=x", 'column cpu: "x" is not a quantity'),
    ):
        _, err = simulate(cluster, "--generate", spec, ok=False)
        assert said in err, "--generate " + spec


def test_names_that_no_object_can_have_are_refused():
    for what, objects in (
        ("Pod", [node("n0"), pod("Bad_Name!")]),
        ("Pod", [node("n0"), pod("p", namespace="Team_A")]),
        ("Node", [node("Node_1")]),
    ):
        path = write_objects("names.json", objects)
        out, err = simulate(path, ok=False)
        assert not out and "names.json:1:" in err and "Invalid value" in err, "a bad name of a " + what
        assert "warning" not in err, "it is an error"
        assert schedsim("simulate", path, "--validate=off")[0] == 0, "which can be switched off"
        assert "warning: " in schedsim("run", path)[2], "run warns"


def test_openb_pods_run_from_when_they_were_scheduled():
    cluster = write_objects("openb.json", NODES[:1])
    rows = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    )
    for scheduled, length in (("30", 70), ("", 90), ("10", 90), ("100", 0), ("5000", 90), ("9", 90)):
        table = write_file("openb.csv", rows + "\np,100,1,0,0,,LS,Running,10,100,%s\n" % scheduled)
        result = json.loads(simulate(cluster, "--arrivals", table, "-o", "json")[0])
        assert result["makespanSeconds"] == length, "scheduled at " + scheduled
    table = write_file("openb.csv", rows + "\np,100,1,0,0,,LS,Running,10,100,soon\n")
    _, err = simulate(cluster, "--arrivals", table, ok=False)
    assert 'openb.csv:2: column scheduled_time: "soon" is not a time' in err, "its place"


def test_annotations():
    cluster = write_objects(
        "annotated.json",
        [node("n0"), pod("p", meta={"annotations": {"schedsim/time": "90s", "schedsim/duration": "1h"}})],
    )
    rows = placements(cluster)
    assert [(r["arrived"], r["placed"]) for r in rows] == [("90", "90")], "it arrives when it says"
    assert json.loads(simulate(cluster, "-o", "json")[0])["makespanSeconds"] == 3600, "it ends"


def test_annotations_that_mean_nothing():
    # File, line and column, the object, the path and the value, and what would be right; nothing is made.
    def of(kind, annotations):
        metadata = {"name": "w", "annotations": annotations}
        template = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}
        jobs = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
        spec = jobs if kind == "CronJob" else {"template": template}
        version = "apps/v1" if kind == "Deployment" else "batch/v1"
        return {"apiVersion": version, "kind": kind, "metadata": {"name": "w", "namespace": "a"}, "spec": spec}

    def alone(annotations):
        return pod("p", meta={"annotations": annotations})

    path = "spec.template.metadata.annotations[schedsim/time]: "
    cron = "spec.jobTemplate.spec.template.metadata.annotations[schedsim/duration]: "
    own = "metadata.annotations[simulate.berth/exit-code]: "
    kwok = "metadata.annotations[pod-complete.stage.kwok.x-k8s.io/delay]: "
    for obj, message in (
        (alone({"schedsim/duration": "-5m"}), 'Pod "default/p": metadata.annotations[schedsim/duration]: "-5m" is not'),
        (alone({"schedsim/time": 7}), 'Pod "default/p": metadata.annotations[schedsim/time]: must be a string'),
        (alone({"simulate.berth/exit-code": "no"}), 'Pod "default/p": %s"no" is not a number from 0 to 255' % own),
        (alone({"pod-complete.stage.kwok.x-k8s.io/delay": "5"}), 'Pod "default/p": %s"5" is not a duration' % kwok),
        (of("Deployment", {"schedsim/time": "9 parsecs"}), 'Deployment "a/w": %s"9 parsecs" is not a time' % path),
        (of("Job", {"schedsim/time": "soon"}), 'Job "a/w": %s"soon" is not a time' % path),
        (of("CronJob", {"schedsim/duration": "1 h"}), 'CronJob "a/w": %s"1 h" is not a time' % cron),
    ):
        cluster = write_file("odd.json", json.dumps(node("n0")) + "\n" + json.dumps(obj) + "\n")
        kept = scratch("kept")
        for mode in ("off", "on"):
            words = ("--controllers", mode, "--until", "1h", "--record-dir", kept, "--emulated-version=1.29")
            out, err = simulate(cluster, *words, "--validate=off", ok=False)
            assert re.search(r"odd\.json:2:\d+: " + re.escape(message), err) and not out, err
            assert "odd.json: " not in err, "the place stands there once"
            assert not os.path.exists(kept), "no recording"


def test_annotations_of_workloads():
    # Those of the template are those of its pods.
    for kind in ("Deployment", "StatefulSet", "ReplicaSet", "Job", "DaemonSet"):
        labels = {"app": "w"}
        template = {
            "metadata": {"labels": labels, "annotations": {"schedsim/time": "90s", "schedsim/duration": "1h"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        spec = {"template": template}
        if kind == "Job":
            spec.update(parallelism=2, completions=2, completionMode="Indexed")
            template["spec"]["restartPolicy"] = "Never"
        else:
            spec.update(selector={"matchLabels": labels}, serviceName="w", replicas=2)
        w = {
            "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
            "kind": kind,
            "metadata": {"name": "w"},
            "spec": spec,
        }
        cluster = write_file("workload.json", "\n".join(json.dumps(o) for o in NODES[:2] + [w]))
        flags = [cluster, "--emulated-version=1.29"]
        rows = placements(*flags)
        assert [(r["arrived"], r["placed"]) for r in rows] == [("90", "90")] * 2, kind + ": when they arrive"
        assert json.loads(simulate(*flags, "-o", "json")[0])["makespanSeconds"] == 3600, kind + ": they end"


def test_interrupt():
    """SIGINT prints what there is."""
    cluster = write_objects("long.json", NODES)
    words = ["--generate", "rate=1000/h,for=100000d,duration=1m,cpu=100m", "-o", "json", "--until", "100000d"]
    child = harness.start(
        SCHEDSIM, "simulate", cluster, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def catches_interrupts():
        with open(f"/proc/{child.pid}/status") as f:
            caught = int(re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M).group(1), 16)
        return caught >> (signal.SIGINT - 1) & 1

    harness.wait_until("it catches SIGINT", catches_interrupts)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=harness.DEADLINE)
    result = json.loads(out)
    assert child.returncode == 0 and result["cut"] is True and "cut at" in err, "marked as cut"


harness.main(globals())
