"""Advantages of random rollouts, written down from the formulas of the papers in numpy.

    python tools/parity/credit.py tests/credit-parity/record.json

tests/credit-parity.test.ts has Turnwise compute the same. Nothing here calls or copies Turnwise. Needs numpy.
"""

import itertools
import json
import sys

import numpy

generator = numpy.random.default_rng(3)


NAMES = ["find", "open", "read"]


def quarter():
    return float(generator.integers(-4, 5)) / 4


def chance(p):
    return bool(generator.random() < p)


def normals(count, scale=1.0):
    return [round(float(v) * scale, 6) for v in generator.standard_normal(count)]


def draw_call():
    keys = [key for key in ("place", "name", "depth") if chance(0.6)] or ["place"]
    return {"name": NAMES[int(generator.integers(0, 3))],
            "arguments": {key: int(generator.integers(0, 2)) for key in keys}}


def draw(index):
    turns = []
    for k in range(int(generator.integers(1, 6))):
        tokens = int(generator.integers(1, 5))
        turn = {
            "reward": quarter(),
            "tokens": tokens,
            "values": normals(tokens),
            "entropies": [abs(h) for h in normals(tokens)],
            "teacherGaps": normals(tokens, 0.5),
            "anchor": f"state {int(generator.integers(0, 3))}",
            "dense": [quarter()],
            "valid": chance(0.8),
            "progress": normals(1)[0],
            "answerProbability": round(float(generator.random()) * 0.98 + 0.01, 6),
        }
        if chance(0.5):
            turn["counterfactual"] = quarter()
        if chance(0.6):
            turn["calls"] = [draw_call() for _ in range(int(generator.integers(1, 3)))]
        turns.append(turn)
    rollout = {"id": f"t{index}", "groupId": f"g{index // 4}", "role": "agent",
               "outcome": sum(turn["reward"] for turn in turns), "turns": turns,
               "success": chance(0.4), "wellFormed": chance(0.8), "overlong": chance(0.15),
               "entityShare": int(generator.integers(0, 4)) / 4,
               "goldenCalls": [draw_call() for _ in range(int(generator.integers(1, 4)))]}
    # Where two matchings have the largest total, nobody is wrong who takes the other.
    while len(best_matchings(rollout)) > 1:
        rollout["goldenCalls"] = [draw_call() for _ in range(int(generator.integers(1, 4)))]
    # The second of a group branches from the first, and the third from the second or the first.
    if index % 4 in (1, 2):
        rollout["parent"] = f"t{index - (1 if chance(0.5) else index % 4)}"
        rollout["sharedTurns"] = int(generator.integers(1, 3))
    if chance(0.2):
        rollout["replayedAdvantage"] = quarter()
    return rollout


def draw_game(index):
    """Both roles of an episode of one of two games."""
    game = {"groupId": f"g{index // 3}", "game": ["chess", "go"][index % 2], "episode": f"e{index}"}
    found = []
    for role in ("conversation", "feedback"):
        turns = [{"reward": quarter(), "tokens": int(generator.integers(1, 4)), "labelCorrect": chance(0.5),
                  "wellFormed": chance(0.7)} for _ in range(int(generator.integers(1, 4)))]
        found.append({"id": f"e{index}", "role": role, **game, "turns": turns,
                      "outcome": sum(turn["reward"] for turn in turns)})
    return found


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


def members_of(rollouts, rollout):
    return groups_of(rollouts)[rollout["groupId"]]


def bi_level(rollouts, gamma_h, gamma, lam):
    result = []
    for rollout in rollouts:
        turns = rollout["turns"]
        high = estimate([t["reward"] for t in turns], [t["values"][-1] for t in turns], gamma_h, lam)
        row = []
        for turn, at_end in zip(turns, high):
            values, inside = turn["values"], [at_end]
            for t in range(turn["tokens"] - 2, -1, -1):
                inside.insert(0, gamma * values[t + 1] - values[t] + gamma * lam * inside[0])
            row += inside
        result.append(row)
    return result


def hgpo(rollouts, depths, spread):
    history = lambda rollout, k, n: tuple(turn["anchor"] for turn in rollout["turns"][k - n + 1:k + 1])
    result = []
    for rollout in rollouts:
        row = []
        for k in range(len(rollout["turns"])):
            total = weight = 0.0
            for n in range(1, min(depths, k + 1) + 1):
                same = numpy.array([returns(m["turns"], 0.95)[j] for m in members_of(rollouts, rollout)
                                    for j in range(n - 1, len(m["turns"]))
                                    if history(m, j, n) == history(rollout, k, n)])
                own = returns(rollout["turns"], 0.95)[k] - same.mean()
                compared = 0.0 if same.std() < 1e-12 else own / (same.std() + 1e-6) if spread else own
                if compared != 0:
                    total, weight = total + (n + 1) * compared, weight + n + 1
            row.append(total / weight if weight else 0.0)
        result.append(row)
    return result


