#!/usr/bin/env python3
"""Prints what is wrong with the form of Python sources, one a line: FILE:LINE: what.

Wrong are what does not parse, lines of more than 120 columns, a lambda that is given a name, as a function is, or that
wait_until waits for, as its failure cannot show what was seen, and a test script that does not end with
harness.main(globals()). A line may be longer inside data of several lines, or when
it is one literal that has no blank at which it could be cut.
usage: python-form.py FILE..."""
import ast
import io
import re
import sys
import tokenize

COLUMNS = 120
MAIN = "harness.main(globals()"
LITERAL = re.compile(r"\s*(\w?([\"'])[^\s]*\2)[,)\]}]*")


def data_lines(text):
    """Returns the numbers of the lines inside literals of several lines that are no documentation."""
    documentation = {
        n.lineno for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
    }
    return {
        line
        for t in tokenize.generate_tokens(io.StringIO(text).readline)
        if t.type == tokenize.STRING and t.start[0] not in documentation
        for line in range(t.start[0], t.end[0] + 1)
        if t.end[0] > t.start[0]
    }


def problems(path, text):
    """Yields the number of a line and what is wrong with it."""
    lines = text.split("\n")
    try:
        tree = ast.parse(text)
    except SyntaxError as e:
        yield e.lineno, f"it does not parse: {e.msg}"
        return
    if path.endswith("_test.py") and path.startswith("test/") and not lines[-2].lstrip().startswith(MAIN):
        yield len(lines) - 1, f"a test script ends with {MAIN}...)"
    data = data_lines(text) if any(len(line) > COLUMNS for line in lines) else set()
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and number not in data and not LITERAL.fullmatch(line):
            yield number, f"{len(line)} columns; {COLUMNS} is the limit"
    for n in ast.walk(tree):
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda) and isinstance(n.targets[0], ast.Name):
            yield n.lineno, f"the lambda {n.targets[0].id} has a name; write a function"
        if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("wait_until"):
            if any(isinstance(a, ast.Lambda) for a in n.args):
                yield n.lineno, "wait_until waits for a lambda; give it a function, and what that is to return"


found = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for number, what in problems(path, file.read()):
            print(f"{path}:{number}: {what}")
            found += 1
sys.exit(1 if found else 0)
