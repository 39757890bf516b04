"""Environments of verifiers before 0.2, which ask a model: here the model is whoever plays the session."""

import asyncio
import hashlib
import json
import queue
import threading
import time

import verifiers
from verifiers.clients import Client
from verifiers.types import Response, ResponseMessage, ToolCall


class VerifiersWorld:
    """Its tasks are the rows of the environment's data sets; its tools are the agent's."""

    roles = ["agent"]
    pure = False
    scripts = False
    has_expert = False

    def __init__(self, name, settings, options):
        self.name = name
        self.env = verifiers.load_environment(name, **settings)
        self.description = f"An environment of verifiers: {name}."
        self.max_turns = options.max_turns or max(getattr(self.env, "max_turns", 1), 0) or 30
        # The environment has to see the last turn itself, since it rewards at the end.
        if getattr(self.env, "max_turns", None) != self.max_turns:
            self.env.max_turns = self.max_turns
        self.instructions = options.instructions
        self.tools = [
            tool.model_dump(include={"name", "description", "parameters"})
            for tool in self.env.tool_defs or []
        ]
        self.rows = rows_of(self.env)
        self.splits = {split: len(rows) for split, rows in self.rows.items()}
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def action(self, form):
        """How actions are found in what the agent writes."""
        if not self.tools:
            return {"form": form}
        return {
            "form": "tools",
            "answers": True,
            "tools": [{"type": "function", "function": one} for one in self.tools],
        }

    def open(self, split, index, chance):
        return VerifiersEpisode(self, self.rows[split][index])


def rows_of(env):
    """Rows for each split, none in two: of the data for evaluation, or two of every ten rows for training."""
    train = list(env.get_dataset()) if env.build_dataset() is not None else []
    held_out = list(env.get_eval_dataset()) if env.build_eval_dataset() is not None else []
    if train and len(held_out) > 1:
        return {"train": train, "validation": held_out[0::2], "test": held_out[1::2]}
    rows = train or held_out
    if len(rows) < 3:
        raise SystemExit(f"The environment has {len(rows)} rows; three splits need 3.")
    shares = {place: rows[place::10] for place in range(10)}
    kept = [row for place in range(2, 10) for row in shares[place]]
    return {"train": kept, "validation": shares[1], "test": shares[0]}


class Policy(Client):
    """Hands what the environment asks to the session, and its words back."""

    def __init__(self, asked):
        super().__init__(None)
        self.asked = asked

    async def get_response(self, prompt, model, sampling_args, tools=None, **_):
        answer = asyncio.get_running_loop().create_future()
        self.asked.put(("turn", list(prompt), answer))
        return Response(id="turn", created=int(time.time()), model=model, message=await answer)


# The other methods of a client speak to a server, and there is none.
Policy.__abstractmethods__ = frozenset()


class VerifiersEpisode:
    def __init__(self, world, row):
        self.world = world
        self.events = queue.Queue()
        self.heard = hashlib.sha256()
        self.turns = self.read = 0
        rollout = world.env.run_rollout(row, Policy(self.events), "turnwise", {})
        self.rollout = asyncio.run_coroutine_threadsafe(rollout, world.loop)
        self.rollout.add_done_callback(lambda _: self.events.put(("end", None, None)))
        self.to_move = "agent"
        first = [{"role": "system", "content": world.instructions}] if world.instructions else []
        if not self.listen(first):
            raise RuntimeError(
                f"The episode ended before its first turn: {self.rollout.result().get('error')}"
            )

    def listen(self, first=()):
        """Wait until the environment asks (true) or has ended (false)."""
        event, prompt, self.answer = self.events.get()
        if event == "end":
            self.to_move = None
            self.messages = {"agent": []}
            return False
        fresh = [plain(message) for message in prompt[self.read :]]
        # What the agent says now is in the next prompt, and needs no telling.
        self.read = len(prompt) + 1
        self.messages = {"agent": [*first, *fresh]}
        self.heard.update(json.dumps(fresh).encode())
        return True

    @property
    def anchor(self):
        return self.heard.hexdigest()

    def step(self, action):
        self.turns += 1
        self.heard.update(action.encode())
        message = self.said(action)
        self.world.loop.call_soon_threadsafe(self.answer.set_result, message)
        if self.listen():
            return {"rewards": {}}
        output = self.rollout.result()
        if output.get("error"):
            raise RuntimeError(f"The environment failed: {output['error']}")
        reward = float(output["reward"])
        return {
            "rewards": {"agent": reward},
            "success": {"agent": reward >= 1},
            "metrics": {name: float(value) for name, value in (output.get("metrics") or {}).items()},
        }

    def said(self, action):
        """The agent's message: words, or a call of a tool, which come as JSON where there are tools."""
        known = json.loads(action) if self.world.tools and action else {"answer": action}
        calls = None
        if "name" in known:
            arguments = json.dumps(known["arguments"])
            calls = [ToolCall(id=f"call-{self.turns}", name=known["name"], arguments=arguments)]
        finish = "tool_calls" if calls else "stop"
        return ResponseMessage(
            content=known.get("answer", ""), tool_calls=calls, finish_reason=finish, is_truncated=False
        )

    def script(self, player, chance):
        return None

    def close(self):
        self.rollout.cancel()


def plain(message):
    """A message of verifiers as Turnwise has them: a role and text."""
    content = message.content or ""
    if not isinstance(content, str):
        parts = [part if isinstance(part, dict) else part.model_dump() for part in content]
        if any(part.get("type") != "text" for part in parts):
            raise ValueError("Turnwise reads text, and this environment shows something else.")
        content = "\n".join(part["text"] for part in parts)
    return {"role": message.role, "content": content}
