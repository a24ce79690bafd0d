#!/usr/bin/env python3
"""Tests schedsim simulate --controllers: the controllers and kubelets of hollow-apiserver in simulated time. Equal
arguments give equal bytes, recordings replay, placements are those of the fast path where controllers do nothing that
it does not do, and bad input is named."""
import collections
import csv
import io
import json
import os
import random
import resource
import subprocess

import harness
from harness import node, pod, schedsim, scratch, write_file, write_objects

SCHEDSIM = os.path.join(harness.BIN, "schedsim")
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


def test_when_controllers_are_simulated():
    def said(objects, *words):
        err = simulate(write_documents("auto.json", NODES + objects), "--emulated-version=1.29", *words)[1]
        return "controllers and kubelets are simulated" in err

    assert not said([workload("Deployment", "web", replicas=2)]), "not for a Deployment"
    assert not said([job("j", "1m", completions=2, parallelism=2)]), "not for a Job with all of its pods"
    assert said([job("j", "1m", completions=3, parallelism=2)]), "for a Job with more"
    assert not said([workload("Job", "j", restart="Never", completions=3, parallelism=2)]), "not if it never ends"
    assert not said([cron_job("c", "@hourly", "1m")]), "not for a CronJob without an end"
    assert said([cron_job("c", "@hourly", "1m")], "--until", "2h"), "for a CronJob"
    assert not said([cron_job("c", "@hourly", "1m")], "--until", "2h", "--controllers=off"), "unless they are off"
    restart = write_file("auto.csv", "time,event,object,value\n1h,restart,Deployment default/web,\n")
    assert said([workload("Deployment", "web", replicas=2)], "--events", restart), "for a restart"


def test_standard_input():
    text = "\n".join(json.dumps(o) for o in NODES + [job("j", "1m", completions=3)])

    def run(*words):
        done = subprocess.run(
            [SCHEDSIM, "simulate", "-", "-o", "json", *words], input=text, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)["pods"], done.stderr

    pods, err = run()
    assert pods == 1, "its pods alone"
    assert "standard input can be read once only" in err and "Job default/j" in err, "why"
    assert run("--controllers=on")[0] == 3, "with controllers"


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


def test_bad_input():
    cluster = write_documents("bad.json", NODES + [cron_job("c", "@hourly", "1m"), workload("Deployment", "web")])
    for words, message in (
        (["--controllers=perhaps"], '--controllers: invalid value "perhaps": should be auto, on or off'),
        (["--controllers=on"], "CronJob default/c makes pods for ever: say when to end with --until"),
        (["--controllers=on", "--until", "1h", "--eviction-delay", "1m"], "--eviction-delay: with controllers,"),
        (
            ["--events", write_file("bad.csv", "time,event,object,value\n1h,restart,Deployment default/x,\n")],
            ':2: column object: "Deployment default/x" is no workload',
        ),
        (
            ["--events", write_file("bad2.csv", "time,event,object,value\n1h,restart,Deployment default/web,3\n")],
            ':2: column value: "3" is not read: all pods of a workload are replaced',
        ),
        (
            [
                "--controllers=off",
                "--events",
                write_file("bad3.csv", "time,event,object,value\n1h,restart,Deployment default/web,\n"),
            ],
            "--events: restart needs controllers",
        ),
    ):
        code, out, err = schedsim("simulate", cluster, "--emulated-version=1.29", *words)
        assert code != 0 and message in err and not out, message
    for objects, message in (
        ([cron_job("c", "61 * * * *", "1m")], 'bad4.json:7: CronJob "default/c": spec.schedule: Invalid value'),
        ([job("j", "1 parsec")], 'Job "default/j": spec.template.metadata.annotations[schedsim/duration]'),
        ([job("j", "1m"), job("j", "1m")], 'bad4.json:8: Job "j": Job "default/j" is there twice'),
    ):
        bad = write_documents("bad4.json", NODES + objects)
        out, err = simulate(bad, "--controllers=on", "--until", "1h", "--emulated-version=1.29", ok=False)
        assert message in err and not out, message


def test_what_controllers_do_not_do():
    # Nothing measures load, CronJobs of v1beta1 are not simulated, workloads are no templates of arrivals: all said.
    hpa = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9},
    }
    scaled = write_documents("scaled.json", NODES + [workload("Deployment", "web"), hpa])
    for mode in ("on", "off"):
        _, err = simulate(scaled, "--controllers", mode, "--emulated-version=1.29")
        assert "HorizontalPodAutoscaler default/web does nothing, because no load is simulated" in err, err
    early = write_documents("early.json", NODES + [cron_job("c", "@hourly", "1m"), pod("p", cpu="1")])
    for release in ("1.10", "1.19"):
        words = (early, "--until", "1d", "--emulated-version", release)
        out, err = simulate(*words, "--controllers=on", ok=False)
        assert "objects of this kind are not simulated in this release" in err and not out, err
        _, err = simulate(*words)
        assert "CronJob default/c makes pods only at its times, so none is made of it" in err, err
    rows = write_file("copies.csv", "time,duration,name,template\n0,1m,p,Deployment default/web\n")
    out, err = simulate(scaled, "--controllers=on", "--arrivals", rows, "--emulated-version=1.29", ok=False)
    assert (
        'copies.csv:2: column template: "Deployment default/web" is no pod of the input: with controllers' in err
    ), err


def test_snapshots_without_controllers():
    """Pods that a server has stored, with owners that are not in the input, later than the simulation begins."""
    stored = pod("web-1", cpu="1", on="n0", owner="ReplicaSet")
    stored["metadata"].update(uid="u1", resourceVersion="7", creationTimestamp="2031-01-01T00:00:00Z")
    stored["status"] = {
        "phase": "Running",
        "startTime": "2031-01-01T00:00:00Z",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2031-01-01T00:00:00Z"}],
    }
    cluster = write_objects("snapshot.json", NODES + [stored, pod("new", cpu="1")])
    rows = placements(cluster, "--controllers=on")
    assert [r["pod"] for r in rows] == ["default/new"], "only the new one is placed"
    steps = write_file("snapshot.csv", "time,event,object,value\n1h,drain,n1,\n")
    result = json.loads(simulate(cluster, "--controllers=on", "--events", steps, "-o", "json")[0])
    assert round(result["series"][-1]["utilisation"]["pods"] * 6 * 110) == 2, "both stay"


harness.main(globals())
