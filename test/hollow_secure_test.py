#!/usr/bin/env python3
"""TLS, tokens, client certificates and the authorization policy of hollow-apiserver; 401 and 403 as a real server words
them (wire/14-auth-throttle-shutdown.json)."""
import http.client
import json
import os
import ssl
import warnings

import harness
from harness import BIN, ROOT, TLS, Api, run, secure_flags, write_file

warnings.simplefilter("ignore", DeprecationWarning)  # the test asks for TLS versions that must be rejected


def pem(name):
    return os.path.join(TLS, name)


def call(port, method, path, token=None, cert=None, body=None, verify=True, version=None):
    context = ssl.create_default_context(cafile=pem("ca.crt"))
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if version:
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = version
    if cert:
        context.load_cert_chain(pem(cert + ".crt"), pem(cert + ".key"))
    c = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
    c.request(method, path, body, {"Authorization": "Bearer " + token} if token else {})
    r = c.getresponse()
    text = r.read().decode()
    try:
        return r.status, json.loads(text)
    except ValueError:
        return r.status, text


def recorded(index):
    with open(os.path.join(ROOT, "test", "wire", "14-auth-throttle-shutdown.json")) as f:
        e = json.load(f)["exchanges"][index]
    return e["response"]["status"], e["response"]["body"]


TOKENS = write_file("tokens.csv", 'wiretoken,wire-admin,1,"system:masters"\nwiretoken2,wire-nobody,2\n')
POLICY = write_file(
    "policy.jsonl",
    "# who may do what\n"
    '{"spec":{"group":"system:masters","namespace":"*","resource":"*","apiGroup":"*","nonResourcePath":"*"}}\n'
    '{"spec":{"group":"dev","readonly":true,"namespace":"wire","resource":"pods"}}\n',
)


def test_who_may_what():
    with Api.start(
        flags=secure_flags(
            "--client-ca-file=" + pem("ca.crt"), "--token-auth-file=" + TOKENS, "--authorization-policy-file=" + POLICY
        )
    ) as s:
        port = s.secure_port()
        assert call(port, "GET", "/api/v1/nodes") == recorded(0), "anonymous, nodes"
        assert call(port, "GET", "/healthz") == (200, "ok"), "anonymous, healthz"
        assert call(port, "GET", "/version")[0] == 200, "anonymous, version"
        assert call(port, "GET", "/api")[0] == 403, "anonymous, discovery"
        assert call(port, "GET", "/api/v1/nodes", token="invalid") == recorded(3), "unknown token"
        assert call(port, "GET", "/api/v1/nodes", token="wiretoken")[0] == 200, "good token"
        assert call(port, "GET", "/api/v1/namespaces/wire/pods/x", token="wiretoken2") == recorded(
            5
        ), "token without rights"
        binding = '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"x"},"target":{"kind":"Node","name":"n"}}'
        assert call(
            port, "POST", "/api/v1/namespaces/wire/pods/x/binding", token="wiretoken2", body=binding
        ) == recorded(6), "binding without rights"
        assert call(port, "GET", "/api/v1/nodes?watch=true", token="wiretoken2") == recorded(7), "watch without rights"
        assert call(port, "GET", "/api/v1/namespaces/wire/pods", cert="client")[0] == 200, "certificate, allowed"
        assert (
            call(port, "GET", "/api/v1/namespaces/other/pods", cert="client")[0] == 403
        ), "certificate, other namespace"
        status, body = call(port, "POST", "/api/v1/namespaces/wire/pods", cert="client", body="{}")
        assert (status, body["message"]) == (
            403,
            'pods is forbidden: User "alice" cannot create pods in the namespace "wire"',
        ), "certificate, readonly"
        try:
            assert call(port, "GET", "/api", cert="stranger")[0] in (401, 403), (
                "a certificate of another authority",
                "was let in",
            )
        except (ssl.SSLError, ConnectionError):
            pass  # rejected in the handshake
        try:
            call(port, "GET", "/healthz", version=ssl.TLSVersion.TLSv1_1)
            assert False, ("TLS 1.1", "was accepted")
        except (ssl.SSLError, ConnectionError, ValueError):
            pass

        def can(verb, resource, ns="wire", **who):
            review = json.dumps({"spec": {"resourceAttributes": {"verb": verb, "resource": resource, "namespace": ns}}})
            status, body = call(
                port, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review, **who
            )
            return body["status"]["allowed"] if status == 201 else status

        assert (can("list", "pods", cert="client"), can("create", "pods", cert="client")) == (
            True,
            False,
        ), "may I: a certificate that may only read"
        assert can("list", "pods", ns="other", cert="client") is False, "may I: of another namespace"
        assert can("delete", "nodes", token="wiretoken") is True, "may I: a token with all rights"
        assert can("list", "pods") == 403, "may I: nobody gets no answer"
        listed = call(
            port,
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            body='{"spec":{"namespace":"wire"}}',
            cert="client",
        )[1]["status"]["resourceRules"]
        assert {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]} in listed and not any(
            "create" in rule["verbs"] for rule in listed
        ), "what a certificate may do that may only read"
        assert s.call("GET", "/api/v1/nodes")[0] == 200, "the insecure port allows everybody"
        assert s.stop()[0] == 0, "exit on SIGTERM"


def test_without_a_policy():
    with Api.start(flags=secure_flags("--token-auth-file=" + TOKENS)) as s:
        port = s.secure_port()
        assert call(port, "GET", "/healthz")[0] == 401, "without a policy: anonymous"
        assert call(port, "GET", "/api/v1/nodes", token="wiretoken2")[0] == 200, "without a policy: known"


def refused(what, want, *flags):
    status, out, err = run(f"{BIN}/hollow-apiserver", "--insecure-port=0", *flags)
    assert (status, out) == (1, ""), what + ": exit"
    assert want in err, (what, "%r is not in %r" % (want, err))


def test_files_that_are_refused():
    refused("no certificate", "--secure-port needs --tls-cert-file and --tls-private-key-file", "--secure-port=0")
    refused(
        "token file without port",
        "--token-auth-file has no effect without --secure-port",
        "--token-auth-file=" + TOKENS,
    )
    refused(
        "missing certificate",
        "--tls-cert-file=/nowhere",
        "--secure-port=0",
        "--tls-cert-file=/nowhere",
        "--tls-private-key-file=/nowhere",
    )
    refused(
        "a key of another certificate",
        "--tls-private-key-file",
        "--secure-port=0",
        "--tls-cert-file=" + pem("server.crt"),
        "--tls-private-key-file=" + pem("client.key"),
    )
    bad = write_file("bad", "token,user\n")
    refused("token file", "line 1: must have three fields", *secure_flags(), "--token-auth-file=" + bad)
    bad = write_file("bad", '\n{"spec":{"user":"a","resources":"pods"}}\n')
    refused("policy file", "line 2: spec.resources: unknown", *secure_flags(), "--authorization-policy-file=" + bad)
    bad = write_file("bad", "no certificate")
    refused("CA file", "--client-ca-file", *secure_flags(), "--client-ca-file=" + bad)


harness.main(globals())
