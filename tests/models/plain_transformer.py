"""The transformer once more, position by position and head by head, in NumPy: slow, and hard to get wrong."""

import cmath
import math
from typing import NamedTuple

import numpy as np

from headway.models.attention import Attention
from headway.models.transformer import MLP, Norm, Transformer


class PlainReading(NamedTuple):
    """Of all positions; patterns and what was written layer by layer, (head, query, ...)."""

    logits: np.ndarray
    patterns: list[np.ndarray]
    written: list[np.ndarray]


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


def one_hot(place: int, size: int) -> np.ndarray:
    return np.eye(size)[place]


def layer_norm(norm: Norm, x: np.ndarray) -> np.ndarray:
    """Zero mean and unit variance over the width, then the learned scale and shift."""
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * np.asarray(norm.scale) + np.asarray(norm.shift)


def relu_layer(mlp: MLP, x: np.ndarray) -> np.ndarray:
    hidden = np.maximum(x @ np.asarray(mlp.inner) + np.asarray(mlp.inner_bias), 0)
    return hidden @ np.asarray(mlp.outer) + np.asarray(mlp.outer_bias)


def sinusoid(position: int, width: int) -> np.ndarray:
    """Pairs sin, cos whose wavelengths grow from 2 pi to 10000 * 2 pi."""
    angles = [position / 10000 ** (2 * (i // 2) / width) for i in range(width)]
    return np.array([math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(angles)])


def vector(model: Transformer, token: int, position: int) -> np.ndarray:
    """What enters the first layer at a position."""
    code = one_hot(token, model.vocab) if model.embedding is None else np.asarray(model.embedding)[token]
    match model.settings.positions:
        case "one-hot":
            return np.concatenate([code, one_hot(position, model.length)])
        case "learned":
            return code + np.asarray(model.positions)[position]
        case "sinusoidal":
            return code + sinusoid(position, len(code))
        case _:
            return code


def turned(x: np.ndarray, position: int) -> np.ndarray:
    """Coordinates i (even) and i + 1 are a complex number; its angle grows by position / 10000^(i/size)."""
    out = []
    for i in range(0, len(x), 2):
        number = complex(x[i], x[i + 1]) * cmath.exp(1j * position / 10000 ** (i / len(x)))
        out += [number.real, number.imag]
    return np.array(out)


def score(attention: Attention, positions: str, number: int, past: list[np.ndarray], place: int) -> float:
    """How much a head wants to look from the newest input to the one at a place."""
    newest, heads = len(past) - 1, len(attention.query)
    query, key = past[newest] @ np.asarray(attention.query)[number], past[place]
    if attention.key is not None:
        key = key @ np.asarray(attention.key)[number]
    if positions == "rotary":
        query, key = turned(query, newest), turned(key, place)
    found = query @ key
    if positions == "relative-keys":
        found += query @ np.asarray(attention.codes)[number, newest - place]
    found /= math.sqrt(len(query)) if attention.scaled else 1
    if positions == "relative":
        found += np.asarray(attention.bias)[number, newest - place]
    if positions == "alibi":
        found -= 2 ** (-8 * (number + 1) / heads) * (newest - place)
    return found


def head(attention: Attention, positions: str, number: int, past: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What a head gives to every input up to now, and what it writes at the newest."""
    mixing = np.asarray(attention.value)[number]
    if attention.output is not None:
        mixing = mixing @ np.asarray(attention.output)[number]
    pattern = softmax(np.array([score(attention, positions, number, past, place) for place in range(len(past))]))
    return pattern, sum(share * x for share, x in zip(pattern, past, strict=True)) @ mixing


def attend(
    attention: Attention, positions: str, x: list[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """What every position receives, and every head's pattern and what it wrote."""
    heads = attention.query.shape[0]
    patterns = np.zeros((heads, len(x), len(x)))
    written = np.zeros((heads, len(x), len(x[0])))
    for q in range(len(x)):
        for number in range(heads):
            patterns[number, q, : q + 1], written[number, q] = head(attention, positions, number, x[: q + 1])
    return list(written.sum(axis=0)), patterns, written


def read(model: Transformer, tokens: list[int]) -> PlainReading:
    """The forward pass at all positions, without dropout."""
    norm, residual = model.settings.norm, model.settings.residual
    x = [vector(model, token, position) for position, token in enumerate(tokens)]
    patterns, written = [], []
    for layer in model.layers:
        entered = [layer_norm(layer.norms[0], each) for each in x] if norm == "pre" else x
        received, pattern, wrote = attend(layer.attention, model.settings.positions, entered)
        patterns.append(pattern)
        written.append(wrote)
        x = [old + new for old, new in zip(x, received, strict=True)] if residual else received
        if norm == "post":
            x = [layer_norm(layer.norms[0], each) for each in x]
        if layer.mlp is not None:
            received = [
                relu_layer(layer.mlp, layer_norm(layer.norms[1], each) if norm == "pre" else each) for each in x
            ]
            x = [old + new for old, new in zip(x, received, strict=True)] if residual else received
            if norm == "post":
                x = [layer_norm(layer.norms[1], each) for each in x]
    if model.final_norm is not None:
        x = [layer_norm(model.final_norm, each) for each in x]
    logits = [each[: model.vocab] if model.readout is None else each @ np.asarray(model.readout) for each in x]
    return PlainReading(np.array(logits), patterns, written)
