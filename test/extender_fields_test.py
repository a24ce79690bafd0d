#!/usr/bin/env python3
"""Tests that each field of an extender has its effect, in a Policy and in the profiles of every version of the
configuration."""
import contextlib
import http.server
import json
import threading
import time

import harness
from harness import Api, Scheduler, items, node, pod, schedsim, wait_until, write_file

GPU = "vendor.example/gpu-mem"


class Extender:
    """Keeps the node b, gives it the score 10, agrees to preemptions and binds, and notes what it is asked. `always` is
    what it answers instead, or the status."""

    def __init__(self, delay=0.0, always=None):
        self.asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, body))
                time.sleep(delay)
                answer = outer.answer(self.path.rsplit("/", 1)[1], body) if always is None else always
                status, answer = (answer, "") if isinstance(answer, int) else (200, json.dumps(answer))
                answer = answer.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # who asks does not always wait
                    self.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/x" % server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    @staticmethod
    def answer(verb, body):
        member = {k.lower(): v for k, v in body.items()}
        if verb == "filter":
            if member.get("nodenames") is not None:
                return {"nodenames": ["b"], "failedNodes": {n: "not b" for n in member["nodenames"] if n != "b"}}
            nodes = member["nodes"]["items"]
            return {"nodes": {"items": [n for n in nodes if n["metadata"]["name"] == "b"]}, "failedNodes": {}}
        if verb == "prioritize":
            return [{"host": n, "score": 10 if n == "b" else 0} for n in "abc"]
        return {}

    def verbs(self):
        return {path.rsplit("/", 1)[1] for path, _ in self.asked}


def policy(release):
    needs = {"weight": 1} if release == "1.8" else {}  # there also without a score

    def write(**extender):
        fields = {"enableHttps" if k == "enableHTTPS" else k: v for k, v in {**needs, **extender}.items()}
        document = {
            "kind": "Policy",
            "apiVersion": "v1",
            "predicates": [{"name": "GeneralPredicates"}],
            "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
            "extenders": [fields],
        }
        return ["--emulated-version=" + release, "--policy-config-file", write_file("policy.json", document)]

    return write


def profiles(release, version, plugin_config=None):
    def write(**extender):
        if isinstance(extender.get("httpTimeout"), int):
            extender["httpTimeout"] = "%dms" % (extender["httpTimeout"] // 1_000_000)
        return [
            "--emulated-version=" + release,
            "--config",
            write_file(
                "config.json",
                {
                    "kind": "KubeSchedulerConfiguration",
                    "apiVersion": "kubescheduler.config.k8s.io/" + version,
                    "extenders": [extender],
                    "profiles": [{"pluginConfig": plugin_config or []}],
                },
            ),
        ]

    return write


POLICIES = {release + " Policy": policy(release) for release in ("1.8", "1.9", "1.10", "1.13", "1.19")}
OLDEST = ("1.8 Policy", "1.9 Policy", "1.10 Policy")
VERSIONS = [("1.19", "v1beta1"), ("1.29", "v1beta3"), ("1.29", "v1"), ("1.36", "v1")]
FORMS = {**POLICIES, **{" ".join(v): profiles(*v) for v in VERSIONS}}


def place(flags, pods=(), want=None):
    """Returns where the pod p is placed beside nodes a (the emptiest), b and c, or the reason."""
    cluster = [node("a", cpu="64"), node("b", cpu="4"), node("c", cpu="4")]
    status, out, err = schedsim(
        "run", "-", "-o", "json", *flags, feed=items(*cluster, *pods, want or pod("p", cpu="1"))
    )
    assert status == 0, err
    decision = [d for d in json.loads(out)["decisions"] if d["pod"] == "default/p"][0]
    return decision.get("host") or decision["error"]


def wants(resource, where="containers"):
    p = pod("p", cpu="1")
    containers = {"name": "g", "image": "i", "resources": {"requests": {resource: "4"}, "limits": {resource: "4"}}}
    p["spec"].setdefault(where, []).append(containers)
    return p


def test_the_verbs_the_weight_and_the_prefix():
    for name, form in FORMS.items():
        e = Extender()
        assert place(form(urlPrefix=e.url)) == "a" and not e.asked, name
        assert place(form(urlPrefix=e.url, filterVerb="filter")) == "b" and e.verbs() == {"filter"}, (name, e.verbs())
        assert e.asked[0][0] == "/x/filter", e.asked[0]
        assert place(form(urlPrefix=e.url, prioritizeVerb="prioritize", weight=5)) == "b", name
        assert e.verbs() == {"filter", "prioritize"}, (name, e.verbs())
        # A weight that makes no difference beside the nodes' own scores, and one that does.
        other = Extender(always=[{"host": n, "score": 1 if n == "b" else 0} for n in "abc"])
        weak, strong = (place(form(urlPrefix=other.url, prioritizeVerb="prioritize", weight=w)) for w in (1, 40))
        # Scores of rules reach 10 until 1.13, as those of extenders do, and then 100.
        assert (weak, strong) == (weak if name in (*OLDEST, "1.13 Policy") else "a", "b"), (name, weak, strong)


def test_whether_it_gets_names_or_nodes():
    for name, form in FORMS.items():
        for capable in (False, True):
            e = Extender()
            assert place(form(urlPrefix=e.url, filterVerb="filter", nodeCacheCapable=capable)) == "b", name
            body = {k.lower(): v for k, v in e.asked[0][1].items() if v is not None}
            assert ("nodenames" in body, "nodes" in body) == (capable, not capable), (name, body.keys())


def test_the_resources_that_it_manages():
    for name, form in FORMS.items():
        e = Extender()
        managed = dict(urlPrefix=e.url, filterVerb="filter", managedResources=[{"name": GPU}])
        if name in OLDEST[:2]:
            # The field came with release 1.10: before, an extender is asked about every pod, and no resource is left to
            # it.
            assert place(form(**managed)) == "b" and e.asked, name
            managed["managedResources"] = [{"name": GPU, "ignoredByScheduler": True}]
            assert "Insufficient " + GPU in place(form(**managed), want=wants(GPU)), name
            continue
        assert place(form(**managed)) == "a" and not e.asked, name
        assert "Insufficient " + GPU in place(form(**managed), want=wants(GPU)) and not e.asked, name
        managed["managedResources"] = [{"name": GPU, "ignoredByScheduler": True}]
        assert place(form(**managed), want=wants(GPU)) == "b", name
        assert place(form(**managed), want=wants(GPU, "initContainers")) == "b", name
        assert "Insufficient other.example/x" in place(form(**managed), want=wants("other.example/x")), name


def test_the_resources_of_extenders_replace_those_of_the_profile():
    own = [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["own.example/r"]}}]
    for release, version in VERSIONS:
        e, form = Extender(), profiles(release, version, own)
        managed = dict(urlPrefix=e.url, filterVerb="filter", managedResources=[{"name": GPU}])
        assert place(form(**managed), want=wants("own.example/r")) == "a"
        managed["managedResources"] = [{"name": GPU, "ignoredByScheduler": True}]
        assert place(form(**managed), want=wants(GPU)) == "b"
        assert "Insufficient own.example/r" in place(form(**managed), want=wants("own.example/r"))


