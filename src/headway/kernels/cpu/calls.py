"""Compiled functions as XLA custom calls: a call is cut into slices, and XLA's own threads take them one by one.

XLA hands a call over as a `XLA_FFI_CallFrame`, a C structure of machine words (`c_api.h` under
`jax.ffi.include_dir()`); FIELDS says which word is what. Neither Python nor its lock takes part in a call.

The thread that XLA calls on asks XLA's pool for help and takes slices itself until none is left, so a busy pool makes
a call slower but cannot stop it, and any number of calls may be under way at once. What a call has to remember
lives until the last helper has looked at it, however late that comes.

Only `working` knows a kernel. What XLA calls, and what its threads do, are compiled once for all kernels, and find by
name what they call.
"""

import functools
from collections.abc import Callable
from typing import no_type_check

from llvmlite import ir
from numba import cfunc
from numba.core import cgutils, types
from numba.extending import intrinsic

from headway.kernels.cpu.objects import HELPER, WORK, Text
from headway.kernels.cpu.vectors import inner, pointers_at

FIELDS = {
    "XLA_FFI_CallFrame": {"extension_start": 1, "api": 2, "ctx": 3, "args": 5, "rets": 10},
    "XLA_FFI_Args": {"size": 2, "args": 4},
    "XLA_FFI_Rets": {"size": 2, "rets": 4},
    "XLA_FFI_Buffer": {"data": 3, "dims": 5},
    "XLA_FFI_Metadata": {"api_version": 1},
    "XLA_FFI_Metadata_Extension": {"metadata": 3},
    "XLA_FFI_Api_Version": {"major_version": 2},
    "XLA_FFI_ThreadPool_Schedule_Args": {"ctx": 2, "task": 3, "data": 4},
    "XLA_FFI_ThreadPool_NumThreads_Args": {"ctx": 2, "num_threads": 3},
    "XLA_FFI_Error_Destroy_Args": {"error": 2},
    "XLA_FFI_Api": {
        "api_version": 2,
        "XLA_FFI_Error_Destroy": 8,
        "XLA_FFI_ThreadPool_Schedule": 17,
        "XLA_FFI_ThreadPool_NumThreads": 18,
    },
}
"""Words of the structures that are read here."""

_FRAME, _API, _BUFFER = (FIELDS[f"XLA_FFI_{name}"] for name in ("CallFrame", "Api", "Buffer"))
_EXTENSION, _FUNCTIONS, _CONTEXT = (_FRAME[name] for name in ("extension_start", "api", "ctx"))
_INPUTS, _OUTPUTS = _FRAME["args"] + FIELDS["XLA_FFI_Args"]["size"], _FRAME["rets"] + FIELDS["XLA_FFI_Rets"]["size"]
_INPUT, _OUTPUT = _FRAME["args"] + FIELDS["XLA_FFI_Args"]["args"], _FRAME["rets"] + FIELDS["XLA_FFI_Rets"]["rets"]
_DATA, _DIMENSIONS = _BUFFER["data"], _BUFFER["dims"]
_DESTROY, _SCHEDULE = _API["XLA_FFI_Error_Destroy"], _API["XLA_FFI_ThreadPool_Schedule"]
_THREADS = _API["XLA_FFI_ThreadPool_NumThreads"]
_WRITTEN_FOR = FIELDS["XLA_FFI_Metadata"]["api_version"] + FIELDS["XLA_FFI_Api_Version"]["major_version"]
_METADATA, _ABOUT = 1, FIELDS["XLA_FFI_Metadata_Extension"]["metadata"]
_VERSION = _API["api_version"] + FIELDS["XLA_FFI_Api_Version"]["major_version"]
_NEXT, _FINISHED, _USERS, _SLICES, _BATCH, _ADDRESSES = range(6)
"""What a call remembers."""

words = types.CPointer(types.int64)
SIGNATURE = types.void(types.int64, types.int64, types.int64, words)
"""work(slice, slices, batch, addresses of inputs and outputs)."""
at = pointers_at(words)
_calloc = types.ExternalFunction("calloc", types.intp(types.intp, types.intp))
_free = types.ExternalFunction("free", types.void(types.intp))
_give_way = types.ExternalFunction("sched_yield", types.int32())
_work = types.ExternalFunction(WORK, SIGNATURE)


@intrinsic
@no_type_check
def _address(typing, pointer):
    def generate(context, builder, signature, arguments):
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(words), generate


