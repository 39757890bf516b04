"""A real OpenEnv server (pip install openenv-core uvicorn) with two small environments, for tools/interop/openenv.ts.

usage: python openenv_echo_server.py PORT (echo | dial) [MAX_SESSIONS]
"""

import sys
from typing import Literal
from uuid import uuid4

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class EchoAction(Action):
    message: str


class EchoObservation(Observation):
    text: str


class Echo(Environment):
    """Says back what it hears; "stop" ends the episode with reward 1."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed=None, episode_id=None):
        self._state = State(episode_id=episode_id, step_count=0)
        return EchoObservation(text=f"seed {seed}")

    def step(self, action: EchoAction):
        self._state.step_count += 1
        if action.message == "fail":
            raise RuntimeError("asked to fail")
        done = action.message == "stop"
        return EchoObservation(text=action.message, reward=1.0 if done else 0.1, done=done)

    @property
    def state(self):
        return self._state


class DialAction(Action):
    turn: Literal["left", "right"]
    clicks: int


class DialObservation(Observation):
    position: int
    target: int


class Dial(Environment):
    """Turn a dial to its target; the seed sets the target."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._position, self._target, self._steps = 0, 0, 0

    def reset(self, seed=None, episode_id=None):
        self._position, self._target, self._steps = 0, 1 + (seed or 0) % 7, 0
        return DialObservation(position=0, target=self._target)

    def step(self, action: DialAction):
        self._steps += 1
        self._position += action.clicks if action.turn == "right" else -action.clicks
        done = self._position == self._target
        return DialObservation(
            position=self._position, target=self._target, reward=1.0 if done else -0.1, done=done
        )

    @property
    def state(self):
        return State(step_count=self._steps)


if __name__ == "__main__":
    port, which = int(sys.argv[1]), sys.argv[2]
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    kinds = {"echo": (Echo, EchoAction, EchoObservation), "dial": (Dial, DialAction, DialObservation)}
    environment, action, observation = kinds[which]
    app = create_app(environment, action, observation, env_name=which, max_concurrent_envs=limit)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
