"""The importance-structured Markov chain of paper A, section 2.1, with everything about it exact."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from headway.lazily import Array, Float, Int, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_number, require_whole, settle
from headway.tasks.devices import on_cpu
from headway.tasks.features import independent_features, mutually_orthogonal_features
from headway.tasks.value_alignment import Stream, cosines, token_maps

Blocks = tuple[tuple[int, ...], ...]
Weights = tuple[tuple[float, ...], ...]


class Features(NamedTuple):
    """What a seed has to learn: A_k = m_k Q_k, and the weight of every lag in every block."""

    matrices: Float[Array, "block token token"]
    weights: Float[Array, "block lag"]


@dataclass(frozen=True)
class Chain:
    """p(x_t | past) = softmax( sum_k A_k sum_i alpha_i x_{t-i} ), lags i = 1 (newest) .. w (paper A, equation 1).

    With blocks (1, 2) and (3, 4), the first w = 4 tokens are uniform and the rest is drawn:

        tokens:   7  2  0  5 | 3  1  6 ..
                  uniform    | each drawn from the four before it
        lags of 3: 4  3  2  1
                  `block 2` `block 1`: the strongest

    A learner that has found the first i blocks predicts by rung i; rung 0 is uniform and the last rung is the truth.
    """

    NAME: ClassVar[str] = "markov"
    NUMBERS: ClassVar[tuple[str, ...]] = ("ratio",)
    PROGRESS: ClassVar[str] = "excess_loss"

    vocab: int = 50
    """Vocabulary size, d."""
    blocks: Blocks = ((1, 2), (3, 4), (5, 6))
    """Blocks of lags, the most important first; lag 1 is the newest token."""
    weighting: Literal["mean", "sum", "given"] = "mean"
    """Weight of a lag within its block: 1/size, 1, or the numbers in `weights`."""
    weights: Weights = ()
    """With weighting "given": one number per lag, block by block."""
    ratio: float = 1.7
    """m: each block is this many times as strong as the next."""
    base: float = 10.0
    """b0: strength of the least important block."""
    horizon: int = 20
    """T: how many tokens are drawn from the chain and predicted."""
    order: int | None = None
    """w: how many uniform tokens a sequence starts with; the largest lag if not given."""
    orthogonal: bool = False
    """Make the feature matrices orthogonal to each other; each of them is an orthogonal matrix anyway."""
    context: int | None = None
    """Show the model only windows of this many tokens (an n-gram model); all of them if not given."""
    references: tuple[int, ...] = ()
    """Compare with n-gram models of these context lengths, trained with the same settings."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.vocab", self.vocab, 2)
        require_whole("task.horizon", self.horizon, 1)
        require_number("task.ratio", self.ratio, above=0)
        require_number("task.base", self.base, above=0)
        require(
            len(self.blocks) > 0 and all(len(block) > 0 for block in self.blocks),
            f"task.blocks is {self.blocks!r}, but every block needs at least one lag, as in ((1, 2), (3, 4)).",
        )
        for block in self.blocks:
            name = f"a lag of task.blocks {block}"
            for lag in block:
                require_whole(name, lag, 1)
            require(
                len(set(block)) == len(block),
                f"the block {block} of task.blocks names a lag twice. Give that lag a larger weight instead.",
            )
        if self.order is not None:
            require_whole("task.order", self.order, 1)
            require(
                max(self.lags) <= self.order,
                f"lag {max(self.lags)} looks before the start of a context of {self.order} tokens. "
                f"Use task.order >= {max(self.lags)}, or drop that lag.",
            )
        self._check_weights()
        self._check_strength()
        if self.orthogonal:
            require(
                len(self.blocks) <= self.vocab,
                f"{len(self.blocks)} mutually orthogonal features do not fit {self.vocab} tokens. "
                f"Use task.vocab >= {len(self.blocks)} or fewer blocks.",
            )
        for name, context in (("context", self.context), *(("references", each) for each in self.references)):
            if context is not None:
                require_whole(f"task.{name}", context, 1)
                require(
                    context <= self.start,
                    f"task.{name} asks for windows of {context} tokens, but the first predicted token has only "
                    f"{self.start} before it. Use at most {self.start}, or a larger task.order.",
                )

    def _check_strength(self) -> None:
        """The strongest block is base ratio^(blocks - 1), and single precision must hold what it adds up to."""
        exponent = math.log10(self.base) + (len(self.blocks) - 1) * math.log10(self.ratio)
        require(
            exponent < 30,
            f"task.ratio {self.ratio:g} and task.base {self.base:g} make the strongest of {len(self.blocks)} blocks "
            f"10^{exponent:.0f}, but it may be 10^30 at most. Use smaller ones.",
        )

    def _check_weights(self) -> None:
        if self.weighting != "given":
            require(
                not self.weights,
                f'task.weights are given but task.weighting is "{self.weighting}". '
                'Use task.weighting "given", or leave the weights out.',
            )
            return
        wanted = tuple(len(block) for block in self.blocks)
        got = tuple(len(row) for row in self.weights)
        require(
            wanted == got,
            f"task.weights have {got or 'no'} numbers per block, but the blocks have {wanted} lags. "
            "Give one number for each lag.",
        )
        for row in self.weights:
            for weight in row:
                require_number("a number of task.weights", weight)

    @property
    def lags(self) -> tuple[int, ...]:
        """Every lag that some block uses, newest first."""
        return tuple(sorted({lag for block in self.blocks for lag in block}))

    @property
    def start(self) -> int:
        """w: number of uniform tokens before the chain begins."""
        return max(self.lags) if self.order is None else self.order

    @property
    def length(self) -> int:
        """Tokens of a sequence that can be read: all but the last, which is only predicted."""
        return self.start + self.horizon - 1

    @property
    def reads(self) -> int:
        """Tokens that a model reads at once."""
        return self.length if self.context is None else self.context

    @property
    def predicted(self) -> int:
        return self.horizon

    @property
    def relevant(self) -> tuple[tuple[int, int], ...]:
        """(query, key) of every lag of a block, behind each token that is predicted; what a window shows of them."""
        last = range(self.reads - (self.horizon if self.context is None else 1), self.reads)
        return tuple((place, place + 1 - lag) for place in last for lag in self.lags if lag <= place + 1)

    @property
    def rungs(self) -> tuple[str, ...]:
        """f_{1:i} knows the first i blocks."""
        return ("uniform", *(f"f_{{1:{i}}}" for i in range(1, len(self.blocks) + 1)))

    def about(self) -> About:
        return About(
            title=f"A Markov chain with vocabulary size {self.vocab} and {len(self.blocks)} blocks of lags",
            rungs=self.rungs,
            loss="cross-entropy",
            progress=self.PROGRESS,
            groups=tuple((f"block {k}", block) for k, block in enumerate(self.blocks, start=1)),
        )

    def label(self, settings: Any) -> str:
        """What sets a run apart on the screen: full, minimal, 4-gram."""
        model = "full" if settings.model.embedding == "learned" or settings.model.readout else "minimal"
        return model if self.context is None else f"{self.context}-gram"

    def reference_runs(self, settings: Any) -> tuple[Any, ...]:
        """The n-gram models that a run compares itself with: the same in all but the context."""
        if not self.references:
            return ()
        evaluation = replace(settings.evaluation, snapshots=0, also=(), comparisons=False)
        alone = replace(self, references=())
        return tuple(
            replace(settings, task=replace(alone, context=context), evaluation=evaluation)
            for context in self.references
        )

    def world(self, key: PRNGKeyArray) -> Features:
        """Freshly drawn features A_k = m_k Q_k; `ratio` may be traced to differ between runs."""
        drawn = mutually_orthogonal_features if self.orthogonal else independent_features
        matrices = drawn(key, len(self.blocks), self.vocab)
        scaled = self.strengths().astype(matrices.dtype)[:, None, None] * matrices
        return Features(scaled, jnp.asarray(self.lag_weights(), matrices.dtype))

    def strengths(self) -> Float[Array, " block"]:
        """m_k = m^(h-k) b0: the first block is the strongest."""
        return jnp.asarray(self.ratio) ** jnp.arange(len(self.blocks) - 1, -1, -1) * self.base

    def lag_weights(self) -> np.ndarray:
        """weights[k, i-1]: the weight of lag i in block k; zero outside the block."""
        table = np.zeros((len(self.blocks), self.start))
        for k, block in enumerate(self.blocks):
            inside = {
                "mean": np.full(len(block), 1 / len(block)),
                "sum": np.ones(len(block)),
                "given": np.asarray(self.weights[k] if self.weights else ()),
            }[self.weighting]
            table[k, np.asarray(block) - 1] = inside
        return table

    def sample(self, world: Features, key: PRNGKeyArray) -> Int[Array, " time"]:
        """One sequence: w uniform tokens, then `horizon` tokens of the chain."""
        first, rest = jax.random.split(key)

        def draw(window, level):
            # Inverse of the distribution function: one random number a token instead of one a candidate.
            cumulative = jnp.cumsum(self.conditional(world, window))
            token = jnp.sum(cumulative <= level * cumulative[-1]).astype(window.dtype)
            return jnp.append(window[1:], token), token

        beginning = jax.random.randint(first, (self.start,), 0, self.vocab)
        levels = jax.random.uniform(rest, (self.horizon,), world.matrices.dtype)
        _, drawn = jax.lax.scan(draw, beginning, levels)
        return jnp.concatenate([beginning, drawn])

    def conditional(self, world: Features, window: Int[Array, " lag"]) -> Float[Array, " token"]:
        """p(next token | window), the newest token last: the truth, which is the last rung."""
        rows = self.rows_round_alike and on_cpu()
        blocks = self.added_rows(world, window) if rows else self.one_hot_products(world, window)
        # Added up one after the other, as the rungs are, so that both round alike.
        return jax.nn.softmax(jnp.cumsum(blocks, axis=0)[-1])

    @property
    def rows_round_alike(self) -> bool:
        """w a + v b is rounded once, in any order, if w and v are powers of two; w a alone with any weight.

        Then rows of the features and products with one-hot vectors give the same bits, so that a seed draws the same
        tokens by both. Three lags or other weights round more than once, and in the order in which a product adds up.
        """
        used = [row[row != 0] for row in self.lag_weights()]
        return all(len(row) <= 1 or (len(row) == 2 and bool(np.all(np.abs(np.frexp(row)[0]) == 0.5))) for row in used)

    def one_hot_products(self, world: Features, window: Int[Array, " lag"]) -> Float[Array, "block token"]:
        """A_k sum_i alpha_i x_{t-i}: what each block adds to the logits of the next token, by the formula."""
        lagged = jax.nn.one_hot(window[::-1], self.vocab, dtype=world.matrices.dtype)
        # Whatever precision the model is trained in.
        mixed = jnp.matmul(world.weights, lagged, precision="highest")
        return jnp.einsum("kyx,kx->ky", world.matrices, mixed, precision="highest")

    def added_rows(self, world: Features, window: Int[Array, " lag"]) -> Float[Array, "block token"]:
        """sum_i alpha_i A_k[:, x_{t-i}]: the same, where a product with a one-hot vector is the row it chooses.

        A product reads the whole matrix for every token, which took most of the time of drawing on a CPU.
        """
        rows = jnp.moveaxis(world.matrices, 2, 0)
        return jnp.stack(
            [
                sum(world.weights[k, lag - 1] * rows[window[-lag], k] for lag in block)
                for k, block in enumerate(self.blocks)
            ]
        )

    def contributions(self, world: Features, sequence: Int[Array, " time"]) -> Float[Array, "predicted block token"]:
        """What every block adds to the logits at every predicted position of a whole sequence."""
        # Rows of the features instead of products with one-hot vectors, and sums instead of products with the weights.
        added = jnp.moveaxis(world.matrices, 2, 0)[sequence]
        blocks = jnp.zeros((self.horizon, *world.matrices.shape[:2]), world.matrices.dtype)
        for lag in range(1, self.start + 1):
            first = self.start - lag
            blocks = blocks + world.weights[:, lag - 1, None] * added[first : first + self.horizon]
        return blocks

    def ladder(self, world: Features, sequence: Int[Array, " time"]) -> Float[Array, "rung predicted token"]:
        """Log-probabilities of every rung at every predicted position."""
        blocks = self.contributions(world, sequence)
        logits = jnp.concatenate([jnp.zeros_like(blocks[:, :1]), jnp.cumsum(blocks, axis=1)], axis=1)
        return jnp.swapaxes(jax.nn.log_softmax(logits), 0, 1)

    def comparisons(self, world: Features, sequence: Int[Array, " time"]) -> dict[str, Array]:
        """`subsets`: every combination of blocks; number n knows block k + 1 exactly if bit k of n is set."""
        blocks = self.contributions(world, sequence)
        known = (jnp.arange(2 ** blocks.shape[1])[:, None] >> jnp.arange(blocks.shape[1])) & 1
        chosen = jnp.einsum("sk,tky->sty", known.astype(blocks.dtype), blocks, precision="highest")
        return {"subsets": jax.nn.log_softmax(chosen)}

    def parameter_measures(self, world: Features, model: Stream) -> dict[str, Array]:
        """`value_alignment`, (layer, head, block): the cosine between what a head adds and what a block has to add."""
        return {"value_alignment": cosines(token_maps(model, self.vocab), world.matrices)}
