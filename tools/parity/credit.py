"""Advantages of random rollouts, written down from the formulas of the papers in numpy.

    python tools/parity/credit.py tests/credit-parity/record.json

tests/credit-parity.test.ts has Turnwise compute the same. Nothing here calls or copies Turnwise. Needs numpy.
"""

import json
import sys

import numpy

generator = numpy.random.default_rng(3)


def draw(index):
    turns = []
    for k in range(int(generator.integers(1, 6))):
        tokens = int(generator.integers(1, 5))
        turn = {
            "reward": float(generator.integers(-4, 5)) / 4,
            "tokens": tokens,
            "values": [round(float(v), 6) for v in generator.standard_normal(tokens)],
            "anchor": f"state {int(generator.integers(0, 4))}",
        }
        if generator.random() < 0.5:
            turn["counterfactual"] = float(generator.integers(-4, 5)) / 4
        turns.append(turn)
    outcome = sum(turn["reward"] for turn in turns)
    return {"id": f"t{index}", "groupId": f"g{index // 4}", "role": "agent", "outcome": outcome, "turns": turns}


def groups_of(rollouts):
    groups = {}
    for rollout in rollouts:
        groups.setdefault(rollout["groupId"], []).append(rollout)
    return groups


def per_trajectory(rollouts, advantage):
    """One number for all turns of a trajectory; `advantage(outcome, outcomes of the group, place in it)`."""
    result = []
    for rollout in rollouts:
        members = groups_of(rollouts)[rollout["groupId"]]
        outcomes = numpy.array([member["outcome"] for member in members])
        value = advantage(rollout["outcome"], outcomes, members.index(rollout))
        result.append([value] * len(rollout["turns"]))
    return result


def normalised(value, all_values):
    spread = all_values.std(ddof=1) if len(all_values) > 1 else 0.0
    return 0.0 if spread < 1e-12 else (value - all_values.mean()) / (spread + 1e-6)


def returns(turns, gamma):
    found, following = [], 0.0
    for turn in reversed(turns):
        following = turn["reward"] + gamma * following
        found.insert(0, following)
    return found


def gigpo(rollouts, gamma=0.95, omega=1.0):
    episode = per_trajectory(rollouts, lambda r, all_r, _: normalised(r, all_r))
    result = []
    for index, rollout in enumerate(rollouts):
        members = groups_of(rollouts)[rollout["groupId"]]
        own = returns(rollout["turns"], gamma)
        row = []
        for k, turn in enumerate(rollout["turns"]):
            same = [g for m in members for t, g in zip(m["turns"], returns(m["turns"], gamma))
                    if t["anchor"] == turn["anchor"]]
            row.append(episode[index][k] + omega * normalised(own[k], numpy.array(same)))
        result.append(row)
    return result


def earl(rollouts):
    relative = per_trajectory(rollouts, lambda r, all_r, _: r - all_r.mean())
    return [[rollout["outcome"] - turn["counterfactual"] if "counterfactual" in turn else relative[i][k]
             for k, turn in enumerate(rollout["turns"])] for i, rollout in enumerate(rollouts)]


def estimate(rewards, values, gamma, lam):
    """Σ_l (γλ)^l δ_{t+l}, term by term."""
    following = list(values[1:]) + [0.0]
    deltas = [r + gamma * v2 - v for r, v, v2 in zip(rewards, values, following)]
    return [sum((gamma * lam) ** (j - t) * deltas[j] for j in range(t, len(deltas))) for t in range(len(deltas))]


def token_rewards(rollout):
    return [turn["reward"] if t == turn["tokens"] - 1 else 0.0
            for turn in rollout["turns"] for t in range(turn["tokens"])]


def token_values(rollout):
    return [v for turn in rollout["turns"] for v in turn["values"]]


def gae(rollouts, gamma, lam=0.95, alpha=0.0):
    result = []
    for rollout in rollouts:
        rewards = token_rewards(rollout)
        own = max(0.0, 1 - 1 / (alpha * len(rewards))) if alpha > 0 else lam
        result.append(estimate(rewards, token_values(rollout), gamma, own))
    return result


def targets(rollouts, advantages):
    return [[a + v for a, v in zip(row, token_values(rollout))] for row, rollout in zip(advantages, rollouts)]


def whitened(rows):
    flat = numpy.concatenate(rows)
    return [[(a - flat.mean()) / numpy.sqrt(flat.var(ddof=1) + 1e-8) for a in row] for row in rows]


def reinforce_plus_plus(rollouts, gamma):
    return whitened([returns([{"reward": r} for r in token_rewards(rollout)], gamma) for rollout in rollouts])


def main(path):
    rollouts = [draw(index) for index in range(24)]
    leave_one_out = lambda r, all_r, i: r - numpy.delete(all_r, i).mean()
    plain = gae(rollouts, 0.97, 0.9)
    adaptive = gae(rollouts, 1.0, alpha=0.2)
    cases = [
        ("reinforce", {"gamma": 0.9}, {"turns": [returns(r["turns"], 0.9) for r in rollouts]}),
        ("rloo", {}, {"turns": per_trajectory(rollouts, leave_one_out)}),
        ("grpo", {}, {"turns": per_trajectory(rollouts, lambda r, all_r, _: normalised(r, all_r))}),
        ("dr-grpo", {}, {"turns": per_trajectory(rollouts, lambda r, all_r, _: r - all_r.mean())}),
        ("gigpo", {}, {"turns": gigpo(rollouts)}),
        ("earl", {}, {"turns": earl(rollouts)}),
        ("turn-gae", {"gamma": 0.9, "lambda": 0.8, "whiten": False},
         {"turns": [estimate([t["reward"] for t in r["turns"]], [t["values"][0] for t in r["turns"]], 0.9, 0.8)
                    for r in rollouts]}),
        ("reinforce++", {"gamma": 0.95}, {"tokens": reinforce_plus_plus(rollouts, 0.95)}),
        ("gae", {"gamma": 0.97, "lambda": 0.9, "whiten": False},
         {"tokens": plain, "returns": targets(rollouts, plain)}),
        ("gae", {"gamma": 0.97, "lambda": 0.9}, {"tokens": whitened(plain), "returns": targets(rollouts, plain)}),
        ("gae", {"gamma": 1, "lengthAlpha": 0.2, "decoupled": True, "whiten": False},
         {"tokens": adaptive, "returns": targets(rollouts, gae(rollouts, 1.0, 1.0))}),
    ]
    record = {
        "made by": f"tools/parity/credit.py, numpy {numpy.__version__}",
        "rollouts": rollouts,
        "cases": [{"name": name, "options": options, **found} for name, options, found in cases],
    }
    with open(path, "w") as file:
        json.dump(record, file, separators=(",", ":"), default=float)
        file.write("\n")


main(sys.argv[1])
