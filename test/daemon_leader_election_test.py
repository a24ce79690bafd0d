#!/usr/bin/env python3
"""Tests two schedulers with one lock: one decides at a time, the other takes over, and nothing is bound by both."""
import json
import signal
import threading

import harness
from harness import (
    DEADLINE,
    Api,
    Proxy,
    Scheduler,
    check_bound_once,
    node,
    scratch,
    status_body,
    wait_until,
    write_objects,
)

LEASE = ["--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=500ms"]
LOCK = "/api/v1/namespaces/kube-system/endpoints/kube-scheduler"
ANNOTATION = "control-plane.alpha.kubernetes.io/leader"


def record(api):
    status, lock = api.call("GET", LOCK)
    return json.loads(lock["metadata"]["annotations"][ANNOTATION]) if status == 200 else None


def start(api, name, *flags):
    return Scheduler(api.url, *LEASE, *flags, name=name, leader_elect=True)


def is_leader(s):
    return s.metrics().get('leader_election_master_status{name="kube-scheduler"}') == 1


def takes_over(paused, other):
    """Stops one scheduler for so long that the other one becomes leader."""
    paused.process.send_signal(signal.SIGSTOP)
    wait_until("the other one leads", is_leader, other)


def wakes_up_and_ends(paused):
    paused.process.send_signal(signal.SIGCONT)
    paused.process.wait(DEADLINE)
    assert paused.process.returncode == 1 and "error: lost lease" in paused.log(), paused.log()[-2000:]


def test_one_leads_and_hands_over_when_it_ends():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    first = start(api, "first")
    wait_until("a leader", is_leader, first)
    second = start(api, "second")
    second.wait_for_log("attempting to acquire leader lease  kube-system/kube-scheduler...")
    r = record(api)
    assert r["leaseDurationSeconds"] == 6 and r["leaderTransitions"] == 0, r
    api.add_pod("p0", cpu="100m")
    api.wait_placed("p0")
    # The standby follows the cluster and serves its pages, but decides nothing.
    assert not is_leader(second) and second.page("/healthz")[2] == "ok"
    second.wait_metric('scheduler_scheduler_cache_size{type="pods"}', 1)
    assert second.metrics()["scheduler_pods_bound_total"] == 0
    assert first.stop() == 0
    wait_until("the other one leads", is_leader, second)
    assert record(api)["leaderTransitions"] >= 1
    api.add_pod("p1", cpu="100m")
    api.wait_placed("p1")
    reasons = [e["message"].split(" ", 1)[1] for e in api.events("kube-system", "LeaderElection")]
    assert reasons.count("became leader") == 2, reasons


def test_a_bind_of_a_paused_leader_arrives_when_another_leads():
    """The network delays a bind of the first scheduler and delivers it long after the second has placed that pod."""
    api = Api.start(write_objects("cluster.json", [node(f"n{i}", cpu="2") for i in range(3)]))
    delivered = threading.Event()

    def hold(method, path):
        if method == "POST" and path.endswith("/binding"):
            delivered.wait(DEADLINE)
        return None

    slow, quick = Proxy(api.port, hold), Proxy(api.port)
    first = start(slow, "first")
    wait_until("a leader", is_leader, first)
    second = start(quick, "second")
    second.wait_for_log("attempting to acquire")
    names = [f"p{i}" for i in range(6)]
    for n in names:
        api.add_pod(n, cpu="1")
    wait_until("a bind on its way", slow.asked, "POST", "/binding")
    takes_over(first, second)
    api.wait_placed(*names)
    where = api.placements()
    delivered.set()
    wakes_up_and_ends(first)
    slow.wait_for_writes()

    def answers_to_binds():
        return [status for _, path, status in slow.answers if path.endswith("/binding")]

    wait_until("the late bind to be refused", answers_to_binds, containing=409)
    assert api.placements() == where
    check_bound_once(names, slow, quick)
    api.check_not_overcommitted()


