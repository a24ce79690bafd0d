#!/usr/bin/env python3
"""Tests what a kube-scheduler says of itself: its version is that of the emulated release, its metrics are valid text,
and errors are blamed on who made them."""
import json
import re
import shutil
import subprocess

import harness
from harness import BIN, ROOT, Api, ExtenderServer, Proxy, Scheduler, node, pod, wait_until, write_file, write_objects

V1 = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
# Node affinity that a profile adds to its pods.
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
ADDED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}
RELEASES = {
    "1.8": "v1.8.15-berth",
    "1.9": "v1.9.11-berth",
    "1.10": "v1.10.0-berth",
    "1.13": "v1.13.4-berth",
    "1.19": "v1.19.16-berth",
    "1.29": "v1.29.14-berth",
    "1.36": "v1.36.3-berth",
}


def test_versions():
    for release, version in RELEASES.items():
        out = subprocess.run(
            [f"{BIN}/kube-scheduler", "--emulated-version=" + release, "--version"], capture_output=True, text=True
        ).stdout
        assert (
            out.startswith(f"Kubernetes {version}") and f"emulates the scheduler of Kubernetes {release}\n" in out
        ), out
        assert "\nBerth v1.10.0-berth" in out, out
    out = subprocess.run(
        [f"{BIN}/kube-scheduler", "--config=" + write_file("c.json", V1), "--version"], capture_output=True, text=True
    ).stdout
    assert out.startswith("Kubernetes v1.29.14-berth"), out


def test_a_daemon_names_its_release_and_its_metrics_are_valid():
    for release, version in RELEASES.items():
        api = Api.start(
            write_objects("cluster.json", [node("n0", cpu="4"), pod("p", cpu="1"), pod("big", cpu="99")]),
            flags=["--emulated-version=" + release],
        )
        proxy = Proxy(api.port)
        s = Scheduler(proxy.url, "--emulated-version=" + release)
        api.wait_placed("p")
        wait_until(
            "the other refused", s.total, "scheduler_schedule_attempts_total", 'result="unschedulable"', at_least=1
        )
        page = s.page("/metrics")[2]
        info = re.search(r"kubernetes_build_info\{.*\}", page)[0]
        assert f'gitVersion="{version}' in info and 'minor="%s"' % release.split(".")[1] in info, info
        families = re.findall(r"(?m)^# HELP (\S+)", page)
        assert len(families) == len(set(families)), sorted(f for f in families if families.count(f) > 1)
        if shutil.which("promtool"):
            r = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
            assert "error" not in r.stderr.lower().split("\n")[0] and r.returncode in (0, 3), r.stderr[:500]
        assert version in s.log(), s.log()[:300]
        assert s.stop() == 0


def test_probes_and_pages_of_1_36():
    """kubeadm's manifests of that release probe /livez and /readyz."""
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=1.36"])
    gate = Proxy(api.port)
    s = Scheduler(gate.url, "--emulated-version=1.36", "--leader-elect=true")
    wait_until("ready", s.status, "/readyz", equals=200)
    assert s.page("/livez?verbose")[2] == "[+]ping ok\nlivez check passed\n"
    wait_until("the lease", s.status, "/healthz", equals=200)
    ready = s.page("/readyz?verbose")[2]
    assert ready == "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n", ready
    assert s.page("/readyz/sched-handler-sync")[2] == "ok" and s.page("/livez/leaderElection")[0] == 404
    status = s.page("/statusz")[2]
    assert re.search(r"(?m)^Started  \w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$", status) and re.search(
        r"(?m)^Up  \d+ hr \d\d min \d\d sec$", status
    ), status
    assert (
        "\nBinary version  1.36.3\nEmulation version  1.36\nPaths  /configz /flagz /healthz /livez /metrics /readyz\n"
        in status
    ), status
    flags = s.page("/flagz")[2]
    assert flags.startswith("kube-scheduler flagz\nWarning: ") and "\nemulated-version=1.36\n" in flags, flags
    shown = json.loads(s.page("/configz")[2])["componentconfig"]
    assert list(shown)[:5] == ["kind", "apiVersion", "parallelism", "leaderElection", "clientConnection"], shown
    assert (shown["kind"], shown["clientConnection"]["qps"]) == ("KubeSchedulerConfiguration", 1000), shown
    [profile] = shown["profiles"]
    assert profile["schedulerName"] == "default-scheduler" and profile["plugins"]["permit"] == {}, profile
    assert {"name": "TaintToleration", "weight": 3} in profile["plugins"]["multiPoint"]["enabled"], profile
    metrics = s.page("/metrics")[2]
    assert 'scheduler_cache_size{type="nodes"} 1' in metrics and "scheduler_scheduler_cache_size" not in metrics
    assert "scheduler_pod_scheduling_duration_seconds" not in metrics
    slis = s.page("/metrics/slis")[2]
    for name, page in (
        ("leaderElection", "healthz"),
        ("leaderElection", "readyz"),
        ("ping", "livez"),
        ("shutdown", "readyz"),
        ("sched-handler-sync", "readyz"),
    ):
        assert f'\nkubernetes_healthcheck{{name="{name}",type="{page}"}} 1\n' in slis, slis
        total = f'kubernetes_healthchecks_total{{name="{name}",status="success",type="{page}"}} '
        assert re.search(total + "[1-9]", slis), slis
    assert "status=\"error\",type=\"livez\"" not in slis and "\nprocess_start_time_seconds " in slis, slis
    assert s.stop() == 0
    older = Scheduler(api.url, "--emulated-version=1.29")
    assert [older.page(p)[0] for p in ("/livez", "/readyz", "/statusz", "/flagz")] == [404] * 4
    assert older.page("/healthz")[0] == 200 and 'name="ping",type="healthz"} 1' in older.page("/metrics/slis")[2]
    assert older.stop() == 0
    oldest = Scheduler(api.url, "--emulated-version=1.19")
    assert [oldest.page(p)[0] for p in ("/livez", "/readyz", "/metrics/resources", "/metrics/slis")] == [404] * 4
    assert oldest.page("/metrics")[0] == 200
    assert oldest.stop() == 0


