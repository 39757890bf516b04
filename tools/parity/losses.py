"""All losses and their gradients by torch's autograd in 64 bits, on random rows.

    python tools/parity/losses.py tests/loss-parity/record.json

tests/loss-parity.test.ts has Turnwise compute the same. Nothing here calls or copies Turnwise: the losses are written
down from the formulas of their sources, and torch differentiates them. Needs torch; users and tests of Turnwise do not.
"""

import json
import math
import sys

import torch

ROWS, TOKENS = 6, 7
SEQUENCES = [[0, 1], [2], [3], [4, 5]]
REWARDS = [1.0, -0.5, 0.25, -1.0]
PAIRS = [[0, 1], [2, 3], [0, 3]]
STEP = 7


def draw():
    shape = (ROWS, TOKENS)
    normal = lambda scale: torch.randn(shape, dtype=torch.float64) * scale
    trained = (torch.rand(shape) < 0.7).double()
    trained[:, 0] = 1
    logprobs = -torch.rand(shape, dtype=torch.float64) * 3 - 0.05
    numbers = {
        "logprobs": logprobs,
        "oldLogprobs": logprobs + normal(0.5),
        "referenceLogprobs": logprobs + normal(0.4),
        "rolloutLogprobs": logprobs + normal(0.6),
        "advantages": normal(1.0),
        "weight": trained,
        "turns": torch.cumsum((torch.rand(shape) < 0.35).double(), 1) + 1,
        "entropies": torch.rand(shape, dtype=torch.float64) * 2,
        "values": normal(1.0),
        "oldValues": normal(1.0),
        "returns": normal(1.0),
        "historicEntropies": torch.rand(shape, dtype=torch.float64) * 2,
        "smoothing": torch.full(shape, 0.9, dtype=torch.float64),
        "imitation": (torch.rand(shape) < 0.4).double() * 0.5,
        "replay": (torch.arange(ROWS) % 2).double()[:, None].expand(shape).clone(),
        "rewards": normal(0.5),
    }
    return at_32_bits(numbers)


# What 32 bits hold, so that both sides begin with the same numbers.
def at_32_bits(numbers):
    return {name: tensor.float().double() for name, tensor in numbers.items()}


def draw_readings():
    """What some losses read besides, by the name under which they find it; several numbers a token are the last axis."""
    normal = lambda *size: torch.randn((ROWS, TOKENS, *size), dtype=torch.float64)
    likeliest = lambda: torch.log_softmax(normal(5), -1)[..., :3]
    scalar = ["q1", "q2", "v1", "v2"]
    ends = (torch.rand((ROWS, TOKENS)) < 0.4).double()
    readings = {
        "distillation": {"teacherIds": torch.arange(3.0).expand(ROWS, TOKENS, 3).clone().double(),
                         "teacherLogprobs": likeliest(), "logprobsOf": likeliest()},
        "bins": {"valueLogits": normal(7)},
        "utterances": {"actionEnd": ends, "actionStart": 1 - ends, **{f"head {name}": normal() for name in scalar},
                       **{f"{name}Target": normal() for name in scalar}},
        "tokens": {"ids": torch.randint(0, 4, (ROWS, TOKENS)).double(), "head q1": normal(4), "head q2": normal(4),
                   "head v": normal(), "frozen q1": normal(), "frozen q2": normal()},
        "reward": {"head reward": normal()},
    }
    return {name: at_32_bits(numbers) for name, numbers in readings.items()}


def surrogate(a, ratio, low, high, dual):
    single = torch.maximum(-a * ratio, -a * ratio.clamp(1 - low, 1 + high))
    return torch.where(a < 0, torch.minimum(single, -a * dual), single) if dual else single


