#!/usr/bin/env python3
"""Tests which events let kube-scheduler try a rejected pod again, where the release looks into the objects of an event
(queueing hints, 1.36) and where it does not (1.29)."""
import harness
from harness import Api, Scheduler, node, pod, wait_until, write_objects

REJECTED = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}'


def attempts(s):
    return s.metrics().get(REJECTED, 0)


def started(release, *objects):
    api = Api.start(write_objects("cluster.json", objects), flags=["--emulated-version=" + release])
    return api, Scheduler(api.url, "--emulated-version=" + release)


def delete(api, name):
    api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")


def settled(api, name):
    """Places another pod, so that all events before have been handled."""
    api.add_pod(name, cpu="10m")
    api.wait_placed(name)


def test_a_pod_that_is_gone_wakes_those_that_want_its_port():
    for release, tried in (("1.29", 2), ("1.36", 1)):
        api, s = started(release, node("n0"), pod("web", on="n0", port=80), pod("plain", on="n0"))
        api.add_pod("p", port=80)
        wait_until("p rejected", attempts, s, equals=1)
        delete(api, "plain")
        wait_until("what a pod without ports wakes", attempts, s, equals=tried)
        settled(api, "late")
        assert attempts(s) == tried, (release, attempts(s))
        delete(api, "web")
        api.wait_placed("p", on="n0")
        assert s.stop() == 0


def test_a_node_wakes_pods_when_it_changes_in_what_they_lack():
    api, s = started("1.36", node("n0", cpu="1"), node("n1", cpu="1", labels={"disk": "hdd"}))
    api.add_pod("big", cpu="6")
    api.add_pod("fast", cpu="10m", nodeSelector={"disk": "ssd"})
    wait_until("both rejected", attempts, s, equals=2)

    def patch(path, change):
        status, answer = api.call("PATCH", path, change, "application/merge-patch+json")
        assert status == 200, answer

    # Neither a label that is not selected nor a resource that is not requested helps.
    patch("/api/v1/nodes/n0", {"metadata": {"labels": {"disk": "tape"}}})
    patch("/api/v1/nodes/n0/status", {"status": {"allocatable": {"memory": "64Gi"}}})
    settled(api, "late")
    assert attempts(s) == 2, attempts(s)
    patch("/api/v1/nodes/n1", {"metadata": {"labels": {"disk": "ssd"}}})
    api.wait_placed("fast", on="n1")
    assert attempts(s) == 2, attempts(s)
    patch("/api/v1/nodes/n0/status", {"status": {"allocatable": {"cpu": "8"}}})
    api.wait_placed("big", on="n0")
    assert attempts(s) == 2, attempts(s)
    assert s.stop() == 0


harness.main(globals())
