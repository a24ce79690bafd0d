"""A proxy in front of an API server that can lose, delay and change what passes."""
import json
import re
import socket
import threading
import time

from harness.running import free_port, wait_until


def relay(source, sink, saw=bytes):
    """Copies data from one socket to the other until either closes, then closes both."""
    try:
        while data := source.recv(65536):
            saw(data)
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Proxy:
    """Between a client and the API server. `fault` says what goes wrong with a request: a function of method and path,
    or faults by regular expression. The first expression that is found in "METHOD PATH" counts. The faults:

    None                    nothing
    "refuse"                the connection is closed, the server never sees the request
    "lose-answer"           the server does it, the client never hears of it
    (status, headers, body) answered like this, the server never sees it
    ("cut", n)              the answer is cut off after n bytes of its body
    ("slow", seconds)       the server does it at once, the answer comes that much later
    ("dribble", seconds)    the answer comes byte by byte, with a pause behind each
    ("garbage",)            the answer is no HTTP
    """

    def __init__(self, upstream, fault={}, port=0):
        self.upstream, self.fault = upstream, fault
        self.seen = []  # (method, path) of all requests
        self.bodies = []  # (method, path, body) of all requests but GETs
        self.answers = []  # (method, path, status) of the server's responses, whether or not the client received them
        self.listener = socket.create_server(("127.0.0.1", port or free_port()))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.writing = 0  # requests other than GETs that the server has not answered yet
        self.lock = threading.Lock()
        self.connections = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        self.cut_all()

    def asked(self, method, end):
        """Returns the paths of the requests so far of a method, whose path ends like this."""
        return [path for m, path in self.seen if m == method and path.endswith(end)]

    def wait_asked(self, method, end, times=1):
        """Waits until there were so many requests of a method, whose path ends like this."""

        def number_asked():
            return len(self.asked(method, end))

        wait_until(f"requests: {method} ...{end}", number_asked, at_least=times)

    def wait_for_writes(self):
        """Waits until the server has answered all requests other than GETs."""
        wait_until("writes under way", self._under_way, equals=0)

    def _under_way(self):
        return self.writing

    def cut_all(self):
        """Breaks all connections of clients. The server's answers to writes that are under way are still noted in
        `answers`, because the server carries them out."""
        for s in list(self.connections):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _fault_of(self, method, path):
        if callable(self.fault):
            return self.fault(method, path)
        return next((fault for where, fault in self.fault.items() if re.search(where, f"{method} {path}")), None)

    def _accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.connections.add(s)
            threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        try:
            f = s.makefile("rb")
            while self._one(s, f):
                pass
        except OSError:
            pass
        finally:
            self.connections.discard(s)
            s.close()

    def _one(self, s, f):
        line = f.readline()
        if not line:
            return False
        method, path, _ = line.decode().split(" ", 2)
        head, length = [line], 0
        while True:
            line = f.readline()
            if line in (b"\r\n", b"\n", b""):
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            head.append(line)
        body = f.read(length) if length else b""
        self.seen.append((method, path))
        if method != "GET":
            self.bodies.append((method, path, body))
        fault = self._fault_of(method, path)
        if fault == "refuse":
            return False
        if fault == ("garbage",):
            s.sendall(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
            return False
        if isinstance(fault, tuple) and isinstance(fault[0], int):
            status, headers, text = fault
            text = text if isinstance(text, bytes) else text.encode()
            s.sendall(
                f"HTTP/1.1 {status} Injected\r\nContent-Length: {len(text)}\r\n".encode()
                + b"".join(f"{k}: {v}\r\n".encode() for k, v in headers.items())
                + b"\r\n"
                + text
            )
            return True
        up = socket.create_connection(("127.0.0.1", self.upstream))
        write = int(method != "GET")
        if not write:
            self.connections.add(up)
        self._count(write)
        try:
            up.sendall(
                b"".join(h for h in head if not h.lower().startswith(b"connection:"))
                + b"Connection: close\r\n\r\n"
                + body
            )
            kind, value = fault if isinstance(fault, tuple) else (fault, None)
            limit = value if kind == "cut" else None
            answer = b""
            while b"\r\n\r\n" not in answer:
                more = up.recv(65536)
                if not more:
                    return False
                answer += more
            self.answers.append((method, path, int(answer.split(b" ", 2)[1])))
            self._count(-write)
            write = 0
            if fault == "lose-answer":
                while up.recv(65536):
                    pass
                return False
            if kind == "slow":
                time.sleep(value)
            if kind == "dribble":
                while answer:
                    for i in range(len(answer)):
                        s.sendall(answer[i : i + 1])
                        time.sleep(value)
                    answer = up.recv(65536)
                return False
            head_end = answer.index(b"\r\n\r\n") + 4
            sent = len(answer) - head_end
            if limit is not None and sent > limit:
                answer = answer[: head_end + limit]
            s.sendall(answer)
            while limit is None or sent < limit:
                more = up.recv(65536)
                if not more:
                    return False
                if limit is not None:
                    more = more[: limit - sent]
                s.sendall(more)
                sent += len(more)
            return False
        finally:
            self._count(-write)
            self.connections.discard(up)
            up.close()

    def _count(self, n):
        with self.lock:
            self.writing += n


def status_body(code, reason, message):
    return json.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
        }
    )
