"""Which settings are the minimal model's, for the kernels that know no other."""

from dataclasses import replace

from headway.kernels.asked import Asked
from headway.presets import MINIMAL

FREE = ("heads", "width", "scaled_scores", "initialisation", "scale")
"""What a kernel for the minimal model leaves open; one-hot embeddings set the width by themselves."""


def is_minimal(asked: Asked) -> bool:
    """Whether these are the minimal model's switches, for any heads, sizes and start, scaled or not, in float32."""
    minimal = replace(MINIMAL, **{name: getattr(asked.model, name) for name in FREE})
    return asked.model == minimal and asked.precision == "float32"
