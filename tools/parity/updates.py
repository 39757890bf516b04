"""Whole updates of one recipe of each family, computed by transformers and torch in 64 bits.

    python tools/parity/updates.py tests/update-parity/record.json

Writes random episodes, the weights that training begins with, and for each recipe by how much every tensor has moved
after each of three updates. tests/update-parity.test.ts has Turnwise do the same and compares. Nothing here calls or
copies Turnwise: credit, losses, targets and AdamW are written down from the formulas of their sources.
Needs torch and transformers; users and tests of Turnwise need neither.
"""

import base64
import copy
import json
import sys

import numpy
import torch
from transformers import LlamaConfig, LlamaForCausalLM

SHAPE = {"vocabulary": 16, "width": 8, "layers": 1, "heads": 2, "keyValueHeads": 1, "headWidth": 4, "hidden": 12,
         "ropeTheta": 10000, "normEpsilon": 1e-5}
HEADS = {
    "none": {},
    "value": {"value_head": 1},
    "ilql": {"value_head.q1": 16, "value_head.q2": 16, "value_head.v": 1},
    "critic": {"value_head.q1": 1, "value_head.q2": 1, "value_head.v1": 1, "value_head.v2": 1},
}
STEPS, GROUPS, MEMBERS = 3, 5, 3
OPTIMIZER = {"learningRate": 0.01, "beta1": 0.9, "beta2": 0.98, "weightDecay": 0.01, "clipNorm": 1.0}
EPSILON = 1e-8
CLIP_LOW, CLIP_HIGH, DUAL_CLIP = 0.2, 0.28, 3.0
PPO = {"gamma": 0.97, "lambda": 0.9, "rewardScale": 0.5, "valueCoefficient": 0.5, "valueClip": 0.1, "valueWarmup": 1}
DPO = {"beta": 0.3, "likelihoodCoefficient": 0.1}
ILQL = {"discount": 0.95, "expectile": 0.7, "conservatism": 0.1, "targetRate": 0.2, "updates": 2}
ARCHER = {"discount": 0.9, "expectile": 0.8, "temperature": 0.5, "largestWeight": 2.0, "targetRate": 0.3, "updates": 2,
          "warmupSteps": 1, "learningRate": 0.02}
MIX = {"warmupSteps": 1, "decaySteps": 4, "peak": 0.8, "valley": 0.1}


class Model(torch.nn.Module):
    """A Llama with linear heads on its last hidden states."""

    def __init__(self, heads):
        super().__init__()
        self.llama = LlamaForCausalLM(LlamaConfig(
            vocab_size=SHAPE["vocabulary"], hidden_size=SHAPE["width"], num_hidden_layers=SHAPE["layers"],
            num_attention_heads=SHAPE["heads"], num_key_value_heads=SHAPE["keyValueHeads"], head_dim=SHAPE["headWidth"],
            intermediate_size=SHAPE["hidden"], rope_theta=float(SHAPE["ropeTheta"]), rms_norm_eps=SHAPE["normEpsilon"],
            tie_word_embeddings=False, attn_implementation="eager"))
        self.extra = torch.nn.ModuleDict(
            {name.replace(".", "/"): torch.nn.Linear(SHAPE["width"], size) for name, size in HEADS[heads].items()})
        for name, parameter in self.tensors().items():
            noise = torch.randn(parameter.shape) * 0.3
            # 32 bits hold the beginning, so that both sides begin with the same numbers.
            parameter.data = (1 + noise if "norm" in name else noise).float().double()
        self.double()

    def tensors(self):
        named = dict(self.llama.named_parameters())
        for name, head in self.extra.items():
            for part, parameter in head.named_parameters():
                named[f"{name.replace('/', '.')}.{part}"] = parameter
        return named

    def forward(self, ids):
        """What is said of every token by the tokens before it: log-probabilities [T, V] and heads [T, n]; row 0 is empty."""
        out = self.llama(torch.tensor([ids]), output_hidden_states=True)
        hidden = out.hidden_states[-1][0, :-1]
        first = torch.zeros(1, SHAPE["vocabulary"], dtype=torch.float64)
        logprobs = torch.cat([first, torch.log_softmax(out.logits[0, :-1], -1)])
        heads = {}
        for name, head in self.extra.items():
            said = head(hidden)
            key = name.split("/")[-1]
            heads[key] = torch.cat([torch.zeros(1, said.shape[1], dtype=torch.float64), said])
        return logprobs, heads

    def of_tokens(self, ids):
        logprobs, heads = self(ids)
        return logprobs.gather(1, torch.tensor(ids)[:, None])[:, 0], heads, logprobs


