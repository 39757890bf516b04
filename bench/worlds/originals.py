"""Steps of environments in Python, for bench/worlds/speed.ts: reads JSON lines {"original": NAME, "seconds": CPU}, answers each with a line.

An answer is {"package", "version", "steps", "seconds"}, or {"error"} where the package is not there. Random episodes are recorded first;
then they are played again from the same seeds, and only the steps are timed, each with the observation that follows it.
"""

import importlib.metadata
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
EPISODES, LONGEST = 20, 60
TICKS = os.sysconf("SC_CLK_TCK")
# Packages print what they like; answers have a channel of their own.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


class Gym:
    """Gymnasium, and Minigrid, which registers there."""

    package = "gymnasium"

    def __init__(self, name):
        import gymnasium

        if "BabyAI" in name:
            import minigrid  # noqa: F401

            self.package = "minigrid"
        self.env = gymnasium.make(name)

    def reset(self, seed):
        self.env.reset(seed=seed)

    def choose(self, rng):
        return rng.randrange(int(self.env.action_space.n))

    def step(self, action):
        _, _, terminated, truncated, _ = self.env.step(action)
        return terminated or truncated


class OpenSpiel:
    package = "open-spiel"

    def __init__(self, name):
        import pyspiel

        self.game = pyspiel.load_game(name)
        self.observes = self.game.get_type().provides_observation_string

    def reset(self, seed):
        self.rng = random.Random(seed)
        self.state = self.game.new_initial_state()
        self.deal()

    def deal(self):
        while self.state.is_chance_node():
            outcomes, weights = zip(*self.state.chance_outcomes())
            self.state.apply_action(self.rng.choices(outcomes, weights)[0])

    def choose(self, rng):
        return rng.choice(self.state.legal_actions())

    def step(self, action):
        self.state.apply_action(action)
        self.deal()
        if self.state.is_terminal():
            return True
        player = self.state.current_player()
        self.state.observation_string(player) if self.observes else self.state.information_state_string(player)
        return False


class PettingZoo:
    package = "pettingzoo"

    def __init__(self, name):
        module = __import__("pettingzoo.classic", fromlist=[name])
        self.env = getattr(module, name).env()

    def reset(self, seed):
        self.env.reset(seed=seed)
        self.seen = self.env.last()

    def choose(self, rng):
        return rng.choice([number for number, legal in enumerate(self.seen[0]["action_mask"]) if legal])

    def step(self, action):
        self.env.step(action)
        self.seen = self.env.last()
        return bool(self.seen[2] or self.seen[3])


class TextArena:
    package = "textarena"

    def __init__(self, name, players, choose):
        import textarena

        self.env, self.players, self.draw = textarena.make(name), players, choose

    def reset(self, seed):
        random.seed(seed)
        self.env.reset(num_players=self.players, seed=seed)
        self.env.get_observation()

    def choose(self, rng):
        return self.draw(rng)

    def step(self, action):
        done, _ = self.env.step(action)
        if not done:
            self.env.get_observation()
        return done


class TextWorld:
    package = "textworld"

    def __init__(self):
        import textworld

        options = textworld.GameOptions()
        options.seeds, options.nb_rooms, options.nb_objects, options.quest_length = 1, 8, 8, 6
        options.path = os.path.join(tempfile.mkdtemp(), "game.z8")
        path, _ = textworld.make(options)
        self.env = textworld.start(path, textworld.EnvInfos(admissible_commands=True, won=True))

    def reset(self, seed):
        self.state = self.env.reset()

    def choose(self, rng):
        return rng.choice(self.state.admissible_commands)

    def step(self, action):
        self.state, _, done = self.env.step(action)
        return done


class ScienceWorld:
    package = "scienceworld"

    def __init__(self):
        from scienceworld import ScienceWorldEnv

        self.env = ScienceWorldEnv("", "", envStepLimit=1000)

    def reset(self, seed):
        self.env.load("boil", seed % 5, "easy", generateGoldPath=False)
        self.env.reset()

    def choose(self, rng):
        rooms = "hallway kitchen bathroom workshop art studio,greenhouse".replace(" art", ",art").split(",")
        return rng.choice(["look around", "inventory", "wait1"] + [f"go to {room}" for room in rooms])

    def step(self, action):
        _, _, done, _ = self.env.step(action)
        return done


