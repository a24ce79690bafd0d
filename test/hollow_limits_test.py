#!/usr/bin/env python3
"""Tests hollow-apiserver's limits: a watcher that does not read is cut off, the others are not, and /metrics shows it.
Also tests it without a file descriptor left."""
import os
import re
import resource
import socket
import threading

import harness
from harness import Api, wait_until


def metrics(s):
    status, text = s.call("GET", "/metrics")
    assert status == 200, "GET /metrics"
    return dict((m[0], float(m[1])) for m in re.findall(r"^([a-z_]+(?:\{.*?\})?) (\S+)$", text, re.M))


def metric(s, name):
    return metrics(s)[name]


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
        assert (metrics(s)[watchers], metrics(s)[stored], metrics(s)["hollow_watchers_cut_total"]) == (
            0,
            0,
            0,
        ), "before"
        lazy, reader = watch(s, maps + "?watch=true"), watch(s, maps + "?watch=true")
        wait_until("two watchers", metric, s, watchers, equals=2)

        # One watcher reads everything and counts it.
        read = []

        def drain():
            while True:
                piece = reader.recv(1 << 20)
                if not piece:
                    return
                read.append(len(piece))

        def bytes_read():
            return sum(read)

        threading.Thread(target=drain, daemon=True).start()
        size, waiting = 1_500_000, []
        assert s.call("POST", maps, {"metadata": {"name": "big"}, "data": {"k": "x" * size}})[0] == 201, "create"
        limit = metrics(s)["hollow_watch_waiting_limit_bytes"]
        assert limit == 64 << 20, "the limit"
        for i in range(70):
            assert (
                s.call("PUT", maps + "/big", {"metadata": {"name": "big"}, "data": {"k": "x" * size, "n": str(i)}})[0]
                == 200
            ), "update"
            # It keeps up, whatever else this machine does, so that only the other one is too slow.
            wait_until("bytes read, with the update", bytes_read, at_least=(i + 2) * size + 1)
            m = metrics(s)
            waiting.append(m["hollow_watch_waiting_bytes"])
            if m["hollow_watchers_cut_total"]:
                break
        assert max(waiting) > limit / 2, "it was let be for long"
        assert max(waiting) <= 2 * limit, "never more than the limits"
        assert metrics(s)["hollow_watchers_cut_total"] == 1, "one was cut"
        wait_until("one watcher left", metric, s, watchers, equals=1)
        wait_until("bytes read by the other, which has read all", bytes_read, at_least=(i + 2) * size + 1)
        wait_until("nothing waits", metric, s, "hollow_watch_waiting_bytes", equals=0)
        assert metrics(s)[stored] == 1, "one map"
        # The one that was cut off reads the end of what it was sent, and then the end of the connection.
        lazy.settimeout(30)
        try:
            while lazy.recv(1 << 20):
                pass
        except ConnectionError:
            pass
        assert s.stop()[0] == 0, "exit on SIGTERM"


def test_no_file_descriptor_left():
    with Api.start(flags=["--watch-cache-sizes=configmaps#4"]) as s:
        maps = "/api/v1/namespaces/default/configmaps"

        def history():
            return [metrics(s)['hollow_watch_history%s_events{resource="configmaps"}' % x] for x in ("", "_limit")]

        assert history() == [0, 4], "no history"
        assert s.call("POST", maps, {"metadata": {"name": "kept"}})[0] == 201, "create"
        assert history() == [1, 4], "one change"
        for i in range(6):
            assert (
                s.call("PUT", maps + "/kept", {"metadata": {"name": "kept"}, "data": {"n": str(i)}})[0] == 200
            ), "update"
        assert history() == [4, 4], "the last four"
        reader = watch(s, maps + "?watch=true&resourceVersion=0")
        reader.settimeout(60)
        # All that is done without descriptors was done once before: the undefined-behaviour sanitizer needs one when it
        # meets a type for the first time.
        assert s.call("POST", maps, {"metadata": {"name": "other"}})[0] == 201, "create another"
        assert s.call("DELETE", maps + "/other")[0] == 200, "delete it"
        read = b""
        while b"DELETED" not in read and (piece := reader.recv(1 << 16)):
            read += piece
        read = b""

        def open_files():
            return len(os.listdir("/proc/%d/fd" % s.process.pid))

        open_now = open_files()
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (open_now + 10, open_now + 10))
        many = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(30)]
        wait_until("open files", open_files, at_least=open_now + 10)
        many[0].settimeout(60)
        # Existing connections are served nevertheless.
        many[0].sendall(b"DELETE " + maps.encode() + b"/kept HTTP/1.1\r\nHost: x\r\n\r\n")
        assert many[0].recv(15) == b"HTTP/1.1 200 OK", "the first"
        while b"DELETED" not in read and (piece := reader.recv(1 << 16)):
            read += piece
        assert b"DELETED" in read, "the watch goes on"
        for c in many:
            c.close()
        assert s.call("GET", maps)[1]["items"] == [], "served again"
        code, _, err = s.stop()
        assert code == 0, "exit on SIGTERM"
        reported = err.count("Cannot accept a connection to the API server: Too many open files")
        assert 1 <= reported <= 600, "it is logged, and not without a pause"


harness.main(globals())