class AdamW:
    """Decoupled decay of matrices, clip of the global norm; a parameter's own count of steps corrects its bias."""

    def __init__(self, model, learning_rate):
        self.rate = learning_rate
        self.tensors = model.tensors()
        self.state = {name: [0, torch.zeros_like(t), torch.zeros_like(t)] for name, t in self.tensors.items()}

    def step(self, loss, only=""):
        chosen = {name: t for name, t in self.tensors.items() if name.startswith(only)}
        found = torch.autograd.grad(loss, list(chosen.values()), allow_unused=True)
        gradients = {name: torch.zeros_like(chosen[name]) if g is None else g for name, g in zip(chosen, found)}
        norm = torch.sqrt(sum((g ** 2).sum() for g in gradients.values()))
        scale = min(1.0, OPTIMIZER["clipNorm"] / norm.item())
        b1, b2 = OPTIMIZER["beta1"], OPTIMIZER["beta2"]
        for name, g in gradients.items():
            state, tensor = self.state[name], chosen[name]
            state[0] += 1
            state[1] = b1 * state[1] + (1 - b1) * scale * g
            state[2] = b2 * state[2] + (1 - b2) * (scale * g) ** 2
            decay = self.rate * OPTIMIZER["weightDecay"] if tensor.dim() >= 2 else 0.0
            root = torch.sqrt(state[2] / (1 - b2 ** state[0])) + EPSILON
            tensor.data = tensor.data * (1 - decay) - self.rate / (1 - b1 ** state[0]) * state[1] / root


def draw_episodes(generator):
    def integer(low, high):
        return int(generator.integers(low, high))

    def turn(last, outcome):
        return {
            "context": [integer(1, SHAPE["vocabulary"]) for _ in range(integer(2, 5))],
            "extends": bool(generator.random() < 0.75),
            "ids": [integer(1, SHAPE["vocabulary"]) for _ in range(integer(1, 4))],
            "reward": outcome if last else (0.25 if generator.random() < 0.3 else 0.0),
        }

    def episode():
        outcome, count = integer(0, 3) / 2, integer(1, 5)
        return {"turns": [turn(k == count - 1, outcome) for k in range(count)], "success": outcome > 0.5}

    return [[[episode() for _ in range(MEMBERS)] for _ in range(GROUPS)] for _ in range(STEPS)]


def rows_of(episode):
    """The samples of an episode: token ids, and of every token its turn or -1."""
    rows = []
    for k, turn in enumerate(episode["turns"]):
        if k == 0 or not turn["extends"]:
            rows.append({"ids": [], "turn": []})
        row = rows[-1]
        row["ids"] += turn["context"] + turn["ids"]
        row["turn"] += [-1] * len(turn["context"]) + [k] * len(turn["ids"])
    return rows


def sampled(row):
    return [t for t, k in enumerate(row["turn"]) if k >= 0]


def outcome(episode):
    return sum(turn["reward"] for turn in episode["turns"])


def add_logprobs(steps, model, generator):
    """What the sampler wrote down: near the first policy's, so that ratios are clipped on both sides."""
    for episode in (e for groups in steps for group in groups for e in group):
        for turn in episode["turns"]:
            turn["logprobs"] = []
        for row in rows_of(episode):
            said = model.of_tokens(row["ids"])[0]
            for t in sampled(row):
                noisy = said[t].item() + 0.3 * generator.standard_normal()
                episode["turns"][row["turn"][t]]["logprobs"].append(round(min(noisy, -1e-3), 4))


def old_logprobs(episode, row):
    taken = {}
    old = {}
    for t in sampled(row):
        k = row["turn"][t]
        old[t] = episode["turns"][k]["logprobs"][taken.get(k, 0)]
        taken[k] = taken.get(k, 0) + 1
    return old


