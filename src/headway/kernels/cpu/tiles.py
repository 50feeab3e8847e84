"""Two small matrix products that keep a tile of results in registers."""

from typing import no_type_check

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from headway.kernels.cpu import LANES
from headway.kernels.cpu.vectors import floats, fused, load_at, pick, splat_of, store_at

_PLACE = types.intp
_INDEX = ir.IntType(64)
_ZERO = ir.Constant(ir.VectorType(ir.FloatType(), LANES), [0.0] * LANES)


@no_type_check
def product_tile(height: int, vectors: int, fresh: bool):
    """out[r, :] = sum_k factor[r, k] rows[k, :] for `height` rows r of `vectors` times 8 numbers; += if not `fresh`."""

    @intrinsic
    def product(typing, out, out_row, factor, factor_row, factor_key, rows, rows_key, keys):
        def generate(context, builder, signature, arguments):
            out, out_row, factor, factor_row, factor_key, rows, rows_key, keys = arguments
            tile = [(r, v) for r in range(height) for v in range(vectors)]
            ends = [builder.gep(out, [builder.mul(out_row, _INDEX(r))]) for r in range(height)]
            ends = {(r, v): builder.gep(ends[r], [_INDEX(LANES * v)]) for r, v in tile}
            sums = {place: cgutils.alloca_once_value(builder, _ZERO) for place in tile}
            for place in tile:
                builder.store(_ZERO if fresh else load_at(builder, ends[place]), sums[place])
            with cgutils.for_range(builder, keys, intp=_INDEX) as key:
                row = builder.gep(rows, [builder.mul(key.index, rows_key)])
                column = builder.gep(factor, [builder.mul(key.index, factor_key)])
                values = [load_at(builder, builder.gep(row, [_INDEX(LANES * v)])) for v in range(vectors)]
                for r in range(height):
                    weight = splat_of(builder, builder.load(builder.gep(column, [builder.mul(factor_row, _INDEX(r))])))
                    for v in range(vectors):
                        builder.store(fused(builder, weight, values[v], builder.load(sums[r, v])), sums[r, v])
            for place in tile:
                store_at(builder, builder.load(sums[place]), ends[place])
            return context.get_dummy_value()

        return types.void(floats, _PLACE, floats, _PLACE, _PLACE, floats, _PLACE, _PLACE), generate

    return product


@no_type_check
def dots_tile(vectors: int):
    """out[r, k] = left[r, :] . right[k, :] for 2 rows r and 4 rows k of `vectors` times 8 numbers."""

    @intrinsic
    def dots(typing, out, out_row, left, left_row, right, right_row):
        def generate(context, builder, signature, arguments):
            out, out_row, left, left_row, right, right_row = arguments
            lefts = [left, builder.gep(left, [left_row])]
            rights = [builder.gep(right, [builder.mul(right_row, _INDEX(k))]) for k in range(4)]
            sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in range(8)]
            for place in sums:
                builder.store(_ZERO, place)

            def step(place):
                a = [load_at(builder, builder.gep(pointer, [place])) for pointer in lefts]
                b = [load_at(builder, builder.gep(pointer, [place])) for pointer in rights]
                for r in range(2):
                    for k in range(4):
                        here = sums[4 * r + k]
                        builder.store(fused(builder, a[r], b[k], builder.load(here)), here)

            if vectors <= 8:
                for v in range(vectors):
                    step(_INDEX(LANES * v))
            else:
                with cgutils.for_range(builder, _INDEX(vectors), intp=_INDEX) as loop:
                    step(builder.mul(loop.index, _INDEX(LANES)))

            def pairs(a, b):
                """Sums of neighbouring lanes: within each half, two of a and then two of b."""
                even = pick(builder, a, b, [0, 2, 8, 10, 4, 6, 12, 14])
                odd = pick(builder, a, b, [1, 3, 9, 11, 5, 7, 13, 15])
                return builder.fadd(even, odd)

            s = [builder.load(place) for place in sums]
            quads = [pairs(pairs(s[4 * r], s[4 * r + 1]), pairs(s[4 * r + 2], s[4 * r + 3])) for r in range(2)]
            low = pick(builder, *quads, [0, 1, 2, 3, 8, 9, 10, 11])
            high = pick(builder, *quads, [4, 5, 6, 7, 12, 13, 14, 15])
            both = builder.fadd(low, high)
            store_at(builder, pick(builder, both, both, [0, 1, 2, 3]), out)
            store_at(builder, pick(builder, both, both, [4, 5, 6, 7]), builder.gep(out, [out_row]))
            return context.get_dummy_value()

        return types.void(floats, _PLACE, floats, _PLACE, floats, _PLACE), generate

    return dots
