#!/usr/bin/env python3
"""Tests the flags of each release: the command lines of installers are accepted, flags that restrict access act, others
say that they have no effect, and what the release refuses is refused."""
import http.client
import json
import os
import socket
import ssl
import subprocess

import harness
from harness import BIN, TLS, Api, Proxy, Scheduler, free_port, scratch, wait_until, write_file

PROGRAM = f"{BIN}/kube-scheduler"
CONF = "--kubeconfig=/etc/kubernetes/scheduler.conf"
DELEGATES = [
    "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
    "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
]
CIPHERS = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256"

# What kubespray gives to 1.29 and 1.36 alike.
KUBESPRAY = [
    "--leader-elect=true",
    "--profiling=False",
    "--feature-gates=",
    "--tls-min-version=VersionTLS12",
    "--tls-cipher-suites=" + CIPHERS,
]

# What installers write into manifests and units, by release.
INSTALLERS = {
    ("1.8", "kubeadm"): ["--address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.8", "kubespray"): ["--leader-elect=true", CONF, "--policy-config-file=/etc/kubernetes/policy.json", "--v=2"],
    ("1.9", "kubeadm"): ["--address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.9", "kops"): ["--kubeconfig=/var/lib/kube-scheduler/kubeconfig", "--leader-elect=true", "--v=2"],
    ("1.10", "kubeadm"): ["--address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.10", "kubespray"): [
        "--leader-elect=true",
        CONF,
        "--policy-config-file=/etc/kubernetes/policy.json",
        "--profiling=false",
        "--v=2",
    ],
    ("1.13", "kubeadm"): ["--address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.13", "kubespray"): [
        "--leader-elect=true",
        CONF,
        "--profiling=false",
        "--feature-gates=",
        "--address=127.0.0.1",
    ],
    ("1.13", "kops"): ["--kubeconfig=/var/lib/kube-scheduler/kubeconfig", "--leader-elect=true", "--v=2"],
    ("1.13", "OpenShift"): [
        "--config="
        + write_file(
            "v1alpha1.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
            "algorithmSource: {provider: DefaultProvider}\n",
        ),
        "--cert-dir=/var/run/kubernetes",
        "-v=2",
    ],
    ("1.19", "kubeadm"): [*DELEGATES, "--bind-address=127.0.0.1", CONF, "--leader-elect=true", "--port=0"],
    ("1.19", "kubespray"): [
        *DELEGATES,
        "--bind-address=0.0.0.0",
        CONF,
        "--leader-elect=true",
        "--profiling=False",
        "--feature-gates=",
        "--port=0",
        "--tls-cipher-suites=" + CIPHERS,
        "--tls-min-version=VersionTLS12",
    ],
    ("1.19", "kops"): [
        "--config="
        + write_file(
            "v1beta1.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n"
            "clientConnection: {kubeconfig: /var/lib/kube-scheduler/kubeconfig}\n"
            "leaderElection: {leaderElect: true}\n",
        ),
        "--leader-elect=true",
        "--v=2",
    ],
    ("1.19", "OpenShift"): [
        CONF,
        "--cert-dir=/var/run/kubernetes",
        "--port=0",
        *DELEGATES,
        "--feature-gates=NodeDisruptionExclusion=true",
        "-v=2",
        "--policy-configmap=policy",
        "--tls-cert-file=/s/tls.crt",
        "--tls-private-key-file=/s/tls.key",
        "--tls-cipher-suites=" + CIPHERS,
        "--tls-min-version=VersionTLS12",
    ],
    ("1.19", "k3s"): [
        "--bind-address=127.0.0.1",
        "--kubeconfig=/k/s.kubeconfig",
        "--port=10251",
        "--profiling=false",
        "--secure-port=0",
    ],
    ("1.29", "kubeadm"): [*DELEGATES, "--bind-address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.29", "kubespray"): [*DELEGATES, "--bind-address=0.0.0.0", CONF, *KUBESPRAY],
    ("1.29", "Talos"): [
        CONF,
        "--authentication-tolerate-lookup-failure=false",
        *DELEGATES,
        "--bind-address=127.0.0.1",
        "--leader-elect=true",
        "--profiling=false",
        "--tls-min-version=VersionTLS13",
    ],
    ("1.29", "kops"): [
        *DELEGATES,
        CONF,
        "--leader-elect=true",
        "--tls-cert-file=/srv/server.crt",
        "--tls-private-key-file=/srv/server.key",
        "--v=2",
        "--logging-format=text",
    ],
    ("1.29", "OpenShift"): [
        CONF,
        "--cert-dir=/var/run/kubernetes",
        *DELEGATES,
        # Gates of other components, which it gives to all of them.
        "--feature-gates=ValidatingAdmissionPolicy=false,StatefulSetStartOrdinal=true",
        "--feature-gates=LegacyServiceAccountTokenCleanUp=true",
        "-v=2",
        "--tls-cert-file=/s/tls.crt",
        "--tls-private-key-file=/s/tls.key",
        "--tls-cipher-suites=" + CIPHERS,
        "--tls-min-version=VersionTLS12",
    ],
    ("1.29", "k3s"): [
        "--authentication-kubeconfig=/k/s.kubeconfig",
        "--authorization-kubeconfig=/k/s.kubeconfig",
        "--bind-address=127.0.0.1",
        "--kubeconfig=/k/s.kubeconfig",
        "--profiling=false",
        "--secure-port=10259",
    ],
    ("1.29", "everything"): [
        CONF,
        *DELEGATES,
        "--authentication-skip-lookup=false",
        "--authentication-token-webhook-cache-ttl=1m",
        "--authorization-always-allow-paths=/healthz,/livez,/readyz",
        "--authorization-webhook-cache-authorized-ttl=5s",
        "--authorization-webhook-cache-unauthorized-ttl=5s",
        "--requestheader-client-ca-file=",
        "--requestheader-allowed-names=front",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--http2-max-streams-per-connection=100",
        "--permit-address-sharing=false",
        "--permit-port-sharing",
        "--show-hidden-metrics-for-version=1.28",
        "--disabled-metrics=x",
        "--allow-metric-labels=a,b=c",
        "--log-json-split-stream",
        "--log-json-info-buffer-size=1Mi",
        "--pod-max-in-unschedulable-pods-duration=5m",
    ],
    ("1.36", "kubeadm"): [*DELEGATES, "--bind-address=127.0.0.1", CONF, "--leader-elect=true"],
    ("1.36", "Talos"): [
        CONF,
        "--authentication-tolerate-lookup-failure=false",
        *DELEGATES,
        "--bind-address=127.0.0.1",
        "--leader-elect=true",
        "--profiling=false",
        "--tls-min-version=VersionTLS13",
        "--config="
        + write_file("v1.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"),
    ],
    ("1.36", "kubespray"): [
        *DELEGATES,
        "--bind-address=::",
        "--config="
        + write_file("v1.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"),
        CONF,
        *KUBESPRAY,
    ],
    ("1.36", "OpenShift"): [
        "--config="
        + write_file("v1.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"),
        "--cert-dir=/var/run/kubernetes",
        *DELEGATES,
        "--feature-gates=DRAResourceClaimDeviceStatus=true",
        "-v=2",
        "--tls-cert-file=/s/tls.crt",
        "--tls-private-key-file=/s/tls.key",
        "--tls-cipher-suites=" + CIPHERS,
        "--tls-min-version=VersionTLS12",
    ],
    ("1.36", "kops"): [
        *DELEGATES,
        CONF,
        "--leader-elect=true",
        "--tls-cert-file=/srv/server.crt",
        "--tls-private-key-file=/srv/server.key",
        "--v=2",
        "--logging-format=text",
    ],
    ("1.36", "k3s"): [
        "--authentication-kubeconfig=/k/s.kubeconfig",
        "--authorization-kubeconfig=/k/s.kubeconfig",
        "--bind-address=127.0.0.1",
        "--kubeconfig=/k/s.kubeconfig",
        "--profiling=false",
        "--secure-port=10259",
    ],
}


