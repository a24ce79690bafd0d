#!/usr/bin/env python3
"""The documents are true: every `sh` block of each runs, in order, in a copy of the tree, and every command in the
README's table runs; what the README shows is printed; links lead somewhere; the tables of algorithms and of bugs are
complete; the plugin of plugin/README.md compiles, is listed and runs. The README stays short."""
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile

import harness
from harness import BIN, Api, free_port, items, node, pod, run, scratch, start, wait_until, write_file
from harness.running import OUT

# In a path that stands for several, or for one that the reader makes.
PLACEHOLDER = re.compile(r"[<*{]|NAME|TARGET|FAMILY|v1_NN|plugin/no_batch_on_interactive.cc")
KNOWN_FILES = ("git", "ls-files", "-co", "--exclude-standard", "-z")


def text(path):
    with open(path) as f:
        return f.read()


def section(path, heading):
    """Returns a section of a document, without the heading."""
    return text(path).split("\n## %s\n" % heading)[1].split("\n## ")[0]


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
            yield i + 1, match.group(2), lines[i - 1], "\n".join(lines[i + 1 : end]) + "\n"
        i = end + 1


@functools.cache
def documents():
    """Returns the paths of all documents that git knows, the README first."""
    files = subprocess.run([*KNOWN_FILES, "*.md"], check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    return sorted({f for f in files if f and os.path.exists(f)}, key=lambda f: (f != "README.md", f))


@functools.cache
def anchors(path):
    """Returns the names of a document's headings in links."""
    headings = re.findall(r"^#+ (.*)$", text(path), re.M)
    return {re.sub(r"[^\w -]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def test_links_and_paths():
    for doc in documents():
        for target in re.findall(r"\]\(([^)]+)\)", text(doc)):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            path = os.path.join(os.path.dirname(doc), path) if path else doc
            assert os.path.exists(path) and (
                not anchor or anchor in anchors(path)
            ), "%s: the link to %s leads somewhere" % (doc, target)
        for path in re.findall(r"`((?:hack|policies|plugin|pkg|cmd|test|\.ci)/[^` ]*)`", text(doc)):
            assert PLACEHOLDER.search(path) or os.path.exists(path), "%s: %s is there" % (doc, path)


def test_what_is_to_stay_short():
    readme = text("README.md")
    assert readme.count("\n") <= 100, ("README.md has at most 100 lines", readme.count("\n"))
    assert len(readme.split()) <= 750, ("README.md has at most 750 words", len(readme.split()))
    words = re.findall(r"^\| ", section("pkg/README.md", "Words"), re.M)
    assert 10 < len(words) - 1 <= 30, ("pkg/README.md explains at most 30 words", len(words) - 1)


def test_tables_of_algorithms():
    readme = text("pkg/scheduler/algorithm/README.md")
    names = re.findall(
        r'(?:predicate|priority|AddPriority|AddCompositePredicate)\(\s*"(\w+)"', text("pkg/releases/v1_10/decides.cc")
    )
    assert len(names) >= 25, "v1_10/decides.cc has the algorithms"
    for name in names:
        assert re.search(r"^\| .*`%s`.*\|" % name, readme, re.M), "algorithm/README.md: %s is in a table" % name
    # Every file that the tables name is in one of the families, and every rule of 1.10 is in a table.
    families = "pkg/scheduler/algorithm"
    in_tree = {f for _, _, files in os.walk(families) for f in files if re.search(r"(?<!_test)\.cc$", f)}
    for f in sorted(set(re.findall(r"`(\w+\.cc)` \|", readme)) - in_tree):
        assert False, "algorithm/README.md: %s of a table is below %s" % (f, families)


def test_table_of_bugs():
    decided = {n: "fixed" for n in (1, 2, 4, 5, 6, 13, 14, 15, 18, 19, 21, 24, 27, 29, 30, 34, 36)}
    decided.update({n: "kept" for n in (3, 8, 9, 11, 12, 20, 23, 25, 26, 28, 32, 33, 35)})
    decided.update({n: "does not arise" for n in (7, 16, 22, 31)})
    decided.update({n: "fixed where" for n in (10, 17)})
    bugs = text("pkg/scheduler/BUGS.md")
    for n in range(1, 37):
        row = re.search(r"^\| B-%02d \| .+ \| (.+) \|$" % n, bugs, re.M)
        assert row and re.match(decided[n], row.group(1)), (
            "pkg/scheduler/BUGS.md: B-%02d is %s" % (n, decided[n]),
            (row and row.group(1)),
        )


def test_each_bug_has_a_number():
    rows = re.findall(r"^\|(?!---) *([^|]*?) *\|.*\|$", text("pkg/scheduler/BUGS.md"), re.M)
    for number in rows:
        assert re.fullmatch(r"number|\w+-\d\d", number), "pkg/scheduler/BUGS.md: %r numbers a bug" % number
    numbers = [number for number in rows if number != "number"]
    assert len(numbers) == len(set(numbers)) > 60, "pkg/scheduler/BUGS.md: each number stands for one bug"


def names_of_tests(path):
    """Returns the names of the tests in a file, and what Python functions say about themselves, one a line."""
    if path.endswith(".cc"):
        found = re.findall(r'TEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)', text(path))
    elif path.endswith(".py"):
        found = re.findall(r'^def (test_\w+\(.*\):(?:\n    """(?:.|\n)*?""")?)', text(path), re.M)
    else:
        found = re.findall(r"^== (.*)$", text(path), re.M)
    return "\n".join(found)


def test_mended_bugs_have_tests():
    """A bug that is fixed is named by its number, such as B-01, in the name of a test or what its function says, or as
    b_01 in the name of the function. A comment elsewhere proves nothing."""
    files = subprocess.run(KNOWN_FILES, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    tests = "\n".join(
        names_of_tests(f)
        for f in files
        if re.search(r"_test\.(cc|py)$|\.test$", f) and os.path.isfile(f) and not f.endswith("readme_test.py")
    )
    mended = re.findall(r"^\| (\w+-\d+) \|.*\| fixed[^|]*\|$", text("pkg/scheduler/BUGS.md"), re.M)
    assert len(mended) > 30, "pkg/scheduler/BUGS.md has rows of mended bugs"
    for number in mended:
        named = re.search(r"\b%s\b|\btest_%s_" % (number, number.lower().replace("-", "_")), tests)
        assert named, "pkg/scheduler/BUGS.md: %s is fixed, and the name of a test says so" % number


def test_what_does_not_run_has_a_reason():
    for doc in documents():
        for line, words, before, _ in blocks(doc, "sh"):
            assert words in ("", "norun"), "%s:%d: only norun may follow sh" % (doc, line)
            reason = re.match(r"<!-- norun: (needs .*(root|systemd|docker|a real cluster)|make test itself)", before)
            assert words != "norun" or reason, (
                "%s:%d: the line before norun gives a known reason" % (doc, line),
                before,
            )


@functools.cache
def copy_of_tree():
    """Returns a folder with the files that git knows, and with what was built from them."""
    tree = scratch("tree")
    files = subprocess.run(KNOWN_FILES, check=True, stdout=subprocess.PIPE).stdout
    for f in files.decode().split("\0"):
        if f and os.path.isfile(f):
            os.makedirs(os.path.join(tree, os.path.dirname(f)), exist_ok=True)
            shutil.copy2(f, os.path.join(tree, f))
    os.mkdir(os.path.join(tree, "_output"))
    parts = [os.path.join(OUT, part) for part in ("bin", "lib", "notes", "obj", "pch", "units")]
    subprocess.run(["cp", "-a", *parts, os.path.join(tree, "_output")], check=True)
    return tree


def run_in_copy(what, script):
    """Runs a script in one bash, so that a block finds what the ones before it left running; returns its output."""
    env = {k: v for k, v in os.environ.items() if k not in ("OUT", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KEEP")}
    command = ["bash", "-euo", "pipefail", "-c", script]
    with tempfile.TemporaryFile() as log:  # a pipe would stay open as long as anything that a block has left running
        bash = subprocess.Popen(
            command,
            cwd=copy_of_tree(),
            env=env,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            bash.wait(timeout=600)
        except subprocess.TimeoutExpired:
            assert False, "%s: done within 10 minutes" % what
        try:
            os.killpg(bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        bash.wait()
        log.seek(0)
        output = log.read().decode(errors="replace")
    assert bash.returncode == 0, ("%s runs" % what, "exit %d\n%s" % (bash.returncode, output[-5000:]))
    return output


def squeezed(output):
    return " ".join(output.split())


def test_blocks():
    script = ""
    for doc in documents():
        parts = [
            "echo '==== %s:%d'\n%s" % (doc, line, block)
            for line, words, _, block in blocks(doc, "sh")
            if words != "norun"
        ]
        if parts:  # Each document in a shell of its own: none needs what another one has left.
            script += "(\n%s)\n" % "".join(parts)
    for port in sorted(set(re.findall(r"\b18\d{3}\b", script))):
        script = script.replace(port, str(free_port()))
    output = run_in_copy("what the documents show", script)
    for wanted in ("default/hello", "GeneralPredicates", "CPU for one decision", "make test"):
        assert wanted in output, ("running the blocks shows %r" % wanted, output[-5000:])
    shown = [squeezed(part) for _, _, _, block in blocks("README.md", "text") for part in block.split("\n...\n")]
    for part in shown:
        assert part in squeezed(output), "README.md: what make run is said to print is printed"
    assert any("0/300 nodes are available" in part for part in shown), "README.md: shows what make run prints"
    # Otherwise the test would compile the whole tree without anybody noticing but by the time it takes.
    compiled = re.findall(r"^  CXX   (.*)$", output, re.M)
    assert len(compiled) <= 1, "the copy uses what was built, and compiles only the file with the commit"


def test_commands_of_the_readme():
    commands = re.findall(r"^\| [^|`]+ \| `([^`]+)` \|", section("README.md", "What do you want?"), re.M)
    assert len(commands) >= 8, "README.md has a command for each wish"
    demo, folder = "test/testdata/demo/", scratch("wishes")
    os.mkdir(folder)
    for name in ("hack", "plugin"):
        os.symlink(os.path.abspath(name), os.path.join(folder, name))
    with open(os.path.join(folder, "cluster.yaml"), "w") as f:
        f.write(text(demo + "nodes.yaml") + "---\n" + text(demo + "apps.yaml"))
    shutil.copy(demo + "pod.yaml", folder)
    shutil.copy("test/testdata/recordings/evictions.jsonl.gz", os.path.join(folder, "recording.jsonl.gz"))
    server = "http://127.0.0.1:%d" % Api.start().port
    config = write_file(
        "kubeconfig",
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        },
    )
    env = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], KUBECONFIG=config)
    for command in commands:
        words = command.replace("8080", str(free_port())).split()
        if "serve" in words or words[0] == "hollow-apiserver":
            with open(scratch("serving"), "w") as out:
                start(*words, cwd=folder, env=env, stdout=out, stderr=subprocess.DEVNULL)
            wait_until(command + " serves", text, scratch("serving"), containing="Serving")
        else:
            status, out, err = run(*words, cwd=folder, env=env)
            assert status == 0 and out, ("README.md: %s works" % command, "exit %d\n%s" % (status, (out + err)[-2000:]))


def test_the_plugin_of_plugin_readme():
    """The plugin as it is written first, then with traits and with an argument; the test of the traits; an excerpt."""
    plugin, traits, check, excerpt, reader = (block for _, _, _, block in blocks("plugin/README.md", "cpp"))
    source = plugin + (
        "namespace with_traits {\n%s}  // replaces the one without traits\n"
        '#include "pkg/api/json.h"\n'
        "void ReadModels(const berth::scheduler::PluginFactoryArgs& args) {\n%s}\n" % (traits, reader)
    )
    test = (
        "#include <catch2/catch.hpp>\n"
        '#include "pkg/releases/v1_10/decides.h"\n#include "pkg/scheduler/factory/factory.h"\n'
        '#include "pkg/scheduler/testing/traits_check.h"\n'
        'TEST_CASE("the traits of plugin/README.md") {\n%s}\n' % check
    )
    for name, content in (("no_batch_on_interactive.cc", source), ("no_batch_on_interactive_test.cc", test)):
        with open(os.path.join(copy_of_tree(), "plugin", name), "w") as f:
            f.write(content)
    shown = [line.split("  //")[0] for line in excerpt.rstrip().split("\n") if line.strip() != "..."]
    assert "\n".join(shown) in text("plugin/examples/rack_spread.cc"), "plugin/README.md: the excerpt is in the file"
    policy = write_file(
        "policy.json",
        {"kind": "Policy", "apiVersion": "v1", "priorities": [], "predicates": [{"name": "NoBatchOnInteractive"}]},
    )
    pods = [pod("p%d" % i, labels={"tier": "batch"}) for i in range(3)]
    cluster = write_file(
        "cluster.json", items(node("calm", labels={"other": ""}), node("busy", labels={"interactive": ""}), *pods)
    )
    run_in_copy(
        "plugin/README.md",
        "make && _output/bin/kube-scheduler --help > help; "
        "grep -q NoBatchOnInteractive help && "
        f"_output/bin/schedsim check-policy {policy} | grep NoBatchOnInteractive && "
        f"_output/bin/schedsim run {cluster} --policy-config-file={policy} -o placements >placed && "
        "[ $(grep -c ' calm$' placed) -eq 3 ] || { cat placed; false; }",
    )
    run_in_copy(
        "the test in plugin/README.md",
        "make PACKAGE=plugin test-programs && _output/test/plugin_test 'the traits of plugin/README.md'",
    )


harness.main(globals())
