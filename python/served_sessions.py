"""The sessions of Turnwise's environment protocol (docs/environment-servers.md). Knows no HTTP."""

import hashlib
import json
import secrets
import threading
import time
import traceback


class Refusal(Exception):
    """An answer that is no success: its status, its code and a sentence."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


def unknown_session():
    return Refusal(404, "session-unknown", "There is no such session: it was closed, or its lease ended.")


def check_opening(request):
    """That each field of a request for a session has its type."""
    chance, path = request.get("chance", {"episode": []}), request.get("path", [])
    fields = {
        "index": type(request.get("index")) is int and request["index"] >= 0,
        "split": request.get("split", "train") in ("train", "validation", "test"),
        "seed": isinstance(request.get("seed", 0), (int, str)),
        "leaseMs": type(request.get("leaseMs", 1)) is int and request.get("leaseMs", 1) > 0,
        "chance": isinstance(chance, dict) and "episode" in chance,
        "path": isinstance(path, list)
        and all(isinstance(part, dict) and isinstance(part.get("actions"), list) for part in path)
        and all(isinstance(action, str) for part in path for action in part["actions"]),
    }
    for field, is_right in fields.items():
        if not is_right:
            raise Refusal(400, "request-invalid", f'The request cannot be used because of "{field}".')


class Session:
    """An episode that is played by one client. Its lock is held while anything happens to it."""

    def __init__(self, key, body, lease):
        self.id = secrets.token_hex(16)
        self.key, self.body, self.lease = key, body, lease
        self.lock = threading.Lock()
        self.episode = None
        self.closed = self.left = False
        self.next_step = 0
        self.last = None
        self.renew()

    def renew(self):
        self.deadline = time.monotonic() + self.lease

    def view(self):
        episode = self.episode
        over = episode.to_move is None
        return {
            "toMove": episode.to_move,
            "messages": episode.messages,
            "anchor": "" if over else episode.anchor,
        }

    def opened(self):
        return {"session": self.id, "leaseMs": self.lease * 1000, "step": self.next_step, "view": self.view()}


class Sessions:
    """The open sessions of a server."""

    def __init__(self, world, most, lease, form):
        self.world, self.most, self.lease = world, most, lease
        self.action = world.action(form)
        self.form = self.action["form"]
        self.lock = threading.Lock()
        self.open_ones = {}

    def open(self, request, key):
        check_opening(request)
        body = json.dumps(request, sort_keys=True)
        size = self.world.splits[request.get("split", "train")]
        if size is not None and request["index"] >= size:
            raise Refusal(422, "task-unknown", f"This split has {size} tasks.")
        lease = min(self.lease, request.get("leaseMs", self.lease * 1000) / 1000)
        with self.lock:
            session = next((one for one in self.open_ones.values() if key and one.key == key), None)
            if session is None:
                if len(self.open_ones) >= self.most:
                    raise Refusal(
                        503, "session-limit", f"{self.most} sessions are open; start with more --sessions."
                    )
                session = Session(key, body, lease)
                self.open_ones[session.id] = session
        if session.body != body:
            raise Refusal(409, "idempotency-conflict", "The idempotency key was used for another request.")
        with session.lock:
            if session.episode is None:
                try:
                    self.begin(session, request)
                except BaseException:
                    self.end(session)
                    raise
            session.renew()
            return session.opened()

    def begin(self, session, request):
        if session.closed:
            raise unknown_session()
        chance = request.get("chance")
        named = chance["episode"] if chance else request.get("seed", secrets.token_hex(16))
        session.episode = self.world.open(request.get("split", "train"), request["index"], number_of(named))
        for stretch in request.get("path", []):
            if "chance" in stretch:
                if not self.world.pure:
                    raise Refusal(
                        501, "snapshot-unsupported", "Only an environment with --pure takes another chance."
                    )
                session.episode.draw_from(number_of(stretch["chance"]))
            for action in stretch["actions"]:
                session.episode.step(action)
                session.next_step += 1

    def find(self, id):
        session = self.open_ones.get(id)
        if session is None:
            raise unknown_session()
        session.renew()
        return session

    def step(self, id, request):
        session = self.find(id)
        try:
            return self.take(session, request)
        finally:
            self.end_if_left(session)

    def take(self, session, request):
        number, action = request.get("step"), request.get("action", request.get("text"))
        if not isinstance(action, str) or ("action" in request and "text" in request):
            raise Refusal(400, "request-invalid", 'A step needs either "action" or "text".')
        if "text" in request:
            if self.form != "raw":
                raise Refusal(
                    400, "request-invalid", 'This server needs "action", which its client finds in the text.'
                )
            action = action.strip()
        with session.lock:
            if session.closed:
                raise unknown_session()
            if session.last and session.last[0] == number:
                if session.last[1] == action:
                    return session.last[2]
                raise Refusal(409, "step-conflict", "This step was taken before, with another action.")
            if number != session.next_step:
                raise Refusal(409, "step-out-of-order", f"The next step is {session.next_step}.")
            if session.episode.to_move is None:
                raise Refusal(409, "episode-over", "The episode is over.")
            try:
                given = session.episode.step(action)
                answer = {"success": {}, "valid": True, **given, "step": number}
                answer.update(done=session.episode.to_move is None, view=session.view())
                json.dumps(answer, allow_nan=False)  # a reward that is no number is a failure, and no reward
            except BaseException:
                # Half a step may have been taken, and nobody can take it back.
                self.end(session)
                raise
            session.last, session.next_step = (number, action, answer), number + 1
            session.renew()
            return answer

    def script(self, id, request):
        session = self.find(id)
        with session.lock:
            if session.closed:
                raise unknown_session()
            if session.episode.to_move is None:
                return {"action": None}
            return {"action": session.episode.script(request.get("player"), number_of(request.get("chance")))}

    def read(self, id):
        session = self.find(id)
        with session.lock:
            return session.opened()

    def close(self, id):
        session = self.find(id)
        session.left = True
        with self.lock:
            self.open_ones.pop(id, None)
        self.end_if_left(session)

    def end_if_left(self, session):
        """A step under way, which may hang, ends its session itself: nobody who closes one waits for it."""
        if session.left and session.lock.acquire(blocking=False):
            try:
                self.end(session)
            finally:
                session.lock.release()

    def end(self, session):
        """Under the lock of the session."""
        with self.lock:
            self.open_ones.pop(session.id, None)
        if session.closed:
            return
        session.closed = True
        try:
            if session.episode is not None:
                session.episode.close()
        except Exception:
            traceback.print_exc()

    def sweep(self):
        """Close what its client has left. A session in which something happens now is in use."""
        for session in list(self.open_ones.values()):
            if session.deadline < time.monotonic() and session.lock.acquire(blocking=False):
                try:
                    self.end(session)
                finally:
                    session.lock.release()

    def describe(self):
        world = self.world
        return {
            "protocol": 1,
            "name": world.name,
            "description": world.description,
            "roles": world.roles,
            "maxTurns": world.max_turns,
            "action": self.action,
            "tasks": world.splits,
            "pure": world.pure,
            "snapshots": None,
            "scripts": world.scripts,
            # Without an expert, a model from nothing learns its words from random players.
            "settings": {"clone": {"randomRate": 1}} if world.scripts and not world.has_expert else {},
            "maxSessions": self.most,
        }


def number_of(chance):
    """A seed that the whole of `chance` decides."""
    return int.from_bytes(hashlib.sha256(json.dumps(chance).encode()).digest()[:4], "big")
