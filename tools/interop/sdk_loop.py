"""The official Tinker SDK against a server, such as `turnwise serve`: a training loop, sampling, saving and loading.

    pip install tinker
    turnwise serve --port 8765 &
    TINKER_API_KEY=tml-any python tools/interop/sdk_loop.py http://127.0.0.1:8765 small

Prints what it saw, and exits with 1 where a check fails.
"""

import statistics
import sys
import time

import tinker
from tinker import types

base_url, base_model = sys.argv[1], sys.argv[2]
service = tinker.ServiceClient(base_url=base_url)
failures = []


def check(name, passed, seen):
    print(f"{'ok' if passed else 'FAILED'}: {name}: {seen}")
    if not passed:
        failures.append(name)


prompt = [72, 101, 108, 108, 111]
model_input = types.ModelInput.from_ints


def policy_datum(tokens, logprobs, advantage):
    whole = prompt + tokens
    before = len(prompt) - 1
    return types.Datum(
        model_input=model_input(whole[:-1]),
        loss_fn_inputs={
            "target_tokens": whole[1:],
            "logprobs": [0.0] * before + list(logprobs),
            "advantages": [0.0] * before + [advantage] * len(tokens),
        },
    )


started = time.time()
training = service.create_lora_training_client(base_model=base_model, rank=8, seed=1).result()
check("a model", training.model_id, f"{training.get_info().model_data.model_name} in {time.time() - started:.2f} s")

# Supervised: one sentence by heart. The step is asked for before the pass is done.
sentence = [ord(letter) for letter in "The cat sat on the mat."]
supervised = types.Datum(
    model_input=model_input(sentence[:-1]),
    loss_fn_inputs={"target_tokens": sentence[1:], "weights": [1.0] * (len(sentence) - 1)},
)
losses = []
for _ in range(20):
    passed = training.forward_backward([supervised], "cross_entropy")
    stepped = training.optim_step(types.AdamParams(learning_rate=1e-2))
    losses.append(-statistics.fmean(passed.result().loss_fn_outputs[0]["logprobs"].tolist()))
    stepped.result()
check("cross_entropy teaches a sentence", losses[-1] < 0.5 * losses[0], f"{losses[0]:.3f} -> {losses[-1]:.3f} nats a token")

# Reinforcement: even ids are rewarded.
rewards = []
times = []
for step in range(12):
    began = time.time()
    sampler = training.save_weights_and_get_sampling_client().result()
    answer = sampler.sample(
        prompt=model_input(prompt),
        num_samples=32,
        sampling_params=types.SamplingParams(max_tokens=16, seed=1000 * step, stop=[]),
    ).result()
    returns = [statistics.fmean(token % 2 == 0 for token in sequence.tokens) for sequence in answer.sequences]
    mean, deviation = statistics.fmean(returns), statistics.pstdev(returns) or 1.0
    data = [
        policy_datum(list(sequence.tokens), list(sequence.logprobs), (value - mean) / deviation / 512)
        for sequence, value in zip(answer.sequences, returns, strict=True)
    ]
    passed = training.forward_backward(data, "importance_sampling")
    stepped = training.optim_step(types.AdamParams(learning_rate=1e-2))
    gap = max(
        abs(theirs - ours)
        for output, sequence in zip(passed.result().loss_fn_outputs, answer.sequences, strict=True)
        for theirs, ours in zip(output["logprobs"].tolist()[len(prompt) - 1 :], sequence.logprobs, strict=True)
    )
    stepped.result()
    rewards.append(mean)
    times.append(time.time() - began)
check("reinforcement raises the reward", rewards[-1] > rewards[0] + 0.1, " ".join(f"{reward:.2f}" for reward in rewards))
check("sampler and trainer agree", gap < 1e-3, f"largest difference of log-probabilities {gap:.1e}")
print(f"seconds a step: median {statistics.median(times):.3f}")

for loss, config in [
    ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}),
    ("cispo", None),
    ("dro", {"beta": 0.05}),
]:
    try:
        outputs = training.forward_backward(data, loss, config).result().loss_fn_outputs
        check(loss, len(outputs) == len(data), f"{len(outputs)} outputs")
    except Exception as error:
        check(loss, False, error)
training.optim_step(types.AdamParams(learning_rate=0.0)).result()

forward = training.forward([supervised], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].tolist()
sampler = training.save_weights_and_get_sampling_client().result()
prompts = sampler.compute_logprobs(model_input(sentence)).result()
check(
    "prompt log-probabilities are those of a forward pass",
    max(abs(a - b) for a, b in zip(prompts[1:], forward, strict=True)) < 1e-3 and prompts[0] is None,
    f"{len(prompts)} values",
)
saved = training.save_state("interop", overwrite=True).result()
other = service.create_training_client_from_state_with_optimizer(saved.path).result()
again = other.forward([supervised], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].tolist()
check("saved weights load into another model", max(abs(a - b) for a, b in zip(again, forward, strict=True)) < 1e-4, saved.path)
try:
    training.forward_backward([supervised], "cross_entropy", {"nope": 1.0}).result()
    check("a wrong setting is refused", False, "accepted")
except Exception as error:
    check("a wrong setting is refused", True, str(error)[:160])
sys.exit(1 if failures else 0)
