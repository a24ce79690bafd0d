#!/usr/bin/env python3
"""Tests kube-scheduler with faults around it: no pod is bound twice, no node is overcommitted, no pod that fits stays
pending, and no restart is needed."""
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import (
    Api,
    Proxy,
    Scheduler,
    check_bound_once,
    free_port,
    node,
    pod,
    status_body,
    wait_until,
    write_objects,
)


def binds(proxy):
    return [path.split("/")[6] for method, path in proxy.seen if method == "POST" and path.endswith("/binding")]


def test_api_server_is_down_at_start():
    port = free_port()
    s = Scheduler(f"http://127.0.0.1:{port}")
    s.wait_for_log("Failed to list *v1.Node")
    assert s.page("/healthz")[::2] == (200, "ok")
    assert s.process.poll() is None
    api = Api.start(write_objects("cluster.json", [node("n0")]), port=port)
    api.add_pod("p")
    api.wait_placed("p")
    assert s.stop() == 0


def test_ends_while_the_api_server_is_down():
    s = Scheduler("http://127.0.0.1:1")
    s.wait_for_log("Failed to list *v1.Node")
    assert s.stop() == 0


def test_watch_is_cut_in_the_middle_of_an_object():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    cuts = []

    def fault(method, path):
        if "/api/v1/pods?" in path and "watch=true" in path and len(cuts) < 5:
            cuts.append(path)
            return ("cut", 700)  # inside the first or second pod
        return None

    proxy = Proxy(api.port, fault)
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    names = []

    def one_more():
        names.append(f"p{len(names)}")
        api.add_pod(names[-1], cpu="100m")
        api.wait_placed(*names)
        return len(cuts) == 5

    wait_until("five cuts", one_more)
    check_bound_once(names, proxy)


def test_slow_server():
    """Each response, also to lists and watches, comes seconds late; one comes when nobody waits for it any more."""
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(3)]))
    proxy = Proxy(api.port, {"/p3/binding$": ("slow", 33), "": ("slow", 1.5)})
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    names = [f"p{i}" for i in range(20)]
    for n in names:
        api.add_pod(n)
    api.add_pod("big", cpu="100")
    api.wait_placed(*names)
    wait_until("the condition of big", api.condition, "big", reason="Unschedulable")
    s.wait_metric("scheduler_pods_bound_total", 20)
    s.wait_metric("scheduler_binds_in_flight", 0)
    # It was given up after 30 s, together with the requests sent after it; then the API server was asked about their
    # outcomes.
    assert (
        s.metrics()["scheduler_bind_outcome_unknown_total"] >= 1 and s.metrics()["scheduler_bind_failures_total"] == 0
    )
    check_bound_once(names, proxy)
    api.check_not_overcommitted()
    assert s.stop() == 0


def test_answers_that_dribble():
    """Lists, watches and the responses to binds arrive byte by byte."""
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(2)]))
    proxy = Proxy(api.port, {"": ("dribble", 0.0002)})
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    names = [f"p{i}" for i in range(8)]
    for n in names:
        api.add_pod(n)
    api.wait_placed(*names)
    s.wait_metric('scheduler_scheduler_cache_size{type="assumed_pods"}', 0)
    check_bound_once(names, proxy)
    api.check_not_overcommitted()
    assert s.stop() == 0


