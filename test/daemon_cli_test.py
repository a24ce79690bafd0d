#!/usr/bin/env python3
"""Tests kube-scheduler's command line, what it prints and its exit status. Also tests HTTPS with access control."""
import http.client
import json
import os
import re
import socket
import ssl
import subprocess

import harness
from harness import (
    BIN,
    Api,
    Proxy,
    Scheduler,
    free_port,
    node,
    pod,
    schedsim,
    scratch,
    wait_until,
    write_file,
    write_objects,
)

PROGRAM = f"{BIN}/kube-scheduler"


def ends(status, *flags, err=None, out=None):
    r = subprocess.run(
        [PROGRAM, "--master=http://127.0.0.1:1", "--port=-1", *flags], capture_output=True, text=True, timeout=30
    )
    assert r.returncode == status, (flags, r.returncode, r.stderr[-800:])
    if err is not None:
        assert err in r.stderr, (flags, err, r.stderr[-1500:])
    if out is not None:
        assert out in r.stdout, (flags, out, r.stdout[:500])
    return r


def test_help_and_version():
    ends(0, "--version", out="Kubernetes v1.10.0")
    ends(0, "--version", out=", emulates the scheduler of Kubernetes 1.10")
    ends(0, "--version=raw", out='version.Info{Major:"1", Minor:"10", GitVersion:"v1.10.0')
    ends(0, "--help", out="Usage:\n  kube-scheduler [flags]")
    ends(0, "-h", out="--policy-config-file string")
    # --version is handled before a broken configuration, but after a broken flag.
    ends(0, "--version", "--config=/nonexistent", out="Kubernetes v")
    ends(1, "--version", "--bogus", err="unknown flag: --bogus")


def test_usage_errors():
    r = ends(1, "--bogus", err="Error: unknown flag: --bogus. Run kube-scheduler --help for usage.\n")
    assert r.stderr.count("\n") == 1, r.stderr
    ends(1, "extra", err="error: no arguments are supported. Run kube-scheduler --help for usage.\n")
    ends(1, "--leader-elect", "false", err="error: no arguments are supported. Run kube-scheduler --help for usage.\n")
    ends(
        1, "-v=9", "extra", err="error: no arguments are supported. Run kube-scheduler --help for usage.\n"
    )  # at any verbosity
    ends(
        1,
        "--failure-domains=x",
        "extra",
        err="Flag --failure-domains has been deprecated, Doesn't have any effect. "
        "Will be removed in future version.\n",
    )


def test_configuration_errors():
    ends(1, "--config=/nonexistent", err="error: open /nonexistent: no such file or directory\n")
    ends(1, f"--config={write_file('c1', 'kind: x')}", err="error: Object 'apiVersion' is missing in 'kind: x'\n")
    head = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    ends(
        1,
        f"--config={write_file('c2', head + 'clientConnection: {qps: fast}')}",
        err=f'error: {scratch("c2")}: clientConnection.qps: invalid value "fast": must be a number\n',
    )
    ends(1, "--kubeconfig=/nonexistent", err="/nonexistent: no such file or directory\n")
    ends(
        1,
        "--tls-cert-file=/x",
        "--secure-port=1",
        err="error: --tls-cert-file and --tls-private-key-file must be given together\n",
    )


def test_algorithm_errors():
    ends(
        1,
        "--algorithm-provider=Nope",
        "--leader-elect=false",
        err='error: couldn\'t create scheduler using provider "Nope": plugin "Nope" has not been registered\n',
    )
    ends(1, "--policy-config-file=/nonexistent", err="error: missing policy config file /nonexistent\n")
    ends(1, "--policy-config-file=/", err="error: couldn't read policy config: read /: is a directory\n")
    ends(1, f"--policy-config-file={write_file('p1', 'predicates: []')}", err="error: invalid policy: ")
    r = ends(
        1,
        "--policy-config-file="
        + write_file(
            "p2",
            json.dumps(
                {
                    "predicates": [{"name": "NoSuch"}, {"name": "NorThis"}],
                    "priorities": [{"name": "Neither", "weight": 1}],
                }
            ),
        ),
        err="error: couldn't create scheduler from policy: ",
    )
    for name in ("NoSuch", "NorThis", "Neither"):
        assert name in r.stderr, f"all mistakes are reported at once: {r.stderr[-500:]}"
    ends(
        1,
        "--hard-pod-affinity-symmetric-weight=0",
        err="invalid hardPodAffinitySymmetricWeight: 0, must be in the range 1-100",
    )


