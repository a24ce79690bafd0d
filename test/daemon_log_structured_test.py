#!/usr/bin/env python3
"""Tests the log of kube-scheduler under release 1.29: lines with named values, as text and as JSON, with the messages,
names and verbosities of the real scheduler (whose log is beside the recorded conversations 40 to 49)."""
import json
import re
import subprocess
import time

import harness
from harness import BIN, DEADLINE, TLS, Api, Proxy, Scheduler, node, pod, scratch, wait_until, write_objects

LINE = re.compile(r'([IWE])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.(?:cc|h):\d+\] (".*)')


def start(*objects, flags=(), proxied=False):
    api = Api.start(
        *([write_objects("cluster.json", list(objects))] if objects else []), flags=["--emulated-version=1.29"]
    )
    proxy = Proxy(api.port) if proxied else None
    return (
        api,
        Scheduler(proxy.url if proxied else api.url, "--emulated-version=1.29", "--secure-port=0", *flags),
        proxy,
    )


def structured(s):
    """Returns severity and rest of each line that has a quoted message."""
    return [m.groups() for m in map(LINE.fullmatch, s.log().splitlines()) if m]


def missing(s, want):
    """Returns which of these are not written."""
    return set(want) - set(structured(s))


def test_fates_of_pods_are_written_with_names():
    api, s, _ = start(node("n0"), pod("low", cpu="1", on="n0", uid="uid-low"), flags=["-v=3"])
    api.add_pod("fits")
    api.add_pod("large", cpu="9")
    api.add_pod("gated", schedulingGates=[{"name": "example.com/hold"}])
    api.wait_placed("fits")
    api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
    api.add_pod("urgent", cpu="3", priorityClassName="high")
    no_fit = (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    )
    want = [
        ("I", '"Attempting to schedule pod" pod="default/fits"'),
        ("I", '"Attempting to bind pod to node" pod="default/fits" node="n0"'),
        ("I", '"Successfully bound pod to node" pod="default/fits" node="n0" evaluatedNodes=1 feasibleNodes=1'),
        ("I", f'"Unable to schedule pod; no fit; waiting" pod="default/large" err="{no_fit}"'),
        (
            "I",
            '"Updating pod condition" pod="default/large" conditionType="PodScheduled" conditionStatus="False" '
            'conditionReason="Unschedulable"',
        ),
        ("I", '"Status after running PreEnqueue plugin" pod="default/gated" plugin="SchedulingGates" status={}'),
        (
            "I",
            '"Unable to schedule pod; no fit; waiting" pod="default/urgent" err="0/1 nodes are available: 1 '
            'Insufficient cpu."',
        ),
    ]
    wait_until(f"these lines: {want} in {s.log()}", missing, s, want, equals=set())
    preempted = [text for _, text in structured(s) if "preempted victim" in text]
    assert preempted and all(
        re.fullmatch(
            r'"Preemptor Pod preempted victim Pod" preemptor="default/urgent" '
            r'victim="default/(low|fits)" node="n0"',
            text,
        )
        for text in preempted
    ), preempted
    assert s.stop() == 0
    lines = structured(s)
    assert lines[0][1].startswith('"Starting Kubernetes Scheduler" version="v'), lines[0]
    assert ("I", '"Requested to terminate, exiting" signal="SIGTERM"') in lines, lines


