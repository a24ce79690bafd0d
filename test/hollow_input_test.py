#!/usr/bin/env python3
"""Tests hollow-apiserver with good and bad flags, files and requests: a clear text, never a crash."""
import functools
import gzip
import json
import re
import socket

import harness
from harness import BIN, Api, run, secure_flags, write_file

PODS = "/api/v1/namespaces/default/pods"


def hollow(*flags):
    return run(f"{BIN}/hollow-apiserver", *flags, timeout=30)


def refused(what, want, *flags):
    code, out, err = hollow(*flags)
    assert (code, out) == (1, ""), what + ": exit and stdout"
    assert want in err, (what, "%r is not in %r" % (want, err))


pod = functools.partial(harness.pod, cpu=None)


def raw(port, data, half_close=True):
    """Sends bytes and returns everything until the server closes the connection. A watch ends when the client closes
    its side."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(data)
        if half_close:
            s.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    return answer.decode("latin1")


# A wrong value of every flag, the text that names it, and further flags that are needed.
SECURE = secure_flags()
WRONG = {
    "insecure-bind-address": (
        "nowhere",
        '--insecure-bind-address, --insecure-port: cannot listen on nowhere:0: "nowhere" is not an IP address',
    ),
    "insecure-port": ("70000", '--insecure-port: invalid value "70000": must be a port from 0 to 65535'),
    "load": ("/nowhere", "--load: /nowhere: No such file or directory"),
    "bind-address": (
        "nowhere",
        '--bind-address, --secure-port: cannot listen on nowhere:0: "nowhere" is not an IP address',
        *SECURE,
    ),
    "secure-port": ("x", '--secure-port: invalid value "x": must be a port from 0 to 65535', *SECURE),
    "tls-cert-file": ("/nowhere", "--tls-cert-file=/nowhere: no PEM certificate can be read", *SECURE),
    "tls-private-key-file": ("/nowhere", "--tls-private-key-file=/nowhere: no matching PEM key can be read", *SECURE),
    "client-ca-file": ("/nowhere", "--client-ca-file=/nowhere: no PEM certificate can be read", *SECURE),
    "token-auth-file": ("/nowhere", "--token-auth-file=/nowhere: ", *SECURE),
    "authorization-policy-file": ("/nowhere", "--authorization-policy-file=/nowhere: ", *SECURE),
    "default-watch-cache-size": (
        "many",
        '--default-watch-cache-size: invalid value "many": must be a number of events',
    ),
    "watch-cache-sizes": ("pods", '--watch-cache-sizes: invalid value "pods": must be resource#size'),
    "event-ttl": ("soon", '--event-ttl: invalid value "soon": must be a positive duration such as 90s or 1h30m'),
    "emulated-version": ("1.11", '--emulated-version: invalid value "1.11": must be 1.8'),
    "simulate": ("nodes", '--simulate: invalid value "nodes": must be kubelets or controllers'),
    "pod-start-delay": ("soon", "must be a duration such as 500ms or 3s"),
    "pod-stop-delay": ("-1s", "must be a duration such as 500ms or 3s"),
    "node-monitor-grace-period": ("soon", "must be a duration such as 500ms or 3s"),
    "job-duration": ("3", "must be a duration such as 500ms or 3s"),
    "disable-admission-plugins": ("LimitRange", '(did you mean "LimitRanger"?)'),
    "v": ("loud", '--v: invalid value "loud": must be a number'),
    "version": ("maybe", "version"),
    "help": ("maybe", "help"),
}


def test_flags():
    refused("unknown flag", "--bogus", "--bogus")
    refused("guessed flag", "--insecure-por", "--insecure-por=1")
    refused("port", "must be a port from 0 to 65535", "--insecure-port=70000")
    refused("word", 'takes no arguments, and "word" was given', "word")
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", hollow("--help")[1], re.M))
    assert flags == set(WRONG), "flags in --help"
    for flag, (value, want, *others) in WRONG.items():
        # A flag may be there once only.
        others = [o for o in others if not o.startswith("--%s=" % flag)]
        free = [] if flag == "insecure-port" else ["--insecure-port=0"]
        refused(flag, want, *free, *others, "--%s=%s" % (flag, value))
    refused("watch cache of nothing", "there is no such resource", "--insecure-port=0", "--watch-cache-sizes=cows#5")
    refused(
        "address of no port",
        "--bind-address has no effect without --secure-port",
        "--insecure-port=0",
        "--bind-address=127.0.0.1",
    )
    refused("-v", '--v: invalid value "loud": must be a number', "-v=loud")
    with Api.start(flags=["-v=2"]) as s:
        assert s.stop()[0] == 0, "-v=2"
    code, out, _ = hollow("--help")
    assert code == 0, "--help"
    assert "--load" in out and "Usage:" in out, "--help"
    assert hollow("--version")[1].startswith("Berth hollow-apiserver v1."), ("--version", hollow("--version"))
    with Api.start() as s:
        refused("port taken", "cannot listen on 127.0.0.1:%d" % s.port, "--insecure-port=%d" % s.port)


def test_files():
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "resourceVersion": "77", "uid": "u-1"},
        "status": {"capacity": {"cpu": "4000m"}},
    }
    stored = pod("stored", nodeName="n1")
    lst = write_file(
        "list.json.gz",
        gzip.compress(
            json.dumps(
                {"items": [node, stored, {"kind": "Cow", "apiVersion": "v1"}], "kind": "List", "apiVersion": "v1"}
            ).encode()
        ),
    )
    loose = write_file(
        "loose.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: loose, namespace: other}\nspec:\n  containers:\n"
        "  - {name: c, image: 'i:1', resources: {limits: {cpu: 0.5}}}\n---\n---\napiVersion: v1\nkind: Node\n"
        "metadata: {name: n2}\n",
    )
    scenario = write_file(
        "scenario.json",
        json.dumps(
            {
                "apiVersion": "schedsim/v1",
                "kind": "Scenario",
                "name": "s",
                "algorithmProvider": "DefaultProvider",
                "cluster": {
                    "kind": "List",
                    "apiVersion": "v1",
                    "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}],
                },
                "pods": [{"metadata": {"name": "pending", "labels": {"a": "b"}}, "spec": {"containers": [], "odd": 1}}],
            }
        ),
    )
    kindless = write_file(
        "kindless.json",
        '{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"svc","namespace":"default"},'
        '"spec":{}}]}',
    )
    with Api.start(lst, loose, scenario, kindless) as s:
        _, n1 = s.call("GET", "/api/v1/nodes/n1")
        assert (n1["metadata"]["uid"], n1["status"], "spec" in n1) == (
            "u-1",
            {"capacity": {"cpu": "4000m"}},
            False,
        ), "a List's node is stored as it is"
        assert n1["metadata"]["resourceVersion"] != "77", "with a version of this server"
        _, p = s.call("GET", PODS + "/stored")
        assert p["spec"] == stored["spec"], "a List's pod gets no defaults"
        _, p = s.call("GET", "/api/v1/namespaces/other/pods/loose")
        assert (
            p["spec"]["containers"][0]["resources"]["requests"],
            p["spec"]["schedulerName"],
            p["status"]["phase"],
        ) == ({"cpu": "500m"}, "default-scheduler", "Pending"), "a loose pod gets defaults"
        assert s.call("GET", "/api/v1/namespaces/other")[0] == 200, "its namespace came into being"
        assert s.call("GET", "/api/v1/nodes/n2")[1]["spec"] == {"externalID": "n2"}, "a loose node"
        _, p = s.call("GET", PODS + "/pending")
        assert (p["spec"], p["kind"]) == ({"containers": [], "odd": 1}, "Pod"), "a Scenario's pod"
        assert s.call("GET", "/api/v1/nodes/n3")[0] == 200, "a Scenario's node"
        assert (
            s.call("GET", "/api/v1/namespaces/default/services/svc")[1]["kind"] == "Service"
        ), "the kind of a ServiceList"
        assert [
            i["metadata"]["name"]
            for i in s.call("GET", PODS + "?labelSelector=a%3Db&fieldSelector=spec.nodeName%3D")[1]["items"]
        ] == ["pending"], "selectors see loaded pods"
        assert (
            s.call("POST", PODS + "/pending/binding", {"metadata": {"name": "pending"}, "target": {"name": "n1"}})[0]
            == 201
        ), "binding a loaded pod"
        assert s.call("GET", PODS + "/pending")[1]["spec"]["nodeName"] == "n1", "bound"
        code, _, err = s.stop()
        assert code == 0, "exit on SIGTERM"
        assert "skipped 1 of kind Cow" in err, "skipped kinds are logged"


def test_files_that_are_refused():
    def load(content, name="bad.json"):
        return "--load=" + write_file(name, content)

    refused("missing file", "/nowhere", "--load=/nowhere")
    refused("truncated JSON", "line 1", load('{"kind":"List","items":[{"kind":"Pod"'))
    refused("deep nesting", "nested deeper than", load('{"kind":"Pod","a":' + "[" * 10000))
    refused(
        "wrong type",
        'Pod "default/x": v1.Pod: Spec: readObjectStart',
        load('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"default"},"spec":"x"}'),
    )
    refused(
        "quantity",
        "quantities must match",
        load('{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"},"status":{"capacity":{"cpu":"4 cores"}}}'),
    )
    jobs = "".join(
        "kind: Job\napiVersion: batch/v1\nmetadata: {generateName: backup-}\n"
        "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n---\n"
        for _ in range(2)
    )
    with Api.start(write_file("jobs.yaml", jobs)) as s:
        names = {j["metadata"]["name"] for j in s.call("GET", "/apis/batch/v1/jobs")[1]["items"]}
        assert len(names) == 2 and all(re.fullmatch("backup-[a-z0-9]{5}", n) for n in names), names
    refused("no name", "metadata.name is missing", load('{"kind":"Node","apiVersion":"v1","metadata":{}}'))
    refused(
        "twice",
        'Node "x": Node "x" occurs twice',
        load('{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"}}' * 2),
    )
    refused(
        "one uid twice",
        'Pod "y": metadata.uid: "u-1" is the uid of Pod default/x already',
        load(
            "".join(
                '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","uid":"u-1"},'
                '"spec":{"containers":[{"name":"c","image":"i"}]}}' % n
                for n in "xy"
            )
        ),
    )
    refused(
        "one uid twice in a list",
        'is the uid of Node x already',
        load(
            '{"kind":"List","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"x","uid":"u-1"}},'
            '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"y","uid":"u-1"}}]}'
        ),
    )
    refused("no kind", "without kind", load('{"metadata":{"name":"x"}}'))
    refused("bad YAML", "bad.yaml", load("kind: Pod\n  metadata: {", "bad.yaml"))
    refused(
        "an open quote at the end",
        "line 4, column 1: a quoted text is not closed before this",
        load('kind: Node\nmetadata:\n  name: "x\n', "bad.yaml"),
    )
    refused("broken gzip", "bad.gz", load(gzip.compress(b'{"kind":"List"}')[:-9], "bad.gz"))


def test_requests():
    with Api.start() as s:
        status, body = s.call("POST", PODS, '{"kind":"Pod","x":' + "[" * 10000 + "]" * 10000 + "}")
        assert (status, body["reason"]) == (400, "BadRequest"), "10,000-deep nesting"
        assert "exceeded max depth" in body["message"], "10,000-deep nesting"
        assert s.call("POST", PODS, '{"kind":"Pod","metadata":{"na')[0] == 400, "truncated JSON"
        for name in ("default", "kube-system", "kube-public"):
            status, body = s.call("DELETE", "/api/v1/namespaces/" + name)
            want = 'namespaces "%s" is forbidden: this namespace may not be deleted' % name
            assert (status, body["message"], body["reason"]) == (403, want, "Forbidden"), body
            assert s.call("GET", "/api/v1/namespaces/" + name)[1]["status"]["phase"] == "Active", name
        assert (
            s.call("PATCH", "/api/v1/namespaces/default", '{"a":' * 10000, "application/merge-patch+json")[0] == 500
        ), "a deep patch"
        for quantity, want in (
            ("1" + "0" * 40, 201),
            ("1e99999", 201),
            ("-1", 422),
            ("1.2.3", 400),
            ("", 400),
            ("1" * 5000, 201),
        ):
            p = pod("q%d" % len(quantity) + str(abs(hash(quantity))))
            p["spec"]["containers"][0]["resources"] = {"requests": {"memory": quantity}}
            assert s.call("POST", PODS, p)[0] == want, "quantity %.20r" % quantity
        for wrong in (
            {"metadata": []},
            {"metadata": {"labels": {"a": {}}}},
            {"spec": {"containers": {}}},
            {"spec": {"containers": [5]}},
            {"spec": {"terminationGracePeriodSeconds": "x"}},
            {"spec": {"hostNetwork": "yes"}},
            {"metadata": {"creationTimestamp": 5}},
        ):
            assert s.call("POST", PODS, wrong)[0] == 400, "wrong type in %s" % wrong
        p = pod("huge")
        p["metadata"]["annotations"] = {"a": "x" * 270000}
        assert s.call("POST", PODS, p)[0] == 422, "huge annotations"
        p = pod("huge")
        p["spec"]["containers"][0]["env"] = [{"name": "E%d" % i, "value": "v" * 1000} for i in range(2200)]
        status, body = s.call("POST", PODS, p)
        assert status == 500 and "trying to send message larger than max" in body["message"], "an object beyond 2 MiB"
        assert s.call("POST", PODS, {**pod("fat"), "x": "z" * 4000000})[0] == 201, "unknown fields of 4 MB"
        assert raw(s.port, b"GARBAGE\r\n\r\n").splitlines()[0] == "HTTP/1.1 400 Bad Request", "no HTTP"
        body = b'{"\xc3":"\xff",x}'
        assert '({\\"\\ufffd\\":' in raw(
            s.port, b"POST " + PODS.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        ), "bytes that are no text, quoted in an answer that is"
        assert (
            raw(s.port, b"POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n").splitlines()[
                0
            ]
        ) == "HTTP/1.1 413 Request Entity Too Large", "a body that is too long"
        assert "missing required Host header" in raw(s.port, b"GET / HTTP/1.1\r\n\r\n"), "no Host"
        two = raw(s.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nosuch HTTP/1.1\r\nHost: x\r\n\r\n")
        assert [l for l in two.splitlines() if l.startswith("HTTP/1.1") or "okHTTP" in l] == [
            "HTTP/1.1 200 OK",
            "okHTTP/1.1 404 Not Found",
        ], "pipelined"
        chunked = raw(
            s.port,
            b"POST "
            + PODS.encode()
            + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{bad}\r\n0\r\n\r\n",
        )
        assert "invalid character 'b' looking for beginning of object key string" in chunked, "a chunked body"
        old = raw(s.port, b"GET /api/v1/nodes?watch=1&timeoutSeconds=1 HTTP/1.0\r\n\r\n", half_close=False)
        assert old.startswith("HTTP/1.0 200 OK") and "chunked" not in old, "a watch over HTTP/1.0 has no chunks"
        ended = raw(
            s.port,
            b"GET /api/v1/nodes?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            half_close=False,
        )
        assert ended.endswith("\r\n\r\n0\r\n\r\n"), "a watch ends with an empty chunk"

        # A watch that begins too far in the past.
        s.call("POST", "/api/v1/nodes", {"metadata": {"name": "busy"}})
        for i in range(1010):
            s.call(
                "PATCH", "/api/v1/nodes/busy", {"metadata": {"labels": {"i": str(i)}}}, "application/merge-patch+json"
            )
        gone = raw(
            s.port,
            b"GET /api/v1/nodes?watch=1&resourceVersion=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            half_close=False,
        )
        assert (
            '"type":"ERROR"' in gone and '"reason":"Gone"' in gone and '"code":410' in gone
        ), "a watch from too long ago"

        # A watcher that does not read is cut off, and the others continue.
        slow = socket.create_connection(("127.0.0.1", s.port))
        slow.sendall(
            b"GET /api/v1/namespaces/default/configmaps?watch=1&resourceVersion=%d HTTP/1.1\r\nHost: x\r\n\r\n"
            % int(s.call("GET", "/api/v1/nodes")[1]["metadata"]["resourceVersion"])
        )
        slow.recv(1)
        for i in range(80):
            assert (
                s.call(
                    "POST",
                    "/api/v1/namespaces/default/configmaps",
                    {"metadata": {"name": "cm%d" % i}, "data": {"a": "x" * 1000000}},
                )[0]
            ) == 201, "a large config map"
        slow.settimeout(20)
        total = 0
        try:
            while chunk := slow.recv(1 << 20):
                total += len(chunk)
        except ConnectionError:
            pass
        assert total < 79_000_000, ("the slow watcher is cut", "it was sent %d bytes" % total)
        assert s.call("GET", "/healthz") == (200, "ok"), "the server lives"
        code, _, err = s.stop()
        assert code == 0, "exit on SIGTERM"
        assert "Closing a slow watch: " in err, ("the cut is logged", err[-500:])


harness.main(globals())
