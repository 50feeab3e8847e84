"""Sub-n-grams (Varre et al. 2025): loss, attention and gradient norm beside the losses of shorter n-grams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.sub_n_grams import (
    CLOSE,
    LOOKS,
    PEAK,
    UNIFORM,
    farthest_before_between,
    gradient_peaks_between_plateaus,
    gradient_peaks_in_drops,
    heads_by_stage,
    waits_at_rungs,
)
from headway.experiments.experiment import Experiment, headline
from headway.tasks.sub_n_grams import SubNGrams
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMPLE = SimpleSubNGrams.usual()
TRANSFORMER = SubNGrams.usual()


def _runs(length: int, grams: int, **changes: Any) -> dict[str, Any]:
    """Figure 1's rungs fit three symbols and 4-grams; Figure 2's plateau fits alpha = 1."""
    simple, transformer = SIMPLE.changed(**changes), TRANSFORMER.changed(**changes)
    wide = {"head_width": length + transformer.task.symbols}
    return {
        "trigrams": simple.changed(task={"length": length}),
        f"{grams}-grams": simple.changed(task={"length": length, "symbols": 3, "grams": grams}),
        "trigrams, 32 tokens": simple.changed(task={"alpha": 1.0}),
        "trigrams, transformer": transformer.changed(task={"length": length}, model=wide),
    }


_SLOW = {
    "training": {"learning_rate": TRANSFORMER.training.learning_rate},
    "evaluation": {"every": 200, "growth": 0.0},  # no plateau is shorter than that
}


GRIDS = {
    # Ours: shorter, fewer tested.
    "quick": _runs(32, 3, training={"steps": 1500, "test_samples": 512}, evaluation={"every": 25, "snapshots": 6}),
    # Ours: also at a tenth of the rate.
    "paper": {**_runs(128, 4), "trigrams, rate 0.001": SIMPLE.changed(task={"length": 128}, **_SLOW)},
}


def _simple(settings: Any) -> bool:
    """The model that the task brings, at the rate of the figures."""
    return settings.model is None and not _slow(settings)


def _long(settings: Any) -> bool:
    return _simple(settings) and settings.task.alpha != 1


def _short(settings: Any) -> bool:
    return _simple(settings) and settings.task.alpha == 1


def _of_four(settings: Any) -> bool:
    return _long(settings) and settings.task.grams == 4


def _transformer(settings: Any) -> bool:
    return settings.model is not None


def _slow(settings: Any) -> bool:
    return settings.model is None and settings.training.learning_rate != SIMPLE.training.learning_rate


_CREEPS = """
Trigrams: all ten seeds have a plateau within 0.005 nats of the bigram's loss; that of the unigram, at which the loss
stays for about a hundred steps in every seed, counts as a plateau in four. At a tenth of the rate, evaluated every 200
steps, both do in all ten. 4-grams: seven seeds have plateaus within 0.007 nats of unigram and bigram, but 0.011 to
0.039 from the trigram: a head attends to the third-to-last token before any attends to the second-to-last (V2 4-grams).
In the three others the last part of the descent is so slow that no earlier plateau is long by comparison."""
_PASSED_OVER = """
The unigram has its plateau in seven of ten seeds, within 0.006 nats. The bigram has none: its loss is passed within a
few hundred steps while one head turns to the token before and the other to the one before that, and at the end they
attend there with 0.94 to 0.97 (V2 transformer). The simple model, in which heads are free scores, waits there."""
_HEADS = """
After 16 000 steps the bigram is the nearest rung in all ten seeds. In nine the largest attention to the previous token
is 0.33 to 0.48; one has both heads (0.53 and 0.58). With one setting changed: with alpha = 0.5 one of two seeds passes
the bigram, with heads at 0.73 on the previous token and 0.35 on the one before; the other stays, with 0.44 (a CPU, not
stored). With 128 tokens as well, nine of ten pass it (V2 128 tokens)."""
_SHARED = """
Nine of ten seeds pass the bigram; in five of them each lag has a head at the end, in the others a head divides its
attention between two lags. On the bigram's plateau three seeds have no head above the bound: 0.43 to 0.48 on the
previous token."""
_AT_ONCE = """
At the end each of the two tokens has its head, in all ten seeds. Before that heads do not wait: one turns to the
previous token 200 to 415 steps before the other turns to the one before (attention of 0.5). Where the bigram is the
nearest rung the first has 0.3 to 0.5, and in six of ten the other has begun to turn (0.22 to 0.27)."""
_NO_PEAK = """
In none of the drops that occur does the norm rise to 1.5 times its value beside the drop (0.85 to 1.36). The last drop
does not get to nine tenths: the model mixes the tokens seen so far and adds no pseudo-count, so that it ends 0.02 to
0.1 nats above the n-gram, one seed of trigrams at the bigram. V3 own plateaus says what a batch's norm is made of."""
_BATCH = """
A batch's gradient is mostly noise. With one thing changed, the number of sequences: the mean gradient of 4096, taken
along such a training, has a norm of 0.02 instead of 0.07. In the first drop it does not rise either, nor does it at a
tenth of the rate; in the second it rises to 0.05, 2.6 times what it was before the drop, but it stays there: 1.3 times
what comes after (one seed of trigrams, 2500 steps; a CPU, not stored). What does rise tenfold in both drops is a small
part of it, the gradient of layer 1's scores: from 0.0003 to 0.003, and from 0.003 to 0.03. Where the norm vanishes by
itself is what V4 measures."""

