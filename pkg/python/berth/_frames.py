"""Kubernetes objects out of tables."""
import math
from typing import Any, Dict, List

from ._library import Error

_OF_NODES = ("name", "labels", "unschedulable")
_OF_PODS = ("name", "namespace", "labels", "node_selector", "node", "priority", "arrival", "duration")


def _rows(table: Any, what: str) -> List[Dict[str, Any]]:
    """Returns the rows of a pandas.DataFrame, of a dict of columns, or of a list of dicts."""
    if hasattr(table, "to_dict"):
        rows = table.to_dict("records")
    elif isinstance(table, dict):
        columns = {k: list(v) for k, v in table.items()}
        if len({len(v) for v in columns.values()}) > 1:
            raise Error("%s: columns of different lengths" % what)
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    else:
        rows = [dict(r) for r in table]
    for i, row in enumerate(rows):
        if not isinstance(row.get("name"), str) or not row["name"]:
            raise Error("%s, row %d: column name: must be a text" % (what, i))
    return rows


def _given(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _amounts(row: Dict[str, Any], others, what: str) -> Dict[str, str]:
    """Returns quantities: cpu is in thousandths, all else as counted."""
    amounts = {}
    for name, value in row.items():
        if name in others or not _given(value):
            continue
        try:
            amount = int(value)
        except (TypeError, ValueError, OverflowError):
            amount = -1
        if amount < 0 or amount != value:
            raise Error("%s %r: column %s: %r: must be a whole number from 0 on" % (what, row["name"], name, value))
        amounts[name] = "%dm" % amount if name == "cpu" else str(amount)
    return amounts


def _texts(row: Dict[str, Any], column: str, what: str) -> Dict[str, str]:
    value = row.get(column)
    if not _given(value):
        return {}
    if not isinstance(value, dict):
        raise Error("%s %r: column %s: %r: must be a dict" % (what, row["name"], column, value))
    return {str(k): str(v) for k, v in value.items()}


def objects(nodes: Any, pods: Any = None) -> List[Dict[str, Any]]:
    """Returns the objects of two tables (Cluster.from_frames)."""
    made = []
    for row in _rows(nodes, "nodes"):
        amounts = {"pods": "110", **_amounts(row, _OF_NODES, "node")}
        labels = {"kubernetes.io/hostname": row["name"], **_texts(row, "labels", "node")}
        made.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": row["name"], "uid": "node-" + row["name"], "labels": labels},
                     "spec": {"unschedulable": True} if row.get("unschedulable") is True else {},
                     "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
    for row in _rows(pods, "pods") if pods is not None else []:
        amounts = _amounts(row, _OF_PODS, "pod")
        namespace = row["namespace"] if _given(row.get("namespace")) else "default"
        limits = {k: v for k, v in amounts.items() if "/" in k}
        spec = {"containers": [{"name": "main", "image": "none", "resources": {"requests": amounts, "limits": limits}}]}
        if _texts(row, "node_selector", "pod"):
            spec["nodeSelector"] = _texts(row, "node_selector", "pod")
        if _given(row.get("node")):
            spec["nodeName"] = row["node"]
        if _given(row.get("priority")):
            spec["priority"] = int(row["priority"])
        made.append({"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Pending"},
                     "metadata": {"name": row["name"], "namespace": namespace, "uid": "pod-%s/%s" % (namespace, row["name"]),
                                  "labels": _texts(row, "labels", "pod")}})
    return made
