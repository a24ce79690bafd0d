#!/usr/bin/env python3
"""Tests schedsim simulate: equal arguments give equal bytes, first attempts are those of run, recordings replay, and a
trace of months takes a second. What it says of events and of mistakes is in text/simulate*.test."""
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
    assert "must be a number from 0 to 100, or release" in err, "a number or release"
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