def test_policy_from_a_config_map():
    api = Api.start(write_objects("cluster.json", [node("n0")]))
    maps = "/api/v1/namespaces/kube-system/configmaps"
    ends(
        1,
        f"--master={api.url}",
        "--policy-configmap=p",
        err="error: couldn't get policy config map kube-system/p: configmaps \"p\" not found\n",
    )
    api.post(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}, "data": {"other": "{}"}})
    ends(
        1,
        f"--master={api.url}",
        "--policy-configmap=p",
        err='error: missing policy config map value at key "policy.cfg"\n',
    )
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsResources"}], "priorities": []}
    api.post(
        maps,
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "q"},
            "data": {"policy.cfg": json.dumps(policy)},
        },
    )
    s = Scheduler(api.url, "--policy-configmap=q")
    api.add_pod("p")
    api.wait_placed("p")
    config = json.loads(s.page("/configz")[2])["componentconfig"]
    assert config["AlgorithmSource"]["Policy"]["ConfigMap"] == {"Namespace": "kube-system", "Name": "q"}, config
    assert s.stop() == 0


def test_policy_from_a_config_map_in_later_releases():
    """The Policy has no predicate for resources, so a pod that is too large for the node is placed."""
    maps = "/api/v1/namespaces/kube-system/configmaps"
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}
    for release in ("1.13", "1.19"):
        as_release = f"--emulated-version={release}"
        api = Api.start(write_objects("cluster.json", [node("n0")]), flags=[as_release])
        ends(
            1,
            as_release,
            f"--master={api.url}",
            "--port=0",
            "--secure-port=0",
            "--leader-elect=false",
            "--policy-configmap=p",
            err="couldn't get policy config map kube-system/p: configmaps \"p\" not found\n",
        )
        api.post(
            maps,
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "p"},
                "data": {"policy.cfg": json.dumps(policy)},
            },
        )
        s = Scheduler(api.url, as_release, "--policy-configmap=p", name=release, bare=True)
        api.add_pod("large", cpu="1000")
        api.wait_placed("large")
        assert s.stop() == 0


def test_configuration_is_written_and_read_back():
    path = scratch("written.yaml")
    ends(
        0,
        "--port=10251",
        f"--write-config-to={path}",
        "--scheduler-name=other",
        "--kube-api-qps=7",
        err=f"Wrote configuration to: {path}",
    )
    again = scratch("again.yaml")
    ends(0, f"--config={path}", f"--write-config-to={again}")
    with open(path) as a, open(again) as b:
        text = a.read()
        assert text == b.read()
    assert "schedulerName: other\n" in text and "qps: 7\n" in text, text


# The version that each release writes, and flags of it that decide.
WRITTEN = {
    "1.9": ("componentconfig/v1alpha1", ["--algorithm-provider=ClusterAutoscalerProvider"]),
    "1.10": ("componentconfig/v1alpha1", ["--algorithm-provider=ClusterAutoscalerProvider"]),
    "1.13": ("kubescheduler.config.k8s.io/v1alpha1", ["--algorithm-provider=ClusterAutoscalerProvider"]),
    "1.19": (
        "kubescheduler.config.k8s.io/v1beta1",
        ["--algorithm-provider=ClusterAutoscalerProvider", "--hard-pod-affinity-symmetric-weight=7"],
    ),
    "1.29": ("kubescheduler.config.k8s.io/v1", ["--leader-elect-resource-name=other"]),
    "1.36": ("kubescheduler.config.k8s.io/v1", ["--leader-elect-resource-name=other"]),
}


def written(name, *flags):
    """Returns the file that is written with these flags, its text, and what is said."""
    path = scratch(name)
    r = subprocess.run([PROGRAM, f"--write-config-to={path}", *flags], capture_output=True, text=True, timeout=30)
    assert r.returncode == 0 and f"Wrote configuration to: {path}" in r.stderr, (flags, r.stderr[-800:])
    with open(path) as f:
        return path, f.read(), r.stderr


