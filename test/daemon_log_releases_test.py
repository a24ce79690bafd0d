#!/usr/bin/env python3
"""Tests the logs of kube-scheduler under releases 1.13 and 1.19: sentences, and in 1.19 messages with named values in
between, with the words and verbosities of the real schedulers."""
import json
import re

import harness
from harness import TLS, Api, Proxy, Scheduler, free_port, node, pod, wait_until, write_objects

HEADER = re.compile(r"([IWE])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.(?:cc|h):\d+\] (.*)")
ZONE = {"failure-domain.beta.kubernetes.io/zone": "a"}


def start(release, *objects, flags=(), proxied=False):
    api = Api.start(write_objects("cluster.json", list(objects)), flags=["--emulated-version=" + release])
    proxy = Proxy(api.port) if proxied else None
    url = proxy.url if proxied else api.url
    return api, Scheduler(url, "--emulated-version=" + release, "--secure-port=0", *flags, leader_elect=True), proxy


def lines_of(s):
    """Returns severity and text of each line of the log, without those about flags."""
    found = (HEADER.fullmatch(line) for line in s.log().splitlines())
    return [m.groups() for m in found if m and not m.group(2).startswith("FLAG: ")]


def expect(s, want):
    def missing():
        return set(want) - set(lines_of(s))

    wait_until(f"these lines: {want} in {s.log()}", missing, equals=set())


def test_what_1_19_says_of_pods_and_nodes():
    api, s, _ = start(
        "1.19", node("n1", cpu="1"), node("n2", cpu="1", labels=ZONE), pod("low", cpu="1", on="n2"), flags=["-v=3"]
    )
    expect(s, [("I", "attempting to acquire leader lease  kube-system/kube-scheduler...")])
    api.add_pod("fits", cpu="1")
    api.wait_placed("fits")
    api.add_pod("big", cpu="9")
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    api.add_pod("claimless", volumes=[volume])
    missing = 'persistentvolumeclaim "gone" not found'
    no_fit = "0/2 nodes are available: 2 Insufficient cpu."
    condition = "Updating pod condition for default/{} to (PodScheduled==False, Reason=Unschedulable)"
    expect(
        s,
        [
            ("I", "Creating scheduler from algorithm provider 'DefaultProvider'"),
            ("W", "Authorization is disabled"),
            ("W", "Authentication is disabled"),
            ("I", 'add event for node "n1"'),
            ("I", 'Added node "n1" in group "" to NodeTree'),
            ("I", r'Added node "n2" in group ":\x00:a" to NodeTree'),
            ("I", "add event for scheduled pod default/low "),
            ("I", "successfully acquired lease kube-system/kube-scheduler"),
            ("I", "add event for unscheduled pod default/fits"),
            ("I", "Attempting to schedule pod: default/fits"),
            ("I", "Attempting to bind default/fits to n1"),
            ("I", '"Successfully bound pod to node" pod="default/fits" node="n1" evaluatedNodes=2 feasibleNodes=1'),
            ("I", "delete event for unscheduled pod default/fits"),
            ("I", "add event for scheduled pod default/fits "),
            ("I", f'"Unable to schedule pod; no fit; waiting" pod="default/big" err="{no_fit}"'),
            ("I", condition.format("big")),
            ("E", f'"Error selecting node for pod" err={json.dumps(missing)} pod="default/claimless"'),
            ("I", f"Unable to schedule default/claimless: possibly due to node not found: {missing}; waiting"),
            ("I", condition.format("claimless")),
        ],
    )
    [starting] = [text for _, text in lines_of(s) if "Starting Kubernetes Scheduler" in text]
    assert re.fullmatch(r"Starting Kubernetes Scheduler version v1\.19\.16\S*", starting), starting
    for name in ("fits", "big"):
        assert api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")[0] == 200
    assert api.call("DELETE", "/api/v1/nodes/n2")[0] == 200
    expect(
        s,
        [
            ("I", "delete event for scheduled pod default/fits "),
            ("I", "delete event for unscheduled pod default/big"),
            ("I", 'delete event for node "n2"'),
            ("I", r'Removed node "n2" in group ":\x00:a" from NodeTree'),
        ],
    )
    assert s.stop() == 0
    assert ("I", "Received SIGTERM, finishing") in lines_of(s), s.log()


