#!/usr/bin/env python3
"""Tests the whole kube-scheduler with faults around it: no pod is bound twice, no node is overcommitted, no pod that
fits stays pending, and no restart is needed.

These are the only faults over real sockets. Each kind of fault has an actor in test/simulation, where no time passes,
and what the daemon makes of broken bytes and hung servers is tested in pkg/http and pkg/client.
"""
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import Api, Proxy, Scheduler, check_bound_once, node, pod, wait_until, write_objects


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
    """From begin() on, most requests fail, also lists and watches, with one kind of fault after another, until enough
    of each kind have failed. Counts those that fail."""

    ENOUGH = {"write": 20, "list": 2, "watch": 4}

    def __init__(self):
        self.lock, self.asked, self.begun, self.hit = threading.Lock(), 0, False, dict.fromkeys(self.ENOUGH, 0)

    def begin(self):
        self.begun = True

    def is_over(self):
        return all(self.hit[kind] >= enough for kind, enough in self.ENOUGH.items())

    def __call__(self, method, path):
        with self.lock:
            if not self.begun or self.is_over():
                return None
            self.asked += 1
            fault = STORM[self.asked % len(STORM)]
            if fault == "lose-answer" and "watch=true" in path:
                fault = "refuse"  # the response to a watch has no end to wait for
            if fault:
                self.hit["write" if method != "GET" else "watch" if "watch=true" in path else "list"] += 1
            return fault


def closed_watches(s):
    return [k for k, v in s.metrics().items() if k.startswith("scheduler_watch_open") and not v]


def lasts_until_enough_has_failed(api, proxy, s, storm, names):
    """Cuts all connections whenever the scheduler has found its way back, so that it needs lists and watches, and adds
    a pod, for which it writes."""

    def is_over():
        if not storm.is_over() and not closed_watches(s):
            names.append(f"p{len(names)}")
            api.add_pod(names[-1], cpu="100m")
            proxy.cut_all()
        return storm.is_over()

    wait_until("the end of the storm", is_over, deadline=90)


def settles(api, proxy, s, storm, names):
    api.wait_placed(*names, within=90)
    api.check_not_overcommitted()
    check_bound_once(names, proxy)
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
    """In two releases at a time, because each mostly waits."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(storm_of_errors, ("1.8", "1.10", "1.13", "1.19", "1.36")))


def storm_of_errors(release):
    emulated = "--emulated-version=" + release
    api = Api.start(write_objects("cluster.json", [node(f"n{i}", cpu="5") for i in range(5)]), flags=[emulated])
    storm = Storm()
    proxy = Proxy(api.port, storm)
    s = Scheduler(proxy.url, emulated, name="storm-" + release)
    if release == "1.36":
        storm.hit["list"] = storm.ENOUGH["list"]  # its lists are beginnings of watches
    s.wait_for_log("Caches are synced")
    wait_until("watches that are not open", closed_watches, s, equals=[])
    storm.begin()
    names = [f"p{i}" for i in range(40)]
    for n in names:
        api.add_pod(n)
    wait_until("writes that fail", storm.hit.get, "write", at_least=5)
    lasts_until_enough_has_failed(api, proxy, s, storm, names)
    settles(api, proxy, s, storm, names)


def test_the_api_server_restarts_and_then_forgets():
    cluster = write_objects(
        "cluster.json", [node(f"n{i}") for i in range(3)] + [pod(f"p{i}", uid=f"uid-{i}") for i in range(6)]
    )
    api = Api.start(cluster)
    s = Scheduler(api.url)
    names = [f"p{i}" for i in range(6)]
    api.wait_placed(*names)
    before = api.placements()
    api.restart()
    names.append("new")
    api.add_pod("new")
    api.wait_placed(*names, within=90)
    after = api.placements()
    assert {n: after[n] for n in before} == before
    # Now it begins again with what it had at first, and with older versions than the scheduler has seen.
    api.process.kill()
    api.process.wait()
    api = Api.start(cluster, port=api.port)
    names.append("newer")
    api.add_pod("newer")
    names.remove("new")
    api.wait_placed(*names, within=90)
    api.check_not_overcommitted()
    assert s.process.poll() is None
    s.process.send_signal(signal.SIGUSR2)
    s.wait_for_log("cache comparer: no differences")


harness.main(globals())
