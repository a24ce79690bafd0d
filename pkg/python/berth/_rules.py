"""Rules of one's own: functions of a pod and of all nodes at once."""
import ctypes
import weakref
from typing import Callable, List, Optional, Sequence

import numpy

from . import _library as _c


class Pod:
    """The pod that a rule is asked about.

    name      "namespace/name"
    template  an int, equal for pods that are alike, while one of them exists
    requests  float64[resources]: what it requests of Nodes.resources (cpu in thousandths, memory in bytes; pods: 1)
    """

    __slots__ = ("name", "template", "requests")

    def __init__(self, name: str, template: int, requests: numpy.ndarray):
        self.name, self.template, self.requests = name, template, requests

    def __repr__(self) -> str:
        return "<berth.Pod %s>" % self.name


class Nodes:
    """All nodes, as arrays. Those of a rule show the nodes as they are during the call: copy what is to stay.

    names        str[nodes], a tuple
    resources    str[resources]: "cpu", "memory", "ephemeral-storage", "pods", then the others in ascending order
    allocatable  float64[nodes, resources], read-only: what the nodes offer
    free         float64[nodes, resources], read-only: what the pods on them leave of it
    feasible     bool[nodes]: where the pod fits by the rules before; None outside of a rule
    """

    __slots__ = ("names", "resources", "allocatable", "free", "feasible")

    def __init__(self, names: Sequence[str], resources: Sequence[str], allocatable: numpy.ndarray, free: numpy.ndarray):
        self.names, self.resources, self.allocatable, self.free, self.feasible = (
            names,
            resources,
            allocatable,
            free,
            None,
        )

    def index(self, resource: str) -> int:
        """Returns the column of a resource."""
        if resource not in self.resources:
            raise _c.Error("no node has the resource %r; there are %s" % (resource, ", ".join(self.resources)))
        return self.resources.index(resource)

    @property
    def requested(self) -> numpy.ndarray:
        """float64[nodes, resources]: what the pods on the nodes request."""
        return self.allocatable - self.free

    def __len__(self) -> int:
        return len(self.allocatable)


class Priority:
    """A function that returns a score for each node: finite numbers of any size, float64[nodes]. The total of a node is
    that of the release plus weight times score."""

    def __init__(self, function: Callable, name: str, weight: float):
        self.function, self.name, self.weight = function, name, weight

    def __call__(self, pod: Pod, nodes: Nodes) -> numpy.ndarray:
        return self.function(pod, nodes)


class Predicate:
    """A function that returns where a pod may go: bool[nodes]."""

    def __init__(self, function: Callable, name: str):
        self.function, self.name = function, name

    def __call__(self, pod: Pod, nodes: Nodes) -> numpy.ndarray:
        return self.function(pod, nodes)


def _name_of(function: Callable) -> str:
    return getattr(function, "__name__", type(function).__name__).strip("_<>").replace("_", "-")


def priority(function: Optional[Callable] = None, *, weight: float = 1.0, name: Optional[str] = None):
    """Makes a Priority of a function: @berth.priority, or @berth.priority(weight=5)."""
    if function is None:
        return lambda f: priority(f, weight=weight, name=name)
    function = _c.callable_or_error(function, "priority")
    try:
        weight = float(weight)
    except (TypeError, ValueError):
        raise _c.Error("weight: %r: must be a number" % (weight,)) from None
    return Priority(function, _name_of(function) if name is None else name, weight)


def predicate(function: Optional[Callable] = None, *, name: Optional[str] = None):
    """Makes a Predicate of a function."""
    if function is None:
        return lambda f: predicate(f, name=name)
    function = _c.callable_or_error(function, "predicate")
    return Predicate(function, _name_of(function) if name is None else name)


class Columns:
    """The arrays that a cluster writes. They belong to Python, so that what refers to them stays valid."""

    def __init__(self, cluster, resources: List[str]):
        self.resources = tuple(resources)
        names = tuple(cluster.nodes)
        shape = (len(names), len(resources))
        self.written = numpy.zeros(shape), numpy.zeros(shape)
        shown = [a.view() for a in self.written]
        for a in shown:
            a.flags.writeable = False
        self.nodes = Nodes(names, self.resources, shown[0], shown[1])
        texts = (_c.c_char_p * len(resources))(*[r.encode() for r in resources])
        _c.call(
            "use_columns",
            cluster._open(),
            texts,
            len(resources),
            len(names),
            _c.address(self.written[0]),
            _c.address(self.written[1]),
        )


