"""The initial embedding of recall, which changes its plateau by a factor of ten or more (B4 appendix embedding).

linear   PyTorch's nn.Linear of one-hot tokens, as in paper B's appendix: variance 1/(3 N_tokens)
table    PyTorch's nn.Embedding: variance 1
"""

from __future__ import annotations

import math
from typing import Any, Literal

from headway.forecast.question import Question

Embedding = Literal["linear", "table"]
VARIANCES: dict[Embedding, str] = {"linear": "1/(3 N_tokens)", "table": "1"}
_TIMES_TOKENS = {"pytorch": 1 / 3, "silent-pytorch": 1 / 3, "fan-in": 1.0}
"""Initialisation -> variance of the embedding times N_tokens."""


def embedding_variance(settings: Any) -> str:
    """ "1", "1/N_tokens" or "1/(3 N_tokens)", however it was set; "" of anything else."""
    model, vocab = settings.model, settings.task.vocab
    start = 1.0 if model.initialisation == "unit-embedding" else _TIMES_TOKENS.get(model.initialisation, 0.0) / vocab
    variance = start * model.embedding_scale**2
    laws = {"1": 1.0, "1/N_tokens": 1 / vocab, "1/(3 N_tokens)": 1 / (3 * vocab)}
    return next((words for words, value in laws.items() if math.isclose(variance, value, rel_tol=1e-4)), "")


def wanted(question: Question) -> Embedding:
    """What is asked for; else the appendix's, and with repetition that of the runs with repetition."""
    repeats = question.copies > 1 or question.repeated > 0
    return question.embedding or ("table" if repeats else "linear")


def is_wanted(question: Question, settings: Any) -> bool:
    """Whether a run has the embedding that is asked for."""
    return embedding_variance(settings) == VARIANCES[wanted(question)]


def is_usual(settings: Any) -> bool:
    """Whether it was trained as paper B's appendix says, but for the embedding: task, layers, norm and start."""
    usual = type(settings.task).usual()
    scale = usual.model.embedding_scale
    switches = ("mapping", "keys", "slots")
    return settings.changed(model={"embedding_scale": scale}).model == usual.model and all(
        getattr(settings.task, name) == getattr(usual.task, name) for name in switches
    )
