"""The text of the kernels for heads, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest
from tests.kernels.emulation import needs_a_compiler, run, text_of
from tests.kernels.test_cuda_heads import plain_forward

from headway.kernels.cuda.heads import Heads

SEQUENCES = 2
pytestmark = needs_a_compiler


def program(sizes: Heads, folder: Path) -> None:
    """kernels(arrays of a folder) -> arrays in it."""
    text = text_of("heads").replace("extern __shared__ float shared[]", "float* shared = shared_here")
    text = re.sub(r'asm\("ex2[^;]*;[^;]*;', "out = std::exp2(v);", text)
    more = {"SEQUENCES": SEQUENCES, "FORWARD_BYTES": sizes.bytes_forward, "BACKWARD_BYTES": sizes.bytes_backward}
    run("heads", text, {**sizes.macros, **more}, folder)


@pytest.mark.parametrize(
    "sizes",
    [
        Heads(18, 18, 1, 64, True, True),
        Heads(20, 5, 2, 32, True, False),
        pytest.param(Heads(33, 33, 2, 32, False, True), marks=pytest.mark.slow),
        pytest.param(Heads(20, 1, 1, 64, False, True), marks=pytest.mark.slow),
        pytest.param(Heads(1, 1, 1, 32, True, True), marks=pytest.mark.slow),
    ],
    ids=lambda sizes: f"{sizes.asked} of {sizes.length}, {sizes.part} columns",
)
def test_values_and_slopes_are_those_of_the_formula_up_to_tf32(tmp_path, sizes):
    random, width = np.random.default_rng(0), sizes.heads * sizes.part
    rows = {"queries": (sizes.asked, 3 * width if sizes.together else width), "keys": (sizes.length, 2 * width)}
    names = ["queries"] if sizes.together else ["queries", "keys"]
    arrays = {name: random.normal(size=(SEQUENCES, *rows[name])).astype(np.float32) / 2 for name in names}
    slope = random.normal(size=(SEQUENCES, sizes.asked, width)).astype(np.float32)
    for name, array in {**arrays, "slope": slope}.items():
        array.tofile(tmp_path / name)
    program(sizes, tmp_path)

    mixed, back = jax.vjp(lambda *rows: plain_forward(sizes, *rows)[0], *arrays.values())
    wanted = {"mixed": mixed} | dict(zip([f"d_{name}" for name in names], back(slope), strict=True))
    for name, reference in wanted.items():
        found = np.fromfile(tmp_path / name, np.float32).reshape(reference.shape)
        np.testing.assert_allclose(found, reference, atol=2e-3 * float(np.abs(reference).max()), err_msg=name)
