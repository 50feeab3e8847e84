"""Attention by table for one slice of a batch, with one example at a time in the cache.

For an example x with the value table W[j, token, h, :] and the score table S[h, q, token, j, token],

    p = softmax_j S[h, q, x_q, j, x_j],    out[q] = start[q, x_q] + sum_hj p[h, q, j] W[j, x_j, h],

over the keys j <= q. The tables' gradients are sums over the examples: every slice has a value table of its own to add
to, and the score table, which is large, is added to by (head, query) over all examples, a piece that fits the cache.
"""

from collections.abc import Callable
from typing import no_type_check

from numba import float32

from headway.kernels.cpu import LANES
from headway.kernels.cpu.attention_shape import KEYS_AT_ONCE, Shape
from headway.kernels.cpu.one_hot_forward import LOWEST, clear
from headway.kernels.cpu.tiles import product_tile
from headway.kernels.cpu.vectors import (
    advance,
    advance_integers,
    below,
    exponential,
    floats_at,
    gather,
    inner,
    integers_at,
    larger,
    largest,
    load,
    splat,
    store,
    total,
)


@inner
@no_type_check
def copy(target, source, count):
    """target[0 : count] = source[0 : count] for whole vectors."""
    for i in range(0, count, LANES):
        store(target, i, load(source, i))


@no_type_check
def forward_work(shape: Shape) -> Callable:
    """(tokens, scores, values, start) -> (scratch, places, out, pattern), the work of one slice."""
    H, D, L, T, C = shape
    W, S, LP, TP = shape.width, shape.stride, shape.key_room, shape.query_room
    FIRST, SCRATCH = L - T, shape.scratch
    R, V = shape.tile
    product = product_tile(R, V, fresh=False)

    @inner
    def attend(x, places, scores, each, p):
        """p[q, j] = softmax_j S[q, x_q, j, x_j]."""
        for t in range(T):
            row = advance(scores, (t * D + x[FIRST + t]) * L * D)
            out = advance(p, t * LP)
            keys = FIRST + t + 1
            most = splat(LOWEST)
            for j in range(0, keys, LANES):
                s = below(j, keys, gather(row, advance_integers(places, j)), splat(LOWEST))
                store(out, j, s)
                most = larger(s, most)
            each[t] = largest(most)
        for t in range(T):
            out = advance(p, t * LP)
            keys = FIRST + t + 1
            most = splat(each[t])
            mass = splat(float32(0))
            for j in range(0, keys, LANES):
                e = below(j, keys, exponential(load(out, j) - most), splat(float32(0)))
                store(out, j, e)
                mass = mass + e
            share = splat(float32(1) / total(mass))
            for j in range(0, keys, LANES):
                store(out, j, load(out, j) * share)

    def work(number, slices, batch, addresses):
        tokens, scores = integers_at(addresses[0]), floats_at(addresses[1])
        values, start = floats_at(addresses[2]), floats_at(addresses[3])
        p = advance(floats_at(addresses[4]), number * SCRATCH)
        places = advance_integers(integers_at(addresses[5]), number * LP)
        outs, patterns = floats_at(addresses[6]), floats_at(addresses[7])
        u = advance(p, 2 * TP * LP)
        out = advance(u, LP * S)
        each = advance(out, (TP + KEYS_AT_ONCE) * S)
        clear(p, SCRATCH)
        for j in range(LP):
            places[j] = 0
        for b in range(number * batch // slices, (number + 1) * batch // slices):
            x = advance_integers(tokens, b * L)
            for j in range(L):
                places[j] = j * D + x[j]
            for t in range(T):
                copy(advance(out, t * S), advance(start, (t * D + x[FIRST + t]) * W), W)
            for h in range(H):
                attend(x, places, advance(scores, h * T * D * L * D), each, p)
                copy(advance(patterns, (b * H + h) * T * LP), p, T * LP)
                for j in range(L):
                    copy(advance(u, j * S), advance(values, (places[j] * H + h) * W), W)
                for c in range(0, W, LANES * V):
                    for t in range(0, TP, R):
                        keys = min(L, FIRST + t + R)
                        product(advance(out, t * S + c), S, advance(p, t * LP), LP, 1, advance(u, c), S, keys)
            for t in range(T):
                row, target = advance(out, t * S), advance(outs, (b * T + t) * C)
                for c in range(0, C - LANES + 1, LANES):
                    store(target, c, load(row, c))
                for c in range(C // LANES * LANES, C):
                    target[c] = row[c]

    return work
