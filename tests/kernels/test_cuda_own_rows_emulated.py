"""The text of attention.cu, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.emulation import needs_a_compiler, run, text_of
from tests.kernels.test_dense import plain_mix

from headway.kernels.cuda.attention import Columns
from headway.kernels.cuda.own_rows import OwnRows
from headway.kernels.cuda.sizes import dropped

SEQUENCES = 3
pytestmark = needs_a_compiler
ON_A_CPU = {
    r"extern __shared__ float shared\[\]": "float* shared = shared_here",
    r'asm volatile\("cp.async.cg[^\n]*\n': "memcpy(to, from, 16);\n",
    r'asm volatile\("cp.async.wait_all[^\n]*\n': "",
    r'asm volatile\("bar.sync[^\n]*\n': "groups_here[pair]->arrive_and_wait();\n",
}
"""What a CPU does instead: copies are made at once, and two warps meet at a barrier."""


def program(own: OwnRows, pairs: int, folder: Path) -> None:
    """Both kernels(arrays of a folder) -> arrays in it."""
    text = text_of("attention")
    for there, here in ON_A_CPU.items():
        text, found = re.subn(there, here, text)
        assert found
    sizes = {"LENGTH": own.length, "QUERIES": own.queries, "HEADS": own.heads, "BATCH": SEQUENCES, **own.columns.macros}
    layout = {"PAIRS": pairs, "BLOCKS": 1, "ROWS": SEQUENCES * own.length, "SHARED_ROWS": 0, **dropped(own.rate)}
    run("attention", text, {**sizes, **layout}, folder)


@pytest.mark.parametrize(
    ("own", "pairs"),
    [
        (OwnRows(31, 31, 1, Columns(24, 24), 0.0), 1),
        (OwnRows(13, 7, 2, Columns(8, 8), 0.3), 2),
        (OwnRows(9, 5, 2, Columns(24, 8, one_key=True), 0.3), 1),
        (OwnRows(9, 9, 2, Columns(8, 16, summed=True), 0.1), 2),
        (OwnRows(12, 4, 2, Columns(16, 16, one_key=True, summed=True), 0.0), 1),
        pytest.param(OwnRows(31, 20, 2, Columns(88, 88), 0.1), 1, marks=pytest.mark.slow),
        pytest.param(OwnRows(31, 20, 3, Columns(256, 88, one_key=True), 0.1), 1, marks=pytest.mark.slow),
        pytest.param(OwnRows(31, 20, 3, Columns(88, 256, summed=True), 0.1), 1, marks=pytest.mark.slow),
        pytest.param(OwnRows(32, 32, 1, Columns(96, 96), 0.1), 1, marks=pytest.mark.slow),
        pytest.param(OwnRows(25, 25, 3, Columns(8, 8), 0.0), 1, marks=pytest.mark.slow),
        pytest.param(OwnRows(1, 1, 1, Columns(8, 8), 0.0), 1, marks=pytest.mark.slow),
    ],
    ids=lambda each: f"{each.queries} of {each.length}" if isinstance(each, OwnRows) else f"{each} pairs",
)
def test_values_and_slopes_are_those_of_the_formula_up_to_float16(tmp_path, own, pairs):
    random, columns = np.random.default_rng(0), own.columns
    wide = own.heads * ((1 if columns.one_key else 2) * columns.score + columns.value)
    rows = (random.normal(size=(SEQUENCES, own.length, wide)) / 2).astype(np.float16)
    keys = (random.normal(size=(SEQUENCES, own.length, columns.score)) / 2).astype(np.float16)
    found = (1 if columns.summed else own.heads) * columns.value
    slope = random.normal(size=(SEQUENCES, own.queries, found)).astype(np.float16)
    words = random.integers(0, 2**32, (SEQUENCES, 2), np.uint32)
    for name, array in {"rows": rows, "keys": keys, "slope": slope, "words": words}.items():
        array.tofile(tmp_path / name)
    program(own, pairs, tmp_path)

    given = [jnp.asarray(each, jnp.float32) for each in ((rows, keys) if columns.one_key else (rows,))]
    mixed, back = jax.vjp(lambda rows, *keys: plain_mix(own, rows, jnp.asarray(words), *keys), *given)
    for name, heads, reference in zip(
        ("mixed", "d_rows", "d_keys"),
        (own.heads if columns.summed else 1, 1, own.heads),
        (mixed, *back(jnp.asarray(slope, jnp.float32))),
        strict=False,
    ):
        each = np.fromfile(tmp_path / name, np.float16).astype(np.float32)
        each = each.reshape(*reference.shape[:2], heads, -1).sum(2)
        np.testing.assert_allclose(each, reference, atol=3e-3 * float(np.abs(reference).max()), err_msg=name)