def segments(x, labels, weight, mean=True):
    """The mean (or sum) of x over the trained tokens with the same label in the row; its gradient reaches all of them."""
    out = torch.zeros_like(x)
    for row in range(ROWS):
        for label in labels[row].unique():
            chosen = (labels[row] == label) & (weight[row] > 0)
            if chosen.any():
                total = x[row][chosen].sum()
                out[row] = torch.where(labels[row] == label, total / chosen.sum() if mean else total, out[row])
    return out


def with_gradient_of_token(of_sequence, logprobs):
    return of_sequence.detach() + logprobs - logprobs.detach()


def ratio_of(n):
    return torch.exp(n["logprobs"] - n["oldLogprobs"])


def total(n, per_token):
    return (n["weight"] * per_token).sum()


def ppo_terms(n, low=0.2, high=0.28, dual=3.0):
    return surrogate(n["advantages"], ratio_of(n), low, high, dual)


def gspo(n, low, high):
    whole = segments(n["logprobs"] - n["oldLogprobs"], torch.zeros_like(n["turns"]), n["weight"])
    ratio = torch.exp(with_gradient_of_token(whole, n["logprobs"]))
    return total(n, surrogate(n["advantages"], ratio, low, high, 0))


def turn_ppo(n, low, high, dual):
    ratio = torch.exp(segments(n["logprobs"] - n["oldLogprobs"], n["turns"], n["weight"]))
    return total(n, surrogate(n["advantages"], ratio, low, high, dual))


def aepo(n, low, high, dual):
    rho = ratio_of(n)
    bounded = torch.where(rho > 1 + high, (1 + high) * rho / rho.detach(), torch.maximum(rho, torch.tensor(1 - low)))
    single = torch.maximum(-n["advantages"] * rho, -n["advantages"] * bounded)
    return total(n, torch.where(n["advantages"] < 0, torch.minimum(single, -n["advantages"] * dual), single))


def kl(n, kind):
    x = n["logprobs"] - n["referenceLogprobs"]
    k2, k3 = x ** 2 / 2, torch.exp(-x) - 1 + x
    return {"k2": k2, "k3": k3, "k3+": k3.detach() + k2 - k2.detach()}[kind]


def mismatch(n):
    return torch.exp(n["oldLogprobs"] - n["rolloutLogprobs"])


def icepop(n, smallest, largest):
    r = mismatch(n)
    return total(n, torch.where((r >= smallest) & (r <= largest), r, 0.0) * ppo_terms(n))


def sequence_mask(n, largest):
    x = (n["oldLogprobs"] - n["rolloutLogprobs"]) * (n["weight"] > 0)
    r = torch.exp(x.sum(1, keepdim=True))
    return total(n, torch.where(r <= largest, r, 0.0) * ppo_terms(n))


def scores(n, reference):
    moved = n["weight"] * (n["logprobs"] - n[reference])
    return [moved[rows].sum() for rows in SEQUENCES]


def dpo(n, beta, likelihood):
    s, losses = scores(n, "referenceLogprobs"), []
    for better, worse in PAIRS:
        rows = SEQUENCES[better]
        nll = -(n["weight"] * n["logprobs"])[rows].sum() / n["weight"][rows].sum()
        losses.append(-torch.nn.functional.logsigmoid(beta * (s[better] - s[worse])) + likelihood * nll)
    return sum(losses) / len(losses)


def kto(n, beta, desirable, undesirable):
    s = scores(n, "referenceLogprobs")
    z = torch.clamp(sum(s) / len(s), min=0).detach()
    losses = [desirable * (1 - torch.sigmoid(beta * (score - z))) if reward > 0
              else undesirable * (1 - torch.sigmoid(beta * (z - score))) for score, reward in zip(s, REWARDS)]
    return sum(losses) / len(losses)


def rebel(n, eta):
    s = scores(n, "oldLogprobs")
    return sum((s[a] - s[b] - eta * (REWARDS[a] - REWARDS[b])) ** 2 for a, b in PAIRS) / len(PAIRS)


