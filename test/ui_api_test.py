#!/usr/bin/env python3
"""Tests kube-scheduler --enable-ui over HTTP: the content of each response, who gets one, and what is rejected."""
import http.client
import json
import ssl
import time

import harness
from harness import DEADLINE, Api, Proxy, Scheduler, free_port, node, pod, wait_until, write_objects

# What the scheduler logs once it answers requests for /ui with more than 503.
SERVES_UI = "Waiting for caches to sync for scheduler controller"


def ask(port, path, method="GET", body=None, **headers):
    """Returns the status, the headers and the text or JSON of an answer."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    try:
        c.request(
            method,
            path,
            json.dumps(body) if body is not None else None,
            {k.replace("_", "-"): v for k, v in headers.items()},
        )
        r = c.getresponse()
        text = r.read().decode()
        return (
            r.status,
            dict(r.getheaders()),
            json.loads(text) if r.getheader("Content-Type") == "application/json" else text,
        )
    finally:
        c.close()


def answer(port, path, **how):
    status, _, body = ask(port, f"/ui/api/{path}", **how)
    assert status == 200, (path, status, body)
    return body


class Stream:
    """The events of /ui/api/nodes."""

    def __init__(self, port, label=""):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        self.connection.request("GET", f"/ui/api/nodes?label={label}", headers={"Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()
        assert (
            self.answer.status == 200 and self.answer.getheader("Content-Type") == "text/event-stream"
        ), self.answer.status

    def next(self):
        """Returns the next event: its name and data."""
        name = None
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                return name, json.loads(line[6:])

    def close(self):
        self.connection.close()


def scenario():
    api = Api.start()
    api.add_node("n1", cpu="2", labels={"zone": "a"})
    api.add_node("n2", cpu="4", labels={"zone": "b"})
    scheduler = Scheduler(api.url, "--enable-ui")
    for i in range(3):
        api.add_pod(f"small-{i}", cpu="500m", owner="ReplicaSet")
    api.add_pod("large", cpu="64")
    api.wait_placed(count=3)
    return api, scheduler, scheduler.port()


def test_answers():
    api, scheduler, port = scenario()

    def settled():
        # The scheduler hears of a bind only after the API server has carried it out.
        s = answer(port, "summary")
        return s["pending"] == 1 and s["attempts"]["bound"] >= 3 and s["attempts"]["unschedulable"] > 0 and s

    summary = wait_until("the pods to be known as bound, and the large one as refused", settled)
    assert (summary["nodes"], summary["pods"], summary["pending"], summary["live"], summary["leading"]) == (
        2,
        3,
        1,
        True,
        True,
    ), summary
    assert summary["attempts"]["bound"] == 3 and summary["latency"]["algorithm"]["count"] == 3, summary

    nodes = answer(port, "nodes?label=zone")
    assert nodes["resources"] == ["cpu", "memory", "pods"] and "zone" in nodes["labels"], nodes
    by_name = {n[1]: n for n in nodes["nodes"]}
    assert by_name["n1"][2] == "a" and by_name["n2"][2] == "b", by_name
    assert [by_name[n][4][0] for n in ("n1", "n2")] == [2000, 4000] and sum(
        n[5][0] for n in nodes["nodes"]
    ) == 1500, by_name
    placed = {}
    for p in api.pods().values():
        placed[p["spec"].get("nodeName")] = placed.get(p["spec"].get("nodeName"), 0) + 1
    assert {n: by_name[n][5][2] for n in by_name} == {n: placed.get(n, 0) for n in by_name}, (by_name, placed)

    def pending_with_reasons():
        pending = answer(port, "pending")
        return pending["byReason"] and pending

    pending = wait_until("a reason", pending_with_reasons)
    assert [(r["reason"], r["pods"]) for r in pending["byReason"]] == [("Insufficient cpu", 1)], pending
    assert (
        pending["byReason"][0]["help"] == "These nodes do not have that much cpu left."
        and pending["pods"][0]["name"] == "large"
    ), pending
    assert answer(port, "pending?reason=Insufficient+memory")["selected"] == 0
    assert answer(port, "pending?reason=Insufficient%20cpu&namespace=default")["selected"] == 1

    large = answer(port, "pods/default/large")
    e = large["explanation"]
    assert large["state"] == "pending" and e["node"] == "" and e["feasible"] == 0 and e["nodes"] == 2, large
    assert [(f["reason"], f["nodes"]) for f in e["failures"]] == [("Insufficient cpu", 2)] and e["failures"][0][
        "question"
    ], e
    assert "0/2 nodes are available" in large["attempts"][0]["message"], large
    small = answer(port, "pods/default/small-0")
    assert (
        small["state"] == "placed" and small["node"] == api.placements()["small-0"] == small["attempts"][0]["node"]
    ), small
    e = small["explanation"]
    assert e["top"][0]["chosen"] and e["top"][0]["node"] == e["node"], e
    for t in e["top"]:
        assert t["total"] == sum(s["weighted"] for s in t["scores"]), t
        assert [s["weighted"] for s in t["scores"]] == [
            s["raw"] * r["weight"] for s, r in zip(t["scores"], e["rules"])
        ], (t, e["rules"])
    assert ask(port, "/ui/api/pods/default/nobody")[0] == 404

    def backs_off():
        waits = answer(port, "pods/default/large")["waitsFor"]
        return waits["place"] == "backoff" and waits

    waits = wait_until("the large one to be in back-off", backs_off)
    assert (
        waits["sentence"] == "It waits for the end of its back-off, and for a change in the cluster that makes it fit."
    ), waits
    assert waits["until"] / 1000 > time.time() - 1 and waits["backsOff"], waits
    assert e["ways"][0]["text"] == e["wouldHelp"][0] if e["wouldHelp"] else True, e
    n1 = answer(port, "nodes/n1")
    assert {r["name"]: r["offered"] for r in n1["resources"]}["cpu"] == 2000 and not n1["troubles"], n1
    assert sorted(p["pod"] for p in n1["pods"]) == sorted(
        f"default/{p}" for p, n in api.placements().items() if n == "n1"
    ), n1
    assert [(p["pod"], p["pods"], p["fits"], p["reasons"]) for p in n1["pending"]] == [
        ("default/large", 1, False, ["Insufficient cpu"])
    ], n1
    assert ask(port, "/ui/api/nodes/nobody")[0] == 404
    fixes = answer(port, "fixes")
    assert fixes["pending"] == 1 and [(r["reason"], r["pod"], r["alike"]) for r in fixes["byReason"]] == [
        ("Insufficient cpu", "default/large", 1)
    ], fixes
    assert fixes["byReason"][0]["ways"] == [
        "ask for less cpu (64, more than the 4 there is) on n2, the nearest of 2 nodes"
    ], fixes
    latency = answer(port, "summary")["latency"]["algorithm"]
    assert 0 < latency["p50Micros"] <= latency["p99Micros"] < 1000 or latency["meanMicros"] > 500, latency

    assert answer(port, "preemptions") == {"preemptions": []}
    config = answer(port, "config")
    assert config["emulatedVersion"] == "1.10" and config["profiles"][0]["schedulerName"] == "default-scheduler", config
    assert answer(port, "search?q=small")["pods"] == [f"default/small-{i}" for i in range(3)]
    assert answer(port, "search?q=n1")["nodes"] == ["n1"]
    assert scheduler.stop() == 0


def test_simulate():
    api, scheduler, port = scenario()
    before = api.placements()
    status, _, body = ask(port, "/ui/api/simulate", "POST", {"pod": pod("new", cpu="1")})
    assert status == 200 and body["explanation"]["node"] in ("n1", "n2"), (status, body)
    manifest = (
        "kind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n"
        "      containers: [{name: c, resources: {requests: {cpu: 64}}}]\n"
    )
    status, _, body = ask(port, "/ui/api/simulate", "POST", {"manifest": manifest})
    assert status == 200 and body["pod"].endswith("/web") and body["explanation"]["node"] == "", (status, body)
    status, _, body = ask(port, "/ui/api/simulate", "POST", {"manifest": "a: [b"})
    assert status == 400 and "not JSON or YAML" in body["error"], (status, body)
    status, _, body = ask(port, "/ui/api/simulate", "POST", {"drain": ["n2"]})
    evicted = sorted(f"default/{name}" for name, n in before.items() if n == "n2")
    assert status == 200 and sorted(m["pod"] for m in body["moves"]) == evicted and body["complete"], (body, before)
    assert all(m["to"] in ("n1", "") for m in body["moves"]), body
    for bad, text in (
        ({}, "the body must be"),
        ({"drain": ["nobody"]}, 'drain: the cluster has no node "nobody"'),
        ({"manifest": "kind: Node\napiVersion: v1\nmetadata: {name: n9}"}, "There is no pod in a Node: give a Pod, or"),
        ({"manifest": "metadata: {name: n9}"}, "The manifest has no kind: give a Pod, or"),
        ({"drain": [7]}, "strings"),
        ({"pod": {"spec": 3}}, ""),
    ):
        status, _, body = ask(port, "/ui/api/simulate", "POST", bad)
        assert status == 400 and text in body["error"] and not body["error"].startswith("-"), (bad, status, body)
    typo = "kind: Pod\napiVersion: v1\nmetadata: {name: new}\nspec: {contaners: [{name: c}]}"
    status, _, body = ask(port, "/ui/api/simulate", "POST", {"manifest": typo})
    assert status == 200 and any('did you mean "containers"' in note for note in body["notes"]), (status, body)
    assert api.placements() == before  # nothing was written
    assert not api.call("GET", "/api/v1/namespaces/default/pods/new")[0] == 200
    assert scheduler.stop() == 0


def test_follow():
    api, scheduler, port = scenario()
    stream, by_zone = Stream(port), Stream(port, "zone")
    name, all_nodes = stream.next()
    assert name == "nodes" and sorted(n[1] for n in all_nodes["nodes"]) == ["n1", "n2"], all_nodes
    assert sorted(n[2] for n in by_zone.next()[1]["nodes"]) == ["a", "b"]
    use = {n[0]: n[5] for n in all_nodes["nodes"]}
    api.add_pod("one-more", cpu="250m")
    while sum(u[0] for u in use.values()) != 1750:
        name, d = stream.next()
        assert name == "changes", (name, d)
        use.update({row: used for row, _, used in d["used"]})
    api.add_node("n3", labels={"zone": "c"})
    came = []
    while not came:
        came = stream.next()[1]["nodes"]
    assert came[0][1] == "n3", came
    api.call("DELETE", "/api/v1/nodes/n3")
    gone = []
    while not gone:
        gone = stream.next()[1]["gone"]
    assert gone == [came[0][0]], (gone, came)
    while True:  # the other stream has received the same changes with its own groups
        d = by_zone.next()[1]
        if d["nodes"]:
            assert d["nodes"][0][2] == "c", d
            break
    stream.close()
    by_zone.close()
    assert scheduler.stop() == 0


def test_many_viewers():
    """The maximum number of viewers is served, one more is rejected, and when one leaves the next one is accepted."""
    api, scheduler, port = scenario()
    streams = [Stream(port) for _ in range(32)]
    for s in streams:
        assert s.next()[0] == "nodes"

    def refused():
        return ask(port, "/ui/api/nodes", Accept="text/event-stream")

    status, _, body = refused()
    assert status == 503 and "Already 32" in body["error"], (status, body)
    assert answer(port, "nodes")["nodes"]  # requests without a stream are answered
    for s in streams:
        s.close()
    late = wait_until("another one is let in", enters, port)
    assert late.next()[0] == "nodes"
    late.close()
    assert scheduler.stop() == 0


def enters(port):
    try:
        return Stream(port)
    except AssertionError:
        return None


def test_refusals():
    api, scheduler, port = scenario()
    status, headers, _ = ask(port, "/ui/")
    assert status == 200 and headers["Content-Security-Policy"].startswith("default-src 'self'"), headers
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store", headers
    assert ask(port, "/ui")[0] == 301
    for host in (f"localhost:{port}", "localhost", f"127.0.0.1:{port}", f"[::1]:{port}"):
        assert ask(port, "/ui/api/summary", Host=host)[0] == 200, host
    for host in (
        "example.com",
        f"localhost.example.com:{port}",
        "127.0.0.1.example.com",
        "[::2]",
        "",
        "[",
        "@localhost",
    ):
        status, headers, _ = ask(port, "/ui/api/summary", Host=host)
        assert status in (400, 403), (host, status)
    for other in (
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
    ):
        assert ask(port, "/ui/api/simulate", "POST", {"drain": ["n1"]}, **other)[0] == 403, other
        assert ask(port, "/ui/api/summary", **other)[0] == 403, other
    assert ask(port, "/ui/api/summary", Origin=f"http://127.0.0.1:{port}")[0] == 200
    # a link on a page of another site
    assert ask(port, "/ui/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")[0] == 200
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert ask(port, "/ui/api/summary", method, {})[0] == 405, method
    assert ask(port, "/ui/api/simulate")[0] == 405
    assert (
        ask(port, "/ui/../healthz")[0] == 404
        and ask(port, "/ui/api/none")[0] == 404
        and ask(port, "/ui/none.js")[0] == 404
    )
    assert ask(port, "/ui/api/nodes?label=" + "x" * 5000)[0] == 414
    assert ask(port, "/ui/api/simulate", "POST", {"pod": "x" * (1 << 20)})[0] == 413
    assert ask(port, "/ui/api/pending?limit=many")[0] == 400
    assert ask(port, "/healthz")[0] == 200
    assert scheduler.stop() == 0


def test_secure_port():
    """A user whom the API server permits to see /ui may do so from anywhere and under any name; others may not."""
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))

    def review(method, path, body):
        if path.endswith("/tokenreviews"):
            return {"status": {"authenticated": True, "user": {"username": json.loads(body)["spec"]["token"]}}}
        if path.endswith("/subjectaccessreviews"):
            spec = json.loads(body)["spec"]
            what = spec["nonResourceAttributes"]
            asked.append((spec["user"], what["verb"], what["path"]))
            return {
                "status": {
                    "allowed": spec["user"] == "viewer" and what["path"].startswith("/ui/") and what["verb"] == "get"
                }
            }
        return None

    asked = []

    def answer_reviews(method, path):
        answer = json.dumps(review(method, path, proxy.bodies[-1][2])) if path.endswith("reviews") else None
        return answer and (201, {"Content-Type": "application/json"}, answer)

    proxy = Proxy(api.port, answer_reviews)
    port = free_port()
    scheduler = Scheduler(proxy.url, f"--secure-port={port}", "--bind-address=127.0.0.1", "--enable-ui")
    scheduler.wait_for_log(f"starting secure server on 127.0.0.1:{port}")
    scheduler.wait_for_log(SERVES_UI)

    def page(path, token, method="GET"):
        c = http.client.HTTPSConnection("127.0.0.1", port, timeout=DEADLINE, context=ssl._create_unverified_context())
        c.request(
            method,
            path,
            "{}" if method == "POST" else None,
            {"Authorization": f"Bearer {token}", "Host": "scheduler.example.com"} if token else {},
        )
        r = c.getresponse()
        r.read()
        c.close()
        return r.status

    assert page("/ui/", "viewer") == 200 and page("/ui/api/summary", "viewer") == 200
    assert page("/ui/", "somebody") == 403 and page("/ui/api/nodes", "somebody") == 403
    assert page("/ui/api/summary", None) == 403
    assert page("/ui/api/simulate", "viewer", "POST") == 403
    assert ("viewer", "post", "/ui/api/simulate") in asked and ("viewer", "get", "/ui/api/summary") in asked, asked
    assert scheduler.stop() == 0


def test_starting():
    """The page that a browser has loaded too early loads itself again."""
    api = Api.start()
    deaf = Proxy(api.port, {"": "refuse"})
    waiting = Scheduler(deaf.url, "--enable-ui", "--policy-configmap=p")
    status, headers, text = ask(waiting.port(), "/ui/")
    assert (status, text) == (503, "The scheduler is starting.\n"), (status, text)
    assert (headers["Retry-After"], headers["Refresh"]) == ("1", "1"), headers
    assert waiting.stop() == 0


def test_off_by_default():
    api = Api.start()
    scheduler = Scheduler(api.url)
    assert ask(scheduler.port(), "/ui/")[0] == 404 and ask(scheduler.port(), "/ui/api/summary")[0] == 404
    assert scheduler.stop() == 0


def test_hostile_names():
    """The text of a label is returned as a JSON string and nothing else."""
    api = Api.start()
    for i, text in enumerate(("<script>alert(1)</script>", '"}</script>', "a\u2028b\nc", "%00%2F../x")):
        n = node(f"n{i}")
        n["metadata"]["annotations"] = {"text": text}
        n["metadata"]["labels"]["hostile"] = text
        # An API server rejects such values; if one gets past it, it must not harm the page.
        api.call("POST", "/api/v1/nodes", n)
    scheduler = Scheduler(api.url, "--enable-ui")
    scheduler.wait_for_log(SERVES_UI)

    def answer():
        return ask(scheduler.port(), "/ui/api/nodes?label=hostile")[2]

    body = wait_until("an answer", answer)
    assert isinstance(body, (dict, str)), body
    status, headers, _ = ask(scheduler.port(), "/ui/api/pods/%3Cscript%3E/%3Cimg%20src=x%3E")
    assert status == 404 and headers["Content-Type"] == "application/json", (status, headers)
    assert scheduler.stop() == 0


harness.main(globals())
