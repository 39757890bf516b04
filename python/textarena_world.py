"""Games of TextArena, for one player or several. Each player is a role."""

import hashlib
import random
import threading

import textarena
from textarena.envs.registration import ENV_REGISTRY

# Games draw from the one generator of `random`, so they take turns, each with the state that it left.
chance_of_python = threading.Lock()


class TextArenaWorld:
    splits = {"train": None, "validation": None, "test": None}
    pure = False
    scripts = False
    has_expert = False

    def __init__(self, name, settings, options):
        self.name = name
        # The raw form of a game says what is new; the others repeat the whole history, which the trainer has.
        raw = f"{name}-raw"
        self.make = lambda: textarena.make(raw if raw in ENV_REGISTRY else name, **settings)
        self.players = options.players
        self.roles = (
            ["agent"] if self.players == 1 else [f"player-{number}" for number in range(self.players)]
        )
        self.instructions = options.instructions
        env = self.make()
        with chance_of_python:
            env.reset(num_players=self.players, seed=0)
        self.description = f"A game of TextArena for {self.players}."
        self.max_turns = options.max_turns or getattr(env.state, "max_turns", None) or 50

    def action(self, form):
        return {"form": form}

    def open(self, split, index, chance):
        return TextArenaEpisode(self, 3 * index + list(self.splits).index(split), chance)


class TextArenaEpisode:
    def __init__(self, world, seed, chance):
        self.world = world
        self.said = {}
        self.heard = {role: hashlib.sha256() for role in world.roles}
        self.env = world.make()
        with chance_of_python:
            self.env.reset(num_players=world.players, seed=seed)
            random.seed(chance)
            self.chance = random.getstate()
        first = [{"role": "system", "content": world.instructions}] if world.instructions else []
        self.fresh = {role: list(first) for role in world.roles}
        self.look()

    def look(self):
        """What the player to move has not read yet."""
        player, observation = self.env.get_observation()
        role = self.world.roles[player]
        if not isinstance(observation, str):
            own = [("PLAYER_ACTION", self.said.get(role)), ("PLAYER_ACTION", None)]
            lines = [
                text if sender < 0 else f"Player {sender}: {text}"
                for sender, text, kind in observation
                if not (kind.name == "PLAYER_ACTION" and (sender == player or (kind.name, text) in own))
            ]
            observation = "\n".join(line.strip() for line in lines)
        self.heard[role].update(observation.encode())
        self.to_move = role
        self.messages = {role: [*self.fresh.pop(role, []), {"role": "user", "content": observation}]}

    @property
    def anchor(self):
        return self.heard[self.to_move].hexdigest()

    def step(self, text):
        role = self.to_move
        self.said[role] = text
        self.heard[role].update(text.encode())
        with chance_of_python:
            random.setstate(self.chance)
            done, _ = self.env.step(action=text)
            self.chance = random.getstate()
        if not done:
            self.look()
            return {"rewards": {}, "valid": not getattr(self.env.state, "made_invalid_move", False)}
        rewards, info = self.env.close()
        self.to_move = None
        self.messages = {name: [] for name in self.world.roles}
        earned = {name: float(rewards.get(player, 0)) for player, name in enumerate(self.world.roles)}
        player = self.world.roles.index(role)
        return {
            "rewards": earned,
            # A game that is won pays 1; single players may earn a part of it.
            "success": {name: reward >= 1 for name, reward in earned.items()},
            "valid": not info.get(player, {}).get("invalid_move", False),
        }

    def script(self, player, chance):
        return None

    def close(self):
        pass
