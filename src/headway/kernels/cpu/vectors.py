"""Eight float32 lanes as one value for numba, so that a kernel says itself what is held in registers.

LLVM maps the lanes to whatever the machine has (one AVX register, two of NEON). Products and sums may be
contracted to fused ones; nothing else is relaxed, so that NaN and infinities go where IEEE sends them.
"""

import operator
from typing import no_type_check

import numpy
from llvmlite import ir
from numba import float32, njit
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

from headway.kernels.cpu import LANES

inner = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled ones call."""
_FLOAT, _WORD, _INDEX = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_ROUNDER = numpy.float32(2**23 + 2**22)
"""Added to a float32 of moderate size, it leaves no room for a fraction."""
_VECTOR, _WORDS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_WORD, LANES)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name="vector8")


vector8 = _VectorType()
floats = types.CPointer(types.float32)
integers = types.CPointer(types.int32)


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def load_at(builder, pointer, kind=_VECTOR):
    """The IR of a load from a pointer to float32 that need not be aligned to more than a float32."""
    loaded = builder.load(builder.bitcast(pointer, kind.as_pointer()))
    loaded.align = 4
    return loaded


def store_at(builder, value, pointer):
    """The IR of the matching store."""
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer())).align = 4


def splat_of(builder, scalar):
    """The IR of a scalar in every lane."""
    one = builder.insert_element(ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined), scalar, _WORD(0))
    return builder.shuffle_vector(one, ir.Constant(one.type, ir.Undefined), ir.Constant(_WORDS, [0] * LANES))


def fused(builder, a, b, c):
    """The IR of a * b + c, rounded once where the machine can."""
    return builder.fadd(builder.fmul(a, b, flags=("contract",)), c, flags=("contract",))


def pick(builder, a, b, lanes):
    """The IR of a vector made of lanes of a (numbered from 0) and of b (numbered on)."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_WORD, len(lanes)), list(lanes)))


def folded(builder, vector, combine):
    """The IR of all lanes combined, by halves."""
    for step in (4, 2, 1):
        vector = combine(vector, pick(builder, vector, vector, [(lane + step) % LANES for lane in range(LANES)]))
    return builder.extract_element(vector, _WORD(0))


def _larger(builder):
    return lambda a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b)


@no_type_check
def pointers_at(kind):
    """A function from an address to what lies there, of one kind."""

    @intrinsic
    def at(typing, address):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(types.int64), generate

    return at


@no_type_check
def _advance(kind):
    """pointer + count numbers, of one kind."""

    @intrinsic
    def advance(typing, pointer, count):
        def generate(context, builder, signature, arguments):
            return builder.gep(arguments[0], [arguments[1]])

        return kind(kind, types.intp), generate

    return advance


floats_at, integers_at = pointers_at(floats), pointers_at(integers)
advance, advance_integers = _advance(floats), _advance(integers)


@intrinsic
@no_type_check
def load(typing, pointer, place):
    """pointer[place : place + 8]."""

    def generate(context, builder, signature, arguments):
        return load_at(builder, builder.gep(arguments[0], [arguments[1]]))

    return vector8(floats, types.intp), generate


@intrinsic
@no_type_check
def store(typing, pointer, place, value):
    """pointer[place : place + 8] = value."""

    def generate(context, builder, signature, arguments):
        store_at(builder, arguments[2], builder.gep(arguments[0], [arguments[1]]))
        return context.get_dummy_value()

    return types.void(floats, types.intp, vector8), generate


@intrinsic
@no_type_check
def gather(typing, pointer, places):
    """pointer[places[0 : 8]]."""

    def generate(context, builder, signature, arguments):
        pointer, places = arguments
        gathered = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            place = builder.load(builder.gep(places, [_INDEX(lane)]))
            entry = builder.gep(pointer, [builder.sext(place, _INDEX)])
            gathered = builder.insert_element(gathered, builder.load(entry), _WORD(lane))
        return gathered

    return vector8(floats, integers), generate


