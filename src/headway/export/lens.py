"""A model in TransformerLens's words, or why there are none for it.

One-hot embeddings, one-hot and sinusoidal positions are tables that learnt nothing, and logits that are coordinates of
the stream are read off by a table of zeros and ones: all of these TransformerLens can hold.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headway.export.errors import ExportError
from headway.models.attention import Attention
from headway.models.positions import sinusoidal
from headway.trained import TrainedModel


def lens_config(model: TrainedModel) -> dict[str, Any]:
    """The arguments of HookedTransformerConfig, and of TransformerBridgeConfig."""
    _require_expressible(model)
    settings, module, reads = model.module.settings, model.module, model.reads
    width = module.layers[0].attention.query.shape[1]
    score = module.layers[0].attention.query.shape[2]
    config = {
        "n_layers": len(module.layers),
        "d_model": width,
        "n_ctx": reads.positions,
        "n_heads": settings.heads,
        "d_head": score,
        "d_vocab": reads.inputs,
        "d_vocab_out": reads.outputs,
        "attn_only": settings.mlp == 0,
        "normalization_type": "LN" if settings.norm == "pre" else None,
        "positional_embedding_type": "rotary" if settings.positions == "rotary" else "standard",
        **({} if settings.causal else {"attention_dir": "bidirectional"}),
    }
    if settings.mlp:
        config |= {"d_mlp": settings.mlp, "act_fn": "gelu_new" if settings.activation == "gelu" else "relu"}
    if settings.positions == "rotary":
        config |= {"rotary_dim": score, "rotary_base": 10000, "rotary_adjacent_pairs": True}
    return config


def lens_weights(model: TrainedModel) -> dict[str, np.ndarray]:
    """embed.W_E, blocks.0.attn.W_Q, ...: what TransformerLens calls the weights."""
    _require_expressible(model)
    settings, module, reads = model.module.settings, model.module, model.reads
    _, width, score = module.layers[0].attention.query.shape
    dtype = module.layers[0].attention.query.dtype
    # A bias of the embedding is the same as one more in every row of it.
    embedding = module.embedding if module.embedding_bias is None else module.embedding + module.embedding_bias
    found: dict[str, Any] = {"embed.W_E": _wide(embedding, reads.inputs, width)}
    if settings.positions != "rotary":
        found["pos_embed.W_pos"] = _positions(model, width)
    # Its scores are always divided; where ours are not, the queries make up for it.
    larger = 1.0 if settings.scaled_scores else math.sqrt(score)
    for number, layer in enumerate(module.layers):
        attention, before = layer.attention, f"blocks.{number}."
        found |= {
            f"{before}attn.W_Q": larger * np.asarray(attention.query),
            f"{before}attn.W_K": attention.key,
            f"{before}attn.W_V": attention.value,
            f"{before}attn.W_O": attention.output,
            **{f"{before}attn.b_{name}": bias for name, bias in _biases(attention, larger).items()},
        }
        if layer.mlp is not None:
            mlp = layer.mlp
            found |= {f"{before}mlp.W_in": mlp.inner, f"{before}mlp.b_in": mlp.inner_bias}
            found |= {f"{before}mlp.W_out": mlp.outer, f"{before}mlp.b_out": mlp.outer_bias}
        for place, norm in enumerate(layer.norms, start=1):
            found |= {f"{before}ln{place}.w": norm.scale, f"{before}ln{place}.b": norm.shift}
    if module.final_norm is not None:
        found |= {"ln_final.w": module.final_norm.scale, "ln_final.b": module.final_norm.shift}
    found["unembed.W_U"] = np.eye(width, reads.outputs) if module.readout is None else module.readout
    found["unembed.b_U"] = np.zeros(reads.outputs) if module.readout_bias is None else module.readout_bias
    return {name: np.ascontiguousarray(values, dtype) for name, values in found.items()}


def _biases(attention: Attention, larger: float) -> dict[str, Any]:
    heads, width, score = attention.query.shape
    if attention.biases is None:
        return {"Q": (zeros := np.zeros((heads, score))), "K": zeros, "V": zeros, "O": np.zeros(width)}
    own = attention.biases
    return {"Q": larger * np.asarray(own.query), "K": own.key, "V": own.value, "O": own.output}


def _wide(embedding: Any, vocab: int, width: int) -> np.ndarray:
    """A row a token, with zeros where positions stand."""
    table = np.eye(vocab) if embedding is None else np.asarray(embedding)
    return np.pad(table, ((0, 0), (0, width - table.shape[1])))


def _positions(model: TrainedModel, width: int) -> np.ndarray:
    kind, length = model.module.settings.positions, model.reads.positions
    if kind == "learned":
        return np.asarray(model.module.positions)
    if kind == "sinusoidal":
        return np.asarray(sinusoidal(length, width))
    table = np.zeros((length, width))
    if kind == "one-hot":
        table[:, width - length :] = np.eye(length)
    return table


def _require_expressible(model: TrainedModel) -> None:
    settings = model.module.settings
    reasons = {
        "it reads vectors, and TransformerLens reads tokens": not model.reads.tokens,
        "it has no residual path (model.residual False), which TransformerLens always has": not settings.residual,
        'its norms stand behind their branches (model.norm "post"), and TransformerLens has them before': (
            settings.norm == "post"
        ),
        "its queries and keys are one merged matrix (model.keys False), and TransformerLens has two": not settings.keys,
        "its heads are as wide as the stream and have no output matrix (model.output False)": not settings.output,
        f"its positions are {settings.positions} (a term of the scores), which TransformerLens does not have so": (
            settings.positions in ("relative", "relative-keys", "alibi")
        ),
        "its attention is linear, and TransformerLens's is softmax": settings.attention == "linear",
        "its attention is emphasised where the task says (model.emphasis)": settings.emphasis != 1,
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise ExportError(
            f"TransformerLens cannot express this model: {'; '.join(found)}. --as torch writes it as plain PyTorch."
        )
