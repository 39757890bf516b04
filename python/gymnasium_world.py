"""Environments with the interface of Gymnasium: `reset(seed=…)` and `step(action)`."""

import hashlib
import json
import random


class GymnasiumWorld:
    """Its actions are the names of a discrete space, or any text where there is no such space."""

    roles = ["agent"]
    splits = {"train": None, "validation": None, "test": None}

    def __init__(self, name, make, options):
        self.name = name
        self.make = make
        env = make()
        self.names = named_actions(env, options.actions)
        self.description = first_line(getattr(env, "unwrapped", env).__doc__)
        self.max_turns = options.max_turns or turns_of(env) or 100
        self.instructions = options.instructions
        self.invalid_reward = options.invalid_reward
        self.pure = options.pure
        # One number of finitely many is the state; elsewhere the agent knows what was said so far.
        self.shows_state = hasattr(getattr(env, "observation_space", None), "n")
        self.has_expert = hasattr(getattr(env, "unwrapped", env), "expert")
        self.scripts = self.has_expert or self.names is not None
        close(env)

    def action(self, form):
        return {"form": form}

    def open(self, split, index, chance):
        # Tasks are starts: no two splits share one.
        seed = 3 * index + list(self.splits).index(split)
        return GymnasiumEpisode(self, seed % 2**32, chance)


class GymnasiumEpisode:
    def __init__(self, world, seed, chance):
        self.world = world
        self.env = world.make()
        self.turns = 0
        observation, _ = self.env.reset(seed=seed)
        self.draw_from(chance)
        self.heard = hashlib.sha256()
        self.see(observation)
        self.to_move = "agent"
        first = [{"role": "system", "content": world.instructions}] if world.instructions else []
        self.messages = {"agent": [*first, {"role": "user", "content": self.seen}]}

    @property
    def anchor(self):
        return self.seen if self.world.shows_state else self.heard.hexdigest()

    def see(self, observation):
        self.seen = words(observation)
        self.heard.update(json.dumps(self.seen).encode())

    def draw_from(self, chance):
        """From here on chance is that of the episode, so that episodes of one start differ."""
        inner = getattr(self.env, "unwrapped", self.env)
        if hasattr(inner, "draw_from"):
            inner.draw_from(chance)
        elif hasattr(inner, "np_random"):
            import numpy

            inner.np_random = numpy.random.default_rng(chance)

    def step(self, text):
        self.turns += 1
        names = self.world.names
        if names is not None and text not in names:
            self.messages = {"agent": [{"role": "user", "content": f"That is no action.\n{self.seen}"}]}
            return {"rewards": {"agent": self.world.invalid_reward}, "valid": False}
        self.heard.update(json.dumps(text).encode())
        observation, reward, terminated, truncated, info = self.env.step(
            text if names is None else names[text]
        )
        self.see(observation)
        self.messages = {"agent": [{"role": "user", "content": self.seen}]}
        # The trainer counts turns too, and knows that an episode which is cut off there had not ended.
        done = bool(terminated) or (bool(truncated) and self.turns != self.world.max_turns)
        if done:
            self.to_move = None
        success = info.get("success", info.get("is_success", bool(terminated) and reward > 0))
        return {"rewards": {"agent": float(reward)}, "success": {"agent": bool(success)}}

    def script(self, player, chance):
        inner = getattr(self.env, "unwrapped", self.env)
        if player == "expert" and self.world.has_expert:
            return str(inner.expert())
        if player == "random" and self.world.names is not None:
            return random.Random(chance).choice(list(self.world.names))
        return None

    def close(self):
        close(self.env)


def named_actions(env, given):
    """Actions of a discrete space by their names; None where actions are text."""
    inner = getattr(env, "unwrapped", env)
    names = given.split(",") if given else getattr(inner, "actions", None)
    space = getattr(env, "action_space", None)
    if not hasattr(space, "n"):
        if hasattr(space, "sample") and type(space).__name__ != "Text":
            raise SystemExit(
                f"The actions {space} are neither discrete nor text. Wrap the environment (ActionWrapper)."
            )
        return {name: name for name in names} if names else None
    numbers = [int(getattr(space, "start", 0)) + number for number in range(int(space.n))]
    if not isinstance(names, (list, tuple)):
        names = [str(number) for number in numbers]
    if len(set(names)) != len(numbers):
        raise SystemExit(
            f"--actions has {len(set(names))} different names, and the environment {len(numbers)} actions."
        )
    return dict(zip(names, numbers))


def turns_of(env):
    """The limit of turns that Gymnasium registered, or that the environment names itself."""
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return limit or getattr(getattr(env, "unwrapped", env), "max_turns", None)


def words(observation):
    """What the agent reads of it: texts as they are, everything else as JSON."""
    if isinstance(observation, str):
        return observation
    return json.dumps(
        observation, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
    )


def first_line(text):
    lines = (text or "").strip().splitlines()
    return lines[0] if lines else ""


def close(env):
    if hasattr(env, "close"):
        env.close()
