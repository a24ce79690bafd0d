#!/usr/bin/env python3
"""Lists functions of more than 70 lines in C++ files: "file:line: 94 lines: first line".

usage: long-functions.py FILE...

A function may be longer where splitting it would not help, such as one that fills a table. The comment above it or its
first line says so: NOLINT(readability-function-size): the reason. Test cases are sequences of steps and are not
counted. Exit status: 1 when there is any.
"""
import re
import sys

LIMIT = 70
NOT_A_FUNCTION = re.compile(
    r"\s*(namespace|class|struct|enum|union|extern|TEST_CASE|constexpr char|const char)\b|.*=\s*\{+$"
)


def functions(lines):
    """Yields (line number, number of lines, first line) of the functions at file scope and in classes."""
    for number, line in enumerate(lines):
        opening = re.match(r"( {0,2})[^\s#/}].*\{$", line)
        if not opening or NOT_A_FUNCTION.match(line) or re.match(r"\s*(if|for|while|switch|else|do|try)\b", line):
            continue
        indent = opening.group(1)
        for end in range(number + 1, len(lines)):
            if re.match(indent + r"\}(;|\))*$", lines[end]):
                # The first line of a wrapped signature is some lines above.
                first = number
                while (
                    first > 0
                    and lines[first - 1]
                    and not re.match(r"\s*(//|#|\}|public:|private:|template|.*;$)", lines[first - 1])
                ):
                    first -= 1
                if not NOT_A_FUNCTION.match(lines[first]):
                    yield first, end - first + 1, lines[first].strip()
                break


def explained(lines, first):
    above = first
    while above > 0 and re.match(r"\s*(//|template)", lines[above - 1]):
        above -= 1
    return any("NOLINT(readability-function-size): " in line for line in lines[above : first + 1])


def main(paths):
    found = False
    for path in paths:
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        for first, size, text in functions(lines):
            if size > LIMIT and not explained(lines, first):
                found = True
                print("%s:%d: %d lines: %s" % (path, first + 1, size, text))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
