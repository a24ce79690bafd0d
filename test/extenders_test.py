#!/usr/bin/env python3
"""Tests extenders with whole programs: schedsim and kube-scheduler call test/testdata/extender_server.py."""
import http.server
import json
import threading
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


def test_binds_do_not_wait_for_a_slow_extender():
    """What has been decided is sent before the extender has answered about all other pods."""
    api, seen = Api.start(), []
    api.add_node("n0", cpu="64", pods="110")
    for i in range(20):
        api.add_pod(f"p{i}", cpu="100m", scheduler="slow")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            names = next(v for k, v in body.items() if k.lower() == "nodenames")
            if len(seen) == 1:
                # The second answer comes when the first pod is bound, or after longer than a round should take.
                try:
                    wait_until("a bound pod", api.number_placed, deadline=10)
                except AssertionError:
                    pass
                seen.append(api.number_placed())
            else:
                seen.append(None)
                time.sleep(0.02)  # longer than a round may go on
            answer = json.dumps({"nodenames": names, "failedNodes": {}, "error": ""}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    s = scheduler(api, "slow", urlPrefix=url, filterVerb="filter", nodeCacheCapable=True)
    api.wait_placed(count=20)
    assert seen[1] == 1, seen
    assert s.stop() == 0


harness.main(globals())