def test_failures_are_errors_with_names():
    api, s, proxy = start(node("n0"), proxied=True)
    refusal = json.dumps(
        {"kind": "Status", "status": "Failure", "message": 'no "luck"', "reason": "Forbidden", "code": 403}
    )
    proxy.fault = {"/binding$|^POST .*/events$": (403, {"Content-Type": "application/json"}, refusal)}
    api.add_pod("p")
    want = {
        ("E", r'"Plugin Failed" err="no \"luck\"" plugin="DefaultBinder" pod="default/p" node="n0"'),
        ("I", '"Failed to bind pod" pod="default/p"'),
        (
            "E",
            r'"Error scheduling pod; retrying" err="running Bind plugin \"DefaultBinder\": no \"luck\"" '
            r'pod="default/p"',
        ),
    }
    wait_until(f"these lines: {want} in {s.log()}", missing, s, want, equals=set())

    def refused():
        start = r'"Server rejected event (will not retry!)" err="no \"luck\"" event="'
        return [severity for severity, text in structured(s) if text.startswith(start)]

    wait_until("the refused event", refused, containing="E")
    path = scratch("wrong.kubeconfig")
    with open(path, "w") as f:
        f.write("apiVersion: v1\nkind: Config\ncurrent-context: x\n")
    r = subprocess.run(
        [f"{BIN}/kube-scheduler", "--emulated-version=1.29", f"--kubeconfig={path}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert r.returncode == 1 and re.search(r'^E.*\] "command failed" err="', r.stderr, re.M), r.stderr


def test_what_became_of_a_pod_meanwhile():
    """Tests a pod that somebody else binds and one that is deleted while it is being bound, and a lost response."""
    api, s, proxy = start(node("n0"), node("n1"), proxied=True)

    def meanwhile(method, path):
        if method == "POST" and path.endswith("/pods/race/binding"):
            target = {"metadata": {"name": "race"}, "target": {"kind": "Node", "name": "n1"}}
            api.call("POST", "/api/v1/namespaces/default/pods/race/binding", target)
            return "slow", 2  # seconds: the watch tells of the node first
        if method == "POST" and path.endswith("/pods/doomed/binding"):
            api.call("DELETE", "/api/v1/namespaces/default/pods/doomed?gracePeriodSeconds=0")
            return "slow", 2  # seconds: the watch tells of the deletion first
        if method == "POST" and path.endswith("/pods/lost/binding"):
            return "lose-answer"
        return None

    proxy.fault = meanwhile
    for name in ("race", "doomed", "lost"):
        api.add_pod(name, nodeSelector={"kubernetes.io/hostname": "n0"})
    asking = '"The outcome of binding a pod is unknown. Asking the API server where the pod is" err='
    for text in (
        '"Pod has been assigned to node. Abort adding it back to queue." pod="default/race" node="n1"',
        '"Pod doesn\'t exist in informer cache" pod="default/doomed" err="pod \\"doomed\\" not found"',
        '"Successfully bound pod to node" pod="default/lost" node="n0"',
    ):
        s.wait_for_log(text)
    assert any(
        severity == "W" and text.startswith(asking) and text.endswith(' pod="default/lost" node="n0"')
        for severity, text in structured(s)
    ), s.log()


def test_the_life_of_the_process():
    """Every line is a sentence after klog's header; lines about objects have named values."""
    port = harness.free_port()
    api = Api.start(
        write_objects(
            "cluster.json",
            [
                node(
                    "n0",
                    labels={
                        "failure-domain.beta.kubernetes.io/zone": "a",
                        "topology.kubernetes.io/zone": "b",
                        "topology.kubernetes.io/region": "r",
                    },
                )
            ],
        ),
        flags=["--emulated-version=1.29"],
    )
    s = Scheduler(
        api.url,
        "--emulated-version=1.29",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--v=2",
        f"--tls-cert-file={TLS}/server.crt",
        f"--tls-private-key-file={TLS}/server.key",
    )
    s.wait_for_log("Caches are synced")
    s.wait_for_log(f"] Serving securely on 127.0.0.1:{port}")
    s.wait_for_log("] Serving healthz insecurely on 127.0.0.1:")
    for kind in ("Pod", "Node", "CSINode", "VolumeAttachment", "PodDisruptionBudget"):
        s.wait_for_log(f"] Caches populated for *v1.{kind} from pkg/client/informer\n")
    s.wait_for_log('"Added node in listed group to NodeTree" node="n0" zone="r:\\x00:a"')
    assert api.call("DELETE", "/api/v1/nodes/n0")[0] == 200
    s.wait_for_log('"Removed node in listed group from NodeTree" node="n0" zone="r:\\x00:a"')
    assert s.stop() == 0
    log = s.log()
    order = [
        '"Requested to terminate, exiting"',
        '"Scheduling queue is closed"',
        f"Stopped listening on 127.0.0.1:{port}",
    ]
    assert [log.count(text) for text in order] == [1, 1, 1] and sorted(order, key=log.index) == order, log
    assert "deprecated" not in log and "starting" not in log, log
    plain = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.(?:cc|h):\d+\] \S")
    assert all(plain.match(line) for line in log.splitlines()), log


def test_json_has_its_fields():
    api, s, _ = start(node("n0"), flags=["--logging-format=json"])
    api.add_pod("fits")
    api.add_pod("large", cpu="9")

    def lines():
        return [json.loads(line) for line in s.log().splitlines()]

    def with_message(text):
        return next((line for line in lines() if line["msg"] == text), None)

    def errors():
        return [line for line in lines() if "v" not in line]

    bound = wait_until("a bound pod", with_message, "Successfully bound pod to node")
    assert list(bound) == ["ts", "caller", "msg", "v", "pod", "node", "evaluatedNodes", "feasibleNodes"], bound
    assert bound["v"] == 2 and bound["pod"] == {"name": "fits", "namespace": "default"} and bound["node"] == "n0", bound
    assert bound["feasibleNodes"] == 1 and abs(bound["ts"] / 1000 - time.time()) < 3600, bound
    assert re.fullmatch(r"scheduler_log\.cc:\d+", bound["caller"]), bound
    unfit = wait_until("a pod that does not fit", with_message, "Unable to schedule pod; no fit; waiting")
    assert unfit["err"].startswith("0/1 nodes are available: 1 Insufficient cpu."), unfit
    api.process.kill()
    api.process.wait()
    error = wait_until("an error", errors)[0]
    assert list(error)[:3] == ["ts", "caller", "msg"], error
    s.stop()
    assert all("severity" not in line for line in lines())


def test_a_lost_lease_is_named():
    api, s, proxy = start(node("n0"), flags=["--leader-elect=true"], proxied=True)
    s.wait_for_log("successfully acquired lease kube-system/kube-scheduler")
    assert "attempting to acquire leader lease kube-system/kube-scheduler..." in s.log()
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
    status, answer = api.call("PATCH", path, {"spec": {"holderIdentity": "thief"}}, "application/merge-patch+json")
    assert status == 200, answer
    assert s.process.wait(DEADLINE) == 1
    assert ("E", '"Leaderelection lost"') in structured(s), s.log()
    assert "lost master" not in s.log(), s.log()


harness.main(globals())