def test_answers_that_are_errors_or_garbage():
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(3)]))
    left = {
        ("GET", "/api/v1/nodes?limit"): [(500, {}, status_body(500, "InternalError", "injected"))],
        ("GET", "/api/v1/services?limit"): [(429, {"Retry-After": "1"}, "Too many requests")],
        ("GET", "/api/v1/persistentvolumes?limit"): [("garbage",), "refuse"],
        ("GET", "/api/v1/pods?"): [
            (200, {"Content-Type": "application/json"}, '{"kind":"PodList","items":[{'),
            (410, {}, status_body(410, "Expired", "too old")),
        ],
        ("POST", "/api/v1/namespaces/default/pods/b500/binding"): [
            (500, {}, status_body(500, "InternalError", "injected"))
        ],
        ("POST", "/api/v1/namespaces/default/pods/b409/binding"): [
            (409, {}, status_body(409, "Conflict", "Operation cannot be fulfilled on pods/binding \"b409\": injected"))
        ],
        ("POST", "/api/v1/namespaces/default/pods/b404/binding"): [(404, {}, status_body(404, "NotFound", "injected"))],
        ("POST", "/api/v1/namespaces/default/pods/bgarbage/binding"): [("garbage",)],
        ("POST", "/api/v1/namespaces/default/pods/blost/binding"): ["lose-answer"],
        ("POST", "/api/v1/namespaces/default/pods/brefuse/binding"): ["refuse"],
        ("PUT", "/api/v1/namespaces/default/pods/big/status"): [(409, {}, status_body(409, "Conflict", "injected"))],
        ("POST", "/api/v1/namespaces/default/events"): [(500, {}, "oops"), (403, {}, "no")],
    }

    def fault(method, path):
        for (m, prefix), faults in left.items():
            if m == method and path.startswith(prefix) and "watch=true" not in path and faults:
                return faults.pop(0)
        return None

    def unused():
        return {request: faults for request, faults in left.items() if faults}

    proxy = Proxy(api.port, fault)
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    names = ["b500", "b409", "b404", "bgarbage", "blost", "brefuse", "fine"]
    for n in names:
        api.add_pod(n)
    api.add_pod("big", cpu="100")
    api.wait_placed(*names)
    api.check_not_overcommitted()
    assert s.metrics()["scheduler_bind_outcome_unknown_total"] >= 2
    assert len([n for n in binds(proxy) if n == "blost"]) == 1, "a bind that was done is not asked for again"
    wait_until("the condition of big, in spite of the conflict", api.condition, "big", reason="Unschedulable")
    wait_until("faults that are still to be injected", unused, equals={})
    assert s.process.poll() is None


STORM = [
    None,
    (500, {}, "oops"),
    None,
    "lose-answer",
    "refuse",
    (503, {"Retry-After": "1"}, ""),
    ("garbage",),
    ("cut", 300),
]


class Storm:
    """From begin() on, most requests fail for some seconds, also lists and watches, with one kind of fault after
    another. Counts those that fail."""

    def __init__(self):
        self.lock, self.asked, self.end, self.hit = threading.Lock(), 0, 0.0, {"write": 0, "list": 0, "watch": 0}

    def begin(self, seconds=12):
        self.end = time.monotonic() + seconds

    def __call__(self, method, path):
        with self.lock:
            if time.monotonic() > self.end:
                return None
            self.asked += 1
            fault = STORM[self.asked % len(STORM)]
            if fault == "lose-answer" and "watch=true" in path:
                fault = "refuse"  # the response to a watch has no end to wait for
            if fault:
                self.hit["write" if method != "GET" else "watch" if "watch=true" in path else "list"] += 1
            return fault


def follows_all(s):
    def closed():
        return [k for k, v in s.metrics().items() if k.startswith("scheduler_watch_open") and not v]

    wait_until("watches that are not open", closed, equals=[])


def settles(api, proxy, s, storm, names):
    api.wait_placed(*names, within=90)
    api.check_not_overcommitted()
    check_bound_once(names, proxy)
    assert all(storm.hit.values()), storm.hit
    assert s.process.poll() is None

    # The scheduler's state must equal that of the cluster.
    # 1.36 has the family without the doubled word.
    def assumed():
        return sum(v for k, v in s.metrics().items() if k.endswith('scheduler_cache_size{type="assumed_pods"}'))

    assert any(k.endswith('scheduler_cache_size{type="assumed_pods"}') for k in s.metrics())
    wait_until("all assumed pods confirmed", assumed, equals=0)
    s.process.send_signal(signal.SIGUSR2)
    s.wait_for_log("cache comparer: no differences")