def value_loss(n, coefficient, clip):
    near = n["oldValues"] + (n["values"] - n["oldValues"]).clamp(-clip, clip)
    worst = torch.maximum((n["values"] - n["returns"]) ** 2, (near - n["returns"]) ** 2)
    return coefficient * 0.5 * total(n, worst)


def covariance(n, among):
    a, x = n["advantages"], n["logprobs"].detach()
    return (a - a[among].mean()) * (x - x[among].mean())


def left_out(n, among, lower, upper, low=0.2, high=0.28):
    """All whose covariance is between the bounds and that the clip does not hold already."""
    a, ratio, cov = n["advantages"], ratio_of(n).detach(), covariance(n, among)
    held = ((a > 0) & (ratio > 1 + high)) | ((a < 0) & (ratio < 1 - low))
    return among & (cov > lower) & (cov < upper) & ~held


def clip_cov(n, lower, upper):
    return total(n, torch.where(left_out(n, n["weight"] > 0, lower, upper), 0.0, ppo_terms(n)))


def kl_cov(n, share, coefficient):
    trained = n["weight"] > 0
    ranked = torch.where(trained, covariance(n, trained), -torch.inf).flatten().argsort(descending=True)
    top = torch.zeros(ROWS * TOKENS, dtype=torch.float64)
    top[ranked[:int(share * trained.sum())]] = coefficient
    moved = (n["logprobs"] - n["oldLogprobs"]).abs()
    return total(n, -n["advantages"] * ratio_of(n) + top.reshape(ROWS, TOKENS) * moved)


def self_imitation(n, gamma):
    fresh, replayed = (n["weight"] > 0) & (n["replay"] == 0), (n["weight"] > 0) & (n["replay"] == 1)
    out = left_out(n, fresh, 0.1, 5) | left_out(n, replayed, 0.3, 5)
    return total(n, torch.where(out, 0.0, ppo_terms(n) * torch.where(replayed, gamma, 1.0)))


def counterfactual(n):
    forced = n["advantages"].clone()
    for changed, original in PAIRS[:2]:
        forced[SEQUENCES[changed]] = REWARDS[changed] - REWARDS[original]
    return total(n, ppo_terms({**n, "advantages": forced}))


def with_baseline(n):
    rest = n["advantages"] - n["values"]
    return -total(n, rest.detach() * n["logprobs"]) + total(n, rest ** 2)


def smoothed(n, coefficient, weight, size, low, high):
    h, before = n["entropies"], n["historicEntropies"]
    outside = torch.clamp(low * before - h, min=0) + torch.clamp(h - high * before, min=0)
    return -coefficient * (total(n, h) - weight * total(n, n["smoothing"] * size * outside))


def forward_kl(n):
    q = torch.softmax(n["teacherLogprobs"], -1)
    return total(n, (q * (q.log() - n["logprobsOf"])).sum(-1))


def mixed(n, rl, sft, weight=lambda p: torch.ones_like(p)):
    imitated = n["imitation"] * weight(n["logprobs"].exp().detach()) * n["logprobs"]
    return rl * total(n, ppo_terms(n)) - sft * imitated.sum()


def best_half(n):
    kept = torch.zeros(ROWS, 1, dtype=torch.float64)
    for rows, reward in zip(SEQUENCES, REWARDS):
        kept[rows] = float(reward >= torch.tensor(REWARDS).quantile(0.5))
    return -total(n, kept * n["logprobs"]) * n["weight"].sum() / (kept * n["weight"]).sum()


def agent_q(n, beta):
    s = scores(n, "oldLogprobs")
    return sum(-torch.nn.functional.logsigmoid(beta * (s[a] - s[b])) for a, b in PAIRS) / len(PAIRS)


def rebel_with_kl(n, eta, coefficient):
    s, start = scores(n, "oldLogprobs"), {**n, "logprobs": n["oldLogprobs"]}
    worth = [r - coefficient * drift for r, drift in zip(REWARDS, scores(start, "referenceLogprobs"))]
    return sum((s[a] - s[b] - eta * (worth[a] - worth[b])) ** 2 for a, b in PAIRS) / len(PAIRS)