@intrinsic
@no_type_check
def scatter_add(typing, pointer, places, value):
    """pointer[places[i]] += value[i] for i = 0, .., 7, one after the other, so that places may be alike."""

    def generate(context, builder, signature, arguments):
        pointer, places, value = arguments
        for lane in range(LANES):
            place = builder.load(builder.gep(places, [_INDEX(lane)]))
            entry = builder.gep(pointer, [builder.sext(place, _INDEX)])
            builder.store(builder.fadd(builder.load(entry), builder.extract_element(value, _WORD(lane))), entry)
        return context.get_dummy_value()

    return types.void(floats, integers, vector8), generate


@intrinsic
@no_type_check
def splat(typing, scalar):
    """A number in every lane."""

    def generate(context, builder, signature, arguments):
        return splat_of(builder, arguments[0])

    return vector8(types.float32), generate


@intrinsic
@no_type_check
def below(typing, first, limit, value, other):
    """value in the lanes whose number, counted from `first`, is below `limit`; other in the rest."""

    def generate(context, builder, signature, arguments):
        begin, end, value, other = arguments
        room = builder.trunc(builder.sub(end, begin), _WORD)
        numbers = ir.Constant(_WORDS, list(range(LANES)))
        return builder.select(builder.icmp_signed("<", numbers, splat_of(builder, room)), value, other)

    return vector8(types.intp, types.intp, vector8, vector8), generate


@intrinsic
@no_type_check
def larger(typing, a, b):
    """The larger of two vectors, lane by lane; b where one of them is NaN."""

    def generate(context, builder, signature, arguments):
        return _larger(builder)(*arguments)

    return vector8(vector8, vector8), generate


@intrinsic
@no_type_check
def largest(typing, a):
    """The largest lane."""

    def generate(context, builder, signature, arguments):
        return folded(builder, arguments[0], _larger(builder))

    return types.float32(vector8), generate


@intrinsic
@no_type_check
def total(typing, a):
    """The sum of the lanes."""

    def generate(context, builder, signature, arguments):
        return folded(builder, arguments[0], builder.fadd)

    return types.float32(vector8), generate


@intrinsic
@no_type_check
def _power_of_two(typing, biased):
    """2^n from n + 2^23 + 2^22 as a float32: its last bits are n, which move into the exponent."""

    def generate(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[0], _WORDS)
        exponent = builder.add(bits, splat_of(builder, _WORD(127)))
        return builder.bitcast(builder.shl(exponent, splat_of(builder, _WORD(23))), _VECTOR)

    return vector8(vector8), generate


@no_type_check
def _arithmetic(operation, name):
    """Vectors with an operator of Python's: an instruction each, where an overload would be a function to compile."""

    @type_callable(operation)
    def typed(context):
        return lambda a, b: vector8 if a is vector8 and b is vector8 else None

    @lower_builtin(operation, vector8, vector8)
    def generate(context, builder, signature, arguments):
        return getattr(builder, name)(*arguments, flags=("contract",))


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")


@inner
@no_type_check
def exponential(x):
    """e^x for x <= 0, to two units in the last place; NaN stays NaN, and what is below 1e-38 stays above 0.

    x = n log 2 + r with a whole n and |r| <= log(2) / 2, where a polynomial of degree 6 gives e^r.
    """
    x = larger(splat(float32(-87.0)), x)
    biased = x * splat(float32(1.4426950408889634)) + splat(_ROUNDER)
    n = biased - splat(_ROUNDER)
    r = (x - n * splat(float32(0.693359375))) - n * splat(float32(-2.12194440e-4))
    p = splat(float32(1.9875691500e-4)) * r + splat(float32(1.3981999507e-3))
    p = p * r + splat(float32(8.3334519073e-3))
    p = p * r + splat(float32(4.1665795894e-2))
    p = p * r + splat(float32(1.6666665459e-1))
    p = p * r + splat(float32(5.0000001201e-1))
    return ((p * r) * r + r + splat(float32(1.0))) * _power_of_two(biased)
