#!/usr/bin/env python3
"""Tests what hack/python-form.py finds wrong: long lines, but not those of data, and lambdas with a name."""
import harness
from harness import ROOT, check_equal, run, write_file

LONG = "x" * 120


def found(text):
    path = write_file("form.py", text)
    code, out, _ = run(f"{ROOT}/hack/python-form.py", path)
    lines = out.replace(path + ":", "").splitlines()
    check_equal(f"the exit status for {text[:40]!r}", code, 1 if lines else 0)
    return lines


def test_long_lines():
    too_long = "1: 121 columns; 120 is the limit"
    check_equal("a line of 120", found(LONG), [])
    check_equal("a line of 121", found(LONG + "x"), [too_long])
    check_equal("documentation", found(f'"""One.\n{LONG}x"""'), [too_long.replace("1:", "2:", 1).replace("121", "124")])
    check_equal("data of several lines", found(f'f("""\n{LONG}x\n""")'), [])
    check_equal("a literal that cannot be cut", found(f'f(\n    "{LONG}",\n)'), [])
    check_equal("one with a blank", found(f'f(\n    "{LONG} x",\n)'), ["2: 129 columns; 120 is the limit"])


def test_lambdas():
    check_equal("a name", found("f = lambda: 1"), ["1: the lambda f has a name; write a function"])
    check_equal("an argument", found("g(lambda: 1)"), [])


harness.main(globals())
