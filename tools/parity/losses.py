"""Losses and their gradients by torch's autograd in 64 bits, on random rows.

    python tools/parity/losses.py tests/loss-parity/record.json

tests/loss-parity.test.ts has Turnwise compute the same. Nothing here calls or copies Turnwise: the losses are written
down from the formulas of their sources, and torch differentiates them. Needs torch; users and tests of Turnwise do not.
"""

import json
import sys

import torch

ROWS, TOKENS = 6, 7
SEQUENCES = [[0, 1], [2], [3], [4, 5]]
REWARDS = [1.0, -0.5, 0.25, -1.0]
PAIRS = [[0, 1], [2, 3], [0, 3]]


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
    }
    # What 32 bits hold, so that both sides begin with the same numbers.
    return {name: tensor.float().double() for name, tensor in numbers.items()}


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


CLIP = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3}
# Name, options of Turnwise, what the loss is differentiated by, and the loss.
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
]


def main(path):
    torch.manual_seed(2)
    numbers = draw()
    found = []
    for name, options, by, loss in LOSSES:
        one = dict(numbers)
        one[by] = numbers[by].clone().requires_grad_()
        value = loss(one)
        gradient, = torch.autograd.grad(value, one[by])
        found.append({"name": name, "options": options, "by": by, "loss": value.item(),
                      "gradient": [float(f"{g:.9g}") for g in gradient.flatten()]})
    record = {
        "made by": f"tools/parity/losses.py, torch {torch.__version__.split('+')[0]}",
        "rows": [{name: [float(f"{x:.9g}") for x in tensor[row]] for name, tensor in numbers.items()}
                 for row in range(ROWS)],
        "sequences": [{"rows": rows, "reward": reward} for rows, reward in zip(SEQUENCES, REWARDS)],
        "pairs": PAIRS,
        "losses": found,
    }
    with open(path, "w") as file:
        json.dump(record, file, separators=(",", ":"))
        file.write("\n")


main(sys.argv[1])
