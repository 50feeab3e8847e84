"""Paper A, Figure 5: stages and early stopping, for several sizes of the training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.data import choosing_the_length_pays, early_stopping_picks_the_rung, fewer_samples_fewer_stages
from headway.claims.stopping import stops_near_the_best_step, trains_less_than_patience
from headway.experiments.experiment import Experiment, headline
from headway.presets import FEW_SEEDS, MINIMALS, beside_ngrams, curves, pictures
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"quick": (100, 200, 400, 1000, 3000), "printed": (200, 400, 600, 1000, 2000, 3000, 4000, 6000, 9000)}
SIZES["as-run"] = SIZES["printed"]  # as run; the paper does not print them
FRESH = "fresh data"
SHOWN = (600, 2000, 9000), (200, 1000, 3000)
"""Sizes whose ladders Figure 5 shows, before fresh data; the second where the first are not there."""


def _name(size: int) -> str:
    return f"{size} samples"


TWO_RUNGS_AT_MOST = """
At the printed learning rate of 0.003 hardly any seed gets beyond the second rung, however much data there is. Fewer
samples can then remove few stages."""

STOPPED_WITHIN = 0.02
"""Nats that stopping early may lose."""
EQUAL = 1e-3
"""Nats by which losses may differ that count as equal."""


def _sees_everything(settings: Settings) -> bool:
    return settings.task.context is None


A9 = Claim(
    "A9",
    title="fewer samples, fewer stages",
    statement="""With fewer samples there are fewer stages: below a critical size of the training set a stage does
    not occur.""",
    definition="""With the same seed, the number of stages of the ladder, on the test sequences, never decreases from
    one size to the next larger one (fresh data count as the largest), and is smaller for the smallest
    size than for the largest.""",
    quantity="stages with the largest size minus those with the smallest",
    about=_sees_everything,
    judge=of_runs(fewer_samples_fewer_stages),
    reasons={"printed": TWO_RUNGS_AT_MOST},
)
A10 = Claim(
    "A10",
    title="early stopping selects a rung",
    statement="Early stopping selects the rung: with a small training set, the step of the lowest validation loss lies "
    "on a lower rung.",
    definition="""With the same seed, the stage of the ladder at the step of the lowest validation loss
    never decreases from one size to the next larger one, and is lower for the smallest size than for the largest.""",
    quantity="stage at the step of the lowest validation loss, largest size minus smallest",
    about=_sees_everything,
    judge=of_runs(early_stopping_picks_the_rung),
    reasons={"printed": TWO_RUNGS_AT_MOST},
)
A10_ADAPTIVE = Claim(
    "A10 adaptive",
    title="choosing the context length beats early stopping (ours)",
    statement="""With little data, choosing the context length by validation beats early stopping of a model that
    sees the whole context. (Ours; the paper hints at this gain.)""",
    definition="""For every size: n-gram models of all lengths are stopped at their own best step, and the one with
    the lowest loss on the even test sequences is chosen. Its excess loss on the odd test sequences is compared with
    that of the model that sees the whole context, stopped in the same way. The claim holds for a seed if the mean
    difference over the sizes up to the batch size favours the chosen model.""",
    quantity="excess loss of early stopping minus that of the chosen model, mean over the small sizes, in nats",
    about=lambda settings: settings.training.data == "finite",
    judge=of_runs(choosing_the_length_pays),
)
# Rule and definitions were written after two of the ten seeds of the as-run grid had been looked at, at every size,
# and before the other eight, and the printed grid.
A10_STOPPING = Claim(
    "A10 stopping",
    title="an early-stopping rule without the truth stops near the best step (ours)",
    statement="""A rule that sees only the held-out loss and what heads attend to stops near the best step, on
    average over sizes: it waits in proportion to time, for less time once heads have specialised, and not at all once
    the loss has risen by a tenth of its fall. (Ours.)""",
    definition=f"""The rule is `stop_by_stages` with its defaults, on the loss of the even test
    sequences and the overlap of the heads' attention by lag. What is kept is the best step until it
    stops. Its excess loss on the odd test sequences minus the lowest of all steps there, in the
    mean over sizes, is at most {STOPPED_WITHIN:g} nats.""",
    quantity="excess loss over the best step in hindsight, mean over sizes, in nats",
    about=_sees_everything,
    judge=of_runs(stops_near_the_best_step, within=STOPPED_WITHIN),
)
A10_PATIENCE = Claim(
    "A10 patience",
    title="stopping by stages trains less than any fixed patience that is as good (ours)",
    statement="""A fixed patience that loses as little as the rule of "A10 stopping" trains for longer, even if it is
    chosen in hindsight; one that may lose more can train for less. (Ours.)""",
    definition=f"""The fixed patience, one for all sizes and seeds, is the shortest of 10, 20, .. 2000 steps that
    loses no more than the rule, to {EQUAL:g} nats, in the mean over sizes and seeds. The claim holds for a seed if that
    patience trains for more steps in all than the rule.""",
    quantity="steps of the patience over steps of the rule, summed over sizes",
    about=_sees_everything,
    judge=of_runs(trains_less_than_patience, tolerance=EQUAL),
)


def _runs(grid: str) -> dict[str, Settings]:
    """Every size; and, for sets no larger than a batch, the n-gram models among which validation may choose."""
    base = MINIMALS[grid]()
    runs = {}
    for size in SIZES[grid]:
        sized = curves(base).changed(training={"samples": size})
        few = size < base.training.batch
        runs[_name(size)] = beside_ngrams(sized) if few else sized
        if few:
            beside = runs[_name(size)]
            runs |= {f"{_name(size)}, n-gram model, c = {each.task.context}": each for each in beside.references}
    # What the paper compares with: the n-gram models of the whole training set.
    if grid != "quick":
        runs[_name(base.training.samples)] = beside_ngrams(base)
    runs[FRESH] = pictures(base).changed(training={"data": "fresh"})
    return runs


def draw(results: Results) -> dict[str, Figure]:
    """Figure 5; what the choice of a length gains; where rules stop that do not know the truth."""
    from headway.report.figures import figure_choice, figure_sizes
    from headway.report.figures.stopping import figure_stopping

    whole = {name: run for name, run in results.items() if _sees_everything(run[0])}
    choices = [[*map(_name, sizes), FRESH] for sizes in SHOWN]
    shown = next(names for names in choices if whole.keys() >= set(names))
    return {
        "figure-5": figure_sizes(whole, shown=shown),
        "choice": figure_choice(results),
        "stopping": figure_stopping(list(whole.values()), EQUAL),
    }


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in MINIMALS},
    seeds=FEW_SEEDS,
    claims=(A9, A10, A10_ADAPTIVE, A10_STOPPING, A10_PATIENCE),
    figures=draw,
)
