"""What can be asked: which kind of model, how large its task is, how fast it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from headway.settings.checks import require, require_number, require_whole, settle

Blocks = tuple[tuple[int, ...], ...]
"""Of lags; the chain's, which help must not wait for."""


class Kind(NamedTuple):
    """What sets one kind of model apart: what can be asked of it, and where its plateaus come from."""

    sizes: tuple[str, ...]
    """Of its task."""
    seen_by: tuple[str, ...]
    """Settings of a task by which one sees that a run is of it, whatever it is called."""
    experiment: str
    """The one that measures its plateaus .."""
    repetition: str
    """.. and the one in which they change by repetition."""
    source: Literal["theory", "law", "descent", "chain", "strength"] = "law"
    """Theory, of what is trained on how many samples; a law, measured; descent on few numbers; the chain's ways; or how
    strong attention is."""
    others: int = 0
    """Tokens that must not be copies."""
    answers: bool = False
    """Whether it answers questions: an accuracy ends the plateau, and copies are counted on average."""
    optional: tuple[str, ...] = ()
    """What may be asked besides, and has a usual value."""


_VECTORS, _SYMBOLS = ("dimension", "length", "copies", "repeated"), ("vocab", "pairs", "copies", "repeated")
MODELS = {
    "toy": Kind(
        _VECTORS,
        ("dimension", "length", "copies", "repeated", "trained"),
        "context-repetition",
        "cross-sample-repetition",
        source="theory",
        others=1,
    ),
    "transformer": Kind(
        _VECTORS, ("dimension", "length", "position", "repeated"), "transformer-law", "transformer-law"
    ),
    "recall": Kind(
        _SYMBOLS,
        ("pairs", "vocab", "copies", "favoured"),
        "recall-appendix",
        "recall-repetition-appendix",
        answers=True,
    ),
    "linear-attention": Kind(
        ("pairs", "heads", "start", "drop"),
        ("spectrum", "pairs", "sums", "parts", "rank"),
        "linear-attention",
        "linear-attention",
        source="descent",
    ),
    "minimal": Kind(
        ("ratio",), ("ratio", "blocks", "weighting"), "hierarchy", "hierarchy", "chain", optional=("vocab", "start")
    ),
    "moving-window": Kind(
        ("strength",),
        ("rule", "count", "modulus"),
        "loss-plateau",
        "loss-plateau",
        "strength",
    ),
}
"""All that differs between the models that can be asked about."""
_BY_SOURCE = {
    "theory": ("trained", "samples"),
    "descent": ("spectrum", "keys"),
    "chain": ("blocks", "boundary", "preset"),
}
"""Further settings, by where the answer comes from."""


def settings_of(model: str) -> tuple[str, ...]:
    """What can be asked about one model, besides its learning rate."""
    kind = MODELS[model]
    answers = ("accuracy", "embedding") if kind.answers else ()
    return (*kind.sizes, *kind.optional, *_BY_SOURCE.get(kind.source, ()), *answers)


def required_of(model: str) -> tuple[str, ...]:
    """What must be given of one model, because it has no usual value."""
    kind = MODELS[model]
    lists = {"descent": ("spectrum",), "chain": ("blocks",)}
    return (*(name for name in kind.sizes if name in _EXAMPLES), *lists.get(kind.source, ()))


SYMBOLS = {
    "dimension": "d",
    "length": "T",
    "vocab": "N_tokens",
    "pairs": "N_pairs",
    "copies": "B",
    "repeated": "p",
    "heads": "H",
    "start": "std",
    "drop": "m",
    "ratio": "m",
    "strength": "c",
}
_EXAMPLES = {
    "dimension": 64,
    "length": 256,
    "vocab": 64,
    "pairs": 16,
    "heads": 5,
    "start": 0.01,
    "ratio": 1.5,
    "strength": 0.3,
}


