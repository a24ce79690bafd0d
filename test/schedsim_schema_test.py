#!/usr/bin/env python3
"""The JSON Schemas that schedsim prints for editors accept what schedsim check accepts, and reject what it rejects
because of its form: the documents of text/check_documents.test, and the Policies in policies/."""
import functools
import glob
import json
import os
import sys

try:
    import jsonschema
except ImportError:  # Debian's package belongs to Debian's python3, which may not be the first in PATH.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import harness
from harness import ROOT, schedsim
from harness.text import FOLDER, parse


@functools.cache
def validator(kind, flags):
    status, out, err = schedsim("schema", kind, *flags)
    assert status == 0, err
    schema = json.loads(out)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def complaints(kind, document, flags=()):
    return [e.message for e in validator(kind, flags).iter_errors(json.loads(document))]


def test_documents():
    with open(os.path.join(FOLDER, "check_documents.test")) as f:
        commands = parse(f.read().splitlines())
    counts = {"good": 0, "bad": 0}
    for command in commands:
        _, program, *words = command.text.split()
        if program != "each":
            continue
        verdict, *flags = words
        kind = "policy" if "Policies" in command.case else "configuration"
        for document in command.files[verdict].splitlines():
            found = complaints(kind, document, tuple(flags))
            assert (not found) == (verdict == "good"), (command.case, document, found)
            counts[verdict] += 1
    assert counts["good"] >= 48 and counts["bad"] >= 84, counts


def test_all_shipped_policies_are_good():
    files = glob.glob(os.path.join(ROOT, "policies", "*.json"))
    assert len(files) >= 5, len(files)
    for name in files:
        with open(name) as f:
            assert complaints("policy", f.read()) == [], name
        status, out, _ = schedsim("check", name, "-o", "json")
        assert (status, json.loads(out)["errors"]) == (0, []), name


harness.main(globals())
