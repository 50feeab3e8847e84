"""The minimal model's loss and gradient for a slice of a batch; the formulas' names are those of the forward pass."""

import math
from collections.abc import Callable
from typing import no_type_check

from numba import float32

from headway.kernels.cpu import LANES
from headway.kernels.cpu.one_hot_forward import LOWEST, clear, forward_parts
from headway.kernels.cpu.one_hot_shape import BLOCK, Shape
from headway.kernels.cpu.tiles import dots_tile, product_tile
from headway.kernels.cpu.vectors import (
    advance,
    advance_integers,
    below,
    exponential,
    floats_at,
    inner,
    integers_at,
    larger,
    largest,
    load,
    scatter_add,
    splat,
    store,
    total,
)


@no_type_check
def backward_parts(shape: Shape) -> tuple[Callable, Callable, Callable, Callable]:
    """The functions of the backward pass, each for one sequence."""
    D, L, T = shape.tokens, shape.length, shape.queries
    W, FIRST = shape.score_room, shape.first
    DP, LP, TP = shape.token_room, shape.key_room, shape.query_room
    ROWS, CHUNK = shape.tile_height, LANES * shape.tile_vectors
    product = product_tile(shape.tile_height, shape.tile_vectors, fresh=True)
    dots = dots_tile(DP // LANES)

    @inner
    def compare(x, logits, weight, each):
        """g = weight (softmax - one-hot of the target) takes the logits' place; sum_q of the losses comes back."""
        loss = 0.0
        odds = 1.0
        for t in range(T):
            out = advance(logits, t * DP)
            most = splat(LOWEST)
            for c in range(0, DP, LANES):
                most = larger(below(c, D, load(out, c), splat(LOWEST)), most)
            each[t] = largest(most)
        for t in range(T):
            out = advance(logits, t * DP)
            loss += each[t] - out[x[FIRST + t + 1]]
            most = splat(each[t])
            mass = splat(float32(0))
            for c in range(0, DP, LANES):
                e = below(c, D, exponential(load(out, c) - most), splat(float32(0)))
                store(out, c, e)
                mass = mass + e
            each[t] = total(mass)
            # Each factor is between 1 and d: eight of them do not overflow, and one logarithm serves them all.
            odds *= each[t]
            if t % 8 == 7 or t == T - 1:
                loss += math.log(odds)
                odds = 1.0
        for t in range(T):
            out = advance(logits, t * DP)
            share = splat(weight / each[t])
            for c in range(0, DP, LANES):
                store(out, c, load(out, c) * share)
            out[x[FIRST + t + 1]] -= weight
        return loss

    @inner
    def pattern_gradient(g, u, dp):
        """dp[q, j] = g[q] . U[j]."""
        for t in range(0, TP, 2):
            for j in range(0, min(L, FIRST + t + 2), 4):
                dots(advance(dp, t * LP + j), LP, advance(g, t * DP), DP, advance(u, j * DP), DP)

    @inner
    def value_gradient(x, p, g, lines, out):
        """dU[j] = sum_q p[q, j] g[q] goes to the rows x_j and d + j of dV."""
        for j in range(0, L, ROWS):
            t = max(0, j - FIRST)
            for c in range(0, DP, CHUNK):
                product(advance(lines, c), DP, advance(p, t * LP + j), 1, LP, advance(g, t * DP + c), DP, TP - t)
            for r in range(min(ROWS, L - j)):
                line = advance(lines, r * DP)
                token = advance(out, x[j + r] * DP)
                position = advance(out, (D + j + r) * DP)
                for c in range(0, DP, LANES):
                    more = load(line, c)
                    store(token, c, load(token, c) + more)
                    store(position, c, load(position, c) + more)

    @inner
    def score_gradient(x, p, dp, out):
        """ds = p (dp - sum_j p dp) goes to the columns x_j and d + j of the rows x_q and d + q of dS."""
        for t in range(T):
            keys = FIRST + t + 1
            line = advance(p, t * LP)
            change = advance(dp, t * LP)
            mean = splat(float32(0))
            for j in range(0, keys, LANES):
                mean = mean + load(line, j) * load(change, j)
            mean = splat(total(mean))
            token = advance(out, x[FIRST + t] * W)
            position = advance(out, (D + FIRST + t) * W)
            for j in range(0, keys, LANES):
                s = load(line, j) * (load(change, j) - mean)
                store(token, DP + j, load(token, DP + j) + s)
                store(position, DP + j, load(position, DP + j) + s)
                scatter_add(token, advance_integers(x, j), s)
                scatter_add(position, advance_integers(x, j), s)

    return compare, pattern_gradient, value_gradient, score_gradient


@no_type_check
def gradient_work(shape: Shape) -> Callable:
    """Loss and gradient of a slice of a batch.

    Inputs: sequences, weights, score table, value table. Outputs: loss, gradients of the tables, scratch, places.
    """
    H, E, W = shape.heads, shape.width, shape.score_room
    DP, LP, TP = shape.token_room, shape.key_room, shape.query_room
    PATTERN, PLACES, SCRATCH = shape.pattern, shape.place_room, shape.scratch
    TILE = shape.tile_height * DP
    take_tokens, gather_values, forward = forward_parts(shape)
    compare, pattern_gradient, value_gradient, score_gradient = backward_parts(shape)

    def work(number, slices, batch, addresses):
        sequences, weights = integers_at(addresses[0]), floats_at(addresses[1])
        scores, values = floats_at(addresses[2]), floats_at(addresses[3])
        score_out = advance(floats_at(addresses[5]), number * H * E * W)
        value_out = advance(floats_at(addresses[6]), number * H * E * DP)
        p = advance(floats_at(addresses[7]), number * SCRATCH)
        places = advance_integers(integers_at(addresses[8]), number * BLOCK * PLACES)
        dp = advance(p, BLOCK * H * PATTERN)
        logits = advance(dp, BLOCK * PATTERN)
        u = advance(logits, BLOCK * TP * DP)
        row = advance(u, LP * DP)
        lines = advance(row, W)
        each = advance(lines, TILE)
        clear(p, SCRATCH)
        clear(score_out, H * E * W)
        clear(value_out, H * E * DP)
        loss = 0.0
        stop = (number + 1) * batch // slices
        for first in range(number * batch // slices, stop, BLOCK):
            count = min(BLOCK, stop - first)
            take_tokens(sequences, first, count, places)
            forward(count, places, scores, values, p, logits, u, row, each)
            for b in range(count):
                weight = weights[first + b]
                x = advance_integers(places, b * PLACES)
                loss += weight * compare(x, advance(logits, b * TP * DP), weight, each)
            for h in range(H):
                for b in range(count):
                    x = advance_integers(places, b * PLACES)
                    g = advance(logits, b * TP * DP)
                    gather_values(x, advance(values, h * E * DP), u)
                    pattern_gradient(g, u, advance(dp, b * PATTERN))
                    own = advance(p, (b * H + h) * PATTERN)
                    value_gradient(x, own, g, lines, advance(value_out, h * E * DP))
                for b in range(count):
                    x = advance_integers(places, b * PLACES)
                    own = advance(p, (b * H + h) * PATTERN)
                    score_gradient(x, own, advance(dp, b * PATTERN), advance(score_out, h * E * W))
        floats_at(addresses[4])[number] = float32(loss)

    return work