def test_configuration_is_written_in_the_version_of_the_release():
    for release, (version, flags) in WRITTEN.items():
        emulated = f"--emulated-version={release}"
        path, text, _ = written("written.yaml", emulated, *flags)
        assert f"apiVersion: {version}\n" in text, (release, text)
        again, second, _ = written("again.yaml", emulated, f"--config={path}")
        if "/v1alpha1" in version:
            assert text == second and "provider: ClusterAutoscalerProvider\n" in text, text
            continue
        # Profiles are copied from a file as they are, so that the third text is the second one, and both run the same.
        assert written("third.yaml", emulated, f"--config={again}")[1] == second, second
        reports = []
        for file in (path, again):
            r = subprocess.run(
                [f"{BIN}/schedsim", "check", emulated, "-o", "json", file], capture_output=True, text=True
            )
            reports.append(json.loads(r.stdout))
            assert r.returncode == 0 and reports[-1]["emulatedVersion"] == release, r
        assert reports[0]["profiles"] == reports[1]["profiles"], reports
        if release == "1.19":
            score = {p["name"] for p in reports[0]["profiles"][0]["plugins"]["score"]}
            assert "NodeResourcesMostAllocated" in score and "NodeResourcesLeastAllocated" not in score, text
            assert "hardPodAffinityWeight: 7" in text, text
        else:
            assert "resourceName: other\n" in text, text


def test_profiles_of_a_file_are_written_as_they_are():
    profiles = [
        {"schedulerName": "a", "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}},
        {"schedulerName": "b"},
    ]
    given = write_file(
        "given.yaml",
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "percentageOfNodesToScore": 30,
                "profiles": profiles,
            }
        ),
    )
    text = written("written.yaml", "--config=" + given)[1]
    block = """
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- schedulerName: a
  plugins:
    score:
      disabled:
      - name: ImageLocality
- schedulerName: b
"""
    assert block in text, text
    policy = write_file("policy.json", json.dumps({"kind": "Policy", "apiVersion": "v1"}))
    said = written("written.yaml", "--emulated-version=1.19", "--policy-config-file=" + policy)[2]
    assert "--policy-config-file cannot be expressed in the file" in said, said


def test_gates_of_1_36_reach_the_profiles():
    """A toleration that compares numbers counts only with its gate, with flags alone and with a file, and in a
    replay."""
    numbered = pod("p", tolerations=[{"key": "k", "operator": "Gt", "value": "3", "effect": "NoSchedule"}])
    objects = write_objects(
        "cluster.json", [node("n0", taints=[{"key": "k", "value": "5", "effect": "NoSchedule"}]), numbered]
    )
    given = write_file(
        "given.yaml",
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
            }
        ),
    )
    for i, (source, gate) in enumerate(
        (s, g) for s in ("--leader-elect=false", "--config=" + given) for g in (False, True)
    ):
        api = Api.start(objects, flags=["--emulated-version=1.36"])
        folder = scratch("gated-%d" % i)
        s = Scheduler(
            api.url,
            "--emulated-version=1.36",
            source,
            f"--feature-gates=TaintTolerationComparisonOperators={str(gate).lower()}",
            "--record-dir=" + folder,
            bare=True,
            name="gated-%d" % i,
        )
        wait_until("a decision", api.conditions, "p")
        assert (api.placements()["p"] == "n0") == gate, (source, gate, api.pods()["p"])
        assert s.stop() == 0
        status, out, err = schedsim("replay", folder, "--check")
        assert status == 0, (source, gate, out, err)


def test_a_provider_beside_a_configuration_of_1_19():
    """Profiles change the plugins of the provider, in the daemon and in schedsim, and no file says which provider it
    was."""
    given = write_file(
        "given.yaml",
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
                "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
                "profiles": [{"plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}}}],
            }
        ),
    )
    provider = "--algorithm-provider=ClusterAutoscalerProvider"
    said = written("written.yaml", "--config=" + given, provider)[2]
    assert "--algorithm-provider cannot be expressed in the file; pass it again together with --config=" in said, said
    objects = write_objects(
        "cluster.json", [node("n0", cpu="4"), node("n1", cpu="8")] + [pod("p%d" % i, cpu="1") for i in range(4)]
    )
    for flags, nodes in (([], {"n0", "n1"}), ([provider], {"n0"})):
        status, out, err = schedsim("run", objects, "--config", given, "-o", "placements", *flags)
        assert status == 0 and {line.split()[1] for line in out.splitlines()} == nodes, (flags, out, err)
        api = Api.start(objects, flags=["--emulated-version=1.19"])
        folder = scratch("recorded-%d" % len(flags))
        s = Scheduler(api.url, "--config=" + given, "--record-dir=" + folder, *flags, bare=True)
        api.wait_placed(*("p%d" % i for i in range(4)))
        assert set(api.placements().values()) == nodes, (flags, api.placements())
        assert s.stop() == 0
        status, out, err = schedsim("replay", folder, "--check")
        assert status == 0, (flags, out, err)
    for flag, text in (
        ("--algorithm-provider=Nope", 'algorithm provider "Nope" is not registered'),
        ("--policy-config-file=p.json", "give either --config or"),
    ):
        status, _, err = schedsim("run", objects, "--config", given, flag)
        assert status in (1, 2) and text in err, (flag, status, err)