def run(*flags):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=60)


def test_command_lines_of_installers():
    for (release, installer), flags in INSTALLERS.items():
        r = run("--emulated-version=" + release, "--write-config-to=" + scratch("written"), *flags)
        assert r.returncode == 0, (release, installer, r.stderr)
        config = write_file(
            "config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        )
        if release == "1.29":
            r = run("--config=" + config, "--write-config-to=" + scratch("written"), *flags)
            assert r.returncode == 0, (release, installer, r.stderr)


def test_what_has_no_effect_is_said_once():
    r = run("--emulated-version=1.29", "--write-config-to=" + scratch("written"), *INSTALLERS["1.29", "everything"])
    assert r.stderr.count("accepted but ignored: ") == 1, r.stderr
    said = r.stderr.partition("accepted but ignored: ")[2].split("\n")[0]
    for flag in (
        "--http2-max-streams-per-connection",
        "--permit-port-sharing",
        "--disabled-metrics",
        "--log-json-split-stream",
    ):
        assert flag in said, said
    assert "--tls" not in said and "--auth" not in said, said


def test_flags_that_the_release_does_not_have():
    for release, flag, says in [
        ("1.8", "--config=x", "unknown flag: --config (release 1.8 does not have it; releases since 1.9 do)"),
        (
            "1.29",
            "--policy-config-file=p.json",
            "unknown flag: --policy-config-file (release 1.29 does not have it; releases before 1.23 do)",
        ),
        ("1.29", "--policy-configmap=", "unknown flag: --policy-configmap "),
        ("1.29", "--algorithm-provider=Nope", "unknown flag: --algorithm-provider "),
        ("1.29", "--use-legacy-policy-config", "unknown flag: --use-legacy-policy-config "),
        (
            "1.29",
            "--requestheader-uid-headers=x",
            "unknown flag: --requestheader-uid-headers (release 1.29 does not have it; releases since 1.32 do)",
        ),
        ("1.29", "--log-file=x", "unknown flag: --log-file "),
        *[
            (release, f"--{flag}={value}", f"unknown flag: --{flag} (release {release} does not have it; ")
            for release in ("1.29", "1.36")
            for flag, value in (
                ("scheduler-name", "other"),
                ("lock-object-name", "other"),
                ("lock-object-namespace", "other"),
                ("hard-pod-affinity-symmetric-weight", "2"),
                ("alsologtostderr", "true"),
                ("log-backtrace-at", "a.go:1"),
                ("log-dir", "/tmp"),
                ("stderrthreshold", "2"),
                ("add-dir-header", "true"),
                ("log-file-max-size", "1"),
                ("one-output", "true"),
                ("skip-headers", "true"),
                ("skip-log-headers", "true"),
            )
        ],
        (
            "1.36",
            "--policy-config-file=p.json",
            "unknown flag: --policy-config-file (release 1.36 does not have it; releases before 1.23 do)",
        ),
        ("1.36", "--algorithm-provider=Nope", "unknown flag: --algorithm-provider "),
        (
            "1.10",
            "--authentication-kubeconfig=x",
            "unknown flag: --authentication-kubeconfig (release 1.10 does not have it; releases since 1.12 do)",
        ),
    ]:
        r = run("--emulated-version=" + release, flag)
        refused = [line for line in r.stderr.splitlines() if line.startswith("Error: " + says)]
        assert r.returncode == 1 and len(refused) == 1, (release, flag, r.stderr)
        assert r.stderr.endswith(". Run kube-scheduler --help for usage.\n"), r.stderr
    r = run("--emulated-version=1.29", "pods")
    said = 'Error: "kube-scheduler" does not take any arguments, got ["pods"]. '
    assert r.returncode == 1 and r.stderr == said + "Run kube-scheduler --help for usage.\n", r.stderr
    config = write_file("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    r = run("--config=" + config, "--policy-config-file=p.json")
    assert r.returncode == 1 and "unknown flag: --policy-config-file" in r.stderr, r.stderr


def test_a_plain_port_and_logs_to_standard_error_may_be_had_in_every_release():
    flags = ["--address=127.0.0.1", "--port=10251", "--logtostderr=true"]
    for release, without in (("1.10", False), ("1.19", False), ("1.29", True), ("1.36", True)):
        r = run("--emulated-version=" + release, *flags, "--write-config-to=" + scratch("written"))
        said = f"accepted, although release {release} does not have them: --address, --port, --logtostderr\n"
        assert r.returncode == 0 and (said in r.stderr) == without, (release, r.stderr)


def test_what_old_releases_do_without_flags():
    """1.8 serves profiles and elects a leader, 1.9 does neither, and only 1.9 and 1.10 say that flags are deprecated.
    From 1.19 on, profiles are served again, also those of contention."""
    for release, profiles, elects, deprecates in (
        ("1.8", True, True, False),
        ("1.9", False, False, True),
        ("1.10", False, True, True),
        ("1.13", False, True, False),
        ("1.19", True, True, False),
        ("1.29", True, True, False),
    ):
        path = scratch("written")
        r = run("--emulated-version=" + release, "--write-config-to=" + path)
        assert r.returncode == 0, r.stderr
        with open(path) as f:
            text = f.read()
        assert f"enableProfiling: {str(profiles).lower()}\n" in text, (release, text)
        assert f"enableContentionProfiling: {str(profiles and release != '1.8').lower()}\n" in text, (release, text)
        assert f"leaderElect: {str(elects).lower()}\n" in text, (release, text)
        assert ("flags other than --config are deprecated" in r.stderr) == deprecates, (release, r.stderr)
        r = run(
            "--emulated-version=" + release, "--leader-elect=" + str(not elects).lower(), "--write-config-to=" + path
        )
        with open(path) as f:
            assert f"leaderElect: {str(not elects).lower()}\n" in f.read(), release


def test_wrong_values_are_named_in_one_line():
    for flag, says in [
        ("--tls-min-version=VersionTLS14", 'unknown tls version "VersionTLS14"'),
        ("--tls-cipher-suites=TLS_NONE", "Cipher suite TLS_NONE not supported"),
        ("--tls-sni-cert-key=a", "expected comma separated certificate and key file paths"),
        ("--permit-port-sharing=maybe", "ParseBool"),
        ("--authorization-always-allow-paths=/a*b", "must have '*' only at its end"),
        ("--authentication-token-webhook-cache-ttl=soon", "invalid duration"),
        ("--http2-max-streams-per-connection=x", "ParseInt"),
        ("--bogus", "unknown flag: --bogus"),
    ]:
        r = run("--emulated-version=1.29", flag)
        assert r.returncode == 1 and says in r.stderr, (flag, r.stderr)
        assert r.stderr.count("\n") == 1 and r.stderr.endswith("Run kube-scheduler --help for usage.\n"), r.stderr


def review(name, groups=()):
    """Answers reviews as an API server to which every token belongs to this user, who may do everything."""

    def answer(method, path):
        if path.endswith("/tokenreviews"):
            return (
                201,
                {"Content-Type": "application/json"},
                json.dumps(
                    {
                        "kind": "TokenReview",
                        "status": {"authenticated": True, "user": {"username": name, "groups": list(groups)}},
                    }
                ),
            )
        if path.endswith("/subjectaccessreviews"):
            return (
                201,
                {"Content-Type": "application/json"},
                json.dumps({"kind": "SubjectAccessReview", "status": {"allowed": True}}),
            )
        return None

    return answer


class Daemon:
    def __init__(self, *flags, answer=None):
        self.api = Api.start(flags=["--emulated-version=1.29"])
        self.proxy = Proxy(self.api.port, answer or review("main"))
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

    def get(self, path, who=None, trust=None, **headers):
        trust = trust or ssl.create_default_context(cafile=f"{TLS}/ca.crt")
        if who:
            trust.load_cert_chain(f"{TLS}/{who}.crt", f"{TLS}/{who}.key")
        c = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trust)
        try:
            c.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            return c.getresponse().status
        finally:
            c.close()

    def asked(self, proxy=None):
        return [
            json.loads(b)["spec"]["user"]
            for _, p, b in (proxy or self.proxy).bodies
            if p.endswith("/subjectaccessreviews")
        ]


def kubeconfig(name, url):
    return write_file(
        name,
        {
            "kind": "Config",
            "apiVersion": "v1",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k"}}],
            "clusters": [{"name": "k", "cluster": {"server": url}}],
        },
    )


def test_reviews_go_to_the_servers_of_their_kubeconfigs():
    api = Api.start(flags=["--emulated-version=1.29"])
    tokens, access = Proxy(api.port, review("of-tokens")), Proxy(api.port, review("of-access"))
    d = Daemon(
        "--authentication-kubeconfig=" + kubeconfig("tokens", tokens.url),
        "--authorization-kubeconfig=" + kubeconfig("access", access.url),
    )
    assert d.get("/metrics", Authorization="Bearer t") == 200
    assert d.asked(access) == ["of-tokens"] and not d.asked() and not d.asked(tokens)
    assert [p for _, p in tokens.seen if p.endswith("extension-apiserver-authentication")]
    assert d.scheduler.stop() == 0
    r = run(
        "--emulated-version=1.29",
        "--authentication-kubeconfig=/nonexistent",
        "--master=http://127.0.0.1:1",
        f"--secure-port={free_port()}",
    )
    assert r.returncode == 1 and "--authentication-kubeconfig: " in r.stderr and "/nonexistent" in r.stderr, r.stderr


def test_paths_that_everybody_may_see():
    def refuse(method, path):
        return (
            (
                201,
                {"Content-Type": "application/json"},
                json.dumps({"kind": "SubjectAccessReview", "status": {"allowed": False}}),
            )
            if path.endswith("/subjectaccessreviews")
            else None
        )

    d = Daemon("--authorization-always-allow-paths=/metrics,/config*", answer=refuse)
    assert [d.get(p) for p in ("/metrics", "/configz", "/healthz", "/other")] == [200, 200, 403, 403]
    assert d.scheduler.stop() == 0


def test_front_proxies_of_flags():
    d = Daemon(
        "--authentication-skip-lookup",
        f"--client-ca-file={TLS}/ca.crt",
        f"--requestheader-client-ca-file={TLS}/stranger.crt",
        "--requestheader-allowed-names=mallory",
        "--requestheader-username-headers=X-Who",
        "--requestheader-group-headers=X-Group",
    )

    def user():
        d.get("/a", "client")
        return d.asked()[-1]

    wait_until("whom a certificate names", user, equals="alice")
    d.get("/b", "stranger", X_Who="bob")
    assert d.asked()[-1] == "bob", d.asked()
    assert not [p for _, p in d.proxy.seen if p.endswith("extension-apiserver-authentication")]
    assert d.scheduler.stop() == 0


def test_a_lookup_that_may_not_fail():
    api = Api.start(flags=["--emulated-version=1.29"])

    def forbid(method, path):
        return (
            (
                403,
                {"Content-Type": "application/json"},
                json.dumps({"kind": "Status", "status": "Failure", "code": 403, "message": "no"}),
            )
            if path.endswith("extension-apiserver-authentication")
            else None
        )

    proxy = Proxy(api.port, forbid)
    r = run(
        "--emulated-version=1.29",
        "--master=" + proxy.url,
        f"--secure-port={free_port()}",
        "--leader-elect=false",
        "--authentication-tolerate-lookup-failure=false",
    )
    assert r.returncode == 1 and "--authentication-tolerate-lookup-failure=false" in r.stderr, r.stderr


def test_versions_and_ciphers():
    def context(most):
        c = ssl.create_default_context(cafile=f"{TLS}/ca.crt")
        c.maximum_version = most
        return c

    d = Daemon("--tls-min-version=VersionTLS13")
    assert d.get("/healthz", trust=context(ssl.TLSVersion.TLSv1_3)) == 200
    try:
        d.get("/healthz", trust=context(ssl.TLSVersion.TLSv1_2))
        raise AssertionError("TLS 1.2 was accepted")
    except (ssl.SSLError, ConnectionError):
        pass
    assert d.scheduler.stop() == 0
    d = Daemon("--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")
    for ciphers, works in (("AES256-GCM-SHA384:ECDHE+AESGCM", True), ("ECDHE+AES128", False)):
        c = context(ssl.TLSVersion.TLSv1_2)
        c.set_ciphers(ciphers)
        try:
            assert d.get("/healthz", trust=c) == 200 and works, ciphers
        except (ssl.SSLError, ConnectionError):
            assert not works, ciphers
    assert d.scheduler.stop() == 0


def test_certificates_by_name():
    def common_name(port, host):
        c = ssl.create_default_context()
        c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
        with c.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20), server_hostname=host) as s:
            return s.getpeercert(binary_form=True)

    def der(name):
        with open(os.path.join(TLS, name), encoding="ascii") as f:
            return ssl.PEM_cert_to_DER_cert(f.read())

    d = Daemon(f"--tls-sni-cert-key={TLS}/client.crt,{TLS}/client.key:*.a.example,b.example")
    for host, name in (
        ("x.a.example", "client.crt"),
        ("B.example", "client.crt"),
        ("x.y.a.example", "server.crt"),
        ("c.example", "server.crt"),
        (None, "server.crt"),
    ):
        assert common_name(d.port, host) == der(name), host
    assert d.scheduler.stop() == 0


