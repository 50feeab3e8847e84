"""The sizes that kernels of dropped rows are compiled for."""

from typing import NamedTuple

from headway.kernels.cpu import LANES

COLUMNS = 8 * LANES
"""Of a matrix, which a kernel holds in registers together."""


class Shape(NamedTuple):
    """What a kernel is compiled for; rates are in units of 2^-32."""

    width: int
    length: int
    queries: int
    tokens: int
    rate: int
    key: int
    value: int
    query: int

    def name(self, part: str) -> str:
        """Of the custom call that does it."""
        return f"headway_dropped_{part}_{'_'.join(map(str, self))}"

    @property
    def tiles(self) -> tuple[tuple[int, int], ...]:
        """(part, its first column) of every tile: all keys' columns, all values', all queries'."""
        parts = (self.key, self.value, self.query)
        return tuple((part, first) for part, columns in enumerate(parts) for first in range(0, columns, COLUMNS))

    @property
    def scale(self) -> float:
        """1 / (1 - rate)."""
        return 2**32 / (2**32 - self.rate)
