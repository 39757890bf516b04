"""The bench model of engine-training.ts in eager PyTorch: prints JSON with tokens per second of a training step."""

import json
import math
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, TOKENS, ROWS = 4, 256, 4, 1024, 512, 256, 8
WARM_UP_STEPS = 3


class Attention(nn.Module):
    def __init__(self, cos, sin):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.cos, self.sin = cos, sin

    def rotate(self, x):
        first, second = x.chunk(2, dim=-1)
        return x * self.cos + torch.cat((-second, first), dim=-1) * self.sin

    def forward(self, x):
        rows, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(rows, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(rows, tokens, WIDTH))


class Block(nn.Module):
    def __init__(self, cos, sin):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = Attention(cos, sin)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        half = WIDTH // HEADS // 2
        angles = torch.outer(torch.arange(TOKENS).float(), 10000.0 ** (-torch.arange(half).float() / half))
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(cos, sin) for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    data = torch.randint(0, VOCABULARY, (ROWS, TOKENS + 1))
    ids, targets = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    times, losses = [], []
    for _ in range(WARM_UP_STEPS + steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(ids).view(-1, VOCABULARY), targets.view(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - start) * 1000)
    assert math.isfinite(losses[-1]) and losses[-1] < losses[0]
    median = statistics.median(times[WARM_UP_STEPS:])
    print(
        json.dumps(
            {
                "tokensPerSecond": ROWS * TOKENS / median * 1000,
                "medianMs": median,
                "version": torch.__version__,
                "threads": threads,
                "losses": losses[:3],
            }
        )
    )


main()
