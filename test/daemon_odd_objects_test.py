#!/usr/bin/env python3
"""Tests kube-scheduler with objects and responses of the API server that cannot be right: each is logged, counted and
skipped, and every other pod is placed."""
import json

import harness
from harness import Api, Proxy, Scheduler, check_bound_once, node, pod, stop_all, wait_until, write_objects


def with_odd_pods(api):
    """Adds to the list of pods three that no API server should have: one with the uid of pod a, and two without a uid
    or name."""
    twin = pod("twin", uid=api.pods()["a"]["metadata"]["uid"])
    nobody, nameless = pod("nobody"), pod("", uid="nameless")
    twin["metadata"]["resourceVersion"] = nobody["metadata"]["resourceVersion"] = "1"

    def fault(method, path):
        if method == "GET" and path.startswith("/api/v1/pods?") and "watch=true" not in path:
            listed = api.get(path)
            listed["items"] += [dict(p, status={"phase": "Pending"}) for p in (twin, nobody, nameless)]
            return 200, {"Content-Type": "application/json"}, json.dumps(listed)
        return None

    return fault


def test_pods_without_an_identity_of_their_own():
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    api.add_pod("a")
    proxy = Proxy(api.port, with_odd_pods(api))
    s = Scheduler(proxy.url)
    api.wait_placed("a")
    api.add_pod("b")
    api.wait_placed("b")
    assert s.process.poll() is None
    m = s.metrics()
    assert m['scheduler_invalid_objects_total{problem="duplicate-uid"}'] == 1
    assert m['scheduler_invalid_objects_total{problem="pod-without-identity"}'] == 1
    assert m['scheduler_watch_undecodable_total{resource="pods"}'] == 1  # the one without a name
    assert s.log().count("has the metadata.uid ") == 1, s.log()
    check_bound_once(["a", "b"], proxy)
    assert s.stop() == 0


def merged(o, change):
    """Returns an object with other members, which are merged into those that it has."""
    return {**o, **{k: {**o[k], **v} if isinstance(v, dict) else v for k, v in change.items()}}


def test_answers_about_other_objects():
    """Tests responses to a status write: {}, another uid, another spec.schedulerName, no pod at all."""
    changes = None, {"metadata": {"uid": "another"}}, {"spec": {"schedulerName": "another"}}, {"kind": "Node"}
    for n, change in enumerate(changes):
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="1")]))
        api.add_pod("big", cpu="8")

        def fault(method, path):
            if method == "PUT" and path.endswith("/pods/big/status"):
                answer = {} if change is None else merged(api.pods()["big"], change)
                return 200, {"Content-Type": "application/json"}, json.dumps(answer)
            return None

        proxy = Proxy(api.port, fault)
        s = Scheduler(proxy.url, "--feature-gates=PodPriority=" + ("true" if n % 2 else "false"), name=f"scheduler{n}")
        wait_until("the answer", proxy.asked, "PUT", "/pods/big/status")
        api.add_node("n1", cpu="16")
        api.wait_placed("big", on="n1")
        assert s.process.poll() is None, s.log()
        counted = sum(v for k, v in s.metrics().items() if k.startswith("scheduler_invalid_objects_total"))
        assert counted >= 1 or "big" in s.log(), s.log()
        assert s.stop() == 0
        stop_all()


def test_texts_of_errors_are_no_labels():
    """Names that tenants choose do not appear on the metrics page."""
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    for i in range(20):
        p = pod(f"p{i}")
        p["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"secret-claim-{i}"}}]
        api.post("/api/v1/namespaces/default/pods", p)
    s = Scheduler(api.url)
    s.wait_metric('scheduler_pending_pods_by_reason{reason="persistentvolumeclaim not found"}', 20)
    assert "secret-claim" not in s.page("/metrics")[2]


harness.main(globals())
