#!/usr/bin/env python3
"""The READMEs are true: every `sh` block runs, in order, in a copy of the tree; links lead somewhere; the tables of
algorithms and of bugs are complete; the plugin of plugin/README.md compiles, is listed and runs."""
import functools
import os
import re
import shutil
import signal
import subprocess

import harness
from harness import check, free_port, items, node, pod, scratch, write_file
from harness.running import OUT


def text(path):
    with open(path) as f:
        return f.read()


def blocks(path, language):
    """Yields line number, words behind the language, the line before, and text of each fenced block."""
    lines = text(path).split("\n")
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


def test_links_and_paths():
    for doc in sorted(f for f in os.popen("git ls-files -co --exclude-standard '*.md'").read().split() if os.path.exists(f)):
        for target in re.findall(r"\]\(([^)#]+)\)", text(doc)):
            check("%s: the link to %s leads somewhere" % (doc, target),
                  "://" in target or os.path.exists(os.path.join(os.path.dirname(doc), target)))
    for path in re.findall(r"`((?:hack|policies|plugin|pkg|cmd|test|\.ci)/[^` ]*)`", text("README.md")):
        check("README.md: %s is there" % path, os.path.exists(path))


def test_tables_of_algorithms():
    readme = text("pkg/scheduler/algorithm/README.md")
    names = re.findall(r'(?:predicate|priority|AddPriority|AddCompositePredicate)\(\s*"(\w+)"', text("pkg/scheduler/algorithmprovider/v1_10.cc"))
    check("v1_10.cc has the algorithms", len(names) >= 25, names)
    for name in names:
        check("algorithm/README.md: %s is in a table" % name, re.search(r"^\| .*`%s`.*\|" % name, readme, re.M))
    # Every file that the tables name is in one of the families, and every rule of 1.10 is in a table.
    families = "pkg/scheduler/algorithm"
    in_tree = {f for folder, _, files in os.walk(families) for f in files if f.endswith(".cc") and not f.endswith("_test.cc")}
    for f in sorted(set(re.findall(r"`(\w+\.cc)` \|", readme)) - in_tree):
        check("algorithm/README.md: %s of a table is below %s" % (f, families), False)


def test_table_of_bugs():
    decided = {n: "fixed" for n in (1, 2, 4, 5, 6, 13, 14, 15, 18, 19, 21, 24, 27, 29, 30, 34, 36)}
    decided.update({n: "kept" for n in (3, 8, 9, 11, 12, 20, 23, 25, 26, 28, 32, 33, 35)})
    decided.update({n: "does not arise" for n in (7, 16, 22, 31)})
    decided.update({n: "fixed where" for n in (10, 17)})
    bugs = text("pkg/scheduler/BUGS.md")
    for n in range(1, 37):
        row = re.search(r"^\| B-%02d \| .+ \| (.+) \|$" % n, bugs, re.M)
        check("pkg/scheduler/BUGS.md: B-%02d is %s" % (n, decided[n]), row and re.match(decided[n], row.group(1)), row and row.group(1))


def test_what_does_not_run_has_a_reason():
    for line, words, before, _ in blocks("README.md", "sh"):
        check("README.md:%d: only norun may follow sh" % line, words in ("", "norun"), words)
        check("README.md:%d: norun has a reason (root, systemd, docker, a real cluster, make test itself) in the line before" % line,
              words != "norun" or re.match(r"<!-- norun: (needs .*(root|systemd|docker|a real cluster)|make test itself)", before), before)


@functools.cache
def copy_of_tree():
    """Returns a folder with the files that git knows, and with what was built from them."""
    tree = scratch("tree")
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], check=True, stdout=subprocess.PIPE).stdout
    for f in files.decode().split("\0"):
        if f and os.path.isfile(f):
            os.makedirs(os.path.join(tree, os.path.dirname(f)), exist_ok=True)
            shutil.copy2(f, os.path.join(tree, f))
    os.mkdir(os.path.join(tree, "_output"))
    parts = [os.path.join(OUT, part) for part in ("bin", "lib", "notes", "obj", "pch", "units")]
    subprocess.run(["cp", "-a", *parts, os.path.join(tree, "_output")], check=True)
    return tree


def run_in_copy(what, script):
    """Runs a script in one bash, so that what a block leaves in the background is there for the next; returns its output."""
    env = {k: v for k, v in os.environ.items() if k not in ("OUT", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KEEP")}
    bash = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=copy_of_tree(), env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = bash.communicate(timeout=600)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(bash.pid, signal.SIGKILL)
        output = bash.communicate()[0].decode(errors="replace")
        check("%s: done within 10 minutes" % what, False)
    check("%s runs" % what, bash.returncode == 0, "exit %d\n%s" % (bash.returncode, output[-5000:]))
    return output


def test_blocks_of_the_readme():
    script = ""
    for doc in ("README.md", "policies/README.md"):
        for line, words, _, block in blocks(doc, "sh"):
            if words != "norun":
                script += "echo '==== %s:%d'\n%s" % (doc, line, block)
    for port in ("18080", "18251"):
        script = script.replace(port, str(free_port()))
    output = run_in_copy("README.md", script)
    for wanted in ("Pods placed, by kind of node and zone", "0/300 nodes are available", "default/hello", "GeneralPredicates",
                   "CPU for one decision", "make test"):
        check("README.md: running its blocks shows %r" % wanted, wanted in output, output[-5000:])
    # Otherwise the test would compile the whole tree without anybody noticing but by the time it takes.
    compiled = re.findall(r"^  CXX   ((?!.*_bench\.cc).*)$", output, re.M)
    check("the copy uses what was built, and compiles only the file with the commit", len(compiled) <= 1, compiled)


def test_the_plugin_of_plugin_readme():
    source = next(block for _, _, _, block in blocks("plugin/README.md", "cpp"))
    with open(os.path.join(copy_of_tree(), "plugin", "no_batch_on_interactive.cc"), "w") as f:
        f.write(source)
    policy = write_file("policy.json", {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "NoBatchOnInteractive"}], "priorities": []})
    cluster = write_file("cluster.json", items(node("calm", labels={"other": ""}), node("busy", labels={"interactive": ""}),
                                               *[pod("p%d" % i, labels={"tier": "batch"}) for i in range(3)]))
    run_in_copy("plugin/README.md", "make && _output/bin/kube-scheduler --help > help; grep -q NoBatchOnInteractive help && "
                f"_output/bin/schedsim check-policy {policy} | grep NoBatchOnInteractive && "
                f"_output/bin/schedsim run {cluster} --policy-config-file={policy} -o placements >placed && "
                "[ $(grep -c ' calm$' placed) -eq 3 ] || { cat placed; false; }")


harness.main(globals())
