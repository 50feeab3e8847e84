"""The texts of token_rows.cu and window.cu, compiled for a CPU with a thread in the place of each lane."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.emulation import needs_a_compiler, run, text_of
from tests.kernels.test_dense import dropped_by_words, plain_rows

from headway.kernels.cuda.sizes import dropped
from headway.kernels.cuda.token_rows import TokenRows

WIDTH, TOKENS = 256, 5
pytestmark = needs_a_compiler


def emulate(name: str, macros: dict, arrays: dict, folder: Path) -> None:
    """The kernels of a file(arrays) -> arrays in the folder."""
    for file, array in arrays.items():
        np.ascontiguousarray(array).tofile(folder / file)
    run(name, text_of(name), macros, folder)


def drawn(random, width, *shape, dtype=np.float32):
    """Random rows with zeros behind the width."""
    return (random.normal(size=(*shape, WIDTH)) * (np.arange(WIDTH) < width)).astype(dtype)


def near(found, wanted, name):
    np.testing.assert_allclose(found, wanted, atol=2e-3 * float(np.abs(wanted).max()), err_msg=name)


@pytest.mark.parametrize(("width", "last", "rate"), [(255, 2, 0.3), pytest.param(130, 4, 0.0, marks=pytest.mark.slow)])
def test_rows_of_tokens_and_the_slopes_of_their_table_are_those_of_the_formula(tmp_path, width, last, rate):
    batch, length, lift = 6, 4, 8.0
    random, own = np.random.default_rng(0), TokenRows(width, last, rate, lift)
    arrays = {
        "table": drawn(random, width, length * TOKENS),
        "places": (np.arange(length) * TOKENS + random.integers(0, TOKENS, (batch, length))).astype(np.int32),
        "words": random.integers(0, 2**32, (batch, 2), np.uint32),
        "d_last": drawn(random, width, batch, last),
        "d_rows": drawn(random, width, batch, length, dtype=np.float16),
    }
    sizes = {"WIDTH": width, "BATCH": batch, "LENGTH": length, "QUERIES": last, "ROWS": length * TOKENS, "BLOCKS": 1}
    emulate("token_rows", {**sizes, "LIFT": lift, **dropped(rate)}, arrays, tmp_path)

    table, *given = (jnp.asarray(arrays[name]) for name in ("table", "places", "words"))
    wanted, back = jax.vjp(lambda table: plain_rows(own, table, *given), table)
    # What is float16 has lifted slopes.
    slopes = jnp.asarray(arrays["d_last"]), jnp.asarray(arrays["d_rows"].astype(np.float32) / lift)
    for name, dtype, reference in (("last", np.float32, wanted[0]), ("rows", np.float16, wanted[1])):
        near(np.fromfile(tmp_path / name, dtype).reshape(reference.shape), reference, name)
    near(np.fromfile(tmp_path / "d_table", np.float32).reshape(table.shape) / lift, back(slopes)[0], "d_table")


@pytest.mark.parametrize(
    ("width", "length", "heads", "rate"),
    [
        (255, 6, 2, 0.3),
        (144, 1, 1, 0.1),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((140, 2, 1, 0.1), (256, 9, 3, 0.0))),
    ],
)
def test_windows_find_what_the_formula_finds_up_to_float16(tmp_path, width, length, heads, rate):
    batch, random = 7, np.random.default_rng(0)
    arrays = {
        "stream": drawn(random, width, length * TOKENS, dtype=np.float16),
        "questions": drawn(random, width, batch, heads, dtype=np.float16) / 8,
        "slope": drawn(random, width, batch, heads, dtype=np.float16),
        "tokens": random.integers(0, TOKENS, (batch, length + 1), np.int32),
        "words": random.integers(0, 2**32, (batch, 2), np.uint32),
        "share_words": random.integers(0, 2**32, (batch, 2), np.uint32),
        "d_last": drawn(random, width, batch),
    }
    arrays["questions"] = arrays["questions"].astype(np.float16)
    sizes = {
        "WIDTH": width,
        "BATCH": batch,
        "LENGTH": length,
        "HEADS": heads,
        "TOKENS": TOKENS,
        "BLOCKS": 1,
        "WARPS": 2,
    }
    of_shares = {f"SHARES_{name}": value for name, value in dropped(rate).items()}
    emulate("window", {**sizes, "ROWS": batch, "SHARED_ROWS": 0, **dropped(rate), **of_shares}, arrays, tmp_path)

    def formula(stream, questions):
        rows = stream[jnp.arange(length) * TOKENS + arrays["tokens"][:, :-1]]
        u = jax.vmap(lambda each, pair: dropped_by_words(each[:, :width], rate, pair))(rows, arrays["words"])
        pattern = jax.nn.softmax(jnp.einsum("bhi,bki->bhk", questions[..., :width], u))
        # As of one query: the numbers are those of (head, query, key).
        kept = jax.vmap(lambda each, pair: dropped_by_words(each[:, None], rate, pair))(pattern, arrays["share_words"])
        filled = [(0, 0)] * 2 + [(0, WIDTH - width)]
        return jnp.pad(jnp.einsum("bhk,bki->bhi", kept[:, :, 0], u), filled), jnp.pad(u[:, -1:], filled)[:, 0]

    given = [jnp.asarray(arrays[name], jnp.float32) for name in ("stream", "questions")]
    (mixed, last), back = jax.vjp(formula, *given)
    d_stream, d_questions = back((jnp.asarray(arrays["slope"], jnp.float32), jnp.asarray(arrays["d_last"])))
    wanted = {"last": last, "mixed": mixed, "d_questions": d_questions, "d_stream": d_stream}
    for name, reference in wanted.items():
        dtype = np.float16 if name in ("mixed", "d_questions") else np.float32
        near(np.fromfile(tmp_path / name, dtype).reshape(reference.shape), reference, name)