def test_binds_that_a_paused_leader_had_yet_to_send_are_not_sent():
    """Binds wait for the first scheduler's rate limit when it is stopped. When it continues, other pods have taken
    their places, and pods with their names wait again."""
    api = Api.start(write_objects("cluster.json", [node(f"n{i}", cpu="6") for i in range(5)]))
    slow, quick = Proxy(api.port), Proxy(api.port)
    first = start(slow, "first", "--kube-api-qps=2", "--kube-api-burst=12")
    wait_until("a leader", is_leader, first)
    second = start(quick, "second")
    second.wait_for_log("attempting to acquire")
    names = [f"p{i}" for i in range(30)]
    for n in names:
        api.add_pod(n, cpu="1")
    first.wait_metric("rest_client_throttled_requests", at_least=10)
    takes_over(first, second)
    api.wait_placed(*names)
    sent = [path for method, path in slow.seen if path.endswith("/binding")]
    gone = [n for n in names if not [p for p in sent if p.endswith(f"/{n}/binding")]]
    assert len(gone) >= 10, gone
    for n in gone:
        api.call("DELETE", f"/api/v1/namespaces/default/pods/{n}?gracePeriodSeconds=0")
    others = [f"q{i}" for i in range(len(gone))]
    for n in others:
        api.add_pod(n, cpu="1")
    api.wait_placed(*others)
    for n in gone:
        api.add_pod(n, cpu="1")
    second.wait_for_log(f"Failed to schedule pod: default/{gone[-1]}")
    wakes_up_and_ends(first)
    slow.wait_for_writes()
    late = [path for method, path in slow.seen if path.endswith("/binding")][len(sent) :]
    assert not late, late
    assert not any(api.placements()[n] for n in gone)
    api.check_not_overcommitted()


def test_a_stolen_lock_ends_the_process():
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    first = start(api, "first")
    wait_until("a leader", is_leader, first)
    lock = api.get(LOCK)
    thief = dict(record(api), holderIdentity="thief", leaderTransitions=5)
    lock["metadata"]["annotations"][ANNOTATION] = json.dumps(thief)
    del lock["metadata"]["resourceVersion"]
    assert api.call("PUT", LOCK, lock)[0] == 200
    first.process.wait(DEADLINE)
    assert first.process.returncode == 1
    assert "lost master" in first.log() and "error: lost lease" in first.log(), first.log()[-2000:]


def test_an_unreachable_api_server_ends_the_leader():
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    proxy = Proxy(api.port)
    s = Scheduler(proxy.url, *LEASE, leader_elect=True)
    wait_until("a leader", is_leader, s)
    proxy.close()
    s.process.wait(DEADLINE)
    assert s.process.returncode == 1 and "error: lost lease" in s.log(), s.log()[-2000:]


def test_bad_timings_and_locks_are_errors():
    for flags, text in (
        (["--leader-elect-renew-deadline=7s"], "leaseDuration must be greater than renewDeadline"),
        (["--leader-elect-retry-period=4900ms"], "renewDeadline must be greater than retryPeriod*JitterFactor"),
        (["--leader-elect-resource-lock=stone"], "couldn't create resource lock: Invalid lock-type stone"),
    ):
        s = Scheduler("http://127.0.0.1:1", *LEASE, *flags, leader_elect=True)
        assert s.process.wait(timeout=30) == 1
        assert f"error: {text}" in s.log() or f"error: couldn't create leader elector: {text}" in s.log(), (
            text,
            s.log()[-500:],
        )


def test_a_forbidden_lock_names_the_kind_that_is_allowed():
    """Tests a cluster of 1.20 or later, whose built-in role for schedulers permits leases only."""
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    forbidden = status_body(403, "Forbidden", 'endpoints "kube-scheduler" is forbidden')
    proxy = Proxy(api.port, {"/endpoints": (403, {"Content-Type": "application/json"}, forbidden)})
    s = Scheduler(proxy.url, *LEASE, leader_elect=True)
    s.wait_for_log(
        'error retrieving resource lock kube-system/kube-scheduler: endpoints "kube-scheduler" is forbidden (the lock '
        'is of kind '
        "endpoints; the role system:kube-scheduler of newer servers permits leases only: "
        "--leader-elect-resource-lock=leases)"
    )
    assert s.stop() == 0
    s = Scheduler(proxy.url, *LEASE, "--leader-elect-resource-lock=leases", leader_elect=True)
    wait_until("a leader", is_leader, s)


def test_a_standby_that_delays_its_cache_asks_for_nothing():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    first = start(api, "first")
    wait_until("a leader", is_leader, first)
    config = scratch("delayed.yaml")
    with open(config, "w") as f:
        f.write(
            "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\ndelayCacheUntilActive: true\n"
            "healthzBindAddress: 127.0.0.1:0\nmetricsBindAddress: 127.0.0.1:0\n"
            "leaderElection: {leaderElect: true, leaseDuration: 6s, renewDeadline: 5s, retryPeriod: 500ms}\n"
        )
    proxy = Proxy(api.port)
    second = Scheduler(proxy.url, f"--config={config}", name="second")
    proxy.wait_asked("GET", LOCK, times=3)
    assert not [p for m, p in proxy.seen if not p.endswith("/kube-scheduler")], proxy.seen
    api.add_pod("p0", cpu="100m")
    api.wait_placed("p0")
    assert first.stop() == 0
    api.add_pod("p1", cpu="100m")
    api.wait_placed("p1")
    assert second.stop() == 0