def test_flags_of_leader_election_beside_a_file():
    written = scratch("written.yaml")
    flags = [
        "--leader-elect=false",
        "--leader-elect-lease-duration=31s",
        "--leader-elect-renew-deadline=21s",
        "--leader-elect-retry-period=5s",
        "--leader-elect-resource-name=mine",
        "--leader-elect-resource-namespace=ours",
    ]
    for release, version, acts in (("1.19", "v1beta1", False), ("1.29", "v1", True), ("1.36", "v1", True)):
        head = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
        file = write_file("file.yaml", head + "leaderElection: {leaderElect: true, resourceName: of-the-file}\n")
        options = ["--emulated-version=" + release, "--config=" + file, "--write-config-to=" + written]
        done = subprocess.run([PROGRAM, *options, *flags], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        with open(written) as f:
            text = f.read()
        for line in (
            "leaderElect: false",
            "leaseDuration: 31s",
            "renewDeadline: 21s",
            "retryPeriod: 5s",
            "resourceName: mine",
            "resourceNamespace: ours",
        ):
            assert (line in text) == acts, (release, line, text)
        assert ("ignored because --config is given: --leader-elect, " in done.stderr) == (not acts), done.stderr
        # What no flag says is that of the file.
        subprocess.run([PROGRAM, *options, flags[0]], capture_output=True, timeout=60, check=True)
        with open(written) as f:
            assert "resourceName: of-the-file" in f.read(), release


def test_a_locked_gate_cannot_be_set():
    for release in ("1.29", "1.36"):
        words = [PROGRAM, "--emulated-version=" + release, "--feature-gates=ReadWriteOncePod=false"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0, done.stderr
        if release == "1.29":
            assert "cannot set feature gate ReadWriteOncePod to false, feature is locked to true" in done.stderr, done


harness.main(globals())
