"""The sizes that a kernel of the minimal model is compiled for, and the room that its arrays take."""

from typing import NamedTuple

from headway.kernels.cpu import LANES

BLOCK = 4
"""Sequences that go through a step together, so that one head's tables stay in the fastest cache."""


class Shape(NamedTuple):
    """Heads, the vocabulary, the context, and how many of its last positions are queries.

    A `room` is a size rounded up to whole vectors or whole tiles.
    """

    heads: int
    tokens: int
    length: int
    queries: int

    def name(self, what: str) -> str:
        """Of the custom call that does it."""
        return f"headway_one_hot_{what}_{'_'.join(map(str, self))}"

    @property
    def width(self) -> int:
        """Rows of a head's tables: tokens and then positions."""
        return self.tokens + self.length

    @property
    def first(self) -> int:
        """Position of the first query."""
        return self.length - self.queries

    @property
    def tile_vectors(self) -> int:
        """Vectors of a row over tokens that a tile holds in registers: at most 12 of the 16 that most machines have."""
        vectors = -(-self.tokens // LANES)
        return -(-vectors // -(-vectors // 12))

    @property
    def tile_height(self) -> int:
        """Rows of a tile: with short rows, several of them hide how long a sum takes."""
        return max(1, min(4, 8 // self.tile_vectors))

    @property
    def token_room(self) -> int:
        return _up(self.tokens, LANES * self.tile_vectors)

    @property
    def key_room(self) -> int:
        return _up(self.length, LANES)

    @property
    def query_room(self) -> int:
        return _up(self.queries, max(2, self.tile_height))

    @property
    def score_room(self) -> int:
        """A row of scores: those of the tokens and then, on a vector of their own, those of the positions."""
        return self.token_room + self.key_room

    @property
    def place_room(self) -> int:
        """The tokens of one sequence with its last target."""
        return self.key_room + LANES

    @property
    def pattern(self) -> int:
        """Numbers in one head's pattern of one sequence."""
        return self.query_room * self.key_room

    @property
    def scratch(self) -> int:
        """What a slice works with: per sequence of a block patterns, their change and logits; then one head's values,
        a row of scores, a tile and a number for each query."""
        block = BLOCK * ((self.heads + 1) * self.pattern + self.query_room * self.token_room)
        one = (self.key_room + self.tile_height) * self.token_room + self.score_room
        return block + one + _up(self.query_room, LANES)


def _up(size: int, step: int) -> int:
    """The next multiple of a step."""
    return step * -(-size // step)
