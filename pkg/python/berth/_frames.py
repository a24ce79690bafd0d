"""Clusters out of tables."""
import math
from typing import Any, Dict, List

import numpy

from . import _library as _c
from ._library import Error

_OF_NODES = ("name", "labels", "unschedulable")
_OF_PODS = ("name", "namespace", "labels", "node_selector", "node", "priority", "arrival", "duration")


def _rows(table: Any, what: str) -> List[Dict[str, Any]]:
    """Returns the rows of a pandas.DataFrame, of a dict of columns, or of a list of dicts."""
    try:
        if hasattr(table, "to_dict"):
            rows = table.to_dict("records")
        elif isinstance(table, dict):
            columns = {k: list(v) for k, v in table.items()}
            if len({len(v) for v in columns.values()}) > 1:
                raise Error("%s: columns of different lengths" % what)
            rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
        else:
            rows = [dict(r) for r in table]
    except (TypeError, ValueError):
        raise Error("%s: must be a DataFrame, a dict of columns, or a list of dicts" % what) from None
    for i, row in enumerate(rows):
        if not isinstance(row.get("name"), str) or not row["name"]:
            raise Error("%s, row %d: column name: must be a text" % (what, i))
    return rows


def _given(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _resources(rows, others) -> List[str]:
    return list(dict.fromkeys(name for row in rows for name in row if name not in others))


def _amounts(rows, resources, what: str) -> numpy.ndarray:
    """Returns float64[rows, resources]; NaN where a row has none."""
    amounts = numpy.full((len(rows), len(resources)), numpy.nan)
    for i, row in enumerate(rows):
        for r, name in enumerate(resources):
            value = row.get(name)
            if not _given(value):
                continue
            try:
                amount = int(value)
            except (TypeError, ValueError, OverflowError):
                amount = -1
            if amount < 0 or amount != value:
                raise Error("%s %r: column %s: %r: must be a whole number from 0 on" % (what, row["name"], name, value))
            amounts[i, r] = amount
    return amounts


def _texts(row: Dict[str, Any], column: str, what: str) -> Dict[str, str]:
    value = row.get(column)
    if not _given(value):
        return {}
    if not isinstance(value, dict):
        raise Error("%s %r: column %s: %r: must be a dict" % (what, row["name"], column, value))
    return {str(k): str(v) for k, v in value.items()}


def _strings(texts, what: str):
    return (_c.c_char_p * max(1, len(texts)))(*[_c.encoded(t, what) for t in texts])


def _codes(rows, columns, table, what: str, keep):
    """Writes the labels of the rows as codes: an array int32[rows, keys] for each column."""
    found = [[_texts(row, column, what) for row in rows] for column in columns]
    keys = {key: k for k, key in enumerate(dict.fromkeys(key for of in found for labels in of for key in labels))}
    values: Dict[str, int] = {}
    made = []
    for of in found:
        codes = numpy.full((len(rows), len(keys)), -1, numpy.int32)
        for i, labels in enumerate(of):
            for key, value in labels.items():
                codes[i, keys[key]] = values.setdefault(value, len(values))
        made.append(codes)
    table.keys, table.keys_count = _strings(keys, what + ": labels"), len(keys)
    table.values, table.values_count = _strings(values, what + ": labels"), len(values)
    keep.extend(made)
    return made


def _begin(rows, others, what: str, keep) -> Any:
    resources = _resources(rows, others)
    amounts = _amounts(rows, resources, what)
    if what == "node":  # a kubelet's default
        if "pods" not in resources:
            resources, amounts = resources + ["pods"], numpy.column_stack([amounts, numpy.full(len(rows), numpy.nan)])
        amounts = numpy.ascontiguousarray(amounts)
        column = amounts[:, resources.index("pods")]
        column[numpy.isnan(column)] = 110
    table = _c.Table(rows=len(rows), resources_count=len(resources))
    table.names = _strings([row["name"] for row in rows], what)
    table.resources = _strings(resources, what + ": resources")
    table.amounts = _c.address(amounts)
    keep.append(amounts)
    return table


def _node_table(rows, keep):
    table = _begin(rows, _OF_NODES, "node", keep)
    (labels,) = _codes(rows, ["labels"], table, "node", keep)
    cordoned = numpy.array(
        [row.get("unschedulable") is True or row.get("unschedulable") is numpy.True_ for row in rows], numpy.uint8
    )
    keep.append(cordoned)
    table.labels, table.unschedulable = _c.address(labels), _c.address(cordoned)
    return table


def _pod_table(rows, index: Dict[str, int], keep):
    table = _begin(rows, _OF_PODS, "pod", keep)
    labels, selectors = _codes(rows, ["labels", "node_selector"], table, "pod", keep)
    nodes, priorities = numpy.full(len(rows), -1, numpy.int32), numpy.zeros(len(rows), numpy.int32)
    for i, row in enumerate(rows):
        if _given(row.get("node")):
            if row["node"] not in index:
                raise Error("pod %r: column node: %r: there is no such node" % (row["name"], row["node"]))
            nodes[i] = index[row["node"]]
        if _given(row.get("priority")):
            if not -(2**31) <= int(row["priority"]) < 2**31:
                raise Error("pod %r: column priority: %r: must fit 32 bits" % (row["name"], row["priority"]))
            priorities[i] = int(row["priority"])
    table.spaces = _strings(
        [row["namespace"] if _given(row.get("namespace")) else "default" for row in rows], "namespace"
    )
    keep.extend([nodes, priorities])
    table.labels, table.selectors, table.nodes = _c.address(labels), _c.address(selectors), _c.address(nodes)
    if any(_given(row.get("priority")) for row in rows):
        table.priorities = _c.address(priorities)
    return table


def opened(options: bytes, nodes: Any, pods: Any = None):
    """Returns the handle of a cluster that is made of two tables (Cluster.from_frames)."""
    keep: List[Any] = []  # arrays, until the library has read them
    of_nodes, of_pods = _rows(nodes, "nodes"), _rows(pods, "pods") if pods is not None else []
    first = _node_table(of_nodes, keep)
    second = _pod_table(of_pods, {row["name"]: i for i, row in enumerate(of_nodes)}, keep)
    return _c.handle("open_tables", options, len(options), _c.byref(first), _c.byref(second))