def _array(at: int, size: int, kind) -> numpy.ndarray:
    if size == 0:
        return numpy.zeros(0, kind)
    return numpy.frombuffer((ctypes.c_char * (size * numpy.dtype(kind).itemsize)).from_address(at), kind)


def pod_of(q) -> Pod:
    """Returns the pod of a question or an event of the library."""
    return Pod(q.pod.decode(errors="replace"), q.template, numpy.array(q.requests[: q.resources]))


class _Asker:
    """Asks a rule what the library asks, and writes its answer into the library's arrays."""

    def __init__(self, cluster, rule):
        self.rule, self.owner = rule, weakref.ref(cluster)
        self.places, self.feasible, self.scores = None, None, None

    def answer(self, q, owner) -> None:
        n, places = q.nodes, (q.feasible, q.scores, q.nodes)
        if places != self.places:
            self.feasible = _array(q.feasible, n, numpy.bool_)
            self.scores = _array(q.scores, n, numpy.float64) if q.scores else None
            self.places = places
        nodes = owner._columns.nodes
        nodes.feasible = self.feasible.copy()
        try:
            answer = numpy.asarray(self.rule(pod_of(q), nodes))
        finally:
            nodes.feasible = None
        if answer.shape != (n,):
            raise _c.Error("returned an array of shape %s, not (%d,)" % (answer.shape, n))
        if self.scores is not None:
            if answer.dtype.kind not in "fiub":
                raise _c.Error("returned an array of %s, not of numbers" % answer.dtype)
            self.scores[:] = answer
            if not numpy.isfinite(self.scores).all() and not numpy.isfinite(self.scores[self.feasible]).all():
                raise _c.Error("returned a score that is not finite")
        else:
            if answer.dtype != numpy.bool_:
                raise _c.Error("returned an array of %s, not of bool" % answer.dtype)
            self.feasible &= answer

    def __call__(self, _user, question) -> int:
        q, owner = question[0], self.owner()
        try:
            if owner is None:
                raise _c.Error("the cluster is gone")
            self.answer(q, owner)
            return 0
        except BaseException as e:  # whatever it is, it must not pass through C
            if owner is not None:
                owner._error = e
            text = _c.text_of(e).replace("\0", "\\0").encode(errors="replace")[: q.error_size - 1]
            ctypes.memmove(q.error, text + b"\0", len(text) + 1)
            return 1


def attach(cluster, rule) -> None:
    """Adds a rule to a cluster, which keeps it."""
    if not isinstance(rule, (Priority, Predicate)):
        raise _c.Error("%r is not a rule: make one by berth.priority or berth.predicate" % (rule,))
    function = _c.RULE(_Asker(cluster, rule))
    name = _c.encoded(rule.name, "the name of the rule")
    if isinstance(rule, Priority):
        _c.call("add_priority", cluster._open(), name, rule.weight, function, None)
    else:
        _c.call("add_predicate", cluster._open(), name, function, None)
    cluster._rules.append(function)


def hook(cluster, function: Callable):
    """Returns what tells a function of pods that come and go, as the library calls it."""
    owner = weakref.ref(cluster)
    _c.callable_or_error(function, "on_change")

    def tell(_user, event):
        try:
            function(pod_of(event[0]), event[0].node, event[0].placed == 1)
        except BaseException as e:
            if owner() is not None and owner()._error is None:
                owner()._error = e

    return _c.HOOK(tell)


def logger(cluster, function: Callable):
    """Returns what passes the messages of the engine to a function, as the library calls it."""
    owner = weakref.ref(cluster)
    _c.callable_or_error(function, "on_log")

    def log(_user, severity, text):
        try:
            function(severity, text.decode(errors="replace"))
        except BaseException as e:
            if owner() is not None and owner()._error is None:
                owner()._error = e

    return _c.LOG(log)
