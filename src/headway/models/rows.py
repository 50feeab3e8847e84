"""How rows of tokens are read: the last `horizon` tokens of a row are to be predicted, each from those before it."""

from typing import NamedTuple, Protocol, runtime_checkable


@runtime_checkable
class Rows(Protocol):
    """`start` tokens come before the first that is predicted; a model reads `length`, all but the last, or windows."""

    @property
    def start(self) -> int: ...

    @property
    def horizon(self) -> int: ...

    @property
    def length(self) -> int: ...


class PlainRows(NamedTuple):
    """Rows of start + horizon tokens."""

    start: int
    horizon: int

    @property
    def length(self) -> int:
        return self.start + self.horizon - 1
