"""The bench models in eager PyTorch: takes a JSON request as its argument, prints a JSON answer.

{"task": "train" | "sample" | "lora", "shape": DecoderShape, "rows": ..., "tokens": ..., "steps": ..., "threads": ...,
 "dtype": "float32" | "bfloat16", "prompt": tokens of each row that are read but not learned, without logits}
"""

import json
import math
import resource
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

request = json.loads(sys.argv[1])
shape = request["shape"]
ROWS, TOKENS, STEPS = request["rows"], request["tokens"], request["steps"]
WIDTH, HEADS, KV, HEAD = shape["width"], shape["heads"], shape["keyValueHeads"], shape["headWidth"]
GATED = shape["activation"] == "swiglu"
DTYPE = getattr(torch, request.get("dtype", "float32"))
PROMPT = request.get("prompt", 0)
WARM_UP_STEPS = 3
# As in every run of the engine, which computes the norm of the gradient and clips it.
CLIP_NORM = 1.0


def rope_tables(length):
    half = HEAD // 2
    angles = torch.outer(torch.arange(length).float(), shape["ropeTheta"] ** (-torch.arange(half).float() / half))
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(DTYPE), angles.sin().to(DTYPE)


class LoraLinear(nn.Module):
    def __init__(self, inputs, outputs, rank):
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False)
        self.base.weight.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x):
        return self.base(x) + 2 * F.linear(F.linear(x, self.a), self.b)


def linear(inputs, outputs):
    rank = request.get("rank")
    return LoraLinear(inputs, outputs, rank) if rank else nn.Linear(inputs, outputs, bias=False)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.separate = KV != HEADS or bool(request.get("rank"))
        if self.separate:
            self.q, self.k, self.v = linear(WIDTH, HEADS * HEAD), linear(WIDTH, KV * HEAD), linear(WIDTH, KV * HEAD)
        else:
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = linear(HEADS * HEAD, WIDTH)
        normed = shape.get("queryKeyNorm")
        self.q_norm, self.k_norm = (nn.RMSNorm(HEAD), nn.RMSNorm(HEAD)) if normed else (nn.Identity(), nn.Identity())

    def forward(self, x, cos, sin, cache=None):
        rows, tokens, _ = x.shape
        if self.separate:
            q = self.q(x).view(rows, tokens, HEADS, HEAD).transpose(1, 2)
            k = self.k(x).view(rows, tokens, KV, HEAD).transpose(1, 2)
            v = self.v(x).view(rows, tokens, KV, HEAD).transpose(1, 2)
        else:
            q, k, v = self.qkv(x).view(rows, tokens, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
        q, k = self.q_norm(q), self.k_norm(k)
        first, second = q.chunk(2, dim=-1)
        q = q * cos + torch.cat((-second, first), dim=-1) * sin
        first, second = k.chunk(2, dim=-1)
        k = k * cos + torch.cat((-second, first), dim=-1) * sin
        grouped = {"enable_gqa": True} if KV != HEADS else {}
        if cache is None:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, **grouped)
        else:
            keys, values, place = cache
            keys[:, :, place : place + tokens] = k
            values[:, :, place : place + tokens] = v
            seen = place + tokens
            mixed = F.scaled_dot_product_attention(q, keys[:, :, :seen], values[:, :, :seen], **grouped)
        return self.output(mixed.transpose(1, 2).reshape(rows, tokens, HEADS * HEAD))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = Attention()
        self.up, self.down = linear(WIDTH, shape["hidden"]), linear(shape["hidden"], WIDTH)
        self.gate = linear(WIDTH, shape["hidden"]) if GATED else None

    def forward(self, x, cos, sin, cache=None):
        x = x + self.attention(self.norm1(x), cos, sin, cache)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y) if GATED else F.gelu(self.up(y)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cos, self.sin = rope_tables(shape["contextLength"])
        self.embedding = nn.Embedding(shape["vocabulary"], WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(shape["layers"]))
        self.norm = nn.RMSNorm(WIDTH)
        self.head = None if shape["tiedHead"] else nn.Linear(WIDTH, shape["vocabulary"], bias=False)

    def forward(self, ids, caches=None, place=0, prompt=0):
        x = self.embedding(ids)
        cos, sin = self.cos[place : place + ids.shape[1]], self.sin[place : place + ids.shape[1]]
        for index, block in enumerate(self.blocks):
            x = block(x, cos, sin, caches and (*caches[index], place))
        x = x[:, prompt:]
        return F.linear(self.norm(x), self.embedding.weight if self.head is None else self.head.weight)


def train(model):
    if request.get("rank"):
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name.endswith((".a", ".b")))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=3e-4, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    data = torch.randint(0, shape["vocabulary"], (ROWS, TOKENS + 1))
    ids, targets = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    size = request.get("rowsPerPass", ROWS)
    times, losses = [], []
    for _ in range(request.get("warmUpSteps", WARM_UP_STEPS) + STEPS):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for first in range(0, ROWS, size):
            logits = model(ids[first : first + size], prompt=PROMPT)
            loss = F.cross_entropy(
                logits.float().reshape(-1, shape["vocabulary"]), targets[first : first + size, PROMPT:].reshape(-1)
            )
            (loss * size / ROWS).backward()
            total += loss.item() * size / ROWS
        nn.utils.clip_grad_norm_(trained, CLIP_NORM)
        optimizer.step()
        losses.append(total)
        times.append((time.perf_counter() - start) * 1000)
    assert math.isfinite(losses[-1]) and losses[-1] < losses[0]
    median = statistics.median(times[-STEPS:])
    return {"tokensPerSecond": ROWS * TOKENS / median * 1000, "medianMs": median}


@torch.inference_mode()
def sample(model):
    model.eval()
    times = []
    for _ in range(1 + STEPS):
        caches = [
            tuple(torch.zeros(ROWS, KV, TOKENS, HEAD, dtype=DTYPE) for _ in range(2)) for _ in range(shape["layers"])
        ]
        ids = torch.zeros(ROWS, 1, dtype=torch.long)
        start = time.perf_counter()
        for place in range(TOKENS - 1):
            logits = model(ids, caches, place)[:, -1]
            logprobs = torch.log_softmax(logits.float(), dim=-1)
            ids = torch.multinomial(logprobs.exp(), 1)
            logprobs.gather(1, ids)
        times.append(time.perf_counter() - start)
    return {"tokensPerSecond": ROWS * (TOKENS - 1) / statistics.median(times[1:])}


torch.set_num_threads(request["threads"])
torch.manual_seed(1)
model = Decoder().to(DTYPE)
answer = sample(model) if request["task"] == "sample" else train(model)
answer["version"] = torch.__version__
answer["peakResidentMegabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(json.dumps(answer))
