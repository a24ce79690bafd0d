#!/usr/bin/env python3
"""schedsim convert on all recorded Policies. What it writes is in text/convert.test."""
import importlib.machinery
import importlib.util
import os

import harness
from harness import BIN, ROOT


def test_recorded_policies():
    """What hack/convert-fractions counts does not become worse."""
    loader = importlib.machinery.SourceFileLoader("fractions", os.path.join(ROOT, "hack/convert-fractions"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    for pair, policies, least in (
        ("1.10:1.13", 34, 14),
        ("1.10:1.29", 34, 17),
        ("1.10:1.36", 34, 15),
        ("1.19:1.29", 113, 55),
    ):
        found = module.fractions(os.path.join(BIN, "schedsim"), pair)
        assert sum(found.values()) == policies, "Policies of " + pair
        assert found["same"] >= least, "%s: as many as the manual says decide the same" % pair
        assert not found["other"] and not found["refused"], "%s: the other causes are known" % pair


harness.main(globals())
