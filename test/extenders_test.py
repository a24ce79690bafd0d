#!/usr/bin/env python3
"""Extenders with whole programs: schedsim and kube-scheduler ask test/testdata/extender_server.py."""
import json, os, re, subprocess, sys, tempfile, time, urllib.request

BIN = os.path.join(os.path.abspath(os.environ.get("OUT") or "_output"), "bin")
running = []


def check(good, what):
    if not good:
        raise AssertionError(what)


def start(*command, stderr=subprocess.DEVNULL, **kwargs):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, **kwargs)
    running.append(process)
    return process


def call(port, method, path, body=None):
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), method=method, headers={"Content-Type": "application/json"},
                                     data=json.dumps(body).encode() if body else None)
    return urllib.request.urlopen(request, timeout=10).read().decode()


def wait_for(what, condition):
    deadline = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < deadline, "after 60 s still waiting for " + what)
        time.sleep(0.05)


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {
        "allocatable": {"cpu": "64", "memory": "64Gi", "pods": "100"}, "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}], **spec}}


def policy(directory, name, **extender):
    path = os.path.join(directory, name)
    with open(path, "w") as f:
        json.dump({"kind": "Policy", "apiVersion": "v1", "extenders": [extender]}, f)
    return path


def offline(directory, base):
    objects = os.path.join(directory, "objects.json")
    with open(objects, "w") as f:
        f.write("\n".join(json.dumps(o) for o in [node("n%d" % i) for i in range(6)] + [pod("p%d" % i) for i in range(8)]))
    for capable in (False, True):
        file = policy(directory, "even.json", urlPrefix=base + "/even", filterVerb="filter", nodeCacheCapable=capable)
        done = subprocess.run([BIN + "/schedsim", "run", objects, "--policy-config-file", file, "-o", "placements"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, "schedsim: " + done.stderr)
        hosts = [line.split()[1] for line in done.stdout.splitlines()]
        # The extender keeps every second of the nodes that it is asked about.
        check(len(hosts) == 8 and len(set(hosts)) == 3 and "-" not in hosts, "schedsim places on %s" % hosts)
    file = policy(directory, "refuse.json", urlPrefix=base + "/refuse", filterVerb="filter", nodeCacheCapable=True)
    done = subprocess.run([BIN + "/schedsim", "run", objects, "--policy-config-file", file, "-o", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check("Failed filter with extender at URL %s/refuse, code 500" % base in done.stdout, "schedsim: " + done.stdout[:500])


def online(directory, base):
    server = start(BIN + "/hollow-apiserver", "--insecure-port=0")
    port = int(server.stdout.readline().rsplit(":", 1)[1])
    for i in range(4):
        call(port, "POST", "/api/v1/nodes", node("n%d" % i))

    def scheduler(name, **extender):
        log = os.path.join(directory, name + ".log")
        process = start(BIN + "/kube-scheduler", "--master=http://127.0.0.1:%d" % port, "--leader-elect=false", "--address=127.0.0.1",
                        "--port=0", "--scheduler-name=" + name, "--policy-config-file=" + policy(directory, name + ".json", **extender),
                        "--logtostderr", "-v=2", stderr=open(log, "w"))
        wait_for(name + " to serve", lambda: re.search(r"healthz server on 127\.0\.0\.1:(\d+)", open(log).read()))
        return process, int(re.search(r"healthz server on 127\.0\.0\.1:(\d+)", open(log).read()).group(1))

    def get(name):
        return json.loads(call(port, "GET", "/api/v1/namespaces/default/pods/" + name))

    for capable in (False, True):
        name = "names" if capable else "objects"
        process, _ = scheduler(name, urlPrefix=base + "/even", filterVerb="filter", prioritizeVerb="prioritize", weight=5, nodeCacheCapable=capable)
        call(port, "POST", "/api/v1/namespaces/default/pods", pod("by-" + name, schedulerName=name))
        wait_for("the pod of " + name, lambda: get("by-" + name)["spec"].get("nodeName"))
        process.terminate()
        check(process.wait(30) == 0, "kube-scheduler ends with %d" % process.returncode)

    # One that hangs: the pod waits, with a word why; all else goes on meanwhile.
    process, own = scheduler("hanging", urlPrefix=base + "/hang", filterVerb="filter", nodeCacheCapable=True, httpTimeout=3_000_000_000)
    call(port, "POST", "/api/v1/namespaces/default/pods", pod("stuck", schedulerName="hanging"))
    wait_for("the extender to be asked", lambda: "stuck" in open(os.path.join(directory, "hanging.log")).read())
    begin = time.monotonic()
    check(call(own, "GET", "/healthz") == "ok", "healthz while an extender hangs")
    check(time.monotonic() - begin < 2, "healthz waits for an extender")
    wait_for("the reason in the pod's condition", lambda: any(
        "no answer within 3s" in c.get("message", "") for c in get("stuck")["status"].get("conditions") or []))
    process.terminate()
    check(process.wait(30) == 0, "kube-scheduler ends with %d while an extender hangs" % process.returncode)


try:
    with tempfile.TemporaryDirectory() as scratch:
        extender = start(sys.executable, "test/testdata/extender_server.py", stdin=subprocess.PIPE)
        url = "http://127.0.0.1:%d" % int(extender.stdout.readline())
        try:
            offline(scratch, url)
            online(scratch, url)
        except BaseException:
            for file in sorted(os.listdir(scratch)):
                if file.endswith(".log"):
                    print("--- %s\n%s" % (file, open(os.path.join(scratch, file)).read()[-3000:]))
            raise
finally:
    for p in running:
        p.kill()
        p.wait()
print("extenders are asked as they should be")
