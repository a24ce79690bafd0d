"""What an assertion that failed says: its values, as pytest shows them.

    FAILED: test_taints: test/daemon_queue_test.py:52: the node is named
        assert hosts["p"] == want
        hosts["p"] = 'n2'
        hosts = {'p': 'n2'}
        want = 'n1'

Python forgets the two sides of a comparison that was false, and evaluating them again could do anything. So assertions
are compiled once more, with both sides kept in variables that no program can name, and the functions that contain them
get the new code.
"""
import ast
import functools
import inspect
import os
import sys
import types

LENGTH = 1600  # of a value that is shown; what is longer loses its middle


def _comparisons(test):
    """Yields the comparisons of a condition that are not inside a call or the like."""
    if isinstance(test, ast.Compare):
        yield test
    elif isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _comparisons(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _comparisons(test.operand)


def _sides(statement):
    """Returns the sides of the comparisons of an assertion, in their order."""
    return [side for c in _comparisons(statement.test) for side in (c.left, *c.comparators)]


class _KeepSides(ast.NodeTransformer):
    def visit_Assert(self, statement):
        number = iter(range(1000))

        def kept(side):
            if not any(isinstance(n, (ast.Name, ast.Call)) for n in ast.walk(side)) or isinstance(side, ast.NamedExpr):
                next(number)
                return side
            target = ast.Name(f"@{statement.lineno}.{next(number)}", ast.Store())
            return ast.copy_location(ast.NamedExpr(ast.copy_location(target, side), side), side)

        for c in _comparisons(statement.test):
            c.left = kept(c.left)
            c.comparators = [kept(side) for side in c.comparators]
        return statement


@functools.lru_cache(None)
def _source(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def _functions(namespace, path):
    """Yields the functions of a module, and of its classes, that are written in this file."""
    for value in list(namespace.values()):
        value = inspect.unwrap(value) if callable(value) else getattr(value, "__func__", getattr(value, "fget", None))
        if isinstance(value, types.FunctionType) and value.__code__.co_filename == path:
            yield value
        elif isinstance(value, type) and value.__module__ == namespace.get("__name__"):
            yield from _functions({**vars(value), "__name__": value.__module__}, path)


def keep_values(namespace):
    """Prepares the functions of a module, whose globals() these are, for failures()."""
    path = namespace.get("__file__", "")
    if not os.path.exists(path):
        return
    compiled, rest = {}, [compile(_KeepSides().visit(ast.parse(_source(path))), path, "exec", dont_inherit=True)]
    while rest:
        code = rest.pop()
        compiled[code.co_qualname, code.co_firstlineno] = code
        rest += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    for function in _functions(namespace, path):
        code = compiled.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code


def _shown(value):
    text = "\n" + value.rstrip("\n") if isinstance(value, str) and "\n" in value else repr(value)
    return text if len(text) <= LENGTH else f"{text[: LENGTH // 2]}\n[...]\n{text[-LENGTH // 2 :]}"


def _values(statement, source, variables):
    """Yields the text and the value of what a failed assertion is about."""
    sides = _sides(statement)
    for number, side in enumerate(sides):
        if f"@{statement.lineno}.{number}" in variables:
            yield ast.get_source_segment(source, side), variables[f"@{statement.lineno}.{number}"]
    for name in ast.walk(statement.test):
        if isinstance(name, ast.Name) and name.id in variables:
            if not isinstance(variables[name.id], (types.FunctionType, types.ModuleType, type)):
                yield name.id, variables[name.id]


def failure(error):
    """Returns what to print of an AssertionError: where, what, and the values that it is about."""
    frames = []
    trace = error.__traceback__
    while trace:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    frame, line = frames[-1]
    items = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], tuple) else error.args
    said = "\n    ".join(item if isinstance(item, str) and len(item) < 20 * LENGTH else _shown(item) for item in items)
    lines = [f"{os.path.relpath(frame.f_code.co_filename)}:{line}: {said}"]
    try:
        source = _source(frame.f_code.co_filename)
    except OSError:
        return lines[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno:
            lines.append("    assert " + ast.get_source_segment(source, node.test))
            values = dict(_values(node, source, frame.f_locals))
            lines += [f"    {text} = {_shown(value)}" for text, value in values.items()]
    lines += [f"    called at {os.path.relpath(f.f_code.co_filename)}:{n}" for f, n in reversed(frames[1:-1])]
    return "\n".join(lines)


def keep_all_values(script):
    """Prepares a script, whose globals() these are, and the modules of tests that it uses."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    keep_values(script)
    for module in list(sys.modules.values()):
        if (getattr(module, "__file__", None) or "").startswith(folder) and module.__name__ != "__main__":
            keep_values(vars(module))
