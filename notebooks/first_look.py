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
# # First look: attention learns in stages
#
# A small transformer learns a Markov chain in which the next token depends on the last six tokens. They form three
# *blocks* of two lags each: the newest block matters most, the oldest least. We watch the model learn one block after
# another. This takes under a minute on two CPU cores.
#
# The first cell installs Headway from a checkout of the repository if it is not installed yet. In Colab, clone or
# upload the repository into `headway/` first, or upload its wheel (`pip wheel --no-deps .`).

# %%
import importlib.util
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

found = [importlib.util.find_spec(name) for name in ("headway",)]
if None in [each and each.origin for each in found]:  # a folder of that name, such as the checkout, has no origin
    places = [place for place in (Path(".."), Path("headway")) if (place / "pyproject.toml").is_file()]
    places += sorted(Path().glob("headway-*.whl"))
    if not places:
        raise FileNotFoundError("Put a checkout of the repository into headway/, or its wheel beside this notebook.")
    what = str(places[0].resolve())
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", what], check=True)
    importlib.invalidate_caches()
    if any(name in sys.modules and sys.modules[name].__version__ != version(name) for name in ("numpy", "jax")):
        raise RuntimeError("Headway is installed, but an older NumPy or JAX is loaded: restart and run all cells.")

# %%
import headway

settings = headway.presets.minimal_quick().changed(training={"steps": 1000, "batch": 250, "test_samples": 250})
record = headway.run(settings, seeds=2, quiet=True)
record.trajectory["excess_loss"][:, -1].round(2)  # cross-entropy minus entropy at the last step, one number per seed

# %% [markdown]
# Every task has a **ladder**: an ordered list of reference predictors, its *rungs*, from knowing nothing to the truth.
# Here rung *i* knows the first *i* blocks. The KL divergence from each rung to the model shows which rung the model is
# close to at each step.

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
# Where a curve falls and rises again, the model came close to a simple predictor and then moved on. These are the
# steps at which each seed moved from one rung to the next:

# %%
[[round(step) for step in each.boundaries] for each in headway.stages(record)]

# %% [markdown]
# What do the heads attend to? This is the attention of each head to each block (lags 1-2, 3-4, 5-6) at the end of
# training, for seed 0:

# %%
from headway.analysis import mass_per_block

by_lag = record.trajectory["attention_by_lag"]  # (seed, evaluation, layer, head, lag)
mass_per_block(by_lag[0, -1, 0], settings.task.blocks).round(2)  # (head, block)

# %% [markdown]
# The page shows all of this, with a slider over training, in one self-contained file:

# %%
headway.page(record, "first_look.html")
