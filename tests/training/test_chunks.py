"""How a batch is cut into pieces."""

import itertools
from types import SimpleNamespace

import jax
import pytest

from headway import presets
from headway.training import chunks
from headway.training.chunks import CPU_BYTES, CPU_EXAMPLES, GPU_SHARE, chunk_size, together
from headway.training.sizes import CPU_DROPOUT, CPU_WEIGHTS, chunk_of, least_bytes

BATCHES = [1, 2, 3, 7, 8, 100, 2999, 3000]
BYTES = [1, 1000, CPU_BYTES // 100, CPU_BYTES // 7 + 1, CPU_BYTES, 3 * CPU_BYTES]


def test_a_batch_is_cut_into_even_pieces_of_at_least_one_example():
    for batch, size in itertools.product(BATCHES, BYTES):
        chunk = chunk_size(batch, size, members=4)
        assert 1 <= chunk <= batch
        pieces = -(-batch // chunk)
        assert pieces * chunk - batch < chunk, "no piece is all padding"


def test_a_chunk_stays_in_the_cache_to_within_one_example_or_has_two():
    for batch, size in itertools.product(BATCHES, BYTES):
        chunk = chunk_size(batch, size, members=1)
        assert chunk <= CPU_EXAMPLES or (chunk - 1) * size < CPU_BYTES
        assert batch == 1 or chunk > 1


def test_a_chunk_has_what_it_shall_have_at_least():
    """A batch is cut less often then, however much its activations are."""
    assert chunk_size(64, CPU_BYTES // 4, members=1) == 4
    assert chunk_size(64, CPU_BYTES // 4, members=1, least=CPU_BYTES // 2) == 4
    assert chunk_size(64, CPU_BYTES // 4, members=1, least=3 * CPU_BYTES) == 11, "6 pieces of at most 12"


def test_dropout_and_many_weights_want_larger_chunks():
    full = presets.full_as_run()
    still = full.changed(model={"dropout": 0.0})
    wide = still.changed(model={"width": 2049})
    assert full.model.dropout and least_bytes(full) == CPU_DROPOUT
    assert least_bytes(still) < CPU_BYTES, "its weights are few"
    assert least_bytes(wide) > 4 * 4 * 2049**2 * CPU_WEIGHTS, "queries, keys, values, output"
    assert chunk_of(full, 3000, 1) > 3 * chunk_of(still, 3000, 1) > 0


def test_a_batch_that_fits_is_not_cut():
    assert chunk_size(3000, CPU_BYTES // 3000, members=50) == 3000
    assert chunk_size(3000, CPU_BYTES // 3000 + 1, members=50) == 1500


@pytest.fixture
def gpu(monkeypatch):
    """A device of another kind with 8000 bytes."""
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: {"bytes_limit": 8000})
    monkeypatch.setattr(jax, "devices", lambda: [device])


@pytest.mark.usefixtures("gpu")
def test_members_that_train_side_by_side_share_the_memory_of_the_device():
    room = GPU_SHARE * 8000
    for members in (1, 2, 5):
        assert chunk_size(100, 20, members) * 20 * members <= room
    assert chunk_size(100, 20, 1) == 100
    assert chunk_size(200, 20, 2) == 67, "three pieces"
    assert chunk_size(100, 20, 10**6) == 1


@pytest.mark.usefixtures("gpu")
def test_members_that_do_not_fit_side_by_side_are_split_into_even_groups():
    assert together(5, 10, 60) == 5, "3000 of 3200 bytes"
    assert together(6, 10, 60) == 3, "not five and one"
    assert together(3, 100, 60) == 1, "not even one fits: its batch is cut instead"


def test_on_a_cpu_members_train_one_after_the_other():
    assert together(5, 10, 60) == 1


def test_a_device_that_does_not_tell_its_memory_is_taken_for_a_small_one(monkeypatch):
    monkeypatch.setattr(chunks.jax, "devices", lambda: [SimpleNamespace(platform="gpu", memory_stats=lambda: None)])
    assert chunk_size(64, 2**30, 1) == 6, "6.4 fit"
