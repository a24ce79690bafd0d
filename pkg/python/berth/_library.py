"""The functions of libberth.so.1 as ctypes calls them (berth.h says what each does). Calls release the GIL."""
import ctypes
import operator
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

ABI = 1


class Error(Exception):
    """What the engine refuses: a bad input, a bad handle, a rule that failed. `code` is that of berth.h."""

    def __init__(self, text, code=-1):
        super().__init__(text)
        self.code = code


class Input(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("text", c_char_p), ("size", c_size_t), ("name", c_char_p)]


class Table(ctypes.Structure):
    _fields_ = [
        ("rows", c_size_t),
        ("names", POINTER(c_char_p)),
        ("resources", POINTER(c_char_p)),
        ("resources_count", c_size_t),
        ("amounts", c_void_p),
        ("keys", POINTER(c_char_p)),
        ("keys_count", c_size_t),
        ("values", POINTER(c_char_p)),
        ("values_count", c_size_t),
        ("labels", c_void_p),
        ("unschedulable", c_void_p),
        ("spaces", POINTER(c_char_p)),
        ("selectors", c_void_p),
        ("nodes", c_void_p),
        ("priorities", c_void_p),
    ]


class Question(ctypes.Structure):
    _fields_ = [
        ("pod", c_char_p),
        ("template", c_uint64),
        ("nodes", c_size_t),
        ("feasible", c_void_p),
        ("scores", c_void_p),
        ("requests", POINTER(c_double)),
        ("resources", c_size_t),
        ("error", c_void_p),
        ("error_size", c_size_t),
    ]


class Event(ctypes.Structure):
    _fields_ = [
        ("pod", c_char_p),
        ("template", c_uint64),
        ("node", c_size_t),
        ("placed", c_int32),
        ("resources", c_size_t),
        ("requests", POINTER(c_double)),
    ]


RULE = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(Question))
HOOK = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Event))
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
_HANDLE, _TEXT = c_void_p, POINTER(c_char_p)
_SIZE = POINTER(c_size_t)
_SIGNATURES = {
    "open": [c_char_p, c_size_t, POINTER(Input), c_size_t, POINTER(c_void_p)],
    "copy": [_HANDLE, POINTER(c_void_p)],
    "open_tables": [c_char_p, c_size_t, POINTER(Table), POINTER(Table), POINTER(c_void_p)],
    "snapshot": [_HANDLE, _TEXT, _SIZE],
    "restore": [c_char_p, c_size_t, POINTER(c_void_p)],
    "close": [_HANDLE],
    "warnings": [_HANDLE, _TEXT, _SIZE],
    "node_count": [_HANDLE, _SIZE],
    "node_name": [_HANDLE, c_size_t, _TEXT],
    "node_index": [_HANDLE, c_char_p, POINTER(c_int32)],
    "remove_node": [_HANDLE, c_char_p],
    "apply": [_HANDLE, c_char_p, c_size_t, c_char_p, _SIZE],
    "pending": [_HANDLE, POINTER(c_void_p)],
    "read_pods": [_HANDLE, c_char_p, c_size_t, c_char_p, POINTER(c_void_p)],
    "close_pods": [_HANDLE],
    "pods_count": [_HANDLE, _SIZE],
    "pod_name": [_HANDLE, c_size_t, _TEXT],
    "schedule": [_HANDLE, _HANDLE, c_size_t, c_size_t, c_void_p],
    "reason": [_HANDLE, c_size_t, _TEXT, _SIZE],
    "assume": [_HANDLE, _HANDLE, c_size_t, c_int32],
    "forget": [_HANDLE, _HANDLE, c_size_t],
    "bind": [_HANDLE, _HANDLE, c_size_t, c_int32],
    "delete_pod": [_HANDLE, c_char_p],
    "scores": [_HANDLE, _HANDLE, c_size_t, c_size_t, c_void_p, c_void_p],
    "rule_count": [_HANDLE, _HANDLE, c_size_t, _SIZE],
    "rule": [_HANDLE, _HANDLE, c_size_t, c_size_t, _TEXT, POINTER(c_int64)],
    "rule_scores": [_HANDLE, _HANDLE, c_size_t, c_size_t, c_size_t, c_void_p],
    "explain": [_HANDLE, _HANDLE, c_size_t, _TEXT, _SIZE],
    "amounts": [_HANDLE, c_char_p, c_size_t, c_void_p, c_void_p],
    "request": [_HANDLE, _HANDLE, c_size_t, c_char_p, POINTER(c_double)],
    "add_priority": [_HANDLE, c_char_p, c_double, RULE, c_void_p],
    "add_predicate": [_HANDLE, c_char_p, RULE, c_void_p],
    "resources": [_HANDLE, _TEXT, _SIZE],
    "use_columns": [_HANDLE, POINTER(c_char_p), c_size_t, c_size_t, c_void_p, c_void_p],
    "refresh": [_HANDLE],
    "feasible": [_HANDLE, _HANDLE, c_size_t, c_size_t, c_void_p, c_void_p],
    "step": [_HANDLE, _HANDLE, c_size_t, c_int32, c_size_t, c_size_t, c_void_p, c_void_p],
    "preempt": [_HANDLE, _HANDLE, c_size_t, c_int32, _TEXT, _SIZE],
    "node_label": [_HANDLE, c_size_t, c_char_p, _TEXT],
    "pod_label": [_HANDLE, c_size_t, c_char_p, _TEXT],
    "begin": [
        _HANDLE,
        _HANDLE,
        c_void_p,
        c_void_p,
        c_char_p,
        c_size_t,
        POINTER(c_char_p),
        c_size_t,
        c_size_t,
        c_void_p,
        c_void_p,
        POINTER(c_void_p),
    ],
    "next": [_HANDLE, c_int32, c_size_t, _TEXT, c_void_p, c_void_p, POINTER(c_double)],
    "outcome": [_HANDLE, _TEXT, _SIZE],
    "end": [_HANDLE],
    "set_hook": [_HANDLE, HOOK, c_void_p],
    "set_log": [_HANDLE, LOG, c_void_p],
}


