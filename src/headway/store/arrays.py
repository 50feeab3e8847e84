"""Named arrays <-> safetensors, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from headway.records import Trajectory

# What safetensors can both write and read back as NumPy arrays; it writes bfloat16 but cannot read it.
TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64"),
)


def encode(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A safetensors file of these arrays."""
    ordered = {}
    for name, values in arrays.items():
        if name == "__metadata__":
            raise ValueError("no array can be called '__metadata__': safetensors keeps that name. Rename it.")
        values = np.asarray(values)
        if values.dtype.name not in TYPES:
            raise ValueError(f"the array {name!r} is of type {values.dtype}; what can be stored is {TYPES}.")
        # safetensors copies the memory as it lies, so a transposed or sliced view would be scrambled.
        ordered[name] = np.asarray(values, order="C")
    return safetensors.save(ordered)


def decode(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file by name; anything else, such as a pickle, is a ValueError."""
    try:
        # safetensors gives them in another order every time, and what is made from them would differ with it.
        return dict(sorted(safetensors.load(data).items()))
    except (SafetensorError, KeyError, OverflowError) as error:
        raise ValueError(f"not a safetensors file of known types ({error})") from error


def encode_trajectory(trajectory: Trajectory) -> bytes:
    """clocks/NAME, arrays/NAME and facts/NAME in one file; whose clock is whose is kept beside it."""
    return encode(
        {f"clocks/{name}": values for name, values in trajectory.clocks.items()}
        | {f"arrays/{name}": values for name, values in trajectory.arrays.items()}
        | {f"facts/{name}": values for name, values in trajectory.facts.items()}
    )


def decode_trajectory(data: bytes, seeds: tuple[int, ...], clock_of: Mapping[str, str]) -> Trajectory:
    groups: dict[str, dict[str, np.ndarray]] = {"clocks": {}, "arrays": {}, "facts": {}}
    for full_name, values in decode(data).items():
        # A name may itself contain a slash; the group never does.
        group, _, name = full_name.partition("/")
        if group not in groups:
            raise ValueError(f"the array {full_name!r} belongs to none of {', '.join(groups)}")
        groups[group][name] = values
    if clock_of.keys() != groups["arrays"].keys() or not set(clock_of.values()) <= groups["clocks"].keys():
        raise ValueError("its arrays and clocks are not those that were recorded")
    return Trajectory(seeds=seeds, clock_of=dict(clock_of), **groups)
