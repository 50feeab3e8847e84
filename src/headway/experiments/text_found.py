"""Claims about real text that the runs at paper scale gave rise to: ours, and made after these runs were seen."""

from __future__ import annotations

from typing import Any

from headway.claims.claim import Claim, of_runs
from headway.claims.text import CLOSE, REMAINS, sooner_with_depth
from headway.claims.text_found import ON_IT, a_head_of_its_own, contexts_predict_when, reads_a_bag
from headway.experiments import text_reasons as reasons
from headway.experiments import text_runs as runs


def _deep_in_characters(settings: Any) -> bool:
    return runs.deep(settings) and settings.model.layers > 1 and settings.task.tokeniser == "characters"


def _other_shapes(settings: Any) -> bool:
    """Of other depths, with an MLP or with longer contexts, on a text as it is, by AdamW."""
    return runs.is_text(settings) and not runs.otherwise(settings) and not runs.main(settings)


N8_CONTEXTS = Claim(
    "N8 contexts",
    title="information and number of contexts together predict when a lag is learnt (ours, post hoc)",
    statement="""The information of a lag and the number of contexts over which it is spread predict when it is
    learnt. (Ours, post hoc: found in these runs.)""",
    definition=f"""Steps t are those of N8, in unmodified texts, for lags learnt before training ends. N is the number
    of contexts as long as the lag, exp(loss of the unigram + loss of the bigram + ..), I the information. Fitted to
    models of one shape, log t = a + b log I + c log N has b < 0 < c, and fitted to all texts but one it predicts the
    steps of that one within a factor of {CLOSE:g}, median over lags and texts.""",
    quantity="factor by which the prediction for a held-out text is wrong, median; the largest over shapes",
    about=runs.main,
    judge=of_runs(contexts_predict_when),
)
N10 = Claim(
    "N10",
    title="two texts interleaved: seeds in which a head of layer 1 settles on lag 4 end with a lower loss "
    "(ours, post hoc)",
    statement="""With two texts interleaved, a head of layer 1 settles on lag 4 in some seeds. There lag 4 is taken up
    after lag 2, as the order of information has it, and the loss ends lower than in the others. (Ours, post hoc:
    found in these runs.)""",
    definition=f"""In every text, a seed counts as having such a head if one of layer 1 gives lag 4 more than {ON_IT:g}
    of its attention at the end. If it has one, lag 2 was taken up (as in N3) before lag 4, and its loss is below
    those of all seeds without one; if it has none, its loss is above those of all seeds with one. Losses are compared
    in texts with seeds of both kinds.""",
    quantity="how far the loss lies from the nearest seed of the other kind, in nats, smallest over texts",
    about=runs.woven,
    judge=of_runs(a_head_of_its_own),
)
FOUND = (
    Claim(
        "N6 bag",
        title="shuffled in windows of 32, layer 1 takes up no lag, and the model beats every n-gram (ours, post hoc)",
        statement="""Where shuffling leaves the lags little or no information, layer 1 takes up none, and the model
        learns from which tokens are near. (Ours, post hoc: found in these runs.)""",
        definition=f"""In every text, shuffled in windows of {runs.WIDE} tokens, the largest attention of a head of
        layer 1 to the lags 2, 3 and 4 has risen by less than {REMAINS:.0%} of its rise in the unmodified text at the
        end of training, mean over these lags; and the held-out loss ends below that of every rung. The end was chosen
        after the runs were seen: N6 takes the largest value on the way, by which fewer seeds hold.""",
        quantity="rise of attention in layer 1 relative to that in the unmodified text",
        about=lambda settings: runs.main(settings) or runs.wide(settings),
        judge=of_runs(reads_a_bag),
    ),
    Claim(
        "N7 third lag",
        title="more layers learn the third lag sooner (characters, ours, post hoc)",
        statement="""With characters, of models with 2, 3 and 4 layers those with more learn the third lag sooner.
        (Ours, post hoc: found in these runs.)""",
        definition="""In both texts in characters, the more layers, the earlier the step at which the held-out loss is
        half-way between those of the trigram and the 4-gram.""",
        quantity="step at which the third lag is learnt, with four layers relative to two",
        about=_deep_in_characters,
        judge=of_runs(sooner_with_depth, lag=3),
        reasons={"paper": reasons.EVALUATIONS},
    ),
    N8_CONTEXTS,
    N8_CONTEXTS.called(
        "N8 other models",
        """This law, with other constants, also holds for models of other depths, with an MLP, and with 256 tokens.
        (Ours, post hoc: found in these runs; its form is that of two layers.)""",
        title="information and number of contexts together predict when a lag is learnt (other models, ours, post hoc)",
        about=_other_shapes,
        judge=of_runs(contexts_predict_when),
        reasons={"paper": reasons.FEW_LAGS},
    ),
    N10,
    N10.called(
        "N10 one layer",
        N10.statement.replace("With two texts interleaved,", "With two texts interleaved and one layer,"),
        title="two texts interleaved: seeds in which a head of layer 1 settles on lag 4 end with a lower loss "
        "(one layer, ours, post hoc)",
        about=runs.woven_one_layer,
        judge=of_runs(a_head_of_its_own),
    ),
)