def clipped(advantage, ratio):
    single = torch.maximum(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH))
    return torch.minimum(single, torch.as_tensor(-advantage * DUAL_CLIP)) if advantage < 0 else single


def policy_terms(model, episodes, advantages):
    """The clipped loss of every sampled token; `advantages[e][t-th sampled token]`."""
    terms = []
    for episode, of_episode in zip(episodes, advantages):
        place = 0
        for row in rows_of(episode):
            logprobs, _, _ = model.of_tokens(row["ids"])
            old = old_logprobs(episode, row)
            for t in sampled(row):
                terms.append(clipped(of_episode[place], torch.exp(logprobs[t] - old[t])))
                place += 1
    return terms


def grpo_advantages(groups):
    advantages = []
    for group in groups:
        outcomes = numpy.array([outcome(e) for e in group])
        spread = outcomes.std(ddof=1)
        for e, r in zip(group, outcomes):
            a = 0.0 if spread < 1e-12 else float((r - outcomes.mean()) / (spread + 1e-6))
            advantages.append([a] * sum(len(turn["ids"]) for turn in e["turns"]))
    return advantages


def grpo(steps, start):
    model = copy.deepcopy(start["none"])
    optimizer = AdamW(model, OPTIMIZER["learningRate"])
    for groups in steps:
        episodes = [e for group in groups for e in group]
        terms = policy_terms(model, episodes, grpo_advantages(groups))
        optimizer.step(sum(terms) / len(terms))
        yield {"policy": model}


def ppo(steps, start):
    model = copy.deepcopy(start["value"])
    optimizer = AdamW(model, OPTIMIZER["learningRate"])
    for step, groups in enumerate(steps):
        episodes = [e for group in groups for e in group]
        advantages, returns, olds = [], [], []
        for e in episodes:
            values, rewards = [], []
            for row in rows_of(e):
                with torch.no_grad():
                    said = model.of_tokens(row["ids"])[1]["value_head"][:, 0]
                for t in sampled(row):
                    k = row["turn"][t]
                    is_last = t + 1 == len(row["turn"]) or row["turn"][t + 1] != k
                    values.append(said[t].item())
                    rewards.append(e["turns"][k]["reward"] * PPO["rewardScale"] if is_last else 0.0)
            following, gae, found = 0.0, 0.0, []
            for value, reward in zip(reversed(values), reversed(rewards)):
                gae = reward + PPO["gamma"] * following - value + PPO["gamma"] * PPO["lambda"] * gae
                following = value
                found.insert(0, gae)
            advantages.append(found)
            returns.append([a + v for a, v in zip(found, values)])
            olds.append(values)
        flat = numpy.concatenate(advantages)
        centre, spread = flat.mean(), numpy.sqrt(flat.var(ddof=1) + 1e-8)
        whitened = [[(a - centre) / spread for a in of_episode] for of_episode in advantages]
        terms = policy_terms(model, episodes, whitened)
        errors = []
        for e, target, old in zip(episodes, returns, olds):
            place = 0
            for row in rows_of(e):
                said = model.of_tokens(row["ids"])[1]["value_head"][:, 0]
                for t in sampled(row):
                    near = old[place] + (said[t] - old[place]).clamp(-PPO["valueClip"], PPO["valueClip"])
                    errors.append(torch.maximum((said[t] - target[place]) ** 2, (near - target[place]) ** 2))
                    place += 1
        value_loss = PPO["valueCoefficient"] * 0.5 * sum(errors) / len(errors)
        if step < PPO["valueWarmup"]:
            optimizer.step(value_loss, only="value_head")
        else:
            optimizer.step(sum(terms) / len(terms) + value_loss)
        yield {"policy": model}


