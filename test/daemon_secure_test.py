#!/usr/bin/env python3
"""Tests the daemon's own HTTP servers under attack and with an API server that does not respond: health pages never
wait, SIGTERM works quickly, idle clients keep nobody out, and malformed HTTP is rejected."""
import json
import os
import socket
import ssl
import time

import harness
from harness import Api, Proxy, Scheduler, free_port, node, scratch, wait_until, write_objects


def secure(proxy, *flags):
    """Starts a scheduler with a secure port. Returns a function that gets one of its pages: (status, text)."""
    port, certs = free_port(), scratch(f"certs{time.monotonic_ns()}")
    os.mkdir(certs)
    s = Scheduler(proxy.url, f"--secure-port={port}", "--bind-address=127.0.0.1", f"--cert-dir={certs}", *flags)
    s.wait_for_log(f"starting secure server on 127.0.0.1:{port}")
    trust = ssl.create_default_context(cafile=os.path.join(certs, "kube-scheduler.crt"))

    def start(path, token=None):
        c = trust.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20), server_hostname="localhost")
        authorization = f"Authorization: bearer {token}\r\n" if token else ""
        c.sendall(f"GET {path} HTTP/1.0\r\n{authorization}\r\n".encode())
        return c

    def page(path, token=None):
        answer = b""
        c = start(path, token)
        while piece := c.recv(65536):
            answer += piece
        c.close()
        return int(answer.split(b" ")[1]), answer.partition(b"\r\n\r\n")[2].decode()

    return s, start, page


def test_reviews_that_hang_hold_up_nothing():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    proxy = Proxy(api.port, {"reviews$": ("slow", 60)})
    s, start, page = secure(proxy)
    waiting = [start("/metrics", f"token{i}") for i in range(5)]
    proxy.wait_asked("POST", "/tokenreviews", times=5)
    begin = time.monotonic()
    assert page("/healthz") == (200, "ok")
    assert s.page("/healthz")[0] == 200 and s.page("/metrics")[0] == 200
    # Far less than a review takes; a page that waited for one would need at least ten seconds.
    assert time.monotonic() - begin < 5
    api.add_pod("p", cpu="1")
    api.wait_placed("p")
    begin = time.monotonic()
    assert s.stop() == 0
    assert time.monotonic() - begin < 5, "SIGTERM waited for a review"
    for c in waiting:
        c.close()


def test_reviews_have_a_rate_of_their_own():
    """Binds that wait for the client's rate limit do not make reviews wait."""
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))

    def review(method, path):
        if path.endswith("/tokenreviews"):
            return 201, {}, json.dumps({"status": {"authenticated": True, "user": {"username": "monitor"}}})
        if path.endswith("/subjectaccessreviews"):
            return 201, {}, json.dumps({"status": {"allowed": True}})
        return None

    s, _, page = secure(Proxy(api.port, review), "--kube-api-qps=1", "--kube-api-burst=1")
    for i in range(20):
        api.add_pod(f"p{i}", cpu="100m")
    s.wait_metric("rest_client_throttled_requests", at_least=2)
    begin = time.monotonic()
    assert page("/metrics", "x")[0] == 200
    assert time.monotonic() - begin < 5
    s.process.kill()


def test_sigterm_is_quick_when_the_api_server_is_gone():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    proxy = Proxy(api.port)
    s = Scheduler(proxy.url, "--leader-elect=true")
    api.add_pod("p", cpu="1")
    api.wait_placed("p")
    proxy.fault = {"^(?!GET )": ("slow", 60)}  # requests about events and the lock are no longer answered
    begin = time.monotonic()
    assert s.stop() == 0
    took = time.monotonic() - begin
    assert took < 4, f"SIGTERM took {took:.1f} s"


def test_idle_connections_keep_nobody_out():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    s = Scheduler(api.url)
    port = s.port()
    many = [socket.create_connection(("127.0.0.1", port)) for _ in range(350)]
    for _ in range(3):  # opened again as soon as they are closed
        assert s.page("/healthz")[0] == 200
        many += [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    m = s.metrics()
    assert m['scheduler_http_connections{server="healthz"}'] <= 300, m
    assert m['scheduler_http_displaced_total{server="healthz"}'] >= 100, m
    for c in many:
        c.close()
    assert s.stop() == 0


def test_requests_that_are_no_proper_http():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    s = Scheduler(api.url)
    for text, want in [
        (
            "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\nGET /metrics HTTP/1.1\r\n"
            "Host: x\r\n\r\n",
            b"501",
        ),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b"400"),
        ("GET /healthz HTTP/1.1\r\n\r\n", b"400"),
    ]:
        for port in (s.port(), api.port):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as c:
                c.sendall(text.encode())
                answer = b""
                while piece := c.recv(65536):
                    answer += piece
                assert answer.split(b" ")[1] == want and answer.count(b"HTTP/1.1") == 1, (text, answer)
    assert s.stop() == 0


harness.main(globals())
