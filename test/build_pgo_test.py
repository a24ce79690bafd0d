#!/usr/bin/env python3
"""Tests builds with profile-guided optimisation (`make PGO=1`, hack/README.md) without compiling everything twice: the
flags of both builds, and that programs of any build can be trained."""
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
    """Returns the words of a command that compiles, and of one that links."""
    status, out, err = make(*arguments, "OUT=" + scratch("out"), "programs")
    assert status == 0, err
    compiled = [line for line in out.splitlines() if " -c " in line and "cmd/kube-scheduler" in line]
    linked = [line for line in out.splitlines() if " -o " + scratch("out/bin/kube-scheduler") in line]
    assert compiled and linked, out[:2000]
    return compiled[0].split(), linked[0].split()


def test_each_build_has_its_flags():
    for arguments, has, has_not in (
        ((), None, ("-fprofile-generate", "-fprofile-use")),
        (("PGO=train",), "-fprofile-generate", ("-fprofile-use",)),
        (("PGO=1",), "-fprofile-use", ("-fprofile-generate",)),
    ):
        for command in flags_of(*arguments):
            assert has is None or has in command, (arguments, command)
            assert not set(has_not) & set(command), (arguments, command)


def test_programs_are_trained_first():
    status, out, err = make("PGO=1", "OUT=" + scratch("out"), "all")
    assert status == 0, err
    assert "PGO=train" in out and "hack/train-pgo" in out, out


def test_what_does_not_go_together_is_refused():
    for arguments in (("PGO=1", "SAN=asan"), ("PGO=1", "BUILD=debug")):
        status, _, err = make(*arguments, "programs")
        assert status != 0 and "neither SAN= nor BUILD=debug goes with it" in err, err
    status, _, err = make("PGO=yes", "programs")
    assert status != 0 and "PGO=yes: 1, or nothing (the default)" in err, err


def test_programs_of_any_build_can_be_trained():
    status, out, err = run(sys.executable, os.path.join(ROOT, "hack/train-pgo"), OUT, "--brief")
    assert status == 0 and not err, err


def test_a_program_that_fails_is_named():
    # A program that ends with an error stands for each of them.
    for name in ("kube-scheduler", "schedsim", "hollow-apiserver"):
        os.makedirs(scratch("broken/bin"), exist_ok=True)
        os.symlink("/bin/false", scratch("broken/bin/" + name))
    status, _, err = run(sys.executable, os.path.join(ROOT, "hack/train-pgo"), scratch("broken"))
    assert status == 1 and "train-pgo: " in err and "hollow-apiserver" in err and "Traceback" not in err, err


harness.main(globals())
