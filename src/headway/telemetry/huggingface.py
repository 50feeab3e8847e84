"""Models of transformers: an attention function of ours, set for a probe and taken back after it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any

NAME = "headway"


def can_watch(model: Any) -> bool:
    """Whether it is a model of transformers that lets its attention function be set."""
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(model, transformers.PreTrainedModel):
        return False
    return bool(getattr(model, "_can_set_attn_implementation", lambda: False)())


@contextlib.contextmanager
def attention_of_ours(model: Any, take: Callable[..., None]) -> Generator[str]:
    """Every attention of the model hands its queries and keys to `take`; what it computes is PyTorch's SDPA."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, dropout: float = 0.0, **more: Any
    ) -> Any:
        causal = more.get("is_causal")
        causal = getattr(module, "is_causal", True) if causal is None else causal
        take(
            query=query, key=key, value=value, mask=attention_mask, causal=causal and attention_mask is None,
            scale=more.get("scaling"), softcap=more.get("softcap"),
        )  # fmt: skip
        if more.get("softcap") is not None:
            return _capped(module, query, key, value, attention_mask, more["scaling"], more["softcap"]), None
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout=dropout, **more)

    before = [(config, config._attn_implementation_internal) for config in _configs(model.config)]
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    try:
        model.set_attn_implementation(NAME)
        yield "an attention function of transformers"
    finally:
        for config, name in before:
            config._attn_implementation_internal = name


def _capped(module: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, cap: float) -> Any:
    """cap tanh(q k / cap), which SDPA does not know."""
    import torch

    groups = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
    scores = torch.tanh(query @ key.transpose(-1, -2) * scale / cap) * cap
    past = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    seen = past if mask is None else mask
    scores = scores.masked_fill(~seen, float("-inf")) if seen.dtype == torch.bool else scores + seen
    return (scores.float().softmax(-1).to(value.dtype) @ value).transpose(1, 2).contiguous()


def _configs(config: Any) -> Generator[Any]:
    """The configuration and those inside it."""
    yield config
    for name in getattr(config, "sub_configs", ()):
        inner = getattr(config, name, None)
        if inner is not None:
            yield from _configs(inner)
