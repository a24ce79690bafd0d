#!/usr/bin/env python3
"""The results in the manual of simulate are what its commands print: a week of openb under three policies, a rolling
drain of the demo cluster with and without a budget, and a day of a CronJob with two concurrency policies."""
import os
import re

import harness
from harness import BIN, ROOT, run, scratch

MANUAL = "cmd/schedsim/README.md"


def manual():
    """Returns the section about simulate: its blocks of commands, and its text in one line."""
    with open(os.path.join(ROOT, MANUAL)) as f:
        section = f.read().split("\n## Simulate days and months\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.S), " ".join(section.split())


def printed(commands):
    """Returns what the commands print, run where the manual's files are."""
    folder = scratch("manual")
    os.makedirs(os.path.join(folder, "_output"), exist_ok=True)
    for name in "test", "policies":
        if not os.path.islink(os.path.join(folder, name)):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    with open(os.path.join(folder, "_output/cluster.yaml"), "w") as out:
        for part in "nodes", "apps":
            with open(os.path.join(ROOT, "test/testdata/demo/%s.yaml" % part)) as f:
                out.write(f.read() + "---\n")
    env = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"])
    status, out, err = run("bash", "-e", "-c", commands, cwd=folder, env=env)
    assert status == 0, ("the commands of the manual work", err[-800:])
    return out


def rows(table, first):
    """Returns the rows of the tables whose first column is called so, as lists of cells, without the headers."""
    out = []
    for part in table.split("\n\n"):
        lines = part.strip().splitlines()
        if lines and lines[0].split()[0] == first:
            out += [[lines[0].split(), line.split()] for line in lines[1:]]
    return out


def said(text, pattern):
    found = re.search(pattern, text)
    assert found, "the manual says %r" % pattern
    return found.groups() if found else ()


def test_a_week_of_openb():
    blocks, text = manual()
    got = {cells[0]: cells for _, cells in rows(printed(blocks[0]), "POLICY")}
    (pods,) = said(text, r"All ([\d,]+) pods are placed")
    (share,) = said(text, r"([\d.]+) % of the GPUs are in use in the mean, and 99 % of the pods wait for nothing")
    longest = said(text, r"is (\w+) with DefaultProvider, (\w+) with `most-pods`, and (\d+) minutes with `gpu-alloc")
    assert sorted(got) == ["DefaultProvider", "gpu-allocation", "most-pods"], "the policies"
    for name, longest_wait in zip(("DefaultProvider", "most-pods", "gpu-allocation"), longest):
        placed, never, p50, p90, p99, most, in_use = got[name][1:8]
        assert (placed, never) == (pods.replace(",", ""), "0"), name + ": placed"
        assert (p50, p90, p99) == ("0s", "0s", "0s"), name + ": 99 % wait for nothing"
        assert in_use == share + "%", name + ": in use"
        assert most.startswith(longest_wait), name + ": the longest wait"


def test_a_rolling_drain():
    blocks, text = manual()
    got = [cells for header, cells in rows(printed(blocks[1]), "POLICY") if "DRAINED" in header]
    free = said(text, r"Without a budget that takes (\w+) and ([\d,]+) evictions")
    bound = said(text, r"be missing, (\w+) and ([\d,]+) evictions, of which (\d+) were refused at first")
    assert len(got) == 2, "two runs"
    for cells, (time, evicted), refused in zip(got, (free[:2], bound[:2]), ("0", bound[2])):
        assert (cells[-1], cells[2], cells[3]) == (
            time,
            evicted.replace(",", ""),
            refused,
        ), "time, evictions and refusals"
        assert cells[-2] == "300/300", "drained"


def test_a_day_of_a_cron_job():
    blocks, text = manual()
    allow, forbid = printed(blocks[2]).split("\n\nWAIT:")[:2]

    def day(of):
        pods, jobs = [cells for _, cells in rows(of, "POLICY")]
        return dict(never=pods[2], p90=pods[4], most=pods[6], complete=jobs[1])

    fired, complete, never, p90 = said(
        text, r"of (\d+) only (\d+) are complete after a day, ([\d,]+) pods still wait, and .*? for (\w+) or longer"
    )
    assert fired == str(24 * 4), "a Job every 15 minutes"
    got = day(allow)
    assert (got["complete"], got["never"], got["p90"]) == (complete, never.replace(",", ""), p90), "Allow"
    complete, most = said(text, r"left out, (\d+) are complete, and no pod waits for more than (\d+) minutes")
    got = day(forbid)
    assert (got["complete"], got["never"], got["most"]) == (complete, "0", most + "m"), "Forbid"


harness.main(globals())