@dataclass(frozen=True)
class Asked:
    """Whatever may be asked, complete or not."""

    model: Literal["toy", "transformer", "recall", "linear-attention", "minimal", "moving-window"] = "toy"
    """Paper B's toy model, a transformer on single-location regression or on associative recall, linear attention,
    paper A's minimal model, or a transformer on moving-window sums."""
    dimension: int | None = None
    """d: dimension of a token; toy and transformer."""
    length: int | None = None
    """T: number of tokens; toy and transformer."""
    vocab: int | None = None
    """Vocabulary size: N_tokens of recall; for minimal, d, that of the preset if not given."""
    pairs: int | None = None
    """N_pairs: number of pairs in a sequence; recall and linear-attention."""
    copies: float = 1.0
    """B: number of copies of the relevant token in the context; for recall, the average."""
    repeated: float = 0.0
    """p: probability that the relevant token is repeated across samples; for recall, that the query is."""
    accuracy: float | None = None
    """Accuracy that ends the plateau; recall. 0.05 if not given, as in the slides; 0.5 requires matching a key."""
    embedding: Literal["linear", "table"] | None = None
    """Initial embedding of recall: linear, PyTorch's nn.Linear, of variance 1/(3 N_tokens), as in paper B's appendix;
    table, its nn.Embedding, of variance 1. If not given linear, and with copies or repeated table."""
    learning_rate: float | None = None
    """Learning rate; that of the records if not given, 1 for the toy model."""
    trained: Literal["logits", "gap"] = "logits"
    """Trained parameters of the toy model's attention: its T logits, or the gap between them."""
    samples: int | None = None
    """Size of the toy model's training set; the expectation over all samples if not given."""
    spectrum: tuple[float, ...] = ()
    """Ratios of the eigenvalues of the inputs, the largest first; linear-attention."""
    heads: int | None = None
    """H: number of heads; linear-attention."""
    start: float | None = None
    """Initial standard deviation of every parameter of linear-attention; for minimal, the scale u of its initial
    scores, that of the preset if not given."""
    keys: Literal["separate", "merged"] = "separate"
    """Keys and queries of rank 1, or one merged matrix; linear-attention."""
    drop: int = 1
    """Number of the drop of the loss; with separate keys there are as many drops as eigenvalues."""
    ratio: float | None = None
    """m: ratio of the strengths of successive blocks; minimal."""
    blocks: Blocks = ()
    """Blocks of lags, as in 1-2 3-4 5-6; minimal."""
    boundary: int | None = None
    """Number of the boundary between two stages; minimal. All of them if not given, in Python the first."""
    preset: Literal["as-run", "printed"] = "as-run"
    """Learning rate and scores as in this preset; minimal."""
    strength: float | None = None
    """c: factor by which attention to the relevant numbers is multiplied, at most 1; moving-window."""


