"""Real text: KL to n-grams, and attention by lag, over training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.competition import HUMP
from headway.claims.text import (
    AS_SOON,
    CLOSE,
    FORMED,
    LONGER,
    REMAINS,
    by_information,
    in_order,
    induction_after_previous,
    information_predicts_when,
    lags_not_taken_up,
    lags_vanish,
    nearer_than_by_confidence,
    not_by_distance,
    sooner_with_depth,
    together_then_apart,
    waits_without_shortcut,
)
from headway.experiments.experiment import Experiment, headline
from headway.tasks.text import Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL = Text.usual()
LONG = 256
"""The longer context; the other has 64 tokens."""
BPE = {"tokeniser": "bpe", "vocab": 512, "orders": 5}
COMPARED = {"task": {"lags": 4}, "evaluation": {"comparisons": True}}
"""Skip-grams stand beside one run of each text."""
INTERLEAVED = 2
SHUFFLED, WIDE = 4, 32
"""Windows in which tokens are shuffled: in the smaller, near tokens stay near."""
OPTIMISERS = {
    "Muon": {"optimiser": "muon", "learning_rate": 0.02, "weight_decay": 0.0},
    "SGD": {"optimiser": "sgd", "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.0},
}


def _texts(base: Any, texts: tuple[str, ...], characters: int) -> dict[str, Any]:
    """Each text in characters and in byte pairs."""
    found = {}
    for text in texts:
        found[f"{text}, characters"] = base.changed(task={"text": text, "vocab": characters})
        found[f"{text}, BPE"] = base.changed(task={"text": text, **BPE})
    return found


def _variants(name: str, run: Any) -> dict[str, Any]:
    """With an MLP, woven, and shuffled."""
    return {
        f"{name}, MLP": run.changed(model={"mlp": 4 * run.model.width}),
        f"{name}, interleaved": run.changed(task={"interleaved": INTERLEAVED}),
        f"{name}, interleaved, 1 layer": run.changed(task={"interleaved": INTERLEAVED}, model={"layers": 1}),
        f"{name}, shuffled": run.changed(task={"shuffled": SHUFFLED}),
        f"{name}, shuffled in windows of {WIDE}": run.changed(task={"shuffled": WIDE}),
    }


def _depths(name: str, run: Any, layers: tuple[int, ...]) -> dict[str, Any]:
    return {
        f"{name}, {count} layer{'s' if count > 1 else ''}": run.changed(model={"layers": count}) for count in layers
    }


def _quick() -> dict[str, Any]:
    """Ours: narrower, with a larger rate."""
    base = USUAL.changed(
        task={"probes": 32},
        model={"width": 64},
        training={"learning_rate": 3e-3, "batch": 32, "steps": 500, "test_samples": 32},
        evaluation={"points": 50, "snapshots": 8},
    )
    runs = _texts(base, ("speeches",), 96)
    first, run = next(iter(runs.items()))
    return runs | {first: run.changed(**COMPARED), **_variants(first, run), **_depths(first, run, (1,))}


def _paper() -> dict[str, Any]:
    base = USUAL.changed(training={"precision": "tf32"}, evaluation={"points": 60})
    runs = _texts(base, ("speeches", "enwik8"), 128)
    found: dict[str, Any] = {}
    for name, run in runs.items():
        long = {"length": LONG, "probes": 32}
        found |= {name: run.changed(**COMPARED), **_variants(name, run), **_depths(name, run, (1, 3, 4))}
        found[f"{name}, {LONG} tokens"] = run.changed(task=long, training={"test_samples": 32})
        found[f"{name}, {LONG} tokens, MLP"] = run.changed(
            task=long, model={"mlp": 4 * run.model.width}, training={"test_samples": 32}
        )
    first = runs["speeches, characters"]
    return found | {f"speeches, {name}": first.changed(training=change) for name, change in OPTIMISERS.items()}


GRIDS = {"quick": _quick(), "paper": _paper()}


def _lacks(runs: Mapping[str, Any]) -> str:
    """The first text, or the package for byte pairs, that is not here."""
    from headway.corpora.texts import TEXTS
    from headway.corpora.tokens import lacks_byte_pairs

    tasks = [run.task for run in runs.values()]
    found = [TEXTS[text].lacks() for text in dict.fromkeys(task.text for task in tasks) if text in TEXTS]
    if any(task.tokeniser == "bpe" for task in tasks):
        found.append(lacks_byte_pairs())
    return next(filter(None, found), "")


def _is_text(settings: Any) -> bool:
    """As it is, neither shuffled nor woven."""
    return settings.task.shuffled == settings.task.interleaved == 1


def _trained_as_usual(settings: Any) -> bool:
    return settings.training.optimiser == "adamw" and not _long(settings)


def _attends_only(settings: Any) -> bool:
    return settings.model.mlp == 0


def _main(settings: Any) -> bool:
    """Two layers of attention alone, on a text as it is."""
    usual = _trained_as_usual(settings) and settings.model.layers == 2
    return usual and _attends_only(settings) and _is_text(settings)


def _with_mlp(settings: Any) -> bool:
    return _trained_as_usual(settings) and not _attends_only(settings)


def _long(settings: Any) -> bool:
    return settings.task.length == LONG


def _otherwise(settings: Any) -> bool:
    return settings.training.optimiser != "adamw"


def _woven(settings: Any) -> bool:
    return settings.task.interleaved > 1 and settings.model.layers > 1


def _woven_one_layer(settings: Any) -> bool:
    return settings.task.interleaved > 1 and settings.model.layers == 1


def _shuffled(settings: Any) -> bool:
    return settings.task.shuffled == SHUFFLED


def _wide(settings: Any) -> bool:
    return settings.task.shuffled == WIDE


def _of_law(settings: Any) -> bool:
    return _main(settings) or _shuffled(settings) or _woven(settings)


def _deep(settings: Any) -> bool:
    return _trained_as_usual(settings) and _attends_only(settings) and _is_text(settings)


N1 = Claim(
    "N1",
    title="KL to the n-grams reaches its minima in order",
    statement="A model of real text passes unigrams, bigrams, trigrams and longer n-grams in this order.",
    definition="""In every text, with b_n the step at which KL(n-gram || model) on held-out text reaches its minimum:
    b_1 < b_2 < b_3, and no higher order has its minimum before a lower one.""",
    quantity="smallest ratio of successive steps among b_1, b_2, b_3",
    about=_main,
    judge=of_runs(in_order),
)
N3 = Claim(
    "N3",
    title="attention takes up lags in the order of their information",
    statement="""Attention takes up lags in the order of their information about the next token, given the nearer
    lags, measured in the corpus.""",
    definition="""A lag is taken up when the attention of the head that attends to it most has risen half-way from its
    initial to its largest value. Of the lags 2, 3 and 4 (lag 1 is the newest token, which the residual path carries),
    the one with more information is taken up earlier, in every text.""",
    quantity="smallest ratio of the steps at which two successive lags are taken up",
    about=_main,
    judge=of_runs(by_information),
)
DISTANCE = Claim(
    "N3 distance",
    title="a far lag with information gets more attention than a nearer one without",
    statement="A nearer lag without information is attended to less than a farther one with information.",
    definition="""In every text, interleaved from two sequences, the largest attention of any head to lag 4 at the end
    of training exceeds the largest attention of any head to lag 3.""",
    quantity="attention to lag 4 relative to that to lag 3",
    about=_woven,
    judge=of_runs(not_by_distance),
)
N4 = Claim(
    "N4",
    title="heads share lags, then specialise",
    statement="Heads first attend to the same lag, and then specialise.",
    definition=f"""In every text the chance that two heads of the last layer, each picking one of the 8 nearest
    lags by its attention, pick the same one rises by more than {HUMP} above its start, and falls by more than
    {HUMP} from its largest value to the end.""",
    quantity="fall of the chance that two heads pick the same lag, from its largest value to the end",
    about=_main,
    judge=of_runs(together_then_apart),
)
CLAIMS = (
    N1,
    N1.called(
        "N1 MLP",
        "A model with an MLP also passes unigrams, bigrams, trigrams and longer n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (with an MLP)",
        about=_with_mlp,
        judge=of_runs(in_order),
    ),
    N1.called(
        "N1 256 tokens",
        "With a context of 256 tokens, with and without an MLP, a model also passes the n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (256 tokens)",
        about=_long,
        judge=of_runs(in_order),
    ),
    N1.called(
        "N1 optimisers",
        "Trained with Muon or with SGD, a model also passes the n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (Muon, SGD)",
        about=_otherwise,
        judge=of_runs(in_order),
    ),
    Claim(
        "N2",
        title="the n-grams are approached more closely than by confidence alone",
        statement="A model comes closer to unigrams, bigrams and trigrams than one that only grows in confidence.",
        definition="""In every text and for n = 1, 2, 3, KL(n-gram || model) falls below 0.99 of the smallest value that
        KL(n-gram || softmax(s z)) takes over s, where z are the same model's logits at the end of training.""",
        quantity="largest ratio of the two distances",
        about=_main,
        judge=of_runs(nearer_than_by_confidence),
    ),
    N3,
    N3.called(
        "N3 interleaved",
        """Attention follows the information of the lags also where their order differs: two texts are interleaved,
        so that every second lag carries no information.""",
        title="attention takes up lags in the order of their information (two texts interleaved)",
        definition=N3.definition.replace(
            "Of the lags 2, 3 and 4 (lag 1 is the newest token, which the residual path carries),",
            "Of the lags 2, 4 and 6,",
        ),
        about=_woven,
        judge=of_runs(by_information),
    ),
    DISTANCE,
    DISTANCE.called(
        "N3 one layer",
        """With one layer, which cannot attend to lag 4 by way of lag 3, a nearer lag without information is attended to
        less than a farther one with information.""",
        title="a far lag with information gets more attention than a nearer one without (one layer)",
        about=_woven_one_layer,
        judge=of_runs(not_by_distance),
    ),
    N4,
    N4.called(
        "N4 one layer",
        """With one layer and two texts interleaved, where only attention reaches the informative lags, heads first
        attend to the same lag, and then specialise.""",
        title="heads share lags, then specialise (one layer, two texts interleaved)",
        about=_woven_one_layer,
        judge=of_runs(together_then_apart),
    ),
    Claim(
        "N5",
        title="previous-token heads form before induction heads",
        statement="Previous-token heads come before induction heads, and the in-context score falls with the latter.",
        definition=f"""In every text, attention to the previous token and prefix matching (attention to the token that
        followed an earlier occurrence of the current one, on random tokens repeated with a random period), each for the
        head with the largest value, rise by at least {FORMED}; the first is half-way up before the second; and the
        in-context score (loss in the last eighth of the context minus loss in its second eighth) is half-way down at a
        step that is closer to that of the second, on a logarithmic scale.""",
        quantity="half-way step of prefix matching relative to that of attention to the previous token",
        about=_main,
        judge=of_runs(induction_after_previous),
    ),
    Claim(
        "N6",
        title="shuffled in windows, the unigram stays and no lag is taken up",
        statement="""A stage survives shuffling within windows if its information does: the unigram's does, and no
        single lag is taken up.""",
        definition=f"""In every text, shuffled in windows of four tokens, KL to the unigram reaches its minimum at the
        same step within a factor of {AS_SOON:g}; and attention to the lags 2, 3 and 4 rises by less than {REMAINS:.0%}
        of its rise in the unmodified text, mean over these lags.""",
        quantity="rise of attention relative to that in the unmodified text",
        about=lambda settings: _main(settings) or _shuffled(settings),
        judge=of_runs(lags_vanish),
    ),
    Claim(
        "N6 wide",
        title="shuffled in windows of 32, no lag is taken up",
        statement="Where shuffling leaves the lags no information, none is taken up.",
        definition=f"""In every text, shuffled in windows of {WIDE} tokens, attention to the lags 2, 3 and 4 rises by
        less than {REMAINS:.0%} of its rise in the unmodified text, mean over these lags.""",
        quantity="rise of attention relative to that in the unmodified text",
        about=lambda settings: _main(settings) or _wide(settings),
        judge=of_runs(lags_not_taken_up),
    ),
    Claim(
        "N7",
        title="more layers learn the second lag sooner",
        statement="Models with more layers learn the second lag sooner.",
        definition="""In every text, the more layers, the earlier the step at which the held-out loss is half-way
        between those of the bigram and the trigram.""",
        quantity="step at which the second lag is learnt, with the most layers relative to one layer",
        about=_deep,
        judge=of_runs(sooner_with_depth),
    ),
    Claim(
        "N8",
        title="a lag's information predicts when it is learnt",
        statement="The information of a lag predicts when it is learnt.",
        definition=f"""A lag is learnt when the held-out loss is half-way between that of the n-gram without it and that
        of the n-gram with it. Over the lags of all texts (unmodified, interleaved and shuffled), the logarithm of that
        step falls with the logarithm of the information; and the line fitted to all texts but one predicts the steps of
        that one within a factor of {CLOSE:g}, median over lags and texts.""",
        quantity="factor by which the prediction for a held-out text is wrong, median",
        about=_of_law,
        judge=of_runs(information_predicts_when),
    ),
    Claim(
        "N9",
        title="a longer plateau where no residual path carries the most informative lag",
        statement="Where no residual path carries the most informative lag, the unigram's plateau is longer.",
        definition=f"""In every text, interleaved from two sequences, the unigram is the nearest rung for at least
        {LONGER:g} times as many steps as in the unmodified text.""",
        quantity="steps at the unigram, interleaved relative to the unmodified text",
        about=lambda settings: _main(settings) or _woven(settings),
        judge=of_runs(waits_without_shortcut),
    ),
)


def draw(results: Results) -> dict[str, Figure]:
    """The ladder of every text, attention to the near lags, woven and shuffled texts, and information against time."""
    from headway.report.figures.text import figure_changed, figure_information, figure_ladders, figure_lags

    main = {name: run for name, run in results.items() if _main(run[0])}
    wanted = (_woven, _woven_one_layer, _shuffled, _wide)
    changed = {name: run for name, run in results.items() if any(each(run[0]) for each in wanted)}
    found = {"ladder": figure_ladders(main), "lags": figure_lags(main)} if main else {}
    if changed:
        found["changed"] = figure_changed(changed)
    asked = {name: run for name, run in results.items() if _of_law(run[0])}
    return found | ({"information": figure_information(asked)} if asked else {})


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=CLAIMS,
    figures=draw,
    lacks=_lacks,
)