def step_grpo(rollouts, form):
    result = []
    for rollout in rollouts:
        members = members_of(rollouts, rollout)
        steps = numpy.array([turn["reward"] for m in members for turn in m["turns"]])
        row = [normalised(turn["reward"], steps) for turn in rollout["turns"]]
        best = numpy.array([max(turn["reward"] for turn in m["turns"]) for m in members])
        if form == "max":
            row = [normalised(best[members.index(rollout)], best)] * len(row)
        result.append(returns([{"reward": r} for r in row], 1.0) if form == "cumulative" else row)
    return result


def igpo(rollouts, normalisation, gain, gamma):
    def rewards(rollout):
        p = [turn["answerProbability"] for turn in rollout["turns"]]
        scale = numpy.log if gain == "log-ratio" else (lambda q: q)
        return [scale(p[k + 1]) - scale(p[k]) for k in range(len(p) - 1)] + [rollout["outcome"]]

    to_go = lambda row: returns([{"reward": r} for r in row], gamma)
    result = []
    for rollout in rollouts:
        all_rewards = [rewards(m) for m in members_of(rollouts, rollout)]
        own = rewards(rollout)
        if normalisation == "centred":
            sums = [to_go(row) for row in all_rewards]
            at = lambda k: numpy.mean([row[k] for row in sums if len(row) > k])
            result.append([g - at(k) for k, g in enumerate(to_go(own))])
            continue
        gains = numpy.array([r for row in all_rewards for r in row[:-1]])
        outcomes = numpy.array([row[-1] for row in all_rewards])
        together = numpy.concatenate([gains, outcomes])
        apart = normalisation == "separate"
        z = [normalised(r, gains if apart else together) for r in own[:-1]]
        result.append(to_go(z + [normalised(own[-1], outcomes if apart else together)]))
    return result


def similarity(call, golden):
    if call["name"] != golden["name"]:
        return 0.0
    ours, theirs = call["arguments"], golden["arguments"]
    jaccard = len(ours.keys() & theirs.keys()) / len(ours.keys() | theirs.keys())
    equal = sum(1 for key in theirs if key in ours and ours[key] == theirs[key])
    return (1 + jaccard + equal) / (2 + len(theirs))


def scores_of(rollout):
    calls = [call for turn in rollout["turns"] for call in turn.get("calls", [])]
    return numpy.array([[similarity(call, golden) for golden in rollout["goldenCalls"]] for call in calls])


def best_matchings(rollout):
    """Of each call its score in a matching of the largest total, by trying all; several where they differ."""
    scores = scores_of(rollout)
    if len(scores) == 0:
        return [[]]
    rows, columns = scores.shape
    places = list(range(columns)) + [None] * rows
    found = {tuple(scores[row, column] if column is not None else 0.0 for row, column in enumerate(chosen))
             for chosen in set(itertools.permutations(places, rows))}
    best = max(sum(worth) for worth in found)
    return [worth for worth in found if sum(worth) > best - 1e-9]


def best_matching(rollout):
    return best_matchings(rollout)[0]


def greedy_matching(rollout):
    left = scores_of(rollout)
    worth = [0.0] * len(left)
    while left.max() > 0:
        row, column = numpy.unravel_index(left.argmax(), left.shape)
        worth[row] = left[row, column]
        left[row, :], left[:, column] = 0, 0
    return worth


def matchtir(rollouts, matching, lam=0.9):
    def rewards(rollout):
        row = [turn["reward"] for turn in rollout["turns"]]
        if len(scores_of(rollout)) == 0:
            return row
        worth = iter(matching(rollout))
        return [numpy.mean([next(worth) for _ in turn["calls"]]) if "calls" in turn else reward
                for turn, reward in zip(rollout["turns"], row)]

    result = []
    for rollout in rollouts:
        members = members_of(rollouts, rollout)
        all_rewards = [rewards(m) for m in members]
        sums = [returns([{"reward": r} for r in row], lam) for row in all_rewards]
        me = members.index(rollout)
        whole = normalised(sum(all_rewards[me]), numpy.array([sum(row) for row in all_rewards]))
        row = []
        for k, own in enumerate(sums[me]):
            others = numpy.array([s[k] for s in sums if len(s) > k])
            row.append(((own if len(others) == 1 else normalised(own, others)) + whole) / 2)
        result.append(row)
    return result


