"""What a dropped row needs of a machine: which coordinates fall, and a few rows of a matrix times numbers.

A tile is 64 columns of all matrices side by side: eight vectors, which stay in registers while rows pass.
"""

from typing import no_type_check

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from headway.kernels.cpu import LANES
from headway.kernels.cpu.dropped_shape import COLUMNS
from headway.kernels.cpu.vectors import floats, folded, fused, integers, load_at, splat_of, store_at

VECTORS = COLUMNS // LANES
_WORD, _INDEX, _BYTE = ir.IntType(32), ir.IntType(64), ir.IntType(8)
_WORDS = ir.VectorType(_WORD, LANES)
_ZERO = ir.Constant(ir.VectorType(ir.FloatType(), LANES), [0.0] * LANES)


@intrinsic
@no_type_check
def falls(typing, number, first, second, limit):
    """One bit for each of the elements number, .., number + 7: whether `models.dropout` drops it."""

    def generate(context, builder, signature, arguments):
        number, first, second, limit = (splat_of(builder, builder.trunc(each, _WORD)) for each in arguments)

        def mixed(bits):
            for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
                bits = builder.xor(bits, builder.lshr(bits, ir.Constant(_WORDS, [shift] * LANES)))
                bits = builder.mul(bits, ir.Constant(_WORDS, [factor] * LANES))
            return builder.xor(bits, builder.lshr(bits, ir.Constant(_WORDS, [16] * LANES)))

        number = builder.add(number, ir.Constant(_WORDS, list(range(LANES))))
        bits = mixed(builder.add(mixed(builder.xor(number, first)), second))
        return builder.zext(builder.bitcast(builder.icmp_unsigned("<", bits, limit), _BYTE), _INDEX)

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
@no_type_check
def lowest(typing, bits):
    """The number of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
@no_type_check
def without(typing, out, one, other, scale, places, values, count, rows):
    """out = scale (one + other - sum_n values[n] rows[places[n]]), a tile wide."""

    def generate(context, builder, signature, arguments):
        out, one, other, scale, places, values, count, rows = arguments
        scale = splat_of(builder, scale)
        sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in range(VECTORS)]
        for here, a, b in zip(sums, _tile(builder, one), _tile(builder, other), strict=True):
            builder.store(builder.fadd(load_at(builder, a), load_at(builder, b)), here)
        with cgutils.for_range(builder, count, intp=_INDEX) as loop:
            row, value = _entry(builder, loop.index, places, values, rows)
            value = splat_of(builder, builder.fneg(value))
            for here, part in zip(sums, _tile(builder, row), strict=True):
                builder.store(fused(builder, value, load_at(builder, part), builder.load(here)), here)
        for here, part in zip(sums, _tile(builder, out), strict=True):
            store_at(builder, builder.fmul(scale, builder.load(here)), part)
        return context.get_dummy_value()

    pointers = (floats, floats, floats, types.float32, integers, floats, types.intp, floats)
    return types.void(*pointers), generate


@intrinsic
@no_type_check
def pull(typing, change, scale, one, other, places, values, count, rows, of_rows, of_one, of_other):
    """The gradient of `without` for g = scale change.

    one, other += g;  of_rows[place] -= value g;  of_one[place], of_other[place] -= g . rows[place].
    """

    def generate(context, builder, signature, arguments):
        change, scale, one, other, places, values, count, rows, of_rows, of_one, of_other = arguments
        scale = splat_of(builder, scale)
        g = [builder.fmul(scale, load_at(builder, part)) for part in _tile(builder, change)]
        for target in (one, other):
            for part, each in zip(_tile(builder, target), g, strict=True):
                store_at(builder, builder.fadd(load_at(builder, part), each), part)
        with cgutils.for_range(builder, count, intp=_INDEX) as loop:
            row, value = _entry(builder, loop.index, places, values, rows)
            of_row, _ = _entry(builder, loop.index, places, values, of_rows)
            value = splat_of(builder, builder.fneg(value))
            sums = [_ZERO, _ZERO]
            for v, (part, of_part) in enumerate(zip(_tile(builder, row), _tile(builder, of_row), strict=True)):
                store_at(builder, fused(builder, value, g[v], load_at(builder, of_part)), of_part)
                sums[v % 2] = fused(builder, g[v], load_at(builder, part), sums[v % 2])
            dot = folded(builder, builder.fadd(*sums), builder.fadd)
            place = builder.sext(builder.load(builder.gep(places, [loop.index])), _INDEX)
            for target in (of_one, of_other):
                entry = builder.gep(target, [place])
                builder.store(builder.fsub(builder.load(entry), dot), entry)
        return context.get_dummy_value()

    pointers = (floats, types.float32, floats, floats, integers, floats, types.intp, floats, floats, floats, floats)
    return types.void(*pointers), generate


def _tile(builder, pointer):
    return [builder.gep(pointer, [_INDEX(LANES * v)]) for v in range(VECTORS)]


def _entry(builder, index, places, values, rows):
    """The row of a dropped coordinate, and the number that falls."""
    place = builder.sext(builder.load(builder.gep(places, [index])), _INDEX)
    return builder.gep(rows, [builder.mul(place, _INDEX(COLUMNS))]), builder.load(builder.gep(values, [index]))
