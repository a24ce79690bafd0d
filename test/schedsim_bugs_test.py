#!/usr/bin/env python3
"""Bugs of the releases in pkg/scheduler/BUGS.md, by number, that need an extender to be seen. The others that a command
shows are in text/bugs.test."""
import http.server
import json
import threading

import harness
from harness import Api, Scheduler, items, node, pod, schedsim, wait_until, write_file

API = "kubescheduler.config.k8s.io/v1"


def decide(objects, *flags, config=None):
    """Returns the decisions of 1.36 by pod."""
    more = (
        ["--config", write_file("config.json", dict(config, apiVersion=API, kind="KubeSchedulerConfiguration"))]
        if config
        else []
    )
    status, out, err = schedsim(
        "run", "-", "--emulated-version=1.36", "-o", "json", *more, *flags, feed=items(*objects)
    )
    assert status == 0, err
    return {d["pod"].split("/")[1]: d for d in json.loads(out)["decisions"]}


def extender(answer):
    """Starts an extender that answers each filter call with answer(the request), and returns its entry in a
    configuration."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(answer({k.lower(): v for k, v in body.items()})).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"urlPrefix": "http://127.0.0.1:%d/x" % server.server_port, "filterVerb": "filter"}


def test_n_05_fixed_scores_behind_an_extender_see_the_nodes_as_they_are():
    def all_nodes(request):
        return {"nodes": request["nodes"], "failedNodes": {}}

    objects = [node("full", cpu="1"), node("empty", cpu="1"), pod("used", cpu="800m", on="full"), pod("p", cpu="50m")]
    d = decide(objects, config={"extenders": [extender(all_nodes)]})["p"]
    assert d["host"] == "empty" and d["totals"]["empty"] > d["totals"]["full"], d
    assert d["totals"] == decide(objects)["p"]["totals"], d


def test_19_03_fixed_of_several_nodes_one_needs_no_victims():
    """An extender refuses all nodes, so that preemption looks at nodes on which the pod fits as they are."""

    def no_node(request):
        return {"nodenames": [], "failedNodes": {n: "no" for n in request["nodenames"]}}

    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [dict(extender(no_node), nodeCacheCapable=True)],
    }
    objects = [node("full", cpu="1"), node("roomy", cpu="2")]
    objects += [pod("on-full", cpu="1", on="full", priority=1), pod("on-roomy", cpu="1", on="roomy", priority=2)]
    status, out, err = schedsim(
        "run",
        "-",
        "--emulated-version=1.19",
        "--preempt",
        "-o",
        "json",
        "--config",
        write_file("config.json", config),
        feed=items(*objects, pod("p", cpu="1", priority=100)),
    )
    assert status == 0, err
    found = json.loads(out)["decisions"][0]["preemption"]
    assert (found["node"], found["victims"]) == ("roomy", []), found


def test_m_18_fixed_the_text_of_a_failure_is_no_format_string():
    def no_node(request):
        return {"nodenames": [], "failedNodes": {n: "100%d sure: %s" for n in request["nodenames"]}}

    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "extenders": [dict(extender(no_node), nodeCacheCapable=True)],
    }
    with Api.start(flags=["--emulated-version=1.29"]) as api:
        api.add_node("n1", cpu="1")
        Scheduler(api.url, "--emulated-version=1.29", "--config", write_file("config.json", config))
        api.post("/api/v1/namespaces/default/pods", pod("p"))

        wait_until("the event", api.events, reason="FailedScheduling")
        (event,) = api.events(reason="FailedScheduling")
        assert "1 100%d sure: %s" in (event.get("message") or event.get("note")), event


harness.main(globals())