def turns_whitened(rollouts, rows):
    """Each turn's number counts as often as it has tokens."""
    flat = numpy.concatenate([[a] * turn["tokens"] for row, r in zip(rows, rollouts) for a, turn in zip(row, r["turns"])])
    return [[(a - flat.mean()) / numpy.sqrt(flat.var(ddof=1) + 1e-8) for a in row] for row in rows]


def spa(rollouts, contribution):
    loo = per_trajectory(rollouts, lambda r, all_r, i: r - numpy.delete(all_r, i).mean())
    rows = [[(loo[i][k] if contribution == "leave-one-out" else turn["progress"]) + 0.5 * turn["valid"]
             for k, turn in enumerate(rollout["turns"])] for i, rollout in enumerate(rollouts)]
    return turns_whitened(rollouts, [returns([{"reward": r} for r in row], 1.0) for row in rows])


def compared(rollouts, worth, deaf=lambda rollout: False):
    """The worth of each trajectory against its group."""
    return [[0.0 if deaf(rollout) else
             normalised(worth(rollout), numpy.array([worth(m) for m in members_of(rollouts, rollout)]))]
            * len(rollout["turns"]) for rollout in rollouts]


def gated(threshold):
    return lambda r: r["outcome"] + (sum(t["dense"][0] for t in r["turns"]) if r["outcome"] >= threshold else 0.0)


def entities(rollouts, alpha):
    def worth(rollout):
        most = max(m["entityShare"] for m in members_of(rollouts, rollout))
        if rollout["overlong"] or not rollout["wellFormed"]:
            return 0.0
        return 1.0 if rollout["success"] else alpha * rollout["entityShare"] / most if most else 0.0
    return worth


def mt_grpo(rollouts, form):
    close = lambda value, values: 0.0 if len(values) == 1 or values.std(ddof=1) < 1e-12 else \
        (value - values.mean()) / (values.std(ddof=1) + 1e-4)
    dense = lambda m: [turn["dense"][0] for turn in m["turns"]]
    result = []
    for rollout in rollouts:
        members = members_of(rollouts, rollout)
        of = lambda worth: close(worth(rollout), numpy.array([worth(m) for m in members]))
        count, outcome = len(rollout["turns"]), of(lambda m: m["outcome"])
        if count == 1:
            result.append([of(lambda m: m["outcome"] + sum(dense(m)))])
        elif form == "two-turn":
            result.append([outcome + of(lambda m: sum(dense(m)))] + [outcome] * (count - 1))
        else:
            at = [close(dense(rollout)[k], numpy.array([dense(m)[k] for m in members if len(m["turns"]) > k]))
                  for k in range(count)]
            result.append([outcome + sum(at[k:]) for k in range(count)])
    return result


def node_of(rollouts, rollout, k):
    """Whose turn it is: of the rollout in which it was sampled."""
    by_id = {r["id"]: r for r in rollouts}
    while "parent" in rollout and k < rollout["sharedTurns"]:
        rollout = by_id[rollout["parent"]]
    return rollout["id"], k


def tree_of(rollouts, rollout):
    by_id = {r["id"]: r for r in rollouts}
    while "parent" in rollout:
        rollout = by_id[rollout["parent"]]
    return rollout["id"]


def hard(rollouts):
    soft = compared(rollouts, lambda r: r["outcome"])
    sharing = {}
    for rollout, row in zip(rollouts, soft):
        for k in range(len(row)):
            sharing.setdefault(node_of(rollouts, rollout, k), []).append(row[k])
    return [[numpy.mean(sharing[node_of(rollouts, rollout, k)]) for k in range(len(row))]
            for rollout, row in zip(rollouts, soft)]


def tree_grpo(rollouts, form):
    prompt = {r["id"]: row[0] for r, row in zip(rollouts, compared(rollouts, lambda r: r["outcome"]))}
    inside = lambda rollout, worth: normalised(worth(rollout), numpy.array(
        [worth(m) for m in rollouts if tree_of(rollouts, m) == tree_of(rollouts, rollout)]))
    return [[inside(r, lambda m: prompt[m["id"]]) if form == "code" else inside(r, lambda m: m["outcome"]) + prompt[r["id"]]]
            * len(r["turns"]) for r in rollouts]


