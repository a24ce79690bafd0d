"""Replays a recorded conversation with our scheduler: starts the API server, the recorder in front of it and the
scheduler, and compares the requests of each phase with the recorded ones.
"""
import json
import os
import re

from conversation import WHOLE, Reading, Recorder, expected, lane_of, load, problems
from harness import DEADLINE, Api, Scheduler, scratch, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))


class Play:
    """One conversation: an API server, the recorder in front of it, and the scheduler that talks with it."""

    def __init__(
        self,
        number,
        differences,
        release="1.10",
        left_out=None,
        by_chance=None,
        bodies=True,
        api_flags=(),
        emulated=None,
    ):
        """`left_out` is a pattern for names of lanes that the recording lacks although the scheduler sent requests in
        them, `by_chance` one for requests that may or may not occur: "METHOD PATH BODY", or the same after "PHASE | ".
        bodies=False compares of bodies only patches, and the objects of events, because the recording has no more of
        them. `api_flags` are more flags of the API server. `emulated` is the release that the scheduler emulates where
        that is not the one of the recording; it is part of the name by which differences know the conversation, "20 as
        1.13"."""
        self.head, everything = load(number)
        if emulated is not None:
            number = f"{number} as {emulated}"
            self.head["flags"] = [*self.head["flags"], "--emulated-version=" + emulated]
        self.number, self.left_out, self.by_chance, self.bodies = number, left_out, by_chance, bodies
        self.recorded = self.certain(everything)
        self.want = expected(number, self.recorded, differences)
        self.marks = [e["mark"] for e in self.recorded if "mark" in e]
        self.phase = ""
        self.before = None  # called with method, path and body of a request before the server receives it
        self.injected = {}
        phase = ""
        for e in everything:
            phase = e.get("mark", phase)
            if "injected" in e:
                self.injected.setdefault((phase, self._key(e)), []).append({"status": e["status"], **e["injected"]})
        self.api = Api.start(flags=[f"--emulated-version={release}", *api_flags])
        self.proxy = Recorder(self.api.port, self._fault)
        self.scheduler = None

    @staticmethod
    def _key(e):
        q = e["request"]
        return q["method"], q["path"].partition("?")[0], "watch=" in q["path"]

    def _fault(self, e):
        if self.before:
            self.before(e["request"]["method"], e["request"]["path"], e["request"].get("body"))
        left = self.injected.get((self.phase, self._key(e)))
        return left.pop(0) if left else None

    def start(self, proxy=None, name=""):
        """Starts the scheduler with the flags or the configuration file of the recording."""
        flags = self.head.get("flags", [])
        if "configuration" in self.head:
            path = scratch(f"conversation-{self.number.replace(' ', '-')}{name}.json")
            with open(path, "w", encoding="utf8") as f:
                json.dump(self.head["configuration"], f)
            flags = [f"--config={path}", "--secure-port=0"]
        self.scheduler = Scheduler(
            (proxy or self.proxy).url, *flags, name=f"conversation-{self.number.replace(' ', '-')}{name}", bare=True
        )
        return self.scheduler

    def user(self, what):
        """Begins the next phase, which has this name in the recording, after the consequences of what was done
        before."""
        self.settled()
        mark = self.marks.pop(0)
        assert mark.startswith(what), f"{self.number}: next is {mark!r}"
        self.phase = mark
        self.proxy.mark(mark)

    def call(self, method, path, body=None, content_type="application/json"):
        status, answer = self.api.call(method, path, body, content_type)
        assert status in (200, 201), f"{self.number}: {method} {path}: {status} {answer}"
        return answer

    def certain(self, entries):
        if self.by_chance is None:
            return entries
        kept, phase = [], ""
        for e in entries:
            phase = e.get("mark", phase)
            if "request" in e:
                text = f'{e["request"]["method"]} {e["request"]["path"]} {json.dumps(e["request"].get("body"))}'
                if re.search(self.by_chance, text) or re.search(self.by_chance, f"{phase} | {text}"):
                    continue
            kept.append(e)
        return kept

    def ours(self):
        entries = self.certain(self.proxy.snapshot())
        return Reading(entries if self.bodies else [without_body(e) for e in entries])

    def problems(self):
        ours = self.ours().lanes
        if self.left_out:
            ours = {k: v for k, v in ours.items() if k in self.want or not re.search(self.left_out, k[1])}
        return problems(self.number, self.want, ours)

    def lane(self, name, phase=None):
        return self.ours().lanes.get((self.phase if phase is None else phase, name), [])

    def asked(self, text, times=1):
        """Waits for this number of requests in this phase, and for their answers."""

        def number_answered():
            return sum(
                answered([l for l in lines if re.search(text, l.text)])
                for (phase, _), lines in self.ours().lanes.items()
                if phase == self.phase
            )

        wait_until(f"{self.number} | {self.phase}: {text}", number_answered, at_least=times)

    def settled(self):
        """Waits until the scheduler has been shown all that the server has of what it watches, and has done all that it
        does at once."""
        if self.scheduler is None:
            return
        process, port = self.scheduler.process, int(self.proxy.url.rpartition(":")[2])

        def has_ended_or_seen_all():
            ended = process.poll() is not None
            return ended or (self.proxy.all_is_shown(self.api) and waits_for_input(process.pid, port))

        wait_until(f"{self.number} | {self.phase}: all is shown", has_ended_or_seen_all)

    def heard(self):
        """Waits until all requests that are expected in this phase have been made and answered."""

        def missing():
            ours = self.ours().lanes
            return [
                k[1]
                for k, lines in self.want.items()
                if k[0] == self.phase and (len(ours.get(k, [])) < len(lines) or answered(ours[k]) < answered(lines))
            ]

        try:
            wait_until("", missing, equals=[])
        except AssertionError:
            log = self.scheduler.log()[-2000:] if self.scheduler else ""
            raise AssertionError(
                "\n".join([f"{self.number} | {self.phase}: not heard of {missing()}", *self.problems(), log])
            ) from None
        self.settled()

    def renewed(self):
        """Waits until the lock has been renewed."""

        def last_writes():
            return "\n".join(l.text.replace("\\", "") for l in self.lane("lock", WHOLE)[-2:])

        wait_until(f"{self.number}: a renewal", last_writes, containing='"<later')

    def renewed_again(self):
        """Waits for the end of a renewal. What happens then does not come between the two requests of the next one."""

        def renewals():
            return sum(
                e["request"]["method"] == "PUT" and lane_of(e) == "lock" and "status" in e
                for e in self.proxy.snapshot()
                if "request" in e
            )

        before = renewals()
        wait_until(f"{self.number}: another renewal", renewals, at_least=before + 1)

    def ended(self, status):
        p = self.scheduler.process
        assert p.wait(DEADLINE) == status, self.scheduler.log()[-2000:]

    def over(self, status=0):
        assert not self.marks, self.marks
        if self.scheduler.process.poll() is None:
            assert self.scheduler.stop() == status, self.scheduler.log()[-2000:]
        differ = self.problems()
        assert not differ, "\n" + "\n".join(differ)


