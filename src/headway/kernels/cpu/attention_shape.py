"""The sizes that kernels of attention by table are compiled for, and the room that their arrays take."""

from typing import NamedTuple

from headway.kernels.cpu import LANES

KEYS_AT_ONCE = 4
"""Rows of the value table whose gradient is held in registers together."""


def _rounded(count: int, step: int) -> int:
    return step * -(-count // step)


class Shape(NamedTuple):
    """What a kernel is compiled for."""

    heads: int
    tokens: int
    length: int
    queries: int
    coordinates: int

    def name(self, part: str) -> str:
        """Of the custom call that does it."""
        return f"headway_attention_{part}_{'_'.join(map(str, self))}"

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and vectors of results that are held in registers together."""
        return (4, 2) if self.queries > 1 else (1, 8)

    @property
    def width(self) -> int:
        """Coordinates, rounded up to whole tiles."""
        return _rounded(self.coordinates, LANES * self.tile[1])

    @property
    def stride(self) -> int:
        """Rows lie this far apart in the scratch: a power of two would put them all on the same lines of the cache."""
        return self.width + 2 * LANES

    @property
    def key_room(self) -> int:
        return _rounded(self.length, LANES)

    @property
    def query_room(self) -> int:
        return _rounded(self.queries, max(2, self.tile[0]))

    @property
    def scratch(self) -> int:
        """Numbers that a slice works with: patterns, their gradient, values, what is written, and some lines."""
        pattern = self.query_room * self.key_room
        rows = self.key_room + self.query_room + KEYS_AT_ONCE
        return 2 * pattern + rows * self.stride + LANES * self.query_room