@dataclass(frozen=True)
class Question(Asked):
    """How long is the plateau of such a model on such a task?"""

    def __post_init__(self) -> None:
        settle(self)
        self._check_that_sizes_belong()
        counts = (
            ("dimension", 2),
            ("length", 2),
            ("vocab", 2),
            ("pairs", 1),
            ("samples", 1),
            ("heads", 1),
            ("drop", 1),
        )
        for name, least in counts:
            if getattr(self, name) is not None:
                require_whole(name, getattr(self, name), least)
        require_number("copies", self.copies, least=1)
        require_number("repeated", self.repeated, least=0)
        if self.learning_rate is not None:
            require_number("learning_rate", self.learning_rate, above=0)
        self._check_the_spectrum()
        self._check_the_chain()
        self._check_the_strength()
        if self.kind.source not in ("chain", "strength"):
            self._check_that_copies_fit()
        self._check_the_accuracy()

    @property
    def sizes(self) -> dict[str, float]:
        """Name -> number, of this model's task."""
        return {name: float(getattr(self, name)) for name in self.kind.sizes}

    @property
    def kind(self) -> Kind:
        return MODELS[self.model]

    def _check_that_sizes_belong(self) -> None:
        own = self.kind.sizes
        shown = " ".join(f"--{name} {example}" for name, example in _EXAMPLES.items() if name in own)
        for name in _EXAMPLES:
            value = getattr(self, name)
            if name in own:
                require(
                    value is not None,
                    f"{name} was not given, but the plateau of {self.model} depends on it. Example: "
                    f"`headway predict {self.model} {shown}`.",
                )
            elif name not in self.kind.optional:
                require(value is None, f"{name} is {value!r}, but {self.model} has {', '.join(own)}. Leave it out.")
        require(
            self.kind.source == "theory" or (self.trained == "logits" and self.samples is None),
            f'trained and samples are about the toy, but the model is "{self.model}". Leave them out.',
        )
        require(
            self.samples is None or self.trained == "logits",
            "a training set was measured with all logits trained, and not with their gap. Leave out one of them.",
        )

    def _check_the_spectrum(self) -> None:
        if self.kind.source != "descent":
            others = (self.spectrum, self.keys == "merged", self.drop != 1)
            words = "spectrum, keys and drop are about linear-attention, but the model is"
            require(not any(others), f'{words} "{self.model}". Leave them out.')
            return
        falling = list(self.spectrum) == sorted(self.spectrum, reverse=True) and min(self.spectrum, default=0) > 0
        require(
            bool(self.spectrum) and falling,
            f"spectrum is {self.spectrum}, but the plateau depends on the eigenvalues of the inputs. Give their "
            "ratios, the largest first, as in `headway predict --model linear-attention --spectrum 4 3 2 1`.",
        )
        require_number("start", self.start, above=0)
        most = 1 if self.keys == "merged" else min(len(self.spectrum), self.heads or 1)
        require(
            self.drop <= most,
            f"drop is {self.drop}, but with {self.keys} keys, {self.heads} heads and {len(self.spectrum)} eigenvalues "
            f"the loss has {most}. Ask for one of them.",
        )

    def _check_the_chain(self) -> None:
        if self.kind.source != "chain":
            others = (self.blocks, self.boundary, self.preset == "printed")
            words = "blocks, boundary and preset are about minimal, but the model is"
            require(not any(others), f'{words} "{self.model}". Leave them out.')
            return
        lags = [lag for block in self.blocks for lag in block]
        told = f"blocks is {self.blocks}" if self.blocks else "no blocks were given"
        require(
            len(self.blocks) > 1 and min(map(len, self.blocks)) > 0 and lags == list(range(1, len(lags) + 1)),
            f"{told}, but at least two are needed, adjacent and beginning with lag 1. Example: "
            "`headway predict minimal --ratio 1.5 --blocks 1-2 3-4 5-6`.",
        )
        require_number("ratio", self.ratio, least=1)
        require(
            self.copies == 1 and self.repeated == 0,
            'copies and repeated are about paper B\'s tasks, but the model is "minimal". Leave them out.',
        )
        if self.start is not None:
            require_number("start", self.start, above=0, below=1)
        if self.boundary is not None:
            require_whole("boundary", self.boundary, 1)
            require(
                self.boundary < len(self.blocks),
                f"boundary is {self.boundary}, but {len(self.blocks)} blocks have {len(self.blocks) - 1} of them.",
            )

    def _check_the_strength(self) -> None:
        if self.strength is None:
            return
        require_number("strength", self.strength, above=0)
        require(
            self.strength <= 1,
            f"strength is {self.strength:g}, but only weaker attention has a law: above 1 the plateau soon stops "
            "getting shorter (`headway claims G5 --from results`). Use a number of at most 1.",
        )
        require(
            self.copies == 1 and self.repeated == 0,
            'copies and repeated are about paper B\'s tasks, but the model is "moving-window". Leave them out.',
        )

    def _check_the_accuracy(self) -> None:
        require(
            self.embedding is None or self.kind.answers,
            f"embedding is {self.embedding!r}, but it applies to recall only, not to {self.model}. Leave it out.",
        )
        if self.accuracy is None:
            return
        require(
            self.vocab is not None,
            f"accuracy is {self.accuracy!r}, but it applies to recall only, not to {self.model}. Leave it out.",
        )
        chance = 1 / (self.vocab or 1)
        require_number("accuracy", self.accuracy, above=0)
        require(
            chance < self.accuracy < 1,
            f"accuracy is {self.accuracy:g}, but guessing gets {chance:.2g} of {self.vocab} symbols right, and 1 is "
            f"never reached. Use a number above {chance:.2g} and below 1.",
        )

    def _check_that_copies_fit(self) -> None:
        require(
            self.kind.answers or self.copies == int(self.copies),
            f"copies is {self.copies:g}, but {self.model} has a whole number of them. Round it.",
        )
        room = self.pairs if self.length is None else self.length - self.kind.others
        larger = "more pairs" if self.length is None else "a larger length"
        require(
            room is not None and self.copies <= room,
            f"copies is {self.copies:g}, but at most {room} fit. Use fewer, or {larger}.",
        )
        require(
            self.repeated < 1,
            f"repeated is {self.repeated:g}, but it is a probability below 1: a model that only sees the repeated "
            "token learns nothing else.",
        )
