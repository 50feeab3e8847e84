"""What a form is asked to differentiate: a model on rows of tokens, whatever task they come from."""

from dataclasses import dataclass, replace

from headway.models.rows import Rows
from headway.presets import MINIMAL
from headway.settings import ModelSettings


@dataclass(frozen=True)
class Asked:
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


FREE = ("heads", "width", "scaled_scores", "initialisation", "scale")
"""What a kernel for the minimal model leaves open; one-hot embeddings set the width by themselves."""


def is_minimal(asked: Asked) -> bool:
    """Whether these are the minimal model's switches, for any heads, sizes and start, scaled or not, in float32."""
    return has_minimal_switches(asked.model) and asked.precision == "float32"


def has_minimal_switches(model: ModelSettings) -> bool:
    return model == replace(MINIMAL, **{name: getattr(model, name) for name in FREE})
