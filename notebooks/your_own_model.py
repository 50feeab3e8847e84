# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your own PyTorch model
#
# `headway.telemetry` watches a PyTorch model while it trains. Here a small GPT learns English, letter by letter, in a
# plain training loop. Two added lines record its attention, head scores and distance to n-gram models. Training itself
# is not disturbed: losses and weights stay bit-identical. This takes under a minute on one CPU core.
#
# The first cell installs Headway and PyTorch from a checkout of the repository if they are not installed yet. In
# Colab, clone or upload the repository into `headway/` first, or upload its wheel (`pip wheel --no-deps .`).

# %%
import importlib.util
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

found = [importlib.util.find_spec(name) for name in ("headway", "torch")]
if None in [each and each.origin for each in found]:  # a folder of that name, such as the checkout, has no origin
    places = [place for place in (Path(".."), Path("headway")) if (place / "pyproject.toml").is_file()]
    places += sorted(Path().glob("headway-*.whl"))
    if not places:
        raise FileNotFoundError("Put a checkout of the repository into headway/, or its wheel beside this notebook.")
    what = f"{places[0].resolve()}[telemetry]"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", what], check=True)
    importlib.invalidate_caches()
    if any(name in sys.modules and sys.modules[name].__version__ != version(name) for name in ("numpy", "jax")):
        raise RuntimeError("Headway is installed, but an older NumPy or JAX is loaded: restart and run all cells.")

# %% [markdown]
# The text is Python's own documentation. The model is trained on most of it; the *probe*, on which everything is
# measured, is held out.

# %%
from pydoc_data.topics import topics

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)  # so small a model is faster on one thread
letters = "".join(topics.values())[:200_000]
alphabet = sorted(set(letters))
tokens = np.array([alphabet.index(letter) for letter in letters])
LENGTH = 64
training, probe = tokens[:-1024], tokens[-1024:].reshape(16, LENGTH)


class GPT(nn.Module):
    def __init__(self, vocab, width=64, heads=4, layers=2):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(2 * LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.readout = nn.Linear(width, vocab)

    def forward(self, tokens):
        length = tokens.shape[1]
        stream = self.tokens(tokens) + self.positions.weight[:length]
        causal = nn.Transformer.generate_square_subsequent_mask(length)
        return self.readout(self.layers(stream, mask=causal, is_causal=True))


# %% [markdown]
# The ladder is made of n-gram models of the training text: its rungs are uniform, unigram, bigram, trigram and 4-gram.
# The two lines that watch are `watch.step(step)` and `watch.finish(STEPS)`.

# %%
import headway
from headway.telemetry import Schedule, Watch

STEPS, BATCH = 400, 16
torch.manual_seed(0)
model = GPT(len(alphabet))
ladder = headway.ngrams(training, orders=4, vocab=len(alphabet))
watch = Watch(model, probe=probe, ladder=ladder, schedule=Schedule(growth=1.2, share=None), folder="runs")

optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = torch.from_numpy(training)
for step in range(STEPS):
    watch.step(step)
    starts = torch.randint(len(data) - LENGTH, (BATCH,)).tolist()
    batch = torch.stack([data[start : start + LENGTH + 1] for start in starts])
    loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
watch.finish(STEPS)

# %% [markdown]
# The watch wrote an ordinary record. Its KL from each rung to the model shows that the model is closest to the unigram
# first, then to the bigram, and then to the trigram:

# %%
import matplotlib.pyplot as plt

record = headway.load(watch.path)
steps, kl = record.trajectory.times("kl_rungs"), record.trajectory["kl_rungs"][0]  # (evaluation, rung)
rungs = ["uniform", "unigram", "bigram", "trigram", "4-gram"]

figure, axes = plt.subplots(figsize=(6, 3))
for rung, curve in zip(rungs, kl.T, strict=True):
    axes.plot(steps + 1, curve, label=rung)
axes.set(xscale="log", xlabel="training step", ylabel="KL(rung ‖ model), nats")
axes.legend()
figure.tight_layout()

# %% [markdown]
# The steps at which the model moved from one rung to the next, and the rung that is closest at the end:

# %%
[round(step) for step in headway.stages(record)[0].boundaries], rungs[int(kl[-1].argmin())]

# %% [markdown]
# What do the heads do? Mean attention from each token to the token before it, before training and at the end:

# %%
previous = record.trajectory["head_scores/previous_token"][0]  # (evaluation, layer, head)
print("step 0:\n", previous[0].round(2))
print(f"step {STEPS}:\n", previous[-1].round(2))

# %% [markdown]
# Other scores (induction, duplicate token, copying, entropy) are in `record.trajectory` under `head_scores/`. The page
# shows all of them, in one self-contained file:

# %%
headway.page(record, "your_own_model.html")
