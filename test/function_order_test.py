#!/usr/bin/env python3
"""Tests that programs have the functions that run for each pod in the order of hack/build/function-order, and the
program that makes this list (hack/README.md, "Order of functions")."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess

import harness
from harness import ROOT, scratch
from harness.running import OUT

LIST = os.path.join(ROOT, "hack/build/function-order")


def load(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def read_elf(*arguments):
    program = os.path.join(OUT, "bin/kube-scheduler")
    return subprocess.run(["readelf", "-W", *arguments, program], check=True, capture_output=True, text=True).stdout


def test_listed_functions_are_laid_out_in_order():
    section = re.search(r"^ *\[ *(\d+)\] \.text\.ordered ", read_elf("-S"), re.M)
    if not os.path.exists(os.path.join(OUT, "function-order.ld")):
        assert section is None  # builds for debugging and with sanitizers are as the compiler makes them
        return
    assert section is not None
    with open(LIST) as f:
        listed = f.read().split()
    address = {}
    for fields in map(str.split, read_elf("-s").splitlines()):
        if len(fields) == 8 and fields[3] == "FUNC" and fields[6] == section[1]:
            address[fields[7]] = int(fields[1], 16)
    found = [name for name in listed if name in address]
    misplaced = [(a, b) for a, b in zip(found, found[1:]) if address[a] > address[b]]
    assert not misplaced, misplaced[:5]
    # Functions are renamed and inlined as the sources change. Once much of the list is out of date, it is made again.
    assert len(found) > 0.7 * len(listed), "%d of %d: run hack/order-functions" % (len(found), len(listed))


def test_functions_are_listed_after_their_first_caller():
    # Numbers stand for names that were given before; recursive calls are marked with '2.
    calls = """\
fn=(1) start
0x10 5
cfn=(2) loop
calls=1 0x20
0x11 900
fn=(2)
0x20 1
cfn=(3) often
calls=8 0x30
0x21 10
cfn=(4) rarely
calls=1 0x40
0x22 10
cfn=(5) later
calls=9 0x50
0x23 10
fn=(4)
0x40 1
cfn=(6) by_rarely
calls=7 0x60
0x41 1
fn=(3)
0x30 1
cfn=(7) nested
calls=8 0x70
0x31 1
cfn=(8) often'2
calls=8 0x30
0x32 1
"""
    with open(scratch("calls"), "w") as f:
        f.write(calls)
    graph = load(os.path.join(ROOT, "hack/order-functions")).CallGraph(scratch("calls"))
    assert graph.in_order(5) == ["start", "often", "nested", "by_rarely", "later"], graph.in_order(5)


def test_constructors_are_listed_by_the_name_of_their_section():
    section_of = load(os.path.join(ROOT, "hack/order-functions")).section_of
    assert section_of("_ZN5berth3api7PodPathC1ERKS1_") == "_ZN5berth3api7PodPathC2ERKS1_"
    assert section_of("_ZN5berth3api7PodPathD1Ev") == "_ZN5berth3api7PodPathD2Ev"
    assert section_of("_ZN5berth3api4ReadEv") == "_ZN5berth3api4ReadEv"


harness.main(globals())
