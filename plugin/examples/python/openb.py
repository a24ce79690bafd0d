"""What the examples share: the openb trace (8,152 tasks on 1,523 nodes), runs over it, and curves of them."""
import argparse
import gzip
import json
import os

import numpy as np

import berth

GPU = "example.com/gpu-milli"
TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "test", "testdata", "traces", "openb.json.gz")


def arguments(what):
    """Reads --trace, --pods (how many of the trace) and --curve (a picture or a CSV file)."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--trace", default=TRACE)
    parser.add_argument("--pods", type=int, default=None)
    parser.add_argument("--curve")
    return parser.parse_args()


def scenario(args):
    with gzip.open(args.trace) as f:
        document = json.load(f)
    document["pods"] = document["pods"][:args.pods]
    return document


def requests(document):
    """Returns float64[pods, 2]: thousandths of cpu and of GPUs that the pods request."""
    asked = [p["spec"]["containers"][0]["resources"].get("requests", {}) for p in document["pods"]]
    return np.array([[float(a.get("cpu", "0m").rstrip("m")), float(a.get(GPU, 0))] for a in asked])


def cluster(document, ties="first", **options):
    return berth.Cluster.from_objects([document], release="1.29", ties=ties, **options)


def run(document, *rules, ties="first", prepare=None):
    """Schedules the pods with rules that outweigh those of the release. Returns the result and the share of all GPUs that is
    allocated after each pod."""
    c = cluster(document, ties)
    for rule in rules + tuple(prepare(c) if prepare else ()):
        c.add(rule)
    nodes = c.columns()
    offered = nodes.allocatable[:, nodes.index(GPU)].sum()
    result = c.schedule()
    return result, np.cumsum(requests(document)[:, 1] * (result.nodes >= 0)) / offered


def report(curves, file):
    """Prints where the curves {name: (result, share)} end, and draws them: with matplotlib if it is there, else as CSV."""
    for name, (result, share) in curves.items():
        print("%-22s %5d placed, %4d pending, %.2f %% of the GPUs allocated"
              % (name, len(result.pods) - len(result.pending), len(result.pending), 100 * share[-1]))
    if not file:
        return
    try:
        if file.endswith(".csv"):
            raise ImportError
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        with open(os.path.splitext(file)[0] + ".csv", "w") as f:
            f.write("pods," + ",".join(curves) + "\n")
            for i, row in enumerate(zip(*[share for _, share in curves.values()])):
                f.write("%d,%s\n" % (i + 1, ",".join("%.6f" % v for v in row)))
        return
    for name, (_, share) in curves.items():
        pyplot.plot(share, label=name)
    pyplot.xlabel("pods that have come"), pyplot.ylabel("share of the GPUs that is allocated"), pyplot.legend()
    pyplot.savefig(file)
