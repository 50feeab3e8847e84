"""Which chain there is to learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from headway.settings.checks import require, require_number, require_whole, settle

Blocks = tuple[tuple[int, ...], ...]
Weights = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class TaskSettings:
    """The importance-structured Markov chain (paper A, equation 1)."""

    tokens: int = 50
    """Size of the dictionary, d."""
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
    """Make the feature matrices orthogonal to each other, not only each to itself."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.tokens", self.tokens, 2)
        require_whole("task.horizon", self.horizon, 1)
        require_number("task.ratio", self.ratio, above=0)
        require_number("task.base", self.base, above=0)
        require(
            len(self.blocks) > 0 and all(len(block) > 0 for block in self.blocks),
            f"task.blocks is {self.blocks!r}, but every block needs a lag or more, as in ((1, 2), (3, 4)).",
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
                len(self.blocks) <= self.tokens,
                f"{len(self.blocks)} mutually orthogonal features do not fit {self.tokens} tokens. "
                f"Use task.tokens >= {len(self.blocks)} or fewer blocks.",
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
        """Number of tokens that a model reads: all but the last, which is only predicted."""
        return self.start + self.horizon - 1