def dpo(steps, start):
    model, reference = copy.deepcopy(start["none"]), start["none"]
    optimizer = AdamW(model, OPTIMIZER["learningRate"])

    def score(episode):
        total, likelihood, tokens = 0.0, 0.0, 0
        for row in rows_of(episode):
            logprobs = model.of_tokens(row["ids"])[0]
            with torch.no_grad():
                base = reference.of_tokens(row["ids"])[0]
            places = sampled(row)
            total = total + (logprobs[places] - base[places]).sum()
            likelihood = likelihood + logprobs[places].sum()
            tokens += len(places)
        return total, likelihood / tokens

    for groups in steps:
        losses = []
        for group in groups:
            ranked = sorted(group, key=lambda e: -outcome(e))
            if outcome(ranked[0]) == outcome(ranked[-1]):
                continue
            (better, likelihood), (worse, _) = score(ranked[0]), score(ranked[-1])
            judged = -torch.nn.functional.logsigmoid(DPO["beta"] * (better - worse))
            losses.append(judged - DPO["likelihoodCoefficient"] * likelihood)
        optimizer.step(sum(losses) / len(losses))
        yield {"policy": model}


def ilql(steps, start):
    model, target = copy.deepcopy(start["ilql"]), copy.deepcopy(start["ilql"])
    optimizer = AdamW(model, OPTIMIZER["learningRate"])
    episodes = [e for groups in steps for group in groups for e in group]
    for _ in steps:
        for _ in range(ILQL["updates"]):
            losses = []
            for e in episodes:
                for row in rows_of(e):
                    logprobs, heads, _ = model.of_tokens(row["ids"])
                    with torch.no_grad():
                        slow = target.of_tokens(row["ids"])[1]
                    places = sampled(row)
                    for index, t in enumerate(places):
                        k, token = row["turn"][t], row["ids"][t]
                        ends = t + 1 == len(row["turn"]) or row["turn"][t + 1] != k
                        reward = e["turns"][k]["reward"] if ends else 0.0
                        after = heads["v"][places[index + 1], 0].detach() if index + 1 < len(places) else 0.0
                        y = reward + ILQL["discount"] * after
                        floor = torch.minimum(slow["q1"][t, token], slow["q2"][t, token])
                        value = heads["v"][t, 0]
                        side = ILQL["expectile"] if floor > value else 1 - ILQL["expectile"]
                        loss = -logprobs[t] + 0.5 * side * (value - floor) ** 2
                        for name in ("q1", "q2"):
                            q = heads[name][t]
                            loss = loss + 0.5 * (q[token] - y) ** 2
                            loss = loss - ILQL["conservatism"] * torch.log_softmax(q, -1)[token]
                        losses.append(loss)
            optimizer.step(sum(losses) / len(losses))
            follow(target, model, ILQL["targetRate"])
        yield {"policy": model}


def follow(target, model, rate):
    present = model.tensors()
    for name, tensor in target.tensors().items():
        tensor.data = (1 - rate) * tensor.data + rate * present[name].data


def archer_iql(steps, start):
    model, critic, target = (copy.deepcopy(start[name]) for name in ("none", "critic", "critic"))
    actor_optimizer = AdamW(model, OPTIMIZER["learningRate"])
    critic_optimizer = AdamW(critic, ARCHER["learningRate"])
    rows, turns = [], []
    for e in (e for groups in steps for group in groups for e in group):
        of_episode = []
        for row in rows_of(e):
            # A closing token gives Q a place to be read after the last utterance; only what is before it matters.
            rows.append(row["ids"] + [0])
            for k in sorted({k for k in row["turn"] if k >= 0}):
                places = [t for t, turn in enumerate(row["turn"]) if turn == k]
                of_episode.append({"row": len(rows) - 1, "start": places[0], "end": places[-1] + 1,
                                   "reward": e["turns"][k]["reward"], "next": None})
        for one, following in zip(of_episode, of_episode[1:]):
            one["next"] = following
        turns += of_episode

    def read(network, name, turn, place):
        return network[turn["row"]][name][turn[place], 0]

    for step in range(STEPS):
        for _ in range(ARCHER["updates"]):
            said = [critic.of_tokens(ids)[1] for ids in rows]
            with torch.no_grad():
                slow = [target.of_tokens(ids)[1] for ids in rows]
            loss = 0.0
            for turn in turns:
                floor = torch.minimum(read(slow, "q1", turn, "end"), read(slow, "q2", turn, "end"))
                for j in "12":
                    after = 0.0 if turn["next"] is None else read(slow, f"v{j}", turn["next"], "start")
                    y = turn["reward"] + ARCHER["discount"] * after
                    value = read(said, f"v{j}", turn, "start")
                    side = ARCHER["expectile"] if floor > value else 1 - ARCHER["expectile"]
                    loss = loss + (read(said, f"q{j}", turn, "end") - y) ** 2 + side * (value - floor) ** 2
            critic_optimizer.step(loss / len(turns))
            follow(target, critic, ARCHER["targetRate"])
        if step >= ARCHER["warmupSteps"]:
            with torch.no_grad():
                said = [critic.of_tokens(ids)[1] for ids in rows]
            loss = 0.0
            for turn in turns:
                q = torch.minimum(read(said, "q1", turn, "end"), read(said, "q2", turn, "end"))
                v = torch.minimum(read(said, "v1", turn, "start"), read(said, "v2", turn, "start"))
                weight = min(numpy.exp((q - v).item() / ARCHER["temperature"]), ARCHER["largestWeight"])
                logprobs = model.of_tokens(rows[turn["row"]][: turn["end"]])[0]
                loss = loss - weight * logprobs[turn["start"]:].sum()
            actor_optimizer.step(loss / len(turns))
        yield {"policy": model, "critic": critic}


