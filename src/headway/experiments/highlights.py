"""What a reader should know after two minutes: claims by name, each with a plain sentence for its numbers.

The sentences hold places for numbers, which come from the findings: {here.held} is "10 of 10", {here.median} the median
of what the claim measures, {here.percent} the same in percent, {here.parts} the number of its parts, {here.part[x]} in
how many seeds of {here.all} part x holds; {here.some} is "no seed" or "3 of 10 seeds"; {printed.held} is that of a
certain grid, {beside.held} and {also.held} those of other claims, {published.pairs} what a paper gives. The verdict
decides which sentence is shown, so that none can say more than the records do. A page opens with the few that have a
`brief`.
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
"""What a sentence may put beside our numbers: the exponents of two laws of paper B, how near ours must be, and the
factors by which repetition of either kind shortens recall."""


@dataclass(frozen=True)
class Headline:
    """A claim, and what to say of it."""

    claim: str
    holds: str
    """Where it holds, or holds partly; it gives the number of seeds."""
    fails: str = ""
    """Where it fails; without it the claim's own title is denied."""
    brief: str = ""
    """One line, if it is among the few that a page opens with and the claim does not fail."""
    figure: str = ""
    """Of the figures of its experiment, the one that shows it; none where none does."""
    crop: tuple[float, ...] = ()
    """The part of it that can be read when it is small: left, top, right, bottom in shares of its size; all if none."""
    grids: tuple[str, ...] = GRIDS
    beside: str = ""
    """Another claim whose numbers the sentence gives on the same grid, as {beside.held}."""
    also: str = ""
    """A third one, as {also.held}."""


LEFT = (0.0, 0.0, 0.5, 1.0)
"""Of a figure with two panels side by side."""

