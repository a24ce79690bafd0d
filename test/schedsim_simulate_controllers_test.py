#!/usr/bin/env python3
"""Tests schedsim simulate --controllers: the controllers and kubelets of hollow-apiserver in simulated time. Equal
arguments give equal bytes, recordings replay, and placements are those of the fast path where controllers do nothing
that it does not do. When they are simulated, and mistakes, are in text/simulate_controllers.test."""
import collections
import csv
import io
import json
import random
import resource

import harness
from harness import node, schedsim, scratch, write_file

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
NODES = [node("n%d" % i, zone="z%d" % (i % 3)) for i in range(6)]


def workload(kind, name, cpu="500m", annotations=None, restart=None, **spec):
    version = "batch/v1" if kind == "Job" else "apps/v1"
    template = {
        "metadata": {"labels": {"app": name}, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]},
    }
    if restart:
        template["spec"]["restartPolicy"] = restart
    if kind != "Job":
        spec["selector"] = {"matchLabels": {"app": name}}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": {**spec, "template": template}}


def job(name, duration, **spec):
    return workload("Job", name, annotations={"schedsim/duration": duration}, restart="Never", **spec)


def cron_job(name, schedule, duration, **spec):
    template = job(name, duration)["spec"]["template"]
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}, **spec},
    }


def write_documents(name, objects):
    return write_file(name, "\n".join(json.dumps(o) for o in objects) + "\n")


def simulate(*words, ok=True):
    code, out, err = schedsim("simulate", *words)
    assert (code == 0) == ok, ("simulate %s: exit status" % " ".join(words), err[-600:])
    return out, err


def placements(*words):
    return list(csv.DictReader(io.StringIO(simulate(*words, "-o", "csv")[0])))


LIVELY = [
    workload("Deployment", "web", replicas=5),
    workload("DaemonSet", "agent", cpu="100m"),
    workload("StatefulSet", "db", replicas=2, serviceName="db"),
    job("sum", "20m", completions=7, parallelism=3),
    cron_job("often", "*/15 * * * *", "5m"),
]
EVENTS = (
    "time,event,object,value\n30m,scale,Deployment default/web,8\n1h,fail,n1,30m\n2h,drain,n2,5m\n"
    "3h,restart,Deployment default/web,\n4h,leave,n3,\n4h,join,n9,n0\n"
)


def lively(name, cron_jobs=True):
    return [
        write_documents(name + ".json", NODES + [o for o in LIVELY if cron_jobs or o["kind"] != "CronJob"]),
        "--events",
        write_file(name + ".csv", EVENTS),
        "--until",
        "6h",
        "--start-delay",
        "5s",
    ]


def test_equal_arguments_give_equal_bytes():
    words = lively("same") + ["--emulated-version=1.29", "--emulated-version=1.36"]
    for output in "summary", "json", "csv":
        first = simulate(*words, "-o", output)[0]
        assert first and first == simulate(*words, "-o", output)[0], "equal bytes of -o " + output
    assert simulate(*words, "-o", "csv", "--seed", "2")[0] != first, "another seed gives other names"


def test_recordings_replay():
    for release in RELEASES:
        folder = scratch("living-" + release)
        has_cron_jobs = release in ("1.29", "1.36")
        words = lively("recorded", has_cron_jobs) + ["-o", "json", "--controllers=on", "--emulated-version=" + release]
        recorded = json.loads(simulate(*words, "--record-dir", folder)[0])
        code, text, err = schedsim("replay", folder)
        assert code == 0, ("replay of release " + release, text[-700:] + err[-500:])
        assert recorded == json.loads(simulate(*words)[0]), "a recording changes nothing in " + release
        assert recorded["jobsCompleted"] == (25 if has_cron_jobs else 1), release + ": Jobs"


def by_workload(rows):
    """Returns how many pods of which workload went where and when. Names end in what is made up."""
    return collections.Counter((r["pod"].split("/")[1].split("-")[0], r["placed"], r["node"]) for r in rows)


def test_placements_are_those_of_the_fast_path():
    """Plain pods that arrive and end, and Deployments on which nothing happens."""
    for seed in range(12):
        chance = random.Random(seed)
        deployments = [
            workload("Deployment", "web%d" % i, cpu="%dm" % chance.randrange(100, 900), replicas=chance.randrange(9))
            for i in range(chance.randrange(1, 4))
        ]
        rows = sorted(
            (chance.randrange(600), "%d,%d,row%d,%dm" % (0, chance.randrange(5, 90), i, chance.randrange(100, 2500)))
            for i in range(60)
        )
        table = "time,duration,name,cpu\n" + "".join("%d%s\n" % (t, text[1:]) for t, text in rows)
        cluster = write_documents("both.json", NODES + deployments)
        words = [cluster, "--arrivals", write_file("both.csv", table)]
        release = RELEASES[seed % len(RELEASES)]
        words.append("--emulated-version=" + release)
        fast, living = (by_workload(placements(*words, "--controllers=" + mode)) for mode in ("off", "on"))
        assert fast == living, ("seed %d, release %s" % (seed, release), fast - living, living - fast)


def test_a_month_of_cron_jobs():
    """A month costs what happens in it: CPU by the Job, and memory for what is there."""
    cluster = write_documents("month.json", NODES + [cron_job("often", "*/15 * * * *", "2m")])

    def cost(until):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out, err = simulate(cluster, "--until", until, "-o", "json", "--stats", "--emulated-version=1.29")
        stats = json.loads([line for line in err.splitlines() if line.startswith("{")][0])
        return json.loads(out), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, stats["peakRSSBytes"]

    week, _, small = cost("7d")
    month, cpu, large = cost("30d")
    assert week["jobsCompleted"] == 7 * 96, "Jobs of a week"
    assert month["jobsCompleted"] == 30 * 96, "Jobs of a month"
    # Each Job has a template of its own, for which answers are kept within a bound of 64 MiB, about 6 KB each. Nothing
    # else grows.
    assert large < small + 23 * 96 * 8 * 2**10 + 4 * 2**20, "memory does not grow but for kept answers"
    # Seconds on an idle machine; tests run beside others, and with sanitizers.
    assert cpu < 300, "CPU"


harness.main(globals())
