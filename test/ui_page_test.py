#!/usr/bin/env python3
"""The page in a real browser: every view with real data, no complaint of the browser or of axe-core, hostile names, the
keyboard, a cluster of 10,000 nodes while pods are bound, a scheduler that stops or loses its lease, and the secure
port.

SCREENSHOTS=DIR keeps a picture of each view."""
import gzip
import json
import os
import re
import subprocess
import threading

import harness
from harness import (
    BIN,
    DEADLINE,
    Api,
    Proxy,
    Scheduler,
    free_port,
    node,
    pod,
    scratch,
    start,
    wait_until,
    write_objects,
)
from harness.browser import Browser

SCRIPT = "<script>window.pwned=1</script>"
IMAGE = "<img src=x onerror='window.pwned=1'>\"'><b>"
VIEWS = ("nodes", "pending", "preemptions", "try", "config")


def axe_source():
    with gzip.open("test/testdata/axe-core/axe.min.js.gz", "rt") as f:
        return f.read()


def screenshot(page, name):
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(os.path.join(os.environ["SCREENSHOTS"], name + ".png"))


def show(page, base, view):
    # Until the event has come, the page says that it shows the view before, which may be of the same kind.
    page.js(
        "new Promise(shown => { addEventListener('hashchange', () => shown(), {once: true}); const before = "
        "location.href; "
        f"location.hash = {json.dumps('#/' + view)}; if (location.href === before) shown() }})"
    )
    page.wait(f"document.body.dataset.view === {json.dumps(view.split('/')[0].split('?')[0])}")


def check_page(page, base, what):
    """Checks that there is no complaint of the browser, no request to another host, and nothing that axe-core finds."""
    assert page.problems() == [], (what, page.problems())
    # axe-core itself uses data: URLs.
    other = [u for u in page.requested() if not u.startswith((base, "data:"))]
    assert not other, (what, other)
    assert page.js("window.pwned") is None, what
    page.js("if (!window.axe) {" + axe_source() + "}; true")
    found = page.js(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' + "
        "v.nodes.map(n => n.html).slice(0, 3).join(' ')))"
    )
    assert found == [], (what, found)


def open_page(base):
    page = browser.open(base + "/ui/")
    page.wait("document.body.dataset.nodes !== undefined")
    return page


def address(scheduler):
    """Returns the address of a scheduler once it answers requests for /ui with more than 503."""
    scheduler.wait_for_log("Waiting for caches to sync for scheduler controller")
    return f"http://127.0.0.1:{scheduler.port()}"


