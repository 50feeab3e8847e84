"""What a reader should know after two minutes: claims by name, each with a plain sentence for its numbers.

The sentences hold places for numbers, which come from the findings: {here.held} is "10 of 10", {here.median} the median
of what the claim measures, {here.percent} the same in percent, {here.parts} the number of its parts; {printed.held} is
that of a certain grid, {beside.held} that of another claim, {published.pairs} what a paper gives. The verdict decides
which sentence is shown, so that none can say more than the records do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from headway.analysis import over_seeds
from headway.claims.plateau_laws import RECALL
from headway.records import Finding
from headway.report.page.results import Highlight

GRIDS = ("as-run", "paper", "printed", "quick")
"""Which grid's verdict stands beside a sentence: the first that was run."""


PUBLISHED = SimpleNamespace(pairs=RECALL.powers["N_pairs"])
"""What a sentence may put beside our numbers: the power of the number of pairs in the law of recall."""


@dataclass(frozen=True)
class Headline:
    """A claim, and what to say of it."""

    claim: str
    holds: str
    """Where it holds, or holds partly; it gives the number of seeds."""
    fails: str = ""
    """Where it fails; without it the claim's own title is denied."""
    figure: str = ""
    """Of the figures of its experiment, the one that shows it at the size of a stamp."""
    grids: tuple[str, ...] = GRIDS
    beside: str = ""
    """Another claim whose numbers the sentence gives on the same grid, as {beside.held}."""


HEADLINES = (
    Headline(
        "A1",
        """The full model approaches the reference predictors in order, from the newest block to the truth: KL to each
        reaches its minimum later than to the one before, in {here.held} seeds.""",
        "KL to the reference predictors reaches its minima in order in {here.held} seeds only.",
        figure="figure-3",
    ),
    Headline(
        "A4",
        """In the full model heads first compete, then cooperate: the competition index, the overlap of their attention,
        rises and then falls in {here.held} seeds (median fall from its peak: {here.median}).""",
        figure="mass",
    ),
    Headline(
        "A1 minimal",
        """In the minimal model the minima of KL to the rungs are in order in {as_run.held} seeds with the settings of
        the authors' code, and in {printed.held} with the printed ones.""",
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
        """The smaller the initial scores, the longer the first stage: from the smallest scale it ends {here.median}
        times as late as from the largest (median; {here.held} seeds).""",
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
        """With all {here.parts} positional encodings that were tried, KL minima are in order and each rung is
        approached more closely than by confidence alone, in {here.held} seeds.""",
        """It depends on the positional encoding whether KL minima are in order and each rung is approached more closely
        than by confidence alone: in the median seed both hold with {here.median} of the {here.parts} tried.""",
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
        """In the toy model repetition shortens the plateau, in the context more than across samples: doubling the
        copies in the context shortens it by a factor {here.median} times as large as doubling the share across samples
        (median; {here.held} seeds).""",
        figure="repeated",
    ),
    Headline(
        "B4",
        """The plateau of recall grows with the number of pairs to the power {here.median}; published is the power
        {published.pairs} ({here.held} seeds within the tolerance).""",
        """The published law of recall does not hold at our sizes: the plateau grows with the number of pairs to the
        power {here.median}; published is the power {published.pairs} ({here.held} seeds within the tolerance).""",
        figure="law",
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
        one eigenvector: in {beside.held} seeds from a balanced initialisation, as in the theory, and in {here.held}
        from the paper's random one.""",
        figure="heads",
        beside="Z2 balanced",
    ),
    Headline(
        "V4",
        """Where a model predicts like a k-gram, its gradient shrinks as the context grows: with the longest context it
        is {here.median} of that with the shortest (median; {here.held} seeds).""",
        figure="gradient",
    ),
    Headline(
        "E1",
        "On in-context Markov chains the nearest rung is uniform, then unigram, then bigram, in {here.held} seeds.",
        figure="ladder",
    ),
    Headline(
        "G4",
        """On the plateau of moving-window sums attention moves before the loss: it has made a quarter of its way at
        {here.median} of the time at which the loss has made a twentieth of its own (median; {here.held} seeds).""",
        figure="plateau",
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
        figures=finding.figures,
        figure=headline.figure,
    )


def _sentence(
    headline: Headline, own: Mapping[str, Finding], others: Mapping[str, Finding], grid: str, words: str
) -> str:
    finding = own[grid]
    if finding.verdict == "not run":
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
    return SimpleNamespace(held=_held(finding), **words)


def _held(finding: Finding) -> str:
    return f"{finding.showing} of {len(finding.holds)}" if finding.holds else ""
