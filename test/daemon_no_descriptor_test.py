#!/usr/bin/env python3
"""Tests kube-scheduler without a file descriptor left while all of its connections break."""
import os
import resource
import socket

import harness
from harness import Api, Proxy, Scheduler, check_bound_once, node, write_objects


def test_no_file_descriptor_is_left():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    proxy = Proxy(api.port)
    s = Scheduler(proxy.url)
    api.add_pod("before", cpu="100m")
    api.wait_placed("before")
    port, descriptors = s.port(), f"/proc/{s.process.pid}/fd"
    most = len(os.listdir(descriptors)) + 5
    resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (most, most))
    many = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    s.wait_for_log("Cannot accept a connection to the healthz server: Too many open files")
    # All connections to the API server are closed, and there is no descriptor left to open others.
    proxy.cut_all()
    names = [f"p{i}" for i in range(20)]
    for n in names:
        api.add_pod(n, cpu="100m")
    for c in many:
        c.close()
    api.wait_placed(*names)
    assert s.page("/healthz")[::2] == (200, "ok")
    check_bound_once(["before", *names], proxy)
    assert s.log().count("Too many open files") < 600, "it should pause between attempts"
    assert s.stop() == 0


harness.main(globals())
