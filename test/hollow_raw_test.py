#!/usr/bin/env python3
"""Sends the recorded bytes of wire/11-raw.json to hollow-apiserver: status line, headers and body must be the recorded
ones, however they are cut into chunks. What differs on purpose is named below (and in pkg/apiserver/README.md)."""
import json
import os
import re
import socket

import harness
from harness import DEADLINE, ROOT, Api

# label -> why; only the status line is compared.
OTHERWISE = {
    "GET unknown path": "the paths are those that are served here",
    "list > 2 KB": "the resources are those that are served here",
    "watch RV too old": "nothing was dropped, so the watch may begin there",
    "HTTP/2 prior knowledge": "HTTP/1.1 is spoken: 400",
    "lower-case method": "methods are in capital letters: 400 or 405",
}


def mask(text):
    text = re.sub(r'"uid": ?"[^"]*"', '"uid":"U"', text)
    text = re.sub(r'"(resourceVersion)": ?"\d+"', r'"\1":"V"', text)
    text = re.sub(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', "TIME", text)
    return text.replace("\\ufffd", "\ufffd")  # 1.10 shows bytes that are not UTF-8 escaped once they have been stored


def read_answer(f, head_only=False):
    """Returns status line, headers, body (chunks put together), and whether the answer had an end."""
    status = f.readline().decode().rstrip("\r\n")
    headers = {}
    while (line := f.readline()) not in (b"\r\n", b""):
        name, value = line.decode().rstrip("\r\n").split(": ", 1)
        headers[name] = value
    if status.split(" ")[1] == "100":
        return read_answer(f)
    if head_only:
        return status, headers, "", True
    if headers.get("Transfer-Encoding") == "chunked":
        body = b""
        while True:
            size = f.readline()
            n = int(size, 16) if size.strip() else -1
            if n <= 0:
                f.readline()
                return status, headers, body.decode("utf8", "replace"), n == 0
            body += f.read(n)
            f.read(2)
    if "Content-Length" in headers:
        return status, headers, f.read(int(headers["Content-Length"])).decode("utf8", "replace"), True
    return status, headers, f.read().decode("utf8", "replace"), True


class Text:
    """Reads recorded bytes like a socket."""

    def __init__(self, text):
        self.rest = text.encode()

    def readline(self):
        line, sep, self.rest = self.rest.partition(b"\n")
        return line + sep

    def read(self, n=None):
        n = len(self.rest) if n is None else n
        piece, self.rest = self.rest[:n], self.rest[n:]
        return piece


def test_recorded_bytes():
    with open(os.path.join(ROOT, "test", "wire", "11-raw.json")) as f:
        recorded = json.load(f)["raw"]
    compared = 0
    # The recorded server had no admission plugin but Priority.
    with Api.start(flags=["--disable-admission-plugins=DefaultTolerationSeconds"]) as s:
        s.call("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})
        status, raw1 = s.call(
            "POST",
            "/api/v1/namespaces/wire/pods",
            {
                "metadata": {"name": "raw1", "labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "busybox"}]},
            },
        )
        assert status == 201, "raw1"
        for one in recorded:
            label = one["label"]
            parts = one.get("requestParts") or [one["request"]]
            text = "".join(p if isinstance(p, str) else p.get("data", "") for p in parts)
            # The version of raw1, and the byte that is not UTF-8, which the recording could not contain.
            text = text.replace("resourceVersion=3389", "resourceVersion=" + raw1["metadata"]["resourceVersion"])
            sent = text.encode().replace("\ufffd".encode(), b"\xff")
            wanted = Text("".join(r["data"] for r in one["responseReads"]))
            with socket.create_connection(("127.0.0.1", s.port), timeout=DEADLINE) as c:
                c.sendall(sent)
                f = c.makefile("rb")
                head = text.startswith("HEAD")
                for _ in range(2 if label.startswith("two pipelined") else 1):
                    if label.startswith("watch: headers"):
                        status, headers = f.readline().decode().rstrip("\r\n"), dict(
                            line.decode().rstrip("\r\n").split(": ", 1) for line in iter(f.readline, b"\r\n")
                        )
                        got, want = (status, headers, "", True), read_answer(wanted, head_only=True)
                    else:
                        got, want = read_answer(f, head), read_answer(wanted, head)
                    compared += 1
                    reason = next((why for start, why in OTHERWISE.items() if label.startswith(start)), None)
                    if reason:
                        continue
                    assert got[0] == want[0], label + ": status"
                    for h in set(want[1]) - {"Date", "Content-Length", "Transfer-Encoding"}:
                        assert got[1].get(h) == want[1][h], label + ": " + h
                    assert mask(got[2]) == mask(want[2]), label + ": body"
                if one["serverClosedConnection"] and not reason:
                    assert f.read() == b"", label + ": closed"
        assert compared == len(recorded) + 1, "answers compared"
        assert s.stop()[0] == 0, "exit on SIGTERM"


harness.main(globals())
