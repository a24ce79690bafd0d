#!/usr/bin/env python3
"""Best fit against what release 1.29 does by default, on the openb trace: how many of the GPUs can be used."""
import numpy as np

import berth
import openb


@berth.priority(weight=1e6)
def best_fit(pod, nodes):
    """The less of a node is left by its largest unit of each resource, the better (Protean, OSDI 2020)."""
    largest = np.maximum(nodes.allocatable.max(axis=0), 1)
    used = pod.requests > 0
    return -((nodes.free - pod.requests) / largest)[:, used].sum(axis=1)


def main():
    args = openb.arguments(__doc__)
    document = openb.scenario(args)
    openb.report(
        {
            "as the release, in turn": openb.run(document, ties="turn"),
            "as the release": openb.run(document),
            "best fit": openb.run(document, best_fit),
        },
        args.curve,
    )


if __name__ == "__main__":
    main()
