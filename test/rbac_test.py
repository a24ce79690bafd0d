#!/usr/bin/env python3
"""hack/deploy/rbac.yaml and rbac-1.29.yaml against what kube-scheduler really asks for: every request it makes in a run with all there is
(failures, preemption, volumes, events that repeat, a Policy ConfigMap, each kind of lock) must be allowed, and every right
that is granted must be used, but for those named here with a reason."""
import json, os, re, socket, subprocess, sys, tempfile, threading, time, urllib.request

from daemon_harness import relay

BIN = os.path.join(os.path.abspath(os.environ.get("OUT") or "_output"), "bin")
# (api group, resource, verb): granted for what this run does not do.
UNUSED = {
    ("", "nodes", "get"): "a bind that says the node is gone",
    ("authentication.k8s.io", "tokenreviews", "create"): "--secure-port",
    ("authorization.k8s.io", "subjectaccessreviews", "create"): "--secure-port",
    ("storage.k8s.io", "csinodes", "watch"): "there are CSINodes on servers from 1.14 on",
    ("extensions", "replicasets", "list"): "asked first, on servers before 1.16",
    ("extensions", "replicasets", "watch"): "asked first, on servers before 1.16",
    ("apps", "replicasets", "list"): "asked when extensions is gone, on servers from 1.16 on",
    ("apps", "replicasets", "watch"): "asked when extensions is gone, on servers from 1.16 on",
}


# Of release 1.29, in place of some of those.
UNUSED_LATER = {
    ("", "nodes", "get"): "a bind that says the node is gone",
    ("", "pods", "get"): "a bind that meets a conflict",
    ("", "persistentvolumeclaims", "update"): "a claim whose volume is to be made",
    ("authentication.k8s.io", "tokenreviews", "create"): "--secure-port",
    ("authorization.k8s.io", "subjectaccessreviews", "create"): "--secure-port",
    ("", "configmaps", "get"): "--secure-port",
}


def rules(file):
    """(kind of role, groups, resources, verbs, names) of each rule; the file keeps one rule a line."""
    out, kind = [], None
    for line in open("hack/deploy/" + file):
        if m := re.match(r"kind: (\w+)", line):
            kind = m.group(1)
        if line.startswith("- {apiGroups:"):
            fields = {k: [v.strip(' "') for v in vs.split(",")] for k, vs in re.findall(r"(\w+): \[([^]]*)\]", line)}
            out.append((kind, fields["apiGroups"], fields["resources"], fields["verbs"], fields.get("resourceNames", [])))
    if len(out) < 10:
        sys.exit("only %d rules found in %s" % (len(out), file))
    return out


def classify(method, target):
    """What RBAC sees of a request: (group, resource, verb, namespace, name); None for what is no resource."""
    path, _, query = target.partition("?")
    m = re.match(r"/(?:api/v1|apis/([^/]+)/[^/]+)(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?$", path)
    if not m:
        return None
    group, ns, resource, name, sub = m.group(1) or "", m.group(2), m.group(3), m.group(4), m.group(5)
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method)
    if verb is None:
        verb = "get" if name else "watch" if "watch=true" in query else "list"
    return group, resource + ("/" + sub if sub else ""), verb, ns, name


class Relay:
    """Passes bytes between a client and the API server, and notes the request lines."""

    def __init__(self, port):
        self.port, self.seen, self.lock = port, set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                client.close()
                continue
            threading.Thread(target=relay, args=(client, server, self.note()), daemon=True).start()
            threading.Thread(target=relay, args=(server, client), daemon=True).start()

    def note(self):
        rest = b""

        def saw(data):
            # JSON bodies hold no bare line ends, so this finds heads only, pipelined or not.
            nonlocal rest
            rest = (rest + data)[-(1 << 17):]
            for method, target in re.findall(rb"(GET|POST|PUT|PATCH|DELETE) (/\S*) HTTP/1\.1\r\n", rest):
                with self.lock:
                    self.seen.add((method.decode(), target.decode()))
        return saw


