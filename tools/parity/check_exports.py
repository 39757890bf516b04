"""Loads what tools/parity/export.mjs wrote back into peft and transformers, and compares logits and log-probabilities.

    npm run build
    node tools/parity/export.mjs OUT CHECKPOINT && python tools/parity/check_exports.py OUT CHECKPOINT
"""

import json
import sys
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

out, checkpoint = Path(sys.argv[1]), sys.argv[2]
results = json.loads((out / "logprobs.json").read_text())


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def logits(model):
    with torch.no_grad():
        return [model(input_ids=torch.tensor([row])).logits[0] for row in results["ids"]]


def check(name, model, expected, against=None):
    found = logits(model)
    worst = 0.0
    for row, ids, values in zip(found, results["ids"], expected):
        chosen = torch.log_softmax(row, -1)[:-1].gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]
        worst = max(worst, float((chosen - torch.tensor(values)).abs().max()))
    line = f"{name:<28} log-probabilities within {worst:.1e}"
    assert worst < 1e-5, line
    if against is not None:
        distance = max(float((a - b).abs().max()) for a, b in zip(found, against))
        line += f", logits within {distance:.1e}"
        assert distance < 1e-4, line
    print(line)
    return found


adapted = check("adapter in peft", PeftModel.from_pretrained(load(checkpoint), out / "adapter"), results["adapter"])
check("engine checkpoint in peft", PeftModel.from_pretrained(load(checkpoint), out / "checkpoint"), results["adapter"])
check("merged in transformers", load(out / "merged"), results["adapter"], adapted)
check("second adapter in peft", PeftModel.from_pretrained(load(checkpoint), out / "sibling"), results["sibling"])
check("full in transformers", load(out / "full"), results["full"])