def test_whether_it_may_fail_how_long_it_may_take_and_https():
    for name, form in FORMS.items():
        dead = dict(urlPrefix="http://127.0.0.1:1/x", filterVerb="filter")
        assert "connection refused" in place(form(**dead)), name
        # Policies know it since release 1.11.
        assert ("connection refused" if name in OLDEST else "a") in place(form(**dead, ignorable=True)), name
        slow = Extender(delay=2)
        assert "within 100ms" in place(form(urlPrefix=slow.url, filterVerb="filter", httpTimeout=100_000_000)), name
        assert place(form(urlPrefix=slow.url, filterVerb="filter", httpTimeout=60_000_000_000)) == "b", name
        plain = Extender()
        https = place(
            form(
                urlPrefix=plain.url.replace("http:", "https:"),
                filterVerb="filter",
                enableHTTPS=True,
                tlsConfig={"insecure": True},
            )
        )
        assert https not in ("a", "b") and not plain.asked, (name, https)


def failing(name, url):
    """Returns the text for status 500 as a release words it."""
    word = "failed" if name.split()[0] in ("1.29", "1.36") else "Failed"
    return "%s do with extender at URL %s, code 500" % (word, url if name in OLDEST else url + "/do")


def test_what_becomes_of_bad_answers():
    """Each answer to a filter, and what a release makes of it: a reason, an error, or the node that is left."""
    every = {"a": "bad a", "b": "bad b", "c": "bad c"}
    for name, form in FORMS.items():
        release = name.split()[0]
        modern = release in ("1.29", "1.36")

        def says(answer, name=name, form=form, **more):
            e = Extender(always=answer)
            said = place(form(urlPrefix=e.url, filterVerb="do", nodeCacheCapable=True, **more))
            assert e.asked, name
            return said.replace(e.url, "URL")

        assert says(500) == failing(name, "URL"), (name, says(500))
        assert (says(500, ignorable=True) == "a") == (name not in OLDEST), name
        assert says({"error": "no way", "nodeNames": ["a"]}) == "no way", name
        assert (says({"error": "no way"}, ignorable=True) == "a") == (name not in OLDEST), name
        assert "expected an object" in says("junk"), name
        reasons = "1 bad a, 1 bad b, 1 bad c." if release != "1.8" else "bad a (1), bad b (1), bad c (1)."
        said = says({"nodeNames": [], "failedNodes": every})
        assert said.endswith(reasons), (name, said)
        # Only later releases know nodes that are refused for good.
        said = says({"nodeNames": [], "failedAndUnresolvableNodes": every})
        assert said.endswith(reasons) if modern else said.endswith(": ."), (name, said)
        said = says({"nodeNames": ["ghost"]})
        refused = 'extender "URL" claims a filtered node "ghost" which is not found in the input node list'
        # Until 1.13 the process ends; here the node is left out.
        assert said == refused if modern or release == "1.19" else said.endswith(": ."), (name, said)
        # Scores that do not come are none.
        e = Extender(always=500)
        assert place(form(urlPrefix=e.url, prioritizeVerb="do", weight=40)) == "a" and e.asked, name


