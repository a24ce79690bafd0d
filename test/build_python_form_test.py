#!/usr/bin/env python3
"""Tests what hack/python-form.py finds wrong: long lines, but not those of data, lambdas with a name
or awaited, and what does not parse."""
import harness
from harness import ROOT, run, write_file

LONG = "x" * 120


def found(text):
    path = write_file("form.py", text)
    code, out, _ = run(f"{ROOT}/hack/python-form.py", path)
    lines = out.replace(path + ":", "").splitlines()
    assert code == (1 if lines else 0), f"the exit status for {text[:40]!r}"
    return lines


def test_long_lines():
    too_long = "1: 121 columns; 120 is the limit"
    assert found(LONG) == [], "a line of 120"
    assert found(LONG + "x") == [too_long], "a line of 121"
    assert found(f'"""One.\n{LONG}x"""') == [too_long.replace("1:", "2:", 1).replace("121", "124")], "documentation"
    assert found(f'f("""\n{LONG}x\n""")') == [], "data of several lines"
    assert found(f'f(\n    "{LONG}",\n)') == [], "a literal that cannot be cut"
    assert found(f'f(\n    "{LONG} x",\n)') == ["2: 129 columns; 120 is the limit"], "one with a blank"


def test_lambdas():
    assert found("f = lambda: 1") == ["1: the lambda f has a name; write a function"], "a name"
    assert found("g(lambda: 1)") == [], "an argument"
    awaited = "1: wait_until waits for a lambda; give it a function, and what that is to return"
    assert found("wait_until('it', lambda: x == 1)") == [awaited], "what is awaited"
    assert found("harness.wait_until('it', f, lambda: 1)") == [awaited], "by its module"
    assert found("wait_until('it', f, equals=1)") == [], "a function"


def test_what_does_not_parse():
    assert found("x = 1\nif x\n") == ["2: it does not parse: expected ':'"]


harness.main(globals())
