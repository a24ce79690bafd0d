"""An environment for learning, in Gymnasium's form."""
from typing import Any, Callable, Dict, Optional, Tuple

import heapq
import json
import math

import numpy

from . import _library as _c
from ._rules import Nodes


class Env:
    """Pods come one after another, and an agent chooses a node for each among those where it fits by the rules of the
    release.

        env = berth.Env(cluster)
        observation, info = env.reset(seed=0)
        done = False
        while not done:
            fits = numpy.flatnonzero(env.mask)
            observation, reward, done, truncated, info = env.step(fits[0] if len(fits) else -1)

    An observation is a dict of views, which the next step changes; Env.copy_of(observation) returns one that stays:
        free         float64[nodes, resources], read-only: what is left of nodes.resources (cpu in thousandths, memory
                     in bytes)
        allocatable  float64[nodes, resources], read-only
        requests     float64[resources]: of the pod that is to be placed
        mask         bool[nodes]: where it fits
    An action is the index of a node, or -1 to leave the pod pending. The reward is 1.0 for a pod that is placed and 0.0
    otherwise, or reward(env, pod, node), called after the pod is placed. Equal seeds and actions give equal episodes.
    The cluster that is given stays as it is: every episode runs on a copy.

    pods       None (the pending ones of the cluster's input), or what Cluster.schedule takes
    shuffle    whether the pods come in an order of their own in each episode, which the seed decides
    arrivals   float[pods], seconds: when they come; None: one after another, at the times 0, 1, 2 ...
    durations  float[pods], seconds from a pod's arrival until it leaves its node; infinity: it stays. Pods that leave
               at a time do so before those that arrive at it
    time       when the pod that is to be placed has come
    simulate   a dict, which may be empty: the episode is in the simulated time of `schedsim simulate`, with the queue
               of the release. A pod that fits nowhere, or is left pending, waits and is tried again when the release
               would; every step shows the next pod for which there is a choice. More pods come by the keys arrivals
               (the path of a CSV, as of --arrivals) and generate (a list of texts, as of --generate; reset's seed is
               theirs); bindDelay, startDelay, endDelay and until are times such as "90s" or "2d". time is when the pod
               is tried. reward gets the name of the pod in place of its number, and outcome() tells how it went
    """

    metadata: Dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(
        self,
        cluster,
        pods=None,
        *,
        reward: Optional[Callable] = None,
        shuffle: bool = False,
        arrivals=None,
        durations=None,
        simulate: Optional[Dict[str, Any]] = None
    ):
        if not hasattr(cluster, "_open"):
            raise _c.Error("%r is no Cluster" % (cluster,))
        if reward is not None:
            _c.callable_or_error(reward, "reward")
        cluster._open()
        self._base, self._reward, self._shuffle = cluster, reward, shuffle
        self._pods = cluster._pods_of(pods)
        count = len(self._pods)
        self._arrivals = self._times(arrivals, count, "arrivals")
        self._durations = self._times(durations, count, "durations")
        if shuffle and (arrivals is not None or simulate is not None):
            raise _c.Error("shuffle: the arrivals say in which order pods come")
        self._simulate, self._episode = simulate, None
        if self._arrivals is not None and not numpy.isfinite(self._arrivals).all():
            raise _c.Error("arrivals: must be finite numbers")
        self.cluster, self._position, self._order, self._random = None, 0, [], numpy.random.default_rng()
        self.time = 0.0

    @staticmethod
    def _times(given, count: int, what: str):
        if given is None:
            return None
        try:
            times = numpy.asarray(given, numpy.float64)
        except (TypeError, ValueError):
            times = numpy.full(1, numpy.nan)  # refused below
        if times.shape != (count,) or not (times >= 0).all():
            raise _c.Error("%s: must be %d numbers from 0 on, one for each pod" % (what, count))
        return times

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict] = None
    ) -> Tuple[Dict[str, numpy.ndarray], Dict[str, Any]]:
        """Begins an episode. Returns an observation and information: pod ("namespace/name"), time."""
        if seed is not None:
            try:
                self._random = numpy.random.default_rng(seed)
            except (TypeError, ValueError):
                raise _c.Error("seed: %r: must be a whole number from 0 on" % (seed,)) from None
        count = len(self._pods)
        if self._shuffle:
            self._order = self._random.permutation(count).tolist()
        elif self._arrivals is not None:
            self._order = numpy.argsort(self._arrivals, kind="stable").tolist()
        else:
            self._order = list(range(count))
        self._order.append(count)  # the pod after the last is none
        self.close()
        self.cluster = self._base.copy()
        columns = self.cluster._use_columns(self._pods)
        self.nodes: Nodes = columns.nodes
        size = len(self.nodes)
        self.mask, self._requests = numpy.zeros(size, numpy.bool_), numpy.zeros(len(columns.resources))
        self._mask_at, self._requests_at = _c.address(self.mask), _c.address(self._requests)
        self._observation = {
            "free": self.nodes.free,
            "allocatable": self.nodes.allocatable,
            "requests": self._requests,
            "mask": self.mask,
        }
        self._size, self._position, self._ends, self.placed = size, 0, [], 0
        self._step = _c.LIBRARY.berth_step
        if self._simulate is not None:
            self._begin(columns)
            self._next(-1)
            return self._observation, {"pod": self._asked, "time": self.time}
        if count:
            self._advance(self._order[0])
            _c.call(
                "feasible",
                self.cluster._handle,
                self._pods.handle,
                self._order[0],
                size,
                self._mask_at,
                self._requests_at,
            )
        return self._observation, self._info()

    def _begin(self, columns) -> None:
        """Begins an episode in simulated time, which writes the arrays of the copied cluster."""
        options = dict(self._simulate)
        if "generate" in options:
            options.setdefault("seed", int(self._random.integers(2**31)))
        text = json.dumps(options).encode()
        names = (_c.c_char_p * len(columns.resources))(*[r.encode() for r in columns.resources])
        times = [None if t is None else _c.address(t) for t in (self._arrivals, self._durations)]
        self._episode = _c.handle(
            "begin",
            self.cluster._handle,
            self._pods.handle,
            *times,
            text,
            len(text),
            names,
            len(names),
            self._size,
            _c.address(columns.written[0]),
            _c.address(columns.written[1])
        )

    def _next(self, node: int) -> None:
        """Answers for the pod that was asked about, and waits for the next question."""
        name, seconds = _c.c_char_p(), _c.c_double()
        _c.call(
            "next", self._episode, node, self._size, _c.byref(name), self._mask_at, self._requests_at, _c.byref(seconds)
        )
        self.time = seconds.value
        self._asked = None if name.value is None else name.value.decode(errors="replace")

    def _step_in_time(self, node: int):
        if self._asked is None:
            raise _c.Error("the episode is over: call reset")
        pod = self._asked
        if node != -1 and not (0 <= node < self._size and self.mask[node]):
            raise _c.Error("action %d: the pod %s does not fit there" % (node, pod))
        self._next(node)
        if node >= 0:
            self.placed += 1
        reward = (1.0 if node >= 0 else 0.0) if self._reward is None else float(self._reward(self, pod, node))
        return self._observation, reward, self._asked is None, False, {"pod": self._asked, "time": self.time}

    def outcome(self) -> Dict[str, Any]:
        """Returns how an episode in simulated time went, once it is over: pods, placed, neverPlaced, waitSeconds (p50,
        p90, p99, max), attempts, preemptions, evictions, makespanSeconds, endSeconds, cut."""
        if self._episode is None:
            raise _c.Error("the episode is not in simulated time, or was closed")
        return json.loads(_c.sized_text("outcome", self._episode))

    __reduce__ = _c.no_pickle("an Env", "pickle its cluster, and make an Env of what comes back")

    def _info(self) -> Dict[str, Any]:
        pod = self._order[self._position]
        return {"pod": self._pods.names[pod] if pod < len(self._pods) else None, "time": self.time}

    def _advance(self, pod: int) -> None:
        """Lets time pass until a pod comes: those that end before leave their nodes."""
        if pod < len(self._pods):
            self.time = float(self._position if self._arrivals is None else self._arrivals[pod])
            while self._ends and self._ends[0][0] <= self.time:
                _c.call("forget", self.cluster._handle, self._pods.handle, heapq.heappop(self._ends)[1])

    def step(self, action: int) -> Tuple[Dict[str, numpy.ndarray], float, bool, bool, Dict[str, Any]]:
        """Places the pod on a node, or leaves it pending (-1). Returns observation, reward, terminated, truncated
        (always False), information. A node where the pod does not fit is an error."""
        if self.cluster is None:
            raise _c.Error("call reset before step")
        if self._episode is not None:
            return self._step_in_time(_c.whole(action, "action"))
        position, node = self._position, _c.whole(action, "action")
        pod, after = self._order[position], position + 1
        if after >= len(self._order):
            raise _c.Error("the episode is over: call reset")
        if node != -1 and not (0 <= node < self._size and self.mask[node]):
            raise _c.Error("action %d: the pod %s does not fit there" % (node, self._pods.names[pod]))
        following = self._order[after]
        handle = self.cluster._open()
        self._position = after
        if self._durations is None:
            if self._arrivals is not None:
                self._advance(following)
            else:
                self.time = float(after)
            code = self._step(
                handle, self._pods.handle, pod, node, following, self._size, self._mask_at, self._requests_at
            )
        else:
            code = self._step(
                handle, self._pods.handle, pod, node, len(self._pods), self._size, self._mask_at, self._requests_at
            )
        if code != 0:
            raise _c.Error(_c.last_error(), code)
        if node >= 0:
            self.placed += 1
        if self._durations is not None:
            self._leave_and_look(pod, node, following, handle)
        reward = (1.0 if node >= 0 else 0.0) if self._reward is None else float(self._reward(self, pod, node))
        name = self._pods.names[following] if following < len(self._pods.names) else None
        return self._observation, reward, name is None, False, {"pod": name, "time": self.time}

    def _leave_and_look(self, pod: int, node: int, following: int, handle) -> None:
        end = self.time + float(self._durations[pod])
        if node >= 0 and not math.isinf(end):
            heapq.heappush(self._ends, (end, pod))
        self._advance(following)
        if following < len(self._pods):
            _c.call("feasible", handle, self._pods.handle, following, self._size, self._mask_at, self._requests_at)

    def action_mask(self) -> numpy.ndarray:
        """Returns where the pod fits: bool[nodes], a view."""
        return self.mask

    @staticmethod
    def copy_of(observation: Dict[str, numpy.ndarray]) -> Dict[str, numpy.ndarray]:
        """Returns an observation that stays as it is."""
        return {k: v.copy() for k, v in observation.items()}

    def close(self) -> None:
        """Ends the episode. The cluster that was given stays open."""
        if self._episode is not None:
            _c.LIBRARY.berth_end(self._episode)
            self._episode = None
        if self.cluster is not None:
            self.cluster.close()
            self.cluster = None

    def __del__(self):
        # The arrays that an episode writes go with this object.
        if getattr(self, "_episode", None) is not None:
            _c.LIBRARY.berth_end(self._episode)
            self._episode = None
