#!/usr/bin/env python3
"""With --min-sync-period, pods that come soon after others are handled together."""
import os
import re

import harness
from harness import Api, Scheduler, node, write_objects

PODS = 40


def waits(pid, name):
    """Returns how often the thread with this name has waited for something."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as f:
            status = f.read()
        if status.startswith(f"Name:\t{name}\n"):
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M).group(1))
    raise AssertionError(f"no thread {name}")


def test_pods_that_come_soon_after_others_are_handled_together():
    api = Api.start(write_objects("cluster.json", [node(f"n{i}") for i in range(3)]))
    s = Scheduler(api.url, "--min-sync-period=300ms")
    s.wait_for_log("Caches are synced")
    before = waits(s.process.pid, "pods-io")
    for i in range(PODS):
        api.add_pod(f"p{i}", cpu="10m")
    s.wait_metric("scheduler_pods_bound_total", PODS)
    # One at a time, each pod needs two: it comes, and its bind is answered.
    assert waits(s.process.pid, "pods-io") - before < PODS
    placements = api.placements()
    assert len(placements) == PODS and all(placements.values()), placements
    assert s.stop() == 0


harness.main(globals())
