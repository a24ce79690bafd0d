#!/usr/bin/env python3
"""Prints the places outside pkg/releases that name or compare a release of Kubernetes, one a line: FILE:LINE: code.

A release is data: what differs stands in pkg/releases or is a row with since and until, and code reads named fields.
Counted are lines of the product and of its build, without comments, that contain the name of a release (1.10, v1_29,
Process129), a comparison of versions, or a name that stands for a release (later_profiles, modern).
usage: release-places.py            (in the project's root)
       release-places.py --files    prints for each release which files outside its folder state something of it, a
                                    line each: RELEASE NUMBER: FILE ...

A file states something of a release if it has the release's name, or a span or a version of the API that begins or ends
with the release or after the one before it."""
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


# The minor versions in spans (Since(19), {.since = {19}, ...}, {{19}, ...}), in versions of the API ("v1@19-25"), and
# in names of folders.
SPAN = re.compile(
    r"\b(?:Since|Until)\((\d+)\)|\b(?:since|until) ?= ?\{?(\d+)|\{\{(\d+)\},|@(\d+)-|@\d*-(\d+)|\bv1_(\d+)\b"
)
OWN_FOLDER = re.compile(r"^pkg/releases/v1_\d+/|_test\.cc$|_bench\.cc$|/testing/|/reference/")


def files_of_releases():
    """Returns for each release the files outside the folders of releases that state something of it."""
    names = re.findall(r'\{"1\.(\d+)", \{\1\}', pathlib.Path("pkg/release/list.cc").read_text())
    releases = [int(name) for name in names]
    files = {release: {"pkg/release/list.cc"} for release in releases}
    for top in ("pkg", "cmd", "plugin"):
        for path in pathlib.Path(top).rglob("*"):
            if path.suffix not in (".cc", ".h") or OWN_FOLDER.search(str(path)):
                continue
            text = without_comments(path.read_text())
            if "release" not in text:
                continue
            for match in SPAN.finditer(text):
                minor = int(next(group for group in match.groups() if group))
                of = next((release for release in releases if minor <= release), None)
                if minor and of is not None:
                    files[of].add(str(path))
    return files


if sys.argv[1:] == ["--files"]:
    for release, paths in files_of_releases().items():
        print(f"1.{release} {len(paths)}: {' '.join(sorted(paths))}")
else:
    for place in places():
        print(place)
