"""Checks a GGUF file that `turnwise export RUN --to FILE.gguf` wrote, with other people's programs.

usage: python tools/gguf/check_export.py FILE.gguf      (after npm run build; needs the package gguf)

The package gguf reads the header and every tensor. Where torch and transformers are installed, transformers loads the file
and its log-probabilities are compared with those of the embedded engine for the same file; the chat template as well.
"""

import collections
import json
import os
import subprocess
import sys

import numpy as np
from gguf import GGUFReader, quants

TEXT = "The lamp is 42 cm high, isn't it?\n  def area(width, height):\n    return width * height\n" * 2
TOLERANCE = 1e-3


def main() -> int:
    path = os.path.abspath(sys.argv[1])
    reader = GGUFReader(path)
    text = lambda key: bytes(reader.fields[key].parts[-1]).decode()
    types = collections.Counter(tensor.tensor_type.name for tensor in reader.tensors)
    tokens = len(reader.fields["tokenizer.ggml.tokens"].data)
    print(f"{text('general.architecture')}, {len(reader.tensors)} tensors {dict(types)}, {tokens} tokens")
    for tensor in reader.tensors:
        values = quants.dequantize(tensor.data, tensor.tensor_type)
        assert np.isfinite(values).all(), tensor.name
        # What was written is what the package itself would write for these values.
        if tensor.tensor_type.name in ("Q8_0", "F16"):
            again = quants.dequantize(quants.quantize(values, tensor.tensor_type), tensor.tensor_type)
            worst = np.abs(again - values).max()
            assert worst <= np.abs(values).max() * 2**-10, (tensor.name, worst)
    here = os.path.dirname(os.path.abspath(__file__))
    ours = json.loads(
        subprocess.run(
            ["node", os.path.join(here, "logprobs.mjs"), path, TEXT], check=True, capture_output=True
        ).stdout
    )
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        print("torch or transformers is not installed: the file was read, and no logits were compared")
        return 0
    where = dict(pretrained_model_name_or_path=os.path.dirname(path), gguf_file=os.path.basename(path))
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        logprobs = model(torch.tensor([ours["ids"]])).logits[0].log_softmax(-1)
    theirs = logprobs[:-1].gather(1, torch.tensor(ours["ids"][1:])[:, None])[:, 0]
    worst = (theirs - torch.tensor(ours["logprobs"])).abs().max().item()
    others = (logprobs[-2][ours["others"]] - torch.tensor(ours["lastOfOthers"])).abs().max().item()
    print(f"largest difference of log-probabilities: {worst:.2e} over the text, {others:.2e} over 64 other tokens")
    tokenizer = AutoTokenizer.from_pretrained(**where)
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False, add_generation_prompt=True)
    print("chat template:", "the same" if chat == ours["chat"] else f"{chat!r} instead of {ours['chat']!r}")
    print("tokens that end a turn:", ours["stopIds"])
    return 0 if max(worst, others) < TOLERANCE and chat == ours["chat"] else 1


if __name__ == "__main__":
    sys.exit(main())
