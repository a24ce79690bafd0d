#!/usr/bin/env python3
"""TLS, tokens, client certificates and the authorization policy of hollow-apiserver; 401 and 403 as a real server words
them (wire/14-auth-throttle-shutdown.json)."""
import http.client, json, os, re, ssl, subprocess, tempfile, warnings
from hollow_harness import BIN, HERE, Server, check, check_true, finish

warnings.simplefilter("ignore", DeprecationWarning)  # of asking for the TLS that must be refused
TLS = os.path.join(HERE, "testdata", "hollow-tls")
pem = lambda name: os.path.join(TLS, name)
CERTIFICATE = ["--tls-cert-file=" + pem("server.crt"), "--tls-private-key-file=" + pem("server.key")]


def secure_port(server):
    """The TLS port, which the log names."""
    for line in server.process.stderr:
        if m := re.search(r"Serving securely on 127\.0\.0\.1:(\d+)", line):
            return int(m.group(1))
    raise RuntimeError("no secure port")


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
    e = json.load(open(os.path.join(HERE, "wire", "14-auth-throttle-shutdown.json")))["exchanges"][index]
    return e["response"]["status"], e["response"]["body"]


with tempfile.TemporaryDirectory() as tmp:
    tokens, policy = os.path.join(tmp, "tokens.csv"), os.path.join(tmp, "policy.jsonl")
    open(tokens, "w").write('wiretoken,wire-admin,1,"system:masters"\nwiretoken2,wire-nobody,2\n')
    open(policy, "w").write("# who may do what\n"
                            '{"spec":{"group":"system:masters","namespace":"*","resource":"*","apiGroup":"*","nonResourcePath":"*"}}\n'
                            '{"spec":{"group":"dev","readonly":true,"namespace":"wire","resource":"pods"}}\n')

    with Server("--bind-address=127.0.0.1", "--secure-port=0", *CERTIFICATE, "--client-ca-file=" + pem("ca.crt"),
                "--token-auth-file=" + tokens, "--authorization-policy-file=" + policy) as s:
        port = secure_port(s)
        check("anonymous, nodes", call(port, "GET", "/api/v1/nodes"), recorded(0))
        check("anonymous, healthz", call(port, "GET", "/healthz"), (200, "ok"))
        check("anonymous, version", call(port, "GET", "/version")[0], 200)
        check("anonymous, discovery", call(port, "GET", "/api")[0], 403)
        check("unknown token", call(port, "GET", "/api/v1/nodes", token="invalid"), recorded(3))
        check("good token", call(port, "GET", "/api/v1/nodes", token="wiretoken")[0], 200)
        check("token without rights", call(port, "GET", "/api/v1/namespaces/wire/pods/x", token="wiretoken2"), recorded(5))
        binding = '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"x"},"target":{"kind":"Node","name":"n"}}'
        check("binding without rights", call(port, "POST", "/api/v1/namespaces/wire/pods/x/binding", token="wiretoken2", body=binding), recorded(6))
        check("watch without rights", call(port, "GET", "/api/v1/nodes?watch=true", token="wiretoken2"), recorded(7))
        check("certificate, allowed", call(port, "GET", "/api/v1/namespaces/wire/pods", cert="client")[0], 200)
        check("certificate, other namespace", call(port, "GET", "/api/v1/namespaces/other/pods", cert="client")[0], 403)
        status, body = call(port, "POST", "/api/v1/namespaces/wire/pods", cert="client", body="{}")
        check("certificate, readonly", (status, body["message"]), (403, 'pods is forbidden: User "alice" cannot create pods in the namespace "wire"'))
        try:
            check_true("a certificate of another authority", call(port, "GET", "/api", cert="stranger")[0] in (401, 403), "was let in")
        except (ssl.SSLError, ConnectionError):
            pass  # refused in the handshake
        try:
            call(port, "GET", "/healthz", version=ssl.TLSVersion.TLSv1_1)
            check_true("TLS 1.1", False, "was accepted")
        except (ssl.SSLError, ConnectionError, ValueError):
            pass
        def can(verb, resource, ns="wire", **who):
            review = json.dumps({"spec": {"resourceAttributes": {"verb": verb, "resource": resource, "namespace": ns}}})
            status, body = call(port, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review, **who)
            return body["status"]["allowed"] if status == 201 else status
        check("may I: a certificate that may only read", (can("list", "pods", cert="client"), can("create", "pods", cert="client")), (True, False))
        check("may I: of another namespace", can("list", "pods", ns="other", cert="client"), False)
        check("may I: a token with all rights", can("delete", "nodes", token="wiretoken"), True)
        check("may I: nobody is not told", can("list", "pods"), 403)
        check("the insecure port asks nobody", s.request("GET", "/api/v1/nodes")[0], 200)
        check("exit on SIGTERM", s.stop()[0], 0)

    with Server("--bind-address=127.0.0.1", "--secure-port=0", *CERTIFICATE, "--token-auth-file=" + tokens) as s:
        port = secure_port(s)
        check("without a policy: anonymous", call(port, "GET", "/healthz")[0], 401)
        check("without a policy: known", call(port, "GET", "/api/v1/nodes", token="wiretoken2")[0], 200)

    def refused(what, want, *flags):
        run = subprocess.run([BIN, "--insecure-port=0", *flags], text=True, timeout=30, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(what + ": exit", (run.returncode, run.stdout), (1, ""))
        check_true(what, want in run.stderr, "%r is not in %r" % (want, run.stderr))

    bad = os.path.join(tmp, "bad")
    secure = ["--bind-address=127.0.0.1", "--secure-port=0", *CERTIFICATE]
    refused("no certificate", "--secure-port needs --tls-cert-file and --tls-private-key-file", "--secure-port=0")
    refused("token file without port", "--token-auth-file means nothing without --secure-port", "--token-auth-file=" + tokens)
    refused("missing certificate", "--tls-cert-file=/nowhere", "--secure-port=0", "--tls-cert-file=/nowhere", "--tls-private-key-file=/nowhere")
    refused("a key of another certificate", "--tls-private-key-file", "--secure-port=0", "--tls-cert-file=" + pem("server.crt"), "--tls-private-key-file=" + pem("client.key"))
    open(bad, "w").write("token,user\n")
    refused("token file", "line 1: three fields are wanted", *secure, "--token-auth-file=" + bad)
    open(bad, "w").write('\n{"spec":{"user":"a","resources":"pods"}}\n')
    refused("policy file", "line 2: spec.resources: unknown", *secure, "--authorization-policy-file=" + bad)
    open(bad, "w").write("no certificate")
    refused("CA file", "--client-ca-file", *secure, "--client-ca-file=" + bad)
finish()
