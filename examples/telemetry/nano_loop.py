"""A small GPT on the letters of Python's own documentation, trained in a plain loop and watched.

python nano_loop.py            # about a minute on a CPU; the record goes into runs/
headway watch runs             # meanwhile, or afterwards
"""

import argparse
from pydoc_data.topics import topics  # 700 kB of English that comes with Python

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import headway
from headway.telemetry import Schedule, Watch

WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 4, 2, 64, 16


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.three, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, stream):
        batch, length, _ = stream.shape
        parts = self.three(self.first(stream)).split(WIDTH, dim=2)
        query, key, value = (each.view(batch, length, HEADS, -1).transpose(1, 2) for each in parts)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        stream = stream + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return stream + self.mlp(self.second(stream))


class GPT(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, WIDTH), nn.Embedding(2 * LENGTH, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocab, bias=False)

    def forward(self, tokens):
        stream = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        return self.head(self.norm(self.layers(stream)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=800)
    steps = parser.parse_args().steps

    letters = "".join(topics.values())[:300_000]
    alphabet = sorted(set(letters))
    tokens = np.array([alphabet.index(letter) for letter in letters])
    training, held_out = tokens[:280_000], tokens[280_000 : 280_000 + 16 * LENGTH].reshape(16, LENGTH)

    torch.manual_seed(0)
    model = GPT(len(alphabet))
    ladder = headway.ngrams(training, orders=4, vocab=len(alphabet))
    schedule = Schedule(growth=1.15, share=None)
    watch = Watch(model, probe=held_out, ladder=ladder, schedule=schedule, folder="runs", name="nano")

    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    data = torch.from_numpy(training)
    for step in range(steps):
        watch.step(step)
        starts = torch.randint(len(data) - LENGTH, (BATCH,)).tolist()
        batch = torch.stack([data[start : start + LENGTH + 1] for start in starts])
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    watch.finish(steps)
    print(f"closest to the {watch.stage}; the record is {watch.path}")


if __name__ == "__main__":
    main()
