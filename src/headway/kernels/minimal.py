"""Which settings are the minimal model's, for the kernels that know no other."""

from dataclasses import replace

from headway.presets import MINIMAL
from headway.settings import Settings

FREE = ("heads", "width", "scaled_scores", "initialisation", "scale")
"""What a kernel for the minimal model leaves open; one-hot embeddings set the width by themselves."""


def is_minimal(settings: Settings) -> bool:
    """Whether these are the minimal model's switches, for any heads, sizes and start, scaled or not, in float32."""
    minimal = replace(MINIMAL, **{name: getattr(settings.model, name) for name in FREE})
    return settings.model == minimal and settings.training.precision == "float32"