def answered(lines):
    return sum(not line.text.endswith("-> None") for line in lines)


def waits_for_input(pid, port):
    """Returns whether the process had read all that was sent to it from the local port, and then, at one moment, all
    its threads slept. A thread that slept at two moments, and was not switched to in between, slept all the time."""
    if unread(port) > 0:  # takes long on a machine with many sockets, so it is not asked between the two moments
        return False
    before = asleep(pid)
    return before is not None and asleep(pid) == before


def asleep(pid):
    """Returns how often each thread of the process has waited until now, or None if one of them does not wait."""
    waited = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as f:
                lines = list(f)
        except (FileNotFoundError, ProcessLookupError):
            return None  # it ended just now
        status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if not status["State"].startswith("S"):
            return None
        waited[thread] = status["voluntary_ctxt_switches"]
    return waited


def unread(port):
    """Returns how many bytes have been sent to the clients of a local port and have not been read by them."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        sockets = [line.split() for line in list(f)[1:]]
    return sum(int(s[4].rpartition(":")[2], 16) for s in sockets if int(s[2].rpartition(":")[2], 16) == port)


def without_body(e):
    q = e.get("request", {})
    if "body" not in q or q["method"] == "PATCH":
        return e
    about = {
        key: {"namespace": o["namespace"], "name": o["name"]}
        for key, o in q["body"].items()
        if key in ("regarding", "involvedObject")
    }
    return {**e, "request": {**{k: v for k, v in q.items() if k != "body"}, **({"body": about} if about else {})}}


def in_order(play, *patterns):
    """Checks, in the recording and here, that the first line with one of the patterns precedes the first line with the
    next."""
    for who, entries in (("the recording", play.recorded), ("ours", play.proxy.snapshot())):
        texts = [l.text for l in Reading(entries).lines]
        at = [next((i for i, t in enumerate(texts) if re.search(x, t)), -1) for x in patterns]
        assert at == sorted(at) and at[0] >= 0, f"{play.number}: {who} has {dict(zip(patterns, at))}"


# The documents that tell users about differences.
DOCUMENTS = (
    "cmd/kube-scheduler/README.md",
    "pkg/scheduler/DIFFERENCES.md",
    "pkg/scheduler/BUGS.md",
    "hack/deploy/monitoring/README.md",
)


def differences_are_told(differences):
    documents = ""
    for name in DOCUMENTS:
        with open(os.path.join(HERE, "..", name), encoding="utf8") as f:
            documents += " ".join(f.read().split()) + "\n"
    for d in differences:
        assert d.used, f"no longer a difference: {d.told!r} at {d.where!r}"
        assert d.told in documents, f"none of {', '.join(DOCUMENTS)} tells: {d.told!r}"
