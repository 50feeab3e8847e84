"""What a reader should know after two minutes: claims by name, each with a plain sentence for its numbers.

The sentences hold places for numbers, which come from the findings: {here.held} is "10 of 10", {here.median} the median
of what the claim measures, {here.percent} the same in percent, {here.parts} the number of its parts, {here.each} in
how many seeds each of them holds; {printed.held} is
that of a certain grid, {beside.held} that of another claim, {published.pairs} what a paper gives. The verdict decides
which sentence is shown, so that none can say more than the records do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from headway.analysis import over_seeds
from headway.claims.plateau_laws import LOCATION, RECALL
from headway.records import Finding
from headway.report.page.results import Highlight

GRIDS = ("as-run", "paper", "printed", "quick")
"""Which grid's verdict stands beside a sentence: the first that was run."""


PUBLISHED = SimpleNamespace(
    pairs=RECALL.powers["N_pairs"],
    tokens=RECALL.powers["N_tokens"],
    near=RECALL.near,
    sooner=4,
    sooner_across=2,
    d=f"{LOCATION.powers['d']:.2f}",
    length=f"{LOCATION.powers['T']:.2f}",
    close=LOCATION.near,
)
"""What a sentence may put beside our numbers: the powers in two laws of paper B, how near ours must be, and the factors
by which repetition of either kind shortens recall."""


@dataclass(frozen=True)
class Headline:
    """A claim, and what to say of it."""

    claim: str
    holds: str
    """Where it holds, or holds partly; it gives the number of seeds."""
    fails: str = ""
    """Where it fails; without it the claim's own title is denied."""
    figure: str = ""
    """Of the figures of its experiment, the one that shows it; none where none does."""
    grids: tuple[str, ...] = GRIDS
    beside: str = ""
    """Another claim whose numbers the sentence gives on the same grid, as {beside.held}."""


