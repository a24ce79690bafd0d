#!/usr/bin/env python3
"""Bad input to schedsim: each mistake gives one clear message and the right exit status, nothing crashes or vanishes.
Good input in every notation decides the same."""
import gzip
import json
import os
import tempfile

import harness
from harness import items, schedsim


def pod(name="p1", requests=None, **spec):
    return harness.pod(name, uid=name, requests=requests or {"cpu": "1"}, **spec)


def node(name="n1", **status):
    return harness.node(name, status=status)


def scenario(name="s", cluster=None, pods=None, **fields):
    s = {
        "apiVersion": "schedsim/v1",
        "kind": "Scenario",
        "name": name,
        "algorithmProvider": "DefaultProvider",
        "cluster": items(*(cluster if cluster is not None else [node()])),
        "pods": pods if pods is not None else [pod()],
    }
    s.update(fields)
    return {k: v for k, v in s.items() if v is not None}


def wrong(what, feed, *parts, status=1, words=("run", "-", "-o", "json")):
    """Checks that the run ends with `status` and prints all of `parts`."""
    code, out, err = schedsim(*words, feed=feed)
    assert code == status, (what + ": exit status", code, err[-300:])
    said = out + err
    for part in parts:
        assert part in said, (what + ": says " + part, said[-600:])
    lines = [line for line in err.splitlines() if line]
    assert len(lines) <= 3 and len(err) < 4000, (what + ": short", err[:500])


def test_syntax():
    good = json.dumps(items(node(), pod()))
    for n in (1, 10, len(good) // 2, len(good) - 1):
        wrong("truncated at %d" % n, good[:n], "standard input: line 1, column ")
    wrong("garbage", "\x00\x01\x02", "standard input: ")
    wrong("binary", b"\xff\xfe\x00{\x00", "standard input: ")
    wrong("text behind the list", good + "]", "line 1, column ")
    wrong("10,000 deep JSON", '{"a":' * 10000, "nested deeper than 512 levels")
    wrong("10,000 deep lists", "[" * 10000, "nested deeper than 512 levels")
    wrong("10,000 deep YAML", "a: " + "[" * 10000, "line 1, column ")
    wrong("10,000 deep inside a pod", json.dumps(items(node()))[:-2] + "," + '{"x":' * 10000, "nested deeper")
    wrong("YAML with a tab", "a:\n\tb: 1\n", "line 2, column ")
    wrong("half a gzip", gzip.compress(good.encode())[:40], "gzip: ")
    wrong("no such file", "", "/nowhere/x.json: No such file or directory", words=("run", "/nowhere/x.json"))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("notes.txt", "run.sh", "chart.tpl"):
            with open(os.path.join(folder, name), "w") as f:
                f.write("no object\n")
        os.mkdir(os.path.join(folder, "deeper"))
        wrong(
            "a folder without objects",
            "",
            folder + ": is a folder without a file that ends in .json, .yaml or .yml (-R reads",
            words=("run", folder),
        )
        with open(os.path.join(folder, "deeper", "x.yaml"), "w") as f:
            f.write("a:\n\tb: 1\n")
        wrong("a file in a folder of a folder", "", "deeper/x.yaml: line 2, column ", words=("run", "-R", folder))
        os.symlink(folder, os.path.join(folder, "circle"))
        wrong("a link in a circle", "", "deeper/x.yaml: line 2, column ", words=("run", "-R", folder))
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        "a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 10)) for i in range(1, 12)
    )
    wrong("YAML bomb", bomb, "aliases unfold to too much")


def test_absurd():
    """Valid but absurd amounts never wrap round to something that fits."""
    for amount in ("10E", "16Ei", "9223372036854775808", "1e30", "1e1000"):
        for resource in ("cpu", "memory"):
            code, out, err = schedsim("run", "-", "-o", "json", feed=items(node(), pod(requests={resource: amount})))
            d = json.loads(out)["decisions"][0]
            assert (
                code == 0 and d["host"] == "" and "Insufficient " + resource in d["error"]
            ), "%s of %s fits nowhere" % (amount, resource)
            assert "beyond 64 bits" in err, "%s of %s is warned of" % (amount, resource)
    huge = node(allocatable={"cpu": "1e30", "memory": "1e30", "pods": "1e30"})
    code, out, _ = schedsim(
        "run", "-", "-o", "placements", feed=items(huge, *[pod("p%d" % i, {"cpu": "1e30"}) for i in range(3)])
    )
    assert code == 0 and len(out.splitlines()) == 3, "an absurd node takes pods until it is full"
    code, out, _ = schedsim("run", "-", "-o", "json", feed=items(node(), pod(requests={"cpu": "-1"})))
    assert code == 0 and json.loads(out)["decisions"][0]["host"] == "n1", "negative requests do no harm"


def test_scenarios():
    lines = [scenario("good-1"), scenario("bad", cluster=[node(), pod("unbound")]), scenario("good-2")]
    code, out, err = schedsim("run", "-", "-o", "json", feed="\n".join(json.dumps(s) for s in lines))
    results = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and len(results) == 3, ("a bad Scenario fails alone", code, out[:300], err)
    assert [r["name"] for r in results] == ["good-1", "bad", "good-2"], "it has its place"
    assert "has no spec.nodeName" in results[1].get("error", ""), ("and says why", results[1])
    assert all(results[i]["decisions"][0]["host"] == "n1" for i in (0, 2)), "the others run"
    # The first file is broken and is YAML; the line number is that of the file.
    code, out, err = schedsim(
        "run", "-", "-o", "json", feed=json.dumps(scenario("broken"))[:-20] + "\n" + json.dumps(scenario("last"))
    )
    assert code == 1 and len(out.splitlines()) == 2 and '"last"' in out, (
        "a broken first line fails alone",
        code,
        out[:300],
        err,
    )
    broken = (
        json.dumps(scenario("first"))
        + "\n"
        + json.dumps(scenario("broken"))[:-3]
        + "\n"
        + json.dumps(scenario("last"))
        + "\n"
    )
    code, out, err = schedsim("run", "-", "-o", "json", feed=broken)
    names = [json.loads(line).get("decisions") is not None for line in out.splitlines()]
    assert "standard input: line 3, column 1: " in err, "its line is named"
    assert code == 1 and names == [True, False, True], ("a broken line fails alone", code, out[:300], err)


