"""softmax(q k^T) a few rows at a time, reduced at once: sums over diagonals, entropies, one column. Never T x T."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it

from headway.telemetry.capture import Call

MOST_ENTRIES = 2**24
"""Numbers of attention that are held at once, whatever the length: 64 MB."""


def rows_of_attention(call: Call, margin: int = 0) -> Generator[tuple[int, torch.Tensor]]:
    """(first query, attention (batch, head, query, margin + key)) in float32, the first `margin` columns being 0.

    The keys go as far as the last of the queries may look.
    """
    length = call.length
    rows = max(1, min(length, MOST_ENTRIES // (call.batch * call.heads * (length + margin))))
    prepared = _prepared(call, margin)
    for first in range(0, length, rows):
        last = min(length, first + rows)
        keys = last if call.causal else length
        yield first, _weights(call, prepared, first, last, keys, margin)


def _prepared(call: Call, margin: int) -> Any:
    """Queries scaled and keys with as many heads, both in float32; keys of the margin are 0."""
    if call.weights is not None:
        return None
    query, key = call.query.float(), call.key.float()
    scale = call.scale if call.scale is not None else query.shape[-1] ** -0.5
    if key.shape[1] != query.shape[1]:
        key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
    return query * scale, F.pad(key, (0, 0, margin, 0))


def _weights(call: Call, prepared: Any, first: int, last: int, keys: int, margin: int) -> torch.Tensor:
    if call.weights is not None:
        return F.pad(call.weights[:, :, first:last, :keys].float(), (margin, 0))
    query, key = prepared
    scores = query[:, :, first:last] @ key[:, :, : margin + keys].transpose(-1, -2)
    if call.softcap is not None:
        scores = torch.tanh(scores / call.softcap) * call.softcap
    if call.mask is not None:
        mask = call.mask[..., first:last, :keys]
        if mask.dtype == torch.bool:
            scores[..., margin:].masked_fill_(~mask, float("-inf"))
        else:
            scores[..., margin:].add_(mask)
    hidden = torch.zeros(last - first, margin + keys, dtype=torch.bool, device=scores.device)
    hidden[:, :margin] = True
    if call.causal:
        hidden[:, margin:] = torch.ones_like(hidden[:, margin:]).triu(first + 1)
    return scores.masked_fill_(hidden, float("-inf")).softmax(-1)


def of_text(call: Call, lags: int) -> dict[str, torch.Tensor]:
    """Sums over rows of the batch: by_lag (head, lag), and entropy, first_token, previous_token (head,).

    Each is a mean over the queries from the second on; key 0 is left out of `by_lag`: it has a score of its own.
    """
    length = call.length
    lags, margin = min(lags, length), min(lags, length) - 1
    total: dict[str, Any] = {}
    for first, weights in rows_of_attention(call, margin):
        skip = 1 if first == 0 else 0  # the first query has nothing to choose from
        found = {"entropy": torch.special.entr(weights[:, :, skip:]).sum((0, 2, 3))}
        column = weights[:, :, skip:, margin]
        found["first_token"] = column.sum((0, 2))
        # weights[r, margin + first + r - lag] for all rows and lags: one view of the same memory.
        weights = weights.contiguous()
        batch, heads, rows, width = weights.shape
        band = weights.as_strided(
            (batch, heads, rows, lags),
            (*weights.stride()[:2], width + 1, 1),
            weights.storage_offset() + first,
        )
        by_lag = band[:, :, skip:].sum((0, 2)).flip(-1)
        # What of it lies in key 0: query q at lag q.
        begin = first + skip
        near = torch.arange(begin, max(begin, min(lags, first + rows)), device=weights.device)
        in_first = torch.zeros_like(by_lag)
        if len(near):
            in_first[:, near] = weights[:, :, near - first, margin].sum(0)
        found["by_lag"] = by_lag - in_first
        found["previous_token"] = by_lag[:, 1] if lags > 1 else torch.zeros_like(by_lag[:, 0])
        for name, value in found.items():
            total[name] = total[name] + value if name in total else value
    return {name: value / (length - 1) for name, value in total.items()}


def of_repeats(call: Call, pairs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(score, head) for pairs (score, batch, query, key), and the attention each position gets, (batch, head, key)."""
    scores, gets = [], []
    for first, weights in rows_of_attention(call):
        part = pairs[:, :, first : first + weights.shape[2], : weights.shape[3]]
        scores.append(torch.einsum("bhqk,sbqk->sh", weights, part))
        gets.append(F.pad(weights.sum(2), (0, pairs.shape[-1] - weights.shape[3])))
    return torch.stack(scores).sum(0), torch.stack(gets).sum(0)


def copying(
    call: Call, gets: torch.Tensor, unembedding: torch.Tensor, blocks: torch.Tensor, own: torch.Tensor
) -> torch.Tensor:
    """max(0, l_s) / sum_t max(0, l_t), l the logits of the row's tokens minus their mean; 0 .. 0.5 becomes -1 .. 1.

    l is what the value of one source position adds through the head's output matrix and the unembedding; the mean over
    sources counts each by the attention that it gets, the start token left out. (head,)
    """
    value, output = call.value, call.output
    if value is None or output is None:
        return torch.full((call.heads,), float("nan"), device=gets.device)
    value = value.float()
    if value.shape[1] != call.heads:
        value = value.repeat_interleave(call.heads // value.shape[1], dim=1)
    heads = output.float().reshape(output.shape[0], call.heads, -1)  # (stream, head, width)
    tokens = unembedding[blocks.clamp(min=0)].float()  # (batch, token, stream)
    logits = torch.einsum("bhsw,bhtw->bhst", value, torch.einsum("btd,dhw->bhtw", tokens, heads))
    known = (blocks >= 0)[:, None, None, :]
    mean = (logits * known).sum(-1, keepdim=True) / known.sum(-1, keepdim=True)
    raised = (logits - mean).clamp(min=0) * known
    mine = raised.gather(-1, own[:, None, :, None].expand(*raised.shape[:3], 1))[..., 0]
    share = mine / raised.sum(-1).clamp(min=1e-30)
    weight = gets.clone()
    weight[..., 0] = 0
    mean_share = (share * weight).sum((0, 2)) / weight.sum((0, 2)).clamp(min=1e-30)
    return (4 * mean_share - 1).clamp(max=1)
