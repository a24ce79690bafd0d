#!/usr/bin/env python3
"""Tests what people see: width and colours of a terminal, progress, waiting for input, help with examples."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

import harness
from harness import BIN, ROOT

SCHEDSIM = os.path.join(BIN, "schedsim")
DEMO = os.path.join(ROOT, "test/testdata/demo")
OPENB = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
    return {**env, "TERM": "xterm", **more}


def on_terminal(*words, columns=0, streams=("stdout",), feed=None, interrupt=None, **env):
    """Runs a command with these streams on one terminal, and interrupts it when it has shown its progress so often.
    Returns the exit status and what the terminal shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    files = {s: slave if s in streams else subprocess.DEVNULL for s in ("stdin", "stdout", "stderr")}
    process = subprocess.Popen([SCHEDSIM, *words], env=environment(**env), **files)
    os.close(slave)
    shown = b""
    fed = feed is None
    while True:
        ready, _, _ = select.select([master], [], [], 120)
        if not ready:
            process.kill()
            assert False, ("%s hangs" % (words,), shown)
            break
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
        if not fed and b"standard input" in shown:
            os.write(master, feed.encode() + b"\x04")
            fed = True
        if interrupt and shown.count(b"\033[K") >= interrupt:
            process.send_signal(signal.SIGINT)
            interrupt = None
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\033\[[0-9;]*[mK]", "", text)


def widest(text):
    return max(len(line) for line in plain(text).splitlines())


NODES, APPS = os.path.join(DEMO, "nodes.yaml"), os.path.join(DEMO, "apps.yaml")
EXPLAIN = ["explain", NODES, APPS, "--pod", "default/visitor-0000"]
COMMANDS = [
    EXPLAIN,
    ["run", NODES, APPS],
    ["capacity", NODES, "--pod-spec", os.path.join(DEMO, "pod.yaml")],
    ["what-if", NODES, APPS, "--remove", "general-a-000"],
    ["compare", NODES, APPS, "--algorithm-provider", "ClusterAutoscalerProvider"],
]


def test_width_and_colour():
    for words in COMMANDS:
        for columns in 60, 80, 132:
            code, out = on_terminal(*words, columns=columns)
            assert code == 0 and widest(out) <= columns, "%s on %d columns" % (words[0], columns)
        assert "\033[" in out, "%s has colour" % words[0]
        code, out = on_terminal(*words, columns=0)
        assert widest(out) <= 80, ("%s: 80 when the terminal does not say" % words[0], widest(out))
        code, out = on_terminal(*words, columns=132, COLUMNS="70")
        assert widest(out) <= 70, ("%s: COLUMNS goes first" % words[0], widest(out))
        for env in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
            code, out = on_terminal(*words, columns=80, **env)
            assert "\033[" not in out, "%s with %s" % (words[0], env)
        into_pipe = subprocess.run([SCHEDSIM, *words], capture_output=True, text=True, env=environment()).stdout
        assert "\033[" not in into_pipe and "~" not in into_pipe, (
            "%s into a pipe: no colour, and nothing cut" % words[0]
        )
    wide, narrow = on_terminal(*EXPLAIN, columns=200)[1], on_terminal(*EXPLAIN, columns=60)[1]
    assert widest(wide) > 120 and widest(narrow) <= 60, "a wide terminal is used"
    assert "".join(plain(wide).split()) == "".join(plain(narrow).split()), "the same is said on both"


def test_list():
    code, out = on_terminal("run", NODES, APPS, columns=80)
    assert "default/web-0000" not in out and "1528 of 1537 pods placed" in plain(
        out
    ), "on a terminal the summary is enough"
    assert "ReplicaSet default/visitor" in plain(out) and "zone-b" in plain(out), "pending by owner"
    code, out = on_terminal("run", NODES, APPS, "--all", columns=80)
    assert "default/web-0000" in out, "--all lists them"
    out = subprocess.run([SCHEDSIM, "run", NODES, APPS], capture_output=True, text=True, env=environment()).stdout
    assert "default/web-0000" in out and "1528 of 1537 pods placed" in out, "and so does a pipe"


def test_standard_input():
    """If the file was forgotten, a message says that standard input is being read."""
    with open(os.path.join(DEMO, "pod.yaml")) as f:
        text = f.read()
    code, out = on_terminal("run", "-", streams=("stdin", "stderr", "stdout"), feed=text + "\n", columns=80)
    assert "schedsim: reading standard input, which is this terminal; Ctrl-D ends it" in out, "waiting is said"
    assert "0 of 1 pods placed" in plain(out), "and then it is read"
    run = subprocess.run([SCHEDSIM, "run", "-"], input=text, capture_output=True, text=True)
    assert "standard input" not in run.stderr, ("not said of a pipe", run.stderr)


def test_progress():
    """A run of more than two seconds shows its progress, and erases it at the end."""
    code, out = on_terminal("run", OPENB, "-o", "json", "--stats", streams=("stderr",), columns=80)
    assert code == 0 and re.search(r"placing pods: \d+ of 8152 \[#*-+\]", out), "placing pods"
    assert re.search(r"\r\033\[K\{\"nodes\":1523", out), "the line is wiped"


def test_simulated_time():
    """The simulated time is shown with a bar, and SIGINT ends a run with what there is, marked as cut."""
    words = ["simulate", NODES, "--generate", "count=400000,for=30d,duration=100d,cpu=500m"]
    code, out = on_terminal(*words, streams=("stderr",), columns=80, interrupt=4)
    shown = re.findall(r"simulating: (\S+) of (\S+) \[(#*)(-*)\]", out)
    assert len(shown) > 1 and {end for _, end, _, _ in shown} == {"130d"}, (
        "the time goes on, of that of the last event",
        out[-500:],
    )
    assert [len(full) for _, _, full, _ in shown] == sorted(len(full) for _, _, full, _ in shown), "the bar grows"
    assert {len(full + rest) for _, _, full, rest in shown} == {20}, "the bar has 20 places"
    assert re.search(r"\r\033\[K[^\r]*$", out) and "simulating" not in out.rsplit("\r\033[K", 1)[1], (
        "the line is wiped",
        out[-300:],
    )
    assert code == 0 and "cut at" in out, ("ended by the signal", code, out[-500:])


def test_help():
    version = subprocess.run([SCHEDSIM, "--version"], capture_output=True, text=True).stdout
    general = subprocess.run([SCHEDSIM, "--help"], capture_output=True, text=True).stdout
    assert subprocess.run([SCHEDSIM, "help"], capture_output=True, text=True).stdout == general, "help is --help"
    names = re.findall(r"^  schedsim ([a-z-]+) ", general, re.M)
    assert {
        "run",
        "explain",
        "capacity",
        "what-if",
        "compare",
        "tune",
        "check",
        "schema",
        "snapshot",
        "replay",
        "anonymise",
        "completion",
    } <= set(names), "all commands"
    for name in names:
        by_help = subprocess.run([SCHEDSIM, "help", name], capture_output=True, text=True)
        by_flag = subprocess.run([SCHEDSIM, name, "--help"], capture_output=True, text=True)
        assert (
            by_help.returncode == by_flag.returncode == 0 and by_help.stdout == by_flag.stdout
        ), "help %s is %s --help" % (name, name)
        wide = [line for line in (general + by_help.stdout).splitlines() if len(line) > 80]
        assert not wide, "the help of %s fits 80 columns" % name
        assert "\nExamples:\n  " in by_help.stdout and "schedsim " + name in by_help.stdout.split("Examples:")[1], (
            "%s has examples" % name,
            by_help.stdout,
        )
        assert subprocess.run([SCHEDSIM, name, "--version"], capture_output=True, text=True).stdout == version, (
            "%s --version" % name
        )
    for program, begin in (
        ("kube-scheduler", "Kubernetes v1."),
        ("hollow-apiserver", "Berth hollow-apiserver v1."),
        ("schedsim", "schedsim v1."),
    ):
        run = subprocess.run([os.path.join(BIN, program), "--version"], capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout.startswith(begin), "%s --version" % program


harness.main(globals())
