"""x' W for rows x' = keep x / (1 - rate) of one slice of a batch: a row of a table less what fell.

x' W = (A[token] W + B[position] W - sum over dropped i of x_i W_i) / (1 - rate),    x = A[token] + B[position].
"""

from collections.abc import Callable
from typing import no_type_check

from numba import float32

from headway.kernels.cpu import LANES
from headway.kernels.cpu.dropped_rows import falls, lowest, without
from headway.kernels.cpu.dropped_shape import COLUMNS, Shape
from headway.kernels.cpu.vectors import advance, advance_integers, floats_at, inner, integers_at

AT_ONCE = 4
"""Examples that pass a tile of the matrices together, while it is in the cache."""


@inner
@no_type_check
def transfer(target, source, count):
    """target[0 : count] = source[0 : count]."""
    for i in range(count):
        target[i] = source[i]


@no_type_check
def forward_work(shape: Shape) -> Callable:
    """(tokens, words, A, B, A W, B W, W) -> (scratch, counts, places, values, stream, key, value, query)."""
    E, L, T, D, LIMIT = shape[:5]
    FIRST, SCALE = L - T, float32(shape.scale)
    COUNTS, TILES = shape[5:], shape.tiles
    PARTS, STARTS = tuple(part for part, _ in TILES), tuple(start for _, start in TILES)

    @inner
    def drop(p, first, second, token, position, places, values):
        """What falls of a row, and how many."""
        count = 0
        for c in range(0, E, LANES):
            bits = falls(p * E + c, first, second, LIMIT)
            if c + LANES > E:
                bits &= (1 << (E - c)) - 1
            while bits != 0:
                i = c + lowest(bits)
                places[count] = i
                values[count] = token[i] + position[i]
                count += 1
                bits &= bits - 1
        return count

    def work(number, slices, batch, addresses):
        tokens, words = integers_at(addresses[0]), integers_at(addresses[1])
        token_rows, position_rows = floats_at(addresses[2]), floats_at(addresses[3])
        token_table, position_table = floats_at(addresses[4]), floats_at(addresses[5])
        matrices = floats_at(addresses[6])
        line = advance(floats_at(addresses[7]), number * COLUMNS)
        counts, places, values = integers_at(addresses[8]), integers_at(addresses[9]), floats_at(addresses[10])
        stream = floats_at(addresses[11])
        end = (number + 1) * batch // slices
        for begin in range(number * batch // slices, end, AT_ONCE):
            some = range(begin, min(end, begin + AT_ONCE))
            for b in some:
                for p in range(L):
                    row = b * L + p
                    token, position = advance(token_rows, tokens[row] * E), advance(position_rows, p * E)
                    fallen = advance_integers(places, row * E)
                    counts[row] = drop(
                        p, words[2 * b], words[2 * b + 1], token, position, fallen, advance(values, row * E)
                    )
                    if p >= FIRST:
                        out = advance(stream, (b * T + p - FIRST) * E)
                        for i in range(E):
                            out[i] = (token[i] + position[i]) * SCALE
                        for n in range(counts[row]):
                            out[fallen[n]] = float32(0)
            for n in range(len(TILES)):
                part, columns = PARTS[n], COUNTS[PARTS[n]]
                here = floats_at(addresses[12 + part])
                before = FIRST if part == 2 else 0
                here_columns = min(COLUMNS, columns - STARTS[n])
                for b in some:
                    for p in range(before, L):
                        row = b * L + p
                        target = advance(here, (b * (L - before) + p - before) * columns + STARTS[n])
                        out = target if here_columns == COLUMNS else line
                        without(
                            out,
                            advance(token_table, (n * D + tokens[row]) * COLUMNS),
                            advance(position_table, (n * L + p) * COLUMNS),
                            SCALE,
                            advance_integers(places, row * E),
                            advance(values, row * E),
                            counts[row],
                            advance(matrices, n * E * COLUMNS),
                        )
                        if here_columns < COLUMNS:
                            transfer(target, line, here_columns)

    return work
