#!/usr/bin/env python3
"""Tests that no program and no command loses output silently: a failed write causes a message and exit status 1."""
import os
import subprocess

import harness
from harness import BIN, ROOT, node, pod, write_file, write_objects

POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "PodFitsResources"}],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
}


def command_lines():
    cluster, template, policy = (
        write_objects("cluster.json", [node(), pod()]),
        write_file("pod.json", pod()),
        write_file("policy.json", POLICY),
    )
    for program in "kube-scheduler", "schedsim", "hollow-apiserver":
        yield [program, "--help"]
        yield [program, "--version"]
    for o in "table", "json", "placements":
        yield ["schedsim", "run", cluster, "-o", o]
    for o in "table", "json", "yaml":
        yield ["schedsim", "explain", cluster, "--pod", "default/p1", "-o", o]
        yield ["schedsim", "capacity", cluster, "--pod-spec", template, "-o", o]
        yield ["schedsim", "check-policy", policy, "-o", o]
    yield ["schedsim", "explain", cluster, "--pod", "default/p1", "-o", "wide"]
    yield ["schedsim", "capacity", cluster, "--add-node", "n1"]
    yield ["schedsim", "what-if", cluster, "--cordon", "n1"]
    for o in "table", "csv", "json":
        yield ["schedsim", "compare", cluster, "--algorithm-provider", "DefaultProvider", "-o", o]
    yield ["schedsim", "tune", cluster, "--budget", "3", "--hold-back", "0"]
    yield ["schedsim", "schema", "policy"]
    recording = os.path.join(ROOT, "test/testdata/recordings/evictions.jsonl.gz")
    yield ["schedsim", "replay", recording]
    yield ["schedsim", "anonymise", recording]
    yield ["schedsim", "completion", "bash"]
    yield ["schedsim", "help", "run"]


def test_every_command():
    for words in command_lines():
        line = [os.path.join(BIN, words[0])] + words[1:]
        name = " ".join(w if "/" not in w or w[0] != "/" else os.path.basename(w) for w in words)
        good = subprocess.run(line, capture_output=True, text=True)
        assert good.returncode == 0 and good.stdout, ("%s prints something" % name, good.stderr)
        with open("/dev/full", "w") as full:
            run = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
        assert run.returncode == 1 and "No space left on device" in run.stderr, "%s >/dev/full" % name
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert run.returncode == 1 and "Broken pipe" in run.stderr, "%s into a closed pipe" % name


def test_server():
    # If a server's only line of output is lost, whoever started it cannot find it.
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [os.path.join(BIN, "hollow-apiserver"), "--insecure-port=0"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert run.returncode == 1 and "No space left on device" in run.stderr, "hollow-apiserver >/dev/full"


harness.main(globals())
