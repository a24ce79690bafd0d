"""The decisions of kube-scheduler, release by release, for Python.

    import berth
    c = berth.Cluster.load("cluster.json.gz", release="1.29")
    r = c.schedule()               # the pending pods of the input, in its order
    r.placements                   # {"default/web-0": "node-7", "default/web-1": None}
    m = c.scores("default/web-1")  # m.feasible[n], m.total[n], m.rule["NodeResourcesFit"][n]

Arrays over nodes are in the order of Cluster.nodes. Amounts are in the unit of the resource: cpu in thousandths, memory
and storage in bytes, all else as counted. Mistakes raise berth.Error. A cluster is used by one thread at a time; calls
release the GIL. Clusters are pickled as snapshots of what they are then. They do not work in a forked child: open or
restore one there.

A rule of your own is a function of a pod and of all nodes at once (priority, predicate). It is an experiment in Python;
what a daemon is to run is configured, or written in C++ (plugin/README.md).

    @berth.priority(weight=5)
    def best_fit(pod, nodes):      # nodes.free[n, resource], nodes.allocatable, pod.requests[resource]
        return 100 - (nodes.free - pod.requests).clip(0).sum(axis=1) / nodes.allocatable.sum(axis=1) * 100
    c.add(best_fit)

Env lets an agent choose the nodes, in the form of Gymnasium.
"""
import gzip
import json
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, TypeVar, Union

import numpy

from . import _frames
from . import _library as _c
from ._env import Env
from ._library import Error
from ._rules import Columns, Nodes, Pod, Predicate, Priority, attach, hook, logger, predicate, priority

__all__ = [
    "Cluster",
    "Env",
    "Error",
    "Nodes",
    "Pod",
    "Predicate",
    "Preemption",
    "Priority",
    "Result",
    "Scores",
    "predicate",
    "priority",
    "version",
]
__version__ = _c.LIBRARY.berth_version().decode()

Rule = TypeVar("Rule", Priority, Predicate)

_AT_ONCE = 512  # pods decided in one call; Ctrl-C works between calls


def version() -> str:
    """Returns the version of the engine."""
    return __version__


class _Pods:
    """A list of pods to place, in the library."""

    def __init__(self, handle):
        self.handle = handle
        self.names = []
        for i in range(_c.number("pods_count", handle)):
            name = _c.c_char_p()
            _c.call("pod_name", handle, i, _c.byref(name))
            self.names.append(name.value.decode(errors="replace"))

    def __len__(self):
        return len(self.names)

    __reduce__ = _c.no_pickle("a list of pods", "pickle the objects that it was read from")

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            _c.LIBRARY.berth_close_pods(self.handle)
            self.handle = None


class Result:
    """Where pods went.

    pods        list of "namespace/name", in the order in which they were tried
    nodes       int32[pods]: the index of the node in Cluster.nodes, or -1
    placements  dict: "namespace/name" to the name of the node, or None
    pending     list of those without a node
    """

    def __init__(self, cluster, pods, nodes):
        self._cluster, self._list = cluster, pods
        self.pods, self.nodes = pods.names, nodes
        names = cluster.nodes
        self.placements = {pod: names[n] if n >= 0 else None for pod, n in zip(pods.names, nodes.tolist())}
        self.pending = [pod for pod, n in zip(pods.names, nodes.tolist()) if n < 0]

    def reason(self, pod: str) -> str:
        """Returns why a pod ("namespace/name") was not placed; empty if it was."""
        return _c.sized_text("reason", self._list.handle, self._index(pod))

    def explain(self, pod: str) -> Dict[str, Any]:
        """Returns a dict that says why the pod would go where it would in the cluster as it is now: `schedsim explain
        -o json`."""
        return self._cluster._explain(self._list, self._index(pod))

    def frame(self) -> Any:
        """Returns a pandas.DataFrame with a row for each pod: pod, node (None if it has none), reason. Needs pandas."""
        import pandas

        return pandas.DataFrame(
            {
                "pod": self.pods,
                "node": [self.placements[p] for p in self.pods],
                "reason": [self.reason(p) if n < 0 else "" for p, n in zip(self.pods, self.nodes.tolist())],
            }
        )

    __reduce__ = _c.no_pickle("a Result", "pickle its placements or nodes, or its cluster")

    def _index(self, pod):
        if pod not in self.placements:
            raise Error("%r is not among the pods that were tried" % (pod,))
        return self.pods.index(pod)

    def __repr__(self):
        return "<berth.Result: %d pods, %d pending>" % (len(self.pods), len(self.pending))


