"""Real text: KL to n-grams, and attention by lag, over training."""

from __future__ import annotations

from collections.abc import Callable
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
from headway.experiments import text_reasons as reasons
from headway.experiments import text_runs as runs
from headway.experiments.experiment import Experiment, headline
from headway.experiments.text_found import FOUND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N1 = Claim(
    "N1",
    title="KL to the n-grams reaches its minima in order (ours)",
    statement="A model of real text passes unigrams, bigrams, trigrams and longer n-grams in this order.",
    definition="""In every text, with b_n the step at which KL(n-gram || model) on held-out text reaches its minimum:
    b_1 < b_2 < b_3, and no higher order has its minimum before a lower one.""",
    quantity="smallest ratio of the steps of successive minima (unigram, bigram, trigram)",
    about=runs.main,
    judge=of_runs(in_order),
)
N3 = Claim(
    "N3",
    title="attention takes up lags in the order of their information (ours)",
    statement="""Attention takes up lags in the order of their information about the next token, given the nearer
    lags, measured in the corpus.""",
    definition="""A lag is taken up when the attention of the head that attends to it most has risen half-way from its
    initial to its largest value. Of the lags 2, 3 and 4 (lag 1 is the newest token, which the residual path carries),
    the one with more information is taken up earlier, in every text.""",
    quantity="smallest ratio of the steps at which two successive lags are taken up",
    about=runs.main,
    judge=of_runs(by_information),
    reasons={"paper": reasons.WINDOW},
)
DISTANCE = Claim(
    "N3 distance",
    title="a far lag with information gets more attention than a nearer one without (ours)",
    statement="A nearer lag without information is attended to less than a farther one with information.",
    definition="""In every text, interleaved from two sequences, the largest attention of any head to lag 4 at the end
    of training exceeds the largest attention of any head to lag 3.""",
    quantity="attention to lag 4 relative to that to lag 3",
    about=runs.woven,
    judge=of_runs(not_by_distance),
    reasons={"paper": reasons.BY_WAY_OF_LAG_3},
)
N4 = Claim(
    "N4",
    title="heads share lags, then specialise (ours)",
    statement="Heads first attend to the same lag, and then specialise.",
    definition=f"""In every text the chance that two heads of the last layer, each picking one of the 8 nearest
    lags by its attention, pick the same one rises by more than {HUMP} above its start, and falls by more than
    {HUMP} from its largest value to the end.""",
    quantity="fall of the chance that two heads pick the same lag, from its largest value to the end",
    about=runs.main,
    judge=of_runs(together_then_apart),
    reasons={"paper": reasons.WINDOW_SHARED},
)
CLAIMS = (
    N1,
    N1.called(
        "N1 MLP",
        "A model with an MLP also passes unigrams, bigrams, trigrams and longer n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (with an MLP, ours)",
        about=runs.with_mlp,
        judge=of_runs(in_order),
    ),
    N1.called(
        "N1 256 tokens",
        "With a context of 256 tokens, with and without an MLP, a model also passes the n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (256 tokens, ours)",
        about=runs.long,
        judge=of_runs(in_order),
    ),
    N1.called(
        "N1 optimisers",
        "Trained with Muon or with SGD, a model also passes the n-grams in this order.",
        title="KL to the n-grams reaches its minima in order (Muon, SGD, ours)",
        about=runs.otherwise,
        judge=of_runs(in_order),
        reasons={"paper": reasons.OPTIMISERS},
    ),
    Claim(
        "N2",
        title="the n-grams are approached more closely than by confidence alone (ours)",
        statement="A model comes closer to unigrams, bigrams and trigrams than one that only grows in confidence.",
        definition="""In every text and for n = 1, 2, 3, KL(n-gram || model) falls below 0.99 of the smallest value that
        KL(n-gram || softmax(s z)) takes over s, where z are the same model's logits at the end of training.""",
        quantity="""the model's smallest KL to an n-gram, divided by the smallest that confidence alone reaches; the
        largest ratio of all texts and n-grams""",
        about=runs.main,
        judge=of_runs(nearer_than_by_confidence),
        reasons={"paper": reasons.CONFIDENCE},
    ),
    N3,
    N3.called(
        "N3 interleaved",
        """Attention follows the information of the lags also where their order differs: two texts are interleaved,
        so that every second lag carries no information.""",
        title="attention takes up lags in the order of their information (two texts interleaved, ours)",
        definition=N3.definition.replace(
            "Of the lags 2, 3 and 4 (lag 1 is the newest token, which the residual path carries),",
            "Of the lags 2, 4 and 6,",
        ),
        about=runs.woven,
        judge=of_runs(by_information),
        reasons={"paper": reasons.INTERLEAVED},
    ),
    DISTANCE,
    DISTANCE.called(
        "N3 one layer",
        """With one layer, which cannot attend to lag 4 by way of lag 3, a nearer lag without information is attended to
        less than a farther one with information.""",
        title="a far lag with information gets more attention than a nearer one without (one layer, ours)",
        about=runs.woven_one_layer,
        judge=of_runs(not_by_distance),
        reasons={"paper": reasons.ONE_LAYER},
    ),
    N4,
    N4.called(
        "N4 one layer",
        """With one layer and two texts interleaved, where only attention reaches the informative lags, heads first
        attend to the same lag, and then specialise.""",
        title="heads share lags, then specialise (one layer, two texts interleaved, ours)",
        about=runs.woven_one_layer,
        judge=of_runs(together_then_apart),
        reasons={"paper": reasons.STAY_ON_LAG_2},
    ),
    Claim(
        "N5",
        title="previous-token heads and induction heads both form, in this order (ours)",
        statement="Previous-token heads come before induction heads, and the in-context score falls with the latter.",
        definition=f"""In every text, attention to the previous token and prefix matching (attention to the token that
        followed an earlier occurrence of the current one, on random tokens repeated with a random period), each for the
        head with the largest value, rise by at least {FORMED}; the first is half-way up before the second; and the
        in-context score (loss in the last eighth of the context minus loss in its second eighth) is half-way down at a
        step that is closer to that of the second, on a logarithmic scale. Order and score count only in seeds in which
        both rise so far.""",
        quantity="half-way step of prefix matching relative to that of attention to the previous token",
        about=runs.main,
        judge=of_runs(induction_after_previous),
        reasons={"paper": reasons.NO_INDUCTION},
    ),
    Claim(
        "N6",
        title="shuffled in windows, the unigram stays and no lag is taken up (ours)",
        statement="""A stage survives shuffling within windows if its information does: the unigram's does, and no
        single lag is taken up.""",
        definition=f"""In every text, shuffled in windows of four tokens, KL to the unigram reaches its minimum at the
        same step within a factor of {AS_SOON:g}; and attention to the lags 2, 3 and 4 rises by less than {REMAINS:.0%}
        of its rise in the unmodified text, mean over these lags.""",
        quantity="rise of attention relative to that in the unmodified text",
        about=lambda settings: runs.main(settings) or runs.shuffled(settings),
        judge=of_runs(lags_vanish),
        reasons={"paper": reasons.BAG},
    ),
    Claim(
        "N6 wide",
        title="shuffled in windows of 32, no lag is taken up (ours)",
        statement="Where shuffling leaves the lags no information, none is taken up.",
        definition=f"""In every text, shuffled in windows of {runs.WIDE} tokens, attention to the lags 2, 3 and 4 rises
        by less than {REMAINS:.0%} of its rise in the unmodified text, mean over these lags.""",
        quantity="rise of attention relative to that in the unmodified text",
        about=lambda settings: runs.main(settings) or runs.wide(settings),
        judge=of_runs(lags_not_taken_up),
        reasons={"paper": reasons.LAYER_2},
    ),
    Claim(
        "N7",
        title="more layers learn the second lag sooner (ours)",
        statement="Models with more layers learn the second lag sooner.",
        definition="""In every text, the more layers, the earlier the step at which the held-out loss is half-way
        between those of the bigram and the trigram.""",
        quantity="step at which the second lag is learnt, with the most layers relative to one layer",
        about=runs.deep,
        judge=of_runs(sooner_with_depth),
        reasons={"paper": reasons.THIRD_LAG},
    ),
    Claim(
        "N8",
        title="a lag's information predicts when it is learnt (ours)",
        statement="The information of a lag predicts when it is learnt.",
        definition=f"""A lag is learnt when the held-out loss is half-way between that of the n-gram without it and that
        of the n-gram with it. Over the lags of all texts (unmodified, interleaved and shuffled), the logarithm of that
        step falls with the logarithm of the information; and the line fitted to all texts but one predicts the steps of
        that one within a factor of {CLOSE:g}, median over lags and texts.""",
        quantity="factor by which the prediction for a held-out text is wrong, median",
        about=runs.of_law,
        judge=of_runs(information_predicts_when),
        reasons={"paper": reasons.CONTEXTS},
    ),
    Claim(
        "N9",
        title="a longer plateau where no residual path carries the most informative lag (ours)",
        statement="Where no residual path carries the most informative lag, the unigram's plateau is longer.",
        definition=f"""In every text, interleaved from two sequences, the unigram is the nearest rung for at least
        {LONGER:g} times as many steps as in the unmodified text.""",
        quantity="steps at the unigram, interleaved relative to the unmodified text",
        about=lambda settings: runs.main(settings) or runs.woven(settings),
        judge=of_runs(waits_without_shortcut),
        reasons={"paper": reasons.JUST_BELOW},
    ),
    *FOUND,
)


def draw(results: Results) -> dict[str, Figure]:
    """Ladders, attention to the near lags, woven and shuffled texts, heads of their own, and when lags are learnt."""
    from headway.report.figures.text import figure_changed, figure_information, figure_ladders, figure_lags
    from headway.report.figures.text_found import figure_contexts, figure_own_heads

    def about(*wanted: Callable[[Any], bool]) -> dict[str, Any]:
        return {name: run for name, run in results.items() if any(each(run[0]) for each in wanted)}

    main, woven = about(runs.main), about(runs.woven, runs.woven_one_layer)
    changed = about(runs.woven, runs.woven_one_layer, runs.shuffled, runs.wide)
    asked = {
        "ladder": (figure_ladders, main),
        "lags": (figure_lags, main),
        "changed": (figure_changed, changed),
        "heads": (figure_own_heads, woven),
        "information": (figure_information, about(runs.of_law)),
        "contexts": (figure_contexts, main),
    }
    return {name: figure(own) for name, (figure, own) in asked.items() if own}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=runs.GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=CLAIMS,
    figures=draw,
    lacks=runs.lacks,
)