HEADLINES = (
    Headline(
        "A1",
        """The full transformer approaches the reference predictors in order, from the newest block to the truth: KL to
        each reaches its minimum later than to the one before ({here.held} seeds), and comes closer than growing
        confidence alone would ({beside.held}).""",
        "KL to the reference predictors reaches its minima in order in {here.held} seeds only.",
        figure="figure-3",
        beside="A1 nearer",
    ),
    Headline(
        "A4",
        """In the full transformer heads first compete, then cooperate: the competition index, the overlap of their
        attention, rises and then falls in {here.held} seeds (median fall from its peak: {here.median}).""",
        figure="mass",
    ),
    Headline(
        "A1 minimal",
        """In the minimal model, a single attention layer, KL minima are in order in {as_run.held} seeds with the
        settings of the authors' code. With the printed ones training ends too early: {printed.held}.""",
        figure="figure-1",
    ),
    Headline(
        "A9",
        """Fewer samples, fewer stages: with the largest data set the median seed has {here.median} stages more than
        with the smallest ({here.held} seeds).""",
        figure="figure-5",
    ),
    Headline(
        "A7",
        """The smaller the initial scores, the longer the first stage: from the smallest scale above zero it ends
        {here.median} times as late as from the largest (median; {here.held} seeds).""",
        figure="figure-4-left",
    ),
    Headline(
        "R1",
        """With small steps, gradient descent follows the gradient flow as printed in {here.held} seeds (largest
        difference between stage times: {here.percent} in the median seed); the flow as the authors simulated it in
        {as_run.held}.""",
        figure="over-training",
        grids=("printed", "quick"),
    ),
    Headline(
        "H1",
        """In a full model smaller than paper A's, with all {here.parts} positional encodings that were tried, KL
        minima are in order and each rung is approached more closely than by confidence alone, in {here.held} seeds.""",
        """In a full model smaller than paper A's, it depends on the positional encoding, and on the other settings,
        whether KL minima are in order and each rung is approached more closely than by confidence alone.
        As run: {as_run.each}. As printed: {printed.each}.""",
        figure="ladders",
    ),
    Headline(
        "B5",
        """In the toy model attention finds the one relevant token suddenly: the loss drops within {here.percent} of the
        time before the drop (median; {here.held} seeds).""",
        figure="expectation",
    ),
    Headline(
        "B7",
        """In the toy model with one trained score, repetition shortens the plateau, in the context more than across
        samples ({here.held} seeds); with all scores trained, in the context more than across samples in {beside.held}
        seeds.""",
        figure="repeated",
        beside="B7 logits",
    ),
    Headline(
        "B3 appendix",
        """Trained as in paper B's appendix, a transformer's plateau grows as d^{here.median}, published {published.d},
        and as (T/B)^{beside.median}, published {published.length} ({here.held} seeds within {published.close} of the
        first).""",
        """Trained as in paper B's appendix, a transformer's plateau grows as d^{here.median}, published {published.d}
        ({here.held} seeds within {published.close} of it).""",
        figure="plateaus",
        beside="B3 appendix tokens per copy",
    ),
    Headline(
        "B4 appendix",
        """Trained as in paper B's appendix, the plateau of recall grows with the number of pairs to the power
        {here.median}, published {published.pairs} ({here.held} seeds within {published.near} of it), and with the
        vocabulary size to the power {beside.median}, published {published.tokens}.""",
        """Trained as in paper B's appendix, the plateau of recall does not grow as published: with the number of pairs
        to the power {here.median}, published {published.pairs} ({here.held} seeds within {published.near} of it), and
        with the vocabulary size to the power {beside.median}, published {published.tokens}.""",
        figure="law",
        beside="B4 appendix tokens",
    ),
    Headline(
        "B4 appendix embedding",
        """How long recall takes depends on its initial embedding, whose size paper B does not give: with the embedding
        of PyTorch's linear map the plateau is {here.median} times as long as with unit variance (median;
        {here.held} seeds).""",
        figure="embeddings",
    ),
    Headline(
        "B7 recall appendix",
        """Copies of the relevant pair in the context end the plateau of recall {here.median} times as soon (published:
        about {published.sooner}), repeated queries across samples {beside.median} times as soon (published: about
        {published.sooner_across}); {here.held} seeds.""",
        figure="repetition",
        beside="B7 recall appendix across samples",
    ),
    Headline(
        "B8 appendix late rise, deep",
        """Too much repetition overfits recall ({beside.held} seeds). With long training the accuracy on sequences
        without repetition still rises, by {here.median} in the best run that overfits deeply ({here.held} seeds).""",
        figure="repetition",
        beside="B8 appendix",
    ),
    Headline(
        "B9 appendix",
        "Trained as in paper B's appendix, recall is learnt in one transition, in {here.held} seeds.",
        """At some of our sizes recall takes two transitions: naming any value of the sequence comes first, and half of
        the answers are right {here.median} times as late as the plateau ends at the size where that comes latest
        (median over seeds). One transition at every size: {here.held} seeds.""",
        figure="accuracy",
    ),
    Headline(
        "E1",
        """On in-context Markov chains of two and three states the nearest rung is uniform, then unigram, then bigram,
        in {here.held} seeds; with four and eight states in {beside.held}.""",
        figure="ladder",
        beside="E1 more states",
    ),
    Headline(
        "V1",
        "On in-context n-grams the loss has a plateau at every shorter n-gram, in order ({here.held} seeds).",
        """On in-context trigrams and, with a smaller vocabulary, longer n-grams the loss has plateaus at some of the
        shorter n-grams only (in seeds: {here.each}). On the trigrams with a tenth of the learning rate it has a
        plateau at every one ({beside.held} seeds).""",
        figure="sub-n-grams",
        beside="V1 simple model, rate 0.001",
    ),
    Headline(
        "V4",
        """Where a model predicts like a k-gram, its gradient shrinks as the context grows: with the longest context it
        is {here.median} of that with the shortest (median; {here.held} seeds).""",
        figure="gradient",
    ),
    Headline(
        "Z1",
        """Linear attention with merged keys and queries learns all at once, in one drop of the loss ({here.held}
        seeds).""",
        figure="loss",
    ),
    Headline(
        "Z2",
        """With separate keys and queries the loss has a plateau before every drop, and every drop adds one head, along
        one eigenvector: in {here.held} seeds from the paper's random initialisation, and in {beside.held} from the
        theory's, which gives each head an eigenvector of its own.""",
        figure="heads",
        beside="Z2 balanced",
    ),
    Headline(
        "G4",
        """On the plateau of moving-window sums attention moves before the loss: it has made a quarter of its rise at
        {here.median} of the step at which the loss has made a twentieth of its drop (median; {here.held} seeds).""",
        figure="plateau",
    ),
    Headline(
        "N1",
        """In models of real text, KL to unigrams, bigrams and trigrams reaches its minima in order ({here.held} seeds).
        They come closer to all three than by confidence alone in characters, not always in byte pairs:
        {beside.each}.""",
        figure="ladder",
        beside="N2",
    ),
    Headline(
        "N5",
        "In models of real text, previous-token heads come before induction heads, in {here.held} seeds.",
        """In small models of real text no induction head forms: previous-token heads and then induction heads are seen
        in {here.held} seeds.""",
    ),
)


