"""What a form is asked to differentiate: a model on rows of tokens, whatever task they come from."""

from typing import NamedTuple

from headway.models.rows import Rows
from headway.settings import ModelSettings


class Asked(NamedTuple):
    """The model's switches, the precision of its products, and the rows that it reads, whole or in windows."""

    model: ModelSettings
    precision: str
    vocab: int
    rows: Rows
    reads: int
    """Tokens that the model reads at once."""

    @property
    def windows(self) -> bool:
        """Whether it is an n-gram model, which reads a window before each predicted token."""
        return self.reads != self.rows.length

    @property
    def queries(self) -> int:
        """Predicted tokens of what is read at once."""
        return 1 if self.windows else self.rows.horizon
