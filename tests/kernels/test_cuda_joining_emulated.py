"""The text of joining.cu, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.emulation import needs_a_compiler, run, text_of
from tests.kernels.test_dense import plain_join

from headway.kernels.cuda.joining import WARPS, WIDTH, Joining
from headway.kernels.cuda.sizes import dropped

SEQUENCES, BLOCKS = 5, 2
pytestmark = needs_a_compiler


def program(own: Joining, folder: Path) -> None:
    """Both kernels(arrays of a folder) -> arrays in it."""
    sizes = {"WIDTH": own.width, "LENGTH": own.length, "QUERIES": own.queries, "BATCH": SEQUENCES, "BLOCKS": BLOCKS}
    parts = {"RESIDUAL": int(own.residual), "NORMED": int(own.normed), "PASSES": int(own.passes), "LIFT": own.lift}
    run("joining", text_of("joining"), {**sizes, **parts, **dropped(own.rate)}, folder)


@pytest.mark.parametrize(
    "own",
    [
        Joining(255, 7, 3, 0.3, 8.0),
        Joining(129, 5, 5, 0.0, 2.0, residual=False, passes=False),
        pytest.param(Joining(200, 4, 3, 0.2, 1.0, normed=False), marks=pytest.mark.slow),
        pytest.param(Joining(256, 3, 3, 0.1, 1.0, residual=False, normed=False), marks=pytest.mark.slow),
    ],
    ids=lambda own: f"{own.queries} of {own.length}, {own.width} columns",
)
def test_values_and_slopes_are_those_of_the_formula(tmp_path, own):
    """Also of positions that nothing joins, whose slope is zero, and of the columns that fill a row up."""
    random, real = np.random.default_rng(0), np.arange(WIDTH) < own.width

    def drawn(*shape, dtype=np.float32):
        return (random.normal(size=shape) * real).astype(dtype)

    rows = SEQUENCES, own.queries, WIDTH
    arrays = {
        "branch": drawn(*rows, dtype=np.float16),
        "vectors": drawn(3, WIDTH),
        "words": random.integers(0, 2**32, (SEQUENCES, 2), np.uint32),
        "d_factor": drawn(*rows, dtype=np.float16),
    }
    if own.residual:
        arrays["x"] = drawn(SEQUENCES, own.length, WIDTH)
    if own.passes:
        arrays["d_out"] = drawn(*rows)
    for name, array in arrays.items():
        array.tofile(tmp_path / name)
    program(own, tmp_path)

    x, branch = arrays.get("x"), jnp.asarray(arrays["branch"], jnp.float32)
    given = (branch, arrays["vectors"]) if x is None else (branch, arrays["vectors"], x)
    out, back = jax.vjp(
        lambda branch, vectors, x=None: plain_join(own, x, branch, vectors, arrays["words"])[1],
        *map(jnp.asarray, given),
    )
    # What is float16 has lifted slopes.
    slope = arrays["d_factor"].astype(np.float32) / own.lift + arrays.get("d_out", 0)
    slopes = back(jnp.asarray(slope))

    def found(name, dtype=np.float32):
        return np.fromfile(tmp_path / name, dtype)

    def near(ours, wanted, name):
        np.testing.assert_allclose(ours, wanted, atol=2e-3 * float(np.abs(wanted).max()), err_msg=name)

    near(found("factor", np.float16).reshape(rows), out, "factor")
    near(found("d_branch", np.float16).reshape(rows) / own.lift, slopes[0], "d_branch")
    near(found("sums").reshape(BLOCKS * WARPS, 3, WIDTH).sum(0) / own.lift, slopes[1], "sums")
    if own.passes:
        np.testing.assert_allclose(found("out").reshape(rows), out, atol=1e-5)
    if own.residual:
        near(found("d_x").reshape(SEQUENCES, own.length, WIDTH), slopes[2], "d_x")
