#!/usr/bin/env python3
"""A loop over berth.Env: an agent that chooses at random, and one that packs, see the same pods."""
import time

import numpy as np

import berth
import openb


def at_random(observation, random):
    return random.choice(np.flatnonzero(observation["mask"]))


def packing(observation, random):
    """Takes the node where least is left of its GPUs, then of its cpu."""
    fits = np.flatnonzero(observation["mask"])
    left = (observation["free"] - observation["requests"])[fits]
    return fits[np.lexsort((left[:, 0], left[:, -1]))[0]]


def episode(env, agent, seed):
    """Returns the sum of rewards, the number of steps, and seconds."""
    random = np.random.default_rng(seed)
    begin = time.perf_counter()
    observation, _ = env.reset(seed=seed)
    total, steps, done = 0.0, 0, False
    while not done:
        action = agent(observation, random) if observation["mask"].any() else -1
        observation, reward, done, _, _ = env.step(action)
        total, steps = total + reward, steps + 1
    return total, steps, time.perf_counter() - begin


def main():
    args = openb.arguments(__doc__)
    env = berth.Env(openb.cluster(openb.scenario(args)), shuffle=True)
    for agent in (at_random, packing):
        total, steps, seconds = episode(env, agent, seed=1)
        print(
            "%-10s %d of %d pods placed, %.0f us a step with the agent's own time"
            % (agent.__name__, total, steps, 1e6 * seconds / steps)
        )


if __name__ == "__main__":
    main()