def test_usage():
    for words in (("--help",), ("run", "--help"), ("explain", "-h"), ("--version",)):
        code, out, err = schedsim(*words)
        assert code == 0 and out and not err, "schedsim " + " ".join(words)


def test_notations():
    """Returns the same cluster in every notation."""
    objects = [node("n1"), node("n2"), pod("p1"), pod("p2", {"cpu": "3500m"}), pod("p3", {"cpu": "9"})]
    want = "default/p1 n2\ndefault/p2 n1\ndefault/p3 -\n"
    as_list = json.dumps(items(*objects))
    loose = "\n".join(json.dumps(o) for o in objects)
    indented = "\n".join(json.dumps(o, indent=2) for o in objects)
    yaml = "---\n".join(json.dumps(o) + "\n" for o in objects)
    typed = (
        json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": objects[:2]})
        + "\n"
        + json.dumps(
            {
                "items": [{k: v for k, v in o.items() if k not in ("kind", "apiVersion")} for o in objects[2:]],
                "kind": "PodList",
                "apiVersion": "v1",
            }
        )
    )
    for name, text in (
        ("list", as_list),
        ("loose", loose),
        ("indented", indented),
        ("yaml", "---\n" + yaml),
        ("typed lists", typed),
        ("gzip", gzip.compress(as_list.encode())),
        ("BOM", b"\xef\xbb\xbf" + as_list.encode()),
    ):
        code, out, err = schedsim("run", "-", "-o", "placements", feed=text)
        assert code == 0 and out == want, ("notation " + name, code, out, err)
    with tempfile.TemporaryDirectory() as d:
        files = []
        for i, o in enumerate(objects):
            files.append(os.path.join(d, "%d.json" % i))
            with open(files[-1], "w") as f:
                json.dump(o, f)
        code, out, err = schedsim("run", *files, "-o", "placements")
        assert code == 0 and out == want, ("several files", code, out, err)
    # Single documents get the server's defaults; items of a List are used as stored.
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "limits"},
        "spec": {"containers": [{"resources": {"limits": {"cpu": "5"}}}]},
    }
    full = dict(bare, metadata={"name": "limits", "namespace": "default", "uid": "u"})
    capacity = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    code, out, _ = schedsim("run", "-", "-o", "json", feed=json.dumps(capacity) + json.dumps(bare))
    assert json.loads(out)["decisions"][0]["pod"] == "default/limits" and "Insufficient cpu" in json.loads(out)[
        "decisions"
    ][0].get("error", ""), "limits become requests"
    code, out, _ = schedsim("run", "-", "-o", "json", feed=items(node(), full))
    assert json.loads(out)["decisions"][0]["host"] == "n1", "stored objects keep what they have"
    code, out, err = schedsim("run", "-", "-o", "json", feed="")
    assert code == 0 and json.loads(out)["decisions"] == [], ("nothing at all", out, err)


def large_list(*last):
    """Returns a list of more than 64 MiB, one object a line, that ends with the given lines, and the number of lines
    before them. Files of this size are read piece by piece."""
    filler = json.dumps(dict(node("NAME"), metadata={"name": "NAME", "annotations": {"filler": "y" * 7500}}))
    lines = ['{"kind": "List", "apiVersion": "v1", "items": ['] + [
        filler.replace("NAME", "n%d" % i) + "," for i in range(9000)
    ]
    return "\n".join(lines + [",\n".join(last), "]}"]), len(lines)


def test_large_files():
    good, lines = large_list(json.dumps(pod()), json.dumps(pod("p2")))
    bad = json.dumps(pod("p2", requests={"cpu": ["late"]}))
    mistakes = [
        (
            "a wrong value",
            large_list(json.dumps(pod()), bad)[0],
            "x.json: line %d, column %d" % (lines + 2, bad.index('["late"') + 1),
        ),
        ("no valid JSON", large_list(json.dumps(pod()), "{]")[0], "x.json: line %d, column 2" % (lines + 2)),
        (
            "a name twice",
            large_list(json.dumps(pod()), json.dumps(node("n7")))[0],
            'Node "n7" is there twice: %s/x.json:9 and %s/x.json:{}'.format(lines + 2),
        ),
        ("a second document", good + '\n{"kind": "List", "items": [\n3]}', "x.json: line %d, column 1" % (lines + 5)),
    ]
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "x.json")
        for what, text, error in mistakes:
            with open(path, "w") as f:
                f.write(text)
            wrong(what + " late in a large file", None, error.replace("%s", d), words=("run", path))
            wrong(
                what + " late in a large pipe",
                text,
                error.replace("%s/x.json", "standard input").replace("x.json", "standard input"),
            )
        outputs = []
        for content in (good.encode(), gzip.compress(good.encode(), 1)):
            with open(path, "wb") as f:
                f.write(content)
            outputs.append(schedsim("run", path, "-o", "placements"))
        outputs.append(schedsim("run", "-", "-o", "placements", feed=good))
        assert outputs[0][0] == 0 and len(set(outputs)) == 1, (
            "a large file decides as a gzip file and as a pipe",
            [o[2][-300:] for o in outputs],
        )


harness.main(globals())