class Preemption(NamedTuple):
    """Whom to evict so that a pod fits."""

    node: Optional[str]  # None: evicting helps nowhere
    victims: List[str]  # "namespace/name"
    nominated_to_clear: List[str]  # pods that lose their promise of the node
    error: str  # what the release says when it finds nothing


class Scores:
    """Where a pod fits, and how well.

    feasible  bool[nodes]
    total     float64[nodes]: the weighted sum of all scores, those of rules of yours included; 0 where the pod does not
              fit, and everywhere if fewer than two nodes fit, because such a pod is not scored
    ties      int64[ties]: the nodes with the best total, one of which would be chosen; empty if no node fits
    rule      dict: name of a rule of the release to float64[nodes], computed when it is read first
    weight    dict: name of a rule of the release to its weight
    """

    def __init__(self, cluster, pods, index):
        self._cluster, self._pods, self._index, self._changes = cluster, pods, index, cluster._changes
        n = cluster._node_count()
        feasible = numpy.empty(n, numpy.uint8)
        self.total = numpy.empty(n)
        cluster._call("scores", cluster._handle, pods.handle, index, n, _c.address(feasible), _c.address(self.total))
        self.feasible = feasible.view(numpy.bool_)
        self._rule = self._weight = None

    __reduce__ = _c.no_pickle("Scores", "pickle the arrays feasible, total and rule")

    def _read_rules(self):
        c = self._cluster
        if self._changes != c._changes:
            raise Error("the cluster has changed since these scores were asked for: ask again")
        count = _c.number("rule_count", c._open(), self._pods.handle, self._index)
        scores = numpy.zeros((count, len(self.total)))
        self._rule, self._weight = {}, {}
        if count:
            c._call(
                "rule_scores", c._handle, self._pods.handle, self._index, count, len(self.total), _c.address(scores)
            )
        for i in range(count):
            name, weight = _c.c_char_p(), _c.c_int64()
            _c.call("rule", c._handle, self._pods.handle, self._index, i, _c.byref(name), _c.byref(weight))
            self._rule[name.value.decode()], self._weight[name.value.decode()] = scores[i], weight.value

    @property
    def ties(self) -> numpy.ndarray:
        """int64[ties]: the nodes with the best total; empty if no node fits."""
        fits = numpy.flatnonzero(self.feasible)
        return fits[self.total[fits] == self.total[fits].max()] if len(fits) else fits

    @property
    def rule(self) -> Dict[str, numpy.ndarray]:
        """Name of a rule of the release to its scores, float64[nodes]. Raises Error once the cluster has changed."""
        if self._rule is None:
            self._read_rules()
        return self._rule

    @property
    def weight(self) -> Dict[str, int]:
        """Name of a rule of the release to its weight. Raises Error once the cluster has changed."""
        if self._weight is None:
            self._read_rules()
        return self._weight


