"""The text of tail.cu, compiled for a CPU with a thread in the place of each lane: no GPU is needed."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.emulation import needs_a_compiler, run, text_of
from tests.kernels.test_dense import dropped_by_words

from headway.kernels.cuda.sizes import dropped
from headway.kernels.cuda.tail import HIDDEN, tail_bytes

WIDTH, BLOCKS = 256, 1
pytestmark = needs_a_compiler


def program(folder: Path, width: int, tokens: int, batch: int, length: int, queries: int, rate: float) -> None:
    """The kernel(arrays of a folder) -> arrays in it."""
    text = text_of("tail").replace("extern __shared__ float shared[]", "float* shared = shared_here")
    text, found = re.subn(r'asm volatile\("bar.sync[^\n]*\n', "groups_here[group]->arrive_and_wait();\n", text)
    assert found
    sizes = {"WIDTH": width, "TOKENS": tokens, "BATCH": batch, "LENGTH": length, "QUERIES": queries, "BLOCKS": BLOCKS}
    layout = {"ROWS": batch * length, "SHARED_ROWS": 0, "BYTES": tail_bytes(tokens), **dropped(rate)}
    run("tail", text, {**sizes, **layout}, folder)


def normed(x, real):
    width = real.sum()
    centred = (x - jnp.sum(x * real, -1, keepdims=True) / width) * real
    return centred * jax.lax.rsqrt(jnp.sum(centred**2, -1, keepdims=True) / width + 1e-5)


def dropped_rows(x, width, rate, words):
    kept = jax.vmap(lambda each, pair: dropped_by_words(each[:, :width], rate, pair))(x, words)
    return jnp.pad(kept, [(0, 0), (0, 0), (0, x.shape[-1] - width)])


@pytest.mark.parametrize(
    ("width", "tokens", "rate"),
    [
        (255, 50, 0.2),
        pytest.param(130, 7, 0.0, marks=pytest.mark.slow),
        pytest.param(256, 56, 0.1, marks=pytest.mark.slow),
    ],
)
def test_loss_slopes_and_what_the_weights_gradients_need_are_the_formulas_up_to_float16(tmp_path, width, tokens, rate):
    """33 positions: two whole tiles, and one row of another."""
    batch, length, queries = 11, 5, 3
    random, real = np.random.default_rng(0), np.arange(WIDTH) < width
    answers = -(-tokens // 8) * 8

    def drawn(*shape, scale=1.0):
        return (scale * random.normal(size=shape)).astype(np.float32)

    arrays = {
        "attended": (drawn(batch, queries, WIDTH) * real).astype(np.float16),
        "stream": drawn(batch, queries, WIDTH) * real,
        "weights": random.uniform(0.5, 1.5, batch).astype(np.float32),
        "inner": drawn(WIDTH, HIDDEN, scale=0.1) * real[:, None],
        "outer": drawn(HIDDEN, WIDTH, scale=0.1) * real,
        "readout": drawn(WIDTH, answers, scale=0.1) * real[:, None] * (np.arange(answers) < tokens),
        "vectors": np.concatenate([drawn(5, WIDTH) * real, np.pad(drawn(1, HIDDEN), [(0, 0), (0, WIDTH - HIDDEN)])]),
        "targets": random.integers(0, tokens, (batch, queries), np.int32),
        "words": random.integers(0, 2**32, (batch, 2, 2), np.uint32),
    }
    for name, array in arrays.items():
        np.ascontiguousarray(array).tofile(tmp_path / name)
    program(tmp_path, width, tokens, batch, length, queries, rate)
    given = jax.tree.map(jnp.asarray, {**arrays, "attended": arrays["attended"].astype(np.float32)})
    scale_1, shift_1, scale_2, shift_2, outer_bias, inner_bias = given["vectors"]

    def loss(attended, stream, to_hidden, to_branch, to_logits):
        first = normed(stream + dropped_rows(attended, width, rate, given["words"][:, 0]), real)
        x = first * scale_1 + shift_1
        hidden = jax.nn.relu(x @ given["inner"] + inner_bias[:HIDDEN] + to_hidden)
        branch = hidden @ given["outer"] + outer_bias + to_branch
        second = normed(x + dropped_rows(branch, width, rate, given["words"][:, 1]), real)
        logits = ((second * scale_2 + shift_2) @ given["readout"])[..., :tokens] + to_logits
        own = jnp.take_along_axis(logits, given["targets"][..., None], -1)[..., 0]
        value = jnp.sum(given["weights"][:, None] * (jax.nn.logsumexp(logits, -1) - own))
        return value, {"normed": first, "hidden": hidden, "final": second}

    nothing = [jnp.zeros((batch, queries, columns)) for columns in (HIDDEN, WIDTH, tokens)]
    asked = given["attended"], given["stream"], *nothing
    (value, made), slopes = jax.value_and_grad(loss, argnums=range(5), has_aux=True)(*asked)
    wanted = dict(zip(("d_attended", "d_stream", "d_hidden", "d_outer", "d_logits"), slopes, strict=True)) | made
    for name, reference in wanted.items():
        dtype = np.float32 if name == "d_stream" else np.float16
        found = np.fromfile(tmp_path / name, dtype).reshape(batch, queries, -1)[..., : reference.shape[-1]]
        # A hidden unit near zero may be open in one precision and shut in the other.
        far = np.abs(found - reference) > 4e-3 * float(np.abs(reference).max())
        assert far.mean() < 2e-3, name
    np.testing.assert_allclose(np.fromfile(tmp_path / "losses", np.float32).sum(), value, rtol=1e-3)
