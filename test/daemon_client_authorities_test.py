#!/usr/bin/env python3
"""Tests which client certificates the secure port of release 1.29 accepts: the ConfigMap
extension-apiserver-authentication names the authorities of users' certificates and those of front proxies, which name
the user in headers."""
import http.client
import json
import os
import ssl

import harness
from harness import TLS, Api, Proxy, Scheduler, free_port, wait_until

MAP = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


def read(name):
    with open(os.path.join(TLS, name), encoding="ascii") as f:
        return f.read()


class Page:
    """The secure port of a scheduler whose API server allows everything to everybody, and records the reviews."""

    def __init__(self, data, *flags, review=None):
        self.api = Api.start(flags=["--emulated-version=1.29"])
        status, answer = self.api.call("PATCH", MAP, {"data": data}, "application/merge-patch+json")
        assert status == 200, answer
        self.proxy = Proxy(self.api.port, review or self.allow)
        self.port = free_port()
        self.scheduler = Scheduler(
            self.proxy.url,
            "--emulated-version=1.29",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={TLS}/server.crt",
            f"--tls-private-key-file={TLS}/server.key",
            *flags,
        )
        self.scheduler.wait_for_log(f"Serving securely on 127.0.0.1:{self.port}")
        wait_until("the ConfigMap read", self.proxy.asked, "GET", MAP)

    @staticmethod
    def allow(method, path):
        return (
            (
                201,
                {"Content-Type": "application/json"},
                json.dumps(
                    {
                        "apiVersion": "authorization.k8s.io/v1",
                        "kind": "SubjectAccessReview",
                        "status": {"allowed": True},
                    }
                ),
            )
            if (path.endswith("/subjectaccessreviews"))
            else None
        )

    def get(self, who=None, path="/metrics", **headers):
        """Returns the status and whom the API server was asked about: (user, groups, extra), or None if it was not
        asked."""
        asked = len(self.proxy.bodies)
        trust = ssl.create_default_context(cafile=f"{TLS}/ca.crt")
        if who:
            trust.load_cert_chain(f"{TLS}/{who}.crt", f"{TLS}/{who}.key")
        c = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trust)
        try:
            c.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            status = c.getresponse().status
        finally:
            c.close()
        reviews = [
            json.loads(b)["spec"] for _, p, b in self.proxy.bodies[asked:] if p.endswith("/subjectaccessreviews")
        ]
        return status, (reviews[-1]["user"], reviews[-1].get("groups"), reviews[-1].get("extra")) if reviews else None

    def wait_for_alice(self):
        """Waits until the authorities of the ConfigMap apply: to new connections, and those before them were anonymous.
        What was allowed to anonymous or alice on /metrics is not asked about again for some time."""

        def user():
            return self.get("client")[1]

        wait_until("whom a certificate names", user, equals=("alice", ["dev", "system:authenticated"], None))


PROXY = {
    "requestheader-client-ca-file": read("stranger.crt"),
    "requestheader-allowed-names": '["mallory"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
}


def test_users_and_front_proxies():
    page = Page({"client-ca-file": read("ca.crt"), **PROXY})
    page.wait_for_alice()
    assert page.get("stranger", X_Remote_User="bob", X_Remote_Group="ops", X_Remote_Extra_Scopes="all")[1] == (
        "bob",
        ["ops", "system:authenticated"],
        {"scopes": ["all"]},
    )
    # A proxy that names no user, or headers without a proxy's certificate, identify nobody.
    assert page.get("stranger", path="/configz")[1][0] == "system:anonymous"
    assert page.get("client", path="/configz", X_Remote_User="root")[1][0] == "alice"
    assert page.get(path="/other", X_Remote_User="root")[1][0] == "system:anonymous"
    assert page.scheduler.stop() == 0


def test_a_proxy_of_another_name_is_none():
    page = Page({"client-ca-file": read("ca.crt"), **PROXY, "requestheader-allowed-names": '["front"]'})
    page.wait_for_alice()
    assert page.get("stranger", path="/other", X_Remote_User="bob")[1][0] == "system:anonymous"
    assert page.scheduler.stop() == 0


def test_the_flag_goes_before_the_map():
    page = Page({"client-ca-file": read("stranger.crt")}, f"--client-ca-file={TLS}/ca.crt")
    assert page.get("client")[1][0] == "alice"
    try:
        status, asked = page.get("stranger", path="/configz")
        assert asked[0] == "system:anonymous", asked
    except (ssl.SSLError, ConnectionError):
        pass  # its certificate is rejected
    assert page.scheduler.stop() == 0


def test_a_map_that_cannot_be_used_is_named():
    page = Page({"client-ca-file": read("ca.crt"), **PROXY, "requestheader-group-headers": "X-Group"})
    page.scheduler.wait_for_log("data.requestheader-group-headers: must be a JSON array of strings, not X-Group")
    assert page.get()[1][0] == "system:anonymous"
    forbidden = json.dumps(
        {
            "kind": "Status",
            "status": "Failure",
            "reason": "Forbidden",
            "code": 403,
            "message": "configmaps is forbidden",
        }
    )
    page = Page({}, review={MAP + "$": (403, {"Content-Type": "application/json"}, forbidden)})
    page.scheduler.wait_for_log(
        'err="configmaps is forbidden" configMap="kube-system/extension-apiserver-authentication"'
    )
    assert page.get(path="/healthz")[0] == 200


harness.main(globals())
