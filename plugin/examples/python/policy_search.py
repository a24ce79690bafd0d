#!/usr/bin/env python3
"""A small search for a policy: weights of two rules, drawn at random by a seed, each tried on a copy of the cluster."""
import numpy as np

import berth
import openb
from best_fit import best_fit
from dot_product import dot_product

TRIALS = 6


def main():
    args = openb.arguments(__doc__)
    document = openb.scenario(args)
    asked, c = openb.requests(document)[:, 1], openb.cluster(document)
    offered = c.amounts(openb.GPU)[0].sum()
    random, best = np.random.default_rng(1), None
    for trial in range(TRIALS):
        fit, dot = (0.0, 0.0) if trial == 0 else random.uniform(-1, 1, 2).round(2)
        copy = c.copy()
        copy.add(berth.priority(best_fit.function, weight=1e5 * fit, name="best-fit"))
        copy.add(berth.priority(dot_product(1).function, weight=1e5 * dot, name="dot-product"))
        share = (asked * (copy.schedule().nodes >= 0)).sum() / offered
        print("best fit %5.2f, dot product %5.2f: %.2f %% of the GPUs allocated" % (fit, dot, 100 * share))
        best = max(best or (share, fit, dot), (share, fit, dot))
    print("best: %.2f %% with best fit %.2f, dot product %.2f" % (100 * best[0], best[1], best[2]))


if __name__ == "__main__":
    main()
