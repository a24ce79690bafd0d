#!/usr/bin/env python3
"""Tests extenders with whole programs: schedsim and kube-scheduler call test/testdata/extender_server.py."""
import json
import time

import harness
from harness import Api, ExtenderServer, Proxy, Scheduler, items, node, pod, schedsim, wait_until, write_file


def policy(name, **extender):
    """Writes a Policy with this extender, which has a minute to answer unless httpTimeout (nanoseconds) is given."""
    return write_file(
        name, {"kind": "Policy", "apiVersion": "v1", "extenders": [{"httpTimeout": 60_000_000_000, **extender}]}
    )


def scheduler(api, name, **extender):
    return Scheduler(
        api.url, "--scheduler-name=" + name, "--policy-config-file=" + policy(name + ".json", **extender), name=name
    )


def test_offline():
    base = ExtenderServer().url
    objects = items(*[node("n%d" % i, cpu="64") for i in range(6)], *[pod("p%d" % i, cpu="100m") for i in range(8)])
    for capable in (False, True):
        file = policy("even.json", urlPrefix=base + "/even", filterVerb="filter", nodeCacheCapable=capable)
        status, out, err = schedsim("run", "-", "--policy-config-file", file, "-o", "placements", feed=objects)
        assert status == 0, ("schedsim runs", err)
        hosts = [line.split()[1] for line in out.splitlines()]
        # The extender keeps every second of the nodes that it is asked about.
        assert len(hosts) == 8 and len(set(hosts)) == 3 and "-" not in hosts, "half of the nodes are used"
    file = policy("refuse.json", urlPrefix=base + "/refuse", filterVerb="filter", nodeCacheCapable=True)
    _, out, _ = schedsim("run", "-", "--policy-config-file", file, "-o", "json", feed=objects)
    for d in json.loads(out)["decisions"]:
        error = "Failed filter with extender at URL %s/refuse, code 500" % base
        assert d["host"] == "" and error in d["error"], "the pod waits, and the error names the extender"


def test_online():
    base, api = ExtenderServer().url, Api.start()
    for i in range(4):
        api.add_node("n%d" % i)
    for capable in (False, True):
        name = "names" if capable else "objects"
        s = scheduler(
            api,
            name,
            urlPrefix=base + "/even",
            filterVerb="filter",
            prioritizeVerb="prioritize",
            weight=5,
            nodeCacheCapable=capable,
        )
        api.add_pod("by-" + name, scheduler=name)
        api.wait_placed("by-" + name)
        assert s.stop() == 0


def test_an_extender_that_hangs():
    """The pod waits with the reason in its condition, and everything else goes on."""
    base, api = ExtenderServer().url, Api.start()
    extender = Proxy(int(base.rsplit(":", 1)[1]))
    api.add_node("n0")
    s = scheduler(
        api,
        "hanging",
        urlPrefix=extender.url + "/hang",
        filterVerb="filter",
        nodeCacheCapable=True,
        httpTimeout=10_000_000_000,
    )
    s.port()
    api.add_pod("stuck", scheduler="hanging")
    extender.wait_asked("POST", "")
    begin = time.monotonic()
    assert s.page("/healthz")[2] == "ok"
    assert time.monotonic() - begin < 8, "healthz does not wait for the extender"
    api.wait_condition("stuck", "no answer within 10s")
    assert s.stop() == 0


harness.main(globals())