def sft_rl(steps, start):
    model = copy.deepcopy(start["none"])
    optimizer = AdamW(model, OPTIMIZER["learningRate"])
    everything = [e for groups in steps for group in groups for e in group]
    for step, groups in enumerate(steps):
        if step < MIX["warmupSteps"]:
            share = MIX["peak"] * step / MIX["warmupSteps"]
        else:
            progress = min(1.0, (step - MIX["warmupSteps"]) / MIX["decaySteps"])
            share = MIX["valley"] + (MIX["peak"] - MIX["valley"]) * (1 + numpy.cos(numpy.pi * progress)) / 2
        episodes = [e for group in groups for e in group]
        terms = policy_terms(model, episodes, grpo_advantages(groups))
        shown = []
        for e in everything:
            for row in rows_of(e):
                logprobs = model.of_tokens(row["ids"])[0]
                shown += [-logprobs[t] for t in sampled(row)]
        optimizer.step((1 - share) * sum(terms) / len(terms) + share * sum(shown) / len(shown))
        yield {"policy": model}


def packed(tensor):
    return base64.b64encode(tensor.detach().numpy().astype("<f4").tobytes()).decode()


def main(path):
    torch.manual_seed(1)
    generator = numpy.random.default_rng(1)
    start = {name: Model(name) for name in HEADS}
    steps = draw_episodes(generator)
    add_logprobs(steps, start["none"], generator)
    recipes = {
        "grpo": (grpo, {"policy": "none"}),
        "ppo": (ppo, {"policy": "value"}),
        "dpo": (dpo, {"policy": "none"}),
        "ilql": (ilql, {"policy": "ilql"}),
        "archer-iql": (archer_iql, {"policy": "none", "critic": "critic"}),
        "sft-rl": (sft_rl, {"policy": "none"}),
    }
    moved = {}
    for name, (updates, begins) in recipes.items():
        moved[name] = {"start": begins, "steps": []}
        for models in updates(steps, start):
            moved[name]["steps"].append({
                which: {key: packed(t - start[begins[which]].tensors()[key]) for key, t in model.tensors().items()}
                for which, model in models.items()})
        print(name, flush=True)
    record = {
        "made by": f"tools/parity/updates.py, torch {torch.__version__.split('+')[0]}",
        "shape": SHAPE,
        "settings": {"optimizer": OPTIMIZER, "ppo": PPO, "dpo": DPO, "ilql": ILQL, "archer-iql": ARCHER, "sft-rl": MIX},
        "episodes": steps,
        "start": {name: {key: {"shape": list(t.shape), "data": packed(t)} for key, t in model.tensors().items()}
                  for name, model in start.items()},
        "moved": moved,
    }
    with open(path, "w") as file:
        json.dump(record, file, separators=(",", ":"))
        file.write("\n")


main(sys.argv[1])
