# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # First look: attention learns in stages
#
# A small transformer learns a Markov chain in which the next token depends on the last six, in three *blocks*: the
# newest two tokens matter most, the next two less, the oldest two least. We watch it find one block after the other.
#
# Needs Headway: `pip install .` in a checkout (in Colab: upload or clone the repository, then `%pip install -q
# ./headway`). It takes under a minute on two CPU cores.

# %%
import headway

settings = headway.presets.minimal_quick().changed(training={"steps": 500, "batch": 250, "test_samples": 250})
record = headway.run(settings, seeds=2, quiet=True)
record

# %% [markdown]
# The **ladder**: every task brings an ordered list of reference predictors, its *rungs*, from knowing nothing to the
# truth. Here rung *i* knows the first *i* blocks. KL from each rung to the model shows what the model knows by when.

# %%
import matplotlib.pyplot as plt

steps = record.trajectory.times("kl_rungs")
kl = record.trajectory["kl_rungs"]  # (seed, evaluation, rung)

figure, axes = plt.subplots(figsize=(6, 3))
for rung in range(1, kl.shape[-1]):
    axes.plot(steps + 1, kl[0, :, rung], label=f"knows blocks 1 to {rung}")
axes.set(xscale="log", xlabel="training step", ylabel="KL(rung ‖ model), nats")
axes.legend()
figure.tight_layout()

# %% [markdown]
# A curve that falls and rises again is a model that came close to a simple predictor and then moved on. The steps at
# which each seed moved on:

# %%
[each.boundaries for each in headway.stages(record)]

# %% [markdown]
# Where do the heads attend? Attention of each head on each block (lags 1-2, 3-4, 5-6), at the end of training, seed
# 0:

# %%
from headway.analysis import mass_per_block

by_lag = record.trajectory["attention_by_lag"]  # (seed, evaluation, layer, head, lag)
mass_per_block(by_lag[0, -1, 0], settings.task.blocks).round(2)  # (head, block)

# %% [markdown]
# Everything at once, with a slider over training, in one self-contained page:

# %%
headway.page(record, "first_look.html")
