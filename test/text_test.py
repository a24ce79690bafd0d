#!/usr/bin/env python3
"""Runs the cases of test/text/*.test: commands, what they are given, and what they must print. A file looks like this:

    What the file is about.

    == what the case shows
    ---- pods.yaml
    kind: Pod
    ----
    $ schedsim run pods.yaml -o placements
    default/p n1
    ! skipped 1 object of kind ...
    exit 1

A case has a folder of its own with the files that it gives; those before the first case are given to every case. A
command runs in bash in that folder, with the programs of the build in its path and text/decisions, which prints what
releases decide about the pods of an input. $TESTDATA is test/testdata. It has at most 120 columns: after a "\\" at the
end of a line it goes on in the next one. What follows a command must be all that it prints: lines that begin with "! "
are standard error, "exit N" is its status when that is not 0. "..." in a line stands for anything, and "..." alone for
any number of lines. Empty lines, and blanks at the end of one, do not count.
`WRITE=1 test/text_test.py test_NAME` writes what the commands print now into test/text/NAME.test where it differs:
read the changes before you keep them."""
import functools
import glob
import os
import re
import tempfile

import harness
from harness import ROOT
from harness.text import FOLDER, parse


def matches(expected, printed):
    """Whether the lines are as they are expected."""
    one = {"...": r"(?:[^\n]*\n)*?"}
    pattern = "".join(
        one.get(line) or ".*?".join(re.escape(part) for part in line.split("...")) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def rewrite(path, lines, commands, printed):
    """Writes the file with what was printed where that is not what was expected."""
    for command, got in reversed(list(zip(commands, printed))):
        if not matches(command.expected, got):
            end = command.number
            for _ in command.expected:  # empty lines among them do not count
                end += next(i for i, line in enumerate(lines[end:], 1) if line)
            lines[command.number : end] = got
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def run_file(path):
    with open(path) as f:
        lines = f.read().splitlines()
    commands = parse(lines)
    assert commands, path + " has no command"
    printed, wrong = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for command in commands:
            folder = os.path.join(scratch, str(sum(c.case != command.case for c in commands[: len(printed)])))
            os.makedirs(folder, exist_ok=True)
            printed.append(command.run(folder))
            if not os.environ.get("WRITE"):
                place = f"{os.path.relpath(path, ROOT)}:{command.number}: {command.case}: $ {command.text}"
                got = "\n".join(printed[-1])
                wrong += [] if matches(command.expected, printed[-1]) else [f"{place}\nprinted\n{got}\n"]
    if os.environ.get("WRITE"):
        rewrite(path, lines, commands, printed)
    assert not wrong, "\n".join(wrong)


def test_the_form():
    """What is expected is found, and nothing else."""
    assert matches(["a ... c", "...", "exit 1"], ["a b c", "x", "y", "exit 1"])
    assert matches(["...", "a.c"], ["a.c"])
    for expected, printed in ((["a"], ["a", "b"]), (["a", "b"], ["a"]), (["a.c"], ["abc"]), ([], ["a"]), (["..."], [])):
        assert not matches(expected, printed) or (expected, printed) == (["..."], []), (expected, printed)
    commands = parse(
        ["About.", "---- f", "1", "----", "== c", "$ cat \\", "  f", "1", "", "== d", "---- f", "2", "----", "$ x"]
    )
    assert [(c.text, c.case, c.files, c.expected) for c in commands] == [
        ("cat \\\n  f", "c", {"f": "1\n"}, ["1"]),
        ("x", "d", {"f": "2\n"}, []),
    ], commands


for file in sorted(glob.glob(FOLDER + "/*.test")):
    globals()["test_" + os.path.basename(file)[: -len(".test")]] = functools.partial(run_file, file)

harness.main(globals())
