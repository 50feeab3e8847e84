"""The minimal model's forward pass on a few sequences, from look-ups.

For a sequence x, a head h, a query q and a key j <= q, with tables S and V over tokens and positions,

    s = S[h, x_q, x_j] + S[h, x_q, d + j] + S[h, d + q, x_j] + S[h, d + q, d + j],    p = softmax_j s,
    logits[q] = sum_hj p U[h, j],    U[h, j] = V[h, x_j] + V[h, d + j],

so that one row R = S[h, x_q] + S[h, d + q] holds all scores of a query: s = R[x_j] + R[d + j].
"""

import functools
from collections.abc import Callable
from typing import NamedTuple, no_type_check

import numpy as np
from numba import float32

from headway.kernels.cpu import LANES
from headway.kernels.cpu.one_hot_shape import BLOCK, Shape
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

LOWEST = np.float32(-np.inf)


class Forward(NamedTuple):
    """Compiled for one shape."""

    take_tokens: Callable
    gather_values: Callable
    forward: Callable


@inner
@no_type_check
def clear(pointer, count):
    """pointer[0 : count] = 0 for whole vectors."""
    for i in range(0, count, LANES):
        store(pointer, i, splat(float32(0)))


@functools.cache
@no_type_check
def forward_parts(shape: Shape) -> Forward:
    """The functions of the forward pass; the kernel that reads and the one that differentiates compile them once."""
    H, D, L, T = shape.heads, shape.tokens, shape.length, shape.queries
    E, W, FIRST = shape.width, shape.score_room, shape.first
    DP, LP, TP = shape.token_room, shape.key_room, shape.query_room
    PATTERN, PLACES = shape.pattern, shape.place_room
    ROWS, CHUNK = shape.tile_height, LANES * shape.tile_vectors
    add_product = product_tile(shape.tile_height, shape.tile_vectors, fresh=False)

    @inner
    def take_tokens(sequences, first, count, places):
        """Copy the tokens of a block; what follows them in the last vector are different ones, which get zeros."""
        for b in range(count):
            x = advance_integers(places, b * PLACES)
            for j in range(PLACES):
                # A token outside of the vocabulary would be an address outside of the tables.
                x[j] = min(max(sequences[(first + b) * (L + 1) + j], 0), D - 1) if j <= L else j % D

    @inner
    def gather_values(x, values, u):
        """U[j] = V[x_j] + V[d + j]."""
        for j in range(L):
            token = advance(values, x[j] * DP)
            position = advance(values, (D + j) * DP)
            out = advance(u, j * DP)
            for c in range(0, DP, LANES):
                store(out, c, load(token, c) + load(position, c))

    @inner
    def attend(x, scores, row, each, p):
        """p = softmax_j( R[x_j] + R[d + j] ); a loop for each step, so that the queries do not wait for each other."""
        for t in range(T):
            token = advance(scores, x[FIRST + t] * W)
            position = advance(scores, (D + FIRST + t) * W)
            for c in range(0, W, LANES):
                store(row, c, load(token, c) + load(position, c))
            out = advance(p, t * LP)
            keys = FIRST + t + 1
            most = splat(LOWEST)
            for j in range(0, keys, LANES):
                s = gather(row, advance_integers(x, j)) + load(row, DP + j)
                s = below(j, keys, s, splat(LOWEST))
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
            each[t] = float32(1) / total(mass)
        for t in range(T):
            out = advance(p, t * LP)
            share = splat(each[t])
            for j in range(0, FIRST + t + 1, LANES):
                store(out, j, load(out, j) * share)

    @inner
    def predict(p, u, logits):
        """logits[q] += sum_j p[q, j] U[j]."""
        for t in range(0, TP, ROWS):
            keys = min(L, FIRST + t + ROWS)
            for c in range(0, DP, CHUNK):
                add_product(advance(logits, t * DP + c), DP, advance(p, t * LP), LP, 1, advance(u, c), DP, keys)

    @inner
    def forward(count, places, scores, values, p, logits, u, row, each):
        """Patterns and logits of a block, head by head."""
        clear(logits, count * TP * DP)
        for h in range(H):
            for b in range(count):
                x = advance_integers(places, b * PLACES)
                attend(x, advance(scores, h * E * W), row, each, advance(p, (b * H + h) * PATTERN))
            for b in range(count):
                x = advance_integers(places, b * PLACES)
                gather_values(x, advance(values, h * E * DP), u)
                predict(advance(p, (b * H + h) * PATTERN), u, advance(logits, b * TP * DP))

    return Forward(take_tokens, gather_values, forward)


@no_type_check
def read_work(shape: Shape) -> Callable:
    """Logits and the sum of the patterns, for a slice of a batch.

    Inputs: sequences, score table, value table. Outputs: sums of patterns, logits, scratch, places.
    """
    H, D, T = shape.heads, shape.tokens, shape.queries
    DP, TP = shape.token_room, shape.query_room
    PATTERN, PLACES, SCRATCH = shape.pattern, shape.place_room, shape.scratch
    KEYS, ROW = shape.key_room, shape.score_room
    take_tokens, _, forward = forward_parts(shape)

    def work(number, slices, batch, addresses):
        sequences = integers_at(addresses[0])
        scores, values = floats_at(addresses[1]), floats_at(addresses[2])
        sums = advance(floats_at(addresses[3]), number * H * PATTERN)
        out = floats_at(addresses[4])
        p = advance(floats_at(addresses[5]), number * SCRATCH)
        places = advance_integers(integers_at(addresses[6]), number * BLOCK * PLACES)
        logits = advance(p, BLOCK * H * PATTERN)
        u = advance(logits, BLOCK * TP * DP)
        row = advance(u, KEYS * DP)
        each = advance(row, ROW)
        clear(p, SCRATCH)
        clear(sums, H * PATTERN)
        stop = (number + 1) * batch // slices
        for first in range(number * batch // slices, stop, BLOCK):
            count = min(BLOCK, stop - first)
            take_tokens(sequences, first, count, places)
            forward(count, places, scores, values, p, logits, u, row, each)
            for b in range(count):
                for i in range(0, H * PATTERN, LANES):
                    store(sums, i, load(sums, i) + load(p, b * H * PATTERN + i))
                for t in range(T):
                    for c in range(D):
                        out[((first + b) * T + t) * D + c] = logits[(b * TP + t) * DP + c]

    return work