BINS = {"count": 7, "low": -2, "high": 2, "valueCoefficient": 0.5}


def gauss_bins(y):
    edges = torch.linspace(-2, 2, 8, dtype=torch.float64)
    below = torch.distributions.Normal(y.clamp(-2, 2)[..., None], 0.75 * 4 / 7).cdf(edges)
    return (below[..., 1:] - below[..., :-1]) / (below[..., -1:] - below[..., :1])


def two_bins(y):
    width = 4 / 7
    place = (y.clamp(-2 + width / 2, 2 - width / 2) + 2 - width / 2) / width
    lower = place.floor().clamp(0, 5).long()
    share = place - lower
    return (torch.nn.functional.one_hot(lower, 7) * (1 - share)[..., None]
            + torch.nn.functional.one_hot(lower + 1, 7) * share[..., None])


def classified(n, bins):
    return -0.5 * total(n, (bins(n["returns"]) * torch.log_softmax(n["valueLogits"], -1)).sum(-1))


def expectile(value, target, share):
    return torch.where(target > value, share, 1 - share) * (value - target) ** 2


def archer(n, state):
    q = sum((n[f"head {name}"] - n[f"{name}Target"]) ** 2 for name in ("q1", "q2"))
    v = sum(state(n[f"head {name}"], n[f"{name}Target"]) for name in ("v1", "v2"))
    return total(n, n["actionEnd"] * q + n["actionStart"] * v)


def following(n, discount, bootstrap):
    """At each action token its reward and what the next action token of the row is worth."""
    found = torch.zeros(ROWS, TOKENS, dtype=torch.float64)
    for row in range(ROWS):
        after = 0.0
        for t in range(TOKENS - 1, -1, -1):
            if n["weight"][row, t] > 0:
                found[row, t] = n["rewards"][row, t] + discount * after
                after = bootstrap(row, t, found[row, t])
    return found


def q_losses(n, head, target, conservatism):
    taken = n["ids"].long()[..., None]
    q, logits = n[head].gather(-1, taken)[..., 0], torch.log_softmax(n[head], -1)
    return total(n, 0.5 * (q - target) ** 2 - conservatism * logits.gather(-1, taken)[..., 0])


def ilql(n, discount, share, conservatism):
    value = n["head v"]
    target = following(n, discount, lambda row, t, _: value[row, t].detach())
    least = torch.minimum(n["frozen q1"], n["frozen q2"])
    return (q_losses(n, "head q1", target, conservatism) + q_losses(n, "head q2", target, conservatism)
            + 0.5 * total(n, expectile(value, least, share)))


def mc_returns(n, discount, conservatism):
    return q_losses(n, "head q1", following(n, discount, lambda _row, _t, found: found), conservatism)


def bradley_terry(n, centring):
    r = [(n["weight"] * n["head reward"])[rows].sum() for rows in SEQUENCES]
    return sum(-torch.nn.functional.logsigmoid(r[a] - r[b]) + centring * (r[a] + r[b]) ** 2
               for a, b in PAIRS) / len(PAIRS)


