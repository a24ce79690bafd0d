#!/usr/bin/env python3
"""Tests kube-scheduler with hollow-apiserver: it places pods, says why others wait, serves its pages, and shuts down
cleanly."""
import json
import signal
import socket

import harness
from harness import Api, Proxy, Scheduler, node, pod, scratch, wait_until, write_objects


def test_schedules_a_cluster_from_files():
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(5)]))
    for i in range(20):
        api.add_pod(f"p{i}")
    api.add_pod("big", cpu="5")
    api.add_pod("foreign", scheduler="another")
    s = Scheduler(api.url)
    api.wait_placed(count=20)
    where = api.placements()
    assert where["big"] is None and where["foreign"] is None, where
    api.check_not_overcommitted()
    # LeastRequested spreads the load evenly.
    assert sorted(list(where.values()).count(f"n{i}") for i in range(5)) == [4] * 5, where

    condition = wait_until("the PodScheduled condition of big", api.condition, "big", type="PodScheduled")
    assert condition["status"] == "False" and condition["reason"] == "Unschedulable", condition
    assert condition["message"] == "0/5 nodes are available: 5 Insufficient cpu.", condition

    def pods_with_events():
        return len({e["involvedObject"]["name"] for e in api.events()})

    wait_until("pods with events", pods_with_events, equals=21)
    events = {e["involvedObject"]["name"]: e for e in api.events()}
    assert events["big"]["reason"] == "FailedScheduling" and events["big"]["type"] == "Warning", events["big"]
    assert events["big"]["message"] == "0/5 nodes are available: 5 Insufficient cpu.", events["big"]
    e = events["p3"]
    assert (e["type"], e["reason"]) == ("Normal", "Scheduled"), e
    assert e["message"] == f"Successfully assigned p3 to {where['p3']}", e
    assert e["source"]["component"] == "default-scheduler" and e["involvedObject"]["uid"], e

    # When a node appears that is large enough, it receives the waiting pod.
    api.add_node("large", cpu="16")
    api.wait_placed("big", on="large")
    assert api.placements()["foreign"] is None
    s.wait_metric("scheduler_binding_latency_microseconds_count", 21)
    assert s.metrics()['scheduler_schedule_attempts_total{result="scheduled"}'] == 21
    s.process.send_signal(signal.SIGUSR2)
    s.wait_for_log("cache comparer: no differences")
    assert s.stop() == 0


def test_b_36_fixed_pods_that_other_schedulers_placed_take_room():
    """Those that were there first, and those that are bound while it runs."""
    api = Api.start(
        write_objects(
            "cluster.json",
            [node("n0", cpu="2"), pod("taken", cpu="1500m", on="n0", scheduler="another", uid="u-taken")],
        )
    )
    api.add_pod("fits", cpu="500m")
    api.add_pod("too-much", cpu="500m")
    s = Scheduler(api.url)
    api.wait_placed("fits", on="n0")
    s.wait_for_log("Failed to schedule pod: default/too-much")
    api.check_not_overcommitted()
    api.call("DELETE", "/api/v1/namespaces/default/pods/taken?gracePeriodSeconds=0")
    api.wait_placed("too-much", on="n0")
    api.add_pod("bound-elsewhere", cpu="800m", scheduler="another")
    api.post(
        "/api/v1/namespaces/default/pods/bound-elsewhere/binding",
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "bound-elsewhere"},
            "target": {"kind": "Node", "name": "n0"},
        },
    )
    api.add_pod("last", cpu="500m")
    s.wait_for_log("Failed to schedule pod: default/last")
    api.check_not_overcommitted()


def test_serves_its_pages():
    api = Api.start()
    s = Scheduler(api.url, "--scheduler-name=mine")
    assert s.page("/healthz")[::2] == (200, "ok")
    assert s.page("/healthz", "POST")[::2] == (200, "ok")
    assert s.page("/healthz?verbose")[2] == "[+]ping ok\nhealthz check passed\n"
    assert s.page("/healthz/ping")[2] == "ok"
    status, headers, body = s.page("/")
    assert status == 200 and headers["Content-Type"].startswith("text/html"), (status, headers)
    assert (
        all(f'<a href="{page}">' in body for page in ("/healthz", "/metrics", "/configz")) and "/ui/" not in body
    ), body
    for path in ("/healthz/", "/version", "/debug/pprof/"):
        status, headers, body = s.page(path)
        assert (status, body) == (404, "404 page not found\n"), (path, status, body)
        assert headers["X-Content-Type-Options"] == "nosniff"
    config = json.loads(s.page("/configz")[2])["componentconfig"]
    assert config["SchedulerName"] == "mine" and config["AlgorithmSource"] == {
        "Policy": None,
        "Provider": "DefaultProvider",
    }, config
    status, headers, text = s.page("/metrics")
    assert headers["Content-Type"] == "text/plain; version=0.0.4", headers
    for line in (
        'scheduler_e2e_scheduling_latency_microseconds_bucket{le="1.024e+06"} 0',
        'scheduler_scheduling_algorithm_latency_microseconds_bucket{le="512000"} 0',
        'scheduler_binding_latency_microseconds_bucket{le="+Inf"} 0',
        "# TYPE scheduler_total_preemption_attempts counter",
        "scheduler_pod_preemption_victims 0",
        "# TYPE scheduler_scheduling_algorithm_preemption_evaluation histogram",
    ):
        assert line in text.splitlines(), f"{line} is not in\n{text}"
    # Metrics of the page itself exist from the second request on.
    assert "handler=" not in text
    m, length = s.metrics(whole=False), len(text)
    assert m['http_requests_total{code="200",handler="prometheus",method="get"}'] == 1
    assert m['http_response_size_bytes_sum{handler="prometheus"}'] == length
    assert m['http_request_duration_microseconds_count{handler="prometheus"}'] == 1
    assert 0 < m['http_request_duration_microseconds{handler="prometheus",quantile="0.5"}'] < 60e6
    assert s.stop(signal.SIGINT) == 0


