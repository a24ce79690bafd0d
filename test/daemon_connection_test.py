#!/usr/bin/env python3
"""Tests how kube-scheduler reaches its API server: through proxies, and with certificates that are replaced while it
runs."""
import base64
import re
import shutil
import socket
import threading

import harness
from harness import TLS, Api, Scheduler, relay, scratch, secure_flags, write_file

NAME = "apiserver.invalid"  # only the proxy resolves it


def secure_api():
    """Starts a hollow-apiserver that also serves TLS, and permits everything to the holder of
    testdata/hollow-tls/client.crt."""
    policy = write_file(
        "policy.jsonl", '{"spec":{"group":"dev","namespace":"*","resource":"*","apiGroup":"*","nonResourcePath":"*"}}\n'
    )
    return Api.start(flags=secure_flags(f"--client-ca-file={TLS}/ca.crt", f"--authorization-policy-file={policy}"))


def kubeconfig(server, certificate=f"{TLS}/client", **cluster):
    return write_file(
        "kubeconfig",
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
            "users": [
                {"name": "u", "user": {"client-certificate": f"{certificate}.crt", "client-key": f"{certificate}.key"}}
            ],
        },
    )


class ForwardProxy:
    """An HTTP proxy that resolves one name, whatever the port, and demands credentials if it is given some."""

    def __init__(self, upstream, credentials=None):
        self.upstream, self.credentials = upstream, credentials
        self.seen = []  # the first lines of all requests
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = s.recv(1)
            if not byte:
                return
            head += byte
        first, rest = head.decode().split("\r\n", 1)
        self.seen.append(first)
        method, target, version = first.split(" ")
        if (
            self.credentials
            and f"Proxy-Authorization: Basic {base64.b64encode(self.credentials.encode()).decode()}\r\n" not in rest
        ):
            s.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            s.close()
            return
        up = socket.create_connection(("127.0.0.1", self.upstream))
        if method == "CONNECT":
            assert re.fullmatch(NAME + r":\d+", target), target
            s.sendall(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
        else:
            path = re.fullmatch(rf"http://{re.escape(NAME)}:\d+(/.*)", target).group(1)
            up.sendall(f"{method} {path} {version}\r\nConnection: close\r\n{rest}".encode())
        threading.Thread(target=relay, args=(s, up), daemon=True).start()
        relay(up, s)


def places_a_pod(api, name):
    api.add_pod(name)
    api.wait_placed(name)


def test_through_a_tunnel():
    api = secure_api()
    api.add_node("n0")
    proxy = ForwardProxy(api.secure_port(), "me:p@ss")
    config = kubeconfig(f"https://{NAME}:6443", **{"insecure-skip-tls-verify": True})
    s = Scheduler(None, f"--kubeconfig={config}", env={"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
    s.wait_for_log("proxyconnect tcp: the proxy answers 407 Proxy Authentication Required")
    s.stop()
    s = Scheduler(None, f"--kubeconfig={config}", env={"HTTPS_PROXY": f"http://me:p%40ss@127.0.0.1:{proxy.port}"})
    places_a_pod(api, "p")
    assert set(proxy.seen) == {f"CONNECT {NAME}:6443 HTTP/1.1"}, set(proxy.seen)
    assert f"reached through the proxy 127.0.0.1, port {proxy.port}" in s.log() and "p@ss" not in s.log(), s.log()[
        :2000
    ]
    assert s.stop() == 0


def test_through_a_plain_proxy():
    api = Api.start()
    api.add_node("n0")
    proxy = ForwardProxy(api.port, "me:secret")
    s = Scheduler(f"http://{NAME}:8080", env={"http_proxy": f"me:secret@127.0.0.1:{proxy.port}"})
    places_a_pod(api, "p")
    assert f"GET http://{NAME}:8080/api/v1/nodes?limit=500&resourceVersion=0 HTTP/1.1" in proxy.seen, proxy.seen
    assert s.stop() == 0


def test_past_a_proxy():
    api = Api.start()
    api.add_node("n0")
    proxy = ForwardProxy(api.port)
    s = Scheduler(api.url, env={"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}"})
    places_a_pod(api, "p")
    assert not proxy.seen, "this machine is reached directly"
    assert s.stop() == 0
    s = Scheduler(f"http://{NAME}:8080", env={"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": ".invalid"})
    s.wait_for_log(f"dial tcp: lookup {NAME}: no such host")
    assert not proxy.seen and s.stop() == 0


def test_a_proxy_that_cannot_be_used():
    s = Scheduler(f"http://{NAME}:8080", env={"HTTP_PROXY": "socks5://me:secret@127.0.0.1:1080"})
    assert s.process.wait(timeout=30) == 1
    assert "error: HTTP_PROXY=socks5://...@127.0.0.1:1080: proxies of this kind are not supported" in s.log(), s.log()
    assert "secret" not in s.log()


def test_certificates_are_replaced():
    api = secure_api()
    api.add_node("n0")
    mine = scratch("mine")

    def take(name):  # the key first, as people do who replace both
        for end in (".key", ".crt"):
            shutil.copy(f"{TLS}/{name}{end}", mine + end)

    take("stranger")
    config = kubeconfig(f"https://127.0.0.1:{api.secure_port()}", mine, **{"certificate-authority": TLS + "/ca.crt"})
    s = Scheduler(None, "--kubeconfig=" + config)
    s.wait_for_log("Failed to list *v1.Node")
    assert s.page("/healthz")[2] == "ok"
    take("client")
    places_a_pod(api, "p")
    assert "The certificates of the connection to the API server have changed" in s.log()
    assert s.stop() == 0


harness.main(globals())