def test_log_lines():
    r = ends(1, "-v=1", "--algorithm-provider=Nope", "--leader-elect=false")
    line = next(l for l in r.stderr.splitlines() if "--algorithm-provider" in l)
    assert re.fullmatch(r'I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] FLAG: --algorithm-provider="Nope"', line), line
    r = ends(1, "--logging-format=json", "--algorithm-provider=Nope", "--leader-elect=false")
    lines = [json.loads(l) for l in r.stderr.splitlines() if l.startswith("{")]
    assert any(l["msg"].startswith("Version: v1.10.0") and l["severity"] == "INFO" for l in lines), r.stderr


def test_https_with_access_control():
    api = Api.start()

    def review(method, path):
        if path.endswith("/tokenreviews"):
            return (
                201,
                {"Content-Type": "application/json"},
                json.dumps(
                    {
                        "apiVersion": "authentication.k8s.io/v1",
                        "kind": "TokenReview",
                        "status": {
                            "authenticated": True,
                            "user": {"username": "monitor", "groups": ["system:authenticated"]},
                        },
                    }
                ),
            )
        if path.endswith("/subjectaccessreviews"):
            return (
                201,
                {"Content-Type": "application/json"},
                json.dumps(
                    {
                        "apiVersion": "authorization.k8s.io/v1",
                        "kind": "SubjectAccessReview",
                        "status": {"allowed": allowed["now"]},
                    }
                ),
            )
        return None

    allowed = {"now": True}
    proxy = Proxy(api.port, review)
    port = free_port()
    certs = scratch("certs")
    os.mkdir(certs)
    s = Scheduler(proxy.url, f"--secure-port={port}", "--bind-address=127.0.0.1", f"--cert-dir={certs}")
    s.wait_for_log(f"starting secure server on 127.0.0.1:{port}")
    trust = ssl.create_default_context(cafile=os.path.join(certs, "kube-scheduler.crt"))

    def page(path, token=None):
        c = http.client.HTTPSConnection("localhost", port, timeout=10)
        # The certificate is for localhost, a name that some machines cannot resolve.
        c.sock = trust.wrap_socket(
            socket.create_connection(("127.0.0.1", port), timeout=10), server_hostname="localhost"
        )
        c.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, body

    assert page("/healthz") == (200, "ok")
    status, text = page("/metrics", "secret")
    assert status == 200 and "scheduler_binding_latency_microseconds_count 0" in text, (status, text[:200])
    assert "\nscheduler_access_answers 2\n" in text  # the user, and the user's permission
    allowed["now"] = False
    status, text = page("/configz", "secret")
    assert (status, text) == (403, 'Forbidden: User "monitor" cannot get path "/configz"\n'), (status, text)
    assert page("/configz")[0] == 403
    assert oct(os.stat(os.path.join(certs, "kube-scheduler.key")).st_mode)[-3:] == "600"
    assert s.stop() == 0


def test_https_with_certificates_of_ones_own():
    """The given certificate is presented, and a client whose certificate the authority signed is identified by it."""
    api = Api.start()
    asked = []

    def review(method, path):
        if not path.endswith("/subjectaccessreviews"):
            return None
        asked.append(path)
        return (
            201,
            {"Content-Type": "application/json"},
            json.dumps(
                {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": {"allowed": False}}
            ),
        )

    proxy, port = Proxy(api.port, review), free_port()
    tls = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "hollow-tls")
    s = Scheduler(
        proxy.url,
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--tls-cert-file={tls}/server.crt",
        f"--tls-private-key-file={tls}/server.key",
        f"--client-ca-file={tls}/ca.crt",
    )
    s.wait_for_log(f"starting secure server on 127.0.0.1:{port}")

    def page(path, who=None):
        trust = ssl.create_default_context(cafile=f"{tls}/ca.crt")
        if who:
            trust.load_cert_chain(f"{tls}/{who}.crt", f"{tls}/{who}.key")
        c = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trust)
        c.request("GET", path)
        r = c.getresponse()
        return r.status, r.read().decode()

    assert page("/healthz") == (200, "ok")
    assert page("/metrics", "client") == (403, 'Forbidden: User "alice" cannot get path "/metrics"\n')
    assert page("/metrics") == (403, 'Forbidden: User "system:anonymous" cannot get path "/metrics"\n')
    assert len(asked) == 2, asked
    assert page("/metrics", "client")[0] == 403 and len(asked) == 2, "answers are kept for a while"
    assert s.stop() == 0


harness.main(globals())
