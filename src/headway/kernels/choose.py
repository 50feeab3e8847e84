"""Which form computes a model's gradient and reads it: chosen by device, switches and shape, never by the user."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
from jaxtyping import Array, Int

from headway.kernels import cpu, cuda, simple
from headway.kernels.asked import Asked, is_minimal
from headway.kernels.tables import form as tables
from headway.kernels.tables.form import BatchReading, DenseKernels
from headway.models.gradient import BatchGradient
from headway.models.transformer import Transformer

Read = Callable[[Transformer, Int[Array, "batch time"]], BatchReading]


NOT_COMPILED = (
    "the CPU kernels need numba and a jaxlib whose interface for calls they know, so XLA compiles the whole step"
)
NOT_SERVED = (
    "no CUDA kernel serves the whole of this model, so XLA compiles the step; the fastest are the minimal model in "
    "float32 and the full model in tf32, up to the sizes in src/headway/kernels/README.md"
)
NOT_TABLES = (
    "the fast forms know causal attention by softmax, without biases, emphasis or dropped codes of distances, so XLA "
    "compiles the whole step"
)
NOT_USABLE = (
    "the CUDA kernels need an NVIDIA GPU of compute capability 8 or more and NVRTC, which comes with jax[cuda12] or "
    "jax[cuda13], so XLA compiles the whole step"
)


MOST_KEPT = 64
"""Forms that stay: whoever asks for the same gets the same, and a program of equal parts is compiled once."""


class Form(NamedTuple):
    """How a model is differentiated and read, in which words, and why nothing faster serves it."""

    name: str
    gradient: BatchGradient
    read: Read
    shortfall: str | None


def form_of(asked: Asked, chunk: int, reading_chunk: int) -> Form:
    """The fastest form for this model on this device; `chunk` sequences at a time where it is not fused."""
    if not tables.serves(asked.model):
        return _plain(asked, chunk, reading_chunk)
    return (_on_cpu if jax.devices()[0].platform == "cpu" else _on_gpu)(asked, chunk, reading_chunk)


@lru_cache(MOST_KEPT)
def _tables(asked: Asked, chunk: int, reading_chunk: int, shortfall: str | None) -> Form:
    task = asked.rows

    def gradient(model, sequences, weights, key):
        return tables.gradient(model, task, sequences, weights, key, chunk)

    def read(model, sequences):
        return tables.read(model, task, sequences, reading_chunk)

    return Form("tables over (token, position)", gradient, read, shortfall)


@lru_cache(MOST_KEPT)
def _dense(asked: Asked, chunk: int, reading_chunk: int, shortfall: str) -> Form:
    """For GPUs: their products cost less than looking rows up in tables and adding to them."""
    task, kernels = asked.rows, _dense_kernels(asked.precision)

    def gradient(model, sequences, weights, key):
        return tables.gradient(model, task, sequences, weights, key, chunk, dense=True, kernels=kernels)

    return Form("dense products", gradient, _tables(asked, chunk, reading_chunk, None).read, shortfall)


def _dense_kernels(precision: str) -> DenseKernels | None:
    """Those of this GPU for products of this precision, if it has any."""
    if precision != "tf32" or not cuda.usable():
        return None
    from headway.kernels.cuda import dense, halves, own_rows

    return DenseKernels(own_rows.written, dense.logits, halves.evening)


@lru_cache(MOST_KEPT)
def _plain(asked: Asked, chunk: int, reading_chunk: int) -> Form:
    task = asked.rows

    def gradient(model, sequences, weights, key):
        return simple.gradient(model, task, sequences, weights, key, chunk)

    def read(model, sequences):
        return BatchReading(*simple.read(model, task, sequences, reading_chunk))

    return Form("sequence by sequence", gradient, read, NOT_TABLES)


def _on_cpu(asked: Asked, chunk: int, reading_chunk: int) -> Form:
    if not cpu.usable():
        return _tables(asked, chunk, reading_chunk, NOT_COMPILED)
    if not is_minimal(asked):
        return _tables(asked, chunk, reading_chunk, None)
    return _numba(asked)


@lru_cache(MOST_KEPT)
def _numba(asked: Asked) -> Form:
    from headway.kernels.cpu import one_hot  # late: numba takes half a second to import

    task = asked.rows

    def gradient(model, sequences, weights, key):
        return one_hot.gradient(model, task, sequences, weights)

    def read(model, sequences):
        logits, pattern = one_hot.read(model, task, sequences)
        return BatchReading(logits, pattern[None])

    return Form("one kernel, compiled by numba", gradient, read, None)


def _on_gpu(asked: Asked, chunk: int, reading_chunk: int) -> Form:
    from headway.kernels.cuda import full, ngram, one_hot

    if one_hot.covers(asked):
        return _cuda(asked, chunk, reading_chunk, minimal=True)
    if full.covers(asked) or ngram.covers(asked):
        return _cuda(asked, chunk, reading_chunk, minimal=False)
    shortfall = NOT_SERVED if cuda.usable() else NOT_USABLE
    return (_tables if asked.windows else _dense)(asked, chunk, reading_chunk, shortfall)


@lru_cache(MOST_KEPT)
def _cuda(asked: Asked, chunk: int, reading_chunk: int, minimal: bool) -> Form:
    from headway.kernels.cuda import full, ngram, one_hot

    task = asked.rows
    if minimal:
        name = "one CUDA kernel"
        gradient = lambda model, sequences, weights, key: one_hot.gradient(model, task, sequences, weights)  # noqa: E731
    else:
        name = "CUDA kernels between the library's products"
        form = ngram if asked.windows else full
        gradient = lambda model, sequences, weights, key: form.gradient(model, task, sequences, weights, key)  # noqa: E731
    plain = _tables(asked, chunk, reading_chunk, None)
    return Form(name, gradient, plain.read, None)
