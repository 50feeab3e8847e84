"""Checkpoints of a training that nobody watched, measured afterwards: the same record.

    python checkpoints.py          # trains for half a minute, saves out/step*.pt, and measures them

`headway measure out/step*.pt --builder checkpoints.py --probe probe.npy --ngrams training.npy` is what its last line
does: this file is also the builder, because it has a function build().
"""

import argparse
import subprocess
import sys
from pathlib import Path
from pydoc_data.topics import topics  # 700 kB of English that comes with Python

import numpy as np
import torch
from torch import nn

LENGTH, VOCAB = 64, 128


class Model(nn.Module):
    """PyTorch's own layers."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
        self.tokens, self.positions = nn.Embedding(VOCAB, 64), nn.Embedding(2 * LENGTH, 64)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, VOCAB, bias=False)

    def forward(self, tokens):
        stream = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        past = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.layers(stream, mask=past, is_causal=True))


def build():
    return Model()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    steps = parser.parse_args().steps

    tokens = np.frombuffer("".join(topics.values()).encode("ascii", "ignore"), np.uint8).astype(np.int64)[:300_000]
    np.save("training.npy", tokens[:-1024])
    np.save("probe.npy", tokens[-1024:].reshape(16, LENGTH))
    data = torch.from_numpy(tokens[:-1024])

    torch.manual_seed(0)
    model = build()
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    Path("out").mkdir(exist_ok=True)
    kept = {0, steps, *np.geomspace(1, steps, 16).astype(int).tolist()}
    for step in range(steps + 1):
        if step in kept:
            torch.save(model.state_dict(), f"out/step{step}.pt")
        starts = torch.randint(len(data) - LENGTH, (16,)).tolist()
        batch = torch.stack([data[start : start + LENGTH + 1] for start in starts])
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()

    files = [str(path) for path in Path("out").glob("step*.pt")]
    tokens = ["--probe", "probe.npy", "--ngrams", "training.npy", "--orders", "4"]
    command = [sys.executable, "-m", "headway", "measure", *files, "--builder", __file__, *tokens]
    raise SystemExit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
