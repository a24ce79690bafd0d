"""Conversations between a scheduler and an API server: recorded, kept, and compared.

A conversation is a list of entries in the order in which they began: marks, which say what the user does, and
exchanges: {"tMs", "request": {"method", "path", "headers", "body"}, "status"}, with the versions that the server showed
in "listed" and "watched": [[tMs, version], ...]. testdata/wire-scheduler has those of the real scheduler; Recorder
makes ours.

To be compared, a request becomes a line of text in which all that differs from run to run is masked. The lines of a
phase (from one mark to the next) are sorted into lanes. A lane is what has an order: all that is asked about one pod,
of one resource's list and watch, of the lock; all events about one object. Between lanes there is none, in the real
scheduler either, but for what the test says.
"""
import collections
import difflib
import json
import os
import re
import socket
import threading
import time

from harness import Proxy

RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "wire-scheduler")
WHOLE = "whole conversation"  # the phase of lanes that span all phases
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WATCHED_NEXT = re.compile("limit=500|resourceVersion=[1-9]")  # the query of a list that a watch follows
IDENTITY = re.compile(r"[\w.-]+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def load(number):
    """Returns the first line of a recording, with the scheduler's flags or configuration, and its entries."""
    (name,) = [n for n in os.listdir(RECORDINGS) if n.startswith(f"{number}-")]
    with open(os.path.join(RECORDINGS, name), encoding="utf8") as f:
        head, *entries = [json.loads(line) for line in f]
    return head, entries


Line = collections.namedtuple("Line", "text ms")


class Reading:
    """The lanes of a conversation: lanes[(phase, lane)] is a list of Lines. `lines` has all of them in one order."""

    def __init__(self, entries):
        self.lanes, self.lines = {}, []
        self._versions = collections.defaultdict(list)  # path -> [(ms, version)]
        self._names, self._uids, self._events = {}, collections.defaultdict(list), collections.defaultdict(list)
        phase = ""
        for e in entries:
            if "mark" in e:
                phase = e["mark"]
                continue
            self._learn(e)
            lane = lane_of(e)
            line = Line(self._text(e), e["tMs"])
            if "listed" in e and WATCHED_NEXT.search(e["request"]["path"]):
                self._versions[e["request"]["path"].partition("?")[0]].append((e["tMs"], e["listed"]))
            self.lines.append(line)
            self.lanes.setdefault((WHOLE if lane == "lock" else phase, lane), []).append(line)
        for (_, lane), lines in self.lanes.items():
            if lane == "lock":
                lines[:] = without_repetitions(without_look_at_the_other_kind(lines))

    def _learn(self, e):
        path = e["request"]["path"].partition("?")[0]
        self._versions[path] += [tuple(w) for w in e.get("watched", ())]
        body = e["request"].get("body")
        if not isinstance(body, dict):
            return
        for o in (body.get(key, {}) for key in ("metadata", "involvedObject", "regarding", "related")):
            uid, name = o.get("uid"), o.get("name")
            if uid and uid not in self._names:
                self._uids[name].append(uid)
                self._names[uid] = (
                    f"<uid of {name}>" if len(self._uids[name]) == 1 else f"<{len(self._uids[name])}. uid of {name}>"
                )

    def _event_name(self, name):
        of_object = self._events[name.rpartition(".")[0]]
        if name not in of_object:
            of_object.append(name)
        return f"{name.rpartition('.')[0]}.<event {of_object.index(name) + 1}>"

    def _query(self, e):
        path, _, query = e["request"]["path"].partition("?")
        out, seconds = [], re.search(r"timeoutSeconds=(\d+)", query)
        for term in query.split("&") if query else ():
            key, _, value = term.partition("=")
            if key == "timeout" and seconds and value == go_duration(int(seconds[1])):
                value = "<the same>"
            if key == "timeoutSeconds" and 300 <= int(value) < 600:
                value = "<300..600>"
            if key == "resourceVersion" and value != "0":
                known = [v for ms, v in sorted(self._versions[path], key=lambda x: x[0]) if ms <= e["tMs"]]
                value = "<last seen>" if known and value == known[-1] else "<another>"
            out.append(f"{key}={value}")
        return "?" + "&".join(out) if out else ""

    def _text(self, e):
        q = e["request"]
        path = q["path"].partition("?")[0]
        body = self._masked(q["body"]) if "body" in q else None
        if "/events/" in path:
            path = path.rpartition("/")[0] + "/" + self._event_name(path.rpartition("/")[2])
        if isinstance(body, dict) and body.get("kind") == "Event":
            body["metadata"]["name"] = self._event_name(body["metadata"]["name"])
        h = {k.lower(): v for k, v in q["headers"].items()}
        agent = re.fullmatch(r"[^/ ]+/\S+ \(\w+/\w+\) kubernetes/[^/ ]+/(\S+)", h.pop("user-agent", ""))
        headers = [f"as {agent[1] if agent else '?'}"] + [
            f"{k}: {h[k]}" for k in sorted(h) if k not in ("host", "content-length", "connection")
        ]
        text = f"{q['method']} {path}{self._query(e)} ({'; '.join(headers)})"
        if body is not None:
            text += " " + json.dumps(body, sort_keys=True)
        return f"{text} -> {e.get('status')}"

    def _masked(self, value, key=None):
        if isinstance(value, dict):
            out = {k: self._masked(v, k) for k, v in value.items()}
            if "acquireTime" in value and "renewTime" in value and out["renewTime"] == "<micro time>":
                a, b = value["acquireTime"], value["renewTime"]
                out["renewTime"] = (
                    "<the same micro time>" if a == b else "<later micro time>" if a < b else "<earlier micro time>"
                )
            return out
        if isinstance(value, list):
            return [self._masked(v) for v in value]
        if not isinstance(value, str):
            return value
        if key == "uid":
            return self._names.get(value, "<unknown uid>")
        if key == "resourceVersion":
            return "<version>"
        if key == "reportingInstance":
            return re.sub(r"^(default-scheduler)-[\w.-]+$", r"\1-<host>", value)
        value = IDENTITY.sub("<host>_<uuid>", value)
        value = re.sub(r"http://127\.0\.0\.1:\d+", "http://<server>", value)
        lock = re.search(f'"acquireTime":"({TIME.pattern})","renewTime":"({TIME.pattern})"', value)
        if lock:
            return (
                value[: lock.start()]
                + '"acquireTime":"<time>","renewTime":"'
                + ("<the same>" if lock[1] == lock[2] else "<later>" if lock[1] < lock[2] else "<earlier>")
                + '"'
                + value[lock.end() :]
            )
        value = UID.sub(lambda m: self._names.get(m[0], m[0]), value)
        return TIME.sub("<time>", MICRO_TIME.sub("<micro time>", value))


def go_duration(seconds):
    """Returns whole seconds below an hour as Go writes a duration."""
    return f"{seconds // 60}m{seconds % 60}s"


def lane_of(e):
    q = e["request"]
    path, _, query = q["path"].partition("?")
    if "watch=" in query or "limit=" in query or "resourceVersion=" in query:
        return f"watch {path}"
    kinds = "pods|events|endpoints|leases|configmaps"
    m = re.match(rf"/(?:api/v1|apis/[^/]+/v1)/namespaces/([^/]+)/({kinds})(?:/([^/]+))?", path)
    if not m:
        return path
    ns, kind, name = m.groups()
    if kind == "pods":
        return f"pod {ns}/{name}"
    if kind in ("endpoints", "leases"):
        return "lock"
    if kind == "configmaps":
        return "lock" if name in (None, "kube-scheduler") else path
    return f"events about {ns}/{name.rpartition('.')[0] if name else reference(q['body'])['name']}"


def reference(event):
    """Returns the object that an event of either API group is about."""
    return event["regarding"] if "regarding" in event else event["involvedObject"]


def without_look_at_the_other_kind(lines):
    """Removes the looks that our scheduler has, when it starts, at the lock of the kind that it does not use
    (DIFFERENCES.md)."""
    kind_of = re.compile("/(endpoints|leases|configmaps)(?=[/ ?])")
    counts = collections.Counter(m[1] for l in lines if (m := kind_of.search(l.text)))
    own = {kind for kind, n in counts.items() if n == max(counts.values())}
    own |= {kind for kind in counts for l in lines if f"/{kind}" in l.text and not l.text.startswith("GET ")}
    return [l for l in lines if any(f"/{kind}" in l.text for kind in own)]


def without_repetitions(lines):
    """Removes repetitions: reading the lock several times, or renewing it several times, counts once. A renewal is two
    requests, or five where the lock is of two objects."""
    out = []
    for line in lines:
        out.append(line)
        for n in (1, 2, 5):
            if len(out) >= 2 * n and [x.text for x in out[-n:]] == [x.text for x in out[-2 * n : -n]]:
                del out[-n:]
                break
    return out


def no_fault(_):
    return None


class Recorder(Proxy):
    """A proxy that keeps what it sees, and answers itself what `fault(entry)` gives: {"status", "headers", "body",
    "end"} as in a recording; without a status the connection is closed; with "lost" the server carries the request out
    and the connection is closed without its answer. While `refuse` is set it lets nobody in. What comes on a connection
    that is being cut was never sent. What is written to a pod is answered before a watch shows it."""

    def __init__(self, upstream, fault=no_fault):
        self.entries, self.lock, self.began = [], threading.Lock(), time.monotonic()
        self.refuse, self.refused, self.cuts = False, 0, 0
        self.shown = (
            {}
        )  # what is listed and watched (a path with its selectors) -> {object: version}, as the client has it
        self.watching = collections.Counter()  # how many watches are open of each
        self.under_way = (
            collections.Counter()
        )  # how many requests of each lane, watches aside, wait for their whole answer
        super().__init__(upstream, fault)
        self.answered = threading.Condition(self.lock)

    def cut_all(self):
        with self.lock:
            self.cuts += 1
            super().cut_all()

    def close_port(self):
        """Closes all connections and makes the kernel refuse new ones."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut_all()

    def open_port(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def ms(self):
        # Not rounded, because an event may come within a millisecond of the watch that brings it.
        return (time.monotonic() - self.began) * 1000

    def mark(self, text):
        with self.lock:
            self.entries.append({"tMs": self.ms(), "mark": text})

    def snapshot(self):
        with self.lock:
            return [dict(e, watched=list(e["watched"])) if "watched" in e else dict(e) for e in self.entries]

    def open_watches(self):
        """Returns how many watches the client has been answered since the last mark, and for how many ms the youngest
        of them has been open: 0 while one has no answer yet."""
        entries = self.snapshot()
        since = max((i for i, e in enumerate(entries) if "mark" in e), default=0)
        asked = [e for e in entries[since:] if "watch=true" in e.get("request", {}).get("path", "")]
        opened = [e["openMs"] for e in asked if "openMs" in e]
        waits = any("status" not in e for e in asked) or not opened
        return len(opened), 0 if waits else self.ms() - max(opened)

    def _serve(self, s):
        up, cuts = None, self.cuts
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self.refuse:
                self.refused += 1
                return
            up = socket.create_connection(("127.0.0.1", self.upstream))
            up.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.add(up)
            client, server = s.makefile("rb"), up.makefile("rb")
            while self._exchange(cuts, s, client, up, server):
                pass
        except (OSError, ValueError):
            pass
        finally:
            for x in (s, up):
                if x is not None:
                    self.connections.discard(x)
                    x.close()

    def _exchange(self, cuts, s, client, up, server):
        first, headers, head = read_head(client)
        if not first:
            return False
        method, path, _ = first.split(" ", 2)
        body = client.read(int(headers.get("Content-Length", 0)))
        e = {"tMs": self.ms(), "request": {"method": method, "path": path, "headers": headers}}
        if body:
            e["request"]["body"] = json.loads(body)
        with self.lock:
            if cuts != self.cuts:
                return False
            self.entries.append(e)
        wrong = self.fault(e)
        if wrong is not None and not wrong.get("lost"):
            return self._answer(s, e, wrong)
        if "watch=true" in path and wrong is None:
            up.sendall(head + body)
            return self._relay_watch(s, e, server)
        with self.lock:
            self.under_way[lane_of(e)] += 1
        try:
            up.sendall(head + body)
            return self._relay_answer(s, e, server, wrong is not None)
        finally:
            with self.lock:
                self.under_way[lane_of(e)] -= 1
                self.answered.notify_all()

    def _relay_answer(self, s, e, server, lost):
        """Notes the answer before the client can have all of it, because a watch that follows shows newer objects."""
        first, headers, head = read_head(server)
        if lost:
            server.read(int(headers.get("Content-Length", 0)))
            return False
        e["status"] = int(first.split()[1])
        s.sendall(head)
        if headers.get("Transfer-Encoding") != "chunked":
            data = server.read(int(headers.get("Content-Length", 0)))
            self._note(e, data)
            s.sendall(data)
            return True
        data, size = b"", b"1"
        while int(size, 16):
            size = server.readline()
            chunk = server.read(int(size, 16) + 2)
            data += chunk[:-2]
            if int(size, 16) == 0:
                self._note(e, data)
            s.sendall(size + chunk)
        return True

    def _relay_watch(self, s, e, server):
        first, headers, head = read_head(server)
        e["status"] = int(first.split()[1])
        if e["status"] != 200:
            s.sendall(head + server.read(int(headers.get("Content-Length", 0))))
            return True
        what, data, size = what_is_asked(e["request"]["path"]), b"", b"1"
        with self.lock:
            e["watched"] = []
            self.watching[what] += 1
        try:
            s.sendall(head)
            e["openMs"] = self.ms()
            while int(size, 16):
                size = server.readline()
                chunk = server.read(int(size, 16) + 2)
                data += chunk[:-2]
                *done, data = data.split(b"\n")
                events = [json.loads(text) for text in done]
                with self.lock:
                    self.answered.wait_for(self._no_write_to_a_pod)
                    e["watched"] += [[self.ms(), x["object"]["metadata"].get("resourceVersion")] for x in events]
                s.sendall(size + chunk)
                with self.lock:
                    self._show(what, events)
        finally:
            with self.lock:
                self.watching[what] -= 1
        return True

    def _no_write_to_a_pod(self):
        return not any(n for lane, n in self.under_way.items() if lane.startswith("pod "))

    def _show(self, what, events):
        objects = self.shown.setdefault(what, {})
        for event in events:
            if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                key, version = object_and_version(event["object"])
                if event["type"] == "DELETED":
                    objects.pop(key, None)
                else:
                    objects[key] = version

    def all_is_shown(self, api):
        """Returns whether the client has been sent all that the server has of what it watches."""
        with self.lock:
            if any(self.under_way.values()):
                return False
            shown = {what: dict(self.shown.get(what, {})) for what, n in self.watching.items() if n}
        return all(versions(api.get(what)) == objects for what, objects in shown.items())

    def _note(self, e, data):
        """Notes the version of a list and, if a watch follows, its objects."""
        if e["request"]["method"] != "GET" or b'List"' not in data[:80]:
            return
        path, answer = e["request"]["path"], json.loads(data)
        if answer["kind"] == "APIResourceList":
            return
        e["listed"] = answer["metadata"]["resourceVersion"]
        if WATCHED_NEXT.search(path):
            with self.lock:
                self.shown[what_is_asked(path)] = versions(answer)

    def _answer(self, s, e, wrong):
        if wrong.get("status") is None:
            return False
        e["status"] = wrong["status"]
        body = wrong["body"]
        data = (body if isinstance(body, str) else json.dumps(body) + "\n").encode()
        headers = dict(wrong["headers"])
        headers.pop("Content-Length", None)
        if headers.get("Transfer-Encoding") == "chunked":
            data = b"%x\r\n%s\r\n" % (len(data), data) + (b"" if "end" in wrong else b"0\r\n\r\n")
        else:
            headers["Content-Length"] = len(data)
        s.sendall(
            f"HTTP/1.1 {e['status']} Injected\r\n".encode()
            + b"".join(f"{k}: {v}\r\n".encode() for k, v in headers.items())
            + b"\r\n"
            + data
        )
        return "end" not in wrong


def what_is_asked(path):
    """Returns the path of a list or a watch with its selectors alone."""
    path, _, query = path.partition("?")
    selectors = [term for term in query.split("&") if "Selector=" in term]
    return "?".join([path] + ["&".join(selectors)] * bool(selectors))


def versions(answer):
    """Returns {object: version} of a list."""
    return dict(map(object_and_version, answer["items"]))


def object_and_version(o):
    return (o["metadata"].get("namespace"), o["metadata"]["name"]), o["metadata"]["resourceVersion"]


def read_head(f):
    """Returns the first line, the headers, and the bytes of both."""
    first = f.readline()
    head, headers = [first], {}
    while first:
        line = f.readline()
        head.append(line)
        if line in (b"\r\n", b""):
            break
        key, _, value = line.decode("latin1").partition(":")
        headers[key.strip()] = value.strip()
    return first.decode("latin1").strip(), headers, b"".join(head)


class Difference:
    """Where ours is known to differ from the recording: `change` makes our lines of a lane from the recorded ones.
    `where` is searched in "NUMBER | PHASE | LANE". `told` is what a document for users says about it
    (conversation_play.DOCUMENTS). `lane` is one that the recording does not have in these phases."""

    def __init__(self, told, where, change, lane=None):
        self.told, self.where, self.change, self.lane, self.used = told, where, change, lane, False


def rewritten(old, new):
    def change(lines):
        return [Line(re.sub(old, new, l.text), l.ms) for l in lines]

    return change


def only(*numbers):
    """Keeps these of the recorded lines, in this order."""

    def change(lines):
        return [lines[n] if isinstance(n, int) else lines[n[0]]._replace(ms=None) for n in numbers]

    return change


def moved(number):
    """Marks a line that comes at another moment than in the recording, so that its delay is not compared."""
    return (number,)


def also(*texts):
    """Adds lines after the recorded ones."""

    def change(lines):
        return lines + [Line(t, None) for t in texts]

    return change


def without_the_first(lines):
    """Leaves the first event out, so that the next one is the first."""
    return rewritten("<event 2>", "<event 1>")(lines[1:])


def expected(number, entries, differences):
    """Returns the expected lanes of our scheduler: the recorded ones with the known differences applied."""
    recorded = Reading(entries)
    lanes = dict(recorded.lanes)
    phases = [e["mark"] for e in entries if "mark" in e]
    for d in differences:
        for key in list(lanes) if d.lane is None else [(p, d.lane) for p in phases]:
            if re.search(d.where, f"{number} | {key[0]} | {key[1]}"):
                before = lanes.get(key, [])
                lanes[key] = d.change(before)
                d.used |= before != lanes[key]
    return {key: lines for key, lines in lanes.items() if lines}


def problems(number, want, ours):
    """Returns the differences as texts. `want` comes from expected(); `ours` are the lanes of a Reading."""
    out = []
    for key in sorted(set(want) | set(ours)):
        a, b = want.get(key, []), ours.get(key, [])
        title = f"{number} | {key[0]} | {key[1]}"
        if [l.text for l in a] != [l.text for l in b]:
            out.append(
                "\n".join(
                    [
                        title,
                        *difflib.unified_diff(
                            [l.text for l in a], [l.text for l in b], "expected", "ours", n=9, lineterm=""
                        ),
                    ]
                )
            )
            continue
        if key[1] == "lock":
            continue  # repetitions are omitted, and candidates wait for random times
        for (a0, a1), (b0, b1) in zip(zip(a, a[1:]), zip(b, b[1:])):
            wait = a1.ms - a0.ms if a0.ms is not None and a1.ms is not None else 0
            # It must not come earlier than from the real scheduler, except that the event before it may have waited for
            # others for 200 ms. A busy machine, or a fifth of jitter, may make it come later.
            early = 250 if key[1].startswith("events") else 50
            if wait > 700 and not wait * 0.9 - early <= b1.ms - b0.ms <= wait * 1.2 + 2500:
                out.append(
                    f"{title}: {wait} ms in the recording, {b1.ms - b0.ms} ms here between\n  {a0.text}\n  {a1.text}"
                )
    return out