def aepo(rollouts, a):
    entropy = numpy.concatenate([turn["entropies"] for r in rollouts for turn in r["turns"]])
    z = lambda h: (h - entropy.mean()) / entropy.std(ddof=1)
    return [[row[0] * (1 + a * z(h)) for turn in r["turns"] for h in turn["entropies"]]
            for r, row in zip(rollouts, compared(rollouts, lambda m: m["outcome"]))]


def spear(rollouts):
    fresh = lambda members: numpy.array([m["outcome"] for m in members if "replayedAdvantage" not in m])
    means = [fresh(members).mean() for members in groups_of(rollouts).values() if len(fresh(members))]
    result = []
    for r in rollouts:
        new = r["outcome"] - (numpy.quantile(means, 0.5) if "replayedAdvantage" in r
                              else fresh(members_of(rollouts, r)).mean())
        kept = "replayedAdvantage" not in r or (new > 0 and r["replayedAdvantage"] > 0)
        result.append([new if kept else 0.0] * len(r["turns"]))
    return result


def teacher(rollouts, gamma, coefficient, outcome):
    result = []
    for r in rollouts:
        gaps = [g for turn in r["turns"] for g in turn["teacherGaps"]]
        others = [m["outcome"] for m in members_of(rollouts, r) if m is not r]
        ahead = r["outcome"] - numpy.mean(others)
        result.append([-coefficient * sum(gamma ** (u - t) * gaps[u] for u in range(t, len(gaps))) + outcome * ahead
                       for t in range(len(gaps))])
    return result


def malt(rollouts, threshold=None):
    nodes, leaves = {}, {}
    for r in rollouts:
        path = [node_of(rollouts, r, k) for k in range(len(r["turns"]))]
        leaves.setdefault(path[-1], []).append(r["outcome"])
        for parent, child in zip(path, path[1:]):
            nodes.setdefault(parent, []).append(child) if child not in nodes.get(parent, []) else None
    def value(node):
        return numpy.mean(leaves.get(node, []) + [value(child) for child in nodes.get(node, [])])
    rows = [[value(node_of(rollouts, r, k)) for k in range(len(r["turns"]))] for r in rollouts]
    return rows if threshold is None else [[float(v > threshold) for v in row] for row in rows]


def mars(games, distinct):
    key = lambda r: (r["role"], r["game"])
    all_returns = {}
    for r in games:
        all_returns.setdefault(key(r), []).extend(returns(r["turns"], 1.0))
    base = {k: numpy.mean(sorted(set(v)) if distinct else v) for k, v in all_returns.items()}
    return [[g - base[key(r)] for g in returns(r["turns"], 1.0)] for r in games]


def rae(games, decay, gamma, update_first):
    base, result = {}, []
    for r in games:
        key, before = (r["game"], r["role"]), base.get((r["game"], r["role"]), 0.0)
        base[key] = decay * before + (1 - decay) * r["outcome"]
        ahead = r["outcome"] - (base[key] if update_first else before)
        result.append([ahead * gamma ** (len(r["turns"]) - 1 - k) for k in range(len(r["turns"]))])
    return result


def joint(games, r):
    return sum(other["outcome"] for other in games if other["episode"] == r["episode"])


def cory(games, group):
    same = lambda r: [joint(games, m) for m in games if (m["groupId"], m["role"]) == (r["groupId"], r["role"])]
    return [[joint(games, r) - (numpy.mean(same(r)) if group else 0.0)] * len(r["turns"]) for r in games]


