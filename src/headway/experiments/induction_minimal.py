"""Statistical induction with k^2 + T parameters (Edelman et al. 2024): loss, W and v over training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.in_context import NEAR, diagonal_first
from headway.experiments.experiment import Experiment, headline
from headway.tasks.minimal_induction import MinimalInduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL = MinimalInduction.usual()
_QUICK = USUAL.changed(training={"steps": 600, "test_samples": 256})


def _runs(base: Any) -> dict[str, Any]:
    """As printed, and as the published code has it: without a mask in layer 1."""
    return {
        "2 states": base,
        "3 states": base.changed(task={"states": 3}),
        "2 states, not masked": base.changed(task={"masked": False}),
    }


GRIDS = {"quick": _runs(_QUICK), "paper": _runs(USUAL)}


def _masked(settings: Any) -> bool:
    return settings.task.states == 2 and settings.task.masked


def _unmasked(settings: Any) -> bool:
    return settings.task.states == 2 and not settings.task.masked


E7 = Claim(
    "E7",
    title="minimal model: the diagonal of W grows before v, odd distances before even (masked)",
    statement="""In the minimal model W's diagonal grows before v_1, and on the plateau v_1 and v_3 exceed their even
    neighbours.""",
    definition=f"""With two states, masked as printed: the mean of W's diagonal less the mean of the rest has
    covered half of the distance to its largest value before v_1 has; and over the evaluations at which
    KL(truth || model) is within
    {NEAR:.0%} of the unigram's, the medians of v fulfil v_1 > v_0, v_2 and v_3 > v_2, v_4.""",
    quantity="time at which v_1 has made half of its way, relative to that of the diagonal of W",
    about=_masked,
    judge=of_runs(diagonal_first),
)


def draw(results: Results) -> dict[str, Figure]:
    """W and v over training with what theory says of their first steps."""
    from headway.report.figures.in_context import figure_minimal
    from headway.theory.induction import codes_at_first, first_push_on_gains, gains_at_first, matrices, shape_of_codes

    settings, trajectory = results["2 states"]
    task, training = settings.task, settings.training
    chains = matrices(task.states, 20_000)
    rates = {name: training.learning_rate * factor for name, factor, _ in training.groups}
    gains = gains_at_first(
        trajectory.times("gain_same").astype(float), first_push_on_gains(chains), task.start, rates["W"], task.length
    )
    distances = trajectory["codes"].shape[-1]
    shapes = {
        words: codes_at_first(shape_of_codes(chains, distances, words), 1.0, training.learning_rate, task.length)
        for words in ("uniform", "unigram")
    }
    return {"minimal": figure_minimal(results, gains[:, 0, 0], shapes)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        E7,
        E7.called(
            "E7 not masked",
            "Without a mask, as in the published code, the diagonal of W also grows before v_1, and v_1 and "
            "v_3 also exceed their even neighbours.",
            title="minimal model: the diagonal of W grows before v, odd distances before even (not masked)",
            definition=E7.definition.replace("masked as printed", "not masked"),
            about=_unmasked,
            judge=of_runs(diagonal_first),
        ),
    ),
    figures=draw,
)
