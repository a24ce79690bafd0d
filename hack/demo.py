#!/usr/bin/env python3
"""`make run`: a demo cluster on hollow-apiserver, scheduled by kube-scheduler before your eyes.

Starts both programs on free ports, with simulated controllers and kubelets, and creates the ReplicaSets of
test/testdata/demo/apps.yaml. Shows how their pods are placed, then what lives: a Deployment and its rollout, a
DaemonSet, a StatefulSet with claims, a Job, and a node that is drained. Prints a table and what it learned, and stops
both. Exits 0 when every pod that fits somewhere is bound, every other is reported as unschedulable, and all that lives
came to its end.

OUT=DIR   where the programs are (DIR/bin; default _output)
KEEP=1    leave both programs running, and say how to look at them and how to stop them
RELEASE=1.29  decide as that release does, and show what came with it: topology spread constraints, scheduling gates,
              sidecars
"""
import collections, http.client, json, os, re, signal, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, os.environ.get("OUT") or "_output", "bin")
DATA = os.path.join(ROOT, "test/testdata/demo")
ZONE = "failure-domain.beta.kubernetes.io/zone"
SECONDS = 120  # the demo gives up after this time
APPS = "/apis/apps/v1/namespaces/default"
SETS = APPS + "/replicasets"


class Api:
    """JSON over one kept connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def call(self, method, path, body=None):
        """`body` is an object, or the text of one in YAML."""
        of_text = isinstance(body, str)
        self.connection.request(
            method,
            path,
            body if of_text or body is None else json.dumps(body),
            {"Content-Type": "application/yaml" if of_text else "application/json", "Accept": "application/json"},
        )
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, path, answer.status, text[:300].decode(errors="replace")))
        return json.loads(text)


class Demo:
    def __init__(self):
        self.processes = []
        self.logs = tempfile.mkdtemp(prefix="berth-demo-")
        self.tty = sys.stdout.isatty()

    def start(self, name, *args, **kwargs):
        program = os.path.join(BIN, name)
        if not os.access(program, os.X_OK):
            sys.exit("demo: %s is not there; run make first" % program)
        log = open(os.path.join(self.logs, name + ".log"), "wb")
        process = subprocess.Popen(
            [program, *args], stdin=subprocess.DEVNULL, stderr=log, start_new_session=True, **kwargs
        )
        self.processes.append((name, process))
        return process

    def check_alive(self):
        for name, process in self.processes:
            if process.poll() is not None:
                self.fail("%s ended with status %d" % (name, process.returncode))

    def fail(self, why):
        print("\ndemo: %s" % why)
        for name, _ in self.processes:
            path = os.path.join(self.logs, name + ".log")
            tail = open(path, errors="replace").read().splitlines()[-15:]
            print("--- the end of %s\n%s" % (path, "\n".join(tail)))
        sys.exit(1)

    def stop(self):
        for _, process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for name, process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                print("demo: %s did not stop and was killed" % name)

    def start_both(self, *flags, server_flags=(), scheduler_flags=()):
        server = self.start(
            "hollow-apiserver",
            "--insecure-port=0",
            "--load=%s/nodes.yaml" % DATA,
            *server_flags,
            *flags,
            stdout=subprocess.PIPE
        )
        line = server.stdout.readline().decode()
        match = re.match(r"Serving insecurely on 127\.0\.0\.1:(\d+)", line)
        if not match:
            self.fail("hollow-apiserver did not say where it serves, but %r" % line)
        self.port = int(match.group(1))
        self.api = Api(self.port)
        self.start(
            "kube-scheduler",
            "--master=http://127.0.0.1:%d" % self.port,
            "--leader-elect=false",
            "--address=127.0.0.1",
            "--port=0",
            "--kube-api-qps=5000",
            "--kube-api-burst=5000",
            "--logtostderr",
            "-v=2",
            *scheduler_flags,
            *flags,
            stdout=subprocess.DEVNULL
        )
        self.metrics_port = self.port_of_scheduler()
        self.nodes = {n["metadata"]["name"]: n for n in self.api.call("GET", "/api/v1/nodes")["items"]}

    def port_of_scheduler(self):
        """Returns the port that the system gave to the scheduler's pages, as its log says."""
        begin = time.monotonic()
        while True:
            with open(os.path.join(self.logs, "kube-scheduler.log"), errors="replace") as log:
                match = re.search(
                    r"(?:starting healthz server|Serving healthz insecurely) on 127\.0\.0\.1:(\d+)", log.read()
                )
            if match:
                return int(match.group(1))
            self.check_alive()
            if time.monotonic() - begin > SECONDS:
                self.fail("kube-scheduler did not log where it serves within %d s" % SECONDS)
            time.sleep(0.02)

    def run(self):
        started = time.monotonic()
        self.start_both(
            server_flags=(
                "--simulate=kubelets,controllers",
                "--pod-start-delay=20ms",
                "--pod-stop-delay=20ms",
                "--job-duration=100ms",
            ),
            scheduler_flags=("--enable-ui",),
        )
        zones = collections.Counter(n["metadata"]["labels"][ZONE] for n in self.nodes.values())
        print(
            "A cluster of %d nodes in %d zones on hollow-apiserver (http://127.0.0.1:%d), with simulated "
            "controllers and\n"
            "kubelets, and kube-scheduler beside it. Its page is http://127.0.0.1:%d/ui/."
            % (len(self.nodes), len(zones), self.port, self.metrics_port)
        )
        self.begin = time.monotonic()
        self.sets = []
        self.error = None
        creator = threading.Thread(target=self.create_sets, daemon=True)
        creator.start()
        self.watch(creator)
        waiting = self.pods
        self.living()
        self.pods = [
            p for p in self.api.call("GET", "/api/v1/pods")["items"] if p["status"]["phase"] in ("Pending", "Running")
        ]
        self.table()
        self.pending(waiting)
        self.speed()
        print("\nAll of it took %.1f s." % (time.monotonic() - started))

    def create_sets(self):
        """Creates the Services and ReplicaSets one after another, each when the pods of the one before it are there, so
        that every run has the same order."""
        try:
            api = Api(self.port)
            with open(os.path.join(DATA, "apps.yaml")) as f:
                documents = [d for d in f.read().split("\n---\n") if re.search("^kind:", d, re.M)]
            for text in documents:
                kind = re.search(r"^kind: (\w+)", text, re.M).group(1)
                made = api.call(
                    "POST", {"Service": "/api/v1/namespaces/default/services", "ReplicaSet": SETS}[kind], text
                )
                if kind != "ReplicaSet":
                    continue
                self.sets.append(made)
                path, wanted = "%s/%s" % (SETS, made["metadata"]["name"]), made["spec"]["replicas"]
                while api.call("GET", path).get("status", {}).get("replicas", 0) < wanted:
                    time.sleep(0.005)
        except Exception as e:  # the thread that watches reports it
            self.error = e

    def look(self):
        """Returns where every pod is: by application the bound ones, the unschedulable ones, and the rest."""
        self.pods = self.api.call("GET", "/api/v1/pods")["items"]
        state = collections.defaultdict(lambda: [0, 0, 0])
        for pod in self.pods:
            kind = 0 if pod["spec"].get("nodeName") else 1 if why_pending(pod) else 2
            state[app_of(pod)][kind] += 1
        return state

    def watch(self, creator):
        shown, lines = 0, 0
        while True:
            finished, sets = not creator.is_alive(), list(self.sets)
            self.check_alive()
            if self.error:
                self.fail("creating pods: %s" % self.error)
            state = self.look()
            # A pod can be unschedulable for a moment (a cache has no node yet); only its final state matters.
            done = finished and all(
                state[s["metadata"]["name"]][:2] == [fits(s), s["spec"]["replicas"] - fits(s)] for s in sets
            )
            bound = sum(v[0] for v in state.values())
            if self.tty:
                if lines:
                    print("\033[%dA" % lines, end="")
                lines = 0
                for s in sets:
                    name, n = s["metadata"]["name"], s["spec"]["replicas"]
                    b, u, _ = state[name]
                    width = 40 * b // n
                    print(
                        "  %-8s %4d of %4d bound %s%s%s\033[K"
                        % (name, b, n, "#" * width, "." * (40 - width), "  %d do not fit" % u if u else "")
                    )
                    lines += 1
            elif bound >= shown + 200 or done:
                shown = bound
                print(
                    "  %5.1f s: %4d pods created, %4d bound, %d found unschedulable"
                    % (time.monotonic() - self.begin, len(self.pods), bound, sum(v[1] for v in state.values()))
                )
            if done:
                self.seconds = time.monotonic() - self.begin
                return
            if time.monotonic() - self.begin > SECONDS:
                self.fail(
                    "after %d s not all is as it should be: %s"
                    % (
                        SECONDS,
                        ", ".join(
                            "%s: %d bound, %d unschedulable, %d neither, wanted %d bound of %d"
                            % (s["metadata"]["name"], *state[s["metadata"]["name"]], fits(s), s["spec"]["replicas"])
                            for s in self.sets
                        ),
                    )
                )
            time.sleep(0.1)

    def wait(self, what, function, *args, equals=None):
        """Returns what function(*args) returns once that is true, or what it is to be equal to."""
        deadline = time.monotonic() + SECONDS
        while True:
            self.check_alive()
            found = function(*args)
            if found == equals if equals is not None else found:
                return found
            if time.monotonic() > deadline:
                self.fail("after %d s still waiting for %s" % (SECONDS, what))
            time.sleep(0.02)

    def create(self, path, kind, api_version, name, **members):
        return self.api.call(
            "POST",
            path,
            {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **members},
        )

    def status_of(self, path):
        return self.api.call("GET", path).get("status", {})

    def number_in_status(self, path, name):
        return self.status_of(path).get(name, 0)

    def living(self):
        print("\nWhat controllers and kubelets make of it:\n")
        self.deployment()
        self.daemon_set()
        self.stateful_set()
        self.job()
        self.drain("general-a-000")

    def deployment(self):
        path, n = APPS + "/deployments", 12
        self.create(path, "Deployment", "apps/v1", "shop", spec=workload("shop", replicas=n))
        self.wait("the pods of Deployment shop", self.number_in_status, path + "/shop", "readyReplicas", equals=n)
        shop = self.api.call("GET", path + "/shop")
        shop["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/shop:2"
        shop = self.api.call("PUT", path + "/shop", shop)

        def rolled_out():
            status = self.status_of(path + "/shop")
            return (
                status.get("observedGeneration") == shop["metadata"]["generation"]
                and status.get("updatedReplicas") == status.get("readyReplicas") == status.get("replicas") == n
            )

        self.wait("the rollout of Deployment shop", rolled_out)
        print("  Deployment   shop   %d of %d pods run, then all with a new image" % (n, n))

    def daemon_set(self):
        path = APPS + "/daemonsets"
        self.create(path, "DaemonSet", "apps/v1", "agent", spec=workload("agent"))

        down = sum(1 for node in self.nodes.values() if not is_ready(node) and not node["spec"].get("taints"))

        def everywhere():
            status = self.status_of(path + "/agent")
            n = status.get("desiredNumberScheduled", 0)
            return n if n and status.get("currentNumberScheduled") == n and status.get("numberReady") == n - down else 0

        n = self.wait("the pods of DaemonSet agent", everywhere)
        print(
            "  DaemonSet    agent  a pod on each of %d nodes without a taint; %d of them are down, and their pods wait"
            % (n, down)
        )

    def stateful_set(self):
        path, n = APPS + "/statefulsets", 3
        self.api.call(
            "POST",
            "/apis/storage.k8s.io/v1/storageclasses",
            {"metadata": {"name": "fast"}, "provisioner": "disks.example.com"},
        )
        claim = {
            "metadata": {"name": "data"},
            "spec": {
                "storageClassName": "fast",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        self.create(
            path,
            "StatefulSet",
            "apps/v1",
            "db",
            spec=dict(workload("db", replicas=n), serviceName="db", volumeClaimTemplates=[claim]),
        )
        self.wait("the pods of StatefulSet db", self.number_in_status, path + "/db", "readyReplicas", equals=n)
        claims = self.api.call("GET", "/api/v1/namespaces/default/persistentvolumeclaims")["items"]
        bound = sum(1 for c in claims if c["status"]["phase"] == "Bound")
        print(
            "  StatefulSet  db     %d pods, one after the other, with %d claims that are bound to new volumes"
            % (n, bound)
        )

    def job(self):
        path, n = "/apis/batch/v1/namespaces/default/jobs", 6
        pods = {
            "metadata": {"labels": {"app": "report"}},
            "spec": {"restartPolicy": "Never", "containers": [container("100m")]},
        }
        self.create(path, "Job", "batch/v1", "report", spec={"completions": n, "parallelism": 3, "template": pods})
        self.wait("the end of Job report", self.number_in_status, path + "/report", "succeeded", equals=n)
        print("  Job          report %d of %d pods have ended well, 3 at a time" % (n, n))

    def drain(self, node):
        def pods():
            items = self.api.call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D" + node)["items"]
            return [
                p["metadata"] for p in items if p["metadata"].get("ownerReferences", [{}])[0].get("kind") != "DaemonSet"
            ]

        self.cordon(node, True)
        evicted = pods()
        for meta in evicted:
            self.api.call(
                "POST",
                "/api/v1/namespaces/%s/pods/%s/eviction" % (meta["namespace"], meta["name"]),
                {
                    "apiVersion": "policy/v1beta1",
                    "kind": "Eviction",
                    "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
                },
            )

        def incomplete():
            names = ((s, "%s/%s" % (SETS, s["metadata"]["name"])) for s in self.sets)
            return [path for s, path in names if self.number_in_status(path, "readyReplicas") < fits(s)]

        self.wait("the end of the pods on " + node, pods, equals=[])
        self.wait("their successors", incomplete, equals=[])
        self.cordon(node, False)
        print("  Node         %s was drained: what ran there runs elsewhere, but for the pod of the DaemonSet" % node)

    def cordon(self, name, on):
        path = "/api/v1/nodes/" + name
        node = self.api.call("GET", path)
        node["spec"]["unschedulable"] = on
        self.api.call("PUT", path, node)

    def table(self):
        count, cpu, have, nodes = (collections.Counter() for _ in range(4))
        zones, kinds = set(), set()
        for node in self.nodes.values():
            zone, kind = node["metadata"]["labels"][ZONE], node["metadata"]["labels"]["kind"]
            zones.add(zone)
            kinds.add(kind)
            nodes[kind] += 1
            have[kind] += milli(node["status"]["allocatable"]["cpu"])
        for pod in self.pods:
            node = self.nodes.get(pod["spec"].get("nodeName"))
            if node is None:
                continue
            zone, kind = node["metadata"]["labels"][ZONE], node["metadata"]["labels"]["kind"]
            count[zone, kind] += 1
            cpu[kind] += sum(milli(c["resources"]["requests"].get("cpu", "0")) for c in pod["spec"]["containers"])
        zones, kinds = sorted(zones), sorted(kinds)
        print("\nPods placed, by kind of node and zone:\n")
        print("  %-9s %6s" % ("NODES", "") + "".join("%9s" % z for z in zones) + "%9s   %s" % ("all", "CPU requested"))
        for kind in kinds:
            row = [count[z, kind] for z in zones]
            print(
                "  %-9s %6d" % (kind, nodes[kind])
                + "".join("%9d" % n for n in row)
                + "%9d   %3d%%" % (sum(row), round(100 * cpu[kind] / have[kind]))
            )
        row = [sum(count[z, k] for k in kinds) for z in zones]
        print("  %-9s %6d" % ("all", len(self.nodes)) + "".join("%9d" % n for n in row) + "%9d" % sum(row))

    def pending(self, pods):
        reasons = collections.defaultdict(collections.Counter)
        self.sets.sort(key=lambda s: (fits(s) < s["spec"]["replicas"], -s["spec"]["replicas"]))
        for pod in pods:
            if not pod["spec"].get("nodeName"):
                reasons[app_of(pod)][why_pending(pod)] += 1
        print("\nPods pending, and why:\n")
        for s in self.sets:
            name = s["metadata"]["name"]
            if not reasons[name]:
                continue
            print(
                "  %-9s %d of %d: %s"
                % (
                    name,
                    sum(reasons[name].values()),
                    s["spec"]["replicas"],
                    s["metadata"].get("annotations", {}).get("demo/why", ""),
                )
            )
            for text, n in reasons[name].most_common():
                for part in wrap(text, 104):
                    print("  %-9s %s" % ("", part))

    def speed(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        value = {m.group(1): float(m.group(2)) for m in re.finditer(r"^(\w+) ([0-9.e+-]+)$", text, re.M)}
        name = "scheduler_scheduling_algorithm_latency_microseconds"
        bound = sum(fits(s) for s in self.sets)
        print(
            "\nThe %d pods of the ReplicaSets were created, decided and bound in %.1f s: %.0f a second."
            % (bound, self.seconds, bound / self.seconds)
        )
        if value.get(name + "_count"):
            each = value[name + "_sum"] / value[name + "_count"]
            print(
                "The scheduler's own part was %.0f microseconds for each pod: %s decisions a second."
                % (each, "{:,.0f}".format(1e6 / max(each, 1e-3)))
            )

    def keep(self):
        master = "http://127.0.0.1:%d" % self.port
        print("\nBoth programs go on running. Look at them with")
        print("  kubectl --server=%s get nodes" % master)
        print("  kubectl --server=%s get pods -o wide" % master)
        print("  kubectl --server=%s rollout history deployment shop" % master)
        print("  curl -s http://127.0.0.1:%d/metrics" % self.metrics_port)
        print("Their logs are in %s. Stop them with" % self.logs)
        print("  kill %s" % " ".join(str(p.pid) for _, p in self.processes))


class LaterDemo(Demo):
    """Shows the features of pods of release 1.29, one after the other."""

    def run(self):
        started = time.monotonic()
        # Its pages are on port 10259 with authentication, and the demo needs none of them.
        self.start_both("--emulated-version=1.29", server_flags=("--load=%s/apps.yaml" % DATA,))
        zones = collections.Counter(n["metadata"]["labels"][ZONE] for n in self.nodes.values())
        print(
            "A cluster of %d nodes in %d zones on hollow-apiserver (http://127.0.0.1:%d), and kube-scheduler "
            "beside it,\n"
            "both of release 1.29." % (len(self.nodes), len(zones), self.port)
        )
        self.spread()
        self.gates()
        self.sidecars()
        print("\nAll of it took %.1f s." % (time.monotonic() - started))

    def create_pods(self, app, n, spec):
        for i in range(n):
            self.api.call(
                "POST",
                "/api/v1/namespaces/default/pods",
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "spec": spec,
                    "metadata": {"name": "%s-%04d" % (app, i), "namespace": "default", "labels": {"app": app}},
                },
            )

    def pods_of(self, app):
        return self.api.call("GET", "/api/v1/namespaces/default/pods?labelSelector=app%%3D%s" % app)["items"]

    def wait_for(self, app, what, condition):
        pods = []

        def met():
            pods[:] = self.pods_of(app)
            return condition(pods)

        self.wait(what, met)
        return pods

    def spread(self):
        print("\nTwelve pods that must be spread over the zones, at most one more in a zone than in another:\n")
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "spread"}},
        }
        self.create_pods("spread", 12, {"topologySpreadConstraints": [constraint], "containers": [container("100m")]})
        pods = self.wait_for("spread", "twelve bound pods", are_bound)
        count = collections.Counter(self.nodes[p["spec"]["nodeName"]]["metadata"]["labels"][ZONE] for p in pods)
        for zone, n in sorted(count.items()):
            print("  %-12s %s %d" % (zone, "#" * n, n))
        if max(count.values()) - min(count.values()) > 1:
            self.fail("the zones differ by more than one: %s" % dict(count))

    def gates(self):
        print("\nThree pods with a scheduling gate, which are not tried before it is gone:\n")
        self.create_pods(
            "gated", 3, {"schedulingGates": [{"name": "example.com/quota"}], "containers": [container("100m")]}
        )
        self.create_pods("free", 1, {"containers": [container("100m")]})
        self.wait_for("free", "a pod without gates", are_bound)
        print(
            "  with the gate:    %d of 3 bound, while a pod created after them is bound"
            % sum(1 for p in self.pods_of("gated") if p["spec"].get("nodeName"))
        )
        for pod in self.pods_of("gated"):
            del pod["spec"]["schedulingGates"]
            self.api.call("PUT", "/api/v1/namespaces/default/pods/" + pod["metadata"]["name"], pod)
        self.wait_for("gated", "three bound pods", are_bound)
        print("  without the gate: 3 of 3 bound")

    def sidecars(self):
        largest = max(milli(n["status"]["allocatable"]["cpu"]) for n in self.nodes.values()) // 1000
        main, side = largest * 2 // 3, largest // 3 + 1
        print(
            "\nA pod whose container asks for %d CPUs and whose sidecar asks for %d more, where the largest "
            "node has %d:\n" % (main, side, largest)
        )
        sidecar = dict(container(str(side)), name="sidecar", restartPolicy="Always")
        self.create_pods("sidecar", 1, {"initContainers": [sidecar], "containers": [container(str(main))]})
        pods = self.wait_for("sidecar", "a reason", why_first_is_pending)
        for part in wrap(why_pending(pods[0]), 104):
            print("  " + part)


