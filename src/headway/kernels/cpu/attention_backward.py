"""The gradient of attention by table for one slice of a batch; the names are those of the forward pass."""

from collections.abc import Callable
from typing import no_type_check

from numba import float32

from headway.kernels.cpu import LANES
from headway.kernels.cpu.attention_forward import copy
from headway.kernels.cpu.attention_shape import KEYS_AT_ONCE, Shape
from headway.kernels.cpu.one_hot_forward import clear
from headway.kernels.cpu.tiles import dots_tile, product_tile
from headway.kernels.cpu.vectors import (
    advance,
    advance_integers,
    floats_at,
    inner,
    integers_at,
    load,
    splat,
    store,
    total,
)


@inner
@no_type_check
def add(target, source, count):
    """target[0 : count] += source[0 : count] for whole vectors."""
    for i in range(0, count, LANES):
        store(target, i, load(target, i) + load(source, i))


@no_type_check
def backward_work(shape: Shape) -> Callable:
    """(tokens, values, pattern, out's gradient) -> (scratch, values', start's and scores' gradients) of one slice."""
    H, D, L, T, C = shape
    W, S, LP, TP = shape.width, shape.stride, shape.key_room, shape.query_room
    FIRST, SCRATCH = L - T, shape.scratch
    V = 2
    product = product_tile(KEYS_AT_ONCE, V, fresh=True)
    dots = dots_tile(W // LANES)

    @inner
    def score_gradient(p, dp, batch, out):
        """ds = p (dp - sum_j p dp), for one head and example; the queries lie `batch` rows apart."""
        for t in range(T):
            keys = FIRST + t + 1
            line, change, target = advance(p, t * LP), advance(dp, t * LP), advance(out, t * batch * LP)
            mean = splat(float32(0))
            for j in range(0, keys, LANES):
                mean = mean + load(line, j) * load(change, j)
            mean = splat(total(mean))
            for j in range(0, keys, LANES):
                store(target, j, load(line, j) * (load(change, j) - mean))

    @inner
    def value_gradient(x, h, p, g, lines, out):
        """dW[j, x_j, h] += sum_q p[q, j] g[q]."""
        for j in range(0, L, KEYS_AT_ONCE):
            t = max(0, j - FIRST)
            for c in range(0, W, LANES * V):
                product(advance(lines, c), S, advance(p, t * LP + j), 1, LP, advance(g, t * S + c), S, T - t)
            for r in range(min(KEYS_AT_ONCE, L - j)):
                add(advance(out, (((j + r) * D + x[j + r]) * H + h) * W), advance(lines, r * S), W)

    def work(number, slices, batch, addresses):
        tokens, values = integers_at(addresses[0]), floats_at(addresses[1])
        patterns, changes = floats_at(addresses[2]), floats_at(addresses[3])
        p = advance(floats_at(addresses[4]), number * SCRATCH)
        values_out = advance(floats_at(addresses[5]), number * L * D * H * W)
        start_out = advance(floats_at(addresses[6]), number * T * D * W)
        scores_out = floats_at(addresses[7])
        dp = advance(p, TP * LP)
        u = advance(dp, TP * LP)
        g = advance(u, LP * S)
        lines = advance(g, TP * S)
        clear(p, SCRATCH)
        clear(values_out, L * D * H * W)
        clear(start_out, T * D * W)
        for b in range(number * batch // slices, (number + 1) * batch // slices):
            x = advance_integers(tokens, b * L)
            for t in range(T):
                row, source = advance(g, t * S), advance(changes, (b * T + t) * C)
                for c in range(0, C - LANES + 1, LANES):
                    store(row, c, load(source, c))
                for c in range(C // LANES * LANES, C):
                    row[c] = source[c]
                add(advance(start_out, (t * D + x[FIRST + t]) * W), row, W)
            for h in range(H):
                copy(p, advance(patterns, (b * H + h) * T * LP), T * LP)
                for j in range(L):
                    copy(advance(u, j * S), advance(values, ((j * D + x[j]) * H + h) * W), W)
                for j in range(0, L, 4):
                    for t in range(max(0, j - FIRST) // 2 * 2, TP, 2):
                        dots(advance(dp, t * LP + j), LP, advance(g, t * S), S, advance(u, j * S), S)
                score_gradient(p, dp, batch, advance(scores_out, (h * T * batch + b) * LP))
                value_gradient(x, h, p, g, lines, values_out)

    return work


@no_type_check
def scatter_work(shape: Shape) -> Callable:
    """(tokens, scores' gradients) -> the score table's gradient, for one head and query over all examples."""
    _, D, L, T, _ = shape
    LP, FIRST = shape.key_room, L - T

    def work(number, slices, batch, addresses):
        tokens, changes = integers_at(addresses[0]), advance(floats_at(addresses[1]), number * batch * LP)
        out = advance(floats_at(addresses[2]), number * D * L * D)
        query = FIRST + number % T
        for i in range(D * L * D):
            out[i] = float32(0)
        for b in range(batch):
            x = advance_integers(tokens, b * L)
            row, change = advance(out, x[query] * L * D), advance(changes, b * LP)
            for j in range(query + 1):
                row[j * D + x[j]] += change[j]

    return work