def test_too_many_connections_to_its_pages_are_closed():
    api = Api.start()
    s = Scheduler(api.url)
    port = s.port()
    # 256 connections are accepted, and 32 more from the local host; each further one closes the one that has been idle
    # longest.
    many = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]

    def closed(c):
        c.setblocking(False)
        try:
            return c.recv(1) == b""
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def number_closed():
        return sum(map(closed, many))

    wait_until("closed connections of 300", number_closed, equals=12)
    assert s.page("/healthz")[::2] == (200, "ok")
    for c in many:
        c.close()
    s.wait_metric('scheduler_http_connections{server="healthz"}', 1)
    assert s.metrics()['scheduler_http_displaced_total{server="healthz"}'] >= 12
    assert s.metrics()['scheduler_http_refused_total{server="healthz"}'] == 0
    assert s.stop() == 0


def test_several_profiles_share_the_cluster():
    api = Api.start(write_objects("cluster.json", [node("a"), node("b")]))
    path = scratch("config.yaml")
    with open(path, "w") as f:
        f.write(
            "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n"
            "healthzBindAddress: 127.0.0.1:0\nmetricsBindAddress: 127.0.0.1:0\n"
            "profiles:\n- schedulerName: packer\n  algorithmSource:\n    provider: ClusterAutoscalerProvider\n"
        )
    s = Scheduler(api.url, f"--config={path}", "--feature-gates=TaintNodesByCondition=true")
    api.add_pod("first", cpu="2", memory="4Gi", on="a")
    api.add_pod("spread", cpu="1", memory="2Gi")
    api.wait_placed("spread")
    api.add_pod("pack", cpu="1", memory="2Gi", scheduler="packer")
    api.wait_placed("pack")
    where = api.placements()
    assert where["spread"] == "b" and where["pack"] == "a", where

    def sources_of_events():
        return {e["source"]["component"] for e in api.events(reason="Scheduled")}

    wait_until("sources of events", sources_of_events, equals={"default-scheduler", "packer"})
    assert (
        s.log().count("TaintNodesByCondition is enabled, PodToleratesNodeTaints predicate is mandatory") == 1
    ), s.log()


def test_rates_of_zero_and_below():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    defaults = Scheduler(api.url, "--kube-api-qps=0", "--kube-api-burst=0", name="defaults")
    assert defaults.metrics()["scheduler_requests_limit"] == 10 + 5 * 5
    assert defaults.stop() == 0
    # The metrics exist from the first response on, even before the API server has sent the policy.
    deaf = Proxy(api.port, {"": "refuse"})
    waiting = Scheduler(deaf.url, "--policy-configmap=p", "--kube-api-qps=2", "--kube-api-burst=7", name="waiting")
    m = waiting.metrics(whole=False)
    assert (m["scheduler_requests_limit"], m["scheduler_events_queued"]) == (7 + 5 * 2, 0)
    assert not any(k.startswith("scheduler_watch_open") for k in m)
    assert waiting.stop() == 0
    unlimited = Scheduler(api.url, "--kube-api-qps=-1", "--kube-api-burst=1", "-v=4", name="unlimited")
    assert unlimited.metrics()["scheduler_requests_limit"] == 4096
    names = [f"p{i}" for i in range(40)]
    for n in names:
        api.add_pod(n, cpu="100m")
    api.wait_placed(*names)
    assert "Throttling request" not in unlimited.log()
    assert unlimited.stop() == 0


def test_preempts():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="2")]))
    s = Scheduler(api.url, "--feature-gates=PodPriority=true")
    api.add_priority_class("low", 1)
    api.add_priority_class("high", 1000)
    for i in range(2):
        api.add_pod(f"low-{i}", cpu="1", priority_class="low")
    api.wait_placed("low-0", "low-1")
    api.add_pod("high", cpu="1", priority_class="high")

    def ending():
        return [n for n, p in api.pods().items() if "deletionTimestamp" in p["metadata"]]

    victim = wait_until("a victim", ending)[0]
    assert api.pods()["high"]["status"]["nominatedNodeName"] == "n0"
    event = wait_until("the event on the victim", api.events, reason="Preempted")[0]
    assert event["involvedObject"]["name"] == victim and event["message"] == "by default/high on node n0", event
    assert api.placements()["high"] is None
    api.call("DELETE", f"/api/v1/namespaces/default/pods/{victim}?gracePeriodSeconds=0")
    api.wait_placed("high", on="n0")
    assert s.metrics()["scheduler_total_preemption_attempts"] >= 1


harness.main(globals())