def test_other_kinds_of_locks():
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    for kind, path in (
        ("configmaps", "/api/v1/namespaces/kube-system/configmaps/other"),
        ("leases", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/other"),
    ):
        s = start(api, kind, f"--leader-elect-resource-lock={kind}", "--lock-object-name=other")
        s.wait_metric('leader_election_master_status{name="other"}', 1)
        lock = api.get(path)
        holder = (
            lock["spec"]["holderIdentity"]
            if kind == "leases"
            else json.loads(lock["metadata"]["annotations"][ANNOTATION])["holderIdentity"]
        )
        assert "_" in holder, lock
        assert s.stop() == 0


def test_an_upgrade_across_kinds_of_locks():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]), flags=["--emulated-version=1.29"])

    def begin(release):
        return start(api, release, "--emulated-version=" + release)

    def says_held(s):
        return "of kind Endpoints is held by" in s.log()

    old = begin("1.13")
    wait_until("1.13 leads with Endpoints", is_leader, old)
    new = begin("1.29")
    wait_until("1.29 warns", says_held, new)
    assert "--leader-elect-resource-lock" in new.log()
    assert new.stop() == 0
    # 1.19 has both kinds, so that it waits for the one, and the other waits for it.
    between = begin("1.19")
    between.wait_for_log("attempting to acquire leader lease")
    api.add_pod("p0", cpu="100m")
    api.wait_placed("p0")
    assert not is_leader(between)
    assert old.stop() == 0
    wait_until("1.19 leads", is_leader, between)
    new = begin("1.29")
    new.wait_for_log("ttempting to acquire leader lease")
    api.add_pod("p1", cpu="100m")
    api.wait_placed("p1")
    assert not is_leader(new) and not says_held(new)
    assert between.stop() == 0
    wait_until("1.29 leads", is_leader, new)
    assert new.stop() == 0


def test_a_config_map_that_is_held_is_another_kind():
    for release, server in (("1.13", "1.13"), ("1.19", "1.19"), ("1.36", "1.36")):
        api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=" + server])
        flag = "--leader-elect-resource-lock=configmaps"
        first = start(api, "held-" + release, flag)
        wait_until("a leader", is_leader, first)
        second = start(api, "warned-" + release, "--emulated-version=" + release)
        second.wait_for_log("of kind ConfigMap is held by")
        assert first.stop() == 0 and second.stop() == 0


def test_two_daemons_of_each_release():
    """One leads and the other takes over, in the lock of the release, although both run on one host. In 1.8 and 1.9 the
    lock would be held under the host's name alone, so that both would lead; here it is the name and a UUID in every
    release."""
    for release, kinds in (
        ("1.8", ["endpoints"]),
        ("1.9", ["endpoints"]),
        ("1.13", ["endpoints"]),
        ("1.19", ["endpoints", "leases"]),
        ("1.29", ["leases"]),
        ("1.36", ["leases"]),
    ):
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]), flags=["--emulated-version=" + release])
        proxies = [Proxy(api.port), Proxy(api.port)]
        first, second = [
            Scheduler(p.url, *LEASE, "--emulated-version=" + release, name="%s-%d" % (release, i), leader_elect=True)
            for i, p in enumerate(proxies)
        ]

        def leaders():
            return [s for s in (first, second) if is_leader(s)]

        if wait_until("one of them leads", leaders) == [second]:
            first, second = second, first
        api.add_pod("p0", cpu="100m")
        api.wait_placed("p0")
        assert not is_leader(second), release
        holders = []
        for kind in kinds:
            path = (
                LOCK
                if kind == "endpoints"
                else "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
            )
            lock = api.get(path)
            holders.append(
                lock["spec"]["holderIdentity"]
                if kind == "leases"
                else json.loads(lock["metadata"]["annotations"][ANNOTATION])["holderIdentity"]
            )
        assert len(set(holders)) == 1 and "_" in holders[0], (release, holders)
        assert (api.call("GET", LOCK)[0] == 200) == ("endpoints" in kinds), release
        assert first.stop() == 0, release
        wait_until("the other one leads", is_leader, second)
        api.add_pod("p1", cpu="100m")
        api.wait_placed("p1")
        check_bound_once(["p0", "p1"], *proxies)
        assert second.stop() == 0, release


harness.main(globals())
