"""Random checkpoints of Hugging Face families with the numbers that transformers and peft compute for them.

    python tools/parity/make_checkpoints.py OUT --seed 1
    TURNWISE_PARITY=OUT npx vitest run src/engine/embedded/weights/hugging-face-parity.test.ts

Writes OUT/<case>/{f32,sharded,bf16,f16,adapter}/ and OUT/<case>/expected.json, in the format of tests/hf-parity.
Shapes are drawn from the seed, so that another seed is another set of shapes: widths of heads that are no power of two,
heads whose widths do not add up to the model's, one key-value head, vocabularies of odd size, adapters on some modules.
Needs torch, transformers, peft and safetensors; users and tests of Turnwise need none of them.
"""

import argparse
import copy
import json
import random
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers.utils import logging
from transformers import (
    LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM,
    Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM,
)

ADAMW = {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01, "clip_norm": 1.0, "steps": 2}
FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "llama3-rope": (LlamaConfig, LlamaForCausalLM),
    "smollm2": (LlamaConfig, LlamaForCausalLM),
    "mistral": (MistralConfig, MistralForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
MLP = ["gate_proj", "up_proj", "down_proj"]


def draw_shape(family, rng):
    kv_heads = rng.choice([1, 2, 3])
    heads = kv_heads * rng.choice([1, 2, 3])
    own_width = family in ("qwen3", "llama", "mistral")
    head_dim = rng.choice([2, 6, 10, 12, 14, 18, 24])
    return {
        "family": family,
        # transformers wants the width of a Llama to be a multiple of its heads, whatever their width.
        "hidden": heads * (rng.choice([5, 7, 16]) if own_width else head_dim),
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "inner": rng.choice([17, 40, 75, 128]),
        "layers": rng.choice([1, 2, 3]),
        "vocabulary": rng.choice([31, 97, 150, 301]),
        "tied": rng.choice([True, False]),
        "theta": rng.choice([1e4, 1e5, 1e6]),
        "lengths": [rng.randint(2, 40) for _ in range(3)],
        "rank": rng.choice([1, 3, 5]),
        "alpha": rng.choice([2, 8, 7]),
        "targets": rng.choice([ATTENTION, MLP, ATTENTION + MLP, ["v_proj", "down_proj"]]),
    }


def make_config(shape):
    cls, _ = FAMILIES[shape["family"]]
    rope = {"rope_type": "default", "rope_theta": shape["theta"]}
    if shape["family"] == "llama3-rope":
        rope = {"rope_type": "llama3", "rope_theta": shape["theta"], "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 48}
    more = {"head_dim": shape["head_dim"]} if shape["family"] != "qwen2" else {}
    if shape["family"] == "mistral":
        more["sliding_window"] = None
    return cls(
        vocab_size=shape["vocabulary"], hidden_size=shape["hidden"], intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"], num_attention_heads=shape["heads"],
        num_key_value_heads=shape["kv_heads"], max_position_embeddings=256, rms_norm_eps=1e-5,
        tie_word_embeddings=shape["tied"], rope_parameters=rope, bos_token_id=None, eos_token_id=1,
        attn_implementation="eager", **more,
    )


def make_model(shape, seed):
    """Logits stay below 20 or so: at 60 the rounding of 32-bit floats alone moves log-probabilities by 3e-5."""
    _, cls = FAMILIES[shape["family"]]
    torch.manual_seed(seed)
    model = cls(make_config(shape)).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                centre = 0.0 if name.endswith("bias") else 1.0
                parameter.copy_(centre + 0.3 * torch.randn_like(parameter))
            else:
                size = 1.5 if "embed" in name else 1.0
                parameter.copy_(torch.randn_like(parameter) * size * parameter.shape[1] ** -0.5)
    return model


def rounded(values):
    if isinstance(values, torch.Tensor):
        values = values.detach().double().tolist()
    if isinstance(values, list):
        return [rounded(value) for value in values]
    return float(f"{values:.9g}")


def make_batch(shape, rng):
    lengths, V = shape["lengths"], shape["vocabulary"]
    longest = max(lengths)
    rows = [[rng.randrange(V) for _ in range(n)] for n in lengths]
    mask = [[0] + [int(rng.random() < 0.6) for _ in range(n - 1)] for n in lengths]
    for row in mask:
        row[-1] = 1
    pad = lambda row, fill: row + [fill] * (longest - len(row))
    return {
        "lengths": lengths,
        "pad_token_id": 0,
        "input_ids": [pad(row, 0) for row in rows],
        "attention_mask": [pad([1] * n, 0) for n in lengths],
        "loss_mask": [pad(row, 0) for row in mask],
    }


def run(model, batch):
    ids = torch.tensor(batch["input_ids"])
    logits = model(input_ids=ids, attention_mask=torch.tensor(batch["attention_mask"])).logits
    logprobs = torch.log_softmax(logits, -1)
    chosen = logprobs[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    mask = torch.tensor(batch["loss_mask"])[:, 1:].float()
    loss = -(mask * chosen).sum() / mask.sum()
    return logits, logprobs, chosen, loss


def describe_logits(logits, batch):
    V = logits.shape[-1]
    columns = sorted({0, 1, V // 5, V // 4, V // 3, V // 2, V - 2, V - 1})
    lengths = batch["lengths"]
    return {
        "row0": rounded(logits[0, : lengths[0]]),
        "columns": columns,
        "rows": [
            {"row": row, "at_columns": rounded(logits[row, :n][:, columns]), "last": rounded(logits[row, n - 1])}
            for row, n in list(enumerate(lengths))[1:]
        ],
        "l2_per_row": [rounded(logits[row, :n].double().norm()) for row, n in enumerate(lengths)],
    }


def describe_scores(model, batch):
    with torch.no_grad():
        logits, logprobs, chosen, loss = run(model, batch)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    lengths = batch["lengths"]
    return {
        "logits": describe_logits(logits, batch),
        "logprobs": [rounded(chosen[row, : n - 1]) for row, n in enumerate(lengths)],
        "entropy": [rounded(entropy[row, :n]) for row, n in enumerate(lengths)],
        "loss": rounded(loss),
    }


def trained(model, rename):
    return {rename(name): p for name, p in model.named_parameters() if p.requires_grad}


def describe_gradients(model, batch, rename):
    model.zero_grad()
    run(model, batch)[3].backward()
    found = {}
    for name, parameter in trained(model, rename).items():
        flat = parameter.grad.flatten()
        index = sorted({0, flat.numel() // 2, flat.numel() - 1, int(flat.abs().argmax())})
        found[name] = {"shape": list(parameter.shape), "norm": rounded(flat.double().norm()),
                       "index": index, "value": rounded(flat[index])}
    model.zero_grad()
    return found


def describe_steps(model, batch, rename):
    parameters = list(trained(model, rename).values())
    optimizer = torch.optim.AdamW(parameters, lr=ADAMW["lr"], betas=tuple(ADAMW["betas"]), eps=ADAMW["eps"],
                                  weight_decay=ADAMW["weight_decay"])
    steps = []
    for _ in range(ADAMW["steps"]):
        optimizer.zero_grad()
        loss = run(model, batch)[3]
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, ADAMW["clip_norm"])
        optimizer.step()
        steps.append({"loss": rounded(loss), "grad_norm_before_clip": rounded(norm)})
    with torch.no_grad():
        logits, _, _, loss = run(model, batch)
    return {
        "steps": steps,
        "loss_after": rounded(loss),
        "logits_after": describe_logits(logits, batch),
        "parameter_norms_after": {name: rounded(p.double().norm()) for name, p in trained(model, rename).items()},
    }


def noise(model, batch):
    """How far rounding alone moves log-probabilities: the largest difference to 64-bit floats."""
    lengths = batch["lengths"]
    with torch.no_grad():
        single = run(model, batch)[2].double()
        double = run(copy.deepcopy(model).double(), batch)[2]
    return max(float((single - double)[row, : n - 1].abs().max()) for row, n in enumerate(lengths))


def describe_greedy(model, shape, rng):
    """64 tokens without a cache; None where two logits come so close that rounding may choose."""
    prompt = [rng.randrange(shape["vocabulary"]) for _ in range(8)]
    ids, logprobs, margin = list(prompt), [], 1e9
    with torch.no_grad():
        for _ in range(64):
            logits = model(input_ids=torch.tensor([ids])).logits[0, -1]
            best = logits.topk(2)
            margin = min(margin, float(best.values[0] - best.values[1]))
            logprobs.append(rounded(torch.log_softmax(logits, -1)[best.indices[0]]))
            ids.append(int(best.indices[0]))
    greedy = {"prompt": prompt, "ids": ids[8:], "logprobs": logprobs, "smallest_top2_margin": margin}
    return greedy if margin > 1e-3 else None


def old_keys(config, shape):
    """config.json as transformers 4 wrote it, without the keys that follow from others."""
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    config["torch_dtype"] = config.pop("dtype", "float32")
    config.pop("layer_types", None)
    if shape["heads"] == shape["kv_heads"] and shape["family"].startswith(("llama", "smollm2")):
        config.pop("num_key_value_heads")
    if shape["heads"] * shape["head_dim"] == shape["hidden"] and shape["family"] != "qwen3":
        config.pop("head_dim", None)
    return config


def save_variants(model, shape, folder):
    model.save_pretrained(folder / "f32")
    state = load_file(folder / "f32" / "model.safetensors")
    config = json.loads((folder / "f32" / "config.json").read_text())
    for name, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        (folder / name).mkdir()
        save_file({k: v.to(dtype) for k, v in state.items()}, folder / name / "model.safetensors", {"format": "pt"})
        text = json.dumps({**config, "dtype": str(dtype).removeprefix("torch.")}, indent=2)
        (folder / name / "config.json").write_text(text)
    sharded = folder / "sharded"
    sharded.mkdir()
    names = sorted(state)
    weight_map = {}
    for part in range(3):
        file = f"model-{part + 1:05}-of-00003.safetensors"
        chosen = names[part::3]
        save_file({k: state[k] for k in chosen}, sharded / file, {"format": "pt"})
        weight_map.update({k: file for k in chosen})
    (sharded / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (sharded / "config.json").write_text(json.dumps(old_keys(config, shape), indent=2))


def make_case(out, name, shape, seed):
    rng = random.Random(f"{seed} {name} data")
    batch = make_batch(shape, rng)
    # Redrawn where rounding decides more than the tests allow: they would tell nothing.
    attempt, greedy = 0, None
    while greedy is None:
        model = make_model(shape, seed * 1000 + attempt)
        greedy = describe_greedy(model, shape, rng) if noise(model, batch) < 3e-6 else None
        attempt += 1
    folder = out / name
    folder.mkdir(parents=True)
    save_variants(model, shape, folder)
    same = lambda name: name
    expected = {"family": shape["family"], "seed": seed, "shapes": shape, "batch": batch, "adamw_options": ADAMW,
                **describe_scores(model, batch), "gradients": describe_gradients(model, batch, same),
                "greedy": greedy, "stored": {}}
    for variant in ("bf16", "f16"):
        loaded = type(model).from_pretrained(folder / variant, dtype=torch.float32, attn_implementation="eager")
        expected["stored"][variant] = describe_scores(loaded.eval(), batch)
    again = lambda: type(model).from_pretrained(folder / "f32", dtype=torch.float32, attn_implementation="eager").eval()
    expected["adamw"] = describe_steps(again(), batch, same)

    lora = LoraConfig(r=shape["rank"], lora_alpha=shape["alpha"], target_modules=shape["targets"],
                      lora_dropout=0.0, task_type="CAUSAL_LM")
    adapted = get_peft_model(again(), lora).eval()
    size = 0.5
    while size == 0.5 or noise(adapted, batch) > 3e-6:
        with torch.no_grad():
            for parameter in adapted.parameters():
                if parameter.requires_grad:
                    parameter.copy_(torch.randn_like(parameter) * size * parameter.shape[1] ** -0.5)
        size *= 0.8
    adapted.save_pretrained(folder / "adapter")
    saved_name = lambda name: name.replace(".default", "")
    expected["adapter"] = {
        "rank": shape["rank"], "alpha": shape["alpha"], "target_modules": shape["targets"],
        **describe_scores(adapted, batch), "gradients": describe_gradients(adapted, batch, saved_name),
        "adamw": describe_steps(adapted, batch, saved_name),
    }
    from peft import PeftModel
    merged = PeftModel.from_pretrained(again(), folder / "adapter").merge_and_unload().eval()
    expected["adapter"]["merged"] = describe_scores(merged, batch)
    (folder / "expected.json").write_text(json.dumps(expected))
    print(name, {key: shape[key] for key in ("hidden", "heads", "kv_heads", "head_dim", "vocabulary", "tied")},
          "rank", shape["rank"], "targets", len(shape["targets"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    options.out.mkdir(parents=True)
    for family in options.families:
        shape = draw_shape(family, random.Random(f"{options.seed} {family}"))
        make_case(options.out, family, shape, options.seed)


if __name__ == "__main__":
    main()