def call(port, method, path, body=None):
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), method=method,
                                     data=json.dumps(body).encode() if body else None, headers={"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=10))


def pod(name, cpu="100m", priority=None, claim=None):
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    if priority:
        spec["priorityClassName"] = priority
    if claim:
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def wait_for(what, condition, programs):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for p in programs:
            if p.poll() is not None:
                sys.exit("a program ended with %d before %s" % (p.returncode, what))
        if condition():
            return
        time.sleep(0.05)
    sys.exit("after 60 s still waiting for %s" % what)


def run(lock, log, later=False):
    programs = []
    try:
        server = subprocess.Popen([BIN + "/hollow-apiserver", "--insecure-port=0"] + later * ["--emulated-version=1.29"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        programs.append(server)
        port = int(server.stdout.readline().decode().rsplit(":", 1)[1])
        for n in ("n1", "n2"):
            call(port, "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": n}, "status": {
                "allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}})
        scheduling = "scheduling.k8s.io/" + ("v1" if later else "v1alpha1")
        call(port, "POST", "/apis/%s/priorityclasses" % scheduling, {
            "apiVersion": scheduling, "kind": "PriorityClass", "metadata": {"name": "important"}, "value": 1000})
        call(port, "POST", "/apis/storage.k8s.io/v1/storageclasses", {
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
        call(port, "POST", "/api/v1/persistentvolumes", {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
             "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late", "local": {"path": "/x"}}})
        volume = call(port, "GET", "/api/v1/persistentvolumes/pv")
        volume["status"] = {"phase": "Available"}
        call(port, "PUT", "/api/v1/persistentvolumes/pv/status", volume)
        call(port, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "claim", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "resources": {"requests": {"storage": "1Gi"}}}})
        call(port, "POST", "/api/v1/namespaces/kube-system/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scheduler-policy", "namespace": "kube-system"},
            "data": {"policy.cfg": '{"kind":"Policy","apiVersion":"v1"}'}})
        relay = Relay(port)
        scheduler = subprocess.Popen(
            [BIN + "/kube-scheduler", "--master=http://127.0.0.1:%d" % relay.listener.getsockname()[1], "--address=127.0.0.1",
             "--port=0"] + (["--emulated-version=1.29", "--secure-port=0"] if later else [
             "--feature-gates=PodPriority=true", "--policy-configmap=scheduler-policy",
             "--policy-configmap-namespace=kube-system"]) + ["--leader-elect-resource-lock=" + lock, "--lock-object-name=berth-scheduler",
             "--leader-elect-retry-period=200ms", "--leader-elect-renew-deadline=2s", "--leader-elect-lease-duration=3s", "--logtostderr"],
            stdout=subprocess.DEVNULL, stderr=log)
        programs.append(scheduler)

        def placed(name):
            return call(port, "GET", "/api/v1/namespaces/default/pods/" + name)["spec"].get("nodeName")

        def asked(method, pattern):
            return lambda: any(m == method and re.search(pattern, t) for m, t in list(relay.seen))

        pods = "/api/v1/namespaces/default/pods"
        for i in range(2):
            call(port, "POST", pods, pod("low-%d" % i, "900m"))
            wait_for("low-%d to be placed" % i, lambda: placed("low-%d" % i), programs)
        call(port, "POST", pods, pod("volume", "50m", claim="claim"))
        wait_for("the volume to be reserved", asked("PUT", "/persistentvolumes/pv"), programs)
        call(port, "POST", pods, pod("huge", "64"))
        wait_for("a condition", asked("PATCH" if later else "PUT", "/pods/huge/status"), programs)
        # Something changes each time, so that it is tried and fails again: the event is patched.
        n = 0

        def again():
            nonlocal n
            n += 1
            if later:
                # What wakes it there: a pod that is gone.
                call(port, "POST", pods, dict(pod("gone-%d" % n, "1m")))
                wait_for("a pod to be placed", lambda: placed("gone-%d" % n), programs)
                call(port, "DELETE", pods + "/gone-%d" % n, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
                return asked("PATCH", "/events/")()
            node = call(port, "GET", "/api/v1/nodes/n1")
            node["metadata"].setdefault("labels", {})["n"] = str(n)
            call(port, "PUT", "/api/v1/nodes/n1", node)
            return asked("PATCH", "/events/")()

        wait_for("a repeated event", again, programs)
        call(port, "POST", pods, pod("high", "800m", priority="important"))
        wait_for("a preemption", asked("DELETE", "/pods/low-"), programs)
        # There is no kubelet to end the victim.
        for p in call(port, "GET", pods)["items"]:
            if p["metadata"].get("deletionTimestamp"):
                call(port, "DELETE", pods + "/" + p["metadata"]["name"], {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
        wait_for("the preemptor to be placed", lambda: placed("high"), programs)
        wait_for("a renewed lock", asked("PUT", "/%s/berth-scheduler" % lock), programs)
        scheduler.terminate()
        if scheduler.wait(30) != 0:
            sys.exit("kube-scheduler ended with %d" % scheduler.returncode)
        return relay.seen
    finally:
        for p in programs:
            p.kill()
            p.wait()


def check(file, locks, unused, later):
    granted, used, problems = rules(file), set(), []
    for lock in locks:
        with tempfile.TemporaryFile() as log:
            try:
                seen = run(lock, log, later)
            except SystemExit:
                log.seek(0)
                print(log.read().decode(errors="replace")[-5000:])
                raise
        for method, target in sorted(seen):
            what = classify(method, target)
            if what is None:
                problems.append("not a resource: %s %s" % (method, target))
                continue
            group, resource, verb, ns, name = what
            hits = [(kind, g, r, v) for kind, groups, resources, verbs, names in granted for g in groups for r in resources for v in verbs
                    if (g, r, v) == (group, resource, verb) and (not names or name in names) and (kind == "ClusterRole" or ns == "kube-system")]
            if not hits:
                problems.append("not allowed: %s %s (%s %s in group %r)" % (method, target, verb, resource, group))
            used.update(h[1:] for h in hits)
    for kind, groups, resources, verbs, names in granted:
        for right in ((g, r, v) for g in groups for r in resources for v in verbs):
            if right not in used and right not in unused:
                problems.append("granted but never used: %s %s in group %r" % (right[2], right[1], right[0]))
    if problems:
        sys.exit(file + ": " + "\n".join(sorted(set(problems))))
    print("%s has what is used: %d rights" % (file, len(used)))


check("rbac.yaml", ("endpoints", "configmaps", "leases"), UNUSED, False)
check("rbac-1.29.yaml", ("leases",), UNUSED_LATER, True)