class Served:
    """schedsim serve on these objects."""

    def __init__(self, name, objects, *flags):
        with open(scratch(name + ".log"), "w") as log:
            self.process = start(
                f"{BIN}/schedsim",
                "serve",
                write_objects(name, objects),
                *flags,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = self.process.stdout.readline()
        assert line.startswith("Serving on http://127.0.0.1:"), line
        self.base = line.split()[2].removesuffix("/ui/")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(DEADLINE) == 0


def cluster(nodes=60):
    """Returns nodes in three zones, some of them with problems, pods of several sizes, and pods that fit nowhere for
    various reasons."""
    objects = []
    for i in range(nodes):
        n = node(
            f"node-{i:03}",
            cpu="8",
            labels={"topology.kubernetes.io/zone": f"zone-{'abc'[i % 3]}", "pool": "blue" if i % 5 else "green"},
        )
        if i % 17 == 3:
            n["spec"] = {"unschedulable": True}
        if i % 13 == 5:
            n["spec"] = {"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]}
        if i % 23 == 7:
            n["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        objects.append(n)
    for i in range(nodes * 4):
        objects.append(pod(f"web-{i:04}", cpu=f"{(i * 37) % 11 + 1}00m", on=f"node-{i * 7 % nodes:03}", uid=f"w{i}"))
    for i in range(8):
        objects.append(pod(f"new-{i}", uid=f"n{i}"))
    for i in range(5):
        objects.append(pod(f"huge-{i}", cpu="64", uid=f"h{i}"))
    selective = pod("selective", uid="s")
    selective["spec"]["nodeSelector"] = {"pool": "red"}
    return objects + [selective]


def test_views():
    with Served("views.json", cluster()) as served:
        page = open_page(served.base)
        assert page.js("document.body.dataset.nodes") == "60"
        for view in VIEWS + (
            "pod/default/new-0",
            "pod/default/huge-0",
            "pod/default/selective",
            "node/node-000",
            "node/node-007",
            "search?q=node-00",
            "pending?reason=Insufficient%20cpu",
        ):
            show(page, served.base, view)
            check_page(page, served.base, view)
            screenshot(page, "view-" + re.sub(r"\W+", "-", view))

        def text():
            return page.js("document.getElementById('main').innerText")

        show(page, served.base, "pending")
        page.wait("document.body.dataset.tried === 'yes'")
        assert (
            "6 pending pods" in text()
            and "Insufficient cpu" in text()
            and "These nodes do not have that much cpu left." in text()
        ), text()
        # What would help names the pod that it was tried for, and says nothing that holds for no pod.
        assert "default/huge-0 and 4 pods like it: ask for less cpu (64, more than the 8 there is)" in text(), text()
        assert "default/selective: No node has the label pool=red" in text() and "add nodes" not in text(), text()
        assert "uncordoning 4 nodes places 0 of 6" in text(), text()
        show(page, served.base, "node/node-000")
        assert "cpu free" in text().lower() and "default/web-0000" in text() and "Insufficient cpu" in text(), text()
        for unknown in "foo", "pods/default/huge-0", "toString":
            show(page, served.base, unknown)
            assert "There is no such view" in text(), (unknown, text())
        show(page, served.base, "pods/default/huge-0")
        assert page.js("document.querySelector('#main a[href=\"#/pod/default/huge-0\"]') !== null")
        show(page, served.base, "pod/default/huge-0")
        assert page.js("document.getElementById('waits').innerText").startswith("It waits for"), text()
        show(page, served.base, "pod/default/selective")
        assert "finds no node" in text() and "GeneralPredicates" in text() and "nodeSelector" in text(), text()
        show(page, served.base, "pod/default/new-0")
        assert "would choose node-" in text() and "(chosen)" in text() and "LeastRequestedPriority" in text(), text()
        show(page, served.base, "try")
        page.js("document.getElementById('ask-pod').click()")
        page.wait("document.getElementById('result').innerText.includes('would choose node-')")
        page.js("document.getElementById('drain').focus()")
        page.type("node-000")
        page.press("Enter")
        page.wait("document.getElementById('result').innerText.includes('would be evicted')")
        check_page(page, served.base, "try, answered")
        screenshot(page, "view-try-answered")
        page.js("document.getElementById('spec').value = '{'")
        page.js("document.getElementById('ask-pod').click()")
        page.wait("document.querySelector('#result [role=alert]').innerText.includes('not JSON')")
        show(page, served.base, "pod/default/nobody")
        assert "there is no pod default/nobody" in text(), text()
        show(page, served.base, "node/nobody")
        assert "there is no node nobody" in text(), text()


def test_looks():
    """Tests the page with dark colours, narrow, and with little motion; the table has the same content as the map."""
    objects = cluster()
    for o in objects:
        for taint in o.get("spec", {}).get("taints", []):
            taint["key"] = "scheduling.example.com/reservedForTheJobsOfOneTeam"  # a long word in what would help
    with Served("looks.json", objects) as served:
        page = open_page(served.base)
        page.js("document.getElementById('as-table').click()")
        page.wait("document.querySelectorAll('tbody tr').length === 60")
        page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
        check_page(page, served.base, "dark")
        screenshot(page, "look-dark")
        page.prefer(prefers_color_scheme="light")
        page.resize(360, 740)
        page.wait("innerWidth === 360")
        for view in ("nodes", "pending", "pod/default/huge-0", "node/node-000", "try"):
            show(page, served.base, view)
            check_page(page, served.base, f"narrow {view}")
            assert page.js("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the window"
            screenshot(page, "look-narrow-" + view.split("/")[0])


def test_keyboard():
    with Served("keyboard.json", cluster()) as served:
        page = open_page(served.base)
        page.js("document.querySelector('.map canvas').focus()")

        def selected():
            return page.js("document.querySelector('.about strong').innerText")

        page.press("Home")
        first = selected()
        page.press("ArrowRight")
        second = selected()
        page.press("ArrowDown")
        third = selected()
        assert first == "node-000" and second == "node-003" and third not in (first, second), (first, second, third)
        page.press("End")
        assert selected() == "node-059", selected()
        # A table is sorted by the keys that activate a button.
        show(page, served.base, "pending")
        page.js("document.querySelector('th button').focus()")
        page.press("Enter")
        page.wait("document.querySelector('th[aria-sort=ascending]')")
        page.press("Enter")
        page.wait("document.querySelector('th[aria-sort=descending]')")
        page.js("document.getElementById('query').focus()")
        page.type("huge-3")
        page.press("Enter")
        page.wait("document.querySelector('#main a[href=\"#/pod/default/huge-3\"]')")


def test_hostile():
    """A script in every field that the page can show."""
    evil = node(SCRIPT + "-node", labels={"topology.kubernetes.io/zone": SCRIPT, SCRIPT: IMAGE})
    evil["spec"] = {"taints": [{"key": SCRIPT, "value": IMAGE, "effect": "NoSchedule"}]}
    evil["status"]["allocatable"][SCRIPT + "/gpu"] = "4"
    owner = {"kind": SCRIPT, "name": IMAGE, "uid": SCRIPT, "controller": True, "apiVersion": "v1"}
    pods = [
        pod(IMAGE, namespace=SCRIPT, uid="1", on=evil["metadata"]["name"]),
        pod(SCRIPT, namespace=IMAGE, uid="2", cpu="64"),
        pod("plain", uid="3"),
    ]
    for p in pods:
        p["metadata"]["ownerReferences"] = [owner]
        p["metadata"]["labels"] = {SCRIPT: IMAGE}
    pods[1]["spec"]["containers"][0]["resources"]["requests"][SCRIPT + "/gpu"] = "8"
    with Served("hostile.json", [evil, node("good"), *pods]) as served:
        page = open_page(served.base)
        page.js(
            f"(() => {{ const g = document.getElementById('group'); g.value = {json.dumps(SCRIPT)}; "
            f"g.dispatchEvent(new Event('change')); return g.value }})()"
        )
        quoted = urllib_quote

        def key(p):
            return f"{quoted(p['metadata']['namespace'])}/{quoted(p['metadata']['name'])}"

        for view in VIEWS + (
            f"nodes/{quoted(SCRIPT + '-node')}",
            f"pod/{key(pods[0])}",
            f"pod/{key(pods[1])}",
            f"pod/{key(pods[2])}",
            f"search?q={quoted(SCRIPT)}",
            f"pending?owner={quoted(SCRIPT + '/' + IMAGE)}",
        ):
            show(page, served.base, view)
            if view == "nodes":
                page.js("document.getElementById('as-table').click()")
                page.wait("document.querySelectorAll('tbody tr').length === 2")
            check_page(page, served.base, view)
        show(page, served.base, f"pod/{key(pods[1])}")
        assert SCRIPT in page.js("document.querySelector('h1').innerText")  # shown as text, not as markup
        screenshot(page, "hostile")
        show(page, served.base, f"pod/{quoted(IMAGE)}/{quoted(IMAGE)}")
        assert f"there is no pod {IMAGE}/{IMAGE}" in page.js("document.querySelector('[role=alert]').innerText")
        assert page.js("window.pwned") is None


def urllib_quote(text):
    import urllib.parse

    return urllib.parse.quote(text, safe="")


def test_large():
    """10,000 nodes and 50,000 pods that fit nowhere, while others are bound."""
    objects = [
        node(f"node-{i:05}", cpu="8", labels={"topology.kubernetes.io/zone": f"zone-{i % 8}"}) for i in range(10000)
    ]
    objects += [pod(f"waits-{i:05}", cpu="64", uid=f"p{i}") for i in range(50000)]
    api = Api.start(write_objects("large.json", objects))
    scheduler = Scheduler(api.url, "--enable-ui", "--kube-api-qps=5000", "--kube-api-burst=5000", "-v=0")
    base = address(scheduler)
    page = open_page(base)
    page.wait("document.body.dataset.nodes === '10000'")
    before = page.js("performance.getEntriesByName('map-update').length")
    for i in range(300):
        api.add_pod(f"bound-{i:03}", cpu="1")
    # Meanwhile 50,000 pods that fit nowhere are tried on 10,000 nodes, which takes a busy machine some time.
    scheduler.wait_metric('scheduler_schedule_attempts_total{result="scheduled"}', at_least=300, within=300)
    page.wait(f"performance.getEntriesByName('map-update').length > {before}")
    page.wait(
        "[...document.querySelectorAll('dt')].some(e => e.innerText === 'Pods with a node' && e.nextSibling.innerText "
        "=== '300')"
    )
    screenshot(page, "large-nodes")
    show(page, base, "pending")
    page.wait("document.body.dataset.pending === '50000'")
    page.wait("document.getElementById('main').innerText.includes('Insufficient cpu')")
    screenshot(page, "large-pending")
    show(page, base, "pod/default/waits-00007")
    page.wait("document.getElementById('main').innerText.includes('10,000')")
    check_page(page, base, "large")
    assert scheduler.stop() == 0


def test_stops():
    """The page says so when the scheduler stops, and when another one leads or takes the lease."""
    api = Api.start()
    api.add_node("n1")
    quick = (
        "--enable-ui",
        "--leader-elect-lease-duration=10s",
        "--leader-elect-renew-deadline=8s",
        "--leader-elect-retry-period=500ms",
    )
    first = Scheduler(api.url, *quick, name="first", leader_elect=True)
    one = open_page(address(first))
    one.wait("document.body.dataset.connected === 'yes'")
    second = Scheduler(api.url, *quick, name="second", leader_elect=True)
    two = open_page(address(second))
    two.wait("document.getElementById('state').innerText.includes('does not decide')")
    screenshot(two, "stops-standby")
    # Somebody else takes the lease, so the first one ends.
    path = "/api/v1/namespaces/kube-system/endpoints/kube-scheduler"

    def take():
        lock = api.get(path)
        record = json.loads(lock["metadata"]["annotations"]["control-plane.alpha.kubernetes.io/leader"])
        record["holderIdentity"] = "somebody-else"
        lock["metadata"]["annotations"]["control-plane.alpha.kubernetes.io/leader"] = json.dumps(record)
        return api.call("PUT", path, lock)[0] == 200

    wait_until("the lease to be taken", take)
    assert first.process.wait(DEADLINE) == 1 and "lost lease" in first.log()
    one.wait("document.getElementById('state').innerText.includes('does not answer')")
    screenshot(one, "stops-lost")
    # The lease runs out, and the second one leads.
    two.wait("document.body.dataset.connected === 'yes'")
    second.process.kill()
    two.wait("document.getElementById('state').innerText.includes('does not answer')")
    show(two, "", "preemptions")
    two.wait("document.querySelector('#main [role=alert]').innerText.includes('does not answer')")


class OwnBody(threading.local):
    """Takes the place of a proxy's list of bodies, and keeps that of the request which the calling thread serves: the
    scheduler and the browser cause several at a time."""

    last = b""

    def append(self, request):
        self.last = request[2]


def test_secure():
    """Tests the page over the secure port: users who may see /ui see it live, a rejection by the API server is shown
    with its text, and users who may see nothing get no page."""
    api = Api.start(write_objects("secure.json", [node(f"n{i}", cpu="4") for i in range(3)]))

    def review(path, body):
        if path.endswith("/tokenreviews"):
            return {"status": {"authenticated": True, "user": {"username": body["spec"]["token"]}}}
        what = body["spec"]["nonResourceAttributes"]
        return {
            "status": {
                "allowed": body["spec"]["user"] == "viewer"
                and what["path"].startswith("/ui/")
                and what["verb"] == "get"
            }
        }

    def answer_reviews(_, path):
        answer = json.dumps(review(path, json.loads(bodies.last))) if path.endswith("reviews") else None
        return answer and (201, {"Content-Type": "application/json"}, answer)

    proxy = Proxy(api.port, answer_reviews)
    proxy.bodies = bodies = OwnBody()
    port = free_port()
    scheduler = Scheduler(proxy.url, f"--secure-port={port}", "--bind-address=127.0.0.1", "--enable-ui")
    scheduler.wait_for_log(f"starting secure server on 127.0.0.1:{port}")
    address(scheduler)
    base = f"https://127.0.0.1:{port}"
    for token in ("somebody", None):
        page = browser.open("about:blank")
        page.trust_any_certificate()
        if token:
            page.send_headers(Authorization=f"Bearer {token}")
        page.go(base + "/ui/")
        page.wait("document.body && document.body.innerText.includes('orbidden')")
        assert page.js("document.getElementById('main')") is None, "a page for somebody who may not see it"
    page = browser.open("about:blank")
    page.trust_any_certificate()
    page.send_headers(Authorization="Bearer viewer")
    page.go(base + "/ui/")
    page.wait("document.body.dataset.nodes === '3' && document.body.dataset.connected === 'yes'")
    api.add_pod("seen", cpu="1")
    page.wait(
        "[...document.querySelectorAll('dt')].some(e => e.innerText === 'Pods with a node' && "
        "e.nextSibling.innerText === '1')"
    )
    for view in VIEWS:
        show(page, base, view)
        check_page(page, base, "secure " + view)
    show(page, base, "try")
    page.js("document.getElementById('ask-pod').click()")
    page.wait(
        "document.querySelector('#result [role=alert]').innerText.includes('You may not do this (status 403). "
        "Forbidden')"
    )
    screenshot(page, "secure-refused")
    assert scheduler.stop() == 0


with Browser() as browser:
    harness.main(globals())