HEADLINES = (
    Headline(
        "A1",
        """The full transformer approaches the reference predictors in order, by the minima of KL ({here.held} seeds),
        and the lower ones more closely than by confidence alone ({beside.held}).""",
        "KL to the reference predictors reaches its minima in order in {here.held} seeds only.",
        brief="""A transformer approaches predictors that know one, two and all blocks in order ({here.held} seeds), the
        lower ones closer than by confidence alone ({beside.held}).""",
        figure="figure-3",
        crop=LEFT,
        beside="A1 nearer",
    ),
    Headline(
        "A4",
        """In the full transformer heads first compete, then cooperate: the overlap of their attention rises and then
        falls in {here.held} seeds (median fall from its peak: {here.median}).""",
        brief="Its heads first compete for the same block, then overlap less ({here.held} seeds).",
        figure="mass",
    ),
    Headline(
        "A1 minimal",
        """In the minimal model, a single attention layer, KL minima are in order in {as_run.held} seeds with the
        authors' settings; with the printed ones training ends too early: {printed.held}.""",
        figure="figure-1",
        crop=(0.0, 0.0, 0.553, 0.9),
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
        crop=(0.43, 0.0, 1.0, 1.0),
    ),
    Headline(
        "R1",
        """With small steps, gradient descent follows the printed gradient flow in {here.held} seeds (largest difference
        between stage times: {here.percent}, median), and the flow that the authors simulated in {as_run.held}.""",
        figure="over-training",
        grids=("printed", "quick"),
    ),
    Headline(
        "H1",
        """In a smaller full model, with all {here.parts} positional encodings tried, KL minima are in order, and closer
        than by confidence alone, in {here.held} seeds.""",
        """In a smaller full model, KL minima in order and closer than by confidence alone depend on the positional
        encoding: {beside.held} seeds with learned positions, {here.some} with all {here.parts} encodings.""",
        figure="ladders",
        beside="H1 learned",
    ),
    Headline(
        "B5",
        """In the toy model, which is deterministic, attention finds the one relevant token suddenly: the drop takes
        {here.percent} of the time before it ({here.held} seeds, which are practically identical).""",
        figure="expectation",
        crop=(0.0, 0.0, 0.5, 0.9),
    ),
    Headline(
        "B7",
        """In the toy model (deterministic, one trained score) repetition shortens the plateau, in the context more than
        across samples ({here.held} seeds); with all scores trained, the context gains more in {beside.held}.""",
        figure="repetition",
        beside="B7 logits",
    ),
    Headline(
        "B3 appendix",
        """Trained as in paper B's appendix, a transformer's plateau grows as d^{here.median} (published
        d^{published.d}; {here.held} seeds within {published.close}) and as (T/B)^{beside.median} (published
        (T/B)^{published.length}).""",
        """Trained as in paper B's appendix, a transformer's plateau grows as d^{here.median}, published d^{published.d}
        ({here.held} seeds within {published.close} of it).""",
        brief="""The plateau before a transformer finds the relevant token grows as d^{here.median}; published:
        d^{published.d} ({here.held} seeds near it).""",
        figure="plateaus",
        crop=(0.0, 0.0, 0.53, 1.0),
        beside="B3 appendix tokens per copy",
    ),
    Headline(
        "B4 appendix",
        """Trained as in paper B's appendix, recall's plateau grows as N_pairs^{here.median} (published
        {published.pairs}; {here.held} seeds within {published.near}) and N_tokens^{beside.median} (published
        {published.tokens}; {beside.held}); the constant agrees in {also.held}.""",
        """Trained as in paper B's appendix, recall's plateau grows as N_pairs^{here.median}, not {published.pairs}
        ({here.held} seeds within {published.near}), and N_tokens^{beside.median} (published {published.tokens};
        {beside.held}); the constant agrees in {also.held}.""",
        figure="law",
        crop=(0.0, 0.0, 0.68, 1.0),
        beside="B4 appendix tokens",
        also="B4 appendix constant",
    ),
    Headline(
        "B4 appendix embedding",
        """How long recall takes depends on the size of the initial embedding, which paper B does not give: PyTorch's
        linear map makes the plateau {here.median} times as long as unit variance ({here.held} seeds).""",
        figure="embeddings",
    ),
    Headline(
        "B7 recall appendix",
        """Copies of the relevant pair in the context shorten recall's plateau by a factor of {here.median} (published:
        about {published.sooner}; {here.held} seeds), queries repeated across samples by {beside.median} (published:
        about {published.sooner_across}; {beside.held}).""",
        brief="""Copies of the relevant pair in the context shorten the plateau of recall by a factor of {here.median}
        ({here.held} seeds).""",
        figure="repetition",
        beside="B7 recall appendix across samples",
    ),
    Headline(
        "B8 appendix late rise, deep",
        """Too much repetition overfits recall ({beside.held} seeds). With long training the accuracy on sequences
        without repetition still rises, by {here.median} in the best run that overfits deeply ({here.held} seeds).""",
        beside="B8 appendix",
    ),
    Headline(
        "B9 appendix",
        "Trained as in paper B's appendix, recall is learnt in one transition, in {here.held} seeds.",
        """Recall is not learnt in one transition at every size ({here.held} seeds): at the slowest, naming any value
        comes first, and half of the answers are right only after {here.median} times the plateau.""",
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
        "On in-context n-grams the simple model's loss has plateaus at all shorter n-grams in {here.held} seeds.",
        """On in-context n-grams the simple model's loss has plateaus at all shorter n-grams in {here.held} seeds, on
        trigrams at a tenth of the learning rate in {beside.held}; transformer: {also.held}.""",
        figure="sub-n-grams",
        beside="V1 simple model, rate 0.001",
        also="V1 transformer",
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
        """With separate keys and queries every drop of the loss follows a plateau and adds one head, along one
        eigenvector: in {here.held} seeds from a random start, {beside.held} from the theory's.""",
        figure="heads",
        beside="Z2 balanced",
    ),
    Headline(
        "G4",
        """On the plateau of moving-window sums attention moves first: a quarter of its rise is made at {here.median} of
        the step where the loss has made a twentieth of its drop ({here.held} seeds).""",
        figure="plateau",
    ),
    Headline(
        "N1",
        """KL to unigrams, bigrams and trigrams reaches its minima in order ({here.held} seeds, AdamW). Closer than by
        confidence alone, in two texts: characters {beside.part[speeches, characters 128]} and
        {beside.part[enwik8, characters 128]}, byte pairs {beside.part[speeches, bpe 512]} and
        {beside.part[enwik8, bpe 512]} of {beside.all}.""",
        brief="""Models of real text trained with AdamW are at their closest to unigrams first, then to bigrams, then to
        trigrams ({here.held} seeds).""",
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
            others = {
                word: {grid: finding for grid, finding in findings if finding.claim == claim}
                for word, claim in (("beside", headline.beside), ("also", headline.also))
            }
            found.append(_highlight(headline, own, others, titles.get(headline.claim, "")))
    return tuple(found)


ByGrid = Mapping[str, Finding]


def _highlight(headline: Headline, own: ByGrid, others: Mapping[str, ByGrid], title: str) -> Highlight:
    run = [grid for grid in headline.grids if grid in own and own[grid].holds]
    grid = run[0] if run else next(iter(own))
    finding = own[grid]
    words = title or finding.statement.rstrip(".")
    numbers = {name.replace("-", "_"): _numbers(each) for name, each in own.items() if each.holds}
    numbers |= {word: _numbers(each[grid]) for word, each in others.items() if grid in each and each[grid].holds}
    return Highlight(
        sentence=_sentence(headline, finding, numbers, words),
        brief=_brief(headline, finding, numbers, words),
        claim=finding.claim,
        grid=grid,
        verdict=finding.verdict,
        held=_held(finding),
        figures=finding.figures if headline.figure else "",
        figure=headline.figure,
        crop=headline.crop if headline.figure else (),
    )


Numbers = Mapping[str, SimpleNamespace]


def _brief(headline: Headline, finding: Finding, numbers: Numbers, words: str) -> str:
    """The one line of a claim that a page opens with, if it is one of them and was run."""
    if not headline.brief or not finding.holds or finding.verdict == "cannot be judged":
        return ""
    return _filled("" if finding.verdict == "fails" else headline.brief, finding, numbers, words)


def _sentence(headline: Headline, finding: Finding, numbers: Numbers, words: str) -> str:
    if not finding.holds:
        return f"Not run yet: {words}."
    if finding.verdict == "cannot be judged":
        return f"It cannot be judged in {finding.unjudged} of {len(finding.holds)} seeds: {words}."
    return _filled(headline.fails if finding.verdict == "fails" else headline.holds, finding, numbers, words)


def _filled(template: str, finding: Finding, numbers: Numbers, words: str) -> str:
    if not template:
        return f"Not confirmed, in {_held(finding)} seeds only: {words}."
    try:
        return " ".join(template.split()).format(**numbers, here=_numbers(finding), published=PUBLISHED)
    except (KeyError, AttributeError):
        # It compares two grids or claims, and one of them was not run.
        return f"In {_held(finding)} seeds: {words}."


def _numbers(finding: Finding) -> SimpleNamespace:
    median = over_seeds(finding.values).median
    return SimpleNamespace(
        held=_held(finding),
        some=f"{_held(finding)} seeds" if finding.showing else "no seed",
        all=len(finding.holds),
        median=f"{median:.3g}",
        percent=f"{100 * median:.2g} %",
        parts=len(finding.parts),
        part=finding.parts,
    )


def _held(finding: Finding) -> str:
    return f"{finding.showing} of {len(finding.holds)}" if finding.holds else ""