def digits(count, most):
    return lambda rng: "[" + " ".join(str(rng.randint(1, most)) for _ in range(count)) + "]"


def offer(rng):
    goods = ["Wheat", "Wood", "Sheep", "Brick", "Ore"]
    one, other = rng.sample(goods, 2)
    return rng.choice([f"[Offer: 1 {one} -> 1 {other}]", "[Deny]"])


MAKERS = {
    "gymnasium FrozenLake-v1": lambda: Gym("FrozenLake-v1"),
    "gymnasium Taxi-v4": lambda: Gym("Taxi-v4"),
    "minigrid BabyAI-GoToLocal-v0": lambda: Gym("BabyAI-GoToLocal-v0"),
    "open-spiel kuhn_poker": lambda: OpenSpiel("kuhn_poker"),
    "open-spiel leduc_poker": lambda: OpenSpiel("leduc_poker"),
    "open-spiel liars_dice": lambda: OpenSpiel("liars_dice(numdice=1)"),
    "open-spiel tic_tac_toe": lambda: OpenSpiel("tic_tac_toe"),
    "open-spiel connect_four": lambda: OpenSpiel("connect_four"),
    "open-spiel hanabi": lambda: OpenSpiel("hanabi(players=2,colors=2,ranks=2,hand_size=3,max_information_tokens=3,max_life_tokens=3)"),
    "pettingzoo tictactoe_v3": lambda: PettingZoo("tictactoe_v3"),
    "pettingzoo chess_v6": lambda: PettingZoo("chess_v6"),
    "pettingzoo connect_four_v3": lambda: PettingZoo("connect_four_v3"),
    "textarena GuessTheNumber-v0": lambda: TextArena("GuessTheNumber-v0", 1, digits(1, 20)),
    "textarena Mastermind-v0": lambda: TextArena("Mastermind-v0", 1, digits(4, 6)),
    "textarena Sokoban-v0": lambda: TextArena("Sokoban-v0", 1, lambda rng: rng.choice(["[up]", "[down]", "[left]", "[right]"])),
    "textarena SimpleNegotiation-v0": lambda: TextArena("SimpleNegotiation-v0", 2, offer),
    "textworld": TextWorld,
    "scienceworld": ScienceWorld,
}


def children():
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            yield from file.read().split()


def busy(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = re.sub(r"^.*\)", "", file.read()).split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu(counts_children):
    """Seconds of processor time, with those of a Java machine that the package started."""
    return time.process_time() + (sum(busy(pid) for pid in children()) if counts_children else 0)


def recorded(env):
    episodes = []
    # Loading an episode of ScienceWorld takes longer than playing it.
    for seed in range(2 if isinstance(env, ScienceWorld) else EPISODES):
        rng, actions, done = random.Random(seed), [], False
        env.reset(seed)
        while not done and len(actions) < LONGEST:
            actions.append(env.choose(rng))
            done = env.step(actions[-1])
        episodes.append((seed, actions))
    return episodes


def measured(env, episodes, seconds):
    steps, used, index = 0, 0.0, 0
    outside = isinstance(env, ScienceWorld)
    while used < seconds:
        seed, actions = episodes[index % len(episodes)]
        index += 1
        env.reset(seed)
        begun = cpu(outside)
        for action in actions:
            env.step(action)
        used += cpu(outside) - begun
        steps += len(actions)
    return {"package": env.package, "version": importlib.metadata.version(env.package), "steps": steps, "seconds": used}


made = {}
for line in sys.stdin:
    request = json.loads(line)
    name = request["original"]
    try:
        if name not in made:
            env = MAKERS[name]()
            made[name] = (env, recorded(env))
        answer = measured(*made[name], request["seconds"])
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
