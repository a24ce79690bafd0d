#!/usr/bin/env python3
"""GPU fragmentation gradient descent (FGD, USENIX ATC 2023) on the openb trace, with shares of single GPUs."""
import collections

import numpy as np

import berth
import openb
from best_fit import best_fit


def fits(free, milli):
    """Where a request fits: a share on one GPU, or whole GPUs."""
    return (free >= milli).any(axis=1) if milli <= 1000 else (free == 1000).sum(axis=1) >= milli // 1000


def take(free, milli):
    """Returns what is left of the GPUs: a share comes from the fullest one where it fits. Only where it fits."""
    left = free.copy()
    if 0 < milli <= 1000:
        best = np.where(free >= milli, free, np.inf).argmin(axis=1)
        left[np.arange(len(free)), best] -= milli
    elif milli:
        whole = free == 1000
        left[whole & (whole.cumsum(axis=1) <= milli // 1000)] = 0
    return left


class Devices:
    """What is left of each GPU, in thousandths: free[node, GPU]. The cluster tells of pods that come."""

    def __init__(self, cluster, workload):
        nodes = cluster.columns()
        self.cpu, self.gpu, self.workload = nodes.index("cpu"), nodes.index(openb.GPU), workload
        self.free = np.where(np.arange(8) < nodes.allocatable[:, [self.gpu]] // 1000, 1000.0, 0.0)
        self.fragments = self.fragmented(self.free, nodes.free[:, self.cpu])
        self.cpu_free = nodes.free[:, self.cpu].copy()
        cluster.on_change(self.moved)

    def moved(self, pod, node, placed):
        assert placed, "in this trace nobody leaves"
        row = slice(node, node + 1)
        self.free[row] = take(self.free[row], pod.requests[self.gpu])
        self.cpu_free[node] -= pod.requests[self.cpu]
        self.fragments[row] = self.fragmented(self.free[row], self.cpu_free[row])

    def fragmented(self, free, cpu):
        """Returns for each node how much of its GPUs a task of the workload cannot use, in the mean."""
        total = free.sum(axis=1)
        lost = np.zeros(len(free))
        for (of_cpu, milli), share in self.workload:
            usable = np.where(free >= min(milli, 1000), free, 0.0).sum(axis=1)
            lost += share * (total - np.where((cpu >= of_cpu) & fits(free, milli), usable, 0.0))
        return lost

    def rules(self):
        def shares_fit(pod, nodes):
            return fits(self.free, pod.requests[self.gpu])

        def fgd(pod, nodes):
            at = np.flatnonzero(nodes.feasible)
            scores = np.zeros(len(nodes))
            after = self.fragmented(take(self.free[at], pod.requests[self.gpu]), nodes.free[at, self.cpu] - pod.requests[self.cpu])
            scores[at] = self.fragments[at] - after
            return scores
        return berth.predicate(shares_fit), berth.priority(fgd, weight=1e6)


def main():
    args = openb.arguments(__doc__)
    document = openb.scenario(args)
    common = collections.Counter((cpu, gpu) for cpu, gpu in openb.requests(document).tolist() if gpu).most_common(12)
    workload = [(task, n / sum(n for _, n in common)) for task, n in common]
    curves = {name: openb.run(document, *rules, prepare=lambda c: Devices(c, workload).rules()[:1]) for name, rules in (("as the release", ()), ("best fit", (best_fit,)))}
    curves["FGD"] = openb.run(document, prepare=lambda c: Devices(c, workload).rules())
    openb.report(curves, args.curve)


if __name__ == "__main__":
    main()