@intrinsic
@no_type_check
def _call(typing, function, argument):
    """function(argument) for addresses of both; an address comes back."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word]).as_pointer())
        return builder.call(function, [arguments[1]])

    return types.int64(types.int64, types.int64), generate


@intrinsic
@no_type_check
def _fetch_add(typing, pointer, place, amount):
    """pointer[place] += amount, in one step for all threads; the old value comes back."""

    def generate(context, builder, signature, arguments):
        pointer, place, amount = arguments
        return builder.atomic_rmw("add", builder.gep(pointer, [place]), amount, "seq_cst")

    return types.int64(words, types.intp, types.int64), generate


@inner
@no_type_check
def _release(state):
    if _fetch_add(state, _USERS, -1) == 1:
        _free(_address(state))


@inner
@no_type_check
def _ask(frame, function, first, second, size):
    """Call a function of XLA's with (size, no extension, context, first, second); whether it did what was asked."""
    functions = at(frame[_FUNCTIONS])
    request = at(_calloc(5, 8))
    request[0] = 8 * size
    request[2] = frame[_CONTEXT]
    request[3] = first
    request[4] = second
    error = _call(functions[function], _address(request))
    if error != 0:
        request[0] = 24
        request[2] = error
        _call(functions[_DESTROY], _address(request))
    _free(_address(request))
    return error == 0


@inner
@no_type_check
def _threads(frame):
    """How many threads XLA has, which is how many cores this process may use; 1 if it does not say."""
    answer = at(_calloc(1, 8))
    threads = answer[0] if _ask(frame, _THREADS, _address(answer), 0, 4) else 1
    _free(_address(answer))
    return threads


@inner
@no_type_check
def _begin(frame):
    """The state of a new call. This thread uses it twice: as a helper, and until it has seen the end."""
    inputs, outputs = frame[_INPUTS], frame[_OUTPUTS]
    input_buffers, output_buffers = at(frame[_INPUT]), at(frame[_OUTPUT])
    state = at(_calloc(_ADDRESSES + inputs + outputs, 8))
    for i in range(inputs):
        state[_ADDRESSES + i] = at(input_buffers[i])[_DATA]
    for i in range(outputs):
        state[_ADDRESSES + inputs + i] = at(output_buffers[i])[_DATA]
    state[_BATCH] = at(at(input_buffers[0])[_DIMENSIONS])[0]
    state[_SLICES] = at(at(output_buffers[0])[_DIMENSIONS])[0]
    state[_USERS] = 2
    return state


@intrinsic
@no_type_check
def _helper(typing):
    """The address of the function that is called HELPER where this is loaded."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word]), HELPER)
        return builder.ptrtoint(function, word)

    return types.int64(), generate


@no_type_check
def working(work: Callable) -> Text:
    """A kernel: `work` as a function in C."""
    made = cfunc(SIGNATURE, error_model="numpy")(work)
    return Text(made.inspect_llvm(), made.native_name)


@functools.cache
@no_type_check
def helping() -> Text:
    """A thread's part in a call: the function called WORK for one slice after the other."""

    @cfunc(types.int64(types.int64), error_model="numpy")
    def help_out(address):
        state = at(address)
        slices = state[_SLICES]
        number = _fetch_add(state, _NEXT, 1)
        while number < slices:
            _work(number, slices, state[_BATCH], at(address + 8 * _ADDRESSES))
            _fetch_add(state, _FINISHED, 1)
            number = _fetch_add(state, _NEXT, 1)
        _release(state)
        return 0

    return Text(help_out.inspect_llvm(), help_out.native_name)


@functools.cache
@no_type_check
def handling() -> Text:
    """What XLA calls: it asks XLA's threads for help, helps out itself, and waits for the last."""

    @cfunc(types.int64(words), error_model="numpy")
    def handle(frame):
        if frame[_EXTENSION] != 0:  # XLA asks for which version this was written: the fields are alike in all of them.
            extension = at(frame[_EXTENSION])
            if extension[1] & 0xFFFFFFFF == _METADATA:
                at(extension[_ABOUT])[_WRITTEN_FOR] = at(frame[_FUNCTIONS])[_VERSION]
                return 0
        state = _begin(frame)
        slices = state[_SLICES]
        for _ in range(min(_threads(frame), slices) - 1):
            _fetch_add(state, _USERS, 1)
            if not _ask(frame, _SCHEDULE, _helper(), _address(state), 5):
                _fetch_add(state, _USERS, -1)
        _call(_helper(), _address(state))
        while _fetch_add(state, _FINISHED, 0) < slices:
            _give_way()
        _release(state)
        return 0

    return Text(handle.inspect_llvm(), handle.native_name)
