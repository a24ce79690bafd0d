#!/usr/bin/env python3
"""Tests the profiled build (`make PROFILED=1`, hack/README.md) except what compiles everything twice: how each of its
builds compiles, and that the work between them is done by programs of any build."""
import os
import subprocess
import sys

import harness
from harness import ROOT, run, scratch
from harness.running import OUT


def make(*arguments):
    """Returns what make would do, without doing it."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OUT", "MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def flags_of(*arguments):
    status, out, err = make(*arguments, "OUT=" + scratch("out"), "programs")
    assert status == 0, err
    compiled = [line for line in out.splitlines() if " -c " in line and "cmd/kube-scheduler" in line]
    linked = [line for line in out.splitlines() if "-o" in line.split() and line.split(" -o ")[1:] and "bin/" in line]
    assert compiled and linked, out[:2000]
    return compiled[0].split(), linked[0].split()


def test_each_build_has_its_flags():
    for arguments, has, has_not in (
        ((), None, ("-fprofile-generate", "-fprofile-use")),
        (("PROFILED=record",), "-fprofile-generate", ("-fprofile-use",)),
        (("PROFILED=1",), "-fprofile-use", ("-fprofile-generate",)),
    ):
        for command in flags_of(*arguments):
            assert has is None or has in command, (arguments, command)
            assert not set(has_not) & set(command), (arguments, command)


def test_the_first_build_and_its_work_come_first():
    status, out, err = make("PROFILED=1", "OUT=" + scratch("out"), "all")
    assert status == 0, err
    assert "PROFILED=record" in out and "hack/record-profile" in out, out


def test_what_does_not_go_together_is_refused():
    for arguments in (("PROFILED=1", "SAN=asan"), ("PROFILED=1", "BUILD=debug")):
        status, _, err = make(*arguments, "programs")
        assert status != 0 and "neither SAN= nor BUILD=debug goes with it" in err, err
    status, _, err = make("PROFILED=yes", "programs")
    assert status != 0 and "PROFILED=yes: 1, or nothing (the default)" in err, err


def test_the_work_is_done_by_programs_of_any_build():
    status, out, err = run(sys.executable, os.path.join(ROOT, "hack/record-profile"), OUT, "--brief")
    assert status == 0 and not err, err


def test_work_that_fails_is_named():
    # A program that ends with an error stands for each of them.
    for name in ("kube-scheduler", "schedsim", "hollow-apiserver"):
        os.makedirs(scratch("broken/bin"), exist_ok=True)
        os.symlink("/bin/false", scratch("broken/bin/" + name))
    status, _, err = run(sys.executable, os.path.join(ROOT, "hack/record-profile"), scratch("broken"))
    assert status == 1 and "record-profile: " in err and "hollow-apiserver" in err and "Traceback" not in err, err


harness.main(globals())