_V1_RUNS = "Simple model, 128 tokens, trigrams with a vocabulary of 5 and 4-grams with one of 3"
V1 = Claim(
    "V1",
    title="the loss has plateaus at the best shorter n-grams (simple model)",
    statement="""The loss has plateaus at the losses of shorter n-grams, in order (Figure 1).""",
    definition=f"""{_V1_RUNS}: for every k below n a plateau of the test loss (`stages_from_loss`) lies within
    {CLOSE:g} nats of the k-gram's with its best pseudo-count, and plateaus of larger k come later.""",
    quantity="largest distance of a rung below n from its plateau, in nats",
    about=_long,
    judge=of_runs(waits_at_rungs),
    reasons={"paper": _CREEPS},
)


def _v1_of(runs: str, about: Callable[[Any], bool], which: str, statement: str, reason: str) -> Claim:
    """V1 of other runs."""
    return V1.called(
        f"V1 {runs}",
        statement,
        title=f"the loss has plateaus at the best shorter n-grams ({runs}{', ours' if 'Ours' in statement else ''})",
        definition=V1.definition.replace(_V1_RUNS, which),
        about=about,
        judge=of_runs(waits_at_rungs),
        reasons={"paper": reason} if reason else {},
    )


V2 = Claim(
    "V2",
    title="one head after another attends one token further back (32 tokens)",
    statement="""Heads of layer 1 are uniform on the first plateau; on the second, one attends to the previous
    token; at the end, one attends one token back and one two tokens back (Figure 2).""",
    definition=f"""Simple model, trigrams, 32 tokens, alpha = 1: in the middle of the evaluations at which the
    unigram is the nearest rung every head's distance from uniform attention is at most {UNIFORM:g}; in the middle
    of those of the bigram some head has a mean attention of {LOOKS:g} or more to the previous token, and none to
    the one before that; at the end each of the two has such a head.""",
    quantity="how many parts hold",
    about=_short,
    judge=of_runs(heads_by_stage),
    reasons={"paper": _HEADS},
)
V3 = Claim(
    "V3",
    title="the gradient norm is small on plateaus and peaks in drops",
    statement="The norm of the gradient is low on plateaus and peaks in the drops between them.",
    definition=f"""Simple model, 128 tokens: in every drop from one k-gram's loss to the next, from a tenth to nine
    tenths of it, the largest norm of a batch's gradient (running medians of five evaluations) is at least {PEAK:g}
    times the larger of the medians on the plateaus before and after.""",
    quantity="""largest norm in a drop, relative to the larger of the norms on the plateaus beside it; the smallest over
    drops""",
    about=_long,
    judge=of_runs(gradient_peaks_in_drops),
    reasons={"paper": _NO_PEAK},
)


def draw(results: Results) -> dict[str, Figure]:
    """Loss with its rungs, heads of layer 1 and the gradient's norm, run by run."""
    from headway.report.figures.in_context import figure_sub_n_grams

    return {"sub-n-grams": figure_sub_n_grams(results)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        V1,
        _v1_of(
            "transformer",
            _transformer,
            "Transformer, 128 tokens, learning rate 0.001",
            "In a transformer trained on trigrams, the loss has plateaus at the losses of shorter n-grams, in order.",
            _PASSED_OVER,
        ),
        _v1_of(
            "simple model, rate 0.001",
            _slow,
            "Simple model, trigrams, 128 tokens, learning rate 0.001",
            "With a tenth of the learning rate, trained on trigrams, the loss has plateaus at the losses of shorter "
            "n-grams, in order. (Ours.)",
            "",
        ),
        V2,
        V2.called(
            "V2 128 tokens",
            "As V2, with 128 tokens and alpha = 0.5.",
            title="one head after another attends one token further back (128 tokens)",
            definition=V2.definition.replace("32 tokens, alpha = 1", "128 tokens, alpha = 0.5"),
            about=lambda settings: _long(settings) and settings.task.symbols == SIMPLE.task.symbols,
            judge=of_runs(heads_by_stage),
            reasons={"paper": _SHARED},
        ),
        Claim(
            "V2 4-grams",
            title="with 4-grams, a head attends three tokens back before one attends two back (ours, post hoc)",
            statement="""With 4-grams, heads leave out a token: one attends three tokens back before any attends two
            back. (Ours, post hoc: found in these runs.)""",
            definition=f"""Simple model, 4-grams, 128 tokens: some head of layer 1 has a mean attention of {LOOKS:g} or
            more to the token three back at an earlier evaluation than any has to the token two back.""",
            quantity="step at which a head first attends three tokens back",
            about=_of_four,
            judge=of_runs(farthest_before_between),
        ),
        V2.called(
            "V2 transformer",
            "In a transformer, heads of layer 1 are uniform at first, then one attends to the previous token, and at "
            "the end one attends one token back and one two tokens back. (Ours.)",
            title="one head after another attends one token further back (transformer, ours)",
            definition=V2.definition.replace("Simple model, trigrams, 32 tokens, alpha = 1", "Transformer, trigrams"),
            about=_transformer,
            judge=of_runs(heads_by_stage),
            reasons={"paper": _AT_ONCE},
        ),
        V3,
        V3.called(
            "V3 own plateaus",
            "The norm of the gradient is low on the plateaus that the loss has, wherever they lie, and peaks in the "
            "drops between them. (Ours.)",
            title="the gradient norm is small on the loss's own plateaus and peaks in drops (ours)",
            definition=V3.definition.replace(
                "from one k-gram's loss to the next", "from one plateau of the loss (`stages_from_loss`) to the next"
            ),
            about=_long,
            judge=of_runs(gradient_peaks_between_plateaus),
            reasons={"paper": _BATCH},
        ),
    ),
    figures=draw,
)