def workload(app, **members):
    pods = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container("50m")]}}
    return dict(members, selector={"matchLabels": {"app": app}}, template=pods)


def container(cpu):
    return {
        "name": "c",
        "image": "registry.example.com/app:1",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
    }


def fits(replica_set):
    return int(replica_set["metadata"].get("annotations", {}).get("demo/fit", replica_set["spec"]["replicas"]))


def app_of(pod):
    return pod["metadata"]["labels"]["app"]


def why_pending(pod):
    for c in pod.get("status", {}).get("conditions") or []:
        if c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") == "Unschedulable":
            return c.get("message", "")
    return ""


def why_first_is_pending(pods):
    return why_pending(pods[0])


def are_bound(pods):
    return all(p["spec"].get("nodeName") for p in pods)


def is_ready(node):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))


def milli(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else 1000 * int(quantity)


def wrap(text, width):
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += (" " if line else "") + word
    yield line


def main():
    release = os.environ.get("RELEASE") or "1.10"
    if release not in ("1.10", "1.29"):
        sys.exit("demo: RELEASE=%s: must be 1.10 or 1.29" % release)
    demo = LaterDemo() if release == "1.29" else Demo()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    keep = False
    try:
        demo.run()
        keep = os.environ.get("KEEP", "") not in ("", "0")
        if keep:
            demo.keep()
    except KeyboardInterrupt:
        print()
        sys.exit(130)
    except (OSError, http.client.HTTPException, RuntimeError, KeyError, ValueError) as e:
        demo.fail("%s: %s" % (type(e).__name__, e))
    finally:
        if not keep:
            demo.stop()
            if sys.exc_info()[0] is None:
                for name in os.listdir(demo.logs):
                    os.remove(os.path.join(demo.logs, name))
                os.rmdir(demo.logs)


main()