def test_bad_answers_about_preemption():
    """1.13, 1.29 and 1.36 ask: an error ends the preemption unless the extender is ignorable, and a node without
    victims is none."""
    for name, form in FORMS.items():
        if ASKS_ABOUT_VICTIMS[name.split()[0]] != "preempt":
            continue
        for answer, ignorable, victims in (
            (500, False, []),
            (500, True, ["default/v"]),
            ({"nodeNameToMetaVictims": {}}, False, []),
            ({"nodeNameToMetaVictims": {"a": {"pods": [{"uid": "ghost"}]}}}, False, []),
        ):
            e = Extender(always=answer)
            status, out, err = schedsim(
                "run",
                "-",
                "-o",
                "json",
                "--preempt",
                *form(urlPrefix=e.url, preemptVerb="do", ignorable=ignorable),
                feed=items(
                    node("a", cpu="4"), pod("v", cpu="4", on="a", priority=1, uid="v"), pod("p", cpu="4", priority=100)
                ),
            )
            assert status == 0, (name, err)
            [decision] = [d for d in json.loads(out)["decisions"] if d["pod"] == "default/p"]
            assert e.asked and (decision["preemption"] or {}).get("victims", []) == victims, (
                name,
                answer,
                ignorable,
                decision,
            )


# Whom a release asks about preemption: every extender by its filter, those with a preemptVerb by that, or none.
ASKS_ABOUT_VICTIMS = {
    "1.8": "filter",
    "1.9": "filter",
    "1.10": "filter",
    "1.13": "preempt",
    "1.19": None,
    "1.29": "preempt",
    "1.36": "preempt",
}


def test_its_say_in_preemption():
    for name, form in FORMS.items():
        asks = ASKS_ABOUT_VICTIMS[name.split()[0]]
        e = Extender()

        def answer(verb, body, e=e):
            if verb != "preempt":
                return Extender.answer(verb, body)
            # It spares the node a, and on b it wants another victim than the cheapest.
            return {"nodeNameToMetaVictims": {"b": {"pods": [{"uid": "uid-b2"}]}}}

        e.answer = answer
        placed = []
        for uid, where, priority in (("a1", "a", 1), ("b1", "b", 2), ("b2", "b", 3)):
            placed.append(pod(uid, cpu="4", on=where, uid="uid-" + uid, priority=priority))
        flags = ["--feature-gates=PodPriority=true"] if name in OLDEST else []
        status, out, err = schedsim(
            "run",
            "-",
            "-o",
            "json",
            "--preempt",
            *flags,
            *form(urlPrefix=e.url, filterVerb="filter" if asks == "filter" else "", preemptVerb="preempt"),
            feed=items(node("a", cpu="4"), node("b", cpu="8"), *placed, pod("p", cpu="4", priority=100)),
        )
        assert status == 0, (name, err)
        assert ("preempt" in e.verbs()) == (asks == "preempt"), (name, e.verbs())
        [decision] = [d for d in json.loads(out)["decisions"] if d["pod"] == "default/p"]
        victim = {"preempt": "b2", "filter": "b1", None: "a1"}[asks]
        assert decision["preemption"]["victims"] == ["default/" + victim], (name, decision)


def test_the_daemon_asks_it_and_lets_it_bind():
    for name, form in FORMS.items():
        e, api = Extender(), Api.start(flags=["--emulated-version=" + name.split()[0]])
        for n in "ab":
            api.add_node(n)
        s = Scheduler(
            api.url,
            *form(
                urlPrefix=e.url,
                filterVerb="filter",
                bindVerb="bind",
                nodeCacheCapable=True,
                managedResources=[{"name": GPU, "ignoredByScheduler": True}],
            ),
        )
        # The oldest releases leave no resource to extenders.
        api.post("/api/v1/namespaces/default/pods", pod("p") if name in OLDEST[:2] else wants(GPU))
        wait_until("what the extender is asked", e.verbs, containing="bind")
        body = [{k.lower(): v for k, v in b.items()} for path, b in e.asked if path.endswith("bind")][0]
        assert (body["podname"], body["node"]) == ("p", "b"), body
        assert s.stop() == 0


harness.main(globals())
