#!/usr/bin/env python3
"""Tests hollow-apiserver's limits: a watcher that does not read is cut off, the others are not, and /metrics shows it.
Also tests it without a file descriptor left."""
import os
import re
import resource
import socket
import threading

import harness
from harness import Api, check, check_equal, wait_until


def metrics(s):
    status, text = s.call("GET", "/metrics")
    check_equal("GET /metrics", status, 200)
    return dict((m[0], float(m[1])) for m in re.findall(r"^([a-z_]+(?:\{.*?\})?) (\S+)$", text, re.M))


def watch(s, path):
    c = socket.create_connection(("127.0.0.1", s.port))
    c.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    return c


def test_a_watcher_that_does_not_read_is_cut():
    with Api.start() as s:
        maps = "/api/v1/namespaces/default/configmaps"
        watchers, stored = (
            'apiserver_registered_watchers{resource="configmaps"}',
            'etcd_object_counts{resource="configmaps"}',
        )
        check_equal(
            "before", (metrics(s)[watchers], metrics(s)[stored], metrics(s)["hollow_watchers_cut_total"]), (0, 0, 0)
        )
        lazy, reader = watch(s, maps + "?watch=true"), watch(s, maps + "?watch=true")
        wait_until("two watchers", lambda: metrics(s)[watchers] == 2)

        # One watcher reads everything and counts it.
        read = []

        def drain():
            while True:
                piece = reader.recv(1 << 20)
                if not piece:
                    return
                read.append(len(piece))

        threading.Thread(target=drain, daemon=True).start()
        size, waiting = 1_500_000, []
        check_equal("create", s.call("POST", maps, {"metadata": {"name": "big"}, "data": {"k": "x" * size}})[0], 201)
        limit = metrics(s)["hollow_watch_waiting_limit_bytes"]
        check_equal("the limit", limit, 64 << 20)
        for i in range(70):
            check_equal(
                "update",
                s.call("PUT", maps + "/big", {"metadata": {"name": "big"}, "data": {"k": "x" * size, "n": str(i)}})[0],
                200,
            )
            # It keeps up, whatever else this machine does, so that only the other one is too slow.
            wait_until("the reader has read the update", lambda: sum(read) > (i + 2) * size)
            m = metrics(s)
            waiting.append(m["hollow_watch_waiting_bytes"])
            if m["hollow_watchers_cut_total"]:
                break
        check("it was let be for long", max(waiting) > limit / 2, waiting)
        check("never more than the limits", max(waiting) <= 2 * limit, waiting)
        check_equal("one was cut", metrics(s)["hollow_watchers_cut_total"], 1)
        wait_until("one watcher left", lambda: metrics(s)[watchers] == 1)
        wait_until("the other has read all", lambda: sum(read) > (i + 2) * size)
        wait_until("nothing waits", lambda: metrics(s)["hollow_watch_waiting_bytes"] == 0)
        check_equal("one map", metrics(s)[stored], 1)
        # The one that was cut off reads the end of what it was sent, and then the end of the connection.
        lazy.settimeout(30)
        try:
            while lazy.recv(1 << 20):
                pass
        except ConnectionError:
            pass
        check_equal("exit on SIGTERM", s.stop()[0], 0)


def test_no_file_descriptor_left():
    with Api.start(flags=["--watch-cache-sizes=configmaps#4"]) as s:
        maps = "/api/v1/namespaces/default/configmaps"

        def history():
            return [metrics(s)['hollow_watch_history%s_events{resource="configmaps"}' % x] for x in ("", "_limit")]

        check_equal("no history", history(), [0, 4])
        check_equal("create", s.call("POST", maps, {"metadata": {"name": "kept"}})[0], 201)
        check_equal("one change", history(), [1, 4])
        for i in range(6):
            check_equal(
                "update", s.call("PUT", maps + "/kept", {"metadata": {"name": "kept"}, "data": {"n": str(i)}})[0], 200
            )
        check_equal("the last four", history(), [4, 4])
        reader = watch(s, maps + "?watch=true&resourceVersion=0")
        reader.settimeout(60)
        # All that is done without descriptors was done once before: the undefined-behaviour sanitizer needs one when it
        # meets a type for the first time.
        check_equal("create another", s.call("POST", maps, {"metadata": {"name": "other"}})[0], 201)
        check_equal("delete it", s.call("DELETE", maps + "/other")[0], 200)
        read = b""
        while b"DELETED" not in read and (piece := reader.recv(1 << 16)):
            read += piece
        read = b""
        open_now = len(os.listdir("/proc/%d/fd" % s.process.pid))
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (open_now + 10, open_now + 10))
        many = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(30)]
        wait_until("all taken", lambda: len(os.listdir("/proc/%d/fd" % s.process.pid)) >= open_now + 10)
        many[0].settimeout(60)
        # Existing connections are served nevertheless.
        many[0].sendall(b"DELETE " + maps.encode() + b"/kept HTTP/1.1\r\nHost: x\r\n\r\n")
        check_equal("the first", many[0].recv(15), b"HTTP/1.1 200 OK")
        while b"DELETED" not in read and (piece := reader.recv(1 << 16)):
            read += piece
        check("the watch goes on", b"DELETED" in read, read)
        for c in many:
            c.close()
        check_equal("served again", s.call("GET", maps)[1]["items"], [])
        code, _, err = s.stop()
        check_equal("exit on SIGTERM", code, 0)
        reported = err.count("Cannot accept a connection to the API server: Too many open files")
        check("it is logged, and not without a pause", 1 <= reported <= 600, reported)


harness.main(globals())
