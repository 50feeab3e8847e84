"""All numbers of one probe: loss, KL to the ladder, attention by lag and the heads' scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from headway.telemetry import reduction
from headway.telemetry.capture import Call, Seen, catching
from headway.telemetry.errors import TelemetryError
from headway.telemetry.ladder import Ladder, OnDevice
from headway.telemetry.probe import Repeats, repeats
from headway.telemetry.undisturbed import device_of, undisturbed

TOKENS_AT_ONCE = 8192
"""Of the probe, in one forward pass."""
LOGITS_AT_ONCE = 2**25
"""Numbers that are held in float32 at once."""
OF_TEXT = ("entropy", "first_token", "previous_token")
OF_REPEATS = ("duplicate_token", "prefix_matching", "prefix_matching_as_printed")


class Reading(NamedTuple):
    """What one probe found."""

    loss: float
    in_context_score: float
    kl_rungs: np.ndarray | None
    """(rung,)"""
    by_lag: np.ndarray
    """(layer, head, lag)"""
    scores: dict[str, np.ndarray]
    """name -> (layer, head)"""
    found: str
    """Layers, heads, and how they were seen."""


Sums = dict[str, torch.Tensor]
Forward = Callable[[torch.nn.Module, torch.Tensor], Any]


class Reader:
    """Reads a model with a fixed probe; tensors are made once for each device."""

    def __init__(
        self,
        rows: np.ndarray,
        lags: int,
        in_context: tuple[int, int],
        ladder: Ladder | None = None,
        forward: Forward | None = None,
        attention: Any = None,
        start_token: int = 0,
        vocab: int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.rows, self.lags, self.in_context = rows, lags, in_context
        self.ladder, self.forward, self.attention = ladder, forward or usual_forward, attention
        self.start_token, self.vocab, self.dtype = start_token, vocab, dtype
        self._on: dict[Any, Any] = {}

    def read(self, model: torch.nn.Module) -> Reading:
        """One probe; the model is afterwards as it was before."""
        with undisturbed(model, self.dtype):
            seen, text, losses, kl = self._text(model)
            layers = len(text)
            widest = max(each["entropy"].shape[0] for each in text)
            repeated = self._repeats(model, layers)
        by_name: dict[str, list[torch.Tensor]] = {name: [each[name] for each in text] for name in OF_TEXT}
        for k, name in enumerate((*OF_REPEATS, "copying")):
            by_name[name] = [each[k] for each in repeated]
        scores = {name: _padded(values, widest) for name, values in by_name.items()}
        by_lag = _padded([each["by_lag"] for each in text], widest)
        scores["beyond"] = 1 - scores["first_token"] - by_lag.sum(-1)
        early, late = self.in_context
        return Reading(
            loss=float(losses.mean()),
            in_context_score=float(losses[:, late - 1].mean() - losses[:, early - 1].mean()),
            kl_rungs=kl,
            by_lag=by_lag.astype(np.float32),
            scores={name: values.astype(np.float32) for name, values in scores.items()},
            found=f"{layers} layers x {widest} heads, by {seen.way}",
        )

    def _text(self, model: torch.nn.Module) -> tuple[Seen, list[Sums], np.ndarray, np.ndarray | None]:
        count, length = self.rows.shape
        together = max(1, TOKENS_AT_ONCE // length)
        sums: list[Sums] = []
        losses, expected = [], []
        for first in range(0, count, together):
            tokens = self._tensor(model, "rows", self.rows)[first : first + together]
            part: list[Sums] = []

            def take(call: Call, part: list = part, device: str = tokens.device.type) -> None:
                with torch.autocast(device, enabled=False):
                    part.append(reduction.of_text(call, self.lags))

            with catching(model, self.attention, take) as seen:
                logits = logits_of(self.forward(model, tokens), tokens)
            _require(part, seen, len(sums))
            sums = [{k: a[k] + b[k] for k in a} for a, b in zip(sums, part, strict=True)] if sums else part
            with torch.autocast(tokens.device.type, enabled=False):
                one_losses, one_expected = self._of_logits(model, logits, tokens, first * length)
            losses.append(one_losses)
            expected.append(one_expected)
            self.vocab = self.vocab or logits.shape[-1]
        kl = None
        if self.ladder is not None:
            kl = -self.ladder.entropy - torch.stack(expected).sum(0).cpu().double().numpy() / len(self.ladder.positions)
        mean = [{name: value / count for name, value in each.items()} for each in sums]
        return seen, mean, torch.cat(losses).cpu().double().numpy(), kl

    def _of_logits(self, model: Any, logits: Any, tokens: Any, first: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss at every token but the first, (row, time - 1), and what the ladder needs, (rung,)."""
        count, length, vocab = logits.shape
        on, ladder = None, self.ladder
        if ladder is not None:
            if vocab < ladder.base.shape[1]:
                raise TelemetryError(
                    f"the ladder has {ladder.base.shape[1]} tokens, but the model only {vocab}. Fit the n-grams "
                    "to the model's own tokens."
                )
            made = ("ladder", first, first + count * length)
            on = self._made(model, made, lambda device: OnDevice(ladder, *made[1:], device))
        flat = logits.reshape(-1, vocab)
        log_z, products = [], []
        step = max(1, LOGITS_AT_ONCE // vocab)
        for begin in range(0, len(flat), step):
            some = flat[begin : begin + step].float()
            log_z.append(some.logsumexp(-1))
            if on is not None:
                products.append(some[:, : on.base.shape[0]] @ on.base)
        normaliser = torch.cat(log_z)
        target = tokens[:, 1:, None]
        chosen = logits[:, :-1].gather(-1, target)[..., 0].float()
        losses = normaliser.reshape(count, length)[:, :-1] - chosen
        none = torch.zeros(0, device=logits.device)
        return losses, none if on is None else on.expected_log_q(flat, normaliser, torch.cat(products))

    def _repeats(self, model: torch.nn.Module, layers: int) -> list[torch.Tensor]:
        """(score, head) for every layer: those of repeated tokens, then copying."""
        vocab = self.vocab or 2
        made: Repeats = self._made(model, "made", lambda _: repeats(vocab, self.rows.shape[1], self.start_token))
        tokens = self._tensor(model, "repeated", made.tokens)
        pairs = self._tensor(model, "pairs", np.stack([made.pairs[name] for name in OF_REPEATS]))
        calls: list[Any] = []

        def take(call: Call) -> None:
            with torch.autocast(tokens.device.type, enabled=False):
                scores, gets = reduction.of_repeats(call, pairs)
            slim = Call(weights=gets[..., None], value=call.value, output=call.output)
            calls.append((scores, gets, slim))

        with catching(model, self.attention, take) as seen:
            logits = logits_of(self.forward(model, tokens), tokens)
        _require(calls, seen, layers)
        blocks, own = self._tensor(model, "blocks", made.blocks), self._tensor(model, "own", made.own)
        known = seen.last is not None and seen.last.shape[0] == logits.shape[-1]
        found = []
        with torch.autocast(tokens.device.type, enabled=False):
            for scores, gets, call in calls:
                fits = known and call.output is not None and call.output.shape[0] == seen.last.shape[1]
                unknown = torch.full_like(scores[0], float("nan"))
                copied = reduction.copying(call, gets, seen.last, blocks, own) if fits else unknown
                found.append(torch.cat([scores, copied[None]]))
        return found

    def _tensor(self, model: torch.nn.Module, name: str, values: np.ndarray) -> torch.Tensor:
        return self._made(model, name, lambda device: torch.from_numpy(values).to(device))

    def _made(self, model: torch.nn.Module, name: Any, make: Callable[[torch.device], Any]) -> Any:
        device = device_of(model)
        if (name, device) not in self._on:
            self._on[name, device] = make(device)
        return self._on[name, device]


def usual_forward(model: torch.nn.Module, tokens: torch.Tensor) -> Any:
    """model(tokens); of transformers without a cache of keys and values, which would only take room."""
    return model(tokens, use_cache=False) if hasattr(getattr(model, "config", None), "use_cache") else model(tokens)


def logits_of(output: Any, tokens: torch.Tensor) -> torch.Tensor:
    """(row, time, vocab): the output, its `.logits`, or the first of several."""
    found = getattr(output, "logits", output)
    found = found[0] if isinstance(found, (tuple, list)) else found
    if not isinstance(found, torch.Tensor) or found.ndim != 3 or found.shape[:2] != tokens.shape:
        what = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
        raise TelemetryError(
            f"the model's output is {what} for tokens {tuple(tokens.shape)}, but wanted logits, (row, time, vocab). "
            "Say how to get them: forward=lambda model, tokens: ...; of a model that returns all of them only with "
            "targets, as nanoGPT does, model(tokens, tokens)[0]."
        )
    return found


def _require(found: list, seen: Seen, before: int) -> None:
    if not found:
        raise TelemetryError(
            f"no attention was found by {seen.way}: nothing would be recorded. If the model computes attention itself, "
            "name it: attention=torch.softmax, attention='blocks.*.attn_dropout' (modules whose output it is) or "
            "attention='package.module:function'."
        )
    if before and len(found) != before:
        raise TelemetryError(f"{len(found)} layers attended in one forward pass and {before} in another.")


def _padded(values: list[torch.Tensor], widest: int) -> np.ndarray:
    """(layer, head, ...) from one tensor a layer; NaN where a layer has fewer heads."""
    if all(each.shape == values[0].shape for each in values):
        return torch.stack(values).cpu().double().numpy()
    arrays = [each.cpu().double().numpy() for each in values]
    made = np.full((len(arrays), widest, *arrays[0].shape[1:]), np.nan)
    for layer, each in enumerate(arrays):
        made[layer, : each.shape[0]] = each
    return made