def test_what_1_19_says_of_failures():
    api, s, proxy = start("1.19", node("n1", cpu="1"), pod("low", cpu="1", on="n1", uid="low"), proxied=True)
    refusal = {"kind": "Status", "status": "Failure", "message": 'no "luck"', "reason": "Forbidden", "code": 403}
    proxy.fault = {
        "/binding$|^DELETE .*/pods/low|^PATCH .*/status": (
            403,
            {"Content-Type": "application/json"},
            json.dumps(refusal),
        )
    }
    api.add_pod("p", cpu="0")
    api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
    api.add_pod("urgent", cpu="1", priorityClassName="high")
    expect(
        s,
        [
            ("E", 'plugin "DefaultBinder" failed to bind pod "default/p": no "luck"'),
            ("I", "Failed to bind pod: default/p"),
            ("E", r'"Error scheduling pod; retrying" err="Binding rejected: no \"luck\"" pod="default/p"'),
            ("E", 'Error updating pod default/p: no "luck"'),
            ("E", 'Error preempting pod default/low: no "luck"'),
        ],
    )
    assert s.stop() == 0
    # What only decisions say.
    assert '"Error selecting node for pod"' not in s.log(), s.log()


def test_a_lost_lease_of_1_19():
    api, s, _ = start("1.19", node("n1"))
    s.wait_for_log("successfully acquired lease")
    path = "/api/v1/namespaces/kube-system/endpoints/kube-scheduler"
    leader = "control-plane.alpha.kubernetes.io/leader"
    status, lock = api.call("GET", path)
    assert status == 200, lock
    record = json.loads(lock["metadata"]["annotations"][leader])
    lock["metadata"]["annotations"][leader] = json.dumps({**record, "holderIdentity": "thief"})
    lock["metadata"].pop("resourceVersion")
    status, answer = api.call("PUT", path, lock)
    assert status == 200, answer
    assert s.process.wait(harness.DEADLINE) == 1
    assert lines_of(s)[-1] == ("E", "leaderelection lost"), s.log()
    assert "lost master" not in s.log(), s.log()


def test_the_start_of_1_13():
    """The order is that of the real one's log."""
    port = free_port()
    api = Api.start(write_objects("cluster.json", [node("n1")]), flags=["--emulated-version=1.13"])
    s = Scheduler(
        api.url,
        "--emulated-version=1.13",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "-v=0",
        leader_elect=True,
    )
    s.wait_for_log("successfully acquired lease")
    serving = f"Serving healthz insecurely on 127.0.0.1:{s.port()}"
    s.wait_for_log(f"Serving securely on 127.0.0.1:{port}")
    texts = [text for _, text in lines_of(s)]
    for in_order in (
        [
            "Waiting for caches to sync for scheduler controller",
            "Caches are synced for scheduler controller",
            "attempting to acquire leader lease  kube-system/kube-scheduler...",
            "successfully acquired lease kube-system/kube-scheduler",
        ],
        ["Authorization is disabled", "Authentication is disabled", serving],
        ["Generated self-signed cert in-memory", f"Serving securely on 127.0.0.1:{port}"],
    ):
        assert [t for t in texts if t in in_order] == in_order, s.log()
    assert any(t.startswith("Version: v1.13.4") for t in texts), s.log()
    assert "deprecated" not in s.log(), s.log()
    assert s.stop() == 0


def test_a_certificate_of_files_is_not_made():
    api = Api.start(write_objects("cluster.json", [node("n1")]), flags=["--emulated-version=1.13"])
    files = (f"--tls-cert-file={TLS}/server.crt", f"--tls-private-key-file={TLS}/server.key")
    s = Scheduler(api.url, "--emulated-version=1.13", f"--secure-port={free_port()}", *files)
    s.wait_for_log("Serving securely on")
    assert "self-signed" not in s.log(), s.log()
    assert s.stop() == 0


def test_an_older_server_is_named():
    """A kind that the server does not have is an error until it has it, as there, and the log says what to do."""
    api = Api.start(write_objects("cluster.json", [node("n1")]), flags=["--emulated-version=1.10"])
    s = Scheduler(api.url, "--emulated-version=1.29", "--secure-port=0")
    s.wait_for_log(
        "the server has no csinodes.storage.k8s.io, which Kubernetes serves since 1.17: for an older server, set "
        "--emulated-version to its release; trying again in "
    )
    assert "Caches are synced" not in s.log(), s.log()
    assert s.stop() == 0


harness.main(globals())