def test_storm_of_errors():
    """In two releases at a time, because each waits for the end of its storm."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(storm_of_errors, ("1.8", "1.10", "1.13", "1.19", "1.36")))


def storm_of_errors(release):
    emulated = "--emulated-version=" + release
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(5)]), flags=[emulated])
    storm = Storm()
    proxy = Proxy(api.port, storm)
    s = Scheduler(proxy.url, emulated, name="storm-" + release)
    if release == "1.36":
        storm.hit["list"] = 1  # its lists are beginnings of watches
    s.wait_for_log("Caches are synced")
    follows_all(s)
    storm.begin()
    names = [f"p{i}" for i in range(40)]
    for n in names:
        api.add_pod(n)
    wait_until("writes that fail", storm.hit.get, "write", at_least=5)
    proxy.cut_all()
    settles(api, proxy, s, storm, names)


def test_storm_while_the_api_server_restarts():
    objects = [node(f"n{i}") for i in range(5)]
    api = Api.start(write_objects("cluster.json", objects))
    storm, closed = Storm(), threading.Event()

    def fault(method, path):
        return "refuse" if closed.is_set() else storm(method, path)

    proxy = Proxy(api.port, fault)
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    follows_all(s)
    early, late = [f"p{i}" for i in range(20)], [f"q{i}" for i in range(20)]
    storm.begin()
    for n in early:
        api.add_pod(n)
    wait_until("pods placed", api.number_placed, at_least=1)
    # The new server begins with the final state of the old one.
    closed.set()
    proxy.wait_for_writes()
    api.restart()
    storm.begin()
    proxy.cut_all()
    for n in late:
        api.add_pod(n)
    closed.clear()
    settles(api, proxy, s, storm, early + late)


def api_server_restarts(keep_state):
    cluster = write_objects(
        "cluster.json", [node(f"n{i}") for i in range(3)] + [pod(f"p{i}", uid=f"uid-{i}") for i in range(6)]
    )
    api = Api.start(cluster)
    s = Scheduler(api.url)
    names = [f"p{i}" for i in range(6)]
    api.wait_placed(*names)
    before = api.placements()
    if keep_state:
        api.restart()
    else:
        api.process.kill()
        api.process.wait()
        Api.start(cluster, port=api.port)
    api.add_pod("new")
    api.wait_placed(*names, "new", within=90)
    api.check_not_overcommitted()
    if keep_state:
        after = api.placements()
        assert all(after[n] == before[n] for n in names), (before, after)
    assert s.process.poll() is None
    s.process.send_signal(signal.SIGUSR2)
    s.wait_for_log("cache comparer: no differences")


def test_api_server_restarts_with_its_state():
    api_server_restarts(True)


def test_api_server_restarts_and_has_forgotten():
    api_server_restarts(False)


def test_killed_between_assume_and_bind():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="2"), node("n1", cpu="2")]))
    held = threading.Event()

    def fault(method, path):
        if method == "POST" and path.endswith("/binding") and not held.is_set():
            held.wait(20)  # the response, and even the request, are still in flight when the scheduler is killed
        return None

    proxy = Proxy(api.port, fault)
    names = [f"p{i}" for i in range(4)]
    for n in names:
        api.add_pod(n, cpu="1")
    s = Scheduler(proxy.url, name="first")
    wait_until("a bind on its way", binds, proxy)
    s.process.kill()
    s.process.wait()
    assert not any(api.placements().values())
    second = Scheduler(api.url, name="second")
    api.wait_placed(*names)
    held.set()
    api.check_not_overcommitted()
    assert second.stop() == 0


def test_pods_that_never_fit_do_not_hold_up_others():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    s = Scheduler(api.url, "--kube-api-qps=50", "--kube-api-burst=50", "--feature-gates=PodPriority=true")
    api.add_priority_class("high", 1000)
    for i in range(30):
        api.add_pod(f"stuck{i}", cpu="100", priority_class="high")
    s.wait_for_log("Failed to schedule pod: default/stuck29")
    names = [f"p{i}" for i in range(30)]
    for n in names:
        api.add_pod(n, cpu="100m")
    api.wait_placed(*names, within=30)
    m = s.metrics()
    assert m['scheduler_pending_pods_by_reason{reason="Insufficient cpu"}'] == 30, m


harness.main(globals())
