#!/usr/bin/env python3
"""The README is true: every `sh` block runs, in order, in a copy of the tree; links lead somewhere; the tables of
algorithms and of bugs are complete; the plugin of plugin/README.md compiles, is listed and runs."""
import os, re, shutil, signal, socket, subprocess, sys, tempfile

OUT = os.path.abspath(os.environ.get("OUT") or "_output")
problems = []


def problem(text):
    problems.append(text)
    print("FAILED: " + text, flush=True)


def blocks(path, language):
    """(line number, words behind the language, the line before, text) of each fenced block."""
    lines = open(path).read().split("\n")
    i = 0
    while i < len(lines):
        match = re.match(r"```(\w+)\s*(.*)$", lines[i])
        if not match:
            i += 1
            continue
        end = i + 1
        while lines[end] != "```":
            end += 1
        if match.group(1) == language:
            yield i + 1, match.group(2), lines[i - 1], "\n".join(lines[i + 1:end]) + "\n"
        i = end + 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


# ---- words ----

readme = open("README.md").read()
for doc in ("README.md", "pkg/README.md", "plugin/README.md", "policies/README.md", "pkg/scheduler/BUGS.md"):
    for target in re.findall(r"\]\(([^)#]+)\)", open(doc).read()):
        if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(doc), target)):
            problem("%s: the link to %s leads nowhere" % (doc, target))
for path in re.findall(r"`((?:hack|policies|plugin|pkg|cmd|test|\.ci)/[^` ]*)`", readme):
    if not os.path.exists(path):
        problem("README.md: %s is not there" % path)

defaults = open("pkg/scheduler/algorithmprovider/v1_10.cc").read()
names = re.findall(r'(?:predicate|priority|AddPriority|AddCompositePredicate)\(\s*"(\w+)"', defaults)
if len(names) < 25:
    problem("only %d algorithms found in v1_10.cc" % len(names))
for name in names:
    if not re.search(r"^\| .*`%s`.*\|" % name, readme, re.M):
        problem("README.md: %s is not in a table" % name)
# Every file that the tables name is in one of the families, and every rule of 1.10 is in a table.
families = "pkg/scheduler/algorithm"
in_tree = {f for folder, _, files in os.walk(families) for f in files if f.endswith(".cc") and not f.endswith("_test.cc")}
for f in sorted(set(re.findall(r"`(\w+\.cc)` \|", readme)) - in_tree):
    problem("README.md: %s is in a table but not below %s" % (f, families))

decided = {n: "fixed" for n in (1, 2, 4, 5, 6, 13, 14, 15, 18, 19, 21, 24, 27, 29, 30, 34, 36)}
decided.update({n: "kept" for n in (3, 8, 9, 11, 12, 20, 23, 25, 26, 28, 32, 33, 35)})
decided.update({n: "does not arise" for n in (7, 16, 22, 31)})
decided.update({n: "fixed where" for n in (10, 17)})
bugs = open("pkg/scheduler/BUGS.md").read()
for n in range(1, 37):
    row = re.search(r"^\| B-%02d \| .+ \| (.+) \|$" % n, bugs, re.M)
    if not row or not re.match(decided[n], row.group(1)):
        problem("pkg/scheduler/BUGS.md: B-%02d should be %s: %s" % (n, decided[n], row.group(1) if row else "missing"))

for line, words, before, text in blocks("README.md", "sh"):
    if words == "norun" and not re.match(r"<!-- norun: (needs .*(root|systemd|docker|a real cluster)|make test itself)", before):
        problem("README.md:%d: norun without a reason (root, systemd, docker, a real cluster, make test itself) in the line before" % line)
    if words not in ("", "norun"):
        problem("README.md:%d: sh %s: only norun may follow" % (line, words))

# ---- deeds ----

with tempfile.TemporaryDirectory(prefix="readme-test-") as scratch:
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], check=True, stdout=subprocess.PIPE).stdout
    for f in files.decode().split("\0"):
        if f and os.path.isfile(f):
            os.makedirs(os.path.join(scratch, os.path.dirname(f)), exist_ok=True)
            shutil.copy2(f, os.path.join(scratch, f))
    os.mkdir(os.path.join(scratch, "_output"))
    parts = [os.path.join(OUT, part) for part in ("bin", "lib", "notes", "obj", "pch")]
    subprocess.run(["cp", "-a", *parts, os.path.join(scratch, "_output")], check=True)
    env = {k: v for k, v in os.environ.items() if k not in ("OUT", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KEEP")}

    def run(what, script):
        """One bash, so that what a block leaves in the background is there for the next."""
        done = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output = done.communicate(timeout=600)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(done.pid, signal.SIGKILL)
            output = done.communicate()[0].decode(errors="replace")
            problem("%s: not done after 10 minutes" % what)
        if done.returncode != 0:
            problem("%s: exit %d\n%s" % (what, done.returncode, output))
        return output

    script = ""
    for doc in ("README.md", "policies/README.md"):
        for line, words, before, text in blocks(doc, "sh"):
            if words != "norun":
                script += "echo '==== %s:%d'\n%s" % (doc, line, text)
    for port in ("18080", "18251"):
        script = script.replace(port, free_port())
    output = run("README.md", script)
    for wanted in ("Pods placed, by kind of node and zone", "0/300 nodes are available", "default/hello", "GeneralPredicates",
                   "CPU for one decision", "make test"):
        if wanted not in output:
            problem("README.md: running its blocks should show %r; it showed\n%s" % (wanted, output))

    source = next(t for _, _, _, t in blocks("plugin/README.md", "cpp"))
    with open(os.path.join(scratch, "plugin/no_batch_on_interactive.cc"), "w") as f:
        f.write(source)
    with open(os.path.join(scratch, "policy.json"), "w") as f:
        f.write('{"kind":"Policy","apiVersion":"v1","predicates":[{"name":"NoBatchOnInteractive"}],"priorities":[]}')
    with open(os.path.join(scratch, "cluster.yaml"), "w") as f:
        for name, label in (("calm", "other"), ("busy", "interactive")):
            f.write('---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s: ""}}, status: {allocatable: {cpu: "4", '
                    'memory: 8Gi, pods: "10"}}}\n' % (name, label))
        for i in range(3):
            f.write("---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: default, labels: {tier: batch}}, "
                    "spec: {containers: [{name: c}]}}\n" % i)
    run("plugin/README.md", "make && _output/bin/kube-scheduler --help > help; grep -q NoBatchOnInteractive help && "
        "_output/bin/schedsim check-policy policy.json | grep NoBatchOnInteractive && "
        "_output/bin/schedsim run cluster.yaml --policy-config-file=policy.json -o placements >placed && "
        "[ $(grep -c ' calm$' placed) -eq 3 ] || { cat placed; false; }")

if problems:
    sys.exit("%d problems" % len(problems))
print("the README is true")