def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libberth.so.1")
    library = ctypes.CDLL(beside if os.path.exists(beside) else "libberth.so.1")
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, "berth_" + name)
        function.argtypes, function.restype = arguments, c_int32
    library.berth_abi_version.restype = c_uint32
    library.berth_version.restype = library.berth_last_error.restype = c_char_p
    if library.berth_abi_version() != ABI:
        raise ImportError("libberth.so.1 has ABI %d, the module berth needs %d" % (library.berth_abi_version(), ABI))
    return library


LIBRARY = _load()


def last_error():
    return LIBRARY.berth_last_error().decode(errors="replace")


def call(name, *arguments):
    """Calls berth_<name>; raises Error when it fails."""
    code = getattr(LIBRARY, "berth_" + name)(*arguments)
    if code != 0:
        raise Error(last_error(), code)


def handle(name, *arguments):
    out = c_void_p()
    call(name, *arguments, byref(out))
    return out


def number(name, *arguments):
    out = c_size_t()
    call(name, *arguments, byref(out))
    return out.value


def sized_bytes(name, *arguments):
    text, size = c_char_p(), c_size_t()
    call(name, *arguments, byref(text), byref(size))
    return ctypes.string_at(text, size.value)


def sized_text(name, *arguments):
    return sized_bytes(name, *arguments).decode(errors="replace")


def text_at(text, size):
    """Returns the text that the library wrote where these two are."""
    return ctypes.string_at(text, size.value).decode(errors="replace")


def encoded(text, what):
    """Returns the text as C takes it. Raises Error for one that C would cut short, or that is no text."""
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeEncodeError:
            raise Error("%s: %r is not valid Unicode" % (what, text)) from None
    if not isinstance(text, bytes):
        raise Error("%s: %r: must be a text" % (what, text))
    if b"\0" in text:
        raise Error("%s: %r has a NUL character" % (what, text))
    return text


def whole(value, what):
    """Returns the number as an int that C takes as it is. Raises Error for what is none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error("%s: %r: must be a whole number" % (what, value)) from None
    if not -(2**31) <= number < 2**31:
        raise Error("%s: %d: must fit 32 bits" % (what, number))
    return number


def callable_or_error(function, what):
    """Returns the function. Raises Error for what cannot be called."""
    if not callable(function):
        raise Error("%s: %r: must be a function" % (what, function))
    return function


def text_of(error):
    """Returns the class of an exception, and what it says if it can."""
    try:
        return "%s: %s" % (type(error).__name__, error)
    except Exception:  # its __str__ fails
        return type(error).__name__


def no_pickle(what, instead):
    """Returns a __reduce__ that says why there is none."""

    def reduce(self):
        raise Error("%s cannot be pickled: %s" % (what, instead))

    return reduce


def address(array):
    return array.ctypes.data


__all__ = [
    "Error",
    "Event",
    "HOOK",
    "Input",
    "LIBRARY",
    "LOG",
    "Question",
    "RULE",
    "Table",
    "address",
    "byref",
    "c_char_p",
    "c_double",
    "c_int32",
    "c_int64",
    "c_uint8",
    "call",
    "callable_or_error",
    "encoded",
    "handle",
    "last_error",
    "no_pickle",
    "number",
    "c_size_t",
    "sized_bytes",
    "sized_text",
    "text_at",
    "text_of",
    "whole",
]