CLIP = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3}
HEADS = "head q1, head q2, head v1, head v2"
# Name, options of Turnwise, what the loss is differentiated by, the loss, and what is special about its numbers.
LOSSES = [
    ("policy-gradient", {}, "logprobs", lambda n: -total(n, n["advantages"] * n["logprobs"])),
    ("cross-entropy", {}, "logprobs", lambda n: -total(n, n["logprobs"])),
    ("importance-sampling", {}, "logprobs", lambda n: -total(n, n["advantages"] * ratio_of(n))),
    ("ppo-clip", CLIP, "logprobs", lambda n: total(n, ppo_terms(n))),
    ("ppo-clip", {**CLIP, "dualClip": 0}, "logprobs", lambda n: total(n, ppo_terms(n, dual=0))),
    ("gspo", {"clipLow": 0.05, "clipHigh": 0.1}, "logprobs", lambda n: gspo(n, 0.05, 0.1)),
    ("turn-ppo", {"clipLow": 0.2, "clipHigh": 0.2, "dualClip": 3}, "logprobs", lambda n: turn_ppo(n, 0.2, 0.2, 3)),
    ("aepo-clip", CLIP, "logprobs", lambda n: aepo(n, 0.2, 0.28, 3)),
    ("cispo", {"clipLow": 0.5, "clipHigh": 0.6}, "logprobs",
     lambda n: -total(n, ratio_of(n).clamp(0.5, 1.6).detach() * n["advantages"] * n["logprobs"])),
    ("dro", {"beta": 0.3}, "logprobs",
     lambda n: -total(n, n["advantages"] * n["logprobs"] - 0.15 * (n["logprobs"] - n["oldLogprobs"]) ** 2)),
    *[("kl-penalty", {"klCoefficient": 0.5, "klEstimator": kind}, "logprobs",
       lambda n, kind=kind: 0.5 * total(n, kl(n, kind))) for kind in ("k2", "k3", "k3+")],
    ("truncated-importance-sampling", {"largest": 1.2}, "logprobs",
     lambda n: total(n, mismatch(n).clamp(max=1.2) * ppo_terms(n))),
    ("icepop", {"smallest": 0.6, "largest": 1.5}, "logprobs", lambda n: icepop(n, 0.6, 1.5)),
    ("sequence-mask", {"smallest": 0.0001, "largest": 2}, "logprobs", lambda n: sequence_mask(n, 2)),
    ("awr", {"temperature": 0.7, "largestWeight": 3}, "logprobs",
     lambda n: -total(n, torch.exp(n["advantages"] / 0.7).clamp(max=3.0) * n["logprobs"])),
    ("dpo", {"beta": 0.3, "likelihoodCoefficient": 0.2}, "logprobs", lambda n: dpo(n, 0.3, 0.2)),
    ("kto", {"beta": 0.4, "desirableWeight": 1.3, "undesirableWeight": 0.8}, "logprobs",
     lambda n: kto(n, 0.4, 1.3, 0.8)),
    ("rebel", {"eta": 0.7}, "logprobs", lambda n: rebel(n, 0.7)),
    ("entropy-bonus", {"entropyCoefficient": 0.3}, "entropies", lambda n: -0.3 * total(n, n["entropies"])),
    ("value-loss", {"valueCoefficient": 0.5, "valueClip": 0.2}, "values", lambda n: value_loss(n, 0.5, 0.2)),
    ("clip-cov", {"share": 1, "lower": 0.1, "upper": 5, "policy": CLIP}, "logprobs", lambda n: clip_cov(n, 0.1, 5)),
    ("kl-cov", {"share": 0.2, "klCoefficient": 0.5}, "logprobs", lambda n: kl_cov(n, 0.2, 0.5)),
    ("self-imitation", {"coefficient": 0.8, "warmupSteps": 10, "share": 1, "lower": 0.1, "upper": 5, "replayShare": 1,
                        "replayLower": 0.3, "replayUpper": 5, "policy": CLIP}, "logprobs",
     lambda n: self_imitation(n, 0.8 * 0.5 * (1 - math.cos(math.pi * STEP / 10)))),
    ("counterfactual", CLIP, "logprobs", counterfactual, {"pairs": PAIRS[:2]}),
    ("archer-actor", {}, "logprobs", lambda n: -total(n, n["advantages"] * n["logprobs"])),
    ("archer-actor", {"tokenBaseline": True}, "logprobs, values", with_baseline),
    ("entropy-smoothing", {"entropyCoefficient": 0.3, "smoothCoefficient": 0.7, "size": 0.5}, "entropies",
     lambda n: smoothed(n, 0.3, 0.7, 0.5, 0.8, 1.2)),
    ("forward-kl", {"top": 3}, "logprobsOf", forward_kl, {"reads": "distillation"}),
    ("sft-rl", {"warmupSteps": 10, "peak": 0.8, "tokenWeights": "uncertain", "policy": CLIP}, "logprobs",
     lambda n: mixed(n, 1 - 0.08 * STEP, 0.08 * STEP, lambda p: p * (1 - p))),
    ("gtr", {"imitationCoefficient": 0.6, "policy": CLIP}, "logprobs", lambda n: mixed(n, 1, 0.6)),
    ("filtered-bc", {"share": 0.5}, "logprobs", best_half),
    ("best-of-n", {}, "logprobs", lambda n: -total(n, n["advantages"] * n["logprobs"])),
    ("eto", {"beta": 0.3}, "logprobs", lambda n: dpo(n, 0.3, 0)),
    ("agent-q", {"beta": 0.3}, "logprobs", lambda n: agent_q(n, 0.3)),
    ("rebel", {"eta": 0.7, "klCoefficient": 0.2}, "logprobs", lambda n: rebel_with_kl(n, 0.7, 0.2)),
    ("refuel", {"eta": 0.7}, "logprobs", lambda n: rebel(n, 0.7)),
    ("hl-gauss", {**BINS, "smoothing": 0.75}, "valueLogits", lambda n: classified(n, gauss_bins), {"reads": "bins"}),
    ("two-hot", BINS, "valueLogits", lambda n: classified(n, two_bins), {"reads": "bins"}),
    ("archer-critic", {}, HEADS, lambda n: archer(n, lambda v, y: (v - y) ** 2), {"reads": "utterances"}),
    ("archer-iql", {"expectile": 0.8}, HEADS, lambda n: archer(n, lambda v, y: expectile(v, y, 0.8)),
     {"reads": "utterances"}),
    ("ilql", {"discount": 0.9, "expectile": 0.8, "conservatism": 0.3}, "head q1, head q2, head v",
     lambda n: ilql(n, 0.9, 0.8, 0.3), {"reads": "tokens"}),
    ("mc-returns", {"discount": 0.9, "conservatism": 0.3}, "head q1", lambda n: mc_returns(n, 0.9, 0.3),
     {"reads": "tokens"}),
    ("bradley-terry", {"centring": 0.1}, "head reward", lambda n: bradley_terry(n, 0.1), {"reads": "reward"}),
]


