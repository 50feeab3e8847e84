"""The text of norm.cu, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

import subprocess
from importlib.resources import files
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.test_cuda_heads_emulated import COMPILER, HERE
from tests.kernels.test_dense import plain_join

from headway.kernels.cuda.norm import WARPS, WIDTH, Joining
from headway.kernels.cuda.sizes import dropped

SEQUENCES, BLOCKS = 3, 2
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no g++ on the PATH; on Debian: apt-get install g++")


def program(own: Joining, folder: Path) -> None:
    """Both kernels(arrays of a folder) -> arrays in it."""
    source = files("headway.kernels.cuda")
    rows = (source / "rows.cuh").read_text().replace('#include "tensor_cores.cuh"', "")
    (folder / "kernels.h").write_text((source / "norm.cu").read_text().replace('#include "rows.cuh"', rows))
    sizes = {"WIDTH": own.width, "LENGTH": own.length, "QUERIES": own.queries, "BATCH": SEQUENCES, "BLOCKS": BLOCKS}
    macros = [f"-D{name}={value}" for name, value in {**sizes, **dropped(own.rate)}.items()]
    words = [COMPILER, "-std=c++20", "-O1", "-w", "-pthread", "-I", HERE, "-I", folder, '-DSOURCE="kernels.h"', *macros]
    subprocess.run([*words, HERE / "norm.cpp", "-o", folder / "run"], check=True)


@pytest.mark.parametrize(
    "own",
    [Joining(255, 7, 3, 0.3), pytest.param(Joining(129, 5, 5, 0.0), marks=pytest.mark.slow)],
    ids=lambda own: f"{own.queries} of {own.length}, {own.width} columns",
)
def test_values_and_slopes_are_those_of_the_formula(tmp_path, own):
    """Also of positions that nothing joins, whose slope is zero, and of the columns that fill a row up."""
    random, real = np.random.default_rng(0), np.arange(WIDTH) < own.width
    shapes = {"x": (SEQUENCES, own.length, WIDTH), "branch": (SEQUENCES, own.queries, WIDTH), "vectors": (2, WIDTH)}
    arrays = {name: (random.normal(size=shape) * real).astype(np.float32) for name, shape in shapes.items()}
    slope = (random.normal(size=shapes["branch"]) * real).astype(np.float32)
    words = random.integers(0, 2**32, (SEQUENCES, 2), np.uint32)
    for name, array in {**arrays, "slope": slope, "words": words}.items():
        array.tofile(tmp_path / name)
    program(own, tmp_path)
    subprocess.run([tmp_path / "run"], check=True, cwd=tmp_path, timeout=300)

    def formula(x, branch, vectors):
        return plain_join(own, x, branch, *vectors, jnp.asarray(words))

    out, back = jax.vjp(formula, *map(jnp.asarray, arrays.values()))
    d_x, d_branch, d_vectors = back(jnp.asarray(slope))
    for name, reference in {"out": out, "d_x": d_x, "d_branch": d_branch}.items():
        found = np.fromfile(tmp_path / name, np.float32).reshape(reference.shape)
        np.testing.assert_allclose(found, reference, atol=1e-5 * float(np.abs(reference).max()), err_msg=name)
    sums = np.fromfile(tmp_path / "sums", np.float32).reshape(BLOCKS * WARPS, 2, WIDTH).sum(axis=0)
    np.testing.assert_allclose(sums, d_vectors, atol=1e-4)