class Cluster:
    """Nodes, the pods on them, and the scheduler of a release. Opened by load, from_objects, from_frames or restore;
    close() ends it."""

    def __init__(self, inputs, options):
        text = _options(options)
        given = (_c.Input * max(1, len(inputs)))(*inputs)
        self._take(_c.handle("open", text, len(text), given, len(inputs)))

    def _take(self, handle):
        """Begins with a cluster that the library has opened."""
        self._begin()
        self._handle, self._pid = handle, os.getpid()
        self._pending = _Pods(_c.handle("pending", handle))
        return self

    def _begin(self):
        self._handle, self._names, self._changes, self._rules, self._error, self._columns = (
            None,
            None,
            0,
            [],
            None,
            None,
        )
        self._hook, self._stale = None, False
        self._functions: List[Any] = []  # what the library was given to call; it may do so until the cluster is closed

    @classmethod
    def load(
        cls, paths: Any, release: Optional[str] = None, policy: Any = None, configuration: Any = None, **options: Any
    ) -> "Cluster":
        """Opens a cluster with the objects of files or folders, which are what `schedsim run` reads.

        paths          a path, or a list of them
        release        "1.8", "1.9", "1.10", "1.13", "1.19", "1.29" or "1.36"; None: that of the Scenario, the first
                       that reads the configuration, or 1.10
        policy         a Policy (releases that have them): a dict, or the path of a file in JSON or YAML
        configuration  a KubeSchedulerConfiguration: a dict, or the path of a file in JSON or YAML
        ties           "turn" (as the release takes turns; the default), "first" or "random", with seed
        provider, featureGates, hardPodAffinitySymmetricWeight, preempt, percentageOfNodesToScore, ignoreUnknownFields
        """
        if isinstance(paths, (str, bytes, os.PathLike)):
            paths = [paths]
        try:
            paths = [os.fspath(p) for p in paths]
        except TypeError as e:
            raise Error("paths: must be a path, or a list of them: %s" % e) from None
        inputs = [_c.Input(path=_c.encoded(p, "path")) for p in paths]
        return cls(
            inputs, dict(options, release=release, policy=_document(policy), configuration=_document(configuration))
        )

    @classmethod
    def from_objects(
        cls, objects: Any, release: Optional[str] = None, policy: Any = None, configuration: Any = None, **options: Any
    ) -> "Cluster":
        """Opens a cluster with Kubernetes objects: dicts as `kubectl get -o json` prints them. Options are those of
        load."""
        text = _text_of(objects)
        inputs = [_c.Input(text=text, size=len(text), name=b"objects")]
        return cls(
            inputs, dict(options, release=release, policy=_document(policy), configuration=_document(configuration))
        )

    @classmethod
    def from_frames(
        cls,
        nodes: Any,
        pods: Any = None,
        release: Optional[str] = None,
        policy: Any = None,
        configuration: Any = None,
        **options: Any
    ) -> "Cluster":
        """Opens a cluster with tables: pandas.DataFrames, dicts of columns, or lists of dicts. Options are those of
        load.

        nodes  columns: name; cpu (thousandths), memory (bytes) and any other resource (as counted), whole numbers;
               labels (a dict); unschedulable. Without a column pods, a node takes 110
        pods   columns: name; namespace ("default"); resources as above; labels, node_selector (dicts); node (of a pod
               that is placed, by name); priority. The columns arrival and duration are left to Env
        """
        text = _options(
            dict(options, release=release, policy=_document(policy), configuration=_document(configuration))
        )
        return cls.__new__(cls)._take(_frames.opened(text, nodes, pods))

    def snapshot(self) -> bytes:
        """Returns the cluster as it is now as bytes, from which restore makes one that is as a copy would be. It has
        the inputs, so that no file is needed; rules, hooks and results are not in it. Pickling does the same."""
        return gzip.compress(_c.sized_bytes("snapshot", self._open()), 1)

    @classmethod
    def restore(cls, snapshot: bytes) -> "Cluster":
        """Opens a cluster of what snapshot returned, in this process or another."""
        if not isinstance(snapshot, bytes):
            raise Error("%r is no snapshot: it must be bytes" % (snapshot,))
        return cls.__new__(cls)._take(_c.handle("restore", snapshot, len(snapshot)))

    def _open(self):
        if self._handle is None:
            raise Error("the cluster is closed", -2)
        if self._pid != os.getpid():
            raise Error("the cluster was opened by another process: open one in the child of a fork", -2)
        return self._handle

    def close(self) -> None:
        """Ends the cluster. Its results stay."""
        if self._handle is not None:
            _c.call("close", self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            _c.LIBRARY.berth_close(self._handle)

    def __reduce__(self):
        if self._rules or self._hook:
            raise Error(
                "a Cluster with rules or hooks of Python cannot be pickled: pickle its snapshot(), and add them again"
            )
        return type(self).restore, (self.snapshot(),)

    def copy(self) -> "Cluster":
        """Returns a cluster that is as this one now, without its Python rules, and changes by itself."""
        other = Cluster.__new__(Cluster)
        other._begin()
        other._handle = _c.handle("copy", self._open())
        other._pid, other._pending = os.getpid(), self._pending
        return other

    def _node_count(self):
        return _c.number("node_count", self._open())

    @property
    def nodes(self) -> List[str]:
        """The names of the nodes. The index of a node that was removed has an empty name until another node gets it."""
        if self._names is None:
            names = []
            for i in range(self._node_count()):
                name = _c.c_char_p()
                _c.call("node_name", self._handle, i, _c.byref(name))
                names.append(name.value.decode(errors="replace"))
            self._names = names
        return self._names

    @property
    def warnings(self) -> List[str]:
        """What reading the input had to say: a list of sentences."""
        return _c.sized_text("warnings", self._open()).splitlines()

    def node(self, name: str) -> int:
        """Returns the index of a node."""
        index = _c.c_int32()
        _c.call("node_index", self._open(), _c.encoded(name, "node"), _c.byref(index))
        if index.value < 0:
            raise Error("there is no node %r" % (name,))
        return index.value

    def amounts(self, resource: str) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """Returns float64[nodes] twice: what nodes offer of a resource, and what the pods on them request."""
        allocatable, requested = numpy.zeros(self._node_count()), numpy.zeros(self._node_count())
        _c.call(
            "amounts",
            self._handle,
            _c.encoded(resource, "resource"),
            len(allocatable),
            _c.address(allocatable),
            _c.address(requested),
        )
        return allocatable, requested

    def apply(self, objects: Any) -> int:
        """Adds objects (dicts or text), or replaces those of the same name: nodes, pods with a node, and what rules
        read."""
        text = _text_of(objects)
        count = _c.c_size_t()
        self._stale = True
        self._call("apply", self._open(), text, len(text), b"objects", _c.byref(count))
        self._changed()
        return count.value

    def remove_node(self, name: str) -> None:
        """Removes a node. The pods on it stay known until they are deleted."""
        _c.call("remove_node", self._open(), _c.encoded(name, "node"))
        self._changed()

    def delete_pod(self, name: str) -> None:
        """Takes a placed pod, "namespace/name", from its node."""
        self._call("delete_pod", self._open(), _c.encoded(name, "pod"))
        self._changed()

    def schedule(self, pods: Any = None, progress: bool = False) -> Result:
        """Decides for pods, one after another, and assumes each on its node. Returns a Result. Ctrl-C ends it between
        two decisions; what was placed until then is placed.

        pods      None (the pending ones of the input), the path of a file, or objects (dicts)
        progress  whether tqdm, if it is installed, shows a bar
        """
        batch = self._pods_of(pods)
        nodes = numpy.full(len(batch), -1, numpy.int32)
        if self._rules or self._hook:
            self._use_columns(batch)
        self._changed()
        for first in _shown(range(0, len(batch), _AT_ONCE), progress):
            count = min(_AT_ONCE, len(batch) - first)
            self._call("schedule", self._open(), batch.handle, first, count, _c.address(nodes[first:]))
        return Result(self, batch, nodes)

    def scores(self, pod: Any) -> Scores:
        """Returns the Scores of a pod, and decides nothing. pod: "namespace/name" of a pending pod, or an object
        (dict)."""
        pods, index = self._one(pod)
        if self._rules:
            self._use_columns(pods)
        return Scores(self, pods, index)

    def preempt(self, pod: Any, apply: bool = False) -> Preemption:
        """Finds out whom the release would evict so that a pod fits that does not fit now; apply: takes them from their
        node. The cluster is to be opened with preempt=True; releases up to 1.13 need featureGates={"PodPriority": True}
        too.
        """
        pods, index = self._one(pod)
        if self._rules:
            self._use_columns(pods)
        text, size = _c.c_char_p(), _c.c_size_t()
        self._call("preempt", self._open(), pods.handle, index, int(apply), _c.byref(text), _c.byref(size))
        found = json.loads(_c.text_at(text, size))
        if apply:
            self._changed()
        return Preemption(found["node"] or None, found["victims"], found["nominatedToClear"], found["error"])

    def columns(self) -> Nodes:
        """Returns the nodes as arrays (Nodes), as they are now; the next decision of a rule, or call of this function,
        changes them."""
        columns = self._use_columns(None)
        _c.call("refresh", self._handle)
        return columns.nodes

    def label(self, key: str) -> List[Optional[str]]:
        """Returns the value of a label of each node; None where it has none."""
        values, encoded = [], _c.encoded(key, "label")
        for i in range(self._node_count()):
            value = _c.c_char_p()
            _c.call("node_label", self._handle, i, encoded, _c.byref(value))
            values.append(None if value.value is None else value.value.decode(errors="replace"))
        return values

    def on_change(self, function: Optional[Callable]) -> None:
        """Sets what is called when a pod comes to a node or leaves it: function(pod, node, placed), with a Pod, the
        index of the node, and whether it came. It is called at once for the pods that are on nodes, so that a rule can
        keep a state of its own, such as that of devices. It must not use the cluster. What it raises is raised by the
        call that moved the pod.
        """
        self._use_columns(None)
        made = _c.HOOK() if function is None else hook(self, function)
        self._functions.append(made)
        self._hook = function
        self._call("set_hook", self._open(), made, None)

    def on_log(self, function: Optional[Callable]) -> None:
        """Sets what gets the messages of the engine: function(severity, text), severity 0 (information) to 3 (a
        defect). What it raises is raised by the call that had the message."""
        made = _c.LOG() if function is None else logger(self, function)
        self._functions.append(made)
        _c.call("set_log", self._open(), made, None)

    def explain(self, pod: Any) -> Dict[str, Any]:
        """Returns a dict that says why a pod would go where it would, or what keeps it pending."""
        return self._explain(*self._one(pod))

    def place(self, pod: Any, node: Union[str, int]) -> None:
        """Places a pod on a node (name or index) without a decision."""
        pods, index = self._one(pod)
        at = self.node(node) if isinstance(node, (str, bytes)) else _c.whole(node, "node")
        self._call("assume", self._open(), pods.handle, index, at)
        self._changed()

    def forget(self, pod: Any) -> None:
        """Takes a pod that was placed, but is not bound, from its node again."""
        pods, index = self._one(pod)
        self._call("forget", self._open(), pods.handle, index)
        self._changed()

    def add(self, rule: Rule) -> Rule:
        """Adds a rule that was made by berth.priority or berth.predicate. Returns it."""
        self._use_columns(None)
        attach(self, rule)
        return rule

    def _use_columns(self, pods) -> Columns:
        """Returns the arrays that the library writes, for the nodes and resources that there are."""
        self._open()
        if self._columns is None or self._stale or len(self._columns.nodes) != self._node_count():
            # The library writes the arrays from before until it has the new ones.
            self._columns = Columns(self, _c.sized_text("resources", self._handle).split())
            self._stale = False
        return self._columns

    def _call(self, name, *arguments):
        """Calls the library; what a rule raised meanwhile is raised here."""
        self._error = None
        try:
            _c.call(name, *arguments)
        except Error as e:
            if self._error is not None:
                error, self._error = self._error, None
                if not isinstance(error, Exception):
                    raise error  # KeyboardInterrupt and its like
                raise e from error
            raise
        if self._error is not None:  # of a hook
            error, self._error = self._error, None
            raise error

    def _changed(self):
        self._changes += 1
        self._names = None

    def _explain(self, pods, index):
        if self._rules:
            self._use_columns(pods)
        text, size = _c.c_char_p(), _c.c_size_t()
        self._call("explain", self._open(), pods.handle, index, _c.byref(text), _c.byref(size))
        return json.loads(_c.text_at(text, size))

    def _pods_of(self, pods):
        if pods is None:
            return self._pending
        if isinstance(pods, (str, os.PathLike)):
            path = os.fspath(pods)
            name = _c.encoded(path, "path")
            try:
                with open(path, "rb") as f:
                    text = f.read()
            except OSError as e:
                raise Error(str(e)) from None
            return _Pods(_c.handle("read_pods", self._open(), text, len(text), name))
        text = _text_of(pods)
        return _Pods(_c.handle("read_pods", self._open(), text, len(text), b"objects"))

    def _one(self, pod):
        if isinstance(pod, str):
            if pod not in self._pending.names:
                raise Error("%r is not a pending pod of the input" % (pod,))
            return self._pending, self._pending.names.index(pod)
        pods = self._pods_of(pod)
        if len(pods) != 1:
            raise Error("there are %d pods in the objects: one is needed" % len(pods))
        return pods, 0

    def __repr__(self):
        return "<berth.Cluster: closed>" if self._handle is None else "<berth.Cluster: %d nodes>" % self._node_count()


def _shown(steps, progress: bool):
    """Returns the steps, with a bar if that is wanted and possible."""
    if progress:
        try:
            from tqdm import tqdm
        except ImportError:
            return steps
        return tqdm(steps, unit_scale=_AT_ONCE, unit=" pods")
    return steps


def _options(options) -> bytes:
    for name, value in options.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError) as e:
            raise Error("options: %s: %s; rules are added with Cluster.add" % (name, e)) from None
    return json.dumps({k: v for k, v in options.items() if v is not None}).encode()


def _document(given):
    """Returns a Policy or configuration: a dict, or the text of a file in JSON or YAML."""
    if given is None or isinstance(given, dict):
        return given
    if not isinstance(given, (str, bytes, os.PathLike)):
        raise Error("%r: a Policy or configuration is a dict, or the path of a file" % (given,))
    try:
        with open(given, encoding="utf-8") as f:
            return f.read()
    except (OSError, ValueError) as e:
        raise Error("%r: %s" % (os.fspath(given), e)) from None


def _text_of(objects):
    if isinstance(objects, (str, bytes)):
        try:
            return objects.encode() if isinstance(objects, str) else objects
        except UnicodeEncodeError as e:
            raise Error("objects: not valid Unicode: %s" % e) from None
    if isinstance(objects, dict):
        objects = [objects]
    try:
        return "\n".join(json.dumps(o) for o in objects).encode()
    except (TypeError, ValueError, RecursionError) as e:
        raise Error("objects: must be dicts as of JSON, or a text: %s" % e) from None
