#!/usr/bin/env python3
"""Tests that the rules are correct and each alert fires when it should, and that a real Prometheus that scrapes the
daemon has data for every panel of the dashboard and evaluates every rule."""
import http.client
import json
import os
import subprocess
import urllib.parse

import harness
from harness import Api, Scheduler, free_port, scratch, wait_until

MONITORING = "hack/deploy/monitoring"


def ok(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_rules():
    ok("promtool", "check", "rules", f"{MONITORING}/rules.yaml")
    ok("promtool", "test", "rules", f"{MONITORING}/rules_test.yaml")


def ask(port, path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        c.request("GET", path)
        r = c.getresponse()
        # Prometheus responds "Service Unavailable", as text, until it has read its own data.
        return None if r.status == 503 else json.loads(r.read())
    except OSError:
        return None
    finally:
        c.close()


def test_dashboard():
    api = Api.start()
    api.add_node("n1")
    scheduler = Scheduler(api.url, leader_elect=True)
    for i in range(5):
        api.add_pod(f"small-{i}")
    api.add_pod("large", cpu="64")
    api.wait_placed(count=5)
    port = free_port()
    with open(scratch("prometheus.yml"), "w") as f:
        json.dump(
            {
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "500ms"},
                "rule_files": [os.path.abspath(f"{MONITORING}/rules.yaml")],
                "scrape_configs": [
                    {"job_name": "scheduler", "static_configs": [{"targets": [f"127.0.0.1:{scheduler.port()}"]}]}
                ],
            },
            f,
        )
    prometheus = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={scratch('prometheus.yml')}",
            f"--storage.tsdb.path={scratch('tsdb')}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=open(scratch("prometheus.out"), "w"),
        stderr=subprocess.STDOUT,
    )
    try:

        def query(text):
            answer = ask(port, "/api/v1/query?query=" + urllib.parse.quote(text))
            assert answer is None or answer["status"] == "success", (text, answer)
            return answer and answer["data"]["result"]

        def scrapes():
            found = query("count_over_time(scheduler_watch_open{resource='pods'}[5m])")
            return int(found[0]["value"][1]) if found else 0

        wait_until("scrapes", scrapes, at_least=3)
        with open(f"{MONITORING}/dashboard.json") as f:
            panels = [p for p in json.load(f)["panels"] if p["type"] != "row"]
        assert len(panels) >= 15, len(panels)
        for p in panels:
            for target in p["targets"]:
                wait_until(f"an answer for panel {p['title']!r}: {target['expr']}", query, target["expr"])

        def rule_groups():
            return (ask(port, "/api/v1/rules") or {}).get("data", {}).get("groups") or []

        def health_of_rules():
            return {r["health"] for g in rule_groups() for r in g["rules"]}

        groups = wait_until("the rules to be evaluated", rule_groups)
        wait_until("healthy rules", health_of_rules, equals={"ok"})
        assert len(groups[0]["rules"]) >= 10
        pending = wait_until(
            "a reason why the large pod waits", query, "sum by (reason) (scheduler_pending_pods_by_reason) > 0"
        )
        reasons = [r["metric"].get("reason") for r in pending]
        assert reasons[0], reasons
    finally:
        prometheus.terminate()
        prometheus.wait(30)
    assert scheduler.stop() == 0


harness.main(globals())