def waltz(games, label):
    rows = []
    for r in games:
        said = next(m for m in games if m["episode"] == r["episode"] and m["role"] == "conversation")["turns"]
        row = [turn["reward"] for turn in r["turns"]]
        if r["role"] == "feedback":
            row = []
            for t, turn in enumerate(r["turns"]):
                better = said[t + 1]["reward"] - said[t]["reward"] if t + 1 < len(said) else 0.0
                row.append((0.65 * better + label if turn["labelCorrect"] else 0.0) + 0.1 * turn["wellFormed"])
        rows.append(row)
    result = [None] * len(games)
    for role in ("conversation", "feedback"):
        own = [i for i, r in enumerate(games) if r["role"] == role]
        for i, row in zip(own, turns_whitened([games[i] for i in own], [rows[i] for i in own])):
            result[i] = row
    return result


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
    group_token = [[row[0]] * sum(t["tokens"] for t in r["turns"])
                   for r, row in zip(rollouts, per_trajectory(rollouts, lambda r, all_r, _: r - all_r.mean()))]
    tokens_of = lambda r: sum(turn["tokens"] for turn in r["turns"])
    shorter = lambda r: r["outcome"] - 0.5 * min(max((tokens_of(r) - 4) / 6, 0), 1)
    two_levels = bi_level(rollouts, 0.9, 0.97, 0.8)
    games = [rollout for index in range(12) for rollout in draw_game(index)]
    cases += [
        ("reinforce++-baseline", {}, {"tokens": whitened(group_token)}),
        ("dapo", {"maximumLength": 10, "bufferLength": 6, "penalty": 0.5}, {"turns": compared(rollouts, shorter)}),
        ("bi-level-gae", {"gammaH": 0.9, "gamma": 0.97, "lambda": 0.8, "whiten": False},
         {"tokens": two_levels, "returns": targets(rollouts, two_levels)}),
        ("bi-level-gae", {"gammaH": 0.9, "gamma": 0.97, "lambda": 0.8}, {"tokens": whitened(two_levels)}),
        ("hgpo", {}, {"turns": hgpo(rollouts, 3, True)}),
        ("hgpo", {"K": 1, "normalisation": "mean"}, {"turns": hgpo(rollouts, 2, False)}),
        *[("step-grpo", {"form": form}, {"turns": step_grpo(rollouts, form)}) for form in ("step", "cumulative", "max")],
        *[("igpo", {"normalisation": kind, "gain": gain, "gamma": 0.9}, {"turns": igpo(rollouts, kind, gain, 0.9)})
          for kind, gain in (("separate", "log-ratio"), ("joint", "difference"), ("centred", "difference"))],
        ("matchtir", {}, {"turns": matchtir(rollouts, best_matching)}),
        ("matchtir", {"matching": "greedy"}, {"turns": matchtir(rollouts, greedy_matching)}),
        *[("spa-rl", {"contribution": kind}, {"turns": spa(rollouts, kind)}) for kind in ("estimated", "leave-one-out")],
        *[("g-ra", {"threshold": least}, {"turns": compared(rollouts, gated(least))}) for least in (0, 0.5)],
        ("e-grpo", {"alpha": 0.4},
         {"turns": compared(rollouts, entities(rollouts, 0.4), lambda r: r["overlong"])}),
        *[("mt-grpo", {"form": form}, {"turns": mt_grpo(rollouts, form)}) for form in ("two-turn", "multi-turn")],
        ("arpo", {}, {"turns": compared(rollouts, lambda r: r["outcome"])}),
        ("arpo", {"attribution": "hard"}, {"turns": hard(rollouts)}),
        *[("tree-grpo", {"form": form}, {"turns": tree_grpo(rollouts, form)}) for form in ("paper", "code")],
        ("aepo", {"a": 0.3}, {"tokens": aepo(rollouts, 0.3)}),
        ("spear", {}, {"turns": spear(rollouts)}),
        ("teacher-kl", {"gamma": 0.9, "coefficient": 0.7, "outcome": 0.3}, {"tokens": teacher(rollouts, 0.9, 0.7, 0.3)}),
        ("malt", {"threshold": 0.1}, {"turns": malt(rollouts, 0.1)}),
        ("malt", {"advantage": "value"}, {"turns": malt(rollouts)}),
    ]
    of_games = [
        *[("mars", {"centring": kind}, {"turns": mars(games, kind == "distinct-mean")}) for kind in ("mean", "distinct-mean")],
        *[("rae", {"gamma": 0.9, "decay": 0.8, "order": order}, {"turns": rae(games, 0.8, 0.9, order == "update-first")})
          for order in ("read-first", "update-first")],
        *[("cory", {"baseline": base}, {"turns": cory(games, base == "group")}) for base in ("none", "group")],
        ("waltzrl", {"lambda": 0.25}, {"turns": waltz(games, 0.25)}),
    ]
    record = {
        "made by": f"tools/parity/credit.py, numpy {numpy.__version__}",
        "rollouts": rollouts,
        "games": games,
        "cases": [{"name": name, "options": options, "on": "rollouts", **found} for name, options, found in cases]
        + [{"name": name, "options": options, "on": "games", **found} for name, options, found in of_games],
    }
    with open(path, "w") as file:
        json.dump(record, file, separators=(",", ":"), default=float)
        file.write("\n")


main(sys.argv[1])
