#!/usr/bin/env python3
"""Prints the places outside pkg/releases that name or compare a release of Kubernetes, one a line: FILE:LINE: code.

A release is data: what differs stands in pkg/releases or is a row with since and until, and code reads named fields.
Counted are lines of the product and of its build, without comments, that contain the name of a release (1.10, v1_29,
Process129), a comparison of versions, or a name that stands for a release (later_profiles, modern).
usage: release-places.py    (in the project's root)"""
import pathlib
import re
import sys

# The list of releases, and what may know them.
EXEMPT = re.compile(r"^pkg/releases/|^pkg/release/|_test\.cc$|_bench\.cc$|/testing/|/reference/")
NAMED = re.compile(
    r"(?<![\w.])v?1\.(?:[89]|[12]\d|3\d)(?![\d%])|(?<![0-9])1_(?:[89]|[12]\d|3\d)(?!\d)|"
    r"\b[A-Za-z_]+1(?:0[89]|1\d|2[0-79]|3\d)\b(?=\s*[(&;,{]|\s*=)"
)
ALIAS = re.compile(
    r"\bLater\(\)|\blater\b|\blater_\w+|\bLater[A-Z]\w*|\w*_later\b|\b[Mm]odern\w*|\bk(?:Modern|Later)\w*|"
    r"(?:[<>]=?|[!=]=)\s*(?:\w+::)*Version\{"
)
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
# HTTP/1.0, and a reflector that tries again later.
OTHER_SENSE = re.compile(r"request_\.version|error_\.code|bookmarks && later")
TABLE = re.compile(r"\b(?:since|until)\b|\b(?:Since|Until)\(")


def without_comments(text):
    """Returns the text of a C++ file in which comments are blanks."""

    def blank(match):
        return match.group(0) if match.group(0)[0] in "\"'R" else re.sub(r"[^\n]", " ", match.group(0))

    return re.sub(
        r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S
    )


def places():
    sources = [p for top in ("pkg", "cmd", "plugin") for p in pathlib.Path(top).rglob("*") if p.suffix in (".cc", ".h")]
    for path in sorted(sources) + [
        pathlib.Path("Makefile"),
        pathlib.Path("hack/units.sh"),
        *sorted(pathlib.Path("hack/build").glob("*.mk")),
    ]:
        if EXEMPT.search(str(path)):
            continue
        text = path.read_text()
        text = without_comments(text) if path.suffix in (".cc", ".h") else re.sub(r"(?m)#.*$", "", text)
        for number, line in enumerate(text.split("\n"), 1):
            if TABLE.search(line) or OTHER_SENSE.search(line):
                continue
            if NAMED.search(line) or ALIAS.search(LITERAL.sub('""', line)):
                yield f"{path}:{number}: {line.strip()}"


for place in places():
    print(place)
sys.exit(0)
