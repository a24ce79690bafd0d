#!/usr/bin/env python3
"""Tests what schedsim makes of inputs and flags that an API server or a kube-scheduler would not take as they are."""
import functools

import harness
from harness import node

pod = functools.partial(harness.pod, cpu="100m")


def unnamed(o, prefix):
    return {**o, "metadata": {**{k: v for k, v in o["metadata"].items() if k != "name"}, "generateName": prefix}}


def run(objects, *flags, command="run"):
    """Returns exit status, output and errors."""
    return harness.schedsim(command, harness.write_objects("objects.json", objects), *flags)


def job(prefix, pods):
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": prefix},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    }


def test_names_are_generated():
    objects = [node("n1"), unnamed(pod("x"), "d-"), unnamed(pod("x"), "d-"), job("backup-", 2), job("restore-", 2)]
    objects.append(job("backup-", 1))
    status, out, err = run(objects, "-o", "placements")
    want = ["d-00001", "d-00002", "backup-00001-0000", "backup-00001-0001", "restore-00001-0000", "restore-00001-0001"]
    assert status == 0 and "made 5 pods" in err, err
    assert sorted(line.split()[0] for line in out.splitlines()) == sorted(
        "default/" + name for name in (*want, "backup-00002-0000")
    ), out
    status, out, err = run(
        objects[:2] + [job("backup-", 3)], "--controllers=on", "--until", "1h", "-o", "json", command="simulate"
    )
    assert status == 0 and '"placed":4' in out.replace(" ", ""), (out, err)


def test_names_have_no_control_characters():
    for name in ("p\x1b[31m", "p\nq", "p\x7f"):
        for bad in (pod(name), node(name), pod("p", namespace=name), unnamed(pod("x"), name)):
            status, out, err = run([node("n1"), bad])
            assert status == 1 and out == "" and "has a control character" in err and "line " in err, (bad, out, err)
            assert not any(c in err for c in "\x1b\x7f") and err.count("\n") == 1, err


def test_flags_are_of_the_release():
    objects = [node("n1"), pod("p")]
    for release in ("1.29", "1.36"):
        status, _, err = run(objects, "--emulated-version=" + release, "--hard-pod-affinity-symmetric-weight=7")
        assert status != 0 and "release %s has no such flag" % release in err, err
    for weight in ("0", "101", "-7"):
        status, _, err = run(objects, "--hard-pod-affinity-symmetric-weight=" + weight)
        assert status == 2 and "--hard-pod-affinity-symmetric-weight: invalid value %s" % weight in err, err
    assert run(objects, "--hard-pod-affinity-symmetric-weight=100")[0] == 0
    for percentage in ("-1", "101", "many"):
        status, _, err = run(objects, "--emulated-version=1.29", "--percentage-of-nodes-to-score=" + percentage)
        assert status == 2 and "must be a number from 0 to 100, or release" in err, err
    for command in ("run", "simulate", "compare"):
        status, _, err = run(objects, "--emulated-version=1.11", command=command)
        assert status == 2 and '--emulated-version: invalid value "1.11": must be' in err, (command, status, err)
        assert "Run schedsim %s --help" % command in err, err


harness.main(globals())
