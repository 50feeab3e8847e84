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
# # Vary and compare
#
# Is the nearest block of past tokens always learnt first, or only where it matters most? We vary the ratio between the
# strengths of neighbouring blocks: above 1 the nearest block is the strongest, below 1 the weakest. Then we compare the
# runs and test a claim on every seed. This takes about a minute on two CPU cores.
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

settings = headway.presets.minimal_quick().changed(training={"steps": 500, "batch": 250, "test_samples": 250})
ratios = [0.8, 1.2]
records = headway.vary(settings, {"task.ratio": ratios}, seeds=2, quiet=True)

# %% [markdown]
# Both ratios were trained side by side in one program. A run that is already on disk is loaded, not trained again.
# Rung k knows the k nearest blocks. Which rungs did each seed pass, and at which steps did it move to the next?

# %%
for ratio, record in zip(ratios, records, strict=True):
    for seed, stages in enumerate(headway.stages(record)):
        steps = [round(step) for step in stages.boundaries]
        print(f"ratio {ratio}, seed {seed}: rungs {stages.rungs}, next rung at steps {steps}")

# %% [markdown]
# Where the nearest block is the weakest, rung 1 is left out. KL to rung 1, which knows only that block, one line per
# seed:

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3))
for ratio, record, colour in zip(ratios, records, ("tab:blue", "tab:orange"), strict=True):
    times = record.trajectory.times("kl_rungs")
    for seed, curve in enumerate(record.trajectory["kl_rungs"][:, :, 1]):
        axes.plot(times + 1, curve, color=colour, label=f"ratio {ratio}" if seed == 0 else None)
axes.set(xscale="log", xlabel="training step", ylabel="KL to rung 1, nats")
axes.legend()
figure.tight_layout()

# %% [markdown]
# With the ratio 1.2 it falls, then rises again: the model passes rung 1. With 0.8 it never falls below its initial
# value.
#
# A claim is a statement with a judge: a function that says for every seed whether the statement holds, and measures
# one number. The verdict follows from all seeds.

# %%
from headway.analysis import minima


def nearest_first(claim, results):
    """KL to rung 1 falls, and reaches its minimum before KL to rung 2."""
    (_, trajectory), *_ = results.values()
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"])
    return steps[:, 1], (steps[:, 1] > 0) & (steps[:, 1] < steps[:, 2])


claim = headway.Claim(
    "nearest first",
    statement="The nearest block is learnt first.",
    definition="KL to rung 1 reaches its minimum after step 0 and before KL to rung 2 does.",
    quantity="step at which KL to rung 1 reaches its minimum",
    judge=nearest_first,
)
for ratio, record in zip(ratios, records, strict=True):
    finding = claim.held_against({"run": (record.cell.settings, record.trajectory)})
    print(f"ratio {ratio}: {finding.verdict}, {sum(finding.holds)} of {len(finding.holds)} seeds;", finding.values)

# %% [markdown]
# So the nearest block is learnt first where it is the strongest, not where it is the weakest.
