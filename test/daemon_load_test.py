#!/usr/bin/env python3
"""Creates 20,000 pods at once on 2,000 nodes: each is placed once, on a node that can take it; no queue grows without
end, and no program takes more than a gigabyte."""
import json
import re
import socket
import threading

import harness
from harness import DEADLINE, Api, Scheduler, node, pod, wait_until, write_objects

NODES, PODS, CONNECTIONS = 2000, 20000, 8


def create_at_once(api, bodies):
    """Sends requests over a few connections, without waiting for a response before the next one."""
    failed = []

    def send(mine):
        with socket.create_connection(("127.0.0.1", api.port), timeout=DEADLINE) as c:

            def write():
                for body in mine:
                    c.sendall(
                        b"POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: x\r\n"
                        b"Content-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
                    )

            writer = threading.Thread(target=write)
            writer.start()
            f = c.makefile("rb")
            for _ in mine:
                status = int(f.readline().split()[1])
                length = 0
                while (line := f.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                f.read(length)
                if status != 201:
                    failed.append(status)
            writer.join()

    threads = [threading.Thread(target=send, args=(bodies[i::CONNECTIONS],)) for i in range(CONNECTIONS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, f"{len(failed)} pods were not created: {failed[:5]}"


def peak_of(process):
    """Returns the largest resident size of a process in MiB."""
    with open(f"/proc/{process.pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1)) / 1024


def test_twenty_thousand_pods_at_once():
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(NODES)]))
    s = Scheduler(api.url, "--kube-api-qps=1e6", "--kube-api-burst=1000000", "-v=0")
    s.wait_for_log("Caches are synced")
    bodies = [json.dumps(pod(f"p{i}", cpu="100m", uid=None, memory="100Mi")).encode() for i in range(PODS)]
    limit = s.metrics()["scheduler_inbox_limit"]
    create_at_once(api, bodies)
    deepest = 0

    def all_bound():
        nonlocal deepest
        m = s.metrics()
        deepest = max(deepest, m["scheduler_inbox_events"])
        return m["scheduler_pods_bound_total"] >= PODS

    wait_until("all pods bound", all_bound, deadline=120)
    placements = api.placements()
    assert len(placements) == PODS and all(placements.values())
    api.check_not_overcommitted()
    per_node = [list(placements.values()).count(n) for n in ("n0", f"n{NODES - 1}")]
    assert per_node == [PODS / NODES] * 2, f"evenly spread: {per_node}"
    s.wait_metric("scheduler_events_queued", 0)
    m = s.metrics()
    assert m["scheduler_bind_failures_total"] == 0 and m["scheduler_bind_outcome_unknown_total"] == 0, m
    assert deepest <= limit, (deepest, limit)
    for waiting in ("inbox_events", "requests_in_flight", "binds_in_flight", "pods_by_state"):
        wait_until(waiting, s.total, f"scheduler_{waiting}", equals=0)
    for name, process in (("hollow-apiserver", api.process), ("kube-scheduler", s.process)):
        peak = peak_of(process)
        assert peak < 1024, f"{name} took {peak:.0f} MiB"
    assert s.stop() == 0


harness.main(globals())
