# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Vary and compare
#
# How strong must the hierarchy be for stages to appear? We vary the factor between the strengths of the blocks, then
# compare with what a GPU found at paper scale. Runs that exist on disk are found, not trained again.

# %%
import headway

settings = headway.presets.minimal_quick().changed(training={"steps": 400, "batch": 250, "test_samples": 250})
ratios = [1.2, 2.0]
records = headway.vary(settings, {"task.ratio": ratios}, seeds=2, quiet=True)

# %% [markdown]
# Both ratios trained side by side in one program. When did each seed move from the first rung to the second?

# %%
{ratio: [each.boundaries[:1] for each in headway.stages(record)] for ratio, record in zip(ratios, records, strict=True)}

# %% [markdown]
# The excess loss (cross-entropy minus that of the truth), every seed a line:

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3))
for ratio, record, colour in zip(ratios, records, ("tab:blue", "tab:orange"), strict=True):
    times = record.trajectory.times("excess_loss")
    for seed, curve in enumerate(record.trajectory["excess_loss"]):
        axes.plot(times + 1, curve, color=colour, label=f"ratio {ratio}" if seed == 0 else None)
axes.set(xscale="log", xlabel="training step", ylabel="excess loss, nats")
axes.legend()
figure.tight_layout()

# %% [markdown]
# A claim is a sentence and a judge. It is held against every seed, and the verdict comes from the numbers.

# %%
from headway.analysis import minima


def in_order(claim, results):
    """KL to rung 1 reaches its minimum before KL to rung 2."""
    (_, trajectory), *_ = results.values()
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"])
    return steps[:, 2] - steps[:, 1], steps[:, 2] > steps[:, 1]


claim = headway.Claim(
    "in order", "Rung 1 comes before rung 2.", "The minima of KL come in order.", "steps between", judge=in_order
)
for ratio, record in zip(ratios, records, strict=True):
    finding = claim.held_against({"run": (record.cell.settings, record.trajectory)})
    print(ratio, finding.verdict, finding.held, finding.values)