def configz(release, config):
    """Returns what /configz shows under a configuration, and the file's own clientConnection."""
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=" + release])
    kubeconfig = write_file("kubeconfig", json.dumps({"apiVersion": "v1", "kind": "Config"}))
    connection = {"kubeconfig": kubeconfig, "contentType": "application/json"}
    given = write_file("configz.json", json.dumps({**V1, "clientConnection": connection, **config}))
    s = Scheduler(api.url, "--emulated-version=" + release, "--config=" + given, bare=True, name="configz-" + release)
    shown = json.loads(s.page("/configz")[2])["componentconfig"]
    assert s.stop() == 0
    return shown, kubeconfig


def test_configz_is_what_the_release_shows():
    for release, (connection, file), accept in (
        ("1.29", ("ClientConnection", "Kubeconfig"), ""),
        ("1.36", ("clientConnection", "kubeconfig"), "application/json"),
    ):
        with open(f"{ROOT}/test/testdata/configz/{release}.json") as f:
            theirs = json.load(f)["componentconfig"]
        ours, path = configz(release, {})
        assert ours[connection][file] == path, ours
        theirs[connection][file] = path
        # The file of the recording says so.
        ours[connection].update({name: accept for name in ours[connection] if name.lower().startswith("accept")})
        if release == "1.29":  # a plain port is open in this test
            ours.update({"HealthzBindAddress": "", "MetricsBindAddress": ""})
        assert json.dumps(ours) == json.dumps(theirs), (release, json.dumps(ours), json.dumps(theirs))


def test_configz_has_what_a_file_changes():
    profile = {
        "schedulerName": "mine",
        "plugins": {
            "multiPoint": {"enabled": [{"name": "ImageLocality", "weight": 5}], "disabled": [{"name": "VolumeZone"}]},
            "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity", "weight": 2}]},
        },
        "pluginConfig": [
            {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 7}},
            {"name": "NodeAffinity", "args": {"addedAffinity": ADDED}},
        ],
    }
    extender = {"urlPrefix": "http://user:hunter2@127.0.0.1:1/e", "filterVerb": "f", "httpTimeout": "3s", "weight": 1}
    for release, document in (("1.29", False), ("1.36", True)):
        shown, _ = configz(release, {"profiles": [profile], "extenders": [extender]})
        assert "hunter2" not in json.dumps(shown), shown
        [p] = shown["profiles" if document else "Profiles"]

        def small(name, document=document):
            return name if document else name[0].upper() + name[1:]

        plugins = p[small("plugins")]
        multi = plugins[small("multiPoint")]
        listed = [(x[small("name")], x[small("weight")]) for x in multi[small("enabled")]]
        assert ("ImageLocality", 5) in listed and "VolumeZone" not in [name for name, _ in listed], listed
        assert multi[small("disabled")] == [{small("name"): "VolumeZone", small("weight"): 0}], multi
        assert plugins[small("score")][small("enabled")] == [{small("name"): "NodeAffinity", small("weight"): 2}]
        args = [(c[small("name")], c[small("args")]) for c in p[small("pluginConfig")]]
        assert [name for name, _ in args[:3]] == ["VolumeBinding", "NodeAffinity", "DefaultPreemption"], args
        assert args[0][1][small("bindTimeoutSeconds")] == 7 and args[1][1][small("addedAffinity")] == ADDED, args
        [e] = shown["extenders" if document else "Extenders"]
        url = "http://user:***@127.0.0.1:1/e"
        assert (e["urlPrefix"], e["httpTimeout"]) == (url, "3s") if document else e["URLPrefix"] == url, e
        assert document == ("bindVerb" not in e and "BindVerb" not in e), e


def test_it_is_not_ready_before_it_has_seen_the_cluster():
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=1.36"])
    closed = Proxy(api.port, {" /api/v1/nodes": (503, {}, "")})
    s = Scheduler(closed.url, "--emulated-version=1.36")
    wait_until("it serves", s.status, "/livez", equals=200)
    assert (
        s.page("/readyz")[0] == 500
        and s.page("/readyz/sched-handler-sync")[2] == "internal server error: handlers are not fully synchronized\n"
    )
    s.stop()


def test_errors_of_extenders_that_bind_are_theirs():
    base = ExtenderServer().url
    for url, says in (
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/bind"),
        (base + "/refuse", f"failed bind with extender at URL {base}/refuse/bind, code 500"),
    ):
        api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=1.29"])
        s = Scheduler(
            api.url, "--config=" + write_file("c.json", {**V1, "extenders": [{"urlPrefix": url, "bindVerb": "bind"}]})
        )
        api.add_pod("p")

        def message():
            return " ".join(c.get("message", "") for c in api.conditions("p"))

        wait_until("the reason", message)
        assert says in message() and "DefaultBinder" not in message(), message()
        assert s.stop() == 0


harness.main(globals())
