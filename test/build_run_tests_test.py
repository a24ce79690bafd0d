#!/usr/bin/env python3
"""Tests hack/run-tests.py with programs and scripts that pass, fail, crash, hang and report something false."""
import os
import subprocess
import tempfile
import time

import harness
from harness import ROOT

RUNNER = os.path.join(ROOT, "hack", "run-tests.py")


def report(*cases):
    """Returns a program that writes a report as Catch2 does; each case is (name, passed)."""
    body = "".join(
        '<TestCase name="%s" filename="f.cc" line="7">%s<OverallResult success="%s"/></TestCase>'
        % (
            name,
            ""
            if ok
            else '<Section name="s"><Expression success="false" type="CHECK" filename="f.cc" '
            'line="9"><Original>a == b</Original><Expanded>1 == 2</Expanded></Expression></Section>',
            "true" if ok else "false",
        )
        for name, ok in cases
    )
    return (
        '#!/bin/bash\n[ "$1 $2 $3" = "-r xml -o" ] || exit 9\ncat > "$4" <<"X"\n'
        '<?xml version="1.0"?><Catch name="t"><Group name="t">%s</Group></Catch>\nX\n' % body
    )


def expect(what, files, wanted_last, wanted_code, wanted_text=(), args=(), seconds="20", unwanted_text=(), env=None):
    with tempfile.TemporaryDirectory() as d:
        programs = []
        for name, text in files.items():
            path = os.path.join(d, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
            os.chmod(path, 0o755)
            if not name.startswith("test/") and not name.endswith(".json"):
                programs.append(path)
        done = subprocess.run(
            [
                RUNNER,
                *[a for a in args if a.startswith("--scripts=")],
                *programs,
                "--",
                *[a for a in args if not a.startswith("--scripts=")],
            ],
            cwd=d,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            env={**os.environ, "OUT": d, "TEST_SECONDS": seconds, **(env or {})},
        )
        output = done.stdout.decode()
        problems = []
        if output.splitlines()[-1] != wanted_last or not output.endswith("\n"):
            problems.append("last line should be %r" % wanted_last)
        if done.returncode != wanted_code:
            problems.append("exit %d, should be %d" % (done.returncode, wanted_code))
        problems += ["should contain %r" % t for t in wanted_text if t not in output]
        problems += ["should not contain %r" % t for t in unwanted_text if t in output]
        assert not problems, (what, "%s\n%s" % ("; ".join(problems), output))


PASS = report(("one", True), ("two", True))
OK, BAD = "#!/bin/bash\necho fine\n", "#!/bin/bash\necho the reason\nexit 1\n"


def test_programs():
    expect("all pass", {"a": PASS, "b": report(("x/y", True), ("x/z", True), ("x", True))}, "5 passed, 0 failed", 0)
    expect(
        "one fails",
        {"a": report(("one", True), ("two", False)) + "exit 1"},
        "1 passed, 1 failed",
        1,
        ["a: FAILED: two", "f.cc:9: CHECK(a == b 1 == 2)"],
    )
    expect("a failure that only the report has", {"a": report(("one", False))}, "0 passed, 1 failed", 1)
    expect(
        "exit status without a failed case",
        {"a": PASS + "exit 3"},
        "2 passed, 1 failed",
        1,
        ["exit 3 with 2 test cases"],
    )
    expect(
        "a crash before any report",
        {"a": "#!/bin/bash\nkill -SEGV $$\n", "b": PASS},
        "2 passed, 1 failed",
        1,
        ["a: killed by SIGSEGV and no report"],
    )
    expect(
        "a crash in the middle of the report",
        {"a": '#!/bin/bash\necho "<Catch><Group><TestCase name=" > "$4"; kill -ABRT $$\n'},
        "0 passed, 1 failed",
        1,
        ["killed by SIGABRT and no report"],
    )
    expect("a crash behind the report", {"a": PASS + "kill -SEGV $$"}, "2 passed, 1 failed", 1)
    expect("no test case at all", {"a": report()}, "0 passed, 1 failed", 1)
    expect(
        "a stale report is not believed",
        {
            "a": "#!/bin/bash\nexit 0\n",
            "a.xml": '<Catch><TestCase name="x"><OverallResult success="true"/></TestCase></Catch>',
        },
        "0 passed, 2 failed",
        1,
    )
    expect("a program that cannot be run", {"a": "#!/no/such/interpreter\n"}, "0 passed, 1 failed", 1)
    expect("nothing to run is no success", {}, "0 passed, 0 failed", 1)
    expect(
        "arguments reach the programs", {"a": PASS + '[ "$5" = "[fast]" ]\n'}, "2 passed, 0 failed", 0, args=["[fast]"]
    )


def test_scripts():
    expect(
        "scripts count one each",
        {"a": PASS, "test/x_test.sh": OK, "test/deep/y_test.py": OK, "test/helper.sh": BAD},
        "4 passed, 0 failed",
        0,
        ["test/x_test.sh: 1 passed"],
    )
    expect(
        "a failed script shows its output",
        {"test/x_test.sh": BAD},
        "0 passed, 1 failed",
        1,
        ["the reason", "FAILED, exit 1"],
    )
    expect("scripts can be left out", {"a": PASS, "test/x_test.sh": BAD}, "2 passed, 0 failed", 0, args=["--scripts="])
    expect(
        "the end repeats what failed",
        {"a": report(("one", False)) + "exit 1", "test/x_test.sh": BAD, "test/y_test.sh": OK},
        "1 passed, 2 failed",
        1,
        [
            "FAILED a: FAILED: one\nFAILED a:   f.cc:9: CHECK(a == b 1 == 2)\n"
            "FAILED test/x_test.sh: FAILED, exit 1\nFAILED test/x_test.sh: the reason\n1 passed, 2 failed\n"
        ],
    )
    expect(
        "some scripts can be named",
        {"a": PASS, "test/x_test.sh": OK, "test/y_test.sh": BAD, "test/z_test.sh": OK},
        "4 passed, 0 failed",
        0,
        args=["--scripts=test/x_test.sh test/z_test.sh"],
    )
    expect(
        "a script that is named must be there",
        {},
        "0 passed, 1 failed",
        1,
        ["test/none_test.sh"],
        args=["--scripts=test/none_test.sh"],
    )
    expect(
        "what prints after the end is not heard",
        {"test/x_test.sh": "#!/bin/bash\n(sleep 1; echo late) &\nexit 0\n", "a": PASS},
        "3 passed, 0 failed",
        0,
    )
    expect(
        "what a program writes is shown when it fails",
        {"a": report(("one", False)) + "echo its own words >&2; exit 1"},
        "0 passed, 1 failed",
        1,
        ["its own words"],
    )
    expect(
        "what a program writes is not shown when it passes",
        {"a": PASS + "echo its own words; echo and these >&2\n", "test/x_test.sh": OK},
        "3 passed, 0 failed",
        0,
        unwanted_text=["words", "and these", "fine"],
    )


def test_at_the_same_time():
    # Each of two programs can only end while the other one runs.
    MEET = (
        report(("one", True))
        + "touch here-%s; for i in $(seq 200); do [ -e here-%s ] && exit 0; sleep 0.1; done; exit 1\n"
    )
    expect("several run at a time", {"a": MEET % ("a", "b"), "b": MEET % ("b", "a")}, "2 passed, 0 failed", 0)
    expect(
        "two of one name in different folders",
        {"a": PASS, "test/p/x_test.sh": OK, "test/q/x_test.sh": BAD},
        "3 passed, 1 failed",
        1,
    )


def test_order():
    one_by_one = {"TEST_JOBS": "1"}
    scripts = {"test/%s_test.sh" % name: OK for name in "abc"}
    lines = "test/%s_test.sh: 1 passed (0 s)\n"
    known = {**scripts, "test/long-tests.json": '{"test/b_test.sh": 7, "test/c_test.sh": 9, "test/gone_test.sh": 99}'}
    expect(
        "what is known to take long runs first",
        known,
        "3 passed, 0 failed",
        0,
        [(lines * 3) % ("c", "b", "a")],
        env=one_by_one,
    )
    measured = {**known, "test-seconds.json": '{"test/a_test.sh": 5, "test/b_test.sh": 12, "test/c_test.sh": 1}'}
    expect(
        "the last run counts more", measured, "3 passed, 0 failed", 0, [(lines * 3) % ("b", "a", "c")], env=one_by_one
    )
    damaged = {**scripts, "test/long-tests.json": '["test/b_test.sh"', "test-seconds.json": '{"test/a_test.sh": null}'}
    expect(
        "damaged times are not used", damaged, "3 passed, 0 failed", 0, [(lines * 3) % ("a", "b", "c")], env=one_by_one
    )


def test_cpu_time():
    scripts = {f"test/a{i:02}_test.sh": OK for i in range(20)}
    busy = "#!/bin/bash\n(for ((i = 0; i < 300000; i++)); do :; done)\n"
    expect(
        "what takes the most CPU time is listed, with what it starts",
        {**scripts, "test/z_test.sh": busy},
        "21 passed, 0 failed",
        0,
        [" s of CPU time, most of it in\n", " s test/z_test.sh\n"],
    )
    expect("a few need no list", scripts, "20 passed, 0 failed", 0, unwanted_text=["of CPU time"])


def test_what_hangs():
    begin = time.monotonic()
    expect(
        "what hangs is killed with its children",
        {"a": "#!/bin/bash\nsleep 1000 & wait\n", "test/x_test.sh": "#!/bin/bash\necho before\nsleep 1000\n"},
        "0 passed, 2 failed",
        1,
        ["still running after 8 s", "before"],
        seconds="8",
    )
    assert time.monotonic() - begin <= 200, "hanging programs are killed in time"


harness.main(globals())
