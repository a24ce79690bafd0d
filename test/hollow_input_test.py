#!/usr/bin/env python3
"""What hollow-apiserver does with flags, files and requests, good and bad: a clear text, never a crash."""
import gzip, json, os, re, socket, subprocess, tempfile
from hollow_harness import BIN, HERE, Server, check, check_true, finish, wait_for

PODS = "/api/v1/namespaces/default/pods"


def run(*flags):
    r = subprocess.run([BIN, *flags], text=True, timeout=30, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return r.returncode, r.stdout, r.stderr


def refused(what, want, *flags):
    code, out, err = run(*flags)
    check(what + ": exit and stdout", (code, out), (1, ""))
    check_true(what, want in err, "%r is not in %r" % (want, err))


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def raw(port, data, half_close=True):
    """Sends bytes, returns all that comes until the server closes; a watch ends when the client closes its half."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(data)
        if half_close:
            s.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    return answer.decode("latin1")


# ---- flags ----
refused("unknown flag", "--bogus", "--bogus")
refused("guessed flag", "--insecure-por", "--insecure-por=1")
refused("port", "a port between 0 and 65535 is wanted", "--insecure-port=70000")
refused("word", "positional", "word")
# Every flag with a wrong value, what names it, and what else it needs.
here = os.path.join(HERE, "testdata", "hollow-tls")
secure = ["--secure-port=0", "--bind-address=127.0.0.1", "--tls-cert-file=%s/server.crt" % here, "--tls-private-key-file=%s/server.key" % here]
WRONG = {
    "insecure-bind-address": ("nowhere", '--insecure-bind-address, --insecure-port: cannot listen on nowhere:0: "nowhere" is no IP address'),
    "insecure-port": ("70000", 'invalid argument "70000" for --insecure-port: a port between 0 and 65535 is wanted'),
    "load": ("/nowhere", "--load: /nowhere: No such file or directory"),
    "bind-address": ("nowhere", '--bind-address, --secure-port: cannot listen on nowhere:0: "nowhere" is no IP address', *secure),
    "secure-port": ("x", 'invalid argument "x" for --secure-port: a port between 0 and 65535 is wanted', *secure),
    "tls-cert-file": ("/nowhere", "--tls-cert-file=/nowhere: no PEM certificate can be read", *secure),
    "tls-private-key-file": ("/nowhere", "--tls-private-key-file=/nowhere: no matching PEM key can be read", *secure),
    "client-ca-file": ("/nowhere", "--client-ca-file=/nowhere: no PEM certificate can be read", *secure),
    "token-auth-file": ("/nowhere", "--token-auth-file=/nowhere: ", *secure),
    "authorization-policy-file": ("/nowhere", "--authorization-policy-file=/nowhere: ", *secure),
    "default-watch-cache-size": ("many", 'invalid argument "many" for --default-watch-cache-size: a number of events is wanted'),
    "watch-cache-sizes": ("pods", 'invalid argument "pods" for --watch-cache-sizes: resource#size'),
    "event-ttl": ("soon", 'invalid argument "soon" for --event-ttl: a positive duration like 1h30m or 90s is wanted'),
    "emulated-version": ("1.11", 'invalid argument "1.11" for --emulated-version: 1.10 or 1.29 is wanted'),
    "v": ("loud", 'invalid argument "loud" for --v: a number is wanted'),
    "version": ("maybe", "version"),
    "help": ("maybe", "help"),
}
flags = set(re.findall(r"^ +(?:-\w \[ )?--([a-z-]+)", run("--help")[1], re.M))
check("flags in --help", flags, set(WRONG))
for flag, (value, want, *others) in WRONG.items():
    # A flag may be there once only.
    others = [o for o in others if not o.startswith("--%s=" % flag)]
    free = [] if flag == "insecure-port" else ["--insecure-port=0"]
    refused(flag, want, *free, *others, "--%s=%s" % (flag, value))
refused("watch cache of nothing", "there is no such resource", "--insecure-port=0", "--watch-cache-sizes=cows#5")
refused("address of no port", "--bind-address means nothing without --secure-port", "--insecure-port=0", "--bind-address=127.0.0.1")
refused("-v", 'invalid argument "loud" for --v: a number is wanted', "-v=loud")
with Server("-v=2") as s:
    check("-v=2", s.stop()[0], 0)
code, out, _ = run("--help")
check("--help", code, 0)
check_true("--help", "--load" in out and "Usage:" in out, out)
check_true("--version", run("--version")[1].startswith("Berth hollow-apiserver v1."), run("--version"))
with Server() as s:
    refused("port taken", "cannot listen on 127.0.0.1:%d" % s.port, "--insecure-port=%d" % s.port)

with tempfile.TemporaryDirectory() as tmp:
    def file(name, content):
        path = os.path.join(tmp, name)
        open(path, "wb").write(content if isinstance(content, bytes) else content.encode())
        return path

    # ---- files ----
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "resourceVersion": "77", "uid": "u-1"}, "status": {"capacity": {"cpu": "4000m"}}}
    stored = pod("stored", nodeName="n1")
    lst = file("list.json.gz", gzip.compress(json.dumps({"items": [node, stored, {"kind": "Cow", "apiVersion": "v1"}], "kind": "List", "apiVersion": "v1"}).encode()))
    loose = file("loose.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: loose, namespace: other}\nspec:\n  containers:\n"
                 "  - {name: c, image: 'i:1', resources: {limits: {cpu: 0.5}}}\n---\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\n")
    scenario = file("scenario.json", json.dumps({"apiVersion": "schedsim/v1", "kind": "Scenario", "name": "s", "algorithmProvider": "DefaultProvider",
                                                 "cluster": {"kind": "List", "apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}]},
                                                 "pods": [{"metadata": {"name": "pending", "labels": {"a": "b"}}, "spec": {"containers": [], "odd": 1}}]}))
    kindless = file("kindless.json", '{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"svc","namespace":"default"},"spec":{}}]}')
    with Server(*("--load=" + f for f in (lst, loose, scenario, kindless))) as s:
        _, n1 = s.request("GET", "/api/v1/nodes/n1")
        check("a List's node is stored as it is", (n1["metadata"]["uid"], n1["status"], "spec" in n1), ("u-1", {"capacity": {"cpu": "4000m"}}, False))
        check_true("with a version of this server", n1["metadata"]["resourceVersion"] != "77", n1)
        _, p = s.request("GET", PODS + "/stored")
        check("a List's pod gets no defaults", p["spec"], stored["spec"])
        _, p = s.request("GET", "/api/v1/namespaces/other/pods/loose")
        check("a loose pod gets defaults", (p["spec"]["containers"][0]["resources"]["requests"], p["spec"]["schedulerName"], p["status"]["phase"]),
              ({"cpu": "500m"}, "default-scheduler", "Pending"))
        check("its namespace came into being", s.request("GET", "/api/v1/namespaces/other")[0], 200)
        check("a loose node", s.request("GET", "/api/v1/nodes/n2")[1]["spec"], {"externalID": "n2"})
        _, p = s.request("GET", PODS + "/pending")
        check("a Scenario's pod", (p["spec"], p["kind"]), ({"containers": [], "odd": 1}, "Pod"))
        check("a Scenario's node", s.request("GET", "/api/v1/nodes/n3")[0], 200)
        check("the kind of a ServiceList", s.request("GET", "/api/v1/namespaces/default/services/svc")[1]["kind"], "Service")
        check("selectors see loaded pods", [i["metadata"]["name"] for i in s.request("GET", PODS + "?labelSelector=a%3Db&fieldSelector=spec.nodeName%3D")[1]["items"]], ["pending"])
        check("binding a loaded pod", s.request("POST", PODS + "/pending/binding", {"metadata": {"name": "pending"}, "target": {"name": "n1"}})[0], 201)
        check("bound", s.request("GET", PODS + "/pending")[1]["spec"]["nodeName"], "n1")
        code, _, err = s.stop()
        check("exit on SIGTERM", code, 0)
        check_true("skipped kinds are told", "skipped 1 of kind Cow" in err, err)

    load = lambda content, name="bad.json": "--load=" + file(name, content)
    refused("missing file", "/nowhere", "--load=/nowhere")
    refused("truncated JSON", "line 1", load('{"kind":"List","items":[{"kind":"Pod"'))
    refused("deep nesting", "nested deeper than", load('{"kind":"Pod","a":' + "[" * 10000))
    refused("wrong type", 'Pod "default/x": v1.Pod: Spec: readObjectStart', load('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"default"},"spec":"x"}'))
    refused("quantity", "quantities must match", load('{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"},"status":{"capacity":{"cpu":"4 cores"}}}'))
    refused("no name", "metadata.name is missing", load('{"kind":"Node","apiVersion":"v1","metadata":{}}'))
    refused("twice", 'Node "x": Node "x" is there twice', load('{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"}}' * 2))
    refused("one uid twice", 'Pod "y": metadata.uid: "u-1" is the uid of Pod default/x already',
            load("".join('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","uid":"u-1"},"spec":{"containers":[{"name":"c","image":"i"}]}}' % n for n in "xy")))
    refused("one uid twice in a list", 'is the uid of Node x already', load('{"kind":"List","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"x","uid":"u-1"}},'
                                                                           '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"y","uid":"u-1"}}]}'))
    refused("no kind", "without kind", load('{"metadata":{"name":"x"}}'))
    refused("bad YAML", "bad.yaml", load("kind: Pod\n  metadata: {", "bad.yaml"))
    refused("an open quote at the end", "line 4, column 1: a quoted text is not closed before this", load('kind: Node\nmetadata:\n  name: "x\n', "bad.yaml"))
    refused("broken gzip", "bad.gz", load(gzip.compress(b'{"kind":"List"}')[:-9], "bad.gz"))

# ---- requests ----
with Server() as s:
    status, body = s.request("POST", PODS, '{"kind":"Pod","x":' + "[" * 10000 + "]" * 10000 + "}")
    check("10,000-deep nesting", (status, body["reason"]), (400, "BadRequest"))
    check_true("10,000-deep nesting", "exceeded max depth" in body["message"], body)
    check("truncated JSON", s.request("POST", PODS, '{"kind":"Pod","metadata":{"na')[0], 400)
    check("a deep patch", s.request("PATCH", "/api/v1/namespaces/default", '{"a":' * 10000, "application/merge-patch+json")[0], 500)
    for quantity, want in (("1" + "0" * 40, 201), ("1e99999", 201), ("-1", 422), ("1.2.3", 400), ("", 400), ("1" * 5000, 201)):
        p = pod("q%d" % len(quantity) + str(abs(hash(quantity))))
        p["spec"]["containers"][0]["resources"] = {"requests": {"memory": quantity}}
        check("quantity %.20r" % quantity, s.request("POST", PODS, p)[0], want)
    for wrong in ({"metadata": []}, {"metadata": {"labels": {"a": {}}}}, {"spec": {"containers": {}}}, {"spec": {"containers": [5]}},
                  {"spec": {"terminationGracePeriodSeconds": "x"}}, {"spec": {"hostNetwork": "yes"}}, {"metadata": {"creationTimestamp": 5}}):
        check("wrong type in %s" % wrong, s.request("POST", PODS, wrong)[0], 400)
    p = pod("huge")
    p["metadata"]["annotations"] = {"a": "x" * 270000}
    check("huge annotations", s.request("POST", PODS, p)[0], 422)
    p = pod("huge")
    p["spec"]["containers"][0]["env"] = [{"name": "E%d" % i, "value": "v" * 1000} for i in range(2200)]
    status, body = s.request("POST", PODS, p)
    check_true("an object beyond 2 MiB", status == 500 and "trying to send message larger than max" in body["message"], body)
    check("unknown fields of 4 MB", s.request("POST", PODS, {**pod("fat"), "x": "z" * 4000000})[0], 201)
    check("no HTTP", raw(s.port, b"GARBAGE\r\n\r\n").splitlines()[0], "HTTP/1.1 400 Bad Request")
    body = b'{"\xc3":"\xff",x}'
    check_true("bytes that are no text, quoted in an answer that is", '({\\"\\ufffd\\":' in raw(
        s.port, b"POST " + PODS.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body))
    check("a body that is too long", raw(s.port, b"POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n").splitlines()[0],
          "HTTP/1.1 413 Request Entity Too Large")
    check_true("no Host", "missing required Host header" in raw(s.port, b"GET / HTTP/1.1\r\n\r\n"))
    two = raw(s.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nosuch HTTP/1.1\r\nHost: x\r\n\r\n")
    check("pipelined", [l for l in two.splitlines() if l.startswith("HTTP/1.1") or "okHTTP" in l], ["HTTP/1.1 200 OK", "okHTTP/1.1 404 Not Found"])
    chunked = raw(s.port, b"POST " + PODS.encode() + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{bad}\r\n0\r\n\r\n")
    check_true("a chunked body", "invalid character 'b' looking for beginning of object key string" in chunked, chunked)
    old = raw(s.port, b"GET /api/v1/nodes?watch=1&timeoutSeconds=1 HTTP/1.0\r\n\r\n", half_close=False)
    check_true("a watch over HTTP/1.0 has no chunks", old.startswith("HTTP/1.0 200 OK") and "chunked" not in old, old)
    ended = raw(s.port, b"GET /api/v1/nodes?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", half_close=False)
    check_true("a watch ends with an empty chunk", ended.endswith("\r\n\r\n0\r\n\r\n"), ended)

    # A watch that begins too long ago.
    s.request("POST", "/api/v1/nodes", {"metadata": {"name": "busy"}})
    for i in range(1010):
        s.request("PATCH", "/api/v1/nodes/busy", {"metadata": {"labels": {"i": str(i)}}}, "application/merge-patch+json")
    gone = raw(s.port, b"GET /api/v1/nodes?watch=1&resourceVersion=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", half_close=False)
    check_true("a watch from too long ago", '"type":"ERROR"' in gone and '"reason":"Gone"' in gone and '"code":410' in gone, gone)

    # A watcher that does not read is cut, and the others go on.
    slow = socket.create_connection(("127.0.0.1", s.port))
    slow.sendall(b"GET /api/v1/namespaces/default/configmaps?watch=1&resourceVersion=%d HTTP/1.1\r\nHost: x\r\n\r\n" % int(s.request("GET", "/api/v1/nodes")[1]["metadata"]["resourceVersion"]))
    slow.recv(1)
    for i in range(80):
        check("a large config map", s.request("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "cm%d" % i}, "data": {"a": "x" * 1000000}})[0], 201)
    slow.settimeout(20)
    total = 0
    try:
        while chunk := slow.recv(1 << 20):
            total += len(chunk)
    except ConnectionError:
        pass
    check_true("the slow watcher is cut", total < 79_000_000, "it was sent %d bytes" % total)
    check("the server lives", s.request("GET", "/healthz"), (200, "ok"))
    code, _, err = s.stop()
    check("exit on SIGTERM", code, 0)
    check_true("the cut is told", "A watcher reads too slowly and is cut" in err, err[-500:])
finish()
