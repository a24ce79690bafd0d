#!/usr/bin/env python3
"""Dot product packing (Tetris, SIGCOMM 2014) on the openb trace: pods go where what they ask for is what is left."""
import numpy as np

import berth
import openb


def dot_product(sign):
    def score(pod, nodes):
        whole = np.maximum(nodes.allocatable, 1)
        used = [i for i, r in enumerate(nodes.resources) if r != "pods" and pod.requests[i] > 0]
        return sign * ((nodes.free / whole)[:, used] * (pod.requests / whole)[:, used]).sum(axis=1)

    return berth.priority(score, weight=1e6, name="dot-product")


def main():
    args = openb.arguments(__doc__)
    document = openb.scenario(args)
    openb.report(
        {
            "as the release": openb.run(document),
            "largest dot product": openb.run(document, dot_product(1)),
            "smallest dot product": openb.run(document, dot_product(-1)),
        },
        args.curve,
    )


if __name__ == "__main__":
    main()
