"""Rules in Python: functions of a pod and of all nodes at once."""
import ctypes
import weakref

import numpy

from . import _library as _c

RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")


class Pod:
    """The pod that a rule is asked about: name ("namespace/name"), template (equal for pods that are alike)."""

    def __init__(self, name, template):
        self.name, self.template = name, template


class Nodes:
    """All nodes, for a rule. feasible: bool[nodes], where the pod fits by the rules before. Valid during the call."""

    def __init__(self, names, feasible):
        self.names, self.feasible = names, feasible

    def __len__(self):
        return len(self.feasible)


class Priority:
    """A function that returns a score for each node: an array of finite numbers of any size, float64[nodes]."""

    def __init__(self, function, name, weight):
        self.function, self.name, self.weight = function, name, weight

    def __call__(self, pod, nodes):
        return self.function(pod, nodes)


class Predicate:
    """A function that returns where a pod may go: bool[nodes]."""

    def __init__(self, function, name):
        self.function, self.name = function, name

    def __call__(self, pod, nodes):
        return self.function(pod, nodes)


def _name_of(function):
    return function.__name__.strip("_").replace("_", "-")


def priority(function=None, *, weight=1.0, name=None):
    """Makes a Priority of a function: @berth.priority, or @berth.priority(weight=5)."""
    if function is None:
        return lambda f: priority(f, weight=weight, name=name)
    return Priority(function, name or _name_of(function), float(weight))


def predicate(function=None, *, name=None):
    """Makes a Predicate of a function."""
    if function is None:
        return lambda f: predicate(f, name=name)
    return Predicate(function, name or _name_of(function))


def _array(at, size, kind):
    return numpy.frombuffer((ctypes.c_char * (size * numpy.dtype(kind).itemsize)).from_address(at), kind) if size else numpy.zeros(0, kind)


def _answer(rule, names, q):
    """Asks the rule, and writes its answer into the library's arrays."""
    n = q.nodes
    feasible = _array(q.feasible, n, numpy.uint8)
    answer = numpy.asarray(rule(Pod(q.pod.decode(errors="replace"), q.template), Nodes(names, feasible.view(numpy.bool_).copy())))
    if answer.shape != (n,):
        raise _c.Error("returned an array of shape %s, not (%d,)" % (answer.shape, n))
    if isinstance(rule, Priority):
        scores = _array(q.scores, n, numpy.float64)
        scores[:] = answer
        if not numpy.isfinite(scores[feasible != 0]).all():
            raise _c.Error("returned a score that is not finite")
    else:
        if answer.dtype != numpy.bool_:
            raise _c.Error("returned an array of %s, not of bool" % answer.dtype)
        feasible[~answer] = 0


def attach(cluster, rule):
    """Adds a rule to a cluster, which keeps it."""
    if not isinstance(rule, (Priority, Predicate)):
        raise _c.Error("%r is not a rule: make one by berth.priority or berth.predicate" % (rule,))
    names, owner = tuple(cluster.nodes), weakref.ref(cluster)

    def ask(_user, question):
        q = question[0]
        try:
            _answer(rule, names, q)
            return 0
        except BaseException as e:  # whatever it is, it must not pass through C
            if owner() is not None:
                owner()._error = e
            text = ("%s: %s" % (type(e).__name__, e)).encode()[:q.error_size - 1]
            ctypes.memmove(q.error, text + b"\0", len(text) + 1)
            return 1

    function = _c.RULE(ask)
    name = _c.encoded(rule.name, "the name of the rule")
    if isinstance(rule, Priority):
        _c.call("add_priority", cluster._open(), name, rule.weight, function, None)
    else:
        _c.call("add_predicate", cluster._open(), name, function, None)
    cluster._rules.append(function)
