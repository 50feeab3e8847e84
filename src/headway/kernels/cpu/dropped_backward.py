"""The gradient of dropped rows' projections, for one tile of columns over all examples.

With g the gradient of x' W, divided by (1 - rate), a row adds

    g to A W[token] and B W[position],    -x_i g to W_i,    -(g . W_i) to A[token, i] and B[position, i]

for every dropped i; the last slice does what the stream x' itself passes on.
"""

from collections.abc import Callable
from typing import no_type_check

from numba import float32

from headway.kernels.cpu.dropped_forward import transfer
from headway.kernels.cpu.dropped_rows import pull
from headway.kernels.cpu.dropped_shape import COLUMNS, Shape
from headway.kernels.cpu.vectors import advance, advance_integers, floats_at, inner, integers_at


@inner
@no_type_check
def _zeros(pointer, count):
    for i in range(count):
        pointer[i] = float32(0)


@no_type_check
def backward_work(shape: Shape) -> Callable:
    """(tokens, counts, places, values, W, four gradients) -> (scratch, W', A W', B W', A', B'), of one tile."""
    E, L, T, D = shape[:4]
    FIRST, SCALE = L - T, float32(shape.scale)
    COUNTS, TILES = shape[5:], shape.tiles
    PARTS, STARTS = tuple(part for part, _ in TILES), tuple(start for _, start in TILES)

    @inner
    def stream(tokens, counts, places, changes, batch, line, of_tokens, of_positions):
        """What the stream passes on where nothing fell."""
        for b in range(batch):
            for p in range(FIRST, L):
                row = b * L + p
                change, fallen = advance(changes, (b * T + p - FIRST) * E), advance_integers(places, row * E)
                token, position = advance(of_tokens, tokens[row] * E), advance(of_positions, p * E)
                for i in range(E):
                    line[i] = SCALE * change[i]
                for n in range(counts[row]):
                    line[fallen[n]] = float32(0)
                for i in range(E):
                    token[i] += line[i]
                    position[i] += line[i]

    def work(number, slices, batch, addresses):
        tokens, counts, places = integers_at(addresses[0]), integers_at(addresses[1]), integers_at(addresses[2])
        values, matrices = floats_at(addresses[3]), floats_at(addresses[4])
        line = advance(floats_at(addresses[9]), number * max(E, COLUMNS))
        of_tokens = advance(floats_at(addresses[13]), number * D * E)
        of_positions = advance(floats_at(addresses[14]), number * L * E)
        _zeros(of_tokens, D * E)
        _zeros(of_positions, L * E)
        if number == len(TILES):
            stream(tokens, counts, places, floats_at(addresses[5]), batch, line, of_tokens, of_positions)
            return
        part, start, columns = PARTS[number], STARTS[number], COUNTS[PARTS[number]]
        changes = floats_at(addresses[6 + part])
        of_matrices = advance(floats_at(addresses[10]), number * E * COLUMNS)
        of_token_table = advance(floats_at(addresses[11]), number * D * COLUMNS)
        of_position_table = advance(floats_at(addresses[12]), number * L * COLUMNS)
        _zeros(of_matrices, E * COLUMNS)
        _zeros(of_token_table, D * COLUMNS)
        _zeros(of_position_table, L * COLUMNS)
        _zeros(line, COLUMNS)
        before = FIRST if part == 2 else 0
        for b in range(batch):
            for p in range(before, L):
                row = b * L + p
                change = advance(changes, (b * (L - before) + p - before) * columns + start)
                if columns - start < COLUMNS:
                    transfer(line, change, columns - start)
                    change = line
                pull(
                    change,
                    SCALE,
                    advance(of_token_table, tokens[row] * COLUMNS),
                    advance(of_position_table, p * COLUMNS),
                    advance_integers(places, row * E),
                    advance(values, row * E),
                    counts[row],
                    advance(matrices, number * E * COLUMNS),
                    of_matrices,
                    advance(of_tokens, tokens[row] * E),
                    advance(of_positions, p * E),
                )

    return work