def highlights(
    findings: Sequence[tuple[str, Finding]], titles: Mapping[str, str], headlines: Sequence[Headline] = HEADLINES
) -> tuple[Highlight, ...]:
    """The sentences about those claims that are among the findings, with the verdict of each."""
    found = []
    for headline in headlines:
        own = {grid: finding for grid, finding in findings if finding.claim == headline.claim}
        if own:
            others = {grid: finding for grid, finding in findings if finding.claim == headline.beside}
            found.append(_highlight(headline, own, others, titles.get(headline.claim, "")))
    return tuple(found)


def _highlight(headline: Headline, own: Mapping[str, Finding], others: Mapping[str, Finding], title: str) -> Highlight:
    run = [grid for grid in headline.grids if grid in own and own[grid].holds]
    grid = run[0] if run else next(iter(own))
    finding = own[grid]
    words = title or finding.statement.rstrip(".")
    return Highlight(
        sentence=_sentence(headline, own, others, grid, words),
        claim=finding.claim,
        grid=grid,
        verdict=finding.verdict,
        held=_held(finding),
        figures=finding.figures if headline.figure else "",
        figure=headline.figure,
    )


def _sentence(
    headline: Headline, own: Mapping[str, Finding], others: Mapping[str, Finding], grid: str, words: str
) -> str:
    finding = own[grid]
    if not finding.holds:
        return f"Not run yet: {words}."
    numbers = {name.replace("-", "_"): _numbers(each) for name, each in own.items() if each.holds}
    if grid in others and others[grid].holds:
        numbers["beside"] = _numbers(others[grid])
    if finding.verdict == "cannot be judged":
        return f"It cannot be judged in {finding.unjudged} of {len(finding.holds)} seeds: {words}."
    template = headline.fails if finding.verdict == "fails" else headline.holds
    try:
        if not template:
            return f"Not confirmed, in {_held(finding)} seeds only: {words}."
        return " ".join(template.split()).format(**numbers, here=_numbers(finding), published=PUBLISHED)
    except (KeyError, AttributeError):
        # It compares two grids or claims, and one of them was not run.
        return f"In {_held(finding)} seeds: {words}."


def _numbers(finding: Finding) -> SimpleNamespace:
    median = over_seeds(finding.values).median
    words = {"median": f"{median:.3g}", "percent": f"{100 * median:.2g} %", "parts": len(finding.parts)}
    words["each"] = "; ".join(f"{name}: {count} of {len(finding.holds)}" for name, count in finding.parts.items())
    return SimpleNamespace(held=_held(finding), **words)


def _held(finding: Finding) -> str:
    return f"{finding.showing} of {len(finding.holds)}" if finding.holds else ""
