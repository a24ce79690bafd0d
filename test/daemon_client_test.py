#!/usr/bin/env python3
"""How the daemon of release 1.36 follows a cluster: streamed lists and what it does where a server has none, bookmarks,
versions that are too old, a server that is overloaded, and compressed lists."""
import gzip
import json
import re
import threading

import harness
from harness import Api, Proxy, Scheduler, node, status_body, wait_until, write_objects

RELEASE = "--emulated-version=1.36"
KINDS = ("nodes", "pods", "services", "namespaces", "resourceclaims", "csinodes")  # some of those that it follows


def cluster(server="1.36", fault={}):
    api = Api.start(
        write_objects("cluster.json", [node(f"n{i}", cpu="64") for i in range(3)]),
        flags=["--emulated-version=" + server],
    )
    return api, Proxy(api.port, fault)


def lists(proxy, kind):
    """Returns the queries of plain lists of a kind."""
    return [p for m, p in proxy.seen if m == "GET" and re.search("/%s(\\?|$)" % kind, p) and "watch=true" not in p]


def watches(proxy, kind, streamed):
    """Returns the queries of its watches that begin with a list, or of the others."""
    return [
        p
        for m, p in proxy.seen
        if re.search("/%s\\?" % kind, p) and "watch=true" in p and ("sendInitialEvents=true" in p) == streamed
    ]


def places(api, *names):
    for name in names:
        api.add_pod(name, cpu="100m")
    api.wait_placed(*names)


def test_lists_are_streamed_and_end_with_a_bookmark():
    api, proxy = cluster()
    s = Scheduler(proxy.url, RELEASE)
    s.wait_for_log("Caches are synced")
    places(api, "a")
    assert not lists(proxy, "nodes") and not lists(proxy, "pods"), proxy.seen
    for kind in ("nodes", "pods", "resourceclaims"):
        [query] = watches(proxy, kind, True)
        assert "resourceVersionMatch=NotOlderThan" in query and "allowWatchBookmarks=true" in query, query
    assert s.metrics()['scheduler_cache_size{type="nodes"}'] == 3
    assert s.stop() == 0


FORBIDDEN = status_body(
    422,
    "Invalid",
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate "
    "is enabled",
)


def test_a_server_without_streamed_lists_is_asked_for_lists():
    def fault(method, path):
        return (422, {"Content-Type": "application/json"}, FORBIDDEN) if "sendInitialEvents" in path else None

    api, proxy = cluster(fault=fault)
    s = Scheduler(proxy.url, RELEASE)
    s.wait_for_log("Caches are synced")
    places(api, "a")
    for kind in KINDS:
        assert len(watches(proxy, kind, True)) == 1 and lists(proxy, kind), (kind, proxy.seen)
    # Another server may answer next time, so that each new list begins with the question.
    proxy.cut_all()
    places(api, "b")

    def number_streamed():
        return len(watches(proxy, "nodes", True))

    def number_listed():
        return len(lists(proxy, "nodes"))

    wait_until("watches of nodes that begin with a list", number_streamed, equals=2)
    wait_until("lists of nodes", number_listed, at_least=2)
    assert s.stop() == 0


def test_a_refusal_concerns_one_kind():
    def fault(method, path):
        return (
            (422, {"Content-Type": "application/json"}, FORBIDDEN)
            if "/nodes?" in path and "sendInitialEvents" in path
            else None
        )

    api, proxy = cluster(fault=fault)
    s = Scheduler(proxy.url, RELEASE)
    s.wait_for_log("Caches are synced")
    places(api, "a")
    assert len(watches(proxy, "nodes", True)) == 1 and lists(proxy, "nodes"), proxy.seen
    assert [kind for kind in KINDS if lists(proxy, kind)] == ["nodes"], proxy.seen


def test_a_list_is_streamed_again_from_where_a_bookmark_was():
    """The bookmark at the end of a streamed list is a version that no object of the kind needs to have."""
    api, proxy = cluster()
    s = Scheduler(proxy.url, RELEASE)
    s.wait_for_log("Caches are synced")
    s.wait_metric('scheduler_watch_open{resource="nodes"}', 1)
    proxy.cut_all()

    def again():
        return watches(proxy, "nodes", False) + watches(proxy, "nodes", True)[1:]

    wait_until("nodes are watched on", again)
    version = int(re.search("[?&]resourceVersion=([0-9]+)", again()[0])[1])
    newest = max(int(n["metadata"]["resourceVersion"]) for n in api.get("/api/v1/nodes")["items"])
    assert version > newest, (again(), newest)
    places(api, "a")


def test_versions_that_are_too_old():
    """Refused as a status, or as the first event of the watch: the list is streamed again, from no version."""
    gone = status_body(410, "Expired", "too old resource version: 1 (2)")
    for way in ("status", "event"):
        hits = []

        def fault(method, path, way=way, hits=hits):
            if "/pods?" not in path or "&resourceVersion=" not in path or hits:
                return None
            hits.append(path)
            if way == "status":
                return (410, {"Content-Type": "application/json"}, gone)
            return (200, {"Content-Type": "application/json"}, '{"type":"ERROR","object":%s}\n' % gone)

        api, proxy = cluster(fault=fault)
        s = Scheduler(proxy.url, RELEASE, name=way)
        s.wait_for_log("Caches are synced")
        places(api, "a")
        proxy.cut_all()
        places(api, "b")
        assert hits, (way, proxy.seen)
        behind = [p for _, p in proxy.seen if "/pods?" in p]
        behind = behind[behind.index(hits[0]) + 1 :]
        assert behind and "&resourceVersion=" not in behind[0], (way, behind)
        assert s.stop() == 0


def test_an_overloaded_server_says_when_to_come_again():
    """429 with Retry-After: to a list, to a watch and to a binding."""
    busy = (
        429,
        {"Retry-After": "1", "Content-Type": "application/json"},
        status_body(429, "TooManyRequests", "too many requests, please try again later"),
    )
    hits = {"watch": 0, "binding": 0}
    lock = threading.Lock()

    def fault(method, path):
        with lock:
            what = (
                "binding"
                if path.endswith("/binding")
                else "watch"
                if "/nodes?" in path and "watch=true" in path
                else None
            )
            if what and hits[what] < 2:
                hits[what] += 1
                return busy
        return None

    api, proxy = cluster(fault=fault)
    s = Scheduler(proxy.url, RELEASE)
    s.wait_for_log("Caches are synced")
    places(api, "a")
    assert hits == {"watch": 2, "binding": 2}, hits
    # It keeps streaming: being overloaded is no refusal of streamed lists.
    assert not lists(proxy, "nodes") and len(watches(proxy, "nodes", True)) == 3, proxy.seen
    assert s.stop() == 0


def test_lists_may_be_compressed():
    api = Api.start(
        write_objects("cluster.json", [node(f"n{i}", cpu="64") for i in range(300)]), flags=["--emulated-version=1.29"]
    )
    packed = []

    def fault(method, path):
        if method == "GET" and "watch=true" not in path and "/nodes?" in path:
            status, text = api.call("GET", path)
            packed.append(path)
            return (
                status,
                {"Content-Type": "application/json", "Content-Encoding": "gzip"},
                gzip.compress(json.dumps(text).encode()),
            )
        return None

    proxy = Proxy(api.port, fault)
    s = Scheduler(proxy.url, "--emulated-version=1.29")
    s.wait_for_log("Caches are synced")
    places(api, "a")
    assert packed and s.metrics()['scheduler_scheduler_cache_size{type="nodes"}'] == 300, packed
    assert s.stop() == 0


harness.main(globals())