def listed(tensor):
    return [float(f"{x:.9g}") for x in tensor.flatten()]


def main(path):
    torch.manual_seed(2)
    numbers = draw()
    readings = draw_readings()
    found = []
    for name, options, by, loss, *special in LOSSES:
        special = special[0] if special else {}
        wrt = by.split(", ")
        one = {**numbers, **readings.get(special.get("reads"), {})}
        for field in wrt:
            one[field] = one[field].clone().requires_grad_()
        value = loss(one)
        gradients = torch.autograd.grad(value, [one[field] for field in wrt])
        found.append({"name": name, "options": options, "by": wrt, **special, "loss": value.item(),
                      "gradients": [listed(gradient) for gradient in gradients]})
    in_rows = lambda tensors: [{name: listed(tensor[row]) for name, tensor in tensors.items()} for row in range(ROWS)]
    record = {
        "made by": f"tools/parity/losses.py, torch {torch.__version__.split('+')[0]}",
        "rows": in_rows(numbers),
        "readings": {name: in_rows(tensors) for name, tensors in readings.items()},
        "sequences": [{"rows": rows, "reward": reward} for rows, reward in zip(SEQUENCES, REWARDS)],
        "pairs": PAIRS,
        "step": STEP,
        "losses": found,
    }
    with open(path, "w") as file:
        json.dump(record, file, separators=(",", ":"))
        file.write("\n")


main(sys.argv[1])
